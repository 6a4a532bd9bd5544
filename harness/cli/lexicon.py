"""``tilewire lexicon``: build, info, check, words, list, stats."""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import App, Parameter

from lexicons.alphabet import BLANK, Alphabet, load_distribution
from lexicons.kwg import GRAPH_SUFFIXES, write_kwg
from lexicons.store import Lexicon, lexicon_names

from .failing import UNREADABLE, CommandFailed, print_json, sentences
from .lexicon_stats import stats
from .options import JsonOption, LexiconOption, load_words

app = App(name="lexicon", help="Build, describe or query a lexicon.")
app.command(stats, usage="Usage: tilewire lexicon stats [OPTIONS] [LEXICON]")

DistributionOption: TypeAlias = Annotated[
    str,
    Parameter(help="Whose letters the words are in: an embedded distribution or a CSV file."),
]

_VALID = "valid"
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
def build(source: str, out: Path, /, *, distribution: DistributionOption = "english") -> None:
    """Build a word graph (KWG) of a word list.

    Args:
        source: A word list: UTF-8 text, or that compressed by xz (.xz); one word a line.
        out: The file to write: .kwg, or .kbwg for more than 4,194,303 nodes.
    """
    if out.suffix.lower() not in GRAPH_SUFFIXES:
        endings = " or ".join(GRAPH_SUFFIXES)
        raise CommandFailed(f"{out}: the name of a word graph ends in {endings}")
    if not out.parent.is_dir():
        raise CommandFailed(f"{out}: there is no folder {out.parent}")
    lexicon = _load(source, distribution)
    with sentences(f"{out} can't be written: ", UNREADABLE):
        write_kwg(out, lexicon.graph)
    words = sum(1 for _ in lexicon.graph.words())
    print(f"{out}: {words:,} words, {len(lexicon.graph.nodes):,} nodes, {lexicon.checksum}")


@app.command(usage="Usage: tilewire lexicon info [OPTIONS] [LEXICON]")
def info(
    name: str = "scowl",
    /,
    *,
    distribution: DistributionOption = "english",
    json_: JsonOption = False,
) -> None:
    """Describe a lexicon.

    Args:
        name: An embedded lexicon, or a word list or KWG file.
        json_: Print one JSON object; lengths is how many words have so many letters.
    """
    lexicon = _load(name, distribution)
    alphabet = lexicon.distribution.alphabet
    lengths = Counter(map(len, lexicon.graph.words()))
    letters = alphabet.text(range(1, len(alphabet) + 1))
    source, terms = _ORIGINS.get(name, (None, None))
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
        print_json(json.dumps(described, ensure_ascii=False))
        return
    print(f"name      {lexicon.name}")
    print(f"words     {lengths.total():,}")
    for length, count in sorted(lengths.items()):
        print(f"{length:8}  {count:>9,}")
    print(f"nodes     {len(lexicon.graph.nodes):,}")
    print(f"checksum  {lexicon.checksum}")
    print(f"alphabet  {lexicon.distribution.name}, {len(alphabet)} letters: {letters}")
    if source:
        print(f"source    {source}")
        print(f"licence   {terms}")


@app.command(usage="Usage: tilewire lexicon check [OPTIONS] WORD...")
def check(
    *words: str,
    lexicon: LexiconOption = "scowl",
    distribution: DistributionOption = "english",
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    json_: JsonOption = False,
) -> None:
    """Check whether words are valid; the exit status is 1 if any is not.

    Args:
        words: Words in any case; a tile of several characters may stand in brackets: [CH].
        quiet: Print nothing; the exit status tells.
        json_: Print one JSON object: each word, and whether it is valid.
    """
    if not words:
        raise CommandFailed("no words to check; write: tilewire lexicon check WORD…")
    loaded = _load(lexicon, distribution)
    width = max(map(len, words))
    verdicts = [_verdict(word, loaded) for word in words]
    if json_:
        valid = (verdict == _VALID for verdict in verdicts)
        print_json(json.dumps(dict(zip(words, valid, strict=True)), ensure_ascii=False))
    for word, verdict in zip(words, verdicts, strict=True):
        if not quiet and not json_:
            print(f"{word.upper():<{width}}  {verdict}")
    if set(verdicts) != {_VALID}:
        sys.exit(1)


@app.command
def words(
    *,
    lexicon: LexiconOption = "scowl",
    distribution: DistributionOption = "english",
    out: Path | None = None,
) -> None:
    """Print the words, one a line, in upper case and in the order of the tiles.

    Their SHA-256 is the checksum of the lexicon. A tile of several characters is in brackets: [CH].

    Args:
        out: The file to write them to, UTF-8.
    """
    loaded = _load(lexicon, distribution)
    text = loaded.distribution.alphabet.text
    lines = (f"{text(word)}\n" for word in loaded.graph.words())
    if out is None:
        sys.stdout.writelines(lines)
        return
    with (
        sentences(f"{out} can't be written: ", UNREADABLE),
        out.open("w", encoding="utf-8") as file,
    ):
        file.writelines(lines)


@app.command(name="list")
def embedded(*, json_: JsonOption = False) -> None:
    """Name the embedded lexicons.

    Args:
        json_: Print one JSON object: the source of each.
    """
    if json_:
        print(json.dumps({name: _ORIGINS.get(name, (None,))[0] for name in lexicon_names()}))
        return
    for name in lexicon_names():
        print("  ".join((name, *_ORIGINS.get(name, ())[:1])))


def _load(name: str, distribution: str) -> Lexicon:
    with sentences(kinds=UNREADABLE):
        tiles = load_distribution(distribution)
    return load_words(name, tiles)


def _verdict(word: str, lexicon: Lexicon) -> str:
    try:
        tiles = _tiles(word.upper(), lexicon.distribution.alphabet)
    except ValueError as error:
        return f"not valid: {error}"
    return _VALID if lexicon.graph.contains(tiles) else "not valid"


def _tiles(word: str, alphabet: Alphabet) -> tuple[int, ...]:
    """Read a word with or without brackets.

    Raises:
        ValueError: at a character that no letter begins with.
    """
    if "[" not in word:
        return alphabet.word_tiles(word)
    tiles = alphabet.tiles(word)
    if BLANK in tiles:
        raise ValueError(f"'?' in {word!r} is not a letter")
    return tiles
