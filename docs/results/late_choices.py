"""What better choices with few tiles in the bag are worth, played on to the end of the game.

Let a player of each version choose in the same positions, then play those on in which they differ:

    export PYTHONPATH=.
    python docs/results/late_choices.py choose new.jsonl --bag 1 --seat "champion?time=500ms"
    python docs/results/late_choices.py play new.jsonl old.jsonl --out played.jsonl

``choose`` is run in a checkout of each version, with the same ``--seed``. ``play`` lets ``--seat``
take both sides after either move, from the same deals of the unseen tiles. Each file keeps a line
for each position, and the same command goes on with it. A turn's time is processor time, so that
what else runs makes little difference.
"""

# ruff: noqa: E402 - the clocks are changed before searches take them as default arguments

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

time.monotonic = time.perf_counter = time.process_time
time.monotonic_ns = time.perf_counter_ns = time.process_time_ns

from bot.player import Player
from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.move_text import format_move, parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Move
from engine.rules.position import Position, unseen
from engine.rules.rules import standard_rules
from harness.lab.in_process import last_turn, unhurried, view_of
from harness.lab.positions import Situation, situation_in_play
from harness.lab.studies.duel import create
from harness.lab.study_context import Field, ready
from lexicons.alphabet import as_tiles
from lexicons.store import load_lexicon

RULES = standard_rules()


def choose(field: Field, given: argparse.Namespace, number: int) -> dict[str, Any]:
    """Ask the seat for a move in a position."""
    bags = range(given.bag, given.most_bag + 1)
    situation = situation_in_play(field, given.seed, number, bags)
    player, view = create(given.seat), view_of(situation, field, number)
    player.warm_up(view.lexicon, view.rules)
    player.make_room(view)
    player.new_game(view)
    move = player.choose(view, unhurried()).move
    return {
        "number": number,
        "cgp": write_cgp(situation.position, RULES),
        "bag": situation.bag,
        "move": format_move(move, RULES.distribution.alphabet),
    }


def play(field: Field, given: argparse.Namespace, rows: tuple[Any, Any]) -> dict[str, Any]:
    """Play a position on from the moves of both files, from the same deals."""
    position, alphabet = read_cgp(rows[0]["cgp"], RULES), RULES.distribution.alphabet
    spreads: list[list[int]] = []
    if rows[0]["move"] != rows[1]["move"]:
        moves = [parse_move(row["move"], position.board, alphabet) for row in rows]
        players = create(given.seat), create(given.seat)
        for deal in range(given.deals):
            game = _deal(position, (given.seed, rows[0]["number"], deal))
            spreads.append([_spread(players, field, game, move) for move in moves])
    won = np.sign(np.array(spreads or [[0, 0]])) / 2
    points = np.array(spreads or [[0, 0]], np.float64)
    return {
        "number": rows[0]["number"],
        "bag": rows[0]["bag"],
        "moves": [row["move"] for row in rows],
        "win": float((won[:, 0] - won[:, 1]).mean()),
        "points": float((points[:, 0] - points[:, 1]).mean()),
    }


def _deal(position: Position, seed: tuple[int, ...]) -> Game:
    seat = position.on_turn
    tiles = np.array(as_tiles(unseen(position, seat, RULES)))
    order = np.random.default_rng(seed).permutation(tiles).tolist()
    rack, left = sorted(order[: RULES.rack_size]), order[RULES.rack_size :]
    known = position.with_rack(1 - seat, tuple(rack))
    return Game(RULES, known, Bag(tuple(left), DrawStream(b"%d %d %d" % seed)), known.racks)


def _spread(players: tuple[Player, Player], field: Field, game: Game, move: Move) -> int:
    """Play a game to its end after a move, and return the lead of the player who made it."""
    mover, views = game.position.on_turn, []
    for seat, player in enumerate(players):
        at = game.position.with_rack(1 - seat, ())
        views.append(replace(view_of(Situation(at, len(game.bag), ()), field, seat), seat=seat))
        player.warm_up(views[seat].lexicon, RULES)
        player.make_room(views[seat])
        player.new_game(views[seat])
    while True:
        game = game.play(move, field.lexicon.graph.contains)
        if game.over is not None:
            return game.position.spread(mover)
        turn = last_turn(game)
        for seat, player in enumerate(players):
            at = game.position.with_rack(1 - seat, ())
            views[seat] = views[seat].after(turn, at, views[seat].clocks)
            player.observe(views[seat], turn)
        seat = game.position.on_turn
        move = players[seat].choose(views[seat], unhurried()).move


def main() -> None:
    """Do what is asked, position by position; ``play`` prints what the first file's moves gain."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["choose", "play"])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--bag", type=int, default=1)
    parser.add_argument("--most-bag", type=int)
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seat", default="champion?time=300ms")
    parser.add_argument("--deals", type=int, default=4)
    parser.add_argument("--seed", type=int, default=62)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    given.most_bag = given.most_bag or given.bag
    ready()
    field = Field.of(load_lexicon("scowl", RULES.distribution), RULES)
    out = given.files[0] if given.what == "choose" else given.out
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    with out.open("a") as file:
        for row in _rest(field, given, len(done)):
            done.append(row)
            print(json.dumps(row), file=file, flush=True)
    if given.what == "play":
        differ = sum(row["moves"][0] != row["moves"][1] for row in done)
        print(f"{len(done)} positions, in {differ} of them the moves differ")
        for name, unit in (("win", 100), ("points", 1)):
            gains = unit * np.array([row[name] for row in done])
            error = gains.std(ddof=1) / len(gains) ** 0.5
            print(f"{name} {gains.mean():+.2f} ± {error:.2f} a position (standard error)")


def _rest(field: Field, given: argparse.Namespace, begun: int) -> Iterator[dict[str, Any]]:
    if given.what == "choose":
        yield from (choose(field, given, number) for number in range(begun, given.positions))
        return
    files = [[json.loads(line) for line in file.read_text().splitlines()] for file in given.files]
    for rows in list(zip(*files, strict=False))[begun : given.positions]:
        yield play(field, given, rows)


if __name__ == "__main__":
    main()
