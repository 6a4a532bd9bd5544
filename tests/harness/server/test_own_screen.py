"""The page of a match of one's own: who gets in, and what is shown to whom."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hostile_bots
import pytest
from match_samples import game, match_config
from passing_seats import Waiter
from tables import words
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from bot.seat.containment import Containment, containment
from harness.arbiter.records import Draws, new_game
from harness.arbiter.scorebook import Scorebook
from harness.matches.folder import MatchFolder
from harness.matches.tournament import Tournament
from harness.server import own_screen
from harness.server.own_screen import OwnScreen, why_not_live
from harness.server.web import OwnSight
from protocol.codec import JSON
from protocol.messages import (
    Hello,
    Info,
    Message,
    Move,
    NewGame,
    Played,
    Resign,
    Watch,
    Welcome,
    YourTurn,
)
from protocol.parts import Candidate

LIVE, LATER = OwnSight(live=True), OwnSight(live=False, why="as this test wants it")


@dataclass
class Shown:
    """A screen that listens, and what its terminal says."""

    screen: OwnScreen
    said: list[str] = field(default_factory=list)
    cookie: str = ""

    async def ask(self, request: str, **headers: str) -> tuple[int, dict[str, str], str]:
        """Send a request as the page would, unless ``headers`` have others; give the answer."""
        host = self.screen.url.removeprefix("http://")
        sent = {"Host": host, "Origin": self.screen.url, "Cookie": self.cookie} | headers
        reader, writer = await asyncio.open_connection("127.0.0.1", int(host.split(":")[1]))
        lines = [f"{name.replace('_', '-')}: {text}" for name, text in sent.items() if text]
        writer.write("\r\n".join([f"{request} HTTP/1.1", *lines, "", ""]).encode())
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        status, *rest = head.split("\r\n")
        return int(status.split()[1]), dict(line.split(": ", 1) for line in rest), body

    async def enter(self, code: str | None = None) -> int:
        """Type a code into the page, by default the right one; give the status."""
        code = self.screen.code.lower() if code is None else code
        status, headers, _ = await self.ask("POST /api/enter", X_Tilewire_Code=code)
        self.cookie = headers.get("Set-Cookie", "").partition(";")[0]
        return status

    async def json(self, path: str) -> Any:
        status, _, body = await self.ask(f"GET {path}")
        assert status == 200, body
        return json.loads(body)

    @asynccontextmanager
    async def watching(self, watched: str) -> AsyncIterator[Any]:
        """Follow a game as the page does; yield what gives the next message."""
        socket = await self.dial()

        async def hear() -> Message:
            async with asyncio.timeout(30):
                return JSON.decode(await socket.recv())

        await socket.send(JSON.encode(Hello(role="spectator", name="page")))
        assert isinstance(await hear(), Welcome)
        await socket.send(JSON.encode(Watch(game=watched)))
        yield hear
        await socket.close()

    async def dial(self, origin: str | None = "") -> Any:
        return await connect(
            self.screen.url.replace("http", "ws"),
            origin=None if origin is None else Origin(origin or self.screen.url),
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            subprotocols=[Subprotocol("tilewire.v1.json")],
            proxy=None,
        )

    async def begin(self, name: str = "g1") -> tuple[Waiter, Waiter, asyncio.Task[None]]:
        """Begin a game of two seats that do as they are told."""
        time = match_config().time
        opened = new_game(("ann", "bob"), words(), time, Draws.seeded(7, 1), name)
        await self.screen.journal.create(opened, {})
        seats = Waiter("ann"), Waiter("bob")
        playing = asyncio.create_task(self.screen.host(Scorebook(opened, words()), seats))
        return *seats, playing


@asynccontextmanager
async def shown(folder: Path, sight: OwnSight = LIVE) -> AsyncIterator[Shown]:
    names = "static", "monte carlo"
    config, said = match_config(names=names, lexicon_checksum=words().checksum), list[str]()
    with MatchFolder(folder) as files:
        files.append(game(1, (400, 390)))
        tournament = Tournament(config, words(), files, lambda _result: None)
        async with OwnScreen(tournament, files, words(), sight, said.append) as screen:
            yield Shown(screen, said)


async def test_a_browser_is_let_in_by_the_code_once(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        assert (await page.ask("GET /", Accept="text/html"))[0] == 200, "the page is no secret"
        assert (await page.ask("GET /api/games"))[0] == 401
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
        assert "3 wrong codes were sent" in page.said[0]
        assert page.screen.code in page.said[0]
        assert await page.enter(code) == 403
        assert await page.enter() == 200


async def test_a_game_that_is_on_is_shown_whole(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await page.enter()
        ann, bob, playing = await page.begin()
        await ann.turns.get()
        async with page.watching("g1") as hear:
            assert isinstance(await hear(), NewGame)
            first = await hear()
            assert isinstance(first, YourTurn)
            mine, theirs = first.position.split(" ")[1].split("/")
            assert len(mine) == len(theirs) == 7
            thought = Info(game="g1", seq=1, candidates=(Candidate(move="-", win=0.5),))
            ann.say(thought)
            assert await hear() == thought
            ann.say(Move(game="g1", seq=1, move=f"-{mine[:2]}"))
            played, second = await hear(), await hear()
            assert isinstance(played, Played)
            assert isinstance(second, YourTurn)
            assert played.move == f"-{mine[:2]}"
            assert second.rack == theirs
            told = await page.json("/api/games/g1")
            (turn,) = told["turns"]
            assert (turn["rack"], turn["move"]) == (mine, played.move)
            assert turn["candidates"][0]["win"] == 0.5
            bob.say(Resign(game="g1", seq=2))
            await playing
        over = await page.json("/api/games/g1")
        assert over["over"]["outcome"] == "resign"
        assert over["turns"], "though the second game of the pair may be on"
        assert [past["game"] for past in (await page.json("/api/games"))["past"]] == ["g1"]


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


async def test_the_standings_have_games_that_are_on_and_over(tmp_path: Path) -> None:
    async with shown(tmp_path) as page:
        await page.enter()
        ann, _, playing = await page.begin()
        await ann.turns.get()
        host = page.screen._hosting.games["g1"]
        page.screen._tournament.playing[2] = host.book
        told = await page.json("/api/standings")
        assert [each["number"] for each in told["games"]] == [2, 1]
        assert told["games"][0]["game"] == "g1"
        assert told["games"][1]["scores"] == [390, 400], "by seat; side b began"
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


@pytest.mark.skipif(not containment().apart, reason="this system has no namespaces for us")
async def test_a_bot_finds_nothing_of_the_page_of_its_own_match(tmp_path: Path) -> None:
    folder, said = tmp_path / "bots" / "matches" / "m", list[str]()
    folder.mkdir(parents=True)
    bots = Path(shutil.copy(hostile_bots.__file__, tmp_path / "bots"))
    seat = f"{bots}:Looks?mark=own&secrets={folder / 'match.db'}:{folder / 'results.jsonl'}"
    config = match_config(
        seats=(seat, seat), games=1, lexicon_checksum=words().checksum, transport="pipe"
    )
    with MatchFolder(folder) as files:
        tournament = Tournament(config, words(), files, lambda _result: None)
        assert not why_not_live(config.seats)
        async with OwnScreen(tournament, files, words(), LIVE, said.append) as screen:
            (bots.parent / "port").write_text(screen.url.rpartition(":")[2])
            code = screen.code
            async with asyncio.timeout(120):
                await tournament.play(screen)
    kept = (folder / "seats" / "Old.log").read_text(encoding="utf-8").splitlines()
    report = json.loads(next(line for line in kept if line.startswith("{")))
    assert report["answers"] == "401 401 401 403"
    assert report["secrets"] == "FileNotFoundError FileNotFoundError"
    assert report["folder"] == ""
    assert set(report["processes"].split()) == {"1", report["pid"]}, "the host is not among them"
    assert (report["codes"], said) == ("", [])
    assert code not in str(kept)
