// A server's ladder: how it stands, and a player of it.

import { h, names, table } from "./dom.js";
import { TurnGraph } from "./graph.js";
import { Asking, scored } from "./lists.js";
import { ask, gameHash } from "./server.js";
import { day, decimal, grouped, moment, rating, signed, texts, timeText } from "./texts.js";

/** @typedef {{ rank: number | null, name: string, kind: string, rating: number, error: number, provisional: boolean, games: number, points: number, met: number, largest_share: number, last: string | null, state: string }} Row */
/** @typedef {{ table: string, tables: string[], time: { initial_ms: number, increment_ms: number }, games: number, rated_games: number, rated_at: string | null, bots: Row[], persons: Row[] }} Told */
/** @typedef {Row & { wins: number, losses: number, ties: number, over_time: { day: string, rating: number, error: number }[], opponents: { name: string, games: number, wins: number, losses: number, ties: number, spread: number }[], faults: Record<string, number>, forfeits: Record<string, number> }} Player */
/** @typedef {{ number: number, game: string, ended: string, players: [string, string], scores: [number, number], outcome: string, turns: number }} Rated */

/** @param {string} board @param {string} [name] */
const address = (board, name) =>
  `#/ladder/${encodeURIComponent(board)}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;

export class LadderList extends Asking {
  constructor(board = "") {
    super();
    this.path = `api/ladder${board ? `?table=${encodeURIComponent(board)}` : ""}`;
    this.heading = texts.ladder;
  }

  /** @param {Told} told */
  show(told) {
    const facts = [texts.each(timeText(told.time)), texts.ratedGames(told.rated_games), told.rated_at && texts.ratedAt(moment(told.rated_at))];
    const others = told.tables.length > 1 && h("nav", { class: "links", "aria-label": texts.tables }, ...told.tables.map((name) =>
      h("a", { href: address(name), "aria-current": name === told.table ? "page" : null }, name)));
    this.redraw(
      h("h1", {}, texts.ladder), this.trouble, others || "",
      h("p", { class: "note" }, facts.filter(Boolean).join(" · ")),
      h("h2", {}, texts.bots), rows(told, told.bots, texts.bots),
      ...(told.persons.length ? [h("h2", {}, texts.persons), rows(told, told.persons, texts.persons)] : []));
  }
}

/** @param {Told} told @param {Row[]} players @param {string} label */
const rows = (told, players, label) =>
  players.length
    ? table(label, [texts.entrant, texts.rating, texts.played, texts.points, texts.met, texts.state], players.map((row) => ({
      cells: [
        h("span", {}, row.rank === null ? "" : `${row.rank}. `, h("a", { href: address(told.table, row.name) }, h("bdi", {}, row.name))),
        rating(row), grouped(row.games), grouped(row.points), metText(row),
        [row.kind === "anchor" && texts.anchor, row.provisional && texts.provisional, texts.states[row.state] ?? row.state].filter(Boolean).join(", "),
      ],
    })))
    : h("p", { class: "note" }, texts.nobodyRated);

/** @param {number} share */
const wholePercent = (share) => `${Math.round(100 * share)} %`;

/** @param {Row} row */
const metText = ({ met, largest_share: share }) => (met ? `${grouped(met)} (${wholePercent(share)})` : "–");

export class LadderPlayer extends Asking {
  constructor(board = "", name = "") {
    super();
    this.board = board;
    this.name = name;
    this.path = `api/ladder/players/${encodeURIComponent(name)}?table=${encodeURIComponent(board)}`;
    this.heading = name;
    /** @type {Rated[]} */
    this.games = [];
    this.count = 0;
  }

  /** @param {Player} told */
  async show(told) {
    if (told.games !== this.count) { // the server reads them from its journal
      const query = `table=${encodeURIComponent(this.board)}&player=${encodeURIComponent(this.name)}`;
      ({ games: this.games } = await ask(`api/ladder/games?${query}`));
      if (!this.isConnected) return;
      this.count = told.games;
    }
    const counts = (/** @type {string} */ what, /** @type {Record<string, number>} */ codes) => {
      const each = Object.entries(codes).map(([code, count]) => `${texts.mishaps[code] ?? code.replaceAll("_", " ")} (${grouped(count)})`);
      return each.length ? h("p", { class: "note" }, `${what}: ${each.join(", ")}`) : "";
    };
    this.redraw(
      h("h1", {}, h("bdi", {}, told.name)), this.trouble,
      h("p", {}, `${rating(told)} · ${texts.record(told.wins, told.losses, told.ties)}`),
      told.met ? h("p", { class: "note" }, texts.ratedFrom(told.met, wholePercent(told.largest_share))) : "",
      counts(texts.forfeits, told.forfeits), counts(texts.faults, told.faults),
      overTime(told),
      h("h2", {}, texts.opponents),
      table(texts.opponents, [texts.opponent, texts.played, texts.wonLost, texts.spread], told.opponents.map((each) => ({
        cells: [h("a", { href: address(this.board, each.name) }, h("bdi", {}, each.name)), grouped(each.games),
          `${each.wins} – ${each.losses}${each.ties ? ` – ${each.ties}` : ""}`, signed(each.spread)],
      }))),
      h("h2", {}, texts.lastGames),
      table(texts.lastGames, [texts.players, texts.score, texts.outcome, texts.ended], this.games.map((each) => ({
        cells: [h("a", { href: gameHash(each.game) }, ...names(each.players)),
          scored(each.scores), texts.endings[each.outcome] ?? each.outcome, moment(each.ended)],
      })), "results"),
      h("p", {}, h("a", { href: address(this.board) }, texts.toLadder)));
  }
}

/** @param {Player} told */
const overTime = ({ over_time: days, name }) => {
  const [first] = days, last = days.at(-1);
  if (!first || !last || days.length < 2) return "";
  const values = days.map((each) => each.rating);
  const low = Math.floor(Math.min(...values) / 50) * 50, high = Math.ceil(Math.max(...values) / 50) * 50 || 1;
  const graph = new TurnGraph();
  graph.show({
    title: texts.ratingOverTime, label: texts.ratingIs(name, rating(last), day(last.day)),
    series: [{ name, points: values.map((value, at) => [at, value]) }], turns: days.length - 1, turn: days.length - 1,
    low, high, middle: (low + high) / 2, shown: (value) => decimal(value).replace(/[.,]0$/, ""),
    notes: ["", ""], end: `${day(first.day)} – ${day(last.day)}`,
  });
  return h("div", { class: "graphs" }, graph);
};

customElements.define("ladder-list", LadderList);
customElements.define("ladder-player", LadderPlayer);
