"""What a report says, in each of its forms, and whose text it lets nobody run."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from command_line import CommandLine
from event_samples import FIELD, HOSTILE, write_event
from match_samples import game, match_config, seat

from harness.figures import plain
from harness.matches.config import TournamentConfig, write_config
from harness.matches.event_report import event, games, tables
from harness.matches.event_report.event import read_event
from harness.matches.event_report.formats import as_csv, as_html, as_markdown
from harness.matches.folder import Arranged, Corrected, FolderContents, MatchFolder
from harness.matches.pairings import Pairing, Round
from harness.matches.ratings import rate_results
from harness.matches.report import TournamentSummary, summarize, write_rating
from harness.matches.results import PlannedGame, walkover
from harness.matches.sequential import SequentialTest, state_of
from harness.matches.standings import standings

GAMES = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four players who met each other twice."""
    folder = tmp_path_factory.mktemp("report") / "event"
    write_event(folder)
    return folder


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """The same event, to be written into."""
    return Path(shutil.copytree(folder, tmp_path / "event"))


def made(
    folder: Path, names: Sequence[str], games: Iterable[tuple[str, str, int, int]], **others: Any
) -> TournamentConfig:
    """Write an event of games by names and scores."""
    config = match_config(names=tuple(names), seats=("static",) * len(names), **others)
    write_config(config, folder)
    with MatchFolder(folder) as files:
        for number, (one, other, *scores) in enumerate(games):
            sides = seat(one, scores[0]), seat(other, scores[1])
            files.append(
                game(number, (scores[0], scores[1]), sides=sides, pair=number, first=number % 2)
            )
    return config


class Page(HTMLParser):
    """The tables of a page by their section, its scripts, and all attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self._section = self._text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
        elif tag == "tr":
            self.tables.setdefault(self._section, []).append([])
        self._text = ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self.tables[self._section][-1].append(self._text)
        elif tag == "script":
            self.scripts.append(self._text)
        self._text = ""


def test_an_event_has_the_figures_of_its_results(folder: Path) -> None:
    told, files = read_event(folder), FolderContents(folder)
    table = standings(match_config(names=FIELD, seats=("static",) * 4), files)
    figures = [(of.name, 6, of.spread, of.mean_score) for of in table]
    assert [(row[0], row[2], row[4], row[6]) for row in told.standings.rows] == figures
    assert told.cross is not None
    for at, (of, row) in enumerate(zip(table, told.cross.rows, strict=True)):
        assert [points is None for points in row[2:]] == [other == at for other in range(4)]
        assert sum(points or 0 for points in row[2:]) == of.points
    ratings = {of.name: of.rating for of in rate_results(files.results).players}
    assert told.ratings is not None
    assert {row[0]: row[1] for row in told.ratings.rows} == ratings
    assert [sum(row[at] for row in told.spreads.rows) for at in range(1, 5)] == [6] * 4
    below = sum(row[1] for row in told.spreads.rows if row[0] < 0)
    sides = [result.sides for result in files.results]
    lost = [(a, b) for one, other in sides for a, b in ((one, other), (other, one))]
    assert below == sum(a.score < b.score for a, b in lost if a.name == table[0].name)
    faults = Page(as_html(told)).tables["faults"][1]
    assert faults[2] == f"{FIELD[1]}: crash 1"


def test_nobodys_text_is_run_or_loaded(folder: Path) -> None:
    html = as_html(read_event(folder))
    page = Page(html)
    assert page.tags.count("script") == 2, "the games and ours"
    assert "img" not in page.tags
    assert HOSTILE not in html
    assert "default-src 'none'" in html
    data = json.loads(page.scripts[0])
    assert HOSTILE in data["names"]
    loads = ("src", "srcset", "action", "data", "poster", "xlink:href", "style")
    assert [name for name, _ in page.attributes if name in loads or name.startswith("on")] == []
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert "@import" not in html
    assert "url(" not in html
    assert "\x1b" not in html


def test_the_games_of_a_page_are_those_of_the_journal(folder: Path) -> None:
    told = read_event(folder)
    games = told.games["games"]
    assert [one["n"] for one in games] == list(range(1, GAMES + 1))
    results = {result.number: result for result in FolderContents(folder).results}
    for one in games:
        result = results[one["n"]]
        for at, side in enumerate((result.first, 1 - result.first)):
            own = result.sides[side]
            assert told.games["names"][one["p"][at]] == plain(own.name)
            scored, took = (sum(turn[of] for turn in one["t"][at::2]) for of in (2, 3))
            assert scored + one["x"][at] - one["y"][at] == own.score
            assert took == own.think_ms
        assert len(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()) < 1_500
    assert len(told.games["layout"]["letter"]) == 225


def test_the_rounds_of_an_event_have_its_games_and_byes_as_they_count(tmp_path: Path) -> None:
    write_event(tmp_path / "event", ("A", "B", "C"))
    with MatchFolder(tmp_path / "event") as files:
        first, second, *_ = files.results
        files.decide(Round(1, (Pairing(0, 1),), (2,)))
        files.decide(Corrected(2, second.game, (310, 333), "hannah: misread"))
        files.append(walkover(PlannedGame(7, 7, 1, (0, 2), 2), "w", ("A", "C"), (True, False)))
        files.decide(Arranged(2, (1,)))
        files.decide(Round(2, (Pairing(0, 2),)))
    told = read_event(tmp_path / "event")
    assert told.rounds is not None
    one, two, *_, bye, missed, half = told.rounds.rows
    a, b = (side.score for side in first.sides)
    assert one == ("1", 1, "A – B", f"{a} – {b}", "A wins" if a > b else "B wins")
    assert two[3] == "310 – 333"
    assert two[4].startswith("C wins (corrected from ")
    assert bye == ("bye", 1, "C", None, None)
    assert missed == ("7", 2, "C – A", "0 – 0", "C wins (no_show)")
    assert half == ("bye", 2, "B", None, "half a point a game")
    corrected = told.games["games"][1]
    assert sorted(corrected["s"]) == [310, 333]
    assert corrected["o"].endswith("by director hannah: misread")
    assert corrected["x"] == corrected["y"] == (0, 0)


def test_of_very_many_games_each_pairing_has_its_first_and_last(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (games, event):
        monkeypatch.setattr(module, "MOST_GAMES", 6)
    results = [result for result in FolderContents(copied).results if result.number != 7]
    assert [result.number for result in games._shown(results)] == [1, 2, 8, 3, 9, 4]
    monkeypatch.setattr(event, "MOST_TRANSCRIPTS", 0)
    one = copied / "games" / "00001.faults.txt"
    for at in (2, 3):
        shutil.copy(one, one.with_name(f"{at:05d}.faults.txt"))
    told = read_event(copied)
    assert len(told.games["games"]) == 6
    assert "6 of 12 games" in told.games_note
    assert "3 more" in told.transcripts_note
    monkeypatch.setattr(games, "MOST_GAMES", 12)
    assert len(list(games._shown(sorted(results * 3, key=lambda result: result.number)))) == 12


def test_markdown_and_csv_have_the_numbers_of_the_page(folder: Path) -> None:
    told = read_event(folder)
    page, markdown = Page(as_html(told)), as_markdown(told)
    lines = list(csv.DictReader(as_csv(told).splitlines()))
    sections = re.split(r"^## (.*)$", markdown, flags=re.MULTILINE)
    texts = dict(zip(sections[1::2], sections[2::2], strict=True))
    for sheet in told.sheets:
        rows = [line for line in texts[sheet.title].splitlines() if line.startswith("| ")][2:]
        cells = [re.split(r"(?<!\\) ?\| ?", row)[1:-1] for row in rows]
        plainly = [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in cells]
        assert plainly == page.tables[sheet.key][1:]
        values = [line for line in lines if line["table"] == sheet.key]
        raw = [value for row in sheet.rows for value in row[1:] if value is not None]
        assert [line["value"].removeprefix("'") for line in values] == list(map(str, raw))
    assert "'=1+1" in as_csv(told), "a spreadsheet must not take a name for a formula"


def test_markdown_escapes_names_and_fences_transcripts(folder: Path) -> None:
    markdown = as_markdown(read_event(folder))
    table = markdown.partition("## What went wrong")[0]
    assert r"\<script\>" in table
    assert not re.search(r"(?<!\\)[<>]", table)
    assert "````text\n</script>" in markdown, "a fence longer than any in the transcript"
    assert "�[2J" in markdown


def test_a_large_field_has_a_list_of_who_met_whom(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    square = read_event(folder).cross
    monkeypatch.setattr(tables, "MOST_CROSSED", 3)
    met = read_event(folder).cross
    assert square is not None
    assert met is not None
    assert len(met.rows) == 6
    assert all(points + other == games == 2 for _, points, other, games in met.rows)
    by_name = {
        row[0]: dict(zip((of.name for of in square.fields), row, strict=True))
        for row in square.rows
    }
    for who, points, *_ in met.rows:
        one, other = who.split(" – ")
        assert by_name[one][other] == points


def test_who_won_or_lost_everything_has_no_rating_and_its_place(tmp_path: Path) -> None:
    games = ((*names, 400, 300) for names in ("ab", "ac", "bc", "cb", "az", "bz"))
    config = made(tmp_path, "zabcx", games)
    ratings = read_event(tmp_path).ratings
    assert ratings is not None
    assert [row[:2] for row in ratings.rows] == [
        *(("a", None), ("b", 0.0), ("c", 0.0), ("z", None), ("x", None)),
    ]
    assert [row[3:5] for row in ratings.rows] == [(None, None)] * 5, "too few games for a bound"
    assert "no rating" in ratings.note
    told = summarize(config, FolderContents(tmp_path))
    assert isinstance(told, TournamentSummary)
    assert [write_rating(of) for of in told.ratings.players] == ["–", "–", "0", "0", "–"]
    players = {of["name"]: of["rating"] for of in told.as_object()["ratings"]["players"]}
    assert players == {"z": None, "a": None, "b": 0.0, "c": 0.0, "x": None}


def test_few_games_have_ratings_without_intervals(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    games = ((names[n % 3], names[(n + 1) % 3], 400, 300 + 150 * (n % 2)) for n in range(6))
    config = made(tmp_path, names, games)
    table = summarize(config, FolderContents(tmp_path)).text(100)
    event = read_event(tmp_path)
    (ratings,) = (sheet for sheet in event.sheets if sheet.key == "ratings")
    heads = [field.head for field in ratings.fields]
    assert (heads[:2], "±" in heads) == (["name", "Elo"], False)
    for text in (ratings.note, table):
        assert "no intervals" in text
    assert "95 %" not in table + as_html(event)


def test_a_match_has_its_verdict_instead_of_ratings(tmp_path: Path) -> None:
    test, config = SequentialTest(0.5, 0.6), write_event(tmp_path, ("a", "b"), games=4)
    write_config(msgspec.structs.replace(config, test=test), tmp_path)
    told = read_event(tmp_path)
    page = Page(as_html(told))
    assert told.summary.startswith("4 games in 2 pairs. ")
    assert {"cross", "ratings"}.isdisjoint(page.tables)
    assert page.tables["match"][0] == ["", "a", "b"]
    lines = csv.DictReader(as_csv(told).splitlines())
    values = {(of["row"], of["column"]): of["value"] for of in lines if of["table"] == "match"}
    assert values["games", ""] == "4"
    assert values["move_ms_mean", "a"]
    assert ("spread_ci95", "low") not in values, "unknown with so few pairs"
    state = state_of(test, FolderContents(tmp_path).results)
    assert values["test", "llr"] == str(state.llr)
    assert "unfinished, after 2 pairs" in as_html(told)


def test_without_its_journal_an_event_has_no_games_and_times(copied: Path) -> None:
    (copied / "match.db").unlink()
    told = read_event(copied)
    assert told.times is None
    assert "journal" in told.games_note
    html = as_html(told)
    assert 'id="times"' not in html


@pytest.mark.parametrize("played", [2, 0])
def test_games_that_were_given_without_play_are_said_and_have_no_scores(
    tmp_path: Path, played: int
) -> None:
    if played:
        write_event(tmp_path, ("a", "b"), games=played)
    else:
        made(tmp_path, "ab", ())
    sides = seat("a", 0), seat("b", 0)
    with MatchFolder(tmp_path) as files:
        files.append(game(3, (0, 0), sides=sides, outcome="no_show", winner=0, turns=0))
    told = read_event(tmp_path)
    assert "<html" in as_html(told)
    assert len(told.standings.rows) == 2
    assert [sum(row[1] for row in told.spreads.rows)] == [played]
    if played:
        assert "2 of 3 games" in told.games_note
        assert [row[1] for row in told.scores.rows] == [2, 2], "games in which there were scores"


def test_a_report_is_written_where_it_is_asked_for(
    tilewire: CommandLine, copied: Path, tmp_path: Path
) -> None:
    before = sorted(path.name for path in copied.iterdir())
    assert tilewire("report", copied, "--out", tmp_path / "it.html") == 0
    assert f"{tmp_path / 'it.html'}\n" in tilewire.out
    assert sorted(path.name for path in copied.iterdir()) == before
    assert tilewire("report", copied, "--out", tmp_path) == 2
    assert f"--out {tmp_path} is a folder" in tilewire.err
    assert tilewire("report", copied, "--out", tmp_path / "no" / "it.html") == 1
    assert f"{tmp_path}/no/it.html" in tilewire.err
    assert (tmp_path / "it.html").read_text(encoding="utf-8") == as_html(read_event(copied))
    for form, name in (("html", "report.html"), ("markdown", "report.md"), ("csv", "report.csv")):
        assert tilewire("report", copied, "--format", form) == 0
        assert (copied / name).stat().st_size > 1_000


def test_what_is_no_event_is_told_in_a_sentence(tilewire: CommandLine, tmp_path: Path) -> None:
    assert tilewire("report", tmp_path / "nowhere") == 2
    assert "no folder" in tilewire.err
    assert tilewire("report", tmp_path) == 2
    assert f"{tmp_path} has no match" in tilewire.err
    write_config(match_config(), tmp_path)
    assert tilewire("report", tmp_path) == 2
    assert "no game" in tilewire.err
    (tmp_path / "results.jsonl").write_text("{}\n")
    assert tilewire("report", tmp_path) == 2
    assert "line 1" in tilewire.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["match.json", "results.jsonl"]
