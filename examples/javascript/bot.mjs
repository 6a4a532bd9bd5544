// A bot in JavaScript, written from protocol/SPEC.md: it lays the word of the highest score.
//
//     tilewire lexicon words --out words.txt
//     node bot.mjs ws://127.0.0.1:8484 greedy words.txt
//
// It needs nothing but a WebSocket: node 22 or later, node 20 with --experimental-websocket, or a
// browser, where a page imports `play`. It plays with the board "standard" and English tiles, and declines
// other games; it challenges nothing.

const SIDE = 15;
const QUARTER = ["=..'...=", ".-...\"..", "..-...'.", "'..-...'", "....-...", ".\"...\"..", "..'...'.", "=..'...-"];
const POINTS = {};
for (const [points, letters] of [[1, "AEILNORSTU"], [2, "DG"], [3, "BCMP"], [4, "FHVWY"], [5, "K"], [8, "JX"], [10, "QZ"]])
  for (const letter of letters) POINTS[letter] = points;

const premium = (row, column) => QUARTER[Math.min(row, 14 - row)][Math.min(column, 14 - column)];
const lettersTimes = { "'": 2, '"': 3 };
const wordTimes = { "-": 2, "=": 3 };
const value = (tile) => POINTS[tile] ?? 0; // a blank, in lower case, scores nothing
const bits = (letters) => [...letters].reduce((mask, letter) => mask | (1 << (letter.charCodeAt(0) - 65)), 0);

function ones(mask) {
  let count = 0;
  for (; mask; mask &= mask - 1) count++;
  return count;
}

/** The words of a list, ready to be searched. */
export function lexiconOf(text) {
  const list = text.toUpperCase().split(/\s+/).filter((word) => /^[A-Z]{2,15}$/.test(word));
  return { list, masks: Int32Array.from(list, bits), has: new Set(list) };
}

/** The rows of a position (CGP), each a list of SIDE tiles; "" is an empty square. */
export function rowsOf(position) {
  return position.split(" ")[0].split("/").map((row) =>
    row.match(/\d+|[A-Za-z]/g).flatMap((part) => (/\d/.test(part) ? Array(Number(part)).fill("") : [part])),
  );
}

/** The best move of a turn: { text, score }. */
export function choose(position, rack, bag, lexicon) {
  const rows = rowsOf(position);
  const columns = rows.map((_, column) => rows.map((row) => row[column]));
  const isEmpty = rows.every((row) => row.every((tile) => !tile));
  let best = { text: bag >= 7 && rack ? `-${rack}` : "-", score: 0, laid: 0 };
  for (const [board, isDown] of [[rows, false], [columns, true]])
    for (let line = 0; line < SIDE; line++) {
      if (isEmpty && line !== 7) continue;
      for (const found of wordsIn(board, line, rack, isEmpty, lexicon)) {
        const { start, tiles, laid } = found;
        const score = scoreOf(board, line, found, lexicon);
        if (score === null || score < best.score || (score === best.score && laid <= best.laid)) continue;
        const [row, column] = isDown ? [start, line] : [line, start];
        const [number, letter] = [row + 1, String.fromCharCode(65 + column)];
        best = { text: `${isDown ? letter + number : number + letter} ${tiles}`, score, laid };
      }
    }
  return best;
}

/** Each way to lay a word of the list in a line, with tiles of the rack, touching what lies there. */
function* wordsIn(board, line, rack, isEmpty, lexicon) {
  const here = board[line];
  const lies = here.map((tile) => tile.toUpperCase());
  const isBeside = here.map((_, at) => Boolean(board[line - 1]?.[at] || board[line + 1]?.[at]));
  if (!isEmpty && !lies.some(Boolean) && !isBeside.some(Boolean)) return;
  const blanks = rack.split("?").length - 1;
  const allowed = bits(rack.replaceAll("?", "")) | bits(lies.join(""));
  for (let which = 0; which < lexicon.list.length; which++) {
    if (ones(lexicon.masks[which] & ~allowed) > blanks) continue;
    const word = lexicon.list[which];
    for (let start = 0; start + word.length <= SIDE; start++) {
      const end = start + word.length;
      if (lies[start - 1] || lies[end]) continue; // the word would go on
      const left = [...rack];
      let [tiles, laid, touches] = ["", 0, isEmpty && start <= 7 && 7 < end];
      for (let at = start; at < end; at++) {
        const letter = word[at - start];
        if (lies[at]) {
          if (lies[at] !== letter) break;
          tiles += ".";
          touches = true;
          continue;
        }
        const from = left.includes(letter) ? left.indexOf(letter) : left.indexOf("?");
        if (from < 0) break;
        tiles += left[from] === "?" ? letter.toLowerCase() : letter;
        left.splice(from, 1);
        touches ||= isBeside[at];
        laid++;
      }
      if (tiles.length === word.length && laid && touches) yield { start, tiles, laid };
    }
  }
}

/** What a word scores with all words that it makes; null if one of those is none. */
function scoreOf(board, line, { start, tiles, laid }, lexicon) {
  let [main, times, others] = [0, 1, 0];
  for (let offset = 0; offset < tiles.length; offset++) {
    const at = start + offset;
    if (tiles[offset] === ".") {
      main += value(board[line][at]);
      continue;
    }
    const square = premium(line, at); // the board is the same in rows and columns
    const worth = value(tiles[offset]) * (lettersTimes[square] ?? 1);
    main += worth;
    times *= wordTimes[square] ?? 1;
    let [first, last] = [line, line];
    while (board[first - 1]?.[at]) first--;
    while (board[last + 1]?.[at]) last++;
    if (first === last) continue;
    let [cross, sum] = ["", worth];
    for (let other = first; other <= last; other++) {
      cross += other === line ? tiles[offset] : board[other][at];
      if (other !== line) sum += value(board[other][at]);
    }
    if (!lexicon.has.has(cross.toUpperCase())) return null;
    others += sum * (wordTimes[square] ?? 1);
  }
  return main * times + others + (laid === 7 ? 50 : 0);
}

/** Play a game at a server against one of its bots; the last message, `game_over`, with our seat as `you` and the names as `players`. */
export function play(url, opponent, lexicon, warn = console.error) {
  if (!globalThis.WebSocket) throw new Error("no WebSocket is here: take node 22, or node 20 with --experimental-websocket");
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, "tilewire.v1.json");
    const say = (type, fields) => socket.send(JSON.stringify({ type, ...fields }));
    let [seat, players, expected] = [0, [], 0];
    // With secret: "" it would be given a secret to keep, and only that would come back by its name.
    socket.onopen = () => say("hello", { role: "player", name: "javascript" });
    socket.onerror = () => reject(new Error(`${url} can't be reached`));
    socket.onclose = () => reject(new Error("the connection was lost"));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      const { type, game, seq, attempt = 1 } = message;
      if (type === "welcome" && message.games?.length) say("resume", { game: message.games[0] });
      else if (type === "welcome") say("seek", { opponent });
      else if (type === "seeking" && (message.held_back ?? message.absent))
        warn(`waits: ${message.held_back ?? message.absent}`);
      else if (type === "new_game" && (message.rules.tiles?.length || message.rules.board?.length)) {
        const why = "it knows English tiles and the standard board only";
        say("decline", { game, code: "unsupported_rules", message: why });
      } else if (type === "new_game") {
        [seat, players] = [message.you, message.players]; // of an earlier game perhaps others
        say("ready", { game });
      } else if (type === "your_turn") {
        const { text, score } = choose(message.position, message.rack, message.bag, lexicon);
        expected = score;
        say("move", { game, seq, attempt, move: text });
      } else if (type === "played" && message.seat === seat && message.score !== expected && !/won|lost/.test(message.challenge))
        warn(`${message.move} scored ${message.score}, not ${expected}`);
      else if (type === "refused") {
        warn(`refused: ${message.message}`);
        expected = 0;
        say("move", { game, seq, attempt: attempt + 1, move: "-" });
      } else if (type === "ping") say("pong", { id: message.id });
      else if (type === "game_over") {
        resolve({ ...message, you: seat, players });
        socket.close();
      } else if (type === "error") reject(new Error(message.message));
    };
  });
}

const program = globalThis.process?.argv?.[1];
const { realpathSync, readFileSync } = program ? await import("node:fs") : {};
const { pathToFileURL } = program ? await import("node:url") : {};
if (program && pathToFileURL(realpathSync(program)).href === import.meta.url) { // it is run, not imported
  const [url, opponent, words] = process.argv.slice(2);
  if (!words) {
    console.error("node bot.mjs URL OPPONENT WORDS; `tilewire lexicon words --out WORDS` writes them");
    process.exit(2);
  }
  try {
    const over = await play(url, opponent, lexiconOf(readFileSync(words, "utf8")));
    const ended = over.winner === null ? "no winner" : over.winner === over.you ? "won" : "lost";
    const [own, theirs] = over.you ? over.scores.toReversed() : over.scores;
    console.log(`${ended} ${own}–${theirs} against ${over.players[1 - over.you]} (${over.outcome}: ${over.message})`);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
