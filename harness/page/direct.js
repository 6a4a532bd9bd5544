// A tournament's director: its standings with what may be done about them, by the director's token.

import { directTexts } from "./direct_texts.js";
import { button, h, labelled, toGames } from "./dom.js";
import { sureButton } from "./entry.js";
import { inWindow } from "./kept.js";
import { StandingList } from "./lists.js";
import { AGAIN_MS, Connection, whyOf } from "./server.js";
import { texts } from "./texts.js";

/** @import { Arrangement, RoundGame, Row, Standing } from "./lists.js" */

const field = (/** @type {string} */ id, /** @type {import("./dom.js").Attributes} */ attributes = {}) =>
  h("input", { id, maxlength: 64, autocomplete: "off", ...attributes });
const number = (/** @type {string} */ id, least = 1) => field(id, { type: "number", min: least, max: 10_000, required: true });

/** A form of fields with their labels, its button, and what stands behind it. @param {(Node | string)[][]} fields @param {string} text @param {() => void} act @param {...Node} more */
const form = (fields, text, act, ...more) => h("form", { submit: (event) => { event.preventDefault(); act(); } },
  h("p", {}, ...fields.map((each) => h("span", {}, ...each)), h("button", {}, text), ...more));

export class DirectView extends HTMLElement {
  constructor() {
    super();
    this.heading = directTexts.title;
    /** @type {Connection | null} */
    this.connection = null;
    /** @type {Standing | null} */
    this.told = null;
    /** Whether the server has let us in, and an act of ours is not answered yet. */
    this.isIn = this.isAsked = false;
    this.asking = 0;
    this.banner = h("p", { class: "banner", role: "status", hidden: true });
    this.done = h("p", { class: "note", role: "status" });
    this.name = field("name", { required: true, autocomplete: "username" });
    this.token = field("token", { type: "password", maxlength: 256, required: true });
    this.login = form([labelled(directTexts.name, this.name), labelled(directTexts.token, this.token)], directTexts.login, () =>
      this.enter({ name: this.name.value.trim(), token: this.token.value.trim() }));
    this.why = field("why", { maxlength: 200 });
    this.pausing = button("", () => this.direct(this.told?.paused ? "resume" : "pause"));
    this.ending = sureButton(directTexts.end, directTexts.reallyEnd, null, () => true, () => this.direct("end"));
    this.game = number("game");
    this.game.addEventListener("input", () => this.nameScores());
    this.scores = [number("first", -10_000), number("second", -10_000)];
    this.scoreLabels = this.scores.map(({ id }) => h("label", { for: id }));
    const voiding = sureButton(directTexts.again, directTexts.reallyAgain, null, () => this.game.reportValidity(), () => this.direct("correct", { number: this.game.valueAsNumber }));
    this.newcomer = field("newcomer", { required: true });
    this.resting = h("select", { id: "resting" });
    this.round = number("round");
    this.one = h("select", { id: "pair-one" });
    this.other = h("select", { id: "pair-other" });
    this.acts = h("div", { class: "acts-of-director" },
      h("div", { class: "controls" }, this.pausing, this.ending, button(directTexts.logout, () => this.leave()), this.done),
      h("p", {}, ...labelled(directTexts.why, this.why)),
      h("h3", {}, directTexts.correction),
      form([labelled(directTexts.game, this.game), ...this.scores.map((score, seat) => [this.scoreLabels[seat] ?? "", " ", score])], directTexts.correct, () =>
        this.direct("correct", { number: this.game.valueAsNumber, scores: this.scores.map(({ valueAsNumber }) => valueAsNumber) }), voiding),
      h("h3", {}, directTexts.arranged),
      form([labelled(directTexts.entrant, this.resting), labelled(directTexts.round, this.round)], directTexts.giveBye, () =>
        this.direct("bye", { name: this.resting.value, number: this.round.valueAsNumber })),
      form([[h("label", { for: "pair-one", class: "hidden" }, directTexts.entrant), this.one, " ", ...labelled(directTexts.with, this.other)]], directTexts.pair, () =>
        this.direct("pair", { name: this.one.value, opponent: this.other.value })),
      form([labelled(directTexts.newcomer, this.newcomer)], directTexts.letJoin, () => this.direct("join", { name: this.newcomer.value.trim() })));
    this.list = new StandingList("", { heading: directTexts.acts, entrant: (row) => this.ofEntrant(row), game: (game) => this.ofGame(game), arrangement: (arranged) => this.ofArrangement(arranged) });
    this.list.addEventListener("told", (event) => this.show(/** @type {CustomEvent} */ (event).detail));
  }

  connectedCallback() {
    const kept = inWindow.get("director");
    this.nameScores();
    this.asking = setInterval(() => { // who comes and goes is not told
      if (this.isIn && !this.isAsked) this.connection?.say({ type: "standings" });
    }, AGAIN_MS);
    if (kept) this.enter(kept);
    else this.ask("");
  }

  disconnectedCallback() {
    clearInterval(this.asking);
    this.connection?.stop();
  }

  // --- the connection ---

  /** Ask who directs, and say why. @param {string} sentence */
  ask(sentence) {
    this.connection?.stop();
    this.isIn = this.isAsked = false;
    this.say(sentence);
    this.replaceChildren(h("h1", {}, directTexts.title), this.banner, this.login, h("p", { class: "note" }, directTexts.where), toGames());
    this.name.focus();
  }

  /** @param {{ name: string, token: string }} login */
  enter(login) {
    this.connection?.stop();
    this.connection = new Connection({ role: "director", software: "page", ...login }, {
      welcome: () => {
        this.token.value = "";
        inWindow.set("director", login);
        this.isIn = true;
        this.say("");
        this.connection?.serves();
        this.connection?.say({ type: "standings" });
        this.replaceChildren(h("h1", {}, directTexts.title), this.banner, this.acts, this.list);
      },
      message: (message) => this.hear(message),
      lost: (seconds) => {
        this.isIn = this.isAsked = false;
        this.say(directTexts.lost(seconds));
      },
    });
  }

  leave() {
    inWindow.set("director", null);
    this.ask("");
  }

  /** @param {any} message */
  async hear(message) {
    const { type, code } = message;
    if (type === "standing_list") {
      if (this.isAsked) this.said();
      await this.list.show(message);
    } else if (type === "error" || type === "goodbye" && code === "kicked") {
      const sentence = texts.refused(await whyOf(code, String(message.message)));
      if (!this.isIn && message.retry === "later") return this.say(sentence);
      if (!this.isIn || type === "goodbye") {
        inWindow.set("director", null);
        return this.ask(sentence);
      }
      this.isAsked = false;
      this.say(sentence);
    }
  }

  /** Do something; `more` is what the protocol's message `direct` has besides. @param {string} action @param {object} [more] */
  direct(action, more = {}) {
    if (!this.isIn) return;
    this.done.textContent = "";
    this.isAsked = true;
    this.connection?.say({ type: "direct", action, why: this.why.value.trim(), ...more });
  }

  /** What we asked for is done. */
  said() {
    this.isAsked = false;
    this.why.value = ""; // of that act, and of no other
    this.say("");
    this.done.textContent = directTexts.done;
  }

  /** @param {string} sentence */
  say(sentence) {
    this.banner.hidden = !sentence;
    this.banner.textContent = sentence;
  }

  // --- what is shown ---

  /** @param {Standing} told */
  show(told) {
    this.told = told;
    this.pausing.textContent = told.paused || told.over ? directTexts.resume : directTexts.pause;
    for (const choice of [this.resting, this.one, this.other]) {
      const { value } = choice, names = told.rows.map(({ name }) => name);
      if (names.join("\n") === [...choice.options].map((each) => each.value).join("\n")) continue;
      choice.replaceChildren(...names.map((name) => h("option", {}, name)));
      if (names.includes(value)) choice.value = value;
    }
    this.round.placeholder = String(told.round + 1);
    this.nameScores();
  }

  /** Say whose the scores are. */
  nameScores() {
    const players = this.told?.games.find((game) => game.number === this.game.valueAsNumber)?.players ?? [directTexts.first, directTexts.second];
    this.scoreLabels.forEach((label, seat) => label.replaceChildren(h("bdi", {}, directTexts.score(players[seat] ?? ""))));
  }

  /** @param {Row} row */
  ofEntrant({ name, presence }) {
    const act = (/** @type {string} */ action, /** @type {string} */ text, /** @type {string} */ label) => {
      const made = button(text, () => this.direct(action, { name }));
      made.setAttribute("aria-label", label);
      return made;
    };
    const isGone = presence === "withdrawn" || presence === "absent";
    return h("span", { class: "acts" }, isGone && act("join", directTexts.join, directTexts.joinOf(name)), " ",
      presence !== "withdrawn" && act("withdraw", directTexts.withdraw, directTexts.withdrawOf(name)), " ", act("release", directTexts.release, directTexts.releaseOf(name)));
  }

  /** A way to the form, which has the game's result by then. @param {RoundGame} game */
  ofGame({ number: id, scores, outcome }) {
    if (outcome === null) return "";
    const made = button(directTexts.correct, () => {
      this.game.value = String(id);
      this.scores.forEach((score, seat) => { score.value = String(scores?.[seat] ?? ""); });
      this.nameScores();
      this.scores[0]?.focus();
    });
    made.setAttribute("aria-label", directTexts.correctOf(id));
    return made;
  }

  /** @param {Arrangement} arranged */
  ofArrangement({ round, names, half }) {
    const [name, opponent] = names;
    if (!half && !opponent) return ""; // by the pairing
    const made = button(directTexts.takeBack, () => this.direct(opponent ? "pair" : "bye", { name, number: round, void: true, ...(opponent ? { opponent } : {}) }));
    made.setAttribute("aria-label", directTexts.takeBackOf(names.join(" – "), round));
    return made;
  }
}

customElements.define("direct-view", DirectView);
