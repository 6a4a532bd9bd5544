"""Where guessing racks pays: turns that are decided again, sums worked by hand, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from engine.rules.rules import standard_rules
from harness.lab.studies.gains import GAINERS, Gains, gain_rows, gains_in
from harness.lab.studies.games import Meeting, play_seats, replayed
from harness.lab.studies.plots import draw_gains
from harness.lab.studies.replayed_beliefs import read_games
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import win_probabilities_for

_SEAT = "sim?iterations=2"
_RULES = standard_rules()
_TURNS = 7
"""Of a game that are looked at."""


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return load_lexicon()


@pytest.fixture(scope="session")
def played(lexicon: Lexicon, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pairs of games between simulating players, as far as they are looked at."""
    path = tmp_path_factory.mktemp("gains") / "games.jsonl"
    play_seats(Meeting((_SEAT, _SEAT), lexicon, _RULES, 4), 4, out=path)
    head, *games = map(json.loads, path.read_text().splitlines())
    lines = [head, *(one | {"moves": one["moves"][:_TURNS]} for one in games)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _asked(lexicon: Lexicon, path: Path, **changed: Any) -> Gains:
    meeting = Meeting((_SEAT, _SEAT), lexicon, _RULES, 0)
    games = read_games(path, lexicon, meeting.seats)
    chances = win_probabilities_for(_RULES.distribution)
    assert chances is not None
    return Gains(meeting, games, chances, racks=100, rollouts=50, truth=50)._replace(**changed)


# --- a game ---------------------------------------------------------------------------------------


def test_turns_of_a_game_are_decided_again(lexicon: Lexicon, played: Path) -> None:
    asked = _asked(lexicon, played)
    assert asked.pairs() == 2
    found = gains_in(asked, 1)
    assert (found["number"], found["game"]) == (1, 2)
    assert gains_in(asked, 1) == found
    game = replayed(asked.games.records[2], asked.games.seed, _RULES)
    hidden = [
        number + 1
        for number, turn in enumerate(game.turns[:-1])
        if len(turn.rack) > len(turn.move.tiles if hasattr(turn.move, "tiles") else ())
    ]
    assert sorted(one["turn"] for one in found["turns"]) == hidden
    for one in found["turns"]:
        assert 8 <= one["unseen"] <= 93
        assert set(one["gains"]) == set(GAINERS)
        for player, gained in one["gains"].items():
            assert player in one["differs"] or gained == [0, 0]


def test_one_who_chooses_the_same_gains_nothing(lexicon: Lexicon, played: Path) -> None:
    asked = _asked(lexicon, played, racks=1)
    first = asked.games.records[0]
    two = asked.games._replace(records={0: first | {"moves": first["moves"][:2]}})
    (turn,) = gains_in(asked._replace(games=two), 0)["turns"]
    assert turn["turn"] == 1
    for player in set(GAINERS) - set(turn["differs"]):
        assert turn["gains"][player] == [0, 0]


# --- sums -----------------------------------------------------------------------------------------


def _turn(unseen: int, placed: int, points: float) -> dict[str, Any]:
    gained = {player: [0.0, 0.0] for player in GAINERS} | {"infer": [points / 100, points]}
    differs = ["infer"] if points else []
    return {"turn": 1, "unseen": unseen, "placed": placed, "gains": gained, "differs": differs}


def _records() -> list[dict[str, Any]]:
    return [
        {"number": 0, "turns": [_turn(50, 3, 2.0), _turn(20, 1, 0.0)]},
        {"number": 1, "turns": [_turn(50, 3, 0.0), _turn(93, 0, 4.0)]},
        {"number": 2, "turns": []},
    ]


def test_gains_by_hand() -> None:
    rows = {(one.player, one.turns): one for one in gain_rows(_records())}
    kinds = ("all", "15–28 tiles unseen", "50–93 tiles unseen")
    placed = ("exchanged or passed", "1 tile placed", "3 tiles placed")
    assert list(dict.fromkeys(turns for _, turns in rows)) == [*kinds, *placed]
    every = rows["infer", "all"]
    assert (every.by, every.count, every.differs, every.points) == ("all", 4, 0.5, 1.5)
    assert every.win == pytest.approx(0.015)
    assert every.points_a_game == 1.0, "a game has two players"
    # Games are 1 off the mean in all, in either direction; t is 12.706 with one degree of freedom.
    assert every.points_error == pytest.approx(12.7062 * 0.5, rel=1e-4)
    alone = rows["infer", "1 tile placed"]
    assert (alone.by, alone.points, alone.points_error) == ("placed", 0, None), "a single game"
    three = rows["infer", "3 tiles placed"]
    assert three.points_error == pytest.approx(12.7062, rel=1e-4)
    assert rows["last", "all"].points_error == 0
    assert gain_rows([]) == []


def test_a_picture(tmp_path: Path) -> None:
    for records in (_records(), []):
        draw_gains(gain_rows(records), tmp_path / "gains.png")
        assert (tmp_path / "gains.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OSError, match="none"):
        draw_gains([], tmp_path / "none" / "gains.png")


# --- the command ----------------------------------------------------------------------------------


def _command(played: Path, out: Path) -> tuple[object, ...]:
    few = ("--racks", 100, "--rollouts", 50, "--truth", 50)
    return ("experiment", "gains", "--from", played, "--seat", _SEAT, *few, "--out", out)


def test_gains_are_gone_on_with(
    tilewire: CommandLine, lexicon: Lexicon, tmp_path: Path, played: Path
) -> None:
    out, plot = tmp_path / "gains.jsonl", tmp_path / "gains.png"
    command = _command(played, out)
    assert tilewire(*command, "--games", 1) == 0, tilewire.err
    assert "tilewire: 1 of 1 games" in tilewire.err
    one = out.read_bytes()
    assert tilewire(*command, "--workers", 2, "--plot", plot) == 0, tilewire.err
    assert f"{played} has 2 games that began a pair, and no more" in tilewire.err
    assert out.read_bytes().startswith(one)
    assert plot.read_bytes().startswith(b"\x89PNG")
    _, *records = map(json.loads, out.read_text().splitlines())
    asked = _asked(lexicon, played)
    assert records == [gains_in(asked, number) for number in range(2)], "by any number of workers"
    printed, before = tilewire.out, out.read_bytes()
    assert tilewire(*command) == 0
    assert (tilewire.out, out.read_bytes()) == (printed, before)
    assert tilewire(*command, "--json") == 0
    rows = json.loads(tilewire.out)
    assert [row["player"] for row in rows[: len(GAINERS)]] == list(GAINERS)
    first = [row for row in rows if row["player"] == GAINERS[0]]
    assert rows[0]["count"] == sum(row["count"] for row in first if row["by"] == "placed")


def test_a_file_of_other_games(tilewire: CommandLine, tmp_path: Path, played: Path) -> None:
    out, other = tmp_path / "out.jsonl", tmp_path / "other.jsonl"
    head, first, *_ = map(json.loads, played.read_text().splitlines())
    first["moves"] = first["moves"][:1]  # nothing comes after it
    other.write_text(f"{json.dumps(head)}\n{json.dumps(first)}\n")
    assert tilewire(*_command(other, out)) == 0, tilewire.err
    assert tilewire(*_command(played, out)) == 2
    assert f"{out} is of an experiment with first " in tilewire.err
    other.write_text(f"{json.dumps(head)}\n{json.dumps(first | {'number': 1})}\n")
    assert tilewire(*_command(other, out)) == 2
    assert f"other.jsonl lacks game 0 of {_SEAT} – {_SEAT}" in tilewire.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--games", "0"), "--games 0: it is 1 or more"),
        (("--rollouts", "0"), "--rollouts 0: it is 1 or more"),
        (("--truth", "0"), "--truth 0: it is 1 or more"),
        (("--racks", "0"), "--racks 0: it is 1 or more"),
        (("--workers", "0"), "--workers 0: it is 1 or more"),
        (("--seat", "static"), f"has no game static – static; it has: {_SEAT} – {_SEAT}"),
        (("--from", "/nowhere"), "--from /nowhere: No such file"),
        (("--from", __file__), "is no file of games with their moves"),
        (("--out", "/nowhere/at/all"), "--out /nowhere/at/all: No such file"),
        (("--lexicon", "none"), "none"),
    ],
)
def test_what_can_not_be_asked(
    tilewire: CommandLine, tmp_path: Path, played: Path, options: tuple[str, str], says: str
) -> None:
    _, _, *given = _command(played, tmp_path / "out.jsonl")
    asked = dict(zip(given[::2], given[1::2], strict=True)) | dict([options])
    assert tilewire("experiment", "gains", *(part for pair in asked.items() for part in pair)) == 2
    assert says in tilewire.err
    assert not (tmp_path / "out.jsonl").exists()
