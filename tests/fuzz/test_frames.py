"""Broken frames: each is taken or refused, and nothing else happens."""

from __future__ import annotations

import random

import pytest
from fuzz.frames import Ends, Frames
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import some

from protocol.codec import CODECS, JSON, MSGPACK, Codec

FRAMES = some(20_000, 100_000)

both = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])


@both
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


FEW = {codec: Frames(codec, random.Random(1)) for codec in CODECS.values()}


@both
@settings(max_examples=150)
@given(chance=st.randoms(use_true_random=False))
def test_hypothesis_breaks_no_end_and_would_say_how_little_it_takes(
    codec: Codec, chance: random.Random
) -> None:
    ends = Ends(codec)
    for _ in range(3):
        ends.take(FEW[codec].broken(chance))
