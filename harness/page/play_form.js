// What is chosen before a game: a name, and whom to play.

import { button, h, labelled } from "./dom.js";
import { hex } from "./draws.js";
import { suiting } from "./home.js";
import { inBrowser } from "./kept.js";
import { readOpening } from "./notation.js";
import { playTexts } from "./play_texts.js";
import { clock, rating, texts, timeText } from "./texts.js";

/** @import { From } from "./casual.js" */
/** @import { Ladder } from "./home.js" */
/** @typedef {{ name: string, about: string, wins?: number | null }} Bot `wins`: of a hundred games against static. */
/** @typedef {{ bots: Bot[], clocks?: number[], time: { initial_ms: number, increment_ms: number },
 *   rules: string, lexicon: string, words: boolean }} AtTable What there is to choose at a table. */
/** @typedef {AtTable & { opponent: string | null, token: boolean, name: string | null, tables: (AtTable & { name: string })[] }} Settings */
/** @typedef {{ name: string, token: string, opponent: string | null, table: string | null, casual?: boolean, clock?: number | null, position?: string | null, seat?: number }} Choice
 *   `opponent` null: anyone; `clock`: in milliseconds, null: the table's; `seat`: ours in the position, 0 moves first. */

const TOKEN_BYTES = 32;

/** A name for who has none yet. */
export const guestName = () => `guest-${1000 + Math.floor(9000 * Math.random())}`;

export class PlayForm extends HTMLElement {
  /** What the ladder says of strengths, if there is one. @type {Ladder | null} */
  standing = null;
  /** The position to play on from. @type {From | null} */
  from = null;

  /** @param {Settings} settings @param {string} name @param {(choice: Choice) => void} chosen */
  open(settings, name, chosen) {
    this.name = h("input", { id: "name", name: "name", required: true, pattern: ".*\\S.*", maxlength: 64, autocomplete: "username", value: name || settings.name || inBrowser.get("name") || (settings.token ? "" : guestName()), focus: (/** @type {Event} */ { target }) => /** @type {HTMLInputElement} */ (target).select() });
    this.token = h("input", { id: "token", name: "token", type: "password", maxlength: 256, autocomplete: "off", required: settings.token });
    this.other = h("input", { id: "other", name: "other", maxlength: 64, autocomplete: "off", "aria-label": playTexts.nameOfOther });
    const byName = this.radio("other", "\n");
    const people = settings.name === null && !this.from && [
      this.option("", playTexts.anyone, playTexts.anyoneNote),
      h("li", {}, byName, h("label", { for: "radio-other" }, playTexts.somebody), " ", this.other),
    ];
    this.other.addEventListener("input", () => { byName.checked = true; });
    const asked = () => {
      if (this.other) this.other.required = byName.checked;
      this.showTerms();
    };
    const form = h("form", { submit: (/** @type {Event} */ event) => { event.preventDefault(); chosen(this.choice(form)); }, change: asked, input: asked },
      this.from && this.position(this.from, () => {
        this.from = null;
        this.open(settings, this.name?.value ?? "", chosen);
      }),
      h("p", {}, ...labelled(playTexts.yourName, this.name)),
      settings.name === null && this.tokenField(settings.token),
      settings.tables.length > 0 && this.tables(settings),
      this.clocks = h("p", {}, ...labelled(playTexts.clock, this.clock = h("select", { id: "clock" })), " ", h("span", { class: "note" }, playTexts.casual)),
      h("fieldset", {}, h("legend", {}, texts.against), h("p", { class: "note" }, this.standing ? playTexts.weakestRated : playTexts.weakest),
        this.opponents = h("ul", { class: "opponents" }, ...(people || []))),
      this.terms = h("p", { class: "note" }),
      h("div", { class: "start" }, h("button", { class: "main" }, playTexts.startGame)));
    this.replaceChildren(form);
    const kinds = settings.tables, { from } = this;
    this.showTable(settings, kinds.find(({ name, lexicon }) => (from ? lexicon === from.lexicon : name === inBrowser.get("table"))) ?? settings);
  }

  /** What is known of the position to play on from. @param {From} from @param {() => void} drop */
  position({ cgp }, drop) {
    const { scores: [own, other], racks: [rack] } = readOpening(cgp);
    return h("div", { class: "from" }, h("p", {}, playTexts.from(own, other, rack)),
      h("p", {}, h("label", { for: "side" }, playTexts.side), " ",
        this.side = h("select", { id: "side" }, ...playTexts.sides.map((side, seat) => h("option", { value: seat }, side))), " ", button(playTexts.fromStart, drop)));
  }

  /** What can be played: languages, boards. @param {Settings} settings */
  tables(settings) {
    const choice = h("select", { id: "table", name: "table", change: () => {
      inBrowser.set("table", choice.value);
      this.showTable(settings, settings.tables.find(({ name }) => name === choice.value) ?? settings);
    } }, ...settings.tables.map(({ name, rules, lexicon }) =>
      h("option", { value: name, selected: this.from ? lexicon === this.from.lexicon : name === inBrowser.get("table") }, playTexts.tableKind(name, rules, lexicon))));
    return h("p", {}, ...labelled(playTexts.atTable, choice));
  }

  /** Show who plays at a table, and its terms; who is chosen stays so, unless it plays elsewhere only. @param {Settings} settings @param {AtTable} kind */
  showTable(settings, kind) {
    const { opponents, standing } = this;
    const radios = () => /** @type {HTMLInputElement[]} */ ([...opponents?.querySelectorAll("[type=radio]") ?? []]);
    const usual = suiting({ ...settings, bots: kind.bots }, standing).reduce((best, each) => (each.apart < best.apart ? each : best), { name: kind.bots[0]?.name ?? "", apart: Infinity });
    const wanted = [radios().find(({ checked }) => checked)?.value, settings.opponent, inBrowser.get("opponent"), usual.name, ""];
    opponents?.querySelectorAll("[data-bot]").forEach((each) => each.remove());
    const rated = new Map(standing?.bots.map((row) => [row.name, row]));
    const bots = [...kind.bots].sort((one, other) => (standing ? (rated.get(one.name)?.rating ?? Infinity) - (rated.get(other.name)?.rating ?? Infinity) || 0 : 0)); // Infinity - Infinity is NaN
    opponents?.prepend(...bots.map(({ name, about, wins }) => {
      const row = rated.get(name), option = this.option(name, name, texts.about(about), row ? rating(row) : !standing && typeof wins === "number" ? playTexts.wins(wins) : "");
      option.dataset.bot = name;
      return option;
    }));
    const [chosen] = wanted.flatMap((each) => radios().filter(({ value }) => value === each));
    if (chosen) chosen.checked = true;
    this.kind = kind;
    const { initial_ms } = kind.time, kept = inBrowser.get("clock"), clocks = kind.clocks ?? [initial_ms];
    this.clock?.replaceChildren(...clocks.map((ms) => h("option", { value: ms, selected: ms === (clocks.includes(kept) ? kept : initial_ms) }, clock(ms))));
    this.showTerms();
  }

  /** What may be chosen of the game against who is chosen, and what it comes to. */
  showTerms() {
    const { kind, clocks, clock, terms, opponents } = this, isBot = Boolean(opponents?.querySelector("[data-bot] :checked"));
    if (!kind || !clocks || !terms) return;
    clocks.hidden = !isBot;
    terms.textContent = texts.terms(timeText({ ...kind.time, ...(isBot && { initial_ms: Number(clock?.value) }) }), kind.lexicon, kind.rules);
  }

  /** @param {string} id @param {string} value */
  radio(id, value) {
    return h("input", { type: "radio", name: "opponent", id: `radio-${id}`, value });
  }

  /** @param {string} value @param {string} name @param {string} about @param {string} [strength] */
  option(value, name, about, strength = "") {
    return h("li", {}, this.radio(value, value),
      h("label", { for: `radio-${value}` }, h("bdi", {}, name), strength && h("b", {}, ` ${strength}`), h("span", { class: "note" }, ` ${about}`)));
  }

  /** @param {boolean} isNeeded */
  tokenField(isNeeded) {
    const make = button(playTexts.makeToken, () => this.makeToken());
    const field = h("p", {}, ...(this.token ? labelled(playTexts.token, this.token) : []), " ", !isNeeded && make);
    return h("details", { open: isNeeded }, h("summary", {}, isNeeded ? playTexts.tokenNeeded : playTexts.tokenWanted), field, h("p", { class: "note" }, playTexts.tokenNote));
  }

  /** A new token, shown so that it can be kept. */
  makeToken() {
    const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
    if (!this.token) return;
    this.token.value = hex(bytes);
    this.token.type = "text";
    this.token.select();
  }

  /** @param {HTMLFormElement} form @returns {Choice} */
  choice(form) {
    const told = new FormData(form), { from } = this, casual = !this.clocks?.hidden;
    const opponent = String(told.get("opponent") ?? ""), other = String(told.get("other") ?? "").trim();
    const clock = casual ? Number(this.clock?.value) || null : null;
    inBrowser.set("opponent", opponent);
    if (clock) inBrowser.set("clock", clock);
    return {
      name: String(told.get("name")).trim(), token: String(told.get("token") ?? "").trim(),
      opponent: (opponent === "\n" ? other : opponent) || null,
      table: String(told.get("table") ?? "") || null, casual, clock, position: from?.cgp ?? null, seat: Number(this.side?.value ?? 0),
    };
  }
}

customElements.define("play-form", PlayForm);
