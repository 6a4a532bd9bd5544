"""A spectator's conversation: which games are on, how a tournament stands, games as they go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.arbiter.host import GameHost
from harness.arbiter.views import Viewer
from protocol.channel import Channel
from protocol.errors import PeerError, wrong_role
from protocol.link import Link
from protocol.messages import Error, Games, Goodbye, Message, StandingList, Standings, Watch

from .hello import welcome
from .hosting import Hosting


@dataclass(eq=False)
class Spectating:
    """One spectator of a server, after its hello."""

    hosting: Hosting
    standings: Callable[[], StandingList]
    """Returns how the tournament stands, or raises PeerError."""
    charge: Callable[[Message], None] = lambda _message: None
    """Takes each message; raises PeerError if it asks for too much."""
    viewer: Viewer = None
    """What it may see of games."""
    _watched: set[GameHost] = field(default_factory=set)

    async def serve(
        self, channel: Channel, attach: Callable[[Link], None] = lambda _link: None
    ) -> None:
        """Converse until the connection ends; ``attach`` takes the link, which may be dismissed."""
        link = Link(channel, lambda message, _at_ms: self._receive(link, message))
        attach(link)
        link.send(welcome())
        try:
            await link.run()
        finally:
            for host in self._watched:
                host.unwatch(link.send)

    def _receive(self, link: Link, message: Message) -> None:
        self.charge(message)
        match message:
            case Error() | Goodbye():
                pass
            case Games():
                link.send(self.hosting.listed())
            case Standings():
                link.send(self.standings())
            case Watch(game=game):
                host = self.hosting.find(game)
                if host is None:
                    why = f"no game {game!r} is on"
                    raise PeerError("unknown_game", why, retry="no", game=game)
                for over in [
                    watched for watched in self._watched if watched.game not in self.hosting.games
                ]:
                    over.unwatch(link.send)
                    self._watched.discard(over)
                self._watched.add(host)
                host.watch(link.send, self.viewer)
            case _:
                raise wrong_role(message, "a spectator")
