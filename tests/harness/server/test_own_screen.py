"""The page of a match of one's own: who gets in, and what is shown to whom."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import hostile_bots
import pytest
from match_samples import match_config
from own_screens import LATER, LIVE, shown
from tables import words
from websockets.exceptions import InvalidStatus

from bot.seat.containment import Containment, containment
from harness.matches.folder import MatchFolder
from harness.matches.pairings import Round
from harness.matches.tournament import Tournament
from harness.server import own_screen
from harness.server.own_screen import OwnScreen, why_not_live
from protocol.messages import Info, Move, Resign
from protocol.parts import Candidate


async def test_a_browser_is_let_in_by_the_code_once(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        assert (await page.ask("GET /", Accept="text/html"))[0] == 200, "the page is no secret"
        with pytest.raises(InvalidStatus, match="401"):
            await page.dial()
        assert await page.enter("ABCD-EFGH") == 403
        code = page.screen.code
        status, headers, _ = await page.ask("POST /api/enter", X_Tilewire_Code=code)
        assert status == 200
        assert headers["Set-Cookie"].endswith("; HttpOnly; SameSite=Strict; Path=/")
        assert await page.enter(code) == 403, "it was good once"
        assert page.screen.code in page.said[0]
        assert code not in page.said[0]
        assert await page.enter() == 200
        assert (await page.json("/api/games"))["own"] == {"live": True, "why": ""}
        await (await page.dial()).close()


async def test_without_the_cookie_no_spelling_of_an_address_gets_anything(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        _, _, playing = await page.begin()
        for path in (
            *("/api/games/g1", "/%61pi/games/g1", "//x/api/games/g1", "/page/../api/games"),
            *("/api", "/api/games/../games", "/API/games", "/api%2fgames"),
            *(f"{page.screen.url}/api/games", "*", "/metrics", "/healthz"),
        ):
            for method in ("GET", "HEAD", "POST"):
                assert (await page.ask(f"{method} {path}", Accept="text/html"))[0] == 401, path
        playing.cancel()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost:1"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Cookie": "tilewire=1"}, 401),
        ({"Cookie": "ä"}, 401),
        ({"Origin": ""}, 200),
    ],
)
async def test_no_other_name_origin_or_cookie_gets_anything(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async with shown(tmp_path) as page:
        await page.enter()
        assert (await page.ask("GET /api/games", **headers))[0] == status


async def test_what_acts_has_to_say_where_it_comes_from(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        code = page.screen.code
        for method, origin in (("POST", ""), ("POST", "null"), ("GET", page.screen.url)):
            asked = await page.ask(f"{method} /api/enter", Origin=origin, X_Tilewire_Code=code)
            assert asked[0] in (403, 405)
        assert await page.enter() == 200
        for other in (None, "http://evil.example"):
            with pytest.raises(InvalidStatus, match="403"):
                await page.dial(other)


async def test_whoever_guesses_is_said_and_has_to_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_screen, "MOST_GUESSES", 3)
    async with shown(tmp_path) as page:
        code = page.screen.code
        for _ in range(3):
            assert await page.enter("AAAA-AAAA") == 403
        assert page.screen.code in page.said[0]
        assert await page.enter(code) == 403
        assert await page.enter() == 200


async def test_a_game_that_is_on_is_shown_whole(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await page.enter()
        ann, bob, playing = await page.begin()
        await ann.turns.get()
        async with page.watching("g1") as hear:
            await hear()
            mine, theirs = (await hear()).position.split(" ")[1].split("/")
            assert len(mine) == len(theirs) == 7
            thought = Info(game="g1", seq=1, candidates=(Candidate(move="-", win=0.5),))
            ann.say(thought)
            assert await hear() == thought
            ann.say(Move(game="g1", seq=1, move=f"-{mine[:2]}"))
            assert (await hear()).move == f"-{mine[:2]}"
            assert (await hear()).rack == theirs
            (turn,) = (await page.json("/api/games/g1"))["turns"]
            assert (turn["rack"], turn["candidates"][0]["win"]) == (mine, 0.5)
            bob.say(Resign(game="g1", seq=2))
            await playing
        over = await page.json("/api/games/g1")
        assert over["over"]["outcome"] == "resign"
        assert over["turns"], "though the second game of the pair may be on"
        assert [past["game"] for past in (await page.json("/api/games"))["past"]] == ["g1"]


async def test_the_standings_have_games_that_are_on_and_over(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await page.enter()
        ann, _, playing = await page.begin()
        await ann.turns.get()
        host = page.screen._hosting.games["g1"]
        tournament = page.screen._tournament
        tournament.playing[2] = host.book
        tournament.queue.schedule.next_round()
        tournament.queue.schedule.rounds.append(Round(1, (), byes=(1,)))
        told = await page.json("/api/standings")
        assert [each["number"] for each in told["games"]] == [2, 1]
        assert told["games"][0]["game"] == "g1"
        assert told["games"][1]["scores"] == [390, 400], "by seat; side b began"
        assert told["games"][1]["winner"] == 1
        assert told["arranged"] == [{"round": 1, "names": ["monte carlo"], "half": False}]
        playing.cancel()


@pytest.mark.parametrize(
    ("seats", "why"),
    [
        (("static", "champion?time=1s"), ""),
        (("static", "ws://host:1/bot"), "plays elsewhere"),
        (("siu:/bin/true", "static"), "reads the files of this user"),
    ],
)
def test_who_plays_decides_what_is_shown(seats: tuple[str, str], why: str) -> None:
    assert why in why_not_live(seats)
    assert bool(why) == bool(why_not_live(seats))


def test_a_bot_that_is_not_contained_could_look(monkeypatch: pytest.MonkeyPatch) -> None:
    seats = "static", "tests/hostile_bots.py:Looks"
    for apart in (True, False):
        monkeypatch.setattr(own_screen, "containment", lambda it=apart: Containment(it, "no luck"))
        assert why_not_live(seats).endswith("here: no luck") == (not apart)


async def test_where_a_seat_could_look_a_game_is_shown_when_it_is_over(tmp_path: Path) -> None:
    async with shown(tmp_path, LATER) as page:
        await page.enter()
        assert (await page.json("/api/games"))["own"]["why"] == LATER.why
        ann, _, playing = await page.begin()
        turn = await ann.turns.get()
        async with page.watching("g1") as hear:
            offer = await hear()
            assert (await page.json("/api/games/g1"))["turns"] is None
            ann.say(Info(game="g1", seq=1, candidates=(Candidate(move="-"),)))
            ann.say(Move(game="g1", seq=1, move=f"-{turn.rack[:3]}"))
            played = await hear()
            assert (offer.rack, played.rack, played.move) == (None, None, "-3")
        playing.cancel()


@pytest.mark.skipif(not containment().apart, reason="this system has no namespaces for us")
async def test_a_bot_finds_nothing_of_the_page_of_its_own_match(tmp_path: Path) -> None:
    folder, said = tmp_path / "bots" / "matches" / "m", list[str]()
    folder.mkdir(parents=True)
    bots = Path(shutil.copy(hostile_bots.__file__, tmp_path / "bots"))
    seat = f"{bots}:Looks?mark=own&secrets={folder / 'match.db'}:{folder / 'results.jsonl'}"
    config = match_config(
        seats=(seat, f"{seat}&network=yes"),
        games=1,
        lexicon_checksum=words().checksum,
        transport="pipe",
    )
    with MatchFolder(folder) as files:
        tournament = Tournament(config, words(), files, lambda _result: None)
        assert not why_not_live(config.seats)
        async with OwnScreen(tournament, files, words(), LIVE, said.append).listening() as screen:
            (bots.parent / "port").write_text(screen.url.rpartition(":")[2])
            code = screen.code
            async with asyncio.timeout(120):
                await tournament.play(screen)
    for name, answers in (("Old", "ConnectionRefusedError " * 4), ("New", "401 401 401 403")):
        kept = (folder / "seats" / f"{name}.00001.log").read_text(encoding="utf-8").splitlines()
        report = json.loads(next(line for line in kept if line.startswith("{")))
        assert report["answers"] == answers.strip()
        assert report["secrets"] == "FileNotFoundError FileNotFoundError"
        assert report["folder"] == ""
        assert set(report["processes"].split()) == {"1", report["pid"]}, "the host is not there"
        assert (report["codes"], said) == ("", [])
        assert code not in str(kept)
