"""Who plays whom on a ladder, without a clock."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from harness.server.ladder.matchmaking import CANDIDATES, Look, Match, Present, information, matches


def look(*present: Present, now_s: float = 0.0, seed: int = 1) -> Look:
    return Look(present, now_s, patience_s=10.0, random=Random(seed))


def one(made: list[Match]) -> set[int]:
    """Return the two of the only match."""
    (match,) = made
    return {*match}


def test_a_near_opponent_tells_more_than_a_far_one() -> None:
    me = Present(0, 1_500, 50)
    worths = [information(me, Present(1, 1_500 + far, 50)) for far in (0, 100, 400, 5_000_000)]
    assert sorted(worths, reverse=True) == worths
    assert worths[-1] >= 0


def test_the_unknown_are_served_first_and_meet_who_is_known() -> None:
    known = [Present(at, 1_500, 20) for at in range(4)]
    new = Present(4, 1_500, 300)
    newer = Present(5, 1_500, 300)
    made = matches(look(*known, new), 1)
    assert 4 in one(made)
    # A place a newcomer: two games of newcomers against the known tell more than one between them.
    one_between_them = information(new, newer) + information(known[0], known[1])
    assert information(new, known[0]) * 2 > one_between_them


def test_rematches_are_spread() -> None:
    me = Present(0, 1_500, 50, recent=(1, 2, 3))
    others = [Present(at, 1_500, 50, recent=(0,)) for at in (1, 2, 3)]
    others[2] = replace(others[2], recent=(9, 9, 9, 9, 0))
    rematch, older, first = (
        information(me, other) for other in (others[0], others[2], Present(4, 1_500, 50))
    )
    assert rematch < older < first


def test_two_who_are_alone_meet_again_and_again() -> None:
    two = Present(0, 1_500, 50, recent=(1,)), Present(1, 1_500, 50, recent=(0,))
    assert one(matches(look(*two), 1)) == {0, 1}


def test_whoever_has_begun_fewer_games_begins() -> None:
    ahead, behind = Present(0, 1_500, 50, lead=1), Present(1, 1_500, 50, lead=0)
    assert matches(look(ahead, behind), 1) == [Match(1, 0)]
    level = Present(0, 1_500, 50), Present(1, 1_500, 50)
    begun = Counter(matches(look(*level, seed=seed), 1)[0].first for seed in range(20))
    assert set(begun) == {0, 1}


def test_a_player_waits_for_a_better_opponent_but_not_for_ever() -> None:
    me, far = Present(0, 1_500, 50), Present(1, 2_100, 50, chooses=False)
    better = Present(2, 1_500, 50, waits=False)
    assert matches(look(me, far, better, now_s=1.0), 1) == []
    assert one(matches(look(me, far, better, now_s=9.9), 1)) == {0, 1}
    assert one(matches(look(me, far, now_s=0.0), 1)) == {0, 1}


def test_who_has_waited_for_long_comes_before_who_is_known_less() -> None:
    field = [Present(at, 1_500, 60) for at in range(1, 9)]
    late = [replace(it, since_s=100.0) for it in field]
    patient = Present(0, 1_500, 40, since_s=0.0)
    assert 0 in one(matches(look(patient, *late, now_s=100.0), 1))


def test_an_anchor_is_chosen_and_chooses_nobody() -> None:
    anchors = [Present(at, 1_500, 0, chooses=False) for at in (0, 1)]
    assert matches(look(*anchors), 2) == []
    assert one(matches(look(*anchors, Present(2, 1_500, 80)), 2)) & {0, 1}


def test_nobody_plays_twice_at_once_and_places_are_kept() -> None:
    field = [Present(at, 1_500 + at, 50) for at in range(101)]
    for places in (0, 1, 7, 60):
        made = matches(look(*field), places)
        seated = [player for match in made for player in match]
        assert len(seated) == len({*seated})
        assert 0.8 * min(places, 50) <= len(made) <= places


def test_the_work_grows_with_players_not_with_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(one: Present, other: Present) -> float:
        nonlocal looks
        looks += 1
        return 1.0

    monkeypatch.setattr("harness.server.ladder.matchmaking.information", counted)
    matches(look(*(Present(at, 1_500, 50) for at in range(400))), 200)
    assert looks <= 400 * (CANDIDATES + 1)


def owned(player: int, owner: str, **more: Any) -> Present:
    """Return a player whose owner is known."""
    return Present(player, 1_500, 50, owners=frozenset({owner}), **more)


def test_an_owners_players_meet_only_where_nobody_else_waits() -> None:
    mine, also = owned(0, "me", recent=(2,)), owned(1, "me", recent=(2,))
    other = owned(2, "other", recent=(0, 1))
    for seed in range(10):
        assert 2 in one(matches(look(mine, also, other, seed=seed), 1)), (
            "even if they have just met"
        )
    assert one(matches(look(mine, also), 1)) == {0, 1}
    mine, also, other = owned(0, "me"), owned(1, "me"), owned(2, "other", waits=False)
    assert matches(look(mine, also, other, now_s=1.0), 1) == [], "the other comes back"
    assert one(matches(look(mine, also, other, now_s=10.1), 1)) == {0, 1}


def test_places_go_to_games_of_different_owners_first() -> None:
    # Those of whom nothing is known choose first, and most of them see nobody else's.
    mine = [replace(owned(at, "me"), deviation=300) for at in range(200)]
    others = [Present(at, 1_500, 50) for at in (200, 201)]
    for seed in range(20):
        for match in matches(look(*mine, *others, seed=seed), 1):
            assert max(match) >= 200
