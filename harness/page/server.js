// The server: JSON that is asked for, and a game that is followed over a WebSocket.

import { texts } from "./texts.js";

const WAITS_S = [1, 1, 2, 4, 8, 15];
const PING_MS = 10000;

/** What the server could not tell, as a sentence. */
export class Trouble extends Error {
  /** @param {string} sentence @param {number} status 0: it did not answer */
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

/** @param {string} path @returns {Promise<any>} */
export const ask = async (path) => {
  let answer, told;
  try {
    answer = await fetch(path, { headers: { Accept: "application/json" } });
    told = await answer.json();
  } catch {
    throw new Trouble(texts.unreachable, 0);
  }
  if (answer.status === 401) dispatchEvent(new Event("locked"));
  if (!answer.ok) throw new Trouble(texts.refused(String(told.error ?? answer.status)), answer.status);
  return told;
};

/** Have this browser let in by a code of the terminal. @param {string} code */
export const enter = async (code) => {
  let answer, told;
  try {
    answer = await fetch("api/enter", { method: "POST", headers: { "X-Tilewire-Code": encodeURIComponent(code) } });
    told = await answer.json();
  } catch {
    throw new Trouble(texts.unreachable, 0);
  }
  if (!answer.ok) throw new Trouble(texts.refused(String(told.error ?? answer.status)), answer.status);
};

/**
 * What happens to a connection: messages of the game, with their time of arrival; `lost` with the
 * seconds to the next try; `joined` when the game is being followed (again).
 * @typedef {{ message: (message: any, at: number) => void, lost: (seconds: number) => void, joined: () => void }} Hearer
 */

/** Follows a game until it is stopped, over as many connections as it takes. */
export class Following {
  /** @param {string} game @param {Hearer} hearer */
  constructor(game, hearer) {
    this.game = game;
    this.hearer = hearer;
    this.tries = 0;
    this.stopped = false;
    this.timer = 0;
    this.heard = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.pings = setInterval(() => this.ping(), PING_MS);
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    this.drop();
    const url = new URL("./", location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = url.search = "";
    const socket = new WebSocket(url, "tilewire.v1.json");
    this.socket = socket;
    this.heard = performance.now();
    socket.onopen = () => this.say({ type: "hello", role: "spectator", name: "page" });
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = () => this.again();
  }

  /** @param {object} message */
  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** @param {any} message */
  hear(message) {
    this.heard = performance.now();
    if (message.type === "ping") this.say({ type: "pong", id: message.id });
    else if (message.type === "welcome") this.watch();
    else if (message.type === "error" || message.game === this.game) {
      if (message.type === "new_game") {
        this.tries = 0;
        this.hearer.joined();
      }
      this.hearer.message(message, this.heard);
    }
  }

  /** Ask for the game, all of it. */
  watch() {
    this.say({ type: "watch", game: this.game });
  }

  /** A network that is gone says nothing; so ask, and take silence for an end. */
  ping() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (performance.now() - this.heard > 2 * PING_MS) this.again();
    else this.say({ type: "ping", id: 1 });
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
    if (!this.socket) return;
    this.socket.onclose = this.socket.onmessage = this.socket.onopen = null;
    this.socket.close();
    this.socket = null;
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    clearInterval(this.pings);
    this.drop();
  }
}
