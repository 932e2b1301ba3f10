"""What a scheme version asks, loaded once per process: a version never changes, so neither does its plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from annotation.kinds import COMPARING
from annotation.models import Question, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.base import SchemeDefinition, accepts, explains, is_met


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as annotators meet it."""

    id: int
    key: str
    wording: str
    level: str
    values: tuple[Any, ...]
    anchors: Mapping[str, str]
    positive: float | None
    group: str
    help: Mapping[str, str]
    shortcut: str
    required: bool
    show_if: Mapping[str, Any] | None
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    evidence: str = ""
    evidence_for: tuple[Any, ...] = ()
    evidence_required: bool = False
    item_kind: str = ""

    @property
    def is_tag(self) -> bool:
        """Whether it is one toggle of a multi-label control: left untouched, it means no."""
        return self.level == "binary" and bool(self.group)

    @property
    def names_people(self) -> bool:
        """Whether it is answered with a set of participants: ids joined by `;`, `nobody` for none."""
        return self.level == "nominal" and not self.values

    def is_shown(self, answers: Mapping[str, Any]) -> bool:
        """Whether it is asked, given the answers to the questions that were asked before it."""
        return is_met(self.show_if, answers)

    def accepts(self, value: Any) -> bool:
        """Whether a value may be stored as an answer."""
        return accepts(self.level, self.values, value, self.minimum, self.maximum, self.whole)


FIELDS = tuple(field.name for field in fields(Asked) if field.name != "id")


@dataclass(frozen=True)
class Questionnaire:
    """A scheme version with its questions.

    A text that only a tag asks for says what the tag stands for, so it is required beside it. Each question
    names the kind of item that it is about.
    """

    version_id: int
    key: str
    title: str
    introduction: str
    item_kind: str
    unit: str
    questions: tuple[Asked, ...]
    about_open: bool = False

    def __post_init__(self) -> None:
        tags = {question.key for question in self.questions if question.is_tag}
        told = tuple(
            replace(
                question,
                required=question.required or explains(question.level, question.show_if, tags),
                item_kind=question.item_kind or self.item_kind,
            )
            for question in self.questions
        )
        object.__setattr__(self, "questions", told)

    @cached_property
    def by_key(self) -> dict[str, Asked]:
        """Questions by their key."""
        return {question.key: question for question in self.questions}

    @cached_property
    def takes_evidence(self) -> bool:
        """Whether some answer may point at turns."""
        return any(question.evidence for question in self.questions)

    @cached_property
    def item_kinds(self) -> tuple[str, ...]:
        """The kinds of items that it asks about, its own first."""
        return tuple(dict.fromkeys([self.item_kind, *(question.item_kind for question in self.questions)]))

    @property
    def compares(self) -> bool:
        """Whether it asks about what stands side by side together, not about each alone."""
        return self.item_kind in COMPARING

    @property
    def is_mixed(self) -> bool:
        """Whether one task asks about turns and then about the whole."""
        return len(self.item_kinds) > 1

    def asked_about(self, kind: str) -> tuple[Asked, ...]:
        """Return its questions about items of a kind."""
        return tuple(question for question in self.questions if question.item_kind == kind)

    @cached_property
    def is_tagged(self) -> bool:
        """Whether its only choices are tags; questions about the whole beside those about turns aside."""
        asked = self.asked_about(self.item_kind)
        return all(question.is_tag or question.level == "text" for question in asked)

    @property
    def is_multiple(self) -> bool:
        """Whether one task asks about all turns of a continuation; of a mixed one, about the whole, too."""
        return self.unit == SchemeVersion.Unit.CONTINUATION


@lru_cache(maxsize=256)
def questionnaire_of(version_id: int) -> Questionnaire:
    """Return the plan of a scheme version: two queries the first time, none afterwards."""
    version = SchemeVersion.objects.select_related("scheme").get(pk=version_id)
    return Questionnaire(
        version_id=version_id,
        key=version.scheme.key,
        title=version.name,
        introduction=version.introduction,
        item_kind=version.item_kind,
        unit=version.unit,
        questions=tuple(_asked(question) for question in version.questions.order_by("position")),
        about_open=SCHEMES.get(version.scheme.key, version).about_open,
    )


def questionnaire_from(definition: SchemeDefinition) -> Questionnaire:
    """Return what a definition would ask once it is stored; its questions have no ids yet."""
    return Questionnaire(
        version_id=0,
        key=definition.key,
        title=definition.title,
        introduction=definition.introduction,
        item_kind=definition.item_kind,
        unit=definition.unit,
        questions=tuple(Asked(0, **_tupled(question.as_stored())) for question in definition.questions),
        about_open=definition.about_open,
    )


def _asked(question: Question) -> Asked:
    same = {name: getattr(question, name) for name in FIELDS}
    return Asked(question.pk, **_tupled(same))


def _tupled(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "values": tuple(stored["values"]), "evidence_for": tuple(stored["evidence_for"])}
