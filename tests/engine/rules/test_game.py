from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError, replace

import pytest

from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Ending, Game
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Board, Position
from engine.rules.rules import IllegalMove, standard_rules
from lexicons.alphabet import BLANK_FLAG

ACROSS, DOWN = Direction.ACROSS, Direction.DOWN
RULES = standard_rules()
STREAM = DrawStream(bytes(range(32)), (b"\x01" * 16, b"\x02" * 16))

tiles = RULES.distribution.alphabet.tiles
value = RULES.distribution.value


def game_with(bag: str, racks: tuple[str, str], board: Board | None = None) -> Game:
    """A game in which the racks are held and the bag will give its tiles in this order."""
    held = tuple(sorted(tiles(racks[0]))), tuple(sorted(tiles(racks[1])))
    position = Position(board or Board.empty(RULES.layout), held, (0, 0))
    return Game(RULES, position, Bag(tiles(bag), STREAM), held)


def played(game: Game, *moves: Move) -> Game:
    for move in moves:
        game = game.play(move, None)
    return game


def opening(word: str = "HORN") -> Place:
    return Place(7, 6, ACROSS, tiles(word))


# --- turns ----------------------------------------------------------------------------------------


def test_seat_0_draws_first_and_moves_first() -> None:
    bag = Bag.shuffled(RULES.distribution, STREAM)
    game = Game.start(RULES, bag)
    assert game.opening_racks == (bag.order[:7], bag.order[7:14])
    assert game.position.racks == (tuple(sorted(bag.order[:7])), tuple(sorted(bag.order[7:14])))
    assert game.position.on_turn == 0
    assert len(game.bag) == 86
    assert game.over is None


def test_a_game_begins_in_a_given_position() -> None:
    board = Board.empty(RULES.layout).with_move(opening("HoRN"))
    begun = Position(board, (tiles("AEIQ"), ()), (12, -3), scoreless_turns=2)
    bag = Bag.shuffled(RULES.distribution, STREAM, opening=begun)
    assert len(bag) == 92
    game = Game.start(RULES, bag, begun)
    assert game.opening_racks == ((*tiles("AEIQ"), *bag.order[7:10]), bag.order[:7])
    first, second = (tuple(sorted(rack)) for rack in game.opening_racks)
    assert game.position == replace(begun, racks=(first, second))
    everything = Counter(game.bag.order) + Counter(game.opening_racks[0] + game.opening_racks[1])
    assert everything == Counter(RULES.distribution.all_tiles()) - Counter(tiles("H?RN"))
    after = game.play(PASS, None)
    assert (after.position.scoreless_turns, after.turns[0].total) == (3, 12)


def test_with_an_empty_bag_what_is_left_is_the_rack_that_is_not_given() -> None:
    lying = RULES.distribution.all_tiles()[9:]
    squares = bytes(lying) + bytes(225 - len(lying))
    begun = Position(Board(RULES.layout, squares), (tiles("??A"), ()), (0, 0))
    game = Game.start(RULES, Bag.shuffled(RULES.distribution, STREAM, opening=begun), begun)
    assert game.position.racks == (tiles("??A"), tiles("AAAAAA"))
    swapped = begun.with_rack(0, ()).with_rack(1, tiles("??A"))
    game = Game.start(RULES, Bag.shuffled(RULES.distribution, STREAM, opening=swapped), swapped)
    assert game.position.racks == (tiles("AAAAAA"), tiles("??A"))


def test_a_placement_scores_draws_and_passes_the_turn() -> None:
    game = game_with("TEABAGS", ("HORNETS", "QUIETLY")).play(opening(), None)
    turn = game.turns[0]
    assert (turn.seat, turn.rack, turn.move) == (0, tuple(sorted(tiles("HORNETS"))), opening())
    assert (turn.score, turn.total, turn.drawn) == (14, 14, tiles("TEAB"))
    assert (turn.words, turn.bingo) == ((tiles("HORN"),), False)
    assert game.position.racks[0] == tuple(sorted(tiles("ETSTEAB")))
    assert game.position.scores == (14, 0)
    assert game.position.on_turn == 1
    assert game.position.board.at(7, 6) == tiles("H")[0]
    assert game.bag.order == tiles("AGS")


def test_an_exchange_draws_first_and_then_puts_back() -> None:
    before = game_with("TEABAGS", ("HORNETS", "QUIETLY"))
    game = before.play(Exchange(tiles("HO")), None)
    assert game.turns[0].drawn == tiles("TE")
    assert game.position.racks[0] == tuple(sorted(tiles("RNETSTE")))
    assert Counter(game.bag.order) == Counter(tiles("ABAGSHO"))
    assert game.bag.stream.position >= before.bag.stream.position + 2


def test_a_pass_changes_nothing_but_the_turn() -> None:
    before = game_with("TEABAGS", ("HORNETS", "QUIETLY"))
    game = before.play(PASS, None)
    assert (game.bag, game.position.racks) == (before.bag, before.position.racks)
    assert (game.position.on_turn, game.position.scoreless_turns) == (1, 1)
    assert (game.turns[0].score, game.turns[0].drawn, game.turns[0].words) == (0, (), ())


def test_an_illegal_move_leaves_the_game_as_it_is() -> None:
    game = game_with("TEABAGS", ("HORNETS", "QUIETLY"))
    with pytest.raises(IllegalMove) as caught:
        game.play(opening("HOST"), lambda word: False)
    assert caught.value.code == "not_a_word"
    assert game == game_with("TEABAGS", ("HORNETS", "QUIETLY"))
    with pytest.raises(FrozenInstanceError):
        game.over = None  # type: ignore[misc]


# --- the end --------------------------------------------------------------------------------------


def test_going_out_earns_twice_the_opponents_tiles() -> None:
    game = game_with("", ("HORN", "QI?")).play(opening(), None)
    assert game.over == Ending("out", (2 * 11, 0), ((), tuple(sorted(tiles("QI?")))))
    assert game.position.scores == (14 + 22, 0)
    assert game.turns[-1].total == 14, "a turn's total comes before the settlement"


def test_an_empty_rack_is_not_out_while_the_bag_has_tiles() -> None:
    game = game_with("A", ("HORN", "QI")).play(opening(), None)
    assert game.over is None
    assert game.position.racks[0] == tiles("A")
    assert game_with("A", ("", "QI")).play(PASS, None).over is None, "an unknown rack"


def test_an_opponent_without_tiles_leaves_nothing_to_earn() -> None:
    game = game_with("", ("HORN", "")).play(opening(), None)
    assert game.over == Ending("out", (0, 0), ((), ()))


def test_a_placement_that_scores_nothing_is_not_scoreless() -> None:
    game = game_with("TEABAGS", ("??RNETS", "QUIETLY"))
    blanks = Place(7, 7, ACROSS, tuple(tile | BLANK_FLAG for tile in tiles("QI")))
    game = played(game, PASS, PASS, PASS, PASS, blanks)
    assert game.turns[-1].score == 0
    assert game.position.scoreless_turns == 0
    assert played(game, PASS, PASS, PASS, PASS, PASS).over is None
    assert played(game, PASS, PASS, PASS, PASS, PASS, PASS).over is not None
