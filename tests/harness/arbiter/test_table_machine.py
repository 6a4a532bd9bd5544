"""A table and two seats that do what they please: what must hold whatever they do."""

from __future__ import annotations

import pytest
from hypothesis import settings
from table_machine import AtTheTable
from tables import Play, random_policy

from protocol.messages import GameOver, Played, Started

AtTheTable.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestAtTheTable = AtTheTable.TestCase


@pytest.mark.parametrize("seed", range(8))
def test_both_seats_agree_on_a_game_from_what_each_was_told(seed: int) -> None:
    play = Play().start()
    result = play.play_out(random_policy(seed))
    for recipient in (0, 1, None):
        totals = [0, 0]
        events = [
            said
            for to, said in play.sent
            if to == recipient and isinstance(said, Started | Played | GameOver)
        ]
        assert [event.seq for event in events] == list(range(len(events)))
        for event in events:
            if isinstance(event, Played):
                totals[event.seat] += event.score
                assert event.scores == tuple(totals)
        verdict = events[-1]
        assert isinstance(verdict, GameOver)
        assert (
            verdict.scores
            == result.scores
            == tuple(
                total + gain for total, gain in zip(totals, verdict.rack_adjustments, strict=True)
            )
        )
