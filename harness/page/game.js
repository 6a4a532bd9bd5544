// What is known of a game: built from /api/games/ID, carried on by the messages of the server.

import { freshOn, fullPlace, onRack, readMove, readOpening, tilesOf, withMove } from "./notation.js";
import { texts } from "./texts.js";

/** @typedef {[number, number]} Pair By seat. */
/** @typedef {{ seq: number, seat: 0 | 1, move: string, score: number, scores: Pair, bag: number, clocks: Pair, think_ms: number, challenge?: "open" | "won" | "lost" }} Played */
/** @typedef {{ seq: number, rack: string, position: string }} Asked */
/** @typedef {{ seq: number, text: string | null, candidates: Candidate[], search: Search | null, belief: Belief | null }} Info */
/** @typedef {{ name: string, rack_size: number, bingo_bonus: number, exchange_minimum: number, exchange_limit?: number, challenge: string }} Rules */
/** @typedef {{ seq: number, players: [string, string], lexicon: string, commitment?: string | null, rules: Rules, time: { initial_ms: number, increment_ms: number }, clocks: Pair | null, opening: string | null, history: Played[] }} Offer */
/** @typedef {{ outcome: string, winner: 0 | 1 | null, scores: Pair, message: string, racks: [string, string], rack_adjustments: Pair, time_penalties: Pair }} Over */
/** @typedef {{ move: string, score: number | null, equity: number | null, equity_error: number | null, win: number | null, win_error: number | null, samples: number | null }} Candidate */
/** @typedef {{ phase: string, plies: number | null, compared: number | null, rollouts: number | null, nodes: number | null, proven: boolean | null }} Search */
/** @typedef {{ top: { leave: string, prior: number, posterior: number }[], tiles: Record<string, number>, bingo: number | null, note: string | null }} Belief */
/** @typedef {{ seq: number, seat: 0 | 1, rack: string, move: string, notes: string[], candidates: Candidate[], search: Search | null, belief: Belief | null }} Reviewed */
/** @typedef {{ columns: number, letter: number[], word: number[], start: number }} Layout */
/** @typedef {{ tile: string, blanked?: string, count: number, points: number }} TileKind */
/** @typedef {{ begun: string | null, offer: Offer, over: Over | null, turns: Reviewed[] | null, board: Layout, tiles: TileKind[] }} Told */
/** @import { Board } from "./notation.js" */

/** A position of a game, after so many turns. */
/** @typedef {{ turn: number, board: Board, fresh: Set<number>, scores: Pair, clocks: Pair, bag: number | null, toMove: 0 | 1 | null, racks: [string, string] | null }} Position */

/** In place of a move, what a challenge came to: the play comes off, or it stands. */
const WITHDRAWN = "--", UPHELD = "(challenge)";

/** Whether no tile was used in a turn. @param {string} move */
export const isRuling = (move) => move === WITHDRAWN || move === UPHELD;

export const SEATS = /** @type {const} */ ([0, 1]);

export class Game {
  /** @param {Told} told @param {number} at when it was told, in milliseconds of any clock */
  constructor(told, at) {
    this.told = told;
    this.layout = told.board;
    /** Of a game that is on only for one's own screen; then the last may be the one that is on. */
    this.turns = told.turns;
    /** @type {[string, string] | null} What both hold now. */
    this.racks = null;
    this.over = told.over;
    this.offer = told.offer;
    const { rack_size: rackSize, bingo_bonus: bingo } = told.offer.rules;
    /** @type {import("./scoring.js").Equipment} What a move is made with; later offers have the same rules. */
    this.equipment = { layout: this.layout, tiles: told.tiles, rackSize, bingo };
    this.hasBegun = false;
    /** @type {Played[]} */
    this.plays = [];
    /** @type {string[]} As text for people. */
    this.moves = [];
    this.opening = readOpening(told.offer.opening);
    /** @type {Board[]} One more than there are turns. */
    this.boards = [];
    /** @type {number | null} */
    this.bag = null;
    /** @type {Pair} At the time `at`. */
    this.clocks = [0, 0];
    this.at = at;
    this.offered(told.offer, at);
  }

  /** @param {Offer} offer @param {number} at */
  offered(offer, at) {
    this.offer = offer;
    this.hasBegun = offer.seq > 0;
    this.opening = readOpening(offer.opening);
    this.boards = [this.opening.board];
    this.plays = [];
    this.moves = [];
    for (const play of offer.history) this.played(play, at);
    const open = this.turns?.[this.last];
    if (open) open.notes = []; // what was thought in it is told again
    this.clocks = offer.clocks ?? [offer.time.initial_ms, offer.time.initial_ms];
    this.at = at;
  }

  /** @param {Played} play @param {number} at */
  played(play, at) {
    const before = this.boards[this.boards.length - 1] ?? new Map();
    const full = this.turns?.[this.plays.length]?.move || play.move;
    if (isRuling(full)) {
      this.boards.push(full === WITHDRAWN ? this.boards[this.plays.length - 1] ?? before : before);
      this.moves.push(full === WITHDRAWN ? texts.challengedOff : texts.challengedInVain);
    } else {
      const move = readMove(full, this.layout.columns);
      this.boards.push(withMove(before, move));
      this.moves.push(play.challenge === "lost" ? texts.turnLost : moveText(move, before));
    }
    this.plays.push(play);
    this.bag = play.bag;
    this.clocks = play.clocks;
    this.at = at;
  }

  /**
   * Take a message of the server; return whether something was missed before it.
   * @param {any} message @param {number} at
   */
  take(message, at) {
    if (message.type === "new_game") this.offered(message, at);
    else if (message.type === "started") {
      this.hasBegun = true;
      this.bag = message.bag;
      this.clocks = message.clocks;
      this.at = at;
    } else if (message.type === "played") {
      if (message.seq > this.last + 1) return true;
      if (message.seq === this.last + 1) {
        this.hasBegun = true;
        const turn = this.turns?.[this.last];
        if (turn) turn.move = message.move;
        this.played(message, at);
      }
    } else if (message.type === "your_turn") this.asked(message);
    else if (message.type === "info") this.thought(message);
    else if (message.type === "game_over" && !this.over) {
      this.clocks = message.clocks;
      this.at = at;
      this.over = message;
    }
    return false;
  }

  /** A seat is to move; only one's own screen hears of it. @param {Asked} message */
  asked({ seq, rack, position }) {
    if (!this.turns) return;
    const seat = this.toMove(seq - 1);
    const [own, other] = readOpening(position).racks; // the first is that of the seat to move
    this.racks = seat ? [other, own] : [own, other];
    if (this.turns.length !== seq - 1) return;
    this.turns.push({ seq, seat, rack, move: "", notes: [], candidates: [], search: null, belief: null });
  }

  /** A seat says what it thinks; only one's own screen hears it. @param {Info} info */
  thought({ seq, text, candidates, search, belief }) {
    const turn = this.turns?.[seq - 1];
    if (!turn) return;
    if (text) turn.notes.push(text);
    if (candidates.length) Object.assign(turn, { candidates, search });
    turn.belief = belief ?? turn.belief;
  }

  /** Whether turns are known that are not told as they were thought. */
  get lacksTurns() {
    return this.turns !== null && this.turns.filter(({ move }) => move).length < this.last;
  }

  /** What was thought up to a turn: in it, or at the end of a game that is on in the turn after it. @param {number} turn */
  thoughtsAt(turn) {
    const next = this.over || turn < this.last ? undefined : this.turns?.[turn];
    return next?.candidates.length || next?.belief ? next : this.turns?.[turn - 1];
  }

  /** What the end of the game comes to where nobody has won. */
  get noWinner() {
    return ["no_show", "host_error"].includes(this.over?.outcome ?? "") ? texts.noResult : texts.tie;
  }

  /** How many turns were taken. */
  get last() {
    return this.plays.length;
  }

  /** @returns {0 | 1 | null} */
  get onTurn() {
    return this.over || !this.hasBegun ? null : this.toMove(this.last);
  }

  /** Who is to move after so many events: not the seat of the last. @param {number} turn @returns {0 | 1} */
  toMove(turn) {
    return this.plays[turn - 1]?.seat === 0 ? 1 : 0;
  }

  /** Both clocks now, the running one charged. @param {number} now @returns {Pair} */
  clocksAt(now) {
    /** @type {Pair} */
    const left = [this.clocks[0], this.clocks[1]];
    if (this.onTurn !== null) left[this.onTurn] -= now - this.at;
    return left;
  }

  /** The game after so many turns. @param {number} turn @returns {Position} */
  position(turn) {
    const board = this.boards[turn] ?? new Map();
    const play = this.plays[turn - 1];
    const initial = this.offer.time.initial_ms;
    const isLast = turn === this.last;
    return {
      turn,
      board,
      fresh: freshOn(board, this.boards[turn - 1]),
      scores: isLast && this.over ? this.over.scores : play?.scores ?? this.opening.scores,
      clocks: isLast ? this.clocks : play?.clocks ?? [initial, initial],
      bag: play ? play.bag : this.last === 0 ? this.bag : null,
      toMove: isLast ? this.onTurn : this.toMove(turn),
      racks: this.over ? (this.turns || isLast ? this.bothRacks(turn) : null) : this.racks && this.bothRacks(turn),
    };
  }

  /** @param {number} turn @returns {[string, string]} */
  bothRacks(turn) {
    return [this.rack(0, turn), this.rack(1, turn)];
  }

  /** What a seat held after so many turns, once that is told. @param {0 | 1} seat @param {number} turn */
  rack(seat, turn) {
    const next = this.turns?.slice(turn).find((each) => each.seat === seat);
    return next?.rack ?? (this.over?.racks ?? this.racks)?.[seat] ?? "";
  }

  /** How many tiles may be exchanged at once now. */
  get mostExchanged() {
    const bag = this.bag ?? 0;
    return bag < this.offer.rules.exchange_minimum ? 0 : bag;
  }

  /** Exchanges that a seat has left; null: as many as it likes. @param {0 | 1} seat */
  exchangesLeft(seat) {
    const limit = this.offer.rules.exchange_limit;
    if (limit === undefined) return null;
    const made = this.plays.filter((play) => play.seat === seat && /^-[^-]/.test(play.move)).length;
    return Math.max(limit - this.opening.exchanges[seat] - made, 0);
  }

  /** Tiles that are not on a board, by kind. @param {Board} board @returns {[string, number][]} */
  unseen(board) {
    const left = new Map(this.told.tiles.map(({ tile, count }) => [tile, count]));
    for (const tile of board.values()) left.set(onRack(tile), (left.get(onRack(tile)) ?? 0) - 1);
    return [...left].filter(([, count]) => count > 0);
  }

  /** Tiles in the bag: those that are neither on the board nor on full racks. @param {Position} position */
  bagAt({ board, bag, racks }) {
    if (bag !== null) return bag;
    const unseen = this.unseen(board).reduce((sum, [, count]) => sum + count, 0);
    const held = racks ? tilesOf(racks[0]).length + tilesOf(racks[1]).length : 2 * this.offer.rules.rack_size;
    return Math.max(0, unseen - held);
  }
}

/** @param {ReturnType<typeof readMove>} move @param {Board} before */
export const moveText = (move, before) => {
  if (move.kind === "pass") return texts.pass;
  if (move.kind === "place") return fullPlace(move, before);
  return texts.exchanges(move.tiles || move.count);
};

/** A move as a sentence names it. @param {string} move @param {number} columns @param {Board} before */
export const namedMove = (move, columns, before) =>
  move === "-" ? texts.aPass : move.startsWith("-") ? texts.anExchange(move.slice(1)) : moveText(readMove(move, columns), before);
