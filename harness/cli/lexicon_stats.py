"""``tilewire lexicon stats``: what a lexicon is like, as tables, JSON and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from cyclopts import Parameter
from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.figures import counted, number, parts, share
from harness.pictures import picture

from . import options
from .board_view import WIDTH, print_view, terminal_width
from .failing import print_json, sentences
from .study_run import check_drawable

if TYPE_CHECKING:
    from engine.rules.rules import Rules
    from lexicons.statistics import Letter, LexiconStatistics

NameOption: TypeAlias = Annotated[str, Parameter(name="--lexicon")]
"""A lexicon, given as an argument or as ``--lexicon``."""

_LETTERS = (
    "shares of all letters; those in the bag without blanks",
    "tiles → as the words have the letters: at least one each, then by Webster's method",
    "points → the same points, dealt by the words: the rarer a letter, the more",
)
_HOOKS = "in front, behind, either: words with a hook there; the longest can't have one"
_DRAWS = "draws: of all, those with so many blanks; make one: of these, those that make a word"


def stats(
    name: NameOption = "scowl",
    *,
    rules: options.RulesOption = None,
    top: options.Count = 10,
    plots: Path | None = None,
    json_: options.JsonOption = False,
) -> None:
    """Say what a lexicon is like: letters, hooks, anagrams, best openings, full-length words.

    Args:
        name: An embedded or installed lexicon, or a word list or KWG file.
        top: How many words, plays and racks each list has.
        plots: A folder to draw letters and lengths into, PNG files; made if need be.
        json_: Print one JSON object: all that the tables have, shares from 0 to 1.
    """
    from lexicons.statistics import lexicon_statistics

    played = options.load_rule_set(rules or options.rules_of(name))
    if plots is not None:
        check_drawable("--plots")
        options.make_folder(plots)
    tiles = played.distribution
    lexicon = options.load_words(options.lexicon_for(name, tiles), tiles)
    with sentences(), options.working(f"counting the words of {lexicon.name}"):
        if not lexicon.graph.dawg_root:
            raise ValueError(f"{lexicon.name} has no words")
        statistics = lexicon_statistics(
            lexicon, played.layout, played.rack_size, played.bingo_bonus, top
        )
    if plots is not None:
        with sentences(kinds=(OSError,), status=1):
            _draw_letters(statistics, played.rack_size, plots / "letters.png")
            _draw_lengths(statistics, plots / "lengths.png")
    words = sum(length.words for length in statistics.lengths)
    if json_:
        about = {"name": lexicon.name, "rules": played.name, "words": words}
        print_json(about | asdict(statistics))
        return
    heading = f"{lexicon.name}, {counted(words, 'word')}, by the rules {played.name}"
    width = terminal_width() or WIDTH
    print_view(Group(Text(heading, "bold"), *_tables(statistics, played, width)))


def _tables(found: LexiconStatistics, rules: Rules, width: int) -> Iterator[RenderableType]:
    size = rules.rack_size
    yield _letters(found.letters, size, width)
    counts = [(row.words, row.front, row.back, row.hooked, row.anagrams) for row in found.lengths]
    total = tuple(map(sum, zip(*counts, strict=True)))
    names = [*(str(row.letters) for row in found.lengths), "all"]
    lengths = [
        (name, f"{words:,}", share(words / total[0]), *(share(count / words) for count in having))
        for name, (words, *having) in zip(names, [*counts, total], strict=True)
    ]
    head = ("letters>", "words>", "share>", "in front>", "behind>", "either>", "anagram>")
    yield _table("Words by length", head, lengths, [_HOOKS], width)
    hooks = [(hooked.front, hooked.word, hooked.back) for hooked in found.hooks]
    yield _table("Most hooks", ("in front>", "word", "behind"), hooks)
    chains = found.chains
    ends = "word ends" if chains.count == 1 else "words end"
    longest = counted(chains.length, "word")
    title = f"Longest chains of hooks: {longest}; {chains.count:,} {ends} one"
    yield _table(title, ("words",), [(" ".join(chain),) for chain in chains.chains])
    sets = [(str(len(words)), " ".join(words)) for words in found.anagrams]
    yield _table("Largest anagram sets", (">", "words"), sets)
    plays = [(str(play.score), play.play, " ".join(play.squares)) for play in found.openings.plays]
    more = [f"{found.openings.more:,} more with {plays[-1][0]}"] if found.openings.more else []
    yield _table("Best openings", ("score>", "play", "squares"), plays, more)
    full = found.full
    draws = [(str(draw.blanks), share(draw.chance), share(draw.full)) for draw in full.draws]
    title = f"A first draw makes a word of {size} letters: {number(100 * full.chance, 2)} %"
    yield _table(title, ("blanks>", "draws>", "make one>"), draws, [_DRAWS])
    likeliest = [(f"1 in {1 / word.chance:,.0f}", " ".join(word.words)) for word in full.likeliest]
    title = f"Most probable words of {size} letters, in a first draw"
    yield _table(title, ("chance>", "words"), likeliest)
    title = f"Racks with most words of {size} letters"
    without, *others = full.racks
    rows = [(rack.rack, f"{rack.count:,}", " ".join(rack.words)) for rack in without]
    yield _table(f"{title}, no blank", ("rack", "words>", ""), rows)
    for blanks, racks in enumerate(others, start=1):
        more_racks = [(rack.rack, f"{rack.count:,}") for rack in racks]
        yield _table(f"{title}, {counted(blanks, 'blank')}", ("rack", "words>"), more_racks)


def _letters(letters: Sequence[Letter], size: int, width: int) -> RenderableType:
    by_length = ("words>", "2–3 letters>", f"{size}–{size + 1} letters>")
    head = ("", *by_length, "bag>", "tiles>", "", "points>", "")
    rows = [
        (
            letter.letter,
            *map(share, (letter.share, letter.short, letter.full, letter.in_bag)),
            *_change(letter.tiles, letter.tiles_by_share),
            *_change(letter.points, letter.points_by_share),
        )
        for letter in letters
    ]
    return _table("Letters", head, rows, _LETTERS, width)


def _change(now: int, by_share: int) -> tuple[str, str]:
    return str(now), "" if now == by_share else f"→ {by_share}"


def _table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Sequence[str] = (),
    width: int | None = None,
) -> RenderableType:
    """Return a table under its title, notes below; a head that ends in > is of a column of numbers.

    Columns that don't fit into a ``width`` move below; without one, texts wrap.
    """
    listed = list(rows)
    if not listed:
        return Padding(Text(f"{title}: none"), (1, 0, 0, 0))
    shown: list[RenderableType] = []
    if width is None:
        shown = [_columns(head, listed)]
    else:
        names = [name.rstrip(">") for name in head]
        for part in parts(names, listed, width, gap=3):
            lines = [[row[column] for column in part] for row in listed]
            shown += [Text()] if shown else []
            shown.append(_columns([head[column] for column in part], lines, wraps=False))
    below = [Text(note, "dim") for note in notes]
    return Padding(Group(Text(title, "bold"), *shown, *below), (1, 0, 0, 0))


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]], *, wraps: bool = True) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, header_style="", pad_edge=False, show_edge=False)
    for name in head:
        right = name.endswith(">")
        justify: JustifyMethod = "right" if right else "left"
        shown.add_column(name.rstrip(">"), justify=justify, no_wrap=right or not wraps)
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


# --- pictures -------------------------------------------------------------------------------------


def _draw_letters(found: LexiconStatistics, rack_size: int, path: Path) -> None:
    """Draw letters by their share in words, most frequent first; below, tiles and points."""
    letters = sorted(found.letters, key=lambda letter: -letter.share)
    places, width = np.arange(len(letters)), 0.4
    with picture(path, 13, 9) as figure:
        shares, tiles = figure.subplots(2, 1)
        bag = [100 * letter.in_bag for letter in letters]
        shares.bar(places, bag, color="0.85", label="in the bag")
        long = f"in words of {rack_size}–{rack_size + 1} letters"
        for name, marker, colour, values in (
            ("in all words", "o", "tab:blue", [letter.share for letter in letters]),
            ("in words of 2–3 letters", "^", "tab:orange", [letter.short for letter in letters]),
            (long, "s", "tab:green", [letter.full for letter in letters]),
        ):
            shares.plot(places, 100 * np.array(values), marker, color=colour, ms=5, label=name)
        shares.set(title="Letters", ylabel="share, %", xlim=(-0.7, len(letters) - 0.3))
        # Tiles and points beside those that follow from the words.
        now = [letter.tiles for letter in letters]
        by_share = [letter.tiles_by_share for letter in letters]
        points = [-letter.points for letter in letters]
        points_by_share = [-letter.points_by_share for letter in letters]
        tiles.bar(places - width / 2, now, width, color="tab:gray", label="as they are")
        tiles.bar(places + width / 2, by_share, width, color="tab:blue", label="by share in words")
        tiles.bar(places - width / 2, points, width, color="tab:gray")
        tiles.bar(places + width / 2, points_by_share, width, color="tab:blue")
        tiles.axhline(0, color="black", lw=0.8)
        tiles.locator_params(axis="y", integer=True)
        tiles.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
        tiles.set(
            title="Tiles (up) and points (down)",
            ylabel="points            tiles",
            xlim=(-0.7, len(letters) - 0.3),
        )
        for axes in (shares, tiles):
            axes.set_xticks(places, [letter.letter for letter in letters])
            axes.grid(axis="y", alpha=0.3)
            axes.legend()


def _draw_lengths(found: LexiconStatistics, path: Path) -> None:
    """Draw words and shares by length; the longest words have no hooks, for the list ends there."""
    letters = np.array([row.letters for row in found.lengths])
    words = np.array([row.words for row in found.lengths])
    with picture(path, 13, 5) as figure:
        lengths, hooks = figure.subplots(1, 2)
        lengths.bar(letters, words, color="tab:blue")
        lengths.set_xticks(letters)
        lengths.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        lengths.set(title="Words by length", xlabel="letters", ylabel="words")
        lengths.grid(axis="y", alpha=0.3)
        for name, counts, shown in (
            ("a hook in front", [row.front for row in found.lengths], letters < letters.max()),
            ("a hook behind", [row.back for row in found.lengths], letters < letters.max()),
            ("an anagram", [row.anagrams for row in found.lengths], letters > 0),
        ):
            shares = (100 * np.array(counts) / words)[shown]
            hooks.plot(letters[shown], shares, "o-", ms=4, label=name)
        hooks.set_xticks(letters)
        hooks.set(title="Words with hooks and anagrams", xlabel="letters", ylabel="share, %")
        hooks.set_ylim(0, 100)
        hooks.grid(alpha=0.3)
        hooks.legend()
