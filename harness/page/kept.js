// What the browser keeps: for this window (until it is closed), or for all. Where it keeps nothing, the page
// does as long as it is open.

const PREFIX = "tilewire.";

/** @param {() => Storage} store */
const keeper = (store) => {
  /** @type {Map<string, string>} What the browser would not keep. */
  const here = new Map();
  return {
    /** @param {string} key @returns {any} */
    get(key) {
      try {
        return JSON.parse(here.get(key) ?? store().getItem(PREFIX + key) ?? "null");
      } catch {
        return null;
      }
    },
    /** Keep a value; null: forget it. Return whether the browser keeps it. @param {string} key @param {unknown} value */
    set(key, value) {
      here.delete(key);
      try {
        if (value === null) store().removeItem(PREFIX + key);
        else store().setItem(PREFIX + key, JSON.stringify(value));
        return true;
      } catch { // it is not allowed to, or full
        if (value !== null) here.set(key, JSON.stringify(value));
        return false;
      }
    },
  };
};

export const inWindow = keeper(() => sessionStorage);
export const inBrowser = keeper(() => localStorage);
