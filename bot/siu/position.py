"""``position cgp … moves …``: a game and each player's knowledge of it.

The engine plays for the player on turn at the end. Racks are known from the CGP, from moves that
reveal them, from phonies taken back, and from ``rack.…`` at the end. Words are not checked: they
may be from another lexicon.

Of the CGP's operations ``ld``, ``bdn``, ``var``, ``bb``, ``etl``, ``mcnz``, ``mcnp``, ``mex`` and
``oru`` are obeyed, ``lex`` if the lexicon exists, and ``cr`` if there is such a rule. The tiles
(``ld``) also set the other numbers, from the rule set of their name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from engine.notation.cgp import check_tile_counts, read_cgp, read_challenge, read_operations
from engine.notation.cgp_moves import CgpMove, format_cgp_move, parse_cgp_move, parse_cgp_rack
from engine.notation.move_text import NotationError
from engine.preendgame import MOST_IN_BAG
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, Rack, bag_count, with_seat
from engine.rules.rule_sets import rules_for
from engine.rules.rules import (
    IllegalMove,
    Rules,
    canonical,
    check_move,
    score_play,
    used_tiles,
    why_not,
)
from lexicons.alphabet import load_distribution
from lexicons.layout import load_layout
from lexicons.text import shown
from protocol.siu.commands import Mode, SetPosition

from .settings import SiuSettings

_WHOLE_NUMBERS = {
    **{"bb": "bingo_bonus", "etl": "exchange_minimum", "mcnz": "scoreless_limit"},
    **{"mcnp": "pass_limit", "mex": "exchange_limit"},
}

_BOARD_OF_VARIANT = {"classic": None, "classic_super": "super"}
"""The board if ``bdn`` names none, by Macondo's name of the variant; None: the tiles' own."""

WHOLE_RACK = ("sim", "peg", "auto")
"""Modes that need the whole rack of the player on turn while the bag has tiles."""


class BadMove(ValueError):
    """A listed move can't be read, or is impossible."""


@dataclass(frozen=True)
class SiuTurn:
    """A turn taken."""

    seat: int
    move: Move | int
    """A number: an exchange of so many unknown tiles."""
    phony: bool
    score: int
    before: Position
    """Without racks."""
    held: Rack
    """Tiles that the player certainly held before the move."""


@dataclass(frozen=True)
class SiuSituation:
    """A game up to the turn in question."""

    key: tuple[str, ...]
    """The CGP and the moves, as given."""
    rules: Rules
    lexicon: str | None
    """The CGP's lexicon, if it exists here."""
    turns: tuple[SiuTurn, ...]
    last: Position
    """The last position, without racks."""
    certain: tuple[tuple[Rack, Rack], ...]
    """Tiles that each seat certainly held, by seat: before each turn, and at the end."""
    notes: tuple[str, ...] = ()
    """Ignored requests of the CGP, such as ``lex CSW21``."""

    @property
    def seat(self) -> int:
        """The seat on turn."""
        return self.last.on_turn

    @property
    def known(self) -> Rack:
        """Tiles that the opponent certainly holds."""
        return self.certain[-1][1 - self.seat]

    @cached_property
    def position(self) -> Position:
        """The position with the known rack of the player on turn, and the opponent's if complete.

        With an empty bag the opponent's rack is left out: it is the unseen tiles.
        """
        position = self.seen(len(self.turns))
        whole = len(self.known) == self.rules.rack_size
        if not whole or not bag_count(position, self.rules):
            return position
        return replace(position, racks=with_seat(position.racks, 1 - self.seat, self.known))

    @cached_property
    def bag(self) -> int:
        """Number of tiles in the bag."""
        return bag_count(self.position, self.rules)

    def seen(self, turn: int) -> Position:
        """Return the position before a turn, or at the end, with our rack if it is complete."""
        position = self.turns[turn].before if turn < len(self.turns) else self.last
        return replace(position, racks=with_seat(((), ()), self.seat, self._own(turn)))

    def _own(self, turn: int) -> Rack:
        """Return our rack before a turn, () unless complete; a later turn may reveal it.

        At the end, or if the bag is empty by then, return what is known of it.
        """
        end = len(self.turns)
        for at in range(turn, end + 1):
            rack = self.certain[at][self.seat]
            if len(rack) == self.rules.rack_size or turn == end:
                return rack
            if at < end and self.turns[at].seat == self.seat and not self.turns[at].phony:
                return ()
        return () if bag_count(self.last, self.rules) else rack

    def read_move(self, text: str) -> tuple[Move, str]:
        """Read a legal move or a phony, and return it and its text; otherwise raise ValueError."""
        board, rules = self.position.board, self.rules
        alphabet = rules.distribution.alphabet
        read = parse_cgp_move(text, board, alphabet, rules.rack_size)
        if isinstance(read.move, int) or read.phony:
            raise ValueError("which move is it? Write 8D.WORD, ex.ABC or pass")
        check_move(self.position, read.move, rules, None, self.bag)
        name = format_cgp_move(read.move, board, alphabet)
        return canonical(read.move, board) if isinstance(read.move, Place) else read.move, name

    def why_not(self, mode: Mode) -> str:
        """Return why a mode can't be searched here; empty if it can."""
        if mode == "infer":
            return ""
        if why := why_not(self.position, self.rules, whole=mode in WHOLE_RACK):
            return why
        if mode == "endgame" and self.bag:
            return f"endgame is for an empty bag, and this has {self.bag}"
        if mode == "peg" and not 1 <= self.bag <= MOST_IN_BAG:
            return f"peg is for 1 to {MOST_IN_BAG} tiles in the bag, and this has {self.bag}"
        return ""


def read_position(command: SetPosition, settings: SiuSettings) -> SiuSituation:
    """Read a game.

    Raises:
        ValueError: the CGP is invalid, or names tiles, a board or a variant that don't exist.
        BadMove: a move can't be read or is impossible.
    """
    operations = dict(reversed(read_operations(command.cgp)))  # of two with a name the first counts
    rules, lexicon, notes = _terms(operations, settings)
    start = read_cgp(command.cgp, rules)
    if "oru" in operations:
        start = replace(start, racks=(start.racks[0], ()))
    game = _Game(start, rules)
    for text in command.moves:
        game.take(text)
    moves = tuple(text for text in command.moves if not text.lower().startswith("rack."))
    key = (command.cgp, *moves)
    certain = (*game.certain, game.racks)
    return SiuSituation(
        key, rules, lexicon, tuple(game.turns), game.position, certain, tuple(notes)
    )


# --- operations -----------------------------------------------------------------------------------


def _terms(
    operations: dict[str, str], settings: SiuSettings
) -> tuple[Rules, str | None, list[str]]:
    """Return the rules, the lexicon if it exists, and the ignored requests."""
    notes = []
    distribution = settings.distribution
    if tiles := operations.get("ld"):
        distribution = settings.find("letter distribution", tiles)
    variant = operations.get("var", "classic")
    if variant.casefold() not in _BOARD_OF_VARIANT:
        known = ", ".join(_BOARD_OF_VARIANT)
        raise ValueError(f"variant {variant[:60]!r} is unknown; known: {known}")
    board = operations.get("bdn") or _BOARD_OF_VARIANT[variant.casefold()]
    layout = settings.find("board", board) if board else None
    try:
        rules = rules_for(load_distribution(distribution))
        if layout is not None:
            rules = replace(rules, layout=load_layout(layout))
    except OSError as error:
        raise ValueError(str(error)) from None
    for name, field in _WHOLE_NUMBERS.items():
        if name in operations:
            text = operations[name]
            if not (text.isascii() and text.isdigit() and len(text) < 5):
                raise ValueError(f"{name} {text[:60]!r} is no number")
            changed: Any = {field: int(text)}
            rules = replace(rules, **changed)
    lexicon = None
    if words := operations.get("lex"):
        try:
            lexicon = settings.find("lexicon", words)
        except ValueError as error:
            notes.append(str(error))
    if rule := operations.get("cr"):
        try:
            rules = replace(rules, challenge=read_challenge(rule))
        except NotationError as error:
            notes.append(str(error))
    return rules, lexicon, notes


# --- moves ----------------------------------------------------------------------------------------


class _Game:
    def __init__(self, start: Position, rules: Rules) -> None:
        self.rules = rules
        self.position = start.without_racks()
        self.racks = start.racks
        self.turns: list[SiuTurn] = []
        self.certain: list[tuple[Rack, Rack]] = []
        self._is_over = False
        self._lost_turn = False

    def take(self, text: str) -> None:
        if self._is_over:
            raise BadMove(f"nothing comes after {shown('rack.…')}, which ends the list")
        rules, board = self.rules, self.position.board
        alphabet = rules.distribution.alphabet
        try:
            rack = parse_cgp_rack(text, alphabet, rules.rack_size)
            if rack is not None:
                self._is_over = True
                self._hold(self.position.on_turn, rack)
                check_tile_counts(board, self.racks, rules.distribution)
                return
            self._play(parse_cgp_move(text, board, alphabet, rules.rack_size))
        except (NotationError, IllegalMove) as error:
            raise BadMove(f"move {len(self.turns) + 1}, {shown(text)}: {error}") from None

    def _play(self, made: CgpMove) -> None:
        if self._lost_turn and made.move == PASS:
            self._lost_turn = False  # the turn lost by a failed challenge, repeated
            return
        self._lost_turn = made.turn_lost
        rules, before, seat = self.rules, self.position, self.position.on_turn
        move, score, board = made.move, 0, self.position.board
        if isinstance(move, int) and move > rules.rack_size:
            raise NotationError(f"{move} tiles; a rack holds {rules.rack_size}")
        if isinstance(move, Place):
            move = canonical(move, board)
            score = score_play(board, move, rules).score
        self._hold(seat, made.rack or ())
        held, used = self.racks[seat], () if isinstance(move, int) else used_tiles(move)
        self._hold(seat, used)
        if isinstance(move, Place) and not made.phony:
            board = board.with_move(move)
        counts = before.counts_after(None if made.phony else move, rules)
        self.certain.append(self.racks)
        self.turns.append(SiuTurn(seat, move, made.phony, score * (not made.phony), before, held))
        if not made.phony:
            left = Counter(self.racks[seat]) - Counter(used)
            stays = () if isinstance(move, int) else tuple(sorted(left.elements()))
            self.racks = with_seat(self.racks, seat, stays)
        gained = self.turns[-1].score + made.challenge_points
        self.position = Position(
            board,
            ((), ()),
            with_seat(before.scores, seat, before.scores[seat] + gained),
            1 - seat,
            *counts,
        )
        if made.turn_lost:
            self.position = self.position.after(PASS, 0, (), rules)
        check_tile_counts(board, self.racks, rules.distribution)

    def _hold(self, seat: int, tiles: Rack) -> None:
        had = self.racks[seat]
        held = tuple(sorted((Counter(had) | Counter(tiles)).elements()))
        if len(held) > self.rules.rack_size:
            text = self.rules.distribution.alphabet.text
            raise NotationError(f"{text(tiles)} can't be on the rack, known to have {text(had)}")
        self.racks = with_seat(self.racks, seat, held)
