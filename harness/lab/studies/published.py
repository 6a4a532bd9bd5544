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

CS221_PLAYERS = ("vanilla", "rh", "mc", "mc+rh")


TABLES = {
    1: Duel(
        "  Richards and Amir, Table 1, games and wins as printed",
        "",
        *(127, 87, 61),
        mean=438.0,
        opponent_mean=401.0,
        difference=37.0,
    ),
    2: Duel(
        "  Richards and Amir, Table 2",
        "",
        *(630, 324, 306),
        mean=427.0,
        opponent_mean=422.0,
        difference=5.2,
    ),
}
"""Table 1: full knowledge of the rack against simulation; 2: guessing it against simulation."""


@dataclass(frozen=True)
class RichardsAmir(Games):
    """Games of one of the paper's tables, summarized beside the paper's results."""

    table: int = 1

    def summary(self, records: Sequence[Record]) -> Tables:
        """Summarize games."""
        return {"duels": [self.duel(records), TABLES[self.table]]}


def seats_of(table: int, limit: str, **options: str | None) -> tuple[str, str]:
    """Return a table's seats with a limit as ``time=150ms``; None leaves out an option of infer."""
    if table == 1:
        return f"{FULL_KNOWLEDGE}?{limit}", f"sim?{limit}"
    given = [f"{name}={value}" for name, value in options.items() if value is not None]
    return f"infer?{'&'.join([limit, *given])}", f"sim?{limit}"


def kernel_duels(field: Field, games: int, threads: int, seed: int) -> list[Duel]:
    """Play games between all pairs of static, rh and vanilla.

    Raises:
        ValueError: fewer than four games, an odd number of them, or no thread.
    """
    names = ("static", "rh", "vanilla")
    return [
        play_duel(*judges, field, games, threads=threads, seed=seed)
        for judges in combinations([judge_of(name, field) for name in names], 2)
    ]


def draw_duels(duels: Sequence[Duel], path: str | Path) -> None:
    """Draw players' leads, with intervals, into a PNG file."""
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
