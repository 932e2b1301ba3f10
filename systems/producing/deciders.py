"""Who decided in a corpus's scenarios: systems and conditions, with how much there is of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from annotation.corpora.parts import of_dialogues
from annotation.kinds import DECISION
from annotation.models import Continuation, Corpus
from annotation.scenarios.records import PEOPLE


@dataclass(frozen=True, slots=True)
class Decider:
    """A system under a condition: in how many scenarios it decided, in how many trials, how often."""

    system: str
    condition: dict[str, Any]
    scenarios: int
    trials: int
    decisions: int

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "system": self.system,
            "condition": self.condition,
            "scenarios": self.scenarios,
            "trials": self.trials,
            "decisions": self.decisions,
        }

    @property
    def condition_told(self) -> str:
        """The condition in words, without the model."""
        return ", ".join(f"{key} {value}" for key, value in sorted(self.condition.items()) if key != "model")


def deciders(corpus: Corpus) -> list[Decider]:
    """Return who decided in a corpus's scenarios outside training, by name and condition.

    People as agents are left out.
    """
    rows = (
        Continuation.objects.filter(
            of_dialogues(prefix="dialogue__"),
            dialogue__corpus=corpus,
            dialogue__scenario__isnull=False,
            mode=Continuation.Mode.STATIC,
        )
        .exclude(system__name=PEOPLE)
        .values("system__name", "condition")
        .annotate(
            scenarios=Count("dialogue", distinct=True),
            trials=Count("trial", distinct=True),
            decisions=Count("items", filter=Q(items__kind=DECISION.key), distinct=True),
        )
        .order_by("system__name", "condition")
    )
    return [
        Decider(row["system__name"], row["condition"], row["scenarios"], row["trials"], row["decisions"])
        for row in rows
    ]


def scenario_count(corpus: Corpus) -> int:
    """Return how many of a corpus's dialogues outside training are scenarios."""
    return corpus.dialogues.filter(of_dialogues(), scenario__isnull=False).count()
