"""What an SIU engine answers: how it gets ready, its options, and its searches without time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from siu_talk import EMPTY, POSITION, Talk, ready

from bot.siu.conversation import PATIENCE_MS
from bot.siu.engine import _Shell
from bot.siu.modes import SearchTask
from bot.siu.position import read_position
from bot.siu.settings import SiuSettings, options, with_option
from engine.preendgame import MOST_IN_BAG
from protocol.siu.answers import InfoSim, Provenance
from protocol.siu.commands import SetPosition

if TYPE_CHECKING:
    from bot.siu.searches import SearchMaker

WHENCE = Provenance("tilewire/1", "own", "own", "scowl")
RESULT = InfoSim("8D.RETAINS", 60.0, 1.0, 70.0, 1.0, 10)


# --- getting ready, and options -------------------------------------------------------------------


def test_ready_is_said_once_all_is_loaded_with_a_handshake_or_without() -> None:
    talk = Talk("siu")
    assert talk.says("isready") == talk.says("isready") == []
    assert talk.loaded() == ["readyok", "readyok"]
    assert talk.says("isready") == ["readyok"]
    assert len(talk.loads) == 1
    assert Talk("isready").loaded() == ["readyok"]


def test_what_is_unknown_or_empty_is_ignored() -> None:
    talk = ready()
    ignored = "info string error unknown-command joho frobnicate; it is ignored"
    assert talk.says("joho frobnicate") == [ignored]
    assert talk.says("stop") == talk.says("") == talk.says(" \r\n") == []


def test_only_what_is_loaded_is_loaded_again() -> None:
    talk = ready("setoption name seed value 7", "setoption name LINES value 3")
    assert talk.says("isready") == ["readyok"]
    talk.says("setoption name Leaves value FORMULA")
    assert talk.says("isready") == []
    assert talk.loads[-1] == SiuSettings(seed=7, lines=3, leaves="formula")
    assert talk.loaded() == ["readyok"]


def test_what_can_not_be_loaded_is_not_used() -> None:
    talk = ready("setoption name Leaves value formula", "setoption name seed value 7", "isready")
    bad = talk.loads[-1]
    said = talk.did(talk.conversation.loaded(bad, "it is broken"))
    assert said == ["info string error unknown-command setoption: it is broken"]
    assert talk.loads[-1] == SiuSettings(seed=7)
    assert talk.loaded() == ["readyok"]
    talk.says(POSITION)
    talk.says("go gen")
    assert talk.begun[0].settings == SiuSettings(seed=7)


class Broken:
    """A searcher that can't load, and fails to find the first of first moves."""

    def __init__(self) -> None:
        self.calls = 0

    def load(self, _settings: SiuSettings) -> None:
        raise MemoryError("no room")

    def at_once(self, task: SearchTask) -> tuple[Provenance, str]:
        self.calls += 1
        if self.calls == 1:
            raise MemoryError("no room")
        return WHENCE, "pass"


def test_whatever_breaks_while_it_loads_it_gets_ready(capsys: pytest.CaptureFixture[str]) -> None:
    talk = Talk("siu", "isready")
    process = _Shell(talk.conversation, "tilewire 1")
    process._load(talk.loads[-1], cast("SearchMaker", Broken()))
    said = talk.did(process._news.get_nowait()())
    assert said == [
        "info string error unknown-command setoption: MemoryError: no room",
        "readyok",
    ]
    assert "Traceback" in capsys.readouterr().err


def test_whatever_breaks_a_first_move_others_are_found() -> None:
    talk = ready(POSITION, "go gen", "go gen")
    process, searcher = _Shell(talk.conversation, ""), cast("SearchMaker", Broken())
    for _ in range(2):
        process._firsts.put(talk.begun[0])
    threading.Thread(target=process._find_first_moves, args=[searcher], daemon=True).start()
    assert talk.did(process._news.get(timeout=60)()) == [WHENCE.line()]


def test_what_is_set_meanwhile_is_used(tmp_path: Path) -> None:
    (tmp_path / "few.txt").touch()
    talk = ready(f"setoption name Lexicon value {tmp_path}/few.txt", "isready")
    bad = talk.loads[-1]
    talk.says("setoption name Leaves value formula")
    talk.says("isready")
    talk.did(talk.conversation.loaded(bad, "it is broken"))
    assert talk.loads[-1] == SiuSettings(leaves="formula")


def test_names_only(tmp_path: Path) -> None:
    """A front end sees no files but those that the user offers."""
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    for name in ("words.txt", "tiles.csv", "leaves.klv2", "chances.csv", "board.txt"):
        for folder in (there, elsewhere):
            folder.mkdir(exist_ok=True)
            (folder / name).touch()
    settings = SiuSettings(data=(there,), names_only=True)
    assert "DataPath" not in [one.name for one in options(settings)]
    with pytest.raises(ValueError, match=r"^no option is called 'DataPath'; there are: Lexicon"):
        with_option(settings, "DataPath", str(elsewhere))
    for option, name in (
        ("Lexicon", "words.txt"),
        ("LetterDistribution", "tiles.csv"),
        ("Leaves", "leaves.klv2"),
        ("WinPctTable", "chances.csv"),
    ):
        assert with_option(settings, option, name) != settings
        with pytest.raises(ValueError, match=rf"^{option}: no .* is called"):
            with_option(settings, option, f"{elsewhere}/{name}")
    for operation, name in (("bdn", "board.txt"), ("ld", "tiles.csv")):
        with pytest.raises(ValueError, match="is called"):
            read_position(SetPosition(f"{EMPTY} / 0/0 0 {operation} {elsewhere}/{name};"), settings)
    situation = read_position(SetPosition(f"{EMPTY} / 0/0 0 lex {elsewhere}/words.txt;"), settings)
    assert situation.lexicon is None


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("Lexicon value CSW21", "Lexicon: no lexicon is called 'CSW21'; there are: scowl"),
        ("Threads value 0", "Threads: '0' is no number from 1 to"),
        ("threads value many", "Threads: 'many' is no number"),
        (f"Threads value {'0' * 18}1000000", "Threads: '0000000000000000001000000' is no number"),
        ("Threads", "Threads: '' is no number"),
        (f"Seed value {'9' * 5_000}", "Seed: '999"),
        ("ChallengeRule value single", "ChallengeRule: 'single' is unknown; known: void"),
        ("Variant value wordsmog", "Variant: 'wordsmog' is unknown; known: classic"),
        ("StopEarly value maybe", "StopEarly: 'maybe' is neither true nor false"),
        ("DataPath value /no/such/folder", "DataPath: there is no folder '/no/such/folder'"),
        (f"DataPath value {'a' * 300}", "DataPath: there is no folder 'aaa"),
        ("Leaves value /no/such", "Leaves: no leave table is called"),
        ("WinPctTable value x", "WinPctTable: no win % table is called 'x'"),
        ("LetterDistribution value x", "LetterDistribution: no letter distribution is called 'x'"),
        ("Joho value 1", "no option is called 'Joho'; there are: DataPath, Lexicon"),
        ("value 1", "no option is called ''"),
    ],
)
def test_options_that_make_no_sense(option: str, sentence: str) -> None:
    talk = ready()
    (said,) = talk.says(f"setoption name {option}")
    assert said.startswith(f"info string error unknown-command setoption: {sentence}")
    assert len(said) < 700
    assert talk.says("isready") == ["readyok"]


def test_options_are_set_whatever_their_case() -> None:
    talk = ready("setoption name stopearly value FALSE", "setoption name variant value Classic")
    talk.says("setoption name lexicon value SCOWL")
    talk.says(POSITION)
    talk.says("go auto movetime 5")
    assert talk.begun[0].settings == SiuSettings(stop_early=False)
    assert talk.begun[0].waits


# --- what makes no sense --------------------------------------------------------------------------


def test_without_a_position_nothing_is_searched() -> None:
    talk = ready()
    assert talk.says("go gen")[0].startswith("info string error no-position")
    talk.says(POSITION)
    assert talk.says("position cgp 15")[0].startswith("info string error bad-position '15' is not")
    assert talk.says("position")[0].startswith("info string error bad-position write position cgp")
    assert talk.says(f"{POSITION} moves 1A.TEA")[0].startswith("info string error bad-move move 1")
    talk.says(POSITION)
    talk.says("siunewgame")
    assert talk.says("go")[0].startswith("info string error no-position")
    assert not talk.begun


def test_words_that_are_not_there_are_no_obstacle() -> None:
    talk = ready()
    assert talk.says(f"{POSITION} lex CSW21;") == [
        "info string error bad-position no lexicon is called 'CSW21'; there are: scowl"
    ]
    assert talk.says("go gen") == []


@pytest.mark.parametrize(
    ("go", "error"),
    [
        ("go endgame", "bad-position endgame is for an empty bag, and this has 86"),
        ("go peg", f"bad-position peg is for 1 to {MOST_IN_BAG} tiles in the bag, and this has 86"),
        ("go gen searchmoves 8H.ZOO", "bad-move 8H.ZOO: OOZ are not on the rack AEINRST"),
        ("go sim searchmoves ex.3", "bad-move ex.3: which move is it"),
    ],
)
def test_what_can_not_be_searched_ends_at_once(go: str, error: str) -> None:
    talk = ready(POSITION)
    said = talk.says(go)
    assert said[0].startswith(f"info string error {error}")
    assert said[-1] == "bestmove none"
    assert not talk.begun
    assert talk.says("go gen") == []


def test_without_a_rack_there_is_only_inference() -> None:
    talk = ready(f"position cgp {EMPTY} / 0/0 0 moves 8H.ZA")
    assert talk.says("go sim") == [
        "info string error bad-position the rack of the player on turn is not given",
        "bestmove none",
    ]
    assert talk.says("go infer") == []
    assert talk.begun[0].mode == "infer"


@pytest.mark.parametrize(
    ("go", "ignored"),
    [
        ("gen movetime 5 infinite firstwin threads 1", ["movetime", "firstwin", "threads"]),
        ("sim depth 3 iterations 9 movetime 5 stopcondition 95 useinference threads 1", []),
        ("sim depth 0 iterations 1 stopcondition 100 threads 2 firstwin joho",
         ["joho", "depth", "iterations", "stopcondition", "firstwin", "threads"]),
        ("infer movetime 5 depth 2 useinference infinite", ["depth", "useinference"]),
        ("auto movetime 5 threads 1 useinference infinite", []),
        ("auto iterations 5 searchmoves pass", ["searchmoves", "iterations"]),
    ],
)  # fmt: skip
def test_what_is_not_honoured_is_said_to_be_ignored(go: str, ignored: list[str]) -> None:
    talk = ready(POSITION)
    assert talk.says(f"go {go}") == [f"info string ignored {one}" for one in ignored]
    assert not talk.begun[0].only


def test_moves_to_compare() -> None:
    talk = ready(POSITION)
    said = talk.says("go sim alsosearchmoves 8h.TEA.AEINRST 8H.QI searchmoves pass ex.AE")
    assert [line[:37] for line in said] == ["info string error bad-move 8H.QI: Q i"]
    (task,) = talk.begun
    assert (len(task.only), len(task.also)) == (2, 1)
    assert task.named[task.also[0]] == "8H.TEA"


def test_limits() -> None:
    talk = ready(POSITION)
    for go, ends_ms, waits in (
        ("sim", 1_000 + SiuSettings().usual_ms, False),
        ("sim movetime 300", 1_300, False),
        ("sim iterations 50", None, False),
        ("sim stopcondition 99", None, False),
        ("auto infinite", None, True),
        ("infer infinite movetime 300", 1_300, True),
        ("gen", None, False),
        ("gen infinite", None, True),
    ):
        talk.says(f"go {go}")
        assert (talk.begun[-1].ends_ms, talk.begun[-1].waits) == (ends_ms, waits), go
        talk.ends()
    talk.says("setoption name StopEarly value false")
    for go, waits in (("auto movetime 300", True), ("sim iterations 10 movetime 300", False)):
        talk.says(f"go {go}")
        assert talk.begun[-1].waits is waits, go
        talk.ends()


# --- searches -------------------------------------------------------------------------------------


def test_a_search_ends_once() -> None:
    talk = ready(POSITION, "go sim")
    assert talk.tells(WHENCE, best="8D.RETAINS") == [WHENCE.line()]
    assert talk.tells(RESULT) == [RESULT.line()]
    assert talk.says("isready") == ["readyok"]
    assert talk.ends("8D.RETAINS") == ["bestmove 8D.RETAINS"]
    assert talk.ends("8D.RETAINS") == talk.tells(RESULT) == talk.waits(10**6) == []
    assert talk.says("stop") == []
    assert not talk.ended


def test_stop_is_heard_once_and_a_search_that_does_not_stop_is_spoken_for() -> None:
    talk = ready(POSITION, "go infinite")
    talk.tells(WHENCE, best="8D.RETAINS")
    assert talk.says("stop") == talk.says("stop") == []
    assert talk.ended == [1]
    assert talk.conversation.wakes_ms == talk.now_ms + PATIENCE_MS
    assert talk.waits(PATIENCE_MS - 1) == []
    assert talk.tells(RESULT, best="8D.NASTIER") == [RESULT.line()]
    assert talk.waits(1) == ["bestmove 8D.NASTIER"]
    assert talk.tells(RESULT, best="pass") == talk.ends() == []
    talk.says("quit")
    assert talk.is_over


def test_a_search_that_outlives_its_time_is_spoken_for() -> None:
    talk = ready(POSITION, "go sim movetime 300")
    assert talk.waits(300 + PATIENCE_MS) == []  # there is nothing to say
    assert talk.ended == []
    assert talk.tells(WHENCE, best="8D.RETAINS") == [WHENCE.line()]
    assert talk.waits(0) == ["bestmove 8D.RETAINS"]
    assert talk.ended == [1]


def test_a_search_without_an_answer_has_the_best_move_so_far() -> None:
    talk = ready(POSITION, "go infinite")
    assert talk.did(talk.conversation.at_once(1, WHENCE, "8D.RETAINS")) == [WHENCE.line()]
    assert talk.tells(WHENCE, RESULT) == [RESULT.line()]
    talk.tells(best="8D.NASTIER")
    assert talk.did(talk.conversation.at_once(1, WHENCE, "8D.RETAINS")) == []
    assert talk.did(talk.conversation.ended(1, None)) == ["bestmove 8D.NASTIER"], "it failed"
    talk = Talk("siu", POSITION, "go infinite", "stop")
    assert talk.waits(PATIENCE_MS) == ["bestmove pass"]
    assert talk.says("isready") == []
    assert talk.loaded() == ["readyok"]
    talk = ready(f"position cgp {EMPTY} / 0/0 0 moves 8H.ZA", "go infer infinite", "stop")
    assert talk.waits(PATIENCE_MS) == ["bestmove none"]


def test_go_during_a_search_ends_that_first() -> None:
    talk = ready(POSITION, "go infinite")
    assert talk.says("go gen depth 2") == []
    assert talk.ended == [1]
    assert talk.ends("8D.RETAINS") == ["bestmove 8D.RETAINS", "info string ignored depth"]
    assert [task.mode for task in talk.begun] == ["auto", "gen"]
    assert talk.ends("8D.NASTIER") == ["bestmove 8D.NASTIER"]


def test_a_search_keeps_its_position_and_settings() -> None:
    talk = ready(POSITION, "go infinite", f"position cgp {EMPTY} ABCDEFG/ 0/0 0")
    talk.says("setoption name Lines value 3")
    assert len(talk.begun[0].situation.position.racks[0]) == 7
    talk.ends()
    talk.says("go gen")
    first, second = talk.begun
    assert first.situation.position.racks[0] != second.situation.position.racks[0]
    assert (first.settings.lines, second.settings.lines) == (15, 3)


LINES = (
    *("go", "go gen", "go infer", "go infinite", "go endgame", "go sim searchmoves 8H.ZOO"),
    *("go sim movetime 30", "stop", "isready", POSITION, "position cgp x", "siunewgame"),
    *("setoption name Leaves value formula", "setoption name Leaves value own"),
)


@given(st.lists(st.sampled_from((*LINES, *["told", "ended", "tick", "loaded", "broken"]))))
def test_every_go_has_one_bestmove_and_every_isready_one_answer(script: list[str]) -> None:
    talk = Talk("siu")
    said: list[str] = []
    gone = asked = loaded = 0
    for line in script:
        if line == "told" and talk.begun:
            said += talk.tells(best="8D.RETAINS")
        elif line == "ended" and talk.begun:
            said += talk.ends()
        elif line == "tick":
            said += talk.waits(40)
        elif line in ("loaded", "broken") and loaded < len(talk.loads):
            of, loaded = talk.loads[loaded], loaded + 1
            told = talk.conversation
            broken = line == "broken" and of.leaves
            said += talk.did(told.loaded(of, "no" if broken else ""))
        elif line in LINES:
            answered = talk.says(line)
            said += answered
            refused = any("no-position" in one for one in answered)
            gone += line.startswith("go") and not refused
            asked += line == "isready"
    while loaded < len(talk.loads):
        said += talk.did(talk.conversation.loaded(talk.loads[loaded]))
        loaded += 1
    for at in range(2 * len(script)):
        if at < len(talk.begun):
            said += talk.ends(which=at)
    assert sum(one.startswith("bestmove ") for one in said) == gone
    assert said.count("readyok") == asked
