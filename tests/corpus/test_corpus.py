"""What the product did when the corpus was recorded it does still.

Whatever differs is shown. Where it was meant to change, its part is recorded anew, as the message
says, and goes into the same commit.
"""

from __future__ import annotations

import lzma

import pytest
from corpus.artefacts import DATA, INPUTS, Artefact
from corpus.record import every_artefact

EVERY = every_artefact()


@pytest.mark.parametrize("artefact", EVERY, ids=lambda artefact: artefact.name)
def test_it_is_as_it_was_recorded(artefact: Artefact) -> None:
    if difference := artefact.difference():
        pytest.fail(difference, pytrace=False)


def test_nothing_is_recorded_that_is_not_compared() -> None:
    there = {
        str(path.relative_to(DATA)) for path in DATA.rglob("*.*") if INPUTS not in path.parents
    }
    assert there == {artefact.name for artefact in EVERY}


def test_nothing_compared_is_of_one_machine_alone() -> None:
    root = str(DATA.parents[2])
    for artefact in EVERY:
        content = (DATA / artefact.name).read_bytes()
        text = lzma.decompress(content) if artefact.name.endswith(".xz") else content
        assert root not in text.decode(), artefact.name
