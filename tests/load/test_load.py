"""The measurements of ``load.run``, each at a small size."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from engine_games import LONG
from load import attack, faults, idle, soak, visitors, watch
from load.attack import Honest, seen
from load.attackers import ATTACKS, Attackers
from load.idle import Peer, open_peers
from load.visitors import Visitor
from servers import served, url_of
from websockets.frames import Frame, Opcode

from harness.lab.bench.client import Client
from lexicons.store import load_lexicon
from protocol.parts import TimeControl


@pytest.fixture(params=ATTACKS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_an_attack_writes_its_request_first_and_comes_again(name: str) -> None:
    heads, twice = Counter[bytes](), asyncio.Event()
    request = ATTACKS[name].request

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            heads[await reader.readexactly(len(request))] += 1
        writer.close()
        if heads[request] >= 2:
            twice.set()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    attacking = asyncio.create_task(Attackers(ATTACKS[name], port).attack("ws://127.0.0.1:1"))
    async with asyncio.timeout(60):
        await twice.wait()
    attacking.cancel()
    server.close()
    assert set(heads) == {request}


async def test_honest_bots_notice_an_attack(capfd: pytest.CaptureFixture[str]) -> None:
    (row,) = await attack.attack(["pings"], 0.3)
    assert len(row) == len(attack.HEAD)
    assert row[0] == "pings: 900 WebSocket pings a second"
    assert sum(int(moves) for moves in row[6:8]) > 0
    assert "pings" in capfd.readouterr().err


def test_a_ping_that_nobody_answers_takes_until_now() -> None:
    bot = Honest("ws://nowhere", "ann", "bob")
    now = time.perf_counter()
    bot.pings += [(now - 9, 700.0), (now - 5, 3.0), (now - 4, 1.0), (now - 3, None)]
    bot.overcharges += [(now - 9, 50), (now - 5, 4), (now - 4, -1)]
    span = seen((bot,), now - 6, now - 2)
    assert span.p50_ms == 3
    assert span.p99_ms > 2_900
    assert (span.overcharge_ms, span.moves) == (4, 2)


async def test_pages_watch_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "THINK_S", 0.01)
    monkeypatch.setattr(watch, "SETTLE_S", 0.1)
    rows = await watch.watch(pages=3, rounds=1)
    assert [row[0] for row in rows] == list(watch.KINDS)
    assert [row[-1].endswith(" ms") for row in rows] == [False, True, True]
    assert all(int(row[4]) > 10 for row in rows)


async def test_idle_connections_stay_and_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "KEEPALIVE_S", 0.1)
    monkeypatch.setattr(idle, "SETTLE_S", 0.1)
    monkeypatch.setattr(idle, "AT_ONCE", 15)
    row = await idle.idle(connections=40, seconds=0.1)
    assert len(row) == len(idle.HEAD)
    assert (row[0], row[3]) == ("40", "40")


async def test_a_peer_counts_messages_of_any_length_and_answers_pings() -> None:
    sent: list[bytes] = []

    class Transport(asyncio.Transport):
        def write(self, data: object) -> None:
            assert isinstance(data, bytes)
            sent.append(data)

    peer = Peer()
    peer.connection_made(Transport())
    heard = peer.expect(3)
    come = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    for opcode, size in ((Opcode.BINARY, 1), (Opcode.PING, 7), (Opcode.TEXT, 300)):
        come += Frame(opcode, bytes(size)).serialize(mask=False)
    come += Frame(Opcode.BINARY, bytes(70_000)).serialize(mask=False)
    for at in range(0, len(come), 999):
        assert not heard.done()
        peer.data_received(come[at : at + 999])
    assert heard.done()
    assert [data[0] & 15 for data in sent[1:]] == [Opcode.PONG]
    gone = peer.expect(1)
    peer.connection_lost(None)
    with pytest.raises(ConnectionError, match="closed"):
        await gone


async def test_many_peers_have_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = Counter[str]()

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        addresses[writer.get_extra_info("peername")[0]] += 1
        writer.write(Frame(Opcode.BINARY, b"hello").serialize(mask=False))
        writer.close()

    monkeypatch.setattr(idle, "PER_ADDRESS", 2)
    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        await open_peers(server.sockets[0].getsockname()[1], 5, Peer, 1)
    assert addresses == {"127.0.0.1": 2, "127.0.0.2": 2, "127.0.0.3": 1}


async def test_a_very_short_soak_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "SETTLE_S", 0.2)
    monkeypatch.setattr(soak, "SAMPLE_S", 0.5)
    monkeypatch.setattr(soak, "ATTACK_S", 0.2)
    row = await soak.soak(tmp_path / "new", 2.0, 7)
    assert len(row) == len(soak.HEAD)
    assert (row[0], row[-3], row[-1]) == ("7", "0", "0")
    lines = (tmp_path / "new" / "soak.jsonl").read_text().splitlines()
    *samples, last = (json.loads(line) for line in lines)
    assert len(samples) >= 3
    assert all(sample["memory_mb"] > 10 and sample["left"] is None for sample in samples)
    assert set(last["ratings"]) <= set(soak.STRENGTHS)
    assert last["deeds"]["came"] >= 12


def test_a_soak_comes_to_a_slope_after_the_warm_up() -> None:
    rows: list[dict[str, Any]] = [
        {"piece": 1, "seconds": games / 10, "games": games, "memory_mb": 90 + games / 4_000}
        | {"descriptors": 40, "processes": 1, "journal_mb": 1.0, "left": None}
        for games in range(400, 2_001, 100)
    ]
    first = {**rows[0], "games": 100, "memory_mb": 20.0}
    last = {**rows[-1], "seconds": 205, "descriptors": 26, "left": [26, 2], "trouble": ["x"]}
    assert soak.row([first, *rows, last])[2:] == [
        *("2,000", "9.8", "90.5 MB", "+0.250 MB", "40 → 26", "2", "1.0 MB", "1")
    ]
    assert soak.row([first, last])[5] == "–"


@pytest.mark.parametrize(
    ("deed", "outcome"),
    [("illegal", "illegal"), ("resign", "resign"), ("time", "time"), ("leave", "time")]
    + [(deed, "zeroes") for deed in ("chatter", "repeat")],
)
async def test_what_a_bot_does_ends_its_game_as_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, outcome: str
) -> None:
    monkeypatch.setattr(visitors, "AT_OFFERS", (None,))
    monkeypatch.setattr(visitors, "AT_TURNS", (deed,))
    monkeypatch.setattr(visitors, "ODD", 1.0)
    enough_ms = 300 if outcome == "time" else 60_000
    clock = TimeControl(initial_ms=enough_ms, max_overtime_ms=0, ready_ms=60_000)
    async with served(tmp_path / "games.db", time=clock) as server:
        odd = Visitor(url_of(server), "odd", "x" * 32, 0, Random(1), load_lexicon())
        other = await Client.login(url_of(server), "other")
        coming = asyncio.create_task(odd.live())
        await other.seek("odd")
        over = await other.pass_to_the_end()
        assert over.outcome == outcome
        assert odd.deeds[deed] >= 1
        coming.cancel()
        await asyncio.wait([coming])
        await other.close()


async def test_misconduct_has_its_verdict(tmp_path: Path) -> None:
    async with served(tmp_path / "games.db") as server:
        case, expected, outcome, late, _ = await faults.call(url_of(server), "illegal word")
    assert (case, outcome) == ("illegal word", expected)
    assert late.endswith(" ms")
    for fault, expected, _, what in (faults.ENGINE_CASES[1], faults.ENGINE_CASES[7]):
        patient = (fault, expected, LONG, what)
        _, _, outcome, late, _ = await faults.call_engine(tmp_path, patient)
        assert outcome == expected
        assert late.endswith(" ms")
