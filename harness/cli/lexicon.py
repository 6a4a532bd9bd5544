"""``tilewire lexicon``: install, build, info, check, words, list, stats."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from harness.writing import naming, replacing
from lexicons import package_lists
from lexicons.alphabet import TILES_OPTIONS
from lexicons.kwg import GRAPH_SUFFIXES, write_kwg
from lexicons.package_lists import PACKAGE_LISTS, installed_note
from lexicons.store import Lexicon, lexicon_names

from . import options
from .board_view import terminal_width
from .failing import UNREADABLE, CommandFailed, print_json, sentences
from .lexicon_stats import NameOption, stats
from .study_run import telling

app = App(name="lexicon", help="Build, describe or query a lexicon.")
app.command(stats)

_VALID = "valid"
_NARROWEST = 20  # columns of a text, even if the terminal has fewer
_ORIGINS = {
    "scowl": (
        "SCOWL 2020.12.07 by Kevin Atkinson and others, up to size 80, words of 2 and 3 letters "
        "held against open dictionaries",
        "free to use, change, sell and pass on with its notice: "
        f"{files('lexicons') / 'embedded' / 'COPYING.scowl'}",
    )
}
"""Source and terms of embedded lexicons."""


@app.command
def install(language: str = "", /) -> None:
    """Make a lexicon of a word list from a package of your Linux distribution.

    It has the language's name from then on, as in --lexicon polish.

    Args:
        language: polish, german, ogerman (the spelling before 1996), french, spanish, catalan,
            dutch, norwegian (bokmål) or nynorsk. [default: these are listed]
    """
    if not language:
        print("\n".join(PACKAGE_LISTS))
        return
    if language not in PACKAGE_LISTS:
        raise CommandFailed(
            f"no package with a list of {language[:40]!r} is known; known are "
            f"{', '.join(PACKAGE_LISTS)}. tilewire lexicon build makes a lexicon of any list"
        )
    listed = PACKAGE_LISTS[language]
    if listed.source.is_file():
        options.print_notice(f"reading {listed.source}")
    making = options.working(f"making the lexicon {language}")
    with sentences(kinds=UNREADABLE), naming(package_lists.installed_path(language)), making:
        note = package_lists.install(listed, lambda lines: telling(lines, "lines"))
        options.print_notice(f"{note.words:,} words are left")
        lexicon = options.load_words(language)
        _ = lexicon.word_map  # kept too, so that no game waits until it is made
    print(f"{language}: {note.words:,} words of {note.origin}, in {note.tiles} tiles")
    print(f"licence: {note.licence} ({note.copyright_file})")
    print(f"left out: {sum(entry.count for entry in note.left_out):,}")
    for entry in note.left_out:
        print(f"{entry.count:>9,}  {entry.reason}: {entry.example}")
    if listed.capitals:
        print("Names are in it: nouns and names begin with a capital alike.")


@app.command
def build(
    source: str, out: Path, /, *, distribution: options.WordsDistributionOption = None
) -> None:
    """Build a word graph (KWG) of a word list.

    Args:
        source: A word list: UTF-8 text, or that compressed by xz (.xz); one word a line.
        out: The file to write: .kwg, or .kbwg for more than 4,194,304 nodes.
    """
    if out.suffix.lower() not in GRAPH_SUFFIXES:
        endings = " or ".join(GRAPH_SUFFIXES)
        raise CommandFailed(f"{out}: the name of a word graph ends in {endings}")
    if not out.parent.is_dir():
        raise CommandFailed(f"{out}: there is no folder {out.parent}")
    lexicon = options.load_words_in(distribution, source)
    with sentences(f"{out} can't be written: ", UNREADABLE):
        write_kwg(out, lexicon.graph)
    words = sum(1 for _ in lexicon.graph.words())
    print(f"{out}: {words:,} words, {len(lexicon.graph.nodes):,} nodes, {lexicon.checksum}")


@app.command
def info(
    name: NameOption = "scowl",
    *,
    distribution: options.WordsDistributionOption = None,
    json_: options.JsonOption = False,
) -> None:
    """Describe a lexicon.

    Args:
        name: An embedded or installed lexicon, or a word list or KWG file.
        json_: Print one JSON object; lengths is how many words have so many letters.
    """
    lexicon = options.load_words_in(distribution, name)
    alphabet = lexicon.distribution.alphabet
    lengths = Counter(map(len, lexicon.graph.words()))
    letters = alphabet.text(range(1, len(alphabet) + 1))
    source, terms = _origin(name)
    if json_:
        described = {
            "name": lexicon.name,
            "words": lengths.total(),
            "lengths": dict(sorted(lengths.items())),
            "nodes": len(lexicon.graph.nodes),
            "checksum": lexicon.checksum,
            "distribution": lexicon.distribution.name,
            "letters": letters,
            "source": source,
            "licence": terms,
        }
        print_json(described)
        return
    print(f"name      {lexicon.name}")
    print(f"words     {lengths.total():,}")
    for length, count in sorted(lengths.items()):
        print(f"{length:8}  {count:>9,}")
    print(f"nodes     {len(lexicon.graph.nodes):,}")
    print(f"checksum  {lexicon.checksum}")
    _print_row("alphabet  ", f"{lexicon.distribution.name}, {len(alphabet)} letters: {letters}")
    if source:
        _print_row("source    ", source)
        _print_row("licence   ", terms or "")


@app.command
def check(
    *words: str,
    lexicon: options.LexiconOption = "scowl",
    distribution: options.WordsDistributionOption = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    json_: options.JsonOption = False,
) -> None:
    """Check whether words are valid; the exit status is 1 if any is not.

    Args:
        words: Words in any case; a tile of several characters may stand in brackets: [CH].
        quiet: Print nothing; the exit status tells.
        json_: Print one JSON object: each word, and whether it is valid.
    """
    if not words:
        raise CommandFailed("no words to check; write: tilewire lexicon check WORD…")
    loaded = options.load_words_in(distribution, lexicon)
    width = max(map(len, words))
    verdicts = {word: _verdict(word, loaded) for word in words}
    if json_ and not quiet:
        print_json({word: verdict == _VALID for word, verdict in verdicts.items()})
    elif not quiet:
        for word in words:
            print(f"{word.upper():<{width}}  {verdicts[word]}")
    if set(verdicts.values()) != {_VALID}:
        raise CommandFailed("", status=1)


@app.command
def words(
    *,
    lexicon: options.LexiconOption = "scowl",
    distribution: options.WordsDistributionOption = None,
    out: Path | None = None,
) -> None:
    """Print the words, one a line, in upper case and in the order of the tiles.

    Their SHA-256 is the checksum of the lexicon. A tile of several characters is in brackets: [CH].

    Args:
        out: The file to write them to, UTF-8.
    """
    loaded = options.load_words_in(distribution, lexicon)
    text = loaded.distribution.alphabet.text
    lines = (f"{text(word)}\n" for word in loaded.graph.words())
    if out is None:
        sys.stdout.writelines(lines)
        return
    is_pipe = out.exists() and not out.is_file()  # or a device
    with (
        sentences(f"{out} can't be written: ", UNREADABLE),
        nullcontext(out) if is_pipe else replacing(out.resolve()) as path,
        path.open("w", encoding="utf-8") as file,
    ):
        file.writelines(lines)


@app.command(name="list")
def list_(*, json_: options.JsonOption = False) -> None:
    """Name the lexicons that are embedded or installed.

    Args:
        json_: Print one JSON object: the source of each.
    """
    if json_:
        print_json({name: _origin(name)[0] for name in lexicon_names()})
        return
    for name in lexicon_names():
        _print_row(f"{name}  ", f"rules {options.rules_of(name)}; {_origin(name)[0] or ''}")


def _print_row(head: str, text: str) -> None:
    """Print a text after its head; on a terminal, wrap it to the width.

    Paths stay whole, to be copied.
    """
    lines = [text]
    if (width := terminal_width()) is not None:
        room = max(width - len(head), _NARROWEST)
        lines = textwrap.wrap(text, room, break_on_hyphens=False, break_long_words=False)
    between = "\n" + " " * len(head)
    print(f"{head}{between.join(lines)}".rstrip())


def _origin(name: str) -> tuple[str | None, str | None]:
    """Return source and licence of a lexicon; None for what is not known."""
    if name in _ORIGINS:
        return _ORIGINS[name]
    note = installed_note(name)
    return (note.origin, f"{note.licence} ({note.copyright_file})") if note else (None, None)


def _verdict(word: str, lexicon: Lexicon) -> str:
    try:
        tiles = lexicon.distribution.alphabet.word_tiles(word)
    except ValueError as error:
        reason = str(error).replace(TILES_OPTIONS, "tilewire lexicon install, then --lexicon")
        return f"not valid: {reason}"
    return _VALID if lexicon.graph.contains(tiles) else "not valid"
