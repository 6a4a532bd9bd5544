"""The player interface: implement it to write a bot.

A player sees a game as ``View`` values, from its own side of the table, and chooses moves:

    from bot.player import Budget, Choice, Player, View

A factory is any callable that returns a player, such as the class itself. The options of the seat
(``first.py:First?depth=2``) are its keyword arguments: text, unless an annotation or a default is
int, float or bool. Each game gets a new player, in a separate process. The methods of a player are
called in one thread, one at a time; its ``budget`` may be used from any thread that the player
starts.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_exchange_count, format_move, parse_move
from engine.rules.moves import PASS, PLAYED_THROUGH, Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.position import unseen as unseen_counts
from engine.rules.rules import (
    Rules,
    canonical,
    check_move,
    leave_of,
    passes_left,
    standard_rules,
)
from lexicons.alphabet import BLANK_FLAG, as_tiles
from lexicons.store import Lexicon, load_lexicon
from protocol.channel import now_ms
from protocol.parts import TimeControl

from .choice import Believed, Choice, Considered, Searched

if TYPE_CHECKING:
    from engine.movegen.generator import Generator, ScoredMove  # import numba, which few need
    from lexicons.leaves import LeaveTable  # likewise
    from lexicons.win_probability import WinProbabilities

    from .equipment import Resources

__all__ = [
    "PASS",
    "Believed",
    "Budget",
    "Choice",
    "Considered",
    "Exchange",
    "ExchangedCount",
    "Factory",
    "Listener",
    "Move",
    "Observed",
    "Pass",
    "Place",
    "Player",
    "Rack",
    "Refusal",
    "Result",
    "Searched",
    "ValuedMove",
    "View",
]

GRACE_MS = 5
"""How far a player may exceed its own limit before its best offer is played."""


@dataclass(frozen=True, slots=True)
class ExchangedCount:
    """An exchange by the opponent: only the number of tiles is known."""

    count: int


@dataclass(frozen=True, slots=True)
class Observed:
    """A turn taken, as the player sees it."""

    seq: int
    """The number of the event in the game; the first turn is 1."""
    seat: int
    """The seat that took the turn."""
    move: Move | ExchangedCount
    score: int
    scores: tuple[int, int]
    """Both totals after the turn, by seat."""
    bag: int
    """Tiles in the bag after the turn."""
    think_ms: int
    """Milliseconds charged to the clock."""
    words: tuple[str, ...] = ()
    """The words that a placement made, the main word first."""
    withdrawn: bool = False
    """Whether the play was challenged off: its tiles are back on its player's rack."""
    bonus: int = 0
    """Points gained by its player from a failed challenge; in ``scores``, not in ``score``."""
    lost: bool = False
    """Whether it is the turn that its player lost by a failed challenge; ``move`` is a pass."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A move of this turn that the arbiter refused."""

    move: Move
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; ``racks`` are the tiles left, by seat."""

    outcome: str
    winner: int | None
    scores: tuple[int, int]
    racks: tuple[Rack, Rack]
    message: str


class ValuedMove(NamedTuple):
    """A legal move, what it scores and what it is worth, in points."""

    move: Move
    score: int
    equity: float
    """Score and leave value, with the engine's adjustments (``engine.movegen.evaluation``)."""
    leave: Rack
    """The tiles that stay on the rack."""


@dataclass(frozen=True)
class View:
    """What one player may know of the game at one moment: no bag order, no opponent's rack.

    Tiles are numbers, 0 the blank; a rack or leave is a sorted tuple of them. ``text`` writes tiles
    and moves, ``tiles`` and ``move`` read them; ``print(view)`` shows all of it.
    """

    game: str
    seat: int
    """The player's own seat; seat 0 moved first."""
    players: tuple[str, str]
    """The names, by seat."""
    position: Position
    """Board, scores and racks; the opponent's rack is left empty."""
    bag: int
    """Number of tiles in the bag."""
    clocks: tuple[int, int]
    """Milliseconds left, by seat, when the view was made; below zero in overtime."""
    time: TimeControl
    rules: Rules
    lexicon: Lexicon
    history: tuple[Observed, ...] = ()
    """All turns so far, in order."""
    refused: tuple[Refusal, ...] = ()
    """Moves of this turn that the arbiter refused."""
    seed: int = 0
    """A seed for the player's random choices; the same throughout the game."""
    leaves: LeaveTable | None = None
    """The leave table given to the seat, if any; ``leave_table`` is the table in use."""
    win_probabilities: WinProbabilities | None = None
    """The table by spread and unseen tiles given to the seat, if any; ``win_table`` is the table in
    use."""
    threads: int = 1
    """Number of threads that the player may search with."""
    opponent_style: Mapping[str, float] | None = None
    """Probability of each model of this opponent's play, by name, as last reported from this seat
    in an earlier game (``Believed.style``). Leave room to unlearn it. None: nothing is known."""

    @classmethod
    def from_cgp(
        cls, cgp: str, lexicon: Lexicon | None = None, rules: Rules | None = None, seed: int = 0
    ) -> View:
        """Return the first turn of a game that begins in a position, such as for a test.

        Seat 0 is the player's and holds the first rack of the CGP. The defaults are the embedded
        lexicon and tournament rules.

        Raises:
            ValueError: the text is not a position, or uses more of a tile than there are.
        """
        from .equipment import Resources

        rules = rules or standard_rules()
        lexicon = lexicon or load_lexicon(distribution=rules.distribution)
        return cls.of(read_cgp(cgp, rules), rules, Resources(lexicon), seed)

    @classmethod
    def of(cls, position: Position, rules: Rules, resources: Resources, seed: int = 0) -> View:
        """Return a position of no game in progress as the player on turn sees it.

        Clocks are full. The opponent's rack is known if the position has it.
        """
        time = TimeControl()
        return cls(
            game="position",
            seat=position.on_turn,
            players=("me", "you"),
            position=position,
            bag=bag_count(position, rules),
            clocks=(time.initial_ms, time.initial_ms),
            time=time,
            rules=rules,
            lexicon=resources.lexicon,
            seed=seed,
            leaves=resources.leaves,
            win_probabilities=resources.win_probabilities,
            threads=resources.threads,
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

    def with_last(self, play: Observed) -> View:
        """Return the view with the last turn replaced, such as after a challenge."""
        return replace(self, history=(*self.history[:-1], play))

    def holding(self, rack: Rack, theirs: Rack = ()) -> View:
        """Return the view with other racks: the player's own and the opponent's."""
        racks = (rack, theirs) if self.seat == 0 else (theirs, rack)
        return replace(self, position=replace(self.position, racks=racks))

    @property
    def rack(self) -> Rack:
        """The player's rack, sorted."""
        return self.position.racks[self.seat]

    @property
    def opponent(self) -> int:
        """The other seat."""
        return 1 - self.seat

    @property
    def spread(self) -> int:
        """The player's score less the opponent's."""
        return self.position.spread(self.seat)

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """The number of each tile in the bag or on the opponent's rack, by tile number."""
        return unseen_counts(self.position, self.seat, self.rules)

    @property
    def unseen_tiles(self) -> Rack:
        """The tiles in the bag or on the opponent's rack, sorted."""
        return as_tiles(self.unseen)

    @property
    def refused_moves(self) -> set[Move]:
        """The moves of this turn that the arbiter refused."""
        return {refusal.move for refusal in self.refused}

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, as far as board and tiles show."""
        is_out = not self.bag and not (self.rack and any(self.unseen))
        return is_out or passes_left(self.position, self.rules) < 1

    # --- moves: in a turn, with the player's rack ---

    def legal_moves(self) -> Sequence[ScoredMove]:
        """Return the player's legal moves, the highest score first, without refused moves.

        Exchanges and the pass come last. The moves are found once for each view; getting the first
        few is much faster than getting all. Don't change the result: copy it with ``list``.
        """
        return self._legal_moves

    @cached_property
    def _legal_moves(self) -> Sequence[ScoredMove]:
        refused = self.refused_moves
        moves = self._generator().legal_moves(self.position)
        return [scored for scored in moves if scored.move not in refused] if refused else moves

    def ranked_moves(self, count: int | None = None) -> list[ValuedMove]:
        """Return legal moves, the highest equity first, without refused moves; at least one.

        The pass is left out unless there is nothing else. The first ``count``, up to about 100, are
        found much faster than all of them. Raise ValueError if ``count`` is below 1.
        """
        from engine.movegen.evaluation import PASS_EQUITY, POINT

        if count is not None and count < 1:
            raise ValueError(f"count is {count}; it must be 1 or more")
        refused = self.refused_moves
        wanted = sys.maxsize - 1 if count is None else count + len(refused)
        ranked = self._generator().best(self.position, wanted)
        moves = [
            ValuedMove(row.move, row.score, row.equity / POINT, row.leave)
            for row in ranked
            if row.move not in refused
        ]
        return moves[:count] or [ValuedMove(PASS, 0, PASS_EQUITY / POINT, self.rack)]

    def score(self, move: Move) -> int:
        """Return the points of a move, 0 for an exchange or a pass.

        If the rules allow challenges, a phony scores too.

        Raises:
            ValueError: the move is not legal; the message says why.
        """
        words = self.lexicon.graph.contains if self.rules.challenge == "void" else None
        play = check_move(self.position, move, self.rules, words, self.bag)
        return 0 if play is None else play.score

    def equity(self, move: Move) -> float:
        """Return the equity of a move, in points; raises as ``score``.

        Each call looks at all moves: to compare many, use ``ranked_moves``.
        """
        from engine.movegen.candidates import ranked_moves
        from engine.movegen.evaluation import POINT

        self.score(move)
        standard = canonical(move, self.position.board) if isinstance(move, Place) else move
        return ranked_moves(self._generator(), self.position, [standard])[0].equity / POINT

    def leave_after(self, move: Move) -> Rack:
        """Return the tiles that a move leaves on the rack, before the draw.

        Raises:
            ValueError: the move uses a tile that is not on the rack.
        """
        try:
            return leave_of(self.rack, move)
        except ValueError:
            raise ValueError(
                f"{self.text(move)} uses tiles that are not on the rack {self.text(self.rack)}"
            ) from None

    def leave_value(self, leave: Iterable[int]) -> float:
        """Return what tiles are worth on the rack, in points, while the bag has tiles.

        Raises:
            ValueError: there are as many tiles as a rack holds, or more, or one is not a tile.
        """
        return self.leave_table.value(leave)

    @property
    def leave_table(self) -> LeaveTable:
        """The leave table in use: the seat's if it was given one, else the default."""
        from lexicons.tables import leaves_for

        return self.leaves or leaves_for(self.rules.distribution)

    @property
    def win_table(self) -> WinProbabilities:
        """The table of win probabilities in use: the seat's if it was given one, else the default.

        Its numbers are by spread and unseen tiles.
        """
        from lexicons.tables import win_probabilities_for

        return self.win_probabilities or win_probabilities_for(self.rules.distribution)

    def opponent_view(self, move: Move, rack: Rack) -> View:
        """Return the opponent's view after a move of ours, if it holds ``rack``.

        Clocks and history don't change; raises as ``score``.
        """
        played = self.position.after(move, self.score(move), (), self.rules)
        position = played.with_rack(self.opponent, rack)
        return replace(
            self,
            seat=self.opponent,
            position=position,
            bag=bag_count(position, self.rules),
            refused=(),
        )

    def _generator(self) -> Generator:
        """Return the thread's generator; a view may be used by several threads."""
        from engine.movegen.generator import cached_generator

        return cached_generator(self.lexicon, self.rules, self.leave_table)

    # --- the board ---

    def at(self, row: int, column: int) -> str:
        """Return the tile on a square as text, a blank in lower case; empty if there is none.

        Rows and columns count from 0 at the top left. Squares off the board are empty.
        """
        tile = self.position.board.at(row, column)
        return self.text((tile,)) if tile else ""

    def premium(self, row: int, column: int) -> tuple[int, int]:
        """Return a square's letter and word multipliers; (1, 1) off the board."""
        layout = self.rules.layout
        if not (0 <= row < layout.rows and 0 <= column < layout.columns):
            return 1, 1
        square = row * layout.columns + column
        return layout.letter_multipliers[square], layout.word_multipliers[square]

    def squares(self, move: Move) -> list[tuple[int, int]]:
        """Return the row and column of each tile that a move lays."""
        if not isinstance(move, Place):
            return []
        laid = self.position.board.squares_of(move)
        return [(row, column) for row, column, tile in laid if tile != PLAYED_THROUGH]

    # --- text ---

    def text(self, what: Move | ExchangedCount | Iterable[int]) -> str:
        """Write a move as ``8D WO.D``, ``-ABC`` or ``-``; tiles as ``?QU``."""
        alphabet = self.rules.distribution.alphabet
        match what:
            case Place() | Exchange() | Pass():
                return format_move(what, alphabet)
            case ExchangedCount(count):
                return format_exchange_count(count)
            case _:
                return alphabet.text(what)

    def move(self, text: str) -> Move:
        """Read a move, which need not be legal (``score`` checks that).

        Raises:
            ValueError: the text is not a move; the message says which part is wrong.
        """
        return parse_move(text, self.position.board, self.rules.distribution.alphabet)

    def tiles(self, text: str) -> Rack:
        """Read tiles, a blank as ``?``, sorted.

        Raises:
            ValueError: a character is not a tile.
        """
        return tuple(sorted(self.rules.distribution.alphabet.tiles(text)))

    def is_word(self, word: str) -> bool:
        """Return whether a word, in any case, is in the lexicon."""
        try:
            tiles = self.rules.distribution.alphabet.word_tiles(word)
        except ValueError:
            return False
        return self.lexicon.graph.contains(tiles)

    def holds(self, word: str) -> bool:
        """Return whether a word of a play, as ``Observed.words`` has it, is in the lexicon.

        Tiles of several characters are in brackets there: LLAMA has two tiles L, and [LL]AMA one.
        """
        try:
            tiles = self.rules.distribution.alphabet.tiles(word)
        except ValueError:
            return False
        return self.lexicon.graph.contains([tile & ~BLANK_FLAG for tile in tiles])

    def __str__(self) -> str:
        layout = self.rules.layout
        columns = range(layout.columns)
        lines = [f"   {' '.join(chr(ord('A') + column) for column in columns)}"]
        for row in range(layout.rows):
            squares = " ".join(self.at(row, column) or "." for column in columns)
            lines.append(f"{row + 1:2} {squares}")
        mine, theirs = self.position.scores[self.seat], self.position.scores[self.opponent]
        lines.append(f"rack {self.text(self.rack)}, score {mine} to {theirs}, bag {self.bag}")
        return "\n".join(lines)


class Budget:
    """The time of a turn, and the best choice so far. Safe to use from any thread.

    A player that looks ahead checks ``expired`` or ``remaining_ms`` every few milliseconds, and
    returns when the time is over. It may ``offer`` choices on the way: if it has not returned by
    ``last_ms``, the last offer is played.

    Args:
        deadline_ms: planned end of the turn, by ``clock``.
        last_ms: latest moment for an answer, after which the game may be lost; by default the
            deadline.
        clock: returns the time in milliseconds.
        stretch_ms: end of the turn if the decision is still close; no later than
            ``last_ms``, and by default the deadline.
        seconds: returns the time of the same clock in seconds, for parts of a millisecond.
    """

    def __init__(
        self,
        deadline_ms: int,
        last_ms: int | None = None,
        clock: Callable[[], int] = now_ms,
        *,
        stretch_ms: int | None = None,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.seconds = seconds
        self.deadline_ms = deadline_ms
        self.stretch_ms = deadline_ms if stretch_ms is None else stretch_ms
        self.last_ms = deadline_ms if last_ms is None else last_ms
        self._clock = clock
        self._lock = threading.Lock()
        self.best: Choice | None = None
        """The last choice offered, if any."""
        self.belief: Believed | None = None
        """The player's belief about its opponent in this turn, once the player sets it."""
        self._cancelled = threading.Event()
        self._on_change: Callable[[], object] | None = None

    def remaining_ms(self, *, close: bool = False) -> int:
        """Return the milliseconds left in the turn, at least 0.

        If the decision is ``close``, ``stretch_ms`` counts.
        """
        return self._until(self.stretch_ms if close else self.deadline_ms)

    def until_last_ms(self) -> int:
        """Return the milliseconds until ``last_ms``, at least 0."""
        return self._until(self.last_ms)

    def _until(self, end_ms: int) -> int:
        return 0 if self._cancelled.is_set() else max(0, end_ms - self._clock())

    @property
    def expired(self) -> bool:
        """Whether the turn should be over."""
        return self.remaining_ms() == 0

    def offer(self, choice: Choice) -> None:
        """Offer a choice that is better than earlier offers."""
        self.best = choice
        self._changed()

    def limit(self, ms: int) -> None:
        """End the turn within ``ms`` milliseconds.

        A player with a limit of its own sets it here. If it has not returned a few milliseconds
        later, its last offer is played.
        """
        end = self._clock() + ms
        with self._lock:
            self.deadline_ms = min(self.deadline_ms, end)
            self.stretch_ms = min(self.stretch_ms, end)
            self.last_ms = min(self.last_ms, end + GRACE_MS)
        self._changed()

    def cancel(self) -> None:
        """End the turn now: the answer is no longer wanted."""
        self._cancelled.set()

    def wait(self) -> None:
        """Wait for the end of the turn."""
        self._cancelled.wait(min(self.remaining_ms() / 1_000, threading.TIMEOUT_MAX))

    def on_change(self, told: Callable[[], object] | None) -> None:
        """Set or remove (None) a function called after each offer and limit, in the player's
        thread.
        """
        self._on_change = told

    def _changed(self) -> None:
        if (on_change := self._on_change) is not None:
            on_change()


class Listener:
    """A player's optional methods: news of a game, and time to ponder."""

    def new_game(self, view: View) -> None:
        """Begin a game; ``view`` is before its first turn.

        After a crash too: the turns played before it follow by ``observe``.
        """

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn, the player's own included; ``view`` is after the turn.

        A play that may be challenged is told once it stands or is ``withdrawn``.
        """

    def ponder(self, view: View, budget: Budget) -> None:
        """Use the opponent's thinking time, until ``budget.expired``, which may come at any moment.

        Called after each of the player's moves that does not end the game, if the seat may ponder;
        ``view`` has the new rack. Offers are ignored. The next call waits for the return, so a late
        return costs the player's clock.
        """

    def refused(self, view: View, move: Move, message: str) -> None:
        """Learn that a move was illegal; ``choose`` is called again after this."""

    def game_over(self, view: View, result: Result) -> None:
        """Learn how the game ended."""


class Player(Listener):
    """A player of one game. Only ``choose`` has to be implemented."""

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Load and compile. Called once, before all else; no clock runs yet."""

    def make_room(self, view: View) -> None:
        """Allocate memory, if that is slow. Called once after ``warm_up``; no clock runs yet.

        The game has not begun: only the rules, lexicon, tables and threads of ``view`` count.
        """

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return a move.

        The player's clock runs meanwhile. If an exception leaves this method, a match restarts the
        process and asks again; a second exception loses the game.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how to choose a move")

    def challenge(self, view: View, play: Observed) -> Sequence[str]:
        """Return the words of the opponent's last play to challenge; an empty list accepts it.

        By default those that the lexicon lacks. Called before ``choose``, if the rules allow a
        challenge; the player's clock runs. ``view`` is after the play, the last in its history.
        """
        return phonies(view, play)


def phonies(view: View, play: Observed) -> list[str]:
    """Return the words of a play that the lexicon lacks."""
    return [word for word in play.words if not view.holds(word)]


Factory: TypeAlias = Callable[..., Player]
"""Returns a new player; the options of the seat are keyword arguments, all text."""
