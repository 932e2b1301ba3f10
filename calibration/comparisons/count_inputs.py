"""Inputs of a table of counts: its query, the questions that can be counted, continuations and answers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from django.contrib.postgres.aggregates import BitOr
from django.db import connection
from django.db.models import BigIntegerField, Case, Q, QuerySet, Value, When

from annotation.corpora.splits import of_dialogues
from annotation.models import Campaign, Continuation, Item, Label, Question, Task
from annotation.models.corpora import Corpus
from annotation.records import HUMAN, SELF
from calibration.errors import CountsRefused
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, Scope
from calibration.reports.kinds import CorpusQuery, Parameters
from calibration.reports.wording import crowd_of, join_names
from calibration.statistics.core.ratings import Floats, Ints
from calibration.statistics.judge_errors import CORRECTIONS, Correction
from jobs.fake_models import has_fake
from jobs.models import Call, Run
from jobs.models.run import MOST_SAMPLES
from judges.metrics import METRICS

# Query of a table of counts, in the same words for page, command and API.

SamplesOf = Literal["", "first", "mean"]
SAMPLES: tuple[str, ...] = get_args(SamplesOf)
SYSTEM = "system"
"""Key that stands for the system instead of a condition: one row per system."""
PEOPLE = "people"
"""Rater name that stands for all people together."""
MOST_TURNS = 10_000


@dataclass(frozen=True)
class CountsQuery(CorpusQuery):
    """Query of the marks and scores to count, and of the keys to group them by.

    ``rater`` is a name, or `people`; empty means the rater with most labels. ``questions`` name questions or
    schemes; none means the scheme that the rater answered most. ``by`` are condition keys, or `system`;
    ``strata`` is a key of the dialogues' metadata.
    """

    rater: str = ""
    questions: tuple[str, ...] = ()
    by: tuple[str, ...] = (SYSTEM,)
    strata: str = ""
    per_turns: int | None = None
    samples: SamplesOf = ""
    correction: Correction = "auto"


def read(params: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> CountsQuery:
    """Parse a query from the plain texts of an address, a form or a command.

    Lists are separated by commas. Raises CountsRefused with a one-line message.
    """
    texts = Parameters.of(params, CountsRefused)
    correction, samples = texts.text("correction", "auto"), texts.text("samples")
    if correction not in CORRECTIONS:
        raise CountsRefused(f"no correction {correction!r}; there are {', '.join(CORRECTIONS)}")
    if samples not in SAMPLES:
        raise CountsRefused(f"samples are first or mean, not {samples!r}")
    return CountsQuery(
        corpus=corpus,
        campaign=campaign,
        part=texts.part,
        plan=texts.plan(),
        rater=texts.text("rater"),
        questions=texts.names("questions"),
        by=texts.names("by") or (SYSTEM,),
        strata=texts.text("strata"),
        per_turns=texts.integer("per_turns", MOST_TURNS, least=1),
        samples=samples,  # type: ignore[arg-type]
        correction=correction,
    )


# What can be counted in a scope (questions, raters, keys), and the part of it that a query names.

SCORED = frozenset({"binary", "ordinal", "interval", "ratio"})
HUMAN_RATERS, JUDGE, METRIC = "human", "judge", "metric"
KEYS = """
SELECT DISTINCT jsonb_object_keys(condition) FROM annotation_continuation c
  JOIN annotation_dialogue d ON d.id = c.dialogue_id WHERE d.corpus_id = %s ORDER BY 1
"""
METADATA = """
SELECT DISTINCT pair.key FROM annotation_dialogue d, jsonb_each(d.metadata) pair
 WHERE d.corpus_id = %s AND jsonb_typeof(pair.value) IN ('string', 'number', 'boolean') ORDER BY 1
"""
MOST_QUESTIONS = 60


@dataclass(frozen=True)
class Selection:
    """Raters whose labels are counted (one rater, or people together), and the questions.

    ``people`` are those whose ratings may correct a judge; ``left_out`` are questions of the scheme that the
    rater never answered with a value.
    """

    raters: tuple[RaterInfo, ...]
    together: bool
    questions: tuple[QuestionInfo, ...]
    people: tuple[RaterInfo, ...]
    left_out: tuple[QuestionInfo, ...] = ()

    @property
    def refs(self) -> list[str]:
        """References of the questions."""
        return [question.ref for question in self.questions]

    @property
    def name(self) -> str:
        """Name of the rater; for people together, the word for them."""
        if not self.together:
            return self.raters[0].name
        return crowd_of(self.raters).many

    @property
    def title(self) -> str:
        """Name of the rater on pages; for people together, the word for them."""
        return self.name if self.together else self.raters[0].title

    @property
    def kind(self) -> str:
        """Kind of the rater."""
        return self.raters[0].kind

    @property
    def simulated(self) -> bool:
        """Whether any rater is a program that answered in a person's place."""
        return any(rater.simulated for rater in self.raters)

    @property
    def is_turns(self) -> bool:
        """Whether marks on turns are counted, instead of answers about whole continuations."""
        return self.questions[0].item_kind == "turn"


def countable(question: QuestionInfo) -> bool:
    """Whether a question can be counted: a mark on turns, or a number for a whole continuation."""
    if question.item_kind == "turn":
        return question.level == "binary"
    return question.item_kind == "dialogue" and question.level in SCORED


def sets(counted: Census) -> dict[str, str]:
    """Return the schemes whose answers can be counted, `key@version` to title."""
    questions = [question for question in counted.questions.values() if countable(question)]
    return {question.scheme: question.scheme_title for question in questions}


def raters(counted: Census) -> list[tuple[str, str]]:
    """List the selectable raters as (name, label), people together first."""
    countable_pairs = {pair for pair in counted.counts if countable(counted.questions[pair[0]])}
    answering = [
        info for pk, info in counted.raters.items() if any(rater == pk for _, rater in countable_pairs)
    ]
    humans = [info for info in answering if info.kind == HUMAN_RATERS]
    choices = []
    if humans:
        crowd = crowd_of(humans)
        choices.append((PEOPLE, f"{crowd.many} together".capitalize()))
    for info in answering:
        if _is_counted(info, counted) and info.identified and info.name != PEOPLE:
            choices.append(
                (info.name, replace(info, kind="simulated").choice if info.simulated else info.choice)
            )
    return choices


def _is_counted(info: RaterInfo, counted: Census) -> bool:
    """Whether a rater's answers can be counted; metrics must answer a scheme besides their own."""
    schemes = {metric.scheme.key for metric in METRICS.values() if metric.scheme}
    return info.kind != METRIC or any(
        rater == info.id and counted.questions[question].scheme.rpartition("@")[0] in schemes
        for question, rater in counted.counts
    )


def condition_keys(corpus: Corpus) -> list[str]:
    """Return the keys that rows can be grouped by: `system`, and every key of a continuation's condition."""
    return [SYSTEM, *(key for key in _texts(KEYS, corpus) if key != SYSTEM)]


def metadata_keys(corpus: Corpus) -> list[str]:
    """Return the keys of the dialogues' metadata with plain values, which can define strata."""
    return _texts(METADATA, corpus)


def _texts(sql: str, corpus: Corpus) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [corpus.pk])
        return [row[0] for row in cursor.fetchall()]


def choose(query: CountsQuery, counted: Census) -> Selection:
    """Resolve a query to its raters and questions; raise CountsRefused in one line for an unknown name."""
    valid_keys = condition_keys(query.corpus)
    if unknown := [key for key in query.by if key not in valid_keys]:
        raise CountsRefused(
            f"no continuation has the condition {unknown[0]!r}; there are {', '.join(valid_keys)}"
        )
    if query.strata and query.strata not in metadata_keys(query.corpus):
        keys = ", ".join(metadata_keys(query.corpus)) or "none"
        raise CountsRefused(f"no dialogue's metadata has {query.strata!r}; there are {keys}")
    name = query.rater or by_default(counted)
    candidates = _raters_named(name, counted)
    answered = [
        question
        for question in counted.questions.values()
        if countable(question) and _has_labels(counted, [question], candidates)
    ]
    if not answered:
        raise CountsRefused(f"{name} marked no turns and scored no continuation here")
    ids = {rater.id for rater in candidates}
    questions = _questions(query.questions, answered, ids, counted)
    silent = _never_answered(questions, ids, counted)
    left_out = () if query.questions or len(silent) == len(questions) else silent
    questions = [question for question in questions if question not in left_out]
    humans = [rater for rater in counted.raters.values() if rater.kind == HUMAN_RATERS]
    corrects = humans if candidates[0].kind == JUDGE else []
    return Selection(
        tuple(rater for rater in candidates if _has_labels(counted, questions, [rater])),
        name == PEOPLE and candidates[0].name != PEOPLE,
        tuple(questions),
        tuple(rater for rater in corrects if _has_labels(counted, questions, [rater])),
        left_out,
    )


def _has_labels(counted: Census, questions: Sequence[QuestionInfo], raters: Sequence[RaterInfo]) -> bool:
    return any((question.id, rater.id) in counted.counts for question in questions for rater in raters)


def _never_answered(
    questions: Sequence[QuestionInfo], ids: set[int], counted: Census
) -> tuple[QuestionInfo, ...]:
    """Return the questions whose answers are all missing, each with a reason."""

    def answers(question: QuestionInfo) -> int:
        pairs = [counted.counts.get((question.id, pk), (0, 0)) for pk in ids]
        return sum(n - missing for n, missing in pairs)

    return tuple(question for question in questions if not answers(question))


def by_default(counted: Census) -> str:
    """Return the default rater: the judge with most labels, else people, else any rater."""
    numbers: Counter[str] = Counter()
    for (question, rater), (n, _) in counted.counts.items():
        info = counted.raters[rater]
        if countable(counted.questions[question]) and info.kind == JUDGE:
            numbers[info.name] += n
    if numbers:
        return min(numbers, key=lambda name: (-numbers[name], name))
    offered = raters(counted)
    if not offered:
        raise CountsRefused("nobody has marked turns or scored continuations here")
    return offered[0][0]


def _raters_named(name: str, counted: Census) -> list[RaterInfo]:
    matching = [info for info in counted.raters.values() if info.name == name]
    if matching and not _is_counted(matching[0], counted):
        raise CountsRefused(f"{name} is a metric: the profile shows what metrics say of each system")
    if matching and not matching[0].identified:
        raise CountsRefused(
            f"{name} is an anonymous slot, not one person throughout: count {PEOPLE} together"
        )
    if not matching and name == PEOPLE:
        matching = [info for info in counted.raters.values() if info.kind == HUMAN_RATERS]
    if not matching:
        names = join_names([rater_name for rater_name, _ in raters(counted)], 20) or "none"
        raise CountsRefused(f"no rater {name!r} has counts or scores here; there are {names}")
    return matching


def _questions(
    names: Sequence[str], answered: Sequence[QuestionInfo], ids: set[int], counted: Census
) -> list[QuestionInfo]:
    """Return the questions to count: those named, or the scheme that the rater answered most."""
    if not names:
        numbers: Counter[str] = Counter()
        for question in answered:
            key = f"{question.scheme} {question.item_kind}"
            numbers[key] += sum(counted.counts.get((question.id, pk), (0, 0))[0] for pk in ids)
        most = min(numbers, key=lambda key: (-numbers[key], key))
        questions = [question for question in answered if f"{question.scheme} {question.item_kind}" == most]
    else:
        matches = [_match_questions(name, answered) for name in names]
        questions = list({question.id: question for several in matches for question in several}.values())
    if len({question.item_kind for question in questions}) > 1:
        raise CountsRefused(
            "marks on turns and scores of continuations are two tables: name one kind of question"
        )
    if len({question.key for question in questions}) < len(questions):
        twice = next(key for key, n in Counter(question.key for question in questions).items() if n > 1)
        refs = join_names([question.ref for question in questions if question.key == twice])
        raise CountsRefused(f"{twice} is asked by several schemes: name one of {refs}")
    if len(questions) > MOST_QUESTIONS:
        raise CountsRefused(
            f"{len(questions)} questions are too many for one table: name at most {MOST_QUESTIONS}"
        )
    return sorted(questions, key=lambda question: (question.scheme, question.position))


def _match_questions(name: str, answered: Sequence[QuestionInfo]) -> list[QuestionInfo]:
    """Return the questions that match a name: a reference, a scheme with or without version, or a key."""
    for names in (
        lambda question: {question.ref},
        lambda question: {question.scheme, question.scheme.rpartition("@")[0]},
        lambda question: {question.key},
    ):
        if matching := [question for question in answered if name in names(question)]:
            return matching
    valid_refs = join_names(list(dict.fromkeys(question.ref for question in answered)), 20)
    raise CountsRefused(f"the rater did not answer {name!r}; there are {valid_refs}")


def ungrouped_keys(questions: Iterable[QuestionInfo]) -> list[str]:
    """Return the keys of binary questions that are alone in their group, so not part of a set of behaviours.

    If no question of the scheme shares a group, all of them form one set.
    """
    binary_questions = list(questions)
    schemes = Question.objects.filter(pk__in=[question.id for question in binary_questions]).values("version")
    rows = Question.objects.filter(version__in=schemes, level=binary_questions[0].level).values_list(
        "version", "group", "pk"
    )
    sizes = Counter((version, group) for version, group, _ in rows if group)
    place = {pk: (version, group) for version, group, pk in rows}
    lonely = [question.key for question in binary_questions if sizes.get(place[question.id], 0) < 2]
    return lonely if len(lonely) < len(binary_questions) else []


# Continuations that are counted: their rows, dialogues, clusters, strata and numbers of turns.

CHUNK = 20_000
By = tuple[Any, ...]
"""A row's values of the selected keys; None where a continuation has none."""
PEOPLE_ROW: By = ()
"""Placeholder for people's row while continuations are read."""


@dataclass(frozen=True)
class Units:
    """Continuations in the order of their ids, with the rows that they belong to.

    ``rows`` gives each continuation's row and ``by`` the rows' values; people's row is ``human``, None
    without one. ``turn_items`` are the ids of turn items and ``turn_of`` their continuations, as positions in
    ``ids``. ``fakes`` are the codes of the rows with a continuation by a fake model.
    """

    ids: tuple[int, ...]
    dialogues: tuple[str, ...]
    clusters: tuple[str, ...]
    strata: tuple[str, ...]
    rows: Ints
    by: tuple[By, ...]
    human: int | None
    turn_items: Ints
    turn_of: Ints
    fakes: frozenset[int] = frozenset()

    @property
    def turns(self) -> Ints:
        """Number of ratable turns of each continuation."""
        return np.bincount(self.turn_of, minlength=len(self.ids))


@dataclass
class _Read:
    """Columns collected while continuations are read, in the order of their ids."""

    ids: list[int] = field(default_factory=list)
    dialogues: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)
    by: list[By] = field(default_factory=list)
    fakes: set[By] = field(default_factory=set)


def units(query: CountsQuery, ids: Collection[int], clusters: frozenset[str] | None) -> Units:
    """Return the units of the continuations ``ids``, restricted to ``clusters`` unless None.

    People's own turns count where their dialogue has no other continuation by people among ``ids``. A
    continuation without a ratable turn is left out.
    """
    items = Item.objects.filter(kind="turn", continuation__in=list(ids)).order_by("pk")
    turns = np.array(list(items.values_list("pk", "continuation_id")), dtype=np.int64).reshape(-1, 2)
    with_turns = set(turns[:, 1].tolist())
    read = _read(query, [pk for pk in ids if pk in with_turns], clusters)
    in_units = np.isin(turns[:, 1], read.ids)
    place = {pk: at for at, pk in enumerate(read.ids)}
    order = _in_order(read.by)
    codes = {by: code for code, by in enumerate(order)}
    return Units(
        tuple(read.ids),
        tuple(read.dialogues),
        tuple(read.clusters),
        tuple(read.strata),
        np.array([codes[by] for by in read.by], dtype=np.int64),
        tuple(by or _of_people(query) for by in order),
        codes.get(PEOPLE_ROW),
        turns[in_units, 0],
        np.array([place[pk] for pk in turns[in_units, 1].tolist()], dtype=np.int64),
        frozenset(codes[by] for by in read.fakes),
    )


def _read(query: CountsQuery, ids: Collection[int], clusters: frozenset[str] | None) -> _Read:
    rows = list(
        Continuation.objects.filter(pk__in=list(ids))
        .order_by("pk")
        .values_list(
            "pk",
            "key",
            "system__name",
            "condition",
            "dialogue__key",
            "dialogue__cluster",
            "dialogue__metadata",
        )
    )
    by_people = {row[4] for row in rows if row[2].casefold() == HUMAN and row[1] != SELF}
    read = _Read()
    for pk, key, system, condition, dialogue, cluster, metadata in rows:
        is_human = system.casefold() == HUMAN
        if (clusters is not None and cluster not in clusters) or (
            is_human and key == SELF and dialogue in by_people
        ):
            continue
        read.ids.append(pk)
        read.dialogues.append(dialogue)
        read.clusters.append(cluster)
        read.strata.append(_plain(metadata.get(query.strata, "")) if query.strata else "")
        read.by.append(PEOPLE_ROW if is_human else _condition(query.by, system, condition))
        if has_fake(condition):
            read.fakes.add(read.by[-1])
    return read


def _condition(keys: Iterable[str], system: str, condition: Mapping[str, Any]) -> By:
    return tuple(system if key == SYSTEM else _hashable(condition.get(key)) for key in keys)


def _hashable(value: Any) -> Any:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if isinstance(value, list | dict) else value


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _of_people(query: CountsQuery) -> By:
    """Return people's values of the keys; people have no condition."""
    return tuple(HUMAN if key == SYSTEM else None for key in query.by)


def _in_order(row_values: list[By]) -> list[By]:
    """Sort rows: people first, then each key's numbers ascending and texts by first appearance."""
    distinct = list(dict.fromkeys(row_values))
    people = [by for by in distinct if by == PEOPLE_ROW]
    others = [by for by in distinct if by != PEOPLE_ROW]
    width = max(map(len, others), default=0)
    appeared = [
        {value: n for n, value in enumerate(dict.fromkeys(by[at] for by in others))} for at in range(width)
    ]
    return people + sorted(
        others,
        key=lambda by: [
            (0, float(value), 0) if _is_number(value) else (1, 0.0, appeared[at][value])
            for at, value in enumerate(by)
        ],
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def failed_continuations(query: CountsQuery, raters: Collection[int], questions: Collection[int]) -> set[int]:
    """Return the continuations with a failed judge's call, in a run that asked these questions."""
    question_ids = set(questions)
    runs = [
        pk
        for pk, answers in Run.objects.filter(rater__in=raters, corpus=query.corpus).values_list(
            "pk", "questions"
        )
        if question_ids & set(answers.values())
    ]
    calls = Call.objects.filter(run__in=runs, state=Call.State.FAILED, sample__lt=MOST_SAMPLES)
    if query.campaign is not None:
        tasks = Task.objects.filter(campaign=query.campaign)
        calls = calls.filter(continuation__in=tasks.values("continuation"))
    continuations = Continuation.objects.filter(of_dialogues(query.scope.part, "dialogue__"))
    return set(continuations.filter(pk__in=calls.values("continuation")).values_list("pk", flat=True))


# Labels as voices: the answers of each person, or of each sample of a judge, on every turn or continuation.
#
# Marks on turns are read as one row per item, with the answers to all questions in the bits of two numbers: a
# corpus has hundreds of thousands of them.

Voice = tuple[int, int]
"""A rater's id and a sample number."""


@dataclass(frozen=True)
class Marks:
    """Answers about turns: per voice the items, with bit masks of the questions answered, and of yes."""

    voices: dict[Voice, list[tuple[int, int, int]]]
    continuations: frozenset[int]

    def of(self, units: Units, n: int) -> dict[Voice, Floats]:
        """Return each voice's marks, turns x questions: 1, 0, or NaN for no answer."""
        bits = np.int64(1) << np.arange(n, dtype=np.int64)
        order = np.argsort(units.turn_items)
        sorted_items = units.turn_items[order]
        marks_by_voice = {}
        for voice, rows in sorted(self.voices.items()):
            marks = np.full((len(sorted_items), n), np.nan)
            table = np.array(rows, dtype=np.int64).reshape(-1, 3)
            at = np.searchsorted(sorted_items, table[:, 0])
            is_unit = (
                (at < len(sorted_items))
                & (sorted_items[np.minimum(at, max(0, len(sorted_items) - 1))] == table[:, 0])
                if len(sorted_items)
                else at < 0
            )
            table, at = table[is_unit], order[at[is_unit]]
            answered = (table[:, 1, None] & bits) != 0
            marks[at] = np.where(answered, ((table[:, 2, None] & bits) != 0).astype(np.float64), np.nan)
            if answered.any():
                marks_by_voice[voice] = marks
        return marks_by_voice


def marks(
    scope: Scope,
    questions: Sequence[QuestionInfo],
    raters: Sequence[RaterInfo],
    within: frozenset[int] | None = None,
) -> Marks:
    """Read marks on turns in one query, restricted to the continuations in ``within`` unless None."""
    labels = _labels(scope, questions, raters, within)
    bit = Case(
        *(When(question=question.id, then=Value(1 << at)) for at, question in enumerate(questions)),
        output_field=BigIntegerField(),
    )
    is_positive = Q()
    for question in questions:
        positive = 1.0 if question.positive is None else question.positive
        is_positive |= Q(question=question.id, number=positive)
    rows = (
        labels.order_by()
        .values("item__continuation_id", "item_id", "rater_id", "sample")
        .annotate(
            answered=BitOr(bit, filter=Q(number__isnull=False), default=Value(0)),
            positive=BitOr(bit, filter=is_positive, default=Value(0)),
        )
        .values_list("item__continuation_id", "item_id", "rater_id", "sample", "answered", "positive")
    )
    voices: dict[Voice, list[tuple[int, int, int]]] = defaultdict(list)
    continuations = set()
    for continuation, item, rater, sample, answered, positive in rows.iterator(chunk_size=CHUNK):
        continuations.add(continuation)
        voices[rater, sample].append((item, answered, positive))
    return Marks(dict(voices), frozenset(continuations))


@dataclass(frozen=True)
class Scores:
    """Answers about continuations: one value per question, by voice and continuation."""

    voices: dict[Voice, dict[int, list[float]]]
    continuations: frozenset[int]

    def of(self, units: Units, n: int) -> dict[Voice, Floats]:
        """Return each voice's answers, continuations x questions, NaN where missing."""
        place = {pk: at for at, pk in enumerate(units.ids)}
        scores_by_voice = {}
        for voice, rows in sorted(self.voices.items()):
            values = np.full((len(place), n), np.nan)
            for continuation, answers in rows.items():
                if continuation in place:
                    values[place[continuation]] = answers
            if not np.isnan(values).all():
                scores_by_voice[voice] = values
        return scores_by_voice


def scores(
    scope: Scope,
    questions: Sequence[QuestionInfo],
    raters: Sequence[RaterInfo],
    within: frozenset[int] | None = None,
) -> Scores:
    """Read answers about continuations in one query."""
    labels = _labels(scope, questions, raters, within)
    places = {question.id: at for at, question in enumerate(questions)}
    voices: dict[Voice, dict[int, list[float]]] = defaultdict(dict)
    continuations = set()
    rows = labels.order_by("pk").values_list(
        "item__continuation_id", "question_id", "rater_id", "sample", "number"
    )
    for continuation, question, rater, sample, number in rows.iterator(chunk_size=CHUNK):
        continuations.add(continuation)
        answers = voices[rater, sample].setdefault(continuation, [float("nan")] * len(questions))
        if number is not None:
            answers[places[question]] = number
    return Scores(dict(voices), frozenset(continuations))


def _labels(
    scope: Scope,
    questions: Sequence[QuestionInfo],
    raters: Sequence[RaterInfo],
    within: frozenset[int] | None,
) -> QuerySet[Label]:
    """Return the labels to read: of an answer repeated elsewhere only the first, as in every report."""
    answers = {
        "question__in": [question.id for question in questions],
        "rater__in": [rater.id for rater in raters],
    }
    labels = scope.labels().filter(**answers)
    # A rater may have given the same answer in two places: campaigns, or a campaign and an import.
    places = list(scope.counts().filter(**answers).values_list("rater", "occasion", "campaign").distinct())
    if len({rater for rater, _, _ in places}) < len(places):
        place = ("item_id", "question_id", "rater_id", "sample")
        labels = labels.filter(pk__in=labels.order_by(*place, "pk").distinct(*place).values("pk"))
    return labels if within is None else labels.filter(item__continuation__in=list(within))


def rater_voices(voices: dict[Voice, Floats], samples: SamplesOf, first: bool) -> dict[int, list[Floats]]:
    """Return the voices of each rater to count: the first sample alone, or all samples.

    ``first`` is the default where ``samples`` does not decide. The first sample is the first one present for
    an answer, so that a later sample replaces a failed one.
    """
    by_rater: dict[int, list[Floats]] = defaultdict(list)
    for (rater, _), values in sorted(voices.items()):
        by_rater[rater].append(values)
    if samples == "mean" or (not samples and not first):
        return dict(by_rater)
    return {rater: [_first(several)] for rater, several in by_rater.items()}


def _first(several: Sequence[Floats]) -> Floats:
    merged = several[0].copy()
    for other in several[1:]:
        merged = np.where(np.isnan(merged), other, merged)
    return merged
