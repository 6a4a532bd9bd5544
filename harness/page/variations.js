// The moves of a study as a tree: the main line, and variations set in below the move that they replace.

import { h, keepingFocus, signButton } from "./dom.js";
import { moveText } from "./game.js";
import { readMove } from "./notation.js";
import { isEntry, nodeAt, reached, toEnd } from "./study.js";
import { studyTexts as texts } from "./study_texts.js";
import { signed } from "./texts.js";

/** @import { Node, Path, Study } from "./study.js" */

export class StudyLine extends HTMLElement {
  list = h("div", { class: "line-of" });
  /** @type {Study | null} */
  study = null;
  /** @type {Path} */
  path = [];
  steps = /** @type {const} */ ([["|◀", texts.toStart], ["◀", texts.back], ["▶", texts.on], ["▶|", texts.toEnd]]).map(([sign, label], at) => signButton(sign, label, () => this.step(at)));

  /** Stands where it is seen with the board. */
  stepping = h("span", { class: "steps", role: "group", "aria-label": texts.stepping }, ...this.steps);

  connectedCallback() {
    if (!this.firstChild) this.append(this.list);
  }

  /** @param {Study} study @param {Path} path @param {number} columns */
  show(study, path, columns) {
    [this.study, this.path] = [study, path];
    this.steps.forEach((each, at) => each.setAttribute("aria-disabled", String(at < 2 ? !path.length : !nodeAt(study, path)?.next.length)));
    keepingFocus(this.list, () => this.list.replaceChildren(this.item([], texts.startOf, 0), ...this.lineFrom(study, [], columns)));
    const here = /** @type {HTMLElement | null} */ (this.list.querySelector("[aria-current]")), { offsetTop = 0 } = here ?? {}, { scrollTop, clientHeight } = this.list;
    if (offsetTop < scrollTop || offsetTop > scrollTop + clientHeight - 30) this.list.scrollTop = offsetTop - clientHeight / 2; // and not the page with it
  }

  /** Step: 0 to the start, 1 back, 2 on, 3 to the end of the line; or among the moves in one place. @param {number} how @param {number} [aside] */
  step(how, aside = 0) {
    const { study, path } = this, last = path.at(-1);
    if (!study) return;
    const to = aside ? [...path.slice(0, -1), (last ?? 0) + aside] : [[], path.slice(0, -1), [...path, 0], toEnd(study, path)][how] ?? path;
    if (nodeAt(study, to) && (!aside || last !== undefined)) this.dispatchEvent(new CustomEvent("go", { detail: to }));
  }

  /** The moves from a place on, each with those in its stead. @param {Study} study @param {Path} from @param {number} columns @param {number} [depth] @returns {HTMLElement[]} */
  lineFrom(study, from, columns, depth = 0) {
    const { position: { board } } = reached(study, from, columns), next = nodeAt(study, from)?.next ?? [];
    const items = next.map((node, at) => {
      const { seat, move, score } = node, text = isEntry(move) ? texts.entries[move] ?? move : moveText(readMove(move, columns), board);
      return this.item([...from, at], `${study.players[seat]} ${text}${score ? ` ${signed(score)}` : ""}`, depth + Number(at > 0), node);
    });
    const others = items.slice(1).map((item, at) => h("div", { class: "variation" }, item, ...this.lineFrom(study, [...from, at + 1], columns, depth + 1)));
    return [...items.slice(0, 1), ...others, ...(next.length ? this.lineFrom(study, [...from, 0], columns, depth) : [])];
  }

  /** @param {Path} path @param {string} text @param {number} depth @param {Node} [node] */
  item(path, text, depth, node) {
    const isHere = path.join() === this.path.join();
    return h("button", {
      type: "button", class: "step", "aria-current": isHere ? "true" : null, "aria-label": `${depth ? `${texts.variation}: ` : ""}${path.length ? `${path.length}. ` : ""}${text}${node?.note ? `, ${texts.hasNote}` : ""}`,
      click: () => this.dispatchEvent(new CustomEvent("go", { detail: path })),
    }, path.length ? `${path.length}. ` : "", text, node?.note ? h("span", { "aria-hidden": "true" }, " ✎") : "");
  }
}

customElements.define("study-line", StudyLine);
