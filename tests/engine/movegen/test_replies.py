"""What the opponent is likely to do, and where that leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import pytest
from rollout_positions import RULES, generator, late_position, position_of, scowl

from engine.movegen.candidates import guess_replies
from engine.movegen.generator import ScoredMove
from engine.rules.moves import Exchange, Place
from engine.rules.position import Position, unseen
from engine.rules.rules import check_move, rack_tiles


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
