// What the study says, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_study.js"), pl: () => import("./texts_pl_study.js") });
export const studyTexts = said.study;
