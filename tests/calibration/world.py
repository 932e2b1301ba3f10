"""Small corpora with labels, built directly in the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import (
    Continuation,
    Corpus,
    Dialogue,
    Item,
    Label,
    Occasion,
    Question,
    Rater,
    Scheme,
    SchemeVersion,
    System,
    Turn,
)
from annotation.work.labels import Answer, record
from calibration.gold import derivation
from calibration.models import Gold, Report
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies


@dataclass
class World:
    """A corpus of dialogues with `turns` turns each, and one item per turn and per dialogue."""

    corpus: Corpus
    turns: list[Item] = field(default_factory=list)
    dialogues: list[Item] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)

    def rater(self, name: str, kind: str = "human", *, identified: bool = True) -> Rater:
        """Return a rater of this corpus."""
        defaults = {"identified": identified}
        rater, _ = Rater.objects.get_or_create(corpus=self.corpus, kind=kind, name=name, defaults=defaults)
        return rater

    def ask(
        self, key: str, level: str, values: Sequence[Any] = (), *, scheme: str = "", **extra: Any
    ) -> Question:
        """Add a question in its own scheme or the named one; about turns unless `item_kind` differs."""
        kind = extra.pop("item_kind", "turn")
        found, _ = Scheme.objects.get_or_create(
            key=scheme or key, defaults={"title": (scheme or key).title()}
        )
        version, _ = SchemeVersion.objects.get_or_create(
            scheme=found, version=1, defaults={"item_kind": kind, "content_hash": "x"}
        )
        if "wording" not in extra:
            extra["wording"] = f"How is {key} in this turn, all in all?"
            extra.setdefault("short_name", key.replace("_", " ").capitalize())
        question = Question.objects.create(
            version=version,
            key=key,
            position=version.questions.count(),
            level=level,
            values=list(values),
            **extra,
        )
        self.questions[key] = question
        return question

    def say(
        self,
        rater: str | Rater,
        question: str,
        values: Mapping[Item, Any] | Sequence[Any],
        *,
        kind: str = "human",
        sample: int = 0,
        identified: bool = True,
        **how: Any,
    ) -> list[Label]:
        """Record answers: to the items of the question's kind in order, or to those of a mapping."""
        who = rater if isinstance(rater, Rater) else self.rater(rater, kind, identified=identified)
        asked = self.questions[question]
        items = self.turns if asked.version.item_kind == "turn" else self.dialogues
        pairs = values.items() if isinstance(values, Mapping) else zip(items, values, strict=False)
        answers = [
            Answer(item, asked, value, "" if value is not None else "not applicable", sample)
            for item, value in pairs
        ]
        return record(rater=who, answers=answers, **({"occasion": Occasion.IMPORTED} | how))

    def report(self) -> Report:
        """Compute the automatic study of the corpus."""
        return studies.compute(study=studies.automatic(corpus=self.corpus), part="all", by=None)

    def snapshot(self) -> Snapshot:
        """Compute the automatic study of the corpus, and return its content."""
        return snapshot_of(self.report())

    def gold(self, rule: str = "majority", **options: Any) -> Gold:
        """Derive gold labels from the corpus."""
        version = next(iter(self.questions.values())).version
        defaults = {"campaign": None, "scheme_version": version, "by": None}
        return derivation.make(corpus=self.corpus, rule=rule, **(defaults | options))


def world(
    name: str = "talks", *, dialogues: int = 6, turns: int = 5, systems: Sequence[str] = ("human",)
) -> World:
    """Return a corpus of dialogues d0, d1, ... whose own turns are rated."""
    built = World(Corpus.objects.create(name=name))
    made = [System.objects.create(corpus=built.corpus, name=system) for system in systems]
    for number in range(dialogues):
        dialogue = Dialogue.objects.create(corpus=built.corpus, key=f"d{number}", cluster=f"d{number}")
        own = Continuation.objects.create(dialogue=dialogue, key="self", system=made[number % len(made)])
        written = Turn.objects.bulk_create(
            Turn(continuation=own, position=p, speaker="AB"[p % 2], text=f"words {p}") for p in range(turns)
        )
        built.turns += Item.objects.bulk_create(
            Item(corpus=built.corpus, kind="turn", continuation=own, turn=turn) for turn in written
        )
        built.dialogues.append(Item.objects.create(corpus=built.corpus, kind="dialogue", continuation=own))
    return built
