// To play oneself: a choice of opponents, then games on a board that takes moves.

import { unseenTiles } from "./board.js";
import { button, h, keepingFocus, pressOnce, table, toGames } from "./dom.js";
import { checkDraws } from "./draws.js";
import { MoveEntry } from "./entry.js";
import { inBrowser, inWindow } from "./kept.js";
import { tilesOf } from "./notation.js";
import { PlayForm } from "./play_form.js";
import { Playing } from "./playing.js";
import { reviewLink } from "./review_link.js";
import { AGAIN_MS, Trouble, ask, gameHash } from "./server.js";
import { played, playedHeads, settled } from "./sheet.js";
import { GameSides, LOW_MS, TICK_MS } from "./sides.js";
import { texts } from "./texts.js";

/** @import { Settings } from "./play_form.js" */
/** @import { Login } from "./playing.js" */
/** @import { Placement } from "./scoring.js" */

const WORDS_MS = 150, MOST_WORDS = 16;
/** Where nothing else says the server's sentence. @type {Set<import("./playing.js").Phase>} */
const SAID_ABOVE = new Set(["connecting", "elsewhere", "refused", "idle"]);
/** What is found of draws that may have been chosen. */
const WARNINGS = new Set(["closed", "changed", "secret", "nonce", "dealt"]);

export class PlayView extends HTMLElement {
  constructor() {
    super();
    this.heading = texts.playTitle;
    /** @type {Settings | null} */
    this.settings = null;
    /** @type {Playing | null} */
    this.playing = null;
    /** What the board shows: the game, its turns, the rack. */
    this.shown = "";
    this.warned = false;
    this.ticking = this.again = this.asking = 0;
    this.head = h("h1", {}, texts.playTitle);
    this.banner = h("p", { class: "banner", role: "status", hidden: true });
    this.status = h("p", { class: "status", role: "status" });
    this.said = h("p", { class: "hidden", "aria-live": "polite" });
    this.alarm = h("p", { class: "hidden", role: "alert" });
    this.form = new PlayForm();
    this.waiting = h("p", {}, button(texts.cancel, () => this.playing?.leave()));
    this.sides = new GameSides();
    this.entry = new MoveEntry();
    this.moves = h("div");
    this.unseen = h("section");
    this.resigning = h("button", { type: "button", keydown: pressOnce, click: (event) => this.resign(event), blur: () => this.askToResign(false) }, texts.resign);
    this.next = h("p", { class: "links" });
    this.time = h("span", {});
    this.challenging = h("div", { class: "controls", role: "group", "aria-label": texts.mayChallenge, hidden: true },
      button(texts.challenge, () => this.playing?.challenge()),
      button(texts.accept, () => this.playing?.accept()), this.time);
    this.game = h("div", { class: "game", hidden: true },
      h("div", { class: "play" }, this.sides, this.entry, this.challenging, this.next),
      h("div", { class: "told" },
        h("section", { class: "moves" }, h("h2", {}, texts.moves), this.moves),
        this.unseen, h("p", {}, this.resigning)));
    this.entry.addEventListener("play", (event) => this.playing?.move(/** @type {CustomEvent} */ (event).detail.move));
    this.entry.addEventListener("placed", (event) => this.askForWords(/** @type {CustomEvent} */ (event).detail));
    this.onKey = this.onKey.bind(this);
  }

  connectedCallback() {
    this.replaceChildren(this.head, this.banner, this.status, this.said, this.alarm, this.form, this.waiting, this.game);
    document.addEventListener("keydown", this.onKey);
    this.ticking = setInterval(() => this.tick(), TICK_MS);
    this.load();
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.onKey);
    clearInterval(this.ticking);
    clearTimeout(this.again);
    clearTimeout(this.asking);
    this.playing?.connection.stop();
    this.playing = null;
  }

  async load() {
    clearTimeout(this.again);
    this.show();
    try {
      this.settings = await ask("api/play");
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      this.banner.hidden = false;
      this.banner.textContent = error.status === 404 ? error.message : texts.triesAgain(error.message);
      if (error.status === 404) this.replaceChildren(this.head, this.banner, toGames()); // nothing can be played here
      else if (this.isConnected) this.again = setTimeout(() => this.load(), AGAIN_MS);
      return;
    }
    if (!this.isConnected || !this.settings) return;
    this.banner.hidden = true;
    /** @type {Login | null} */
    const kept = inWindow.get("login");
    const name = kept?.name ?? this.settings.name;
    this.form.open(this.settings, kept?.name ?? "", (choice) => this.chosen(choice));
    const wish = inWindow.get("wish");
    inWindow.set("wish", null);
    if (wish && (kept || !this.settings.token)) { // a game was begun elsewhere; who has no name yet is a guest
      const guest = `guest-${1000 + Math.floor(9000 * Math.random())}`;
      inWindow.set("game", null); // the last one, which is over
      this.chosen({ ...kept ?? { name: name ?? inBrowser.get("name") ?? guest, token: "" }, opponent: wish, table: null });
    } else if (name) this.login(kept ?? { name, token: "" }); // a game may be on
    this.show();
  }

  /** @param {Login} login */
  login(login) {
    this.playing?.connection.stop();
    this.playing = new Playing(login, {
      changed: () => this.isConnected && this.show(), // not after it was left
      said: (sentence) => this.say(sentence),
    });
    return this.playing;
  }

  /** @param {import("./play_form.js").Choice} choice */
  chosen({ name, token, opponent, table }) {
    const { playing } = this, login = playing?.login;
    const isSame = login?.name === name && (login.token === token || !token) && playing?.phase !== "refused";
    (isSame && playing ? playing : this.login({ name, token })).seek(opponent, table);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const isNowhere = event.target === document.body || event.target === this.parentElement;
    if (isNowhere && !this.game.hidden) this.entry.press(event);
  }

  // --- what is said ---

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  /** What a challenge came to. @param {import("./game.js").Played} play */
  ofChallenge({ challenge, move, seat, score }) {
    const { playing } = this, own = playing?.seat === seat, other = playing?.game?.offer.players[playing.seat ? 0 : 1] ?? "";
    if (challenge === "won") return own ? texts.yoursCameOff : texts.theirsCameOff;
    if (move === "-") return own ? texts.youLoseTurn : texts.theyLoseTurn(other);
    return own ? texts.yoursStands(other, score) : texts.theirsStands(other, score);
  }

  /** The table of the game that is on, by what is played there; null: there is one alone, or it is gone. */
  get table() {
    const { settings, playing } = this, offer = playing?.game?.offer;
    const kinds = settings?.tables.filter(({ lexicon, rules }) => lexicon === offer?.lexicon && rules === offer?.rules.name) ?? [];
    return kinds.find(({ name }) => name === playing?.table) ?? kinds[0] ?? null;
  }

  /** Ask the server which of the words that are laid are none. @param {Placement | null} placement */
  askForWords(placement) {
    clearTimeout(this.asking);
    const kind = this.settings?.tables.length ? this.table : this.settings, table = this.table?.name;
    if (!placement || !kind?.words) return;
    this.asking = setTimeout(async () => {
      const list = placement.words.map(({ tiles }) => tiles).slice(0, MOST_WORDS);
      /** @type {{ words: Record<string, boolean> }} */
      const told = await ask(`api/words?words=${encodeURIComponent(list.join())}${table ? `&table=${encodeURIComponent(table)}` : ""}`).catch(() => ({ words: {} }));
      if (this.entry.placement?.move !== placement.move) return;
      const phonies = placement.words.filter(({ tiles }) => told.words[tiles] === false).map(({ word }) => word);
      this.entry.judge(phonies);
      if (phonies.length) this.say(texts.noWords(phonies));
    }, WORDS_MS);
  }

  // --- resigning asks once ---

  /** @param {boolean} asked */
  askToResign(asked) {
    this.resigning.textContent = asked ? texts.reallyResign : texts.resign;
    this.resigning.classList.toggle("asked", asked);
  }

  /** @param {MouseEvent} event */
  resign({ detail }) {
    if (detail > 1) return; // a double click is no answer to what its first click asked
    if (!this.playing?.isOnTurn) this.say(texts.notYourTurn);
    else if (this.resigning.matches(".asked")) {
      this.playing.resign();
      this.askToResign(false);
    } else {
      this.askToResign(true);
      this.resigning.focus({ preventScroll: true }); // Safari gives a button that is clicked no focus, which is to be left
    }
  }

  // --- the page ---

  show() {
    const { playing } = this, phase = playing?.phase ?? "idle";
    const isGame = Boolean(playing?.game) && (phase === "playing" || phase === "over" || phase === "offered" || phase === "elsewhere" || phase === "connecting");
    this.game.hidden = !isGame;
    this.form.hidden = isGame || !this.settings || !(phase === "idle" || phase === "refused");
    this.waiting.hidden = phase !== "seeking";
    this.head.classList.toggle("hidden", isGame);
    this.showBanner();
    const sentence = this.statusText();
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
    this.status.hidden = !sentence && !isGame;
    document.title = playing?.isOnTurn ? texts.yourMoveTitle : `${this.heading} – ${texts.title}`;
    if (isGame) this.showGame();
    const at = document.activeElement;
    if (at && this.contains(at) && at.checkVisibility?.() === false) this.parentElement?.focus({ preventScroll: true }); // keys go to the board
  }

  showBanner() {
    const { playing } = this;
    if (!playing) return;
    const isElsewhere = playing.phase === "elsewhere", { lostFor } = playing;
    const sentence = lostFor || SAID_ABOVE.has(playing.phase) ? playing.sentence : "";
    this.entry.warn(playing.phase === "playing" && !lostFor ? playing.sentence : "");
    const text = [lostFor ? texts.lost(lostFor) : "", sentence].filter(Boolean).join(" ");
    if (this.banner.getAttribute("data-text") === text) return;
    this.banner.setAttribute("data-text", text);
    this.banner.hidden = !text;
    keepingFocus(this.banner, () => this.banner.replaceChildren(text, " ",
      isElsewhere ? button(texts.playHere, () => playing.takeOver()) : lostFor ? button(texts.tryNow, () => playing.connection.connect()) : ""));
  }

  statusText() {
    const { playing } = this, game = playing?.game;
    if (!playing) return this.settings ? "" : texts.loading;
    if (playing.phase === "connecting") return texts.connecting;
    if (playing.phase === "seeking") return playing.sentence && !playing.lostFor ? texts.waitsFor(playing.sentence) : texts.waits;
    if (playing.phase === "offered") return texts.notBegun;
    if (playing.phase === "over" && game?.over) {
      const { winner, scores, outcome, message } = game.over, { seat } = playing;
      return texts.result(winner === null ? game.noWinner : winner === seat ? texts.youWin : texts.youLose,
        [scores[seat], scores[seat ? 0 : 1]], texts.endedSo(outcome, message));
    }
    if (playing.phase !== "playing") return "";
    const last = game?.plays.at(-1), isRuling = last?.challenge === "won" || last?.challenge === "lost";
    const move = last && isRuling ? this.ofChallenge(last) : last && game && last.seat !== playing.seat ? texts.theirMove(game.offer.players[last.seat], game.moves.at(-1) ?? "", last.score) : "";
    const whose = playing.lostFor ? "" : playing.pending ? texts.sending : playing.isOnTurn ? texts.yourTurn
      : game?.onTurn === playing.seat ? texts.loading : texts.theirTurn;
    return [move, whose].filter(Boolean).join(" ");
  }

  showGame() {
    const { playing } = this, game = playing?.game;
    if (!playing || !game) return;
    const isOver = playing.phase === "over", position = game.position(game.last);
    const shown = [playing.id, game.last, game.bag, playing.rack, isOver].join();
    if (this.shown !== shown) {
      if (!this.shown.startsWith(playing.id) || !this.sides.firstChild) this.sides.open(game.offer.players);
      this.shown = shown;
      this.askToResign(false);
      const rack = isOver ? "" : playing.rack;
      this.entry.show(game.equipment, { board: position.board, rack, fresh: position.fresh, turn: game.last,
        mostExchanged: game.mostExchanged, exchangesLeft: game.exchangesLeft(playing.seat) });
      this.askForWords(this.entry.placement); // what was laid may make other words now
      this.showMoves();
      this.showUnseen();
    }
    this.sides.show(position, isOver);
    this.entry.toggleAttribute("data-over", isOver);
    if (this.entry.isOn !== playing.isOnTurn) this.entry.isOn = playing.isOnTurn;
    this.resigning.hidden = isOver;
    this.resigning.setAttribute("aria-disabled", String(!playing.isOnTurn));
    this.showNext(isOver);
    this.tick();
  }

  /** @param {boolean} isOver */
  showNext(isOver) {
    const { playing } = this;
    if (!playing || !isOver || this.next.getAttribute("data-game") === playing.id) {
      if (!isOver && this.next.firstChild) {
        this.next.removeAttribute("data-game");
        this.next.replaceChildren();
      }
      return;
    }
    const opponent = playing.game?.offer.players[playing.seat ? 0 : 1] ?? null;
    this.next.setAttribute("data-game", playing.id);
    this.next.replaceChildren(
      h("button", { type: "button", class: "main", click: () => playing.seek(opponent, this.table?.name ?? null) }, texts.playAgain), " ",
      button(texts.otherOpponent, () => playing.leave()), " ",
      h("a", { href: gameHash(playing.id) }, texts.lookBack), " ", reviewLink(playing.id), this.checkedDraws(playing));
  }

  /** What is proven of the draws of the game that is over. @param {Playing} playing */
  checkedDraws({ game, seat, witness }) {
    const said = h("span", { class: "note", role: "status" });
    if (game?.over && game.hasBegun && game.over.outcome !== "host_error") checkDraws(witness, game, seat).then((finding) => {
      said.textContent = texts.draws[finding];
      said.classList.toggle("banner", WARNINGS.has(finding));
    });
    return said;
  }

  showMoves() {
    const { playing } = this, game = playing?.game;
    if (!game) return;
    const rows = game.plays.map((play, index) => ({
      attributes: { "aria-current": index + 1 === game.last ? "true" : null },
      cells: [play.seq, ...played(game, index)],
    }));
    const list = rows.length
      ? table(texts.moves, playedHeads, rows, "sheet")
      : h("p", { class: "note" }, texts.noMoves);
    this.moves.replaceChildren(list, ...settled(game));
    list.scrollTop = list.scrollHeight;
  }

  showUnseen() {
    const { playing } = this, game = playing?.game;
    if (!playing || !game) return;
    const own = tilesOf(playing.rack);
    const tiles = game.unseen(game.position(game.last).board)
      .map(([tile, count]) => /** @type {const} */ ([tile, count - own.filter((each) => each === tile).length])).filter(([, count]) => count > 0);
    this.unseen.hidden = playing.phase === "over" || game.bag === null; // nothing is drawn before the start
    this.unseen.replaceChildren(h("h2", {}, texts.unseenTiles), ...unseenTiles(tiles, game.bag ?? 0, true));
  }

  tick() {
    const { playing } = this, game = playing?.game;
    if (!playing || !game || this.game.hidden) return;
    const clocks = game.clocksAt(performance.now());
    this.sides.tick(clocks);
    const left = playing.challengeLeft(performance.now()), isAsked = left > 0;
    const isLow = playing.phase === "playing" && clocks[playing.seat] < LOW_MS;
    this.time.textContent = texts.timeToChallenge(Math.ceil(left / 1000));
    if (isLow === this.warned && isAsked !== this.challenging.hidden) return;
    this.warned = isLow;
    this.challenging.hidden = !isAsked;
    this.entry.toggleAttribute("data-asked", isAsked); // one question at a time
    this.alarm.textContent = [isAsked ? texts.mayChallenge : "", isLow ? texts.lowTime : ""].filter(Boolean).join(" ");
  }
}

customElements.define("play-view", PlayView);
