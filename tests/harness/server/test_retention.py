"""Old games leave the journal: as GCG first, and never without."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from postgres import tamper
from tables import Play, tables, words

from harness.arbiter.clock import DAY_S
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import KeptGame, read_ended, read_games
from harness.arbiter.records import Opened, Thought
from harness.arbiter.scorebook import Scorebook
from harness.matches.results import game_record
from harness.server import retention
from harness.server.retention import Retention

PLAYERS = "one", "two"
OCTOBER = datetime(2026, 10, 31, 12, tzinfo=UTC).timestamp()


async def keep(
    journal: Journal,
    game: str,
    at: float,
    *,
    is_over: bool = True,
    sides: Sequence[dict[str, str]] = (),
) -> None:
    """Have a game in the journal that began at a time; its players think if it has sides."""
    play = Play().start()
    for _ in range(6 if is_over else 3):
        if sides:
            play.think("hm")
            play.think("so")
        play.move("-", after_ms=10)
    opened, *rest = play.records
    assert isinstance(opened, Opened)
    await journal.create(replace(opened, game=game), {"ladder": "blitz", "sides": list(sides)})
    await journal.append(game, rest, last=is_over)
    tamper(journal.address, "UPDATE games SET created = ? WHERE game = ?", at, game)


def games(journal: Journal) -> dict[str, KeptGame]:
    return {game.game: game for game in read_games(journal.address)}


def thoughts(kept: KeptGame) -> list[Thought]:
    return [record for record in kept.records if isinstance(record, Thought)]


async def drop(journal: Journal, archive: Path, at: float = OCTOBER + DAY_S) -> None:
    await Retention(30, archive).drop(journal, tables(), at, None)


async def test_old_games_are_written_by_month_and_then_dropped(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    monkeypatch.setattr(retention, "PAUSE_S", 0)
    for number in range(3):
        await keep(journal, f"old-{number}", OCTOBER + number * DAY_S)
    await keep(journal, "on", OCTOBER, is_over=False)
    await keep(journal, "new", OCTOBER + 10 * DAY_S)
    before = games(journal)
    archive = tmp_path / "archive"
    await drop(journal, archive, OCTOBER + 5 * DAY_S)
    assert {str(path.relative_to(archive)) for path in archive.rglob("*.gcg")} == {
        "2026-10/old-0.gcg",
        *("2026-11/old-1.gcg", "2026-11/old-2.gcg"),
    }
    assert "#player1 one" in (archive / "2026-10" / "old-0.gcg").read_text()
    after = games(journal)
    assert {game: len(kept.records) for game, kept in after.items()} == {
        **dict.fromkeys(("old-0", "old-1", "old-2"), 2),
        **{game: len(before[game].records) for game in ("on", "new")},
    }
    assert all(kept.is_short == kept.game.startswith("old") for kept in after.values())
    assert after["old-0"].records == (before["old-0"].records[0], before["old-0"].records[-1])
    results = {kept.game: kept.ended for kept in read_ended(journal.address, "ladder")}
    assert results == {game: before[game].records[-1] for game in before if game != "on"}
    (archive / "2026-10" / "old-0.gcg").unlink()
    await drop(journal, archive, OCTOBER + 5 * DAY_S)
    assert not (archive / "2026-10" / "old-0.gcg").exists()


async def test_moves_are_dropped_once_their_file_outlives_a_power_cut(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(journal, "old", OCTOBER)
    synced, dropped, fsync = set[Path](), list[str](), os.fsync
    archive = tmp_path / "archive"

    def sync(handle: int) -> None:
        synced.add(Path(f"/proc/self/fd/{handle}").readlink())
        fsync(handle)

    async def drop_moves(games: list[str]) -> None:
        month = archive / "2026-10"
        assert synced == {archive, month, month / "old.gcg~"}
        dropped.extend(games)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(journal, "drop_moves", drop_moves)
    await drop(journal, archive)
    assert dropped == ["old"]


async def test_each_time_goes_on_from_the_last(tmp_path: Path, journal: Journal) -> None:
    kept = Retention(30, tmp_path / "archive")
    for number in range(3):
        await keep(journal, f"old-{number}", OCTOBER + number)
    assert await kept.drop(journal, tables(), OCTOBER + 1, None) == "old-0"
    assert await kept.drop(journal, tables(), OCTOBER + 5, "old-1") == "old-2"
    short = {name: game.is_short for name, game in games(journal).items()}
    assert short == {"old-0": True, "old-1": False, "old-2": True}
    assert await kept.drop(journal, tables(), OCTOBER + 5, "old-2") == "old-2"
    assert await kept.drop(journal, tables(), OCTOBER + 5, None) == "old-1"


@pytest.mark.parametrize(
    ("sides", "holders", "left"),
    [
        (("guest", "guest"), "", 0),
        (("guest", "guest"), "two", 6),
        (("guest", "guest"), "one two", 12),
        (("guest", "bot"), "", 0),
        (("guest", "bot"), "one", 12),
        (("bot", "bot"), "", 12),
    ],
)
async def test_what_is_thought_without_a_token_is_dropped_and_moves_stay(
    tmp_path: Path, journal: Journal, sides: tuple[str, str], holders: str, left: int
) -> None:
    thinkers = [{"kind": kind, "name": name} for kind, name in zip(sides, PLAYERS, strict=True)]
    await keep(journal, "old", OCTOBER, sides=thinkers)
    await keep(journal, "new", OCTOBER + 2 * DAY_S, sides=thinkers)
    await keep(journal, "on", OCTOBER, is_over=False, sides=thinkers)
    before = games(journal)
    archive, now = tmp_path / "archive", OCTOBER + 2 * DAY_S
    dropping = asyncio.create_task(
        Retention(None, archive, thoughts_days=1).run(
            journal, tables(), lambda name: name in holders.split(), lambda: now
        )
    )
    after = before
    while len(thoughts(after["old"])) != left:
        await asyncio.sleep(0.01)
        after = games(journal)
    dropping.cancel()
    await asyncio.wait([dropping])
    assert (after["new"], after["on"]) == (before["new"], before["on"])
    assert list(after["old"].records) == [
        record
        for record in before["old"].records
        if not isinstance(record, Thought) or left == 12 or PLAYERS[record.seat] in holders
    ]
    book = Scorebook.restored(after["old"].records, None, words())
    assert book.ended == before["old"].ended
    assert not archive.exists()


async def test_a_damaged_label_holds_back_no_other_thoughts(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 1)
    monkeypatch.setattr(retention, "PAUSE_S", 0)
    for number, sides in enumerate(([{"odd": "label"}], [{"kind": "guest", "name": "one"}])):
        await keep(journal, f"g{number}", OCTOBER + number, sides=sides)
    last = await retention.drop_thoughts(journal, lambda _name: False, OCTOBER + DAY_S, None)
    assert last == "g1"
    kept = {name: len(thoughts(game)) for name, game in games(journal).items()}
    assert kept == {"g0": 12, "g1": 0}


async def test_what_is_damaged_stays_and_holds_back_no_other(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for game, at in (("timeless", -1e300), ("damaged", OCTOBER), ("fine", OCTOBER + 1)):
        await keep(journal, game, at)

    def record(book: Scorebook, title: str) -> str:
        if book.opened.game == "damaged":
            raise KeyError("damaged")
        return game_record(book, title)

    monkeypatch.setattr("harness.server.retention.game_record", record)
    archive = tmp_path / "archive"
    await drop(journal, archive)
    written = {str(path.relative_to(archive)) for path in archive.rglob("*.gcg")}
    assert written == {"1970-01/timeless.gcg", "2026-10/fine.gcg"}
    short = {name: game.is_short for name, game in games(journal).items()}
    assert short == {"timeless": True, "damaged": False, "fine": True}


async def test_what_can_not_be_written_stays(tmp_path: Path, journal: Journal) -> None:
    await keep(journal, "other-words", OCTOBER)
    await keep(journal, "fine", OCTOBER + 1)
    change = "UPDATE records SET content = replace(content, ?, ?) WHERE game = 'other-words'"
    tamper(journal.address, change, words().checksum, "0" * 64)
    await drop(journal, tmp_path / "archive")
    full = tmp_path / "file"
    full.write_text("no folder")
    await keep(journal, "later", OCTOBER)
    with pytest.raises(OSError, match="file"):
        await drop(journal, full)
    short = {name: game.is_short for name, game in games(journal).items()}
    assert short == {"other-words": False, "fine": True, "later": False}
