from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.rules.challenges import judge
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Board, Position, bag_count, unseen
from engine.rules.rules import (
    IllegalMove,
    Play,
    Rules,
    canonical,
    check_move,
    may_exchange,
    passes_left,
    rack_tiles,
    score_play,
    stalled,
    standard_rules,
    why_not,
)

ACROSS, DOWN = Direction.ACROSS, Direction.DOWN
RULES = standard_rules()
EMPTY_BOARD = Board.empty(RULES.layout)
tiles = RULES.distribution.alphabet.tiles
text = RULES.distribution.alphabet.text


def play_at(square: str, word: str) -> Place:
    """Read ``8D WO.D``: row first is across, a dot is a tile that lies there."""
    direction = ACROSS if square[0].isdigit() else DOWN
    row, column = (square[:-1], square[-1]) if direction is ACROSS else (square[1:], square[0])
    through = word.replace(".", "?")
    return Place(int(row) - 1, ord(column) - ord("A"), direction, tiles(through))


def board_with(*plays: tuple[str, str]) -> Board:
    board = EMPTY_BOARD
    for square, word in plays:
        board = board.with_move(play_at(square, word))
    return board


def position(board: Board = EMPTY_BOARD, rack: str = "", other: str = "") -> Position:
    return Position(board, (tuple(sorted(tiles(rack))), tuple(sorted(tiles(other)))), (0, 0))


def among(*words: str) -> set[tuple[int, ...]]:
    return {tiles(word) for word in words}


def refusal(board: Board, square: str, word: str, rack: str | None = None) -> IllegalMove:
    place = play_at(square, word)
    rack = text(rack_tiles(place.placed)) if rack is None else rack
    with pytest.raises(IllegalMove) as caught:
        check_move(position(board, rack), place, RULES, None, 86)
    return caught.value


def words_of(play: Play | None) -> list[str]:
    assert play is not None
    return [text(word) for word in play.words]


HORN = board_with(("8G", "HORN"))


# --- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("square", "word", "score"),
    [
        ("8D", "IMINO", 16),  # Richards & Amir (2007), printed there as 8E
        ("8E", "IMINO", 14),
        ("8D", "iMINO", 12),
        ("8H", "QI", 22),
        ("8H", "qI", 2),
        ("H8", "QI", 22),
        ("8H", "qi", 0),
        ("8D", "QUARTZY", 2 * (2 * 10 + 1 + 1 + 1 + 1 + 10 + 4) + 50),
        ("8B", "MUZJIKS", 2 * (3 + 1 + 2 * 10 + 8 + 1 + 5 + 1) + 50),
    ],
)
def test_the_first_play_scores(square: str, word: str, score: int) -> None:
    place = play_at(square, word)
    assert score_play(EMPTY_BOARD, place, RULES) == Play(score, (tiles(word),), len(word) == 7)


def test_a_covered_square_counts_in_both_words() -> None:
    # FARM at 9G: HF, OA, RR, NM below HORN; 9G and 9I are double letters.
    play = score_play(HORN, play_at("9G", "FARM"), RULES)
    assert words_of(play) == ["FARM", "HF", "OA", "RR", "NM"]
    assert play.score == (8 + 1 + 2 + 3) + (4 + 8) + (1 + 1) + (1 + 2) + (1 + 3)


def test_two_word_squares_multiply() -> None:
    board = EMPTY_BOARD.with_move(Place(0, 3, ACROSS, tiles("D")))
    # 1A and 1H are triple words; a tile lies on 1D, the double letter between them.
    play = score_play(board, play_at("1A", "QUA.RATE"), RULES)
    assert play.score == 9 * (10 + 1 + 1 + 2 + 1 + 1 + 1 + 1) + 50
    assert play.bingo


# --- where tiles may lie --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "square", "word", "code", "message"),
    [
        (EMPTY_BOARD, "8A", "HORN", "misses_start", "the first play covers 8H"),
        (EMPTY_BOARD, "8H", "A", "too_short", "the first play has two tiles or more"),
        (EMPTY_BOARD, "8H", "A.", "gap", "no tile lies on 8I"),
        (HORN, "8G", "....", "nothing_placed", "one tile or more"),
        (HORN, "8G", "", "nothing_placed", "one tile or more"),
        (HORN, "8M", "LONG", "off_board", "15×15"),
        (HORN, "O13", "LONG", "off_board", "15×15"),
        (HORN, "H14", "A..", "gap", "no tile lies on 15H"),
        (HORN, "G7", "OA", "occupied", "a tile lies on 8G already"),
        (HORN, "8G", "....SS.", "gap", "no tile lies on 8M"),
        (HORN, "8K", "S", "not_whole_word", "over 8J"),
        (HORN, "8D", "LEG", "not_whole_word", "over 8G"),
        (HORN, "8H", "...S", "not_whole_word", "over 8G"),
        (HORN, "8C", "LEG.", "gap", "no tile lies on 8F"),
        (HORN, "1A", "TWO", "not_connected", "touches no tile"),
        (HORN, "1A", "I", "not_connected", "touches no tile"),
        (HORN, "K9", "AT", "not_connected", "touches no tile"),  # 8J and K9 meet at a corner
    ],
)
def test_a_placement_that_may_not_lie_there(
    board: Board, square: str, word: str, code: str, message: str
) -> None:
    error = refusal(board, square, word)
    assert error.code == code
    assert message in str(error)


def test_a_row_or_column_below_zero_is_off_the_board() -> None:
    for place in (Place(-1, 7, DOWN, (1, 2)), Place(7, -3, ACROSS, (1, 2, 3, 4))):
        with pytest.raises(IllegalMove, match="runs off the board") as caught:
            score_play(HORN, place, RULES)
        assert caught.value.code == "off_board"


def test_a_play_may_end_at_the_edge_and_touch_by_its_side_only() -> None:
    board = EMPTY_BOARD.with_move(Place(14, 9, ACROSS, tiles("AT")))
    assert words_of(score_play(board, play_at("15J", "..ONIC"), RULES)) == ["ATONIC"]
    assert words_of(score_play(HORN, play_at("7C", "AREAS"), RULES)) == ["AREAS", "SH"]


def test_the_start_square_is_the_layouts() -> None:
    corner = replace(RULES, layout=replace(RULES.layout, start=(0, 0)))
    board = Board.empty(corner.layout)
    score_play(board, play_at("1A", "HORN"), corner)
    with pytest.raises(IllegalMove, match="covers 1A"):
        score_play(board, play_at("8H", "HORN"), corner)


# --- racks and words ------------------------------------------------------------------------------


def test_tiles_come_from_the_rack() -> None:
    error = refusal(HORN, "8G", "....SESS", rack="SETTER?")
    assert error.code == "not_on_rack"
    assert str(error) == "SS are not on the rack ?EERSTT"
    wrong = str(refusal(HORN, "8G", "....s", rack="S"))
    assert wrong.startswith("? is not on the rack S; ")
    assert "lower-case" in wrong
    assert "(empty)" in str(refusal(HORN, "8G", "....S", rack=""))


def test_a_blank_stands_for_any_letter_and_leaves_the_rack_as_a_blank() -> None:
    move = play_at("8G", "....s")
    assert check_move(position(HORN, "?"), move, RULES, among("HORNS").__contains__, 86)
    assert rack_tiles(move.placed) == (0,)


@pytest.mark.parametrize("tile", [27, 63, 0x80, 0x80 | 27, 255, -1])
def test_what_is_no_letter_is_refused(tile: int) -> None:
    move = Place(7, 6, ACROSS, (0, 0, 0, 0, tile))
    with pytest.raises(IllegalMove, match=r"there is no tile -?\d+; tiles are 1 to 26") as caught:
        check_move(position(HORN, "?"), move, RULES, None, 86)
    assert caught.value.code == "no_such_tile"


def test_every_word_must_be_one_and_all_that_are_not_are_named() -> None:
    move = play_at("9G", "FaRM")
    known = among("FARM", "OA")
    with pytest.raises(IllegalMove) as caught:
        check_move(position(HORN, "F?RM"), move, RULES, known.__contains__, 86)
    assert caught.value.code == "not_a_word"
    assert str(caught.value) == "HF and RR and NM are not words"
    known |= among("HF", "RR")
    with pytest.raises(IllegalMove, match=r"^NM is not a word$"):
        check_move(position(HORN, "F?RM"), move, RULES, known.__contains__, 86)
    known |= among("NM")
    play = check_move(position(HORN, "F?RM"), move, RULES, known.__contains__, 86)
    assert words_of(play) == ["FaRM", "HF", "Oa", "RR", "NM"]


def test_no_word_list_no_phonies() -> None:
    assert check_move(position(HORN, "ZZZ"), play_at("G8", ".ZZZ"), RULES, None, 86)


def test_the_rack_is_that_of_the_player_on_turn() -> None:
    second = replace(position(HORN, "Q", "S"), on_turn=1)
    assert check_move(second, play_at("8G", "....S"), RULES, None, 86)


# --- single tiles ---------------------------------------------------------------------------------

BESIDE = board_with(("8G", "HORN"), ("H8", ".F"))  # HORN, OF; a tile at 9G makes words both ways


@pytest.mark.parametrize("described", [play_at("9G", "I."), play_at("G8", ".I")])
def test_a_single_tile_may_be_described_either_way(described: Place) -> None:
    play = check_move(position(BESIDE, "I"), described, RULES, among("IF", "HI").__contains__, 86)
    assert play is not None
    assert words_of(play) == ["IF", "HI"], "the word across comes first"
    assert play.score == (2 + 4) + (4 + 2), "9G is a double letter"
    assert canonical(described, BESIDE) == play_at("9G", "I.")


def test_a_single_tile_that_makes_one_word_has_one_canonical_description() -> None:
    down = play_at("G7", "O.")
    across = play_at("7G", "O")
    assert canonical(across, HORN) == canonical(down, HORN) == down
    assert score_play(HORN, across, RULES) == score_play(HORN, down, RULES)
    assert canonical(play_at("K8", "S"), HORN) == play_at("8G", "....S")
    assert score_play(HORN, play_at("K8", "S"), RULES).words == (tiles("HORNS"),)


# --- exchanges and passes -------------------------------------------------------------------------


def check(move: Move, rack: str, bag: int, rules: Rules = RULES) -> Play | None:
    return check_move(position(HORN, rack), move, rules, None, bag)


def test_a_pass_is_always_legal() -> None:
    assert check(PASS, "", 0) is None


def test_an_exchange_needs_seven_tiles_in_the_bag() -> None:
    assert check(Exchange(tiles("Q")), "QU", 7) is None
    with pytest.raises(IllegalMove, match="needs 7 tiles in the bag, which has 6") as caught:
        check(Exchange(tiles("Q")), "QU", 6)
    assert caught.value.code == "exchange_too_few_in_bag"


def test_an_exchange_is_never_larger_than_the_bag() -> None:
    lenient = replace(RULES, exchange_minimum=1)
    assert check(Exchange(tiles("QU")), "QU", 2, lenient) is None
    with pytest.raises(IllegalMove, match="needs 2 tiles in the bag, which has 1"):
        check(Exchange(tiles("QU")), "QU", 1, lenient)


def test_an_exchange_gives_up_tiles_that_one_has() -> None:
    with pytest.raises(IllegalMove) as caught:
        check(Exchange(()), "QU", 86)
    assert caught.value.code == "exchange_empty"
    with pytest.raises(IllegalMove, match=r"^A is not on the rack Q$") as caught:
        check(Exchange(tiles("A")), "Q", 86)
    assert caught.value.code == "not_on_rack"
    for nonsense in (99, 0x81, -1):
        with pytest.raises(IllegalMove) as caught:
            check(Exchange((nonsense,)), "Q", 86)
        assert caught.value.code == "no_such_tile"


# --- positions ------------------------------------------------------------------------------------


def test_a_board_is_a_value() -> None:
    board = EMPTY_BOARD.with_move(play_at("8G", "HOrN"))
    assert EMPTY_BOARD.is_empty
    assert not board.is_empty
    assert [board.at(7, column) for column in range(5, 11)] == [0, *tiles("HOrN"), 0]
    assert board.at(-1, 0) == board.at(0, -1) == board.at(15, 0) == board.at(0, 15) == 0
    array = board.array()
    assert (array.shape, array.dtype.name) == ((15, 15), "uint8")
    assert array.tobytes() == board.squares
    array[0, 0] = 1
    assert board.at(0, 0) == 0


def test_unseen_tiles_are_those_neither_on_the_board_nor_on_the_own_rack() -> None:
    played = position(board_with(("8G", "HOrN")), "AAEINR?", "QU")
    counts = unseen(played, 0, RULES)
    assert sum(counts) == 100 - 4 - 7
    assert (counts[0], counts[1], counts[tiles("O")[0]], counts[tiles("R")[0]]) == (0, 7, 7, 5)
    assert sum(unseen(played, 1, RULES)) == 100 - 4 - 2


def test_more_tiles_in_sight_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 tiles Q are in sight; the english distribution has 1"):
        unseen(position(rack="QQ"), 0, RULES)


@pytest.mark.parametrize(
    ("rack", "other", "count"),
    [
        ("AEINRST", "AEINRST", 82),
        ("AEINRST", "", 82),
        ("", "AEINRST", 82),
        ("", "", 82),
        ("AEINRST", "AEI", 86),
    ],
)
def test_an_unknown_rack_is_taken_to_be_full(rack: str, other: str, count: int) -> None:
    assert bag_count(position(HORN, rack, other), RULES) == count


def test_an_unknown_rack_is_taken_to_hold_all_that_is_left() -> None:
    few = replace(RULES.distribution, counts=(0, 9, *(0,) * 25))
    rules = replace(RULES, distribution=few)
    assert bag_count(position(rack="AAAA"), rules) == 0
    assert bag_count(position(rack="A"), rules) == 1
    assert bag_count(position(), rules) == 0


def test_a_player_may_exchange_as_often_as_the_rules_say() -> None:
    before = position(rack="QU")
    for limit, often in ((0, "not at all"), (1, "once"), (3, "3 times")):
        rules = replace(RULES, exchange_limit=limit)
        assert may_exchange(replace(before, exchanges=(limit - 1, 9)), rules)
        used_up = replace(before, exchanges=(limit, 0))
        with pytest.raises(IllegalMove, match=f"a player may exchange {often} in a game") as caught:
            check_move(used_up, Exchange(tiles("Q")), rules, None, 86)
        assert caught.value.code == "exchange_limit"
        assert check_move(used_up, PASS, rules, None, 86) is None


def test_counts_are_kept_where_the_rules_limit_them() -> None:
    limited = replace(RULES, pass_limit=4, exchange_limit=3)
    begun = replace(position(rack="QU"), scoreless_turns=3, passes=2, exchanges=(1, 2))
    swap = Exchange(tiles("Q"))
    assert begun.counts_after(PASS, limited) == (4, 3, (1, 2))
    assert begun.counts_after(swap, limited) == (4, 0, (2, 2))
    assert begun.counts_after(None, limited) == (4, 0, (1, 2))
    assert begun.counts_after(Place(7, 7, Direction.ACROSS, (1, 2)), limited) == (0, 0, (1, 2))
    assert begun.counts_after(PASS, RULES)[1] == 0
    assert begun.counts_after(swap, RULES)[2] == (1, 2)
    assert (begun.swapped().exchanges, begun.swapped().swapped()) == ((2, 1), begun)


def test_passes_may_end_a_game_before_other_scoreless_turns_do() -> None:
    limited = replace(RULES, pass_limit=4)
    begun = replace(position(rack="QU"), scoreless_turns=4, passes=3)
    assert (passes_left(begun, RULES), passes_left(begun, limited)) == (2, 1)
    assert (limited.most_passes, RULES.most_passes) == (4, 6)
    assert stalled(begun, limited) == ""
    over = replace(begun, scoreless_turns=5, passes=4)
    assert stalled(over, limited) == "4 passes in a row"
    assert why_not(over, limited) == "the game is over, after 4 passes in a row"
    assert stalled(replace(over, scoreless_turns=6), limited) == "6 scoreless turns in a row"


def test_a_word_challenged_twice_counts_once() -> None:
    words = tiles("AB"), tiles("CD")
    ruling = judge("5-point", "word", words, (words[0], words[0]), lambda word: True)
    assert (ruling.points, ruling.words) == (5, words[:1])
    ruling = judge("5-point", "word", words, (words[0], words[0]), lambda word: False)
    assert ruling.words == words[:1]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *(("rack_size", 1), ("exchange_minimum", 1), ("scoreless_limit", 1), ("pass_limit", 1)),
        ("exchange_limit", 0),
    ],
)
def test_numbers_that_make_no_game_are_refused(name: str, least: int) -> None:
    wrong: Any = {name: least - 1}
    with pytest.raises(ValueError, match=f"^{name} is .* {least} or more$"):
        replace(RULES, **wrong)
