"""The page's side of an analysis whose network is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from page.modules import asked

ASK = """
const { answers } = JSON.parse(process.argv[2]);
globalThis.location = { href: "http://127.0.0.1/" };
let now = 0, look = null;
performance.now = () => now;
globalThis.setInterval = (tick) => { look = tick; return 1; };
globalThis.clearInterval = () => { look = null; };
const said = [], heard = [];
globalThis.WebSocket = class {
  static OPEN = 1;
  readyState = 1;
  send(text) {
    said.push(JSON.parse(text).type);
    if (answers) setTimeout(() => this.onmessage({ data: '{"type": "pong", "id": null}' }));
  }
  close() {}
};
const { Analysis } = await import("./analysis.js");
const analysis = new Analysis();
analysis.ask("", {}, (message) => heard.push(message.code));
for (let tick = 0; tick < 5 && look; tick += 1) {
  now += 10000;
  look();
  await new Promise((done) => setTimeout(done));
}
const watched = look !== null;
if (watched) analysis.hear({ type: "done", id: 1 });
console.log(JSON.stringify({ said, heard, watched, after: look !== null }));
"""


@pytest.mark.parametrize("answers", [False, True])
def test_a_silent_line_is_a_lost_one(answers: bool, tmp_path: Path) -> None:
    told = asked(tmp_path, ASK, {"answers": answers})
    assert told["heard"] == ([None] if answers else ["lost"]), "done has no code"
    assert told["said"] == ["analyse"] + ["ping"] * (5 if answers else 2)
    assert told["watched"] is answers
    assert not told["after"], "without a request nothing is asked"
