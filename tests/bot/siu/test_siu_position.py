"""Games as SIU front ends tell them, and how the player on turn sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from siu_talk import EMPTY, LAST

from bot.siu.position import BadMove, SiuSituation, read_position
from bot.siu.settings import SiuSettings
from engine.rules.rules import standard_rules
from protocol.siu.commands import SetPosition

ALPHABET = standard_rules().distribution.alphabet


def game(moves: str = "", cgp: str = f"{EMPTY} / 0/0 0", **settings: object) -> SiuSituation:
    given = SiuSettings(**settings)  # type: ignore[arg-type]
    return read_position(SetPosition(cgp, tuple(moves.split())), given)


def text(rack: tuple[int, ...]) -> str:
    return ALPHABET.text(rack)


def racks(found: SiuSituation) -> tuple[str, str]:
    first, second = found.position.racks
    return text(first), text(second)


def test_a_game_is_played_over() -> None:
    found = game("8E.FARM.AFIMORE H1.fREAKISM pass ex.2 rack.AEIORST")
    assert [turn.score for turn in found.turns] == [18, 92, 0, 0]
    assert found.last.scores == (18, 92)
    assert (found.seat, found.bag, found.last.scoreless_turns) == (0, 75, 2)
    assert racks(found) == ("AEIORST", "")


def test_what_is_on_turn_sees_its_own_racks_and_no_others() -> None:
    found = game("8H.ZA 7G.AB.ABCDEIO 9I.QI rack.CDEIORS")
    # Its rack before a turn of the other's is that of its own next turn; it has no other.
    assert [text(found.seen(turn).racks[1]) for turn in range(4)] == [
        *("ABCDEIO", "ABCDEIO", "CDEIORS", "CDEIORS")
    ]
    assert all(found.seen(turn).racks[0] == () for turn in range(4))
    assert found.seat == 1


@pytest.mark.parametrize(
    ("moves", "known"),
    [
        ("8H.ZA", ""),
        ("phony.8H.ZAX", "AXZ"),
        ("phony.8H.ZAX pass 8H.ZA pass pass", "X"),
        ("phony.8H.ZAX pass ex.2 pass pass", ""),
        ("phony.8H.ZAX pass ex.A pass pass", "XZ"),
        ("8H.ZA.ABCDEZ?", "?BCDE"),
        ("phony.8H.zAX", "?AX"),
        ("ex.AB.ABCDEFG", "CDEFG"),
        ("pass 8H.ZA phony.9H.AB", "AB"),
    ],
)
def test_what_a_player_has_shown_is_known(moves: str, known: str) -> None:
    found = game(moves)
    mover = len(found.turns) % 2  # whoever is on turn at the end looks on
    assert text(found.certain[-1][0]) == known
    assert not mover or text(found.known) == known


def test_a_phony_comes_off() -> None:
    found = game("8H.ZA phony.7G.XY rack.AEINRST")
    assert found.last.scores == (22, 0)
    assert found.last.scoreless_turns == 1
    assert not found.position.board.at(6, 6)
    assert (found.seat, found.bag) == (0, 84)


@pytest.mark.parametrize(
    ("moves", "seat", "scores", "scoreless"),
    [
        ("8H.ZA..5.0", 1, (27, 0), 0),
        ("8H.ZA..0.1", 0, (22, 0), 1),
        ("8H.ZA..0.1 pass", 0, (22, 0), 1),
        ("8H.ZA..0.1 pass pass", 1, (22, 0), 2),
        ("8H.ZA..0.1 9I.AB", 1, (22 + 8, 0), 0),
    ],
)
def test_challenges_in_vain(moves: str, seat: int, scores: tuple[int, int], scoreless: int) -> None:
    found = game(moves)
    assert (found.seat, found.last.scoreless_turns) == (seat, scoreless)
    assert found.last.scores == scores


def test_a_rack_that_is_known_whole_is_in_the_position() -> None:
    assert racks(game(cgp=f"{EMPTY} AEINRST/ABCDEFG 0/0 0")) == ("AEINRST", "ABCDEFG")
    assert racks(game(cgp=f"{EMPTY} AEINRST/ABCDEFG 0/0 0 oru;")) == ("AEINRST", "")
    partly = game(cgp=f"{EMPTY} AEINRST/ABC 0/0 0")
    assert (racks(partly), text(partly.known), partly.bag) == (("AEINRST", ""), "ABC", 86)
    last = game(cgp=LAST)
    assert (racks(last), last.bag) == (("IKLMTZ", ""), 0)


@pytest.mark.parametrize(
    ("cgp", "moves", "sentence"),
    [
        (f"{EMPTY} / 0/0 0", "", "the rack of the player on turn is not given"),
        (f"{EMPTY} ABC/ 0/0 0", "", "ABC"),
        (f"{EMPTY} AEINRST/ 0/0 6", "", "after 6 scoreless turns"),
        (f"{EMPTY} AEINRST/ 0/0 0 mcnz 2;", "pass pass", "after 2 scoreless turns"),
        (
            LAST.replace("IKLMTZ/AEINRU?", "/AEINRU?"),
            "",
            "the rack of the player on turn is not given",
        ),
        (f"{EMPTY} AEINRST/ 0/0 0", "", ""),
        (LAST, "", ""),
    ],
)
def test_why_there_is_nothing_to_choose(cgp: str, moves: str, sentence: str) -> None:
    assert sentence in game(moves, cgp).why_not("sim")
    assert bool(sentence) == bool(game(moves, cgp).why_not("sim"))


def test_operations_win_over_options() -> None:
    found = game(cgp=f"{EMPTY} / 0/0 0 bb 35; etl 1; mcnz 4; bdn CrosswordGame; ld english; gid x;")
    rules = found.rules
    assert (rules.bingo_bonus, rules.exchange_minimum, rules.scoreless_limit) == (35, 1, 4)
    assert (found.lexicon, found.notes) == (None, ())
    assert game(cgp=f"{EMPTY} / 0/0 0 lex SCOWL;").lexicon == "scowl"


def test_words_that_are_not_there_are_said_to_be_so(tmp_path: Path) -> None:
    found = game(cgp=f"{EMPTY} / 0/0 0 lex CSW21; cr 5pt;")
    assert found.lexicon is None
    assert found.notes[0].startswith("no lexicon is called 'CSW21'; there are: scowl")
    (tmp_path / "lexica").mkdir()
    (tmp_path / "lexica" / "csw21.kwg").touch()
    there = game(cgp=f"{EMPTY} / 0/0 0 lex CSW21;", data=(tmp_path,))
    assert there.lexicon == str(tmp_path / "lexica" / "csw21.kwg")


def test_tiles_bring_the_numbers_of_their_rule_set() -> None:
    spanish = game(cgp=f"{EMPTY} C[CH]/ 0/0 0 ld Spanish;").rules
    assert (spanish.distribution.name, spanish.exchange_minimum) == ("spanish", 1)
    big = game(cgp=f"{'/'.join(['21'] * 21)} / 0/0 0 ld english-super; bdn Super; etl 5;").rules
    assert (big.layout.name, big.distribution.total, big.exchange_minimum) == ("super", 200, 5)
    for named in ("bdn SuperCrosswordGame", "var classic_super"):  # as Macondo and MAGPIE do
        same = game(cgp=f"{'/'.join(['21'] * 21)} / 0/0 0 ld english_super; {named}; etl 5;").rules
        assert same == big


@pytest.mark.parametrize(
    ("cgp", "sentence"),
    [
        ("", "is not a CGP"),
        (f"{EMPTY} / 0/0", "3 of the 4 fields"),
        (f"{EMPTY[:-1]} / 0/0 0", "is 1 squares|row 15"),
        (f"{EMPTY} / 0/0 0 ld klingon;", "'klingon'"),
        (f"{EMPTY} / 0/0 0 bdn round;", "'round'"),
        (f"{EMPTY} / 0/0 0 var wordsmog;", "'wordsmog'"),
        (f"{EMPTY} / 0/0 0 bb many;", "'many'"),
        (f"{EMPTY} QQ/ 0/0 0", "hold 2 of Q"),
    ],
)
def test_positions_that_make_no_sense(cgp: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        game(cgp=cgp)


@pytest.mark.parametrize(
    ("moves", "sentence"),
    [
        ("8E.FARM 9Z.AB", "move 2, '9Z.AB'"),
        ("8E.FARM 1A.AB", "touches no tile"),
        ("1A.AB", "the first play covers 8H"),
        ("8E.FARM 8E.FORM", "8F holds A, not O"),
        ("8E.QUIZ.ABCDEFG", "ABCDEFG"),
        ("8H.ZZ", "hold 2 of Z"),
        ("ex.8", "8 tiles; a rack holds 7"),
        ("phony.8H.ABC phony.8H.ABC phony.8H.QWXJK", "ABC"),
        ("rack.ABC 8E.FARM", "nothing comes after"),
        ("8E.FARM pass rack.ABCDEFGH", "a rack holds 7"),
        ("rack.QQ", "hold 2 of Q"),
        ("joho", "is not a move"),
    ],
)
def test_moves_that_can_not_have_been_made(moves: str, sentence: str) -> None:
    with pytest.raises(BadMove, match=sentence):
        game(moves)


def test_moves_that_may_be_made_now() -> None:
    found = game(cgp=f"{EMPTY} AEINRST/ 0/0 0")
    move, name = found.read_move("8h.TSRNIEA.AEINRST")
    assert name == "8H.TSRNIEA"  # whether it is a word is not asked
    assert move == found.read_move("8H.TSRNIEA")[0]
    for text_, sentence in (
        ("8H.ZA", "Z is not on the rack"),
        ("ex.3", "which move is it"),
        ("phony.8H.TEA", "which move is it"),
        ("1A.TEA", "the first play covers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            found.read_move(text_)
