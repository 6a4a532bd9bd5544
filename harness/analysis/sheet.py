"""A game or a position given as text: its turns, each a position to analyse."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.gcg import GcgGame, Notice, read_gcg, write_gcg
from engine.notation.move_text import NotationError, format_move, parse_move
from engine.notation.replaying import STOOD, Replay, as_computed, replay
from engine.rules.moves import Move, Place
from engine.rules.rules import Rules, canonical, why_not

from .review import ReviewedTurn, list_turns, turn_before

MOST_TURNS = 200
"""Turns of a game; a longer one is refused."""

_IS_GCG = re.compile(rb"\A\s*#|^>", re.MULTILINE)


@dataclass(frozen=True)
class Sheet:
    """What was given: a game, or a position as its only turn."""

    turns: tuple[ReviewedTurn, ...]
    gcg: GcgGame | None = None
    replay: Replay | None = None

    def turn(self, line: int, rules: Rules) -> ReviewedTurn:
        """Return the turn before a line of the score sheet, or a position's only turn.

        The line after the last is that of the final position.

        Raises:
            ValueError: there is no such line.
        """
        if self.gcg is None or self.replay is None:
            return self.turns[0]
        self.replay.check_line(line)
        return turn_before(self.gcg, self.replay, line, rules)


def read_sheet(data: bytes, rules: Rules) -> Sheet:
    """Read a GCG as people write it, or else a CGP.

    Raises:
        ValueError: says what is wrong, and in which line.
    """
    text = data.removeprefix(b"\xef\xbb\xbf")  # which tells the encoding of a GCG
    if not _IS_GCG.search(text):
        return Sheet((_position(text, rules),))
    notices: list[Notice] = []
    gcg = read_gcg(data, notices)
    if (count := sum(event.kind.is_turn for event in gcg.events)) > MOST_TURNS:
        raise ValueError(f"the game has {count} turns; {MOST_TURNS} are looked at at most")
    played = replay(gcg, rules, notices)
    return Sheet(tuple(list_turns(gcg, played, rules)), gcg, played)


def _position(data: bytes, rules: Rules) -> ReviewedTurn:
    try:
        text = data.decode().strip()
    except UnicodeDecodeError:
        raise ValueError("this is neither a GCG nor a CGP: it is no text") from None
    if text[:1] in ("'", '"') and text.endswith(text[0]):
        text = text[1:-1]  # in quotes, as a shell needs it
    if len(text.split()) < 4 or "/" not in text:
        raise ValueError(
            "this is neither a GCG, whose lines begin with # or >, nor a CGP, which is "
            "'board racks scores zeros'"
        )
    position = read_cgp(text, rules)
    return ReviewedTurn(position, obstacle=why_not(position, rules))


def read_try(text: str, turn: ReviewedTurn, rules: Rules) -> Move:
    """Read a move to try in place of the played one, in canonical form.

    Raises:
        ValueError: it is no move, or doesn't fit the board.
    """
    board = turn.position.board
    move = parse_move(text, board, rules.distribution.alphabet)
    return canonical(move, board) if isinstance(move, Place) else move


def sheet_json(sheet: Sheet, rules: Rules, lexicon: str) -> dict[str, Any]:
    """Return what was given as JSON: the turns with their positions (CGP), before any analysis.

    ``notice`` is a sentence if the game names another lexicon than ``lexicon``; ``notices`` are of
    what is not taken as it is written; ``gcg`` is the game by the rules, as we write it; ``final``
    is the position after the last line of a game, as a turn; ``seq`` is the number that a turn's
    event has in games of ours.
    """
    gcg, alphabet = sheet.gcg, rules.distribution.alphabet
    notice, written = "", None
    if gcg and gcg.lexicon and gcg.lexicon.casefold() != lexicon.casefold():
        notice = (
            f"The game names the lexicon {gcg.lexicon}, and this is {lexicon}: words that "
            f"{lexicon} lacks count as phonies."
        )
    if gcg and sheet.replay:
        with suppress(NotationError):  # such as a title with a line end of another system
            written = write_gcg(as_computed(gcg, sheet.replay))
    steps = sheet.replay.steps if sheet.replay else ()

    def as_json(turn: ReviewedTurn) -> dict[str, Any]:
        return {
            "line": turn.line,
            # Challenges that are only notes count as events too.
            "seq": turn.line + sum(it.event.note == STOOD for it in steps[: turn.line - 1]),
            "seat": turn.position.on_turn,
            "cgp": write_cgp(turn.position, rules),
            "rack": alphabet.text(turn.position.racks[turn.position.on_turn]),
            "played": None if turn.played is None else format_move(turn.played, alphabet),
            "score": turn.step.event.score if turn.step else None,
            "computed": turn.step.computed if turn.step else None,
            "left_out": turn.obstacle or None,
        }

    return {
        "title": gcg.title if gcg else "",
        "players": [player.name or player.nick for player in gcg.players] if gcg else [],
        "notice": notice,
        "lexicon": lexicon,
        "notices": sheet.replay.notices if sheet.replay else (),
        "gcg": written,
        "scores": sheet.replay.final.scores if sheet.replay else sheet.turns[0].position.scores,
        "turns": [as_json(turn) for turn in sheet.turns],
        "final": as_json(sheet.turn(len(steps) + 1, rules)) if gcg else None,
    }
