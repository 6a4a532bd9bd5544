"""Replays of recorded games (GCG) by the rules, and records of played games.

A replay checks every score and running total against the rules. Words are not looked up: a recorded
game may well have phonies that stood.

A rack that is not recorded is ``()``, and an exchange of which only the number is known has no
move. A rack that a player shows in its next turn is known before it, too.

A replay that is given a list of notices takes a score sheet as people write it: scores and totals
are the sheet's, with what the rules say beside them; a rack that can't be is unknown; a turn that
is missing was lost. Each difference is noted once. With an empty bag a rack is what the board and
the other rack leave, whatever part of it is recorded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from engine.rules.game import Game
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack, unseen, with_seat
from engine.rules.rules import (
    IllegalMove,
    Play,
    Rules,
    canonical,
    check_exchange,
    rack_tiles,
    score_play,
    used_tiles,
)
from lexicons.alphabet import EMPTY
from lexicons.text import shown

from .cgp import check_tile_counts, read_cgp, read_rack, write_cgp
from .gcg import EventKind, GcgError, GcgEvent, GcgGame, GcgPlayer, Notice, tolerate
from .move_text import NotationError, format_move, parse_move

LOST_TURN = "turn lost by a challenge"
"""The note on the pass of a player that lost its turn by an unsuccessful challenge."""

_MOST_MENDED = 100
"""Lines that are taken otherwise than they are written; a game with more is refused."""
_NO_RACK = "that rack is taken as unknown"

STOOD = "challenged in vain"
"""The note on a play that was challenged and stood without a bonus, for which GCG has no line."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One event, the position before it, and what it does.

    ``move`` is canonical; None for a withdrawal, points at the end, or an exchange whose tiles are
    not recorded. ``play`` is there for a placement. ``computed`` and ``computed_total`` are the
    score and the total by the rules; of what they don't tell, such as time, the score of the file
    counts. A rack lost or left that can't be has no ``detail``.
    """

    event: GcgEvent
    seat: int
    before: Position
    move: Move | None = None
    play: Play | None = None
    computed: int = 0
    computed_total: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed file: its events in order, and the position after the last."""

    steps: tuple[ReplayStep, ...]
    final: Position
    players: tuple[GcgPlayer, ...]
    """As the file has them, without the racks that can't be."""
    notices: tuple[Notice, ...] = ()
    """What was not taken as it is written, by the reader too if it was given the same list."""

    def after(self, line: int) -> Position:
        """Return the position after a line of the score sheet; 0 is the beginning."""
        return self.steps[line].before if line < len(self.steps) else self.final

    def is_over(self, line: int) -> bool:
        """Check whether the game was over after a line: racks and times were being settled."""
        return any(step.event.kind.is_end for step in self.steps[:line])

    def check_line(self, line: int) -> None:
        """Check that there is a position before a line; lines count from 1.

        Raises:
            ValueError: names the lines that there are.
        """
        last = len(self.steps)
        if not 1 <= line <= last + 1:
            raise ValueError(
                f"the game has lines 1 to {last}; @{last + 1} is the position after them, and "
                f"there is no {line}"
            )


def replay(gcg: GcgGame, rules: Rules, notices: list[Notice] | None = None) -> Replay:
    """Replay a game; seat 0 is ``#player1``, whoever begins.

    With a list of ``notices``, take the sheet as people write it, and append what was not taken as
    it is written; a turn that was lost is then a step that the file does not have.

    Raises:
        GcgError: names the line, what it says and what the rules say: a move that is not
            possible, a score or a total that does not add up, a rack that lacks a tile played or
            holds more of a tile than there are, a turn out of turn, more or fewer than two
            players.
    """
    if len(gcg.players) != 2:
        line = gcg.players[2].line if len(gcg.players) > 2 else gcg.players[0].line
        raise GcgError(line, f"{len(gcg.players)} players; only a game of two can be replayed")
    mended = list[Notice]()
    while True:
        notice_list = None if notices is None else list[Notice]()
        try:
            played = _replay(gcg, rules, notice_list)
        except _Mendable as error:
            # What is wrong shows before its line, too, so the replay begins again without it.
            if notices is None or error.mended == gcg or len(mended) == _MOST_MENDED:
                raise GcgError(error.line, error.reason) from None
            gcg = error.mended
            mended.append(Notice(error.line, error.reason, error.taken))
        else:
            if notices is None or notice_list is None:
                return played
            played = _with_full_racks(played, rules, notice_list := mended + notice_list)
            notices += sorted(notice_list, key=lambda notice: notice.line)
            return replace(played, notices=tuple(notices))


def as_computed(gcg: GcgGame, played: Replay) -> GcgGame:
    """Return a replayed game as a strict reader takes it: racks that can be, scores of the rules.

    There is an event for each step. Where the sheet goes another way than the rules, by a score or
    a sum, a note quotes it. What no rule allows and what lies there all the same stays, such as a
    first play beside the start.
    """
    events, sheets = list[GcgEvent](), list(played.after(0).scores)
    for step in played.steps:
        event, note, score = step.event, step.event.note, step.computed
        if score != event.score or sheets[step.seat] + score != event.total:
            sheet = f"on the sheet {event.score:+d} {event.total}"
            note = f"{note}\n{sheet}" if note else sheet
        sheets[step.seat] = event.total
        event = replace(event, score=score, total=step.computed_total, note=note)
        if event.kind.is_rack and not event.detail and events:
            note = f"{event.nick}'s end of the game, {note or f'{score:+d}'}"
            events[-1] = replace(events[-1], note=f"{events[-1].note}\n{note}".lstrip("\n"))
        else:
            events.append(event)
    return replace(gcg, players=played.players, events=tuple(events))


class _Mendable(GcgError):
    """An error in a game, that game ``mended``, and what the wrong part is taken for."""

    def __init__(self, line: int, reason: str, mended: GcgGame, taken: str) -> None:
        super().__init__(line, reason)
        self.mended = mended
        self.taken = taken


def _no_such_rack(gcg: GcgGame, line: int, reason: str) -> _Mendable:
    """Return the error for a rack that can't be; mended, it is not recorded."""
    mended = replace(
        gcg,
        players=tuple(
            replace(player, rack="") if player.rack_line == line else player
            for player in gcg.players
        ),
        events=tuple(
            event
            if event.line != line
            else replace(event, detail="")
            if event.kind.is_rack
            else replace(event, rack="")
            for event in gcg.events
        ),
    )
    return _Mendable(line, reason, mended, _NO_RACK)


def _replay(gcg: GcgGame, rules: Rules, notices: list[Notice] | None) -> Replay:
    game, steps = _Replayer(gcg, rules, notices), list[ReplayStep]()
    for index, event in enumerate(gcg.events):
        try:
            steps.append(game.step(index, event))
        except GcgError:
            raise
        except ValueError as error:
            raise GcgError(event.line, str(error)) from None
    return Replay(tuple(steps), game.final(), gcg.players)


class _Known(NamedTuple):
    """A rack and the line that tells it."""

    rack: Rack
    line: int


class _Replayer:
    def __init__(self, gcg: GcgGame, rules: Rules, notices: list[Notice] | None) -> None:
        self._rules = rules
        self._gcg = gcg
        self._notices = notices
        self._seats = {player.nick: seat for seat, player in enumerate(gcg.players)}
        self._known = _known_racks(gcg, self._seats, rules)
        turns = (event.nick for event in gcg.events if event.kind.is_turn)
        self._on_turn = self._seats[next(turns, gcg.players[0].nick)]
        begun = Position.empty(rules.layout)
        if gcg.opening:  # its racks are taken from the turns instead
            try:
                begun = read_cgp(gcg.opening, rules)
            except NotationError as error:
                raise GcgError(0, f"#opening: {error}") from None
        begun = begun if self._on_turn == 0 else begun.swapped()
        self._board = begun.board
        self._scores = self._computed = begun.scores
        self._counts = begun.scoreless_turns, begun.passes, begun.exchanges
        self._ended = False
        self._last: ReplayStep | None = None
        self._kept = [Counter[int](), Counter[int]()]  # by seat, as far as racks tell

    def final(self) -> Position:
        """Return the position after the last event."""
        racks = self._known[-1]
        if self._gcg.incomplete and not racks[self._on_turn].rack:
            # Some programs write the rack on turn there, and no #rack line; others a remark.
            with suppress(NotationError):
                alphabet, limit = self._rules.distribution.alphabet, self._rules.rack_size
                rack = read_rack(self._gcg.incomplete, "the rack on turn", alphabet, limit)
                racks = with_seat(racks, self._on_turn, _Known(rack, 0))
        return self._position(racks)

    def step(self, index: int, event: GcgEvent) -> ReplayStep:
        """Apply an event; ValueError if it does not fit the rules."""
        seat, last = self._seats[event.nick], self._last
        racks = self._known[index]
        if event.kind is EventKind.WITHDRAWN and last and last.event.nick == event.nick:
            # Nothing was drawn yet: this line's rack includes the tiles that still lie there.
            rack = Counter(racks[seat].rack)
            if isinstance(last.move, Place):
                rack -= Counter(rack_tiles(last.move.placed))
            racks = with_seat(racks, seat, _Known(tuple(sorted(rack.elements())), event.line))
        before = self._position(racks)
        if event.kind.is_turn:
            if self._ended:
                raise ValueError(f"{event.nick} plays on after the points for racks")
            if seat != self._on_turn:
                raise self._out_of_turn(index, event)
        step = ReplayStep(event, seat, before)
        expected: int | None = 0
        match event.kind:
            case EventKind.PLAY:
                step = self._place(step)
                expected = step.play.score if step.play else 0
            case EventKind.EXCHANGE | EventKind.PASS:
                step = self._exchange(step)
            case EventKind.WITHDRAWN:
                expected = self._withdraw(step)
                if event.score == 0 and event.total == self._scores[seat] + expected:
                    step = replace(step, event=replace(event, score=expected))  # Quackle's way
            case EventKind.RACK_LEFT | EventKind.RACK_LOST:
                distribution = self._rules.distribution
                rest = sorted(_off_board(before, self._rules).elements())
                is_left = event.kind is EventKind.RACK_LEFT and len(rest) <= self._rules.rack_size
                if is_left and not event.detail:  # who went out has none of them
                    event = replace(event, detail=distribution.alphabet.text(rest))
                    step = replace(step, event=event)
                expected = None
                if event.detail:
                    value = distribution.value(distribution.alphabet.tiles(event.detail))
                    # Tiles left count twice, unless their owner loses them too.
                    is_lost = any(each.kind is EventKind.RACK_LOST for each in self._gcg.events)
                    is_own = event.kind is EventKind.RACK_LOST
                    expected = -value if is_own else value if is_lost else 2 * value
                self._ended = True
            case EventKind.TIME | EventKind.CHALLENGE:
                if event.kind is EventKind.TIME and event.score > 0:
                    self._tolerate(event, f"time is a loss; {event.score:+d} is a gain")
                if event.kind is EventKind.CHALLENGE and event.score < 0:
                    reason = f"a bonus for a challenge is a gain; {event.score:+d} is a loss"
                    self._tolerate(event, reason)
                expected = None
        self._keep(step)
        self._last = step = self._add(step, expected)
        return step

    def _keep(self, step: ReplayStep) -> None:
        """Note a full rack without what its player kept; a strict reader takes both, too."""
        event, rack = step.event, Counter(step.before.racks[step.seat])
        if event.kind is EventKind.WITHDRAWN and self._last:
            self._kept[step.seat] = Counter(self._last.before.racks[step.seat])
        if not event.kind.is_turn:
            return
        lost = self._kept[step.seat] - rack
        if self._notices is not None and lost and rack.total() == self._rules.rack_size:
            tiles = self._rules.distribution.alphabet.text(sorted(lost.elements()))
            reason = f"{event.rack} lacks {tiles}, which {event.nick} kept"
            self._notices.append(Notice(event.line, reason, "both racks are taken as written"))
        used = used_tiles(step.move) if step.move else rack.elements()
        self._kept[step.seat] = rack - Counter(used)

    def _tolerate(self, event: GcgEvent, reason: str) -> None:
        tolerate(self._notices, event.line, reason, "the sheet counts")

    def _out_of_turn(self, index: int, event: GcgEvent) -> _Mendable:
        """Return the error for a turn of a player that is not on turn.

        Mended, it is the other's, if only that one's total fits, or the other's turn was lost.
        """
        before, after = self._gcg.events[:index], self._gcg.events[index + 1 :]
        other, total = self._gcg.players[self._on_turn].nick, self._scores[self._on_turn]
        reason = f"{event.nick} is not on turn; a turn that was lost is written as a pass, '-'"
        if total + event.score == event.total != self._scores[1 - self._on_turn] + event.score:
            reading, turns = f"by its total it is {other}'s", [replace(event, nick=other)]
        else:
            lost = GcgEvent(EventKind.PASS, other, "", "", 0, total, LOST_TURN, event.line)
            reading, turns = f"{other}'s turn before it was lost", [lost, event]
        mended = replace(self._gcg, events=(*before, *turns, *after))
        return _Mendable(event.line, reason, mended, reading)

    def _position(self, known: tuple[_Known, _Known]) -> Position:
        racks = (known[0].rack, known[1].rack)
        # One that can't be beside the board alone, or else the one that is told later.
        for lines in ((), known[:1], known[1:], known):
            try:
                held = [each.rack for each in lines]
                check_tile_counts(self._board, held, self._rules.distribution)
            except NotationError as error:
                if not lines and self._last:
                    raise GcgError(self._last.event.line, str(error)) from None
                line = max((each.line for each in lines), default=0)
                raise _no_such_rack(self._gcg, line, str(error)) from None
        return Position(self._board, racks, self._scores, self._on_turn, *self._counts)

    def _place(self, step: ReplayStep) -> ReplayStep:
        detail = step.event.detail
        move = parse_move(detail, self._board, self._rules.distribution.alphabet)
        if not isinstance(move, Place):
            raise ValueError(f"{shown(detail)} is no play; write '8D WORD'")
        count, rack_size = len(move.placed), self._rules.rack_size
        if count > rack_size:
            raise ValueError(f"{count} tiles are placed; a rack holds {rack_size}")
        self._check_rack(step, rack_tiles(move.placed))
        try:
            play = score_play(self._board, move, self._rules)
        except IllegalMove as error:
            if error.code not in ("misses_start", "not_connected"):
                raise
            tolerate(self._notices, step.event.line, str(error), "it lies there all the same")
            play = score_play(self._board, move, self._rules, anywhere=True)
        move = canonical(move, self._board)
        self._board = self._board.with_move(move)
        self._counts = step.before.counts_after(move, self._rules)
        self._on_turn = 1 - step.seat
        return replace(step, move=move, play=play)

    def _exchange(self, step: ReplayStep) -> ReplayStep:
        rules, detail = self._rules, step.event.detail
        rack = step.before.racks[step.seat]
        move: Move | None = Pass()
        if step.event.kind is EventKind.EXCHANGE:
            count = int(detail) if re.fullmatch(r"[1-9][0-9]?", detail) else None
            if count is None:
                move = parse_move(f"-{detail}", self._board, rules.distribution.alphabet)
                self._check_rack(step, used_tiles(move))
                count = len(used_tiles(move))
            else:
                move = Exchange(rack) if count == len(rack) == rules.rack_size else None
            on_board = sum(tile != EMPTY for tile in self._board.squares)
            bag = max(0, rules.distribution.total - on_board - 2 * rules.rack_size)
            if count > rules.rack_size:
                raise ValueError(f"{count} tiles are exchanged; a rack holds {rules.rack_size}")
            try:
                check_exchange(step.before, count, rules, bag)
            except IllegalMove as error:
                self._tolerate(step.event, str(error))
        # Of an exchange of unknown tiles the event stands for the move.
        self._counts = step.before.counts_after(move or step.event, rules)
        self._on_turn = 1 - step.seat
        return replace(step, move=move)

    def _withdraw(self, step: ReplayStep) -> int:
        last = self._last
        if last is None or last.play is None or last.event.nick != step.event.nick:
            raise ValueError(f"{step.event.nick} takes back a play, but the line before is none")
        self._board = last.before.board
        self._counts = last.before.counts_after(None, self._rules)
        return -last.play.score

    def _check_rack(self, step: ReplayStep, tiles: tuple[int, ...]) -> None:
        missing = Counter(tiles) - Counter(step.before.racks[step.seat])
        if step.event.rack and missing:
            text = self._rules.distribution.alphabet.text(sorted(missing.elements()))
            reason = f"{text} is not on the rack {shown(step.event.rack)}"
            raise _no_such_rack(self._gcg, step.event.line, reason)

    def _add(self, step: ReplayStep, expected: int | None) -> ReplayStep:
        event, before = step.event, self._scores[step.seat]
        score = event.score if expected is None else expected
        notices = list[str]()
        if event.score != score:
            what = f"{event.kind.value} {event.detail}".rstrip()
            notices.append(f"{what} scores {score:+d}; the line says {event.score:+d}")
        if event.total != before + event.score:
            sums = f"{before} and {event.score:+d} make {before + event.score}"
            notices.append(f"{sums}; the line says {event.total}")
        if notices:
            is_cut = str(before + score).startswith(str(event.total)) and event.score == score
            if self._gcg.incomplete == "":  # so no total may mean that the file ends in the score
                is_cut |= f"{score:+d}".startswith(f"{event.score:+d}") and len(notices) == 1
            reason = "; ".join(notices if self._notices is not None else notices[:1])
            if is_cut and event.line == self._gcg.events[-1].line:
                tolerate(self._notices, event.line, reason, "it is cut off, so the rules count")
                event = replace(event, score=score, total=before + score)
            else:
                self._tolerate(event, reason)
        self._scores = with_seat(self._scores, step.seat, event.total)
        computed = self._computed[step.seat] + score
        self._computed = with_seat(self._computed, step.seat, computed)
        return replace(step, event=event, computed=score, computed_total=computed)


def _off_board(position: Position, rules: Rules) -> Counter[int]:
    """Count the tiles in the bag and on both racks."""
    left = unseen(position.without_racks(), 0, rules)
    return Counter({tile: count for tile, count in enumerate(left) if count})


def _with_full_racks(played: Replay, rules: Rules, notices: list[Notice]) -> Replay:
    """Return a replay with all racks that can be told where the bag is empty.

    Such a rack is what the board and the other rack leave, and that one is known if it has as many
    tiles as its player must hold, or is known in a later line.
    """
    steps, positions = list(played.steps), [*(step.before for step in played.steps), played.final]
    sizes = _rack_sizes(played, rules)
    held: list[Rack | None] = [None, None]
    for at in reversed(range(len(sizes))):
        rest, position = _off_board(positions[at], rules), positions[at]
        step = steps[at] if at < len(steps) else None
        if step and (step.play or step.event.kind is EventKind.WITHDRAWN):
            held[step.seat] = None  # it holds other tiles after the line
        if rest.total() != sum(sizes[at]) or played.is_over(at):
            continue
        if held == [None, None]:
            recorded = zip(position.racks, sizes[at], strict=True)
            held = [rack if len(rack) == size else None for rack, size in recorded]
        for seat in (0, 1):
            if (other := held[1 - seat]) is not None and held[seat] is None:
                held[seat] = tuple(sorted((rest - Counter(other)).elements()))
        first, second = held
        if first is None or second is None or Counter(first + second) != rest:
            continue
        positions[at] = replace(position, racks=(first, second))
        if step is None:
            continue
        event, rack = step.event, rules.distribution.alphabet.text((first, second)[step.seat])
        if event.kind.is_turn and positions[at].racks[step.seat] != position.racks[step.seat]:
            reading = f"with an empty bag it is {rack}"
            if event.rack:
                notices.append(Notice(event.line, f"{event.rack} is not the whole rack", reading))
            for index, notice in enumerate(notices):
                if (notice.line, notice.taken) == (event.line, _NO_RACK):
                    notices[index] = replace(notice, taken=reading)
            event = replace(event, rack=rack)
        steps[at] = replace(step, before=positions[at], event=event)
    return replace(played, steps=tuple(steps), final=positions[-1])


def _rack_sizes(played: Replay, rules: Rules) -> list[tuple[int, int]]:
    """Return how many tiles both players hold before each line and at the end, if known."""
    sizes = [(rules.rack_size, rules.rack_size)]
    bag = _off_board(played.after(0), rules).total() - sum(sizes[0])
    for step, after in zip_longest(played.steps, played.steps[1:]):
        now = sizes[-1]
        if step.event.kind is EventKind.WITHDRAWN:
            now = sizes[-2]
        elif isinstance(step.move, Place):
            is_back = after is not None and after.event.kind is EventKind.WITHDRAWN
            placed = len(step.move.placed)
            drawn = 0 if is_back else min(placed, bag)
            bag -= drawn
            now = with_seat(now, step.seat, now[step.seat] - placed + drawn)
        sizes.append(now)
        if bag < 0 or min(now) < 0:  # an opening whose racks are unknown, or a lost line
            return []
    return sizes


def _known_racks(gcg: GcgGame, seats: dict[str, int], rules: Rules) -> list[tuple[_Known, _Known]]:
    def read(text: str, where: str, line: int) -> _Known:
        try:
            alphabet = rules.distribution.alphabet
            return _Known(read_rack(text, where, alphabet, rules.rack_size), line)
        except NotationError as error:
            raise _no_such_rack(gcg, line, str(error)) from None

    first, second = (
        read(player.rack, f"{player.nick}'s rack", player.rack_line) for player in gcg.players
    )
    known = (first, second)
    racks = [known]
    for event in reversed(gcg.events):
        seat = seats[event.nick]
        left = event.kind is EventKind.RACK_LEFT
        if event.kind.is_rack:
            owner = 1 - seat if left else seat
            where = f"{gcg.players[owner].nick}'s rack"
            known = with_seat(known, owner, read(event.detail, where, event.line))
            if left:
                known = with_seat(known, seat, _Known((), event.line))
        elif event.kind.is_turn or event.kind is EventKind.WITHDRAWN:
            known = with_seat(known, seat, read(event.rack, f"{event.nick}'s rack", event.line))
        racks.append(known)
    return racks[::-1]


def gcg_from_game(
    game: Game,
    players: tuple[str, str],
    *,
    lexicon: str = "",
    title: str = "",
    id: str = "",
    note: str = "",
    time_penalties: tuple[int, int] = (0, 0),
) -> GcgGame:
    """Record a game; if it is not over it is marked incomplete and keeps both racks.

    ``players`` are names by seat, from which nicks are made; ``time_penalties`` are points by seat.

    Raises:
        ValueError: a time penalty below 0.
    """
    if min(time_penalties) < 0:
        raise ValueError(f"time penalties {time_penalties}: points lost are 0 or more")
    alphabet = game.rules.distribution.alphabet
    first, second = (re.sub(r"[\s:]+", "_", name.strip()) or "player" for name in players)
    nicks = first, second if second != first else f"{second}_2"
    events = list(_events(game, nicks))
    totals = list(game.opening.scores) if game.opening else [0, 0]
    for turn in game.turns:
        totals[turn.seat] = turn.total
    if game.over is not None:
        left = [alphabet.text(rack) for rack in game.over.racks]
        for seat, points in enumerate(game.over.adjustments):
            totals[seat] += points
            fields = nicks[seat], left[seat], left[seat], points, totals[seat]
            if game.over.reason == "zeroes":
                events.append(GcgEvent(EventKind.RACK_LOST, *fields))
            elif not left[seat]:
                fields = nicks[seat], "", left[1 - seat], points, totals[seat]
                events.append(GcgEvent(EventKind.RACK_LEFT, *fields))
    for seat, points in enumerate(time_penalties):
        if points:
            totals[seat] -= points
            events.append(GcgEvent(EventKind.TIME, nicks[seat], "", "", -points, totals[seat]))
    racks = ["", ""] if game.over else [alphabet.text(rack) for rack in game.position.racks]
    return GcgGame(
        players=tuple(
            GcgPlayer(nick, " ".join(name.split()), rack)
            for nick, name, rack in zip(nicks, players, racks, strict=True)
        ),
        events=tuple(events),
        title=" ".join(title.split()),
        id=" ".join(id.split()),
        lexicon=" ".join(lexicon.split()),
        opening=write_cgp(game.opening, game.rules) if game.opening else "",
        note="\n".join(re.split(r"\r\n|\r|\n", note)),
        incomplete=None if game.over else "",
    )


def _events(game: Game, nicks: tuple[str, str]) -> Iterator[GcgEvent]:
    """Yield the events of each turn, and of a challenge of it."""
    alphabet = game.rules.distribution.alphabet
    board = (game.opening or Position.empty(game.rules.layout)).board
    for turn in game.turns:
        nick, text, rack = (
            nicks[turn.seat],
            format_move(turn.move, alphabet),
            alphabet.text(turn.rack),
        )
        total, score = turn.total - turn.bonus, turn.score
        match turn.move:
            case Place() if turn.withdrawn:
                kind, detail = EventKind.PLAY, text
                score = score_play(board, turn.move, game.rules).score
                total += score
            case Place():
                kind, detail = EventKind.PLAY, text
                board = board.with_move(turn.move)
            case Exchange():
                kind, detail = EventKind.EXCHANGE, text.removeprefix("-")
            case Pass():
                kind, detail = EventKind.PASS, ""
        note = LOST_TURN if turn.lost else STOOD if turn.upheld and not turn.bonus else ""
        yield GcgEvent(kind, nick, rack, detail, score, total, note=note)
        if turn.withdrawn:
            yield GcgEvent(EventKind.WITHDRAWN, nick, rack, "", -score, total - score)
        if turn.bonus:
            yield GcgEvent(EventKind.CHALLENGE, nick, rack, "", turn.bonus, turn.total)
