"""All that the page says is said in each of its languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from page.modules import PAGE, asked

from bot.registry import about, usual_bots
from bot.seat_text import parse_seat

ASK = """
const files = JSON.parse(process.argv[2]);
const leaves = (value, path) => (value !== null && typeof value === "object"
  ? Object.entries(value).flatMap(([key, each]) => leaves(each, `${path}.${key}`))
  : [[path, typeof value === "function" ? value.length : value]]);
const read = async (file) => Object.values(await import(`./${file}`)).flatMap((value) =>
  (typeof value === "object" ? leaves(value, "") : []));
const both = files.map((pair) => Promise.all(pair.map(read)));
console.log(JSON.stringify(await Promise.all(both)));
"""
NOT_SHOWN = {"replaced", "unused", "recalled", "closed", "over", "done", "code"}
"""Codes of the ends of connections, which the page says itself or never sees."""
SAME = {"tilewire", "–", "Token", "blank", "Bingo"}


def test_no_sentence_is_missing_in_a_language(tmp_path: Path) -> None:
    english = sorted(file.name for file in PAGE.glob("texts_en_*.js"))
    pairs = [(name, name.replace("_en_", "_pl_")) for name in english]
    assert sorted(other for _, other in pairs) == sorted(f.name for f in PAGE.glob("texts_pl_*.js"))
    for (name, _), (first, second) in zip(pairs, asked(tmp_path, ASK, pairs), strict=True):
        said, other = dict(first), dict(second)
        assert said.keys() == other.keys(), name
        alike = [text for key, text in said.items() if isinstance(text, str) and text == other[key]]
        assert set(alike) <= SAME, name


ASK_SERVER = """
import { server } from "./texts_pl_server.js";
import { play } from "./texts_pl_play.js";
const { refusals, abouts, said } = JSON.parse(process.argv[2]);
console.log(JSON.stringify([
  refusals.map((code) => server.why(code, "X")), abouts.map(play.about), said.map(server.said),
]));
"""
ROOT = PAGE.parents[1]
SAID = {
    "QI and ZZX are not words": "nie ma słów QI i ZZX",
    "the game is over, after 6 passes in a row": "partia jest zakończona: pasy jeden po drugim: 6",
    "play 8D scores +5; the line says +6; 7 and +6 make 13; the line says 12": (
        "play 8D daje +5; w wierszu jest +6; 7 i +6 to razem 13; w wierszu jest 12"
    ),
    "nobody knows; this": "nobody knows; this",
}


def test_what_the_server_says_is_known_in_polish(tmp_path: Path) -> None:
    spec = (ROOT / "protocol" / "SPEC.md").read_text("utf-8")
    section = spec.partition("## 9. ")[2].partition("\n## ")[0].partition("| close code |")[0]
    codes = [code for row in re.findall(r"^\|([^|]+)", section, re.M) for code in _named(row)]
    abouts = [about(parse_seat(seat)) for seat in usual_bots().values()]
    question = {"refusals": [*codes], "abouts": abouts, "said": [*SAID]}
    refusals, described, said = asked(tmp_path, ASK_SERVER, question)
    bare = [code for code, sentence in zip(codes, refusals, strict=True) if sentence == "X"]
    assert set(bare) <= NOT_SHOWN
    assert not [text for text in described if text in abouts]
    assert said == [*SAID.values()]


def test_the_server_still_says_what_polish_is_known_for() -> None:
    text = (PAGE / "texts_pl_server.js").read_text("utf-8").partition("const CODES")[0]
    keys = re.findall(r'^  "(.*?)":(?: "|$)', text, re.M)
    assert len(keys) > 100
    folders = ("bot", "engine", "harness", "lexicons", "protocol")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    said = {each for file in files for each in _sentences(ast.parse(file.read_text("utf-8")))}
    assert [key for key in keys if key not in said] == []


def _named(row: str) -> list[str]:
    return re.findall(r"`(\w+)`", row)


def _sentences(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, with {} for what is put in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(it.value) if isinstance(it, ast.Constant) else "{}" for it in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.removeprefix("; ")
