"""A person's side of the conversation where messages and windows meet at an unlucky moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from page.modules import asked

ASK = """
const { told, past, kept } = JSON.parse(process.argv[2]);
const store = (items) => ({
  getItem: (key) => items[key] ?? null,
  setItem: (key, value) => { items[key] = value; },
  removeItem: (key) => { delete items[key]; },
});
const said = [];
globalThis.location = { href: "http://127.0.0.1/" };
globalThis.sessionStorage = store({ "tilewire.game": JSON.stringify(kept.game) });
globalThis.localStorage = store({
  "tilewire.draws Ann": JSON.stringify(kept.witness),
  "tilewire.secret Ann": JSON.stringify(kept.secret),
});
const answer = past ?? { error: "none" }, status = past ? 200 : 404;
const answers = async () => ({ ok: status === 200, status, json: async () => answer });
globalThis.fetch = answers;
if (kept.isDead) {
  globalThis.fetch = (_, { signal }) =>
    new Promise((_, fail) => signal.addEventListener("abort", fail));
  AbortSignal.timeout = () => {
    const soon = new AbortController();
    setTimeout(() => soon.abort(), 200);
    return soon.signal;
  };
}
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  send(text) { said.push(JSON.parse(text)); }
  close() {}
};
const { Playing } = await import("./playing.js");
const ignore = () => {}, listener = { changed: ignore, said: ignore };
const playing = new Playing({ name: "Ann", token: kept.token ?? "" }, listener);
if (kept.seeks) playing.seek("static");
for (const message of told) {
  if (message.type === "lost") playing.lost(1);
  else if (message.type === "opened") playing.connection.socket.onopen();
  else if (message.type === "connected anew") {
    globalThis.fetch = answers;
    playing.connection.connect();
  } else playing.connection.hear(message);
  await (kept.isDead ? new Promise((go) => setTimeout(go)) : playing.queue);
}
await playing.queue;
const { phase, sentence, witness, lostFor } = playing;
playing.connection.stop();
console.log(JSON.stringify({ phase, sentence, witness, lostFor, said }));
"""


def ended(game: str) -> dict[str, Any]:
    """What the server tells of a game that is over."""
    offer = {
        "game": game,
        "players": ["Ann", "static"],
        "history": [],
        "opening": None,
        "seq": 0,
        "rules": {
            "name": "english",
            "rack_size": 7,
            "bingo_bonus": 50,
            "exchange_minimum": 7,
            "challenge": "void",
        },
        "time": {"initial_ms": 60_000},
    }
    over = {"message": "Ann has resigned", "outcome": "resigned", "scores": [0, 0], "winner": 1}
    board = {"columns": 15, "letter": [1] * 225, "word": [1] * 225, "start": 112}
    return {"offer": offer, "over": over, "turns": [], "board": board, "tiles": [], "begun": None}


def heard(folder: Path, *told: dict[str, Any], past: str | None = None, **kept: Any) -> Any:
    """Let a page hear messages; return where it is then, and what it said."""
    question = {"told": told, "past": past and ended(past), "kept": {"game": None, **kept}}
    return asked(folder, ASK, question)


WELCOME = {"type": "welcome", "games": []}


def test_a_witness_of_another_windows_game_accuses_nobody(tmp_path: Path) -> None:
    of_another = {"game": "two", "nonce": "ab", "commitment": "cd", "racks": {}}
    shown = heard(tmp_path, WELCOME, past="one", game="one", witness=of_another)
    assert (shown["phase"], shown["witness"]) == ("over", None)


def test_a_full_server_is_asked_again_for_what_was_wished_for(tmp_path: Path) -> None:
    busy = {"type": "error", "code": "busy", "message": "there is no room", "retry": "later"}
    lost = {"type": "lost"}
    full = heard(tmp_path / "full", busy, seeks=True)
    assert (full["phase"], full["said"]) == ("connecting", [])
    assert "there is no room" in full["sentence"]
    let_in = heard(tmp_path / "in", busy, WELCOME, seeks=True)
    assert (let_in["phase"], let_in["sentence"]) == ("seeking", "")
    assert [each["opponent"] for each in let_in["said"]] == ["static"]
    again = heard(tmp_path / "again", WELCOME, lost, busy, lost, WELCOME, seeks=True)
    assert (again["phase"], again["sentence"]) == ("seeking", "")
    assert [each["opponent"] for each in again["said"]] == ["static"] * 2


def test_a_game_that_ends_as_it_is_asked_for_is_over(tmp_path: Path) -> None:
    listed = {"type": "welcome", "games": ["one"]}
    over = {"type": "game_over", "game": "one"}
    assert heard(tmp_path / "a", listed, over, past="one")["phase"] == "over"
    unknown = {"type": "error", "code": "unknown_game", "message": "no such game", "game": "one"}
    assert heard(tmp_path / "b", listed, unknown, past="one", game="one")["phase"] == "over"
    gone = heard(tmp_path / "c", listed, unknown, game="one")
    assert gone["phase"] == "idle"
    assert gone["said"] == [{"type": "resume", "game": "one"}]


def test_a_network_that_dies_under_an_offer_holds_nothing_up(tmp_path: Path) -> None:
    """Else all that the next connection says would wait for the answer, which never comes."""
    listed = {"type": "welcome", "games": ["one"]}
    offer = {"type": "new_game", "game": "one", "you": 0, "seq": 0}
    assert heard(tmp_path / "a", listed, offer, isDead=True)["lostFor"] == 1
    anew = {"type": "connected anew"}
    shown = heard(tmp_path / "b", listed, offer, anew, WELCOME, isDead=True)
    assert (shown["lostFor"], shown["phase"]) == (0, "idle"), "what comes too late drops nothing"


def test_a_name_without_a_token_comes_back_by_the_secret_of_its_welcome(tmp_path: Path) -> None:
    opened, anew = {"type": "opened"}, {"type": "connected anew"}
    shown = heard(tmp_path / "new", opened, WELCOME | {"secret": "ab"}, anew, opened)
    assert [each["secret"] for each in shown["said"]] == ["", "ab"]
    shown = heard(tmp_path / "kept", opened, WELCOME, anew, opened, secret="cd")
    assert [each["secret"] for each in shown["said"]] == ["cd", "cd"]
    shown = heard(tmp_path / "token", opened, token="t", secret="cd")
    assert [(each["token"], "secret" in each) for each in shown["said"]] == [("t", False)]
