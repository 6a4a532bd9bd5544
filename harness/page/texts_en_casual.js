// What is said to a person who plays: what is chosen, a game, casual games, one's own games.

import { counted } from "./formats.js";

/** What is at stake after a refusal. @param {number} left attempts */
const soManyLeft = (left) => (left === 1 ? "One more such move loses the game." : `${left} more such moves lose the game.`);

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const casual = {
  // what is chosen
  wins: (/** @type {number} */ percent) => `${Math.round(percent)} %`,
  weakest: "From weak to strong. Percentages are of games won against static, as measured; bots that simulate had 2 s a move.",
  weakestRated: "From weak to strong, with their ratings here; those without one come last.",
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

  // a person's game
  yourMoveTitle: "Your move – tilewire",
  yourName: "Your name",
  token: "Token",
  tokenNeeded: "This server asks for a token",
  tokenWanted: "Keep the name for yourself (optional)",
  tokenNote: "A name that was used with a token works with that token only, from anywhere. Keep the token: nobody can give it to you again.",
  makeToken: "Make a token",
  atTable: "Table",
  tableKind: (/** @type {string} */ name, /** @type {string} */ rules, /** @type {string} */ lexicon) => `${name} (rules: ${rules}, words: ${lexicon})`,
  anyone: "anyone",
  anyoneNote: "whoever waits for a game here",
  somebody: "somebody by name:",
  nameOfOther: "Name of your opponent",
  startGame: "Start",
  waits: "Waiting for the opponent …",
  waitsFor: (sentence) => `Waiting: ${sentence}.`,
  yourTurn: "Your turn.",
  theirTurn: "The opponent is thinking.",
  sending: "Your move is on its way …",
  /** @param {string} name @param {string} move @param {number} score */
  theirMove: (name, move, score) => `${name}: ${move}, ${counted(score, "point")}.`,
  /** @param {string} why @param {number} left */
  moveRefused: (why, left) => `That can't be played: ${why}. ${soManyLeft(left)}`,
  /** @param {string} why @param {number} left */
  challengeRefused: (why, left) => `That can't be challenged: ${why}. ${soManyLeft(left)}`,
  youWin: "You win",
  youLose: "You lose",
  youResigned: "you resigned",
  challenge: "Challenge",
  accept: "Accept",
  mayChallenge: "You may challenge the last play.",
  /** @param {number} seconds */
  timeToChallenge: (seconds) => `${seconds} s left`,
  yoursCameOff: "Your play was challenged off.",
  theirsCameOff: "The play comes off.",
  youLoseTurn: "The play stands, and you lose your turn.",
  theyLoseTurn: (name) => `${name} challenged in vain and loses the turn.`,
  /** @param {string} name @param {number} points */
  yoursStands: (name, points) => `${name} challenged in vain${points ? `: ${counted(points, "point")} for you` : ""}.`,
  /** @param {string} name @param {number} points */
  theirsStands: (name, points) => `The play stands${points ? `: ${counted(points, "point")} for ${name}` : ""}.`,
  resign: "Resign",
  reallyResign: "Resign: sure?",
  sounds: "Sounds",
  lowTime: "Less than a minute is left on your clock.",
  playAgain: "Again, seats swapped",
  otherOpponent: "Another opponent",
  lookBack: "The game, turn by turn",
  playsElsewhere: "You are playing in another window now; the newest one counts.",
  playHere: "Play here",
  gameIsGone: "Your last game is no longer on this server.",
  draws: {
    proven: "Draws checked: nobody chose the tiles. All follow from numbers that both sides had committed to before the first draw.",
    partly: "Draws checked: the server alone did not choose the tiles. Your opponent's number was not fixed before yours was known.",
    uncommitted: "The draws can't be checked: the server committed to nothing.",
    unseen: "The draws can't be checked here: this browser did not see the game begin.",
    opening: "The draws of games that begin in a position are not checked here.",
    challenges: "The draws of games with challenges are not checked here.",
    insecure: "The draws can't be checked here: browsers do that over HTTPS only, or on the server's own machine.",
    closed: "The draws can't be checked: the server does not reveal its secret.",
    changed: "The draws may have been chosen: the server changed what it had committed to.",
    secret: "The draws may have been chosen: the secret is not the number that the server had committed to.",
    nonce: "The draws may have been chosen: a player's number is not the one that was committed to.",
    dealt: "The draws may have been chosen: tiles were drawn that do not follow from the numbers.",
  },
};
