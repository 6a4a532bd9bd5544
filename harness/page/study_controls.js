// What stands around the board of a study: its buttons, both sides, what is entered of a game, the note, what can be opened.

import { playFromButton } from "./casual.js";
import { button, h, labelled, signButton } from "./dom.js";
import { givenForm, take } from "./given.js";
import { inBrowser } from "./kept.js";
import { bare, tilesOf } from "./notation.js";
import { about, ask } from "./server.js";
import { alone, cgpOf, changed, enter, faultsOf, isEntry, isPlay, nodeAt, promoted, rackOf, readTyped, settlement, unseen, withSeat, without } from "./study.js";
import { writeStudy } from "./study_text.js";
import { studyTexts as texts } from "./study_texts.js";
import { moment, texts as common } from "./texts.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Position, Seat } from "./study.js" */
/** @import { StudyView } from "./study_view.js" */

const SEATS = /** @type {const} */ ([0, 1]);

/** Those that the browser keeps, the last first. @returns {{ id: string, name: string, when: string }[]} */
export const studies = () => inBrowser.get("studies") ?? [];

/** The note by which the server knows such a pass, in any language. */
const LOST_TURN = "turn lost by a challenge";

/** The words and rules that this server has; `name`: of their table, if there are several. @returns {Promise<{ name?: string, lexicon: string, rules: string }[]>} */
export const kinds = async () => {
  const { tournament } = await about().catch(() => ({ tournament: true }));
  const told = tournament ? null : await ask("api/play").catch(() => null);
  return !told ? [] : told.tables.length ? told.tables : [told];
};

export class StudyControls {
  /** @param {StudyView} view */
  constructor(view) {
    this.view = view;
    this.bar = h("div", { class: "tools", role: "toolbar", "aria-label": texts.study },
      this.undoing = signButton("↶", texts.undo, () => view.undo(true)), this.redoing = signButton("↷", texts.redo, () => view.undo(false)),
      this.settingUp = button(texts.setUp, () => view.toggleSetup()), this.openingButton = button(texts.open, () => this.toggleOpening()),
      button(texts.save, () => view.saveFile()), button(texts.share, () => this.share()),
      this.reviewing = button(texts.review, () => view.review()),
      playFromButton(() => ({ cgp: cgpOf(view.position, /** @type {Equipment} */ (view.equipment), view.state.study.lexicon), lexicon: view.state.study.lexicon })));
    this.shared = h("p", { role: "status", class: "shared" });
    this.opening = h("section", { class: "drop", hidden: true, "aria-label": texts.open,
      dragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
      drop: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        take(event.dataTransfer?.files[0], view);
      } });
    this.cards = SEATS.map((seat) => this.card(seat));
    /** @type {Awaited<ReturnType<typeof kinds>>} */
    this.kinds = [];
    this.kind = h("select", { id: "kind", change: () => view.choose(this.kinds.find((each) => texts.kind(each) === this.kind.value) ?? view.state.study) });
    this.words = h("p", { class: "note" });
    this.sides = h("div", {}, h("div", { class: "sides" }, ...this.cards.map(({ element }) => element)),
      h("label", { class: "note" }, this.openRack = h("input", { type: "checkbox", change: () => view.refresh() }), " ", texts.knowsRack));
    this.typed = h("input", { id: "typed", autocomplete: "off", spellcheck: "false", placeholder: texts.typedHint, "aria-describedby": "typed-wrong" });
    this.wrong = h("span", { id: "typed-wrong", class: "note", role: "status" });
    this.entries = h("select", { id: "entries" });
    this.clock = h("input", { id: "clock", autocomplete: "off", size: 6, placeholder: "24:10", input: () => this.change({ clock: this.clock.value.trim() }, "clock") });
    this.clocked = h("form", { class: "ask", submit: (/** @type {Event} */ event) => event.preventDefault() }, this.clockOf = h("label", { for: "clock" }), this.clock);
    this.acts = h("div", { class: "acts" },
      h("form", { class: "ask", submit: (/** @type {Event} */ event) => this.enterTyped(event) }, ...labelled(texts.typeMove, this.typed), h("button", {}, texts.enter), this.wrong),
      this.entering = h("form", { class: "ask", submit: (/** @type {Event} */ event) => this.addEntry(event) }, ...labelled(texts.entry, this.entries), h("button", {}, texts.add)), this.clocked);
    this.text = h("textarea", { id: "note-of", rows: 2, input: () => this.change({ note: this.text.value }, "note") });
    this.promoting = button(texts.promote, () => view.edit(({ study, path }) => promoted(study, path)));
    this.removing = button(texts.remove, () => view.edit(({ study, path }) => without(study, path)));
    this.title = h("input", { id: "title-of", autocomplete: "off", maxlength: 100, input: () => view.edit(({ study }) => ({ study: { ...study, title: this.title.value.trim() } }), "title") });
    this.titled = h("p", { class: "ask" }, ...labelled(texts.titleOf, this.title));
    this.note = h("div", {}, this.titled, ...labelled(texts.note, this.text), h("div", { class: "choices" }, this.promoting, this.removing));
    this.showWords();
  }

  /** @param {Seat} seat */
  card(seat) {
    const { view } = this, label = (/** @type {string} */ text, /** @type {HTMLElement} */ field) => h("label", {}, h("span", {}, text), field);
    const start = (/** @type {object} */ change, /** @type {string} */ key) => view.edit(({ study }) => ({ study: { ...study, start: { ...study.start, ...change } } }), key);
    const name = h("input", { class: "name", autocomplete: "off", "aria-label": texts.nameOf(seat + 1), maxlength: 64,
      input: () => view.edit(({ study }) => ({ study: { ...study, players: withSeat(study.players, seat, name.value) } }), `name ${seat}`) });
    const score = h("input", { inputmode: "numeric", autocomplete: "off", size: 5, input: () => {
      const points = Number(score.value.replace("−", "-"));
      score.setAttribute("aria-invalid", String(!Number.isInteger(points)));
      if (Number.isInteger(points)) start({ scores: withSeat(view.state.study.start.scores, seat, points) }, `score ${seat}`);
    }, change: () => { if (score.getAttribute("aria-invalid") !== "true") score.value = String(view.position.scores[seat]); } });
    const rack = h("input", { class: "held", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", size: 9, "data-rack": seat,
      focus: () => { rack.select(); this.isFresh = true; }, // what is typed replaces the tiles that were kept
      mouseup: (/** @type {Event} */ event) => { if (this.isFresh) event.preventDefault(); this.isFresh = false; }, // else the click puts its caret
      input: () => view.rack(seat, rackOf(rack.value, view.equipment?.tiles ?? [])) });
    const onTurn = h("input", { type: "radio", name: "on-turn", change: () => start({ onTurn: seat }, "") });
    const element = h("div", { class: "side" }, h("div", { class: "heads" }, name, h("label", {}, onTurn, ` ${texts.onTurn}`)),
      h("div", { class: "figures" }, label(common.score, score), label(texts.rack, rack)));
    return { element, seat, name, score, rack, onTurn };
  }

  /** Change what is noted of the last move, or of the start. @param {object} change @param {string} key */
  change(change, key) {
    this.view.edit(({ study, path }) => ({ study: changed(study, path, () => change) }), `${key} ${this.view.state.path}`);
  }

  /** Offer the words and rules of this server, or say which these are. */
  async showWords() {
    const [first] = this.kinds = await kinds(), names = [...new Set(this.kinds.map(texts.kind))];
    this.kind.replaceChildren(...names.map((name) => h("option", {}, name)));
    this.words.replaceChildren(...(names.length > 1 ? [h("label", { for: "kind" }, texts.words), " ", this.kind] : first ? [texts.onlyKind(first)] : []));
    this.refresh();
  }

  // --- what is entered ---

  /** @param {Event} event */
  enterTyped(event) {
    event.preventDefault();
    const { view, typed } = this;
    if (!view.equipment) return;
    const made = readTyped(typed.value, view.position, view.equipment);
    this.wrong.textContent = typeof made === "string" ? made : "";
    typed.setAttribute("aria-invalid", String(typeof made === "string"));
    if (typeof made === "string") return;
    typed.value = "";
    view.play(made);
  }

  /** @param {Event} event */
  addEntry(event) {
    event.preventDefault();
    const { view } = this, { equipment, columns, position } = view, [what = "", points, given] = this.entries.value.split(" ");
    if (!equipment || !what) return;
    const entry = (/** @type {string} */ move, /** @type {number} */ score, /** @type {Seat} */ seat) => view.edit(({ study, path }) => enter(study, path, move, score, seat, columns));
    const last = /** @type {Seat} */ (1 - position.onTurn);
    if (what === "end") for (const { move, score, seat } of settlement(position, equipment)) entry(move, score, seat);
    else if (what === "lost") {
      view.play({ move: "-", score: 0 });
      this.change({ note: LOST_TURN }, "");
    } else entry(what, Number(points), /** @type {Seat} */ (given === undefined ? last : Number(given)));
  }

  /** What the server is asked about: the position; after a play of the other side also the line, which tells more. @param {Position} position @param {Equipment} equipment */
  asked(position, equipment) {
    const { study, path } = this.view.state, isOpen = this.openRack.checked, cgp = cgpOf(position, equipment, study.lexicon, !isOpen);
    const last = nodeAt(study, path), tells = !isOpen && last && "move" in last && !isEntry(last.move) && !faultsOf(position, equipment).length;
    return { cgp, ...(tells ? { line: writeStudy(alone(study, path), equipment), at: path.length + 1 } : {}) };
  }

  // --- what is opened and shared ---

  /** @param {boolean} [isOpen] */
  toggleOpening(isOpen = this.opening.hidden !== false) {
    this.opening.hidden = !isOpen;
    this.openingButton.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.showOpening();
  }

  showOpening() {
    const { view } = this, begin = (/** @type {boolean} */ isGame) => {
      this.toggleOpening(false);
      view.beginNew(isGame);
    };
    const forget = (/** @type {string} */ id) => {
      inBrowser.set(`study ${id}`, null);
      inBrowser.set("studies", studies().filter((each) => each.id !== id));
      this.showOpening();
    };
    this.opening.replaceChildren(
      h("div", { class: "choices" }, button(texts.emptyBoard, () => begin(false)), button(texts.annotate, () => begin(true))),
      givenForm(view, texts.openIt, this.opening.querySelector("textarea")?.value ?? "", h("p", {}, texts.openHere)),
      studies().length ? h("h2", {}, texts.yours) : "", h("ul", { class: "kept" }, ...studies().map(({ id, name, when }) => h("li", {}, h("a", { href: `#/study/kept/${id}` }, name), ` ${moment(when)} `,
        h("button", { type: "button", "aria-label": texts.forgetIt(name), click: () => forget(id) }, texts.forget)))));
  }

  async share() {
    const url = this.view.link(), field = h("input", { readonly: true, value: url, "aria-label": texts.link });
    this.shared.replaceChildren(field);
    field.select();
    await navigator.clipboard?.writeText(url).then(() => this.shared.append(` ${texts.copied}`), () => {});
    if (/^(127\.|localhost$|\[::1\])/.test(location.hostname)) this.shared.append(` ${texts.onlyHere}`);
  }

  // --- the page ---

  refresh() {
    const { view } = this, { state: { study, path }, position, equipment } = view, node = nodeAt(study, path), isStart = !path.length;
    const off = (/** @type {Element} */ each, /** @type {boolean} */ isOff) => each.setAttribute("aria-disabled", String(isOff));
    const put = (/** @type {HTMLInputElement | HTMLTextAreaElement} */ field, /** @type {string} */ value) => { if (field.value !== value && field !== document.activeElement) field.value = value; };
    this.shared.replaceChildren(); // it was of another position
    off(this.undoing, !view.history.past.length);
    off(this.redoing, !view.history.future.length);
    this.settingUp.setAttribute("aria-pressed", String(view.isSetUp));
    for (const { element, seat, name, score, rack, onTurn } of this.cards) {
      element.classList.toggle("turn", position.onTurn === seat);
      put(name, study.players[seat]);
      put(score, String(position.scores[seat]));
      put(rack, tilesOf(position.racks[seat]).map((tile) => (bare(tile).length > 1 ? tile : bare(tile))).join(""));
      score.readOnly = !isStart;
      onTurn.disabled = !isStart;
      onTurn.checked = position.onTurn === seat;
      rack.setAttribute("aria-invalid", String(tilesOf(position.racks[seat]).length > (equipment?.rackSize ?? 7)));
    }
    this.kind.value = texts.kind(study.rules ? study : this.kinds.find(({ name }) => name === equipment?.table) ?? study);
    put(this.title, study.title);
    this.titled.hidden = !isStart;
    put(this.text, node?.note ?? "");
    put(this.clock, node && "clock" in node ? node.clock : "");
    this.clockOf.textContent = texts.clockOf(node && "seat" in node ? study.players[node.seat] : "");
    this.promoting.hidden = !path.some(Boolean);
    this.removing.hidden = isStart;
    this.reviewing.hidden = !study.isGame;
    this.clocked.hidden = !study.isGame || isStart;
    const challenged = isPlay(study, path) ? [["-- 0", texts.takenOff], ["(challenge) 5", texts.inVain(5)], ["(challenge) 10", texts.inVain(10)], ["lost", texts.loseTurn]] : [];
    const isEnd = equipment && (position.zeros > 3 || unseen(position, equipment, []).reduce((sum, [, count]) => sum + count, 0) <= 2 * (equipment.rackSize ?? 7)); // the bag is empty
    const ends = study.isGame ? [...(isEnd ? [["end", texts.settle]] : []), ...SEATS.map((seat) => [`(time) -10 ${seat}`, texts.overtime(study.players[seat])])] : [];
    const options = [...challenged, ...ends];
    this.entering.hidden = !options.length;
    this.entries.replaceChildren(...[["", texts.chooseEntry], ...options].map(([value, text]) => h("option", { value }, text)));
  }
}
