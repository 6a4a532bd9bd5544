"""The tables of a server, by its settings, each with bots of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from bot.equipment import Equipment
from bot.registry import SeatSpec
from engine.rules.rule_sets import rules_in_play
from harness.analysis.task import MAIN
from harness.arbiter.records import Opened
from harness.server.tables import TableKind, Tables
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

from . import options
from .serving import HouseBots


class House:
    """The tables of one server, and their bots, which ``close`` ends.

    Raises:
        SeatError: an engine's options are invalid, or it can't play at the main table.
        CommandFailed: words, tables or rules can't be read.
    """

    def __init__(
        self,
        specs: Mapping[str, SeatSpec],
        equipment: Equipment,
        others: Mapping[str, tuple[Equipment, TimeControl | None]] = {},
        seed: int | None = None,
    ) -> None:
        self._specs, self._seed, self._equipment = specs, seed, equipment
        self._bots: list[HouseBots] = []
        main = self._open(MAIN, equipment, None)
        self.main_bots = self._bots[0]
        kinds = [self._open(name, *what) for name, what in others.items()]
        self.tables = Tables(main, kinds, self._of_game)

    def _open(self, name: str, equipment: Equipment, time: TimeControl | None) -> TableKind:
        lexicon = options.load_equipped(equipment)

        def leave_out(why: str) -> None:
            options.say(f"table {name}: {why}")

        beside = None if name == MAIN else leave_out
        self._bots.append(HouseBots(self._specs, equipment, lexicon, self._seed, beside))
        return TableKind(
            name=name,
            lexicon=lexicon,
            rules=options.load_rule_set(equipment.rules),
            bots=self._bots[-1].seats,
            time=time,
            equipment=equipment,
        )

    def _of_game(self, opened: Opened, location: str) -> TableKind | None:
        """Return a table for a resumed game whose own is no longer in the settings.

        None if its words can't be read.
        """
        rules = rules_in_play(opened.rules)
        try:
            lexicon = load_lexicon(location, rules.distribution)
        except (ValueError, OSError):
            return None
        equipment = dataclasses.replace(
            self._equipment, lexicon=location, leaves=None, win_probabilities=None
        )
        self._bots.append(HouseBots(self._specs, equipment, lexicon, self._seed, options.say))
        bots = self._bots[-1].seats
        return TableKind(name="", lexicon=lexicon, rules=rules, bots=bots, equipment=equipment)

    async def close(self) -> None:
        """End the processes of all bots."""
        for bots in self._bots:
            await bots.close()
