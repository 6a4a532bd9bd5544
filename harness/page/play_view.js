// To play oneself: a choice of opponents, then games on a board that takes moves.

import { Analysis } from "./analysis.js";
import { TileBoard, unseenTiles } from "./board.js";
import { Hint, beforeLast, casualTable, seenAt } from "./casual.js";
import { TurnSteps, button, h, keepingFocus, toGames } from "./dom.js";
import { checkDraws } from "./draws.js";
import { MoveEntry, sureButton, unask } from "./entry.js";
import { inBrowser, inWindow } from "./kept.js";
import { tilesOf } from "./notation.js";
import { noteGame, ownGames, results, unfinished } from "./own_games.js";
import { PlayForm, guestName } from "./play_form.js";
import { playTexts } from "./play_texts.js";
import { Playing } from "./playing.js";
import { reviewLink } from "./review_link.js";
import { AGAIN_MS, Trouble, about, ask, gameHash } from "./server.js";
import { MoveSheet } from "./sheet.js";
import { GameSides, LOW_MS, TICK_MS } from "./sides.js";
import { sound, soundButton } from "./sounds.js";
import { texts } from "./texts.js";

/** @import { Choice, Settings } from "./play_form.js" */
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
    /** @type {number | null} The turn that is looked at; null: the present. */
    this.turn = null;
    /** @type {Hint | null} */
    this.hint = null;
    this.analyses = this.warned = false;
    /** Why no game begins, whatever the server's player says. */
    this.problem = "";
    this.noted = "";
    /** @type {{ game: string, turn: number } | null} What the game that is about to begin goes on from. */
    this.origin = null;
    this.analysis = new Analysis();
    this.ticking = this.again = this.asking = 0;
    this.head = h("h1", {}, texts.playTitle);
    this.banner = h("p", { class: "banner", role: "status", hidden: true });
    this.status = h("p", { class: "status", role: "status" });
    this.said = h("p", { class: "hidden", "aria-live": "polite" });
    this.alarm = h("p", { class: "hidden", role: "alert" });
    this.form = new PlayForm();
    this.unfinished = h("div", { class: "own-games" });
    this.results = h("div", { class: "own-games" });
    this.waiting = h("p", {}, button(texts.cancel, () => this.playing?.leave()));
    this.sides = new GameSides();
    this.entry = new MoveEntry();
    this.moves = new MoveSheet();
    this.moves.go = (turn) => this.look(turn);
    this.goesOn = h("p", { class: "note" });
    this.unseen = h("section");
    this.resigning = sureButton(playTexts.resign, playTexts.reallyResign, null, () => this.mayAct(), () => this.playing?.resign());
    this.helping = h("button", { type: "button", click: ({ detail }) => {
      this.help();
      if (detail) this.entry.leaveTile(); // of a mouse: what is typed goes to the board
    } }, playTexts.hint);
    this.takingBack = button(playTexts.takeBack, () => this.takeBack());
    this.takingBack.title = playTexts.takeBackNote;
    this.acts = h("div", { class: "controls acts-of", role: "group", "aria-label": texts.game }, this.helping, this.takingBack, this.resigning, soundButton());
    this.pastBoard = new TileBoard();
    this.pastIs = h("span", {});
    this.past = h("div", { class: "past", hidden: true }, this.pastBoard, h("p", { class: "formed" }, this.pastIs),
      h("div", { class: "controls" }, button(playTexts.toPresent, () => this.look(null), "main")));
    this.steps = new TurnSteps((turn) => this.look(turn));
    this.stepKeys = h("p", { class: "note keyboard" }, playTexts.keys);
    this.next = h("p", { class: "links" });
    this.time = h("span", {});
    this.challenging = h("div", { class: "controls", role: "group", "aria-label": playTexts.mayChallenge, hidden: true },
      button(playTexts.challenge, () => this.playing?.challenge()),
      button(playTexts.accept, () => this.playing?.accept()), this.time);
    this.game = h("div", { class: "game", hidden: true },
      h("div", { class: "play" }, this.sides, this.entry, this.past, this.challenging, this.next),
      h("div", { class: "told" }, this.acts,
        h("section", { class: "moves" }, h("h2", { class: "hidden" }, texts.moves), this.goesOn, this.moves, this.steps.element, this.stepKeys),
        this.unseen));
    this.entry.addEventListener("play", (event) => this.playing?.move(/** @type {CustomEvent} */ (event).detail.move));
    this.entry.addEventListener("placed", (event) => this.askForWords(/** @type {CustomEvent} */ (event).detail));
    this.onKey = this.onKey.bind(this);
  }

  connectedCallback() {
    this.replaceChildren(this.head, this.banner, this.status, this.said, this.alarm, this.unfinished, this.form, this.results, this.waiting, this.game);
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
    if (this.playing?.phase === "over") inWindow.set("game", null); // who comes again begins another
    this.playing = null;
    this.analysis.close();
  }

  async load() {
    clearTimeout(this.again);
    this.show();
    try {
      this.settings = await ask("api/play");
      const { analysis, ladder } = await about();
      this.analyses = analysis;
      this.form.standing = ladder ? await ask("api/ladder").catch(() => null) : null;
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
    this.form.from = inWindow.get("from");
    inWindow.set("from", null);
    const wish = inWindow.get("wish");
    if (wish || this.form.from) inWindow.set("game", null); // the last one, which is over
    this.form.open(this.settings, kept?.name ?? "", (choice) => this.chosen(choice));
    inWindow.set("wish", null);
    if (wish && (kept || !this.settings.token)) { // a game was begun elsewhere; who has no name yet is a guest
      this.chosen({ ...kept ?? { name: name ?? inBrowser.get("name") ?? guestName(), token: "" }, opponent: wish, table: null, casual: true });
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

  /** @param {Choice} choice */
  async chosen(choice) {
    const { name, token, opponent } = choice, table = choice.casual ? await this.casual(choice) : choice.table;
    if (!this.isConnected || choice.casual && !table) return;
    const { playing } = this, login = playing?.login;
    const isSame = login?.name === name && (login.token === token || !token) && playing?.phase !== "refused";
    (isSame && playing ? playing : this.login({ name, token })).seek(opponent, table);
  }

  /** The name of a table for a casual game; null: there is none, which is said. @param {Choice} choice */
  async casual(choice) {
    this.problem = "";
    return casualTable(choice).catch((/** @type {unknown} */ error) => {
      if (!(error instanceof Trouble)) throw error;
      this.problem = error.message;
      this.show();
      return null;
    });
  }

  /** A game like the one that is shown, against the same opponent. @returns {Choice} */
  get alike() {
    const { playing } = this, offer = playing?.game?.offer, { name = "", token = "" } = playing?.login ?? {};
    return { name, token, opponent: this.opponent || null, table: this.table?.name ?? null, casual: playing?.casual ?? false, clock: offer?.time.initial_ms ?? null };
  }

  get opponent() {
    const { playing } = this;
    return playing?.game?.offer.players[playing.seat ? 0 : 1] ?? "";
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const at = /** @type {Node} */ (event.target), isNowhere = at === document.body || at === this.parentElement || this.acts.contains(at), { game } = this.playing ?? {};
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && game && !this.game.hidden && (event.ctrlKey || event.metaKey || isNowhere && this.turn !== null)) {
      event.preventDefault();
      this.look((this.turn ?? game.last) + step);
    } else if (isNowhere && !this.game.hidden && this.turn === null) this.entry.press(event);
  }

  // --- the turns before ---

  /** Look at the game after a turn; null, or the last: at the present. @param {number | null} turn */
  look(turn) {
    const { playing } = this, game = playing?.game;
    if (!game) return;
    this.turn = turn === null || turn >= game.last ? null : Math.max(turn, 0);
    this.showPast();
    const play = game.plays[(this.turn ?? game.last) - 1];
    if (play) this.say(texts.announced(play.seq, game.offer.players[play.seat], game.moves[play.seq - 1] ?? "", play.score, play.scores));
  }

  showPast() {
    const { playing, turn } = this, game = playing?.game, isPast = turn !== null;
    if (!game) return;
    const hadFocus = this.past.contains(document.activeElement);
    this.past.hidden = !isPast;
    this.entry.hidden = isPast;
    if (isPast) this.pastBoard.show(game.equipment, game.position(turn));
    this.pastIs.textContent = isPast ? playTexts.past(turn, game.last) : "";
    this.steps.show(turn ?? game.last, game.last);
    this.steps.element.hidden = this.stepKeys.hidden = !game.last;
    this.moves.show(game, playing.id, turn ?? game.last);
    if (hadFocus && !isPast) this.entry.leaveTile();
  }

  // --- help in a casual game ---

  /** Give a hint; again: the move itself. */
  help() {
    const { playing } = this, game = playing?.game;
    if (!game || !this.mayAct()) return;
    if (this.hint && this.hint.steps.length > 1) {
      this.hint.steps.shift();
      this.entry.put(this.hint.best);
    } else if (!this.hint || this.hint.isOver) {
      this.hint = new Hint(this.analysis, game, seenAt(game, game.last, playing.seat, playing.rack), () => this.showHelp());
      noteGame(playing.id, { helped: true });
    }
    this.showHelp();
  }

  showHelp() {
    const { playing, hint } = this, isOn = Boolean(playing?.casual && playing.phase === "playing");
    if (hint && (!isOn || hint.turn !== playing?.game?.last)) this.hint = null;
    this.helping.hidden = !isOn || !this.analyses;
    this.takingBack.hidden = !isOn;
    for (const each of [this.helping, this.takingBack]) each.setAttribute("aria-disabled", String(!playing?.isOnTurn));
    const [sentence = "", more] = this.hint?.steps ?? [];
    this.helping.textContent = more ? playTexts.moreHint : playTexts.hint;
    this.entry.advise(sentence);
  }

  /** Take one's last move back, and the answer to it: another game goes on from the position before. */
  async takeBack() {
    const { playing } = this, game = playing?.game;
    if (!game || !this.mayAct()) return;
    const turn = beforeLast(game, playing.seat), rack = turn === null ? "" : playing.rackAt(turn);
    const table = turn === null || !rack ? null : await this.casual({ ...this.alike, position: seenAt(game, turn, playing.seat, rack) });
    if (turn === null || !rack) this.problem = turn === null ? playTexts.nothingBack : playTexts.unknownRack;
    else if (table && playing.isOnTurn) {
      this.origin = { game: playing.id, turn };
      noteGame(playing.id, { result: "left" });
      playing.leaveFor(this.opponent, table);
    }
    this.show();
  }

  /** Keep what becomes of the game. */
  note() {
    const { playing } = this, game = playing?.game;
    if (!playing || !game?.hasBegun) return;
    const { seat } = playing, scores = game.position(game.last).scores, over = game.over;
    const result = !over ? "" : over.winner !== null ? over.winner === seat ? "won" : "lost" : game.noWinner === texts.tie ? "tied" : "void";
    const noted = [playing.id, ...scores, game.last, result].join();
    if (noted === this.noted || ownGames().find((own) => own.game === playing.id)?.result === "left") return;
    this.noted = noted;
    const from = game.offer.opening && this.origin ? { from: this.origin } : {};
    this.origin = null;
    noteGame(playing.id, { name: playing.login.name, opponent: this.opponent, scores: seat ? [scores[1], scores[0]] : scores, result, ...from });
  }

  // --- what is said ---

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = sentence;
  }

  /** What a challenge came to. @param {import("./game.js").Played} play */
  ofChallenge({ challenge, move, seat, score }) {
    const { opponent: other } = this, own = this.playing?.seat === seat;
    if (challenge === "won") return own ? playTexts.yoursCameOff : playTexts.theirsCameOff;
    if (move === "-") return own ? playTexts.youLoseTurn : playTexts.theyLoseTurn(other);
    return own ? playTexts.yoursStands(other, score) : playTexts.theirsStands(other, score);
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

  /** Whether it is our turn, which is said if it isn't. */
  mayAct() {
    if (!this.playing?.isOnTurn) this.say(texts.notYourTurn);
    return this.playing?.isOnTurn ?? false;
  }

  // --- the page ---

  show() {
    const { playing } = this, phase = playing?.phase ?? "idle";
    const isGame = Boolean(playing?.game) && (phase === "playing" || phase === "over" || phase === "offered" || phase === "elsewhere" || phase === "connecting");
    this.game.hidden = !isGame;
    const isChoosing = !isGame && Boolean(this.settings) && (phase === "idle" || phase === "refused");
    if (isChoosing && (this.form.hidden || !this.results.firstChild)) {
      this.unfinished.replaceChildren(unfinished(({ game, name }) => {
        inWindow.set("game", game);
        this.login({ name, token: "" });
      }));
      this.results.replaceChildren(results());
    }
    this.form.hidden = this.unfinished.hidden = this.results.hidden = !isChoosing;
    this.waiting.hidden = phase !== "seeking";
    this.head.classList.toggle("hidden", isGame);
    this.showBanner();
    const sentence = this.statusText();
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
    this.status.hidden = !sentence && !isGame;
    document.title = playing?.isOnTurn ? playTexts.yourMoveTitle : `${this.heading} – ${texts.title}`;
    if (isGame) this.showGame();
    const at = document.activeElement;
    if (at && this.contains(at) && at.checkVisibility?.() === false) this.parentElement?.focus({ preventScroll: true }); // keys go to the board
  }

  showBanner() {
    const { playing } = this;
    if (!playing && !this.problem) return;
    const { phase, lostFor, sentence: told } = playing ?? { phase: "idle", lostFor: 0, sentence: "" };
    const isElsewhere = phase === "elsewhere", sentence = lostFor || SAID_ABOVE.has(phase) ? told : "";
    this.entry.warn(phase === "playing" && !lostFor ? told || this.problem : "");
    const text = [lostFor ? texts.lost(lostFor) : "", sentence, phase === "playing" ? "" : this.problem].filter(Boolean).join(" ");
    if (this.banner.getAttribute("data-text") === text) return;
    this.banner.setAttribute("data-text", text);
    this.banner.hidden = !text;
    keepingFocus(this.banner, () => this.banner.replaceChildren(text, " ",
      isElsewhere ? button(playTexts.playHere, () => playing?.takeOver()) : lostFor ? button(texts.tryNow, () => playing?.connection.connect()) : ""));
  }

  statusText() {
    const { playing } = this, game = playing?.game;
    if (!playing) return this.settings ? "" : texts.loading;
    if (playing.phase === "connecting") return texts.connecting;
    if (playing.phase === "seeking") return playing.sentence && !playing.lostFor ? playTexts.waitsFor(playing.sentence) : playTexts.waits;
    if (playing.phase === "offered") return texts.notBegun;
    if (playing.phase === "over" && game?.over) {
      const { winner, scores, outcome, message } = game.over, { seat } = playing;
      return texts.result(winner === null ? game.noWinner : winner === seat ? playTexts.youWin : playTexts.youLose,
        [scores[seat], scores[seat ? 0 : 1]], outcome === "resign" && winner !== seat ? playTexts.youResigned : texts.endedSo(outcome, message));
    }
    if (playing.phase !== "playing") return "";
    const last = game?.plays.at(-1), isRuling = last?.challenge === "won" || last?.challenge === "lost";
    const move = last && isRuling ? this.ofChallenge(last) : last && game && last.seat !== playing.seat ? playTexts.theirMove(game.offer.players[last.seat], game.moves.at(-1) ?? "", last.score) : "";
    const whose = playing.lostFor ? "" : playing.pending ? playTexts.sending : playing.isOnTurn ? playTexts.yourTurn
      : game?.onTurn === playing.seat ? texts.loading : playTexts.theirTurn;
    return [move, whose].filter(Boolean).join(" ");
  }

  showGame() {
    const { playing } = this, game = playing?.game;
    if (!playing || !game) return;
    const isOver = playing.phase === "over", position = game.position(game.last);
    this.note();
    const shown = [playing.id, game.last, game.bag, playing.rack, isOver].join();
    if (this.shown !== shown) {
      const [before, last] = this.shown.split(",");
      if (before !== playing.id || !this.sides.firstChild) this.sides.open(game.offer.players);
      else if (isOver !== this.shown.endsWith("true") || last !== String(game.last)) sound(isOver ? "over" : "move");
      this.shown = shown;
      this.turn = null; // what happens now is seen
      this.problem = "";
      unask(this.resigning);
      if (isOver) this.status.scrollIntoView({ block: "nearest" }); // on a phone the button that ended it is far below
      const rack = isOver ? "" : playing.rack;
      this.entry.show(game.equipment, { board: position.board, rack, fresh: position.fresh, turn: game.last,
        mostExchanged: game.mostExchanged, exchangesLeft: game.exchangesLeft(playing.seat) });
      this.askForWords(this.entry.placement); // what was laid may make other words now
      this.showOrigin();
      this.showPast();
      this.showUnseen();
    }
    this.showHelp();
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
    this.next.setAttribute("data-game", playing.id);
    this.next.replaceChildren(
      button(playTexts.playAgain, () => this.chosen(this.alike), "main"), " ",
      button(playTexts.otherOpponent, () => playing.leave()), " ",
      h("a", { href: gameHash(playing.id) }, playTexts.lookBack), " ", reviewLink(playing.id), this.checkedDraws(playing));
  }

  /** What is proven of the draws of the game that is over. @param {Playing} playing */
  checkedDraws({ game, seat, witness }) {
    const said = h("span", { class: "note", role: "status" });
    if (game?.over && game.hasBegun && game.over.outcome !== "host_error") checkDraws(witness, game, seat).then((finding) => {
      said.textContent = playTexts.draws[finding];
      said.classList.toggle("banner", WARNINGS.has(finding));
    });
    return said;
  }

  /** Say what the game goes on from. */
  showOrigin() {
    const { playing } = this, game = playing?.game;
    if (!game) return;
    const { from } = ownGames().find((own) => own.game === playing.id) ?? {};
    this.goesOn.replaceChildren(!game.offer.opening ? "" : from ? h("a", { href: gameHash(from.game, from.turn) }, playTexts.goesOnFrom(from.turn)) : playTexts.fromPosition);
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
    this.time.textContent = playTexts.timeToChallenge(Math.ceil(left / 1000));
    if (isLow === this.warned && isAsked !== this.challenging.hidden) return;
    if (isLow && !this.warned) sound("low");
    this.warned = isLow;
    this.challenging.hidden = !isAsked;
    this.entry.toggleAttribute("data-asked", isAsked); // one question at a time
    this.alarm.textContent = [isAsked ? playTexts.mayChallenge : "", isLow ? playTexts.lowTime : ""].filter(Boolean).join(" ");
  }
}

customElements.define("play-view", PlayView);
