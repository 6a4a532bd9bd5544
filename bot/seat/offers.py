"""An offered game's names, resolved to rules, words and tables.

The arbiter's names come from outside, so they name embedded data only, never paths.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from bot.equipment import Equipment, Resources, Tables, load_tables
from engine.notation.cgp import read_cgp
from engine.notation.move_text import NotationError
from engine.rules.position import Position
from engine.rules.rules import MAX_RACK, Rules
from lexicons.alphabet import TileDistribution, load_distribution
from lexicons.layout import load_layout
from lexicons.store import Lexicon, lexicon_names, load_lexicon
from lexicons.tables import leaves_for
from protocol.messages import NewGame
from protocol.parts import RulesInPlay

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?")


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
        if rules.exchange_minimum < 1 or rules.scoreless_limit < 1:
            raise ValueError(
                f"exchange_minimum {rules.exchange_minimum} and scoreless_limit "
                f"{rules.scoreless_limit}: both are 1 or more"
            )
        for name in (rules.distribution, rules.layout):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name[:40]!r} is no name")
        distribution, layout = load_distribution(rules.distribution), load_layout(rules.layout)
    except (ValueError, OSError) as error:
        raise Declined("unsupported_rules", str(error)) from None
    return Rules(
        distribution=distribution,
        layout=layout,
        rack_size=rules.rack_size,
        bingo_bonus=rules.bingo_bonus,
        exchange_minimum=rules.exchange_minimum,
        scoreless_limit=rules.scoreless_limit,
        challenge=rules.challenge,
    )


def beginning(offer: NewGame, rules: Rules) -> Position:
    """Return the position that a game begins in, without racks.

    Raises:
        Declined: ``unsupported_opening``, a text that is no position.
    """
    if offer.opening is None:
        return Position.empty(rules.layout)
    try:
        opening = read_cgp(offer.opening, rules).position
    except NotationError as error:
        raise Declined("unsupported_opening", f"the opening: {error}") from None
    return replace(opening, racks=((), ()))


def preload(equipment: Equipment) -> None:
    """Load a player's words and tables if possible; errors show later."""
    distribution = rules_in_play(RulesInPlay()).distribution
    with suppress(Declined, ValueError):
        _ = _load(equipment.lexicon, distribution).word_map
        if _tables(equipment, distribution).leaves is None:
            leaves_for(distribution)


def resources_for(equipment: Equipment, offer: NewGame, rules: Rules) -> Resources:
    """Return a game's words and tables; new words take seconds.

    A bot that was given a file of words plays with these only, another with any embedded ones.

    Raises:
        Declined: ``unknown_lexicon``, or ``unsupported_rules`` if a table is not for these tiles.
    """
    lexicon = _lexicon_for(equipment, offer, rules)
    leaves, win_probabilities = _tables(equipment, rules.distribution)
    return Resources(lexicon, leaves, win_probabilities, equipment.threads, equipment.ponder)


def _lexicon_for(equipment: Equipment, offer: NewGame, rules: Rules) -> Lexicon:
    own = _load(equipment.lexicon, rules.distribution)
    if _is_meant(own, offer):
        return own
    if offer.lexicon in lexicon_names() and equipment.lexicon in lexicon_names():
        own = _load(offer.lexicon, rules.distribution)
        if _is_meant(own, offer):
            return own
    raise Declined("unknown_lexicon", _difference(own, offer))


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
