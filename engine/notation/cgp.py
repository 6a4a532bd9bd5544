"""CGP: a position in one line, ``board racks scores zeros [operation;]*``.

* board: rows from the top, joined by ``/``; a decimal number is that many empty squares, a letter
  in upper case a tile, in lower case a blank, ``[CH]`` a tile of several characters, which may
  lack its brackets where the characters can't be tiles of their own and one reading alone fits;
* racks: ``on turn/next``, ``?`` a blank, nothing where the rack is empty or unknown;
* scores: two whole numbers in the same order;
* zeros: the number of scoreless turns in a row so far;
* operations: a name and its argument, each closed by ``;`` (``lex NWL18; ld english;``).

CGP tells which player is on turn, not which seat: a position that is read has seat 0 on turn.
``read_operations`` gives the operations as text; they are not acted upon, since the caller chooses
the rules. Two operations of our own belong to the position, if the rules limit what they count:
``passes 2;`` in a row so far, and ``exchanges 1/0;`` so far, in the order of the racks. Without
them these numbers are 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import groupby, product
from typing import TypeVar

from engine.rules.challenges import CHALLENGE_RULES, ChallengeRule
from engine.rules.position import Board, Position, Rack, tiles_of
from engine.rules.rules import Rules
from lexicons.alphabet import BLANK, BLANK_FLAG, Alphabet, TileDistribution
from lexicons.layout import MAX_SIDE
from lexicons.text import shown

from .move_text import NotationError, tile_on_board

KNOWN_OPERATIONS = {
    *("bb", "bdn", "cr", "etl", "gid", "id", "ld", "lex"),
    *("lm", "mcnz", "oru", "ti", "tmr", "to", "var"),
    *("exchanges", "mcnp", "mex", "passes"),  # ours
}
_SQUARES = re.compile(r"[0-9]+|\[[^\[\]/]*\]|.", re.DOTALL)
_LONGEST_READ = 6 * MAX_SIDE  # a row of the longest tiles in brackets
_SCORE = re.compile(r"[+-]?[0-9]{1,9}")
_COUNT = re.compile(r"[0-9]{1,9}")
_COUNTED = {"passes": re.compile(r"[0-9]{1,4}"), "exchanges": re.compile(r"[0-9]{1,4}/[0-9]{1,4}")}

T = TypeVar("T")


def read_cgp(text: str, rules: Rules) -> Position:
    """Read a position that fits the rules' board, tiles and rack size.

    Raises:
        NotationError: names the part, the row or rack, what is there and what fits.
    """
    fields = text.split(maxsplit=4)
    if len(fields) < 4:
        raise NotationError(
            f"{shown(text)} is not a CGP: {len(fields)} of the 4 fields "
            "'board racks scores zeros', separated by spaces"
        )
    board = _read_board(fields[0], rules)
    held, points = fields[1].split("/"), fields[2].split("/")
    if len(held) != 2:
        raise NotationError(
            f"racks: {shown(fields[1])} is {len(held)} of the two racks 'on turn/next'; "
            "an unknown rack is empty, as in 'ABCDEFG/'",
            "racks",
        )
    first, second = (
        read_rack(rack, f"{name} rack", rules.distribution.alphabet, rules.rack_size)
        for name, rack in zip(("first", "second"), held, strict=True)
    )
    check_tile_counts(board, (first, second), rules.distribution)
    if not _COUNT.fullmatch(fields[3]):
        raise NotationError(
            f"zeros: {shown(fields[3])} is not a number of scoreless turns, 0 or more", "rules"
        )
    operations = read_operations(text)
    if len(points) != 2 or not all(map(_SCORE.fullmatch, points)):
        why = f"scores: {shown(fields[2])} is not two whole numbers such as 120/98"
        raise NotationError(why, "scores")
    scores = int(points[0]), int(points[1])
    position = Position(board, (first, second), scores, scoreless_turns=int(fields[3]))
    for name, argument in operations:
        if name in _COUNTED and not _COUNTED[name].fullmatch(argument):
            raise NotationError(
                f"operation {shown(f'{name} {argument}')}: passes are a number, as in 'passes 2;', "
                "and exchanges two, as in 'exchanges 1/0;'",
                "rules",
            )
        if name == "passes":
            position = replace(position, passes=int(argument) * rules.limits_passes)
        elif name == "exchanges":
            own, other = (int(count) * rules.limits_exchanges for count in argument.split("/"))
            position = replace(position, exchanges=(own, other))
    return position


def write_cgp(position: Position, rules: Rules, operations: Iterable[tuple[str, str]] = ()) -> str:
    """Write a position, the seat on turn first.

    Raises:
        NotationError: an operation that could not be read back.
    """
    alphabet = rules.distribution.alphabet
    columns, squares = position.board.layout.columns, position.board.squares
    first, second = position.on_turn, 1 - position.on_turn
    rows = [
        "".join(
            alphabet.text(run) if tiles else str(len(list(run)))
            for tiles, run in groupby(squares[index : index + columns], bool)
        )
        for index in range(0, len(squares), columns)
    ]
    parts = [
        "/".join(rows),
        f"{alphabet.text(position.racks[first])}/{alphabet.text(position.racks[second])}",
        f"{position.scores[first]}/{position.scores[second]}",
        str(position.scoreless_turns),
    ]
    counted = []
    if rules.limits_passes and position.passes:
        counted.append(("passes", str(position.passes)))
    if rules.limits_exchanges and any(position.exchanges):
        counted.append(("exchanges", f"{position.exchanges[first]}/{position.exchanges[second]}"))
    for name, argument in (*counted, *operations):
        if len(name.split()) != 1 or ";" in name + argument or "\n" in argument:
            raise NotationError(
                f"operation {shown(f'{name} {argument}')} cannot be written: a name is one word, "
                "and neither ';' nor a line end may stand in an operation"
            )
        try:
            _read_operation(f"{name} {argument}", 1)  # else nobody could read what is written
        except NotationError as error:
            raise NotationError(
                f"operation {shown(f'{name} {argument}')} cannot be written: {error}"
            ) from None
        parts.append(f"{name} {argument}".strip() + ";")
    return " ".join(parts)


_CHALLENGES: dict[str, ChallengeRule] = {
    **{rule: rule for rule in CHALLENGE_RULES},
    **{"5": "5-point", "5pt": "5-point", "10": "10-point", "10pt": "10-point"},
}


def challenge_operation(rules: Rules) -> tuple[tuple[str, str], ...]:
    """Return the operation ``cr`` for the rules' challenge rule; none for *void*."""
    if rules.challenge == "void":
        return ()
    return (("cr", rules.challenge.replace("-point", "pt")),)  # as other programs write it


def read_challenge(text: str) -> ChallengeRule:
    """Read the argument of ``cr``, in any case.

    Raises:
        NotationError: there is no challenge rule of that name.
    """
    rule = _CHALLENGES.get(text.casefold())
    if rule is None:
        rule_names = ", ".join(CHALLENGE_RULES)
        raise NotationError(f"cr {shown(text)} is no challenge rule; there are {rule_names}")
    return rule


def check_tile_counts(board: Board, racks: Iterable[Rack], distribution: TileDistribution) -> None:
    """Check that board and racks together hold no more of a tile than the game has.

    Raises:
        NotationError: names the tile, how many there are and how many the game has.
    """
    for tile, count in sorted(Counter(tiles_of(board, racks)).items()):
        if count > (most := distribution.counts[tile]):
            laid = [BLANK if placed & BLANK_FLAG else placed or -1 for placed in board.squares]
            squares = [square for square, placed in enumerate(laid) if placed == tile]
            raise NotationError(
                f"board and racks hold {count} of {distribution.alphabet.tile_text(tile)}; "
                f"the {distribution.name} distribution has {most}"
                + "; on a board a letter in lower case is a blank"
                * (tile == BLANK),
                "board" if len(squares) > most else "racks",
                squares,
            )


def read_rack(text: str, where: str, alphabet: Alphabet, limit: int) -> Rack:
    """Read a rack, sorted; ``where`` begins the error message.

    Brackets may be missing as on a board.

    Raises:
        NotationError: text that is no tile or can be read in several ways, a blank with a letter,
            or more than ``limit`` tiles.
    """

    def read(text: str) -> Rack:
        try:
            tiles = alphabet.tiles(text)
        except ValueError as error:
            raise NotationError(f"{where}: {error}", "racks") from None
        if any(tile & BLANK_FLAG for tile in tiles):
            why = f"{where}: {shown(text)} has lower case; on a rack a blank is '?'"
            raise NotationError(why, "racks")
        if len(tiles) > limit:
            why = f"{where}: {shown(text)} is {len(tiles)} tiles; a rack holds {limit}"
            raise NotationError(why, "racks")
        return tuple(sorted(tiles))

    return _read_with_brackets(read, text, where, alphabet, range(1, limit + 1))


def _read_board(text: str, rules: Rules) -> Board:
    rows = text.split("/")
    layout = rules.layout
    if len(rows) != layout.rows:
        why = f"board: {len(rows)} rows; the {layout.name} board has {layout.rows}"
        raise NotationError(why, "board")
    squares = bytearray()
    for number, row in enumerate(rows, start=1):
        where, sizes = f"board, row {number}", range(layout.columns, layout.columns + 1)
        read = partial(_read_row, where, rules, len(squares))
        squares += _read_with_brackets(read, row, where, rules.distribution.alphabet, sizes)
    return Board(layout, bytes(squares))


def _read_row(where: str, rules: Rules, begin: int, row: str) -> bytes:
    """Read a row whose first square has the number ``begin``."""
    columns, squares, width = rules.layout.columns, bytearray(), 0
    for match in _SQUARES.finditer(row):
        token = match[0]
        if token[0] in "0123456789":
            run = int(token) if _COUNT.fullmatch(token) else 10**9
            if run == 0:
                raise NotationError(f"{where}: a run of {token} empty squares; it has 1 or more")
            width += run
            squares += bytes(min(run, columns))
            continue
        width += 1
        try:
            squares.append(tile_on_board(token, rules.distribution.alphabet))
        except NotationError as error:
            why = f"{where}, square {width}: {shown(token)} {error}"
            raise NotationError(why, "board", [begin + min(width, columns) - 1]) from None
    if width != columns:
        raise NotationError(
            f"{where}: {shown(row)} is {min(width, 10**9)} squares; a row has {columns}", "board"
        )
    return bytes(squares)


def _read_with_brackets(
    read: Callable[[str], T], text: str, where: str, alphabet: Alphabet, sizes: range
) -> T:
    """Read text; if that fails, read it with brackets put around tiles of several characters.

    There must be one way to do so that fits ``sizes``, the possible numbers of tiles or squares.

    Raises:
        NotationError: as ``read``, or there are several ways.
    """
    try:
        return read(text)
    except NotationError:
        ways = [way for way in _bracketings(text, alphabet, sizes) if way != text]
        if len(ways) > 1:
            raise NotationError(
                f"{where}: {shown(text)} can be {ways[0]} or {ways[1]}; put tiles of several "
                "characters in brackets"
            ) from None
        if not ways:
            raise
    return read(ways[0])


def _bracketings(text: str, alphabet: Alphabet, sizes: range) -> list[str]:
    """Return ways to put brackets around tiles of several characters, three if there are more."""
    forms = (*alphabet.letters, *alphabet.blanked)
    longer = [form for form in forms if len(form) > 1]
    if not longer or len(text) > _LONGEST_READ:
        return []
    ways: list[dict[int, list[str]]] = [{0: [""]}, *({} for _ in text)]
    """By the characters read, by the squares they take."""
    for index, begun in enumerate(ways[:-1]):
        token = next(_SQUARES.finditer(text, index))[0]
        read = {form: f"[{form}]" for form in longer if text.startswith(form, index)}
        if token in forms or token[0] in "[0123456789":
            read[token] = token
        for (written, bracketed), (before, texts) in product(read.items(), begun.items()):
            squares = before + (int(written) if written.isdecimal() else 1)
            if squares < sizes.stop:
                texts_so_far = ways[index + len(written)].setdefault(squares, [])
                texts_so_far += [each + bracketed for each in texts]
                del texts_so_far[3:]  # the number of ways doubles with each such tile
    return [each for squares, texts in ways[-1].items() if squares in sizes for each in texts]


def read_operations(text: str) -> tuple[tuple[str, str], ...]:
    """Read the operations of a CGP, as (name, argument) in their order; the rest is not checked.

    Raises:
        NotationError: an operation is empty or is not closed.
    """
    *closed, rest = "".join(text.split(maxsplit=4)[4:]).split(";")
    if rest.strip():
        raise NotationError(f"operation {shown(rest.strip())} is not closed with ';'")
    return tuple(_read_operation(piece, number) for number, piece in enumerate(closed, start=1))


def _read_operation(text: str, number: int) -> tuple[str, str]:
    words = text.split()
    if not words:
        raise NotationError(f"operation {number} is empty; each is a name, its argument and ';'")
    name, arguments = words[0], words[1:]
    if name in KNOWN_OPERATIONS:
        # An unknown operation may carry any text; one of these never names another.
        for follower in arguments if name == "oru" else arguments[1:]:
            if follower in KNOWN_OPERATIONS:
                raise NotationError(
                    f"operation {shown(text.strip())}: a ';' is missing before {follower!r}"
                )
    return name, " ".join(arguments)
