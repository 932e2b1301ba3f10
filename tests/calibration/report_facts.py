"""The labels behind a report, read from the database without the report's own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from annotation.models import Item, Label, Rater
from calibration.reports.results import Question
from calibration.reports.snapshot import Snapshot

Values = dict[int, Any]
"""A rater's answers by item."""


class Facts:
    """What the labels of a report say, read without the report's own code."""

    def __init__(self, result: Snapshot) -> None:
        self.result = result
        self.cluster = dict(Item.objects.values_list("pk", "continuation__dialogue__cluster"))
        self.kind = dict(Rater.objects.values_list("name", "kind"))
        self.identified = dict(Rater.objects.values_list("name", "identified"))
        rows = Label.objects.order_by("sample").values_list(
            "question__version__scheme__key", "question__key", "rater__name", "item_id", "number", "text"
        )
        self.n_labels, self.n_missing = 0, 0
        questions = result.questions
        read = {q.ref for q in questions} | {link.question for q in questions for link in q.links}
        self.answers: dict[str, dict[str, Values]] = {}
        for scheme, key, rater, item, number, text in rows:
            value = number if text is None else text
            if f"{scheme}@1/{key}" not in read:
                continue
            self.n_labels += 1
            self.n_missing += value is None
            if value is not None:
                own = self.answers.setdefault(f"{scheme}@1/{key}", {}).setdefault(rater, {})
                own.setdefault(item, value)
        for question in result.questions:
            for link in question.links:
                self.answers.setdefault(question.ref, {}).update(self.answers.get(link.question, {}))
        for question in questions:
            if question.pooled:
                self.answers[question.ref] = self._pooled(question)

    def _pooled(self, pooled: Question) -> dict[str, Values]:
        """Return the answers to all tags of a group, an item for each turn and tag."""
        tags = [q for q in self.result.questions if q.scheme == pooled.scheme and not q.pooled]
        groups = Counter(tag.group for tag in tags)
        merged: dict[str, Values] = {}
        for number, tag in enumerate(tag for tag in tags if groups[tag.group] > 1):
            for rater, own in self.answers[tag.ref].items():
                merged.setdefault(rater, {}).update({item + 10**9 * number: own[item] for item in own})
        return merged

    def tags(self) -> list[str]:
        """Return the references of the tags that are pooled."""
        (pooled,) = (q for q in self.result.questions if q.pooled)
        size = {
            q.ref for q in self.result.questions if not q.pooled and q.scheme == pooled.scheme and q.group
        }
        alone = {q.ref for q in self.result.questions if q.key == "another_behaviour"}
        return sorted(size - alone)

    def titled(self, title: str) -> list[Question]:
        """Return the questions of a title."""
        return [question for question in self.result.questions if question.title == title]

    def question(self, title: str) -> Question:
        """Return the only question of a title."""
        (question,) = self.titled(title)
        return question

    def of(self, question: Question, kind: str = "human") -> dict[str, Values]:
        """Return the answers of the raters of a kind."""
        answers = self.answers.get(question.ref, {})
        return {name: own for name, own in answers.items() if self.kind[name] == kind}

    def groups(self, question: Question) -> Iterator[dict[str, Values]]:
        """Yield people together, people with each other rater, and every pair."""
        people, answers = self.of(question), self.answers[question.ref]
        yield people
        for name, own in answers.items():
            yield people | {name: own}
        for pair in combinations(answers, 2):
            yield {name: answers[name] for name in pair}

    def dialogues(self, items: Iterable[int]) -> set[str]:
        """Return the clusters of items."""
        return {self.cluster[item % 10**9] for item in items}
