// The tiles of a rack as buttons, and the question what a blank stands for.

import { button, h } from "./dom.js";
import { bare, blankFor, capitalOf, pointsOf } from "./notation.js";
import { squareName } from "./scoring.js";
import { texts } from "./texts.js";

/** @import { Draft } from "./draft.js" */

export class Hand {
  element = h("div", { class: "hand", role: "group", "aria-label": texts.yourRack });
  picker = h("dialog", { class: "picker", "aria-label": texts.blankIs });

  /**
   * @param {Draft} draft
   * @param {Set<number> | null} exchanged the tiles that are to be exchanged; null: a move is laid
   * @param {number | null} chosen the tile that is to be laid next
   */
  show(draft, exchanged, chosen) {
    const focused = this.at(document.activeElement);
    const tiles = draft.held.map(({ tile, at }, index) => {
      const points = pointsOf(tile, draft.equipment.tiles), isMarked = exchanged?.has(index) || chosen === index;
      return h("button", {
        type: "button", "data-held": index, class: `tile${at === null ? "" : " gone"}${isMarked ? " marked" : ""}`,
        "aria-pressed": exchanged || chosen === index ? String(Boolean(isMarked)) : null,
        "aria-label": at === null ? texts.tileWorth(tile === "?" ? texts.blank : bare(tile), points)
          : texts.isLaid(bare(tile), squareName(draft.equipment.layout.columns, at, true)),
      }, h("span", {}, tile === "?" ? "" : bare(tile)), h("sub", {}, tile === "?" ? "" : points));
    });
    this.element.replaceChildren(...tiles);
    if (focused !== null) tiles[focused]?.focus({ preventScroll: true });
  }

  /** The place on the rack of the tile that an element is in. @param {EventTarget | null} target */
  at(target) {
    const tile = target instanceof Element ? target.closest("[data-held]") : null;
    return tile instanceof HTMLElement && this.element.contains(tile) ? Number(tile.dataset.held) : null;
  }

  /** Ask what a blank stands for. @param {import("./notation.js").Tiles} tiles @param {(as: string) => void} lay */
  askForBlank(tiles, lay) {
    const { picker } = this, kinds = tiles.map(({ tile }) => tile).filter((tile) => tile !== "?");
    const choose = (/** @type {string} */ tile) => {
      picker.close();
      lay(blankFor(tile, tiles));
    };
    picker.replaceChildren(
      h("p", {}, texts.blankIs),
      h("div", { class: "kinds" }, ...kinds.map((tile) => button(bare(tile), () => choose(tile)))),
      button(texts.cancel, () => picker.close()));
    picker.onkeydown = (event) => {
      const tile = kinds.find((each) => bare(each).toUpperCase() === capitalOf(event.key, tiles));
      if (!tile) return;
      event.stopPropagation(); // it names the blank, and lays no tile besides
      choose(tile);
    };
    picker.showModal();
  }
}
