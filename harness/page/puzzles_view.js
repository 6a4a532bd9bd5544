// Puzzles: the list of all, and one that is answered on the board.

import { TileBoard, tileList } from "./board.js";
import { playFromButton } from "./casual.js";
import { button, h, table } from "./dom.js";
import { MoveEntry } from "./entry.js";
import { bare, tilesOf } from "./notation.js";
import { ProofLine } from "./proof.js";
import { Endgame, keepResult, readIndex, readPuzzle, results } from "./puzzle.js";
import { due } from "./boxes.js";
import { percent, texts } from "./texts.js";

/** @import { Index, Kind, Line, Listed, PreEndgame } from "./puzzle.js" */
/** @typedef {Endgame | PreEndgame} Puzzle */

const KINDS = /** @type {Kind[]} */ (["endgame", "preendgame"]);
const MARKS = { solved: "✓", helped: "◐", missed: "✗" };

/** How often a tile is there, if that is more than once. @param {number} count */
const times = (count) => (count > 1 ? `×${count}` : "");

/** Both scores, and who is ahead. @param {[number, number]} scores */
export const scoreLine = ([own, other]) => h("p", { class: "status" }, texts.standing(own, other));

/** The list; null if there is none, which the view then says. @param {HTMLElement} view @param {string} title @returns {Promise<Index | null>} */
export const index = async (view, title) => {
  try {
    return await readIndex();
  } catch {
    view.replaceChildren(h("h1", {}, title), h("p", { class: "banner", role: "alert" }, texts.noPuzzles));
    return null;
  }
};

export class PuzzleList extends HTMLElement {
  heading = texts.puzzles;

  async connectedCallback() {
    this.replaceChildren(h("p", {}, texts.loading));
    const told = await index(this, texts.puzzles);
    if (!told || !this.isConnected) return;
    const known = results(), drilled = due(Date.now()).length;
    const drill = [h("h2", {}, texts.drill), h("p", {}, h("a", { href: "#/drill" }, texts.toDrill(drilled)))];
    this.replaceChildren(
      h("h1", {}, texts.puzzles),
      h("p", {}, texts.puzzlesAre(told.lexicon)),
      ...(drilled ? drill : []), // what is due comes before hundreds of numbers
      ...KINDS.flatMap((kind) => this.section(kind, told.puzzles.filter((each) => each.kind === kind), known)),
      ...(drilled ? [] : drill));
  }

  /** @param {Kind} kind @param {Listed[]} listed @param {ReturnType<typeof results>} known */
  section(kind, listed, known) {
    if (!listed.length) return [];
    const solved = listed.filter(({ id }) => known[id] === "solved").length;
    const links = listed.map(({ id }, at) => {
      const result = known[id];
      return h("li", {}, h("a", {
        href: `#/puzzles/${id}`, class: result ?? "", "aria-label": texts.puzzleIs(kind, at + 1, result),
      }, at + 1, result && h("span", { "aria-hidden": "true" }, MARKS[result])));
    });
    return [
      h("h2", {}, texts.kinds[kind]), h("p", { class: "note" }, texts.kindIs[kind]),
      h("p", {}, texts.solvedOf(solved, listed.length)),
      h("ul", { class: "numbers" }, ...links),
    ];
  }
}

export class PuzzleView extends HTMLElement {
  /** @param {string} id */
  constructor(id) {
    super();
    this.heading = texts.puzzles;
    this.puzzleId = id;
    this.hinted = 0;
    this.isShown = false; // the solution: later answers do not count
    this.entry = new MoveEntry();
    this.entry.addEventListener("play", (event) => this.answered(/** @type {CustomEvent<{ move: string }>} */ (event).detail.move));
    this.board = new TileBoard();
    this.place = h("div", { class: "play" });
    this.verdict = h("div", { class: "graded", role: "status", tabindex: -1 });
    this.below = h("div");
    /** @type {Puzzle | null} */
    this.puzzle = null;
    /** @type {Index | null} */
    this.told = null;
  }

  async connectedCallback() {
    this.replaceChildren(h("p", {}, texts.loading));
    this.told = await index(this, texts.puzzles);
    if (!this.told) return;
    const listed = this.told.puzzles.find(({ id }) => id === this.puzzleId);
    const puzzle = listed && await readPuzzle(listed, this.told.equipment).catch(() => null);
    if (!listed || !puzzle) {
      const why = listed ? texts.noPuzzles : texts.noPuzzle;
      this.replaceChildren(h("h1", {}, why), h("p", {}, h("a", { href: "#/puzzles" }, texts.toPuzzles)));
    } else if (this.isConnected) this.show(puzzle, listed);
  }

  /** @param {Puzzle} puzzle @param {Listed} listed */
  show(puzzle, listed) {
    this.puzzle = puzzle;
    const same = this.told?.puzzles.filter(({ kind }) => kind === listed.kind) ?? [];
    this.replaceChildren(
      h("h1", {}, texts.puzzleIs(listed.kind, same.indexOf(listed) + 1)),
      h("p", {}, texts.asks[listed.kind]),
      h("div", { class: "game" },
        this.place,
        h("div", { class: "told" },
          h("div", { class: "known" }, scoreLine(puzzle.position.scores), ...hidden(puzzle)), this.verdict, this.below)),
      h("p", { class: "links" }, h("a", { href: "#/puzzles" }, texts.toPuzzles), " ",
        playFromButton(() => ({ cgp: puzzle.told.position, lexicon: this.told?.lexicon ?? "" }))));
    this.ask();
  }

  /** Show the position, to be answered. */
  ask() {
    const { puzzle } = this;
    if (!puzzle) return;
    const { board, racks } = puzzle.position;
    this.place.replaceChildren(this.entry);
    this.entry.isOn = true;
    this.entry.show(puzzle.equipment, { board, rack: racks[0], mostExchanged: 0 });
    this.verdict.replaceChildren();
    this.below.replaceChildren(h("div", { class: "controls" },
      button(texts.hint, () => this.hint()), button(texts.giveUp, () => this.giveUp())));
  }

  askAgain() {
    this.ask();
    this.entry.leaveTile(); // the button that was pressed is gone
  }

  hint() {
    const hints = this.puzzle?.hints ?? [];
    this.hinted = Math.min(this.hinted + 1, hints.length);
    this.verdict.replaceChildren(...hints.slice(0, this.hinted).map((hint) => h("p", {}, hint)));
  }

  giveUp() {
    this.keep("missed");
    this.resolve([h("p", {}, texts.solutionIs(this.puzzle ? resultOf(this.puzzle) : ""))]);
  }

  /** @param {string} move */
  answered(move) {
    const { puzzle } = this;
    if (!puzzle) return;
    if (!puzzle.answer(move)) {
      this.verdict.replaceChildren(h("p", {}, texts.notLegal(puzzle.text(move), this.told?.lexicon ?? "")));
      return;
    }
    const isRight = puzzle.isBest(move);
    this.keep(!isRight ? "missed" : this.hinted ? "helped" : "solved");
    const sentence = isRight ? texts.right(resultOf(puzzle, move)) : lossOf(puzzle, move);
    this.resolve([
      h("p", { class: isRight ? "right" : "wrong" }, h("strong", {}, isRight ? texts.isRight : texts.isWrong), " ", sentence),
      ...(puzzle instanceof Endgame ? [refutation(puzzle, move, isRight)] : [byTile(puzzle, move)]),
    ]);
  }

  /** @param {import("./puzzle.js").Result} result */
  keep(result) {
    if (!this.isShown) keepResult(this.puzzleId, result);
    this.isShown = true;
  }

  /** Say how it went, and show the best play. @param {(HTMLElement | null)[]} said */
  resolve(said) {
    const { puzzle } = this;
    if (!puzzle) return;
    const line = new ProofLine(puzzle.equipment, this.board);
    const show = (/** @type {Line} */ moves) => {
      const boards = puzzle.boards(moves);
      line.show(boards, moves.map(([move, score], at) => ({ text: puzzle.text(move, boards[at]), score })));
    };
    this.place.replaceChildren(this.board);
    this.verdict.replaceChildren(...said.flatMap((each) => each ?? []));
    this.below.replaceChildren(
      h("h2", {}, texts.bestPlay),
      ...(puzzle instanceof Endgame ? [] : [tileChoice(puzzle, (at) => show(puzzle.told.lines[at]?.[0] ?? []))]),
      line,
      h("div", { class: "controls" }, this.nextButton(), button(texts.again, () => this.askAgain())));
    show(puzzle instanceof Endgame ? puzzle.told.line : puzzle.told.lines[0]?.[0] ?? []);
    this.verdict.focus();
  }

  /** To the next one that is not solved. */
  nextButton() {
    const all = this.told?.puzzles ?? [], known = results();
    const here = all.findIndex(({ id }) => id === this.puzzleId);
    const later = [...all.slice(here + 1), ...all.slice(0, here)];
    const next = later.find(({ id }) => known[id] !== "solved");
    if (next) return goTo(`#/puzzles/${next.id}`, texts.nextPuzzle);
    return goTo("#/puzzles", known[this.puzzleId] === "solved" ? texts.allSolved : texts.toPuzzles);
  }
}

/** The way on, which stands among buttons. @param {string} hash @param {string} text */
const goTo = (hash, text) =>
  h("button", { type: "button", class: "main", click: () => { location.hash = hash; } }, text);

/** What is not on the board: the other rack, or all tiles of which one is in the bag. @param {Puzzle} puzzle */
const hidden = (puzzle) =>
  puzzle instanceof Endgame
    ? [h("h2", {}, texts.opponentsRack), tileList(tilesOf(puzzle.position.racks[1]).map((tile) => [tile, 1]), times)]
    : [h("h2", {}, texts.unseenTiles), tileList(puzzle.told.bag, times), h("p", { class: "note" }, texts.oneInBag(puzzle.unseen))];

/** A best move and what it leads to. @param {Puzzle} puzzle @param {string} [move] */
const resultOf = (puzzle, move = puzzle.told.best) => {
  const best = puzzle.named(move);
  if (puzzle instanceof Endgame) return texts.endsAt(best, puzzle.told.spread);
  const outcomes = puzzle.answer(move) ?? "";
  return texts.winsWith(best, puzzle.wins(outcomes), puzzle.unseen, outcomes.includes("D"));
};

/** What an answer loses. @param {Puzzle} puzzle @param {string} move */
const lossOf = (puzzle, move) => {
  const best = resultOf(puzzle), text = puzzle.named(move);
  if (puzzle instanceof Endgame) return texts.loses(text, puzzle.loss(move), best, puzzle.answer(move)?.spread ?? 0);
  const outcomes = puzzle.answer(move) ?? "", loss = percent(puzzle.win(puzzle.told.best) - puzzle.win(move));
  return texts.losesWins(text, loss, best, puzzle.wins(outcomes), outcomes.includes("?"));
};

/** The best answer to a wrong move. @param {Endgame} puzzle @param {string} move @param {boolean} isRight */
const refutation = (puzzle, move, isRight) => {
  const reply = puzzle.answer(move)?.reply;
  if (isRight || !reply) return null;
  const [, after = puzzle.position.board] = puzzle.boards([[move, 0]]);
  return h("p", {}, texts.replyIs(puzzle.named(reply, after)));
};

/** With which tiles in the bag the best move wins, and an answer. @param {PreEndgame} puzzle @param {string} move */
const byTile = (puzzle, move) => {
  const other = puzzle.isTold(move) ? undefined : puzzle.answer(move);
  const rows = puzzle.told.bag.map(([tile, count], at) => {
    const cells = [`${bare(tile)}${count > 1 ? ` ×${count}` : ""}`, texts.outcomes[puzzle.bestOutcomes[at] ?? "?"] ?? ""];
    return { cells: other ? [...cells, texts.outcomes[other[at] ?? "?"] ?? ""] : cells };
  });
  const heads = [texts.inBag, puzzle.text(puzzle.told.best), ...(other ? [puzzle.text(move)] : [])];
  return table(texts.byTile, heads, rows, "chances");
};

/** Choose the tile in the bag whose line is shown. @param {PreEndgame} puzzle @param {(at: number) => void} choose */
const tileChoice = (puzzle, choose) => {
  const buttons = puzzle.told.bag.map(([tile], at) => {
    const made = button(bare(tile), () => {
      buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === made)));
      choose(at);
    });
    made.setAttribute("aria-pressed", String(at === 0));
    return made;
  });
  return h("div", { class: "choices", role: "group", "aria-label": texts.ifInBag }, h("span", {}, texts.ifInBag), ...buttons);
};

customElements.define("puzzle-list", PuzzleList);
customElements.define("puzzle-view", PuzzleView);
