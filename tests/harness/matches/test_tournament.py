"""A tournament and what it remembers, without seats: how its games end is given."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import asdict
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
from match_samples import game, match_config, seat

from bot.seat.runtime import software
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import KeptGame
from harness.arbiter.records import Began, Draws, Ended, Opened, Record, new_game
from harness.arbiter.scorebook import Scorebook, accusation
from harness.arbiter.seat import Seat
from harness.matches import cluster
from harness.matches.cluster import Pair, play_pair
from harness.matches.config import MatchError
from harness.matches.folder import (
    Absent,
    Corrected,
    Decision,
    MatchFolder,
    Returned,
    Withdrawn,
)
from harness.matches.game_queue import GameQueue
from harness.matches.results import GameResult, PlannedGame, walkover
from harness.matches.tournament import HOST_ERRORS, Tournament
from harness.workers import Cluster
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

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
        with pytest.raises(MatchError, match=r"game 1 failed 3 times: .*reason 1"):
            await tournament.play()


async def test_while_a_match_is_paused_only_games_under_way_are_played(tmp_path: Path) -> None:
    with MatchFolder(tmp_path) as files:

        def queue(games: int) -> GameQueue:
            return GameQueue(
                match_config(games=games),
                files,
                lambda: False,
                in_pairs=False,
                directed=False,
                hold=files.pause.exists,
                away=tuple,
                paired=lambda _round: None,
            )

        endless = queue(5_000_000_000)
        files.pause.touch()
        endless.resume({3: cast("KeptGame", None)})
        assert [it.number for it in await endless.next()] == [3]
        del endless.unfinished[3]
        following = asyncio.create_task(endless.next())
        for _ in range(3):
            await asyncio.sleep(0)
            endless.look_again()
        assert not following.done()
        files.pause.unlink()
        endless.look_again()
        assert [it.number for it in await following] == [1]
        files.append(game(1, (420, 400)))
        files.pause.touch()
        assert await queue(1).next() == [], "nothing is left to wait for"
        following = asyncio.create_task(queue(2).next())
        await asyncio.sleep(0)
        assert not following.done(), "game 2 is left, though game 1 is over and none is under way"
        following.cancel()


async def test_players_do_not_see_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden: list[object] = []

    @asynccontextmanager
    async def seating(*_: object, **given: object) -> AsyncIterator[None]:
        hidden.append(given["hidden"])
        yield
        raise MatchError("that was all")

    monkeypatch.setattr("harness.matches.tournament.seating", seating)
    key = tmp_path / "key"
    with MatchFolder(tmp_path / "out") as files:
        tournament = Tournament(match_config(games=2), load_lexicon(), files, print, hidden=(key,))
        monkeypatch.setattr(tournament.queue, "next", AsyncMock(return_value=[]))
        with pytest.raises(MatchError, match="that was all"):
            await tournament.play()
    assert hidden == [(tmp_path / "out", key)]


def test_a_worker_of_several_threads_plays_their_pairs_in_one_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Made at once, as many loops as threads would share the seats, and later pairs would fail."""
    # As in a new process: another test may have had a worker in this one.
    monkeypatch.setattr(cluster, "_loop", cache(cluster._loop.__wrapped__))
    monkeypatch.setattr(cluster, "_new_tables", lru_cache(cluster._Tables))
    lexicon = load_lexicon()
    config = match_config(lexicon_checksum=lexicon.checksum)
    all_here = threading.Barrier(4)

    def play(number: int) -> list[str]:
        planned = PlannedGame(number, number, 0)
        opened = new_game(("Old", "New"), lexicon, config.time, Draws.seeded(7, number))
        if number <= all_here.parties:
            all_here.wait()
        ended = [records[-1] for records in play_pair(config, software(), [(planned, opened)])]
        return [last.message for last in ended if isinstance(last, Ended) and last.outcome != "out"]

    before = {thread.ident for thread in threading.enumerate()}
    with ThreadPoolExecutor(all_here.parties) as threads:
        assert list(chain(*threads.map(play, range(1, 5)))) == []
    assert play(5) == []
    begun = [thread for thread in threading.enumerate() if thread.ident not in before]
    assert [thread.name for thread in begun].count("tables") == 1


def directed(
    files: MatchFolder, *names: str, enough: Callable[[], bool] = lambda: False, **terms: Any
) -> Tournament:
    seats = tuple(f"guest:{name}" for name in names)
    config = match_config(seats=seats, names=names, seed=None, **terms)
    return Tournament(
        config, load_lexicon(), files, lambda _result: None, directed=True, enough=enough
    )


class Deserted:
    """A hall to which B does not come."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "match.db")

    async def host(self, book: Scorebook, _seats: tuple[Seat, Seat]) -> None:
        away = book.opened.players.index("B")
        missed = accusation(away, "no_show", "it did not come")
        book.end("no_show", 1 - away, "nobody came", 0, [missed])


def missed_by_b(number: int) -> GameResult:
    sides = seat("A", 0), seat("B", 0, faults=("no_show",))
    return game(number, (0, 0), sides=sides, outcome="no_show", winner=0)


def walkover_for_b(number: int) -> GameResult:
    return walkover(PlannedGame(number, number, 0), f"g{number}", ("A", "B"), (True, False))


BACK_BEFORE_GAME_3 = (Absent(1, "did not come"), Returned(1, after=2))


@pytest.mark.parametrize(
    ("results", "decisions", "is_absent"),
    [
        ([missed_by_b(1), missed_by_b(2)], (Absent(1, "did not come"), Returned(1)), False),
        ([missed_by_b(1), missed_by_b(2)], BACK_BEFORE_GAME_3, False),
        ([missed_by_b(1), missed_by_b(2), missed_by_b(3)], BACK_BEFORE_GAME_3, True),
        ([missed_by_b(1), walkover_for_b(2)], (), True),
        ([missed_by_b(1)], (Corrected(1, "g1", (300, 320)),), False),
        ([missed_by_b(1)], (), True),
    ],
)
async def test_missed_games_count_after_a_resumption_as_before(
    tmp_path: Path, results: list[GameResult], decisions: tuple[Decision, ...], is_absent: bool
) -> None:
    hall = Deserted(tmp_path)
    with closing(hall.journal), MatchFolder(tmp_path) as files:
        for result in results:
            files.append(result)
        for decision in decisions:
            files.decide(decision)
        tournament = directed(
            files, "A", "B", enough=lambda: len(files.results) > len(results), games=1, rounds=9
        )
        await tournament.play(hall)
        assert files.results[-1].number == len(results) + 1
        assert list(tournament.queue.absences.reasons) == [1] * is_absent


async def test_a_game_that_was_missed_just_before_a_kill_counts(tmp_path: Path) -> None:
    hall, lexicon = Deserted(tmp_path), load_lexicon()
    opened = new_game(("B", "A"), lexicon, TimeControl(), Draws.fresh())
    book = Scorebook(opened, lexicon)
    ended = book.end("no_show", 1, "nobody came", 0, [accusation(0, "no_show", "it did not come")])
    await hall.journal.create(opened, asdict(PlannedGame(2, 2, 1)))
    await hall.journal.append(opened.game, [ended], last=True)
    with closing(hall.journal), MatchFolder(tmp_path) as files:
        files.append(missed_by_b(1))
        tournament = directed(files, "A", "B", enough=lambda: True)
        await tournament.play(hall)
        assert [result.game for result in files.results] == ["g1", opened.game]
        why = "B missed 2 games in a row: lost without a game: nobody came"
        assert tournament.queue.absences.reasons == {1: why}
        assert files.decisions[0] == Absent(1, why)


class Killed:
    """A hall that fails as a host, and whose process dies before that is in the results."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "match.db")
        self.games: list[str] = []

    async def host(self, book: Scorebook, _seats: tuple[Seat, Seat]) -> None:
        self.games.append(book.opened.game)
        ended = book.end("host_error", None, "no process can be started", 0)
        await self.journal.append(book.opened.game, [ended], last=True)
        raise OSError("killed")


async def test_a_void_game_that_was_not_stored_stops_no_resumption(tmp_path: Path) -> None:
    lexicon = load_lexicon()
    games: list[str] = []
    for _ in range(2):
        hall = Killed(tmp_path)
        with closing(hall.journal), MatchFolder(tmp_path) as files:
            config = match_config(lexicon_checksum=lexicon.checksum)
            tournament = Tournament(config, lexicon, files, lambda _result: None)
            with pytest.raises(OSError, match="killed"):
                await tournament.play(hall)
        games += hall.games
    assert len(set(games)) == 2


def test_who_was_absent_and_is_withdrawn_is_not_back_after_a_start(tmp_path: Path) -> None:
    names = ("A", "B", "C")
    with MatchFolder(tmp_path) as files:
        files.decide(Absent(2, "did not come"))
        assert directed(files, *names).queue.absences.reasons
        files.decide(Withdrawn(2, "sent home"))
        tournament = directed(files, *names)
        assert (tournament.queue.absences.reasons, files.withdrawn) == ({}, {2})


class Waiting:
    """A hall whose games end when they are told to."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder / "match.db")
        self.on: asyncio.Queue[Scorebook] = asyncio.Queue()
        self.ends: dict[str, asyncio.Event] = {}

    async def host(self, book: Scorebook, _seats: tuple[Seat, Seat]) -> None:
        over = self.ends[book.opened.game] = asyncio.Event()
        self.on.put_nowait(book)
        await over.wait()
        if book.ended is None:
            book.end("resign", 0, "", 0)

    async def next(self) -> Scorebook:
        """Return the next game that begins."""
        async with asyncio.timeout(60):
            return await self.on.get()

    def end(self, book: Scorebook) -> None:
        self.ends[book.opened.game].set()


@asynccontextmanager
async def playing(
    folder: Path, *names: str, **terms: Any
) -> AsyncIterator[tuple[Waiting, MatchFolder, Tournament]]:
    """Have a directed tournament play in a hall; give it, its folder and the tournament."""
    hall = Waiting(folder)
    with closing(hall.journal), MatchFolder(folder) as files:
        tournament = directed(files, *names, **terms)
        task = asyncio.create_task(tournament.play(hall))
        yield hall, files, tournament
        task.cancel()
        await asyncio.wait([task])


async def settle() -> None:
    """Let all go on that can."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_a_game_that_was_on_is_played_whoever_has_withdrawn(tmp_path: Path) -> None:
    lexicon, names = load_lexicon(), ("A", "B", "C")
    terms: dict[str, Any] = {"games": 1, "rounds": 1, "lexicon_checksum": lexicon.checksum}
    with closing(Journal(tmp_path / "match.db")) as journal, MatchFolder(tmp_path) as files:
        planned = next(directed(files, *names, **terms).queue.schedule.next_round() or iter(()))
        players = names[planned.entrant(0)], names[planned.entrant(1)]
        opened = new_game(players, lexicon, TimeControl(), Draws.fresh())
        await journal.create(opened, asdict(planned))
        await journal.append(opened.game, [Began(nonces=("aa" * 16, "bb" * 16))])
        files.decide(Withdrawn(planned.players[0], "sent home"))
    async with playing(tmp_path, *names, **terms) as (hall, files, _):
        book = await hall.next()
        assert book.opened.game == opened.game
        hall.end(book)
        await settle()
        outcomes = {result.number: result.outcome for result in files.results}
        assert outcomes[planned.number] == "resign"


async def test_who_is_taken_back_may_miss_a_game(tmp_path: Path) -> None:
    async with playing(tmp_path, "A", "B", games=4) as (hall, files, tournament):
        for number in range(3):
            book = await hall.next()
            if number == 1:
                files.decide(Withdrawn(1, "gone home"))
                tournament.queue.take_back(1)
            away = book.opened.players.index("B")
            missed = accusation(away, "no_show", "it did not come")
            book.end("no_show", 1 - away, "nobody came", 0, [missed])
            hall.end(book)
            await settle()
            assert (1 in tournament.queue.absences.reasons) == (number == 2)


async def test_what_went_wrong_in_a_void_game_stays_beside_its_replay(tmp_path: Path) -> None:
    async with playing(tmp_path, "A", "B", games=2) as (hall, files, tournament):
        void = await hall.next()
        void.evidence.append("no process")
        void.end("host_error", None, "no process", 0)
        hall.end(void)
        annulled = await hall.next()
        annulled.evidence.append("a wrong clock")
        hall.end(annulled)
        second = await hall.next()
        assert (tmp_path / "games" / "00001.faults.txt").read_text() == "a wrong clock"
        files.decide(Corrected(1, annulled.opened.game, None, "a wrong clock"))
        tournament.play_again(1, annulled.opened.game)
        hall.end(second)
        hall.end(await hall.next())
        await settle()
        assert files.counted == {1, 2}
    kept = {path.name: path.read_text() for path in (tmp_path / "games").glob("*.faults.txt")}
    assert kept == {
        f"00001.{void.opened.game}.faults.txt": "no process",
        f"00001.{annulled.opened.game}.faults.txt": "a wrong clock",
    }


async def test_a_game_is_played_again_when_its_players_are_free(tmp_path: Path) -> None:
    async with playing(tmp_path, "A", "B", games=2, concurrency=4) as (hall, files, tournament):
        first = await hall.next()
        hall.end(first)
        second = await hall.next()
        files.decide(Corrected(1, first.opened.game, None, "a wrong clock"))
        tournament.play_again(1, first.opened.game)
        await settle()
        assert hall.on.empty(), "they play the second game"
        hall.end(second)
        again = await hall.next()
        assert list(tournament.playing) == [1]
        for _ in range(HOST_ERRORS + 1):
            again.was_voided = True  # by an admin, which is no failure
            again.end("host_error", None, "once more", 0)
            hall.end(again)
            again = await hall.next()
