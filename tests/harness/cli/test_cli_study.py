"""``tilewire study``: what it is given, and the server that it starts."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from command_line import CommandLine
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from engine.rules.rules import standard_rules
from harness.cli import options
from harness.cli.study import _read
from harness.server.page_analysis.conversation import SUBPROTOCOL

GAME = Path(__file__).parents[2] / "fixtures" / "games" / "static_greedy.gcg"
CGP = GAME.parents[1] / "cgp" / "midgame.cgp"


async def ask(at: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the first answer to a page's request."""
    origin, spoken = Origin(f"http://{at}"), [Subprotocol(SUBPROTOCOL)]
    async with connect(f"ws://{at}", origin=origin, subprotocols=spoken) as page:
        await page.send(json.dumps({"id": 1, **asked}))
        answer: dict[str, Any] = json.loads(await page.recv())
        return answer


def test_a_game_is_studied_until_a_signal_comes(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: dict[str, Any] = {}

    async def look() -> asyncio.Event:
        page = re.match(r"study at http://([0-9.:]+)/#/study \(Ctrl-C ", capsys.readouterr().out)
        assert page
        for address in ("study", "games", "play"):
            url = f"http://{page[1]}/api/{address}"
            told[address] = json.load(await asyncio.to_thread(urlopen, url, timeout=60))
        asked = {"data": told["study"]["data"], "line": 7, "most": 5}
        told["moves"] = await ask(page[1], {"type": "moves", **asked})
        return asyncio.Event()

    monkeypatch.setattr(options, "until_interrupted", look)
    assert tilewire("study", f"{GAME}@7", "--no-browser") == 0
    data = base64.b64encode(GAME.read_bytes()).decode()
    assert told["study"] == {"data": data, "name": GAME.name, "turn": 7, "lexicon": "scowl"}
    assert (told["games"]["study"], told["play"]["bots"]) == (True, [])
    assert (told["moves"]["type"], len(told["moves"]["moves"])) == ("moves", 5)


def test_a_position_is_studied() -> None:
    text, rules = CGP.read_bytes(), standard_rules()
    rack = ("/".join(["15"] * 15) + " AEINRST/ 0/0 0").encode()
    for what, data, name in (
        (None, None, None),
        (str(CGP), text, CGP.name),
        (text.decode(), text, None),
        ("AEINRST", rack, None),
    ):
        assert _read(what, rules) == {"data": data, "name": name, "turn": None}
