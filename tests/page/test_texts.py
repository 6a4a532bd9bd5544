"""All that the page says is said in each of its languages."""

from __future__ import annotations

from pathlib import Path

from page.modules import PAGE, asked

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
SAME = {"tilewire", "–", "Token", "blank"}


def test_no_sentence_is_missing_in_a_language(tmp_path: Path) -> None:
    english = sorted(file.name for file in PAGE.glob("texts_en_*.js"))
    pairs = [(name, name.replace("_en_", "_pl_")) for name in english]
    assert sorted(other for _, other in pairs) == sorted(f.name for f in PAGE.glob("texts_pl_*.js"))
    for (name, _), (first, second) in zip(pairs, asked(tmp_path, ASK, pairs), strict=True):
        said, other = dict(first), dict(second)
        assert said.keys() == other.keys(), name
        alike = [text for key, text in said.items() if isinstance(text, str) and text == other[key]]
        assert set(alike) <= SAME, name
