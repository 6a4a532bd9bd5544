"""The process that a seat lives in: ``python -m bot.seat.worker_main``.

Over a pipe (``--pipe``) it speaks through what were its standard input and output when it started;
these are put aside first, so that what a player prints goes to standard error and garbles nothing.
Or it dials a server (``--connect``). Either way it ends when the conversation does, whatever its
search threads are doing: no process stays behind.

With ``--try-out`` it makes a player, and ends, also if that takes too long.

Exit status: 0 when the conversation ended as it should, 1 when the player's own code failed (the
traceback is on standard error), 2 when the seat or the command makes no sense, 3 when the server
could not be reached or would not have us.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import syscalls
from .runtime import NOTICE, log_to_stderr, loop_factory, read_pipe, set_pipes_aside, write_pipe

if TYPE_CHECKING:
    from bot.equipment import Equipment
    from bot.player import Factory
    from bot.registry import SeatSpec
    from protocol.channel import Channel
    from protocol.messages import Message, Seek

    from .connection import BotRunner

TOKEN = "TILEWIRE_TOKEN"
"""Environment variable with the bot's secret; all users of the machine can see arguments."""

SETTLE_S = 1.0
USES = "tilewire uses: "
"""Prefix of the line on standard error that lists the modules whose kernels a bot uses."""

NICENESS = 5
"""Niceness of a seat's process, so that the host, whose event loop keeps the time, comes first."""

_NEEDED = (
    *("bot.registry", "bot.seat.connection", "bot.seat.player_thread", "bot.seat_text"),
    *("protocol.websocket", "websockets.asyncio.client"),
)
"""Modules that every worker imports, so that the warm parent imports them first."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a seat; never returns: the process ends even if a search thread is busy."""
    options = _parser().parse_args(arguments)
    hosted = not options.try_out  # it plays for the process that started it, and ends with that
    if hosted:
        syscalls.die_with_parent()  # a closed pipe ends it, too
    pipe = None
    if options.pipe:
        pipe = set_pipes_aside()
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
    elif hosted:
        os.dup2(2, 1)  # the host keeps what a player prints, from standard error
    status = 1
    try:
        status = _run(options, pipe)
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        from .author_errors import in_words, print_traceback

        print_traceback(error)
        if hosted:
            name = options.name or options.bot
            print(f"{NOTICE}{name}: {in_words(error)}", file=sys.stderr)
    finally:
        _leave(status, with_group=hosted)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bot.seat.worker_main", description=__doc__)
    parser.add_argument("--bot", required=True, metavar="SEAT", help="static, module:factory, …")
    parser.add_argument(
        "--equipment", default="{}", metavar="JSON", help="the fields of bot.equipment.Equipment"
    )
    parser.add_argument("--name", help="what to be called; the bot's name by default")
    parser.add_argument("--seed", type=int, help="seed of the player's random choices")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--pipe", action="store_true", help="speak through stdin and stdout")
    where.add_argument(
        "--try-out", nargs=2, type=float, help="load the bot, and end; seconds until we tell, end"
    )
    where.add_argument("--connect", metavar="URL", help="dial a server: ws://… or wss://…")
    return parser


def _leave(status: int, *, with_group: bool) -> None:
    """End this process now; with ``with_group``, if it leads its group, send that SIGTERM too."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if with_group and os.getpgrp() == os.getpid():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
    os._exit(status)


def _run(options: argparse.Namespace, pipe: tuple[int, int] | None) -> int:
    from bot.registry import SeatError
    from bot.seat_text import parse_seat

    log_to_stderr("info" if options.try_out else "warning")
    try:
        spec = parse_seat(options.bot)
        if options.try_out:
            waited_for = (spec.name, threading.get_ident(), *options.try_out)
            threading.Thread(target=_wait_for, args=waited_for, daemon=True).start()
            return _try_out(spec)
        # Never closed, since that would wait for threads, which may never end.
        runner = asyncio.Runner(loop_factory=loop_factory())
        return runner.run(_live(options, spec, _equipment(options), pipe))
    except SeatError as error:
        print(error, file=sys.stderr)
        return 2


def _try_out(spec: SeatSpec) -> int:
    """Load a bot and make a player; print what is wrong with it, or which kernels it uses."""
    from bot.registry import SeatError, create_player

    try:
        create_player(spec)
        if "lexicons.jit" in sys.modules:
            print(USES, *sys.modules["lexicons.jit"].kernel_modules(), file=sys.stderr)
        return 0
    except SeatError as error:
        if error.__cause__ is None or spec.built_in:
            raise
        wrong: BaseException = error.__cause__
    except BaseException as error:
        wrong = error
    from .author_errors import in_words

    print(in_words(wrong), file=sys.stderr)
    return 2


def _wait_for(name: str, thread: int, quiet_s: float, limit_s: float) -> None:
    """Say where in its code a bot is that does not start, and at the limit end this process."""
    from .author_errors import stands_at

    time.sleep(quiet_s)
    if where := stands_at(thread):
        print(f"{NOTICE}{name} has not started yet: it is at {where}", file=sys.stderr)
    time.sleep(limit_s - quiet_s)
    where = stands_at(thread) or "no line of its own code"
    print(f"{name} did not start within {limit_s:g} s: it is at {where}", file=sys.stderr)
    _leave(2, with_group=False)


async def _live(
    options: argparse.Namespace,
    spec: SeatSpec,
    equipment: Equipment,
    pipe: tuple[int, int] | None,
) -> int:
    from protocol.channel import ChannelClosed, PipeChannel

    from .connection import TurnedAway

    token = os.environ.pop(TOKEN, None)  # hidden from the player's code

    async def dial() -> Channel:
        if pipe is not None:
            reader, _ = await read_pipe(pipe[0])
            return PipeChannel(reader, await write_pipe(pipe[1]), "host")
        from protocol.websocket import dial as dial_websocket

        return await dial_websocket(options.connect, token=token)

    async def talk(runner: BotRunner) -> str:
        return await (runner.converse(await dial()) if pipe else runner.run(dial))

    try:
        await live(spec, equipment, talk, name=options.name, seed=options.seed)
    except (ChannelClosed, TurnedAway) as ended:
        if isinstance(ended, TurnedAway) or not pipe:
            print(ended, file=sys.stderr)
            return 3
    return 0


def warm_up(arguments: Sequence[str]) -> None:
    """Import and load our code for a worker with these arguments; load its words and tables."""
    from importlib import import_module

    for name in _NEEDED:
        import_module(name)
    loop_factory()
    _load_ours(_equipment(_parser().parse_args(arguments)))


def _equipment(options: argparse.Namespace) -> Equipment:
    from bot.equipment import Equipment
    from bot.registry import SeatError

    try:
        return Equipment(**json.loads(options.equipment))
    except ValueError as error:
        raise SeatError(str(error)) from None


async def live(
    spec: SeatSpec,
    equipment: Equipment,
    talk: Callable[[BotRunner], Awaitable[str]],
    *,
    name: str | None = None,
    seed: int | None = None,
    seek: Seek | None = None,
    on_message: Callable[[Message], None] = lambda _message: None,
    secret: str = "",
) -> None:
    """Load a bot while ``talk`` runs; return when the conversation has ended.

    ``hear`` and ``secret`` are those of ``BotRunner``.

    Raises:
        SeatError: the bot can't be loaded.
        Exception: as ``talk``, or of the player's code after its last game.
    """
    from .player_thread import Bot, PlayerThread

    # Not a thread of the loop, which waits for its threads at the end: compiling takes a minute.
    thread = PlayerThread("loading")
    loaded: asyncio.Future[Any] = asyncio.wrap_future(thread.submit(_load, spec, equipment))
    thread.close()
    from bot.registry import create_player

    from .connection import BotRunner

    bot = Bot(
        name or spec.name,
        lambda: create_player(spec, loaded.result()),
        equipment,
        built_in=spec.built_in,
        seed=seed,
        freeze=True,
        loaded=loaded,
        seek=seek,
    )
    runner = BotRunner(bot, on_message, secret=secret)
    talking = asyncio.ensure_future(talk(runner))
    try:
        await asyncio.wait({talking, loaded}, return_when=asyncio.FIRST_COMPLETED)
        if loaded.done():
            loaded.result()
        await talking
    finally:
        talking.cancel()
        loaded.cancel()
        await asyncio.wait({talking})  # lets a connection that is being made be closed first
        await runner.games.settle(SETTLE_S)
        runner.check()


def _load(spec: SeatSpec, equipment: Equipment) -> Factory:
    """Import the player and kernels, load words and tables; most of the start-up time."""
    from bot.registry import check_options, load_factory

    factory = load_factory(spec)
    check_options(spec, factory)
    _load_ours(equipment)
    return factory


def _load_ours(equipment: Equipment) -> None:
    from lexicons import jit

    from .offers import preload

    jit.load()
    preload(equipment)
    gc.freeze()  # a full collection over numba's objects would cost a turn 100 ms


if __name__ == "__main__":
    main()
