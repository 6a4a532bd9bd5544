// What a player thought in a turn: told when the game is over, on one's own screen at once.

import { h, keepingFocus, table, withError } from "./dom.js";
import { bare, leaveOf, readMove, tilesOf, usedBy } from "./notation.js";
import { isRuling, moveText } from "./game.js";
import { serverTexts } from "./server_texts.js";
import { decimal, duration, percent, signed, texts, grouped } from "./texts.js";

/** @import { Game, Reviewed } from "./game.js" */

const MOST_CANDIDATES = 15, MOST_TILES = 14, MOST_LEAVES = 10;

export class TurnThoughts extends HTMLElement {
  /** @param {Game} game @param {number} turn */
  show(game, turn) {
    const told = game.thoughtsAt(turn);
    const name = told && game.offer.players[told.seat];
    const title = !told || !name ? texts.thoughts : told.move ? texts.thoughtsOf(name, told.seq) : texts.thinks(name, told.seq);
    this.toggleAttribute("data-none", !told && !game.turns); // nor will there be any at another turn
    const said = told ? thoughts(game, told) : [h("p", { class: "note" }, why(game))];
    keepingFocus(this, () => this.replaceChildren(h("h2", {}, title), ...said));
  }
}

/** @param {Game} game */
const why = (game) => {
  if (game.turns) return game.over ? texts.thoughtsChoose : texts.thoughtsSoon;
  return game.over ? texts.thoughtsClosed : texts.thoughtsLater;
};

/** @param {Game} game @param {Reviewed} told */
const thoughts = (game, told) => {
  const parts = [...candidates(game, told), ...belief(game, told), ...notes(told)];
  return parts.length ? parts : [h("p", { class: "note" }, texts.thoughtNothing(game.offer.players[told.seat]))];
};

/** @param {Game} game @param {Reviewed} told */
const candidates = (game, told) => {
  if (!told.candidates.length) return [];
  const before = game.boards[told.seq - 1] ?? new Map();
  const named = (/** @type {string} */ move) => {
    try {
      return moveText(readMove(move, game.layout.columns), before);
    } catch {
      return move; // what a bot says need be no move
    }
  };
  const rows = told.candidates.slice(0, MOST_CANDIDATES).map((each) => ({
    attributes: { "aria-current": each.move === told.move ? "true" : null },
    cells: [
      h("span", {}, named(each.move),
        each.move === told.move && h("small", {}, ` ${texts.playedMark}`)),
      each.score === null ? "" : signed(each.score),
      figure(each.win, each.win_error, percent),
      figure(each.equity, each.equity_error, decimal),
      each.samples === null ? "" : grouped(each.samples),
    ],
  }));
  const play = game.plays[told.seq - 1];
  const search = told.search && [
    texts.phases[told.search.phase] ?? told.search.phase,
    told.search.plies === null ? told.search.phase === "simulation" && texts.toTheEnd
      : told.search.plies > 0 && texts.plies(told.search.plies),
    told.search.rollouts !== null && texts.rollouts(told.search.rollouts),
    told.search.nodes !== null && texts.nodes(told.search.nodes),
    told.search.proven && texts.proven,
    play && texts.took(duration(play.think_ms)),
    told.candidates.some((each) => each.win_error || each.equity_error) && texts.error,
  ].filter(Boolean).join(" · ");
  const heads = [texts.move, texts.score, texts.win, texts.equity, texts.samples];
  return [h("h3", {}, texts.candidates), h("p", { class: "note" }, search), table(texts.candidates, heads, rows, "considered")];
};

/** @param {number | null} value @param {number | null} error @param {(value: number) => string} shown */
const figure = (value, error, shown) =>
  value === null ? "" : error === null ? shown(value) : withError(shown(value), shown(error));

/** @param {Game} game @param {Reviewed} told */
const belief = (game, told) => {
  if (!told.belief) return [];
  const other = /** @type {0 | 1} */ (1 - told.seat);
  const rack = game.rack(other, told.seq - 1);
  const last = game.turns?.[told.seq - 2];
  const kept = last && !isRuling(last.move) ? leaveOf(last.rack, usedBy(readMove(last.move, game.layout.columns))) : undefined;
  const truth = kept === undefined ? (told.move ? texts.truth : texts.holds)(rack)
    : (told.move ? texts.truthKept : texts.holdsAndKept)(rack, kept || texts.nothing);
  const { tiles, top, bingo, note } = told.belief;
  return [
    h("h3", {}, (told.move ? texts.belief : texts.believes)(game.offer.players[other])),
    h("p", {}, truth, bingo !== null && ` ${texts.bingo(percent(bingo))}`),
    h("p", { class: "note" }, note && serverTexts.said(note)),
    h("div", { class: "beliefs" }, tileChances(tiles, rack), leaves(top, kept)),
  ];
};

/** What a play told of a rack. @param {{ tiles: Record<string, number>, top: { leave: string, prior: number, posterior: number }[], note: string }} belief */
export const toldOf = ({ tiles, top, note }) => [h("p", { class: "note" }, note && serverTexts.said(note)), h("div", { class: "beliefs" }, tileChances(tiles, ""), leaves(top.slice(0, MOST_LEAVES), undefined))];

/** @param {Record<string, number>} tiles @param {string} rack */
const tileChances = (tiles, rack) => {
  const likely = Object.entries(tiles).sort(([, one], [, other]) => other - one).slice(0, MOST_TILES);
  if (!likely.length) return null;
  const held = new Set(tilesOf(rack));
  const rows = likely.map(([tile, chance]) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${5 * chance}em`;
    return { cells: [bare(tile), h("span", { class: "barred" }, bar, percent(chance)), held.has(tile) ? `✓ ${texts.isThere}` : ""] };
  });
  return table(texts.hasIt, [texts.tile, texts.hasIt, ""], rows, "chances");
};

/** @param {{ leave: string, prior: number, posterior: number }[]} top @param {string | undefined} kept */
const leaves = (top, kept) => {
  if (!top.length) return null;
  const sorted = kept && tilesOf(kept).sort().join("");
  const rows = top.map(({ leave, prior, posterior }) => ({
    attributes: { "aria-current": sorted !== undefined && tilesOf(leave).sort().join("") === sorted ? "true" : null },
    cells: [leave || texts.nothing, percent(prior), percent(posterior)],
  }));
  return table(texts.leave, [texts.leave, texts.before, texts.after], rows);
};

/** @param {Reviewed} told */
const notes = ({ notes }) =>
  notes.length ? [h("h3", {}, texts.notes), ...notes.map((note) => h("p", { class: "said" }, note))] : [];

customElements.define("turn-thoughts", TurnThoughts);
