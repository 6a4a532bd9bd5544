"""CS221's first table: built-in players against a foreign engine, clocks on.

The students (Stanford 2016) had *vanilla*, *rh*, *mc* and *mc+rh* play Quackle's Speedy Player
through files. Here each player has a resumable match against the engine's seat, in a folder of its
own inside the experiment's. If the engine begins each game afresh, games come in pairs with the
same draws and swapped seats, and the draws are the same for each player.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import quote

import msgspec
import numpy as np
import numpy.typing as npt

from bot.equipment import Equipment
from bot.registry import SeatError
from bot.seat_text import parse_seat
from harness.lab.rows import Column
from harness.matches.config import (
    MatchError,
    TournamentConfig,
    read_config,
    told_apart,
    write_config,
)
from harness.matches.folder import MatchFolder
from harness.matches.report import write_summary
from harness.matches.results import GameResult, read_results
from harness.matches.statistics import match_statistics
from harness.matches.tournament import Tournament
from harness.pictures import picture
from lexicons.store import Lexicon
from protocol.parts import TimeControl

from .duel import Duel
from .published import CS221_PLAYERS

CHALLENGERS = (*CS221_PLAYERS, "champion")

BIN_POINTS = 25


@dataclass(frozen=True)
class EngineRow(Duel):
    """A player's games against the engine; a forfeit is a whole loss."""

    forfeits: Annotated[int, Column("forfeits")] = 0
    """Games that the player lost by other means than the score."""
    opponent_forfeits: Annotated[int, Column("opponent's")] = 0


class PlayedRow(NamedTuple):
    """A row of the table, and its games."""

    row: EngineRow
    differences: npt.NDArray[np.int64]
    """The player's points less the engine's, by game."""


@dataclass(frozen=True)
class EngineTable:
    """The experiment in its folder.

    Raises:
        SeatError: a seat is invalid or not local.
    """

    engine: str
    players: Sequence[str]
    games: int
    """Per player."""
    time: TimeControl
    equipment: Equipment
    lexicon: Lexicon
    seed: int
    concurrency: int
    folder: Path

    def __post_init__(self) -> None:
        for seat in (self.engine, *self.players):
            if parse_seat(seat).kind == "remote":
                raise SeatError(f"{seat!r} is elsewhere; `tilewire match` plays against it")

    async def play(
        self,
        player: str,
        tell: Callable[[int], object],
        notice: Callable[[str], None] | None = None,
    ) -> None:
        """Play a player's missing games.

        ``tell`` gets the number of games after each game, ``notice`` a sentence before a long step.

        Raises:
            ValueError: the folder has a match of another kind.
            MatchError: the match can't go on.
            JournalError: the match's journal can't be used.
            OSError: the folder can't be written.
        """
        config, folder = self._config(player), self._folder(player)
        folder.mkdir(parents=True, exist_ok=True)
        self._take_up(config, folder)
        with MatchFolder(folder) as files:

            def finished(_result: GameResult) -> None:
                tell(len(self._counted(files.results)))

            await Tournament(config, self.lexicon, files, finished, notice).play()
            write_summary(config, files)

    def rows(self) -> list[PlayedRow]:
        """Return a row for each player that has games."""
        table = []
        for player in self.players:
            path = self._folder(player) / "results.jsonl"
            results = self._counted(read_results(path)) if path.exists() else []
            if results:
                table.append(_added_up(player, parse_seat(self.engine).name, results))
        return table

    def _counted(self, results: Sequence[GameResult]) -> list[GameResult]:
        return [result for result in results if not result.void and result.number <= self.games]

    def _folder(self, player: str) -> Path:
        return self.folder / quote(player, safe="+")

    def _config(self, player: str) -> TournamentConfig:
        specs = parse_seat(player), parse_seat(self.engine)
        paired = all(spec.starts_afresh for spec in specs)
        return TournamentConfig(
            seats=(specs[0].text, specs[1].text),
            names=told_apart(*specs),
            games=self.games,
            time=self.time,
            lexicon=self.equipment.lexicon,
            lexicon_checksum=self.lexicon.checksum,
            seed=self.seed if paired else None,
            concurrency=self.concurrency,
            transport="pipe",
            leaves=self.equipment.leaves,
            threads=self.equipment.threads,
        )

    @staticmethod
    def _take_up(config: TournamentConfig, folder: Path) -> None:
        """Write the configuration, unless a different match was played here."""
        if (folder / "match.json").exists():
            before = read_config(folder)
            for name in TournamentConfig.__struct_fields__:
                was, now = getattr(before, name), getattr(config, name)
                if was != now and name not in ("games", "concurrency", "names"):
                    raise MatchError(
                        f"{folder} has a match with {name} {_shown(was)}, not {_shown(now)}; go on "
                        "with the same, or name another folder"
                    )
        write_config(config, folder)


def _shown(value: object) -> object:
    return msgspec.json.encode(value).decode() if isinstance(value, msgspec.Struct) else value


def _added_up(player: str, opponent: str, results: Sequence[GameResult]) -> PlayedRow:
    stats = match_statistics(results)
    (own, other), (low, high) = stats.sides, stats.spread_ci95
    ratios = [ratio for ratio in (stats.largest_ratio, stats.largest_ratio_won) if ratio]
    spreads = np.array([result.spread for result in results], dtype=np.int64)
    row = EngineRow(
        player=player,
        opponent=opponent,
        games=stats.games,
        wins=stats.wins,
        losses=stats.losses,
        ties=stats.ties,
        win_rate=stats.win_rate,
        mean=stats.mean_score,
        opponent_mean=stats.opponent_mean_score,
        difference=stats.mean_spread,
        error=None if low is None or high is None else (high - low) / 2,
        deviation=float(spreads.std(ddof=1)) if len(spreads) > 1 else None,
        lost_twice=stats.lost_double,
        largest_ratio=max(ratios, default=None),
        forfeits=sum(own.forfeits.values()),
        opponent_forfeits=sum(other.forfeits.values()),
    )
    return PlayedRow(row, spreads)


def draw_differences(found: Sequence[PlayedRow], path: str | Path) -> None:
    """Draw histograms of players' leads, one above the other, into a PNG file."""
    widest = max(int(np.abs(differences).max()) for _, differences in found)
    bins = np.arange(-(-(widest + 1) // BIN_POINTS) * 2 + 1) * BIN_POINTS
    bins -= bins[-1] // 2
    with picture(path, 9, 1.0 + 1.6 * len(found)) as figure:
        sides = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (row, differences) in zip(sides, found, strict=True):
            axes.hist(differences, bins=bins, color="tab:blue", ec="white", lw=0.5)
            axes.axvline(0, color="black", lw=0.8)
            axes.axvline(float(differences.mean()), color="tab:orange", lw=2)
            axes.set(ylabel="games")
            axes.yaxis.get_major_locator().set_params(integer=True)
            axes.set_title(
                f"{row.player} – {row.opponent}: {row.games:,} games, "
                f"{differences.mean():+.1f} points a game",
                fontsize="medium",
            )
        sides[-1].set(xlabel=f"points ahead, in bins of {BIN_POINTS}; orange: the mean")
