"""Inputs of a report, read once and hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from annotation.corpora import exclusion
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.corpora.splits import TRAINING
from annotation.models import Corpus, Split, System
from calibration.models import Study
from calibration.ratings import levels as level_sources
from calibration.ratings.calls import Calls, calls, doubtful, fake_systems, with_unanswered
from calibration.ratings.coverage import Coverage, coverage
from calibration.ratings.definitions import Definition, parse
from calibration.ratings.evidence import Evidence, evidence
from calibration.ratings.levels import LevelInputs
from calibration.ratings.ratings import (
    Answered,
    Subject,
    SubjectData,
    again,
    answered,
    conditions,
    lengths,
    load,
    places,
    subjects_of,
)
from calibration.ratings.scope import Census, Scope, census, of_study
from calibration.ratings.subsets import check_subset
from calibration.ratings.votes import Compared, Uncompared, compared, uncompared
from calibration.reports.snapshot import FORMAT
from calibration.statistics import Record, Result
from calibration.studies.parts import clusters_of, split_of
from jobs.models.run import Run
from judges.models import Draft


@dataclass(frozen=True)
class Inputs:
    """Inputs of a study on one part of its split, with their SHA-256.

    `stamp` is the scope's stamp just before reading. `answered` holds the answers per rater, `uncompared` the
    answered questions without a comparison, with the reason. `again` holds, per subject, raters' second
    answers; `coverage` the turns with a behaviour outside the scheme's list. In a test report, `dev_keys` are
    answers of keys in dev, and `learning` the dev subjects from which thresholds, weights and baselines are
    learned. `lengths` are the characters and words of the items that judges answered, by key. `evidence` is
    the evidence for questions that require it; `compared` are the votes on questions that compare responses;
    `fake_systems` names the systems with continuations by a fake model; `judges` are facts
    about judges beside their labels, by name. `conditions` are those of continuations, by key, where a judge
    answered about more items than people.
    """

    study: Study
    scope: Scope
    definition: Definition
    part: str
    split: Split | None
    subjects: tuple[SubjectData, ...]
    calls: tuple[Calls, ...]
    stamp: str
    answered: tuple[Answered, ...] = ()
    uncompared: tuple[Uncompared, ...] = ()
    levels: LevelInputs | None = None
    again: tuple[tuple[Record, ...], ...] = ()
    coverage: tuple[Coverage, ...] = ()
    dev_keys: tuple[SubjectData, ...] = ()
    learning: tuple[SubjectData, ...] = ()
    lengths: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    compared: tuple[Compared, ...] = ()
    fake_systems: tuple[str, ...] = ()
    judges: Mapping[str, JudgeFacts] = field(default_factory=dict)
    excluded: LeftOutDialogues | None = None
    conditions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 of everything that determines the report's numbers."""
        content = {
            "format": FORMAT,
            "definition": self.definition.as_dict(),
            "part": self.part,
            "split": self.split.name if self.split else None,
            "answers": [data.digest for data in self.subjects],
            "learning": [data.digest for data in self.learning],
            "calls": [asdict(row) for row in self.calls],
            "unanswered": [sorted((r.item, r.rater, r.sample) for r in d.unanswered) for d in self.subjects],
            "answered": [asdict(row) for row in self.answered],
            "uncompared": [asdict(row) for row in self.uncompared],
            "coverage": [_without_ids(asdict(table)) for table in self.coverage],
            "again": [sorted((r.item, r.rater, r.sample, str(r.value)) for r in rows) for rows in self.again],
            "levels": self.levels.digest if self.levels else None,
            "dev_keys": [data.digest for data in self.dev_keys],
            "evidence": [read.digest for read in self.evidence],
            "compared": [read.digest for read in self.compared],
        }
        if self.scope.without:
            content["without"] = [omission.sentence for omission in self.scope.without]
        if self.excluded:
            content["excluded"] = self.excluded.digest()
        if self.fake_systems:
            content["fake_systems"] = list(self.fake_systems)
        if self.judges:
            content["judges"] = {name: facts.as_json() for name, facts in self.judges.items()}
        if self.conditions:
            content["conditions"] = dict(self.conditions)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read(study: Study, part: str) -> Inputs:
    """Read a study's inputs. Raises DefinitionError if its definition no longer fits the labels."""
    scope = of_study(study)
    definition = parse(study.definition)
    check_subset(study.corpus, definition.subset)
    excluded = exclusion.left_out(study.corpus, definition.subset.exclude, training=scope.training)
    if excluded is not None:
        scope = replace(scope, excluded=tuple(excluded.ids))
    split = split_of(study)
    stamp = scope.stamp()
    counted = census(scope)
    if scope.training:
        definition = replace(definition, split=TRAINING)
    subjects = subjects_of(definition, counted)
    clusters = clusters_of(split, part)
    where = places(scope, {s.question.item_kind for s in subjects}, clusters)
    only = frozenset(definition.raters)
    loaded = tuple(load(scope, subject, counted, where, only) for subject in subjects)
    above = level_sources.read(scope, definition, counted, loaded, clusters)
    read_too = [data.subject for data in above.across] if above else []
    loaded = with_unanswered(scope, loaded, counted, clusters)
    votes = compared(scope, definition, counted, clusters)
    raters_answered = answered(scope, counted, clusters, only)
    names = {rater.name for rater in raters_answered if rater.kind == "judge"}
    judges = {info.id: info.name for info in counted.raters.values() if info.name in names}
    metrics = {info.id: info.name for data in loaded for info in data.raters if info.kind == "metric"}
    sizes = lengths(where) if _has_judge(loaded, above) else {}
    return Inputs(
        study,
        scope,
        definition,
        part,
        split,
        loaded,
        calls(scope, judges, clusters) + doubtful(scope, metrics, clusters),
        stamp,
        tuple(raters_answered),
        tuple(
            uncompared(
                definition,
                counted,
                [*subjects, *read_too],
                {question_votes.question.id for question_votes in votes},
            )
        ),
        levels=above,
        again=tuple(again(scope, subject, counted, where, only) for subject in subjects),
        coverage=tuple(coverage(scope, counted, _schemes(definition, subjects), clusters, only)),
        dev_keys=dev_keys(scope, loaded, counted, split) if part == "test" else (),
        learning=_learning(scope, subjects, loaded, counted, split, only) if part == "test" else (),
        compared=votes,
        fake_systems=tuple(fake_systems(scope.labels(), clusters)),
        evidence=evidence(scope, [subject.question for subject in subjects], counted, where, only),
        lengths={where[item].key: size for item, size in sizes.items()},
        judges=judge_facts(study.corpus, judges),
        excluded=excluded,
        conditions=_conditions(scope, loaded),
    )


def _conditions(scope: Scope, loaded: Sequence[SubjectData]) -> dict[str, dict[str, Any]]:
    """Return the conditions of continuations with items that a judge answered and people did not."""
    partly_rated = [data for data in loaded if data.has_unrated]
    if not partly_rated:
        return {}
    return conditions(scope.corpus, {record.continuation for data in partly_rated for record in data.records})


def _has_judge(loaded: Sequence[SubjectData], above: LevelInputs | None) -> bool:
    """Whether a judge answered a question, or in a study at levels one about the other kind of item."""
    every = [*loaded, *(above.across if above else ())]
    return any(info.kind == "judge" for data in every for info in data.raters)


def _schemes(definition: Definition, subjects: Sequence[Subject]) -> set[str] | None:
    """Return the schemes that a study names; None if it covers all answered questions."""
    return {subject.question.scheme for subject in subjects} if definition.questions else None


def _without_ids(table: dict[str, Any]) -> dict[str, Any]:
    """Drop database ids, so that the same labels give the same hash."""
    notes = [{name: value for name, value in note.items() if name != "dialogue"} for note in table["notes"]]
    return table | {"notes": notes}


def dev_keys(
    scope: Scope, loaded: Sequence[SubjectData], counted: Census, split: Split | None
) -> tuple[SubjectData, ...]:
    """Return the answers of the questions' keys in the dev part, from which baselines learn."""
    keys = {info.id for data in loaded for info in data.raters if info.kind == "key"}
    if not keys:
        return ()
    where = places(scope, {data.subject.question.item_kind for data in loaded}, clusters_of(split, "dev"))
    names = frozenset(counted.raters[key].name for key in keys)
    return tuple(load(scope, data.subject, counted, where, names) for data in loaded)


def _learning(
    scope: Scope,
    subjects: Sequence[Subject],
    loaded: Sequence[SubjectData],
    counted: Census,
    split: Split | None,
    only: frozenset[str],
) -> tuple[SubjectData, ...]:
    """Read the dev part of subjects with scores or judges: learning uses dev only."""
    scored = [
        subject
        for subject, data in zip(subjects, loaded, strict=True)
        if data.off_scale or any(info.kind == "judge" for info in data.raters)
    ]
    where = places(scope, {s.question.item_kind for s in scored}, clusters_of(split, "dev"))
    return tuple(load(scope, subject, counted, where, only) for subject in scored)


# Facts about the judges of a study that their labels do not hold.


@dataclass(frozen=True)
class JudgeFacts:
    """The family of a judge's model, the corpus's systems of that family, and its figures when reworded.

    `rewordings` are pairs of a question's title and the share of same answers, one per changed text.
    """

    family: str = ""
    systems: frozenset[str] = field(default_factory=frozenset)
    rewordings: tuple[tuple[str, Result], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return JSON data for the hash of a report's inputs."""
        figures = [[title, result.value, result.low, result.high] for title, result in self.rewordings]
        return {"family": self.family, "systems": sorted(self.systems), "rewordings": figures}


def judge_facts(corpus: Corpus, judges: Mapping[int, str]) -> dict[str, JudgeFacts]:
    """Return the facts known about judges by name; `judges` maps their ids to their names in the study.

    A judge without a known family and without a check is left out.
    """
    if not judges:
        return {}
    runs = Run.objects.filter(rater__in=list(judges), endpoint__family__gt="").order_by("pk")
    families = dict(runs.values_list("rater", "endpoint__family"))
    systems: dict[str, set[str]] = {}
    if families:
        for name, family in (
            System.objects.filter(corpus=corpus).exclude(family="").values_list("name", "family")
        ):
            systems.setdefault(family.casefold(), set()).add(name)
    rewordings = _rewordings(corpus, judges)
    facts = {
        judges[pk]: JudgeFacts(
            family := families.get(pk, ""),
            frozenset(systems.get(family.casefold(), ())),
            rewordings.get(pk, ()),
        )
        for pk in judges
    }
    return {name: fact for name, fact in facts.items() if fact != JudgeFacts()}


def _rewordings(corpus: Corpus, judges: Mapping[int, str]) -> dict[int, tuple[tuple[str, Result], ...]]:
    """Return the figures of the latest draft of each judge whose rewordings were tried."""
    from calibration.workbench.checks import finding  # the workbench itself reads studies

    drafts = (
        Draft.objects.filter(
            bench__corpus=corpus,
            kept_rater__in=list(judges),
            checks__check_key__startswith="rewordings:",
            checks__targets__gt=0,
            checks__discarded_at=None,
        )
        .select_related("bench", "rater", "kept_rater", "text", "endpoint")
        .distinct()
        .order_by("pk")
    )
    return {
        draft.kept_rater_id: tuple(
            (figure.question, figure.result)
            for figure in finding(draft, "rewordings").figures
            if figure.result.name == "percent_agreement"
        )
        for draft in drafts
        if draft.kept_rater_id is not None
    }
