"""GCG: a game as text, pragmas (``#title …``) and events (``>nick: RACK what +score total``).

* a play ``8D WO.Ds``; tiles played through are ``.``, ``(A)`` or the letter itself;
* an exchange ``-ABC``, or ``-5`` where only the number is known; a pass ``-``;
* a phony taken back ``--``, with its score as a loss;
* ``(challenge)``, points for a play that was challenged without success;
* ``(G)`` with a gain: the tiles the opponent was left with, when the nick went out;
* ``(RACK)`` with a loss: the nick's own tiles, when the game ended on scoreless turns;
* ``(time)``, points lost on the clock, before or after the lines for racks.

The rack and the ``+`` may be missing; fields are separated by spaces or tabs. The words
that a play made may follow its total, as Quackle once wrote them (``+26 66  BE, ET, DO``); they are
ignored, since the play tells them.

``#opening`` has the position that the game began in, as CGP, unless the board was empty; its player
on turn is the player of the first turn. It is our own pragma: other readers do not know it.

Lines end in LF, CRLF or CR. ``#note`` and ``#description`` continue over the lines that begin with
neither ``#`` nor ``>``. Unknown pragmas are kept where they stood. Bytes are UTF-8 after its byte
order mark, else what ``#character-encoding`` says (UTF-8, ASCII, ISO-8859-1 or Windows-1252), else
ISO-8859-1.

A replay takes two players only. Refused, with the line and the reason: an event of a nick that no
``#playerN`` before it names, scores that aren't whole numbers, an event without a total, a second
title, and text that belongs to nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum

from lexicons.text import shown

from .move_text import NotationError, parse_square

_ENCODINGS = ("utf-8", "ascii", "iso8859-1", "cp1252")  # as Python's codecs call them
_DECLARED = re.compile(rb"(?:^|[\r\n])#character-encoding[ \t]+(\S+)", re.IGNORECASE)
_PRAGMA = re.compile(r"#(\S*)(?:\s(.*))?", re.DOTALL)
_NUMBERED = re.compile(r"(player|rack)([1-9])")
_EVENT = re.compile(r">([^\s:]+):(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_MADE = re.compile(r"[^\W\d_]{2,},?")  # a word after the total
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines would also split at Latin-1's 0x85


class GcgError(NotationError):
    """A GCG that cannot be read or does not add up; ``line`` counts from 1, 0 where unknown."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line = line
        self.reason = reason


class EventKind(Enum):
    """The kind of a line of the game."""

    PLAY = "play"
    EXCHANGE = "exchange"
    PASS = "pass"
    WITHDRAWN = "withdrawn"
    CHALLENGE = "challenge"
    RACK_LEFT = "rack left"
    RACK_LOST = "rack lost"
    TIME = "time"

    @property
    def is_turn(self) -> bool:
        """Whether a player made a move."""
        return self in (EventKind.PLAY, EventKind.EXCHANGE, EventKind.PASS)

    @property
    def is_end(self) -> bool:
        """Whether the event settles racks or times after the end of the game."""
        return self in (EventKind.RACK_LEFT, EventKind.RACK_LOST, EventKind.TIME)


@dataclass(frozen=True, slots=True)
class GcgPlayer:
    """A player: the nick that its events have, its name, and its rack where the file ends."""

    nick: str
    name: str = ""
    rack: str = ""
    line: int = field(default=0, compare=False)
    rack_line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GcgEvent:
    """One line of the game, as text.

    ``detail`` is the square and word of a play (``8D WO.Ds``), the tiles or the number exchanged
    (``ABC``, ``5``), the tiles of a rack left or lost, and empty for the rest. ``score`` is the
    change, ``total`` the nick's score after it.
    """

    kind: EventKind
    nick: str
    rack: str
    detail: str
    score: int
    total: int
    note: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GcgPragma:
    """An unknown pragma: its text after ``#``, and the number of events before it."""

    text: str
    after: int = 0


@dataclass(frozen=True, slots=True)
class GcgGame:
    """A game as a GCG tells it.

    ``note`` stands before the first event. ``incomplete`` is None unless the file says that the
    game goes on; then it is the text of that pragma, usually empty.
    """

    players: tuple[GcgPlayer, ...]
    events: tuple[GcgEvent, ...] = ()
    title: str = ""
    description: str = ""
    id: str = ""
    lexicon: str = ""
    opening: str = ""
    note: str = ""
    incomplete: str | None = None
    pragmas: tuple[GcgPragma, ...] = ()


def read_gcg(data: bytes | str) -> GcgGame:
    """Read a game from a file's bytes, or from decoded text.

    Raises:
        GcgError: names the line and what is wrong with it.
    """
    reader = _Reader()
    text = data if isinstance(data, str) else _decode(data)
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), start=1):
        reader.read(number, line)
    return reader.game()


def write_gcg(game: GcgGame) -> str:
    """Write a game as text, to be stored as UTF-8, as its first line says.

    Raises:
        NotationError: a nick that is not one word, or a text with a line end where there can't be
            one, as in a title.
    """
    lines = ["#character-encoding UTF-8"]
    for number, player in enumerate(game.players, start=1):
        if not re.fullmatch(r"[^\s:]+", player.nick):
            raise NotationError(f"nick {shown(player.nick)} is not one word without a colon")
        lines.append(f"#player{number} {player.nick} {player.name}".rstrip())
    for name in ("title", "id", "lexicon", "opening"):
        if value := getattr(game, name):
            lines.append(f"#{name} {value}")
    if game.description:
        lines += _text_lines("description", game.description)
    lines += _unknown(game, 0)
    if game.note:
        lines += _text_lines("note", game.note)
    for number, event in enumerate(game.events, start=1):
        lines.append(_event_text(event))
        if event.note:
            lines += _text_lines("note", event.note)
        lines += _unknown(game, number)
    for number, player in enumerate(game.players, start=1):
        if player.rack:
            lines.append(f"#rack{number} {player.rack}")
    if game.incomplete is not None:
        lines.append(f"#incomplete {game.incomplete}".rstrip())
    for line in lines:
        if _LINE_END.search(line):
            raise NotationError(f"{shown(line)} has a line end; a GCG line cannot")
    return "\n".join(lines) + "\n"


class _Reader:
    def __init__(self) -> None:
        self._single: dict[str, str] = {}  # title, id, lexicon, opening, incomplete
        self._players: dict[int, GcgPlayer] = {}
        self._racks: dict[int, tuple[int, str]] = {}
        self._events: list[GcgEvent] = []
        self._pragmas: list[GcgPragma] = []
        self._description: list[str] = []
        self._notes: list[list[str]] = [[]]  # before the first event, then after each
        self._open: list[str] | None = None  # the text that a bare line continues
        self._blank = 0  # blank lines that belong to it if it goes on

    def read(self, number: int, line: str) -> None:
        if not line.strip("\x1a \t"):  # DOS editors end a file with 0x1a
            self._blank += 1
            return
        if line.startswith("#"):
            self._pragma(number, line)
        elif line.startswith(">"):
            self._events.append(self._event(number, line))
            self._notes.append([])
            self._open = None
        elif self._open is None:
            raise GcgError(number, f"{shown(line)} begins with neither '#' nor '>'")
        else:
            self._open += [""] * self._blank + [line]
        self._blank = 0

    def game(self) -> GcgGame:
        for number, (line, text) in self._racks.items():
            if number not in self._players:
                raise GcgError(line, f"#rack{number} without a #player{number}")
            self._players[number] = replace(self._players[number], rack=text, rack_line=line)
        if sorted(self._players) != list(range(1, len(self._players) + 1)) or not self._players:
            raise GcgError(0, "players are named by #player1, #player2 and so on, none left out")
        return GcgGame(
            players=tuple(player for _, player in sorted(self._players.items())),
            events=tuple(
                replace(event, note="\n".join(note))
                for event, note in zip(self._events, self._notes[1:], strict=True)
            ),
            description="\n".join(self._description),
            note="\n".join(self._notes[0]),
            pragmas=tuple(self._pragmas),
            **self._single,
        )

    def _pragma(self, number: int, line: str) -> None:
        match = _PRAGMA.fullmatch(line)
        name, text = (match[1].lower(), match[2] or "") if match else ("", "")
        self._open = None
        if name in ("note", "description"):
            self._open = self._notes[-1] if name == "note" else self._description
            self._open.append(text)
        elif name in ("title", "id", "lexicon", "opening", "incomplete"):
            if name in self._single:
                raise GcgError(number, f"a second #{name}; a file holds one game")
            self._single[name] = text.strip()
        elif numbered := _NUMBERED.fullmatch(name):
            what, seat = numbered[1], int(numbered[2])
            if seat in (self._players if what == "player" else self._racks):
                raise GcgError(number, f"a second #{name}; a file holds one game")
            if what == "rack":
                self._racks[seat] = (number, text.strip())
                return
            nick, called = (*text.split(maxsplit=1), "", "")[:2]
            if not nick or ":" in nick:
                raise GcgError(number, f"#{name} needs a nick: one word without a colon")
            if any(nick == player.nick for player in self._players.values()):
                raise GcgError(number, f"two players with the nick {shown(nick)}")
            self._players[seat] = GcgPlayer(nick, called.strip(), line=number)
        elif name != "character-encoding":
            self._pragmas.append(GcgPragma(line[1:], len(self._events)))

    def _event(self, number: int, line: str) -> GcgEvent:
        match = _EVENT.fullmatch(line)
        if match is None:
            raise GcgError(number, f"{shown(line)} does not begin with '>nick:'")
        nick, fields = match[1], match[2].split()
        if all(nick != player.nick for player in self._players.values()):
            raise GcgError(number, f"no #player line before it names {shown(nick)}")
        # Leave out the words that a play made, if they follow its total.
        end = len(fields)
        while end and _MADE.fullmatch(fields[end - 1]):
            end -= 1
        if end > 3 and _is_square(fields[end - 4]) and _NUMBER.fullmatch(fields[end - 2]):
            fields = fields[:end]
        if len(fields) < 3:
            said = shown(" ".join(fields))
            raise GcgError(number, f"{said} is less than an event: a move, a score and a total")
        for name, text in zip(("score", "total"), fields[-2:], strict=True):
            if not _NUMBER.fullmatch(text):
                raise GcgError(
                    number, f"the {name} is a whole number such as +12; {shown(text)} is not"
                )
        score, total = int(fields[-2]), int(fields[-1])
        kind, rack, detail = _read_move(number, fields[:-2], score)
        if len(rack) > 1:
            raise GcgError(number, f"{shown(' '.join(rack))} is more than a rack; it has no spaces")
        return GcgEvent(kind, nick, "".join(rack), detail, score, total, line=number)


def _read_move(line: int, fields: list[str], score: int) -> tuple[EventKind, list[str], str]:
    *before, last = fields
    if before and _is_square(before[-1]):
        return EventKind.PLAY, before[:-1], f"{before[-1]} {last}"
    if last in ("-", "--"):
        return EventKind.PASS if last == "-" else EventKind.WITHDRAWN, before, ""
    if last.startswith("-"):
        return EventKind.EXCHANGE, before, last[1:]
    if len(last) > 2 and last[0] == "(" and last[-1] == ")":
        inner = last[1:-1]
        is_rack = inner == "TIME" and score > 0  # time is never a gain
        if inner.lower() in ("time", "challenge") and not is_rack:
            return EventKind(inner.lower()), before, ""
        if score < 0 or (score == 0 and before):
            return EventKind.RACK_LOST, before, inner
        return EventKind.RACK_LEFT, before, inner
    raise GcgError(
        line,
        f"{shown(' '.join(fields))} has no move: '8D WORD', '-ABC', '-', '--', '(time)', "
        "'(challenge)' or '(RACK)' is missing",
    )


def _is_square(text: str) -> bool:
    try:
        parse_square(text)
    except NotationError:
        return False
    return True


def _decode(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise GcgError(1, "the file is UTF-16; a GCG is UTF-8 or ISO-8859-1")
    encoding = "iso8859-1"
    if data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8"
    elif match := _DECLARED.search(data):
        name, encoding = match[1].decode("iso8859-1"), ""
        with suppress(LookupError, ValueError):
            encoding = codecs.lookup(name).name
        if encoding not in _ENCODINGS:
            line = _line_of(data, match.start(1))
            raise GcgError(line, f"encoding {shown(name)}; a GCG is UTF-8 or ISO-8859-1")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise GcgError(
            _line_of(data, error.start),
            f"byte 0x{data[error.start]:02x} does not fit the file's encoding, {encoding}",
        ) from None


def _line_of(data: bytes, at: int) -> int:
    return len(_LINE_END.findall(data[:at].decode("iso8859-1"))) + 1


def _event_text(event: GcgEvent) -> str:
    match event.kind:
        case EventKind.PLAY:
            what = event.detail
        case EventKind.EXCHANGE:
            what = f"-{event.detail}"
        case EventKind.PASS | EventKind.WITHDRAWN:
            what = "-" if event.kind is EventKind.PASS else "--"
        case EventKind.TIME | EventKind.CHALLENGE:
            what = f"({event.kind.value})"
        case EventKind.RACK_LEFT | EventKind.RACK_LOST:
            what = f"({event.detail})"
    fields = [f">{event.nick}:", event.rack, what, f"{event.score:+d}", str(event.total)]
    return " ".join(part for part in fields if part)


def _text_lines(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n")):
        bare = number and line.strip("\x1a \t") and line[0] not in "#>"
        yield line if bare else f"#{name} {line}" if line else f"#{name}"


def _unknown(game: GcgGame, after: int) -> list[str]:
    return [f"#{pragma.text}" for pragma in game.pragmas if pragma.after == after]
