"""The programs of ``examples/``, written from SPEC.md alone, against a real server."""

from __future__ import annotations

import re
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
from protocol.messages import GameOver, NewGame, Resume, Welcome

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


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    run_command("lexicon", "words", "--out", path)
    return path


def test_the_tiny_bot_plays_words_in_json(server: Server, words: Path) -> None:
    said = run_example("tiny_bot.py", server.url, "greedy", words)
    assert min(scores_of(said)) > 50, "both play words"


def test_the_first_bot_of_the_specification_plays(server: Server) -> None:
    spec = (EXAMPLES.parent / "protocol" / "SPEC.md").read_text("utf-8")
    program = spec.partition("```python\n")[2].partition("```")[0]
    program = program.replace("ws://127.0.0.1:8484", server.url)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("out [")


def scores_of(said: str) -> tuple[int, int]:
    """Return the scores of a bot and of greedy; no move was refused, and it says who won."""
    over = re.fullmatch(
        r"(won|lost|no winner) (\d+)–(\d+) against greedy \((out|zeroes): .*\)\n", said
    )
    assert over is not None, said
    own, theirs = int(over[2]), int(over[3])
    assert over[1] == ("won" if own > theirs else "lost" if own < theirs else "no winner")
    return own, theirs


@pytest.mark.parametrize("bot", ["tiny_bot.py", "javascript/bot.mjs"])
def test_a_bot_that_goes_on_with_a_game_names_whom_it_plays(bot: str, tmp_path: Path) -> None:
    async def script(channel: Channel, _request: object) -> None:
        await channel.receive()
        await channel.send(Welcome(name="scripted", games=("g1",)))
        assert (await channel.receive()).content == Resume(game="g1")
        players = ("old foe", "me")
        await channel.send(NewGame(game="g1", seq=2, players=players, you=1, lexicon="few"))
        scores, why = (3, 40), "played out"
        await channel.send(
            GameOver(game="g1", seq=2, outcome="out", winner=1, scores=scores, message=why)
        )

    words = tmp_path / "words.txt"
    words.write_text("AA\n")
    with Scripted(script) as url:
        done = started(bot, url, "greedy", words)
    assert done.stdout.endswith("won 40–3 against old foe (out: played out)\n"), done.stderr


def started(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run an example to its end, whatever that is."""
    command = [sys.executable] if name.endswith(".py") else node()
    command += [str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_bot_in_javascript_lays_the_best_words(
    server: Server, words: Path, tmp_path: Path
) -> None:
    copied = shutil.copy(EXAMPLES / "javascript" / "bot.mjs", tmp_path / "my own.mjs")
    command = [*node(), str(copied), server.url, "greedy", str(words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), "no move refused, each scored as it counted"
    assert min(scores_of(done.stdout)) > 200, "both play the highest score"
    bare = [part for part in command if part != "--experimental-websocket"]
    if bare != command:
        done = subprocess.run(bare, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, "node 22" in done.stderr) == (1, True)


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


def test_two_bots_find_each_other_and_a_name_is_its_tokens_holders(server: Server) -> None:
    command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url, "--games", "2"]
    with subprocess.Popen([*command, "--name", "one"], stdout=subprocess.PIPE, text=True) as other:
        options = ("--games", "2", "--name", "two", "--token", TOKEN)
        mine = run_example("minimal_bot.py", server.url, *options)
        assert other.stdout is not None
        assert other.stdout.read() == mine
        assert other.wait() == 0
    games = [line.split()[:3] for line in mine.splitlines()]
    assert len(games) == 2
    assert {outcome for outcome, *_ in games} <= {"out", "zeroes"}
    # Without a word every score is below zero: what is left on the rack is taken off.
    assert max(int(score) for _, *scores in games for score in scores) > 20
    stranger = started("minimal_bot.py", server.url, "--name", "two")
    assert stranger.returncode == 1
    assert "needs its token" in stranger.stderr


def test_the_bot_outlives_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url]
        command += ["--opponent", "static", "--games", "2"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bot:
            assert bot.stdout is not None
            lines = [bot.stdout.readline()]
            server.kill()  # wherever it is in its next game
            server.start()
            lines += bot.stdout.readlines()
            assert bot.wait() == 0
    over = [line for line in lines if line.startswith(("out", "zeroes"))]
    assert len(over) == 2, lines
    assert len(lines) > 2, "it never noticed that the server was away"


def test_the_arbiter_runs_a_game_of_its_own_and_counts_as_we_do(server: Server) -> None:
    said = run_example("minimal_arbiter.py", f"{server.url}/static", "--seed", "4")
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
        run_command("connect", server.url, "--bot", "greedy", "--opponent", "static", "--ca", cert)
        command = [sys.executable, str(EXAMPLES / "minimal_bot.py"), server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
            assert stranger.stdout is not None
            assert "certificate verify failed" in stranger.stdout.readline()
            stranger.kill()
