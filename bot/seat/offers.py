"""Resolve the names in an offered game to rules, words and tables."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from bot.equipment import Equipment, Resources, Tables, load_tables
from engine.notation.cgp import read_cgp
from engine.notation.move_text import NotationError
from engine.rules.position import Position
from engine.rules.rule_sets import load_rules, rules_in_play
from engine.rules.rules import Rules
from lexicons.alphabet import TileDistribution
from lexicons.store import Lexicon, lexicon_names, load_lexicon
from lexicons.tables import leaves_for
from protocol.messages import NewGame


class Declined(Exception):
    """The bot can't play the game; ``code`` is a word of the table in ``protocol/SPEC.md``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def rules_of(offer: NewGame) -> Rules:
    """Return the rules of an offered game; raise Declined: ``unsupported_rules``."""
    try:
        return rules_in_play(offer.rules)
    except ValueError as error:
        raise Declined("unsupported_rules", str(error)) from None


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
    known = lexicon_names()
    names = [equipment.lexicon]
    if equipment.lexicon in known and offer.lexicon in known:
        names.append(offer.lexicon)
    wanted, checksum, why = offer.lexicon, offer.lexicon_checksum, ""
    for name in dict.fromkeys(names):
        try:
            lexicon = _load(name, rules.distribution)
        except Declined as declined:
            why = f"the lexicon {wanted[:40]!r} is not here: {declined}"
            continue
        if lexicon.checksum == checksum or (checksum is None and lexicon.name == wanted):
            tables = _tables(equipment, rules.distribution)
            return Resources(lexicon, *tables, equipment.threads, equipment.ponder)
        if lexicon.name != wanted:
            why = f"the lexicon {wanted[:40]!r} is not here; {lexicon.name!r} is"
        else:
            why = (
                f"the lexicon {wanted!r} has other words here: checksum {lexicon.checksum[:16]}… "
                f"and not {(checksum or '')[:16]}…"
            )
    raise Declined("unknown_lexicon", why)


def _tables(equipment: Equipment, distribution: TileDistribution) -> Tables:
    try:
        return load_tables(equipment, distribution)
    except (ValueError, OSError) as error:
        raise Declined("unsupported_rules", str(error)) from None


@lru_cache(maxsize=4)
def _load(name_or_path: str, distribution: TileDistribution) -> Lexicon:
    try:
        return load_lexicon(name_or_path, distribution)
    except (ValueError, OSError) as error:
        raise Declined("unknown_lexicon", str(error)) from None
