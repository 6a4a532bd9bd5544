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
    """Return the error for a message that ``sender``, such as "a bot", may never send."""
    kind = type(message).__struct_config__.tag
    return PeerError("wrong_role", f"{kind!r} is not for {sender} to send", retry="no")


def forget_where(error: BaseException | None) -> None:
    """Drop the frames of an error that is kept, and those of its causes.

    A frame that refers to the error would keep itself, and all that it refers to, until a full
    garbage collection. Those are rare, since each stops all clocks.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
