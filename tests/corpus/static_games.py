"""Two thousand games of the static player with itself: a hash of every fifth, and some in full."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from corpus.artefacts import Artefact

from engine.movegen.move_codec import unpack
from engine.notation.move_text import format_move
from engine.rules.moves import Place
from engine.rules.position import Board
from engine.rules.rules import standard_rules
from engine.simulation.selfplay import StaticGames, play_static_games
from lexicons.store import load_lexicon
from lexicons.tables import leaves_for

GAMES = 2_000
IN_FULL = 50
HASHED_EVERY = 5
SEED = 20_261
RULES = standard_rules()


@cache
def games() -> StaticGames:
    """Play them."""
    leaves = leaves_for(RULES.distribution)
    return play_static_games(load_lexicon(), RULES, leaves, GAMES, seed=SEED, record=True)


@cache
def game_text(number: int) -> str:
    """Write a game: for each turn rack, move, equity, the spread and the bag before it."""
    played, alphabet = games(), RULES.distribution.alphabet
    known, board = played.results, Board.empty(RULES.layout)
    lines = []
    for at in range(int(played.turns[number])):
        (move,) = unpack(known.moves[number, at : at + 1], board)
        rack = known.racks[number, at, : int(known.sizes[number, at])].tolist()
        figures = (int(of[number, at]) for of in (known.equities, known.spreads, known.bags))
        lines.append(
            " ".join((alphabet.text(rack), format_move(move, alphabet), *map(str, figures)))
        )
        board = board.with_move(move) if isinstance(move, Place) else board
    scores, bingos = played.scores[number].tolist(), played.bingos[number].tolist()
    return "\n".join([f"game {number}: scores {scores}, bingos {bingos}", *lines, ""])


def hashes() -> str:
    played, turns = games().scores.tolist(), games().turns.tolist()
    lines = (
        f"{number} {sha256(game_text(number).encode()).hexdigest()[:16]} "
        f"{played[number][0]} {played[number][1]} {turns[number]}"
        for number in range(0, GAMES, HASHED_EVERY)
    )
    return "\n".join(("game hash score score turns", *lines, ""))


ARTEFACTS = (
    Artefact("static/games.txt.xz", lambda: "".join(map(game_text, range(IN_FULL)))),
    Artefact("static/hashes.txt.xz", hashes),
)
