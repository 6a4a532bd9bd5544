"""What the corpus holds: texts in files, each made by a function that makes it again."""

from __future__ import annotations

import difflib
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("data")
INPUTS = DATA / "inputs"
"""What artefacts are made from, kept as it is."""

MOST_SHOWN = 60
"""Lines of a difference."""
WIDEST_SHOWN = 300


@dataclass(frozen=True)
class Artefact:
    """A text that later commits make again."""

    name: str
    """Of its file under ``DATA``, the part before a slash; ``.xz`` if it is packed."""
    make: Callable[[], str]

    @property
    def part(self) -> str:
        return self.name.partition("/")[0]

    def record(self) -> None:
        path, content = DATA / self.name, self.make().encode()
        path.write_bytes(lzma.compress(content, preset=9) if path.suffix == ".xz" else content)

    def difference(self) -> str:
        """Make it again; say what differs from what was recorded, empty if nothing does."""
        recorded, made = read_packed(DATA / self.name), self.make()
        if recorded == made:
            return ""
        lines = difflib.unified_diff(
            recorded.splitlines(), made.splitlines(), "recorded", "made now", lineterm="", n=1
        )
        shown = [line[:WIDEST_SHOWN] for _, line in zip(range(MOST_SHOWN), lines, strict=False)]
        again = f"PYTHONPATH=tests:. python -m corpus.record {self.part}"
        return "\n".join([f"{self.name} differs; if it is meant to: {again}", *shown])


def read_packed(path: Path) -> str:
    """Read a text file, packed if it is called so."""
    content = path.read_bytes()
    return (lzma.decompress(content) if path.suffix == ".xz" else content).decode()
