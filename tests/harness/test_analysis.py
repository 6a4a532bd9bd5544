"""What is asked of a position, and what is found: without the command line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from engine.generate import Generator
from engine.moves import PASS, Direction, Exchange, Place
from engine.notation import read_cgp
from engine.position import Position
from engine.rules import standard_rules
from harness.analysis import Findings, Limit, Settings, analyse
from harness.questions import ask, why_not
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import win_probabilities_for

MIDGAME = Path(__file__).parents[1] / "fixtures" / "cgp" / "midgame.cgp"
EMPTY = "/".join(["15"] * 15)
RULES = standard_rules()


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("words\nat\ncat\nact\nrow\nrows\nword\nor\nxi\nad\n")
    return load_lexicon(path)


def position(cgp: str) -> Position:
    return read_cgp(cgp, RULES).position


def test_what_was_played_and_can_not_have_been(lexicon: Lexicon) -> None:
    generator = Generator(lexicon, RULES)
    start = position(f"{EMPTY} ACTWORD/ 0/0 0")
    for move in (Exchange((26,)), Place(0, 0, Direction.ACROSS, (1, 20))):
        question = ask(generator, lexicon, start, 3, move)
        assert question.obstacle
        assert question.played is None
        assert len(question.candidates) == 3
    question = ask(generator, lexicon, start, 3, PASS)
    assert question.played == question.candidates[3].move == PASS
    assert why_not(start, RULES) == ""


def test_a_first_word_may_have_been_played_either_way(lexicon: Lexicon) -> None:
    """It makes no difference, so that only one of the ways is compared."""
    generator = Generator(lexicon, RULES)
    start = position(f"{EMPTY} ACTWORD/ 0/0 0")
    across = ask(generator, lexicon, start, 3, None).candidates
    first = across[0].move
    assert isinstance(first, Place)
    down = Place(first.column, first.row, Direction.DOWN, first.tiles)
    question = ask(generator, lexicon, start, 3, down)
    assert question.played == down
    assert question.candidates == (across[0]._replace(move=down), *across[1:])
    refused = ask(generator, lexicon, start, 3, down, taken_back=True)
    legal = [one.move for one in refused.candidates if one.move != down]
    assert refused.phony
    assert first not in legal
    assert len(legal) == 3


def test_findings_say_how_far_the_best_is_ahead() -> None:
    lexicon = load_lexicon()
    settings = Settings(
        [Generator(lexicon, RULES)],
        lexicon,
        win_probabilities_for(RULES.distribution),
        candidates=6,
        limit=Limit(rollouts=900),
    )
    so_far: list[Findings] = []
    found = analyse(settings, position(MIDGAME.read_text()), told=so_far.append)
    assert [one.behind for one in so_far] == [()] * len(so_far)
    assert found.is_known
    assert found.rollouts == sum(one.samples for one in found.estimates) == 900
    for one in found.estimates:
        ahead = found.ahead_of(one.move)
        assert ahead.win == pytest.approx(found.best.win - one.win)
        assert ahead.equity == pytest.approx(found.best.equity - one.equity)
        if one is found.best:
            assert ahead == (0.0, 0.0, 0.0, 0.0)
            assert not found.is_clear(one.move)
        else:
            # Both have much of their luck in common.
            assert 0 < ahead.equity_error < math.hypot(found.best.equity_error, one.equity_error)
            assert (one in found.rivals) != found.is_clear(one.move)


def test_it_stops_when_it_is_told_to(lexicon: Lexicon) -> None:
    seen: list[Findings] = []
    settings = Settings([Generator(lexicon, RULES)], lexicon, None, limit=Limit(seconds=600))
    found = analyse(
        settings,
        position(f"{EMPTY} ACTWORD/ 0/0 0"),
        told=seen.append,
        stopped=lambda: len(seen) == 3,
    )
    assert found.rollouts == seen[2].rollouts > seen[1].rollouts > seen[0].rollouts == 1
