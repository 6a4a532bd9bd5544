// What puzzles and the drill say.

import { capital, counted } from "./formats.js";
import { end } from "./texts_pl_review.js";

/** @type {Record<string, string>} */
const RESULTS = { solved: "rozwiązane od razu", helped: "rozwiązane z pomocą", missed: "pokazano rozwiązanie", tried: "jeszcze nierozwiązane" };

/** @type {Record<string, string>} */
const KINDS = { endgame: "Końcówka", preendgame: "Przedkońcówka" };
/** @type {Record<string, string>} */
const THEMES = {
  bingo: "Bingo", out: "Wyjście od razu", out_in_two: "Wyjście w dwóch ruchach", stuck: "Przeciwnik zostaje z płytkami", block: "Zajęcie miejsca przeciwnika",
  setup: "Przygotowanie drugiego ruchu", parallel: "Ruch równoległy", small: "Jedna lub dwie płytki", quiet: "Rezygnacja z punktów", result: "Stawką wygrana lub remis", pass: "Spasowanie",
};

/** @type {typeof import("./texts_en_puzzles.js").puzzles} */
export const puzzles = {
  // the list
  toPuzzles: "Do zadań",
  puzzlesAre: (lexicon) =>
    `Który ruch jest najlepszy? Końcówki i przedkońcówki z partii naszych botów; dokąd prowadzi każdy ruch, jest dowiedzione. Słownik: ${lexicon}.`,
  levels: ["Łatwe", "Średnie", "Trudne", "Bardzo trudne"],
  levelIs: (least, most) => `pozornie lepszych ruchów, które zawodzą: ${most === Infinity ? `${least} lub więcej` : `od ${least} do ${most}`}`,
  marksAre: "✓ rozwiązane od razu, ◐ z pomocą lub po złym ruchu, ✗ pokazano rozwiązanie, … jeszcze nierozwiązane; przedkońcówki mają linię przerywaną. Im więcej ruchów wygląda lepiej od najlepszego, według punktów i zachowanych płytek, tym trudniej.",
  solvedOf: (solved, all, atOnce) => `rozwiązane: ${solved} z ${all}, od razu: ${atOnce}`,
  linkIs: (number, kind, level, result) => [`Zadanie ${number}`, KINDS[kind] ?? "", level, RESULTS[result ?? ""]].filter(Boolean).join(", "),
  next: (level) => `Następne zadanie: ${level.toLowerCase()}`,
  allSolved: "Wszystkie te zadania są rozwiązane.",
  theme: "Pokaż",
  everything: "Wszystkie zadania",
  wrong: "Te, których nie udało mi się rozwiązać od razu",
  byKind: "Według pozycji",
  byAnswer: "Według najlepszego ruchu (to mówi, czego szukać)",
  themeIs: (theme, count) => `${THEMES[theme] ?? theme} (${count})`,
  kinds: KINDS,
  themes: THEMES,
  noneOfThese: "Nie ma takich zadań.",
  toDrill: (due) => (due ? `Z Twoich partii: ${counted(due, "błąd", "błędy", "błędów")} do powtórki` : "Z Twoich partii: Twoje błędy"),
  drillIs: "Analiza zachowuje je dla Ciebie, a każdy wraca, aż zapamiętasz dobry ruch.",

  // progress
  progress: "Twoje postępy",
  progressIs: "Przechowuje je tylko ta przeglądarka. Plik przeniesie je do innej, razem z Twoimi błędami.",
  notKept: "Ta przeglądarka niczego nie przechowuje: Twoje rozwiązania przepadną po zamknięciu strony, jeśli nie zapiszesz ich do pliku.",
  save: "Zapisz do pliku",
  take: "Wczytaj z pliku",
  taken: (count, mistakes, elsewhere) => [
    `Wczytano: wyniki ${counted(count, "zadania", "zadań")} i ${counted(mistakes, "Twój błąd", "Twoje błędy", "Twoich błędów")}.`,
    elsewhere ? `Z tych wyników ${counted(elsewhere, "dotyczy zadania", "dotyczą zadań", "dotyczy zadań")}, których tu nie ma.` : "",
  ].filter(Boolean).join(" "),
  otherWords: (theirs, ours) => `Zadania z tego pliku mają słownik ${theirs}, a tutejsze ${ours}.`,
  noProgress: (file) => `${file} nie jest plikiem postępów. Wybierz taki, który zapisała ta strona (tilewire-puzzles.json); niczego nie zmieniono.`,
  laterProgress: (file, version) => `${file} zapisał nowszy tilewire (wersja formatu ${version}). Otwórz tę stronę tam albo odśwież ją; niczego nie zmieniono.`,

  // what is asked
  noPuzzles: "Nie można wczytać zadań. Odśwież stronę, aby spróbować ponownie.",
  noSolution: "Nie można teraz wczytać, dokąd prowadzą ruchy. Spróbuj ponownie za chwilę.",
  noPuzzle: "Nie ma tu takiego zadania",
  noPuzzleWhy: (lexicon) => `Odnośnik może być stary albo z serwera z innymi zadaniami. Tutejsze mają słownik ${lexicon}.`,
  puzzleIs: (number, kind) => `Zadanie ${number}: ${kind.toLowerCase()}`,
  hardness: (level, failing) => `${level}: ${counted(failing, "ruch, który wygląda lepiej, zawodzi", "ruchy, które wyglądają lepiej, zawodzą", "ruchów, które wyglądają lepiej, zawodzi")}.`,
  asks: {
    endgame: "Twój ruch, worek jest pusty. Który ruch kończy partię z najlepszą różnicą punktów?",
    preendgame: "Twój ruch, w worku jest jedna płytka. Który ruch wygrywa najczęściej? Remis to pół wygranej.",
  },
  standing: (own, other) => `Ty ${own}, przeciwnik ${other}: ${end(own - other)}`,
  opponentsRack: "Stojak przeciwnika",
  oneInBag: (unseen) => `Jedna z tych płytek (${unseen}) jest w worku, każda z równą szansą; pozostałe ma przeciwnik.`,
  hint: "Podpowiedź",
  whyNot: "Dlaczego nie?",
  showMe: "Pokaż rozwiązanie",
  goOnTrying: "Próbuj dalej",
  hintTiles: (tiles) => `Najlepszy ruch wykłada ${counted(tiles, "płytkę", "płytki", "płytek")}.`,
  hintSquare: (square) => `Jego słowo zaczyna się na ${square}.`,
  hintPass: "Najlepszy ruch nie wykłada żadnej płytki.",
  notLegal: (move, lexicon) => `${move} jest niepoprawny: tworzy słowo, którego nie ma w słowniku ${lexicon}. To się nie liczy; spróbuj innego ruchu.`,
  isRight: "Dobrze.",
  isWrong: "To nie jest najlepszy ruch.",
  howGood: {
    result: (move) => capital(`${move} traci wygraną lub remis, które są do zdobycia.`),
    close: (move) => capital(`${move} jest blisko najlepszego.`),
    worse: (move) => capital(`${move} jest wyraźnie słabszy od najlepszego.`),
    far: (move) => capital(`${move} jest daleko od najlepszego.`),
  },
  goOn: (tries) => (tries === 1 ? "Spróbuj innego ruchu albo zapytaj." : `Prób: ${tries}. Spróbuj innego ruchu albo zapytaj.`),
  tried: "Dotychczasowe próby",

  // the solution
  endsAt: (move, spread) => capital(spread > 0 ? `${move} wygrywa różnicą ${spread} pkt przy najlepszej grze obu stron.`
    : spread < 0 ? `${move} przegrywa różnicą ${-spread} pkt przy najlepszej grze obu stron.` : `${move} remisuje przy najlepszej grze obu stron.`),
  winsWith: (move, wins, of, ties, atMost) =>
    capital(`${move} wygrywa ${wins ? `przy ${atMost ? "najwyżej " : ""}${wins} z ${of} płytek` : `przy żadnej z ${of} płytek`}${ties ? " (remis to pół wygranej)" : ""}.`),
  noBetter: "Żaden ruch nie jest lepszy.",
  solution: "Rozwiązanie:",
  bestPlay: "Najlepsza gra obu stron",
  playAfter: (move) => `Dalszy przebieg po ${move}`,
  lines: "Pokaż dalszy przebieg po",
  ifInBag: "Jeśli w worku jest",
  tileOutcome: (tile, outcome) => `${tile} – ${outcome}`,
  playingOut: "Serwer rozgrywa to do końca …",
  notPlayedOut: "Reszta też jest dowiedziona, ale nie można jej tu rozegrać: ten serwer nie prowadzi analiz albo nie ma teraz czasu.",
  themesAre: "Tematy:",
  toStudy: "Otwórz w studium",
  again: "Spróbuj ponownie",
  nextPuzzle: "Następne zadanie",

  // a drill of one's own mistakes
  drill: "Twoje błędy",
  lastPlay: (move) => `Ostatni ruch: ${move}.`,
  noMistakes: "Ta przeglądarka nie przechowuje żadnych błędów. Przeanalizuj swoją partię i zachowaj z niej błędy; tu do Ciebie wrócą.",
  drillDone: (when) => `Nie ma nic do powtórki. Następny błąd wróci ${when}.`,
  drillAsks: (due) => `Który ruch jest lepszy? ${due === 1 ? "To ostatni do powtórki." : `Do powtórki: ${due}.`}`,
  bestShown: "Na planszy jest najlepszy ruch.",
  drillRight: (best) => capital(`${best} to najlepszy ruch.`),
  drillAsGood: (move, best) => `Analiza nie odróżniła ${move} od ${best}.`,
  drillWrong: (best) => `Najlepszy ruch to ${best}.`,
  sameAgain: (lost) => `Tak było też w partii; ten ruch traci ${lost}.`,
  youPlayed: (move, lost) => `W partii zagrano ${move}, ze stratą ${lost}.`,
  chance: (win, points) => `${win} szansy na wygraną, ${points} pkt`,
  later: "Później",
  nextMistake: "Dalej",
  toTurn: (turn) => `Tura ${turn} partii`,
  boxesAre: (days) => `Po dobrej odpowiedzi błąd wraca po ${days.slice(0, -1).join(", ")}, a na koniec po ${days.at(-1)} dniach; po złych lub po pokazaniu wkrótce.`,
};
