"""Break the arbiter, the rules, the protocol and the journal, line by line: does a test notice?

``mutants.json`` lists mutants that tests killed when the list was made. Each is a function, one of
its statements, and the same statement broken. Run from the root of a checkout:

    PYTHONPATH=.:tests python tests/mutants/run.py               # is each of them still killed?
    PYTHONPATH=.:tests python tests/mutants/run.py rules journal # those of these areas only
    PYTHONPATH=.:tests python tests/mutants/run.py record 200    # fill the list up again

A mutant is tried in a child process, forked after all imports: the code of the function is
replaced there, and the tests of its area run until one fails. A statement that is no longer in
the product is printed as gone; ``record`` drops it and finds another.
"""

from __future__ import annotations

import ast
import copy
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.json")
SECONDS = 120
"""A mutant whose tests take longer hangs, which counts as killed."""

FAILED = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)

AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "arbiter": (
        ("harness/arbiter",),
        (
            "tests/harness/arbiter/test_clock.py",
            "tests/harness/arbiter/test_scorebook.py",
            "tests/harness/arbiter/test_challenges.py",
            "tests/harness/arbiter/test_table.py",
            "tests/harness/arbiter/test_views_privacy.py",
        ),
    ),
    "rules": (
        ("engine/rules",),
        (
            "tests/engine/rules/test_rules.py",
            "tests/engine/rules/test_bag.py",
            "tests/engine/rules/test_game.py",
            "tests/engine/rules/test_game_machine.py",
        ),
    ),
    "protocol": (
        ("protocol",),
        (
            "tests/protocol/test_codec.py",
            "tests/protocol/test_intake.py",
            "tests/protocol/test_conversation.py",
            "tests/protocol/test_pipe.py",
            "tests/protocol/test_seat_nonce.py",
        ),
    ),
    "journal": (
        (
            "harness/arbiter/journal.py",
            "harness/arbiter/journal_file.py",
            "harness/arbiter/journal_reading.py",
        ),
        (
            "tests/harness/arbiter/test_journal.py",
            "tests/harness/arbiter/test_journal_damage.py",
            "tests/harness/arbiter/test_journal_lock.py",
            "tests/harness/server/test_tokens.py",
            "tests/harness/server/test_retention.py",
        ),
    ),
}
"""By area: the product's files, and the tests that are asked, the quick ones first."""

LEFT_OUT = (
    *("audience.py", "host.py", "lag.py", "accepting.py", "metered.py", "websocket.py", "siu"),
    "__init__.py",
)
"""Files whose tests need real clocks, and what is tested elsewhere."""

PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.And, ast.Or)),
)
OPPOSITES = dict(PAIRS) | {other: one for one, other in PAIRS}


@dataclass(frozen=True)
class Mutant:
    """A statement of a function, as it is and as it is broken."""

    area: str
    function: str
    before: str
    after: str
    test: str = ""
    """The test that killed it when the list was made."""


@dataclass(frozen=True)
class Place:
    """Where a statement stands: the module's file, its tree, the function and the statement."""

    file: Path
    tree: ast.Module
    function: str
    statement: ast.stmt


def main() -> int:
    """Check the list, or fill it up; return 0 if every mutant was killed."""
    os.chdir(ROOT)
    if sys.argv[1:2] == ["record"]:
        return record(int(sys.argv[2]))
    areas = sys.argv[1:] or list(AREAS)
    if unknown := set(areas) - set(AREAS):
        sys.exit(f"no such area: {', '.join(sorted(unknown))}; there are {', '.join(AREAS)}")
    mutants = [mutant for mutant in listed_mutants() if mutant.area in areas]
    counts = Counter[str]()
    for mutant in mutants:
        outcome, test = outcome_of(mutant)
        counts[outcome] += 1
        change = f"{mutant.before} -> {mutant.after}"
        print(f"{counts.total()} {outcome}: {mutant.function}: {change}  {test}", flush=True)
    print(f"{len(mutants)} mutants:", ", ".join(f"{n} {name}" for name, n in counts.items()))
    return int(counts["killed"] < len(mutants))


def record(wanted: int) -> int:
    """Fill the list up with mutants that tests kill, from every area alike; drop what is gone."""
    chance = random.Random(19)
    listed = [mutant for mutant in listed_mutants() if find(mutant) is not None]
    known = {replace(mutant, test="") for mutant in listed}
    killed: list[Mutant] = []
    of_areas = {area: sorted(set(mutants_of(area)), key=str) for area in AREAS}
    for number, area in enumerate(sorted(AREAS, key=lambda area: len(of_areas[area]))):
        killed += [mutant for mutant in listed if mutant.area == area]
        candidates = [mutant for mutant in of_areas[area] if mutant not in known]
        chance.shuffle(candidates)
        goal = wanted * (number + 1) // len(AREAS)  # what a small area lacks, the next have
        for mutant in candidates:
            if len(killed) >= goal:
                break
            outcome, test = outcome_of(mutant)
            print(len(killed), outcome, mutant, flush=True)
            if outcome == "killed":
                killed.append(replace(mutant, test=test))
    rows = ",\n".join(json.dumps(asdict(mutant)) for mutant in killed)
    LIST.write_text(f"[\n{rows}\n]\n")
    return 0


def listed_mutants() -> list[Mutant]:
    """Read the list."""
    return [Mutant(**row) for row in json.loads(LIST.read_text())]


# --- statements and how they are broken -----------------------------------------------------------


def header(statement: ast.stmt) -> ast.AST:
    """Return the part of a statement that is broken: its test, if it is compound."""
    if isinstance(statement, ast.If | ast.While):
        return statement.test
    return statement


def text_of(statement: ast.stmt) -> str:
    """Return a statement as text on one line; of a compound one, its test."""
    keyword = {ast.If: "if ", ast.While: "while "}.get(type(statement), "")
    return keyword + ast.unparse(header(statement))


def places(area: str) -> Iterator[Place]:
    """Iterate over the statements of an area's functions that may be broken."""
    for folder in AREAS[area][0]:
        path = ROOT / folder
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            is_journal = file.name.startswith("journal")
            if any(part in LEFT_OUT for part in file.parts) or is_journal != (area == "journal"):
                continue
            tree = ast.parse(file.read_text())
            for function, node in functions_of(tree, ""):
                for statement in statements_of(node):
                    yield Place(file, tree, function, statement)


def functions_of(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Iterate over the functions of a module and its classes, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from functions_of(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child


def statements_of(node: ast.AST) -> Iterator[ast.stmt]:
    """Iterate over the statements in a function that can be broken, those of its parts too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if isinstance(child, ast.stmt) and not is_text:
            simple = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr
            if isinstance(child, ast.If | ast.While | simple):
                yield child
        yield from statements_of(child)


def mutants_of(area: str) -> Iterator[Mutant]:
    """Iterate over the mutants of an area."""
    for place in places(area):
        before = text_of(place.statement)
        for after in map(text_of, broken_forms(place.statement)):
            if after != before:
                yield Mutant(area, place.function, before, after)


def broken_forms(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Iterate over copies of a statement, each broken at another place."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield ast.Pass()
    count = sum(1 for _ in ast.walk(header(statement)))
    for at in range(count):
        changed = copy.deepcopy(statement)
        if break_node(list(ast.walk(header(changed)))[at], changed):
            yield changed


def break_node(node: ast.AST, statement: ast.stmt) -> bool:
    """Break one node of a statement in place; return whether there is a way to."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITES:
        node.ops[0] = OPPOSITES[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPPOSITES:
        node.op = OPPOSITES[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    elif isinstance(node, ast.Return) and node is statement and node.value is not None:
        node.value = ast.Constant(None)
    else:
        return False
    return True


# --- a mutant is tried ----------------------------------------------------------------------------


def outcome_of(mutant: Mutant) -> tuple[str, str]:
    """Try a mutant; return "killed", "alive" or "gone", and the test that failed."""
    place = find(mutant)
    if place is None:
        return "gone", ""
    code = broken_code(place, mutant.after)
    module = importlib.import_module(".".join(place.file.relative_to(ROOT).with_suffix("").parts))
    for tests in (mutant.test, *AREAS[mutant.area][1]):
        if tests and Path(tests.partition("::")[0]).exists():
            failed = first_failure(tests, lambda: replace_code(module, place.function, code))
            if failed is not None:
                return "killed", failed
    return "alive", ""


def find(mutant: Mutant) -> Place | None:
    """Find the statement of a mutant: in its function, or else in the only other that has it."""
    having = [place for place in places(mutant.area) if text_of(place.statement) == mutant.before]
    name = mutant.function.rpartition(".")[2]
    for same in (
        [place for place in having if place.function == mutant.function],
        [place for place in having if place.function.rpartition(".")[2] == name],
        having,
    ):
        if same:
            return same[0]
    return None


def broken_code(place: Place, after: str) -> CodeType:
    """Compile the module with its statement broken; return the code of the function."""
    tree = copy.deepcopy(place.tree)
    at = (place.statement.lineno, place.statement.col_offset)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) == at:
            replace_statement(tree, node, after)
            break
    wanted = compile(ast.fix_missing_locations(tree), str(place.file), "exec")
    return next(code for code in codes_in(wanted) if code.co_qualname == place.function)


def replace_statement(tree: ast.Module, node: ast.stmt, after: str) -> None:
    """Put a broken statement in the place of a node, in a tree that is changed in place."""
    if isinstance(node, ast.If | ast.While):
        node.test = ast.parse(after.partition(" ")[2], mode="eval").body
        return
    (new,) = ast.parse(after).body
    for parent in ast.walk(tree):
        for _, body in ast.iter_fields(parent):
            if isinstance(body, list) and node in body:
                body[body.index(node)] = new


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Iterate over the code objects in a code object."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)


def replace_code(module: object, function: str, code: CodeType) -> None:
    """Replace the code of a function or method of a module that is imported."""
    found: object = module
    for name in function.split("."):
        found = vars(found)[name]
    for inner in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, inner, found)
    assert isinstance(found, FunctionType), function
    found.__code__ = code


class Failures:
    """A plugin of pytest that keeps which tests failed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.names += [report.nodeid] * report.failed


def first_failure(tests: str, prepare: Callable[[], None]) -> str | None:
    """Run tests in a child process that is prepared first; return the first that failed.

    Tests that can't be collected, hang or crash the interpreter have failed too; their name is then
    that of the file.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        failures, status = Failures(), int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            prepare()
            status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", tests], [failures])
        finally:
            os.write(writer, "".join(failures.names[:1]).encode())
            os._exit(status)
    os.close(writer)
    status = status_of(child)
    with os.fdopen(reader) as pipe:
        name = pipe.read()
    return (name or tests.partition("::")[0]) if status in FAILED or status < 0 else None


def status_of(child: int) -> int:
    """Wait for a child; return its exit status, or that of a failure if it hangs."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return int(pytest.ExitCode.TESTS_FAILED)


if __name__ == "__main__":
    os.environ.setdefault("TILEWIRE_BOUNDSCHECK", "1")
    # What tests import and load is there once, here, for all children.
    files = [name for _, tests in AREAS.values() for name in tests]
    pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *files])
    import engine.movegen.generator  # noqa: F401 - whose kernels are loaded
    from lexicons.jit import load
    from lexicons.store import load_lexicon

    assert load_lexicon().word_map is not None
    load()
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp()
    sys.exit(main())
