// A turn of a review in full: what was found, and the board to try other moves on.

import { sentenceOf } from "./analysis.js";
import { button, h, keepingFocus, signButton, table } from "./dom.js";
import { MoveEntry } from "./entry.js";
import { boardWith, figuresOf, verdictOf, withInterval } from "./findings.js";
import { studyLink } from "./review_link.js";
import { serverTexts } from "./server_texts.js";
import { decimal, grouped, percent, texts } from "./texts.js";
import { toldOf } from "./thoughts.js";
import { phonyText } from "./verdict.js";

/** @import { Analysis } from "./analysis.js" */
/** @import { Candidate, Findings, Lead, Review, Turn } from "./review.js" */
/** @typedef {{ move: string, request: number, lead: Lead | null, best: string, rollouts: number, note: string }} Tried */

const LONGER_S = 10, TRY_S = 4, TELL_S = .1;
const WORDS = { play: texts.analyseMove, playFor: texts.analyseFor, exchangeNow: texts.analyseExchange, entryKeys: texts.tryKeys };

export class TurnReview extends HTMLElement {
  /** @param {Review} review @param {Analysis} analysis @param {() => string} data the game, in base64 */
  constructor(review, analysis, data) {
    super();
    this.review = review;
    this.analysis = analysis;
    this.data = data;
    /** @type {Turn | null} */
    this.turn = null;
    /** @type {Map<number, Tried[]>} By line. */
    this.tried = new Map();
    /** What the board shows: "try", or a move. */
    this.shown = "try";
    /** @type {Set<number>} Lines that are looked at for longer. */
    this.longer = new Set();
  }

  /** @param {Turn | null} turn @param {number | null} line what was asked for */
  show(turn, line) {
    keepingFocus(this, () => this.build(turn, line));
  }

  /** @param {Turn | null} turn @param {number | null} line */
  build(turn, line) {
    this.turn = turn;
    this.shown = "try";
    if (!turn) {
      this.replaceChildren(h("p", { class: "look note" }, line === null ? texts.chooseTurn : texts.noSuchTurn(line)));
      return;
    }
    this.entry = new MoveEntry(WORDS);
    this.entry.addEventListener("play", (event) => this.try_(/** @type {CustomEvent<{ move: string }>} */ (event).detail.move));
    this.board = h("div");
    this.verdict = h("div");
    this.figures = h("div");
    this.longerButton = button(texts.lookLonger, () => this.lookLonger(turn)); // stays, and so does the keyboard on it
    this.telling = button(texts.lastPlayTells, () => this.askTold(turn));
    this.told = h("div");
    this.tries = h("div");
    this.outcome = h("p", { class: "hidden", "aria-live": "polite" });
    this.choices = h("div", { class: "choices", role: "group", "aria-label": texts.onBoard });
    const name = this.review.told.players[turn.seat];
    const step = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {number} */ by) =>
      signButton(sign, label, () => this.dispatchEvent(new CustomEvent("step", { detail: by })));
    this.replaceChildren(
      h("div", { class: "found" },
        h("div", { class: "heading" },
          h("h2", {}, name === undefined ? texts.aPosition : h("bdi", {}, texts.turnOf(turn.line, name))),
          this.review.told.gcg !== null && studyLink("review", this.review.game || "mine", turn.line),
          ...(this.review.told.turns.length > 1 ? [step("◀", texts.turnBefore, -1), step("▶", texts.turnAfter, 1)] : [])),
        this.verdict),
      h("div", { class: "look" }, this.choices, this.board, this.tries, this.outcome),
      h("div", { class: "figures-of" }, this.figures, this.told, h("p", { class: "acts" }, this.longerButton, turn.line > 1 && this.telling)));
    this.showBoard();
    this.refresh();
  }

  /** Show what is known now. */
  refresh() {
    const { turn, review } = this;
    if (!turn) return;
    const found = review.found.get(turn.line);
    if (this.shown !== "try" && this.shown !== turn.played && this.shown !== found?.verdict.best) this.put("try"); // another is the best now
    if (this.shown === "try" && review.overRacks.has(turn.line)) this.put(turn.played ?? "-"); // of no rack another move can be tried
    this.showChoices(found);
    this.showTries();
    const nothing = h("p", { class: "note" }, review.instead(turn.line));
    this.verdict?.replaceChildren(...(found ? verdictOf(review, turn, found) : [nothing]));
    const { figures, longerButton } = this, isLonger = this.longer.has(turn.line);
    if (!figures || !longerButton) return;
    keepingFocus(figures, () => figures.replaceChildren(...(found ? figuresOf(review, turn, found) : [])));
    longerButton.hidden = !found;
    longerButton.setAttribute("aria-disabled", String(isLonger));
    longerButton.textContent = isLonger ? texts.lookingLonger : texts.lookLonger;
  }

  /** Whether somebody is at it: the keyboard is there, or tiles are laid. */
  get isInUse() {
    return this.contains(document.activeElement) || Boolean(this.entry?.draft?.placed.size);
  }

  // --- what was found ---

  /** @param {Turn} turn */
  lookLonger(turn) {
    if (this.longer.has(turn.line)) return;
    this.longer.add(turn.line);
    this.analysis.ask(this.data(), { line: turn.line, seconds: LONGER_S }, (message) => {
      if (message.type === "turn") this.review.found.set(turn.line, message);
      if (message.type !== "done" && message.type !== "error") return;
      this.longer.delete(turn.line);
      this.dispatchEvent(new CustomEvent("found", { detail: turn.line }));
      if (message.type === "error" && this.turn === turn) this.say(sentenceOf(message)); // above what that shows
    });
    this.refresh();
  }

  /** Ask what the opponent's last play tells; the turn itself was analysed. @param {Turn} turn */
  askTold(turn) {
    this.telling?.setAttribute("aria-disabled", "true");
    this.analysis.ask(this.data(), { line: turn.line, seconds: TELL_S }, (message) => {
      if (this.turn !== turn) return;
      if (message.type === "turn") this.told?.replaceChildren(h("h3", {}, texts.lastPlayTells), ...(message.belief ? toldOf(message.belief) : [h("p", { class: "note" }, texts.tellsNothing)]));
      else if (message.type === "error" || message.type === "left_out") this.told?.replaceChildren(h("p", { class: "note" }, message.why ? serverTexts.said(message.why) : sentenceOf(message)));
      if (message.type === "done" || message.type === "error") this.telling?.removeAttribute("aria-disabled");
    });
  }

  // --- the board ---

  /** @param {Findings | undefined} found */
  showChoices(found) {
    const { turn } = this;
    if (!turn) return;
    const best = found?.verdict.best;
    const moves = [turn.played, best].filter((move, index, all) => typeof move === "string" && all.indexOf(move) === index && !move.startsWith("-"));
    const choice = (/** @type {string} */ shown, /** @type {string} */ text) =>
      h("button", { type: "button", "aria-pressed": String(this.shown === shown), click: () => this.put(shown) }, text);
    const at = this.choices?.contains(document.activeElement) ? [...this.choices.children].indexOf(/** @type {Element} */ (document.activeElement)) : -1;
    const tries = this.review.overRacks.has(turn.line) ? [] : [choice("try", texts.tryMove)];
    this.choices?.replaceChildren(...tries, ...moves.map((move) =>
      choice(move ?? "", move === best ? move === turn.played ? texts.showBoth : texts.showBest : texts.showPlayed)));
    const again = this.choices?.children[at];
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {string} shown */
  put(shown) {
    this.shown = shown;
    this.showBoard();
    this.showChoices(this.turn ? this.review.found.get(this.turn.line) : undefined);
  }

  showBoard() {
    const { turn, review, entry } = this;
    if (!turn || !entry) return;
    if (this.shown === "try") {
      this.board?.replaceChildren(entry);
      entry.show(review.equipment, { board: review.board(turn), rack: turn.rack, turn: turn.line ? turn.line - 1 : null });
    } else this.board?.replaceChildren(boardWith(review, turn, this.shown), h("p", { class: "note" }, texts.rackHeld(turn.rack)));
  }

  // --- other moves ---

  /** Have a move analysed that was made on the board. @param {string} move */
  try_(move) {
    const { turn } = this;
    if (!turn) return;
    const all = this.tried.get(turn.line) ?? [];
    if (all.some((each) => each.move === move && each.request)) return;
    /** @type {Tried} */
    const tried = { move, request: 0, lead: null, best: "", rollouts: 0, note: "" };
    this.tried.set(turn.line, [tried, ...all.filter((each) => each.move !== move)]);
    tried.request = this.analysis.ask(this.data(), { line: turn.line, move, seconds: TRY_S }, (message) => {
      this.hearTry(tried, message);
      if (this.turn !== turn || message.type === "so_far" && this.isHeld) return;
      this.showTries();
      if (message.type === "done" || message.type === "error") this.tell(tried);
    });
    this.showTries();
  }

  /** @param {Tried} tried @param {any} message */
  hearTry(tried, message) {
    if (message.type === "waiting") tried.note = texts.waiting(message.ahead);
    else if (message.type === "so_far") Object.assign(tried, soFar(tried.move, message));
    else if (message.type === "turn") {
      const { verdict, rollouts } = /** @type {Findings} */ (message);
      Object.assign(tried, { lead: verdict.ahead_of_played, best: verdict.best, rollouts, note: verdict.not_compared ? serverTexts.said(verdict.not_compared) : (verdict.phony ? phonyText(verdict.phony) : "") });
      if (verdict.ahead_of_played) tried.move = verdict.ahead_of_played.move;
    } else if (message.type === "left_out") tried.note = serverTexts.said(message.why);
    else if (message.type === "error") tried.note = sentenceOf(message);
    else if (message.stopped) tried.note = texts.stopped;
    if (message.type === "done" || message.type === "error") tried.request = 0;
  }

  /** Say what came of a move to who can't see the table. @param {Tried} tried */
  tell(tried) {
    const at = this.turn ? this.tried.get(this.turn.line)?.indexOf(tried) ?? -1 : -1, row = this.tries?.querySelectorAll("tbody tr")[at];
    if (this.outcome && row) this.outcome.textContent = [...row.children].map(({ textContent }) => textContent).filter(Boolean).join(", ");
  }

  /** Whether a button of the tries is about to be pressed, and may not be replaced. */
  get isHeld() {
    return this.tries?.querySelector("button:is(:focus, :active)") !== null;
  }

  showTries() {
    const { turn, review } = this, all = turn ? this.tried.get(turn.line) ?? [] : [];
    if (!turn || !all.length) return this.tries?.replaceChildren();
    const rows = all.map(({ move, lead, best, rollouts, note, request }) => ({
      attributes: { class: request ? "busy" : null },
      cells: [
        review.text(move, turn),
        lead ? move === best ? "✓" : withInterval(lead.win, lead.win_error, percent, lead.width) : "",
        lead ? move === best ? "✓" : withInterval(lead.points, lead.points_error, decimal, lead.width) : "",
        rollouts ? grouped(rollouts) : "", h("span", {}, note || request > 0 && !rollouts && texts.loading, request > 0 && button(texts.stop, () => this.analysis.cancel(request))),
      ],
    }));
    const list = table(texts.triedMoves, [texts.move, texts.lostWin, texts.lostPoints, texts.samples, ""], rows, "tries");
    const at = [...this.tries?.querySelectorAll("tbody tr") ?? []].findIndex((row) => row.contains(document.activeElement));
    this.tries?.replaceChildren(h("h3", {}, texts.triedMoves), list);
    if (at >= 0) (list.querySelectorAll("tbody tr")[at]?.querySelector("button") ?? list).focus({ preventScroll: true }); // or it is gone
  }

  /** @param {string} sentence */
  say(sentence) {
    this.tries?.prepend(h("p", { class: "banner", role: "alert" }, sentence));
  }
}

/** What is known of a tried move in the middle of its analysis. @param {string} move @param {{ candidates: Candidate[], rollouts: number }} told */
const soFar = (move, { candidates, rollouts }) => {
  const [best] = candidates, own = candidates.find((each) => each.move === move);
  if (!best || !own || own.equity === null || best.equity === null || own.win === null || best.win === null) return { rollouts, note: "" };
  const lead = { move, win: best.win - own.win, win_error: null, points: best.equity - own.equity, points_error: null };
  return { lead, best: best.move, rollouts, note: "" };
};

customElements.define("turn-review", TurnReview);
