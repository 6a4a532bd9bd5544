"""Broken frames: each is taken or refused, and nothing else happens."""

from __future__ import annotations

import random

import pytest
from fuzz.frames import take_broken
from thorough import some

from protocol.codec import JSON, MSGPACK, Codec

FRAMES = some(10_000, 50_000)


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])
def test_broken_frames_are_refused_and_nothing_else_happens(codec: Codec) -> None:
    outcomes, uncaught = take_broken(codec, random.Random(20), FRAMES)
    assert uncaught == []
    # That it was no empty exercise: every kind of fault came, and whole messages too.
    assert outcomes["taken"] > FRAMES // 10
    for code in ("bad_frame", "bad_message", "unknown_type"):
        assert outcomes[f"codec: {code}"] > FRAMES // 1_000
