"""Asking a server one thing: log in, ask, and return the answer or fail with a sentence."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import TypeVar

from harness.figures import counted, plain
from harness.seats.seats import greeted
from lexicons.text import read_text
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import Error, Message, Ping, Pong
from protocol.parts import Role
from protocol.websocket import dial

from . import options
from .failing import CommandFailed, sentences

_A = TypeVar("_A", bound=Message)

ANSWER_S = 10.0


def ask(
    url: str,
    role: Role,
    name: str | None,
    token_file: Path | None,
    ca: Path | None,
    asked: Message,
    kind: type[_A],
) -> _A:
    """Log in at a server, send a message and return the answer, or fail with a sentence."""
    tls = options.client_tls(url, ca)
    token = None if token_file is None else read_token(token_file)
    options.warn_of_readers(url, token)
    try:
        return options.run(_ask(url, role, name or role, token, tls, asked, kind))
    except ChannelClosed as closed:
        raise CommandFailed(plain(str(closed)), status=1) from None


def read_token(path: Path) -> str:
    """Read a token from its file, or fail with a sentence that doesn't repeat what is in it."""
    try:
        with sentences():
            words = read_text(path).split()
    except FileNotFoundError:
        raise CommandFailed(f"there is no token file {path}") from None
    except OSError as error:
        raise CommandFailed(f"the token file {path} can't be read: {error.strerror}") from None
    if len(words) != 1:
        raise CommandFailed(
            f"{path} has {counted(len(words), 'word')}, but a token file has one: the token that "
            "'tilewire token NAME' prints; it is not the server's file of names and hashes"
        )
    return words[0]


async def _ask(
    url: str,
    role: Role,
    name: str,
    token: str | None,
    tls: ssl.SSLContext | None,
    asked: Message,
    kind: type[_A],
) -> _A:
    channel = await greeted(await dial(url, token=token, tls=tls), role, name)
    try:
        return await answered(channel, asked, kind)
    finally:
        await channel.close()


async def answered(channel: Channel, asked: Message, kind: type[_A]) -> _A:
    """Send a message and return the answer, or fail with a sentence; skip all other messages.

    Raises:
        ChannelClosed: the connection is lost, or the server doesn't answer.
    """
    answer: _A | None = None
    is_settled = False
    await channel.send(asked)
    await channel.send(Ping(id=0))  # earlier ones may be news: the last before its pong counts
    try:
        async with asyncio.timeout(ANSWER_S):
            while answer is None or not is_settled:
                match (await channel.receive()).content:
                    case Ping(id=number):
                        await channel.send(Pong(id=number))
                    case Pong():
                        is_settled = True
                    case Error(message=message):
                        raise CommandFailed(plain(message), status=1)
                    case PeerError() as error:
                        raise ChannelClosed(f"{channel.peer} is not understood: {error}")
                    case content if isinstance(content, kind):
                        answer = content
            return answer
    except TimeoutError:
        raise ChannelClosed(f"{channel.peer} does not answer") from None
