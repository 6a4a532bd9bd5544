// A board and a rack, on which a move is made: by keyboard, by dragging, by tapping.
//
//   const entry = new MoveEntry();
//   entry.show({ layout, tiles }, { board, rack, fresh, turn });
//   entry.addEventListener("play", ({ detail }) => send(detail.move));   // "8D WO.D", "-ABC", "-"
//   entry.addEventListener("placed", ({ detail }) => …);                 // a Placement, or null
//
// `entry.isOn = false` while a move can't be played: tiles can be laid all the same.

import { button, h, pressOnce } from "./dom.js";
import { Draft } from "./draft.js";
import { dragIn } from "./dragging.js";
import { Hand } from "./hand.js";
import { bare, capitalOf, lettersOf, onRack, readMove, tilesOf } from "./notation.js";
import { Squares } from "./squares.js";
import { texts } from "./texts.js";

/** @import { Held } from "./draft.js" */
/** @import { Board } from "./notation.js" */
/** @import { Equipment, Placement } from "./scoring.js" */
/** @typedef {{ board: Board, rack: string, fresh?: Set<number>, turn?: number | null, mostExchanged?: number, exchangesLeft?: number | null }} Asked
 *   `rack` is text, as "?AEI[CH]"; `fresh`: the squares of the last move; `mostExchanged`: tiles at once; `exchangesLeft`: null where
 *   the rules limit none. */
/** @typedef {Pick<typeof texts, "play" | "playFor" | "exchangeNow" | "entryKeys">} Wording What the element says of playing. */

/** Where the arrow keys lead: along a row or a column, on or back. */
export const STEPS = /** @type {Record<string, [boolean, 1 | -1]>} */ ({
  ArrowRight: [true, 1], ArrowLeft: [true, -1], ArrowDown: [false, 1], ArrowUp: [false, -1],
});

/**
 * A button that asks whether one is sure, and acts when it is pressed again; leaving it takes the question back.
 * @param {string} text @param {string} sure @param {string | null} label of the question, where that is short @param {() => boolean} may @param {() => void} act
 */
export const sureButton = (text, sure, label, may, act) => {
  const ask = (/** @type {boolean} */ isAsked) => {
    made.textContent = isAsked ? sure : text;
    made.classList.toggle("asked", isAsked);
    if (label && isAsked) made.setAttribute("aria-label", label);
    else made.removeAttribute("aria-label");
  };
  const made = h("button", { type: "button", keydown: pressOnce, blur: () => ask(false), click: ({ detail }) => {
    const isAsked = made.matches(".asked");
    if (detail > 1 || !may()) return; // a double click is no answer to what its first click asked
    ask(!isAsked);
    made.focus({ preventScroll: true }); // Safari gives a button that is clicked no focus, which is to be left
    if (isAsked) act();
  } }, text);
  return made;
};

/** Take the question of such a button back. @param {HTMLElement} made */
export const unask = (made) => made.dispatchEvent(new Event("blur"));

export class MoveEntry extends HTMLElement {
  /** @param {Wording} [wording] where a move is not played but tried, say */
  constructor(wording = texts) {
    super();
    this.wording = wording;
    /** @type {Draft | null} */
    this.draft = null;
    /** @type {Asked} */
    this.asked = { board: new Map(), rack: "" };
    /** @type {Set<number> | null} Tiles of the rack that are to be exchanged; null: a move is laid. */
    this.exchanged = null;
    /** @type {number | null} The tile of the rack that was chosen to be laid. */
    this.chosen = null;
    /** @type {Held | null | undefined} The tile that is dragged. */
    this.dragged = null;
    this.on = true;
    this.advice = "";
    this.isByTouch = false;
    /** @type {Set<string>} Words that were found to be none. */
    this.phonies = new Set();
    this.squares = new Squares();
    this.hand = new Hand();
    this.warning = h("p", { class: "banner", hidden: true });
    this.formed = h("p", { class: "formed" });
    this.said = h("p", { class: "hidden", "aria-live": "polite" });
    this.keys = h("p", { class: "note keyboard" });
    this.keysText = "";
    this.playing = button(wording.play, () => this.play());
    this.playing.classList.add("main");
    this.shuffling = button(texts.shuffle, () => this.shuffle());
    this.recalling = button(texts.recall, () => this.recall());
    this.exchanging = button(texts.exchangeLeft(), () => this.toggleExchange());
    this.passing = sureButton(texts.passTurn, texts.sure, texts.reallyPass, () => this.mayPass(), () => this.send("-"));
    this.passing.classList.add("passing");
  }

  connectedCallback() {
    if (this.firstChild) return;
    const { board } = this.squares;
    this.append(
      board, this.warning, this.formed, this.said, this.hand.element,
      h("div", { class: "controls", role: "group", "aria-label": texts.yourMove },
        this.playing, this.shuffling, this.recalling, this.exchanging, this.passing),
      this.keys, this.hand.picker);
    this.addEventListener("keydown", (event) => this.press(event));
    this.addEventListener("pointerdown", ({ pointerType }) => { this.isByTouch = pointerType === "touch"; });
    board.addEventListener("click", ({ target }) => this.tap(this.squares.at(target)));
    board.addEventListener("mousedown", (event) => event.preventDefault()); // a click puts the focus itself
    board.addEventListener("focusin", ({ target }) => this.focused(this.squares.at(target)));
    this.hand.element.addEventListener("click", ({ target }) => this.tapHeld(this.hand.at(target)));
    this.hand.picker.addEventListener("close", () => this.leaveTile()); // also if it was cancelled: the tile was drawn anew
    for (const each of [this.hand.element, this.shuffling, this.recalling, this.exchanging]) {
      each.addEventListener("click", (event) => { // of a mouse: Enter then plays, and does not press it again
        if (/** @type {MouseEvent} */ (event).detail) this.leaveTile();
      });
    }
    dragIn(this, {
      source: (element) => this.dragSource(element),
      over: (element) => this.mark(element),
      drop: (element) => this.drop(element),
    });
  }

  // --- what is asked ---

  /** @param {Equipment} equipment @param {Asked} asked */
  show(equipment, asked) {
    const rack = tilesOf(asked.rack);
    const { hasFocus } = this.squares;
    if (this.draft?.equipment === equipment) this.draft.update(asked.board, rack);
    else this.draft = new Draft(equipment, asked.board, rack);
    this.asked = asked;
    this.chosen = null;
    this.exchanged = null;
    unask(this.passing);
    this.squares.open(equipment, asked);
    const long = equipment.tiles.map(({ tile }) => bare(tile)).find((tile) => [...tile].length > 1);
    this.keysText = [this.wording.entryKeys, long && texts.longTiles(long)].filter(Boolean).join(" ");
    if (!rack.length) this.draft.cursor = null; // nothing is laid any more
    if (this.isByTouch && !this.draft.placed.size) this.draft.cursor = null; // the next tap chooses anew
    this.refresh();
    if (hasFocus && !rack.length) /** @type {HTMLElement} */ (document.activeElement).blur(); // the keyboard has nothing to do there
    else if (hasFocus && !this.isByTouch) this.focusBoard();
  }

  /** Whether a move can be played now. */
  get isOn() {
    return this.on;
  }

  set isOn(on) {
    this.on = on;
    this.showFormed();
  }

  /** What the tiles that are laid make; null: no move. @returns {Placement | null} */
  get placement() {
    const placement = this.draft?.placement;
    return typeof placement === "object" ? placement : null;
  }

  /** Lay a move as if it had been made here. @param {string} move */
  put(move) {
    const { draft } = this;
    if (!draft) return;
    draft.recall();
    const read = readMove(move, draft.equipment.layout.columns), left = (/** @type {string} */ tile) => draft.held.findIndex((each, index) =>
      each.at === null && each.tile === tile && !this.exchanged?.has(index));
    this.exchanged = read.kind === "exchange" ? new Set() : null;
    if (read.kind === "place") for (const [at, tile] of read.squares) if (tile !== ".") draft.place(left(onRack(tile)), at, tile);
    if (read.kind === "exchange") for (const tile of tilesOf(read.tiles)) this.exchanged?.add(left(tile));
    this.placed();
  }

  /** Say something of the move where nothing is laid. @param {string} sentence */
  advise(sentence) {
    if (sentence === this.advice) return;
    this.advice = sentence;
    this.showFormed();
    this.say(sentence);
  }

  /** Say which of the words that are laid are none. @param {Iterable<string>} phonies */
  judge(phonies) {
    this.phonies = new Set(phonies);
    this.showFormed();
  }

  /** Say what is wrong with the move; an empty sentence: nothing. @param {string} sentence */
  warn(sentence) {
    this.warning.hidden = !sentence;
    if (this.warning.textContent === sentence) return;
    this.warning.textContent = sentence;
    if (sentence) this.say(sentence);
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  // --- keyboard ---

  /** Put the keyboard on the board. */
  focusCursor() {
    const { draft } = this;
    if (!draft) return;
    if (draft.held.length) draft.cursor ??= { at: draft.equipment.layout.start, across: true };
    this.refresh();
    this.focusBoard();
  }

  /** Put the keyboard on the board, at the arrow if there is one. */
  focusBoard() {
    const { draft } = this;
    if (draft) this.squares.focus(draft.cursor?.at ?? draft.equipment.layout.start);
  }

  /** Leave a tile of the rack that was laid; a finger has no use for the keyboard. */
  leaveTile() {
    if (!this.isByTouch) this.focusBoard();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const isComposed = event.key > "~" && this.isLetter(event.key); // Ł is Option and L on a Mac, AltGr and L elsewhere
    if ((event.altKey || event.ctrlKey) && !isComposed || event.metaKey || this.hand.picker.open) return;
    const isOnButton = event.target instanceof Element && event.target.closest("button") !== null;
    if (this.pressed(event.key, event.shiftKey, isOnButton)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Do what a key means; return whether it means anything. @param {string} key @param {boolean} shift @param {boolean} isOnButton */
  pressed(key, shift, isOnButton) {
    const { draft } = this, step = STEPS[key];
    if (!draft?.held.length) return false; // there is nothing to lay
    if (step && !isOnButton) this.move(...step);
    else if (key === "Enter" && !isOnButton) this.play();
    else if (key === " " && !isOnButton) this.turn();
    else if (key === "Escape") this.exchanged ? this.toggleExchange() : this.recall();
    else if (key === "Backspace") this.erase();
    else if (this.isLetter(key)) this.type(key, shift && key.toLowerCase() !== key.toUpperCase());
    else return false;
    return true;
  }

  /** Whether a key is a character of a tile. @param {string} key */
  isLetter(key) {
    return [...key].length === 1 && (this.draft?.equipment.tiles.some(({ tile }) => lettersOf(tile).includes(key.toUpperCase())) ?? false);
  }

  /** Go along the line, or turn into the other. @param {boolean} across @param {1 | -1} sign */
  move(across, sign) {
    const { draft } = this;
    if (!draft?.cursor) return this.focusCursor();
    if (draft.cursor.across === across) draft.step(sign);
    else this.turn();
    this.focusCursor();
  }

  turn() {
    this.draft?.turn();
    this.focusCursor();
    if (this.draft?.cursor) this.say(this.draft.cursor.across ? texts.across : texts.down);
  }

  /** @param {string} character @param {boolean} shift */
  type(character, shift) {
    const { draft } = this;
    if (!draft) return;
    if (this.exchanged) return this.typeExchanged(character);
    draft.cursor ??= { at: draft.equipment.layout.start, across: true };
    if (draft.type(character, shift)) this.placed(draft.typed.length > 1 ? texts.asOneTile(draft.typed) : "");
    else this.say(!draft.hasRoom ? texts.lineIsFull : shift ? texts.noBlank : texts.notOnRack(capitalOf(character, draft.equipment.tiles)));
    this.focusCursor();
  }

  erase() {
    const tile = this.draft?.erase();
    if (tile) this.placed(texts.takenBack(bare(tile)));
    this.focusCursor();
  }

  // --- mouse and finger ---

  /** A square has the focus by other means than a click: a screen reader's cursor, say. @param {number | null} at */
  focused(at) {
    if (at !== null) this.draft?.goTo(at);
  }

  /** @param {number | null} at */
  tap(at) {
    const { draft } = this;
    if (!draft?.held.length || at === null) return;
    if (this.chosen !== null) return this.lay(draft.held[this.chosen], at);
    if (draft.take(at)) {
      draft.cursor = { at, across: draft.cursor?.across ?? true };
      this.placed();
    } else draft.point(at);
    this.focusCursor();
  }

  /** @param {number | null} index */
  tapHeld(index) {
    const { draft } = this, held = index === null ? null : draft?.held[index];
    if (!draft || index === null || !held) return;
    if (this.exchanged) this.markExchanged(index);
    else if (held.at !== null) {
      draft.take(held.at);
      this.placed();
    } else if (draft.cursor) this.lay(held, null);
    else this.chosen = this.chosen === index ? null : index;
    this.refresh();
  }

  /** Lay a tile, a blank once it is said what it is; without a square at the cursor. @param {Held | undefined} held @param {number | null} at */
  lay(held, at) {
    const { draft } = this;
    if (!draft || !held) return;
    const lay = (/** @type {string} */ as) => {
      const index = draft.held.indexOf(held); // the rack may be another by now
      if (at === null ? draft.putAtCursor(index, as) : draft.place(index, at, as)) this.placed();
      this.refresh();
    };
    this.chosen = null;
    if (held.tile === "?" && held.at === null) this.hand.askForBlank(draft.equipment.tiles, lay);
    else lay(held.as);
  }

  /** @param {Element} element @returns {HTMLElement | null} */
  dragSource(element) {
    const at = this.squares.at(element), index = this.hand.at(element);
    const held = this.draft?.held ?? [];
    this.dragged = this.exchanged ? null : at === null ? held[index ?? -1] : held.find((each) => each.at === at);
    if (!this.dragged) return null;
    return at === null ? /** @type {HTMLElement} */ (this.hand.element.children[index ?? -1]) : this.squares.cells[at] ?? null;
  }

  /** @param {Element | null} element */
  mark(element) {
    const at = this.squares.at(element);
    this.squares.mark(at !== null && !this.draft?.board.has(at) ? at : null);
  }

  /** @param {Element | null} element */
  drop(element) {
    const { draft, dragged } = this, index = dragged ? draft?.held.indexOf(dragged) ?? -1 : -1;
    if (!draft || !dragged || index < 0) return; // it has left the rack
    const to = this.squares.at(element), place = this.hand.at(element);
    if (to !== null && !draft.board.has(to)) this.lay(dragged, to);
    else if (element && this.hand.element.contains(element)) {
      if (dragged.at !== null) draft.take(dragged.at);
      if (place !== null) draft.reorder(index, place);
      this.placed();
    }
    this.leaveTile();
  }

  // --- the controls ---

  shuffle() {
    this.draft?.shuffle();
    this.exchanged = this.exchanged && new Set();
    this.chosen = null;
    this.refresh();
    this.say(texts.rackIs(this.draft?.held.map(({ tile }) => bare(tile)).join(" ") ?? ""));
  }

  recall() {
    this.draft?.recall();
    this.chosen = null;
    if (this.draft && this.isByTouch) this.draft.cursor = null; // the next tap chooses anew
    this.placed(texts.recalled);
  }

  toggleExchange() {
    if (this.asked.exchangesLeft === 0) {
      this.formed.textContent = texts.noExchangeLeft;
      return this.say(texts.noExchangeLeft);
    }
    this.draft?.recall();
    this.chosen = null;
    this.exchanged = this.exchanged ? null : new Set();
    this.placed(this.exchanged ? texts.chooseTiles : "");
    if (this.exchanged && document.activeElement === this.exchanging) this.playing.focus({ preventScroll: true }); // Enter exchanges
  }

  /** @param {number} index */
  markExchanged(index) {
    if (!this.exchanged?.delete(index)) this.exchanged?.add(index);
    this.refresh();
    this.say(this.formed.textContent ?? "");
  }

  /** @param {string} character */
  typeExchanged(character) {
    const letter = capitalOf(character, this.draft?.equipment.tiles ?? []);
    const held = this.draft?.held ?? [], left = (/** @type {number} */ at) => !this.exchanged?.has(at);
    const whole = held.findIndex(({ tile }, at) => left(at) && bare(tile).toUpperCase() === letter);
    const index = whole >= 0 ? whole : held.findIndex(({ tile }, at) => left(at) && bare(tile).toUpperCase().startsWith(letter));
    if (index >= 0) this.markExchanged(index);
    else this.say(texts.notOnRack(letter));
  }

  mayPass() {
    if (!this.on) this.say(texts.notYourTurn);
    return this.on;
  }

  /** How many tiles are chosen; 0 also where the bag has too few. */
  get exchangeSize() {
    const { exchanged, asked } = this, size = exchanged?.size ?? 0;
    return size > (asked.mostExchanged ?? size) ? 0 : size;
  }

  /** What is to be said of the tiles that are chosen. */
  get exchangeText() {
    const size = this.exchanged?.size ?? 0;
    return !size ? texts.chooseTiles : this.exchangeSize ? texts.toExchange(size) : texts.bagHas(this.asked.mostExchanged ?? 0);
  }

  play() {
    const { draft, exchanged } = this, placement = draft?.placement;
    if (!draft || !placement) return;
    const tiles = [...exchanged ?? []].map((index) => draft.held[index]?.tile).join("");
    if (!this.on) this.say(texts.notYourTurn);
    else if (exchanged) this.exchangeSize ? this.send(`-${tiles}`) : this.say(this.exchangeText);
    else if (typeof placement === "string") this.say(placement);
    else if (this.phonies.size) this.say(texts.noWords([...this.phonies])); // a refusal counts, and words are told only where it is sure
    else this.send(placement.move, placement.score);
  }

  /** @param {string} move @param {number} [score] */
  send(move, score = 0) {
    this.dispatchEvent(new CustomEvent("play", { detail: { move, score } }));
  }

  // --- the page ---

  /** Tiles were laid or taken. @param {string} [sentence] */
  placed(sentence = "") {
    this.phonies.clear();
    this.refresh();
    this.say([sentence, this.draft?.placed.size ? this.formed.textContent : ""].filter(Boolean).join(" "));
    this.dispatchEvent(new CustomEvent("placed", { detail: this.placement }));
  }

  refresh() {
    if (!this.draft) return;
    this.squares.show(this.draft);
    this.hand.show(this.draft, this.exchanged, this.chosen);
    this.showFormed();
    this.exchanging.hidden = this.asked.mostExchanged === 0;
    this.exchanging.textContent = this.exchanged ? texts.cancel : texts.exchangeLeft(this.asked.exchangesLeft);
    this.exchanging.setAttribute("aria-disabled", String(this.asked.exchangesLeft === 0));
    this.recalling.hidden = this.passing.hidden = this.exchanged !== null;
    this.keys.textContent = this.exchanged ? texts.exchangeKeys : this.keysText;
  }

  showFormed() {
    const { draft, exchanged } = this, placement = draft?.placement;
    if (!draft || placement === undefined) return;
    const isMove = typeof placement !== "string";
    this.formed.replaceChildren(...(exchanged ? [this.exchangeText]
      : isMove ? this.words(placement) : [draft.placed.size ? placement : this.advice]));
    this.playing.textContent = exchanged ? this.wording.exchangeNow(exchanged.size) : isMove ? this.wording.playFor(placement.score) : this.wording.play;
    this.playing.setAttribute("aria-disabled", String(!this.on || !(exchanged ? this.exchangeSize : isMove && !this.phonies.size)));
  }

  /** @param {Placement} placement */
  words({ words, score, isBingo }) {
    return [
      h("b", {}, texts.pointsFor(score)), isBingo ? ` ${texts.isBingo}` : "", ": ",
      ...words.flatMap(({ word, score: each }, index) => [
        index ? ", " : "",
        this.phonies.has(word) ? h("s", { class: "phony" }, word) : word,
        this.phonies.has(word) ? ` ${texts.isNoWord}` : words.length > 1 ? ` ${each}` : "",
      ]),
    ];
  }
}

customElements.define("move-entry", MoveEntry);
