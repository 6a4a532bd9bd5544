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
    NewGame,
    Played,
    Ready,
    Resume,
    Reveal,
    YourTurn,
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

FROM = {
    "hello": "The opening side → the other.",
    "welcome": "The answering side → the other.",
    **dict.fromkeys(("error", "goodbye", "ping", "pong"), "Either side → the other."),
    **dict.fromkeys(("seek",), "Player → server."),
    **dict.fromkeys(("seeking",), "Server → player."),
    **dict.fromkeys(("games", "watch"), "Spectator → server."),
    **dict.fromkeys(("game_list",), "Server → spectator."),
    **dict.fromkeys(("standings",), "Director, player, spectator → server."),
    **dict.fromkeys(("standing_list",), "Server → director, player, spectator."),
    **dict.fromkeys(("direct",), "Director → server."),
    **dict.fromkeys(("administer",), "Admin → server."),
    **dict.fromkeys(("server_state",), "Server → admin."),
    **dict.fromkeys(("new_game", "started", "played", "game_over"), "Arbiter → bot, spectator."),
    **dict.fromkeys(("committed", "your_turn", "refused", "drawn"), "Arbiter → bot."),
    **dict.fromkeys(("ready", "reveal", "decline", "move"), "Bot → arbiter."),
    **dict.fromkeys(("resign", "info", "resume"), "Bot → arbiter."),
    **dict.fromkeys(("challenge", "accept"), "Bot → arbiter."),
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
COMMON = {"game": "The game.", "seq": "The number of the event.", "seat": "Whose turn it was."}


def rendered() -> str:
    """Write section 11."""
    sources = {
        node.name: node
        for module in (protocol.messages, protocol.parts)
        for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    parts = [
        _section(f"`{tag}`", kind, sources, FROM[tag]) for tag, kind in sorted(MESSAGES.items())
    ]
    parts += [
        _section(f"Part: {text}", getattr(protocol.parts, name), sources)
        for name, text in NAMES.items()
    ]
    return "\n".join(parts)


def _section(
    title: str, kind: type[msgspec.Struct], sources: dict[str, ast.ClassDef], direction: str = ""
) -> str:
    source = sources[kind.__name__]
    text = " ".join((ast.get_docstring(source) or "").split())
    lines = [f"### {title}", "", *([direction, ""] if direction else []), _plain(text), ""]
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    if info.fields:
        classes = [sources[base.__name__] for base in kind.__mro__ if base.__name__ in sources]
        meanings = {name: text for each in classes[::-1] for name, text in _meanings(each).items()}
        lines += ["| field | type | default | meaning |", "| --- | --- | --- | --- |"]
        for field in info.fields:
            meaning = meanings.get(field.name) or COMMON[field.name]
            name = f"`{field.encode_name}`"
            lines.append(f"| {name} | {_type(field.type)} | {_default(field)} | {meaning} |")
    else:
        lines.append("No fields beyond `type`.")
    return "\n".join(lines) + "\n"


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
            return "hex of 16 to 64 bytes" + (", or empty" if pattern == NONCE_OR_NONE else "")
        case inspect.StrType(pattern=str()):
            return f"hex of up to {(info.max_length or 0) // 2} bytes"
        case inspect.StrType(min_length=low, max_length=high):
            return f"text of {low}–{high}" if low else f"text, up to {high}"
        case inspect.IntType(ge=low, le=high):
            return f"number, {_number(low)} to {_number(high)}"
        case inspect.FloatType(ge=low, le=high):
            bounds = f"{_number(low)} to {_number(high)}" if high else f"{low} or more"
            return "number" if low is None else f"number, {bounds}, with a fraction"
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType(values=values):
            return " or ".join(f"`{value}`" for value in values)
        case inspect.StructType(cls=cls):
            own = getattr(cls.__struct_config__, "tag", None)
            return f"`{own}`" if own else f"[{NAMES[cls.__name__]}]({_anchor(cls)})"
        case inspect.TupleType(item_types=(first, *_)):
            return f"pair: {_type(first)}"
        case inspect.VarTupleType(item_type=item, max_length=most):
            return f"list{f' of up to {most}' if most else ''}: {_type(item)}"
        case inspect.DictType(key_type=key, value_type=value, max_length=most):
            return f"map of up to {most}: {_type(key)}, to {_type(value)}"
        case inspect.UnionType(types=types):
            some = [_type(one) for one in types if not isinstance(one, inspect.NoneType)]
            return f"{' or '.join(some)}, or null"
        case _:
            raise TypeError(f"no words are known for {info}")


def _number(value: float | None) -> str:
    powers: dict[float, str] = {2**53: "2⁵³", -(2**53): "−2⁵³", 2**40: "2⁴⁰"}
    return powers.get(value or 0, f"{value:,}")


def _anchor(cls: type[msgspec.Struct]) -> str:
    return "#part-" + NAMES[cls.__name__].replace(" ", "-")


def _default(field: inspect.Field) -> str:
    if field.required:
        return "—"
    value = {} if field.default_factory is dict else field.default
    if isinstance(value, msgspec.Struct):
        return "its defaults"
    if value is msgspec.NODEFAULT:
        return "left out"
    return f"`{msgspec.json.encode(value).decode()}`"


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
    for row in table_under("What may be sent when"):
        state = names[row[0]]
        written[state] = {}
        for side, cell in zip((Side.ARBITER, Side.BOT), row[1:], strict=True):
            entries = re.findall(r"`(\w+)`(?: → ([a-z ]+))?", cell)
            assert len(entries) == cell.count("`") // 2
            written[state][side] = {
                MESSAGES[name]: names[target] if target else state for name, target in entries
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
    state, messages = conversation("Here is a game in JSON, between a player that dialled")
    assert state is State.OVER
    said = {str(type(message).__struct_config__.tag) for message in messages}
    assert said >= {"seeking", "refused", "played", "move"}


def test_the_conversation_goes_on_after_a_cut() -> None:
    _, before = conversation("Here is a game in JSON, between a player that dialled")
    state, messages = conversation("has lost its connection after its first move")
    assert state is State.TO_MOVE
    _, _, resume, offer, _, turn = messages
    assert isinstance(resume, Resume)
    assert isinstance(offer, NewGame)
    assert isinstance(turn, YourTurn)
    assert list(offer.history) == [one for one in before if isinstance(one, Played)]
    assert resume.seen == offer.history[0].seq - 1
    assert turn.seq == offer.seq == offer.history[-1].seq + 1
    (asked,) = (one for one in before if isinstance(one, YourTurn) and one.seq == turn.seq)
    assert turn.position == asked.position
    assert turn.deadline_ms - asked.deadline_ms == turn.clocks[0] - asked.clocks[0]


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
