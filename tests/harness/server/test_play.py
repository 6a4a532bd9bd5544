"""What a server tells a person who wants to play: bots, clock, name, and which words are valid."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from load.attackers import HANDSHAKE
from passing_seats import Passer
from servers import served
from tables import tables
from websockets.datastructures import Headers
from websockets.http11 import Request

from engine.rules.rule_sets import load_rules
from harness.server.admission import Admission
from harness.server.play import MOST_WORDS, Offered, PlayAnswers, refuse_strangers
from harness.server.server import MatchServer
from harness.server.tables import ServerTables
from lexicons.build import build_word_graph
from lexicons.store import Lexicon
from lexicons.wordlist import pack_words
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


@pytest.mark.parametrize(
    ("headers", "status"),
    [
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
    ],
)
async def test_a_page_of_elsewhere_opens_no_websocket_from_this_machine(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    admission = Admission(proxies=("127.0.0.1",))
    async with served(tmp_path / "games.db", admission=admission) as server:
        port = str(server.port)
        headers = {name: text.replace("PORT", port) for name, text in headers.items()}
        assert await knock(server, headers) == status


async def test_a_server_that_others_reach_is_asked_by_any_name_from_its_machine(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "games.db", host="0.0.0.0") as server:
        own = {"Host": "club.example", "Origin": "https://club.example"}
        assert await knock(server, own) == 101
        assert await knock(server, own | {"Origin": "https://evil.example"}) == 403
