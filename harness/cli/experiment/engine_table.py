"""``experiment cs221 --engine``: the students' table against somebody else's engine."""

from __future__ import annotations

import dataclasses
import json
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cores import usable_cores
from harness import figures
from harness.arbiter.clock import LOCAL_READY_MS
from harness.cli.failing import CommandFailed
from harness.cli.long_runs import going_on, sentences, telling, with_error
from harness.cli.options import (
    Duration,
    check_counts,
    check_durations,
    equip,
    load_equipped,
    log_to_stderr,
    run,
    say_once,
)

if TYPE_CHECKING:
    from harness.lab.studies.engine_table import EngineRow, EngineTable
    from protocol.parts import TimeControl

__all__ = ["COLUMNS", "AgainstEngine"]


@Parameter(name="*")
@dataclass(frozen=True)
class AgainstEngine:
    """Against whom the students' players play, if not each other."""

    engine: str | None = None
    """An engine's seat, as ``tilewire match`` takes it (quackle:…, siu:…, magpie:…, files:…), that
    each player meets, clocks on; then --out is a folder, and --threads are games at once."""
    player: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    """A player that meets the engine; may be given again. [default: vanilla, rh, mc, mc+rh,
    champion]"""
    time: Duration | None = None
    """Each side's clock in games against the engine. [default: 25m]"""
    plot: Annotated[Path | None, Parameter(name="--plot")] = None
    """Draw how far each player was ahead of the engine, game by game, into this file (PNG)."""

    def check_unused(self) -> None:
        """See that nothing is said of games against an engine where there is none, or fail."""
        for option, value in (("player", self.player), ("time", self.time), ("plot", self.plot)):
            if value is not None and value != ():
                raise CommandFailed(f"--{option} is for games against an --engine; name one")

    def play(
        self,
        *,
        games: int,
        lexicon: str,
        leaves: str | None,
        seed: int,
        concurrency: int,
        out: Path | None,
        as_json: bool,
    ) -> None:
        """Play what is missing and show all that there is, also when it is stopped."""
        from harness.arbiter.journal import JournalError
        from harness.lab.studies.engine_table import CHALLENGERS, EngineTable
        from harness.matches.match import MatchError

        log_to_stderr(False)
        check_counts(games=games, threads=concurrency)
        check_durations(time=self.time)
        cores = usable_cores()
        if concurrency > cores:
            raise CommandFailed(
                f"--threads {concurrency}: games at once need a core each, and there are {cores}"
            )
        folder = out or Path("matches") / clock.strftime("cs221-%Y%m%d-%H%M%S")
        equipment = equip(lexicon, leaves)
        words = load_equipped(equipment)
        with going_on(folder):
            assert self.engine is not None
            table = EngineTable(
                engine=self.engine,
                players=self.player or CHALLENGERS,
                games=games,
                time=self._time_control(),
                equipment=equipment,
                lexicon=words,
                seed=seed,
                concurrency=concurrency,
                folder=folder,
            )
            try:
                for player in table.players:
                    run(table.play(player, telling(games, "games", player), say_once()))
            except (MatchError, JournalError) as error:
                raise CommandFailed(str(error), status=1) from None
            except KeyboardInterrupt:
                self._show(table, as_json)
                raise
        self._show(table, as_json)

    def _time_control(self) -> TimeControl:
        from protocol.parts import TimeControl

        return TimeControl(
            initial_ms=25 * 60_000 if self.time is None else self.time, ready_ms=LOCAL_READY_MS
        )

    def _show(self, table: EngineTable, as_json: bool) -> None:
        from harness.lab.studies.engine_table import draw_differences

        found = table.rows()
        if as_json:
            rows = [dataclasses.asdict(row) for row, _ in found]
            print(json.dumps(rows, ensure_ascii=False))
        else:
            print(figures.table(_HEADINGS, [_cells(row) for row, _ in found]))
            print(f"games and results: {table.folder}")
        if self.plot is not None and found:
            with sentences("--plot", self.plot):
                draw_differences(found, self.plot)


COLUMNS = (
    "player – opponent",
    "games",
    "wins",
    "mean",
    "opponent's",
    "ahead by (95 %)",
    "lost 2×",
    "largest ratio",
)
"""What the students said of two players."""

_HEADINGS = (*COLUMNS, "forfeits", "opponent's")


def _cells(row: EngineRow) -> tuple[str, ...]:
    return (
        f"{row.player} – {row.opponent}",
        f"{row.games:,}",
        figures.share(row.wins),
        figures.number(row.mean),
        figures.number(row.opponent_mean),
        with_error(row.difference, row.error, sign=True),
        figures.share(row.lost_twice),
        figures.number(row.largest_ratio, 2),
        f"{row.forfeits:,}",
        f"{row.opponent_forfeits:,}",
    )
