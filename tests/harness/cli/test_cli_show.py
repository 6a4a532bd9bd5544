"""``tilewire show`` and ``tilewire token``."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from command_line import CommandLine

from harness.server.tokens import hash_token, read_token_file

FIXTURES = Path(__file__).parents[2] / "fixtures"
GAME = FIXTURES / "gcg" / "complete.gcg"
POSITION = (FIXTURES / "cgp" / "midgame.cgp").read_text()


def row(text: str, number: int) -> str:
    """Take a row of the board out of what was printed."""
    line = next(x for x in text.splitlines() if x[:3] == f"{number:>2} " and x[3:6].strip())
    return line[3:48].replace(" ", "")


def test_a_game_is_its_score_sheet_and_its_end(tilewire: CommandLine) -> None:
    assert tilewire("show", GAME) == 0
    lines = tilewire.out.splitlines()
    assert lines[0] == "Anna Berg (anna) – Bert Dahl (bert)"
    assert "2  bert    AEIMNT?  H8 (S)eA          +2      2" in lines
    assert "2 × (EIMNTTX)" in tilewire.out
    assert row(tilewire.out, 8) == "=..WORDS...'..="
    assert "▸" not in tilewire.out
    assert "\x1b" not in tilewire.out


def test_a_game_is_shown_up_to_a_line_or_its_moves_alone(tilewire: CommandLine) -> None:
    assert tilewire("show", GAME, "--turn", 1) == 0
    assert "H8" not in tilewire.out
    assert row(tilewire.out, 9) == "..'...'.'...'.."
    assert "▸ bert" in tilewire.out
    assert tilewire("show", GAME, "--turn", 0) == 0
    assert "no moves" in tilewire.out
    assert tilewire("show", GAME, "--moves", "--turn", "2") == 0
    assert "H8 (S)eA" in tilewire.out
    assert "10H" not in tilewire.out
    assert " A  B " not in tilewire.out


@pytest.mark.parametrize("path", sorted((FIXTURES / "gcg").glob("*.gcg")), ids=lambda p: p.stem)
def test_every_readable_game_is_printed_or_refused_with_a_sentence(
    tilewire: CommandLine, path: Path
) -> None:
    status = tilewire("show", path)
    assert status == (2 if path.stem == "three_players" else 0)
    assert all(len(line) <= 80 for line in tilewire.out.splitlines())


def test_a_sheet_with_other_scores_has_those_of_the_rules_beside_them(
    tilewire: CommandLine,
) -> None:
    path = FIXTURES / "gcg" / "as_written" / "sheet_score.gcg"
    assert tilewire("show", path, "--moves") == 0
    assert "+36 (+26)  36 (26)" in tilewire.out
    assert tilewire.err.count(f"{path}, line 4: ") == 1
    game = tilewire.json("show", path)
    for key in ("computed", "computed_total"):
        assert [line[key] for line in game["lines"]] == [26, 0]
    assert [notice["line"] for notice in game["notices"]] == [4]
    assert " 36/0 " in game["cgp"]
    wrong = FIXTURES / "gcg" / "refused_at_replay" / "wrong_score.gcg"
    assert tilewire("show", wrong, "--strict") == 2
    assert f"{wrong}, line 5: " in tilewire.err


def test_utf8_that_no_line_declares_is_hinted_at(tilewire: CommandLine, tmp_path: Path) -> None:
    path = FIXTURES / "gcg" / "as_written" / "utf8_no_header.gcg"
    assert tilewire("show", path, "--strict", "--rules", "german") == 2
    assert "#character-encoding UTF-8" in tilewire.err
    assert tilewire("show", path) == 2
    assert "--rules german" in tilewire.err
    named = tmp_path / "named.gcg"
    named.write_text("#player1 a Zoë\n#player2 b b\n>a: CATERED 8H CAT +10 10\n")
    assert tilewire("show", named, "--strict") == 0
    assert "#character-encoding UTF-8" in tilewire.err


def test_a_position(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.cgp"
    path.write_text(POSITION)
    for what in (POSITION, path):
        assert tilewire("show", what) == 0
        assert row(tilewire.out, 8) == "=..WoRDS...'..="
        assert "▸ on turn" in tilewire.out
        assert "AEGILNV" in tilewire.out


def test_a_position_that_is_none(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.cgp"
    path.write_text("15/15 / 0/0 0")
    for wrong, word in (
        ((POSITION.replace("3WoRDS7", "3WoRDS8"),), "row 8"),
        ((path,), f"tilewire: {path}, line 1: "),
        ((POSITION, "--turn", "1"), "CGP"),
        (("9" * 5_000 + "/1 / 0/0 0",), "tilewire: "),
    ):
        assert tilewire("show", *wrong) == 2
        assert word in tilewire.err


def test_names_in_a_file_cannot_touch_the_terminal(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.gcg"
    path.write_text("#player1 a \x1b[31mred [bold]\n#player2 b b\n#title \x07\n")
    assert tilewire("show", path) == 0
    assert "\x1b" not in tilewire.out
    assert "\x07" not in tilewire.out
    assert "red [bold] (a)" in tilewire.out


# --- token --------------------------------------------------------------------------------------


def test_a_token_goes_to_stdout_alone(tilewire: CommandLine) -> None:
    assert tilewire("token", "bob") == 0
    secret = tilewire.out.removesuffix("\n")
    assert len(secret) == 43
    assert tilewire.err.endswith(f"bob {hash_token(secret)}\n")
    assert secret not in tilewire.err


def test_a_file_of_tokens_is_made_for_its_owner_alone(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "etc" / "tokens"
    assert tilewire("token", "bob", "--tokens", path) == 0
    bob = tilewire.out.strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text(f"# ours\n{path.read_text().strip()}")  # no line end at the end
    path.chmod(0o640)
    assert tilewire("token", "eve", "--tokens", path) == 0
    assert read_token_file(path) == {
        "bob": hash_token(bob),
        "eve": hash_token(tilewire.out.strip()),
    }
    assert path.read_text().startswith("# ours\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_a_name_keeps_its_token_unless_it_is_replaced(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "tokens"
    tilewire("token", "bob", "--tokens", path)
    tilewire("token", "eve", "--tokens", path)
    before = read_token_file(path)
    assert tilewire("token", "bob", "--tokens", path) == 2
    assert "--replace" in tilewire.err
    assert tilewire.out == ""
    assert read_token_file(path) == before
    assert tilewire("token", "bob", "--tokens", path, "--replace") == 0
    assert read_token_file(path) == {**before, "bob": hash_token(tilewire.out.strip())}
    assert len(path.read_text().splitlines()) == 2


def test_files_that_are_no_files_of_tokens(tilewire: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("bob is here\n")
    assert tilewire("token", "eve", "--tokens", path) == 2
    assert "line 1" in tilewire.err
    assert tilewire("token", "eve", "--tokens", tmp_path) == 2
    assert str(tmp_path) in tilewire.err
    assert tilewire.out == ""


def test_rules_are_suggested_where_several_plays_or_a_letter_tell(
    tilewire: CommandLine, tmp_path: Path
) -> None:
    game, players = tmp_path / "game.gcg", "#player1 a a\n#player2 b b\n"
    dutch = f"{players}>a: CATERED 8H CAT +16 16\n>b: AEINRST J8 .EN +6 6\n"
    game.write_text(f"{dutch}>a: DEER H8 .EDE +9 25\n")
    for strict in ([], ["--strict"]):
        assert tilewire("show", game, *strict) == 2
        assert "--rules dutch" in tilewire.err
    game.write_text(f"{players}>a: CATERED 8H CAT +11 11\n")
    for strict, status in (([], 0), (["--strict"], 2)):
        assert tilewire("show", game, *strict) == status
        assert "--rules" not in tilewire.err
