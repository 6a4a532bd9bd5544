"""``protocol/SPEC.md`` says what the code does.

This file writes section 11: ``PYTHONPATH=.:tests python tests/protocol/test_spec.py --write``.
"""

from __future__ import annotations

import ast
import re
import sys
from hashlib import sha256
from pathlib import Path

import msgspec
import own_draws
from msgspec import inspect

import protocol.messages
import protocol.parts
from engine.notation.move_text import parse_move
from engine.rules.moves import Place
from engine.rules.position import Board
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import score_play, standard_rules
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.scorebook import CHALLENGE_MS
from harness.arbiter.table import REVEAL_MS
from protocol.codec import CODECS, JSON, MAX_FRAME, MAX_ITEMS, MAX_STRING
from protocol.messages import (
    MESSAGES,
    Committed,
    Info,
    Message,
    Ready,
    Reveal,
)
from protocol.metered import MOST_FRAGMENTS
from protocol.parts import (
    MAX_LEAVES,
    MAX_MODELS,
    MAX_SENTENCE,
    NONCE,
    NONCE_OR_NONE,
    RulesInPlay,
    Search,
)
from protocol.session import _TABLE, Side, State

REPOSITORY = Path(__file__).parents[2]
SPEC = REPOSITORY / "protocol" / "SPEC.md"
START, END = "<!-- messages -->\n", "<!-- /messages -->\n"


# --- section 11, from messages.py and parts.py ----------------------------------------------------

SENT = {
    "hello": "the opening side → the other",
    "welcome": "the answering side → the other",
    **dict.fromkeys(("error", "goodbye", "ping", "pong"), "either side → the other"),
    "seek": "player → server",
    "seeking": "server → player",
    **dict.fromkeys(("games", "watch"), "spectator → server"),
    "game_list": "server → spectator",
    "standings": "director, player, spectator → server",
    "standing_list": "server → director, player, spectator",
    "direct": "director → server",
    "administer": "admin → server",
    "server_state": "server → admin",
    **dict.fromkeys(("new_game", "started", "played", "game_over"), "arbiter → bot, spectator"),
    **dict.fromkeys(("committed", "your_turn", "refused", "drawn"), "arbiter → bot"),
    **dict.fromkeys(("ready", "reveal", "decline", "move", "resign"), "bot → arbiter"),
    **dict.fromkeys(("info", "resume", "challenge", "accept"), "bot → arbiter"),
}
NAMES = {
    "RulesInPlay": "rules",
    "TileKind": "tile",
    "TimeControl": "time control",
    "Candidate": "candidate",
    "Search": "search",
    "Belief": "belief",
    "LeaveChance": "chance of a leave",
    "ListedGame": "listed game",
    "PlayerHere": "player who is here",
    "Connected": "connection",
    "Ban": "ban",
    "StandingRow": "standing",
    "RoundGame": "game of a round",
    "Arrangement": "arrangement",
    "Accusation": "accusation",
}
COMMON = {"seat": "Whose turn it was."}
TEXTS: dict[tuple[int | None, int | None], str] = {
    (1, 64): "name",
    (None, 256): "short text",
    (None, 2_000): "text",
    (1, 128): "move",
    (None, 64): "word",
}
NUMBERS: dict[tuple[float | None, float | None], str] = {
    (0, 1): "0 or 1",
    (0, 1_000_000): "count",
    (-1_000_000, 1_000_000): "points",
    (-(2**53), 2**53): "int",
    (0, 2**53): "amount",
}
FRACTIONS: dict[tuple[float | None, float | None], str] = {
    (0, 1): "chance",
    (0, 2**53): "measure",
    (-(2**53), 2**53): "real",
}
"""What section 11 calls types, by their bounds."""


GROUPS = {
    "Opening a connection": "hello welcome error goodbye ping pong",
    "Finding a game": "seek seeking games game_list watch",
    "A game": "new_game ready committed reveal decline started your_turn move challenge accept "
    "resign info played drawn refused resume game_over",
    "A tournament": "standings standing_list direct",
    "Administration": "administer server_state",
}


def rendered() -> str:
    """Write section 11."""
    sources = {
        node.name: node
        for module in (protocol.messages, protocol.parts)
        for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    tables = {
        title: [_rows(f"**`{tag}`**", MESSAGES[tag], sources, SENT[tag]) for tag in tags.split()]
        for title, tags in GROUPS.items()
    }
    assert {tag for tags in GROUPS.values() for tag in tags.split()} == set(MESSAGES)
    tables["Parts of messages"] = [
        _rows(f"**{text}**", getattr(protocol.parts, name), sources) for name, text in NAMES.items()
    ]
    return "\n".join(
        f"### {title}\n\n| message, field | way, type | |\n|-|-|-|\n" + "".join(rows)
        for title, rows in tables.items()
    )


def _rows(
    title: str, kind: type[msgspec.Struct], sources: dict[str, ast.ClassDef], sent: str = ""
) -> str:
    source = sources[kind.__name__]
    text = " ".join((ast.get_docstring(source) or "").split())
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    classes = [sources[base.__name__] for base in kind.__mro__ if base.__name__ in sources]
    meanings = {name: text for each in classes[::-1] for name, text in _meanings(each).items()}
    common = [field.encode_name for field in info.fields if sent and _is_common(field, meanings)]
    who = "; ".join([sent, ", ".join(f"`{name}`" for name in common)][: 1 + bool(common)])
    lines = [f"| {title} | {who} | {_plain(text)} |"]
    for field in info.fields:
        if (name := field.encode_name) not in common:
            kinds = f"{_type(field.type)}{_default(field)}"
            lines.append(f"| `{name}` | {kinds} | {meanings.get(name) or COMMON[name]} |")
    return "\n".join(lines) + "\n"


def _is_common(field: inspect.Field, meanings: dict[str, str]) -> bool:
    """Whether section 11 says once what a field is: the game, and the event that a turn will be."""
    meaning = meanings.get(field.name, "As in")
    return field.required and field.name in ("game", "seq") and meaning.startswith("As in")


def _meanings(source: ast.ClassDef) -> dict[str, str]:
    """The docstring under each field."""
    found = {}
    for field, after in zip(source.body, source.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            found[field.target.id] = _plain(" ".join(str(after.value.value).split()))
    return found


def _plain(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def _type(info: inspect.Type) -> str:
    match info:
        case inspect.StrType(pattern=pattern) if pattern in (NONCE, NONCE_OR_NONE):
            return "nonce" + (" or empty" if pattern == NONCE_OR_NONE else "")
        case inspect.StrType(pattern=str()):
            return "hash"
        case inspect.StrType(min_length=low, max_length=high):
            plain = f"text {low}–{high}" if low else f"text ≤ {high}"
            return TEXTS.get((low, high), plain)
        case inspect.IntType(ge=low, le=high):
            return NUMBERS.get((low, high), f"{_number(low)} to {_number(high)}")
        case inspect.FloatType(ge=low, le=high):
            plain = f"{_number(low)} to {_number(high)}, a fraction"
            return FRACTIONS.get((low, high), plain)
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType(values=values):
            return " or ".join(f"`{value}`" for value in values)
        case inspect.StructType(cls=cls):
            own = getattr(cls.__struct_config__, "tag", None)
            return f"`{own}`" if own else f"*{NAMES[cls.__name__]}*"
        case inspect.TupleType(item_types=(first, *_)):
            return f"two: {_type(first)}"
        case inspect.VarTupleType(item_type=item, max_length=most):
            return f"list{f' ≤ {most}' if most else ''}: {_type(item)}"
        case inspect.DictType(key_type=key, value_type=value, max_length=most):
            return f"map ≤ {most}: {_type(key)}, to {_type(value)}"
        case inspect.UnionType(types=types):
            return " or ".join(_type(one) for one in types if not isinstance(one, inspect.NoneType))
        case _:
            raise TypeError(f"no words are known for {info}")


def _number(value: float | None) -> str:
    return {2**40: "2⁴⁰"}.get(int(value or 0), f"{value:,}")


def _default(field: inspect.Field) -> str:
    nullable = isinstance(field.type, inspect.UnionType) and field.type.includes_none
    if field.required:
        return " or null" * nullable
    value = {} if field.default_factory is dict else field.default
    if isinstance(value, msgspec.Struct):
        return ", its defaults"
    if value is msgspec.NODEFAULT:
        return f"{' or null' * nullable}, or left out"
    return f" = {msgspec.json.encode(value).decode()}"


def test_section_11_is_what_the_messages_say() -> None:
    text = SPEC.read_text(encoding="utf-8")
    section = text[text.index(START) + len(START) : text.index(END)]
    assert section == rendered(), "run tests/protocol/test_spec.py --write, as it says at its top"


def write() -> None:
    text = SPEC.read_text(encoding="utf-8")
    before, rest = text.split(START)
    SPEC.write_text(f"{before}{START}{rendered()}{END}{rest.split(END)[1]}", encoding="utf-8")


# --- the other sections ---------------------------------------------------------------------------


def spec() -> str:
    return SPEC.read_text(encoding="utf-8")


def table_under(heading: str) -> list[list[str]]:
    """The rows of the first table after some words, without its head."""
    rows = []
    for line in spec().partition(heading)[2].splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    assert rows, f"no table after {heading!r}"
    return rows[2:]


def codes_under(heading: str) -> set[str]:
    return {code for row in table_under(heading) for code in re.findall(r"`(\w+)`", row[0])}


def test_the_state_table_is_that_of_the_code() -> None:
    names = {
        "not offered": State.UNKNOWN,
        "offered": State.OFFERED,
        "ready": State.READY,
        "to reveal": State.TO_REVEAL,
        "revealed": State.REVEALED,
        "waiting": State.WAITING,
        "to move": State.TO_MOVE,
        "answered": State.ANSWERED,
        "over": State.OVER,
    }
    written: dict[State, dict[Side, dict[type, State]]] = {}
    rows = table_under("What may be sent when")
    always_sent = rows.pop(0)[1:]
    for row in rows:
        state = names[row[0]]
        written[state] = {}
        for side, always, cell in zip((Side.ARBITER, Side.BOT), always_sent, row[1:], strict=True):
            entries = re.findall(r"`(\w+)`(?: → ([a-z ]+))?", f"{always} {cell}")
            assert len(entries) == f"{always} {cell}".count("`") // 2
            written[state][side] = {
                MESSAGES[name]: names[target.strip()] if target else state
                for name, target in entries
            }
    assert written == _TABLE


def conversation(heading: str) -> tuple[State, list[Message]]:
    """The messages of the first example after some words, and the state that they lead to."""
    block = spec().partition(heading)[2].split("```")[1]
    state, messages = State.UNKNOWN, []
    for line in re.split(r"\n(?=[<>])", block.strip()):
        message = JSON.decode(line[2:].replace("{…}", "{}"))
        messages.append(message)
        if hasattr(message, "game"):
            state = _TABLE[state][Side.BOT if line[0] == ">" else Side.ARBITER][type(message)]
    return state, messages


def test_the_conversation_is_one() -> None:
    state, messages = conversation("Here is a whole game in JSON")
    assert state is State.OVER
    said = {str(type(message).__struct_config__.tag) for message in messages}
    assert said >= {"seeking", "refused", "played", "move"}


def illegal_codes(path: str) -> set[str]:
    """The codes with which ``IllegalMove`` is raised in a file."""
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    return {
        str(call.args[0].value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "IllegalMove"
        and isinstance(call.args[0], ast.Constant)
    }


def test_every_reason_to_refuse_a_move_is_listed() -> None:
    listed = codes_under("Why a move is `refused`")
    assert listed == illegal_codes("engine/rules/rules.py") | illegal_codes(
        "harness/arbiter/scorebook.py"
    )


def test_every_outcome_is_listed() -> None:
    listed = codes_under("`game_over.outcome` is one of these")
    (outcome,) = (
        field.type
        for field in msgspec.structs.fields(MESSAGES["game_over"])
        if field.name == "outcome"
    )
    assert listed == set(outcome.__args__)


def test_every_error_is_listed() -> None:
    raised = {
        code
        for folder in ("protocol", "harness", "bot")
        for path in (REPOSITORY / folder).rglob("*.py")
        if "page_analysis" not in path.parts  # that has a protocol of its own, with the page
        for code in re.findall(r'PeerError\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert len(raised) > 10
    assert raised <= codes_under("An `error` has a `code`")


def test_the_limits_are_those_of_the_code() -> None:
    limits = dict(table_under("## 10. Limits"))
    assert limits["a message"] == (
        f"{MAX_FRAME // 1024} KiB in {MOST_FRAGMENTS} fragments at most; "
        f"strings of {MAX_STRING // 1024} KiB, "
        f"{MAX_ITEMS:,} items a list or map"
    )
    assert limits["a sentence, the text of an `info`"].startswith(f"{MAX_SENTENCE:,} characters")
    for name in CODECS:
        assert f"`{name}`" in spec()

    belief = (f"{MAX_LEAVES} leaves", "64 tiles", f"{MAX_MODELS} models")
    assert limits["a belief"] == ", ".join(belief)
    assert f"left out: {CHALLENGE_MS // 1_000} s" in spec()
    assert f"{REVEAL_MS // 1_000} s after `committed`" in spec()


def test_every_example_is_of_messages() -> None:
    blocks = re.findall(r"```json\n(.*?)```", spec(), re.DOTALL)
    texts = [text for block in blocks for text in re.split(r"\n(?=\{)", block.strip())]
    messages = [JSON.decode(text) for text in texts if text.startswith('{"type"')]
    assert len(messages) == len(texts) - 1, "and the rules of one game"
    searches = [one.search for one in messages if isinstance(one, Info) and one.search]
    shown = {
        name for one in searches for name, value in msgspec.structs.asdict(one).items() if value
    }
    assert shown == {field.name for field in msgspec.structs.fields(Search)} - {"plies"}


def test_the_example_of_nonces_is_that_of_the_test_vectors() -> None:
    section = spec().partition("## 8. Draws")[2].partition("```json\n")[2].partition("```")[0]
    ready, both, reveal = (JSON.decode(text) for text in section.splitlines())
    assert isinstance(ready, Ready)
    assert isinstance(both, Committed)
    assert isinstance(reveal, Reveal)
    nonces = [vectors()[f"nonce of seat {seat}"] for seat in (0, 1)]
    digests = tuple(sha256(bytes.fromhex(nonce)).hexdigest() for nonce in nonces)
    assert (ready.nonce, ready.commitment) == ("", digests[0])
    assert (both.commitments, reveal.nonce) == (digests, nonces[0])


def test_the_rules_of_the_example_can_be_played() -> None:
    block = spec().partition("**Other tiles and boards**")[2].partition("```json\n")[2]
    told = msgspec.json.decode(block.partition("```")[0], type=RulesInPlay)
    rules = rules_in_play(told)
    assert rules_on_wire(rules) == told
    board = Board.empty(rules.layout)
    text = "2B [CH]Aż"
    assert f"There `{text}` lays" in spec()
    move = parse_move(text, board, rules.distribution.alphabet)
    assert isinstance(move, Place)
    assert score_play(board, move, rules).score


# --- section 8: the test vectors ------------------------------------------------------------------


def vectors() -> dict[str, str]:
    section = spec().partition("## 8. Draws")[2].partition("## 9.")[0]
    block = section.partition("```text\n")[2].partition("```")[0]
    return dict(re.split(r" {2,}", line, maxsplit=1) for line in block.splitlines())


def test_the_test_vectors_follow_from_the_text() -> None:
    given = vectors()
    secret = bytes.fromhex(given["secret"])
    nonces = bytes.fromhex(given["nonce of seat 0"]), bytes.fromhex(given["nonce of seat 1"])
    assert sha256(secret).hexdigest() == given["commitment"]
    assert own_draws.key_of(secret, nonces).hex() == given["key"]
    source = own_draws.numbers(secret, nonces)
    first = " ".join(str(next(source)) for _ in range(3))
    assert first == given["first numbers"]
    source = own_draws.numbers(secret, nonces)
    distribution = standard_rules().distribution
    bag = own_draws.order_of(distribution.alphabet.text(distribution.all_tiles()), source)
    assert "".join(bag[:7]) == given["seat 0 draws"]
    assert "".join(bag[7:14]) == given["seat 1 draws"]
    bag = bag[14:]
    back, drawn = given["seat 0 exchanges"], given["and draws"]
    assert "".join(bag[: len(back)]) == drawn
    bag = bag[len(back) :]
    own_draws.put_back(back, bag, source)
    assert [bag[int(at)] for at in given["H, U, Y then lie at"].split()] == sorted(back)
    assert "".join(bag[:14]) == given["the next 14 tiles"]


if __name__ == "__main__":
    if "--write" not in sys.argv:
        sys.exit("usage: PYTHONPATH=.:tests python tests/protocol/test_spec.py --write")
    write()
