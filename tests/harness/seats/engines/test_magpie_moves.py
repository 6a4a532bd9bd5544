"""Moves and lines as MAGPIE prints them."""

from __future__ import annotations

import pytest

from bot.player import Considered
from engine.notation.cgp import read_cgp
from engine.notation.move_text import NotationError, format_move, parse_move
from engine.rules.moves import PASS, Exchange, Move
from engine.rules.rules import standard_rules
from harness.seats.engines.magpie_terms import (
    parse_magpie_endgame,
    parse_magpie_generated,
    parse_magpie_move,
    parse_magpie_preendgame,
    parse_magpie_simulated,
)

RULES = standard_rules()
ALPHABET = RULES.distribution.alphabet
BOARD = read_cgp(f"{'15/' * 7}7fARO4{'/15' * 7} / 0/0 0", RULES).board


def placed(text: str) -> Move:
    return parse_move(text, BOARD, ALPHABET)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("8E INT(fARO)", "8E INT...."),
        ("8H (fARO)s", "8H ....s"),
        ("K5 VIV(O)", "K5 VIV."),
        ("I6 UV(A)", "I6 UV."),
        ("9G (?)", None),
        ("K5 VIV(A)", None),
        ("(exch IUVV)", "-IUVV"),
        ("(exch ?Q)", "-?Q"),
        ("(exch )", None),
        ("pass", "-"),
        ("PASS", None),
        ("8P WORD", None),
        ("99A WORD", None),
        ("8D", None),
        ("", None),
    ],
)
def test_a_move_means_what_it_means_with_us(text: str, ours: str | None) -> None:
    if ours is None:
        with pytest.raises(NotationError):
            parse_magpie_move(text, BOARD, ALPHABET)
    else:
        assert format_move(parse_magpie_move(text, BOARD, ALPHABET), ALPHABET) == ours


def test_a_column_is_found_whether_or_not_there_is_a_leave() -> None:
    vac = "5:  I7 V(A)C       IIUUV 15 - 39.31 2.0625 -4.55 5.3213 -17.88 23 26.26 19.83 8.70"
    assert parse_magpie_simulated(vac, BOARD, ALPHABET) == Considered(
        placed("I7 V.C"),
        score=15,
        win=0.3931,
        win_error=0.020625,
        equity=-4.55,
        equity_error=5.3213,
        samples=23,
    )
    all_tiles = (
        "10: (exch CIIUUVV)       0  X 100.00 -nan 3.72  inf 0.00   12 41.79 25.07 29.17 39.08 1 2"
    )
    seven = Exchange(ALPHABET.tiles("CIIUUVV"))
    assert parse_magpie_simulated(all_tiles, BOARD, ALPHABET) == Considered(
        seven, score=0, win=1.0, equity=3.72, samples=12
    )
    x_is_left = "1: K8 (O)X X 9 - 0.00 0.0000 -5.00  0.0000 3.00  1"
    assert parse_magpie_simulated(x_is_left, BOARD, ALPHABET) == Considered(
        placed("K8 .X"),
        score=9,
        win=0.0,
        win_error=0.0,
        equity=-5.0,
        equity_error=0.0,
        samples=1,
    )
    for line, move, score, equity in (
        ("4:   K5 VIV(O)      CIUU 20 -0.68 ", placed("K5 VIV."), 20, -0.68),
        ("1:   (exch CIIUUVV)      0  0.00  ", seven, 0, 0.0),
        ("15:  pass           ABC  0  -1000.00", PASS, 0, -1000.0),
    ):
        assert parse_magpie_generated(line, BOARD, ALPHABET) == Considered(
            move, score=score, equity=equity
        )


def test_solvers_print_tables_of_their_own() -> None:
    for line, win, samples in (
        ("   2  K5 VIV(O)      64     6     2  93.1   +13.9  ", 67 / 72, 72),
        ("2-ply      1  K5 VIV(O)    0     0     8   0.0   -32.0  1.0s  always loses", 0.0, 8),
        ("   1  K5 VIV(O)       0     0     0  -100.0    +0.0  ", None, 0),
    ):
        assert parse_magpie_preendgame(line, BOARD, ALPHABET) == Considered(
            placed("K5 VIV."), win=win, samples=samples
        )
    for line, score in (
        ("K5 VIV(O) 25  -5 -1 K1 Ca(R)TE 18 (AABE +12) ", 25),
        ("K5 VIV(O) 20 (AABE +12) 32 3 ", 20),
        ("K5 VIV(O) 30     5 5 | 6F (JOLE)s 17 (AERR +8) ", 30),
    ):
        read = parse_magpie_endgame(line, BOARD, ALPHABET)
        assert read == Considered(placed("K5 VIV."), score=score)
    passed = parse_magpie_endgame("pass           -5 -1 K1 VOID 9", BOARD, ALPHABET)
    assert passed == Considered(PASS)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Showing 15 of 100 plays",
        "Iters:     440     ",
        "Play          V  S  Turn 2   ",
        "rank  move       wins  ties  loss    win%  spread  ",
        "stage  fidelity  cands    best win%  time  ",
        "0      greedy    318/318  94.4%      1.7s  ",
        "Endgame (depth: 7, time: 1.786s, status: finished)",
        "8 weighted bag orderings (6 unique)",
        f"1: K5 VIV(O) 5 {'9' * 5_000}",
        "finished generate",
        "1: ",
    ],
)
def test_other_lines_say_no_move(line: str) -> None:
    for parse in (
        parse_magpie_generated,
        parse_magpie_simulated,
        parse_magpie_preendgame,
        parse_magpie_endgame,
    ):
        assert parse(line, BOARD, ALPHABET) is None


def test_a_line_with_something_else_for_a_move_is_refused() -> None:
    for line in ("1: VIV CIUU 20 1.00", "1: K5 VIV(O) CI UU 20 1.00", "1: ??? 0 0.0"):
        with pytest.raises(NotationError):
            parse_magpie_generated(line, BOARD, ALPHABET)
