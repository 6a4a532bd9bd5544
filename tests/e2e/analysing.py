"""A server that analyses for its page, with the same findings on any machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from servers import served
from tables import words

from bot.equipment import Equipment
from engine.rules.rule_sets import load_rules
from harness.analysis.task import AnalysisTask
from harness.game_kinds import MAIN
from harness.server.page_analysis.process import AnalysisProcess
from harness.server.tables import ServerTables, TableKind

ROLLOUTS = 400


class Counted(AnalysisProcess):
    """An analysing process that counts rollouts, not time."""

    async def do(
        self, task: AnalysisTask, told: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        return await super().do(replace(task, rollouts=ROLLOUTS), told)


@asynccontextmanager
async def analysing(path: Path, *rules: str) -> AsyncIterator[str]:
    """Run such a server with a journal; give the address of its page.

    It has a table of the same words for each of other rules.
    """

    def kind(rules: str, name: str = MAIN) -> TableKind:
        laws = load_rules(rules)
        return TableKind(lexicon=words(), rules=laws, name=name, equipment=Equipment())

    offered = ServerTables(kind("english"), [kind(name, name) for name in rules])

    async def start(_kinds: object) -> AnalysisProcess:
        return await Counted.start(offered.analysed(), idle=False)

    async with served(path, offered=offered, analyst=start) as server:
        yield f"http://127.0.0.1:{server.port}/"
