"""What is found with few tiles in the bag: rollouts first, then every move in every case."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bot.equipment import Resources
from bot.search import anytime
from bot.search.analysis.findings import Findings, SearchTools, analyse
from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.preendgame.solver import PreEndgame
from engine.rules.moves import PASS, Move
from engine.rules.rules import standard_rules
from harness.analysis.as_json import answer_json
from harness.analysis.review import ReviewedTurn
from harness.analysis.verdict import closing_sentences, grade, verdict_text
from harness.cli.findings_view import show_position
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import win_probabilities_for

RULES = standard_rules()
WORDS = (
    "words at cat act row rows word or xi ad ate eat tea re er in ion on no to lo ol io en ne ten "
    "net"
)
ONE = (
    "7Q1O5/1A5U1J5/1G3DiARIZES2/HELIO2N1M5/A3SLOTTER4/I7W5D/R5AXION3I/Y6UNROPE1A/5C4HAFTS/"
    "5L1U3Y2t/4REINETTE2E/5G1B3D2M/6VOW6/7LEARNING/7T4FOO ACEEPUV/{} 0/0 0"
)
"""One tile is in the bag; with ``WORDS`` the best of its 12 moves is none of the first two."""


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("\n".join(WORDS.split()) + "\n")
    return load_lexicon(path)


def settings(lexicon: Lexicon, rollouts: int = 1_500, **changes: Any) -> SearchTools:
    leaves = LeaveTable.zero(RULES.distribution)
    known = Resources(lexicon, leaves, win_probabilities_for(RULES.distribution))
    return SearchTools(RULES, known, candidates=2, rollouts=rollouts, **changes)


def found(lexicon: Lexicon, played: Move | None, held: str = "", **options: Any) -> Findings:
    return analyse(settings(lexicon), read_cgp(ONE.format(held), RULES), played, **options)


def moves(lexicon: Lexicon) -> list[Move]:
    at = read_cgp(ONE.format(""), RULES)
    return [row.move for row in Generator(lexicon, RULES).everything(at)]


def compared(lexicon: Lexicon, *chosen: Move) -> PreEndgame:
    """Compare moves to the end of the work."""
    generator, at = Generator(lexicon, RULES), read_cgp(ONE.format(""), RULES)
    rows = [row for row in generator.everything(at) if not chosen or row.move in chosen]
    solver = EndgameSolver(lexicon, RULES, memory=40 << 20)
    work = PreEndgame(solver, generator, at, rows, protected=chosen)
    while work.advance(10_000):
        pass
    return work


def test_the_best_is_proven_though_no_candidate(lexicon: Lexicon) -> None:
    best = compared(lexicon).leader()
    played = moves(lexicon)[1]
    got = found(lexicon, played)
    assert got.best.move == best.move not in moves(lexicon)[:2]
    assert (got.best.win, got.best.win_error, got.best.equity) == (best.win, 0.0, best.spread)
    assert got.best.equity_error == 0.0
    own = compared(lexicon, played).leader()
    assert got.played
    assert (got.played.win, got.played.win_error) == (own.win, 0.0)
    lead = got.ahead_of(played)
    assert (lead.win, lead.win_error) == (best.win - own.win, 0.0)
    assert got.is_proven(best.move, played)
    assert got.is_clear(played)
    assert got.is_certain
    assert grade(got) == "large"
    assert all(one.win >= other.win for one, other in pairwise(got.estimates))
    assert got.compared == 0
    assert got.replies is None


def test_findings_are_those_of_rollouts_until_more_is_known(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anytime, "REPORT_S", 0.0)  # also on a fast machine
    told: list[Findings] = []
    played = moves(lexicon)[1]
    got = found(lexicon, played, on_progress=told.append)
    assert told[0].cases is None
    assert got.cases
    assert got.rollouts == 450
    assert 0 < got.nodes <= 30 * 1_050
    again = found(lexicon, played)
    assert replace(again, seconds=0.0) == replace(got, seconds=0.0)
    few = analyse(settings(lexicon, 600), got.question.position, played)
    assert (few.cases, few.nodes, few.rollouts) == (None, 0, 600)


def test_a_search_that_is_stopped_keeps_its_rollouts(lexicon: Lexicon) -> None:
    got = found(lexicon, moves(lexicon)[1], stopped=lambda: True)
    assert got.cases is None
    assert got.rollouts > 0


def test_how_much_is_proven_and_with_which_tile_is_said(
    lexicon: Lexicon, capsys: pytest.CaptureFixture[str]
) -> None:
    played = moves(lexicon)[1]
    got = found(lexicon, played)
    text = verdict_text(got, RULES)
    assert "12 of 12 moves compared" in text
    assert "12 proven, against a perfect opponent" in text
    assert "nother may be" not in text
    _, *by_tile = text.split("By the tile in the bag ")
    for move, said in zip((got.best.move, played), by_tile, strict=True):
        for draw in compared(lexicon, move).draws(move):
            verb = "wins" if draw.wins else "ties" if draw.draws else "loses"
            letters = said.split(f"{verb} with ")[1].split(";")[0]
            assert RULES.distribution.alphabet.text(draw.bag) in letters
    known = answer_json(got, RULES)
    late = known["pre_endgame"]
    counts = {key: late[key] for key in ("model", "moves", "compared", "proven", "settled")}
    assert counts == dict(zip(counts, ("perfect", 12, 12, 12, True), strict=True))
    for name, row in (("best", got.best), ("played", got.played)):
        shares = [(each["weight"], each[name]) for each in late["by_bag"]]
        assert row
        won = sum(weight * (each["wins"] + each["draws"] / 2) for weight, each in shares)
        assert won == pytest.approx(row.win)
        assert all(each["proven"] for _, each in shares)
    assert known["verdict"]["proven"]
    assert known["candidates"][0]["proven"]
    turn = ReviewedTurn(got.question.position, 19, "anna")
    closing = " ".join(closing_sentences([turn], [(turn, got)]))
    assert "(line 19); proven." in closing
    show_position(turn, settings(lexicon), lambda: False, as_json=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "450 rollouts, then " in printed
    assert " proven " in printed


def test_what_is_not_proven_has_an_error_and_is_said(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.search.analysis.by_cases._DOUBT", 1.0)
    monkeypatch.setattr("bot.search.analysis.by_cases._LEAST_NODES", {1: 1})
    at = read_cgp(ONE.format(""), RULES)
    got = analyse(settings(lexicon, 300), at, moves(lexicon)[1])
    assert got.cases
    assert not got.cases.is_settled
    assert not got.is_certain
    assert got.best.win_error > 0
    assert "Another may be better" in verdict_text(got, RULES)
    assert answer_json(got, RULES)["verdict"]["proven"] is False
    turn = ReviewedTurn(at, 19, "anna")
    closing = " ".join(closing_sentences([turn], [(turn, got)]))
    assert "not proven in full: line 19." in closing


def test_tiles_that_the_opponent_is_known_to_hold_are_in_no_bag(lexicon: Lexicon) -> None:
    got = found(lexicon, PASS, "EI")
    assert got.cases
    known = {draw.bag: draw.weight for draw in got.cases.by_bag[PASS]}
    unknown = {draw.bag: draw.weight for draw in compared(lexicon).draws(PASS)}
    (tile,) = RULES.distribution.alphabet.tiles("E")
    assert known.get((tile,), 0.0) < unknown[(tile,)]
    assert sum(known.values()) == pytest.approx(1.0)


def test_beside_a_phony_there_are_rollouts_alone(lexicon: Lexicon) -> None:
    (phony,) = Generator(load_lexicon(), RULES).best(read_cgp(ONE.format(""), RULES))
    for got in (found(lexicon, phony.move), found(lexicon, PASS, taken_back=True)):
        assert got.question.phony
        assert got.cases is None
        assert (got.rollouts, got.nodes) == (1_500, 0)
