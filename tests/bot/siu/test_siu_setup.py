"""How an SIU engine gets ready: the handshake, what is loaded, and its options."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from siu_talk import EMPTY, POSITION, Talk, ready

from bot.siu.engine import _Shell
from bot.siu.modes import SearchTask
from bot.siu.position import read_position
from bot.siu.settings import SiuSettings, options, with_option
from protocol.siu.answers import Option, Provenance, parse_answer
from protocol.siu.commands import SetPosition

if TYPE_CHECKING:
    from bot.siu.searches import SearchMaker

WHENCE = Provenance("us", "formula", "formula", "scowl")


def test_the_handshake() -> None:
    talk = Talk()
    said = talk.says("siu")
    assert said[:3] == [
        "id name tilewire 1",
        "id author somebody",
        "capability gen sim infer endgame peg auto stream stop",
    ]
    assert said[-1] == "siuok"
    read = [parse_answer(line) for line in said[3:-1]]
    names = {one.name: one for one in read if isinstance(one, Option)}
    assert len(names) == len(read)
    assert {"Lexicon", "LetterDistribution", "Leaves", "WinPctTable", "DataPath"} < names.keys()
    assert names["Threads"] == Option("Threads", "spin", "1", 1, names["Threads"].most)
    assert names["ChallengeRule"].values == ("void",)
    assert names["StopEarly"].default == "true"
    assert names["EndgameHash"].default == "256"
    assert len(talk.loads) == 1


def test_ready_is_said_once_all_is_loaded() -> None:
    talk = Talk("siu")
    assert talk.says("isready") == talk.says("isready") == []
    assert talk.loaded() == ["readyok", "readyok"]
    assert talk.says("isready") == ["readyok"]
    assert len(talk.loads) == 1


def test_a_front_end_that_does_not_shake_hands_gets_ready_too() -> None:
    talk = Talk("isready")
    assert talk.loaded() == ["readyok"]


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


def shell(talk: Talk) -> _Shell:
    return _Shell(talk.conversation, "tilewire 1")


def test_whatever_breaks_while_it_loads_it_gets_ready(capsys: pytest.CaptureFixture[str]) -> None:
    talk = Talk("siu", "isready")
    process, searcher = shell(talk), cast("SearchMaker", Broken())
    process._load(talk.loads[-1], searcher)
    said = talk.did(process._news.get_nowait()())
    assert said == [
        "info string error unknown-command setoption: MemoryError: no room",
        "readyok",
    ]
    assert "Traceback" in capsys.readouterr().err


def test_whatever_breaks_a_first_move_others_are_found() -> None:
    talk = ready(POSITION, "go gen", "go gen")
    process, searcher = shell(talk), cast("SearchMaker", Broken())
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
