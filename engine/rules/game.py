"""A game as a value: position, bag, turns and ending.

The same rules, secret, nonces and moves give the same game, tile for tile, so games are stored as
moves and replayed. Clocks, resignations and forfeits belong elsewhere.

Under a challenge rule other than *void* a placement stays **open** until the opponent accepts it,
by a move of its own or otherwise, or challenges it: its player draws, and an out-play ends the
game, only once it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from .bag import Bag, dealing_order
from .challenges import Ruling
from .moves import PASS, Exchange, Move, Pass, Place
from .position import Position, Rack
from .rules import Rules, Words, canonical, check_move, leave_of, stalled

Reason: TypeAlias = Literal["out", "zeroes", "challenge"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: ``rack`` is that before it, ``total`` the score after it, ``drawn`` in order.

    A play that was challenged off is ``withdrawn``, without score; one that stood a challenge is
    ``upheld``, by some rules with a ``bonus``. A turn that was ``lost`` by such a challenge is a
    pass.
    """

    seat: int
    rack: Rack
    move: Move
    score: int
    total: int
    drawn: tuple[int, ...] = ()
    words: tuple[tuple[int, ...], ...] = ()
    bingo: bool = False
    withdrawn: bool = False
    upheld: bool = False
    bonus: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a game; ``adjustments`` were added to the scores for the final ``racks``.

    ``loser`` is the seat that lost it by a challenge, whatever the score.
    """

    reason: Reason
    adjustments: tuple[int, int]
    racks: tuple[Rack, Rack]
    loser: int | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """A game between two turns, or ``over``, with final scores and the racks settled."""

    rules: Rules
    position: Position
    bag: Bag
    opening_racks: tuple[tuple[int, ...], tuple[int, ...]]  # each seat's tiles, in the order drawn
    turns: tuple[Turn, ...] = ()
    over: Ending | None = None
    opening: Position | None = None  # given at the start; its racks are what it gave
    before: Position | None = None  # position before the last turn, while it can be challenged

    @classmethod
    def start(cls, rules: Rules, bag: Bag, opening: Position | None = None) -> Game:
        """Deal: each seat draws what its rack lacks, in the order of ``dealing_order``.

        By default the board is empty and so are the racks; an ``opening`` has seat 0 on turn, and
        its tiles are not in the bag.
        """
        begun = opening or Position.empty(rules.layout)
        dealt = list(begun.racks)
        for seat in dealing_order(begun.racks):
            drawn, bag = bag.draw(rules.rack_size - len(dealt[seat]), seat)
            dealt[seat] = (*dealt[seat], *drawn)
        first, second = dealt
        position = replace(begun, racks=(tuple(sorted(first)), tuple(sorted(second))))
        return cls(rules, position, bag, (first, second), opening=opening)

    @property
    def is_open(self) -> bool:
        """Whether the last play may be challenged: its player has not drawn."""
        return self.before is not None

    @property
    def bag_count(self) -> int:
        """Tiles in the bag, without those that the player of an open play will draw."""
        return len(self.accepted().bag if self.is_open else self.bag)

    def play(self, move: Move, words: Words | None) -> Game:
        """Make the mover's move and draw; settle the racks if that ends the game.

        A placement is stored in its canonical description. Without ``words``, or under a challenge
        rule, any word will do. A move accepts an open play.

        Raises:
            IllegalMove: with the reason.
            ValueError: the game is over, perhaps by the play that was open.
        """
        if self.is_open:
            return self.accepted().play(move, words)
        if self.over is not None:
            raise ValueError(f"the game is over ({self.over.reason}); no move can be made")
        position, rules, seat = self.position, self.rules, self.position.on_turn
        is_void = rules.challenge == "void"
        play = check_move(position, move, rules, words if is_void else None, len(self.bag))
        if isinstance(move, Place):
            move = canonical(move, position.board)
        score = play.score if play else 0
        turn = Turn(
            seat=seat,
            rack=position.racks[seat],
            move=move,
            score=score,
            total=position.scores[seat] + score,
            words=play.words if play else (),
            bingo=play.bingo if play else False,
        )
        after = position.after(move, score, leave_of(turn.rack, move), rules)
        made = replace(self, position=after, turns=(*self.turns, turn))
        return replace(made, before=position) if play and not is_void else made._drawn()

    def accepted(self) -> Game:
        """Return the game with the open play accepted: its player draws.

        Raises:
            ValueError: no play is open.
        """
        if not self.is_open:
            raise ValueError("no play is open to a challenge")
        return replace(self, before=None)._drawn()

    def judged(self, ruling: Ruling) -> Game:
        """Return the game after a ruling on a challenge of the open play.

        Raises:
            ValueError: no play is open.
        """
        before = self.before
        if before is None:
            raise ValueError("no play is open to a challenge")
        if not ruling.stands:
            turn = self.turns[-1]
            total = before.scores[turn.seat]
            off = replace(turn, score=0, total=total, bingo=False, withdrawn=True)
            position = before.taken_back(self.rules)
            after = replace(self, position=position, before=None, turns=(*self.turns[:-1], off))
            return after._lost_by(turn.seat) if ruling.game_lost else after._settled()
        after = self.accepted()
        turn, challenger = after.turns[-1], self.position.on_turn
        gains = (ruling.points, 0) if turn.seat == 0 else (0, ruling.points)
        total = turn.total + ruling.points
        upheld = replace(turn, upheld=True, bonus=ruling.points, total=total)
        after = replace(
            after, position=adjusted(after.position, gains), turns=(*after.turns[:-1], upheld)
        )
        if ruling.game_lost:
            return after._lost_by(challenger)
        if not ruling.turn_lost or after.over:
            return after
        rack, total = after.position.racks[challenger], after.position.scores[challenger]
        lost = Turn(seat=challenger, rack=rack, move=PASS, score=0, total=total, lost=True)
        position = after.position.after(PASS, 0, rack, self.rules)
        return replace(after, position=position, turns=(*after.turns, lost))._settled()

    def _drawn(self) -> Game:
        """Draw for the last turn's player, and settle the racks if the turn ends the game."""
        turn, bag = self.turns[-1], self.bag
        if isinstance(turn.move, Pass):
            return self._settled()
        leave = self.position.racks[turn.seat]
        drawn, bag = bag.draw(self.rules.rack_size - len(leave), turn.seat)
        if isinstance(turn.move, Exchange):
            bag = bag.put_back(turn.move.tiles)
        position = self.position.with_rack(turn.seat, tuple(sorted((*leave, *drawn))))
        turns = (*self.turns[:-1], replace(turn, drawn=drawn))
        return replace(self, position=position, bag=bag, turns=turns)._settled()

    def _settled(self) -> Game:
        settled = settlement(self.position, len(self.bag), self.turns[-1].seat, self.rules)
        if settled is None:
            return self
        reason, adjustments = settled
        ending = Ending(reason, adjustments, self.position.racks)
        return replace(self, position=adjusted(self.position, adjustments), over=ending)

    def _lost_by(self, seat: int) -> Game:
        racks = self.position.racks
        adjustments = self.over.adjustments if self.over else (0, 0)
        return replace(self, over=Ending("challenge", adjustments, racks, loser=seat))


def settlement(
    position: Position, bag: int, mover: int, rules: Rules
) -> tuple[Reason, tuple[int, int]] | None:
    """Return why the game ends after a turn and the score adjustments; None if it goes on.

    The position is that after the turn of seat ``mover``, with both racks; ``bag`` counts tiles.
    """
    first, second = map(rules.distribution.value, position.racks)
    if not position.racks[mover] and not bag:
        return "out", (2 * second, 0) if mover == 0 else (0, 2 * first)
    if stalled(position, rules):
        return "zeroes", (-first, -second)
    return None


def adjusted(position: Position, adjustments: tuple[int, int]) -> Position:
    """Return the position with ``adjustments`` added to the scores."""
    scores = position.scores
    return replace(position, scores=(scores[0] + adjustments[0], scores[1] + adjustments[1]))
