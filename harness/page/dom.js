// Elements from code. Text is always text: nothing here ever reads markup.

import { texts } from "./texts.js";

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
const filled = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.flatMap((child) =>
    child === null || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)]));
  return element;
};

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const h = (name, attributes = {}, ...children) =>
  /** @type {HTMLElementTagNameMap[K]} */ (filled(document.createElement(name), attributes, children));

/**
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** @param {string} text @param {(event: MouseEvent) => void} act @param {"main"} [kind] */
export const button = (text, act, kind) => h("button", { type: "button", class: kind, click: act }, text);

/** A field behind its label. @param {string} text @param {HTMLElement} field */
export const labelled = (text, field) => [h("label", { for: field.id }, text), " ", field];

/** A button that chooses a file; a browser's own speaks the language of the browser. @param {string} text @param {Attributes} attributes */
export const fileButton = (text, attributes) => h("label", { class: "file" }, text, h("input", { type: "file", class: "hidden", ...attributes }));

/** The way back to the list of games. */
export const toGames = () => h("p", {}, h("a", { href: "#/games" }, texts.toGames));

/** Two players, whose names may be written from right to left. @param {string[]} players */
export const names = ([one, other]) => [h("bdi", {}, one), " – ", h("bdi", {}, other)];

/** A button with a sign on it. @param {string} sign @param {string} label @param {() => void} act */
export const signButton = (sign, label, act) => h("button", { type: "button", "aria-label": label, title: label, click: act }, sign);

/** Buttons that step through turns, and where one is. */
export class TurnSteps {
  where = h("span", { class: "where" });
  turn = 0;
  last = 0;

  /** @param {(turn: number) => void} go */
  constructor(go) {
    const step = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => number} */ to) =>
      signButton(sign, label, () => go(Math.max(0, Math.min(to(), this.last))));
    this.buttons = [
      step("|◀", texts.first, () => 0), step("◀", texts.back, () => this.turn - 1),
      step("▶", texts.forward, () => this.turn + 1), step("▶|", texts.last, () => this.last),
    ];
    this.element = h("div", { class: "controls", role: "group", "aria-label": texts.steps }, ...this.buttons);
    this.buttons[1]?.after(this.where);
  }

  /** @param {number} turn @param {number} last */
  show(turn, last) {
    [this.turn, this.last] = [turn, last];
    this.where.textContent = texts.where(turn, last);
    this.buttons.forEach((button, number) => button.setAttribute("aria-disabled", String(turn === (number < 2 ? 0 : last)))); // not disabled: it keeps the focus
  }
}

/** Have a button that is held down by a key pressed once: its next press answers what the first asked. @param {KeyboardEvent} event */
export const pressOnce = (event) => {
  if (event.repeat) event.preventDefault();
};

/** Draw a place anew; the keyboard goes on from the link, button or table where it was. @param {Element} place @param {() => void} draw */
export const keepingFocus = (place, draw) => {
  const at = document.activeElement, name = at && place.contains(at) ? nameOf(at) : null;
  draw();
  const now = [.../** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("a, button, input, [tabindex]"))].find((each) => nameOf(each) === name);
  if (name !== null) now?.focus({ preventScroll: true });
};

/** What tells an element from others of its place, also when it is drawn anew. @param {Element} element */
const nameOf = (element) => `${element.localName} ${element.getAttribute("href") ?? element.getAttribute("aria-label") ?? element.textContent}`;

/** A value and its error, which take two lines where there is little room. @param {string} value @param {string} error */
export const withError = (value, error) =>
  h("span", { class: "figure" }, h("span", {}, value), " ", h("span", {}, `± ${error.replace(" %", "")}`));

/**
 * A table that scrolls sideways by itself where it is too wide; the first cell of a row heads it.
 * @param {string} label
 * @param {Child[]} heads
 * @param {{ cells: Child[], attributes?: Attributes }[]} rows
 * @param {string} [kind]
 */
export const table = (label, heads, rows, kind = "") =>
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", { class: kind },
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...rows.map(({ cells: [first, ...rest], attributes }) =>
        h("tr", attributes, h("th", { scope: "row" }, first), ...rest.map((cell) => h("td", {}, cell)))))));
