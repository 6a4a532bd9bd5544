from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from numba import typeof

import lexicons.build
import lexicons.cells
from lexicons import jit, kernel_cache
from lexicons.arrays import F64, READ_ONLY, U8, U64
from lexicons.jit import freeze, helper, kernel
from lexicons.kernel_cache import KernelName, cache_problem, forget_folders, kernels_of

STATE = jit.record_dtype([("place", np.int16), ("sums", np.uint64, (2,))])


class Pair(NamedTuple):
    values: F64
    length: int


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


def typed(
    rows: Annotated[U8, 2],
    words: Annotated[U64, READ_ONLY],
    state: Annotated[Any, STATE],
    pair: Pair,
    both: tuple[int, float],
    flag: bool,
    seed: np.uint64,
) -> None:
    """Have an argument of each kind."""


def test_annotations_are_the_types_of_arguments() -> None:
    words = np.zeros(2, np.uint64)
    words.flags.writeable = False
    values = (
        *(np.zeros((2, 3), np.uint8), words, np.zeros(1, STATE)),
        *(Pair(np.zeros(2), 1), (1, 1.0), True, np.uint64(1)),
    )
    assert jit.types_of(typed) == tuple(map(typeof, values))
    with pytest.raises(TypeError, match="values"):
        jit.types_of(_sum_of_squares.py_func)  # type: ignore[attr-defined]


def kernel_modules() -> list[str]:
    """Name all modules of ours that have kernels."""
    root = Path(lexicons.build.__file__).parents[1]
    return [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for package in ("lexicons", "engine", "bot", "harness")
        for path in (root / package).rglob("*.py")
        if "\n@kernel\n" in path.read_text()
    ]


@pytest.mark.parametrize("module", kernel_modules())
def test_all_kernels_are_found_and_have_types(module: str) -> None:
    import_module(module)
    ours = [made.py_func for made in jit._kernels if made.py_func.__module__ == module]
    found = [kernel.name for kernel in kernels_of([module]) if kernel.module == module]
    assert found == [function.__name__ for function in ours]
    assert all(jit.types_of(function) for function in ours)


def test_an_edit_in_an_imported_file_names_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "_ROOT", tmp_path)
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
        forget_folders()
        kernel_cache._closure.cache_clear()
        kernel_cache._imports.cache_clear()
        names.add(KernelName(user, "f").file)
    assert len(names) == 2
    assert None not in names


def folder_of(module: ModuleType) -> Path:
    forget_folders()
    file = KernelName(Path(str(module.__file__)), "f").file
    assert file is not None
    return file.parent


def test_code_is_not_kept_where_others_can_write(own_cache: Path) -> None:
    folder = folder_of(lexicons.build)
    assert cache_problem() == ""
    for open_to_all in (folder, folder.parent):
        open_to_all.chmod(0o777)
        forget_folders()
        assert KernelName(Path(lexicons.build.__file__), "f").file is None
        open_to_all.chmod(0o700)
    folder.parent.chmod(0o770)
    assert "others" in cache_problem() or "other users" in cache_problem()


ADDER = """
from lexicons.jit import kernel

@kernel
def add(one: int, other: int) -> int:
    return one + other
"""


def test_a_kernel_that_was_cut_short_or_damaged_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "adder.py").write_text(ADDER, encoding="utf-8")
    run = "from adder import add; print(add(1, 2), add.stats.cache_hits.total())"
    assert _run_beside(tmp_path / "adder.py", run) == "3 0"
    assert _run_beside(tmp_path / "adder.py", run) == "3 1"
    (kept,) = (tmp_path / "cache" / "kernels").rglob("*.kernel")
    whole = kept.read_bytes()
    for damaged in (whole[:-1], b"", whole[:100] + b"x" + whole[101:]):
        kept.write_bytes(damaged)
        assert _run_beside(tmp_path / "adder.py", run) == "3 0"
        assert kept.read_bytes()[:32] == hashlib.sha256(kept.read_bytes()[32:]).digest()


def test_types_that_are_not_declared_do_not_replace_the_kept_kernel(tmp_path: Path) -> None:
    (tmp_path / "adder.py").write_text(ADDER, encoding="utf-8")
    run = "from adder import add; print(add(1.5, 2.0), add(1, 2), add.stats.cache_hits.total())"
    assert _run_beside(tmp_path / "adder.py", run) == "3.5 3 0"
    assert _run_beside(tmp_path / "adder.py", run) == "3.5 3 2"


@pytest.mark.parametrize("home", [True, False])
def test_kernels_work_where_nothing_can_be_kept(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, home: bool
) -> None:
    own_cache.write_text("a file, where a directory should be", encoding="utf-8")
    if not home:
        monkeypatch.setenv("TILEWIRE_CACHE", "~nobody-of-that-name/cache")
    forget_folders()

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
