"""Manifests: how a table was made, in a JSON file beside it (``leaves.klv2.json``).

A manifest belongs to the table whose uncompressed bytes have its SHA-256. Its name omits the
table's suffix ``.xz``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from .files import parse_json, read_bounded, write_json

_FORMAT = "tilewire manifest 1"
_WHAT = "manifest of a table"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """How one table was made."""

    kind: str  # ``leaves``, ``winprob`` or ``value``
    command: str  # to make the table again
    seed: int
    games: int
    lexicon: str
    lexicon_checksum: str  # of its words (``lexicons.store.Lexicon``)
    tiles: str
    version: str  # of tilewire
    sha256: str  # of the table's bytes, in hexadecimal
    figures: Mapping[str, Any] = field(default_factory=dict)  # for people to read, as JSON values

    def is_of(self, content: bytes) -> bool:
        """Return whether this is the manifest of a table of these bytes."""
        return hashlib.sha256(content).hexdigest() == self.sha256


def manifest_path(table: str | Path) -> Path:
    """Return the path of a table's manifest, whether or not it exists."""
    path = Path(table)
    return path.with_name(f"{path.name.removesuffix('.xz')}.json")


def read_manifest(table: str | Path) -> Manifest | None:
    """Read the manifest beside a table; None where there is none.

    Raises:
        ValueError: the file is no manifest; names it and what is wrong.
        OSError: it cannot be read.
    """
    path = manifest_path(table)
    if not path.is_file():
        return None
    return parse_manifest(read_bounded(path, _MOST_BYTES, _WHAT), str(path))


def write_manifest(table: str | Path, manifest: Manifest) -> None:
    """Write the manifest of a table beside it, atomically; OSError if that fails."""
    write_json(manifest_path(table), _FORMAT, asdict(manifest))


def parse_manifest(content: bytes, source: str) -> Manifest:
    """Read a manifest from a file's content, named ``source`` in errors; raises ValueError."""
    values = parse_json(content, source, _FORMAT, _WHAT)
    wanted = {entry.name: _TYPES[str(entry.type)] for entry in fields(Manifest)}
    for name, (kind, words) in wanted.items():
        if not isinstance(values.get(name), kind) or isinstance(values[name], bool):
            raise ValueError(f'{source}: "{name}" is missing or not {words}')
    for name in values:
        if name not in wanted:
            raise ValueError(f"{source}: unknown field {name[:40]!r}")
    return Manifest(**values)


_TYPES: dict[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "Mapping[str, Any]": (dict, "an object"),
}
