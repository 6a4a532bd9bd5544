// The link from a game to its review, where the server analyses games.

import { h } from "./dom.js";
import { about, reviewHash } from "./server.js";
import { texts } from "./texts.js";

/** @param {string} id the game's */
export const reviewLink = (id) => {
  const link = h("a", { href: reviewHash(id), hidden: true }, texts.toReview);
  about().then(({ analysis }) => { link.hidden = !analysis; }, () => {}); // the view says that the server does not answer
  return link;
};
