"""The player that sees the opponent's rack."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine

from bot.player import Budget, Choice, Observed, View
from bot.players.static import StaticPlayer
from bot.registry import SeatError
from bot.search.simulating import SimulationSearch
from bot.seat_text import parse_seat
from engine.rules.position import Rack
from harness.lab.in_process import FullKnowledgePlayer, play_game
from harness.lab.studies.duel import Duel, Games
from harness.lab.study import fill, open_records
from harness.lab.study_context import Field
from harness.workers import open_workers

ONLY_HERE = "sees the opponent's rack, and plays in `tilewire experiment duel` only"


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

    def begin(self, view: View) -> SimulationSearch:
        found = super().begin(view)
        assert isinstance(found, SimulationSearch)
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
