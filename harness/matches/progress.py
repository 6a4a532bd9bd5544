"""Display of a match or tournament while it runs, with players' names as plain text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from harness.figures import DASH, counted, minutes, number, plain, rate, shortened
from protocol.channel import now_ms

from .config import TournamentConfig
from .folder import MatchFolder
from .report import standings_table
from .results import GameResult
from .standings import standings
from .tournament import Tournament

EVERY_S = 10.0
"""Seconds between lines of progress without a terminal."""


class _Stopwatch:
    """Measures seconds, except those of pauses."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self.paused_at: float | None = None

    def elapsed(self) -> float:
        return (self.paused_at or self._clock()) - self._began

    def pause(self, is_paused: bool) -> None:
        """Stop, or go on."""
        self._began = self._clock() - self.elapsed()
        self.paused_at = self._clock() if is_paused else None


class MatchProgress:
    """Games done, speed, time left and the running score, on stderr; a context manager.

    A bar on a terminal, else occasional lines. ``earlier`` are results from before the match was
    resumed. ``test`` returns the state of a sequential test, shown instead of the time left. While
    a bar runs, print through ``console``. ``clock`` returns monotonic seconds.
    """

    def __init__(
        self,
        total: int,
        a: str,
        b: str,
        *,
        earlier: Sequence[GameResult] = (),
        test: Callable[[], str] | None = None,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.console = console or Console(stderr=True)
        self._total = total
        self._names = plain(a), plain(b)
        self._test = test
        self._clock = clock
        self._watch = _Stopwatch(clock)
        self._said = clock()
        self._bar: Progress | None = None
        self._unsaid = False
        self._fresh = self._spread = self._void = self._done = 0
        self._wins = [0, 0, 0]  # side a, side b, ties
        for result in earlier:
            self._count(result)

    def __enter__(self) -> Self:
        self._watch, self._said = _Stopwatch(self._clock), self._clock()
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
            self._print()

    def game_finished(self, result: GameResult) -> None:
        """Count a finished game; void games are replayed and don't count."""
        self._fresh += not result.void
        self._unsaid = True
        self._count(result)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, **self._fields())
        elif self._clock() - self._said >= EVERY_S or self._done >= self._total:
            self._print()

    def pause(self, is_paused: bool) -> None:
        """Show that no game begins, or that games begin again."""
        self._watch.pause(is_paused)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], **self._fields())

    def _print(self) -> None:
        self._said, self._unsaid = self._clock(), False
        # Not through rich, which wraps lines without a terminal.
        print(self.line(), file=self.console.file, flush=True)

    def line(self) -> str:
        """Return the standing of the match in one line."""
        a, b = self._names
        fields = self._fields()
        done = f"{self._done}/{self._total}" if self._test is None else f"{self._done:,}"
        parts = [f"{done} games", f"{a} {fields['score']} {b}"]
        if self._done:
            parts.append(f"spread {fields['spread']}")
        if self._void:
            parts.append(f"{self._void} void")
        if self._fresh and not self._watch.paused_at:
            parts.append(fields["rate"])
        if (self._fresh and self._done < self._total) or self._test or self._watch.paused_at:
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
        elapsed = self._watch.elapsed()
        won, lost, tied = self._wins
        left = DASH
        if self._watch.paused_at:
            left = "paused"
        elif self._test is not None:
            left = self._test()
        elif self._fresh:
            left = f"{minutes((self._total - self._done) * elapsed / self._fresh)} left"
        return {
            "score": f"{won}–{lost}" + (f"–{tied}" if tied else ""),
            "spread": number(self._spread / self._done if self._done else None, sign=True),
            "rate": rate(self._fresh, elapsed),
            "left": left,
        }

    def _new_bar(self) -> Progress:
        digits = len(str(self._total))
        # Columns that the count, the time left, the score and the spread leave on the line.
        room = self.console.width - 4 * digits - (29 if self._test is None else 59)
        with_rate, with_bar = room >= 25, room >= 35
        most = min(max((room - 9 * with_rate - 10 * with_bar) // 2, 5), 24)
        a, b = (escape(shortened(name, most)) for name in self._names)
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


class TournamentProgress:
    """The standings, games under way, speed and time left, on stderr; a context manager.

    On a terminal, a table that is redrawn; otherwise a line per game.
    """

    def __init__(self, config: TournamentConfig, files: MatchFolder) -> None:
        self.console = Console(stderr=True)
        self._config = config
        self._files = files
        self._watch = _Stopwatch(time.monotonic)
        self._fresh = 0
        self._live: Live | None = None
        self.tournament: Tournament | None = None
        """Whose games are shown."""

    def __enter__(self) -> Self:
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self._live = Live(
                console=self.console,
                get_renderable=self._shown,
                refresh_per_second=2,
                transient=True,
                vertical_overflow="crop",
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def game_finished(self, result: GameResult) -> None:
        """Count a finished game; void games are played again."""
        self._fresh += not result.void
        if self._live is None:
            print(self.line(result), file=self.console.file, flush=True)

    def pause(self, is_paused: bool) -> None:
        """Show that no game begins, or that games begin again."""
        self._watch.pause(is_paused)

    def line(self, result: GameResult) -> str:
        """Return a finished game in one line."""
        sides = [(plain(seat.name), seat.score) for seat in result.sides]
        (first, own), (second, other) = sides if result.first == 0 else reversed(sides)
        ending = f" ({result.outcome})" if result.forfeit or result.void else ""
        return (
            f"{self._done()}, round {result.round}, game {result.number}: "
            f"{first} {own} – {other} {second}{ending}{self._left()}"
        )

    def _done(self) -> str:
        """Return how many games are done, and of how many if that is known."""
        done, expected = len(self._files.counted), self._expected()
        return counted(done, "game") if expected is None else f"{done:,}/{expected:,} games"

    def _expected(self) -> int | None:
        return self.tournament.queue.schedule.expected() if self.tournament else None

    def _left(self) -> str:
        if self._watch.paused_at:
            return ", paused"
        if not self._fresh:
            return ""
        elapsed, expected = self._watch.elapsed(), self._expected()
        speed = f", {rate(self._fresh, elapsed)}"
        if expected is None or (left := expected - len(self._files.counted)) <= 0:
            return speed
        return f"{speed}, {minutes(left * elapsed / self._fresh)} left"

    def _shown(self) -> RenderableType:
        table = standings(self._config, self._files)
        playing = self.tournament.playing if self.tournament else {}
        room = max(self.console.height - len(playing) - 8, 3)
        shown: list[RenderableType] = [
            standings_table(self._config, table, self.console.width, most=room)
        ]
        if len(table) > room:
            shown.append(Text(f" … and {len(table) - room} more", style="dim"))
        grid = Table.grid(padding=(0, 2))
        for game, book in sorted(playing.items()):
            first, second = map(plain, book.opened.players)
            clocks = [minutes(max(0, ms) / 1_000) for ms in book.clocks(now_ms())]
            begun = book.game is not None
            grid.add_row(
                Text(f" {game}", style="dim"),
                Text(f"{first} {book.scores[0]} – {book.scores[1]} {second}"),
                " – ".join(clocks) if begun else "starting",
                counted(book.bag_count, "tile") + " in the bag" if begun else "",
            )
        return Group(*shown, grid, Text(f" {self._done()}{self._left()}"))
