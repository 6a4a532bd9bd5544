// What the view of directors says, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_direct.js"), pl: () => import("./texts_pl_direct.js") });
export const directTexts = said.direct;
