"""``tilewire watch``: a spectator.

On a terminal the game is drawn in place, its clocks running; elsewhere each move is a line. What
is known of the game is a frozen value, so the thread that draws never sees half of an update.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.live import Live

from bot.seat.offers import Declined, beginning
from engine.notation.move_text import NotationError, format_full_move, parse_told
from engine.rules.moves import Move, Place
from engine.rules.position import Board, bag_count, unseen
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
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
    StandingList,
    Standings,
    Started,
    Watch,
)
from protocol.parts import UPHELD, WITHDRAWN
from protocol.websocket import dial

from .asking import answered
from .board_view import MoveView, SideView, clock_text, fresh_squares, game_view
from .failing import CommandFailed
from .options import client_tls, print_notice, run

WAITS_S = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""Waits before the tries to connect again; they start over after each move that is seen."""
ASK_AGAIN_S = 0.25
"""Interval of questions whether a game has begun; fifty at one address may ask so often."""
STANDINGS_EVERY = 8
"""Questions whether a game has begun for each how the tournament stands."""


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


# --- what is known of the game ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Followed:
    """A spectator's knowledge of a game at one moment."""

    offer: NewGame
    rules: Rules
    board: Board
    scores: tuple[int, int]
    clocks: tuple[int, int]
    """At ``at_ms``."""
    bag: int
    seq: int
    """The number of the next event."""
    at_ms: int
    """Arrival of the last message, on the clock of ``now_ms``."""
    moves: tuple[MoveView, ...] = ()
    last_move: Move | None = None
    """None also for an exchange whose tiles are hidden, and after a challenge."""
    before: Board | None = None
    """The board before the last event."""
    mover: int = 1
    """The seat of the last event; the other is to move."""
    over: GameOver | None = None

    @classmethod
    def offered(cls, offer: NewGame, at_ms: int) -> Followed:
        """Return the game as offered; raise ValueError if its rules or moves make no sense."""
        try:
            rules = rules_in_play(offer.rules)
            begun = beginning(offer, rules)
        except (ValueError, Declined) as error:
            raise ValueError(f"this game can't be shown: {error}") from None
        time = offer.time.initial_ms
        followed = cls(
            offer=offer,
            rules=rules,
            board=begun.board,
            scores=begun.scores,
            clocks=(time, time),
            bag=bag_count(begun, rules) if offer.seq else sum(unseen(begun, 0, rules)),
            seq=min(offer.seq, 1),
            at_ms=at_ms,
        )
        for play in offer.history:
            followed = followed.played(play, at_ms)
        return replace(followed, seq=offer.seq, clocks=offer.clocks or followed.clocks)

    @property
    def on_turn(self) -> int | None:
        """The seat to move; None before the start and after the end."""
        return None if self.over or not self.seq else 1 - self.mover

    def started(self, message: Started, at_ms: int) -> Followed:
        """Return the game after both seats reported ready."""
        return replace(self, seq=1, bag=message.bag, clocks=message.clocks, at_ms=at_ms)

    def played(self, message: Played, at_ms: int) -> Followed:
        """Return the game after a turn; raise ValueError if the move does not fit the board."""
        board, text, last_move = self._moved(message)
        seat = message.seat
        move = MoveView(
            number=message.seq,
            name=self.offer.players[seat],
            move=text,
            score=message.score,
            totals=message.scores,
            clock_ms=message.clocks[seat],
        )
        return replace(
            self,
            board=board,
            scores=message.scores,
            clocks=message.clocks,
            bag=message.bag,
            seq=message.seq + 1,
            at_ms=at_ms,
            moves=(*self.moves, move),
            last_move=last_move,
            before=self.board,
            mover=seat,
        )

    def _moved(self, message: Played) -> tuple[Board, str, Move | None]:
        alphabet = self.rules.distribution.alphabet
        if message.move == WITHDRAWN:
            return self.before or self.board, f"takes back {' and '.join(message.words)}", None
        if message.move == UPHELD:
            return self.board, "challenged in vain", None
        if message.challenge == "lost":
            return self.board, "loses the turn by a challenge", None
        try:
            move = parse_told(message.move, self.board, alphabet)
        except NotationError as error:
            raise ValueError(f"move {message.seq} does not fit the board: {error}") from None
        if isinstance(move, int):
            return self.board, f"exchanges {move}", None
        board = self.board.with_move(move) if isinstance(move, Place) else self.board
        return board, format_full_move(move, self.board, alphabet), move

    def ended(self, message: GameOver, at_ms: int) -> Followed:
        """Return the finished game."""
        clocks = self.clocks_at(at_ms)
        return replace(self, over=message, scores=message.scores, clocks=clocks, at_ms=at_ms)

    def clocks_at(self, at_ms: int) -> tuple[int, int]:
        """Return both clocks, the running one charged since the last message."""
        shown = list(self.clocks)
        if self.on_turn is not None:
            shown[self.on_turn] -= at_ms - self.at_ms
        return shown[0], shown[1]


# --- where it is shown --------------------------------------------------------------------------


Screen: TypeAlias = AbstractContextManager[Callable[[Followed], None]]
"""A place to show a game: yields a function that shows what is known now."""


@contextmanager
def lines() -> Iterator[Callable[[Followed], None]]:
    """Print a line for each move."""
    shown = -1  # moves; -1: nothing, not even who plays

    def show(known: Followed) -> None:
        nonlocal shown
        if shown < 0:
            print(plain(f"{known.offer.game}: {heading(known)}"), flush=True)
            shown = 0
        width = max(cell_len(plain(name)) for name in known.offer.players)
        for move in known.moves[shown:]:
            name = plain(move.name)
            name += " " * (width - cell_len(name))
            first, second = move.totals
            print(
                f"{move.number:>3}  {name}  {plain(move.move):<20}  {move.score:>+4}"
                f"  {first:>4} : {second:<4}  {clock_text(move.clock_ms):>7}",
                flush=True,
            )
        shown = len(known.moves)
        if known.over is not None:
            print(plain(result(known)), flush=True)

    yield show


@contextmanager
def drawing(console: Console) -> Iterator[Callable[[Followed], None]]:
    """Draw the game in place on a terminal, its clocks running."""
    latest: Followed | None = None

    def view() -> RenderableType:
        if (followed := latest) is None:
            return ""
        racks = followed.over.racks if followed.over else ("", "")
        clocks = followed.clocks_at(now_ms())
        on_turn = [followed.on_turn == seat for seat in (0, 1)]
        return game_view(
            followed.board,
            followed.rules.distribution.alphabet,
            list(map(SideView, followed.offer.players, followed.scores, racks, clocks, on_turn)),
            heading=heading(followed),
            bag=followed.bag,
            moves=followed.moves,
            fresh=fresh_squares(followed.last_move, followed.board),
            closing=result(followed),
        )

    def show(followed: Followed) -> None:
        nonlocal latest
        latest = followed
        live.refresh()

    with Live(console=console, get_renderable=view, refresh_per_second=4) as live:
        yield show


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
                    async for followed in _events(channel, game, joined_before=moves >= 0):
                        show(followed)
                        if len(followed.moves) > moves:
                            waits, moves = iter(WAITS_S), len(followed.moves)
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
    most_s = sum(WAITS_S)
    print_notice(f"{plain(str(lost))}; connecting again for {most_s:.0f} s at most")
    for wait in waits:
        await asyncio.sleep(wait)
        try:
            channel = await _join(url, tls)
        except ChannelClosed as closed:
            lost = closed
        else:
            print_notice("connected again")
            return channel
    raise ChannelClosed(f"{lost}; given up after {most_s:.0f} s")


async def _only_game(channel: Channel) -> str:
    """Return the game that is on, or wait for one; fail if there are several, or none will be."""
    event: StandingList | None = StandingList(round=0)
    looks = 0
    while not (games := (await answered(channel, Games(), GameList)).games):
        if event is not None and looks % STANDINGS_EVERY == 0:
            waits = event.waits
            try:
                event = await answered(channel, Standings(), StandingList)
            except CommandFailed:  # no tournament is played there
                event = None
            else:
                if event.over:
                    why = f"the tournament at {channel.peer} is over; its page has the games"
                    raise CommandFailed(why, status=1)
                if event.waits not in ("", waits):
                    print_notice(plain(event.waits))
        if not looks:
            print_notice(f"no game is on at {channel.peer}; waiting for one (Ctrl-C ends this)")
        looks += 1
        await asyncio.sleep(ASK_AGAIN_S)
    if len(games) == 1:
        return games[0].game
    follow = f"tilewire watch {channel.peer} GAME"
    lines = [f"{len(games)} games are on at {channel.peer}; follow one of them by {follow}:"]
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
    followed: Followed | None = None
    while followed is None or followed.over is None:
        content, at_ms = await channel.receive()
        match content:
            case Ping(id=number):
                await channel.send(Pong(id=number))
                continue
            case Error(code=code, message=message):
                if code == "unknown_game" and joined_before:
                    message = (
                        f"game {game} is there no more: it came to its end while the connection "
                        "was lost, or another event has this address now"
                    )
                raise CommandFailed(f"{channel.peer}: {plain(message)}", status=1)
            case NewGame() if content.game == game:
                followed = Followed.offered(content, at_ms)
            case Started() if followed and content.game == game:
                followed = followed.started(content, at_ms)
            case Played() if followed and content.game == game and content.seq == followed.seq:
                followed = followed.played(content, at_ms)
            case Played() if followed and content.game == game and content.seq > followed.seq:
                await channel.send(Watch(game=game))  # something was missed: ask for all again
                continue
            case GameOver() if followed and content.game == game:
                followed = followed.ended(content, at_ms)
            case _:
                continue
        yield followed
