// What can be played in a position: all moves at once, then a simulation of the best or of those that are ticked.
//
//   list.show(equipment, asked);
//   list.addEventListener("play", ({ detail }) => …);   // { move, score }
//   list.addEventListener("wrong", ({ detail }) => …);  // an error of the server about the position

import { inBase64, sentenceOf } from "./analysis.js";
import { button, h, keepingFocus, table } from "./dom.js";
import { figuresOf, verdictOf, withInterval } from "./findings.js";
import { moveText } from "./game.js";
import { readMove } from "./notation.js";
import { Review } from "./review.js";
import { serverTexts } from "./server_texts.js";
import { studyTexts as texts } from "./study_texts.js";
import { decimal, percent, texts as common } from "./texts.js";
import { leaves, tileChances } from "./thoughts.js";

/** @import { Analysis } from "./analysis.js" */
/** @import { Candidate, Findings } from "./review.js" */
/** @import { Equipment } from "./scoring.js" */
/** @import { Position } from "./study.js" */
/** @typedef {{ move: string, score: number, leave: string, equity: number }} Move */
/** @typedef {{ cgp: string, position: Position, line?: string, at?: number, lacks: string }} Asked `cgp`: as the player on turn sees it;
 *   `line`, `at`: the game up to here as GCG and the line to analyse, for what the last play tells; `lacks`: why nothing can be asked. */

const SOON_MS = 40, FIRST_MOVES = 300, MOST_MOVES = 5000, ROWS = 40, SECONDS = 4, LEAVES = 10;

export class MovesList extends HTMLElement {
  /** @param {Analysis} analysis */
  constructor(analysis) {
    super();
    this.analysis = analysis;
    /** @type {Equipment | null} */
    this.equipment = null;
    /** @type {Asked | null} */
    this.asked = null;
    /** @type {Move[]} */
    this.moves = [];
    this.count = this.timer = this.listing = this.running = this.rollouts = 0;
    this.seconds = SECONDS;
    this.most = ROWS;
    /** @type {Set<string>} */
    this.ticked = new Set();
    /** @type {Map<string, Candidate>} */
    this.simulated = new Map();
    /** @type {(Findings & { belief?: any }) | null} */
    this.found = null;
    this.status = h("p", { class: "note", role: "status" });
    this.filter = h("input", { type: "search", id: "filter", placeholder: texts.filterHint, autocomplete: "off", spellcheck: "false", input: () => this.refilter() });
    this.list = h("div", { class: "listed" });
    this.start = h("button", { type: "button", class: "main", click: () => (this.running ? this.analysis.cancel(this.running) : this.simulate()) });
    this.deeper = button(texts.deeper, () => this.simulate(2 * this.seconds, this.compared));
    this.comparing = button(texts.compare, () => this.simulate(this.seconds, [...this.ticked]));
    this.findings = h("div");
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.append(h("div", { class: "heading" }, h("h2", {}, texts.moves), h("label", { for: "filter" }, texts.filter), this.filter),
      h("div", { class: "controls" }, this.start, this.deeper, this.comparing), this.status, this.list, this.findings);
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
  }

  /** @param {Equipment} equipment @param {Asked} asked */
  show(equipment, asked) {
    if (this.equipment === equipment && this.asked?.cgp === asked.cgp && this.asked.lacks === asked.lacks) return void Object.assign(this.asked, asked); // the line may be another
    [this.equipment, this.asked] = [equipment, asked];
    this.ask();
  }

  /** Ask for the moves anew. */
  ask() {
    clearTimeout(this.timer);
    for (const id of [this.listing, this.running]) if (id) this.analysis.cancel(id);
    [this.moves, this.count, this.found, this.listing, this.running, this.seconds, this.most, this.rollouts] = [[], 0, null, 0, 0, SECONDS, ROWS, 0];
    this.ticked.clear();
    this.simulated.clear();
    this.findings.replaceChildren();
    this.tell(this.asked?.lacks || common.loading);
    this.draw();
    if (!this.asked?.lacks) this.timer = setTimeout(() => this.fetch(FIRST_MOVES), SOON_MS); // a position that is only passed by is not asked about
  }

  /** @param {number} most */
  fetch(most) {
    const { asked } = this;
    if (!asked || !this.isConnected) return;
    this.listing = this.analysis.request({ type: "moves", data: dataOf(asked.cgp), line: 0, most }, (message) => {
      if (asked !== this.asked) return; // of another position
      if (message.type === "moves") {
        [this.moves, this.count] = [message.moves, message.count];
        this.tell("");
        this.draw();
      } else if (message.type === "waiting") this.tell(common.waiting(message.ahead));
      else if (message.type === "error") this.fail(message, () => this.ask());
      if (message.type === "done" || message.type === "error") this.listing = 0;
    });
  }

  // --- the list ---

  refilter() {
    this.most = ROWS;
    if (this.filter.value.trim() && this.count > this.moves.length && this.moves.length < MOST_MOVES && !this.listing) this.fetch(MOST_MOVES);
    this.draw();
  }

  draw() {
    const { equipment, asked } = this;
    if (!equipment || !asked) return;
    const { board } = asked.position, known = new Set(this.moves.map(({ move }) => move));
    const others = [...this.simulated.values()].filter(({ move }) => !known.has(move)).map((each) => ({ ...each, equity: each.static }));
    const text = (/** @type {string} */ move) => moveText(readMove(move, equipment.layout.columns), board);
    const rank = (/** @type {Move} */ { move }) => (this.running ? this.ranks : this.simulated).has(move) ? [...(this.running ? this.ranks : this.simulated).keys()].indexOf(move) : Infinity;
    const suits = suiting(this.filter.value), shown = [...others, ...this.moves].filter((move) => suits(move, text(move.move)));
    const sorted = shown.map((move) => ({ move, at: rank(move) })).sort((one, other) => (one.at === other.at ? 0 : one.at - other.at)).map(({ move }) => move);
    const rows = sorted.slice(0, this.most).map(({ move, score, leave, equity }) => ({
      attributes: { "data-move": move, "aria-current": this.found?.verdict.best === move ? "true" : null },
      cells: [
        h("button", { type: "button", class: "step", "aria-label": texts.playIt(text(move), score), click: () => this.dispatchEvent(new CustomEvent("play", { detail: { move, score } })) },
          `${text(move)}${this.simulated.get(move)?.phony ? "*" : ""}`),
        score, leave, decimal(equity), "", "",
        h("input", { type: "checkbox", checked: this.ticked.has(move), "aria-label": texts.tick(text(move)), change: (/** @type {Event} */ { target }) => this.tick(move, /** @type {HTMLInputElement} */ (target).checked) }),
      ],
    }));
    const heads = [common.move, common.score, common.keeps, texts.equity, common.win, texts.gain, texts.compareHead], scrolled = this.list.firstElementChild?.scrollTop ?? 0;
    keepingFocus(this.list, () => this.list.replaceChildren(...(rows.length ? [table(texts.moves, heads, rows, "considered moves")] : []),
      ...(this.moves.length ? [h("p", { class: "note" }, texts.shown(rows.length, shown.length, this.count), " ", shown.length > this.most && button(texts.more, () => {
        this.most += 3 * ROWS;
        this.draw();
      }))] : [])));
    if (this.list.firstElementChild) this.list.firstElementChild.scrollTop = scrolled;
    this.fill();
    this.showControls();
  }

  /** Put what the simulation says so far into the rows, which stay where they are: one may be about to be pressed. */
  fill() {
    for (const row of this.list.querySelectorAll("tr[data-move]")) {
      const known = this.simulated.get(row.getAttribute("data-move") ?? "");
      row.children[4]?.replaceChildren(known ? withInterval(known.win, known.win_error, percent) : "");
      row.children[5]?.replaceChildren(known ? withInterval(known.equity, known.equity_error, decimal) : "");
    }
  }

  /** @param {string} move @param {boolean} isTicked */
  tick(move, isTicked) {
    if (isTicked) this.ticked.add(move);
    else this.ticked.delete(move);
    this.showControls();
  }

  showControls() {
    this.start.textContent = this.running ? common.stop : texts.simulate;
    this.start.setAttribute("aria-disabled", String(!this.running && !this.moves.length));
    this.deeper.hidden = !this.found || this.running > 0;
    this.comparing.hidden = this.ticked.size < 2 || this.running > 0;
  }

  // --- the simulation ---

  /** @param {number} [seconds] @param {string[]} [moves] compare just these */
  simulate(seconds = SECONDS, moves) {
    const { asked } = this;
    if (!asked || !this.moves.length || this.running) return;
    this.ranks = new Map(this.simulated);
    [this.seconds, this.found, this.compared] = [seconds, null, moves];
    this.simulated.clear();
    this.findings.replaceChildren();
    const data = asked.line ? { data: dataOf(asked.line), line: asked.at, belief: true } : { data: dataOf(asked.cgp), line: 0 };
    this.running = this.analysis.request({ type: "analyse", ...data, seconds, ...(moves ? { moves } : {}) }, (message) => {
      if (asked === this.asked) this.hear(message);
    });
    this.tell(texts.simulating(seconds));
    this.draw();
  }

  /** @type {string[] | undefined} The moves that are compared alone. */
  compared;
  /** @type {Map<string, Candidate>} The order of the rows while a simulation runs. */
  ranks = new Map();

  /** @param {any} message */
  hear(message) {
    if (message.type === "waiting") this.tell(common.waiting(message.ahead));
    else if (message.type === "left_out") this.tell(texts.leftOut(serverTexts.said(message.why)));
    else if (message.type === "so_far" || message.type === "turn" && message.candidates) {
      this.simulated = new Map(message.candidates.map((/** @type {Candidate} */ each) => [each.move, each]));
      this.rollouts = message.rollouts;
      if (message.type === "turn") this.found = message;
      else this.tell(texts.soFar(message.rollouts));
    } else if (message.type === "error") this.fail(message, () => this.simulate(this.seconds, this.compared));
    if (message.type === "done" || message.type === "error") {
      this.running = 0;
      if (message.type === "done") this.tell(this.found ? texts.done(this.rollouts, this.seconds) : message.stopped ? texts.stopped : this.status.textContent ?? "");
      this.draw();
      this.showFound();
    } else this.fill();
  }

  showFound() {
    const { found, asked, equipment } = this;
    if (!found || !asked || !equipment) return;
    const { position: { onTurn, racks, scores }, cgp } = asked;
    const turn = { line: found.line, seq: 0, seat: onTurn, cgp, rack: racks[onTurn], played: null, score: null, left_out: null };
    const review = new Review({
      title: "", players: [], notice: "", gcg: null, scores, turns: [turn], board: equipment.layout, tiles: equipment.tiles,
      rack_size: equipment.rackSize ?? 7, bingo_bonus: equipment.bingo ?? 50,
    }, "");
    const { belief } = found;
    this.findings.replaceChildren(...verdictOf(review, turn, found),
      h("details", {}, h("summary", {}, texts.figures), ...figuresOf(review, turn, found)),
      ...(belief ? [h("details", {}, h("summary", {}, texts.belief), h("p", { class: "note" }, belief.note && serverTexts.said(belief.note)), h("div", { class: "beliefs" }, tileChances(belief.tiles, ""), leaves(belief.top.slice(0, LEAVES), undefined)))] : []));
  }

  // --- what is said ---

  /** @param {string} sentence */
  tell(sentence) {
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
  }

  /** @param {any} error @param {() => void} again */
  fail(error, again) {
    this.status.replaceChildren(sentenceOf(error), " ", error.code === "bad_game" ? "" : button(common.tryAgain, again));
    if (error.code === "bad_game") this.dispatchEvent(new CustomEvent("wrong", { detail: error }));
  }
}

/** @param {string} text */
const dataOf = (text) => inBase64(new TextEncoder().encode(text));

/** Whether a move suits a filter: a square (8D), a score (>30), letters of its word. @param {string} filter @returns {(move: Move, text: string) => boolean} */
const suiting = (filter) => {
  const tests = filter.trim().toUpperCase().split(/\s+/).filter(Boolean).map((part) => {
    const [, sign, points] = /^([<>])(\d+)$/.exec(part) ?? [];
    if (sign) return (/** @type {Move} */ { score }) => (sign === ">" ? score > Number(points) : score < Number(points));
    if (/^(\d{1,2}[A-Z]|[A-Z]\d{1,2})$/.test(part)) return (/** @type {Move} */ { move }) => move.startsWith(`${part} `);
    return (/** @type {Move} */ _, /** @type {string} */ text) => text.replace(/^\S+ /, "").replace(/[()[\]]/g, "").toUpperCase().includes(part);
  });
  return (move, text) => tests.every((test) => test(move, text));
};

customElements.define("moves-list", MovesList);
