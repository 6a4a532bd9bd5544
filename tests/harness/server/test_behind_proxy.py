"""A server behind a proxy: whom a connection belongs to, in whatever way the proxy reports it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from guests import on_turn, two_at_a_table
from msgspec import UNSET
from servers import served, turned_away

from bot.seat_text import LIKE_AN_ADDRESS
from harness.lab.bench.client import Client
from harness.server.admission import Admission, client_of, plain_address
from harness.server.server import MatchServer
from protocol.messages import Goodbye

pytestmark = pytest.mark.usefixtures("clients_hang_up")

LONG = "9" * 8_000

WRITTEN = {
    "203.0.113.9": "203.0.113.9",
    "203.0.113.9:50001": "203.0.113.9",
    " 203.0.113.9\t": "203.0.113.9",
    "2001:DB8:0::7": "2001:db8::7",
    "[2001:db8::7]": "2001:db8::7",
    "[2001:db8::7]:443": "2001:db8::7",
    "fe80::1%eth0": "fe80::1%eth0",
    "[fe80::1%eth0]:443": "fe80::1%eth0",
    "::ffff:203.0.113.9": "203.0.113.9",
    "[::ffff:cb00:7109]:50001": "203.0.113.9",
}
NO_ADDRESS = (
    *("", "unknown", "_hidden", "unix:", "localhost", LONG, ":" * 8_000, ":::"),
    *("203.0.113", "203.0.113.900", "203.0.113.09", "203.0.113.0/24", "٢٠٣.0.113.9"),
    *("203.0.113.9:", "203.0.113.9:x", "203.0.113.9:500011", f"203.0.113.9:{LONG}"),
    *("203.0.113.9%eth0", "203.0.113.9 198.51.100.1"),
    *("[2001:db8::7", "2001:db8::7]:443", "[2001:db8::7]443", "[]:443"),
    *("fe80::1%", "fe80::1%\x1b[2J", f"fe80::1%{LONG}"),
)


def test_an_address_is_read_in_any_notation() -> None:
    for text, address in WRITTEN.items():
        assert plain_address(text) == plain_address(address) == address
        assert LIKE_AN_ADDRESS.fullmatch(text.strip()), "nobody is called so"
    assert [text for text in NO_ADDRESS if plain_address(text) is not None] == []


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        ((), "10.0.0.1"),
        (("10.0.0.2",), "10.0.0.2"),  # its own connection
        (("203.0.113.9:50001",), "203.0.113.9"),
        (("198.51.100.1", "203.0.113.9", "10.0.0.2"), "203.0.113.9"),
        (("198.51.100.1:1, [2001:db8::7]:443",), "2001:db8::7"),
        (("203.0.113.9:50001, [::ffff:10.0.0.2]:80", "10.0.0.1:81"), "203.0.113.9"),
        # What stands before an entry that is no address is only claimed.
        (("203.0.113.9, unknown",), "10.0.0.1"),
        (("203.0.113.9, unknown", "10.0.0.2:80"), "10.0.0.2"),
        (("203.0.113.9", ""), "10.0.0.1"),
        (("203.0.113.9,",), "10.0.0.1"),
        (("unknown, 203.0.113.9:50001",), "203.0.113.9"),
        ((f"203.0.113.9, {LONG}",), "10.0.0.1"),
    ],
)
def test_a_client_is_whom_the_nearest_proxy_knows(lines: tuple[str, ...], address: str) -> None:
    proxies = Admission(proxies=("10.0.0.1", "10.0.0.2"))
    assert client_of(lines, "10.0.0.1", proxies.is_proxy) == address


@asynccontextmanager
async def proxy(server: MatchServer, reported: str) -> AsyncIterator[str]:
    """Have a proxy before a server; yield its URL.

    It reports a client's address with ``PORT`` as the port of the client's connection.
    """

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while block := await reader.read(1 << 16):
                writer.write(block)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        _, port = writer.get_extra_info("peername")
        line = f"X-Forwarded-For: {reported.replace('PORT', str(port))}"
        there, to_server = await asyncio.open_connection("127.0.0.1", server.port)
        to_server.write(head[:-2] + line.encode() + b"\r\n\r\n")
        await asyncio.gather(pass_on(reader, to_server), pass_on(there, writer))

    listening = await asyncio.start_server(serve, "127.0.0.1")
    async with listening:
        yield f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def reached(
    journal: Path, address: str = "203.0.113.9", **limits: Any
) -> AsyncIterator[tuple[str, str]]:
    """Have a server on a journal; yield its URLs for clients of two addresses."""
    admission = Admission(proxies=("127.0.0.1",), **limits)
    async with (
        served(journal, admission=admission) as server,
        proxy(server, f"{address}:PORT") as here,
        proxy(server, "198.51.100.1:PORT") as there,
    ):
        yield here, there


async def test_a_bot_that_comes_back_from_another_port_is_let_in(tmp_path: Path) -> None:
    reaching = reached(tmp_path / "games.db", "[2001:db8::7]", connections_per_address=3)
    async with reaching as (ann_url, bob_url):
        ann, bob, game = await two_at_a_table(ann_url, bob_url)
        await on_turn(ann, bob)
        await ann.close()
        await turned_away(bob_url, "ann")
        ann = await Client.login(ann_url, "ann")
        assert ann.welcome.games == (game,)


# --- names without a token ------------------------------------------------------------------------


def has_text(folder: Path, text: str) -> bool:
    """Tell whether any file of a folder has a text in it."""
    return any(text.encode() in file.read_bytes() for file in folder.iterdir())


GUESSES = (UNSET, "", "ab" * 16, "ab" * 32)
"""What a stranger may send for a secret."""


async def test_after_a_restart_a_game_goes_on_for_its_players_alone(tmp_path: Path) -> None:
    async with reached(tmp_path / "games.db") as (here, _):
        ann = await Client.login(here, "ann", secret="")
        bob = await Client.login(here, "bob")
        secret = ann.welcome.secret
        assert isinstance(secret, str)
        assert (len(secret), bob.welcome.secret) == (64, UNSET)
        await ann.seek("bob")
        await bob.seek("ann")
        game = await ann.get_ready()
        await bob.get_ready()
        await on_turn(ann, bob)
    assert not has_text(tmp_path, secret)
    assert not has_text(tmp_path, "203.0.113.9")
    async with reached(tmp_path / "games.db") as (here, there):
        for guess in GUESSES:
            await turned_away(here, "ann", secret=guess)
            await turned_away(there, "ann", secret=guess)
            await turned_away(there, "bob", secret=guess)
        ann = await Client.login(there, "ann", secret=secret)
        bob = await Client.login(here, "bob")
        assert (ann.welcome.secret, bob.welcome.secret) == (secret, UNSET)
        for client in (ann, bob):
            assert client.welcome.games == (game,)
            await client.resume(game, -1)
        over, _ = await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
        assert (over.game, over.outcome) == (game, "zeroes")


async def test_the_newest_login_counts_if_it_is_the_holders(tmp_path: Path) -> None:
    async with reached(tmp_path / "games.db") as (here, there):
        first = await Client.login(here, "ann", secret="")
        secret = first.welcome.secret
        assert isinstance(secret, str)
        for guess in GUESSES:
            await turned_away(here, "ann", secret=guess)
        newest = await Client.login(there, "ann", secret=secret)
        assert (await first.expect(Goodbye)).code == "replaced"
        assert newest.welcome.secret == secret


async def test_a_name_of_version_1_stays_with_its_address(tmp_path: Path) -> None:
    async with reached(tmp_path / "games.db") as (here, there):
        await two_at_a_table(here)
        await turned_away(there, "ann", secret="")
        newer = await Client.login(here, "ann", secret="")
        assert newer.welcome.secret is UNSET
        await Client.login(here, "ann")  # which else would be shut out of its own game
