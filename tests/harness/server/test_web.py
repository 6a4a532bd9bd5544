"""What a server tells over HTTP: its page, games and standings, and nothing that is hidden."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from passing_seats import Passer
from postgres import tamper
from tables import GAME, Play, random_policy, tables
from websockets.datastructures import Headers
from websockets.http11 import Request

from engine.notation.gcg import read_gcg
from harness.arbiter.journal import Journal
from harness.arbiter.records import Draws, Opened, TurnRecord
from harness.page import FOLDER, TYPES
from harness.server.play import Offered, PlayAnswers
from harness.server.tables import ServerTables
from harness.server.web import MOST_WAITING, PAST_LISTED, Web
from protocol.messages import Info
from protocol.parts import Belief, Candidate, Search, TimeControl
from protocol.websocket import HttpAnswer

HOSTILE = "<img src=x onerror=alert(1)>"


class Hosting(SimpleNamespace):
    """The games that are on."""

    def listed(self) -> Any:
        return SimpleNamespace(games=tuple(self.games))


@dataclass
class Served:
    """A server's answers, its journal, and what the clock says."""

    web: Web
    journal: Journal
    hosting: Hosting
    now: float = 0.0

    async def ask(self, path: str, method: str = "GET", **headers: str) -> HttpAnswer | None:
        sent = Headers((name.replace("_", "-"), value) for name, value in headers.items())
        answer = self.web.answer(Request(path, sent, method))
        return await answer if isinstance(answer, Awaitable) else answer

    async def answer(self, path: str, **headers: str) -> HttpAnswer:
        answer = await self.ask(path, **headers)
        assert answer is not None, path
        return answer

    async def json(self, path: str, status: int = 200) -> Any:
        answer = await self.answer(path)
        assert (answer.status, answer.content_type) == (status, "application/json")
        assert ("X-Content-Type-Options", "nosniff") in answer.headers
        return json.loads(answer.text)

    async def keep(self, play: Play, game: str, *, without_end: bool = False) -> None:
        opened, *rest = play.records
        assert isinstance(opened, Opened)
        await self.journal.create(replace(opened, game=game), {})
        await self.journal.append(game, rest[:-1] if without_end else rest, last=play.table.over)


@pytest.fixture
def served(journal: Journal) -> Served:
    hosting = Hosting(games={}, journal=journal, tables=tables())
    web = Web(cast("Any", hosting), None, lambda: here.now)
    here = Served(web, journal, hosting)
    return here


def over(turns: int = 2) -> Play:
    """A game that has ended, which begins as ``thinking`` does."""
    play = thinking(turns=turns)
    play.play_out(lambda _play: "-")
    return play


def thinking(draws: Draws | None = None, turns: int = 6) -> Play:
    """A game in which who moves first says what it thinks."""
    play, policy = Play(draws=draws).start(), random_policy(3)
    for number in range(turns):
        move = policy(play)
        if play.seat == 0:
            for part in (
                {"text": HOSTILE},
                {"candidates": (Candidate(move="-", win=0.5),)},
                {
                    "candidates": (Candidate(move=move, win=0.7, win_error=0.01),),
                    "search": Search(phase="simulation", rollouts=12),
                },
                {"belief": Belief(tiles={"Q": 0.25})},
            ):
                seq = play.book.next_seq
                play.say(0, Info(game=GAME, seq=seq, **part))
        play.move(move, after_ms=100 * number)
    return play


async def test_who_wants_to_play_is_told_how_except_at_a_tournament(served: Served) -> None:
    assert "a tournament is played" in (await served.json("/api/play", 404))["error"]
    here = ServerTables(dataclasses.replace(tables().main, bots={"greedy": Passer}))
    play = PlayAnswers(here, Offered({"greedy": "plays"}), TimeControl, needs_token=False)
    served.web = Web(cast("Any", served.hosting), None, play=play)
    assert [bot["name"] for bot in (await served.json("/api/play"))["bots"]] == ["greedy"]
    assert (await served.json("/api/words?words=CAT,XQ"))["words"] == {"CAT": True, "XQ": False}
    assert "'zz'" in (await served.json("/api/words?words=CAT&table=zz", 400))["error"]


async def test_a_finished_game_is_told_with_racks_and_thoughts(served: Served) -> None:
    play = over(6)
    await served.keep(play, "g1")
    told = await served.json("/api/games/g1")
    turns = [record for record in play.records if isinstance(record, TurnRecord)]
    assert [turn["rack"] for turn in told["turns"]] == [turn.rack for turn in turns]
    assert [turn["move"] for turn in told["turns"]] == [turn.move for turn in turns]
    first, second = told["turns"][:2]
    assert first["notes"] == [HOSTILE]
    assert first["candidates"][0]["win"] == 0.7, "as it was seen last"
    assert first["search"]["rollouts"] == 12
    assert first["belief"]["tiles"] == {"Q": 0.25}
    assert (second["notes"], second["candidates"], second["belief"]) == ([], [], None)
    assert told["over"]["outcome"] == "zeroes"
    assert len(told["offer"]["history"]) == len(turns)
    assert told["offer"]["rack"] is None
    assert told["board"]["columns"] == 15
    assert sum(tile["count"] for tile in told["tiles"]) == 100
    assert {"tile": "Q", "blanked": "q", "count": 1, "points": 10} in told["tiles"]
    gcg = (await served.answer("/api/games/g1.gcg")).text
    assert len(read_gcg(gcg).events) >= len(turns)


async def test_all_who_watched_a_game_get_it_when_it_is_over(served: Served) -> None:
    assert await served.json("/api/games/g1", 404), "not yet"
    await served.keep(over(), "g1")
    told = await asyncio.gather(*(served.json("/api/games/g1") for _ in range(10 * MOST_WAITING)))
    assert all(each == told[0] for each in told)


async def test_a_game_whose_reading_failed_is_read_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await served.keep(over(), "g1")

    async def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "to_thread", no_thread)
        with pytest.raises(RuntimeError, match="new thread"):
            await served.ask("/api/games/g1")
    assert (await served.json("/api/games/g1"))["over"]


async def test_of_a_game_that_is_on_nothing_is_told_but_what_spectators_see(
    served: Served,
) -> None:
    play = thinking()
    await served.keep(play, GAME)
    served.hosting.games[GAME] = SimpleNamespace(book=play.book, is_casual=False)
    told = await served.json(f"/api/games/{GAME.replace(' ', '%20')}")
    assert (told["over"], told["turns"], told["offer"]["you"]) == (None, None, None)
    assert len(told["offer"]["history"]) == 6
    text = json.dumps(told)
    for hidden in (play.book.opened.secret, HOSTILE, "candidates", '"phase"'):
        assert hidden not in text
    assert all(turn["rack"] is None for turn in told["offer"]["history"])
    refused = await served.json(f"/api/games/{GAME.replace(' ', '%20')}.gcg", 404)
    assert "is on; its GCG is here when it is over" in refused["error"]
    served.hosting.games.clear()  # on another server, or in its last moment
    for address in (f"/api/games/{GAME}", f"/api/games/{GAME}.gcg"):
        assert "'the game'" in (await served.json(address, 404))["error"]


async def test_racks_of_a_pair_and_of_a_void_game_stay_hidden(served: Served) -> None:
    pair = thinking(Draws.seeded(7, 1))
    pair.play_out(lambda _play: "-")
    void = thinking()
    void.carry_out(void.table.end("host_error", "the disk is full", void.now))
    for game, play in (("pair", pair), ("void", void)):
        await served.keep(play, game)
        told = await served.json(f"/api/games/{game}")
        assert told["over"] is not None
        assert told["turns"] is None
        assert "candidates" not in json.dumps(told)
        refused = await served.json(f"/api/games/{game}.gcg", 404)
        assert "its racks stay hidden" in refused["error"]


async def test_past_games_are_listed_from_the_latest_on(served: Served) -> None:
    play = over()
    names = [f"g{number}" for number in range(PAST_LISTED + 2)]
    for name in names:
        await served.keep(play, name)
    await served.keep(thinking(turns=1), "on")
    listed = await served.json("/api/games")
    assert [game["game"] for game in listed["past"]] == names[:1:-1]
    assert listed["past"][0]["players"] == ["one", "two"]
    assert listed["past"][0]["turns"] == len(play.book.turns)
    assert listed["past"][0]["message"] == play.result.message
    assert (listed["on"], listed["tournament"], listed["ladder"]) == ([], False, False)
    earlier = await served.json(f"/api/games?before={listed['before']}")
    assert [game["game"] for game in earlier["past"]] == ["g1", "g0"]
    assert earlier["before"] is None
    assert (await served.json("/api/games?before=g0"))["past"] == []
    tamper(served.journal.address, "UPDATE records SET content = '{' WHERE game = ?", names[-1])
    served.now += 1
    damaged = await served.json("/api/games")
    assert [game["game"] for game in damaged["past"]] == names[-2:1:-1]
    assert damaged["before"] == listed["before"], "those before it can still be had"
    assert "'nobody'" in (await served.json("/api/games?before=nobody", 400))["error"]
    await served.keep(play, "late")
    assert await served.json("/api/games") == damaged, "within a second"
    served.now += 1
    assert (await served.json("/api/games"))["past"][0]["game"] == "late"
    tamper(served.journal.address, "UPDATE games SET created = 1e300 WHERE game = 'g3'")
    served.now += 1
    assert (await served.json("/api/games"))["past"][0]["begun"] == "1970-01-01T00:00:00+00:00"


@pytest.mark.parametrize("path", ["/api/games/%00", "/api/games/%00.gcg", "/api/games?before=%00"])
async def test_an_address_with_a_nul_is_none(served: Served, path: str) -> None:
    assert "it has a NUL in it" in (await served.json(path, 400))["error"]


async def test_what_is_not_there_is_said_in_a_sentence(served: Served) -> None:
    play = over()
    opened = cast("Opened", play.records[0])
    play.records[0] = replace(opened, lexicon="other", lexicon_checksum="00")
    await served.keep(play, "other")
    assert "with other words" in (await served.json("/api/games/other", 404))["error"]
    assert "no tournament" in (await served.json("/api/standings", 404))["error"]
    assert "the API has /api/games" in (await served.json("/api/../etc/passwd", 404))["error"]
    assert await served.ask("/static") is None
    refused = await served.ask("/api/games", method="POST")
    assert refused is not None
    assert refused.status == 405
    served.web._waiting = MOST_WAITING
    assert "try again" in (await served.json("/api/games/other", 503))["error"]


async def test_a_damaged_game_is_not_told(served: Served) -> None:
    play = over()
    turn = next(at for at, record in enumerate(play.records) if isinstance(record, TurnRecord))
    play.records[turn] = replace(cast("TurnRecord", play.records[turn]), score=999)
    await served.keep(play, "odd")
    await served.keep(over(), "endless", without_end=True)
    for address in ("odd", "endless", "endless.gcg"):
        told = await served.json(f"/api/games/{address}", 500)
        assert told["error"].startswith("the game can't be read")


# --- the page -------------------------------------------------------------------------------------

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def files_of(page: HttpAnswer) -> list[str]:
    """The addresses that a page asks for."""
    return re.findall(r'(?:href|src)="(page/[^"]+)"', page.text)


async def test_a_browser_gets_the_page_and_what_it_asks_for(served: Served) -> None:
    page = await served.answer("/?x", **BROWSER)
    assert (page.status, page.content_type) == (200, "text/html; charset=utf-8")
    headers = dict(page.headers)
    for tag, status in ((f'W/"x", {headers["ETag"]}', 304), ('"other"', 200)):
        again = await served.answer("/", If_None_Match=tag, **BROWSER)
        assert (again.status, again.text == "") == (status, status == 304)
    assert headers["Cache-Control"] == "no-cache"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    folder = f"/{files_of(page)[0].rpartition('/')[0]}"
    named = {Path(name).name for name in files_of(page)}
    texts = dict[str, str]()
    todo = set(named)
    while todo:
        name = todo.pop()
        file = await served.answer(f"{folder}/{name}")
        assert file.status == 200
        assert "immutable" in dict(file.headers)["Cache-Control"]
        assert dict(file.headers)["X-Content-Type-Options"] == "nosniff"
        assert not re.search(r"(https?:)?//(?!www\.w3\.org)[a-z]", _code(file.text)), name
        texts[name] = file.text
        named_in = re.findall(r'"\./([\w.]+)"|"(\w+\.json)"', file.text)
        todo |= {module or data for module, data in named_in} - texts.keys()
    files = {file.name for file in FOLDER.iterdir() if file.suffix in TYPES}
    assert texts.keys() == files - {"index.html"}, "each file is used"
    quiet = texts["page.css"].partition("@media (prefers-reduced-motion: no-preference)")
    rest = quiet[2].partition("\n}\n")[2]
    assert not re.search("transition|animation", quiet[0] + rest), "nothing moves for who says so"
    first = _at_first(named, texts)
    said = [_at_first({f"texts_{tag}.js", f"texts_{tag}_home.js"}, texts) for tag in ("en", "pl")]
    assert first >= {"app.js", "page.css", "icon.svg", "home.js"}
    assert first == named, "what the first view needs is asked for at once: name it in index.html"
    for words in said:  # asked for once the language is known
        asked = first | words
        assert len(page.text) + sum(len(texts[name].encode()) for name in asked) < 150_000


def _at_first(names: set[str], texts: dict[str, str]) -> set[str]:
    """Return the files that are loaded before any view asks for more."""
    first = set[str]()
    while new := names - first:
        first |= new
        imports = (re.findall(r'\bfrom "\./([\w.]+)";', texts[name]) for name in new)
        names = first.union(*imports)
    return first


def _code(text: str) -> str:
    return "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith(("//", "*"))
    )


@pytest.mark.parametrize(
    "path", ["/page/app.js", "/page/../page/app.js", "/page/%2e%2e/web.py", "/page/x/app.js", "//"]
)
async def test_there_are_no_files_but_those_of_the_page(served: Served, path: str) -> None:
    assert await served.ask(path, **BROWSER) is None
