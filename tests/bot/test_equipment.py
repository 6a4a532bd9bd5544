"""What a seat is given reaches its player, and what is wrong with it is said before."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from bot_table import TestArbiter

from bot.equipment import Equipment, load_tables
from bot.seat import worker_main
from bot.seat.offers import Declined, resources_for
from engine.rules.rules import Rules
from lexicons.alphabet import load_distribution
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.store import load_lexicon


def test_tables_are_loaded_once(tmp_path: Path, rules: Rules) -> None:
    leaves, winprob = tmp_path / "leaves.klv2", tmp_path / "winpct.csv"
    write_klv(leaves, LeaveTable.zero(rules.distribution))
    winprob.write_text(",0,1\n1,1,0.75\n0,0.5,0.5\n-1,0,0.25\n")
    equipment = Equipment(leaves=str(leaves), win_probabilities=str(winprob))
    one, two = (load_tables(equipment, rules.distribution) for _ in range(2))
    assert one.leaves is two.leaves is not None
    assert one.win_probabilities is two.win_probabilities is not None
    assert load_tables(Equipment(), rules.distribution) == (None, None)


def _with(table: str, name: str) -> Equipment:
    return Equipment(**{table: name})  # type: ignore[arg-type]


def test_files_that_are_no_tables(tmp_path: Path, rules: Rules) -> None:
    broken = tmp_path / "broken"
    broken.write_text("nothing")
    for kind, name in (("leaves", "leave table"), ("win_probabilities", "win probabilities")):
        with pytest.raises(OSError, match=f"{name} none$"):
            load_tables(_with(kind, "none"), rules.distribution)
        with pytest.raises(ValueError, match=str(broken)):
            load_tables(_with(kind, str(broken)), rules.distribution)


def test_a_game_with_tiles_that_the_leave_table_is_not_for_is_declined(
    tmp_path: Path, table: TestArbiter
) -> None:
    (tmp_path / "few.csv").write_text("?,?,2,0,0\nA,a,9,1,1\nB,b,9,3,0\n")
    few = load_distribution(str(tmp_path / "few.csv"))
    (tmp_path / "ab.txt").write_text("ab\nba\n")
    path = tmp_path / "english.klv2"
    write_klv(path, LeaveTable.zero(table.rules.distribution))
    with pytest.raises(ValueError, match=r"english\.klv2"):
        load_tables(Equipment(leaves=str(path)), few)
    rules = Rules(distribution=few, layout=table.rules.layout)
    equipment = Equipment(str(tmp_path / "ab.txt"), leaves=str(path))
    with pytest.raises(Declined) as caught:
        resources_for(equipment, table.offer(), rules)
    assert caught.value.code in ("unknown_lexicon", "unsupported_rules")


def test_a_bot_that_was_given_words_plays_with_no_others(
    tmp_path: Path, table: TestArbiter
) -> None:
    (tmp_path / "other.txt").write_text("aa\nae\n")
    embedded = load_lexicon()
    offer = msgspec.structs.replace(
        table.offer(), lexicon=embedded.name, lexicon_checksum=embedded.checksum
    )
    with pytest.raises(Declined, match="'scowl'"):
        resources_for(Equipment(str(tmp_path / "other.txt")), offer, table.rules)
    assert resources_for(Equipment(), offer, table.rules).lexicon.checksum == embedded.checksum


def test_a_number_of_threads_that_makes_no_sense_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_main, "log_to_stderr", lambda _level: None)
    options = worker_main._parser().parse_args(
        ["--bot", "static", "--pipe", "--equipment", '{"threads": 0}']
    )
    assert worker_main._run(options, None) == 2
    assert capsys.readouterr().err == "0 threads; a player searches with 1 or more\n"
