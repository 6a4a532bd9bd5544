"""Servers with Polish tables: a game that goes on after a kill, and one of phonies."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest
from e2e.processes import Server, run_example, serving
from guests import on_turn

from engine.notation.gcg import EventKind, read_gcg
from engine.notation.replaying import replay
from engine.rules.rule_sets import load_rules
from harness.lab.bench.client import Client
from protocol.messages import Seek

MAIN_TABLE = "[time]\ninitial_ms = 120000\n"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A list of words that follow Polish letters, for nobody to know."""
    rng = random.Random(5)
    vowels, others = "AEIOUYÓĄĘ", "BCDFGHJKLŁMNPRSTWZŻŹŃŚĆ"
    made = {
        "".join(rng.choice(others if (at + first) % 2 else vowels) for at in range(length))
        for length in range(2, 6)
        for first in (0, 1)
        for _ in range(300)
    }
    path = tmp_path / "polski.txt"
    path.write_text("\n".join(sorted(made)) + "\n", encoding="utf-8")
    return path


def asked(server: Server, what: str) -> str:
    """Ask the server for something of its games."""
    status, text = server.get(f"/api/games{what}")
    assert status == 200, text
    return text


async def test_a_game_in_polish_goes_on_after_a_kill_though_its_table_is_gone(
    words: Path, tmp_path: Path
) -> None:
    table = f'[tables.polish]\nrules = "polish"\nlexicon = "{words}"\n'
    with serving(tmp_path, settings=MAIN_TABLE + table) as server:
        ann, bob = [await Client.login(server.url, name) for name in ("ann", "bob")]
        for player, opponent in ((ann, "bob"), (bob, "ann")):
            await player.channel.send(Seek(opponent=opponent, table="polish"))
        game, _ = await asyncio.gather(ann.get_ready(), bob.get_ready())
        mover, other, turn = await on_turn(ann, bob)
        await mover.play(turn, f"-{turn.rack[:3]}")
        mover, _, turn = await on_turn(mover, other)
        server.kill()
        (tmp_path / "serve.toml").write_text(MAIN_TABLE, encoding="utf-8")  # the table is not there
        await asyncio.to_thread(server.start)
        players = [await Client.login(server.url, name) for name in ("ann", "bob")]
        (listed,) = json.loads(await asyncio.to_thread(asked, server, ""))["on"]
        assert (listed["rules"], listed["lexicon"]) == ("polish", "polski")
        for player in players:
            await player.resume(game, -1)
        over, _ = await asyncio.gather(*(player.pass_to_the_end() for player in players))
        gcg = read_gcg(await asyncio.to_thread(asked, server, f"/{game}.gcg"))
    assert over.outcome == "zeroes"
    assert [event.kind for event in gcg.events][:2] == [EventKind.EXCHANGE, EventKind.PASS]
    assert replay(gcg, load_rules("polish")).final.scores == over.scores


def test_examples_challenge_or_decline_where_bluff_plays_polish(
    words: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "double.toml"
    rules.write_text('tiles = "polish"\nchallenge = "double"\n', encoding="utf-8")
    table = ("--rules", rules, "--lexicon", words)
    with serving(tmp_path, *table, settings='[bots]\nbluff = "bluff?rate=0.8"\n') as server:
        *said, ending = run_example("any_tiles_bot.py", server.url, "bluff", words).splitlines()
        declined = run_example("minimal_bot.py", server.url, "--opponent", "bluff")
        past = json.loads(asked(server, ""))["past"]
        (game,) = [each["game"] for each in past if "any-tiles" in each["players"]]
        gcg = read_gcg(asked(server, f"/{game}.gcg"))
    outcome, *scores = ending.split()[:3]
    assert outcome in ("out", "zeroes")
    assert max(map(int, scores)) > 0
    assert all(line.startswith("challenges: ") for line in said), said
    assert said, "bluff plays phonies"
    assert "English tiles" in declined
    withdrawn = [event for event in gcg.events if event.kind is EventKind.WITHDRAWN]
    assert [event.nick for event in withdrawn] == ["bluff"] * len(said)
    final = replay(gcg, load_rules(rules)).final
    assert sorted(final.scores) == sorted(map(int, scores))
