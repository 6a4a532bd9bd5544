// What is said of persons' games where their views are not loaded.

/** What bots are said to do. @type {Record<string, string>} */
const ABOUTS = {
  "plays as static, and now and then a phony, where plays are challenged": "gra jak static, a czasem, tam gdzie się kwestionuje, słowo niepoprawne",
  "knows a part of the words, and challenges the others": "zna część słów i kwestionuje pozostałe",
  "plays what wins most often in simulations, and solves the end of the game": "gra to, co najczęściej wygrywa w symulacjach, a końcówki rozwiązuje",
  "plays the highest score": "gra za najwięcej punktów",
  "simulates against what its opponent is likely to hold": "symuluje przeciw temu, co przeciwnik prawdopodobnie ma",
  "tries its highest scores out to the next turns (CS221, 2016)": "sprawdza w następnych turach ruchy za najwięcej punktów (CS221, 2016)",
  "tries the moves of rh out to the next turns (CS221, 2016)": "sprawdza w następnych turach ruchy bota rh (CS221, 2016)",
  "plays the highest sum of score and simple features of what it keeps (CS221, 2016)": "gra za najwyższą sumę punktów i prostych cech tego, co zostawia (CS221, 2016)",
  "plays what wins most often in simulations": "gra to, co najczęściej wygrywa w symulacjach",
  "plays the highest sum of score and worth of the tiles it keeps, at once": "od razu gra za najwyższą sumę punktów i wartości zostawianych płytek",
  "plays the highest score (CS221, 2016)": "gra za najwięcej punktów (CS221, 2016)",
  "a bot of this server's own": "własny bot tego serwera",
  "misses most good plays": "przeocza większość dobrych ruchów", "misses many good plays": "przeocza wiele dobrych ruchów",
  "often plays second best": "często gra drugi najlepszy ruch", "plays well, with mistakes": "gra dobrze, z błędami",
  "makes few mistakes": "popełnia mało błędów", "champion, with at most a second a turn": "champion, najwyżej sekunda na turę",
};

/** @type {typeof import("./texts_en_play.js").play} */
export const play = {
  playTitle: "Gra",
  against: "Przeciwnik",
  about: (sentence) => sentence.split("; ").map((part) => ABOUTS[part] ?? part.replace(/^about (\d+) points a game$/, "około $1 punktów na partię")).join("; "),
  result: (verdict, scores, why) => `${verdict}, ${scores[0]} do ${scores[1]} (${why}).`,
  noWords: (words) => `${words.join(", ")}: ${words.length === 1 ? "nie ma takiego słowa" : "nie ma takich słów"}.`,
};
