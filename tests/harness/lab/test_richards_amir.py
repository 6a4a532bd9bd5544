"""What the opponent's rack is worth: who sees it, what the tables add up, and their commands."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from bot.player import Budget, Choice, Observed, View
from bot.players.static import StaticPlayer
from bot.registry import SeatError
from bot.search.simulating import Search
from bot.seat_text import parse_seat
from engine.rules.position import Rack
from harness.lab.in_process import FullKnowledgePlayer, play_game
from harness.lab.studies.duel import Duel, Games
from harness.lab.studies.published import TABLES, RichardsAmir, draw_duels, seats_of
from harness.lab.study import fill, open_records
from harness.lab.study_context import Field
from harness.workers import open_workers
from lexicons.leaves import LeaveTable

ONLY_HERE = "sees the opponent's rack, and plays in `tilewire experiment` only"


# --- who sees the rack ----------------------------------------------------------------------------


class Witness(FullKnowledgePlayer):
    """Notes what it is shown and what it searches."""

    def __init__(self) -> None:
        super().__init__(candidates="2", iterations="2")
        self.shown: list[Rack] = []
        self.told: list[tuple[Rack, Rack]] = []
        self.searched: list[tuple[Rack, Rack]] = []

    def see(self, rack: Rack) -> None:
        super().see(rack)
        self.shown.append(rack)

    def begin(self, view: View) -> Search:
        found = super().begin(view)
        assert isinstance(found, Search)
        self.told.append(view.position.racks)
        self.searched.append(found.simulation.position.racks)
        return found


class Holder(StaticPlayer):
    """Notes what it holds behind each of its turns, and at the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Rack] = []

    def new_game(self, view: View) -> None:
        self.held.append(view.rack)

    def observe(self, view: View, play: Observed) -> None:
        if play.seat == view.seat:
            self.held.append(view.rack)


@pytest.mark.parametrize("seat", [0, 1])
def test_full_knowledge_sees_what_the_opponent_holds(field: Field, seat: int) -> None:
    witness, holder = Witness(), Holder()
    players = (witness, holder) if seat == 0 else (holder, witness)
    play_game(players, field, b"secret")
    assert len(witness.shown) > 8
    held = holder.held[seat:]  # who is second chooses after a turn of the other
    assert witness.shown == held[: len(witness.shown)]
    for shown, told, searched in zip(witness.shown, witness.told, witness.searched, strict=True):
        assert told[1 - seat] == (), "what it is told of the game is what everybody is"
        assert searched[seat] == told[seat]
        assert searched[1 - seat] == shown


def test_full_knowledge_plays_nowhere_else(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text('[bots]\nstrong = "full-knowledge"\n')
    for text in ("full-knowledge", "full-knowledge?time=1s"):
        with pytest.raises(SeatError, match=ONLY_HERE):
            parse_seat(text)
    for command in (
        ("match", "full-knowledge", "sim"),
        ("match", "sim", "full-knowledge?time=1s"),
        ("serve", "--config", config),
        ("connect", "ws://127.0.0.1:1", "--bot", "full-knowledge"),
    ):
        assert tilewire(*command) == 2
        assert ONLY_HERE in tilewire.err


def test_full_knowledge_that_nobody_shows_anything(field: Field) -> None:
    class Blindfold(StaticPlayer):
        def choose(self, view: View, budget: Budget) -> Choice:
            return FullKnowledgePlayer(iterations="2").choose(view, budget)

    with pytest.raises(RuntimeError, match="was not shown its opponent's rack"):
        play_game((Blindfold(), StaticPlayer()), field, b"secret")


def play(study: Games, games: int = 4, out: Path | None = None) -> Duel:
    study.check(games)
    with open_records(out, study.settings()) as file, open_workers(1) as workers:
        return study.duel(fill(study, file, games, workers))


def test_a_seat_with_options_that_make_no_sense(field: Field) -> None:
    for seat, says in (
        ("full-knowledge?iterations=1", r"'full-knowledge\?iterations=1': iterations is a number"),
        ("full-knowledge?depth=1", "no option is called 'depth'"),
    ):
        with pytest.raises(ValueError, match=says):
            Games((seat, "sim"), field, 0).check(4)


def test_games_with_rollouts_counted_are_the_same_again(field: Field) -> None:
    seats = "infer?iterations=2&candidates=3&racks=50", "full-knowledge?iterations=2&candidates=3"
    study = Games(seats, field, 6)
    assert play(study) == play(study)


def test_a_leave_table_is_for_both(field: Field, tmp_path: Path) -> None:
    seats, out = ("static", "static"), tmp_path / "games.jsonl"
    zero = replace(field, leaves=LeaveTable.zero(field.rules.distribution), own_leaves=False)
    study = Games(seats, zero, 0)
    own = play(Games(seats, field, 0))
    both = play(study, out=out)
    assert both.difference == 0
    assert both.mean != own.mean
    with pytest.raises(ValueError, match=r"of an experiment with leaves \w{64}, not None"):
        play(Games(seats, field, 0), out=out)


# --- what it adds up ------------------------------------------------------------------------------


def records(*scores: tuple[int, int]) -> list[dict[str, Any]]:
    """Make up what came of games."""
    return [{"number": number, "scores": list(one)} for number, one in enumerate(scores)]


def duel(field: Field, *scores: tuple[int, int]) -> Duel:
    return Games(("infer", "sim"), field, 0).duel(records(*scores))


def test_what_the_paper_has() -> None:
    for row in TABLES.values():
        assert None not in (row.games, row.wins, row.losses)
    one, two = TABLES[1], TABLES[2]
    assert (one.games, one.wins, one.losses) == (127, 87, 61), "as printed"
    assert (two.games, two.wins, two.losses) == (630, 324, 306)


def test_seats_of_the_tables() -> None:
    assert seats_of(1, "time=150ms") == ("full-knowledge?time=150ms", "sim?time=150ms")
    assert seats_of(2, "iterations=300") == ("infer?iterations=300", "sim?iterations=300")
    last = seats_of(2, "time=150ms", memory="last", model="soft")
    assert last == ("infer?time=150ms&memory=last&model=soft", "sim?time=150ms")


def test_a_picture(tmp_path: Path, field: Field) -> None:
    duels = [duel(field, (310, 300), (320, 300), (400, 300)), duel(field), TABLES[1]]
    draw_duels(duels, tmp_path / "duels.png")
    assert (tmp_path / "duels.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OSError, match="none"):
        draw_duels(duels, tmp_path / "none" / "duels.png")


# --- commands -------------------------------------------------------------------------------------


def written(path: Path, study: Games, games: int) -> Path:
    """Make up a file of games, which the player wins by as many points as their number."""
    lines: list[dict[str, Any]] = [
        {"experiment": "games", "lexicon": study.field.lexicon.checksum, "seed": 0}
    ]
    made_up = records(*((300 + number, 300) for number in range(games)))
    lines += [{"players": study.seats, **record, "moves": []} for record in made_up]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_table_1_plays_what_is_missing(tilewire: CommandLine, tmp_path: Path) -> None:
    out, plot = tmp_path / "games.jsonl", tmp_path / "bars.png"
    command = ("experiment", "richards-amir", "--iterations", 2, "--out", out)
    assert tilewire(*command, "--games", 4, "--plot", plot) == 0, tilewire.err
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert re.search(r"full-knowledge\?iterations=2 +sim\?iterations=2  4 ", tilewire.out)
    assert "Richards and Amir, Table 1" in tilewire.out
    before = out.read_bytes()
    assert tilewire(*command, "--games", 4, "--json") == 0
    assert out.read_bytes() == before
    found, published = json.loads(tilewire.out)
    assert found["games"] == 4 == found["wins"] + found["losses"] + found["ties"]
    assert published["difference"] == 37
    assert tilewire(*command, "--games", 6, "--json") == 0
    assert out.read_bytes().startswith(before)
    assert len(out.read_bytes().splitlines()) == 1 + 6


def test_table_2_is_read_from_its_file(tilewire: CommandLine, tmp_path: Path, field: Field) -> None:
    study = RichardsAmir(seats_of(2, "time=150ms", memory="last"), field, 0, table=2)
    out = written(tmp_path / "games.jsonl", study, 6)
    given = ("experiment", "richards-amir", "--table", 2, "--memory", "last", "--out", out)
    assert tilewire(*given, "--games", 4) == 0
    row, published = (line.split() for line in tilewire.out.splitlines()[2:])
    assert row[:6] == ["infer?time=150ms&memory=last", "sim?time=150ms", "4", "3", "0", "1"]
    assert "324" in published
    assert tilewire(*given, "--games", 6, "--json") == 0
    assert json.loads(tilewire.out)[0]["difference"] == 2.5
    assert tilewire(*given, "--plot", tmp_path / "none" / "bars.png", "--games", 6) == 2
    assert "bars.png: there is no folder" in tilewire.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--time", "1s", "--iterations", 9), "--time or --iterations ends a search, not both"),
        (("--time", "0ms"), "--time must be at least 1ms (got 0ms)"),
        (("--iterations", 1), "iterations is a number from 2"),
        (("--memory", "long"), "memory is game or last, not 'long'"),
        (("--model", "exact"), "model is style, "),
        (("--games", 5), "5 games; they come in pairs"),
        (("--workers", 1000), "--workers 1000: searches against the clock need a core each"),
        (("--leaves", "none.klv2"), "there is no leave table none.klv2"),
    ],
)
def test_what_makes_no_sense(tilewire: CommandLine, given: tuple[object, ...], says: str) -> None:
    assert tilewire("experiment", "richards-amir", "--table", 2, *given) == 2
    assert says in tilewire.err
