"""Games through files: each side as the host and as the bot, and what may lie in the files."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import folder_bot
import pytest
from e2e.processes import COMMAND
from engine_games import engine_seat, play_engine
from search_views import opening, view_at

from bot.player import Budget, Choice
from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from engine.notation.move_text import format_move, parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import PASS, Exchange
from engine.rules.rules import standard_rules
from harness.arbiter.records import Ended
from harness.seats.engines import Context, engine_for
from harness.seats.engines.files import FileExchange as Files
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

LEXICON, RULES = load_lexicon(), standard_rules()
ALPHABET = RULES.distribution.alphabet
VIEW = view_at(opening("AEINRST"))
BOT = Path(folder_bot.__file__)


@contextmanager
def running(*command: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def in_words(path: Path) -> list[list[str]]:
    """Read what a host wrote: the lines of the last game, without its name."""
    lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return [line[1:] for line in lines if line[:1] == lines[-1][:1]] if lines else []


# --- a match of ours, and bots of others ----------------------------------------------------------


async def hosted(folder: Path, manners: tuple[str, str], time: TimeControl) -> tuple[Ended, int]:
    """Host a game between two programs behind files; how it ended, and after how many turns."""
    ann, bob = (
        engine_seat(f"files:{folder}?out=to-{name}&in=from-{name}&name={name}", LEXICON)
        for name in ("ann", "bob")
    )
    with ExitStack() as stack:
        for name, manner in zip(("ann", "bob"), manners, strict=True):
            command = (sys.executable, BOT, folder, f"to-{name}", f"from-{name}", manner)
            stack.enter_context(running(*command))
        book = await play_engine(ann, bob, time, LEXICON, folder)
    assert book.ended is not None
    return book.ended, len(book.turns)


async def test_a_match_host_plays_a_whole_game_with_programs_that_poll(tmp_path: Path) -> None:
    ended, turns = await hosted(tmp_path, ("neat", "messy"), TimeControl())
    assert ended.outcome in ("out", "zeroes"), ended
    assert ended.faults == ()
    for name, seat in (("ann", 0), ("bob", 1)):
        told = in_words(tmp_path / f"to-{name}")
        assert [int(number) for number, *_ in told] == list(range(len(told)))
        what = [line[1] for line in told]
        assert what[:2] == ["game", "rack"]
        assert what.count("you") + what.count("opponent") == turns > 10
        assert what.count("move") == what.count("you") == what.count("rack") - 1
        scores = str(ended.scores[seat]), str(ended.scores[1 - seat])
        assert told[-1][1:] == ["over", ended.outcome, *scores, *ended.message.split()]
        moves = [" ".join(line[4:]) for line in told if line[1] == "opponent"]
        assert not any(move[1:].isalpha() for move in moves), "exchanged tiles are not shown"


async def test_who_says_nothing_loses_on_time(tmp_path: Path) -> None:
    time = TimeControl(initial_ms=100, max_overtime_ms=0)
    ended, _ = await hosted(tmp_path, ("silent", "neat"), time)
    assert (ended.outcome, ended.winner) == ("time", 1)
    assert in_words(tmp_path / "to-ann")[-1][1:3] == ["over", "time"]


# --- a host of others, and a bot of ours ----------------------------------------------------------


class OldHost:
    """A program that deals and keeps score, and has the other seat played through files."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.number = name, 0
        self.out, self.in_ = folder / "host.txt", folder / "bot.txt"
        self.rest = b""

    def say(self, line: str) -> int:
        """Write the rest of the last line, and this one but for its end."""
        content = f"{self.name} {self.number}  {line}\r\n".encode()
        with self.out.open("ab") as file:
            file.write(self.rest + content)
        self.number += 1
        return self.number - 1

    async def answer(self, number: int) -> str:
        while True:
            await asyncio.sleep(0.005)
            for line in self.in_.read_text().splitlines() if self.in_.exists() else ():
                if line.startswith(f"{self.name} {number} "):
                    return line.split(maxsplit=2)[2]

    async def play(self, seat: int) -> Game:
        """Play a game; the bot has the seat, and its first move is sent back."""
        game = Game.start(RULES, Bag.shuffled(RULES.distribution, DrawStream(self.name.encode())))
        seats = ("first", "second")
        offered = self.say(f"game {seats[seat]} 60000 SCOWL")
        assert await self.answer(offered) == "ready"
        self.say(f"rack {ALPHABET.text(game.position.racks[seat])}")
        own: list[list[str]] = []
        refused = ""
        while game.over is None:
            on_turn, board = game.position.on_turn, game.position.board
            if on_turn == seat:
                text = await self.answer(self.say("move 60000 60000"))
                if not refused:
                    refused = text
                    self.say("refused because I say so")
                    continue
            else:
                rack = ALPHABET.text(game.position.racks[on_turn])
                text = folder_bot.move([*own, ["", "", "rack", rack]])
            assert text != refused
            game = game.play(parse_move(text, board, ALPHABET), LEXICON.graph.contains)
            turn = game.turns[-1]
            move = format_move(turn.move, ALPHABET)
            fields = f"{turn.score} {turn.total}"
            own.append(["", "", "you", *fields.split(), *move.split()])
            if on_turn == seat:
                self.say(f"you {fields} {move}")
                self.say(f"rack {ALPHABET.text(game.position.racks[seat])}")
            else:
                shown = f"-{len(move) - 1}" if isinstance(turn.move, Exchange) else move
                self.say(f"opponent {fields} {shown}")
        scores = game.position.scores
        self.say(f"over {game.over.reason} {scores[seat]} {scores[1 - seat]} that was it")
        return game


async def test_a_bot_of_ours_plays_for_a_host_that_polls(tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text("old 0 game first 1000 -\nold 1 over out 3 4\nold 9 move 1")
    (tmp_path / "bot.txt").write_text("old 3 8D LEFT\n")
    command = (*COMMAND, "files", tmp_path, "--bot", "static")
    with running(*command) as bot:
        (tmp_path / "host.txt").write_text("")  # it begins anew
        game = await OldHost(tmp_path, "new").play(1)
        out, _ = bot.communicate(timeout=60)
        assert bot.returncode == 0
    assert game.over is not None
    other, own = game.position.scores
    assert own > other
    assert out == f"{own}–{other}  {game.over.reason}: that was it\n"


# --- what may lie in the files --------------------------------------------------------------------


def last_line(path: Path) -> list[str]:
    return path.read_text().splitlines()[-1].split() if path.exists() else []


async def asked(path: Path, what: str) -> str:
    """Write the host's line; return the line's game and number."""
    await asyncio.sleep(0)
    assert last_line(path)[2] == what
    return " ".join(last_line(path)[:2])


ANSWERS: list[tuple[str, Callable[[str], list[bytes]], object]] = [
    ("an old file", lambda q: [b"0000 2 8D RAIN\n", f"{q} -\n".encode()], PASS),
    ("the first", lambda q: [f"{q} -\n{q} 8D RAIN\n".encode()], PASS),
    (
        "half a line",
        lambda q: [f"{q} 8".encode(), f"{q} 8G TI".encode(), f"{q} -\n".encode()],
        PASS,
    ),
    ("replaced", lambda q: [b"x" * 100_000, f"\ufeff{q}\t-\r\n".encode()], PASS),
    ("long", lambda q: [b"x\n" * 50_000 + f"{q} -\n".encode()], PASS),
    ("another number", lambda q: [f"{q}7 8D RAIN\n{q} -\n".encode()], PASS),
    ("garbage", lambda q: [f"{q} what now?\n".encode()], "what now?"),
    ("no text", lambda q: [f"{q} \xff\xfe\n".encode("latin-1")], "\ufffd\ufffd"),
    ("nothing", lambda q: [f"{q} \n".encode()], ""),
]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """What is set whenever a side has looked at the other's file; it does so all the time."""
    event = asyncio.Event()
    look = Files.look

    def told(files: Files) -> bool:
        event.set()
        return look(files)

    monkeypatch.setattr(Files, "look", told)
    monkeypatch.setattr("harness.seats.engines.files.POLL_S", 0)
    return event


@pytest.mark.parametrize(("contents", "answer"), [one[1:] for one in ANSWERS],
                         ids=[one[0] for one in ANSWERS])  # fmt: skip
async def test_what_counts_as_an_answer(
    tmp_path: Path,
    looked: asyncio.Event,
    contents: Callable[[str], list[bytes]],
    answer: object,
) -> None:
    host, bot = tmp_path / "sub" / "host.txt", tmp_path / "sub" / "bot.txt"
    context = Context("ann", "scowl", LEXICON)
    engine = engine_for(parse_seat(f"files:{tmp_path}/sub"), context)
    starting = asyncio.create_task(engine.start(VIEW))
    bot_says = await asked(host, "game")
    bot.write_text(f"{bot_says} ready\n")
    await starting
    with pytest.raises(Declined, match=r"another game is played through .*host\.txt"):
        await engine_for(parse_seat(f"files:{tmp_path}/sub"), context).start(VIEW)
    choosing = asyncio.create_task(engine.choose(VIEW, Budget(0)))
    for content in contents(await asked(host, "move")):
        assert not choosing.done()
        bot.write_bytes(content)
        looked.clear()
        await looked.wait()
    chosen = await choosing
    assert (chosen.move if isinstance(chosen, Choice) else chosen) == answer
    if isinstance(answer, str):
        assert answer[:20] in engine.evidence()
        again = asyncio.create_task(engine.choose(VIEW, Budget(0)))
        await asked(host, "move")
        assert in_words(host)[-2][1:3] == ["refused", "this"]
        again.cancel()
    await engine.close()
    assert in_words(host)[-1][1:5] == ["over", "unfinished", "0", "0"]


async def test_a_bot_that_never_stops_writing_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True] * 10)
    monkeypatch.setattr(Files, "look", lambda _files: next(looks))
    engine = engine_for(parse_seat(f"files:{tmp_path}"), Context("ann", "scowl", LEXICON))
    starting = asyncio.create_task(engine.start(VIEW))
    await asyncio.sleep(0)
    assert not starting.done()
    assert len(list(looks)) == 9
    starting.cancel()
    await engine.close()


async def test_a_game_that_begins_in_a_position_is_declined(tmp_path: Path) -> None:
    engine = engine_for(parse_seat(f"files:{tmp_path}"), Context("ann", "scowl", LEXICON))
    begun = replace(VIEW, position=replace(VIEW.position, scores=(20, 5)))
    with pytest.raises(Declined, match="ann can only begin on an empty board"):
        await engine.start(begun)
    await engine.close()


async def test_a_bot_that_will_not_play(tmp_path: Path) -> None:
    engine = engine_for(parse_seat(f"files:{tmp_path}"), Context("ann", "scowl", LEXICON))
    starting = asyncio.create_task(engine.start(VIEW))
    (tmp_path / "bot.txt").write_text(f"{await asked(tmp_path / 'host.txt', 'game')} declined by\n")
    with pytest.raises(Declined, match="ann says: declined by"):
        await starting
    await engine.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("?memory=5", "'memory'"),
        ("?out=a&in=a", "both sides would write a"),
        ("?out=../a", "'../a'"),
        ("?out=%00", r"'\\x00' is no name of a file"),
        (" more", "names one folder; quote it"),
    ],
)
def test_seats_that_make_no_sense(tmp_path: Path, options: str, sentence: str) -> None:
    spec = parse_seat(f"files:{tmp_path}{options}")
    with pytest.raises(SeatError, match=sentence):
        engine_for(spec, Context("ann", "scowl", LEXICON))


@pytest.mark.parametrize("room", [20, 10])
def test_a_line_is_written_whole_or_not_at_all(tmp_path: Path, room: int) -> None:
    """Where the disk is full in the middle of it, or before it."""
    files, limits = Files(tmp_path, "a", "b"), resource.getrlimit(resource.RLIMIT_FSIZE)
    files.open()
    files.write_line("x 0 ready")
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError, match="/a'"):
            files.write_line("x 3 8D RAINIEST")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    files.write_line("x 3 -")
    files.close()
    assert (tmp_path / "a").read_text() == "x 0 ready\nx 3 -\n"


async def test_pipes_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for names in ("in=pipe", "out=pipe"):
        spec = parse_seat(f"files:{tmp_path}?{names}")
        engine = engine_for(spec, Context("ann", "scowl", LEXICON))
        with pytest.raises(OSError, match=r"seek|No such device"):
            await engine.start(VIEW)
        await engine.close()
