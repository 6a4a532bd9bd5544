// A study as text: a GCG whose main line any program reads, and a link that holds a position.
//
// What a GCG has no line for stands in its notes, each line behind a tilde, and is read back from there:
//
//   #note ~study 1 game 0               the version; a game or a study; the seat that begins; rules, if they were chosen
//   >ann: ADEORSW 8D WORDS +26 26
//   #note Keeps AE.                     a note; a line of one's own that begins with a tilde has a backslash before it
//   #note ~clock 24:10                  the clock after the move
//   #note ~1 ann: 8D SWORD +28 AE       another move in its place, its score, and what is held then
//   #note ~" Longer.                    the note on that
//   #note ~2 bob: 9C IT +7              the move after it, and so on

import { inBase64, textIn } from "./analysis.js";
import { leaveOf, readMove, usedBy, withMove } from "./notation.js";
import { VERSION, cgpOf, fromCgp, isEntry, newStudy, reached, startingAt, toEnd, unbracketed, withSeat, within } from "./study.js";
import { studyTexts as texts } from "./study_texts.js";

/** @import { Equipment } from "./scoring.js" */
/** @import { Node, Path, Position, Seat, Study } from "./study.js" */

const OURS = /^\\*~/, LONGEST_LINE = 1500;

/** One word for each player, as events name them. @param {[string, string]} players @returns {[string, string]} */
const nicksOf = (players) => {
  const [first, second] = players.map((name, seat) => name.trim().replace(/[\s:]+/g, "_") || `player${seat + 1}`);
  return [first ?? "", second === first ? `${second}_2` : second ?? ""];
};

/** @param {number} points */
const plus = (points) => (points < 0 ? String(points) : `+${points}`);

/** A note, each line of it. @param {string} note */
const noteLines = (note) => (note ? note.split("\n").map((line) => (OURS.test(line) ? `\\${line}` : line)) : []);

// --- writing ---

/** Write a study as GCG. @param {Study} study @param {Equipment} equipment */
export const writeStudy = (study, equipment) => {
  const { layout: { columns } } = equipment, nicks = nicksOf(study.players), { start } = study;
  const isEmpty = !start.board.size && !start.zeros && !start.scores.some(Boolean);
  const lines = [
    "#character-encoding UTF-8", ...nicks.map((nick, seat) => `#player${seat + 1} ${nick} ${study.players[/** @type {Seat} */ (seat)]}`.trim()),
    ...(study.title ? [`#title ${study.title}`] : []), ...(study.lexicon ? [`#lexicon ${study.lexicon}`] : []), ...study.other,
    ...(isEmpty ? [] : [`#opening ${cgpOf(start, equipment, "")}`]),
    ...noteOf([`~study ${VERSION} ${study.isGame ? "game" : "study"} ${start.onTurn} ${study.rules}`.trimEnd(), ...noteLines(study.note)]),
  ];
  const path = toEnd(study, []);
  /** @type {Study | Node} */
  let parent = study;
  path.forEach((_, depth) => {
    const { position, before } = reached(study, path.slice(0, depth), columns), [node, ...others] = parent.next;
    if (!node) return;
    const { seat, move, score } = node, rack = move === "--" ? before?.racks[seat] ?? "" : move.startsWith("(") ? "" : position.racks[seat];
    const isLost = /^\(.*\)$/.test(move) && move !== "(challenge)" && move !== "(time)" && score <= 0;
    lines.push([`>${nicks[seat]}:`, isLost ? move.slice(1, -1) : rack, move, plus(score), position.scores[seat] + score].filter((part) => part !== "").join(" "));
    lines.push(...noteOf([...noteLines(node.note), ...clockLine(node), ...others.flatMap((other) => variation(other, 1, nicks))]));
    parent = node;
  });
  const { position } = reached(study, path, columns), isOver = /^\((?!challenge)/.test(/** @type {Partial<Node>} */ (parent).move ?? "");
  lines.push(...(isOver ? [] : [...position.racks.flatMap((rack, seat) => (rack ? [`#rack${seat + 1} ${rack}`] : [])), "#incomplete"]));
  return `${lines.join("\n")}\n`;
};

/** @param {string[]} lines */
const noteOf = (lines) => lines.map((line) => `#note ${line}`.trimEnd());

/** @param {Node} node */
const clockLine = ({ clock }) => (clock ? [`~clock ${clock}`] : []);

/** @param {Node} node @param {number} depth @param {[string, string]} nicks @returns {string[]} */
const variation = (node, depth, nicks) => [
  `~${depth} ${nicks[node.seat]}: ${node.move} ${plus(node.score)} ${node.rack}`.trimEnd(),
  ...(node.note ? node.note.split("\n").map((line) => `~" ${line}`.trimEnd()) : []), ...clockLine(node),
  ...node.next.flatMap((each) => variation(each, depth + 1, nicks)),
];

// --- reading ---

/** @typedef {{ seat: Seat, rack: string, move: string, score: number, notes: string[] }} Event */

/**
 * Read a GCG as this server writes it.
 * @param {string} text @param {number} columns @returns {Study}
 * @throws {Error} a sentence: it is none, or of a later version
 */
export const readStudy = (text, columns) => {
  const study = newStudy(), racks = ["", ""], nicks = ["", ""];
  /** @type {Event[]} */
  const events = [];
  /** @type {string[]} */
  let notes = [];
  const before = notes;
  let opening = "";
  /** @type {string[] | null} What a bare line goes on with. */
  let open = null;
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    const [, name = "", value = ""] = /^#(\S*) ?(.*)$/.exec(line) ?? [], number = /^(?:player|rack)([12])$/.exec(name)?.[1], seat = /** @type {Seat} */ (Number(number) - 1);
    if (line.startsWith(">")) {
      events.push(eventOf(line, nicks));
      notes = events.at(-1)?.notes ?? notes;
    } else if (name === "note") notes.push(value);
    else if (number && name.startsWith("player")) [nicks[seat], study.players] = [value.split(" ")[0] ?? "", withSeat(study.players, seat, value.replace(/^\S+\s*/, "") || value)];
    else if (number) racks[seat] = value.trim();
    else if (name === "title" || name === "lexicon") study[name] = value.trim();
    else if (name === "opening") opening = value;
    else if (line.startsWith("#") && !/^(character-encoding|incomplete)$/.test(name)) study.other.push(line);
    else if (open && line && !line.startsWith("#")) open.push(line);
    if (/^[#>]/.test(line)) open = name === "note" ? notes : name === "description" ? study.other : null;
  }
  if (!nicks[0] || !nicks[1]) throw new Error(texts.noStudy);
  const [, version, kind, first, rules = ""] = before.map((line) => /^~study (\d+) (\w+) ([01])(?: (.+))?$/.exec(line)).find(Boolean) ?? [];
  if (version && Number(version) !== VERSION) throw new Error(texts.otherVersion(version));
  const onTurn = /** @type {Seat} */ (events[0]?.seat ?? (first === "1" ? 1 : 0)), begun = fromCgp(opening).start;
  Object.assign(study, { isGame: version ? kind === "game" : true, rules, note: plainOf(before) });
  const swapped = (/** @type {any[]} */ pair) => /** @type {any} */ (onTurn ? [...pair].reverse() : pair);
  study.start = { ...begun, onTurn, scores: swapped(begun.scores), racks: swapped(begun.racks) };
  build(study, events, racks, nicks, columns);
  return study;
};

/** @param {string} line @param {string[]} nicks @returns {Event} */
const eventOf = (line, nicks) => {
  const [, nick = "", rest = ""] = /^>([^:]+):\s*(.*)$/.exec(line) ?? [], seat = nicks.indexOf(nick), fields = rest.trim().split(/\s+/);
  const [score] = fields.splice(-2, 2), word = fields.at(-1) ?? "", square = fields.at(-2) ?? "";
  if (seat < 0 || !fields.length || !/^[+-]?\d+$/.test(score ?? "")) throw new Error(texts.noEvent(line));
  const isPlace = /^(\d{1,2}[A-Za-z]|[A-Za-z]\d{1,2})$/.test(square);
  return { seat: /** @type {Seat} */ (seat), score: Number(score), notes: [], move: isPlace ? `${square} ${word}` : word, rack: fields.slice(0, isPlace ? -2 : -1).join("") };
};

/** Put the moves of a game, and the variations in its notes, into the tree. @param {Study} study @param {Event[]} events @param {string[]} last racks at the end @param {string[]} nicks @param {number} columns */
const build = (study, events, last, nicks, columns) => {
  const shown = (/** @type {Seat} */ seat, /** @type {number} */ from) => {
    for (const { move, rack, seat: mover, score } of events.slice(from)) {
      const isRack = /^\(.+\)$/.test(move) && !/^\((challenge|time)\)$/i.test(move);
      if (isRack && (score < 0 || rack ? mover === seat : mover !== seat)) return move.slice(1, -1);
      if (isRack && score > 0) return ""; // went out
      if (mover === seat && (move === "--" || !move.startsWith("("))) return rack;
    }
    return last[seat] ?? "";
  };
  study.start.racks = [shown(0, 0), shown(1, 0)];
  const held = /** @type {[string, string]} */ ([...study.start.racks]);
  let parent = /** @type {Study | Node} */ (study), { board } = study.start, before = board;
  events.forEach(({ seat, move: written, score, notes }, at) => {
    const move = /^\(challenge\)$/i.test(written) ? "(challenge)" : written, isSheet = isEntry(move), follows = events[at + 1];
    const laid = isSheet || move.startsWith("-") ? move : laidOn(board, move, columns), comesOff = follows?.move === "--" && follows.seat === seat;
    const rack = move.startsWith("(") ? "" : comesOff ? leaveOf(held[seat], usedBy(readMove(laid, columns))) : shown(seat, at + 1);
    const node = { seat, move: laid, score, rack, note: plainOf(notes), clock: "", next: [] };
    [board, before] = move === "--" ? [before, before] : isSheet ? [board, before] : [withMove(board, readMove(laid, columns)), board];
    if (!move.startsWith("(")) held[seat] = rack;
    parent.next.push(node);
    variations(notes, nicks, parent, node);
    parent = node;
  });
};

/** A placement in which only what is laid is named. @param {Position["board"]} board @param {string} move @param {number} columns */
const laidOn = (board, move, columns) => {
  const read = readMove(unbracketed(move), columns);
  return read.kind === "place" ? `${read.at.toUpperCase()} ${read.squares.map(([at, tile]) => (board.has(at) ? "." : tile)).join("")}` : move;
};

/** The lines of a note that are of no variation. @param {string[]} notes */
const plainOf = (notes) => notes.filter((line) => !line.startsWith("~")).map((line) => line.replace(/^\\(\\*~)/, "$1")).join("\n");

/** @param {string[]} notes @param {string[]} nicks @param {Study | Node} parent @param {Node} main */
const variations = (notes, nicks, parent, main) => {
  /** @type {(Study | Node)[]} */
  const above = [parent];
  let last = main, isBegun = false;
  for (const line of notes) {
    const [, depth, nick = "", move = "", score, rack = ""] = /^~(\d+) ([^:]+): (.+?) ([+-]\d+)(?: (\S+))?$/.exec(line) ?? [];
    const seat = nicks.indexOf(nick), on = above[Number(depth) - 1];
    if (depth && seat >= 0 && on) {
      last = { seat: /** @type {Seat} */ (seat), move, score: Number(score), rack, note: "", clock: "", next: [] };
      on.next.push(last);
      above.length = Number(depth);
      above.push(last);
      isBegun = false;
    } else if (line.startsWith('~"') && last !== main) {
      last.note = isBegun ? `${last.note}\n${line.slice(3)}` : line.slice(3);
      isBegun = true;
    } else if (line.startsWith("~clock ")) last.clock = line.slice(7);
  }
};

// --- links ---

/** The part of an address that holds a position, and the study around it if that is short. @param {Study} study @param {Path} path @param {Equipment} equipment */
export const linkOf = (study, path, equipment) => {
  const text = writeStudy(study, equipment), { position } = reached(study, path, equipment.layout.columns), isShort = text.length <= LONGEST_LINE;
  const data = inBase64(new TextEncoder().encode(isShort ? text : writeStudy(startingAt(study, position), equipment))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return [VERSION, data, ...(isShort && path.length ? [path.join("-")] : [])].join(".");
};

/** @param {string} link @returns {[text: string, path: Path]} @throws {Error} a sentence: it is of another version, or broken */
export const readLink = (link) => {
  const [version = "", data = "", path = ""] = link.split(".");
  if (version !== String(VERSION)) throw new Error(texts.otherLink(version));
  const text = textIn(data.replaceAll("-", "+").replaceAll("_", "/"));
  if (!text) throw new Error(texts.brokenLink);
  return [text, path ? path.split("-").map(Number) : []];
};

/** Whether a text is a GCG. @param {string} text */
export const isGcg = (text) => /^\s*#|^>/m.test(text);

/** Read a text that was kept or linked. @param {string} text @param {Path} path @param {number} columns @returns {{ study: Study, path: Path }} */
export const readText = (text, path, columns) => {
  const study = isGcg(text) ? readStudy(text, columns) : fromCgp(text);
  return { study, path: within(study, path) };
};
