// The keys of the view that is shown, in a dialog.

import { button, h } from "./dom.js";
import { screenTexts } from "./screen_texts.js";

/** @typedef {[keys: string, does: keyof typeof screenTexts.keys][]} Keys */

/** @type {Keys} */
const stepping = [["← →", "step"], ["Home End", "ends"]];
/** @type {Keys} */
const laying = [["A … Z", "lay"], ["Shift A … Z", "blank"], ["← ↑ → ↓", "move"], ["Space", "turn"], ["Backspace", "erase"], ["Esc", "recall"]];
/** @type {Keys} */
const answering = [...laying, ["Enter", "answer"]];

/** @type {Record<string, Keys>} */
const KEYS = {
  "game-view": stepping, "now-view": stepping, "play-view": [...laying, ["Enter", "play"], ["Ctrl ← →", "step"]], "puzzle-view": answering, "drill-view": answering,
  "study-view": [...laying, ["Enter", "play"], ["Ctrl ← →", "stepLine"], ["Ctrl ↑ ↓", "aside"], ["Ctrl Home End", "endsOfLine"], ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"]],
};

const dialog = h("dialog", { class: "picker", "aria-labelledby": "keys", keydown: (event) => event.stopPropagation() }); // or the view took them

/** @param {string} view the name of its element */
export const showKeys = (view) => {
  const keys = KEYS[view] ?? [];
  dialog.replaceChildren(
    h("h2", { id: "keys" }, screenTexts.keysTitle),
    keys.length ? "" : h("p", {}, screenTexts.noKeys),
    h("dl", {}, ...[...keys, /** @type {Keys[0]} */ (["?", "show"])].flatMap(([each, does]) => [
      h("dt", {}, ...each.split(" ").flatMap((key) => [h(key === "…" ? "span" : "kbd", {}, key), " "])), h("dd", {}, screenTexts.keys[does])])),
    button(screenTexts.close, () => dialog.close()));
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
};
