"""An engine's process and its guard: what it says, what it may have, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from engine_games import EngineGames, marked

from bot.seat import containment
from bot.seat.child_process import Limits
from bot.seat.runtime import loop_factory
from harness.seats.engines.process import EngineFailed, EngineProcess

pytestmark = pytest.mark.usefixtures("games")


async def started(code: str, *arguments: str, **options: object) -> EngineProcess:
    """Start a program of a few lines."""
    command = [sys.executable, "-I", "-S", "-c", code, *arguments]
    return await EngineProcess.start(command, name="it", **options)  # type: ignore[arg-type]


async def introduced(games: EngineGames, **told: object) -> EngineProcess:
    """Start a stand-in, and wait until it has introduced itself."""
    it = await EngineProcess.start(games.command(**told), name="it")
    it.send("siu")
    await it.wait_for(lambda line: line == "siuok" or None, 10, "said siuok")
    return it


async def test_lines_go_both_ways_and_are_kept_as_evidence() -> None:
    echo = "import sys\nfor line in sys.stdin: print('you said', line, end='', flush=True)"
    it = await started(echo)
    it.send("good morning")
    assert await it.line() == "you said good morning"
    it.send("x" * 1_000)
    assert await it.wait_for(lambda line: len(line) if "x" in line else None, 10, "said x") == 1_009
    assert it.returncode is None
    assert "still running" in it.evidence()
    await it.kill()
    await it.kill()
    evidence = it.evidence()
    assert "was ended by SIGKILL" in evidence
    assert "> good morning\n< you said good morning\n> xxx" in evidence
    assert len(evidence) < 2_000


@pytest.mark.parametrize("loops", [None, loop_factory()], ids=["asyncio", "ours"])
def test_who_closes_its_output_and_lives_on_is_told_at_once(loops: Any) -> None:
    async def told() -> None:
        it = await started("import os, time; os.close(1); time.sleep(60)")
        with pytest.raises(EngineFailed, match="closed its output"):
            await it.wait_for(lambda _: None, 20, "said anything")
        await it.kill()

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(told())


async def test_an_engine_sees_nothing_that_is_hidden(tmp_path: Path) -> None:
    if not containment.containment().apart:
        pytest.skip("this system has no namespaces for us")
    journal, words, nothing = (tmp_path / name for name in ("games.db", "words", "nothing"))
    for file in (journal, words):
        file.write_text(file.name)
    prints = "import sys\nfor name in sys.argv[1:]: print(repr(open(name).read()), flush=True)"
    it = await started(prints, str(journal), str(words), hidden=(journal, nothing))
    assert [await it.line(), await it.line()] == ["''", "'words'"]
    await it.kill()


async def test_its_end_is_told_with_its_last_words() -> None:
    it = await started("import sys; print('half a li', end=''); sys.exit('no table called x')")
    assert await it.line() == "half a li"
    with pytest.raises(EngineFailed, match="it ended with exit status 1: no table called x") as end:
        await it.line()
    assert end.value.code == "crash"
    it.send("what a dead engine is told is lost")
    assert await it.wait() == 1
    await it.kill()


async def test_waiting_has_a_limit() -> None:
    it = await started("import time; print('not yet', flush=True); time.sleep(60)")
    with pytest.raises(EngineFailed, match=r"it has not said hello in 0\.1 s") as end:
        await it.wait_for(lambda line: True if line == "hello" else None, 0.1, "said hello")
    assert end.value.code == "stall"
    await it.kill()


async def test_what_prints_without_end_keeps_nobody_waiting() -> None:
    it = await started("while True: print('and so on')")
    with pytest.raises(EngineFailed, match=r"has not said anything else in 0\.2 s"):
        await it.wait_for(
            lambda line: None if line == "and so on" else line, 0.2, "said anything else"
        )
    await it.kill()


async def test_what_can_not_be_started(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for program, why in (("no-such-engine", "is not there"), (str(plain), "may not be run")):
        with pytest.raises(EngineFailed, match=f"it can't be started: {program} {why}"):
            await EngineProcess.start([program], name="it")
    plain.chmod(0o755)
    it = await EngineProcess.start([str(plain)], name="it")
    with pytest.raises(EngineFailed, match=r"exit status 127: .*plain can't be run: Exec format"):
        await it.line()
    await it.kill()


async def test_its_folder_environment_and_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "open sesame")
    code = (
        "import os, resource\n"
        "print(os.getcwd(), os.environ['COLOUR'], os.environ.get('PGPASSWORD'), end=' ')\n"
        "print(len(os.sched_getaffinity(0)))\n"
        "print(resource.getrlimit(resource.RLIMIT_AS)[0] >> 20)\n"
        "bytes(1 << 30)\n"
    )
    it = await started(
        code, folder=tmp_path, environment={"COLOUR": "red"}, limits=Limits(512, cores=1)
    )
    assert await it.line() == f"{tmp_path} red None 1"
    assert await it.line() == "512"
    with pytest.raises(EngineFailed, match="MemoryError"):
        await it.line()
    await it.kill()
    for limits in ((1, 0), (0, -1)):
        with pytest.raises(ValueError, match=r"MiB|cores"):
            Limits(*limits)


async def test_engines_beside_each_other_get_different_cores() -> None:
    code = "print(*__import__('os').sched_getaffinity(0), flush=True); input()"
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core")
    long = await started(code, limits=Limits(cores=1))
    taken = await long.line()
    for _ in os.sched_getaffinity(0):  # the other's turns, a process each
        short = await started(code, limits=Limits(cores=1))
        assert await short.line() != taken
        await short.kill()
    await long.kill()


async def test_a_start_that_fails_leaves_nothing_open() -> None:
    await (await started("")).kill()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with pytest.raises(ValueError, match="null byte"):
        await started("", "\0")
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


async def test_all_that_it_started_ends_with_it(games: EngineGames) -> None:
    it = await introduced(games, fault="children+deaf")
    apart = containment.containment().apart  # then there is the first process of its world
    await games.until_there_are(4 + apart)  # the guard, the engine, and two that it started
    await it.kill()
    assert games.left() == []


async def test_it_may_end_by_itself_or_is_made_to(games: EngineGames) -> None:
    for fault, status in (("", 0), ("stays+deaf", -signal.SIGKILL)):
        it = await EngineProcess.start(games.command(fault=fault), name="it")
        await it.quit("quit", 0.5 if fault else 30)
        assert it.returncode == status
        assert games.left() == []


async def test_a_guard_that_is_stopped_does_its_work_all_the_same(games: EngineGames) -> None:
    it = await introduced(games, fault="children")
    # The first process of its world has the guard's command line, too.
    guard = min(pid for pid, line in marked(games.mark).items() if "import guard" in line)
    os.kill(guard, signal.SIGSTOP)
    async with asyncio.timeout(20):  # what it started holds its output, and lasts a minute
        await it.kill()
    assert games.left() == []


@pytest.mark.parametrize("apart", [True, False])
async def test_an_engine_that_kills_its_guard_leaves_nothing(
    games: EngineGames, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not apart:
        nothing = containment.Containment(False, "as on other systems")
        monkeypatch.setattr(containment, "containment", lambda: nothing)
    it = await EngineProcess.start(games.command(fault="children+parricide"), name="it")
    it.send("siu")  # in a world apart its guard is out of its reach
    with suppress(EngineFailed):  # it may end at once, and its children keep its output open
        await it.until(lambda line: line, 1)
    await it.kill()
    assert games.left() == []
