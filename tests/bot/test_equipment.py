"""What a seat is given reaches its player, and what is wrong with it is said before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from bot_table import TestArbiter
from lexicon_parts import leaves_worth

from bot.equipment import Equipment, Resources, load_tables
from bot.seat import worker_main
from bot.seat.offers import Declined, resources_for
from bot.seat.player_view import Watched
from bot.seat.worker_handle import SeatProcess
from bot.seat_text import parse_seat
from engine.rules.rules import Rules
from lexicons.alphabet import load_distribution
from lexicons.klv import write_klv
from lexicons.leaves import LeaveTable
from lexicons.store import load_lexicon

SAYS_WHAT_IT_HAS = """
import sys
from bot.player import Choice, Player
from engine.rules.moves import PASS

print("tilewire: this takes a while", file=sys.stderr)
print("and this is for nobody", file=sys.stderr)

class Bot(Player):
    def choose(self, view, budget):
        s = view.rules.distribution.alphabet.tiles("S")
        had = view.leaves.value(s), view.win_probabilities.at(3, 50), view.threads
        return Choice(PASS, text=" ".join(map(str, had)))
"""


@pytest.fixture
def leaves(tmp_path: Path, rules: Rules) -> Path:
    path = tmp_path / "leaves.klv2"
    (s,) = rules.distribution.alphabet.tiles("S")
    write_klv(path, leaves_worth(rules.distribution, {(s,): 7.5}))
    return path


@pytest.fixture
def winprob(tmp_path: Path) -> Path:
    path = tmp_path / "winpct.csv"
    path.write_text(",0,1\n1,1,0.75\n0,0.5,0.5\n-1,0,0.25\n")
    return path


def test_a_player_searches_with_a_thread() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        Equipment(threads=0)


def test_tables_are_loaded_once(leaves: Path, winprob: Path, rules: Rules) -> None:
    equipment = Equipment(leaves=str(leaves), win_probabilities=str(winprob))
    one, two = (load_tables(equipment, rules.distribution) for _ in range(2))
    assert one.leaves is two.leaves is not None
    assert one.win_probabilities is two.win_probabilities is not None
    assert load_tables(Equipment(), rules.distribution) == (None, None)


def test_files_that_are_no_tables(tmp_path: Path, rules: Rules) -> None:
    tiles = rules.distribution
    with pytest.raises(OSError, match=r"there is no leave table none$"):
        load_tables(Equipment(leaves="none"), tiles)
    with pytest.raises(OSError, match=r"there is no table of win probabilities none$"):
        load_tables(Equipment(win_probabilities="none"), tiles)
    broken = tmp_path / "broken"
    broken.write_text("nothing")
    for equipment in (Equipment(leaves=str(broken)), Equipment(win_probabilities=str(broken))):
        with pytest.raises(ValueError, match=str(broken)):
            load_tables(equipment, tiles)


def test_a_view_without_tables_says_so(table: TestArbiter) -> None:
    offer, rules = table.offer(), table.rules
    view = Watched(offer, rules, Resources(table.lexicon), 0).view
    assert (view.leaves, view.win_probabilities, view.threads) == (None, None, 1)
    assert Watched(offer, rules, Resources(table.lexicon, threads=3), 0).view.threads == 3


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


async def test_what_a_worker_is_given_reaches_its_player(
    tmp_path: Path, leaves: Path, winprob: Path, table: TestArbiter
) -> None:
    (tmp_path / "mine.py").write_text(SAYS_WHAT_IT_HAS)
    said: list[str] = []
    process = await SeatProcess.start(
        parse_seat(f"{tmp_path / 'mine.py'}:Bot"),
        Equipment(leaves=str(leaves), win_probabilities=str(winprob), threads=3),
        notice=said.append,
    )
    try:
        async with asyncio.timeout(120):
            await table.greet(process.channel)
            await table.begin()
            await table.ask()
    finally:
        await process.kill()
    assert table.infos[0].text == "7.5 0.75 3"
    assert "this takes a while" in said
    assert not any("nobody" in sentence for sentence in said)


def test_a_number_of_threads_that_makes_no_sense_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_main, "log_to_stderr", lambda _level: None)
    options = worker_main._parser().parse_args(
        ["--bot", "static", "--pipe", "--equipment", '{"threads": 0}']
    )
    assert worker_main._run(options, None) == 2
    assert capsys.readouterr().err == "0 threads; a player searches with 1 or more\n"
