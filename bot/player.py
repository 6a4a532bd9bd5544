"""What a player is: the interface that a bot of yours implements.

A player is told of a game as ``View`` values, from its own side of the table, and chooses moves:

    from bot.player import Budget, Choice, Player, View

    class First(Player):
        def choose(self, view: View, budget: Budget) -> Choice:
            return Choice(view.legal_moves()[0].move)

A factory is anything that can be called to make one; the class will do. It gets the options of the
seat (``first.py:First?depth=2``) as keyword arguments, all of them text. A player is made afresh
for each game, in a process of its own. All its methods are called in one thread, one after another
and never two at a time; ``budget`` may be used from any thread that the player starts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from engine.rules.moves import Move
from engine.rules.position import Position, Rack
from engine.rules.position import unseen as unseen_tiles
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

from .choice import Believed, Choice, Considered

if TYPE_CHECKING:
    from bot.equipment import Resources
    from engine.movegen.generator import ScoredMove  # brings numba in, which only searching needs
    from lexicons.leaves import LeaveTable  # and so does this
    from lexicons.win_probability import WinProbabilities

__all__ = [
    "Believed",
    "Budget",
    "Choice",
    "Considered",
    "ExchangedCount",
    "Factory",
    "Observed",
    "Player",
    "Refusal",
    "Result",
    "View",
]

GRACE_MS = 5
"""How much later than its own limit a player may be back by itself."""


@dataclass(frozen=True, slots=True)
class ExchangedCount:
    """An exchange of the opponent's: how many tiles, not which."""

    count: int


@dataclass(frozen=True, slots=True)
class Observed:
    """A turn as a player at the table sees it."""

    seq: int
    """Its number among the events of the game; the first turn is 1."""
    seat: int
    move: Move | ExchangedCount
    score: int
    scores: tuple[int, int]
    """Both totals after the turn."""
    bag: int
    """Tiles in the bag after the turn."""
    think_ms: int
    """What the turn cost on the clock."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A move of this turn that the arbiter did not accept."""

    move: Move
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; the racks are those that were left."""

    outcome: str
    winner: int | None
    scores: tuple[int, int]
    racks: tuple[Rack, Rack]
    message: str


@dataclass(frozen=True)
class View:
    """The game as one player may know it at one moment."""

    game: str
    seat: int
    """The player's own seat; seat 0 moved first."""
    players: tuple[str, str]
    """The names, by seat."""
    position: Position
    """The player's own rack is in it, the opponent's is empty."""
    bag: int
    """Tiles in the bag."""
    clocks: tuple[int, int]
    """Milliseconds left, by seat, when the view was made; overtime below zero."""
    time: TimeControl
    rules: Rules
    lexicon: Lexicon
    history: tuple[Observed, ...] = ()
    """All turns so far."""
    refused: tuple[Refusal, ...] = ()
    """What was tried in this turn in vain."""
    seed: int = 0
    """For whatever chance the player wants; the same all game."""
    leaves: LeaveTable | None = None
    """What leaves are worth, where the player was given a table; else it has its own
    (``lexicons.tables.leaves_for``)."""
    win_probabilities: WinProbabilities | None = None
    """By spread and unseen tiles, where the player was given a table; else it has its own
    (``lexicons.tables.win_probabilities_for``)."""
    threads: int = 1
    """How many the player may search with at once."""
    opponent_style: Mapping[str, float] | None = None
    """What earlier games told of how this opponent plays: odds of models by name, just as a player
    here last said (``Believed.style``), so leave room to unlearn them; None: nothing is known."""

    @classmethod
    def at(
        cls,
        position: Position,
        seat: int,
        rules: Rules,
        resources: Resources,
        *,
        bag: int,
        game: str,
        players: tuple[str, str] = ("first", "second"),
        time: TimeControl | None = None,
        clocks: tuple[int, int] = (0, 0),
        history: tuple[Observed, ...] = (),
        seed: int = 0,
        opponent_style: Mapping[str, float] | None = None,
    ) -> View:
        """Return the view of a player that has these resources.

        ``position`` has the racks that the player may know, ``time`` is the usual control by
        default; other arguments are as the fields.
        """
        return cls(
            game=game,
            seat=seat,
            players=players,
            position=position,
            bag=bag,
            clocks=clocks,
            time=TimeControl() if time is None else time,
            rules=rules,
            lexicon=resources.lexicon,
            history=history,
            seed=seed,
            leaves=resources.leaves,
            win_probabilities=resources.win_probabilities,
            threads=resources.threads,
            opponent_style=opponent_style,
        )

    def after(self, play: Observed, position: Position, clocks: tuple[int, int]) -> View:
        """Return the view after a turn; ``position`` and ``clocks`` are those after it."""
        return replace(
            self,
            position=position,
            bag=play.bag,
            clocks=clocks,
            history=(*self.history, play),
            refused=(),
        )

    @property
    def rack(self) -> Rack:
        """The player's own tiles, sorted."""
        return self.position.racks[self.seat]

    @property
    def opponent(self) -> int:
        """The other seat."""
        return 1 - self.seat

    @property
    def spread(self) -> int:
        """By how many points the player leads."""
        return self.position.scores[self.seat] - self.position.scores[self.opponent]

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """How many of each tile are in the bag or on the opponent's rack, by tile number."""
        return unseen_tiles(self.position, self.seat, self.rules)

    @property
    def is_over(self) -> bool:
        """Whether nobody is to move any more, as far as the board and the tiles tell."""
        is_out = not self.bag and not (self.rack and any(self.unseen))
        return is_out or self.position.scoreless_turns >= self.rules.scoreless_limit

    def legal_moves(self) -> list[ScoredMove]:
        """List what may be played now, the highest score first; refused moves are left out.

        The list is made once for each view; do not change it. It is for the player's own turn.
        """
        return self._legal_moves

    @cached_property
    def _legal_moves(self) -> list[ScoredMove]:
        from engine.movegen.generator import legal_moves

        refused = {refusal.move for refusal in self.refused}
        found = legal_moves(self.position, self.lexicon, self.rules)
        return [scored for scored in found if scored.move not in refused] if refused else found


class Budget:
    """How long a turn may take, and the best choice so far. Safe to use from any thread.

    A player that looks ahead looks at ``expired`` or ``remaining_ms`` now and then, and stops when
    it is over. What it offers is kept: if it is not back by ``last_ms``, its best so far is played.

    Args:
        deadline_ms: until when the turn should be over, on the clock ``clock``.
        last_ms: when an answer has to go out; after it the game may be lost.
        clock: gives the time in milliseconds.
        stretch_ms: until when the turn may go on if the decision is still close; no later than
            ``last_ms``, and by default the deadline.
    """

    def __init__(
        self,
        deadline_ms: int,
        last_ms: int | None = None,
        clock: Callable[[], int] = now_ms,
        *,
        stretch_ms: int | None = None,
    ) -> None:
        self.deadline_ms = deadline_ms
        self.stretch_ms = deadline_ms if stretch_ms is None else stretch_ms
        self.last_ms = deadline_ms if last_ms is None else last_ms
        self._clock = clock
        self._lock = threading.Lock()
        self._best: Choice | None = None
        self._cancelled = False
        self._on_change: Callable[[], object] | None = None

    def remaining_ms(self, *, close: bool = False) -> int:
        """Say how much of the turn is left, at least 0.

        Args:
            close: the decision is still close, so it counts until ``stretch_ms``.
        """
        return self._until(self.stretch_ms if close else self.deadline_ms)

    def until_last_ms(self) -> int:
        """Say how long an answer is still waited for, at least 0."""
        return self._until(self.last_ms)

    def _until(self, end_ms: int) -> int:
        return 0 if self._cancelled else max(0, end_ms - self._clock())

    @property
    def expired(self) -> bool:
        """Whether the turn should be over."""
        return self.remaining_ms() == 0

    @property
    def best(self) -> Choice | None:
        """The last choice that was offered."""
        with self._lock:
            return self._best

    def offer(self, choice: Choice) -> None:
        """Put forward a choice better than those before."""
        with self._lock:
            self._best = choice
        self._changed()

    def limit(self, ms: int) -> None:
        """End the turn so many milliseconds from now, unless it ends before that anyway.

        A player that goes by a limit of its own says so here, so that it is held to it: if it is
        not back a few milliseconds later, its best offer is played.
        """
        end = self._clock() + ms
        with self._lock:
            self.deadline_ms = min(self.deadline_ms, end)
            self.stretch_ms = min(self.stretch_ms, end)
            self.last_ms = min(self.last_ms, end + GRACE_MS)
        self._changed()

    def cancel(self) -> None:
        """End the turn: nobody waits for it any more."""
        self._cancelled = True

    def on_change(self, told: Callable[[], object] | None) -> None:
        """Have a function called, in the player's thread, after each offer and each limit."""
        with self._lock:
            self._on_change = told

    def _changed(self) -> None:
        with self._lock:
            told = self._on_change
        if told is not None:
            told()


class Player:
    """A player of one game. ``choose`` is what it has to do; the rest it may."""

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Load and compile whatever takes time; no clock runs yet. Called first, once."""

    def make_room(self, view: View) -> None:
        """Ask for memory that takes time to get; no clock runs yet. Called after ``warm_up``, once.

        The game has not begun: what counts in ``view`` is what it is played with and by.
        """

    def new_game(self, view: View) -> None:
        """The game begins, or goes on after a crash: then ``view`` is where it stands."""

    def observe(self, view: View, play: Observed) -> None:
        """A turn was taken, one's own included; ``view`` is after it."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose a move.

        It may take as long as it likes; it is the player's own clock. Should it raise an
        exception, the process ends, and the game is lost if that happens again.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how to choose a move")

    def ponder(self, view: View, budget: Budget) -> None:
        """The opponent thinks: use the time until ``budget.expired``, which may be any moment.

        Called after a move of one's own, unless that has ended the game, where the seat has cores
        of its own and was allowed to; ``view`` has the new rack. What is offered counts for
        nothing. Nothing waits for the return except the next call, so the own clock pays for what
        goes on after the end.
        """

    def refused(self, view: View, move: Move, message: str) -> None:
        """The move was against the rules; ``choose`` is called again after this."""

    def game_over(self, view: View, result: Result) -> None:
        """The game has ended."""


Factory: TypeAlias = Callable[..., Player]
"""Makes a player; the options of its seat come as keyword arguments, all of them text."""
