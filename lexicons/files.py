"""Untrusted files, read up to a size limit; and JSON files that state their format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .cache import replacing


def read_bounded(path: Path, most: int, what: str) -> bytes:
    """Return the content of a file of at most ``most`` bytes; ``what`` names its kind in errors.

    Raises:
        ValueError: the file is larger.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    if size > most:
        raise ValueError(f"{path}: {size:,} bytes; no {what} has over {most:,}")
    return path.read_bytes()


def parse_json(content: bytes, source: str, form: str, what: str) -> dict[str, Any]:
    """Return a JSON object without its format; ``source`` and ``what`` name it in errors.

    Raises:
        ValueError: it is no JSON, no object, or of another format than ``form``.
    """
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source}: not JSON, so no {what}: {error}") from None
    if not isinstance(values, dict) or values.pop("format", None) != form:
        raise ValueError(f'{source}: no {what}; expected "format": "{form}"')
    return values


def write_json(path: Path, form: str, values: Mapping[str, Any]) -> None:
    """Write a JSON object with its format, atomically; OSError if that fails."""
    text = json.dumps({"format": form, **values}, ensure_ascii=False, indent=1)
    with replacing(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")
