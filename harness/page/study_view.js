// The study: a board to set up, to play on for both sides, and to come back to. It keeps itself in the browser.

import { Analysis, gcgOf, inBase64, inUtf8, sentenceOf, textIn } from "./analysis.js";
import { unseenTiles } from "./board.js";
import { button, h, toGames } from "./dom.js";
import { MoveEntry } from "./entry.js";
import { noticesOf } from "./findings.js";
import { inBrowser, inWindow } from "./kept.js";
import { WordLookup } from "./lookup.js";
import { MovesList } from "./moves_list.js";
import { capitalOf, freshOn, tilesOf } from "./notation.js";
import { save } from "./review_export.js";
import { Trouble, about, ask, reviewHash } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { BoardSetup } from "./setup.js";
import { StudyControls, studies } from "./study_controls.js";
import { History, faultsOf, fromCgp, newStudy, nodeAt, play, promoted, reached, startingAt, toEnd, unseen, withRack, without, wordsAt } from "./study.js";
import { isGcg, linkOf, readLink, readStudy, readText, writeStudy } from "./study_text.js";
import { studyTexts as texts } from "./study_texts.js";
import { texts as common } from "./texts.js";
import { StudyLine } from "./variations.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Path, Position, Seat, Study } from "./study.js" */
/** @typedef {{ id: string, study: Study, path: Path }} State `id`: by which the browser keeps it. */

const WORDS = { play: texts.play, playFor: texts.playFor, exchangeNow: common.exchangeNow, entryKeys: texts.entryKeys };
const MOST_BYTES = 100000, MOST_MOVES = 500, OURS = /^#note ~study /m;

export class StudyView extends HTMLElement {
  constructor() {
    super();
    this.heading = texts.study;
    this.analysis = new Analysis();
    /** @type {History<State>} */
    this.history = new History({ id: newId(), study: newStudy(), path: [] });
    /** @type {Equipment | null} */
    this.equipment = null;
    /** @type {Map<string, Equipment>} By the name of their words. */
    this.equipments = new Map();
    /** @type {Map<string, string>} Their tables, by the name of the words. */
    this.tables = new Map();
    this.isSetUp = false;
    this.banner = h("p", { class: "banner", role: "alert", hidden: true });
    this.notices = h("div");
    this.said = h("p", { class: "hidden", "aria-live": "polite" });
    this.title_ = h("h1", {}, texts.study);
    this.place = h("div");
    this.entry = new MoveEntry(WORDS);
    this.entry.addEventListener("play", (event) => this.play(/** @type {CustomEvent} */ (event).detail));
    this.entry.addEventListener("click", ({ target }) => this.lookAt(this.entry.squares.at(target)), true); // its cell is drawn anew by the click
    this.setup = new BoardSetup();
    this.setup.addEventListener("edit", (event) => this.edit(({ study }) => ({ study: { ...study, start: { ...study.start, board: /** @type {CustomEvent} */ (event).detail } } })));
    this.setup.addEventListener("hold", (event) => this.hold(/** @type {CustomEvent} */ (event).detail));
    this.faults = h("ul", { class: "faults", role: "status" });
    this.unseen = h("div");
    this.moves = new MovesList(this.analysis);
    this.moves.addEventListener("play", (event) => this.play(/** @type {CustomEvent} */ (event).detail));
    this.moves.addEventListener("wrong", (event) => this.showFaults(/** @type {CustomEvent} */ (event).detail));
    this.line = new StudyLine();
    this.line.addEventListener("go", (event) => this.go(/** @type {CustomEvent} */ (event).detail));
    this.lookup = new WordLookup(this.analysis);
    this.lookup.about = () => ({ table: this.tables.get(this.state.study.lexicon) ?? null });
    this.controls = new StudyControls(this);
    this.controls.redoing.after(this.line.stepping);
  }

  connectedCallback() {
    document.addEventListener("keydown", this.onKey);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.onKey);
    this.analysis.close();
  }

  /** What is looked at. */
  get state() {
    return this.history.value;
  }

  get columns() {
    return this.equipment?.layout.columns ?? 15;
  }

  /** @returns {Position} */
  get position() {
    return reached(this.state.study, this.state.path, this.columns).position;
  }

  // --- what is opened ---

  /** @param {string[]} parts of the address, after `study` */
  async open([kind = "", id = "", at = ""]) {
    this.replaceChildren(h("h1", {}, texts.study), h("p", {}, common.loading));
    const depth = Number(at) || 0;
    try {
      const { study } = /** @type {any} */ (await about().catch(() => ({ study: true })));
      if (!study) return this.replaceChildren(h("h1", {}, texts.noStudies), toGames());
      if (kind === "game") await this.take(await gcgOf(id), depth);
      else if (kind === "review") await this.take(id === "mine" ? inWindow.get("review") ?? "" : await gcgOf(id), depth - 1);
      else if (kind && kind !== "kept") await this.takeOurs(...readLink(kind));
      else await this.openKept(id);
      if (kind && this.isKept && this.isConnected) history.replaceState(null, "", "#/study"); // what is done now is kept, and not at that address
    } catch (error) {
      this.show();
      this.warn(error instanceof Error ? error.message : String(error), () => this.open([kind, id, at]));
      if (!(error instanceof Error)) throw error;
    }
  }

  /** @param {string} id */
  async openKept(id) {
    const own = /** @type {any} */ (await about().catch(() => ({}))).study_file ? await ask("api/study").catch(() => null) : null;
    if (own?.data && inWindow.get("study file") !== own.data) {
      inWindow.set("study file", own.data);
      return this.take(own.data, (own.turn ?? 1) - 1);
    }
    const known = inBrowser.get(`study ${id || studies()[0]?.id}`);
    if (known) return this.takeOurs(known.text, known.path, id || studies()[0]?.id);
    const lexicon = own?.lexicon ?? "";
    await this.equip(lexicon);
    this.begin({ id: newId(), study: newStudy({ lexicon }), path: [] });
    this.controls.toggleOpening(true);
  }

  /** Open what this page wrote itself. @param {string} text @param {Path} path @param {string} [id] */
  async takeOurs(text, path, id = newId()) {
    const known = studies().find((each) => inBrowser.get(`study ${each.id}`)?.text === text), notice = await this.equip(lexiconOf(text));
    this.begin({ id: known?.id ?? id, ...readText(text, path, this.columns) }, { notice });
  }

  /** Open a game or a position as people write it. @param {string} data in base64 @param {number} [depth] moves from the start; else to the end */
  async take(data, depth = Infinity) {
    const text = textIn(data);
    if (OURS.test(text)) return this.takeOurs(text, Array(Math.max(0, Math.min(depth, MOST_MOVES))).fill(0));
    const told = await this.analysis.one({ type: "read", data });
    if (told.type !== "game" && told.code === "bad_game" && !isGcg(text) && text.trim().split(/\s+/)[0]?.includes("/")) { // can't be, and is to be mended
      await this.equip(lexiconOf(text));
      this.begin({ id: newId(), study: fromCgp(text), path: [] });
      return this.toggleSetup(true);
    }
    if (told.type !== "game") throw new Trouble(told.code === "bad_game" ? texts.cantOpen(serverTexts.why(told.code, told.message)) : sentenceOf(told), 0);
    this.equipped(lexiconOf(text), told);
    const study = told.gcg ? readStudy(told.gcg, this.columns) : fromCgp(told.turns[0].cgp), path = toEnd(study, []).slice(0, Math.max(0, depth));
    this.begin({ id: newId(), study: { ...study, lexicon: study.lexicon || lexiconOf(text) }, path }, told);
  }

  /** Have the board and the tiles of some words; return what is to be said of these. @param {string} lexicon @returns {Promise<string>} @throws {Trouble} says why not */
  async equip(lexicon) {
    const known = this.equipments.get(lexicon);
    if (known) {
      this.equipment = known;
      return "";
    }
    const told = await this.analysis.one({ type: "read", data: inBase64(inUtf8(`#player1 a a\n#player2 b b\n${lexicon && `#lexicon ${lexicon}\n`}`)) });
    const kept = (inBrowser.get("study equipments") ?? {})[lexicon];
    if (told.type === "game") this.equipped(lexicon, told);
    else if (kept) this.equipment = kept;
    else throw new Trouble(sentenceOf(told), 0);
    return told.type === "game" ? serverTexts.said(told.notice) : sentenceOf(told);
  }

  /** @param {string} lexicon @param {any} told */
  equipped(lexicon, { board, tiles, rack_size, bingo_bonus, table }) {
    this.equipment = { layout: board, tiles, rackSize: rack_size, bingo: bingo_bonus };
    this.equipments.set(lexicon, this.equipment);
    if (table) this.tables.set(lexicon, table);
    inBrowser.set("study equipments", { ...inBrowser.get("study equipments"), [lexicon]: this.equipment });
  }

  /** Go on with another study. @param {State} state @param {{ notice?: string, notices?: any[] }} [told] what was not taken as it is written */
  begin(state, { notice = "", notices = [] } = {}) {
    this.history = new History(state);
    this.isSetUp = false;
    this.warn(serverTexts.said(notice));
    this.notices.replaceChildren(...noticesOf(/** @type {any} */ ({ told: { notices } })));
    this.show();
    this.keep();
  }

  // --- what is done ---

  /** Change something. @param {(state: State) => Partial<State>} change @param {string} [key] of what is typed into one field */
  edit(change, key = "") {
    this.history.push({ ...this.state, ...change(this.state) }, key);
    this.refresh();
    this.keep();
  }

  /** @param {boolean} isBack */
  undo(isBack) {
    if (!this.history.step(isBack)) return;
    this.say(isBack ? texts.undone : texts.redone);
    this.refresh();
    this.keep();
  }

  /** @param {Path} path */
  go(path) {
    this.history.value = { ...this.state, path };
    this.isSetUp = false;
    this.refresh();
    this.keep();
    const node = nodeAt(this.state.study, path);
    this.say(`${path.length}. ${node && "move" in node ? node.move : texts.startOf}`);
  }

  /** @param {{ move: string, score: number }} made */
  play({ move, score }) {
    const { equipment } = this;
    if (!equipment) return;
    this.edit(({ study, path }) => play(study, path, move, score, equipment));
    this.say(texts.played(move, score));
  }

  /** @param {{ seat: Seat, tile: string }} held */
  hold({ seat, tile }) {
    this.rack(seat, this.position.racks[seat] + tile);
  }

  /** @param {Seat} seat @param {string} rack */
  rack(seat, rack) {
    this.edit(({ study, path }) => ({ study: withRack(study, path, seat, rack) }), `rack ${seat} ${this.state.path}`);
  }

  /** Set the board up, or play on it. @param {boolean} [isOn] */
  toggleSetup(isOn = !this.isSetUp) {
    this.isSetUp = isOn;
    if (isOn && (this.state.path.length || this.state.study.next.length)) this.edit(({ study }) => ({ id: newId(), study: startingAt(study, this.position), path: [] }));
    this.refresh();
    if (isOn) this.setup.squares.focus(this.setup.cursor.at);
  }

  /** Begin with an empty board. @param {boolean} isGame whether a game is entered */
  beginNew(isGame) {
    const { lexicon } = this.state.study;
    this.history.push({ id: newId(), study: newStudy({ isGame, lexicon }), path: [] });
    this.isSetUp = !isGame;
    this.warn("");
    this.refresh();
    if (isGame) this.controls.typed.focus();
    else this.setup.squares.focus(this.setup.cursor.at);
  }

  /** @param {string} lexicon */
  async choose(lexicon) {
    try {
      this.warn(await this.equip(lexicon));
      this.edit(({ study }) => ({ study: { ...study, lexicon } }));
    } catch (error) {
      this.warn(/** @type {Error} */ (error).message, () => this.choose(lexicon));
    }
  }

  remove() {
    if (this.state.path.length) this.edit(({ study, path }) => without(study, path));
  }

  promote() {
    this.edit(({ study, path }) => promoted(study, path));
  }

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event, place = target instanceof Element ? target : document.body;
    if (altKey || !this.equipment || place.closest("dialog")) return;
    const isText = place.closest("input:not([type=checkbox], [type=radio]), textarea, select") !== null, isCommand = ctrlKey || metaKey;
    const step = ["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(key), aside = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (isText) return;
    if (isCommand && /^[zy]$/i.test(key)) this.undo(key.toLowerCase() === "z" && !shiftKey);
    else if (step >= 0 && (isCommand || !place.closest("move-entry, board-setup, .scroll"))) this.line.step(step);
    else if (aside && (isCommand || place.closest("study-line"))) this.line.step(0, aside);
    else return;
    event.preventDefault();
  };

  /** Look up the words through a square of the board. @param {number | null} at */
  lookAt(at) {
    const { equipment } = this;
    if (at === null || !equipment) return;
    const words = wordsAt(this.position.board, at, equipment, (tile) => capitalOf(tile, equipment.tiles));
    if (words.length) this.lookup.look(words);
  }

  // --- what is kept, saved, sent on ---

  isKept = true;
  keep() {
    const { id, study, path } = this.state, { equipment } = this;
    if (!equipment || !study.next.length && !study.start.board.size && !study.start.racks.some(Boolean) && !study.note) return; // nothing yet
    const others = studies().filter((each) => each.id !== id), name = study.title || study.players.join(" – ");
    const isKept = inBrowser.set(`study ${id}`, { text: writeStudy(study, equipment), path }) && inBrowser.set("studies", [{ id, name, when: new Date().toISOString() }, ...others]);
    if (!isKept && this.isKept) this.warn(texts.keepsNothing);
    this.isKept = isKept;
  }

  /** @param {string} id */
  forget(id) {
    inBrowser.set(`study ${id}`, null);
    inBrowser.set("studies", studies().filter((each) => each.id !== id));
    this.controls.showOpening();
  }

  saveFile() {
    const { study } = this.state, name = (study.title || study.players.join("-")).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "study";
    if (this.equipment) save(`${name}.gcg`, writeStudy(study, this.equipment), "text/plain;charset=utf-8");
  }

  /** Return the address of the position. */
  link() {
    const { study, path } = this.state;
    return this.equipment ? `${location.href.replace(/#.*/, "")}#/study/${linkOf(study, path, this.equipment)}` : "";
  }

  review() {
    if (!this.equipment) return;
    inWindow.set("review", inBase64(inUtf8(writeStudy(this.state.study, this.equipment))));
    location.hash = reviewHash("mine");
  }

  /** Take what was pasted or dropped; what can't be read stays where it is. @param {Uint8Array} bytes */
  async give(bytes) {
    try {
      if (bytes.length > MOST_BYTES) throw new Trouble(common.tooLarge, 0);
      await this.take(inBase64(bytes));
      this.controls.toggleOpening(false);
    } catch (error) {
      this.warn(/** @type {Error} */ (error).message);
    }
  }

  // --- the page ---

  /** Say what is in the way. @param {string} sentence @param {() => void} [again] */
  warn(sentence, again) {
    this.banner.hidden = !sentence;
    this.banner.replaceChildren(sentence, " ", again ? button(common.tryAgain, again) : "");
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  show() {
    const { controls } = this;
    this.replaceChildren(
      this.title_, this.banner, this.notices, this.said, controls.bar, controls.opening,
      h("div", { class: "game" },
        h("div", { class: "play" }, this.place, this.faults),
        h("div", { class: "told" }, controls.sides, controls.acts, this.moves, h("section", { class: "tree" }, h("h2", {}, texts.line), this.line, controls.note)),
        h("div", { class: "more" }, h("section", {}, h("h2", {}, common.unseenTiles), this.unseen), this.lookup)));
    this.refresh();
  }

  refresh() {
    const { equipment, state: { study, path }, position } = this, hadFocus = this.contains(document.activeElement);
    this.controls.refresh();
    if (!equipment) return;
    const { before } = reached(study, path, this.columns), { onTurn, racks } = position, rackSize = equipment.rackSize ?? 7;
    const own = tilesOf(racks[onTurn]).length, left = unseen(position, equipment, [onTurn]), hidden = left.reduce((sum, [, count]) => sum + count, 0);
    const lacks = own ? "" : texts.lacksRack(study.players[onTurn]);
    const isOpen = own < rackSize && hidden > rackSize; // what is played is known, and not what it was played from
    if (this.isSetUp) {
      this.place.replaceChildren(this.setup);
      this.setup.show(equipment, position);
    } else {
      if (!this.entry.isConnected) this.place.replaceChildren(this.entry);
      const rack = isOpen ? unseen(position, equipment, []).flatMap(([tile, count]) => Array(count).fill(tile)).join("") : racks[onTurn];
      this.entry.toggleAttribute("data-open", isOpen);
      this.entry.show(equipment, { board: position.board, rack, fresh: freshOn(position.board, before?.board), turn: path.length });
    }
    this.showFaults(null);
    this.unseen.replaceChildren(...unseenTiles(left, Math.max(0, hidden - rackSize), true));
    this.line.show(study, path, this.columns);
    this.moves.show(equipment, { ...this.controls.asked(position, equipment), position, lacks });
    const at = document.activeElement, isLost = !this.contains(at) || at instanceof HTMLElement && at.closest("[hidden]") !== null;
    if (hadFocus && isLost) this.isSetUp ? this.setup.squares.focus(this.setup.cursor.at) : this.entry.focusBoard(); // what was pressed is gone
  }

  /** Say what can't be. @param {{ code?: string, message: string, squares?: number[] } | null} told by the server */
  showFaults(told) {
    const { equipment } = this, known = equipment ? faultsOf(this.position, equipment) : [];
    this.faults.replaceChildren(...known.map(({ text }) => h("li", {}, text)), ...(told && !known.length ? [h("li", {}, `${serverTexts.why(told.code ?? "", told.message)}.`)] : []));
    this.faults.hidden = !this.faults.firstChild;
    for (const at of told?.squares ?? []) this.setup.squares.cells[at]?.classList.add("fault");
  }
}

const newId = () => Math.random().toString(36).slice(2, 10);

/** @param {string} text */
const lexiconOf = (text) => /(?:^#lexicon|\blex)[ \t]+([^;\s]+)/m.exec(text)?.[1] ?? "";

customElements.define("study-view", StudyView);
