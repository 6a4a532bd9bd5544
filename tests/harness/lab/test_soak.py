"""A soak: what is worked out from its samples, what its bots do, and a very short one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import pytest
from command_line import CommandLine
from servers import served, url_of

from harness.lab.bench import soak, visitors
from harness.lab.bench.client import Client
from harness.lab.bench.soak import Sample, read_samples, summary, write_sample
from harness.lab.bench.visitors import Visitor
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.messages import Message, Move, Ready, Welcome, YourTurn
from protocol.parts import TimeControl
from protocol.websocket import WebSocketChannel

FIRST = Sample(
    piece=1, seconds=5, games=100, memory_mb=80, descriptors=40, processes=1, journal_mb=1
)


def piece(growth: float) -> list[Sample]:
    """Return a piece of 2,000 games: a warm-up, then so many MB for each thousand."""
    rows = [FIRST]
    for games in range(500, 2_001, 100):
        memory = 90 + growth * games / 1_000
        rows.append(replace(FIRST, seconds=games / 10, games=games, memory_mb=memory))
    return [*rows, replace(rows[-1], seconds=205, descriptors=26, left=(26, 2), trouble=("x",))]


def test_a_piece_comes_to_a_slope_and_to_what_is_left() -> None:
    (row,) = summary(piece(0.25))
    assert row.slope_mb == pytest.approx(0.25)
    assert (row.games, row.descriptors, row.processes, row.trouble) == (2_000, "40 → 26", 2, 1)
    assert row.hours == pytest.approx(205 / 3_600)


def test_pieces_are_apart_and_few_samples_have_no_slope() -> None:
    rows = [replace(sample, piece=2) for sample in piece(0.0)]
    first, second = summary([FIRST, *rows])
    assert (first.piece, first.slope_mb, first.processes) == (1, None, 1)
    assert second.slope_mb == pytest.approx(0.0, abs=1e-9)


def test_samples_are_read_as_they_were_written(tmp_path: Path) -> None:
    for sample in piece(0.1):
        write_sample(tmp_path, sample)
    read = read_samples(tmp_path)
    assert [row.games for row in read] == [row.games for row in piece(0.1)]
    assert summary(read) == summary(piece(0.1))
    with (tmp_path / "soak.jsonl").open("a") as file:
        file.write('{"piece": 1}\n')
    with pytest.raises(ValueError, match=r"soak\.jsonl, line 19"):
        read_samples(tmp_path)


def test_a_line_that_was_cut_short_is_cut_off(tmp_path: Path) -> None:
    write_sample(tmp_path, FIRST)
    with (tmp_path / "soak.jsonl").open("a") as file:
        file.write('{"piece": 1, "att')
    for _ in range(2):
        assert len(read_samples(tmp_path)) == 1
    write_sample(tmp_path, FIRST)
    assert len(read_samples(tmp_path)) == 2


def test_a_piece_is_added_only_when_asked_for(tilewire: CommandLine, tmp_path: Path) -> None:
    assert tilewire("bench", "soak", "--out", tmp_path, "--resume") == 2
    assert "has no piece to add to" in tilewire.err
    write_sample(tmp_path, FIRST)
    assert tilewire("bench", "soak", "--out", tmp_path) == 2
    assert "--resume" in tilewire.err


@pytest.mark.parametrize(
    ("deed", "outcome"),
    [("illegal", "illegal"), ("resign", "resign"), ("time", "time"), ("leave", "time")],
)
async def test_what_a_bot_does_ends_its_game_as_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, outcome: str
) -> None:
    monkeypatch.setattr(visitors, "_DEEDS", {deed: visitors._DEEDS[deed]})
    monkeypatch.setattr(visitors, "ODD", 1.0)
    enough_ms = 300 if outcome == "time" else 60_000
    clock = TimeControl(initial_ms=enough_ms, max_overtime_ms=0, ready_ms=60_000)
    async with served(tmp_path / "games.db", time=clock) as server:
        url = url_of(server)
        odd = Visitor(url, "odd", "x" * 32, 0, Random(1), load_lexicon())
        monkeypatch.setattr(odd, "_answer_offer", _get_ready)
        other = await Client.login(url, "other")
        coming = asyncio.create_task(odd.live())
        await other.seek("odd")
        over = await other.pass_to_the_end()
        assert over.outcome == outcome
        assert odd.deeds[deed] == 1
        coming.cancel()
        await asyncio.wait([coming])
        await other.close()


@pytest.mark.parametrize(("deed", "times"), [("chatter", 1), ("repeat", 3)])
async def test_who_was_refused_moves_by_its_next_attempt(deed: str, times: int) -> None:
    sent: list[Message] = []

    class Channel:
        async def send(self, message: Message) -> None:
            sent.append(message)

    client = Client(cast("WebSocketChannel", Channel()), Welcome(name="odd"))
    turn = YourTurn("g", 4, "", "", 0, (0, 0), 1, attempt=2)
    await visitors._DEEDS[deed](client, turn)
    moves = [message for message in sent if isinstance(message, Move)]
    assert [(move.seq, move.attempt) for move in moves] == [(4, 2)] * times


async def _get_ready(client: Client, game: str) -> None:
    await client.channel.send(Ready(game=game, nonce="00" * 16))


async def test_a_very_short_soak_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "SETTLE_S", 0.2)
    samples: list[Sample] = []
    await soak.soak(tmp_path, 1.0, 1, 1, samples.append)
    first, last = samples[0], samples[-1]
    assert last.left is not None
    assert last.left[1] == 0
    assert last.trouble == ()
    assert first.memory_mb > 10
    assert last.left[0] > 10
    soak.draw(samples, tmp_path / "soak.png")
    assert (tmp_path / "soak.png").stat().st_size > 10_000


async def test_a_server_that_dies_ends_the_soak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[Sample] = []
    monkeypatch.setattr(soak, "SAMPLE_S", 0.1)
    monkeypatch.setattr(soak, "_start_of", lambda _pid: None)
    with pytest.raises(ChannelClosed, match="the server has died"):
        await soak.soak(tmp_path, 600.0, 1, 1, samples.append)
    assert samples == []
