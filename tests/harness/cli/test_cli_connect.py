"""``tilewire connect``: what is printed of games, and what keeps it from playing."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine
from scripted import Scripted
from tables import Play

from bot.seat.connection import TurnedAway
from harness.arbiter.journal_reading import KeptGame
from harness.cli.connect import _Games, _ResumeSecret
from harness.matches.event_report.games import EventGames
from harness.matches.results import PlannedGame, game_result
from protocol.channel import Channel
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Goodbye,
    Hello,
    Message,
    NewGame,
    Played,
    Resign,
    Seek,
    Seeking,
    Standings,
    Started,
    Welcome,
)
from protocol.parts import RulesInPlay, TimeControl

ABSENT = "nobody called 'gredy' is here; did you mean greedy?"


def offer(game: str, *history: Played, you: int = 1) -> NewGame:
    players = ("greedy", "me") if you else ("me", "greedy")
    return NewGame(
        game=game, seq=0, players=players, you=you, lexicon="scowl", history=tuple(history)
    )


def played(game: str, seq: int, move: str, score: int) -> Played:
    seat = (seq - 1) % 2
    clocks = (60_000 - 1_000 * seq, -500)
    return Played(
        game=game,
        seq=seq,
        seat=seat,
        move=move,
        score=score,
        scores=(0, 0),
        bag=80,
        clocks=clocks,
        think_ms=1_000 * seq,
    )


def over(game: str, winner: int | None, scores: tuple[int, int]) -> GameOver:
    return GameOver(
        game=game, seq=4, outcome="out", winner=winner, scores=scores, message="a player went out"
    )


def test_a_line_a_game_and_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    games = _Games("me", 2, False, "scowl")
    first, second = played("a", 1, "8D WORDS", 20), played("a", 2, "H1 OUTd..RSE", 74)
    messages: tuple[Message, ...] = (
        Seeking(opponent="greedy", games=2),
        offer("a"),
        first,
        offer("a", first, second),  # again, after a lost connection
        over("a", 1, (310, 402)),
        over("a", 1, (310, 402)),  # and the verdict twice
        offer("b", you=0),
        over("b", None, (5, 5)),
    )
    for message in messages:
        games.on_message(message)
    games.show(as_json=True)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[:2] == [
        "1/2  greedy – me, me wins, 402 to 310 (a player went out)",
        "2/2  me – greedy, tied, 5 to 5 (a player went out)",
    ]
    result = json.loads(lines[-1])
    assert (result["a"], result["b"]) == ("me", "greedy")
    assert (result["wins"], result["losses"], result["ties"]) == (1, 0, 1)
    assert result["bingos_mean"] == {"a": 0.5, "b": 0.0}
    assert result["overtime_games"] == {"a": 1, "b": 0}
    assert err == ""


def test_a_game_that_was_dealt_otherwise_is_said_at_once_and_one_that_may_be_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    games = _Games("me", 2, False, "scowl")
    started = Started(game="a", seq=0, bag=86, clocks=(1, 1), rack="ABCDEFG")
    opened = {"secret": "aa" * 32, "nonces": ("bb" * 32, "cc" * 32), "seq": 1}
    replaced = msgspec.structs.replace
    games.on_message(replaced(offer("a"), commitment="dd" * 32))
    games.on_message(started)
    games.on_message(replaced(over("a", 1, (310, 402)), **opened))
    assert capsys.readouterr().err.startswith("tilewire: GAME a WAS NOT DEALT AS COMMITTED TO")
    games.on_message(offer("b"))
    games.on_message(replaced(started, game="b"))
    games.on_message(over("b", 1, (310, 402)))
    assert games.misdealt == 1
    games.show(as_json=False)
    assert "1 game may have been chosen" in capsys.readouterr().err


def test_a_game_of_before_is_said_and_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    games = _Games("me", 1, False, "scowl")
    games.on_message(Welcome(name="server", games=("a",)))
    games.on_message(offer("a"))
    games.on_message(offer("a"))
    assert capsys.readouterr().err.count("game a against greedy") == 1
    games.on_message(over("a", 1, (310, 402)))
    games.on_message(offer("b"))
    games.on_message(Welcome(name="server", games=("b",)))  # the connection was lost meanwhile
    games.on_message(over("b", 1, (310, 402)))
    ending = "greedy – me, me wins, 402 to 310 (a player went out)"
    assert capsys.readouterr().out == f"earlier  {ending}\n1/1  {ending}\n"
    assert len(games.results) == 1


def test_a_bingo_that_came_off_is_none() -> None:
    games = _Games("me", 1, False, "scowl")
    rules = RulesInPlay(challenge="double")
    games.on_message(msgspec.structs.replace(offer("a"), rules=rules))
    plays = [
        msgspec.structs.replace(played("a", 1, "8D PHONIES", 74), challenge="open"),
        msgspec.structs.replace(played("a", 2, "--", -74), seat=0, challenge="won"),
        msgspec.structs.replace(played("a", 3, "8D OUTDOER", 74), seat=1, challenge="open"),
        msgspec.structs.replace(played("a", 4, "-", 0), seat=0, challenge="lost"),
    ]
    for play in plays:
        games.on_message(play)
    games.on_message(over("a", 1, (0, 74)))
    me, other = games.results[0].sides
    assert (other.bingos, me.bingos) == (0, 1)
    assert (other.challenges, me.challenges) == ((0, 1), (1, 0))


@pytest.mark.parametrize("end", ["time", "illegal", "crash", "resign"])
def test_the_turn_in_which_a_game_ends_counts_alike_for_host_player_and_report(end: str) -> None:
    play = Play(TimeControl(initial_ms=4_000, max_overtime_ms=1_000)).start()
    for _ in range(3):
        play.move(after_ms=100)  # then seat 1 is on turn
    play.wait(3_000)
    if end == "time":
        play.wait(10_000)
    for _ in range(3 if end == "illegal" else 0):
        play.move("8D QQ")
    for _ in range(2 if end == "crash" else 0):
        play.carry_out(play.table.fail(1, "crash", "it died", play.now))
    if end == "resign":
        play.say(1, Resign(game=play.book.opened.game, seq=play.book.next_seq))
    hosted = game_result(play.book, PlannedGame(1, 1, first=0))
    assert (hosted.outcome, hosted.winner) == (end, 0)
    loser, last_ms = hosted.sides[1], 4_901 if end == "time" else 3_000
    assert (loser.moves, loser.think_ms, loser.longest_ms) == (2, last_ms + 100, last_ms)
    assert (loser.overtime_ms, hosted.seconds) == (1_001 * (end == "time"), 0.3 + last_ms / 1_000)
    games = _Games("one", 1, False, "scowl")
    for message in play.events[0]:
        games.on_message(message)
    assert games.results == [hosted]
    kept = KeptGame(game=hosted.game, label={}, created=0.0, records=tuple(play.records), note=None)
    assert EventGames(["one", "two"], [hosted], [kept]).think_ms["two"] == {1: [100], 2: [last_ms]}


def test_who_is_kicked_learns_why() -> None:
    games = _Games("me", 2, False, "scowl")
    games.on_message(Goodbye(code="done", message="the tournament is over"))
    with pytest.raises(TurnedAway, match="kicked by hannah: too loud"):
        games.on_message(Goodbye(code="kicked", message="kicked by hannah: too loud"))


def test_an_opponent_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    seeking = Seeking(opponent="gredy", games=1, absent=ABSENT)
    patient = _Games("me", 1, True, "scowl")
    patient.on_message(seeking)
    assert capsys.readouterr().err == "tilewire: waits for gredy\n"
    later = _Games("me", 1, False, "scowl")
    later.on_message(Seeking(opponent="gredy", games=1))
    later.on_message(seeking)  # the connection was lost meanwhile, the opponent's too
    later.on_message(Seeking(held_back="192.0.2.1 has as many games as it may"))
    later.on_message(Seeking(not_rated="the game that begins now is not rated\x1b[2J"))
    said = capsys.readouterr().err
    assert "192.0.2.1 has as many games as it may" in said
    assert "not rated" in said
    assert "\x1b" not in said


def test_other_words_than_the_servers(capsys: pytest.CaptureFixture[str]) -> None:
    games = _Games("me", 1, False, "other.txt")
    games.on_message(offer("a"))
    games.on_message(Decline(game="a", code="unknown_lexicon", message="'scowl' is not here"))
    with pytest.raises(TurnedAway, match="--lexicon"):
        games.on_message(over("a", 1, (0, 0)))
    assert capsys.readouterr().err == ""
    embedded = _Games("me", 1, False, "scowl")
    embedded.on_message(offer("a"))
    embedded.on_message(msgspec.structs.replace(offer("b"), lexicon="other"))
    assert "with other" in capsys.readouterr().err


class Turning:
    """A server that answers a hello or a seek with one message."""

    def __init__(self, answer: Message) -> None:
        self.answer = answer

    async def __call__(self, channel: Channel, _request: object) -> None:
        while True:
            message = (await channel.receive()).content
            if isinstance(message, Hello) and isinstance(self.answer, Seeking):
                await channel.send(Welcome(name="scripted"))
            elif isinstance(message, Hello | Seek):
                await channel.send(self.answer)
            elif isinstance(message, Standings):
                await channel.send(Error(code="no_tournament", message="none is played"))


def forbidden(message: str) -> Error:
    return Error(code="forbidden", message=message, retry="no")


@pytest.mark.parametrize(
    ("answer", "options", "hint"),
    [
        (forbidden("the name 'me' needs its token"), "--name me", "--token-file"),
        (forbidden("'me' is a bot of this server"), "--name me", "--name"),
        (forbidden("nobody called 'my-greedy'"), "--token-file me.token", "--name"),
        (forbidden("the name 'me' is in use: choose another name"), "--name me", ""),
        (forbidden("the tournament is over"), "--name me", ""),
        (Seeking(opponent="gredy", games=1, absent=ABSENT), "--opponent gredy", "--wait"),
        (Seeking(opponent=None, games=1), "--table blitz", "--table"),
    ],
    ids=["token", "bot's name", "unknown", "in use", "over", "no opponent", "no tables"],
)
def test_who_is_turned_away_learns_why_and_what_to_do(
    tilewire: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Error | Seeking,
    options: str,
    hint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "me.token").write_text("t" * 43)
    with Scripted(Turning(answer)) as url:
        assert tilewire("connect", url, "--bot", "greedy", *options.split()) == 1
    last = tilewire.err.splitlines()[-1]
    assert hint in last
    if isinstance(answer, Error):
        assert f"{url} turned us away: {answer.message}" in last
        assert bool(hint) == ("--" in last)
    assert tilewire.out == ""


def test_a_server_that_is_lost_and_another_event_in_its_place(tilewire: CommandLine) -> None:
    hellos: list[Hello] = []

    async def script(channel: Channel, _request: object) -> None:
        hello = (await channel.receive()).content
        assert isinstance(hello, Hello)
        hellos.append(hello)
        if len(hellos) == 3:
            await channel.send(Error(code="other_event", message="another event", retry="no"))
            await channel.receive()
        await channel.send(Welcome(name="scripted", event="e1"))
        await channel.receive()

    with Scripted(script) as url:
        assert tilewire("connect", url, "--bot", "greedy", "--name", "me", "--games", 1) == 1
    assert [hello.event for hello in hellos] == [msgspec.UNSET, "e1", "e1"]
    lost, back, *_, last = tilewire.err.splitlines()[-4:]
    assert "connecting again" in lost
    assert "connected again" in back
    assert "another event" in last


def test_a_bot_that_can_not_be_loaded_asks_no_server(tilewire: CommandLine, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("raise RuntimeError('no')\n", encoding="utf-8")
    assert tilewire("connect", "ws://127.0.0.1:1", "--bot", f"{bad}:Bad") == 2
    assert tilewire.err.startswith(f"tilewire: {bad}, line 1, in <module>: RuntimeError: no")


@pytest.mark.parametrize("text", ["", "first\nsecond\n"])
def test_a_file_that_holds_no_single_token_is_not_sent(
    tilewire: CommandLine, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "some.token"
    path.write_text(text)
    url = "ws://127.0.0.1:1"
    assert tilewire("connect", url, "--bot", "greedy", "--token-file", path) == 2
    assert str(path) in tilewire.err
    assert not any(word in tilewire.err for word in text.split())


@pytest.mark.parametrize("scheme", ["ws", "WS"])
def test_a_token_without_tls_is_warned_of(
    tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setenv("TILEWIRE_TOKEN", "secret")
    url = f"{scheme}://nobody.invalid:1"
    assert tilewire("connect", url, "--bot", "greedy") == 1
    warning, failure = tilewire.err.splitlines()
    assert "nobody.invalid unencrypted" in warning
    assert url in failure
    assert "secret" not in tilewire.err


def test_a_resume_secret_is_kept_by_server_and_name_and_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = _ResumeSecret("ws://here:1", "ann")
    assert kept.read() == ""
    for secret in ("ab" * 32, "cd" * 32):
        kept.store(secret)
        assert _ResumeSecret("ws://here:1", "ann").read() == secret
    assert not _ResumeSecret("ws://here:1", "bob").read()
    assert not _ResumeSecret("ws://here:2", "ann").read()
    (file,) = tmp_path.glob("tilewire/resume/*")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    assert kept.read() == "", "another user may know it, or have written it"
    file.chmod(0o600)
    file.write_text("ab\n")
    assert kept.read() == ""


def test_a_resume_secret_that_can_not_be_kept_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tilewire").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = _ResumeSecret("ws://here:1", "ann")
    for _ in range(2):
        kept.store("ab" * 32)
    (said,) = capsys.readouterr().err.splitlines()
    assert "XDG_STATE_HOME" in said
    assert "abab" not in said
