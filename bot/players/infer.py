"""``infer``: simulates as ``sim`` does, against the opponent's likely racks.

It infers the opponent's leave from its plays (``engine.inference.inference``), follows that through
the game (``engine.inference.rack_filter``), and learns the opponent's style
(``engine.inference.likelihood``). Rollouts draw the opponent's rack from this belief.

Options besides those of ``sim``:

``model``
    ``style`` (default: several, weighted by the plays), ``deterministic``, ``margin`` or
    ``soft``: the model that plays are judged by;
``memory``
    ``game`` (default) or ``last``: only the last play counts, as in Richards and Amir (2007); the
    default model is then theirs, ``deterministic``;
``doubt``
    the share of rollouts, from 0 to 1, that draw the rack without any belief;
``racks``
    the number of racks looked at for each play, instead of a share of the turn's time.
"""

from __future__ import annotations

from bot.player import View
from bot.search.belief import RACKS, OpponentModel
from bot.search.strategy import Strategy
from engine.inference.likelihood import MODELS, Style, stranger
from engine.inference.rack_filter import DOUBT

from .options import number, one_of, share
from .sim import settings_of

_MODELS = ("style", *MODELS)


def infer(
    model: str = "",
    memory: str = "game",
    doubt: str = "",
    racks: str = "",
    *,
    candidates: str = "",
    plies: str = "",
    iterations: str = "",
    time: str = "",
    bag: str = "",
) -> Strategy:
    """Return a player that simulates with likely racks; ValueError if an option is invalid."""
    settings = settings_of(candidates, plies, iterations, time, bag)
    remembers = one_of("memory", memory, ("game", "last")) == "game"
    judge = one_of("model", model or ("style" if remembers else "deterministic"), _MODELS)
    looked_at = number("racks", racks, 1, 1_000_000) if racks else None
    if looked_at is None and iterations:  # the clock must make no difference
        looked_at = RACKS
    doubted = share("doubt", doubt) if doubt else DOUBT

    def follow(view: View) -> OpponentModel:
        learns = judge == "style"
        return OpponentModel(
            view,
            stranger(view.opponent_style) if learns else Style.of(MODELS[judge]),
            remembers=remembers,
            learns=learns,
            doubt=doubted,
            racks=looked_at,
        )

    return Strategy(settings, follow=follow)
