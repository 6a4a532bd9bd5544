"""A tournament on a server, in one process: who comes, who doesn't, and what directors may do."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from guests import Guest
from match_samples import match_config
from servers import served, url_of

from harness.arbiter.journal import Journal
from harness.lab.bench.client import Client
from harness.matches.folder import MatchFolder
from harness.matches.pairings import Round
from harness.server.direction import Plan
from harness.server.server import MatchServer
from harness.server.tables import TableKind, Tables
from harness.server.tokens import Gatekeeper, hash_token
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Direct,
    Error,
    Goodbye,
    Hello,
    Ping,
    Pong,
    Seek,
    Seeking,
    StandingList,
    Standings,
)
from protocol.parts import TimeControl
from protocol.websocket import dial


class Event:
    """A server with a tournament, and a director."""

    def __init__(self, url: str, folder: Path, director: Client) -> None:
        self.url = url
        self.folder = folder
        self.director = director

    async def until(self, holds: Callable[[StandingList], object]) -> StandingList:
        """Ask how the tournament stands until that holds."""
        while True:
            listed = await self.ask(Standings())
            assert isinstance(listed, StandingList)
            if holds(listed):
                return listed
            await asyncio.sleep(0.02)

    async def ask(self, message: Standings | Direct) -> StandingList | Error:
        """Return the answer to a message; what was told before is skipped."""
        await self.director.channel.send(message)
        await self.director.channel.send(Ping(id=1))
        answer: StandingList | Error | None = None
        while not isinstance(told := await self.director.receive(), Pong):
            if isinstance(told, Error) or not isinstance(answer, Error):
                assert isinstance(told, StandingList | Error)
                answer = told
        assert answer is not None
        return answer

    async def direct(self, **act: Any) -> StandingList:
        """Direct, which must not be refused."""
        answer = await self.ask(Direct(**act))
        assert isinstance(answer, StandingList), answer
        return answer

    async def guests(self, *names: str) -> list[Guest]:
        """Have guests come."""
        guests = [Guest(self.url, name) for name in names]
        for guest in guests:
            await guest.come()
        return guests

    def rounds(self) -> list[Round]:
        """Read which rounds were paired."""
        with MatchFolder(self.folder) as files:
            return [it for it in files.decisions if isinstance(it, Round)]


@asynccontextmanager
async def event(
    folder: Path,
    *names: str,
    open_: bool = False,
    wait_s: float = 600,
    ready_ms: int = 20_000,
    drain_s: float = 0,
    **terms: Any,
) -> AsyncIterator[Event]:
    """Serve a Swiss of single games, whose entrants have ``ready_ms`` to come to a game."""
    lexicon = load_lexicon()
    config = match_config(
        seats=tuple(f"guest:{name}" for name in names),
        names=names,
        games=terms.pop("games", 1),
        time=TimeControl(initial_ms=60_000, ready_ms=ready_ms),
        lexicon_checksum=lexicon.checksum,
        seed=None,
        format=terms.pop("format", "swiss"),
        concurrency=4,
        **terms,
    )
    with MatchFolder(folder) as files:
        journal = Journal(folder / "match.db")
        plan = Plan(
            config=config,
            files=files,
            directors={"hannah": hash_token("h")},
            is_open=open_,
            wait_s=wait_s,
            notice=print,
        )
        server = MatchServer(
            Tables(TableKind(lexicon=lexicon)),
            journal,
            Gatekeeper(journal),
            drain_s=drain_s,
            plan=plan,
            max_games=4,
        )
        await server.start()
        url = f"ws://127.0.0.1:{server.port}"
        director = await Client.login(url, "hannah", "director", token="h")
        try:
            yield Event(url, folder, director)
        finally:
            await director.close()
            await server.stop()
            journal.close()


def presences(listed: StandingList) -> dict[str, str]:
    return {row.name: row.presence for row in listed.rows}


def points(listed: StandingList) -> dict[str, float]:
    return {row.name: row.points for row in listed.rows}


async def test_who_misses_two_games_is_not_paired_until_it_is_back(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", "cem", ready_ms=1_000, rounds=20) as there:
        ann, bob = await there.guests("ann", "bob")
        assert presences(await there.until(lambda _: True))["cem"] == "away"
        await there.direct(action="resume")
        listed = await there.until(lambda it: presences(it)["cem"] == "absent")
        ann.moves.clear()
        await ann.thinks.wait()
        cem = Guest(there.url, "cem")
        await cem.come()
        listed = await there.until(lambda it: presences(it)["cem"] == "here")
        ann.moves.set()
        round_before = listed.round
        listed = await there.until(lambda it: it.over)
        assert listed.round == 20
        for guest in (ann, bob, cem):
            await guest.leave()
    cem_there = [
        any(2 in pairing for pairing in paired.pairings) or 2 in paired.byes
        for paired in there.rounds()
    ]
    assert not all(cem_there[:round_before])
    assert all(cem_there[round_before:])
    assert cem.ends, "it has played since"


async def test_a_game_that_neither_comes_to_is_lost_to_both(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", wait_s=0, ready_ms=50, rounds=1) as there:
        listed = await there.until(lambda it: it.over)
        assert [game.outcome for game in listed.games] == ["no_show"]
        assert points(listed) == {"ann": 0, "bob": 0}
        answer = await there.direct(action="correct", number=1, scores=(0, 1))
        winner = listed.games[0].players[1]
        assert points(answer)[winner] == 1


async def test_a_corrected_result_counts_and_a_void_one_is_played_again(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", "cem", "dan", rounds=2) as there:
        guests = await there.guests("ann", "bob", "cem", "dan")
        guests[0].moves.clear()
        await there.until(lambda it: it.round == 1)
        for act, code in (
            (Direct(action="correct", number=9, scores=(1, 2)), "unknown_game"),
            (Direct(action="correct"), "bad_direction"),
            (Direct(action="withdraw", name="anne"), "unknown_entrant"),
            (Direct(action="withdraw"), "bad_direction"),
            (Direct(action="resume"), "bad_direction"),
            (Direct(action="join", name="bob"), "bad_direction"),
        ):
            refused = await there.ask(act)
            assert isinstance(refused, Error)
            assert refused.code == code
        guests[0].moves.set()
        listed = await there.until(lambda it: it.over)
        assert len(guests[0].ends) == 2
        last = listed.games[0]
        assert last.scores is not None
        ahead = last.scores[0] > last.scores[1]
        scores = (40, 500) if ahead else (500, 40)
        answer = await there.direct(action="correct", number=last.number, scores=scores)
        assert (answer.games[0].scores, answer.games[0].outcome) == (scores, "corrected")
        gained = {name: points(answer)[name] - points(listed)[name] for name in last.players}
        assert gained[last.players[ahead]] in (0.5, 1)
        assert sum(gained.values()) == 0
        await there.direct(action="correct", number=last.number, why="wrong bag")
        listed = await there.until(lambda it: it.over and it.games[0].outcome == "zeroes")
        assert sum(len(guest.ends) for guest in guests) == 10, "five games of two"
        for guest in guests:
            await guest.leave()
    with MatchFolder(tmp_path) as files:
        assert len(files.results) == 5, "what has happened stays"
        assert files.counted == {1, 2, 3, 4}
        assert sum(result.void for result in files.counting()) == 1


async def test_nothing_begins_while_it_is_paused_also_after_a_start(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=2) as there:
        await there.direct(action="pause", why="lunch")
        for guest in await there.guests("ann", "bob"):
            await guest.leave()
    async with event(tmp_path, "ann", "bob", rounds=2) as there:
        guests = await there.guests("ann", "bob")
        listed = await there.until(lambda it: "away" not in presences(it).values())
        assert (listed.paused, listed.round) == (True, 0)
        await there.direct(action="resume")
        await there.until(lambda it: it.over)
        for guest in guests:
            await guest.leave()


async def test_a_game_goes_on_after_the_server_was_stopped_in_it(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=1) as there:
        ann, bob = await there.guests("ann", "bob")
        for guest in (ann, bob):
            guest.moves.clear()
        await asyncio.wait(
            [asyncio.create_task(it.thinks.wait()) for it in (ann, bob)],
            return_when=asyncio.FIRST_COMPLETED,
        )
        before = await there.until(lambda it: it.games[0].game)
        for guest in (ann, bob):
            await guest.leave()
    async with event(tmp_path, "ann", "bob", rounds=1) as there:
        guests = await there.guests("ann", "bob")
        listed = await there.until(lambda it: it.over)
        assert listed.games[0].outcome == "zeroes"
        assert {end.game for guest in guests for end in guest.ends} == {before.games[0].game}
        for guest in guests:
            await guest.leave()


async def test_a_pause_holds_back_no_game_that_is_on_also_after_a_start(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=3) as there:
        ann, bob = await there.guests("ann", "bob")
        await there.until(lambda _: len(ann.ends) == 1)
        for guest in (ann, bob):
            guest.moves.clear()
        before = await there.until(lambda it: it.round == 2 and it.games[0].game)
        await there.direct(action="pause")
        for guest in (ann, bob):
            await guest.leave()
    async with event(tmp_path, "ann", "bob", rounds=3) as there:
        guests = await there.guests("ann", "bob")
        listed = await there.until(lambda it: it.games and it.games[0].outcome)
        assert (listed.paused, listed.round) == (True, 2)
        assert {end.game for guest in guests for end in guest.ends} == {before.games[0].game}
        await there.direct(action="correct", number=1, why="wrong bag")
        listed = await there.until(lambda it: len(it.games) == 2)
        assert (listed.games[0].outcome, listed.games[0].game) == (None, None), "it waits"
        await there.direct(action="resume")
        await there.until(lambda it: it.over)
        for guest in guests:
            await guest.leave()
    with MatchFolder(tmp_path) as files:
        assert files.counted == {1, 2, 3}


async def test_a_game_that_neither_came_to_is_lost_also_if_the_server_ends_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(MatchFolder, "append", full)
    async with event(tmp_path, "ann", "bob", wait_s=0, ready_ms=50, rounds=1):
        decisions = tmp_path / "decisions.jsonl"
        while not (decisions.exists() and "missed" in decisions.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    monkeypatch.undo()
    async with event(tmp_path, "ann", "bob", rounds=1) as there:
        listed = await there.until(lambda it: it.over)
        assert [game.outcome for game in listed.games] == ["no_show"]


async def test_a_pause_is_also_between_the_games_of_a_pairing(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=1, games=2) as there:
        ann, bob = await there.guests("ann", "bob")
        for guest in (ann, bob):
            guest.moves.clear()
        await there.until(lambda it: it.games and it.games[0].game)
        listed = await there.direct(action="pause")
        assert listed.games[1].game is None, "an entrant plays one game at a time"
        for guest in (ann, bob):
            guest.moves.set()
        listed = await there.until(lambda it: it.games[0].outcome)
        await there.until(lambda _: ann.ends and bob.ends)
        listed = await there.until(lambda _: True)
        assert (listed.games[1].game, listed.games[1].outcome, listed.over) == (None, None, False)
        await there.direct(action="resume")
        listed = await there.until(lambda it: it.over)
        assert listed.games[0].players == listed.games[1].players[::-1]
        for guest in (ann, bob):
            await guest.leave()


async def test_who_withdraws_loses_the_games_that_are_left(tmp_path: Path) -> None:
    names = ("ann", "bob", "cem", "dan")
    async with event(tmp_path, *names, format="round-robin", rounds=1) as there:
        guests = await there.guests(*names)
        guests[3].moves.clear()
        await guests[3].thinks.wait()
        await there.direct(action="withdraw", name="dan", why="gone home")
        assert guests[3].goodbye is None, "its game goes on"
        await there.direct(action="join", name="dan")
        assert presences(await there.until(lambda it: True))["dan"] == "here"
        await there.direct(action="withdraw", name="dan")
        guests[3].moves.set()
        listed = await there.until(lambda it: it.over)
        assert presences(listed)["dan"] == "withdrawn"
        await there.until(lambda _: guests[3].goodbye is not None)
        assert guests[3].goodbye == Goodbye(
            code="withdrawn", message="you have withdrawn from the tournament"
        )
        assert len(guests[3].ends) == 1
        for guest in guests:
            await guest.leave()
    with MatchFolder(tmp_path) as files:
        forfeits = [result for result in files.results if result.outcome == "no_show"]
        assert len(files.results) == 6
    assert [[seat.name for seat in result.sides][1] for result in forfeits] == ["dan", "dan"]
    assert all(result.winner == 0 and result.note == "not offered" for result in forfeits)


async def test_an_open_swiss_takes_late_joiners(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        ann, bob = await there.guests("ann", "bob")
        ann.moves.clear()
        await ann.thinks.wait()
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(there.url, "d an")
        refused = await there.ask(Direct(action="join", name="d an"))
        assert isinstance(refused, Error)
        await there.direct(action="join", name="cem")
        cem, dan = await there.guests("cem", "dan")
        ann.moves.set()
        listed = await there.until(lambda it: it.over)
        assert {row.name: row.byes for row in listed.rows} == dict.fromkeys(
            ("ann", "bob", "cem", "dan"), 0
        )
        assert sum(points(listed).values()) == 5
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(there.url, "eve")
        for guest in (ann, bob, cem, dan):
            await guest.leave()
    assert [len(paired.pairings) for paired in there.rounds()] == [1, 2, 2]
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        assert len((await there.until(lambda it: it.over)).rows) == 4


@pytest.mark.parametrize(
    ("role", "name", "token"),
    [("player", "zed", None), ("director", "hannah", "x"), ("director", "ann", "h")],
)
async def test_strangers_are_refused(
    tmp_path: Path, role: Any, name: str, token: str | None
) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, name, role, token=token)


async def test_a_full_tournament_forbids_nothing_but_has_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.direction.MOST_LISTED", 2)
    async with event(tmp_path, "ann", "bob", open_=True) as there:
        with pytest.raises(ChannelClosed, match="1013 busy"):
            await Client.login(there.url, "cem")


async def test_no_bot_is_lent_during_a_tournament(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        channel = await dial(f"{there.url}/static")
        await channel.send(Hello(role="arbiter", name="afar"))
        told, _ = await channel.receive()
        assert isinstance(told, Error)
        assert (told.code, told.message) == ("unknown_bot", "no bot is lent during a tournament")
        await channel.close(1000, "told")


async def refusal(client: Client, asked: Awaitable[None]) -> str:
    await asked
    return (await client.expect(Error)).code


async def test_a_folder_that_cannot_be_written_refuses_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _value: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    says = "the tournament's folder can't be written: No space left on device"
    async with event(tmp_path, "ann", "bob", open_=True) as held:
        with monkeypatch.context() as patched:
            patched.setattr("harness.matches.folder._append", full)
            refused = await held.ask(Direct(action="pause"))
            assert isinstance(refused, Error)
            assert (refused.code, refused.message, refused.retry) == ("host_error", says, "later")
            zoe = await Client.login(held.url, "zoe")
            told = await zoe.receive()
            assert isinstance(told, Error)
            assert told.message == says
            await zoe.close()
        listed = await held.direct(action="pause")
        assert listed.paused
        assert set(presences(listed)) == {"ann", "bob"}


async def test_a_correction_counts_though_its_summary_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()  # so no file can take its place
    async with event(tmp_path, "ann", "bob") as there:
        guests = await there.guests("ann", "bob")
        listed = await there.until(lambda it: it.over)
        last = listed.games[0]
        answer = await there.direct(action="correct", number=last.number, scores=(500, 40))
        assert (answer.games[0].scores, answer.games[0].outcome) == ((500, 40), "corrected")
        for guest in guests:
            await guest.leave()


async def test_a_last_game_that_ends_while_the_server_stops_ends_the_tournament(
    tmp_path: Path,
) -> None:
    async with event(tmp_path, "ann", "bob", drain_s=20) as there:
        guests = await there.guests("ann", "bob")
        for guest in guests:
            guest.moves.clear()
        waits = [asyncio.create_task(guest.thinks.wait()) for guest in guests]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
        for guest in guests:
            asyncio.get_running_loop().call_later(0.2, guest.moves.set)
    for guest in guests:
        assert guest.goodbye is not None
        assert guest.goodbye.code == "done"
        await guest.leave()


async def test_players_and_spectators_ask_but_do_not_direct(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        ann = await Client.login(there.url, "ann")
        assert await refusal(ann, ann.seek("bob")) == "bad_opponent"
        await ann.channel.send(Seek(games=3))
        assert (await ann.expect(Seeking)).games == 3
        watcher = await Client.login(there.url, "watcher", "spectator")
        for client in (ann, watcher):
            await client.channel.send(Standings())
            assert (await client.expect(StandingList)).round == 0
            pause = Direct(action="pause")
            assert await refusal(client, client.channel.send(pause)) == "wrong_role"
            await client.close()


async def test_a_server_without_a_tournament_has_no_standings(tmp_path: Path) -> None:
    async with served(tmp_path / "serve.db") as server:
        watcher = await Client.login(url_of(server), "watcher", "spectator")
        assert await refusal(watcher, watcher.channel.send(Standings())) == "no_tournament"
        await watcher.close()
        with pytest.raises((ChannelClosed, PeerError)):
            await Client.login(url_of(server), "hannah", "director", token="h")
