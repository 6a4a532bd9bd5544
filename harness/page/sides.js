// The two players of a game: names, scores, clocks, who is to move, and racks where they are told.

import { h } from "./dom.js";
import { clock, texts } from "./texts.js";

/** @typedef {0 | 1} Seat */

/** Of a clock: how often it is drawn, and with how little it is low. */
export const TICK_MS = 200, LOW_MS = 60000;

export class GameSides extends HTMLElement {
  /** @type {{ card: HTMLElement, score: HTMLElement, clock: HTMLElement, rack: HTMLElement, mark: HTMLElement }[]} */
  sides = [];

  /** @param {string[]} players */
  open(players) {
    this.sides = players.map((name) => {
      const parts = {
        score: h("span", { class: "score" }), clock: h("span", { class: "clock", role: "timer" }),
        rack: h("span", { class: "rack" }), mark: h("span", { class: "mark" }, texts.onTurn),
      };
      const card = h("div", { class: "side" },
        h("p", { class: "who" }, h("bdi", {}, name), parts.mark),
        h("p", { class: "figures" }, parts.score, parts.clock), parts.rack);
      return { card, ...parts };
    });
    this.classList.add("sides");
    this.replaceChildren(...this.sides.map(({ card }) => card));
  }

  /** @param {import("./game.js").Position} position @param {boolean} isOver */
  show(position, isOver) {
    this.sides.forEach(({ card, score, rack, mark }, seat) => {
      const toMove = position.toMove === seat && !isOver;
      card.classList.toggle("turn", toMove);
      mark.classList.toggle("off", !toMove);
      score.textContent = String(position.scores[/** @type {Seat} */ (seat)]);
      rack.textContent = position.racks ? `${texts.rack} ${position.racks[/** @type {Seat} */ (seat)] || "–"}` : "";
    });
  }

  /** @param {[number, number]} clocks */
  tick(clocks) {
    this.sides.forEach((side, seat) => {
      const left = clocks[/** @type {Seat} */ (seat)], text = clock(left);
      if (side.clock.textContent === text) return;
      side.clock.textContent = text;
      side.clock.setAttribute("aria-label", `${texts.clockOf} ${text}`);
      side.clock.classList.toggle("low", left < LOW_MS);
    });
  }
}

customElements.define("game-sides", GameSides);
