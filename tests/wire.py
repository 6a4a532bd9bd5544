"""Messages made from their types, for tests of whatever carries or takes messages."""

from __future__ import annotations

import math
import random
import re
from typing import cast

import msgspec
from msgspec import inspect

from protocol.messages import MESSAGES, Message

_TEXTS = ("", "a", "8D QU.cK", "?AEINST", "ÄÖ[CH]", "\x00", "𝔞" * 3, "'\"\\/<>", "-4")
_FLOATS = (0.0, 0.5, 1.0, -12.25, 3e9)


def made_message(kind: str, rng: random.Random) -> Message:
    """Make a message of a kind, at random, with every field in its bounds."""
    return cast("Message", made(inspect.type_info(MESSAGES[kind]), rng))


def made(info: inspect.Type, rng: random.Random) -> object:
    """Make a value of a type, at random within its bounds."""
    match info:
        case inspect.StructType(cls=cls, fields=fields):
            return cls(
                **{field.name: made(field.type, rng) for field in fields if _given(field, rng)}
            )
        case inspect.UnionType(types=types):
            return made(rng.choice(types), rng)
        case inspect.TupleType(item_types=items):
            return tuple(made(item, rng) for item in items)
        case inspect.VarTupleType(item_type=item, max_length=most):
            return tuple(made(item, rng) for _ in range(rng.randint(0, min(most or 3, 3))))
        case inspect.DictType(key_type=key, value_type=value, max_length=most):
            assert most is not None, "a map without a bound can't be carried by every codec"
            count = rng.randint(0, min(most, 3))
            return {made(key, rng): made(value, rng) for _ in range(count)}
        case inspect.LiteralType(values=values):
            return rng.choice(values)
        case inspect.IntType(ge=low, le=high):
            assert low is not None, "a number without a bound can't be carried by every codec"
            assert high is not None, "a number without a bound can't be carried by every codec"
            return rng.choice((low, high, rng.randint(low, high), max(low, min(high, 1))))
        case inspect.FloatType():
            lowest = -math.inf if info.ge is None else info.ge
            highest = math.inf if info.le is None else info.le
            return rng.choice([one for one in _FLOATS if lowest <= one <= highest])
        case inspect.StrType():
            return _text(info, rng)
        case inspect.BoolType():
            return rng.random() < 0.5
        case inspect.NoneType():
            return None
        case _:
            raise TypeError(f"no way is known to make {info}")


def _given(field: inspect.Field, rng: random.Random) -> bool:
    return field.required or rng.random() < 0.7


def _text(info: inspect.StrType, rng: random.Random) -> str:
    assert info.max_length is not None, "a text without a bound can't be passed on"
    if info.pattern is not None:
        sizes = (0, 1, 16, info.max_length // 2)
        texts = [rng.randbytes(size).hex() for size in sizes]
        return rng.choice([text for text in texts if re.match(info.pattern, text)])
    text = rng.choice((*_TEXTS, "𝔞" * info.max_length))[: info.max_length]
    return text.ljust(info.min_length or 0, "x")


def as_map(message: Message) -> dict[str, object]:
    """What stands in the frame of a message."""
    return cast("dict[str, object]", msgspec.to_builtins(message))
