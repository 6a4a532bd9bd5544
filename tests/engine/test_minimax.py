"""The slow twin of the endgame solver, against what can be seen without it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from endgame_positions import FEW_TILES, as_game
from minimax import Minimax

from engine.movegen.generator import legal_moves
from engine.rules.game import Game
from engine.rules.moves import PASS
from engine.rules.position import Position
from engine.rules.rules import standard_rules
from harness.lab.positions import endgame_position
from harness.lab.study_context import Field
from lexicons.store import Lexicon, load_lexicon

RULES = standard_rules()


@pytest.fixture(scope="module")
def field() -> Field:
    return Field.of(load_lexicon(), RULES)


def test_minimax_where_nobody_can_move(field: Field) -> None:
    minimax = Minimax(Lexicon.wordless(RULES.distribution), RULES)
    for one in (endgame_position(field, 1, n, FEW_TILES) for n in range(3)):
        own, other = map(RULES.distribution.value, _racks(one))
        for scoreless in range(RULES.scoreless_limit):
            # Whoever makes the last pass, each loses his own tiles.
            position = replace(one, scoreless_turns=scoreless)
            assert minimax.value(position) == minimax.after(position, PASS) == other - own


def test_minimax_is_what_the_best_moves_come_to(field: Field) -> None:
    one = endgame_position(field, 1, 6, FEW_TILES)
    minimax = Minimax(field.lexicon, RULES)
    game, value = as_game(one, RULES), minimax.value(one)
    mover = one.on_turn
    while game.over is None:
        to_come = minimax.value(game.position)
        gained = game.position.spread(mover) - one.spread(mover)
        assert gained + (to_come if game.position.on_turn == mover else -to_come) == value
        game = _played(minimax, game)
    assert game.position.spread(mover) - one.spread(mover) == value


def _played(minimax: Minimax, game: Game) -> Game:
    """Make the best move by plain minimax."""
    moves = [one.move for one in legal_moves(game.position, load_lexicon(), RULES)]
    return game.play(max(moves, key=lambda move: minimax.after(game.position, move)), None)


def _racks(one: Position) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return one.racks[one.on_turn], one.racks[1 - one.on_turn]
