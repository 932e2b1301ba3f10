"""Gold labels: one answer per item chosen from several raters, kept with how it was chosen."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from annotation.models import Campaign, Corpus, Item, SchemeVersion
from calibration.errors import GoldRuleError
from calibration.gold.rules import RULES, Rule
from calibration.models import Gold, GoldLabel
from calibration.reading.census import Census, QuestionInfo, census
from calibration.reading.ratings import SubjectData, load, places
from calibration.reading.scope import Scope, scope_of
from calibration.reading.subjects import Subject
from calibration.statistics import Ratings
from calibration.statistics.gold import Chosen
from config.models import Event
from config.planner import WORTH_TELLING, tell_planner

BATCH = 5_000
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Source:
    """What gold is chosen from: the questions of one scheme version, and the raters who answered."""

    scope: Scope
    scheme_version: SchemeVersion
    counted: Census
    raters: tuple[str, ...]
    subjects: tuple[SubjectData, ...]


@transaction.atomic
def make(
    *,
    corpus: Corpus,
    campaign: Campaign | None,
    scheme_version: SchemeVersion,
    rule: str,
    options: Mapping[str, Any] | None = None,
    raters: Sequence[str] = (),
    by: User | None,
    progress: Progress | None = None,
) -> Gold:
    """Choose gold labels for all items of a scheme's questions that have an answer.

    `raters` names whose answers count; by default all people. The same inputs and rule return the gold that
    was made of them before. `progress` is told (questions done, in all) and may raise to stop.
    Raises GoldRuleError, in one line, where nothing can be chosen.
    """
    chosen_rule = RULES.get(rule)
    if chosen_rule is None:
        raise GoldRuleError(f"there is no rule {rule!r}; there are {', '.join(RULES)}")
    checked = chosen_rule.checked(options or {})
    source = read(corpus, campaign, scheme_version, raters)
    fitting = [d for d in source.subjects if d.subject.question.level in chosen_rule.levels]
    if not fitting:
        raise GoldRuleError(
            f"{chosen_rule.title} needs {chosen_rule.needs}; these questions have none with answers"
        )
    left_out = [d.subject.question.key for d in source.subjects if d not in fitting]
    kept = checked | {"raters": list(source.raters), "left_out": left_out}
    inputs_hash = _hash(fitting, rule, kept)
    same = {
        "corpus": corpus,
        "campaign": campaign,
        "scheme_version": scheme_version,
        "inputs_hash": inputs_hash,
    }
    found = Gold.objects.filter(**same, rule=rule).first()
    if found:
        return found
    gold = Gold.objects.create(**same, rule=rule, options=kept, created_by=by)
    items = _item_ids(source.scope, scheme_version)
    for number, data in enumerate(fitting):
        if progress:
            progress(number, len(fitting))
        _keep(_labels(gold, data, chosen_rule, checked, items))
    count(gold)
    if progress:
        progress(len(fitting), len(fitting))
    about = campaign.name if campaign else corpus.name
    detail = {"rule": rule, "scheme": _ref(scheme_version)}
    Event.objects.create(by=by, verb="make gold", subject=f"gold {gold.pk} of {about}"[:300], detail=detail)
    return gold


def count(gold: Gold) -> None:
    """Write down how many labels a gold has and how many of them are without a value, once they are made."""
    rows = gold.labels.order_by().values_list("question")
    counted = rows.annotate(n=Count("pk"), without=Count("pk", filter=~Q(reason="")))
    gold.counts = {str(question): [n, without] for question, n, without in counted}
    gold.n = sum(n for n, _ in gold.counts.values())
    gold.without = sum(without for _, without in gold.counts.values())
    gold.save(update_fields=["counts", "n", "without"])


def _keep(labels: Iterator[GoldLabel]) -> None:
    """Write labels, a batch at a time: they are never all in memory."""
    made = 0
    while batch := list(islice(labels, BATCH)):
        made += len(GoldLabel.objects.bulk_create(batch))
    if made >= WORTH_TELLING:
        tell_planner("calibration_goldlabel")


def read(corpus: Corpus, campaign: Campaign | None, version: SchemeVersion, raters: Sequence[str]) -> Source:
    """Read the answers that gold is chosen from. Raises GoldRuleError for a rater who has none."""
    scope = scope_of(corpus, campaign)
    counted = census(scope)
    asked = [q for q in counted.questions.values() if q.scheme == _ref(version) and q.level != "text"]
    named = _raters(counted, asked, raters)
    where = places(scope, {version.item_kind})
    only = frozenset(named)
    subjects = tuple(load(scope, Subject(q), counted, where, only) for q in asked) if named else ()
    return Source(scope, version, counted, named, tuple(data for data in subjects if data.records))


def _ref(version: SchemeVersion) -> str:
    return f"{version.scheme.key}@{version.version}"


def _raters(counted: Census, asked: Sequence[QuestionInfo], named: Sequence[str]) -> tuple[str, ...]:
    present = {rater.name: rater for q in asked for rater in counted.raters_of(q.id)}
    if unknown := [name for name in named if name not in present]:
        known = ", ".join(sorted(present)) or "none"
        raise GoldRuleError(f"no rater {unknown[0]!r} answered these questions; there are {known}")
    return tuple(named) or tuple(name for name, rater in present.items() if rater.kind == "human")


def _hash(subjects: Sequence[SubjectData], rule: str, options: Mapping[str, Any]) -> str:
    content = {"rule": rule, "options": options, "answers": [data.digest for data in subjects]}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _item_ids(scope: Scope, version: SchemeVersion) -> dict[str, int]:
    return {place.key: pk for pk, place in places(scope, {version.item_kind}).items()}


def _labels(
    gold: Gold, data: SubjectData, rule: Rule, options: Mapping[str, Any], items: Mapping[str, int]
) -> Iterator[GoldLabel]:
    """Yield a label per item, with a value or with the reason why there is none."""
    ratings = data.ratings(rule.samples)
    chosen = rule.choose(ratings, options)
    votes = _votes(ratings)
    question = data.subject.question
    for row, key in enumerate(chosen.items):
        value, reason = _value(ratings, chosen, row, votes[row])
        yield GoldLabel(
            gold=gold,
            item_id=items[key],
            question_id=question.id,
            number=value if isinstance(value, float) else None,
            text=value if isinstance(value, str) else None,
            reason=reason,
            n_raters=int(chosen.n_ratings[row]),
            support=None if np.isnan(chosen.confidence[row]) else float(chosen.confidence[row]),
            votes=votes[row],
        )


def _votes(ratings: Ratings) -> list[dict[str, int]]:
    """Return, per item, how many raters gave each value, as it is written, in the scale's order."""
    out = []
    for row in ratings.values:
        counted = Counter(float(v) for v in row[~np.isnan(row)])
        out.append({ratings.label(value): counted[value] for value in sorted(counted)})
    return out


def _value(
    ratings: Ratings, chosen: Chosen, row: int, votes: Mapping[str, int]
) -> tuple[float | str | None, str]:
    value = float(chosen.values[row])
    if not np.isnan(value):
        return (ratings.label(value), "") if ratings.names else (value, "")
    if not chosen.n_ratings[row]:
        return None, "no rater gave an answer"
    most = max(votes.values())
    tied = [name for name, count in votes.items() if count == most]
    return None, f"tie: {' and '.join(tied)} with {most} of {sum(votes.values())} each"[:200]


def items_of(gold: Gold) -> int:
    """Return the number of items that a gold speaks about."""
    return Item.objects.filter(goldlabel__gold=gold).distinct().count()
