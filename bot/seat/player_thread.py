"""A ``Player`` in a thread, and the wait for its answer.

A thread can't be stopped from outside, so the wait for its answer is limited instead:

* If a built-in player is late for ``Budget.last_ms`` or its own ``Budget.limit``, its last offer is
  played. The first offer is the static choice, made before the search.
* If a user's player is late, its own last offer is played. Without an offer its clock runs on.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from bot.equipment import Equipment
from bot.player import Budget, Choice, Listener, Observed, Player, Result, View
from bot.search.static_choice import static_choice
from engine.rules.moves import Move
from protocol.messages import Seek

from .author_errors import stands_at
from .game_session import SeatPlayer
from .runtime import NOTICE

_P = ParamSpec("_P")
_T = TypeVar("_T")

WAITING_S = 3.0
"""How long a method before ``choose`` may take until its author is told where it is."""

_NOTHING = frozenset(function for function in vars(Listener).values() if callable(function))
"""The methods of ``Listener``, which do nothing unless a player overrides them."""


class PlayerThread:
    """A thread with a queue of functions; it does not outlive the process."""

    def __init__(self, name: str) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Queue a function."""
        future: Future[_T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:  # the waiter gets it, whatever it is
                if isinstance(error, Exception) and not isinstance(error, StopIteration):
                    future.set_exception(error)
                    return
                # It would stop an event loop, or a future can't hold it.
                wrapped = RuntimeError(f"the player raised {error!r}")
                wrapped.__cause__ = error
                future.set_exception(wrapped.with_traceback(error.__traceback__))  # says where

        self._work.put(work)
        return future

    def stands_at(self) -> str:
        """Return where the thread is in its author's code; empty if it isn't."""
        return stands_at(self._thread.ident)

    def close(self) -> None:
        """End the thread after the queued functions."""
        self._work.put(None)

    def join(self, timeout_s: float) -> bool:
        """Wait for a closed thread; return whether it has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


@dataclass(frozen=True)
class Bot:
    """A bot: its players, what they play with, and how many games it seeks."""

    name: str
    make_player: Callable[[], Player]
    equipment: Equipment = field(default_factory=Equipment)
    built_in: bool = False
    """Whether its players are built in, and may be overruled."""
    seed: int | None = None
    """Seed of its players' random choices; None: a new seed for each game."""
    freeze: bool = False
    """Refuse compilation once a player is warm, since compiling in mid-game would stop the game for
    seconds; for a dedicated process."""
    loaded: asyncio.Future[Any] | None = None
    """Awaited before the first game is set up."""
    seek: Seek | None = None
    """Its request to a server; it says goodbye after as many games. None: it waits for offers, and
    stays."""


class ThreadPlayer(SeatPlayer):
    """A player of a bot, in a thread; ``failed`` takes errors of its code that nobody awaits."""

    def __init__(self, bot: Bot, name: str, failed: Callable[[BaseException], None]) -> None:
        self.thread = PlayerThread(name)
        self.player = Player()
        self._bot, self._failed = bot, failed
        self._printed = set[str]()
        self._asked: Future[Choice] | None = None  # the last ``choose``, which may be late

    async def start(self, view: View) -> None:
        """Make the player, compile, load and warm up in its thread; let exceptions pass."""
        loop = asyncio.get_running_loop()
        waiting = loop.call_later(WAITING_S, self._print_place, "it is not ready for a game yet")
        try:
            await asyncio.wrap_future(self.thread.submit(self._warm_up, view))
        finally:
            waiting.cancel()

    def _warm_up(self, view: View) -> None:
        self.player = self._bot.make_player()
        from lexicons import jit

        jit.load()
        self.player.warm_up(view.lexicon, view.rules)
        self.player.make_room(view)
        if self._bot.built_in:
            some_rack = view.unseen_tiles[-view.rules.rack_size :]
            static_choice(view.holding(some_rack))  # loads its tables
        if self._bot.freeze:
            jit.freeze()

    async def choose(self, view: View, budget: Budget) -> Choice:
        """Let the player choose; raise its errors, or TypeError if it returns no ``Choice``."""
        loop = asyncio.get_running_loop()
        news = asyncio.Event()  # set at each offer or change of the budget, and by the answer
        if self._bot.built_in:
            # In this thread: it takes a millisecond, less than waking another thread may take.
            budget.offer(static_choice(view))
        budget.on_change(lambda: loop.call_soon_threadsafe(news.set))
        before, submitted = self._asked, self.thread.submit(self.player.choose, view, budget)
        self._asked, answer = submitted, asyncio.wrap_future(submitted)

        def wait() -> None:
            if before is not None and not before.done():
                turn = "try" if view.refused else "turn"
                self._print_place(f"choose of the {turn} before is still running")
            elif not submitted.running():
                self._print_place("choose waits for another method")

        waiting = loop.call_later(WAITING_S, wait)
        answer.add_done_callback(_look_away)
        answer.add_done_callback(lambda _answer: news.set())
        try:
            while not answer.done():
                news.clear()
                left_ms = budget.until_last_ms()
                if left_ms == 0 and budget.best is not None:
                    break
                if left_ms == 0 and submitted.running():
                    self._print_place("choose is late, and has offered nothing")
                elif left_ms == 0:
                    wait()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left_ms / 1_000 if left_ms else None):
                        await news.wait()
            return self._checked(view, answer.result() if answer.done() else budget.best)
        finally:
            waiting.cancel()
            budget.on_change(None)
            budget.cancel()

    async def challenge(self, view: View, play: Observed) -> Sequence[str]:
        """Ask the player what it challenges; return each word once; raise its errors.

        Raises:
            ValueError: it challenges a word that the play did not make.
        """
        asked = asyncio.wrap_future(self.thread.submit(self.player.challenge, view, play))
        asked.add_done_callback(_look_away)
        words = list(await asyncio.shield(asked))
        if unknown := [word for word in words if word not in play.words]:
            raise ValueError(f"{unknown[0]!r:.80} is challenged; the play made {play.words}")
        return list(dict.fromkeys(words))

    def _print_place(self, state: str) -> None:
        """Print, once, where the player is: if it never returns, nothing else tells its author."""
        if state not in self._printed and (where := self.thread.stands_at()):
            self._printed.add(state)
            print(f"{NOTICE}{self._bot.name}: {state}: it is at {where}", file=sys.stderr)

    def _checked(self, view: View, choice: object) -> Choice:
        """Return a choice; else raise TypeError, which says what its author should write."""
        if isinstance(choice, Choice) and isinstance(choice.move, Move):
            return choice
        what = choice.move if isinstance(choice, Choice) else choice
        advice = "return Choice(move)"
        answer = "None" if what is None else f"a {type(what).__name__}"
        if isinstance(what, Move):
            answer = "a move without Choice"
        elif isinstance(what, str):
            advice = "write Choice(view.move(text))"
        elif isinstance(getattr(what, "move", None), Move):  # a ScoredMove or a ValuedMove
            advice = "write .move behind it, as in Choice(best.move)"
        name = f"{type(self.player).__name__}.choose"
        if (code := getattr(self.player.choose, "__code__", None)) is not None:
            name += f" ({code.co_filename}, line {code.co_firstlineno})"
        raise TypeError(f"{advice}; {name} gave {answer}")

    def new_game(self, view: View) -> None:
        """Report the start of the game to the player."""
        self._run(self.player.new_game, view)

    def observe(self, view: View, play: Observed) -> None:
        """Report a turn."""
        self._run(self.player.observe, view, play)

    def ponder(self, view: View, budget: Budget) -> None:
        """Let the player use the opponent's time."""
        self._run(self.player.ponder, view, budget)

    def refused(self, view: View, move: Move, message: str) -> None:
        """Report a refusal."""
        self._run(self.player.refused, view, move, message)

    def game_over(self, view: View, result: Result) -> None:
        """Report how the game ended."""
        self._run(self.player.game_over, view, result)

    def leave(self) -> None:
        """Free the player, which may have a lot of memory, and end the thread after its work."""
        self.thread.submit(setattr, self, "player", Player())
        self.thread.close()

    def _run(self, function: Callable[_P, None], *args: _P.args, **kwargs: _P.kwargs) -> None:
        if getattr(function, "__func__", None) in _NOTHING:
            return  # the player does not listen
        loop = asyncio.get_running_loop()

        def done(future: Future[None]) -> None:
            error = future.exception()
            if error is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self._failed, error)

        self.thread.submit(function, *args, **kwargs).add_done_callback(done)


def _look_away(answer: asyncio.Future[Any]) -> None:
    """Retrieve a late exception, so that asyncio does not log that nobody did."""
    if not answer.cancelled():
        answer.exception()
