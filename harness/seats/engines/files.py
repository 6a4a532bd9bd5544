"""Games through two files in a folder, as students of CS221 (Stanford 2016) played Quackle.

There is a **host**, which deals, keeps score and clock and rules on moves, and a **bot**, which
chooses moves. Each writes one file and polls the other's. Here we are the host; in ``files_host``,
the bot. ``docs/engines.md`` says which lines there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import shlex
from collections import deque
from pathlib import Path

from bot.player import Budget, Choice, Observed, Result, View
from bot.registry import SeatError, SeatSpec
from bot.seat.offers import Declined
from engine.notation.move_text import NotationError
from harness.writing import append_line, whole_lines

from .engine import Context, Engine, check_beginning

HOST_FILE = "host.txt"
BOT_FILE = "bot.txt"

POLL_S = 0.02
TAIL_BYTES = 1 << 16
KEPT_LINES = 30
NO_MOVE = "this is no move on this board"

_AT_ONCE = os.O_NONBLOCK
"""For named pipes, which don't work here: opening one would block the whole host."""


class FileExchange:
    """One side of a folder: appends lines to its file ``out``, and polls the other side's, ``in_``.

    ValueError if these are not two file names.
    """

    def __init__(self, folder: Path, out: str, in_: str) -> None:
        for name in (out, in_):
            if name != Path(name).name or name in ("", ".", "..") or not name.isprintable():
                raise ValueError(f"{name!r} is no name of a file in {folder}")
        if out == in_:
            raise ValueError(f"both sides would write {out}; out and in are two files")
        self.out, self.in_ = folder / out, folder / in_
        self._file = -1
        self._content = b""

    def open(self) -> None:
        """Open the file for writing; raise BlockingIOError if another game uses it."""
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.out, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _AT_ONCE, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise
        self._content = b""

    def write_line(self, text: str) -> None:
        """Append a line, which the other side sees whole or not at all."""
        append_line(self._file, f"{text}\n".encode(), self.out)

    def look(self) -> bool:
        """Check whether the other side's lines have changed since the last look."""
        before, content = self._content, b""
        with contextlib.suppress(FileNotFoundError), open(self.in_, "rb", opener=_opened) as file:
            cut = max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES)
            file.seek(cut)
            whole = whole_lines(file.read(TAIL_BYTES))
            content = whole.partition(b"\n")[2] if cut else whole
        self._content = content
        return content != before

    @property
    def lines(self) -> list[str]:
        """The other side's lines at the last look, stripped."""
        lines = self._content.decode(errors="replace").split("\n")
        return [line.strip("\ufeff \t\r") for line in lines]

    def close(self) -> None:
        """Close the file; may be repeated."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | _AT_ONCE)


class FilesEngine(Engine):
    """A bot at the other end of a folder, in one game."""

    def __init__(self, spec: SeatSpec, context: Context) -> None:
        options = dict(spec.options)
        unknown = sorted(options.keys() - {"out", "in", "name"})
        if unknown:
            raise SeatError(f"{spec.text!r}: no option {unknown[0]!r}; it takes out, in, name")
        folder, *more = shlex.split(spec.target)
        if more:
            raise SeatError(f"{spec.text!r} names one folder; quote it if it has blanks")
        try:
            out, in_ = options.get("out", HOST_FILE), options.get("in", BOT_FILE)
            self._exchange = FileExchange(Path(folder), out, in_)
        except ValueError as error:
            raise SeatError(f"{spec.text!r}: {error}") from None
        self._name = context.name
        self._game = ""
        self._number = 0
        self._sent_plays = 0
        self._asked = -1
        self._unreadable = False
        self._is_rack_sent = self._catching_up = False
        self._scores = 0, 0
        self._recent: deque[str] = deque(maxlen=KEPT_LINES)

    async def start(self, view: View) -> None:
        """Offer the game, and wait until the other side is ready."""
        check_beginning(self._name, view)
        if view.rules.challenge != "void":
            raise Declined(
                "unsupported_rules",
                f"{self._name} plays by files, which know no challenges: use the void rule",
            )
        try:
            self._exchange.open()
        except BlockingIOError:
            raise Declined("busy", f"another game is played through {self._exchange.out}") from None
        self._game = secrets.token_hex(4)
        self._exchange.write_line("")  # ends a line left unfinished by a killed host
        seat = ("first", "second")[view.seat]
        number = self._write_turn(f"game {seat} {view.time.initial_ms} {view.lexicon.name}")
        answer = await self._answer_to(number)
        if answer.partition(" ")[0] != "ready":
            raise Declined("unsupported_rules", f"{self._name} says: {answer[:200]}")

    async def choose(self, view: View, budget: Budget) -> Choice | str:
        """Ask for a move and wait for it, however long."""
        self._catching_up = False
        self._write_view(view)
        if self._asked == len(view.history):
            readable = view.refused and not self._unreadable
            self._write_turn(f"refused {view.refused[-1].message if readable else NO_MOVE}")
        self._asked = len(view.history)
        own, other = view.clocks[view.seat], view.clocks[view.opponent]
        text = await self._answer_to(self._write_turn(f"move {own} {other}"))
        try:
            move = view.move(text)
        except NotationError:
            self._unreadable = True
            return text
        self._unreadable = False
        return Choice(move)

    def new_game(self, view: View) -> None:
        """Note whether the game is resumed: then its turns are told with the next request."""
        self._catching_up = not view.rack

    def observe(self, view: View, play: Observed) -> None:
        """Write the turn."""
        if not self._catching_up:
            self._write_view(view)

    def game_over(self, view: View, result: Result) -> None:
        """Write how the game ended."""
        self._end(view.seat, result.outcome, result.scores, result.message)

    async def close(self) -> None:
        """Write that the host leaves, if the game is on; the files stay, as the record."""
        self._end(0, "unfinished", self._scores, "the host leaves the game")
        self._exchange.close()

    def evidence(self) -> str:
        """Return the last lines of this game, both ways, and the end of the other side's file."""
        end = self._exchange.lines[-KEPT_LINES:]
        return "\n".join((*self._recent, f"the end of {self._exchange.in_}:", *end))

    # --- lines ------------------------------------------------------------------------------------

    def _write_turn(self, what: str) -> int:
        """Append a line to the game; return its number."""
        number, line = self._number, f"{self._game} {self._number} {' '.join(what.split())}"
        self._number += 1
        self._recent.append(f"> {line}")
        self._exchange.write_line(line)
        return number

    async def _answer_to(self, number: int) -> str:
        while True:
            self._exchange.look()
            for line in self._exchange.lines:
                match line.split(maxsplit=2):
                    case [game, to, *rest] if (game, to) == (self._game, str(number)):
                        answer = rest[0] if rest else ""
                        self._recent.append(f"< {game} {number} {answer}")
                        return answer
            await asyncio.sleep(POLL_S)  # even if the file has changed: it may do so without end

    def _write_view(self, view: View) -> None:
        news = view.history[self._sent_plays :]
        self._sent_plays = len(view.history)
        moved = any(play.seat == view.seat for play in news)
        if not moved:
            self._write_rack(view)
        for play in news:
            self._scores = play.scores[view.seat], play.scores[view.opponent]
            who = "you" if play.seat == view.seat else "opponent"
            self._write_turn(f"{who} {play.score} {play.scores[play.seat]} {view.text(play.move)}")
        if moved:
            self._is_rack_sent = False
            self._write_rack(view)

    def _write_rack(self, view: View) -> None:
        if not self._is_rack_sent:
            self._is_rack_sent = True
            self._write_turn(f"rack {view.text(view.rack)}")

    def _end(self, seat: int, how: str, scores: tuple[int, int], text: str) -> None:
        if self._game:
            with contextlib.suppress(OSError):  # the disk is full, and nobody waits for this
                self._write_turn(f"over {how} {scores[seat]} {scores[1 - seat]} {text}")
            self._game = ""
