// What is said of a game, of what its players think, and of moves that are made on the board.

import { counted, signed } from "./formats.js";

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const game = {
  // a game
  terms: (each, lexicon, rules) => `${each} each, words of ${lexicon}${rules === "english" ? "" : `, rules: ${rules}`}`,
  /** @param {string} initial @param {number} seconds */
  withIncrement: (initial, seconds) => `${initial} + ${seconds} s a move`,
  begun: (when) => `started ${when}`,
  notBegun: "The players are getting ready; no clock runs yet.",
  isOn: "The game is in progress.",
  wins: (name) => `${name} wins`,
  tie: "A tie",
  noResult: "No result",
  /** @param {number | null} turn null of a position without a game @param {number} tiles */
  boardAfter: (turn, tiles) => `Board${turn === null ? "" : ` after ${counted(turn, "turn")}`}, ${counted(tiles, "tile")}`,
  blank: "blank",
  lastMove: "last move",
  start: "start",
  /** @param {number} times */
  letters: (times) => `letter ×${times}`,
  /** @param {number} times */
  words: (times) => `word ×${times}`,
  /** What a square shows. @param {number} words @param {number} letters */
  premium: (words, letters) => (words > 1 ? `${words}W` : letters > 1 ? `${letters}L` : ""),
  steps: "Steps",
  first: "To the beginning",
  back: "One turn back",
  forward: "One turn forward",
  last: "To the last turn",
  /** @param {number} turn @param {number} of */
  where: (turn, of) => `turn ${turn} of ${of}`,
  /** @param {number} later */
  later: (later) => `${counted(later, "later turn")}: go to the latest`,
  onTurn: "to move",
  rack: "rack",
  clockOf: "clock",
  pass: "pass",
  challengedOff: "challenged off",
  challengedInVain: "challenged in vain",
  turnLost: "turn lost by a challenge",
  /** @param {number | string} count or the tiles */
  exchanges: (count) => `exchanges ${count}`,
  /** @param {number} turn @param {string} name @param {string} move @param {number} score
   * @param {number[]} scores */
  announced: (turn, name, move, score, scores) =>
    `Turn ${turn}: ${name}, ${move}, ${counted(score, "point")}; ${scores[0]} to ${scores[1]}.`,
  moves: "Moves",
  noMoves: "No move yet.",
  turn: "Turn",
  player: "Player",
  move: "Move",
  score: "Score",
  total: "Total",
  /** @param {string} name @param {number} points */
  forRacks: (name, points) => `${name} ${signed(points)} for racks`,
  /** @param {string} name @param {number} points */
  forOvertime: (name, points) => `${name} −${points} for overtime`,
  /** @param {number[]} scores */
  final: (scores) => `Final score ${scores[0]} to ${scores[1]}.`,
  unseen: "Tiles not on the board",
  /** @param {number} tiles @param {number} bag @param {boolean} isOwn whether one sees a rack oneself */
  unseenCount: (tiles, bag, isOwn) => `${tiles}: ${bag} in the bag, ${tiles - bag} on ${isOwn ? "your opponent's rack" : "racks"}.`,
  gcg: "The game as GCG",
  toGames: "To the games",

  // graphs
  spreadGraph: "Spread",
  /** @param {string} name @param {number} points @param {number} turn */
  spreadIs: (name, points, turn) => `${name} is ${counted(points, "point")} ahead after turn ${turn}.`,
  /** @param {number} turn */
  level: (turn) => `Level after turn ${turn}.`,
  ahead: (name) => `${name} ahead`,
  winGraph: "Chance that the first player wins, as each player saw it",
  /** @param {string} name @param {string} chance @param {number} turn */
  winIs: (name, chance, turn) => `${name} said ${chance} in turn ${turn}.`,

  // thoughts
  thoughts: "What the player thought",
  /** @param {string} name @param {number} turn */
  thoughtsOf: (name, turn) => `What ${name} thought in turn ${turn}`,
  thoughtsLater: "Racks, and what the players thought, are shown when the game is over.",
  thoughtsClosed: "Racks and thoughts of this game stay hidden: it is void, or another game has the same draws.",
  thoughtsChoose: "Go to a turn to see what its player thought.",
  thoughtNothing: (name) => `${name} said nothing about this turn.`,
  candidates: "Moves considered",
  equity: "Worth, points",
  win: "Chance to win",
  samples: "Samples",
  error: "± is one standard error",
  playedMark: "played",
  /** @param {number} plies */
  plies: (plies) => `${counted(plies, "turn")} ahead`,
  toTheEnd: "to the end of the game",
  /** @type {Record<string, string>} Others say so themselves. */
  phases: { static: "static", simulation: "simulation", "pre-endgame": "pre-endgame", endgame: "endgame" },
  /** @param {number} rollouts */
  rollouts: (rollouts) => counted(rollouts, "rollout"),
  /** @param {number} nodes */
  nodes: (nodes) => counted(nodes, "position"),
  proven: "proven",
  belief: (name) => `What it believed ${name} held`,
  truth: (rack) => `It really held ${rack}.`,
  truthKept: (rack, leave) => `It really held ${rack}, and had kept ${leave}.`,
  nothing: "nothing",
  tile: "Tile",
  hasIt: "Chance to be held",
  isThere: "held",
  leave: "Kept",
  before: "Before its play",
  after: "After",
  bingo: (chance) => `A bingo next turn: ${chance}.`,
  notes: "What it said",

  // what went wrong
  /** @param {number} seconds */
  lost: (seconds) => `The connection to the server is lost. Trying again in ${counted(seconds, "second")}.`,
  connecting: "Connecting …",
  tryNow: "Try now",
  unloaded: "This part of the page can't be loaded",
  unloadedWhy: "The server does not answer, or now has another version.",
  loadAnew: "Reload the page",
  back_on: "Connected again.",
  unreachable: "The server does not answer.",
  triesAgain: (sentence) => `${sentence} This page tries again by itself.`,
  unknownGame: "This game can't be shown.",
  unknownReview: "This game can't be reviewed.",
  unknownPage: (address) => `There is nothing at ${address}.`,
  refused: (why) => `The server says: ${why}.`,
  cantShow: "This game can't be shown: a move does not fit the board.",

  // a move that is made on the board
  yourRack: "Your rack",
  yourMove: "Your move",
  play: "Play",
  /** @param {number} score */
  playFor: (score) => `Play for ${score}`,
  shuffle: "Shuffle",
  recall: "Recall",
  /** @param {number | null} [left] null where the rules limit none */
  exchangeLeft: (left) => (typeof left === "number" ? `Exchange (${left} left)` : "Exchange"),
  /** @param {number} tiles */
  bagHas: (tiles) => `The bag has ${counted(tiles, "tile")}: exchange no more than that.`,
  noExchangeLeft: "You have no exchange left.",
  passTurn: "Pass",
  reallyPass: "Pass: sure?",
  sure: "Sure?",
  cancel: "Cancel",
  entryKeys: "Click a square and type. Arrow keys turn and move, Shift with a letter lays a blank, Backspace takes a tile back, Enter plays.",
  exchangeKeys: "Click tiles or type their letters. Enter exchanges them, Escape goes back.",
  across: "across",
  down: "down",
  empty: "empty",
  notPlayed: "not played yet",
  blankIs: "Which letter is the blank?",
  /** @param {string} tile of several characters */
  longTiles: (tile) => `Type ${tile} for that tile; click letters to lay them singly.`,
  asOneTile: (tile) => `${tile} as one tile.`,
  lineIsFull: "No square is free from here to the edge.",
  noBlank: "There is no blank left on your rack.",
  notOnRack: (letter) => `There is no ${letter} left on your rack.`,
  takenBack: (tile) => `${tile} is back on the rack.`,
  recalled: "All tiles are back on the rack.",
  rackIs: (tiles) => `Your rack: ${tiles}.`,
  /** @param {string} tile @param {number} points */
  tileWorth: (tile, points) => `${tile}, ${counted(points, "point")}`,
  isLaid: (tile, at) => `${tile}, laid at ${at}`,
  chooseTiles: "Choose the tiles to exchange.",
  /** @param {number} count */
  toExchange: (count) => `${counted(count, "tile")} to exchange.`,
  /** @param {number} count */
  exchangeNow: (count) => (count ? `Exchange ${count}` : "Exchange"),
  notYourTurn: "It is not your turn.",
  /** @param {number} score */
  pointsFor: (score) => counted(score, "point"),
  isBingo: "with the bingo bonus",
  isNoWord: "(not a word)",
  placeTiles: "Lay tiles on the board.",
  notInLine: "The tiles are not in one line.",
  hasGap: "There is a gap between the tiles.",
  touchesNothing: "The tiles do not touch any on the board.",
  missesStart: "The first word must cover the star.",
  oneTile: "The first word needs two tiles or more.",

  // one's own screen
  now: "Now",
  ownLive: "Your own screen, with racks and thoughts",
  ownLater: (why) => `Racks and thoughts show after each game: ${why}.`,
  codeTitle: "This page is yours alone",
  codeWhy: "Type the code that the terminal shows. It works once; this browser then has access until the match ends.",
  code: "Code",
  enter: "Enter",
  /** @param {string} name @param {number} turn */
  thinks: (name, turn) => `What ${name} thinks in turn ${turn}`,
  believes: (name) => `What it believes ${name} holds`,
  holds: (rack) => `It really holds ${rack}.`,
  holdsAndKept: (rack, leave) => `It really holds ${rack}, and has kept ${leave}.`,
  thoughtsSoon: "What the players think appears here as they say it.",
  took: (time) => `${time} used`,
  noneNow: "No game is in progress. The next one appears here by itself.",
};
