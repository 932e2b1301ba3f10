"""Selection of worked examples from people's answers: by hand or by rule, from dev or training only."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Q
from numpy.typing import NDArray

from annotation.corpora import exclusion, splits
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.corpora.splits import TRAINING
from annotation.errors import ExclusionRefused
from annotation.kinds import WITH_TURN
from annotation.models import Continuation, Dialogue, Label, Occasion, Question
from annotation.models.corpora import Corpus, Item, Split
from annotation.models.labels import Rater, live_labels
from annotation.text.references import item_key, parse_item_key
from annotation.text.views import RENDERING
from jobs.endpoints.parameters import MOST_WHOLE, Parameter
from judges.errors import JudgeError
from judges.metrics import DEFAULT_MODEL, Embedder
from judges.metrics.kit.metric import ModelMissing
from judges.metrics.kit.models import text_hash
from judges.protocols import Protocol, Verdict
from judges.protocols.cpdscore import ASPECTS, CpdscoreSimple
from judges.protocols.examples import MOST, about, dialogue_of, render_material
from judges.protocols.protocol import Asking, Case, Reading, Unwritable
from judges.protocols.rubric import base_of
from judges.protocols.wording import Wording
from judges.runs.material import DatabaseStore, case_of, load, machines, tools

# Replies written from people's answers, as the correct replies of worked examples.

EXPLAINED = "This is what people answered."
"""Explanation in the replies of examples; people's own remarks are not shown to models."""


class CannotBeWritten(ValueError):
    """The answers cannot be written as a reply; the message gives the reason."""


def write(protocol: Asking, reading: Reading, case: Case, variant: str) -> str:
    """Write a reading as a reply of a protocol; raise CannotBeWritten if impossible.

    For separate scores, those that people gave suffice: few people answer all the questions of a judge.
    """
    try:
        return protocol.write(reading, case, variant)
    except Unwritable as error:
        scores = {
            verdict.question: verdict.value for verdict in reading.verdicts if verdict.value is not None
        }
        if not isinstance(protocol, CpdscoreSimple) or not scores:
            raise CannotBeWritten(f"{error}") from None
        return "\n".join(f"{key} - {scores[key]:g}" for key in (*ASPECTS, "overall") if key in scores)


# Selection of worked examples from people's answers: by hand or by rule, from dev or training only.

# People's answers combined into one answer per item, the basis of the replies of worked examples.

Value = float | str
_NUMERIC = ("ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class Agreed:
    """Combined answer of several people. `spread` is their disagreement from 0 to 1: the mean distance over
    all pairs of answers, as a share of the scale's range (numbers) or 1 if they differ (others); None for
    fewer than two answers. `how` names the method of combination."""

    value: Value
    spread: float | None
    n: int
    how: str


def questions_of(protocol: Protocol) -> dict[int, tuple[str, Question]]:
    """Return, by id, the questions that a protocol answers, in any version, with the protocol's name of each.

    An expected score also answers the question that people were asked.
    """
    names = {(base_of(scheme.key), key): name for name, (scheme, key) in protocol.answers.items()}
    rows = Question.objects.select_related("version__scheme").filter(
        version__scheme__key__in={scheme for scheme, _ in names}
    )
    named_rows = ((row, names.get((row.version.scheme.key, row.key))) for row in rows)
    return {row.pk: (name, row) for row, name in named_rows if name is not None}


def agreed(
    protocol: Protocol,
    corpus: Corpus,
    clusters: frozenset[str] | None,
    keep: Iterable[int] | None = None,
    *,
    training: bool = False,
    excluded: Sequence[int] = (),
) -> dict[int, dict[str, Agreed]]:
    """Return people's combined answers by item and protocol question, in some clusters (None: all).

    Answers about training dialogues are left out, or with `training` the only ones included.

    An adjudicated answer counts alone; else binary, nominal and text questions get the majority (none in a
    tie) and others the mean, rounded to the nearest value of the scale (the lower of two equally near
    values). `keep` restricts the items; `excluded` are the ids of dialogues that are left out.
    """
    questions = questions_of(protocol)
    scope = Q(item__corpus=corpus, item__training=training, question__in=questions)
    if clusters is not None:
        scope &= splits.within(clusters, "item__")
    if keep is not None:
        scope &= Q(item__in=list(keep))
    if excluded:
        scope &= exclusion.without(excluded, "item__continuation__dialogue__")
    people = live_labels().filter(scope, rater__kind=Rater.Kind.HUMAN, missing="")
    judged = Label.objects.filter(
        scope, superseded_at__isnull=True, occasion=Occasion.ADJUDICATION, missing=""
    )
    fields = ("item_id", "question_id", "number", "text")
    human_answers: dict[tuple[int, str], list[tuple[Question, Value]]] = defaultdict(list)
    final: dict[tuple[int, str], Value] = {}
    for item, question, number, text in people.order_by("pk").values_list(*fields):
        name, row = questions[question]
        human_answers[item, name].append((row, text if number is None else number))
    for item, question, number, text in judged.order_by("pk").values_list(*fields):
        final[item, questions[question][0]] = text if number is None else number
    agreements: dict[int, dict[str, Agreed]] = defaultdict(dict)
    for (item, name), answers in human_answers.items():
        agreement = _combine_answers(answers[-1][0], [value for _, value in answers], final.get((item, name)))
        if agreement is not None:
            agreements[item][name] = agreement
    return dict(agreements)


def _combine_answers(question: Question, values: Sequence[Value], final: Value | None) -> Agreed | None:
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
    """Return the value of a question's scale that is nearest to a number; the lower in a tie."""
    scale = sorted(float(point) for point in question.values)
    return min(scale, key=lambda point: (abs(point - value), point)) if scale else value


def distance(question: Question, first: Value, second: Value) -> float:
    """Return the distance of two answers, from 0 to 1."""
    if question.level not in _NUMERIC or isinstance(first, str) or isinstance(second, str):
        return float(first != second)
    scale = [float(point) for point in question.values]
    width = max(scale) - min(scale) if len(scale) > 1 else 0.0
    return min(abs(first - second) / width, 1.0) if width else float(first != second)


def spread_of(question: Question, values: Sequence[Value]) -> float | None:
    """Return the mean distance of all pairs of answers; None for fewer than two."""
    pairs = [distance(question, *pair) for pair in combinations(values, 2)]
    return fmean(pairs) if pairs else None


def against(
    protocol: Protocol, rater: Rater, agreements: Mapping[int, Mapping[str, Agreed]]
) -> dict[int, dict[str, float]]:
    """Return, by item and question, the distance of a judge's answer (the mean or majority of its samples)
    from people's combined answer."""
    questions = questions_of(protocol)
    rows = live_labels().filter(rater=rater, question__in=questions, item__in=list(agreements), missing="")
    judge_answers: dict[tuple[int, str], list[tuple[Question, Value]]] = defaultdict(list)
    fields = ("item_id", "question_id", "number", "text")
    for item, question, number, text in rows.order_by("sample", "pk").values_list(*fields):
        name, row = questions[question]
        judge_answers[item, name].append((row, text if number is None else number))
    far: dict[int, dict[str, float]] = defaultdict(dict)
    for (item, name), answers in judge_answers.items():
        values = [value for _, value in answers]
        numbers = [value for value in values if not isinstance(value, str)]
        own: Value = Counter(values).most_common(1)[0][0]
        if answers[0][0].level in _NUMERIC and numbers:
            own = fmean(numbers)
        if name in agreements[item]:
            far[item][name] = distance(answers[0][0], own, agreements[item][name].value)
    return dict(far)


def targets(protocol: Protocol, items: Iterable[int]) -> dict[tuple[int, int | None], list[int]]:
    """Group items by the call that would judge them: (continuation, item or None) to ids of items."""
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "kind", "continuation_id").order_by("pk")
    items_by_target: dict[tuple[int, int | None], list[int]] = defaultdict(list)
    for pk, kind, continuation in rows:
        if protocol.covers == "continuation":
            items_by_target[continuation, None].append(pk)
        elif protocol.covers == kind:
            items_by_target[continuation, pk].append(pk)
    return dict(items_by_target)


# Examples nearest to a case, by embeddings of their texts.

Matrix = NDArray[np.float64]
RULE = "nearest"


def model() -> str:
    """Return the embedding model for finding a new version's nearest examples."""
    return settings.EMBEDDING_MODEL or DEFAULT_MODEL


def ranked(wording: Wording, case: Case) -> Wording:
    """Return a text with its examples ordered by nearness to a case, the nearest first.

    Nearness is the cosine between the mean unit vectors of the texts judged in each; equally near examples
    keep the version's order. A text whose examples were picked by another rule is returned as it is. Raises
    JudgeError if the embedding model is not on this machine.
    """
    if wording.picking.get("rule") != RULE or not wording.examples:
        return wording
    name = str(wording.picking.get("model", ""))
    pool = tuple(tuple(example.get("about", ())) for example in wording.examples)
    try:
        cosines = _vectors(name, pool) @ _vector(name, about(case))
    except ModelMissing as error:
        raise JudgeError(f"The nearest examples cannot be found: {error}.") from error
    order = np.argsort(-np.round(cosines, 6), kind="stable")
    return replace(wording, examples=tuple(wording.examples[index] for index in order))


def _texts(wording: Wording, case: Case) -> list[str]:
    """Return the texts whose embeddings determine the nearest examples to a case."""
    pool = [text for example in wording.examples for text in example.get("about") or [""]]
    return list(dict.fromkeys([*pool, *(about(case) or [""])]))


def is_known(wording: Wording, case: Case) -> bool:
    """Whether the nearest examples can be found without loading a model: every text is already embedded."""
    if wording.picking.get("rule") != RULE or not wording.examples:
        return True
    hashes = {text_hash(text) for text in _texts(wording, case)}
    return hashes == DatabaseStore().load(str(wording.picking.get("model", "")), list(hashes)).keys()


def embed(wording: Wording, case: Case) -> int:
    """Embed the texts needed to find the nearest examples; return their number. Raises JudgeError if the
    embedding model is not on this machine."""
    texts = _texts(wording, case)
    try:
        _embedder(str(wording.picking.get("model", ""))).prepare(texts)
    except ModelMissing as error:
        raise JudgeError(f"The nearest examples cannot be found: {error}.") from error
    return len(texts)


@lru_cache(maxsize=32)
def _vectors(name: str, pool: tuple[tuple[str, ...], ...]) -> Matrix:
    """Return one row per example of a version."""
    return np.stack([_vector(name, texts) for texts in pool])


def _vector(name: str, texts: Sequence[str]) -> Matrix:
    """Return the mean of the texts' unit vectors, scaled to length 1; zeros without texts."""
    rows = _embedder(name)(list(texts) or [""]).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    mean = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).mean(axis=0)
    length = float(np.linalg.norm(mean))
    unit_vector: Matrix = mean / length if texts and length else np.zeros_like(mean)
    return unit_vector


@cache
def _embedder(name: str) -> Embedder:
    return tools().embed if name == model() else Embedder(name, store=DatabaseStore())


# Exclusion of test items from worked examples, including those from files and those picked before a split.


def refuse_test_items(wording: Wording) -> None:
    """Raise JudgeError if an example belongs to the test part of its corpus in the corpus's present state.

    If an example's dialogue is stored here, its cluster is looked up, since files may claim anything.
    """
    by_corpus: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for example in wording.examples:
        by_corpus[example["corpus"]].append(example)
    for corpus in Corpus.objects.filter(name__in=list(by_corpus)):
        lock = splits.lock_of(corpus)
        if lock is None:
            continue
        examples = by_corpus[corpus.name]
        tested = splits.clusters(split=lock, part="test") & _clusters_of_held_out(corpus, examples).keys()
        if tested:
            key = _clusters_of_held_out(corpus, examples)[min(tested)]
            raise JudgeError(
                f"The worked example {key} is in the test part of {corpus.name}: examples come from dev "
                "alone. Pick them anew, or leave them out."
            )


def _clusters_of_held_out(corpus: Corpus, examples: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Map the clusters of examples, both as recorded and as stored now, to the key of an example."""
    keys = {example["key"]: dialogue_of(example) for example in examples}
    rows = Dialogue.objects.filter(corpus=corpus, key__in=list(keys.values()))
    clusters = dict(rows.values_list("key", "cluster"))
    keys_by_cluster = {example["cluster"]: example["key"] for example in examples}
    return keys_by_cluster | {
        clusters[dialogue]: key for key, dialogue in keys.items() if dialogue in clusters
    }


MOST_SHOWN = 20
USUAL = 4
"""Default number of examples in a call."""
COUNT = Parameter("n", "whole", "Examples in a call", "", 1, MOST_SHOWN)
SEED = Parameter("seed", "whole", "Seed", "The same seed draws the same examples.", 0, MOST_WHOLE)
POOL = 100
"""Number of examples among which the nearest are searched."""
_BATCH = 50


class BadKeys(JudgeError):
    """Items picked by hand cannot be examples."""


class BadExclusion(JudgeError):
    """An exclusion of dialogues cannot be read, or is by a question that nobody asks."""


class NoSplit(JudgeError):
    """The corpus has no split, and was not declared to be all for development."""


Target = tuple[int, int | None]
Agreements = Mapping[int, Mapping[str, Agreed]]


@dataclass(frozen=True, slots=True)
class Pick:
    """Criteria for picking examples: `n` are shown in a call. `keys` are items picked `by_hand`, in order;
    `judge` names the judge whose distance from people counts for `most_disagreed` ('': the distance of people
    from each other). `whole_corpus` explicitly allows a corpus without a split. `scheme` names the scheme to
    ask if the protocol takes any and the prompt is bound to none. Examples come from dev (of `split`, by
    default the corpus's), or from training if that is the `part`; `exclude` leaves out dialogues by people's
    answers, as of now."""

    corpus: Corpus
    rule: str
    n: int = USUAL
    keys: Sequence[str] = ()
    judge: str = ""
    seed: int = 0
    whole_corpus: bool = False
    scheme: str = ""
    part: str = ""
    split: Split | None = None
    exclude: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates for examples: targets with their keys and items, and people's combined answers."""

    protocol: Asking
    items: Mapping[Target, Sequence[int]]
    keys: Mapping[Target, str]
    agreements: Agreements


RULES: dict[str, str] = {
    "by_hand": "by hand, by their keys and in this order",
    "most_disagreed": "most disagreed: between people, or between a judge and the people",
    "balanced": "balanced by answer: each answer in turn, drawn by the seed",
    "nearest": f"nearest to the item at hand, at each call, of up to {POOL} drawn by the seed",
}

RULE_CHOICES = [(key, key) for key in RULES]
"""The rules as choices in the API's schema."""


def pick(protocol: Asking, variant: str, wording: Wording, criteria: Pick) -> Wording:
    """Return a text with newly picked examples. Raises JudgeError if there are none."""
    if criteria.rule not in RULES:
        raise JudgeError(f"There is no rule {criteria.rule!r}: there are {', '.join(RULES)}.")
    if not 1 <= criteria.n <= MOST_SHOWN:
        raise JudgeError(f"Show 1 to {MOST_SHOWN} examples in a call.")
    if protocol.needs:
        raise JudgeError(f"{protocol.key} reads other raters' answers: it takes no examples.")
    clusters = _clusters(criteria)
    candidates = _candidates(protocol, criteria, clusters)
    if criteria.rule == "by_hand":
        order = _by_hand(candidates, criteria, clusters)
    else:
        order = _ORDERS[criteria.rule](candidates, criteria)
    built = _built(candidates, variant, wording, criteria, order)
    if not built:
        raise JudgeError(
            f"No example can be made: people answered nothing that {protocol.key} asks about the "
            f"{_of(criteria, clusters)} of {criteria.corpus.name}."
        )
    picking = _described(criteria, clusters, min(criteria.n, len(built)))
    if criteria.rule == "by_hand":
        picking["n"] = len(built)
    return Wording(wording.system, wording.user, wording.form, tuple(built), picking)


def _clusters(criteria: Pick) -> frozenset[str] | None:
    """Return the clusters that examples may come from; None for all of the part."""
    if criteria.part not in ("", TRAINING):
        raise JudgeError(f"Examples come from dev or from {TRAINING}: there is no part {criteria.part!r}.")
    if criteria.part != TRAINING:
        return _dev_clusters(criteria)
    if criteria.whole_corpus:
        raise JudgeError("Examples come from training or from the whole corpus: choose one of the two.")
    if not criteria.corpus.has_training:
        raise JudgeError(f"No dialogue of {criteria.corpus.name} is in training.")
    return None


def _of(criteria: Pick, clusters: frozenset[str] | None) -> str:
    if criteria.part:
        return "training part"
    return "dev part" if clusters is not None else "items"


def _dev_clusters(criteria: Pick) -> frozenset[str] | None:
    """Return the clusters of dev; None for all of a corpus without a split, which the criteria must allow."""
    split = criteria.split or splits.lock_of(criteria.corpus)
    if split is not None:
        return splits.clusters(split=split, part="dev")
    if not criteria.whole_corpus:
        raise NoSplit(
            f"The corpus {criteria.corpus.name} has no split, so nothing keeps its examples out of a test: "
            "draw one on its page, or say on purpose that the whole corpus is for development."
        )
    return None


def _described(criteria: Pick, clusters: frozenset[str] | None, n: int) -> dict[str, Any]:
    """Describe the selection of the examples, for the stored text."""
    picking: dict[str, Any] = {
        "rule": criteria.rule,
        "n": n,
        "corpus": criteria.corpus.name,
        "rendering": RENDERING,
    }
    picking["part"] = criteria.part or ("dev" if clusters is not None else "whole corpus, no split")
    if criteria.rule != "by_hand":
        picking["seed"] = criteria.seed
    if criteria.rule == "most_disagreed":
        picking["between"] = criteria.judge or "people"
    if criteria.rule == RULE:
        picking["model"] = model()
    if excluded := _left_out(criteria):
        picking |= {"exclude": criteria.exclude, "left_out": excluded.digest()}
    return picking


def _left_out(criteria: Pick) -> LeftOutDialogues | None:
    """Return the dialogues that the criteria leave out as of now. Raises JudgeError for a wrong exclusion."""
    try:
        exclude = exclusion.check(criteria.corpus, criteria.exclude)
    except ExclusionRefused as error:
        raise BadExclusion(f"{error}.") from None
    return exclusion.left_out(criteria.corpus, exclude, training=criteria.part == TRAINING)


def _candidates(protocol: Asking, criteria: Pick, clusters: frozenset[str] | None) -> Candidates:
    excluded = _left_out(criteria)
    agreements = agreed(
        protocol,
        criteria.corpus,
        clusters,
        training=criteria.part == TRAINING,
        excluded=excluded.ids if excluded else (),
    )
    items = targets(protocol, agreements)
    return Candidates(protocol, items, _keys(items), agreements)


def _keys(items: Mapping[Target, Sequence[int]]) -> dict[Target, str]:
    parts = Continuation.objects.filter(pk__in={part for part, _ in items})
    names = {pk: (key, own) for pk, key, own in parts.values_list("pk", "dialogue__key", "key")}
    rows = Item.objects.filter(pk__in={item for _, item in items if item is not None})
    turns = dict(rows.values_list("pk", "turn__position"))
    return {
        target: item_key(*names[target[0]], turns[target[1]] if target[1] is not None else None)
        for target in items
    }


def _by_hand(candidates: Candidates, criteria: Pick, clusters: frozenset[str] | None) -> list[Target]:
    """Return the targets for keys, in order; raise JudgeError for a target that cannot be used."""
    targets_by_key = {key: target for target, key in candidates.keys.items()}
    if not criteria.keys:
        raise BadKeys("Name the items by their keys, one a line.")
    if len(criteria.keys) > MOST_SHOWN:
        raise BadKeys(f"Name at most {MOST_SHOWN} items.")
    for key in criteria.keys:
        if key not in targets_by_key:
            raise BadKeys(_refusal_reason(candidates.protocol, criteria, key, clusters))
    return [targets_by_key[key] for key in dict.fromkeys(criteria.keys)]


def _refusal_reason(protocol: Asking, criteria: Pick, key: str, clusters: frozenset[str] | None) -> str:
    corpus = criteria.corpus
    try:
        dialogue, continuation, turn = parse_item_key(key)
    except ValueError as error:
        return f"{error}."
    if (turn is None) != (protocol.covers not in WITH_TURN):
        kind = f"a {protocol.covers}" if protocol.covers in WITH_TURN else "a continuation as a whole"
        return f"{key!r} is not {kind}, which {protocol.key} judges."
    rows = Item.objects.filter(
        corpus=corpus, continuation__dialogue__key=dialogue, continuation__key=continuation
    )
    item = (rows.filter(turn__isnull=True) if turn is None else rows.filter(turn__position=turn)).first()
    if item is None:
        return f"There is no item {key!r} in {corpus.name}."
    if item.training and not criteria.part:
        return f"{key!r} is in training: name that part, and all examples come from it."
    if criteria.part and not item.training:
        return f"{key!r} is not in training, the part that is named."
    if (excluded := _left_out(criteria)) and item.continuation.dialogue_id in excluded.ids:
        return f"{key!r} is left out by {criteria.exclude}."
    if clusters is not None and splits.of_item(item) not in clusters:
        return f"{key!r} is in the test part: examples come from dev alone."
    return f"{key!r} cannot be an example: people gave no answer to what {protocol.key} asks."


def _draw(seed: int, key: str) -> str:
    return hashlib.sha256(f"{seed}\0{key}".encode()).hexdigest()


def _random_order(candidates: Candidates, criteria: Pick) -> list[Target]:
    return sorted(candidates.items, key=lambda target: _draw(criteria.seed, candidates.keys[target]))


def _most_disagreed(candidates: Candidates, criteria: Pick) -> list[Target]:
    """Sort the targets by their mean disagreement over items and questions, the greatest first."""
    if criteria.judge:
        far = against(candidates.protocol, _judge(criteria.judge), candidates.agreements)
        of = {item: list(by.values()) for item, by in far.items()}
    else:
        of = {
            item: [agreement.spread for agreement in by.values() if agreement.spread is not None]
            for item, by in candidates.agreements.items()
        }
    scores = {}
    for target, items in candidates.items.items():
        if values := [value for item in items for value in of.get(item, ())]:
            scores[target] = fmean(values)
    if not scores:
        between = f"by {criteria.judge} and people" if criteria.judge else "by two people"
        raise JudgeError(f"No item of dev has answers {between}: nothing to disagree about.")
    return sorted(
        scores, key=lambda target: (-round(scores[target], 9), _draw(criteria.seed, candidates.keys[target]))
    )


def _judge(name: str) -> Rater:
    raters = [rater for rater in machines() if name in (rater.name, rater.fingerprint)]
    if not raters:
        raise JudgeError(f"There is no judge {name!r} with answers here.")
    return raters[0]


def _balanced(candidates: Candidates, criteria: Pick) -> list[Target]:
    """Order the targets so that answers alternate: for a turn, the answer to its first answered question; for
    a continuation, the questions with a positive answer anywhere in it."""
    classes: dict[tuple[str, ...], list[Target]] = defaultdict(list)
    for target in _random_order(candidates, criteria):
        classes[_class(candidates, target)].append(target)
    queues = [classes[name] for name in sorted(classes)]
    longest = max(map(len, queues), default=0)
    return [queue[round_] for round_ in range(longest) for queue in queues if round_ < len(queue)]


def _class(candidates: Candidates, target: Target) -> tuple[str, ...]:
    agreements = [candidates.agreements[item] for item in candidates.items[target]]
    if target[1] is None and candidates.protocol.covers == "continuation":
        return tuple(
            sorted({name for by in agreements for name, agreement in by.items() if agreement.value == 1.0})
        )
    first = next(name for name in candidates.protocol.answers if name in agreements[0])
    return (first, f"{agreements[0][first].value}")


_ORDERS: dict[str, Callable[[Candidates, Pick], list[Target]]] = {
    "most_disagreed": _most_disagreed,
    "balanced": _balanced,
    "nearest": _random_order,
}


def _built(
    candidates: Candidates, variant: str, wording: Wording, criteria: Pick, order: Sequence[Target]
) -> list[dict[str, Any]]:
    """Build as many examples as needed, in order. Skip targets that cannot be judged, but refuse those picked
    by hand."""
    built: list[dict[str, Any]] = []
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        material = load({part for part, _ in batch})
        for target in batch:
            source = material[target[0]]
            if not _is_needed(built, source.dialogue.cluster or source.dialogue.id, criteria):
                continue
            try:
                built.append(_example(candidates, variant, wording, target, source, criteria))
            except CannotBeWritten as error:
                if criteria.rule == "by_hand":
                    raise BadKeys(f"{candidates.keys[target]}: {error}.") from error
    return built


def _is_needed(built: Sequence[Mapping[str, Any]], cluster: str, criteria: Pick) -> bool:
    """Whether another example from a cluster is useful: until there are enough, and then as a reserve, so
    that a call about any cluster's items still finds enough from other clusters."""
    if criteria.rule == "by_hand" or len(built) < (POOL if criteria.rule == RULE else criteria.n):
        return True
    if len(built) >= MOST:
        return False
    own = Counter(example["cluster"] for example in built)
    return any(len(built) - many < criteria.n for name, many in own.items() if name != cluster)


def _example(
    candidates: Candidates, variant: str, wording: Wording, target: Target, material: Any, criteria: Pick
) -> dict[str, Any]:
    protocol = candidates.protocol
    case = case_of(material, target[1], {})
    if refusal := protocol.unavailable_reason(case, variant):
        raise CannotBeWritten(refusal)
    replies, trouble = _replies(candidates, variant, target, material, case)
    if not replies:
        raise trouble
    hows = sorted(
        {
            agreement.how
            for item in candidates.items[target]
            for agreement in candidates.agreements[item].values()
        }
    )
    example = {
        "key": candidates.keys[target],
        "corpus": criteria.corpus.name,
        "cluster": case.dialogue.cluster or case.dialogue.id,
        "shown": render_material(protocol, replace(case, part=next(iter(replies))), variant, wording),
        "reply": next(iter(replies.values())),
        "about": about(case),
        "how": f"{criteria.rule.replace('_', ' ')}; {', '.join(hows)}",
    }
    return example | ({"replies": replies} if len(protocol.parts(variant)) > 1 else {})


def _replies(
    candidates: Candidates, variant: str, target: Target, material: Any, case: Case
) -> tuple[dict[str, str], CannotBeWritten]:
    """Return the replies for the parts that people answered, and the reason for the last part without a
    reply."""
    replies, trouble = {}, CannotBeWritten("people gave no answer")
    for part in candidates.protocol.parts(variant):
        reading = _reading(candidates, target, material, replace(case, part=part))
        try:
            replies[part] = write(candidates.protocol, reading, replace(case, part=part), variant)
        except CannotBeWritten as error:
            trouble = error
    return replies, trouble


def _reading(candidates: Candidates, target: Target, material: Any, case: Case) -> Reading:
    """Return people's answers about a target in the form that a protocol reads from a reply."""
    places = {item: turn for turn, item in material.items.items()}
    question_names = candidates.protocol.asked_in(case.part)
    return Reading(
        tuple(
            Verdict(
                name,
                places[item],
                _as_seen(candidates.protocol, name, agreement, case),
                explanation=EXPLAINED,
            )
            for item in candidates.items[target]
            for name, agreement in candidates.agreements[item].items()
            if name in question_names
        )
    )


def _as_seen(protocol: Asking, name: str, agreement: Agreed, case: Case) -> float | str:
    """Return an answer; people's own words are cleaned and stripped of systems' names, as for judges."""
    scheme, key = protocol.answers[name]
    if isinstance(agreement.value, str) and not scheme.question(key).values:
        return case.view.about(agreement.value)
    return agreement.value
