"""``tilewire puzzles``: endgames and pre-endgames whose best moves are hard to see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from msgspec import Meta

from harness.figures import counted

from .failing import CommandFailed
from .options import (
    JsonOption,
    LexiconOption,
    SeedOption,
    WorkersOption,
    load_words,
    print_notice,
    working,
)
from .positions import read_game
from .study_run import explaining, load_field, resumable, show_rows, telling

if TYPE_CHECKING:
    from harness.lab.puzzles import Kind
    from harness.lab.study import Record

app = App(name="puzzles", help="Puzzles, as the page of play sets them: make, list, check.")

_Many = Annotated[int, Meta(ge=0, le=100_000)]


@app.command
def make(
    *games: Path,
    out: Path,
    endgames: _Many = 120,
    preendgames: _Many = 80,
    seed: Annotated[SeedOption, Parameter(help="Of the games between static players.")] = 0,
    lexicon: LexiconOption = "scowl",
    workers: Annotated[WorkersOption, Parameter(help="Processes at once.")] = 1,
) -> None:
    """Make puzzles and write them for the page; the same command goes on where it was stopped.

    An endgame has one best move, neither the static player's choice nor the highest score; in a
    pre-endgame, a few other than the static player's may win equally often. What each legal move
    loses is proven by the solvers of endgames and pre-endgames.

    Args:
        games: Games (GCG) to take positions from. [default: games between static players]
        out: A folder for puzzles.json, endgames.json, preendgames.json and puzzle_themes.json; and
            for puzzles.jsonl, by which the same command goes on.
        endgames: How many with an empty bag, at most where games are given.
        preendgames: How many with one tile in the bag.
    """
    if not out.is_dir():
        raise CommandFailed(f"--out {out}: there is no such folder")
    field = load_field(load_words(lexicon))
    sheets = []
    """Positions before the lines of each game's score sheet, where the rack is known."""
    for path in games:
        game = read_game(str(path), field.rules)
        if game is None:
            raise CommandFailed(f"there is no game {path}")
        game.compare_words(lexicon)
        lines = range(len(game.played.steps))
        positions = (game.played.after(line) for line in lines if not game.played.is_over(line))
        sheets.append(tuple(position for position in positions if position.racks[position.on_turn]))
    from harness.lab.puzzles import PuzzleStudy, write_files
    from harness.lab.study import fill, open_records
    from harness.workers import open_workers

    wanted: dict[Kind, int] = {"endgame": endgames, "preendgame": preendgames}
    studies = [PuzzleStudy(field, kind, seed, tuple(sheets)) for kind in wanted]
    made: list[list[Record]] = []
    path = out / "puzzles.jsonl"
    with (
        resumable(path),
        open_records(path, studies[0].settings()) as file,
        working("looking for puzzles"),
        open_workers(workers, None, print_notice) as processes,
    ):
        for study, most in zip(studies, wanted.values(), strict=True):
            records = fill(study, file, most, processes, telling(most, "puzzles", study.name))
            made.append([each for record in records for each in record["puzzles"]][:most])
    asked = f"--endgames {endgames} --preendgames {preendgames} --seed {seed} --lexicon {lexicon}"
    command = " ".join(("tilewire puzzles make", *map(str, games), asked))
    about = {"command": command, "lexicon": field.lexicon.name}
    with explaining("--out", out):
        write_files(out, dict(zip(wanted, made, strict=True)), field.rules, about)
    both = counted(len(made[0]), "endgame"), counted(len(made[1]), "pre-endgame")
    print_notice(f"{out} has {' and '.join(both)}")


@app.command(name="list")
def list_(folder: Path | None = None, /, *, json_: JsonOption = False) -> None:
    """Print a table of puzzles: their best moves, and what the static player's choice loses.

    Args:
        folder: Made by tilewire puzzles make. [default: those of the page]
        json_: Print a list of JSON objects.
    """
    from harness.lab.puzzles import row_of

    show_rows({"puzzles": [row_of(each) for each in _read(folder)]}, json_)


@app.command
def check(
    folder: Path | None = None,
    /,
    *,
    every: Annotated[int, Meta(ge=1)] = 1,
    lexicon: LexiconOption = "scowl",
) -> None:
    """Solve puzzles again and compare all that is proven of them.

    Args:
        folder: Made by tilewire puzzles make. [default: those of the page]
        every: Check each puzzle whose place in the list can be divided by it.
    """
    from harness.lab.puzzles import is_proven_again

    listed = _read(folder)
    puzzles = listed[every - 1 :: every]
    if not puzzles:
        raise CommandFailed(f"--every {every}: there are {counted(len(listed), 'puzzle')}")
    field = load_field(load_words(lexicon))
    tell = telling(len(puzzles), "puzzles")
    with working("solving the first puzzle"):
        for done, puzzle in enumerate(puzzles, start=1):
            if not is_proven_again(puzzle, field):
                raise CommandFailed(f"puzzle {puzzle['id']} is not as it was made", status=1)
            tell(done)
    print(f"as made: {counted(len(puzzles), 'puzzle')}")


def _read(folder: Path | None) -> list[Record]:
    from harness.lab.puzzles import read_files
    from harness.page import FOLDER

    with explaining():
        return read_files(folder or FOLDER)
