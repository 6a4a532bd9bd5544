"""The generator against its slow twin, on positions of 60 games with the embedded lexicon."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from positions import game_positions
from reference import Dictionary, Placements, placement_arrays, placements
from rollout_positions import scowl
from rule_set_games import FEW, compare
from thorough import some

from engine.kernels.moves import EXCHANGE, TILE_BITS
from engine.movegen.generator import Generator, legal_moves
from engine.rules.moves import PLAYED_THROUGH, Place
from engine.rules.position import Position
from engine.rules.rule_sets import rule_set_names
from engine.rules.rules import standard_rules
from lexicons.alphabet import BLANK_FLAG

RULES = standard_rules()
GAMES = some(60, 200)
POSITIONS_A_GAME = 10


@cache
def scowl_words() -> Dictionary:
    return Dictionary(scowl().graph.words())


def blanks_kept(game: int) -> int:
    """Two blanks in every fiftieth game, one in every twentieth, else as they are drawn.

    A position with two takes as long as thirty with none.
    """
    return 2 if game % 50 == 0 else int(game % 20 == 3)


@cache
def positions_of(game: int) -> list[Position]:
    return game_positions(scowl(), RULES, game, POSITIONS_A_GAME, blanks_kept(game))


def packed(found: Placements) -> npt.NDArray[np.uint64]:
    """Placements as kernels write them: direction, row, column, seven tiles."""
    codes = found.tiles & ~np.uint8(BLANK_FLAG) | (found.tiles & BLANK_FLAG) >> 1
    words = (found.directions << 10 | found.rows << 5 | found.columns).astype(np.uint64)
    room = np.full(len(words), 7)
    for column in codes.T:
        is_placed = column != PLAYED_THROUGH
        words = np.where(is_placed, words << np.uint64(TILE_BITS) | column, words)
        room -= is_placed
    return words << (TILE_BITS * room).astype(np.uint64)


@pytest.mark.parametrize("game", range(GAMES))
def test_the_generator_finds_what_trying_every_word_finds(game: int) -> None:
    generator = Generator(scowl(), RULES)
    for at, position in enumerate(positions_of(game)):
        board, rack = position.board.array(), position.racks[position.on_turn]
        listed = generator.arrays(position)
        places = listed.packed < EXCHANGE
        groups = list(placement_arrays(board, rack, scowl_words(), RULES))
        expected = np.concatenate([packed(group) for group in groups])
        scores = np.concatenate([group.scores for group in groups])
        found, order = np.argsort(listed.packed[places]), np.argsort(expected)
        same = (
            np.array_equal(listed.packed[places][found], expected[order])
            and np.array_equal(listed.scores[places][found], scores[order])
            and bool((np.diff(expected[order]) > 0).all())
        )
        if not same or at == game % POSITIONS_A_GAME:  # as values: of each game some position
            moves = legal_moves(position, scowl(), RULES)
            moves = [scored for scored in moves if isinstance(scored.move, Place)]
            assert len(dict(moves)) == len(moves), "a placement was given twice"
            values = placements(board, rack, scowl_words(), RULES)
            # The few that differ are told, and not the thousands that do not.
            assert dict(moves).items() - values.items() == set()
            assert values.items() - dict(moves).items() == set()
        assert same


# --- games and positions of each rule set; tests/rule_set_games.py compares more ------------------


@pytest.mark.parametrize("name", rule_set_names())
def test_kernels_play_by_each_rule_set_as_plain_python_does(name: str) -> None:
    found = compare(name, games=4, positions=2)
    assert found.positions == 2
    assert found.turns > 4 * 10


@pytest.mark.parametrize("name", ["english", "german", "polish", "spanish"])
def test_games_of_few_words_end_by_each_rule_set_as_in_plain_python(name: str) -> None:
    found = compare(name, games=20, positions=1, count=FEW)
    assert found.stalled >= 15
    assert found.exchanges >= 40
