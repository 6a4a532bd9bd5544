// A review to keep: one HTML file that needs nothing else, or a file of text.

import { h, names } from "./dom.js";
import { boardWith, figuresOf, noticesOf, verdictOf } from "./findings.js";
import { language } from "./language.js";
import { serverTexts } from "./server_texts.js";
import { texts, versus } from "./texts.js";

/** @typedef {import("./review.js").Review} Review */
/** @typedef {import("./review.js").Turn} Turn */

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";
const KEPT_MS = 60000;

/** Have the browser save a file. @param {string} name @param {string} text @param {string} type */
export const save = (name, text, type) => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
};

/** @param {Review} review @param {string} name */
export const saveAsHtml = async (review, name) => {
  const link = document.querySelector("link[rel=stylesheet]");
  const style = link instanceof HTMLLinkElement ? await (await fetch(link.href)).text() : "";
  save(name, asHtml(review, style), "text/html;charset=utf-8");
};

/** @param {Review} review @param {string} style */
export const asHtml = (review, style) => {
  const { players, turns, notice } = review.told;
  const title = players.length ? versus(players) : texts.aPosition;
  const head = [
    h("meta", { charset: "utf-8" }),
    h("meta", { "http-equiv": "Content-Security-Policy", content: POLICY }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("title", {}, title),
  ].map((element) => element.outerHTML).join("\n");
  const body = h("main", {}, h("h1", {}, texts.reviewOf, ...(players.length ? names(players) : [title])), h("p", { class: "note" }, serverTexts.said(notice)), ...noticesOf(review), ...turns.map((turn) => section(review, turn)));
  return `<!doctype html>\n<html lang="${language}">\n<head>\n${head}\n<style>${style}</style>\n</head>\n<body>\n${body.outerHTML}\n</body>\n</html>\n`;
};

/** @param {Review} review @param {Turn} turn */
const section = (review, turn) => {
  const found = review.found.get(turn.line);
  const name = review.told.players[turn.seat];
  return h("section", { class: "review single" },
    h("div", { class: "look" },
      h("h2", {}, name === undefined ? texts.aPosition : texts.turnOf(turn.line, name)),
      boardWith(review, turn, turn.played), h("p", { class: "note" }, texts.rackHeld(turn.rack))),
    h("div", { class: "figures-of" }, ...(found ? [...verdictOf(review, turn, found), ...figuresOf(review, turn, found)] : [h("p", { class: "note" }, review.instead(turn.line))])));
};
