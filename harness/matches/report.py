"""Display of a match, in which players' names are plain text without control characters."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from harness.figures import DASH, counted, minutes, number, plain, rate, share
from lexicons.cache import replacing

from .results import GameResult, read_results, result_line
from .significance import FEWEST_UNITS, SIGNIFICANT, Interval
from .statistics import MatchStatistics, as_json_object, match_statistics, rows

WIDTH = 80
"""Columns of the table, where a terminal has so many."""
LABELS = 18
"""Columns of its labels."""
BINS = 24
"""Columns of the histogram, half of them on either side of 0."""
BIN_WIDTHS = (10, 20, 25, 50, 100, 250, 500, 1_000)
BLOCKS = " ▁▂▃▄▅▆▇█"
IN_ASCII = str.maketrans("▁▂▃▄▅▆▇█╭╮╰╯├┤┬┴┼─│–−×", ".,:;-=+#+++++++++-|--x")
EVERY_S = 10.0
"""Seconds between lines of progress without a terminal."""


# --- the table at the end -----------------------------------------------------------------------


def match_table(
    stats: MatchStatistics, results: Sequence[GameResult], width: int = WIDTH
) -> RenderableType:
    """Return the result of a match as a table; ``results`` give the histogram."""
    return Group(_sides_table(stats, width), Padding(_verdict(stats, results), (0, 0, 0, 1)))


def _sides_table(stats: MatchStatistics, width: int) -> Table:
    title = Text(_heading(stats), style="bold")
    table = Table(box=box.ROUNDED, title=title, title_style="", header_style="", width=width)
    table.add_column("", style="dim", width=LABELS)
    for side in stats.sides:
        name = Text(plain(side.name), style="bold")
        table.add_column(name, justify="right", ratio=1, overflow="fold")

    lost_rate = None if stats.win_rate is None else 1 - stats.win_rate
    results = (
        ("games won", f"{stats.wins:,}", f"{stats.losses:,}"),
        ("win rate", share(stats.win_rate), share(lost_rate)),
        *rows(stats, "scores"),
    )
    for section in (results, rows(stats, "time"), rows(stats, "faults")):
        for row in section:
            table.add_row(*map(Text, row))
        table.add_section()
    return table


def _heading(stats: MatchStatistics) -> str:
    heading = counted(stats.games, "game")
    if stats.paired:
        heading += f" in {counted(stats.units, 'pair')}"
    if stats.ties:
        heading += f", {stats.ties:,} tied"
    if stats.void:
        heading += f", {stats.void:,} void"
    return heading


def _verdict(stats: MatchStatistics, results: Sequence[GameResult]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", width=LABELS)
    grid.add_column(overflow="fold")
    spread = Text(number(stats.mean_spread, sign=True, unit=" points"), style="bold")
    spread.append(_interval(stats.spread_ci95, 1), style="not bold")
    grid.add_row("spread a game", spread)
    elo = Text(number(stats.elo, 0, sign=True), style="bold")
    if _can_tell(stats):
        elo.append(_interval(stats.elo_ci95, 0), style="not bold")
    grid.add_row("Elo difference", elo)
    if _can_tell(stats) and stats.p_value is not None:
        p = "below 0.001" if stats.p_value < 0.001 else f"{stats.p_value:.2g}"
        grid.add_row("p-value", f"{p}: how often equal players end this far apart")
    histogram = _histogram([result.spread for result in results if not result.void])
    if histogram is not None:
        grid.add_row("games by spread", histogram)
    grid.add_row("", Text(_sentence(stats)))
    return grid


def _interval(interval: Interval, decimals: int) -> str:
    """Write a 95 % interval, or the one end that is known, to follow its figure."""
    low, high = (None if end is None else number(end, decimals, sign=True) for end in interval)
    if low and high:
        return f"   95 %: {low} to {high}"
    return f"   95 %: above {low}" if low else f"   95 %: below {high}" if high else ""


def _can_tell(stats: MatchStatistics) -> bool:
    return stats.units >= FEWEST_UNITS


def _sentence(stats: MatchStatistics) -> str:
    if stats.p_value is None or not stats.mean_spread:
        return "No game has been played." if not stats.games else "Neither side is ahead on spread."
    ahead = f"{plain(stats.sides[stats.mean_spread < 0].name)} is ahead on spread"
    if not _can_tell(stats):
        units = "pairs" if stats.paired else "games"
        return f"{ahead}; fewer than {FEWEST_UNITS} {units} can't tell skill from luck."
    luck = (
        "by more than luck explains" if stats.p_value < SIGNIFICANT else "but luck may explain it"
    )
    return f"{ahead}, {luck}."


def _histogram(spreads: Sequence[int]) -> Text | None:
    """Return a one-line histogram of spreads about 0, with columns of equal width."""
    if len(spreads) < 2:
        return None
    half = BINS // 2
    furthest = max(map(abs, spreads))
    step = next((width for width in BIN_WIDTHS if width * half > furthest), BIN_WIDTHS[-1])
    counts = [0] * BINS
    for spread in spreads:
        counts[min(max(spread // step + half, 0), BINS - 1)] += 1
    top = max(counts)
    bars = "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // top)] for count in counts)
    return Text.assemble(
        (f"{number(-step * half, 0)} ", "dim"),
        (bars[:half], "red"),
        ("│", "dim"),
        (bars[half:], "green"),
        (f" {number(step * half, 0, sign=True)}", "dim"),
    )


def table_text(
    stats: MatchStatistics,
    results: Sequence[GameResult],
    columns: int = WIDTH,
    encoding: str = "utf-8",
) -> str:
    """Return the table as plain text, without colour, for a terminal with so many columns.

    With an ``encoding`` other than UTF, all but names is ASCII.
    """
    out = io.StringIO()
    width = max(40, min(columns, WIDTH))
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    console.print(match_table(stats, results, width))
    text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
    return text if encoding.lower().startswith("utf") else text.translate(IN_ASCII)


# --- while it runs ------------------------------------------------------------------------------


class MatchProgress:
    """Games done, speed, time left and the running score, on stderr; a context manager.

    A bar on a terminal, else occasional lines. ``earlier`` are results from before the match was
    resumed. While a bar runs, print through ``console``; ``clock`` returns monotonic seconds.
    """

    def __init__(
        self,
        total: int,
        a: str,
        b: str,
        *,
        earlier: Sequence[GameResult] = (),
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console = console or Console(stderr=True)
        self._total = total
        self._names = plain(a), plain(b)
        self._clock = clock
        self._began = self._said = clock()
        self._bar: Progress | None = None
        self._unsaid = False
        self._fresh = self._spread = self._void = self._done = 0
        self._wins = [0, 0, 0]  # side a, side b, ties
        for result in earlier:
            self._count(result)

    def __enter__(self) -> Self:
        self._began = self._said = self._clock()
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self._bar = self._new_bar()
            self._bar.add_task("", total=self._total, completed=self._done, **self._fields())
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        elif self._unsaid:
            self._say()

    def game_finished(self, result: GameResult) -> None:
        """Count a finished game; void games are replayed and don't count."""
        self._fresh += not result.void
        self._unsaid = True
        self._count(result)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, **self._fields())
        elif self._clock() - self._said >= EVERY_S or self._done >= self._total:
            self._say()

    def _say(self) -> None:
        self._said, self._unsaid = self._clock(), False
        # Not through rich, which wraps lines without a terminal.
        print(self.line(), file=self.console.file, flush=True)

    def line(self) -> str:
        """Return the standing of the match in one line."""
        a, b = self._names
        fields = self._fields()
        parts = [f"{self._done}/{self._total} games", f"{a} {fields['score']} {b}"]
        if self._done:
            parts.append(f"spread {fields['spread']}")
        if self._void:
            parts.append(f"{self._void} void")
        if self._fresh:
            parts.append(fields["rate"])
        if self._fresh and self._done < self._total:
            parts.append(fields["left"])
        return ", ".join(parts)

    def _count(self, result: GameResult) -> None:
        if result.void:
            self._void += 1
            return
        self._done += 1
        self._spread += result.spread
        self._wins[2 if result.winner is None else result.winner] += 1

    def _fields(self) -> dict[str, Any]:
        elapsed = self._clock() - self._began
        won, lost, tied = self._wins
        left = DASH
        if self._fresh:
            left = f"{minutes((self._total - self._done) * elapsed / self._fresh)} left"
        return {
            "score": f"{won}–{lost}" + (f"–{tied}" if tied else ""),
            "spread": number(self._spread / self._done if self._done else None, sign=True),
            "rate": rate(self._fresh, elapsed),
            "left": left,
        }

    def _new_bar(self) -> Progress:
        digits = len(str(self._total))
        # What the count, the time left, the score and the spread leave of the line.
        room = self.console.width - 4 * digits - 29
        with_rate, with_bar = room >= 25, room >= 35
        most = min(max((room - 9 * with_rate - 10 * with_bar) // 2, 5), 24)
        a, b = (escape(_shortened(name, most)) for name in self._names)
        a, b = (name.replace("{", "{{").replace("}", "}}") for name in (a, b))
        columns = [
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", style="cyan"),
            TextColumn(f"{a} [bold]{{task.fields[score]}}[/] {b}  {{task.fields[spread]}}"),
        ]
        if with_rate:
            columns.insert(1, TextColumn("{task.fields[rate]}"))
        if with_bar:
            columns.insert(0, BarColumn(bar_width=None))
        return Progress(*columns, console=self.console, expand=with_bar, transient=True)


def _shortened(name: str, most: int) -> str:
    """Cut a name in its middle, since versions of a bot differ at the end."""
    end = (most - 1) // 2
    return name if len(name) <= most else f"{name[: most - 1 - end]}…{name[-end:]}"


# --- what stays ---------------------------------------------------------------------------------


class MatchFolder:
    """The files of a match: ``results.jsonl`` as it runs, ``summary.json`` and ``summary.txt``.

    A folder with results is resumed: ``results`` begins with them, and an unfinished last line is
    cut off. Each line survives the death of the process, but not a power failure.

    Raises:
        OSError: the folder or a file can't be written.
        ValueError: ``results.jsonl`` is not a file of results.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder)
        self.path.mkdir(parents=True, exist_ok=True)
        self.results: list[GameResult] = []
        log = self.path / "results.jsonl"
        if log.exists():
            self.results = read_results(log)
            os.truncate(log, log.read_bytes().rfind(b"\n") + 1)
        self.counted = {result.number for result in self.results if not result.void}
        """Numbers of the games with a result that counts."""
        self._file = log.open("ab", buffering=0)

    def append(self, result: GameResult) -> None:
        """Store a game's result; raise ValueError if its number already has one that counts."""
        if not result.void:
            if result.number in self.counted:
                raise ValueError(
                    f"game {result.number} of the match has a result already in "
                    f"{self._file.name}; a game counts once"
                )
            self.counted.add(result.number)
        self._file.write(result_line(result))
        self.results.append(result)

    def write_summary(self, a: str, b: str) -> MatchStatistics:
        """Write both summaries of the games so far, each atomically, and return the statistics."""
        stats = match_statistics(self.results, (a, b))
        summary = json.dumps(as_json_object(stats), indent=2, ensure_ascii=False)
        for name, text in (
            ("summary.json", f"{summary}\n"),
            ("summary.txt", table_text(stats, self.results)),
        ):
            with replacing(self.path / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return stats

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
