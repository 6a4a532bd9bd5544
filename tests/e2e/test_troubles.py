"""A server whose files go wrong while it runs: what it says, what becomes of games, how it ends.

    .venv/bin/python -m pytest tests/e2e/test_troubles.py -n 0 -s

prints each sentence. ``tests/harness/arbiter/test_journal_damage.py`` damages the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.processes import SETTINGS, Server, serving

from harness.lab.bench.client import Client
from harness.server.tokens import hash_token
from protocol.channel import ChannelClosed
from protocol.messages import GameOver, YourTurn

TLS = Path(__file__).parents[1] / "fixtures" / "tls"
TOKEN = "a" * 32


def shown(trouble: str, said: object) -> None:
    print(f"{trouble}: {said}")


async def health(server: Server) -> tuple[int, dict[str, Any]]:
    """Ask as a load balancer would; status and answer."""
    status, told = await asyncio.to_thread(server.get, "/healthz")
    return status, json.loads(told)


async def at_play(url: str, token: str | None = None) -> tuple[Client, YourTurn]:
    """Sit down against a built-in bot; wait for the first turn."""
    client = await Client.login(url, "ann", token=token)
    await client.seek("greedy")
    await client.get_ready()
    return client, await client.expect(YourTurn)


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Path, Path]]:
    """A server with a certificate that everybody trusts, and a file of tokens."""
    cert, tokens = tmp_path / "cert.pem", tmp_path / "players.tokens"
    shutil.copy(TLS / "localhost.pem", cert)
    tokens.write_text(f"ann {hash_token(TOKEN)}\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "localhost.pem"))
    doors = ("--tls-cert", cert, "--tls-key", TLS / "localhost.key", "--tokens", tokens)
    with serving(tmp_path, *doors, "--drain", "0s", settings=SETTINGS) as server:
        yield server, cert, tokens


async def test_files_that_go_wrong_harm_no_game(secure: tuple[Server, Path, Path]) -> None:
    server, cert, tokens = secure
    client, turn = await at_play(server.url, TOKEN)

    # Its tokens can't be read any more: whoever was known is known still.
    tokens.unlink()
    tokens.mkdir()
    server.hang_up()
    shown(
        "tokens unreadable",
        await asyncio.to_thread(server.hear, "the names read before stay valid"),
    )
    tokens.rmdir()
    tokens.write_text(f"ann {hash_token(TOKEN)}\nbob {hash_token(TOKEN)}\n")
    server.hang_up()
    shown("tokens mended", await asyncio.to_thread(server.hear, "was read again: new bob"))

    # Its certificate expires: nobody new comes, who is here plays on, until it is renewed.
    shutil.copy(TLS / "expired.pem", cert)
    server.hang_up()
    shown("certificate expired", await asyncio.to_thread(server.hear, "clients refuse it"))
    with pytest.raises(ChannelClosed, match="its certificate is not trusted") as refused:
        await Client.login(server.url, "bob", token=TOKEN)
    shown("a client then", refused.value)
    shutil.copy(TLS / "localhost.pem", cert)
    server.hang_up()
    shown("certificate renewed", await asyncio.to_thread(server.hear, "certificate was read"))
    bob = await Client.login(server.url, "bob", token=TOKEN)
    await bob.close()
    await client.play(turn)
    turn = await client.expect(YourTurn)

    # Its disk is full: the game is void, health knows, and with room again a game is played.
    server.let_files_grow(to_bytes=4096)
    await client.play(turn)
    over = await client.expect(GameOver)
    assert (over.outcome, over.winner) == ("host_error", None)
    shown("disk full, to players", over.message)
    shown("disk full, in the log", await asyncio.to_thread(server.hear, "can't be written"))
    status, told = await health(server)
    assert (status, told["status"]) == (503, "failing")
    shown("disk full, /healthz", told)
    server.let_files_grow(to_bytes=None)
    shown("room again", await asyncio.to_thread(server.hear, "is written again"))
    assert (await health(server))[0] == 200
    await client.seek("greedy")
    assert (await client.pass_to_the_end()).outcome in ("out", "zeroes")
    await client.close()
    server.terminate()
    assert await asyncio.to_thread(server.wait) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own is mounted, which root may do")
def test_a_disk_of_its_own_fills_up(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=80m", "none", str(disk))
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        server = Server(tmp_path, "--drain", "0s", "--db", disk / "games.db", db=False)
        asyncio.run(_fill(server, disk))
    finally:
        subprocess.run(("umount", "--lazy", str(disk)), check=True)


async def _fill(server: Server, disk: Path) -> None:
    await asyncio.to_thread(server.start)
    try:
        client, turn = await at_play(server.url)
        (disk / "most").write_bytes(bytes(40 << 20))
        status, told = await health(server)
        assert status == 503
        shown("disk nearly full, /healthz", told)
        await client.play(turn)
        turn = await client.expect(YourTurn)  # a game that is on goes on
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        with contextlib.suppress(OSError):  # the server writes meanwhile; it is full in any case
            (disk / "rest").write_bytes(bytes(free))
        await client.play(turn)
        over = await client.expect(GameOver)
        assert over.outcome == "host_error"
        shown("disk full", await asyncio.to_thread(server.hear, "can't be written"))
        for name in ("most", "rest"):
            (disk / name).unlink()
        await asyncio.to_thread(server.hear, "is written again")
        assert (await health(server))[0] == 200
        await client.seek("greedy")
        assert (await client.pass_to_the_end()).outcome in ("out", "zeroes")
        await client.close()
    finally:
        server.close()
