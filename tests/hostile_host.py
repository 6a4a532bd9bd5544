"""A host that seats a hostile bot, and says what the bot could do: as a program, by any user.

    python tests/hostile_host.py FOLDER

It makes FOLDER, in a folder of this user's. The program prints a line of JSON.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import secrets
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import hostile_bots
from bot_table import TestArbiter
from engine_games import marked

from bot.equipment import Equipment
from bot.registry import SeatSpec
from bot.seat import syscalls
from bot.seat.containment import containment
from bot.seat.worker_handle import ForkServer, SeatProcess
from bot.seat_text import parse_seat
from engine.rules.rules import standard_rules
from lexicons.store import load_lexicon

LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = "open sesame"
_JOIN, _SET_PERMISSIONS, _LINK, _INVALIDATE = 1, 5, 8, 21  # of keyctl
_ALL_FOR_THE_USER = 0x3F3F0000
_SESSION, _USER = -3, -4  # keyrings


@asynccontextmanager
async def asked(
    spec: SeatSpec,
    table: TestArbiter,
    *,
    forked: bool,
    hidden: Sequence[Path] = (),
    lexicon: str = "scowl",
) -> AsyncIterator[dict[str, str]]:
    """Ask a hostile bot for a move; yield its report, and then kill it."""
    told: asyncio.Queue[str] = asyncio.Queue()
    equipment = Equipment(lexicon=lexicon)
    parent = await ForkServer.warm(spec, equipment) if forked else None
    process = await SeatProcess.start(
        spec, equipment, parent=parent, printed=told.put_nowait, hidden=hidden
    )
    try:
        async with asyncio.timeout(60):
            await table.greet(process.channel)
            await table.begin()
            await table.ask()
            report = json.loads(await told.get())
        yield report
    finally:
        await process.kill()
        if parent is not None:
            await parent.kill()


def calls() -> dict[str, int]:
    """Return the numbers of the calls that the bot tries, on this machine."""
    column, _ = syscalls.MACHINES[os.uname().machine]
    return {name: numbers[column] for name, numbers in syscalls.DENIED.items()} | {
        "clone": syscalls.CLONE[column]
    }


async def try_all(folder: Path) -> dict[str, Any]:
    """Seat the bot that tries all among what it must not reach; return what came of it."""
    own, sibling = folder / "own", folder / "sibling"
    mark = f"hostile-{secrets.token_hex(8)}"
    for made in (folder, own, sibling):
        made.mkdir()
    private = [own / "games.db", own / "players.tokens", folder / "match.json"]
    for path in (*private, sibling / "bot.py"):
        path.write_text(SECRET)
    os.environ["PGPASSWORD"] = os.environ["TILEWIRE_TOKEN"] = SECRET
    number = calls()

    def keyctl(*arguments: int) -> int:
        return int(LIBC.syscall(*map(ctypes.c_long, (number["keyctl"], *arguments))))

    keyctl(_JOIN, 0)
    keyctl(_LINK, _USER, _SESSION)  # or we could not change what is in it
    keys = [
        LIBC.syscall(number["add_key"], b"user", mark.encode(), SECRET.encode(), 11, ring)
        for ring in (_SESSION, _USER)
    ]
    for key in keys:  # there may be none, in a container
        assert key < 0 or keyctl(_SET_PERMISSIONS, key, _ALL_FOR_THE_USER) == 0
    with ExitStack() as opened:
        opened.callback(lambda: [keyctl(_INVALIDATE, key) for key in keys])
        outside = [own / "door", folder / "door"]
        for address in (f"\0{mark}", *map(str, outside)):
            door = opened.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(address)
            door.listen()
        listening = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        targets = {
            "secret": SECRET,
            "host": os.getpid(),
            "port": listening.getsockname()[1],
            "abstract": mark,
            "sockets": [*map(str, outside)],
            "keys": keys,
            "calls": number,
            "private": [*map(str, private)],
            "folders": [str(sibling), str(folder)],
            "written": [str(own / "hostile_bots.py"), str(own / "new"), "/etc/passwd", "/usr/x"],
        }
        (own / "targets.json").write_text(json.dumps(targets))
        bot = shutil.copy(hostile_bots.__file__, own)
        words = folder / "words.txt"  # few, since another user has none in its cache
        words.write_text("AT\nCAT\n")
        table = TestArbiter(load_lexicon(words), standard_rules())
        spec = parse_seat(f"{bot}:TriesAll?mark={mark}")
        async with asked(
            spec, table, forked=True, hidden=private[:2], lexicon=str(words)
        ) as report:
            daemons = sum(hostile_bots.SLEEPS in line for line in marked(mark).values())
    report["daemons, signals ignored"] = f"{daemons} while it played, {len(marked(mark))} left"
    return report


if __name__ == "__main__":
    report = asyncio.run(try_all(Path(sys.argv[1]).absolute()))
    print(json.dumps({"containment": str(containment()), "report": report}))
