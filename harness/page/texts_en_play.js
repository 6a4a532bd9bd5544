// What is said to a person who plays.

import { counted } from "./formats.js";

/** What is at stake after a refusal. @param {number} left attempts */
const soManyLeft = (left) => (left === 1 ? "One more such move loses the game." : `${left} more such moves lose the game.`);

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const play = {
  // a person's game
  playTitle: "Play",
  yourMoveTitle: "Your move – tilewire",
  yourName: "Your name",
  token: "Token",
  tokenNeeded: "This server asks for a token",
  tokenWanted: "Keep the name for yourself (optional)",
  tokenNote: "A name that was used with a token works with that token only, from anywhere. Keep the token: nobody can give it to you again.",
  makeToken: "Make a token",
  against: "Play against",
  atTable: "Table",
  tableKind: (/** @type {string} */ name, /** @type {string} */ rules, /** @type {string} */ lexicon) => `${name} (rules: ${rules}, words: ${lexicon})`,
  /** What a bot does, as the server says it. */
  about: (sentence) => sentence,
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
  /** @param {string} verdict @param {number[]} scores @param {string} why */
  result: (verdict, scores, why) => `${verdict}, ${scores[0]} to ${scores[1]} (${why}).`,
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
  lowTime: "Less than a minute is left on your clock.",
  /** @param {string[]} words */
  noWords: (words) => `${words.join(", ")} ${words.length === 1 ? "is not a word" : "are not words"}.`,
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
