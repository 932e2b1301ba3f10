"""Schemes in the database: stored once, looked up by content, and listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Count, ForeignKey, ManyToOneRel, Max, Model, QuerySet

from annotation.kinds import COMPARING
from annotation.models.schemes import Question, Scheme, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import (
    QuestionDefinition,
    SchemeDefinition,
    Value,
    accepts,
    explains,
    is_met,
    plain,
)
from annotation.schemes.files import as_plain, write

# Schemes in the database: definitions are stored once, looked up by content, and rebuilt from rows.

# Questions of a scheme version, loaded once per process, since a version never changes.


@dataclass(frozen=True, slots=True)
class ScreenQuestion:
    """A question in the form shown to annotators."""

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
        """Whether the question is a toggle of a multi-label control; untouched means no."""
        return self.level == "binary" and bool(self.group)

    @property
    def names_people(self) -> bool:
        """Whether the answer is a set of participants: ids joined by `;`, `nobody` for none."""
        return self.level == "nominal" and not self.values

    def is_shown(self, answers: Mapping[str, Any]) -> bool:
        """Whether the question is shown, given the answers to earlier questions."""
        return is_met(self.show_if, answers)

    def accepts(self, value: Any) -> bool:
        """Whether a value may be stored as an answer."""
        return accepts(self.level, self.values, value, self.minimum, self.maximum, self.whole)


FIELDS = tuple(field.name for field in fields(ScreenQuestion) if field.name != "id")


@dataclass(frozen=True)
class Questionnaire:
    """A scheme version with its questions.

    A text question shown only after a tag explains the tag, so it is required. Each question has the kind of
    item that it is about.
    """

    version_id: int
    key: str
    title: str
    introduction: str
    item_kind: str
    unit: str
    questions: tuple[ScreenQuestion, ...]
    about_open: bool = False

    def __post_init__(self) -> None:
        tags = {question.key for question in self.questions if question.is_tag}
        questions = tuple(
            replace(
                question,
                required=question.required or explains(question.level, question.show_if, tags),
                item_kind=question.item_kind or self.item_kind,
            )
            for question in self.questions
        )
        object.__setattr__(self, "questions", questions)

    @cached_property
    def by_key(self) -> dict[str, ScreenQuestion]:
        """Questions by their key."""
        return {question.key: question for question in self.questions}

    @cached_property
    def takes_evidence(self) -> bool:
        """Whether any answer may have evidence."""
        return any(question.evidence for question in self.questions)

    @cached_property
    def item_kinds(self) -> tuple[str, ...]:
        """Kinds of items of its questions, its own kind first."""
        return tuple(dict.fromkeys([self.item_kind, *(question.item_kind for question in self.questions)]))

    @property
    def compares(self) -> bool:
        """Whether its questions compare items side by side instead of rating each alone."""
        return self.item_kind in COMPARING

    @property
    def is_mixed(self) -> bool:
        """Whether a task asks about turns and then about the whole dialogue."""
        return len(self.item_kinds) > 1

    def asked_about(self, kind: str) -> tuple[ScreenQuestion, ...]:
        """Return its questions about items of a kind."""
        return tuple(question for question in self.questions if question.item_kind == kind)

    @cached_property
    def is_tagged(self) -> bool:
        """Whether its only choices are tags; a mixed scheme's questions about the whole do not count."""
        questions = self.asked_about(self.item_kind)
        return all(question.is_tag or question.level == "text" for question in questions)

    @property
    def is_multiple(self) -> bool:
        """Whether a task asks about all turns of a continuation; in a mixed scheme also about the whole."""
        return self.unit == SchemeVersion.Unit.CONTINUATION


@lru_cache(maxsize=256)
def questionnaire_of(version_id: int) -> Questionnaire:
    """Return the questionnaire of a scheme version: two queries the first time, none afterwards."""
    version = SchemeVersion.objects.select_related("scheme").get(pk=version_id)
    return Questionnaire(
        version_id=version_id,
        key=version.scheme.key,
        title=version.name,
        introduction=version.introduction,
        item_kind=version.item_kind,
        unit=version.unit,
        questions=tuple(_screen_question(question) for question in version.questions.order_by("position")),
        about_open=SCHEMES.get(version.scheme.key, version).about_open,
    )


def questionnaire_from(definition: SchemeDefinition) -> Questionnaire:
    """Return the questionnaire of an unstored definition; its questions have no ids yet."""
    return Questionnaire(
        version_id=0,
        key=definition.key,
        title=definition.title,
        introduction=definition.introduction,
        item_kind=definition.item_kind,
        unit=definition.unit,
        questions=tuple(
            ScreenQuestion(0, **_tupled(question.as_stored())) for question in definition.questions
        ),
        about_open=definition.about_open,
    )


def _screen_question(question: Question) -> ScreenQuestion:
    same = {name: getattr(question, name) for name in FIELDS}
    return ScreenQuestion(question.pk, **_tupled(same))


def _tupled(stored: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: stored[name] for name in FIELDS}
    return {**own, "values": tuple(stored["values"]), "evidence_for": tuple(stored["evidence_for"])}


@transaction.atomic
def store(*, definition: SchemeDefinition) -> SchemeVersion:
    """Return the stored version of a definition, storing it first where it is new.

    A definition whose content differs from every stored version becomes the next version of its scheme.
    """
    scheme, _ = Scheme.objects.get_or_create(key=definition.key, defaults={"title": definition.title})
    Scheme.objects.select_for_update().get(pk=scheme.pk)
    content_hash = definition.content_hash()
    version = scheme.versions.filter(content_hash=content_hash).first()
    if version:
        return version
    last = scheme.versions.aggregate(last=Max("version"))["last"] or 0
    return add(scheme=scheme, number=max(last + 1, definition.version), definition=definition)


def add(*, scheme: Scheme, number: int, definition: SchemeDefinition) -> SchemeVersion:
    """Store a version of a scheme with its questions; the caller has locked the scheme's row."""
    version = SchemeVersion.objects.create(
        scheme=scheme,
        version=number,
        item_kind=definition.item_kind,
        unit=definition.unit,
        title=definition.title,
        introduction=definition.introduction,
        guidelines=definition.guidelines,
        source=definition.source,
        about_open=definition.about_open,
        one_conversation=definition.one_conversation,
        content_hash=definition.content_hash(),
    )
    Question.objects.bulk_create(
        Question(version=version, position=position, **question.as_stored())
        for position, question in enumerate(definition.questions)
    )
    return version


def find(ref: str) -> SchemeVersion | None:
    """Return the version of `key` or `key@version`, None where it does not exist.

    A key alone means the built-in definition, stored at first use, else the newest version.
    """
    if (definition := SCHEMES.get(ref)) is not None:
        return store(definition=definition)
    if "\x00" in ref:
        return None
    rows = SchemeVersion.objects.select_related("scheme")
    if (newest := rows.filter(scheme__key=ref).order_by("-version").first()) is not None:
        return newest
    key, _, number = ref.rpartition("@")
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        return None
    if key in SCHEMES:
        store(definition=SCHEMES[key])
    return rows.filter(scheme__key=key, version=int(number)).first()


def definition_of(version: SchemeVersion) -> SchemeDefinition:
    """Return the definition of a stored version: the same content, so the same content hash.

    For versions from before texts were stored, this holds only for the questions.
    """
    built_in = SCHEMES.get(version.scheme.key)
    if built_in is not None and built_in.content_hash() == version.content_hash:
        return built_in
    unit: Any = version.unit
    definition = SchemeDefinition(
        key=version.scheme.key,
        version=version.version,
        title=version.name,
        item_kind=version.item_kind,
        unit=unit,
        introduction=version.introduction,
        questions=tuple(_question(row) for row in version.questions.order_by("position")),
        guidelines=version.guidelines,
        source=version.source,
        about_open=built_in.about_open if built_in else version.about_open,
        one_conversation=built_in.one_conversation if built_in else version.one_conversation,
    )
    # A definition that differs from a stored one gets a new number; the hash was computed with its own
    # number.
    numbered = (replace(definition, version=number) for number in range(version.version, 0, -1))
    return next(
        (candidate for candidate in numbered if candidate.content_hash() == version.content_hash), definition
    )


def _question(row: Question) -> QuestionDefinition:
    """Return a question's definition; numbers are whole where its values are, as originally written."""
    values_by_text: dict[str, Value] = {str(value): value for value in row.values}
    same: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(QuestionDefinition)}
    return QuestionDefinition(
        **same
        | {
            "values": tuple(row.values),
            "evidence_for": tuple(row.evidence_for),
            "anchors": {values_by_text.get(key, key): text for key, text in row.anchors.items()},
            "minimum": plain(row.minimum),
            "maximum": plain(row.maximum),
            "positive": next((value for value in row.values if value == row.positive), row.positive),
        }
    )


# Available schemes, for lists and choices.

# Uses of a scheme version: nothing shown to people or judges may change under them.


def is_used(version: SchemeVersion) -> bool:
    """Whether anything refers to a version or its questions: a campaign, label, run, bench, prompt, gold.

    Every foreign key counts, including those of other apps, so a new model counts automatically.
    """
    if version.frozen_at is not None:
        return True
    return any(
        rows.filter(**{name: version.pk}).exists()
        for rows, name in (*_to(SchemeVersion), *_to(Question, True))
    )


def _to(model: type[Model], through: bool = False) -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield the rows that refer to a model, with the lookup of the version that they belong to."""
    for relation in model._meta.related_objects:
        pointing = relation.related_model
        if isinstance(relation, ManyToOneRel) and pointing is not Question and isinstance(pointing, type):
            field = relation.field
            assert isinstance(field, ForeignKey)
            yield pointing._base_manager.all(), f"{field.name}{'__version' if through else ''}"


Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SchemeSummary:
    """A scheme in a list; `versions` is the number of stored versions, 0 for an unused built-in scheme."""

    key: str
    title: str
    item_kind: str
    unit: str
    built_in: bool
    newest: int
    versions: int
    questions: int
    archived: bool
    item_kinds: tuple[str, ...]


def schemes() -> list[SchemeSummary]:
    """Return all available schemes, custom ones first, by title."""
    return [*(_own(row) for row in own_schemes()), *(_built_in(scheme) for scheme in SCHEMES.values())]


def own_schemes() -> QuerySet[Scheme]:
    """Return the custom schemes, archived ones included, by title."""
    rows = Scheme.objects.filter(own=True).annotate(stored=Count("versions")).filter(stored__gt=0)
    return rows.order_by("title", "key")


OWN = "Your own"


def choices() -> list[Any]:
    """Return form choices in groups: custom schemes, newest first, built-in ones, and earlier versions."""
    built_in = [(key, scheme.title) for key, scheme in SCHEMES.items()]
    rows = SchemeVersion.objects.filter(scheme__in=own_schemes().filter(archived_at=None))
    newest: list[Choice] = []
    earlier: list[Choice] = []
    seen: set[int] = set()
    for row in rows.select_related("scheme").order_by("-pk"):
        (earlier if row.scheme_id in seen else newest).append((row.ref, f"{row.name} ({row.ref})"))
        seen.add(row.scheme_id)
    groups = {OWN: newest, "Built in": built_in, "Your own, earlier versions": earlier}
    return [(name, options) for name, options in groups.items() if options]


def used_keys() -> set[str]:
    """Return the keys that a new scheme cannot have."""
    return {*SCHEMES, *Scheme.objects.values_list("key", flat=True)}


def item_kinds() -> dict[str, str]:
    """Return the kind of items of all schemes, by reference as in `choices`."""
    rows = SchemeVersion.objects.filter(scheme__in=own_schemes()).select_related("scheme")
    kinds = {key: scheme.item_kind for key, scheme in SCHEMES.items()}
    return kinds | {row.ref: row.item_kind for row in rows}


def as_json(version: SchemeVersion) -> dict[str, Any]:
    """Return a version as JSON data: its definition, and data on its storage and use."""
    definition = definition_of(version)
    content = as_plain(definition) | {"version": version.version}
    content["key"] = content.pop("scheme")
    return {
        "id": version.pk,
        "ref": version.ref,
        "built_in": version.scheme.key in SCHEMES,
        "archived": version.scheme.archived_at is not None,
        "used": is_used(version),
        "created_at": version.created_at,
        "definition": content,
        "yaml": write(definition),
    }


def _own(row: Scheme) -> SchemeSummary:
    version = row.versions.order_by("-version").first()
    assert version is not None
    question_count = version.questions.count()
    beside = version.questions.exclude(item_kind="").values_list("item_kind", flat=True)
    kind, unit, number = version.item_kind, version.unit, version.version
    archived = row.archived_at is not None
    kinds = tuple(dict.fromkeys([kind, *beside]))
    return SchemeSummary(
        row.key, row.title, kind, unit, False, number, row.versions.count(), question_count, archived, kinds
    )


def _built_in(scheme: SchemeDefinition) -> SchemeSummary:
    stored = SchemeVersion.objects.filter(scheme__key=scheme.key)
    question_count = len(scheme.questions)
    kind, unit = scheme.item_kind, scheme.unit
    newest = max(scheme.version, *stored.values_list("version", flat=True), 0)
    return SchemeSummary(
        scheme.key,
        scheme.title,
        kind,
        unit,
        True,
        newest,
        stored.count(),
        question_count,
        False,
        scheme.item_kinds,
    )
