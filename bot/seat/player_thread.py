"""Where a player's code runs: a thread of its own, and the answer that is waited for.

The event loop stays free to answer pings while a search runs. A thread can't be stopped from
outside, so what counts is when it is no longer waited for:

* a built-in player that is not back by ``Budget.last_ms`` is overruled by its best offer, the
  first of which is the static choice, made before the search began; so is one that set itself a
  limit (``Budget.limit``) and does not keep it;
* anybody else's player is overruled only by an offer of its own. Without one its clock runs on.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

from bot.player import Budget, Choice, Player, View
from bot.players.static import static_choice
from engine.rules.moves import Exchange, Pass, Place

__all__ = ["PlayerThread", "think"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class PlayerThread:
    """A thread that runs what it is given, one after another; it does not outlive the process."""

    def __init__(self, name: str) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Have a function run after those before it."""
        future: Future[_T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:  # whatever it is, it is for whoever waits
                future.set_exception(_bearable(error))

        self._work.put(work)
        return future

    def close(self) -> None:
        """End the thread once it has run what it was given."""
        self._work.put(None)

    def join(self, timeout_s: float) -> bool:
        """Wait for a closed thread; tell whether it has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


async def think(
    player: Player, thread: PlayerThread, view: View, budget: Budget, *, built_in: bool
) -> Choice:
    """Let a player choose, as described above.

    Raises:
        Exception: whatever the player raises, or ``TypeError`` for an answer that is no choice.
    """
    loop = asyncio.get_running_loop()
    news = asyncio.Event()
    if built_in:
        # Right here: it takes about a millisecond, and to wait for a thread on a busy machine more.
        budget.offer(static_choice(view))
    budget.on_change(lambda: loop.call_soon_threadsafe(news.set))
    answer = asyncio.wrap_future(thread.submit(player.choose, view, budget))
    answer.add_done_callback(_look_away)
    answer.add_done_callback(lambda _answer: news.set())
    try:
        await _wait(answer, budget, news)
        return _checked(answer.result() if answer.done() else budget.best, player)
    finally:
        budget.on_change(None)
        budget.cancel()


async def _wait(answer: asyncio.Future[Choice], budget: Budget, news: asyncio.Event) -> None:
    """Wait for the answer, or until the last moment; from then on for an offer, if none is there.

    The player may set itself a limit, so the last moment is looked up again whenever there is news.
    """
    while not answer.done():
        news.clear()
        left_ms = budget.until_last_ms()
        if left_ms == 0 and budget.best is not None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left_ms / 1_000 if left_ms else None):
                await news.wait()


def _look_away(answer: asyncio.Future[Choice]) -> None:
    """Take note of an answer, be it an exception: it may come when nobody waits any more."""
    if not answer.cancelled():
        answer.exception()


def _checked(choice: object, player: Player) -> Choice:
    if not isinstance(choice, Choice) or not isinstance(choice.move, Place | Exchange | Pass):
        raise TypeError(
            f"{type(player).__name__}.choose gave {choice!r:.200}; it is to give a Choice of a move"
        )
    return choice


def _bearable(error: BaseException) -> Exception:
    """Wrap what would do more to an event loop than fail."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"the player raised {error!r}")
    wrapped.__cause__ = error
    return wrapped
