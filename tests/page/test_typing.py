"""What typing lays on the page's board, asked of its modules in node, without a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "harness" / "page"

ASK = """
import { Draft } from "./draft.js";
const names = ["?", "A", "C", "[CH]", "H", "[L·L]", "L"];
const tiles = names.map((tile) => ({ tile, count: 9, points: 1 }));
const layout = { columns: 15, letter: Array(225).fill(1), word: Array(225).fill(1), start: 112 };
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([rack, keys]) => {
  const draft = new Draft({ layout, tiles }, new Map(), rack);
  draft.cursor = { at: 0, across: true };
  const taken = keys.map((key) => draft.type(key.toLowerCase(), false));
  const laid = [...draft.placed].sort(([one], [other]) => one - other).map(([, tile]) => tile);
  return [laid.join(" "), taken.every(Boolean)];
})));
"""


def typed(tmp_path: Path, *cases: tuple[list[str], str]) -> list[str]:
    """Type on an empty board; return the tiles that lie there then, by rack and keys."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here; install it with: apt-get install nodejs")
    shutil.copytree(PAGE, tmp_path / "page", ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    (tmp_path / "page" / "package.json").write_text('{"type": "module"}')
    (tmp_path / "page" / "ask.js").write_text(ASK)
    command = [node, str(tmp_path / "page" / "ask.js")]
    question = json.dumps([(rack, list(keys)) for rack, keys in cases])
    done = subprocess.run([*command, question], capture_output=True, text=True, check=True)
    laid = json.loads(done.stdout)
    assert all(is_taken for _, is_taken in laid)
    return [tiles for tiles, _ in laid]


def test_the_longest_tile_of_the_rack_is_meant(tmp_path: Path) -> None:
    cases = {
        (("C", "H", "[CH]", "A"), "CHA"): "[CH] A",
        (("[CH]", "A"), "CHA"): "[CH] A",
        (("C", "H", "A"), "CHA"): "C H A",
        (("C", "H", "[CH]"), "CHCH"): "[CH] C H",
        (("C", "[CH]", "A", "H"), "CAH"): "C A H",
        (("L", "L", "[L·L]", "A"), "AL·LL"): "A [L·L] L",
        (("L", "L", "[L·L]"), "LL"): "L L",
        (("C", "?", "A"), "CHA"): "C h A",
    }
    asked = [(list(rack), keys) for rack, keys in cases]
    assert typed(tmp_path, *asked) == list(cases.values())
