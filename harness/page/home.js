// The first view: what one can do here.

import { due } from "./boxes.js";
import { button, h, keepingFocus, names } from "./dom.js";
import { homeTexts } from "./home_texts.js";
import { inBrowser, inWindow } from "./kept.js";
import { Asking, isTakenBack, scored } from "./lists.js";
import { ask, gameHash } from "./server.js";
import { SmallGame } from "./small_game.js";
import { rating, texts } from "./texts.js";

/** @import { Listed } from "./lists.js" */
/** @import { Row } from "./ladder.js" */
/** @import { Settings } from "./play_form.js" */
/** @typedef {{ on: Listed[], past: Listed[], tournament: boolean, ladder: boolean, own: object | null, analysis: boolean, study?: boolean }} Told */
/** @typedef {{ table: string, bots: Row[], persons: Row[] }} Ladder */

/** Bots that suit most people, where no rating says more, the first first; and those for others. */
const USUAL = ["club", "static"], LEVELS = ["beginner", "expert"], LADDER_LISTED = 5, PAST_LISTED = 4;

export class HomeView extends Asking {
  path = "api/games";
  heading = "";
  small = new SmallGame();
  cards = h("div", { class: "cards" });
  /** @type {Promise<[Settings | null, Ladder | null]> | null} What is asked for once. */
  offers = null;

  /** @param {Told} told */
  async show({ on, past, tournament, ladder, own, analysis, study }) {
    if (!this.small.isConnected) {
      this.replaceChildren(h("h1", {}, own ? homeTexts.ownHeading : homeTexts.heading), this.trouble, h("div", { class: "home-view" }, this.small, this.cards));
    }
    this.small.look(on.map(({ game }) => game));
    this.offers ??= Promise.all([tournament || own ? null : ask("api/play").catch(() => null), ladder ? ask("api/ladder").catch(() => null) : null]);
    const [play, standing] = await this.offers, drilled = due(Date.now()).length;
    const goesOn = (inBrowser.get("own games") ?? []).find((/** @type {{ result: string }} */ { result }) => !result);
    const solved = Object.values(inBrowser.get("puzzles") ?? {}).filter((each) => each === "solved" || each === "helped").length;
    const first = standing ? [...standing.bots, ...standing.persons].sort((one, other) => other.rating - one.rating).slice(0, LADDER_LISTED) : [];
    const cards = [
      own && card(texts.now, [], link("#/now", homeTexts.follow)),
      play?.bots.length && card(texts.playTitle, choice(play, standing), link("#/play", homeTexts.playOther), goesOn && link("#/play", homeTexts.goOn(goesOn.opponent))),
      tournament && card(texts.standings, [], link("#/standings", homeTexts.toStandings)),
      study && card(homeTexts.study, [homeTexts.studyAbout], link("#/study", homeTexts.toStudy)),
      analysis && card(texts.reviews, [homeTexts.reviewAbout], link("#/review", texts.reviewTitle)),
      card(texts.puzzles, [homeTexts.puzzlesAbout], link("#/puzzles", homeTexts.toPuzzles(solved)), (analysis || drilled > 0) && link("#/drill", drilled > 0 ? homeTexts.due(drilled) : homeTexts.drill)),
      standing && card(texts.ladder, [h("ol", {}, ...first.map((row) => h("li", {},
        h("a", { href: `#/ladder/${encodeURIComponent(standing.table)}/${encodeURIComponent(row.name)}` }, h("bdi", {}, row.name)), " ", h("span", { class: "result" }, rating(row)))))],
      link("#/ladder", homeTexts.wholeLadder)),
      past.length > 0 && card(texts.past, [h("ul", {}, ...past.filter(({ game }) => !isTakenBack(game)).slice(0, PAST_LISTED).map(({ game, players, scores }) =>
        h("li", {}, h("a", { href: gameHash(game) }, ...names(players)), " ", scored(scores))))], link("#/games", homeTexts.allGames)),
    ].flatMap((each) => each || []);
    const shown = cards.map((each) => each.outerHTML).join("");
    if (shown === this.drawn) return;
    this.drawn = shown;
    keepingFocus(this.cards, () => this.cards.replaceChildren(...cards));
  }
}

/** @param {string} title @param {(Node | string)[]} told @param {...(HTMLElement | false)} links */
const card = (title, told, ...links) => h("section", { class: "card" }, h("h2", {}, title),
  ...told.map((each) => (typeof each === "string" ? h("p", {}, each) : each)), h("p", { class: "links" }, ...links));

/** @param {string} hash @param {string} text */
const link = (hash, text) => h("a", { href: hash }, text);

/** The bots that one may begin with at a click, and what is said of them. @param {Settings} play @param {Ladder | null} standing */
const choice = (play, standing) => {
  const bots = suiting(play, standing), nearest = Math.min(...bots.map(({ apart }) => apart));
  const about = bots[0]?.rating !== undefined ? homeTexts.ratedBots : bots.length > 1 ? homeTexts.levels
    : homeTexts.bot(bots[0]?.name ?? "", texts.about(play.bots.find(({ name }) => name === bots[0]?.name)?.about ?? ""));
  return [about, h("div", { class: "choices" }, ...bots.map(({ name, rating: rated, apart }) => {
    const begin = button(homeTexts.playAgainst(name, rated), () => {
      inWindow.set("wish", name);
      location.hash = "#/play";
    });
    begin.classList.toggle("main", apart === nearest);
    return begin;
  }))];
};

/** Rated bots about as strong as one is oneself, else as the middle one; without ratings the usual one, between those for beginners and experts. @param {Pick<Settings, "bots" | "opponent" | "name">} play @param {Ladder | null} standing @returns {{ name: string, rating?: number, apart: number }[]} */
export const suiting = (play, standing) => {
  const known = (/** @type {string} */ name) => play.bots.some((bot) => bot.name === name);
  const rated = (standing?.bots ?? []).filter(({ name, provisional }) => known(name) && !provisional).sort((one, other) => one.rating - other.rating);
  const usual = [play.opponent, ...USUAL].find((each) => each && known(each)) ?? play.bots[0]?.name;
  if (!rated.length) {
    const others = usual === USUAL[0] ? LEVELS : [];
    return play.bots.flatMap(({ name }) => (name === usual || others.includes(name) ? [{ name, apart: Number(name !== usual) }] : [])); // from weak to strong
  }
  const own = standing?.persons.find(({ name }) => name === (play.name ?? inBrowser.get("name"))) ?? rated[Math.floor(rated.length / 2)];
  const near = rated.map(({ name, rating: each }) => ({ name, rating: each, apart: Math.abs(each - (own?.rating ?? 0)) }));
  const at = near.reduce((best, { apart }, index) => (apart < (near[best]?.apart ?? 0) ? index : best), 0);
  return near.slice(Math.max(0, at - 1), at + 2);
};

customElements.define("home-view", HomeView);
