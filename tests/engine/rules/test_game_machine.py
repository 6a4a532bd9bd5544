"""Any game, on a small board: its tiles, its scores, its end, and that it can be replayed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine.rules.bag import SECRET_SIZE, Bag, DrawStream
from engine.rules.game import Ending, Game
from engine.rules.moves import PASS, PLAYED_THROUGH, Direction, Exchange, Move, Place
from engine.rules.position import Board
from engine.rules.rules import IllegalMove, Rules, canonical, rack_tiles, score_play
from lexicons.alphabet import BLANK_FLAG, Alphabet, TileDistribution
from lexicons.layout import BoardLayout

ACROSS, DOWN = Direction.ACROSS, Direction.DOWN
STREAM = DrawStream(bytes(range(32)), (b"\x01" * 16, b"\x02" * 16))

# A game that is over in a dozen turns: three letters and blanks, a board of 5×6 squares.
_ALPHABET = Alphabet(("?", "A", "B", "C"), ("?", "a", "b", "c"))
_TILES = TileDistribution(
    "small", _ALPHABET, (3, 9, 7, 5), (0, 1, 3, 10), (False, True, False, False)
)
_LAYOUT = BoardLayout("small", 5, 6, (1, 2, 1, 3, 1, 1) * 5, (1, 1, 3, 1, 2) * 6, (2, 3))
SMALL = Rules(_TILES, _LAYOUT, rack_size=4, bingo_bonus=20, exchange_minimum=4, scoreless_limit=6)
LIMITED = replace(SMALL, scoreless_limit=5, pass_limit=2, exchange_limit=2)


def placement(board: Board, row: int, column: int, way: Direction, placed: list[int]) -> Place:
    """Lay tiles from a square on, over those that lie there, and take in the whole word."""
    down = way is DOWN
    row_step, column_step = int(down), int(not down)
    while board.at(row - row_step, column - column_step):
        row, column = row - row_step, column - column_step
    entries: list[int] = []
    left = list(placed)
    at = row, column
    while board.at(*at) or left:
        entries.append(PLAYED_THROUGH if board.at(*at) else left.pop(0))
        at = at[0] + row_step, at[1] + column_step
    return Place(row, column, way, tuple(entries))


def placements(game: Game, placed: list[int]) -> list[Place]:
    """Every place where these tiles may lie in this order; any letters are a word."""
    board, found = game.position.board, []
    starts = product(range(_LAYOUT.rows), range(_LAYOUT.columns), (ACROSS, DOWN))
    for row, column, way in starts:
        place = placement(board, row, column, way, placed)
        try:
            score_play(board, place, game.rules)
        except IllegalMove:
            continue
        if not board.at(row, column):
            found.append(place)
    return found


def score_by_runs(board: Board, place: Place, rules: Rules) -> int:
    """A second scorer: look at all rows and columns before and after, count runs that changed."""
    after = board.with_move(place)
    rows, columns = rules.layout.rows, rules.layout.columns
    lines = [[(row, column) for column in range(columns)] for row in range(rows)]
    lines += [[(row, column) for row in range(rows)] for column in range(columns)]
    score = rules.bingo_bonus if len(place.placed) == rules.rack_size else 0
    for line in lines:
        run: list[tuple[int, int]] = []
        for square in [*line, (-1, -1)]:
            if after.at(*square):
                run.append(square)
                continue
            if len(run) > 1 and any(not board.at(*each) for each in run):
                score += _run_score(board, after, run, rules)
            run = []
    return score


def _run_score(before: Board, after: Board, run: list[tuple[int, int]], rules: Rules) -> int:
    total, times = 0, 1
    for row, column in run:
        tile = after.at(row, column)
        points = 0 if tile & BLANK_FLAG else rules.distribution.points[tile]
        at = row * rules.layout.columns + column
        if not before.at(row, column):
            points *= rules.layout.letter_multipliers[at]
            times *= rules.layout.word_multipliers[at]
        total += points
    return total * times


class AnyGame(RuleBasedStateMachine):
    """Whatever is played, tiles are conserved, scores add up, the game ends and can be replayed."""

    @initialize(
        rules=st.sampled_from([SMALL, LIMITED]),
        secret=st.binary(min_size=1, max_size=4),
        mirrored=st.booleans(),
    )
    def deal(self, rules: Rules, secret: bytes, mirrored: bool) -> None:
        self.kind, self.secret, self.mirrored = rules, secret.ljust(SECRET_SIZE), mirrored
        self.game = self.dealt()
        self.totals = [0, 0]

    def dealt(self) -> Game:
        stream = DrawStream(self.secret, (b"one", b"two"))
        return Game.start(self.kind, Bag.shuffled(_TILES, stream, mirrored=self.mirrored))

    @property
    def rack(self) -> tuple[int, ...]:
        return self.game.position.racks[self.game.position.on_turn]

    def make(self, move: Move, score: int = 0) -> None:
        before = self.game
        if before.over is not None:
            with pytest.raises(ValueError, match=r"^the game is over"):
                before.play(move, None)
            return
        self.game = before.play(move, None)
        turn = self.game.turns[-1]
        assert (turn.seat, turn.score) == (before.position.on_turn, score)
        self.totals[turn.seat] += score
        assert turn.total == self.totals[turn.seat]
        assert turn.rack == before.position.racks[turn.seat]
        assert self.game.turns[:-1] == before.turns
        self.check_rest(before)

    def check_rest(self, before: Game) -> None:
        """The player who was not on turn has what he had."""
        seat, after = 1 - before.position.on_turn, self.game.position
        assert after.racks[seat] == before.position.racks[seat]
        assert after.on_turn == seat

    @rule(data=st.data(), most=st.booleans())
    def place(self, data: st.DataObject, most: bool) -> None:
        order = data.draw(st.permutations(self.rack), label="order")
        count = data.draw(st.integers(len(order) if most else 1, len(order)), label="count")
        letters = st.integers(1, len(_ALPHABET))
        placed = [tile or data.draw(letters) | BLANK_FLAG for tile in order[:count]]
        options = placements(self.game, placed)
        if options:
            chosen = data.draw(st.sampled_from(options), label="place")
            board = self.game.position.board
            self.make(chosen, score_by_runs(board, chosen, self.kind))
            assert self.game.over or self.game.turns[-1].move == canonical(chosen, board)

    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(1, self.kind.rack_size))
        chosen = data.draw(st.permutations(self.rack))[:count]
        move = Exchange(tuple(sorted(chosen)))
        if self.game.over is not None:
            self.make(move)
        elif len(self.game.bag) < self.kind.exchange_minimum:
            with pytest.raises(IllegalMove, match="tiles in the bag"):
                self.game.play(move, None)
        elif self.exchanges_of(self.game.position.on_turn) >= self.kind.exchange_limit:
            with pytest.raises(IllegalMove, match="no exchange is left"):
                self.game.play(move, None)
        else:
            self.make(move)

    def exchanges_of(self, seat: int) -> int:
        turns = self.game.turns
        return sum(turn.seat == seat and isinstance(turn.move, Exchange) for turn in turns)

    @rule()
    def do_nothing(self) -> None:
        self.make(PASS)

    @invariant()
    def tiles_are_conserved(self) -> None:
        position = self.game.position
        lying = rack_tiles(tile for tile in position.board.squares if tile)
        everywhere = Counter(lying) + Counter(self.game.bag.order)
        for rack in position.racks:
            assert rack == tuple(sorted(rack))
            everywhere += Counter(rack)
        assert everywhere == Counter(_TILES.all_tiles())

    @invariant()
    def racks_are_full_while_there_are_tiles(self) -> None:
        racks = self.game.position.racks
        assert all(len(rack) == self.kind.rack_size for rack in racks) or not self.game.bag.order

    @invariant()
    def scores_add_up(self) -> None:
        over, scores = self.game.over, self.game.position.scores
        settled = over.adjustments if over else (0, 0)
        assert scores == (self.totals[0] + settled[0], self.totals[1] + settled[1])

    @invariant()
    def it_is_over_when_somebody_is_out_or_nobody_scores(self) -> None:
        over, position = self.game.over, self.game.position
        values = [_TILES.value(rack) for rack in position.racks]
        if not self.game.bag.order and () in position.racks:
            winner = position.racks.index(())
            assert over is not None
            assert over.reason == "out"
            assert over.adjustments[winner] == 2 * values[1 - winner]
            assert over.adjustments[1 - winner] == 0
        elif self.stalls():
            assert over == Ending("zeroes", (-values[0], -values[1]), position.racks)
        else:
            assert over is None

    def stalls(self) -> bool:
        """Whether the last turns end the game: all scoreless, or all passes."""
        last = self.game.turns[-self.kind.scoreless_limit :]
        placed = any(isinstance(turn.move, Place) for turn in last)
        if len(last) == self.kind.scoreless_limit and not placed:
            return True
        passes = self.game.turns[-self.kind.pass_limit :]
        return len(passes) == self.kind.pass_limit and all(turn.move == PASS for turn in passes)

    def teardown(self) -> None:
        """Let it end, then play it again from its moves."""
        if not hasattr(self, "game"):
            return
        for _ in range(self.kind.scoreless_limit):
            self.make(PASS)
        assert self.game.over is not None
        again = self.dealt()
        for turn in self.game.turns:
            again = again.play(turn.move, None)
        assert again == self.game


TestAnyGame = AnyGame.TestCase
TestAnyGame.settings = settings(max_examples=60, stateful_step_count=25)


def test_a_game_of_the_state_machines_kind_is_played_until_somebody_is_out() -> None:
    game = Game.start(SMALL, Bag.shuffled(_TILES, STREAM))
    while game.over is None:
        rack = game.position.racks[game.position.on_turn]
        for count in range(1, len(rack) + 1):
            options = placements(game, [tile or 1 | BLANK_FLAG for tile in rack[:count]])
            if options:
                game = game.play(options[0], None)
                break
        else:
            game = game.play(PASS, None)
    assert game.over.reason == "out"
