"""``tilewire connect``."""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path

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

from . import options
from .failing import CommandFailed, sentences


def connect(
    url: str,
    /,
    *,
    bot: options.BotOption,
    name: str | None = None,
    opponent: str | None = None,
    games: options.GamesOption = 1,
    token_file: Path | None = None,
    ca: Path | None = None,
    search: options.SearchOptions = options.SearchOptions(),
    seed: options.BotSeedOption | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Join somebody's server as a player.

    Args:
        url: The server, ws://host:port or wss://host:port.
        name: Its name there. [default: the bot's name]
        opponent: Whom to play against. [default: anyone]
        token_file: A file with the name's token.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
    """
    options.log_to_stderr(verbose)
    with sentences():
        spec = parse_seat(bot)
    name = name or spec.name
    token = _token(token_file)
    if spec.kind == "remote":
        hello = Hello(role="player", name=name, software=software())
        wish = Seek(opponent=opponent, games=games)
        with sentences(kinds=(ChannelClosed,), status=1):
            options.run(_relay(url, spec, hello, wish, token, ca))
        return
    if search.ponder:
        options.check_pondering(1, search.threads, "--threads")
    equipment, tables = search.equipment(), search.tables
    if tables.lexicon not in lexicon_names() or tables.leaves or tables.winprob:
        options.load_equipped(equipment)  # what is embedded is known to be sound
    values = {
        "--bot": bot,
        "--connect": url,
        "--name": name,
        "--games": games,
        "--opponent": opponent,
        "--token-file": token_file,
        "--tls-ca": ca,
        "--seed": seed,
    }
    given = ((option, str(value)) for option, value in values.items() if value is not None)
    # The process that a seat lives in is all there is to do: become that process.
    command = worker_command(*equipment.arguments(), *chain.from_iterable(given))
    os.execv(sys.executable, command)


def _token(path: Path | None) -> str | None:
    try:
        with sentences():
            return read_text(path).strip() if path is not None else None
    except FileNotFoundError:
        raise CommandFailed(f"there is no token file {path}") from None
    except OSError as error:
        raise CommandFailed(f"the token file {path} can't be read: {error.strerror}") from None


async def _relay(
    url: str, spec: SeatSpec, hello: Hello, wish: Seek, token: str | None, ca: Path | None
) -> None:
    """Put a bot elsewhere through to a server elsewhere."""
    ours = await open_remote(spec)
    try:
        server = await dial(url, token=token, tls=options.client_tls(url, ca))
        await server.send(hello)
        await welcomed(server)
        await _seek(server, wish)
    except BaseException:
        await ours.close()
        raise
    if (why := await relay(server, ours, wish.games)) != PLAYED:
        raise ChannelClosed(why)


async def _seek(server: Channel, wish: Seek) -> None:
    """Ask for games, and wait until the server says that they are sought."""
    await server.send(wish)
    while True:
        match (await server.receive()).content:
            case Seeking():
                return
            case Ping(id=number):
                await server.send(Pong(id=number))
            case Error() | PeerError() as refusal:
                why = refusal.message if isinstance(refusal, Error) else str(refusal)
                await server.close()
                raise ChannelClosed(f"{server.peer}: {why}")
