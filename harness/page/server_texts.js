// What the server says, in the language that was chosen.

import { inLanguage } from "./language.js";

const said = await inLanguage({ en: () => import("./texts_en_server.js"), pl: () => import("./texts_pl_server.js") });
export const serverTexts = said.server;
