// Tiles, moves and positions as protocol/SPEC.md writes them (section 4).

/** @typedef {Map<number, string>} Board Tiles by the number of their square, row by row. */
/** @typedef {{ kind: "place", squares: [number, string][], at: string }} Place */
/** @typedef {{ kind: "exchange", tiles: string, count: number }} Exchange */
/** @typedef {{ kind: "pass" }} Pass */

/** @param {string} text @returns {string[]} */
export const tilesOf = (text) => text.match(/\[[^\]]*\]|./gu) ?? [];

/** @param {string} tile */
export const bare = (tile) => tile.replace(/[[\]]/g, "");

/** A tile's characters in capitals, a blank's none. @param {string} tile */
export const lettersOf = (tile) => (tile === "?" ? "" : bare(tile).toUpperCase());

/** Whether a tile on the board is a blank. @param {string} tile */
export const isBlank = (tile) => tile !== tile.toUpperCase();

/** @typedef {{ tile: string, blanked?: string }[]} Tiles Those of a set, each with how a blank for it is written. */

/** A blank for a tile. In Turkish that for I is ı, which JavaScript does not know. @param {string} tile @param {Tiles} tiles */
export const blankFor = (tile, tiles) => tiles.find((each) => each.tile === tile)?.blanked ?? tile.toLowerCase();

/** A tile or character in capitals, a blank as the tile that it stands for. @param {string} text @param {Tiles} tiles */
export const capitalOf = (text, tiles) => tiles.find(({ blanked }) => blanked === text)?.tile ?? text.toUpperCase();

/** What a tile is on a rack. @param {string} tile */
export const onRack = (tile) => (isBlank(tile) ? "?" : tile);

/** How many are left of each tile of a set that has some left. @param {{ tile: string, count: number }[]} tiles @param {string[]} seen on racks and on the board @returns {[string, number][]} */
export const leftOf = (tiles, seen) => {
  const gone = seen.map(onRack);
  return tiles.map(({ tile, count }) => /** @type {[string, number]} */ ([tile, count - gone.filter((each) => each === tile).length])).filter(([, count]) => count > 0);
};

/** What a tile scores, a blank nothing. @param {string} tile @param {{ tile: string, points: number }[]} tiles */
export const pointsOf = (tile, tiles) => tiles.find((each) => each.tile === tile)?.points ?? 0;

/** @param {string} move @param {number} columns @returns {Place | Exchange | Pass} */
export const readMove = (move, columns) => {
  if (move === "-") return { kind: "pass" };
  if (move.startsWith("-")) {
    const tiles = move.slice(1);
    return /^\d+$/.test(tiles)
      ? { kind: "exchange", tiles: "", count: Number(tiles) }
      : { kind: "exchange", tiles, count: tilesOf(tiles).length };
  }
  const [at = "", word = ""] = move.split(" ");
  const column = at.replace(/\d/g, "").toUpperCase().charCodeAt(0) - 65;
  const from = (Number(at.replace(/\D/g, "")) - 1) * columns + column;
  const step = /^\d/.test(at) ? 1 : columns; // the row first: across
  const squares = tilesOf(word).map((tile, index) => /** @type {[number, string]} */ ([from + index * step, tile]));
  if (!squares.length || !Number.isInteger(from)) throw new Error(`${move} is no move`);
  return { kind: "place", squares, at };
};

/** The tiles that a move takes from a rack. @param {Place | Exchange | Pass} move */
export const usedBy = (move) => {
  if (move.kind === "place") return move.squares.map(([, tile]) => tile).filter((tile) => tile !== ".").map(onRack);
  return move.kind === "exchange" ? tilesOf(move.tiles) : [];
};

/** What is left of a rack. @param {string} rack @param {string[]} used */
export const leaveOf = (rack, used) => {
  const left = tilesOf(rack);
  for (const tile of used) {
    const index = left.indexOf(tile);
    if (index >= 0) left.splice(index, 1);
  }
  return left.join("");
};

/**
 * The text of a placement for people: tiles that lay there already are in brackets.
 * @param {Place} move @param {Board} board as it was before
 */
export const fullPlace = (move, board) => {
  const word = move.squares.map(([square, tile]) => (tile === "." ? `(${bare(board.get(square) ?? ".")})` : bare(tile)));
  return `${move.at} ${word.join("").replaceAll(")(", "")}`;
};

/** @param {Board} board @param {Place | Exchange | Pass} move @returns {Board} */
export const withMove = (board, move) => {
  if (move.kind !== "place") return board;
  const after = new Map(board);
  for (const [square, tile] of move.squares) if (tile !== ".") after.set(square, tile);
  return after;
};

/** The squares that were empty before; none where nothing was before. @param {Board} board @param {Board | undefined} before */
export const freshOn = (board, before) => new Set(before ? [...board.keys()].filter((square) => !before.has(square)) : []);

/** The seat to move is the first in racks and scores. @param {string | null} cgp @returns {{ board: Board, racks: [string, string], scores: [number, number], exchanges: [number, number] }} */
export const readOpening = (cgp) => {
  /** @type {Board} */
  const board = new Map();
  if (!cgp) return { board, racks: ["", ""], scores: [0, 0], exchanges: [0, 0] };
  const [rows = "", racks = "/", scores = "0/0"] = cgp.split(" ");
  let square = 0;
  for (const part of rows.match(/\d+|\[[^\]]*\]|[^/]/gu) ?? []) {
    if (/^\d+$/.test(part)) square += Number(part);
    else board.set(square++, part);
  }
  const [first = 0, second = 0] = scores.split("/").map(Number);
  const [own = "", other = ""] = racks.split("/");
  const [, made = 0, theirs = 0] = (/ exchanges (\d+)\/(\d+);/.exec(cgp) ?? []).map(Number);
  return { board, racks: [own, other], scores: [first, second], exchanges: [made, theirs] };
};
