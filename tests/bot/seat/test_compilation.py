"""Compiling before the clock: each kernel once, whoever asks for it, and nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.seat.compilation import StepProgress, compile_kernels
from lexicons.kernel_cache import compiling, forget_folders, kernels_of

MODULES = "lexicons.cells", "lexicons.search_graph"
STEP = f"""
from bot.seat.compilation import compile_kernels
compile_kernels({MODULES!r}, lambda step: print(*step, flush=True), print)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TILEWIRE_CACHE", str(tmp_path / "cache"))
    forget_folders()
    yield tmp_path / "cache"
    forget_folders()


def begin() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", STEP], stdout=subprocess.PIPE, text=True)


def steps(process: subprocess.Popen[str]) -> list[list[str]]:
    """Return the lines of a step: ready, total, share, compiled here, waits for."""
    told, _ = process.communicate()
    return [line.split() for line in told.splitlines()]


def test_what_is_missing_is_compiled_and_told_and_then_nothing_is() -> None:
    told: list[StepProgress] = []
    kernels = kernels_of(MODULES)
    assert not any(kernel.is_kept for kernel in kernels)
    compile_kernels(MODULES, told.append, pytest.fail)
    assert all(kernel.is_kept for kernel in kernels)
    assert [step.ready for step in told] == list(range(len(kernels) + 1))
    assert told[-1] == StepProgress(len(kernels), len(kernels), 1.0, len(kernels))
    compile_kernels(MODULES, lambda step: pytest.fail(f"nothing is missing: {step}"), pytest.fail)


def test_one_is_killed_and_what_it_compiled_stays() -> None:
    """The other one compiles only the rest."""
    killed = begin()
    assert killed.stdout is not None
    killed.stdout.readline()
    killed.stdout.readline()  # one is ready
    other = begin()
    killed.send_signal(signal.SIGKILL)
    rest, _ = killed.communicate()
    done = 1 + len(rest.splitlines())
    (*_, last) = steps(other)
    total = len(kernels_of(MODULES))
    assert last[0] == str(total)
    assert 0 < int(last[3]) <= total - done
    assert all(kernel.is_kept for kernel in kernels_of(MODULES))


def test_a_kernel_that_another_process_compiles_is_waited_for() -> None:
    (kernel,) = kernels_of(["lexicons.search_graph"])
    assert kernel.file is not None
    with compiling(kernel.file):
        waiting = begin()
        assert waiting.stdout is not None
        told = ""
        while kernel.name not in told:  # all others are ready
            told = waiting.stdout.readline()
        assert not kernel.is_kept
    (*_, last) = steps(waiting)
    assert last[0] == last[1] == last[3]


@pytest.mark.parametrize("why", ["a file is there", "read-only", "others may write"])
def test_a_cache_that_cannot_be_used_is_named_and_another_is_used(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "a file is there":
        own_cache.write_text("")
    elif why == "read-only":
        monkeypatch.setattr("os.access", lambda *_: False)  # root may write all
    else:
        (own_cache / "kernels").mkdir(parents=True)
        (own_cache / "kernels").chmod(0o777)
    said: list[str] = []
    monkeypatch.setattr("bot.seat.compilation.kernels_of", lambda _: [])
    compile_kernels(MODULES, lambda _: None, said.append)
    (sentence,) = said
    assert str(own_cache) in sentence
    assert os.environ["TILEWIRE_CACHE"] != str(own_cache)
