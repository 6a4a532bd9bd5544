"""Text files: UTF-8, with a byte order mark or without."""

from __future__ import annotations

from pathlib import Path

__all__ = ["decode_text", "read_text"]


def read_text(path: Path) -> str:
    """Read a text file; ValueError as ``decode_text``, OSError if it cannot be read."""
    return decode_text(path.read_bytes(), str(path))


def decode_text(content: bytes, source: str) -> str:
    """Decode a file's content; ``source`` names it in errors.

    Raises:
        ValueError: names ``source``, the line and the byte that is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: byte 0x{error.object[error.start]:02X} is not UTF-8; "
            "save it as UTF-8 text"
        ) from None
