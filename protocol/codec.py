"""Messages to bytes and back: MessagePack (binary) and JSON (text), one schema for both.

The limits are far above the needs of honest messages. MessagePack is checked while it is read,
before memory is taken; JSON is checked afterwards, since a text is as long as its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

import msgpack
import msgspec.inspect

from .errors import PeerError
from .messages import MESSAGES, Message
from .parts import PATTERNS

_Listing = TypeVar("_Listing", bound=Message)

MAX_FRAME = 256 * 1024
"""The largest frame, in bytes (JSON: characters); the longest possible history of a game fits."""
MAX_STRING = 8 * 1024
"""The longest text, in bytes (JSON: characters)."""
MAX_ITEMS = 1024
"""The most entries of a list or map."""

_CHOICE_OR_PATTERN = re.compile(
    r"(?:Invalid enum value|Expected `str` matching regex) .* - at `\$\.(\w+)`"
)
"""msgspec's message about a text that its field does not allow."""

Frame: TypeAlias = bytes | str


@dataclass(frozen=True)
class Codec:
    """An encoding of messages."""

    subprotocol: str
    format: str
    frame_type: type[bytes] | type[str]
    encode: Callable[[Message], Frame]
    load: Callable[[Any], object]
    """Returns the content of a frame; raises if it is malformed or exceeds a limit."""

    def decode(self, frame: Frame) -> Message:
        """Read a frame.

        Raises:
            PeerError: ``bad_frame``, ``too_large``, ``unknown_type`` or ``bad_message``.
        """
        if not isinstance(frame, self.frame_type):
            wanted = "text frames"
            if self.frame_type is bytes:
                wanted = f"binary frames; to speak JSON offer the subprotocol {JSON.subprotocol}"
            raise PeerError("bad_frame", f"this conversation is in {wanted}", close=1003)
        if len(frame) > MAX_FRAME:
            too_large = f"a frame of {len(frame)} bytes; {MAX_FRAME} are allowed"
            raise PeerError("too_large", too_large, close=1009)
        try:
            content = self.load(frame)
        except (ValueError, RecursionError, msgpack.UnpackException) as error:
            raise PeerError("bad_frame", f"not {self.format}: {_sentence(error)}") from None
        if not isinstance(content, dict):
            raise PeerError("bad_message", f"a message is a map, not {type(content).__name__}")
        kind = content.get("type")
        if not isinstance(kind, str):
            raise PeerError("bad_message", "a message has a text field 'type'")
        schema = MESSAGES.get(kind)
        if schema is None:
            raise PeerError("unknown_type", f"no message is called {kind[:40]!r}")
        try:
            return cast("Message", msgspec.convert(content, schema))
        except (ValueError, RecursionError) as error:
            problem = _of_a_field(content, schema, error) or _sentence(error)
            raise PeerError("bad_message", f"in {kind!r}: {problem}") from None


def _of_a_field(content: dict[str, Any], schema: type[msgspec.Struct], error: Exception) -> str:
    """Say what a field's text is and what it may be; empty unless a pattern or a choice failed.

    The library's own message shows the pattern itself, or doesn't list the choices.
    """
    named = _CHOICE_OR_PATTERN.fullmatch(str(error))
    if named is None:
        return ""
    info = msgspec.inspect.type_info(schema)
    assert isinstance(info, msgspec.inspect.StructType)
    kinds = {field.name: field.type for field in info.fields}
    match kinds.get(named[1]):
        case msgspec.inspect.LiteralType(values=values):
            allowed = f"one of {', '.join(map(str, values))}"
        case msgspec.inspect.StrType(pattern=str(pattern)):
            allowed = PATTERNS[pattern]
        case _:
            return ""
    return f"{named[1]!r} must be {allowed} (got {str(content[named[1]])[:64]!r})"


def _load_json(frame: str) -> object:
    """Read JSON; raise ValueError if it is malformed, or a text, list or map exceeds a limit."""
    content: object = msgspec.json.decode(frame)
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and len(item) > MAX_STRING:
            raise ValueError(f"a text of {len(item)} characters; {MAX_STRING} are allowed")
        if isinstance(item, dict | list) and len(item) > MAX_ITEMS:
            raise ValueError(f"{len(item)} items; {MAX_ITEMS} are allowed")
        if isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return content


def _sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]


def _once(encode: Callable[[Message], Frame]) -> Callable[[Message], Frame]:
    """Return an encoder that keeps its last frame: a message to hundreds is encoded once."""
    last_frame: tuple[Message | None, Frame] = (None, b"")

    def encode_once(message: Message) -> Frame:
        nonlocal last_frame
        last, frame = last_frame
        if last is not message:
            frame = encode(message)
            last_frame = message, frame
        return frame

    return encode_once


MSGPACK = Codec(
    subprotocol="tilewire.v1.msgpack",
    format="MessagePack",
    frame_type=bytes,
    encode=_once(msgspec.msgpack.Encoder().encode),
    load=partial(
        msgpack.unpackb,
        max_str_len=MAX_STRING,
        max_bin_len=MAX_STRING,
        max_array_len=MAX_ITEMS,
        max_map_len=MAX_ITEMS,
        max_ext_len=0,
    ),
)
JSON = Codec(
    subprotocol="tilewire.v1.json",
    format="JSON",
    frame_type=str,
    encode=_once(lambda message: msgspec.json.encode(message).decode()),
    load=_load_json,
)
CODECS = {codec.subprotocol: codec for codec in (MSGPACK, JSON)}
"""The codecs by their WebSocket subprotocol, the preferred codec first."""


def fit_into_frame(list_at_most: Callable[[int], _Listing], most: int) -> _Listing:
    """Return a list message that fits into a frame of any codec.

    ``list_at_most`` makes it with at most so many entries: ``most``, halved until it fits.
    """
    message = list_at_most(most)
    while most and any(len(codec.encode(message)) > MAX_FRAME for codec in CODECS.values()):
        most //= 2
        message = list_at_most(most)
    return message
