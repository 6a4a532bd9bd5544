// What puzzles and the drill say, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_puzzles.js"), pl: () => import("./texts_pl_puzzles.js") });
export const puzzleTexts = said.puzzles;
