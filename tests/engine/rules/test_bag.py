from __future__ import annotations

from hashlib import sha256

import own_draws
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.bag import Bag, DrawError, DrawStream, check_secret, commitment
from engine.rules.rules import standard_rules

RULES = standard_rules()
TILES = RULES.distribution.all_tiles()
SECRET = bytes(range(32))
NONCES = (b"\x01" * 16, b"\x02" * 16)
STREAM = DrawStream(SECRET, NONCES)

tiles = RULES.distribution.alphabet.tiles
text = RULES.distribution.alphabet.text


SECRETS = st.binary(max_size=40)


@given(SECRETS, st.tuples(SECRETS, SECRETS))
def test_the_stream_is_the_function_described(secret: bytes, nonces: tuple[bytes, bytes]) -> None:
    source, stream = own_draws.numbers(secret, nonces), DrawStream(secret, nonces)
    for count in (2**32, 2**31 + 1, 2**31 + 1, 3, 100, 1, *range(20, 1, -1)):
        number, stream = stream.below(count)
        assert number == own_draws.below(count, source)


@given(
    SECRETS,
    st.tuples(SECRETS, SECRETS),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from((0, 1)), st.booleans()), max_size=8),
)
def test_a_bag_is_shuffled_drawn_from_and_refilled_as_described(
    secret: bytes,
    nonces: tuple[bytes, bytes],
    mirrored: bool,
    turns: list[tuple[int, int, bool]],
) -> None:
    """In a mirrored game seat 1 draws from the back."""
    source = own_draws.numbers(secret, nonces)
    expected = own_draws.order_of(text(TILES), source)
    bag = Bag.shuffled(RULES.distribution, DrawStream(secret, nonces), mirrored=mirrored)
    assert text(bag.order) == "".join(expected)
    assert commitment(secret) == sha256(secret).digest()
    for count, seat, goes_back in turns:
        from_back = mirrored and seat == 1
        drawn, bag = bag.draw(count, seat)
        facing = expected[::-1] if from_back else expected
        assert text(drawn) == "".join(facing[:count])
        expected = facing[count:][::-1] if from_back else facing[count:]
        if goes_back:
            bag = bag.put_back(drawn)
            own_draws.put_back(text(drawn), expected, source)
        assert text(bag.order) == "".join(expected)


def test_a_commitment_opens_in_one_way_only() -> None:
    racks = "ABC/DEF"
    committed = commitment(SECRET, racks)
    check_secret(SECRET, racks, committed)
    with pytest.raises(DrawError, match="not the one"):
        check_secret(SECRET[::-1], racks, committed)
    with pytest.raises(DrawError, match="has 32 bytes"):
        check_secret(SECRET + sha256(racks.encode()).digest(), None, committed)


@pytest.mark.parametrize("count", [0, -1, 2**32 + 1])
def test_a_number_below_nothing_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="it must be 1 to 4294967296"):
        STREAM.below(count)


def test_neither_secret_nor_order_is_printed() -> None:
    bag = Bag.shuffled(RULES.distribution, STREAM)
    assert str(SECRET) not in repr(bag)
    assert str(bag.order) not in repr(bag)
