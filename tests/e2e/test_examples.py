"""The programs of ``examples/``, written from SPEC.md alone, against a real server."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from e2e.processes import EXAMPLES, Server, run_command, run_example, serving
from scripted import Scripted

from engine.notation.move_text import parse_move
from engine.rules.moves import Place
from engine.rules.position import Board
from engine.rules.rules import score_play, standard_rules
from lexicons.alphabet import BLANK_FLAG
from lexicons.store import load_lexicon
from protocol.channel import Channel
from protocol.messages import Error, Resume, Seek, Seeking, Welcome

TOKEN = "a token of thirty-two characters"


@pytest.mark.parametrize("name", ["tiny_bot.py", "minimal_bot.py", "minimal_arbiter.py"])
def test_it_needs_nothing_of_ours(name: str) -> None:
    code = "import sys; sys.path.pop(0); sys.argv[1:] = ['--help']; import runpy\n" + (
        f"try:\n    runpy.run_path({str(EXAMPLES / name)!r}, run_name='__main__')\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    ours = {"bot", "engine", "harness", "lexicons", "protocol", "msgspec", "numpy"}
    assert not ours & set(done.stderr.split())


def test_the_tiny_bot_plays_a_game_in_json(server: Server) -> None:
    outcome, *scores = run_example("tiny_bot.py", server.url, "greedy").split()[:3]
    assert outcome in ("out", "zeroes")
    assert min(map(int, scores)) <= 0 < max(map(int, scores)), "greedy alone scores"


def test_the_tiny_bot_says_why_it_does_not_play() -> None:
    heard: list[object] = []

    async def script(channel: Channel, _request: object) -> None:
        heard.append((await channel.receive()).content)
        await channel.send(Welcome(name="scripted", games=() if len(heard) > 1 else ("g1",)))
        heard.append((await channel.receive()).content)
        await channel.send(Seeking(opponent="gredy", absent="nobody called 'gredy' is here"))
        await channel.send(Error(code="unknown_game", message="it is over", retry="no"))

    with Scripted(script) as url:
        first, second = tiny_bot(url), tiny_bot(url)
    assert heard[1::2] == [Resume(game="g1"), Seek(opponent="gredy")]
    assert first.stdout.startswith("goes on with game g1, which began earlier\n")
    assert second.stdout == "waits: nobody called 'gredy' is here\n"
    assert tiny_bot(url).stderr.startswith(f"no server answers at {url}: ")


def tiny_bot(url: str) -> subprocess.CompletedProcess[str]:
    """Run it against an opponent that isn't there."""
    command = [sys.executable, str(EXAMPLES / "tiny_bot.py"), url, "gredy"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_bot_in_javascript_lays_the_best_words(server: Server, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    run_command("lexicon", "words", "--out", words)
    command = [*node(), str(EXAMPLES / "javascript" / "bot.mjs"), server.url, "greedy", str(words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "no move refused, each scored as it counted"
    outcome, *scores = done.stdout.split()[:3]
    assert outcome in ("out", "zeroes")
    assert min(map(int, scores)) > 200, "both play the highest score"


def node() -> list[str]:
    """Give the command for a program in JavaScript that has a WebSocket, or skip the test."""
    if (path := shutil.which("node")) is None:
        pytest.skip("node is not here; install it with: apt-get install nodejs")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    major = int(version.lstrip("v").partition(".")[0])
    if major < 20:
        pytest.skip(f"node {version.strip()} has no WebSocket; install node 22 or later")
    quiet = ["--no-warnings"]  # that it is experimental in 20
    return [path] if major >= 22 else [path, "--experimental-websocket", *quiet]


def test_two_bots_find_each_other_and_place_words(server: Server) -> None:
    command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url, "--games", "6"]
    with subprocess.Popen([*command, "--name", "one"], stdout=subprocess.PIPE, text=True) as other:
        options = ("--games", "6", "--name", "two", "--token", TOKEN)
        mine = run_example("minimal_bot.py", server.url, *options)
        assert other.stdout is not None
        assert other.stdout.read() == mine
        assert other.wait() == 0
    games = [line.split()[:3] for line in mine.splitlines()]
    assert len(games) == 6
    assert {outcome for outcome, *_ in games} <= {"out", "zeroes"}
    # Without a word every score is below zero: what is left on the rack is taken off.
    assert max(int(score) for _, *scores in games for score in scores) > 20


def test_a_name_is_its_tokens_holders(server: Server) -> None:
    run_example(
        "minimal_bot.py", server.url, "--opponent", "greedy", "--name", "me", "--token", TOKEN
    )
    command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url, "--name", "me"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs its token" in done.stderr


def test_the_bot_outlives_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url]
        command += ["--opponent", "static", "--games", "3"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bot:
            assert bot.stdout is not None
            lines = [bot.stdout.readline()]
            for _ in range(2):  # wherever it is in its next game
                server.kill()
                server.start()
            lines += bot.stdout.readlines()
            assert bot.wait() == 0
    over = [line for line in lines if line.startswith(("out", "zeroes"))]
    assert len(over) == 3, lines
    assert len(lines) > 3, "it never noticed that the server was away"


@pytest.mark.parametrize("seed", ["1", "4"])
def test_the_arbiter_runs_a_game_of_its_own_and_counts_as_we_do(server: Server, seed: str) -> None:
    said = run_example("minimal_arbiter.py", f"{server.url}/static", "--seed", seed)
    *turns, (outcome, *final) = (line.split() for line in said.splitlines())
    rules, lexicon = standard_rules(), load_lexicon()
    board, running = Board.empty(rules.layout), 0
    for *move, points, total in turns:
        made = parse_move(" ".join(move), board, rules.distribution.alphabet)
        if isinstance(made, Place):
            play = score_play(board, made, rules)
            assert play.score == int(points), move
            for word in play.words:
                assert lexicon.graph.contains(tuple(tile & ~BLANK_FLAG for tile in word)), move
            board = board.with_move(made)
            running += play.score
        assert int(total) == running
    assert outcome == "out"
    assert running > 400, "it placed words"
    tiles = rules.distribution
    laid = [tile for tile in board.squares if tile]
    assert len(laid) == len(tiles.all_tiles()) - 7, "the other seat has kept its first rack"
    left = tiles.value(tiles.all_tiles()) - tiles.value(laid)
    assert list(map(int, final)) == [running + 2 * left, 0]


def test_over_tls(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    with serving(tmp_path, "--tls-cert", cert, "--tls-key", key) as server:
        assert server.url.startswith("wss://")
        game = run_example("minimal_bot.py", server.url, "--opponent", "greedy", "--ca", cert)
        assert game.split()[0] in ("out", "zeroes")
        game = run_example("minimal_arbiter.py", f"{server.url}/greedy", "--ca", cert)
        assert game.splitlines()[-1].split()[0] in ("out", "zeroes")
        joined = ("connect", server.url, "--bot", "greedy", "--opponent", "static", "--ca", cert)
        run_command(*joined)
        command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
            assert stranger.stdout is not None
            assert "certificate verify failed" in stranger.stdout.readline()
            stranger.kill()
