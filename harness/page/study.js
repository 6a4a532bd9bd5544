// A study: a position, the moves tried from it as a tree, and what was noted. Values that never change: each edit
// returns another study. No elements.

import { bare, blankFor, capitalOf, leaveOf, onRack, pointsOf, readMove, readOpening, tilesOf, usedBy, withMove } from "./notation.js";
import { beside, lineThrough, placementOf, squareName } from "./scoring.js";
import { studyTexts as texts } from "./study_texts.js";

/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */
/** @typedef {0 | 1} Seat */
/** @typedef {{ board: Board, racks: [string, string], scores: [number, number], onTurn: Seat, zeros: number }} Position By seat;
 *   `racks`: as far as known; `zeros`: scoreless turns in a row. */
/** @typedef {{ seat: Seat, move: string, score: number, rack: string, note: string, clock: string, next: Node[] }} Node
 *   A move of a seat: as the server writes it, `--` (taken off), or a line of a score sheet in brackets; `rack`: what
 *   the seat holds then, as far as known; `next`: the moves after it, those of the main line first. */
/** @typedef {{ isGame: boolean, title: string, lexicon: string, rules: string, players: [string, string], start: Position, note: string, next: Node[], other: string[] }} Study
 *   `isGame`: a game is entered; `rules`: their name, empty where the lexicon tells; `other`: lines of its file that are not ours. */
/** @typedef {number[]} Path From the start: which of the moves each time. */
/** @typedef {{ squares: number[], text: string }} Fault */

export const VERSION = 1;
const RACK_SIZE = 7;

/** @returns {Position} */
export const emptyPosition = () => ({ board: new Map(), racks: ["", ""], scores: [0, 0], onTurn: 0, zeros: 0 });

/** @param {Partial<Study>} [given] @returns {Study} */
export const newStudy = (given = {}) => ({
  isGame: false, title: "", lexicon: "", rules: "", players: [...texts.players], start: emptyPosition(), note: "", next: [], other: [], ...given,
});

// --- the tree ---

/** @param {Study} study @param {Path} path @returns {Node | Study | undefined} */
export const nodeAt = (study, path) => path.reduce((/** @type {Node | Study | undefined} */ node, index) => node?.next[index], study);

/** The path as far as it leads. @param {Study} study @param {Path} path */
export const within = (study, path) => path.slice(0, path.findIndex((_, at) => !nodeAt(study, path.slice(0, at + 1))) >>> 0);

/** The path on to the end of its line. @param {Study} study @param {Path} path @returns {Path} */
export const toEnd = (study, path) => (nodeAt(study, path)?.next.length ? toEnd(study, [...path, 0]) : path);

/** Change the start or a move. @template {Study | Node} T @param {T} node @param {Path} path @param {(node: any) => object} change @returns {T} */
export const changed = (node, [index, ...rest], change) => (index === undefined ? { ...node, ...change(node) }
  : { ...node, next: node.next.map((each, at) => (at === index ? changed(each, rest, change) : each)) });

/** @param {Study} study @param {Path} path */
const nodesOn = (study, path) => path.flatMap((_, at) => /** @type {Node[]} */ (nodeAt(study, path.slice(0, at + 1)) ?? []));

/** The position after the moves of a path, and the one before the last. @param {Study} study @param {Path} path @param {number} columns @returns {{ position: Position, before: Position | null }} */
export const reached = (study, path, columns) => {
  let position = study.start, before = null;
  for (const node of nodesOn(study, path)) [before, position] = [position, after(position, before, node, columns)];
  return { position, before };
};

/** @template T @param {[T, T]} pair @param {Seat} seat @param {T} value @returns {[T, T]} */
export const withSeat = ([first, second], seat, value) => (seat ? [first, value] : [value, second]);

/** Whether a move is one of the score sheet's, which lays, draws and passes nothing. @param {string} move */
export const isEntry = (move) => move === "--" || move.startsWith("(");

/** @param {Position} position @param {Position | null} before @param {Node} node @param {number} columns @returns {Position} */
const after = (position, before, { seat, move, score, rack }, columns) => ({
  board: move === "--" ? before?.board ?? position.board : isEntry(move) ? position.board : withMove(position.board, readMove(move, columns)),
  racks: move.startsWith("(") ? position.racks : withSeat(position.racks, seat, rack),
  scores: withSeat(position.scores, seat, position.scores[seat] + score),
  onTurn: seat ? 0 : 1,
  zeros: move === "--" ? (before?.zeros ?? 0) + 1 : move.startsWith("(") ? position.zeros : score ? 0 : position.zeros + 1,
});

// --- edits ---

/** Say what a seat holds from its last move on. @param {Study} study @param {Path} path @param {Seat} seat @param {string} rack @returns {Study} */
export const withRack = (study, path, seat, rack) => {
  const last = nodesOn(study, path).map((node) => !node.move.startsWith("(") && node.seat === seat).lastIndexOf(true);
  if (last >= 0) return changed(study, path.slice(0, last + 1), () => ({ rack }));
  return { ...study, start: { ...study.start, racks: withSeat(study.start.racks, seat, rack) } };
};

/** Add a move after a path, or find it there. @param {Study} study @param {Path} path @param {Omit<Node, "note" | "clock" | "next">} given @returns {{ study: Study, path: Path }} */
const added = (study, path, given) => {
  const next = nodeAt(study, path)?.next ?? [];
  const known = next.findIndex(({ seat, move }) => seat === given.seat && move === given.move);
  if (known >= 0) return { study, path: [...path, known] };
  const node = { ...given, note: "", clock: "", next: [] };
  return { study: changed(study, path, () => ({ next: [...next, node] })), path: [...path, next.length] };
};

/**
 * Play a move: a placement, `-ABC`, `-3`, `-`. What its player used it held, whatever was known before.
 * @param {Study} study @param {Path} path @param {string} move @param {number} score @param {Equipment} equipment
 */
export const play = (study, path, move, score, { layout, rackSize = RACK_SIZE }) => {
  const { position } = reached(study, path, layout.columns), seat = position.onTurn;
  const read = readMove(move, layout.columns), used = usedBy(read), held = position.racks[seat];
  const all = held + leaveOf(used.join(""), tilesOf(held)), rack = all !== held && tilesOf(all).length > rackSize ? used.join("") : all;
  const isUnknown = read.kind === "exchange" && !read.tiles;
  const known = rack === held ? study : withRack(study, path, seat, rack);
  return added(known, path, { seat, move, score, rack: isUnknown ? "" : leaveOf(rack, used) });
};

/** What the last move was challenged for, or how the game ended: a line of the score sheet.
 * @param {Study} study @param {Path} path @param {string} move `--`, `(challenge)`, `(time)` or a rack in brackets @param {number} score @param {Seat} seat
 * @param {number} columns */
export const enter = (study, path, move, score, seat, columns) => {
  const { before } = reached(study, path, columns), last = nodesOn(study, path).at(-1);
  if (move !== "--" || !last || !before) return added(study, path, { seat, move, score, rack: "" });
  const rack = before.racks[last.seat]; // nothing was drawn yet
  const known = changed(study, path, () => ({ rack: leaveOf(rack, usedBy(readMove(last.move, columns))) }));
  return added(known, path, { seat: last.seat, move, score: -last.score, rack });
};

/** Whether the last racks were settled. @param {Study} study @param {Path} path */
export const isSettled = (study, path) => nodesOn(study, path).some(({ move }) => /^\((?!challenge|time)/.test(move));

/** Whether the last move of a path can be challenged. @param {Study} study @param {Path} path */
export const isPlay = (study, path) => {
  const last = nodesOn(study, path).at(-1);
  return Boolean(last && !isEntry(last.move) && !last.move.startsWith("-"));
};

/** Take a move and all that follows out. @param {Study} study @param {Path} path @returns {{ study: Study, path: Path }} */
export const without = (study, path) => {
  const parent = path.slice(0, -1), gone = path.at(-1);
  return { study: changed(study, parent, ({ next }) => ({ next: next.filter((/** @type {Node} */ _, /** @type {number} */ at) => at !== gone) })), path: parent };
};

/** Make a variation the main line, from where it leaves it on. @param {Study} study @param {Path} path @returns {{ study: Study, path: Path }} */
export const promoted = (study, path) => {
  const at = path.map((each) => each > 0).lastIndexOf(true), index = path[at];
  if (index === undefined) return { study, path };
  const first = (/** @type {{ next: Node[] }} */ { next }) => ({ next: [next[index], ...next.filter((_, each) => each !== index)] });
  return { study: changed(study, path.slice(0, at), first), path: path.map((each, depth) => (depth === at ? 0 : each)) };
};

/** The moves of a path alone, without notes. @param {Study} study @param {Path} path @returns {Study} */
export const alone = (study, path) => {
  const moves = nodesOn(study, path), next = moves.reduceRight((/** @type {Node[]} */ after, node) => [{ ...node, note: "", clock: "", next: after }], []);
  return { ...study, note: "", other: [], next };
};

/** A study that starts where another has come to. @param {Study} study @param {Position} start @returns {Study} */
export const startingAt = (study, start) => ({ ...study, isGame: false, start, note: "", other: [], next: [] });

/** How the rules settle the last racks. @param {Position} position @param {Equipment} equipment @returns {{ seat: Seat, move: string, score: number }[]} */
export const settlement = (position, equipment) => {
  const value = (/** @type {string} */ rack) => tilesOf(rack).reduce((sum, tile) => sum + pointsOf(tile, equipment.tiles), 0);
  const rest = unseen(position, equipment, []), count = rest.reduce((sum, [, each]) => sum + each, 0);
  const out = position.onTurn ? 0 : 1;
  if (!position.racks[out] && count <= (equipment.rackSize ?? RACK_SIZE)) {
    const left = rest.map(([tile, each]) => tile.repeat(each)).join("");
    return [{ seat: out, move: `(${left})`, score: 2 * value(left) }];
  }
  return /** @type {const} */ ([0, 1]).flatMap((seat) => (position.racks[seat]
    ? [{ seat, move: `(${position.racks[seat]})`, score: -value(position.racks[seat]) }] : []));
};

// --- what a position is ---

/** Tiles that are neither on the board nor on the racks of some seats. @param {Position} position @param {Equipment & { tiles: { count: number }[] }} equipment @param {Seat[]} seats @returns {[string, number][]} */
export const unseen = ({ board, racks }, { tiles }, seats) => {
  const left = new Map(tiles.map(({ tile, count }) => [tile, count]));
  for (const tile of [...[...board.values()].map(onRack), ...seats.flatMap((seat) => tilesOf(racks[seat]))]) left.set(tile, (left.get(tile) ?? 0) - 1);
  return [...left].filter(([, count]) => count > 0);
};

/** What can't be in a position, by the squares where it shows. @param {Position} position @param {Equipment} equipment @returns {Fault[]} */
export const faultsOf = ({ board, racks }, { layout, tiles, rackSize = RACK_SIZE }) => {
  const held = racks.map(tilesOf), used = [...[...board.values()].map(onRack), ...held.flat()];
  const tooMany = [...new Set(used)].flatMap((tile) => {
    const count = used.filter((each) => each === tile).length, limit = tiles.find((each) => each.tile === tile)?.count;
    if (count <= (limit ?? 0)) return [];
    const squares = [...board.keys()].filter((at) => onRack(board.get(at) ?? "") === tile);
    return [{ squares, text: limit === undefined ? texts.noSuchTile(tile) : texts.tooMany(tile, count, limit) }];
  });
  const tooLong = held.flatMap(({ length }) => (length > rackSize ? [{ squares: [], text: texts.rackTooLong(length, rackSize) }] : []));
  const left = new Set(board.keys()), from = board.has(layout.start) ? layout.start : [...board.keys()][0], queue = from === undefined ? [] : [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) if (left.delete(at)) queue.push(...beside(layout, at).filter((other) => left.has(other)));
  const apart = [...left].sort((one, other) => one - other), isOff = board.size > 0 && !board.has(layout.start);
  return [
    ...tooMany, ...tooLong,
    ...(apart[0] === undefined ? [] : [{ squares: apart, text: texts.apart(squareName(layout.columns, apart[0], true), !tooMany.length && !tooLong.length) }]),
    ...(isOff ? [{ squares: [layout.start], text: texts.startEmpty }] : []),
  ];
};

/** The words through a square, across and down. @param {Board} board @param {number} at @param {Equipment} equipment @param {(tile: string) => string} capital */
export const wordsAt = (board, at, { layout }, capital) => [true, false].flatMap((across) => {
  const { first, last, step } = lineThrough(layout, board, at, across);
  const squares = Array.from({ length: (last - first) / step + 1 }, (_, index) => first + index * step);
  return squares.length > 1 && board.has(at) ? [squares.map((each) => capital(board.get(each) ?? "")).join("")] : [];
});

/** Why nothing can be played from the rack on turn; empty: something can. @param {Position} position @param {Equipment} equipment */
export const rackFault = ({ racks, onTurn }, { rackSize = RACK_SIZE }) => {
  const { length } = tilesOf(racks[onTurn]);
  return length > rackSize ? texts.rackTooLong(length, rackSize) : "";
};

/** Read a move that is typed: `8D WORD`, `-ABC`, `-3`, `-`. Letters that lie there already may be named. Return a sentence if it is none.
 * @param {string} text @param {Position} position @param {Equipment} equipment @returns {{ move: string, score: number } | string} */
export const readTyped = (text, position, equipment) => {
  const { board, racks, onTurn } = position, fault = rackFault(position, equipment);
  if (fault) return fault;
  const said = text.trim().replace(/^(?:exchanges?|ex)\s+/i, "-").replace(/^pass(?:es)?$/i, "-");
  const [square = "", word = "", ...more] = said.split(/\s+/), { columns, letter } = equipment.layout;
  if (/^-\S*$/.test(square) && !word) return { move: square.toUpperCase(), score: 0 };
  const at = /^(\d{1,2})([A-Z])$/i.exec(square) ?? /^([A-Z])(\d{1,2})$/i.exec(square);
  if (!at || !word || more.length) return texts.noMove;
  const placed = new Map(), read = readMove(`${square.toUpperCase()} ${unbracketed(word)}`, columns);
  if (read.kind !== "place") return texts.noMove;
  const isSmall = word === word.toLowerCase(), left = tilesOf(racks[onTurn]); // typed without a thought of capitals
  for (const [where, tile] of read.squares) {
    if (!(where < letter.length)) return texts.offBoard;
    const lies = board.get(where), meant = capitalOf(tile, equipment.tiles);
    if (lies === undefined) placed.set(where, isSmall ? taken(meant, left, equipment) : tile);
    else if (tile !== "." && capitalOf(lies, equipment.tiles) !== meant) return texts.holds(squareName(columns, where, false), bare(lies).toUpperCase(), bare(meant));
  }
  const made = [...placed.values()].includes(".") ? texts.noMove : placementOf(equipment, board, placed);
  return typeof made === "string" ? made : { move: made.move, score: made.score };
};

/** Take a tile from those that are left: a blank only where they lack it. @param {string} tile @param {string[]} left @param {Equipment} equipment */
const taken = (tile, left, { tiles }) => {
  const isBlank = !left.includes(tile) && left.includes("?"), at = left.indexOf(isBlank ? "?" : tile);
  if (at >= 0) left.splice(at, 1);
  return isBlank && tile !== "." ? blankFor(tile, tiles) : tile;
};

/** A word whose letters in brackets are those that lay there. @param {string} word */
export const unbracketed = (word) => word.replace(/\(([^)]*)\)/g, (_, inner) => ".".repeat(tilesOf(inner).length));

// --- CGP ---

/** A position as CGP, the seat on turn first. @param {Position} position @param {Equipment} equipment @param {string} lexicon @param {boolean} [isHidden] whether the other rack is left out */
export const cgpOf = ({ board, racks, scores, onTurn, zeros }, { layout: { columns, letter } }, lexicon, isHidden = false) => {
  const rows = Array.from({ length: letter.length / columns }, (_, row) => {
    let text = "", gap = 0;
    for (let at = row * columns; at < (row + 1) * columns; at++) {
      const tile = board.get(at);
      if (tile === undefined) gap += 1;
      else [text, gap] = [`${text}${gap || ""}${tile}`, 0];
    }
    return `${text}${gap || ""}`;
  });
  const other = onTurn ? 0 : 1;
  return `${rows.join("/")} ${racks[onTurn]}/${isHidden ? "" : racks[other]} ${scores[onTurn]}/${scores[other]} ${zeros}${lexicon ? ` lex ${lexicon};` : ""}`;
};

/** @param {string} text @returns {Study} */
export const fromCgp = (text) => {
  const { board, racks, scores } = readOpening(text.trim());
  return newStudy({ lexicon: / lex ([^;\s]+)/.exec(text)?.[1] ?? "", start: { board, racks, scores, onTurn: 0, zeros: Number(text.trim().split(/\s+/)[3]) || 0 } });
};

// --- undo ---

/** Values that were, and those that were taken back. @template T */
export class History {
  /** @param {T} value */
  constructor(value) {
    this.value = value;
    /** @type {T[]} */
    this.past = [];
    /** @type {T[]} */
    this.future = [];
    this.key = "";
  }

  /** Go on to another value. @param {T} value @param {string} [key] of edits that are taken back together: what is typed into a field */
  push(value, key = "") {
    if (!key || key !== this.key) this.past.push(this.value);
    [this.value, this.future, this.key] = [value, [], key];
  }

  /** @param {boolean} [isBack] else forward: take back what was taken back */
  step(isBack = true) {
    const [from, to] = isBack ? [this.past, this.future] : [this.future, this.past], value = from.pop();
    if (value === undefined) return false;
    to.push(this.value);
    [this.value, this.key] = [value, ""];
    return true;
  }
}

/** A typed rack as its tiles: capitals, a blank as `?`. @param {string} text @param {import("./notation.js").Tiles} tiles */
export const rackOf = (text, tiles) => tilesOf(text.replace(/[\s,.]/g, "")).map((tile) => (tile === "_" || tile === "*" ? "?" : tiles.some((each) => each.tile === tile) ? tile : tile.toUpperCase())).join("");
