"""The ladder of a server's configuration: the keys of ``[ladder]``."""

from __future__ import annotations

from collections.abc import Set
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from harness.game_kinds import MAIN
from protocol.parts import TimeControl

DEFAULT_TABLE = "ladder"
LABEL = "ladder"
"""The key of a game's label that names the table it is rated at."""
LOOK_AGAIN_S = 1.0
"""Interval between looks at players that wait for a better opponent."""


class ServerTime(TimeControl, frozen=True):
    """A clock of a server: a guest may have to compile before its first game."""

    ready_ms: Annotated[int, Meta(ge=1, le=2**40)] = 60_000


class LadderTable(ServerTime, frozen=True):
    """A table of the ladder: its clock, and what is played there."""

    table: str = MAIN
    """The name of one of the server's tables, whose rules and words it has."""

    @property
    def time(self) -> TimeControl:
        """Its clock."""
        clock = msgspec.structs.asdict(self)
        del clock["table"]
        return ServerTime(**clock)


class LadderSettings(Struct, frozen=True, kw_only=True):
    """The keys of ``[ladder]``."""

    tables: dict[str, LadderTable] = {}
    """Clocks by name; without any there is one table, with the server's clock."""
    anchors: dict[str, float] = {}
    """Ratings of the server's bots that are held fixed; these bots play along."""
    persons: tuple[str, ...] = ()
    """Names of people, who are listed apart."""
    same_owner: bool = False
    """Whether games between players of one owner are rated, too."""
    fade_days: Annotated[int, Meta(ge=1)] = 30
    """Days without a game after which a player is no longer listed."""


def check_table_name(name: str) -> None:
    """Check that a table's name can be part of an address; ValueError if not."""
    if not (name.isascii() and name.replace("-", "").isalnum() and len(name) <= 32):
        raise ValueError(f"a table's name is 1 to 32 letters, digits and hyphens (got {name!r})")


def check_ladder(settings: LadderSettings, bots: Set[str], kinds: Set[str]) -> None:
    """Check what the types can't.

    Raises:
        ValueError: an anchor is not one of ``bots``, or its rating makes no sense; a person is one
            of ``bots``; a table's name can't be part of an address, or its ``table`` is not one of
            ``kinds``.
    """
    from harness.matches.ratings import MOST_ANCHOR  # imports numpy, which takes time

    for name, rating in settings.anchors.items():
        if name not in bots:
            raise ValueError(f"ladder.anchors: no bot of this server is called {name!r}")
        if not abs(rating) <= MOST_ANCHOR:
            raise ValueError(
                f"ladder.anchors.{name} must be a rating from -{MOST_ANCHOR:,.0f} to "
                f"{MOST_ANCHOR:,.0f}, such as 1500 (got {rating:g})"
            )
    if both := sorted(bots & set(settings.persons)):
        raise ValueError(f"ladder.persons: {both[0]} is a bot of this server")
    for name, table in settings.tables.items():
        try:
            check_table_name(name)
        except ValueError as error:
            raise ValueError(f"ladder.tables: {error}") from None
        if table.table not in kinds:
            raise ValueError(
                f"ladder.tables.{name}.table: there is no [tables.{table.table}] in the file; "
                f"there are {', '.join(sorted(kinds))}"
            )
