// What a review says.

import { counted, grouped, signed } from "./formats.js";

/** @param {number} spread */
export const end = (spread) => (spread ? `${counted(Math.abs(spread), "point")} ${spread > 0 ? "ahead" : "behind"}` : "level");

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const review = {
  // a review
  reviews: "Review",
  reviewTitle: "Review a game",
  noReviews: "This server does not analyse games.",
  reviewOf: "Review: ",
  reviewAbout: "Each turn is analysed on the server: what it cost, what was best, and why. Other moves can be tried on the board.",
  dropHere: "Drop a game (GCG) or a position (CGP) here, choose a file, or paste its text:",
  chooseFile: "A file with a game or a position",
  pasteLabel: "A game as GCG or a position as CGP",
  reviewIt: "Review",
  reviewOwn: "Games that ended on this server have a link to their review.",
  dropAgain: "The game that you dropped here was lost with its window. Drop it again.",
  unreadable: "This can't be read: it is a folder, or your browser may not read it.",
  tooLarge: "That is too large to be a game or a position.",
  cantReview: (why) => `This can't be reviewed: ${why}. Fix it, and try again.`,
  analysisLost: "The connection to the server is lost.",
  tryAgain: "Try again",
  /** @param {number} ahead */
  waiting: (ahead) => `No engine is free: ${counted(ahead, "request")} ahead of yours. Yours starts by itself.`,
  slow: "Games come first, and the server's cores are busy.",
  aPosition: "A position",
  /** @param {number} done @param {number} of */
  reviewed: (done, of) => `Analysing: ${done} of ${counted(of, "turn")}.`,
  /** @param {number} done @param {number} of */
  reviewedSome: (done, of) => `${done} of ${counted(of, "turn")} analysed`,
  /** @param {number} of */
  reviewedAll: (of) => `${counted(of, "turn")} analysed`,
  stop: "Stop",
  stopped: "stopped",
  goOn: "Go on",
  reviewStopped: "The review was stopped.",
  reviewDone: "All turns are analysed.",
  onAverage: "Lost per turn, on average",
  lostWin: "Chance lost",
  lostPoints: "Points lost",
  bestPlayed: "Best move played",
  mistakes: "Mistakes",
  graded: { good: "A good move", small: "A small mistake", medium: "A medium mistake", large: "A large mistake" },
  /** @param {string[]} sizes */
  mistakesOf: (sizes) => ["small", "medium", "large"].flatMap((size) => {
    const count = sizes.filter((each) => each === size).length;
    return count ? [`${count} ${size}`] : [];
  }).join(", ") || "–",
  /** @param {number} best @param {number} of */
  bestOf: (best, of) => `${best} of ${of}`,
  turnsHead: "Turns",
  /** @param {number} n */
  notAsWritten: (n) => `${n === 1 ? "One thing is" : `${n} things are`} not taken as written`,
  /** @param {import("./review.js").Notice} notice */
  noticed: ({ line, reason, taken }) => `${line ? `Line ${line}: ` : ""}${reason}; ${taken}.`,
  /** @param {number} score @param {number} computed */
  scored: (score, computed) => `(${signed(score)}; by the rules ${signed(computed)})`,
  byCost: "Costliest first",
  costAbout: "Chance lost: chance of winning, compared with the best move. ± is a 95 % interval. Below 0: compared alone, the move played did better, by chance or since the search was short. ✓: the best was played; *: a phony; ?: not proven; ✓ 3/12: the rack is not recorded, the loss is over 12 racks that it may have been, and the best was played in 3.",
  playedHead: "Played",
  bestHead: "Best",
  leftOut: "–",
  /** @param {number} best @param {number} racks */
  bestIn: (best, racks) => `${best ? "✓ " : ""}${best}/${racks}`,
  wasBest: "the best",
  winReview: "Chance that the first player wins; press it to go to a turn",
  /** @param {string} name @param {string} chance @param {number} line */
  winReviewed: (name, chance, line) => `${name}: ${chance} to win before turn ${line}.`,
  /** @param {number} line */
  turnNumber: (line) => `Turn ${line}`,
  /** @param {number} line @param {string} name */
  turnOf: (line, name) => `Turn ${line}: ${name}`,
  turnBefore: "The previous turn in the list",
  turnAfter: "The next turn in the list",
  chooseTurn: "Choose a turn to see what was best, and why.",
  /** @param {number} line */
  noSuchTurn: (line) => `There is no turn ${line} in this game. Choose another.`,
  notYet: "This turn is not analysed yet.",
  leftOutSince: (why) => `This turn is not analysed: ${why}.`,
  aPass: "a pass",
  anExchange: (tiles) => `an exchange of ${tiles}`,
  isForced: "Pass: nothing else is legal.",
  /** @param {number} rollouts @param {string} best */
  unknownYet: (rollouts, best) =>
    `Nothing ${rollouts ? `can be told from ${counted(rollouts, "rollout")}` : "is known yet"}; by static equity ${best} is best.`,
  onlyCandidate: (best, worth) => `The only candidate is ${best}: ${worth}.`,
  /** @param {string} best @param {string} worth @param {string | null} more */
  bestMove: (best, worth, more) => `The best is ${best}: ${worth}${more ? `, ${more}` : ""}.`,
  /** @param {number} count */
  others: (count) => counted(count, "other"),
  /** @param {string[]} names @param {"and" | "or"} word */
  listed: (names, word) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}` : names.join()),
  eitherSame: (names) => `The best is ${names}; they come to the same thing.`,
  either: (best, worth, names) => `The best is ${best}: ${worth}; ${names} can't be told from it.`,
  winsShare: (share) => `it wins ${share}`,
  /** @param {number} spread */
  gameEnds: (spread) => `played on, the game ends ${end(spread)}`,
  /** @param {number} spread @param {boolean} isProven */
  bestPlayEnds: (spread, isProven) => `with the best play by both, the game ends ${end(spread)}${isProven ? "" : " (not proven)"}`,
  notProven: (cost) => `${cost} (not proven)`,
  nothingProves: (move, cost) => `${move} was played, and nothing proves it worse: it cost ${cost}.`,
  moreThan: (lead, other) => `${lead} more than ${other}`,
  notCompared: (why) => `What was played can't be compared: ${why}.`,
  bestWasPlayed: "It was played.",
  takenBackInGame: "it was taken back",
  /** @param {string[]} words @param {string} lexicon */
  notWordsOf: (words, lexicon) => `${words.join(" and ")} ${words.length === 1 ? "is not a word" : "are not words"} of ${lexicon}`,
  /** @param {string} move @param {string} why @param {string} worth @param {boolean} isLess */
  phonyPlayed: (move, why, worth, isLess) => `${move} was played: ${why}; had it stood, it would be worth ${worth} ${isLess ? "less" : "more"}.`,
  itCost: (move, cost) => `${move} was played: it cost ${cost}.`,
  comesToSame: (move) => `${move} was played, which comes to the same thing.`,
  nothingShows: (move, cost) => `${move} was played, and nothing shows it to win less: it cost ${cost}.`,
  both: (win, points) => `${win} and ${points}`,
  whyBest: "Why the best is better:",
  /** @param {string[]} more @param {string[]} less */
  because: (more, less) => `${more.join(", ")}${less.length ? `, though ${less.join(", ")}` : ""}`,
  laterTurns: "it gains more in later turns",
  reasonBingo: "a missed bingo",
  /** @param {number} points @param {boolean} isMore */
  reasonScore: (points, isMore) => `${counted(points, "point")} ${isMore ? "more" : "less"} now`,
  /** @param {string} points @param {boolean} isLess */
  reasonReply: (points, isLess) => `the opponent's next turn scores ${points} points ${isLess ? "less" : "more"}`,
  reasonLeave: (kept, instead) => `it keeps ${kept}, not ${instead}`,
  keptWorth: (leave, worth) => `${leave} (worth ${worth})`,
  comparison: "Best and played",
  /** @param {number} rollouts */
  comparedAlone: (rollouts) => `Best and played; the cost by ${counted(rollouts, "rollout")} of these two alone`,
  costs: "What it cost",
  behind: "Behind the best",
  bestIs: (move) => `Best: ${move}`,
  playedIs: (move) => `Played: ${move}`,
  scoreNow: "Score now",
  keeps: "Keeps",
  leaveWorth: "Worth of what it keeps",
  replyScore: "Opponent's next turn",
  bestMark: "best",
  interval: "± is a 95 % interval, for all moves together; ≈ and ?: can't be told from the best, ≈: within 3 % of it; worth: points gained on the opponent in the rollouts, the last leaves included",
  exactNote: "the bag is empty: played on once, without looking ahead",
  solvedNote: "the bag is empty: points are those of the best play by both",
  casesNote: "± is of what is not proven, a 95 % interval; worth: points gained to the end of the game",
  /** @param {number} compared @param {number} moves @param {number} proven @param {string} open what is not proven */
  inAllCases: (compared, moves, proven, open) =>
    `${grouped(compared)} of ${counted(moves, "move")} compared with everything that may be drawn, ${grouped(proven)} proven, against a perfect opponent, which knows the bag and your rack.${open}`,
  winNotProven: " What it wins is not proven in full.",
  mayBeBetter: (best) => ` Another may be better than ${best}.`,
  chanceOfBag: "Chance",
  perhaps: (outcome) => `${outcome}, not proven`,
  lastPlayTells: "What the last play tells of the other rack",
  tellsNothing: "Nothing: there was no such play, or its rack is known.",
  lookLonger: "Look longer",
  lookingLonger: "Looking longer …",
  onBoard: "On the board",
  tryMove: "Try a move",
  showBest: "Best",
  showPlayed: "Played",
  showBoth: "Played, the best",
  analyseMove: "Analyse",
  /** @param {number} score */
  analyseFor: (score) => `Analyse, ${counted(score, "point")}`,
  /** @param {number} count */
  analyseExchange: (count) => (count ? `Analyse, exchange ${count}` : "Choose tiles to exchange"),
  tryKeys: "Click a square and type. Arrow keys turn and move, Shift with a letter lays a blank, Backspace takes a tile back, Enter analyses.",
  rackHeld: (rack) => `Rack: ${rack}`,
  triedMoves: "Your moves",
  nobody: "nobody",
  keepMistakes: "For the drill, keep the mistakes of",
  keepsNothing: "This browser stores nothing: they are lost when the page is closed.",
  /** @param {number} count */
  keptMistakes: (count) => (count ? `${counted(count, "mistake")} kept in this browser.` : "None is clear enough so far."),
  goThrough: "Go through them",
  asHtml: "Save as HTML",
  asGcg: "Save as GCG with notes",
  toGame: "To the game",
  study: "Study",
  toStudy: "Study",
  toReview: "Review",

  // lines of moves, and what others share with puzzles
  puzzles: "Puzzles",
  unseenTiles: "Tiles that you don't see",
  inBag: "In the bag",
  byTile: "By the tile in the bag",
  /** @type {Record<string, string>} */
  outcomes: { W: "wins", D: "ties", L: "loses", "?": "not proven" },
  /** @param {string} move @param {number} score */
  yours: (move, score) => `You: ${move}, ${counted(score, "point")}`,
  /** @param {string} move @param {number} score */
  theirs: (move, score) => `Opponent: ${move}, ${counted(score, "point")}`,
  stepBack: "One move back",
  stepOn: "One move forward",
  /** @param {number} at @param {number} of */
  moveOf: (at, of) => `move ${at} of ${of}`,
  drillTitle: "Drill",
  points_: (points) => `${points} points`,
  forget: "Do not ask again",
};
