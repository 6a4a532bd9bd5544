// What is known of a puzzle: `tilewire puzzles make` wrote it (docs/files.md). No elements.

import { namedMove } from "./game.js";
import { inBrowser } from "./kept.js";
import { fullPlace, readMove, readOpening, tilesOf, withMove } from "./notation.js";
import { texts } from "./texts.js";

/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */
/** @typedef {"endgame" | "preendgame"} Kind */
/** @typedef {{ id: string, kind: Kind }} Listed */
/** @typedef {{ lexicon: string, equipment: Equipment, puzzles: Listed[] }} Index */
/** @typedef {[string, number][]} Line Moves and their scores. */
/** @typedef {{ position: string, best: string, static: string, loss: number }} Common */
/** @typedef {Common & { kind: "endgame", id: string, line: Line, spread: number, replies: string[], moves: [number, number, string][] }} EndgameTold */
/** @typedef {Common & { kind: "preendgame", id: string, bag: [string, number][], lines: [Line, number][], moves: [string, string][] }} PreEndgameTold */
/** @typedef {"solved" | "helped" | "missed"} Result */
/** @typedef {{ spread: number, reply: string }} EndgameAnswer */

const FILES = { endgame: "endgames.json", preendgame: "preendgames.json" };
const WORTH = /** @type {Record<string, number>} */ ({ W: 1, D: 0.5, L: 0, "?": 1 });

/** @param {string} file @returns {Promise<any>} */
const read = async (file) => {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return answer.json();
};

/** @returns {Promise<Index>} */
export const readIndex = async () => {
  const { lexicon, board, tiles, puzzles } = await read("puzzles.json");
  return { lexicon, equipment: { layout: board, tiles }, puzzles };
};

/** @param {Listed} listed @param {Equipment} equipment */
export const readPuzzle = async ({ id, kind }, equipment) => {
  const told = (await read(FILES[kind]))[id];
  return told.kind === "endgame" ? new Endgame(told, equipment) : new PreEndgame(told, equipment);
};

/**
 * Two texts of the same move have the same key.
 * @param {string} move @param {number} columns @param {boolean} [isMirrored] whether rows are taken for columns
 */
export const keyOf = (move, columns, isMirrored = false) => {
  const read = readMove(move, columns);
  if (read.kind !== "place") return read.kind === "exchange" && read.tiles ? `-${tilesOf(read.tiles).sort().join("")}` : move;
  const square = (/** @type {number} */ at) => (isMirrored ? (at % columns) * columns + Math.floor(at / columns) : at);
  return read.squares.filter(([, tile]) => tile !== ".").map(([at, tile]) => `${square(at)}${tile}`).sort().join(" ");
};

/** @template {EndgameTold | PreEndgameTold} Told @template Answer */
class Puzzle {
  /** @param {Told} told @param {Equipment} equipment */
  constructor(told, equipment) {
    this.told = told;
    this.equipment = equipment;
    this.columns = equipment.layout.columns;
    this.position = readOpening(told.position);
    /** @type {Map<string, Answer>} */
    this.answers = new Map();
  }

  /** What a move leads to; undefined: it is not legal. @param {string} move */
  answer(move) {
    return this.answers.get(keyOf(move, this.columns));
  }

  /** @param {string} move @param {Board} [board] */
  text(move, board = this.position.board) {
    const read = readMove(move, this.columns);
    return read.kind === "place" ? fullPlace(read, board) : texts.pass;
  }

  /** A move as a sentence names it. @param {string} move @param {Board} [board] */
  named(move, board = this.position.board) {
    return namedMove(move, this.columns, board);
  }

  /** How many tiles the best move lays, and on which square its word begins. */
  get hints() {
    const read = readMove(this.told.best, this.columns);
    if (read.kind !== "place") return [texts.hintPass];
    return [texts.hintTiles(read.squares.filter(([, tile]) => tile !== ".").length), texts.hintSquare(read.at)];
  }

  /** The boards before, and after each move of, a line. @param {Line} line */
  boards(line) {
    return line.reduce((boards, [move]) => {
      const last = boards[boards.length - 1] ?? this.position.board;
      return [...boards, withMove(last, readMove(move, this.columns))];
    }, [this.position.board]);
  }
}

/** @extends {Puzzle<EndgameTold, EndgameAnswer>} */
export class Endgame extends Puzzle {
  /** @param {EndgameTold} told @param {Equipment} equipment */
  constructor(told, equipment) {
    super(told, equipment);
    for (const [spread, reply, moves] of told.moves) {
      for (const move of moves.split(",")) this.answers.set(keyOf(move, this.columns), { spread, reply: told.replies[reply] ?? "" });
    }
  }

  /** @param {string} move */
  isBest(move) {
    return this.loss(move) === 0;
  }

  /** @param {string} move */
  loss(move) {
    return this.told.spread - (this.answer(move)?.spread ?? this.told.spread);
  }
}

/** An answer is the outcomes by tile. @extends {Puzzle<PreEndgameTold, string>} */
export class PreEndgame extends Puzzle {
  /** @param {PreEndgameTold} told @param {Equipment} equipment */
  constructor(told, equipment) {
    super(told, equipment);
    this.unseen = told.bag.reduce((sum, [, count]) => sum + count, 0);
    for (const [outcomes, moves] of told.moves) {
      for (const move of moves.split(",")) this.answers.set(keyOf(move, this.columns), outcomes);
    }
  }

  /** The share of wins, at most. @param {string} move */
  win(move) {
    return this.wins(this.answer(move) ?? "") / this.unseen;
  }

  /** With how many tiles it wins, at most; a draw is half a win. @param {string} outcomes */
  wins(outcomes) {
    return this.told.bag.reduce((sum, [, count], index) => sum + count * (WORTH[outcomes[index] ?? "?"] ?? 1), 0);
  }

  /** @param {string} move */
  isBest(move) {
    return this.win(move) === this.win(this.told.best);
  }

  /** Whether it is the best move whose play is told. @param {string} move */
  isTold(move) {
    return keyOf(move, this.columns) === keyOf(this.told.best, this.columns);
  }

  get bestOutcomes() {
    return this.answer(this.told.best) ?? "";
  }
}

// --- progress ---

/** @returns {Record<string, Result>} */
export const results = () => inBrowser.get("puzzles") ?? {};

/** Keep how a puzzle went; what was solved stays so. @param {string} id @param {Result} result */
export const keepResult = (id, result) => {
  const known = results();
  if (known[id] !== "solved") inBrowser.set("puzzles", { ...known, [id]: result });
};
