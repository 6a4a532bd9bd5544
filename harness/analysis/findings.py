"""What is best in a position, and what the move that was played cost: rollouts, for so long.

``analyse`` rolls the candidates of a question out, in slices sized by the speed of the last, until
time is over or more of it would change nothing, and gives *findings*. Nothing is printed here;
``verdict`` puts findings into words.

Where a move was played and is not the best, a fifth of the time compares these two once more, alone
and with other luck. The search looks away from what is clearly worse, and its samples have chosen
the best, which are likely to be kind to it; samples of the second comparison have chosen nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

from bot.search.anytime import Anytime, Pace, time_until, unlimited
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
_KEPT = 0.2  # of the limit, for the best and the move that was played alone
_FEWEST_KEPT = 32  # rollouts
_OTHER_LUCK = 1 << 63  # tells the seed of the second comparison from those that people choose


# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """What is known of a question."""

    question: Question
    estimates: tuple[Estimate, ...]
    """Of all candidates, the best first; before there are samples by static equity."""
    behind: tuple[Difference, ...]
    """How far the best is ahead of each; empty while the search goes on. Of the move that was
    played it is what the samples of both alone say, if there are ``compared``."""
    after: tuple[Ply, ...]
    """The turns after the best."""
    plies: int
    """How many turns were taken after a candidate at most."""
    seed: int
    rollouts: int
    """All of them."""
    compared: int
    """Those of them that compared the best and the move that was played, alone; 0 if none did."""
    seconds: float
    exact: bool
    """Whether the bag is empty and the opponent's rack known by that: one sample says it all."""
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
        return [one for one in self.estimates if not self.is_phony(one.move)]

    @property
    def rivals(self) -> list[Estimate]:
        """Legal candidates that nothing tells from the best."""
        rest = self.legal[1:]
        return [one for one in rest if not self.is_known or not self.is_clear(one.move)]

    @property
    def played(self) -> Estimate | None:
        """The move that was played, if it can be compared."""
        found = (one for one in self.estimates if one.move == self.question.played)
        return next(found, None)

    @property
    def to_the_end(self) -> bool:
        """Whether rollouts went to the end of the game."""
        return self.plies >= TO_THE_END

    def is_phony(self, move: Move) -> bool:
        """Tell whether a candidate is a phony."""
        return bool(self.question.phony) and move == self.question.played

    def ahead_of(self, move: Move) -> Difference:
        """Say how far the best is ahead of a candidate.

        It may be below 0: for a phony that is worth more, and by chance. For the best is chosen by
        means drawn towards what was thought of the candidates before, and these are plain ones.
        """
        at = next(at for at, one in enumerate(self.estimates) if one.move == move)
        return self.behind[at]

    def is_clear(self, move: Move) -> bool:
        """Tell whether the best is ahead of a candidate by more than chance, with 95 %.

        The samples that compare the best have also chosen it, so that all others share the risk of
        an error (Bonferroni): none of those from which it is told apart is better, with 95 %. The
        move that was played is one comparison, fixed before its samples, if there are ``compared``.
        """
        alone = self.compared and move == self.question.played
        others = 1 if alone else max(len(self.estimates) - 1, 1)
        errors = NormalDist().inv_cdf(1 - _RISK / others)
        ahead, wanted = self.ahead_of(move), BY_POINTS if self.by_points else Utility()
        value = wanted.win * ahead.win + wanted.point * ahead.equity
        # Wins and points go together, so that their errors add up.
        error = wanted.win * ahead.win_error + wanted.point * ahead.equity_error
        return value > errors * error


# --- the work -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """When it is enough."""

    seconds: float = 10.0
    """It ends before that if it is certain."""
    rollouts: int | None = None
    """Of all candidates together; then time and certainty don't count, so that the findings are
    the same on every machine."""

    def part(self, share: float) -> Limit:
        """Give a share of it."""
        rollouts = None if self.rollouts is None else round(share * self.rollouts)
        return Limit(share * self.seconds, rollouts)


@dataclass(frozen=True)
class Settings:
    """What questions are answered with."""

    generators: Sequence[Generator]
    """One for each thread."""
    lexicon: Lexicon
    win_probabilities: WinProbabilities | None
    candidates: int = 15
    plies: int | None = None
    """None: as many as are usual for the bag."""
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
        settings: what is made use of; its generators by nobody else meanwhile.
        position: ``engine.rules.rules.why_not`` has nothing against it. The opponent's rack is
        known as
            far as it is given.
        played: what was played, in the canonical form.
        taken_back: whether that was a phony in the game, whatever the lexicon says.
        told: what is found so far, some times a second.
        stopped: whether it is to end at once; asked as often.

    Raises:
        ValueError: no plies or candidates, or a position that generators or rollouts refuse.
    """
    generator = settings.generators[0]
    at, belief = _believed(position, generator.rules)
    asked = ask(generator, settings.lexicon, at, settings.candidates, played, taken_back)
    work = _Work(settings, replace(asked, position=position), at, belief)
    if not asked.is_forced:
        for _ in work.slices():
            if told is not None:
                told(work.findings())
            if stopped():
                break
    found = work.findings()
    behind = (work.difference(found.best.move, one.move) for one in found.estimates)
    return replace(found, behind=tuple(behind))


def _believed(position: Position, rules: Rules) -> tuple[Position, Belief | None]:
    """Take a rack of which a part alone is given for tiles that the opponent holds among others."""
    known = position.racks[1 - position.on_turn]
    hidden = sum(unseen(position, position.on_turn, rules))
    if 0 < len(known) < min(rules.rack_size, hidden):
        return as_seen(position), Belief([known], [1.0])
    return position, None


class _Work:
    """The rollouts of a question: of all candidates, then of the best and the move played alone.

    Args:
        settings: what is made use of.
        question: what is to be found out.
        at: its position, without a rack of which a part alone is known.
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

    # --- rolling out ------------------------------------------------------------------------------

    def slices(self) -> Iterator[None]:
        """Roll out slice by slice, until it is enough.

        The first rollout is not timed: it may have to wait for a compiler.
        """
        self._search.advance(1)
        self._began = time.monotonic()
        yield
        limit, kept = self._settings.limit, self._kept
        yield from self._until(limit.part(1 - kept), self._search)
        if kept and self._search.is_sampled:
            self._compare()
        end_s = min(limit.seconds, self._seconds + kept * limit.seconds)
        yield from self._until(replace(limit, seconds=end_s), self._pair or self._search)

    @property
    def _kept(self) -> float:
        """What part of the limit is for the best and the move that was played."""
        rollouts = self._settings.limit.rollouts
        if self._question.played is None or self._search.exact:
            return 0.0
        return _KEPT if rollouts is None or _KEPT * rollouts >= _FEWEST_KEPT else 0.0

    def _compare(self) -> None:
        """Put the best and the move that was played beside each other, if they are two.

        They get the generators of the search, which goes on no more.
        """
        both = {self.findings().best.move, self._question.played}
        if len(both) > 1:
            candidates = [one for one in self._question.candidates if one.move in both]
            seed = self._settings.seed ^ _OTHER_LUCK
            wanted = self._settings.limit.rollouts
            left = None if wanted is None else wanted - self._search.rollouts
            self._pair = self._simulation(candidates, seed=seed, rule="equal", limit=left)

    def _until(self, limit: Limit, simulation: Simulation) -> Iterator[None]:
        """Roll out until a limit: of rollouts of both simulations, else of time since the start."""
        is_counted = limit.rollouts is not None
        end = time_until(self._began + limit.seconds, time.monotonic)
        anytime = Anytime(
            simulation,
            _SLICES,
            most=None if limit.rollouts is None else limit.rollouts - self._rollouts,
        )
        for _ in anytime.slices(
            unlimited if is_counted else end,
            lambda: not is_counted and simulation is self._search and self._is_sure,
        ):
            self._seconds = time.monotonic() - self._began
            yield

    @property
    def _is_sure(self) -> bool:
        search = self._search
        return search.is_certain and (search.exact or len(search.candidates) > 1)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def _rollouts(self) -> int:
        return self._search.rollouts + (self._pair.rollouts if self._pair else 0)

    @property
    def _compared(self) -> Simulation | None:
        """The second comparison, if it has come far enough to say anything."""
        return self._pair if self._pair and self._pair.is_sampled else None

    def difference(self, best: Move, move: Move) -> Difference:
        """Say how far the best is ahead of a candidate."""
        compared = self._compared if move == self._question.played else None
        return (compared or self._search).difference(best, move)

    def findings(self) -> Findings:
        """Say what is known by now, but for the differences."""
        search, question = self._search, self._question
        estimates = tuple(search.estimates())
        phony = question.played if question.phony else None
        best = next(one for one in estimates if one.move != phony)
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
