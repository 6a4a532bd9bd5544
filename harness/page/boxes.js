// A drill by boxes (Leitner 1972): a right answer moves a mistake to the next box, which comes up later; a
// wrong one moves it back to the first. No elements.

import { inBrowser } from "./kept.js";
import { readMove, readOpening } from "./notation.js";

/** @typedef {{ position: string, played: string, best: string, rivals?: string[], lost_win: number | null, lost_points: number, game: string | null, turn: number, when: string, kind?: string, last?: string | null }} Mistake
 *   `rivals`: moves that the review could not tell from the best; `kind` of rules; `last`: the move before it. Mistakes that were kept long ago lack them. */
/** @typedef {{ box: number, due: number }} Card `due` is a time in milliseconds. */

const MOST_MISTAKES = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days until a mistake of a box comes up again. */
export const DAYS = [0, 1, 3, 7, 21];

/** @param {Mistake} mistake */
const cardOf = ({ position, played }) => `${position} ${played}`;

/** @returns {Mistake[]} */
const mistakes = () => inBrowser.get("mistakes") ?? [];

/** @returns {Record<string, Card>} */
const cards = () => inBrowser.get("drill") ?? {};

/** The mistakes that are due, those of the first boxes first. @param {number} now */
export const due = (now) => {
  const known = cards();
  const box = (/** @type {Mistake} */ mistake) => known[cardOf(mistake)]?.box ?? 0;
  return mistakes().filter((mistake) => (known[cardOf(mistake)]?.due ?? 0) <= now).sort((a, b) => box(a) - box(b));
};

/** When the next mistake is due; null: there is none. @param {number} now */
export const nextDue = (now) => {
  const known = cards();
  const later = mistakes().map((mistake) => known[cardOf(mistake)]?.due ?? 0).filter((at) => at > now);
  return later.length ? Math.min(...later) : null;
};

/** Keep an answer; mistakes that are kept no longer are forgotten. @param {Mistake} mistake @param {boolean} isRight @param {number} now */
export const answered = (mistake, isRight, now) => {
  const known = cards(), key = cardOf(mistake);
  const box = isRight ? Math.min((known[key]?.box ?? 0) + 1, DAYS.length - 1) : 0;
  const all = { ...known, [key]: { box, due: now + (isRight ? (DAYS[box] ?? 0) * DAY_MS : 0) } };
  const kept = new Set(mistakes().map(cardOf));
  inBrowser.set("drill", Object.fromEntries(Object.entries(all).filter(([each]) => kept.has(each))));
};

/** Put mistakes before those that were kept, once each. @param {Mistake[]} more @returns {boolean} whether the browser keeps them */
export const keepMistakes = (more) => {
  const known = new Set(more.map(cardOf));
  return inBrowser.set("mistakes", [...more, ...mistakes().filter((each) => !known.has(cardOf(each)))].slice(0, MOST_MISTAKES));
};

/** Take the mistakes in some positions out of the drill. @param {string[]} positions */
export const forgetAll = (positions) => {
  inBrowser.set("mistakes", mistakes().filter(({ position }) => !positions.includes(position)));
};

/** Take a mistake out of the drill. @param {Mistake} mistake */
export const forget = (mistake) => {
  inBrowser.set("mistakes", mistakes().filter((each) => cardOf(each) !== cardOf(mistake)));
};

/** All that is kept, for a file. */
export const packed = () => ({ mistakes: mistakes(), drill: cards(), equipments: inBrowser.get("equipments") ?? {} });

/** Take what another browser kept; a card stays in the higher of its boxes. Return how many mistakes came. @param {any} told */
export const merge = (told) => {
  const sound = (Array.isArray(told.mistakes) ? told.mistakes : []).filter(isMistake), known = cards();
  const isHigher = (/** @type {[string, any]} */ [key, card]) => Number.isInteger(DAYS[card?.box]) && Number.isFinite(card.due) && (known[key]?.box ?? -1) < card.box;
  keepMistakes([...mistakes(), ...sound]);
  inBrowser.set("drill", { ...known, ...Object.fromEntries(Object.entries(told.drill ?? {}).filter(isHigher)) });
  const boards = Object.entries(told.equipments ?? {}).filter(([, each]) => Number.isInteger(each?.layout?.columns) && Array.isArray(each.layout.letter) && Array.isArray(each.layout.word) && Array.isArray(each.tiles));
  inBrowser.set("equipments", { ...Object.fromEntries(boards), ...inBrowser.get("equipments") });
  return sound.length;
};

/** Whether the drill can ask a mistake. @param {any} told */
const isMistake = (told) => {
  try {
    return readOpening(told.position).racks[0] !== "" && [told.played, told.best, ...(told.rivals ?? [])].every((move) => readMove(move, 15)) && Number.isFinite(told.lost_points);
  } catch {
    return false;
  }
};
