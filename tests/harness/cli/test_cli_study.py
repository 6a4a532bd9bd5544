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

from harness.cli import options
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

    monkeypatch.setattr(options, "until_told_to_stop", look)
    assert tilewire("study", f"{GAME}@7", "--no-browser") == 0
    data = base64.b64encode(GAME.read_bytes()).decode()
    assert told["study"] == {"data": data, "name": GAME.name, "turn": 7, "lexicon": "scowl"}
    assert (told["games"]["study"], told["play"]["bots"]) == (True, [])
    assert (told["moves"]["type"], len(told["moves"]["moves"])) == ("moves", 5)


@pytest.mark.parametrize(
    ("what", "known"),
    [
        (None, (None, None)),
        (CGP, (CGP.read_text().strip(), CGP.name)),
        (CGP.read_text().strip(), (CGP.read_text().strip(), None)),
        ("AEINRST", ("/".join(["15"] * 15) + " AEINRST/ 0/0 0", None)),
    ],
)
def test_a_position_is_studied(
    what: str | Path | None,
    known: tuple[str | None, str | None],
    tilewire: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[dict[str, Any]] = []

    async def on_page(house: Any, *_: str, opens: bool) -> None:
        assert opens
        begun.append(house.offered.study)

    monkeypatch.setattr("harness.cli.study.on_page", on_page)
    assert tilewire("study", *(() if what is None else (what,))) == 0
    data = begun[0]["data"]
    assert ((data and data.decode().strip()), begun[0]["name"]) == known


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("nothing.gcg", "nothing.gcg"),
        (f"{GAME}@99", "lines 1 to"),
        (GAME.parent, "is a folder"),
        ("15/15 AEINRST/ 0/0 0", "2 rows"),
        ("bad.gcg", "line 3"),
    ],
)
def test_what_can_not_be_read_is_named(
    what: str | Path,
    why: str,
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.gcg").write_text("#player1 a A\n#player2 b B\n>a: AB 8H X8Z +1 1\n")
    assert tilewire("study", what, "--no-browser") == 2
    assert why in tilewire.err
