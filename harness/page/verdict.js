// What an analysis found, in sentences: codes and figures are the server's, the words those of texts.js. They are
// the sentences of harness/analysis/verdict.py, which tests/page/test_verdict.py compares.

import { capital, decimal, percent, rounded, signed, texts } from "./texts.js";
import { readOpening } from "./notation.js";
import { serverTexts } from "./server_texts.js";

/** @import { Candidate, Findings, Lead, Phony, Reason } from "./review.js" */
/** @typedef {(move: string) => string} Name Names a move in a sentence. */

export const INTERVAL = 1.96; // standard errors, as `tilewire analyze` has them
const MOST_NAMED = 4;

/** What was best, and what the played move cost. @param {Findings} found @param {Name} name */
export const verdictText = (found, name) => {
  const { candidates, rollouts, verdict } = found, best = candidates.find(({ move }) => move === verdict.best);
  if (isForced(found)) return texts.isForced;
  if (!verdict.known || !best) return texts.unknownYet(rollouts, name(verdict.best));
  return [advice(found, best, name), aboutPlayed(found, name), aboutCases(found, name)].filter(Boolean).join(" ");
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
const keeps = ({ leave, worth }) => (leave ? texts.keptWorth(leave, signed(rounded(worth))) : texts.nothing);

// --- what to play ---

/** @param {Findings} found @param {Candidate} best @param {Name} name */
const advice = (found, best, name) => {
  const { candidates, exact, verdict } = found, { rivals, ahead_of_next: next } = verdict;
  if (candidates.length - (verdict.phony ? 1 : 0) < 2) return texts.onlyCandidate(name(best.move), worth(found, best));
  const names = rivals.map(name), leads = candidates.flatMap(({ move, behind }) => (behind && rivals.includes(move) ? [behind] : []));
  if (names.length && (exact || leads.every(isNothing))) return texts.eitherSame(texts.listed(shortened([name(best.move), ...names]), "or"));
  if (names.length) return texts.either(name(best.move), worth(found, best), texts.listed(shortened(names), "and"));
  return texts.bestMove(name(best.move), worth(found, best), next && texts.moreThan(leadText(next), name(next.move)));
};

/** @param {string[]} names */
const shortened = (names) => (names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED - 1), texts.others(names.length - MOST_NAMED + 1)] : names);

/** @param {Findings} found @param {Candidate} best */
const worth = ({ cgp, exact, plies, verdict }, { win, equity, proven }) => {
  const [own, other] = readOpening(cgp).scores, spread = Math.round((own ?? 0) - (other ?? 0) + (equity ?? 0));
  if (exact && plies === null) return verdict.proven == null ? texts.gameEnds(spread) : texts.bestPlayEnds(spread, proven === true);
  return texts.winsShare(percent(win ?? 0));
};

/** The lead of the best over a move with its interval, in what tells them apart. @param {Lead} lead */
export const leadText = (lead) => (lead.by_points ? pointsOf : winOf)(lead);

/** @param {Lead} lead */
const winOf = ({ win, win_error, width }) => within(percent(win), win_error, 100 * (width ?? INTERVAL));

/** @param {Lead} lead */
const pointsOf = ({ points, points_error, width }) => within(texts.points_(decimal(points)), points_error, width ?? INTERVAL);

/** What a move cost: points alone if it cost no chance to win. @param {Lead} lead */
export const costText = (lead) => (lead.level ? pointsOf(lead) : texts.both(winOf(lead), pointsOf(lead)));

/** @param {string} value @param {number | null} error @param {number} width of the interval to each side, in errors */
const within = (value, error, width) => (error ? `${value} ± ${decimal(width * error)}` : value);

// --- what was played ---

/** @param {Findings} found @param {Name} name */
const aboutPlayed = ({ exact, verdict }, name) => {
  const { ahead_of_played: lead, not_compared, phony } = verdict;
  if (not_compared) return texts.notCompared(serverTexts.said(not_compared));
  if (!lead) return "";
  if (lead.move === verdict.best) return texts.bestWasPlayed;
  const move = capital(name(lead.move)), apart = leadText(lead), isMore = apart.startsWith("−");
  if (phony) return texts.phonyPlayed(move, phonyText(phony), isMore ? apart.slice(1) : apart, !isMore);
  const isGuess = exact && verdict.proven === false, cost = isGuess ? texts.notProven(costText(lead)) : costText(lead);
  if (lead.clear) return texts.itCost(move, cost);
  if (isGuess) return texts.nothingProves(move, cost);
  return exact || isNothing(lead) ? texts.comesToSame(move) : texts.nothingShows(move, cost);
};

/** How many moves a solver looked at in all cases, and what is proven. @param {Findings} found @param {Name} name */
const aboutCases = ({ pre_endgame: known, verdict, candidates }, name) => known && texts.inAllCases(known.compared, known.moves, known.proven,
  known.settled ? candidates.find(({ move }) => move === verdict.best)?.proven ? "" : texts.winNotProven : texts.mayBeBetter(name(verdict.best)));

/** Whether a lead is none, for certain. @param {Lead} lead */
const isNothing = ({ win, win_error, points, points_error }) => win === 0 && points === 0 && win_error === 0 && points_error === 0;

/** Why a move is a phony. @param {Phony} phony */
export const phonyText = ({ code, words, lexicon }) => (code === "taken_back" ? texts.takenBackInGame : texts.notWordsOf(words, lexicon));
