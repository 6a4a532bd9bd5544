// What is said of casual games and of one's own games.

import { counted } from "./formats.js";

export const casual = {
  // what is chosen
  wins: (/** @type {number} */ percent) => `${Math.round(percent)} %`,
  weakest: "From weak to strong. Percentages are of games won against static, as measured; bots that simulate had 0.3 s a move.",
  weakestRated: "From weak to strong, with their ratings here.",
  casual: "Against a bot you may have hints and take moves back; it counts for no rating.",
  clock: "Clock of each player",
  from: (/** @type {number} */ own, /** @type {number} */ other, /** @type {string} */ rack) => `The game goes on from your position: ${own} to ${other} for the player to move${rack ? `, who holds ${rack}` : ""}. Your opponent's tiles are drawn anew.`,
  side: "You play",
  sides: ["the player to move", "the other player"],
  fromStart: "Play from the beginning instead",

  // a casual game
  hint: "Hint",
  moreHint: "The move",
  looking: "Looking for a good move …",
  hinted: (/** @type {string} */ move, /** @type {number} */ score) => `Best: ${move}, ${counted(score, "point")}.`,
  noHint: (/** @type {string} */ why) => `No hint: ${why}`,
  takeBack: "Take back",
  takeBackNote: "Goes back to the position before your last move. The clocks begin anew, and your opponent draws other tiles.",
  nothingBack: "There is no move of yours to take back.",
  unknownRack: "Your move can't be taken back: this browser did not see what you held before it.",
  goesOnFrom: (/** @type {number} */ turn) => (turn ? `Goes on after turn ${turn} of the game before` : "Goes on from the start of the game before"),
  fromPosition: "The game began in a position.",
  playFrom: "Play on from here",

  // the turns before
  past: (/** @type {number} */ turn, /** @type {number} */ of) => `After turn ${turn} of ${of}. The game goes on meanwhile.`,
  toPresent: "Back to the game",
  keys: "Ctrl with arrow keys steps through the turns.",

  // one's own games
  own: "Your games",
  ownNote: "This browser keeps them.",
  unfinished: "Your unfinished game",
  against: (/** @type {string} */ opponent, /** @type {number} */ own, /** @type {number} */ other) => `against ${opponent}, ${own} to ${other}`,
  goOn: "Go on",
  forget: "Forget",
  wonLost: "Won – lost – tied",
  average: "Average",
  lastGames: "The last games",
  withHelp: "with hints",
  /** @type {Record<string, string>} */
  results: { won: "won", lost: "lost", tied: "tied", void: "no result", left: "taken back" },
};
