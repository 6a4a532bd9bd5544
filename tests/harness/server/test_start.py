"""A server that starts with what is left: games that can't go on are set aside, others go on."""

from __future__ import annotations

import json
from asyncio import gather
from itertools import cycle
from pathlib import Path

import pytest
from guests import ann_and_bob
from msgspec import UNSET
from msgspec.structs import replace
from passing_seats import Passer
from postgres import tamper
from tables import Play, random_policy, words
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.arbiter.journal import Journal
from harness.arbiter.records import Ended, Opened
from harness.lab.bench.client import Client
from harness.server.play import Offered
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper
from protocol.channel import ChannelClosed
from protocol.websocket import HttpAnswer

GUESTS = {"sides": [{"kind": "guest", "name": "ann"}, {"kind": "guest", "name": "bob"}]}
WITH_A_BOT = {"sides": [{"kind": "guest", "name": "ann"}, {"kind": "bot", "name": "gone"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


def server(journal: Journal, told: list[str]) -> MatchServer:
    main = TableKind(lexicon=words(), bots={"greedy": lambda: Passer("greedy")})
    keeper = Gatekeeper(journal, None)
    return MatchServer(ServerTables(main), journal, keeper, drain_s=0, tell=told.append)


async def leave_games(path: Path) -> None:
    """Have a journal with games that are on."""
    journal = Journal(path)
    labels = {"damaged": GUESTS, "fine": GUESTS, "odd": GUESTS, "label": {}, "botless": WITH_A_BOT}
    for seed, (game, label) in enumerate(labels.items()):
        play, policy = Play().start(), random_policy(seed)
        for _ in range(4):
            play.move(policy(play), after_ms=100)
        opened, *rest = play.records
        assert isinstance(opened, Opened)
        names = tuple(side["name"] for side in label.get("sides", ())) or opened.players
        await journal.create(replace(opened, game=game, players=names), label)
        await journal.append(game, rest)
    journal.close()
    change = "UPDATE records SET content = replace(content, ?, ?) WHERE game = ?"
    tamper(path, change, '{"record":"turn"', '{"record":"tu', "damaged")
    tamper(path, change, '"score":', '"score":9', "odd")


async def test_games_that_can_not_go_on_are_set_aside_with_a_sentence(path: Path) -> None:
    await leave_games(path)
    told: list[str] = []
    journal = Journal(path)
    running = server(journal, told)
    await running.start()
    try:
        aside = [sentence for sentence in told if "set aside" in sentence]
        assert list(running._hosting.games) == ["fine"]
        assert len(aside) == 4
        for part in ("game damaged ", "game botless ", "game label ", "game odd "):
            assert any(part in sentence for sentence in aside)
        assert "\ntilewire_games_set_aside 4.0\n" in running._metrics.answer().text
    finally:
        await running.stop()
        journal.close()
    again = Journal(path)  # for a server that can play them
    assert {kept.game for kept in again.unfinished(lambda _: None)} == {
        *("fine", "odd", "label", "botless")
    }
    again.close()


async def test_a_game_whose_label_names_no_holder_belongs_to_who_comes_first(path: Path) -> None:
    await leave_games(path)
    journal = Journal(path)
    running = server(journal, [])
    await running.start()
    url = f"ws://127.0.0.1:{running.port}"
    ann = await Client.login(url, "ann", secret="")
    assert ann.welcome.games == ("fine",)
    with pytest.raises(ChannelClosed, match="forbidden"):
        await Client.login(url, "ann", secret="")
    await ann.close()
    await running.stop()
    journal.close()


async def test_a_persons_own_server_knows_its_person_by_address(path: Path) -> None:
    """A browser keeps secrets by port, and that changes at each start."""
    journal = Journal(path)
    main = TableKind(lexicon=words(), bots={})
    offered = Offered(is_private=True)
    running = MatchServer(
        ServerTables(main), journal, Gatekeeper(journal), offered=offered, drain_s=0
    )
    await running.start()
    url = f"ws://127.0.0.1:{running.port}"
    here = [await Client.login(url, "ann", secret=secret) for secret in ("", "ab" * 32)]
    assert {client.welcome.secret for client in here} == {UNSET}
    for client in here:
        await client.close()
    await running.stop()
    journal.close()


async def test_a_wall_clock_that_jumps_is_no_game_clock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = cycle((-400, 3, 0, 10_000))
    monkeypatch.setattr("time.time", lambda: 1.8e9 + 86_400 * next(days))
    journal = Journal(path)
    running = server(journal, [])
    await running.start()
    url = f"ws://127.0.0.1:{running.port}"
    ann, bob = await ann_and_bob(url)
    over, _ = await gather(ann.pass_to_the_end(), bob.pass_to_the_end())
    assert over.outcome == "zeroes"
    for client in (ann, bob):
        await client.close()
    await running.stop()
    (kept,) = journal.finished()
    ended = kept.records[-1]
    assert isinstance(ended, Ended)
    assert all(0 <= running.time.initial_ms - clock < 120_000 for clock in ended.clocks)
    journal.close()


def health(running: MatchServer) -> tuple[int, dict[str, object]]:
    answer = running._on_http(Request("/healthz", Headers()), "127.0.0.1")
    assert isinstance(answer, HttpAnswer)
    assert answer.content_type == "application/json"
    return answer.status, json.loads(answer.text)


def serving(running: MatchServer) -> int:
    answer = running._on_http(Request("/serving", Headers()), "127.0.0.1")
    assert isinstance(answer, HttpAnswer)
    return answer.status


async def test_health_knows_a_journal_that_can_not_be_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(path)
    running = server(journal, [])
    assert health(running) == (200, {"status": "ok", "games": 0})
    sentence = f"{journal.address} can't be written: \x1b[1mfull"
    monkeypatch.setattr(journal, "trouble", lambda: sentence)
    status, told = health(running)
    assert (status, told["status"]) == (503, "failing")
    assert told["journal"] == sentence.replace("\x1b", "\N{REPLACEMENT CHARACTER}")
    assert serving(running) == 200, "another host could write no more"
    monkeypatch.setattr(Journal, "is_held", False)
    assert serving(running) == 503
    journal.close()
