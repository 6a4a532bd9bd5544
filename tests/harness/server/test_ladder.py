"""A ladder without sockets: who waits where, what counts, how it is rated, what is told of it."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from match_samples import ended, opened
from msgspec.structs import astuple, replace
from postgres import tamper
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.arbiter.clock import DAY_S
from harness.arbiter.database import Address, JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Ended
from harness.matches.rating_list import RatingList
from harness.server.hosting import Hosting
from harness.server.ladder import rating_process
from harness.server.ladder.history import History, RatedGame
from harness.server.ladder.ladder import Ladder, Paired
from harness.server.ladder.publishing import GAMES_AT_ONCE, Publisher
from harness.server.ladder.rating_process import RatingError, RatingTask, rate, rated
from harness.server.ladder.settings import LABEL, LadderSettings, LadderTable
from harness.server.tables import ServerTables, TableKind
from harness.server.web import Web
from lexicons.store import load_lexicon
from protocol.errors import PeerError
from protocol.messages import Seek
from protocol.parts import Outcome, TimeControl
from protocol.websocket import HttpAnswer

MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC).timestamp()


def a_label(first: str, second: str, table: str = "ladder", bots: str = "") -> dict[str, Any]:
    kinds = dict.fromkeys(bots.split(), "bot")
    sides = [{"kind": kinds.get(name, "guest"), "name": name} for name in (first, second)]
    return {"sides": sides, LABEL: table}


@dataclass
class Season:
    """A ladder whose time is told by the test."""

    settings: LadderSettings = field(default_factory=LadderSettings)
    claimed: bool = True
    owners: dict[str, str] = field(default_factory=dict)
    at: float = MIDNIGHT
    games: int = 0
    computed: int = 0
    journal: Address = ""
    """Where what is told of single games is read."""

    def __post_init__(self) -> None:
        self.ladder = Ladder(
            self.settings,
            TimeControl(),
            lambda _name: self.claimed,
            lambda name: frozenset({self.owners[name]} if name in self.owners else ()),
            compute=self.compute,
            monotonic=lambda: self.at,
            now=lambda: self.at,
        )
        self.ladder.begin_with({name: History() for name in self.ladder.tables}, set())

    async def compute(self, task: RatingTask) -> list[RatingList]:
        self.computed += 1
        return rated(task)

    def put(self, *names: str, table: str | None = None) -> None:
        for name in names:
            wish = Seek(games=5, table=table)
            self.ladder.check(name, wish)
            self.ladder.put(name, wish)

    def pair(self, places: int = 8) -> list[Paired]:
        made = list(self.ladder.pair(places))
        for game in made:
            for side in game.sides:
                self.ladder.take_wish(side["name"])
        return made

    def play(self, first: str, second: str, how: Ended, table: str = "ladder") -> None:
        self.games += 1
        bots = " ".join(self.settings.anchors)
        self.ladder.over(f"{self.games:016x}", a_label(first, second, table, bots), how)

    def rate(self) -> None:
        asyncio.run(self.ladder.rate())


def names(game: Paired) -> set[str]:
    return {side["name"] for side in game.sides}


# --- who waits ------------------------------------------------------------------------------------


def test_those_at_a_table_are_paired_and_may_wait_again_after_the_game() -> None:
    season = Season()
    season.put("ann", "bob", "cem")
    (game,) = season.pair()
    assert (game.table, game.time) == ("ladder", TimeControl())
    (left,) = {"ann", "bob", "cem"} - names(game)
    assert left in season.ladder
    assert season.pair() == []
    first, second = (side["name"] for side in game.sides)
    season.play(first, second, ended(0))
    season.put(first)
    (game,) = season.pair()
    assert names(game) == {first, left}


def test_tables_have_clocks_and_players_of_their_own() -> None:
    blitz, slow = LadderTable(initial_ms=1_000), LadderTable(initial_ms=60_000)
    season = Season(LadderSettings(tables={"blitz": blitz, "slow": slow}))
    season.put("ann", "bob", table="slow")
    season.put("cem")
    (game,) = season.pair()
    assert (game.table, game.time.initial_ms, names(game)) == ("slow", 60_000, {"ann", "bob"})
    season.put("dan", table="blitz")
    (game,) = season.pair()
    assert (game.table, names(game)) == ("blitz", {"cem", "dan"})
    with pytest.raises(PeerError, match="'blitzz'") as no:
        season.put("eve", table="blitzz")
    assert no.value.code == "unknown_table"


def test_who_leaves_is_not_paired_and_a_name_of_nobody_is_refused() -> None:
    season = Season()
    season.put("ann", "bob")
    assert season.ladder.pop("bob") is not None
    assert season.pair() == []
    season.claimed = False
    with pytest.raises(PeerError, match="log in with a token"):
        season.put("eve")


def test_the_clock_of_the_server_changes_for_a_table_that_has_none_of_its_own() -> None:
    blitz = TimeControl(initial_ms=20_000)
    for settings, initial_ms in (
        (LadderSettings(), 20_000),
        (LadderSettings(tables={"slow": LadderTable(initial_ms=50_000)}), 50_000),
    ):
        ladder = Season(settings).ladder
        ladder.change_time(blitz)
        (table,) = ladder.tables.values()
        assert (table.time.initial_ms, table.patience_s) == (initial_ms, initial_ms / 10_000)


def test_an_anchor_plays_one_game_at_a_time() -> None:
    season = Season(LadderSettings(anchors={"static": 1_800.0}))
    season.put("ann", "bob", "cem")
    games = season.pair()
    season.at += 60  # who is left waits for the others, whose games would tell more, but not long
    games += season.pair()
    assert len(games) == 2
    against = next(game for game in games if "static" in names(game))
    kinds = {side["name"]: side["kind"] for side in against.sides}
    assert kinds.pop("static") == "bot"
    assert set(kinds.values()) == {"guest"}
    first, second = (side["name"] for side in against.sides)
    season.put("dan")
    season.at += 60
    assert season.pair() == []
    season.play(first, second, ended(0))
    (game,) = season.pair()
    assert names(game) == {"dan", "static"}


def test_a_table_has_no_anchor_that_does_not_play_there() -> None:
    tables = {"main": LadderTable(), "words": LadderTable(table="polish")}
    settings = LadderSettings(tables=tables, anchors={"house": 1_500.0})
    ladder = Ladder(settings, TimeControl(), plays=lambda kind, _bot: kind != "polish")
    assert [set(table.anchors) for table in ladder.tables.values()] == [{"house"}, set()]
    ladder.begin_with({name: History() for name in tables}, set())
    ladder.put("ann", Seek(table="words"))
    assert list(ladder.pair(8)) == []


def test_who_has_a_game_from_before_the_start_plays_and_is_not_paired() -> None:
    season = Season(LadderSettings(anchors={"static": 1_800.0}))
    ladder = Ladder(season.settings, TimeControl(), compute=season.compute)
    ladder.goes_on(a_label("static", "ann", bots="static"))
    ladder.begin_with({name: History() for name in ladder.tables}, set())
    table = ladder.tables["ladder"]
    ann, static = (table.history.player(name) for name in ("ann", "static"))
    assert table.state(ann) == table.state(static) == "plays"
    ladder.put("bob", Seek())
    assert list(ladder.pair(8)) == []
    ladder.over("g", a_label("static", "ann", bots="static"), ended(0))
    assert (table.state(ann), table.state(static)) == ("away", "waits")


def test_who_has_a_new_game_while_the_old_one_closes_still_plays() -> None:
    season = Season()
    season.put("ann", "bob")
    assert len(season.pair()) == 1
    season.put("ann", "cid")  # its game has ended, and stops its seats
    assert len(season.pair()) == 1
    table = season.ladder.tables["ladder"]
    ann, bob = (table.history.player(name) for name in ("ann", "bob"))
    season.play("ann", "bob", ended(0))
    assert (table.state(ann), table.state(bob)) == ("plays", "away")
    season.play("ann", "cid", ended(0))
    assert table.state(ann) == "away"


def test_a_game_of_one_owners_players_is_played_beside_the_ladder() -> None:
    owners = {"ann": "token 1", "bob": "token 1", "cem": "token 2"}
    for same_owner in (False, True):
        season = Season(LadderSettings(same_owner=same_owner), owners=owners)
        season.put("ann", "bob")
        (game,) = season.pair()
        assert (names(game), game.is_rated) == ({"ann", "bob"}, same_owner)
        table = season.ladder.tables["ladder"]
        assert table.state(table.history.player("ann")) == ("plays" if same_owner else "away")
        season.put("cem")
        assert season.pair() == []
        season.put("ann")  # its game is over
        (game,) = season.pair()
        assert (names(game), game.is_rated) == ({"ann", "cem"}, True)


# --- what counts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "points"),
    [
        (ended(0), 1.0),
        (ended(1), 0.0),
        (ended(None), 0.5),
        (ended(1, "resign"), 0.0),
        (replace(ended(1, "resign"), seq=1), 0.0),  # else it could choose its opponents
        (ended(0, "time", 1, code="disconnect"), 1.0),
        (ended(None, "host_error"), None),
        (ended(None, "no_show", 0, 1), None),
        (ended(1, "no_show", 0), 0.0),
        (ended(None, "no_show", 0), 0.0),  # it declined before the other had come
        (ended(1, "crash", 0, code="crash"), 0.0),
    ],
)
def test_what_a_game_counts_for(how: Ended, points: float | None) -> None:
    game = RatedGame("g", "ladder", ("ann", "bob"), frozenset(), 0.0, how)
    assert game.points == points


@pytest.mark.parametrize("outcome", ["no_show", "crash", "stall"])
def test_an_anchor_that_fails_is_no_win(outcome: Outcome) -> None:
    for winner, points in ((0, None), (1, 0)):
        how = ended(winner, outcome, 1 - winner, code=outcome)
        game = RatedGame("g", "x", ("ann", "static"), frozenset({"static"}), 0.0, how)
        assert game.points == points


def test_games_are_numbered_as_they_ended() -> None:
    history, many = History(), 2_050
    for number in range(many):
        second = "bob" if number % 1_024 else "cem"
        history.add(RatedGame(f"{number:016x}", "t", ("ann", second), frozenset(), 0.0, ended(0)))
    last = many - 1
    latest = history.latest(10**6, 4)
    assert [each.number for each in latest] == [last, last - 1, last - 2, last - 3]
    assert latest[0].game == f"{last:016x}"
    assert [each.number for each in history.latest(last, 9, history.find("cem"))] == [2048, 1024, 0]
    assert [each.number for each in history.latest(1024, 2, history.find("bob"))] == [1023, 1022]
    assert history.latest(0, 9) == []


def test_lists_are_those_of_a_plain_count() -> None:
    history, chance = History(), Random(1)
    results: Counter[tuple[str, str, int]] = Counter()
    spreads: Counter[tuple[str, str]] = Counter()
    leads: Counter[str] = Counter()
    for number in range(3_000):
        first, second = chance.sample("abcdef", 2)
        winner = chance.choice((0, 1, None))
        scores = chance.randint(200, 500), chance.randint(200, 500)
        how = replace(ended(winner), scores=scores)
        history.add(RatedGame(f"{number:016x}", "t", (first, second), frozenset(), 0.0, how))
        for own, other, seat in ((first, second, 0), (second, first, 1)):
            results[own, other, 0 if winner is None else 1 if winner == seat else -1] += 1
            spreads[own, other] += scores[seat] - scores[1 - seat]
            leads[own] += 1 - 2 * seat
    assert history.games == 3_000
    for own in "abcdef":
        assert history.records[cast("int", history.find(own))].lead == leads[own]
        for row in history.opponents(cast("int", history.find(own))):
            wins, losses, ties = (results[own, row.name, how] for how in (1, -1, 0))
            expected = wins + losses + ties, wins, losses, ties, spreads[own, row.name]
            assert astuple(row)[1:] == expected


# --- ratings --------------------------------------------------------------------------------------


def listed(season: Season, address: str = "/api/ladder") -> Any:
    """Return what is told under an address."""
    return json.loads(answered(season, address).text)


def answered(season: Season, address: str) -> HttpAnswer:
    parts = urlsplit(address)
    path = [unquote(part) for part in parts.path.split("/")[3:]]
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    answer = Publisher(season.ladder, lambda kind: f"words of {kind}").answer(path, query)
    return answer if isinstance(answer, HttpAnswer) else answer(season.journal)


def test_ratings_follow_results_and_anchors_are_held() -> None:
    season = Season(LadderSettings(anchors={"static": 1_800.0}, persons=("pat",)))
    for _ in range(6):
        season.play("ann", "static", ended(0))
        season.play("static", "bob", ended(0))
        season.play("pat", "ann", ended(1))
    season.rate()
    told = listed(season)
    assert [row["name"] for row in told["bots"]] == ["ann", "static", "bob"]
    assert [row["name"] for row in told["persons"]] == ["pat"]
    ann, static, _ = told["bots"]
    assert (static["rating"], static["error"], static["kind"]) == (1_800, 0, "anchor")
    assert ann["rating"] > 1_800
    assert ann["provisional"]
    assert ann["rank"] is None
    assert (static["rank"], static["provisional"]) == (1, False)
    assert (told["games"], told["rated_games"]) == (18, 18)
    season.rate()
    assert season.computed == 1, "nothing new has been played"


def test_ratings_over_time_are_those_at_the_end_of_each_day() -> None:
    season = Season()
    season.play("ann", "bob", ended(0))
    season.play("bob", "ann", ended(1))
    season.at += 2 * DAY_S
    for _ in range(20):
        season.play("cem", "ann", ended(0))
    season.rate()
    told = listed(season, "/api/ladder/players/ann")
    assert [point["day"] for point in told["over_time"]] == ["2026-11-01"]
    season.at += DAY_S
    season.rate()
    told = listed(season, "/api/ladder/players/ann")
    assert [point["day"] for point in told["over_time"]] == ["2026-11-01", "2026-11-03"]
    assert told["over_time"][-1]["rating"] == told["rating"]
    assert told["over_time"][0]["rating"] > told["rating"]
    (point,) = listed(season, "/api/ladder/players/cem")["over_time"]
    assert point["day"] == "2026-11-03"


def test_it_is_told_from_how_many_opponents_a_rating_comes() -> None:
    season = Season(LadderSettings(anchors={"static": 1_500.0}))
    for opponent in ("bob", "bob", "bob", "static"):
        season.play("ann", opponent, ended(0))
    rows = {row["name"]: row for row in listed(season)["bots"]}
    assert (rows["ann"]["met"], rows["ann"]["largest_share"]) == (0, 0), "not rated yet"
    season.rate()
    season.play("cem", "ann", ended(0))
    rows = {row["name"]: row for row in listed(season)["bots"]}
    told = {name: (row["met"], row["largest_share"]) for name, row in rows.items()}
    assert told == {"ann": (2, 0.75), "bob": (1, 1), "static": (1, 1), "cem": (0, 0)}
    ann = listed(season, "/api/ladder/players/ann")
    assert (ann["met"], ann["largest_share"], len(ann["opponents"])) == (2, 0.75, 3)


def test_who_is_away_for_long_fades() -> None:
    season = Season(LadderSettings(fade_days=10))
    season.play("ann", "bob", ended(0))
    season.at += 9.9 * DAY_S
    season.play("cem", "bob", ended(0))
    season.at += 0.2 * DAY_S
    assert {row["name"] for row in listed(season)["bots"]} == {"bob", "cem"}
    everybody = listed(season, "/api/ladder?all=1")["bots"]
    assert {row["name"]: row["active"] for row in everybody}["ann"] is False


async def test_a_day_that_is_over_has_ratings_without_another_game(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.ladder.ladder.PAUSE_S", 0.0)
    season, days = Season(at=MIDNIGHT + DAY_S - 0.05), asyncio.Queue[int]()

    async def compute(task: RatingTask) -> list[RatingList]:
        days.put_nowait(len(task.days))
        return rated(task)

    season.ladder._compute = compute
    running = asyncio.create_task(season.ladder.run(journal.address, lambda: None))
    season.play("ann", "bob", ended(0))
    async with asyncio.timeout(10):
        await days.get()
        season.at += DAY_S
        await days.get()
    running.cancel()


async def test_ratings_are_computed_in_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text("raise SystemExit('no part of ours')")
    monkeypatch.chdir(tmp_path)
    season = Season()
    for _ in range(3):
        season.play("ann", "bob", ended(0))
    task = season.ladder.tables["ladder"].task(datetime.fromtimestamp(season.at, UTC).date())
    assert task is not None
    (there,), (here,) = await rate(task), rated(task)
    assert there.ratings.tolist() == pytest.approx(here.ratings.tolist())
    monkeypatch.setattr(
        rating_process, "_COMMAND", (sys.executable, "-c", "raise SystemExit('no')")
    )
    with pytest.raises(RatingError, match="exit status 1: no"):
        await rate(task)


async def test_ratings_that_fail_are_computed_later() -> None:
    failures = 7

    async def compute(task: RatingTask) -> list[RatingList]:
        if failures:
            raise RatingError("exit status 9: killed")
        return rated(task)

    ladder = Ladder(LadderSettings(), TimeControl(), compute=compute)
    ladder.begin_with({"ladder": History()}, set())
    assert not await ladder.rate()
    ladder.over("1" * 16, a_label("ann", "bob"), ended(0))
    pauses = []
    while failures:
        assert await ladder.rate()  # there is more to do
        failures -= 1
        pauses.append(ladder._pause_s)
    assert pauses == [2, 4, 8, 16, 32, 60, 60]
    assert ladder.tables["ladder"].latest is None
    assert not await ladder.rate()
    assert ladder._pause_s == 1
    assert ladder.tables["ladder"].latest is not None


def test_another_game_takes_its_row_and_no_more() -> None:
    season = Season()
    pairs = list(permutations(("ann", "bob", "cem", "dan"), 2))

    def play(games: int) -> None:
        for number in range(games):
            season.play(*pairs[number % len(pairs)], ended(number % 3 - 1 if number % 3 else None))
        season.rate()

    play(1_000)
    tracemalloc.start()
    try:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        play(4_000)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / 4_000 < 50


# --- the journal ----------------------------------------------------------------------------------


async def keep(journal: Journal, game: str, label: dict[str, Any], *how: Ended) -> None:
    """Have a game in the journal, over or not."""
    await journal.create(opened(game), label)
    if how:
        await journal.append(game, how, last=True)


async def test_the_journal_is_all_that_a_ladder_needs(journal: Journal) -> None:
    await keep(journal, "1" * 16, a_label("ann", "bob"), ended(0))
    await keep(journal, "2" * 16, a_label("bob", "ann"), ended(None))
    await keep(journal, "3" * 16, a_label("ann", "bob"))
    await keep(journal, "4" * 16, {"sides": a_label("ann", "bob")["sides"]}, ended(0))
    await keep(journal, "5" * 16, a_label("ann", "bob", "gone"), ended(0))
    season = Season()
    histories, late = season.ladder.read(journal.address)
    assert late == {digit * 16 for digit in "1255"}
    fresh = Ladder(LadderSettings(), TimeControl())
    fresh.over("1" * 16, a_label("ann", "bob"), ended(0))  # it ended while the journal was read
    fresh.over("6" * 16, a_label("cem", "bob"), ended(0))
    fresh.put("ann", Seek())
    fresh.put("cem", Seek())
    assert list(fresh.pair(1)) == []
    fresh.begin_with(histories, late)
    history = fresh.tables["ladder"].history
    assert [each.game for each in history.latest(9, 9)] == ["6" * 16, "2" * 16, "1" * 16]
    assert [row.ties for row in history.opponents(0)] == [1]
    (game,) = fresh.pair(1)
    assert names(game) == {"ann", "cem"}


async def test_a_ladder_begins_when_its_journal_can_be_read_again(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = Ladder(LadderSettings(), TimeControl())
    lost = [JournalError("the line is cut")]

    def read(address: Address) -> Any:
        if lost:
            raise lost.pop()
        return Ladder.read(ladder, address)

    monkeypatch.setattr(ladder, "read", read)
    monkeypatch.setattr("harness.server.ladder.ladder.PAUSE_S", 0.01)
    begun = asyncio.Event()
    running = asyncio.create_task(ladder.run(journal.address, begun.set))
    async with asyncio.timeout(10):
        await begun.wait()
    assert not lost
    running.cancel()


async def test_a_damaged_game_does_not_count_and_harms_no_other(journal: Journal) -> None:
    await keep(journal, "1" * 16, a_label("ann", "bob"), ended(0))
    await keep(journal, "2" * 16, {LABEL: "ladder"}, ended(0))
    await keep(journal, "3" * 16, a_label("ann", "bob"), replace(ended(0), winner=7))
    await keep(journal, "4" * 16, a_label("ann", "bob"), replace(ended(0), scores=(2**40, 0)))
    for digit in "567":
        await keep(journal, digit * 16, a_label("ann", "bob"), ended(0))
    tamper(journal.address, "UPDATE games SET label = '{' WHERE game = ?", "5" * 16)
    tamper(journal.address, "UPDATE records SET at = 1e300 WHERE game = ?", "6" * 16)
    tamper(journal.address, "UPDATE records SET content = '{}' WHERE game = ?", "7" * 16)
    histories, _ = Season().ladder.read(journal.address)
    assert [each.game for each in histories["ladder"].latest(9, 9)] == ["1" * 16]


# --- what is told ---------------------------------------------------------------------------------


async def test_games_are_told_a_hundred_at_a_time(journal: Journal) -> None:
    last = GAMES_AT_ONCE + 6
    for number in range(1, last):
        await keep(journal, f"{number:016x}", a_label("ann", "bob"), ended(0))
    await keep(journal, f"{last:016x}", a_label("cem", "bob"), ended(1, "no_show", 0))
    tamper(journal.address, "UPDATE records SET at = 1900000000 WHERE game = ?", f"{last:016x}")
    season = Season(journal=journal.address)
    season.ladder.begin_with(*season.ladder.read(journal.address))
    told = listed(season, "/api/ladder/games")
    assert told["games"][0] == {
        "number": GAMES_AT_ONCE + 5,
        "game": f"{GAMES_AT_ONCE + 6:016x}",
        "ended": "2030-03-17T17:46:40+00:00",
        "players": ["cem", "bob"],
        "scores": [350, 450],
        "points": 0.0,
        "outcome": "no_show",
        "turns": 23,
    }
    older = listed(season, f"/api/ladder/games?before={told['before']}")
    assert [game["number"] for game in older["games"]] == [5, 4, 3, 2, 1, 0]
    assert older["before"] is None
    assert len(listed(season, "/api/ladder/games?player=cem")["games"]) == 1
    cem = listed(season, "/api/ladder/players/cem")
    assert (cem["forfeits"], cem["faults"], cem["losses"]) == ({"no_show": 1}, {"no_show": 1}, 1)
    assert cem["opponents"] == [
        {"name": "bob", "games": 1, "wins": 0, "losses": 1, "ties": 0, "spread": -100}
    ]


async def test_what_is_told_is_made_beside_the_loop_and_once_for_all_who_ask_together(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(journal, "1" * 16, a_label("ann", "bob"), ended(0))
    threads: list[tuple[str, int]] = []

    def noting(what: str, made: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*asked: Any) -> Any:
            threads.append((what, threading.get_ident()))
            return made(*asked)

        return noted

    monkeypatch.setattr(Publisher, "_row", noting("row", Publisher._row))
    monkeypatch.setattr(History, "opponents", noting("opponents", History.opponents))
    ladder = Ladder(LadderSettings(), TimeControl())
    ladder.begin_with(*ladder.read(journal.address))
    tables = ServerTables(TableKind(lexicon=load_lexicon()))
    web = Web(Hosting(tables, journal, LagMeter()), None, ladder=Publisher(ladder, str))

    async def told(address: str) -> Any:
        answer = web.answer(Request(address, Headers()))
        assert isinstance(answer, Awaitable)
        return json.loads((await answer).text)

    lists = await asyncio.gather(*3 * [told("/api/ladder")])
    assert [[row["name"] for row in each["bots"]] for each in lists] == 3 * [["ann", "bob"]]
    assert [what for what, _ in threads] == 2 * ["row"]
    assert threading.get_ident() not in {thread for _, thread in threads}
    threads.clear()
    players = await asyncio.gather(*3 * [told("/api/ladder/players/ann")])
    assert [[met["name"] for met in each["opponents"]] for each in players] == 3 * [["bob"]]
    assert [what for what, thread in threads if thread != threading.get_ident()] == ["opponents"]


@pytest.mark.parametrize(
    ("address", "status", "word"),
    [
        ("/api/ladder?table=no", 400, "'no'"),
        ("/api/ladder/players/nobody", 404, "'nobody'"),
        ("/api/ladder/games?before=x", 400, "before"),
        ("/api/ladder/games?before=" + "9" * 5_000, 400, "before"),
        ("/api/ladder/games?player=nobody", 404, "'nobody'"),
        ("/api/ladder/nothing", 404, "/api/ladder/games"),
        ("/api/ladder/players/a/b", 404, "/api/ladder"),
        ("/api/ladder/players/%ff%00?table=%ff", 400, "table"),
        ("/api/ladder/%2e%2e/games", 404, "/api/ladder"),
    ],
)
def test_wrong_addresses_are_refused(address: str, status: int, word: str) -> None:
    answer = answered(Season(), address)
    assert answer.status == status
    assert word in json.loads(answer.text)["error"]
