"""What people answered about items, as one answer each: what the replies of worked examples are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from django.db.models import Q

from annotation.corpora import splits
from annotation.models import Corpus, Item, Label, Occasion, Question, Rater
from annotation.models.labels import live_labels
from judges.protocols import Protocol
from judges.protocols.rubric import base_of

Value = float | str
_NUMERIC = ("ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class Agreed:
    """One answer made of people's. `spread` is how much they disagree, from 0 to 1: the mean over all pairs
    of them of the distance between two answers, as a share of the scale's range (numbers) or 1 where they
    differ (others); None for fewer than two of them. `how` says how it was made."""

    value: Value
    spread: float | None
    n: int
    how: str


def questions_of(protocol: Protocol) -> dict[int, tuple[str, Question]]:
    """Return, by id, the questions that a protocol answers in any version, each with the protocol's name.

    An expected score answers what people were asked, too.
    """
    wanted = {(base_of(scheme.key), key): name for name, (scheme, key) in protocol.answers.items()}
    rows = Question.objects.select_related("version__scheme").filter(
        version__scheme__key__in={scheme for scheme, _ in wanted}
    )
    named = ((row, wanted.get((row.version.scheme.key, row.key))) for row in rows)
    return {row.pk: (name, row) for row, name in named if name is not None}


def agreed(
    protocol: Protocol,
    corpus: Corpus,
    clusters: frozenset[str] | None,
    keep: Iterable[int] | None = None,
    *,
    training: bool = False,
) -> dict[int, dict[str, Agreed]]:
    """Return, by item and the protocol's question, what people answered in some clusters (None: all).

    What they answered about training dialogues is left out, or of `training` taken alone.

    An adjudicated answer counts alone; else binary, nominal and text questions get the majority (none where
    two are equally frequent) and others the mean, rounded to the nearest value of the scale (of two equally
    near ones the lower). `keep` narrows it to some items.
    """
    questions = questions_of(protocol)
    scope = Q(item__corpus=corpus, item__training=training, question__in=questions)
    if clusters is not None:
        scope &= splits.within(clusters, "item__")
    if keep is not None:
        scope &= Q(item__in=list(keep))
    people = live_labels().filter(scope, rater__kind=Rater.Kind.HUMAN, missing="")
    judged = Label.objects.filter(
        scope, superseded_at__isnull=True, occasion=Occasion.ADJUDICATION, missing=""
    )
    fields = ("item_id", "question_id", "number", "text")
    given: dict[tuple[int, str], list[tuple[Question, Value]]] = defaultdict(list)
    final: dict[tuple[int, str], Value] = {}
    for item, question, number, text in people.order_by("pk").values_list(*fields):
        name, row = questions[question]
        given[item, name].append((row, text if number is None else number))
    for item, question, number, text in judged.order_by("pk").values_list(*fields):
        final[item, questions[question][0]] = text if number is None else number
    found: dict[int, dict[str, Agreed]] = defaultdict(dict)
    for (item, name), answers in given.items():
        one = _one(answers[-1][0], [value for _, value in answers], final.get((item, name)))
        if one is not None:
            found[item][name] = one
    return dict(found)


def _one(question: Question, values: Sequence[Value], final: Value | None) -> Agreed | None:
    spread = spread_of(question, values)
    if final is not None:
        return Agreed(final, spread, len(values), "adjudicated")
    if question.level in _NUMERIC:
        numbers = [value for value in values if not isinstance(value, str)]
        if not numbers:
            return None
        return Agreed(nearest(question, fmean(numbers)), spread, len(numbers), f"mean of {len(numbers)}")
    most = Counter(values).most_common(2)
    if len(most) == 2 and most[0][1] == most[1][1]:
        return None
    return Agreed(most[0][0], spread, len(values), f"majority of {len(values)}")


def nearest(question: Question, value: float) -> float:
    """Return the value of a question's scale that is nearest to a number; of two, the lower."""
    scale = sorted(float(one) for one in question.values)
    return min(scale, key=lambda one: (abs(one - value), one)) if scale else value


def distance(question: Question, first: Value, second: Value) -> float:
    """Return how far two answers are apart, from 0 to 1."""
    if question.level not in _NUMERIC or isinstance(first, str) or isinstance(second, str):
        return float(first != second)
    scale = [float(one) for one in question.values]
    width = max(scale) - min(scale) if len(scale) > 1 else 0.0
    return min(abs(first - second) / width, 1.0) if width else float(first != second)


def spread_of(question: Question, values: Sequence[Value]) -> float | None:
    """Return the mean distance of all pairs of answers; None for fewer than two."""
    pairs = [distance(question, *pair) for pair in combinations(values, 2)]
    return fmean(pairs) if pairs else None


def against(
    protocol: Protocol, rater: Rater, said: Mapping[int, Mapping[str, Agreed]]
) -> dict[int, dict[str, float]]:
    """Return, by item and question, how far a judge's answer (the mean or majority of its samples) is from
    what people say."""
    questions = questions_of(protocol)
    rows = live_labels().filter(rater=rater, question__in=questions, item__in=list(said), missing="")
    given: dict[tuple[int, str], list[tuple[Question, Value]]] = defaultdict(list)
    fields = ("item_id", "question_id", "number", "text")
    for item, question, number, text in rows.order_by("sample", "pk").values_list(*fields):
        name, row = questions[question]
        given[item, name].append((row, text if number is None else number))
    far: dict[int, dict[str, float]] = defaultdict(dict)
    for (item, name), answers in given.items():
        values = [value for _, value in answers]
        numbers = [value for value in values if not isinstance(value, str)]
        own: Value = Counter(values).most_common(1)[0][0]
        if answers[0][0].level in _NUMERIC and numbers:
            own = fmean(numbers)
        if name in said[item]:
            far[item][name] = distance(answers[0][0], own, said[item][name].value)
    return dict(far)


def targets(protocol: Protocol, items: Iterable[int]) -> dict[tuple[int, int | None], list[int]]:
    """Return what calls about items would be about: (continuation, item or None) to the items of it."""
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "kind", "continuation_id").order_by("pk")
    found: dict[tuple[int, int | None], list[int]] = defaultdict(list)
    for pk, kind, continuation in rows:
        if protocol.covers == "continuation":
            found[continuation, None].append(pk)
        elif protocol.covers == kind:
            found[continuation, pk].append(pk)
    return dict(found)
