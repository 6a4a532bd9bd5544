// What can be played in a position: all moves at once, then a simulation that begins by itself once one stays there.
//
//   list.show(equipment, asked);
//   list.addEventListener("look", ({ detail }) => …);   // { move, score }: to be seen on the board
//   list.addEventListener("play", ({ detail }) => …);   // { move, score }
//   list.addEventListener("wrong", ({ detail }) => …);  // an error of the server about the position

import { dataOf, sentenceOf } from "./analysis.js";
import { button, h, keepingFocus, labelled, table } from "./dom.js";
import { effort, figuresOf, verdictOf, withInterval } from "./findings.js";
import { moveText } from "./game.js";
import { readMove } from "./notation.js";
import { Review } from "./review.js";
import { serverTexts } from "./server_texts.js";
import { studyTexts as texts } from "./study_texts.js";
import { decimal, percent, texts as common } from "./texts.js";
import { toldOf } from "./thoughts.js";

/** @import { Analysis } from "./analysis.js" */
/** @import { Candidate, Findings } from "./review.js" */
/** @import { Equipment } from "./scoring.js" */
/** @import { Position } from "./study.js" */
/** @typedef {{ move: string, score: number, leave: string, equity: number }} Move */
/** @typedef {{ cgp: string, position: Position, table: string | null, line?: string, at?: number, lacks: string }} Asked `cgp`: as the player
 *   on turn sees it; `line`, `at`: the game up to here as GCG and the line to analyse, for what the last play tells;
 *   `lacks`: why nothing can be asked. */
/** @typedef {{ simulated: Map<string, Candidate>, earlier: Map<string, Candidate>, found: (Findings & { belief?: any }) | null, rollouts: number, seconds: number,
 *   compared?: string[] | undefined, ticked: Set<string>, isStopped: boolean }} Known What came of a position; `earlier`: of moves that are not compared now; `compared`: alone; `isStopped`:
 *   by hand, and stays so. */

const SOON_MS = 40, STAYED_MS = 700, BUSY_MS = 10000, FIRST_MOVES = 300, MOST_MOVES = 5000, ROWS = 40, SECONDS = 4;

/** @type {Map<string, Known>} As long as the page is open, by position. */
const positions = new Map();

export class MovesList extends HTMLElement {
  /** @type {Equipment | null} */
  equipment = null;
  /** @type {Asked | null} */
  asked = null;
  /** @type {Move[]} */
  moves = [];
  count = 0;
  /** Rows that are shown. */
  most = ROWS;
  timer = 0;
  /** Requests that are not done: the list, and the simulation. */
  listing = 0;
  running = 0;
  /** @type {Known} */
  known = newlyKnown();
  /** @type {string[]} Moves in the order that they came to; their rows are the first. */
  order = [];
  isUnsettled = false;
  /** The move that is seen on the board. */
  looked = "";
  play = () => {};

  /** @param {Analysis} analysis */
  constructor(analysis) {
    super();
    this.analysis = analysis;
    this.status = h("p", { class: "note", role: "status" });
    this.filter = h("input", { type: "search", id: "filter", placeholder: texts.filterHint, autocomplete: "off", spellcheck: "false", input: () => this.refilter() });
    this.list = h("div", { class: "listed", pointerleave: () => this.settle(), focusout: () => setTimeout(() => this.settle()) });
    this.start = h("button", { type: "button", class: "main", click: () => (this.running ? this.stop() : this.simulate()) });
    this.playing = button("", () => this.play());
    this.deeper = button("", () => this.simulate(2 * this.known.seconds, this.known.compared));
    this.comparing = button(texts.compare, () => this.simulate(this.known.seconds, [...this.known.ticked]));
    this.verdict = h("div");
    this.findings = h("div");
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.append(h("div", { class: "heading" }, h("h2", {}, texts.moves), ...labelled(texts.filter, this.filter)),
      h("div", { class: "controls" }, this.start, this.deeper, this.comparing, this.playing),
      h("div", { class: "outcome" }, this.status, this.verdict), this.list, this.findings);
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
    const { asked } = this;
    if (!asked) return;
    clearTimeout(this.timer);
    for (const id of [this.listing, this.running]) this.analysis.cancel(id);
    [this.moves, this.count, this.listing, this.running, this.most, this.looked] = [[], 0, 0, 0, ROWS, ""];
    const key = `${asked.table} ${asked.cgp}`;
    this.known = positions.get(key) ?? newlyKnown();
    positions.set(key, this.known);
    this.order = [...this.known.simulated.keys()];
    this.tell(asked.lacks || common.loading);
    this.showFound();
    this.draw();
    if (!asked.lacks) this.timer = setTimeout(() => this.fetch(FIRST_MOVES), SOON_MS); // a position that is only passed by is not asked about
  }

  /** @param {number} most */
  fetch(most) {
    const { asked } = this;
    if (!asked || !this.isConnected) return;
    const id = this.listing = this.analysis.request({ type: "moves", data: dataOf(asked.cgp), table: asked.table, line: 0, most }, (message) => {
      if (this.listing !== id) return; // of another position
      if (message.type === "moves") {
        [this.moves, this.count] = [message.moves, message.count];
        this.tell(this.known.found ? this.doneText(this.known.found) : this.known.isStopped ? this.stoppedText : "");
        this.draw();
        if (!this.running && !this.known.found && !this.known.isStopped && this.moves.length > 1) this.startSoon();
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
    const { equipment, asked, known: { simulated, ticked } } = this;
    if (!equipment || !asked) return;
    const { board } = asked.position, listed = new Set(this.moves.map(({ move }) => move));
    const others = [...simulated.values()].filter(({ move }) => !listed.has(move)).map((each) => ({ ...each, equity: each.static }));
    const text = (/** @type {string} */ move) => moveText(readMove(move, equipment.layout.columns), board);
    const rank = (/** @type {Move} */ { move }) => this.order.indexOf(move) >>> 0; // the others come behind
    const suits = suiting(this.filter.value), shown = [...others, ...this.moves].filter((move) => suits(move, text(move.move))).sort((one, other) => rank(one) - rank(other));
    const rows = shown.slice(0, this.most).map(({ move, score, leave, equity }) => ({
      attributes: { "data-move": move },
      cells: [
        h("button", { type: "button", class: "step", "aria-label": texts.showIt(text(move), score), click: () => this.look(move, score) },
          `${text(move)}${simulated.get(move)?.phony ? "*" : ""}`),
        score, leave, decimal(equity), "", "",
        h("input", { type: "checkbox", checked: ticked.has(move), "aria-label": texts.tick(text(move)), change: (/** @type {Event} */ { target }) => {
          /** @type {HTMLInputElement} */ (target).checked ? ticked.add(move) : ticked.delete(move);
          this.showControls();
        } }),
      ],
    }));
    const heads = [common.move, common.score, texts.leave, texts.equity, common.win, texts.gain, h("span", { role: "img", "aria-label": texts.compareHead, title: texts.compareHead }, "⇄")], scrolled = this.list.firstElementChild?.scrollTop ?? 0;
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
      const move = row.getAttribute("data-move") ?? "", own = this.known.simulated.get(move), known = own ?? this.known.earlier.get(move);
      if (this.known.found?.verdict.best === move) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      row.classList.toggle("busy", !own && known !== undefined);
      row.children[4]?.replaceChildren(known ? withInterval(known.win, known.win_error, percent) : "");
      row.children[5]?.replaceChildren(known ? withInterval(known.equity, known.equity_error, decimal) : "");
    }
  }

  /** Put the rows in the order that the simulation found, when none is about to be pressed. */
  settle() {
    if (!this.isUnsettled || this.running || this.list.matches(":hover, :focus-within")) return;
    this.order = [...this.known.simulated.keys()];
    this.isUnsettled = false;
    this.draw();
  }

  /** Have a move be seen on the board, and played once it is. @param {string} move @param {number} score */
  look(move, score) {
    const { asked, equipment, looked } = this;
    if (!asked || !equipment) return;
    this.looked = looked === move ? "" : move;
    this.playing.textContent = texts.playIt(moveText(readMove(move, equipment.layout.columns), asked.position.board), score);
    this.play = () => this.dispatchEvent(new CustomEvent("play", { detail: { move, score } }));
    this.showControls();
    if (looked === move) this.play();
    else this.dispatchEvent(new CustomEvent("look", { detail: { move, score } }));
  }

  showControls() {
    const { found, ticked, seconds, isStopped, rollouts } = this.known;
    this.playing.hidden = !this.looked;
    this.deeper.textContent = texts.deeper(2 * seconds);
    this.start.textContent = this.running ? common.stop : texts.simulate;
    this.start.setAttribute("aria-disabled", String(!this.running && !this.moves.length));
    this.deeper.hidden = !found && !(isStopped && rollouts) || this.running > 0;
    this.comparing.hidden = ticked.size < 2;
  }

  // --- the simulation ---

  /** Begin by itself once one has stayed, if the window is looked at. */
  startSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (document.hidden ? this.startSoon() : this.simulate()), STAYED_MS);
  }

  stop() {
    this.known.isStopped = true;
    this.analysis.cancel(this.running);
  }

  /** @param {number} [seconds] @param {string[]} [compared] just these moves */
  simulate(seconds = SECONDS, compared) {
    const { asked } = this;
    if (!asked || !this.moves.length) return;
    clearTimeout(this.timer);
    this.analysis.cancel(this.running);
    const earlier = compared ? new Map([...this.known.earlier, ...this.known.simulated]) : new Map();
    Object.assign(this.known, { seconds, compared, found: null, rollouts: 0, isStopped: false, simulated: new Map(), earlier });
    this.showFound();
    const data = asked.line ? { data: dataOf(asked.line), line: asked.at, belief: true } : { data: dataOf(asked.cgp), line: 0 };
    const id = this.running = this.analysis.request({ type: "analyse", ...data, table: asked.table, seconds, ...(compared ? { moves: compared } : {}) }, (message) => {
      if (this.running === id) this.hear(message);
    });
    this.tell(texts.simulating(seconds));
    this.draw();
  }

  /** @param {any} message */
  hear(message) {
    const { known } = this;
    if (message.type === "waiting") this.tell(common.waiting(message.ahead));
    else if (message.type === "left_out") this.tell(texts.leftOut(serverTexts.said(message.why)));
    else if (message.type === "error") this.fail(message, () => this.simulate(known.seconds, known.compared));
    else if (message.candidates) {
      known.simulated = new Map(message.candidates.map((/** @type {Candidate} */ each) => [each.move, each]));
      known.rollouts = message.rollouts;
      if (message.type === "turn") known.found = message;
      else this.tell(texts.soFar(message.rollouts));
    }
    if (message.type === "done") this.tell(known.found ? this.doneText(known.found) : known.isStopped ? this.stoppedText : this.status.textContent ?? "");
    this.fill();
    if (message.type !== "done" && message.type !== "error") return;
    [this.running, this.isUnsettled] = [0, true];
    this.showControls();
    this.showFound();
    this.settle();
  }

  /** What a simulation came to that was stopped. */
  get stoppedText() {
    const { rollouts } = this.known;
    return rollouts ? `${texts.stopped} ${texts.soFar(rollouts)}` : texts.stopped;
  }

  /** What was done. @param {Findings} found */
  doneText(found) {
    const { exact, nodes, plies, pre_endgame, verdict: { proven } } = found;
    if (exact && nodes || pre_endgame) return [...(pre_endgame ? [] : [proven ? texts.proven : texts.notProven]), effort(found)].join(" · ");
    return texts.done(this.known.rollouts, plies === null ? common.toTheEnd : common.plies(plies), this.known.seconds);
  }

  showFound() {
    const { asked, equipment, known: { found } } = this;
    this.verdict.replaceChildren();
    this.findings.replaceChildren();
    if (!found || !asked || !equipment) return;
    const { position: { onTurn, racks, scores }, cgp } = asked, { belief } = found;
    const turn = { line: found.line, seq: 0, seat: onTurn, cgp, rack: racks[onTurn], played: null, score: null, left_out: null };
    const review = new Review({
      title: "", players: [], notice: "", gcg: null, scores, turns: [turn], board: equipment.layout, tiles: equipment.tiles,
      rack_size: equipment.rackSize ?? 7, bingo_bonus: equipment.bingo ?? 50,
    }, "");
    this.verdict.replaceChildren(...verdictOf(review, turn, found));
    this.findings.replaceChildren(
      h("details", { open: Boolean(found.pre_endgame) }, h("summary", {}, texts.figures), ...figuresOf(review, turn, found)),
      ...(belief ? [h("details", {}, h("summary", {}, common.lastPlayTells), ...toldOf(belief))] : []));
  }

  // --- what is said ---

  /** @param {string} sentence */
  tell(sentence) {
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
  }

  /** Say what is in the way. A busy engine is asked again, as one may do oneself. @param {any} error @param {() => void} again */
  fail(error, again) {
    const isBusy = error.code === "busy", isWrong = error.code === "bad_game", isOver = isWrong && error.message.startsWith("the game is over");
    this.status.replaceChildren(isOver ? texts.isOver : isWrong ? texts.mendFirst : sentenceOf(error), isBusy ? ` ${texts.asksAgain} ` : " ", isWrong ? "" : button(common.tryAgain, again));
    if (isBusy) this.timer = setTimeout(again, BUSY_MS);
    if (isWrong) this.dispatchEvent(new CustomEvent("wrong", { detail: error }));
  }
}

/** @returns {Known} */
const newlyKnown = () => ({ simulated: new Map(), earlier: new Map(), found: null, rollouts: 0, seconds: SECONDS, ticked: new Set(), isStopped: false });

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
