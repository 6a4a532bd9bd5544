// What the server says, in Polish: whole sentences that are known here, else what their code means with the server's own words.

/** Sentences as the server's code has them, with {} for what is put in; $1 and so on is that, itself in Polish if it is known. @type {Record<string, string>} */
const SAID = {
  // why a move is refused
  "{} is not a word": "nie ma słowa $1",
  "{} are not words": "nie ma słów $1",
  "{} is not on the rack {}": "płytek $1 nie ma na stojaku $2",
  "{} {} not on the rack {}{}": "płytek $1 nie ma na stojaku $3$4",
  "a lower-case letter of a play is a blank": "mała litera w ruchu to blank",
  "an exchange of no tiles is a pass": "wymiana zera płytek to pas",
  "an exchange needs {} tiles in the bag, which has {}": "wymiana wymaga $1 płytek w worku, a jest ich tam $2",
  "no exchange is left: a player may exchange {} in a game": "nie ma już wymian w tej partii",
  "there is no tile {}; tiles are {} to {}": "nie ma płytki $1",
  "a word has two letters or more": "słowo ma co najmniej dwie litery",
  "a placement puts down one tile or more": "ruch wykłada co najmniej jedną płytkę",
  "the word runs off the board of {}×{} squares": "słowo wychodzi poza planszę $1×$2",
  "no tile lies on {}": "na $1 nie leży żadna płytka",
  "a tile lies on {} already": "na $1 leży już płytka",
  "the word goes on over {}; give it from its first letter to its last": "słowo ciągnie się przez $1; podaj je od pierwszej litery do ostatniej",
  "the first play covers {}": "pierwszy ruch zakrywa $1",
  "the first play has two tiles or more": "pierwszy ruch ma co najmniej dwie płytki",
  "the play touches no tile on the board": "ruch nie dotyka żadnej płytki na planszy",
  "there is no play that can still be challenged": "nie ma ruchu, który można jeszcze zakwestionować",
  "the play stands: it could be challenged for {} ms, and {} have passed": "ruch zostaje: czas na kwestionowanie minął",
  "the play made {}, and not {}": "ruch utworzył $1, a nie $2",

  // who is waited for, and why not
  "nobody called {} is here{}": "nie ma tu nikogo o nazwie $1",
  "no game begins now: {}": "teraz nie zaczyna się żadna partia: $1",
  "you were not ready for a game; seek again in {} s": "nie było Cię na początku partii; szukaj ponownie za $1 s",
  "you seek too many games a minute": "szukasz zbyt wielu partii na minutę",
  "you ask for too much a second": "zbyt wiele próśb na sekundę",
  "too many spectators": "zbyt wielu widzów",
  "the name {} is in use: {}": "nazwa $1 jest zajęta; wybierz inną",
  "the name {} is in use from another address: {}": "nazwy $1 używa ktoś pod innym adresem; wróć stamtąd albo wybierz inną",
  "the name {} is in use": "nazwa $1 jest zajęta",
  "the name {} needs its token, and none was sent": "nazwa $1 wymaga swojego tokena, a żadnego nie podano",
  "the name {} needs its token, and this is not it": "nazwa $1 wymaga swojego tokena, a to nie jest ten",
  "{} looks like {}, which is taken; choose a name that doesn't": "$1 wygląda jak zajęta nazwa $2; wybierz inną",
  "a token that claims a name has {} characters or more": "token, który zajmuje nazwę, ma co najmniej $1 znaków",
  "{}; 'tilewire token NAME' makes one": "$1; utwórz go poleceniem 'tilewire token NAZWA'",
  "the tournament is over": "turniej jest zakończony",
  "the tournament is paused by {}": "turniej jest wstrzymany: $1",
  "no further round is paired: a director has ended it": "nie będzie dalszych rund: turniej zakończył sędzia",
  "round 1 waits for {}; 'resume' begins it for two": "runda 1 czeka na: $1",
  "round {} waits until two entrants can be paired: those who are away or absent come back by logging in; 'join NAME' has an entrant come, or come back; 'end' ends the tournament":
    "runda $1 czeka, aż będzie można skojarzyć dwóch uczestników; nieobecni wracają, gdy się zalogują",
  "more entrants": "więcej uczestników",

  // addresses and one's own screen
  "that is not the code that the terminal shows": "to nie jest kod, który pokazuje terminal",
  "type the code that the terminal shows": "wpisz kod, który pokazuje terminal",
  "the game {} is on; its GCG is here when it is over": "partia $1 trwa; jej GCG będzie tu po jej zakończeniu",
  "no tournament is played on this server": "na tym serwerze nie ma turnieju",
  "no round {} has begun here": "runda $1 jeszcze się tu nie zaczęła",
  "a tournament is played on this server, and nothing else": "na tym serwerze rozgrywa się turniej i nic innego",
  "there is no ladder on this server": "na tym serwerze nie ma rankingu",
  "nobody called {} has come to the table {}": "przy stole $2 nie było nikogo o nazwie $1",
  "{} plays elsewhere, and could be told what is seen here": "$1 gra gdzie indziej i mógłby się dowiedzieć, co tu widać",
  "{} reads the files of this user, and so what a browser keeps": "$1 czyta pliki tego użytkownika, a więc i to, co przechowuje przeglądarka",
  "{} can't be kept apart from this user here: {}": "$1 nie da się tu odseparować od tego użytkownika",

  // why a turn is not analysed
  "the game is over": "partia jest zakończona",
  "the game is over, after {}": "partia jest zakończona: $1",
  "{} scoreless turns in a row": "tury bez punktów jedna po drugiej: $1",
  "{} passes in a row": "pasy jeden po drugim: $1",
  "the game is over: the opponent has no tiles left": "partia jest zakończona: przeciwnik nie ma już płytek",
  "the player on turn has no rack: the game is over, or the last rack is not given": "gracz na ruchu nie ma stojaka: partia jest zakończona albo ostatniego stojaka nie podano",
  "the rack of the player on turn is not given": "nie podano stojaka gracza na ruchu",
  "{} is not the whole rack, which has {} tiles while there is a bag": "$1 to nie cały stojak; ma on $2 płytek, dopóki jest worek",
  "a line '{}' is no turn": "wiersz '$1' to nie tura",
  "the turn was lost by a challenge": "tura stracona przez kwestionowanie",
  "the rack is not recorded, and {}": "stojaka nie zapisano, a $1",
  "which tiles it was is not recorded": "nie zapisano, które to były płytki",
  "this is the position of a game that is on; look at it when that is over": "to pozycja z partii, która trwa; obejrzyj ją po jej zakończeniu",
  "at this table players challenge words, so they can't be looked up": "przy tym stole słowa się kwestionuje, więc nie można ich sprawdzać",
  "no turn can be reviewed; line {}: {}": "żadnej tury nie można przeanalizować; wiersz $1: $2",
  "there are no turns to review": "nie ma tur do analizy",
  "no turn is before line {}": "przed wierszem $1 nie ma tury",
  "{}, the most for one visitor; end one, or wait": "masz tu już tyle próśb, ile wolno jednej osobie; zakończ którąś albo poczekaj",
  "{}; try again in a minute": "na silnik czeka już zbyt wiele próśb; spróbuj za minutę",
  "you have used the engine for {} minutes, the limit for an hour": "silnik pracował dla Ciebie $1 minut, a tyle wolno na godzinę",
  "{}; come again later": "$1; wróć później",
  "this server offers no analysis": "ten serwer nie prowadzi analiz",

  // games and positions that can't be read
  "line {}: {}": "wiersz $1: $2",
  "this is neither a GCG nor a CGP: it is no text": "to nie jest GCG ani CGP: to nie tekst",
  "this is neither a GCG, whose lines begin with # or >, nor a CGP, which is 'board racks scores zeros'": "to nie jest GCG, którego wiersze zaczynają się od # lub >, ani CGP: „plansza stojaki wyniki zera”",
  "this is no GCG: no line begins with '#player1' or '>nick:'": "to nie jest GCG: żaden wiersz nie zaczyna się od „#player1” ani „>nick:”",
  "{} does not begin with '>nick:'": "$1 nie zaczyna się od „>nick:”",
  "{} is less than an event: a move, a score and a total": "w $1 brakuje ruchu, punktów lub sumy",
  "{} is no play; write '8D WORD'": "$1 to nie ruch; pisz „8D SŁOWO”",
  "a casual game is against a bot of this server": "partię bez rankingu gra się z botem tego serwera",
  "{} tiles are placed; a rack holds {}": "wyłożono $1 płytek; stojak mieści $2",
  "{} tiles are exchanged; a rack holds {}": "wymieniono $1 płytek; stojak mieści $2",
  "{} players; only a game of two can be replayed": "graczy jest $1; odtworzyć można tylko partię dwóch",
  "{} plays on after the points for racks": "$1 gra dalej po rozliczeniu stojaków",
  "{} takes back a play, but the line before is none": "$1 cofa ruch, ale wiersz wcześniej żadnego nie ma",

  // what of a game was not taken as it is written, and what for
  "The game names the lexicon {}, and this is {}: words that {} lacks count as phonies.":
    "Partia podaje słownik $1, a ten to $2: słowa, których $3 nie ma, liczą się jako niepoprawne.",
  "{} begins with neither '#' nor '>'": "$1 nie zaczyna się od „#” ani „>”",
  "{} does not begin with '>nick:' or '#'": "$1 nie zaczyna się od „>nick:” ani „#”",
  "#rack{} without a #player{}": "#rack$1 bez #player$2",
  "a second #{}; a file holds one game": "drugi wiersz #$1; plik zawiera jedną partię",
  "two players with the nick {}": "dwaj gracze o nazwie $1",
  "{} is more than a rack; it has no spaces": "$1 to więcej niż stojak; nie ma on spacji",
  "no #player line before it names {}": "żaden wcześniejszy wiersz #player nie podaje $1",
  "{} follows the total": "po sumie stoi $1",
  "there is no total": "brakuje sumy",
  "{} is no whole number": "$1 to nie liczba całkowita",
  "{} scores {}, and the total falls": "$1 ma $2 pkt, a suma maleje",
  "{} is no move of a GCG": "$1 to nie ruch w zapisie GCG",
  "the file is UTF-16; a GCG is UTF-8 or ISO-8859-1": "plik jest w UTF-16; GCG jest w UTF-8 albo ISO-8859-1",
  "no #character-encoding, and the text is valid UTF-8": "brak #character-encoding, a tekst jest poprawnym UTF-8",
  "encoding {}; a GCG is UTF-8 or ISO-8859-1": "kodowanie $1; GCG jest w UTF-8 albo ISO-8859-1",
  "byte 0x{} does not fit the file's encoding, {}": "bajt 0x$1 nie pasuje do kodowania pliku, $2",
  "time is a loss; {} is a gain": "za czas się traci; $1 to zysk",
  "a bonus for a challenge is a gain; {} is a loss": "premia za kwestionowanie to zysk; $1 to strata",
  "{} lacks {}, which {} kept": "w $1 brakuje $2, a $3 to zostawił(a)",
  "{} is not on turn; a turn that was lost is written as a pass, '-'": "$1 nie jest na ruchu; straconą turę zapisuje się jako pas, „-”",
  "{} scores {}; the line says {}": "$1 daje $2; w wierszu jest $3",
  "{} and {} make {}": "$1 i $2 to razem $3",
  "{}; the line says {}": "$1; w wierszu jest $2",
  "{} is not the whole rack": "$1 to nie cały stojak",
  "it is left out": "pominięto",
  "the game is cut off before it": "partię ucięto przed tym wierszem",
  "it is read as {}": "odczytano jako $1",
  "the first counts": "liczy się pierwszy",
  "this one is {}, and totals and turns tell whose a line is": "ten to $1, a czyj jest wiersz, wynika z sum i kolejności",
  "it is read without them": "odczytano bez nich",
  "taken as {}": "przyjęto $1",
  "it is {} by the score": "z punktów wynika $1",
  "the file is read as ISO-8859-1": "plik odczytano jako ISO-8859-1",
  "that rack is taken as unknown": "ten stojak przyjęto za nieznany",
  "both racks are taken as written": "oba stojaki przyjęto tak, jak zapisano",
  "the sheet counts": "liczy się zapis",
  "it is cut off, so the rules count": "jest ucięty, więc liczą się zasady",
  "it lies there all the same": "mimo to zostaje na planszy",
  "by its total it is {}'s": "według sumy to ruch gracza $1",
  "{}'s turn before it was lost": "wcześniejszą turę stracił gracz $1",
  "with an empty bag it is {}": "przy pustym worku to $1",

  // what players say of what they believe
  "the bag is empty": "worek jest pusty",
  "nothing is known of the opponent's rack: {}": "nic nie wiadomo o stojaku przeciwnika: $1",
  "all tiles were played; nothing is kept": "zagrano wszystkie płytki; nic nie zostało",
};

/** What codes of refusals, errors and HTTP mean (protocol/SPEC.md, section 9). @type {Record<string, string>} */
const CODES = {
  not_a_move: "to nie jest ruch", not_on_rack: "takiej płytki nie ma na stojaku", not_a_word: "ruch tworzy słowo, którego nie ma w słowniku",
  nothing_placed: "ruch nie wykłada żadnej płytki", too_short: "słowo jest za krótkie", misses_start: "pierwsze słowo musi zakryć pole startowe",
  not_connected: "ruch nie dotyka żadnej płytki na planszy", not_whole_word: "podano tylko część słowa",
  too_late: "czas na kwestionowanie minął", no_challenge: "nie ma czego kwestionować", not_its_word: "tego słowa ruch nie utworzył",
  exchange_too_few_in_bag: "w worku jest za mało płytek na wymianę", exchange_limit: "nie ma już wymian", exchange_empty: "wymiana zera płytek to pas",
  no_such_tile: "nie ma takiej płytki", occupied: "pole jest zajęte", gap: "w ruchu jest przerwa", off_board: "ruch wychodzi poza planszę",
  bad_frame: "wiadomość jest nieczytelna", too_large: "wiadomość jest za duża", bad_message: "wiadomość jest błędna", unknown_type: "nieznana wiadomość",
  no_hello: "brak powitania", bad_version: "inna wersja protokołu", banned: "ta nazwa lub ten adres jest tu zablokowany", bad_act: "tego nie można zrobić",
  forbidden: "to niedozwolone", other_event: "odbywa się tu inny turniej", wrong_role: "nie w tej roli", out_of_turn: "nie w tej chwili",
  bad_nonce: "liczba nie jest tą, do której się zobowiązano", bad_seq: "zły numer tury", bad_attempt: "zły numer próby",
  unknown_game: "nie ma takiej partii", unknown_bot: "nie ma takiego bota", bad_opponent: "z tym przeciwnikiem nie można grać",
  busy: "serwer jest teraz zajęty", closing: "serwer się wyłącza", host_error: "błąd serwera", no_tournament: "nie ma tu turnieju",
  withdrawn: "wycofano Cię z turnieju", unknown_entrant: "nie ma takiego uczestnika", unknown_table: "nie ma takiego stołu", bad_direction: "tego nie można zrobić",
  held_back: "nie ma teraz miejsca na nową partię", absent: "przeciwnika nie ma na serwerze", kicked: "połączenie zamknął administrator", bad_game: "tej partii lub pozycji nie można odczytać", no_engine: "ten serwer nie prowadzi analiz",
  400: "prośba jest błędna", 401: "potrzebny jest kod", 403: "to niedozwolone", 404: "nic takiego tu nie ma", 405: "prośba jest błędna", 421: "to nie ten adres",
  429: "zbyt wiele próśb; spróbuj później", 500: "błąd serwera", 503: "serwer jest teraz niedostępny",
};

/** What is put in never has "; ", which joins sentences. @type {[pattern: RegExp, text: string][]} */
const PATTERNS = Object.entries(SAID).map(([sentence, text]) =>
  [new RegExp(`^${sentence.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll("{}", "((?:(?!; )[^])*?)")}$`, "u"), text]);

/** A sentence if it is known. @param {string} sentence @returns {string | null} */
const one = (sentence) => {
  for (const [pattern, text] of PATTERNS) {
    const found = pattern.exec(sentence);
    if (found) return text.replace(/\$(\d)/g, (_, number) => server.said(found[number] ?? "").replace(/(?<=\p{Lu}) and (?=\p{Lu})/gu, " i "));
  }
  return null;
};

/** A sentence, or several, if they are known. @param {string} sentence @returns {string | null} */
const known = (sentence) => {
  const whole = one(sentence);
  for (let at = whole ? -1 : sentence.indexOf("; "); at >= 0; at = sentence.indexOf("; ", at + 1)) {
    const first = one(sentence.slice(0, at)), rest = first && known(sentence.slice(at + 2));
    if (rest) return `${first}; ${rest}`;
  }
  return whole;
};

/** @type {typeof import("./texts_en_server.js").server} */
export const server = {
  said: (sentence) => known(sentence) ?? sentence,
  why: (code, sentence) => known(sentence) ?? (Object.hasOwn(CODES, code) ? `${CODES[code]} („${sentence}”)` : sentence),
};
