// What the page says about itself: keys, what is copied, and a game's sheet.

/** @typedef {[keys: string, does: string][]} Keys */

/** @type {Keys} */
const stepping = [["← →", "One turn back or forward."], ["Home End", "To the beginning or the last turn."]];

/** @type {Keys} */
const laying = [
  ["A … Z", "Lay that tile on the marked square."],
  ["Shift A … Z", "Lay a blank as that letter."],
  ["← ↑ → ↓", "Turn the arrow, or move it along its line."],
  ["Space", "Turn the arrow."],
  ["Backspace", "Take the last tile back."],
  ["Esc", "Take all tiles back, or leave the exchange."],
];

export const screenTexts = {
  // keys
  keysTitle: "Keys",
  noKeys: "This view has no keys of its own: Tab goes from link to link, Enter opens.",
  close: "Close",
  /** @type {Keys} By view: what it does with keys. */
  always: [["?", "Show these keys."]],
  /** @type {Record<string, Keys>} */
  keysOf: {
    "game-view": stepping,
    "now-view": stepping,
    "play-view": [...laying, ["Enter", "Play the move."]],
    "puzzle-view": [...laying, ["Enter", "Answer with the move."]],
    "drill-view": [...laying, ["Enter", "Answer with the move."]],
    "study-view": [
      ...laying, ["Enter", "Play the move."],
      ["Ctrl ← →", "One move back or forward."], ["Ctrl ↑ ↓", "To the variation before or after."],
      ["Ctrl Home End", "To the beginning or the end of the line."],
      ["Ctrl Z", "Undo."], ["Ctrl Shift Z", "Do it again."],
    ],
  },

  // a game
  round: "Round",
  toGraphs: "Graphs",
  /** @param {number} turn @param {string} move */
  turnMove: (turn, move) => `Turn ${turn}: ${move}`,

  // what is copied
  copy: "Copy",
  gcg: "GCG",
  cgp: "CGP",
  link: "Link",
  copied: "Copied.",
  copyByHand: "This browser did not let the page copy. The text is selected here: copy it with Ctrl+C, or press it long on a phone.",
};
