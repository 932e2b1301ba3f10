"""What a question set comes to, in numbers: table 2 of the set (`dialsim.md`, section 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.scripts.making import MadeSet
from annotation.scripts.records import Question
from annotation.scripts.sessions import Sessions


@dataclass(slots=True)
class Figures:
    """Numbers of a set, script by script: sessions, questions, and uses by source, hops and type."""

    scripts: int = 0
    sessions: int = 0
    heard: int = 0
    turns: int = 0
    asked_in: int = 0
    facts: int = 0
    questions: Counter[str] = field(default_factory=Counter)
    uses: Counter[str] = field(default_factory=Counter)
    answerable: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)

    def add(self, sessions: Sessions, made: MadeSet, quiz: Mapping[str, Question], facts: int) -> None:
        """Count one script's share."""
        by_id = {question.id: question for question in made.questions}
        self.scripts += 1
        self.sessions += len(sessions)
        self.heard += len(sessions.heard)
        self.turns += len(sessions.dialogue.turns)
        self.facts += facts
        self.asked_in += len({use.session for use in made.set.uses})
        asked: set[str] = set()
        for use in made.set.uses:
            source = source_of(by_id.get(use.question) or quiz[use.question])
            asked.add(use.question)
            self.uses[source] += 1
            self.answerable[source] += use.answerable
            self.types[use.type] += 1
        self.questions.update(source_of(by_id.get(key) or quiz[key]) for key in asked)
        self.dropped.update(made.dropped)
        self.excluded.update(made.excluded)

    def as_json(self) -> dict[str, Any]:
        """Return them as the column holds them."""
        uses, answerable = sum(self.uses.values()), sum(self.answerable.values())
        return {
            "scripts": self.scripts,
            "sessions": self.sessions,
            "heard": self.heard,
            "asked_in": self.asked_in,
            "turns": self.turns,
            "facts": self.facts,
            "questions": sum(self.questions.values()),
            "uses": uses,
            "answerable": answerable,
            "by_source": {
                source: {
                    "questions": self.questions[source],
                    "uses": self.uses[source],
                    "answerable": self.answerable[source],
                }
                for source in sorted(self.uses)
            },
            "types": dict(sorted(self.types.items())),
            "dropped": dict(self.dropped),
            "excluded": dict(self.excluded),
        }


def source_of(question: Question) -> str:
    """Return where a question is from, with the number of its hops: quiz, tkg_1 or tkg_2."""
    return question.source if question.source == "quiz" else f"{question.source}_{question.hops}"
