"""``serve --tournament``, ``direct`` and ``admin``: what goes on as begun, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import CommandLine
from match_samples import match_config

from harness.cli.access_files import AccessFiles
from harness.cli.asking import standings_text, state_text
from harness.cli.directed import plan_of
from harness.cli.failing import CommandFailed
from harness.matches.config import write_config
from harness.server.tokens import KnownTokens, hash_token
from protocol.messages import Administer, ServerState, StandingList
from protocol.parts import (
    Arrangement,
    Ban,
    Connected,
    ListedGame,
    PlayerHere,
    RoundGame,
    StandingRow,
)

NO_FILES = AccessFiles(None, None, None)


def test_standings_name_who_rests_who_is_away_and_what_came_of_games() -> None:
    bob = StandingRow(
        name="bob\x1b", points=1, spread=-12, games=1, byes=1, half_byes=2, presence="away"
    )
    games = (
        RoundGame(number=3, players=("ann", "bob"), scores=(400, 388), outcome="corrected"),
        RoundGame(number=4, players=("cem", "dan"), scores=(20, 0), game="g"),
        RoundGame(number=7, players=("c", "d"), outcome="no_show", winner=None),
    )
    gus = Arrangement(round=2, names=("gus",), half=True)
    shown = standings_text(
        StandingList(round=2, rounds=4, rows=(bob,), games=games, arranged=(gus,))
    )
    lines = [line.split() for line in shown.splitlines()]
    for cells in (
        "1 bob� 1 1 −12 1 + 2 × ½ away",
        "round 2: gus has half a point a game",
        "3 ann 400 388 bob corrected",
        "4 cem 20 0 dan on",
        "7 c d no_show, no result",
    ):
        assert cells.split() in lines


def tournament(folder: Path, text: str) -> Path:
    file = folder / "club.toml"
    file.write_text(text, encoding="utf-8")
    return file


SWISS = 'seats = ["guest:ann", "guest:bob"]\nformat = "swiss"\nrounds = 3\n'


def test_a_file_that_differs_from_what_was_begun(tilewire: CommandLine, tmp_path: Path) -> None:
    begun = match_config(seats=("guest:ann", "guest:bob"), names=("ann", "bob"), format="swiss")
    write_config(begun, tmp_path)
    file = tournament(tmp_path, SWISS + 'time = "1m"\n')
    assert tilewire("serve", "--tournament", file, "--out", tmp_path, "--port", 0) == 2
    assert str(file) in tilewire.err
    for what in ("clock", "words", "rounds"):
        assert what in tilewire.err


def test_a_seed_that_differs_from_what_was_begun(tmp_path: Path) -> None:
    seats, out = 'seats = ["greedy", "static"]\n', tmp_path / "out"

    def begin(text: str, folder: Path, host: str = "127.0.0.1") -> int | None:
        plan, _ = plan_of(tournament(tmp_path, seats + text), folder, host, 1, NO_FILES)
        with plan.files:
            assert bool(plan.config.time.lag_ms) == (host == "::")
            return plan.config.seed

    assert begin("seed = 5\n", out) == begin("seed = 5\n", out) == begin("", out) == 5
    assert begin("", out, "::") == begin("", out) == 5, "the address is the server's"
    with pytest.raises(CommandFailed, match="seed"):
        begin("seed = 6\n", out)
    assert begin("", out) == 5, "the folder isn't locked"
    drawn = begin("", tmp_path / "other")
    assert begin("", tmp_path / "other") == drawn


def test_tokens_of_directors_are_those_of_now(tmp_path: Path) -> None:
    file = tournament(tmp_path, SWISS + 'directors = ["hannah", "ida"]\n')
    tokens = tmp_path / "tokens"
    tokens.write_text(f"hannah {hash_token('h')}\n")
    access = NO_FILES._replace(tokens=KnownTokens(tokens, print))
    plan, _ = plan_of(file, tmp_path / "out", "127.0.0.1", 1, access)
    with plan.files:
        ida = (tmp_path / "out" / "ida.token").read_text().strip()
        assert plan.directors() == {"hannah": hash_token("h"), "ida": hash_token(ida)}
        tokens.write_text(f"hannah {hash_token('new')}\n")
        (tmp_path / "out" / "ida.token").write_text("other\n")
        assert plan.directors() == {"hannah": hash_token("new"), "ida": hash_token("other")}
        tokens.write_text("")
        (tmp_path / "out" / "ida.token").unlink()
        assert plan.directors() == {}


def test_registered_guests_are_given_tokens_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seats = 'seats = ["guest:ann", "guest:v1/x", "static"]\nformat = "swiss"\nrounds = 3\n'
    file, out = tournament(tmp_path, seats), tmp_path / "out"

    def entrants(access: AccessFiles = NO_FILES) -> Mapping[str, str] | None:
        plan, _ = plan_of(file, out, "127.0.0.1", 1, access)
        with plan.files:
            return plan.entrants

    given = entrants()
    text = (out / "entrants.txt").read_text()
    assert (out / "entrants.txt").stat().st_mode & 0o777 == 0o600
    assert given == {name: hash_token(token) for name, token in map(str.split, text.splitlines())}
    assert given.keys() == {"ann", "v1/x"}
    assert "entrants.txt" in capsys.readouterr().err
    assert entrants() == given
    assert (out / "entrants.txt").read_text() == text
    assert "entrants.txt" not in capsys.readouterr().err
    (out / "entrants.txt").write_text("ann\n")
    with pytest.raises(CommandFailed, match=r"entrants\.txt, line 1"):
        entrants()
    (tmp_path / "tokens").write_text("")
    assert entrants(NO_FILES._replace(tokens=KnownTokens(tmp_path / "tokens", print))) is None


def test_bots_of_the_house_that_ponder_need_a_core_each(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tournament(tmp_path, 'seats = ["greedy", "static"]\nponder = true\n')
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    plan, _ = plan_of(file, tmp_path / "out", "127.0.0.1", 2, NO_FILES)
    assert plan.config.ponder
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0})
    assert tilewire("serve", "--tournament", file, "--port", 0, "--max-games", 1) == 2
    assert "--max-games" in tilewire.err


# --- admin ----------------------------------------------------------------------------------------


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
    state = ServerState(
        players=(PlayerHere(name="ann\x1b", games=("g1", "\x1b]0;")),),
        games=(ListedGame(game="\x1b]0;", players=("bob", "cem"), scores=(10, 12), turns=3),),
        bans=(Ban(whom="192.0.2.0/24", why="hannah: floods"), Ban(whom="dan", minutes=7)),
        connections=(Connected(role="arbiter", name="eve\x1b", address="192.0.2.1:7"),),
        paused="hannah: power cut",
        trouble="games.db can't be written: full",
        invitations=2,
    )
    shown = state_text(state)
    lines = [line.split() for line in shown.splitlines()]
    assert shown.startswith("no game begins: hannah: power cut\n")
    for cells in (
        "ann� away g1 �]0;",
        "�]0; bob – cem 10 – 12 3",
        "192.0.2.0/24 good hannah floods",
        "dan 7 min",
        "2 invitations not used yet",
        "arbiter eve� 192.0.2.1:7",
    ):
        assert cells.split() in lines
    assert state_text(ServerState()) == "nobody is here"
