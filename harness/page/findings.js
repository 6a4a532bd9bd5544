// What an analysis found, as elements: the verdict, why the best move is better, all candidates.

import { TileBoard } from "./board.js";
import { h, table, withError } from "./dom.js";
import { freshOn, readMove, withMove } from "./notation.js";
import { serverTexts } from "./server_texts.js";
import { decimal, inSeconds, percent, texts } from "./texts.js";
import { INTERVAL, costText, leadText, verdictText, whyText } from "./verdict.js";

const LEAST_SHARE = 1e-6; // less is rounding

/** @import { Candidate, Findings, Lead, Review, Turn } from "./review.js" */

/** A figure with its 95 % interval. @param {number | null} value @param {number | null} error @param {(value: number) => string} shown @param {number} [width] in errors */
export const withInterval = (value, error, shown, width = INTERVAL) =>
  value === null ? "" : error ? withError(shown(value), shown(width * error)) : shown(value);

/** What was best, what the played move cost, and why. @param {Review} review @param {Turn} turn @param {Findings} found */
export const verdictOf = (review, turn, found) => [
  h("p", { class: "verdict" }, verdictText(found, review.naming(turn)),
    ...(found.verdict.grade && found.verdict.grade !== "best" ? [h("small", {}, ` ${texts.graded[found.verdict.grade]}.`)] : [])),
  ...(found.verdict.reasons ? [h("p", {}, h("strong", {}, texts.whyBest), " ", `${whyText(found.verdict.reasons)}.`)] : []),
];

/** What of a game was not taken as it is written. @param {Review} review */
export const noticesOf = ({ told: { notices } }) => (notices?.length ? [h("details", { open: notices.length < 4 },
  h("summary", {}, texts.notAsWritten(notices.length)),
  h("ul", { class: "note" }, ...notices.map((notice) => h("li", {}, texts.noticed({ ...notice, reason: serverTexts.said(notice.reason), taken: serverTexts.said(notice.taken) })))))] : []);

/** The figures behind it. @param {Review} review @param {Turn} turn @param {Findings} found */
export const figuresOf = (review, turn, found) => {
  const table = comparison(review, turn, found);
  return [
    ...(table ? [h("h3", {}, heading(found)), table] : []),
    ...byBag(review, turn, found),
    h("h3", {}, texts.candidates), candidates(review, turn, found),
    h("p", { class: "note" }, effort(found)),
  ];
};

/** The board with a move, or without. @param {Review} review @param {Turn} turn @param {string | null} move */
export const boardWith = (review, turn, move) => {
  const { layout } = review.equipment, board = new TileBoard();
  const before = review.board(turn), played = readMove(move ?? "-", layout.columns);
  const after = withMove(before, played);
  board.show(review.equipment, { turn: turn.line || null, board: after, fresh: freshOn(after, before) });
  return board;
};

/** By which rollouts the cost is. @param {Findings} found */
const heading = ({ compared }) => (compared ? texts.comparedAlone(compared) : texts.comparison);

/** What differs between the best and the played move. @param {Review} review @param {Turn} turn @param {Findings} found */
const comparison = (review, turn, found) => {
  const { verdict, candidates, replies } = found;
  const of = (/** @type {string | undefined} */ move) => candidates.find((each) => each.move === move);
  const { ahead_of_played: lead } = verdict, best = of(verdict.best), played = of(lead?.move);
  if (!best || !played || !lead || best === played) return null;
  const row = (/** @type {string} */ head, /** @type {(each: Candidate) => import("./dom.js").Child} */ shown) => ({ cells: [head, shown(best), shown(played)] });
  const rows = [
    row(texts.win, winOf), row(texts.equity, equityOf), { cells: [texts.costs, "", costText(lead)] },
    row(texts.scoreNow, ({ score }) => String(score)),
    row(texts.keeps, ({ leave }) => leave || texts.nothing),
    row(texts.leaveWorth, (each) => decimal(each.static - each.score)),
    ...(replies ? [{ cells: [texts.replyScore, decimal(replies.best.score), decimal(replies.played.score)] }] : []),
  ];
  return table(heading(found), ["", texts.bestIs(review.text(best.move, turn)), texts.playedIs(review.text(played.move, turn))], rows, "compared");
};

/** @param {Candidate} each */
const winOf = ({ win }) => (win === null ? "" : percent(win));

/** @param {Candidate} each */
const equityOf = ({ equity }) => (equity === null ? "" : decimal(equity));

/** With which bag the best and the played move win. @param {Review} review @param {Turn} turn @param {Findings} found */
const byBag = (review, turn, { pre_endgame, verdict }) => {
  if (!pre_endgame) return [];
  const played = verdict.ahead_of_played?.move, hasBoth = played !== undefined && played !== verdict.best;
  const rows = pre_endgame.by_bag.map((each) => ({
    cells: [each.bag, percent(each.weight), outcome(each.best), ...(hasBoth ? [each.played ? outcome(each.played) : ""] : [])],
  }));
  const heads = [texts.inBag, texts.chanceOfBag, texts.bestIs(review.text(verdict.best, turn)), ...(hasBoth ? [texts.playedIs(review.text(played, turn))] : [])];
  return [h("h3", {}, texts.byTile), table(texts.byTile, heads, rows, "considered")];
};

/** @param {import("./review.js").Outcome} outcome */
const outcome = ({ wins, draws, losses, proven }) => {
  const sure = /** @type {const} */ ([["W", wins], ["D", draws], ["L", losses]]).find(([, share]) => share > 1 - LEAST_SHARE);
  const text = sure ? texts.outcomes[sure[0]] ?? "" : texts.winsShare(percent(wins + draws / 2)).replace(/^it /, "");
  return proven ? text : texts.perhaps(text);
};

/** @param {Review} review @param {Turn} turn @param {Findings} found */
const candidates = (review, turn, { candidates, verdict }) => {
  const rows = candidates.map((each) => ({
    attributes: { "aria-current": each.move === verdict.best ? "true" : null },
    cells: [
      h("span", {}, review.text(each.move, turn),
        h("small", {}, ` ${[each.move === verdict.best && texts.bestMark, each.move === turn.played && texts.playedMark].filter(Boolean).join(", ")}`)),
      each.score, each.leave, winOf(each), equityOf(each),
      each.behind && behind(each.behind, verdict.rivals.includes(each.move)),
    ],
  }));
  return table(texts.candidates, [texts.move, texts.score, texts.keeps, texts.win, texts.equity, texts.behind], rows, "considered");
};

/** @param {Lead} lead @param {boolean} isRival whether it can't be told from the best */
const behind = (lead, isRival) => {
  const [value = "", error] = `${isRival ? lead.near ? "≈ " : "? " : ""}${leadText(lead)}`.split(" ± ");
  return error === undefined ? value : withError(value, error);
};

/** @param {Findings} found */
export const effort = ({ rollouts, nodes, seconds, plies, exact, pre_endgame }) => [
  ...(exact && nodes ? [] : [texts.rollouts(rollouts)]), ...(nodes && (exact || pre_endgame) ? [texts.nodes(nodes)] : []), inSeconds(seconds), plies === null ? texts.toTheEnd : texts.plies(plies),
  pre_endgame ? texts.casesNote : nodes && exact ? texts.solvedNote : exact ? texts.exactNote : texts.interval,
].join(" · ");
