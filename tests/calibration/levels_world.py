"""A small ComperDial: human dialogues, systems that answer each at every point, labels of both levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from annotation.models import Corpus, Item, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from tests import factories

Score = Callable[[str, str, int], float | None]
"""A rater's answer about (dialogue, system, turn), None for no answer; turn is -1 for the whole."""
WHOLE = -1


@dataclass
class Static:
    """Dialogues with one static continuation of some turns per system."""

    corpus: Corpus
    turns: dict[tuple[str, str, int], Item] = field(default_factory=dict)
    wholes: dict[tuple[str, str], Item] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)

    def rater(self, name: str, kind: str, spec: Mapping[str, str] | None = None) -> Rater:
        """Return a rater of this corpus."""
        defaults = {"spec": dict(spec or {})}
        made, _ = Rater.objects.get_or_create(corpus=self.corpus, kind=kind, name=name, defaults=defaults)
        return made

    def say(
        self,
        name: str,
        question: Question,
        score: Score,
        *,
        kind: str = "human",
        sample: int = 0,
        spec: Mapping[str, str] | None = None,
    ) -> None:
        """Record a rater's answers to every item of the question's kind."""
        if question.version.item_kind == "turn":
            items = dict(self.turns)
        else:
            items = {(*place, WHOLE): item for place, item in self.wholes.items()}
        answers = [
            Answer(item, question, value, "", sample)
            for place, item in items.items()
            if (value := score(*place)) is not None
        ]
        record(rater=self.rater(name, kind, spec), answers=answers, occasion=Occasion.IMPORTED)


def static(
    name: str = "comper", *, dialogues: int = 4, systems: tuple[str, ...] = ("a", "b", "c"), turns: int = 3
) -> Static:
    """Return a corpus whose systems answered every dialogue at `turns` points."""
    built = Static(factories.corpus(name))
    for number in range(dialogues):
        dialogue = factories.dialogue(built.corpus, f"d{number}", turns=2 * turns)
        for system in systems:
            lines = [{"text": f"{system} says {at}", "speaker": "B", "at": 2 * at + 1} for at in range(turns)]
            made = factories.continuation(dialogue, system, system=system, turns=lines, mode="static")
            for item in Item.objects.filter(continuation=made).select_related("turn"):
                if item.turn is None:
                    built.wholes[dialogue.key, system] = item
                else:
                    built.turns[dialogue.key, system, item.turn.position] = item
    return built


def asked(built: Static, scheme: str, key: str = "overall") -> Question:
    """Return a question of a built-in scheme."""
    return factories.scheme_version(scheme).questions.select_related("version__scheme").get(key=key)
