// What is chosen before a game: a name, and whom to play.

import { button, h } from "./dom.js";
import { hex } from "./draws.js";
import { inBrowser } from "./kept.js";
import { texts, timeText } from "./texts.js";

/** @typedef {{ bots: { name: string, about: string }[], time: { initial_ms: number, increment_ms: number },
 *   rules: string, lexicon: string, words: boolean }} AtTable What there is to choose at a table. */
/** @typedef {AtTable & { opponent: string | null, token: boolean, name: string | null, tables: (AtTable & { name: string })[] }} Settings */
/** @typedef {{ name: string, token: string, opponent: string | null, table: string | null }} Choice `opponent` null: anyone. */

const TOKEN_BYTES = 32;

export class PlayForm extends HTMLElement {
  /** @param {Settings} settings @param {string} name @param {(choice: Choice) => void} chosen */
  open(settings, name, chosen) {
    this.name = h("input", { id: "name", name: "name", required: true, pattern: ".*\\S.*", maxlength: 64, autocomplete: "username", value: name || settings.name || inBrowser.get("name") });
    this.token = h("input", { id: "token", name: "token", type: "password", maxlength: 256, autocomplete: "off", required: settings.token });
    this.other = h("input", { id: "other", name: "other", maxlength: 64, autocomplete: "off", "aria-label": texts.nameOfOther });
    const byName = this.radio("other", "\n");
    const people = settings.name === null && [
      this.option("", texts.anyone, texts.anyoneNote),
      h("li", {}, byName, h("label", { for: "radio-other" }, texts.somebody), " ", this.other),
    ];
    this.other.addEventListener("input", () => { byName.checked = true; });
    const asked = () => { if (this.other) this.other.required = byName.checked; };
    const form = h("form", { submit: (/** @type {Event} */ event) => { event.preventDefault(); chosen(this.choice(form)); }, change: asked, input: asked },
      h("p", {}, h("label", { for: "name" }, texts.yourName), " ", this.name),
      settings.name === null && this.tokenField(settings.token),
      settings.tables.length > 0 && this.tables(settings),
      h("fieldset", {}, h("legend", {}, texts.against), this.opponents = h("ul", { class: "opponents" }, ...(people || []))),
      this.terms = h("p", { class: "note" }),
      h("div", { class: "start" }, h("button", { class: "main" }, texts.startGame)));
    this.replaceChildren(form);
    this.showTable(settings, settings.tables.find(({ name }) => name === inBrowser.get("table")) ?? settings);
  }

  /** What can be played: languages, boards. @param {Settings} settings */
  tables(settings) {
    const choice = h("select", { id: "table", name: "table", change: () => {
      inBrowser.set("table", choice.value);
      this.showTable(settings, settings.tables.find(({ name }) => name === choice.value) ?? settings);
    } }, ...settings.tables.map(({ name, rules, lexicon }) =>
      h("option", { value: name, selected: name === inBrowser.get("table") }, texts.tableKind(name, rules, lexicon))));
    return h("p", {}, h("label", { for: "table" }, texts.atTable), " ", choice);
  }

  /** Show who plays at a table, and its terms; who is chosen stays so, unless it plays elsewhere only. @param {Settings} settings @param {AtTable} kind */
  showTable(settings, kind) {
    const { opponents, terms } = this;
    const radios = () => /** @type {HTMLInputElement[]} */ ([...opponents?.querySelectorAll("[type=radio]") ?? []]);
    const wanted = [radios().find(({ checked }) => checked)?.value, settings.opponent, kind.bots[0]?.name, ""];
    opponents?.querySelectorAll("[data-bot]").forEach((each) => each.remove());
    opponents?.prepend(...kind.bots.map((bot) => {
      const option = this.option(bot.name, bot.name, texts.about(bot.about));
      option.dataset.bot = bot.name;
      return option;
    }));
    const [chosen] = wanted.flatMap((each) => radios().filter(({ value }) => value === each));
    if (chosen) chosen.checked = true;
    if (terms) terms.textContent = texts.terms(timeText(kind.time), kind.lexicon, kind.rules);
  }

  /** @param {string} id @param {string} value */
  radio(id, value) {
    return h("input", { type: "radio", name: "opponent", id: `radio-${id}`, value });
  }

  /** @param {string} value @param {string} name @param {string} about */
  option(value, name, about) {
    return h("li", {}, this.radio(value, value),
      h("label", { for: `radio-${value}` }, h("bdi", {}, name), h("span", { class: "note" }, ` ${about}`)));
  }

  /** @param {boolean} isNeeded */
  tokenField(isNeeded) {
    const make = button(texts.makeToken, () => this.makeToken());
    const field = h("p", {}, h("label", { for: "token" }, texts.token), " ", this.token, " ", !isNeeded && make);
    return h("details", { open: isNeeded }, h("summary", {}, isNeeded ? texts.tokenNeeded : texts.tokenWanted), field, h("p", { class: "note" }, texts.tokenNote));
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
    const told = new FormData(form);
    const opponent = String(told.get("opponent") ?? ""), other = String(told.get("other") ?? "").trim();
    return {
      name: String(told.get("name")).trim(), token: String(told.get("token") ?? "").trim(),
      opponent: (opponent === "\n" ? other : opponent) || null,
      table: String(told.get("table") ?? "") || null,
    };
  }
}

customElements.define("play-form", PlayForm);
