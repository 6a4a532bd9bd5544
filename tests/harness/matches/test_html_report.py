"""What a report says, in each of its forms, and whose text it lets nobody run."""

from __future__ import annotations

import csv
import json
import re
import shutil
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine
from event_samples import FIELD, HOSTILE, write_event
from match_samples import game, match_config, seat

from harness.figures import number, plain
from harness.matches.config import write_config
from harness.matches.event_report import event, games, tables
from harness.matches.event_report.charts import Bar, Range, columns, ranges, ticks
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


def test_a_page_has_the_values_of_the_event(folder: Path) -> None:
    page = Page(as_html(read_event(folder)))
    files = FolderContents(folder)
    config = match_config(names=FIELD, seats=("static",) * 4)
    table = standings(config, files)
    rows = page.tables["standings"][1:]
    assert [row[0] for row in rows] == [of.name for of in table]
    assert [row[2] for row in rows] == ["6"] * 4
    assert [row[4] for row in rows] == [number(of.spread, 0, sign=True) for of in table]
    assert [row[6] for row in rows] == [number(of.mean_score) for of in table]
    cross = page.tables["cross"][1:]
    for at, of in enumerate(table):
        assert [cell == "" for cell in cross[at][2:]] == [other == at for other in range(4)]
        points = (cell.replace("½", ".5") for cell in cross[at][2:])
        assert sum(float(cell) for cell in points if cell) == of.points
    ratings = {of.name: of for of in rate_results(files.results).players}
    assert {row[0]: row[1] for row in page.tables["ratings"][1:]} == {
        name: "" if of.rating is None else number(of.rating, 0, sign=True)
        for name, of in ratings.items()
    }
    spreads = page.tables["spreads"][1:]
    assert [sum(int(row[at]) for row in spreads) for at in range(1, 5)] == [6] * 4
    below = sum(int(row[1]) for row in spreads if row[0].startswith("−"))
    assert below == sum(
        result.sides[1 - at].score > side.score
        for result in files.results
        for at, side in enumerate(result.sides)
        if side.name == table[0].name
    )
    times = page.tables["times"][1:]
    assert times[0][0] == "1"
    assert all("ms" in cell for cell in times[0][1:])
    assert page.tables["faults"][1] == [
        "1", f"{FIELD[0]} – {FIELD[1]}", f"{FIELD[1]}: crash 1", "out", ""
    ]  # fmt: skip


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


def test_a_game_of_a_page_that_began_in_a_position_has_it(tmp_path: Path) -> None:
    opening = f"{'/'.join(['3HOuSE7', *['15'] * 14])} AEIQ/ 20/5 1"
    write_event(tmp_path / "event", ("static", "greedy"), games=1, openings=(opening,))
    (told,) = read_event(tmp_path / "event").games["games"]
    assert told["b"] == [(3, "H"), (4, "O"), (5, "u"), (6, "S"), (7, "E")]
    (result,) = FolderContents(tmp_path / "event").results
    for at, begun in enumerate((20, 5)):
        scored = begun + sum(turn[2] for turn in told["t"][at::2])
        assert scored + told["x"][at] == result.sides[at].score
        assert told["z"][at] == begun


def test_the_games_of_a_page_are_those_of_the_journal(folder: Path) -> None:
    told = read_event(folder)
    games = told.games["games"]
    assert [one["n"] for one in games] == list(range(1, GAMES + 1))
    results = {result.number: result for result in FolderContents(folder).results}
    for one in games:
        result = results[one["n"]]
        names = [plain(result.sides[at].name) for at in (result.first, 1 - result.first)]
        assert [told.games["names"][at] for at in one["p"]] == names
        for at, side in enumerate((result.first, 1 - result.first)):
            scored = sum(turn[2] for turn in one["t"][at::2])
            assert scored + one["x"][at] - one["y"][at] == result.sides[side].score
            assert sum(turn[3] for turn in one["t"][at::2]) == result.sides[side].think_ms
        size = len(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode())
        assert size < 1_500
    assert len(told.games["layout"]["letter"]) == 225


def test_a_corrected_game_of_a_page_has_the_result_that_counts(tmp_path: Path) -> None:
    write_event(tmp_path / "event", ("A", "B"))
    with MatchFolder(tmp_path / "event") as files:
        second = files.results[1]
        assert second.first == 1
        files.decide(Corrected(1, second.game, (310, 333), "hannah: misread"))
    _, told = read_event(tmp_path / "event").games["games"]
    assert told["s"] == [333, 310]
    was = " – ".join(str(second.sides[side].score) for side in (1, 0))
    assert told["o"].endswith(f"; corrected from {was} by director hannah: misread")
    assert told["x"] == told["y"] == (0, 0)


def test_the_rounds_of_an_event_have_its_games_and_byes(tmp_path: Path) -> None:
    write_event(tmp_path / "event", ("A", "B", "C"))
    with MatchFolder(tmp_path / "event") as files:
        first, second, *_ = files.results
        files.decide(Round(1, (Pairing(0, 1),), (2,)))
        files.decide(Corrected(2, second.game, (310, 333), "hannah: misread"))
        files.append(walkover(PlannedGame(7, 7, 1, (0, 2), 2), "w", ("A", "C"), (True, False)))
        files.decide(Arranged(2, (1,)))
        files.decide(Round(2, (Pairing(0, 2),)))
    rounds = read_event(tmp_path / "event").rounds
    assert rounds is not None
    one, two, *_, bye, missed, half = rounds.rows
    a, b = (side.score for side in first.sides)
    assert one == ("1", 1, "A – B", f"{a} – {b}", "A wins" if a > b else "B wins")
    c, d = (side.score for side in second.sides)
    how = f"corrected from {c} – {d} by director hannah: misread"
    assert two[3:] == ("310 – 333", f"C wins ({how})")
    assert bye == ("bye", 1, "C", None, None)
    assert missed == ("7", 2, "C – A", "0 – 0", "C wins (no_show)")
    assert half == ("bye", 2, "B", None, "half a point a game")


def test_of_very_many_games_each_pairing_has_its_first_and_last(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games, "MOST_GAMES", 6)
    with MatchFolder(folder) as files:
        results = [result for result in files.results if result.number != 7]
    assert [result.number for result in games._shown(results)] == [1, 2, 8, 3, 9, 4]
    told = read_event(folder)
    assert len(told.games["games"]) == 6
    monkeypatch.setattr(event, "MOST_GAMES", 6)
    note = "6 of 12 games: the first and the last of each pairing, at most 6 games."
    assert read_event(folder).games_note == note
    monkeypatch.setattr(games, "MOST_GAMES", 12)
    thrice = sorted(results * 3, key=lambda result: result.number)
    assert len(list(games._shown(thrice))) == 12


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


def test_the_first_transcripts_are_shown_and_the_others_counted(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event, "MOST_TRANSCRIPTS", 0)
    one = copied / "games" / "00001.faults.txt"
    for at in (2, 3):
        shutil.copy(one, one.with_name(f"{at:05d}.faults.txt"))
    assert read_event(copied).transcripts_note == "3 more in games/*.faults.txt."


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


def test_the_stronger_of_two_are_told_with_their_chances(tmp_path: Path) -> None:
    write_config(match_config(names=("a", "b", "c"), seats=("static",) * 3), tmp_path)
    with MatchFolder(tmp_path) as files:
        for number in range(60):
            names = ("a", "b"), ("b", "c"), ("c", "a")
            scores = (400, 300) if number % 4 else (300, 400)
            sides = tuple(map(seat, names[number % 3], scores))
            files.append(game(number, scores, sides=sides, pair=number))
    sheet = read_event(tmp_path).superiority
    assert sheet is not None
    above = [row[2:] for row in sheet.rows]
    for one, other in combinations(range(3), 2):
        assert above[one][other] >= 0.5
        assert above[one][other] + above[other][one] == pytest.approx(1)
    assert [above[at][at] for at in range(3)] == [None] * 3
    assert len(Page(as_html(read_event(tmp_path))).tables["superiority"]) == 4


def test_who_won_or_lost_everything_has_no_rating_and_its_place(tmp_path: Path) -> None:
    config = match_config(names=("z", "a", "b", "c", "x"), seats=("static",) * 5)
    write_config(config, tmp_path)
    with MatchFolder(tmp_path) as files:
        for number, names in enumerate(("ab", "ac", "bc", "cb", "az", "bz")):
            sides = seat(names[0], 400), seat(names[1], 300)
            files.append(game(number, (400, 300), sides=sides, pair=number))
    ratings = read_event(tmp_path).ratings
    assert ratings is not None
    assert [row[0] for row in ratings.rows] == ["a", "b", "c", "z", "x"]
    assert [row[1] for row in ratings.rows] == [None, 0.0, 0.0, None, None]
    assert [row[3:5] for row in ratings.rows] == [(None, None)] * 5, "too few games for a bound"
    assert [texts[1] for texts in ratings.texts()] == ["–", "0", "0", "–", "–"]
    assert "no rating" in ratings.note
    assert "<svg" in as_html(read_event(tmp_path))
    told = summarize(config, FolderContents(tmp_path))
    assert isinstance(told, TournamentSummary)
    assert [write_rating(of) for of in told.ratings.players] == ["–", "–", "0", "0", "–"]
    players = {of["name"]: of["rating"] for of in told.as_object()["ratings"]["players"]}
    assert players == {"z": None, "a": None, "b": 0.0, "c": 0.0, "x": None}


def test_few_games_have_ratings_without_intervals(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    config = match_config(names=names, seats=("static",) * 3, games=2, rounds=2)
    write_config(config, tmp_path)
    with MatchFolder(tmp_path) as files:
        for number in range(12):
            one, other = names[number % 3], names[(number + 1) % 3]
            scores = (400, 300 + 150 * (number % 2))
            sides = seat(one, scores[0]), seat(other, scores[1])
            files.append(game(number, scores, sides=sides, pair=number // 6, first=number % 2))
        table = summarize(config, files).text(100)
    event = read_event(tmp_path)
    (ratings,) = (sheet for sheet in event.sheets if sheet.key == "ratings")
    assert [field.head for field in ratings.fields] == ["name", "Elo", "games", "pairs"]
    assert [row[2:] for row in ratings.rows] == [(8, 4)] * 3
    assert "no intervals: fewer than 6 pairs" in ratings.note
    assert "no intervals: fewer than 6 pairs" in table
    assert "95 %" not in table + as_html(event)
    assert dict(event.settings)["games"] == "4 a pairing"


def test_a_match_has_its_verdict_instead_of_ratings(tmp_path: Path) -> None:
    write_event(tmp_path, ("a", "b"), games=4)
    told = read_event(tmp_path)
    page = Page(as_html(told))
    assert told.title == "a against b"
    assert told.summary.startswith("4 games in 2 pairs. ")
    assert {"cross", "ratings"}.isdisjoint(page.tables)
    assert page.tables["match"][0] == ["", "a", "b"]
    assert "spread a game" in as_markdown(told)
    values = {
        (line["row"], line["column"]): line["value"]
        for line in csv.DictReader(as_csv(told).splitlines())
        if line["table"] == "match"
    }
    assert values["games", ""] == "4"
    assert values["move_ms_mean", "a"]
    assert ("spread_ci95", "low") not in values, "unknown with so few pairs"


def test_a_sequential_test_is_told(tmp_path: Path) -> None:
    config = write_event(tmp_path, ("a", "b"), games=4)
    test = SequentialTest(0.5, 0.6)
    write_config(msgspec.structs.replace(config, test=test), tmp_path)
    told = read_event(tmp_path)
    state = state_of(test, FolderContents(tmp_path).results)
    assert f"unfinished, after 2 pairs; LLR {number(state.llr, 2, sign=True)}" in as_html(told)
    assert f"match,test,llr,{state.llr}\n" in as_csv(told)


def test_without_its_journal_an_event_has_no_games_and_times(copied: Path) -> None:
    (copied / "match.db").unlink()
    told = read_event(copied)
    assert told.times is None
    assert "journal" in told.games_note
    html = as_html(told)
    assert 'id="times"' not in html
    assert "which is not here" in html


def test_games_that_were_given_without_play_are_said(tmp_path: Path) -> None:
    write_event(tmp_path, ("a", "b"))
    sides = seat("a", 0), seat("b", 0)
    with MatchFolder(tmp_path) as files:
        files.append(game(3, (0, 0), sides=sides, outcome="no_show", winner=0, turns=0))
    told = read_event(tmp_path)
    assert told.games_note == "2 of 3 games: the others were not played."
    standings, scores = (
        {row[0]: row for row in sheet.rows} for sheet in (told.standings, told.scores)
    )
    assert {row[1] for row in scores.values()} == {2}, "games in which there were scores"
    assert len(standings) == 2


def test_an_event_in_which_nobody_played_has_no_scores(tmp_path: Path) -> None:
    write_config(match_config(names=("a", "b")), tmp_path)
    sides = seat("a", 0), seat("b", 0)
    with MatchFolder(tmp_path) as files:
        files.append(game(1, (0, 0), sides=sides, outcome="no_show", winner=0, turns=0))
    told = read_event(tmp_path)
    assert told.spreads.rows == []
    assert "<html" in as_html(told)


def test_a_report_is_written_where_it_is_asked_for(
    tilewire: CommandLine, copied: Path, tmp_path: Path
) -> None:
    before = sorted(path.name for path in copied.iterdir())
    assert tilewire("report", copied, "--out", tmp_path / "it.html") == 0
    assert tilewire.out == f"report: {tmp_path / 'it.html'}\n"
    assert sorted(path.name for path in copied.iterdir()) == before
    assert tilewire("report", copied, "--out", tmp_path) == 2
    assert f"--out {tmp_path} is a folder; name a file" in tilewire.err
    assert tilewire("report", copied, "--out", tmp_path / "no" / "it.html") == 1
    assert f"{tmp_path}/no/it.html can't be written: No such file" in tilewire.err
    assert (tmp_path / "it.html").read_text(encoding="utf-8") == as_html(read_event(copied))
    for form, name in (("html", "report.html"), ("markdown", "report.md"), ("csv", "report.csv")):
        assert tilewire("report", copied, "--format", form) == 0
        assert (copied / name).stat().st_size > 1_000


def test_what_is_no_event_is_told_in_a_sentence(tilewire: CommandLine, tmp_path: Path) -> None:
    assert tilewire("report", tmp_path / "nowhere") == 2
    assert tilewire.err == f"tilewire: there is no folder {tmp_path / 'nowhere'}\n"
    assert tilewire("report", tmp_path) == 2
    assert tilewire.err.startswith(f"tilewire: {tmp_path} has no match")
    write_config(match_config(), tmp_path)
    assert tilewire("report", tmp_path) == 2
    assert tilewire.err.startswith(f"tilewire: no game in {tmp_path} is over")
    (tmp_path / "results.jsonl").write_text("{}\n")
    assert tilewire("report", tmp_path) == 2
    assert "line 1" in tilewire.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["match.json", "results.jsonl"]


def test_charts_of_little_are_drawn() -> None:
    assert "<rect" not in columns("none", [], str)
    assert 'height="0.0"' in columns("zero", [Bar("1", 0.0, "")], str)
    empty = ranges("unknown", [Range("<a>", None, None, None, "")], str)
    assert "&lt;a&gt;" in empty
    assert "circle" not in empty
    bound = ranges("bound", [Range("a", 100.0, None, None, ""), Range("b", 0, 1, 2, "")], str)
    assert bound.count('class="range"') == 2 + 1 + 3
    assert ticks(0, 1, 3) == [0, 0.5, 1]
    assert ticks(0, 1, 3, 1) == [0, 1]
    assert ticks(-130, 260, 5) == [-100, 0, 100, 200]
