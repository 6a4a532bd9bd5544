"""Round robins, gauntlets and knockouts, against published tables and what they promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matches.pairings import Pairing, Round, gauntlet, knockout_round, round_robin


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


@pytest.mark.parametrize("winners", [[], [0], [0, 3], [0, 1, 2]])
def test_each_pairing_needs_one_winner(winners: list[int]) -> None:
    with pytest.raises(ValueError, match="one winner"):
        knockout_round(4, [knockout_round(4)], winners)


def test_nothing_comes_after_the_final() -> None:
    with pytest.raises(ValueError, match="final"):
        knockout_round(2, [knockout_round(2)], [1])
