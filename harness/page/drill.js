// A drill of one's own mistakes, which a review kept: each comes up until it is answered right at once.

import { TileBoard, unseenTiles } from "./board.js";
import { DAYS, answered, due, forget, nextDue } from "./boxes.js";
import { button, h } from "./dom.js";
import { MoveEntry } from "./entry.js";
import { namedMove } from "./game.js";
import { inBrowser } from "./kept.js";
import { keyOf } from "./puzzle.js";
import { freshOn, leftOf, readMove, readOpening, tilesOf, withMove } from "./notation.js";
import { index, scoreLine, toList } from "./puzzles_view.js";
import { reviewLink } from "./review_link.js";
import { gameHash } from "./server.js";
import { puzzleTexts as texts } from "./puzzle_texts.js";
import { decimal, moment, percent, texts as common } from "./texts.js";

/** @import { Mistake } from "./boxes.js" */
/** @import { Board } from "./notation.js" */
/** @import { Equipment } from "./scoring.js" */

export class DrillView extends HTMLElement {
  constructor() {
    super();
    this.heading = texts.drill;
    /** @type {Equipment | null} What the mistake was played with. */
    this.equipment = null;
    /** @type {Equipment | null} The same of mistakes that don't say. */
    this.usual = null;
    this.entry = new MoveEntry();
    this.entry.addEventListener("play", (event) => this.answered(/** @type {CustomEvent<{ move: string }>} */ (event).detail.move));
    this.place = h("div", { class: "play" });
    this.verdict = h("div", { class: "graded", role: "status", tabindex: -1 });
    this.below = h("div", { class: "controls" });
    /** @type {Mistake | null} */
    this.mistake = null;
    this.tries = 0; // wrong moves
  }

  async connectedCallback() {
    this.replaceChildren(h("p", {}, common.loading));
    const told = await index(this, texts.drill);
    if (!told) return;
    this.usual = told.equipment;
    if (this.isConnected) this.next();
  }

  /** Show the next mistake that is due. */
  next() {
    const waiting = due(Date.now()), last = this.mistake?.position;
    const mistake = this.mistake = waiting.find(({ position }) => position !== last) ?? waiting[0] ?? null;
    this.tries = 0;
    this.equipment = inBrowser.get("equipments")?.[mistake?.kind ?? ""] ?? this.usual;
    if (!mistake || !this.equipment) {
      const later = nextDue(Date.now());
      this.replaceChildren(
        h("h1", { tabindex: -1 }, texts.drill),
        h("p", {}, later === null ? texts.noMistakes : texts.drillDone(moment(new Date(later).toISOString()))),
        toList());
      return;
    }
    const { board, racks, scores } = readOpening(mistake.position), { last: before } = mistake;
    const fresh = laidBy(before, board, this.equipment); // none if that move came off the board
    const { columns } = this.equipment.layout, { played, game, turn } = mistake;
    this.verdict.replaceChildren();
    this.below.replaceChildren(button(texts.showMe, () => this.showMe()), button(texts.later, () => this.goOn()));
    this.replaceChildren(h("div", { class: "game" },
      h("div", { class: "known" },
        h("h1", {}, texts.drill),
        h("p", {}, texts.youPlayed(namedMove(played, columns, board), lossOf(mistake)), " ", game && h("a", { href: gameHash(game, turn) }, texts.toTurn(turn))),
        h("p", {}, texts.drillAsks(waiting.length)), scoreLine(scores),
        before && (fresh.size || before.startsWith("-")) && h("p", {}, texts.lastPlay(namedMove(before, columns, board)))),
      this.place,
      h("div", { class: "told" }, this.verdict, this.below,
        h("section", {}, h("h2", {}, common.unseenTiles), ...unseen(board, racks[0], this.equipment)),
        h("p", { class: "note" }, texts.boxesAre(DAYS.slice(1))), toList())));
    this.place.replaceChildren(this.entry);
    this.entry.draft = null; // no tile stays from the mistake before
    this.entry.show(this.equipment, { board, rack: racks[0], fresh });
  }

  /** Go on with the next one, by keyboard too: the button that was pressed is gone. */
  goOn() {
    this.next();
    if (this.mistake) this.entry.leaveTile();
    else this.querySelector("h1")?.focus();
  }

  /** @param {string} move */
  answered(move) {
    const { mistake, equipment } = this;
    if (!mistake || !equipment) return;
    const { columns } = equipment.layout, { board } = readOpening(mistake.position);
    const mirrored = board.size ? [false] : [false, true]; // an empty board is the same in rows and columns
    const same = (/** @type {string} */ other) => mirrored.some((each) => keyOf(move, columns, each) === keyOf(other, columns));
    const isBest = same(mistake.best);
    if (isBest || (mistake.rivals ?? []).some(same)) {
      const text = namedMove(move, columns, board);
      if (!this.tries) answered(mistake, true, Date.now());
      this.resolve(h("p", { class: "right" }, h("strong", {}, texts.isRight), " ", isBest ? texts.drillRight(text) : texts.drillAsGood(text, namedMove(mistake.best, columns, board))));
      return;
    }
    answered(mistake, false, Date.now());
    this.tries += 1;
    this.entry.recall();
    this.verdict.replaceChildren(h("p", { class: "wrong" }, h("strong", {}, texts.isWrong), " ", same(mistake.played) && `${texts.sameAgain(lossOf(mistake))} `, texts.goOn(this.tries)));
    this.entry.leaveTile();
    this.below.scrollIntoView({ block: "nearest" }); // on a phone it is below the rack
  }

  showMe() {
    const { mistake, equipment } = this;
    if (!mistake || !equipment) return;
    answered(mistake, false, Date.now());
    this.resolve(h("p", {}, texts.drillWrong(namedMove(mistake.best, equipment.layout.columns, readOpening(mistake.position).board))));
  }

  /** Show the best move. @param {HTMLElement} said */
  resolve(said) {
    const { mistake, equipment } = this;
    if (!mistake || !equipment) return;
    const { board } = readOpening(mistake.position), after = withMove(board, readMove(mistake.best, equipment.layout.columns)), shown = new TileBoard();
    shown.show(equipment, { turn: null, board: after, fresh: freshOn(after, board) });
    this.verdict.replaceChildren(said);
    this.place.replaceChildren(shown, h("p", { class: "note" }, texts.bestShown));
    this.below.replaceChildren(
      button(texts.nextMistake, () => this.goOn(), "main"),
      button(common.forget, () => { forget(mistake); this.goOn(); }), mistake.game && reviewLink(mistake.game) || "");
    this.verdict.focus();
  }
}

/** What was lost in the game. @param {Mistake} mistake */
const lossOf = ({ lost_win, lost_points }) => (lost_win === null ? common.points_(decimal(lost_points)) : texts.chance(percent(lost_win), decimal(lost_points)));

/** The squares of the last move. @param {string | null | undefined} move @param {Board} board @param {Equipment} equipment */
const laidBy = (move, board, { layout }) => {
  const read = move ? readMove(move, layout.columns) : null;
  return new Set(read?.kind === "place" ? read.squares.flatMap(([at, tile]) => (tile !== "." && board.has(at) ? [at] : [])) : []);
};

/** The tiles that one did not see. @param {Board} board @param {string} rack @param {Equipment} equipment */
const unseen = (board, rack, { tiles, rackSize = 7 }) => {
  const left = leftOf(tiles, [...board.values(), ...tilesOf(rack)]);
  return unseenTiles(left, Math.max(0, left.reduce((sum, [, count]) => sum + count, 0) - rackSize), true);
};

customElements.define("drill-view", DrillView);
