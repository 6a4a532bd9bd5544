"""A game as its player may know it: messages in, ``View`` values out, without I/O.

Turns missed while the connection was lost come with the next offer; repeated turns are dropped.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import UNSET

from bot.equipment import Resources
from bot.player import ExchangedCount, Observed, Refusal, Result, View
from engine.notation.cgp import read_cgp, read_rack
from engine.notation.move_text import NotationError, parse_move, parse_told
from engine.rules.moves import Move, Place
from engine.rules.position import Position, Rack, bag_count, unseen
from engine.rules.rules import Rules
from protocol.errors import PeerError
from protocol.messages import Drawn, GameOver, NewGame, Played, Refused, Started, YourTurn
from protocol.parts import UPHELD, WITHDRAWN

from .offers import beginning


class MissedPlays(Exception):
    """Events of a game are missing; the bot has to ask for the game again."""


class Watched:
    """One game as seen from one seat; methods raise PeerError if a message makes no sense.

    Args:
        offer: the offer, in which ``you`` is set.
        rules: its rules.
        resources: words, tables and threads of the player.
        seed: for the player's random choices.

    Raises:
        Declined: the opening makes no sense.
    """

    def __init__(self, offer: NewGame, rules: Rules, resources: Resources, seed: int) -> None:
        assert offer.you is not None, "only who has a seat can play"
        begun = beginning(offer, rules)
        self.seat = offer.you
        self._alphabet = rules.distribution.alphabet
        self._sent: dict[tuple[int, int], Move] = {}
        self.view = replace(
            View.of(begun, rules, resources, seed),
            game=offer.game,
            seat=offer.you,
            players=offer.players,
            bag=sum(unseen(begun, offer.you, rules)),
            clocks=(offer.time.initial_ms, offer.time.initial_ms),
            time=offer.time,
            opponent_style=offer.known_style,
        )
        self.opening: View | None = None
        """The view at the start, once begun; without a rack if the game was resumed midway."""
        self._deadline_ms = 0  # of the turn, as last received
        self.news: list[tuple[View, Observed]] = []
        """Turns, each with the view after it; the caller tells the player and clears the list."""
        self.seen = -1
        """The number of the last known event, -1 before the start."""
        self.open_play: Observed | None = None
        """The last play, while it may be challenged; not in ``news`` yet."""
        self._before = begun
        """The position before the last play."""

    def take_up(self, offer: NewGame) -> None:
        """Take an offer and its turns; at a gap raise MissedPlays, after the turns before it."""
        if offer.seq == 0:
            return
        if self.opening is None:
            bag = bag_count(self.view.position, self.view.rules)
            self.view = self.opening = replace(self.view, bag=bag)
            self.seen = 0
        for turn in offer.history:
            self.played(turn)
        if self.seen < offer.seq - 1:
            raise MissedPlays(f"event {self.seen + 1} of game {offer.game} was not told")
        if offer.rack is not None:
            self._hold(offer.rack)
        if offer.clocks is not None:
            self.view = replace(self.view, clocks=offer.clocks)

    def started(self, message: Started) -> None:
        """Take the start: the rack, the bag and the clocks."""
        if message.rack is not None:
            self._hold(message.rack)
        self.view = replace(self.view, bag=message.bag, clocks=message.clocks)
        self.opening, self.seen = self.view, 0

    def played(self, message: Played) -> None:
        """Take a turn, unless it is known; raise MissedPlays if an earlier turn is missing."""
        if message.seq <= self.seen:
            return
        if message.seq != self.seen + 1:
            raise MissedPlays(f"event {self.seen + 1} of game {message.game} was not told")
        self._sent.clear()
        self.seen = message.seq
        if message.move == WITHDRAWN:
            self._withdrawn(message)
            return
        self.accept()
        if message.move == UPHELD:
            self._upheld(message)
            return
        play = Observed(
            seq=message.seq,
            seat=message.seat,
            move=self._move(message),
            score=message.score,
            scores=message.scores,
            bag=message.bag,
            think_ms=message.think_ms,
            words=message.words,
            lost=message.challenge == "lost",
        )
        before = self._before = self.view.position
        board = before.board.with_move(play.move) if isinstance(play.move, Place) else before.board
        counts = before.counts_after(play.move, self.view.rules)
        position = Position(board, before.racks, play.scores, 1 - play.seat, *counts)
        self.view = self.view.after(play, position, message.clocks)
        if message.rack is not None:
            self._hold(message.rack)
        elif message.seat != self.seat:
            self._check_in_sight(f"'played' {message.seq}")
        if message.challenge == "open":
            self.open_play = play
        else:
            self.news.append((self.view, play))

    def drawn(self, message: Drawn) -> None:
        """Take the draw after an own play that stands."""
        self._hold(message.rack)
        self.accept()

    def accept(self) -> None:
        """Note that the open play, if any, stands."""
        if self.open_play is not None:
            self.news.append((self.view, self.open_play))
        self.open_play = None

    def _withdrawn(self, message: Played) -> None:
        play = self._last(message)
        taken_back = replace(play, score=0, scores=message.scores, bag=message.bag, withdrawn=True)
        position = self._before.taken_back(self.view.rules)
        position = replace(position, scores=message.scores, on_turn=1 - message.seat)
        view = self.view.with_last(taken_back)
        self.view = replace(view, position=position, bag=message.bag, clocks=message.clocks)
        self.open_play = None
        if message.rack is not None:
            self._hold(message.rack)
        if self.news and self.news[-1][1].seq == play.seq:
            self.news.pop()  # the player hears of the play only as withdrawn
        self.news.append((self.view, taken_back))

    def _upheld(self, message: Played) -> None:
        """Take the points for a failed challenge; also the rack, if one came, and the clocks."""
        play = replace(self._last(message), bonus=message.score, scores=message.scores)
        view = self.view.with_last(play)
        position = replace(view.position, scores=message.scores)
        self.view = replace(view, position=position, clocks=message.clocks)
        if message.rack is not None:
            self._hold(message.rack)
        if self.news:
            self.news[-1] = self.view, play

    def _last(self, message: Played) -> Observed:
        if not self.view.history or not isinstance(self.view.history[-1].move, Place):
            raise self._fault(f"'played' {message.seq}: there is no play to challenge")
        return self.view.history[-1]

    def turn(self, message: YourTurn) -> None:
        """Take the arbiter's position, which overrides ours, and add refusals that were lost."""
        view = self.view
        try:
            read = read_cgp(message.position, view.rules)
        except NotationError as error:
            raise PeerError("bad_message", f"in 'your_turn': {error}", game=message.game) from None
        if self.seat == 1:
            read = read.swapped()
        refused = view.refused
        for attempt in range(len(refused) + 1, message.attempt):
            lost = self._sent.get((message.seq, attempt))
            if lost is not None:
                refused = (*refused, Refusal(lost, "unknown", "refused; the reason was lost"))
        self.view = replace(
            view, position=read, bag=message.bag, clocks=message.clocks, refused=refused
        )
        if message.challenge_ms is UNSET:
            self.accept()
        self._deadline_ms = message.deadline_ms

    def sent(self, seq: int, attempt: int, move: Move) -> None:
        """Note a move that is sent."""
        self._sent[seq, attempt] = move

    def refused(self, message: Refused) -> Move | None:
        """Take a refusal and its cost on the clock; return the refused move, if known."""
        clocks = list(self.view.clocks)
        clocks[self.seat] -= max(0, self._deadline_ms - message.deadline_ms)
        self._deadline_ms = message.deadline_ms
        self.view = replace(self.view, clocks=(clocks[0], clocks[1]))
        move = self._sent.get((message.seq, message.attempt))
        if move is not None:
            refusal = Refusal(move, message.code, message.message)
            self.view = replace(self.view, refused=(*self.view.refused, refusal))
        return move

    def result(self, message: GameOver) -> Result:
        """Convert the end of the game to the engine's terms."""
        first, second = message.racks
        return Result(
            outcome=message.outcome,
            winner=message.winner,
            scores=message.scores,
            racks=(self._rack(first), self._rack(second)),
            message=message.message,
        )

    def _hold(self, text: str) -> None:
        self.view = self.view.holding(self._rack(text))
        self._check_in_sight("a rack")

    def _check_in_sight(self, what: str) -> None:
        try:
            unseen(self.view.position, self.seat, self.view.rules)
        except ValueError as error:
            raise self._fault(f"{what}: {error}") from None

    def _rack(self, text: str) -> Rack:
        try:
            return read_rack(text, "a rack", self._alphabet, self.view.rules.rack_size)
        except NotationError as error:
            raise self._fault(str(error)) from None

    def _move(self, message: Played) -> Move | ExchangedCount:
        try:
            parse = parse_move if message.seat == self.seat else parse_told
            move = parse(message.move, self.view.position.board, self._alphabet)
        except NotationError as error:
            raise self._fault(f"'played' {message.seq}: {error}") from None
        return ExchangedCount(move) if isinstance(move, int) else move

    def _fault(self, reason: str) -> PeerError:
        return PeerError("bad_message", reason, game=self.view.game)
