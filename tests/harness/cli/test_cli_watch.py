"""``tilewire watch`` against a server that plays from a script."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pytest
from command_line import CommandLine
from msgspec.structs import replace
from rich.console import Console
from scripted import Scripted

from harness.cli import watch as watching
from harness.cli.watch import Followed, drawing, result
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Error,
    GameList,
    GameOver,
    Games,
    Hello,
    Message,
    NewGame,
    Ping,
    Played,
    Pong,
    StandingList,
    Standings,
    Started,
    Watch,
    Welcome,
)
from protocol.parts import ListedGame, RulesInPlay

GAME = "0123456789abcdef"
PLAYERS = ("static", "greedy")
CLOCKS = (1_500_000, 1_500_000)


def play(seq: int, move: str, score: int, scores: tuple[int, int], left: int) -> Played:
    seat = (seq - 1) % 2
    clocks = (left, CLOCKS[1]) if seat == 0 else (CLOCKS[0], left)
    return Played(
        game=GAME,
        seq=seq,
        seat=seat,
        move=move,
        score=score,
        scores=scores,
        bag=86 - 2 * seq,
        clocks=clocks,
    )


OFFER = NewGame(game=GAME, seq=0, players=PLAYERS, you=None, lexicon="scowl")
STARTED = Started(game=GAME, seq=0, bag=86, clocks=CLOCKS)
PLAYS = (
    play(1, "8D WORDS", 26, (26, 0), 1_451_000),
    play(2, "-3", 0, (26, 0), 3_723_999),
    play(3, "H8 .eA", 2, (28, 0), -1),
    play(4, "-", 0, (28, 0), 60_000),
)
OVER = GameOver(
    game=GAME,
    seq=5,
    outcome="zeroes",
    winner=0,
    scores=(20, -9),
    message="nobody scored any more",
    racks=("AEI", "QZ"),
)
LINES = [
    "  1  static  8D WORDS               +26    26 : 0       24:11",
    "  2  greedy  exchanges 3             +0    26 : 0     1:02:03",
    "  3  static  H8 (S)eA                +2    28 : 0       −0:01",
    "  4  greedy  pass                    +0    28 : 0        1:00",
]
HEADING = f"{GAME}: static – greedy, 25:00 each, lexicon scowl"
RESULT = "static wins, 20 to -9 (nobody scored any more)"


def resumed(plays: int) -> NewGame:
    return replace(OFFER, seq=plays + 1, clocks=CLOCKS, history=PLAYS[:plays])


@dataclass
class Script:
    """What a server sends on each connection once it is asked for the game.

    ``connections``: a list of messages for each connection, which is then closed; a connection
    beyond them is turned away.
    """

    connections: list[list[Message]]
    games: tuple[ListedGame, ...] = ()
    empty: int = 0
    """How often none of them is on before."""
    event: StandingList | None = None
    """How its tournament stands, if it has one."""
    lost: int = 0
    """How many connections are closed at the question which games are on."""
    heard: list[list[Message | PeerError]] = field(default_factory=list)

    async def __call__(self, channel: Channel, _request: object) -> None:
        number = len(self.heard)
        self.heard.append([])
        while True:
            message = (await channel.receive()).content
            self.heard[number].append(message)
            match message:
                case Hello() if number >= len(self.connections):
                    await channel.send(Error(code="busy", message="no room", retry="later"))
                    return
                case Hello():
                    await channel.send(Welcome(name="scripted"))
                case Games() if number < self.lost:
                    return
                case Games():
                    await channel.send(Ping(id=7))
                    await channel.send(GameList(games=() if self.empty else self.games))
                    self.empty = max(0, self.empty - 1)
                case Standings():
                    none = Error(code="no_tournament", message="none is played")
                    await channel.send(self.event or none)
                case Ping(id=asked):
                    await channel.send(Pong(id=asked))
                case Watch():
                    for answer in self.connections[number]:
                        await channel.send(answer)
                    if isinstance(self.connections[number][-1], GameOver | Error):
                        continue  # it is for the spectator to go
                    return


@pytest.fixture
def tilewire(tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setattr(watching, "WAITS_S", (0.0, 0.0))
    monkeypatch.setattr(watching, "ASK_AGAIN_S", 0.0)
    return tilewire


def listed(game: str = GAME, turns: int = 3) -> ListedGame:
    return ListedGame(game=game, players=PLAYERS, scores=(28, 0), turns=turns)


def test_a_game_from_beginning_to_end(tilewire: CommandLine) -> None:
    script = Script([[OFFER, STARTED, *PLAYS, OVER]])
    with Scripted(script) as url:
        assert tilewire("watch", url, GAME) == 0
    assert tilewire.out.splitlines() == [HEADING, *LINES, RESULT]
    assert tilewire.err == ""
    hello, asked = script.heard[0]
    assert isinstance(hello, Hello)
    assert hello.role == "spectator"
    assert asked == Watch(game=GAME)


@pytest.mark.parametrize(
    ("empty", "lost"), [(0, 0), (3, 0), (0, 2)], ids=["on", "not yet", "connection lost"]
)
def test_the_only_game_need_not_be_named(tilewire: CommandLine, empty: int, lost: int) -> None:
    answers: list[list[Message]] = [*([] for _ in range(lost)), [resumed(3), PLAYS[3], OVER]]
    script = Script(answers, games=(listed(),), empty=empty, lost=lost)
    with Scripted(script) as url:
        assert tilewire("watch", url) == 0
    assert tilewire.out.splitlines() == [HEADING, *LINES, RESULT]
    assert Pong(id=7) in script.heard[-1]
    assert script.heard[-1][-1] == Watch(game=GAME)
    if empty:
        assert tilewire.err.count(url) == 1, "that it waits is said once"


def test_a_lost_connection_loses_nothing(tilewire: CommandLine) -> None:
    script = Script(
        [
            [OFFER],
            [OFFER, STARTED, PLAYS[0]],
            [resumed(1)],
            [resumed(3), *PLAYS[3:], OVER],
        ]
    )
    with Scripted(script) as url:
        assert tilewire("watch", url, GAME) == 0
    assert tilewire.out.splitlines() == [HEADING, *LINES, RESULT]
    assert len(script.heard) == 4
    assert tilewire.err.count("connecting again") == tilewire.err.count("connected again") == 3


def test_a_server_that_does_not_come_back(tilewire: CommandLine) -> None:
    script = Script([[OFFER, STARTED, PLAYS[0]]])
    with Scripted(script) as url:
        assert tilewire("watch", url, GAME) == 1
    assert tilewire.out.splitlines() == [HEADING, LINES[0]]
    assert "connecting again" in tilewire.err
    assert "no room; given up" in tilewire.err.splitlines()[-1]
    assert len(script.heard) == 3


def test_a_gap_is_filled(tilewire: CommandLine) -> None:
    asked = 0
    scripts: tuple[list[Message], ...] = (
        [OFFER, STARTED, PLAYS[0], PLAYS[2]],
        [resumed(3), *PLAYS[2:], OVER],
    )

    async def forgetful(channel: Channel, _request: object) -> None:
        nonlocal asked
        await channel.receive()
        await channel.send(Welcome(name="scripted"))
        for answers in scripts:
            assert (await channel.receive()).content == Watch(game=GAME)
            asked += 1
            for answer in answers:
                await channel.send(answer)
        with pytest.raises(ChannelClosed):
            await channel.receive()

    with Scripted(forgetful) as url:
        assert tilewire("watch", url, GAME) == 0
    assert tilewire.out.splitlines() == [HEADING, *LINES, RESULT]
    assert asked == 2


def test_who_waits_is_told_why_and_not_left_waiting_after_the_last_game(
    tilewire: CommandLine,
) -> None:
    script = Script([[OVER]], event=StandingList(round=1, waits="paused by hannah: lunch"))
    script.games, script.empty = (listed("a"), listed("b")), 3 * watching.STANDINGS_EVERY
    with Scripted(script) as url:
        assert tilewire("watch", url) == 2
    assert tilewire.err.count("paused by hannah: lunch") == 1
    with Scripted(Script([[]], event=StandingList(round=1, over=True))) as url:
        assert tilewire("watch", url) == 1
    assert tilewire.err.splitlines()[-1].count("is over") == 1


def test_too_many_games(tilewire: CommandLine) -> None:
    with Scripted(Script([[OVER]], games=(listed("a"), listed("b", turns=9)))) as url:
        assert tilewire("watch", url) == 2
    assert "\n  b  static – greedy, 28 to 0 after 9 turns" in tilewire.err
    assert tilewire.out == ""


def test_nobody_there(tilewire: CommandLine) -> None:
    with Scripted(Script([])) as url:
        pass
    assert tilewire("watch", url) == 1
    assert url in tilewire.err


@pytest.mark.parametrize(
    "messages",
    [
        [OFFER, STARTED, play(1, "8D WORDSWORDSWORDS", 0, (0, 0), 0)],
        [resumed(0), play(1, "-ABC-", 0, (0, 0), 0)],
    ],
)
def test_moves_that_fit_no_board(tilewire: CommandLine, messages: list[Message]) -> None:
    with Scripted(Script([messages])) as url:
        assert tilewire("watch", url, GAME) == 1
    assert "move 1 " in tilewire.err


def test_a_server_cannot_touch_the_terminal(tilewire: CommandLine) -> None:
    offer = NewGame(game=GAME, seq=0, players=("\x1b[2J", "b\nb"), you=None, lexicon="\x07")
    with Scripted(Script([[offer, STARTED, PLAYS[0], OVER]])) as url:
        assert tilewire("watch", url, GAME) == 0
    assert not {"\x1b", "\x07"} & set(tilewire.out)
    assert len(tilewire.out.splitlines()) == 3


# --- what is known ------------------------------------------------------------------------------


def known(plays: int) -> Followed:
    return Followed.offered(resumed(plays), 10_000)


def test_the_clock_of_whoever_thinks_runs_until_the_game_ends() -> None:
    assert known(0).clocks_at(10_700) == (1_499_300, 1_500_000)
    assert known(1).clocks_at(10_700) == (1_500_000, 1_499_300)
    waiting = Followed.offered(OFFER, 10_000)
    assert waiting.on_turn is None
    assert waiting.clocks_at(99_000) == CLOCKS
    assert waiting.bag == 100
    assert waiting.started(STARTED, 20_000).clocks_at(20_500) == (1_499_500, 1_500_000)
    over = known(4).ended(OVER, 11_000)
    assert over.clocks_at(99_000) == (1_499_000, 1_500_000)
    assert over.on_turn is None


@pytest.mark.parametrize(
    ("outcome", "verdict"), [("out", "tied, 20 to -9 (x)"), ("no_show", "no result (x)")]
)
def test_games_without_a_winner(outcome: str, verdict: str) -> None:
    over = GameOver(game=GAME, seq=5, outcome=outcome, winner=None, scores=(20, -9), message="x")  # type: ignore[arg-type]
    assert result(known(4).ended(over, 11_000)) == verdict


def test_tiles_or_boards_that_are_not_known_here() -> None:
    rules = RulesInPlay(distribution="klingon")
    offer = NewGame(game=GAME, seq=0, players=PLAYERS, you=None, lexicon="x", rules=rules)
    with pytest.raises(ValueError, match="'klingon'"):
        Followed.offered(offer, 0)


# --- on a terminal ------------------------------------------------------------------------------


def test_a_terminal_shows_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, height=30, color_system=None)
    with drawing(console) as show:
        show(known(2))
        assert "▸ static" in out.getvalue()
        show(known(4).ended(OVER, 10_000))
    last = out.getvalue().rpartition("25:00 each")[2]
    for part in ("W  O  R  D  S", "4 greedy pass", "AEI", "static wins, 20 to -9"):
        assert part in last
    assert "▸" not in last
