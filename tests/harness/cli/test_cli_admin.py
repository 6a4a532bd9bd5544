"""``tilewire admin``: what is typed wrong, and what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from harness.cli.asking import state_text
from protocol.messages import Administer, ServerState
from protocol.parts import Ban, Connected, ListedGame, PlayerHere

URL = "ws://127.0.0.1:9"


@pytest.fixture
def admin(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "token").write_text("h\n")
    return "--name", "hannah", "--token-file", str(tmp_path / "token")


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        (("stop",), "'stop'"),
        (("kick",), "admin URL kick WHOM"),
        (("adjust", "g", "ann"), "admin URL adjust GAME NAME TIME"),
        (("adjust", "g", "ann", "soon"), "soon"),
        (("kick", "ann", "--for", "1h"), "--for"),
        (("ban", "ann", "--for", "0m"), "minutes"),
        (("ban", "ann", "--for", "90s"), "minutes"),
    ],
)
def test_what_is_typed_wrong(
    tilewire: CommandLine, admin: tuple[str, ...], asked: tuple[str, ...], word: str
) -> None:
    assert tilewire("admin", URL, *asked, *admin) == 2
    assert word in tilewire.err


def test_times_are_written_as_everywhere(
    tilewire: CommandLine, admin: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []

    def ask(*asked: object) -> ServerState:
        sent.append(asked[-2])
        return ServerState()

    monkeypatch.setattr("harness.cli.asking.ask", ask)
    assert tilewire("admin", URL, "adjust", "g", "ann", "1m", *admin) == 0
    assert tilewire("admin", URL, "ban", "ann", "--for", "2h", "--why", "rude", *admin) == 0
    assert sent == [
        Administer(action="adjust", game="g", whom="ann", ms=60_000),
        Administer(action="ban", whom="ann", minutes=120, why="rude"),
    ]


def test_a_server_is_three_tables_and_what_is_wrong() -> None:
    shown = state_text(
        ServerState(
            players=(
                PlayerHere(name="ann\x1b", address="127.0.0.1:7", seeking=True),
                PlayerHere(name="bob", games=("g1", "\x1b]0;")),
            ),
            games=(
                ListedGame(game="g1", players=("bob", "cem"), scores=(10, 12), turns=3),
                ListedGame(game="\x1b]0;", players=("bob", "cem"), scores=(0, 0), turns=0),
            ),
            bans=(
                Ban(whom="192.0.2.0/24", why="hannah: floods"),
                Ban(whom="dan", minutes=7),
            ),
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
        "player address seeks game",
        "ann� 127.0.0.1:7 yes",
        "bob away g1 �]0;",
        "�]0; bob – cem 0 – 0 0",
        "g1 bob – cem 10 – 12 3",
        "192.0.2.0/24 good hannah floods",
        "dan 7 min",
        "2 invitations not used yet",
        "role name connected from",
        "arbiter eve� 192.0.2.1:7",
    ):
        assert cells.split() in lines
    assert state_text(ServerState()) == "nobody is here"
