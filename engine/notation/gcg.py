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

People write otherwise. A reader that is given a list of notices takes what can be taken in one way
only, and notes what was wrong and what it took: losses written ``+-10`` or as gains, nicks with
spaces, one nick for both players, no ``#player`` lines, no ``>`` or no colon, ``(time penalty)``,
``pass`` or ``exch ABC``, a word marked as a phony (``WORD*``), words after the total, no total,
UTF-8 that no line declares, text that belongs to nothing, and a last line that is cut off: that is,
without a line end.
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
_EVENT = re.compile(r">([^:]+):(.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_LOSS = re.compile(r"\+-[0-9]{1,9}")  # as Quackle writes a loss
_MADE = re.compile(r"[^\W\d_]{2,},?")  # a word after the total
_MARKED = re.compile(r"(.*[^*#!])[*#!]+")  # a word that annotators call a phony, or a find
_SPELLINGS = (  # what people write for a move that is no play, and how a GCG has it
    (re.compile(r"\(?([Oo]ver ?)?[Tt]ime( [Pp]enalty)?\)?"), "(time)"),
    (re.compile(r"\(?[Cc]hallenged?( [Bb]onus)?\)?"), "(challenge)"),
    (re.compile(r"\(?-?[Pp]ass(es|ed)?\)?|PASS|---"), "-"),
    (re.compile(r"\(?([Pp]hone?y|[Ww]ithdrawn|[Cc]hallenged off)\)?"), "--"),
    (re.compile(r"- (\S+)|\(?[Ee]xch(?:anged?s?)?\.? ([^\s()]+)\)?"), r"-\1\2"),
    (re.compile(r"2 ?[x*×] ?\((\S+)\)|\(2 ?[x*×] ?(\S+)\)"), r"(\1\2)"),
)
_LONGEST, _MOST_NOTICES = 100_000, 500
"""The most characters of a line, and notices of a file; else it is of another program."""
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines would also split at Latin-1's 0x85


class GcgError(NotationError):
    """A GCG that cannot be read or does not add up; ``line`` counts from 1, 0 where unknown."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Notice:
    """Something in a file that was not taken as it is written; ``line`` is 0 for the whole file."""

    line: int
    reason: str
    """What is wrong: the error of a strict reader."""
    taken: str
    """What it was taken for."""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.reason}; {self.taken}"


def tolerate(notices: list[Notice] | None, line: int, reason: str, taken: str) -> None:
    """Note what is wrong and what it is taken for.

    Raises:
        GcgError: ``notices`` is None: the reader is strict.
    """
    if notices is None:
        raise GcgError(line, reason)
    if len(notices) == _MOST_NOTICES:
        raise GcgError(line, f"{reason}, and {_MOST_NOTICES} lines before it are no better")
    notices.append(Notice(line, reason, taken))


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
    def is_rack(self) -> bool:
        """Whether the event settles a rack after the end of the game."""
        return self in (EventKind.RACK_LEFT, EventKind.RACK_LOST)

    @property
    def is_end(self) -> bool:
        """Whether the event settles racks or times after the end of the game."""
        return self.is_rack or self is EventKind.TIME


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


def read_gcg(data: bytes | str, notices: list[Notice] | None = None) -> GcgGame:
    """Read a game from a file's bytes, or from decoded text.

    With a list of ``notices`` read it as people write games, and append what was not taken as it is
    written.

    Raises:
        GcgError: names the line and what is wrong with it.
    """
    reader = _Reader(notices)
    text = data if isinstance(data, str) else _decode(data, notices)
    if notices is not None and "\0" in text:
        raise GcgError(text.count("\n", 0, text.index("\0")) + 1, "byte 0x00: a GCG is text")
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    for number, line in enumerate(lines, start=1):
        reader.read(number, line)
    return reader.game(may_be_cut=lines[-1] != "")


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


def is_undeclared_utf8(data: bytes) -> bool:
    """Check whether bytes are valid UTF-8, and more than ASCII, and nothing in them says so."""
    if data.isascii() or data.startswith(codecs.BOM_UTF8) or _DECLARED.search(data):
        return False
    with suppress(UnicodeDecodeError):
        return bool(data.decode())
    return False


class _Reader:
    def __init__(self, notices: list[Notice] | None) -> None:
        self._notices = notices
        self._cut: GcgError | None = None  # an event that can only stand where the file was cut off
        self._aliases: dict[str, str] = {}  # nicks as events have them, of players of other nicks
        self._single: dict[str, str] = {}  # title, id, lexicon, opening, incomplete
        self._players: dict[int, GcgPlayer] = {}
        self._racks: dict[int, tuple[int, str]] = {}
        self._events: list[GcgEvent] = []
        self._pragmas: list[GcgPragma] = []
        self._description: list[str] = []
        self._notes: list[list[str]] = [[]]  # before the first event, then after each
        self._open: list[str] | None = None  # the text that a bare line continues
        self._blank = 0  # blank lines that belong to it if it goes on
        self._is_shared = False  # one nick for both players
        self._totals: dict[str, int] = {}
        self._without_total: list[int] = []  # their lines

    def read(self, number: int, line: str) -> None:
        if not line.strip("\x1a \t"):  # DOS editors end a file with 0x1a
            self._blank += 1
            return
        if self._notices is not None:
            line = self._begun(number, line)
        if line.startswith("#"):
            self._pragma(number, line)
        elif line.startswith(">"):
            if self._cut:
                raise self._cut
            try:
                self._events.append(self._event(number, line))
                self._notes.append([])
            except GcgError as error:
                if self._notices is None:
                    raise
                self._cut = error
            self._open = None
        elif self._open is None:
            reason = f"{shown(line)} begins with neither '#' nor '>'"
            tolerate(self._notices, number, reason, "it is left out")
        else:
            self._open += [""] * self._blank + [line]
        self._blank = 0

    def game(self, *, may_be_cut: bool) -> GcgGame:
        if self._cut:
            if not self._events or not may_be_cut:
                raise self._cut
            reading = "the game is cut off before it"
            tolerate(self._notices, self._cut.line, self._cut.reason, reading)
        if self._cut or (self._events and self._without_total == [self._events[-1].line]):
            self._single.setdefault("incomplete", "")  # cut off
        for number, (line, text) in self._racks.items():
            if number not in self._players:
                reason = f"#rack{number} without a #player{number}"
                tolerate(self._notices, line, reason, "it is left out")
                continue
            self._players[number] = replace(self._players[number], rack=text, rack_line=line)
        if sorted(self._players) != list(range(1, len(self._players) + 1)) or not self._players:
            reason = "players are named by #player1, #player2 and so on, none left out"
            if self._notices is not None and not (self._players or self._events):
                reason = "this is no GCG: no line begins with '#player1' or '>nick:'"
            raise GcgError(0, reason)
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

    def _begun(self, number: int, line: str) -> str:
        """Return a line with the ``#`` or ``>nick:`` that it lacks or that spaces are before."""
        if len(line) > _LONGEST:
            raise GcgError(number, f"{len(line):,} characters; a line has {_LONGEST:,} at most")
        if self._open is not None and line[0] not in "#>":
            return line  # continues a note
        text, nicks = line.strip(), [player.nick for player in self._players.values()]
        first, _, rest = text.removeprefix(">").strip().partition(" ")
        begun = text if text[0] in "#>" else line
        if text[0] != "#" and text[-1].isdigit() and first.removesuffix(":") in nicks:
            begun = f">{first.removesuffix(':')}: {rest.lstrip(': ')}"
        begun = line if begun.split() == line.split() and line[0] in "#>" else begun
        if begun != line:
            reason = f"{shown(line)} does not begin with '>nick:' or '#'"
            tolerate(self._notices, number, reason, f"it is read as {shown(begun)}")
        return begun

    def _pragma(self, number: int, line: str) -> None:
        match = _PRAGMA.fullmatch(line)
        name, text = (match[1].lower(), match[2] or "") if match else ("", "")
        self._open = None
        if name in ("note", "description"):
            self._open = self._notes[-1] if name == "note" else self._description
            self._open.append(text)
        elif name in ("title", "id", "lexicon", "opening", "incomplete"):
            if name in self._single:
                self._second(number, name)
            self._single.setdefault(name, text.strip())
        elif numbered := _NUMBERED.fullmatch(name):
            what, seat = numbered[1], int(numbered[2])
            if seat in (self._players if what == "player" else self._racks):
                self._second(number, name)
            elif what == "rack":
                self._racks[seat] = (number, text.strip())
            else:
                self._player(number, seat, text)
        elif name != "character-encoding":
            self._pragmas.append(GcgPragma(line[1:], len(self._events)))

    def _second(self, number: int, name: str) -> None:
        reason = f"a second #{name}; a file holds one game"
        tolerate(self._notices, number, reason, "the first counts")

    def _player(self, number: int, seat: int, text: str) -> None:
        nick, called = (*text.split(maxsplit=1), "", "")[:2]
        if not nick or ":" in nick:
            raise GcgError(number, f"#player{seat} needs a nick: one word without a colon")
        if any(nick == player.nick for player in self._players.values()):
            reason, nick = f"two players with the nick {shown(nick)}", f"{nick}_{seat}"
            reading = f"this one is {nick}, and totals and turns tell whose a line is"
            tolerate(self._notices, number, reason, reading)
            self._is_shared = True
        self._players[seat] = GcgPlayer(nick, called.strip(), line=number)

    def _event(self, number: int, line: str) -> GcgEvent:
        match = _EVENT.fullmatch(line)
        if match is None or (self._notices is None and re.search(r"\s", match[1])):
            raise GcgError(number, f"{shown(line)} does not begin with '>nick:'")
        nick, fields = self._nick(number, match[1]), match[2].split()
        # Leave out the words that a play made, if they follow its total.
        end = len(fields)
        while end and _MADE.fullmatch(fields[end - 1]):
            end -= 1
        if end > 3 and _is_square(fields[end - 4]) and _NUMBER.fullmatch(fields[end - 2]):
            fields = fields[:end]
        if self._notices is not None:
            fields = self._as_written(number, nick, fields)
        if len(fields) < 3:
            shown_fields = shown(" ".join(fields))
            raise GcgError(
                number, f"{shown_fields} is less than an event: a move, a score and a total"
            )
        for name, text in zip(("score", "total"), fields[-2:], strict=True):
            if not _NUMBER.fullmatch(text):
                raise GcgError(
                    number, f"the {name} is a whole number such as +12; {shown(text)} is not"
                )
        score, total = int(fields[-2]), int(fields[-1])
        kind, rack, detail = _read_move(number, fields[:-2], score)
        if len(rack) > 1:
            reason = f"{shown(' '.join(rack))} is more than a rack; it has no spaces"
            tolerate(self._notices, number, reason, "it is read without them")
        if self._is_shared:
            nick = self._whose(number, kind, score, total)
        self._totals[nick] = total
        return GcgEvent(kind, nick, "".join(rack), detail, score, total, line=number)

    def _nick(self, number: int, text: str) -> str:
        """Return the nick of the player that an event names."""
        players = self._players.values()
        if any(text == player.nick for player in players):
            return text
        if text not in self._aliases:
            written, reason = text.strip(), f"no #player line before it names {shown(text)}"
            nicks = [
                nick
                for nick, name in ((player.nick, player.name) for player in players)
                if written.casefold()
                in map(str.casefold, (nick, name, name.split(" ")[0], f"{nick} {name}"))
            ]
            free = [seat for seat in (1, 2) if seat not in self._players]
            if len(nicks) != 1 and free and written:
                nicks = [re.sub(r"\s+", "_", written)]
                self._players[free[0]] = GcgPlayer(nicks[0], written, line=number)
            elif len(nicks) != 1:
                raise GcgError(number, reason)
            tolerate(self._notices, number, reason, f"taken as {nicks[0]}")
            self._aliases[text] = nicks[0]
        return self._aliases[text]

    def _as_written(self, number: int, nick: str, fields: list[str]) -> list[str]:
        """Return an event's fields with a score and a total at their end, if that can be told."""
        numbers = [bool(_NUMBER.fullmatch(text) or _LOSS.fullmatch(text)) for text in fields]
        pairs = [
            index for index in range(1, len(fields) - 1) if numbers[index] and numbers[index + 1]
        ]
        if pairs and pairs[-1] < len(fields) - 2:
            words = shown(" ".join(fields[pairs[-1] + 2 :]))
            tolerate(self._notices, number, f"{words} follows the total", "it is left out")
            fields = fields[: pairs[-1] + 2]
        elif not pairs and len(fields) > 1 and numbers[-1] and not self._is_shared:
            total = self._totals.get(nick, 0) + int(fields[-1].removeprefix("+"))
            tolerate(self._notices, number, "there is no total", f"it is {total} by the score")
            fields = [*fields, str(total)]
            self._without_total.append(number)
        for index in (-2, -1):
            if _LOSS.fullmatch(fields[index] if len(fields) > 2 else ""):
                reason = f"{fields[index]} is no whole number"
                tolerate(self._notices, number, reason, f"taken as {fields[index][1:]}")
                fields[index] = fields[index][1:]
        if len(fields) < 3 or not all(map(_NUMBER.fullmatch, fields[-2:])):
            return fields
        move, score, total = fields[:-2], int(fields[-2]), int(fields[-1])
        reading, losing = move, self._totals.get(nick, 0) - score == total and score > 0
        if len(move) > 1 and _is_square(move[-2]):
            if marked := _MARKED.fullmatch(move[-1]):
                reading = [*move[:-1], marked[1]]
        else:
            for index in range(min(len(move), 2)):  # the rack may stand before
                text = " ".join(move[index:])
                for pattern, written in _SPELLINGS:
                    match = pattern.fullmatch(text)
                    is_rack = re.fullmatch(r"\([A-Z?]+\)", text)
                    if match and not is_rack and written != text.lower():
                        reading = [*move[:index], match.expand(written)]
            if losing and re.fullmatch(r"--|\((?!chal).*\)", reading[-1]) and not self._is_shared:
                fields = [*fields[:-2], str(-score), fields[-1]]
                reason = f"{shown(' '.join(move))} scores {score:+d}, and the total falls"
                tolerate(self._notices, number, reason, f"taken as {-score}")
        if reading != move:
            reason = f"{shown(' '.join(move))} is no move of a GCG"
            tolerate(self._notices, number, reason, f"it is read as {' '.join(reading)}")
        return [*reading, *fields[-2:]]

    def _whose(self, line: int, kind: EventKind, score: int, total: int) -> str:
        """Return whose an event is where both players have one nick."""
        nicks = [player.nick for _, player in sorted(self._players.items())]
        fits = [nick for nick in nicks if self._totals.get(nick, 0) + score == total]
        last = self._events[-1].nick if self._events else nicks[-1]
        due = nicks[nicks.index(last) - 1] if kind.is_turn else last
        if due not in fits and len(fits) == 1 and not kind.is_turn:
            return fits[0]
        if due not in fits:
            raise GcgError(line, f"both players are {shown(nicks[0])}, and the totals fit neither")
        return due


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


def _decode(data: bytes, notices: list[Notice] | None) -> str:
    encoding = "iso8859-1"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        reason = "the file is UTF-16; a GCG is UTF-8 or ISO-8859-1"
        tolerate(notices, 1, reason, "it is read as UTF-16")
        return data.decode("utf-16", errors="replace")
    if notices is not None and is_undeclared_utf8(data):
        reason = "no #character-encoding, and the text is valid UTF-8"
        notices.append(Notice(0, reason, "it is read as UTF-8"))
        return data.decode()
    if data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8"
    elif match := _DECLARED.search(data):
        name, encoding = match[1].decode("iso8859-1"), ""
        with suppress(LookupError, ValueError):
            encoding = codecs.lookup(name).name
        if encoding not in _ENCODINGS:
            line = _line_of(data, match.start(1))
            reason = f"encoding {shown(name)}; a GCG is UTF-8 or ISO-8859-1"
            encoding = "iso8859-1"
            tolerate(notices, line, reason, "it is read as ISO-8859-1")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_of(data, error.start)
        reason = f"byte 0x{data[error.start]:02x} does not fit the file's encoding, {encoding}"
        tolerate(notices, line, reason, "the file is read as ISO-8859-1")
        return data.decode("iso8859-1")


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
