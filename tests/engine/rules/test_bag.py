from __future__ import annotations

from collections import Counter

import own_draws
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.bag import Bag, DrawStream, commitment
from engine.rules.rules import standard_rules

RULES = standard_rules()
TILES = RULES.distribution.all_tiles()
SECRET = bytes(range(32))
NONCES = (b"\x01" * 16, b"\x02" * 16)
STREAM = DrawStream(SECRET, NONCES)

tiles = RULES.distribution.alphabet.tiles
text = RULES.distribution.alphabet.text


def full_bag(*, mirrored: bool = False) -> Bag:
    return Bag.shuffled(RULES.distribution, STREAM, mirrored=mirrored)


def test_the_numbers_orders_and_places_are_these() -> None:
    assert commitment(SECRET).hex() == (
        "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
    )
    bag = full_bag()
    assert text(bag.order) == (
        "NKNSGORLINOPESTSDNUXJI?ILCUDLOHAFOUVI?THNERIRERAYADBICPMWOEAVEFBDOYAIRGLOAMQEENTSTAEAEEIIEZU"
        "TEGROWTA"
    )
    for seat, count, drawn in ((0, 7, "NKNSGOR"), (1, 7, "LINOPES"), (0, 3, "TSD")):
        given_tiles, bag = bag.draw(count, seat)
        assert text(given_tiles) == drawn
    assert text(bag.put_back(tiles("IAE")).order) == (
        "NUXJI?ILACUDLOHAFOUVI?THNERIRERAYADBICIPMWOEAVEFBDOYAIRGLEOAMQEENTSTAEAEEIIEZUTEGROWTA"
    )


@given(st.binary(max_size=40), st.tuples(st.binary(max_size=40), st.binary(max_size=40)))
def test_the_stream_is_the_function_described(secret: bytes, nonces: tuple[bytes, bytes]) -> None:
    source, stream = own_draws.numbers(secret, nonces), DrawStream(secret, nonces)
    for count in (2**32, 2**31 + 1, 2**31 + 1, 3, 100, 1, *range(20, 1, -1)):
        number, stream = stream.below(count)
        assert number == own_draws.below(count, source)


def test_a_shuffle_is_fisher_and_yates_from_the_sorted_tiles() -> None:
    order = own_draws.order_of(text(TILES), own_draws.numbers(SECRET, NONCES))
    assert text(full_bag().order) == "".join(order)


def test_numbers_that_would_favour_some_results_are_left_out() -> None:
    # Below 2³¹ + 1 nearly half of all numbers are refused, so more are taken than given.
    stream = STREAM
    for _ in range(50):
        number, stream = stream.below(2**31 + 1)
        assert number < 2**31 + 1
    assert stream.position > 60


@pytest.mark.parametrize("count", [0, -1, 2**32 + 1])
def test_a_number_below_nothing_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="it must be 1 to 4294967296"):
        STREAM.below(count)


def test_every_order_is_as_likely() -> None:
    stream, seen = STREAM, Counter[tuple[int, ...]]()
    for _ in range(4800):
        order, stream = stream.shuffled((1, 2, 3, 4))
        seen[order] += 1
    assert len(seen) == 24
    # 23 degrees of freedom; 49.7 is exceeded by one fair generator in a thousand.
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 49.7


def test_every_place_is_as_likely_for_a_tile_that_goes_back() -> None:
    bag, seen = Bag((1, 2, 3), STREAM), Counter[int]()
    for _ in range(4000):
        bag = bag.put_back((9,))
        at = bag.order.index(9)
        seen[at] += 1
        bag = Bag((1, 2, 3), bag.stream)
    # 3 degrees of freedom.
    assert sum((seen[at] - 1000) ** 2 / 1000 for at in range(4)) < 16.3


def test_a_bag_holds_the_distribution_whatever_is_drawn_and_put_back() -> None:
    bag = full_bag()
    assert sorted(bag.order) == list(TILES)
    drawn, fewer = bag.draw(7, 0)
    assert len(fewer) == 93
    assert sorted(fewer.put_back(drawn).order) == list(TILES)
    assert len(bag) == 100, "a bag is a value"


def test_both_seats_draw_from_the_front() -> None:
    bag = full_bag()
    first, after = bag.draw(7, 0)
    second, rest = after.draw(7, 1)
    assert first + second + rest.order == bag.order


def test_in_a_mirrored_game_seat_1_draws_from_the_back() -> None:
    bag = full_bag(mirrored=True)
    assert bag.order == full_bag().order
    first, after = bag.draw(7, 0)
    second, rest = after.draw(7, 1)
    assert first + rest.order + second[::-1] == bag.order
    assert after.draw(3, 1)[0] == second[:3], "the draws do not depend on how they are split"


def test_a_draw_from_the_last_tiles_gives_what_there_is() -> None:
    for mirrored in (False, True):
        bag = Bag((1, 2, 3), STREAM, mirrored)
        drawn, empty = bag.draw(7, 1)
        assert drawn == ((3, 2, 1) if mirrored else (1, 2, 3))
        assert empty.draw(7, 0) == ((), empty)


def test_in_a_mirrored_game_tiles_go_back_anywhere() -> None:
    places = {
        Bag(tuple(range(1, 9)), DrawStream(bytes([n])), True).put_back((20,)).order.index(20)
        for n in range(100)
    }
    assert places == set(range(9))


def test_neither_secret_nor_order_is_printed() -> None:
    bag = full_bag()
    assert str(SECRET) not in repr(bag)
    assert str(bag.order) not in repr(bag)


def test_each_nonce_and_the_secret_change_the_order() -> None:
    streams = [
        STREAM,
        DrawStream(SECRET[:-1], NONCES),
        DrawStream(SECRET, (b"", NONCES[1])),
        DrawStream(SECRET, (NONCES[0], b"")),
        DrawStream(SECRET, (NONCES[1], NONCES[0])),
        DrawStream(SECRET, (NONCES[0] + NONCES[1], b"")),
    ]
    assert len({Bag.shuffled(RULES.distribution, stream).order for stream in streams}) == 6
