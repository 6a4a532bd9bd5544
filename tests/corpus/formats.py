"""Word graphs and tables as today's writers write them, and read back."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from corpus.artefacts import INPUTS, Artefact
from corpus.command_runs import answer_to
from corpus.product import (
    load_distribution,
    read_klv,
    read_kwg,
    read_win_probabilities,
    synthetic_leaves,
    write_klv,
    write_win_probabilities,
)

WORDS = INPUTS / "words.txt"
TABLE = INPUTS / "winprob.csv"
ENGLISH = load_distribution("english")
LEAVES = ("", "?", "AEINST", "Q", "SS", "ERT", "VVW")


def _kwg() -> str:
    """Build a word graph from a small list; say its bytes and the words that are in it."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "words.kwg"
        status, out, err = answer_to(("lexicon", "build", str(WORDS), str(path)))
        graph = read_kwg(path)
        words = sorted(ENGLISH.alphabet.text(word) for word in graph.words())
        said = (out + err).replace(name, "FOLDER").replace(str(WORDS), WORDS.name)
        content = path.read_bytes()
    gaddag = sum(1 for _ in graph.strings(graph.gaddag_root))
    return _text(
        f"{said}exit status {status}", content, [*words, f"{gaddag} strings"], content.hex()
    )


def _klv() -> str:
    """Write a leave table; say its bytes and some of the values that are read back."""
    table = synthetic_leaves(ENGLISH, seed=4)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "leaves.klv2"
        write_klv(path, table)
        content, again = path.read_bytes(), read_klv(path, ENGLISH)
    values = [f"{leave} {again.value(ENGLISH.alphabet.tiles(leave)):.6g}" for leave in LEAVES]
    return _text("a leave table", content, values)


def _winprob() -> str:
    """Read a table of win probabilities and write it."""
    table = read_win_probabilities(TABLE)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "winprob.csv"
        write_win_probabilities(path, table)
        content, again = path.read_bytes(), read_win_probabilities(path)
    values = [
        f"{spread} {unseen} {again.at(spread, unseen)}" for spread, unseen in ((1, 1), (-1, 2))
    ]
    return _text("win probabilities", content, values, content.decode())


def _text(head: str, content: bytes, lines: Sequence[str], whole: str = "") -> str:
    digest = f"{len(content)} bytes, SHA-256 {sha256(content).hexdigest()}"
    return "\n".join((head, digest, *lines, whole, ""))


ARTEFACTS = (
    Artefact("formats/kwg.txt", _kwg),
    Artefact("formats/klv.txt", _klv),
    Artefact("formats/winprob.txt", _winprob),
)
