// Numbers, times and counts as the language of the page writes them.

import { language } from "./language.js";

const LOCALE = language === "en" ? "en-GB" : language;
const POINT = (1.1).toLocaleString(language).charAt(1);
const plural = new Intl.PluralRules(language);

/** @param {number} count */
export const grouped = (count) => count.toLocaleString(language);

/** So many of something: its word for one, for a few, and for many. @param {number} count @param {string} one @param {string} [few] @param {string} [many] */
export const counted = (count, one, few = `${one}s`, many = few) =>
  `${grouped(count)} ${{ zero: many, one, two: few, few, many, other: few }[plural.select(count)]}`;

/** @param {string} sentence */
export const capital = (sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;

/** @param {number} points */
export const signed = (points) => `${points < 0 ? "−" : "+"}${grouped(Math.abs(points))}`;

/** @param {number} ms */
export const clock = (ms) => {
  const whole = Math.abs(Math.floor(ms / 1000));
  return `${ms < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

/** @param {number} seconds */
export const inSeconds = (seconds) => `${seconds.toFixed(1).replace(".", POINT)} s`;

/** @param {number} ms */
export const duration = (ms) => (ms < 1000 ? `${ms} ms` : ms < 60000 ? inSeconds(ms / 1000) : clock(ms));

/** With one decimal, to the nearest; of two as near, as for 0.25, the even one: so Python rounds. @param {number} value */
export const rounded = (value) => Number((Math.abs(value) % 1 === .25 ? value - Math.sign(value) * .05 : value).toFixed(1)) + 0; // no -0

/** @param {number} value */
export const decimal = (value) => rounded(value).toFixed(1).replace("-", "−").replace(".", POINT);

/** @param {number} chance */
export const percent = (chance) => `${decimal(100 * chance)} %`;

/** @param {string} utc */
export const moment = (utc) => new Date(utc).toLocaleString(LOCALE, { dateStyle: "medium", timeStyle: "short" });

/** @param {string} date */
export const day = (date) => new Date(`${date}T00:00Z`).toLocaleDateString(LOCALE, { dateStyle: "medium", timeZone: "UTC" });

/** @param {string[]} players */
export const versus = (players) => players.join(" – ");

/** @param {{ rating: number, error: number }} rated */
export const rating = (rated) => `${Math.round(rated.rating)} ± ${Math.round(rated.error)}`;
