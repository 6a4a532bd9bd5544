"""The best move of a position, and the loss of the played move, by timed rollouts.

If the played move is not the best, a fifth of the time compares these two again, with new random
draws. The first samples tend to flatter the best move, since they have chosen it; the new samples
have chosen nothing. So these two have the values of the new samples. Each other candidate keeps its
distance to the best, as the search found it.

With one or two tiles in the bag a solver then looks at every move in every case of what may be
drawn. With an empty bag nothing is left to chance: it says what moves are worth.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist

from bot.equipment import Resources
from bot.player import View
from bot.search.analysis.solving import is_solvable
from bot.search.anytime import Anytime, Pulse, SlicePace, time_until
from bot.search.simulating import simulation_of, usual_stages
from bot.search.static_choice import generator_for
from engine.inference.leave_prior import LeavePrior
from engine.rules.moves import Move
from engine.rules.position import Position, unseen
from engine.rules.rules import Rules
from engine.simulation.rollout_input import TO_THE_END, Utility
from engine.simulation.rollout_results import Difference, Ply
from engine.simulation.simulation import Estimate, Simulation
from lexicons.leaves import LeaveTable
from lexicons.tables import leaves_for

from .by_cases import SIMULATED, Cases, Casework, is_worth_it
from .questions import Question, as_seen, ask, ask_of
from .worths import LEAST_NODES, NODES_A_ROLLOUT, Solving, Worth

INTERVAL = 1.96
"""Half-width of a 95 % interval, in standard errors."""

_SLICES = SlicePace(64, lambda _, left_ms: min(100.0, left_ms))
_RISK = 0.025  # of a false difference, per side
_ROUNDING = 1e-9  # equal sums in another order differ by less
_NO_WIN = 0.0005  # less than the shown precision
_PAIR_SHARE = 0.2  # of the work, for comparing the best and the played move
_FEWEST_PAIRED = 32  # rollouts
_SHORT = 4_000  # rollouts; with fewer the static equities are a help in finding the best
_OTHER_LUCK = 1 << 63  # separates the second comparison's seed from users' seeds


# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The findings on a question."""

    question: Question
    estimates: tuple[Estimate, ...]
    """Estimates of all candidates, the best first; before any samples by static equity. At the end
    of a search they differ by what ``behind`` says, and are in its order."""
    behind: tuple[Difference, ...] = ()
    """Lead of the best over each; empty during the search. For the played move it comes from the
    samples of both alone, if ``compared`` is above 0."""
    after: tuple[Ply, ...] = ()
    """The turns after the best."""
    plies: int
    """Most turns after a candidate."""
    seed: int
    rollouts: int = 0
    compared: int = 0
    """Of these, those that compared only the best and the played move."""
    seconds: float
    exact: bool
    """Whether the bag is empty: the opponent's rack is known, and one sample is enough."""
    is_known: bool
    """Whether every candidate has enough rollouts to be compared."""
    is_certain: bool = False
    """Whether more rollouts would probably change nothing."""
    replies: tuple[Ply, Ply] | None = None
    """The opponent's next turn after the best and after the played move, if both were sampled."""
    worths: Mapping[Move, Worth] = field(default_factory=dict)
    """With an empty bag: what moves are worth by the endgame solver, as far as it has got."""
    cases: Cases | None = None
    """With one or two tiles in the bag: what a solver found in all cases, if it got that far.
    Estimates of these moves come first, then those by rollouts."""
    nodes: int = 0
    """Of the solver."""

    @property
    def best(self) -> Estimate:
        """The best legal move."""
        return self.legal[0]

    @property
    def legal(self) -> list[Estimate]:
        """All candidates but a phony, the best first."""
        return [estimate for estimate in self.estimates if not self.is_phony(estimate.move)]

    @property
    def rivals(self) -> list[Estimate]:
        """Legal candidates not clearly worse than the best; with worths, proven equals."""
        rest = self.legal[1:]
        if self.worths:
            best, worths = self.best.move, self.worths
            proven = [rival for rival in rest if self.is_proven(best, rival.move)]
            return [rival for rival in proven if worths[rival.move] == worths[best]]
        rest = [rival for rival in rest if self.is_valued(rival.move)]
        return [rival for rival in rest if not self.is_known or not self.is_clear(rival.move)]

    @property
    def played(self) -> Estimate | None:
        """The played move, if it can be compared."""
        move = self.question.played
        if move is None or not self.is_valued(move):
            return None
        rows = (row for row in self.estimates if row.move == move)
        return next(rows, None)

    @property
    def to_the_end(self) -> bool:
        """Whether rollouts went to the end of the game."""
        return self.plies >= TO_THE_END

    def is_valued(self, move: Move) -> bool:
        """Check whether a candidate is valued by the same means as the best."""
        known = self.cases.outcomes if self.cases else self.worths
        return not known or move in known

    def is_proven(self, *moves: Move) -> bool:
        """Check whether the worths of moves, or their outcomes in all cases, are proven."""
        if self.cases is not None:
            known = self.cases.outcomes
            return all(move in known and known[move].proven for move in moves)
        return all(move in self.worths and self.worths[move].is_proven for move in moves)

    def is_guess(self, move: Move) -> bool:
        """Check whether the lead over a move is what a solver guesses, and not proven."""
        return bool(self.worths) and not self.is_proven(self.best.move, move)

    def is_phony(self, move: Move) -> bool:
        """Check whether a candidate is a phony."""
        return self.question.is_phony(move)

    def ahead_of(self, move: Move) -> Difference:
        """Return the lead of the best over a candidate.

        It may be below 0: for a phony worth more, and by chance, since the best of a short search
        is chosen by means drawn towards prior estimates, and these are plain means.
        """
        index = next(index for index, row in enumerate(self.estimates) if row.move == move)
        return self.behind[index]

    def is_clear(self, move: Move) -> bool:
        """Check whether the best leads a candidate by more than chance, at 95 % confidence.

        It goes by the figure and the interval that are shown: by points if ``is_by_points``, else
        by chances to win. The samples that compare the best have also chosen it, so all rivals
        share the risk of an error (Bonferroni): with 95 %, no candidate called worse is better. The
        played move is a single comparison, fixed before its samples, if ``compared`` is above 0.
        What is proven is clear, and with an empty bag nothing else.
        """
        if self.worths:
            worth = self.worths.get(move)
            return worth is not None and worth.is_below(self.worths[self.best.move])
        if self.cases and move in self.cases.outcomes and self.cases.outcomes[move].beaten:
            return self.utility_lost(move) > _ROUNDING
        ahead = self.ahead_of(move)
        lead, error = ahead[2:4] if self.is_by_points(move) else ahead[:2]
        return lead > self._interval(move, error)

    def is_by_points(self, move: Move) -> bool:
        """Check whether points compare a candidate with the best, where chances to win tell less.

        With an empty bag they always do.
        """
        ahead = self.ahead_of(move)
        if abs(ahead.win) > self._interval(move, ahead.win_error):
            return self.exact
        is_told = abs(ahead.equity) > self._interval(move, ahead.equity_error)
        return is_told or self.exact or self.is_level(move)

    def is_level(self, move: Move) -> bool:
        """Check whether the chances to win are those of the best as shown, or both decided."""
        ahead, win = self.ahead_of(move), self.best.win
        error = 0.0 if min(win, 1 - win) < _NO_WIN else self._interval(move, ahead.win_error)
        return max(abs(ahead.win), error) < _NO_WIN

    def _interval(self, move: Move, error: float) -> float:
        return max(self.doubt(move) * error, _ROUNDING)

    def doubt(self, move: Move) -> float:
        """Return by how many standard errors the best has to lead a candidate clearly."""
        alone = self.compared and move == self.question.played
        others = 1 if alone else max(len(self.estimates) - 1, 1)
        return NormalDist().inv_cdf(1 - _RISK / others)

    def utility_lost(self, move: Move) -> float:
        """Return the utility of the best less that of a candidate."""
        ahead, (win, point, lead) = self.ahead_of(move), Utility().weights
        return win * ahead.win + point * ahead.equity + lead * ahead.lead


# --- the work -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchTools:
    """What a search works with."""

    rules: Rules
    resources: Resources
    """The words, the tables and the number of threads."""
    candidates: int = 15
    plies: int | None = None
    """None: as usual for the bag."""
    seed: int = 0
    seconds: float = 10.0
    """Most time for the search, which ends earlier if it is certain."""
    rollouts: int | None = None
    """Total for all candidates; then time and certainty don't count, and the findings are the same
    everywhere. With an empty bag, and for most of the work with one or two tiles in the bag,
    ``NODES_A_ROLLOUT`` nodes of a solver replace each."""

    @property
    def leaves(self) -> LeaveTable:
        """The leave table in use."""
        return self.resources.leaves or leaves_for(self.rules.distribution)


def analyse(
    settings: SearchTools,
    position: Position,
    played: Move | None = None,
    *,
    taken_back: bool = False,
    moves: Sequence[Move] = (),
    told: Callable[[Findings], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Findings:
    """Find the best move of a position that is valid by ``engine.rules.rules.why_not``.

    The position has the opponent's rack as far as known; ``played`` is in canonical form, and was a
    phony in the game if ``taken_back``, whatever the lexicon says. ``moves`` are compared alone, in
    place of the best and ``played``. ``told`` takes the findings so far a few times a second, and
    ``stopped`` returns whether to end with what is known.

    Raises:
        ValueError: no plies or candidates, a move of ``moves`` is impossible, or generators or
            rollouts refuse the position.
    """
    rules, at, belief = settings.rules, position, None
    known = position.racks[1 - position.on_turn]
    if 0 < len(known) < min(rules.rack_size, sum(unseen(position, position.on_turn, rules))):
        # The opponent also holds other tiles: its rack is drawn with these.
        at, belief = as_seen(position), LeavePrior.certain(known)
    view = View.of(at, rules, settings.resources, settings.seed)
    about = generator_for(view), view.lexicon, at
    usual = settings.candidates, played, taken_back
    question = replace(ask_of(*about, moves) if moves else ask(*about, *usual), position=position)
    work: _Rollouts | Solving
    so_far: Callable[[], Findings]
    if not view.bag and is_solvable(view.rules) and not question.is_forced:
        rollouts = settings.rollouts
        work = Solving(
            view,
            question.candidates,
            question.wanted,
            is_refused=question.phony is not None and not question.phony.words,
            seconds=settings.seconds,
            nodes=None if rollouts is None else max(NODES_A_ROLLOUT * rollouts, LEAST_NODES),
        )
        so_far = partial(_solved, work, settings, question)
    else:
        work = _Rollouts(settings, question, view, belief)
        so_far = work.findings
    pulse = Pulse()
    if not question.is_forced:
        for _ in work.slices():
            if told is not None and pulse.is_due():
                told(so_far())
                pulse.done()
            if stopped():
                work.stop()
                break
    findings = so_far()
    best = findings.best.move
    behind = (work.difference(best, row.move) for row in findings.estimates)
    findings = replace(findings, behind=tuple(behind))
    if not isinstance(work, _Rollouts):
        return findings
    findings = replace(findings, replies=work.replies(best))
    if findings.cases or not findings.is_known:
        return findings
    return _by_value(findings, work.alone())


def _by_value(findings: Findings, alone: Mapping[Move, Estimate]) -> Findings:
    """Order candidates by what they are behind the best, and have their worths say the same.

    Where the best and the played move were compared ``alone``, their worths are those.
    """
    best, rows = findings.best, list[tuple[float, Estimate, Difference]]()
    luck = alone.get(best.move, best)
    for row, ahead in zip(findings.estimates, findings.behind, strict=True):
        win = min(max(row.win + (luck.win - best.win), 0.0), 1.0)
        shifted = replace(row, win=win, equity=row.equity + (luck.equity - best.equity))
        lost = findings.utility_lost(row.move)
        # The best stays before what chance, or a search that was short, has put ahead of it.
        lost = lost if findings.is_phony(row.move) else max(lost, 0.0)
        rows.append((lost, replace(alone.get(row.move, shifted), samples=row.samples), ahead))
    _, estimates, behind = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
    return replace(findings, estimates=estimates, behind=behind)


class _Rollouts:
    """Rollouts of all candidates, then of the best and the played move alone.

    ``belief`` holds a partly known opponent's rack, which ``view`` leaves out.
    """

    def __init__(
        self, settings: SearchTools, question: Question, view: View, belief: LeavePrior | None
    ) -> None:
        self._settings, self._question = settings, question
        rollouts = settings.rollouts
        self._nodes = None if rollouts is None else NODES_A_ROLLOUT * rollouts
        # A phony may prove worse what is best of the legal moves.
        has_phony = any(question.is_phony(row.move) for row in question.candidates)
        is_late = is_worth_it(view, settings.seconds, self._nodes) and not has_phony
        self._share = SIMULATED if is_late else 1.0
        self._most = None if rollouts is None else max(round(self._share * rollouts), 1)
        self._view, self._belief = view, belief
        self._casework: Casework | None = None
        self._cases: Cases | None = None
        plies = usual_stages(view.bag)[0].plies if settings.plies is None else settings.plies
        self._simulation = partial(simulation_of, view, plies=plies, belief=belief)
        # In the end it goes by samples alone, as the verdict does.
        self._search = self._simulation(question.candidates, seed=settings.seed, short=_SHORT)
        self._pair: Simulation | None = None
        self._began = self._seconds = 0.0

    def slices(self) -> Iterator[None]:
        """Roll out until limit or certainty; the first rollout, which may compile, is not timed.

        With one or two tiles in the bag then look at all cases, until all that matters is proven.
        """
        self._search.advance(1)
        self._began = time.monotonic()
        yield
        limit_s, share, rollouts = self._share * self._settings.seconds, _PAIR_SHARE, self._most
        is_too_few = rollouts is not None and share * rollouts < _FEWEST_PAIRED
        if self._question.played is None or self._search.exact or is_too_few:
            share = 0.0
        yield from self._until((1 - share) * limit_s, 1 - share, self._search)
        if share and self._search.is_sampled:
            both = {self.findings().best.move, self._question.played}
            candidates = [row for row in self._question.candidates if row.move in both]
            seed = self._settings.seed ^ _OTHER_LUCK
            left = None if rollouts is None else rollouts - self._search.rollouts
            if len(both) == 2:
                self._pair = self._simulation(candidates, seed=seed, rule="equal", limit=left)
        seconds = min(limit_s, self._seconds + share * limit_s)
        yield from self._until(seconds, 1.0, self._pair or self._search)
        if self._share < 1:
            ranked = {row.move: row for row in self._question.candidates}
            self._casework = Casework(
                self._view,
                self._belief,
                [ranked[row.move] for row in self._search.estimates()],
                self._question.wanted,
                is_alone=bool(self._question.asked),
                seed=self._settings.seed,
                seconds=self._settings.seconds - self._seconds,
                nodes=None if self._nodes is None else round((1 - SIMULATED) * self._nodes),
            )
            yield from self._casework.slices()

    def stop(self) -> None:
        """Do nothing: the samples so far count as they are."""

    def _until(self, seconds: float, share: float, simulation: Simulation) -> Iterator[None]:
        """Roll out for a time since the start, or until a share of all rollouts is done."""
        end_s, most, rollouts = self._began + seconds, None, self._most
        if rollouts is not None:
            end_s, most = math.inf, max(round(share * rollouts) - self._rollouts, 0)
        left_ms = time_until(end_s, time.monotonic)

        def is_enough() -> bool:
            if most is not None or simulation is not self._search or not simulation.is_certain:
                return False
            is_legal = not self._question.is_phony(simulation.leader.move)
            return simulation.exact or (is_legal and len(simulation.candidates) > 1)

        for _ in Anytime(simulation, _SLICES, most=most).slices(left_ms, is_enough):
            self._seconds = time.monotonic() - self._began
            yield

    @property
    def _rollouts(self) -> int:
        return self._search.rollouts + (self._pair.rollouts if self._pair else 0)

    @property
    def _compared(self) -> Simulation | None:
        """The second comparison, if it has enough samples."""
        return self._pair if self._pair and self._pair.is_sampled else None

    def difference(self, best: Move, move: Move) -> Difference:
        if self._cases is not None:
            return self._cases.difference(best, move)
        compared = self._compared if move == self._question.played else None
        return (compared or self._search).difference(best, move)

    def alone(self) -> dict[Move, Estimate]:
        """Return the best and the played move by the samples of both alone, if there are any."""
        return {row.move: row for row in self._compared.estimates()} if self._compared else {}

    def replies(self, best: Move) -> tuple[Ply, Ply] | None:
        played = self._question.played
        if played is None or self._cases is not None:
            return None
        after, after_played = (
            next(iter((self._compared or self._search).plies_of(move)), None)
            for move in (best, played)
        )
        return (after, after_played) if after and after_played else None

    def findings(self) -> Findings:
        """Return the findings so far, without the differences and replies."""
        search, question = self._search, self._question
        estimates = tuple(search.estimates())
        best = next(row for row in estimates if not question.is_phony(row.move))
        findings = Findings(
            question=question,
            estimates=estimates,
            after=tuple(search.plies_of(best.move)),
            plies=search.plies,
            seed=self._settings.seed,
            rollouts=self._rollouts,
            compared=self._compared.rollouts if self._compared else 0,
            seconds=self._seconds,
            exact=search.exact,
            is_known=search.is_sampled,
            is_certain=search.is_sampled and search.is_certain,
        )
        if self._casework is None:
            return findings
        work, seconds = self._casework, self._seconds + self._casework.seconds
        self._cases = known = work.known()
        if known is None:
            return replace(findings, seconds=seconds, nodes=work.nodes)
        estimates = (
            *map(known.estimate, known.outcomes),
            *(row for row in estimates if row.move not in known.outcomes),
        )
        return replace(
            findings,
            question=replace(
                question, candidates=tuple(work.ranked[row.move] for row in estimates)
            ),
            estimates=estimates,
            after=(),
            plies=TO_THE_END,
            compared=0,
            seconds=seconds,
            is_known=True,
            is_certain=known.is_settled and known.outcomes[estimates[0].move].proven,
            cases=known,
            nodes=work.nodes,
        )


def _solved(solving: Solving, settings: SearchTools, question: Question) -> Findings:
    """Return the solver's findings so far, without the differences."""
    findings = Findings(
        question=replace(question, candidates=solving.candidates),
        estimates=tuple(solving.estimates()),
        plies=TO_THE_END,
        seed=settings.seed,
        seconds=solving.seconds,
        exact=True,
        is_known=bool(solving.worths),
        worths=dict(solving.worths),
        nodes=solving.nodes,
    )
    return replace(findings, is_certain=findings.is_proven(findings.best.move))
