// What is said of the page itself: its keys, what it copies, and a game's sheet.

export const screen = {
  // keys
  keysTitle: "Keys",
  noKeys: "This view has no keys of its own: Tab goes from link to link, Enter opens.",
  close: "Close",
  keys: {
    show: "Show these keys.",
    step: "One turn back or forward.",
    ends: "To the beginning or the last turn.",
    lay: "Lay that tile on the marked square.",
    blank: "Lay a blank as that letter.",
    move: "Turn the arrow, or move it along its line.",
    turn: "Turn the arrow.",
    erase: "Take the last tile back.",
    recall: "Take all tiles back, or leave the exchange.",
    play: "Play the move.",
    answer: "Answer with the move.",
    stepLine: "One move back or forward.",
    aside: "To the variation before or after.",
    endsOfLine: "To the beginning or the end of the line.",
    undo: "Undo.",
    redo: "Do it again.",
  },

  // a game
  round: "Round",
  toGraphs: "Graphs",
  turnMove: (/** @type {number} */ turn, /** @type {string} */ move) => `Turn ${turn}: ${move}`,

  // what is copied
  copy: "Copy",
  link: "Link",
  copied: "Copied.",
  copyByHand: "This browser did not let the page copy. The text is selected here: copy it with Ctrl+C, or press it long on a phone.",
};
