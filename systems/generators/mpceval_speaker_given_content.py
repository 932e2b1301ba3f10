"""MPCEval: the next speaker alone; the message is shown."""

from __future__ import annotations

from systems.generators.mpceval_prediction import SPEAKER, Prediction


class SpeakerGivenContent(Prediction):
    """Who says the next message, which is given."""

    key = "mpceval_speaker_given_content"
    title = "Who says the next message, which is given"
    condition = {"content": "given"}
    asks = (SPEAKER,)
