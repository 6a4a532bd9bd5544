"""The conformance kit: our server and bots pass, and broken ones fail what they break."""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest
from e2e.test_examples import node
from passing_seats import Passer
from servers import served, url_of

from engine.rules.rules import standard_rules
from harness.lab.conformance import bot_check, server_check
from harness.lab.conformance.bot_check import BotCheck
from harness.lab.conformance.clauses import Clause, Report
from harness.lab.conformance.server_check import ServerCheck
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import KnownTokens, hash_token
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.messages import Message
from protocol.parts import TimeControl
from protocol.websocket import WebSocketChannel, dial, listen

REPOSITORY = Path(__file__).parents[3]
BROKEN = REPOSITORY / "tests" / "broken_bot.py"
FEW = "AT DO GO IN IS IT NO ON OR SO TO US WE ATE EAT RAT RED SEA SIT TEA TIE TIN TOE"
QUICK = TimeControl(initial_ms=2_500, max_overtime_ms=0)

Change = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Changes a message between a client and a server; None: it is not passed on."""


def test_each_clause_is_a_section_of_the_specification() -> None:
    spec = (REPOSITORY / "protocol" / "SPEC.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^###? ([\d.]+?)\.? ", spec, re.MULTILINE))
    assert {clause.section for clause in Clause} <= sections


# --- servers --------------------------------------------------------------------------------------


@asynccontextmanager
async def between(url: str, change: Change, change_said: Change) -> AsyncIterator[str]:
    """Stand between clients and a server; changes what it sends, and what they say."""

    async def carry(source: WebSocketChannel, to: WebSocketChannel, altered: Change) -> None:
        try:
            while True:
                frame = after = await source.receive_frame()
                with suppress(Exception):  # what can't be read is passed on as it is
                    message = source.codec.load(frame)
                    assert isinstance(message, dict)
                    changed = altered(message)
                    if changed is None:
                        continue
                    after = (
                        frame
                        if changed == message
                        else source.codec.encode(cast("Message", changed))
                    )
                await to.send_frame(after)
        except ChannelClosed as closed:
            await to.close(closed.code if closed.code in (1003, 1008, 1009) else 1000)

    async def attend(client: WebSocketChannel, _request: object) -> None:
        server = await dial(url, subprotocols=[client.codec.subprotocol])
        ways = carry(client, server, change_said), carry(server, client, change)
        await asyncio.gather(*ways, return_exceptions=True)

    there = await listen("127.0.0.1", 0, attend)
    yield f"ws://127.0.0.1:{next(iter(there.sockets)).getsockname()[1]}"
    there.close()
    await there.wait_closed()


async def tried(
    tmp_path: Path, change: Change | None = None, change_said: Change = lambda it: it
) -> dict[Clause, str]:
    """Return the failures of our server, of which something is changed; empty texts are passes."""
    kind = TableKind(lexicon=load_lexicon(), bots={"greedy": lambda: Passer("greedy")})
    report = Report("server")
    async with served(tmp_path / "db", offered=ServerTables(kind), time=QUICK) as server:
        url = url_of(server)
        if change is None:
            await ServerCheck(url, report).run()
        else:
            async with between(url, change, change_said) as changed:
                await ServerCheck(changed, report).run()
    return failures(report)


def failures(report: Report) -> dict[Clause, str]:
    return {clause: it.why for clause, it in report.results().items() if it.verdict == "FAIL"}


async def test_our_server_passes(tmp_path: Path) -> None:
    assert not await tried(tmp_path)


async def test_a_server_that_asks_for_a_token_is_said_not_to_be_tried(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"ann {hash_token('a')}\n")
    report, known = Report("server"), KnownTokens(tmp_path / "tokens", print)
    async with served(tmp_path / "db", known=known) as server:
        await ServerCheck(url_of(server), report).run()
    results = report.results()
    assert not failures(report)
    assert results[Clause.NO_HELLO].verdict == "pass"
    assert "--token-file" in results[Clause.HELLO].why
    assert results[Clause.DRAWS] == results[Clause.HELLO]


def next_turn(message: dict[str, Any]) -> dict[str, Any]:
    is_turn = message["type"] == "your_turn"
    return message | ({"seq": message["seq"] + 1} if is_turn else {})


def clocks_run_backwards(message: dict[str, Any]) -> dict[str, Any]:
    if message["type"] != "played":
        return message
    return message | {"clocks": [ms + message["seq"] for ms in message["clocks"]]}


def another_secret(message: dict[str, Any]) -> dict[str, Any]:
    is_over = message["type"] == "game_over"
    return message | ({"secret": "00" * 32} if is_over and message["secret"] else {})


def opponents_rack(message: dict[str, Any]) -> dict[str, Any]:
    return message | ({"rack": "ABCDEFG"} if message["type"] == "played" else {})


def no_resume(message: dict[str, Any]) -> dict[str, Any] | None:
    return None if message["type"] == "resume" else message


def no_pong(message: dict[str, Any]) -> dict[str, Any] | None:
    return None if message["type"] == "pong" else message


@pytest.mark.parametrize(
    ("change", "change_said", "clause", "words"),
    [
        (next_turn, None, Clause.EVENTS, "seq"),
        (clocks_run_backwards, None, Clause.CLOCKS, "clocks"),
        (another_secret, None, Clause.DRAWS, "secret"),
        (opponents_rack, None, Clause.PLAYED, "rack"),
        (None, no_resume, Clause.RESUMED, "new_game"),
        (no_pong, None, Clause.PINGS, "pong"),
    ],
)
async def test_a_broken_server_fails_its_clause(
    change: Change | None,
    change_said: Change | None,
    clause: Clause,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_check, "PATIENCE_S", 0.5 if change is no_pong else 2.0)
    as_it_is: Change = lambda message: message  # noqa: E731
    failed = await tried(tmp_path, change or as_it_is, change_said or as_it_is)
    assert words in failed[clause], failed


# --- bots -----------------------------------------------------------------------------------------


async def tried_bot(
    monkeypatch: pytest.MonkeyPatch,
    *command: str | Path,
    time_ms: int = 30_000,
    quiet_s: float = 0.3,
) -> tuple[dict[Clause, str], list[Clause]]:
    """Return the failures of a bot, and what was skipped."""
    monkeypatch.setattr(bot_check, "QUIET_S", quiet_s)
    monkeypatch.setattr(bot_check, "LATE_MS", 500)
    report = Report("bot")
    text = " ".join(shlex.quote(str(part)) for part in command)
    await BotCheck(text, time_ms, report).run(load_lexicon(), standard_rules())
    skipped = [clause for clause, it in report.results().items() if it.verdict == "skipped"]
    return failures(report), skipped


async def test_the_bot_of_the_broken_ones_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await tried_bot(monkeypatch, sys.executable, BROKEN, "{url}", "no fault") == ({}, [])


@pytest.mark.parametrize("bot", ["tiny_bot.py", "minimal_bot.py", "javascript/bot.mjs"])
async def test_the_examples_pass(bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tmp_path / "words.txt"
    words.write_text(FEW, encoding="utf-8")
    command = node() if bot.endswith(".mjs") else [sys.executable]
    told = ["--opponent", "greedy"] if bot == "minimal_bot.py" else ["greedy", words]
    path = REPOSITORY / "examples" / bot
    failed, skipped = await tried_bot(monkeypatch, *command, path, "{url}", *told)
    assert not failed
    assert skipped == ([] if bot == "minimal_bot.py" else [Clause.BOT_NONCES])


@pytest.mark.parametrize(
    ("fault", "clause", "words"),
    [
        ("binary frames", Clause.BOT_FRAMES, "text frames"),
        ("knows all fields", Clause.BOT_FIELDS, "what is x_check?"),
        ("knows all types", Clause.BOT_TYPES, "what is x_check?"),
        ("no pong", Clause.BOT_PINGS, "pong"),
        ("no hello", Clause.BOT_HELLO, "hello"),
        ("ready twice", Clause.BOT_STATES, "ready"),
        ("wrong seq", Clause.BOT_TURN, "seq"),
        ("same attempt", Clause.BOT_REFUSED, "attempt 2"),
        ("moves in words", Clause.BOT_MOVES, "not a square"),
        ("slow", Clause.BOT_DEADLINE, "lost on time"),
        ("forgets its game", Clause.BOT_RESUMED, "resume"),
        ("talks on", Clause.BOT_OVER, "move"),
        ("another nonce", Clause.BOT_NONCES, "nonce"),
        ("comes back", Clause.BOT_REPLACED, "no new connection"),
        ("numbers as texts", Clause.BOT_MESSAGES, "int"),
    ],
)
async def test_a_broken_bot_fails_its_clause(
    fault: str, clause: Clause, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_check, "PONG_S", 1.0 if fault == "no pong" else 5.0)
    time_ms = 1_000 if fault == "slow" else 30_000
    quiet_s = 1.5 if fault in ("comes back", "talks on") else 0.1
    command = sys.executable, BROKEN, "{url}", fault
    failed, _ = await tried_bot(monkeypatch, *command, time_ms=time_ms, quiet_s=quiet_s)
    assert words in failed[clause], failed
