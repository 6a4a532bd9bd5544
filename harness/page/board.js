// The board: a table for whoever can't see it, a grid of squares for whoever can.

import { h } from "./dom.js";
import { bare, capitalOf, isBlank, pointsOf } from "./notation.js";
import { texts } from "./texts.js";

/** @import { Equipment } from "./scoring.js" */
/** @typedef {{ turn: number | null, board: import("./notation.js").Board, fresh: Set<number> }} Shown */

export class TileBoard extends HTMLElement {
  /** @param {Equipment} equipment @param {Shown} position */
  show(equipment, position) {
    const { columns, letter } = equipment.layout;
    const rows = Array.from({ length: letter.length / columns }, (_, row) =>
      line(
        h("div", { role: "rowheader", class: "edge" }, row + 1),
        ...Array.from({ length: columns }, (_, column) => square(equipment, position, row * columns + column)),
      ));
    const heads = Array.from({ length: columns }, (_, column) =>
      h("div", { role: "columnheader", class: "edge" }, String.fromCharCode(65 + column)));
    this.setAttribute("role", "table");
    this.setAttribute("aria-label", texts.boardAfter(position.turn, position.board.size));
    this.style.setProperty("--columns", String(columns));
    this.replaceChildren(line(h("div", { role: "columnheader", class: "edge" }), ...heads), ...rows);
  }
}

/** A list of tiles, each with how many there are. @param {(readonly [string, number])[]} tiles @param {(count: number) => string} [counted] */
export const tileList = (tiles, counted = String) =>
  h("ul", { class: "tiles" }, ...tiles.map(([tile, count]) =>
    h("li", {}, bare(tile), counted(count) && h("small", {}, ` ${counted(count)}`))));

/**
 * The tiles that are not seen, with how many of them are in the bag.
 * @param {(readonly [string, number])[]} tiles @param {number} bag @param {boolean} [isOwn] whether one sees a rack oneself
 */
export const unseenTiles = (tiles, bag, isOwn = false) => {
  const count = tiles.reduce((sum, [, each]) => sum + each, 0);
  return [h("p", { class: "note" }, texts.unseenCount(count, Math.min(count, bag), isOwn)), tileList(tiles)];
};

/** @param {HTMLElement[]} cells */
const line = (...cells) => h("div", { role: "row", class: "line" }, ...cells);

/** @param {Equipment} equipment @param {Shown} position @param {number} at */
export const square = ({ layout: { letter, word, start }, tiles }, position, at) => {
  const tile = position.board.get(at);
  if (tile !== undefined) return tileAt(tile, tiles, position.fresh.has(at));
  const words = word[at] ?? 1, letters = letter[at] ?? 1;
  const kind = words > 1 ? `w${words}` : letters > 1 ? `l${letters}` : "";
  const label = words > 1 ? texts.words(words) : letters > 1 ? texts.letters(letters) : "";
  const sign = at === start ? "★" : texts.premium(words, letters);
  return h("div", { role: "cell", class: kind },
    sign && h("span", { "aria-hidden": "true" }, sign),
    h("span", { class: "hidden" }, at === start ? `${texts.start}, ${label}` : label));
};

/** A tile that lies on the board, a blank in capitals too: a small l would be taken for an I. @param {string} tile @param {import("./game.js").TileKind[]} tiles @param {boolean} fresh */
const tileAt = (tile, tiles, fresh) => {
  const text = bare(capitalOf(tile, tiles)), blank = isBlank(tile);
  const size = [...text].length > 1 ? ` long${Math.min([...text].length, 4)}` : "";
  return h("div", { role: "cell", class: `tile${fresh ? " fresh" : ""}${blank ? " blank" : ""}${size}` },
    h("span", {}, text),
    blank
      ? h("span", { class: "hidden" }, ` ${texts.blank}`)
      : h("sub", {}, pointsOf(tile, tiles)),
    fresh && h("span", { class: "hidden" }, `, ${texts.lastMove}`));
};

customElements.define("tile-board", TileBoard);
