// The page: which view an address means.
//
//   #/                 what one can do here
//   #/games            games that are on, and past ones
//   #/game/ID          a game; #/game/ID/7: after its turn 7
//   #/now              on one's own screen, the game that is on, and the next when it is over
//   #/play             to play oneself
//   #/review           a game of one's own to review; #/review/ID: one of the server; #/review/ID/7: its turn 7
//   #/standings        how the tournament stands; #/standings/2: with the games of round 2
//   #/direct           the same for its directors, with what they may do
//   #/puzzles          endgames and pre-endgames to solve; #/puzzles/ID: one
//   #/drill            one's own mistakes again
//   #/study            a board to think at; #/study/LINK: a position; #/study/game/ID/7, #/study/review/ID/7: of a game
//   #/ladder           how the ladder stands; #/ladder/TABLE: at a table; #/ladder/TABLE/NAME: a player

import { button, h, toGames } from "./dom.js";
import { HomeView } from "./home.js";
import { inBrowser } from "./kept.js";
import { LANGUAGES, choose, language } from "./language.js";
import { GameList, StandingList } from "./lists.js";
import { AGAIN_MS, about, whyOf } from "./server.js";
import { texts } from "./texts.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));

/** @param {HTMLElement} view */
const put = (view) => {
  document.title = [/** @type {any} */ (view).heading, texts.title].filter(Boolean).join(" – ");
  main.replaceChildren(view);
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true }); // a view may put it on a field
  scrollTo(0, 0);
};

const route = () => {
  const hash = location.hash || "#/";
  const [kind = "", id = "", turn] = parts(hash), at = /^\d+$/.test(turn ?? "") ? Number(turn) : null;
  mark();
  if (kind === "game" && id) open(async () => (await import("./game_view.js")).GameView, id, at);
  else if (kind === "play") later(async () => new (await import("./play_view.js")).PlayView());
  else if (kind === "now") later(async () => new (await import("./own.js")).NowView());
  else if (kind === "ladder") later(async () => {
    const { LadderList, LadderPlayer } = await import("./ladder.js");
    return turn === undefined ? new LadderList(id) : new LadderPlayer(id, turn);
  });
  else if (kind === "review") open(async () => (await import("./review_view.js")).ReviewView, id, at);
  else if (kind === "puzzles") later(async () => {
    const { PuzzleList, PuzzleView } = await import("./puzzles_view.js");
    return id ? new PuzzleView(id) : new PuzzleList();
  });
  else if (kind === "drill") later(async () => new (await import("./drill.js")).DrillView());
  else if (kind === "study") later(async () => {
    const view = new (await import("./study_view.js")).StudyView();
    view.open(parts(hash).slice(1));
    return view;
  });
  else if (kind === "standings") put(new StandingList(id));
  else if (kind === "direct") later(async () => new (await import("./direct.js")).DirectView());
  else if (kind === "games") put(new GameList());
  else if (kind === "") put(new HomeView());
  else put(h("div", {}, h("h1", {}, texts.unknownPage(hash)), toGames()));
};

/** Show a view whose module is loaded first, unless another is asked for meanwhile. @param {() => Promise<HTMLElement>} load */
const later = async (load) => {
  const { hash } = location;
  const view = await load().catch(unloaded);
  if (hash === location.hash) put(view);
};

/** What is shown where a module can't be had: the line is down, or the server has another version by now. */
const unloaded = () => h("div", {}, h("h1", {}, texts.unloaded), h("p", {}, texts.unloadedWhy),
  h("p", {}, button(texts.loadAnew, () => location.reload(), "main")));

/**
 * Open a game or a review, in the view that shows it or in a new one.
 * @param {() => Promise<new () => HTMLElement & { id_: string, open: (id: string, at: number | null) => void }>} load
 * @param {string} id @param {number | null} at
 */
const open = async (load, id, at) => {
  const { hash } = location, View = await load().catch(() => null);
  if (hash !== location.hash) return;
  if (!View) return put(unloaded());
  let view = main.firstElementChild;
  if (!(view instanceof View) || !id || view.id_ !== id) put((view = new View()));
  if (view instanceof View) view.open(id, at);
};

/** Mark the view that is shown. */
const mark = () => {
  const [kind = ""] = parts(location.hash || "#/");
  for (const each of nav.querySelectorAll("a")) {
    if (each.hash === `#/${kind}`) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
};

/** @param {string} hash */
const parts = (hash) => {
  try {
    return hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return ["?"]; // a broken percent sign
  }
};

/** @param {string} hash @param {string} text */
const link = (hash, text) => h("a", { href: hash }, text);

const keys = () => import("./keys.js").then(({ showKeys }) => showKeys(main.firstElementChild?.localName ?? ""), () => {});
const languages = Object.entries(LANGUAGES).filter(([tag]) => tag !== language).map(([tag, name]) =>
  h("button", { type: "button", class: "language", lang: tag, click: () => choose(tag) }, name));
const colours = h("select", { "aria-label": texts.colours, title: texts.colours, change: () => {
  inBrowser.set("theme", colours.value || null);
  dispatchEvent(new CustomEvent("theme", { detail: colours.value }));
} }, ...Object.entries(texts.schemes).map(([value, name]) => h("option", { value, selected: value === inBrowser.get("theme") }, name)));
document.documentElement.lang = language;
nav.setAttribute("aria-label", texts.views);
nav.append(link("#/games", texts.games));
nav.after(h("div", { class: "corner" }, ...languages, colours,
  h("button", { type: "button", class: "keyboard", title: texts.keysTitle, "aria-label": texts.keysTitle, click: keys }, "?")));
addEventListener("keydown", (event) => {
  const at = event.target instanceof Element ? event.target : document.body;
  if (event.key !== "?" || event.defaultPrevented || event.ctrlKey || event.metaKey || at.closest("input, textarea, select, dialog")) return;
  event.preventDefault();
  keys();
});
addEventListener("hashchange", route);
const skip = /** @type {HTMLElement} */ (document.querySelector(".skip"));
skip.textContent = texts.toContent;
skip.addEventListener("click", (event) => {
  event.preventDefault(); // its hash is none of ours
  main.focus();
});
addEventListener("locked", () => import("./own.js").then(({ CodeEntry }) => {
  if (!(main.firstElementChild instanceof CodeEntry)) put(new CodeEntry());
}, () => put(unloaded())));
route();
const showNav = () => about().then(async ({ tournament, ladder, own, analysis, study }) => {
  if (own) {
    if (!location.hash) location.replace("#/now");
    nav.prepend(link("#/now", texts.now));
    nav.after(h("p", { class: "note own" }, own.live ? texts.ownLive : texts.ownLater(await whyOf("", own.why))));
  }
  if (!tournament && !own) nav.append(link("#/play", texts.playTitle));
  if (ladder) nav.append(link("#/ladder", texts.ladder));
  if (tournament) nav.append(link("#/standings", texts.standings));
  nav.append(link("#/puzzles", texts.puzzles));
  if (analysis || inBrowser.get("mistakes")?.length) nav.append(link("#/drill", texts.drillTitle)); // a review keeps them
  if (analysis) nav.append(link("#/review", texts.reviews));
  if (study) nav.append(link("#/study", texts.study));
  mark();
}, ({ status }) => { if (status !== 401) setTimeout(showNav, AGAIN_MS); }); // the view says why the server does not answer
showNav();
