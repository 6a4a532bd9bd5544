// Analysis by the server: requests over a WebSocket of their own, as docs/api.md has them.

import { ask, gcgPath, Pulse, socketUrl } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { texts } from "./texts.js";

/** @typedef {(message: any) => void} Hear Takes the answers to a request, up to `done` or `error`. */
/** @typedef {{ line?: number, move?: string, moves?: string[], seconds?: number, belief?: boolean }} Wish What to analyse; without a line every turn. */

const SUBPROTOCOL = "tilewire.analysis.v1";

export class Analysis {
  /** @type {WebSocket | null} */
  socket = null;
  last = 0;
  /** @type {Map<number, Hear>} */
  hearers = new Map();
  pulse = new Pulse(() => this.say({ type: "ping" }), () => this.lost());

  /** Have a game analysed; return the number of the request. @param {string} data a GCG or a CGP in base64 @param {Wish} wish @param {Hear} hear */
  ask(data, wish, hear) {
    return this.request({ type: "analyse", data, ...wish }, hear);
  }

  /** Ask anything; return the number of the request. @param {object} message @param {Hear} hear */
  request(message, hear) {
    const id = ++this.last;
    if (!this.hearers.size) this.pulse.start();
    this.hearers.set(id, hear);
    this.say({ ...message, id });
    return id;
  }

  /** Ask what has one answer, which may be an `error`. @param {object} message @returns {Promise<any>} */
  one(message) {
    return new Promise((resolve) => this.request(message, (answer) => { if (answer.type !== "waiting") resolve(answer); }));
  }

  /** End a request; `done` follows. @param {number} id */
  cancel(id) {
    if (this.hearers.has(id)) this.say({ type: "cancel", id });
  }

  /** @param {object} message */
  say(message) {
    const text = JSON.stringify(message), socket = this.socket ?? this.connect();
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else socket.addEventListener("open", () => socket.send(text));
  }

  connect() {
    const socket = new WebSocket(socketUrl(), SUBPROTOCOL);
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = () => this.lost();
    this.socket = socket;
    return socket;
  }

  /** @param {any} message */
  hear(message) {
    this.pulse.hear();
    if (message.type === "pong") return;
    if (message.id === null) return this.fail(message); // about the connection
    const hear = this.hearers.get(message.id);
    if (message.type === "done" || message.type === "error") this.hearers.delete(message.id);
    if (!this.hearers.size) this.pulse.stop();
    hear?.(message);
  }

  lost() {
    this.fail({ type: "error", code: "lost", message: texts.analysisLost });
  }

  /** End all requests. @param {{ type: "error", code: string, message: string }} message */
  fail(message) {
    const hearers = [...this.hearers.values()];
    this.close();
    for (const hear of hearers) hear(message);
  }

  close() {
    this.pulse.stop();
    this.hearers.clear();
    if (this.socket) this.socket.onclose = this.socket.onmessage = null;
    this.socket?.close();
    this.socket = null;
  }
}

/** What an `error` says, as a sentence. @param {{ code: string, message: string }} error */
export const sentenceOf = ({ code, message }) => (code === "lost" ? message : texts.refused(serverTexts.why(code, message)));

/** Return a game of the server as GCG, in base64. @param {string} game */
export const gcgOf = async (game) => inBase64(new TextEncoder().encode(await ask(gcgPath(game), {}, "text")));

/** Bytes that say which encoding they are in: a GCG without that is taken for Latin 1. @param {string} text */
export const inUtf8 = (text) => new TextEncoder().encode(`\ufeff${text}`);

/** The text that was given; empty: it was none. @param {string} data in base64 */
export const textIn = (data) => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(data), (byte) => byte.charCodeAt(0)));
  } catch {
    return "";
  }
};

/** @param {Uint8Array} bytes */
export const inBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** A text as the server is given one, in base64. @param {string} text */
export const dataOf = (text) => inBase64(inUtf8(text));
