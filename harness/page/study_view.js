// The study: a board to set up, to play on for both sides, and to come back to. It keeps itself in the browser.

import { Analysis, dataOf, gcgOf, inBase64, sentenceOf, textIn } from "./analysis.js";
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
import { StudyControls, kinds, studies } from "./study_controls.js";
import { History, faultsOf, fromCgp, isSettled, newStudy, nodeAt, play, rackFault, reached, startingAt, toEnd, unseen, withRack, wordsAt } from "./study.js";
import { isGcg, linkOf, readLink, readStudy, readText, writeStudy } from "./study_text.js";
import { studyTexts as texts } from "./study_texts.js";
import { texts as common } from "./texts.js";
import { StudyLine } from "./variations.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Path, Position, Seat, Study } from "./study.js" */
/** @typedef {{ id: string, study: Study, path: Path }} State `id`: by which the browser keeps it. */
/** @typedef {Pick<Study, "lexicon" | "rules">} Kind */

const WORDS = { play: texts.play, playFor: texts.playFor, exchangeNow: common.exchangeNow, entryKeys: texts.entryKeys };
const MOST_MOVES = 500, MOST_WORDS = 16, DOUBLE_MS = 500, SOON_MS = 300, OURS = /^#note ~study /m;

export class StudyView extends HTMLElement {
  heading = texts.study;
  analysis = new Analysis();
  /** @type {History<State>} */
  history = new History({ id: newId(), study: newStudy(), path: [] });
  /** @type {Map<string, Equipment & { table: string | null }>} By the names of words and rules. */
  equipments = new Map();
  isSetUp = false;
  isKept = true;
  banner = h("p", { class: "banner", role: "alert", hidden: true });
  notices = h("div");
  said = h("p", { class: "hidden", "aria-live": "polite" });
  place = h("div");
  entry = new MoveEntry(WORDS);
  setup = new BoardSetup();
  faults = h("ul", { class: "faults", role: "status" });
  phonies = h("p", { class: "note phony", role: "status" });
  /** @type {Map<string, boolean | null>} Whether words are words, by table; null: it is not told. */
  judged = new Map();
  judging = 0;
  /** The position on which tiles were laid last. */
  laidOn = "";
  unseen = h("div");
  moves = new MovesList(this.analysis);
  line = new StudyLine();
  lookup = new WordLookup(this.analysis);
  controls = new StudyControls(this);

  constructor() {
    super();
    const on = (/** @type {HTMLElement} */ element, /** @type {string} */ event, /** @type {(detail: any) => void} */ does) =>
      element.addEventListener(event, (told) => does(/** @type {CustomEvent} */ (told).detail));
    on(this.entry, "play", (made) => {
      const fault = this.equipment ? rackFault(this.position, this.equipment) : "";
      if (fault) this.said.textContent = fault; // it is seen below the board
      else this.play(made);
    });
    on(this.moves, "play", (made) => this.play(made));
    on(this.moves, "look", ({ move }) => {
      if (this.isSetUp) this.toggleSetup(false);
      this.entry.put(move);
      setTimeout(() => this.entry.scrollIntoView({ block: "nearest" }), DOUBLE_MS); // a second click is to meet the same move
    });
    on(this.moves, "wrong", (fault) => this.showFaults(fault));
    on(this.setup, "edit", (board) => this.edit(({ study }) => ({ study: { ...study, start: { ...study.start, board } } })));
    on(this.setup, "hold", ({ seat, tile }) => this.rack(seat, this.position.racks[/** @type {Seat} */ (seat)] + tile));
    on(this.line, "go", (path) => this.go(path));
    this.entry.addEventListener("click", ({ target }) => this.lookAt(this.entry.squares.at(target)), true); // its cell is drawn anew by the click
    this.lookup.about = () => ({ table: this.equipment?.table ?? null });
    this.controls.redoing.after(this.line.stepping);
  }

  connectedCallback() {
    document.addEventListener("keydown", this.onKey);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.onKey);
    clearTimeout(this.judging);
    this.analysis.close();
  }

  /** What is looked at. */
  get state() {
    return this.history.value;
  }

  /** Board and tiles of the study; null: they are not known yet. */
  get equipment() {
    return this.equipments.get(keyOf(this.state.study)) ?? null;
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
    const last = id || studies()[0]?.id || newId(), known = inBrowser.get(`study ${last}`);
    if (known) return this.takeOurs(known.text, known.path, last);
    const study = newStudy({ lexicon: own?.lexicon ?? "" });
    await this.equip(study);
    this.begin({ id: newId(), study, path: [] });
    this.toggleSetup(true);
    this.controls.toggleOpening(true);
  }

  /** Open what this page wrote itself. @param {string} text @param {Path} path @param {string} [id] */
  async takeOurs(text, path, id = newId()) {
    const known = studies().find((each) => inBrowser.get(`study ${each.id}`)?.text === text);
    const kind = kindOf(text), notice = await this.equip(kind), { columns } = this.equipments.get(keyOf(kind))?.layout ?? this;
    this.begin({ id: known?.id ?? id, ...readText(text, path, columns) }, { notice });
  }

  /** Open a game or a position as people write it. @param {string} data in base64 @param {number} [depth] moves from the start; else to the end */
  async take(data, depth = Infinity) {
    const text = textIn(data), kind = kindOf(text);
    if (OURS.test(text)) return this.takeOurs(text, Array(Math.max(0, Math.min(depth, MOST_MOVES))).fill(0));
    const told = await this.analysis.one({ type: "read", data });
    if (told.type !== "game" && told.code === "bad_game" && !isGcg(text) && text.trim().split(/\s+/)[0]?.includes("/")) { // can't be, and is to be mended
      await this.equip(kind);
      this.begin({ id: newId(), study: fromCgp(text), path: [] });
      return this.toggleSetup(true);
    }
    if (told.type !== "game") throw new Trouble(told.code === "bad_game" ? texts.cantOpen(serverTexts.why(told.code, told.message)) : sentenceOf(told), 0);
    const study = told.gcg ? readStudy(told.gcg, told.board.columns) : { ...fromCgp(told.turns[0].cgp), ...kind };
    this.equipped(study, told);
    this.begin({ id: newId(), study, path: toEnd(study, []).slice(0, Math.max(0, depth)) }, told);
  }

  /** Have the board and the tiles of some words and rules; return what is to be said of these. @param {Kind} kind @returns {Promise<string>} @throws {Trouble} says why not */
  async equip(kind) {
    const { lexicon, rules } = kind, key = keyOf(kind);
    if (this.equipments.has(key)) return "";
    const offered = rules ? (await kinds()).find((each) => keyOf(each) === key) : null;
    const told = await this.analysis.one({ type: "read", table: offered?.name ?? null, data: dataOf(`#player1 a a\n#player2 b b\n${lexicon && `#lexicon ${lexicon}\n`}`) });
    const kept = (inBrowser.get("study equipments") ?? {})[key];
    if (told.type === "game") this.equipped(kind, told);
    else if (kept) this.equipments.set(key, kept);
    else throw new Trouble(sentenceOf(told), 0);
    return told.type !== "game" ? sentenceOf(told) : rules && !offered ? texts.otherRules(rules) : serverTexts.said(told.notice);
  }

  /** @param {Kind} kind @param {any} told */
  equipped(kind, { board, tiles, rack_size, bingo_bonus, table = null }) {
    const equipment = { layout: board, tiles, rackSize: rack_size, bingo: bingo_bonus, table };
    this.equipments.set(keyOf(kind), equipment);
    inBrowser.set("study equipments", { ...inBrowser.get("study equipments"), [keyOf(kind)]: equipment });
  }

  /** Go on with another study. @param {State} state @param {{ notice?: string, notices?: any[] }} [told] what was not taken as it is written */
  begin(state, { notice = "", notices = [] } = {}) {
    const wasKept = studies().some(({ id }) => id === this.state.id && id !== state.id);
    this.history = new History(state);
    this.isSetUp = false;
    this.warn(serverTexts.said(notice));
    this.notices.replaceChildren(...noticesOf(/** @type {any} */ ({ told: { notices } })));
    this.show();
    this.controls.shared.textContent = wasKept ? texts.begun : "";
    this.keep();
  }

  /** Take what was pasted or dropped; what can't be read stays where it is. @param {Uint8Array} bytes */
  async give(bytes) {
    try {
      await this.take(inBase64(bytes));
      this.controls.toggleOpening(false);
    } catch (error) {
      this.warn(/** @type {Error} */ (error).message);
    }
  }

  // --- what is done ---

  /** Change something. @param {(state: State) => Partial<State>} change @param {string} [key] of what is typed into one field */
  edit(change, key = "") {
    this.history.push({ ...this.state, ...change(this.state) }, key);
    this.changed();
  }

  /** @param {boolean} isBack */
  undo(isBack) {
    if (!this.history.step(isBack)) return;
    this.changed(isBack ? texts.undone : texts.redone);
  }

  /** @param {Path} path */
  go(path) {
    const node = nodeAt(this.state.study, path);
    this.history.value = { ...this.state, path };
    this.isSetUp = false;
    this.changed(`${path.length}. ${node && "move" in node ? node.move : texts.startOf}`);
  }

  /** @param {string} [sentence] what is said of it */
  changed(sentence) {
    this.refresh();
    this.keep();
    if (sentence) this.said.textContent = sentence;
  }

  /** @param {{ move: string, score: number }} made */
  play({ move, score }) {
    const { equipment } = this;
    if (!equipment) return;
    this.isSetUp = false;
    this.edit(({ study, path }) => play(study, path, move, score, equipment));
    this.said.textContent = texts.played(move, score);
  }

  /** @param {Seat} seat @param {string} rack */
  rack(seat, rack) {
    this.edit(({ study, path }) => ({ study: withRack(study, path, seat, rack) }), `rack ${seat} ${this.state.path}`);
  }

  /** Set the board up, with the tiles that are laid on it, or play on it. @param {boolean} [isOn] */
  toggleSetup(isOn = !this.isSetUp) {
    const { draft } = this.entry, { position, state: { study: { next } } } = this, laid = isOn && !this.isSetUp && draft?.placed.size ? draft.all : null;
    this.isSetUp = isOn;
    draft?.recall();
    if (isOn && (next.length || laid)) this.edit(({ study, id }) => ({ id: next.length ? newId() : id, study: startingAt(study, { ...position, board: laid ?? position.board }), path: [] }));
    else this.refresh();
    if (isOn && next.length) this.controls.shared.textContent = texts.begun;
    if (isOn) this.setup.focusCursor();
  }

  /** Begin with an empty board. @param {boolean} isGame whether a game is entered @param {Kind} [kind] */
  beginNew(isGame, { lexicon, rules } = this.state.study) {
    this.isSetUp = !isGame;
    this.warn("");
    const wasKept = studies().some(({ id }) => id === this.state.id);
    this.edit(() => ({ id: newId(), study: newStudy({ isGame, lexicon, rules }), path: [] }));
    this.controls.shared.textContent = wasKept ? texts.begun : "";
    if (isGame) this.controls.typed.focus();
    else this.setup.focusCursor();
  }

  /** Go by other words and rules; on another board the tiles can't stay. @param {Kind} kind */
  async choose({ lexicon, rules }) {
    const { columns } = this, kind = { lexicon, rules };
    try {
      this.warn(await this.equip(kind));
      if (this.equipments.get(keyOf(kind))?.layout.columns !== columns) this.beginNew(this.state.study.isGame, kind);
      else this.edit(({ study }) => ({ study: { ...study, ...kind } }));
    } catch (error) {
      this.warn(/** @type {Error} */ (error).message, () => this.choose(kind));
    }
  }

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event, place = target instanceof Element ? target : document.body;
    const isText = place.closest("input:not([type=checkbox], [type=radio]), textarea, select") !== null, isCommand = ctrlKey || metaKey;
    const step = ["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(key), aside = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (altKey || isText || !this.equipment || place.closest("dialog")) return;
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

  keep() {
    const { id, study, path } = this.state, { equipment } = this;
    if (!equipment || !study.next.length && !study.start.board.size && !study.start.racks.some(Boolean) && !study.note) return; // nothing yet
    const others = studies().filter((each) => each.id !== id), name = study.title || `${study.players.join(" – ")}, ${texts.counted(toEnd(study, []).length)}`;
    const isKept = inBrowser.set(`study ${id}`, { text: writeStudy(study, equipment), path }) && inBrowser.set("studies", [{ id, name, when: new Date().toISOString() }, ...others]);
    if (!isKept && this.isKept) this.warn(texts.keepsNothing);
    this.isKept = isKept;
  }

  saveFile() {
    const { equipment, state: { study } } = this, name = (study.title || study.players.join("-")).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "study";
    if (!equipment) return;
    save(`${name}.gcg`, writeStudy(study, equipment), "text/plain;charset=utf-8");
    this.controls.shared.replaceChildren(texts.savedAs(`${name}.gcg`));
  }

  /** Return the address of the position. */
  link() {
    const { equipment, state: { study, path } } = this;
    return equipment ? `${location.href.replace(/#.*/, "")}#/study/${linkOf(study, path, equipment)}` : "";
  }

  review() {
    if (!this.equipment) return;
    inWindow.set("review", dataOf(writeStudy(this.state.study, this.equipment)));
    location.hash = reviewHash("mine");
  }

  // --- the page ---

  /** Say what is in the way. @param {string} sentence @param {() => void} [again] */
  warn(sentence, again) {
    this.banner.hidden = !sentence;
    this.banner.replaceChildren(sentence, " ", again ? button(common.tryAgain, again) : "");
  }

  show() {
    const { controls } = this;
    this.replaceChildren(
      h("h1", { class: "hidden" }, texts.study), this.banner, this.notices, this.said, controls.bar, controls.shared,
      h("div", { class: "game" }, controls.opening,
        h("div", { class: "play" }, this.place),
        h("div", { class: "told" }, controls.sides, controls.acts, this.moves, h("section", { class: "tree" }, h("h2", {}, texts.line), this.line, controls.note)),
        h("div", { class: "more" }, this.lookup, h("section", {}, h("h2", {}, common.unseenTiles), this.unseen))));
    this.refresh();
  }

  refresh() {
    const { equipment, entry, setup, state: { study, path }, position } = this, hadFocus = this.contains(document.activeElement);
    this.controls.refresh();
    if (!equipment) return;
    const { before } = reached(study, path, this.columns), { onTurn, racks } = position, rackSize = equipment.rackSize ?? 7;
    const own = tilesOf(racks[onTurn]).length, left = unseen(position, equipment, [onTurn]), hidden = left.reduce((sum, [, count]) => sum + count, 0);
    const lacks = isSettled(study, path) ? texts.isOver : own ? "" : texts.lacksRack(study.players[onTurn]);
    const isOpen = own < rackSize && hidden > rackSize; // what is played is known, and not what it was played from
    const shown = this.isSetUp ? setup : entry;
    if (!shown.isConnected) this.place.replaceChildren(shown, this.isSetUp ? this.controls.words : "");
    shown.squares.board.after(this.faults, this.phonies); // seen where one edits
    if (this.isSetUp) setup.show(equipment, position);
    else {
      const rack = isOpen ? unseen(position, equipment, []).flatMap(([tile, count]) => Array(count).fill(tile)).join("") : racks[onTurn];
      const laidOn = [this.state.id, path, ...position.board].join(" ");
      if (this.laidOn !== laidOn) entry.draft?.recall();
      this.laidOn = laidOn;
      entry.toggleAttribute("data-open", isOpen);
      entry.show(equipment, { board: position.board, rack, fresh: freshOn(position.board, before?.board), turn: path.length });
    }
    this.showFaults(null);
    this.judge();
    this.unseen.replaceChildren(...unseenTiles(left, Math.max(0, hidden - rackSize), true));
    this.line.show(study, path, this.columns);
    this.moves.show(equipment, { ...this.controls.asked(position, equipment), table: equipment.table, position, lacks });
    const at = document.activeElement, isLost = !this.contains(at) || at instanceof HTMLElement && at.closest("[hidden]") !== null;
    if (hadFocus && isLost) this.isSetUp ? setup.focusCursor() : entry.focusBoard(); // what was pressed is gone
  }

  /** Say which words of the board are none, if the server tells. */
  judge() {
    const { equipment, position: { board } } = this;
    clearTimeout(this.judging);
    if (!equipment) return;
    const all = [...new Set([...board.keys()].flatMap((at) => wordsAt(board, at, equipment, (tile) => capitalOf(tile, equipment.tiles))))];
    const key = (/** @type {string} */ word) => `${equipment.table} ${word}`, phonies = all.filter((word) => this.judged.get(key(word)) === false);
    this.phonies.textContent = phonies.length ? common.noWords(phonies) : "";
    const asked = all.filter((word) => !this.judged.has(key(word))).slice(0, MOST_WORDS);
    if (asked.length) this.judging = setTimeout(async () => {
      const told = await ask(`api/words?${new URLSearchParams({ words: asked.join(), ...(equipment.table ? { table: equipment.table } : {}) })}`).catch(() => null);
      for (const word of asked) this.judged.set(key(word), told?.words[word] ?? null);
      this.judge();
    }, SOON_MS);
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

/** @param {Kind} kind */
const keyOf = ({ lexicon, rules }) => `${lexicon.toLowerCase()} ${rules}`;

/** What a text says of its words and rules. @param {string} text @returns {Kind} */
const kindOf = (text) => ({ lexicon: /(?:^#lexicon|\blex)[ \t]+([^;\s]+)/m.exec(text)?.[1] ?? "", rules: /^#note ~study \S+ \S+ \S+ (.+)$/m.exec(text)?.[1]?.trim() ?? "" });

customElements.define("study-view", StudyView);
