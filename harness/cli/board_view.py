"""How a board, racks, scores and clocks look in a terminal.

Everything here turns its arguments into something for ``rich`` to draw, and reads no clock. The
marks of the premium squares are those of a layout file (``'`` and ``"`` for letters, ``-`` and
``=`` for words), so that a board without colour can be read too. Names come from whoever plays:
they are shown as plain text, without markup or control characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from engine.rules.moves import PLAYED_THROUGH, Move, Place
from engine.rules.position import Board
from harness.figures import minutes, plain, plain_text
from lexicons.alphabet import BLANK_FLAG, EMPTY, Alphabet

WIDTH = 80
"""Columns that a view fits into; its width where there is no terminal."""
PANEL = 30
GAP = 2
LAST_MOVES = 8
"""How many of the last moves are listed beside the board."""
LABELS = 3  # the row numbers and a space

_TILE = "bold color(16) on color(223)"
_TILE_BLANK = "bold color(124) on color(223)"
_FRESH = "bold color(16) on color(220)"
_FRESH_BLANK = "bold color(124) on color(220)"
_LETTER_MARKS = {2: "'", 3: '"', 4: "^"}
_WORD_MARKS = {2: "-", 3: "=", 4: "~"}
_MARK_STYLES = {
    ".": "dim",
    "'": "color(16) on color(153)",
    '"': "color(231) on color(26)",
    "^": "color(231) on color(18)",
    "-": "color(16) on color(217)",
    "=": "color(231) on color(160)",
    "~": "color(231) on color(90)",
}


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a game: ``rack`` is text, empty where it isn't known."""

    name: str
    score: int
    rack: str = ""
    clock_ms: int | None = None
    on_turn: bool = False


@dataclass(frozen=True, slots=True)
class MoveView:
    """A move of a game; ``move`` is text for people."""

    number: int
    name: str
    move: str
    score: int
    totals: tuple[int, int] = (0, 0)
    clock_ms: int = 0


# --- texts --------------------------------------------------------------------------------------


def clock_text(ms: int) -> str:
    """Write a clock as ``24:59`` or ``1:02:03``; below zero, a second that has begun counts.

    >>> clock_text(-1)
    '−0:01'
    """
    seconds = ms // 1_000
    return f"{'−' * (seconds < 0)}{minutes(abs(seconds))}"


def fresh_squares(move: Move | None, board: Board) -> frozenset[tuple[int, int]]:
    """Return row and column of each square on which a move put a tile."""
    if not isinstance(move, Place):
        return frozenset()
    squares = board.squares_of(move)
    return frozenset((row, column) for row, column, tile in squares if tile != PLAYED_THROUGH)


# --- the board ----------------------------------------------------------------------------------


def board_text(
    board: Board, alphabet: Alphabet, fresh: Collection[tuple[int, int]] = frozenset()
) -> Text:
    """Draw a board with its premium squares; ``fresh`` squares stand out.

    A tile of several characters is shown without brackets, in a square wide enough for it.
    """
    layout = board.layout
    # A square has three columns, more for long tiles, less where the board must fit.
    tile_width = max(map(cell_len, (*alphabet.letters, *alphabet.blanked)))
    widths = max(tile_width + 1, 3), tile_width + 1
    fitting = (width for width in widths if LABELS + width * layout.columns <= WIDTH)
    width = next(fitting, tile_width)
    text = Text(no_wrap=True, overflow="crop")
    text.append(" " * LABELS)
    for column in range(layout.columns):
        text.append(_centred(chr(ord("A") + column), width), "dim")
    for row in range(layout.rows):
        text.append(f"\n{row + 1:>{LABELS - 1}} ", "dim")
        for column in range(layout.columns):
            tile, is_fresh = board.at(row, column), (row, column) in fresh
            if tile == EMPTY:
                square = row * layout.columns + column
                letter, word = layout.letter_multipliers[square], layout.word_multipliers[square]
                mark = _WORD_MARKS.get(word) or _LETTER_MARKS.get(letter) or "."
                style = _MARK_STYLES[mark]
                mark = "*" if (row, column) == layout.start else mark
            elif tile & BLANK_FLAG:
                mark = alphabet.blanked[tile & ~BLANK_FLAG]
                style = _FRESH_BLANK if is_fresh else _TILE_BLANK
            else:
                mark, style = alphabet.letters[tile], _FRESH if is_fresh else _TILE
            text.append(_centred(mark, width), style)
    return text


def _centred(text: str, width: int) -> str:
    space = max(width - cell_len(text), 0)
    return " " * (space // 2) + text + " " * (space - space // 2)


# --- what stands beside it ----------------------------------------------------------------------


def game_view(
    board: Board,
    alphabet: Alphabet,
    sides: Sequence[SideView],
    *,
    heading: str = "",
    bag: int,
    moves: Sequence[MoveView] = (),
    fresh: Collection[tuple[int, int]] = frozenset(),
    closing: str = "",
) -> RenderableType:
    """Draw a position: the board, and beside it, or below where it is narrow, all the rest.

    ``bag`` is the number of tiles in it; the last of ``moves`` are listed; ``fresh``
    squares stand out; ``closing`` is a sentence at the end, such as the result.
    """
    panel: list[RenderableType] = [_sides(sides), "", Text(f"  bag {bag}", "dim")]
    if moves:
        panel += ["", _moves(moves[-LAST_MOVES:])]
    if closing:
        panel += ["", Text(plain(closing), "bold")]
    legend = Text(" " * LABELS)
    letters = _LETTER_MARKS, board.layout.letter_multipliers, "letter"
    words = _WORD_MARKS, board.layout.word_multipliers, "word"
    for marks, multipliers, what in (letters, words):
        for times in sorted(set(multipliers) & marks.keys()):
            legend.append(f"{marks[times]} ", "bold").append(f"{times}×{what}  ", "dim")
    squares = Group(board_text(board, alphabet, fresh), legend)
    parts: list[RenderableType] = [Text(plain(heading), "bold")] if heading else []
    return Group(*parts, _Beside(squares, Group(*panel)))


@dataclass(frozen=True)
class _Beside:
    """Two things side by side where there is room, else one above the other."""

    left: RenderableType
    right: RenderableType

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width = Measurement.get(console, options, self.left).maximum
        if options.max_width < width + GAP + PANEL:
            yield from (self.left, "", self.right)
            return
        grid = Table.grid(padding=(0, GAP, 0, 0))
        grid.add_column(width=width)
        grid.add_column(width=PANEL)
        grid.add_row(self.left, self.right)
        yield grid


def _sides(sides: Sequence[SideView]) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold", max_width=PANEL - 16)
    grid.add_column(justify="right", min_width=5)
    grid.add_column(justify="right", min_width=4)
    for side in sides:
        style = "bold" if side.on_turn else ""
        clock = "" if side.clock_ms is None else clock_text(side.clock_ms)
        late = side.clock_ms is not None and side.clock_ms < 0
        grid.add_row(
            Text("▸" if side.on_turn else "", style),
            Text(plain(side.name), style),
            Text(clock, f"{style} red" if late else style),
            Text(str(side.score), "bold"),
        )
        if side.rack:
            grid.add_row("", Text(plain(side.rack), _TILE))
    return grid


def _moves(moves: Sequence[MoveView]) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", style="dim")
    grid.add_column(max_width=7, no_wrap=True, overflow="ellipsis")
    grid.add_column(max_width=PANEL - 17, overflow="fold")
    grid.add_column(justify="right")
    for move in moves:
        grid.add_row(
            str(move.number), Text(plain(move.name)), Text(plain(move.move)), f"{move.score:+d}"
        )
    return grid


# --- where it goes ------------------------------------------------------------------------------


def terminal_width() -> int | None:
    """Return the columns of the terminal on standard output; None if that is no terminal."""
    console = Console()
    return console.width if console.is_terminal else None


def print_view(view: RenderableType, console: Console | None = None) -> None:
    """Draw something on standard output: in colour on a terminal, else as plain text."""
    console = console or Console()
    if console.is_terminal:
        console.print(view)
    else:
        print(plain_text(view), end="", file=console.file)
