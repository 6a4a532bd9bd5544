"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.games.length) return;
  const { columns, letter, word, start } = data.layout;
  const rows = letter.length / columns;
  const part = (id) => document.getElementById(id);
  const element = (name, text = "", className = "") =>
    Object.assign(document.createElement(name), { textContent: text, className });
  let game = data.games[0];
  let turns = 0; // how many are on the board

  // --- texts ---

  const tilesOf = (text) => text.match(/\[[^\]]*\]|./gu) || [];
  const bare = (tile) => tile.replace(/[[\]]/g, "");
  const name = (seat) => data.names[game.p[seat]];
  const seconds = (ms) => ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 60000 ? 2 : 0)} s`;
  const signed = (points) => points < 0 ? `−${-points}` : `+${points}`;
  const clock = (ms) => {
    const whole = Math.abs(Math.floor(ms / 1000));
    return `${ms < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };
  const told = (of) =>
    `${of.n}: ${data.names[of.p[0]]} ${of.s[0]} – ${of.s[1]} ${data.names[of.p[1]]}`;

  // --- the board ---

  // A placement is its first square, 8D across or D8 down, and its tiles, "." for those there.
  const parsed = (move) => {
    const [square, tiles = ""] = move.split(" ");
    const step = /^\d/.test(square) ? 1 : columns;
    const column = square.replace(/\d/g, "").charCodeAt(0) - 65;
    const from = (parseInt(square.replace(/\D/g, ""), 10) - 1) * columns + column;
    return { square, tiles: tilesOf(tiles).map((tile, at) => [from + at * step, tile]) };
  };

  const placed = (move) => parsed(move).tiles.filter(([, tile]) => tile !== ".");

  const rackOf = (seat) => {
    const next = game.t.findIndex((_, at) => at >= turns && at % 2 === seat);
    return next < 0 ? game.k[seat] : game.t[next][0];
  };

  const totals = (count) => {
    const sums = [...(game.z || [0, 0])];
    game.t.slice(0, count).forEach((turn, at) => { sums[at % 2] += turn[2]; });
    return sums;
  };

  const drawBoard = () => {
    const board = new Map(game.b);
    let fresh = new Set();
    for (const turn of game.t.slice(0, turns)) {
      const put = placed(turn[1]);
      fresh = new Set(put.map(([at]) => at));
      for (const [at, tile] of put) board.set(at, tile);
    }
    const squares = [element("div", "", "edge")];
    for (let column = 0; column < columns; column++) {
      squares.push(element("div", String.fromCharCode(65 + column), "edge"));
    }
    for (let at = 0; at < rows * columns; at++) {
      if (at % columns === 0) squares.push(element("div", at / columns + 1, "edge"));
      squares.push(board.has(at) ? tileAt(board.get(at), fresh.has(at)) : emptyAt(at));
    }
    part("board").style.gridTemplateColumns = `repeat(${columns + 1}, 1fr)`;
    part("board").replaceChildren(...squares);
    part("board").setAttribute("aria-label", `The board after ${turns} turns, ${board.size} tiles`);
    return board.size;
  };

  const tileAt = (tile, fresh) => {
    const points = data.points[tile];
    const kind = `tile${fresh ? " fresh" : ""}${points === undefined ? " blank" : ""}`;
    const square = element("div", bare(tile), kind);
    if (points) square.append(element("sub", points));
    return square;
  };

  const emptyAt = (at) => {
    if (word[at] > 1) return element("div", at === start ? "★" : `${word[at]}W`, `w${word[at]}`);
    if (letter[at] > 1) return element("div", `${letter[at]}L`, `l${letter[at]}`);
    return element("div", at === start ? "★" : "");
  };

  // --- the page ---

  // Not disabled: a button that was just pressed keeps the keyboard.
  const turnOff = (isOff, ...names) => names.forEach((each) => part(each).setAttribute("aria-disabled", isOff));

  const show = () => {
    const onBoard = drawBoard();
    const racks = [rackOf(0), rackOf(1)];
    const scores = turns === game.t.length ? game.s : totals(turns);
    const bag = data.tiles - onBoard - tilesOf(racks[0]).length - tilesOf(racks[1]).length;
    part("racks").replaceChildren(...[0, 1].map((seat) => {
      const onTurn = turns < game.t.length && turns % 2 === seat;
      return element("span", `${onTurn ? "▸ " : ""}${name(seat)} ${scores[seat]}${racks[seat] && `, ${racks[seat]}`}`);
    }), element("span", `${bag} in the bag`));
    part("where").textContent = `turn ${turns} of ${game.t.length}`;
    turnOff(turns === 0, "first", "back");
    turnOff(turns === game.t.length, "last", "forward");
    [...part("sheet").tBodies[0].rows].forEach((row, at) => {
      if (at + 1 === turns) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    });
  };

  const go = (to) => {
    turns = Math.max(0, Math.min(to, game.t.length));
    show();
  };

  const full = (move, at) => {
    if (move === "-") return "pass";
    if (move.startsWith("-")) return move;
    const laid = game.t.slice(0, at).flatMap((turn) => placed(turn[1]));
    const through = new Map([...(game.b || []), ...laid]);
    const { square, tiles } = parsed(move);
    const text = tiles.map(([here, tile]) => tile === "." ? `(${through.get(here)})` : tile);
    return `${square} ${text.join("").replaceAll(")(", "")}`;
  };

  const choose = (at) => {
    if (!data.games[at]) return;
    game = data.games[at];
    part("game").selectedIndex = at;
    turnOff(at === 0, "earlier");
    turnOff(at === data.games.length - 1, "later");
    part("players").textContent = told(game);
    const lines = game.t.map(([rack, move, score, think, left], index) => {
      const line = element("tr");
      const head = element("th");
      const button = element("button", index + 1);
      button.type = "button";
      button.setAttribute("aria-label", `Board after turn ${index + 1}`);
      button.addEventListener("click", () => go(index + 1));
      head.append(button);
      const total = totals(index + 1)[index % 2];
      const cells = [
        [name(index % 2), "text"], [full(move, index), "text"], [signed(score)], [total],
        [rack, "text"], [seconds(think)], [clock(left)],
      ];
      line.append(head, ...cells.map(([text, kind]) => element("td", text, kind)));
      return line;
    });
    part("sheet").tBodies[0].replaceChildren(...lines);
    const settled = [0, 1].flatMap((seat) => [
      ...(game.x[seat] ? [`${name(seat)} ${signed(game.x[seat])} for racks`] : []),
      ...(game.y[seat] ? [`${name(seat)} −${game.y[seat]} for overtime`] : []),
    ]);
    part("ending").textContent =
      `${[game.o, ...settled].join("; ")}. Final score ${game.s[0]} – ${game.s[1]}.`;
    go(game.t.length);
  };

  part("game").append(...data.games.map((of) => element("option", told(of))));
  part("game").addEventListener("change", () => choose(part("game").selectedIndex));
  part("earlier").addEventListener("click", () => choose(data.games.indexOf(game) - 1));
  part("later").addEventListener("click", () => choose(data.games.indexOf(game) + 1));
  part("first").addEventListener("click", () => go(0));
  part("back").addEventListener("click", () => go(turns - 1));
  part("forward").addEventListener("click", () => go(turns + 1));
  part("last").addEventListener("click", () => go(game.t.length));
  part("unscripted").remove();
  part("viewer").hidden = false;
  choose(0);
})();
