// What the views of one's own games say, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_casual.js"), pl: () => import("./texts_pl_casual.js") });
export const playTexts = said.casual;
