"""One player against another in whole games, turn by turn: for players that no kernel plays.

The games are those of a match without clocks and processes. They come in pairs with the same draws,
the seats swapped, and the bags are those of ``tilewire match`` with the same seed.

What came of them may be kept in a file (``lines``), and games that are there already are not played
again; so one file has many duels, and a duel that was stopped goes on. A game's record has the
``players``, its ``number``, the ``scores`` of the player and the opponent, and the ``moves`` that
both made, so that it can be replayed (``replayed``). The file knows a player by the text of its
seat: one that plays differently now needs another file.

Every game begins between strangers: what one tells of a player's style is not carried to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bot.player import Player
from bot.registry import SeatSpec, create_player, load_factory
from bot.seat_text import parse_seat
from engine.notation.move_text import format_move, parse_move
from engine.rules.game import Game
from engine.rules.rules import Rules
from harness.arbiter.new_game import Draws
from harness.lab.in_process import dealt, play_game
from harness.lab.study_context import ready
from harness.lab.workers import Crew, open_crew
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon

from .duel import Duel, add_up
from .full_knowledge import FullKnowledgePlayer
from .record_file import Lines, fill_in, open_lines

__all__ = [
    "FULL_KNOWLEDGE",
    "Meeting",
    "games_of",
    "open_games",
    "play_missing",
    "play_seats",
    "played",
    "replayed",
]

_Maker: TypeAlias = Callable[[], Player]

FULL_KNOWLEDGE = "full-knowledge"
"""The name of the seat that sees the opponent's rack, which the registry refuses."""


class Meeting(NamedTuple):
    """Who meets whom, and with what."""

    seats: tuple[str, str]
    """Local seats (``bot.registry``, or ``full-knowledge``) of the player and the opponent, options
    and all."""
    lexicon: Lexicon
    rules: Rules
    seed: int
    """For the bags, and for what players leave to chance."""
    leaves: LeaveTable | None = None
    """For both; without it they have their own."""


def open_games(out: Path | None, meeting: Meeting) -> AbstractContextManager[Lines]:
    """Open a file of games for the time of a block; whoever meets, it may have their games.

    Raises:
        ValueError: the file holds something else, or another process is at it.
        OSError: it can't be read or written.
    """
    about = {"experiment": "games", "lexicon": meeting.lexicon.checksum, "seed": meeting.seed}
    if meeting.leaves is not None:
        about["leaves"] = meeting.leaves.checksum
    return open_lines(out, about)


def play_missing(
    lines: Lines,
    meeting: Meeting,
    games: int,
    crew: Crew,
    progress: Callable[[int], object] | None = None,
) -> Lines:
    """Play those of so many games that are not there yet; give the lines of all of them.

    Args:
        lines: what ``open_games`` gave.
        meeting: who plays.
        games: how many there are to be.
        crew: the workers.
        progress: told after each game how many there are by now.

    Raises:
        ValueError: fewer than four games, an odd number of them, or a seat that is none.
        OSError: the file can't be written.
        IllegalMove: a player's move is against the rules.
    """
    if games < 4 or games % 2:
        raise ValueError(f"{games} games; they come in pairs, two pairs or more")
    for seat in meeting.seats:
        _maker(seat)()  # or say what is wrong

    def count(done: int, missing: int) -> None:
        if progress is not None:
            progress(games - missing + done)

    mine = games_of(lines, meeting.seats)
    if mine.missing(games):
        ready()  # here first, so that the user is told, and workers don't compile the same
        fill_in(mine, games, crew, played, meeting, count)
    return mine


def games_of(lines: Lines, seats: tuple[str, str]) -> Lines:
    """Give the games of two players."""
    return lines.of(players=list(seats))


def play_seats(
    meeting: Meeting,
    games: int,
    *,
    workers: int = 1,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> Duel:
    """Play so many games between two players, and add them up.

    Args:
        meeting: who plays.
        games: how many.
        workers: how many games at once (``open_crew``); it makes no difference to them, unless
            players go by time.
        out: a file that has, or gets, what came of each game.
        progress: as ``play_missing``.

    Raises:
        ValueError: as ``open_games``, ``open_crew`` and ``play_missing``.
        OSError: the file can't be read or written.
        IllegalMove: a player's move is against the rules.
    """
    with open_games(out, meeting) as lines, open_crew(workers, alone=True) as crew:
        mine = play_missing(lines, meeting, games, crew, progress)
    scores = np.array([one["scores"] for one in mine.records[:games]])
    return add_up(*meeting.seats, scores[:, 0], scores[:, 1])


def played(meeting: Meeting, number: int) -> dict[str, Any]:
    """Play one game; 0 and 1, 2 and 3 … share their draws, and the player begins the even ones.

    Raises:
        IllegalMove: a player's move is against the rules.
    """
    begins = number % 2
    first, second = meeting.seats[begins], meeting.seats[1 - begins]
    players = _maker(first)(), _maker(second)()
    ready()
    secret = _secret(meeting.seed, number)
    game = play_game(players, meeting.lexicon, meeting.rules, secret, meeting.leaves)
    scores = game.position.scores
    alphabet = meeting.rules.distribution.alphabet
    return {
        "number": number,
        "scores": [scores[begins], scores[1 - begins]],
        "moves": [format_move(turn.move, alphabet) for turn in game.turns],
    }


def replayed(record: dict[str, Any], seed: int, rules: Rules) -> Game:
    """Give the game of a record again, the racks of both and all, with the seed of its meeting.

    Raises:
        ValueError: its moves are none, or are of another seed.
    """
    game = dealt(rules, _secret(seed, record["number"]))
    alphabet = rules.distribution.alphabet
    for text in record["moves"]:
        game = game.play(parse_move(text, game.position.board, alphabet), None)
    return game


def _secret(seed: int, number: int) -> bytes:
    return Draws.seeded(seed, number // 2).secret


@cache
def _maker(seat: str) -> _Maker:
    spec = _spec(seat)
    factory = load_factory(spec)
    return lambda: create_player(spec, factory)


def _spec(seat: str) -> SeatSpec:
    """Read a seat, also one that sits down here only."""
    name, mark, options = seat.partition("?")
    if name != FULL_KNOWLEDGE:
        return parse_seat(seat)
    factory = FullKnowledgePlayer
    return replace(
        parse_seat(f"{factory.__module__}:{factory.__name__}{mark}{options}"),
        name=FULL_KNOWLEDGE,
        text=seat,
    )
