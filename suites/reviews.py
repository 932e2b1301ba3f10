"""Reviews of a suite's material: people's answers to a scheme about one subject, and adjudicated answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.text.words import fold

ADJUDICATOR = "adjudication"
UNCOMPARED = frozenset(["note"])
"""Questions whose answers decide nothing."""


@dataclass(frozen=True, slots=True)
class Review:
    """One person's answers by the keys of the scheme's questions; unanswered questions are missing."""

    rater: str
    answers: Mapping[str, Any]
    adjudicated: bool = False


class SubjectAnswers:
    """Answers about one subject: by rater, and the adjudicated ones."""

    def __init__(self) -> None:
        self.by_rater: dict[str, dict[str, Any]] = defaultdict(dict)
        self.decided: dict[str, Any] = {}

    def reviews(self) -> list[Review]:
        """Return a review for each person, and, after an adjudication, one that overrides all others."""
        reviews = [Review(rater, answers) for rater, answers in sorted(self.by_rater.items())]
        if not self.decided:
            return reviews
        return [*reviews, Review(ADJUDICATOR, self._agreed() | self.decided, adjudicated=True)]

    @property
    def contested(self) -> str:
        """Reason why an adjudication is incomplete, '' for none."""
        if not self.decided:
            return ""
        for key, answers in self._open_answers().items():
            if len(answers) > 1:
                return f"{key.replace('_', ' ')} is still to be adjudicated"
        return ""

    def _agreed(self) -> dict[str, Any]:
        return {key: next(iter(answers.values())) for key, answers in self._open_answers().items()}

    def _open_answers(self) -> dict[str, dict[Any, Any]]:
        """Return the answers without adjudication, of raters who agree with all adjudicated answers."""
        open_answers: dict[str, dict[Any, Any]] = defaultdict(dict)
        for answers in self.by_rater.values():
            if all(_plain(answers.get(key)) == _plain(value) for key, value in self.decided.items()):
                for key, value in answers.items():
                    if key not in self.decided and key not in UNCOMPARED:
                        open_answers[key][_plain(value)] = value
        return open_answers


def _plain(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else value
