"""Raters of the small ComperDial, with a copy of their answers for independent computation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from annotation.models import Question as Asked
from annotation.models import Scheme, SchemeVersion
from tests.calibration.levels_world import Static, asked

SYSTEMS = tuple("abcdefghijkl")
HOSTILE = r"<b>50% & \input{x} $y_1$*"
PEOPLE = ("ann", "ben")


class Rated:
    """Twelve systems on four dialogues: two people, a judge of two samples, a metric, a dialogue judge."""

    def __init__(self, built: Static, seed: int = 5) -> None:
        self.built, self.corpus = built, built.corpus
        self.random = np.random.default_rng(seed)
        self.said: list[dict[str, Any]] = []
        self.turn, self.whole = asked(built, "comperdial_turn"), asked(built, "comperdial_dialogue")
        good = {system: number / 3 for number, system in enumerate(SYSTEMS)}
        for name in PEOPLE:
            self.say(name, self.turn, lambda d, s, t: self._near(good[s], 0.8))
            self.say(name, self.whole, lambda d, s, t: self._near(good[s], 0.4))
        for sample in range(2):
            spec = {"model": "m-1", "protocol": "detail"}
            self.say(
                "judge", self.turn, lambda d, s, t: self._near(good[s], 1.0, 0.03), "judge", sample, spec
            )
        spec = {"model": "m-2", "protocol": "dial"}
        final = self._question("cpd", "dialogue")
        self.say(HOSTILE, final, lambda d, s, t: self._near(good[s], 0.9), "judge", 0, spec)
        self.say("noise", self._question("noise", "turn"), lambda *place: self.random.normal(), "metric")

    def _near(self, truth: float, spread: float, gone: float = 0.08) -> float | None:
        """Return a label from 1 to 5 near the truth, or None with probability `gone`."""
        value = float(np.clip(round(1 + truth + self.random.normal(0, spread)), 1, 5))
        return value if self.random.random() > gone else None

    def _question(self, key: str, kind: str) -> Asked:
        scheme = Scheme.objects.create(key=key, title=key)
        version = SchemeVersion.objects.create(scheme=scheme, version=1, item_kind=kind, content_hash=key)
        return Asked.objects.create(
            version=version, key="score", position=0, wording="Score", level="interval", values=[]
        )

    def say(
        self,
        name: str,
        question: Asked,
        score: Any,
        kind: str = "human",
        sample: int = 0,
        spec: dict[str, str] | None = None,
    ) -> None:
        def told(dialogue: str, system: str, turn: int) -> float | None:
            value = score(dialogue, system, turn)
            place = {"dialogue": dialogue, "system": system, "turn": turn, "sample": sample}
            if value is not None:
                self.said.append(place | {"rater": name, "question": question.key, "value": value})
            return value

        self.built.say(name, question, told, kind=kind, sample=sample, spec=spec)

    def frame(self, raters: Sequence[str], *, turns: bool) -> pd.Series:
        """Return the mean of some raters' first answers, by dialogue, system and turn."""
        frame = pd.DataFrame(self.said).sort_values("sample", kind="stable")
        chosen = frame[frame["rater"].isin(raters) & ((frame["turn"] >= 0) == turns)]
        chosen = chosen.drop_duplicates(["dialogue", "system", "turn", "rater"])
        return chosen.groupby(["dialogue", "system", "turn"])["value"].mean()
