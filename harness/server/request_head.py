"""The head of a request, as bytes, that a host that stands by reads and passes on."""

from __future__ import annotations

END_OF_HEAD = b"\r\n\r\n"

_VIA = b"Via: 1.1 tilewire"
"""The line that marks a request as passed on by a host: it is not passed on again."""


def path_of(head: bytes) -> str:
    """Return the path in the first line of a request, or ``""``."""
    words = head.split(b"\r\n", 1)[0].split()
    return words[1].decode(errors="replace") if len(words) == 3 else ""


def was_passed_on(head: bytes) -> bool:
    """Return whether a request comes from another host that stands by."""
    return _VIA.lower() in head.lower().split(b"\r\n")


def passed_on(head: bytes, address: str) -> bytes:
    """Return the head of a request with its peer's address, and marked as passed on."""
    lines = head.removesuffix(END_OF_HEAD)
    return b"\r\n".join((lines, b"X-Forwarded-For: " + address.encode(), _VIA)) + END_OF_HEAD


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT`` or ``[HOST]:PORT``.

    Raises:
        ValueError: it is neither.
    """
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{address!r} is no address; write HOST:PORT")
    return host, int(port)
