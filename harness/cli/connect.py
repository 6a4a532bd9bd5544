"""``tilewire connect``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bot.registry import SeatError
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

from .failing import CommandFailed
from .options import (
    LeavesOption,
    LexiconOption,
    PonderOption,
    SeedOption,
    ThreadsOption,
    VerboseOption,
    WinprobOption,
    check_counts,
    check_pondering,
    client_tls,
    equip,
    load_equipped,
    log_to_stderr,
    run,
)

__all__ = ["connect"]


def connect(
    url: str,
    /,
    *,
    bot: str,
    name: str | None = None,
    opponent: str | None = None,
    games: int = 1,
    token_file: Path | None = None,
    ca: Path | None = None,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption = 1,
    ponder: PonderOption = False,
    seed: SeedOption | None = None,
    verbose: VerboseOption = False,
) -> None:
    """Join somebody's server as a player.

    Args:
        url: The server, ws://host:port or wss://host:port.
        bot: The seat that plays: a bot's name, module:factory, file.py:factory or ws://….
        name: What to be called there. [default: the bot's name]
        opponent: Whom to play against; anyone, if nobody is named.
        games: How many games.
        token_file: A file with the name's token.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: trained, formula, or a leave table (KLV2). [default: the bot's own]
        winprob: trained, or a table of win probabilities (CSV), if the bot uses one.
        threads: How many the bot may search with.
        ponder: Let the bot search while its opponent thinks.
        seed: For the bot's own chance.
        verbose: Log what happens to stderr.
    """
    log_to_stderr(verbose)
    try:
        spec = parse_seat(bot)
    except SeatError as error:
        raise CommandFailed(str(error)) from None
    check_counts(games=games)
    token = _token(token_file)
    if spec.kind == "remote":
        try:
            run(_relay(url, bot, name or spec.name, opponent, games, token, ca))
        except ChannelClosed as closed:
            raise CommandFailed(str(closed), status=1) from None
        return
    equipment = equip(lexicon, leaves, winprob, threads, ponder=ponder)
    if ponder:
        check_pondering(1, threads, "--threads")
    if lexicon not in lexicon_names() or leaves is not None or winprob is not None:
        load_equipped(equipment)  # what is embedded is known to be sound
    arguments = ["--bot", bot, *equipment.arguments(), "--name", name or spec.name]
    arguments += ["--connect", url, "--games", str(games)]
    for option, value in (
        ("--opponent", opponent),
        ("--token-file", token_file),
        ("--tls-ca", ca),
        ("--seed", seed),
    ):
        if value is not None:
            arguments += [option, str(value)]
    # The process that a seat lives in is the whole of it: become that process.
    os.execv(sys.executable, worker_command(*arguments))


def _token(path: Path | None) -> str | None:
    try:
        return read_text(path).strip() if path is not None else None
    except FileNotFoundError:
        raise CommandFailed(f"there is no token file {path}") from None
    except OSError as error:
        raise CommandFailed(f"the token file {path} can't be read: {error.strerror}") from None
    except ValueError as error:
        raise CommandFailed(str(error)) from None


async def _relay(
    url: str,
    bot: str,
    name: str,
    opponent: str | None,
    games: int,
    token: str | None,
    ca: Path | None,
) -> None:
    """Put a bot elsewhere through to a server elsewhere."""
    ours = await open_remote(parse_seat(bot))
    try:
        server = await dial(url, token=token, tls=client_tls(url, ca))
        await server.send(Hello(role="player", name=name, software=software()))
        await welcomed(server)
        await _seek(server, Seek(opponent=opponent, games=games))
    except BaseException:
        await ours.close()
        raise
    if (why := await relay(server, ours, games)) != PLAYED:
        raise ChannelClosed(why)


async def _seek(server: Channel, wish: Seek) -> None:
    """Say what is sought, and hear that it is.

    Raises:
        ChannelClosed: it can't be had, or the connection ended.
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
