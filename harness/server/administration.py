"""What an admin may do while a server runs: kick, ban, pause, void, give time, invite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import islice

from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from protocol.channel import Channel
from protocol.codec import fit_into_frame
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import Administer, Error, Goodbye, Message, ServerState
from protocol.parts import MAX_SENTENCE, Connected

from .admission import Caller
from .bans import Bans, check_whom, matcher
from .hello import welcome
from .lobby import Lobby
from .tokens import Invitations

MOST_LISTED = 1_000
"""Players, games, bans and connections in a ``server_state``."""
HOLDS_S = 3.0
"""How long an answer waits for its act to take hold; a peer that doesn't read is closed later."""

_PAUSE = (
    "INSERT INTO state VALUES ('paused', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_RESUME = "DELETE FROM state WHERE key = 'paused'"


@dataclass(eq=False)
class Administration:
    """The acts of a server's admins; bans, invitations and a pause outlive the server."""

    lobby: Lobby
    bans: Bans
    invitations: Invitations
    _: KW_ONLY
    is_directed: bool
    """Whether a tournament is played, whose directors pause it."""

    def __post_init__(self) -> None:
        for (why,) in self.lobby.journal.rows("SELECT value FROM state WHERE key = 'paused'"):
            self.lobby.pause(why)

    async def serve(
        self,
        channel: Channel,
        name: str,
        attach: Callable[[Link], None],
        check: Callable[[], object],
    ) -> None:
        """Carry out an admin's acts, one after another, until it leaves.

        ``attach`` takes the link, which may be dismissed. ``check`` is called before each act, and
        raises PeerError if the admin is none any more.
        """
        wishes: asyncio.Queue[Administer] = asyncio.Queue()

        def receive(message: Message, _at_ms: int) -> None:
            match message:
                case Error() | Goodbye():
                    pass
                case Administer():
                    wishes.put_nowait(message)
                case _:
                    raise wrong_role(message, "an admin")

        async def obey() -> None:
            while True:
                act = await wishes.get()
                try:
                    check()
                    doing = asyncio.create_task(self.do(act, name))
                    link.send(await asyncio.shield(doing))  # finished even if the admin leaves
                except PeerError as error:
                    link.refuse(error)

        link = Link(channel, receive)
        attach(link)
        link.send(welcome())
        self.lobby.hosting.log_line(f"{name}, an admin, is here, from {channel.peer}")
        obeying = asyncio.create_task(obey())
        try:
            await link.run()
        finally:
            obeying.cancel()

    async def do(self, act: Administer, by: str) -> ServerState:
        """Carry out an act, and return the state of the server after it.

        Raises:
            PeerError: it can't be done; nothing has changed.
        """
        why = (f"{by}: {act.why}" if act.why else by)[:MAX_SENTENCE]
        token, ending = None, set[Caller | str]()
        try:
            match act.action:
                case "list":
                    return self.state()
                case "kick":
                    ending.update(
                        self._end(_whom(act), f"your clocks run on: log in again; kicked by {why}")
                    )
                    if not ending:
                        raise PeerError("bad_act", f"{act.whom} is not here", retry="no")
                case "ban":
                    check_whom(whom := _whom(act))
                    await self.bans.add(whom, act.minutes, why)
                    ending.update(self._end(whom, f"{whom} is banned by {why}"))
                case "unban":
                    if not await self.bans.remove(_whom(act)):
                        raise PeerError("bad_act", f"{act.whom} is not banned", retry="no")
                case "release":
                    ending.update(
                        caller
                        for caller in self.lobby.admissions.present
                        if (caller.role, caller.name) == ("player", act.whom)
                    )
                    self.lobby.release(_whom(act), why)
                case "pause" | "resume" if self.is_directed:
                    raise PeerError(
                        "bad_act",
                        f"a tournament's directors {act.action} it: tilewire direct",
                        retry="no",
                    )
                case "pause":
                    if (paused := self.lobby.paused) is not None:
                        raise PeerError("bad_act", f"games are {paused} already")
                    await self.lobby.journal.change((_PAUSE, (why,)))
                    self.lobby.pause(why)
                case "resume":
                    if self.lobby.paused is None:
                        raise PeerError("bad_act", "games are not paused", retry="no")
                    await self.lobby.journal.change((_RESUME, ()))
                    self.lobby.pause(None)
                case "void":
                    self._game(act).end("host_error", f"ended by {why}")
                    ending.add(self._game(act).game)
                case "adjust":
                    self._grant(act, why)
                case "invite":
                    token = await self.invitations.make()
        except JournalError as error:
            raise PeerError("host_error", str(error), retry="later") from None
        except ValueError as error:
            raise PeerError("bad_act", str(error), retry="no") from None
        self.lobby.hosting.log_line(f"admin {by}: {_in_words(act)}")
        # A player is gone a little later than its connection.
        ending |= {each.peer for each in ending if isinstance(each, Caller)}
        with suppress(TimeoutError):
            async with asyncio.timeout(HOLDS_S):
                while not ending.isdisjoint(self._on()):  # noqa: ASYNC110 (no event tells it)
                    await asyncio.sleep(0.01)
        return self.state(token)

    def state(self, token: str | None = None) -> ServerState:
        """Return the state of the server, as much of it as a message can hold."""
        lobby = self.lobby
        return fit_into_frame(
            lambda most: ServerState(
                players=tuple(lobby.present())[:most],
                games=lobby.hosting.listed().games[:most],
                bans=self.bans.listed()[:most],
                paused=lobby.paused and lobby.paused[:MAX_SENTENCE],
                trouble=self.lobby.journal.trouble(),
                invitations=self.invitations.unused,
                token=token,
                connections=tuple(
                    Connected(role=each.role, name=each.name, address=each.peer)
                    for each in islice(lobby.admissions.present, most)
                ),
            ),
            MOST_LISTED,
        )

    def _on(self) -> Iterator[Caller | str]:
        """Yield all connections, the peers of players, and the ids of games."""
        yield from self.lobby.admissions.present
        yield from (player.peer for player in self.lobby.players if player.link)
        yield from self.lobby.hosting.games

    def _end(self, whom: str, message: str) -> list[Caller]:
        """End all connections of a name, an address or a network, and return them.

        Admins stay: they could not lift what hits themselves.
        """
        check_whom(whom)
        matches = matcher(whom)
        met = [
            caller
            for caller in self.lobby.admissions.present
            if caller.role != "admin" and matches(caller.name, caller.address)
        ]
        for caller in met:
            caller.end("kicked", message)
        return met

    def _game(self, act: Administer) -> GameHost:
        host = self.lobby.hosting.games.get(act.game or "")
        if host is None:
            raise PeerError("unknown_game", f"no game {act.game!r} is on", retry="no")
        return host

    def _grant(self, act: Administer, why: str) -> None:
        host, name = self._game(act), _whom(act)
        players = host.book.opened.players
        if name not in players:
            raise PeerError("bad_act", f"{' and '.join(players)} play game {host.game}, not {name}")
        if act.ms is None:
            raise PeerError("bad_act", "adjust needs the time that is given")
        host.grant(players.index(name), act.ms, why)


def _whom(act: Administer) -> str:
    if not act.whom:
        raise PeerError("bad_act", f"{act.action} needs a name")
    return act.whom


def _in_words(act: Administer) -> str:
    added = f"{act.ms} ms" if act.ms else ""
    lasts = f"for {act.minutes} min" if act.minutes else ""
    parts = [act.action, act.game, act.whom, added, lasts, act.why and f"({act.why})"]
    return " ".join(filter(None, parts))
