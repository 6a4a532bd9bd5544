"""Run the commands of ``figures.toml``, and say which figures of the documents no longer hold.

python docs/results/figures.py [TEXT...]    # all, or those whose command or document has a TEXT
python docs/results/figures.py --of README.md    # those of one document

A figure holds if each number of the document is among those of the output, rounded to as many
decimals, or as near as the list allows. The exit status is 1 if a figure doesn't hold, or if none
was chosen.
"""

import lzma
import os
import re
import subprocess
import sys
import time
import tomllib
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.figures import shortened, table

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".toml")
HEAD = ["", "document", "figure", "said", "printed"]
WIDTHS = (32, 44, 64, 64)
FELL = "fell"


def find(pattern: str, text: str) -> re.Match[str] | None:
    """Find a pattern in which ``…`` is any text or, at its end, the rest of a line."""
    escaped = re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(pattern))
    return re.search(re.sub("…$", "(.*)", escaped).replace("…", r"([\s\S]{0,300}?)"), text)


def numbers(match: re.Match[str]) -> list[Decimal]:
    """Return the numbers where the pattern has ``…``."""
    texts = re.findall(r"[-−+]?\d[\d,]*(?:\.\d+)?", " ".join(match.groups()))
    return [Decimal(text.replace(",", "").replace("−", "-")) for text in texts]


def is_printed(number: Decimal, printed: list[Decimal], tolerance: float = 0) -> bool:
    """Return whether a printed number, rounded to this number's decimals, is this number.

    It may differ by ``tolerance``, a share of the number.
    """
    half = Decimal("0.5").scaleb(int(number.as_tuple().exponent))
    near = max(half, abs(number) * Decimal(str(tolerance)))
    return any(abs(number - other) <= near for other in printed)


def filled(match: re.Match[str]) -> str:
    """Return what stands where the pattern has ``…``, or all of it if it has none."""
    return " ".join(" … ".join(match.groups() or [match[0]]).split()).rstrip(" |")


def expected(figure: list[Any]) -> list[tuple[str, str, list[Decimal]]]:
    """Return texts of a document, where to find each in the output, and the document's numbers."""
    text = (ROOT / figure[0]).read_text("utf-8")
    match = find(figure[1], text)
    if match is None or (len(figure) > 2 and not numbers(match)):
        raise ValueError(f"{figure[0]} has no figure “{figure[1]}”")
    if len(figure) > 2:
        return [(filled(match), figure[2], numbers(match))]
    quoted = re.split(r"^(?:```|\$ )", text[match.start() :], maxsplit=1, flags=re.MULTILINE)[0]
    return [(line, line, []) for line in quoted.splitlines() if line.strip("─… ")]


def output_of(command: dict[str, Any]) -> str:
    """Run a command in a folder with the recorded files that it needs; return what it prints."""
    with TemporaryDirectory() as folder:
        for name in ("docs", "lexicons", "tests"):
            Path(folder, name).symlink_to(ROOT / name)
        for packed in command.get("unpack", ()):
            content = lzma.decompress((ROOT / "docs" / "results" / packed).read_bytes())
            Path(folder, Path(packed).stem).write_bytes(content)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
        line = ["bash", "-e", "-c", command["run"]]
        ran = subprocess.run(line, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    return ran.stdout.decode() if ran.returncode == 0 else f"exit status {ran.returncode}"


def judged(figure: list[Any], output: str) -> list[list[str]]:
    """Return rows of the table: one for a figure that holds, else one for each that fell."""
    rows = []
    for says, pattern, said in expected(figure):
        match = find(pattern, output)
        printed = numbers(match) if match else []
        holds = match is not None and all(is_printed(each, printed, *figure[3:]) for each in said)
        near = get_close_matches(says, output.splitlines(), 1, 0.3)
        shown = filled(match) if match else (near[0] if near else output[:64])
        rows.append(["" if holds else FELL, figure[0], name_of(figure), says, shown])
    return [row for row in rows if row[0]] or rows[:1]


def name_of(figure: list[Any]) -> str:
    """Return what a figure is of: the first cell of its row, or the words around it."""
    text = (ROOT / figure[0]).read_text("utf-8")
    match = find(figure[1], text)
    at = match.start(1) if match and match.groups() else 0
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    cell = line.split("|")[1].strip() if line.startswith("|") else ""
    return cell or " ".join(figure[1].split())


def as_table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table whose texts are no longer than a screen has room for."""

    def cut(cells: list[str]) -> list[str]:
        short = zip(cells, WIDTHS, strict=True)
        return [shortened(" ".join(cell.split()), most) for cell, most in short]

    return table(head, [[fell, *cut(cells)] for fell, *cells in rows])


def main(arguments: list[str], listed: Path = LIST) -> int:
    """Run commands, all, those with such a text or of such a document; return the exit status."""
    only = arguments[1] if arguments[:1] == ["--of"] else None
    texts = [""] if only else arguments or [""]
    contents = tomllib.loads(listed.read_text("utf-8"))
    rows = []
    for command in contents["command"]:
        figures = [each for each in command["figures"] if only in (None, each[0])]
        if figures and any(text in f"{command['run']} {command['figures']}" for text in texts):
            print(f"$ {command['run'].strip()}", flush=True)
            begun = time.monotonic()
            output = output_of(command)
            print(f"{time.monotonic() - begun:.0f} s", flush=True)
            rows += [row for figure in figures for row in judged(figure, output)]
    fell = sum(row[0] == FELL for row in rows)
    print(f"\n{as_table(HEAD, rows)}\n{len(rows)} figures, {fell} no longer hold")
    longer = [each for each in contents.get("longer", ()) if only in (None, each["document"])]
    if longer and arguments[:1] in ([], ["--of"]):
        print("\nNot run, since they take hours; each measures a figure anew:")
        print("\n".join(f"{each['takes']}: {each['run']}" for each in longer))
    return int(not rows or bool(fell))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
