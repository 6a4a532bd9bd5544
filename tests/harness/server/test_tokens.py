from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.arbiter.database import Address
from harness.arbiter.journal import Journal
from harness.seats.seats import GuestSeat
from harness.server.players import Players
from harness.server.tokens import (
    Gatekeeper,
    KnownTokens,
    WrongToken,
    hash_token,
    new_token,
    read_token_file,
)
from protocol.errors import PeerError

SECRET = "s" * 32
OTHER = "t" * 32


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path / "games.db")
    yield journal
    journal.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of tokens that knows bob."""
    path = tmp_path / "players.tokens"
    path.write_text(f"bob {hash_token('b')}\n")
    return path


async def turned_away(gate: Gatekeeper, name: str, token: str | None) -> PeerError:
    with pytest.raises(PeerError) as caught:
        await gate.admit(name, token)
    assert (caught.value.code, caught.value.close) == ("forbidden", 1008)
    return caught.value


def test_a_token_has_256_bits_and_is_kept_as_a_hash_only() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {43}, "32 bytes in base 64"
    assert hash_token("word") == hashlib.sha256(b"word").hexdigest()


async def test_a_name_belongs_to_who_first_came_with_a_token(journal: Journal) -> None:
    gate = Gatekeeper(journal)
    await gate.admit("alice", None)
    await gate.admit("alice", SECRET)
    await gate.admit("alice", SECRET)
    for token in ("guess", "", None, SECRET + " "):
        error = await turned_away(gate, "alice", token)
        assert "'alice'" in error.reply.message
    await gate.admit("Alice", OTHER)
    assert journal.token_hash("alice") == hash_token(SECRET)


@pytest.mark.parametrize("token", ["", "x", "s" * 31])
async def test_a_token_that_can_be_guessed_claims_nothing(journal: Journal, token: str) -> None:
    error = await turned_away(Gatekeeper(journal), "alice", token)
    assert "'tilewire token NAME'" in error.reply.message
    assert journal.token_hash("alice") is None


async def test_of_two_who_claim_a_name_at_once_one_gets_it(journal: Journal) -> None:
    gate = Gatekeeper(journal)
    results = await asyncio.gather(
        *(gate.admit("alice", f"{SECRET} {number}") for number in range(8)), return_exceptions=True
    )
    assert [result is None for result in results].count(True) == 1
    assert all(isinstance(result, PeerError) for result in results if result is not None)


async def test_while_a_name_is_being_claimed_nobody_else_comes_under_it(journal: Journal) -> None:
    gate = Gatekeeper(journal)
    claim = asyncio.create_task(gate.admit("alice", SECRET))
    await asyncio.sleep(0)
    error = await turned_away(gate, "alice", None)
    assert error.reply.message == "the name 'alice' is in use"
    await claim
    assert gate.has_token("alice")


async def test_a_claim_outlives_the_host(address: Address) -> None:
    first = Journal(address)
    await Gatekeeper(first).admit("alice", SECRET)
    first.close()
    second = Journal(address)
    try:
        await Gatekeeper(second).admit("alice", SECRET)
        error = await turned_away(Gatekeeper(second), "alice", "guess")
        assert error.code == "forbidden"
    finally:
        second.close()


async def test_with_a_token_file_only_its_names_may_play(journal: Journal, file: Path) -> None:
    gate = Gatekeeper(journal, KnownTokens(file, print))
    await gate.admit("bob", "b")
    assert not isinstance(await turned_away(gate, "bob", None), WrongToken)
    assert isinstance(await turned_away(gate, "bob", "x"), WrongToken)
    for token, why in (
        ("e", "the token is not an unused invitation"),
        (None, "no token was sent; this server wants one"),
    ):
        error = await turned_away(gate, "eve", token)
        assert error.reply.message == f"nobody called 'eve' is known here, and {why}"
        assert isinstance(error, WrongToken) == (token is not None)
    assert journal.token_hash("eve") is None


def test_a_file_of_tokens_that_changes_is_read_again(file: Path) -> None:
    said: list[str] = []
    known = KnownTokens(file, said.append)
    assert known.read() == {"bob": hash_token("b")}
    assert not said
    file.write_text(f"bob {hash_token('new')}\neve {hash_token('e')}\n")
    second = {"bob": hash_token("new"), "eve": hash_token("e")}
    assert known.read() == known.read() == second
    assert said == [f"{file} was read again: new eve; another token for bob"]
    file.write_text("eve\n")
    assert known.read() == known.read() == second
    still = "until that is corrected, the names read before stay valid"
    assert said[1:] == [
        f"{file}, line 1: not 'name hash'; 'tilewire token NAME' makes such a line; {still}"
    ]
    file.unlink()
    assert known.read() == second
    assert said[2:] == [f"{file}: No such file or directory; {still}"]
    file.write_text(f"eve {hash_token('e')}\n")
    assert known.read() == {"eve": hash_token("e")}
    assert said[3:] == [f"{file} was read again: gone bob"]


async def test_a_token_of_any_bytes_is_a_wrong_token(journal: Journal, file: Path) -> None:
    gate = Gatekeeper(journal, KnownTokens(file, print))
    for token in ("\udcff\udc80", "\ud800", "\x00", "ä" * 10_000):
        assert (await turned_away(gate, "bob", token)).code == "forbidden"


def test_a_token_file_has_a_name_and_a_hash_a_line(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# who may play\n\nalice {hash_token('a')}\n  bob\t{hash_token('b')}\n")
    assert read_token_file(path) == {"alice": hash_token("a"), "bob": hash_token("b")}


@pytest.mark.parametrize(
    "line",
    ["alice", "alice secret", "alice " + "A" * 64, "a b " + "0" * 64, "alice " + "0" * 63],
)
def test_a_line_that_is_no_such_pair_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(ValueError, match="tokens, line 2"):
        read_token_file(path)


async def test_a_name_in_a_game_from_before_a_start_can_not_be_claimed(journal: Journal) -> None:
    keeper, players = Gatekeeper(journal), Players()
    players.named("ann").seats["game"] = GuestSeat("ann")
    used_from = players.used_from("ann")
    with pytest.raises(PeerError, match="in use"):
        await keeper.admit("ann", "t" * 40, used_from=used_from, peer="192.0.2.9:5")
    await keeper.admit("ann", None, used_from=used_from, peer="192.0.2.1:5")
