"""The players of a server: who is here, by which connection, and in which running games.

A player is known by name; its connections come and go and the newest counts. Its games stay while
it is away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.seats.seats import GuestSeat
from protocol.link import Link
from protocol.messages import Message, Seek

from .admission import block_of
from .tokens import host_of


@dataclass(eq=False)
class Player:
    """A player who is here, or has running games."""

    name: str
    link: Link | None = None
    peer: str = ""
    """Address and port where it was last seen; empty if it never was."""
    seats: dict[str, GuestSeat] = field(default_factory=dict)
    """Its seats in running games, by game."""
    rest: Seek | None = None
    """Its seek for the games after the present one."""

    @property
    def address(self) -> str:
        """The address that it was last seen at."""
        return host_of(self.peer)

    def tell(self, message: Message) -> None:
        """Send it a message, if it is connected."""
        if self.link is not None:
            self.link.send(message)


@dataclass(eq=False)
class Players:
    """The players of one server, by name."""

    _players: dict[str, Player] = field(default_factory=dict)
    _by_block: dict[str, set[Player]] = field(default_factory=dict)
    """Those whose address is known, by its block."""

    def __contains__(self, name: str) -> bool:
        return name in self._players

    def __getitem__(self, name: str) -> Player:
        return self._players[name]

    def __iter__(self) -> Iterator[Player]:
        return iter(self._players.values())

    def named(self, name: str) -> Player:
        """Return the player of a name, known or new."""
        return self._players.setdefault(name, Player(name))

    def arrive(self, player: Player, link: Link) -> Link | None:
        """Note a player's new connection; return the older one that this replaces."""
        self._leave_block(player)
        older, player.link, player.peer = player.link, link, link.channel.peer
        self._by_block.setdefault(block_of(player.address), set()).add(player)
        return older

    def games_from(self, address: str) -> set[str]:
        """Return the games that players of an address, or of its block, have seats in."""
        return {game for each in self._by_block.get(block_of(address), ()) for game in each.seats}

    def is_here(self, name: str) -> bool:
        """Return whether a player is connected."""
        player = self._players.get(name)
        return player is not None and player.link is not None

    def has_game(self, name: str) -> bool:
        """Return whether a player has a seat in a game."""
        player = self._players.get(name)
        return player is not None and bool(player.seats)

    def dismiss(self, name: str, code: str, message: str) -> Link | None:
        """Say goodbye to a player who is here and in no game; return the connection."""
        player = self._players.get(name)
        if player is None or player.link is None or player.link.closing or player.seats:
            return None
        player.link.dismiss(1000, code, message)
        return player.link

    async def dismiss_all(self, code: str, message: str) -> None:
        """Say goodbye to all players who are in no game."""
        links = [self.dismiss(name, code, message) for name in self._players]
        await asyncio.gather(*(link.flush() for link in links if link is not None))

    def kick(self, name: str, message: str) -> bool:
        """Close a player's connection; its games go on. Return whether it was here."""
        player = self._players.get(name)
        if player is None or player.link is None:
            return False
        player.link.dismiss(1008, "kicked", message)
        return True

    def used_from(self, name: str) -> str | None:
        """Return the last peer of a name, "" if unknown; None if the name is not in use."""
        player = self._players.get(name)
        return player.peer if player is not None and (player.link or player.seats) else None

    def forget(self, player: Player) -> None:
        """Forget a player who is away and in no game."""
        if player.link is None and not player.seats:
            self._leave_block(player)
            self._players.pop(player.name, None)

    def _leave_block(self, player: Player) -> None:
        block = block_of(player.address)
        others = self._by_block.get(block, set())
        others.discard(player)
        if not others:
            self._by_block.pop(block, None)
