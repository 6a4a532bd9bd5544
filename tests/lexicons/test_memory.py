"""Reading and writing by address, and counting bits, compiled; plain they are a case in plain/."""

from __future__ import annotations

import numpy as np
import pytest
from memory_checks import check_memory

from lexicons.memory import address_of


def test_kernels_read_and_write_by_address_and_count_bits() -> None:
    check_memory()


def test_the_address_of_an_array_with_gaps_is_refused() -> None:
    array = np.zeros((4, 4), np.uint64)
    assert address_of(array[1]) == address_of(array) + 32
    for gaps in (array[:, 1], array.T, array[::2]):
        with pytest.raises(ValueError, match="has to be contiguous"):
            address_of(gaps)
