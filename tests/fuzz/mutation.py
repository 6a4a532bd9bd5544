"""What is done to good input to make bad input of it; chance is an argument.

Three levels: bytes; the words and lines of a text; the values of a tree (a message, a record, a
configuration), where a broken tree is still written in good form, so that it comes past the parser.
In tests of readers hypothesis is the chance, and shrinks what it finds; else it is seeded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

NUMBERS = (
    *(0, -1, 1, 2, 7, 63, 64, 127, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1),
    *(-(2**31), -(2**63), 2**63, 2**64, 10**30),
)
FLOATS = (0.5, -0.0, 1e308, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    *("", " ", "\0", "a", "?", "-", "-7", "8D QI", "15A ZA", "\u202e", "\x1b[2J", "é", "ß", "İ"),
    *("ǆ", "٣", "𝟗", "²", "0x1", "1e999", "nan", "9" * 5_000, "x" * 200, "../" * 9, "~nobody/x"),
    *("%s", "{0}", "[", "]"),
)
SNIPPETS = (
    *(b"\xdf\xff\xff\xff\xff", b"\xc1", b"\xff\xfe", b"\\ud800", b"9" * 400, b"null", b"\xc0"),
    *(b"\0", b"\r", b"\n\n", b'"', b"'", b",", b"[", b"{", b"}", b"]", b"\xef\xbb\xbf", b"\x1b"),
    *(b"-", b" "),
)
LONG = (b"9" * 140_000, b"\n" * 140_000)
NESTS = (b"\x91" * 3_000, b"\x81\xa1x" * 1_500, b"[" * 3_000, b'{"x":' * 1_500, b"(" * 3_000)
_WORD = re.compile(rb"[^\s]+")


def broken_bytes(sample: bytes, corpus: Sequence[bytes], chance: Random) -> bytes:
    """Break some bytes, in none to four places."""
    frame = bytearray(sample)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
        _break(frame, corpus, chance)
    return bytes(frame)


def _break(frame: bytearray, corpus: Sequence[bytes], chance: Random) -> None:
    at = chance.randrange(len(frame) + 1)
    match chance.randrange(8):
        case 0 if at < len(frame):
            frame[at] ^= 1 << chance.randrange(8)
        case 1 if at < len(frame):
            frame[at] = chance.randrange(256)
        case 2:
            del frame[at:]
        case 3:
            other = chance.choice(corpus)
            frame[at:] = other[chance.randrange(len(other) + 1) :]
        case 4:
            frame[at:at] = chance.choice(SNIPPETS)
        case 5:
            del frame[at : at + chance.randrange(1, 9)]
        case 6:
            # A size that is claimed, and not there.
            claimed = chance.choice((0, 1, 2**16, 2**24, 2**31, 2**32 - 1))
            order = "little" if chance.randrange(2) else "big"
            frame[at : at + 4] = claimed.to_bytes(4, order)  # type: ignore[arg-type]
        case _ if chance.random() < 0.05:
            frame[at:at] = chance.choice(NESTS if chance.randrange(4) else LONG)


def broken_text(sample: bytes, corpus: Sequence[bytes], chance: Random) -> bytes:
    """Break the words or the lines of a text, in one to three places; now and then its bytes."""
    if chance.randrange(4) == 0:
        return broken_bytes(sample, corpus, chance)
    text = sample
    for _ in range(chance.choice((1, 1, 2, 3))):
        text = _other_line(text, chance) if chance.randrange(3) == 0 else _other_word(text, chance)
    return text


def _other_word(text: bytes, chance: Random) -> bytes:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = chance.choice(words)
    match chance.randrange(5):
        case 0:
            new = str(chance.choice(NUMBERS)).encode()
        case 1:
            new = chance.choice(TEXTS).encode()
        case 2:
            new = chance.choice(words)[0]
        case 3:
            new = word[0] * chance.choice((0, 2, 40))
        case _:
            new = re.sub(
                rb"-?\d+", lambda _: str(chance.choice(NUMBERS)).encode(), word[0], count=1
            )
    return text[: word.start()] + new + text[word.end() :]


def _other_line(text: bytes, chance: Random) -> bytes:
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, chance.choice(lines))
        case 2:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            lines[at] = lines[at] * chance.choice((2, 50))
    return b"\n".join(lines)


def broken_tree(tree: Any, chance: Random) -> Any:
    """Return a tree of maps, lists and plain values with something else at one of its places.

    The tree itself stays as it is.
    """
    match tree:
        case dict() if tree and chance.randrange(8):
            key = chance.choice(list(tree))
            match chance.randrange(12):
                case 0:
                    return {name: value for name, value in tree.items() if name != key}
                case 1:
                    return {**tree, chance.choice(TEXTS): tree[key]}
                case 2:
                    return {**tree, key: tree[chance.choice(list(tree))]}
                case _:
                    return {**tree, key: broken_tree(tree[key], chance)}
        case list() | tuple() if tree and chance.randrange(6):
            at = chance.randrange(len(tree))
            match chance.randrange(8):
                case 0:
                    return [*tree[:at], *tree[at + 1 :]]
                case 1:
                    return [*tree[:at], tree[at], *tree[at:]]
                case 2:
                    return [*tree, *([tree[at]] * chance.choice((1, 30, 1_200)))]
                case _:
                    return [*tree[:at], broken_tree(tree[at], chance), *tree[at + 1 :]]
        case str() if tree and chance.randrange(2):
            at = chance.randrange(len(tree))
            return tree[:at] + chance.choice(TEXTS) + tree[at + chance.randrange(3) :]
    return _value(chance)


def _value(chance: Random) -> Any:
    match chance.randrange(8):
        case 0 | 1 | 2:
            return chance.choice(NUMBERS)
        case 3:
            return chance.choice(FLOATS)
        case 4 | 5:
            return chance.choice(TEXTS)
        case 6:
            return chance.choice((None, True, False))
        case _:
            return chance.choice(([], {}, [[]], {"type": "ping"}, [1, 2, 3]))
