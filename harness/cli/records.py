"""What is kept of games: ``tilewire games``, ``backup`` and ``report``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from msgspec.structs import replace

from harness.arbiter.records import TurnRecord, verdict
from harness.figures import counted, moment, plain, table
from harness.writing import write_file
from lexicons.store import lexicon_names

from .board_view import terminal_width
from .failing import UNREADABLE, CommandFailed, print_json, sentences
from .options import JsonOption, LexiconOption, lexicon_for, load_words, make_folder, say, working
from .positions import is_file

if TYPE_CHECKING:
    from harness.arbiter.journal_reading import KeptGame
    from lexicons.alphabet import TileDistribution
    from lexicons.store import Lexicon

_DROPPED = ("lexicon", "turns", "game", "outcome")
"""Columns that are left out, one after another, where there is no room."""


def games(
    journal: str,
    /,
    *,
    out: Path | None = None,
    by_month: Annotated[bool, Parameter(negative="")] = False,
    lexicon: Annotated[
        LexiconOption,
        Parameter(help="For --out, the words that games were played with; others are skipped."),
    ] = "scowl",
    json_: JsonOption = False,
) -> None:
    """List the games of a journal; with --out write those that are over as GCG.

    The server or the match may be running; what is listed is its journal at this moment.

    Args:
        journal: The journal of `tilewire serve --db`, or the folder of a match or tournament.
        out: A folder for one GCG a game, named as the game.
        by_month: Have a folder a month in it, such as 2026-11.
        json_: Print a line of JSON a game.
    """
    if json_ and out is not None:
        raise CommandFailed("--json lists games, and --out writes them as GCG; give one of them")
    if by_month and out is None:
        raise CommandFailed("--by-month needs --out")
    if lexicon not in lexicon_names() and not Path(lexicon).is_file():
        load_words(lexicon)  # which fails with a sentence
    address = journal_at(journal)
    from harness.arbiter.database import JournalError
    from harness.arbiter.journal_reading import read_games
    from harness.matches.folder import CORRECTED, FolderContents

    corrected: dict[str, dict[str, Any]] = {}
    if isinstance(address, Path) and address.name == "match.db":
        with sentences(kinds=UNREADABLE):
            corrected = FolderContents(address.parent).corrected
    with sentences(kinds=(JournalError,), status=1), working(f"reading {journal}"):
        kept = read_games(address, lambda error: say(str(error)))
        if out is not None:
            _write(kept, lexicon, make_folder(out), corrected, by_month=by_month)
            return
        head = ("begun", "players", "scores", "result", "outcome", "game", "turns", "lexicon")
        rows = []
        for game in kept:
            opened, change = game.opened, corrected.get(game.game, {})
            ended = game.ended and replace(game.ended, **change)
            turns = [record for record in game.records if isinstance(record, TurnRecord)]
            last = ended or (turns[-1] if turns else None)
            void = ended is not None and ended.outcome in ("host_error", "no_show")
            outcome = ("void" if void else CORRECTED) if change else ended and ended.outcome
            listed: dict[str, Any] = {
                "game": game.game,
                "number": game.label.get("number"),
                "begun": moment(game.created),
                "players": opened.players,
                "lexicon": opened.lexicon,
                "turns": len(turns),
                "outcome": outcome,
                "winner": ended.winner if ended else None,
                "scores": last.scores if last else (0, 0),
                "message": ended.message if ended else "",
            }
            if json_:
                print_json(listed)
                continue
            rows.append(
                (
                    f"{datetime.fromtimestamp(game.created):%Y-%m-%d %H:%M}",
                    plain(" – ".join(opened.players)),
                    " – ".join(map(str, listed["scores"])),
                    plain(verdict(opened.players, ended.winner, void=void)) if ended else "",
                    outcome or "is on",
                    f"{listed['number'] or ''} {game.game}".strip(),
                    str(len(turns)),
                    plain(opened.lexicon),
                )
            )
        if not json_:  # on a terminal that is too narrow, with fewer columns
            print(table(head, rows, terminal_width(), drop=_DROPPED))


def _write(
    kept: Iterable[KeptGame],
    lexicon: str,
    folder: Path,
    corrected: Mapping[str, Mapping[str, Any]],
    *,
    by_month: bool,
) -> None:
    """Write the games that are over, and name those that can't be written."""
    from engine.rules.rule_sets import rules_in_play
    from harness.arbiter.scorebook import Scorebook
    from harness.matches.results import game_record
    from harness.server.retention import month_folder

    known: dict[TileDistribution, Lexicon | None] = {}
    written = count = 0
    for game in kept:
        count += 1
        opened = game.opened
        if game.ended is None:
            say(f"{game.game}: it is not over yet")
            continue
        if game.is_short:
            say(f"{game.game}: an old game, whose moves are in the server's archive only")
            continue
        try:
            tiles = rules_in_play(opened.rules).distribution
            if tiles not in known:
                try:
                    known[tiles] = load_words(lexicon_for(lexicon, tiles), tiles)
                except CommandFailed as failed:
                    known[tiles] = None
                    say(f"games with {tiles.name} tiles: {failed}")
            words = known[tiles]
            if words is None or words.checksum != opened.lexicon_checksum:
                other = f"played with other words ({opened.lexicon})"
                say(f"{game.game}: {other}; name them by --lexicon")
                continue
            book = Scorebook.restored(game.records, None, words)
        except ValueError as wrong:
            say(f"{game.game}: {wrong}")
            continue
        title = f"{opened.players[0]} against {opened.players[1]}"
        text = game_record(book, title, corrected.get(game.game, {}))
        into = month_folder(folder, game.created) if by_month else folder
        write_file(into / f"{game.game}.gcg", text)
        written += 1
    if known and not any(known.values()):
        raise CommandFailed("no game can be written without the words that it was played with")
    say(f"{written} of {counted(count, 'game')} written to {folder}")


def backup(journal: str, file: str, /) -> None:
    """Copy a journal as it is at this moment, while a server writes it too, and check the copy.

    The copy has the secrets of games that are on; only you can read it. Of a damaged journal it
    has what can be read, and the exit status is 1. To a PostgreSQL database or from one, a journal
    moves: a server goes on with the copy. The copy of a folder is a folder that goes on as it.

    Args:
        journal: The journal of `tilewire serve --db`, or the folder of a match or tournament.
        file: The copy; a name that isn't there yet, or postgresql://USER@HOST/DATABASE.
    """
    source = journal_at(journal)
    from harness.arbiter.database import JournalError
    from harness.arbiter.journal_copy import carry_journal, copy_journal
    from harness.arbiter.journal_reading import database_at, is_url
    from harness.matches.folder import copy_folder

    if not is_url(file) and Path(file).exists():
        raise CommandFailed(f"{file} is there already; name a new one")
    with sentences(kinds=(JournalError, OSError), status=1), working(f"copying {journal}"):
        if isinstance(source, Path) and not is_url(file):
            is_folder = Path(journal) != source
            copied = (copy_folder if is_folder else copy_journal)(Path(journal), Path(file))
        else:
            copied = carry_journal(source, file)
    has = f"{database_at(file).name} has {counted(copied.games, 'game')}"
    if copied.damage is not None:
        raise CommandFailed(f"{copied.damage}; {has}", status=1)
    say(f"{has}, and is whole")


def journal_at(text: str) -> Path | str:
    """Return the address of a journal, or of that in a match's folder; fail if it isn't there."""
    from harness.arbiter.journal_reading import is_url

    if is_url(text):
        return text
    path = Path(text)
    if is_file(path / "match.db"):
        return path / "match.db"
    if not is_file(path):
        raise CommandFailed(f"there is no journal {text}")
    return path


def report(
    folder: Path,
    /,
    *,
    format_: Annotated[
        Literal["html", "markdown", "csv"], Parameter(name="--format", show_default="html")
    ] = "html",
    out: Path | None = None,
) -> None:
    """Write a report of a match or tournament: a page in one file, Markdown or CSV.

    The match may be running; the report has the games that are over.

    Args:
        folder: The folder of `tilewire match` or `tilewire tournament`.
        format_: A page with charts and boards; the same tables as Markdown; or as CSV, a line for
            each value.
        out: The file. [default: report.html, report.md or report.csv in the folder]
    """
    from harness.arbiter.database import JournalError
    from harness.matches.config import MatchError
    from harness.matches.event_report.event import read_event
    from harness.matches.event_report.formats import as_csv, as_html, as_markdown

    if not folder.is_dir():
        raise CommandFailed(f"there is no folder {folder}")
    with (
        sentences(kinds=(MatchError, *UNREADABLE)),
        sentences(kinds=(JournalError,), status=1),
        working(f"reading the games of {folder}"),
    ):
        event = read_event(folder)
    write = {"html": as_html, "markdown": as_markdown, "csv": as_csv}[format_]
    path = out or folder / f"report.{'md' if format_ == 'markdown' else format_}"
    if path.is_dir():
        raise CommandFailed(f"--out {path} is a folder; name a file")
    where = f"{path} can't be written" + ("" if out else " (--out names another file)")
    with sentences(f"{where}: ", (OSError,), 1), working(f"writing {path}"):
        write_file(path, write(event))
    print(f"report: {path}")
