from __future__ import annotations

from pathlib import Path

import pytest

from engine.rules.rule_sets import load_rules, rule_set_names, rules_for
from engine.rules.rules import NO_LIMIT, Rules
from lexicons.alphabet import load_distribution

ONE_OF_TWO = "?,?,2,0,0\nA,a,9,1,1\nB,b,9,3,0\n"

TILES = {  # letters, tiles, points of all tiles
    "catalan": (26, 100, 189),
    "dutch": (26, 102, 230),
    "english": (26, 100, 187),
    "french": (26, 102, 197),
    "german": (29, 102, 202),
    "norwegian": (32, 100, 202),
    "polish": (32, 100, 190),
    "slovene": (29, 100, 180),
    "spanish": (28, 100, 192),
    "super": (26, 200, 381),
}

ENDS = {  # scoreless turns, passes, exchanges, where they are not as in English
    "catalan": (6, 4, NO_LIMIT),
    "german": (6, 4, NO_LIMIT),
    "polish": (NO_LIMIT, 4, 3),
    "spanish": (12, 4, NO_LIMIT),
}


def test_the_embedded_rule_sets() -> None:
    assert rule_set_names() == tuple(TILES)
    for name, (letters, tiles, points) in TILES.items():
        rules = load_rules(name)
        distribution = rules.distribution
        assert rules.name == name
        assert (len(distribution.alphabet), distribution.total) == (letters, tiles)
        assert distribution.value(distribution.all_tiles()) == points, name
        assert rules.exchange_minimum == (1 if name == "spanish" else 7)
        assert (rules.rack_size, rules.bingo_bonus) == (7, 50)
        ends = rules.scoreless_limit, rules.pass_limit, rules.exchange_limit
        assert ends == ENDS.get(name, (6, NO_LIMIT, NO_LIMIT)), name
        assert any(distribution.vowels)


def test_the_rules_of_a_lexicon_go_by_its_tiles(tmp_path: Path) -> None:
    for name in ("english", "spanish"):
        assert rules_for(load_rules(name).distribution) is load_rules(name)
    own = tmp_path / "spanish.csv"
    own.write_text(ONE_OF_TWO, encoding="utf-8")
    rules = rules_for(load_distribution(own))
    assert (rules.distribution.name, rules.exchange_minimum) == ("spanish", 7)
    assert rules.layout == load_rules().layout


def test_tiles_of_several_characters() -> None:
    alphabet = load_rules("catalan").distribution.alphabet
    assert alphabet.text(alphabet.word_tiles("novel·lanyquè".replace("è", "e"))) == (
        "NOVE[L·L]A[NY][QU]E"
    )
    spanish = load_rules("spanish").distribution.alphabet
    assert spanish.text(spanish.word_tiles("chorrillo")) == "[CH]O[RR]I[LL]O"
    assert spanish.tiles("[ch]O[rr]") == (0x84, spanish.tiles("O")[0], spanish.tiles("[rr]")[0])


def test_the_large_board_has_quadruple_squares_and_is_symmetric() -> None:
    layout = load_rules("super").layout
    assert (layout.rows, layout.columns, layout.start) == (21, 21, (10, 10))
    letter, word = layout.letter_multipliers, layout.word_multipliers
    assert (letter.count(4), word.count(4)) == (8, 4)
    side = range(21)
    for values in (letter, word):
        assert values == values[::-1]
        assert values == tuple(values[column * 21 + row] for row in side for column in side)


def _written(folder: Path, text: str) -> Rules:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    load_rules.cache_clear()
    return load_rules(path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text(ONE_OF_TWO, encoding="utf-8")
    (tmp_path / "small.txt").write_text(".....\n..-..\n.....\n.....\n.....\n", encoding="utf-8")
    rules = _written(
        tmp_path, 'tiles = "two.csv"\nboard = "small.txt"\nrack_size = 5\nexchange_minimum = 2\n'
    )
    assert (rules.name, rules.distribution.name, rules.layout.name) == ("mine", "two", "small")
    assert (rules.rack_size, rules.exchange_minimum, rules.bingo_bonus) == (5, 2, 50)


def test_files_in_this_folder_leave_an_embedded_rule_set_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = load_rules("english")
    for name in ("english", "standard"):
        (tmp_path / name).write_text(ONE_OF_TWO, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    load_rules.cache_clear()
    assert load_rules("english") == english


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('tiles = "polish', "not TOML"),
        ("tiles = 3", "tiles is a text in quotes"),
        ('tile = "polish"', "no key is called 'tile'; keys are tiles, board, rack_size"),
        ("rack_size = 8", "rack_size = 8; it is 1 to 7"),
        ("rack_size = true", "rack_size = True; it is 1 to 7"),
        ("scoreless_limit = 0", "it is 1 to 1000"),
        ("pass_limit = 0", "it is 1 to 1000"),
        ("exchange_limit = -1", "it is 0 to 1000"),
        ('challenge = "duel"', "'duel'; it is one of void"),
        ("exchange_minimum = 87", "needs 87 tiles in the bag, which never has more than 86"),
        ('tiles = "few.csv"', "two racks of 7 need 14 tiles; few has 4"),
        ('board = "oblong.txt"', "oblong has 2 rows of 3 squares; a board is square"),
        ('board = "tiny.txt"', "7 tiles of a rack don't fit in a row of the board tiny"),
        ('board = "odd.txt"', "'x' at column 2 is no square; known are"),
    ],
)
def test_a_rule_set_that_cannot_be_played_is_refused(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "few.csv").write_text("?,?,2,0,0\nA,a,1,1,1\nB,b,1,3,0\n", encoding="utf-8")
    for name, board in (("oblong", "...\n...\n"), ("tiny", "...\n" * 3), ("odd", ".x\n..\n")):
        (tmp_path / f"{name}.txt").write_text(board, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        _written(tmp_path, text)


def test_an_unknown_rule_set() -> None:
    with pytest.raises(FileNotFoundError, match=r"'klingon' \(known: catalan, dutch, english"):
        load_rules("klingon")
