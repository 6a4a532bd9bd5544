// What can be copied from a game: its score sheet, the position that is shown, the address.

import { button, h } from "./dom.js";
import { screenTexts } from "./screen_texts.js";
import { Trouble } from "./server.js";

/** A button for each thing to copy, and a word on what came of it. @param {Record<string, () => string | Promise<string>>} things */
export const copying = (things) => {
  const said = h("span", { role: "status" });
  const copy = async (/** @type {() => string | Promise<string>} */ make) => {
    said.replaceChildren();
    try {
      const text = await make();
      await navigator.clipboard?.writeText(text).then(() => said.replaceChildren(screenTexts.copied), () => {});
      if (!said.firstChild) byHand(said, text);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      said.replaceChildren(error.message);
    }
  };
  return h("div", { class: "copying", role: "group", "aria-label": screenTexts.copy },
    screenTexts.copy, ...Object.entries(things).map(([name, make]) => button(name, () => copy(make))), said);
};

/** Without leave to write to the clipboard: the text, selected. @param {HTMLElement} said @param {string} text */
const byHand = (said, text) => {
  const field = h("textarea", { readonly: true, rows: 3, "aria-label": screenTexts.copy });
  field.value = text;
  said.replaceChildren(screenTexts.copyByHand, field);
  field.select();
};
