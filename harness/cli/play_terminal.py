"""A person at a terminal, who plays as a bot does: the board is drawn, moves are typed.

``Person`` is the player of a game, in its thread; ``Terminal`` holds what is typed. A move that the
rules forbid is refused here, before it is sent: the third refusal by a server loses the game.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

from rich.console import Console, RenderableType

from bot.equipment import Equipment
from bot.player import PASS, Budget, Choice, ExchangedCount, Observed, Player, Result, View
from bot.seat.connection import BotRunner
from bot.seat.player_thread import Bot, PlayerThread
from engine.notation.move_text import format_full_move
from engine.rules.moves import Move, Place
from engine.rules.position import Board
from harness.arbiter.records import result_text
from harness.figures import plain
from lexicons.alphabet import BLANK, TILES_OPTIONS
from protocol.channel import now_ms
from protocol.messages import GameOver, Message, Seek, Welcome, YourTurn
from protocol.websocket import dial

from .board_view import MoveView, SideView, fresh_squares, game_view, print_view

SETTLE_S = 5.0
"""The longest wait for a game's end to be drawn."""

YES = ("y", "yes")
NO = ("n", "no", "")

HELP = """\
  8D WORD       play a word across, D8 WORD down; tiles on the board may be
                named, or be dots; a blank is a small letter: 8D QUiZ
  try 8D WORD   what it would score
  check WORD    whether a word is valid
  exch ABC?     exchange tiles; ? is a blank
  pass          play nothing
  resign        give up the game
  shuffle       have the rack in another order
  Enter         draw the board again, with the clocks as they are
  quit          leave (Ctrl-D too); the game goes on when you come again"""


class Left(Exception):
    """The person leaves; the game stays."""


class _Woken(Exception):
    """The game is over, so the question no longer matters."""


class Terminal:
    """Lines that are typed, and a place to draw; ``descriptor`` is read by a thread of its own."""

    def __init__(self, console: Console, descriptor: int) -> None:
        self.console = console
        self._closed = False
        self._lines: SimpleQueue[str | Person | None] = SimpleQueue()
        """Lines that are typed; None: there are no more; a person: that person's game is over."""
        # Not by sys.stdin: the interpreter can't end while a thread reads from that.
        threading.Thread(target=self._read, args=(descriptor,), daemon=True).start()

    def _read(self, descriptor: int) -> None:
        with suppress(OSError):  # a terminal that has hung up
            for line in os.fdopen(descriptor, encoding="utf-8", errors="replace", closefd=False):
                self._lines.put(line.strip())
        self._closed = True
        self._lines.put(None)

    def ask(self, prompt: str, person: Person | None = None) -> str | None:
        """Return the next line, without blanks around it, or None if there are no more.

        Raises:
            _Woken: the game of ``person`` is over.
        """
        print(prompt, end="", flush=True, file=self.console.file)
        while not (self._closed and self._lines.empty()):
            line = self._lines.get()
            if not isinstance(line, Person):
                return line
            if line is person:
                raise _Woken
        return None

    def agrees(self, question: str, person: Person | None = None) -> bool:
        """Return whether the next line is a yes.

        Raises:
            _Woken: the game of ``person`` is over.
        """
        return (self.ask(question, person) or "").lower() in YES

    def wake(self, person: Person) -> None:
        """Note that a person's game is over."""
        self._lines.put(person)

    def wait(self, person: Person) -> None:
        """Wait until a person's game is over, whatever is typed."""
        while self._lines.get() is not person:
            pass

    def draw(self, view: RenderableType) -> None:
        """Draw a game."""
        self.show("")
        print_view(view, self.console)

    def show(self, text: str) -> None:
        """Print a text, made safe: names in it are chosen by others."""
        print("\n".join(map(plain, text.split("\n"))), flush=True, file=self.console.file)


class Person(Player):
    """A player whose moves are typed."""

    def __init__(self, terminal: Terminal) -> None:
        self.resign: Callable[[str], object] = lambda _game: None
        """Resigns a game, by its name; called in the player's thread."""
        self._terminal = terminal
        self._over: GameOver | None = None
        self._board: Board | None = None
        self._moves: list[MoveView] = []
        self._last: Move | None = None
        self._rack: list[int] = []
        self._asked_ms = self._challenge_ms = 0

    def receive(self, message: Message) -> None:
        """Learn at once of a turn, and of the end of the game, also while a move is awaited."""
        if isinstance(message, GameOver):
            self._over = message
            self._terminal.wake(self)
        elif isinstance(message, YourTurn):
            self._asked_ms, self._challenge_ms = now_ms(), message.challenge_ms or 0

    def new_game(self, view: View) -> None:
        """Say who begins."""
        self._board = view.position.board
        begins = "you begin" if view.seat == 0 else f"{view.players[0]} begins"
        self._terminal.show(f"{view.players[0]} – {view.players[1]}: {begins}")

    def observe(self, view: View, play: Observed) -> None:
        """Keep a turn for the list of moves."""
        assert self._board is not None, "a game begins before its first turn"
        if isinstance(play.move, ExchangedCount):
            text, self._last = f"exchanges {play.move.count}", None
        else:
            alphabet = view.rules.distribution.alphabet
            text, self._last = format_full_move(play.move, self._board, alphabet), play.move
        if play.withdrawn or play.lost:
            text = f"{text} (challenged off)" if play.withdrawn else "loses the turn by a challenge"
        name = view.players[play.seat]
        self._moves.append(MoveView(play.seq, name, text, play.score))
        self._board = view.position.board

    def challenge(self, view: View, play: Observed) -> Sequence[str]:
        """Ask whether to challenge the opponent's play."""
        assert self._board is not None, "a game begins before its first turn"
        assert isinstance(play.move, Place), "nothing else can be challenged"
        self._last = play.move
        self._draw(view)
        name = view.players[play.seat]
        move = format_full_move(play.move, self._board, view.rules.distribution.alphabet)
        question = f"challenge {' and '.join(play.words)}? (y/n, {self._challenge_ms // 1_000} s) "
        self._terminal.show(f"{name} plays {move} for {play.score}")
        try:
            while (answer := self._ask(question).lower()) not in NO:
                if now_ms() - self._asked_ms > self._challenge_ms:
                    self._terminal.show("too late: the play stands, and your move is next")
                    break
                if answer in YES:
                    return play.words
                self._terminal.show("y challenges the play; n accepts it, and your move is next")
        except _Woken:
            pass
        return ()

    def choose(self, view: View, budget: Budget) -> Choice:
        """Ask for a move until there is a legal one."""
        self._draw(view)
        while True:
            try:
                move = self._done(view, self._ask("your move (? for help): "))
                if move is not None:
                    self._terminal.show(f"{view.players[view.opponent]} is to move")
                    return Choice(move)
            except _Woken:
                return Choice(PASS)  # nobody waits for this
            except ValueError as error:
                self._terminal.show(str(error).replace(f" ({TILES_OPTIONS})", ""))

    def _ask(self, question: str) -> str:
        """Return what is typed.

        Raises:
            Left: the person leaves.
            _Woken: the game is over.
        """
        line = self._terminal.ask(question, self)
        if line is None or line.lower() == "quit":
            raise Left
        return line

    def _done(self, view: View, line: str) -> Move | None:
        """Do what is typed; return the move, if it is a legal one.

        Raises:
            ValueError: it is not understood, or not legal.
        """
        word, _, rest = line.partition(" ")
        match word.lower(), rest.strip():
            case ["", ""]:
                self._draw(view)
            case ["?" | "help", ""]:
                self._terminal.show(HELP)
            case ["shuffle", ""]:
                random.shuffle(self._rack)
                self._draw(view)
            case ["check", asked] if asked:
                is_valid = "is valid" if view.is_word(asked) else "is not valid"
                self._terminal.show(f"{asked.upper()} {is_valid}")
            case ["try" | "exch" | "exchange", ""]:
                raise ValueError("name the tiles or the move, such as exch ABC or try 8D WORD")
            case ["try", asked]:
                move = self._legal(view, asked)
                self._terminal.show(f"{view.text(move)} scores {view.score(move)}")
            case ["resign", ""]:
                if self._terminal.agrees("give up this game? (y/n) ", self):
                    self.resign(view.game)
                    self._terminal.wait(self)
                    raise _Woken
            case ["pass", ""]:
                return PASS
            case ["exch" | "exchange", tiles] if tiles:
                return self._legal(view, f"-{tiles}")
            case _:
                return self._legal(view, line)
        return None

    @staticmethod
    def _legal(view: View, text: str) -> Move:
        """Read a move and check it; without a blank on the rack letters may be small."""
        move = view.move(text if BLANK in view.rack and text[:1] != "-" else text.upper())
        view.score(move)
        return move

    def refused(self, view: View, move: Move, message: str) -> None:
        """Say why a move was refused."""
        self._terminal.show(message)

    def game_over(self, view: View, result: Result) -> None:
        """Draw the end, with both racks."""
        assert self._over is not None, "its message came first"
        racks = [view.text(rack) for rack in result.racks]
        closing = result_text(view.players, self._over)
        self._terminal.draw(self._drawn(view, result.scores, racks, (None, None), closing))

    def _draw(self, view: View) -> None:
        if sorted(self._rack) != list(view.rack):
            self._rack = list(view.rack)
        racks = ["", ""]
        racks[view.seat] = view.text(self._rack)
        clocks = list(view.clocks)
        clocks[view.seat] -= now_ms() - self._asked_ms
        shown = self._drawn(view, view.position.scores, racks, (clocks[0], clocks[1]))
        self._terminal.draw(shown)

    def _drawn(
        self,
        view: View,
        scores: tuple[int, int],
        racks: list[str],
        clocks: tuple[int | None, int | None],
        closing: str = "",
    ) -> RenderableType:
        on_turn = [not closing and view.seat == seat for seat in (0, 1)]
        sides = list(map(SideView, view.players, scores, racks, clocks, on_turn))
        board = view.position.board
        return game_view(
            board,
            view.rules.distribution.alphabet,
            sides,
            bag=view.bag,
            moves=self._moves,
            fresh=fresh_squares(self._last, board),
            closing=closing,
        )


async def play_games(
    url: str, name: str, opponent: str, equipment: Equipment, terminal: Terminal
) -> None:
    """Play games on a server until the person has enough, or leaves one."""
    asking = PlayerThread("terminal")
    terminal.show(f"{opponent} gets ready; ? at your turn says what to type")
    again = True
    while again:
        try:
            await _play_game(url, name, opponent, equipment, terminal)
        except Left:
            return
        question = asking.submit(terminal.agrees, "again, with seats swapped? (y/n) ")
        again = await asyncio.wrap_future(question)


async def _play_game(
    url: str, name: str, opponent: str, equipment: Equipment, terminal: Terminal
) -> None:
    person = Person(terminal)
    bot = Bot(name, lambda: person, equipment, seek=Seek(opponent=opponent))

    def receive(message: Message) -> None:
        if isinstance(message, Welcome):
            runner.games.earlier = frozenset()  # a game that was left is the one to play
        person.receive(message)

    runner = BotRunner(bot, receive)
    loop = asyncio.get_running_loop()
    person.resign = lambda game: loop.call_soon_threadsafe(runner.resign, game)
    await runner.run(partial(dial, url))
    await runner.games.settle(SETTLE_S)  # its end is drawn
