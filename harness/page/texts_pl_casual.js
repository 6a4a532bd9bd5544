// What is said of casual games and of one's own games.

import { counted } from "./formats.js";

/** @type {typeof import("./texts_en_casual.js").casual} */
export const casual = {
  // what is chosen
  wins: (percent) => `${Math.round(percent)} %`,
  weakest: "Od najsłabszego do najsilniejszego. Procenty to zmierzone wygrane z botem static; boty symulujące miały 0,3 s na ruch.",
  weakestRated: "Od najsłabszego do najsilniejszego, z rankingiem na tym serwerze.",
  casual: "Z botem możesz korzystać z podpowiedzi i cofać ruchy; partia nie liczy się do rankingu.",
  clock: "Zegar każdego gracza",
  from: (own, other, rack) => `Partia toczy się dalej od Twojej pozycji: ${own} do ${other} dla gracza na ruchu${rack ? `, który ma ${rack}` : ""}. Płytki przeciwnika są losowane od nowa.`,
  side: "Grasz jako",
  sides: ["gracz na ruchu", "drugi gracz"],
  fromStart: "Graj jednak od początku",

  // a casual game
  hint: "Podpowiedź",
  moreHint: "Pokaż ruch",
  looking: "Szukamy dobrego ruchu …",
  hinted: (move, score) => `Najlepszy: ${move}, ${counted(score, "punkt", "punkty", "punktów")}.`,
  noHint: (why) => `Brak podpowiedzi: ${why}`,
  takeBack: "Cofnij ruch",
  takeBackNote: "Wraca do pozycji przed Twoim ostatnim ruchem. Zegary zaczynają od nowa, a przeciwnik losuje inne płytki.",
  nothingBack: "Nie masz ruchu, który można cofnąć.",
  unknownRack: "Tego ruchu nie można cofnąć: ta przeglądarka nie widziała, jakie płytki były przed nim na Twoim stojaku.",
  goesOnFrom: (turn) => (turn ? `Ciąg dalszy poprzedniej partii po turze ${turn}` : "Poprzednia partia od początku"),
  fromPosition: "Partia zaczęła się od pozycji.",
  playFrom: "Graj dalej od tego miejsca",

  // the turns before
  past: (turn, of) => `Po turze ${turn} z ${of}. Partia toczy się tymczasem dalej.`,
  toPresent: "Wróć do partii",
  keys: "Ctrl i strzałki przechodzą przez tury.",

  // one's own games
  own: "Twoje partie",
  ownNote: "Przechowuje je ta przeglądarka.",
  unfinished: "Twoja niedokończona partia",
  against: (opponent, own, other) => `przeciwnik: ${opponent}, ${own} do ${other}`,
  goOn: "Graj dalej",
  forget: "Zapomnij",
  wonLost: "Wygrane – przegrane – remisy",
  average: "Średnio",
  lastGames: "Ostatnie partie",
  withHelp: "z podpowiedziami",
  results: { won: "wygrana", lost: "przegrana", tied: "remis", void: "bez wyniku", left: "ruch cofnięty" },
};
