"""The settings of a match or tournament: seats, format, clocks and draws, kept in its folder.

A match is a tournament of two seats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
from bot.seat_text import LONGEST_NAME, parse_seat
from harness.figures import plain
from harness.writing import write_file
from protocol.parts import RulesInPlay, TimeControl

from .sequential import SequentialTest

Format: TypeAlias = Literal["round-robin", "gauntlet", "swiss", "knockout"]


class MatchError(Exception):
    """A match or tournament can't go on; the message gives the reason. Finished games are kept."""


class TournamentConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a match or tournament; stored as ``match.json`` for resuming."""

    seats: tuple[str, ...]
    names: tuple[str, ...]
    moved: tuple[str, ...] = ()
    """What became of seats when it was resumed with other ones, a sentence each."""
    code: tuple[str, ...] = ()
    """``SeatSpec.code`` of each seat when it was last begun or resumed; empty in older folders."""
    games: int
    """Games per pairing, that is, per meeting of two entrants in a round."""
    time: TimeControl
    lexicon: str
    lexicon_checksum: str
    rules: str = "english"
    """The rule set, by name or path."""
    rules_in_play: RulesInPlay = RulesInPlay()
    """The rule set in full, as it was when the tournament began."""
    seed: int | None
    """Seed of the draws that paired games share; None: none do."""
    contained: bool | None = None
    """Whether users' bots were contained where it began, and so could share draws; None, in older
    folders: all seats that start afresh share them."""
    format: Format = "round-robin"
    rounds: int = 1
    """Rounds of a Swiss, cycles of a round robin or gauntlet; a knockout has what it needs."""
    hill: int = 0
    """Number of final rounds of a Swiss that are paired as king of the hill."""
    anchors: tuple[tuple[str, float], ...] = ()
    """Players whose ratings are held fixed, with these ratings."""
    test: SequentialTest | None = None
    """For a match only: it ends when this test decides, or after ``games``."""
    openings: tuple[str, ...] = ()
    """Positions that games begin in, taken in turn; CGPs with whatever racks are given."""
    concurrency: int = 1
    transport: str = "websocket"
    leaves: str | None = None
    winprob: str | None = None
    threads: int = 1
    ponder: bool = False

    def __post_init__(self) -> None:
        if len(self.names) != len(self.seats):
            raise ValueError(f"there are {len(self.seats)} seats and {len(self.names)} names")

    @property
    def equipment(self) -> Equipment:
        """The equipment of local seats."""
        return Equipment(
            self.lexicon, self.leaves, self.winprob, self.threads, self.ponder, self.rules
        )

    @property
    def is_match(self) -> bool:
        """Whether it has two seats, so that all of its games are of one pairing."""
        return len(self.seats) == 2

    @property
    def kind(self) -> str:
        """The word for it in messages: ``match`` or ``tournament``."""
        return "match" if self.is_match else "tournament"

    def is_guest(self, entrant: int) -> bool:
        """Return whether an entrant dials in."""
        return self.seats[entrant].startswith("guest:")

    def fresh_draws(self, contained: bool | None = None) -> dict[str, str]:
        """Map the players whose games share no draws to the reasons.

        ``contained`` replaces what the tournament began with.
        """
        contained = self.contained if contained is None else contained
        reasons = {}
        for name, text in zip(self.names, self.seats, strict=True):
            try:
                spec = parse_seat(text)
            except SeatError:  # a user's bot, which a report can do without
                spec = SeatSpec("local", name, text, has_network="network=yes" in text)
            if contained is not None:
                reasons[name] = spec.may_remember(contained=contained)
            elif not spec.starts_afresh:
                reasons[name] = "it does not start afresh here for each game"
        return {name: why for name, why in reasons.items() if why}


def write_config(config: TournamentConfig, folder: Path) -> None:
    """Write a configuration to its folder; only its owner may read of the draws to come."""
    text = msgspec.json.format(msgspec.json.encode(config), indent=2)
    write_file(folder / "match.json", text + b"\n", private=True)


def read_config(folder: Path) -> TournamentConfig:
    """Read the configuration of a folder; raise MatchError if it is missing or invalid."""
    path = folder / "match.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=TournamentConfig)
    except FileNotFoundError:
        raise MatchError(f"{folder} has no match or tournament: {path.name} is missing") from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise MatchError(f"{path} can't be read: {error}") from None


def unambiguous_names(*specs: SeatSpec) -> tuple[str, ...]:
    """Return distinct names for seats: their own, with the differences between namesakes.

    ``v1/bot.py:Balance`` and ``v2/bot.py:Balance?weight=3`` are ``Balance (v1)`` and
    ``Balance (v2, weight=3)``; two identical seats are ``static-1`` and ``static-2``.
    """
    names = [
        plain(_marked(spec, [other for other in specs if other.name == spec.name]))
        for spec in specs
    ]
    times = Counter(names)
    unclear = {
        spec.name
        for spec, name in zip(specs, names, strict=True)
        if times[name] > 1 or len(name) > LONGEST_NAME
    }
    for index, spec in enumerate(specs):
        if spec.name in unclear:
            number = sum(other.name == spec.name for other in specs[: index + 1])
            names[index] = f"{plain(spec.name)[: LONGEST_NAME - 4]}-{number}"
    return tuple(names)


def _marked(spec: SeatSpec, namesakes: Sequence[SeatSpec]) -> str:
    """Return a seat's name, with what distinguishes it from its namesakes."""
    if len(namesakes) == 1:
        return spec.name
    marks = []
    for parts in zip(*(reversed(_place(namesake)) for namesake in namesakes), strict=False):
        if len(set(parts)) > 1:
            marks.append(parts[namesakes.index(spec)])
            break
    common = set.intersection(*(set(namesake.options) for namesake in namesakes))
    own = [option for option in spec.options if option not in common]
    marks += [f"{key}={value}" for key, value in own if (spec.dialect, key) != ("siu", "folder")]
    shown = ", ".join(filter(None, marks))
    return f"{spec.name} ({shown})" if shown else spec.name


def _place(spec: SeatSpec) -> list[str]:
    """Split a file, a module, an address or a command, behind its folder, into its parts."""
    module = spec.kind == "local" and "/" not in spec.target
    folder = f"{dict(spec.options)['folder']} " if spec.dialect == "siu" else ""
    return re.split(r"[.:]" if module else r"[/\s]+|\.py:", f"{folder}{spec.target}")
