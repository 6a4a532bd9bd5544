"""``/metrics``: what has happened on a server, and what is on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from guests import ann_and_bob
from servers import served, url_of
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.lab.bench.client import Client
from harness.server.admission import Admission
from harness.server.server import MatchServer
from protocol.channel import ChannelClosed
from protocol.websocket import HttpAnswer

pytestmark = pytest.mark.usefixtures("clients_hang_up")


def read(server: MatchServer) -> dict[str, float]:
    """Read the metrics as Prometheus does."""
    answer = server._on_http(Request("/metrics", Headers()), "127.0.0.1")
    assert isinstance(answer, HttpAnswer)
    assert answer.content_type.startswith("text/plain; version=")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_a_game_and_a_refusal_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path / "games.db") as server:
        url = url_of(server)
        before = read(server)
        assert before["tilewire_games_on"] == before["tilewire_players"] == 0
        ann, bob = await ann_and_bob(url)
        await asyncio.gather(ann.pass_to_the_end(), bob.pass_to_the_end())
        with pytest.raises(ChannelClosed):
            await Client.login(url, "hannah", "admin", token="x")
        full = Admission(connections=1, kept=1)
        server.change(max_games=2, time=server.time, admission=full)
        with pytest.raises(ChannelClosed):
            await Client.login(url, "cem")
        after = read(server)
        assert after["tilewire_players"] == 2
        assert after['tilewire_games_total{outcome="zeroes"}'] == 1
        assert after['tilewire_turned_away_total{code="forbidden"}'] == 1
        assert after['tilewire_refused_total{limit="connections"}'] == 1
        assert after["tilewire_turns_total"] == 6
        commits = "tilewire_journal_commit_seconds_count"
        assert after[commits] > before[commits]
        assert after["tilewire_journal_bytes"] > 0
        assert after["tilewire_journal_failing"] == 0
        async with asyncio.timeout(10):
            while not read(server)["tilewire_loop_late_seconds_count"]:  # noqa: ASYNC110 - every 20 ms
                await asyncio.sleep(0.005)
        assert after["process_open_fds"] > 0
        assert "ann" not in str(after)
