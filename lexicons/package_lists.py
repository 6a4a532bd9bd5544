"""Word lists of the system's own packages, made into lexicons by the rules of their language.

None of these lists is shipped. The user's cache keeps a list that was made into a lexicon, with a
note (JSON) of its package, version and licence; from then on it can be loaded by name.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from .alphabet import Alphabet, load_distribution
from .cache import replacing, user_cache
from .files import parse_json, write_json
from .text import decode_text
from .wordlist import SHORTEST_WORD

LONGEST_WORD: Final = 15
"""In tiles: the side of the board that is played on in all these languages."""

_FORMAT = "tilewire package list 1"
_TELL_EVERY = 10_000  # lines
_NO_LETTERS = {
    " ": "several words",
    "-": "hyphen",
    "'": "apostrophe",
    "’": "apostrophe",
    ".": "abbreviation with a dot",
}
_UNDECOMPOSED = {"Œ": "OE", "Æ": "AE", "Ø": "O"}
"""Letters that Unicode does not decompose."""
_FOLDED_RANGE = range(0xC0, 0x250)  # Latin letters with accents


@dataclass(frozen=True)
class PackageList:
    """A package's list, and how its words are written in tiles."""

    name: str
    tiles: str
    package: str
    file: str
    """In ``/usr/share/dict``."""
    licence: str
    """As the package's copyright file has it."""
    capitals: bool = False
    """Whether words may begin with a capital; elsewhere capitals make a name."""
    folded: bool = True
    """Whether accented letters without a tile are written with the plain letter's tile."""
    latin1: bool = False
    """Whether the list is in ISO-8859-1 where it is not UTF-8."""

    @property
    def source(self) -> Path:
        """Where the package has its list."""
        return Path("/usr/share/dict") / self.file

    @property
    def copyright_file(self) -> Path:
        """Where the package states its licence."""
        return Path("/usr/share/doc") / self.package / "copyright"


PACKAGE_LISTS: Final[Mapping[str, PackageList]] = {
    listed.name: listed
    for listed in (
        PackageList(
            "polish", "polish", "wpolish", "polish",
            "GPL-2, LGPL-2.1, MPL-1.1, Apache-2.0 or CC-BY-4.0", folded=False,
        ),
        PackageList("german", "german", "wngerman", "ngerman", "GPL-2+", capitals=True),
        PackageList("ogerman", "german", "wogerman", "ogerman", "GPL-2+", capitals=True),
        PackageList("french", "french", "wfrench", "french", "GPL-2+"),
        PackageList("spanish", "spanish", "wspanish", "spanish", "public domain"),
        PackageList("catalan", "catalan", "wcatalan", "catalan", "GPL-2+"),
        PackageList("dutch", "dutch", "wdutch", "dutch", "BSD-3-clause or CC-BY-3.0"),
        PackageList("norwegian", "norwegian", "wnorwegian", "bokmaal", "GPL-2+", latin1=True),
        PackageList("nynorsk", "norwegian", "wnorwegian", "nynorsk", "GPL-2+", latin1=True),
    )
}  # fmt: skip


@dataclass
class LeftOut:
    """The words that were left out for one reason."""

    reason: str
    count: int = 0
    example: str = ""


@dataclass
class Note:
    """What an installed list was made from."""

    name: str
    tiles: str
    package: str
    version: str
    licence: str
    copyright_file: str
    words: int
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """The package, as people call it."""
        return f"the package {self.package} {self.version}".rstrip()


def installed_path(name: str) -> Path:
    """Return the path of an installed list, whether or not it is there."""
    return user_cache() / "installed" / f"{name}.txt.xz"


def installed_names() -> tuple[str, ...]:
    """Name the lists that are installed."""
    return tuple(name for name in PACKAGE_LISTS if installed_path(name).is_file())


def install(
    listed: PackageList, telling: Callable[[int], Callable[[int], object]] = lambda _lines: int
) -> Note:
    """Make a lexicon from a package's list, replacing one that was made before.

    ``telling`` gets the number of lines, and returns what is told how many are read so far.

    Raises:
        FileNotFoundError: the package is not installed; names it.
        ValueError: the file is neither UTF-8 text nor may be ISO-8859-1.
        OSError: the cache cannot be written.
    """
    if not listed.source.is_file():
        raise FileNotFoundError(
            f"there is no {listed.source}: install your distribution's package {listed.package} "
            f"(apt-get install {listed.package}), then run this again"
        )
    alphabet = load_distribution(listed.tiles).alphabet
    content = listed.source.read_bytes()
    try:
        text = decode_text(content, str(listed.source))
    except ValueError:
        if not listed.latin1:
            raise
        text = content.decode("iso-8859-1")
    lines = text.split("\n")
    words, left_out = playable_words(lines, listed, alphabet, telling(len(lines)))
    version = ""
    with suppress(OSError, subprocess.SubprocessError):
        asked = ["dpkg-query", "-W", "-f", "${Version}", listed.package]
        answer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
        version = answer.stdout.strip()
    note = Note(
        listed.name, listed.tiles, listed.package, version, listed.licence,
        str(listed.copyright_file), len(words), left_out,
    )  # fmt: skip
    path = installed_path(listed.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        with lzma.open(temporary, "wt", preset=1, encoding="utf-8") as out:
            out.write(f"# From {note.origin}; licence: {note.licence} ({note.copyright_file})\n")
            out.writelines(f"{word}\n" for word in words)
        # Only now, so that a full disk leaves the former list with its note.
        write_json(_note_path(listed.name), _FORMAT, asdict(note))
    return note


def installed_note(name: str) -> Note | None:
    """Return the note of an installed list; None where there is none that can be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        values = parse_json(_note_path(name).read_bytes(), name, _FORMAT, "note")
        left_out = [LeftOut(**entry) for entry in values.pop("left_out")]
        return Note(**values, left_out=left_out)
    return None


def _note_path(name: str) -> Path:
    return installed_path(name).with_name(f"{name}.json")


# --- words ----------------------------------------------------------------------------------------


def playable_words(
    lines: Sequence[str],
    listed: PackageList,
    alphabet: Alphabet,
    tell: Callable[[int], object] = lambda _lines: None,
) -> tuple[list[str], list[LeftOut]]:
    """Return the words of a list that can be played, each once, and what was left out, most first.

    Words are in upper case and in the order of the list. ``tell`` hears how many lines are read.
    """
    spelling: dict[int, str] = {}  # of accented letters without a tile, by code point
    if listed.folded:
        letters = set("".join(alphabet.letters))
        folded = {ord(letter): text for letter, text in _UNDECOMPOSED.items()}
        for code in _FOLDED_RANGE:
            apart = unicodedata.normalize("NFKD", chr(code))
            folded.setdefault(code, "".join(c for c in apart if not unicodedata.combining(c)))
        spelling = {code: text for code, text in folded.items() if chr(code) not in letters}
    patterns = _Patterns(alphabet)
    words: dict[str, None] = {}
    left_out: dict[str, LeftOut] = {}
    for number, line in enumerate(lines, start=1):
        if number % _TELL_EVERY == 0 or number == len(lines):
            tell(number)
        written = line.strip()
        word = written.upper()
        if spelling and not word.isascii():
            word = word.translate(spelling)
        small = written[1:] if listed.capitals else written
        if patterns.is_word(word) and small.islower() and word not in words:
            words[word] = None
        elif written:
            reason = _reason(written, word, listed, patterns) or "spelled as another word"
            entry = left_out.setdefault(reason, LeftOut(reason, 0, written))
            entry.count += 1
    return list(words), sorted(left_out.values(), key=lambda entry: -entry.count)


class _Patterns:
    """Patterns of the tiles and words of an alphabet."""

    def __init__(self, alphabet: Alphabet) -> None:
        letters = alphabet.letters[1:]
        tile = f"[{''.join(letter for letter in letters if len(letter) == 1)}]"
        longer = sorted((letter for letter in letters if len(letter) > 1), key=len, reverse=True)
        if longer:  # an atomic group: CH is never read as C and H
            tile = f"(?>{'|'.join(map(re.escape, longer))}|{tile})"
        self.is_tile = re.compile(tile).fullmatch
        self.is_word = re.compile(f"{tile}{{{SHORTEST_WORD},{LONGEST_WORD}}}").fullmatch
        self.is_spelled = re.compile(f"{tile}+").fullmatch
        self.characters = frozenset("".join(letters))


def _reason(written: str, word: str, listed: PackageList, patterns: _Patterns) -> str | None:
    """Return why a word is left out; None if only because the list has it already."""
    small = written[1:] if listed.capitals else written
    if small != small.lower():
        return "abbreviation (capitals)" if listed.capitals else "name or abbreviation (capitals)"
    for sign, reason in _NO_LETTERS.items():
        if sign in written:
            return reason
    if patterns.is_word(word):
        return None
    if patterns.is_tile(word):
        return f"fewer than {SHORTEST_WORD} tiles"
    if patterns.is_spelled(word):
        return f"more than {LONGEST_WORD} tiles"
    for character in word:
        if character not in patterns.characters:
            return f"no tile for {character}" if character.isalpha() else "sign that is no letter"
    return "letter that has a tile only with another"  # Q in Catalan, which has QU
