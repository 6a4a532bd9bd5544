"""``docs/results/figures.py``: figures of documents beside what their commands print."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "results" / "figures.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("figures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


figures = load()
COMMANDS = tomllib.loads(figures.LIST.read_text("utf-8"))["command"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command["run"]).strip()[:60])
def test_each_figure_stands_in_its_document(command: dict[str, list[list[str]]]) -> None:
    assert all(figures.expected(figure) for figure in command["figures"])


def test_the_fastest_hold() -> None:
    assert figures.main(["scowl.klv2.json", "tilewire leaves '?' '??' S E"]) == 0


def test_each_row_of_the_readme_is_printed_again() -> None:
    section = (figures.ROOT / "README.md").read_text("utf-8").partition("\n## Figures\n")[2]
    rows = [row for row in section.partition("\n## ")[0].splitlines() if row.endswith("` |")]
    listed = [one["run"] for one in COMMANDS if any(of == "README.md" for of, *_ in one["figures"])]
    assert rows
    assert sorted(row.rpartition("| `")[2].removesuffix("` |") for row in rows) == sorted(
        str(run).partition(" && ")[0] for run in listed
    )


def test_a_wrong_figure_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "It won 12 of 20,\nahead by 3.5 ± 0.1 points.\n\n| speed | 1,300 a second |\n\n"
        "```\n$ it\nname  7\nnone  8\n```\n",
        "utf-8",
    )
    listed = tmp_path / "figures.toml"
    listed.write_text(
        f"""
[[command]]
run = "echo 'won 12 of 20, by +3.46 ± 0.14'; echo 'speed 1200'; echo 'name 7'; echo 'none 9'"
figures = [
    ["{page}", "won … of 20", "won …"],
    ["{page}", "ahead by … points", "by …"],
    ["{page}", "| … a second", "speed …", 0.1],
    ["{page}", "| … a second", "speed …"],
    ["{page}", "of …, ahead", "won … of"],
    ["{page}", "name  7"],
]

[[longer]]
document = "{page}"
takes = "7 hours"
run = "it anew"
""",
        "utf-8",
    )
    assert figures.main(["--of", str(page)], listed) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("$ echo")
    fell = [line.split()[-2:] for line in lines if line.startswith("fell")]
    assert fell == [["1,300", "1200"], ["20", "12"], ["none", "9"]]
    assert lines[-1] == "7 hours: it anew"
    assert figures.main(["--of", "README.md"], listed) == 1  # it has none


def test_a_figure_that_no_document_has_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("It won 12 of 20.\n", "utf-8")
    with pytest.raises(ValueError, match="no figure"):
        figures.expected([str(tmp_path / "page.md"), "lost … of", "lost …"])
