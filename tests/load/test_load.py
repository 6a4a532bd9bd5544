"""The measurements of ``load.run``, each at a small size."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from engine_games import LONG
from load import attack, faults, idle, soak, visitors, watch
from load.attackers import ATTACKS, Attackers
from servers import served, url_of


@pytest.mark.parametrize("name", ATTACKS)
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


async def test_honest_bots_notice_an_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack, "START_S", 0.5)
    (row,) = await attack.attack(["pings"], 0.5)
    assert len(row) == len(attack.HEAD)
    assert sum(int(moves) for moves in row[6:8]) > 0


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


async def test_a_very_short_soak_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "SETTLE_S", 0.2)
    monkeypatch.setattr(soak, "SAMPLE_S", 0.5)
    monkeypatch.setattr(soak, "ATTACK_S", 0.2)
    monkeypatch.setattr(visitors, "ODD", 0.1)
    row = await soak.soak(tmp_path / "new", 2.0, 7)
    assert len(row) == len(soak.HEAD)
    assert (row[0], row[6], row[-1]) == ("7", "0", "0")
    lines = (tmp_path / "new" / "soak.jsonl").read_text().splitlines()
    *samples, last = (json.loads(line) for line in lines)
    assert len(samples) >= 3
    assert all(sample["memory_mb"] > 10 and sample["left"] is None for sample in samples)
    assert set(last["ratings"]) <= set(soak.STRENGTHS)
    assert last["deeds"]["came"] >= 12


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
