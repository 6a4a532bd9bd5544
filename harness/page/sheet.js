// The moves of a game as a score sheet, each with a link to its turn.

import { h, keepingFocus, table } from "./dom.js";
import { gameHash } from "./server.js";
import { clock, duration, signed, texts } from "./texts.js";

/** @import { Game } from "./game.js" */

export class MoveSheet extends HTMLElement {
  /** @param {Game} game @param {string} id @param {number} shown the turn that is looked at */
  show(game, id, shown) {
    if (!game.last) {
      this.replaceChildren(h("p", { class: "note" }, texts.noMoves));
      return;
    }
    const kept = this.querySelector(".scroll")?.scrollTop;
    const list = sheet(game, id, shown);
    keepingFocus(this, () => {
      this.replaceChildren(list, ...settled(game));
      list.scrollTop = kept ?? 0;
    });
    uncover(list);
  }
}

export const playedHeads = [texts.turn, texts.player, texts.move, texts.score, texts.total];

/** What a row says after the number of its turn. @param {Game} game @param {number} index */
export const played = ({ plays, offer, moves }, index) => {
  const play = /** @type {import("./game.js").Played} */ (plays[index]);
  return [h("bdi", {}, offer.players[play.seat]), moves[index] ?? "", signed(play.score), play.scores[play.seat]];
};

/** @param {Game} game @param {string} id @param {number} shown */
const sheet = (game, id, shown) => {
  const rows = game.plays.map((play, index) => ({
    attributes: { "aria-current": index + 1 === shown ? "true" : null },
    cells: [
      h("a", { href: gameHash(id, play.seq), "aria-label": `${texts.turn} ${play.seq}` }, play.seq),
      ...played(game, index), ...(game.turns ? [game.turns[index]?.rack ?? ""] : []), duration(play.think_ms), clock(play.clocks[play.seat]),
    ],
  }));
  const heads = [...playedHeads, ...(game.turns ? [texts.rackHead] : []), texts.time, texts.clockHead];
  return table(texts.moves, heads, rows, game.turns ? "sheet racks" : "sheet");
};

/** What the end of a game added and took away. @param {Game} game */
export const settled = (game) => {
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
  const row = list.querySelector("tr[aria-current]");
  if (!(row instanceof HTMLElement)) return;
  const top = row.offsetTop - 2 * row.offsetHeight, bottom = row.offsetTop + row.offsetHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
};

customElements.define("move-sheet", MoveSheet);
