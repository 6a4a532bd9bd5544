// How puzzles went in this browser, which of them is next, and all that as a file. No elements.

import { merge, packed } from "./boxes.js";
import { inBrowser, inWindow } from "./kept.js";
import { readThemes } from "./puzzle.js";
import { puzzleTexts as texts } from "./puzzle_texts.js";

/** @import { Index, Listed } from "./puzzle.js" */
/** @typedef {"solved" | "helped" | "missed" | "tried"} Result At once; after a wrong move, or with help; the solution was shown; not yet. */
/** @typedef {Record<string, Result>} Results */

const FORM = 1, BETTER = ["tried", "missed", "helped", "solved"];
/** Most moves that look better and fail, by level. */
export const LEVELS = [2, 8, 28, Infinity];
/** One goes on at a level until so many of it are solved, and this share of those tried at once. */
const ENOUGH = 5, WELL = 0.6;

/** @param {Listed} listed */
export const levelOf = ({ rank }) => LEVELS.findIndex((most) => rank - 1 <= most);

/** @returns {Results} */
export const results = () => inBrowser.get("puzzles") ?? {};

/** Keep how a puzzle went, unless it went better before. Return whether the browser keeps it. @param {Results} went */
export const keep = (went) => {
  const known = results();
  const better = Object.entries(went).filter(([id, result]) => BETTER.indexOf(result) > BETTER.indexOf(known[id] ?? ""));
  return inBrowser.set("puzzles", { ...known, ...Object.fromEntries(better) });
};

/** @param {Result} [result] */
export const isSolved = (result) => result === "solved" || result === "helped";

// --- which ---

/** What is chosen to be shown: a kind, a theme, `wrong`; empty: all. @returns {string} */
export const theme = () => inWindow.get("puzzle-theme") ?? "";

/** @param {string} chosen */
export const choose = (chosen) => inWindow.set("puzzle-theme", chosen || null);

/** The puzzles that are chosen, the easiest first. @param {Index} index @returns {Promise<Listed[]>} */
export const chosen = async ({ puzzles, themes }) => {
  const wanted = theme(), known = results();
  const ids = wanted in themes ? new Set((await readThemes())[wanted]) : null;
  const suits = (/** @type {Listed} */ { id, kind }) => !wanted || kind === wanted || ids?.has(id) || (wanted === "wrong" && id in known && known[id] !== "solved");
  return puzzles.filter(suits).sort((one, other) => levelOf(one) - levelOf(other));
};

/** The next that is not solved: after a puzzle, else of the level that one has come to. @param {Listed[]} listed @param {string} [after] */
export const nextOf = (listed, after) => {
  const known = results(), isOpen = (/** @type {Listed} */ { id }) => !isSolved(known[id]) && id !== after;
  const level = LEVELS.findIndex((_, each) => {
    const tried = listed.filter((puzzle) => levelOf(puzzle) === each && known[puzzle.id] && known[puzzle.id] !== "tried");
    const atOnce = tried.filter(({ id }) => known[id] === "solved").length;
    return tried.length < ENOUGH || atOnce < WELL * tried.length;
  });
  const here = after ? listed.findIndex(({ id }) => id === after) + 1 : listed.findIndex((puzzle) => levelOf(puzzle) >= level);
  return [...listed.slice(Math.max(here, 0)), ...listed.slice(0, Math.max(here, 0))].find(isOpen);
};

// --- as a file ---

/** @param {string} lexicon */
export const asFile = (lexicon) => `${JSON.stringify({ tilewire: "puzzles", form: FORM, lexicon, puzzles: results(), ...packed() })}\n`;

/**
 * Take progress from a file, without losing what is better here; return what is to be said.
 * @param {{ name: string, text: () => Promise<string> }} file @param {Index} index
 */
export const takeFile = async (file, { lexicon, puzzles }) => {
  /** @type {any} */
  let told = null;
  try {
    told = JSON.parse(await file.text());
  } catch {} // it is none
  if (told?.tilewire !== "puzzles" || !Number.isInteger(told.form)) return texts.noProgress(file.name);
  if (told.form !== FORM) return texts.laterProgress(file.name, told.form);
  const went = Object.entries(told.puzzles ?? {}).filter(([, result]) => BETTER.includes(result));
  const here = new Set(puzzles.map(({ id }) => id)), elsewhere = went.filter(([id]) => !here.has(id)).length;
  const isKept = keep(Object.fromEntries(went)), mistakes = merge(told);
  return [
    texts.taken(went.length, mistakes, elsewhere), told.lexicon === lexicon ? "" : texts.otherWords(String(told.lexicon), lexicon), isKept ? "" : texts.notKept,
  ].filter(Boolean).join(" ");
};
