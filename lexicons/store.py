"""Lexicons ready to play with: a word graph, its alphabet, and a checksum of its words.

A word list is built into a graph on first use, which takes seconds, and cached under a hash of its
content. What kernels search is derived from the graph; if that is large, it is cached and mapped
into memory too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .alphabet import TileDistribution, load_distribution
from .cache import Arrays, Form, mapped_arrays, remove_unused, replacing, user_cache
from .kwg import GRAPH_SUFFIXES, WordGraph, read_kwg, write_kwg
from .layout import MAX_SIDE
from .package_lists import PACKAGE_LISTS, installed_names, installed_path
from .text import name_of
from .wordlist import WordList, pack_words, parse_word_list

if TYPE_CHECKING:
    from .search_graph import SearchNodes
    from .word_map import WordMap

_EMBEDDED_SUFFIX = ".txt.xz"
_FORMAT = "tilewire lexicon 2"  # change it when what is cached changes
_OURS = f"{'[0-9a-f]' * 64}.*"  # folders of words, and files, as earlier versions kept them

# A few nodes can spell any number of words; this is 1.5 times the richest language's list.
_MOST_WORDS = 4_500_000

_KEPT_NODES = 1 << 16
"""Least size for caching what is derived from a graph; for smaller ones making it is faster."""

_Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words that count, as a graph over a distribution's alphabet.

    ``checksum`` tells whether two lexicons have the same words: it is the SHA-256, in hexadecimal,
    of the words in tile order, upper case, one per line, UTF-8.
    """

    name: str
    distribution: TileDistribution
    graph: WordGraph
    checksum: str

    @cached_property
    def search_nodes(self) -> SearchNodes:
        """The graph in the form that kernels search (``lexicons.search_graph``).

        Raises:
            ValueError: the graph has too many nodes for an alphabet of this size.
        """
        from .search_graph import FORMAT, search_nodes  # these two bring numba in

        count, letters = len(self.graph.nodes), len(self.distribution.alphabet)

        def make() -> Arrays:
            return (search_nodes(self.graph, letters),)

        (nodes,) = self._derived((FORMAT, letters), make, [(np.uint64, (count,))])
        return nodes

    @cached_property
    def word_map(self) -> WordMap:
        """The words that fit on a board, by their letters; raises as ``search_nodes``."""
        from .word_map import FORMAT, WordMap, word_map

        def make() -> Arrays:
            made = word_map(self.search_nodes, letters, MAX_SIDE)
            return made.whole, made.shorter, made.runs, made.rows

        letters = len(self.distribution.alphabet)
        forms: list[Form] = [*[(np.uint64, None)] * 3, (np.uint8, None)]
        return WordMap(self.search_nodes, letters, *self._derived((FORMAT, MAX_SIDE), make, forms))

    def _derived(self, what: object, make: Callable[[], Arrays], forms: Sequence[Form]) -> Arrays:
        """Make arrays from the graph; those of a large one are kept in the cache and mapped."""
        if len(self.graph.nodes) < _KEPT_NODES:
            return make()
        return mapped_arrays("lexicons", (self._graph_digest, what), make, forms)

    @cached_property
    def _graph_digest(self) -> str:
        return hashlib.sha256(self.graph.nodes.data).hexdigest() + self.graph.layout.suffix

    def __reduce__(self) -> tuple[type[Lexicon], tuple[str, TileDistribution, WordGraph, str]]:
        """Pickle the fields alone; the rest is made again when needed."""
        return Lexicon, (self.name, self.distribution, self.graph, self.checksum)


def lexicon_names() -> tuple[str, ...]:
    """Name the available lexicons: the embedded ones, then the installed ones."""
    return (*_embedded_names(), *installed_names())


@cache
def _embedded_names() -> tuple[str, ...]:
    names = (entry.name for entry in (files("lexicons") / "embedded").iterdir())
    lists = (name for name in names if name.endswith(_EMBEDDED_SUFFIX))
    return tuple(sorted(name.removesuffix(_EMBEDDED_SUFFIX) for name in lists))


def load_lexicon(
    name_or_path: str | Path = "scowl",
    distribution: TileDistribution | None = None,
    progress: _Progress | None = None,
) -> Lexicon:
    """Load a lexicon by name, or a word list or word graph (``.kwg``, ``.kbwg``) by path.

    The words are in the alphabet of ``distribution``, by default that of an installed list's
    language, else English; ``progress`` is called with a sentence before slow work.

    Raises:
        ValueError: the file is no word list or word graph of this alphabet; says where and why.
        FileNotFoundError: neither the name of an embedded or installed lexicon nor a file.
        OSError: the file cannot be read, or as ``user_cache``.
    """
    progress, name = progress or (lambda _: None), str(name_or_path)
    if name in installed_names():
        own = load_distribution(PACKAGE_LISTS[name].tiles)
        distribution = distribution or own
        if distribution.alphabet.letters != own.alphabet.letters:
            raise ValueError(
                f"the lexicon {name} is in the letters of {own.name} tiles, and these are "
                f"{distribution.name} ones; --rules {own.name} plays with its own"
            )
        path = installed_path(name)
        return _from_list(name, path.read_bytes(), str(path), distribution, progress)
    distribution = distribution or load_distribution()
    if name in _embedded_names():
        entry = files("lexicons") / "embedded" / f"{name}{_EMBEDDED_SUFFIX}"
        return _from_list(name, entry.read_bytes(), entry.name, distribution, progress)
    path = _file(name_or_path)
    if path.suffix.lower() in (*GRAPH_SUFFIXES, ".kad"):  # the last is refused, saying what it is
        return _from_kwg(path, distribution, progress)
    return _from_list(name_of(path), path.read_bytes(), str(path), distribution, progress)


def _file(name_or_path: str | Path) -> Path:
    path, names = Path(name_or_path), ", ".join(_embedded_names())
    with suppress(OSError):  # a text too long for a path
        if path.is_file():
            return path
        if path.is_dir():
            raise ValueError(f"{path} is a folder; a lexicon is a file, or embedded: {names}")
        if path.exists():
            raise ValueError(f"{path} is not a regular file; a lexicon must be one")
    name = str(name_or_path)
    if name in PACKAGE_LISTS:
        raise FileNotFoundError(
            f"the lexicon {name} is not installed: tilewire lexicon install {name} makes it from "
            f"your distribution's package {PACKAGE_LISTS[name].package}"
        )
    raise FileNotFoundError(
        f"no lexicon is called {name[:80]!r} (embedded: {names}) and no file is there"
    )


def _from_list(
    name: str, content: bytes, source: str, distribution: TileDistribution, progress: _Progress
) -> Lexicon:
    stored = _Stored(content, distribution)
    cached = stored.graph()
    if cached is not None:
        return Lexicon(name, distribution, *cached)
    words = parse_word_list(content, distribution.alphabet, source)
    progress(f"building the word graph of {name}, {len(words):,} words (once for this list)")
    from .build import build_word_graph  # brings numba in, which only building needs

    graph = build_word_graph(words.matrix)
    if not stored.write(words.checksum, graph):
        progress(f"{stored.folder} cannot be written, so the graph is built again next time")
    return Lexicon(name, distribution, graph, words.checksum)


def _from_kwg(path: Path, distribution: TileDistribution, progress: _Progress) -> Lexicon:
    graph = read_kwg(path, len(distribution.alphabet))
    stored = _Stored(graph.nodes.tobytes(), distribution)
    checksum = stored.checksum()
    if checksum is None:
        progress(f"reading the words of {path.name} (once for this file)")
        listed = list(islice(graph.words(), _MOST_WORDS + 1))
        if len(listed) > _MOST_WORDS:
            raise ValueError(f"{path}: more than {_MOST_WORDS:,} words; no lexicon has as many")
        try:
            matrix = pack_words(listed)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        checksum = WordList(distribution.alphabet, matrix).checksum
        stored.write(checksum)
    return Lexicon(name_of(path), distribution, graph, checksum)


class _Stored:
    """What the cache has for a file: the checksum of its words and, for a list, the graph.

    They are in a folder, whose time says when they were last used. The graph's SHA-256 is the
    second line of the checksum's file. Files are replaced atomically.
    """

    def __init__(self, content: bytes, distribution: TileDistribution) -> None:
        # The same text has other tile numbers in another alphabet.
        digest = hashlib.sha256("\0".join((_FORMAT, *distribution.alphabet.letters, "")).encode())
        digest.update(content)
        self.folder = user_cache() / "lexicons" / f"{digest.hexdigest()}.words"
        self._checksum_path = self.folder / "checksum"

    def checksum(self) -> str | None:
        """Return the checksum of the words, if it is known."""
        return next(iter(self._checksums()), None)

    def _checksums(self) -> list[str]:
        with suppress(OSError):  # there is none, or a cache that may only be read
            os.utime(self.folder)
        try:
            lines = self._checksum_path.read_text(encoding="ascii").split()
        except (OSError, UnicodeDecodeError):
            return []
        return lines if {len(line) for line in lines} == {hashlib.sha256().digest_size * 2} else []

    def graph(self) -> tuple[WordGraph, str] | None:
        """Return the graph and the checksum, if both are there and sound."""
        checksums = self._checksums()
        if not checksums:
            return None
        words_checksum, graph_checksum = checksums[0], checksums[-1]
        for suffix in GRAPH_SUFFIXES:
            # A damaged file, after a crash for instance, is as good as none.
            with suppress(OSError, ValueError):
                return read_kwg(self._graph_path(suffix), sound=graph_checksum), words_checksum
        return None

    def write(self, checksum: str, graph: WordGraph | None = None) -> bool:
        """Cache the checksum of the words and their graph; return whether that was possible."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            checksums = [checksum]
            if graph is not None:
                write_kwg(self._graph_path(graph.layout.suffix), graph)
                checksums.append(hashlib.sha256(graph.nodes.data).hexdigest())
            with replacing(self._checksum_path) as temporary:
                temporary.write_text("\n".join(checksums) + "\n", encoding="ascii")
        except OSError:
            return False
        remove_unused(self.folder.parent, _OURS)
        return True

    def _graph_path(self, suffix: str) -> Path:
        return self.folder / f"words{suffix}"
