// A board that is set up, square by square: by typing, by tapping a square and tiles, by dragging.
//
//   setup.show(equipment, position);
//   setup.addEventListener("edit", ({ detail }) => …);   // a Board
//   setup.addEventListener("hold", ({ detail }) => …);   // { seat, tile }: a tile was dragged to a rack

import { button, h, keepingFocus } from "./dom.js";
import { Draft } from "./draft.js";
import { dragIn } from "./dragging.js";
import { STEPS } from "./entry.js";
import { Hand } from "./hand.js";
import { bare, capitalOf, onRack } from "./notation.js";
import { squareName } from "./scoring.js";
import { Squares } from "./squares.js";
import { faultsOf, unseen } from "./study.js";
import { studyTexts as texts } from "./study_texts.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Position } from "./study.js" */

export class BoardSetup extends HTMLElement {
  squares = new Squares();
  picker = new Hand();
  /** @type {Draft | null} All tiles of the board are laid as those of a move are. */
  draft = null;
  /** @type {Position | null} */
  position = null;
  /** @type {Position["board"] | null} The one that the draft is of. */
  board = null;
  /** @type {{ tile: string, from: number | null } | null} */
  dragged = null;
  palette = h("div", { class: "palette", role: "group", "aria-label": texts.palette });
  said = h("p", { class: "hidden", "aria-live": "polite" });

  connectedCallback() {
    if (this.firstChild) return;
    const { board } = this.squares;
    this.append(board, this.palette, h("p", { class: "note" }, texts.setupHow, h("span", { class: "keyboard" }, ` ${texts.setupKeys}`)), this.said, this.picker.picker);
    board.addEventListener("keydown", (event) => this.press(event));
    board.addEventListener("click", ({ target }) => this.tap(this.squares.at(target)));
    board.addEventListener("mousedown", (event) => event.preventDefault()); // a click puts the focus itself
    board.addEventListener("focusin", ({ target }) => {
      const at = this.squares.at(target);
      if (at !== null && at !== this.draft?.cursor?.at) this.act((draft) => draft.goTo(at));
    });
    dragIn(this, {
      source: (element) => {
        const from = this.squares.at(element), tile = from === null ? element.closest("[data-tile]")?.getAttribute("data-tile") : this.board?.get(from);
        this.dragged = tile ? { tile, from } : null;
        return tile ? /** @type {HTMLElement} */ (element.closest("[data-tile], [data-at]")) : null;
      },
      over: (element) => this.squares.mark(this.squares.at(element)),
      drop: (element) => this.drop(element),
    });
  }

  /** @param {Equipment} equipment @param {Position} position */
  show(equipment, position) {
    const { hasFocus } = this.squares;
    if (this.draft?.equipment !== equipment) {
      [this.draft, this.board] = [new Draft(equipment, new Map(), [], true), null];
      this.draft.point(equipment.layout.start);
    }
    if (this.board !== position.board) this.draft.held = [...position.board].map(([at, as]) => ({ tile: onRack(as), at, as }));
    for (const { tile } of equipment.tiles) { // one of each is at hand; if it is one too many, that is said
      if (this.find(tile, null) < 0) this.draft.held.push({ tile, at: null, as: tile });
    }
    [this.position, this.board] = [position, position.board];
    this.squares.open(equipment, { board: position.board });
    this.refresh();
    if (hasFocus) this.focusCursor();
  }

  refresh() {
    const { draft, position } = this;
    if (!draft || !position) return;
    const { equipment, cursor } = draft;
    this.squares.show({ equipment, placed: new Map(), all: position.board, cursor });
    const wrong = new Map(faultsOf(position, equipment).flatMap(({ squares, text }) => squares.map((at) => [at, text])));
    this.squares.cells.forEach((cell, at) => {
      cell.classList.toggle("fault", wrong.has(at));
      cell.title = wrong.get(at) ?? "";
    });
    keepingFocus(this.palette, () => this.palette.replaceChildren(...unseen(position, equipment, [0, 1]).map(([tile, count]) => h("button", {
      type: "button", class: "tile", "data-tile": tile, "aria-label": texts.leftOf(tile, count), click: () => this.lay(tile),
    }, bare(tile), h("small", {}, ` ×${count}`))), button(texts.takeBack, () => this.act(() => draft.erase()))));
  }

  /** Which of the tiles, if any, is of a kind and lies on a square, or is at hand. @param {string | null} tile @param {number | null} at */
  find(tile, at) {
    return this.draft?.held.findIndex((held) => held.at === at && (tile === null || held.tile === tile)) ?? -1;
  }

  focusCursor() {
    this.squares.focus(this.draft?.cursor?.at ?? 0);
  }

  /** Do something, and tell if tiles lie otherwise then. @param {(draft: Draft) => void} does */
  act(does) {
    const { draft } = this;
    if (!draft) return;
    const before = draft.placed;
    does(draft);
    const board = draft.placed, at = [...board.keys(), ...before.keys()].find((each) => board.get(each) !== before.get(each));
    if (at === undefined) return this.refresh();
    const { layout, tiles } = draft.equipment;
    this.board = board;
    this.said.textContent = `${squareName(layout.columns, at, true)}: ${bare(capitalOf(board.get(at) ?? "", tiles)) || texts.emptied}`;
    this.dispatchEvent(new CustomEvent("edit", { detail: board }));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key, shiftKey } = event, step = STEPS[key];
    if ((event.ctrlKey || event.altKey || event.metaKey) && key <= "~") return;
    let isMeant = true;
    this.act((draft) => {
      if (step) draft.cursor?.across === step[0] ? draft.step(step[1]) : draft.turn();
      else if (key === " ") draft.turn();
      else if (key === "Backspace") draft.erase();
      else if (key === "Delete") draft.take(draft.cursor?.at ?? -1);
      else isMeant = draft.type(key, shiftKey && key.toLowerCase() !== key.toUpperCase());
    });
    if (!isMeant) return;
    event.preventDefault();
    event.stopPropagation();
    this.focusCursor();
  }

  // --- mouse and finger ---

  /** @param {number | null} at */
  tap(at) {
    if (at !== null) this.act((draft) => draft.point(at));
    this.focusCursor();
  }

  /** Lay a tile, at the cursor if not elsewhere; of a blank ask what it is. @param {string} tile @param {number} [at] */
  lay(tile, at) {
    const put = (/** @type {string | undefined} */ as) => this.act((draft) => {
      if (at !== undefined) draft.goTo(at);
      draft.putAtCursor(this.find(tile, null), as);
    });
    if (tile === "?") this.picker.askForBlank(this.draft?.equipment.tiles ?? [], put);
    else put(undefined);
  }

  /** @param {Element | null} element */
  drop(element) {
    const { dragged } = this, to = this.squares.at(element), rack = element?.closest("[data-rack]");
    if (!dragged) return;
    const { tile, from } = dragged;
    if (rack instanceof HTMLElement) this.dispatchEvent(new CustomEvent("hold", { detail: { seat: Number(rack.dataset.rack), tile: onRack(tile) } }));
    if (from === null && to !== null) this.lay(tile, to);
    else if (from !== null && to !== from) this.act((draft) => to === null ? draft.take(from) : draft.place(this.find(null, from), to));
  }
}

customElements.define("board-setup", BoardSetup);
