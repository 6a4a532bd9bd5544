"""``tilewire games``: what a journal has, and its games as GCG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from harness.arbiter.records import Turn
from harness.figures import counted, moment, plain, table
from lexicons.store import lexicon_names

from .board_view import terminal_width
from .failing import CommandFailed, print_json, sentences
from .journals import journal_at
from .options import JsonOption, LexiconOption, lexicon_for, load_words, make_folder, say

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

    with sentences(kinds=(JournalError,), status=1):
        kept = read_games(address, lambda error: say(str(error)))
        if out is not None:
            _write(kept, lexicon, make_folder(out), by_month=by_month)
        elif json_:
            for game in kept:
                print_json(_listed(game))
        else:
            print(_table([_listed(game) for game in kept]))


def _listed(kept: KeptGame) -> dict[str, Any]:
    opened, ended = kept.opened, kept.ended
    turns = [record for record in kept.records if isinstance(record, Turn)]
    last = ended or (turns[-1] if turns else None)
    return {
        "game": kept.game,
        "begun": moment(kept.created),
        "players": opened.players,
        "lexicon": opened.lexicon,
        "turns": len(turns),
        "outcome": ended.outcome if ended else None,
        "scores": last.scores if last else (0, 0),
        "message": ended.message if ended else "",
    }


def _table(games: Sequence[dict[str, Any]]) -> str:
    """Write a row a game; on a terminal that is too narrow, with fewer columns."""
    columns = {
        "begun": [_local(game["begun"]) for game in games],
        "players": [plain(" – ".join(game["players"])) for game in games],
        "scores": [" – ".join(map(str, game["scores"])) for game in games],
        "outcome": [game["outcome"] or "is on" for game in games],
        "game": [game["game"] for game in games],
        "turns": [str(game["turns"]) for game in games],
        "lexicon": [plain(game["lexicon"]) for game in games],
    }
    rows = list(zip(*columns.values(), strict=True))
    return table(list(columns), rows, terminal_width(), drop=_DROPPED)


def _local(utc: str) -> str:
    return f"{datetime.fromisoformat(utc).astimezone():%Y-%m-%d %H:%M}"


def _write(kept: Iterable[KeptGame], lexicon: str, folder: Path, *, by_month: bool) -> None:
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
            continue
        if game.is_short:
            say(f"{game.game}: an old game, whose moves are in the server's archive only")
            continue
        try:
            tiles = rules_in_play(opened.rules).distribution
            if tiles not in known:
                known[tiles] = _words(lexicon, tiles)
            words = known[tiles]
            if words is None or words.checksum != opened.lexicon_checksum:
                other = f"played with other words ({opened.lexicon})"
                say(f"{game.game}: {other}; name them by --lexicon")
                continue
            book = Scorebook.restored(game.records, None, words)
        except ValueError as wrong:
            say(f"{game.game}: {wrong}")
            continue
        text = game_record(book, f"{opened.players[0]} against {opened.players[1]}")
        into = month_folder(folder, game.created) if by_month else folder
        (into / f"{game.game}.gcg").write_text(text, encoding="utf-8")
        written += 1
    if known and not any(known.values()):
        raise CommandFailed("no game can be written without the words that it was played with")
    say(f"{written} of {counted(count, 'game')} written to {folder}")


def _words(lexicon: str, tiles: TileDistribution) -> Lexicon | None:
    """Return the words of games with such tiles; None, and print why, if they can't be read."""
    try:
        return load_words(lexicon_for(lexicon, tiles), tiles)
    except CommandFailed as failed:
        say(f"games with {tiles.name} tiles: {failed}")
        return None
