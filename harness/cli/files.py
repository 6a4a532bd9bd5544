"""``tilewire files``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec
from bot.seat_text import parse_seat
from harness.figures import plain
from harness.seats.engines.files import BOT_FILE, HOST_FILE, FileExchange
from harness.seats.engines.files_host import FilesHost
from harness.seats.seat_factory import SeatMaker
from harness.server.relay import Relay
from protocol.channel import ChannelClosed

from . import options
from .failing import CommandFailed, sentences


def files(
    folder: Path,
    /,
    *,
    bot: options.BotOption,
    in_: Annotated[str, Parameter(name="--in")] = HOST_FILE,
    out: str = BOT_FILE,
    games: options.GamesOption = 1,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    seed: options.BotSeedOption | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Play for somebody else's host, through two files in a folder.

    The lines are those of a seat ``files:FOLDER``, which is the other side of this;
    ``docs/engines.md`` describes them.

    Args:
        folder: Where the files are, or will be.
        in_: The name of the file that the host writes.
        out: The name of the file that the bot writes.
    """
    options.log_to_stderr(verbose)
    with sentences():
        spec = parse_seat(bot)
        exchange = FileExchange(folder, out, in_)
    if spec.kind in ("engine", "guest"):
        raise CommandFailed(f"--bot {bot}: only a bot can play through files; name one")
    given = tables.leaves, tables.winprob, threads, seed
    if spec.kind == "remote" and given != (None, None, 1, None):
        raise CommandFailed(
            f"{spec.text} is elsewhere and has tables of its own: leave out --leaves, --winprob, "
            "--threads and --seed"
        )
    equipment = tables.equipment(threads)
    words = options.load_equipped(equipment)
    with sentences(kinds=(OSError, SeatError), status=1):
        try:
            exchange.open()
        except BlockingIOError:
            raise CommandFailed(f"another bot already plays through {exchange.out}") from None
        options.run(_play(FilesHost(exchange, words, games, _show), spec, equipment, seed))


def _show(over: str) -> None:
    how, own, other, text = [*over.split(maxsplit=3), ""][:4]
    print(plain(f"{own}–{other}  {how}: {text}"), flush=True)


async def _play(host: FilesHost, spec: SeatSpec, equipment: Equipment, seed: int | None) -> None:
    """Pass messages between the bot and the host until all games are played."""
    last_words = ""
    maker = SeatMaker(spec, spec.name, equipment, seed, notice=options.say_once())
    try:
        bot = await maker.worker()
        try:
            options.say(f"{spec.name} waits for a host to write {host.peer}")
            why = await Relay(host, bot.channel).run()
            last_words = bot.stderr_tail.strip()
        finally:
            await bot.kill()
    except ChannelClosed as closed:
        why = str(closed)
    finally:
        await maker.close()
    if host.games:
        raise CommandFailed(f"{why}{chr(10) * bool(last_words)}{last_words}", status=1)
