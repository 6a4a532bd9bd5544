"""What solving pre-endgames gains on simulating them, with a few tiles left in the bag.

In each position a simulation chooses a move, and the pre-endgame does, in the same time. Where they
differ both moves are judged over *all* that may be in the bag and on the other rack, each case as
likely as its tiles are drawn: a move that empties the bag leaves an endgame with both racks known,
which the solver proves. So neither choice is judged by what led to it.

A move that leaves tiles in the bag (a pass) is judged by the pre-endgame itself, which takes the
opponent for what its model says: that is no proof, and not quite fair, since the pre-endgame has
chosen so. What is gained where both were judged by the solver is said besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bot.player import Budget, Choice, View
from bot.players.champion import CANDIDATES
from bot.players.static import generator_for
from bot.search.late_game import PreEndgameSearch, how_often
from bot.search.simulating import Search, Settings
from bot.search.slices import slices
from engine.endgame import EndgameSolver
from engine.notation.move_text import format_move
from engine.preendgame import Model, PreEndgame, likely_candidates
from engine.preendgame.bounds import EPSILON, Branch
from engine.preendgame.full_position import Deal, passing
from engine.preendgame.scenarios import list_cases
from engine.rules.moves import Place
from harness.lab.in_process import view_of
from harness.lab.late_positions import Late, Wanted, as_game, late_position
from harness.lab.study_context import Field, ready
from harness.matches.significance import mean_and_error
from protocol.channel import now_ms

__all__ = [
    "Chooser",
    "Judgement",
    "PreEndings",
    "PreEndingsRow",
    "chosen_in",
    "judged",
    "preendings_row",
]

Chooser: TypeAlias = Literal["preendgame", "champion"]
"""Who solves: ``PreEndgame`` itself, its candidates being the moves of the highest static equity
and the pass; or champion's search, which simulates first and takes the best of that to the end."""

_ALL = 1 << 40  # cases
_NEXT = 1 << 20  # numbers of positions that will do instead are so far apart


class PreEndings(NamedTuple):
    """What is compared."""

    field: Field
    seed: int
    bag: int
    """Tiles in it."""
    time_ms: int
    """For a choice."""
    proof_ms: int
    """For each case that a choice is judged in, at most."""
    chooser: Chooser
    model: Model
    """Of the opponent while there are tiles in the bag; champion's search has its own."""
    memory: int
    """Bytes, for the solver."""
    within: int | None = None
    """Points by which either leads at most, if any will not do."""


class Judgement(NamedTuple):
    """What a move is worth."""

    win: float
    """Share of the games won, 0 to 1; a tie counts half."""
    spread: float
    """Points gained from now to the end of the game, in the mean."""
    cases: int
    proven: float
    """Share of the cases, by how likely they are, whose points are proven."""
    decided: float
    """… of which it is certain who wins."""
    by: str
    """``solver``, or the model of the opponent."""


# --- a position -----------------------------------------------------------------------------------


def chosen_in(comparing: PreEndings, number: int) -> dict[str, Any]:
    """Choose in one position by simulation and by the pre-endgame; judge both if they differ.

    Returns:
        What came of it as JSON can say it. ``sim`` and ``exact`` have the move, its score, how
        likely its chooser thinks that it wins and whatever else he says (``text``), the
        milliseconds that he took, and what the move is ``judged`` to be worth.
    """
    ready()
    field, late = comparing.field, _position(comparing, number)
    view = _view(late, field, number)
    Search(view, Settings(candidates=CANDIDATES), view.seed)  # loads tables while no clock runs
    solver = EndgameSolver(field.lexicon, field.rules, memory=comparing.memory)
    record: dict[str, Any] = {"number": number, "cgp": late.cgp(field.rules)}
    choices = {}
    for name in ("sim", "exact"):
        began = now_ms()
        budget = Budget(began + comparing.time_ms)
        search = _simulate if name == "sim" else _solve
        choices[name] = choice = search(comparing, view, solver, budget)
        record[name] = _told(choice, field) | {"ms": now_ms() - began, "judged": None}
    if choices["sim"].move != choices["exact"].move:
        for name, choice in choices.items():
            record[name]["judged"] = judged(comparing, view, solver, choice)._asdict()
    return record


def _position(comparing: PreEndings, number: int) -> Late:
    """Give the first position of a number that will do; there are as many as are needed."""
    field, bag, most = comparing.field, comparing.bag, comparing.within
    wanted = Wanted(range(bag, bag + 1))
    for nth in itertools.count(number, _NEXT):
        late = late_position(field.lexicon, field.rules, field.leaves, comparing.seed, nth, wanted)
        first, second = late.position.scores
        if most is None or abs(first - second) <= most:
            break
    return late


def _view(late: Late, field: Field, seed: int) -> View:
    """Give the view of the player on turn, who knows nothing of the other rack."""
    game = as_game(late.position, field.rules, late.bag)
    return view_of(game, field.lexicon, game.position.on_turn, seed=seed, leaves=field.leaves)


def _simulate(_: PreEndings, view: View, __: EndgameSolver, budget: Budget) -> Choice:
    """Choose as champion does where it solves nothing."""
    return Search(view, Settings(candidates=CANDIDATES), view.seed).run(budget)


def _solve(comparing: PreEndings, view: View, solver: EndgameSolver, budget: Budget) -> Choice:
    """Choose by the pre-endgame."""
    if comparing.chooser == "champion":
        search = Search(view, Settings(candidates=CANDIDATES), view.seed)
        return PreEndgameSearch(view, search, solver, view.seed).run(budget)
    generator = generator_for(view)
    candidates = likely_candidates(generator, view.position)
    compared = PreEndgame(
        solver, generator, view.position, candidates, model=comparing.model, seed=view.seed
    )
    for _ in slices(compared, budget):
        if compared.is_settled:
            break
    best = compared.outcomes()[0]
    return Choice(best.move, score=best.score, equity=best.spread, text=how_often(best))


def _told(choice: Choice, field: Field) -> dict[str, Any]:
    move = format_move(choice.move, field.rules.distribution.alphabet)
    says = next((one.win for one in choice.candidates if one.move == choice.move), None)
    return {"move": move, "score": choice.score, "win": says, "text": choice.text}


# --- a judgement ----------------------------------------------------------------------------------


def judged(comparing: PreEndings, view: View, solver: EndgameSolver, choice: Choice) -> Judgement:
    """Say what a choice is worth."""
    if isinstance(choice.move, Place) and len(choice.move.placed) >= view.bag:
        return _proven(comparing, view, solver, choice)
    return _modelled(comparing, view, solver, choice)


def _proven(comparing: PreEndings, view: View, solver: EndgameSolver, choice: Choice) -> Judgement:
    """Solve the endgames that a move leads to, whatever is in the bag."""
    rules, seat = view.rules, view.seat
    cases, _ = list_cases(view.position, rules, None, view.seed, _ALL)
    ends = []
    for case in cases:
        racks = (view.rack, case.rack) if seat == 0 else (case.rack, view.rack)
        deal = Deal(replace(view.position, racks=racks), case.bag)
        ends.append(Branch(deal.after(choice.move, choice.score or 0, rules), seat))
        _prove(ends[-1], solver, comparing.proof_ms)
    weights = np.array([case.weight for case in cases])
    finals = np.array([branch.final for branch in ends])
    return Judgement(
        win=float(weights @ (np.sign(finals) + 1) / 2),
        spread=float(weights @ finals) - view.spread,
        cases=len(cases),
        proven=float(weights @ [not branch.is_open(outcome_only=False) for branch in ends]),
        decided=float(weights @ [not branch.is_open(outcome_only=True) for branch in ends]),
        by="solver",
    )


def _prove(branch: Branch, solver: EndgameSolver, proof_ms: int) -> None:
    """Find out who wins an endgame, in half of the time at most, and then by how much."""
    began = now_ms()
    for outcome_only, ends_ms in ((True, began + proof_ms // 2), (False, began + proof_ms)):
        if branch.is_open(outcome_only=outcome_only):
            solver.begin(branch.position, first_win=outcome_only)
            for _ in slices(solver, Budget(ends_ms)):
                pass
            branch.take(solver.solution, outcome_only=outcome_only)


def _modelled(
    comparing: PreEndings, view: View, solver: EndgameSolver, choice: Choice
) -> Judgement:
    """Look at a move by the pre-endgame alone, in every case, or in as many as it takes."""
    generator = generator_for(view)
    known = [*generator.everything(view.position), passing(view.position)]
    candidate = next(one for one in known if one.move == choice.move)
    # Not by the draws that it was chosen by: what looks best by these looks better than it is.
    looked_at = PreEndgame(
        solver, generator, view.position, [candidate], model=comparing.model, seed=view.seed + 1
    )
    for _ in slices(looked_at, Budget(now_ms() + looked_at.cases * comparing.proof_ms)):
        pass
    (found,) = looked_at.outcomes()
    return Judgement(found.win, found.spread, found.cases, 0.0, 0.0, comparing.model)


# --- sums -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PreEndingsRow:
    """What came of the positions; errors are half the width of 95 % intervals."""

    positions: int
    differ: int
    """In how many the choices do; all that follows is of these, where nothing else is said."""
    modelled: int
    """In how many one of the choices was judged by a model."""
    solved_win_gain: float | None
    """As ``win_gain``, of positions where neither was."""
    solved_win_gain_error: float | None
    sim_win: float | None
    """Share of the games that the simulation's choice wins."""
    exact_win: float | None
    """… and the pre-endgame's."""
    win_gain: float | None
    """By how much more the pre-endgame wins, over all positions: nothing where both agree."""
    win_gain_error: float | None
    points_gain: float | None
    """The same in points."""
    points_gain_error: float | None
    more_wins: int
    """In how many the pre-endgame's choice wins more often."""
    fewer_wins: int
    more_points: int
    """In how many it wins as often, and gains more points."""
    fewer_points: int
    proven: float | None
    """Share of the cases of all choices, by how likely they are, whose points are proven."""
    decided: float | None
    """… of which it is certain who wins."""


def preendings_row(records: Sequence[dict[str, Any]]) -> PreEndingsRow:
    """Add positions up."""
    pairs = [
        (Judgement(**one["sim"]["judged"]), Judgement(**one["exact"]["judged"]))
        for one in records
        if one["sim"]["judged"]
    ]
    every = [one for pair in pairs for one in pair]
    wins = np.array([exact.win - sim.win for sim, exact in pairs])
    points = np.array([exact.spread - sim.spread for sim, exact in pairs])
    solved = np.array([all(one.by == "solver" for one in pair) for pair in pairs], np.bool_)
    level = np.abs(wins) < EPSILON
    return PreEndingsRow(
        len(records),
        len(pairs),
        int((~solved).sum()),
        *_over_all(wins[solved], len(records) - int((~solved).sum())),
        _mean([sim.win for sim, _ in pairs]),
        _mean([exact.win for _, exact in pairs]),
        *_over_all(wins, len(records)),
        *_over_all(points, len(records)),
        more_wins=int((~level & (wins > 0)).sum()),
        fewer_wins=int((~level & (wins < 0)).sum()),
        more_points=int((level & (points > EPSILON)).sum()),
        fewer_points=int((level & (points < -EPSILON)).sum()),
        proven=_mean([one.proven for one in every]),
        decided=_mean([one.decided for one in every]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _over_all(
    gains: np.ndarray[Any, np.dtype[np.float64]], positions: int
) -> tuple[float | None, float | None]:
    """Give the mean gain and its error; where the choices agree nothing is gained."""
    every = np.concatenate([gains, np.zeros(positions - len(gains))])
    return mean_and_error(every, np.arange(positions), positions)
