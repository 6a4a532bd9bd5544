// One's own games, as this browser keeps them: those that go on, and results by opponent.

import { button, h, table } from "./dom.js";
import { inBrowser } from "./kept.js";
import { playTexts } from "./play_texts.js";
import { gameHash } from "./server.js";
import { moment, texts } from "./texts.js";

/** @typedef {"" | "won" | "lost" | "tied" | "void" | "left"} Result Empty: it goes on; left: a move was taken back, in another game. */
/** @typedef {{ game: string, name: string, opponent: string, when: number, scores: [number, number], result: Result, helped?: boolean, from?: { game: string, turn: number } }} Own
 *   `scores`: one's own first; `from`: the game and turn that it goes on from. */

const MOST = 300, LISTED = 10, FEW = 6;

/** The latest first. @returns {Own[]} */
export const ownGames = () => inBrowser.get("own games") ?? [];

/** Keep what is known of a game. @param {string} game @param {Partial<Own>} known */
export const noteGame = (game, known) => {
  const all = ownGames(), at = all.findIndex((each) => each.game === game);
  if (at >= 0) all[at] = { .../** @type {Own} */ (all[at]), ...known };
  else all.unshift(/** @type {Own} */ ({ game, when: Date.now(), ...known }));
  inBrowser.set("own games", all.slice(0, MOST));
};

/** The games that go on. @param {(own: Own) => void} goOn */
export const unfinished = (goOn) => {
  const on = ownGames().filter(({ result }) => !result);
  return on.length ? h("section", { class: "card" }, h("h2", {}, playTexts.unfinished), ...on.map((own) => {
    const against = playTexts.against(own.opponent, ...own.scores);
    return h("p", {}, h("bdi", {}, against), " ",
      h("button", { type: "button", class: "main", "aria-label": `${playTexts.goOn} ${against}`, click: () => goOn(own) }, playTexts.goOn), " ",
      button(playTexts.forget, ({ target }) => {
        noteGame(own.game, { result: "void" });
        /** @type {HTMLElement} */ (target).closest("p")?.remove();
      }));
  })) : "";
};

/** How the others ended. */
export const results = () => {
  const over = ownGames().filter(({ result }) => result);
  return over.length ? h("section", {}, h("h2", {}, playTexts.own), byOpponent(over),
    h("details", { open: over.length < FEW }, h("summary", {}, playTexts.lastGames), h("ul", {}, ...over.slice(0, LISTED).map(listed))),
    h("p", { class: "note" }, playTexts.ownNote)) : "";
};

/** @param {Own[]} over */
const byOpponent = (over) => {
  /** @type {Map<string, Own[]>} */
  const met = new Map();
  for (const own of over) if (own.result !== "left" && own.result !== "void") met.set(own.opponent, [...met.get(own.opponent) ?? [], own]);
  const rows = [...met].map(([opponent, games]) => {
    const count = (/** @type {Result} */ result) => games.filter((own) => own.result === result).length;
    const mean = (/** @type {0 | 1} */ seat) => Math.round(games.reduce((sum, { scores }) => sum + scores[seat], 0) / games.length);
    return { cells: [h("bdi", {}, opponent), games.length, `${count("won")} – ${count("lost")} – ${count("tied")}`, `${mean(0)} : ${mean(1)}`] };
  });
  return rows.length ? table(playTexts.own, [texts.opponent, texts.played, playTexts.wonLost, playTexts.average], rows) : "";
};

/** @param {Own} own */
const listed = ({ game, opponent, when, scores, result, helped }) => h("li", {},
  h("a", { href: gameHash(game) }, h("bdi", {}, opponent), ` ${scores.join(" : ")}`), " ",
  h("span", { class: "note" }, [playTexts.results[result], helped && playTexts.withHelp, moment(new Date(when).toISOString())].filter(Boolean).join(", ")));
