// All that the page says, in the language that was chosen.

import { clock } from "./formats.js";
import { inLanguage } from "./language.js";

export * from "./formats.js";

const said = await inLanguage({ en: () => import("./texts_en.js"), pl: () => import("./texts_pl.js") });
export const texts = said.texts;

/** What each has for a game. @param {{ initial_ms: number, increment_ms: number }} time */
export const timeText = ({ initial_ms, increment_ms }) =>
  (increment_ms ? texts.withIncrement(clock(initial_ms), increment_ms / 1000) : clock(initial_ms));
