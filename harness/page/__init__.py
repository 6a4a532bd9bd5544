"""The page of a server: files beside this one, read once and served as they are.

There is no build step. Each start has one version, a hash of all files, which is part of their
addresses, so a browser keeps the files for good and asks again for ``/`` only.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from websockets.datastructures import Headers

from protocol.websocket import HttpAnswer

FOLDER = Path(__file__).parent

TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""What the page may load: only files of its own origin; and no text may become markup."""

_ALWAYS = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


_WORTH_PACKING = 1_000
"""Least size of files that are packed with gzip, in bytes."""


@dataclass(frozen=True)
class Page:
    """The files by their address; no others are served, whatever is asked for."""

    answers: Mapping[str, HttpAnswer]

    @classmethod
    def read(cls, folder: Path = FOLDER) -> Page:
        """Read the files of a folder."""
        served = (file for file in sorted(folder.iterdir()) if file.suffix in TYPES)
        files = {file.name: file.read_text(encoding="utf-8") for file in served}
        version = hashlib.sha256("\0".join(files.values()).encode()).hexdigest()[:16]
        index = files.pop("index.html").replace("VERSION", version)
        for_good = "Cache-Control", "max-age=31536000, immutable"
        answers = {"/": _answer(index, ".html", ("Cache-Control", "no-cache"))}
        for name, text in files.items():
            answers[f"/page/{version}/{name}"] = _answer(text, Path(name).suffix, for_good)
        return cls(answers)

    def answer(self, path: str, headers: Headers) -> HttpAnswer | None:
        """Answer a request, whoever asks; None: no file is at the address."""
        stored = self.answers.get(path)
        if stored is None:
            return None
        tag = dict(stored.headers)["ETag"]
        if any(tag in value for value in headers.get_all("If-None-Match")):
            return stored._replace(status=304, text="", packed=b"")
        return stored


def _answer(text: str, suffix: str, *headers: tuple[str, str]) -> HttpAnswer:
    content = text.encode()
    tag = hashlib.sha256(content).hexdigest()[:16]
    packed = gzip.compress(content, mtime=0) if len(content) >= _WORTH_PACKING else b""
    about = ("ETag", f'W/"{tag}"'), *headers, *_ALWAYS  # weak: the same, packed or not
    return HttpAnswer(200, text, TYPES[suffix], about, packed)
