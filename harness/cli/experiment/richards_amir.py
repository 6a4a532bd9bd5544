"""``experiment table1`` and ``table2``: what the opponent's rack is worth."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from harness import figures
from harness.cli.failing import CommandFailed
from harness.cli.field import load_field
from harness.cli.long_runs import check_cores, going_on, sentences, telling, with_error
from harness.cli.options import Duration, JsonOption, LeavesOption, LexiconOption, load_words

if TYPE_CHECKING:
    from harness.lab.studies.record_file import Lines
    from harness.lab.studies.richards_amir import Contest, Limit, Strength

__all__ = ["table1", "table2"]

_USUAL_MS = 150


@Parameter(name="*")
@dataclass(frozen=True)
class _Playing:
    """What is played with, where games are kept, and how it is shown."""

    lexicon: LexiconOption = "scowl"
    """An embedded lexicon, or a word list or KWG file."""
    leaves: LeavesOption = None
    """trained, formula or a leave table (KLV2) for all players. [default: their own]"""
    games: int = 400
    """How many for each two players, in pairs with the same draws."""
    time: Duration | None = None
    """For a turn of a player that searches, and that infers. [default: 150ms]"""
    iterations: int | None = None
    """Rollouts of each candidate instead, as many for both; then inference costs no time."""
    workers: int = 1
    """How many games at once, each in a process and on a core of its own."""
    seed: int = 0
    """For the bags, and for what players leave to chance."""
    out: Annotated[Path | None, Parameter(name="--out")] = None
    """Where games are kept, a line of JSON each; those that it has are not played again."""
    plot: Annotated[Path | None, Parameter(name="--plot")] = None
    """Draw what came of it into this file (PNG)."""
    json_: JsonOption = False
    """Print JSON, one object for each two players, in a list."""

    def limit(self) -> Limit:
        """Say how long players search, or fail with a sentence."""
        from harness.lab.studies.richards_amir import Limit

        if self.time is not None and self.iterations is not None:
            raise CommandFailed("--time or --iterations ends a search, not both")
        if self.iterations is None:
            check_cores(self.workers)
        return Limit(_USUAL_MS if self.time is None else self.time, self.iterations)

    def play(self, contests: Sequence[Contest], *, all_there: bool = False) -> None:
        """Play what is missing and show all that there is, also when it is stopped.

        Args:
            contests: who meets whom.
            all_there: count games of the file beyond those that were asked for.
        """
        from harness.lab.studies.games import Meeting, open_games, play_missing
        from harness.lab.workers import open_crew

        field = load_field(load_words(self.lexicon), self.leaves)
        leaves = None if self.leaves is None else field.leaves
        meetings = [
            Meeting(one.seats, field.lexicon, field.rules, self.seed, leaves) for one in contests
        ]
        most = None if all_there else self.games
        with going_on(self.out), open_games(self.out, meetings[0]) as lines:
            try:
                with open_crew(self.workers, alone=True) as crew:
                    for one in meetings:
                        tell = telling(self.games, "games", " – ".join(one.seats))
                        play_missing(lines, one, self.games, crew, tell)
            except KeyboardInterrupt:
                self._show(contests, lines, most)
                raise
            self._show(contests, lines, most)

    def _show(self, contests: Sequence[Contest], lines: Lines, most: int | None) -> None:
        from harness.lab.studies.games import games_of
        from harness.lab.studies.richards_amir import strength_of

        found = [strength_of(one, games_of(lines, one.seats).records[:most]) for one in contests]
        if self.json_:
            print(json.dumps([dataclasses.asdict(one) for one in found], ensure_ascii=False))
        else:
            print(figures.table(_HEADINGS, [row for one in found for row in _rows(one)]))
        if self.plot is not None:
            _draw(found, self.plot)


def table1(*, playing: _Playing | None = None) -> None:
    """See what knowing the opponent's rack is worth: full-knowledge against sim.

    Table 1 of Richards and Amir (2007).

    Args:
        playing: With what.
    """
    playing = playing or _Playing()
    from harness.lab.studies.richards_amir import Contest

    playing.play([Contest.table1(playing.limit())])


def table2(
    *, memory: str | None = None, model: str | None = None, playing: _Playing | None = None
) -> None:
    """See what guessing the opponent's rack is worth: infer against sim.

    Table 2 of Richards and Amir (2007), whose player is --memory last.

    Args:
        memory: game or last, as the option of infer. [default: infer's own]
        model: style, deterministic, margin or soft, as the option of infer. [default: infer's own]
        playing: With what.
    """
    playing = playing or _Playing()
    from harness.lab.studies.richards_amir import Contest

    playing.play([Contest.table2(playing.limit(), memory, model)])


# --- what is told ---------------------------------------------------------------------------------


_HEADINGS = (
    "player – opponent",
    "games",
    "won–lost–tied",
    "win rate (95 %)",
    "mean",
    "opponent's",
    "ahead by (95 %)",
    "largest win",
    "largest loss",
    "deviation",
)


def _rows(one: Strength) -> list[tuple[str, ...]]:
    """Write what came of a contest, and below it what the paper has."""
    ours = (
        f"{one.player} – {one.opponent}",
        f"{one.games:,}",
        f"{one.wins}–{one.losses}–{one.ties}",
        with_error(one.win_rate, one.win_rate_error, times=100, unit=" %"),
        figures.number(one.mean),
        figures.number(one.opponent_mean),
        with_error(one.difference, one.error, sign=True),
        figures.number(one.largest_win, 0),
        figures.number(one.largest_loss, 0),
        figures.number(one.deviation),
    )
    theirs = one.published
    won = None if theirs.wins is None else f"{theirs.wins}–{theirs.losses}"
    published = (
        f"  Richards and Amir, {theirs.where}",
        figures.number(theirs.games, 0),
        figures.DASH if won is None else won if theirs.adds_up else f"{won} (sic)",
        figures.DASH,
        figures.number(theirs.mean, 0),
        figures.number(theirs.opponent_mean, 0),
        figures.number(theirs.difference, 1, sign=True),
        *(figures.DASH,) * 3,
    )
    return [ours, published]


def _draw(found: Sequence[Strength], path: Path) -> None:
    from harness.lab.studies.plots import draw_strengths

    with sentences("--plot", path):
        draw_strengths(found, path)
