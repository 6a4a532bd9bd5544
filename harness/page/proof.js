// A line of moves, step by step: the board after each, and whose move it was.

import { TileBoard } from "./board.js";
import { h, signButton } from "./dom.js";
import { freshOn } from "./notation.js";
import { texts } from "./texts.js";

/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */
/** @typedef {{ text: string, score: number }} Step */

export class ProofLine extends HTMLElement {
  /** @param {Equipment} equipment @param {TileBoard} board where the steps show */
  constructor(equipment, board) {
    super();
    this.equipment = equipment;
    this.board = board;
    this.at = 0;
    /** @type {Board[]} */
    this.boards = [];
    /** @type {HTMLButtonElement[]} */
    this.steps = [];
    this.list = h("ol", { class: "proof" });
    this.back = signButton("◀", texts.stepBack, () => this.go(this.at - 1));
    this.on = signButton("▶", texts.stepOn, () => this.go(this.at + 1));
    this.where = h("span", { class: "where", "aria-live": "polite" });
  }

  connectedCallback() {
    if (!this.firstChild) this.append(this.list, h("div", { class: "controls" }, this.back, this.where, this.on));
  }

  /** Show a line. @param {Board[]} boards before and after each step @param {Step[]} steps @param {number} [at] the step to begin at */
  show(boards, steps, at = 1) {
    this.boards = boards;
    this.steps = steps.map(({ text, score }, index) =>
      h("button", { type: "button", class: "step", click: () => this.go(index + 1) },
        index % 2 ? texts.theirs(text, score) : texts.yours(text, score)));
    this.list.replaceChildren(...this.steps.map((step) => h("li", {}, step)));
    this.go(at);
  }

  /** @param {number} at */
  go(at) {
    this.at = Math.max(0, Math.min(at, this.boards.length - 1));
    const board = this.boards[this.at] ?? new Map(), fresh = freshOn(board, this.boards[this.at - 1]);
    this.board.show(this.equipment, { turn: null, board, fresh });
    this.steps.forEach((step, index) => step.setAttribute("aria-current", String(index + 1 === this.at)));
    this.back.setAttribute("aria-disabled", String(this.at === 0));
    this.on.setAttribute("aria-disabled", String(this.at === this.boards.length - 1));
    this.where.textContent = texts.moveOf(this.at, this.boards.length - 1);
  }
}

customElements.define("proof-line", ProofLine);
