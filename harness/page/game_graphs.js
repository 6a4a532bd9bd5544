// How a game went, as graphs: the spread, and the chance to win as either player saw it.

import { SEATS } from "./game.js";
import { TurnGraph, short } from "./graph.js";
import { percent, signed, texts } from "./texts.js";

/** @import { Game } from "./game.js" */

const LEAST_SPREAD = 10;

export class GameGraphs extends HTMLElement {
  spread = new TurnGraph();
  wins = new TurnGraph();

  connectedCallback() {
    this.className = "graphs";
    if (!this.firstChild) this.append(this.spread, this.wins);
  }

  /** @param {Game} game @param {number} turn @param {(turn: number) => void} go what a click on a turn does */
  show(game, turn, go) {
    const { players } = game.offer;
    const points = Array.from({ length: game.last + 1 }, (_, at) => {
      const { scores } = game.position(at);
      return /** @type {[number, number]} */ ([at, scores[0] - scores[1]]);
    });
    const most = Math.max(LEAST_SPREAD, ...points.map(([, lead]) => Math.abs(lead)));
    const lead = points[turn]?.[1] ?? 0;
    const label = lead ? texts.spreadIs(players[lead > 0 ? 0 : 1], Math.abs(lead), turn) : texts.level(turn);
    this.spread.show({
      title: texts.spreadGraph, label, series: [{ name: "", points }], turns: game.last, turn, low: -most, high: most,
      middle: 0, shown: (value) => (value ? signed(value) : "0"), notes: [texts.ahead(short(players[0])), texts.ahead(short(players[1]))], go,
    });
    const series = SEATS.map((seat) => ({ name: game.offer.players[seat], points: chances(game, seat) })).filter(({ points }) => points.length);
    this.wins.hidden = !series.length;
    if (!series.length) return;
    const told = series.flatMap(({ name, points }) => {
      const said = points.filter(([at]) => at <= turn).at(-1);
      return said ? [texts.winIs(name, percent(said[1]), said[0])] : [];
    });
    this.wins.show({
      title: texts.winGraph, label: told.join(" ") || texts.winGraph, series, turns: game.last, turn, low: 0, high: 1, middle: 0.5,
      shown: (value) => `${100 * value} %`, notes: ["", ""], go,
    });
  }
}

/** The chances that the first player wins, by turn, as a player saw them. @param {Game} game @param {0 | 1} seat */
const chances = (game, seat) => (game.turns ?? []).filter((each) => each.seat === seat && each.move).flatMap((each) => {
  const win = each.candidates[0]?.win ?? null;
  return win === null ? [] : [/** @type {[number, number]} */ ([each.seq, seat ? 1 - win : win])];
});

customElements.define("game-graphs", GameGraphs);
