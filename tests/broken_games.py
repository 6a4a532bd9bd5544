"""Games as people write them: one thing of a well-formed GCG broken, a function for each kind.

Each takes the game and its lines as ``write_gcg`` writes them, and returns the lines of a broken
one; None if the game has no line for it. The game's players are Ada Bee (``Ada_Bee``) and Bob.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.notation.gcg import EventKind, GcgEvent, GcgGame, write_gcg

PLAY, PASS, EXCHANGE = EventKind.PLAY, EventKind.PASS, EventKind.EXCHANGE


@dataclass(frozen=True)
class Written:
    """A game, its lines, and chance."""

    gcg: GcgGame
    lines: list[str]
    chance: random.Random

    @classmethod
    def of(cls, gcg: GcgGame, seed: int) -> Written:
        return cls(gcg, write_gcg(gcg).splitlines(), random.Random(seed))

    def events(self, *kinds: EventKind) -> list[tuple[int, GcgEvent]]:
        """Return the events of these kinds, each with the index of its line."""
        at = [at for at, line in enumerate(self.lines) if line.startswith(">")]
        events = zip(at, self.gcg.events, strict=True)
        return [(at, event) for at, event in events if not kinds or event.kind in kinds]

    def changed(
        self, change: Callable[[str, GcgEvent], str], *kinds: EventKind, every: bool = False
    ) -> list[str] | None:
        """Return the lines with one of an event of these kinds changed, or every such line."""
        events = self.events(*kinds)
        if not events:
            return None
        lines = [*self.lines]
        for at, event in events if every else [self.chance.choice(events)]:
            lines[at] = change(lines[at], event)
        return lines


def rolled_in_bonus(written: Written) -> list[str] | None:
    """A score with five points of a challenge in it, and so all later totals of the player."""
    at, bonus = written.chance.choice(written.events(PLAY))[1], 0
    events = []
    for event in written.gcg.events:
        own = 5 if event is at else 0
        bonus += own
        more = bonus if event.nick == at.nick else 0
        events.append(replace(event, score=event.score + own, total=event.total + more))
    return write_gcg(replace(written.gcg, events=tuple(events))).splitlines()


def wrong_total(written: Written) -> list[str] | None:
    return written.changed(lambda line, event: re.sub(r"\S+$", str(event.total + 2), line))


def made_up_rack(written: Written) -> list[str] | None:
    return written.changed(
        lambda line, event: line.replace(f" {event.rack} ", " ZZZZZZZ ", 1), PLAY
    )


def lacking_rack(written: Written) -> list[str] | None:
    """A rack without a tile that is played from it: all of the same vowel or consonant."""

    def change(line: str, event: GcgEvent) -> str:
        other = next(each for each in "EAIO" if each not in event.detail.upper())
        return line.replace(f" {event.rack} ", f" {other} ", 1)

    return written.changed(change, PLAY)


def unreadable_rack(written: Written) -> list[str] | None:
    return written.changed(
        lambda line, event: line.replace(f" {event.rack} ", " AB3 ", 1), PLAY, PASS
    )


def lower_case_rack(written: Written) -> list[str] | None:
    def change(line: str, event: GcgEvent) -> str:
        return line.replace(f" {event.rack} ", f" {event.rack.lower()} ", 1)

    return written.changed(change, PLAY)


def no_racks(written: Written) -> list[str] | None:
    def change(line: str, event: GcgEvent) -> str:
        return line.replace(f" {event.rack} ", " ", 1)

    return written.changed(change, PLAY, PASS, every=True)


def plus_before_minus(written: Written) -> list[str] | None:
    kinds = EventKind.TIME, EventKind.RACK_LOST, EventKind.WITHDRAWN
    return written.changed(lambda line, _: line.replace(" -", " +-", 1), *kinds, every=True)


def loss_as_gain(written: Written) -> list[str] | None:
    return written.changed(
        lambda line, event: line.replace(f" {event.score} ", f" +{-event.score} "), EventKind.TIME
    )


def long_word_for_time(written: Written) -> list[str] | None:
    return written.changed(lambda line, _: line.replace("(time)", "(time penalty)"), EventKind.TIME)


def words_behind(written: Written) -> list[str] | None:
    return written.changed(lambda line, _: f"{line} what a play, 9 of 10!", PLAY)


def no_total(written: Written) -> list[str] | None:
    return written.changed(lambda line, _: line.rpartition(" ")[0], every=True)


def one_nick(written: Written) -> list[str] | None:
    return [line.replace("Bob", "Ada_Bee") for line in written.lines]


def no_players(written: Written) -> list[str] | None:
    return [line for line in written.lines if not line.startswith("#player")]


def name_for_nick(written: Written) -> list[str] | None:
    return [line.replace(">Ada_Bee:", ">ada bee:") for line in written.lines]


def other_nick(written: Written) -> list[str] | None:
    """A line of the other player, whose total does not fit."""
    others = {"Ada_Bee": "Bob", "Bob": "Ada_Bee"}
    totals, lines = dict.fromkeys(others, 0), []
    for at, event in written.events():
        if event.kind is PLAY and len(set(totals.values())) == 2:
            lines.append(at)
        totals[event.nick] = event.total
    if not lines:
        return None
    at, changed = written.chance.choice(lines), [*written.lines]
    nick = changed[at][1 : changed[at].index(":")]
    changed[at] = changed[at].replace(nick, others[nick], 1)
    return changed


def lost_line(written: Written) -> list[str] | None:
    """A turn that a player lost, without the line for a pass."""
    passes = [
        at
        for at, event in written.events(PASS)
        if 1 < at < len(written.lines) - 1 and written.lines[at + 1][:2] != written.lines[at][:2]
    ]
    if not passes:
        return None
    at = written.chance.choice(passes)
    return written.lines[:at] + written.lines[at + 1 :]


def no_sign(written: Written) -> list[str] | None:
    return written.changed(lambda line, _: line[1:])


def no_colon(written: Written) -> list[str] | None:
    return written.changed(lambda line, _: line.replace(":", "", 1))


def indented(written: Written) -> list[str] | None:
    return [f"  {line}" if line else line for line in written.lines]


def spelt_out(written: Written) -> list[str] | None:
    """``pass`` and ``exch``."""

    def change(line: str, event: GcgEvent) -> str:
        move = "pass" if event.kind is PASS else f"exch {event.detail}"
        return line.replace(f"-{event.detail} ", f"{move} ", 1)

    return written.changed(change, PASS, EXCHANGE)


def marked_word(written: Written) -> list[str] | None:
    return written.changed(lambda line, event: line.replace(event.detail, f"{event.detail}*"), PLAY)


def stray_text(written: Written) -> list[str] | None:
    at = written.chance.choice(written.events())[0]
    return [*written.lines[: at + 1], "That was close.", *written.lines[at + 1 :]]


def second_title(written: Written) -> list[str] | None:
    return [*written.lines, "#title Round 3", "#title Round 4"]


def undeclared_utf8(written: Written) -> list[str] | None:
    return [line.replace("Bob Bob", "Bob Böb") for line in written.lines[1:]]


def cut_off(written: Written) -> list[str] | None:
    text = "\n".join(written.lines)
    return text[: written.chance.randrange(text.index(">") + 40, len(text))].split("\n")


KINDS = (
    *(rolled_in_bonus, wrong_total, made_up_rack, lacking_rack, unreadable_rack, lower_case_rack),
    *(no_racks, plus_before_minus, loss_as_gain, long_word_for_time, words_behind, no_total),
    *(one_nick, no_players, name_for_nick, other_nick, lost_line, no_sign, no_colon, indented),
    *(spelt_out, marked_word, stray_text, second_title, undeclared_utf8, cut_off),
)
