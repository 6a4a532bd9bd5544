"""The lobby without a socket: who finds a place, and what it costs not to be ready."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from itertools import count
from typing import Any, cast

import pytest
from bot_table import MemoryChannel
from passing_seats import Passer
from tables import tables, words

from harness.arbiter.clock import LOCAL_READY_MS
from harness.arbiter.host import GameHost
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_ended, read_past
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import TurnRecord
from harness.server.admission import GAME_BYTES, Admission, Admissions
from harness.server.hosting import Hosting
from harness.server.ladder.history import History
from harness.server.ladder.ladder import Ladder
from harness.server.ladder.settings import LABEL, LadderSettings, LadderTable, ServerTime
from harness.server.lobby import Lobby
from harness.server.players import PresentPlayer
from harness.server.seeking import Seeks
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper, hash_token
from protocol.channel import now_ms
from protocol.errors import PeerError
from protocol.link import Link
from protocol.messages import Error, NewGame, Ready, Seek, Seeking, Started
from protocol.parts import TimeControl


@pytest.fixture
async def lobby(journal: Journal) -> AsyncIterator[Lobby]:
    """A lobby in which nobody can be ready in time, nor owes anything for that."""
    hours = count(step=3_600.0)
    time, gate = TimeControl(ready_ms=1), Admissions(Admission(), lambda: next(hours))
    main = TableKind(lexicon=words(), bots={"house": Passer})
    hosting = Hosting(ServerTables(main), journal, LagMeter())
    lobby = Lobby(hosting, time, 2, Gatekeeper(journal), gate)
    yield lobby
    await lobby.drain(0, asyncio.Event())


async def only_game(lobby: Lobby) -> GameHost:
    """Have the lobby pair; return the host of the only game."""
    await asyncio.sleep(0)
    (host,) = lobby.hosting.games.values()
    return host


async def all_over(lobby: Lobby) -> None:
    """Wait until the games that are on are over."""
    await asyncio.gather(*lobby._tasks.values())


class Guest:
    """A player of a lobby, and what it is told."""

    def __init__(self, lobby: Lobby, name: str, address: str = "127.0.0.1") -> None:
        self.player: PresentPlayer = lobby.players.named(name)
        self.told: list[object] = []
        _, channel = MemoryChannel.pair()
        channel.peer = f"{address}:54312"
        link = Link(channel, lambda _message, _at_ms: None)
        self._is_told = asyncio.Event()
        link.send = self._hear  # type: ignore[method-assign]
        lobby.arrive(self.player, link)
        self._lobby, self._link = lobby, link

    def seek(self, opponent: str | None = None, **wish: Any) -> None:
        self._lobby.seek(self.player, Seek(opponent=opponent, **wish))

    def leave(self) -> None:
        self._lobby.depart(self.player, self._link, "it left")

    def _hear(self, message: object) -> None:
        self.told.append(message)
        self._is_told.set()

    async def hears(self, kind: type) -> None:
        """Wait for a message of a kind, and forget all before it."""
        while not any(isinstance(message, kind) for message in self.told):
            self._is_told.clear()
            await self._is_told.wait()
        self.told.clear()


async def test_a_table_that_is_not_there_and_a_bot_that_does_not_play_at_one(lobby: Lobby) -> None:
    main = lobby.hosting.tables.main
    lobby.hosting.tables = ServerTables(main, [TableKind(name="polish", lexicon=main.lexicon)])
    ann = Guest(lobby, "ann")
    with pytest.raises(PeerError, match="'polsh'") as refused:
        ann.seek(table="polsh")
    assert refused.value.code == "unknown_table"
    with pytest.raises(PeerError, match="house does not play at polish, but at: main"):
        ann.seek("house", table="polish")
    ann.seek(table="polish")
    Guest(lobby, "bob").seek()
    await asyncio.sleep(0)
    assert ann.told == [Seeking(table="polish")]
    assert not lobby._tasks, "they are at different tables"


async def test_who_is_not_ready_pays_for_the_others_time_and_what_it_sought_is_forgotten(
    lobby: Lobby,
) -> None:
    lobby.admissions.clock = lambda: 0.0
    guests = Guest(lobby, "ann"), Guest(lobby, "bob")
    for guest in guests:
        guest.seek(games=3)
    await asyncio.sleep(0)  # they are paired
    await all_over(lobby)
    for guest in guests:
        assert isinstance(error := guest.told[-1], Error)
        assert (error.code, error.retry) == ("busy", "later")
        assert "seek again in 1 s" in error.message
        assert guest.player.rest is None
    assert not lobby.hosting.games


@pytest.mark.parametrize(
    ("opponent", "on_ladder", "ready_ms"),
    [("house", False, LOCAL_READY_MS), ("bob", False, 1), (None, True, LOCAL_READY_MS)],
)
async def test_the_servers_own_bots_have_time_to_compile(
    lobby: Lobby,
    request: pytest.FixtureRequest,
    opponent: str | None,
    ready_ms: int,
    *,
    on_ladder: bool,
) -> None:
    if on_ladder:
        request.getfixturevalue("rated")
    guests = Guest(lobby, "ann"), Guest(lobby, "bob")
    guests[0].seek(opponent)
    guests[1].seek("ann")
    host = await only_game(lobby)
    assert host.book.opened.time.ready_ms == ready_ms


async def met(lobby: Lobby, ann: Guest, bob: Guest, *, ready: bool = True) -> tuple[str, str]:
    """Have two meet in a game that begins, and is void then, or doesn't begin."""
    ann.seek("bob")
    bob.seek("ann")
    host = await only_game(lobby)
    if ready:
        for guest in (ann, bob):
            await guest.hears(NewGame)
            seat = guest.player.seats[host.game]
            seat.report_message(Ready(game=host.game, nonce="00" * 16), now_ms())
        await ann.hears(Started)
        host.end("host_error", "seen enough")
    await all_over(lobby)
    return host.book.opened.players


def again(lobby: Lobby, max_games: int = 2) -> tuple[Lobby, Guest, Guest]:
    """Start a server again."""
    lobby = Lobby(lobby.hosting, lobby.time, max_games, lobby.gatekeeper, lobby.admissions)
    lobby.restore_all()
    return lobby, Guest(lobby, "ann"), Guest(lobby, "bob")


async def test_who_meet_again_swap_seats(lobby: Lobby) -> None:
    lobby.time = TimeControl()
    ann, bob = Guest(lobby, "ann"), Guest(lobby, "bob")
    games = [await met(lobby, ann, bob) for _ in range(3)]
    games.append(await met(*again(lobby)))
    assert games[0] != games[1]
    assert games[2:] == games[:2]


async def test_who_does_not_come_does_not_move_first_the_next_time(lobby: Lobby) -> None:
    never, lobby.time = lobby.time, TimeControl()
    ann, bob = Guest(lobby, "ann"), Guest(lobby, "bob")
    first, second = await met(lobby, ann, bob)
    lobby.time = never
    games = [await met(lobby, ann, bob, ready=False) for _ in range(2)]
    games.append(await met(*again(lobby), ready=False))
    assert games == 3 * [(second, first)]


async def test_a_game_has_the_bots_of_the_table_that_was_sought(lobby: Lobby) -> None:
    class Others(Passer):
        """The bots of another table."""

    main = lobby.hosting.tables.main
    other = TableKind(name="formula", lexicon=main.lexicon, bots={"house": Others})
    lobby.hosting.tables = ServerTables(main, [other])
    label = {"sides": [{"kind": "bot", "name": "house"}, {"kind": "guest", "name": "ann"}]}
    for name, kind in (("main", Passer), ("formula", Others)):
        book = lobby.hosting.new_book(lobby.hosting.tables.find(name), lobby.time, label)
        first, _ = lobby.hosting.seats(book.opened, label)
        assert type(first) is kind


async def test_a_list_has_what_is_written_down(lobby: Lobby) -> None:
    Guest(lobby, "ann").seek("house")
    host = await only_game(lobby)
    host._table.book.turns.append(cast("TurnRecord", None))  # which the journal does not have yet
    (listed,) = lobby.hosting.listed().games
    assert (listed.scores, listed.turns) == ((0, 0), 0)


async def test_who_has_a_game_is_told_which_and_how_to_get_out_of_it(lobby: Lobby) -> None:
    ann = Guest(lobby, "ann")
    ann.seek("house")
    await asyncio.sleep(0)
    (game,) = lobby.games_of(ann.player)
    with pytest.raises(PeerError, match=f"you are in game {game} against house: send resume"):
        ann.seek("house")


def playing(lobby: Lobby) -> set[str]:
    """Name the guests who play."""
    return {name for host in lobby.hosting.games.values() for name in host.guests}


async def end_game(lobby: Lobby, name: str) -> None:
    """End a guest's game, and have the next begin."""
    (game,) = (game for game, host in lobby.hosting.games.items() if name in host.guests)
    task = lobby._tasks[game]
    lobby.hosting.games[game].end("host_error", "so that others play")
    await task
    await asyncio.sleep(0)


WHY = (
    "192.0.2.1 has the most games and lent bots that it may have{}; your game begins when "
    "one of them is over"
)


def held_back(guest: Guest) -> list[str | None]:
    """Return what a guest was told of why its seeks have to wait."""
    return [told.held_back for told in guest.told if isinstance(told, Seeking)]


@pytest.fixture
def shared(lobby: Lobby) -> Lobby:
    """The lobby with four places, of which an address may have one."""
    lobby.max_games = 4
    lobby.admissions.change(Admission(games_per_address=1))
    return lobby


async def test_an_address_with_many_names_leaves_places_to_others(shared: Lobby) -> None:
    many = [Guest(shared, name, "192.0.2.1") for name in ("ann", "bob", "cem")]
    for guest in many:
        guest.seek("house", games=2)
    await asyncio.sleep(0)
    assert playing(shared) == {"ann"}
    assert {it.name for it in shared.present() if it.seeking} == {"bob", "cem"}
    (host,) = shared.hosting.games.values()
    why = WHY.format(f": {' – '.join(host.book.opened.players)}")
    assert [held_back(guest) for guest in many] == [[None], [None, why], [None, why]]
    dee = Guest(shared, "dee", "192.0.2.2")
    dee.seek("bob")
    many[1].seek(games=2)  # it waits on, for another opponent
    await asyncio.sleep(0)
    assert playing(shared) == {"ann"}
    with pytest.raises(PeerError, match=r"192\.0\.2\.1 has the most games and lent") as caught:
        shared.lend("192.0.2.1").__enter__()
    assert (caught.value.code, caught.value.close) == ("busy", 1013)
    await end_game(shared, "ann")
    assert playing(shared) == {"bob", "dee"}, "who had the place waits for its next game"
    await all_over(shared)
    await asyncio.sleep(0)
    assert playing(shared) == {"cem"}
    with shared.lend("192.0.2.2"):
        await end_game(shared, "cem")
        assert playing(shared) == {"ann"}
        many[2].leave()
    await end_game(shared, "ann")
    assert playing(shared) == set()
    assert {it.name for it in shared.present() if it.seeking} == {"bob"}


async def test_who_finds_no_place_is_told_which_games_have_them(lobby: Lobby) -> None:
    """Also after a restart, of which nobody knows where the players of its games come from."""
    lobby.max_games, lobby.time = 1, TimeControl(initial_ms=120_000)
    gone, bob = Guest(lobby, "gone"), Guest(lobby, "bob", "192.0.2.1")
    for guest in (gone, bob):
        guest.seek("house")
    await asyncio.sleep(0)
    first, told = held_back(bob)
    assert first is None, "there was a place yet"
    assert all(part in str(told) for part in ("house", "gone"))
    assert "away" not in str(told)
    await gone.hears(NewGame)
    await lobby.drain(0, asyncio.Event())
    lobby, ann, bob = again(lobby, max_games=1)
    ann.seek("house")
    bob.seek("ann")
    lobby.pause("an admin")
    bob.seek("ann")
    await asyncio.sleep(0)
    assert "(gone is away and has 12:00 left; " in str(held_back(ann))
    assert held_back(bob)[1:] == ["no game begins now: paused by an admin"]
    assert len(held_back(ann)) == 1, "it is told once"


async def test_a_bot_that_is_lent_takes_a_place_of_its_address(shared: Lobby) -> None:
    ann = Guest(shared, "ann", "192.0.2.1")
    with shared.lend("192.0.2.1"):
        ann.seek("house")
        await asyncio.sleep(0)
        assert (shared.lent, playing(shared), held_back(ann)) == (1, set(), [WHY.format("")])
    await asyncio.sleep(0)
    assert (shared.lent, playing(shared)) == (0, {"ann"})


async def test_players_who_wait_come_before_who_has_a_bot_lent(lobby: Lobby) -> None:
    lobby.max_games = 1
    Guest(lobby, "ann").seek("house")
    with pytest.raises(PeerError) as caught:
        lobby.lend("192.0.2.1").__enter__()
    assert (caught.value.code, playing(lobby)) == ("busy", {"ann"})


async def test_lent_bots_have_so_many_places_and_an_address_so_many_of_them(lobby: Lobby) -> None:
    lobby.max_games = 4
    with lobby.lend("192.0.2.1"), lobby.lend("192.0.2.2"):
        with pytest.raises(PeerError, match="lent bots have 2 of 4 places") as caught:
            lobby.lend("192.0.2.3").__enter__()
        assert (caught.value.code, caught.value.close) == ("busy", 1013)
        lobby.admissions.change(Admission(lending=1.0, lent_per_address=1))
        with pytest.raises(PeerError, match=r"192\.0\.2\.1 has 1 lent bot, the most") as caught:
            lobby.lend("192.0.2.1").__enter__()
        assert (caught.value.code, caught.value.close) == ("busy", 1013)
        with lobby.lend("192.0.2.3"):
            assert lobby.lent == 3


@pytest.mark.parametrize("on_ladder", [False, True])
async def test_a_lent_bot_is_taken_back_for_players_who_lack_nothing_but_its_place(
    lobby: Lobby, request: pytest.FixtureRequest, *, on_ladder: bool
) -> None:
    if on_ladder:
        request.getfixturevalue("rated").ladder.tables["blitz"].remove("house")
    asked: list[int] = []

    def take_back() -> bool:
        asked.append(len(asked))
        return True

    lobby.max_games = 1
    ann, bob = Guest(lobby, "ann"), Guest(lobby, "bob")
    with lobby.lend("192.0.2.1") as loan:
        loan.take_back = take_back
        ann.seek()
        await asyncio.sleep(0)
        assert (asked, lobby.lacks_place) == ([], False), "there is no opponent"
        lobby.pause("power cut")
        bob.seek(None if on_ladder else "ann")
        await asyncio.sleep(0)
        assert (asked, lobby.lacks_place) == ([], False)
        lobby.pause(None)
        await asyncio.sleep(0)
        assert (len(asked), lobby.lacks_place) == (1, True)
    await asyncio.sleep(0)
    assert (playing(lobby), lobby.lacks_place) == ({"ann", "bob"}, False)


# --- with a ladder --------------------------------------------------------------------------------


@pytest.fixture
def rated(lobby: Lobby) -> Lobby:
    """The lobby with a ladder, whose slow table is the second."""
    tables = {"blitz": LadderTable(ready_ms=1), "slow": LadderTable(ready_ms=2)}
    settings = LadderSettings(tables=tables, anchors={"house": 1_500.0})
    ladder = Ladder(settings, lobby.time, owners=lobby.owners)
    lobby.waiting.take_ladder(ladder)
    ladder.begin_with({name: History() for name in tables}, set())
    return lobby


async def test_who_seeks_anyone_plays_rated_as_often_as_it_seeks(rated: Lobby) -> None:
    assert rated.ladder is not None
    guests = Guest(rated, "ann"), Guest(rated, "bob")
    rated.ladder.tables["slow"].remove("house")
    for guest in guests:
        guest.seek(games=2, table="slow")
    assert [told.table for told in guests[0].told if isinstance(told, Seeking)] == ["slow"]
    host = await only_game(rated)
    assert host.book.opened.time == ServerTime(ready_ms=2)
    assert "ann" not in rated.ladder
    await all_over(rated)
    history = rated.ladder.tables["slow"].history
    faults = [record.faults for record in history.records if record.name != "house"]
    assert faults == 2 * [{"no_show": 1}]
    assert history.games == 0  # neither came
    following = await only_game(rated)
    assert following is not host
    await all_over(rated)
    await asyncio.sleep(0)
    assert not rated.hosting.games  # each sought two


async def test_a_seek_by_name_is_not_rated_and_takes_the_place_of_one_that_is(
    rated: Lobby,
) -> None:
    assert rated.ladder is not None
    for name in ("blitz", "slow"):
        rated.ladder.tables[name].remove("house")
    ann, bob = Guest(rated, "ann"), Guest(rated, "bob")
    ann.seek()
    ann.seek("bob")
    assert "ann" not in rated.ladder
    bob.seek("ann")
    await asyncio.sleep(0)
    await all_over(rated)
    tables = rated.ladder.tables.values()
    assert not any(record.last for table in tables for record in table.history.records)
    ann.seek("bob")
    ann.seek()
    assert "ann" in rated.ladder
    ann.leave()
    assert "ann" not in rated.ladder
    bob.seek("ann")
    await asyncio.sleep(0)
    assert not rated.hosting.games


async def test_an_address_with_many_names_leaves_places_of_the_ladder_to_others(
    shared: Lobby, rated: Lobby
) -> None:
    assert rated is shared
    assert rated.ladder is not None
    rated.ladder.tables["blitz"].remove("house")
    for number in range(6):
        Guest(rated, f"p{number}", "192.0.2.1").seek()
    await asyncio.sleep(0)
    first = playing(rated)
    assert len(first) == 2
    blitz, _ = rated.ladder.tables.values()
    known = [(player, record.name) for player, record in enumerate(blitz.history.records)]
    states = {name: rated.ladder.state(blitz, player) for player, name in known}
    held_back = {f"p{number}" for number in range(6)} - first
    assert {states[name] for name in held_back} == {"waits"}, "they are here, and seek"
    for name in ("ann", "bob"):
        Guest(rated, name, "192.0.2.2").seek()
    await asyncio.sleep(0)
    assert playing(rated) == first | {"ann", "bob"}
    await all_over(rated)
    await asyncio.sleep(0)
    second = playing(rated)
    assert len(second) == 2
    assert not second & first


async def test_what_our_bots_think_is_on_their_opponents_account(lobby: Lobby) -> None:
    lobby.admissions.change(Admission(journal_per_hour=2 * GAME_BYTES))
    lobby.admissions.clock = lambda: 0.0
    ann = Guest(lobby, "ann")
    ann.seek("house")
    await ann.hears(NewGame)
    (game,) = ann.player.seats
    assert lobby.hosting.keeps(game, "house", "ann", GAME_BYTES // 2)
    assert not lobby.hosting.keeps(game, "house", "ann", GAME_BYTES // 2)
    assert ann.told == [], "it is not ann who thinks"
    for _ in range(2):
        assert not lobby.hosting.keeps(game, "ann", "ann", GAME_BYTES // 2)
    (told,) = ann.told
    assert isinstance(told, Error)
    assert (told.code, told.game) == ("busy", game)


@pytest.mark.parametrize(
    ("anns", "bobs", "tokens", "is_rated"),
    [
        ("192.0.2.1", "192.0.2.250", "AB", False),
        ("192.0.2.1", "192.0.3.1", "AB", True),
        ("192.0.2.1", "198.51.100.1", "AA", False),
        ("192.0.2.1", "198.51.100.1", "..", True),
        ("2001:db8::7", "2001:db8::ffff:1", "AB", False),
        ("2001:db8::7", "2001:db8:0:1::7", "AB", True),
        ("192.0.2.1", "::ffff:192.0.2.9", "AB", False),
        ("127.0.0.1", "127.0.0.1", "AA", True),  # versions of one's own bot are compared
        ("::1", "::1", "AA", True),
    ],
)
async def test_games_of_one_owners_players_are_not_rated_and_they_are_told(
    rated: Lobby, anns: str, bobs: str, tokens: str, is_rated: bool
) -> None:
    assert rated.ladder is not None
    blitz = rated.ladder.tables["blitz"]
    blitz.remove("house")
    guests = Guest(rated, "ann", anns), Guest(rated, "bob", bobs)
    for guest, token in zip(guests, tokens, strict=True):
        if token != ".":
            await rated.journal.claim_name(guest.player.name, hash_token(token))
        guest.seek(games=3)
    host = await only_game(rated)
    for guest in guests:
        answer, *again = [told for told in guest.told if isinstance(told, Seeking)]
        assert (answer.not_rated, answer.games) == (None, 3)
        assert [(told.games, told.table) for told in again] == ([] if is_rated else [(3, "blitz")])
        assert all("not rated" in (told.not_rated or "") for told in again)
    await all_over(rated)  # neither is ready
    assert any(record.last for record in blitz.history.records) == is_rated
    (kept,) = read_past(rated.journal.address, 9).games
    assert kept.game == host.game
    assert len(list(read_ended(rated.journal.address, LABEL))) == is_rated
    await asyncio.sleep(0)
    assert len(rated.hosting.games) == 1, "they seek on"


# --- who is paired with whom ----------------------------------------------------------------------


def suits(wishes: dict[str, str | None], first: str, second: str) -> bool:
    return first != second and wishes[first] in (None, second) and wishes[second] in (None, first)


def pairs(seeks: Seeks) -> list[tuple[str, str]]:
    """Pair as the lobby does."""
    paired = []
    for name, _ in seeks.untried():
        other = seeks.partner(name)
        if other is not None:
            paired.append((name, other))
            for each in (name, other):
                seeks.pop(each)
    return paired


def test_the_first_who_suits_is_the_opponent() -> None:
    seeks = Seeks()
    for name, opponent in (("ann", "bob"), ("cem", None), ("dee", "cem"), ("eve", None)):
        seeks.put(name, Seek(opponent=opponent))
    assert pairs(seeks) == [("cem", "dee")]
    seeks.put("bob", Seek(opponent=None))
    assert pairs(seeks) == [("bob", "ann")]  # who came before eve
    seeks.put("fay", Seek(opponent="eve"))
    assert pairs(seeks) == [("fay", "eve")]
    assert "ann" not in seeks


def test_who_seeks_anew_keeps_its_place_unless_for_another() -> None:
    seeks = Seeks()
    seeks.put("ann", Seek())
    seeks.put("bob", Seek(opponent="zed"))
    seeks.put("ann", Seek(games=5))
    seeks.put("bob", Seek())
    assert pairs(seeks) == [("ann", "bob")]
    seeks.put("ann", Seek(opponent="bob"))
    assert seeks.pop("ann") == Seek(opponent="bob")
    assert seeks.pop("ann") is None


def test_only_who_seeks_at_the_same_table_is_an_opponent() -> None:
    seeks = Seeks()
    for name, opponent, table in (
        *(("ann", None, "polish"), ("bob", None, None), ("cem", "ann", None)),
        *(("dee", "bob", "polish"), ("eve", None, "polish"), ("fay", "cem", None)),
    ):
        seeks.put(name, Seek(opponent=opponent, table=table))
    assert pairs(seeks) == [("ann", "eve")]
    seeks.put("cem", Seek(opponent="fay"))
    assert pairs(seeks) == [("cem", "fay")]


@pytest.mark.parametrize("seed", range(30))
def test_nobody_waits_who_has_an_opponent(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"p{number}" for number in range(8)]
    seeks = Seeks()
    wishes: dict[str, str | None] = {}
    for _ in range(200):
        name = rng.choice(names)
        if rng.random() < 0.2:
            seeks.pop(name)
            wishes.pop(name, None)
            continue
        wishes[name] = rng.choice([None, *(other for other in names if other != name)])
        seeks.put(name, Seek(opponent=wishes[name]))
        if rng.random() < 0.7:
            for pair in pairs(seeks):
                assert suits(wishes, *pair)
                for each in pair:
                    del wishes[each]
            assert not any(suits(wishes, one, two) for one in wishes for two in wishes)
    assert set(wishes) == {name for name in names if name in seeks}


async def test_a_seek_is_tried_once_however_many_wait_and_repeat_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    partner = Seeks.partner

    def counted(seeks: Seeks, name: str) -> str | None:
        nonlocal tried
        tried += 1
        return partner(seeks, name)

    monkeypatch.setattr(Seeks, "partner", counted)
    hosting = Hosting(tables(), journal, LagMeter())
    doors = Gatekeeper(journal), Admissions(Admission(seeks_per_minute=1_000_000))
    lobby = Lobby(hosting, TimeControl(), 2, *doors)
    players = [lobby.players.named(f"p{number}") for number in range(900)]
    for _ in range(3):
        for player in players:
            lobby.seek(player, Seek(opponent=f"not {player.name}"))
        await asyncio.sleep(0)
    assert tried == 900
    for player in players:  # another opponent: another try, at the end of the turn
        lobby.seek(player, Seek(opponent="nobody"))
    assert tried == 900
    await asyncio.sleep(0)
    assert tried == 1_800
