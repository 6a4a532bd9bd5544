// Links from a game to its review and to the study, where the server analyses games.

import { h } from "./dom.js";
import { about, reviewHash } from "./server.js";
import { texts } from "./texts.js";

/** @param {string} id the game's */
export const reviewLink = (id) => {
  const link = h("a", { href: reviewHash(id), hidden: true }, texts.toReview);
  about().then(({ analysis }) => { link.hidden = !analysis; }, () => {}); // the view says that the server does not answer
  return link;
};

/** @param {"game" | "review"} of @param {string} id the game's; `mine` of a review: what was dropped there @param {number} turn */
export const studyLink = (of, id, turn) => {
  const link = h("a", { href: `#/study/${of}/${encodeURIComponent(id)}/${turn}`, class: "to-study", hidden: true }, texts.toStudy);
  about().then(({ study }) => { link.hidden = !study; }, () => {});
  return link;
};
