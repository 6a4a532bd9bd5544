"""Rules in the engine, in files and in messages: bots play with tiles that they have no file of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine.rules.rule_sets import load_rules, rule_set_names, rules_in_play
from engine.rules.rules import NUMBERS, WORDS, Rules, standard_rules
from harness.arbiter.rules_on_wire import rules_on_wire
from lexicons.alphabet import parse_distribution
from lexicons.layout import parse_layout
from protocol.parts import RulesInPlay, TileKind

BLANK = TileKind(letter="?", blanked="?", count=2, points=0)
TILES = "?,?,2,0,0\nA,a,3,1,1\nCH,ch,1,5,0\nŻ,ż,2,9,0\n"
BOARD = "=.~^\n.'.\"\n-...\n....\nstart 2C\n"


def strange() -> Rules:
    tiles = parse_distribution("tiny", TILES, "here")
    return Rules(tiles, parse_layout("small", BOARD, "here"), rack_size=3, exchange_minimum=1)


def test_each_number_and_word_has_one_name_in_the_engine_on_the_wire_and_in_a_file(
    tmp_path: Path,
) -> None:
    usual, file = standard_rules(), tmp_path / "other.toml"
    others: dict[str, int | str] = {
        **{name: least + (getattr(usual, name) == least) for name, (least, _) in NUMBERS.items()},
        **{name: words[-1] for name, words in WORDS.items()},
    }
    for name, value in others.items():
        told = rules_on_wire(replace(usual, **{name: value}))  # type: ignore[arg-type]
        assert told == msgspec.structs.replace(RulesInPlay(), **{name: value})
        assert getattr(rules_in_play(told), name) == value
        file.write_text(f"{name} = {json.dumps(value)}\n")
        load_rules.cache_clear()
        assert rules_in_play(told) == load_rules(file)
    assert rules_in_play(RulesInPlay()) == usual


def test_other_tiles_and_boards_are_told_in_full() -> None:
    told = rules_on_wire(strange())
    assert told.board == ("=.~^", ".'.\"", "-...", "....")
    assert told.start == "2C"
    assert told.tiles[2] == TileKind(letter="CH", blanked="ch", count=1, points=5)
    heard = msgspec.convert(msgspec.to_builtins(told), RulesInPlay)
    assert rules_in_play(heard) == strange()


def test_who_knows_names_only_can_take_them_for_nothing_else() -> None:
    english = standard_rules()
    assert rules_on_wire(english) == RulesInPlay()
    tiles = replace(english.distribution, counts=(1, *english.distribution.counts[1:]))
    told = rules_on_wire(replace(english, distribution=tiles))
    assert (told.distribution, told.layout) == ("own-english", "standard")


@pytest.mark.parametrize("name", rule_set_names())
def test_every_rule_set_comes_through(name: str) -> None:
    told = rules_on_wire(load_rules(name))
    heard = rules_in_play(msgspec.convert(msgspec.to_builtins(told), RulesInPlay))
    assert (heard, heard.name) == (load_rules(name), name)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tiles": (BLANK,)}, "0 letters"),
        ({"tiles": (BLANK, TileKind(letter="/", blanked="x", count=1, points=1))}, "'/'"),
        ({"layout": "x", "board": ("~" * 15,) * 15, "start": "8H"}, "may count 16388 times"),
        ({"distribution": "none"}, "'none' is not known"),
        ({"layout": "none"}, "'none' is not known"),
        ({"rack_size": 8}, "at most 7"),
        ({"board": ("...", "..")}, "2 squares"),
        ({"board": ("...", "..."), "start": "9Z"}, "start"),
        ({"board": ("." * 8,) * 9}, "square"),
    ],
)
def test_rules_that_make_no_sense_are_declined(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rules_in_play(msgspec.structs.replace(RulesInPlay(), **changes))
