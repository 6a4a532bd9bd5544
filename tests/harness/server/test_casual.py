"""Casual games: where one may begin, what marks it, and that its person may have help."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from passing_seats import Passer
from servers import login_from, served, url_of
from tables import tables
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.arbiter.journal_reading import read_past
from harness.server.hosting import CASUAL
from harness.server.page_analysis.live_games import why_not_analyse
from harness.server.play import CLOCKS_MS
from harness.server.server import MatchServer
from harness.server.tables import MOST_CASUAL, ServerTables
from protocol.errors import PeerError
from protocol.messages import Decline, GameOver, NewGame, Seek
from protocol.parts import TimeControl
from protocol.websocket import HttpAnswer

pytestmark = pytest.mark.usefixtures("clients_hang_up")

BOARD = f"{'/'.join(['15'] * 7)}/7WORD4/{'/'.join(['15'] * 7)}"
POSITION = f"{BOARD} AEINRST/EEEEEEE 20/8 0"
"""A position whose second rack the person need not know."""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[MatchServer]:
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
