"""What long runs tell of how far they are, and how their numbers are written."""

from __future__ import annotations

import io
from pathlib import Path
from threading import Event
from typing import Annotated, NamedTuple

import pytest

from harness.cli.failing import CommandFailed
from harness.cli.options import print_notice, show_progress, working
from harness.cli.study_run import check_writable, resumable, telling
from harness.figures import folded, shortened, table
from harness.lab.rows import Column, as_text, percent
from harness.workers import WorkersError


def test_one_is_told_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    tell = telling(1_000, "games", "a – b", clock=lambda: now)
    for at, there in ((102.0, 399), (119.0, 400), (131.0, 412), (142.0, 423), (150.0, 1_000)):
        now = at
        tell(there)
    # From 102 s to 142 s there were 24 more.
    assert capsys.readouterr().err.splitlines() == [
        "tilewire: a – b: 400 of 1,000 games, 2:50:00 left",
        "tilewire: a – b: 423 of 1,000 games, 16:02 left",
        "tilewire: a – b: 1,000 of 1,000 games",
    ]


class Screen(io.StringIO):
    """Standard error, on a terminal or not; sets ``written`` when something new is printed."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty, self.written = tty, Event()

    def isatty(self) -> bool:
        return self._tty

    def flush(self) -> None:
        self.written.set()


@pytest.mark.parametrize("tty", [False, True])
def test_silent_work_is_told(tty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(tty=tty)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("harness.cli.options.FIRST_S", 0.0)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    with working("reading the games"):
        assert screen.written.wait(60)
        show_progress("3 of 6 positions" + tty * ", and much more than fits", 0.5)
        print_notice("a notice")
    shown = screen.getvalue()
    line = "tilewire: reading the games; "
    if not tty:
        assert shown.startswith(line)
        assert shown.splitlines()[-2:] == ["tilewire: 3 of 6 positions", "tilewire: a notice"]
        return
    # Each line takes the place of the one before, and a notice stays.
    first, *others, last = shown.split("\r\x1b[K")[1:]
    assert first.startswith(line)
    assert last == "tilewire: a notice\n"
    assert others[-1].startswith(f"tilewire: {'━' * 10}{'─' * 10} 3 of 6 positions")
    assert len(others[-1]) < 60


def test_what_takes_two_cells_is_cut_and_put_in_columns_by_cells() -> None:
    assert shortened("日本語の選手その一番目ボット", 11) == "日本…ット"
    assert shortened("日本語", 6) == "日本語"
    drawn = table(["name", "games"], [["日本語", "12"], ["plain", "7"]])
    assert drawn.splitlines() == ["name    games", "──────  ─────", "日本語  12", "plain   7"]


def test_a_file_that_can_not_be_written_is_told_before_hours_are_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.png"
    check_writable("--plot", file)
    check_writable("--plot", None)
    monkeypatch.setattr("os.access", lambda _path, _mode: False)  # root may write everywhere
    with pytest.raises(CommandFailed, match=f"--plot {file}"):
        check_writable("--plot", file)


def test_nothing_is_known_of_the_rest_at_first(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    tell = telling(3, "positions", clock=lambda: now)
    for there in (1, 2, 4):  # the last piece of work has two
        now += 30.0
        tell(there)
    assert capsys.readouterr().err.splitlines() == [
        "tilewire: 1 of 3 positions",
        "tilewire: 2 of 3 positions, 0:30 left",
        "tilewire: 3 of 3 positions",
    ]


@pytest.mark.parametrize(
    ("error", "says", "status"),
    [
        (WorkersError("no workers"), "no workers", 1),
        (OSError(28, "No space left on device"), "--out a.jsonl: No space left on device", 1),
        (OSError("torn"), "--out a.jsonl: torn", 2),
        (ValueError("no result"), "no result", 2),
    ],
)
def test_what_goes_wrong_is_a_sentence(error: Exception, says: str, status: int) -> None:
    with pytest.raises(CommandFailed) as failed, resumable(Path("a.jsonl")):
        raise error
    assert (str(failed.value), failed.value.status) == (says, status)


def test_one_who_stops_is_told_how_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    for out in (Path("a.jsonl"), None):
        with pytest.raises(KeyboardInterrupt), resumable(out):
            raise KeyboardInterrupt
        assert ("a.jsonl" in capsys.readouterr().err) == (out is not None)


class Measured(NamedTuple):
    """A row with two values and their errors."""

    points: Annotated[float, Column("points", error="points_error")]
    points_error: float | None
    wins: Annotated[float | None, percent("wins", error="wins_error")._replace(sign=True)]
    wins_error: float | None


def test_values_with_their_errors() -> None:
    rows = [Measured(1.26, 0.5, -0.126, 0.02), Measured(0.5, None, None, None)]
    cells = [line.split("  ") for line in as_text({"": rows}).splitlines()[-2:]]
    assert [[cell.strip() for cell in line if cell] for line in cells] == [
        ["1.3 ± 0.5", "−12.6 ± 2.0 %"],
        ["0.5", "–"],
    ]


def test_columns_that_do_not_fit_follow_below() -> None:
    head, rows = ("bag", "wins", "points"), [("1-4", "0.10 %", "+2.5"), ("a game", "0.04 %", "−1")]
    at_once = folded(head, rows, None).splitlines()
    assert at_once[2:] == ["1-4     0.10 %  +2.5", "a game  0.04 %  −1"]
    assert folded(head, rows, 22).splitlines() == at_once
    above = [line[:14].rstrip() for line in at_once]
    for width in (21, 14, 1):
        *first, _, _, _, third, fourth = folded(head, rows, width).splitlines()
        assert first == above
        assert (third, fourth) == ("1-4     +2.5", "a game  −1")
