"""A table played on a virtual clock, with two seats that keep to the protocol.

``Play`` does what ``harness.arbiter.host`` does, without I/O: records are kept, then messages are
delivered, then the next clock starts. Every message goes through a codec and a ``BotSession``, so
that a message a bot could not take fails the test that sent it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import cast

import msgspec
from positions import legal_moves_of

from engine.notation.move_text import format_move
from engine.rules.moves import Move as EngineMove
from harness.arbiter.records import (
    Began,
    ClockNote,
    Draws,
    Ended,
    Opened,
    Record,
    TurnRecord,
    new_game,
)
from harness.arbiter.scorebook import Scorebook
from harness.arbiter.table import Effects, Table
from harness.arbiter.views import Recipient, watched
from harness.server.tables import ServerTables, TableKind
from lexicons.store import Lexicon, load_lexicon
from protocol.codec import MSGPACK
from protocol.messages import (
    Accept,
    Challenge,
    GameMessage,
    GameOver,
    Info,
    Message,
    Move,
    NewGame,
    Ready,
    Resume,
    Reveal,
    YourTurn,
)
from protocol.parts import RulesInPlay, Style, TimeControl
from protocol.session import BotSession

GAME = "the game"
MINUTE = 60_000
SHORT = TimeControl(initial_ms=MINUTE, max_overtime_ms=2 * MINUTE, ready_ms=5_000)
NONCES = ("a1" * 16, "b2" * 16)
DIGESTS = tuple(sha256(bytes.fromhex(nonce)).hexdigest() for nonce in NONCES)
SECRET = bytes(range(32))
START_MS = 1_000_000

Policy = Callable[["Play"], str]


@cache
def words() -> Lexicon:
    return load_lexicon()


def tables() -> ServerTables:
    """The tables of a server that has one."""
    return ServerTables(TableKind(lexicon=words()))


def book_of(opened: Opened) -> Scorebook:
    return Scorebook(opened, words())


class Play:
    """One table, its seats and its time."""

    def __init__(
        self,
        time: TimeControl | None = None,
        *,
        draws: Draws | None = None,
        rules: RulesInPlay | None = None,
        book: Scorebook | None = None,
        known_styles: tuple[Style | None, Style | None] = (None, None),
        own_nonces: tuple[str | None, str | None] = (None, None),
    ) -> None:
        if book is None:
            draws = draws or Draws(SECRET, committed=True)
            time = time or TimeControl()
            opened = new_game(("one", "two"), words(), time, draws)
            rules = rules or opened.rules
            book = book_of(msgspec.structs.replace(opened, game=GAME, rules=rules))
        self.book = book
        self.now = START_MS
        self.table = Table(book, self.now, known_styles, own_nonces)
        self.records: list[Record] = [book.opened]
        self.sent: list[tuple[Recipient, Message]] = []
        self.frames: dict[Recipient, list[bytes]] = {0: [], 1: [], None: []}
        self.restarts: list[int] = []
        self.bots = BotSession(), BotSession()
        self.events: tuple[list[Message], list[Message]] = ([], [])
        """What each seat was told, repetitions left out."""
        self.replies: list[tuple[int, Message]] = []
        """What a seat's session answers by itself, still to be said."""

    # --- as the host does -----------------------------------------------------------------------

    def carry_out(self, effects: Effects) -> None:
        self.records.extend(effects.records)
        for recipient, message in effects.sends:
            self._deliver(recipient, message)
        self.restarts.extend(effects.restart)
        if any(isinstance(record, TurnRecord | Began) for record in effects.records):
            self.carry_out(self.table.begin_turn(self.now))

    def _deliver(self, recipient: Recipient, message: Message) -> None:
        frame = MSGPACK.encode(message)
        assert isinstance(frame, bytes)
        self.sent.append((recipient, message))
        self.frames[recipient].append(frame)
        if recipient is not None:
            event, replies = self.bots[recipient].receive(MSGPACK.decode(frame))
            self.replies.extend((recipient, reply) for reply in replies)
            if event is not None:
                self.events[recipient].append(event)

    def wait(self, ms: int) -> None:
        """Let time pass; whatever falls due happens at its millisecond."""
        until = self.now + ms
        while (deadline := self.table.deadline()) is not None and deadline <= until:
            self.now = max(self.now, deadline)
            self.carry_out(self.table.tick(self.now))
            assert self.table.deadline() != deadline, "a deadline that passes does something"
        self.now = until

    # --- what seats do --------------------------------------------------------------------------

    def come(self, seat: int) -> None:
        """Connect; a seat that knows the game asks for what it has missed."""
        if GAME in self.bots[seat].games:
            self.bots[seat].send(self.resume(seat))
        self.carry_out(self.table.attach(seat, self.now, seen=self.resume(seat).seen))

    def resume(self, seat: int) -> Resume:
        """Ask for the events after the last that a seat knows."""
        talk = self.bots[seat].games.get(GAME)
        return Resume(game=GAME, seen=-1 if talk is None else talk.next_seq - 1)

    def leave(self, seat: int) -> None:
        self.carry_out(self.table.detach(seat, "the connection was lost"))

    def say(self, seat: int, message: GameMessage, *, lag_ms: int = 0) -> None:
        """Say something that the seat's own session allows."""
        self.hear(seat, cast("Message", self.bots[seat].send(message)), lag_ms=lag_ms)

    def hear(self, seat: int, message: Message, *, lag_ms: int = 0) -> None:
        """Have the table hear something, allowed or not."""
        self.carry_out(self.table.receive(seat, message, self.now, lag_ms))
        while self.replies:
            number, reply = self.replies.pop(0)
            self.hear(number, reply)

    def ready(self, seat: int) -> None:
        self.say(seat, Ready(game=GAME, nonce=NONCES[seat]))

    def commit(self, seat: int) -> None:
        self.say(seat, Ready(game=GAME, commitment=DIGESTS[seat]))

    def reveal(self, seat: int) -> None:
        self.say(seat, Reveal(game=GAME, nonce=NONCES[seat]))

    def start(self) -> Play:
        for seat in (0, 1):
            self.come(seat)
        for seat in (0, 1):
            self.ready(seat)
        return self

    @property
    def seat(self) -> int:
        """The seat to move."""
        assert self.book.on_turn is not None, "the game is over"
        return self.book.on_turn

    def the_move(self, text: str) -> Move:
        return Move(game=GAME, seq=self.book.next_seq, move=text, attempt=self.book.attempt)

    def move(self, text: str = "-", *, after_ms: int = 0, lag_ms: int = 0) -> None:
        """Have the seat to move make a move; it arrives ``after_ms`` from now."""
        seat, move = self.seat, self.the_move(text)
        self.wait(after_ms)
        self.say(seat, move, lag_ms=lag_ms)

    def challenge(self, *words: str, after_ms: int = 0) -> None:
        """Have the seat to move challenge the play before; it arrives ``after_ms`` from now."""
        seat, seq, attempt = self.seat, self.book.next_seq, self.book.attempt
        self.wait(after_ms)
        self.say(seat, Challenge(game=GAME, seq=seq, words=words, attempt=attempt))

    def accept(self) -> None:
        self.say(self.seat, Accept(game=GAME, seq=self.book.next_seq))

    def think(self, text: str) -> None:
        self.say(self.seat, Info(game=GAME, seq=self.book.next_seq, text=text))

    def play_out(self, policy: Policy, *, after_ms: int = 1_000) -> Ended:
        while not self.table.over:
            self.move(policy(self), after_ms=after_ms)
        return self.result

    def watch(self) -> None:
        """A spectator comes."""
        for message in self.watched():
            self._deliver(None, message)

    def watched(self) -> list[Message]:
        """Return what a spectator who comes now is told."""
        return list(watched(self.book, self.now, None))

    # --- what can be seen -----------------------------------------------------------------------

    @property
    def result(self) -> Ended:
        assert self.book.ended is not None, "the game is on"
        return self.book.ended

    @property
    def faults(self) -> list[tuple[int, str]]:
        return [(fault.seat, fault.code) for fault in self.result.faults]

    def told(self, recipient: Recipient, kind: type[Message]) -> list[Message]:
        """All messages of a kind that went to a recipient."""
        return [said for to, said in self.sent if to == recipient and isinstance(said, kind)]

    def asked(self) -> YourTurn:
        """The last ``your_turn``."""
        return next(said for _, said in reversed(self.sent) if isinstance(said, YourTurn))

    def offered(self, seat: int) -> NewGame:
        offers = self.told(seat, NewGame)
        assert isinstance(offers[-1], NewGame)
        return offers[-1]

    def verdict(self, recipient: Recipient) -> GameOver:
        (verdict,) = self.told(recipient, GameOver)
        assert isinstance(verdict, GameOver)
        return verdict

    def note(self) -> ClockNote:
        """What the host would note of the clocks now."""
        return ClockNote(game=GAME, clocks=self.book.clocks(self.now), seq=self.book.next_seq)


def outcome(play: Play) -> tuple[str, int | None]:
    return play.result.outcome, play.result.winner


def random_policy(seed: int) -> Policy:
    """Choose good placements mostly, now and then any, an exchange or a pass."""
    rng = random.Random(seed)

    def choose(play: Play) -> str:
        game = play.book.game
        assert game is not None
        moves = legal_moves_of(game.position, words(), game.rules)
        places, exchanges = moves.by_kind()
        chance = rng.random()
        if exchanges and (chance < 0.12 or not places):
            among: Sequence[EngineMove] = exchanges
        elif places and chance < 0.97:
            among = places[:8] if chance < 0.8 else places
        else:
            among = moves[-1:]  # the pass
        return format_move(rng.choice(among), words().distribution.alphabet)

    return choose
