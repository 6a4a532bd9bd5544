// All that the page says, to be translated in one place.

/** @param {number} count @param {string} one @param {string} [many] */
const counted = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;
/** What is at stake after a refusal. @param {number} left attempts */
const soManyLeft = (left) => (left === 1 ? "One more such move loses the game." : `${left} more such moves lose the game.`);
/** @param {number} spread */
const end = (spread) => (spread ? `${counted(Math.abs(spread), "point")} ${spread > 0 ? "ahead" : "behind"}` : "level");

/** @param {string} sentence */
export const capital = (sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;

/** @param {number} points */
export const signed = (points) => (points < 0 ? `−${-points}` : `+${points}`);

/** @param {number} ms */
export const clock = (ms) => {
  const whole = Math.abs(Math.floor(ms / 1000));
  return `${ms < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

/** What each has for a game. @param {{ initial_ms: number, increment_ms: number }} time */
export const timeText = ({ initial_ms, increment_ms }) =>
  (increment_ms ? texts.withIncrement(clock(initial_ms), increment_ms / 1000) : clock(initial_ms));

/** @param {number} ms */
export const duration = (ms) => (ms < 1000 ? `${ms} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : clock(ms));

/** @param {number} value */
export const decimal = (value) => (Number(value.toFixed(1)) + 0).toFixed(1).replace("-", "−"); // no "-0.0"

/** @param {number} chance */
export const percent = (chance) => `${decimal(100 * chance)} %`;

/** @param {number} count */
export const grouped = (count) => count.toLocaleString("en");

/** @param {string} utc */
export const moment = (utc) =>
  new Date(utc).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** @param {string[]} players */
export const versus = (players) => players.join(" – ");

/** @param {string} date */
export const day = (date) => new Date(`${date}T00:00Z`).toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/** @param {{ rating: number, error: number }} rated */
export const rating = (rated) => `${Math.round(rated.rating)} ± ${Math.round(rated.error)}`;

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const texts = {
  title: "tilewire",
  games: "Games",
  standings: "Standings",
  loading: "One moment …",

  // lists
  on: "Games in progress",
  noneOn: "No game is in progress. A new one appears here by itself.",
  past: "Past games",
  nonePast: "No game has ended here yet.",
  earlier: "Earlier games",
  /** @param {number} turns */
  turns: (turns) => counted(turns, "turn"),
  /** @param {number} round @param {number | null} rounds */
  round: (round, rounds) => (rounds ? `Round ${round} of ${rounds}` : `Round ${round}`),
  paused: "paused",
  tournamentOver: "over",
  /** @param {number} round */
  roundGames: (round) => `Games of round ${round}`,
  rounds: "Rounds:",
  bye: "a bye",
  byes: "Byes",
  halfBye: "half a point a game",
  entrant: "Entrant",
  points: "Points",
  spread: "Spread",
  played: "Games",
  game: "Game",
  presence: "Here?",
  /** @type {Record<string, string>} */
  presences: { here: "yes", away: "away", absent: "not paired", withdrawn: "withdrawn" },
  ranking: "Ranking",

  // a ladder
  ladder: "Ladder",
  tables: "Tables",
  bots: "Bots",
  persons: "People",
  rating: "Rating (95 %)",
  state: "State",
  anchor: "anchor",
  provisional: "provisional",
  /** @type {Record<string, string>} */
  states: { plays: "plays", waits: "waits", away: "away" },
  nobodyRated: "Nobody has a rated game yet.",
  each: (clock) => `${clock} each`,
  /** @param {number} games */
  ratedGames: (games) => `ratings from ${counted(games, "game")}`,
  /** @param {number} met @param {string} share */
  ratedFrom: (met, share) => `Rated from games with ${counted(met, "opponent")}, ${share} of them with the one it met most.`,
  met: "Opponents (most met)",
  ratedAt: (when) => `computed ${when}`,
  /** @param {number} wins @param {number} losses @param {number} ties */
  record: (wins, losses, ties) => `${wins} won, ${losses} lost, ${ties} tied`,
  faults: "Faults",
  forfeits: "Games lost by",
  /** @type {Record<string, string>} */
  mishaps: {
    time: "time", illegal: "illegal moves", resign: "resignation", no_show: "not coming", crash: "crashes", stall: "hangs",
    challenge: "challenges", disconnect: "lost connections", unrevealed: "a share of the draws not revealed",
  },
  ratingOverTime: "Rating over time",
  ratingIs: (name, rating, when) => `${name} has ${rating} on ${when}.`,
  opponents: "Opponents",
  opponent: "Opponent",
  wonLost: "Won – lost",
  lastGames: "Last rated games",
  players: "Players",
  outcome: "How it ended",
  /** @type {Record<string, string>} */
  endings: {
    out: "a player went out", zeroes: "scoreless turns in a row", resign: "resigned", time: "lost on time",
    illegal: "lost by illegal moves", crash: "lost, the process died twice", stall: "lost, the process hung twice",
    no_show: "a player did not come", host_error: "void", challenge: "lost by a challenge",
  },
  ended: "Ended",
  toLadder: "To the ladder",

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
  steps: "Steps",
  first: "To the beginning",
  back: "One turn back",
  forward: "One turn forward",
  last: "To the last turn",
  /** @param {number} turn @param {number} of */
  where: (turn, of) => `turn ${turn} of ${of}`,
  /** @param {number} later */
  later: (later) => `${counted(later, "later turn")}: go to the latest`,
  keys: "Arrow keys step back and forth, Home and End go to the beginning and the last turn.",
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
  rackHead: "Rack",
  time: "Time",
  clockHead: "Clock",
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

  // a review
  reviews: "Review",
  reviewTitle: "Review a game",
  noReviews: "This server does not analyse games.",
  reviewOf: "Review: ",
  reviewAbout: "Each turn is analysed on the server: what it cost, what was best, and why. Other moves can be tried on the board.",
  dropHere: "Drop a game (GCG) or a position (CGP) here.",
  chooseFile: "A file with a game or a position",
  orPaste: "Or paste it:",
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
  costAbout: "Chance lost: chance of winning, compared with the best move. ± is a 95 % interval. ✓: the best was played; *: a phony; ?: not proven; ✓ 3/12: the rack is not recorded, the loss is over 12 racks that it may have been, and the best was played in 3.",
  playedHead: "Played",
  bestHead: "Best",
  leftOut: "–",
  /** @param {number} best @param {number} racks */
  bestIn: (best, racks) => `✓ ${best}/${racks}`,
  wasBest: "the best",
  winReview: "Chance that the first player wins; click to go to a turn",
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
  /** @param {number} seconds */
  inSeconds: (seconds) => `${seconds.toFixed(1)} s`,
  interval: "± is a 95 % interval, for all moves together; ≈: can't be told from the best; worth: points gained on the opponent in the rollouts, the last leaves included",
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
  endsAt: (move, spread) => `${move} ${texts.resultIs(spread)}`,
  right: (best) => capital(`${best}, and no move does better.`),
  solutionIs: (best) => `The solution: ${best}.`,
  /** @param {string} move @param {number} points @param {string} best @param {number} spread @returns {string} */
  loses: (move, points, best, spread) => capital(`${move} loses ${counted(points, "point")}: ${best}, this ${texts.resultIs(spread)}.`),
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
