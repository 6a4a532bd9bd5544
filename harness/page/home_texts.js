// What the first view says, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_home.js"), pl: () => import("./texts_pl_home.js") });
export const homeTexts = said.home;
