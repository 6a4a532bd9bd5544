"""Where a player's code runs: a thread of its own, and the answer that is waited for.

The event loop stays free to answer pings while a search runs. A thread can't be stopped from
outside, so what counts is when it is no longer waited for:

* a player of the house that is not back by ``Budget.last_ms`` is overruled by its best offer, the
  first of which is the static choice, made before the search began;
* anybody else's player is overruled only by an offer of its own. Without one its clock runs on.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from engine.moves import Exchange, Pass, Place

from .player import Budget, Choice, Player, View
from .players.static import static_choice

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
    player: Player,
    thread: PlayerThread,
    view: View,
    budget: Budget,
    *,
    built_in: bool,
    clock: Callable[[], int],
) -> Choice:
    """Let a player choose, as described above.

    Raises:
        Exception: whatever the player raises, or ``TypeError`` for an answer that is no choice.
    """
    loop = asyncio.get_running_loop()
    offered = asyncio.Event()
    if built_in:
        budget.offer(await _in_daemon_thread(static_choice, view))
    budget.on_offer(lambda: loop.call_soon_threadsafe(offered.set))
    answer = asyncio.wrap_future(thread.submit(player.choose, view, budget))
    answer.add_done_callback(_look_away)
    try:
        left_s = max(0, budget.last_ms - clock()) / 1_000
        await asyncio.wait({answer}, timeout=left_s)
        if not answer.done() and budget.best is None:
            await _first(answer, offered)
        if answer.done():
            return _checked(answer.result(), player)
        assert budget.best is not None
        return _checked(budget.best, player)
    finally:
        budget.on_offer(None)
        budget.cancel()


async def _first(answer: asyncio.Future[Choice], offered: asyncio.Event) -> None:
    """Wait for the answer or an offer."""
    offer = asyncio.create_task(offered.wait())
    try:
        either: set[asyncio.Future[Any]] = {answer, offer}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        offer.cancel()


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


async def _in_daemon_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a function beside the loop and beside a search that may still hold its own thread."""
    thread = PlayerThread("static choice")
    try:
        return await asyncio.wrap_future(thread.submit(function, *args, **kwargs))
    finally:
        thread.close()
