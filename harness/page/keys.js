// The keys of the view that is shown, in a dialog.

import { button, h } from "./dom.js";
import { screenTexts } from "./screen_texts.js";

const dialog = h("dialog", { class: "picker", "aria-labelledby": "keys", keydown: (event) => event.stopPropagation() }); // or the view took them

/** @param {string} view the name of its element */
export const showKeys = (view) => {
  const keys = screenTexts.keysOf[view];
  dialog.replaceChildren(
    h("h2", { id: "keys" }, screenTexts.keysTitle),
    keys ? "" : h("p", {}, screenTexts.noKeys),
    h("dl", {}, ...[...keys ?? [], ...screenTexts.always].flatMap(([each, does]) => [
      h("dt", {}, ...each.split(" ").flatMap((key) => [h(/^…$/.test(key) ? "span" : "kbd", {}, key), " "])), h("dd", {}, does)])),
    button(screenTexts.close, () => dialog.close()));
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
};
