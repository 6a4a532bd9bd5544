"""Broken frames, and what both ends of a conversation do with them."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgpack
import msgspec
from fuzz.mutation import broken_bytes, broken_tree
from small_messages import offer, started, your_turn
from wire import as_map, made_message

from protocol.codec import CODECS, MSGPACK, Codec
from protocol.errors import PeerError
from protocol.messages import MESSAGES, Message, Move, Ready, YourTurn
from protocol.session import ArbiterSession, BotSession, FromArbiter, Side

FRESH_EVERY = 200
"""Frames that a pair of sessions is given."""

_OF_EACH = 12
_LONGEST = 4_000
_GAMES = ("g0", "g1", "g2", "g3", "never heard of")


def _in_our_games(message: Message, chance: Random) -> Message:
    """Make a message speak of a game that is on, and mostly of its next event."""
    changes: dict[str, object] = {}
    if hasattr(message, "game"):
        changes["game"] = chance.choice(_GAMES)
    if hasattr(message, "seq") and chance.random() < 0.8:
        changes["seq"] = chance.choice((0, 1, 1, 2))
    if hasattr(message, "attempt") and chance.random() < 0.8:
        changes["attempt"] = chance.choice((1, 1, 2))
    return msgspec.structs.replace(message, **changes)


def sessions() -> tuple[dict[str, ArbiterSession], BotSession]:
    """Return two ends, by game the arbiter's, whose games have come to different points."""
    arbiters, bot = dict[str, ArbiterSession](), BotSession()
    script: list[FromArbiter | Ready] = [offer(), Ready(game=""), started(), your_turn(1)]
    for steps, game in enumerate(_GAMES[:4]):
        arbiter = arbiters[game] = ArbiterSession(game)
        for template in script[: steps + 1]:
            message = msgspec.structs.replace(template, game=game)
            if isinstance(message, Ready):
                bot.send(message)
                arbiter.receive(message, 0, 1)
            else:
                arbiter.send(message)
                bot.receive(message)
    return arbiters, bot


class Frames:
    """Frames of every kind of message in one codec, whole and broken, without an end."""

    def __init__(self, codec: Codec, chance: Random) -> None:
        self._codec = codec
        self._chance = chance
        self._trees: list[dict[str, Any]] = []
        self._corpus: list[bytes] = []
        for kind in MESSAGES:
            for _ in range(_OF_EACH):
                tree = as_map(_in_our_games(made_message(kind, chance), chance))
                frame = packed(codec, tree)
                if len(frame) < _LONGEST:
                    self._trees.append(tree)
                    self._corpus.append(frame)

    def broken(self, chance: Random, game: str | None = None) -> bytes:
        """Return the next frame: with other bytes, or in good form with another value.

        If a ``game`` is named that is on, many are about it, and some of these are whole.
        """
        if game is None and chance.randrange(3):
            return broken_bytes(chance.choice(self._corpus), self._corpus, chance)
        tree = chance.choice(self._trees)
        if game is not None and "game" in tree:
            tree = {**tree, "game": game}
        return packed(self._codec, broken_tree(tree, chance) if chance.randrange(3) else tree)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield self.broken(self._chance)


def packed(codec: Codec, tree: Any) -> bytes:
    """Encode what no message may say, as far as the codec can."""
    if codec is not MSGPACK:
        return json.dumps(tree, ensure_ascii=False).encode()
    try:
        frame: bytes = msgpack.packb(tree)
    except OverflowError:  # an integer of more than 64 bits
        frame = msgpack.packb(json.loads(json.dumps(tree), parse_int=float))
    return frame


@dataclass
class Ends:
    """Both ends of a conversation, made anew now and then, and what became of frames."""

    codec: Codec
    outcomes: Counter[str] = field(default_factory=Counter)
    _arbiters: dict[str, ArbiterSession] = field(default_factory=dict)
    _bot: BotSession = field(default_factory=BotSession)

    def take(self, frame: bytes) -> None:
        """Do with a frame what the two ends do; PeerError alone is right, and is counted."""
        if self.outcomes.total() % FRESH_EVERY == 0:
            self._arbiters, self._bot = sessions()
        self.outcomes[self._outcome(frame)] += 1

    def _outcome(self, frame: bytes) -> str:
        text = frame if self.codec is MSGPACK else frame.decode(errors="surrogateescape")
        try:
            message = self.codec.decode(text)
        except PeerError as error:
            _check_reply(error)
            return f"codec: {error.code}"
        for passed_on in CODECS.values():
            passed_on.decode(passed_on.encode(message))
        for end in (self._to_arbiter, self._to_bot):
            try:
                end(message)
            except PeerError as error:
                _check_reply(error)
        return "taken"

    def _to_arbiter(self, message: Message) -> None:
        for arbiter in self._arbiters.values():
            try:
                arbiter.receive(message, 1, 1)
            except PeerError as error:
                _check_reply(error)

    def _to_bot(self, message: Message) -> None:
        event, _ = self._bot.receive(message)
        if isinstance(event, YourTurn):
            move = Move(game=event.game, seq=event.seq, move="-", attempt=event.attempt)
            self._bot.games[event.game].check(Side.BOT, move)
            self._bot.send(move)


def take_broken(codec: Codec, chance: Random, count: int) -> tuple[Counter[str], list[str]]:
    """Give so many frames to both ends; return what became of them, and what was not caught."""
    ends, uncaught = Ends(codec), list[str]()
    for _, frame in zip(range(count), Frames(codec, chance), strict=False):
        try:
            ends.take(frame)
        except Exception:
            uncaught.append(f"{frame[:300]!r}\n{traceback.format_exc()}")
    return ends.outcomes, uncaught


def _check_reply(error: PeerError) -> None:
    for codec in CODECS.values():
        assert codec.decode(codec.encode(error.reply)) == error.reply
