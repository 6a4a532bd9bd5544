"""What an admin may do while a server runs: kick, ban, pause, void, give time, invite."""

from __future__ import annotations

import asyncio

from harness.arbiter.database import JournalError
from harness.arbiter.host import GameHost
from protocol.channel import Channel
from protocol.codec import of_a_frame
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import Administer, Error, Goodbye, Message, ServerState
from protocol.parts import MAX_SENTENCE

from .bans import Bans, check_whom
from .hello import welcome
from .lobby import Lobby
from .tokens import Invitations, host_of

MOST_LISTED = 1_000
"""Players, games and bans in a ``server_state``."""

_PAUSE = (
    "INSERT INTO state VALUES ('paused', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_RESUME = "DELETE FROM state WHERE key = 'paused'"


class Administration:
    """The acts of a server's admins; bans, invitations and a pause outlive the server."""

    def __init__(
        self,
        lobby: Lobby,
        bans: Bans,
        invitations: Invitations,
        *,
        is_directed: bool,
    ) -> None:
        self._is_directed = is_directed
        self._lobby = lobby
        self._journal = lobby.journal
        self._bans = bans
        self._invitations = invitations
        for (why,) in lobby.journal.rows("SELECT value FROM state WHERE key = 'paused'"):
            lobby.pause(why)

    async def serve(self, channel: Channel, name: str) -> None:
        """Carry out an admin's acts, one after another, until it leaves."""
        wishes: asyncio.Queue[Administer] = asyncio.Queue()

        def hear(message: Message, _at_ms: int) -> None:
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
                doing = asyncio.create_task(self.do(act, name))
                try:
                    link.send(await asyncio.shield(doing))  # finished even if the admin leaves
                except PeerError as error:
                    link.send(error.reply)

        link = Link(channel, hear)
        link.send(welcome())
        self._lobby.hosting.tell(f"{name}, an admin, is here, from {channel.peer}")
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
        token = None
        try:
            match act.action:
                case "list":
                    return self.state()
                case "kick":
                    if not self._lobby.players.kick(_whom(act), f"kicked by {why}"):
                        raise PeerError("bad_act", f"{act.whom} is not here", retry="no")
                case "ban":
                    await self._ban(_whom(act), act.minutes, why)
                case "unban":
                    if not await self._bans.remove(_whom(act)):
                        raise PeerError("bad_act", f"{act.whom} is not banned", retry="no")
                case "pause" | "resume" if self._is_directed:
                    raise PeerError(
                        "bad_act",
                        f"a tournament's directors {act.action} it: tilewire direct",
                        retry="no",
                    )
                case "pause":
                    if (paused := self._lobby.paused) is not None:
                        raise PeerError("bad_act", f"games are paused already: {paused}")
                    await self._journal.change((_PAUSE, (why,)))
                    self._lobby.pause(why)
                case "resume":
                    if self._lobby.paused is None:
                        raise PeerError("bad_act", "games are not paused", retry="no")
                    await self._journal.change((_RESUME, ()))
                    self._lobby.pause(None)
                case "void":
                    self._game(act).void(f"ended by {why}")
                case "adjust":
                    self._give(act, why)
                case "invite":
                    token = await self._invitations.make()
        except JournalError as error:
            raise PeerError("host_error", str(error), retry="later") from None
        self._lobby.hosting.tell(f"admin {by}: {_in_words(act)}")
        return self.state(token)

    def state(self, token: str | None = None) -> ServerState:
        """Return the state of the server, as much of it as a message can hold."""
        lobby = self._lobby
        return of_a_frame(
            lambda most: ServerState(
                players=tuple(lobby.present())[:most],
                games=lobby.hosting.listed().games[:most],
                bans=self._bans.listed()[:most],
                paused=lobby.paused,
                trouble=self._journal.trouble(),
                invitations=self._invitations.unused,
                token=token,
            ),
            MOST_LISTED,
        )

    async def _ban(self, whom: str, minutes: int | None, why: str) -> None:
        check_whom(whom)
        await self._bans.add(whom, minutes, why)
        for player in list(self._lobby.present()):
            try:
                self._bans.check(player.name, host_of(player.address))
            except PeerError as banned:
                self._lobby.players.kick(player.name, banned.reply.message)

    def _game(self, act: Administer) -> GameHost:
        host = self._lobby.hosting.games.get(act.game or "")
        if host is None:
            raise PeerError("unknown_game", f"no game {act.game!r} is on", retry="no")
        return host

    def _give(self, act: Administer, why: str) -> None:
        host, name = self._game(act), _whom(act)
        players = host.book.opened.players
        if name not in players:
            raise PeerError("bad_act", f"{' and '.join(players)} play game {host.game}, not {name}")
        if act.ms is None:
            raise PeerError("bad_act", "adjust needs the time that is given")
        host.give(players.index(name), act.ms, why)


def _whom(act: Administer) -> str:
    if not act.whom:
        raise PeerError("bad_act", f"{act.action} needs a name")
    return act.whom


def _in_words(act: Administer) -> str:
    given = f"{act.ms} ms" if act.ms else ""
    lasts = f"for {act.minutes} min" if act.minutes else ""
    parts = [act.action, act.game, act.whom, given, lasts, act.why and f"({act.why})"]
    return " ".join(filter(None, parts))
