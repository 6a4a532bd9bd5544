// Lines over the turns of a game, as SVG. What they say is in their label too.

import { h, svg } from "./dom.js";

const MOST_CHARACTERS = 24;
const LEAST_WIDTH = 320, MOST_WIDTH = 560, HEIGHT = 150, LEFT = 46, RIGHT = 10, TOP = 14, BOTTOM = 24, SCALE = 1.3;

/** @typedef {{ name: string, points: [number, number][] }} Series Points are turns and values. */
/**
 * @typedef {{ title: string, label: string, series: Series[], turns: number, turn: number, low: number,
 *   high: number, middle: number, shown: (value: number) => string, notes: [string, string], end?: string,
 *   marks?: [number, number][], go?: (turn: number) => void }} Plot `marks`: points that stand out; `go`: what a click on a turn does.
 */

export class TurnGraph extends HTMLElement {
  /** @param {Plot} plot */
  show(plot) {
    const { low, high, middle, turns } = plot, width = Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, this.clientWidth / SCALE));
    const x = (/** @type {number} */ turn) => LEFT + (turn / Math.max(turns, 1)) * (width - LEFT - RIGHT);
    const y = (/** @type {number} */ value) => TOP + ((high - value) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
    const level = (/** @type {number} */ value) => [
      svg("line", { class: value === middle ? "zero" : "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, plot.shown(value)),
    ];
    const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": plot.label },
      ...new Set([low, middle, high].flatMap(level)),
      svg("text", { x: LEFT + 4, y: TOP - 3 }, plot.notes[0]),
      svg("text", { x: LEFT + 4, y: HEIGHT - BOTTOM + 13 }, plot.notes[1]),
      svg("text", { x: width - RIGHT, y: HEIGHT - BOTTOM + 13, "text-anchor": "end" }, plot.end ?? turns),
      svg("line", { class: "here", x1: x(plot.turn), x2: x(plot.turn), y1: TOP, y2: HEIGHT - BOTTOM }),
      ...plot.series.flatMap(({ points }, number) => [
        svg("polyline", { class: `line${number}`, points: points.map(([turn, value]) => `${x(turn)},${y(value)}`).join(" ") }),
        ...points.filter(([turn]) => turn === plot.turn || points.length === 1).map(([turn, value]) =>
          svg("circle", { class: `dot${number}`, cx: x(turn), cy: y(value), r: 4 })),
      ]),
      ...(plot.marks ?? []).map(([turn, value]) => svg("circle", { class: "marked", cx: x(turn), cy: y(value), r: 3.5 })));
    const { go } = plot;
    /** @type {SVGElement} */ (picture).style.maxWidth = `${SCALE * width}px`; // a wider place would make its letters grow
    picture.classList.toggle("goes", go !== undefined);
    if (go) picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const at = ((/** @type {MouseEvent} */ (event).clientX - box.left) / box.width) * width;
      go(Math.max(0, Math.min(turns, Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * turns))));
    });
    const keys = plot.series.length > 1 && h("p", { class: "keys" },
      ...plot.series.map(({ name }, number) => h("span", { class: `key${number}` }, h("bdi", {}, name))));
    this.replaceChildren(h("figure", {}, h("figcaption", {}, plot.title), picture, keys));
  }
}

/** A name as there is room for it beside a line. @param {string} name */
export const short = (name) => ([...name].length > MOST_CHARACTERS ? `${[...name].slice(0, MOST_CHARACTERS - 1).join("")}…` : name);

customElements.define("turn-graph", TurnGraph);
