"""``tilewire token``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bot.seat_text import LONGEST_NAME, is_name
from harness.server.tokens import hash_token, new_token, read_token_file
from harness.writing import replacing, write_file
from lexicons.text import read_text

from .failing import CommandFailed, sentences
from .options import print_notice


def token(
    name: str,
    /,
    *,
    tokens: Path | None = None,
    replace: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Make a token for a player of a server.

    The token is printed once and kept nowhere. The server keeps a line with its hash, in the file
    that ``tilewire serve --tokens`` reads.

    Args:
        name: The player's name.
        tokens: The file to add the line to; made if it isn't there, readable by you alone.
        replace: Replace the token that the name has in the file.
    """
    if not is_name(name):
        raise CommandFailed(
            f"{name!r} can't be a name: a name is one word of 1 to {LONGEST_NAME} characters, "
            "and doesn't read like an address"
        )
    if name.startswith("#"):
        raise CommandFailed(f"{name!r} can't be a name: '#' begins a comment in a file of tokens")
    if replace and tokens is None:
        raise CommandFailed("--replace needs --tokens")
    secret = new_token()
    line = f"{name} {hash_token(secret)}"
    if tokens is None:
        print_notice(f"for the server's file of tokens: {line}")
    else:
        with sentences(kinds=(ValueError,)), sentences(f"{tokens} can't be written: ", (OSError,)):
            _write_token(tokens.resolve(), name, line, replace=replace)
    print(secret)


def _write_token(path: Path, name: str, line: str, *, replace: bool) -> None:
    """Put a line into a file of tokens; it replaces the name's old line."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, f"{line}\n", private=True)
        return
    is_listed = name in read_token_file(path)
    if is_listed and not replace:
        raise CommandFailed(f"{name} already has a token in {path}; --replace makes it invalid")
    lines = read_text(path).splitlines()
    if is_listed:
        lines = [line if old.split()[:1] == [name] else old for old in lines]
    else:
        lines.append(line)
    with replacing(path) as fresh:  # a server that reads it meanwhile sees the old or the new file
        write_file(fresh, "".join(f"{text}\n" for text in lines), private=True)
        shutil.copymode(path, fresh)
