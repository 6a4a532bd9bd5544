// What the view of a tournament's directors says.

/** @type {typeof import("./texts_en_direct.js").direct} */
export const direct = {
  title: "Prowadzenie turnieju",
  name: "Sędzia",
  token: "Token sędziego",
  where: "Dla osób wymienionych jako directors w pliku turnieju. Serwer przechowuje token w folderze turnieju, w pliku NAZWA.token.",
  login: "Zaloguj się",
  logout: "Wyloguj się",
  lost: (seconds) => `Utracono połączenie z serwerem; następna próba za ${seconds} s.`,
  done: "Zrobione i zapisane.",
  acts: "Działania",
  why: "Powód, do protokołu",
  pause: "Wstrzymaj",
  resume: "Wznów",
  end: "Zakończ po tej rundzie",
  reallyEnd: "Zakończyć: na pewno?",

  // an entrant
  withdraw: "Wycofaj",
  withdrawOf: (name) => `Wycofaj: ${name}`,
  join: "Przywróć",
  joinOf: (name) => `Przywróć: ${name}`,
  release: "Zwolnij",
  releaseOf: (name) => `Zwolnij nazwę ${name}`,
  newcomer: "Nowy lub wracający uczestnik",
  letJoin: "Dopuść",

  // a result
  correct: "Popraw",
  correctOf: (number) => `Popraw partię ${number}`,
  correction: "Popraw wynik",
  game: "Partia",
  score: (name) => `Wynik: ${name}`,
  first: "kto zaczynał",
  second: "drugi gracz",
  again: "Unieważnij i powtórz",
  reallyAgain: "Unieważnić: na pewno?",

  // byes and pairs
  arranged: "Wolne losy i pary",
  entrant: "Uczestnik",
  round: "runda",
  giveBye: "Daj pół punktu za partię",
  with: "gra z",
  pair: "Skojarz w następnej rundzie",
  takeBack: "Cofnij",
  takeBackOf: (names, round) => `Cofnij: ${names}, runda ${round}`,
};
