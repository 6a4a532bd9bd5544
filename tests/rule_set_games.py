"""Games and positions of every rule set: kernels against plain Python and the slow twin.

``PYTHONPATH=tests python -m rule_set_games`` prints what was compared, for 200 games and 100
positions of each. The words are made up from the letters of each alphabet, from a seed; tiles of
several characters are among them. A second table is of as many games with few words, in which most
turns are exchanges and passes, and these end the games.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from reference import Dictionary, placements
from rollout_reference import Luck
from small_games import lexicon_of

from engine.movegen.evaluation import PLAIN
from engine.movegen.generator import Generator, legal_moves
from engine.movegen.move_codec import unpack
from engine.notation.cgp import read_cgp, write_cgp
from engine.rules.game import adjusted, settlement
from engine.rules.moves import Exchange, Move, Place
from engine.rules.position import Position, Rack, bag_count
from engine.rules.rule_sets import load_rules, rule_set_names
from engine.rules.rules import Rules, check_move, leave_of
from engine.simulation import selfplay
from engine.simulation.selfplay import play_static_games
from lexicons.alphabet import BLANK
from lexicons.leaves import LeaveTable, synthetic_leaves
from lexicons.store import Lexicon

GAMES, POSITIONS, SEED = 200, 100, 25
WORDS, FEW = 6_000, 12
LONGEST = 21


class Compared(NamedTuple):
    """What was found equal, for one rule set.

    ``stalled`` games were ended by turns without score; ``multi_character`` counts placements with
    a tile of several characters.
    """

    rules: str
    games: int
    turns: int
    exchanges: int
    stalled: int
    bingos: int
    positions: int
    placements: int
    multi_character: int


@cache
def lexicon(name: str, count: int = WORDS) -> Lexicon:
    """Make up words that look like some: vowels and other letters in turn, as often as tiles."""
    rules, chance = load_rules(name), random.Random(f"words of {name}")
    tiles, alphabet = rules.distribution, rules.distribution.alphabet
    letters = alphabet.letters
    kinds = range(1, len(tiles.counts))
    by_kind = [[tile for tile in kinds if tiles.vowels[tile] == vowel] for vowel in (False, True)]
    words = set[tuple[int, ...]]()
    while len(words) < count:
        longest = LONGEST if chance.random() < 0.02 else 9
        word, vowel = [], chance.random() < 0.4
        for _ in range(chance.randint(2, longest)):
            some = by_kind[vowel]
            word += chance.choices(some, [tiles.counts[tile] or 1 for tile in some])
            vowel = vowel != (chance.random() < 0.8)
        text = "".join(letters[tile] for tile in word)
        if len(word) <= rules.layout.rows and alphabet.word_tiles(text) == tuple(word):
            words.add(tuple(word))
    return lexicon_of(sorted(words), rules)


def word_list(name: str, folder: Path) -> Path:
    """Write the words of ``lexicon`` to a file."""
    path, words = folder / f"{name}.txt", lexicon(name)
    letters = words.distribution.alphabet.letters
    texts = ("".join(letters[tile] for tile in word) for word in words.graph.words())
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


@cache
def leaves(name: str) -> LeaveTable:
    return synthetic_leaves(load_rules(name).distribution, 1)


def compare(
    name: str, games: int = GAMES, positions: int = POSITIONS, count: int = WORDS
) -> Compared:
    """Compare games and positions of a rule set; AssertionError where they differ."""
    rules, words = load_rules(name), lexicon(name, count)
    played = play_static_games(
        words, rules, leaves(name), games, seed=SEED, record=True, evaluation=PLAIN
    )
    deals = selfplay.deals_of(rules, games, SEED, pairs=False)
    seen: list[Position] = []
    turns = exchanges = stalled = 0
    for number in range(games):
        game = PlainGame(rules, words, deals.orders[number].tolist(), int(deals.seeds[number]))
        for turn in range(int(played.turns[number])):
            assert not game.over
            seen.append(game.position)
            size = played.results.sizes[number, turn]
            rack = tuple(played.results.racks[number, turn, :size].tolist())
            assert rack == game.position.racks[game.position.on_turn]
            assert int(played.results.bags[number, turn]) == len(game.bag)
            packed = played.results.moves[number, turn : turn + 1]
            (move,) = unpack(packed, game.position.board)
            game.play(move)
            exchanges += isinstance(move, Exchange)
        turns += int(played.turns[number])
        assert game.over
        stalled += game.over == "zeroes"
        assert game.position.scores == tuple(played.scores[number].tolist())
    every = random.Random(SEED).sample(seen, min(positions, len(seen)))
    found = [compare_position(position, name, count) for position in every]
    return Compared(
        name, games, turns, exchanges, stalled, int(played.bingos.sum()),
        len(every), sum(legal for legal, _ in found), sum(many for _, many in found),
    )  # fmt: skip


class PlainGame:
    """A game by the rules of plain Python, with the kernels' draws written out."""

    def __init__(self, rules: Rules, words: Lexicon, order: list[int], seed: int) -> None:
        self.rules, self.words = rules, words
        self.bag = order
        self.chance = Luck(0, 0)
        self.chance.state = seed
        self.position = Position.empty(rules.layout)
        self.over = ""
        for seat in range(2):
            self.position = self.position.with_rack(seat, self._filled(()))

    def play(self, move: Move) -> None:
        seat = self.position.on_turn
        play = check_move(self.position, move, self.rules, self.words.graph.contains, len(self.bag))
        rack = self._filled(leave_of(self.position.racks[seat], move))
        if isinstance(move, Exchange):
            for tile in move.tiles:
                self.bag.insert(self.chance.below(len(self.bag) + 1), tile)
        score = play.score if play else 0
        self.position = self.position.after(move, score, rack, self.rules)
        settled = settlement(self.position, len(self.bag), seat, self.rules)
        if settled:
            self.over, self.position = settled[0], adjusted(self.position, settled[1])

    def _filled(self, rack: Rack) -> Rack:
        missing = self.rules.rack_size - len(rack)
        drawn, self.bag[:missing] = self.bag[:missing], []
        return tuple(sorted((*rack, *drawn)))


@cache
def dictionary(name: str, count: int) -> Dictionary:
    return Dictionary(lexicon(name, count).graph.words())


def compare_position(position: Position, name: str, count: int = WORDS) -> tuple[int, int]:
    """Compare moves, the best move and notation; return the placements, and those of long tiles."""
    rules, words = load_rules(name), lexicon(name, count)
    rack = position.racks[position.on_turn]
    slow = placements(position.board.array(), rack, dictionary(name, count), rules)
    fast = {
        move: score
        for move, score in legal_moves(position, words, rules)
        if isinstance(move, Place)
    }
    assert fast == slow
    known: Any = position.with_rack(1 - position.on_turn, ())
    best = Generator(words, rules, leaves(name), PLAIN).best(known)[0]
    table = leaves(name)
    worths = [
        1_000 * score + int(table.values[table.place(leave_of(rack, move))])
        for move, score in slow.items()
    ]
    if bag_count(known, rules) and worths:  # with an empty bag leaves are worth nothing
        assert best.equity == max(worths) or isinstance(best.move, Exchange)
        assert best.equity >= max(worths)
    assert replace(read_cgp(write_cgp(position, rules), rules), on_turn=0) == replace(
        position if position.on_turn == 0 else position.swapped(), on_turn=0
    )
    letters = rules.distribution.alphabet.letters
    long = {tile for tile, text in enumerate(letters) if tile != BLANK and len(text) > 1}
    many = sum(any(tile & 0x7F in long for tile in move.placed) for move in slow)
    return len(slow), many


def main() -> None:
    names = sys.argv[1:] or rule_set_names()
    print("rules     games  turns  exchanges  bingos  positions  placements  multi-character")
    for name in names:
        it = compare(name)
        start = f"{it.rules:<9} {it.games:>5}  {it.turns:>5}  {it.exchanges:>9}  {it.bingos:>6}"
        end = f"{it.positions:>9}  {it.placements:>10}  {it.multi_character:>15}"
        print(f"{start}  {end}", flush=True)
    print(f"\nwith {FEW} words")
    print("rules     games  turns  exchanges  ended without score")
    for name in names:
        it = compare(name, positions=20, count=FEW)
        start = f"{it.rules:<9} {it.games:>5}  {it.turns:>5}  {it.exchanges:>9}"
        print(f"{start}  {it.stalled:>19}", flush=True)


if __name__ == "__main__":
    main()
