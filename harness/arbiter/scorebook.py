"""The state of one game as its arbiter keeps it: bag, board, racks, clocks, turns, verdict.

Only records (``harness.arbiter.records``) change it, apart from the running clock: a live game
makes and takes a record, a restored game takes the journal's, to the same state. Times are
milliseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move, parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.challenges import Ruling, judge
from engine.rules.game import Game
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import IllegalMove, stalled
from lexicons.store import Lexicon
from protocol.parts import MAX_SENTENCE, OUTCOMES, UPHELD, WITHDRAWN, Accusation, Outcome, Style

from .clock import Clock
from .records import (
    Accepted,
    Began,
    ClockNote,
    Commitments,
    Ended,
    Failed,
    Given,
    Opened,
    Record,
    RefusedMove,
    Thought,
    TurnRecord,
)

ATTEMPTS = 3
"""Illegal moves in one turn that lose the game."""

CHALLENGE_MS = 20_000
"""Time to challenge a play if the rules in play do not set it."""


def accusation(seat: int, code: str, message: str) -> Accusation:
    """Return an accusation with the message, which may quote a seat or its process, cut to fit."""
    return Accusation(seat=seat, code=code, message=message[:MAX_SENTENCE])


class Scorebook:
    """One game, from its setup to its end; raises ValueError if its rules can't be played here."""

    def __init__(self, opened: Opened, lexicon: Lexicon) -> None:
        self.opened = opened
        self.rules = rules_in_play(opened.rules)
        self.opening = read_cgp(opened.opening, self.rules) if opened.opening else None
        """The position that the game begins in, if one was given."""
        self.commitments = Commitments()
        self.nonces: tuple[str, str] | None = None
        self.game: Game | None = None
        self.turns: list[TurnRecord] = []
        self.refusals: list[RefusedMove] = []
        self.faults: list[Accusation] = []
        self.evidence: list[str] = []
        self.styles: list[Style | None] = [None, None]
        """By seat, its opponent's style as the seat last reported it."""
        self.ended: Ended | None = None
        self.was_voided = False
        """Whether whoever runs the server ended it, as opposed to a failure."""
        self.attempt = 1
        self.thoughts: list[Thought] = []
        """Those of the current turn."""
        self._words = lexicon.graph.contains
        self._alphabet = self.rules.distribution.alphabet
        self._clocks = [Clock(opened.time.initial_ms), Clock(opened.time.initial_ms)]
        self._started_ms: int | None = None
        self._spent_ms = 0

    @classmethod
    def restored(
        cls, records: Iterable[Record], note: ClockNote | None, lexicon: Lexicon
    ) -> Scorebook:
        """Return the game of a journal; its clock stands still until ``start_clock``.

        Raises:
            ValueError: the records are not those of a game, complete and in order, or its rules
                can't be played here.
        """
        opened, *rest = records
        if not isinstance(opened, Opened):
            raise ValueError(f"the first record of a game is 'opened', not {opened!r}")
        book = cls(opened, lexicon)
        for record in rest:
            book.take(record)
        if note is not None and note.seq == book.next_seq and book.on_turn is not None:
            full = book._clocks[book.on_turn].remaining_ms
            book._spent_ms = max(0, full - note.clocks[book.on_turn])
        return book

    def copy(self) -> Scorebook:
        """Return another book of this game, which changes by itself."""
        book = copy(self)
        book.follow(self)
        return book

    def follow(self, other: Scorebook) -> None:
        """Take over the state of another book of this game."""
        lists = {name: list(kept) for name, kept in vars(other).items() if isinstance(kept, list)}
        vars(self).update(vars(other) | lists)

    # --- the game -------------------------------------------------------------------------------

    @property
    def on_turn(self) -> int | None:
        """The seat to move; None before the start and after the end."""
        return self.game.position.on_turn if self.game and not self.ended else None

    @property
    def ends_if_accepted(self) -> bool:
        """Whether the open play is an out-play, which ends the game unless it is challenged."""
        return self.is_open and self.game is not None and self.game.accepted().over is not None

    @property
    def next_seq(self) -> int:
        """The number of the next event; the start is event 0."""
        return len(self.turns) + (self.game is not None) + (self.ended is not None)

    @property
    def bag_count(self) -> int:
        """Tiles in the bag, without those that the player of an open play will draw."""
        return self.game.bag_count if self.game else self.rules.distribution.total

    @property
    def is_open(self) -> bool:
        """Whether the last play may be challenged, as far as time allows."""
        return self.game is not None and self.game.is_open and self.ended is None

    @property
    def scores(self) -> tuple[int, int]:
        """Both totals, racks settled if the game was played out, overtime not yet deducted."""
        return self.game.position.scores if self.game else (0, 0)

    @property
    def opening_racks(self) -> tuple[str, str] | None:
        """What the opening gives each seat, as text; None without an opening."""
        if self.opening is None:
            return None
        first, second = self.opening.racks
        return self._alphabet.text(first), self._alphabet.text(second)

    def rack_text(self, seat: int) -> str:
        """Return the rack of a seat as text."""
        return self._alphabet.text(self.game.position.racks[seat]) if self.game else ""

    # --- its clocks -----------------------------------------------------------------------------

    @property
    def clock_runs(self) -> bool:
        """Whether a clock is running."""
        return self._started_ms is not None

    def start_clock(self, now_ms: int) -> None:
        """Start the clock of the seat to move, unless it runs."""
        if self._started_ms is None and self.on_turn is not None:
            self._started_ms = now_ms

    def excuse(self, ms: int) -> None:
        """Do not charge ``ms`` of the current turn, in which the seat to move could do nothing."""
        if self._started_ms is not None:
            self._started_ms += ms

    def elapsed(self, now_ms: int) -> int:
        """Return the duration of the current turn, in milliseconds."""
        running = 0 if self._started_ms is None else max(0, now_ms - self._started_ms)
        return self._spent_ms + running

    def limit(self) -> int:
        """Return how many milliseconds the current turn may take, inclusive."""
        assert self.on_turn is not None, "nobody is to move"
        return self._clocks[self.on_turn].limit(self.opened.time)

    def flag_falls(self) -> int | None:
        """Return the millisecond at which the current turn takes too long; None if no clock runs.

        It includes the lag quota, since a move's lag is unknown until it arrives.
        """
        return None if self._started_ms is None else self._over_at(self._started_ms, self.limit())

    def time_left(self, now_ms: int) -> int:
        """Return the milliseconds until the game is lost on time, at least 0."""
        return max(0, self.limit() - self.elapsed(now_ms))

    @property
    def _challenge_ms(self) -> int:
        allowed = self.opened.rules.challenge_ms
        return CHALLENGE_MS if allowed is UNSET else allowed

    def challenge_left(self, now_ms: int) -> int:
        """Return the milliseconds until the open play stands, at least 0; 0 if none is open."""
        left = self._challenge_ms - self.elapsed(now_ms)
        return max(0, left) if self.is_open else 0

    def challenge_ends(self) -> int | None:
        """Return when the open play stands, in ms; None if none is open or no clock runs."""
        if self._started_ms is None or not self.is_open:
            return None
        return self._over_at(self._started_ms, self._challenge_ms)

    def _over_at(self, started_ms: int, allowed_ms: int) -> int:
        return started_ms + allowed_ms + self.opened.time.lag_ms - self._spent_ms + 1

    def clocks(self, now_ms: int) -> tuple[int, int]:
        """Return both clocks in milliseconds, the running turn charged; at the end, as stopped."""
        if self.ended is not None:
            return self.ended.clocks
        shown = list(self.resting_clocks)
        if self.on_turn is not None:
            shown[self.on_turn] -= self.elapsed(now_ms)
        return shown[0], shown[1]

    @property
    def resting_clocks(self) -> tuple[int, int]:
        """Both clocks without the turn that is on, or in which the game ended, in milliseconds."""
        first, second = self._clocks
        return first.remaining_ms, second.remaining_ms

    # --- records --------------------------------------------------------------------------------

    def after(self, text: str) -> Game:
        """Return the game after a move, which accepts an open play; raise IllegalMove."""
        assert self.game is not None, "the game has not begun"
        try:
            move = parse_move(text, self.game.position.board, self._alphabet)
        except ValueError as error:
            raise IllegalMove("not_a_move", str(error)) from None
        return self.game.play(move, self._words)

    def play(
        self, text: str, now_ms: int, round_trip_ms: int = 0, host_lag_ms: int = 0
    ) -> TurnRecord:
        """Make a move, stop its seat's clock, draw; raise IllegalMove before any change.

        No play may be open.
        """
        after = self.after(text)
        made = after.turns[-1]
        move = format_move(made.move, self._alphabet)
        turn = self._turn(after, move, made.words, now_ms, round_trip_ms, host_lag_ms)
        self._finish(turn, after)
        return turn

    def accept(self) -> Accepted:
        """Take the open play as it is: its player draws."""
        assert self.game is not None, "a play is open"
        seat = self.turns[-1].seat
        rack = self.game.accepted().position.racks[seat]
        record = Accepted(seq=self.turns[-1].seq, rack_after=self._alphabet.text(rack))
        self.take(record)
        return record

    def ruling(self, named: Sequence[str], took_ms: int) -> Ruling:
        """Return the ruling on a challenge of the words ``named``, made ``took_ms`` into the turn.

        Raises:
            IllegalMove: ``no_challenge``, ``too_late`` or ``not_its_word``.
        """
        if self.game is None or not self.game.is_open or self.opened.rules.challenge == "void":
            raise IllegalMove("no_challenge", "there is no play that can still be challenged")
        if took_ms > self._challenge_ms:
            raise IllegalMove(
                "too_late",
                f"the play stands: it could be challenged for {self._challenge_ms} ms, "
                f"and {took_ms} have passed",
            )
        made = {self._alphabet.text(word): word for word in self.game.turns[-1].words}
        if unknown := [word for word in named if word not in made]:
            raise IllegalMove(
                "not_its_word", f"the play made {' and '.join(made)}, and not {unknown[0]}"
            )
        words = tuple(made.values())
        rules = self.rules
        challenged = [made[word] for word in dict.fromkeys(named)]
        return judge(rules.challenge, rules.challenge_by, words, challenged, self._words)

    def judge(
        self, ruling: Ruling, now_ms: int, round_trip_ms: int = 0, host_lag_ms: int = 0
    ) -> TurnRecord:
        """Carry out the ruling on a challenge, and stop the challenger's clock."""
        assert self.game is not None, "a play is open"
        after = self.game.judged(ruling)
        lost_turn = after.turns[-1].lost
        move = WITHDRAWN if not ruling.stands else "-" if lost_turn else UPHELD
        turn = self._turn(after, move, ruling.words, now_ms, round_trip_ms, host_lag_ms)
        turn = replace(turn, challenge="lost" if ruling.stands else "won")
        self._finish(turn, after)
        return turn

    def _turn(
        self,
        after: Game,
        move: str,
        words: Sequence[tuple[int, ...]],
        now_ms: int,
        round_trip_ms: int,
        host_lag_ms: int,
    ) -> TurnRecord:
        """Return the record of a turn or a challenge, with its cost on the running clock."""
        assert self.game is not None, "the game has begun"
        seat, time = self.game.position.on_turn, self.opened.time
        elapsed = max(0, self.elapsed(now_ms) - host_lag_ms)
        think_ms = Clock.charge(elapsed, time, round_trip_ms)
        clocks = [clock.remaining_ms for clock in self._clocks]
        clocks[seat] -= think_ms
        if move not in (WITHDRAWN, UPHELD):
            clocks[seat] += time.increment_ms
        return TurnRecord(
            **self._shown(self.game, after, move),
            move=move,
            clocks=(clocks[0], clocks[1]),
            words=tuple(self._alphabet.text(word) for word in words),
            think_ms=think_ms,
            lag_ms=elapsed - think_ms,
            host_lag_ms=host_lag_ms,
        )

    def end(
        self,
        outcome: Outcome,
        winner: int | None,
        message: str,
        now_ms: int,
        faults: Iterable[Accusation] = (),
    ) -> Ended:
        """End the game; a running clock stops at ``now_ms``.

        ``winner`` is ignored if the score or a challenge decides; ``message`` is added to the
        sentence on the outcome, and ``faults`` to those in the records.
        """
        clocks = self.clocks(now_ms)
        penalties = [Clock(shown).penalty(self.opened.time) for shown in clocks]
        final = self.scores[0] - penalties[0], self.scores[1] - penalties[1]
        over = self.game.over if self.game else None
        if OUTCOMES[outcome].won_by == "score":
            winner = None if final[0] == final[1] else int(final[1] > final[0])
        elif over is not None and over.loser is not None and outcome == over.reason:
            winner = 1 - over.loser
        sentence = OUTCOMES[outcome].sentence
        if outcome == "no_show" and winner is not None:
            sentence = "lost without a game"
        elif outcome == "zeroes" and self.game is not None:
            turns = stalled(self.game.position, self.rules)
            sentence = sentence if turns == "6 scoreless turns in a row" else turns
        if winner is not None and OUTCOMES[outcome].won_by != "score":
            sentence = f"{self.opened.players[1 - winner]} {sentence}"
        record = Ended(
            seq=self.next_seq,
            outcome=outcome,
            winner=winner,
            scores=final,
            message=f"{sentence}{': ' if message else ''}{message}"[:MAX_SENTENCE],
            racks=(self.rack_text(0), self.rack_text(1)),
            rack_adjustments=over.adjustments if over else (0, 0),
            time_penalties=(penalties[0], penalties[1]),
            clocks=clocks,
            faults=(*self.faults, *faults),
        )
        self.take(record)
        return record

    def take(self, record: Record) -> None:
        """Apply a record, new or read from the journal."""
        match record:
            case Commitments():
                self.commitments = record
            case Began(nonces=nonces):
                self.nonces = nonces
                self.game = self._deal(nonces)
            case TurnRecord():
                self._replay(record)
            case Accepted():
                self._accept(record)
            case RefusedMove():
                self.refusals.append(record)
                self.attempt += 1
            case Thought(seat=seat, belief=belief):
                self.thoughts.append(record)
                if belief is not None and belief.style:
                    self.styles[seat] = belief.style
            case Failed(seat=seat, code=code, message=message) if code != "disconnect":
                self.faults.append(accusation(seat, code, message))
                name = self.opened.players[seat]
                self.evidence.append(f"{name}, {code}: {message}\n{record.evidence}\n")
            case Given(seat=seat, ms=ms):
                clock = self._clocks[seat]
                self._clocks[seat] = Clock(clock.remaining_ms + ms, clock.turns)
            case Ended():
                self.ended, self._started_ms = record, None
                self.faults = list(record.faults)

    def _accept(self, record: Accepted) -> None:
        if self.game is None or not self.game.is_open:
            raise ValueError(f"event {record.seq} is accepted but is not an open play")
        self._stand(self.game.accepted())
        if (rack := self.turns[-1].rack_after) != record.rack_after:
            raise ValueError(
                f"event {record.seq}: the record has rack {record.rack_after}, replaying gives "
                f"{rack}"
            )

    def _stand(self, after: Game) -> None:
        """Note that the open play stands, and what its player drew."""
        open_play = self.turns[-1]
        rack = self._alphabet.text(after.position.racks[open_play.seat])
        self.turns[-1] = replace(open_play, rack_after=rack)
        self.game = after

    def _replay(self, turn: TurnRecord) -> None:
        """Take a turn of a journal; raise ValueError if replaying it gives anything else."""
        if self.game is None:
            raise ValueError("a turn before the start")
        if turn.challenge is UNSET:
            after = self.after(turn.move)
        else:
            after = self.game.judged(self.ruling(turn.words, 0))
        for name, value in self._shown(self.game, after, turn.move).items():
            if (kept := getattr(turn, name)) != value:
                raise ValueError(
                    f"{turn.move}: the record has {name} {kept}, replaying gives {value}"
                )
        charged = turn.charged
        left = self._clocks[charged].remaining_ms - turn.think_ms
        if charged == turn.seat:
            left += self.opened.time.increment_ms
        if turn.clocks[charged] != left:
            raise ValueError(
                f"{turn.move}: the record has a clock of {turn.clocks[charged]} ms, replaying "
                f"gives {left} ms"
            )
        self._finish(turn, after)

    def _shown(self, before: Game, after: Game, move: str) -> dict[str, Any]:
        """Return the fields of a turn's record that follow from the game and its move."""
        made = after.turns[-1]
        seat, score = made.seat, made.score
        if move == WITHDRAWN:
            score = -before.turns[-1].score
        elif move == UPHELD:
            score = made.bonus
        scores = list(before.position.scores)
        scores[seat] += score
        return {
            "seq": self.next_seq,
            "seat": seat,
            "score": score,
            "scores": (scores[0], scores[1]),
            "rack": self._alphabet.text(before.position.racks[seat]),
            "rack_after": self._alphabet.text(after.position.racks[seat]),
            "bag": after.bag_count,
        }

    def _deal(self, nonces: tuple[str, str]) -> Game:
        used = nonces if self.opened.committed else ("", "")
        secret, first, second = map(bytes.fromhex, (self.opened.secret, *used))
        stream = DrawStream(secret, (first, second))
        distribution = self.rules.distribution
        bag = Bag.shuffled(
            distribution, stream, mirrored=self.opened.mirrored, opening=self.opening
        )
        return Game.start(self.rules, bag, self.opening)

    def _finish(self, turn: TurnRecord, after: Game) -> None:
        if turn.challenge == "lost":
            self._stand(after)
        self.turns.append(turn)
        self.game = after
        charged = turn.charged
        turns = self._clocks[charged].turns + (charged == turn.seat)
        self._clocks[charged] = Clock(turn.clocks[charged], turns)
        self._started_ms, self._spent_ms = None, 0
        self.attempt, self.thoughts = 1, []
