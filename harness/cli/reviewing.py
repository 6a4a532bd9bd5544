"""Many games, reviewed: ``tilewire analyze FOLDER``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from engine.rules.rules import Rules
from harness.figures import csv_text, plain, some
from harness.writing import write_file

from . import options
from .board_view import print_view
from .failing import UNREADABLE, CommandFailed, sentences
from .positions import read_game
from .study_run import StudyRun

if TYPE_CHECKING:
    from bot.search.analysis.findings import SearchTools
    from harness.lab.studies.reviews import GivenGame
    from harness.lab.study import Record

MOST_BYTES = 1_000_000
"""Of a file; more can't be one game."""


def read_games(
    named: Sequence[str], rules: Rules, lexicon: str, alias: Sequence[str], strict: bool
) -> tuple[dict[int, GivenGame], list[str]]:
    """Read the games of files and folders; return them, and why others are left out.

    Fail if there is none.
    """
    from harness.analysis.review import turns_of
    from harness.lab.studies.reviews import GivenGame

    games: dict[int, GivenGame] = {}
    left_out: list[str] = []
    aliases, lexicons = _aliases(alias), set[str]()
    for path in dict.fromkeys(chain.from_iterable(map(_files, map(Path, named)))):
        notices: list[str] = []
        try:
            with sentences(f"{path}: ", UNREADABLE):
                if (size := path.stat().st_size) > MOST_BYTES or not path.is_file():
                    raise ValueError(f"{size:,} bytes; a game is a file of {MOST_BYTES:,} at most")
                # By its content a game is known again under another name.
                number = int.from_bytes(sha256(path.read_bytes()).digest()[:6])
                if number in games:
                    raise ValueError(f"the same game as {games[number].file}")
                if (read := read_game(str(path), rules, strict, notices.append)) is None:
                    raise ValueError("a position, not a game; give it without other files")
                turns = turns_of(read.gcg, read.played, rules)
        except CommandFailed as failed:
            left_out.append(f"left out: {plain(str(failed))}")
            continue
        names = (plain(player.name or player.nick) for player in read.gcg.players)
        players = tuple(aliases.get(name.casefold(), name) for name in names)
        games[number] = GivenGame(plain(str(path)), players, turns, len(notices))
        if read.gcg.lexicon not in lexicons:
            read.compare_words(lexicon)
            lexicons.add(read.gcg.lexicon)
    if not games:
        for sentence in left_out:
            options.print_notice(sentence)
        where = f"{', '.join(named)} {'is' if len(named) == 1 else 'are'}"
        raise CommandFailed(f"{where} without a game to review; games are GCG files, NAME.gcg")
    return games, left_out


def _files(path: Path) -> list[Path]:
    """Return a file, or the games of a folder and the folders in it."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.rglob("*.[gG][cC][gG]") if not each.is_dir())


def _aliases(given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=SPELLING,SPELLING``; return names by their spellings in lower case, or fail."""
    aliases: dict[str, str] = {}
    for text in given:
        names = [each.strip() for each in text.replace("=", ",", 1).split(",")]
        if "=" not in text or not all(names):
            raise CommandFailed(f"--alias {text}: write NAME=SPELLING,SPELLING")
        for spelling in names:
            if (other := aliases.setdefault(spelling.casefold(), names[0])) != names[0]:
                raise CommandFailed(f"--alias: {spelling} can't be both {other} and {names[0]}")
    return aliases


def review_games(
    games: Mapping[int, GivenGame], left_out: Sequence[str], settings: SearchTools, run: StudyRun
) -> None:
    """Review games, print their tables, and write ``turns.csv`` and ``review.html``.

    ``run`` has the folder of these as ``out``.
    """
    from harness.analysis.verdict import OVER_RACKS
    from harness.lab.studies.reviews import TABLES, Reviews, TurnRow, as_html

    study = Reviews(settings, games)
    out = run.out

    def print_notes_and_write_files(records: Sequence[Record]) -> None:
        turns = study.every_turn(records)
        notes = list(left_out)
        if turns and not run.json_:
            print_view(Text("\n".join(["", *(note for _, note in TABLES.values())]), "dim"))
        all_turns = sum(len(games[record["number"]].turns) for record in records)
        if uncounted := all_turns - sum(turn.lost is not None for turn in turns):
            notes.append(
                f"{uncounted:,} of {all_turns:,} turns count in no figure: phonies, forced passes, "
                "unknown racks, costs not proven or of too few rollouts (--rollouts, --time)"
            )
        if any(turn.racks for turn in turns):
            notes.append(OVER_RACKS)
        if noted := [f"{game.file} ({game.notices})" for game in games.values() if game.notices]:
            notes.append(
                f"not taken as it is written, by the number of notices: {some(noted)}; tilewire "
                "show FILE has them"
            )
        for note in notes:
            options.print_notice(note)
        if out is not None and turns:
            rows = [(field.name for field in fields(TurnRow)), *map(astuple, turns)]
            write_file(out / "turns.csv", csv_text(rows))
            write_file(out / "review.html", as_html(study, records, notes))
            options.print_notice(f"written: {out / 'review.html'} and {out / 'turns.csv'}")

    if out is not None:
        run = replace(run, out=options.make_folder(out) / "turns.jsonl")
    run.work([study], len(games), then=print_notes_and_write_files)
