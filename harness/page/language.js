// The language of the page: the one that was chosen, else the first of the browser's that the page speaks.

import { inBrowser } from "./kept.js";

export const LANGUAGES = { en: "English", pl: "Polski" };

const wanted = [inBrowser.get("language"), ...(globalThis.navigator?.languages ?? [])];
export const language = /** @type {keyof typeof LANGUAGES} */ (wanted.map((tag) => String(tag).slice(0, 2)).find((tag) => tag in LANGUAGES) ?? "en");

/** Load what it says. @template T @param {Record<keyof typeof LANGUAGES, () => Promise<T>>} files @returns {Promise<T>} */
export const inLanguage = (files) => files[language]();

/** Speak another language from now on. @param {string} other */
export const choose = (other) => {
  inBrowser.set("language", other);
  location.reload();
};
