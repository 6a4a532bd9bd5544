"""The text of Quackle's test harness: games as GCG, moves, words, tiles."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.player import ExchangedCount, Observed, View
from engine.notation.gcg import EventKind, GcgEvent, GcgGame, GcgPlayer, write_gcg
from engine.notation.move_text import format_move
from engine.rules.moves import Exchange, Pass, Place
from engine.rules.rules import used_tiles
from lexicons.alphabet import Alphabet, TileDistribution

MOVES = 10
"""Most moves that it lists."""

_NICKS = ("first", "second")

_MARKER = "Generating moves..."
_MOVE = re.compile(
    r"(?P<move>-\S*|\S+ \S+) +\(score = (?P<score>-?\d{1,6}), equity = (?P<equity>[^,()]+), "
    r"win% = (?P<win>[^,()]+)(, [^()]*)?\)"
)
_HOLDING = re.compile(r"Position \[.* holding (\S+) after drawing .*")
_COMPLAINT = re.compile(r"(?i)could ?n[o']t|can't|error|not found|does not exist|no lexicon")


def written_game(view: View) -> str:
    """Write the game so far as the GCG that tells Quackle what the mover may know.

    * Without any turn it assumes a game of a single player. The very first turn is
      therefore written as the second of a game that the opponent began with a pass.
    * A rack field is never left out, or the move would be read as one. Of a turn while there were
      tiles in the bag it holds what the turn used; where that is nothing, or unknown, a tile that
      the player may have had, which changes nothing: it keeps it. Once the bag is empty all racks
      are known and written whole, so that Quackle's counts of who holds how many come out right.
    * An exchange of the opponent's is its number of tiles.
    * The mover's own rack stands in ``#rackN``, which counts for the turn before the last line is
      played, and in ``#incomplete``, which counts for the one after it.
    * A play that was challenged off is written as a pass, which it has come to.
    * No line tells of racks left over, of points lost for them or on the clock: a game that goes
      on has none.
    """
    alphabet = view.rules.distribution.alphabet
    history, mover = view.history, view.seat
    held = zip(history, _racks(view), strict=True)
    events = [_event(turn, rack, alphabet) for turn, rack in held]
    if not history:
        mover = 1
        some = alphabet.text([max(view.unseen_tiles)])  # no blank if possible
        events = [GcgEvent(EventKind.PASS, _NICKS[0], some, "", 0, 0)]
    own = alphabet.text(view.rack)
    players = tuple(
        GcgPlayer(nick, nick.capitalize(), own if seat == mover else "")
        for seat, nick in enumerate(_NICKS)
    )
    return write_gcg(GcgGame(players, tuple(events), incomplete=own))


def _event(turn: Observed, rack: tuple[int, ...], alphabet: Alphabet) -> GcgEvent:
    match turn.move:
        case Place() if turn.withdrawn:
            kind, detail = EventKind.PASS, ""
        case Place():
            kind, detail = EventKind.PLAY, format_move(turn.move, alphabet)
        case Exchange(tiles):
            kind, detail = EventKind.EXCHANGE, alphabet.text(tiles)
        case ExchangedCount(count):
            kind, detail = EventKind.EXCHANGE, str(count)
        case Pass():
            kind, detail = EventKind.PASS, ""
    total = turn.scores[turn.seat]
    return GcgEvent(kind, _NICKS[turn.seat], alphabet.text(rack), detail, turn.score, total)


def _racks(view: View) -> Iterator[tuple[int, ...]]:
    """Return a rack for each turn of the history, as far as the view knows them.

    With the bag empty all tiles are known, so racks are rebuilt from the last turn backwards.
    Before that a rack is what was played, or any tile if nothing was: Quackle needs one.
    """
    rules = view.rules
    held = {view.seat: Counter(view.rack), view.opponent: Counter(view.unseen_tiles)}
    bags = [rules.distribution.total - 2 * rules.rack_size, *(turn.bag for turn in view.history)]
    racks: list[tuple[int, ...]] = []
    for turn, bag in reversed(list(zip(view.history, bags, strict=False))):
        used: tuple[int, ...] = ()
        if not (turn.withdrawn or isinstance(turn.move, ExchangedCount)):
            used = used_tiles(turn.move)
        if bag == 0:
            held[turn.seat].update(used)
            racks.append(tuple(sorted(held[turn.seat].elements())))
        else:
            racks.append(used or (max(held[turn.seat].elements()),))
    return reversed(racks)


@dataclass(frozen=True, slots=True)
class Listed:
    """A move of its list, as printed."""

    text: str
    """In our notation, which is the same."""
    score: int
    equity: float | None
    """In points; None if not a number."""
    win: float | None
    """0 to 1; None if not a number."""


@dataclass
class MoveReader:
    """Picks the moves out of its output of boards, racks and warnings."""

    moves: list[Listed] = field(default_factory=list)
    complaint: str = ""
    """Its first line that reports an error."""
    rack: str = ""
    """The mover's rack, as it prints it."""
    _listing: bool = False

    def read(self, line: str) -> None:
        """Read a line."""
        if line == _MARKER:
            self._listing = True
        elif (match := _MOVE.fullmatch(line)) and self._listing:
            if len(self.moves) < MOVES:
                equity, win = _number(match["equity"]), _number(match["win"])
                inside = win if win is not None and 0 <= win <= 1 else None
                self.moves.append(Listed(match["move"], int(match["score"]), equity, inside))
        elif match := _HOLDING.fullmatch(line):
            self.rack = match[1]
        elif not self.complaint and _COMPLAINT.search(line):
            self.complaint = line.strip()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def tiles_differ(text: str, distribution: TileDistribution) -> str:
    """Compare its alphabet file with a distribution; return the difference, or nothing.

    A line of the file has a letter, its blanked form, its points, its count, and whether it is a
    vowel; ``blank`` has points and count only. Raise ValueError if these are no numbers.
    """
    theirs: dict[str, tuple[int, int]] = {}
    for line in text.splitlines():
        match line.split():
            case [blank, points, count, *_] if blank.lower().startswith("blank"):
                theirs["?"] = _whole(count, line), _whole(points, line)
            case [letter, _, points, count, *_] if not letter.startswith("#"):
                theirs[letter] = _whole(count, line), _whole(points, line)
    alphabet = distribution.alphabet
    numbered = enumerate(zip(distribution.counts, distribution.points, strict=True))
    ours = {alphabet.tile_text(tile): count_and_points for tile, count_and_points in numbered}
    tiles = sorted(ours.keys() | theirs.keys())
    return ", ".join(tile for tile in tiles if ours.get(tile) != theirs.get(tile))


def _whole(text: str, line: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise ValueError(f"{line[:80]!r} has no points and count; they are whole numbers")
    return int(text)
