// What is known of a game that is being reviewed: its turns, what each came to, what is to be kept of it.

import { readMove, readOpening } from "./notation.js";
import { moveText, namedMove } from "./game.js";
import { texts } from "./texts.js";
import { verdictText, whyText } from "./verdict.js";

/** @typedef {import("./game.js").TileKind} TileKind */
/** @typedef {import("./game.js").Layout} Layout */
/** @typedef {{ line: number, seq: number, seat: 0 | 1, cgp: string, rack: string, played: string | null, score: number | null, computed?: number | null, left_out: string | null }} Turn `computed`: by the rules. */
/** @typedef {{ line: number, reason: string, taken: string }} Notice */
/** @typedef {{ title: string, players: string[], notice: string, notices?: Notice[], gcg: string | null, scores: [number, number], turns: Turn[],
 *   board: Layout, tiles: TileKind[], rack_size: number, bingo_bonus: number }} Told */
/** @typedef {{ move: string, win: number, win_error: number | null, points: number, points_error: number | null,
 *   width?: number, clear?: boolean, by_points?: boolean, level?: boolean, near?: boolean }} Lead `width` of its interval to each side, in errors; `clear`: the
 *   interval excludes 0, of points if they tell the moves apart (`by_points`); `level`: the chances to win are the same; `near`:
 *   they differ by less than 3 %, with the interval. */
/** @typedef {{ rank: number, move: string, score: number, leave: string, static: number, win: number | null, win_error: number | null,
 *   equity: number | null, equity_error: number | null, samples: number, proven?: boolean, phony?: boolean, behind?: Lead | null }} Candidate `behind`: the lead of the best; `proven`: by a solver, with few tiles in the bag or none. */
/** @typedef {{ wins: number, draws: number, losses: number, proven: boolean }} Outcome Shares of the cases with one bag. */
/** @typedef {{ model: string, cases: number, moves: number, compared: number, proven: number, settled: boolean,
 *   by_bag: { bag: string, weight: number, best: Outcome, played: Outcome | null }[] }} PreEndgame What a solver found with one or two tiles in the bag. */
/** @typedef {{ turns: number, score: number }} Ply */
/** @typedef {{ leave: string, worth: number }} Kept */
/** @typedef {{ code: "bingo" | "score" | "leave" | "reply", value: number, kept: [Kept, Kept] | null }} Reason Above 0 it speaks for the best. */
/** @typedef {{ code: "not_words" | "taken_back", words: string[], lexicon: string }} Phony Why a move is a phony. */
/** @typedef {"best" | "good" | "small" | "medium" | "large"} Grade Of a turn, by its chance lost. */
/** @typedef {{ best: string, rivals: string[], known: boolean, certain: boolean, ahead_of_next: Lead | null, ahead_of_rival: Lead | null,
 *   ahead_of_played: Lead | null, grade?: Grade | null, reasons: Reason[] | null, phony: Phony | null, not_compared: string | null, proven: boolean | null }} Verdict */
/** @typedef {{ line: number, cgp: string, candidates: Candidate[], verdict: Verdict, plies: number | null, exact: boolean, pre_endgame?: PreEndgame | null,
 *   rollouts: number, compared: number, nodes: number, seconds: number, replies: { best: Ply, played: Ply } | null }} Findings */
/** @typedef {import("./boxes.js").Mistake} Mistake */
/** @typedef {{ turns: number, best: number, win: number, win_error: number, points: number, points_error: number, mistakes: Grade[] }} Total Means over turns, with their standard errors. */

export class Review {
  /** @param {Told} told @param {string} game its number on the server; empty for another's */
  constructor(told, game) {
    this.told = told;
    this.game = game;
    this.equipment = { layout: told.board, tiles: told.tiles, rackSize: told.rack_size, bingo: told.bingo_bonus };
    /** @type {Map<number, Findings>} By line. */
    this.found = new Map();
    /** @type {Map<number, { text: string, best_in: number, racks: unknown[], cost: Lead | null }>} Of turns whose racks are not recorded, by line. */
    this.overRacks = new Map();
    /** @type {Map<number, string>} Why turns were left out, by line. */
    this.leftOut = new Map();
    for (const { line, left_out } of told.turns) if (left_out) this.leftOut.set(line, left_out);
  }

  /** What the game was played with, as the key of mistakes. */
  get kind() {
    const { layout, tiles, rackSize, bingo } = this.equipment;
    return [layout.columns, tiles.map(({ tile }) => tile).join(""), rackSize, bingo].join(" ");
  }

  /** How many turns are done. */
  get done() {
    return this.told.turns.filter(({ line }) => this.isDone(line)).length;
  }

  /** @param {number} line */
  turn(line) {
    return this.told.turns.find((turn) => turn.line === line) ?? null;
  }

  /** The board before a turn. @param {Turn} turn */
  board({ cgp }) {
    return readOpening(cgp).board;
  }

  /** A move as text for people. @param {string} move @param {Turn} turn */
  text(move, turn) {
    return moveText(readMove(move, this.told.board.columns), this.board(turn));
  }

  /** How the moves of a turn are named in a sentence. @param {Turn} turn @returns {(move: string) => string} */
  naming(turn) {
    return (move) => namedMove(move, this.told.board.columns, this.board(turn));
  }

  /** What the played move of a turn lost; null if that is not known. @param {number} line @returns {Lead | null} */
  loss(line) {
    return this.found.get(line)?.verdict.ahead_of_played ?? this.overRacks.get(line)?.cost ?? null;
  }

  /** Whether nothing more is to come of a turn. @param {number} line */
  isDone(line) {
    return this.found.has(line) || this.overRacks.has(line) || this.leftOut.has(line);
  }

  /** What is said of a turn without a best move. @param {number} line @returns {string} */
  instead(line) {
    const why = this.leftOut.get(line);
    return this.overRacks.get(line)?.text ?? (why ? texts.leftOutSince(why) : texts.notYet);
  }

  /** Turns, the costliest first: mistakes, then the others. */
  get costliest() {
    const weights = new Map(this.told.turns.map(({ line }) => [line, weight(this.found.get(line))]));
    const apart = (/** @type {number[]} */ one, /** @type {number[]} */ other) => one.map((value, at) => (other[at] ?? 0) - value).find(Boolean) ?? 0;
    return [...this.told.turns].sort((one, other) => apart(weights.get(one.line) ?? [], weights.get(other.line) ?? []));
  }

  /** The means of a player's turns that have a grade. @param {number} seat @returns {Total} */
  total(seat) {
    const counted = this.told.turns.filter((turn) => turn.seat === seat).flatMap(({ line }) => {
      const found = this.found.get(line), loss = this.loss(line);
      return found?.verdict.grade && loss ? [{ found, loss }] : [];
    });
    const each = (/** @type {"win" | "win_error" | "points" | "points_error"} */ key) => counted.map(({ loss }) => (loss[key] ?? 0) / counted.length);
    const sum = (/** @type {number[]} */ values) => values.reduce((all, value) => all + value, 0);
    return {
      turns: counted.length,
      best: counted.filter(({ found, loss }) => loss.move === found.verdict.best).length,
      win: sum(each("win")),
      win_error: Math.hypot(...each("win_error")),
      points: sum(each("points")),
      points_error: Math.hypot(...each("points_error")),
      mistakes: counted.flatMap(({ found: { verdict: { grade } } }) => (grade && isMistake(grade) ? [grade] : [])),
    };
  }

  /** Whether a turn clearly lost a chance to win. @param {number} line */
  isMistake(line) {
    return isMistake(this.found.get(line)?.verdict.grade);
  }

  /** A player's mistakes. @param {number} seat @param {string} when @returns {Mistake[]} */
  mistakes(seat, when) {
    const { turns } = this.told;
    return turns.flatMap(({ line, seq, seat: mover, played }, at) => {
      const found = this.found.get(line), loss = this.loss(line), last = turns[at - 1]?.played ?? null;
      if (mover !== seat || !found || !this.isMistake(line) || !loss || !played) return [];
      const { best, rivals } = found.verdict;
      return [{ position: found.cgp, played, best, rivals, lost_win: loss.win, lost_points: loss.points, game: this.game, turn: seq, when, kind: this.kind, last }];
    });
  }

  /** The game as GCG, with a note behind each turn that was analysed. */
  get annotated() {
    let line = 0;
    return (this.told.gcg ?? "").split("\n").flatMap((text) => {
      const at = text.startsWith(">") ? ++line : 0, found = this.found.get(at), turn = this.turn(at);
      const note = found && turn ? noteOf(found, this.naming(turn)) : this.overRacks.get(at)?.text;
      return note ? [text, `#note ${note}`] : [text];
    }).join("\n");
  }
}

/** @param {Grade | null | undefined} grade */
const isMistake = (grade) => grade === "small" || grade === "medium" || grade === "large";

/** @param {Findings | undefined} found */
const weight = (found) => {
  const loss = found?.verdict.ahead_of_played;
  return [isMistake(found?.verdict.grade) || found?.verdict.phony ? 1 : 0, loss ? 1 : 0, found ? 1 : 0, loss?.win ?? 0, loss?.points ?? 0];
};

/** @param {Findings} found @param {(move: string) => string} name */
const noteOf = (found, name) => {
  const { reasons } = found.verdict;
  return [verdictText(found, name), ...(reasons ? [`${texts.whyBest} ${whyText(reasons)}.`] : [])].join(" ");
};
