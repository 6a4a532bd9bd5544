from __future__ import annotations

import math
import random

import msgpack
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire import as_map, made_message

from protocol.codec import (
    CODECS,
    JSON,
    MAX_FRAME,
    MAX_ITEMS,
    MAX_STRING,
    MSGPACK,
    Codec,
    fit_into_frame,
)
from protocol.errors import PeerError
from protocol.messages import MESSAGES, Info, Ping, Played, StandingList
from protocol.parts import (
    MAX_COUNT,
    MAX_LEAVES,
    MAX_MODELS,
    MAX_SENTENCE,
    Belief,
    Candidate,
    LeaveChance,
    Search,
    StandingRow,
)

PING = Ping(id=7)
both = pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=["msgpack", "json"])


def packed(codec: Codec, content: object) -> bytes | str:
    if codec is JSON:
        return msgspec.json.encode(content).decode()
    frame: bytes = msgpack.packb(content)
    return frame


def an_info(**fields: object) -> dict[str, object]:
    return {"type": "info", "game": "g", "seq": 1, **fields}


def refused(codec: Codec, frame: bytes | str) -> PeerError:
    with pytest.raises(PeerError) as caught:
        codec.decode(frame)
    return caught.value


@both
@pytest.mark.parametrize("kind", sorted(MESSAGES))
@settings(max_examples=15)
@given(rng=st.randoms(use_true_random=False))
def test_every_message_comes_back_as_it_was_sent(
    codec: Codec, kind: str, rng: random.Random
) -> None:
    message = made_message(kind, rng)
    frame = codec.encode(message)
    assert len(frame) < MAX_FRAME
    assert codec.decode(frame) == message


@both
@pytest.mark.parametrize("kind", sorted(MESSAGES))
def test_fields_that_are_not_known_are_ignored(codec: Codec, kind: str) -> None:
    message = made_message(kind, random.Random(kind))
    more = {**as_map(message), "from_a_later_version": {"a": [1, None, {"b": 2.5}]}}
    assert codec.decode(packed(codec, more)) == message


def test_both_codecs_carry_the_same_content() -> None:
    for kind in MESSAGES:
        message = made_message(kind, random.Random(kind))
        frame, text = MSGPACK.encode(message), JSON.encode(message)
        assert isinstance(frame, bytes)
        assert isinstance(text, str)
        assert msgpack.unpackb(frame) == msgspec.json.decode(text)
    for number in (2**53, -(2**53)):
        ping = JSON.decode(f'{{"type":"ping","id":{number}}}')
        assert MSGPACK.decode(MSGPACK.encode(ping)) == ping
    assert list(CODECS) == ["tilewire.v1.msgpack", "tilewire.v1.json"]


@both
@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"type": "dance"}, "unknown_type"),
        ({"type": "x" * 5_000}, "unknown_type"),
        ({"type": 3}, "bad_message"),
        ({"type": None}, "bad_message"),
        ({"type": ["ping"]}, "bad_message"),
        ({}, "bad_message"),
        ([], "bad_message"),
        ([{"type": "ping", "id": 1}], "bad_message"),
        ("ping", "bad_message"),
        (17, "bad_message"),
        (None, "bad_message"),
        ({"type": "ping"}, "bad_message"),
        ({"type": "ping", "id": "1"}, "bad_message"),
        ({"type": "ping", "id": 1.5}, "bad_message"),
        ({"type": "ping", "id": True}, "bad_message"),
        ({"type": "ping", "id": 2**53 + 1}, "bad_message"),
        ({"type": "move", "game": "g", "seq": -1, "move": "-"}, "bad_message"),
        ({"type": "move", "game": "g", "seq": 1, "move": ""}, "bad_message"),
        ({"type": "move", "game": "g", "seq": 1, "move": "x" * 129}, "bad_message"),
        ({"type": "move", "game": "", "seq": 1, "move": "-"}, "bad_message"),
        ({"type": "ready", "game": "g", "nonce": "abc"}, "bad_message"),
        ({"type": "ready", "game": "g", "nonce": "AB"}, "bad_message"),
        ({"type": "ready", "game": "g", "nonce": "ab\n"}, "bad_message"),
        ({"type": "ready", "game": "g", "nonce": "ab" * 15}, "bad_message"),
        ({"type": "reveal", "game": "g", "nonce": ""}, "bad_message"),
        ({"type": "ready", "game": "g", "nonce": "ab" * 65}, "bad_message"),
        ({"type": "hello", "role": "emperor", "name": "n"}, "bad_message"),
        *(
            (an_info(candidates=[{"move": "-", field: 1e300}]), "bad_message")
            for field in ("equity", "equity_error", "win", "win_error")
        ),
        *(
            (an_info(belief=belief), "bad_message")
            for belief in (
                *({"unseen": 1.5}, {"entropy": -1.0}, {"seconds": "soon"}, {"effective": None}),
                *({"tiles": {"": 0.5}}, {"tiles": {str(n): 0.5 for n in range(65)}}),
                *({"style": {"soft": 2.0}}, {"style": {str(n): 0.5 for n in range(17)}}),
                {"top": [{"leave": "A", "prior": 0.0, "posterior": 0.0}] * 21},
            )
        ),
        ({"type": "ping", "id": 1, "more": "x" * (MAX_STRING + 1)}, "bad_frame"),
        ({"type": "ping", "id": 1, "x" * (MAX_STRING + 1): 1}, "bad_frame"),
        ({"type": "ping", "id": 1, "more": [[0] * (MAX_ITEMS + 1)]}, "bad_frame"),
        ({"type": "ping", "id": 1, "more": {str(n): n for n in range(1025)}}, "bad_frame"),
    ],
)
def test_what_is_no_message_is_refused_with_a_code(
    codec: Codec, content: object, code: str
) -> None:
    error = refused(codec, packed(codec, content))
    assert error.code == code
    assert error.close is None, "a mistake in one message closes nothing"
    assert 0 < len(error.reply.message) < 400
    codec.decode(codec.encode(error.reply))


@both
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"type": "hello", "role": "king", "name": "n"}, ("'role'", "player, spectator", "king")),
        ({"type": "ready", "game": "g", "nonce": "zz"}, ("'nonce'", "16 to 64 bytes", "zz")),
        ({"type": "reveal", "game": "g", "nonce": "ab" * 65}, ("length <= 128", "nonce")),
    ],
)
def test_a_choice_and_a_pattern_are_explained(
    codec: Codec, content: dict[str, str], words: tuple[str, ...]
) -> None:
    message = refused(codec, packed(codec, content)).reply.message
    for word in (f"'{content['type']}'", *words):
        assert word in message


@both
def test_a_frame_over_the_limit_closes_the_connection(codec: Codec) -> None:
    frame = packed(codec, "x" * MAX_FRAME)
    error = refused(codec, frame)
    assert (error.code, error.close) == ("too_large", 1009)


@both
def test_every_truncation_is_refused(codec: Codec) -> None:
    frame = codec.encode(made_message("new_game", random.Random(5)))
    for length in range(len(frame)):
        assert refused(codec, frame[:length]).code in ("bad_frame", "bad_message")


@pytest.mark.parametrize("depth", [10, 500, 1_023, 5_000, 200_000])
def test_deep_nesting_is_refused_or_ignored(depth: int) -> None:
    for frame in (b"\x91" * depth + b"\xc0", b"\x81\xa1x" * depth + b"\xc0"):
        assert refused(MSGPACK, frame[:MAX_FRAME]).code in ("bad_frame", "bad_message")
    for text in ("[" * depth, "[" * (depth // 2) + "]" * (depth // 2), '{"x":' * depth):
        assert refused(JSON, text[:MAX_FRAME]).code in ("bad_frame", "bad_message")
    shallow = '{"type":"ping","id":7,"x":' + "[" * 100 + "]" * 100 + "}"
    assert JSON.decode(shallow) == PING


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",  # never used
        b"\x82\xa4type\xa4ping\xa2id\xa3\xff\xfe\xfd",  # a text that is not UTF-8
        b"\x81\xa4type\xa3\xed\xa0\x80",  # a lone surrogate
        b"\x81\xc0\xa4ping",  # a key that is no text
        b"\x81\xc4\x04type\xc4\x04ping",  # bytes where text belongs
        b"\xdf\xff\xff\xff\xff",  # four thousand million entries, it says
        b"\xdd\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xffabc",
        b"\xc7\x08\x01abcdefgh",  # an extension type
        b"\xd6\xff\x00\x00\x00\x00",  # a timestamp
        b"\x82\xa4type\xa4ping\xa2id\x07\x00",  # a byte too many
        *("", " ", "ping", "{'type': 'ping'}", '{"type":"ping","id":7}}', '{"type":"ping","id":}'),
        *('{"type":"ping","id":NaN}', '{"type":"ping","id":1e999}', '{"type":"\\ud800"}'),
        '{"type":"ping","id":' + "9" * 10_000 + "}",
        '{"type":"ping","id":' + "9" * 30 + "}",
        "\ufeff{}",
    ],
)
def test_what_is_no_frame_of_ours_is_refused(frame: bytes | str) -> None:
    codec = MSGPACK if isinstance(frame, bytes) else JSON
    assert refused(codec, frame).code in ("bad_frame", "bad_message")


def test_the_longest_game_fits_in_a_frame_with_every_text_at_its_longest() -> None:
    # 100 tiles one at a time, each with a pass or an exchange between; far more than ever happens.
    played = Played(
        game="g" * 64,
        seq=100,
        seat=1,
        move="15H " + "A" * 15,
        score=1_000,
        scores=(1_000, 1_000),
        bag=100,
        clocks=(-600_000, -600_000),
        words=("A" * 15,) * 4,
        rack="?" * 7,
        think_ms=600_000,
        lag_ms=1_000,
        host_lag_ms=1_000,
    )
    offer = made_message("new_game", random.Random(1))
    for codec in CODECS.values():
        long = msgspec.structs.replace(offer, history=(played,) * 600)
        assert codec.decode(codec.encode(long)) == long


def test_the_largest_thought_fits_in_a_frame() -> None:
    candidate = Candidate(move="𝔞" * 128, score=-1_000_000, samples=2**53)
    leave = LeaveChance(leave="𝔞" * 64, prior=1 / 3, posterior=1 / 3)
    belief = Belief(
        top=(leave,) * MAX_LEAVES,
        tiles={f"{number:ä>16}": 1 / 3 for number in range(64)},
        note="𝔞" * MAX_SENTENCE,
        style={f"{number:ä>64}": 1 / 3 for number in range(MAX_MODELS)},
    )
    text = "𝔞" * MAX_SENTENCE
    search = Search(
        phase="𝔞" * 64,
        plies=MAX_COUNT,
        compared=MAX_COUNT,
        rollouts=2**53,
        nodes=2**53,
        proven=True,
    )
    info = Info(
        game="g" * 64,
        seq=1,
        text=text,
        candidates=(candidate,) * 100,
        search=search,
        belief=belief,
    )
    for codec in CODECS.values():
        assert codec.decode(codec.encode(info)) == info


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_thought_has_no_number_that_json_can_not_carry(number: float) -> None:
    for field in ("unseen", "entropy", "effective", "seconds"):
        info = an_info(belief={field: number})
        assert refused(MSGPACK, packed(MSGPACK, info)).code == "bad_message"
    for field in ("equity", "win_error"):
        info = an_info(candidates=[{"move": "-", field: number}])
        assert refused(MSGPACK, packed(MSGPACK, info)).code == "bad_message"


def test_the_reply_to_a_fault_is_no_longer_than_a_sentence_may_be() -> None:
    error = PeerError("bad_message", "x" * 100_000)
    assert len(error.reply.message) == MAX_SENTENCE
    assert MSGPACK.decode(MSGPACK.encode(error.reply)) == error.reply


@pytest.mark.parametrize(("letter", "entries"), [("x", 1_000), ("字", 1_000), ("🀄", 500)])
def test_a_list_has_as_many_entries_as_a_frame_holds(letter: str, entries: int) -> None:
    row = StandingRow(
        name=64 * letter, points=1.5, spread=-20, games=9, byes=0, presence="withdrawn"
    )

    def listing(most: int) -> StandingList:
        return StandingList(
            round=1, rounds=9, paused=False, over=False, rows=(1_000 * (row,))[:most], games=()
        )

    message = fit_into_frame(listing, 1_000)
    assert len(message.rows) == entries
    assert all(len(codec.encode(message)) <= MAX_FRAME for codec in CODECS.values())
