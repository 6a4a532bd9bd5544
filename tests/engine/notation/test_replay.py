"""Recorded games played over: every score and total held against the rules."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.notation.gcg import EventKind, GcgError, GcgGame, Notice, read_gcg, write_gcg
from engine.notation.move_text import format_move
from engine.notation.replaying import Replay, as_computed, replay
from engine.rules.moves import PASS, Direction, Exchange, Place
from engine.rules.rule_sets import load_rules
from engine.rules.rules import Rules

HEADER = "#player1 anna\n#player2 bert\n"


def load(folder: Path, name: str) -> GcgGame:
    return read_gcg((folder / f"{name}.gcg").read_bytes())


def racks(found: Replay, rules: Rules) -> list[tuple[str, ...]]:
    """Write both racks before each event, then at the end."""
    alphabet = rules.distribution.alphabet
    positions = [step.before for step in found.steps] + [found.final]
    return [tuple(alphabet.text(rack) for rack in position.racks) for position in positions]


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("complete", (60, 2)),
        ("crlf_latin1", (26, 2)),
        ("windows1252", (26, 0)),
        ("utf8_bom", (26, 0)),
        ("cr_only", (26, 2)),
        ("dos_end", (26, 0)),
        ("playthrough", (31, 4)),
        ("exchanges", (26, 2)),
        ("phony", (31, 0)),
        ("challenge", (31, 7)),
        ("six_zeros", (15, -14)),
        ("time_before_racks", (60, -8)),
        ("time_after_racks", (40, -8)),
        ("empty_racks", (60, 2)),
        ("player2_begins", (2, 26)),
        ("notes", (26, 2)),
        ("unknown_pragmas", (26, 2)),
        ("tabs_and_missing_plus", (26, 2)),
        ("incomplete", (26, 2)),
        ("incomplete_rack", (26, 2)),
        ("partial_racks", (26, 2)),
        ("no_events", (0, 0)),
        ("negative_totals", (0, -10)),
    ],
)
def test_files_that_add_up(
    name: str, scores: tuple[int, int], gcg_files: Path, rules: Rules
) -> None:
    game = load(gcg_files, name)
    found = replay(game, rules)
    assert found.final.scores == scores
    assert [step.event for step in found.steps] == list(game.events)


@pytest.mark.parametrize(
    ("name", "rules_name", "sheet", "computed", "lines"),
    [
        ("minus_after_plus", "english", (16, 0), (16, 0), [11]),
        ("placeholder_rack", "english", (26, 0), (26, 0), [6]),
        ("rack_lacks_tile", "english", (26, 0), (26, 0), [5]),
        ("sheet_score", "english", (36, 0), (26, 0), [4]),
        ("sheet_score_taken_back", "english", (0, 0), (0, 0), [4, 5]),
        ("utf8_no_header", "german", (18, 0), (9, 0), [0, 3, 3]),
    ],
)
def test_files_as_people_write_them(
    name: str,
    rules_name: str,
    sheet: tuple[int, int],
    computed: tuple[int, int],
    lines: list[int],
    gcg_files: Path,
) -> None:
    data, by = (gcg_files / "as_written" / f"{name}.gcg").read_bytes(), load_rules(rules_name)
    with pytest.raises(GcgError):
        replay(read_gcg(data), by)
    notices: list[Notice] = []
    gcg = read_gcg(data, notices)
    found = replay(gcg, by, notices)
    assert [notice.line for notice in found.notices] == lines
    assert found.final.scores == sheet
    last = {step.seat: step.computed_total for step in found.steps}
    assert (last.get(0, 0), last.get(1, 0)) == computed
    written = write_gcg(as_computed(gcg, found))
    assert ("on the sheet" in written) == (name.startswith("sheet") or "utf8" in name)
    if name != "utf8_no_header":  # its first play lies beside the start
        again = replay(read_gcg(written), by)
        assert [step.event.total for step in again.steps] == [
            step.computed_total for step in found.steps
        ]


def test_a_refused_game_is_read_with_notices_or_refused_with_a_line(
    gcg_files: Path, rules: Rules
) -> None:
    refused = dict[str, int]()
    for path in gcg_files.glob("refused*/*.gcg"):
        notices: list[Notice] = []
        try:
            replay(read_gcg(path.read_bytes(), notices), rules, notices)
        except GcgError as error:
            refused[path.stem] = error.line
        else:
            assert notices, path
    assert "wrong_score" not in refused
    assert "playthrough_of_nothing" in refused
    whole_files = {"empty_file", "no_players", "player_left_out"}
    assert {name for name, line in refused.items() if not line} <= whole_files


def test_a_rack_without_what_its_player_kept_is_noted(rules: Rules) -> None:
    game = "#player1 ann\n#player2 bob\n>ann: AFOQUVZ 8G ZA +22 22\n>bob: AEINRST - +0 0\n>ann: "
    for rack, reasons in (
        ("BCEHMNW", ["BCEHMNW lacks FOQUV, which ann kept"]),
        ("FHMOQUV", []),
        ("HM", []),  # a part of a rack
    ):
        data, notices = f"{game}{rack} 9F HM +26 48\n", list[Notice]()
        found = replay(read_gcg(data, notices), rules, notices)
        assert [notice.reason for notice in notices] == reasons
        assert found.steps == replay(read_gcg(data), rules).steps


def test_only_a_last_line_without_its_end_is_cut_off() -> None:
    game = "#player1 ann\n#player2 bob\n>ann: 8D WORDS +26 26\n>bim: 9D AI +5 5"
    notices = list[Notice]()
    assert len(read_gcg(game, notices).events) == 1
    assert [notice.line for notice in notices] == [4]
    with pytest.raises(GcgError, match="line 4: no #player line before it names 'bim'"):
        read_gcg(f"{game}\n", [])


def test_letters_in_lower_case_are_told_with_their_line(rules: Rules) -> None:
    game = read_gcg("#player1 ann\n#player2 bob\n>bob: - +0 0\n>ann: 8D words +0 0\n", [])
    with pytest.raises(GcgError, match=r"line 4: board and racks hold 5 of \?.* is a blank"):
        replay(game, rules, [])


def test_an_empty_bag_tells_a_rack_of_which_only_the_other_is_known(rules: Rules) -> None:
    path = Path(__file__).parents[2] / "fixtures" / "games" / "static_greedy.gcg"
    whole = replay(read_gcg(path.read_bytes()), rules)
    bare = re.sub(r"(?m)^(>\S+) [A-Z?]+ (?=\S+ \S+ [+-])", r"\1 ", path.read_text())
    assert bare != path.read_text()
    notices: list[Notice] = []
    found = replay(read_gcg(bare, notices), rules, notices)
    assert not notices
    told = [step for step in found.steps if step.event.kind.is_turn and step.before.racks[0]]
    true = {step.event.line: step.before.racks for step in whole.steps}
    assert len(told) >= 2
    assert all(step.before.racks == true[step.event.line] for step in told)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x" * 10_000_000, 1),
        (b"#player1 a\n#player2 b\n>a: " + b"A " * 5_000_000, 3),
        (bytes(range(256)) * 40_000, 1),
        (b"x\n" * 2_000_000, 501),
        (b'{"not": "a game"}', 0),
        (b"", 0),
    ],
)
def test_a_file_of_another_program_is_refused_at_once(data: bytes, line: int) -> None:
    with pytest.raises(GcgError) as refused:
        read_gcg(data, [])
    assert refused.value.line == line
    assert len(str(refused.value)) < 200


def test_racks_are_known_before_their_turn(gcg_files: Path, rules: Rules) -> None:
    assert racks(replay(load(gcg_files, "complete"), rules), rules) == [
        ("ADEORSW", "?AEIMNT"),
        ("AEGILNV", "?AEIMNT"),
        ("AEGILNV", "EIMNTTX"),
        ("T", "EIMNTTX"),
        ("T", "EIMNTTX"),
        ("", "EIMNTTX"),
        ("", ""),
    ]
    assert racks(replay(load(gcg_files, "incomplete"), rules), rules)[-1] == (
        "AEGILNV",
        "EIMNTTX",
    )
    assert racks(replay(load(gcg_files, "incomplete_rack"), rules), rules)[-1] == ("AEGILNV", "")
    remark = replace(load(gcg_files, "incomplete_rack"), incomplete="adjourned by the director")
    assert racks(replay(remark, rules), rules)[-1] == ("", "")
    assert set(racks(replay(load(gcg_files, "empty_racks"), rules), rules)[:4]) == {("", "")}


def test_a_phony_comes_off_the_board(gcg_files: Path, rules: Rules) -> None:
    found = replay(load(gcg_files, "phony"), rules)
    phony, withdrawal, after = found.steps[1:]
    assert withdrawal.before.board.at(8, 7)
    assert not after.before.board.at(8, 7)
    assert after.before.scoreless_turns == 1
    assert after.before.on_turn == 0
    assert after.before.scores == (26, 0)
    assert racks(found, rules)[1:3] == [("AEGILNV", "?AEIMNT"), ("AEGILNV", "?IMNT")]
    assert phony.move
    assert withdrawal.move is None


def test_an_exchange_is_known_by_its_tiles_or_where_all_go(gcg_files: Path, rules: Rules) -> None:
    found = replay(load(gcg_files, "exchanges"), rules)
    tiles = rules.distribution.alphabet.tiles
    assert [step.move for step in found.steps[2:]] == [
        Exchange(tiles("GV")),
        None,
        Exchange(tiles("AEILNRT")),
        PASS,
        Exchange((0,)),
    ]


def test_every_form_of_playthrough_gives_the_same_moves(gcg_files: Path, rules: Rules) -> None:
    found = replay(load(gcg_files, "playthrough"), rules)
    alphabet = rules.distribution.alphabet
    assert [format_move(step.move, alphabet) for step in found.steps if step.move] == [
        "8D WoRDS",
        "H8 .EA",
        "10H .T",
        "E7 T.",
        "10H ..E",
    ]
    assert found.steps[3].move == Place(6, 4, Direction.DOWN, (*alphabet.tiles("T"), 0))


def test_moves_are_canonical_whatever_the_file_says(rules: Rules) -> None:
    lines = ">anna: 8D WORDS +26 26\n>bert: H8 .EA +3 3\n>anna: G8 .O +7 33\n"
    found = replay(read_gcg(HEADER + lines), rules)
    move = found.steps[-1].move
    assert move
    assert format_move(move, rules.distribution.alphabet) == "9G O."


REFUSED = {
    "wrong_score": (5, "play H8 .eA scores +2; the line says +3"),
    "wrong_total": (5, "0 and +2 make 2; the line says 3"),
    "wrong_withdrawal": (6, "withdrawn scores -2; the line says -3"),
    "withdrawal_of_nothing": (5, "bert takes back a play, but the line before is none"),
    "pass_with_points": (4, "pass scores +0; the line says +5"),
    "one_player": (2, "1 players; only a game of two can be replayed"),
    "three_players": (4, "3 players; only a game of two can be replayed"),
    "not_on_rack": (4, "W is not on the rack 'ADEORSV'"),
    "exchange_not_on_rack": (4, "W is not on the rack 'ADEORSV'"),
    "exchange_of_a_letter_for_a_blank": (4, "exchange a blank as '?'"),
    "exchange_of_eight": (4, "8 tiles are exchanged; a rack holds 7"),
    "play_of_eight": (4, "8 tiles are placed; a rack holds 7"),
    "exchange_of_no_tiles": (4, "'---' is not an exchange"),
    "too_many_of_a_tile": (5, "hold 2 of J; the english distribution has 1"),
    "rack_of_eight": (4, "anna's rack: 'ADEORSWT' is 8 tiles; a rack holds 7"),
    "rack_in_lower_case": (4, "anna's rack: 'adeorsw' has lower case"),
    "rack_not_tiles": (4, "anna's rack: '5' at character 6 of 'ADEOR5W' is not a tile"),
    "out_of_turn": (5, "anna is not on turn; a turn that was lost is written as a pass"),
    "wrong_playthrough": (5, "8H holds S, not T"),
    "playthrough_of_nothing": (5, "7H is empty; there is no tile to play through"),
    "off_the_board": (4, "16D is off the board of 15 rows"),
    "not_connected": (5, "the play touches no tile on the board"),
    "misses_start": (4, "the first play covers 8H"),
    "plays_on_after_the_end": (6, "bert plays on after the points for racks"),
    "wrong_rack_points": (5, "rack left EIMNTTX scores +32; the line says +16"),
    "rack_of_no_tiles": (5, "bert's rack: 'eIM' has lower case"),
    "time_gained": (5, "time is a loss; +10 is a gain"),
    "bonus_lost": (5, "a bonus for a challenge is a gain; -5 is a loss"),
    "bad_rack_at_the_end": (5, "bert's rack: 'ABCDEFGH' is 8 tiles; a rack holds 7"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_line_and_reason(name: str, gcg_files: Path, rules: Rules) -> None:
    line, reason = REFUSED[name]
    game = load(gcg_files / "refused_at_replay", name)
    with pytest.raises(GcgError, match=re.escape(reason)) as caught:
        replay(game, rules)
    assert caught.value.line == line
    assert len(caught.value.reason) > 10


def test_every_file_of_the_folder_is_tested(gcg_files: Path) -> None:
    found = {path.stem for path in (gcg_files / "refused_at_replay").glob("*.gcg")}
    assert found == set(REFUSED)


def test_an_exchange_needs_a_full_enough_bag(rules: Rules) -> None:
    game = read_gcg(HEADER + ">anna: -5 +0 0\n")
    assert replay(game, replace(rules, exchange_minimum=86)).steps
    with pytest.raises(GcgError, match=r"line 3: .* needs 87 tiles in the bag, which has 86"):
        replay(game, replace(rules, exchange_minimum=87))


def test_exchanges_and_passes_are_counted_where_they_are_limited(rules: Rules) -> None:
    turns = "anna: -5", "bert: -", "anna: -", "bert: -ABC", "anna: -2"
    game = read_gcg(HEADER + "".join(f">{turn} +0 0\n" for turn in turns))
    limited = replace(rules, pass_limit=4, exchange_limit=2)
    replayed = replay(game, limited)
    counts = [(step.before.passes, step.before.exchanges) for step in replayed.steps]
    assert counts == [(0, (0, 0)), (0, (1, 0)), (1, (1, 0)), (2, (1, 0)), (0, (1, 1))]
    assert (replayed.final.passes, replayed.final.exchanges) == (0, (2, 1))
    with pytest.raises(GcgError, match="line 7: no exchange is left: a player may exchange once"):
        replay(game, replace(limited, exchange_limit=1))


@pytest.mark.parametrize(
    ("kind", "detail", "reason"),
    [
        (EventKind.PLAY, "-ABC", "'-ABC' is no play; write '8D WORD'"),
        (EventKind.EXCHANGE, "", "an exchange of no tiles is a pass"),
    ],
)
def test_events_made_by_hand_are_checked(
    kind: EventKind, detail: str, reason: str, rules: Rules
) -> None:
    game = read_gcg(HEADER + ">anna: - +0 0\n")
    event = replace(game.events[0], kind=kind, detail=detail)
    with pytest.raises(GcgError, match=reason):
        replay(replace(game, events=(event,)), rules)


def test_what_quackle_writes_after_a_challenge_and_at_the_end(rules: Rules) -> None:
    """A play that comes off costs nothing, but in the total; a rack is gained and lost."""
    text = (
        "#player1 anna\n#player2 bert\n"
        ">anna: ADEORSW 8D WORSD +26 26\n>anna: ADEORSW -- +0 0\n"
        ">bert: EIMNTTX - +0 0\n>anna: ADEORSW 8D WORDS +26 26\n"
        ">anna: (EIMNTTX) +16 42\n>bert: EIMNTTX (EIMNTTX) -16 -16\n"
    )
    found = replay(read_gcg(text.encode()), rules)
    assert found.final.scores == (42, -16)
    assert [step.event.score for step in found.steps] == [26, -26, 0, 26, 16, -16]
