from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from positions import game_positions
from reference import Dictionary, placements
from small_games import Words, lexicon_of, small_games

from engine.movegen import generator as generate
from engine.movegen.generator import cached_generator, legal_moves
from engine.rules.moves import PASS, Direction, Exchange, Place
from engine.rules.position import Board, Position, bag_count
from engine.rules.rules import Rules, check_move, standard_rules
from lexicons.jit import freeze, load
from lexicons.kwg import WordGraph
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import leaves_for

ENGLISH = standard_rules()


def english(*words: str) -> Lexicon:
    return lexicon_of([ENGLISH.distribution.alphabet.tiles(word) for word in words], ENGLISH)


def on_board(*plays: tuple[int, int, Direction, str], rules: Rules = ENGLISH) -> Board:
    board = Board.empty(rules.layout)
    for row, column, direction, text in plays:
        tiles = rules.distribution.alphabet.tiles(text.replace(".", "?"))
        board = board.with_move(Place(row, column, direction, tiles))
    return board


def position_of(board: Board, rack: str, opponent: str = "") -> Position:
    tiles = ENGLISH.distribution.alphabet.tiles
    return Position(board, (tuple(sorted(tiles(rack))), tuple(sorted(tiles(opponent)))), (0, 0))


def placed(moves: list[Any]) -> dict[Place, int]:
    found = {move: score for move, score in moves if isinstance(move, Place)}
    assert len(found) == sum(isinstance(move, Place) for move, _ in moves)
    return found


def test_moves_come_in_the_documented_order() -> None:
    position = position_of(Board.empty(ENGLISH.layout), "CATS?")
    moves = legal_moves(position, english("CAT", "CATS", "ACT", "AT"), ENGLISH)
    kinds = [type(move).__name__ for move, _ in moves]
    assert kinds == sorted(kinds, key=["Place", "Exchange", "Pass"].index)

    def key(entry: Any) -> Any:
        move, score = entry
        return -score, move.direction, move.row, move.column, move.placed

    places = [entry for entry in moves if isinstance(entry.move, Place)]
    assert places == sorted(places, key=key)


def test_every_distinct_exchange_is_given_once_fewest_tiles_first() -> None:
    position = position_of(Board.empty(ENGLISH.layout), "EEA")
    moves = legal_moves(position, english("OX"), ENGLISH)
    assert [move for move, _ in moves] == [
        Exchange((1,)),
        Exchange((5,)),
        Exchange((1, 5)),
        Exchange((5, 5)),
        Exchange((1, 5, 5)),
        PASS,
    ]
    assert {score for _, score in moves} == {0}


def test_no_exchange_when_the_bag_has_too_few() -> None:
    position = position_of(Board.empty(ENGLISH.layout), "EE", "Q")
    bag = bag_count(position, ENGLISH)
    for minimum, exchanges in ((bag, 2), (bag + 1, 0)):
        rules = replace(ENGLISH, exchange_minimum=minimum)
        moves = legal_moves(position, english("OX"), rules)
        assert len(moves) == exchanges + 1


def test_more_moves_than_the_first_arrays_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    position = position_of(Board.empty(ENGLISH.layout), "CATS?")
    lexicon = english("CAT", "CATS", "ACT", "AT")
    moves = legal_moves(position, lexicon, ENGLISH)
    monkeypatch.setattr(generate, "_FIRST_CAPACITIES", (0, 0, 0))
    assert legal_moves(position, lexicon, ENGLISH) == moves


def test_after_the_warm_up_no_position_and_no_word_graph_compiles_anything() -> None:
    lexicon = english("CAT", "CATS")
    spread = np.zeros(2 * len(lexicon.graph.nodes), np.uint32)
    spread[::2] = lexicon.graph.nodes
    strided = replace(lexicon, graph=WordGraph(spread[::2]))
    load()
    freeze()
    try:
        for board in (Board.empty(ENGLISH.layout), on_board((7, 7, Direction.ACROSS, "CAT"))):
            position = position_of(board, "CATS")
            moves = legal_moves(position, lexicon, ENGLISH)
            assert len(placed(moves)) > 0
            assert legal_moves(position, strided, ENGLISH) == moves
    finally:
        freeze(False)


@settings(max_examples=100)
@given(small_games())
def test_small_boards_and_alphabets_agree_with_the_twin_and_the_rules(
    game: tuple[Position, Words, Rules],
) -> None:
    position, words, rules = game
    lexicon = lexicon_of(words, rules)
    rack = position.racks[position.on_turn]
    moves = legal_moves(position, lexicon, rules)
    dictionary = Dictionary(words)
    expected = placements(position.board.array(), rack, dictionary, rules)
    assert placed(moves).items() - expected.items() == set()
    assert expected.items() - placed(moves).items() == set()
    bag = bag_count(position, rules)
    for move, score in moves:
        play = check_move(position, move, rules, lexicon.graph.contains, bag)
        assert (play.score if play is not None else 0) == score


# --- moves that are made into values when they are asked for --------------------------------------


def test_moves_are_the_same_however_they_are_asked_for() -> None:
    lexicon = load_lexicon()
    generator = cached_generator(lexicon, ENGLISH, leaves_for(ENGLISH.distribution))
    slices = slice(5), slice(2, None, 7), slice(9, 1, -3), slice(3, 3), slice(-4, -1)
    for position in game_positions(lexicon, ENGLISH, seed=5, count=6):
        moves = legal_moves(position, lexicon, ENGLISH)
        assert len(generator.legal_moves(position)) == len(moves)
        for at in (0, -1, *slices):
            assert generator.legal_moves(position)[at] == moves[at]
        known = generator.legal_moves(position)
        assert (known[0], list(known), known[-1]) == (moves[0], moves, moves[-1])
        assert str(known) == str(moves)
        with pytest.raises(IndexError):
            known[len(moves)]


def test_a_thread_keeps_the_generator_of_its_last_parts() -> None:
    leaves = leaves_for(ENGLISH.distribution)
    parts = load_lexicon(), ENGLISH, leaves
    kept = cached_generator(*parts)
    assert cached_generator(*parts) is kept
    with ThreadPoolExecutor(1) as other:
        assert other.submit(cached_generator, *parts).result() is not kept
    assert cached_generator(english("OX"), ENGLISH, leaves) is not kept
