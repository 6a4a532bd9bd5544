"""Read the games of a journal, for the host that has it open or while a host writes it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from .database import Address, Database, DatabaseUnreadable, JournalError, JournalReader, Value
from .journal_file import SqliteFile, files_of
from .journal_postgres import SCHEMES, PostgresDatabase
from .records import ClockNote, Ended, Opened, Record

_PAST = """
SELECT game, created, label,
    (SELECT content FROM records WHERE records.game = games.game ORDER BY number LIMIT 1),
    (SELECT content FROM records WHERE records.game = games.game ORDER BY number DESC LIMIT 1)
FROM games WHERE open = 0 AND (
    CAST(? AS TEXT) IS NULL OR (created, game) < (SELECT created, game FROM games WHERE game = ?)
) ORDER BY created DESC, game DESC LIMIT ?
"""

_ENDS = """
SELECT games.game, label, at, content FROM games JOIN records ON records.game = games.game
AND number = (SELECT max(number) FROM records AS last WHERE last.game = games.game) WHERE open = 0
"""

_OPENED, _ENDED = msgspec.json.Decoder(Opened), msgspec.json.Decoder(Ended)
_ALL = 2**62
_YEAR_5000 = 95_617_584_000.0
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A game's id: files are named by it, and journals are passed on."""
_LOOKED_AT = 20
"""Old games listed for each that is wanted, since some may not be readable."""


@dataclass(frozen=True, slots=True)
class KeptGame:
    """A game as stored in the journal."""

    game: str
    created: float
    """Seconds since 1970."""
    label: dict[str, Any]
    records: tuple[Record, ...]
    note: ClockNote | None

    @property
    def opened(self) -> Opened:
        """Its setup."""
        opened = self.records[0]
        assert isinstance(opened, Opened), "a game's first record is its setup"
        return opened

    @property
    def ended(self) -> Ended | None:
        """How it ended; None while it is on."""
        last = self.records[-1]
        return last if isinstance(last, Ended) else None

    @property
    def is_short(self) -> bool:
        """Whether its moves were dropped."""
        return len(self.records) == 2 and self.ended is not None and self.ended.seq > 0


Damaged: TypeAlias = Callable[[JournalError], None]
"""Takes the reason why a game can't be read; if it returns, the game is left out."""


def raise_damage(error: JournalError) -> None:
    """Raise the error: for callers that can't leave a game out."""
    raise error


def read_games(address: Address, damaged: Damaged = raise_damage) -> Iterator[KeptGame]:
    """Yield all games of a journal, oldest first, as they are now; a host may be writing it.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    return games_at(address, "", damaged)


def games_at(address: Address, which: str, damaged: Damaged) -> Iterator[KeptGame]:
    """Yield the games that a WHERE clause selects, oldest first; raise as ``read_games``."""
    with _of_one_moment(address) as (reader, name):
        yield from _games_of(reader, name, which, damaged)


def rows_at(address: Address, question: str) -> list[tuple[Any, ...]]:
    """Return the rows of an SQL query; raise as ``read_games``."""
    with _of_one_moment(address) as (reader, _):
        return list(reader.rows(question))


def database_at(address: Address) -> Database:
    """Return the database at an address."""
    if isinstance(address, str) and is_url(address):
        return PostgresDatabase(address)
    return SqliteFile(Path(address))


def files_at(address: Address) -> tuple[Path, ...]:
    """Return the files of a journal, to be hidden from players; none of one in a database."""
    if isinstance(address, str) and is_url(address):
        return ()
    return tuple(files_of(Path(os.path.realpath(address))))


def is_url(text: str) -> bool:
    """Return whether a text is the URL of a database, not the path of a file."""
    return text.startswith(SCHEMES)


@contextmanager
def _of_one_moment(address: Address) -> Iterator[tuple[JournalReader, str]]:
    database = database_at(address)
    try:
        with database.reading() as reader:
            yield reader, database.name
    except DatabaseUnreadable as error:
        raise JournalError(f"{database.name} can't be read as a journal: {error}") from None


@dataclass(frozen=True, slots=True)
class EndedGame:
    """How a game of the journal ended, without what happened before."""

    game: str
    label: dict[str, Any]
    at: float
    """When it ended, in seconds since 1970."""
    ended: Ended


def read_ended(address: Address, key: str) -> Iterator[EndedGame]:
    """Yield how games ended whose label has a value for ``key``, in the order of their ends.

    A host may be writing. A game whose end can't be read is left out.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    with _of_one_moment(address) as (reader, _):
        rows = reader.rows(f"{_ENDS} AND label LIKE ? ORDER BY at", f'%"{key}":%')
        yield from (game for game in _ended(rows) if isinstance(game.label.get(key), str))


def read_ends(address: Address, games: Sequence[str]) -> dict[str, EndedGame]:
    """Return how some games ended, by name; those that are on or can't be read are left out.

    Raises:
        JournalError: it is no journal, or can't be read.
    """
    if not games:
        return {}
    places = ", ".join("?" * len(games))
    with _of_one_moment(address) as (reader, _):
        ended = _ended(reader.rows(f"{_ENDS} AND games.game IN ({places})", *games))
        return {each.game: each for each in ended}


def _ended(rows: Iterator[tuple[Any, ...]]) -> Iterator[EndedGame]:
    for game, label_text, at, content in rows:
        with suppress(msgspec.DecodeError, ValueError, TypeError, RecursionError):
            label = msgspec.json.decode(label_text, type=dict[str, Any])
            yield EndedGame(_checked(game), label, at, _ENDED.decode(content))


def read_ended_game(address: Address, game: str) -> KeptGame | None:
    """Return a finished game of a journal, or None; a running game stays hidden.

    Raises:
        JournalError: the journal or the game can't be read.
    """
    return _read(address, "WHERE open = 0 AND game = ?", game)


def read_game(address: Address, game: str) -> KeptGame | None:
    """Return a game as it is now, hidden information too, or None; raise as ``read_ended_game``."""
    return _read(address, "WHERE game = ?", game)


def has_game(address: Address, game: str) -> bool:
    """Return whether a journal has a game, over or not; raise JournalError if it can't be read."""
    with _of_one_moment(address) as (reader, _):
        return any(True for _row in reader.rows("SELECT 1 FROM games WHERE game = ?", game))


def _read(address: Address, which: str, game: str) -> KeptGame | None:
    with _of_one_moment(address) as (reader, name):
        return next(_games_of(reader, name, which, raise_damage, game), None)


def read_older(
    address: Address, before: float, most: int, after: str | None = None, *, having: str = ""
) -> list[KeptGame]:
    """Return the first ``most`` finished games that began ``before`` a time, oldest first.

    The time is in seconds since 1970. Left out are games whose moves were dropped, games without a
    record of the kind ``having``, games that can't be read, and games up to and including
    ``after``.

    Raises:
        JournalError: the journal can't be read.
    """
    which = (
        "WHERE open = 0 AND created < ? AND (CAST(? AS TEXT) IS NULL OR (created, game) > "
        "(SELECT created, game FROM games WHERE game = ?)) AND EXISTS "
        "(SELECT 1 FROM records WHERE records.game = games.game AND number = 2) AND EXISTS "
        "(SELECT 1 FROM records WHERE records.game = games.game AND content LIKE ?)"
    )
    with _of_one_moment(address) as (reader, name):
        kind = f'{{"record":"{having}%'
        values, looked_at = (before, after, after, kind), _LOOKED_AT * most
        games = _games_of(reader, name, which, lambda _error: None, *values, most=looked_at)
        return list(islice(games, most))


@dataclass(frozen=True, slots=True)
class PastGame:
    """A finished game, without what happened in it."""

    game: str
    created: float
    """Seconds since 1970."""
    label: dict[str, Any]
    opened: Opened
    ended: Ended


class PastGames(NamedTuple):
    """Finished games, the latest first."""

    games: list[PastGame]
    before: str | None
    """The game before which there may be more; None: there are no more."""


def read_past(address: Address, most: int, before: str | None = None) -> PastGames:
    """Return the ``most`` finished games that began last, or last ``before`` another game.

    A game that can't be read is left out.

    Raises:
        JournalError: the journal can't be read.
    """
    with _of_one_moment(address) as (reader, _):
        rows = list(reader.rows(_PAST, before, before, most))
    past = []
    for game, created, label, opened, ended in rows:
        with suppress(msgspec.DecodeError, ValueError, TypeError, RecursionError):
            known = msgspec.json.decode(label, type=dict[str, Any])
            what = _checked(game), _time(created), known, _OPENED.decode(opened)
            past.append(PastGame(*what, _ENDED.decode(ended)))
    return PastGames(past, rows[-1][0] if len(rows) == most else None)


def _games_of(
    reader: JournalReader, name: str, which: str, damaged: Damaged, *values: Value, most: int = _ALL
) -> Iterator[KeptGame]:
    """Yield the games that a WHERE clause with its values selects, oldest first; "" selects all.

    At most ``most`` games are looked at, including those that can't be read.
    """
    listing = f"SELECT game, created FROM games {which} ORDER BY created, game LIMIT ?"
    for game, created in list(reader.rows(listing, *values, most)):
        try:
            note, records = _note(reader, game), _records(reader, game)
            ((text,),) = reader.rows("SELECT label FROM games WHERE game = ?", game)
            label = msgspec.json.decode(text, type=dict[str, Any])
            kept = KeptGame(_checked(game), _time(created), label, records, note)
        except (ValueError, RecursionError, DatabaseUnreadable) as error:
            damaged(JournalError(f"{name}: game {game} can't be read: {error}"))
        else:
            yield kept


def _checked(game: Value) -> str:
    """Return a game's id; raise ValueError if it is none: it could lead out of a folder."""
    if not isinstance(game, str) or _ID.fullmatch(game) is None:
        raise ValueError(f"its id {str(game)[:80]!r} is not 1 to 64 letters, digits, '-' or '_'")
    return game


def _time(created: Value) -> float:
    """Return when a game was created; 0 if the cell is damaged, as SQLite allows.

    Only lists and the folders of an archive depend on it.
    """
    return created if isinstance(created, float) and 0 <= created < _YEAR_5000 else 0.0


def _note(reader: JournalReader, game: str) -> ClockNote | None:
    """Return a game's clock note; raise ValueError if it isn't numeric, which SQLite allows."""
    rows = list(reader.rows("SELECT first, second, seq FROM clock_notes WHERE game = ?", game))
    if not rows:
        return None
    ((*clocks, seq),) = rows
    return msgspec.convert({"game": game, "clocks": clocks, "seq": seq}, ClockNote)


def _records(reader: JournalReader, game: str) -> tuple[Record, ...]:
    """Return the records of a game; raise ValueError unless they are complete."""
    question = "SELECT number, content FROM records WHERE game = ? ORDER BY number"
    rows = list(reader.rows(question, game))
    records = tuple(msgspec.json.decode(content, type=Record) for _, content in rows)
    if [number for number, _ in rows] != list(range(len(rows))) or not records:
        raise ValueError("records are missing")
    if not isinstance(records[0], Opened) or records[0].game != game:
        raise ValueError("its first record is not its own 'opened'")
    return records
