"""A hundred thousand broken frames: each is taken or refused, and nothing else happens."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import pytest
from wire import made_message

from protocol.channel import Arrival
from protocol.codec import CODECS, JSON, MSGPACK, Codec
from protocol.errors import PeerError
from protocol.messages import MESSAGES, Message, Move, NewGame, Ready, Started, YourTurn
from protocol.session import ArbiterSession, BotSession, Side

FRAMES = 100_000
FRESH_EVERY = 200
GAMES = ("g0", "g1", "g2", "g3", "never heard of")
NESTS = (b"\x91" * 3_000, b"\x81\xa1x" * 1_500, b"[" * 3_000, b'{"x":' * 1_500)
SNIPPETS = (b"\xdf\xff\xff\xff\xff", b"\xc1", b"\xff\xfe", b"\\ud800", b"9" * 400, b"null", b"\xc0")


def in_our_games(message: Message, rng: random.Random) -> Message:
    """Make a message speak of a game that is on, and mostly of its next event."""
    changes: dict[str, object] = {}
    if hasattr(message, "game"):
        changes["game"] = rng.choice(GAMES)
    if hasattr(message, "seq") and rng.random() < 0.8:
        changes["seq"] = rng.choice((0, 1, 1, 2))
    if hasattr(message, "attempt") and rng.random() < 0.8:
        changes["attempt"] = rng.choice((1, 1, 2))
    return msgspec.structs.replace(message, **changes)


def sessions() -> tuple[ArbiterSession, BotSession]:
    """Two ends whose games have come to different points."""
    arbiter, bot = ArbiterSession(), BotSession()
    offer = {"players": ("a", "b"), "you": 0, "lexicon": "words"}
    clocks = (1_000, 1_000)
    for steps, game in enumerate(GAMES[:4]):
        script: list[Message] = [
            NewGame(game=game, seq=0, **offer),  # type: ignore[arg-type]
            Ready(game=game),
            Started(game=game, seq=0, bag=86, clocks=clocks),
            YourTurn(game=game, seq=1, position="", rack="", bag=86, clocks=clocks, deadline_ms=9),
        ]
        for message in script[: steps + 1]:
            if isinstance(message, Ready):
                bot.send(message)
                arbiter.receive(message)
            else:
                arbiter.send(message)  # type: ignore[arg-type]
                bot.receive(message)
    return arbiter, bot


@dataclass
class Mutator:
    """Breaks frames."""

    corpus: list[bytes]
    rng: random.Random = field(default_factory=lambda: random.Random(20))

    def __iter__(self) -> Iterator[bytes]:
        while True:
            frame = bytearray(self.rng.choice(self.corpus))
            for _ in range(self.rng.choice((0, 1, 1, 1, 2, 4))):
                self._break(frame)
            yield bytes(frame)

    def _break(self, frame: bytearray) -> None:
        rng, at = self.rng, self.rng.randrange(len(frame) + 1)
        match rng.randrange(7):
            case 0 if at < len(frame):
                frame[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(frame):
                frame[at] = rng.randrange(256)
            case 2:
                del frame[at:]
            case 3:
                other = rng.choice(self.corpus)
                frame[at:] = other[rng.randrange(len(other)) :]
            case 4:
                frame[at:at] = rng.choice(SNIPPETS)
            case 5:
                del frame[at : at + rng.randrange(1, 9)]
            case _ if rng.random() < 0.05:
                frame[at:at] = rng.choice(NESTS)


def frames_of(codec: Codec, rng: random.Random) -> list[bytes]:
    frames = []
    for kind in MESSAGES:
        for _ in range(12):
            frame = codec.encode(in_our_games(made_message(kind, rng), rng))
            if len(frame) < 4_000:
                frames.append(frame if isinstance(frame, bytes) else frame.encode())
    return frames


def take(codec: Codec, frame: bytes, arbiter: ArbiterSession, bot: BotSession) -> Arrival | str:
    """Do with a frame what the two ends do; give the message or the code of its refusal."""
    text = frame if codec is MSGPACK else frame.decode(errors="surrogateescape")
    try:
        message = codec.decode(text)
    except PeerError as error:
        check_reply(error)
        return f"codec: {error.code}"
    for passed_on in CODECS.values():
        passed_on.decode(passed_on.encode(message))
    for session in (arbiter, bot):
        try:
            if session is bot:
                event, _ = bot.receive(message)
                answer_turn(bot, event)
            else:
                arbiter.receive(message)
        except PeerError as error:
            check_reply(error)
    return "taken"


def answer_turn(bot: BotSession, event: object) -> None:
    if isinstance(event, YourTurn):
        move = Move(game=event.game, seq=event.seq, move="-", attempt=event.attempt)
        bot.games[event.game].check(Side.BOT, move)
        bot.send(move)


def check_reply(error: PeerError) -> None:
    for codec in CODECS.values():
        assert codec.decode(codec.encode(error.reply)) == error.reply


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])
def test_broken_frames_are_refused_and_nothing_else_happens(codec: Codec) -> None:
    mutator = Mutator(frames_of(codec, random.Random(codec.subprotocol)))
    arbiter, bot = sessions()
    outcomes: Counter[object] = Counter()
    uncaught: list[tuple[bytes, Exception]] = []
    for number, frame in zip(range(FRAMES // 2), mutator, strict=False):
        if number % FRESH_EVERY == 0:
            arbiter, bot = sessions()
        try:
            outcomes[take(codec, frame, arbiter, bot)] += 1
        except Exception as error:
            uncaught.append((frame[:200], error))
    assert uncaught == []
    # That it was no empty exercise: every kind of fault came, and whole messages too.
    assert outcomes.total() == FRAMES // 2
    assert outcomes["taken"] > FRAMES // 20
    for code in ("bad_frame", "bad_message", "unknown_type"):
        assert outcomes[f"codec: {code}"] > 50
