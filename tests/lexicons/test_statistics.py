"""Statistics of a lexicon, on lists small enough to try everything in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from engine.movegen.generator import legal_moves
from engine.rules.moves import Direction, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, square_name
from lexicons.alphabet import BLANK, BLANK_FLAG, Alphabet, TileDistribution, load_distribution
from lexicons.build import build_word_graph
from lexicons.layout import BoardLayout, load_layout
from lexicons.statistics import (
    LexiconStatistics,
    lexicon_statistics,
    points_by_share,
    tiles_by_share,
)
from lexicons.store import Lexicon

TILES = TileDistribution(
    "few",
    Alphabet(("?", "A", "B", "C", "CH"), ("?", "a", "b", "c", "ch")),
    counts=(2, 4, 3, 2, 1),
    points=(0, 1, 3, 2, 9),
    vowels=(False, True, False, False, False),
)
SIZE, BONUS = 4, 20
LAYOUT = BoardLayout("few", 6, 6, (1, 2, 1, 3, 1, 1) * 6, (1, 1, 2, 1, 1, 1) * 6, (2, 3))
ALL = 1_000


@cache
def words() -> list[tuple[int, ...]]:
    chance = random.Random(4)
    made = (tuple(chance.choices((1, 2, 3, 4), k=chance.randint(2, 6))) for _ in range(150))
    return sorted(set(made))


def text(word: tuple[int, ...]) -> str:
    return TILES.alphabet.text(word)


def read(play: str) -> tuple[int, ...]:
    return TILES.alphabet.tiles(play)


@cache
def found() -> LexiconStatistics:
    return described(words())


def described(listed: list[tuple[int, ...]], top: int = ALL) -> LexiconStatistics:
    lexicon = Lexicon("few", TILES, build_word_graph(listed), "")
    return lexicon_statistics(lexicon, LAYOUT, SIZE, BONUS, top)


# --- letters --------------------------------------------------------------------------------------


def test_shares_of_letters() -> None:
    for attribute, lengths in (("share", range(7)), ("short", (2, 3)), ("full", (4, 5))):
        counts = Counter(tile for word in words() if len(word) in lengths for tile in word)
        shares = [getattr(letter, attribute) for letter in found().letters]
        assert shares == [counts[tile] / counts.total() for tile in (1, 2, 3, 4)]
    assert [letter.in_bag for letter in found().letters] == [0.4, 0.3, 0.2, 0.1]
    assert [letter.letter for letter in found().letters] == ["A", "B", "C", "CH"]


def test_tiles_are_shared_out_by_websters_method() -> None:
    # 53, 24 and 23 of 100 for seven seats: 3.71, 1.68, 1.61, each rounded to the nearest.
    counts = np.array([0, 5, 1, 2])
    shared = tiles_by_share(np.array([0, 53, 24, 23]), counts - np.array([0, 0, 0, 1]))
    assert shared.tolist() == [0, 3, 2, 2]
    assert tiles_by_share(np.array([0, 99, 0, 0]), counts).tolist() == [0, 6, 1, 1]
    assert tiles_by_share(np.zeros(4, np.int64), counts).sum() == 8


def test_points_are_dealt_by_rarity() -> None:
    dealt = points_by_share(np.array([9, 8, 5, 6, 0]), np.array([0, 4, 3, 2, 0]), np.arange(5))
    assert dealt.tolist() == [0, 1, 3, 2, 4]  # what has no tiles keeps its points


# --- hooks, chains, anagrams ----------------------------------------------------------------------


def test_hooks_are_the_letters_that_make_another_word() -> None:
    known, letters = set(words()), (1, 2, 3, 4)
    expected = {}
    for word in words():
        front = tuple(tile for tile in letters if (tile, *word) in known)
        back = tuple(tile for tile in letters if (*word, tile) in known)
        if front or back:
            expected[text(word)] = text(front), text(back)
    hooked = {hooked.word: (hooked.front, hooked.back) for hooked in found().hooks}
    assert hooked == expected
    sizes = [len(read(hooked.front + hooked.back)) for hooked in described(words(), 3).hooks]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)


def test_the_longest_chains() -> None:
    known = set(words())

    @cache
    def links(word: tuple[int, ...]) -> int:
        return 1 + max(links(word[1:]), links(word[:-1])) if word in known else 0

    chains = found().chains
    ends = [text(word) for word in words() if links(word) == chains.length]
    assert chains.length == max(map(links, words())) > 3
    assert [chain[-1] for chain in chains.chains] == ends
    assert chains.count == len(ends)
    for chain in chains.chains:
        tiles = [read(word) for word in chain]
        assert set(tiles) <= known
        assert len(tiles) == chains.length
        assert all(a in (b[1:], b[:-1]) for a, b in pairwise(tiles))


def test_anagrams_and_lengths() -> None:
    sets: dict[tuple[int, ...], list[str]] = {}
    for word in words():
        sets.setdefault(tuple(sorted(word)), []).append(text(word))
    several = {tuple(listed) for listed in sets.values() if len(listed) > 1}
    assert set(found().anagrams) == several
    assert len(found().anagrams[0]) == max(map(len, several))
    hooked = {hooked.word: hooked for hooked in found().hooks}
    for row in found().lengths:
        of_length = [text(word) for word in words() if len(word) == row.letters]
        hooks = [hooked[word] for word in of_length if word in hooked]
        assert row.words == len(of_length)
        assert row.hooked == len(hooks)
        assert row.front == sum(bool(hook.front) for hook in hooks)
        assert row.back == sum(bool(hook.back) for hook in hooks)
        assert row.anagrams == sum(word in listed for word in of_length for listed in several)


# --- openings -------------------------------------------------------------------------------------


def test_best_openings_are_those_of_the_move_generator_with_every_rack() -> None:
    lexicon = Lexicon("few", TILES, build_word_graph(words()), "")
    rules = Rules(TILES, LAYOUT, rack_size=SIZE, bingo_bonus=BONUS, exchange_minimum=1)
    best: dict[tuple[int, ...], tuple[int, set[str]]] = {}
    for rack in sorted(set(combinations(TILES.all_tiles(), SIZE))):
        position = Position(Board.empty(LAYOUT), (rack, ()), (0, 0))
        for move, score in legal_moves(position, lexicon, rules):
            if isinstance(move, Place):
                word = tuple(tile & ~BLANK_FLAG for tile in move.placed)
                before, squares = best.get(word, (-1, set()))
                across = move.direction is Direction.ACROSS
                name = square_name(move.row, move.column)
                name = name if across else name[-1] + name[:-1]
                if score >= before:
                    best[word] = score, squares | {name} if score == before else {name}
    openings = found().openings
    ours = {
        tuple(tile & ~BLANK_FLAG for tile in read(play.play)): (play.score, set(play.squares))
        for play in openings.plays
    }
    assert ours == best
    assert any(BLANK_FLAG & tile for play in openings.plays for tile in read(play.play))
    scores = [play.score for play in openings.plays]
    assert scores == sorted(scores, reverse=True)
    third = described(words(), 3).openings
    assert third.plays == openings.plays[:3]
    assert third.more == scores.count(scores[2]) - scores[:3].count(scores[2])


def test_the_best_polish_opening_of_a_published_study() -> None:
    polish = load_distribution("polish")
    listed = [polish.alphabet.word_tiles(word) for word in ("PÓŹNOŚĆ", "PÓŹNO", "KLINOWE")]
    lexicon = Lexicon("polish", polish, build_word_graph(listed), "")
    best, *_ = lexicon_statistics(lexicon, load_layout(), 7, 50, 3).openings.plays
    assert (best.score, best.play, best.squares) == (126, "PÓŹNOŚĆ", ("8B", "H2"))


# --- full-length words ----------------------------------------------------------------------------


def test_first_draws_by_trying_all() -> None:
    full = [word for word in words() if len(word) == SIZE]
    draws = list(combinations(TILES.all_tiles(), SIZE))
    makes = {draw: [word for word in full if not lacking(word, draw)] for draw in set(draws)}
    statistics = found().full
    made = [draw for draw in draws if makes[draw]]
    assert statistics.chance == pytest.approx(len(made) / len(draws))
    for row in statistics.draws:
        of_blanks = [draw for draw in draws if draw.count(BLANK) == row.blanks]
        assert row.chance == pytest.approx(len(of_blanks) / len(draws))
        assert row.full == pytest.approx(
            sum(bool(makes[draw]) for draw in of_blanks) / len(of_blanks)
        )
    expected = {
        text((*draw[blanks:], *[BLANK] * blanks)): len(listed)
        for draw, listed in makes.items()
        if listed
        for blanks in (draw.count(BLANK),)
    }
    racks = [rack for of_blanks in statistics.racks for rack in of_blanks]
    assert {rack.rack: rack.count for rack in racks} == expected
    assert all(len(rack.words) == rack.count for rack in statistics.racks[0])
    for likely in statistics.likeliest:
        word = read(likely.words[0])
        having = sum(word in makes[draw] for draw in draws)
        assert likely.chance == pytest.approx(having / len(draws))
    drawable = {word for listed in makes.values() for word in listed}
    assert {word for likely in statistics.likeliest for word in likely.words} == set(
        map(text, drawable)
    )


def lacking(word: tuple[int, ...], draw: tuple[int, ...]) -> list[int]:
    """The letters that a draw lacks for a word, after its blanks have stood for some."""
    return sorted((Counter(word) - Counter(draw)).elements())[draw.count(BLANK) :]


def test_a_list_without_full_length_words() -> None:
    few = described([(1, 2), (2, 1)])
    assert few.full.chance == 0
    assert few.full.likeliest == ()
    assert few.full.racks == ((), (), ())
    assert few.chains.length == 1
    assert [play.play for play in few.openings.plays] == ["AB", "BA"]


def test_a_rack_larger_than_the_bag() -> None:
    lexicon = Lexicon("few", TILES, build_word_graph(words()), "")
    with pytest.raises(ValueError, match="racks of 13 tiles"):
        lexicon_statistics(lexicon, LAYOUT, 13, BONUS, 1)
