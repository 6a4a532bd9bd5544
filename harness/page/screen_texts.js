// What a watched game and the page itself say, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_screen.js"), pl: () => import("./texts_pl_screen.js") });
export const screenTexts = said.screen;
