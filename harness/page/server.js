// The server: JSON that is asked for, a conversation over a WebSocket, and a game that is followed in one.

import { texts } from "./texts.js";

const WAITS_S = [1, 1, 2, 4, 8, 15];
const PING_MS = 10000, PATIENCE_MS = 30000;

/** When to ask again after no answer, and for what changes. */
export const AGAIN_MS = 5000;

/** What the server could not tell, as a sentence. */
export class Trouble extends Error {
  /** @param {string} sentence @param {number} status 0: it did not answer */
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** Why the server refuses or waits, in the language of the page: loaded only then. @param {string | number} code @param {string} sentence */
export const whyOf = async (code, sentence) => {
  const said = await import("./server_texts.js").catch(() => null);
  return said ? said.serverTexts.why(code, sentence) : sentence;
};

/** @param {string} path @param {RequestInit} [how] @param {"json" | "text"} [read] what an answer is; an error is JSON @returns {Promise<any>} */
export const ask = async (path, how = { headers: { Accept: "application/json" } }, read = "json") => {
  let answer, told;
  try {
    answer = await fetch(path, { ...how, signal: AbortSignal.timeout?.(PATIENCE_MS) }); // a network that is gone says nothing
    told = await answer[answer.ok ? read : "json"]();
  } catch {
    throw new Trouble(texts.unreachable, 0);
  }
  if (answer.status === 401 && !how.method) dispatchEvent(new Event("locked"));
  if (!answer.ok) throw new Trouble(texts.refused(await whyOf(answer.status, String(told.error ?? answer.status))), answer.status);
  return told;
};

/** Where a game's page is, after a turn of it if one is given. @param {string} id @param {number | null} [turn] */
export const gameHash = (id, turn = null) => `#/game/${encodeURIComponent(id)}${turn === null ? "" : `/${turn}`}`;

/** Where a game's review is, at a line of its score sheet if one is given. @param {string} id @param {number | null} [line] */
export const reviewHash = (id, line = null) => `#/review/${encodeURIComponent(id)}${line === null ? "" : `/${line}`}`;

/** Where a game's score sheet is to be had. @param {string} id */
export const gcgPath = (id) => `api/games/${encodeURIComponent(id)}.gcg`;

/** Ask for all of a game. @param {string} id @returns {Promise<any>} */
export const askGame = (id) => ask(`api/games/${encodeURIComponent(id)}`);

/** @type {Promise<{ tournament: boolean, ladder: boolean, own: { live: boolean, why: string } | null, analysis: boolean, study?: boolean }> | null} */
let told = null;

/** What this server has and does; asked once. */
export const about = () => {
  told ??= ask("api/games");
  told.catch(() => { told = null; });
  return told;
};

/** Have this browser let in by a code of the terminal. @param {string} code */
export const enter = (code) => ask("api/enter", { method: "POST", headers: { "X-Tilewire-Code": encodeURIComponent(code) } });

/** The address of a conversation with this server. */
export const socketUrl = () => {
  const url = new URL("./", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = url.search = "";
  return url;
};

/**
 * Notices that a network is gone. It says nothing, not to a new connection either; so ask, and take silence for an
 * end. Only what was asked can be silence: in a window out of sight `look` may be called once a minute.
 */
export class Pulse {
  /** @param {() => void} ask send something that is answered @param {() => void} gone */
  constructor(ask, gone) {
    this.ask = ask;
    this.gone = gone;
    this.heard = this.asked = this.timer = 0;
  }

  /** Watch a connection that begins. */
  start() {
    this.stop();
    this.hear();
    this.asked = 0;
    this.timer = setInterval(() => this.look(), PING_MS);
  }

  /** Something came; return when. */
  hear() {
    return (this.heard = performance.now());
  }

  look() {
    const now = performance.now();
    if (this.asked > this.heard && now - this.heard > 2 * PING_MS) return this.gone();
    this.asked = now;
    this.ask();
  }

  stop() {
    clearInterval(this.timer);
  }
}

/**
 * What happens to a connection: `welcome` when the server has let us in; any other message, with its time of
 * arrival; `lost` with the seconds to the next try.
 * @typedef {{ welcome: (message: any) => void, message: (message: any, at: number) => void, lost: (seconds: number) => void }} Hearer
 */

/** A conversation with the server until it is stopped, over as many connections as it takes. */
export class Connection {
  /** @param {object} hello what to say of oneself @param {Hearer} hearer */
  constructor(hello, hearer) {
    this.hello = hello;
    this.hearer = hearer;
    this.tries = 0;
    this.stopped = false;
    this.timer = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.pulse = new Pulse(() => this.say({ type: "ping", id: 1 }), () => this.again());
    this.connect();
  }

  connect() {
    this.drop();
    this.stopped = false;
    const socket = new WebSocket(socketUrl(), "tilewire.v1.json");
    this.socket = socket;
    this.pulse.start();
    socket.onopen = () => this.say({ type: "hello", ...this.hello });
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = () => this.again();
  }

  /** @param {object} message */
  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** @param {any} message */
  hear(message) {
    const at = this.pulse.hear();
    if (message.type === "ping") this.say({ type: "pong", id: message.id });
    else if (message.type === "welcome") this.hearer.welcome(message);
    else if (message.type !== "pong") this.hearer.message(message, at);
  }

  /** The connection serves: after the next loss the first try comes soon. */
  serves() {
    this.tries = 0;
  }

  again() {
    this.drop();
    if (this.stopped) return;
    const seconds = WAITS_S[Math.min(this.tries, WAITS_S.length - 1)] ?? 1;
    this.tries += 1;
    this.hearer.lost(seconds);
    this.timer = setTimeout(() => this.connect(), 1000 * seconds);
  }

  drop() {
    clearTimeout(this.timer);
    this.pulse.stop();
    if (!this.socket) return;
    this.socket.onclose = this.socket.onmessage = this.socket.onopen = null;
    this.socket.close();
    this.socket = null;
  }

  /** Say no more, until `connect`. */
  stop() {
    this.stopped = true;
    this.drop();
  }
}

/**
 * What happens to a game that is followed: its messages; `lost` as above; `joined` when it is followed (again).
 * @typedef {{ message: (message: any, at: number) => void, lost: (seconds: number) => void, joined: () => void }} Follower
 */

/** Follows a game until its connection is stopped. */
export class Following {
  /** @param {string} game @param {Follower} follower */
  constructor(game, follower) {
    this.game = game;
    this.follower = follower;
    this.connection = new Connection({ role: "spectator", name: "page" }, {
      welcome: () => this.watch(),
      message: (message, at) => this.hear(message, at),
      lost: follower.lost,
    });
  }

  /** @param {any} message @param {number} at */
  hear(message, at) {
    if (message.type !== "error" && message.game !== this.game) return;
    if (message.type === "new_game") {
      this.connection.serves();
      this.follower.joined();
    }
    this.follower.message(message, at);
  }

  /** Ask for the game, all of it. */
  watch() {
    this.connection.say({ type: "watch", game: this.game });
  }
}
