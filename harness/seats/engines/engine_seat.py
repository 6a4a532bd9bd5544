"""The seat of a foreign engine: a game session in this host, whose player is an adapter.

The engine's answers go to the arbiter unchanged; their faults are noted with the transcript. An
engine that ends or hangs is restarted once and told the whole game; the second failure loses.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import NoReturn, cast

import structlog

from bot.equipment import Resources
from bot.seat.game_session import GameSession
from bot.seat.offers import Declined, rules_of
from engine.rules.rules import IllegalMove, check_move
from harness.arbiter.seat import Came, Gone, Noted, Said
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.codec import MSGPACK
from protocol.errors import PeerError
from protocol.messages import Decline, GameMessage, Info, Message, Move, NewGame, Refused
from protocol.parts import MAX_MOVE
from protocol.session import FromArbiter

from ..seats import TaskSeat
from .engine import Engine, EngineChoice
from .process import EngineFailed

log = structlog.get_logger(__name__)

SETTLE_S = 0.2
"""Time for an engine to hear the result."""

MAX_NOTE = 1_000
"""Characters of a note; a score may have thousands of digits."""


class EngineSeat(TaskSeat):
    """An engine behind an adapter; ``make`` returns it, and is called again after a failure."""

    is_ours = True

    def __init__(self, name: str, make: Callable[[], Engine], lexicon: Lexicon) -> None:
        super().__init__(name)
        self._make = make
        self._lexicon = lexicon
        self._inbox: asyncio.Queue[Message | BaseException] = asyncio.Queue()
        """What the arbiter says, and failures of the engine and its adapter."""
        self._session: GameSession[Engine] | None = None

    def restart(self) -> None:
        """Begin again after a failure."""
        self._inbox = asyncio.Queue()
        super().restart()

    def send(self, message: Message) -> None:
        """Take a message from the arbiter."""
        self._inbox.put_nowait(message)

    def refuse(self, error: PeerError) -> None:
        """Log that the arbiter refused a message, usually a late one."""
        log.info("not taken", seat=self.name, code=error.code, reason=error.reply.message)

    async def stop(self) -> None:
        """End the engine, once it has heard the result."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await self._inbox.join()
        await super().stop()

    async def _live(self) -> None:
        """Run one engine until it fails or the seat is stopped."""
        self._session = None
        try:
            engine = self._make()
        except Exception as error:  # such as a file removed since the match began
            self._report(Gone(str(error), "host_error"))
            return
        self._report(Came(last_lines=engine.evidence))
        try:
            await self._take_part(engine)
        except EngineFailed as failed:
            gone = Gone(str(failed), failed.code, engine.evidence())
        except OSError as error:
            why = f"its process can't be started or its files can't be used: {error}"
            gone = Gone(why, "host_error")
        except Exception as error:  # a bug of ours, not the engine's loss
            log.exception("adapter", seat=self.name)
            gone = Gone(f"{type(error).__name__} in its adapter", "host_error")
        finally:
            try:
                if self._session is not None:
                    await self._session.close()
            finally:
                closing = asyncio.ensure_future(engine.close())
                try:
                    await asyncio.shield(closing)
                except asyncio.CancelledError:  # the seat is stopped meanwhile
                    await closing
                    raise
        self._report(gone)

    async def _take_part(self, engine: Engine) -> NoReturn:
        """Take messages until the engine or its adapter fails."""

        def note_end(ended: asyncio.Task[EngineFailed]) -> None:
            if not ended.cancelled():
                self._inbox.put_nowait(ended.exception() or ended.result())

        ended = asyncio.create_task(engine.ended())
        ended.add_done_callback(note_end)
        try:
            while True:
                content = await self._inbox.get()
                if isinstance(content, BaseException):
                    try:
                        raise content
                    finally:
                        del content  # it leads to this frame
                if isinstance(content, NewGame):
                    await self._offered(engine, content)
                elif self._session is not None:
                    if isinstance(content, Refused):
                        self._note_refusal(self._session, content)
                    self._session.take(cast("FromArbiter", content), now_ms(), 0)
                self._inbox.task_done()
        finally:
            ended.cancel()

    async def _offered(self, engine: Engine, offer: NewGame) -> None:
        try:
            session = self._session = GameSession(
                offer,
                rules_of(offer),
                Resources(self._lexicon),
                engine,
                seed=0,
                send=self._send,
                failed=self._inbox.put_nowait,
            )
            await session.prepare()
        except Declined as declined:
            self._send(Decline(game=offer.game, code=declined.code, message=str(declined)))
        else:
            session.offered(offer)

    def _send(self, *messages: GameMessage) -> None:
        """Report messages; an answer counts from its arrival from the engine."""
        session = self._session
        for message in messages:
            if session is None or not isinstance(message, Info | Move):
                self._report(Said(message, now_ms(), 0))
                continue
            if isinstance(message, Move):
                self._check_move_claims(session)
            else:
                try:  # a record may not hold an engine's figures, which are unchecked
                    MSGPACK.decode(MSGPACK.encode(message))
                except (PeerError, OverflowError):
                    log.warning("not kept", seat=self.name)
                    continue
            self._report(Said(message, session.answered_ms, 0))

    def _check_move_claims(self, session: GameSession[Engine]) -> None:
        """Note an engine's false claims about a playable move."""
        choice, view = session.answer, session.watched.view
        if isinstance(choice, str):
            return
        said_rack = choice.rack if isinstance(choice, EngineChoice) else None
        if said_rack is not None and said_rack != view.rack:
            held, claim = view.text(view.rack), view.text(said_rack)
            self._note(session, "wrong_rack", f"it holds {held}, and plays from {claim}")
        if choice.score is None:
            return
        with contextlib.suppress(IllegalMove):  # the arbiter will report it
            play = check_move(view.position, choice.move, view.rules, None, view.bag)
            score = play.score if play else 0
            if score != choice.score:
                text = view.text(choice.move)
                claim = f"{text} scores {score}, and {self.name} says {choice.score}"
                self._note(session, "wrong_score", claim)

    def _note_refusal(self, session: GameSession[Engine], message: Refused) -> None:
        choice, view = session.answer, session.watched.view
        text = choice[:MAX_MOVE] if isinstance(choice, str) else view.text(choice.move)
        sentence = f"{text}: {message.message}"
        if message.code == "not_a_word":
            sentence += f"; does {self.name} play with other words than {view.lexicon.name}?"
        if message.code == "not_a_move" and session.player.form:
            sentence = (
                f"{sentence.partition('; write ')[0]}; {self.name} writes {session.player.form}"
            )
        self._note(session, message.code, sentence)

    def _note(self, session: GameSession[Engine], code: str, said: str) -> None:
        self._report(Noted(code, said[:MAX_NOTE], session.player.evidence()))
