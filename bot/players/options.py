"""Readers of players' options, the text after ``?`` in a seat; all raise ValueError."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_LONGEST_MS: Final = 366 * 24 * 3_600_000


def number(name: str, text: str, least: int, most: int) -> int:
    """Read a whole number within bounds."""
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) and least <= int(text) <= most:
        return int(text)
    raise ValueError(f"{name} is a number from {least} to {most:,}, not {text!r}")


def parse_duration(text: str) -> int:
    """Read a duration such as ``25m``, ``1m30s``, ``0.5s`` or ``250ms``; return milliseconds.

    Raises:
        ValueError: the text is no duration, such as a number without a unit, or it is longer than
            a year.
    """
    part = r"(\d+(?:\.\d+)?)(ms|s|m|h)"
    if not re.fullmatch(f"(?:{part})+", text, re.ASCII):
        raise ValueError(f"{text!r} is no duration; write 25m, 1m30s, 0.5s or 250ms")
    ms = sum(float(amount) * UNITS_MS[unit] for amount, unit in re.findall(part, text))
    if ms > _LONGEST_MS:
        raise ValueError(f"{text[:40]!r} is longer than a year")
    return round(ms)


def duration_ms(name: str, text: str) -> int:
    """Read a duration of a millisecond or more."""
    with suppress(ValueError):
        if ms := parse_duration(text):
            return ms
    raise ValueError(f"{name} is a duration such as 300ms or 2s, not {text!r}")


def span(name: str, text: str) -> range:
    """Read a number, or a range with both its ends."""
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if match and (numbers := range(int(match[1]), int(match[2] or match[1]) + 1)):
        return numbers
    raise ValueError(f"{name} is a number or a range such as 1-7, not {text!r}")


def share(name: str, text: str) -> float:
    """Read a share, from 0 to 1."""
    if re.fullmatch(r"\d{0,9}\.?\d{1,9}", text, re.ASCII) and float(text) <= 1:
        return float(text)
    raise ValueError(f"{name} is a number from 0 to 1, not {text!r}")


def one_of(name: str, text: str, known: Sequence[str]) -> str:
    """Read a word out of ``known``."""
    if text in known:
        return text
    raise ValueError(f"{name} is {', '.join(known[:-1])} or {known[-1]}, not {text!r}")
