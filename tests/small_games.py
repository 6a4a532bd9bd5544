"""Small boards, alphabets and word lists for hypothesis: what no game of ours would come to."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st

from engine.rules.position import Board, Position
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK, BLANK_FLAG, Alphabet, TileDistribution
from lexicons.build import build_word_graph
from lexicons.layout import BoardLayout
from lexicons.store import Lexicon

Words: TypeAlias = list[tuple[int, ...]]


def lexicon_of(words: Words, rules: Rules) -> Lexicon:
    return Lexicon("test", rules.distribution, build_word_graph(words), "")


def few_premium(multipliers: list[int]) -> tuple[int, ...]:
    """Leave no more word multipliers than scores of 32 bits allow in one word."""
    premium = [at for at, multiplier in enumerate(multipliers) if multiplier > 1]
    return tuple(1 if at in premium[4:] else each for at, each in enumerate(multipliers))


@st.composite
def small_games(draw: st.DrawFn) -> tuple[Position, Words, Rules]:
    """Any board, however it came about, with words that nobody knows on it too."""
    letters = draw(st.sampled_from([38, 41]))
    used = draw(st.sampled_from([(1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 31, 32, letters)]))
    letter = st.sampled_from(used)
    rows, columns = draw(st.integers(2, 8)), draw(st.integers(2, 8))
    squares = rows * columns
    multiplier = st.sampled_from([1, 1, 1, 2, 3, 4])
    layout = BoardLayout(
        "small",
        rows,
        columns,
        tuple(draw(st.lists(multiplier, min_size=squares, max_size=squares))),
        few_premium(draw(st.lists(multiplier, min_size=squares, max_size=squares))),
        (draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))),
    )
    names = tuple(f"L{number}" for number in range(1, letters + 1))
    distribution = TileDistribution(
        "small",
        Alphabet(("?", *names), ("?", *(name.lower() for name in names))),
        counts=(60,) * (letters + 1),
        points=(draw(st.sampled_from([0, 0, 2])), *(number % 11 for number in range(letters))),
        vowels=(False, *(number % 2 == 0 for number in range(letters))),
    )
    rules = Rules(distribution, layout, rack_size=draw(st.integers(1, 7)), bingo_bonus=35)
    empty = draw(st.sampled_from([1, 2, 4]))
    square = st.one_of(*[st.just(0)] * empty, letter, letter.map(lambda tile: tile | BLANK_FLAG))
    board = Board.empty(layout)
    if draw(st.integers(0, 4)):
        tiles = draw(st.lists(square, min_size=squares, max_size=squares))
        board = Board(layout, bytes(tiles))
    rack = draw(
        st.lists(st.one_of(letter, letter, st.just(BLANK)), min_size=1, max_size=rules.rack_size)
    )
    words = draw(st.lists(st.lists(letter, min_size=2, max_size=7).map(tuple), max_size=30))
    on_turn = draw(st.integers(0, 1))
    racks: tuple[Any, Any] = ((), tuple(sorted(rack)))
    return Position(board, racks if on_turn else racks[::-1], (0, 0), on_turn), words, rules
