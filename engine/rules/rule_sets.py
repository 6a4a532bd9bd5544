"""Rule sets: tiles, board and the numbers of a game under a name, or in a TOML file.

A file has ``tiles`` and ``board``, each the name of an embedded one or a file's path from the
folder of the rule set, and may have ``rack_size``, ``bingo_bonus``, ``exchange_minimum``,
``scoreless_limit``, ``pass_limit``, ``exchange_limit``, ``challenge`` and ``challenge_by``; keys
left out are as in English tournaments.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lexicons.alphabet import TileDistribution, load_distribution
from lexicons.layout import load_layout
from lexicons.text import embedded_names, read_named

from .challenges import CHALLENGE_RULES, CHALLENGE_UNITS
from .rules import MAX_RACK, NO_LIMIT, Rules, check_points

_NUMBERS = {
    "rack_size": (1, MAX_RACK),
    "bingo_bonus": (0, 1_000),
    "exchange_minimum": (1, 1_000),
    "scoreless_limit": (1, NO_LIMIT),
    "pass_limit": (1, NO_LIMIT),
    "exchange_limit": (0, NO_LIMIT),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "challenge": CHALLENGE_RULES,
    "challenge_by": CHALLENGE_UNITS,
}
_KEYS = ("tiles", "board", *_NUMBERS, *_WORDS)
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
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not TOML: {error}; text must be in quotes") from None
    except RecursionError:
        raise ValueError(f"{source} has lists or tables nested too deeply") from None
    embedded = isinstance(name_or_path, str) and name_or_path in rule_set_names()
    folder = None if embedded else Path(name_or_path).parent
    rules = _read(name, said, source, folder)
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
    texts = {"tiles": "english", "board": "standard", "challenge": "void", "challenge_by": "turn"}
    texts |= {key: value for key, value in said.items() if key in texts}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{source}: {key} is a text in quotes, not {value!r}")
    numbers: dict[str, Any] = {}
    for key, (least, most) in _NUMBERS.items():
        if key in said:
            number = said[key]
            if type(number) is not int or not least <= number <= most:
                raise ValueError(f"{source}: {key} = {number!r}; it is {least} to {most}")
            numbers[key] = number
    words: dict[str, Any] = {key: texts[key] for key in _WORDS}
    for key, known in _WORDS.items():
        if words[key] not in known:
            raise ValueError(f"{source}: {key} = {words[key]!r}; it is one of {', '.join(known)}")
    return Rules(
        load_distribution(_beside(texts["tiles"], folder)),
        load_layout(_beside(texts["board"], folder)),
        **numbers,
        **words,
        name=name,
    )


def _beside(name: str, folder: Path | None) -> str | Path:
    """Return the path of a file beside the rule set, if there is one; else the name."""
    if folder is not None and (folder / name).is_file():
        return folder / name
    return name


def check_rules(rules: Rules, source: str) -> None:
    """Raise ValueError if a game can't be played by these rules."""
    layout, tiles = rules.layout, rules.distribution.total
    if layout.rows != layout.columns:
        raise ValueError(
            f"{source}: the board {layout.name} has {layout.rows} rows of {layout.columns} "
            "squares; a board is square"
        )
    if tiles < 2 * rules.rack_size:
        raise ValueError(
            f"{source}: two racks of {rules.rack_size} need {2 * rules.rack_size} tiles; "
            f"{rules.distribution.name} has {tiles}"
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
    most = tiles - 2 * rules.rack_size
    if rules.exchange_minimum > max(most, 1):
        raise ValueError(
            f"{source}: an exchange needs {rules.exchange_minimum} tiles in the bag, which never "
            f"has more than {most}"
        )
