"""MPCEval: the next message alone; its speaker is shown."""

from __future__ import annotations

from systems.generators.mpceval_prediction import MESSAGE, Prediction


class ContentGivenSpeaker(Prediction):
    """What the next speaker says, who is given."""

    key = "mpceval_content_given_speaker"
    title = "What the next speaker says, who is given"
    condition = {"speaker": "given"}
    asks = (MESSAGE,)
