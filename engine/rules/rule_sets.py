"""Rule sets: tiles, board and numbers of a game under a name, in a TOML file, or in a message.

A file has ``tiles`` and ``board``, each the name of an embedded one or a file's path from the
folder of the rule set, and may have the numbers and words of ``Rules``; keys left out are as in
English tournaments.
"""

from __future__ import annotations

import csv
import io
import tomllib
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lexicons.alphabet import TileDistribution, load_distribution, parse_distribution
from lexicons.layout import BoardLayout, load_layout, parse_layout
from lexicons.text import embedded_names, read_named

from .rules import MAX_RACK, NUMBERS, WORDS, Rules, check_points

_KEYS = ("tiles", "board", *NUMBERS, *WORDS)
_FORM = 'a TOML file with tiles = "…", board = "…" and the numbers that differ'


def rule_set_names() -> tuple[str, ...]:
    """Return the names of the embedded rule sets, sorted."""
    return tuple(sorted(embedded_names(".toml")))


@cache
def load_rules(name_or_path: str | Path = "english") -> Rules:
    """Read an embedded rule set by name, or a TOML file.

    Raises:
        ValueError: names the file, the key and what is wrong with it.
        FileNotFoundError: the rule set, its tiles or its board is neither an embedded name nor a
            file.
    """
    name, text, source = read_named(name_or_path, ".toml", "rule set", _FORM)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not TOML: {error}; text must be in quotes") from None
    except RecursionError:
        raise ValueError(f"{source} has lists or tables nested too deeply") from None
    embedded = isinstance(name_or_path, str) and name_or_path in rule_set_names()
    folder = None if embedded else Path(name_or_path).parent
    rules = _read(name, table, source, folder)
    check_rules(rules, source)
    return rules


def rules_for(distribution: TileDistribution) -> Rules:
    """Return the rule set of the tiles' name, if it has them; else English rules with them."""
    if distribution.name in rule_set_names():
        rules = load_rules(distribution.name)
        if rules.distribution == distribution:
            return rules
    return replace(load_rules(), distribution=distribution)


def _read(name: str, said: dict[str, Any], source: str, folder: Path | None) -> Rules:
    for key in said:
        if key not in _KEYS:
            raise ValueError(f"{source}: no key is called {key!r}; keys are {', '.join(_KEYS)}")
    for key, value in said.items():
        if key not in NUMBERS and not isinstance(value, str):
            raise ValueError(f"{source}: {key} is a text in quotes, not {value!r}")
    values = said.copy()
    tiles, board = values.pop("tiles", "english"), values.pop("board", "standard")
    for key, value in values.items():
        if key in WORDS and value not in WORDS[key]:
            raise ValueError(f"{source}: {key} = {value!r}; it is one of {', '.join(WORDS[key])}")
        least, most = NUMBERS.get(key, (0, 0))
        if key in NUMBERS and (type(value) is not int or not least <= value <= most):
            raise ValueError(f"{source}: {key} = {value!r}; it is {least} to {most}")
    return Rules(
        load_distribution(_beside(tiles, folder)),
        load_layout(_beside(board, folder)),
        **values,
        name=name,
    )


def _beside(name: str, folder: Path | None) -> str | Path:
    """Return the path of a file beside the rule set, if there is one; else the name."""
    if folder is None or (folder / name).is_file():
        return name if folder is None else folder / name
    if name not in embedded_names(".csv") | embedded_names(".txt") and Path(name).is_file():
        raise ValueError(f"there is no {folder / name}: a path in a file is relative to that file")
    return name


@lru_cache(maxsize=8)
def rules_in_play(message: Any) -> Rules:
    """Return the rules that a message describes, which has the fields of ``RulesInPlay``.

    The engine knows no messages; it takes whatever has these attributes. Names come from outside,
    so they stand for embedded data only, never for paths. Tiles or a board given in full override
    embedded ones of the same name.

    Raises:
        ValueError: no game can be played by these rules here.
    """
    values: dict[str, Any] = {}
    for name in (*NUMBERS, *WORDS):
        if isinstance(value := getattr(message, name), int | str):  # else it is left out
            values[name] = value
    rules = Rules(_tiles_in_play(message), _board_in_play(message), **values, name=message.name)
    check_rules(rules, "the rules")
    return rules


def _tiles_in_play(message: Any) -> TileDistribution:
    name: str = message.distribution
    if not message.tiles:
        return load_distribution(_embedded(name, ".csv"))
    table = io.StringIO()
    csv.writer(table).writerows(
        (tile.letter, tile.blanked, tile.count, tile.points, int(tile.vowel))
        for tile in message.tiles
    )
    tiles = parse_distribution(name, table.getvalue(), f"the tiles {name[:40]!r}")
    if len(tiles.counts) != len(message.tiles):
        raise ValueError(
            f"the tiles {name[:40]!r}: a tile's text has a character that tiles can't have"
        )
    return tiles


def _board_in_play(message: Any) -> BoardLayout:
    name: str = message.layout
    if not message.board:
        return load_layout(_embedded(name, ".txt"))
    start = [] if message.start is None else [f"start {message.start}"]
    return parse_layout(name, "\n".join((*message.board, *start)), f"the board {name[:40]!r}")


def _embedded(name: str, suffix: str) -> str:
    if name not in embedded_names(suffix):
        raise ValueError(f"{name[:40]!r} is not known here")
    return name


def check_rules(rules: Rules, source: str) -> None:
    """Raise ValueError if a game can't be played by these rules."""
    layout = rules.layout
    tile_count = rules.distribution.total
    if rules.rack_size > MAX_RACK:
        raise ValueError(
            f"{source}: racks of {rules.rack_size} tiles; at most {MAX_RACK} can be played"
        )
    if layout.rows != layout.columns:
        raise ValueError(
            f"{source}: the board {layout.name} has {layout.rows} rows of {layout.columns} "
            "squares; a board is square"
        )
    if tile_count < 2 * rules.rack_size:
        raise ValueError(
            f"{source}: two racks of {rules.rack_size} need {2 * rules.rack_size} tiles; "
            f"{rules.distribution.name} has {tile_count}"
        )
    if layout.rows < rules.rack_size:
        raise ValueError(
            f"{source}: {rules.rack_size} tiles of a rack don't fit in a row of the board "
            f"{layout.name}, which has {layout.rows} squares"
        )
    try:
        check_points(rules)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    fullest_bag = tile_count - 2 * rules.rack_size
    # Where the bag is empty from the start nobody exchanges, and the minimum, at least 1, is idle.
    if rules.exchange_minimum > max(fullest_bag, 1):
        raise ValueError(
            f"{source}: an exchange needs {rules.exchange_minimum} tiles in the bag, which never "
            f"has more than {fullest_bag}"
        )
