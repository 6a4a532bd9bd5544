"""Whatever reads a file or a line from outside takes it or refuses it with a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from fuzz import samples
from fuzz.readers import Reader, bound, readers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BY_NAME = {reader.name: reader for reader in readers()}


def _journal(**changed: Any) -> bytes:
    """Return a journal with something else in the row of its running game or its clocks."""
    rows = samples.journal_rows()
    row = rows["games"][0]
    row[2] = changed.get("label", row[2])
    rows["clock_notes"][0][1:] = changed.get("clocks", rows["clock_notes"][0][1:])
    if "game" in changed:
        rows["games"], rows["clock_notes"] = [[changed["game"], *row[1:]]], []
        rows["records"] = [[changed["game"], *record[1:]] for record in rows["records"][:11]]
    return json.dumps(rows).encode()


FOUND = {
    "nested TOML": ("serve's configuration", b"threads = " + b"[" * 3_000),
    "a program's name is too long": (
        "a bridge's configuration",
        b'origins = ["https://example.org"]\n[[engine]]\nid = "x"\ncommand = ["/'
        + b"9" * 5_000
        + b'"]',
    ),
    "tokens of nobody at home": (
        "a bridge's configuration",
        b'origins = ["https://example.org"]\ntokens = "~nobody of that name/tokens"',
    ),
    "tokens not in UTF-8": ("a bridge's tokens", b"ab12 https://example.org 2026 \xd7\n"),
    "a token's hash not in ASCII": (
        "a bridge's tokens",
        "ab12 https://example.org 2026 é\n".encode(),
    ),
    "a seat's file has a NUL": ("moves and seats", b"files:fo\0o"),
    "a seat's file is too long": ("moves and seats", b"siu:/" + b"9" * 5_000),
    "a seat of nobody's": ("moves and seats", b"siu:~nobody of that name/x"),
    "two thousand million tiles": ("tiles", b"?,?,2,0,0\nA,a,2147483648,1,1\n"),
    "a letter of 140,000 characters": ("tiles", b"?,?,2,0,0\n" + b"A" * 140_000 + b",a,1,1,1\n"),
    "a line's number is too long": (
        "a host's file",
        b"a " + b"9" * 5_000 + b" game first 9000 -\n",
    ),
    "the first move is against the rules": ("MAGPIE's lines", b"  1: 8G Q  22  23.456\n"),
    "an alphabet without numbers": ("Quackle's alphabet", b"A a one 9 1\n"),
    "a nested record": ("a study's records", b"[" * 100_000 + b"\n"),
    "a journal's label is no JSON": (
        "a journal's rows",
        b'{"games": [["g", 1.5, "{", 1]], "records": [["g", 0, 1.5, "{}"]]}',
    ),
    "a journal's game lacks a seat": (
        "a journal's rows",
        _journal(label={"sides": [{"kind": "guest", "name": "ann"}]}),
    ),
    "a journal's game is another's": ("a journal's rows", _journal(game="g2")),
    "a journal's clocks are texts": ("a journal's rows", _journal(clocks=["x", "y", 5])),
}
"""Input that once came through to where nobody expected it."""


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found_is_refused(what: str, tmp_path: Path) -> None:
    name, content = FOUND[what]
    with bound():
        BY_NAME[name].take(content, tmp_path)


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chance=st.randoms(use_true_random=False))
def test_broken_input_is_refused(reader: Reader, tmp_path: Path, chance: random.Random) -> None:
    content = reader.broken(chance)
    with bound():
        reader.take(content, tmp_path)
