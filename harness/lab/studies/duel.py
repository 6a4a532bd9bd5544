"""One player against another in whole games, in pairs with the same draws and the seats swapped.

Simple players meet in kernels, thousands of games a second (``play_duel``). Any two players meet
turn by turn (``Games``): a match without clocks and processes. Pair N, from 0, has the bag of pair
N of ``tilewire match`` with the same seed. Players start each game as strangers: learned styles are
not carried over.

A record of ``Games`` has the ``players``, its ``number``, the ``scores`` of the player and the
opponent, and the ``moves`` for replaying. The file identifies a player by its seat's text: after a
change of the player, use another file.

The players of CS221 (Stanford 2016): *vanilla* plays the highest score, *rh* adds learned features
of the leave, and *static* has a whole leave table and all adjustments; these also play in kernels.
*mc* and *mc+rh* sample before they move (``bot.players.cs221``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bot.player import Player
from bot.registry import SeatSpec, create_player, load_factory
from bot.seat_text import parse_seat
from engine.movegen.evaluation import PLAIN, STANDARD, Evaluation
from engine.notation.move_text import format_move, parse_move
from engine.rules.game import Game
from engine.simulation.selfplay import play_static_games
from harness.arbiter.records import Draws
from harness.lab.in_process import FullKnowledgePlayer, dealt, play_game
from harness.lab.rows import Column, Tables, percent
from harness.lab.study import Record, Study
from harness.lab.study_context import Field, ready
from harness.matches.significance import CONFIDENCE, mean_and_error
from lexicons.leaves import LeaveTable
from lexicons.rack_features import RackWeights, leave_table, shipped_rack_weights

Points: TypeAlias = npt.NDArray[np.signedinteger[Any]]

CS221_PLAYERS = ("vanilla", "rh", "mc", "mc+rh")

FULL_KNOWLEDGE = "full-knowledge"
"""The seat that sees the opponent's rack; the registry refuses it."""
_TIE_BREAK = 1_000
"""Divides the leaves of a greedy player, so that all are below a point."""


@dataclass(frozen=True)
class Duel:
    """The games of one player against another; None: too few games."""

    player: Annotated[str, Column("player")]
    opponent: Annotated[str, Column("opponent")]
    games: Annotated[int, Column("games")]
    wins: Annotated[int, Column("won")]
    losses: Annotated[int, Column("lost")]
    ties: Annotated[int, Column("tied")]
    win_rate: Annotated[
        float | None, percent("win rate (95 %)", error="win_rate_error")._replace(most=1)
    ]
    """A tie is half a win."""
    win_rate_error: float | None
    """Half the width of its 95 % interval over pairs; likewise ``error``. With all won, or none,
    the exact bound (``elo_difference``)."""
    mean: Annotated[float | None, Column("mean")]
    """The player's points per game."""
    opponent_mean: Annotated[float | None, Column("opponent's")]
    difference: Annotated[
        float | None, Column("ahead by (95 %)", error="error", decimals=2, sign=True)
    ]
    """Points per game."""
    error: float | None
    deviation: Annotated[float | None, Column("deviation")]
    """The standard deviation of one game's difference."""
    lost_twice: Annotated[float | None, percent("lost 2×")]
    """Share of games lost to at least twice the player's points."""
    largest_ratio: Annotated[float | None, Column("largest ratio", decimals=2)]
    """Largest winner's points / loser's points; a loser's score below 1 counts as 1."""


def add_up(player: str, opponent: str, own: Points, other: Points, pair_of: Points) -> Duel:
    """Summarize games.

    All arrays are [games]; ``pair_of`` has pair numbers, and a pair's second game may be missing.
    """
    ahead = (own - other).astype(np.int64)
    rate, rate_error = mean_and_error((np.sign(ahead) + 1) / 2, pair_of)
    if rate in (0.0, 1.0):
        rate_error = 1 - ((1 - CONFIDENCE) / 2) ** (1 / len(np.unique(pair_of)))
    difference, error = mean_and_error(ahead.astype(np.float64), pair_of)
    ratios = np.maximum(own, other) / np.maximum(np.minimum(own, other), 1)
    played = len(ahead) > 0
    return Duel(
        player=player,
        opponent=opponent,
        games=len(ahead),
        wins=int((ahead > 0).sum()),
        losses=int((ahead < 0).sum()),
        ties=int((ahead == 0).sum()),
        win_rate=rate,
        win_rate_error=rate_error,
        mean=float(own.mean()) if played else None,
        opponent_mean=float(other.mean()) if played else None,
        difference=difference,
        error=error,
        deviation=float(ahead.std(ddof=1)) if len(ahead) > 1 else None,
        lost_twice=float(np.mean((own < other) & (2 * own <= other))) if played else None,
        largest_ratio=float(ratios.max()) if played else None,
    )


def _check_pairs(games: int) -> None:
    if games < 4 or games % 2:
        raise ValueError(f"the number of games must be even and at least 4 (got {games})")


# --- in kernels -----------------------------------------------------------------------------------


class KernelEvaluator(NamedTuple):
    """Evaluates moves in kernels; the highest equity is played."""

    name: str
    leaves: LeaveTable
    evaluation: Evaluation = PLAIN


JUDGES = ("static", "greedy", "vanilla", "rh")


def judge_of(name: str, field: Field, weights: RackWeights | None = None) -> KernelEvaluator:
    """Return what a player of ``JUDGES`` judges moves by.

    *static* judges by leaves and all adjustments, *vanilla* by the score alone, *greedy* by the
    score and, among equal scores, the leave, *rh* by the score and weighted rack features.
    ``weights`` None: the built-in ones, for English.
    """
    tiles = field.leaves.distribution
    match name:
        case "static":
            return KernelEvaluator(name, field.leaves, STANDARD)
        case "greedy":
            return KernelEvaluator(name, LeaveTable(tiles, field.leaves.values // _TIE_BREAK))
        case "vanilla":
            return KernelEvaluator(name, LeaveTable.zero(tiles))
        case "rh":
            return KernelEvaluator(name, leave_table(weights or shipped_rack_weights(), tiles))
    raise ValueError(f"no player in kernels is called {name!r}")


def play_duel(
    player: KernelEvaluator,
    opponent: KernelEvaluator,
    field: Field,
    games: int,
    *,
    threads: int,
    seed: int,
) -> Duel:
    """Play games in kernels between two players.

    Raises:
        ValueError: fewer than four games, an odd number of them, or no thread.
    """
    _check_pairs(games)
    played = play_static_games(
        field.lexicon,
        field.rules,
        player.leaves,
        games,
        seed=seed,
        threads=threads,
        opponent=opponent.leaves,
        pairs=True,
        mirrored=True,
        evaluation=player.evaluation,
        opponent_evaluation=opponent.evaluation,
    )
    seats = played.begins[:, np.newaxis]
    own = np.take_along_axis(played.scores, seats, axis=1)[:, 0]
    other = np.take_along_axis(played.scores, 1 - seats, axis=1)[:, 0]
    return add_up(player.name, opponent.name, own, other, np.arange(games) // 2)


def kernel_duels(
    field: Field, games: int, threads: int, seed: int, weights: RackWeights | None = None
) -> list[Duel]:
    """Play games between all pairs of static, rh and vanilla; ``weights`` as for ``judge_of``.

    Raises:
        ValueError: fewer than four games, an odd number of them, no thread, or weights for other
            tiles.
    """
    judges = [judge_of(name, field, weights) for name in ("static", "rh", "vanilla")]
    return [
        play_duel(*pair, field, games, threads=threads, seed=seed)
        for pair in combinations(judges, 2)
    ]


# --- turn by turn ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Games(Study):
    """Games of any two players: 0 and 1, 2 and 3 … share draws, and the player begins even ones."""

    unit: ClassVar[str] = "games"

    seats: tuple[str, str]
    """Local seats (``bot.registry``, or ``full-knowledge``) of the player and the opponent."""
    field: Field
    seed: int
    """For bags and for players' random choices."""
    by_work: bool = False
    """Whether a turn's time is counted in work done, so that the same games are played again."""

    def settings(self) -> dict[str, object]:
        """Return the common settings of a file's games, for any two players."""
        about = {"experiment": "games", "lexicon": self.field.lexicon.checksum, "seed": self.seed}
        if self.by_work:
            about["by_work"] = True
        return about if self.field.own_leaves else about | {"leaves": self.field.leaves.checksum}

    @property
    def part(self) -> Record:
        """Return the two players."""
        return {"players": list(self.seats)}

    @property
    def name(self) -> str:
        """The two players."""
        return " – ".join(self.seats)

    def check(self, count: int) -> None:
        """Raise ``ValueError`` unless games come in pairs and both seats can be taken."""
        _check_pairs(count)
        for seat in self.seats:
            create(seat)

    def record(self, number: int) -> Record:
        """Play one game.

        Raises:
            IllegalMove: a player's move is against the rules.
        """
        begins, field = number % 2, self.field
        players = create(self.seats[begins]), create(self.seats[1 - begins])
        ready()
        game = play_game(players, field, self._secret(number), by_work=self.by_work)
        scores = game.position.scores
        alphabet = field.rules.distribution.alphabet
        return {
            "number": number,
            "scores": [scores[begins], scores[1 - begins]],
            "moves": [format_move(turn.move, alphabet) for turn in game.turns],
        }

    def replayed(self, record: Record) -> Game:
        """Return a record's game, with both racks in each position.

        Raises:
            ValueError: its moves can't be read, or are of another seed.
        """
        rules = self.field.rules
        game = dealt(rules, self._secret(record["number"]))
        for text in record["moves"]:
            move = parse_move(text, game.position.board, rules.distribution.alphabet)
            game = game.play(move, None)
        return game

    def _secret(self, number: int) -> bytes:
        return Draws.seeded(self.seed, number // 2).secret

    def duel(self, records: Sequence[Record]) -> Duel:
        """Summarize games."""
        scores = np.array([each["scores"] for each in records], np.int64).reshape(-1, 2)
        pair_of = np.array([each["number"] // 2 for each in records], np.int64)
        return add_up(*self.seats, scores[:, 0], scores[:, 1], pair_of)

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize games."""
        return {"duels": [self.duel(records)]}


def create(seat: str) -> Player:
    """Create the player of a local seat.

    Raises:
        ValueError: the seat is unknown, not local, or has an invalid option.
    """
    return _maker(seat)()


def is_timed(seat: str) -> bool:
    """Return whether a seat searches against the clock; raise SeatError if it can't be read."""
    return "time" in dict(_spec(seat).options)


@cache
def _maker(seat: str) -> Callable[[], Player]:
    spec = _spec(seat)
    factory = load_factory(spec)
    return lambda: create_player(spec, factory)


def _spec(seat: str) -> SeatSpec:
    name, mark, options = seat.partition("?")
    if name != FULL_KNOWLEDGE:
        return parse_seat(seat)
    factory = FullKnowledgePlayer
    return replace(
        parse_seat(f"{factory.__module__}:{factory.__name__}{mark}{options}"),
        name=FULL_KNOWLEDGE,
        text=seat,
    )
