// A move that is being put together: which tiles of the rack lie on which squares. No elements.

import { bare, blankFor, capitalOf, lettersOf } from "./notation.js";
import { placementOf } from "./scoring.js";

/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */
/** @typedef {{ tile: string, at: number | null, as: string }} Held A tile of the rack: the square where it lies, and
 *   as which tile (a blank: the letter in lower case). */
/** @typedef {{ at: number, across: boolean }} Cursor */

export class Draft {
  /** @param {Equipment} equipment @param {Board} board @param {string[]} rack @param {boolean} [replaces] whether a tile may be laid on one of ours */
  constructor(equipment, board, rack, replaces = false) {
    this.equipment = equipment;
    this.replaces = replaces;
    this.board = board;
    /** @type {Held[]} In the order that they have on the rack. */
    this.held = rack.map((tile) => ({ tile, at: null, as: tile }));
    /** @type {Cursor | null} */
    this.cursor = null;
    /** What was typed of a tile of several characters. */
    this.typed = "";
    /** @type {Held | null} The tile that was typed last. */
    this.last = null;
  }

  /** Go on with another board or rack: what can stay where it is stays. @param {Board} board @param {string[]} rack */
  update(board, rack) {
    this.board = board;
    const left = [...rack], kept = new Set();
    const isPlayed = (/** @type {Held} */ { at }) => at !== null && board.has(at);
    for (const each of [...this.held.filter((held) => !isPlayed(held)), ...this.held.filter(isPlayed)]) {
      const index = left.indexOf(each.tile);
      if (index < 0) continue;
      left.splice(index, 1);
      kept.add(each);
      if (isPlayed(each)) this.#lift(each);
    }
    this.held = [...this.held.filter((each) => kept.has(each)), ...left.map((tile) => ({ tile, at: null, as: tile }))];
    this.typed = "";
  }

  /** @returns {Board} */
  get placed() {
    return new Map(this.held.flatMap(({ at, as }) => (at === null ? [] : [/** @type {const} */ ([at, as])])));
  }

  /** What lies on the board, the placed tiles included. @returns {Board} */
  get all() {
    return new Map([...this.board, ...this.placed]);
  }

  get placement() {
    return placementOf(this.equipment, this.board, this.placed);
  }

  // --- by tile and square ---

  /** Lay a tile on an empty square. @param {number} index @param {number} at @param {string} [as] for a blank */
  place(index, at, as) {
    const held = this.held[index];
    if (!held || this.board.has(at)) return false;
    const other = this.held.find((each) => each.at === at && each !== held);
    if (other) this.#lift(other);
    if (as) held.as = as;
    held.at = at;
    this.typed = "";
    return true;
  }

  /** Take the tile of a square back; return whether one of ours lay there. @param {number} at */
  take(at) {
    const held = this.held.find((each) => each.at === at);
    if (held) this.#lift(held);
    return held !== undefined;
  }

  recall() {
    this.held.forEach((each) => this.#lift(each));
  }

  /** @param {() => number} [random] */
  shuffle(random = Math.random) {
    for (let at = this.held.length - 1; at > 0; at--) this.#swap(at, Math.floor(random() * (at + 1)));
  }

  /** Move a tile to another place on the rack. @param {number} from @param {number} to */
  reorder(from, to) {
    this.held.splice(to, 0, ...this.held.splice(from, 1));
  }

  /** @param {Held} held */
  #lift(held) {
    held.at = null;
    held.as = held.tile;
  }

  /** @param {number} one @param {number} other */
  #swap(one, other) {
    const [first, second] = [this.held[one], this.held[other]];
    if (first && second) [this.held[one], this.held[other]] = [second, first];
  }

  // --- by keyboard ---

  /** Put the cursor on a square; where it is already, it turns. @param {number} at */
  point(at) {
    this.cursor = { at, across: this.cursor?.at === at ? !this.cursor.across : this.cursor?.across ?? true };
    this.typed = "";
  }

  /** Go on at another square, if it is said where to lay tiles at all. @param {number} at */
  goTo(at) {
    if (!this.cursor || this.cursor.at === at) return;
    this.cursor.at = at;
    this.typed = "";
  }

  turn() {
    if (this.cursor) this.cursor.across = !this.cursor.across;
    this.typed = "";
  }

  /** The square a step from another along the cursor; null: off the board. @param {number} at @param {1 | -1} sign */
  #beyond(at, sign) {
    const { columns, letter } = this.equipment.layout;
    if (!this.cursor) return null;
    const to = at + sign * (this.cursor.across ? 1 : columns);
    const isOff = this.cursor.across && Math.floor(to / columns) !== Math.floor(at / columns);
    return isOff || to < 0 || to >= letter.length ? null : to;
  }

  /** Move the cursor as far as its line allows. @param {1 | -1} sign */
  step(sign) {
    const to = this.cursor && this.#beyond(this.cursor.at, sign);
    if (this.cursor && to !== null) this.cursor.at = to;
    this.typed = "";
  }

  /** The first square from one on, at first the cursor's, on which a tile may be laid; null: there is none. @param {number | null} [at] */
  #free(at = this.cursor?.at ?? null) {
    const taken = this.replaces ? this.board : this.all;
    while (at !== null && taken.has(at)) at = this.#beyond(at, 1);
    return at;
  }

  /** Whether a square is free from the cursor on. */
  get hasRoom() {
    return this.#free() !== null;
  }

  /** Lay a tile at the cursor, which moves on. @param {number} index @param {string} [as] */
  putAtCursor(index, as) {
    const at = this.#free();
    if (at === null || !this.cursor || this.held[index]?.at !== null) return false;
    this.place(index, at, as);
    this.cursor.at = this.#free(this.#beyond(at, 1)) ?? at;
    return true;
  }

  /**
   * Type a character at the cursor: the tile of that letter, or else a longer tile that begins with it, or else a
   * blank. With the character before it, it makes the longest tile that is on the rack: C and H are CH, also where both
   * are there. Return whether that was possible.
   * @param {string} character @param {boolean} isBlank whether a blank is meant
   */
  type(character, isBlank) {
    const letter = capitalOf(character, this.equipment.tiles);
    if (this.#goOn(letter, isBlank)) return true;
    const named = (/** @type {string} */ tile) => lettersOf(tile) === letter;
    const begins = (/** @type {string} */ tile) => lettersOf(tile).startsWith(letter);
    const onHand = (/** @type {(tile: string) => boolean} */ suits) => this.held.findIndex(({ tile, at }) => at === null && suits(tile));
    const whole = isBlank ? -1 : onHand(named), long = isBlank || whole >= 0 ? -1 : onHand(begins);
    const plain = whole >= 0 ? whole : long;
    if (plain >= 0) return this.#typed(letter, plain);
    const kinds = this.equipment.tiles.map(({ tile }) => tile);
    const as = kinds.find(named) ?? kinds.find(begins);
    const blank = onHand((tile) => tile === "?");
    return as !== undefined && blank >= 0 && this.#typed(letter, blank, blankFor(as, this.equipment.tiles));
  }

  /** @param {string} letter @param {number} index @param {string} [as] */
  #typed(letter, index, as) {
    if (!this.putAtCursor(index, as)) return false;
    this.typed = letter;
    this.last = this.held[index] ?? null;
    return true;
  }

  /** Take a character as the next of the tile that was typed last. @param {string} letter @param {boolean} isBlank */
  #goOn(letter, isBlank) {
    const text = this.typed + letter, { last } = this;
    if (!this.typed || !last || last.at === null) return false;
    const isLonger = (/** @type {string} */ tile) => bare(tile).length > 1 && lettersOf(tile).startsWith(text);
    if (isLonger(capitalOf(last.as, this.equipment.tiles))) { // it lies there already
      this.typed = text;
      return true;
    }
    const longer = this.held.find(({ tile, at }) => at === null && isLonger(tile));
    const isMeant = isBlank || letter.toLowerCase() === letter.toUpperCase(); // with Shift, or a character without a case
    const as = last.tile === "?" && isMeant ? this.equipment.tiles.find(({ tile }) => isLonger(tile))?.tile : undefined;
    if (as) last.as = blankFor(as, this.equipment.tiles);
    else if (longer && last.tile !== "?") {
      [longer.at, last.at] = [last.at, null];
      this.last = longer;
    } else return false;
    this.typed = text;
    return true;
  }

  /** Take back the tile before the cursor, or go there; return the tile. */
  erase() {
    this.typed = "";
    if (!this.cursor) return null;
    let at = this.#ours(this.cursor.at) ? this.cursor.at : this.#beyond(this.cursor.at, -1);
    while (at !== null && this.board.has(at)) at = this.#beyond(at, -1);
    if (at === null) return null;
    this.cursor.at = at;
    const tile = this.#ours(at)?.as ?? null;
    this.take(at);
    return tile;
  }

  /** @param {number} at */
  #ours(at) {
    return this.held.find((each) => each.at === at);
  }
}
