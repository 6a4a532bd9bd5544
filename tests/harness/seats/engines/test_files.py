"""Games through files: each side as the host and as the bot, and what may lie in the files."""

from __future__ import annotations

import asyncio
import contextlib
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
from engine.rules.moves import PASS
from harness.arbiter.records import Ended
from harness.seats.engines import Context, engine_for
from harness.seats.engines.files import FileExchange as Files
from harness.seats.engines.files_host import FilesHost
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import Decline, GameOver, Message, Move, NewGame, Ready, Refused, YourTurn
from protocol.parts import TimeControl

LEXICON = load_lexicon()
VIEW = view_at(opening("AEINRST"))
BOT = Path(folder_bot.__file__)
NAMES = "ann", "bob"


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


# --- whole games ----------------------------------------------------------------------------------


async def hosted(folder: Path, manners: tuple[str, str], time: TimeControl) -> Ended:
    """Host a game between programs behind files, each in a folder of its own; give its end.

    A program's manners are those of ``folder_bot.py``, or it is ``ours``, which has to end well.
    """
    ann, bob = (engine_seat(f"files:{folder}/{name}?name={name}", LEXICON) for name in NAMES)
    with ExitStack() as stack:
        for name, manner in zip(NAMES, manners, strict=True):
            (folder / name).mkdir()
            theirs = sys.executable, BOT, folder / name, "host.txt", "bot.txt", manner
            ours = (*COMMAND, "files", folder / name, "--bot", "static")
            process = stack.enter_context(running(*(ours if manner == "ours" else theirs)))
        book = await play_engine(ann, bob, time, LEXICON, folder)
        assert book.ended is not None
        if manners[-1] == "ours":
            other, own = book.ended.scores
            out, _ = await asyncio.to_thread(process.communicate, timeout=60)
            assert (process.returncode, out.split()[0]) == (0, f"{own}–{other}")
    return book.ended


@pytest.mark.parametrize("manners", [("neat", "messy"), ("neat", "ours")])
async def test_a_match_plays_a_whole_game_with_programs_that_poll(
    tmp_path: Path, manners: tuple[str, str]
) -> None:
    ended = await hosted(tmp_path, manners, TimeControl())
    assert (ended.outcome in ("out", "zeroes"), ended.faults) == (True, ()), ended
    for name, seat in (("ann", 0), ("bob", 1)):
        told = in_words(tmp_path / name / "host.txt")
        assert [int(number) for number, *_ in told] == list(range(len(told)))
        what = [line[1] for line in told]
        assert what[:2] == ["game", "rack"]
        assert what.count("you") + what.count("opponent") > 10
        assert what.count("move") == what.count("you") == what.count("rack") - 1
        scores = str(ended.scores[seat]), str(ended.scores[1 - seat])
        assert told[-1][1:] == ["over", ended.outcome, *scores, *ended.message.split()]
        moves = [" ".join(line[4:]) for line in told if line[1] == "opponent"]
        assert not any(move[1:].isalpha() for move in moves), "exchanged tiles are not shown"


async def test_who_says_nothing_loses_on_time(tmp_path: Path) -> None:
    time = TimeControl(initial_ms=100, max_overtime_ms=0)
    ended = await hosted(tmp_path, ("silent", "neat"), time)
    assert (ended.outcome, ended.winner) == ("time", 1)
    assert in_words(tmp_path / "ann" / "host.txt")[-1][1:3] == ["over", "time"]


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


async def test_what_is_not_played(tmp_path: Path) -> None:
    engine = engine_for(parse_seat(f"files:{tmp_path}"), Context("ann", "scowl", LEXICON))
    begun = replace(VIEW, position=replace(VIEW.position, scores=(20, 5)))
    with pytest.raises(Declined, match="ann can only begin on an empty board"):
        await engine.start(begun)
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


# --- what hosts of others may write ---------------------------------------------------------------


async def hear(host: FilesHost, answer: Callable[[str], Message]) -> list[Message]:
    """Let a bot hear what a host wrote; it answers the offer, and passes when it is asked."""
    messages: list[Message] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            while True:
                message = (await host.receive()).content
                assert not isinstance(message, PeerError)
                messages.append(message)
                match message:
                    case NewGame(game=game):
                        await host.send(answer(game))
                    case YourTurn(game=game, seq=seq, attempt=attempt):
                        await host.send(Move(game=game, seq=seq, attempt=attempt, move="-"))
    return messages


def ready(game: str) -> Ready:
    return Ready(game=game)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FilesHost]:
    files = Files(tmp_path, "bot.txt", "host.txt")
    files.open()
    yield FilesHost(files, load_lexicon(), games=2)
    files.close()


MIDGAME = (
    *("a 0 game first 9000 -", "a 1 rack ABCDEFG", "a 2 move 9000 9000"),
    *("b 0 game second 9000 scowl", "b 1 rack ABCDEF?", "b 2 opponent 4 4 8G AT"),
    *("b 3 move 9000 8000", "b 4 you 6 6 G8 .D", "noise", "b 5 rack ABCEFG?"),
    *("b 6 opponent 0 4 -3", "b 7 move 8500 7500"),
)


def write(folder: Path, *lines: str) -> None:
    with (folder / "host.txt").open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


async def test_a_bot_that_comes_in_mid_game_is_told_all_of_it(
    host: FilesHost, tmp_path: Path
) -> None:
    write(tmp_path, *MIDGAME)
    messages = await hear(host, ready)
    names = [type(one).__name__ for one in messages]
    assert names == ["NewGame", "Started", "Played", "Played", "Played", "YourTurn"]
    turn = messages[-1]
    assert isinstance(turn, YourTurn)
    assert (turn.rack, turn.bag, turn.clocks) == ("?ABCEFG", 83, (7_500, 8_500))
    assert " ?ABCEFG/ 6/4 1" in turn.position
    assert (tmp_path / "bot.txt").read_text() == "b 0 ready\nb 7 -\n"
    write(tmp_path, "b 8 over out 6 -2 he left", "c 0 game first 10 -", "c 1 over out 0 0")
    over, *more = await hear(host, ready)
    assert isinstance(over, GameOver)
    assert (over.scores, over.winner, over.message, more) == ((-2, 6), 1, "he left", [])
    write(tmp_path, "d 0 game first 10 -", "d 1 rack ABC", "e 0 game first 10 -")
    (offer,) = await hear(host, ready)
    assert isinstance(offer, NewGame)
    assert (offer.game, offer.you) == ("e", 0)


async def test_a_move_that_is_refused_is_chosen_anew(host: FilesHost, tmp_path: Path) -> None:
    write(tmp_path, *MIDGAME)
    await hear(host, ready)
    write(tmp_path, "b 8 refused because I say so", "b 9 move 8000 7000")
    (refused,) = await hear(host, ready)
    assert isinstance(refused, Refused)
    assert (refused.attempt, refused.message) == (1, "because I say so")
    await host.send(Move(game="b", seq=refused.seq, attempt=2, move="-A"))
    assert (tmp_path / "bot.txt").read_text().endswith("b 7 -\nb 9 -A\n")


async def test_a_game_is_over_once(host: FilesHost, tmp_path: Path) -> None:
    write(tmp_path, *MIDGAME)
    await hear(host, ready)
    write(tmp_path, "b 8 over out 6 4 that was it", "b 9 over out 6 4 that was it")
    assert [type(one) for one in await hear(host, ready)] == [GameOver]
    assert host.games == 1


async def test_a_bot_says_why_it_will_not_play(host: FilesHost, tmp_path: Path) -> None:
    write(tmp_path, *MIDGAME)
    await hear(host, lambda game: Decline(game=game, code="x", message="no\ntime"))
    write(tmp_path, "c 0 game first 9000 TWL06")
    assert await hear(host, ready) == []
    assert (tmp_path / "bot.txt").read_text().splitlines() == [
        "b 0 declined no time",
        "c 0 declined the lexicon TWL06 is not here, scowl is",
    ]


async def test_a_host_that_never_stops_writing_keeps_nobody_waiting(
    host: FilesHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True] * 10)
    monkeypatch.setattr(Files, "look", lambda _files: next(looks))
    waiting = asyncio.create_task(host.receive())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert len(list(looks)) == 9
    waiting.cancel()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("b 8 move soon", "none of rack, opponent"),
        ("b 8 opponent 5 9 8D WORDS", "8G holds A"),
        ("b 8 rack A1", "'1' at character 2"),
        ("b 8 you 5 9 8Z AT", "off the board"),
        ("b 8 opponent ten 4 -", "invalid literal"),
        ("c 0 game 1 -", "offers no game"),
    ],
)
async def test_what_a_host_writes_that_makes_no_sense(
    host: FilesHost, tmp_path: Path, line: str, sentence: str
) -> None:
    write(tmp_path, *MIDGAME, line)
    with pytest.raises(ChannelClosed, match=rf"host\.txt: .*{sentence}"):
        await hear(host, ready)
