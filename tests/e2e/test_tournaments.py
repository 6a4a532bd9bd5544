"""``tilewire tournament`` as its users run it: killed and taken up, with byes, and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from e2e.processes import run_command
from e2e.test_matches import check_games, games_of, kill_after

from harness.matches.folder import FolderContents, MatchFolder
from harness.matches.pairings import Round

FIELD = ("static", "greedy", "static")
PLAY = (
    *("--name", "C=other", "--name", "A=one"),
    *("--time", "1m", "--seed", "3", "--transport", "pipe"),
)


def play(*arguments: str | Path) -> dict[str, Any]:
    """Play a tournament to its end; return the JSON object of its last line."""
    done = run_command("tournament", *arguments, "--json")
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def test_a_round_robin_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = play(*FIELD, *PLAY, "--out", tmp_path / "whole")
    folder = tmp_path / "killed"
    kill_after(3, folder, "tournament", *FIELD, *PLAY, "--out", folder)
    assert len(FolderContents(folder).results) < 6
    resumed = play("--resume", folder)
    check_games(folder, 6)
    assert games_of(folder) == games_of(tmp_path / "whole")
    timeless = [
        [{key: value for key, value in of.items() if key != "move_ms_mean"} for of in standings]
        for standings in (whole["standings"], resumed["standings"])
    ]
    assert timeless[0] == timeless[1]
    assert sum(of["points"] for of in whole["standings"]) == 6
    assert {cell["games"] for cell in whole["cross"]} == {2}


def test_a_swiss_of_an_odd_field_has_byes(tmp_path: Path) -> None:
    folder = tmp_path / "swiss"
    file = tmp_path / "swiss.toml"
    file.write_text(
        'seats = ["static", "greedy", "greedy"]\nname = ["B=Bold", "3=Cold"]\nformat = "swiss"\n'
        'rounds = 3\ngames = 1\ntime = "1m"\nseed = 5\ntransport = "pipe"\n'
    )
    summary = play(file, "--out", folder)
    assert {of["name"] for of in summary["standings"]} == {"static", "Bold", "Cold"}
    assert [of["byes"] for of in summary["standings"]] == [1, 1, 1]
    with MatchFolder(folder) as files:
        rounds = [each for each in files.decisions if isinstance(each, Round)]
    assert [(each.number, len(each.pairings), len(each.byes)) for each in rounds] == [
        (1, 1, 1),
        (2, 1, 1),
        (3, 1, 1),
    ]
    met = {frozenset(pairing) for each in rounds for pairing in each.pairings}
    assert len(met) == 3, "nobody met again"
