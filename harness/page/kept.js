// What the browser keeps: for this window (until it is closed), or for all. Where it keeps nothing, all is
// forgotten with the page.

const PREFIX = "tilewire.";

/** @param {() => Storage} store */
const keeper = (store) => ({
  /** @param {string} key @returns {any} */
  get(key) {
    try {
      return JSON.parse(store().getItem(PREFIX + key) ?? "null");
    } catch {
      return null;
    }
  },
  /** Keep a value; null: forget it. @param {string} key @param {unknown} value */
  set(key, value) {
    try {
      if (value === null) store().removeItem(PREFIX + key);
      else store().setItem(PREFIX + key, JSON.stringify(value));
    } catch {
      // it is not allowed to
    }
  },
});

export const inWindow = keeper(() => sessionStorage);
export const inBrowser = keeper(() => localStorage);
