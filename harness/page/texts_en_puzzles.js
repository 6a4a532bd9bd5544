// What puzzles and the drill say.

import { capital, counted } from "./formats.js";
import { end } from "./texts_en_review.js";

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const puzzles = {
  // puzzles
  puzzles: "Puzzles",
  toPuzzles: "To the puzzles",
  puzzlesAre: (lexicon) =>
    `Positions from games of our own bots; what each move loses is proven. The words are those of ${lexicon}. The first of each kind are the easiest. What you have solved is kept in this browser only.`,
  kinds: { endgame: "Endgames", preendgame: "Pre-endgames" },
  kindIs: {
    endgame: "The bag is empty, so both racks are known. Find the move with the best spread at the end of the game.",
    preendgame: "One tile is in the bag. Of the tiles that it may be, find the move that wins with the most, if both sides see all tiles afterwards.",
  },
  asks: {
    endgame: "The bag is empty and it is your turn. Which move gives you the best spread at the end of the game?",
    preendgame: "One tile is in the bag and it is your turn. Which move wins most often? A tie is half a win.",
  },
  /** @param {"endgame" | "preendgame"} kind @param {number} number @param {"solved" | "helped" | "missed"} [result] */
  puzzleIs: (kind, number, result) =>
    `${kind === "endgame" ? "Endgame" : "Pre-endgame"} ${number}${result ? `, ${{ solved: "solved", helped: "solved with a hint", missed: "missed" }[result]}` : ""}`,
  /** @param {number} solved @param {number} all */
  solvedOf: (solved, all) => `${solved} of ${all} solved`,
  noPuzzles: "The puzzles can't be read. Reload the page to try again.",
  noPuzzle: "There is no such puzzle here.",
  /** @param {number} own @param {number} other */
  standing: (own, other) => `You ${own}, opponent ${other}: ${end(own - other)}`,
  opponentsRack: "The opponent's rack",
  unseenTiles: "Tiles that you don't see",
  /** @param {number} unseen */
  oneInBag: (unseen) => `One of these ${unseen} is in the bag, each equally likely; the opponent holds the others.`,
  hint: "Hint",
  giveUp: "Show the solution",
  /** @param {number} tiles */
  hintTiles: (tiles) => `The best move lays ${counted(tiles, "tile")}.`,
  hintSquare: (square) => `Its word begins at ${square}.`,
  hintPass: "The best move lays no tile.",
  isRight: "Right.",
  isWrong: "Not the best.",
  /** @param {number} spread */
  resultIs: (spread) => (spread > 0 ? `wins by ${spread}` : spread < 0 ? `loses by ${-spread}` : "ties"),
  /** @param {string} move @param {number} spread @returns {string} */
  endsAt: (move, spread) => `${move} ${puzzles.resultIs(spread)}`,
  right: (best) => capital(`${best}, and no move does better.`),
  solutionIs: (best) => `The solution: ${best}.`,
  /** @param {string} move @param {number} points @param {string} best @param {number} spread @returns {string} */
  loses: (move, points, best, spread) => capital(`${move} loses ${counted(points, "point")}: ${best}, this ${puzzles.resultIs(spread)}.`),
  replyIs: (reply) => `The opponent's best answer to it: ${reply}.`,
  /** @param {string} move @param {number} wins @param {number} of @param {boolean} ties */
  winsWith: (move, wins, of, ties) => `${move} wins with ${wins} of ${of} tiles${ties ? " (a tie is half a win)" : ""}`,
  /** @param {string} move @param {string} share @param {string} best @param {number} wins @param {boolean} atMost */
  losesWins: (move, share, best, wins, atMost) =>
    capital(`${move} loses ${atMost ? "at least " : ""}${share} of the games: ${best}, this with ${atMost ? "at most " : ""}${wins}.`),
  notLegal: (move, lexicon) => `${move} is not valid: a word that it makes is not in ${lexicon}. This does not count; try another move.`,
  inBag: "In the bag",
  ifInBag: "If the bag holds",
  byTile: "By the tile in the bag",
  /** @type {Record<string, string>} */
  outcomes: { W: "wins", D: "ties", L: "loses", "?": "not proven" },
  bestPlay: "The best play of both sides",
  /** @param {string} move @param {number} score */
  yours: (move, score) => `You: ${move}, ${counted(score, "point")}`,
  /** @param {string} move @param {number} score */
  theirs: (move, score) => `Opponent: ${move}, ${counted(score, "point")}`,
  stepBack: "One move back",
  stepOn: "One move forward",
  /** @param {number} at @param {number} of */
  moveOf: (at, of) => `move ${at} of ${of}`,
  again: "Try again",
  nextPuzzle: "Next puzzle",
  allSolved: "All solved: to the list",

  // a drill of one's own mistakes
  drill: "Your own mistakes",
  drillTitle: "Drill",
  lastPlay: (move) => `The last move was ${move}.`,
  /** @param {number} due */
  toDrill: (due) => (due ? `Go through your ${counted(due, "mistake")}` : "Nothing to go through now"),
  noMistakes: "No mistake is kept in this browser. Review a game of yours and keep its mistakes; they come up here.",
  drillDone: (when) => `Nothing is due. The next mistake comes up on ${when}.`,
  /** @param {number} due */
  drillAsks: (due) => `You made a mistake here in a game. Which move is best? ${due === 1 ? "This is the last one due." : `${due} are due.`}`,
  bestShown: "The best move is on the board.",
  drillRight: (best) => capital(`${best} is the best move.`),
  drillAsGood: (move, best) => `The review could not tell ${move} from ${best}.`,
  drillWrong: (best) => `The best move is ${best}.`,
  sameAgain: (lost) => `You played this in the game, too; it loses ${lost}.`,
  youPlayed: (move, lost) => `In the game you played ${move}, which lost ${lost}.`,
  unknownLoss: "What this move loses was not analysed; try it in the review of the game.",
  points_: (points) => `${points} points`,
  chance: (win, points) => `${win} of the chance to win, ${points} points`,
  nextMistake: "Next",
  forget: "Do not ask again",
  /** @param {number} turn */
  toTurn: (turn) => `Turn ${turn} of the game`,
  /** @param {number[]} days */
  boxesAre: (days) => `After a right answer a mistake comes up again after ${days.slice(0, -1).join(", ")} and then ${days.at(-1)} days; after a wrong one at once.`,
};
