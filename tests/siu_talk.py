"""A conversation with an SIU engine, and all that comes of it, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from bot.siu.conversation import Effect, SiuConversation
from bot.siu.modes import SearchTask
from bot.siu.settings import SiuSettings
from protocol.siu.answers import Answer
from protocol.siu.commands import Bare

EMPTY = "/".join(["15"] * 15)
POSITION = f"position cgp {EMPTY} AEINRST/ 0/0 0"
# The first example of the CGP specification's endgames: the bag is empty.
LAST = (
    "5BERGS5/4PA3U5/2QAID3R5/3BEE3F2S2/1P1ET2VIATIC2/MA1TAW3c2H2/ES3IS2E2A2/AT1FOLIA4V2/LI1L1EX1E6/"
    "1N1O1D2N2Y3/1GNU2C1JETE3/2ER2OHO2N3/2O3GOY6/1INDOW1U7/4DORR7 IKLMTZ/AEINRU? 0/0 0"
)


class Talk:
    """A conversation, and all that has come of it."""

    def __init__(self, *lines: str) -> None:
        self.conversation = SiuConversation(SiuSettings(), "tilewire 1", "somebody")
        self.now_ms = 1_000
        self.begun: list[SearchTask] = []
        self.loads: list[SiuSettings] = []
        self.ended: list[int] = []
        self.is_over = False
        for line in lines:
            self.says(line)

    def says(self, line: str) -> list[str]:
        """Give what is answered to a line."""
        return self.did(self.conversation.take(line, self.now_ms))

    def tells(self, *answers: Answer, best: str | None = None) -> list[str]:
        """Give what is said when the search that was begun last tells something."""
        return self.did(self.conversation.receive_report(self.begun[-1].number, answers, best))

    def ends(self, best: str = "pass", which: int = -1) -> list[str]:
        return self.did(self.conversation.ended(self.begun[which].number, best))

    def loaded(self) -> list[str]:
        return self.did(self.conversation.loaded(self.loads[-1]))

    def waits(self, ms: int) -> list[str]:
        self.now_ms += ms
        return self.did(self.conversation.tick(self.now_ms))

    def did(self, effects: Sequence[Effect]) -> list[str]:
        said = []
        for effect in effects:
            match effect:
                case SiuSettings():
                    self.loads.append(effect)
                case SearchTask():
                    self.begun.append(effect)
                case Bare.STOP:
                    self.ended.append(self.begun[-1].number)
                case Bare.QUIT:
                    self.is_over = True
                case _:
                    said.append(effect.line())
        return said


def ready(*lines: str) -> Talk:
    """Give a conversation that is past its beginning."""
    talk = Talk("siu", "isready")
    talk.loaded()
    for line in lines:
        talk.says(line)
    return talk
