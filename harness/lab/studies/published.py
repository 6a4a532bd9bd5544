"""Published results of players like ours, and the players of CS221 (Stanford 2016).

M. Richards, E. Amir, "Opponent Modeling in Scrabble", IJCAI 2007: the value of knowing or guessing
the opponent's rack. Their games were Quackle's, unpaired, with the words of North American
tournaments (TWL06).

CS221: *vanilla* plays the highest score, *rh* adds learned features of the leave, and *static* has
a whole leave table and all adjustments; these also play in kernels. *mc* and *mc+rh* sample before
they move (``bot.players.cs221``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from harness.lab.rows import Tables
from harness.lab.study import Record
from harness.lab.study_context import Field
from harness.pictures import picture

from .duel import FULL_KNOWLEDGE, Duel, Games, judge_of, play_duel

__all__ = ["CS221_PLAYERS", "TABLES", "Limit", "RichardsAmir", "draw_duels", "kernel_duels"]

CS221_PLAYERS = ("vanilla", "rh", "mc", "mc+rh")


def _printed(
    table: int,
    won: tuple[int, int, int],
    means: tuple[float, float],
    difference: float,
    remark: str = "",
) -> Duel:
    """Return a row of the paper; unprinted values are None."""
    games, wins, losses = won
    return Duel(
        player=f"  Richards and Amir, Table {table}{remark}",
        opponent="",
        games=games,
        wins=wins,
        losses=losses,
        ties=None,
        win_rate=None,
        win_rate_error=None,
        mean=means[0],
        opponent_mean=means[1],
        difference=difference,
        error=None,
        deviation=None,
        lost_twice=None,
        largest_ratio=None,
    )


TABLES = {
    1: _printed(1, (127, 87, 61), (438.0, 401.0), 37.0, ", games and wins as printed"),
    2: _printed(2, (630, 324, 306), (427.0, 422.0), 5.2),
}
"""Table 1: full knowledge of the rack against simulation; 2: guessing it against simulation."""


@dataclass(frozen=True)
class RichardsAmir(Games):
    """Games of one of the paper's tables, summarized beside the paper's results."""

    table: int = 1

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize games."""
        return {"duels": [self.duel(records), TABLES[self.table]]}


@dataclass(frozen=True)
class Limit:
    """The search limit of players that search."""

    time_ms: int = 150
    """Per turn, inference included; or …"""
    iterations: int | None = None
    """… rollouts per candidate, however long they take: then inference costs no time."""

    def seat(self, name: str, **options: str | None) -> str:
        """Return a seat with this limit and the other options that are not None."""
        time, counted = f"time={self.time_ms}ms", f"iterations={self.iterations}"
        given = [time if self.iterations is None else counted]
        given += [f"{key}={value}" for key, value in options.items() if value is not None]
        return f"{name}?{'&'.join(given)}"

    def seats(self, table: int, **options: str | None) -> tuple[str, str]:
        """Return the seats of a table; the options are those of ``infer``."""
        first = self.seat("infer", **options) if table == 2 else self.seat(FULL_KNOWLEDGE)
        return first, self.seat("sim")


def kernel_duels(field: Field, games: int, threads: int, seed: int) -> list[Duel]:
    """Play games between all pairs of static, rh and vanilla.

    Raises:
        ValueError: fewer than four games, an odd number of them, or no thread.
    """
    return [
        play_duel(
            names,
            (judge_of(names[0], field), judge_of(names[1], field)),
            field,
            games,
            threads=threads,
            seed=seed,
        )
        for names in combinations(("static", "rh", "vanilla"), 2)
    ]


def draw_duels(duels: Sequence[Duel], path: str | Path) -> None:
    """Draw players' leads, with intervals, into a PNG file.

    Raises:
        OSError: the file can't be written.
    """
    names = [f"{duel.player}\n{duel.opponent}".replace("?", "\n") for duel in duels]
    with picture(path, 3.0 + 3.0 * max(2, len(duels)), 6.0) as figure:
        axes = figure.subplots()
        bars = axes.bar(
            names,
            [duel.difference or 0.0 for duel in duels],
            yerr=[duel.error or 0.0 for duel in duels],
            capsize=4,
            color="tab:blue",
        )
        axes.bar_label(bars, fmt="%+.1f", padding=3)
        axes.axhline(0, color="black", lw=0.8)
        axes.set_axisbelow(True)
        axes.grid(axis="y", alpha=0.3)
        axes.set(ylabel="points a game ahead, with 95 % intervals")
