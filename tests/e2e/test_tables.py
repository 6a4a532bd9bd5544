"""Servers with Polish tables: a game between bots that dial in, through a kill; one of phonies."""

from __future__ import annotations

import json
import random
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.processes import EXAMPLES, PATIENCE_S, Server, run_example, serving
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from engine.notation.cgp import read_cgp
from engine.notation.gcg import EventKind, read_gcg
from engine.notation.replaying import replay
from engine.rules.rule_sets import load_rules

POLISH = load_rules("polish")
CLOCK_MS = 600_000
MAIN_TABLE = "[time]\ninitial_ms = 120000\n"


def polish_words() -> list[str]:
    """Make words that follow Polish letters, for nobody to know."""
    rng = random.Random(5)
    vowels, others = "AEIOUYÓĄĘ", "BCDFGHJKLŁMNPRSTWZŻŹŃŚĆ"
    return sorted(
        {
            "".join(rng.choice(others if (at + first) % 2 else vowels) for at in range(length))
            for length in range(2, 6)
            for first in (0, 1)
            for _ in range(300)
        }
    )


class Dialled:
    """A bot that dials in, written from SPEC.md alone; it comes back to a server that was away."""

    def __init__(self, url: str, name: str, words: Path) -> None:
        self.url, self.name, self.words = url, name, words
        self.asked: list[dict[str, Any]] = []
        self.over: dict[str, Any] = {}
        self.refused: list[str] = []
        self.has_moved, self.is_back = threading.Event(), threading.Event()
        self._game: Any = None
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.thread.start()

    def _live(self) -> None:
        while not self.over:
            try:
                with connect(self.url, subprotocols=[Subprotocol("tilewire.v1.json")]) as server:
                    self._talk(server)
            except (OSError, WebSocketException):
                self.is_back.wait(PATIENCE_S)

    def _talk(self, server: ClientConnection) -> None:
        def say(kind: str, **fields: object) -> None:
            server.send(json.dumps({"type": kind, **fields}))

        say("hello", role="player", name=self.name)
        for text in server:
            match message := json.loads(text):
                case {"type": "welcome", "games": [game, *_]}:
                    say("resume", game=game)
                case {"type": "welcome", "tables": tables}:
                    assert tables == ["main", "polish"]
                    say("seek", table="polish")
                case {"type": "new_game", "game": game, "rules": rules}:
                    self._game = BOT["Game"](rules, self.words.read_text(encoding="utf-8"))
                    say("ready", game=game)
                case {"type": "your_turn", "game": game, "seq": seq, "attempt": attempt}:
                    self.asked.append(message)
                    move = self._game.choose(message["position"], message["rack"], message["bag"])
                    say("move", game=game, seq=seq, attempt=attempt, move=move)
                    if len(self.asked) == 4:
                        self.has_moved.set()
                case {"type": "refused", "message": why, "game": game, "seq": seq, "attempt": n}:
                    self.refused.append(why)
                    say("move", game=game, seq=seq, attempt=n + 1, move="-")
                case {"type": "ping", "id": number}:
                    say("pong", id=number)
                case {"type": "game_over"}:
                    self.over = message
                    return


BOT = runpy.run_path(str(EXAMPLES / "any_tiles_bot.py"))


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "polski.txt"
    path.write_text("\n".join(polish_words()) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def server(tmp_path: Path, words: Path) -> Iterator[Server]:
    table = f'[tables.polish]\nrules = "polish"\nlexicon = "{words}"\n'
    clock = f"[tables.polish.time]\ninitial_ms = {CLOCK_MS}\n"
    with serving(tmp_path, settings=MAIN_TABLE + table + clock) as server:
        yield server


def watched(url: str) -> list[dict[str, Any]]:
    """Watch the game that is on to its end; return what was told."""
    with connect(url, subprotocols=[Subprotocol("tilewire.v1.json")]) as spectator:
        spectator.send(json.dumps({"type": "hello", "role": "spectator", "name": "eve"}))
        assert json.loads(spectator.recv())["type"] == "welcome"
        spectator.send(json.dumps({"type": "games"}))
        (listed,) = json.loads(spectator.recv())["games"]
        assert (listed["rules"], listed["lexicon"]) == ("polish", "polski")
        spectator.send(json.dumps({"type": "watch", "game": listed["game"]}))
        told = [json.loads(spectator.recv())]
        while told[-1]["type"] != "game_over":
            told.append(json.loads(spectator.recv()))
        return told


def asked(server: Server, what: str) -> str:
    """Ask the server for something of its games."""
    status, text = server.get(f"/api/games{what}")
    assert status == 200, text
    return text


def test_a_game_in_polish_goes_on_after_a_kill_though_its_table_is_gone(
    server: Server, words: Path, tmp_path: Path
) -> None:
    first, second = (Dialled(server.url, name, words) for name in ("ann", "bob"))
    assert first.has_moved.wait(PATIENCE_S)
    server.kill()
    (tmp_path / "serve.toml").write_text(MAIN_TABLE, encoding="utf-8")  # the table is not there
    server.start()
    watching: list[dict[str, Any]] = []
    eve = threading.Thread(target=lambda: watching.extend(watched(server.url)), daemon=True)
    eve.start()
    for bot in (first, second):
        bot.is_back.set()
    for thread in (first.thread, second.thread, eve):
        thread.join(PATIENCE_S)

    assert first.over == second.over == watching[-1]
    # By chance a bot has nothing to play more often than it may exchange; then it passes.
    refused = [why for why in first.refused + second.refused if "exchange" not in why]
    assert not refused, "what new_game told of tiles and words was enough"
    assert first.over["outcome"] in ("out", "zeroes")
    offer = watching[0]
    assert [tile["letter"] for tile in offer["rules"]["tiles"]] == list(
        POLISH.distribution.alphabet.letters
    )
    assert offer["time"]["initial_ms"] == CLOCK_MS
    assert all(0 < turn["clocks"][0] <= CLOCK_MS for turn in first.asked + second.asked)
    for turn in first.asked:
        position = read_cgp(turn["position"], POLISH)
        assert POLISH.distribution.alphabet.text(position.racks[0]) == turn["rack"]

    gcg = read_gcg(asked(server, f"/{offer['game']}.gcg"))
    assert list(replay(gcg, POLISH).final.scores) == first.over["scores"]


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
