"""``experiment cs221 --engine``: built-in players in matches against a scripted engine."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine
from engine_games import EngineGames

from harness.matches.results import read_results, result_line

PNG = b"\x89PNG\r\n"


def test_players_meet_an_engine_and_go_on_where_they_were(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    out, plot = tmp_path / "out", tmp_path / "differences.png"
    options = ["--player", "vanilla", "--time", "30s"]
    seat = EngineGames(tmp_path).seat()
    command = ("experiment", "cs221", "--engine", seat, *options, "--out", out, "--games")
    assert tilewire(*command, 2, "--plot", plot) == 0
    head, _, row, where = tilewire.out.splitlines()
    assert head.split()[-6:] == ["lost", "2×", "largest", "ratio", "forfeits", "opponent's"]
    assert row.split()[:6] == ["vanilla", "engine", "2", "2", "0", "0"]
    assert row.split()[-2:] == ["0", "0"]
    assert where == f"games and results: {out}"
    assert plot.read_bytes().startswith(PNG)
    results = read_results(out / "vanilla" / "results.jsonl")
    assert [(one.number, one.pair, one.first) for one in results] == [(1, 1, 0), (2, 1, 1)]

    # More games by hand: one that the player lost by a mistake, one that nobody came to, and one
    # beyond what was asked for. The engine's last game is not played again.
    path = out / "vanilla" / "results.jsonl"
    lost = msgspec.structs.replace(results[0], number=3, pair=2, outcome="illegal", winner=1)
    void = msgspec.structs.replace(results[0], number=4, pair=2, outcome="host_error")
    more = msgspec.structs.replace(results[1], number=4, pair=2)
    path.write_bytes(b"".join(map(result_line, (*results, lost, void, more))))
    assert tilewire(*command, 4, "--json") == 0
    (found,) = json.loads(tilewire.out)
    own = [one.sides[0].score for one in (*results, lost, more)]
    other = [one.sides[1].score for one in (*results, lost, more)]
    assert (found["games"], found["win_rate"]) == (4, 0.75)
    assert (found["forfeits"], found["opponent_forfeits"]) == (1, 0)
    assert found["difference"] == (sum(own) - sum(other)) / 4
    assert found["error"] is None, "two pairs tell nothing"
    assert tilewire(*command, 2, "--json") == 0
    assert json.loads(tilewire.out)[0]["games"] == 2

    assert tilewire(*command, 4, "--seed", 7) == 1
    assert f"{out}/vanilla has a match with seed 0, not 7; go on with the same" in tilewire.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--player", "rh"), "--player is for games against an --engine"),
        (("--plot", "x.png"), "--plot is for games against an --engine"),
        (("--engine", "ws://there/bot"), "'ws://there/bot' is elsewhere"),
        (("--engine", "siu:x", "--player", "rhh"), "did you mean rh"),
        (("--engine", "siu:x", "--games", 0), "--games must be at least 1 (got 0)"),
        (("--engine", "siu:x", "--workers", 999), "--workers 999: games at once need a core"),
    ],
)
def test_tables_that_make_no_sense(
    tilewire: CommandLine, options: tuple[object, ...], sentence: str
) -> None:
    assert tilewire("experiment", "cs221", *options) == 2
    assert sentence in tilewire.err
