"""Everything a report is computed from, read once and hashed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotation.corpora import splits
from annotation.models import Split
from calibration.errors import DefinitionError
from calibration.models import Study
from calibration.reading.answered import answered
from calibration.reading.census import census
from calibration.reading.definitions import Definition, parse
from calibration.reading.ratings import SubjectData, load, places
from calibration.reading.scope import Scope, scope_of
from calibration.reading.subjects import subjects_of
from calibration.reading.uncompared import uncompared
from jobs.models import Call
from judges.rating.doubts import doubtful_values

FORMAT = 3
"""Raised whenever reports compute or record something else, so that old snapshots are not reused."""


@dataclass(frozen=True)
class Inputs:
    """A study's inputs on one part of its split: what was read, and the SHA-256 of all of it.

    `stamp` is what the scope's labels looked like just before they were read. `answered` is what each rater
    answered, `uncompared` the questions among these that nothing is compared on, and why.
    """

    study: Study
    scope: Scope
    definition: Definition
    part: str
    split: Split | None
    subjects: tuple[SubjectData, ...]
    calls: tuple[dict[str, Any], ...]
    stamp: str
    answered: tuple[dict[str, Any], ...] = ()
    uncompared: tuple[dict[str, Any], ...] = ()

    @property
    def hash(self) -> str:
        """Return the SHA-256 of all that decides the report's numbers."""
        content = {
            "format": FORMAT,
            "definition": self.definition.as_dict(),
            "part": self.part,
            "split": self.split.name if self.split else None,
            "answers": [data.digest for data in self.subjects],
            "calls": list(self.calls),
            "answered": list(self.answered),
            "uncompared": list(self.uncompared),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def split_of(study: Study) -> Split | None:
    """Return the split a study reads by: the one it names, else its corpus's first; None where there is none.

    Raises DefinitionError where the study names a split that does not exist.
    """
    drawn = Split.objects.filter(corpus_id=study.corpus_id).select_related("corpus").order_by("pk")
    name = study.definition.get("split")
    if not name:
        return drawn.first()
    found = drawn.filter(name=name).first()
    if found is None:
        raise DefinitionError(f"the corpus has no split {name!r}")
    return found


def read(study: Study, part: str) -> Inputs:
    """Read a study's inputs. Raises DefinitionError where its definition no longer fits the labels."""
    scope = scope_of(study.corpus, study.campaign)
    definition = parse(study.definition)
    split = split_of(study)
    stamp = scope.stamp()
    counted = census(scope)
    subjects = subjects_of(definition, counted)
    clusters = clusters_of(split, part)
    where = places(scope, {s.question.item_kind for s in subjects}, clusters)
    only = frozenset(definition.raters)
    loaded = tuple(load(scope, subject, counted, where, only) for subject in subjects)
    judges = {info.id: info.name for data in loaded for info in data.raters if info.kind == "judge"}
    metrics = {info.id: info.name for data in loaded for info in data.raters if info.kind == "metric"}
    return Inputs(
        study,
        scope,
        definition,
        part,
        split,
        loaded,
        _calls(scope, judges) + doubtful(scope, metrics),
        stamp,
        tuple(answered(scope, counted, clusters, only)),
        tuple(uncompared(definition, counted, subjects)),
    )


def clusters_of(split: Split | None, part: str) -> frozenset[str] | None:
    """Return the clusters of a part of a split, None where all are read."""
    if split is None or part == "all":
        return None
    return splits.clusters(split=split, part=part)


def _calls(scope: Scope, judges: dict[int, str]) -> tuple[dict[str, Any], ...]:
    """Count the finished calls of judges on the corpus, and those that failed and so gave no label."""
    states = Call.objects.filter(run__corpus=scope.corpus, run__rater__in=judges).values_list(
        "run__rater", "state"
    )
    counted = Counter(states)
    rows = []
    for rater, name in sorted(judges.items()):
        failed = counted[rater, Call.State.FAILED]
        total = failed + counted[rater, Call.State.DONE]
        if total:
            rows.append({"rater": name, "calls": total, "failed": failed})
    return tuple(rows)


def doubtful(scope: Scope, metrics: dict[int, str]) -> tuple[dict[str, Any], ...]:
    """Count the continuations whose text a metric could hardly read; metrics that read all are left out."""
    rows = doubtful_values(scope.corpus, metrics)
    return tuple(
        {
            "rater": metrics[rater],
            "calls": row.calls,
            "failed": 0,
            "doubtful": row.flagged,
            "why": row.example,
        }
        for rater, row in sorted(rows.items())
    )
