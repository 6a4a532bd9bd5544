"""``Generator``: the best moves against all moves, equities against their definition, and lists."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexicon_parts import without_words
from positions import game_positions
from reference import Dictionary, placements
from rollout_positions import leaves, scowl
from small_games import Words, lexicon_of, small_games
from thorough import some

from engine.kernels.moves import MAX_KEPT
from engine.movegen import generator as generate
from engine.movegen.evaluation import LATE_BAG, PASS_EQUITY, PLAIN, STANDARD, Evaluation
from engine.movegen.generator import Generator, RankedMove, cached_generator, legal_moves
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.rules.position import Board, Position, bag_count, unseen
from engine.rules.rules import Rules, check_move, standard_rules
from lexicons.alphabet import BLANK, BLANK_FLAG, Alphabet, TileDistribution
from lexicons.jit import freeze, load
from lexicons.kwg import WordGraph
from lexicons.leaves import LeaveTable
from lexicons.store import Lexicon, load_lexicon
from lexicons.tables import leaves_for

RULES = standard_rules()
COUNTS = (1, 2, 5, 20, MAX_KEPT)
SQUARES = len(RULES.layout.word_multipliers)
WILD = replace(RULES.layout, name="wild", word_multipliers=(4,) * SQUARES)
GAMES = some(50, 200)
POSITIONS_A_GAME = 8


@cache
def generator(evaluation: Evaluation = STANDARD) -> Generator:
    return Generator(scowl(), RULES, leaves(), evaluation)


@cache
def positions_of(game: int) -> list[Position]:
    """Positions of a game, and some more: with short racks, and with none of the opponent's."""
    blanks = {0: 2, 1: 1, 2: 1, 3: 1}.get(game % 50, 0)
    positions = game_positions(scowl(), RULES, 5_000 + game, POSITIONS_A_GAME, blanks)
    chance = random.Random(game)
    short = chance.choice(positions)
    rack = short.racks[short.on_turn]
    few = tuple(sorted(chance.sample(rack, chance.randint(1, len(rack)))))
    return [
        *positions,
        with_rack(short, few, short.racks[1 - short.on_turn]),
        with_rack(short, few),
    ]


def with_rack(position: Position, rack: tuple[int, ...], other: tuple[int, ...] = ()) -> Position:
    racks = (rack, other) if position.on_turn == 0 else (other, rack)
    return replace(position, racks=racks)


def but_the_pass(everything: list[RankedMove]) -> list[RankedMove]:
    return [ranked for ranked in everything if ranked.move is not PASS]


def assert_best_is_the_head(finder: Generator, position: Position, of: int | None = None) -> None:
    """Of the moves all are made into values, or a head of ``of`` and a pass."""
    moves = finder.arrays(position)
    assert len(np.unique(moves.packed)) == len(moves.packed)
    everything = finder.everything(position, of and of + 1)
    assert len(everything) == min(len(moves.packed), of + 1 if of else len(moves.packed))
    assert len({ranked.move for ranked in everything}) == len(everything)
    equities = [ranked.equity for ranked in everything]
    assert equities == np.sort(moves.equities)[::-1][: len(equities)].tolist()
    ranking = but_the_pass(everything) or everything  # what ``best`` gives the head of
    for count in COUNTS:
        assert finder.best(position, count) == ranking[:count]
    if len(everything) > MAX_KEPT + 1:
        assert finder.best(position, MAX_KEPT + 1) == everything[: MAX_KEPT + 1]


@pytest.mark.parametrize("game", range(GAMES))
def test_the_best_moves_are_the_head_of_all_moves(game: int) -> None:
    for at, position in enumerate(positions_of(game)):
        all_as_values = at == game % POSITIONS_A_GAME
        assert_best_is_the_head(generator(), position, None if all_as_values else MAX_KEPT + 1)


def test_a_pass_is_the_best_move_of_those_who_have_no_other() -> None:
    lexicon = without_words(RULES.distribution)
    nothing = Generator(lexicon, RULES, leaves())
    position = Position(Board.empty(RULES.layout), ((), (1,)), (0, 0))
    only = [RankedMove(PASS, 0, PASS_EQUITY, ())]
    assert nothing.everything(position) == nothing.best(position, 5) == only
    rack = RULES.distribution.alphabet.tiles("QZV")
    short = Rules(RULES.distribution, RULES.layout, exchange_minimum=101)
    stuck = Generator(lexicon, short, leaves())
    position = with_rack(position, tuple(sorted(rack)))
    assert stuck.best(position) == [RankedMove(PASS, 0, PASS_EQUITY, tuple(sorted(rack)))]


def test_a_player_without_exchanges_is_offered_none() -> None:
    limited = Generator(scowl(), replace(RULES, exchange_limit=2), leaves())
    position = replace(next(iter(positions_of(4))), on_turn=0, exchanges=(1, 2))
    left, used_up = position, replace(position, exchanges=(2, 1))
    assert limited.everything(left) == generator().everything(position)
    placements = [one for one in generator().everything(position) if not is_exchange(one)]
    assert limited.everything(used_up) == placements
    assert not any(isinstance(move, Exchange) for move, _ in limited.legal_moves(used_up))
    nothing = Generator(without_words(RULES.distribution), limited.rules, leaves())
    assert nothing.best(used_up)[0].move == PASS
    assert isinstance(nothing.best(left)[0].move, Exchange)


def is_exchange(ranked: RankedMove) -> bool:
    return isinstance(ranked.move, Exchange)


# --- equity ---------------------------------------------------------------------------------------


def equity_of(
    move: Move,
    score: int,
    position: Position,
    evaluation: Evaluation,
    bag: int,
    hidden: tuple[int, ...],
) -> int:
    """The equity of a move as ``engine.movegen.evaluation`` has it, thousandths of a point."""
    rack = Counter(position.racks[position.on_turn])
    if move == PASS:
        return PASS_EQUITY
    if isinstance(move, Exchange):
        return worth((rack - Counter(move.tiles)).elements())
    assert isinstance(move, Place)
    played = [BLANK if tile & BLANK_FLAG else tile for tile in move.placed]
    kept = rack - Counter(played)
    equity = 1000 * score
    if evaluation.opening and position.board.is_empty:
        equity -= 350 * vowels_beside_premium_squares(move)
    if bag:
        left = bag - len(played) + 7
        late = LATE_BAG[left] if evaluation.late_bag and left < len(LATE_BAG) else 0
        return equity + worth(kept.elements()) + late
    if not evaluation.going_out:
        return equity
    points = RULES.distribution.points
    if kept:
        return equity - 2000 * sum(points[tile] for tile in kept.elements()) - 10_000
    return equity + 2000 * sum(count * points[tile] for tile, count in enumerate(hidden))


def worth(leave: Iterable[int]) -> int:
    return round(1000 * leaves().value(leave))


def vowels_beside_premium_squares(place: Place) -> int:
    """Count, for each vowel, doubles of the next lines beside it once and triples twice."""
    layout, vowels = RULES.layout, RULES.distribution.vowels
    down = place.direction is Direction.DOWN
    beside = 0
    for at, tile in enumerate(place.tiles):
        assert tile != PLAYED_THROUGH
        row, column = place.row + at * down, place.column + at * (not down)
        for step in (-1, 1):
            square = (row + step * (not down)) * layout.columns + column + step * down
            multiplier = layout.letter_multipliers[square] * layout.word_multipliers[square]
            beside += (multiplier - 1) * vowels[tile & ~BLANK_FLAG]
    return beside


@pytest.mark.parametrize(
    "evaluation",
    [
        STANDARD,
        PLAIN,
        Evaluation(late_bag=False, going_out=False),
        Evaluation(opening=False, going_out=False),
        Evaluation(opening=False, late_bag=False),
    ],
)
def test_equities_are_what_they_are_defined_to_be(evaluation: Evaluation) -> None:
    finder = Generator(scowl(), RULES, leaves(), evaluation)
    for game in (1, 4, 5, 6):
        for position in positions_of(game):
            bag = bag_count(position, RULES)
            everything = finder.everything(position)
            hidden = unseen(position, position.on_turn, RULES)
            for ranked in everything[:: len(everything) // 200 + 1]:
                if evaluation is STANDARD:  # scores are the same with any
                    play = check_move(position, ranked.move, RULES, scowl().graph.contains, bag)
                    assert ranked.score == (play.score if play is not None else 0)
                expected = equity_of(ranked.move, ranked.score, position, evaluation, bag, hidden)
                assert ranked.equity == expected
                assert ranked.leave == leave_of(ranked.move, position)


def leave_of(move: Move, position: Position) -> tuple[int, ...]:
    rack = Counter(position.racks[position.on_turn])
    if isinstance(move, Place):
        rack -= Counter(BLANK if tile & BLANK_FLAG else tile for tile in move.placed)
    elif isinstance(move, Exchange):
        rack -= Counter(move.tiles)
    return tuple(sorted(rack.elements()))


# --- any board ------------------------------------------------------------------------------------


@cache
def any_leaves(distribution: TileDistribution, rack_size: int) -> LeaveTable:
    places = len(LeaveTable.zero(distribution, rack_size).values)
    worths = np.random.default_rng(5).integers(-20, 21, places) * 1_000  # so that moves tie
    worths[0] = 0
    return LeaveTable(distribution, worths.astype(np.int32), rack_size)


@settings(max_examples=150)
@given(small_games(), st.sampled_from([0, 4, 7]), st.booleans())
def test_small_boards_and_alphabets_agree_with_the_twin_and_the_rules(
    game: tuple[Position, Words, Rules], table: int, adjusted: bool
) -> None:
    position, words, rules = game
    lexicon = lexicon_of(words, rules)
    leaves = any_leaves(rules.distribution, table) if table else None
    finder = Generator(lexicon, rules, leaves, STANDARD if adjusted else PLAIN)
    assert_best_is_the_head(finder, position)
    moves = legal_moves(position, lexicon, rules)
    rack = position.racks[position.on_turn]
    expected = placements(position.board.array(), rack, Dictionary(words), rules)
    assert placed(moves).items() - expected.items() == set()
    assert expected.items() - placed(moves).items() == set()
    bag = bag_count(position, rules)
    for move, score in moves:
        play = check_move(position, move, rules, lexicon.graph.contains, bag)
        assert (play.score if play is not None else 0) == score


def test_three_blanks_make_any_word_of_three_letters() -> None:
    four_blanks = replace(RULES.distribution, counts=(4, *RULES.distribution.counts[1:]))
    rules = replace(RULES, distribution=four_blanks)
    lexicon = lexicon_of([four_blanks.alphabet.tiles("CAT")], rules)
    position = Position(Board.empty(rules.layout), ((BLANK,) * 3, ()), (0, 0))
    assert_best_is_the_head(Generator(lexicon, rules), position)


# --- refusals -------------------------------------------------------------------------------------


def with_letters(letters: int) -> TileDistribution:
    names = [chr(0x0410 + number) for number in range(letters)]
    return TileDistribution(
        "other",
        Alphabet(("?", *names), ("?", *(name.lower() for name in names))),
        counts=(2,) * (letters + 1),
        points=(1,) * (letters + 1),
        vowels=(False,) * (letters + 1),
    )


LARGE = with_letters(62)
LARGE_RULES = replace(RULES, distribution=LARGE)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Generator(without_words(with_letters(26)), RULES), "lexicon none"),
        (lambda: Generator(scowl(), RULES, LeaveTable.zero(with_letters(30), 3)), "leave table"),
        (lambda: Generator(scowl(), replace(RULES, layout=WILD)), "layout wild: .* 30000 points"),
        (lambda: Generator(without_words(LARGE), LARGE_RULES), "62 letters"),
        (lambda: Generator(scowl(), replace(RULES, rack_size=8)), "racks of 8 tiles"),
        (lambda: generator().best(positions_of(3)[0], 0), "count is 0"),
    ],
)
def test_what_kernels_have_no_room_for_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


@pytest.mark.parametrize(
    ("rack", "message"),
    [
        ((1,) * 8, "a rack of 8 tiles"),
        ((27,), "beyond the 27"),
        ((-1,), "beyond the 27"),
        ((26, 26), "2 tiles Z are in sight"),
    ],
)
def test_a_rack_that_nobody_can_have_is_refused(rack: tuple[int, ...], message: str) -> None:
    position = with_rack(positions_of(3)[0], rack)
    for ask in (generator().everything, generator().best, generator().arrays):
        with pytest.raises(ValueError, match=message):
            ask(position)


# --- lists of legal moves -------------------------------------------------------------------------


def english(*words: str) -> Lexicon:
    return lexicon_of([RULES.distribution.alphabet.tiles(word) for word in words], RULES)


def on_board(*plays: tuple[int, int, Direction, str], rules: Rules = RULES) -> Board:
    board = Board.empty(rules.layout)
    for row, column, direction, text in plays:
        tiles = rules.distribution.alphabet.tiles(text.replace(".", "?"))
        board = board.with_move(Place(row, column, direction, tiles))
    return board


def position_of(board: Board, rack: str, opponent: str = "") -> Position:
    tiles = RULES.distribution.alphabet.tiles
    return Position(board, (tuple(sorted(tiles(rack))), tuple(sorted(tiles(opponent)))), (0, 0))


def placed(moves: list[Any]) -> dict[Place, int]:
    found = {move: score for move, score in moves if isinstance(move, Place)}
    assert len(found) == sum(isinstance(move, Place) for move, _ in moves)
    return found


def test_moves_come_in_the_documented_order() -> None:
    position = position_of(Board.empty(RULES.layout), "CATS?")
    moves = legal_moves(position, english("CAT", "CATS", "ACT", "AT"), RULES)
    kinds = [type(move).__name__ for move, _ in moves]
    assert kinds == sorted(kinds, key=["Place", "Exchange", "Pass"].index)

    def key(entry: Any) -> Any:
        move, score = entry
        return -score, move.direction, move.row, move.column, move.placed

    places = [entry for entry in moves if isinstance(entry.move, Place)]
    assert places == sorted(places, key=key)


def test_every_distinct_exchange_is_given_once_fewest_tiles_first() -> None:
    position = position_of(Board.empty(RULES.layout), "EEA")
    moves = legal_moves(position, english("OX"), RULES)
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
    position = position_of(Board.empty(RULES.layout), "EE", "Q")
    bag = bag_count(position, RULES)
    for minimum, exchanges in ((bag, 2), (bag + 1, 0)):
        rules = replace(RULES, exchange_minimum=minimum)
        moves = legal_moves(position, english("OX"), rules)
        assert len(moves) == exchanges + 1


def test_more_moves_than_the_first_arrays_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    position = position_of(Board.empty(RULES.layout), "CATS?")
    lexicon = english("CAT", "CATS", "ACT", "AT")
    moves = legal_moves(position, lexicon, RULES)
    monkeypatch.setattr(generate, "_FIRST_CAPACITIES", (0, 0, 0))
    assert legal_moves(position, lexicon, RULES) == moves


def test_after_the_warm_up_no_position_and_no_word_graph_compiles_anything() -> None:
    lexicon = english("CAT", "CATS")
    spread = np.zeros(2 * len(lexicon.graph.nodes), np.uint32)
    spread[::2] = lexicon.graph.nodes
    strided = replace(lexicon, graph=WordGraph(spread[::2]))
    load()
    freeze()
    try:
        for board in (Board.empty(RULES.layout), on_board((7, 7, Direction.ACROSS, "CAT"))):
            position = position_of(board, "CATS")
            moves = legal_moves(position, lexicon, RULES)
            assert len(placed(moves)) > 0
            assert legal_moves(position, strided, RULES) == moves
    finally:
        freeze(False)


def test_moves_are_the_same_however_they_are_asked_for() -> None:
    lexicon = load_lexicon()
    generator = cached_generator(lexicon, RULES, leaves_for(RULES.distribution))
    slices = slice(5), slice(2, None, 7), slice(9, 1, -3), slice(3, 3), slice(-4, -1)
    for position in game_positions(lexicon, RULES, seed=5, count=6):
        moves = legal_moves(position, lexicon, RULES)
        assert len(generator.legal_moves(position)) == len(moves)
        for at in (0, -1, *slices):
            assert generator.legal_moves(position)[at] == moves[at]
        known = generator.legal_moves(position)
        assert (known[0], list(known), known[-1]) == (moves[0], moves, moves[-1])
        assert str(known) == str(moves)
        with pytest.raises(IndexError):
            known[len(moves)]


def test_a_thread_keeps_the_generator_of_its_last_parts() -> None:
    leaves = leaves_for(RULES.distribution)
    parts = load_lexicon(), RULES, leaves
    kept = cached_generator(*parts)
    assert cached_generator(*parts) is kept
    with ThreadPoolExecutor(1) as other:
        assert other.submit(cached_generator, *parts).result() is not kept
    assert cached_generator(english("OX"), RULES, leaves) is not kept
