"""A tournament and what it remembers, without seats: how its games end is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from match_samples import game, match_config, seat

from harness.arbiter.journal import Journal
from harness.arbiter.records import Opened, Record
from harness.arbiter.scorebook import Scorebook, accusation
from harness.arbiter.seat import Seat
from harness.matches.cluster import Pair
from harness.matches.config import MatchError
from harness.matches.folder import Absent, MatchFolder, Returned
from harness.matches.tournament import Tournament
from harness.workers import Cluster
from lexicons.store import load_lexicon

pytestmark = pytest.mark.usefixtures("kept_words")


class Broken:
    """A cluster whose workers all fail as hosts."""

    at_once = 1

    async def call(self, _play: object, _config: object, _software: str, pair: Pair) -> Any:
        return [self._ended(planned.number, opened) for planned, opened in pair]

    def _ended(self, number: int, opened: Opened) -> tuple[Record, ...]:
        ended = Scorebook(opened, load_lexicon()).end("host_error", None, f"reason {number}", 0)
        return opened, ended


async def test_a_pair_is_given_up_with_the_reason_of_the_game_that_is_named(tmp_path: Path) -> None:
    with MatchFolder(tmp_path) as files:
        tournament = Tournament(
            match_config(),
            load_lexicon(),
            files,
            lambda _result: None,
            cluster=cast("Cluster", Broken()),
        )
        with pytest.raises(MatchError, match=r"game 1 came to nothing 3 times: .*reason 1"):
            await tournament.play()


class Deserted:
    """A hall in which seat 1 does not come."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "match.db")

    async def host(self, book: Scorebook, _seats: tuple[Seat, Seat]) -> None:
        book.end("no_show", 0, "nobody came", 0, [accusation(1, "no_show", "it did not come")])


async def test_who_has_returned_may_miss_a_game_after_a_resumption(tmp_path: Path) -> None:
    names, missed = ("A", "B"), seat("B", 0, faults=("no_show",))
    config = match_config(
        seats=("guest:A", "guest:B"), names=names, games=1, rounds=9, format="round-robin"
    )
    hall = Deserted(tmp_path)
    with MatchFolder(tmp_path) as files:
        for number in (1, 2):
            sides = seat("A", 0), missed
            files.append(game(number, (0, 0), sides=sides, outcome="no_show", winner=0))
        files.decide(Absent(1, "did not come"))
        files.decide(Returned(1))
        tournament = Tournament(
            config,
            load_lexicon(),
            files,
            lambda _result: None,
            enough=lambda: len(files.results) == 3,
            directed=True,
        )
        await tournament.play(hall)
        assert files.results[-1].number == 3
        assert tournament.absentees == {}
    hall.journal.close()
