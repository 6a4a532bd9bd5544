"""Asking a seat for single moves, as an arbiter does in a match.

Each position is a game resumed with its whole history, as after a crash; the seat gets ready
without a clock, and then has a limit: from the sending of ``your_turn`` to the arrival of ``move``.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final, TypeVar

from engine.notation.cgp import write_cgp
from engine.notation.move_text import parse_move
from engine.rules.rules import IllegalMove, check_move
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.lab.in_process import view_of
from harness.lab.positions import Situation
from harness.lab.study_context import Field
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Message,
    Move,
    NewGame,
    Played,
    Ready,
    YourTurn,
)
from protocol.parts import TimeControl

LONG_MS: Final = 25 * 60_000
PATIENCE_S: Final = 120
"""An answer that takes longer counts as missing."""
STDERR_S: Final = 0.2
"""Time for reading stderr of an ended process."""

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class Answered:
    """A seat's move."""

    move: str
    took_ms: float
    illegal: str
    """The move, the position and the reason it is illegal; or empty."""


class Asker:
    """Asks seats for moves in positions; ``field`` matches their equipment."""

    def __init__(self, field: Field) -> None:
        self._field = field
        self._alphabet = field.rules.distribution.alphabet
        self._words = field.lexicon.graph.contains

    async def ask(
        self,
        channel: Channel,
        game: str,
        situation: Situation,
        limit_ms: int,
        *,
        on_clock: bool = False,
        patience_s: float = PATIENCE_S,
    ) -> Answered:
        """Ask for one move, in a game of its own.

        Args:
            channel: to a seat that was welcomed.
            game: an id that the seat has not seen.
            situation: the position and its history.
            limit_ms: the cap of the turn.
            on_clock: ``limit_ms`` is the whole clock instead, as at the game's start.
            patience_s: how long to wait for the move.

        Raises:
            ChannelClosed: the seat ended, or does not play or answer.
        """
        position, seq = situation.position, len(situation.turns) + 1
        clocks = (limit_ms if on_clock else LONG_MS,) * 2
        await channel.send(self._offer(game, situation, limit_ms, clocks))
        await _expect(channel, Ready, PATIENCE_S)
        turn = YourTurn(
            game=game,
            seq=seq,
            position=write_cgp(position, self._field.rules),
            rack=self._alphabet.text(position.racks[position.on_turn]),
            bag=situation.bag,
            clocks=clocks,
            deadline_ms=limit_ms,
        )
        sent = time.perf_counter()
        await channel.send(turn)
        move = await _expect(channel, Move, patience_s)
        took_ms = 1_000 * (time.perf_counter() - sent)
        await channel.send(
            GameOver(
                game=game,
                seq=seq,
                outcome="host_error",
                winner=None,
                scores=position.scores,
                message="one move was asked for",
            )
        )
        illegal, rules = "", self._field.rules
        try:
            choice = parse_move(move.move, position.board, self._alphabet)
            check_move(position, choice, rules, self._words, situation.bag)
        except (IllegalMove, ValueError) as error:
            illegal = f"{move.move} in {write_cgp(position, rules)}: {error}"
        return Answered(move.move, took_ms, illegal)

    def _offer(
        self, game: str, situation: Situation, limit_ms: int, clocks: tuple[int, int]
    ) -> NewGame:
        field, position = self._field, situation.position
        view, seat = view_of(situation, field), position.on_turn
        cap_ms = None if clocks[seat] == limit_ms else limit_ms
        return NewGame(
            game=game,
            seq=len(situation.turns) + 1,
            players=("asked", "other") if seat == 0 else ("other", "asked"),
            you=seat,
            lexicon=field.lexicon.name,
            lexicon_checksum=field.lexicon.checksum,
            rules=rules_on_wire(field.rules),
            time=TimeControl(initial_ms=clocks[seat], move_cap_ms=cap_ms, max_overtime_ms=0),
            clocks=clocks,
            rack=self._alphabet.text(position.racks[seat]),
            history=tuple(
                Played(
                    game=game,
                    seq=play.seq,
                    seat=play.seat,
                    move=view.text(play.move),
                    score=play.score,
                    scores=play.scores,
                    bag=play.bag,
                    clocks=clocks,
                )
                for play in view.history
            ),
        )


async def _expect(channel: Channel, kind: type[M], patience_s: float) -> M:
    """Return the next message of a kind, skipping others; a refusal raises ChannelClosed."""
    try:
        async with asyncio.timeout(patience_s):
            while True:
                content = (await channel.receive()).content
                if isinstance(content, kind):
                    return content
                if isinstance(content, Decline | Error):
                    raise ChannelClosed(f"the seat does not play: {content.message}")
                if isinstance(content, PeerError):
                    raise ChannelClosed(f"the seat does not play: {content}")
    except TimeoutError:
        raise ChannelClosed(f"no {kind.__name__} in {patience_s:.0f} s") from None
