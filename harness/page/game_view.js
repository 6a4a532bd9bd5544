// A game: board, clocks, moves, graphs; stepped through, also while it goes on.

import { TileBoard, unseenTiles } from "./board.js";
import { cgpAt, playFromButton } from "./casual.js";
import { copying } from "./copying.js";
import { TurnSteps, button, h, keepingFocus, names, toGames } from "./dom.js";
import { Game } from "./game.js";
import { GameGraphs } from "./game_graphs.js";
import { reviewLink, studyLink } from "./review_link.js";
import { screenTexts } from "./screen_texts.js";
import { AGAIN_MS, Following, Trouble, ask, askGame, gameHash, gcgPath } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { MoveSheet } from "./sheet.js";
import { GameSides, TICK_MS } from "./sides.js";
import { moment, texts, timeText, versus } from "./texts.js";
import { TurnThoughts } from "./thoughts.js";

const SPREAD_MS = 1000, MOST_TRIES = 8;

export class GameView extends HTMLElement {
  id_ = "";
  hasAddress = true;
  /** @type {number | null} The turn that is looked at; null: the last, whichever that is. */
  turn = null;
  /** @type {Game | null} */
  game = null;
  /** @type {Following | null} */
  following = null;
  isDown = false;
  hasFailed = false;
  refusal = "";
  ticking = 0;
  again = 0;
  banner = h("p", { class: "banner", role: "status", hidden: true });
  said = h("p", { class: "hidden", "aria-live": "polite" });

  /** @param {string} id @param {number | null} turn */
  open(id, turn) {
    if (id === this.id_) {
      this.look(turn);
      return;
    }
    this.id_ = id;
    this.turn = turn;
    this.replaceChildren(h("h1", {}, texts.loading));
    this.load();
  }

  connectedCallback() {
    document.addEventListener("keydown", this.onKey);
    this.ticking = setInterval(() => this.tick(), TICK_MS);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.onKey);
    clearInterval(this.ticking);
    clearTimeout(this.again);
    this.unfollow();
  }

  // --- from the server ---

  async load() {
    clearTimeout(this.again);
    this.hasFailed = false;
    try {
      const told = await askGame(this.id_);
      if (!this.isConnected) return;
      this.game = new Game(told, performance.now());
    } catch (error) {
      if (this.isConnected) this.fail(error);
      return;
    }
    this.build();
    this.show();
    this.up();
    if (!this.game.over) this.follow();
  }

  unfollow() {
    this.following?.connection.stop();
    this.following = null;
  }

  follow() {
    this.unfollow();
    this.following = new Following(this.id_, {
      message: (message, at) => this.hear(message, at),
      lost: (seconds) => this.down(seconds),
      joined: () => this.up(),
    });
  }

  /** @param {any} message @param {number} at */
  hear(message, at) {
    const { game } = this;
    if (!game) return;
    if (message.type === "error") {
      this.refusal = texts.refused(serverTexts.why(message.code, String(message.message)));
      if (message.code !== "unknown_game") return; // the server closes, and is asked again
      this.unfollow();
      this.load(); // it is over, or gone; the journal knows
      return;
    }
    const turns = game.last;
    try {
      if (game.take(message, at)) this.following?.watch();
    } catch (error) {
      this.fail(error);
      return;
    }
    if (game.lacksTurns) {
      this.unfollow(); // it is loaded once, whatever comes meanwhile
      this.load(); // they were taken while nothing was heard
      return;
    }
    if (game.last > turns) this.announce(game.last);
    if (message.type === "info") this.thoughts?.show(game, this.shownTurn);
    else this.show();
    if (message.type === "game_over") {
      this.unfollow();
      this.say(this.ending());
      this.reviewSoon(0);
    }
  }

  /**
   * Take what is told only now: racks and thoughts. Hundreds may have watched, so not all ask at once.
   * @param {number} tries
   */
  reviewSoon(tries) {
    this.again = setTimeout(async () => {
      try {
        const told = await askGame(this.id_);
        if (!this.isConnected || !told.over) return;
        this.game = new Game(told, performance.now());
        this.show();
      } catch {
        if (this.isConnected && tries < MOST_TRIES) this.reviewSoon(tries + 1);
      }
    }, SPREAD_MS * (tries + Math.random()));
  }

  /** @param {unknown} error */
  fail(error) {
    const unanswered = error instanceof Trouble && error.status !== 404;
    const sentence = error instanceof Trouble ? error.message : texts.cantShow;
    const unknown = error instanceof Trouble && error.status === 404;
    this.unfollow();
    this.game = null;
    this.hasFailed = true;
    document.title = texts.title;
    this.replaceChildren(
      h("h1", {}, unknown ? texts.unknownGame : unanswered ? texts.triesAgain(sentence) : sentence),
      ...(unknown ? [h("p", { class: "note" }, sentence)] : []),
      toGames());
    if (unanswered) this.again = setTimeout(() => this.load(), AGAIN_MS);
  }

  /** @param {number} seconds */
  down(seconds) {
    this.isDown = true;
    this.banner.hidden = false;
    keepingFocus(this.banner, () => this.banner.replaceChildren(
      this.refusal, " ", texts.lost(seconds), " ",
      button(texts.tryNow, () => this.following?.connection.connect())));
  }

  up() {
    this.refusal = "";
    if (!this.isDown) return;
    this.isDown = false;
    this.banner.hidden = true;
    this.banner.replaceChildren();
    this.say(texts.back_on);
  }

  // --- stepping ---

  /** @param {number | null} turn */
  look(turn) {
    this.turn = turn;
    if (this.game) {
      this.show();
      this.announce(this.shownTurn);
    }
  }

  get shownTurn() {
    const last = this.game?.last ?? 0;
    return this.turn === null ? last : Math.max(0, Math.min(this.turn, last));
  }

  /** @param {number} turn */
  go(turn) {
    const last = this.game?.last ?? 0;
    const to = Math.max(0, Math.min(turn, last));
    const live = to === last && !(this.game?.over && this.hasAddress);
    if (to === this.shownTurn && (this.turn === null) === live) return;
    this.look(live ? null : to);
    if (this.hasAddress) history.replaceState(null, "", gameHash(this.id_, live ? null : to)); // Safari refuses the hundredth in half a minute
  }

  goToLast() {
    this.go(this.game?.last ?? 0);
    this.steps?.buttons.at(-1)?.focus(); // the button that was pressed is gone now
  }

  toGraphs() {
    this.graphs?.focus({ preventScroll: true });
    this.graphs?.scrollIntoView({ block: "center" });
  }

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    const at = event.target instanceof Element ? event.target : document.body;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !this.game) return;
    if (at.closest("input, select, textarea, .scroll:focus")) return;
    const { shownTurn } = this;
    const to = { ArrowLeft: shownTurn - 1, ArrowRight: shownTurn + 1, Home: 0, End: this.game.last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  };

  // --- what is said ---

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  /** @param {number} turn */
  announce(turn) {
    const { game } = this, play = game?.plays[turn - 1];
    if (!game) return;
    if (!play) return this.say(texts.where(turn, game.last));
    this.say(texts.announced(turn, game.offer.players[play.seat], game.moves[turn - 1] ?? "", play.score, play.scores));
  }

  ending() {
    const { game } = this;
    if (!game?.over) return "";
    const { winner, outcome, message, scores } = game.over;
    return texts.result(winner === null ? game.noWinner : texts.wins(game.offer.players[winner]), winner === 1 ? [scores[1], scores[0]] : scores, texts.endedSo(outcome, message));
  }

  // --- the page ---

  build() {
    const { game } = this;
    if (!game) return;
    const { players, time, lexicon, rules } = game.offer;
    document.title = `${versus(players)} – ${texts.title}`;
    this.board = new TileBoard();
    this.thoughts = new TurnThoughts();
    this.graphs = new GameGraphs();
    this.status = h("p", { class: "status" });
    this.moves = new MoveSheet();
    if (!this.hasAddress) this.moves.go = (turn) => this.go(turn);
    this.unseen = h("div");
    this.latest = h("button", { type: "button", class: "latest", click: () => this.goToLast() });
    this.sides = new GameSides();
    this.sides.open(players);
    this.steps = new TurnSteps((turn) => this.go(turn));
    this.links = h("p", { class: "links" });
    this.copies = h("div");
    this.graphs.tabIndex = -1; // a button leads there
    this.replaceChildren(h("div", { class: game.turns && !game.over ? "watch live" : "watch" },
      h("div", { class: "facts" },
        h("h1", { class: "hidden" }, ...names(players)), // the cards below have the names
        h("p", { class: "note" },
          [texts.terms(timeText(time), lexicon, rules.name), game.told.begun && texts.begun(moment(game.told.begun))].filter(Boolean).join(" · ")),
        this.banner, this.status, this.said),
      this.sides, this.board,
      h("div", { class: "steps-of" }, this.steps.element, this.latest),
      h("div", { class: "links-of" }, this.links, this.copies),
      h("section", { class: "moves" }, h("h2", { class: "hidden" }, texts.moves), this.moves),
      h("section", { class: "unseen-of" }, h("h2", {}, texts.unseen), this.unseen),
      h("section", { class: "thoughts" }, this.thoughts),
      h("div", { class: "more" }, this.graphs)));
  }

  show() {
    const { game } = this;
    if (!game || !this.board || !this.latest) return;
    const position = game.position(this.shownTurn), { turn } = position;
    this.board.show(game.equipment, position);
    this.sides?.show(position, Boolean(game.over) && turn === game.last);
    this.tick();
    this.steps?.show(turn, game.last);
    this.latest.hidden = game.over !== null || turn === game.last;
    this.latest.textContent = texts.later(game.last - turn);
    this.moves?.show(game, this.id_, turn);
    this.unseen?.replaceChildren(...unseenTiles(game.unseen(position.board), game.bagAt(position)));
    this.thoughts?.show(game, turn);
    this.graphs?.show(game, turn, (to) => this.go(to));
    if (this.status) this.status.textContent = game.over ? this.ending() : game.hasBegun ? texts.isOn : texts.notBegun;
    this.showLinks(game);
  }

  /** @param {Game} game */
  showLinks({ over, turns }) {
    const { links } = this, isOpen = Boolean(over && turns); // of a void game, or half of a pair, racks stay hidden
    links?.querySelector(".to-study")?.replaceWith(studyLink("game", this.id_, this.shownTurn));
    if (!links || links.firstChild && links.hasAttribute("data-open") === isOpen) return;
    links.toggleAttribute("data-open", isOpen);
    const now = () => /** @type {Game} */ (this.game);
    const { copies } = this;
    if (copies) keepingFocus(copies, () => copies.replaceChildren(copying({
      ...(isOpen ? { GCG: () => ask(gcgPath(this.id_), undefined, "text") } : {}),
      CGP: () => cgpAt(now(), this.shownTurn, now().position(this.shownTurn).racks ?? ["", ""]), // racks that are hidden are left out
      [screenTexts.link]: () => new URL(gameHash(this.id_, this.turn), location.href).href,
    })));
    keepingFocus(links, () => links.replaceChildren(
      button(screenTexts.toGraphs, () => this.toGraphs()), " ",
      isOpen ? h("a", { href: gcgPath(this.id_), download: `${this.id_}.gcg` }, texts.gcg) : "",
      " ", isOpen ? reviewLink(this.id_) : "", " ", isOpen ? studyLink("game", this.id_, this.shownTurn) : "",
      " ", isOpen ? playFromButton(() => this.here) : ""));
  }

  /** The position of the turn that is looked at, or before the last move of a game that is over. */
  get here() {
    const game = /** @type {Game} */ (this.game), turn = Math.min(this.shownTurn, game.last - 1);
    return { cgp: cgpAt(game, turn, game.bothRacks(turn)), lexicon: game.offer.lexicon };
  }

  tick() {
    const { game } = this;
    if (!game) return;
    const isLast = this.shownTurn === game.last;
    this.sides?.tick(isLast ? game.clocksAt(performance.now()) : game.position(this.shownTurn).clocks);
  }
}

customElements.define("game-view", GameView);
