"""Which moves are compared: the best, each really different, and a pass for want of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from lexicon_parts import without_words
from rollout_positions import RULES, generator, late_position, leaves, position_of, scowl

from engine.movegen.candidates import best_candidates, guess_replies
from engine.movegen.evaluation import PASS_EQUITY
from engine.movegen.generator import Generator, RankedMove, ScoredMove
from engine.rules.moves import PASS, Direction, Exchange, Move, Place
from engine.rules.position import Board, Position, unseen
from engine.rules.rules import Rules, check_move, rack_tiles
from lexicons.formula_leaves import formula_leaves
from lexicons.leaves import LeaveTable


def opening(rack: str, rules: Rules = RULES) -> Position:
    tiles = tuple(sorted(rules.distribution.alphabet.tiles(rack)))
    return Position(Board.empty(rules.layout), (tiles, ()), (0, 0))


def lopsided() -> Rules:
    """One square is worth more, and the one across the diagonal is not."""
    multipliers = list(RULES.layout.letter_multipliers)
    multipliers[7 * RULES.layout.columns + 4] = 2
    return replace(RULES, layout=replace(RULES.layout, letter_multipliers=tuple(multipliers)))


def with_ten_blanks() -> Rules:
    """The English tiles, eight letters of which are blanks instead, and two blanks more."""
    counts = (10, 8, 2, 2, 4, 10, 2, 3, 2, 8, 1, 1, 4, 2, 5, 7, 2, 1, 5, 4, 5, 4, 2, 2, 1, 2, 1)
    return replace(RULES, distribution=replace(RULES.distribution, name="ten", counts=counts))


@pytest.mark.parametrize("keeping", [False, True])
def test_with_three_blanks_half_of_the_candidates_are_bingos(keeping: bool) -> None:
    rules = with_ten_blanks()
    table = formula_leaves(rules.distribution)
    if keeping:  # a table by which no rack should ever be emptied
        values = np.where(np.arange(len(table.values)), 900_000, 0)
        table = LeaveTable(table.distribution, values.astype(np.int32))
    own, position = Generator(scowl(), rules, table), opening("???AEIN", rules)
    found = best_candidates(own, position, 15)
    bingos = [each for each in found if isinstance(each.move, Place) and not each.leave]
    assert len(found) == 15
    assert Direction.DOWN not in directions(found)
    assert [each.equity for each in found] == sorted((each.equity for each in found), reverse=True)
    assert len(bingos) == 8 if keeping else len(bingos) >= 8
    every = own.best(position, 30)
    assert every[0].equity == found[0].equity
    refused = [each.move for each in bingos[:3]]
    again = best_candidates(own, position, 15, refused)
    assert not {each.move for each in again} & set(refused)
    assert sum(not each.leave for each in again) >= 8


def test_the_best_bingos_are_those_of_all_moves() -> None:
    rules = with_ten_blanks()
    own = Generator(scowl(), rules, formula_leaves(rules.distribution))
    position = opening("???AEIN", rules)
    listed = own.arrays(position)
    best = np.sort(listed.equities[listed.subracks == (1 << 7) - 1])[::-1]
    assert [each.equity for each in own.bingos(position, 100)] == best[:100].tolist()
    assert own.bingos(opening("???AEI", rules), 100) == []


def directions(found: list[RankedMove]) -> set[Direction]:
    return {one.move.direction for one in found if isinstance(one.move, Place)}


def across(move: Move) -> Move:
    """Give the mirror image of a word that runs down."""
    if isinstance(move, Place) and move.direction is Direction.DOWN:
        return Place(move.column, move.row, Direction.ACROSS, move.tiles)
    return move


@pytest.mark.parametrize("rack", ["AEINRST", "?AEGNRU", "VVUUUII", "QUEENLY", "AB"])
@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_on_an_empty_board_no_word_is_there_twice(rack: str, count: int) -> None:
    position = opening(rack)
    found = best_candidates(generator(), position, count)
    assert Direction.DOWN not in directions(found)
    every = [one for one in generator().everything(position) if one.move != PASS]
    different = list(dict.fromkeys(across(one.move) for one in every))
    assert len(found) == min(count, len(different))
    assert [one.equity for one in found] == sorted((one.equity for one in found), reverse=True)
    worth = {one.move: one for one in every}
    best = sorted((worth[move].equity for move in different), reverse=True)
    assert [one.equity for one in found] == best[:count]
    assert all(worth[one.move] == one for one in found)


def test_on_a_lopsided_board_both_ways_are_different() -> None:
    rules = lopsided()
    own = Generator(scowl(), rules, leaves())
    position = opening("QUEENLY", rules)
    found = best_candidates(own, position, 40)
    assert found == own.best(position, 40)
    assert directions(found) == set(Direction)


def test_what_was_refused_is_left_out_and_the_next_best_moves_up() -> None:
    for position in (position_of(5, 9), opening("AEINRST")):
        best = best_candidates(generator(), position, 8)
        without = [best[0].move, best[3].move, best[5].move]
        found = best_candidates(generator(), position, 5, without)
        assert found == [best[at] for at in (1, 2, 4, 6, 7)]


def test_a_pass_is_for_who_can_do_nothing_else() -> None:
    wordless = without_words(RULES.distribution)
    own = Generator(wordless, RULES, leaves())
    passed = RankedMove(PASS, 0, PASS_EQUITY, (22,))
    position = opening("V")
    assert [one.move for one in best_candidates(own, position, 5)] == [Exchange((22,))]
    assert best_candidates(own, position, 5, [Exchange((22,))]) == [passed]
    crowded = replace(position, racks=((22,), (1,) * 2))
    assert PASS not in [one.move for one in best_candidates(own, crowded, 5)]


# --- replies that are likely ----------------------------------------------------------------------


def waiting(position: Position) -> Position:
    """Let the opponent of the player with the rack be on turn."""
    return replace(position, on_turn=1 - position.on_turn)


def guessed(position: Position, count: int, seed: int = 1) -> list[ScoredMove]:
    return list(islice(guess_replies(generator(), waiting(position), seed), count))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: position_of(0, 0), id="opening"),
        pytest.param(lambda: position_of(5, 9), id="middle"),
        pytest.param(lambda: position_of(5, 8), id="the other seat"),
        pytest.param(lambda: late_position(2), id="two in the bag"),
        pytest.param(lambda: late_position(0, held=3), id="empty bag"),
    ],
)
def test_replies_are_legal_for_some_rack_of_what_is_unseen(make: Callable[[], Position]) -> None:
    position = make()
    hidden = Counter(dict(enumerate(unseen(position, position.on_turn, RULES))))
    moves = guessed(position, 40)
    for reply in moves:
        if isinstance(reply.move, Place):
            used = rack_tiles(reply.move.placed)
        else:
            used = reply.move.tiles if isinstance(reply.move, Exchange) else ()
        assert not Counter(used) - hidden
        rack = tuple(sorted(used))
        seat = 1 - position.on_turn
        racks = (position.racks[0], rack) if seat else (rack, position.racks[1])
        play = check_move(
            replace(waiting(position), racks=racks),
            reply.move,
            RULES,
            scowl().graph.contains,
            max(sum(hidden.values()) - 7, 0),
        )
        assert reply.score == (play.score if play else 0)


def test_a_rack_that_is_known_by_an_empty_bag_has_one_reply() -> None:
    position = late_position(0, held=4)
    moves = guessed(position, 10)
    assert len(set(moves)) == 1
    known = late_position(0, held=4, both=True)
    assert moves[0].move == generator().best(waiting(known))[0].move


def test_the_seed_decides() -> None:
    position = position_of(5, 9)
    assert guessed(position, 20) == guessed(position, 20)
    assert guessed(position, 20) != guessed(position, 20, seed=2)
    assert len(set(guessed(position, 60))) > 20
