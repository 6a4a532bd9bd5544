// The moves of a game as a score sheet: a column a player, a row a round, and in each place a link to its turn.

import { h, keepingFocus, table } from "./dom.js";
import { screenTexts } from "./screen_texts.js";
import { gameHash } from "./server.js";
import { duration, signed, texts } from "./texts.js";

/** @import { Game } from "./game.js" */

export class MoveSheet extends HTMLElement {
  /** Goes to a turn where its address would leave the view; null: its address does. @type {((turn: number) => void) | null} */
  go = null;

  constructor() {
    super();
    this.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      if (!this.go || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.go(Number(link.hash.split("/").pop()));
    });
  }

  /** Room comes and goes with what stands beside it. */
  room = new ResizeObserver(([list]) => uncover(/** @type {HTMLElement} */ (list?.target)));

  /** @param {Game} game @param {string} id @param {number} shown the turn that is looked at */
  show(game, id, shown) {
    if (!game.last) {
      this.replaceChildren(h("p", { class: "note" }, texts.noMoves), ...settled(game));
      return;
    }
    const kept = this.querySelector(".scroll")?.scrollTop;
    const list = sheet(game, id, shown);
    keepingFocus(this, () => {
      this.replaceChildren(list, ...settled(game));
      list.scrollTop = kept ?? 0;
    });
    this.room.disconnect();
    this.room.observe(list); // it is called at once
  }
}

/** @param {Game} game @param {string} id @param {number} shown */
const sheet = (game, id, shown) => {
  /** @type {(HTMLElement | null)[][]} */
  const rounds = [];
  game.plays.forEach(({ seat }, index) => {
    if (seat === 0 || !rounds.length || rounds.at(-1)?.[1]) rounds.push([null, null]);
    rounds.at(-1)?.splice(seat, 1, turn(game, id, index, shown));
  });
  return table(texts.moves, [h("span", { class: "hidden" }, screenTexts.round), ...game.offer.players], rounds.map((round, index) => ({ cells: [index + 1, ...round] })), "rounds");
};

/** A turn: its move, which the player is found under, and what it scored, held and took. @param {Game} game @param {string} id @param {number} index @param {number} shown */
const turn = ({ plays, moves, turns }, id, index, shown) => {
  const { seq, seat, score, scores, think_ms } = /** @type {import("./game.js").Played} */ (plays[index]), move = moves[index] ?? "";
  return h("div", { class: "ply" },
    h("a", { href: gameHash(id, seq), "aria-label": screenTexts.turnMove(seq, move), "aria-current": index + 1 === shown && "true" }, move),
    h("span", { class: "result" }, signed(score), " ", h("b", {}, scores[seat])),
    h("small", {}, [turns?.[index]?.rack, duration(think_ms)].filter(Boolean).join(" · ")));
};

/** What the end of a game added and took away. @param {Game} game */
const settled = (game) => {
  if (!game.over) return [];
  const { rack_adjustments: racks, time_penalties: time, scores } = game.over;
  const parts = game.offer.players.flatMap((name, seat) => [
    ...(racks[seat] ? [texts.forRacks(name, racks[seat])] : []),
    ...(time[seat] ? [texts.forOvertime(name, time[seat])] : []),
  ]);
  return [h("p", { class: "note" }, `${parts.length ? `${parts.join("; ")}. ` : ""}${texts.final(scores)}`)];
};

/** Scroll so far that the turn that is looked at is seen. @param {HTMLElement} list */
const uncover = (list) => {
  const row = list.querySelector("[aria-current]")?.closest("tr");
  if (!row) return;
  const top = row.offsetTop - 2 * row.offsetHeight, bottom = row.offsetTop + row.offsetHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
};

customElements.define("move-sheet", MoveSheet);
