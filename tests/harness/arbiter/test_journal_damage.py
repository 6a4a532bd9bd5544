"""A journal that is not as its host left it: it is said, and what is whole is played on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import match_samples
import msgspec
import pytest
from postgres import tamper
from tables import Play, random_policy, words

from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_file import check_structure
from harness.arbiter.records import ClockNote, Failed, Opened
from harness.arbiter.scorebook import Scorebook

OPEN = {"g0": 3, "g1": 9, "g2": 14}
"""Games that are on, by turns."""

PLACES = 100


async def played(path: Path) -> dict[str, Scorebook]:
    """Have a host play games, and leave its files as if it had been killed."""
    live = path.with_name("live.db")
    journal = Journal(live)
    books = {}
    for seed, (game, turns) in enumerate([*OPEN.items(), ("done", 10_000)]):
        play, policy = Play().start(), random_policy(seed)
        for _ in range(turns):
            play.move(policy(play), after_ms=250)
            if play.table.over:
                break
        first, *rest = play.records
        assert isinstance(first, Opened)
        opened = msgspec.structs.replace(first, game=game)
        await journal.create(opened, {"sides": []})
        for record in rest[:-1]:
            await journal.append(game, [record])
        await journal.append(game, rest[-1:], last=play.table.over)
        if not play.table.over:
            journal.note(ClockNote(game=game, clocks=play.book.clocks(play.now), seq=turns + 1))
        books[game] = play.book
    await journal.append("g0", [Failed(seat=0, code="disconnect", message="")])
    for ending in ("", "-wal", "-lock"):
        shutil.copy(f"{live}{ending}", f"{path}{ending}")
    journal.close()
    return books


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Scorebook]]:
    path = tmp_path_factory.mktemp("left") / "games.db"
    return path, asyncio.run(played(path))


@pytest.fixture
def path(left: tuple[Path, dict[str, Scorebook]], tmp_path: Path) -> Path:
    """The files of a host that was killed, as a copy that may be damaged."""
    for file in left[0].parent.glob("games.db*"):
        shutil.copy(file, tmp_path)
    return tmp_path / "games.db"


def merged(path: Path) -> None:
    """Have a journal closed in good order: all of it is in one file."""
    Journal(path).close()


def facts(book: Scorebook) -> object:
    """All of a game that decides how it goes on, but for the time that the last turn has taken."""
    turns = [(turn.move, turn.scores, turn.rack_after, turn.clocks) for turn in book.turns]
    return turns, book.game, book._clocks, book.on_turn


def games_on(path: Path) -> set[str]:
    with closing(Journal(path)) as journal:
        return {kept.game for kept in journal.unfinished()}


def test_what_a_killed_host_leaves_is_whole(path: Path) -> None:
    assert games_on(path) == set(OPEN)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("how", ["gone", "cut", "flipped"])
def test_a_write_ahead_log_that_is_not_whole_is_said_and_left_as_it_is(
    path: Path, how: str
) -> None:
    log = path.with_name("games.db-wal")
    whole = log.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "gone": b"",
        "cut": whole[:middle],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
    }[how]
    log.write_bytes(damaged)
    if how == "gone":
        log.unlink()
    for _ in range(2):  # and so it is said at the next start
        with pytest.raises(JournalError, match=r"lacks the last \d+ .* games\.db-lock"):
            Journal(path)
    assert how == "gone" or log.read_bytes() == damaged
    log.write_bytes(whole)
    assert games_on(path) == set(OPEN)


def test_what_is_lost_may_be_given_up(path: Path) -> None:
    log = path.with_name("games.db-wal")
    log.write_bytes(log.read_bytes()[:100_000])
    path.with_name("games.db-lock").unlink()
    Journal(path).close()


def test_an_older_copy_in_place_of_the_journal_is_said(path: Path) -> None:
    for ending in ("", "-wal"):
        Path(f"{path}{ending}").unlink()
    with pytest.raises(JournalError, match="older copy"):
        Journal(path)
    assert not path.exists()


def test_a_damaged_structure_is_said_with_what_to_do(path: Path) -> None:
    merged(path)
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 3 + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(JournalError, match=r"games\.db is damaged \(.*\); restore a backup"):
        Journal(path)
    assert path.read_bytes() == content
    path.write_bytes(b"\xff" * 8_192)
    said = pytest.raises(JournalError, match=r"damaged \(file is not a database\)")
    with closing(sqlite3.connect(path)) as connection, said:
        check_structure(connection, path)


def test_a_hundred_random_places(
    left: tuple[Path, dict[str, Scorebook]], path: Path, tmp_path: Path
) -> None:
    """Whatever is damaged: no other error, and no game that goes on otherwise than it was."""
    outcomes: Counter[str] = Counter()
    chance = random.Random(1)
    copy = tmp_path / "copy" / "games.db"
    for number in range(PLACES):
        shutil.rmtree(copy.parent, ignore_errors=True)
        copy.parent.mkdir()
        for file in path.parent.glob("games.db*"):
            shutil.copy(file, copy.parent)
        if number % 2:
            merged(copy)
        files = [file for file in copy.parent.iterdir() if file.name != "games.db-lock"]
        content = bytearray((file := max(files, key=lambda it: it.stat().st_size)).read_bytes())
        place = chance.randrange(len(content))
        content[place] ^= chance.randrange(1, 256)
        file.write_bytes(content)
        outcomes[reopened(copy, left[1])] += 1
    print(dict(outcomes))
    assert outcomes["refused"] + outcomes["set aside"] > PLACES / 4


def reopened(path: Path, truth: dict[str, Scorebook]) -> str:
    """Open a journal as a server does; say what it came to."""
    aside: list[str] = []
    try:
        journal = Journal(path)
    except JournalError:
        return "refused"
    found = set()
    with closing(journal):
        try:
            for kept in journal.unfinished(lambda error: aside.append(str(error))):
                try:
                    book = Scorebook.restored(kept.records, kept.note, words())
                except ValueError as error:
                    aside.append(str(error))
                else:
                    found.add(kept.game)
                    assert facts(book) == facts(truth[kept.game]), kept.game
        except JournalError as error:
            aside.append(str(error))
    assert aside or found == set(OPEN), "a game was lost, and nothing said"
    return "set aside" if aside else "no matter"


def test_other_games_are_read_beside_one_that_can_not_be(path: Path) -> None:
    merged(path)
    tamper(path, "UPDATE records SET content = '{' WHERE game = 'g0' AND number = 2")
    tamper(path, "DELETE FROM records WHERE game = 'g1' AND number = 4")
    said: list[JournalError] = []
    with closing(Journal(path)) as journal:
        assert [kept.game for kept in journal.unfinished(said.append)] == ["g2"]
        with pytest.raises(JournalError, match="game g0 can't be read"):
            journal.unfinished()
    for game, error in zip(("g0", "g1"), said, strict=True):
        assert f"game {game} can't be read" in str(error)


@pytest.mark.parametrize(
    ("was", "is_now", "sentence"),
    [
        ('"score":', '"score":1', "has score"),
        ('"clocks":[', '"clocks":[1', "has a clock of"),
        ('"rack":"', '"rack":"Q', "has rack"),
    ],
)
def test_a_record_that_is_not_what_came_of_the_game_is_said(
    path: Path, was: str, is_now: str, sentence: str
) -> None:
    merged(path)
    change = "UPDATE records SET content = replace(content, ?, ?) WHERE game = 'g0'"
    tamper(path, f"{change} AND number = 2", was, is_now)
    with closing(Journal(path)) as journal:
        (kept,) = (kept for kept in journal.unfinished() if kept.game == "g0")
    with pytest.raises(ValueError, match=sentence):
        Scorebook.restored(kept.records, kept.note, words())


# --- a disk that is full --------------------------------------------------------------------------


async def healthy(journal: Journal) -> str | None:
    """Have the journal make a commit, and ask how it is."""
    journal._probed = 0.0
    journal.trouble()
    await asyncio.gather(journal.claim_name("ann", "0"), return_exceptions=True)
    return journal.trouble()


async def begin(journal: Journal) -> None:
    """Have another game begin."""
    await journal.create(match_samples.opened("new"), {})


async def test_a_journal_that_can_not_be_written_knows_it(path: Path) -> None:
    with closing(Journal(path)) as journal:
        with pytest.raises(JournalError):
            await journal.create(match_samples.opened("g0"), {})  # there is one of that name
        assert journal.trouble() is None, "one game's fault is not the journal's"
        assert await healthy(journal) is None
        other = sqlite3.connect(path, isolation_level=None)
        other.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON state BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
        assert await healthy(journal) == f"{path} can't be written: full"
        other.execute("DROP TRIGGER full")
        other.close()
        assert await healthy(journal) is None, "with room again, all is well again"


async def test_no_game_begins_without_the_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unmounted(_path: Path) -> None:
        raise OSError("no such folder")

    with closing(Journal(path, reserve=1)) as journal:
        monkeypatch.setattr("shutil.disk_usage", unmounted)
        with pytest.raises(JournalError, match="no such folder"):
            await begin(journal)
        assert journal.trouble() == "no such folder"


async def test_no_game_begins_with_little_room_and_those_that_are_on_go_on(path: Path) -> None:
    with closing(Journal(path, reserve=1 << 60)) as journal:
        with pytest.raises(JournalError, match=r"only \d+ MB are free"):
            await begin(journal)
        await journal.append("g0", [Failed(seat=0, code="disconnect", message="")])
        assert "MB are free" in (journal.trouble() or "")
