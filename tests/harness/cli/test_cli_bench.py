"""``bench selfplay``, ``generate``, ``sim``, ``infer``, ``deadlines``: what they say."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from bot.equipment import Equipment
from engine.notation.cgp import write_cgp
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import play_static_games
from harness.lab.bench import deadlines, load
from harness.lab.bench.client import Served
from harness.lab.bench.selfplay import measure_generation, sample_words
from harness.lab.bench.sim import MID_GAME
from harness.lab.positions import situation
from harness.lab.study_context import Field
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon
from protocol.channel import ChannelClosed

EMPTY = "/".join(["15"] * 15) + " ACEINST/ 0/0 0"
DIES = Path(__file__).parents[2] / "load" / "failing_bots.py"
CAREFUL = """
from bot.players.static import StaticPlayer

class Careful(StaticPlayer):
    \"\"\"Fails if it is told another time than the 20 to 60 ms that it has.\"\"\"

    def choose(self, view, budget):
        clock_ms, cap_ms = view.clocks[view.seat], view.time.move_cap_ms
        assert view.time.initial_ms == clock_ms
        assert 20 <= (clock_ms if cap_ms is None else cap_ms) <= 60
        return super().choose(view, budget)
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("\n".join(["cat", "cats", "act", "sat", "at", "sea", "ai", "oe", "re"]))
    return path


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory, words: Path) -> Path:
    path = tmp_path_factory.mktemp("leaves") / "zero.klv2"
    write_klv(path, LeaveTable.zero(load_lexicon(words).distribution))
    return path


def test_games_of_static_players(tilewire: CommandLine, words: Path, leaves: Path) -> None:
    given = ("--lexicon", words, "--leaves", leaves, "--games", "6", "--seed", "5")
    one = tilewire.json("bench", "selfplay", *given)
    two = tilewire.json("bench", "selfplay", *given, "--threads", "2")
    assert (one["threads"], two["threads"], one["games"]) == (1, 2, 6)
    assert (one["words"], one["lexicon"], one["leaves"]) == (9, "few", str(leaves))
    same = ["moves", "mean_score", "turns_per_game", "bingos_per_game", "first_wins"]
    assert [one[name] for name in same] == [two[name] for name in same]
    assert all(one[name] > 0 for name in ("games_per_s", "seconds", "peak_memory_mb"))
    other = tilewire.json("bench", "selfplay", *given[:-1], "6")
    assert [other[name] for name in same] != [one[name] for name in same]


def test_leave_tables_by_name(tilewire: CommandLine, words: Path) -> None:
    def called(*options: str) -> object:
        given = ("--lexicon", words, "--games", "1", *options)
        return tilewire.json("bench", "selfplay", *given)["leaves"]

    assert called() == called("--leaves", "trained") == "trained (scowl)"
    assert called("--leaves", "formula") == "formula"
    assert called("--leaves", "synthetic") == "synthetic, seed 1"
    assert "trained on" not in tilewire.err
    assert tilewire("bench", "selfplay", "--leaves", "./synthetic") == 2
    assert "./synthetic" in tilewire.err


def test_rollouts_of_a_position(tilewire: CommandLine) -> None:
    found = tilewire.json("bench", "sim", "--rollouts", "32")
    assert found["iterations_per_s"] == found["by_plies"]["2"] > 0
    assert (found["plies"], found["candidates"], found["rollouts"]) == (2, 15, 32)
    assert set(found["by_plies"]) == {"2", "4"}
    assert found["times_one_thread"] == {}
    assert found["position"] == MID_GAME
    given = ("--rollouts", 32, "--plies", 1, "--candidates", 3, "--threads", 2)
    other = tilewire.json("bench", "sim", *given, "--position", EMPTY)
    assert (other["plies"], other["candidates"], other["position"]) == (1, 3, EMPTY)
    assert set(other["by_plies"]) == set(other["times_one_thread"]) == {"1"}


def test_the_usual_position_is_of_the_game_that_is_named() -> None:
    field = Field.of(load_lexicon(), standard_rules())
    games = play_static_games(field.lexicon, field.rules, field.leaves, 32, seed=0, record=True)
    found = [situation(games, game, 10, field.rules).position for game in range(12)]
    assert MID_GAME in [write_cgp(one, field.rules) for one in found]


def test_a_seat_is_asked_under_load(tilewire: CommandLine, words: Path, tmp_path: Path) -> None:
    bot = tmp_path / "careful.py"
    bot.write_text(CAREFUL)
    given = ("--bot", f"{bot}:Careful", "--lexicon", words, "--from", "20ms", "--to", "60ms")
    found = tilewire.json("bench", "deadlines", *given, "--moves", 8, "--load", 1, "--seed", 3)
    assert (found["moves"], found["illegal"], found["illegal_moves"]) == (8, 0, [])
    assert (found["from_ms"], found["to_ms"], found["load"]) == (20, 60, 1)
    spans = {one["budgets"]: one for one in found["spans"]}
    assert spans["all"]["moves"] == 8
    assert spans["of the clock"]["moves"] == 2
    assert spans["all"]["late"] == found["late"]
    for one in found["spans"]:
        assert one["overshoot_ms"]["p50"] <= one["overshoot_ms"]["max"]
        assert 0 <= one["unused_ms"]["p50"] <= one["unused_ms"]["max"] <= 60


def test_a_seat_loads_the_words_of_the_rules_that_it_is_asked_by(
    tilewire: CommandLine, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Equipment] = []

    async def ask_for_moves(settings: deadlines.DeadlineSettings, *_: object) -> None:
        given.append(settings.equipment)

    monkeypatch.setattr(deadlines, "ask_for_moves", ask_for_moves)
    for rules in (("--rules", "german"), ()):
        assert tilewire("bench", "deadlines", "--lexicon", words, *rules) == 0, tilewire.err
    assert [equipment.rules for equipment in given] == ["german", "english"]


def test_a_seat_that_dies_is_a_sentence(tilewire: CommandLine, words: Path) -> None:
    bot = ("--bot", f"{DIES}:Dies?port=9")
    assert tilewire("bench", "deadlines", "--lexicon", words, *bot) == 1
    assert "closed" in tilewire.err
    assert tilewire.out == ""


@pytest.mark.parametrize(("searching", "games"), [(0, 1), (5, 5)])
def test_a_server_has_a_game_for_each_seat_that_searches_and_its_end_is_a_sentence(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, searching: int, games: int
) -> None:
    @asynccontextmanager
    async def told(_folder: Path, settings: str) -> AsyncIterator[Served]:
        assert tomllib.loads(settings)["max_games"] == games
        raise ChannelClosed("the server did not come up: no disk")
        yield

    monkeypatch.setattr(load, "serving", told)
    assert tilewire("bench", "server", "--searching", searching) == 1
    assert "no disk" in tilewire.err


def test_more_connections_than_there_may_be_files(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _which: (1_000, 1_000))
    assert tilewire("bench", "server", "--connections", "5000") == 2
    assert "1,000" in tilewire.err


def test_what_plays_tell_by_tiles_kept(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.lab.bench.infer.KEPT", (2, 3))
    found: dict[str, Any] = tilewire.json("bench", "infer", "--plays", "1")
    rows = found["rows"] + found["within_budget"]
    assert [(one["kept"], one["model"]) for one in rows] == [
        (kept, model) for kept in (2, 3, 3) for model in ("deterministic", "simulating")
    ]
    assert {one["plays"] for one in rows} == {1}
    assert all(0 < one["surviving"] <= 1 for one in found["rows"])


def test_words_that_are_too_short_for_a_play_are_said(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "short.txt").write_text("at\nai\noe\nre\n")
    monkeypatch.setattr("harness.lab.bench.infer._MOST_GAMES", 20)
    assert tilewire("bench", "infer", "--lexicon", tmp_path / "short.txt") == 2
    assert "20 games" in tilewire.err


def test_one_leaf_is_looked_at_without_time(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.lab.bench.infer.BUDGET_S", 0.0)
    monkeypatch.setattr("harness.lab.bench.infer.KEPT", (2,))
    rows: list[dict[str, Any]] = tilewire.json("bench", "infer", "--plays", "1")["within_budget"]
    assert [one["leaves"] for one in rows] == [1, 1]


def test_moves_listed_by_blanks(tilewire: CommandLine, words: Path, leaves: Path) -> None:
    given = ("--lexicon", words, "--leaves", leaves, "--games", "4")
    found = tilewire.json("bench", "generate", *given, "--threads", "2")
    for name in ("positions", "placements"):
        assert found["all"][name] == found["no_blank"][name] + found["blank"][name] > 0
    assert found["threads"] == 2
    assert tilewire("bench", "generate", *given) == 0
    assert "all: us per position" in tilewire.out


def test_a_position_takes_as_long_in_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def took_a_second(_field: Field, games: int, _seed: int) -> dict[str, tuple[int, int, float]]:
        return dict.fromkeys(("all", "no_blank", "blank"), (10 * games, 200 * games, 1.0 * games))

    monkeypatch.setattr("harness.lab.bench.selfplay.time_generation", took_a_second)
    field = Field.of(load_lexicon(), standard_rules())
    one, two = (measure_generation(field, 4, threads, 0).all for threads in (1, 2))
    assert one.us_per_position == two.us_per_position == 100_000
    assert (one.placements_per_s, two.placements_per_s) == (200, 400)


def test_a_sample_of_words_is_of_the_lexicon_and_repeatable(words: Path) -> None:
    def spelt(lexicon: Lexicon) -> list[tuple[int, ...]]:
        return list(lexicon.graph.words())

    lexicon = load_lexicon(words)
    one, same = (sample_words(lexicon, 4, 1) for _ in range(2))
    assert len(spelt(one)) == 4
    assert set(spelt(one)) < set(spelt(lexicon))
    assert spelt(one) == spelt(same)
    assert any(spelt(sample_words(lexicon, 4, seed)) != spelt(one) for seed in range(2, 9))
    assert one.checksum == same.checksum != lexicon.checksum
    assert sample_words(lexicon, 9, 0).checksum == lexicon.checksum
