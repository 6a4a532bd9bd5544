"""A director's conversation: how a tournament stands, and what is to be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.seat.link import Link
from bot.seat.runtime import software
from protocol.channel import Channel
from protocol.errors import wrong_role
from protocol.messages import Direct, Error, Goodbye, Message, Standings, Welcome

if TYPE_CHECKING:
    from .direction import Direction


@dataclass(eq=False)
class Directing:
    """One director of a server's tournament, after its login."""

    direction: Direction
    name: str

    async def serve(self, channel: Channel) -> None:
        """Converse until the connection ends."""
        link = Link(channel, lambda message, _at_ms: self._hear(link, message))
        link.send(Welcome(name="tilewire", software=software()))
        self.direction.follow(link)
        try:
            await link.run()
        finally:
            self.direction.unfollow(link)

    def _hear(self, link: Link, message: Message) -> None:
        match message:
            case Error() | Goodbye():
                pass
            case Standings():
                link.send(self.direction.standing_list())
            case Direct():
                self.direction.direct(message, self.name)
            case _:
                raise wrong_role(message, "a director")
