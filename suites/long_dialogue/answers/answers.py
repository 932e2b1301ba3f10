"""Answers of agents of long dialogues: rows from the database, single answers, and judges against people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.corpora import exclusion, splits
from annotation.corpora.splits import TRAINING
from annotation.kinds import ANSWER
from annotation.models import Dialogue, Occasion, QuestionSet, Turn, Use
from annotation.models.corpora import ITEM_CLUSTER, Continuation, Corpus, Item
from annotation.models.labels import Label, Rater
from annotation.script_records import LETTERS, date_record
from annotation.work.labels import name_of
from calibration.reports.kinds import part_of
from calibration.statistics import Plan, Record, Result, analyse, ratings_from_records
from suites.long_dialogue.answer_match import UNDECIDED
from suites.long_dialogue.answers.rows import (
    FORMAT,
    HALF,
    MEMORY,
    MODEL,
    NAMES,
    NOBODY,
    PEOPLE,
    RETRIEVED,
    RETRIEVER,
    AnswerRatings,
    AnswerRow,
    AnswersQuery,
    Place,
    row_of,
    varying,
)
from suites.long_dialogue.editing.question_records import find_question_set, spellings
from suites.long_dialogue.scripts.answers import ABSTAINED, LENIENT, RIGHT, STRICT, UNKNOWN_TEXT, Rule
from suites.reports import Cell, Line, ReportRefused, Table

# Rows from the database: the answers of a corpus's scripts, with their ratings.

# Question sets of the answers: the paper's table 2 for each script.

HEADS = (
    "Sessions",
    "With questions",
    "Quiz a session",
    "Facts a session",
    "Candidates a session",
    "Answerable",
    "Unanswerable",
)
NOTES = (
    "Candidates are the uses of questions that may be asked in a session, on average over the sessions that "
    "have any.",
)
QUIZ = Q(question__content__source="quiz")


def stored(corpus: Corpus, names: Sequence[str]) -> list[QuestionSet]:
    """Return question sets by the references in answers: NAME:VERSION, or NAME for the newest version."""
    sets_by_pk: dict[int, QuestionSet] = {}
    for name in names:
        if (question_set := find_question_set(corpus, name)) is not None:
            sets_by_pk[question_set.pk] = question_set
    return sorted(sets_by_pk.values(), key=lambda question_set: (question_set.name, -question_set.version))


def policies(corpus: Corpus, names: Sequence[str]) -> list[str]:
    """Return the policies of question sets, without duplicates, sorted."""
    policy_names = {
        str(question_set.options["policy"])
        for question_set in stored(corpus, names)
        if question_set.options.get("policy")
    }
    return sorted(policy_names)


def table2(corpus: Corpus, names: Sequence[str], excluded: Sequence[int] = ()) -> Table:
    """Return the statistics of question sets by script: sessions, and candidates per session.

    `excluded` are the ids of scripts that are left out.
    """
    lines = [line for question_set in stored(corpus, names) for line in _lines(question_set, excluded)]
    return Table("table2", "The questions of each script", HEADS, tuple(lines), NOTES)


def _lines(question_set: QuestionSet, excluded: Sequence[int]) -> list[Line]:
    rows = (
        Use.objects.filter(exclusion.without(excluded, "question__dialogue__"), set=question_set)
        .order_by("question__dialogue__key")
        .values("question__dialogue")
        .annotate(
            quiz=Count("pk", filter=QUIZ),
            facts=Count("pk", filter=~QUIZ),
            answerable=Count("pk", filter=Q(answerable=True)),
            sessions=Count("session", distinct=True),
            uses=Count("pk"),
        )
    )
    scripts = Dialogue.objects.in_bulk([row["question__dialogue"] for row in rows])
    return [_line(scripts[row["question__dialogue"]], question_set, row) for row in rows]


def _line(script: Dialogue, question_set: QuestionSet, row: Mapping[str, Any]) -> Line:
    n = row["sessions"]
    counted = (row["quiz"], row["facts"], row["uses"], row["answerable"], row["uses"] - row["answerable"])
    cells: tuple[Cell, ...] = (
        len((script.script or {}).get("sessions", ())),
        n,
        *(f"{count / n:,.1f}" for count in counted),
    )
    return Line(f"{script.key}, {question_set}", cells)


SCHEME = "long_dialogue_answers"
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)
RECORD = "answer"
"""Key of an answer's record in its turn's `extra`."""
CHUNK = 5_000


def answers(
    corpus: Corpus,
    clusters: Collection[str] | None = None,
    part: str = "",
    excluded: Sequence[int] = (),
) -> QuerySet[Item]:
    """Return the answers of a corpus's scripts in some clusters (None: all), without excluded scripts (ids).

    Answers in training are returned only for the training part, and then alone.
    """
    passed = exclusion.without(excluded, "continuation__dialogue__")
    items = Item.objects.filter(passed, corpus=corpus, training=part == TRAINING, kind=ANSWER.key)
    return items if clusters is None else items.filter(splits.within(list(clusters)))


def rows(
    corpus: Corpus,
    clusters: Collection[str] | None,
    judge: Rater | str | None,
    sets: Collection[str] = (),
    part: str = "",
    excluded: Sequence[int] = (),
) -> list[AnswerRow]:
    """Return the rows of a corpus's answers in some clusters (None: all), in order of script and walk.

    ``judge`` decides where no rule does: a rater, `people`, or None. ``sets`` restricts the rows to question
    sets by name, empty for all. ``excluded`` are the ids of scripts that are left out.
    """
    return rows_of(answers(corpus, clusters, part, excluded), judge, spelt(corpus, sets))


def spelt(corpus: Corpus, sets: Collection[str]) -> set[str]:
    """Return all spellings of question sets that answers may use."""
    return {spelling for name in sets for spelling in spellings(corpus, name)}


def rows_of(items: QuerySet[Item], judge: Rater | str | None, sets: Collection[str] = ()) -> list[AnswerRow]:
    """Return the rows of some answers; ``sets`` restricts them to these spellings of question sets."""
    values = items.order_by("continuation_id", "turn__position").values_list(
        "pk", "cluster", "continuation", "turn__extra", "turn__text"
    )
    answer_records = [
        (pk, cluster, continuation, record, reply)
        for pk, cluster, continuation, extra, reply in values.iterator(chunk_size=CHUNK)
        if (record := record_of(extra)) is not None and (not sets or record.get("set") in sets)
    ]
    places = _places({continuation for _, _, continuation, _, _ in answer_records})
    ratings = ratings_of([pk for pk, *_ in answer_records], judge)
    answer_rows = []
    for pk, cluster, continuation, record, reply in answer_records:
        place = Place(**places[continuation], cluster=cluster or "", item=pk)
        answer_rows.append(row_of(record, reply, place, ratings.get(pk, NOBODY)))
    return answer_rows


def record_of(extra: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return an answer's record from the JSON data of its turn, None without one."""
    record = ((extra or {}).get("extra") or {}).get(RECORD)
    return record if isinstance(record, Mapping) and "outcome" in record else None


def _places(continuations: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return the data shared by all answers of a continuation, by its id."""
    parts = Continuation.objects.filter(pk__in=continuations).select_related("system", "dialogue")
    sessions: dict[int, int] = {}
    places = {}
    for part in parts.defer("dialogue__metadata", "dialogue__participants"):
        script = part.dialogue
        if script.pk not in sessions:
            sessions[script.pk] = len((script.script or {}).get("sessions", ()))
        places[part.pk] = {
            "system": part.system.name,
            "script": script.key,
            "condition": {key: _word(value) for key, value in part.condition.items()},
            "trial": part.trial,
            "sessions": sessions[script.pk],
            "fake_model": part.fake_model,
        }
    return places


def _word(value: object) -> str:
    """Return a setting's value as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_word(item)}" for key, item in sorted(value.items()))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def ratings_of(items: Collection[int], judge: Rater | str | None) -> dict[int, AnswerRatings]:
    """Return the ratings of answers by the rules and a judge, by item; the majority of several samples."""
    by_rule: dict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    labels = _live(items).filter(rater__name__in=(STRICT, LENIENT), question__key__in=(RIGHT, ABSTAINED))
    labels = labels.order_by("pk")  # the newer of two versions of a rule wins
    for item, rater, question, number in labels.values_list(
        "item", "rater__name", "question__key", "number"
    ).iterator(chunk_size=CHUNK):
        if number is not None:
            by_rule[item][rater, question] = number
    judged = _judged(items, judge)
    return {
        item: AnswerRatings(
            strict=by_rule[item].get((STRICT, RIGHT)),
            lenient=by_rule[item].get((LENIENT, RIGHT)),
            abstained=by_rule[item].get((STRICT, ABSTAINED)),
            judge=judged.get(item, (None, False))[0],
            undecided=judged.get(item, (None, False))[1],
        )
        for item in {*by_rule, *judged}
    }


def _judged(items: Collection[int], judge: Rater | str | None) -> dict[int, tuple[float, bool]]:
    """Return the verdict of a judge, or of most people, by item, and whether it is undecided.

    Half of the votes is no majority.
    """
    if judge is None:
        return {}
    labels = _live(items).filter(question__key=RIGHT, number__isnull=False)
    labels = (
        labels.filter(rater=judge)
        if isinstance(judge, Rater)
        else labels.filter(rater__kind=Rater.Kind.HUMAN)
    )
    votes: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for item, number, why in labels.values_list("item", "number", "explanation").iterator(chunk_size=CHUNK):
        votes[item].append((float(number or 0), why.startswith(UNDECIDED)))
    return {
        item: (
            float(sum(right for right, _ in item_votes) > HALF * len(item_votes)),
            all(open_ for _, open_ in item_votes),
        )
        for item, item_votes in votes.items()
    }


def _live(items: Iterable[int]) -> QuerySet[Label]:
    return Label.objects.filter(
        item__in=list(items),
        superseded_at=None,
        occasion__in=OCCASIONS,
        question__version__scheme__key=SCHEME,
    )


def judges_of(corpus: Corpus) -> list[str]:
    """Return the names of the judges that rated these answers, and `people` if people did."""
    labels = Label.objects.filter(
        item__corpus=corpus,
        item__kind=ANSWER.key,
        superseded_at=None,
        question__key=RIGHT,
        question__version__scheme__key=SCHEME,
    )
    judges = labels.filter(rater__kind=Rater.Kind.JUDGE).values_list("rater__name", flat=True)
    people = labels.filter(rater__kind=Rater.Kind.HUMAN).exists()
    return sorted(set(judges)) + ([PEOPLE] if people else [])


def judge_named(corpus: Corpus, name: str) -> Rater | str | None:
    """Return the judge with a name, `people`, or None for ''; raise ReportRefused for an unknown name."""
    if not name or name == PEOPLE:
        return name or None
    rater = Rater.objects.filter(
        name=name,
        kind=Rater.Kind.JUDGE,
        labels__item__corpus=corpus,
        labels__item__kind=ANSWER.key,
        labels__question__key=RIGHT,
    ).first()
    if rater is None:
        judge_names = ", ".join(judges_of(corpus)) or "none yet"
        raise ReportRefused(
            f"no judge {name!r} has said which answers are right; those that have: {judge_names}"
        )
    return rater


def has_answers(corpus: Corpus) -> bool:
    """Whether a corpus has answers to questions about its scripts."""
    return answers(corpus).exists()


# The answers behind a report, filtered by system, outcome, class, source and evidence.

RIGHT_ANSWERS, WRONG, OPEN, FAILED = "right", "wrong", "open", "failed"
Test = Callable[[AnswerRow, Rule], bool]
NARROWED: dict[str, dict[str, Test]] = {
    "outcome": {
        RIGHT_ANSWERS: lambda row, rule: row.right(rule) is True,
        WRONG: lambda row, rule: row.right(rule) is False,
        OPEN: lambda row, rule: row.right(rule) is None and not row.is_failed,
        FAILED: lambda row, rule: row.is_failed,
    },
    "class": {
        "answerable": lambda row, rule: row.answerable,
        "unanswerable": lambda row, rule: not row.answerable,
    },
    "source": {
        "quiz": lambda row, rule: row.source == "quiz",
        "tkg": lambda row, rule: row.source == "tkg",
    },
    "evidence": {
        state: lambda row, rule, state=state: row.retrieval == state  # type: ignore[misc]
        for state in RETRIEVED
    },
}
"""Filters of a list, with the values of each; a filter keeps only matching answers."""


@dataclass(frozen=True)
class Listing:
    """A filtered list of answers, in order of script and walk, with its filters.

    `differ` are the settings that vary among them, except the model, which the system identifies.
    """

    query: AnswersQuery
    part: str
    rows: Sequence[AnswerRow]
    systems: Sequence[str]
    differ: Sequence[str] = ()
    filters: Mapping[str, str] = field(default_factory=dict)


def listing(query: AnswersQuery, filters: Mapping[str, str]) -> Listing:
    """Return the filtered answers of a part. Raises ReportRefused for a test part that was not opened.

    ``filters`` may contain a `system`, and a value for each key of NARROWED; other values are ignored.
    """
    selection = part_of(query, ReportRefused)
    part = selection.name
    clusters = None if selection.split is None else splits.clusters(split=selection.split, part=part)
    judge = judge_named(query.corpus, query.judge)
    items = answers(query.corpus, clusters, part, query.scope.excluded)
    systems = sorted(set(items.order_by().values_list("continuation__system__name", flat=True).distinct()))
    if system := filters.get("system"):
        items = items.filter(continuation__system__name=system)
    tests = [values[filters[key]] for key, values in NARROWED.items() if filters.get(key) in values]
    rows = [
        row
        for row in rows_of(items, judge, spelt(query.corpus, query.sets))
        if all(test(row, query.rule) for test in tests)
    ]
    differ = [key for key in varying(rows) if key != MODEL]
    return Listing(query, part, rows, systems, differ, dict(filters))


def is_locked(corpus: Corpus, item: int) -> bool:
    """Whether an answer is in a test part that is still unopened."""
    hidden = splits.unopened(corpus).values("cluster")
    return answers(corpus).filter(Q(pk=item) & splits.within(hidden)).exists()


# One answer on its page: question, reply, reason for the key, and retrieved sessions.

MOST_OTHERS = 100


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A session of the script: its number, id, date and place."""

    number: int
    id: str = ""
    date: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A rater's label of an answer: the value, or the reason for none, and the explanation."""

    rater: str
    kind: str
    question: str
    value: str
    explanation: str = ""


@dataclass(frozen=True)
class AnswerView:
    """An answer with everything that affects its score. ``opinions`` is None while the test part is unopened.

    ``options`` are the texts as shown, by letter; ``evidence`` and ``retrieved`` are sessions of the script.
    """

    item: Item
    continuation: Continuation
    row: AnswerRow
    record: Mapping[str, Any]
    question: str
    reply: str
    options: tuple[tuple[str, str], ...]
    session: ShownSession
    evidence: tuple[ShownSession, ...]
    retrieved: tuple[ShownSession, ...]
    opinions: tuple[Opinion, ...] | None
    others: tuple[Item, ...]

    @property
    def asker(self) -> str:
        """Name of the asker, else the id."""
        names = {
            participant["id"]: participant.get("name")
            for participant in self.continuation.dialogue.participants
        }
        return names.get(self.row.asker) or self.row.asker

    @property
    def right(self) -> bool | None:
        """Whether the answer is right by the letter; None if unknown, or hidden in an unopened test part."""
        return None if self.opinions is None else self.row.strict

    @property
    def right_lenient(self) -> bool | None:
        """Whether the answer is right by the letter or an option's text; None as for `right`."""
        return None if self.opinions is None else self.row.lenient

    @property
    def by_others(self) -> list[tuple[Item, str]]:
        """Other answers, each with its condition, without the model and the set."""
        return [(other, _briefly(other.continuation.condition)) for other in self.others]

    @property
    def rule(self) -> str:
        """The rule that decides whether the question is answerable, in words."""
        return str(self.record.get("rule") or "").replace("_", " ")


def view(item: Item, judge: Rater | str | None = None) -> AnswerView:
    """Return an answer with everything that affects its score; raise ReportRefused without a record."""
    assert item.turn is not None
    record = record_of(item.turn.extra)
    if record is None:
        raise ReportRefused("nothing was recorded of what was asked here")
    (row,) = rows_of(Item.objects.filter(pk=item.pk), judge)
    part = item.continuation
    sessions = (part.dialogue.script or {}).get("sessions", ())
    opinions = None if is_locked(item.corpus, item.pk) else tuple(_opinions(item))
    return AnswerView(
        item,
        part,
        row,
        record,
        _question(item.turn),
        item.turn.text,
        _options(record),
        _sessions([row.session], sessions)[0],
        _sessions(record.get("evidence") or (), sessions),
        _sessions((record.get("retrieval") or {}).get("sessions") or (), sessions),
        opinions,
        _others(item, record),
    )


def _briefly(condition: Mapping[str, Any]) -> str:
    values = (condition.get(name) for name in (MEMORY, RETRIEVER, NAMES, FORMAT))
    return ", ".join(str(value) for value in values if value and value != "none")


def _question(turn: Turn) -> str:
    """Return the question of an answer: the given turn right before it."""
    rows = Turn.objects.filter(continuation=turn.continuation_id, position__lt=turn.position, given=True)
    question_turn = rows.filter(at=turn.at).order_by("-position").first()
    return question_turn.text if question_turn else ""


def _options(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    choices = list(record.get("choices") or ())
    return tuple(zip(LETTERS, [*choices, UNKNOWN_TEXT], strict=False)) if choices else ()


def _sessions(numbers: Iterable[int], stored: Any) -> tuple[ShownSession, ...]:
    sessions = []
    for number in numbers:
        session = stored[number - 1] if 0 < number <= len(stored) else {}
        when = str(date_record(session["date"])) if session.get("date") else ""
        sessions.append(ShownSession(number, session.get("id", ""), when, session.get("place", "")))
    return tuple(sessions)


def _opinions(item: Item) -> list[Opinion]:
    labels = Label.objects.filter(
        item=item, superseded_at=None, occasion__in=OCCASIONS, question__version__scheme__key=SCHEME
    ).select_related("rater", "question")
    opinions = [_opinion(label, item.corpus_id) for label in labels.order_by("sample")]
    return sorted(opinions, key=lambda opinion: (opinion.question, opinion.rater))


def _opinion(label: Label, corpus: int) -> Opinion:
    value = label.missing or (label.text if label.number is None else f"{label.number:g}")
    kind = label.rater.get_kind_display()
    return Opinion(name_of(label.rater, corpus), kind, label.question.key, value or "", label.explanation)


def _others(item: Item, record: Mapping[str, Any]) -> tuple[Item, ...]:
    """Return the answers of other systems and trials to the same question in the same session."""
    same = Item.objects.filter(
        kind=item.kind,
        continuation__dialogue=item.continuation.dialogue_id,
        turn__extra__extra__answer__question=record["question"],
        turn__extra__extra__answer__session=record["session"],
    )
    rows = same.exclude(pk=item.pk).select_related("continuation__system", "turn")
    return tuple(rows.order_by("continuation__system__name", "continuation__trial", "pk")[:MOST_OTHERS])


# Agreement of judges with people on which free answers are right: Cohen's kappa, with its interval.

STATISTICS = ("cohen_kappa", "percent_agreement")
NOBODY_BOTH = "no answer was rated by both"
MEAN, HUMAN = "people", "human"
"""The majority of people counts as one rater beside the judge."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of a judge with people: kappa and the share of equal ratings, on answers that both rated.

    With several people, the majority counts; half is no majority.
    """

    judge: str
    kappa: Result
    equal: Result
    people: int
    title: str = ""


def agreements(
    corpus: Corpus,
    clusters: Collection[str] | None,
    plan: Plan,
    part: str = "",
    excluded: Sequence[int] = (),
) -> tuple[Agreement, ...]:
    """Return the agreement of each judge with people, on answers in some clusters (None: all), without
    excluded scripts (ids)."""
    items = answers(corpus, clusters, part, excluded)
    places = dict(items.annotate(own=ITEM_CLUSTER).values_list("pk", "own"))
    labels = Label.objects.filter(
        item__in=items,
        superseded_at=None,
        occasion__in=OCCASIONS,
        number__isnull=False,
        question__key=RIGHT,
        question__version__scheme__key=SCHEME,
        rater__kind__in=(Rater.Kind.JUDGE, Rater.Kind.HUMAN),
    ).order_by("rater__name", "-sample", "-pk")
    ratings_by_rater: dict[int, dict[int, float]] = {}
    for item, rater, number in labels.values_list("item", "rater", "number").iterator(chunk_size=CHUNK):
        ratings_by_rater.setdefault(rater, {})[item] = float(number or 0)
    raters = Rater.objects.in_bulk(ratings_by_rater)
    people = [ratings_by_rater[pk] for pk, rater in raters.items() if rater.kind == Rater.Kind.HUMAN]
    most = majority(people)
    judges = [rater for rater in raters.values() if rater.kind == Rater.Kind.JUDGE]
    return tuple(
        replace(
            agreement(judge.name, ratings_by_rater[judge.pk], most, places, len(people), plan),
            title=judge.title,
        )
        for judge in sorted(judges, key=lambda rater: rater.name)
    )


def majority(people: Sequence[dict[int, float]]) -> dict[int, float]:
    """Return the majority of people's ratings by item; half is no majority."""
    votes: dict[int, list[float]] = {}
    for own in people:
        for item, value in own.items():
            votes.setdefault(item, []).append(value)
    return {item: float(sum(values) > len(values) / 2) for item, values in votes.items()}


def agreement(
    judge: str,
    judge_ratings: dict[int, float],
    most: dict[int, float],
    places: dict[int, str],
    people: int,
    plan: Plan,
) -> Agreement:
    """Return the agreement of a judge with the majority of people, on the items that both rated."""
    both = sorted(judge_ratings.keys() & most.keys())
    if not both:
        kappa, equal = (Result(name, status="insufficient", reason=NOBODY_BOTH) for name in STATISTICS)
        return Agreement(judge, kappa, equal, people)
    records = [
        Record(str(item), rater, value[item], places[item], kind=HUMAN if rater == MEAN else "judge")
        for item in both
        for rater, value in ((MEAN, most), (judge, judge_ratings))
    ]
    ratings = ratings_from_records(records, level="binary", values=(0, 1))
    analysis = analyse(ratings, statistics=STATISTICS, against=MEAN, plan=plan)
    entries = [analysis.find(name) for name in STATISTICS]
    assert entries[0] is not None
    assert entries[1] is not None
    return Agreement(judge, entries[0].result, entries[1].result, people)
