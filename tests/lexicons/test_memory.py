"""Addresses of arrays; reading and writing by them is a case in plain/."""

from __future__ import annotations

import numpy as np
import pytest

from lexicons.memory import address_of


def test_the_address_of_an_array_with_gaps_is_refused() -> None:
    array = np.zeros((4, 4), np.uint64)
    assert address_of(array[1]) == address_of(array) + 32
    for gaps in (array[:, 1], array.T, array[::2]):
        with pytest.raises(ValueError, match="has to be contiguous"):
            address_of(gaps)
