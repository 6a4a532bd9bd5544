"""Who is not let in: names, addresses and networks, for a while or for good."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from bot.seat_text import LIKE_AN_ADDRESS
from harness.arbiter.journal import Journal
from protocol.errors import PeerError
from protocol.parts import Ban

from .admission import address_of, plain_address

_MAPPED = 96
"""Bits of an IPv6 address before those of the IPv4 address that it maps (RFC 4291)."""


@dataclass(frozen=True)
class _Entry:
    why: str
    until: float | None
    """Seconds since 1970; None: for good."""
    matches: Callable[[str, str], bool]
    """Returns whether a name and an address are those banned."""

    @property
    def is_over(self) -> bool:
        return self.until is not None and self.until <= time.time()


class Bans:
    """The bans of a server, which its journal keeps."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._entries = {
            whom: _Entry(why, until, matcher(whom))
            for whom, until, why in journal.rows("SELECT whom, until, why FROM bans")
        }

    def check(self, name: str, address: str) -> None:
        """Check that neither a name nor its address is banned.

        Raises:
            PeerError: ``banned``; the connection is to be closed.
        """
        for whom, entry in self._entries.items():
            if not entry.is_over and entry.matches(name, address):
                raise PeerError("banned", f"{whom} is banned by {entry.why}", close=1008)

    async def add(self, whom: str, minutes: int | None, why: str) -> None:
        """Ban a name, an address or a network, and forget the bans that are over."""
        whom = _plain(whom)
        now = time.time()
        until = None if minutes is None else now + minutes * 60
        forget = "DELETE FROM bans WHERE until <= ?"
        statement = (
            "INSERT INTO bans VALUES (?, ?, ?) ON CONFLICT (whom) DO UPDATE "
            "SET until = excluded.until, why = excluded.why"
        )
        await self._journal.change((forget, (now,)), (statement, (whom, until, why)))
        self._entries = {name: entry for name, entry in self._entries.items() if not entry.is_over}
        self._entries[whom] = _Entry(why, until, matcher(whom))

    async def remove(self, whom: str) -> bool:
        """Lift a ban; return whether there was one."""
        whom = whom if whom in self._entries else _plain(whom)
        await self._journal.change(("DELETE FROM bans WHERE whom = ?", (whom,)))
        return self._entries.pop(whom, None) is not None

    def listed(self) -> tuple[Ban, ...]:
        """Return the bans that are not over."""
        now = time.time()
        return tuple(
            Ban(
                whom=whom,
                why=entry.why,
                # A minute that has begun counts as one.
                minutes=None if entry.until is None else int((entry.until - now) / 60) + 1,
            )
            for whom, entry in self._entries.items()
            if not entry.is_over
        )


def matcher(whom: str) -> Callable[[str, str], bool]:
    """Return whether a name and an address are those meant: a name, an address or a network."""
    network = _network(whom)

    def matches(name: str, address: str) -> bool:
        parsed = address_of(address)
        return name == whom or (network is not None and parsed is not None and parsed in network)

    return matches


def check_name(name: str) -> None:
    """Check that no ban could take a name for an address or a network.

    Raises:
        PeerError: it reads like one; the connection is to be closed.
    """
    if LIKE_AN_ADDRESS.fullmatch(name):
        why = f"{name!r} reads like an address; choose a name that doesn't"
        raise PeerError("bad_message", why, close=1008)


def check_whom(whom: str) -> None:
    """Refuse what looks like an address or a network and is none; all else is a name.

    Raises:
        PeerError: ``bad_act``.
    """
    if LIKE_AN_ADDRESS.fullmatch(whom) and _network(whom) is None:
        examples = "192.0.2.1, 192.0.2.0/24 or 2001:db8::/32"
        raise PeerError("bad_act", f"{whom!r} is no address and no network, such as {examples}")


def _plain(whom: str) -> str:
    """Return a name as it is, an address or a network in one notation."""
    network = _network(whom)
    return whom if network is None else str(network).removesuffix(f"/{network.max_prefixlen}")


def _network(whom: str) -> IPv4Network | IPv6Network | None:
    address = plain_address(whom)
    if address is not None:
        whom = address.partition("%")[0]  # a ban holds in every zone
    elif "%" in whom:
        return None  # a network has no zone
    try:
        network = ip_network(whom, strict=False)
    except ValueError:
        return None  # a name
    at = address_of(str(network.network_address))
    if isinstance(at, IPv4Address) and network.version == 6 and network.prefixlen >= _MAPPED:
        return ip_network((at, network.prefixlen - _MAPPED))
    return network
