// What tiles that are laid on a board make: the move's text, its score, the words. Whether the words
// are words is another question.

import { bare, capitalOf, pointsOf } from "./notation.js";
import { texts } from "./texts.js";

/** @import { Layout, TileKind } from "./game.js" */
/** @import { Board } from "./notation.js" */
/** @typedef {{ layout: Layout, tiles: TileKind[], rackSize?: number, bingo?: number }} Equipment Board, tiles, and
 *   the points for laying `rackSize` tiles in one turn. */
/** @typedef {{ word: string, tiles: string, score: number }} Formed A word for people, and as the server writes its tiles. */
/** @typedef {{ move: string, score: number, words: Formed[], isBingo: boolean }} Placement The main word comes first. */
/** @typedef {{ first: number, last: number, step: number }} Line Squares from the first to the last. */

const RACK_SIZE = 7, BINGO = 50;

/**
 * Return what the placed tiles make, or a sentence that says why they are no move.
 * @param {Equipment} equipment @param {Board} board without them @param {Board} placed
 * @returns {Placement | string}
 */
export const placementOf = (equipment, board, placed) => {
  const { layout, rackSize = RACK_SIZE, bingo = BINGO } = equipment;
  const all = new Map([...board, ...placed]);
  const line = mainLine(layout, all, [...placed.keys()]);
  if (typeof line === "string") return line;
  const trouble = misplaced(layout, board, placed);
  if (trouble) return trouble;
  const formed = (/** @type {Line} */ each) => scored(equipment, all, placed, each);
  const across = line.step === 1;
  const crossing = [...placed.keys()].map((at) => lineThrough(layout, all, at, !across)).filter(({ first, last }) => first < last);
  const words = [line, ...crossing].map(formed);
  const isBingo = placed.size === rackSize;
  const score = words.reduce((sum, word) => sum + word.score, isBingo ? bingo : 0);
  const tiles = squaresOf(line).map((at) => placed.get(at) ?? ".").join("");
  return { move: `${squareName(layout.columns, line.first, across)} ${tiles}`, score, words, isBingo };
};

/** The name of a square, the row first for a word across. @param {number} columns @param {number} at @param {boolean} across */
export const squareName = (columns, at, across) => {
  const column = String.fromCharCode(65 + (at % columns)), row = Math.floor(at / columns) + 1;
  return across ? `${row}${column}` : `${column}${row}`;
};

/** @param {Line} line */
const squaresOf = ({ first, last, step }) =>
  Array.from({ length: (last - first) / step + 1 }, (_, index) => first + index * step);

/**
 * The squares beside a square: left, right, above, below; those off the board are left out.
 * @param {Layout} layout @param {number} at
 */
export const beside = ({ columns, letter }, at) => {
  const column = at % columns;
  return [column > 0 ? at - 1 : -1, column < columns - 1 ? at + 1 : -1, at - columns, at + columns]
    .filter((other) => other >= 0 && other < letter.length);
};

/**
 * The run of tiles through a square.
 * @param {Layout} layout @param {Board} board @param {number} at @param {boolean} across @returns {Line}
 */
export const lineThrough = (layout, board, at, across) => {
  const step = across ? 1 : layout.columns;
  const runs = (/** @type {number} */ from, /** @type {number} */ to) => board.has(to) && beside(layout, from).includes(to);
  let first = at, last = at;
  while (runs(first, first - step)) first -= step;
  while (runs(last, last + step)) last += step;
  return { first, last, step };
};

/** @param {Layout} layout @param {Board} all @param {number[]} squares of the placed tiles @returns {Line | string} */
const mainLine = (layout, all, squares) => {
  const [one] = squares;
  if (one === undefined) return texts.placeTiles;
  const inRow = squares.every((at) => Math.floor(at / layout.columns) === Math.floor(one / layout.columns));
  const inColumn = squares.every((at) => at % layout.columns === one % layout.columns);
  if (!inRow && !inColumn) return texts.notInLine;
  const along = lineThrough(layout, all, one, inRow);
  const line = inRow && inColumn && along.first === along.last ? lineThrough(layout, all, one, false) : along;
  if (squares.some((at) => at < line.first || at > line.last)) return texts.hasGap;
  return line;
};

/** @param {Layout} layout @param {Board} board @param {Board} placed */
const misplaced = (layout, board, placed) => {
  if (board.size) return [...placed.keys()].some((at) => beside(layout, at).some((other) => board.has(other))) ? "" : texts.touchesNothing;
  if (!placed.has(layout.start)) return texts.missesStart;
  return placed.size > 1 ? "" : texts.oneTile;
};

/**
 * @param {Equipment} equipment @param {Board} all @param {Board} placed @param {Line} line
 * @returns {Formed}
 */
const scored = ({ layout: { letter, word }, tiles: kinds }, all, placed, line) => {
  let sum = 0, times = 1;
  const tiles = squaresOf(line).map((at) => {
    const tile = all.get(at) ?? "";
    const points = pointsOf(tile, kinds);
    sum += placed.has(at) ? points * (letter[at] ?? 1) : points;
    if (placed.has(at)) times *= word[at] ?? 1;
    return tile;
  });
  return { word: tiles.map(bare).join(""), tiles: tiles.map((tile) => capitalOf(tile, kinds)).join(""), score: sum * times };
};
