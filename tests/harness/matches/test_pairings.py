"""Who meets whom, against published tables, all pairings of small fields, and whole events."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matches.pairings import Pairing, Round, gauntlet, knockout_round, round_robin
from harness.matches.swiss import SwissEntrant, swiss_round


def written(paired: Round) -> str:
    """A round as tables have it: numbers from 1, the first to move first."""
    return " ".join(f"{p.first + 1}-{p.second + 1}" for p in paired.pairings)


def meetings(rounds: Iterable[Round]) -> Counter[frozenset[int]]:
    return Counter(frozenset((p.first, p.second)) for paired in rounds for p in paired.pairings)


def leads(rounds: Iterable[Round]) -> Counter[int]:
    """Games begun less games not begun."""
    lead = Counter[int]()
    for paired in rounds:
        for pairing in paired.pairings:
            lead[pairing.first] += 1
            lead[pairing.second] -= 1
    return lead


def once_each(paired: Round) -> bool:
    busy = [entrant for p in paired.pairings for entrant in (p.first, p.second)]
    return len({*busy, *paired.byes}) == len(busy) + len(paired.byes)


# --- round robins -----------------------------------------------------------------------------


def test_the_berger_tables_of_the_fide_handbook() -> None:
    assert [written(paired) for paired in round_robin(4)] == ["1-4 2-3", "4-3 1-2", "2-4 3-1"]
    assert [written(paired) for paired in round_robin(6)] == [
        "1-6 2-5 3-4",
        "6-4 5-3 1-2",
        "2-6 3-1 4-5",
        "6-5 1-4 2-3",
        "3-6 4-2 5-1",
    ]
    assert written(round_robin(8)[3]) == "8-6 7-5 1-4 2-3"


@given(entrants=st.integers(2, 41), cycle=st.integers(0, 3))
def test_everybody_meets_everybody_once_and_begins_half_of_the_games(
    entrants: int, cycle: int
) -> None:
    rounds = round_robin(entrants, cycle)
    length = entrants - 1 + entrants % 2
    assert [r.number for r in rounds] == list(range(cycle * length + 1, (cycle + 1) * length + 1))
    assert all(once_each(paired) for paired in rounds)
    assert meetings(rounds) == Counter(map(frozenset, combinations(range(entrants), 2)))
    assert all(abs(lead) <= 1 for lead in leads(rounds).values())
    assert not any(leads(rounds + round_robin(entrants, cycle + 1)).values())
    byes = sorted(entrant for paired in rounds for entrant in paired.byes)
    assert byes == (list(range(entrants)) if entrants % 2 else [])


# --- gauntlets --------------------------------------------------------------------------------


@given(others=st.integers(1, 9), cycle=st.integers(0, 2))
def test_the_first_meets_all_others_once(others: int, cycle: int) -> None:
    rounds = gauntlet(1 + others, cycle)
    assert [paired.number for paired in rounds] == [cycle * others + 1 + at for at in range(others)]
    assert meetings(rounds) == Counter(frozenset((0, 1 + other)) for other in range(others))
    assert all(abs(lead) <= 1 for lead in leads(rounds).values())


# --- knockouts --------------------------------------------------------------------------------


def test_the_favourites_meet_last() -> None:
    first = knockout_round(8)
    assert written(first) == "1-8 4-5 2-7 3-6"
    second = knockout_round(8, [first], [0, 1, 2, 3])
    assert written(second) == "1-4 2-3"
    assert written(knockout_round(8, [first, second], [1, 0])) == "1-2"


def test_the_best_seeds_rest_in_the_first_round() -> None:
    first = knockout_round(5)
    assert first == Round(1, (Pairing(3, 4),), (0, 1, 2))
    second = knockout_round(5, [first], [4])
    assert written(second) == "1-5 2-3"


@given(entrants=st.integers(2, 70), data=st.data())
def test_all_but_one_lose_once(entrants: int, data: st.DataObject) -> None:
    rounds = [knockout_round(entrants)]
    lost = set[int]()
    while True:
        assert once_each(rounds[-1])
        pairings = rounds[-1].pairings
        assert not lost & {entrant for p in pairings for entrant in (p.first, p.second)}
        winners = [data.draw(st.sampled_from((p.first, p.second))) for p in pairings]
        lost |= {p.first + p.second - won for p, won in zip(pairings, winners, strict=True)}
        if len(pairings) == 1 and not rounds[-1].byes:
            break
        rounds.append(knockout_round(entrants, rounds, winners))
    assert len(lost) == entrants - 1
    assert len(rounds) == (entrants - 1).bit_length()
    assert all(not paired.byes for paired in rounds[1:])


def test_each_pairing_needs_one_winner_and_nothing_comes_after_the_final() -> None:
    for winners in ([], [0], [0, 3], [0, 1, 2]):
        with pytest.raises(ValueError, match="one winner"):
            knockout_round(4, [knockout_round(4)], winners)
    with pytest.raises(ValueError, match="final"):
        knockout_round(2, [knockout_round(2)], [1])


# --- Swiss rounds: cases by hand --------------------------------------------------------------

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
