"""A host that ends in mid-game, again and again, by ``kill -9`` or otherwise; a bot that does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import haproxy
import pytest
from e2e.crashes import Ordeal
from e2e.hosts import ENDS
from e2e.kills import shown
from e2e.processes import COMMAND, serving
from msgspec import UNSET
from postgres import Cluster

from harness.lab.bench.client import Client
from protocol.channel import ChannelClosed
from protocol.messages import Started

KILLS = 4
UPGRADES = 3
ALLOWED_MS = 300
ROUNDING_MS = 1
"""Two readings of a clock in whole milliseconds differ from the time between them by up to one."""


async def undergo(ordeal: Ordeal, times: int, **wanted: int) -> None:
    """Have the host end so many times; nothing may be lost."""
    await ordeal.run(times, **wanted)
    print(shown(ordeal))
    assert not ordeal.problems, "\n".join(ordeal.problems)


async def test_kills_lose_nothing(tmp_path: Path) -> None:
    ordeal = Ordeal(tmp_path)
    await undergo(ordeal, KILLS, measured=KILLS + 1, thought_ms=ALLOWED_MS + 1)
    assert len(ordeal.restored) > KILLS, "too few kills came in the middle of a turn"
    assert max(one.thought_ms for one in ordeal.restored) > ALLOWED_MS, "nobody thought for long"
    for one in ordeal.restored:
        # The clock's truth lies between above_ms and above_ms + width_ms below what was restored.
        assert one.above_ms + one.width_ms >= -ROUNDING_MS, f"a clock below the truth: {one}"
        # What programs beside it took from the host is not the host's to promise.
        allowed_ms = ALLOWED_MS + one.waited_ms + ROUNDING_MS
        assert one.above_ms <= allowed_ms, f"a clock too far above it: {one}"


async def test_a_server_that_is_replaced_under_play_harms_no_game_move_or_clock(
    tmp_path: Path,
) -> None:
    ordeal = Ordeal(tmp_path, upgrades=True)
    await undergo(ordeal, UPGRADES, measured=UPGRADES)
    assert len(ordeal.restored) >= UPGRADES
    for one in ordeal.restored:
        # The clock goes on from what it showed at some time between the signal and the end.
        assert -one.width_ms - ROUNDING_MS <= one.above_ms <= ROUNDING_MS, one


@pytest.mark.skipif(haproxy.program() is None, reason=haproxy.MISSING)
async def test_games_outlive_three_hosts_on_one_database(tmp_path: Path, cluster: Cluster) -> None:
    ordeal = Ordeal(tmp_path, database=cluster.database())
    await undergo(ordeal, len(ENDS))
    assert ordeal.kills == len(ENDS)


async def test_a_bot_that_is_killed_gets_its_game_back_and_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    joining = ("--bot", "greedy", "--name", "ann", "--opponent", "bob", "--wait")
    with serving(tmp_path, "--drain", "0s") as server:
        command = [*COMMAND, "connect", server.url, *joining]
        bob = await Client.login(server.url, "bob", secret="")
        await bob.seek("ann")
        first = await asyncio.create_subprocess_exec(*command)
        game = await bob.get_ready()
        await bob.expect(Started)
        first.kill()
        await first.wait()
        (kept,) = await asyncio.to_thread(list, (tmp_path / "state").glob("tilewire/resume/*"))
        assert kept.stat().st_mode & 0o777 == 0o600
        server.kill()
        await asyncio.to_thread(server.start)
        for secret in (UNSET, ""):
            with pytest.raises(ChannelClosed, match="forbidden"):
                await Client.login(server.url, "ann", secret=secret)
        second = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        assert second.stdout is not None
        back = await Client.login(server.url, "bob", secret=bob.welcome.secret)
        await back.resume(game, -1)
        over = await back.pass_to_the_end()
        ended = await second.stdout.readline()
        second.kill()
        _, said = await second.communicate()
        await back.close()
    assert f"going on with earlier game {game} against bob" in said.decode()
    assert ended.decode().startswith("earlier  ")
    assert over.game == game
    assert over.outcome in ("out", "zeroes")
