"""GCG as text: every odd form has its file, and is read or refused with line and reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notation.gcg import (
    EventKind,
    GcgError,
    GcgEvent,
    GcgGame,
    GcgPlayer,
    GcgPragma,
    read_gcg,
    write_gcg,
)
from engine.notation.move_text import NotationError

HEADER = "#player1 anna Anna Berg\n#player2 bert\n"


def load(folder: Path, name: str) -> GcgGame:
    return read_gcg((folder / f"{name}.gcg").read_bytes())


def test_a_complete_file(gcg_files: Path) -> None:
    game = load(gcg_files, "complete")
    assert game.players == (GcgPlayer("anna", "Anna Berg"), GcgPlayer("bert", "Bert Dahl"))
    assert (game.title, game.id, game.lexicon) == ("Round 3", "example.org 17", "ANY")
    assert game.description == "Club night, table 4"
    assert game.incomplete is None
    assert game.events == (
        GcgEvent(EventKind.PLAY, "anna", "ADEORSW", "8D WORDS", 26, 26),
        GcgEvent(EventKind.PLAY, "bert", "AEIMNT?", "H8 .eA", 2, 2, "kept EIMNT"),
        GcgEvent(EventKind.EXCHANGE, "anna", "AEGILNV", "GV", 0, 26),
        GcgEvent(EventKind.PASS, "bert", "EIMNTTX", "", 0, 2),
        GcgEvent(EventKind.PLAY, "anna", "T", "10H .T", 2, 28),
        GcgEvent(EventKind.RACK_LEFT, "anna", "", "EIMNTTX", 32, 60),
    )
    assert [event.line for event in game.events] == [8, 9, 11, 12, 13, 14]


def test_a_complete_file_is_written_as_it_was(gcg_files: Path) -> None:
    text = (gcg_files / "complete.gcg").read_text(encoding="utf-8")
    assert write_gcg(read_gcg(text)) == text


def test_words_after_the_total_are_ignored(gcg_files: Path) -> None:
    first, second = load(gcg_files, "words_made").events
    assert first == GcgEvent(EventKind.PLAY, "anna", "ADEORSW", "8D WORDS", 26, 26)
    assert (second.detail, second.score, second.total) == ("9C TEAM", 18, 18)


@pytest.mark.parametrize(
    "line",
    [
        ">anna: ADEORSW 8D WORDS +26 WORDS",  # no total
        ">anna: ADEORSW 8D WORDS +26 26 WORDS 5",
        ">anna: ADEORSW -ADE +0 0 WORDS",  # an exchange makes none
    ],
)
def test_words_follow_the_total_of_a_play_alone(line: str) -> None:
    with pytest.raises(GcgError, match=r"line 3: the (score|total) is a whole number"):
        read_gcg(f"{HEADER}{line}\n")


@pytest.mark.parametrize(
    ("name", "title", "player"),
    [
        ("crlf_latin1", "L'\x85été", GcgPlayer("zoé", "Zoé Müller")),
        ("windows1252", "L’été", GcgPlayer("anna", "Anna Berg")),
        ("utf8_bom", "", GcgPlayer("łucja", "Łucja Żak")),
        ("cr_only", "", GcgPlayer("anna", "Anna Berg")),
        ("dos_end", "", GcgPlayer("anna", "Anna Berg")),
    ],
)
def test_encodings_and_line_ends(name: str, title: str, player: GcgPlayer, gcg_files: Path) -> None:
    game = load(gcg_files, name)
    assert (game.title, game.players[0]) == (title, player)
    assert game.events[0].detail == "8D WORDS"
    assert read_gcg(write_gcg(game).encode()) == game


def test_ascii_is_an_encoding_of_a_gcg() -> None:
    text = f"#character-encoding US-ASCII\n{HEADER}>anna: ADEORSW 8D WORDS +26 26\n"
    assert read_gcg(text.encode()).events[0].detail == "8D WORDS"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_encoding_may_be_named_on_any_line(end: str) -> None:
    lines = ["#player1 a Ann", "#character-encoding UTF-8", "#player2 b José", ""]
    assert read_gcg(end.join(lines).encode()).players[1].name == "José"
    lines[1] = "#character-encoding klingon"
    with pytest.raises(GcgError, match="line 2: encoding 'klingon'"):
        read_gcg(end.join(lines).encode())


def test_a_byte_order_mark_counts_for_more_than_an_encoding() -> None:
    text = "\ufeff#player1 a Ann\n#character-encoding ISO-8859-1\n#player2 b José\n"
    assert read_gcg(text.encode()).players[1].name == "José"


@pytest.mark.parametrize(
    ("name", "kinds", "details"),
    [
        ("exchanges", "play play exchange exchange exchange pass exchange", "GV 3 7  ?"),
        ("phony", "play play withdrawn play", ""),
        ("challenge", "play challenge play challenge", ""),
        ("six_zeros", "play play" + 6 * " pass" + " rack_lost rack_lost", "AEGILNV EIMNTTX"),
        ("time_before_racks", "play play exchange pass play time rack_left", ""),
        ("time_after_racks", "play play exchange pass play rack_left time time", ""),
    ],
)
def test_kinds_of_event(name: str, kinds: str, details: str, gcg_files: Path) -> None:
    events = load(gcg_files, name).events
    assert [event.kind.name.lower() for event in events] == kinds.split()
    if details:
        assert [event.detail for event in events[-len(details.split(" ")) :]] == details.split(" ")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("(TIME) +12 78", EventKind.RACK_LEFT),
        ("(TIME) -10 56", EventKind.TIME),
        ("(time) -10 56", EventKind.TIME),
        ("(CHALLENGE) +5 71", EventKind.CHALLENGE),
    ],
)
def test_a_rack_may_spell_time(line: str, kind: EventKind) -> None:
    text = f"#player1 a a\n#player2 b b\n>a: AEINRST 8D ANTSIER +66 66\n>a: {line}\n"
    assert read_gcg(text.encode()).events[-1].kind is kind


def test_fields_may_miss_and_be_separated_by_anything(gcg_files: Path) -> None:
    racks = [event.rack for event in load(gcg_files, "empty_racks").events]
    assert racks == [""] * 6
    events = load(gcg_files, "tabs_and_missing_plus").events
    assert [(event.detail, event.score, event.total) for event in events] == [
        ("8D WORDS", 26, 26),
        ("h8 .eA", 2, 2),
        ("GV", 0, 26),
    ]


def test_notes_of_several_lines(gcg_files: Path) -> None:
    game = load(gcg_files, "notes")
    assert game.description == "A game\nover two lines"
    assert game.note == "Before the game."
    assert game.events[0].note == (
        "First line\nsecond line\n\nafter a blank line\na second note\n   indented"
    )
    assert game.events[1].note == ""
    assert read_gcg(write_gcg(game)) == game


def test_unknown_pragmas_stay_where_they_stood(gcg_files: Path) -> None:
    game = load(gcg_files, "unknown_pragmas")
    assert game.pragmas == (
        GcgPragma("tile-set 7 of 100"),
        GcgPragma("style  two  spaces"),
        GcgPragma("", 1),
        GcgPragma("Eval +3.5 (static)", 1),
        GcgPragma("playerX nobody", 2),
    )
    assert read_gcg(write_gcg(game)) == game


def test_incomplete_games(gcg_files: Path) -> None:
    game = load(gcg_files, "incomplete")
    assert game.incomplete == ""
    assert [player.rack for player in game.players] == ["AEGILNV", "EIMNTTX"]
    assert load(gcg_files, "incomplete_rack").incomplete == "AEGILNV"
    assert load(gcg_files, "no_events").events == ()


REFUSED = {
    "decimal_score": (4, "the score is a whole number such as +12; '+26.5' is not"),
    "missing_total": (4, "the score is a whole number such as +12; 'WORDS' is not"),
    "missing_move": (5, "'AEIMNT?' has no move: '8D WORD', '-ABC'"),
    "too_short": (4, "'+0' is less than an event: a move, a score and a total"),
    "rack_with_spaces": (4, "'ADE ORSW' is more than a rack; it has no spaces"),
    "bad_square": (4, "'ADEORSW 8-D WORDS' has no move"),
    "unknown_nick": (5, "no #player line before it names 'carl'"),
    "no_colon": (4, "'>anna ADEORSW 8D WORDS +26 26' does not begin with '>nick:'"),
    "no_players": (2, "no #player line before it names 'anna'"),
    "empty_file": (0, "players are named by #player1, #player2 and so on"),
    "player_left_out": (0, "none left out"),
    "player_without_nick": (2, "#player1 needs a nick"),
    "same_nick": (3, "two players with the nick 'anna'"),
    "second_game": (7, "a second #player1; a file holds one game"),
    "second_title": (5, "a second #title; a file holds one game"),
    "rack_of_nobody": (4, "#rack3 without a #player3"),
    "bare_text": (5, "'what a play' begins with neither '#' nor '>'"),
    "bad_utf8": (5, "byte 0xe9 does not fit the file's encoding, utf-8"),
    "unknown_encoding": (1, "encoding 'KOI8-R'; a GCG is UTF-8 or ISO-8859-1"),
    "no_encoding": (1, "encoding 'klingon'; a GCG is UTF-8 or ISO-8859-1"),
    "utf16": (1, "the file is UTF-16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_line_and_reason(name: str, gcg_files: Path) -> None:
    line, reason = REFUSED[name]
    with pytest.raises(GcgError, match=re.escape(reason)) as caught:
        load(gcg_files / "refused", name)
    assert caught.value.line == line
    assert not line or str(caught.value).startswith(f"line {line}: ")


def test_every_file_of_the_folder_is_tested(gcg_files: Path) -> None:
    assert {path.stem for path in (gcg_files / "refused").glob("*.gcg")} == set(REFUSED)


@pytest.mark.parametrize(
    "game",
    [
        GcgGame((GcgPlayer("anna berg"),)),
        GcgGame((GcgPlayer("anna:"),)),
        GcgGame((GcgPlayer(""),)),
        GcgGame((GcgPlayer("anna"),), title="two\nlines"),
        GcgGame((GcgPlayer("anna"),), pragmas=(GcgPragma("two\rlines"),)),
    ],
)
def test_what_could_not_be_read_back_is_not_written(game: GcgGame) -> None:
    with pytest.raises(NotationError, match=r"is not one word|has a line end"):
        write_gcg(game)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters=":", exclude_categories=("Z", "C")),
    min_size=1,
    max_size=8,
)
LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
TEXTS = st.lists(LINES, max_size=4).map("\n".join)
ONE_LINE = LINES.map(str.strip)
RACKS = st.text("ABCDEÖ?", max_size=7)
NUMBERS = st.integers(-999, 999)
KINDS = {
    EventKind.PLAY: st.from_regex(r"([1-9][A-O]|[A-O]1[0-5]) [A-Za-z.]{1,15}", fullmatch=True),
    EventKind.EXCHANGE: st.from_regex(r"[A-Z?]{1,7}|[1-7]", fullmatch=True),
    EventKind.PASS: st.just(""),
    EventKind.WITHDRAWN: st.just(""),
    EventKind.CHALLENGE: st.just(""),
    EventKind.TIME: st.just(""),
}


@st.composite
def events(draw: st.DrawFn, nicks: list[str]) -> GcgEvent:
    nick, note = draw(st.sampled_from(nicks)), draw(TEXTS)
    kind = draw(st.sampled_from(EventKind))
    tiles = draw(st.text("ABC?", min_size=1, max_size=7))
    if kind is EventKind.RACK_LEFT:
        score = draw(st.integers(0, 99))
        return GcgEvent(kind, nick, "", tiles, score, draw(NUMBERS), note)
    if kind is EventKind.RACK_LOST:
        score = draw(st.integers(-99, 0))
        return GcgEvent(kind, nick, tiles, tiles, score, draw(NUMBERS), note)
    detail = draw(KINDS[kind])
    return GcgEvent(kind, nick, draw(RACKS), detail, draw(NUMBERS), draw(NUMBERS), note)


@st.composite
def games(draw: st.DrawFn) -> GcgGame:
    nicks = draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
    played = draw(st.lists(events(nicks), max_size=6))
    pragmas = st.builds(GcgPragma, LINES.map(lambda text: f"x-{text}"), st.integers(0, len(played)))
    return GcgGame(
        players=tuple(GcgPlayer(nick, draw(ONE_LINE), draw(RACKS)) for nick in nicks),
        events=tuple(played),
        title=draw(ONE_LINE),
        description=draw(TEXTS),
        id=draw(ONE_LINE),
        lexicon=draw(ONE_LINE),
        opening=draw(ONE_LINE),
        note=draw(TEXTS),
        incomplete=draw(st.none() | RACKS),
        pragmas=tuple(sorted(draw(st.lists(pragmas, max_size=3)), key=lambda p: p.after)),
    )


@given(game=games())
def test_games_round_trip(game: GcgGame) -> None:
    text = write_gcg(game)
    assert read_gcg(text) == game
    assert read_gcg(text.encode()) == game
    assert write_gcg(read_gcg(text)) == text
    assert read_gcg(text.replace("\n", "\r\n")) == game
