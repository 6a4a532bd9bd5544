from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lexicons.build
import lexicons.cells
from lexicons import jit
from lexicons.jit import freeze, helper, kernel, on_warm_up, warm_up


@helper
def _square(value: int) -> int:
    return value * value


@kernel
def _sum_of_squares(values: Any) -> int:
    """Add up squares."""
    total: int = 0
    for value in values:
        total += _square(value)
    return total


def _run(script: str, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


def test_importing_the_package_does_not_import_numba() -> None:
    assert _run("import sys, lexicons; print('numba' in sys.modules)") == "False"


def test_a_kernel_computes_and_keeps_its_name() -> None:
    assert _sum_of_squares(np.arange(4)) == 14
    assert _sum_of_squares.__doc__ == "Add up squares."


def test_freezing_refuses_new_types_until_it_is_undone() -> None:
    _sum_of_squares(np.arange(4))
    freeze()
    try:
        assert _sum_of_squares(np.arange(3)) == 5
        with pytest.raises((RuntimeError, TypeError), match=r"disabled|No matching definition"):
            _sum_of_squares(np.arange(3, dtype=np.int8))
    finally:
        freeze(False)
    assert _sum_of_squares(np.arange(3, dtype=np.int8)) == 5


def test_warming_up_runs_what_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_warm_ups", [])
    calls: list[str] = []

    @on_warm_up
    def first() -> None:
        calls.append("first")

    @on_warm_up
    def second() -> None:
        calls.append("second")

    warm_up()
    assert calls == ["first", "second"]


def test_the_cache_is_named_by_all_files_of_ours_that_are_imported() -> None:
    source = Path(lexicons.build.__file__)
    found = {path.name for path in jit._with_imports(source)}
    assert {"build.py", "cells.py", "kwg.py", "jit.py", "wordlist.py", "cache.py"} <= found
    assert "store.py" not in found


def test_an_edit_in_an_imported_file_names_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "_ROOT", tmp_path)
    package = tmp_path / "engine" / "parts"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .deep import state\n", encoding="utf-8")
    (package / "deep.py").write_text("import numpy\nfrom .. import state\n", encoding="utf-8")
    state = tmp_path / "engine" / "state.py"
    user = tmp_path / "engine" / "user.py"
    user.write_text("from engine import parts\n", encoding="utf-8")
    names = set()
    for content in ("X = 1\n", "X = 2\n"):
        state.write_text(content, encoding="utf-8")
        jit._cache_directory.cache_clear()
        names.add(jit._cache_directory(user))
    assert len(names) == 2
    assert None not in names


def test_kernels_that_nobody_loaded_for_60_days_are_removed_when_others_are_kept(
    own_cache: Path,
) -> None:
    def directory(module: ModuleType) -> Path:
        jit._cache_directory.cache_clear()
        made = jit._cache_directory(Path(str(module.__file__)))
        assert made is not None
        return made

    long_ago = time.time() - 61 * 86_400
    used = directory(lexicons.build)
    left_over = own_cache / "kernels" / "build-0123"
    left_over.mkdir()
    (left_over / "build.nbi").touch()
    for path in (used, left_over):
        os.utime(path, (long_ago, long_ago))
    assert directory(lexicons.build) == used
    assert left_over.exists(), "nothing new is kept"
    new = directory(lexicons.cells)
    assert set((own_cache / "kernels").iterdir()) == {used, new}


def test_code_is_not_kept_where_others_can_write(own_cache: Path) -> None:
    jit._cache_directory.cache_clear()
    source = Path(lexicons.build.__file__)
    directory = jit._cache_directory(source)
    assert directory is not None
    directory.chmod(0o777)
    jit._cache_directory.cache_clear()
    assert jit._cache_directory(source) is None


@pytest.mark.parametrize("home", [True, False])
def test_kernels_work_where_nothing_can_be_kept(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, home: bool
) -> None:
    own_cache.write_text("a file, where a directory should be", encoding="utf-8")
    if not home:
        monkeypatch.setenv("TILEWIRE_CACHE", "~nobody-of-that-name/cache")
    jit._cache_directory.cache_clear()

    def add_one(value: int) -> int:
        return value + 1

    plus_one = kernel(add_one)
    assert plus_one(2) == 3


def test_indexes_are_checked_on_request(tmp_path: Path) -> None:
    script = tmp_path / "reader.py"
    script.write_text(
        "import numpy as np\n"
        "from lexicons.jit import kernel\n"
        "@kernel\n"
        "def read(values, at):\n"
        "    return values[at]\n"
        "try:\n"
        "    read(np.zeros(2), 2)\n"
        "except IndexError as error:\n"
        "    print('refused')\n",
        encoding="utf-8",
    )
    run = f"import runpy; runpy.run_path({str(script)!r})"
    assert _run(run, TILEWIRE_BOUNDSCHECK="1") == "refused"
    assert _run(run, TILEWIRE_BOUNDSCHECK="1") == "refused"  # from the cache
    names = [path.name for path in (tmp_path / "cache" / "kernels").iterdir()]
    assert len(names) == 1


@pytest.mark.parametrize("line", ["", "ONE = 1\n"], ids=["the same", "another"])
def test_compiling_is_told_of_once_and_loading_is_not(tmp_path: Path, line: str) -> None:
    """A copy of a file elsewhere is loaded, too; one that says something else is not."""
    file, copy = tmp_path / "adder.py", tmp_path / "elsewhere" / "adder.py"
    file.write_text(
        "from lexicons.jit import kernel\n"
        "@kernel\n"
        "def add(one, other):\n"
        "    return one + other\n"
        "@kernel\n"
        "def double(one):\n"
        "    return one + one\n",
        encoding="utf-8",
    )
    copy.parent.mkdir()
    copy.write_text(file.read_text() + line)
    run = (
        "from lexicons.jit import announce_compilation\n"
        "announce_compilation(print)\n"
        "import numba; numba.njit(lambda one: one)(1)\n"
        "print('before')\n"
        "from adder import add, double\n"
        "add(1, 2), add(1.0, 2.0), double(1)\n"
    )
    before, told, *more = _run_beside(file, run).splitlines()
    assert before == "before"
    assert told.startswith("compiling the search kernels (once for each kind of bot")
    assert more == []
    assert _run_beside(file, run) == "before"
    assert _run_beside(copy, run).splitlines() == (["before", told] if line else ["before"])


def _run_beside(file: Path, script: str) -> str:
    return _run(f"import sys; sys.path.append({str(file.parent)!r})\n{script}")


def test_a_kernel_is_loaded_without_a_blas_which_can_be_imported_after_it() -> None:
    code = """
import sys
from lexicons.jit import kernel

assert kernel(lambda value: value + 1)(1) == 2
assert not [name for name in sys.modules if name.startswith("scipy.linalg")]
import scipy.linalg
"""
    subprocess.run([sys.executable, "-c", code], check=True)
