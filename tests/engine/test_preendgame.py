"""The pre-endgame: small ones to the end, by brute force; cases, models, slices, bad input."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from typing import Any

import pytest
from minimax import Minimax
from rollout_positions import leave_prior, scowl
from small_games import lexicon_of

from engine.endgame.solver import EndgameSolver
from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import Generator, RankedMove
from engine.preendgame.replies import MODELS, Model
from engine.preendgame.scenarios import FullPosition, list_scenarios, orders_of
from engine.preendgame.solver import Outcome, PreEndgame
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import PASS, Exchange, Move
from engine.rules.position import Board, Position, Rack
from engine.rules.rules import Rules, standard_rules, used_tiles
from lexicons.layout import BoardLayout

ENGLISH = standard_rules()
SIZE = 3
WORD = "CARTED"
HIDDEN = {1: "AESS", 2: "AEESS", 3: "ADEESS"}
RACKS = {1: "INR", 2: "NOR", 3: "IOS"}


def tiles(text: str) -> Rack:
    return tuple(sorted(ENGLISH.distribution.alphabet.tiles(text)))


@cache
def small_rules(bag: int) -> Rules:
    """Racks of three, and few tiles: those of one word, one rack, and what is unseen then."""
    used = Counter(tiles(WORD + RACKS[bag]) + hidden(bag))
    counts = tuple(used[tile] for tile in range(len(ENGLISH.distribution.counts)))
    distribution = replace(ENGLISH.distribution, counts=counts)
    return replace(ENGLISH, distribution=distribution, rack_size=SIZE, exchange_minimum=bag)


def hidden(bag: int) -> Rack:
    return tiles(HIDDEN[bag])


@cache
def generator(bag: int) -> Generator:
    return Generator(scowl(), small_rules(bag))


@cache
def solver(bag: int) -> EndgameSolver:
    return EndgameSolver(scowl(), small_rules(bag), memory=64 << 20)


@cache
def small(bag: int, lead: int = 0, scoreless: int = 0) -> Position:
    """A word on the board, a rack of three, so many tiles in the bag; seat 1 is on turn."""
    columns = ENGLISH.layout.columns
    word = ENGLISH.distribution.alphabet.tiles(WORD)
    squares = bytearray(columns * ENGLISH.layout.rows)
    squares[7 * columns + 4 : 7 * columns + 4 + len(word)] = bytes(word)
    board = Board(ENGLISH.layout, bytes(squares))
    return Position(board, ((), tiles(RACKS[bag])), (20, 20 + lead), 1, scoreless)


def pre_endgame(
    bag: int, candidates: list[RankedMove] | None = None, lead: int = 0, **options: Any
) -> PreEndgame:
    position = small(bag, lead)
    compared = candidates or (generator(bag)).everything(position)
    return PreEndgame(solver(bag), generator(bag), position, compared, **options)


def finished(work: PreEndgame, slices: int = 10_000) -> PreEndgame:
    while not work.is_over:
        work.advance(slices)
    return work


def moves_of(bag: int, *placed: int) -> list[RankedMove]:
    """Give the best moves of so many tiles each, two of each number."""
    every = generator(bag).everything(small(bag))
    return [
        one
        for count in placed
        for one in [one for one in every if len(used_tiles(one.move)) == count][:2]
    ]


# --- brute force ----------------------------------------------------------------------------------


@cache
def endgame(position: Position, bag: int) -> int:
    """Solve an endgame: the final spread of seat 1."""
    own = EndgameSolver(scowl(), small_rules(bag), memory=64 << 20)
    own.begin(position)
    while not own.is_over:
        own.advance(10_000)
    solution = own.solution
    assert solution.proven
    scores = position.scores
    return scores[1] - scores[0] + (solution.value if position.on_turn else -solution.value)


def fulls(bag: int, belief: Rack = ()) -> Iterator[tuple[Rack, Rack]]:
    """Give every order of the unseen tiles, each tile a thing of its own: bag and rack."""
    for order in permutations(hidden(bag)):
        rack = tuple(sorted(order[bag:]))
        if not Counter(belief) - Counter(rack):
            yield order[:bag], rack


def expected(
    bag: int, one: RankedMove, lead: int = 0, *, belief: Rack = ()
) -> tuple[float, float, float, float]:
    """Play a candidate against every deal, and the static reply if tiles are left in the bag."""
    finals: Counter[int] = Counter()
    for order, rack in fulls(bag, belief):
        position = replace(small(bag, lead), racks=(rack, small(bag).racks[1]))
        full = FullPosition(position, order).after(one.move, one.score, small_rules(bag))
        if full.bag:
            reply = generator(bag).best(full.position)[0]
            full = full.after(reply.move, reply.score, small_rules(bag))
        assert not full.bag
        finals[endgame(full.position, bag)] += 1
    total = finals.total()
    wins, losses = (
        sum(times for final, times in finals.items() if final * side > 0) for side in (1, -1)
    )
    spread = sum(final * times for final, times in finals.items()) / total - lead
    return wins / total, 1 - (wins + losses) / total, losses / total, spread


def found(outcome: Outcome) -> tuple[float, float, float, float]:
    assert outcome.win == pytest.approx(outcome.wins + outcome.draws / 2)
    return outcome.wins, outcome.draws, outcome.losses, outcome.spread


@pytest.mark.parametrize("lead", [-12, 9])
def test_the_best_is_found_and_who_is_beaten_is_left(lead: int) -> None:
    every = [one for one in generator(1).everything(small(1)) if one.move != PASS][:14]
    work = finished(pre_endgame(1, every, lead))
    assert work.is_settled
    worths = {one.move: expected(1, one, lead) for one in every}

    def rank(worth: tuple[float, ...]) -> tuple[float, float]:
        return round(worth[0] + worth[1] / 2, 9), round(worth[3], 9)

    best = work.outcomes()[0]
    assert best.proven
    assert rank(found(best)) == rank(worths[best.move]) == max(map(rank, worths.values()))
    for outcome in work.outcomes():
        if outcome.proven:
            assert found(outcome)[:3] == pytest.approx(worths[outcome.move][:3])


def test_moves_that_win_equally_often_are_all_kept_if_the_spread_is_not_asked() -> None:
    every = generator(1).everything(small(1, 9))[:14]
    work = finished(pre_endgame(1, every, 9, by_spread=False))
    best, worths = work.leader(), {one.move: expected(1, one, 9) for one in every}
    level = {move for move, (wins, draws, *_) in worths.items() if wins + draws / 2 == best.win}
    assert len(level) > 1
    for outcome in work.outcomes():
        assert (outcome.move in level) == (outcome.proven and outcome.win == best.win)
        assert outcome.beaten == (outcome.move not in level)


def test_a_static_reply_that_empties_the_bag_is_exact_in_every_order() -> None:
    for one in moves_of(2, 1, 2):
        (outcome,) = finished(pre_endgame(2, [one], 4, model="static")).outcomes()
        assert outcome.proven
        assert found(outcome) == pytest.approx(expected(2, one, 4))


# --- beliefs and cases ----------------------------------------------------------------------------


def test_a_belief_in_one_rack_leaves_one_case() -> None:
    one = moves_of(1, 2)[0]
    for rack in {tuple(sorted(rack)) for rack in combinations(hidden(1), SIZE)}:
        work = finished(pre_endgame(1, [one], belief=leave_prior([rack], [2.0])))
        assert (work.cases, work.mass) == (1, 1.0)
        assert found(work.outcomes()[0]) == pytest.approx(expected(1, one, belief=rack))
        known = replace(small(1), racks=(rack, small(1).racks[1]))
        told = finished(PreEndgame(solver(1), generator(1), known, [one]))
        assert found(told.outcomes()[0]) == pytest.approx(expected(1, one, belief=rack))


def test_beliefs_are_weighed() -> None:
    one = moves_of(1, 2)[0]
    racks = tiles("AS"), tiles("ES"), ()
    worths = [expected(1, one, belief=rack) for rack in racks]
    shares = 0.6, 0.2, 0.2
    belief = leave_prior(racks[:2], [3.0, 1.0], doubt=0.2)
    (outcome,) = finished(pre_endgame(1, [one], belief=belief)).outcomes()
    mixed = tuple(
        sum(share * each[at] for share, each in zip(shares, worths, strict=True)) for at in range(4)
    )
    assert found(outcome) == pytest.approx(mixed)


def test_of_many_cases_some_are_drawn_by_their_weights() -> None:
    every, _ = list_scenarios(small(3), small_rules(3), None, 0, 400)
    weights = {one.rack: one.weight for one in every}
    sums: Counter[Rack] = Counter()
    for seed in range(300):
        drawn, mass = list_scenarios(small(3), small_rules(3), None, seed, 6)
        assert sum(one.weight for one in drawn) == pytest.approx(1)
        assert mass == pytest.approx(sum(weights[one.rack] for one in drawn))
        assert len(drawn) <= 6
        for one in drawn:
            sums[one.rack] += one.weight / 300  # type: ignore[assignment]  # floats add up too
    assert dict(sums) == pytest.approx(weights, abs=0.04)
    again, other = (list_scenarios(small(3), small_rules(3), None, seed, 6)[0] for seed in (299, 7))
    assert again == drawn != other


def test_orders_of_a_bag() -> None:
    assert orders_of((1, 2), 3, 9, 0) == ([((1, 2), 1.0)], True)
    listed, is_all = orders_of((1, 2, 2), 2, 9, 0)
    assert is_all
    assert dict(listed) == pytest.approx({(1, 2, 2): 2 / 3, (2, 2, 1): 1 / 3})
    assert len(orders_of((1, 2, 3, 4), 0, 24, 0)[0]) == 24
    drawn, is_all = orders_of((1, 2, 3, 4), 0, 5, 3)
    assert not is_all
    assert drawn == orders_of((1, 2, 3, 4), 0, 5, 3)[0] != orders_of((1, 2, 3, 4), 0, 5, 4)[0]
    assert [share for _, share in drawn] == [0.2] * 5
    assert all(sorted(order) == [1, 2, 3, 4] for order, _ in drawn)


def test_a_deal_goes_on_as_a_game_does() -> None:
    chance = random.Random(4)
    for bag in (1, 2, 3):
        for _ in range(4):
            order = tuple(chance.sample(hidden(bag), SIZE + bag))
            position = replace(small(bag), racks=(tuple(sorted(order[bag:])), small(bag).racks[1]))
            full = FullPosition(position, order[:bag])
            game = Game(small_rules(bag), position, Bag(order[:bag], DrawStream(b"")), ((), ()))
            while not full.over:
                one = chance.choice(generator(bag).everything(full.position)[:6])
                if isinstance(one.move, Exchange):
                    after = full.after(one.move, 0, small_rules(bag), seed=1)
                    held = after.position.racks[full.position.on_turn]
                    assert Counter(held) + Counter(after.bag) == Counter(
                        full.position.racks[full.position.on_turn]
                    ) + Counter(full.bag)
                    one = one._replace(move=PASS)
                full = full.after(one.move, one.score, small_rules(bag))
                game = game.play(one.move, None)
                assert (full.position, full.bag) == (game.position, game.bag.order)
            assert game.over


# --- the opponent ---------------------------------------------------------------------------------


def test_who_knows_more_does_better() -> None:
    fewer = [*moves_of(2, 1), RankedMove(PASS, 0, 0, small(2).racks[1])]
    for one in fewer:
        worths: dict[Model, Outcome] = {}
        for model in MODELS:
            (worths[model],) = finished(pre_endgame(2, [one], 3, model=model)).outcomes()
        perfect = worths["perfect"]
        for model in ("rational", "static"):
            assert perfect.win <= worths[model].win + 1e-9
        assert perfect.proven == (one.move != PASS), "after a pass there may be an exchange"
        assert not worths["rational"].proven


def test_exchanged_tiles_go_anywhere_in_the_bag() -> None:
    position, rules = small(3), small_rules(3)
    swap = Exchange(position.racks[1][:1])
    places = set()
    for bag, rack in fulls(3):
        full = FullPosition(replace(position, racks=(rack, position.racks[1])), bag)
        places.add(full.after(swap, 0, rules, seed=1).bag.index(swap.tiles[0]))
    assert places == {0, 1, 2}


# --- work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_slices_of_any_size_come_to_the_same(model: Model) -> None:
    told = []
    for slices in (1, 33, 4_000):
        own = EndgameSolver(scowl(), small_rules(2), memory=64 << 20)
        compared = [*moves_of(2, 1, 2, 3), RankedMove(PASS, 0, -1, small(2).racks[1])]
        work = PreEndgame(own, generator(2), small(2), compared, model=model, seed=5)
        done = 0
        while done < 4_000 and (step := work.advance(min(slices, 4_000 - done))):
            done += step
            _ = work.is_settled, slices > 1 and work.outcomes()  # asking changes nothing
        finished(work, 4_000)
        told.append((work.outcomes(), done >= 4_000))
    assert told[0] == told[1] == told[2]


def test_there_is_something_at_any_time() -> None:
    compared = (generator(1)).everything(small(1))
    assert [one.move for one in compared].count(PASS) == 1
    work = pre_endgame(1)
    before = work.outcomes()
    assert [one.move for one in before] == [one.move for one in compared]
    assert {(one.win, one.cases, one.proven) for one in before} == {(0.5, 0, False)}
    assert not work.is_settled
    while work.advance(20):
        outcomes = work.outcomes()
        assert {one.move for one in outcomes} == {one.move for one in compared}
        assert all(abs(one.wins + one.draws + one.losses - 1) < 1e-9 for one in outcomes)
    assert work.is_over
    assert work.advance(1_000) == 0
    assert sum(one.nodes for one in work.outcomes()) > 0


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"racks": ((), ())}, "on turn is not given"),
        ({"racks": ((), tiles("IN"))}, "IN is not the whole rack"),
        ({"racks": (tiles("AE"), tiles("INR"))}, "2 tiles"),
        ({"racks": (tiles("ZZZ"), tiles("INR"))}, "can't hold 'ZZZ'"),
        ({"racks": ((), tiles("ZZZ"))}, "tiles Z are in sight"),
        ({"scoreless_turns": 6}, "the game is over"),
    ],
)
def test_what_is_no_pre_endgame_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PreEndgame(solver(1), generator(1), replace(small(1), **change), moves_of(1, 1))


def test_a_bag_of_no_or_many_tiles_is_refused() -> None:
    full = Generator(scowl(), ENGLISH)
    opening = Position(Board.empty(ENGLISH.layout), (tiles("AEINRST"), ()), (0, 0))
    with pytest.raises(ValueError, match="86 tiles are in the bag; a pre-endgame has 1 to 7"):
        PreEndgame(solver(1), full, opening, full.best(opening))
    late = Position(small(1).board, ((), tiles("INRS")), (0, 0), 1)
    four = replace(small_rules(1), rack_size=4)
    with pytest.raises(ValueError, match="without any it is an endgame"):
        PreEndgame(solver(1), Generator(scowl(), four), late, moves_of(1, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "kind"}, "'kind'"),
        ({"most_cases": 0}, "in 0 cases"),
        ({"belief": LeavePrior.certain(tiles("ZZ"))}, "can't hold 'ZZ'"),
        ({"belief": leave_prior([tiles("A")], [0.0])}, "above 0"),
        ({"candidates": []}, "0 candidates"),
        ({"candidates": [RankedMove(Exchange(tiles("Z")), 0, 0, ())]}, "not on the rack"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"candidates": moves_of(1, 1)} | options
    with pytest.raises(ValueError, match=message):
        PreEndgame(solver(1), generator(1), small(1), **given)


# --- small boards, every move of which is worth what brute force says -----------------------------


SIDE = 7
LETTERS, WORD_MULTIPLIERS = (1, 2, 1, 1, 3, 1, 1) * SIDE, (1, 1, 1, 2, 1) * 9 + (1,) * 4
LAYOUT = BoardLayout("small", SIDE, SIDE, LETTERS, WORD_MULTIPLIERS, (3, 3))
WORDS = [
    tuple(ENGLISH.distribution.alphabet.tiles(word))
    for word in ("AT", "ETA", "RAT", "SAT", "SEA", "TEA", "ARE", "AS", "ES", "RE", "QAT")
]
KINDS = "AERSTQ?"


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
