"""Pages are told nothing that is hidden while a game is on; ``e2e.privacy`` does it for longer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e.privacy import ADDRESSES, Received, Truth, Viewer, Watch, findings

from harness.arbiter.records import Draws, TurnRecord, new_game
from lexicons.store import load_lexicon
from protocol.parts import TimeControl

GAMES = 3


async def test_pages_receive_nothing_that_is_hidden(tmp_path: Path) -> None:
    watch = Watch(tmp_path, seed=1)
    await watch.run(GAMES)
    assert watch.problems == []
    assert watch.exchanges >= GAMES
    # Both players, a spectator and each address hear of every turn; games differ in length.
    assert watch.received > watch.turns * (3 + len(ADDRESSES)) > 0


def truth() -> Truth:
    turns = [
        TurnRecord(
            seq=seq,
            seat=seq % 2,
            move=move,
            score=0,
            scores=(0, 0),
            rack=rack,
            rack_after=rack,
            bag=80,
            clocks=(0, 0),
        )
        for seq, move, rack in ((1, "-QV", "AEIQVUX"), (2, "8D NOTE", "NOTESRT"))
    ]
    opened = new_game(("a", "b"), load_lexicon(), TimeControl(), Draws(b"s" * 32, committed=True))
    return Truth(opened, ("aa" * 32, "bb" * 32), turns)


@pytest.mark.parametrize(
    ("viewer", "told"),
    [
        (None, {"rack": "AEIQVUX"}),
        (0, {"rack": "AEIQVUX"}),
        (None, {"move": "-QV"}),
        (None, {"turns": [{"move": "8D NOTE"}]}),
        (0, {"words": ["NOTE"]}),
        (0, {"position": "15/15 NOTESRT/AEIQVUX 0/0 0"}),
        (None, {"message": "it held XUVQI, no word"}),
        (1, {"any": {"thing": (b"s" * 32).hex()}}),
        (0, {"commitments": ["bb" * 32]}),
        (None, {"bag_order": 7}),
        (None, {"known_style": {"greedy": 0.5}}),
    ],
)
def test_what_is_hidden_is_found(viewer: Viewer, told: dict[str, object]) -> None:
    received = Received(viewer, 1, json.dumps({"type": "played", **told}))
    assert list(findings(truth(), received, {}))
    public = Received(viewer, 1, json.dumps({"type": "played", "move": "-2", "rack": None}))
    if viewer != 1:
        assert list(findings(truth(), public, {})) == []
