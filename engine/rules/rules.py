"""The rules of play: what is legal, what it scores, and why a move is refused.

They are those of the tournament game for two. Under the *void* challenge rule a word that is not in
the lexicon makes a play illegal at once; ``engine.rules.challenges`` has the other rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeAlias

from lexicons.alphabet import BLANK, BLANK_FLAG, EMPTY, TileDistribution, load_distribution
from lexicons.layout import BoardLayout, load_layout

from .challenges import CHALLENGE_RULES, CHALLENGE_UNITS, ChallengeRule, ChallengeUnit, phonies
from .moves import PLAYED_THROUGH, Direction, Exchange, Move, Pass, Place
from .position import Board, Position, Rack, unseen

MAX_RACK = 7
"""The move generator's limit."""

MOST_FOR_A_TILE = 30_000
"""Most points that one tile may count: in kernels seven such tiles and the rest of a score, in
thousandths, stay below 2³⁰."""

NO_LIMIT = 1_000
"""A limit that no game reaches."""

Words: TypeAlias = Callable[[tuple[int, ...]], bool]
"""Whether tiles, without ``BLANK_FLAG``, are a word."""


def _number(default: int, least: int, most: int) -> Any:
    """Declare a number of the rules, and the range that the file of a rule set may give it."""
    return field(default=default, metadata={"range": (least, most)})


@dataclass(frozen=True)
class Rules:
    """Distribution, layout, and the numbers and words of the game.

    Files (``rule_sets``) and messages (``protocol.parts.RulesInPlay``) have them by these names.
    """

    distribution: TileDistribution
    layout: BoardLayout
    rack_size: int = _number(7, 1, MAX_RACK)
    bingo_bonus: int = _number(50, 0, 1_000)  # for placing ``rack_size`` tiles in one turn
    exchange_minimum: int = _number(7, 1, 1_000)  # fewest tiles in the bag for an exchange
    scoreless_limit: int = _number(6, 1, NO_LIMIT)  # scoreless turns in a row that end the game
    pass_limit: int = _number(NO_LIMIT, 1, NO_LIMIT)  # passes in a row that end the game
    exchange_limit: int = _number(NO_LIMIT, 0, NO_LIMIT)  # exchanges that each player may make
    challenge: ChallengeRule = field(default="void", metadata={"words": CHALLENGE_RULES})
    challenge_by: ChallengeUnit = field(default="turn", metadata={"words": CHALLENGE_UNITS})
    name: str = field(default="english", compare=False)

    def __post_init__(self) -> None:
        for name, (least, _) in NUMBERS.items():
            # A message may have any bonus.
            if getattr(self, name) < least and name != "bingo_bonus":
                raise ValueError(f"{name} is {getattr(self, name)}; it is {least} or more")

    @property
    def limits_passes(self) -> bool:
        """Whether passes end a game before the other scoreless turns do."""
        return self.pass_limit < self.scoreless_limit

    @property
    def limits_exchanges(self) -> bool:
        """Whether a player may run out of exchanges."""
        return self.exchange_limit < NO_LIMIT

    @property
    def most_passes(self) -> int:
        """Passes in a row, after a placement, that end the game."""
        return min(self.scoreless_limit, self.pass_limit)


NUMBERS: dict[str, tuple[int, int]] = {
    part.name: part.metadata["range"] for part in fields(Rules) if "range" in part.metadata
}
"""By the name of a number, the least and the most that a rule set's file may say."""

WORDS: dict[str, tuple[str, ...]] = {
    part.name: part.metadata["words"] for part in fields(Rules) if "words" in part.metadata
}
"""By the name of a word of the rules, what it may be."""


@cache
def standard_rules() -> Rules:
    """Return the rules of English tournaments."""
    return Rules(load_distribution(), load_layout())


def check_points(rules: Rules) -> None:
    """Check that no move can score more than kernels can count.

    Raises:
        ValueError: premium squares multiply so much that scores may not fit their integers.
    """
    layout = rules.layout
    words, side = layout.word_multipliers, layout.columns
    rows = [words[at : at + side] for at in range(0, len(words), side)]
    lines = (*rows, *zip(*rows, strict=True))
    most = max(math.prod(sorted(line)[-MAX_RACK:]) for line in lines)
    times = max(layout.letter_multipliers) * (most + max(words))
    highest = max(rules.distribution.points)
    if times * max(highest, 1) > MOST_FOR_A_TILE:
        raise ValueError(
            f"the layout {layout.name}: a tile of {highest} points may count {times} times; moves "
            f"can be searched for where that makes {MOST_FOR_A_TILE} points at most"
        )


class IllegalMove(ValueError):
    """A move that the rules forbid: ``code`` says why in a word, the message in a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Play:
    """Score and words of a placement, the main word first; blanks keep their ``BLANK_FLAG``."""

    score: int
    words: tuple[tuple[int, ...], ...]
    bingo: bool


def square_name(row: int, column: int) -> str:
    """Name a square as players do: row 8, column D is ``8D``."""
    return f"{row + 1}{chr(ord('A') + column)}"


def rack_tiles(placed: Iterable[int]) -> tuple[int, ...]:
    """Return placed tiles as they are on a rack, sorted: a used blank is a blank."""
    return tuple(sorted(BLANK if tile & BLANK_FLAG else tile for tile in placed))


def used_tiles(move: Move) -> Rack:
    """Return the tiles that a move takes off the rack, sorted."""
    match move:
        case Place():
            return rack_tiles(move.placed)
        case Exchange(tiles=tiles):
            return tiles
        case Pass():
            return ()


def leave_of(rack: Rack, move: Move) -> Rack:
    """Return the tiles that a move leaves on the rack, in their order, before the draw.

    Raises:
        ValueError: it uses a tile that is not on the rack.
    """
    left = list(rack)
    for tile in used_tiles(move):
        left.remove(tile)
    return tuple(left)


# --- legality -------------------------------------------------------------------------------------


def check_move(
    position: Position, move: Move, rules: Rules, words: Words | None, bag: int
) -> Play | None:
    """Check that the player on turn may make a move; return the play of a placement.

    The mover's rack must be known; ``bag`` counts tiles. Without ``words`` any word is accepted.

    Raises:
        IllegalMove: with the first reason.
    """
    rack = position.racks[position.on_turn]
    match move:
        case Pass():
            return None
        case Exchange(tiles=tiles):
            _check_known(tiles, BLANK, rules)
            check_exchange(position, len(tiles), rules, bag)
            _check_on_rack(tiles, rack, rules)
            return None
        case Place():
            _check_known((tile & ~BLANK_FLAG for tile in move.placed), BLANK + 1, rules)
            _check_on_rack(rack_tiles(move.placed), rack, rules)
            play = score_play(position.board, move, rules)
            if words is not None:
                _check_words(play, rules, words)
            return play


def check_exchange(position: Position, count: int, rules: Rules, bag: int) -> None:
    """Check that the player on turn may exchange ``count`` tiles, whichever; ``bag`` counts tiles.

    Raises:
        IllegalMove: ``exchange_empty``, ``exchange_too_few_in_bag`` or ``exchange_limit``.
    """
    if not count:
        raise IllegalMove("exchange_empty", "an exchange of no tiles is a pass")
    needed = max(rules.exchange_minimum, count)  # as many come out as go in
    if bag < needed:
        raise IllegalMove(
            "exchange_too_few_in_bag",
            f"an exchange needs {needed} tiles in the bag, which has {bag}",
        )
    if not may_exchange(position, rules):
        times = {0: "not at all", 1: "once", 2: "twice"}
        often = times.get(rules.exchange_limit, f"{rules.exchange_limit} times")
        raise IllegalMove(
            "exchange_limit", f"no exchange is left: a player may exchange {often} in a game"
        )


def may_exchange(position: Position, rules: Rules) -> bool:
    """Return whether the player on turn has an exchange left; the bag is not looked at."""
    return position.exchanges[position.on_turn] < rules.exchange_limit


def _check_on_rack(tiles: Iterable[int], rack: tuple[int, ...], rules: Rules) -> None:
    lacking = Counter(tiles) - Counter(rack)
    if lacking:
        text = rules.distribution.alphabet.text
        verb = "is" if lacking.total() == 1 else "are"
        blanks = "; a lower-case letter of a play is a blank" * bool(lacking[BLANK])
        raise IllegalMove(
            "not_on_rack",
            f"{text(sorted(lacking.elements()))} {verb} not on the rack {text(rack) or '(empty)'}"
            f"{blanks}",
        )


def _check_known(tiles: Iterable[int], lowest: int, rules: Rules) -> None:
    highest = len(rules.distribution.alphabet)
    for tile in tiles:
        if not lowest <= tile <= highest:
            raise IllegalMove(
                "no_such_tile", f"there is no tile {tile}; tiles are {lowest} to {highest}"
            )


def no_words(texts: Sequence[str]) -> str:
    """Return a message that these are not words."""
    words = " and ".join(texts)
    return f"{words} is not a word" if len(texts) == 1 else f"{words} are not words"


def _check_words(play: Play, rules: Rules, words: Words) -> None:
    if wrong := phonies(play.words, words):
        texts = tuple(map(rules.distribution.alphabet.text, wrong))
        raise IllegalMove("not_a_word", no_words(texts))


# --- geometry and score ---------------------------------------------------------------------------


def score_play(board: Board, place: Place, rules: Rules, *, anywhere: bool = False) -> Play:
    """Check where a placement lies and score it; words are not looked up.

    With ``anywhere`` it needs to touch neither a tile nor the start, as on some score sheets.

    Raises:
        IllegalMove: ``off_board``, ``occupied``, ``gap``, ``not_whole_word``, ``nothing_placed``,
            ``misses_start``, ``too_short`` or ``not_connected``.
    """
    squares = list(board.squares_of(place))
    _check_squares(board, place, squares)
    crosses = [
        _line(board, row, column, Direction(1 - place.direction), tile)
        for row, column, tile in squares
        if tile != PLAYED_THROUGH
    ]
    crosses = [cross for cross in crosses if len(cross) > 1]
    placed = len(place.placed)
    if not anywhere:
        _check_connection(board, place, squares, rules, touches=bool(crosses))
    main = [(row, column, tile or board.at(row, column)) for row, column, tile in squares]
    lines = ([main] if len(main) > 1 else []) + crosses
    if not lines:
        raise IllegalMove("too_short", "a word has two letters or more")
    if placed == 1 and place.direction is Direction.DOWN:
        lines.reverse()  # a single tile's main word runs across, however it was described
    bingo = placed == rules.rack_size
    score = sum(_word_score(board, line, rules) for line in lines)
    return Play(
        score=score + rules.bingo_bonus * bingo,
        words=tuple(tuple(tile for _, _, tile in line) for line in lines),
        bingo=bingo,
    )


def points_of(board: Board, move: Move, rules: Rules) -> int:
    """Return the points that a move scores at once, 0 unless it places tiles.

    Raises as ``score_play``.
    """
    return score_play(board, move, rules).score if isinstance(move, Place) else 0


_Squares: TypeAlias = list[tuple[int, int, int]]


def _check_squares(board: Board, place: Place, squares: _Squares) -> None:
    layout = board.layout
    if not place.placed:
        raise IllegalMove("nothing_placed", "a placement puts down one tile or more")
    for row, column, tile in squares:
        if not (0 <= row < layout.rows and 0 <= column < layout.columns):
            raise IllegalMove(
                "off_board",
                f"the word runs off the board of {layout.rows}×{layout.columns} squares",
            )
        lies = board.at(row, column)
        if tile == PLAYED_THROUGH and lies == EMPTY:
            raise IllegalMove("gap", f"no tile lies on {square_name(row, column)}")
        if tile != PLAYED_THROUGH and lies != EMPTY:
            raise IllegalMove("occupied", f"a tile lies on {square_name(row, column)} already")
    down = place.direction is Direction.DOWN
    for (row, column, _), step in ((squares[0], -1), (squares[-1], 1)):
        beside = row + step * down, column + step * (not down)
        if board.at(*beside) != EMPTY:
            raise IllegalMove(
                "not_whole_word",
                f"the word goes on over {square_name(*beside)}; give it from its first letter "
                "to its last",
            )


def _check_connection(
    board: Board, place: Place, squares: _Squares, rules: Rules, *, touches: bool
) -> None:
    if board.is_empty:
        start = rules.layout.start
        if start not in {(row, column) for row, column, _ in squares}:
            raise IllegalMove("misses_start", f"the first play covers {square_name(*start)}")
        if len(squares) < 2:
            raise IllegalMove("too_short", "the first play has two tiles or more")
    elif not touches and len(place.placed) == len(place.tiles):
        raise IllegalMove("not_connected", "the play touches no tile on the board")


def _line(board: Board, row: int, column: int, direction: Direction, tile: int) -> _Squares:
    down = direction is Direction.DOWN
    row_step, column_step = int(down), int(not down)
    line = [(row, column, tile)]
    at = row - row_step, column - column_step
    while lies := board.at(*at):
        line.insert(0, (*at, lies))
        at = at[0] - row_step, at[1] - column_step
    at = row + row_step, column + column_step
    while lies := board.at(*at):
        line.append((*at, lies))
        at = at[0] + row_step, at[1] + column_step
    return line


def _word_score(board: Board, line: _Squares, rules: Rules) -> int:
    """Score one word; a premium square counts only in the turn in which it is covered."""
    layout, points = rules.layout, rules.distribution.points
    total, times = 0, 1
    for row, column, tile in line:
        value = points[BLANK if tile & BLANK_FLAG else tile]
        if board.at(row, column) == EMPTY:
            at = row * layout.columns + column
            value *= layout.letter_multipliers[at]
            times *= layout.word_multipliers[at]
        total += value
    return total * times


def canonical(place: Place, board: Board) -> Place:
    """Return the canonical placement: a single tile runs across if it makes a word, else down."""
    if len(place.placed) != 1:
        return place
    row, column, tile = next(s for s in board.squares_of(place) if s[2] != PLAYED_THROUGH)
    for direction in (Direction.ACROSS, Direction.DOWN):
        line = _line(board, row, column, direction, tile)
        if len(line) > 1:
            tiles = tuple(tile if (r, c) == (row, column) else PLAYED_THROUGH for r, c, _ in line)
            return Place(line[0][0], line[0][1], direction, tiles)
    return replace(place, tiles=(tile,))


def passes_left(position: Position, rules: Rules) -> int:
    """Return how many passes in a row would end the game from here; below 1 if it is over."""
    return min(rules.scoreless_limit - position.scoreless_turns, rules.pass_limit - position.passes)


def stalled(position: Position, rules: Rules) -> str:
    """Return which turns have ended the game, such as "6 passes in a row"; empty if none have."""
    if position.scoreless_turns >= rules.scoreless_limit:
        return f"{position.scoreless_turns} scoreless turns in a row"
    if position.passes >= rules.pass_limit:
        return f"{position.passes} passes in a row"
    return ""


def why_not(position: Position, rules: Rules, *, whole: bool = True) -> str:
    """Return why no move can be chosen in a position, as its mover sees it; empty if one can be.

    With ``whole`` the mover's whole rack must be known.

    Raises:
        ValueError: more of a tile is in sight than there are.
    """
    rack = position.racks[position.on_turn]
    hidden = sum(unseen(position, position.on_turn, rules))
    text = rules.distribution.alphabet.text(rack)
    if turns := stalled(position, rules):
        return f"the game is over, after {turns}"
    if rack and not hidden:
        return "the game is over: the opponent has no tiles left"
    if not rack and hidden <= rules.rack_size:
        return "the player on turn has no rack: the game is over, or the last rack is not given"
    if not rack:
        return "the rack of the player on turn is not given"
    if whole and len(rack) < rules.rack_size < hidden:
        return (
            f"{text} is not the whole rack, which has {rules.rack_size} tiles while there is a bag"
        )
    return ""
