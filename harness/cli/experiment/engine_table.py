"""``experiment cs221 --engine``: the students' table against somebody else's engine."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bot.cores import usable_cores
from harness.arbiter.clock import LOCAL_READY_MS
from harness.cli import options
from harness.cli.failing import CommandFailed
from harness.cli.options import Duration, check_counts, check_durations, log_to_stderr, say_once
from harness.cli.study_run import StudyRun, draw, going_on, show_rows, telling

if TYPE_CHECKING:
    from harness.lab.studies.engine_table import EngineTable
    from protocol.parts import TimeControl

__all__ = ["AgainstEngine"]


@Parameter(name="*")
@dataclass(frozen=True)
class AgainstEngine:
    """Against whom the students' players play, if not each other."""

    engine: str | None = None
    """An engine's seat, as ``tilewire match`` takes it (quackle:…, siu:…, magpie:…, files:…), that
    each player meets, clocks on; then --out is a folder, and --workers are games at once."""
    player: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = ()
    """A player that meets the engine; may be given again. [default: vanilla, rh, mc, mc+rh,
    champion]"""
    time: Duration | None = None
    """Each side's clock in games against the engine. [default: 25m]"""
    plot: Annotated[Path | None, Parameter(name="--plot")] = None
    """Draw how far each player was ahead of the engine, game by game, into this file (PNG)."""

    def check_unused(self) -> None:
        """Check that without an engine no option for games against one is given, or fail."""
        for option, value in (("player", self.player), ("time", self.time), ("plot", self.plot)):
            if value is not None and value != ():
                raise CommandFailed(f"--{option} is for games against an --engine; name one")

    def play(self, games: int, run: StudyRun) -> None:
        """Play what is missing and show all that there is, also when stopped."""
        from harness.arbiter.journal import JournalError
        from harness.lab.studies.engine_table import CHALLENGERS, EngineTable
        from harness.matches.match import MatchError

        log_to_stderr(False)
        check_counts(games=games, workers=run.workers)
        check_durations(time=self.time)
        cores = usable_cores()
        if run.workers > cores:
            raise CommandFailed(
                f"--workers {run.workers}: games at once need a core each, and there are {cores}"
            )
        folder = run.out or Path("matches") / clock.strftime("cs221-%Y%m%d-%H%M%S")
        equipment = options.equip(run.lexicon, run.leaves)
        words = options.load_equipped(equipment)
        with going_on(folder):
            assert self.engine is not None
            table = EngineTable(
                engine=self.engine,
                players=self.player or CHALLENGERS,
                games=games,
                time=self._time_control(),
                equipment=equipment,
                lexicon=words,
                seed=run.seed,
                concurrency=run.workers,
                folder=folder,
            )
            try:
                for player in table.players:
                    options.run(table.play(player, telling(games, "games", player), say_once()))
            except (MatchError, JournalError) as error:
                raise CommandFailed(str(error), status=1) from None
            except KeyboardInterrupt:
                self._show(table, run.json_)
                raise
        self._show(table, run.json_)

    def _time_control(self) -> TimeControl:
        from protocol.parts import TimeControl

        return TimeControl(
            initial_ms=25 * 60_000 if self.time is None else self.time, ready_ms=LOCAL_READY_MS
        )

    def _show(self, table: EngineTable, as_json: bool) -> None:
        from harness.lab.studies.engine_table import draw_differences

        played = table.rows()
        show_rows({"players": [row for row, _ in played]}, as_json)
        if not as_json:
            print(f"games and results: {table.folder}")
        if played:
            draw(self.plot, lambda path: draw_differences(played, path))
