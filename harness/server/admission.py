"""Who is let in, and how much each may ask for: by connection, by address and by name.

An address is an IPv4 address, or the first 64 bits of an IPv6 one: a customer of a network has all
addresses that share these, while the next IPv4 address belongs to somebody else. What an address
has spent outlives its connections, so reconnecting gains nothing; it is forgotten once it has run
out.
"""

from __future__ import annotations

import re
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from math import ceil, floor, inf
from typing import Annotated

from msgspec import Meta, Struct
from websockets.http11 import Request

from harness.arbiter.clock import is_loopback
from protocol.accepting import MOST_HELD, MOST_WAITING
from protocol.errors import PeerError
from protocol.intake import Bucket, Later, Rates

MOST_REMEMBERED = 10_000
"""Most addresses, and most names, whose budgets are remembered."""

WRONG_TOKEN = 10
"""What a login with a wrong token costs its address, in handshakes."""

PAGE_FILE = 0.2
"""What a small file of the page costs an address, in handshakes. A first visit takes some thirty
files, each with a connection of its own, and a class or a club comes from one address."""

NEWCOMER_S = 0.1
"""Seconds' worth of traffic that a connection may owe to go on when its address has none left."""

UNUSED_SHARE = 0.01
"""Share of all ``names`` that a network may have claimed without playing with them."""

MOST_ABSENT_S = 60
"""What a name may owe for games that it was not ready for, in seconds of its opponents' time."""
_ABSENT_AT_ONCE = 4
"""Players of an address that may owe as much before its others have to wait."""

GAME_BYTES = 8 << 10
"""What a game is charged for its place in the journal; one without thoughts takes 7 kB."""

PLACE_BYTES = 40 << 20
"""What an address may write to the journal an hour for each game that it may have at once.

In games of a minute a side two of our strongest bots write 19 MB an hour, of 10 s a side 35 MB."""

LEFT_TO_GAMES = 1 / 8
"""Share of what an address may write that its thoughts leave to further games."""

FILES_A_GAME = 32
"""Descriptors that a game of two local bots may need, when their processes start."""

OTHER_FILES = 100
"""Descriptors for the journal, the lexicon, the log and so on."""

_SMALL_FILE = re.compile(r"/page/\w+/\w+\.(js|css|svg)")
"""Files of the page that a visit needs at once; the problems to solve are larger."""

_WRITTEN = re.compile(
    r"(?P<v4>[\d.]+)(:\d{1,5})?"
    r"|(?P<bracket>\[)?(?P<v6>[\da-f:.]+)(?P<zone>%[\w.-]{1,15})?(?(bracket)\](:\d{1,5})?)",
    re.ASCII | re.IGNORECASE,
)
"""An address as proxies report it and people write it; only one in brackets or of IPv4 has a port.

A zone is the name of a network interface."""

_Places = Annotated[int, Meta(ge=1, le=1_000_000)]
_Rate = Annotated[float, Meta(gt=0, le=1_000_000_000)]


class Admission(Struct, frozen=True, kw_only=True):
    """The table ``[admission]`` of a server's configuration."""

    connections: _Places = 1_000
    """Connections at once."""
    kept: _Places = 100
    """Further connections, for players with a game and for admins only."""
    connections_per_address: _Places = 50
    """Connections at once from an address; players with a game may have a few more."""
    spectators: _Places = 500
    """Spectators at once."""
    handshakes_per_s: _Rate = 20
    """Connections that an address may open a second; five seconds' worth at once. A small file of
    the page counts as a fifth."""
    frames_per_s: _Rate = 1_000
    """WebSocket frames that a connection may send a second, pings and fragments too."""
    bytes_per_s: _Rate = 64 << 10
    """Bytes that a connection may send a second; frames and bytes count against one budget."""
    share_per_address: _Rate = 4
    """How many connections' worth of frames and bytes an address may send."""
    names_per_hour: _Rate = 20
    """Names an hour that an address may claim, or enter in a tournament without a token; as many at
    once."""
    names: _Places = 100_000
    """Names claimed in all."""
    unused_name_days: _Rate = 1
    """Days after which a name that was claimed, and never used in a game, is free again."""
    seeks_per_minute: _Rate = 300
    """Games that a name may seek a minute, as many at once; an address, four times as many."""
    games_per_address: _Places | None = None
    """Games and lent bots of an address at once; None: half of ``max_games``, on loopback all."""
    journal_per_hour: _Rate | None = None
    """Bytes of games and thoughts that an address may add to the journal an hour, as many at once;
    None: 40 MiB for each game that it may have at once, on loopback any number."""
    lending: Annotated[float, Meta(gt=0, le=1)] = 0.5
    """The share of ``max_games`` that lent bots may have at once; they may have one in any case."""
    lent_per_address: _Places = 2
    """Bots lent to an address at once."""
    lent_idle_s: _Rate = 60
    """Time without a game after which a lent bot is taken back; in a game it has more."""
    proxies: tuple[str, ...] = ()
    """Addresses of reverse proxies, whose header X-Forwarded-For is believed."""

    def is_proxy(self, address: str) -> bool:
        """Return whether an address is a proxy's, in whatever notation either is written."""
        ip = address_of(address)
        return ip is not None and any(
            ip == address_of(proxy) and ("%" not in proxy or proxy == address)
            for proxy in self.proxies
        )

    def most_lent(self, max_games: int) -> int:
        """Return how many of a server's games may be those of lent bots at once."""
        return max(1, floor(round(self.lending * max_games, 6)))

    @property
    def rates(self) -> Rates:
        """What a connection may send."""
        return Rates(self.frames_per_s, self.bytes_per_s)


def check_admission(admission: Admission, max_games: int) -> None:
    """Check an admission, and raise this process's limit of open files to what it needs.

    Raises:
        ValueError: a proxy is not an IP address, or the system allows too few open files.
    """
    for proxy in admission.proxies:
        if address_of(proxy) is None or (":" not in proxy and "%" in proxy):
            raise ValueError(f"admission.proxies: {proxy!r} is no IP address")
    places = admission.connections + admission.kept
    needed = places + MOST_WAITING + MOST_HELD + max_games * FILES_A_GAME + OTHER_FILES
    try:
        raise_files(needed)
    except ValueError as error:
        raise ValueError(
            f"{admission.connections:,} connections and {max_games:,} games: {error}; have that "
            "raised, or lower admission.connections"
        ) from None


def raise_files(needed: int) -> None:
    """Raise the limit of open files, if it is lower, for this process and those that it starts.

    Raises:
        ValueError: the system allows fewer.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= needed or soft == resource.RLIM_INFINITY:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ValueError(
            f"this takes {needed:,} open files, and this system allows {hard:,} (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def plain_address(text: str) -> str | None:
    """Return the address in a text, in one notation without port and brackets; None: it has none.

    ``203.0.113.9:50001`` is ``203.0.113.9``, and so is ``[::ffff:203.0.113.9]:50001``.
    """
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        return None
    try:
        ip = ip_address(written["v4"] or written["v6"])
    except ValueError:
        return None
    zone = written["zone"] or ""
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or f"{ip}{zone}")
    return None if zone else str(ip)  # zones are of IPv6


@lru_cache(maxsize=MOST_REMEMBERED)
def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address in a text, without its zone; None if it is not an address.

    An IPv4 address that is written as an IPv6 one counts as the IPv4 address: proxies and sockets
    for both versions write it that way.
    """
    try:
        ip = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return mapped or ip


@lru_cache(maxsize=MOST_REMEMBERED)
def block_of(address: str) -> str:
    """Return the block that counts as one address: an IPv4 address, 64 bits of an IPv6 one."""
    ip = address_of(address)
    if ip is None:
        return address
    return str(ip_network((ip, 64), strict=False) if ip.version == 6 else ip)


def is_here(address: str) -> bool:
    """Return whether an address is this machine's loopback, in whatever notation."""
    return is_loopback(address) or is_loopback(block_of(address))


@lru_cache(maxsize=MOST_REMEMBERED)
def network_of(address: str) -> str:
    """Return the network that one owner may well have: 24 bits of an IPv4 address, 64 of IPv6."""
    ip = address_of(address)
    if isinstance(ip, IPv4Address):
        return str(ip_network((ip, 24), strict=False))
    return block_of(address)


def client_of(forwarded: Sequence[str], peer: str, is_proxy: Callable[[str], bool]) -> str:
    """Return the address of the client of a connection, by its lines of X-Forwarded-For.

    Each proxy has appended the address that it got the request from. So the last address that is
    not a proxy's is the client's, and what stands before it is only claimed by the client. So is
    what stands before an entry that is no address, such as ``unknown``: then the client counts as
    the proxy that reported it.
    """
    address = peer
    for entry in reversed(",".join(forwarded).split(",")):
        if not is_proxy(address) or (reported := plain_address(entry)) is None:
            break
        address = reported
    return address


def _bucket(amount: float, seconds: float) -> Bucket:
    """Return a bucket that holds an amount, 1 or more, and regains the amount in some seconds."""
    return Bucket(max(1, amount), amount / seconds)


class Ledger:
    """Buckets by key; the oldest are forgotten if they owe nothing or there are too many."""

    def __init__(self, make: Callable[[], Bucket]) -> None:
        self._make = make
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def bucket(self, key: str, now: float) -> Bucket:
        """Return the bucket of a key, known or new; ``now`` is in seconds."""
        bucket = self._buckets.pop(key, None) or self._make()
        while self._buckets:
            oldest = next(iter(self._buckets))
            if len(self._buckets) < MOST_REMEMBERED and self._buckets[oldest].owed(now):
                break
            del self._buckets[oldest]
        self._buckets[key] = bucket
        return bucket

    def put_back(self, key: str, bucket: Bucket) -> None:
        """Remember a bucket that was in use, and may have been forgotten meanwhile."""
        self._buckets[key] = bucket

    def renew(self, now: float) -> None:
        """Make all buckets again after a change of limits; what is owed stays owed."""
        for key, old in self._buckets.items():
            self._buckets[key] = self.renewed(old, now)

    def renewed(self, old: Bucket, now: float) -> Bucket:
        """Return a bucket with the limits of now that owes what an older one owes."""
        new = self._make()
        new.spend(old.owed(now), now)
        return new

    def take(self, key: str, now: float) -> bool:
        """Spend 1 and return True, or return False if there is less; a refusal costs nothing."""
        bucket = self.bucket(key, now)
        return bucket.has(1, now) and bucket.spend(1, now)


@dataclass(eq=False, slots=True)
class _Address:
    """The traffic and connections of a block of addresses."""

    block: str
    traffic: Bucket
    connections: int = 0


class Caller:
    """A connection, as the server's gate sees it (``protocol.intake.Visit``)."""

    def __init__(self, admissions: Admissions, address: str) -> None:
        self.address = address
        self._admissions = admissions
        self._arrive()
        rates = admissions.config.rates
        self._frame_s, self._byte_s = rates.cost(1, 0), rates.cost(0, 1)
        self._own = rates.bucket()
        self.role = self.name = self.peer = ""
        """What its peer is, how it is called and where it comes from, once that is known."""
        self._end: Callable[[str, str], None] | None = None
        self._ended: tuple[str, str] | None = None
        """Why it is ended, as a code and a sentence, until it can be told."""
        self.check: Callable[[], object] = lambda: None
        """Raises PeerError if the token that it came with is no longer its name's."""

    def _arrive(self) -> None:
        self.at = self._admissions.arrive(self.address)
        self._is_here = True
        gate, config = self._admissions, self._admissions.config
        has_too_many = self.at.connections > config.connections_per_address
        self.is_extra = has_too_many or gate.connections > config.connections
        """Whether it may stay only if it is a player with a game, or an admin."""

    def ask(self, request: Request) -> str | None:
        """Take the opening request; return why the client of a proxy is refused, if it is."""
        is_proxy, why = self._admissions.config.is_proxy, None
        if is_proxy(self.address):
            forwarded = request.headers.get_all("X-Forwarded-For")
            self.address = client_of(forwarded, self.address, is_proxy)
            self.leave()
            refusal = self._admissions.refusal(block_of(self.address))
            self._arrive()
            if isinstance(refusal, Later):
                refusal.note_refusal()
                why = refusal.why
            else:
                why = refusal
        upgrades = bool(request.headers.get_all("Upgrade"))
        if why is None and not upgrades and _SMALL_FILE.fullmatch(request.path):
            self._admissions.charge_handshakes(self, PAGE_FILE - 1)
        return why

    def spend(self, frames: int, size: int, now: float) -> bool:
        """Pay from the connection's budget and its address's.

        A connection that has sent little goes on when its address has spent too much: another did.
        """
        cost = frames * self._frame_s + size * self._byte_s
        has_own, has_shared = self._own.spend(cost, now), self.at.traffic.spend(cost, now)
        return has_own and (has_shared or self._own.owed(now) <= NEWCOMER_S)

    def owed(self, now: float) -> float:
        """Return what the connection and its address owe together, in seconds.

        So many connections of one address wait for those elsewhere, even if each sends little.
        """
        return self._own.owed(now) + self.at.traffic.owed(now)

    def charge(self, frames: int) -> None:
        """Charge a message that costs as much as a number of frames.

        Raises:
            PeerError: it has asked for too much; the connection is to be closed.
        """
        if not self.spend(frames, 0, self._admissions.clock()):
            raise PeerError("busy", "you ask for too much a second", retry="later", close=1008)

    def introduce(self, role: str, name: str, peer: str) -> None:
        """Note who it is that was let in; from now on ``Admissions.present`` has it."""
        self.role, self.name, self.peer = role, name, peer
        if self._is_here:
            self._admissions.present[self] = None

    def attach(self, end: Callable[[str, str], None]) -> None:
        """Have ``end`` say goodbye, with a code and a sentence, and close the connection."""
        self._end = end
        if self._ended is not None:
            end(*self._ended)

    def end(self, code: str, message: str) -> None:
        """End the connection: now, or as soon as there is somebody to say goodbye to."""
        self._ended = code, message
        if self._end is not None:
            self._end(code, message)

    def leave(self) -> None:
        """Give its place back; may be repeated."""
        if self._is_here:
            self._is_here = False
            self._admissions.depart(self.at)
            self._admissions.present.pop(self, None)
            self._end = None  # it leads to the connection, which leads here


class Admissions:
    """The gate of a server, and what it has let in; ``clock`` returns seconds."""

    def __init__(self, config: Admission, clock: Callable[[], float] = time.monotonic) -> None:
        self.config = config
        self.clock = clock
        self.refused: Counter[str] = Counter()
        """Connections that were refused before their handshake, by the limit that they met."""
        self._here: dict[str, _Address] = {}
        self.present: dict[Caller, None] = {}
        """Connections that were let in and have said who they are, in the order of that."""
        self.connections = 0
        """Open connections."""
        self._spectators = 0
        self._traffic = Ledger(lambda: self.config.rates.bucket(self.config.share_per_address))
        self._handshakes = Ledger(lambda: _bucket(5 * self.config.handshakes_per_s, 5))
        self._claims = Ledger(lambda: _bucket(self.config.names_per_hour, 3_600))
        self._seeks = Ledger(lambda: _bucket(self.config.seeks_per_minute, 60))
        self._seeks_by_address = Ledger(lambda: _bucket(4 * self.config.seeks_per_minute, 60))
        self._journal = Ledger(lambda: _bucket(1, 3_600))
        """Shares of what an address may write to the journal an hour."""
        self._absences = Ledger(lambda: Bucket(MOST_ABSENT_S / 2, 1))
        self._absences_by_address = Ledger(lambda: Bucket(_ABSENT_AT_ONCE * MOST_ABSENT_S, 1))

    def change(self, config: Admission) -> None:
        """Apply other limits; open connections keep their own budgets."""
        self.config = config
        now = self.clock()
        seeks = self._seeks, self._seeks_by_address
        for ledger in (self._handshakes, self._claims, *seeks, self._traffic):
            ledger.renew(now)
        for address in self._here.values():
            address.traffic = self._traffic.renewed(
                address.traffic, now
            )  # the ledger may have forgotten it
            self._traffic.put_back(address.block, address.traffic)

    # --- connections ----------------------------------------------------------------------------

    def enter(self, address: str) -> Caller | Later | str:
        """Let a socket in, or return why not (``protocol.intake.Gate``).

        The client behind a proxy's socket is found later, by ``Caller.ask``.
        """
        block = None if self.config.is_proxy(address) else block_of(address)
        return self.refusal(block) or Caller(self, address)

    def refusal(self, block: str | None) -> Later | str | None:
        """Count a handshake of a block, None if that is not known; return why it is refused.

        None: it is not.
        """
        config = self.config
        if self.connections >= config.connections + config.kept:
            self.refused["connections"] += 1
            return "too many connections, try again later"
        if block is None:
            return None
        most, present = config.connections_per_address, self._here.get(block)
        if present is not None and present.connections >= most + max(1, most // 5):
            why = f"too many connections from {block}: {most} are allowed"
            return self._later("connections_per_address", block, why)
        if not self._handshakes.take(block, self.clock()):
            why = f"too many connections a second from {block}, try again later"
            return self._later("handshakes_per_s", block, why)
        return None

    def _later(self, limit: str, block: str, why: str) -> Later:
        def note_refusal() -> None:
            self.refused[limit] += 1

        return Later(why, block, note_refusal)

    def arrive(self, address: str) -> _Address:
        """Count a new connection from an address, and return the entry of its block."""
        block = block_of(address)
        present = self._here.get(block)
        if present is None:
            present = _Address(block, self._traffic.bucket(block, self.clock()))
            self._here[block] = present
        present.connections += 1
        self.connections += 1
        return present

    def depart(self, at: _Address) -> None:
        """Take a closed connection out of the counts."""
        at.connections -= 1
        self.connections -= 1
        if not at.connections:
            del self._here[at.block]
            self._traffic.put_back(at.block, at.traffic)

    def check_place(self, caller: Caller, *, keeps_place: bool) -> None:
        """Check that a connection may stay, now that its peer is known.

        Raises:
            PeerError: it is in a kept place, and its peer may not have one.
        """
        if caller.is_extra and not keeps_place:
            why = "no place is left except for players with a running game, and admins"
            raise PeerError("busy", why, retry="later", close=1013)

    def charge_handshakes(self, caller: Caller, amount: float) -> None:
        """Charge the address of a caller an amount of handshakes; below 0, give them back."""
        now = self.clock()
        self._handshakes.bucket(caller.at.block, now).spend(amount, now)

    def check_tokens(self) -> None:
        """End the connections whose token is gone or replaced."""
        for caller in tuple(self.present):
            try:
                caller.check()
            except PeerError as error:
                why = f"your token is no longer valid: {error.reply.message}"
                caller.end("kicked", why)

    # --- what they ask for ----------------------------------------------------------------------

    @contextmanager
    def spectator(self) -> Iterator[None]:
        """Reserve a spectator's place.

        Raises:
            PeerError: no place is free.
        """
        if self._spectators >= self.config.spectators:
            raise PeerError("busy", "too many spectators", retry="later", close=1013)
        self._spectators += 1
        try:
            yield
        finally:
            self._spectators -= 1

    def most_games(self, address: str, max_games: int) -> int:
        """Return how many of a server's games and lent bots an address may have at once."""
        most = self.config.games_per_address
        if most is not None:
            return most
        return max_games if is_here(address) else ceil(max_games / 2)

    def _most_written(self, address: str, max_games: int) -> float:
        """Return how many bytes an address may add to the journal an hour."""
        if self.config.journal_per_hour is not None:
            return self.config.journal_per_hour
        return inf if is_here(address) else PLACE_BYTES * self.most_games(address, max_games)

    def check_journal(self, address: str, max_games: int) -> None:
        """Check that the journal takes another game of an address now.

        Raises:
            PeerError: the address has written too much.
        """
        now, block = self.clock(), block_of(address)
        game = GAME_BYTES / self._most_written(address, max_games)
        over = self._journal.bucket(block, now).owed(now) + game - 1
        if over > 0:
            full = f"{block} has filled its part of the journal for this hour"
            why = f"{full}; seek again in {ceil(over * 3_600)} s"
            raise PeerError("busy", why, retry="later")

    def note_game(self, address: str, max_games: int) -> None:
        """Charge an address for a game that begins."""
        now, game = self.clock(), GAME_BYTES / self._most_written(address, max_games)
        self._journal.bucket(block_of(address), now).spend(game, now)

    def keeps_thoughts(self, address: str, size: int, max_games: int) -> bool:
        """Return whether an address may write thoughts of so many bytes; charge it if it may."""
        now, share = self.clock(), size / self._most_written(address, max_games)
        bucket = self._journal.bucket(block_of(address), now)
        return bucket.has(share + LEFT_TO_GAMES, now) and bucket.spend(share, now)

    def check_claim(self, caller: Caller, claimed: int, unused: int = 0) -> None:
        """Check that an address may claim another name.

        ``claimed`` names are taken already; ``unused`` of them were claimed from the address's
        network, and have played no game.

        Raises:
            PeerError: the address, its network, or all together, have claimed too many.
        """
        if claimed >= self.config.names:
            full = "no more names can be claimed here until others have expired"
            raise PeerError("busy", full, retry="later", close=1013)
        if unused >= max(self.config.names_per_hour, self.config.names * UNUSED_SHARE):
            idle = (
                f"{network_of(caller.address)} has claimed {unused:,} names that have played no "
                "game; play with them, or come again when they have expired"
            )
            raise PeerError("busy", idle, retry="later", close=1013)
        if not self._claims.take(caller.at.block, self.clock()):
            too_many = f"{caller.at.block} claims too many names; come again in an hour"
            raise PeerError("busy", too_many, retry="later", close=1013)

    def check_seek(self, name: str, address: str) -> None:
        """Check that a player may seek another game now.

        Raises:
            PeerError: it has sought too many, or was not ready for one.
        """
        now, block = self.clock(), block_of(address)
        owed_by_name = self._absences.bucket(name, now).owed(now)
        owed_by_address = self._absences_by_address.bucket(block, now).owed(now)
        owed = max(owed_by_name, owed_by_address - _ABSENT_AT_ONCE * MOST_ABSENT_S)
        if owed > 0:
            absent = f"you were not ready for a game; seek again in {ceil(owed)} s"
            raise PeerError("busy", absent, retry="later")
        if not (self._seeks.take(name, now) and self._seeks_by_address.take(block, now)):
            raise PeerError("busy", "you seek too many games a minute", retry="later")

    def note_absence(self, name: str, address: str, seconds: float) -> None:
        """Make a player that let its opponent wait in vain wait as long itself.

        An address may have ``_ABSENT_AT_ONCE`` such players before its others have to wait, too.
        Nobody has to wait for more than ``MOST_ABSENT_S``.
        """
        now, seconds = self.clock(), min(seconds, MOST_ABSENT_S)
        self._absences.bucket(name, now).spend(seconds, now)
        bucket = self._absences_by_address.bucket(block_of(address), now)
        most_owed = (_ABSENT_AT_ONCE + 1) * MOST_ABSENT_S
        bucket.spend(min(seconds, most_owed - bucket.owed(now)), now)
