// What the first view says, besides lists.

/** @type {typeof import("./texts_en_home.js").home} */
export const home = {
  heading: "Graj, oglądaj i analizuj partie gier słownych",
  ownHeading: "Oglądaj partie z tego komputera",
  live: "Partia w toku",
  ended: "Ostatnia partia",
  example: "Przykładowa partia botów: teraz nie trwa żadna inna",
  follow: "Śledź tę partię",
  playAgainst: (name, rating) =>
    `Graj: ${name}${rating === undefined ? "" : ` (${Math.round(rating)})`}`,
  bot: (name, about) => `${name}: ${about}.`,
  levels: "Boty dla początkujących, graczy klubowych i ekspertów; jedno kliknięcie zaczyna partię.",
  ratedBots: "Boty i ich ranking na tym serwerze; jedno kliknięcie zaczyna partię.",
  playOther: "Wybierz innego przeciwnika",
  goOn: (name) => `Kontynuuj partię (przeciwnik: ${name})`,
  study: "Studium",
  studyAbout: "Ułóż dowolną pozycję, przejrzyj ruchy, symuluj, próbuj i zapisuj.",
  toStudy: "Ułóż planszę",
  reviewAbout: "Ile kosztowała każda tura partii, co było najlepsze i dlaczego.",
  puzzlesAbout: "Końcówki i przedkońcówki z dowiedzionym rozwiązaniem oraz błędy z Twoich partii.",
  toPuzzles: (solved) => (solved ? `Rozwiązuj dalej (rozwiązane: ${solved})` : "Rozwiąż zadanie"),
  drill: "Twoje błędy: zachowuje je analiza",
  due: (count) => `Twoje błędy do powtórki: ${count}`,
  wholeLadder: "Cały ranking",
  toStandings: "Jak stoi turniej",
  allGames: "Wszystkie partie",
};
