"""What hosts of others may write into the files: it is told to a bot of ours, or refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.seats.engines.files import FileExchange as Files
from harness.seats.engines.files_host import FilesHost
from lexicons.store import load_lexicon
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    GameOver,
    Message,
    Move,
    NewGame,
    Ready,
    Refused,
    YourTurn,
)


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
