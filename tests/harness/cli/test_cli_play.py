"""``tilewire play`` and ``study``: what they are given, and the server that they start."""

from __future__ import annotations

import asyncio
import base64
import getpass
import json
import re
import sys
from pathlib import Path
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from command_line import CommandLine
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from bot.equipment import Equipment
from bot.registry import LEVELS
from engine.rules.rules import standard_rules
from harness.arbiter.host import GameHost
from harness.cli import options
from harness.cli.play import NOBODY, OwnServer, _bots, _person
from harness.cli.study import _read
from harness.server.page_analysis.conversation import SUBPROTOCOL
from harness.server.page_analysis.process import AnalysisProcess
from harness.server.play import Offered
from protocol.parts import TimeControl


def test_the_bot_that_is_asked_for_is_among_the_others() -> None:
    specs, opponent = _bots("static?temperature=5")
    assert opponent == "static (temperature=5)"
    assert specs[opponent].options == (("temperature", "5"),)
    assert {"static", "champion", *LEVELS} < specs.keys()
    assert _bots("greedy")[1] == "greedy"
    assert _bots(None)[1] is None


@pytest.mark.parametrize("called", ["club", "champion-1s", "static"])
def test_a_bot_called_like_one_of_the_house_is_the_bot_asked_for(called: str) -> None:
    seat = f"siu:engine?name={called}"
    specs, opponent = _bots(seat)
    assert opponent is not None
    assert opponent.startswith(f"{called} (engine")
    assert specs[opponent].text.startswith(f"{seat}&folder=")
    assert specs[called] == _bots(None)[0][called]


def test_a_person_has_the_name_of_the_login_unless_a_bot_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    specs, _ = _bots(None)
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert _person(None, specs) == "ann"
    assert _person("bob", specs) == "bob"
    monkeypatch.setattr(getpass, "getuser", lambda: "greedy")
    assert _person(None, specs) == NOBODY


def test_a_terminal_without_input_is_refused(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert tilewire("play", "--terminal", "--db", tmp_path / "play.db") == 2
    assert "--terminal" in tilewire.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("threads", "free"), [(1, 3), (4, 0)])
async def test_an_analysis_has_the_cores_that_a_game_leaves_free(
    threads: int, free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []

    async def start(_kinds: object, *, idle: bool, hidden: object) -> Any:
        started.append(idle)

    for module in ("cli.play", "server.server"):
        monkeypatch.setattr(f"harness.{module}.usable_cores", lambda: 4)
    monkeypatch.setattr(AnalysisProcess, "start", start)
    bots, equipment = {"static": _bots(None)[0]["static"]}, Equipment(threads=threads)
    about = Offered(is_private=True), TimeControl(), 2, "127.0.0.1", 0, tmp_path / "play.db"
    async with OwnServer(equipment, bots, *about).server() as server:
        queue = server._analyses
        assert queue is not None
        assert queue.own_cores is not None
        await queue.start()
        assert (started, queue.own_cores()) == ([not free], 4)
        server._hosting.games["g"] = cast("GameHost", None)
        assert queue.own_cores() == free


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_page_is_served_until_a_signal_comes(
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    host: str,
) -> None:
    told: dict[str, Any] = {}

    def ask(address: str, **headers: str) -> Any:
        try:
            with urlopen(Request(address, headers=headers), timeout=60) as answer:
                return json.load(answer)
        except HTTPError as error:
            return error.code

    async def look() -> asyncio.Event:
        out, told["said"] = capsys.readouterr()
        found = re.fullmatch(r"play at (http://127\.0\.0\.1:\d+)/#/play \(Ctrl-C .*\)\n", out)
        assert found, out
        told["play"] = await asyncio.to_thread(ask, f"{found[1]}/api/play")
        published = "127.0.0.1:9"  # as of a container
        told["published"] = await asyncio.to_thread(ask, f"{found[1]}/api/play", Host=published)
        told["away"] = await asyncio.to_thread(ask, f"{found[1]}/api/play", Host="evil.example")
        return asyncio.Event()

    monkeypatch.setattr(options, "until_interrupted", look)
    monkeypatch.setenv("TILEWIRE_HOST", host)
    where = ("--no-browser", "--port", 0, "--name", "ann", "--db", tmp_path / "play.db")
    assert tilewire("play", "club", *where) == 0
    assert (told["play"]["opponent"], told["play"]["name"]) == ("club", "ann")
    assert told["play"]["bots"][0]["name"] == "beginner"
    assert (told["published"], told["away"]) == (told["play"], 421)
    assert ("anybody who can reach 0.0.0.0" in told["said"]) == (host == "0.0.0.0")
    assert tilewire.err.endswith("stopped\n")


# --- study ----------------------------------------------------------------------------------------


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
