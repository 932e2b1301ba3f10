"""What gold is chosen from: the answers of raters, what adjudicators decided, and which items are dev."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotation.corpora import splits
from annotation.models import Occasion, SchemeVersion, Split
from annotation.schemes.base import UNSCALED
from annotation.work.check_stages import LeftOut, left_out
from annotation.work.labels import name_of
from calibration.errors import GoldRuleError
from calibration.gold.rules import Answers, Rule, default_rule
from calibration.reading.census import Census, QuestionInfo, census
from calibration.reading.ratings import SubjectData, load, places
from calibration.reading.scope import Scope
from calibration.reading.subjects import Subject
from calibration.statistics import Record

DECIDED = "\0adjudication"
"""What follows a rater's name where it stands for what the rater decided as an adjudicator: in no name."""


@dataclass(frozen=True)
class Source:
    """What gold is chosen from: the answers to a scheme version's questions, and who gave them.

    `items` are the ids of their items by key; `split` is the corpus's lock and `dev` its dev clusters, None
    where there is no split; `adjudicators` decided, of a rule that reads adjudications: `decided` has their
    decisions by (item id, question id). `without` are those whose labels researchers, or a campaign's rule,
    have left out.
    """

    raters: tuple[str, ...]
    adjudicators: tuple[str, ...]
    subjects: tuple[SubjectData, ...]
    items: Mapping[str, int]
    split: Split | None
    dev: frozenset[str] | None
    without: tuple[LeftOut, ...] = ()
    decided: Mapping[tuple[int, int], list[dict[str, Any]]] = field(default_factory=dict)

    def answers(self, data: SubjectData, rule: Rule, options: Mapping[str, Any]) -> Answers:
        """Return the answers to a question as a rule takes them."""
        ratings = data.ratings(rule.samples_of(options))
        dev = None
        if self.dev is not None:
            clusters = {record.item: record.cluster for record in data.records}
            dev = np.array([clusters[item] in self.dev for item in ratings.items], dtype=np.bool_)
        if not rule.reads_adjudications:
            return Answers(ratings, dev)
        decided = [j for j, name in enumerate(ratings.raters) if name.endswith(DECIDED)]
        others = [j for j in range(len(ratings.raters)) if j not in decided]
        empty = (r.item for r in data.records if r.value is None and r.rater.endswith(DECIDED))
        return Answers(ratings.take(others), dev, ratings.take(decided), frozenset(empty))


def read(scope: Scope, version: SchemeVersion, raters: Sequence[str], rule: Rule) -> Source:
    """Read the answers that gold is chosen from. Raises GoldRuleError for a rater who has none.

    Where no `raters` are named, who was left out of gold (`annotation.checks`) is; who is named counts.
    """
    corpus = scope.corpus
    without = () if raters else left_out(corpus, scope.campaign)
    scope = replace(scope, without=without)
    if rule.reads_adjudications:  # a campaign of adjudication reads its own labels otherwise, too
        others = tuple(name for name in scope.occasions if name != Occasion.ADJUDICATION)
        scope = replace(scope, occasions=others)
    counted = census(scope)
    asked = _asked(counted, reference(version))
    named = _raters(counted, asked, raters)
    where = places(scope, _kinds(asked, version))
    only = frozenset(named)
    found = {q.id: load(scope, Subject(q), counted, where, only) for q in asked} if named else {}
    items = {place.key: pk for pk, place in where.items()}
    adjudicators: tuple[str, ...] = ()
    told: dict[tuple[int, int], list[dict[str, Any]]] = {}
    if rule.reads_adjudications:
        of_decisions = replace(scope, occasions=(Occasion.ADJUDICATION,), without=())
        decisions, decided_on = _decisions(of_decisions, version)
        told = _told(of_decisions, version) if decisions else {}
        items |= decided_on
        adjudicators = tuple(sorted({info.name for data in decisions.values() for info in data.raters}))
        for question, data in decisions.items():
            found[question] = _joined(found.get(question), data)
    split = None if scope.training else splits.lock_of(corpus)
    return Source(
        raters=named,
        adjudicators=adjudicators,
        subjects=tuple(data for data in found.values() if data.records),
        items=items,
        split=split,
        dev=splits.clusters(split=split, part="dev") if split else None,
        without=without,
        decided=told,
    )


def reference(version: SchemeVersion) -> str:
    """Return how a scheme version is named: key@version."""
    return f"{version.scheme.key}@{version.version}"


def default_rule_of(counted: Census, scheme: str) -> str:
    """Return the rule for a scheme (key@version) where nobody named one: it follows the questions' scales."""
    return default_rule(question.level for question in _asked(counted, scheme))


def _asked(counted: Census, scheme: str) -> list[QuestionInfo]:
    return [q for q in counted.questions.values() if q.scheme == scheme and q.level not in UNSCALED]


def _kinds(asked: Sequence[QuestionInfo], version: SchemeVersion) -> set[str]:
    """Return the kinds of items that questions are about."""
    return {question.item_kind for question in asked} or {version.item_kind}


def _decisions(scope: Scope, version: SchemeVersion) -> tuple[dict[int, SubjectData], dict[str, int]]:
    """Return what adjudicators decided, by question, and the ids of the items by key."""
    counted = census(scope)
    asked = _asked(counted, reference(version))
    where = places(scope, _kinds(asked, version))
    found = {q.id: load(scope, Subject(q), counted, where) for q in asked}
    return found, {place.key: pk for pk, place in where.items()}


def _told(scope: Scope, version: SchemeVersion) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Return the decisions as a gold label keeps them: which label, whose, what, and the reason."""
    rows = scope.labels().filter(question__version=version).select_related("rater").order_by("pk")
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for label in rows:
        told = {
            "label": label.pk,
            "by": name_of(label.rater, scope.corpus.pk),
            "value": label.value,
            "missing": label.missing,
        }
        found.setdefault((label.item_id, label.question_id), []).append(told | {"reason": label.explanation})
    return found


def _joined(answers: SubjectData | None, decisions: SubjectData) -> SubjectData:
    """Return raters' answers with decisions among them, under names of their own."""
    decided = tuple(_as_decision(record) for record in decisions.records)
    if answers is None:
        return replace(decisions, records=decided, raters=())
    both = f"{answers.digest} {decisions.digest}"
    digest = hashlib.sha256(both.encode()).hexdigest()
    return replace(answers, records=(*answers.records, *decided), digest=digest)


def _as_decision(record: Record) -> Record:
    return replace(record, rater=f"{record.rater}{DECIDED}")


def _raters(counted: Census, asked: Sequence[QuestionInfo], named: Sequence[str]) -> tuple[str, ...]:
    present = {rater.name: rater for q in asked for rater in counted.raters_of(q.id)}
    if unknown := [name for name in named if name not in present]:
        known = ", ".join(sorted(present)) or "none"
        raise GoldRuleError(f"no rater {unknown[0]!r} answered these questions; there are {known}")
    return tuple(named) or tuple(name for name, rater in present.items() if rater.kind == "human")
