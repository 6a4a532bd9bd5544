"""Puzzles from games between static players or score sheets, and the files that the page reads.

``puzzles.json`` has the board, the tiles, and for each puzzle what may be known before it is
solved. What its moves lead to is in a file for each kind, and what kind of move is best in another:
the page asks for neither before a person does. Moves with the same result share an entry, to keep
the files small.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from bot.search.analysis.questions import as_seen
from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.move_text import format_move, parse_move
from engine.preendgame.scenarios import FullPosition
from engine.rules.moves import PLAYED_THROUGH, Move, Place
from engine.rules.position import Board, Position, unseen
from engine.rules.rules import Rules, points_of, score_play
from harness.analysis.puzzles import BestLine, PreEndgamePuzzle, Puzzle, PuzzleMaker, share
from harness.server.answers import board_and_tiles
from harness.writing import write_file
from lexicons.alphabet import as_tiles

from .positions import recorded_games, situation
from .rows import Column, Tables
from .study import Record, Study
from .study_context import Field, ready

_T = TypeVar("_T")

Kind: TypeAlias = Literal["endgame", "preendgame"]

INDEX = "puzzles.json"
FILES: Mapping[Kind, str] = {"endgame": "endgames.json", "preendgame": "preendgames.json"}
THEMES = "puzzle_themes.json"

_BAG: Mapping[Kind, int] = {"endgame": 0, "preendgame": 1}
_LEAST_HELD = 3
"""Tiles on each rack of an endgame."""
_LARGEST_LEAD = 60
"""Points; a pre-endgame with a larger lead is decided."""
_GAMES = 50
"""Static games of a record."""
_LEAST_GIVEN_UP = 10
"""Points by which a move that gives points up scores less than the static player's choice."""


@dataclass(frozen=True)
class PuzzleStudy(Study):
    """Puzzles of a kind; a record has those of some games."""

    field: Field
    kind: Kind
    seed: int
    sheets: tuple[tuple[Position, ...], ...] = ()
    """Positions of recorded games, used instead of static games."""

    def settings(self) -> dict[str, object]:
        """Return what decides the records."""
        sheets = hashlib.sha256(repr(self.sheets).encode()).hexdigest()[:16] if self.sheets else ""
        return {
            "experiment": "puzzles",
            "lexicon": self.field.lexicon.checksum,
            "leaves": self.field.leaves_name,
            "seed": self.seed,
            "games": sheets,
        }

    @property
    def part(self) -> Record:
        """Return the kind."""
        return {"kind": self.kind}

    @property
    def name(self) -> str:
        """Return the kind."""
        return self.kind

    def numbers(self, count_: int) -> Iterable[int]:
        """Return the numbers of all score sheets, or of records of static games without end."""
        return range(len(self.sheets)) if self.sheets else count()

    def summary(self, records: Sequence[Record]) -> Tables:
        """Return a row for each puzzle."""
        return {self.kind: [row_of(each) for record in records for each in record["puzzles"]]}

    def weight(self, record: Record) -> int:
        """Return how many puzzles a record has."""
        return len(record["puzzles"])

    def record(self, number: int) -> Record:
        """Make the puzzles of some games, at most one per game."""
        make = _maker(self.field, self.kind)
        found = []
        for game in self.games(number):
            fit = (self.fit(position) for position in game)
            made = (make(position) for position in fit if position is not None)
            puzzle = next((each for each in made if each is not None), None)
            if puzzle is not None:
                found.append(write_puzzle(puzzle, self.field.rules))
        return {"number": number, "puzzles": found}

    def games(self, number: int) -> Iterator[Iterator[Position]]:
        """Yield the positions of each game of a record that may be of this kind."""
        if self.sheets:
            yield iter(self.sheets[number])
            return
        state = np.random.SeedSequence((self.seed, number)).generate_state(1)
        games = recorded_games(self.field, _GAMES, int(state[0]))
        for game in range(_GAMES):
            in_bag = games.results.bags[game, : games.turns[game]] == _BAG[self.kind]
            yield (
                situation(games, game, turn, self.field.rules).position
                for turn in np.flatnonzero(in_bag).tolist()
            )

    def fit(self, position: Position) -> Position | None:
        """Return a position as a puzzle of this kind shows it; None if it is not of the kind."""
        seat, rules = position.on_turn, self.field.rules
        hidden = as_tiles(unseen(position, seat, rules))
        own = len(position.racks[seat])
        if self.kind == "endgame":
            few, many = sorted((own, len(hidden)))
            is_fit = few >= _LEAST_HELD and many <= rules.rack_size
            return position.with_rack(1 - seat, hidden) if is_fit else None
        lead = abs(position.spread(0))
        is_fit = own == rules.rack_size == len(hidden) - 1 and lead <= _LARGEST_LEAD
        return as_seen(position) if is_fit else None


def _maker(field: Field, kind: Kind) -> Callable[[Position], Puzzle | None]:
    """Return a function that makes a puzzle of a position, or returns None if it is unfit."""
    ready()
    maker = PuzzleMaker(field.lexicon, field.generator())
    return maker.endgame if kind == "endgame" else maker.preendgame


# --- as text --------------------------------------------------------------------------------------


def write_puzzle(puzzle: Puzzle, rules: Rules) -> dict[str, Any]:
    """Return a puzzle as JSON values; its id is a hash of its position."""
    alphabet = rules.distribution.alphabet

    def text(move: Move) -> str:
        return format_move(move, alphabet)

    def turns(line: BestLine) -> list[tuple[str, int]]:
        return list(zip(map(text, line.moves), line.scores, strict=True))

    position = replace(puzzle.position, scoreless_turns=0)
    cgp = write_cgp(position, rules)
    static = puzzle.ranked[0].move
    legal = [each.move for each in puzzle.ranked]
    head = {
        "id": hashlib.sha256(cgp.encode()).hexdigest()[:8],
        "position": cgp,
        "best": text(puzzle.best.move),
        "static": text(static),
        "rank": legal.index(puzzle.best.move) + 1,
        "count": len(legal),
        "loss": puzzle.loss(static),
    }
    if isinstance(puzzle, PreEndgamePuzzle):
        # Moves are grouped by outcomes, a letter for each tile of the bag.
        by_outcomes = defaultdict(list)
        for move, outcomes in puzzle.outcomes.items():
            by_outcomes[outcomes].append(text(move))
        return head | {
            "kind": "preendgame",
            "bag": [[alphabet.tile_text(tile), n] for tile, n in puzzle.cases.items()],
            "lines": [[turns(line), line.spread] for line in puzzle.lines.values()],
            "moves": [[outcomes, ",".join(moves)] for outcomes, moves in by_outcomes.items()],
        }
    # Moves are grouped by spread and index of the reply (-1: game over).
    replies = list(dict.fromkeys(puzzle.replies.values()))
    place = {reply: number for number, reply in enumerate(replies)}
    by_result = defaultdict(list)
    for move, spread in puzzle.spreads.items():
        reply = place[puzzle.replies[move]] if move in puzzle.replies else -1
        by_result[spread, reply].append(text(move))
    groups = sorted(by_result.items(), key=lambda group: (-group[0][0], group[0][1]))
    return head | {
        "kind": "endgame",
        "line": turns(puzzle.line),
        "spread": puzzle.line.spread,
        "replies": list(map(text, replies)),
        "moves": [[*result, ",".join(moves)] for result, moves in groups],
    }


def is_proven_again(puzzle: Record, field: Field) -> bool:
    """Check a puzzle by making it again from its position.

    In a pre-endgame, the moves of a line and what is not proven may differ: they depend on the
    order in which a solver works.
    """
    made = _maker(field, puzzle["kind"])(read_cgp(puzzle["position"], field.rules))
    if made is None:
        return False
    again: Record = json.loads(json.dumps(write_puzzle(made, field.rules)))
    if puzzle["kind"] == "endgame":
        return again == puzzle
    texts = [
        {move: text for text, moves in each["moves"] for move in moves.split(",")}
        for each in (puzzle, again)
    ]
    told = [
        each | {"moves": sorted(known), "lines": [spread for _, spread in each["lines"]]}
        for each, known in zip((puzzle, again), texts, strict=True)
    ]
    return told[0] == told[1] and all(
        "?" in pair or pair[0] == pair[1]
        for move, text in texts[0].items()
        for pair in zip(text, texts[1][move], strict=True)
    )


# --- themes ---------------------------------------------------------------------------------------


def themes_of(puzzle: Record, rules: Rules) -> list[str]:
    """Return what can be told of the best move from a puzzle's position and lines."""
    position = read_cgp(puzzle["position"], rules)

    def move(text: str, board: Board) -> Move:
        return parse_move(text, board, rules.distribution.alphabet)

    def squares(move: Move, board: Board) -> list[tuple[tuple[int, int], int]]:
        found = board.squares_of(move) if isinstance(move, Place) else ()
        return [((row, column), tile) for row, column, tile in found]

    best, static = (move(puzzle[key], position.board) for key in ("best", "static"))
    if not isinstance(best, Place):
        return ["pass"]
    play = score_play(position.board, best, rules)
    laid = {at for at, tile in squares(best, position.board) if tile != PLAYED_THROUGH}
    is_so = {
        "bingo": play.bingo,
        "parallel": len(play.words) > 2,
        "small": len(laid) <= 2,
        "quiet": points_of(position.board, static, rules) - play.score >= _LEAST_GIVEN_UP,
    }
    if puzzle["kind"] == "endgame":
        line, spread = [text for text, _ in puzzle["line"]], puzzle["spread"]
        reply = next(at for _, at, moves in puzzle["moves"] if puzzle["static"] in moves.split(","))
        after, other = (FullPosition(position, ()).after(each, 0, rules) for each in (best, static))
        board, hit = after.position.board, other.position.board
        needed = squares(move(puzzle["replies"][reply], hit), hit) if reply >= 0 else []
        second: list[tuple[tuple[int, int], int]] = []
        if len(line) > 2:
            replied = after.after(move(line[1], board), 0, rules).position.board
            second = squares(move(line[2], replied), replied)
        is_so |= {
            "result": np.sign(spread - puzzle["loss"]) < np.sign(spread),
            "out": len(line) == 1,
            "out_in_two": len(line) == 3 and line[-1] != "-",
            "stuck": line[1:2] == ["-"],
            "setup": any(at in laid for at, _ in second),
            "block": any(
                at in laid and tile not in (PLAYED_THROUGH, board.at(*at)) for at, tile in needed
            ),
        }
    return [theme for theme, is_theme in is_so.items() if is_theme]


# --- files ----------------------------------------------------------------------------------------


def write_files(
    folder: Path, puzzles: Mapping[Kind, Sequence[Record]], rules: Rules, about: Mapping[str, str]
) -> None:
    """Write the files that the page reads; the index lists the easiest first, after ``about``."""
    known = _Listed.__struct_fields__
    listed = []
    themes: dict[str, list[str]] = defaultdict(list)
    for kind, some in puzzles.items():
        for each in sorted(some, key=lambda each: each["rank"]):
            listed.append({name: each[name] for name in known})
            for theme in themes_of(each, rules):
                themes[theme].append(each["id"])
        solved = {
            each["id"]: {name: value for name, value in each.items() if name not in known}
            for each in some
        }
        _write(folder / FILES[kind], solved)
    _write(folder / THEMES, themes)
    counts = {theme: len(ids) for theme, ids in themes.items()}
    told = {**about, **board_and_tiles(rules), "themes": counts, "puzzles": listed}
    _write(folder / INDEX, told)


def read_files(folder: Path) -> list[Record]:
    """Read the puzzles of a folder, in the order of the index.

    Raises:
        OSError: a file can't be read.
        ValueError: a file is not such JSON, or the index lists a puzzle that no file has.
    """
    files = [_decoded(folder / name, dict[str, Record]) for name in FILES.values()]
    known = {key: puzzle for file in files for key, puzzle in file.items()}
    listed = _decoded(folder / INDEX, _Index).puzzles
    if lacking := [each.id for each in listed if each.id not in known]:
        raise ValueError(
            f"{folder / INDEX} lists puzzle {lacking[0]}, which is in none of "
            f"{', '.join(FILES.values())}"
        )
    return [known[each.id] | asdict(each) for each in listed]


class _Listed(Struct):
    """What may be known of a puzzle before it is solved."""

    id: str
    kind: Kind
    rank: int
    count: int
    loss: int | float
    position: str


class _Index(Struct):
    puzzles: list[_Listed]


def _decoded(path: Path, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _write(path: Path, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    write_file(path, text + "\n")


# --- a table --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PuzzleRow:
    """A puzzle in a table."""

    id: Annotated[str, Column("puzzle")]
    kind: Annotated[str, Column("kind")]
    count: Annotated[int, Column("moves")]
    best: Annotated[str, Column("best")]
    result: Annotated[str, Column("result")]
    rank: Annotated[int, Column("rank by equity")]
    static: Annotated[str, Column("static")]
    loss: Annotated[str, Column("static loses")]
    position: str  # in JSON only


def row_of(puzzle: Record) -> PuzzleRow:
    """Return a puzzle's row."""
    if puzzle["kind"] == "endgame":
        result, loss = f"{puzzle['spread']:+}", f"{puzzle['loss']} points"
    else:
        best = next(text for text, moves in puzzle["moves"] if puzzle["best"] in moves.split(","))
        cases = dict(puzzle["bag"])
        total = sum(cases.values())
        result = f"wins {share(best, cases) * total:g} of {total}"
        loss = f"{100 * puzzle['loss']:.1f} % wins"
    names = ("id", "kind", "count", "best", "rank", "static", "position")
    return PuzzleRow(**{name: puzzle[name] for name in names}, result=result, loss=loss)
