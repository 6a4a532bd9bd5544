// Puzzles: the list of all, and one that is answered on the board. Nothing of its answer is on the page, nor has it
// been asked for, before somebody tries a move or asks.

import { TileBoard, tileList } from "./board.js";
import { due } from "./boxes.js";
import { playFromButton } from "./casual.js";
import { button, fileButton, h, table } from "./dom.js";
import { MoveEntry } from "./entry.js";
import { inBrowser } from "./kept.js";
import { bare, tilesOf } from "./notation.js";
import { LEVELS, asFile, choose, chosen, isSolved, keep, levelOf, nextOf, results, takeFile, theme } from "./progress.js";
import { ProofLine } from "./proof.js";
import { Endgame, Puzzle, readIndex, readPuzzle, readThemes } from "./puzzle.js";
import { puzzleTexts as texts } from "./puzzle_texts.js";
import { save } from "./review_export.js";
import { texts as common } from "./texts.js";

/** @import { Index, Line, Listed, PreEndgame } from "./puzzle.js" */
/** @import { Results } from "./progress.js" */
/** @typedef {Endgame | PreEndgame} Solved */

const FEW = 60;
const MARKS = { solved: "✓", helped: "◐", missed: "✗", tried: "…" };

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

const notKept = () => h("p", { class: "banner" }, texts.notKept);

export class PuzzleList extends HTMLElement {
  heading = common.puzzles;
  /** @type {Index | null} */
  told = null;
  next = h("span");
  shown = h("div");
  said = h("p", { role: "status" });

  async connectedCallback() {
    this.replaceChildren(h("p", {}, common.loading));
    const told = this.told = await index(this, common.puzzles);
    if (!told || !this.isConnected) return;
    this.replaceChildren(
      h("h1", {}, common.puzzles), h("p", {}, texts.puzzlesAre(told.lexicon)),
      h("p", { class: "ask" }, h("label", { for: "theme" }, texts.theme), this.themes(told), this.next),
      this.shown,
      h("h2", {}, texts.progress), h("p", {}, texts.progressIs),
      h("p", { class: "ask" }, button(texts.save, () => save("tilewire-puzzles.json", asFile(told.lexicon), "application/json")), fileButton(texts.take, { id: "progress", accept: ".json,application/json", change: ({ target }) => this.take(target) })),
      this.said);
    await this.draw();
  }

  /** What can be chosen; a choice that tells of answers is one's own. @param {Index} told */
  themes({ themes }) {
    const option = (/** @type {string} */ value, /** @type {string} */ text) => h("option", { value, selected: value === theme() }, text);
    const answers = Object.entries(themes).map(([each, count]) => option(each, texts.themeIs(each, count)));
    const select = h("select", { id: "theme", change: () => { choose(select.value); this.draw(); } },
      option("", texts.everything), option("wrong", texts.wrong),
      h("optgroup", { label: texts.byKind }, ...Object.entries(texts.kinds).map(([kind, text]) => option(kind, text))),
      h("optgroup", { label: texts.byAnswer }, ...answers));
    return select;
  }

  async draw() {
    const { told } = this, known = results();
    if (!told) return;
    const listed = await chosen(told).catch(() => null), next = nextOf(listed ?? []);
    this.next.replaceChildren(next ? goTo(next.id, texts.next(texts.levels[levelOf(next)] ?? "")) : listed?.length ? texts.allSolved : "");
    this.shown.replaceChildren(
      h("p", {}, h("a", { href: "#/drill" }, texts.toDrill(due(Date.now()).length)), " ", h("span", { class: "note" }, texts.drillIs)),
      ...(inBrowser.set("puzzles", known) ? [] : [notKept()]),
      ...(!listed ? [h("p", { class: "banner" }, texts.noPuzzles)] : !listed.length ? [h("p", {}, texts.noneOfThese)] : [
        ...LEVELS.flatMap((_, level) => this.section(level, listed.filter((each) => levelOf(each) === level), known, listed.length <= FEW || !next || levelOf(next) === level)),
        h("p", { class: "note" }, texts.marksAre),
      ]));
  }

  /** @param {number} level @param {Listed[]} listed @param {Results} known @param {boolean} open */
  section(level, listed, known, open) {
    if (!listed.length) return [];
    const solved = listed.filter(({ id }) => isSolved(known[id])).length, atOnce = listed.filter(({ id }) => known[id] === "solved").length;
    const name = texts.levels[level] ?? "", told = texts.solvedOf(solved, listed.length, atOnce);
    const links = listed.map((each) => {
      const result = known[each.id], number = numberOf(each, this.told);
      return h("li", {}, h("a", {
        href: `#/puzzles/${each.id}`, class: [each.kind, result].filter(Boolean).join(" "), "aria-label": texts.linkIs(number, each.kind, name, result),
      }, number, result && h("span", { "aria-hidden": "true" }, MARKS[result])));
    });
    return [h("details", { class: "level", open },
      h("summary", {}, h("h2", {}, name), h("progress", { max: listed.length, value: solved, "aria-label": told }), h("span", {}, told),
        h("span", { class: "note" }, texts.levelIs((LEVELS[level - 1] ?? 0) + 1, LEVELS[level] ?? Infinity))),
      h("ul", { class: "numbers" }, ...links))];
  }

  /** @param {HTMLInputElement} input */
  async take(input) {
    const [file] = input.files ?? [];
    if (!file || !this.told) return;
    this.said.textContent = await takeFile(file, this.told);
    input.value = ""; // the same file may be chosen again
    await this.draw();
  }
}

/** @param {Listed} listed @param {Index | null} told */
const numberOf = (listed, told) => (told?.puzzles.indexOf(listed) ?? 0) + 1;

export class PuzzleView extends HTMLElement {
  /** @param {string} id */
  constructor(id) {
    super();
    this.heading = common.puzzles;
    this.puzzleId = id;
    /** @type {string[]} Those that were asked for. */
    this.hints = [];
    this.isHelped = results()[id] === "tried"; // it can't be solved at once any more
    this.isShown = false; // the solution: later answers do not count
    /** @type {string[]} Wrong moves, the first tried first. */
    this.tries = [];
    this.entry = new MoveEntry();
    this.entry.addEventListener("play", (event) => this.answered(/** @type {CustomEvent<{ move: string }>} */ (event).detail.move));
    this.board = new TileBoard();
    this.place = h("div", { class: "play" });
    this.verdict = h("div", { class: "graded", role: "status", tabindex: -1 });
    this.below = h("div");
    /** @type {Puzzle | null} */
    this.puzzle = null;
    /** @type {Promise<Solved> | null} */
    this.solved = null;
    /** @type {Index | null} */
    this.told = null;
  }

  async connectedCallback() {
    this.replaceChildren(h("p", {}, common.loading));
    const told = this.told = await index(this, common.puzzles);
    if (!told || !this.isConnected) return;
    const listed = told.puzzles.find(({ id }) => id === this.puzzleId), next = nextOf(told.puzzles);
    if (listed) return this.show(new Puzzle(listed, told), told);
    this.replaceChildren(
      h("h1", {}, texts.noPuzzle), h("p", {}, texts.noPuzzleWhy(told.lexicon)),
      h("p", { class: "controls" }, next && goTo(next.id, texts.next(texts.levels[levelOf(next)] ?? ""))), toList());
  }

  /** @param {Puzzle} puzzle @param {Index} told */
  show(puzzle, told) {
    this.puzzle = puzzle;
    const { listed } = puzzle, { kind } = listed, { scores, racks } = puzzle.position;
    const hidden = kind === "endgame"
      ? [h("h2", {}, texts.opponentsRack), tileList(tilesOf(racks[1]).map((tile) => [tile, 1]), times)]
      : [h("h2", {}, common.unseenTiles), tileList(puzzle.unseen, times), h("p", { class: "note" }, texts.oneInBag(puzzle.unseen.reduce((sum, [, count]) => sum + count, 0)))];
    this.replaceChildren(
      h("div", { class: "game" },
        h("div", { class: "known" }, h("h1", {}, texts.puzzleIs(numberOf(listed, told), texts.kinds[kind] ?? "")), h("p", {}, texts.asks[kind]), scoreLine(scores), ...hidden),
        this.place,
        h("div", { class: "told" }, this.verdict, this.below,
          h("p", { class: "note" }, texts.hardness(texts.levels[levelOf(listed)] ?? "", listed.rank - 1)),
          h("div", { class: "links" }, h("a", { href: "#/puzzles" }, texts.toPuzzles), playFromButton(() => ({ cgp: listed.position, lexicon: told.lexicon }))))));
    this.ask();
  }

  /** What the moves lead to, asked for once it is needed; null: it can't be had, which is said. */
  async solution() {
    const { puzzle, told } = this;
    if (!puzzle || !told) return null;
    try {
      return await (this.solved ??= readPuzzle(puzzle.listed, told));
    } catch {
      this.solved = null;
      this.verdict.replaceChildren(h("p", { class: "banner" }, texts.noSolution));
      return null;
    }
  }

  /** Show the position, to be answered. @param {...HTMLElement} said of the last answer */
  ask(...said) {
    const { puzzle, tries } = this, last = tries.at(-1);
    if (!puzzle) return;
    const { board, racks } = puzzle.position;
    this.place.replaceChildren(this.entry);
    this.entry.isOn = true;
    this.entry.show(puzzle.equipment, { board, rack: racks[0], mostExchanged: 0 });
    this.verdict.replaceChildren(...said, ...this.hints.map((hint) => h("p", {}, hint)));
    this.below.replaceChildren(
      h("div", { class: "controls" },
        last ? button(texts.whyNot, () => this.whyNot(last)) : "", button(texts.hint, () => this.hint()), button(texts.showMe, () => this.showMe())),
      tries.length > 1 ? h("p", { class: "note" }, texts.tried, ": ", [...new Set(tries)].map((move) => puzzle.text(move)).join(", ")) : "");
  }

  askAgain() {
    this.ask();
    this.entry.leaveTile(); // the button that was pressed is gone
  }

  async hint() {
    const { hints } = await this.solution() ?? {};
    if (!hints) return;
    this.help();
    this.hints = hints.slice(0, this.hints.length + 1);
    this.verdict.replaceChildren(...this.hints.map((hint) => h("p", {}, hint)));
  }

  /** @param {string} move */
  async answered(move) {
    const puzzle = await this.solution();
    if (!puzzle || !this.told) return;
    if (!puzzle.answer(move)) {
      this.verdict.replaceChildren(h("p", {}, texts.notLegal(puzzle.text(move), this.told.lexicon)));
    } else if (puzzle.isBest(move)) {
      this.keep(this.isHelped ? "helped" : "solved");
      this.resolve(puzzle, move, [h("p", { class: "right" }, h("strong", {}, texts.isRight), " ", resultOf(puzzle, move), " ", texts.noBetter)]);
    } else {
      this.help();
      this.tries.push(move);
      this.entry.recall();
      this.ask(h("p", { class: "wrong" }, h("strong", {}, texts.isWrong), " ", texts.howGood[puzzle.goodness(move)]?.(puzzle.named(move)), " ", texts.goOn(new Set(this.tries).size)));
      this.entry.leaveTile();
      this.below.scrollIntoView({ block: "nearest" }); // on a phone it is below the rack
    }
  }

  async showMe() {
    const puzzle = await this.solution();
    if (!puzzle) return;
    this.keep("missed");
    this.resolve(puzzle, puzzle.told.best, [h("p", {}, h("strong", {}, texts.solution), " ", resultOf(puzzle, puzzle.told.best))]);
  }

  /** A wrong move was tried, or something asked for. */
  help() {
    this.isHelped = true;
    this.keep("tried");
  }

  /** @param {import("./progress.js").Result} result */
  keep(result) {
    if (!this.isShown && !keep({ [this.puzzleId]: result }) && !this.querySelector(":scope > .banner")) this.append(notKept());
    this.isShown ||= result !== "tried";
  }

  /** Show what a wrong move runs into, and nothing of a better one. @param {string} move */
  async whyNot(move) {
    const puzzle = await this.solution();
    if (!puzzle) return;
    this.help();
    this.verdict.replaceChildren(h("p", { class: "wrong" }, resultOf(puzzle, move)));
    this.below.replaceChildren(
      h("h2", {}, texts.playAfter(puzzle.text(move))), ...this.lines(puzzle, [move]),
      h("div", { class: "controls" }, button(texts.goOnTrying, () => this.askAgain(), "main"), button(texts.showMe, () => this.showMe())));
    this.verdict.focus();
  }

  /** Say how it went, and show the best play, and how it goes on after what was tried. @param {Solved} puzzle @param {string} move @param {HTMLElement[]} said */
  async resolve(puzzle, move, said) {
    const { told } = this, { best } = puzzle.told, wrong = [...new Set(this.tries)].reverse();
    const others = [...(puzzle.isTold(move) ? [] : [move]), ...wrong];
    const controls = h("div", { class: "controls" }, button(texts.again, () => { this.tries = []; this.askAgain(); })), more = h("div");
    this.verdict.replaceChildren(...said, ...(puzzle instanceof Endgame ? [] : [byTile(puzzle, others[0])]));
    this.below.replaceChildren(controls, h("h2", {}, texts.bestPlay), ...this.lines(puzzle, [best, ...others]), more);
    this.verdict.focus();
    if (!told) return;
    const [listed, themes, hash] = await Promise.all([
      chosen(told).catch(() => told.puzzles), readThemes().catch(() => ({})), import("./refutation.js").then(({ studyHash }) => studyHash(puzzle)).catch(() => null),
    ]);
    const next = nextOf(listed, this.puzzleId), here = Object.entries(themes).filter(([, ids]) => ids.includes(this.puzzleId));
    controls.prepend(next ? goTo(next.id, texts.nextPuzzle) : goTo("", texts.toPuzzles));
    more.replaceChildren(
      h("p", { class: "note" }, here.length > 0 && texts.themesAre, ...here.flatMap(([each], at) => [at ? ", " : " ", h("a", { href: "#/puzzles", click: () => choose(each) }, texts.themes[each] ?? each)])),
      hash ? h("p", {}, h("a", { href: hash }, texts.toStudy)) : "");
  }

  /** How it goes on after moves, of which one is chosen, and the tile in the bag. @param {Solved} puzzle @param {string[]} moves */
  lines(puzzle, moves) {
    const line = new ProofLine(puzzle.equipment, this.board), end = h("p", { class: "note", role: "status" }), tiles = h("div", { class: "choices", role: "group", "aria-label": texts.ifInBag });
    const show = (/** @type {Line} */ known, /** @type {number} */ at) => {
      const boards = puzzle.boards(known);
      line.show(boards, known.map(([move, score], index) => ({ text: puzzle.text(move, boards[index]), score })), at);
    };
    let asked = 0;
    const play = async (/** @type {string} */ move, /** @type {number} */ at) => {
      const mine = ++asked, known = puzzle.line(move, at), tile = puzzle instanceof Endgame ? undefined : puzzle.told.bag[at]?.[0];
      show(known, puzzle.isTold(move) ? 1 : 2);
      end.textContent = puzzle.isTold(move) ? "" : texts.playingOut;
      if (puzzle.isTold(move)) return;
      const whole = await import("./refutation.js").then(({ playedOut }) => playedOut(puzzle, known, tile)).catch(() => null);
      if (mine !== asked || !this.isConnected) return;
      const stop = this.isShown ? -1 : whole?.findIndex(([each]) => puzzle.isTold(each)) ?? -1; // it may come to the best move later
      if (whole) show(stop < 0 ? whole : whole.slice(0, stop), Math.max(line.at, 2));
      end.textContent = !whole ? texts.notPlayedOut : moves.length > 1 ? resultOf(puzzle, move) : "";
    };
    const choose = (/** @type {string} */ move) => {
      if (puzzle instanceof Endgame) return play(move, 0);
      const outcomes = [...puzzle.outcomes(move)], worst = puzzle.isTold(move) ? 0 : Math.max(0, outcomes.findIndex((each) => each === "L"));
      tiles.replaceChildren(h("span", {}, texts.ifInBag), ...choices(puzzle.told.bag.map(([tile], at) => texts.tileOutcome(bare(tile), common.outcomes[outcomes[at] ?? "?"] ?? "")), worst, (at) => play(move, at)));
      return play(move, worst);
    };
    const which = h("div", { class: "choices", role: "group", "aria-label": texts.lines }, ...choices(moves.map((move) => puzzle.text(move)), 0, (at) => choose(moves[at] ?? "")));
    this.place.replaceChildren(this.board);
    choose(moves[0] ?? "");
    return [...(moves.length > 1 ? [which] : []), ...(puzzle instanceof Endgame ? [] : [tiles]), line, end];
  }
}

/** Buttons of which one is pressed. @param {string[]} names @param {number} pressed @param {(at: number) => void} choose */
const choices = (names, pressed, choose) => {
  const buttons = names.map((name, at) => button(name, () => {
    buttons.forEach((each, index) => each.setAttribute("aria-pressed", String(index === at)));
    choose(at);
  }));
  buttons.forEach((each, index) => each.setAttribute("aria-pressed", String(index === pressed)));
  return buttons;
};

/** The way on to a puzzle, or to the list. @param {string} id @param {string} text */
const goTo = (id, text) => button(text, () => { location.hash = id ? `#/puzzles/${id}` : "#/puzzles"; }, "main");

/** The way to all puzzles. */
export const toList = () => h("p", { class: "links" }, h("a", { href: "#/puzzles" }, texts.toPuzzles));

/** What a move leads to. @param {Solved} puzzle @param {string} move */
const resultOf = (puzzle, move) => {
  if (puzzle instanceof Endgame) return texts.endsAt(puzzle.named(move), puzzle.spread(move));
  const outcomes = puzzle.outcomes(move);
  return texts.winsWith(puzzle.named(move), puzzle.wins(move), puzzle.count, outcomes.includes("D"), outcomes.includes("?"));
};

/** With which tiles in the bag the best move wins, and another. @param {PreEndgame} puzzle @param {string} [other] */
const byTile = (puzzle, other) => {
  const moves = [puzzle.told.best, ...(other ? [other] : [])];
  const rows = puzzle.told.bag.map(([tile, count], at) => ({
    cells: [`${bare(tile)}${count > 1 ? ` ×${count}` : ""}`, ...moves.map((move) => common.outcomes[puzzle.outcomes(move)[at] ?? "?"] ?? "")],
  }));
  return table(common.byTile, [common.inBag, ...moves.map((move) => puzzle.text(move))], rows, "chances");
};

customElements.define("puzzle-list", PuzzleList);
customElements.define("puzzle-view", PuzzleView);
