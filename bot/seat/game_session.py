"""One game of a player: the arbiter's messages in, the player's answers out.

It outlives connections: a search continues while the connection is lost, and its answer goes out
when the arbiter repeats the question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import structlog
from msgspec import UNSET, structs

from bot.equipment import Resources
from bot.player import (
    Believed,
    Budget,
    Choice,
    Considered,
    Listener,
    Observed,
    View,
    phonies,
)
from bot.search.time_plan import LagSeen, plan, pondering
from engine.notation.move_text import format_move
from engine.rules.rules import Rules
from protocol.channel import now_ms
from protocol.messages import (
    Accept,
    Challenge,
    Committed,
    Drawn,
    GameMessage,
    GameOver,
    Info,
    Move,
    NewGame,
    Played,
    Refused,
    Started,
    YourTurn,
)
from protocol.nonces import SeatNonce
from protocol.parts import MAX_MOVE, MAX_SENTENCE, Candidate, thoughts_of
from protocol.session import FromArbiter

from .player_view import Watched

log = structlog.get_logger(__name__)

MAX_CANDIDATES = 25

REPORT_MS = 500
REPORTS = 50
"""Approximate number of reports in a long turn: arbiters keep a limited number."""


class SeatPlayer(Listener):
    """A player in one game, as its seat drives it; only its moves are awaited.

    ``bot.seat.player_thread.ThreadPlayer`` runs a ``Player`` in a thread;
    ``harness.seats.engines.engine.Engine`` asks a foreign program.
    """

    async def start(self, view: View) -> None:
        """Get ready for a game, new or resumed; no clock runs. Raise Declined if it can't play."""
        raise NotImplementedError

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Choose a move within the budget; cancelled when the answer is no longer wanted.

        A ``str`` is a text that is not a move; the arbiter refuses it.
        """
        raise NotImplementedError

    async def challenge(self, view: View, play: Observed) -> Sequence[str]:
        """Return the words of the opponent's last play to challenge; by default phonies."""
        return phonies(view, play)

    def leave(self) -> None:
        """Note that the player is needed no more in this game."""


P = TypeVar("P", bound=SeatPlayer)


def begin(
    work: Coroutine[Any, Any, None],
    tasks: set[asyncio.Task[None]],
    failed: Callable[[BaseException], None],
) -> asyncio.Task[None]:
    """Begin work as a task that is in ``tasks`` until it ends; ``failed`` takes its exception."""

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            failed(error)

    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(ended)
    return task


class GameSession(Generic[P]):
    """A game in which a player has a seat; ``seed`` is for the player's random choices.

    ``send`` sends messages in order; if they may not be sent now and include a move, they are kept
    until the turn is asked again. ``failed`` takes a search's exception.
    """

    def __init__(
        self,
        offer: NewGame,
        rules: Rules,
        resources: Resources,
        player: P,
        *,
        seed: int,
        send: Callable[..., None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.name = offer.game
        self.player = player
        self.watched = Watched(offer, rules, resources, seed)
        self.answer: Choice | str = ""
        self.answered_ms = 0
        self._send = send
        self._failed = failed
        self._nonce = SeatNonce(offer.game, self.watched.seat)
        self._has_opening = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._search: asyncio.Task[None] | None = None
        self._turn: tuple[int, int] | None = None
        """Number and attempt of the turn in thought."""
        self._budget: Budget | None = None
        self._believed: Believed | None = None
        """The belief of this turn that was last sent."""
        self._challenge_ms = 0
        """How long the opponent's last play may be challenged, from the question on."""
        self._may_ponder = resources.ponder
        self._pondering: Budget | None = None
        self._lag = LagSeen()

    async def prepare(self) -> None:
        """Get the player ready, before the first message; let exceptions pass, ``Declined`` too."""
        await self.player.start(self.watched.view)

    # --- what the arbiter says ------------------------------------------------------------------

    def offered(self, offer: NewGame) -> None:
        """Take an offer as ``Watched.take_up`` does, and report that the player is ready."""
        self._stop_pondering()
        try:
            self.watched.take_up(offer)
        finally:
            self._update_player()
        self._send(self._nonce.ready(offer))

    def take(self, message: FromArbiter, at_ms: int, round_trip_ms: int) -> None:
        """Handle a message about a started game; raise MissedPlays if a turn is missing."""
        watched = self.watched
        self._stop_pondering()
        match message:
            case Committed():
                self._send(self._nonce.reveal(message))
            case Started():
                watched.started(message)
                self._update_player()
            case Played():
                watched.played(message)
                self._lag.played(message, watched.view.time.increment_ms)
                is_own_news = message.seat == watched.seat and bool(watched.news)
                self._update_player()
                if is_own_news and message.challenge is UNSET:
                    self._ponder()
            case Drawn():
                watched.drawn(message)
                self._update_player()
                self._ponder()
            case YourTurn(seq=seq, attempt=attempt):
                watched.turn(message)
                self._observe_news()
                self._challenge_ms = 0 if message.challenge_ms is UNSET else message.challenge_ms
                self._lag.asked(seq, message.clocks[watched.seat], at_ms)
                self._begin_search((seq, attempt), message.deadline_ms, at_ms, round_trip_ms)
            case Refused(seq=seq, code=code, message=why):
                move = watched.refused(message)
                log.warning("move refused", game=self.name, seq=seq, code=code, why=why)
                if move is not None:
                    self.player.refused(watched.view, move, why)
                self._begin_search(
                    (seq, message.attempt + 1), message.deadline_ms, at_ms, round_trip_ms
                )
            case GameOver():
                self.over(message)

    def _ponder(self) -> None:
        view = self.watched.view
        if self._may_ponder and not view.is_over:
            self._pondering = pondering(view)
            self.player.ponder(view, self._pondering)

    def answered_again(self) -> None:
        """Note that an answer is sent again, since its question was repeated."""
        self._lag.forget()

    def over(self, message: GameOver) -> None:
        """Take the end of the game."""
        self._stop_pondering()
        self._drop_search()
        try:
            self.player.game_over(self.watched.view, self.watched.result(message))
        finally:
            self.player.leave()

    def abandon(self) -> None:
        """End the game here; its result stays unknown."""
        self._stop_pondering()
        self._drop_search()
        self.player.leave()

    async def close(self) -> None:
        """Cancel the current search, and wait for all searches to end."""
        self._drop_search()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _update_player(self) -> None:
        watched = self.watched
        if not self._has_opening and watched.opening is not None:
            self._has_opening = True
            self.player.new_game(watched.opening)
        if watched.news:
            self._drop_search()  # its turn is decided
        self._observe_news()

    def _observe_news(self) -> None:
        for view, play in self.watched.news:
            self.player.observe(view, play)
        self.watched.news.clear()

    # --- thinking -------------------------------------------------------------------------------

    def _begin_search(
        self, turn: tuple[int, int], deadline_ms: int, at_ms: int, round_trip_ms: int
    ) -> None:
        """Begin to search for the answer to a turn, given by its number and attempt."""
        if self._turn == turn and self._search is not None and not self._search.done():
            return  # asked again after a lost connection: the search continues
        self._drop_search()
        view = self.watched.view
        round_trip_ms = max(round_trip_ms, self._lag.ms)
        budget = plan(view, deadline_ms, asked_ms=at_ms, round_trip_ms=round_trip_ms)
        self._turn = turn
        self._budget = budget
        self._believed = None
        self._search = begin(self._answer(turn, view, budget), self._tasks, self._failed)

    async def _answer(self, turn: tuple[int, int], view: View, budget: Budget) -> None:
        seq, attempt = turn
        began = now_ms()
        if await self._challenges(turn, view):
            return
        reports = begin(self._report(seq, view, budget), self._tasks, self._failed)
        try:
            choice = self.answer = await self.player.choose(view, budget)
        finally:
            reports.cancel()
        self.answered_ms = now_ms()
        answer: list[GameMessage] = []
        if isinstance(choice, str):
            text = choice[:MAX_MOVE].strip() or "(nothing)"  # an engine's output may be longer
        else:
            text = format_move(choice.move, view.rules.distribution.alphabet)
            self.watched.sent(seq, attempt, choice.move)
            if choice.equity is not None or any(thoughts_of(choice).values()):
                answer.append(self._info(view, seq, choice))
        self._send(*answer, Move(game=self.name, seq=seq, move=text, attempt=attempt))
        ended = now_ms()
        self._lag.answered(ended)
        log.debug("move", game=self.name, seq=seq, move=text, took_ms=ended - began)

    async def _challenges(self, turn: tuple[int, int], view: View) -> bool:
        """Challenge or accept the opponent's open play; return whether no move is needed.

        A player that takes too long accepts.
        """
        watched, (seq, attempt) = self.watched, turn
        play = watched.open_play
        if play is None:
            if view.is_over:  # asked again: the acceptance was lost
                self._send(Accept(game=self.name, seq=seq))
            return view.is_over
        words: Sequence[str] = ()
        try:
            async with asyncio.timeout(self._challenge_ms / 1_000) as limit:
                words = await self.player.challenge(view, play)
        except TimeoutError:
            if not limit.expired():  # the player's code raised it
                raise
        if words and attempt == 1:
            challenge = Challenge(game=self.name, seq=seq, words=tuple(words), attempt=attempt)
            self._send(challenge)
            return True
        self._send(Accept(game=self.name, seq=seq))
        watched.accept()
        self._observe_news()
        return view.is_over

    async def _report(self, seq: int, view: View, budget: Budget) -> None:
        began = now_ms()
        reported: Choice | None = None
        while True:
            every_ms = max(REPORT_MS, (budget.stretch_ms - began) // REPORTS)
            await asyncio.sleep(every_ms / 1_000)
            best = budget.best
            if best is not None and best is not reported and best.candidates:
                reported = best
                self._send(self._info(view, seq, replace(best, belief=budget.belief)))

    def _info(self, view: View, seq: int, choice: Choice) -> Info:
        """Write a player's thoughts, each belief once, since the arbiter keeps all that it gets."""
        if choice.belief is self._believed:
            choice = replace(choice, belief=None)
        else:
            self._believed = choice.belief or self._believed
        return _info_about(view, seq, choice)

    def _drop_search(self) -> None:
        if self._budget is not None:
            self._budget.cancel()
        if self._search is not None:
            self._search.cancel()
        self._search = self._turn = self._budget = None

    def _stop_pondering(self) -> None:
        if self._pondering is not None:
            self._pondering.cancel()
            self._pondering = None


def _info_about(view: View, seq: int, choice: Choice) -> Info:
    """Write a player's thoughts, with the first of its candidates and their moves as text."""
    considered = choice.candidates[:MAX_CANDIDATES] or (
        Considered(choice.move, score=choice.score, equity=choice.equity),
    )
    written = {
        "text": choice.text[:MAX_SENTENCE] if choice.text else None,
        "candidates": tuple(
            Candidate(**{**structs.asdict(each), "move": view.text(each.move)})
            for each in considered
        ),
    }
    return Info(game=view.game, seq=seq, **(thoughts_of(choice) | written))
