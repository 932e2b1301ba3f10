"""What a study at levels reads: per question its own answers, and those about the other kind of item."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Rater
from calibration.reading.census import Census
from calibration.reading.continuations import Produced, check_by, produced
from calibration.reading.definitions import Definition
from calibration.reading.levels import PEOPLE_MEAN, Levels, Missing
from calibration.reading.ratings import SubjectData, load, places
from calibration.reading.scale_maps import ScaleMap
from calibration.reading.scope import Scope
from calibration.reading.subjects import Link, Subject, metrics_of, known_links
from calibration.errors import DefinitionError

IDENTITY = ScaleMap()


@dataclass(frozen=True, slots=True)
class Source:
    """Answers about one kind of item, `turn` or `dialogue`, that count for a question through a map."""

    kind: str
    data: SubjectData
    missing: Missing = "skip"
    map: ScaleMap = IDENTITY


@dataclass(frozen=True, slots=True)
class LevelQuestion:
    """A question of a study at levels; its own answers come first among the sources."""

    subject: Subject
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class LevelInputs:
    """All that the tables of a study at levels are computed from.

    `continuations` are by the key of their dialogue item; `attributes` say per rater id its model and
    protocol where it has some. `digest` is the SHA-256 of the answers and of where they belong.
    """

    asked: Levels
    questions: tuple[LevelQuestion, ...]
    continuations: Mapping[str, Produced]
    attributes: Mapping[int, Mapping[str, str]]
    digest: str


def read(
    scope: Scope,
    definition: Definition,
    counted: Census,
    loaded: Sequence[SubjectData],
    clusters: frozenset[str] | None,
) -> LevelInputs | None:
    """Read what the levels of a definition need beside the questions' own answers; None without levels.

    Raises DefinitionError where a condition or the reference does not exist.
    """
    if definition.levels is None:
        return None
    check(scope, definition, counted)
    questions = tuple(_question(scope, data, counted, clusters, definition) for data in loaded)
    sources = [source for question in questions for source in question.sources]
    keys = {record.continuation for source in sources for record in source.data.records}
    continuations = produced(scope.corpus, keys, definition.levels.by)
    ids = {info.id for source in sources for info in source.data.raters}
    return LevelInputs(
        definition.levels,
        questions,
        continuations,
        _attributes(ids),
        _digest(sources, continuations),
    )


def check(scope: Scope, definition: Definition, counted: Census) -> None:
    """Refuse a reference that has no labels here, and conditions that no continuation has."""
    levels = definition.levels
    if levels is None:
        return
    check_by(scope.corpus, levels.by)
    names = [rater.name for rater in counted.raters.values()]
    if levels.reference != PEOPLE_MEAN and levels.reference not in names:
        raise DefinitionError(
            f"reference: no rater {levels.reference!r} has labels here; write {PEOPLE_MEAN}, or one of "
            f"{', '.join(sorted(names))}"
        )


def _question(
    scope: Scope,
    data: SubjectData,
    counted: Census,
    clusters: frozenset[str] | None,
    definition: Definition,
) -> LevelQuestion:
    subject = data.subject
    own = Source(subject.question.item_kind, data, subject.missing)
    where = places(scope, {link.question.item_kind for link in subject.across}, clusters)
    only = frozenset(definition.raters)
    across = []
    for link in subject.across:
        asked = Subject(link.question, _joined(link, subject.across, counted))
        answers = load(scope, asked, counted, where, only)
        across.append(Source(link.question.item_kind, answers, link.missing, link.map))
    return LevelQuestion(subject, (own, *across))


def _joined(link: Link, across: Sequence[Link], counted: Census) -> tuple[Link, ...]:
    """Return who else answers a linked question: what is known to, and metrics; with the first link only."""
    others = {other.question.id for other in across}
    known = [known for known in known_links(link.question, counted) if known.question.id not in others]
    ids = {known.question.id for known in known}
    metrics = metrics_of(link.question, counted, ids)
    if link is not next(o for o in across if o.question.item_kind == link.question.item_kind):
        metrics_ids = {m.question.id for m in metrics}
        return tuple(k for k in known if k.question.id not in metrics_ids)
    return (*known, *metrics)


def _attributes(ids: Collection[int]) -> dict[int, dict[str, str]]:
    found = {}
    for pk, spec in Rater.objects.filter(pk__in=ids).values_list("pk", "spec"):
        told = {key: str(spec[key]) for key in ("model", "protocol", "metric") if spec.get(key)}
        found[pk] = told
    return found


def _digest(sources: Sequence[Source], continuations: Mapping[str, Produced]) -> str:
    made = [f"{p.key}\t{p.cluster}\t{p.system}\t{p.static}\t{p.n_turns}" for p in continuations.values()]
    lines = [source.data.digest for source in sources] + sorted(made)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
