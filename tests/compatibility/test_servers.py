"""Journals of servers, and bots and conversations of version 1: all go on at today's server."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import psycopg
import pytest
from command_line import CommandLine
from compatibility.kit import EXPECTED, lacks, listed, read_text, sheets, unpack
from e2e.processes import PATIENCE_S, Server, serving
from postgres import Cluster
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from protocol.codec import CODECS
from protocol.errors import PeerError

BOT = Path(__file__).with_name("version1_bot.py")
TRANSCRIPTS: dict[str, list[tuple[str, str, Any]]] = json.loads(read_text("transcripts.json.xz"))
"""By roles and codec: who dials, sends, gets, loses the line, closes or is closed; and what."""
PAGES: dict[str, dict[str, Any]] = json.loads(read_text("pages.json.xz"))
"""By journal and address, what a server answered over HTTP when it had just started."""
OF_THE_MOMENT = {
    *("clocks", "deadline_ms", "challenge_ms", "think_ms", "lag_ms", "host_lag_ms"),
    *("message", "software", "bots", "address", "nonce"),
}
"""Fields whose values another server, or the same one later, chooses otherwise."""
OF_A_FRESH_GAME = OF_THE_MOMENT | {"game", "rack", "racks", "position", "commitment", "secret"}

Frame = bytes | str


class Format(NamedTuple):
    """A codec as any program has it."""

    pack: Callable[[object], Frame]
    load: Callable[[Frame], dict[str, Any]]
    frame: Callable[[str], Frame]
    """Returns a frame by how it stands in a transcript."""


FORMATS = {
    "json": Format(json.dumps, json.loads, str),
    "msgpack": Format(msgpack.packb, msgpack.unpackb, base64.b64decode),
}


# --- what was said --------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", FORMATS)
def test_whatever_was_said_still_decodes(codec: str) -> None:
    form, today = FORMATS[codec], CODECS[f"tilewire.v1.{codec}"]
    events = TRANSCRIPTS[f"players.{codec}"] + TRANSCRIPTS[f"arbiter.{codec}"]
    frames = [form.frame(what) for _, does, what in events if does in ("sends", "gets")]
    column = list(FORMATS).index(codec)  # a line has a message of any kind in both codecs
    lines = read_text("messages.txt.xz").split("\n")[:-1]
    frames += [form.frame(line.rsplit(" ", 1)[column]) for line in lines]
    refused = []
    for frame in frames:
        try:
            message = today.decode(frame)
        except PeerError as error:
            refused.append(error.code)
        else:
            assert not lacks(form.load(frame), form.load(today.encode(message)))
    assert refused == ["unknown_type", "bad_message"], "which were sent on purpose"


class Replay:
    """Clients of a transcript at today's server."""

    def __init__(self, url: str, codec: str, stack: ExitStack) -> None:
        self._url, self._stack = url, stack
        self._codec, self._form = Subprotocol(f"tilewire.v1.{codec}"), FORMATS[codec]
        self._lines: dict[str, ClientConnection] = {}
        self._fresh: dict[str, str] = {}
        """Today's ids of games that began after the journal was left, by their recorded ids."""

    def step(self, who: str, does: str, what: Any) -> None:
        """Do as a client did, or see that it is answered as it was."""
        match does:
            case "dial":
                dialled = connect(self._url + what, subprotocols=[self._codec], compression=None)
                self._lines[who] = self._stack.enter_context(dialled)
                assert self._lines[who].subprotocol == self._codec
            case "sends":
                self._lines[who].send(self._addressed(self._form.frame(what)))
            case "gets":
                self._compare(self._form.load(self._form.frame(what)), self._lines[who])
            case "is closed":
                with pytest.raises(ConnectionClosed) as closed:
                    self._lines[who].recv(timeout=PATIENCE_S)
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == what
            case "loses":
                self._lines[who].socket.shutdown(socket.SHUT_RDWR)
            case "closes":
                self._lines[who].close()

    def _addressed(self, frame: Frame) -> Frame:
        """Put today's ids of fresh games into a frame, which else is sent byte by byte."""
        for then, now in self._fresh.items():
            old, new = self._form.pack(then), self._form.pack(now)
            frame = frame.replace(old, new)  # type: ignore[arg-type]  # both are of its type
        return frame

    def _compare(self, then: dict[str, Any], line: ClientConnection) -> None:
        if then["type"] == "info":
            return  # of which there may be any number
        while (now := self._form.load(line.recv(timeout=PATIENCE_S)))["type"] == "info":
            pass
        game = str(then.get("game"))  # of a message that is about none, "None"
        if then["type"] == "new_game" and game not in (now["game"], *self._fresh):
            self._fresh[game] = now["game"]
        assert str(now.get("game")) == self._fresh.get(game, game)
        assert not lacks(then, now, OF_A_FRESH_GAME if game in self._fresh else OF_THE_MOMENT), then


# --- who goes on ----------------------------------------------------------------------------------


def play_on(server: Server, folder: Path, codec: str) -> list[dict[str, Any]]:
    """Have the bot of version 1 go on with its game and play another, on a line that it loses."""
    token = json.loads((folder / "tokens.json").read_text(encoding="utf-8"))["veteran"]
    command = [sys.executable, str(BOT), server.url, "--codec", codec, "--name", "veteran"]
    command += ["--token", token, "--opponent", "greedy", "--games", "2", "--lose-line", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_pages(server: Server, name: str) -> None:
    """Check that addresses whose answers are stable have all that they had."""
    while "/api/ladder/games" in PAGES[name] and not ladder_is_read(server):
        time.sleep(0.05)
    for path, then in PAGES[name].items():
        status, now = server.get(path)
        assert status == 200, path
        assert not lacks(then, json.loads(now), OF_THE_MOMENT), path


def ladder_is_read(server: Server) -> bool:
    """Return whether a ladder has its games; it reads them when the server listens already."""
    status, told = server.get("/api/ladder/games")
    return status == 200 and bool(json.loads(told)["games"])


def check_games(
    cli: CommandLine, name: str, journal: Path | str, out: Path
) -> dict[str, dict[str, Any]]:
    """Return what is said of a journal's games; check that it has at least what was left there."""
    left, games, told = EXPECTED["servers"][name], listed(cli, journal), sheets(cli, journal, out)
    for game, then in left["games"].items():
        went_on = then["outcome"] is None and games[game]["outcome"] is not None
        since = {"turns", "outcome", "scores"} if went_on else set()
        assert not lacks({key: then[key] for key in then.keys() - since}, games[game])
        if games[game]["outcome"] is not None:
            lines, before = told[game], left["sheets"][game]
            assert (lines[: len(before)] if went_on else lines) == before
    return games


@pytest.mark.parametrize("codec", FORMATS)
def test_a_server_goes_on_with_its_conversations(
    codec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli, folder = CommandLine(capsys), unpack("server", tmp_path / "server")
    check_games(cli, "server", folder / "serve.db", tmp_path / "before")
    settings = (folder / "serve.toml").read_text(encoding="utf-8")
    options = ("--admins", folder / "admins.tokens", "--rules", folder / "double.toml")
    with serving(folder, "--drain", "0s", *options, settings=settings) as server:
        check_pages(server, "server")
        for role in ("players", "arbiter"):
            with ExitStack() as stack:
                replay = Replay(server.url, codec, stack)
                for event in TRANSCRIPTS[f"{role}.{codec}"]:
                    replay.step(*event)
        ends = play_on(server, folder, codec)
        server.terminate()
        assert server.wait() == 0
    games = check_games(cli, "server", folder / "serve.db", tmp_path / "after")
    check_ends(ends, games)
    assert {game["outcome"] for game in games.values()} <= {"out", "zeroes", "resign"}


def test_a_ladder_in_postgresql_goes_on(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli, folder, database = CommandLine(capsys), unpack("postgres", tmp_path), cluster.database()
    with psycopg.connect(database) as connection:
        connection.execute((folder / "journal.sql").read_bytes())
    check_games(cli, "postgres", database, tmp_path / "before")
    settings = (folder / "serve.toml").read_text(encoding="utf-8")
    with serving(
        folder, "--ladder", "--drain", "0s", settings=settings, database=database
    ) as server:
        check_pages(server, "postgres")
        ends = play_on(server, folder, "json")
        server.terminate()
        assert server.wait() == 0
    check_ends(ends, check_games(cli, "postgres", database, tmp_path / "after"))


def check_ends(ends: list[dict[str, Any]], games: dict[str, dict[str, Any]]) -> None:
    """Check that games ended for their player as the journal says, the first one being resumed."""
    assert any(ends[0]["game"] in left["games"] for left in EXPECTED["servers"].values())
    for end in ends:
        game = games[end["game"]]
        assert (end["outcome"], end["scores"]) == (game["outcome"], game["scores"])
        assert end["outcome"] in ("out", "zeroes")
