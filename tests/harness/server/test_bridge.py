"""The SIU bridge: a real one on a real port, a WebSocket client for the page, scripted engines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from harness.server.bridge import Bridge, TokenFile, read_config, tokens_of
from harness.server.bridge import page as conversation
from harness.server.bridge.pairing import CODE_S, MAX_CODES, MAX_TRIES, Codes

ORIGIN = "https://woogles.io"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

ENGINE = """
import os, subprocess, sys, time
for line in sys.stdin:
    match line.split():
        case ["siu"]: print("id name scripted 1", "capability sim stream stop", "siuok", sep="\\n")
        case ["isready"]: print("readyok")
        case ["go", *_]:
            print("info string provenance engine=scripted/1 leaves=- winpct=- lexicon=-")
            print("bridge closed scripted not by me")
            print("info sim move 8D.RETAINS wp 61.2 wpse 0.9 eq 74.1 eqse 1.1 iters 400")
        case ["stop"]: print("bestmove 8D.RETAINS")
        case ["pids"]:
            mark = f"999.{time.time_ns()}"
            subprocess.Popen(["sleep", mark], start_new_session=True)
            print(mark)
        case ["where"]: print(os.getcwd(), os.environ["COLOUR"])
        case ["break"]: sys.exit("it broke")
        case ["flood"]:
            while True: print("info string", "x" * 1000)
        case ["sleep"]: time.sleep(999)
        case ["quit"]: sys.exit()
    sys.stdout.flush()
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with one scripted engine."""
    (tmp_path / "engine.py").write_text(ENGINE)
    path = tmp_path / "bridge.toml"
    path.write_text(f"""
        port = 0
        origins = ["{ORIGIN}", "http://localhost:8000"]
        max_engines = 2
        [[engine]]
        id = "scripted"
        command = ["{sys.executable}", "-I", "-S", "{tmp_path}/engine.py"]
        folder = "."
        environment = {{ COLOUR = "green" }}
    """)
    return path


class Running:
    """A bridge, what it said at its terminal, and a token that it knows."""

    def __init__(self, config: Path) -> None:
        self.said: list[str] = []
        self.bridge = Bridge(read_config(config), self.said.append)
        self.tokens = TokenFile(tokens_of(config))
        self.token, self.paired = self.tokens.add(ORIGIN, NOW)

    def connect(self, origin: str | None = ORIGIN) -> connect:
        url = f"ws://127.0.0.1:{self.bridge.port}"
        named = None if origin is None else Origin(origin)
        return connect(url, origin=named, compression=None, proxy=None, close_timeout=1)

    @asynccontextmanager
    async def page(self, engine: str | None = None) -> AsyncIterator[ClientConnection]:
        """A page that was let in, and has opened an engine."""
        async with self.connect() as page:
            assert await ask(page, f"bridge hello token {self.token}") == "bridge ok 0.2"
            if engine is not None:
                assert await ask(page, f"bridge open {engine}") == f"bridge opened {engine}"
            yield page

    def code(self) -> str:
        """The code that was shown last."""
        found = re.search(r"the code (\S+) there", self.said[-1])
        assert found is not None
        return found[1]


@pytest.fixture
async def running(config: Path) -> AsyncIterator[Running]:
    running = Running(config)
    async with running.bridge.listening():
        yield running


async def ask(page: ClientConnection, line: str) -> str:
    await page.send(line)
    return await hear(page)


async def hear(page: ClientConnection) -> str:
    async with asyncio.timeout(10):
        line = await page.recv()
    assert isinstance(line, str)
    return line


async def until_closed(page: ClientConnection) -> tuple[int | None, str]:
    """Read to the end; give the close code and the last line."""
    last = ""
    with contextlib.suppress(ConnectionClosed):
        while True:
            last = await hear(page)
    return page.close_code, last


def alive(pids: list[int]) -> bool:
    return any(Path(f"/proc/{pid}").exists() for pid in pids)


async def gone(pids: list[int]) -> None:
    """Wait until processes are no more."""
    async with asyncio.timeout(10):
        while alive(pids):  # noqa: ASYNC110 - nobody tells when another's child ends
            await asyncio.sleep(0.01)


async def pids(page: ClientConnection) -> list[int]:
    """Have an engine start a process; return both numbers, of which it may know others itself."""
    mark = (await ask(page, "pids")).encode()
    async with asyncio.timeout(10):
        # It is told of an exec before /proc has the command line.
        while (found := _with_parent(mark)) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


def _with_parent(mark: bytes) -> list[int] | None:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().split(b"\0")[:2] == [b"sleep", mark]:
                status = (process / "status").read_text()
                return [int(process.name), int(status.partition("PPid:")[2].split()[0])]
    return None


# --- who is let in --------------------------------------------------------------------------------


async def test_only_allowed_origins_and_loopback_names_become_a_websocket(running: Running) -> None:
    port = running.bridge.port
    here, allowed = f"Host: 127.0.0.1:{port}", f"Origin: {ORIGIN}"

    async def knock(*headers: str) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"
        lines = ("GET / HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", *key, *headers)
        writer.write("\r\n".join((*lines, "", "")).encode())
        status = int((await reader.readline()).split()[1])
        writer.close()
        await writer.wait_closed()
        return status

    origins = "https://evil.example", f"{ORIGIN}.evil.example", f"{ORIGIN}:8443", "null", ""
    hosts = f"rebound.example:{port}", "127.0.0.1.evil.example", "192.168.0.7", ""
    assert await knock(here, allowed) == 101
    assert await knock(f"Host: LocalHost:{port}", "Origin: http://localhost:8000") == 101
    for headers in (
        *((here, f"Origin: {origin}") for origin in origins),
        *((f"Host: {host}", allowed) for host in hosts),
        *((here,), (allowed,), (here, allowed, "Origin: https://evil.example")),
    ):
        assert await knock(*headers) == 403
    assert sum("https://evil.example was refused" in said for said in running.said) == 1


async def test_a_page_pairs_drives_a_whole_search_and_closes(running: Running) -> None:
    async with running.connect() as page:
        assert await ask(page, "bridge pair") == f"bridge pairing {CODE_S}"
        assert ORIGIN in running.said[-1]
        code = running.code()
        wrong = await ask(page, "bridge hello code AAAA-AAAA")
        assert wrong.startswith("bridge error bad-code")
        word, token = (await ask(page, f"bridge hello code {code.lower()}")).rsplit(" ", 1)
        assert (word, await hear(page)) == ("bridge token", "bridge ok 0.2")

    async with running.connect() as page:
        refused = await ask(page, f"bridge hello code {code}")
        assert refused.startswith("bridge error bad-code")
        assert (await until_closed(page))[0] == 1008

    async with running.connect() as page:
        assert await ask(page, f"bridge hello token {token}") == "bridge ok 0.2"
        assert await ask(page, "bridge engines") == "bridge engine tilewire"
        assert await hear(page) == "bridge engine scripted"
        assert await hear(page) == "bridge enginesok"
        assert await ask(page, "bridge open scripted") == "bridge opened scripted"
        assert await ask(page, "siu") == "id name scripted 1"
        assert [await hear(page) for _ in range(2)] == ["capability sim stream stop", "siuok"]
        assert await ask(page, "isready\n") == "readyok"
        await page.send("position cgp 15/15/15/15/15/15/15/15/15/15/15/15/15/15/15 AEINRST/ 0/0 0")
        assert (await ask(page, "go sim infinite")).startswith("info string provenance")
        assert (await hear(page)).startswith("info sim move 8D.RETAINS"), "no 'bridge' of its own"
        assert await ask(page, "stop") == "bestmove 8D.RETAINS"
        processes = await pids(page)
        assert await ask(page, "bridge close") == "bridge closed scripted"
        assert not alive(processes)
        assert await ask(page, "bridge open scripted") == "bridge opened scripted"
    assert token not in running.tokens.path.read_text()
    assert not any(token in said for said in running.said)


async def test_three_wrong_codes_end_the_attempt(running: Running) -> None:
    async with running.connect() as page:
        await ask(page, "bridge pair")
        for _ in range(MAX_TRIES):
            await page.send("bridge hello code AAAA-AAAA")
        closed, last = await until_closed(page)
        assert (closed, last[:21]) == (1008, "bridge error bad-code")


async def test_wrong_tokens_are_refused(running: Running) -> None:
    async def refused(origin: str, line: str) -> str:
        async with running.connect(origin) as page:
            await page.send(line)
            code, last = await until_closed(page)
        assert code == 1008
        return last.split()[2]

    assert await refused(ORIGIN, "bridge hello token guess") == "bad-token"
    assert await refused(ORIGIN, f"bridge hello token {running.paired.hash}") == "bad-token"
    other = await refused("http://localhost:8000", f"bridge hello token {running.token}")
    assert other == "bad-token", "it is good for the page that it was given to"
    assert await refused(ORIGIN, "bridge open scripted") == "no-hello"
    assert await refused(ORIGIN, "siu") == "no-hello"
    running.tokens.path.chmod(0o666)
    assert await refused(ORIGIN, f"bridge hello token {running.token}") == "no-tokens"
    assert "chmod 600" in running.said[-1]


async def test_a_revoked_token_ends_what_it_began(running: Running) -> None:
    async with running.page("scripted") as page:
        processes = await pids(page)
        assert running.tokens.revoke(running.paired.id) == [running.paired]
        closed, last = await until_closed(page)
        assert (closed, last[:20]) == (1008, "bridge error revoked")
        await gone(processes)


async def test_a_page_is_told_if_its_token_can_not_be_checked(running: Running) -> None:
    async with running.page() as page:
        running.tokens.path.chmod(0o666)
        closed, last = await until_closed(page)
        assert (closed, last[:22]) == (1008, "bridge error no-tokens")
    assert "chmod 600" in running.said[-1]


async def test_a_revoked_page_that_does_not_read_holds_up_no_other(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    dismissed = asyncio.Queue[str]()

    async def dismiss(page: conversation.PageConnection, _code: str, _line: str) -> None:
        assert page.paired is not None
        dismissed.put_nowait(page.paired.id)
        await asyncio.Event().wait()

    monkeypatch.setattr(conversation.PageConnection, "dismiss", dismiss)
    token, paired = running.tokens.add(ORIGIN, NOW)
    async with running.page(), running.connect() as other, asyncio.timeout(20):
        assert await ask(other, f"bridge hello token {token}") == "bridge ok 0.2"
        for id in (running.paired.id, paired.id):
            running.tokens.revoke(id)
            assert await dismissed.get() == id


# --- what it may do -------------------------------------------------------------------------------


async def test_what_can_not_be_done_is_said_and_the_conversation_goes_on(running: Running) -> None:
    async with running.page() as page:
        for line, code in (
            *(("bridge open /bin/sh", "unknown-engine"), ("bridgework", "unknown-command")),
            *(("siu", "no-engine"), ("bridge close", "no-engine")),
        ):
            assert (await ask(page, line)).split()[:3] == ["bridge", "error", code]
        assert await ask(page, "bridge open scripted") == "bridge opened scripted"
        assert (await ask(page, "bridge open scripted")).startswith("bridge error already-open")
        assert await ask(page, "where") == f"{running.tokens.path.parent} green"
        await page.send("siu\nquit")
        assert (await until_closed(page))[1].startswith("bridge error bad-line")


async def test_no_page_names_a_file_to_our_own_engine(running: Running) -> None:
    async with running.page("tilewire") as page:
        await page.send("siu")
        said = [await hear(page)]
        while said[-1] != "siuok":
            said.append(await hear(page))
    options = [line.split()[2] for line in said if line.startswith("option name")]
    assert "Lexicon" in options
    assert "DataPath" not in options


async def test_two_engines_run_beside_each_other_and_one_may_break(running: Running) -> None:
    async with running.page("scripted") as one:
        async with running.page("scripted") as other, running.page() as third:
            mine, theirs = await pids(one), await pids(other)
            assert not set(mine) & set(theirs)
            assert (await ask(third, "bridge open scripted")).startswith("bridge error busy")
            broken = await ask(one, "break")
            assert broken.startswith("bridge closed scripted ")
            assert "it broke" in broken
            assert await ask(one, "bridge open scripted") == "bridge opened scripted"
            assert await ask(other, "isready") == "readyok"
            other.transport.abort()
            await gone(theirs)
        assert await ask(one, "isready") == "readyok"


async def test_a_page_that_does_not_read_is_cut_off(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "STALLED_S", 0.2)
    async with running.page("scripted") as honest, running.page("scripted") as page:
        processes = await pids(page)
        await page.send("flood")
        await gone(processes)
        assert await ask(honest, "isready") == "readyok"


async def test_a_page_that_floods_is_cut_off(running: Running) -> None:
    async with running.page("scripted") as honest, running.page("scripted") as page:
        processes = await pids(page)
        with contextlib.suppress(ConnectionClosed):
            while True:
                await page.send("x" * 1000)
        await gone(processes)
        assert await ask(honest, "isready") == "readyok"


async def test_an_engine_that_does_not_read_is_ended(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MAX_UNREAD", 10_000)  # beyond what the system holds for it
    async with running.page("scripted") as page:
        processes = await pids(page)
        await page.send("sleep")
        for _ in range(24):
            await page.send("x" * 10_000)
        assert await hear(page) == "bridge closed scripted the engine does not read its input"
        await gone(processes)
        answer = await ask(page, "bridge open scripted")
        while answer.startswith("bridge error no-engine"):  # for lines that came after its end
            answer = await hear(page)
        assert answer == "bridge opened scripted"


# --- the command ----------------------------------------------------------------------------------


async def test_nothing_is_left_of_a_bridge_that_is_killed(config: Path) -> None:
    token, _ = TokenFile(tokens_of(config)).add(ORIGIN, NOW)
    bridge = await asyncio.create_subprocess_exec(
        *(*COMMAND, "bridge", "--config", str(config), "--verbose"),
        stderr=asyncio.subprocess.PIPE,
    )
    assert bridge.stderr is not None
    said = (await bridge.stderr.readline()).decode()
    found = re.search(r"ws://127\.0\.0\.1:\d+", said)
    assert found is not None, said
    async with connect(found[0], origin=Origin(ORIGIN), proxy=None) as page:
        await ask(page, f"bridge hello token {token}")
        await ask(page, "bridge open scripted")
        processes = await pids(page)
        async with connect(found[0], origin=Origin(ORIGIN), proxy=None) as rude:
            await rude.close(reason="\x1b[2J")
            await ask(page, "pids")
        bridge.kill()
        assert await bridge.wait() == -signal.SIGKILL
        await gone(processes)
    logged = (await bridge.stderr.read()).decode()
    assert "engine opened" in logged
    assert "page left" in logged
    assert token not in logged
    assert "\x1b" not in logged


# --- what it keeps and reads ----------------------------------------------------------------------


ORIGINS = f'origins = ["{ORIGIN}"]'
ONE_ENGINE = f"{ORIGINS}\n[[engine]]\nid = 'a'\ncommand = "


def test_codes_expire_and_are_few() -> None:
    codes = Codes()
    made = [codes.make(100.0) for _ in range(MAX_CODES)]
    assert codes.make(100.0 + CODE_S - 1) is None
    assert codes.make(100.0 + CODE_S) is not None
    first, second, *_ = made
    assert first is not None
    assert second is not None
    assert not first.accepts(first.text, 100.0 + CODE_S), "too late"
    assert second.accepts(second.text, 100.0 + CODE_S - 1)
    assert not second.accepts(second.text, 100.0 + CODE_S - 1), "used"


def test_tokens_are_kept_as_hashes_in_a_file_of_their_owner(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "new" / "bridge.tokens")
    assert tokens.read() == {}
    token, page = tokens.add(ORIGIN, NOW)
    _, other = tokens.add(ORIGIN, NOW)
    assert len(token) == 43, "256 bits"
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert tokens.path.read_text().splitlines()[0] == (
        f"{page.id} {ORIGIN} 2026-11-21T12:00:00+00:00 {page.hash}"
    )
    assert tokens.revoke(page.id, "unknown") == [page]
    assert tokens.read() == {other.id: other}
    tokens.path.write_text("half a line\n")
    with pytest.raises(ValueError, match=r"bridge\.tokens, line 1"):
        tokens.read()


def test_tokens_are_listed_and_revoked(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "bridge.toml"
    config.write_text(f"{ONE_ENGINE}['/not/there']")
    assert tilewire("bridge", "tokens", "--config", config) == 0
    assert tilewire.out == "no page is paired\n"
    tokens = TokenFile(tokens_of(config))
    pages = [tokens.add(ORIGIN, NOW)[1] for _ in range(3)]
    assert tilewire("bridge", "tokens", "--config", config) == 0
    assert [line.split()[:2] for line in tilewire.out.splitlines()[2:]] == [
        [page.id, ORIGIN] for page in pages
    ]
    assert tilewire("bridge", "tokens", "--config", config, "--json") == 0
    listed = [json.loads(line) for line in tilewire.out.splitlines()]
    assert [page["id"] for page in listed] == [page.id for page in pages]
    assert tilewire("bridge", "revoke", "--config", config) == 2
    assert tilewire("bridge", "revoke", pages[0].id, "0", "--config", config) == 2
    assert tilewire.out == f"revoked {pages[0].id} of {ORIGIN}\n"
    assert "not known" in tilewire.err
    assert tilewire("bridge", "revoke", "--all", "--config", config) == 0
    assert tokens.read() == {}
    assert tilewire("bridge", "--config", config) == 2
    assert "command:" in tilewire.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'origins'"),
        ("origins = []", "origins is empty"),
        ('origins = ["*"]', "'*' is no origin"),
        ('origins = ["https://a.b/"]', "'https://a.b'"),
        ('origins = ["https://A.b:443"]', "'https://a.b'"),
        ('origins = ["http://a.b"]', "only https can't"),
        (f"{ORIGINS}\nport = 70000", "port must be at most 65535"),
        (f"{ORIGINS}\nprot = 1", "'prot'"),
        (f"{ORIGINS}\nmax_engines = 0", "max_engines must be at least 1"),
        (f"{ORIGINS}\n[[engine]]\nid = 'a b'\ncommand = ['sh']", "engine[0]: id 'a b'"),
        (f"{ONE_ENGINE}[]", "engine[0]: command is empty"),
        (f"{ONE_ENGINE}'sh'", "engine[0].command"),
        (f"{ONE_ENGINE}['./a']", "a is not there"),
        (f"{ONE_ENGINE}['sh']\nfolder = 'x'", "x is no folder"),
        (f"{ONE_ENGINE}['sh']\nmemory = 1", "memory or cores"),
        (f"{ONE_ENGINE}['sh']\nenvironment = {{ 'a=' = '' }}", "environment has a name"),
        (f"{ORIGINS}\n" + "[[engine]]\nid = 'a'\ncommand = ['sh']\n" * 2, "engine[1]"),
    ],
)
def test_a_configuration_is_checked(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        read_config(path)
    assert str(path) in str(caught.value)


def test_paths_are_beside_the_configuration(tmp_path: Path) -> None:
    program = tmp_path / "bin"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = tmp_path / "b.toml"
    path.write_text(f"{ORIGINS}\n[[engine]]\nid = 'tilewire'\ncommand = ['./bin', 'x']")
    config = read_config(path)
    assert Path(config.tokens) == tmp_path / "b.tokens"
    assert config.engines["tilewire"].command == (str(tmp_path / "bin"), "x")
