"""All that the corpus imports of the product, so that a move of modules is followed here alone.

Commands are run by their names and need no import but ``run_command`` and ``main``. What is listed
under ``WORKED_BIT_BY_BIT`` is what takes time: ``corpus.by_work`` has its clock go by it.
"""

from __future__ import annotations

from bot.player import Budget, Choice, Observed, Player, Result, View
from bot.players.champion import champion
from bot.players.static import StaticPlayer
from engine.endgame.solver import EndgameSolver
from engine.inference.inference import Inference
from engine.movegen.move_codec import unpack
from engine.notation.cgp import write_cgp
from engine.notation.move_text import format_move
from engine.preendgame.solver import PreEndgame
from engine.rules.game import Game
from engine.rules.moves import Move, Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, standard_rules
from engine.simulation.selfplay import StaticGames, play_static_games
from engine.simulation.simulation import Simulation
from harness.arbiter.table import Effects, Table
from harness.arbiter.views import Recipient, watched
from harness.cli import main, run_command
from harness.lab.in_process import play_game
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for
from protocol.channel import now_ms
from protocol.codec import JSON, MSGPACK
from protocol.messages import Message

__all__ = [
    "JSON",
    "MSGPACK",
    "WORKED_BIT_BY_BIT",
    "Board",
    "Budget",
    "Choice",
    "Effects",
    "Field",
    "Game",
    "Message",
    "Move",
    "Observed",
    "Place",
    "Player",
    "Position",
    "Recipient",
    "Result",
    "Rules",
    "StaticGames",
    "StaticPlayer",
    "Table",
    "View",
    "champion",
    "format_move",
    "leaves_for",
    "load_lexicon",
    "main",
    "now_ms",
    "play_game",
    "play_static_games",
    "run_command",
    "standard_rules",
    "unpack",
    "watched",
    "write_cgp",
]

WORKED_BIT_BY_BIT: tuple[tuple[type, float], ...] = (
    (Simulation, 0.2),
    (EndgameSolver, 0.01),
    (PreEndgame, 0.0015),
    (Inference, 0.04),
)
"""Whose ``advance`` does work, and milliseconds for each rollout, node or rack, as it counts."""
