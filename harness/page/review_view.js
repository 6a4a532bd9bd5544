// The review of a game: its turns as they are analysed, one of them in full. A game of the server, or
// a GCG or CGP that was dropped here.

import { Analysis, gcgOf, inBase64, sentenceOf, textIn } from "./analysis.js";
import { forgetAll, keepMistakes } from "./boxes.js";
import { button, h, keepingFocus, labelled, names, table, toGames } from "./dom.js";
import { noticesOf, withInterval } from "./findings.js";
import { SEATS } from "./game.js";
import { givenForm, take } from "./given.js";
import { TurnGraph, short } from "./graph.js";
import { inBrowser, inWindow } from "./kept.js";
import { Review } from "./review.js";
import { save, saveAsHtml } from "./review_export.js";
import { Trouble, about, gameHash, reviewHash } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { decimal, percent, texts, versus } from "./texts.js";
import { TurnReview } from "./turn_review.js";
import { verdictText } from "./verdict.js";

/** @typedef {import("./review.js").Turn} Turn */

/** The address of what was dropped here, in place of a game's number. */
const DROPPED = "mine";
const SLOW_MS = 15000;

/** @type {{ id: string, data: string, review: Review } | null} The last one, as long as the page is open. */
let last = null;

export class ReviewView extends HTMLElement {
  constructor() {
    super();
    this.id_ = "";
    /** @type {number | null} The line that is looked at. */
    this.line = null;
    /** @type {Review | null} */
    this.review = null;
    this.analysis = new Analysis();
    this.data = "";
    this.request = 0;
    this.slow = 0;
    this.byCost = true;
    this.isOwnDrag = false;
    this.banner = h("p", { class: "banner", role: "status", hidden: true });
    this.said = h("p", { class: "hidden", "aria-live": "polite" });
    this.addEventListener("dragover", (event) => this.isOwn(event) || event.preventDefault());
    this.addEventListener("drop", (event) => this.dropped(event));
    this.onDrag = (/** @type {DragEvent} */ { type }) => { this.isOwnDrag = type === "dragstart"; };
  }

  connectedCallback() {
    document.addEventListener("dragstart", this.onDrag);
    document.addEventListener("dragend", this.onDrag);
  }

  disconnectedCallback() {
    document.removeEventListener("dragstart", this.onDrag);
    document.removeEventListener("dragend", this.onDrag);
    clearTimeout(this.slow);
    this.analysis.close();
  }

  /** @param {string} id a game of the server; `mine`: what was dropped; empty: nothing yet @param {number | null} line */
  open(id, line) {
    const isNew = id !== this.id_ || !id;
    this.id_ = id;
    this.line = line ?? (isNew ? null : this.line);
    this.isChosen = line !== null;
    if (isNew) this.load();
    else if (this.review) this.look();
  }

  async load() {
    this.review = null;
    this.analysis.close();
    const { id_ } = this, isLeft = () => !this.isConnected || this.id_ !== id_;
    const { analysis } = await about().catch(() => ({ analysis: true }));
    if (isLeft()) return;
    if (!analysis) return this.replaceChildren(h("h1", {}, texts.noReviews), toGames());
    if (!this.id_) return this.showForm();
    this.warn("");
    this.replaceChildren(h("h1", {}, texts.reviewTitle), this.banner, this.said, this.progress = h("p", {}, texts.loading));
    let data;
    try {
      data = id_ === DROPPED ? inWindow.get("review") ?? "" : await gcgOf(id_);
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      if (isLeft()) return;
      return error.status === 404 ? this.showForm(`${texts.unknownReview} ${error.message}`) : this.halt(error.message);
    }
    if (isLeft()) return;
    this.data = data;
    if (data) this.begin();
    else this.showForm(texts.dropAgain);
  }

  // --- what is given ---

  /** @param {string} [trouble] a sentence about what was given before @param {string} [given] its text, to be mended */
  showForm(trouble = "", given = "") {
    this.warn(trouble);
    document.title = `${texts.reviews} – ${texts.title}`;
    this.replaceChildren(
      h("h1", {}, texts.reviewTitle), this.banner, this.said, h("p", {}, texts.reviewAbout),
      h("div", { class: "drop" }, givenForm(this, texts.reviewIt, given, h("p", {}, h("strong", {}, texts.dropHere)))),
      h("p", { class: "note" }, texts.reviewOwn, " ", h("a", { href: "#/games" }, texts.toGames)));
  }

  /** Whether a link or a word of the page is dragged. @param {DragEvent} event */
  isOwn({ dataTransfer }) {
    return this.isOwnDrag && !dataTransfer?.types.includes("Files"); // the end of a drag is not heard if its link is drawn anew
  }

  /** @param {DragEvent} event */
  dropped(event) {
    if (this.isOwn(event)) return;
    event.preventDefault();
    const file = event.dataTransfer?.files[0], text = event.dataTransfer?.getData("text/plain");
    take(file ?? (this.querySelector("form") && text), this);
  }

  /** @param {Uint8Array} bytes */
  give(bytes) {
    inWindow.set("review", inBase64(bytes));
    this.id_ = "";
    history.pushState(null, "", reviewHash(DROPPED));
    this.open(DROPPED, null);
  }

  // --- what the server says ---

  begin() {
    this.banner.hidden = true;
    if (last?.id === this.id_ && last.data === this.data) { // it goes on where it was left
      this.build(last.review);
      return this.goOn();
    }
    this.request = this.analysis.ask(this.data, {}, (message) => this.hear(message));
    this.wait();
  }

  /** Say so if nothing comes for a while. */
  wait() {
    clearTimeout(this.slow);
    if (this.request && this.isConnected) this.slow = setTimeout(() => this.tellProgress(`${this.progress?.textContent ?? ""} ${texts.slow}`), SLOW_MS);
  }

  /** @param {any} message @param {boolean} [goesOn] whether more is to be asked for when it is done */
  hear(message, goesOn = false) {
    if (message.type === "done" || message.type === "error") this.request = 0;
    clearTimeout(this.slow);
    const { review } = this;
    if (message.type === "waiting") this.tellProgress(texts.waiting(message.ahead));
    else if (message.type === "game") {
      this.build(new Review(message, this.id_ === DROPPED ? "" : this.id_));
      this.wait();
    } else if (message.type === "error") this.fail(message);
    else if (review && message.type !== "so_far") {
      if (message.type === "turn" && message.racks) review.overRacks.set(message.line, message);
      else if (message.type === "turn") review.found.set(message.line, message);
      else if (message.type === "left_out") review.leftOut.set(message.line, serverTexts.said(message.why));
      this.show(message.line ?? null);
      if (message.type !== "done") return this.wait();
      if (goesOn) this.goOn();
      else this.finish(message.stopped);
    }
  }

  /** @param {{ code: string, message: string }} error */
  fail(error) {
    const sentence = sentenceOf(error);
    const given = this.id_ === DROPPED ? textIn(this.data) : "";
    if (error.code === "bad_game") return this.showForm(texts.cantReview(serverTexts.why(error.code, error.message)), given);
    if (!this.review) return this.id_ === DROPPED ? this.showForm(sentence, given) : this.halt(sentence);
    this.warn(sentence, () => this.goOn());
    this.show(null);
  }

  /** Say why a game of the server can't be reviewed now. @param {string} sentence */
  halt(sentence) {
    this.progress?.remove();
    this.warn(sentence, () => this.load());
  }

  /** Ask for the turns that are lacking, one after another. */
  goOn() {
    const { review } = this;
    const turn = review?.told.turns.find(({ line }) => !review.isDone(line));
    this.banner.hidden = true;
    if (!turn) return this.finish(false);
    this.request = this.analysis.ask(this.data, { line: turn.line }, (message) => {
      this.hear(message, !message.stopped);
    });
    this.show(null);
  }

  /** @param {boolean} stopped */
  finish(stopped) {
    this.say(stopped ? texts.reviewStopped : texts.reviewDone);
    this.keep();
    const [first] = this.review?.costliest ?? [];
    if (this.isChosen || !first || first.line === this.line || this.detail?.isInUse) return;
    this.line = first.line;
    this.look(false);
  }

  /** @param {string} sentence */
  tellProgress(sentence) {
    if (this.progress && this.progress.textContent !== sentence) this.progress.textContent = sentence;
  }

  /** Say what is in the way; an empty sentence: nothing. @param {string} sentence @param {() => void} [again] what to try again */
  warn(sentence, again) {
    this.banner.hidden = !sentence;
    this.banner.replaceChildren(sentence, " ", again ? button(texts.tryAgain, () => {
      this.parentElement?.focus({ preventScroll: true }); // the button that was pressed is gone
      again();
    }) : "");
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  // --- the page ---

  /** @param {Review} review */
  build(review) {
    this.review = review;
    last = { id: this.id_, data: this.data, review };
    const { players, notice, turns } = review.told, [position] = turns;
    const isGame = players.length > 0;
    document.title = `${isGame ? versus(players) : texts.aPosition} – ${texts.title}`;
    this.progress = h("p", { class: "status" });
    this.stopping = h("button", { type: "button", click: () => (this.request ? this.analysis.cancel(this.request) : this.goOn()) });
    this.totals = h("div");
    this.sheet = h("div");
    this.about = h("p", { class: "note" });
    this.graph = new TurnGraph();
    this.sorting = h("button", { type: "button", "aria-pressed": "true", click: () => this.sort() }, texts.byCost);
    this.detail = new TurnReview(review, this.analysis, () => this.data);
    this.detail.addEventListener("found", (event) => this.foundAgain(/** @type {CustomEvent<number>} */ (event).detail));
    this.detail.addEventListener("step", (event) => this.step(/** @type {CustomEvent<number>} */ (event).detail));
    this.isChosen = this.line !== null;
    this.line ??= position?.line ?? null;
    this.replaceChildren(
      h("div", { class: "reviewing" }, h("h1", {}, texts.reviewOf, ...(isGame ? names(players) : [texts.aPosition])), this.progress, this.stopping),
      this.banner, this.said,
      h("p", { class: "note" }, serverTexts.said(notice)), ...noticesOf(review),
      h("div", { class: isGame ? "review" : "review single" },
        isGame && h("section", { class: "turns" }, this.graph,
          h("div", { class: "heading" }, h("h2", {}, texts.turnsHead), this.sorting),
          this.sheet, this.about, this.keeping()),
        this.detail,
        isGame && h("section", { class: "more" }, this.totals),
        this.exports()));
    this.show(null);
    this.look(false);
  }

  /** Show what has come in. @param {number | null} line the turn that it is about */
  show(line) {
    const { review } = this;
    if (!review || !this.stopping) return;
    const { turns } = review.told;
    this.tellProgress(this.request ? texts.reviewed(review.done, turns.length)
      : review.done < turns.length ? texts.reviewedSome(review.done, turns.length) : texts.reviewedAll(turns.length));
    this.stopping.hidden = review.done === turns.length;
    this.stopping.textContent = this.request ? texts.stop : texts.goOn;
    this.exporting?.toggleAttribute("hidden", !review.found.size);
    this.showTotals();
    this.showTurns();
    this.showGraph();
    if (line === this.line || line === null) this.detail?.refresh();
  }

  showTotals() {
    const { review } = this;
    const rows = SEATS.flatMap((seat) => {
      const name = review?.told.players[seat], total = review?.total(seat);
      return name !== undefined && total?.turns ? [{ cells: [
        h("bdi", {}, name), withInterval(total.win, total.win_error, percent), withInterval(total.points, total.points_error, decimal), texts.bestOf(total.best, total.turns), texts.mistakesOf(total.mistakes),
      ] }] : [];
    });
    const heads = [texts.player, texts.lostWin, texts.lostPoints, texts.bestPlayed, texts.mistakes];
    this.totals?.replaceChildren(...(rows.length ? [h("h2", {}, texts.onAverage), table(texts.onAverage, heads, rows, "totals")] : []));
  }

  showTurns() {
    const { review, sheet } = this;
    if (!review || !sheet) return;
    const scrolled = sheet.firstElementChild?.scrollTop ?? 0;
    const turns = this.byCost ? review.costliest : review.told.turns;
    this.about?.replaceChildren(texts.costAbout);
    const heads = [texts.turn, texts.player, texts.playedHead, texts.lostWin, texts.lostPoints, texts.bestHead];
    keepingFocus(sheet, () => {
      sheet.replaceChildren(table(texts.turnsHead, heads, turns.map((turn) => this.row(review, turn)), "sheet"));
      if (sheet.firstElementChild) sheet.firstElementChild.scrollTop = scrolled;
    });
  }

  /** @param {Review} review @param {Turn} turn */
  row(review, turn) {
    const { line, seat, played, score, computed } = turn;
    const found = review.found.get(line), loss = review.loss(line), verdict = found?.verdict;
    const isBest = verdict !== undefined && verdict.best === played;
    const racks = review.overRacks.get(line);
    const best = racks ? texts.bestIn(racks.best_in, racks.racks.length) : !verdict ? review.leftOut.has(line) ? texts.leftOut : "…" : isBest ? h("span", { role: "img", "aria-label": texts.wasBest }, "✓") : review.text(verdict.best, turn);
    const was = played === null ? "" : `${review.text(played, turn)}${verdict?.phony ? "*" : ""}`;
    const other = was && score !== null && score !== (computed ?? score) ? h("small", {}, texts.scored(score, computed ?? score)) : "";
    return {
      attributes: { "aria-current": line === this.line ? "true" : null, class: review.isMistake(line) ? "blunder" : null },
      cells: [
        h("a", { href: reviewHash(this.id_, line), "aria-label": texts.turnNumber(line) }, line),
        h("bdi", {}, review.told.players[seat]), other ? h("span", {}, was, " ", other) : was,
        isBest || !loss ? "" : withInterval(loss.win, loss.level ? null : loss.win_error, percent, loss.width),
        isBest || !loss ? "" : `${decimal(loss.points)}${verdict?.proven === false && !found?.pre_endgame ? "?" : ""}`,
        best,
      ],
    };
  }

  showGraph() {
    const { review, graph } = this;
    if (!review || !graph) return;
    const points = review.told.turns.flatMap(({ line, seat }, at) => {
      const found = review.found.get(line), win = found?.candidates.find(({ move }) => move === found.verdict.best)?.win ?? null;
      return win === null ? [] : [/** @type {[number, number]} */ ([at + 1, seat ? 1 - win : win])];
    });
    graph.hidden = points.length < 2;
    const { turns, players } = review.told, last = points.at(-1);
    if (!last || graph.hidden) return;
    const first = players[0] ?? "", second = players[1] ?? "";
    graph.show({
      title: texts.winReview, label: texts.winReviewed(first, percent(last[1]), turns[last[0] - 1]?.line ?? 0),
      series: [{ name: first, points }], turns: turns.length, turn: turns.findIndex(({ line }) => line === this.line) + 1,
      low: 0, high: 1, middle: .5, shown: (value) => `${100 * value} %`, notes: [short(first), short(second)], end: String(turns.at(-1)?.line ?? ""),
      go: (at) => this.go(turns[at - 1]?.line ?? null), marks: points.filter(([at]) => review.isMistake(turns[at - 1]?.line ?? 0)),
    });
  }

  sort() {
    this.byCost = !this.byCost;
    this.sorting?.setAttribute("aria-pressed", String(this.byCost));
    this.showTurns();
  }

  // --- a turn ---

  /** @param {number | null} line */
  go(line) {
    if (line !== null) location.hash = reviewHash(this.id_, line);
  }

  /** Go to the next turn of the list, or the one before. @param {number} by */
  step(by) {
    const { review } = this;
    if (!review) return;
    const turns = this.byCost ? review.costliest : review.told.turns;
    this.go(turns[turns.findIndex(({ line }) => line === this.line) + by]?.line ?? null);
  }

  /** Show the turn that is looked at. @param {boolean} [scrolls] */
  look(scrolls = true) {
    const { review, detail } = this;
    if (!review || !detail) return;
    const turn = this.line === null ? null : review.turn(this.line);
    detail.show(turn, this.line);
    this.showTurns();
    this.showGraph();
    if (!turn || !scrolls) return;
    const shown = detail.firstElementChild, top = shown?.getBoundingClientRect().top ?? 0; // on a wide screen only its parts have a place
    if (top < 0 || top > innerHeight / 2) shown?.scrollIntoView();
    const found = review.found.get(turn.line);
    this.say([texts.turnNumber(turn.line), found && verdictText(found, review.naming(turn))].filter(Boolean).join(": "));
  }

  // --- what is kept ---

  /** A turn was looked at longer: its mistake may be another by now, or none. @param {number} line */
  foundAgain(line) {
    const found = this.review?.found.get(line);
    if (found && this.whose?.value) {
      forgetAll([found.cgp]);
      this.keep(found.cgp);
    }
    this.show(this.line);
  }

  keeping() {
    const { review } = this, { players = [] } = review?.told ?? {};
    const name = inBrowser.get("me") ?? inBrowser.get("name");
    const choice = h("select", { id: "mistakes-of", change: () => {
      inBrowser.set("me", choice.value ? players[Number(choice.value)] : ""); // nobody, though a player may have one's name
      forgetAll([...review?.found.values() ?? []].map(({ cgp }) => cgp)); // they may be another's
      this.keep();
    } }, h("option", { value: "" }, texts.nobody), ...players.map((player, seat) => h("option", { value: seat, selected: player === name }, player)));
    this.whose = choice;
    this.kept = h("span", { role: "status" });
    return h("p", {}, ...labelled(texts.keepMistakes, choice), " ", this.kept);
  }

  /** Keep the mistakes that were found. @param {string} [position] those in it alone: others may have been forgotten since */
  keep(position) {
    const { review, whose } = this;
    if (!review || !whose || !this.kept) return;
    const more = whose.value ? review.mistakes(Number(whose.value), new Date().toISOString()) : [];
    if (more.length) inBrowser.set("equipments", { ...inBrowser.get("equipments"), [review.kind]: review.equipment });
    const isKept = !more.length || keepMistakes(more.filter((each) => position === undefined || each.position === position));
    this.kept.replaceChildren(!whose.value ? "" : isKept ? texts.keptMistakes(more.length) : texts.keepsNothing, " ",
      whose.value && more.length ? h("a", { href: "#/drill" }, texts.goThrough) : "");
  }

  exports() {
    const { review } = this;
    if (!review) return null;
    const name = this.id_ === DROPPED ? "review" : `${this.id_}-review`;
    this.exporting = h("p", { class: "links" },
      button(texts.asHtml, () => saveAsHtml(review, `${name}.html`)),
      review.told.gcg !== null && button(texts.asGcg, () => save(`${name}.gcg`, review.annotated, "text/plain;charset=utf-8")),
      review.game && h("a", { href: gameHash(review.game) }, texts.toGame));
    return this.exporting;
  }
}

customElements.define("review-view", ReviewView);
