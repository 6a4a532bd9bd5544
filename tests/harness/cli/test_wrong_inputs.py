"""What is typed wrong: each command answers with a sentence and a status, and makes nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND

from harness.cli.failing import in_plain_characters

EMPTY_BOARD = "/".join(["15"] * 15)
OPENING = f"'{EMPTY_BOARD} AEINRST/ 0/0 0'"
LATE = (
    "'4Q2B6s/3GIT1ASPERATE/3O1A1R2FIX1N/3D1I1A6S/3E1L1T1BUCKRA/3T1YEH6T/O2I1EYE2L3E/L1DA3ADVEW2D/"
    "I1O7U4/OJO5FICTIVE/1OR7H4/2I3AZ7/2N3PO7/fUGLEMEN7/7A7 EGIMNNR/ 465/472 0'"
)
"""With an empty bag."""

WRONG = [
    # Numbers: not whole, out of range, with units, without them, empty, negative.
    ("match greedy greedy --games 2.5", "--games must be a whole number (got '2.5')"),
    ("match greedy greedy --games 0", "--games must be at least 1 (got 0)"),
    ("match greedy greedy --games -3", "--games must be at least 1 (got -3)"),
    ("match greedy greedy --games ten", "--games must be a whole number (got 'ten')"),
    ("match greedy greedy --games 5m", "--games must be a whole number (got '5m')"),
    ("match greedy greedy --games ''", "--games must not be empty"),
    ("match greedy greedy --games=", "--games must not be empty"),
    ("match greedy greedy --games 9e9", "--games must be a whole number (got '9e9')"),
    (f"match greedy greedy --games 1{'0' * 40}", "--games must be at most 9,007,199,254,740,992"),
    (f"match greedy greedy --games {'9' * 400}", "--games must be a whole number (got '9999"),
    (f"match greedy greedy --games {'9' * 9999}", "--games must be a whole number (got '9999"),
    ("tournament static greedy vanilla --sprt 0,5", "--sprt; it is for tilewire match"),
    ("tournament static greedy vanilla --luck", "unknown option: --luck; it is for tilewire match"),
    ("match greedy greedy --concurrency 0", "--concurrency must be at least 1 (got 0)"),
    ("match greedy greedy --threads 1000000000", "--threads must be at most 1,024"),
    ("match greedy greedy --seed -1", "--seed must be at least 0 (got -1)"),
    ("match greedy greedy --seed 1.0", "--seed must be a whole number (got '1.0')"),
    ("match greedy greedy --overtime-penalty x", "--overtime-penalty must be a whole number"),
    ("match greedy greedy --time -5m", "--time: '-5m' is no duration; write 25m, 1m30s, 0.5s"),
    ("match greedy greedy --time 5", "--time: '5' is no duration"),
    ("match greedy greedy --time 5min", "--time: '5min' is no duration"),
    ("match greedy greedy --time ''", "--time must not be empty"),
    ("match greedy greedy --time 99999h", "--time: '99999h' is longer than a year"),
    ("match greedy greedy --margin -1s", "--margin: '-1s' is no duration"),
    ("match greedy greedy --increment inf", "--increment: 'inf' is no duration"),
    ("serve --port 80.7", "--port must be a whole number (got '80.7')"),
    ("serve --port 65536", "--port must be at most 65,535 (got 65536)"),
    ("play --port 65536", "--port must be at most 65,535 (got 65536)"),
    ("serve --port http", "--port must be a whole number (got 'http')"),
    ("serve --max-games 0", "--max-games must be at least 1 (got 0)"),
    ("serve --max-games 1.5", "--max-games must be a whole number (got '1.5')"),
    ("serve --drain 5", "--drain: '5' is no duration"),
    ("serve --standby", "--standby waits for a journal that several machines reach: --db postgr"),
    (
        "serve --standby --db postgresql://127.0.0.1:1/x --host 0.0.0.0",
        "--host 0.0.0.0 stands for all addresses, and other hosts need one to reach this one: "
        "--advertise HOST:PORT",
    ),
    ("serve --advertise here", "--advertise: 'here' is no address; write HOST:PORT"),
    ("serve --advertise 0.0.0.0:80", "--advertise: 0.0.0.0:80 stands for all addresses; name one"),
    ("connect ws://127.0.0.1:1 --bot greedy --games 0", "--games must be at least 1 (got 0)"),
    ("files there --bot greedy --games 1e3", "--games must be a whole number (got '1e3')"),
    ("show game.gcg --turn 2.5", "--turn must be a whole number (got '2.5')"),
    (f"generate {OPENING} --top 2.9", "--top must be a whole number (got '2.9')"),
    (f"generate {OPENING} --top 0", "--top must be at least 1 (got 0)"),
    (f"analyze {OPENING} --time 0s", "--time must be at least 1ms (got 0s)"),
    (f"analyze {OPENING} --candidates 0", "--candidates must be at least 1 (got 0)"),
    (f"analyze {OPENING} --plies two", "--plies must be a whole number (got 'two')"),
    (f"analyze {OPENING} --rollouts -1", "--rollouts must be at least 1 (got -1)"),
    (f"endgame {OPENING} --time -1s", "--time: '-1s' is no duration"),
    (f"endgame {OPENING} --memory 5", "--memory: '5' is no amount of memory; write 256M or 1G"),
    (f"preendgame {OPENING} --candidates 0", "--candidates must be at least 1 (got 0)"),
    (f"preendgame {OPENING} --threads 0", "--threads must be at least 1 (got 0)"),
    (f"infer {OPENING} --model margin --margin x", "--margin must be a number (got 'x')"),
    (f"infer {OPENING} --temperature=-3", "a temperature of -3; it must be 0 to 1,000 points"),
    (f"infer {OPENING} --temperature 1e12", "a temperature of 1e+12; it must be 0 to 1,000 points"),
    (f"infer {OPENING} --temperature nan", "--temperature must be a number (got 'nan')"),
    (f"infer {OPENING} --racks 1.5", "--racks must be a whole number (got '1.5')"),
    ("siu --threads x", "--threads must be a whole number (got 'x')"),
    ("siu --seed -1", "--seed must be at least 0 (got -1)"),
    ("leaves --top 2.9", "--top must be a whole number (got '2.9')"),
    ("train winprob --out x.csv --games 0", "--games must be at least 1 (got 0)"),
    ("train winprob --out x.csv --check -1", "--check must be at least 0 (got -1)"),
    ("train leaves --out x.klv2 --minutes inf", "--minutes must be a number (got 'inf')"),
    ("train leaves --out x.klv2 --minutes -1", "--minutes must be at least 0.01 (got -1)"),
    ("train leaves --out x.klv2 --games 5", "5 games; a training has 100 or more"),
    ("train leaves --out x.klv2 --games 500 --workers 0", "--workers must be at least 1 (got 0)"),
    ("experiment duel static greedy --games 0", "--games must be at least 1 (got 0)"),
    ("experiment duel static greedy --games 1000000000000", "--games must be at most 100,000,000"),
    ("experiment duel static greedy --workers 100000", "--workers must be at most 1,024"),
    ("experiment duel static greedy --seed -1", "--seed must be at least 0 (got -1)"),
    ("experiment oracle greedy static --judge-plies 0", "--judge-plies must be at least 1"),
    ("bench selfplay --games 1e6", "--games must be a whole number (got '1e6')"),
    ("bench selfplay --games 10000000000", "--games must be at most 100,000,000"),
    ("bench generate --seed x", "--seed must be a whole number (got 'x')"),
    ("bench sim --words 0", "--words must be at least 1 (got 0)"),
    ("bench infer --plays 1.5", "--plays must be a whole number (got '1.5')"),
    ("bench endgame --positions 0", "--positions must be at least 1 (got 0)"),
    ("bench endgame --memory 1K", "--memory: with so many threads (1) it is 32M or more"),
    ("bench deadlines --load 100000", "--load must be at most 1,024 (got 100000)"),
    ("bench deadlines --from 2s --to 1s", "--to must be at least as long as --from"),
    ("bench soak --out new --resume", "--out new has no piece to add to"),
    ("bench server --connections 0", "--connections must be at least 1 (got 0)"),
    ("bench server --rate 0", "--rate must be at least 1 (got 0)"),
    ("bench server --seconds nan", "--seconds must be a number (got 'nan')"),
    # What is not there, twice, or of no such name.
    ("mach greedy greedy", "no command is called 'mach'; did you mean match? tilewire --help"),
    ("nosuch", "no command is called 'nosuch'; tilewire --help lists them"),
    ("bench nosuch", 'unknown command "nosuch"'),
    *(
        (typed, f"{argument} is missing")
        for typed, argument in (
            ("admin", "URL"),
            ("admin ws://there", "ACTION"),
            ("admin ws://there list", "--name"),
            ("analyze", "POSITION"),
            ("backup", "JOURNAL"),
            ("check", "SEAT"),
            ("direct", "URL"),
            ("direct ws://there", "ACTION"),
            ("files", "FOLDER"),
            ("games", "JOURNAL"),
            ("generate", "POSITION"),
            ("infer", "POSITION"),
            ("new bot", "NAME"),
            ("preendgame", "POSITION"),
            ("report", "FOLDER"),
            ("show", "GAME"),
        )
    ),
    ("admin ws://there dance --name h --token-file no", "no action is called 'dance'; there are l"),
    ("match greedy greedy --gmaes 5", "unknown option: --gmaes. Did you mean --games?"),
    ("train winprob --gmaes 5", "unknown option: --gmaes. Did you mean --games?"),
    ("train winprob --games 5", "--out is missing"),
    (
        "match greedy greedy static",
        "static: more arguments than the command takes; tilewire tournament plays three seats",
    ),
    (
        f"generate {EMPTY_BOARD} AEINRST/ 0/0 0",
        "AEINRST/ 0/0 0: more arguments than the command takes; a CGP stands in quotes",
    ),
    ("match static", "a match needs two seats, such as: tilewire match static greedy"),
    ("tournament static", "a tournament needs three seats, such as: tilewire tournament static gr"),
    ("tournament none.toml", "none.toml: No such file or directory"),
    ("tournament static greedy rh --format ladder", 'invalid value "ladder" for --format. Choose'),
    ("match club static", "club is a level of tilewire play: static?temperature=7"),
    ("match greedy greedy --transport tcp", 'invalid value "tcp" for --transport'),
    ("match greedy greedy --games", "--games needs a value"),
    ("match greedy greedy --out ''", "--out must not be empty"),
    ("match gredy greedy", "no bot is called 'gredy'"),
    ("match 'greedy?x=1' greedy", "no option is called 'x'; it takes none"),
    ("match no.py:Bot greedy", "there is no file 'no.py'"),
    ("match nomodule:Bot greedy", "there is no module 'nomodule' to be imported"),
    ("match greedy ws://", "'ws://' names no host; write ws://host:port/bot"),
    ("match greedy greedy --leaves no.klv2", "there is no leave table /"),
    ("match greedy greedy --winprob no.csv", "there is no table of win probabilities /"),
    ("match --resume folder", "folder contains no match or tournament: match.json is missing"),
    (
        "match greedy greedy --resume folder",
        "folder contains no match or tournament: match.json is missing",
    ),
    (
        "tournament greedy rh --resume no",
        "no contains no match or tournament: match.json is missing",
    ),
    ("bench deadlines --bot guest:ann", "'guest:ann' does not play on this machine; try it"),
    ("serve --tls-key key.pem", "--tls-key needs --tls-cert"),
    ("connect", "URL is missing"),
    ("connect ws://127.0.0.1:1", "--bot is missing"),
    ("play guest:ann", "guest:ann: a guest dials in to a tournament; name a bot"),
    ("play static --name greedy", "--name greedy: a bot has that name; choose another"),
    ("play clubb", "expert, champion-1s, without options; did you mean club?"),
    ("connect foo --bot greedy", "foo is no server's address; write ws://host:port or wss://"),
    ("connect ws://h:99999 --bot greedy", "ws://h:99999 is no server's address; write ws://host"),
    ("connect ws://h:1 --bot ws://b:2/x --threads 2", "ws://b:2/x is elsewhere and has words and"),
    ("connect ws://h:1 --bot ws://b:2/x --rules polish", "ws://b:2/x is elsewhere and has words"),
    ("connect ws://h:1 --bot ws://b:2/x --seed 5", "ws://b:2/x is elsewhere and has words"),
    ("files folder --bot ws://b:2/x --seed 5", "ws://b:2/x is elsewhere and has tables of its own"),
    ("files folder --bot ws://b:2/x --threads 2", "ws://b:2/x is elsewhere and has tables of its"),
    ("files folder --bot ws://b:2/x --leaves formula", "leave out --leaves, --winprob, --threads"),
    ("direct http://h:1 standings", "http://h:1 is no server's address; write ws://host:port"),
    ("watch ws://h:1 --ca no.pem", "--ca is for a server at wss://, and ws://h:1 is not"),
    ("connect ws://127.0.0.1:1 --bot gredy", "no bot is called 'gredy'"),
    ("connect ws://127.0.0.1:1 --bot greedy --token-file no.txt", "there is no token file no.txt"),
    ("watch", "URL is missing"),
    ("show no.gcg", "no.gcg is neither a file nor a CGP"),
    ("games no.db", "there is no journal no.db"),
    (f"preendgame {OPENING} --model clever", 'invalid value "clever" for --model'),
    (f"infer {OPENING} --margin 3", "--margin is for --model margin, and this is soft"),
    ("leaves --table no.klv2", "there is no leave table no.klv2"),
    ("token", "NAME is missing"),
    ("token ''", "NAME must not be empty"),
    ("show game.gcg --json --moves", "--json has the score sheet and the position; leave --moves"),
    ("show ''", "GAME must not be empty"),
    ("endgame", "POSITION is missing"),
    ("token 'two words'", "a name is one word of 1 to 64 characters"),
    ("token ann --replace", "--replace needs --tokens"),
    ("token '#a'", "'#' begins a comment in a file of tokens"),
    ("bridge", "--config is missing"),
    ("files folder", "--bot is missing"),
    ("files folder --bot guest:ann", "--bot guest:ann: only a bot can play through files"),
    ("files folder --bot siu:engine", "--bot siu:engine: only a bot can play through files"),
    ("files folder --bot gredy", "no bot is called 'gredy'"),
    ("train leaves --games 500", "--out is missing"),
    (
        "train leaves --out x.klv2 --games 500 --resume",
        "--resume: there is no x.klv2.checkpoint to go on with",
    ),
    ("experiment duel static", "OPPONENT is missing"),
    ("experiment duel static gredy", "no bot is called 'gredy'"),
    (f"infer {OPENING} --plot no/x.png", "--plot no/x.png: there is no folder no"),
    (f"infer {OPENING} --plot folder", "--plot folder is a folder; a file is to be written"),
    ("bench deadlines --bot gredy", "no bot is called 'gredy'"),
    # Matches and tournaments.
    ("match static greedy --rules klingon", "no rule set is called 'klingon' (known: catalan, "),
    ("match static greedy --rules polish --lexicon scowl", "is not a letter"),
    ("match static greedy --name Old", "--name Old: write A=NAME for the first seat, B=NAME for"),
    ("match static greedy --name C=Old", "no seat C; there are 2 seats"),
    ("match static greedy --name 3=Old", "no seat 3; there are 2 seats"),
    ("match static greedy --name 0=Old", "--name 0=Old: write A=NAME"),
    ("match static greedy --name A=x --name A=y", "--name A=y: that seat is called x already"),
    ("games FOLDER --out there --json", "--json lists games, and --out writes them as GCG"),
    ("direct ws://localhost:1 correct x 1 2", "x is no whole number"),
    ("match static greedy --name AB=Old", "--name AB=Old: write A=NAME"),
    ("match static greedy --name A=", "--name A=: write A=NAME"),
    (f"match static greedy --name A={'x' * 65}", "a name has at most 64 characters"),
    ("match static greedy --name 'A=\x1b[2J'", "64 characters, all of them printable"),
    ("match static greedy --name 'A= x'", "no space at its ends"),
    (
        "match static greedy --name A=greedy",
        "both seats would be called greedy; rename the first with",
    ),
    ("match static greedy --name A=x --name B=x", "both seats would be called x"),
    ("match static greedy --config none.toml", "none.toml: No such file or directory"),
    ("match static greedy --openings none.txt", "none.txt: No such file or directory"),
    ("match static greedy --openings game.gcg", "game.gcg, line 3: board: 1 rows"),
    ("match static greedy --sprt 10", "--sprt: H0 and H1 are two numbers, the smaller first, such"),
    ("match static greedy --sprt=-200000,0", "--sprt: no difference of Elo is as large as one"),
    ("bench infer --plays 1 --threads 2", "one thread; leave --threads out"),
    ("match static greedy --sprt 10,0", "--sprt: H0 and H1 are two numbers, the smaller first"),
    ("match static greedy --sprt-spread 0%,1%", "--sprt-spread: H0 and H1 are two numbers"),
    ("match static greedy --sprt 0,5 --sprt-spread 0,5", "give one of --sprt and --sprt-spread"),
    ("match static greedy --alpha 0.1", "give one of --sprt and --sprt-spread; --alpha"),
    ("match static greedy --sprt 0,5 --beta 0.7", "error rates must be above 0 and below 0.5"),
    ("match static ws://127.0.0.1:1/bot --sprt 0,5", "must start afresh"),
    ("match 'siu:engine?memory=x' static", "memory (MiB) and cores are numbers"),
    ("match siu:/nope static", "'siu:/nope': /nope is no program that may be run"),
    ("match quackle:/nope static", "'quackle:/nope': /nope is no program that may be run"),
    (
        "match static ws://127.0.0.1:1/bot --cluster tcp://127.0.0.1:9",
        "--cluster: ws://127.0.0.1:1/bot is not a seat that a worker can start afresh",
    ),
    ("match files:x static --concurrency 2", "a seat files:… plays one game at a time"),
    ("tournament static greedy rh --anchor static", "--anchor static: write the name of an entr"),
    ("tournament static greedy rh --anchor static=99999", "--anchor: the rating of the anchor 's"),
    ("puzzles make --out none", "--out none: there is no such folder"),
    ("puzzles list none", "none/endgames.json: No such file or directory"),
    ("puzzles check --every 0", "--every must be at least 1 (got 0)"),
    ("puzzles check --every 1000", "--every 1000: there are 230 puzzles"),
    ("tournament static greedy rh --anchor nobody=3", "no entrant is called nobody"),
    ("tournament static greedy rh --anchor static=high", "--anchor static=high: write the name"),
    ("tournament static greedy rh --hill 2", "--hill 2: only rounds of a Swiss can be king of the"),
    ("tournament static greedy rh --format swiss --hill 2", "rounds is 1; hill can be 1 at"),
    ("tournament swis.toml", "format must be one of gauntlet, knockout, round-robin, swiss (got"),
    (
        "tournament static greedy rh --format knockout --rounds 2",
        "has as many rounds as its",
    ),
    ("tournament static greedy rh --name D=x", "no seat D; there are 3 seats"),
    ("tournament static greedy rh --name A=rh", "2 seats would be called rh"),
    ("serve --ladder --tournament t.toml", "not allowed with --tournament: ladder; "),
    # What several commands refuse, each in its own way.
    (f"analyze {OPENING} --time 1s --rollouts 5", "give either --time or --rollouts"),
    (f"infer {OPENING} --racks 5 --time 1s", "give either --time or --racks"),
    (f"infer {OPENING} --plot no/such.png", "--plot no/such.png: there is no folder no"),
    (f"infer {OPENING} --model margin --temperature 3", "--temperature is for --model soft"),
    (f"infer {OPENING} --model margin --margin -1", "-1"),
    (f"generate {OPENING} --top 3 --all", "give either --top or --all"),
    (f"generate {OPENING} --layout round", "no board layout is called 'round'"),
    (f"generate {OPENING} --leaves cut.kwg", "cut.kwg: "),
    (
        f"preendgame {OPENING}",
        "tiles are in the bag, but a pre-endgame has 1 to 7: use tilewire an",
    ),
    ("leaves ABC1", "'1' at character 4 of 'ABC1' is not a tile"),
    ("leaves Q!", "'!' at character 2"),
    ("leaves ABCDEFG", "'ABCDEFG' has 7 tiles; a leave has 1 to 6"),
    ("leaves AZZ", "AZZ holds 2 of Z; the bag of 100 tiles has 1"),
    ("leaves qU", "qU: q is a blank that was played; write Q or ?"),
    (f"token {'x' * 65}", "can't be a name"),
    ("token 'a\nb'", "can't be a name"),
    ("token 192.0.2.1", "doesn't read like an address"),
    ("token 'a\x1b'", "can't be a name"),
    ("new bot Quick", "can't be the name of a package: write small letters"),
    ("new bot ../up", "can't be the name of a package"),
    ("new bot 1st", "can't be the name of a package"),
    ("new bot ''", "NAME must not be empty"),
    ("new bot 'two words'", "can't be the name of a package"),
    ("new bot bot", "a module is called that"),
    ("new bot numpy", "a module is called that"),
    ("new bot class", "it is a word of Python's own"),
    ("new bot greedy", "'greedy' can't be the name: a player is called that"),
    ("new bot folder", "folder is there already; nothing was written"),
    ("siu --threads 0", "--threads must be at least 1 (got 0)"),
    ("siu --threads 1000", "--threads: Threads: '1000' is no number from 1 to"),
    ("siu --leaves /no/such", "--leaves: Leaves: no leave table is called '/no/such'"),
    ("siu --data /no/such", "--data: DataPath: there is no folder '/no/such'"),
    ("direct ws://there withdraw", "write: tilewire direct URL withdraw NAME"),
    ("direct ws://there stop", "no action is called 'stop'; there are standings, pause, resume, w"),
    ("direct ws://there pause", "pause is a director's act: give --name and --token-file"),
    ("direct ws://there correct 7", "write: tilewire direct URL correct GAME SCORE SCORE, or GAME"),
    ("direct ws://there pause now", "write: tilewire direct URL pause"),
    ("direct ws://there correct x 1 2", "x is no whole number"),
    ("direct ws://there correct -1 1 2", "Expected `int` >= 0"),
    ("direct ws://there standings --token-file none", "--token-file needs --name"),
    ("direct ws://there standings --name d --token-file none", "there is no token file none"),
    ("experiment duel trained gredy", "there is no leave table"),
    ("experiment duel trained greedy --games 3", "must be even and at least 4 (got 3)"),
    ("experiment oracle static nobody", "no bot is called 'nobody'"),
    ("experiment oracle static greedy --judge-rollouts 0", "must be at least 2 (got 0)"),
    ("experiment oracle sim?time=1s greedy --workers 999", "need a core each"),
    ("experiment oracle static greedy --out /no/x", "--out /no/x: No such file"),
    ("experiment calibration --seat smi", "no bot is called 'smi'"),
    ("experiment calibration --from /no", "--from /no: No such file"),
    ("bench selfplay --words 3 --lexicon words.txt", "--words: 3 words of words; it has 2"),
    ("bench selfplay --leaves no.klv2", "there is no leave table no.klv2"),
    ("bench sim --position '15/15 AB/ 0/0 0'", "2 rows"),
    (f"bench sim --position {LATE}", "the bag is empty in this position"),
    ("bench sim --winprob no.csv", "there is no table of win probabilities no.csv"),
    ("bench attack --attack none", "--attack none: there are pings, pings-20, burst, burst-8, mes"),
    ("bench endgame --memory 900000G", "not enough memory"),
    ("bench endgame --threads 998", "--workers 1 with --threads 998: searches"),
    # Lexicons.
    ("lexicon info folder", "folder is a folder; a lexicon is a file, or embedded: scowl"),
    (f"generate {OPENING} --lexicon folder", "folder is a folder; a lexicon is a file"),
    ("match greedy greedy --lexicon folder", "folder is a folder; a lexicon is a file"),
    ("lexicon info /dev/null", "/dev/null is not a regular file; a lexicon must be one"),
    ("lexicon info no.txt", "no lexicon is called 'no.txt' (embedded: scowl) and no file is there"),
    (f"lexicon info {'x' * 5000}", "no lexicon is called 'xxxxxxxxxx"),
    (f"match greedy greedy --lexicon {'x' * 300}", "File name too long"),
    ("lexicon info empty.txt", "empty.txt: no words in it; a word list has one word a line"),
    ("lexicon info latin.txt", "latin.txt, line 2: byte 0xC9 is not UTF-8; save it as UTF-8 text"),
    ("lexicon info long.txt", "long.txt, line 1: 'AAAAAAAAAAAAAAAAAAAA'… has 200,000 characters"),
    ("lexicon info defined.txt", "'AA' has something behind it; a line holds one word"),
    ("lexicon info cut.kwg", "cut.kwg: 3 bytes; a word graph is a whole number of 4-byte nodes"),
    ("lexicon build words.txt words.txt", "the name of a word graph ends in .kwg or .kbwg"),
    ("lexicon build none.txt out.kwg", "no lexicon is called 'none.txt' (embedded: scowl) and no"),
    ("lexicon build words.txt", "OUT is missing"),
    ("lexicon build words.txt no/w.kwg", "no/w.kwg: there is no folder no"),
    ("lexicon check", "no words to check; write: tilewire lexicon check WORD…"),
    ("lexicon check QI --lexicon no", "no lexicon is called 'no' (embedded: scowl)"),
    ("lexicon check QI --lexicon folder", "folder is a folder"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with files that are wrong in one way each."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "words.txt").write_text("AA\nAB\n")
    (tmp_path / "empty.txt").write_text("# nothing\n")
    (tmp_path / "latin.txt").write_bytes("AA\nÉTÉ\n".encode("latin-1"))
    (tmp_path / "long.txt").write_text("a" * 200_000)
    (tmp_path / "defined.txt").write_text("AA rough lava\n")
    (tmp_path / "swis.toml").write_text('seats = ["static", "rh", "greedy"]\nformat = "swis"\n')
    (tmp_path / "cut.kwg").write_bytes(b"abc")
    (tmp_path / "game.gcg").write_text("#player1 a a\n#player2 b b\n>a: AEINRST - +0 0\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "sentence"), WRONG, ids=[typed[:60] for typed, _ in WRONG])
def test_a_wrong_input_gets_a_sentence_and_nothing_is_made(
    tilewire: CommandLine, folder: Path, typed: str, sentence: str
) -> None:
    there = sorted(folder.rglob("*"))
    assert tilewire(*shlex.split(typed)) == 2
    assert sentence in tilewire.err
    assert tilewire.err.splitlines()[-1].startswith("tilewire: ")
    assert "Traceback" not in tilewire.err
    assert not tilewire.out
    assert sorted(folder.rglob("*")) == there


@pytest.mark.parametrize(
    ("db", "sentence"),
    [
        ("postgresql://127.0.0.1:1/x", "postgresql://127.0.0.1:1/x can't be used as a journal: "),
        ("postgresql://ann:secret@[::", "the address of the journal is no URL: Invalid IPv6"),
    ],
)
@pytest.mark.parametrize("standby", [(), ("--standby",)])
def test_a_database_that_isnt_there_is_told(
    tilewire: CommandLine, folder: Path, db: str, sentence: str, standby: tuple[str, ...]
) -> None:
    there = sorted(folder.rglob("*"))
    assert tilewire("serve", "--port", "0", "--db", db, *standby) == 1
    assert sentence in tilewire.err
    assert "secret" not in tilewire.err
    assert sorted(folder.rglob("*")) == there


def test_nothing_is_typed_twice() -> None:
    assert len({typed for typed, _ in WRONG}) == len(WRONG)


# --- output that fails --------------------------------------------------------------------------


def test_a_reader_that_leaves_is_no_error() -> None:
    shell = 'set -o pipefail; "$@" | head -n 1'
    done = subprocess.run(
        ["bash", "-c", shell, "bash", *COMMAND, "lexicon", "info"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("name")
    assert done.stderr == ""
    assert done.returncode in (0, 141)  # 0: all was written before the reader left


def test_output_that_nobody_reads_ends_a_command_as_other_tools() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "lexicon", "list"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [("lexicon", "list"), ("--help",)], ids=" ".join)
def test_a_full_disk_is_told(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    told = "tilewire: the output can't be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_of_few_characters_gets_others(encoding: str) -> None:
    done = subprocess.run(
        [*COMMAND, "match", "--help"],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    done.stdout.decode(encoding)


def test_json_is_whole_on_a_terminal_of_few_characters() -> None:
    known = {"tea": True, "Жé": False, "😀": False}
    done = subprocess.run(
        [*COMMAND, "lexicon", "check", *known, "--json"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout.decode("ascii")) == known


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a – b … ± 1 × 2", b"a - b ... +- 1 x 2"),
        ("╭─┬╮│▂█ ", b"+-++|,# "),
        ("漢\udcff", b"??"),
    ],
)
def test_a_character_that_is_not_to_be_had(text: str, plain: bytes) -> None:
    encoded = b""
    while text:
        try:
            encoded += text.encode("ascii")
            break
        except UnicodeEncodeError as error:
            replaced, after = in_plain_characters(error)
            encoded += text[: error.start].encode("ascii") + replaced.encode("ascii")
            text = text[after:]
    assert encoded == plain


# --- signals ------------------------------------------------------------------------------------


def test_a_signal_in_a_callback_of_the_compiler_ends_it_quietly() -> None:
    program = (
        "import ctypes, os, signal, time\n"
        "from harness.cli.failing import end_when_told\n"
        "@ctypes.CFUNCTYPE(None)\n"
        "def callback():\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(60)\n"
        "end_when_told()\n"
        "callback()\n"
        "time.sleep(60)\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stderr) == (143, "")


@pytest.mark.parametrize("loops", ["runtime.loop_factory", "lambda: None"], ids=["ours", "asyncio"])
def test_a_signal_after_an_event_loop_is_heard(loops: str) -> None:
    program = (
        "import os, signal, time\n"
        "from harness.cli import options\n"
        "from harness.cli.failing import end_when_told, stop_status, told_to_end\n"
        "from harness.cli.options import runtime\n"
        f"runtime.loop_factory = {loops}\n"
        "async def nothing():\n"
        "    pass\n"
        "end_when_told()\n"
        "for number in (signal.SIGINT, signal.SIGTERM):\n"
        "    options.run(nothing())\n"
        "    try:\n"
        "        os.kill(os.getpid(), number)\n"
        "        time.sleep(0.5)\n"
        "    except KeyboardInterrupt as stop:\n"
        "        told_to_end()\n"  # else the next loop might still hear of it, and take its time
        "        print(stop_status(stop))\n"
        "time.sleep(60)\n"  # which the thread that watches signals cuts short
    )
    ended = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (130, ["130", "143"], "")


def test_what_a_signal_breaks_is_no_failure_of_its_own() -> None:
    program = (
        "import os, signal, sys\n"
        "from harness import cli\n"
        "from harness.cli.failing import end_when_told\n"
        "class Broken:\n"
        "    def __del__(self):\n"
        "        raise AttributeError('half made')\n"
        "def compiler(*_, **_named):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        while True:\n"
        "            pass\n"
        "    except KeyboardInterrupt:\n"
        "        Broken()\n"
        "        raise RuntimeError('interrupted') from None\n"
        "cli.command_line = lambda *_: compiler\n"
        "sys.setswitchinterval(60)\n"  # the thread that watches signals has no turn before
        "end_when_told()\n"
        "sys.exit(cli.run_command([]))\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stderr) == (143, "")


@pytest.mark.parametrize(
    ("command", "number", "status"),
    [
        # Compiled code and threads; an event loop.
        ("experiment duel static greedy --games 4000000", signal.SIGINT, 130),
        ("bench server --seconds 60", signal.SIGTERM, 143),
    ],
    ids=["kernels", "loop"],
)
def test_a_signal_ends_whatever_runs(command: str, number: signal.Signals, status: int) -> None:
    with subprocess.Popen(
        [*COMMAND, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until_it_catches(process.pid, signal.SIGTERM)
        time.sleep(1)  # wherever it is by now
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert "Traceback" not in out + err, err


def until_it_catches(pid: int, number: signal.Signals) -> None:
    """Wait until a process handles a signal: before that, Python itself is still starting."""
    status = Path(f"/proc/{pid}/status")
    while status.exists():
        (caught,) = re.findall(r"SigCgt:\s*([0-9a-f]+)", status.read_text())
        if int(caught, 16) >> (number - 1) & 1:
            return
        time.sleep(0.02)


# --- help ---------------------------------------------------------------------------------------


def test_the_shell_completes(tmp_path: Path) -> None:
    script, home = tmp_path / "completion", {**os.environ, "HOME": str(tmp_path)}
    install = [*COMMAND, "--install-completion", "--shell", "bash", "--output", str(script)]
    subprocess.run(install, env=home, capture_output=True, check=True)
    typed = f"source {script}; COMP_WORDS=(tilewire match --gam); COMP_CWORD=2; _tilewire"
    done = subprocess.run(
        ["bash", "-c", typed + "; echo ${COMPREPLY[@]}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "--games\n"


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("match", "tilewire match [OPTIONS] SEAT SEAT"),
        ("watch", "tilewire watch [OPTIONS] URL [GAME]"),
        ("leaves", "tilewire leaves [OPTIONS] [LEAVE...]"),
        ("lexicon info", "tilewire lexicon info [OPTIONS] [LEXICON]"),
        ("lexicon check", "tilewire lexicon check [OPTIONS] WORD..."),
        ("bridge revoke", "tilewire bridge revoke --config PATH [OPTIONS] [ID...]"),
    ],
)
def test_usage_names_what_a_command_takes(tilewire: CommandLine, command: str, usage: str) -> None:
    assert tilewire(*command.split(), "--help") == 0
    assert tilewire.out.startswith(f"Usage: {usage}\n\n")


def test_statuses_are_told_by_the_help(tilewire: CommandLine) -> None:
    assert tilewire("--help") == 0
    told = " ".join(tilewire.out.split())
    assert "0 done, 1 failed while running, 2 wrong input" in told
