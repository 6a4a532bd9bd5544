"""A seat's check, at the end of a game, that nobody chose its draws.

``DrawsWitness`` receives the messages of a game in both directions, and checks the draws against
them (``protocol/SPEC.md``, section 8).
"""

from __future__ import annotations

from dataclasses import replace

from engine.notation.cgp import read_cgp
from engine.notation.move_text import parse_move
from engine.rules.bag import Bag, DrawError, DrawStream, check_secret
from engine.rules.challenges import Ruling
from engine.rules.game import Game
from engine.rules.moves import Exchange
from engine.rules.position import Position
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
from protocol.messages import (
    Committed,
    Drawn,
    GameOver,
    Message,
    NewGame,
    Played,
    Ready,
    Reveal,
    Started,
)
from protocol.nonces import digest_of
from protocol.parts import OUTCOMES, UPHELD, WITHDRAWN


class DrawsWitness:
    """One game as one seat heard of it, from its first offer, in which ``you`` is set."""

    def __init__(self, offer: NewGame) -> None:
        assert offer.you is not None, "a spectator can check no draws"
        self._offer, self._seat = offer, offer.you
        self._shown: list[str] = []
        """The seat's nonces that the arbiter could know before the start."""
        self._other = ""
        """The opponent's commitment, as first received."""
        self._was_first = False
        """Whether it was received before the seat's nonce was shown."""
        self._changed = ""
        """Which commitment has changed, as a sentence; empty: none."""
        self._begun = offer.seq > 0
        self._moves: dict[int, str] = {}
        """The moves as received, by number."""
        self._racks: dict[int, str] = {}
        """The seat's own rack after an event, by the event's number."""

    def hear(self, message: Message) -> None:
        """Take a message of this game that was received or sent."""
        match message:
            case NewGame(seq=seq):
                if message.commitment != self._offer.commitment:
                    self._changed = "the commitment to the secret has changed since the first offer"
                if seq == 0 and message.commitments is not None:
                    self._note_commitment(message.commitments[1 - self._seat])
                for play in message.history:
                    self._played(play)
                self._begun |= seq > 0
                if seq > 0 and message.rack is not None:
                    self._racks[seq - 1] = message.rack
            case Ready(nonce=nonce, commitment=digest) if not self._begun and (nonce or not digest):
                self._shown.append(nonce)
            case Committed(commitments=commitments):
                self._note_commitment(commitments[1 - self._seat])
            case Reveal(nonce=nonce):
                self._shown.append(nonce)
            case Started(rack=rack):
                self._begun = True
                if rack is not None:
                    self._racks[0] = rack
            case Played():
                self._played(message)
            case Drawn(seq=seq, rack=rack):
                self._racks[seq] = rack

    def _note_commitment(self, other: str) -> None:
        if other and not self._other:
            self._other, self._was_first = other, not self._shown
        elif other != self._other:
            self._changed = "the commitment to the opponent's nonce has changed"

    def _played(self, play: Played) -> None:
        self._moves[play.seq] = play.move
        if play.rack is not None:
            self._racks[play.seq] = play.rack

    # --- at the end -----------------------------------------------------------------------------

    def check(self, over: GameOver) -> str:
        """Return why somebody could have chosen the draws all the same; empty if nobody could.

        Raises:
            DrawError: the draws differ from the commitments; the message says where.
        """
        if OUTCOMES[over.outcome].won_by == "nobody" or not self._begun:
            return ""  # no tile was drawn, or all are still hidden
        if self._offer.commitment is None:
            return "the server committed itself to nothing"
        if over.secret is None or over.nonces is None:
            raise DrawError("the server does not open its secret")
        if self._changed:
            raise DrawError(self._changed)
        if over.mirrored:
            raise DrawError("seat 1 is said to have drawn from the back, which was not agreed on")
        if self._shown and over.nonces[self._seat] not in self._shown:
            raise DrawError("our nonce is not the one that we sent")
        if self._other and digest_of(over.nonces[1 - self._seat]) != self._other:
            raise DrawError("the opponent's nonce is not the one that was committed to")
        try:
            rules = rules_in_play(self._offer.rules)
        except ValueError as error:
            return f"a bot elsewhere plays by rules that can't be checked here: {error}"
        self._check_draws(over, bytes.fromhex(over.secret), over.nonces, rules)
        if not any(self._shown):
            return "the bot added no nonce, or the game was begun by another process"
        return "" if self._was_first else "the opponent's nonce was not committed to before ours"

    def _check_draws(
        self, over: GameOver, secret: bytes, nonces: tuple[str, str], rules: Rules
    ) -> None:
        racks = None if over.opening_racks is None else "/".join(over.opening_racks)
        check_secret(secret, racks, bytes.fromhex(self._offer.commitment or ""))
        a, b = map(bytes.fromhex, nonces)
        stream = DrawStream(secret, (a, b))
        opening: Position | None = None
        try:
            if self._offer.opening is not None:
                tiles = rules.distribution.alphabet.tiles
                one, other = map(tiles, over.opening_racks or ("", ""))
                begun_with = tuple(sorted(one)), tuple(sorted(other))
                opening = replace(read_cgp(self._offer.opening, rules), racks=begun_with)
            bag = Bag.shuffled(rules.distribution, stream, opening=opening)
            game = Game.start(rules, bag, opening)
        except ValueError as error:
            raise DrawError(f"the opening makes no sense: {error}") from None
        self._check_rack(game, 0)
        for number, text in enumerate(over.moves, start=1):
            game = self._after(game, number, text)
            self._check_rack(game, number)
        if game.is_open:
            game = game.accepted()
        first, second = map(rules.distribution.alphabet.text, game.position.racks)
        if len(over.moves) != over.seq - 1:
            raise DrawError(f"{over.seq - 1} turns were played, and {len(over.moves)} are told")
        if over.racks != (first, second):
            final_racks = " and ".join(over.racks)
            raise DrawError(
                f"at the end they hold {final_racks}; the secret gives {first} and {second}"
            )

    def _after(self, game: Game, number: int, text: str) -> Game:
        mover, alphabet = game.position.on_turn, game.rules.distribution.alphabet
        public = text
        try:
            if text in (WITHDRAWN, UPHELD):
                after = game.judged(Ruling(stands=text == UPHELD))
            else:
                move = parse_move(text, game.position.board, alphabet)
                public = f"-{len(move.tiles)}" if isinstance(move, Exchange) else text
                after = game.play(move, None)
        except ValueError as error:
            raise DrawError(f"in turn {number} seat {mover} can't play {text}: {error}") from None
        if (acknowledged := self._moves.get(number, text)) not in (text, public):
            raise DrawError(f"turn {number} was told as {acknowledged} and is {text} now")
        return after

    def _check_rack(self, game: Game, number: int) -> None:
        held = game.rules.distribution.alphabet.text(game.position.racks[self._seat])
        rack = self._racks.get(number, held)
        if game.is_open:  # the rack may have been sent before the draw or after it
            stands = game.accepted().position.racks[self._seat]
            held = rack if rack == game.rules.distribution.alphabet.text(stands) else held
        if rack != held:
            raise DrawError(f"after event {number} we held {rack}; the secret gives {held}")
