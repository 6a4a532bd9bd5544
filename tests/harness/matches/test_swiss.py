"""Swiss rounds, against hand-worked cases, all pairings of small fields, and whole events."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matches.pairings import Round
from harness.matches.swiss import SwissEntrant, swiss_round

SCRIPT = Path(__file__).parents[3] / "docs" / "results" / "tournaments" / "swiss_events.py"


@pytest.fixture(scope="module")
def events() -> Iterator[ModuleType]:
    """The script that plays random events."""
    spec = importlib.util.spec_from_file_location("swiss_events", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["swiss_events"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["swiss_events"]


def standings(*wins: float, **fields: Sequence[Any]) -> list[SwissEntrant]:
    """A field in the order of the standings, without games."""
    field = [SwissEntrant(entrant, wins=won) for entrant, won in enumerate(wins)]
    for name, values in fields.items():
        field = [replace(s, **{name: v}) for s, v in zip(field, values, strict=True)]
    return field


def pairs(paired: Round) -> set[frozenset[int]]:
    return {frozenset((p.first, p.second)) for p in paired.pairings}


def sets(*paired: tuple[int, int]) -> set[frozenset[int]]:
    return set(map(frozenset, paired))


# --- cases by hand ----------------------------------------------------------------------------


def test_the_bye_goes_to_the_lowest_without_one() -> None:
    field = standings(2, 1, 1, 0, 0, byes=[0, 0, 0, 1, 1])
    assert swiss_round(3, field).byes == (2,)
    assert swiss_round(3, field, hill=True).byes == (2,)


def test_a_field_of_none_and_of_one() -> None:
    assert swiss_round(1, []) == Round(1, ())
    assert swiss_round(1, [SwissEntrant(7)]) == Round(1, (), (7,))
    assert swiss_round(1, [SwissEntrant(7)], hill=True) == Round(1, (), (7,))


def test_king_of_the_hill_pairs_neighbours_though_they_have_met() -> None:
    field = standings(2, 2, 1, 0, opponents=[(1,), (0,), (3,), (2,)], firsts=[1, 0, 0, 1])
    paired = swiss_round(2, field, hill=True)
    assert [(p.first, p.second) for p in paired.pairings] == [(1, 0), (2, 3)]


# --- all pairings of small fields -------------------------------------------------------------


def all_rounds(
    field: list[SwissEntrant],
) -> Iterator[list[tuple[SwissEntrant, SwissEntrant | None]]]:
    """Every way to pair a field that is in the order of the standings, best first."""
    if not field:
        yield []
        return
    best, *rest = field
    for other in rest:
        for pairing in all_rounds([s for s in rest if s != other]):
            yield [(best, other), *pairing]
    if len(field) % 2:
        for pairing in all_rounds(rest):
            yield [(best, None), *pairing]


def rules(
    field: list[SwissEntrant], paired: list[tuple[SwissEntrant, SwissEntrant | None]], rounds: int
) -> list[float]:
    """What each rule says of a round: lower is better, the first rule that differs decides."""
    costs = [0.0] * 7
    for better, worse in paired:
        if worse is None:
            costs[0] += better.byes
            costs[4] += len(field) - field.index(better)
            continue
        met = [n for n, opponent in enumerate(better.opponents, 1) if opponent == worse.entrant]
        costs[1] += bool(met)
        costs[2] += min(
            max(0, abs(better.lead + step) - 1) + max(0, abs(worse.lead - step) - 1)
            for step in (-1, 1)
        )
        costs[3] += len(met) * rounds + max(met, default=0)
        costs[5] += (better.wins - worse.wins) ** 2
        group = sum(s.wins == better.wins for s in field)
        distance = group // 2 if better.wins == worse.wins else 1
        costs[6] += (field.index(worse) - field.index(better) - distance) ** 2
    return costs


@st.composite
def fields(draw: st.DrawFn) -> list[SwissEntrant]:
    """Up to seven entrants in the order of the standings, after rounds with any outcome."""
    rounds = draw(st.integers(0, 4))
    count = draw(st.integers(1, 7))
    opponents: list[list[int | None]] = [[] for _ in range(count)]
    for _ in range(rounds):
        order = draw(st.permutations(range(count)))
        for one, other in zip(order[::2], order[1::2], strict=False):
            opponents[one].append(other)
            opponents[other].append(one)
        if count % 2:
            opponents[order[-1]].append(None)
    wins = sorted((draw(st.integers(0, 2 * rounds)) / 2 for _ in opponents), reverse=True)
    field = []
    for entrant, met in enumerate(opponents):
        firsts = draw(st.integers(0, len(met) - met.count(None)))
        seconds = len(met) - met.count(None) - firsts
        field.append(
            SwissEntrant(entrant, wins[entrant], 0, tuple(met), firsts, seconds, met.count(None))
        )
    return field


@given(field=fields())
def test_no_pairing_of_a_small_field_is_better(field: list[SwissEntrant]) -> None:
    rounds = len(field[0].opponents)
    paired = swiss_round(rounds + 1, field)
    chosen: list[tuple[SwissEntrant, SwissEntrant | None]] = [
        (field[min(p.first, p.second)], field[max(p.first, p.second)]) for p in paired.pairings
    ]
    chosen += [(field[bye], None) for bye in paired.byes]
    best = min(rules(field, other, rounds) for other in all_rounds(field))
    assert rules(field, chosen, rounds) == best


# --- whole events -----------------------------------------------------------------------------


def test_events_have_no_rematch_bye_or_lead_that_was_avoidable(events: ModuleType) -> None:
    for kind, tally in events.play_events(25, seed=7, most=60).items():
        assert tally.rounds, kind
        assert tally.avoidable_rematches == 0, kind
        assert tally.avoidable_byes == 0, kind
        assert tally.avoidable_unbalanced == 0, kind
        if kind == "even field":
            assert tally.worst == 1
