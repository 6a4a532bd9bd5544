// A word looked up: whether it is one, what goes before and behind it, its anagrams, what its tiles are worth as a leave.

import { sentenceOf } from "./analysis.js";
import { h, labelled } from "./dom.js";
import { studyTexts as texts } from "./study_texts.js";
import { rounded, signed } from "./texts.js";

/** @import { Analysis } from "./analysis.js" */

export class WordLookup extends HTMLElement {
  field = h("input", { id: "word", name: "word", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: 30 });
  found = h("div", { role: "status" });
  /** @type {() => object} What a request says besides: the words that count. */
  about = () => ({});

  /** @param {Analysis} analysis */
  constructor(analysis) {
    super();
    this.analysis = analysis;
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.append(h("h2", {}, texts.lookUpTitle), h("form", { class: "ask", submit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.field.value.trim()) this.look([this.field.value.trim().toUpperCase()]);
    } }, ...labelled(texts.word, this.field), h("button", {}, texts.lookUp)), this.found);
  }

  /** @param {string[]} words */
  async look(words) {
    const told = [];
    for (const word of words) told.push(await this.analysis.one({ type: "words", word, ...this.about() })); // one visitor may ask for little at once
    this.found.replaceChildren(...told.flatMap((each) => (each.type === "words" ? [this.result(each)] : each.type === "error" ? [h("p", { class: "note" }, sentenceOf(each))] : [])));
  }

  /** @param {{ word: string, valid: boolean, front: string[], back: string[], anagrams: string[], with_blank: string[], worth: number | null }} told */
  result({ word, valid, front, back, anagrams, with_blank, worth }) {
    const part = (/** @type {string} */ head, /** @type {string[]} */ words) => [h("dt", {}, head), h("dd", {}, words.join(" ") || "–")];
    return h("div", { class: "looked-up" },
      h("p", {}, h("strong", { class: valid ? "valid" : "phony" }, word), " ", valid ? texts.isWord : texts.isNoWord),
      h("dl", {}, ...part(texts.front, front), ...part(texts.behind, back), ...part(texts.anagrams, anagrams.filter((each) => each !== word)), ...part(texts.withBlank, with_blank),
        ...(worth === null ? [] : [h("dt", {}, texts.worth), h("dd", {}, signed(rounded(worth)))])));
  }
}

customElements.define("word-lookup", WordLookup);
