from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from lexicons.alphabet import load_distribution
from lexicons.tables import trained_win_probabilities
from lexicons.win_probability import (
    WinProbabilities,
    formula_win_probabilities,
    read_win_probabilities,
    write_win_probabilities,
)

TABLE = ",0,1,2\n1,1,0.75,0.625\n0,0.5,0.5,0.5\n-1,0,0.25,0.375\n"


def read(folder: Path, text: str) -> WinProbabilities:
    path = folder / "winpct.csv"
    path.write_text(text, encoding="utf-8")
    return read_win_probabilities(path)


def test_a_table_is_read_whichever_spread_comes_first(tmp_path: Path) -> None:
    head, *rows = TABLE.splitlines()
    for text in (TABLE, "\n".join([head, *rows[::-1]])):
        table = read(tmp_path, text)
        assert table.spreads.tolist() == [-1, 0, 1]
        assert table.unseen.tolist() == [0, 1, 2]
        assert [table.at(1, 1), table.at(0, 2), table.at(-1, 2)] == [0.75, 0.5, 0.375]


@pytest.mark.parametrize(
    ("spread", "unseen", "expected"),
    [(300, 1, 0.75), (-300, 1, 0.25), (1, 93, 0.625), (1, -1, 1.0), (99, 99, 0.625)],
)
def test_beyond_the_table_its_edge_counts(
    tmp_path: Path, spread: int, unseen: int, expected: float
) -> None:
    assert read(tmp_path, TABLE).at(spread, unseen) == expected


def test_a_table_may_begin_anywhere(tmp_path: Path) -> None:
    table = read(tmp_path, "\ufeffspread,7,8\r\n10, 0.5 ,0.75\r\n\r\n")
    assert (table.at(10, 8), table.at(-5, 0)) == (0.75, 0.5)


def test_nothing_can_be_written_into_a_table(tmp_path: Path) -> None:
    table = read(tmp_path, TABLE)
    copied = pickle.loads(pickle.dumps(table))
    for one in (table, copied):
        assert not one.values.flags.writeable
        assert not one.spreads.flags.writeable
        assert one.values.flags.c_contiguous
    assert np.array_equal(copied.values, table.values)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    values = chance.integers(100_001, size=(601, 93)) / 100_000
    values[0, :2] = 0, 1
    table = WinProbabilities(
        np.arange(-300, 301, dtype=np.int32),
        np.arange(1, 94, dtype=np.int32),
        values.astype(np.float32),
    )
    path = tmp_path / "winpct.csv"
    path.write_text("what was there", encoding="utf-8")
    write_win_probabilities(path, table)
    again = read_win_probabilities(path)
    assert np.array_equal(again.spreads, table.spreads)
    assert np.array_equal(again.unseen, table.unseen)
    assert np.array_equal(again.values, table.values)
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_is_written_as_it_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "written.csv"
    write_win_probabilities(path, read(tmp_path, TABLE))
    assert path.read_text(encoding="utf-8").splitlines() == [
        ",0,1,2",
        "1,1.00000,0.75000,0.62500",
        "0,0.50000,0.50000,0.50000",
        "-1,0.00000,0.25000,0.37500",
    ]
    with pytest.raises(OSError, match="none"):
        write_win_probabilities(tmp_path / "none" / "winpct.csv", read(tmp_path, TABLE))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: a first cell and then counts of unseen tiles have to be here"),
        (",0,1\n", "line 1: no line of probabilities follows"),
        (",0,x\n1,1,1\n", "line 1: 'x' is no count of unseen tiles"),
        (",-1,0\n1,1,1\n", "line 1: -1 unseen tiles; there are 0 or more"),
        (",0,2\n1,1,1\n", "line 1: 2 unseen tiles after 0; each is one more"),
        (",0\n1.5,1\n", "line 2: '1.5' is no spread"),
        (",0\n٣,1\n", "line 2: '٣' is no spread"),
        (",0\n2,1\n0,1\n", "line 3: spread 0 after 2; from line to line"),
        (",0,1\n2,1\n", "line 2: 1 probabilities for 2 counts of unseen tiles"),
        (",0,1\n\n2,0.5,50.5\n", "line 3: '50.5', for 1 unseen tiles, is no probability"),
        (",0,1\n2,0.1,\n", "line 2: '', for 1 unseen tiles, is no probability"),
        (",0,1\n2,0.1,nan\n", "line 2: 'nan', for 1 unseen tiles, is no probability"),
        (',0\n2,"1\n', "line 2: unexpected end of data"),
    ],
)  # fmt: skip
def test_what_is_no_table(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"winpct\.csv, line \d") as caught:
        read(tmp_path, text)
    assert says in str(caught.value)


def test_files_that_hold_no_text(tmp_path: Path) -> None:
    path = tmp_path / "winpct.csv"
    path.write_bytes(b",0\n\xff\xfe,1\n")
    with pytest.raises(ValueError, match=r"winpct\.csv, line 2: byte 0xFF is not UTF-8"):
        read_win_probabilities(path)
    with path.open("wb") as file:
        file.truncate(1 << 25)
    with pytest.raises(
        ValueError, match=r"winpct\.csv: 33,554,432 bytes; no .* has over 16,777,216$"
    ):
        read_win_probabilities(path)
    with pytest.raises(OSError, match="none"):
        read_win_probabilities(tmp_path / "none.csv")


def test_shapes_that_do_not_belong_together() -> None:
    with pytest.raises(ValueError, match=r"\(2, 1\) values for 2 spreads and 2 counts"):
        WinProbabilities(
            np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32), np.zeros((2, 1), np.float32)
        )


# --- the formula ----------------------------------------------------------------------------------


def test_the_formula_is_near_what_was_trained() -> None:
    """docs/files.md has the numbers."""
    trained = trained_win_probabilities(load_distribution())
    assert trained is not None
    formula = formula_win_probabilities(100)
    apart = np.array(
        [
            [
                abs(formula.at(spread, unseen) - trained.at(spread, unseen))
                for unseen in range(8, 94)
            ]
            for spread in range(-150, 151)
        ]
    )
    assert apart.mean() == pytest.approx(0.0073, abs=0.0001)
    assert apart.max() == pytest.approx(0.0786, abs=0.0001)
    assert apart[:, 4:].max() < 0.05, "the worst is with a tile or two in the bag"


def test_the_formula_goes_from_losing_to_winning() -> None:
    for tiles in (100, 200):
        table = formula_win_probabilities(tiles)
        assert table.spreads.tolist() == list(range(-300, 301))
        assert table.unseen.tolist() == list(range(1, tiles + 1))
        assert table.at(-21, tiles // 2) == 0.5, "being on turn is worth what it lacks"
        assert (np.diff(table.values, axis=0) >= 0).all()
        assert table.at(-300, 40) < 0.001
        assert table.at(300, 40) > 0.999
        assert table.at(50, 80) < table.at(50, 40) < table.at(50, 10)
