// What puzzles and the drill say.

import { capital, counted } from "./formats.js";
import { end } from "./texts_pl_review.js";

/** @type {typeof import("./texts_en_puzzles.js").puzzles} */
export const puzzles = {
  // puzzles
  puzzles: "Zadania",
  toPuzzles: "Do zadań",
  puzzlesAre: (lexicon) =>
    `Pozycje z partii naszych botów; strata przy każdym ruchu jest dowiedziona. Słownik: ${lexicon}. Pierwsze zadania każdego rodzaju są najłatwiejsze. To, co rozwiążesz, zapamiętuje tylko ta przeglądarka.`,
  kinds: { endgame: "Końcówki", preendgame: "Przedkońcówki" },
  kindIs: {
    endgame: "Worek jest pusty, więc oba stojaki są znane. Znajdź ruch z najlepszą różnicą punktów na koniec partii.",
    preendgame: "W worku jest jedna płytka. Znajdź ruch, który wygrywa przy największej liczbie płytek, jakie mogą tam być, jeśli potem obie strony widzą wszystko.",
  },
  asks: {
    endgame: "Worek jest pusty, Twój ruch. Który daje Ci najlepszą różnicę punktów na koniec partii?",
    preendgame: "W worku jest jedna płytka, Twój ruch. Który wygrywa najczęściej? Remis to pół wygranej.",
  },
  puzzleIs: (kind, number, result) =>
    `${kind === "endgame" ? "Końcówka" : "Przedkońcówka"} ${number}${result ? `, ${{ solved: "rozwiązana", helped: "rozwiązana z podpowiedzią", missed: "nierozwiązana" }[result]}` : ""}`,
  solvedOf: (solved, all) => `rozwiązane: ${solved} z ${all}`,
  noPuzzles: "Nie można wczytać zadań. Odśwież stronę, aby spróbować ponownie.",
  noPuzzle: "Nie ma tu takiego zadania.",
  standing: (own, other) => `Ty ${own}, przeciwnik ${other}: ${end(own - other)}`,
  opponentsRack: "Stojak przeciwnika",
  unseenTiles: "Płytki, których nie widzisz",
  oneInBag: (unseen) => `Jedna z tych płytek (${unseen}) jest w worku, każda z równą szansą; pozostałe ma przeciwnik.`,
  hint: "Podpowiedź",
  giveUp: "Pokaż rozwiązanie",
  hintTiles: (tiles) => `Najlepszy ruch wykłada ${counted(tiles, "płytkę", "płytki", "płytek")}.`,
  hintSquare: (square) => `Jego słowo zaczyna się na ${square}.`,
  hintPass: "Najlepszy ruch nie wykłada żadnej płytki.",
  isRight: "Dobrze.",
  isWrong: "To nie jest najlepszy ruch.",
  resultIs: (spread) => (spread > 0 ? `wygrywa różnicą ${spread} pkt` : spread < 0 ? `przegrywa różnicą ${-spread} pkt` : "remisuje"),
  endsAt: (move, spread) => `${move} ${puzzles.resultIs(spread)}`,
  right: (best) => capital(`${best} i żaden ruch nie jest lepszy.`),
  solutionIs: (best) => `Rozwiązanie: ${best}.`,
  loses: (move, points, best, spread) =>
    capital(`${move} traci ${counted(points, "punkt", "punkty", "punktów")}: ${best}, a ten ruch ${puzzles.resultIs(spread)}.`),
  replyIs: (reply) => `Najlepsza odpowiedź przeciwnika: ${reply}.`,
  winsWith: (move, wins, of, ties) => `${move} wygrywa przy ${wins} z ${of} płytek${ties ? " (remis to pół wygranej)" : ""}`,
  losesWins: (move, share, best, wins, atMost) =>
    capital(`${move} traci ${atMost ? "co najmniej " : ""}${share} partii: ${best}, a ten ruch ${atMost ? "najwyżej " : ""}przy ${wins}.`),
  notLegal: (move, lexicon) => `${move} jest niepoprawny: tworzy słowo, którego nie ma w słowniku ${lexicon}. To się nie liczy; spróbuj innego ruchu.`,
  inBag: "W worku",
  ifInBag: "Jeśli w worku jest",
  byTile: "Według płytki w worku",
  outcomes: { W: "wygrywa", D: "remisuje", L: "przegrywa", "?": "nie dowiedziono" },
  bestPlay: "Najlepsza gra obu stron",
  yours: (move, score) => `Ty: ${move}, ${counted(score, "punkt", "punkty", "punktów")}`,
  theirs: (move, score) => `Przeciwnik: ${move}, ${counted(score, "punkt", "punkty", "punktów")}`,
  stepBack: "O ruch wstecz",
  stepOn: "O ruch dalej",
  moveOf: (at, of) => `ruch ${at} z ${of}`,
  again: "Spróbuj ponownie",
  nextPuzzle: "Następne zadanie",
  allSolved: "Wszystkie rozwiązane: do listy",

  // a drill of one's own mistakes
  drill: "Twoje błędy",
  drillTitle: "Powtórki",
  lastPlay: (move) => `Ostatni ruch: ${move}.`,
  toDrill: (due) => (due ? `Powtórz swoje błędy (${due})` : "Teraz nie ma nic do powtórki"),
  noMistakes: "Ta przeglądarka nie przechowuje żadnych błędów. Przeanalizuj swoją partię i zachowaj z niej błędy; tu do Ciebie wrócą.",
  drillDone: (when) => `Nie ma nic do powtórki. Następny błąd wróci ${when}.`,
  drillAsks: (due) => `W partii był tu Twój błąd. Który ruch jest najlepszy? ${due === 1 ? "To ostatni do powtórki." : `Do powtórki: ${due}.`}`,
  bestShown: "Na planszy jest najlepszy ruch.",
  drillRight: (best) => capital(`${best} to najlepszy ruch.`),
  drillAsGood: (move, best) => `Analiza nie odróżniła ${move} od ${best}.`,
  drillWrong: (best) => `Najlepszy ruch to ${best}.`,
  sameAgain: (lost) => `Tak było też w partii; ten ruch traci ${lost}.`,
  youPlayed: (move, lost) => `W partii zagrano ${move}, ze stratą ${lost}.`,
  unknownLoss: "Straty przy tym ruchu nie analizowano; wypróbuj go w analizie partii.",
  points_: (points) => `${points} pkt`,
  chance: (win, points) => `${win} szansy na wygraną, ${points} pkt`,
  nextMistake: "Dalej",
  forget: "Nie pytaj więcej",
  toTurn: (turn) => `Tura ${turn} partii`,
  boxesAre: (days) => `Po dobrej odpowiedzi błąd wraca po ${days.slice(0, -1).join(", ")}, a na koniec po ${days.at(-1)} dniach; po złej od razu.`,
};
