"""What a new name may be: plain, of one script, and unlike names that are taken.

Two names look alike if their skeletons are the same, as Unicode's Technical Standard 39 defines
them, or if they are once capitals don't count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from unicodedata import category, normalize
from unicodedata import name as name_of

from protocol.errors import PeerError

OWN = "tilewire"
"""The name by which servers greet."""

MOST_MARKS = 3
"""Most combining marks on a letter; Hebrew and Thai need as many."""

_CHOOSE = "choose letters of one script, digits, and punctuation such as - . _"
_PUNCTUATION = re.compile(r"[ -/:-@\[-`{-~–·’]")
_SHARED = {"COMMON", "INHERITED"}
"""Scripts, as Unicode calls them, of characters that are used with any script."""
_TOGETHER = ({"HAN", "HIRAGANA", "KATAKANA"}, {"HAN", "HANGUL"}, {"HAN", "BOPOMOFO"})
"""Scripts that are written together."""
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks with Unicode's property Default_Ignorable_Code_Point, which Python lacks."""
_DIRECTIONS = "\u200e\u200f"
"""Marks of direction, by which the table of confusable characters wraps some of them."""


def check_new_name(name: str, like: str | None) -> None:
    """Check that a name which nobody has yet may be chosen; ``like`` is a taken name, if any.

    Raises:
        PeerError: it may not; the connection is to be closed.
    """
    why = _fault(name)
    if not why and like is not None:
        why = f"{name!r} looks like {like!r}, which is taken; choose a name that doesn't"
    if why:
        raise PeerError("forbidden", why, close=1008)


def alike(name: str, taken: Iterable[str]) -> str | None:
    """Return one of the names that another looks like; None if there is none but itself."""
    mine = looks(name)
    return next(
        (
            other_name
            for other_name in taken
            if other_name != name and not mine.isdisjoint(looks(other_name))
        ),
        None,
    )


@lru_cache(maxsize=10_000)
def looks(name: str) -> frozenset[str]:
    """Return what names have in common that look alike: any of these, with and without capitals."""
    spelled = (normalize("NFD", each).translate(_prototypes()) for each in (name, name.casefold()))
    return frozenset(normalize("NFD", each).casefold() for each in spelled)


def _fault(name: str) -> str:
    """Return what is wrong with a new name, and what to choose; empty: nothing is."""
    from confusable_homoglyphs import categories

    plain = normalize("NFKC", name)
    if plain != name and not _fault(plain):
        return f"{name!r} is not written in plain characters; choose {plain!r}"
    if (spaced := " ".join(plain.split())) != plain:
        return f"{name!r} has spaces that can't be seen; choose {spaced!r}"
    marks, scripts = 0, set[str]()
    for place, character in enumerate(plain):
        kind, shown = category(character), name_of(character, f"U+{ord(character):04X}")
        if _UNSEEN.match(character) or (kind.startswith(("C", "Z")) and character != " "):
            return f"{name!r} has {shown}, which can't be seen; {_CHOOSE}"
        marks = marks + 1 if kind.startswith("M") else 0
        if marks and (place < marks or not category(plain[place - marks]).startswith("L")):
            return f"{name!r} has {shown}, which needs a letter before it; {_CHOOSE}"
        if marks > MOST_MARKS:
            return f"{name!r} has more than {MOST_MARKS} marks on a letter; {_CHOOSE}"
        if not (kind.startswith(("L", "M")) or kind == "Nd" or _PUNCTUATION.match(character)):
            return f"{name!r} has {shown}; {_CHOOSE}"
        scripts.add(str(categories.alias(character)))
    scripts -= _SHARED
    if len(scripts) > 1 and not any(scripts <= each for each in _TOGETHER):
        mixed = " and ".join(sorted(script.title() for script in scripts))
        return f"{name!r} mixes {mixed}; {_CHOOSE}"
    return f"{name!r} is the server's own name; choose another" if name == OWN else ""


@cache
def _prototypes() -> dict[int, str]:
    """Return, by character, the text that stands for all that look like it.

    The library has for each character those that it may be confused with: Unicode's table, read in
    both directions. So whatever looks alike is a star, with that text in its centre.
    """
    from confusable_homoglyphs import confusables

    like = {
        text.strip(_DIRECTIONS): [each["c"].strip(_DIRECTIONS) for each in others]
        for text, others in confusables.confusables_data.items()
    }
    prototypes = {}
    for text, others in like.items():
        if len(text) > 1 or len(others) > 1:
            continue  # a centre
        (centre,) = others
        is_pair = len(centre) == 1 and len(like[centre]) == 1
        prototypes[ord(text)] = min(text, centre) if is_pair else centre
    return prototypes
