"""What is best in a position, and what the move that was played cost: rollouts against the clock.

``analyse`` rolls out the candidates of a question until time is over or more would change nothing,
and returns *findings*; ``verdict`` puts these into words.

Where a move was played and is not the best, a fifth of the time compares these two once more, alone
and with other luck. The search spends its samples on what looks best, and these samples have chosen
the best, so they tend to flatter it; the samples of the second comparison have chosen nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

from bot.search.anytime import Anytime, Pace, time_until
from bot.search.simulating import usual_plies
from engine.movegen.generator import Generator
from engine.rules.moves import Move
from engine.rules.position import Position, bag_count, unseen
from engine.rules.rules import Rules
from engine.simulation.rollout_input import BY_POINTS, TO_THE_END, Belief, Utility
from engine.simulation.simulation import Difference, Estimate, Ply, Simulation
from lexicons.store import Lexicon
from lexicons.win_probability import WinProbabilities

from .questions import Question, as_seen, ask

__all__ = [
    "INTERVAL",
    "Findings",
    "Limit",
    "Settings",
    "analyse",
]

INTERVAL = 1.96
"""Standard errors either way: 95 %."""

_SLICES = Pace(64, lambda _, left_ms: min(100.0, left_ms))
_RISK = 0.025  # of a difference that is more than chance, on either side
_PAIR_SHARE = 0.2  # of the limit, for the best and the move that was played alone
_FEWEST_PAIRED = 32  # rollouts
_OTHER_LUCK = 1 << 63  # keeps the seed of the second comparison apart from those that people choose


# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """What is known of a question."""

    question: Question
    estimates: tuple[Estimate, ...]
    """Of all candidates, the best first; before there are samples by static equity."""
    behind: tuple[Difference, ...]
    """How far the best is ahead of each; empty while the search goes on. For the move that was
    played it comes from the samples of both alone, if there are ``compared``."""
    after: tuple[Ply, ...]
    """The turns after the best."""
    plies: int
    """Turns after a candidate, at most."""
    seed: int
    rollouts: int
    """All of them."""
    compared: int
    """Those of them that compared the best and the move that was played, alone."""
    seconds: float
    exact: bool
    """Whether the bag is empty, so that the opponent's rack is known and one sample is enough."""
    is_known: bool
    """Whether every candidate was rolled out often enough to be compared."""
    is_certain: bool
    """Whether more rollouts would change nothing, as far as can be told."""
    by_points: bool
    """Whether points alone decide, since no win probabilities are known."""

    @property
    def best(self) -> Estimate:
        """The legal move to choose."""
        return self.legal[0]

    @property
    def legal(self) -> list[Estimate]:
        """All candidates but a phony, the best first."""
        return [estimate for estimate in self.estimates if not self.is_phony(estimate.move)]

    @property
    def rivals(self) -> list[Estimate]:
        """Legal candidates that nothing tells from the best."""
        rest = self.legal[1:]
        return [rival for rival in rest if not self.is_known or not self.is_clear(rival.move)]

    @property
    def played(self) -> Estimate | None:
        """The move that was played, if it can be compared."""
        rows = (row for row in self.estimates if row.move == self.question.played)
        return next(rows, None)

    @property
    def to_the_end(self) -> bool:
        """Whether rollouts went to the end of the game."""
        return self.plies >= TO_THE_END

    def is_phony(self, move: Move) -> bool:
        """Check whether a candidate is a phony."""
        return bool(self.question.phony) and move == self.question.played

    def ahead_of(self, move: Move) -> Difference:
        """Return how far the best is ahead of a candidate.

        It may be below 0: for a phony that is worth more, and by chance, since the best is chosen
        by means that are drawn towards prior estimates, and these are plain means.
        """
        index = next(index for index, row in enumerate(self.estimates) if row.move == move)
        return self.behind[index]

    def is_clear(self, move: Move) -> bool:
        """Check whether the best is ahead of a candidate by more than chance, with 95 %.

        The samples that compare the best have also chosen it, so all others share the risk of an
        error (Bonferroni): with 95 %, none of those that are told apart from it is better. The
        move that was played is one comparison, fixed before its samples, if there are ``compared``.
        """
        alone = self.compared and move == self.question.played
        others = 1 if alone else max(len(self.estimates) - 1, 1)
        errors = NormalDist().inv_cdf(1 - _RISK / others)
        ahead, utility = self.ahead_of(move), BY_POINTS if self.by_points else Utility()
        value = utility.win * ahead.win + utility.point * ahead.equity
        # Wins and points go together, so their errors add up.
        error = utility.win * ahead.win_error + utility.point * ahead.equity_error
        return value > errors * error


# --- the work -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """When a search ends."""

    seconds: float = 10.0
    """It ends before that if it is certain."""
    rollouts: int | None = None
    """Of all candidates together; then time and certainty don't count, so that the findings are
    the same on every machine."""

    def part(self, share: float) -> Limit:
        """Return a share of it."""
        rollouts = None if self.rollouts is None else round(share * self.rollouts)
        return Limit(share * self.seconds, rollouts)


@dataclass(frozen=True)
class Settings:
    """What questions are answered with."""

    generators: Sequence[Generator]
    """One for each thread, used by nobody else meanwhile."""
    lexicon: Lexicon
    win_probabilities: WinProbabilities | None
    candidates: int = 15
    plies: int | None = None
    """None: as usual for the bag."""
    seed: int = 0
    limit: Limit = Limit()


def analyse(
    settings: Settings,
    position: Position,
    played: Move | None = None,
    *,
    taken_back: bool = False,
    told: Callable[[Findings], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Findings:
    """Find out what is best in a position.

    Args:
        settings: what it is answered with.
        position: ``engine.rules.rules.why_not`` has nothing against it. The opponent's rack is
            known as far as it is given.
        played: what was played, in the canonical form.
        taken_back: whether that was a phony in the game, whatever the lexicon says.
        told: receives what is known so far, some times a second.
        stopped: whether to end at once; asked as often.

    Raises:
        ValueError: no plies or candidates, or a position that generators or rollouts refuse.
    """
    generator = settings.generators[0]
    at, belief = _believed(position, generator.rules)
    question = ask(generator, settings.lexicon, at, settings.candidates, played, taken_back)
    work = _Rollouts(settings, replace(question, position=position), at, belief)
    if not question.is_forced:
        for _ in work.slices():
            if told is not None:
                told(work.findings())
            if stopped():
                break
    findings = work.findings()
    behind = (work.difference(findings.best.move, row.move) for row in findings.estimates)
    return replace(findings, behind=tuple(behind))


def _believed(position: Position, rules: Rules) -> tuple[Position, Belief | None]:
    """Turn a rack that is given in part into a belief: the opponent holds others besides."""
    known = position.racks[1 - position.on_turn]
    hidden = sum(unseen(position, position.on_turn, rules))
    if 0 < len(known) < min(rules.rack_size, hidden):
        return as_seen(position), Belief([known], [1.0])
    return position, None


class _Rollouts:
    """The rollouts of all candidates, then of the best and the move that was played alone.

    Args:
        settings: what the question is answered with.
        question: what is asked.
        at: its position, without a rack that is known in part.
        belief: that part.
    """

    def __init__(
        self, settings: Settings, question: Question, at: Position, belief: Belief | None
    ) -> None:
        self._settings, self._question = settings, question
        self._simulation = partial(
            Simulation,
            settings.generators,
            at,
            win_probabilities=settings.win_probabilities,
            plies=settings.plies or usual_plies(bag_count(at, settings.generators[0].rules)),
            belief=belief,
        )
        self._search = self._simulation(question.candidates, seed=settings.seed)
        self._pair: Simulation | None = None
        self._began = self._seconds = 0.0

    def slices(self) -> Iterator[None]:
        """Roll out slice by slice, until it is enough.

        The first rollout is not timed: it may have to wait for a compiler.
        """
        self._search.advance(1)
        self._began = time.monotonic()
        yield
        limit, share = self._settings.limit, self._pair_share
        yield from self._until(limit.part(1 - share), self._search)
        if share and self._search.is_sampled:
            self._pair = self._paired()
        end_s = min(limit.seconds, self._seconds + share * limit.seconds)
        yield from self._until(replace(limit, seconds=end_s), self._pair or self._search)

    def _until(self, limit: Limit, simulation: Simulation) -> Iterator[None]:
        """Roll out until a limit: of rollouts of both simulations, else of time since the start."""
        end_s, most = self._began + limit.seconds, None
        if limit.rollouts is not None:
            end_s, most = math.inf, max(limit.rollouts - self._rollouts, 0)
        left_ms = time_until(end_s, time.monotonic)

        def is_enough() -> bool:
            return most is None and simulation is self._search and self._is_sure

        for _ in Anytime(simulation, _SLICES, most=most).slices(left_ms, is_enough):
            self._seconds = time.monotonic() - self._began
            yield

    @property
    def _pair_share(self) -> float:
        """The share of the limit that is for the best and the move that was played."""
        rollouts = self._settings.limit.rollouts
        if self._question.played is None or self._search.exact:
            return 0.0
        few = rollouts is not None and _PAIR_SHARE * rollouts < _FEWEST_PAIRED
        return 0.0 if few else _PAIR_SHARE

    def _paired(self) -> Simulation | None:
        """Return a simulation of the best and the move that was played, unless they are the same.

        It takes the generators of the search, which goes on no more.
        """
        both = {self.findings().best.move, self._question.played}
        if len(both) == 1:
            return None
        candidates = [row for row in self._question.candidates if row.move in both]
        seed, rollouts = self._settings.seed ^ _OTHER_LUCK, self._settings.limit.rollouts
        left = None if rollouts is None else rollouts - self._search.rollouts
        return self._simulation(candidates, seed=seed, rule="equal", limit=left)

    @property
    def _is_sure(self) -> bool:
        search = self._search
        return search.is_certain and (search.exact or len(search.candidates) > 1)

    @property
    def _rollouts(self) -> int:
        return self._search.rollouts + (self._pair.rollouts if self._pair else 0)

    @property
    def _compared(self) -> Simulation | None:
        """The second comparison, if it has come far enough to say anything."""
        return self._pair if self._pair and self._pair.is_sampled else None

    def difference(self, best: Move, move: Move) -> Difference:
        """Return how far the best is ahead of a candidate."""
        compared = self._compared if move == self._question.played else None
        return (compared or self._search).difference(best, move)

    def findings(self) -> Findings:
        """Return what is known by now, but for the differences."""
        search, question = self._search, self._question
        estimates = tuple(search.estimates())
        phony = question.played if question.phony else None
        best = next(row for row in estimates if row.move != phony)
        return Findings(
            question=question,
            estimates=estimates,
            behind=(),
            after=tuple(search.plies_of(best.move)),
            plies=search.plies,
            seed=self._settings.seed,
            rollouts=self._rollouts,
            compared=self._compared.rollouts if self._compared else 0,
            seconds=self._seconds,
            exact=search.exact,
            is_known=search.is_sampled,
            is_certain=search.is_sampled and search.is_certain,
            by_points=self._settings.win_probabilities is None,
        )
