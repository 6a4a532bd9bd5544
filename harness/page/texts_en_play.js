// What is said of persons' games where their views are not loaded.

/**
 * A parameter without a type is a text.
 * @satisfies {Record<string, object | string | ((first: string, second: string, third: string) => string)>}
 */
export const play = {
  playTitle: "Play",
  against: "Play against",
  /** What a bot does, as the server says it. */
  about: (sentence) => sentence,
  /** @param {string} verdict @param {number[]} scores @param {string} why */
  result: (verdict, scores, why) => `${verdict}, ${scores[0]} to ${scores[1]} (${why}).`,
  /** @param {string[]} words */
  noWords: (words) => `${words.join(", ")} ${words.length === 1 ? "is not a word" : "are not words"}.`,
};
