"""A played game as a GCG: its turns, the points for racks, the points lost on the clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.rules.game import Ending, Game, Turn
from engine.rules.moves import Exchange, Pass, Place
from lexicons.alphabet import Alphabet

from .gcg import EventKind, GcgEvent, GcgGame, GcgPlayer
from .move_text import format_move

__all__ = ["gcg_from_game"]


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
    """Record a game: its turns, the points for racks, the time penalties.

    ``players`` are names by seat; nicks are made of them. ``time_penalties`` are points lost on
    the clock, 0 or more. A game that is not over is marked incomplete and keeps both racks.

    Raises:
        ValueError: a time penalty below 0.
    """
    if min(time_penalties) < 0:
        raise ValueError(f"time penalties {time_penalties}: points lost are 0 or more")
    alphabet = game.rules.distribution.alphabet
    nicks = _nicks(players)
    events = [_turn_event(nicks[turn.seat], turn, alphabet) for turn in game.turns]
    totals = [0, 0]
    for turn in game.turns:
        totals[turn.seat] = turn.total
    if game.over is not None:
        events += _end_events(game.over, nicks, totals, alphabet)
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
        note="\n".join(re.split(r"\r\n|\r|\n", note)),
        incomplete=None if game.over else "",
    )


def _turn_event(nick: str, turn: Turn, alphabet: Alphabet) -> GcgEvent:
    text = format_move(turn.move, alphabet)
    match turn.move:
        case Place():
            kind, detail = EventKind.PLAY, text
        case Exchange():
            kind, detail = EventKind.EXCHANGE, text.removeprefix("-")
        case Pass():
            kind, detail = EventKind.PASS, ""
    return GcgEvent(kind, nick, alphabet.text(turn.rack), detail, turn.score, turn.total)


def _end_events(
    over: Ending, nicks: tuple[str, str], totals: list[int], alphabet: Alphabet
) -> Iterator[GcgEvent]:
    """Write the points for racks, and add them to ``totals`` (modified in place)."""
    for seat, points in enumerate(over.adjustments):
        own, other = alphabet.text(over.racks[seat]), alphabet.text(over.racks[1 - seat])
        totals[seat] += points
        if over.reason == "zeroes":
            yield GcgEvent(EventKind.RACK_LOST, nicks[seat], own, own, points, totals[seat])
        elif not own:
            yield GcgEvent(EventKind.RACK_LEFT, nicks[seat], "", other, points, totals[seat])


def _nicks(players: tuple[str, str]) -> tuple[str, str]:
    """Make nicks of names: single words, without a colon, different from each other."""
    first, second = (re.sub(r"[\s:]+", "_", name.strip()) or "player" for name in players)
    return first, second if second != first else f"{second}_2"
