"""Faults of the peer; any other exception of this package is a bug of ours."""

from __future__ import annotations

from .messages import Error, Message
from .parts import MAX_SENTENCE, Retry


class PeerError(Exception):
    """The peer sent an illegal message; ``reply`` is the answer.

    ``code`` is a word from the table in ``SPEC.md``; ``close`` is the WebSocket close code, if the
    connection cannot go on.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retry: Retry = "corrected",
        game: str | None = None,
        seq: int | None = None,
        close: int | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        sentence = message[:MAX_SENTENCE]
        self.reply = Error(code=code, message=sentence, retry=retry, game=game, seq=seq)
        self.close = close

    @property
    def code(self) -> str:
        """The word that names the fault."""
        return self.reply.code


def wrong_role(message: Message, sender: str) -> PeerError:
    """Return the fault of a message that ``sender``, such as "a bot", may never send."""
    kind = type(message).__struct_config__.tag
    return PeerError("wrong_role", f"{kind!r} is not for {sender} to send", retry="no")


def forget_where(error: BaseException | None) -> None:
    """Have an error that is kept, and those that it came of, hold no frames any more.

    A frame that holds the error would keep itself, and all that it leads to, until a full garbage
    collection, and those are rare: each stops all clocks.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
