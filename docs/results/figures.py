"""Run the commands of ``figures.toml``, and say which figures of the documents no longer hold.

python docs/results/figures.py [TEXT...]    # all, or those whose command or document has a TEXT

A figure holds if each number of the document is among those of the output, rounded to as many
decimals. The exit status is 1 if a figure doesn't hold, or if none was chosen.
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

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".toml")


def find(pattern: str, text: str) -> re.Match[str] | None:
    """Find a pattern in which ``…`` is any text or, at its end, the rest of a line."""
    escaped = re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(pattern))
    return re.search(re.sub("…$", "(.*)", escaped).replace("…", r"([\s\S]{0,300}?)"), text)


def numbers(match: re.Match[str]) -> list[Decimal]:
    """Return the numbers where the pattern has ``…``."""
    texts = re.findall(r"[-−+]?\d[\d,]*(?:\.\d+)?", " ".join(match.groups()))
    return [Decimal(text.replace(",", "").replace("−", "-")) for text in texts]


def is_printed(number: Decimal, printed: list[Decimal]) -> bool:
    """Return whether a printed number, rounded to this number's decimals, is this number."""
    half = Decimal("0.5").scaleb(int(number.as_tuple().exponent))
    return any(abs(number - other) <= half for other in printed)


def expected(figure: list[str]) -> list[tuple[str, str, list[Decimal]]]:
    """Return texts of a document, where to find each in the output, and the document's numbers."""
    text = (ROOT / figure[0]).read_text("utf-8")
    match = find(figure[1], text)
    if match is None or (len(figure) == 3 and not numbers(match)):
        raise ValueError(f"{figure[0]} has no figure “{figure[1]}”")
    if len(figure) == 3:
        return [(" ".join(match[0].split()), figure[2], numbers(match))]
    quoted = re.split(r"^(?:```|\$ )", text[match.start() :], maxsplit=1, flags=re.MULTILINE)[0]
    return [(line, line, []) for line in quoted.splitlines() if line.strip("─… ")]


def output_of(command: dict[str, Any]) -> str:
    """Run a command in a folder with the recorded files that it needs; return what it prints."""
    with TemporaryDirectory() as folder:
        for name in ("docs", "lexicons"):
            Path(folder, name).symlink_to(ROOT / name)
        for packed in command.get("unpack", ()):
            content = lzma.decompress((ROOT / "docs" / "results" / packed).read_bytes())
            Path(folder, Path(packed).stem).write_bytes(content)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
        line = ["bash", "-e", "-c", command["run"]]
        ran = subprocess.run(line, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    return ran.stdout.decode() if ran.returncode == 0 else f"exit status {ran.returncode}"


def holds(figure: list[str], output: str) -> bool:
    """Print whether a figure holds and, if not, what was printed; return whether it does."""
    wrong = ""
    for says, pattern, said in expected(figure):
        match = find(pattern, output)
        if match is None or not all(is_printed(number, numbers(match)) for number in said):
            near = [match[0]] if match else get_close_matches(says, output.splitlines(), 1, 0.3)
            wrong += f"\n  printed: {' '.join(near) or output[:200]}\n  the document says: {says}"
    about = f"{figure[0]}: {' '.join(figure[1].split())}"
    print(f"{'no longer holds' if wrong else 'holds'}: {about}{wrong}", flush=True)
    return not wrong


def main(texts: list[str], listed: Path = LIST) -> int:
    """Run commands, all or those with such a text; return the exit status."""
    each = []
    for command in tomllib.loads(listed.read_text("utf-8"))["command"]:
        if any(text in f"{command['run']} {command['figures']}" for text in texts or [""]):
            print(f"$ {command['run'].strip()}", flush=True)
            begun = time.monotonic()
            output = output_of(command)
            print(f"{time.monotonic() - begun:.0f} s", flush=True)
            each += [holds(figure, output) for figure in command["figures"]]
    print(f"{len(each)} figures, {each.count(False)} no longer hold")
    return int(not each or not all(each))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
