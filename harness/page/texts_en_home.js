// What the first view says, besides lists.

export const home = {
  heading: "Play, watch and study crossword games",
  ownHeading: "Watch the games of this machine",
  live: "A game in progress",
  ended: "The last game",
  example: "An example of two bots: no game is on now",
  follow: "Follow this game",
  playAgainst: (/** @type {string} */ name, /** @type {number | undefined} */ rating) =>
    `Play ${name}${rating === undefined ? "" : ` (${Math.round(rating)})`}`,
  /** What it does, as the server says it. */
  bot: (/** @type {string} */ name, /** @type {string} */ about) => `${name} ${about.startsWith("a ") ? "is " : ""}${about}.`,
  levels: "Bots for beginners, for players of a club and for experts; one click starts a game.",
  ratedBots: "Bots and their ratings here; one click starts a game.",
  playOther: "Choose another opponent",
  goOn: (/** @type {string} */ name) => `Go on with your game against ${name}`,
  study: "Study",
  studyAbout: "Set up any position, look at its moves, simulate, try and save.",
  toStudy: "Set up a board",
  reviewAbout: "What each turn of a game cost, what was best, and why.",
  puzzlesAbout: "Endgames and pre-endgames with proven solutions, and what you got wrong in your own games.",
  toPuzzles: (/** @type {number} */ solved) => (solved ? `Go on (${solved} solved)` : "Solve one"),
  drill: "Your own mistakes: a review keeps them",
  due: (/** @type {number} */ count) => `Your own mistakes: ${count} due`,
  wholeLadder: "The whole ladder",
  toStandings: "How the tournament stands",
  allGames: "All games",
};
