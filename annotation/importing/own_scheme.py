"""The scheme of a corpus's own: questions that its files answer and that no other scheme asks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from annotation.formats import ImportProblem
from annotation.kinds.table import KINDS
from annotation.models import Corpus, Question, SchemeVersion
from annotation.scheme_versions import store as scheme_store
from annotation.schemes.base import LEVELS, QuestionDefinition, SchemeDefinition
from annotation.schemes.comparisons import COMPARISON, RANKING

OWN = "own"
"""What `--scheme` calls the corpus's own scheme."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the labels of a file name it, with what they say of its scale.

    `numbers` and `words` say whether some answers can only be a number, or only a text.
    """

    kind: str
    key: str
    scheme: str
    line: int | None
    numbers: bool
    words: bool
    level: str
    values: str

    def problem(self, reason: str) -> ImportProblem:
        """Return a problem with the question, to be raised."""
        return ImportProblem(reason, field="question", line=self.line)


def own_key(corpus: Corpus, kind: str) -> str:
    """Return the key of a corpus's own scheme about items of a kind."""
    return f"corpus:{corpus.name}:{kind}"


def own_questions(corpus: Corpus, asked: Sequence[Asked]) -> dict[Asked, Question]:
    """Return questions of the corpus's own schemes, adding a version where some are new."""
    found: dict[Asked, Question] = {}
    for kind in sorted({one.kind for one in asked}):
        mine = [one for one in asked if one.kind == kind]
        version = _version(corpus, kind, mine)
        questions = {
            question.key: question for question in version.questions.select_related("version__scheme")
        }
        found.update({one: questions[one.key] for one in mine})
    return found


def _version(corpus: Corpus, kind: str, asked: Sequence[Asked]) -> SchemeVersion:
    """Return the newest version of the own scheme with these questions besides those it has."""
    key = own_key(corpus, kind)
    last = SchemeVersion.objects.filter(scheme__key=key).order_by("-version").first()
    questions = (
        {} if last is None else {question.key: _definition(question) for question in last.questions.all()}
    )
    for one in asked:
        questions.setdefault(one.key, _new(one))
    return scheme_store.store(
        definition=SchemeDefinition(
            key=key,
            version=1,
            title=f"Imported questions of {corpus.name} ({KINDS[kind].plural})",
            item_kind=kind,
            unit="item",
            introduction="Questions as they were named in imported files.",
            questions=tuple(questions.values()),
        )
    )


def _new(one: Asked) -> QuestionDefinition:
    if one.numbers and one.words:
        raise one.problem(f"{one.key!r} is answered with numbers and with texts: use one of them")
    words = RANKING if one.kind == "ranking" else "nominal"
    level: Any = one.level or (words if one.words else "interval")
    if level not in LEVELS:
        raise one.problem(f"the level {level!r} is not one of {', '.join(LEVELS)}")
    values = tuple(json.loads(one.values or "[]"))
    if one.kind == "pair" and level == "nominal":
        values = values or COMPARISON
    anchors: dict[Any, str] = {}
    if level == "ordinal" and values and all(isinstance(value, str) for value in values):
        anchors = dict(enumerate(values, start=1))  # the words in their declared order are 1, 2, 3, ...
        values = tuple(anchors)
    return QuestionDefinition(key=one.key, wording=one.key, level=level, values=values, anchors=anchors)


def _definition(question: Question) -> QuestionDefinition:
    same = {field.name: getattr(question, field.name) for field in fields(QuestionDefinition)}
    return QuestionDefinition(**same | {"values": tuple(question.values)})
