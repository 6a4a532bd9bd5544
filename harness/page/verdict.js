// What an analysis found, in sentences: codes and figures are the server's, the words those of texts.js.

import { decimal, percent, signed, texts } from "./texts.js";
import { readOpening } from "./notation.js";

/** @import { Candidate, Findings, Lead, Phony, Reason } from "./review.js" */
/** @typedef {(move: string) => string} Name Names a move in a sentence. */

export const INTERVAL = 1.96; // standard errors, as `tilewire analyze` has them
const MOST_NAMED = 4, LEAST_WIN = .0005; // less of a win is not seen in the figures

/** What was best, and what the played move cost. @param {Findings} found @param {Name} name */
export const verdictText = (found, name) => {
  const { candidates, rollouts, verdict } = found, best = candidates.find(({ move }) => move === verdict.best);
  if (isForced(found)) return texts.isForced;
  if (!verdict.known || !best) return texts.unknownYet(rollouts, name(verdict.best));
  return [advice(found, best, name), aboutPlayed(found, name), aboutCases(found)].filter(Boolean).join(" ");
};

/** Why the best move is better than the played one. @param {Reason[]} reasons */
export const whyText = (reasons) => {
  const more = reasons.filter(({ value }) => value > 0).map(reason), less = reasons.filter(({ value }) => value < 0).map(reason);
  return texts.because(more.length ? more : [texts.laterTurns], less);
};

/** Whether a pass is the only move. @param {Findings} found */
export const isForced = ({ candidates }) => candidates.length === 1 && candidates[0]?.move === "-";

/** @param {Reason} reason */
const reason = ({ code, value, kept }) => {
  const points = decimal(Math.abs(value));
  if (code === "score") return texts.reasonScore(Math.abs(value), value > 0);
  if (code === "reply") return texts.reasonReply(points, value > 0);
  if (code === "leave" && kept) return texts.reasonLeave(keeps(kept[0]), keeps(kept[1]));
  return texts.reasonBingo;
};

/** @param {{ leave: string, worth: number }} kept */
const keeps = ({ leave, worth }) => (leave ? texts.keptWorth(leave, signed(Number(worth.toFixed(1)))) : texts.nothing);

// --- what to play ---

/** @param {Findings} found @param {Candidate} best @param {Name} name */
const advice = (found, best, name) => {
  const { candidates, exact, verdict } = found, { rivals } = verdict;
  if (!verdict.ahead_of_next && verdict.proven != null && candidates.length > 1) return texts.bestAlone(name(best.move), worth(found, best));
  if (!verdict.ahead_of_next) return texts.onlyCandidate(name(best.move), worth(found, best));
  if (!rivals.length) return texts.bestMove(name(best.move), worth(found, best), more(found, verdict.ahead_of_next, name));
  const names = [best.move, ...rivals].map(name);
  if (names.length > MOST_NAMED) names.splice(MOST_NAMED - 1, names.length, texts.oneOfOthers(names.length - MOST_NAMED + 1));
  if (exact || !verdict.ahead_of_rival || isNothing(verdict.ahead_of_rival)) return texts.eitherSame(names);
  return texts.either(names, apart(verdict.ahead_of_rival), rivals.length > 1);
};

/** @param {Findings} found @param {Candidate} best */
const worth = ({ cgp, exact, plies, verdict }, { win, win_error, equity, equity_error, proven }) => {
  const [own, other] = readOpening(cgp).scores, spread = Math.round((own ?? 0) - (other ?? 0) + (equity ?? 0));
  if (exact && plies === null) return verdict.proven == null ? texts.gameEnds(spread) : texts.bestPlayEnds(spread, proven === true);
  return win === null ? texts.gains(within(equity ?? 0, equity_error, decimal)) : texts.winsShare(within(win, win_error, percent));
};

/** @param {Findings} found @param {Lead} lead @param {Name} name */
const more = ({ exact }, lead, name) => {
  const byPoints = exact || pointsSayIt(lead), shown = byPoints ? decimal : percent;
  const value = byPoints ? lead.points : lead.win, error = (byPoints ? lead.points_error : lead.win_error) ?? 0;
  const interval = error ? /** @type {[string, string]} */ ([-1, 1].map((side) => shown(value + side * INTERVAL * error).replace(" %", ""))) : null;
  return texts.moreThan(byPoints ? texts.points_(shown(value)) : shown(value), name(lead.move), interval);
};

/** Whether points are named: wins are equal. @param {Lead} lead */
const pointsSayIt = ({ win }) => Math.abs(win) < LEAST_WIN;

/** @param {Lead} lead */
const apart = (lead) => pointsSayIt(lead)
  ? texts.points_(within(Math.abs(lead.points), lead.points_error, decimal))
  : within(Math.abs(lead.win), lead.win_error, percent);

// --- what was played ---

/** @param {Findings} found @param {Name} name */
const aboutPlayed = ({ exact, pre_endgame, verdict }, name) => {
  const { ahead_of_played: lead, not_compared, phony, reasons } = verdict;
  if (not_compared) return texts.notCompared(not_compared);
  if (!lead) return "";
  if (lead.move === verdict.best) return texts.bestWasPlayed;
  const move = name(lead.move), value = pointsSayIt(lead) ? lead.points : lead.win;
  if (phony) return texts.phonyPlayed(move, phonyText(phony), apart(lead), value > 0);
  if (verdict.proven === false && !pre_endgame) return (reasons ? texts.itCost : texts.nothingProves)(move, texts.notProven(cost(lead)));
  if (reasons) return texts.itCost(move, cost(lead));
  return exact || isNothing(lead) ? texts.comesToSame(move) : texts.nothingShows(move, cost(lead));
};

/** How many moves a solver looked at in all cases, and what is proven. @param {Findings} found */
const aboutCases = ({ pre_endgame: known, verdict, candidates }) => known && texts.inAllCases(known.compared, known.moves, known.proven,
  known.settled, candidates.find(({ move }) => move === verdict.best)?.proven === true);

/** Whether a lead is none, for certain. @param {Lead} lead */
const isNothing = ({ win, win_error, points, points_error }) => win === 0 && points === 0 && win_error === 0 && points_error === 0;

/** Why a move is a phony. @param {Phony} phony */
export const phonyText = ({ code, words, lexicon }) => (code === "taken_back" ? texts.takenBackInGame : texts.notWordsOf(words, lexicon));

/** @param {Lead} lead */
const cost = ({ win, win_error, points, points_error }) =>
  texts.both(within(win, win_error, percent), texts.points_(within(points, points_error, decimal)));

/** @param {number} value @param {number | null} error @param {(value: number) => string} shown */
const within = (value, error, shown) => (error ? `${shown(value)} ± ${shown(INTERVAL * error).replace(" %", "")}` : shown(value));
