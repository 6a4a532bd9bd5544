// Lists: games that are on and past ones, and how a tournament stands.

import { h, keepingFocus, names, table, toGames } from "./dom.js";
import { inBrowser } from "./kept.js";
import { AGAIN_MS, Trouble, about, ask, gameHash, whyOf } from "./server.js";
import { grouped, moment, signed, texts } from "./texts.js";

/** @typedef {{ game: string, players: [string, string], scores: [number, number], turns: number, begun?: string, message?: string, outcome?: string, rules: string }} Listed */

/** A view that asks again and again for what it shows, while somebody may look. */
export class Asking extends HTMLElement {
  path = "";
  heading = texts.games;
  timer = 0;
  drawn = "";
  trouble = h("p", { class: "banner", role: "status", hidden: true });
  onSight = () => {
    if (!document.hidden) this.refresh();
  };

  connectedCallback() {
    document.addEventListener("visibilitychange", this.onSight);
    this.refresh();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.onSight);
    clearTimeout(this.timer);
  }

  async refresh() {
    clearTimeout(this.timer);
    if (!this.path) return; // it is told
    try {
      const told = await ask(this.path);
      if (!this.isConnected) return;
      this.trouble.hidden = true;
      await this.show(told);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      if (!this.isConnected) return;
      const isFinal = error.status === 404 || error.status === 400; // asking again changes nothing
      const sentence = isFinal ? error.message : texts.triesAgain(error.message);
      this.trouble.hidden = false;
      if (this.trouble.textContent !== sentence) this.trouble.textContent = sentence; // it is said when it changes
      if (!this.firstChild) this.append(h("h1", {}, this.heading), this.trouble);
      if (isFinal) {
        document.removeEventListener("visibilitychange", this.onSight);
        this.append(toGames());
        return;
      }
    }
    if (this.isConnected && !document.hidden) this.timer = setTimeout(() => this.refresh(), AGAIN_MS);
  }

  /** @param {any} _told @returns {void | Promise<void>} */
  show(_told) {}

  /** Draw all anew if anything has changed; the keyboard goes on where it was, and tables stay scrolled. @param {...(Node | string)} parts */
  redraw(...parts) {
    const now = parts.map((part) => (part instanceof Element ? part.outerHTML : String(part))).join("");
    if (now === this.drawn) return;
    this.drawn = now;
    const before = [...this.querySelectorAll(".scroll")].map(({ scrollLeft }) => scrollLeft);
    keepingFocus(this, () => this.replaceChildren(...parts));
    this.querySelectorAll(".scroll").forEach((each, index) => { each.scrollLeft = before[index] ?? 0; });
  }
}

export class GameList extends Asking {
  path = "api/games";
  on = h("div");
  past = h("div");
  /** @type {Listed[]} The past games that were told last. */
  newest = [];
  /** @type {Listed[]} Those before them. */
  older = [];
  /** @type {string | null} The game before which there are more. */
  cursor = null;
  isAsking = false;
  more = h("button", { type: "button", hidden: true, click: () => this.showMore() }, texts.earlier);

  /** @param {{ on: Listed[], past: Listed[], before: string | null }} told */
  show(told) {
    if (!this.on.isConnected) {
      this.replaceChildren(
        h("h1", {}, texts.games), this.trouble,
        h("h2", {}, texts.on), this.on, h("h2", {}, texts.past), this.past, this.more);
    }
    list(this.on, told.on, texts.noneOn);
    const { length } = this.older, newest = new Set(told.past.map(({ game }) => game));
    if (this.newest.some(({ game }) => newest.has(game))) {
      if (this.older.length || this.isAsking) this.older.unshift(...this.newest); // some have made room for newer ones
    } else {
      this.older = []; // so many are new that others lie between
    }
    this.older = this.older.filter(({ game }) => !newest.has(game));
    if (this.older.length > length && !this.isAsking) { // as many as were asked for
      this.older.length = length;
      this.cursor = this.older.at(-1)?.game ?? null;
    }
    this.newest = told.past;
    list(this.past, [...told.past, ...this.older], texts.nonePast);
    if (!this.older.length && !this.isAsking) this.cursor = told.before;
    this.more.hidden = this.cursor === null;
  }

  async showMore() {
    const before = this.cursor;
    this.isAsking = true;
    try {
      const told = await ask(`api/games?before=${encodeURIComponent(before ?? "")}`);
      if (before !== this.cursor) return; // it was asked for twice
      this.older.push(...told.past);
      this.cursor = told.before;
    } catch (error) {
      this.trouble.hidden = false;
      this.trouble.textContent = error instanceof Trouble ? error.message : String(error);
      return;
    } finally {
      this.isAsking = false;
    }
    this.refresh();
  }
}

/** Update a list where it has changed only, so that focus and selection stay. @param {Element} place @param {Listed[]} games @param {string} none */
const list = (place, games, none) => {
  const now = JSON.stringify(games);
  if (place.getAttribute("data-shown") === now) return;
  place.setAttribute("data-shown", now);
  keepingFocus(place, () => place.replaceChildren(
    games.length ? h("ul", { class: "games" }, ...games.map(entry)) : h("p", { class: "note" }, none)));
};

/** @param {number[]} scores */
export const scored = (scores) => h("span", { class: "result" }, `${scores[0]} – ${scores[1]}`.replaceAll("-", "−"));

/** Whether a move of one's own was taken back in a game, which went on as another. @param {string} game */
export const isTakenBack = (game) => (inBrowser.get("own games") ?? []).some((/** @type {{ game: string, result: string }} */ own) => own.game === game && own.result === "left");

/** @param {Listed} each */
const entry = ({ game, players, scores, turns, begun, message, outcome, rules }) =>
  h("li", {},
    h("a", { href: gameHash(game) }, ...names(players)),
    scored(scores),
    h("span", { class: "note" }, [rules !== "english" && rules, texts.turns(turns), begun && moment(begun), outcome === "host_error" && texts.endings.host_error, message && outcome !== "out" && (isTakenBack(game) ? texts.takenBack : texts.endedSo(outcome ?? "", message))].filter(Boolean).join(" · ")));

/** @typedef {{ name: string, points: number, spread: number, games: number, byes: number, half_byes?: number, presence: string }} Row */
/** @typedef {{ round: number, names: string[], half: boolean }} Arrangement */
/** @typedef {{ number: number, players: [string, string], scores: [number, number] | null, game: string | null, outcome: string | null, winner?: 0 | 1 | null }} RoundGame */
/** @typedef {{ round: number, rounds: number | null, paused: boolean, over: boolean, waits?: string, rows: Row[], games: RoundGame[], arranged?: Arrangement[] }} Standing */
/** @typedef {{ heading: string, entrant: (row: Row) => Node | string, game: (game: RoundGame) => Node | string, arrangement: (arranged: Arrangement) => Node | string }} Acts */

export class StandingList extends Asking {
  /**
   * @param {string} [shown] The round whose games are shown; empty: the last that has begun.
   * @param {Acts | null} [acts] What a director may do about what is listed, which its view shows here.
   */
  constructor(shown = "", acts = null) {
    super();
    this.acts = acts;
    this.path = acts ? "" : `api/standings${shown && `/${encodeURIComponent(shown)}`}`;
    this.heading = texts.standings;
    this.shown = shown;
  }

  /** @param {Standing} told */
  async show(told) {
    const { acts } = this, mayDirect = !acts && !(await about().catch(() => null))?.own;
    const waits = told.waits ? await whyOf("", told.waits) : "";
    const isRound = told.rounds !== 1, somebodyIsAway = told.rows.some(({ presence }) => presence !== "here");
    const hasByes = told.rows.some(({ byes, half_byes }) => byes || half_byes);
    const state = [isRound && texts.round(told.round, told.rounds), told.paused && texts.paused, told.over && texts.tournamentOver];
    const rows = told.rows.map((row, index) => ({
      cells: [h("span", {}, `${index + 1}. `, h("bdi", {}, row.name)), grouped(row.points), signed(row.spread), row.games,
        ...(hasByes ? [[row.byes || "", row.half_byes && `${row.half_byes} × ½`].filter(Boolean).join(", ")] : []),
        ...(somebodyIsAway ? [texts.presences[row.presence] ?? row.presence] : []), ...(acts ? [acts.entrant(row)] : [])],
    }));
    const ofActs = acts ? [acts.heading] : [];
    const heads = [texts.entrant, texts.points, texts.spread, texts.played, ...(hasByes ? [texts.byes] : []), ...(somebodyIsAway ? [texts.presence] : []), ...ofActs];
    const games = told.games.map((each) => {
      const { number, players, scores, game, outcome, winner } = each;
      return { cells: [number, game ? h("a", { href: gameHash(game) }, ...names(players)) : h("span", {}, ...names(players)),
        scores ? scored(scores) : "", h("span", {}, outcome === null || outcome === "out" ? "" : `${texts.endings[outcome] ?? outcome}${winner === undefined ? "" : ", "}`, ...(winner === undefined ? [] : [
          h("bdi", {}, winner !== null ? texts.wins(players[winner]) : (outcome === "no_show" ? texts.noResult : texts.tie).toLowerCase())])), ...(acts ? [acts.game(each)] : [])] };
    });
    const shown = Number(this.shown) || told.round;
    const rounds = Array.from({ length: isRound ? told.round : 0 }, (_, index) => index + 1).flatMap((round) => [
      " ", h("a", { href: `#/standings/${round}`, "aria-current": round === shown && "page" }, round)]);
    const arranged = (told.arranged ?? []).map((each) => h("p", {}, `${texts.round(each.round, null)}: `,
      ...(each.names.length > 1 ? names(each.names) : [h("bdi", {}, each.names[0]), ` – ${each.half ? texts.halfBye : texts.bye}`]), " ", acts?.arrangement(each)));
    this.redraw(
      acts ? "" : h("h1", {}, texts.standings), this.trouble, h("p", { class: "state" }, state.filter(Boolean).join(" · ")),
      waits && h("p", { class: "note" }, waits),
      h("h2", {}, texts.ranking), table(texts.ranking, heads, rows),
      h("h2", {}, isRound && shown ? texts.roundGames(shown) : texts.games), rounds.length > 2 ? h("p", { class: "rounds-of" }, texts.rounds, ...rounds) : "",
      ...arranged, table(texts.games, [texts.game, texts.players, texts.score, texts.outcome, ...ofActs], games, "results"),
      mayDirect ? h("p", { class: "links" }, h("a", { href: "#/direct" }, texts.direct)) : "");
    this.dispatchEvent(new CustomEvent("told", { detail: told }));
  }
}

customElements.define("game-list", GameList);
customElements.define("standing-list", StandingList);
