"""A host behind two files (``files``), as a channel to an arbiter for a bot of ours.

The host's lines become protocol messages, and the bot's messages lines. The host's word counts for
everything but the number of tiles in the bag, which follows from the board.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, get_args

import msgspec

from bot.equipment import Resources
from bot.seat.player_view import Watched
from engine.notation.cgp import write_cgp
from engine.rules.moves import Place
from engine.rules.position import Rack, with_seat
from engine.rules.rule_sets import rules_in_play
from lexicons.store import Lexicon
from protocol.channel import Arrival, Channel, ChannelClosed, now_ms
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    GameOver,
    Message,
    Move,
    NewGame,
    Played,
    Ready,
    Refused,
    Started,
    YourTurn,
)
from protocol.parts import Outcome, RulesInPlay, TimeControl

from .files import POLL_S, FileExchange

_MOST_DIGITS = 12
"""Most digits of a line's number, and of milliseconds."""

RACK_SIZE = RulesInPlay().rack_size

_OUTCOMES: dict[str, Outcome] = {how: how for how in get_args(Outcome)}
_OUTCOMES["unfinished"] = "host_error"


class _Line(NamedTuple):
    """A line from the host, parsed."""

    game: str
    number: int
    what: str
    rest: str


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS


class FilesHost(Channel):
    """The host at the other end of a folder; ``finished`` takes its sentence after each game."""

    def __init__(
        self,
        exchange: FileExchange,
        lexicon: Lexicon,
        games: int,
        finished: Callable[[str], object] = lambda _text: None,
    ) -> None:
        self.peer = str(exchange.in_)
        self.games = games
        self._finished = finished
        self._exchange = exchange
        self._lexicon = lexicon
        self._game: _Game | None = None
        self._ready = False
        self._left: set[str] = set()
        self._messages: deque[Message] = deque()
        self._waiting = False

    def hand_over(self, take: Callable[[Arrival], None] | None) -> None:
        """Hand nothing over: all messages are received."""

    async def send(self, message: Message) -> None:
        """Write the bot's message, if it is for the host."""
        game = self._game
        if game is None or getattr(message, "game", None) != game.name:
            return
        match message:
            case Ready():
                self._ready = True
                self._exchange.write_line(f"{game.name} 0 ready")
                self._waiting = True
            case Decline(message=why):
                self._exchange.write_line(f"{game.name} 0 declined {' '.join(why.split())}")
                self._leave(game)
            case Move(move=move, seq=seq, attempt=attempt):
                if (seq, attempt) == game.turn:  # else the host does not wait for it any more
                    self._exchange.write_line(f"{game.name} {game.question} {move}")

    async def receive(self) -> Arrival:
        """Wait for a message; raise ChannelClosed after all games, or at a senseless line."""
        while not self._messages:
            if not self.games:
                raise ChannelClosed("all games are played")
            if self._exchange.look() or self._waiting:
                self._waiting = False
                self._receive()
            if not self._messages:
                # even if the file has changed: it may do so without end
                await asyncio.sleep(POLL_S)
        return Arrival(self._messages.popleft(), now_ms())

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the bot's file."""
        self._exchange.close()

    # --- what the host says -----------------------------------------------------------------------

    def _receive(self) -> None:
        lines = []
        for text in self._exchange.lines:
            match text.split(maxsplit=3):
                case [game, number, what, *rest] if _is_number(number):
                    lines.append(_Line(game, int(number), what.lower(), rest[0] if rest else ""))
        if self._game is not None and self._ready:
            self._follow(self._game, lines)
        last = next((line for line in reversed(lines) if line.what == "game"), None)
        if last is None or last.game in self._left:
            return
        if self._game is not None:
            if last.game == self._game.name:
                return
            over = self._game.over("unfinished", 0, 0, "the host began another game")
            self._messages.append(over)
            self._leave(self._game)
        if any(line.game == last.game and line.what == "over" for line in lines):
            self._left.add(last.game)
        else:
            self._offered(last)

    def _follow(self, game: _Game, lines: list[_Line]) -> None:
        lines = [line for line in lines if line.game == game.name and line.number > game.number]
        for line in lines:
            if line.what == "move" and line is not lines[-1]:
                continue  # it was answered before this bot joined
            try:
                self._messages += game.take(line)
            except (PeerError, ValueError) as error:
                line_text = " ".join(map(str, line))
                raise ChannelClosed(f"{self.peer}: {line_text!r} makes no sense: {error}") from None
            if line.what == "over":
                self.games -= 1
                self._finished(line.rest)
                self._leave(game)
                return

    def _offered(self, line: _Line) -> None:
        match line.rest.split(maxsplit=2):
            case [("first" | "second") as seat, ms, *name] if _is_number(ms) and int(ms):
                pass
            case _:
                raise ChannelClosed(
                    f"{self.peer}: {line.rest!r} offers no game; write first or second, "
                    "milliseconds and the lexicon's name"
                )
        wanted = name[0] if name else "-"
        if wanted != "-" and wanted.casefold() != self._lexicon.name.casefold():
            why = f"the lexicon {wanted} is not here, {self._lexicon.name} is"
            self._exchange.write_line(f"{line.game} 0 declined {why}")
            self._left.add(line.game)
            return
        game = self._game = _Game(line.game, int(seat == "second"), int(ms), self._lexicon)
        self._ready = False
        self._messages.append(game.offer)

    def _leave(self, game: _Game) -> None:
        self._left.add(game.name)
        self._game = None


class _Game:
    """One game, from the host's lines to messages; no I/O."""

    def __init__(self, name: str, seat: int, ms: int, lexicon: Lexicon) -> None:
        self.name = name
        self.seat = seat
        self.number = 0
        self.question = 0
        """Number of the line that asks for a move."""
        self.offer = NewGame(
            game=name,
            seq=0,
            players=("host", "bot") if seat else ("bot", "host"),
            you=seat,
            lexicon=lexicon.name,
            lexicon_checksum=lexicon.checksum,
            time=TimeControl(initial_ms=ms, max_overtime_ms=0),
        )
        rules = rules_in_play(self.offer.rules)
        self._watched = Watched(self.offer, rules, Resources(lexicon), seed=0)
        self._started = False
        self._own: Played | None = None
        """The bot's turn whose new rack is not told yet."""
        self._rack: Rack = ()
        self._refusal: str | None = None
        self.turn = 0, 0
        """Event and attempt of the last request."""
        self._clocks = ms, ms

    def take(self, line: _Line) -> Iterator[Message]:
        """Convert a line to messages; raise ValueError or PeerError if it makes no sense."""
        self.number = line.number
        match line.what, line.rest.split():
            case ["rack", [*tiles]]:
                rack = "".join(tiles).upper()
                self._rack = self._watched.view.tiles(rack)
                if self._own is not None:
                    self._own = msgspec.structs.replace(self._own, rack=rack)
                yield from self._settled(rack)
            case (("you" | "opponent"), [score, total, *move]):
                yield from self._settled()
                seat = self.seat if line.what == "you" else 1 - self.seat
                view, placed, text = self._watched.view, 0, " ".join(move)
                if not text.startswith("-"):
                    read = view.move(text)
                    placed = len(read.placed) if isinstance(read, Place) else 0
                self._own = Played(
                    game=self.name,
                    seq=self._watched.seen + 1,
                    seat=seat,
                    move=text,
                    score=int(score),
                    scores=with_seat(view.position.scores, seat, int(total)),
                    bag=max(0, view.bag - placed),
                    clocks=self._clocks,
                )
                if seat != self.seat:  # after the bot's own, the next line has the drawn rack
                    yield from self._settled()
            case ["refused", _]:
                self._refusal = line.rest
            case ["move", [mine, theirs]]:
                yield from self._settled()
                yield self._asks(line.number, (int(mine), int(theirs)))
            case ["over", [how, mine, theirs, *words]]:
                yield from self._settled()
                yield self.over(how, int(mine), int(theirs), " ".join(words))
            case _:
                raise ValueError("it is none of rack, opponent, you, move, refused, over")

    def _settled(self, rack: str | None = None) -> Iterator[Message]:
        if not self._started:
            self._started = True
            bag = self._watched.view.rules.distribution.total - 2 * RACK_SIZE
            started = Started(game=self.name, seq=0, bag=bag, clocks=self._clocks, rack=rack)
            self._watched.started(started)
            yield started
        own, self._own = self._own, None
        if own is not None:
            self._watched.played(own)  # which finds impossible turns
            yield own

    def _asks(self, number: int, clocks: tuple[int, int]) -> Message:
        view, seq = self._watched.view, self._watched.seen + 1
        if view.position.on_turn != self.seat:
            raise ValueError("it is the opponent's turn")
        if not self._rack:
            raise ValueError("nothing was said of the rack")
        is_repeat = self._refusal is not None and self.turn[0] == seq
        why, self._refusal = self._refusal, None
        attempt = self.turn[1] + 1 if is_repeat else 1
        self.question, self.turn = number, (seq, attempt)
        self._clocks = (clocks[1], clocks[0]) if self.seat else clocks
        deadline_ms = max(0, clocks[0])
        if is_repeat:
            return Refused(
                game=self.name,
                seq=seq,
                attempt=attempt - 1,
                code="refused",
                message=why or "",
                attempts_left=1,
                deadline_ms=deadline_ms,
            )
        racks: tuple[Rack, Rack] = ((), self._rack) if self.seat else (self._rack, ())
        return YourTurn(
            game=self.name,
            seq=seq,
            position=write_cgp(replace(view.position, racks=racks), view.rules),
            rack=view.text(self._rack),
            bag=view.bag,
            clocks=self._clocks,
            deadline_ms=deadline_ms,
        )

    def over(self, how: str, own: int, other: int, text: str) -> GameOver:
        """Return the end of the game."""
        return GameOver(
            game=self.name,
            seq=self._watched.seen + 1,
            outcome=_OUTCOMES.get(how, "out"),
            winner=None if own == other else self.seat if own > other else 1 - self.seat,
            scores=(other, own) if self.seat else (own, other),
            message=text,
        )
