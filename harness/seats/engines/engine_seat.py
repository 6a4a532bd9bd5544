"""The seat of a foreign engine: between an arbiter who speaks the protocol and an adapter.

It is a seat like any other: it is offered the game, gets ready, and is asked for moves with one
absolute deadline a turn. What the engine answers is passed on as it is, for the arbiter to judge;
what was wrong with it is noted with the transcript. An engine whose process ends or hangs is
started once more and told the game from its beginning; the second time the game is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

import structlog

from bot.equipment import Resources
from bot.player import Budget, Choice
from bot.search.time_plan import plan
from bot.seat.game_session import info_about
from bot.seat.offers import Declined, rules_in_play
from bot.seat.player_view import Watched
from engine.notation import format_move
from engine.rules.moves import Move as EngineMove
from engine.rules.rules import IllegalMove, check_move
from harness.arbiter.seat import Came, Gone, Noted, Report, Said
from lexicons.store import Lexicon
from protocol.channel import now_ms
from protocol.codec import MSGPACK
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    GameOver,
    Message,
    Move,
    NewGame,
    Played,
    Ready,
    Refused,
    Started,
    YourTurn,
)

from .engine import Answer, Engine, Unsuitable
from .process import EngineFailed

__all__ = ["EngineSeat"]

log = structlog.get_logger(__name__)

SETTLE_S = 0.2
"""What an engine gets to hear the verdict."""

MAX_TEXT = 128
"""Characters of a move, as the protocol has them; what an engine prints may be of any length."""

MAX_SENTENCE = 1_000
"""Characters of what is noted; a score may have thousands of digits."""


class EngineSeat:
    """An engine behind an adapter.

    Args:
        name: what it is called.
        make: makes the engine; called again when it has failed.
        lexicon: the words that are played.
    """

    is_ours = False

    def __init__(self, name: str, make: Callable[[], Engine], lexicon: Lexicon) -> None:
        self.name = name
        self._make = make
        self._lexicon = lexicon
        self._report: Report = lambda _happening: None
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._life: asyncio.Task[None] | None = None
        self._watched: Watched | None = None
        self._answer: Answer | None = None
        self._asking: asyncio.Task[None] | None = None

    # --- what a seat does -----------------------------------------------------------------------

    def start(self, report: Report) -> None:
        """Begin; what happens to the seat is reported from now on."""
        self._report = report
        self.restart()

    def restart(self) -> None:
        """Begin again after a failure."""
        self._inbox = asyncio.Queue()
        self._life = asyncio.create_task(self._live())

    def send(self, message: Message) -> None:
        """Take a message of the arbiter's."""
        self._inbox.put_nowait(message)

    def refuse(self, error: PeerError) -> None:
        """Hear that the arbiter did not take what was said: too late, usually."""
        log.info("not taken", seat=self.name, code=error.code, reason=error.reply.message)

    async def stop(self) -> None:
        """End the engine, once it has heard how the game ended."""
        life, self._life = self._life, None
        if life is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await self._inbox.join()
        life.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await life

    # --- its life -------------------------------------------------------------------------------

    async def _live(self) -> None:
        """Have one engine take part until it fails or the seat is stopped."""
        self._watched = self._answer = None
        try:
            engine = self._make()
        except Exception as error:  # a file that it needs is gone since the match began
            self._report(Gone(str(error), "host_error"))
            return
        self._report(Came())
        try:
            await self._take_part(engine)
        except EngineFailed as failed:
            gone = Gone(str(failed), failed.code, engine.evidence())
        except OSError as error:
            gone = Gone(f"its process or its files can't be had: {error}", "host_error")
        except Exception as error:  # a bug of ours, which is not the engine's loss
            log.exception("adapter", seat=self.name)
            gone = Gone(f"{type(error).__name__} in its adapter", "host_error")
        finally:
            await self._end_asking()
            await _to_the_end(engine.close())
        self._report(gone)

    async def _take_part(self, engine: Engine) -> NoReturn:
        """Hear the arbiter and watch the engine, until one of them ends it."""
        alive = asyncio.create_task(engine.ended())
        try:
            while True:
                message = await self._or_failure(self._inbox.get(), alive)
                await self._or_failure(self._take(engine, message), alive)
                self._inbox.task_done()
                if alive.done() or isinstance(message, NewGame):
                    alive.cancel()  # it watches a process from when there is one
                    alive = asyncio.create_task(engine.ended())
        finally:
            alive.cancel()

    async def _or_failure(self, work: Coroutine[Any, Any, Any], alive: asyncio.Task[Any]) -> Any:
        """Do something, unless the engine or the question in hand fails first."""
        task = asyncio.ensure_future(work)
        watched = {task, alive} | ({self._asking} if self._asking else set())
        try:
            while not task.done():
                await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
                if self._asking is not None and self._asking.done():
                    asking, self._asking = self._asking, None
                    watched.discard(asking)
                    asking.result()
                if alive.done() and not task.done():
                    raise alive.result()
            return task.result()
        finally:
            task.cancel()

    async def _take(self, engine: Engine, message: Message) -> None:
        match message:
            case NewGame():
                await self._offered(engine, message)
            case Started():
                self._known.started(message)
            case Played():
                self._known.played(message)
                await engine.told(self._known.view)
            case YourTurn():
                self._known.turn(message)
                self._ask(engine, message.seq, message.attempt, message.deadline_ms)
            case Refused():
                self._refused(engine, message)
            case GameOver():
                await self._end_asking()
                if self._watched is not None:
                    await engine.over(self._known.view, self._known.result(message))

    @property
    def _known(self) -> Watched:
        assert self._watched is not None, "the arbiter speaks of a game that he has not offered"
        return self._watched

    async def _offered(self, engine: Engine, offer: NewGame) -> None:
        try:
            rules = rules_in_play(offer.rules)
            self._watched = Watched(offer, rules, Resources(self._lexicon), seed=0)
            self._watched.take_up(offer)
            await engine.start(self._watched.view)
        except (Declined, Unsuitable) as reason:
            self._say(Decline(game=offer.game, code=reason.code, message=str(reason)))
            return
        self._say(Ready(game=offer.game))

    # --- a turn ---------------------------------------------------------------------------------

    def _ask(self, engine: Engine, seq: int, attempt: int, deadline_ms: int) -> None:
        budget = plan(self._known.view, deadline_ms)
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.create_task(self._choose(engine, seq, attempt, budget))

    async def _choose(self, engine: Engine, seq: int, attempt: int, budget: Budget) -> None:
        known = self._known
        answer = self._answer = await engine.choose(known.view, budget)
        at_ms = now_ms()
        alphabet = known.view.rules.distribution.alphabet
        if isinstance(answer.move, str):
            text = answer.move[:MAX_TEXT].strip() or "(nothing)"
        else:
            text = format_move(answer.move, alphabet)
            known.sent(seq, attempt, answer.move)
            self._tell_thoughts(answer, answer.move, seq, at_ms)
            self._hold_against_the_rules(engine, answer, answer.move)
        move = Move(game=known.view.game, seq=seq, move=text, attempt=attempt)
        self._report(Said(move, at_ms, 0))

    def _hold_against_the_rules(self, engine: Engine, answer: Answer, move: EngineMove) -> None:
        """Note what it says wrongly of a move that may be played all the same."""
        view = self._known.view
        alphabet = view.rules.distribution.alphabet
        if answer.rack is not None and answer.rack != view.rack:
            racks = alphabet.text(view.rack), alphabet.text(answer.rack)
            self._note("wrong_rack", f"it holds {racks[0]}, and plays from {racks[1]}", engine)
        if answer.score is None:
            return
        with contextlib.suppress(IllegalMove):  # the arbiter will say so
            play = check_move(view.position, move, view.rules, None, view.bag)
            score = play.score if play else 0
            if score != answer.score:
                text = format_move(move, alphabet)
                said = f"{text} scores {score}, and {self.name} says {answer.score}"
                self._note("wrong_score", said, engine)

    def _tell_thoughts(self, answer: Answer, move: EngineMove, seq: int, at_ms: int) -> None:
        """Have the record say what it thinks, if those are thoughts that a record can hold."""
        if not answer.text and not answer.candidates:
            return
        choice = Choice(move, answer.score, text=answer.text, candidates=answer.candidates)
        info = info_about(self._known.view, seq, choice)
        try:
            MSGPACK.decode(MSGPACK.encode(info))
        except (PeerError, OverflowError) as error:
            log.warning("not kept", seat=self.name, reason=str(error))
            return
        self._report(Said(info, at_ms, 0))

    def _refused(self, engine: Engine, message: Refused) -> None:
        """Note what was wrong, with the transcript, and ask again while there are tries left."""
        self._known.refused(message)
        said = f"{self._said()}: {message.message}"
        if message.code == "not_a_word":
            words = self._known.view.lexicon.name
            said += f"; does {self.name} play with other words than {words}?"
        self._note(message.code, said, engine)
        if message.attempts_left:
            self._ask(engine, message.seq, message.attempt + 1, message.deadline_ms)

    def _said(self) -> str:
        move = self._answer.move if self._answer else ""
        alphabet = self._known.view.rules.distribution.alphabet
        return move[:MAX_TEXT] if isinstance(move, str) else format_move(move, alphabet)

    def _note(self, code: str, said: str, engine: Engine) -> None:
        self._report(Noted(code, said[:MAX_SENTENCE], engine.evidence()))

    def _say(self, message: Message) -> None:
        self._report(Said(message, now_ms(), 0))

    async def _end_asking(self) -> None:
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do something whole, even if the seat is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
