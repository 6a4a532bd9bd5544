// A person's side of games: the conversation of a player (protocol/SPEC.md), over as many connections as it takes.

import { hear, hex, sha256, witnessOf } from "./draws.js";
import { Game } from "./game.js";
import { inBrowser, inWindow } from "./kept.js";
import { playTexts } from "./play_texts.js";
import { Connection, Trouble, askGame } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { texts } from "./texts.js";

/** @typedef {{ name: string, token: string }} Login An empty token: none. */
/** @typedef {"connecting" | "idle" | "seeking" | "offered" | "playing" | "over" | "elsewhere" | "refused"} Phase */
/** @typedef {{ game: string, seq: number, attempt: number, move: string }} Answer */
/**
 * `changed`: what is shown may be different now; `said`: a sentence for the person.
 * @typedef {{ changed: () => void, said: (sentence: string) => void }} Listener
 */

const NONCE_BYTES = 32;

/** Why a challenge is refused, and not a move. */
const CHALLENGE_REFUSED = new Set(["too_late", "no_challenge", "not_its_word"]);

export class Playing {
  /** @param {Login} login @param {Listener} listener */
  constructor(login, listener) {
    this.login = login;
    this.listener = listener;
    /** @type {Phase} */
    this.phase = "connecting";
    /** @type {string | null | undefined} Whom to seek once it is possible; null: anyone; undefined: nobody. */
    this.wish = undefined;
    /** @type {string | null} The table that is sought; null: the server's first. */
    this.table = null;
    /** @type {{ opponent: string, table: string } | null} The game to seek once this one, which is given up, is over. */
    this.next = null;
    /** @type {Game | null} */
    this.game = null;
    /** Whether help is allowed. */
    this.casual = false;
    this.id = inWindow.get("game") ?? "";
    /** @type {0 | 1} */
    this.seat = 0;
    this.rack = "";
    /** @type {{ seq: number, attempt: number } | null} The turn that we are asked for. */
    this.turn = null;
    /** How long until it was lost on time, as the server last said. */
    this.deadline = 0;
    /** Until when the last play may be challenged, on the clock of `performance.now`; 0: it can't be. */
    this.challengeUntil = 0;
    /** What the server said last that concerns the person: why it refused, whom it waits for. */
    this.sentence = "";
    /** Seconds to the next try; 0: connected. */
    this.lostFor = 0;
    /** @type {import("./draws.js").Witness | null} What we were told of the draws; null: the game began elsewhere. */
    this.witness = this.kept;
    /** @type {Promise<void>} Messages are taken one after another. */
    this.queue = Promise.resolve();
    const { name, token } = login;
    this.connection = new Connection({ role: "player", name, ...(token ? { token } : { secret: this.secret }), software: "page" }, {
      welcome: (message) => this.hear(message, performance.now()),
      message: (message, at) => this.hear(message, at),
      lost: (seconds) => this.lost(seconds),
    });
  }

  // --- what the person does ---

  /** Seek a game, now or once connected. @param {string | null} opponent null: anyone @param {string | null} [table] */
  seek(opponent, table = this.table) {
    this.wish = opponent;
    this.table = table;
    this.sentence = "";
    if (this.phase === "over") this.forget();
    if (this.phase !== "connecting") this.idle();
    this.listener.changed();
  }

  /** @param {string} move */
  move(move) {
    if (!this.turn || this.pending) return;
    /** @type {Answer} */
    const answer = { game: this.id, ...this.turn, move };
    inWindow.set("answer", answer);
    this.sentence = "";
    this.connection.say({ type: "move", ...answer });
    this.listener.changed();
  }

  /** Challenge the opponent's last play, in place of a move. */
  challenge() {
    if (!this.turn || this.pending) return;
    this.connection.say({ type: "challenge", game: this.id, ...this.turn });
    this.turn = null; // what comes of it is told, and the turn asked again
    this.challengeUntil = 0;
    this.listener.changed();
  }

  /** Accept the opponent's last play before the time to challenge it is over. */
  accept() {
    if (this.turn) this.connection.say({ type: "accept", game: this.id, seq: this.turn.seq });
    this.challengeUntil = 0;
    this.listener.changed();
  }

  /** Milliseconds in which the last play may still be challenged. @param {number} now */
  challengeLeft(now) {
    return this.isOnTurn ? Math.max(0, this.challengeUntil - now) : 0;
  }

  resign() {
    if (this.turn) this.connection.say({ type: "resign", game: this.id, seq: this.turn.seq });
  }

  /** Give the game up for another. @param {string} opponent @param {string} table */
  leaveFor(opponent, table) {
    if (!this.isOnTurn) return;
    this.next = { opponent, table };
    this.resign();
  }

  /** What we held after a turn, as far as this browser saw it. @param {number} turn */
  rackAt(turn) {
    const racks = this.witness?.racks ?? {};
    return racks[Math.max(...Object.keys(racks).map(Number).filter((seq) => seq <= turn))];
  }

  /** Log in again, and so take the player over from another window. */
  takeOver() {
    this.phase = "connecting";
    this.sentence = "";
    this.connection.connect();
    this.listener.changed();
  }

  /** The move that was sent in this turn and not answered yet. @returns {Answer | null} */
  get pending() {
    /** @type {Answer | null} */
    const answer = inWindow.get("answer"), { turn } = this;
    return answer && turn && answer.game === this.id && answer.seq === turn.seq && answer.attempt === turn.attempt ? answer : null;
  }

  /** Whether a move can be made now. */
  get isOnTurn() {
    return this.phase === "playing" && this.turn !== null && !this.pending && !this.lostFor;
  }

  // --- what the server says ---

  /** @param {number} seconds */
  lost(seconds) {
    this.lostFor = seconds;
    this.turn = null; // it is asked again
    this.listener.changed();
  }

  /** @param {any} message @param {number} at */
  hear(message, at) {
    const { socket } = this.connection;
    this.queue = this.queue.then(async () => {
      if (socket !== this.connection.socket) return; // from before the connection was lost: all is told again
      await this.take(message, at);
      this.listener.changed();
    }).catch((error) => this.failed(error, socket));
  }

  /** @param {unknown} error @param {WebSocket | null} socket over which the message came */
  failed(error, socket) {
    if (!(error instanceof Trouble)) reportError(error); // a mistake here; what comes next is taken all the same
    if (socket === this.connection.socket) this.connection.again(); // the server did not answer, or no longer has the game
  }

  /** @param {any} message @param {number} at @returns {Promise<void> | void} */
  take(message, at) {
    if (message.type === "welcome") return this.welcomed(message);
    if (message.type === "error") return this.refused(message);
    if (message.type === "goodbye") return this.dismissed(message);
    if (message.type === "seeking") {
      this.phase = "seeking";
      this.sentence = message.held_back ? serverTexts.why("held_back", message.held_back) : message.absent ? serverTexts.why("absent", message.absent) : "";
    } else if (message.type === "new_game") return this.offered(message, at);
    else if (message.game === this.id) return this.inGame(message, at);
  }

  /** By which a name without a token comes back: kept by this browser, so that any window of it may. @returns {string} */
  get secret() {
    return inBrowser.get(`secret ${this.login.name}`) ?? "";
  }

  /** @param {{ games: string[], secret?: string }} welcome */
  async welcomed({ games, secret }) {
    if (secret) {
      inBrowser.set(`secret ${this.login.name}`, secret);
      this.connection.hello = { ...this.connection.hello, secret };
    }
    this.lostFor = 0;
    this.sentence = ""; // what was said before, also of why we were not let in
    inWindow.set("login", this.login);
    inBrowser.set("name", this.login.name);
    const [first] = games;
    if (first !== undefined) this.resume(games.includes(this.id) ? this.id : first);
    else if (this.id) await this.lookAtEnd();
    else this.idle();
    if (first === undefined) this.connection.serves(); // else once that game is here
  }

  idle() {
    this.phase = "idle";
    if (this.wish === undefined) return;
    this.phase = "seeking";
    this.connection.say({ type: "seek", opponent: this.wish, table: this.table });
  }

  /** Ask for a game, all of it. @param {string} id */
  resume(id) {
    if (id !== this.id) this.game = null;
    this.id = id;
    this.connection.say({ type: "resume", game: id });
  }

  /** The game that was on is over, unless the server no longer knows it. */
  async lookAtEnd() {
    try {
      const told = await askGame(this.id);
      if (!told.over) throw new Trouble(texts.unreachable, 0);
      const at = performance.now(), { game } = this;
      this.game = new Game(told, at);
      this.casual = told.casual;
      this.seat = told.offer.players[1] === this.login.name ? 1 : 0;
      if (this.witness?.game !== this.id) this.witness = null; // that is of a game in another window
      this.end();
      if (!game) this.listener.said(texts.endedSo(told.over.outcome, told.over.message));
    } catch (error) {
      if (!(error instanceof Trouble) || error.status !== 404) throw error;
      this.forget();
      this.sentence = playTexts.gameIsGone;
      this.idle();
    }
  }

  forget() {
    inWindow.set("game", null);
    inWindow.set("answer", null);
    this.witness = this.kept = null;
    this.id = "";
    this.game = null;
    this.turn = null;
  }

  end() {
    const { next } = this;
    this.phase = "over";
    this.turn = this.next = null;
    inWindow.set("answer", null);
    if (next) this.seek(next.opponent, next.table);
  }

  /** Leave a game that is over, or seek no more. */
  leave() {
    if (this.phase === "seeking") this.connection.connect(); // a seek is forgotten with its connection
    this.wish = undefined;
    this.sentence = "";
    this.forget();
    this.idle();
    this.listener.changed();
  }

  /** @param {any} message @param {number} at */
  async offered(message, at) {
    const isNew = message.game !== this.id;
    if (!this.game || isNew) {
      const { board, tiles, casual } = await askGame(message.game);
      this.casual = casual;
      this.game = new Game({ begun: null, offer: message, over: null, turns: null, board, tiles }, at);
    } else this.game.offered(message, at);
    this.id = message.game;
    this.seat = message.you;
    this.rack = message.rack ?? "";
    this.turn = null;
    this.wish = undefined;
    if (isNew) this.sentence = "";
    this.witnessed(message);
    this.phase = message.seq ? "playing" : "offered";
    inWindow.set("game", this.id);
    this.connection.say({ type: "ready", game: this.id, ...await this.part(message) });
    this.connection.serves();
  }

  /** Our part in the order of the bag: the nonce, or its commitment while the other may still choose. @param {any} offer */
  async part({ commitments, you, seq }) {
    const { witness } = this;
    if (seq || !witness) return {}; // the tiles are dealt
    if (!commitments || commitments[1 - you] || !globalThis.crypto.subtle) return { nonce: this.nonce(witness) };
    return { commitment: await sha256(witness.nonce) };
  }

  /** Our nonce, which is shown now. @param {import("./draws.js").Witness} witness */
  nonce(witness) {
    witness.isShown = true;
    this.kept = witness;
    return witness.nonce;
  }

  /** What was told of the draws, as this browser keeps it: by name, for two may play each other in two windows. */
  get kept() {
    return inBrowser.get(`draws ${this.login.name}`);
  }

  /** @param {import("./draws.js").Witness | null} witness */
  set kept(witness) {
    inBrowser.set(`draws ${this.login.name}`, witness);
  }

  /** Keep what an offer says of the draws; the nonce is the same as long as the game lasts, in whichever window. @param {any} offer */
  witnessed(offer) {
    const { kept } = this, isKept = kept?.game === this.id;
    this.witness = isKept ? kept : offer.seq ? null : witnessOf(offer, hex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))));
    if (!this.witness) return;
    hear(this.witness, offer, this.seat);
    this.kept = this.witness;
  }

  /** Keep what we hold after an event. @param {number} seq the event's number @param {string | undefined} rack */
  holds(seq, rack) {
    if (rack === undefined) return;
    this.rack = rack;
    if (!this.witness) return;
    this.witness.racks[seq] = rack;
    this.kept = this.witness;
  }

  /** @param {any} message @param {number} at @returns {Promise<void> | void} */
  inGame(message, at) {
    const { game } = this;
    if (!game) return message.type === "game_over" ? this.lookAtEnd() : undefined; // it ended before it was told again
    if (message.type === "committed") {
      if (!this.witness) return;
      hear(this.witness, message, this.seat);
      this.connection.say({ type: "reveal", game: this.id, nonce: this.nonce(this.witness) });
    } else if (message.type === "your_turn") this.onTurn(message, at);
    else if (message.type === "refused") {
      this.charged(message.deadline_ms, at);
      this.turn = { seq: message.seq, attempt: message.attempt + 1 };
      const isOfChallenge = CHALLENGE_REFUSED.has(message.code);
      if (isOfChallenge) this.challengeUntil = 0;
      this.sentence = (isOfChallenge ? playTexts.challengeRefused : playTexts.moveRefused)(serverTexts.why(message.code, message.message), message.attempts_left);
    } else if (game.take(message, at)) this.resume(this.id);
    else if (message.type === "started") {
      this.holds(0, message.rack);
      this.phase = "playing";
    } else if (message.type === "played") {
      if (message.seat === this.seat) this.holds(message.seq, message.rack);
      this.turn = null;
      this.challengeUntil = 0;
      this.sentence = "";
    } else if (message.type === "drawn") this.rack = message.rack;
    else if (message.type === "game_over") this.end();
  }

  /** @param {any} message @param {number} at */
  onTurn({ seq, attempt = 1, rack, bag, clocks, challenge_ms = 0, deadline_ms }, at) {
    this.turn = { seq, attempt };
    this.deadline = deadline_ms;
    this.challengeUntil = challenge_ms && at + challenge_ms;
    this.rack = rack;
    this.phase = "playing";
    if (this.game) {
      this.game.bag = bag;
      this.game.clocks = clocks;
      this.game.at = at;
    }
    const { pending } = this; // sent before the connection was lost, and maybe never taken
    if (pending) this.connection.say({ type: "move", ...pending });
  }

  /** Charge our clock with what the server says of the turn so far: not while it writes a refusal down. @param {number} deadline_ms @param {number} at */
  charged(deadline_ms, at) {
    const { game } = this;
    if (!game) return;
    game.clocks[this.seat] -= this.deadline - deadline_ms;
    game.at = at;
    this.deadline = deadline_ms;
  }

  /** @param {any} message @returns {Promise<void> | void} */
  refused(message) {
    const sentence = texts.refused(serverTexts.why(message.code, String(message.message)));
    const isOfLogin = this.phase === "connecting" && !message.game && message.retry !== "later"; // a name that can be none, say
    if (message.code === "forbidden" || message.code === "banned" || isOfLogin) {
      this.phase = "refused";
      this.sentence = sentence;
      inWindow.set("login", null);
      inWindow.set("game", null); // who comes by this name again is told of its games
      this.connection.stop();
    } else if (message.game && message.game === this.id && this.phase !== "over") {
      if (message.code === "unknown_game") return this.lookAtEnd();
      this.resume(this.id);
    } else {
      this.sentence = sentence;
      if (this.phase === "connecting" || this.lostFor) return; // what is wished for is asked once we are let in
      this.wish = undefined;
      if (this.phase === "seeking") this.phase = "idle";
    }
  }

  /** @param {any} message */
  dismissed({ code, message }) {
    if (code !== "replaced" && code !== "kicked") return; // the server goes down, and comes back
    this.phase = "elsewhere";
    this.sentence = code === "replaced" ? playTexts.playsElsewhere : texts.refused(serverTexts.why(code, String(message)));
    this.connection.stop();
  }
}
