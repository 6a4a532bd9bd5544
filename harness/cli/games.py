"""``tilewire games``: what a journal has, and its games as GCG."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
    out: Annotated[Path | None, Parameter(name="--out")] = None,
    lexicon: LexiconOption = "scowl",
    json_: JsonOption = False,
) -> None:
    """List the games of a journal; with --out write those that are over as GCG.

    A server or a match that is on has its journal to itself.

    Args:
        journal: The file of `tilewire serve --db`, or a match's match.db.
        out: A folder for one GCG a game, named as the game.
        lexicon: With what was played, for --out; games with other words are left out, and named.
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
        journal = Journal(path)
        try:
            yield journal
        finally:
            journal.close()
    except JournalError as error:
        raise CommandFailed(str(error), status=1) from None


def _ends(kept: KeptGame) -> tuple[Opened, Ended | None]:
    """Give the first record of a game, and the last one if it is over."""
    opened = kept.records[0]
    assert isinstance(opened, Opened), "the first record of a game"
    ended = [one for one in kept.records if isinstance(one, Ended)]
    return opened, ended[-1] if ended else None


# --- a list ---------------------------------------------------------------------------------------


class _Listed(NamedTuple):
    game: str
    players: tuple[str, str]
    lexicon: str
    turns: int
    outcome: str | None
    """None: it is still on."""
    scores: tuple[int, int]
    message: str


def _listed(kept: KeptGame) -> _Listed:
    opened, ended = _ends(kept)
    turns = [one for one in kept.records if isinstance(one, Turn)]
    names, words = opened.players, opened.lexicon
    if ended is not None:
        end = ended.outcome, ended.scores, ended.message
        return _Listed(kept.game, names, words, len(turns), *end)
    scores = turns[-1].scores if turns else (0, 0)
    return _Listed(kept.game, names, words, len(turns), None, scores, "")


def _print(listed: Iterable[_Listed], *, as_json: bool) -> None:
    if as_json:
        for one in listed:
            print(json.dumps(one._asdict(), ensure_ascii=False))
        return
    rows = [
        (
            one.game,
            plain(" – ".join(one.players)),
            " – ".join(map(str, one.scores)),
            str(one.turns),
            one.outcome or "is on",
            plain(one.lexicon),
        )
        for one in listed
    ]
    print(table(("game", "players", "scores", "turns", "outcome", "lexicon"), rows))


# --- GCG ------------------------------------------------------------------------------------------


def _write(kept: Iterable[KeptGame], words: Lexicon, folder: Path) -> None:
    """Write the games that are over, and say of which that can't be done."""
    from bot.seat.offers import Declined
    from harness.arbiter.scorebook import Scorebook
    from harness.matches.summary import game_record

    written = count = 0
    for one in kept:
        count += 1
        opened, ended = _ends(one)
        if ended is None:
            continue
        if opened.lexicon_checksum != words.checksum:
            say(f"{one.game}: played with other words ({opened.lexicon}); name them by --lexicon")
            continue
        try:
            book = Scorebook.restored(one.records, None, words)
        except Declined as declined:
            say(f"{one.game}: {declined}")
            continue
        text = game_record(book, f"{opened.players[0]} against {opened.players[1]}")
        (folder / f"{one.game}.gcg").write_text(text, encoding="utf-8")
        written += 1
    say(f"{written} of {counted(count, 'game')} written to {folder}")
