"""How commands on positions name a position, a game and the words it was played with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import CommandLine

FIXTURES = Path(__file__).parents[2] / "fixtures"
GAME = FIXTURES / "games" / "static_greedy.gcg"
SHORT_GAME = FIXTURES / "gcg" / "complete.gcg"
COMMANDS = ("analyze", "generate", "infer", "endgame", "preendgame", "show")


@pytest.fixture
def nothing_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a command that loads words, and so may compile, before it refuses its input."""

    def load_words(*_: object) -> None:
        raise AssertionError("words were loaded")

    monkeypatch.setattr("harness.cli.positions.load_words", load_words)
    monkeypatch.setattr("harness.cli.options.load_words", load_words)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_line_of_a_game_is_refused_alike(
    tilewire: CommandLine, nothing_loads: None, command: str, tmp_path: Path
) -> None:
    for line in ("0", "26", "999999999"):
        assert tilewire(command, f"{GAME}@{line}") == 2
        assert "1 to 24" in tilewire.err
    for line in ("x", "", "1.5", "9" * 5_000):
        assert tilewire(command, f"{GAME}@{line}") == 2
        assert "@" in tilewire.err
    for what in ("missing.gcg@3", tmp_path, f"{tmp_path}/."):
        assert tilewire(command, what) == 2
        assert f"tilewire: {what} is " in tilewire.err


def test_a_file_that_can_not_be_read_is_told_without_errno(
    tilewire: CommandLine, nothing_loads: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_text(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("harness.cli.positions.read_text", read_text)
    (tmp_path / "at.cgp").touch()
    assert tilewire("show", tmp_path / "at.cgp") == 2
    assert tilewire.err.startswith(f"tilewire: {tmp_path / 'at.cgp'}")
    assert "13" not in tilewire.err


@pytest.mark.parametrize("command", ["generate", "infer", "endgame", "preendgame"])
def test_a_whole_game_is_not_a_position(
    tilewire: CommandLine, nothing_loads: None, command: str
) -> None:
    assert tilewire(command, GAME) == 2
    assert f"{GAME}@1" in tilewire.err


@pytest.mark.parametrize("command", ["analyze", "generate", "infer"])
def test_a_game_of_other_words_warns_once(
    tilewire: CommandLine, command: str, tmp_path: Path
) -> None:
    path, words = tmp_path / "game.gcg", tmp_path / "nwl20.txt"
    path.write_text("#player1 a A\n#player2 b B\n#lexicon NWL20\n>a: AEIRSST 8H AS +4 4\n")
    words.write_text("as\n")
    few = {"analyze": ("--rollouts", 2), "infer": ("--racks", 50, "--top", 1)}.get(command, ())
    assert tilewire(command, f"{path}@1", *few) == 0
    (warning,) = (line for line in tilewire.err.splitlines() if "NWL20" in line)
    assert "--lexicon" in warning
    assert tilewire(command, f"{path}@1", *few, "--lexicon", words) == 0
    assert "NWL20" not in tilewire.err


def test_a_position_of_other_words_warns(tilewire: CommandLine, tmp_path: Path) -> None:
    position = f"{'/'.join(['15'] * 15)} AEIRSST/ 0/0 0 lex CSW21;"
    (tmp_path / "one.cgp").write_text(f"{position}\n")
    for what in (position, tmp_path / "one.cgp"):
        assert tilewire("generate", what, "--top", 1) == 0
        assert "CSW21" in tilewire.err
        assert tilewire.err.count("\n") == 1


def test_a_rack_alone_is_an_opening(tilewire: CommandLine) -> None:
    alone = tilewire.json("generate", "AEIRSST", "--top", 3)
    assert alone == tilewire.json("generate", f"{'/'.join(['15'] * 15)} AEIRSST/ 0/0 0", "--top", 3)
    for what in ("AEIRSS", "aeirsst"):  # as a file's name may be
        assert tilewire("generate", what) == 2


@pytest.mark.parametrize(
    ("command", "racks", "options"),
    [
        ("generate", "AATTTTT/", ()),
        ("analyze", "AATTTTT/", ("--rollouts", 10)),
        ("infer", "/AATTTTT", ("--racks", 20, "--play", "A6 .T")),
        ("preendgame", "AATTTTT/", ()),
        ("endgame", "AATTTTT/", ()),
    ],
)
def test_words_on_the_board_that_the_lexicon_lacks_are_named(
    tilewire: CommandLine, command: str, racks: str, options: tuple[object, ...], tmp_path: Path
) -> None:
    words, tiles = tmp_path / "words.txt", tmp_path / "tiles.csv"
    words.write_text("at\n")
    count = 10 if command == "endgame" else 14
    tiles.write_text(f"?,?,0,0,0\nA,a,8,1,1\nB,b,4,1,0\nT,t,{count},1,0\n", "utf-8")
    board = "/".join(["15"] * 5 + ["AT2BAT2BB2TA", "15", "3AB10"] + ["15"] * 7)
    given = ("--lexicon", words, "--distribution", tiles, *options)
    assert tilewire(command, f"{board} {racks} 0/0 0", *given) == 0, tilewire.err
    assert "AB, BAT, BB and 1 more" in tilewire.err


def test_a_review_names_a_word_that_the_lexicon_lacks_once(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "game.gcg"
    path.write_text(
        "#player1 a A\n#player2 b B\n>a: AEIRSXQ 8H XQ +36 36\n"
        ">b: AEIORST - +0 0\n>a: AEIRS - +0 36\n"
    )
    assert tilewire("analyze", path, "--rollouts", 2, "--candidates", 1) == 0, tilewire.err
    assert tilewire.err.count("XQ") == 1


def test_show_and_generate_mean_the_same_position(tilewire: CommandLine) -> None:
    assert tilewire("show", f"{GAME}@3") == 0
    same = tilewire.out
    assert tilewire("show", GAME, "--turn", 2) == 0
    assert tilewire.out == same
    assert tilewire("show", f"{GAME}@3", "--turn", 2) == 2
    assert "--turn" in tilewire.err
    shown = tilewire.json("show", f"{GAME}@3")
    assert [line["move"] for line in shown["lines"]] == ["8D OWARI", "D8 .BCONIC"]
    assert shown["players"][0]["nick"] == "static"
    best = tilewire.json("generate", shown["cgp"], "--top", 1)["moves"]
    assert tilewire.json("generate", f"{GAME}@3", "--top", 1)["moves"] == best
    assert tilewire.json("show", shown["cgp"]) == {"cgp": shown["cgp"]}


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ("show", f"{GAME}@9"),
        ("generate", f"{GAME}@9", "--top", 5),
        ("infer", f"{GAME}@1", "--racks", 30, "--top", 3),
        ("analyze", f"{GAME}@18", "--rollouts", 200, "--candidates", 3),
        ("analyze", SHORT_GAME, "--rollouts", 64, "--candidates", 3),
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_tables_fit_a_terminal(
    tilewire: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    columns: int,
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", str(columns))):
        monkeypatch.setenv(name, value)
    assert tilewire(*arguments) == 0, tilewire.err
    last = tilewire.out.rpartition("\x1b[2K")[2]  # what was drawn meanwhile is wiped
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in last.splitlines()]
    assert max(map(len, lines)) <= columns, last
    heads = [line for line in lines if re.search(r"\bmove\b|\bleave\b|\bplayed\b", line)]
    assert heads, last


def test_a_game_that_began_in_a_position_is_shown_and_analysed_from_there(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    house, game = "/".join([*["15"] * 7, "3HOUSE7", *["15"] * 7]), tmp_path / "game.gcg"
    players = "#player1 ada A\n#player2 bob B\n"
    game.write_text(f"{players}#opening {house} / 5/20 1\n>bob: AEINOSX 8D .....S +9 14\n")
    begun = tilewire.json("show", game, "--turn", 0)["cgp"]
    assert begun.startswith(f"{house} ")
    found = tilewire.json("analyze", f"{game}@1", "--rollouts", 2, "--candidates", 1)
    assert found["cgp"].startswith(f"{house} AEINOSX/ 5/20 1")


# --- leaves ---------------------------------------------------------------------------------------
