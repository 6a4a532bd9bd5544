// What is known of a puzzle: `tilewire puzzles make` wrote it (docs/files.md). No elements.
//
// What its moves lead to, and what kind of move is best, is asked for once somebody answers or asks.

import { namedMove } from "./game.js";
import { fullPlace, leftOf, readMove, readOpening, tilesOf, withMove } from "./notation.js";
import { puzzleTexts } from "./puzzle_texts.js";
import { placementOf } from "./scoring.js";
import { texts } from "./texts.js";

/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */
/** @typedef {"endgame" | "preendgame"} Kind */
/** @typedef {{ id: string, kind: Kind, rank: number, position: string }} Listed `rank`: of the best move, by score and tiles kept. */
/** @typedef {{ lexicon: string, equipment: Equipment, themes: Record<string, number>, puzzles: Listed[] }} Index `themes`: how many have each. */
/** @typedef {[string, number][]} Line Moves and their scores. */
/** @typedef {{ best: string, line: Line, spread: number, replies: string[], moves: [number, number, string][] }} EndgameTold */
/** @typedef {{ best: string, bag: [string, number][], lines: [Line, number][], moves: [string, string][] }} PreEndgameTold */
/** @typedef {{ spread: number, reply: string }} EndgameAnswer */
/** @typedef {"result" | "close" | "worse" | "far"} Goodness Of a move that is not the best. */

const FILES = { endgame: "endgames.json", preendgame: "preendgames.json" };
const WORTH = /** @type {Record<string, number>} */ ({ W: 1, D: 0.5, L: 0, "?": 1 });
/** Least losses of moves that are some way and far from the best, in points and as a share of wins. */
const WAYS = { endgame: [5, 15], preendgame: [1 / 4, 1 / 2] };

/** @param {string} file @returns {Promise<any>} */
const read = async (file) => {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return answer.json();
};

/** @returns {Promise<Index>} */
export const readIndex = async () => {
  const { lexicon, board, tiles, themes = {}, puzzles } = await read("puzzles.json");
  return { lexicon, equipment: { layout: board, tiles }, themes, puzzles };
};

/** The puzzles of each theme that tells of the best move. @returns {Promise<Record<string, string[]>>} */
export const readThemes = () => read("puzzle_themes.json");

/** A puzzle with what its moves lead to. @param {Listed} listed @param {Index} index */
export const readPuzzle = async (listed, index) => {
  const told = (await read(FILES[listed.kind]))[listed.id];
  return listed.kind === "endgame" ? new Endgame(listed, index, told) : new PreEndgame(listed, index, told);
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

/** What may be seen of a puzzle before it is solved. */
export class Puzzle {
  /** @param {Listed} listed @param {Index} index */
  constructor(listed, { equipment, lexicon }) {
    this.listed = listed;
    this.lexicon = lexicon;
    this.equipment = equipment;
    this.columns = equipment.layout.columns;
    this.position = readOpening(listed.position);
    const { board, racks } = this.position;
    /** Tiles that are neither on the board nor on the own rack. */
    this.unseen = leftOf(equipment.tiles, [...board.values(), ...tilesOf(racks[0])]);
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

  /** What a move scores on a board. @param {string} move @param {Board} board */
  score(move, board) {
    const read = readMove(move, this.columns);
    const made = read.kind === "place" && placementOf(this.equipment, board, new Map(read.squares.filter(([, tile]) => tile !== ".")));
    return made && typeof made === "object" ? made.score : 0;
  }

  /** The boards before, and after each move of, a line. @param {Line} line */
  boards(line) {
    return line.reduce((boards, [move]) => {
      const last = boards[boards.length - 1] ?? this.position.board;
      return [...boards, withMove(last, readMove(move, this.columns))];
    }, [this.position.board]);
  }
}

/** @template {EndgameTold | PreEndgameTold} Told @template Answer */
class Solved extends Puzzle {
  /** @param {Listed} listed @param {Index} index @param {Told} told */
  constructor(listed, index, told) {
    super(listed, index);
    this.told = told;
    /** @type {Map<string, Answer>} */
    this.answers = new Map();
  }

  /** What a move leads to; undefined: it is not legal. @param {string} move */
  answer(move) {
    return this.answers.get(keyOf(move, this.columns));
  }

  /** Whether it is the best move whose play is told. @param {string} move */
  isTold(move) {
    return keyOf(move, this.columns) === keyOf(this.told.best, this.columns);
  }

  /** How many tiles the best move lays, and on which square its word begins. */
  get hints() {
    const read = readMove(this.told.best, this.columns);
    if (read.kind !== "place") return [puzzleTexts.hintPass];
    return [puzzleTexts.hintTiles(read.squares.filter(([, tile]) => tile !== ".").length), puzzleTexts.hintSquare(read.at)];
  }

  /** How far off a loss is. @param {number} loss @returns {Goodness} */
  distance(loss) {
    const [some = 0, far = 0] = WAYS[this.listed.kind];
    return loss < some ? "close" : loss < far ? "worse" : "far";
  }
}

/** @extends {Solved<EndgameTold, EndgameAnswer>} */
export class Endgame extends Solved {
  /** @param {Listed} listed @param {Index} index @param {EndgameTold} told */
  constructor(listed, index, told) {
    super(listed, index, told);
    for (const [spread, reply, moves] of told.moves) {
      for (const move of moves.split(",")) this.answers.set(keyOf(move, this.columns), { spread, reply: told.replies[reply] ?? "" });
    }
  }

  /** At the end, after a move and the best play of both. @param {string} move */
  spread(move) {
    return this.answer(move)?.spread ?? this.told.spread;
  }

  /** @param {string} move */
  isBest(move) {
    return this.spread(move) === this.told.spread;
  }

  /** @param {string} move @returns {Goodness} */
  goodness(move) {
    const spread = this.spread(move);
    return Math.sign(spread) < Math.sign(this.told.spread) ? "result" : this.distance(this.told.spread - spread);
  }

  /** How it goes on after a move, as far as it is told. @param {string} move @returns {Line} */
  line(move) {
    if (this.isTold(move)) return this.told.line;
    const reply = this.answer(move)?.reply, [board, after = board] = this.boards([[move, 0]]);
    return [[move, this.score(move, this.position.board)], .../** @type {Line} */ (reply && after ? [[reply, this.score(reply, after)]] : [])];
  }
}

/** An answer is the outcomes by tile. @extends {Solved<PreEndgameTold, string>} */
export class PreEndgame extends Solved {
  /** @param {Listed} listed @param {Index} index @param {PreEndgameTold} told */
  constructor(listed, index, told) {
    super(listed, index, told);
    this.count = told.bag.reduce((sum, [, count]) => sum + count, 0);
    for (const [outcomes, moves] of told.moves) {
      for (const move of moves.split(",")) this.answers.set(keyOf(move, this.columns), outcomes);
    }
  }

  /** A letter for each tile that may be in the bag. @param {string} move */
  outcomes(move) {
    return this.answer(move) ?? "";
  }

  /** With how many tiles a move wins, at most; a draw is half a win. @param {string} move */
  wins(move) {
    return this.told.bag.reduce((sum, [, count], index) => sum + count * (WORTH[this.outcomes(move)[index] ?? "?"] ?? 1), 0);
  }

  /** @param {string} move */
  isBest(move) {
    return this.wins(move) === this.wins(this.told.best);
  }

  /** @param {string} move @returns {Goodness} */
  goodness(move) {
    return this.distance((this.wins(this.told.best) - this.wins(move)) / this.count);
  }

  /** How it goes on after a move with a tile in the bag, as far as it is told. @param {string} move @param {number} at which of the tiles @returns {Line} */
  line(move, at) {
    return (this.isTold(move) && this.told.lines[at]?.[0]) || [[move, this.score(move, this.position.board)]];
  }
}
