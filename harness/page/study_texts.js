// What the study says.

/** @param {number} count @param {string} one @param {string} [many] */
const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const studyTexts = {
  players: /** @type {[string, string]} */ (["First", "Second"]),

  // what can't be
  /** @param {string} tile */
  noSuchTile: (tile) => `There is no tile ${tile} in this set.`,
  /** @param {string} tile @param {number} count @param {number} most */
  tooMany: (tile, count, most) => `${count} of ${tile === "?" ? "the blanks" : tile} on the board and the racks; the set has ${most}.`,
  /** @param {number} count @param {number} most */
  rackTooLong: (count, most) => `${counted(count, "tile")} on a rack; it holds ${most}.`,
  /** @param {string} square */
  apart: (square) => `The words are apart: the tiles from ${square} on touch no others.`,
  startEmpty: "No word covers the star.",
  noMove: "That is no move. Write 8D WORD, -ABC or -3 to exchange, or - to pass.",
  offBoard: "That word leaves the board.",

  // texts that are read
  noStudy: "This is no game: it lacks the lines #player1 and #player2.",
  /** @param {string} version */
  otherVersion: (version) => `This study was written by a later tilewire (version ${version} of its form). Open it there, or save it as GCG without variations.`,
  /** @param {string} line */
  noEvent: (line) => `This line of the game can't be read: ${line}`,
  /** @param {string} version */
  otherLink: (version) => `This link is of another version of tilewire (${version.slice(0, 20)}). Ask for the position as CGP or the game as GCG, and paste it here.`,
  brokenLink: "This link is broken: a part of it is missing. Ask for it again, or paste the position or the game here.",
};
