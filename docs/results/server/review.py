"""Review a game as the page does, 2 s a turn, and print when each turn is there.

    python docs/results/server/review.py [GAME.gcg] [--beside]

The server and its analysing process are this machine's; the process runs only where a core is idle,
as on any server, or with ``--beside`` like any other process.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from bot.equipment import Equipment
from harness.arbiter.journal import Journal
from harness.game_kinds import MAIN, GameKind
from harness.server.page_analysis.conversation import SUBPROTOCOL
from harness.server.page_analysis.process import AnalysisProcess
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper
from lexicons.store import load_lexicon

GAME = Path(__file__).with_name("review.gcg")


async def review(data: bytes, port: int) -> None:
    """Ask for a review and print what comes, and when."""
    at = f"127.0.0.1:{port}"
    began, rollouts = time.perf_counter(), []
    page = connect(
        f"ws://{at}", origin=Origin(f"http://{at}"), subprotocols=[Subprotocol(SUBPROTOCOL)]
    )
    async with page as socket:
        text = base64.b64encode(data).decode()
        await socket.send(json.dumps({"type": "analyse", "id": 1, "data": text}))
        async for frame in socket:
            told, now_s = json.loads(frame), time.perf_counter() - began
            if told["type"] == "game":
                print(f"{now_s:5.1f} s  {len(told['turns'])} turns are read")
            elif told["type"] == "turn":
                rollouts.append(told["rollouts"])
                best, lost = told["verdict"]["best"], told["verdict"]["ahead_of_played"]
                cost = f"{100 * lost['win']:.1f} %" if lost and lost["win"] is not None else "–"
                print(f"{now_s:5.1f} s  line {told['line']:2}: best {best}, lost {cost}")
            else:
                print(f"{now_s:5.1f} s  {told['type']}; {sum(rollouts):,} rollouts in all")
            if told["type"] in ("done", "error"):
                return


async def main(arguments: list[str]) -> None:
    """Start a server, and review a game there."""
    beside = "--beside" in arguments
    paths = [Path(each) for each in arguments if each != "--beside"]
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "games.db")
        kinds = {MAIN: GameKind(equipment=Equipment())}
        start = partial(AnalysisProcess.start, kinds, idle=not beside)
        gate = Gatekeeper(journal)
        server = MatchServer(
            ServerTables(TableKind(lexicon=load_lexicon())),
            journal,
            gate,
            drain_s=0,
            analyst=lambda _: start(),
        )
        await server.start()
        print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores")
        await review((paths or [GAME])[0].read_bytes(), server.port)
        await server.stop()
        journal.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
