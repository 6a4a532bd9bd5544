"""A tournament on a server, in one process: who comes, who doesn't, and what directors may do."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec
import pytest
from bot_players import Passes
from directed_events import event
from guests import Guest
from match_samples import match_config
from servers import served, turned_away, url_of

from bot.seat.connection import BotRunner, TurnedAway
from bot.seat.player_thread import Bot
from engine.notation.gcg import read_gcg
from harness.cli.asking import _ask
from harness.cli.failing import CommandFailed
from harness.lab.bench.client import Client
from harness.matches.config import MatchError
from harness.matches.folder import FolderContents, MatchFolder, copy_folder
from harness.matches.report import write_summary
from harness.matches.standings import what_is_left
from harness.matches.tournament import Tournament
from harness.server.tokens import KnownTokens, hash_token
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Administer,
    Direct,
    Error,
    Goodbye,
    Seek,
    Seeking,
    ServerState,
    StandingList,
    Standings,
)
from protocol.parts import Arrangement
from protocol.websocket import dial

pytestmark = pytest.mark.usefixtures("clients_hang_up")


def presences(listed: StandingList) -> dict[str, str]:
    return {row.name: row.presence for row in listed.rows}


def points(listed: StandingList) -> dict[str, float]:
    return {row.name: row.points for row in listed.rows}


def pairs(listed: StandingList) -> set[tuple[str, ...]]:
    return {tuple(sorted(game.players)) for game in listed.games}


def hold(*guests: Guest) -> None:
    """Have guests think until they are let go."""
    for guest in guests:
        guest.thinks.clear()
        guest.moves.clear()


def let_go(*guests: Guest) -> None:
    for guest in guests:
        guest.moves.set()


def full(path: Path, _value: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


async def test_a_guest_left_running_comes_back_to_its_event_and_joins_no_other(
    tmp_path: Path,
) -> None:
    addresses: list[str] = []
    runner = BotRunner(Bot("bob", Passes))
    playing: asyncio.Task[str] | None = None
    for folder in ("here", "here", "elsewhere"):
        async with event(tmp_path / folder, open_=True) as there:
            addresses.append(there.url)
            playing = playing or asyncio.create_task(runner.run(lambda: dial(addresses[-1])))
            if folder == "here":
                await there.until(lambda listed: presences(listed) == {"bob": "here"})
                continue
            with pytest.raises(TurnedAway) as away:
                await asyncio.wait_for(playing, 60)
            assert away.value.code == "other_event"
            assert not presences(await there.direct(action="pause"))


async def test_who_misses_two_games_is_not_paired_until_it_is_back(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", "cem", ready_ms=500, rounds=10) as there:
        ann, _ = await there.guests("ann", "bob")
        assert presences(await there.until(lambda _: True))["cem"] == "away"
        await there.direct(action="resume")
        await there.until(lambda it: presences(it)["cem"] == "absent")
        hold(ann)
        await ann.thinks.wait()
        (cem,) = await there.guests("cem")
        listed = await there.until(lambda it: presences(it)["cem"] == "here")
        let_go(ann)
        round_before = listed.round
        assert (await there.until(lambda it: it.over)).round == 10
    cem_there = [
        any(2 in pairing for pairing in paired.pairings) or 2 in paired.byes
        for paired in there.rounds()
    ]
    assert not all(cem_there[:round_before])
    assert all(cem_there[round_before:])
    assert cem.ends, "it has played since"


async def test_no_round_is_paired_during_an_outage(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", "cem", ready_ms=500, rounds=8) as there:
        _, bob, cem = await there.guests("ann", "bob", "cem")
        await there.until(lambda it: it.round == 1)
        await there.direct(action="pause")
        paused = await there.until(lambda it: all(game.outcome for game in it.games))
        for guest in (bob, cem):
            await guest.leave()
        await there.until(lambda it: list(presences(it).values()).count("away") == 2)
        listed = await there.direct(action="resume")
        assert listed.round == paused.round
        assert "logging in" in listed.waits
        rested = sum(row.byes for row in listed.rows if row.name == "bob")
        await cem.come()
        listed = await there.until(lambda it: it.round == paused.round + 1)
        assert sum(row.byes for row in listed.rows if row.name == "bob") == rested
        await bob.come()
        await there.until(lambda it: it.over)
    with MatchFolder(tmp_path) as files:
        assert not files.missed


async def test_a_game_that_neither_comes_to_is_lost_to_both(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", wait_s=0, ready_ms=50, rounds=2) as there:
        here = [await Client.login(there.url, name) for name in ("ann", "bob")]
        await there.until(lambda it: it.over)
        refused = await there.refusal(action="correct", number=1)
        assert "ann and bob" in refused.message
        for name in ("ann", "bob"):
            await there.direct(action="join", name=name)
        assert not (await there.direct(action="correct", number=1)).over
        listed = await there.until(lambda it: it.over)
        for client in here:
            await client.close()
        assert {(game.outcome, game.winner) for game in listed.games} == {("no_show", None)}
        assert points(listed) == {"ann": 0, "bob": 0}
        number = listed.games[0].number
        answer = await there.direct(action="correct", number=number, scores=(0, 1))
        winner = listed.games[0].players[1]
        assert points(answer)[winner] == 1


async def test_a_result_that_is_made_void_is_played_again(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", "cem", "dan", rounds=2) as there:
        guests = await there.guests("ann", "bob", "cem", "dan")
        hold(guests[0])
        await there.until(lambda it: it.round == 1)
        for act, code, word in (
            ({"action": "correct", "number": 9, "scores": (1, 2)}, "unknown_game", "no game 9"),
            ({"action": "correct", "number": 1, "scores": (1, 2)}, "unknown_game", "not over"),
            ({"action": "correct"}, "bad_direction", "number"),
            ({"action": "withdraw", "name": "anne"}, "unknown_entrant", "'anne'"),
            ({"action": "withdraw"}, "bad_direction", "name"),
            ({"action": "resume"}, "bad_direction", "paused"),
            ({"action": "join", "name": "bob"}, "bad_direction", "bob"),
        ):
            refused = await there.refusal(**act)
            assert refused.code == code
            assert word in refused.message
        let_go(guests[0])
        last = (await there.until(lambda it: it.over)).games[0]
        await there.direct(action="correct", number=last.number, why="wrong bag")
        await there.until(lambda it: it.over and it.games[0].outcome == "zeroes")
        assert sum(len(guest.ends) for guest in guests) == 10, "five games of two"
    with MatchFolder(tmp_path) as files:
        assert len(files.results) == 5, "what has happened stays"
        assert files.counted == {1, 2, 3, 4}
        assert sum(result.void for result in files.counting()) == 1


async def test_nothing_begins_while_it_is_paused_also_after_a_start(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=2) as there:
        ann = await Client.login(there.url, "ann")
        listed = await there.direct(action="pause", why="lunch")
        assert "paused by hannah: lunch" in listed.waits
        assert listed.waits == (await ann.expect(Seeking)).held_back, "who is here is told, too"
        for guest in await there.guests("bob"):
            await guest.leave()
        await ann.channel.send(Seek(games=3))
        assert (await ann.expect(Seeking)).held_back == listed.waits
        await ann.close()
    async with event(tmp_path, "ann", "bob", rounds=2) as there:
        await there.guests("ann", "bob")
        listed = await there.until(lambda it: "away" not in presences(it).values())
        assert (listed.paused, listed.round) == (True, 0)
        await there.direct(action="resume")
        await there.until(lambda it: it.over)


async def test_a_copy_goes_on_with_late_joiners_unless_its_decisions_are_missing(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    async with event(tmp_path / "here", "ann", open_=True, wait_s=0, rounds=2) as there:
        guests = await there.guests("ann", "eve")
        hold(guests[0])
        await guests[0].thinks.wait()
        assert copy_folder(there.folder, copy).games == 1
        begun = FolderContents(copy)
        terms = match_config(
            seats=("guest:ann",), names=("ann",), format="swiss", rounds=2, games=1
        )
        assert "round 1 of 2, 1 game open" in what_is_left(terms, begun)
    async with event(copy, "ann", open_=True, rounds=2) as there:
        guests = await there.guests("ann", "eve")
        listed = await there.until(lambda it: it.over)
        assert (listed.rows[0].games, listed.round) == (2, 2)
    (copy / "decisions.jsonl").unlink()
    with MatchFolder(copy) as files:
        damaged = Tournament(terms, load_lexicon(), files, print)
        with pytest.raises(MatchError, match="decisions"):
            await damaged.play()
        with pytest.raises(MatchError, match="decisions"):
            write_summary(terms, files)


async def test_a_pause_holds_back_no_game_that_is_on_also_after_a_start(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", rounds=3) as there:
        ann, bob = await there.guests("ann", "bob")
        await there.until(lambda _: len(ann.ends) == 1)
        hold(ann, bob)
        before = await there.until(lambda it: it.round == 2 and it.games[0].game)
        await there.direct(action="pause")
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
    with MatchFolder(tmp_path) as files:
        assert files.counted == {1, 2, 3}


async def test_a_game_that_neither_came_to_is_lost_also_if_the_server_ends_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MatchFolder, "append", full)
    async with event(tmp_path, "ann", "bob", wait_s=0, ready_ms=50, rounds=1) as there:
        here = [await Client.login(there.url, name) for name in ("ann", "bob")]
        decisions = tmp_path / "decisions.jsonl"
        while not (decisions.exists() and "missed" in decisions.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for client in here:
            await client.close()
    monkeypatch.undo()
    async with event(tmp_path, "ann", "bob", rounds=1) as there:
        listed = await there.until(lambda it: it.over)
        assert [game.outcome for game in listed.games] == ["no_show"]


async def test_who_withdraws_loses_the_games_that_are_left(tmp_path: Path) -> None:
    names = ("ann", "bob", "cem", "dan")
    async with event(tmp_path, *names, format="round-robin", rounds=1) as there:
        guests = await there.guests(*names)
        hold(guests[3])
        await guests[3].thinks.wait()
        await there.direct(action="withdraw", name="dan", why="gone home")
        assert guests[3].goodbye is None, "its game goes on"
        await there.direct(action="join", name="dan", why="back")
        assert "hannah: back" in (tmp_path / "decisions.jsonl").read_text()
        assert presences(await there.until(lambda it: True))["dan"] == "here"
        await there.direct(action="withdraw", name="dan", why="gone home")
        let_go(guests[3])
        listed = await there.until(lambda it: it.over)
        assert presences(listed)["dan"] == "withdrawn"
        await there.until(lambda _: guests[3].goodbye)
        assert "by hannah: gone home" in repr(guests[3].goodbye)
        assert len(guests[3].ends) == 1
    with MatchFolder(tmp_path) as files:
        forfeits = [result for result in files.results if result.outcome == "no_show"]
        assert len(files.results) == 6
    assert [[seat.name for seat in result.sides][1] for result in forfeits] == ["dan", "dan"]
    assert all(result.winner == 0 and result.note == "not offered" for result in forfeits)


async def test_a_swiss_waits_for_entrants_until_a_director_ends_it(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        ann, bob = await there.guests("ann", "bob")
        hold(ann, bob)
        await there.until(lambda it: it.games and it.games[0].game)
        listed = await there.direct(action="withdraw", name="bob")
        assert (listed.games[0].outcome, listed.waits) == (None, ""), "it is the game that is on"
        let_go(ann, bob)
        listed = await there.until(lambda it: it.games[0].outcome)
        assert "round 2 waits" in listed.waits
        assert "'end'" in listed.waits
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        listed = await there.until(lambda it: it.round == 1)
        assert (listed.over, "round 2 waits" in listed.waits) == (False, True)
        (ann,) = await there.guests("ann")
        await there.direct(action="join", name="bob")
        (bob,) = await there.guests("bob")
        await there.until(lambda it: it.over and len(ann.ends) == len(bob.ends) == 2)
    async with event(tmp_path / "end", "ann", "bob", open_=True, rounds=9) as there:
        ann, bob = await there.guests("ann", "bob")
        hold(ann, bob)
        await there.until(lambda it: it.games and it.games[0].game)
        listed = await there.direct(action="end", why="the hall closes")
        assert (listed.over, "ended" in listed.waits) == (False, True)
        let_go(ann, bob)
        listed = await there.until(lambda it: it.over)
        assert (listed.round, listed.waits) == (1, "")
        await there.refusal(action="end")
        await turned_away(there.url, "eve")
        act = Direct(action="pause")
        assert (await _ask(there.url, "director", "hannah", "h", None, act, StandingList)).over
        hold(ann, bob)
        act = Direct(action="resume")
        listed = await _ask(there.url, "director", "hannah", "h", None, act, StandingList)
        assert (listed.round, listed.over) == (2, False), "the answer shows the round that begins"


async def test_a_director_gives_half_a_bye_and_sets_a_pair(tmp_path: Path) -> None:
    names = ("ann", "bob", "cem", "dan", "eve")
    async with event(tmp_path, *names, rounds=2) as there:
        await there.direct(action="bye", name="eve", number=1)
        await there.direct(action="bye", name="bob", number=2)
        await there.direct(action="pair", name="dan", opponent="ann")
        for act, word in (
            ({"action": "pair", "name": "ann", "opponent": "ann"}, "itself"),
            ({"action": "pair", "name": "ann", "opponent": "zed"}, "'zed'"),
            ({"action": "pair", "name": "bob", "opponent": "ann"}, "ann"),
            ({"action": "pair", "name": "bob", "opponent": "eve"}, "eve"),
            ({"action": "pair", "name": "bob"}, "opponent"),
            ({"action": "bye", "name": "ann", "number": 1}, "ann"),
            ({"action": "bye", "name": "ann", "number": 3}, "round is 2"),
            ({"action": "bye", "name": "ann", "number": 2, "void": True}, "take back"),
        ):
            refused = await there.refusal(**act)
            assert word in refused.message
        listed = await there.direct(action="bye", name="bob", number=2, void=True)
        assert "dan" in listed.waits
        assert "eve" not in listed.waits
    async with event(tmp_path, *names, rounds=2) as there:
        listed = await there.until(lambda _: True)
        assert listed.arranged == (
            Arrangement(round=1, names=("eve",), half=True),
            Arrangement(round=1, names=("ann", "dan")),
        )
        guests = await there.guests(*names[:4])
        hold(guests[0])
        listed = await there.until(lambda it: it.round == 1)
        guests += await there.guests("eve")
        assert pairs(listed) == {("ann", "dan"), ("bob", "cem")}
        assert listed.arranged == (Arrangement(round=1, names=("eve",), half=True),)
        assert points(listed)["eve"] == 0.5
        await there.direct(action="withdraw", name="cem")
        refused = await there.refusal(action="pair", name="cem", opponent="bob")
        assert "cem is withdrawn" in refused.message
        await there.direct(action="bye", name="bob", number=2)
        let_go(guests[0])
        listed = await there.until(lambda it: it.over)
        assert listed.arranged == (
            Arrangement(round=2, names=(listed.arranged[0].names[0],)),
            Arrangement(round=2, names=("bob",), half=True),
        )
        assert {row.name for row in listed.rows if row.half_byes == 1} == {"bob", "eve"}
        page = f"{there.url.replace('ws', 'http', 1)}/api/standings"
        told = await asyncio.to_thread(urlopen, f"{page}/1")
        first = msgspec.json.decode(told.read(), type=StandingList)
        assert pairs(first) == {("ann", "dan"), ("bob", "cem")}
        assert {game.game for game in first.games} <= {end.game for it in guests for end in it.ends}
        assert [each.names for each in first.arranged] == [("eve",)]
        with pytest.raises(HTTPError, match="404"):
            await asyncio.to_thread(urlopen, f"{page}/3")
        number = first.games[0].number
        listed = await there.direct(action="correct", number=number, scores=(1, 2))
        assert [game.outcome for game in listed.games if game.number == number] == ["corrected"]
    summary = (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert "won: " + listed.arranged[0].names[0] in summary
    assert "tied: " in summary


async def test_an_open_swiss_takes_late_joiners(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        ann, _ = await there.guests("ann", "bob")
        hold(ann)
        await ann.thinks.wait()
        await turned_away(there.url, "d an")
        await turned_away(there.url, "Ann")
        await there.refusal(action="join", name="d an")
        await there.direct(action="join", name="cem")
        await there.guests("cem", "dan")
        for name in ("CEM", "Dan"):  # as late entrants came
            await turned_away(there.url, name)
            await there.refusal(action="join", name=name)
        let_go(ann)
        listed = await there.until(lambda it: it.over)
        assert [row.byes for row in listed.rows] == [0, 0, 0, 0]
        assert sum(points(listed).values()) == 5
        await turned_away(there.url, "eve")
    assert [len(paired.pairings) for paired in there.rounds()] == [1, 2, 2]
    async with event(tmp_path, "ann", "bob", open_=True, rounds=3) as there:
        assert len((await there.until(lambda it: it.over)).rows) == 4


async def test_who_came_by_itself_can_be_withdrawn_before_the_first_round(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", open_=True, rounds=1) as there:
        guests = await there.guests("ann", "bob", "cem")
        assert set(presences(await there.direct(action="withdraw", name="cem"))) == {"ann", "bob"}
        hold(guests[0])
        await there.direct(action="resume")
        await guests[0].thinks.wait()
        assert "bob" in presences(await there.direct(action="withdraw", name="bob")), "it plays"
        let_go(guests[0])
        assert set(presences(await there.until(lambda it: it.over))) == {"ann", "bob"}
        await there.until(lambda _: guests[2].goodbye)
        assert "withdrawn" in repr(guests[2].goodbye)
    assert "cem" not in (tmp_path / "summary.txt").read_text(encoding="utf-8")


async def test_a_folder_that_cannot_be_written_refuses_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "the tournament's folder can't be written: No space left on device"
    async with event(tmp_path, "ann", "bob", open_=True) as held:
        with monkeypatch.context() as patched:
            patched.setattr("harness.matches.folder._append", full)
            refused = await held.refusal(action="pause")
            assert (refused.code, refused.message, refused.retry) == ("host_error", says, "later")
            zoe = await Client.login(held.url, "zoe")
            told = await zoe.receive()
            assert isinstance(told, Error)
            assert told.message == says
            await zoe.close()
        listed = await held.direct(action="pause")
        assert listed.paused
        assert set(presences(listed)) == {"ann", "bob"}


async def test_a_full_disk_ends_no_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = asyncio.Event()

    def try_in_vain(path: Path, value: object) -> None:
        tried.set()
        full(path, value)

    async with event(tmp_path, "ann", "bob", rounds=2) as there:
        await there.guests("ann", "bob")
        with monkeypatch.context() as patched:
            await there.until(lambda it: it.round == 1)
            patched.setattr("harness.matches.folder._append", try_in_vain)
            await asyncio.wait_for(tried.wait(), 30)
        listed = await there.until(lambda it: it.over)
        assert [row.games for row in listed.rows] == [2, 2]
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2


async def test_a_correction_counts_though_its_summary_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()  # so no file can take its place
    async with event(tmp_path, "ann", "bob") as there:
        await there.guests("ann", "bob")
        last = (await there.until(lambda it: it.over)).games[0]
        answer = await there.direct(action="correct", number=last.number, scores=(500, 40))
        assert (answer.games[0].scores, answer.games[0].outcome) == ((500, 40), "corrected")


async def test_a_correction_is_told_wherever_the_game_is(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        await there.guests("ann", "bob")
        (last,) = (await there.until(lambda it: it.over)).games
        page = f"{there.url.replace('ws', 'http', 1)}/api/games"

        async def told(what: str) -> bytes:
            answer = await asyncio.to_thread(urlopen, page + what)
            return bytes(answer.read())

        for why, scores, outcome, winner in (
            ("misread", (40, 500), "out", 1),
            ("misread again", (500, 40), "out", 0),
            ("", None, "host_error", None),
        ):
            number = last.number
            await there.direct(action="correct", number=number, scores=scores, why=why)
            past = msgspec.json.decode(await told(""))["past"][-1]
            over = msgspec.json.decode(await told(f"/{last.game}"))["over"]
            gcg, sheet = await told(f"/{last.game}.gcg"), tmp_path / "games" / f"{number:05d}.gcg"
            assert past["game"] == last.game
            for end in (past, over):
                assert (end["outcome"], end["winner"]) == (outcome, winner)
                assert f"director hannah{': ' * bool(why)}{why}" in end["message"]
                assert end["scores"] == list(scores or end["scores"])
            for note in (read_gcg(gcg.decode()).note, read_gcg(sheet.read_text()).events[-1].note):
                assert over["message"] in note


async def test_a_last_game_that_ends_while_the_server_stops_ends_the_tournament(
    tmp_path: Path,
) -> None:
    async with event(tmp_path, "ann", "bob", drain_s=20) as there:
        guests = await there.guests("ann", "bob")
        hold(*guests)
        waits = [asyncio.create_task(guest.thinks.wait()) for guest in guests]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
        for guest in guests:
            asyncio.get_running_loop().call_later(0.2, guest.moves.set)
    assert all("done" in repr(guest.goodbye) for guest in guests)


# --- who may come, and who may direct -------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "name", "token"),
    [
        *(("player", "zed", None), ("arbiter", "zed", None)),
        *(("director", "hannah", "x"), ("director", "ann", "h")),
    ],
)
async def test_strangers_are_refused(
    tmp_path: Path, role: Any, name: str, token: str | None
) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        await turned_away(there.url, name, role, why="1008", token=token)


async def test_a_director_whose_token_was_replaced_directs_no_more(tmp_path: Path) -> None:
    directors = {"hannah": hash_token("h")}
    async with event(tmp_path, "ann", "bob", directors=directors) as there:
        directors["hannah"] = hash_token("new")
        await there.director.channel.send(Direct(action="pause"))
        refused = await there.director.expect(Error)
        assert refused.code == "forbidden"
        await turned_away(there.url, "hannah", "director", token="h")
        there.director = await Client.login(there.url, "hannah", "director", token="new")
        assert not (await there.until(lambda _: True)).paused


async def test_an_entrant_takes_its_name_from_a_stranger_by_its_token(tmp_path: Path) -> None:
    given = {name: hash_token(name * 20) for name in ("ann", "bob")}
    async with event(tmp_path, "ann", "bob", entrants=given, rounds=1) as there:
        stranger = await Client.login(there.url, "ann")
        await stranger.channel.send(Seek(games=9))
        (bob,) = await there.guests("bob")
        await stranger.get_ready()
        await turned_away(there.url, "ann", token="a token of its own, which is long enough")
        ann = Guest(there.url, "ann", "ann" * 20)
        await ann.come()
        assert (await stranger.expect(Goodbye)).code == "replaced"
        await turned_away(there.url, "ann")
        await there.until(lambda it: it.over)
        assert len(ann.ends) == len(bob.ends) == 1
        await ann.leave()
    async with event(tmp_path, "ann", "bob", entrants=given, rounds=1) as there:
        await turned_away(there.url, "ann")


async def test_a_director_releases_a_name(tmp_path: Path) -> None:
    given = {name: hash_token(name * 20) for name in ("ann", "bob")}
    async with event(tmp_path, "ann", "bob", open_=True, entrants=given, rounds=1) as there:
        ann = await Client.login(there.url, "ann", token="ann" * 20)
        await there.guests("bob")
        await ann.channel.send(Seek(games=9))
        game = await ann.get_ready()
        await there.direct(action="release", name="ann", why="lost its token")
        assert (await ann.expect(Goodbye)).message.endswith("hannah: lost its token")
        again = await Client.login(there.url, "ann")
        assert again.welcome.games == (game,)
        for name in ("cem", None):
            refused = await there.refusal(action="release", name=name)
            assert refused.code == "bad_direction"


async def test_a_full_tournament_forbids_nothing_but_has_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.direction.MOST_LISTED", 2)
    async with event(tmp_path, "ann", "bob", open_=True) as there:
        await turned_away(there.url, "cem", why="1013 busy")


async def test_an_admin_does_not_pause_a_tournament_but_kicks_a_director_as_anybody_else(
    tmp_path: Path,
) -> None:
    file = tmp_path / "admins"
    file.write_text(f"root {hash_token('r')}\n")
    async with event(tmp_path / "event", "ann", "bob", admins=KnownTokens(file, print)) as there:
        act = Administer(action="pause")
        with pytest.raises(CommandFailed, match="a tournament's directors pause it"):
            await _ask(there.url, "admin", "root", "r", None, act, ServerState)
        act = Administer(action="kick", whom="hannah")
        state = await _ask(there.url, "admin", "root", "r", None, act, ServerState)
        assert [each.role for each in state.connections] == ["admin"]
        assert (await there.director.expect(Goodbye)).code == "kicked"


async def test_who_won_stays_the_winner_once_a_knockout_is_over(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", format="knockout", rounds=1) as there:
        await there.guests("ann", "bob")
        (winner, _) = (row.name for row in (await there.until(lambda it: it.over)).rows)
        refused = await there.refusal(action="withdraw", name=winner)
        assert (refused.code, "over" in refused.message) == ("bad_direction", True)
        assert (await there.until(lambda _: True)).rows[0].name == winner


async def test_a_correction_says_that_the_next_round_of_a_knockout_stays(tmp_path: Path) -> None:
    names = ("ann", "bob", "cem")
    async with event(tmp_path, *names, format="knockout", rounds=1) as there:
        await there.guests(*names)
        last = (await there.until(lambda it: it.over)).games[-1].number
        for game, is_told in ((1, True), (last, False)):
            listed = await there.direct(action="correct", number=game, scores=(300, 200))
            assert ("round 2 is paired" in listed.waits) == is_told


async def refusal(client: Client, asked: Awaitable[None]) -> str:
    await asked
    return (await client.expect(Error)).code


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


async def test_a_server_without_a_tournament_has_no_standings(tmp_path: Path) -> None:
    async with served(tmp_path / "serve.db") as server:
        watcher = await Client.login(url_of(server), "watcher", "spectator")
        assert await refusal(watcher, watcher.channel.send(Standings())) == "no_tournament"
        with pytest.raises((ChannelClosed, PeerError)):
            await Client.login(url_of(server), "hannah", "director", token="h")
