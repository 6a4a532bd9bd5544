"""Rebuild the embedded English word list from Debian's package ``scowl``.

Source: SCOWL (Spell Checker Oriented Word Lists, http://wordlist.aspell.net/) by Kevin Atkinson,
as packaged by Debian. The list is the union of its ``*-words.SIZE`` files up to size 80, for every
spelling, accents folded, words of 2 to 15 letters; ``short_words.tsv`` then corrects the two- and
three-letter words. Names, abbreviations and contractions lie in files that are never read.

Run ``python -m lexicons.embedded.build SCOWL_DEB [--out DIR]``, where SCOWL_DEB is the package
file (``apt-get download scowl``) or a directory it was unpacked into.
"""

import argparse
import io
import lzma
import re
import tarfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
CURATION = HERE / "short_words.tsv"
WORD_LIST = "scowl.txt.xz"
LICENCE = "COPYING.scowl"

# Size 80 holds ENABLE and UKACD, made for word games and crosswords; size 95 is noise for play.
MAX_SIZE = 80
MIN_LETTERS, MAX_LETTERS = 2, 15  # 15: the width of the board

SPELLINGS = {
    *("english", "american", "british", "british_z", "canadian", "australian"),
    *("variant_1", "variant_2", "variant_3"),  # variants of the American spelling
    *("british_variant_1", "british_variant_2", "canadian_variant_1", "canadian_variant_2"),
    *("australian_variant_1", "australian_variant_2"),
}
WORD_FILE = re.compile(r"usr/share/dict/scowl/(?P<spelling>\w+)-words\.(?P<size>\d+)")
LICENCE_FILE = "usr/share/doc/scowl/copyright"

PLAYABLE = re.compile(rf"[a-z]{{{MIN_LETTERS},{MAX_LETTERS}}}")
SHORT = re.compile(r"[a-z]{2,3}")
# Letters that Unicode does not decompose into a base letter and an accent.
UNDECOMPOSED = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe"})

CURATION_HEADER = ["action", "word", "source"]

# The format is stated in full, so that the bytes do not hang on a default. An 8 MiB window (preset
# 6) covers the whole list; a larger one would only cost the reader memory.
XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6 | lzma.PRESET_EXTREME}]

AR_MAGIC = b"!<arch>\n"
AR_HEADER_BYTES = 60


class Correction(NamedTuple):
    """One row of the curation file."""

    line: int  # counted from 1, for messages
    action: str  # "+" or "-"
    word: str
    source: str  # the dictionary that has the word, or the reason for its removal


def read_package(path: Path) -> dict[str, bytes]:
    """Return word files (up to MAX_SIZE) and licence of a scowl package, by path inside it."""
    if path.is_dir():
        paths = (*path.glob("usr/share/dict/scowl/*-words.*"), path / LICENCE_FILE)
        members = [
            (file.relative_to(path).as_posix(), file.read_bytes())
            for file in paths
            if file.is_file()
        ]
    else:
        members = list(_deb_files(path))
    files, spellings = {}, set()
    for name, data in members:
        match = WORD_FILE.fullmatch(name)
        if match and match["spelling"] in SPELLINGS and int(match["size"]) <= MAX_SIZE:
            spellings.add(match["spelling"])
            files[name] = data
        elif name == LICENCE_FILE:
            files[name] = data
    if missing := SPELLINGS - spellings:
        lacking = f"for {', '.join(sorted(missing))}" if spellings else "in usr/share/dict/scowl"
        raise ValueError(f"{path} is not Debian's scowl package: no word files {lacking}.")
    if LICENCE_FILE not in files:
        raise ValueError(f"{path} has no {LICENCE_FILE}; the list may not ship without it.")
    return files


def _deb_files(path: Path) -> Iterator[tuple[str, bytes]]:
    name, data = _data_member(path)
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None:
                    yield member.name.removeprefix("./"), stream.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        # Damage, or a compression that this Python does not know (.zst).
        raise ValueError(
            f"{path} holds {name}, which cannot be unpacked here ({error}); "
            "unpack the package and give the directory instead."
        ) from error


def _data_member(path: Path) -> tuple[str, bytes]:
    content = path.read_bytes()
    offset = len(AR_MAGIC)
    if not content.startswith(AR_MAGIC):
        raise ValueError(f"{path} is not a .deb: it does not begin as an ar archive does.")
    while len(header := content[offset : offset + AR_HEADER_BYTES]) == AR_HEADER_BYTES:
        name = header[:16].decode("ascii", "replace").strip().rstrip("/")
        size_field = header[48:58].strip()
        if not size_field.isdigit():
            break
        start, size = offset + AR_HEADER_BYTES, int(size_field)
        if name.startswith("data.tar") and start + size <= len(content):
            return name, content[start : start + size]
        offset = start + size + size % 2  # members begin at even offsets
    raise ValueError(f"{path} is not a whole .deb: it has no complete member data.tar.*.")


def read_curation() -> list[Correction]:
    """Read the curation file; check each row and the order of rows."""
    rows: list[Correction] = []
    header_seen = False
    for number, line in enumerate(CURATION.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        fields, where = line.split("\t"), f"{CURATION}, line {number}"
        if not header_seen:
            if fields != CURATION_HEADER:
                raise ValueError(f"{where}: {fields} is not {CURATION_HEADER}.")
            header_seen = True
            continue
        if len(fields) != len(CURATION_HEADER):
            raise ValueError(f"{where}: {len(fields)} columns between tabs, not 3.")
        action, word, source = fields
        if action not in ("+", "-"):
            raise ValueError(f"{where}: the action is {action!r}, neither + nor -.")
        if not SHORT.fullmatch(word):
            raise ValueError(f"{where}: {word!r} is not a word of two or three letters a-z.")
        if not source.strip():
            raise ValueError(f"{where}: {word} has no source.")
        if rows and word <= rows[-1].word:
            raise ValueError(f"{where}: {word} follows {rows[-1].word}.")
        rows.append(Correction(number, action, word, source))
    return rows


def build_words(files: dict[str, bytes], corrections: Iterable[Correction]) -> list[str]:
    """Make the finished list, sorted: scowl's playable words with the corrections applied."""
    words = set()
    for name, data in files.items():
        if not WORD_FILE.fullmatch(name):
            continue
        try:  # Debian ships UTF-8 now; earlier packages had upstream's ISO-8859-1
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("iso-8859-1")
        for entry in text.splitlines():
            decomposed = unicodedata.normalize("NFD", entry.translate(UNDECOMPOSED))
            folded = "".join(c for c in decomposed if not unicodedata.combining(c))
            if PLAYABLE.fullmatch(folded):
                words.add(folded)
    # A correction that corrects nothing is a mistake in the file, or scowl has changed.
    for row in corrections:
        if row.action == "+":
            if row.word in words:
                raise ValueError(f"Curation line {row.line} adds {row.word}, which scowl has.")
            words.add(row.word)
        else:
            if row.word not in words:
                raise ValueError(f"Curation line {row.line} removes {row.word}, which scowl lacks.")
            words.remove(row.word)
    return sorted(words)


def main(arguments: list[str] | None = None) -> None:
    """Write the list and its licence, and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m lexicons.embedded.build")
    parser.add_argument("package", type=Path, metavar="SCOWL_DEB", help=".deb or unpacked package")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="default: this one")
    options = parser.parse_args(arguments)
    try:
        files = read_package(options.package)
        words = build_words(files, read_curation())
        options.out.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{word}\n" for word in words).encode("ascii")
        compressed = lzma.compress(
            text, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=XZ_FILTERS
        )
        (options.out / WORD_LIST).write_bytes(compressed)
        (options.out / LICENCE).write_bytes(files[LICENCE_FILE])
    except (OSError, ValueError) as error:
        raise SystemExit(f"error: {error}") from error
    lengths = Counter(map(len, words))
    print(f"{len(words)} words:", *(f"{n}:{lengths[n]}" for n in sorted(lengths)))


if __name__ == "__main__":
    main()
