"""What is best in a position, and what the move that was played cost: rollouts, for so long.

``analyse`` rolls the candidates of a question out, in slices sized by the speed of the last, until
time is over or more of it would change nothing, and gives *findings*. Nothing is printed here;
``harness.verdict`` puts findings into words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.search import usual_plies
from engine.generate import Generator
from engine.moves import Move
from engine.position import Position, bag_count, unseen
from engine.rollouts import BY_POINTS, TO_THE_END, Belief, Utility
from engine.rules import Rules
from engine.simulation import Difference, Estimate, Ply, Simulation
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

SLICE_S = 0.1
FIRST_SLICE = 64  # rollouts


# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """What is known of a question."""

    question: Question
    estimates: tuple[Estimate, ...]
    """Of all candidates, the best first; before there are samples by static equity."""
    behind: tuple[Difference, ...]
    """How far the best is ahead of each; empty while the search goes on."""
    after: tuple[Ply, ...]
    """The turns after the best."""
    plies: int
    """How many turns were taken after a candidate at most."""
    seed: int
    rollouts: int
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
        """Say how far the best is ahead of a candidate; below 0 for a phony that is worth more."""
        at = next(at for at, one in enumerate(self.estimates) if one.move == move)
        return self.behind[at]

    def is_clear(self, move: Move) -> bool:
        """Tell whether the best is ahead of a candidate by more than chance, with 95 %."""
        ahead, wanted = self.ahead_of(move), BY_POINTS if self.by_points else Utility()
        value = wanted.win * ahead.win + wanted.point * ahead.equity
        # Wins and points go together, so that their errors add up.
        error = wanted.win * ahead.win_error + wanted.point * ahead.equity_error
        return value > INTERVAL * error


# --- the work -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """When it is enough."""

    seconds: float = 10.0
    """It ends before that if it is certain."""
    rollouts: int | None = None
    """Of all candidates together; then time and certainty don't count, so that the findings are
    the same on every machine."""


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
        position: ``why_not`` has nothing against it. The opponent's rack is known as far as it is
            given.
        played: what was played, in the canonical form.
        taken_back: whether that was a phony in the game, whatever the lexicon says.
        told: what is found so far, some times a second.
        stopped: whether it is to end at once; asked as often.

    Raises:
        ValueError: no plies or candidates, or a position that generators or rollouts refuse.
    """
    generator = settings.generators[0]
    question = ask(generator, settings.lexicon, position, settings.candidates, played, taken_back)
    at, belief = _believed(position, generator.rules)
    plies = settings.plies or usual_plies(bag_count(at, generator.rules))
    simulation = Simulation(
        settings.generators,
        at,
        question.candidates,
        settings.win_probabilities,
        plies=plies,
        seed=settings.seed,
        belief=belief,
    )

    seconds = 0.0
    if not question.is_forced:
        for seconds in _passing(simulation, settings.limit):
            if told is not None:
                told(_findings(question, simulation, settings, seconds))
            if stopped():
                break
    found = _findings(question, simulation, settings, seconds)
    behind = (simulation.difference(found.best.move, one.move) for one in found.estimates)
    return replace(found, behind=tuple(behind))


def _believed(position: Position, rules: Rules) -> tuple[Position, Belief | None]:
    """Take a rack of which a part alone is given for tiles that the opponent holds among others."""
    known = position.racks[1 - position.on_turn]
    hidden = sum(unseen(position, position.on_turn, rules))
    if 0 < len(known) < min(rules.rack_size, hidden):
        return as_seen(position), Belief([known], [1.0])
    return position, None


def _passing(simulation: Simulation, limit: Limit) -> Iterator[float]:
    """Roll out slice by slice; give the seconds after each.

    The first rollout is not timed: it may have to wait for a compiler.
    """
    simulation.advance(1)
    began, speed = time.monotonic(), 0.0
    yield 0.0
    while True:
        before = time.monotonic()
        size = _slice(simulation, limit, before - began, speed)
        done = simulation.advance(size) if size > 0 else 0
        if not done:
            return
        now = time.monotonic()
        speed = done / max(now - before, 1e-6)
        yield now - began


def _slice(simulation: Simulation, limit: Limit, seconds: float, speed: float) -> int:
    """Say how many rollouts come next, at so many a second; none if it is enough."""
    size = max(FIRST_SLICE, int(speed * SLICE_S))
    if limit.rollouts is not None:
        return min(size, limit.rollouts - simulation.rollouts)
    sure = simulation.is_certain and (simulation.exact or len(simulation.candidates) > 1)
    left_s = limit.seconds - seconds
    if sure or left_s <= 0:
        return 0
    return min(size, max(1, int(speed * left_s))) if speed else size


def _findings(
    question: Question, simulation: Simulation, settings: Settings, seconds: float
) -> Findings:
    estimates = tuple(simulation.estimates())
    phony = question.played if question.phony else None
    best = next(one for one in estimates if one.move != phony)
    return Findings(
        question=question,
        estimates=estimates,
        behind=(),
        after=tuple(simulation.plies_of(best.move)),
        plies=simulation.plies,
        seed=settings.seed,
        rollouts=simulation.rollouts,
        seconds=seconds,
        exact=simulation.exact,
        is_known=simulation.is_sampled,
        is_certain=simulation.is_sampled and simulation.is_certain,
        by_points=settings.win_probabilities is None,
    )
