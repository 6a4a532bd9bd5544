"""``tilewire admin``: what is asked of a server, and what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from harness.cli.asking import state_text
from protocol.messages import Administer, ServerState
from protocol.parts import Ban, Connected, ListedGame, PlayerHere


def test_times_are_written_as_everywhere(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    (tmp_path / "token").write_text("h\n")
    who = "--name", "hannah", "--token-file", tmp_path / "token"

    def ask(*asked: object) -> ServerState:
        sent.append(asked[-2])
        return ServerState()

    monkeypatch.setattr("harness.cli.asking.ask", ask)
    assert tilewire("admin", "ws://there", "adjust", "g", "ann", "1m", *who) == 0
    assert tilewire("admin", "ws://there", "ban", "ann", "--for", "2h", "--why", "rude", *who) == 0
    assert sent == [
        Administer(action="adjust", game="g", whom="ann", ms=60_000),
        Administer(action="ban", whom="ann", minutes=120, why="rude"),
    ]


def test_a_server_is_who_is_there_what_is_on_and_what_is_wrong() -> None:
    shown = state_text(
        ServerState(
            players=(
                PlayerHere(name="ann\x1b", address="127.0.0.1:7", seeking=True),
                PlayerHere(name="bob", games=("g1", "\x1b]0;")),
            ),
            games=(ListedGame(game="\x1b]0;", players=("bob", "cem"), scores=(10, 12), turns=3),),
            bans=(Ban(whom="192.0.2.0/24", why="hannah: floods"), Ban(whom="dan", minutes=7)),
            connections=(Connected(role="arbiter", name="eve\x1b", address="192.0.2.1:7"),),
            paused="hannah: power cut",
            trouble="games.db can't be written: full",
            invitations=2,
        )
    )
    assert "\x1b" not in shown
    lines = [line.split() for line in shown.splitlines()]
    assert shown.startswith("no game begins: hannah: power cut\n")
    for cells in (
        "ann� 127.0.0.1:7 yes",
        "bob away g1 �]0;",
        "�]0; bob – cem 10 – 12 3",
        "192.0.2.0/24 good hannah floods",
        "dan 7 min",
        "2 invitations not used yet",
        "arbiter eve� 192.0.2.1:7",
    ):
        assert cells.split() in lines
    assert state_text(ServerState()) == "nobody is here"
