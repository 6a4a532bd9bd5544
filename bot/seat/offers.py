"""Resolve the names in an offered game to rules, words and tables.

The arbiter's names come from outside, so they name embedded data only, never paths. Tiles or a
board given in full override embedded ones of the same name.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from functools import lru_cache

from msgspec import UNSET, UnsetType

from bot.equipment import Equipment, Resources, Tables, load_tables
from engine.notation.cgp import read_cgp
from engine.notation.move_text import NotationError
from engine.rules.position import Position
from engine.rules.rule_sets import check_rules, load_rules
from engine.rules.rules import MAX_RACK, NO_LIMIT, Rules, square_name
from lexicons.alphabet import TileDistribution, load_distribution, parse_distribution
from lexicons.layout import BoardLayout, layout_rows, load_layout, parse_layout
from lexicons.store import Lexicon, lexicon_names, load_lexicon
from lexicons.tables import leaves_for
from lexicons.text import embedded_names
from protocol.messages import NewGame
from protocol.parts import RulesInPlay, TileKind


class Declined(Exception):
    """The bot can't play the game; ``code`` is a word of the table in ``protocol/SPEC.md``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@lru_cache(maxsize=8)
def rules_in_play(rules: RulesInPlay) -> Rules:
    """Convert the rules on the wire to the engine's; raise Declined: ``unsupported_rules``."""
    try:
        if not 1 <= rules.rack_size <= MAX_RACK:
            raise ValueError(f"racks of {rules.rack_size} tiles; 1 to {MAX_RACK} can be played")
        played = Rules(
            distribution=_tiles_in_play(rules),
            layout=_board_in_play(rules),
            rack_size=rules.rack_size,
            bingo_bonus=rules.bingo_bonus,
            exchange_minimum=rules.exchange_minimum,
            scoreless_limit=rules.scoreless_limit,
            pass_limit=_limit(rules.pass_limit),
            exchange_limit=_limit(rules.exchange_limit),
            challenge=rules.challenge,
            challenge_by="turn" if rules.challenge_by is UNSET else rules.challenge_by,
            name=rules.name,
        )
        check_rules(played, "the rules")
    except (ValueError, OSError) as error:
        raise Declined("unsupported_rules", str(error)) from None
    return played


def _limit(told: int | UnsetType) -> int:
    return NO_LIMIT if told is UNSET else told


def _told_limit(limit: int) -> int | UnsetType:
    return limit if limit < NO_LIMIT else UNSET


def _tiles_in_play(rules: RulesInPlay) -> TileDistribution:
    name = rules.distribution
    if not rules.tiles:
        return load_distribution(_checked(name, ".csv"))
    table = io.StringIO()
    csv.writer(table).writerows(
        (tile.letter, tile.blanked, tile.count, tile.points, int(tile.vowel))
        for tile in rules.tiles
    )
    tiles = parse_distribution(name, table.getvalue(), f"the tiles {name[:40]!r}")
    if len(tiles.counts) != len(rules.tiles):
        raise ValueError(
            f"the tiles {name[:40]!r}: a tile's text has a character that tiles can't have"
        )
    return tiles


def _board_in_play(rules: RulesInPlay) -> BoardLayout:
    name = rules.layout
    if not rules.board:
        return load_layout(_checked(name, ".txt"))
    start = [] if rules.start is None else [f"start {rules.start}"]
    return parse_layout(name, "\n".join((*rules.board, *start)), f"the board {name[:40]!r}")


def _checked(name: str, suffix: str) -> str:
    """Return a name of embedded data; ValueError if it is not: an arbiter can't read files here."""
    if name not in embedded_names(suffix):
        raise ValueError(f"{name[:40]!r} is not known here")
    return name


@lru_cache(maxsize=8)
def rules_on_wire(rules: Rules) -> RulesInPlay:
    """Return the engine's rules as ``new_game`` has them.

    Tiles and board are sent in full unless every bot knows them, so that bots need no files of
    ours. Unknown ones never get a known name, so that a bot that looks at names alone is not
    misled.
    """
    tiles, layout, known = rules.distribution, rules.layout, RulesInPlay()
    alphabet = tiles.alphabet
    rows = zip(
        *(alphabet.letters, alphabet.blanked, tiles.counts, tiles.points, tiles.vowels), strict=True
    )
    tells_tiles = tiles != load_distribution(known.distribution)
    tells_board = layout != load_layout(known.layout)
    return RulesInPlay(
        rack_size=rules.rack_size,
        bingo_bonus=rules.bingo_bonus,
        exchange_minimum=rules.exchange_minimum,
        scoreless_limit=rules.scoreless_limit,
        pass_limit=_told_limit(rules.pass_limit),
        exchange_limit=_told_limit(rules.exchange_limit),
        challenge=rules.challenge,
        challenge_by=UNSET if rules.challenge_by == "turn" else rules.challenge_by,
        name=rules.name[:256],
        distribution=_told_name(tiles.name, known.distribution, is_known=not tells_tiles),
        tiles=tuple(
            TileKind(letter=letter, blanked=blanked, count=count, points=points, vowel=vowel)
            for letter, blanked, count, points, vowel in (rows if tells_tiles else ())
        ),
        layout=_told_name(layout.name, known.layout, is_known=not tells_board),
        board=layout_rows(layout) if tells_board else (),
        start=square_name(*layout.start) if tells_board else None,
    )


def _told_name(name: str, known: str, *, is_known: bool) -> str:
    return f"own-{name}" if name == known and not is_known else name[:256]


def beginning(offer: NewGame, rules: Rules) -> Position:
    """Return the position that a game begins in, without racks.

    Raises:
        Declined: ``unsupported_opening``, if the text is not a position.
    """
    if offer.opening is None:
        return Position.empty(rules.layout)
    try:
        opening = read_cgp(offer.opening, rules)
    except NotationError as error:
        raise Declined("unsupported_opening", f"the opening: {error}") from None
    return opening.without_racks()


def preload(equipment: Equipment) -> None:
    """Load a player's words and tables if possible; errors are reported when a game is offered."""
    with suppress(Declined, ValueError, OSError):
        distribution = load_rules(equipment.rules).distribution
        _ = _load(equipment.lexicon, distribution).word_map
        if _tables(equipment, distribution).leaves is None:
            leaves_for(distribution)


def resources_for(equipment: Equipment, offer: NewGame, rules: Rules) -> Resources:
    """Return a game's words and tables; words not loaded yet take seconds.

    A bot that was given a word file plays with that only; another bot plays with any embedded
    lexicon.

    Raises:
        Declined: ``unknown_lexicon``, or ``unsupported_rules`` if a table is not for these tiles.
    """
    lexicon = _lexicon_for(equipment, offer, rules)
    leaves, win_probabilities = _tables(equipment, rules.distribution)
    return Resources(lexicon, leaves, win_probabilities, equipment.threads, equipment.ponder)


def _lexicon_for(equipment: Equipment, offer: NewGame, rules: Rules) -> Lexicon:
    known = lexicon_names()
    names = [equipment.lexicon]
    if equipment.lexicon in known and offer.lexicon in known:
        names.append(offer.lexicon)
    why = ""
    for name in dict.fromkeys(names):
        try:
            own = _load(name, rules.distribution)
        except Declined as declined:
            why = f"the lexicon {offer.lexicon[:40]!r} is not here: {declined}"
            continue
        if _is_meant(own, offer):
            return own
        why = _difference(own, offer)
    raise Declined("unknown_lexicon", why)


def _tables(equipment: Equipment, distribution: TileDistribution) -> Tables:
    try:
        return load_tables(equipment, distribution)
    except (ValueError, OSError) as error:
        raise Declined("unsupported_rules", str(error)) from None


def _is_meant(lexicon: Lexicon, offer: NewGame) -> bool:
    if offer.lexicon_checksum is not None:
        return lexicon.checksum == offer.lexicon_checksum
    return lexicon.name == offer.lexicon


def _difference(lexicon: Lexicon, offer: NewGame) -> str:
    if lexicon.name != offer.lexicon:
        return f"the lexicon {offer.lexicon[:40]!r} is not here; {lexicon.name!r} is"
    return (
        f"the lexicon {lexicon.name!r} has other words here: checksum {lexicon.checksum[:16]}… "
        f"and not {(offer.lexicon_checksum or '')[:16]}…"
    )


@lru_cache(maxsize=4)
def _load(name_or_path: str, distribution: TileDistribution) -> Lexicon:
    try:
        return load_lexicon(name_or_path, distribution)
    except (ValueError, OSError) as error:
        raise Declined("unknown_lexicon", str(error)) from None
