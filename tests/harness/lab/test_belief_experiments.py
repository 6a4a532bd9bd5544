"""Beliefs held against the truth: what a watcher is told, sums worked by hand, and the commands."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import CommandLine
from inference_reference import leaves_in

from bot.player import Observed, View
from bot.players.static import StaticPlayer
from bot.search.belief import OpponentModel
from engine.inference.equity_loss import Judges
from engine.inference.leave_prior import LeavePrior
from engine.inference.likelihood import DETERMINISTIC, Style
from engine.inference.rack_filter import RackFilter
from engine.rules.rules import standard_rules
from harness.lab.in_process import play_game
from harness.lab.studies.calibration import bin_rows, loss_rows
from harness.lab.studies.replayed_beliefs import (
    Seen,
    loss_of,
    random_share,
    read_games,
    share_of,
    take_in,
    told,
)
from harness.lab.study_context import Field

_RULES = standard_rules()
_RACKS = 200_000


# --- what one is told -----------------------------------------------------------------------------


class _Watcher(StaticPlayer):
    """A static player who follows his opponent all the same."""

    def new_game(self, view: View) -> None:
        style = Style.of(DETERMINISTIC)
        self.view, self.opponent = view, OpponentModel(view, style, learns=False)
        self.kept: list[LeavePrior] = []

    def observe(self, view: View, play: Observed) -> None:
        self.view = view
        self.opponent.observe(view, play)
        self.opponent.think(racks=_RACKS)
        if play.seat != view.seat:
            self.kept.append(self.opponent.tracker.prior)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_watcher_is_told_what_a_player_sees(field: Field, seat: int) -> None:
    players = _Watcher(), _Watcher()
    game = play_game(players, field, b"secret")
    tracker = RackFilter(
        Judges(field.lexicon, _RULES, field.leaves),
        Style.of(DETERMINISTIC),
        learns=False,
    )
    believed = []
    for event in told(game, seat):
        take_in(tracker, event, _RACKS)
        if isinstance(event, Seen):
            believed.append(tracker.prior)
    assert 5 < len(believed) <= len(players[seat].kept)
    for one, other in zip(believed, players[seat].kept, strict=False):
        assert _by_leave(one) == pytest.approx(_by_leave(other))


def _by_leave(kept: LeavePrior) -> dict[Any, float]:
    return dict(zip(leaves_in(kept), kept.weights.tolist(), strict=True))


# --- scores ---------------------------------------------------------------------------------------


def test_losses_by_hand() -> None:
    assert random_share((1, 1, 2), (0, 3, 2, 5)) == pytest.approx(3 * 2 / 120)
    assert random_share((1, 1), (0, 1, 9)) == 0
    twice = LeavePrior(np.array([[1, 2], [1, 3], [1, 2]], np.uint8), np.array([0.25, 0.5, 0.25]))
    assert share_of((1, 2), twice) == 0.5
    assert share_of((2, 2), twice) == share_of((1,), twice) == 0
    assert loss_of(0.5, 0.0, 0.1, 2) == pytest.approx(-math.log(0.5) / 2)
    assert loss_of(0.0, 0.02, 0.1, 4) == pytest.approx(-math.log(0.002) / 4)


def _seen(**changed: Any) -> dict[str, Any]:
    shares = {"prior": 0.1, "paper": 0.0, "last": 0.2, "filter": 0.4}
    tiles = {"there": [0, 1], "random": [2_000, 4_000]}
    tiles |= {name: [1_000, 8_000] for name in ("prior", "last", "filter")}
    plain = {"turn": 1, "size": 2, "placed": True, "random": 0.1, "shares": shares}
    doubts = {"prior": 0.0, "paper": 0.02, "last": 0.0, "filter": 0.0}
    return {**plain, "doubts": doubts, "leave": tiles, "rack": tiles, **changed}


def test_losses_are_added_up() -> None:
    records = [
        {"number": 0, "seen": [_seen(), _seen(size=1)]},
        {"number": 1, "seen": []},
        {"number": 2, "seen": [_seen(placed=False)]},
    ]
    rows = {(one.belief, one.leaves): one for one in loss_rows(records)}
    assert {which for _, which in rows} == {"all", "1", "2", "exchanges, passes"}
    every = rows["filter", "all"]
    assert every.positions == 3
    assert every.loss == pytest.approx(-math.log(0.4) * (0.5 + 1 + 0.5) / 3)
    assert every.difference == pytest.approx(-math.log(2) * 2 / 3)
    assert rows["paper", "2"].loss == pytest.approx(-math.log(0.002) / 2)
    assert (rows["prior", "all"].against, rows["prior", "all"].difference) == (None, None)
    assert (rows["last", "1"].positions, rows["last", "1"].error) == (1, None)
    assert loss_rows([])[0].loss is None


def test_chances_are_sorted_into_bins() -> None:
    records = [{"number": 2 * at, "seen": [_seen()]} for at in range(10)]
    rows = bin_rows(records)
    assert len(rows) == 2 * 3 * 10
    last = [one for one in rows if (one.belief, one.of) == ("last", "leave")]
    assert [one.cases for one in last] == [2] * 10
    assert [one.predicted for one in last] == pytest.approx([0.1] * 5 + [0.8] * 5)
    assert [one.observed for one in last] == [0.0] * 5 + [1.0] * 5
    assert [one.difference for one in last] == pytest.approx([-0.1] * 5 + [0.2] * 5)
    seen = _seen(doubts={"prior": 0.0, "last": 0.5, "filter": 0.5})
    records = [{"number": 2 * at, "seen": [seen]} for at in range(10)]
    doubted = [one.predicted for one in bin_rows(records)]
    assert doubted[:10] == pytest.approx([0.1] * 5 + [0.8] * 5)
    assert doubted[10:20] == pytest.approx([0.15] * 5 + [0.6] * 5)
    assert bin_rows([]) == []


# --- the commands ---------------------------------------------------------------------------------


def test_calibration_goes_on_and_takes_games_up(tilewire: CommandLine, tmp_path: Path) -> None:
    out, other = tmp_path / "c.jsonl", tmp_path / "other.jsonl"
    given = ("experiment", "calibration", "--seat", "static", "--racks", 100)
    first = (*given, "--seed", 5, "--out", out)
    few = tilewire.json(*first, "--positions", 5)
    assert few["losses"][0]["positions"] >= 5
    found = tilewire.json(*first, "--positions", 20, "--workers", 2)
    assert found["losses"][0]["positions"] >= 20
    assert {one["belief"] for one in found["losses"]} == {"prior", "paper", "last", "filter"}
    assert len(found["bins"]) == 2 * 3 * 10
    assert all(0 <= one["predicted"] <= 1 for one in found["bins"])
    numbers = [json.loads(line)["number"] for line in out.read_text().splitlines()[1:]]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) >= {0, 2}
    again = (*given, "--from", out, "--out", other, "--positions")
    assert tilewire(*again, 100_000) == 0, tilewire.err
    assert ", and no more" in tilewire.err
    assert tilewire.json(*again, 20) == found
    assert tilewire.json(*first, "--positions", 5) == few
    assert tilewire(*first, "--positions", 5, "--leaves", "formula") == 2
    assert "has results without leaves, not with " in tilewire.err


@pytest.mark.parametrize(
    ("head", "record", "says"),
    [
        ("no JSON", {}, "not a results file"),
        ({"seed": 1}, {}, "not a results file"),
        ({"seed": 1, "lexicon": "?"}, {}, "other words"),
        ({"seed": 1, "lexicon": ""}, {"players": ["a", "b"]}, "has no game a – a"),
        ({"seed": 1, "lexicon": ""}, {"moves": None}, "not a results file"),
    ],
)
def test_files_that_have_no_such_games(
    tmp_path: Path, field: Field, head: Any, record: Any, says: str
) -> None:
    path = tmp_path / "games.jsonl"
    plain = {"players": ["a", "a"], "number": 0, "moves": []}
    if "lexicon" in head and not head["lexicon"]:
        head = {**head, "lexicon": field.lexicon.checksum}
    path.write_text(f"{json.dumps(head)}\n{json.dumps(plain | record)}\n")
    with pytest.raises(ValueError, match=says):
        read_games(path, field.lexicon, ("a", "a"))
