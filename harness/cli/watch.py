"""``tilewire watch``: a spectator.

On a terminal the game is drawn in place, its clocks running; elsewhere each move is a line. What
is known of the game is a frozen value, so the thread that draws never sees half of an update.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.live import Live

from harness.arbiter.records import result_text
from harness.figures import counted, plain
from harness.seats.seats import greeted
from protocol.channel import Channel, ChannelClosed, now_ms
from protocol.messages import (
    Error,
    GameList,
    GameOver,
    Games,
    NewGame,
    Ping,
    Played,
    Pong,
    Started,
    Watch,
)
from protocol.websocket import dial

from .asking import answered
from .board_view import SideView, clock_text, fresh_squares, game_view
from .failing import CommandFailed
from .options import client_tls, run, say
from .spectator_view import Followed

WAITS_S = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""Waits before the tries to connect again; they start over after each move that is seen."""
ASK_AGAIN_S = 0.25
"""Interval of questions whether a game has begun; fifty at one address may ask so often."""


def watch(url: str, game: str | None = None, /, *, ca: Path | None = None) -> None:
    """Follow a game on a server, in the terminal.

    Args:
        url: The server, ws://host:port or wss://host:port.
        game: Which game. [default: the only one, or the next to begin]
        ca: Certificates (PEM) to trust for wss, instead of the system's.
    """
    tls = client_tls(url, ca)
    console = Console()
    try:
        run(_follow(url, game, tls, drawing(console) if console.is_interactive else lines()))
    except (ChannelClosed, ValueError) as error:
        raise CommandFailed(plain(str(error)), status=1) from None


# --- where it is shown --------------------------------------------------------------------------


Screen: TypeAlias = AbstractContextManager[Callable[[Followed], None]]
"""A place to show a game: yields a function that shows what is known now."""


@contextmanager
def lines() -> Iterator[Callable[[Followed], None]]:
    """Print a line for each move."""
    told = -1  # moves; -1: nothing, not even who plays

    def show(known: Followed) -> None:
        nonlocal told
        if told < 0:
            print(plain(f"{known.offer.game}: {heading(known)}"), flush=True)
            told = 0
        width = max(cell_len(plain(name)) for name in known.offer.players)
        for move in known.moves[told:]:
            name = plain(move.name)
            name += " " * (width - cell_len(name))
            first, second = move.totals
            print(
                f"{move.number:>3}  {name}  {plain(move.move):<20}  {move.score:>+4}"
                f"  {first:>4} : {second:<4}  {clock_text(move.clock_ms):>7}",
                flush=True,
            )
        told = len(known.moves)
        if known.over is not None:
            print(plain(result(known)), flush=True)

    yield show


@contextmanager
def drawing(console: Console) -> Iterator[Callable[[Followed], None]]:
    """Draw the game in place on a terminal, its clocks running."""
    latest: Followed | None = None

    def view() -> RenderableType:
        return "" if latest is None else _view(latest, now_ms())

    def show(known: Followed) -> None:
        nonlocal latest
        latest = known
        live.refresh()

    with Live(console=console, get_renderable=view, refresh_per_second=4) as live:
        yield show


def _view(known: Followed, at_ms: int) -> RenderableType:
    racks = known.over.racks if known.over else ("", "")
    sides = [
        SideView(name, score, rack, clock_ms, known.on_turn == seat)
        for seat, (name, score, rack, clock_ms) in enumerate(
            zip(known.offer.players, known.scores, racks, known.clocks_at(at_ms), strict=True)
        )
    ]
    return game_view(
        known.board,
        known.rules.distribution.alphabet,
        sides,
        heading=heading(known),
        bag=known.bag,
        moves=known.moves,
        fresh=fresh_squares(known.last_move, known.board),
        closing=result(known),
    )


def heading(known: Followed) -> str:
    """Return a line that names the players, the time control and the lexicon."""
    first, second = known.offer.players
    time = known.offer.time
    clock = clock_text(time.initial_ms)
    if time.increment_ms:
        clock += f" + {time.increment_ms / 1_000:g} s"
    return f"{first} – {second}, {clock} each, lexicon {known.offer.lexicon}"


def result(known: Followed) -> str:
    """Return a sentence about how the game ended; empty while it is on."""
    return result_text(known.offer.players, known.over) if known.over else ""


# --- the conversation ---------------------------------------------------------------------------


async def _follow(url: str, game: str | None, tls: ssl.SSLContext | None, screen: Screen) -> None:
    """Follow a game to its end, over as many connections as it takes."""
    channel = await _join(url, tls)
    with ExitStack() as shown:
        try:
            show: Callable[[Followed], None] | None = None
            waits, moves = iter(WAITS_S), -1
            while True:
                try:
                    if game is None:
                        game, waits = await _only_game(channel), iter(WAITS_S)
                    show = show or shown.enter_context(screen)
                    async for known in _events(channel, game, joined_before=moves >= 0):
                        show(known)
                        if len(known.moves) > moves:
                            waits, moves = iter(WAITS_S), len(known.moves)
                    return
                except ChannelClosed as lost:
                    channel = await _join_again(url, tls, waits, lost)
        finally:
            await channel.close()


async def _join(url: str, tls: ssl.SSLContext | None) -> Channel:
    return await greeted(await dial(url, tls=tls), "spectator", "spectator")


async def _join_again(
    url: str, tls: ssl.SSLContext | None, waits: Iterator[float], lost: ChannelClosed
) -> Channel:
    for wait in waits:
        await asyncio.sleep(wait)
        try:
            return await _join(url, tls)
        except ChannelClosed as closed:
            lost = closed
    raise lost


async def _only_game(channel: Channel) -> str:
    """Return the game that is on, or wait for one; fail if there are several."""
    games = (await answered(channel, Games(), GameList)).games
    if not games:
        say(f"no game is on at {channel.peer}; waiting for one (Ctrl-C ends this)")
    while not games:
        await asyncio.sleep(ASK_AGAIN_S)
        games = (await answered(channel, Games(), GameList)).games
    if len(games) == 1:
        return games[0].game
    lines = [f"{len(games)} games are on at {channel.peer}; name the one to follow:"]
    for game in games:
        names = " – ".join(game.players)
        score = " to ".join(map(str, game.scores))
        lines.append(plain(f"  {game.game}  {names}, {score} after {counted(game.turns, 'turn')}"))
    raise CommandFailed("\n".join(lines))


async def _events(channel: Channel, game: str, *, joined_before: bool) -> AsyncIterator[Followed]:
    """Ask for a game and yield what is known of it after each event, to its end.

    Raises:
        ValueError: it can't be shown.
        ChannelClosed: the connection is lost.
    """
    await channel.send(Watch(game=game))
    known: Followed | None = None
    while known is None or known.over is None:
        content, at_ms = await channel.receive()
        match content:
            case Ping(id=number):
                await channel.send(Pong(id=number))
                continue
            case Error(code=code, message=message):
                if code == "unknown_game" and joined_before:
                    message = f"game {game} came to its end while the connection was lost"
                raise CommandFailed(f"{channel.peer}: {plain(message)}", status=1)
            case NewGame() if content.game == game:
                known = Followed.offered(content, at_ms)
            case Started() if known and content.game == game:
                known = known.started(content, at_ms)
            case Played() if known and content.game == game and content.seq == known.seq:
                known = known.played(content, at_ms)
            case Played() if known and content.game == game and content.seq > known.seq:
                await channel.send(Watch(game=game))  # something was missed: ask for all again
                continue
            case GameOver() if known and content.game == game:
                known = known.ended(content, at_ms)
            case _:
                continue
        yield known
