"""Pre-endgames on small boards, every move of which is worth what brute force says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import pytest
from minimax import Minimax
from small_games import lexicon_of

from engine.endgame.solver import EndgameSolver
from engine.movegen.generator import Generator
from engine.preendgame.solver import Outcome, PreEndgame
from engine.rules.moves import PASS, Move
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import Rules, standard_rules
from lexicons.layout import BoardLayout

ENGLISH = standard_rules()
SIDE = 7
LETTERS, WORD_MULTIPLIERS = (1, 2, 1, 1, 3, 1, 1) * SIDE, (1, 1, 1, 2, 1) * 9 + (1,) * 4
LAYOUT = BoardLayout("small", SIDE, SIDE, LETTERS, WORD_MULTIPLIERS, (3, 3))
WORDS = [
    tuple(ENGLISH.distribution.alphabet.tiles(word))
    for word in ("AT", "ETA", "RAT", "SAT", "SEA", "TEA", "ARE", "AS", "ES", "RE", "QAT")
]
KINDS = "AERSTQ?"


def tiles(text: str) -> Rack:
    return tuple(sorted(ENGLISH.distribution.alphabet.tiles(text)))


def small_game(
    word: Rack, own: Rack, hidden: Rack, scores: tuple[int, int], scoreless: int = 0
) -> tuple[Position, Rules]:
    """Return a word on a small board, a rack of seat 1, and rules that leave these tiles unseen."""
    used = Counter((*own, *hidden, *word))
    counts = tuple(used[tile] for tile in range(len(ENGLISH.distribution.counts)))
    distribution = replace(ENGLISH.distribution, counts=counts)
    rules = replace(ENGLISH, distribution=distribution, layout=LAYOUT, rack_size=len(own))
    squares = bytearray(SIDE * SIDE)
    squares[3 * SIDE + 2 : 3 * SIDE + 2 + len(word)] = bytes(word)
    return Position(Board(LAYOUT, bytes(squares)), ((), own), scores, 1, scoreless), rules


def position_of(number: int, bag: int) -> tuple[Position, Rules]:
    """Return a word on a small board, a small rack, so many tiles in the bag, and the rules."""
    chance = random.Random(number)
    word = chance.choice([word for word in WORDS if len(word) > 2])
    size = 4 - bag  # so that plain minimax is soon done
    pool = tiles("".join(chance.choices(KINDS, (3, 4, 3, 3, 3, 1, 1), k=2 * size + bag)))
    own = tuple(sorted(chance.sample(pool, size)))
    hidden = tuple((Counter(pool) - Counter(own)).elements())
    scores = 20, 20 + chance.randint(-15, 15)
    return small_game(word, own, hidden, scores, chance.choice([0, 0, 1, 4, 5]))


def deals(position: Position, rules: Rules, bag: int) -> Iterator[tuple[Rack, Rack]]:
    """Give every order of the unseen tiles, each tile a thing of its own: bag and rack."""
    used = Counter(position.racks[1]) + Counter(tile for tile in position.board.squares if tile)
    left = Counter(dict(enumerate(rules.distribution.counts))) - used
    for order in permutations(left.elements()):
        yield order[:bag], tuple(sorted(order[bag:]))


def worths(position: Position, rules: Rules, bag: int, moves: list[Move]) -> dict[Move, list[int]]:
    """Return what each move leads to in every deal, if both sides see everything then."""
    minimax = Minimax(lexicon_of(WORDS, rules), rules)
    return {
        move: [
            position.spread(1)
            + minimax.after(replace(position, racks=(rack, position.racks[1])), move, order)
            for order, rack in deals(position, rules, bag)
        ]
        for move in moves
    }


def proven_outcomes(position: Position, rules: Rules, bag: int) -> list[Outcome]:
    """Compare all moves, the best first, and check their shares and the best by brute force."""
    lexicon = lexicon_of(WORDS, rules)
    generator = Generator(lexicon, rules)
    moves = generator.everything(position)
    expected = worths(position, rules, bag, [row.move for row in moves])
    solver = EndgameSolver(lexicon, rules, memory=64 << 20)
    work = PreEndgame(
        solver, generator, position, moves, protected=[row.move for row in moves], most_cases=10_000
    )
    while work.advance(100_000):
        pass
    outcomes = work.outcomes()
    assert work.compared == work.proven == len(moves) == len(outcomes)
    for outcome in outcomes:
        finals = expected[outcome.move]
        shares = [sum(final * side > 0 for final in finals) / len(finals) for side in (1, -1)]
        assert outcome.proven
        assert outcome.error == 0
        assert (outcome.wins, outcome.losses) == pytest.approx(tuple(shares))

    def rank(finals: list[int]) -> tuple[float, float]:
        return round(sum((f > 0) - (f < 0) for f in finals) / len(finals), 9), sum(finals)

    assert rank(expected[outcomes[0].move]) == max(map(rank, expected.values()))
    return outcomes


@pytest.mark.parametrize("bag", [1, 2])
@pytest.mark.parametrize("number", range(30))
def test_every_move_is_worth_what_brute_force_says(number: int, bag: int) -> None:
    position, rules = position_of(number, bag)
    proven_outcomes(position, rules, bag)


def test_a_pass_may_be_best() -> None:
    """Three S and a Q are unseen, and no placement wins if it draws the Q."""
    position, rules = small_game(WORDS[3], tiles("ERT"), tiles("QSSS"), (20, 22))
    best, *others = proven_outcomes(position, rules, 1)
    assert (best.move, best.wins) == (PASS, 1)
    assert max(outcome.win for outcome in others) == 0.75
