"""A server that analyses for its page, with the same findings on any machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from servers import served

from bot.equipment import Equipment
from harness.analysis.task import Task
from harness.game_kinds import MAIN, GameKind
from harness.server.page_analysis.process import AnalysisProcess

ROLLOUTS = 400


class Counted(AnalysisProcess):
    """An analysing process that counts rollouts, not time."""

    async def do(self, task: Task, told: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        return await super().do(replace(task, rollouts=ROLLOUTS), told)


@asynccontextmanager
async def analysing(path: Path) -> AsyncIterator[str]:
    """Run such a server with a journal; give the address of its page."""
    kinds = {MAIN: GameKind(equipment=Equipment())}
    async with served(path, analyst=lambda _kinds: Counted.start(kinds, idle=False)) as server:
        yield f"http://127.0.0.1:{server.port}/"
