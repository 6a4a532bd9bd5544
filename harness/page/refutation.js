// How a puzzle goes on after a move that is not its best: played out by the server, which solves the position after
// each move as it does for a review.

import { Analysis, inBase64 } from "./analysis.js";
import { tilesOf } from "./notation.js";
import { about } from "./server.js";
import { cgpOf, fromCgp, play, reached, withRack } from "./study.js";
import { linkOf } from "./study_text.js";

/** @import { Line, Puzzle } from "./puzzle.js" */
/** @typedef {{ move: string, score: number }} Found */

const SECONDS = 2, MOST_MOVES = 16;

/**
 * Return a line to the end of the game by the best play of both; null: the server can't say.
 * @param {Puzzle} puzzle @param {Line} known its first moves @param {string} [tile] the one in the bag, which the first move draws @returns {Promise<Line | null>}
 */
export const playedOut = async (puzzle, known, tile) => {
  const { equipment, listed, columns } = puzzle, line = [...known];
  if (tile !== undefined && line[0]?.[0] === "-" || !(await about().catch(() => null))?.analysis) return null; // a pass draws nothing: the bag stays
  let study = fromCgp(listed.position), path = /** @type {number[]} */ ([]);
  if (tile !== undefined) {
    const theirs = puzzle.unseen.flatMap(([each, count]) => Array.from({ length: count - (each === tile ? 1 : 0) }, () => each));
    study = withRack(study, path, 1, theirs.join(""));
  }
  const step = (/** @type {string} */ move, /** @type {number} */ score) => {
    ({ study, path } = play(study, path, move, score, equipment));
    if (tile !== undefined && path.length === 1) study = withRack(study, path, 0, reached(study, path, columns).position.racks[0] + tile);
    return reached(study, path, columns).position;
  };
  const analysis = new Analysis();
  try {
    let position = study.start;
    for (const [move, score] of line) position = step(move, score);
    while (tilesOf(position.racks[position.onTurn ? 0 : 1]).length && line.slice(-2).filter(([move]) => move === "-").length < 2 && line.length < MOST_MOVES) {
      const found = await best(analysis, cgpOf(position, equipment, puzzle.lexicon));
      if (!found) return null;
      line.push([found.move, found.score]);
      position = step(found.move, found.score);
    }
    return line;
  } finally {
    analysis.close();
  }
};

/** The best move in a position, as the server finds it. @param {Analysis} analysis @param {string} cgp @returns {Promise<Found | null>} */
const best = (analysis, cgp) => new Promise((resolve) => {
  analysis.ask(inBase64(new TextEncoder().encode(cgp)), { line: 0, seconds: SECONDS }, (message) => {
    if (message.type === "turn") resolve(message.candidates.find((/** @type {Found} */ { move }) => move === message.verdict.best) ?? null);
    else if (message.type === "error" || message.type === "done") resolve(null);
  });
});

/** Where the study shows a puzzle's position; null: this server has no study. @param {Puzzle} puzzle */
export const studyHash = async (puzzle) => {
  const { study } = await about().catch(() => ({ study: false }));
  return study ? `#/study/${linkOf({ ...fromCgp(puzzle.listed.position), lexicon: puzzle.lexicon }, [], puzzle.equipment)}` : null;
};
