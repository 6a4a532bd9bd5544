"""What is asked of a position, and what is found: without the command line."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot.equipment import Resources
from bot.search.analysis.findings import Findings, SearchTools, analyse
from bot.search.analysis.questions import Phony, Question, ask
from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Position
from engine.rules.rules import standard_rules, why_not
from engine.simulation.rollout_results import Difference, Ply
from harness.analysis.as_json import answer_json
from harness.analysis.review import ReviewedTurn
from harness.analysis.verdict import (
    GRADES,
    closing_sentences,
    grade,
    is_near,
    opening_sentences,
    summary,
    verdict,
)
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import leaves_for, win_probabilities_for

MIDGAME = Path(__file__).parents[2] / "fixtures" / "cgp" / "midgame.cgp"
EMPTY = "/".join(["15"] * 15)
LATE = (
    "7P5AD/7R5XI/3J3A6N/3I2BY2OUD1F/3V2A2HOMO1U/1QUEERS1GOMERIL/C4YONI6/U2BEANED6/T1CARLS8/"
    "EW1L11/SE1IF10/TA1sO10/1PEIN10/1OWE11/INTRAnET7 DEGKNTT/ORSVZ 0/0 0"
)
"""Six tiles are in the bag, and two of the opponent's are not known."""
RULES = standard_rules()
CHANCES = win_probabilities_for(RULES.distribution)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    path = tmp_path_factory.mktemp("words") / "few.txt"
    path.write_text("words\nat\ncat\nact\nrow\nrows\nword\nor\nxi\nad\n")
    return load_lexicon(path)


def resources(lexicon: Lexicon) -> Resources:
    """Give words and tables by which leaves are worth nothing."""
    return Resources(lexicon, LeaveTable.zero(RULES.distribution), CHANCES)


def position(cgp: str) -> Position:
    return read_cgp(cgp, RULES)


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
    assert str(refused.phony) == "it was taken back"
    assert first not in legal
    assert len(legal) == 3


def findings(
    cgp: str, rollouts: int, played: int | None = None, seed: int = 0, **options: Any
) -> Findings:
    """Analyse by few rollouts, the move played being the one of that rank by static equity."""
    lexicon = load_lexicon()
    generator = Generator(lexicon, RULES)
    settings = SearchTools(
        RULES,
        resources(lexicon),
        candidates=6,
        seed=seed,
        rollouts=rollouts,
    )
    at = position(cgp)
    move = None if played is None else generator.best(at, played)[-1].move
    return analyse(settings, at, move, **options)


def test_tiles_of_a_rack_known_in_part_are_not_counted_twice() -> None:
    found = findings(LATE, 100)
    assert not any(isinstance(one.move, Exchange) for one in found.estimates)
    given = position(LATE)
    assert found.question.position == given
    unknown = replace(given, racks=(given.racks[0], ()))
    lexicon = load_lexicon()
    question = ask(Generator(lexicon, RULES), lexicon, unknown, 6, None)
    assert found.question.candidates == question.candidates


def test_findings_say_how_far_the_best_is_ahead() -> None:
    so_far: list[Findings] = []
    found = findings(MIDGAME.read_text(), 900, on_progress=so_far.append)
    assert [one.behind for one in so_far] == [()] * len(so_far)
    assert found.is_known
    assert found.rollouts == sum(one.samples for one in found.estimates) == 900
    for one in found.estimates:
        ahead = found.ahead_of(one.move)
        assert ahead.win == pytest.approx(found.best.win - one.win)
        assert ahead.equity == pytest.approx(found.best.equity - one.equity)
        if one is found.best:
            assert ahead == (0.0,) * 6
            assert not found.is_clear(one.move)
        else:
            # Both have much of their luck in common.
            assert 0 < ahead.equity_error < math.hypot(found.best.equity_error, one.equity_error)
            assert (one in found.rivals) != found.is_clear(one.move)


def test_it_ends_before_its_time_only_if_one_move_is_best() -> None:
    settings = SearchTools(RULES, Resources(load_lexicon()), seed=2, seconds=60)
    kale = position(f"{'/'.join(['15'] * 7)}/4KALE7/{'/'.join(['15'] * 7)} AEINRST/ 0/24 0")
    found = analyse(settings, kale)
    assert found.seconds < settings.seconds
    assert found.rivals == []
    refused = analyse(replace(settings, seconds=1), kale, found.best.move, taken_back=True)
    assert refused.rivals == [] or refused.seconds > 0.7, "a phony that leads decides nothing"


def test_it_stops_when_it_is_told_to(lexicon: Lexicon) -> None:
    slices = count(1)
    settings = SearchTools(RULES, resources(lexicon), seconds=600)
    at = position(f"{EMPTY} ACTWORD/ 0/0 0")
    assert analyse(settings, at, stopped=lambda: next(slices) == 1).rollouts == 1
    slices = count(1)
    assert analyse(settings, at, stopped=lambda: next(slices) == 2).rollouts == 65
    assert next(slices) == 3, "it does not go on"


# --- the move that was played ---------------------------------------------------------------------


def test_the_best_and_the_move_that_was_played_are_compared_once_more() -> None:
    found = findings(MIDGAME.read_text(), 1_000, played=20)
    assert found.played is not None
    assert found.played.move != found.best.move
    assert (found.rollouts, found.compared) == (1_000, 200)
    assert sum(one.samples for one in found.estimates) == 800
    apart = found.ahead_of(found.played.move)
    again = findings(MIDGAME.read_text(), 1_000, played=20)
    assert replace(again, seconds=0.0) == replace(found, seconds=0.0)
    other = findings(MIDGAME.read_text(), 1_000, played=20, seed=1)
    assert other.ahead_of(found.played.move) != apart


def test_all_figures_of_a_move_agree() -> None:
    """In the table, beside the best, and in the sentence about its cost."""
    found = findings(MIDGAME.read_text(), 1_000, played=20)
    assert found.played
    for row, ahead in zip(found.estimates, found.behind, strict=True):
        assert found.ahead_of(row.move) == ahead
        assert found.best.win - row.win == pytest.approx(ahead.win)
        assert found.best.equity - row.equity == pytest.approx(ahead.equity)
    lost = [found.utility_lost(row.move) for row in found.estimates]
    assert lost == sorted(lost), "the best by value first"
    told = answer_json(found, RULES)
    rows = {row["move"]: row["behind"] for row in told["candidates"]}
    played = told["verdict"]["ahead_of_played"]
    assert rows[played["move"]] == played
    cost = f"{100 * played['win']:.1f} % ± {100 * played['width'] * played['win_error']:.1f}"
    assert f"it cost {cost}" in verdict(found, str)
    assert {row["clear"] for row in rows.values() if row} == {True}
    assert told["verdict"]["rivals"] == []


def test_moves_are_told_apart_by_the_interval_that_is_shown() -> None:
    found = findings(MIDGAME.read_text(), 100, played=3)
    move = found.question.played
    assert move is not None
    for apart, is_clear, is_by_points, cost in (
        (Difference(0.03, 0.01, 0.0, 1.0), True, False, "3.0 % ± 2.0 and 0.0 points ± 2.0"),
        (Difference(0.01, 0.01, 9.0, 1.0), True, True, "1.0 % ± 2.0 and 9.0 points ± 2.0"),
        (Difference(0.01, 0.01, 1.0, 1.0), False, False, "1.0 % ± 2.0 and 1.0 points ± 2.0"),
        (Difference(-0.03, 0.01, 9.0, 1.0), False, False, "−3.0 % ± 2.0 and 9.0 points ± 2.0"),
        (Difference(0.0, 0.0, 9.0, 1.0), True, True, "9.0 points ± 2.0"),
    ):
        turn = with_loss(found, apart, compared=200)
        assert (turn.is_clear(move), turn.is_by_points(move)) == (is_clear, is_by_points)
        said = verdict(turn, str)
        assert said.endswith(f"it cost {cost}.")
        assert ("nothing shows it to win less" in said) != is_clear
        assert grade(turn) == ("medium" if is_clear and not is_by_points else "good")
    won = replace(found, estimates=tuple(replace(row, win=1.0) for row in found.estimates))
    decided = with_loss(won, Difference(0.0002, 0.001, 9.0, 1.0), compared=200)
    assert verdict(decided, str).endswith("it cost 9.0 points ± 2.0.")


def test_the_sentence_names_what_the_table_marks_in_its_order() -> None:
    found = findings(MIDGAME.read_text(), 100, played=3)
    best, *others = found.legal
    leads = [Difference(0, 0, 0, 0), *(Difference(0.02, 0.001, 2.0, 0.1) for _ in others)]
    leads[2] = Difference(0.02, 0.02, 2.0, 2.0)  # few samples
    leads[4] = Difference(0.01, 0.005, 2.0, 2.0)
    asked = replace(found.question, played=None)
    some = replace(found, estimates=(best, *others), behind=tuple(leads), question=asked)
    names = {row.move: f"m{rank}" for rank, row in enumerate(some.estimates)}
    said = f"The best is m0: it wins {100 * best.win:.1f} %; m2 and m4 can't be told from it."
    assert verdict(some, names.__getitem__) == said
    assert [is_near(some, row.move) for row in some.rivals] == [False, True], "less than 3 % apart"


def with_loss(found: Findings, apart: Difference, **changes: Any) -> Findings:
    """Say that the best is so far ahead of everything else."""
    ahead = [apart if one is not found.best else Difference(0, 0, 0, 0) for one in found.estimates]
    return replace(found, behind=tuple(ahead), **changes)


def test_many_candidates_share_the_risk_of_an_error() -> None:
    """Twice the error is more than chance for a comparison that was fixed before."""
    found = findings(MIDGAME.read_text(), 100, played=3)
    played = found.played
    assert played is not None
    assert len(found.estimates) == 6
    twice, more = (Difference(error * 0.01, 0.01, 0.0, 0.0) for error in (2.1, 2.6))
    undecided = with_loss(found, twice)
    assert len(undecided.rivals) == 5
    assert "and 2 others can't be told from it" in verdict(undecided, str)
    assert with_loss(found, more).rivals == []
    assert len(with_loss(found, Difference(1e-14, 0.0, 1e-12, 0.0)).rivals) == 5, "rounding"
    alone = with_loss(found, twice, compared=200)
    assert alone.is_clear(played.move)
    assert len(alone.rivals) == 4


def test_a_mean_loss_has_its_error_and_leaves_forced_turns_out() -> None:
    found = findings(MIDGAME.read_text(), 100, played=3)
    losses = [Difference(0.02, 0.003, 3.0, 0.3), Difference(0.04, 0.004, 6.0, 0.4)]
    turns = [with_loss(found, one, compared=200) for one in losses]
    mean = "mean loss 3.0 % ± 0.5 and 4.5 points ± 0.5 over 2 turns; the best was played in 0"
    assert mean in summary("anna", turns)
    passed = found.question.candidates[0]._replace(move=PASS)
    pass_ = replace(found.estimates[0], move=PASS)
    forced = replace(
        found,
        question=Question(found.question.position, (passed,), PASS),
        estimates=(pass_,),
        behind=(Difference(0, 0, 0, 0),),
    )
    assert mean in summary("anna", [*turns, forced])
    assert summary("anna", [forced]) == "anna: no turn to judge."
    # What the search says of the best that it found itself is kind to it.
    assert "mean loss at most 3.0 %" in summary("anna", [turns[0], replace(turns[1], compared=0)])
    assert "mean loss 3.0 %" in summary(
        "anna", [turns[0], replace(turns[1], compared=0, exact=True)]
    )


def test_a_turn_has_a_grade_by_the_winning_chance_that_it_clearly_lost() -> None:
    found = findings(MIDGAME.read_text(), 100, played=3)
    assert found.question.played

    def graded(lost: float, error: float = 0.001) -> str | None:
        return grade(with_loss(found, Difference(lost, error, 0.0, 0.0), compared=200))

    bounds = list(GRADES.values())
    assert [graded(bound - 0.0001) for bound in bounds[:-1]] == list(GRADES)[:-1]
    assert [graded(bound) for bound in bounds[:-1]] == list(GRADES)[1:]
    assert graded(0.09, error=0.05) == "good", "chance may have made that"
    best = replace(found, question=replace(found.question, played=found.best.move))
    assert grade(best) == "best"
    phony = replace(found.question, phony=Phony())
    assert grade(with_loss(replace(found, question=phony), Difference(0.09, 0, 0, 0))) is None


# --- an empty bag ---------------------------------------------------------------------------------

ENDGAME = (
    "HOCK2HIYA4F/3EW4ZINGER/3Na9U/3OS2JEANS1MI/4T4GI2ET/3BEG3OD2T1/4F3W1O1DA1/3CULPAE1R1UT1/"
    "4L3B1O1OE1/8STULMS1/9As1O2/2PERINEAL5/1VIRE4A5/9QINDAR/13TI ADEIVXY/ENOR 391/397 0"
)


def endgame_findings(played: Move | None = None, **options: Any) -> Findings:
    """Analyse the endgame, with one candidate, which is not the best move."""
    lexicon = load_lexicon()
    settings = SearchTools(RULES, resources(lexicon), candidates=1, rollouts=1)
    return analyse(settings, position(ENDGAME), played, **options)


def test_the_worth_of_each_move_is_what_the_solver_proves_with_it_alone() -> None:
    lexicon = load_lexicon()
    played = [row.move for row in Generator(lexicon, RULES).best(position(ENDGAME), 8)]
    solver = EndgameSolver(lexicon, RULES, memory=40 << 20)
    solver.begin(position(ENDGAME))
    solver.advance(100_000)
    best = solver.solution
    for move in played:
        found = endgame_findings(move)
        assert found.best.move == best.move, "though no candidate by static equity"
        solver.begin(position(ENDGAME), only=[move])
        solver.advance(100_000)
        assert found.is_proven(found.best.move, move)
        assert found.ahead_of(move).equity == best.value - solver.solution.value
        assert found.is_clear(move) == (best.value > solver.solution.value)


def test_of_moves_that_come_to_the_same_thing_none_is_said_to_be_the_best_alone() -> None:
    ranked = Generator(load_lexicon(), RULES).best(position(ENDGAME), 8)
    # The first two by equity gain 27 points each.
    equal, other = (endgame_findings(each.move) for each in (ranked[1], ranked[-1]))
    assert [row.move for row in equal.rivals] == [ranked[1].move]
    either = f"The best is {equal.best.move} or {ranked[1].move}; they come to the same thing."
    assert verdict(equal, str).startswith(either)
    assert ranked[-1].move not in [row.move for row in other.rivals]


def test_all_moves_that_are_asked_about_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.analysis.worths._EASY", 0)  # nodes for what is not asked about
    asked = [row.move for row in Generator(load_lexicon(), RULES).best(position(ENDGAME), 6)[3:]]
    found = endgame_findings(moves=asked)
    assert found.is_proven(found.best.move, *asked)


def test_a_move_that_was_taken_back_is_never_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a phony though our lexicon has its words."""
    monkeypatch.setattr("bot.search.analysis.worths._EASY", 0)  # nodes for what is not the best
    lexicon = load_lexicon()
    refused = endgame_findings().best.move
    solver = EndgameSolver(lexicon, RULES, memory=40 << 20)
    solver.begin(position(ENDGAME), without=[refused])
    solver.advance(100_000)
    found = endgame_findings(refused, taken_back=True)
    assert found.best.move == solver.solution.move
    assert found.is_proven(found.best.move, refused)
    assert found.worths[found.best.move].gain == solver.solution.value
    assert found.ahead_of(refused).equity <= 0
    assert not found.is_clear(refused)


def test_what_the_solver_has_not_proven_is_said_to_be_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.search.analysis.findings.LEAST_NODES", 1)
    monkeypatch.setattr("bot.search.analysis.worths._SLICE", 5)
    generator = Generator(load_lexicon(), RULES)
    move = generator.best(position(ENDGAME), 3)[-1].move
    found = endgame_findings(move)
    assert found.is_known
    assert not found.is_certain
    assert not found.is_clear(move)
    said = verdict(found, lambda move: "it" if move == found.question.played else "another")
    assert "(not proven)" in said
    assert "nothing proves it worse: it cost" in said
    told = answer_json(found, RULES)
    assert told["verdict"]["proven"] is False
    assert told["candidates"][0]["proven"] is False
    turn = ReviewedTurn(found.question.position, 19, "anna")
    assert "not proven (?): line 19." in " ".join(closing_sentences([turn], [(turn, found)]))


# --- why a turn was costly ------------------------------------------------------------------------


def opening(found: Findings, *others: Findings) -> list[str]:
    turns = [
        (ReviewedTurn(each.question.position, line, "anna"), each)
        for line, each in enumerate((found, *others), start=1)
    ]
    return list(opening_sentences(turns, RULES, leaves_for(RULES.distribution)))


def reasoned(cgp: str, played: Move, replies: Any = None) -> str:
    """Return why a played move is costly, if the best by static equity is the best."""
    lexicon = load_lexicon()
    settings = SearchTools(RULES, resources(lexicon), candidates=3, rollouts=1)
    found = analyse(settings, position(cgp), played)
    behind = (Difference(0.1, 0.01, 9.0, 1.0),) * len(found.estimates)
    known = replace(found, behind=behind, is_known=True, replies=replies, compared=100)
    title, sentence = opening(known)
    assert title == "The costliest turn:"
    said = sentence.removeprefix("line 1, anna: ")
    assert said.endswith(". It cost 10.0 % ± 2.0 and 9.0 points ± 2.0.")
    return said.partition(". It cost")[0]


def test_a_missed_bingo_and_what_was_done_instead() -> None:
    rack = f"{EMPTY} AEINRST/ 0/0 0"
    said = reasoned(rack, PASS)
    assert said.startswith("passed; best was ")
    assert ": a missed bingo, " in said
    assert " points more now" in said
    exchanged = RULES.distribution.alphabet.tiles("R")
    said = reasoned(rack, Exchange(exchanged))
    assert said.startswith("exchanged R; best was ")
    assert "keeps" not in said  # a bingo keeps nothing, of course


def test_the_replies_count_only_where_they_differ_by_more_than_chance() -> None:
    rack = f"{EMPTY} ACUVWWV/ 0/0 0"
    replies = (Ply(100, 30.0, 10.0, 0.1), Ply(100, 40.0, 10.0, 0.1))
    spared = "the opponent's next turn scores 10.0 points less"
    assert spared in reasoned(rack, PASS, replies=replies)
    assert "though the opponent's next turn scores 10.0 points more" in (
        reasoned(rack, PASS, replies=replies[::-1])
    )
    vague = tuple(replace(ply, turns=4) for ply in replies)
    assert "next turn" not in reasoned(rack, PASS, replies=vague)


def test_costliest_turns_are_three_and_in_order() -> None:
    found = findings(MIDGAME.read_text(), 100, played=3)
    costs = (0.02, 0.05, -0.03, 0.04, 0.03)
    turns = [with_loss(found, Difference(cost, 0.003, 1.0, 0.1), compared=200) for cost in costs]
    title, *costly = opening(*turns)
    assert title == "The 3 costliest turns:"
    assert [sentence.partition(",")[0] for sentence in costly] == ["line 2", "line 4", "line 5"]
    unclear = with_loss(found, Difference(0.01, 0.01, 1.0, 1.0), compared=200)
    assert opening(unclear) == ["No turn is clearly worse than the best move that was found."]
    phony = replace(turns[0], question=replace(found.question, phony=Phony(("QQ",), "few")))
    assert opening(phony) == opening(unclear)
