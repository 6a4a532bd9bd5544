"""The host's side of containment: limits of other people's processes, and what a system allows.

A process then confines itself by ``confinement.py``.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bot.registry import SeatError, SeatSpec
from lexicons.cache import user_cache

from . import guard, syscalls
from .confinement import Confinement
from .runtime import PACKAGES, ROOT

if TYPE_CHECKING:
    from bot.equipment import Equipment

MEMORY = "TILEWIRE_BOT_MEMORY"
"""Environment variable: MiB of address space of each process of a bot; 0: unlimited."""

MEMORY_MB = 4_096
"""The default."""

LEAST_MEMORY_MB = 512
"""With less memory our libraries can't be loaded."""

PROCESSES = 400
"""Processes and threads of a bot at once."""

FILES = 1_024
"""Open files of each process of a bot."""

INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "PYTHON*"),  # to find programs, libraries and modules
    *("HOME", "USER", "LOGNAME", "TMPDIR"),  # programs look for their files there
    *("LANG", "LANGUAGE", "LC_*", "TZ"),  # how to read and write text and times
    *("TILEWIRE_CACHE", "XDG_CACHE_HOME", "TILEWIRE_BOUNDSCHECK", "NUMBA_*"),  # compiled kernels
    *("OMP_*", "OPENBLAS_*", "MKL_*", "CUDA_*"),  # threads and devices of numerical libraries
    "COVERAGE_*",  # our tests measure our part of a bot's process
)
"""The environment variables that bots and engines inherit; ``*`` stands for any ending. Others may
be secrets of the host: passwords of databases, tokens, keys of a cloud."""

_TRIAL_S = 20.0


@dataclass(frozen=True)
class Containment:
    """How this system contains other people's processes."""

    apart: bool
    """Whether they have their own namespaces: they can't reach the host, and none is left over."""
    why_not: str = ""
    """Why they don't have them; if they do, it means nothing."""
    filtered: bool = True
    """Whether bots are denied the system calls that no bot needs."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lacking."""
        return self.apart and self.filtered

    def __str__(self) -> str:
        if self.is_whole:
            return "bots and engines run in namespaces of their own"
        if self.apart:
            return (
                "bots and engines run in namespaces of their own, but system calls can't be "
                f"filtered on this machine ({platform.machine()}): bots may use the user's keys "
                "(docs/containment.md)"
            )
        return (
            f"this system does not allow namespaces ({self.why_not}): bots and engines have "
            "limits, but can read and kill whatever this user can (docs/containment.md)"
        )


@cache
def containment() -> Containment:
    """Find out by a trial, once per process, what this system allows."""
    if sys.platform != "linux":
        return Containment(False, "there are no namespaces but on Linux", filtered=False)
    lifeline, ours = os.pipe()
    filtered = syscalls.can_filter()
    trial = Confinement(apart=True, reads=_python(), copies=_cache_folder(), filtered=filtered)
    command = guard_command(lifeline, trial, [sys.executable, "-I", "-S", "-c", ""])
    try:
        done = subprocess.run(
            command, pass_fds=[lifeline], capture_output=True, timeout=_TRIAL_S, check=False
        )
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why_not = said[-1] if said else f"a trial ended with status {done.returncode}"
        return Containment(done.returncode == 0, why_not.removeprefix(guard.CANT), filtered)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Containment(False, str(error), filtered)
    finally:
        os.close(lifeline)
        os.close(ours)


def guard_command(lifeline: int, confinement: Confinement, command: list[str]) -> list[str]:
    """Return the command line of a guard around a command."""
    told = json.dumps(confinement._asdict())
    python = [sys.executable, "-I", "-S", "-c", guard.START, str(ROOT)]
    return [*python, str(lifeline), told, *command]


def environment() -> dict[str, str]:
    """Return the environment variables that bots and engines inherit from this process."""
    return {
        name: value
        for name, value in os.environ.items()
        if any(fnmatchcase(name, pattern) for pattern in INHERITED)
    }


@cache
def shield() -> None:
    """Hide this process's memory from the user's other processes; adopt what a guard leaves."""
    syscalls.hide_memory()
    syscalls.adopt_orphans()


def of_bot(spec: SeatSpec, equipment: Equipment, hidden: Sequence[Path] = ()) -> Confinement:
    """Return the confinement of a user's bot; SeatError if ``MEMORY`` has an invalid value.

    It does not see the files and folders that are ``hidden``.
    """
    memory = os.environ.get(MEMORY, str(MEMORY_MB))
    if not memory.isdecimal() or 0 < int(memory) < LEAST_MEMORY_MB:
        raise SeatError(
            f"{MEMORY} is {memory!r}; it is the MiB of memory of each process of a bot, "
            f"{LEAST_MEMORY_MB} or more, or 0 for no limit"
        )
    return of_reader(equipment, hidden=hidden)._replace(
        memory_mb=int(memory),
        network=spec.has_network,
        own=sorted(map(str, _own_folders(spec))),
    )


def of_reader(*equipments: Equipment, hidden: Sequence[Path] = ()) -> Confinement:
    """Return the confinement of a process of ours that reads strangers' files.

    It sees the files of the equipments, and nothing that is ``hidden``.
    """
    files = {str(file.absolute()) for each in equipments for file in _files_of(each)}
    return Confinement(
        memory_mb=MEMORY_MB,
        processes=PROCESSES,
        files=FILES,
        apart=containment().apart,
        reads=[*_python(), *sorted(files)],
        copies=_cache_folder(),
        hidden=_absolute(hidden),
        filtered=containment().filtered,
    )


def _files_of(equipment: Equipment) -> Iterator[Path]:
    """Yield the files that an equipment names, and those that its rule set names."""
    rules = Path(equipment.rules)
    named = [equipment.lexicon, equipment.leaves, equipment.win_probabilities, rules]
    with suppress(OSError, ValueError, RecursionError):  # embedded, or no good, as the worker says
        told = tomllib.loads(rules.read_text(encoding="utf-8"))
        named += [rules.parent / str(told[key]) for key in ("tiles", "board") if key in told]
    yield from (Path(name) for name in named if name and Path(name).is_file())


def of_engine(hidden: Sequence[Path] = ()) -> Confinement:
    """Return the confinement of an engine: it sees what we see, except ``hidden`` files."""
    return Confinement(apart=containment().apart, network=True, hidden=_absolute(hidden))


def _absolute(paths: Sequence[Path]) -> list[str]:
    return [str(path.absolute()) for path in paths]


def _python() -> list[str]:
    """List the folders that a Python program reads, those of our packages included."""
    folders = {Path(text) for text in sys.path} - {ROOT, Path.cwd()}
    folders |= {ROOT / package for package in PACKAGES}
    folders |= {Path(sys.prefix), Path(sys.base_prefix)}
    return sorted(str(folder) for folder in folders if folder.is_absolute() and folder.is_dir())


def _cache_folder() -> list[str]:
    folder = user_cache()
    return [str(folder)] if folder.is_dir() else []


def _own_folders(spec: SeatSpec) -> Iterator[Path]:
    """Yield the folders that a bot's code is loaded from."""
    if spec.module.endswith(".py"):
        yield Path(spec.module).parent
        return
    found = find_spec(spec.module.partition(".")[0])
    if found is None:
        yield Path.cwd()
    elif found.submodule_search_locations:
        yield from (Path(folder).absolute() for folder in found.submodule_search_locations)
    elif found.origin:
        yield Path(found.origin).parent
