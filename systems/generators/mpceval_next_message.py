"""MPCEval: the next speaker and that speaker's message, at fixed points of a dialogue."""

from __future__ import annotations

from systems.generators.mpceval_prediction import Prediction


class NextMessage(Prediction):
    """Who speaks next, and what that person says."""

    key = "mpceval_next_message"
    title = "Who speaks next, and what that person says"
