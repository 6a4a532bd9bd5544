// Whether a game was dealt as both sides were bound to before its first draw (protocol/SPEC.md, section 8).

import { readMove, tilesOf, usedBy } from "./notation.js";

/** @import { Game } from "./game.js" */
/**
 * What a player was told of the draws of a game, from its first offer on: plain values, to be kept.
 * `other`: the commitment to the opponent's nonce as it was told first; `wasFirst`: before ours was shown;
 * `racks`: what we held after an event, by the event's number.
 * @typedef {{ game: string, nonce: string, commitment: string | null, other: string, wasFirst: boolean, isShown: boolean,
 *   hasChanged: boolean, racks: Record<number, string> }} Witness
 */
/** @typedef {"proven" | "partly" | "uncommitted" | "unseen" | "opening" | "challenges" | "insecure" | "closed" | "changed" | "secret" | "nonce" | "dealt"} Finding */

const LABEL = "tilewire draws 1", RANGE = 2 ** 32, SECRET_SIZE = 32;

/** Draws that the secret does not give. */
class Wrong extends Error {}

/** @param {any} offer the first of a game @param {string} nonce @returns {Witness} */
export const witnessOf = (offer, nonce) => ({
  game: offer.game, nonce, commitment: offer.commitment ?? null, other: "", wasFirst: false, isShown: false, hasChanged: false, racks: {},
});

/** Hear an offer, or that both nonces are fixed. @param {Witness} witness @param {any} message @param {0 | 1} seat ours */
export const hear = (witness, { commitment, commitments, rack, seq }, seat) => {
  if (commitment !== undefined && (commitment ?? null) !== witness.commitment) witness.hasChanged = true;
  if (seq && typeof rack === "string") witness.racks[seq - 1] = rack;
  const other = seq ? "" : commitments?.[1 - seat] ?? "";
  if (!other || other === witness.other) return;
  if (witness.other) witness.hasChanged = true;
  else Object.assign(witness, { other, wasFirst: !witness.isShown });
};

/** What is proven of a game that is over. @param {Witness | null} witness @param {Game} game @param {0 | 1} seat @returns {Promise<Finding>} */
export const checkDraws = async (witness, game, seat) => {
  const { secret, nonces } = /** @type {any} */ (game.over);
  if (!game.offer.commitment) return "uncommitted";
  if (game.offer.opening) return "opening";
  if (!witness) return "unseen";
  if (game.offer.rules.challenge !== "void") return "challenges";
  if (!globalThis.crypto.subtle) return "insecure";
  if (!secret || !nonces) return "closed";
  if (witness.hasChanged) return "changed";
  if (bytes(secret).length !== SECRET_SIZE || await sha256(secret) !== witness.commitment) return "secret";
  if (nonces[seat] !== witness.nonce || witness.other && await sha256(nonces[1 - seat]) !== witness.other) return "nonce";
  try {
    await redraw(game, witness.racks, seat, await Numbers.of(secret, nonces));
  } catch (error) {
    if (error instanceof Wrong) return "dealt";
    throw error;
  }
  return witness.wasFirst ? "proven" : "partly";
};

/** Draw all tiles again, and compare. @param {Game} game @param {Record<number, string>} told our racks @param {0 | 1} seat @param {Numbers} numbers */
const redraw = async (game, told, seat, numbers) => {
  const { moves, racks: last, mirrored } = /** @type {any} */ (game.over);
  const kinds = game.told.tiles.map(({ tile }) => tile), columns = game.layout.columns;
  const bag = await numbers.shuffled(game.told.tiles.flatMap(({ tile, count }) => /** @type {string[]} */ (Array(count).fill(tile))));
  const size = game.offer.rules.rack_size, racks = [bag.splice(0, size), bag.splice(0, size)];
  const sorted = (/** @type {string[]} */ tiles) => [...tiles].sort((one, other) => kinds.indexOf(one) - kinds.indexOf(other));
  const compare = (/** @type {string[] | undefined} */ held, /** @type {string | undefined} */ shown) => {
    if (shown !== undefined && sorted(held ?? []).join() !== sorted(tilesOf(shown)).join()) throw new Wrong();
  };
  if (mirrored || moves.length !== game.last) throw new Wrong();
  compare(racks[seat], told[0]);
  for (const [index, text] of moves.entries()) {
    const rack = racks[index % 2] ?? [], move = opened(text, columns), shown = game.plays[index]?.move;
    const used = usedBy(move), isExchange = move.kind === "exchange";
    if (isExchange && move.count !== used.length || shown !== text && !(isExchange && shown === `-${used.length}`)) throw new Wrong();
    for (const tile of used) if (!take(rack, tile)) throw new Wrong();
    rack.push(...bag.splice(0, used.length));
    for (const tile of isExchange ? sorted(used) : []) bag.splice(await numbers.below(bag.length + 1), 0, tile);
    compare(racks[seat], told[index + 1]);
  }
  racks.forEach((rack, each) => compare(rack, last[each]));
};

/** @param {string} text a move as the end of the game tells it @param {number} columns */
const opened = (text, columns) => {
  try {
    return readMove(text, columns);
  } catch {
    throw new Wrong();
  }
};

/** @param {string[]} rack @param {string} tile */
const take = (rack, tile) => rack.includes(tile) && rack.splice(rack.indexOf(tile), 1);

/** The random numbers of a game, one after another. */
class Numbers {
  /** @param {CryptoKey} key */
  constructor(key) {
    this.key = key;
    this.blocks = 0;
    /** @type {number[]} */
    this.next = [];
  }

  /** @param {string} secret @param {[string, string]} nonces */
  static async of(secret, nonces) {
    const digests = await Promise.all(nonces.map(sha256));
    return new Numbers(await keyOf(await sign(await keyOf(bytes(secret)), [...new TextEncoder().encode(LABEL), ...digests.flatMap((each) => [...bytes(each)])])));
  }

  /** @param {number} count */
  async below(count) {
    const fair = Math.floor(RANGE / count) * count;
    for (;;) {
      if (!this.next.length) await this.more();
      const number = this.next.shift() ?? 0;
      if (number < fair) return number % count;
    }
  }

  async more() {
    const index = new DataView(new ArrayBuffer(8));
    index.setBigUint64(0, BigInt(this.blocks++));
    const block = new DataView((await sign(this.key, [...new Uint8Array(index.buffer)])).buffer);
    for (let at = 0; at < block.byteLength; at += 4) this.next.push(block.getUint32(at));
  }

  /** @param {string[]} tiles */
  async shuffled(tiles) {
    for (let last = tiles.length - 1; last > 0; last -= 1) {
      const other = await this.below(last + 1);
      [tiles[last], tiles[other]] = /** @type {[string, string]} */ ([tiles[other], tiles[last]]);
    }
    return tiles;
  }
}

/** @param {Uint8Array<ArrayBuffer>} secret */
const keyOf = (secret) => crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

/** @param {CryptoKey} key @param {number[]} data */
const sign = async (key, data) => new Uint8Array(await crypto.subtle.sign("HMAC", key, Uint8Array.from(data)));

/** @param {string} text in hexadecimal digits */
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {Uint8Array} data */
export const hex = (data) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The SHA-256 of bytes in hexadecimal digits. @param {string} text */
export const sha256 = async (text) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(text))));
