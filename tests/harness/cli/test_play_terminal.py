"""A person who plays in a terminal: what is typed, and what is shown."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from bot_table import TestArbiter, seated
from command_line import CommandLine
from rich.console import Console
from tables import words

from bot.player import Observed, View
from bot.seat.connection import BotRunner
from bot.seat.player_thread import Bot
from engine.movegen.generator import legal_moves
from engine.notation.move_text import format_full_move
from engine.rules.moves import Place
from engine.rules.rules import standard_rules
from harness.cli.play_terminal import Left, Person, Terminal
from protocol.messages import GameOver, Ping, Pong, Resign, YourTurn


class Sitting:
    """A person at a terminal, whose opponent plays the highest score."""

    def __init__(self, reading: int, writing: int, you: int) -> None:
        self.table = TestArbiter(words(), standard_rules(), you=you)
        self.out = io.StringIO()
        self.person = Person(Terminal(Console(file=self.out, width=80), reading))
        self.runner = BotRunner(Bot("ann", lambda: self.person), self.person.receive)
        self.writing = writing

    def type(self, *lines: str) -> None:
        os.write(self.writing, "".join(f"{line}\n" for line in lines).encode())

    def best_move(self) -> str:
        position = self.table.state.position
        best = legal_moves(position, self.table.lexicon, self.table.rules)[0].move
        return format_full_move(best, position.board, self.table.rules.distribution.alphabet)

    async def end(self) -> str:
        """End the game; return all that was shown."""
        await self.table.end()
        await self.table.channel.send(Ping(id=1))
        await self.table.hear(Pong)
        await self.runner.games.settle(60)
        return self.out.getvalue()


@asynccontextmanager
async def sitting(you: int = 0) -> AsyncIterator[tuple[Sitting, asyncio.Task[str]]]:
    reading, writing = os.pipe()
    at = Sitting(reading, writing, you)
    loop = asyncio.get_running_loop()
    at.person.resign = lambda game: loop.call_soon_threadsafe(at.runner.resign, game)
    async with seated(at.runner, at.table) as talk:
        await at.table.begin()
        yield at, talk
    if at.writing >= 0:
        os.close(at.writing)


async def test_a_whole_game_is_typed() -> None:
    async with sitting(you=1) as (at, _):
        at.type("?", "8D", "exch", "try", "exch Ż", "exch ZZZZZZZ")
        at.type("check qzx", "check cat", "shuffle", "")
        while at.table.state.over is None:
            if at.table.state.position.on_turn == at.table.you:
                at.type(f"try {at.best_move()}", at.best_move())
            await at.table.turn()
        shown = await at.end()
    assert at.table.state.position.scores[1] > 200
    for part in ("'8D' is not a move", "name the tiles", "QZX is not valid", "CAT is valid"):
        assert part in shown
    assert "--rules" not in shown, "no options in a game that is on"
    first = at.table.history[0].score
    assert f"{first:+d}" in shown, "the opponent's first play is listed"
    rack = at.table.state.position.racks[1]
    assert not rack or at.table.rack in shown


async def test_a_game_is_resigned_and_one_ends_while_a_move_is_typed() -> None:
    async with sitting() as (at, _):
        at.type("resign", "n", "Resign", "Y")
        await at.table.say(at.table.question())
        assert (await at.table.hear(Resign)).seq == 1
        assert "(over)" in await at.end()
    async with sitting() as (at, _):
        await at.table.say(at.table.question())
        assert "(over)" in await at.end()


def test_a_yes_may_be_in_upper_case_and_the_last_line_needs_no_newline() -> None:
    reading, writing = os.pipe()
    terminal = Terminal(Console(file=io.StringIO()), reading)
    os.write(writing, b"Y\nyes\nn\n\nshuffle\npass")
    os.close(writing)
    assert [terminal.agrees("again? ") for _ in range(4)] == [True, True, False, False]
    assert [terminal.ask("") for _ in range(3)] == ["shuffle", "pass", None]
    assert not terminal.agrees("again? "), "the end of input"


@pytest.mark.parametrize("last", [(), ("QUIT",)], ids=["end of input", "quit"])
async def test_who_types_no_more_leaves_and_plays_nothing(last: tuple[str, ...]) -> None:
    async with sitting() as (at, talk):
        at.type(*last)
        await at.table.say(at.table.question())
        if not last:
            os.close(at.writing)
            at.writing = -1
        with pytest.raises(Left):
            await talk
    assert not at.table.history


def test_a_terminal_that_hangs_up_is_the_end_of_what_is_typed() -> None:
    person, terminal = os.openpty()
    at = Terminal(Console(file=io.StringIO()), terminal)
    os.write(person, "8D caf\xe9\n".encode("latin-1"))
    assert at.ask("") == "8D caf\N{REPLACEMENT CHARACTER}"
    os.close(person)
    assert at.ask("") is None
    os.close(terminal)


def test_a_person_is_asked_whether_to_challenge() -> None:
    reading, writing = os.pipe()
    out = io.StringIO()
    person = Person(Terminal(Console(file=out, width=80), reading))
    begun = View.from_cgp(f"{'/'.join(['15'] * 15)} AEINRST/ 0/0 0", words())
    person.new_game(begun)
    move = begun.move("8G QXZ")
    assert isinstance(move, Place)
    play = Observed(1, 1, move, 56, (0, 56), 83, 0, words=("QXZ",))
    laid = replace(begun.position, board=begun.position.board.with_move(move), scores=(0, 56))
    view = begun.after(play, laid, begun.clocks)
    asked = YourTurn(
        game="g",
        seq=2,
        position="",
        rack="AEINRST",
        bag=83,
        clocks=begun.clocks,
        deadline_ms=60_000,
        challenge_ms=1_000_000,
    )
    person.receive(asked)
    os.write(writing, b"8D WORDS\ny\n\n")
    assert person.challenge(view, play) == ("QXZ",)
    assert person.challenge(view, play) == (), "Enter accepts"
    shown = out.getvalue()
    assert "challenge QXZ? (y/n, 1000 s)" in shown
    assert "too late" not in shown
    person.receive(msgspec.structs.replace(asked, challenge_ms=-1))
    os.write(writing, b"y\n8D WORDS\n")
    for _ in range(2):  # a move, too, shows that the question was overtaken
        assert person.challenge(view, play) == ()
    assert out.getvalue().count("too late") == 2
    person.receive(
        GameOver(game="g", seq=2, outcome="resign", winner=0, scores=(0, 0), message="over")
    )
    assert person.challenge(view, play) == (), "the game is over"
    os.close(writing)
    with pytest.raises(Left):
        person.challenge(view, play)


def test_a_game_that_is_left_goes_on_at_the_next_start(
    tilewire: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def come(*lines: str, bot: str = "greedy", name: Sequence[str] = ("--name", "ann")) -> str:
        (tmp_path / "typed").write_text("".join(f"{line}\n" for line in lines))
        with (tmp_path / "typed").open() as typed:
            monkeypatch.setattr(sys, "stdin", typed)
            db = ("--db", tmp_path / "play.db")
            assert tilewire("play", bot, "--terminal", *name, *db) == 0
        return tilewire.out

    assert "goes on" in come("quit")
    assert tilewire("games", tmp_path / "play.db", "--out", tmp_path) == 0
    assert "not over" in tilewire.err
    other = tmp_path / "other.txt"
    other.write_text("cat\nact\n")
    chosen = ("--terminal", "--name", "ann", "--db", tmp_path / "play.db", "--lexicon", other)
    assert tilewire("play", *chosen) == 2
    assert "scowl" in tilewire.err
    assert "--db" in tilewire.err
    assert "ann" in come("quit", name=("--name", "ANN")), "capitals don't matter"
    shown = come("resign", "y", bot="club", name=())
    assert "against greedy is open" in tilewire.err
    assert "greedy wins" in shown
    assert shown.count("again, with seats swapped?") == 1, "no other game begins unasked"
    assert re.search(r"game \w+ goes on: .*greedy", tilewire.err)
    assert tilewire("games", tmp_path / "play.db") == 0
    assert tilewire.out.count("resign") == 1
