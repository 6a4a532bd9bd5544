"""``ValuePlayer`` values the position after each move by a net, and looks no turn ahead."""

from __future__ import annotations

from bot.player import Budget, Choice, Player, View
from bot.search.static_choice import as_choice, generator_for, not_refused
from engine.kernels.moves import MAX_KEPT
from engine.movegen.position_value import AMONG, PositionValue
from engine.rules.rules import Rules
from lexicons.store import Lexicon
from lexicons.tables import load_value_net
from lexicons.value_net import ValueNet

from .options import number


class ValuePlayer(Player):
    """Plays the highest sum of score, leave and value.

    Options: ``net``, a file; ``among``, how many moves are valued. No net is built in yet, so the
    player has no name in the registry: it is ``bot.players.value:ValuePlayer?net=FILE``, and for
    experiments only, since in matches bots are contained and can't see the file.
    """

    def __init__(self, net: str, among: str = "") -> None:
        self._named = net
        self._among = number("among", among, 1, MAX_KEPT) if among else AMONG

    def warm_up(self, lexicon: Lexicon, rules: Rules) -> None:
        """Read the net; raise ValueError if it is not for these words, tiles and board."""
        self._net(lexicon, rules)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by value."""
        ranking = PositionValue(generator_for(view), self._net(view.lexicon, view.rules))
        ranked = ranking.best(view.position, min(len(view.refused) + 1, MAX_KEPT), self._among)
        return as_choice(not_refused(view, ranked)[0])

    def _net(self, lexicon: Lexicon, rules: Rules) -> ValueNet:
        net = load_value_net(self._named, rules.layout, rules.distribution)
        if net.lexicon_checksum != lexicon.checksum:
            raise ValueError(
                f"the value net {self._named} was trained on other words than {lexicon.name} has; "
                f"`tilewire train value --lexicon …` makes one for these"
            )
        return net
