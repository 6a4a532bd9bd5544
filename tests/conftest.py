"""What holds for all tests: checked kernels, and who runs beside whom in ``pytest -n``.

With ``-n`` a file's tests stay together, in one process, and so do all tests whose clocks are real:
these run first, one after another, before the others for the processor. Tests that start processes
and wait for what they have done are a second such chain, beside the first. Both wait half of the
time, so ``make test`` has one process more than it needs cores.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest
from cyclopts import App
from hypothesis import HealthCheck, settings
from rich.console import Console

# Set before anything of ours is imported: kernels check their array bounds under test.
os.environ.setdefault("TILEWIRE_BOUNDSCHECK", "1")

# No example has a time: the machine may be busy, and the first one may compile.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # by nohup; our processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":  # which has the real clocks
    os.nice(10)

# An App of cyclopts keeps its console, and with it the width that an earlier test asked for.
App.console = property(lambda _: Console())  # type: ignore[assignment]

REAL_CLOCKS = (
    "tests/compatibility/",
    "tests/e2e/",
    "tests/bot/seat/test_runner.py",
    "tests/bot/seat/test_worker.py",
    "tests/harness/seats/engines/",
    "tests/harness/arbiter/test_bad_peers.py",
    "tests/harness/server/test_bridge.py",
    "tests/harness/cli/test_cli_train.py",
    "tests/harness/arbiter/test_hosting.py",
    "tests/harness/seats/test_seats.py",
    "tests/harness/test_workers",
)
"""How the names of files begin whose tests set deadlines, or kill processes in mid-work."""

PATIENT = tuple(
    f"tests/e2e/test_{name}.py"
    for name in ("entry", "own_screen_page", "page", "puzzles_page", "report_page")
)
"""Files among them whose tests look at a page, and wait for it as long as it takes.

``test_review_page`` is none of them: processes that analyse run where a core is idle, and beside
tests that come first none is.
"""

CHAINS = "real clocks", "processes"

PROCESSES = (
    *(f"tests/e2e/test_{name}.py" for name in ("examples", "matches", "privacy", "tables")),
    "tests/compatibility/",
    "tests/harness/cli/test_cli_train.py",
)
"""Files among them whose tests count what processes have done, with a minute or two to spare.

Their processes fill the cores, so no two of these files run side by side.
"""

WARM_UP = """
from rollout_positions import scowl

from bot.seat.compilation import compile_kernels
from lexicons.store import load_lexicon

compile_kernels(
    (
        "bot.players.champion",
        "engine.simulation.selfplay",
        "harness.lab.bench.selfplay",
        "harness.lab.training.leaves",
        "lexicons.build",
        "lexicons.statistics",
    ),
    print,
    print,
)
load_lexicon().word_map
scowl().word_map
"""
"""A program that compiles and builds what several tests need."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the chains, real clocks before the other: they take the longest."""
    items.sort(key=lambda item: (*CHAINS, None).index(_chain(item.nodeid)))


def _chain(nodeid: str) -> str | None:
    """Return which chain a test is in, if in any."""
    if nodeid.startswith(PROCESSES):
        return "processes"
    has_real_clocks = nodeid.startswith(REAL_CLOCKS) and not nodeid.startswith(PATIENT)
    return "real clocks" if has_real_clocks else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Have what is compiled and built once for a machine there before two processes ask for it."""
    root = config.rootpath
    paths = os.pathsep.join(map(str, (root, root / "tests")))
    environment = os.environ | {"PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", WARM_UP], cwd=root, env=environment, check=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, those of a chain as if they were one, in their order."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):  # type: ignore[misc]  # it has no types
        def _split_scope(self, nodeid: str) -> str:
            if (chain := _chain(nodeid)) is not None:
                return chain
            is_of_corpus = nodeid.startswith("tests/corpus/")  # a long file, of parts
            return nodeid.rpartition("/")[0] if is_of_corpus else super()._split_scope(nodeid)

    config.option.loadscopereorder = False  # or files of few tests, however long, would come last
    return Files(config, log)


@pytest.fixture(scope="session", autouse=True)
def _declared_types() -> Iterator[None]:
    """Kernels of ours are called with the types of their annotations, which are compiled first."""
    yield
    from lexicons import jit

    for made in jit._kernels:
        if made.py_func.__module__.partition(".")[0] in jit._OURS:
            declared = jit.types_of(made.py_func)
            assert set(made.signatures) <= {declared}, made.py_func.__qualname__


@pytest.fixture(scope="session", autouse=True)
def _state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What bots keep to come back to their games is not kept in the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


# --- journals in both databases -------------------------------------------------------------------


@pytest.fixture(scope="session")
def cluster() -> Iterator[postgres.Cluster]:
    """A PostgreSQL of this process's own; tests that ask for it are skipped where there is none."""
    if postgres.programs() is None:
        pytest.skip(postgres.MISSING)
    with postgres.cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The address of a journal that isn't there yet, in either database."""
    if request.param == "sqlite":
        return tmp_path / "games.db"
    cluster: postgres.Cluster = request.getfixturevalue("cluster")
    return cluster.database()
