// What is said of the page itself: its keys, what it copies, and a game's sheet.

/** @type {typeof import("./texts_en_screen.js").screen} */
export const screen = {
  // keys
  keysTitle: "Klawisze",
  noKeys: "Ten widok nie ma własnych klawiszy: Tab przechodzi od odnośnika do odnośnika, Enter otwiera.",
  close: "Zamknij",
  keys: {
    show: "Pokazuje te klawisze.",
    step: "O turę wstecz lub naprzód.",
    ends: "Na początek lub do ostatniej tury.",
    lay: "Kładzie tę płytkę na zaznaczonym polu.",
    blank: "Kładzie blanka jako tę literę.",
    move: "Obraca strzałkę albo przesuwa ją wzdłuż linii.",
    turn: "Obraca strzałkę.",
    erase: "Zabiera ostatnią płytkę.",
    recall: "Zabiera wszystkie płytki albo kończy wymianę.",
    play: "Wykonuje ruch.",
    answer: "Odpowiada tym ruchem.",
    stepLine: "O ruch wstecz lub naprzód.",
    aside: "Do poprzedniego lub następnego wariantu.",
    endsOfLine: "Na początek lub koniec przebiegu.",
    undo: "Cofa.",
    redo: "Wykonuje cofnięte ponownie.",
  },

  // a game
  round: "Kolejka",
  toGraphs: "Wykresy",
  turnMove: (turn, move) => `Tura ${turn}: ${move}`,

  // what is copied
  copy: "Kopiuj",
  link: "Odnośnik",
  copied: "Skopiowano.",
  copyByHand: "Przeglądarka nie pozwoliła stronie kopiować. Tekst jest tu zaznaczony: skopiuj go klawiszami Ctrl+C albo przytrzymaj palcem.",
};
