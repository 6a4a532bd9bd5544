"""The generator against its slow twin, on 2,000 positions of the embedded lexicon."""

from __future__ import annotations

from functools import cache

import pytest
from positions import game_positions
from reference import Dictionary, placements
from rollout_positions import scowl

from engine.movegen.generator import legal_moves
from engine.rules.moves import Direction, Place
from engine.rules.position import Position
from engine.rules.rules import standard_rules
from lexicons.alphabet import BLANK

RULES = standard_rules()
GAMES = 200
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


@pytest.mark.parametrize("game", range(GAMES))
def test_the_generator_finds_what_trying_every_word_finds(game: int) -> None:
    for position in positions_of(game):
        rack = position.racks[position.on_turn]
        scored = [
            (move, score)
            for move, score in legal_moves(position, scowl(), RULES)
            if isinstance(move, Place)
        ]
        found = dict(scored)
        assert len(found) == len(scored), "a placement was given twice"
        expected = placements(position.board.array(), rack, scowl_words(), RULES)
        if found != expected:  # the few that differ are told, and not the thousands that do not
            assert found.items() - expected.items() == set()
            assert expected.items() - found.items() == set()


def test_the_positions_are_of_every_kind() -> None:
    positions = [position for game in range(GAMES) for position in positions_of(game)]
    assert len(positions) == GAMES * POSITIONS_A_GAME == 2_000
    blanks = [position.racks[position.on_turn].count(BLANK) for position in positions]
    assert min(map(blanks.count, (0, 1))) >= 200
    assert blanks.count(2) >= 40
    tiles = [sum(map(bool, position.board.squares)) for position in positions]
    assert min(tiles) == 0
    assert max(tiles) > 85
    short = [p for p in positions if len(p.racks[p.on_turn]) < RULES.rack_size]
    assert len(short) >= 200


def test_the_twin_scores_the_opening_of_richards_and_amir() -> None:
    # IMINO at 8D for 16 (Richards & Amir 2007): the double letter at 8D, the double word at 8H.
    tiles = RULES.distribution.alphabet.tiles("IMINO")
    board = positions_of(0)[0].board
    found = placements(board.array(), (0, *sorted((*tiles, 15))), Dictionary([tiles]), RULES)
    assert found[Place(7, 3, Direction.ACROSS, tiles)] == 16
    assert found[Place(7, 4, Direction.ACROSS, tiles)] == 14
    # Five starts each way; each with five natural tiles or with one of five as a blank, and no
    # second O is needed.
    assert len(found) == 2 * 5 * (1 + 5)
