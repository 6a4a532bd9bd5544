// A game or a position that is given as text: pasted, chosen as a file, or dropped.

import { inUtf8 } from "./analysis.js";
import { fileButton, h } from "./dom.js";
import { texts } from "./texts.js";

const MOST_BYTES = 100000;

/** @typedef {{ give: (bytes: Uint8Array) => void, warn: (sentence: string) => void }} Taker Takes what was given, or a sentence that says why it can't be. */

/** Take a file or a text, if there is one. @param {Blob | string | null | undefined} given @param {Taker} taker */
export const take = async (given, taker) => {
  if (!given) return;
  const file = typeof given === "string" ? new Blob([inUtf8(given)]) : given;
  const read = await file.slice(0, MOST_BYTES + 1).arrayBuffer().catch(() => null);
  if (!read) taker.warn(texts.unreadable);
  else if (read.byteLength > MOST_BYTES) taker.warn(texts.tooLarge);
  else taker.give(new Uint8Array(read));
};

/** A form to paste a text or to choose a file. @param {Taker} taker @param {string} submit its button @param {string} given what was pasted before, to be mended @param {...Node} about above it */
export const givenForm = (taker, submit, given, ...about) => {
  const text = h("textarea", { rows: 5, spellcheck: "false", autocomplete: "off", "aria-label": texts.pasteLabel });
  text.value = given;
  return h("form", { submit: (/** @type {Event} */ event) => {
    event.preventDefault();
    if (text.value.trim()) take(text.value, taker);
    else text.focus();
  } }, ...about, text, h("div", { class: "choices" }, h("button", { type: "submit", class: "main" }, submit),
    fileButton(texts.chooseFile, { change: ({ target }) => take(target.files?.[0], taker) })));
};
