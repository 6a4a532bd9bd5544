// What a casual game has beside others: a table of its own, positions to play on from, hints.

import { inBase64, sentenceOf } from "./analysis.js";
import { button } from "./dom.js";
import { moveText } from "./game.js";
import { inWindow } from "./kept.js";
import { readMove, usedBy } from "./notation.js";
import { playTexts } from "./play_texts.js";
import { puzzleTexts } from "./puzzle_texts.js";
import { about, ask } from "./server.js";
import { serverTexts } from "./server_texts.js";
import { cgpOf, withSeat } from "./study.js";
import { texts } from "./texts.js";

/** @import { Game } from "./game.js" */
/** @typedef {{ table: string | null, clock?: number | null, position?: string | null, seat?: number }} Terms `seat`: ours in the position, 0 moves first. */
/** @typedef {{ cgp: string, lexicon: string }} From A position to play on from. */

const HINT_S = 2;

/** Return the name of a table for a casual game. @param {Terms} terms @returns {Promise<string>} */
export const casualTable = async ({ table, clock, position, seat = 0 }) => {
  const asked = { ...(table && { table }), ...(clock && { clock: String(clock) }), ...(position && { position, seat: String(seat) }) };
  return (await ask(`api/casual?${new URLSearchParams(asked)}`)).table;
};

/** A game after some of its turns as CGP, for the seat on turn. @param {Game} game @param {number} turn @param {[string, string]} racks as far as known */
export const cgpAt = (game, turn, racks) => {
  const { board, scores } = game.position(turn);
  let zeros = 0;
  for (let at = turn - 1; game.plays[at]?.move.startsWith("-"); at -= game.plays[at]?.move === "--" ? 2 : 1) zeros += 1;
  return cgpOf({ board, racks, scores, onTurn: game.toMove(turn), zeros }, game.equipment, game.offer.lexicon);
};

/** The same as a seat sees it, with its own rack. @param {Game} game @param {number} turn @param {0 | 1} seat @param {string} rack */
export const seenAt = (game, turn, seat, rack) => cgpAt(game, turn, withSeat(["", ""], seat, rack));

/** The number of turns before a seat's last move; null: it has made none. @param {Game} game @param {0 | 1} seat */
export const beforeLast = ({ plays }, seat) => {
  const at = plays.map((play) => play.seat === seat && play.challenge !== "won" && !/^(--|\()/.test(play.move)).lastIndexOf(true);
  return at < 0 ? null : at;
};

/** A button that leads to a casual game from a position, where one can play. @param {() => From} position */
export const playFromButton = (position) => {
  const made = button(playTexts.playFrom, () => {
    inWindow.set("from", position());
    location.hash = "#/play";
  });
  made.classList.add("play-from");
  made.hidden = true;
  about().then(({ tournament, own }) => { made.hidden = tournament || Boolean(own); }, () => {});
  return made;
};

/** What is told of the best move of a game's last position: first where it begins, then all of it. */
export class Hint {
  /** @type {string[]} What is told now, and what after that. */
  steps = [playTexts.looking];
  isOver = false;
  best = "";

  /** @param {import("./analysis.js").Analysis} analysis @param {Game} game @param {string} cgp @param {() => void} changed */
  constructor(analysis, game, cgp, changed) {
    this.turn = game.last;
    analysis.ask(inBase64(new TextEncoder().encode(cgp)), { line: 0, seconds: HINT_S }, (message) => {
      this.isOver = message.type === "done" || message.type === "error";
      if (message.type === "error") this.steps = [playTexts.noHint(sentenceOf(message))];
      else if (message.type === "left_out") this.steps = [playTexts.noHint(`${serverTexts.said(message.why)}.`)];
      else if (message.type === "waiting" && message.ahead) this.steps = [texts.waiting(message.ahead)];
      else if (message.type === "turn" && message.verdict) [this.steps, this.best] = [stepsOf(message, game), message.verdict.best];
      changed();
    });
  }
}

/** @param {{ verdict: { best: string }, candidates: { move: string, score: number }[] }} found @param {Game} game */
const stepsOf = ({ verdict: { best }, candidates }, game) => {
  const read = readMove(best, game.layout.columns), score = candidates.find(({ move }) => move === best)?.score ?? 0;
  return [read.kind === "place" ? `${puzzleTexts.hintTiles(usedBy(read).length)} ${puzzleTexts.hintSquare(read.at)}` : puzzleTexts.hintPass,
    playTexts.hinted(moveText(read, game.boards[game.last] ?? new Map()), score)];
};
