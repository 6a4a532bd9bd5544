"""Read a TOML configuration into a typed value; errors name the keys and values of the file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from lexicons.text import did_you_mean, read_text

_T = TypeVar("_T")

_SHOWN = 80
"""Characters shown of an unknown key."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list in [ ]",
    "object": "a table",
}
"""The types that msgspec expects, in the words of a TOML user."""

_MISMATCH = re.compile(r"Expected `([\w |]+)`(?: ([<>]=?) (-?[\d.]+))?(?:, got `\w+`)?")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_LIMITS = {">=": "at least", "<=": "at most", ">": "more than"}


def read_config_file(path: Path, kind: type[_T]) -> _T:
    """Read a TOML file as a struct, data class or typed dictionary, whose fields are its keys.

    A top-level key whose value is an empty text counts as not given.

    Raises:
        ValueError: names the file, the key, what is wrong, and what to write.
    """
    try:
        values = tomllib.loads(read_text(path))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise ValueError(f"{path} has lists or tables nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}; text must be in quotes") from None
    values = {key: value for key, value in values.items() if value != ""}
    try:
        _check_keys(values, inspect.type_info(kind), "")
        return msgspec.convert(values, kind, dec_hook=_custom)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {in_words(str(error), values, kind)}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _custom(kind: type[Any], value: object) -> Any:
    if not isinstance(value, str):
        raise ValueError("Expected `str`")
    return kind(value)


def _check_keys(said: object, kind: inspect.Type, where: str) -> None:
    """Check that a table and those in it have only keys and choices that its type has."""
    if isinstance(kind, inspect.UnionType):
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        for member in members:
            if len(members) == 1 or not isinstance(member, inspect.LiteralType):
                _check_keys(said, member, where)
    if isinstance(kind, inspect.VarTupleType) and isinstance(said, list):
        for number, entry in enumerate(said):
            _check_keys(entry, kind.item_type, f"{where}[{number}]")
    if isinstance(kind, inspect.DictType) and isinstance(said, dict):
        for key, entry in said.items():
            _check_keys(entry, kind.value_type, f"{where}.{key}")
    if isinstance(kind, inspect.LiteralType) and said not in kind.values:
        choices, got = ", ".join(map(str, kind.values)), json.dumps(said, default=str)
        raise ValueError(f"{where} must be one of {choices} (got {got})")
    if not isinstance(kind, inspect.StructType | inspect.DataclassType | inspect.TypedDictType):
        return
    kinds = {field.encode_name: field.type for field in kind.fields}
    for key, value in said.items() if isinstance(said, dict) else ():
        if key not in kinds:
            there = f" in [{where}]" if where else ""
            raise ValueError(f"unknown key {key[:_SHOWN]!r}{there}{did_you_mean(key, kinds)}")
        _check_keys(value, kinds[key], f"{where}.{key}" if where else key)


def in_words(error: str, said: dict[str, Any], kind: type[Any]) -> str:
    """Return what msgspec refused of ``said``: the key, what it must be, and what it is.

    msgspec does not name a key that the user chose: then all entries of its table but the first
    refused are removed from ``said``.
    """
    sentence, _, path = error.partition(" - at `$")
    path = path.rstrip("`")
    where = f"{path.removeprefix('.')}: " if path else ""
    if missing := _MISSING.fullmatch(sentence):
        return f"{where}the key {missing[1]!r} is missing"
    mismatch = _MISMATCH.fullmatch(sentence)
    if mismatch is None:
        return where + sentence
    kinds = [_KINDS.get(kind, kind) for kind in mismatch[1].split(" | ") if kind != "null"]
    key, value = _entry(said, path, lambda: _refusal(said, kind) == error)
    must = " or ".join(kinds)
    if mismatch[2]:
        must = f"{_LIMITS[mismatch[2]]} {mismatch[3]}"
    elif key.endswith("_ms"):
        must += " of milliseconds, such as 300000 for 5 minutes"
    return f"{key} must be {must} (got {json.dumps(value, ensure_ascii=False, default=str)})"


def _refusal(said: dict[str, Any], kind: type[Any]) -> str:
    try:
        msgspec.convert(said, kind, dec_hook=_custom)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _entry(said: Any, path: str, is_refused: Callable[[], bool]) -> tuple[str, Any]:
    """Return the key and the value at a path such as ``.bots[...]`` or ``.engine[0].command``."""
    key = ""
    for step in re.findall(r"\w+|\.{3}", path):
        if step == "...":
            for entry in reversed(list(said)):  # all but the first refused are removed
                value = said.pop(entry)
                if not is_refused():
                    said[entry] = value
        name = next(iter(said)) if step == "..." else step
        in_list = isinstance(said, list)
        said = said[int(name) if in_list else name]
        key += f"[{name}]" if in_list else f".{name}" if key else name
    return key, said
