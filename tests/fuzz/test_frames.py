"""Broken frames: each is taken or refused, and nothing else happens."""

from __future__ import annotations

import random

import pytest
from fuzz.frames import Ends, Frames
from thorough import some

from protocol.codec import JSON, MSGPACK, Codec

FRAMES = some(20_000, 100_000)


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])
def test_broken_frames_are_refused_and_nothing_else_happens(codec: Codec) -> None:
    ends = Ends(codec)
    uncaught: list[tuple[bytes, Exception]] = []
    for _, frame in zip(range(FRAMES // 2), Frames(codec, random.Random(20)), strict=False):
        try:
            ends.take(frame)
        except Exception as error:
            uncaught.append((frame[:200], error))
    assert uncaught == []
    # That it was no empty exercise: every kind of fault came, and whole messages too.
    outcomes = ends.outcomes
    assert outcomes.total() == FRAMES // 2
    assert outcomes["taken"] > FRAMES // 20
    for code in ("bad_frame", "bad_message", "unknown_type"):
        assert outcomes[f"codec: {code}"] > FRAMES // 2_000
