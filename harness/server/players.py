"""The players of a server: who is here, by which connection, and in which running games.

A player is known by name; its connections come and go and the newest counts. Its games stay while
it is away.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from harness.seats.seats import GuestSeat
from protocol.link import Link
from protocol.messages import Message, Seek

from .admission import block_of
from .tokens import Holder, hash_token, host_of


@dataclass(eq=False)
class PresentPlayer:
    """A player who is here, or has running games."""

    name: str
    link: Link | None = None
    peer: str = ""
    """Address and port where it was last seen; empty if it never was."""
    seats: dict[str, GuestSeat] = field(default_factory=dict)
    """Its seats in running games, by game."""
    rest: Seek | None = None
    """Its seek for the games after the present one."""
    knows_limit: bool = False
    """Whether it was told, since it logged in, that its thoughts are not kept."""
    holder: Holder = field(default_factory=Holder)
    """Whom the name belongs to while it is in use, if it has no token."""
    is_released: bool = False
    """Whether its name and games are whose comes next."""

    @property
    def address(self) -> str:
        """The address that it was last seen at."""
        return host_of(self.peer)

    @property
    def is_in_use(self) -> bool:
        """Whether the name is connected or has a game."""
        return self.link is not None or bool(self.seats)

    def hold(self, secret: str | UnsetType, block: str) -> str | UnsetType:
        """Let a login without a token have the name; return the secret by which it comes back.

        ``secret`` is what ``hello`` had, and ``block`` that of its address. Whoever has the name
        already keeps it as it was: by that secret, or by the address.

        Raises:
            PeerError: ``forbidden``: somebody else has it; the connection is to be closed.
        """
        if not self.is_in_use:
            self.holder = Holder()
        self.holder.check(self.name, secret, block)
        if self.holder.block:
            secret = UNSET
        elif secret is not UNSET:
            secret = secret or secrets.token_hex(32)
        self.holder = Holder(hash_token(secret)) if secret else Holder(block=block)
        return secret

    def tell(self, message: Message) -> None:
        """Send it a message, if it is connected."""
        if self.link is not None:
            self.link.send(message)


@dataclass(eq=False)
class Players:
    """The players of one server, by name."""

    _players: dict[str, PresentPlayer] = field(default_factory=dict)
    _by_block: dict[str, set[PresentPlayer]] = field(default_factory=dict)
    """Those whose address is known, by its block."""

    def __contains__(self, name: str) -> bool:
        return name in self._players

    def __getitem__(self, name: str) -> PresentPlayer:
        return self._players[name]

    def __iter__(self) -> Iterator[PresentPlayer]:
        return iter(self._players.values())

    def named(self, name: str) -> PresentPlayer:
        """Return the player of a name, known or new."""
        return self._players.setdefault(name, PresentPlayer(name))

    def arrive(self, player: PresentPlayer, link: Link) -> Link | None:
        """Note a player's new connection; return the older one that this replaces."""
        self._leave_block(player)
        older, player.link, player.peer = player.link, link, link.channel.peer
        player.knows_limit = False
        player.is_released = False
        self._by_block.setdefault(block_of(player.address), set()).add(player)
        return older

    def games_from(self, address: str) -> set[str]:
        """Return the games that players of an address, or of its block, have seats in."""
        return {game for each in self._by_block.get(block_of(address), ()) for game in each.seats}

    def is_here(self, name: str) -> bool:
        """Return whether a player is connected."""
        player = self._players.get(name)
        return player is not None and player.link is not None and player.link.closing is None

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

    def is_in_use(self, name: str) -> bool:
        """Return whether a name is connected or has a game, and was not released since."""
        player = self._players.get(name)
        return player is not None and player.is_in_use and not player.is_released

    def release(self, name: str, message: str) -> bool:
        """Close a player's connection; return whether it was here or has a game.

        Its games go on, for whoever comes with the name next.
        """
        player = self._players.get(name)
        if player is None:
            return False
        if player.link is not None:
            player.link.dismiss(1008, "kicked", message)
        player.holder, player.is_released = Holder(), True
        return True

    def forget(self, player: PresentPlayer) -> None:
        """Forget a player who is away and in no game."""
        if not player.is_in_use:
            self._leave_block(player)
            self._players.pop(player.name, None)

    def _leave_block(self, player: PresentPlayer) -> None:
        block = block_of(player.address)
        others = self._by_block.get(block, set())
        others.discard(player)
        if not others:
            self._by_block.pop(block, None)
