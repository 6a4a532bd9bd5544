"""Replays of recorded games (GCG) by the rules, and records of played games.

A replay checks every score and running total against the rules. Words are not looked up: a recorded
game may well have phonies that stood.

A rack that is not recorded is ``()``, and an exchange of which only the number is known has no
move. A rack that a player shows in its next turn is known before it, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.rules.game import Game
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack, with_seat
from engine.rules.rules import (
    Play,
    Rules,
    canonical,
    may_exchange,
    none_left,
    rack_tiles,
    score_play,
)
from lexicons.alphabet import EMPTY
from lexicons.text import shown

from .cgp import check_tile_counts, read_cgp, read_rack, write_cgp
from .gcg import EventKind, GcgError, GcgEvent, GcgGame, GcgPlayer
from .move_text import NotationError, format_move, parse_move

LOST_TURN = "turn lost by a challenge"
"""The note on the pass of a player that lost its turn by an unsuccessful challenge."""

STOOD = "challenged in vain"
"""The note on a play that was challenged and stood without a bonus, for which GCG has no line."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One event, the position before it, and what it does.

    ``move`` is canonical; None for a withdrawal, points at the end, or an exchange whose tiles are
    not recorded. ``play`` is there for a placement.
    """

    event: GcgEvent
    seat: int
    before: Position
    move: Move | None = None
    play: Play | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed file: its events in order, and the position after the last."""

    steps: tuple[ReplayStep, ...]
    final: Position

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


def replay(gcg: GcgGame, rules: Rules) -> Replay:
    """Replay a game; seat 0 is ``#player1``, whoever begins.

    Raises:
        GcgError: names the line, what it says and what the rules say: a move that is not
            possible, a score or a total that does not add up, a rack that lacks a tile played or
            holds more of a tile than there are, a turn out of turn, more or fewer than two
            players.
    """
    if len(gcg.players) != 2:
        line = gcg.players[2].line if len(gcg.players) > 2 else gcg.players[0].line
        raise GcgError(line, f"{len(gcg.players)} players; only a game of two can be replayed")
    game, steps = _Replayer(gcg, rules), list[ReplayStep]()
    for index, event in enumerate(gcg.events):
        try:
            steps.append(game.step(index, event))
        except GcgError:
            raise
        except ValueError as error:
            raise GcgError(event.line, str(error)) from None
    return Replay(tuple(steps), game.final())


class _Known(NamedTuple):
    """A rack and the line that tells it."""

    rack: Rack
    line: int


class _Replayer:
    def __init__(self, gcg: GcgGame, rules: Rules) -> None:
        self._rules = rules
        self._gcg = gcg
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
        self._scores = begun.scores
        self._counts = begun.scoreless_turns, begun.passes, begun.exchanges
        self._ended = False
        self._last: ReplayStep | None = None

    def final(self) -> Position:
        """Return the position after the last event."""
        known = self._known[-1]
        if self._gcg.incomplete and not known[self._on_turn].rack:
            # Some programs write the rack on turn there, and no #rack line; others a remark.
            with suppress(GcgError):
                said = _read_known(self._gcg.incomplete, "the rack on turn", 0, self._rules)
                known = with_seat(known, self._on_turn, said)
        return self._position(known)

    def step(self, index: int, event: GcgEvent) -> ReplayStep:
        """Apply an event; ValueError if it does not fit the rules."""
        seat, last = self._seats[event.nick], self._last
        known = self._known[index]
        if event.kind is EventKind.WITHDRAWN and last and last.event.nick == event.nick:
            # Nothing was drawn yet: this line's rack includes the tiles that still lie there.
            rack = Counter(known[seat].rack)
            if isinstance(last.move, Place):
                rack -= Counter(rack_tiles(last.move.placed))
            known = with_seat(known, seat, _Known(tuple(sorted(rack.elements())), event.line))
        before = self._position(known)
        if event.kind.is_turn:
            if self._ended:
                raise ValueError(f"{event.nick} plays on after the points for racks")
            if seat != self._on_turn:
                raise ValueError(
                    f"{event.nick} is not on turn; a turn that was lost is written as a pass, '-'"
                )
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
                value = distribution.value(distribution.alphabet.tiles(event.detail))
                if event.kind is EventKind.RACK_LOST:
                    expected = -value
                else:  # tiles left count twice, unless their owner loses them too
                    is_lost = any(each.kind is EventKind.RACK_LOST for each in self._gcg.events)
                    expected = value if is_lost else 2 * value
                self._ended = True
            case EventKind.TIME | EventKind.CHALLENGE:
                if event.kind is EventKind.TIME and event.score > 0:
                    raise ValueError(f"time is a loss; {event.score:+d} is a gain")
                if event.kind is EventKind.CHALLENGE and event.score < 0:
                    raise ValueError(
                        f"a bonus for a challenge is a gain; {event.score:+d} is a loss"
                    )
                expected = None
        self._add(step, expected)
        self._last = step
        return step

    def _position(self, known: tuple[_Known, _Known]) -> Position:
        racks = (known[0].rack, known[1].rack)
        try:
            check_tile_counts(self._board, racks, self._rules.distribution)
        except NotationError as error:
            raise GcgError(max(known[0].line, known[1].line), str(error)) from None
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
        play = score_play(self._board, move, self._rules)
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
                if not isinstance(move, Exchange):
                    raise ValueError("an exchange of no tiles; that is a pass")
                self._check_rack(step, move.tiles)
                count = len(move.tiles)
            else:
                move = Exchange(rack) if count == len(rack) == rules.rack_size else None
            on_board = sum(tile != EMPTY for tile in self._board.squares)
            bag = max(0, rules.distribution.total - on_board - 2 * rules.rack_size)
            least = max(count, rules.exchange_minimum)
            if count > rules.rack_size:
                raise ValueError(f"{count} tiles are exchanged; a rack holds {rules.rack_size}")
            if bag < least:
                raise ValueError(f"an exchange of {count} with {bag} in the bag; it takes {least}")
            if not may_exchange(step.before, rules):
                raise ValueError(none_left(rules))
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
            alphabet = self._rules.distribution.alphabet
            raise ValueError(
                f"{alphabet.text(sorted(missing.elements()))} is not on the rack "
                f"{shown(step.event.rack)}"
            )

    def _add(self, step: ReplayStep, expected: int | None) -> None:
        event = step.event
        if expected is not None and event.score != expected:
            raise ValueError(
                f"{event.kind.value} {event.detail}".rstrip()
                + f" scores {expected:+d}; the line says {event.score:+d}"
            )
        total = self._scores[step.seat] + event.score
        if event.total != total:
            raise ValueError(
                f"{self._scores[step.seat]} and {event.score:+d} make {total}; "
                f"the line says {event.total}"
            )
        self._scores = with_seat(self._scores, step.seat, total)


def _known_racks(gcg: GcgGame, seats: dict[str, int], rules: Rules) -> list[tuple[_Known, _Known]]:
    first, second = (
        _read_known(player.rack, f"{player.nick}'s rack", player.rack_line, rules)
        for player in gcg.players
    )
    known = (first, second)
    racks = [known]
    for event in reversed(gcg.events):
        seat = seats[event.nick]
        left = event.kind is EventKind.RACK_LEFT
        if left or event.kind is EventKind.RACK_LOST:
            owner = 1 - seat if left else seat
            where = f"{gcg.players[owner].nick}'s rack"
            known = with_seat(known, owner, _read_known(event.detail, where, event.line, rules))
            if left:
                known = with_seat(known, seat, _Known((), event.line))
        elif event.kind.is_turn or event.kind is EventKind.WITHDRAWN:
            own = _read_known(event.rack, f"{event.nick}'s rack", event.line, rules)
            known = with_seat(known, seat, own)
        racks.append(known)
    return racks[::-1]


def _read_known(text: str, where: str, line: int, rules: Rules) -> _Known:
    try:
        rack = read_rack(text, where, rules.distribution.alphabet, rules.rack_size)
    except NotationError as error:
        raise GcgError(line, str(error)) from None
    return _Known(rack, line)


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
            told = nicks[seat], left[seat], left[seat], points, totals[seat]
            if game.over.reason == "zeroes":
                events.append(GcgEvent(EventKind.RACK_LOST, *told))
            elif not left[seat]:
                told = nicks[seat], "", left[1 - seat], points, totals[seat]
                events.append(GcgEvent(EventKind.RACK_LEFT, *told))
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
