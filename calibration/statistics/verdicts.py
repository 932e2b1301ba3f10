"""The verdict on a rater: can a judge or metric answer a question in people's place, and if not, what next?"""

from __future__ import annotations

from typing import Literal

State = Literal["trust", "not_yet", "do_not_trust", "cannot_say"]
Step = Literal[
    "none", "disagreements", "more_ratings", "more_people", "unanswered", "guidelines", "baselines"
]
TITLES: dict[State, str] = {
    "trust": "Trust",
    "not_yet": "Not yet",
    "do_not_trust": "Do not trust",
    "cannot_say": "Cannot say yet",
}
