"""``tilewire connect``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from cyclopts import Parameter

from bot.registry import SeatSpec
from bot.seat.runtime import software
from bot.seat.worker_handle import worker_command
from bot.seat_text import parse_seat
from harness.seats.seat_factory import open_remote
from harness.seats.seats import welcomed
from harness.server.relay import PLAYED, relay
from lexicons.store import lexicon_names
from lexicons.text import read_text
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import Error, Hello, Ping, Pong, Seek, Seeking
from protocol.websocket import dial

from .failing import CommandFailed, sentences
from .options import (
    BotOption,
    BotSeedOption,
    GamesOption,
    SearchOptions,
    VerboseOption,
    check_pondering,
    client_tls,
    load_equipped,
    log_to_stderr,
    run,
)

__all__ = ["connect"]


@Parameter(name="*")
@dataclass(frozen=True)
class _Request:
    """What the bot wants of the server, and under which name."""

    name: str | None = None
    """Its name there. [default: the bot's name]"""
    opponent: str | None = None
    """Whom to play against. [default: anyone]"""
    games: GamesOption = 1
    token_file: Path | None = None
    """A file with the name's token."""
    ca: Path | None = None
    """Certificates (PEM) to trust for wss, instead of the system's."""

    def arguments(self) -> list[str]:
        """Write it as the options of a worker."""
        options = {
            "--name": self.name,
            "--games": self.games,
            "--opponent": self.opponent,
            "--token-file": self.token_file,
            "--tls-ca": self.ca,
        }
        given = ((option, str(value)) for option, value in options.items() if value is not None)
        return list(chain.from_iterable(given))


def connect(
    url: str,
    /,
    *,
    bot: BotOption,
    request: _Request = _Request(),
    search: SearchOptions = SearchOptions(),
    seed: BotSeedOption | None = None,
    verbose: VerboseOption = False,
) -> None:
    """Join somebody's server as a player.

    Args:
        url: The server, ws://host:port or wss://host:port.
    """
    log_to_stderr(verbose)
    with sentences():
        spec = parse_seat(bot)
    request = replace(request, name=request.name or spec.name)
    token = _token(request.token_file)
    if spec.kind == "remote":
        with sentences(kinds=(ChannelClosed,), status=1):
            run(_relay(url, spec, request, token))
        return
    if search.ponder:
        check_pondering(1, search.threads, "--threads")
    equipment, tables = search.equipment(), search.tables
    if tables.lexicon not in lexicon_names() or tables.leaves or tables.winprob:
        load_equipped(equipment)  # what is embedded is known to be sound
    arguments = ["--bot", bot, *equipment.arguments(), "--connect", url, *request.arguments()]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    # The process that a seat lives in is all there is to do: become that process.
    os.execv(sys.executable, worker_command(*arguments))


def _token(path: Path | None) -> str | None:
    try:
        with sentences():
            return read_text(path).strip() if path is not None else None
    except FileNotFoundError:
        raise CommandFailed(f"there is no token file {path}") from None
    except OSError as error:
        raise CommandFailed(f"the token file {path} can't be read: {error.strerror}") from None


async def _relay(url: str, spec: SeatSpec, request: _Request, token: str | None) -> None:
    """Put a bot elsewhere through to a server elsewhere."""
    ours = await open_remote(spec)
    try:
        server = await dial(url, token=token, tls=client_tls(url, request.ca))
        await server.send(Hello(role="player", name=request.name or "", software=software()))
        await welcomed(server)
        await _seek(server, Seek(opponent=request.opponent, games=request.games))
    except BaseException:
        await ours.close()
        raise
    if (why := await relay(server, ours, request.games)) != PLAYED:
        raise ChannelClosed(why)


async def _seek(server: Channel, wish: Seek) -> None:
    """Ask for games, and wait until the server says that they are sought.

    Raises:
        ChannelClosed: it refused, or the connection ended.
    """
    await server.send(wish)
    while True:
        match (await server.receive()).content:
            case Seeking():
                return
            case Ping(id=number):
                await server.send(Pong(id=number))
            case Error(message=why):
                await server.close()
                raise ChannelClosed(f"{server.peer}: {why}")
            case PeerError() as error:
                await server.close()
                raise ChannelClosed(f"{server.peer}: {error}")
