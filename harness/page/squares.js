// The squares of a board on which a move is laid: what each shows, which has the arrow, where a tile may fall.

import { TileBoard, square } from "./board.js";
import { squareName } from "./scoring.js";
import { texts } from "./texts.js";

/** @import { Draft } from "./draft.js" */
/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */

export class Squares {
  board = new TileBoard();
  /** @type {HTMLElement[]} By square. */
  cells = [];
  /** @type {string[]} What the squares show, by square. */
  states = [];
  /** @type {Set<number>} */
  fresh = new Set();

  /** @param {Equipment} equipment @param {{ board: Board, fresh?: Set<number>, turn?: number | null }} asked `fresh`: the last move */
  open(equipment, { board, fresh = new Set(), turn = null }) {
    this.fresh = fresh;
    this.board.show(equipment, { turn, board, fresh });
    this.board.setAttribute("role", "grid");
    this.cells = /** @type {HTMLElement[]} */ ([...this.board.querySelectorAll("[role=cell]")]);
    this.states = [];
    this.cells.forEach((cell, at) => {
      cell.setAttribute("role", "gridcell");
      cell.dataset.at = String(at);
    });
  }

  /** Show what has changed. @param {Pick<Draft, "equipment" | "placed" | "all" | "cursor">} draft */
  show(draft) {
    const { layout } = draft.equipment, { placed, all, cursor } = draft;
    const shown = { turn: 0, board: all, fresh: this.fresh };
    const reached = cursor?.at ?? layout.start;
    this.cells.forEach((cell, at) => {
      const way = cursor?.at !== at ? "" : cursor.across ? "across" : "down";
      const state = [all.get(at), placed.has(at), way, at === reached].join();
      if (this.states[at] === state) return;
      this.states[at] = state;
      const now = square(draft.equipment, shown, at);
      cell.tabIndex = at === reached ? 0 : -1;
      cell.className = [now.className, placed.has(at) && "placed", way].filter(Boolean).join(" ");
      cell.setAttribute("aria-label", [squareName(layout.columns, at, true), spoken(now) || texts.empty, placed.has(at) && texts.notPlayed,
        way && texts[/** @type {"across" | "down"} */ (way)]].filter(Boolean).join(", "));
      cell.replaceChildren(...now.childNodes);
    });
  }

  get hasFocus() {
    return this.board.contains(document.activeElement);
  }

  /** @param {number} at */
  focus(at) {
    this.cells[at]?.focus({ preventScroll: true });
  }

  /** The number of the square that an element is in. @param {EventTarget | null} target */
  at(target) {
    const cell = target instanceof Element ? target.closest("[data-at]") : null;
    return cell instanceof HTMLElement && this.board.contains(cell) ? Number(cell.dataset.at) : null;
  }

  /** Mark the square on which a dragged tile would fall. @param {number | null} at */
  mark(at) {
    this.board.querySelector(".target")?.classList.remove("target");
    if (at !== null) this.cells[at]?.classList.add("target");
  }
}

/** What a screen reader says of a square. @param {Element} cell */
const spoken = (cell) =>
  [...cell.children].filter((each) => each.localName === "span" && !each.hasAttribute("aria-hidden")).map((each) => each.textContent).join("");
