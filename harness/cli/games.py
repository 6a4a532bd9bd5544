"""``tilewire games``: what a journal has, and its games as GCG."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from harness.arbiter.records import Ended, Opened, Turn
from harness.figures import counted, plain, table

from .failing import CommandFailed
from .options import JsonOption, LexiconOption, load_words, say, writable_folder
from .positions import is_file

if TYPE_CHECKING:
    from harness.arbiter.journal import Journal, KeptGame
    from lexicons.store import Lexicon

__all__ = ["games"]


def games(
    journal: Path,
    /,
    *,
    out: Path | None = None,
    lexicon: Annotated[
        LexiconOption,
        Parameter(help="For --out, the words that games were played with; others are skipped."),
    ] = "scowl",
    json_: JsonOption = False,
) -> None:
    """List the games of a journal; with --out write those that are over as GCG.

    No other command can open the journal of a server or a match that is still running.

    Args:
        journal: The file of `tilewire serve --db`, or a match's match.db.
        out: A folder for one GCG a game, named as the game.
        json_: Print a line of JSON a game.
    """
    if not is_file(journal):
        raise CommandFailed(f"there is no journal {journal}")
    with _opened(journal) as opened:
        kept = chain(opened.finished(), opened.unfinished())
        if out is None:
            _print(map(_listed, kept), as_json=json_)
        else:
            _write(kept, load_words(lexicon), writable_folder(out))


@contextmanager
def _opened(path: Path) -> Iterator[Journal]:
    from harness.arbiter.journal import Journal, JournalError

    try:
        with closing(Journal(path)) as journal:
            yield journal
    except JournalError as error:
        raise CommandFailed(str(error), status=1) from None


def _ends(kept: KeptGame) -> tuple[Opened, Ended | None]:
    """Return the first record of a game, and the last one if it is over."""
    opened = kept.records[0]
    assert isinstance(opened, Opened), "the first record of a game"
    ended = [record for record in kept.records if isinstance(record, Ended)]
    return opened, ended[-1] if ended else None


# --- a list ---------------------------------------------------------------------------------------


class _Row(NamedTuple):
    game: str
    players: tuple[str, str]
    lexicon: str
    turns: int
    outcome: str | None
    """None: it is still on."""
    scores: tuple[int, int]
    message: str


def _listed(kept: KeptGame) -> _Row:
    opened, ended = _ends(kept)
    turns = [record for record in kept.records if isinstance(record, Turn)]
    row = _Row(kept.game, opened.players, opened.lexicon, len(turns), None, (0, 0), "")
    if ended is not None:
        return row._replace(outcome=ended.outcome, scores=ended.scores, message=ended.message)
    return row._replace(scores=turns[-1].scores) if turns else row


def _print(listed: Iterable[_Row], *, as_json: bool) -> None:
    if as_json:
        for row in listed:
            print(json.dumps(row._asdict(), ensure_ascii=False))
        return
    rows = [
        (
            row.game,
            plain(" – ".join(row.players)),
            " – ".join(map(str, row.scores)),
            str(row.turns),
            row.outcome or "is on",
            plain(row.lexicon),
        )
        for row in listed
    ]
    print(table(("game", "players", "scores", "turns", "outcome", "lexicon"), rows))


# --- GCG ------------------------------------------------------------------------------------------


def _write(kept: Iterable[KeptGame], words: Lexicon, folder: Path) -> None:
    """Write the games that are over, and name those that can't be written."""
    from bot.seat.offers import Declined
    from harness.arbiter.scorebook import Scorebook
    from harness.matches.results import game_record

    written = count = 0
    for game in kept:
        count += 1
        opened, ended = _ends(game)
        if ended is None:
            continue
        if opened.lexicon_checksum != words.checksum:
            say(f"{game.game}: played with other words ({opened.lexicon}); name them by --lexicon")
            continue
        try:
            book = Scorebook.restored(game.records, None, words)
        except Declined as declined:
            say(f"{game.game}: {declined}")
            continue
        text = game_record(book, f"{opened.players[0]} against {opened.players[1]}")
        (folder / f"{game.game}.gcg").write_text(text, encoding="utf-8")
        written += 1
    say(f"{written} of {counted(count, 'game')} written to {folder}")
