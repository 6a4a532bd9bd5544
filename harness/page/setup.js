// A board that is set up, square by square: by typing, by tapping a tile and a square, by dragging.
//
//   setup.show(equipment, position);
//   setup.addEventListener("edit", ({ detail }) => …);   // a Board
//   setup.addEventListener("hold", ({ detail }) => …);   // { seat, tile }: a tile was dragged to a rack

import { button, h } from "./dom.js";
import { dragIn } from "./dragging.js";
import { Hand } from "./hand.js";
import { bare, blankFor, capitalOf, lettersOf, onRack } from "./notation.js";
import { squareName } from "./scoring.js";
import { Squares } from "./squares.js";
import { faultsOf, unseen } from "./study.js";
import { studyTexts as texts } from "./study_texts.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Position } from "./study.js" */

const STEPS = /** @type {Record<string, [boolean, 1 | -1]>} */ ({
  ArrowRight: [true, 1], ArrowLeft: [true, -1], ArrowDown: [false, 1], ArrowUp: [false, -1],
});

export class BoardSetup extends HTMLElement {
  squares = new Squares();
  picker = new Hand();
  /** @type {{ at: number, across: boolean }} */
  cursor = { at: 0, across: true };
  /** @type {string | null} The tile that is laid where a square is tapped. */
  chosen = null;
  /** @type {{ tile: string, from: number | null } | null} */
  dragged = null;
  palette = h("div", { class: "palette", role: "group", "aria-label": texts.palette });
  said = h("p", { class: "hidden", "aria-live": "polite" });
  /** @type {Equipment | null} */
  equipment = null;
  /** @type {Position | null} */
  position = null;

  connectedCallback() {
    if (this.firstChild) return;
    const { board } = this.squares;
    this.append(board, this.palette, h("p", { class: "note keyboard" }, texts.setupKeys), this.said, this.picker.picker);
    board.addEventListener("keydown", (event) => this.press(event));
    board.addEventListener("click", ({ target }) => this.tap(this.squares.at(target)));
    board.addEventListener("focusin", ({ target }) => {
      const at = this.squares.at(target);
      if (at !== null && at !== this.cursor.at) this.goTo(at);
    });
    dragIn(this, {
      source: (element) => {
        const from = this.squares.at(element), tile = from === null ? element.closest("[data-tile]")?.getAttribute("data-tile") : this.position?.board.get(from);
        this.dragged = tile ? { tile, from } : null;
        return tile ? /** @type {HTMLElement} */ (element.closest("[data-tile], [data-at]")) : null;
      },
      over: (element) => this.squares.mark(this.squares.at(element)),
      drop: (element) => this.drop(element),
    });
  }

  /** @param {Equipment} equipment @param {Position} position */
  show(equipment, position) {
    if (this.equipment !== equipment) this.cursor = { at: equipment.layout.start, across: true };
    const { hasFocus } = this.squares;
    [this.equipment, this.position] = [equipment, position];
    this.squares.open(equipment, { board: position.board });
    this.refresh();
    if (hasFocus) this.squares.focus(this.cursor.at);
  }

  refresh() {
    const { equipment, position, cursor } = this;
    if (!equipment || !position) return;
    this.squares.show({ equipment, placed: new Map(), all: position.board, cursor });
    const wrong = new Map(faultsOf(position, equipment).flatMap(({ squares, text }) => squares.map((at) => [at, text])));
    this.squares.cells.forEach((cell, at) => {
      cell.classList.toggle("fault", wrong.has(at));
      cell.title = wrong.get(at) ?? "";
    });
    const left = unseen(position, equipment, [0, 1]);
    this.palette.replaceChildren(...left.map(([tile, count]) => h("button", {
      type: "button", class: "tile", "data-tile": tile, "aria-pressed": String(this.chosen === tile), "aria-label": texts.leftOf(tile, count),
      click: () => {
        this.chosen = this.chosen === tile ? null : tile;
        this.refresh();
      },
    }, bare(tile), h("small", {}, ` ×${count}`))),
    button(texts.clearSquare, () => this.put(this.cursor.at, null)));
  }

  // --- keyboard ---

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key, shiftKey } = event, step = STEPS[key];
    if ((event.ctrlKey || event.altKey || event.metaKey) && key <= "~" || !this.equipment) return;
    if (step) this.cursor.across === step[0] ? this.move(step[1]) : this.turn();
    else if (key === " ") this.turn();
    else if (key === "Backspace") this.erase();
    else if (key === "Delete") this.put(this.cursor.at, null);
    else if (key === "Escape") this.chosen = null;
    else if (!this.type(key, shiftKey && key.toLowerCase() !== key.toUpperCase())) return;
    event.preventDefault();
    event.stopPropagation();
    this.refresh();
    this.squares.focus(this.cursor.at);
  }

  /** @param {number} at */
  goTo(at) {
    this.cursor = { ...this.cursor, at };
    this.refresh();
  }

  turn() {
    this.cursor = { ...this.cursor, across: !this.cursor.across };
  }

  /** @param {1 | -1} sign */
  move(sign) {
    const { columns, letter } = /** @type {Equipment} */ (this.equipment).layout, { at, across } = this.cursor, to = at + sign * (across ? 1 : columns);
    if (to >= 0 && to < letter.length && (!across || Math.floor(to / columns) === Math.floor(at / columns))) this.cursor = { at: to, across };
  }

  erase() {
    if (!this.position?.board.has(this.cursor.at)) this.move(-1);
    this.put(this.cursor.at, null);
  }

  /** Lay a tile that is typed; return whether there is one. @param {string} key @param {boolean} isBlank */
  type(key, isBlank) {
    const tiles = this.equipment?.tiles ?? [], letter = [...key].length === 1 ? capitalOf(key, tiles) : "";
    const tile = letter && (tiles.find((each) => lettersOf(each.tile) === letter) ?? tiles.find((each) => lettersOf(each.tile).startsWith(letter)))?.tile;
    if (!tile) return false;
    this.put(this.cursor.at, isBlank ? blankFor(tile, tiles) : tile);
    this.move(1);
    return true;
  }

  // --- mouse and finger ---

  /** @param {number | null} at */
  tap(at) {
    if (at === null) return;
    if (this.chosen) return this.lay(this.chosen, at);
    if (at === this.cursor.at) this.turn();
    this.goTo(at);
    this.squares.focus(at);
  }

  /** Lay a tile; of a blank ask what it is. @param {string} tile @param {number} at */
  lay(tile, at) {
    this.cursor = { ...this.cursor, at };
    if (tile === "?") this.picker.askForBlank(this.equipment?.tiles ?? [], (as) => this.put(at, as));
    else this.put(at, tile);
  }

  /** @param {Element | null} element */
  drop(element) {
    const { dragged } = this, to = this.squares.at(element), rack = element?.closest("[data-rack]");
    if (!dragged) return;
    const { tile, from } = dragged;
    if (rack instanceof HTMLElement) this.dispatchEvent(new CustomEvent("hold", { detail: { seat: Number(rack.dataset.rack), tile: onRack(tile) } }));
    if (to !== null && to !== from) from === null ? this.lay(tile, to) : this.put(to, tile, from);
    else if (from !== null && to !== from) this.put(from, null);
  }

  /** Change a square, and clear another. @param {number} at @param {string | null} tile @param {number} [from] */
  put(at, tile, from) {
    const board = new Map(this.position?.board), { layout, tiles } = /** @type {Equipment} */ (this.equipment);
    if (tile === null) board.delete(at);
    else board.set(at, tile);
    if (from !== undefined) board.delete(from);
    this.said.textContent = `${squareName(layout.columns, at, true)}: ${tile === null ? texts.emptied : bare(capitalOf(tile, tiles))}`;
    this.dispatchEvent(new CustomEvent("edit", { detail: board }));
  }
}

customElements.define("board-setup", BoardSetup);
