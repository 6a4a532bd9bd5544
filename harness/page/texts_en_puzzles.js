// What puzzles and the drill say.

import { capital, counted } from "./formats.js";
import { end } from "./texts_en_review.js";

/** How a puzzle went. @type {Record<string, string>} */
const RESULTS = { solved: "solved at once", helped: "solved with help", missed: "solution shown", tried: "not solved yet" };

/** @type {Record<string, string>} */
const KINDS = { endgame: "Endgame", preendgame: "Pre-endgame" };
/** What the best move does. @type {Record<string, string>} */
const THEMES = {
  bingo: "Bingo", out: "Going out at once", out_in_two: "Out in two", stuck: "Sticking the opponent with tiles", block: "Taking the opponent's place",
  setup: "Setting up a second play", parallel: "Parallel play", small: "One or two tiles", quiet: "Giving up points", result: "A win or tie at stake", pass: "Pass",
};

/** A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>} */
export const puzzles = {
  // the list
  toPuzzles: "To the puzzles",
  puzzlesAre: (lexicon) =>
    `What is the best move? Endgames and pre-endgames from games of our own bots; what each move leads to is proven. The words are those of ${lexicon}.`,
  levels: ["Easy", "Medium", "Hard", "Very hard"],
  /** @param {number} least @param {number} most */
  levelIs: (least, most) => `${most === Infinity ? `${least} or more` : `${least} to ${most}`} moves that look better fail`,
  marksAre: "✓ solved at once, ◐ with help or after a wrong move, ✗ solution shown, … not solved yet; pre-endgames are dashed. The more moves look better than the best, by score and tiles kept, the harder it is.",
  /** @param {number} solved @param {number} all @param {number} atOnce */
  solvedOf: (solved, all, atOnce) => `${solved} of ${all} solved, ${atOnce} at once`,
  /** @param {number} number @param {string} kind @param {string} level @param {string} [result] */
  linkIs: (number, kind, level, result) => [`Puzzle ${number}`, KINDS[kind] ?? "", level, RESULTS[result ?? ""]].filter(Boolean).join(", "),
  next: (level) => `Next puzzle: ${level.toLowerCase()}`,
  allSolved: "All of these are solved.",
  theme: "Show",
  everything: "All puzzles",
  wrong: "Those that I did not solve at once",
  byKind: "By position",
  byAnswer: "By the best move (this tells what to look for)",
  /** @param {string} theme @param {number} count */
  themeIs: (theme, count) => `${THEMES[theme] ?? theme} (${count})`,
  kinds: KINDS,
  themes: THEMES,
  noneOfThese: "There are no such puzzles.",
  /** @param {number} due */
  toDrill: (due) => (due ? `From your own games: ${counted(due, "mistake")} due` : "From your own games: your mistakes"),
  drillIs: "A review keeps them for you, and each comes up again until you know it.",

  // progress
  progress: "Your progress",
  progressIs: "It is kept in this browser only. A file takes it to another one, with your own mistakes.",
  notKept: "This browser keeps nothing: what you solve is forgotten when this page is closed, unless you save it to a file.",
  save: "Save to a file",
  take: "Take from a file",
  /** @param {number} count @param {number} mistakes @param {number} elsewhere */
  taken: (count, mistakes, elsewhere) => [
    `Taken: results of ${counted(count, "puzzle")}, and ${counted(mistakes, "mistake")} of your own.`,
    elsewhere ? `${counted(elsewhere, "result")} of them ${elsewhere === 1 ? "is" : "are"} of puzzles that are not here.` : "",
  ].filter(Boolean).join(" "),
  otherWords: (theirs, ours) => `The puzzles of that file are with the words of ${theirs}, those here with ${ours}.`,
  noProgress: (file) => `${file} is no file of progress. Choose one that this page saved (tilewire-puzzles.json); nothing was changed.`,
  /** @param {string} file @param {number} version */
  laterProgress: (file, version) => `${file} was saved by a later tilewire (version ${version} of its form). Open this page there, or reload it; nothing was changed.`,

  // what is asked
  noPuzzles: "The puzzles can't be read. Reload the page to try again.",
  noSolution: "What the moves lead to can't be read now. Try again in a moment.",
  noPuzzle: "There is no such puzzle here",
  noPuzzleWhy: (lexicon) => `The link may be old, or of a server with other puzzles. Those here are with the words of ${lexicon}.`,
  /** @param {number} number @param {string} kind */
  puzzleIs: (number, kind) => `Puzzle ${number}: ${kind.toLowerCase()}`,
  /** @param {string} level @param {number} failing */
  hardness: (level, failing) => `${level}: ${failing === 1 ? "1 move that looks better fails" : `${failing} moves that look better fail`}.`,
  /** @type {Record<string, string>} */
  asks: {
    endgame: "Your turn, and the bag is empty. Which move ends the game with the best spread?",
    preendgame: "Your turn, and one tile is in the bag. Which move wins most often? A tie is half a win.",
  },
  /** @param {number} own @param {number} other */
  standing: (own, other) => `You ${own}, opponent ${other}: ${end(own - other)}`,
  opponentsRack: "The opponent's rack",
  /** @param {number} unseen */
  oneInBag: (unseen) => `One of these ${unseen} is in the bag, each equally likely; the opponent holds the others.`,
  hint: "Hint",
  whyNot: "Why not?",
  showMe: "Show me",
  goOnTrying: "Go on trying",
  /** @param {number} tiles */
  hintTiles: (tiles) => `The best move lays ${counted(tiles, "tile")}.`,
  hintSquare: (square) => `Its word begins at ${square}.`,
  hintPass: "The best move lays no tile.",
  notLegal: (move, lexicon) => `${move} is not valid: a word that it makes is not in ${lexicon}. This does not count; try another move.`,
  isRight: "Right.",
  isWrong: "Not the best.",
  /** How good a wrong move is. @type {Record<string, (move: string) => string>} */
  howGood: {
    result: (move) => capital(`${move} lets a win or a tie go that can be had.`),
    close: (move) => capital(`${move} is close to the best.`),
    worse: (move) => capital(`${move} is some way from the best.`),
    far: (move) => capital(`${move} is far from the best.`),
  },
  /** @param {number} tries */
  goOn: (tries) => (tries === 1 ? "Try another move, or ask." : `${tries} moves tried. Try another, or ask.`),
  tried: "Tried so far",

  // the solution
  /** @param {string} move @param {number} spread @returns {string} */
  endsAt: (move, spread) => capital(spread > 0 ? `${move} wins by ${spread}, with the best play of both from then on.`
    : spread < 0 ? `${move} loses by ${-spread}, with the best play of both from then on.` : `${move} ties, with the best play of both from then on.`),
  /** @param {string} move @param {number} wins @param {number} of @param {boolean} ties @param {boolean} atMost */
  winsWith: (move, wins, of, ties, atMost) =>
    capital(`${move} wins with ${atMost ? "at most " : ""}${wins || "none"} of ${of} tiles${ties ? " (a tie is half a win)" : ""}.`),
  noBetter: "No move does better.",
  solution: "The solution:",
  bestPlay: "The best play of both sides",
  playAfter: (move) => `How it goes on after ${move}`,
  lines: "Show how it goes on after",
  ifInBag: "If the bag holds",
  tileOutcome: (tile, outcome) => `${tile}: ${outcome}`,
  playingOut: "The server is playing it out …",
  notPlayedOut: "The rest is proven, too, but can't be played out here: this server does not analyse, or has no time now.",
  themesAre: "Themes:",
  toStudy: "Look at it in the study",
  again: "Try again",
  nextPuzzle: "Next puzzle",

  // a drill of one's own mistakes
  drill: "Your own mistakes",
  lastPlay: (move) => `The last move was ${move}.`,
  noMistakes: "No mistake is kept in this browser. Review a game of yours and keep its mistakes; they come up here.",
  drillDone: (when) => `Nothing is due. The next mistake comes up on ${when}.`,
  /** @param {number} due */
  drillAsks: (due) => `Which move is better? ${due === 1 ? "This is the last one due." : `${due} are due.`}`,
  bestShown: "The best move is on the board.",
  drillRight: (best) => capital(`${best} is the best move.`),
  drillAsGood: (move, best) => `The review could not tell ${move} from ${best}.`,
  drillWrong: (best) => `The best move is ${best}.`,
  sameAgain: (lost) => `You played this in the game, too; it loses ${lost}.`,
  youPlayed: (move, lost) => `In the game you played ${move}, which lost ${lost}.`,
  chance: (win, points) => `${win} of the chance to win, ${points} points`,
  later: "Later",
  nextMistake: "Next",
  /** @param {number} turn */
  toTurn: (turn) => `Turn ${turn} of the game`,
  /** @param {number[]} days */
  boxesAre: (days) => `After a right answer a mistake comes up again after ${days.slice(0, -1).join(", ")} and then ${days.at(-1)} days; after wrong ones, or if you ask, soon.`,
};
