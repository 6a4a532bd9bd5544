"""How fast static players play each other, and how fast moves are listed, on this machine.

Compiling or loading kernels, and laying out words for them, is timed separately.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import compress, count
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from engine.kernels.board import clear_board, forget_changes
from engine.kernels.crosses import play
from engine.kernels.gaddag_movegen import list_into, list_placements
from engine.kernels.moves import EXCHANGE, MAX_PLACED
from engine.kernels.search_state import StateArray, take_rack
from engine.kernels.selfplay import Results
from engine.simulation.selfplay import StaticGames, play_static_games
from harness.lab.positions import recorded_games
from harness.lab.study_context import Field
from lexicons.alphabet import BLANK
from lexicons.jit import kernel
from lexicons.leaves import LeaveArrays
from lexicons.store import Lexicon
from lexicons.word_map import WordsArray
from lexicons.wordlist import WordList, pack_words

from .memory import MB, peak_memory

_T = TypeVar("_T")
_MOVES_LISTED = 1 << 20
_BLANKS = {"all": (0, MAX_PLACED), "no_blank": (0, 0), "blank": (1, MAX_PLACED)}
"""The fewest and the most blanks on a rack, by kind."""


@dataclass(frozen=True)
class Bench:
    """Fields common to all measurements here."""

    seconds: float
    """Of the measured work alone."""
    threads: int
    games: int
    seed: int
    lexicon: str
    words: int
    leaves: str
    compile_seconds: float
    """For compiling or loading the kernels and laying out the words."""
    peak_memory_mb: float
    """Of the whole process, in units of 2²⁰ bytes."""


@dataclass(frozen=True)
class SelfPlayBench(Bench):
    """Games of static players; turns and bingos per game are those of both together."""

    games_per_s: float
    moves: int
    """Turns, including exchanges and passes."""
    moves_per_s: float
    mean_score: float
    """Per player and game."""
    turns_per_game: float
    bingos_per_game: float
    first_wins: float
    """Share of games won by the player that began; a tie is half a win."""


@dataclass(frozen=True)
class Kind:
    """Positions of one kind."""

    positions: int
    placements: int
    seconds: float
    """Mean over the threads."""
    us_per_position: float
    """Time of a thread."""
    placements_per_s: float
    """Of all threads together."""


@dataclass(frozen=True)
class GenerationBench(Bench):
    """Listing all placements in the positions of static games, by blanks on the rack."""

    all: Kind
    no_blank: Kind
    blank: Kind


def measure_selfplay(field: Field, games: int, threads: int, seed: int) -> SelfPlayBench:
    """Play games between two static players with the same leave table.

    Raises:
        ValueError: fewer than one game or thread, or mismatched tile sets.
    """
    compile_seconds = timed(lambda: _play(field, 1, 1, seed))[0]
    seconds, played = timed(lambda: _play(field, games, threads, seed))
    scores, turns = played.scores, int(played.turns.sum())
    return SelfPlayBench(
        **about(field, games, threads, seed, seconds, compile_seconds),
        games_per_s=round(games / seconds, 1),
        moves=turns,
        moves_per_s=round(turns / seconds),
        mean_score=round(float(scores.mean()), 2),
        turns_per_game=round(turns / games, 2),
        bingos_per_game=round(float(played.bingos.sum()) / games, 3),
        first_wins=round(float(np.sign(scores[:, 0] - scores[:, 1]).mean() + 1) / 2, 4),
    )


def measure_generation(field: Field, games: int, threads: int, seed: int) -> GenerationBench:
    """List all placements in positions of static games; seconds are a mean over the threads.

    Raises:
        ValueError: as ``measure_selfplay``, or fewer games than threads.
    """
    if threads < 1 or games < threads:
        raise ValueError(f"{games} games in {threads} threads; each thread has at least one")
    compile_seconds = timed(lambda: time_generation(field, 1, seed))[0]
    shares = [games // threads + (thread < games % threads) for thread in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        timings = list(pool.map(partial(time_generation, field), shares, count(seed)))
    kinds: dict[str, Any] = {kind: _kind([timing[kind] for timing in timings]) for kind in _BLANKS}
    return GenerationBench(
        **about(field, games, threads, seed, kinds["all"].seconds, compile_seconds), **kinds
    )


def time_generation(field: Field, games: int, seed: int) -> dict[str, tuple[int, int, float]]:
    """List all placements in each position of static games, by kinds of racks.

    Return for each kind the number of positions, that of placements, and the seconds. These include
    sorting the rack, looking up leaves, and listing placements with scores; the time of replaying
    the games is measured separately and subtracted.
    """
    played = recorded_games(field, games, seed).results
    generator = field.generator()
    moves = np.empty(_MOVES_LISTED, np.uint64)
    scores, subracks = np.empty(len(moves), np.int32), np.empty(len(moves), np.uint8)
    list_into(generator.state, moves, scores, subracks)

    def time_listing(fewest: int, most: int) -> tuple[int, int, float]:
        began = time.perf_counter()
        positions, listed = list_in_games(
            generator.state, generator.words.words, generator.leaves.arrays, played, fewest, most
        )
        return int(positions), int(listed), time.perf_counter() - began

    # No rack has so many blanks: the games are only replayed, and the first time may compile.
    time_listing(MAX_PLACED + 1, MAX_PLACED + 1)
    *_, replay_seconds = time_listing(MAX_PLACED + 1, MAX_PLACED + 1)
    timings = {kind: time_listing(*blanks) for kind, blanks in _BLANKS.items()}
    return {
        kind: (positions, listed, max(seconds - replay_seconds, 0.0))
        for kind, (positions, listed, seconds) in timings.items()
    }


@kernel
def list_in_games(
    state_array: StateArray,
    words_array: WordsArray,
    leaves: LeaveArrays,
    games: Results,
    fewest_blanks: int,
    most_blanks: int,
) -> tuple[int, int]:
    """List all placements in recorded positions with ``fewest_blanks`` to ``most_blanks``.

    Each list overwrites the one before; ``list_into`` was called, and its arrays still exist.
    Returns the number of positions and of placements.
    """
    state, words = state_array[0], words_array[0]
    positions, listed = 0, 0
    for number in range(len(games.turns)):
        clear_board(state.board)
        for turn in range(games.turns[number]):
            size, tiles = games.sizes[number, turn], games.racks[number, turn]
            blanks = 0
            for index in range(size):
                blanks += tiles[index] == BLANK
            if fewest_blanks <= blanks <= most_blanks:
                take_rack(state, tiles, size, leaves, 1, 0, True)
                list_placements(state, words)
                positions += 1
                listed += state.gaddag.count
            if games.moves[number, turn] < EXCHANGE:
                play(state.board, words, games.moves[number, turn])
                forget_changes(state.board)
    return positions, listed


def sample_words(lexicon: Lexicon, number: int, seed: int) -> Lexicon:
    """Return a lexicon of ``number`` random words of another.

    Raises:
        ValueError: ``number`` is below 1, or there are fewer words.
    """
    total = sum(1 for _ in lexicon.graph.words())
    if not 1 <= number <= total:
        raise ValueError(f"{number} words of {lexicon.name}; it has {total}")
    chosen = np.zeros(total, np.bool_)
    chosen[random.Random(seed).sample(range(total), number)] = True
    matrix = pack_words(list(compress(lexicon.graph.words(), chosen)))
    from lexicons.build import build_word_graph

    checksum = WordList(lexicon.distribution.alphabet, matrix).checksum
    graph = build_word_graph(matrix)
    return Lexicon(f"{lexicon.name} ({number} words)", lexicon.distribution, graph, checksum)


def about(
    field: Field, games: int, threads: int, seed: int, seconds: float, compile_seconds: float
) -> dict[str, Any]:
    """Return the fields of ``Bench``."""
    return {
        "seconds": round(seconds, 4),
        "threads": threads,
        "games": games,
        "seed": seed,
        "lexicon": field.lexicon.name,
        "words": field.words,
        "leaves": field.leaves_name,
        "compile_seconds": round(compile_seconds, 3),
        "peak_memory_mb": round(peak_memory() / MB, 1),
    }


def timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """Call a function; return its seconds and its result."""
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


def _play(field: Field, games: int, threads: int, seed: int) -> StaticGames:
    return play_static_games(
        field.lexicon, field.rules, field.leaves, games, seed=seed, threads=threads
    )


def _kind(shares: Sequence[tuple[int, int, float]]) -> Kind:
    positions, placements = sum(share[0] for share in shares), sum(share[1] for share in shares)
    spent = [share[2] for share in shares]
    seconds = fmean(spent)
    return Kind(
        positions=positions,
        placements=placements,
        seconds=round(seconds, 4),
        us_per_position=round(1e6 * sum(spent) / positions, 2) if positions else 0.0,
        placements_per_s=round(placements / seconds) if seconds else 0,
    )
