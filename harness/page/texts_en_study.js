// What the study says.

import { counted, grouped } from "./formats.js";

export const study = {
  players: /** @type {[string, string]} */ (["First", "Second"]),

  // what can't be
  /** @param {string} tile */
  noSuchTile: (tile) => `There is no tile ${tile} in this set.`,
  /** @param {string} tile @param {number} count @param {number} most */
  tooMany: (tile, count, most) => `${count} of ${tile === "?" ? "the blanks" : tile} on the board and the racks; the set has ${most}.`,
  /** @param {number} count @param {number} most */
  rackTooLong: (count, most) => `${counted(count, "tile")} on a rack; it holds ${most}.`,
  /** @param {string} square @param {boolean} isListed whether moves are */
  apart: (square, isListed) => `The words are apart: the tiles from ${square} on touch no others.${isListed ? " Moves are listed all the same." : ""}`,
  startEmpty: "No word covers the star.",
  noMove: "That is no move. Write 8D WORD, -ABC or -3 to exchange, or - to pass.",
  offBoard: "That word leaves the board.",
  /** @param {string} square @param {string} lies @param {string} tile */
  holds: (square, lies, tile) => `${square} holds ${lies}, not ${tile}.`,

  // texts that are read
  noStudy: "This is no game: it lacks the lines #player1 and #player2.",
  /** @param {string} version */
  otherVersion: (version) => `This study was written by a later tilewire (version ${version} of its form). Open it there, or save it as GCG without variations.`,
  /** @param {string} line */
  noEvent: (line) => `This line of the game can't be read: ${line}`,
  /** @param {string} version */
  otherLink: (version) => `This link is of another version of tilewire (${version.slice(0, 20)}). Ask for the position as CGP or the game as GCG, and paste it here.`,
  brokenLink: "This link is broken: a part of it is missing. Ask for it again, or paste the position or the game here.",

  // the page
  study: "Study",
  noStudies: "This server offers no study: it does not analyse.",
  undo: "Undo",
  redo: "Redo",
  undone: "Undone.",
  redone: "Done again.",
  setUp: "Set up the board",
  open: "New or open …",
  save: "Save as GCG",
  share: "Copy link",
  link: "The link to this position",
  copied: "Copied; it opens here.",
  onlyHere: "Only this machine can open it: this server is on it. For others, save as GCG.",
  /** @param {string} name */
  savedAs: (name) => `Saved as ${name}.`,
  begun: "The study before is kept: “New or open …” lists it.",
  titleOf: "Title",
  yours: "Your studies",
  /** @param {number} moves */
  counted: (moves) => counted(moves, "move"),
  review: "Review this game",
  emptyBoard: "Empty board",
  annotate: "Enter a game",
  openHere: "Or paste a game (GCG) or a position (CGP), or choose or drop a file:",
  openIt: "Open",
  words: "Words and rules",
  /** @param {{ lexicon: string, rules: string }} kind */
  kind: ({ lexicon, rules }) => `${lexicon}, ${rules} rules`,
  /** @param {{ lexicon: string, rules: string }} kind */
  onlyKind: ({ lexicon, rules }) => `Words: ${lexicon}; board, tiles and rules: ${rules}. This server has no others; tilewire study --lexicon NAME --rules NAME may.`,
  /** @param {string} rules */
  otherRules: (rules) => `This study goes by the rules ${rules}, which this server lacks: here it goes by those of its words.`,
  forget: "Forget",
  /** @param {string} name */
  forgetIt: (name) => `Forget ${name}`,
  /** @param {string} why */
  cantOpen: (why) => `This can't be opened: ${why}. Fix it, and try again.`,
  keepsNothing: "This browser keeps nothing more: its storage is full or refused. Save the study as GCG, or forget an old one.",
  /** @param {number} number */
  nameOf: (number) => `Name of player ${number}`,
  rack: "Rack",
  onTurn: "to move",
  knowsRack: "analyse with the other rack as if it were known; else it is drawn at random",
  /** @param {string} name */
  lacksRack: (name) => `Type the rack of ${name} to see the moves. A move can be entered without it.`,

  // the board
  play: "Play",
  /** @param {number} score */
  playFor: (score) => `Play for ${score}`,
  entryKeys: "Click a square and type; Enter plays. Ctrl with arrow keys steps through the moves, Ctrl+Z takes back. A click on a word looks it up below.",
  setupHow: "Click a square, then type or choose tiles; a second click turns the arrow.",
  setupKeys: "Space and arrow keys turn and go, Shift with a letter lays a blank, Backspace and Delete take tiles away.",
  palette: "Tiles that are left",
  /** @param {string} tile @param {number} count */
  leftOf: (tile, count) => `${tile === "?" ? "blank" : tile}, ${count} left`,
  takeBack: "Take back",
  emptied: "empty",
  /** @param {string} move @param {number} score */
  played: (move, score) => `${move}, ${counted(score, "point")}.`,

  // moves of the list
  moves: "Moves",
  filter: "Filter",
  filterHint: "8D, ING, >30",
  leave: "Leave",
  equity: "Equity",
  gain: "Simulated",
  compareHead: "Compare",
  /** @param {string} move @param {number} score */
  showIt: (move, score) => `${move}, ${counted(score, "point")}: see it on the board; again: play it`,
  /** @param {string} move @param {number} score */
  playIt: (move, score) => `Play ${move} (${score})`,
  /** @param {string} move */
  tick: (move) => `Compare ${move}`,
  /** @param {number} rows @param {number} suiting @param {number} all */
  shown: (rows, suiting, all) => `${grouped(rows)} of ${counted(suiting, "move")} shown; ${grouped(all)} are legal.`,
  more: "Show more",
  simulate: "Simulate",
  /** @param {number} seconds */
  deeper: (seconds) => `Longer: ${seconds} s`,
  compare: "Compare the ticked",
  /** @param {number} seconds */
  simulating: (seconds) => `Simulating for ${counted(seconds, "second")} …`,
  /** @param {number} rollouts */
  soFar: (rollouts) => `${counted(rollouts, "rollout")} so far.`,
  /** @param {number} rollouts @param {string} depth @param {number} seconds */
  done: (rollouts, depth, seconds) =>
    `${counted(rollouts, "rollout")} (${depth}), up to ${counted(seconds, "second")}. Simulated: points gained on the opponent; ± is a 95 % interval.`,
  proven: "Solved, proven",
  notProven: "Solved, not proven",
  mendFirst: "Mend what is said below the board; then the moves are listed.",
  isOver: "The game is over here: there are no moves.",
  stopped: "Stopped.",
  asksAgain: "It is asked again by itself in ten seconds.",
  /** @param {string} why */
  leftOut: (why) => `This position is not analysed: ${why}.`,
  figures: "All figures",

  // the line
  line: "Line",
  stepping: "Steps through the line",
  toStart: "To the start",
  back: "One move back",
  on: "One move on",
  toEnd: "To the end of the line",
  startOf: "Start",
  variation: "variation",
  hasNote: "with a note",
  note: "Note",
  promote: "Make this the main line",
  remove: "Remove this move",
  /** @type {Record<string, string>} */
  entries: { "--": "comes off", "(challenge)": "challenged in vain", "(time)": "time penalty" },

  // what is entered
  typeMove: "Move",
  typedHint: "8D WORD, -ABC, -",
  enter: "Enter",
  entry: "Then",
  add: "Add",
  /** @param {string} name */
  clockOf: (name) => `Clock of ${name}`,
  chooseEntry: "what happened …",
  takenOff: "a phony: it comes off",
  /** @param {number} points */
  inVain: (points) => `challenged, stands: +${points}`,
  loseTurn: "stands: turn lost",
  settle: "the end: settle racks",
  /** @param {string} name */
  overtime: (name) => `${name}: −10 for time`,

  // a word
  lookUpTitle: "Look up a word",
  word: "Word",
  lookUp: "Look up",
  isWord: "is a word",
  isNoWord: "is not a word",
  front: "Before it",
  behind: "Behind it",
  anagrams: "Anagrams",
  withBlank: "With a blank",
  worth: "Its tiles as a leave",
};
