// A game as the first view shows it: the one that is on, as it goes, or an example to step through.

import { TileBoard } from "./board.js";
import { TurnSteps, h } from "./dom.js";
import { Game } from "./game.js";
import { homeTexts } from "./home_texts.js";
import { Following, Trouble, askGame, gameHash } from "./server.js";
import { GameSides, TICK_MS } from "./sides.js";
import { texts } from "./texts.js";

/** @typedef {{ players: [string, string], lexicon: string, moves: [string, number][], scores: [number, number], board: import("./game.js").Layout, tiles: import("./game.js").TileKind[] }} Example */

/** Where the example begins: there is something to see, and both ways to go. */
const EXAMPLE_TURN = 11;

export class SmallGame extends HTMLElement {
  id_ = "";
  turn = 0;
  ticking = 0;
  /** @type {Game | null} */
  game = null;
  /** @type {Following | null} */
  following = null;
  board = new TileBoard();
  sides = new GameSides();
  heading = h("h2");
  below = h("div");
  said = h("p", { class: "note", "aria-live": "polite" });
  steps = new TurnSteps((turn) => {
    this.turn = turn;
    this.show();
  });

  connectedCallback() {
    this.replaceChildren(this.heading, this.sides, this.board, this.below, this.said);
    this.ticking = setInterval(() => this.tick(), TICK_MS);
  }

  disconnectedCallback() {
    clearInterval(this.ticking);
    this.following?.connection.stop();
  }

  /** Show one of the games that are on; the one that is shown stays until another begins. @param {string[]} on their ids */
  async look(on) {
    const [first] = on;
    if (on.includes(this.id_) || (this.game && !first)) return;
    const id = this.id_ = first ?? "";
    this.following?.connection.stop();
    try {
      const told = id ? await askGame(id) : await example();
      if (!this.isConnected || this.id_ !== id) return;
      this.game = new Game(told, performance.now());
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      this.id_ = ""; // it is asked for again with the next list
      return;
    }
    this.turn = id ? this.game.last : EXAMPLE_TURN;
    this.sides.open(this.game.offer.players);
    this.below.replaceChildren(id ? h("p", {}, h("a", { href: gameHash(id) }, homeTexts.follow)) : this.steps.element);
    this.show();
    if (!id) return;
    const message = (/** @type {any} */ told, /** @type {number} */ at) => {
      if (!this.game || told.type === "info") return;
      if (this.game.take(told, at)) this.following?.watch();
      this.turn = this.game.last;
      this.show();
      if (told.type === "error" || told.type === "game_over") this.following?.connection.stop();
    };
    this.following = new Following(id, { message, lost: () => {}, joined: () => {} }); // it connects again by itself
  }

  show() {
    const { game, turn } = this, play = game?.plays[turn - 1];
    if (!game) return;
    const position = game.position(turn);
    this.heading.textContent = !this.id_ ? homeTexts.example : game.over ? homeTexts.ended : homeTexts.live;
    this.board.show(game.equipment, position);
    this.sides.show(position, Boolean(game.over) && turn === game.last);
    this.steps.show(turn, game.last);
    this.said.textContent = play ? texts.announced(turn, game.offer.players[play.seat], game.moves[turn - 1] ?? "", play.score, play.scores) : texts.noMoves;
    this.tick();
  }

  tick() {
    if (this.game && this.id_) this.sides.tick(this.game.clocksAt(performance.now()));
  }
}

/** A game of two bots, told as the server tells one. @returns {Promise<import("./game.js").Told>} */
const example = async () => {
  const answer = await fetch(new URL("example.json", import.meta.url)).catch(() => null);
  if (!answer?.ok) throw new Trouble(texts.unreachable, 0);
  /** @type {Example} */
  const { players, lexicon, moves, scores, board, tiles } = await answer.json();
  const sums = pair(0, 0), none = pair(0, 0);
  const history = moves.map(([move, score], at) => {
    const seat = /** @type {0 | 1} */ (at % 2);
    sums[seat] += score;
    return { seq: at + 1, seat, move, score, scores: pair(...sums), bag: 0, clocks: none, think_ms: 0 };
  });
  const rules = { name: "english", rack_size: 7, bingo_bonus: 50, exchange_minimum: 7, challenge: "none" };
  const offer = { seq: 1, players, lexicon, rules, time: { initial_ms: 0, increment_ms: 0 }, clocks: none, opening: null, history };
  const over = { outcome: "out", winner: null, scores, message: "", racks: pair("", ""), rack_adjustments: none, time_penalties: none };
  return { begun: null, offer, over, turns: null, board, tiles };
};

/** @template Each @param {Each} one @param {Each} other @returns {[Each, Each]} */
const pair = (one, other) => [one, other];

customElements.define("small-game", SmallGame);
