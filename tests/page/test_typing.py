"""What typing lays on the page's board, asked of its modules in node, without a browser."""

from __future__ import annotations

from pathlib import Path

from page.modules import asked

ASK = """
import { Draft } from "./draft.js";
const names = ["?", "A", "C", "[CH]", "H", "[L·L]", "L"];
const tiles = names.map((tile) => ({ tile, count: 9, points: 1 }));
const layout = { columns: 15, letter: Array(225).fill(1), word: Array(225).fill(1), start: 112 };
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([rack, keys]) => {
  const draft = new Draft({ layout, tiles }, new Map(), rack);
  draft.cursor = { at: 0, across: true };
  const isTile = (key) => "0123456".includes(key), isBlank = (key) => key !== key.toUpperCase();
  const taken = keys.map((key) => isTile(key)
    ? draft.putAtCursor(Number(key)) : draft.type(key.toLowerCase(), isBlank(key)));
  const laid = [...draft.placed].sort(([one], [other]) => one - other).map(([, tile]) => tile);
  return [laid.join(" "), taken.every(Boolean)];
})));
"""


def typed(tmp_path: Path, *cases: tuple[list[str], str]) -> list[str]:
    """Type on an empty board; return the tiles that lie there then, by rack and keys.

    A small letter is typed with Shift, for a blank; a digit is a click on that tile of the rack.
    """
    laid = asked(tmp_path, ASK, [(rack, list(keys)) for rack, keys in cases])
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
        (("?", "A"), "l·lA"): "[l·l] A",
        (("C", "A", "H", "[CH]"), "C1H"): "C A H",
    }
    asked = [(list(rack), keys) for rack, keys in cases]
    assert typed(tmp_path, *asked) == list(cases.values())
