"""A server that starts with what is left: games that can't go on are set aside, others go on."""

from __future__ import annotations

import json
from asyncio import gather
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from guests import ann_and_bob
from msgspec import UNSET
from msgspec.structs import replace
from postgres import tamper
from servers import served, turned_away, url_of
from tables import Play, random_policy, tables
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.arbiter.journal import Journal
from harness.arbiter.records import Ended, Opened
from harness.lab.bench.client import Client
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper
from protocol.websocket import HttpAnswer

pytestmark = pytest.mark.usefixtures("clients_hang_up")

GUESTS = {"sides": [{"kind": "guest", "name": "ann"}, {"kind": "guest", "name": "bob"}]}
WITH_A_BOT = {"sides": [{"kind": "guest", "name": "ann"}, {"kind": "bot", "name": "gone"}]}


@pytest.fixture
async def left(tmp_path: Path) -> Path:
    """A journal with games that are on."""
    path = tmp_path / "games.db"
    labels = {"damaged": GUESTS, "fine": GUESTS, "odd": GUESTS, "label": {}, "botless": WITH_A_BOT}
    with closing(Journal(path)) as journal:
        for seed, (game, label) in enumerate(labels.items()):
            play, policy = Play().start(), random_policy(seed)
            for _ in range(4):
                play.move(policy(play), after_ms=100)
            opened, *rest = play.records
            assert isinstance(opened, Opened)
            names = tuple(side["name"] for side in label.get("sides", ())) or opened.players
            await journal.create(replace(opened, game=game, players=names), label)
            await journal.append(game, rest)
    change = "UPDATE records SET content = replace(content, ?, ?) WHERE game = ?"
    tamper(path, change, '{"record":"turn"', '{"record":"tu', "damaged")
    tamper(path, change, '"score":', '"score":9', "odd")
    return path


async def test_games_that_can_not_go_on_are_set_aside_with_a_sentence(left: Path) -> None:
    told: list[str] = []
    async with served(left, log_line=told.append) as server:
        aside = [sentence for sentence in told if "set aside" in sentence]
        assert list(server._hosting.games) == ["fine"]
        assert len(aside) == 4
        for part in ("game damaged ", "game botless ", "game label ", "game odd "):
            assert any(part in sentence for sentence in aside)
        assert "\ntilewire_games_set_aside 4.0\n" in server._metrics.answer().text
    with closing(Journal(left)) as again:  # for a server that can play them
        games = {kept.game for kept in again.unfinished(lambda _: None)}
    assert games == {"fine", "odd", "label", "botless"}


async def test_a_game_whose_label_names_no_holder_belongs_to_who_comes_first(left: Path) -> None:
    async with served(left) as server:
        ann = await Client.login(url_of(server), "ann", secret="")
        assert ann.welcome.games == ("fine",)
        await turned_away(url_of(server), "ann", secret="")


async def test_a_persons_own_server_knows_its_person_by_address(journal: Journal) -> None:
    """A browser keeps secrets by port, and that changes at each start."""
    own = Offered(is_private=True)
    server = MatchServer(tables(), journal, Gatekeeper(journal), offered=own, drain_s=0)
    await server.start()
    for secret in ("", "ab" * 32):
        ann = await Client.login(url_of(server), "ann", secret=secret)
        assert ann.welcome.secret is UNSET
    await server.stop()


async def test_a_wall_clock_that_jumps_is_no_game_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = cycle((-400, 3, 0, 10_000))
    monkeypatch.setattr("time.time", lambda: 1.8e9 + 86_400 * next(days))
    async with served(tmp_path / "games.db") as server:
        ann, bob = await ann_and_bob(url_of(server))
        over, _ = await gather(ann.pass_to_the_end(), bob.pass_to_the_end())
        assert over.outcome == "zeroes"
    with closing(Journal(tmp_path / "games.db")) as journal:
        (kept,) = journal.finished()
    ended = kept.records[-1]
    assert isinstance(ended, Ended)
    assert all(0 <= server.time.initial_ms - clock < 120_000 for clock in ended.clocks)


async def test_health_knows_a_journal_that_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(path: str) -> tuple[int, Any]:
        answer = server._on_http(Request(path, Headers()), "127.0.0.1")
        assert isinstance(answer, HttpAnswer)
        return answer.status, json.loads(answer.text) if path == "/healthz" else None

    async with served(tmp_path / "games.db") as server:
        assert asked("/healthz") == (200, {"status": "ok", "games": 0})
        sentence = f"{server.journal.address} can't be written: \x1b[1mfull"
        monkeypatch.setattr(server.journal, "trouble", lambda: sentence)
        status, told = asked("/healthz")
        assert (status, told["status"]) == (503, "failing")
        assert told["journal"] == sentence.replace("\x1b", "\N{REPLACEMENT CHARACTER}")
        assert asked("/serving")[0] == 200, "another host could write no more"
        monkeypatch.setattr(Journal, "is_held", False)
        assert asked("/serving")[0] == 503
        monkeypatch.undo()
