// What the server says, which says it in English.

export const server = {
  /** A sentence, or a part of one. @param {string} sentence */
  said: (sentence) => sentence,
  /** Why something is refused. @param {string | number} _code of the protocol, or an HTTP status @param {string} sentence */
  why: (_code, sentence) => sentence,
};
