"""Who is paired with whom, and what it costs when many wait."""

from __future__ import annotations

import asyncio
import random

import pytest
from tables import tables

from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.server.admission import Admission, Admissions
from harness.server.hosting import Hosting
from harness.server.lobby import Lobby
from harness.server.seeking import Seeks
from harness.server.tokens import Gatekeeper
from protocol.messages import Seek
from protocol.parts import TimeControl


def suits(wishes: dict[str, str | None], first: str, second: str) -> bool:
    return first != second and wishes[first] in (None, second) and wishes[second] in (None, first)


def pairs(seeks: Seeks) -> list[tuple[str, str]]:
    """Pair as the lobby does."""
    paired = []
    for name, _ in seeks.untried():
        other = seeks.partner(name)
        if other is not None:
            paired.append((name, other))
            for each in (name, other):
                seeks.pop(each)
    return paired


def test_the_first_who_suits_is_the_opponent() -> None:
    seeks = Seeks()
    for name, opponent in (("ann", "bob"), ("cem", None), ("dee", "cem"), ("eve", None)):
        seeks.put(name, Seek(opponent=opponent))
    assert pairs(seeks) == [("cem", "dee")]
    seeks.put("bob", Seek(opponent=None))
    assert pairs(seeks) == [("bob", "ann")]  # who came before eve
    seeks.put("fay", Seek(opponent="eve"))
    assert pairs(seeks) == [("fay", "eve")]
    assert "ann" not in seeks


def test_who_seeks_anew_keeps_its_place_unless_for_another() -> None:
    seeks = Seeks()
    seeks.put("ann", Seek())
    seeks.put("bob", Seek(opponent="zed"))
    seeks.put("ann", Seek(games=5))
    seeks.put("bob", Seek())
    assert pairs(seeks) == [("ann", "bob")]
    seeks.put("ann", Seek(opponent="bob"))
    assert seeks.pop("ann") == Seek(opponent="bob")
    assert seeks.pop("ann") is None


def test_only_who_seeks_at_the_same_table_is_an_opponent() -> None:
    seeks = Seeks()
    for name, opponent, table in (
        *(("ann", None, "polish"), ("bob", None, None), ("cem", "ann", None)),
        *(("dee", "bob", "polish"), ("eve", None, "polish"), ("fay", "cem", None)),
    ):
        seeks.put(name, Seek(opponent=opponent, table=table))
    assert pairs(seeks) == [("ann", "eve")]
    seeks.put("cem", Seek(opponent="fay"))
    assert pairs(seeks) == [("cem", "fay")]


@pytest.mark.parametrize("seed", range(30))
def test_nobody_waits_who_has_an_opponent(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"p{number}" for number in range(8)]
    seeks = Seeks()
    wishes: dict[str, str | None] = {}
    for _ in range(200):
        name = rng.choice(names)
        if rng.random() < 0.2:
            seeks.pop(name)
            wishes.pop(name, None)
            continue
        wishes[name] = rng.choice([None, *(other for other in names if other != name)])
        seeks.put(name, Seek(opponent=wishes[name]))
        if rng.random() < 0.7:
            for pair in pairs(seeks):
                assert suits(wishes, *pair)
                for each in pair:
                    del wishes[each]
            assert not any(suits(wishes, one, two) for one in wishes for two in wishes)
    assert set(wishes) == {name for name in names if name in seeks}


async def test_a_seek_is_tried_once_however_many_wait_and_repeat_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    partner = Seeks.partner

    def counted(seeks: Seeks, name: str) -> str | None:
        nonlocal tried
        tried += 1
        return partner(seeks, name)

    monkeypatch.setattr(Seeks, "partner", counted)
    hosting = Hosting(tables(), journal, LagMeter())
    doors = Gatekeeper(journal), Admissions(Admission(seeks_per_minute=1_000_000))
    lobby = Lobby(hosting, TimeControl(), 2, *doors)
    players = [lobby.players.named(f"p{number}") for number in range(900)]
    for _ in range(3):
        for player in players:
            lobby.seek(player, Seek(opponent=f"not {player.name}"))
        await asyncio.sleep(0)
    assert tried == 900
    for player in players:  # another opponent: another try, at the end of the turn
        lobby.seek(player, Seek(opponent="nobody"))
    assert tried == 900
    await asyncio.sleep(0)
    assert tried == 1_800
