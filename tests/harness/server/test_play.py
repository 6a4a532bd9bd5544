"""What a server tells a person who wants to play: bots, clock, name, and which words are valid."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from load.attackers import HANDSHAKE
from passing_seats import Passer
from servers import login_from, served, url_of
from tables import tables
from websockets.datastructures import Headers
from websockets.http11 import Request

from engine.rules.rule_sets import load_rules
from harness.arbiter.journal_reading import read_past
from harness.server.admission import Admission
from harness.server.hosting import CASUAL
from harness.server.page_analysis.live_games import why_not_analyse
from harness.server.play import CLOCKS_MS, MOST_WORDS, Offered, PlayAnswers, refuse_strangers
from harness.server.server import MatchServer
from harness.server.tables import MOST_CASUAL, ServerTables
from lexicons.build import build_word_graph
from lexicons.store import Lexicon
from lexicons.wordlist import pack_words
from protocol.errors import PeerError
from protocol.messages import Decline, GameOver, NewGame, Seek
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer

MAIN = replace(tables().main, bots={"static": Passer, "greedy": Passer})


def play(offered: Offered | None = None, *, needs_token: bool = False) -> PlayAnswers:
    time = TimeControl(initial_ms=60_000)
    return PlayAnswers(
        ServerTables(MAIN), offered or Offered(), lambda: time, needs_token=needs_token
    )


def told(answer: HttpAnswer, status: int = 200) -> Any:
    assert answer.status == status
    return json.loads(answer.text)


def test_bots_are_told_in_order_with_the_clock_and_the_suggested_name() -> None:
    abouts = {"static": "is quick", "greedy": "is greedy"}
    offered = Offered(abouts, "ann", "greedy", wins={"greedy": 37.4})
    settings = told(play(offered).settings())
    assert settings["bots"] == [
        {"name": "static", "about": "is quick", "wins": None},
        {"name": "greedy", "about": "is greedy", "wins": 37.4},
    ]
    assert (settings["name"], settings["opponent"]) == ("ann", "greedy")
    assert settings["time"]["initial_ms"] == 60_000
    assert (settings["token"], settings["words"]) == (False, True)
    assert told(play(needs_token=True).settings())["token"] is True


def test_each_table_has_its_words_and_bots() -> None:
    graph = build_word_graph(pack_words([(1, 2)]))
    polish = load_rules("polish")
    words = Lexicon("own", polish.distribution, graph, "0" * 64)
    clock = TimeControl(initial_ms=1_000)
    kind = replace(
        MAIN, name="polish", lexicon=words, rules=polish, time=clock, bots={"greedy": Passer}
    )
    several = ServerTables(MAIN, [kind, replace(kind, name="alone", bots={})])
    offered = Offered({"static": "is quick", "greedy": "is greedy"})
    answers = PlayAnswers(several, offered, TimeControl, needs_token=False)
    listed = told(answers.settings())["tables"]
    assert [
        (table["name"], table["rules"], *(bot["name"] for bot in table["bots"])) for table in listed
    ] == [
        *(("main", "english", "static", "greedy"), ("polish", "polish", "greedy")),
        ("alone", "polish"),
    ]
    assert listed[1]["time"]["initial_ms"] == 1_000
    assert told(answers.words("AĄ,AB", "polish")) == {"words": {"AĄ": True, "AB": False}}
    assert "'dutch'" in told(answers.words("AB", "dutch"), 400)["error"]
    assert told(play().settings())["tables"] == [], "there is nothing to choose"


def test_words_are_valid_or_not_blanks_among_them() -> None:
    assert told(play().words("CAT,cAt,QZX")) == {"words": {"CAT": True, "cAt": True, "QZX": False}}
    assert told(play().words("A" * 40)) == {"words": {"A" * 40: False}}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("", "CAT"),
        ("C?T", "'C?T'"),
        ("C1T", "'1' at character 2 of 'C1T' is not a tile"),
        (",".join(["AA"] * (MOST_WORDS + 1)), "17 words"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(asked: str, sentence: str) -> None:
    assert sentence in told(play().words(asked), 400)["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "own.example:80", "Origin": "http://own.example:80"}, None),
        ({"Host": "192.0.2.1"}, 421),
        ({"Host": "localhost:9000", "Origin": "http://localhost:9000"}, None),
        ({"Host": "[::1]:8484"}, None),
        ({"Host": "127.0.0.1:8484", "Origin": "http://127.0.0.1:8000"}, 403),
        ({"Host": "127.0.0.1:8484", "Origin": "null"}, 403),
        ({"Host": "evil.example:8484", "Origin": "http://evil.example:8484"}, 421),
        ({"Host": "[:8484"}, 421),
        ({}, 421),
    ],
)
def test_a_persons_server_answers_its_own_page_only(
    headers: dict[str, str], status: int | None
) -> None:
    answer = refuse_strangers(Request("/", Headers(headers)), "Own.example")
    assert (answer and answer.status) == status


async def knock(server: MatchServer, headers: dict[str, str]) -> int:
    """Open a WebSocket with headers of this test's; return the status of the answer."""
    sent = {"Host": f"127.0.0.1:{server.port}"} | headers
    lines = "".join(f"{name}: {text}\r\n" for name, text in sent.items()).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(HANDSHAKE.replace(b"Host: x\r\n", lines))
    status = int((await reader.readline()).split()[1])
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return status


PROXIED = {"X-Forwarded-For": "203.0.113.9"}
KNOCKS: list[tuple[dict[str, str], int]] = [
    ({}, 101),
    ({"Host": "club.example"}, 101),
    ({"Origin": "http://127.0.0.1:PORT"}, 101),
    ({"Host": "localhost:8484", "Origin": "http://localhost:8484"}, 101),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://[evil"}, 403),
    # A name of another's that resolves to this machine.
    ({"Host": "evil.example:8484", "Origin": "http://evil.example:8484"}, 403),
    # Through a proxy, from another machine.
    ({"Host": "club.example", "Origin": "https://club.example", **PROXIED}, 101),
    ({"Origin": "https://club.example", **PROXIED}, 101),
]


async def test_a_page_of_elsewhere_opens_no_websocket_from_this_machine(tmp_path: Path) -> None:
    admission = Admission(proxies=("127.0.0.1",), connections_per_address=99, handshakes_per_s=99)
    async with served(tmp_path / "games.db", admission=admission) as server:
        port = str(server.port)
        for headers, status in KNOCKS:
            sent = {name: text.replace("PORT", port) for name, text in headers.items()}
            assert await knock(server, sent) == status, headers


async def test_a_server_that_others_reach_is_asked_by_any_name_from_its_machine(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "games.db", host="0.0.0.0") as server:
        own = {"Host": "club.example", "Origin": "https://club.example"}
        assert await knock(server, own) == 101
        assert await knock(server, own | {"Origin": "https://evil.example"}) == 403


# --- casual games ---------------------------------------------------------------------------------


BOARD = f"{'/'.join(['15'] * 7)}/7WORD4/{'/'.join(['15'] * 7)}"
POSITION = f"{BOARD} AEINRST/EEEEEEE 20/8 0"
"""A position whose second rack the person need not know."""


@pytest.fixture
async def server(tmp_path: Path, clients_hang_up: None) -> AsyncIterator[MatchServer]:
    kind = replace(tables().main, bots={"house": Passer}, time=TimeControl(initial_ms=600_000))
    async with served(tmp_path / "games.db", offered=ServerTables(kind), max_games=9) as server:
        yield server


def ask(server: MatchServer, **query: Any) -> tuple[int, dict[str, Any]]:
    """Ask for a casual table; return the status and what is told."""
    path = f"/api/casual?{urlencode(query)}"
    answer = server._web.answer(Request(path, Headers()))
    assert isinstance(answer, HttpAnswer)
    return answer.status, json.loads(answer.text)


async def test_a_casual_game_begins_where_it_is_to_and_is_marked(server: MatchServer) -> None:
    _, told = ask(server, position=POSITION, clock=CLOCKS_MS[0])
    ann = await login_from("127.0.0.1", url_of(server), "ann")
    await ann.channel.send(Seek(opponent="house", table=told["table"], games=5))
    offer = await ann.expect(NewGame)
    (host,) = server._hosting.games.values()
    opened = host.book.opened
    assert opened.players == ("ann", "house"), "the person has the seat that moves first"
    assert opened.opening == f"{BOARD} AEINRST/ 20/8 0", "the bot's tiles are drawn"
    assert opened.time.initial_ms == CLOCKS_MS[0]
    cgp = f"{BOARD} AEINRST/ 20/8 0"
    players = server._lobby.players
    assert why_not_analyse(server._hosting, players, cgp, "main", "127.0.0.1") == ""
    await ann.channel.send(Decline(game=offer.game, code="busy", message="seen enough"))
    await ann.expect(GameOver)
    await asyncio.gather(*server._lobby._tasks.values())
    (past,) = read_past(server.journal.address, 9).games
    assert past.label[CASUAL] is True
    assert "ann" not in server._lobby.waiting, "a casual game is one"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"position": "15 / 0/0"}, "board"),
        ({"position": POSITION.replace("AEINRST", "QQAEINR")}, "Q"),
        ({"position": f"{BOARD} AEINRST/ 0/0 6"}, "over"),
        ({"position": "x" * 3_000}, "2000"),
        ({"clock": "1"}, "clock"),
        ({"clock": "soon"}, "soon"),
        ({"clock": 3_600_000}, "clock"),
        ({"table": "polish"}, "polish"),
    ],
)
async def test_what_can_not_begin_is_refused(
    server: MatchServer, query: dict[str, Any], word: str
) -> None:
    status, told = ask(server, **query)
    assert status == 400
    assert word in told["error"]


async def test_a_casual_game_is_against_a_bot_and_no_way_to_ask_about_another_game(
    server: MatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lobby, ann = server._lobby, server._lobby.players.named("ann")
    lobby.players.named("bob")
    table = ask(server, position=POSITION)[1]["table"]
    for opponent, code in (("bob", "bad_opponent"), ("house", "forbidden")):
        monkeypatch.setattr("harness.server.lobby.is_on", lambda *_: True)
        with pytest.raises(PeerError) as refused:
            lobby.seek(ann, Seek(opponent=opponent, table=table))
        assert refused.value.code == code
    for _ in range(MOST_CASUAL):
        ask(server)
    with pytest.raises(PeerError) as refused:
        lobby.seek(ann, Seek(opponent="house", table=table))
    assert refused.value.code == "unknown_table"
