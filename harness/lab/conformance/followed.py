"""A game as a player follows it, and what is wrong in what the server tells of it."""

from __future__ import annotations

from bot.seat.draw_audit import DrawsWitness
from engine.notation.cgp import read_cgp
from engine.rules.bag import DrawError
from engine.rules.rule_sets import rules_in_play
from harness.lab.conformance.clauses import Clause, Report, Surprise
from protocol import messages as wire
from protocol.errors import PeerError
from protocol.nonces import SeatNonce
from protocol.parts import OUTCOMES
from protocol.session import BotSession

SLACK_MS = 500
"""How far a time that we measure may be from the server's."""


class Followed:
    """One game, from its first offer, in which ``you`` is set.

    Raises:
        ValueError: its rules can't be played here.
    """

    def __init__(self, report: Report, offer: wire.NewGame) -> None:
        assert offer.you is not None
        self.offer, self.me = offer, offer.you
        self.nonce = SeatNonce(offer.game, offer.you)
        self.plays: list[wire.Played] = []
        self.slack_ms = SLACK_MS
        """How far what a turn costs may be from ``took_ms``: it has a round trip, too."""
        self.took_ms = -1
        """What passed from ``your_turn`` to our answer; -1: not measured."""
        self._report = report
        self._session, self._witness = BotSession(), DrawsWitness(offer)
        self._rules = rules_in_play(offer.rules)
        self._alphabet = self._rules.distribution.alphabet
        # What was true after the last event:
        self._rack, self._bag, self._scores = "", -1, (0, 0)
        self._clocks = [offer.time.initial_ms] * 2
        self._turns = 0
        """How many turns we have taken."""
        self._is_back = False
        """Whether the game was resumed in the turn that is on."""
        if offer.opening is not None:
            self._scores = read_cgp(offer.opening, self._rules).scores

    def say(self, message: wire.GameMessage) -> wire.GameMessage:
        """Note a message of ours, and return it for sending."""
        self._witness.hear(message)
        return self._session.send(message)

    def hear(self, message: wire.Message) -> None:
        """Take a message of this game, and report what is wrong with it.

        Raises:
            Surprise: the server may not send this now.
        """
        self._witness.hear(message)
        try:
            event, _replies = self._session.receive(message)
        except PeerError as error:
            raise Surprise(str(error)) from None
        match event:
            case wire.NewGame(seq=seq) if seq:
                self._is_back = True
                for play in event.history:
                    if play.seq > len(self.plays):
                        self._played(play)
            case wire.Started(rack=rack):
                self._rack, self._bag = rack or "", event.bag
                full = len(self._alphabet.tiles(self._rack)) == self._rules.rack_size
                self._same(Clause.OFFER, event, "a full rack", full, True)
                self._same(Clause.CLOCKS, event, "clocks", [*event.clocks], self._clocks)
            case wire.YourTurn():
                self._turn(event)
            case wire.Played():
                self._played(event)
            case wire.GameOver():
                self._end(event)

    def _same(self, clause: Clause, event: object, what: str, came: object, due: object) -> None:
        """Report a difference between what an event has and what it should have."""
        if came != due:
            said = f"{type(event).__struct_config__.tag} {getattr(event, 'seq', '')}"  # type: ignore[attr-defined]
            self._report.fail(clause, f"expected {what} {due} in {said}; there came {came}")

    def _turn(self, turn: wire.YourTurn) -> None:
        me, time = self.me, self.offer.time
        self._same(Clause.TURN, turn, "rack", turn.rack, self._rack)
        self._same(Clause.TURN, turn, "bag", turn.bag, self._bag)
        try:
            position = read_cgp(turn.position, self._rules)
        except ValueError as error:
            self._report.fail(Clause.POSITION, f"{turn.position!r} can't be read: {error}")
        else:
            rack, other = map(self._alphabet.text, position.racks)
            told = f"{rack}/{other}", position.scores
            ours_first = self._scores[me], self._scores[1 - me]
            self._same(Clause.POSITION, turn, "position", told, (f"{turn.rack}/", ours_first))
        if self._is_back:  # its clock has run meanwhile
            ran = turn.clocks[me] <= self._clocks[me], turn.clocks[1 - me]
            self._same(Clause.CLOCKS, turn, "clocks, run on", ran, (True, self._clocks[1 - me]))
            return
        self._same(Clause.CLOCKS, turn, "clocks", [*turn.clocks], self._clocks)
        caps = time.move_cap_ms, time.first_move_ms if not self._turns else None
        bank = self._clocks[me] + time.max_overtime_ms
        due = max(0, min(bank, *(bank if cap is None else cap for cap in caps))) + time.margin_ms
        self._same(Clause.DEADLINE, turn, "deadline_ms", turn.deadline_ms, due)

    def _played(self, play: wire.Played) -> None:
        seat, ours = play.seat, play.seat == self.me
        scores, clocks = [*self._scores], [*self._clocks]
        scores[seat] += play.score
        clocks[seat] += self.offer.time.increment_ms - play.think_ms
        self._same(Clause.PLAYED, play, "scores", [*play.scores], scores)
        self._same(Clause.PLAYED, play, "a rack", play.rack is not None, ours)
        cost = f"clocks, {play.think_ms} ms of seat {seat} taken off,"
        self._same(Clause.CLOCKS, play, cost, [*play.clocks], clocks)
        if ours:
            self._rack, self._turns, self._is_back = play.rack or "", self._turns + 1, False
            least_ms = self.took_ms - self.offer.time.lag_ms - play.host_lag_ms - 50
            if self.took_ms >= 0 and not least_ms <= play.think_ms <= self.took_ms + self.slack_ms:
                why = f"expected think_ms of about {self.took_ms} in played {play.seq}"
                self._report.fail(Clause.CHARGED, f"{why}; there came {play.think_ms}")
            self.took_ms = -1
        self._clocks, self._bag, self._scores = list(play.clocks), play.bag, play.scores
        self.plays.append(play)

    def _end(self, over: wire.GameOver) -> None:
        report = self._report
        settled = zip(self._scores, over.rack_adjustments, over.time_penalties, strict=True)
        first, second = (score + racks - late for score, racks, late in settled)
        self._same(Clause.RESULT, over, "scores", over.scores, (first, second))
        if OUTCOMES[over.outcome].won_by == "score":
            winner = None if first == second else int(first < second)
            self._same(Clause.RESULT, over, "winner", over.winner, winner)
            report.met(Clause.RESULT)
        try:
            unsure = self._witness.check(over)
        except DrawError as error:
            report.fail(Clause.DRAWS, f"in game {over.game}: {error}")
        else:
            report.skip(unsure, *[Clause.DRAWS] * bool(unsure))
            report.met(*[Clause.DRAWS] * (not unsure))

    def bad_moves(self) -> tuple[str, str]:
        """Return a text that is no move, and the exchange of a tile that is not on the rack."""
        held = self._alphabet.tiles(self._rack)
        other = next(tile for tile in range(1, len(self._alphabet) + 1) if tile not in held)
        return "no move", f"-{self._alphabet.text((other,))}"

    def good_move(self) -> str:
        """Return an exchange of a tile for our first turn, and then a pass."""
        if self._turns or self._bag < self._rules.exchange_minimum:
            return "-"
        return f"-{self._alphabet.text(self._alphabet.tiles(self._rack)[-1:])}"
