// What is said by home, lists and ladder.

import { counted } from "./formats.js";

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const lists = {
  title: "tilewire",
  views: "Views",
  toContent: "To the content",
  games: "Games",
  standings: "Standings",
  loading: "One moment …",
  keysTitle: "Keys of this view",
  colours: "Colours",
  /** @type {Record<string, string>} */
  schemes: { "": "◐ Auto", light: "Light", dark: "Dark" },

  // lists
  on: "Games in progress",
  noneOn: "No game is in progress. A new one appears here by itself.",
  past: "Past games",
  takenBack: "a move was taken back; another game goes on from there",
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
  direct: "For directors",

  // a ladder
  ladder: "Ladder",
  tables: "Tables",
  bots: "Bots",
  persons: "People",
  rating: "Rating (95\u00a0%)",
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
    wrong_score: "wrong scores", wrong_rack: "wrong racks", not_a_move: "unreadable moves", not_on_rack: "tiles not on the rack", not_a_word: "not a word",
    nothing_placed: "no tile placed", too_short: "too short", misses_start: "start not covered", not_connected: "not connected", not_whole_word: "half a word",
    exchange_too_few_in_bag: "exchanges from too small a bag", exchange_limit: "exchanges too many",
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
  /** How a game ended, as the server says it. @type {(outcome: string, message: string) => string} */
  endedSo: (_outcome, message) => message,
  ended: "Ended",
  toLadder: "To the ladder",
};
