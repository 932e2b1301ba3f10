"""What can be counted in a scope: which questions, by whom, by which keys. And which of it a query names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection

from annotation.models import Corpus, Question
from calibration.counts.query import PEOPLE, SYSTEM, CountsQuery
from calibration.errors import CountsRefused
from calibration.reading.census import Census, QuestionInfo, RaterInfo
from calibration.reports.wording import crowd_of, listed
from judges.metrics import METRICS

SCORED = frozenset({"binary", "ordinal", "interval", "ratio"})
HUMAN, JUDGE, METRIC = "human", "judge", "metric"
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
class Chosen:
    """Who counts: one rater, or people together.

    ``people`` are those whose ratings may correct a judge; ``left_out`` are questions of the scheme that the
    rater never gave an answer to.
    """

    raters: tuple[RaterInfo, ...]
    together: bool
    questions: tuple[QuestionInfo, ...]
    people: tuple[RaterInfo, ...]
    left_out: tuple[QuestionInfo, ...] = ()

    @property
    def name(self) -> str:
        """How the rater is called; people together by what they are."""
        if not self.together:
            return self.raters[0].name
        return crowd_of(self.raters).many

    @property
    def kind(self) -> str:
        """What kind of rater it is."""
        return self.raters[0].kind

    @property
    def simulated(self) -> bool:
        """Whether a program answered in a person's place, or in some of theirs."""
        return any(rater.simulated for rater in self.raters)

    @property
    def is_turns(self) -> bool:
        """Whether marks on turns are counted, not answers about whole continuations."""
        return self.questions[0].item_kind == "turn"


def countable(question: QuestionInfo) -> bool:
    """Whether a question can be counted: a mark on turns, or a number for a whole continuation."""
    if question.item_kind == "turn":
        return question.level == "binary"
    return question.item_kind == "dialogue" and question.level in SCORED


def sets(counted: Census) -> dict[str, str]:
    """Return the schemes whose answers can be counted, `key@version` to title."""
    found = [question for question in counted.questions.values() if countable(question)]
    return {question.scheme: question.scheme_title for question in found}


def raters(counted: Census) -> list[tuple[str, str]]:
    """Return who can be chosen: (name, name as it is shown), people together first."""
    asked = {pair for pair in counted.counts if countable(counted.questions[pair[0]])}
    there = [info for pk, info in counted.raters.items() if any(rater == pk for _, rater in asked)]
    humans = [info for info in there if info.kind == HUMAN]
    found = []
    if humans:
        who = crowd_of(humans)
        found.append((PEOPLE, f"{who.many} together".capitalize()))
    for info in there:
        if _is_counted(info, counted) and info.identified and info.name != PEOPLE:
            found.append((info.name, f"{info.name}, {'simulated' if info.simulated else info.kind}"))
    return found


def _is_counted(info: RaterInfo, counted: Census) -> bool:
    """Whether a rater's answers can be counted: of metrics, those that answer a scheme beside their own."""
    schemes = {metric.scheme.key for metric in METRICS.values() if metric.scheme}
    return info.kind != METRIC or any(
        rater == info.id and counted.questions[question].scheme.rpartition("@")[0] in schemes
        for question, rater in counted.counts
    )


def condition_keys(corpus: Corpus) -> list[str]:
    """Return by what rows can be made: `system`, and every key of some continuation's condition."""
    return [SYSTEM, *(key for key in _texts(KEYS, corpus) if key != SYSTEM)]


def metadata_keys(corpus: Corpus) -> list[str]:
    """Return the keys of the dialogues' metadata with plain values: what can be a stratum."""
    return _texts(METADATA, corpus)


def _texts(sql: str, corpus: Corpus) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [corpus.pk])
        return [row[0] for row in cursor.fetchall()]


def choose(query: CountsQuery, counted: Census) -> Chosen:
    """Return who and what a query names. Raises CountsRefused, in one line, where there is no such thing."""
    known = condition_keys(query.corpus)
    if unknown := [key for key in query.by if key not in known]:
        raise CountsRefused(f"no continuation has the condition {unknown[0]!r}; there are {', '.join(known)}")
    if query.strata and query.strata not in metadata_keys(query.corpus):
        keys = ", ".join(metadata_keys(query.corpus)) or "none"
        raise CountsRefused(f"no dialogue's metadata has {query.strata!r}; there are {keys}")
    name = query.rater or by_default(counted)
    who = _who(name, counted)
    ids = {info.id for info in who}
    answered = [
        question
        for question in counted.questions.values()
        if countable(question) and any((question.id, pk) in counted.counts for pk in ids)
    ]
    if not answered:
        raise CountsRefused(f"{name} marked no turns and scored no continuation here")
    questions = _questions(query.questions, answered, ids, counted)
    silent = _never_answered(questions, ids, counted)
    left_out = () if query.questions or len(silent) == len(questions) else silent
    questions = [question for question in questions if question not in left_out]
    asked = {question.id for question in questions}
    people = [
        info
        for info in counted.raters.values()
        if info.kind == HUMAN and any((question, info.id) in counted.counts for question in asked)
    ]
    together = name == PEOPLE and who[0].name != PEOPLE
    own = [info for info in who if any((question, info.id) in counted.counts for question in asked)]
    return Chosen(
        tuple(own), together, tuple(questions), tuple(people) if who[0].kind == JUDGE else (), left_out
    )


def _never_answered(
    questions: Sequence[QuestionInfo], ids: set[int], counted: Census
) -> tuple[QuestionInfo, ...]:
    """Return the questions that were answered with a reason for a missing answer throughout."""

    def answers(question: QuestionInfo) -> int:
        pairs = [counted.counts.get((question.id, pk), (0, 0)) for pk in ids]
        return sum(n - missing for n, missing in pairs)

    return tuple(question for question in questions if not answers(question))


def by_default(counted: Census) -> str:
    """Return who comes by default: the judge with most labels, else people, else anybody."""
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


def _who(name: str, counted: Census) -> list[RaterInfo]:
    found = [info for info in counted.raters.values() if info.name == name]
    if found and not _is_counted(found[0], counted):
        raise CountsRefused(f"{name} is a metric: the profile shows what metrics say of each system")
    if found and not found[0].identified:
        raise CountsRefused(
            f"{name} is an anonymous slot, not one person throughout: count {PEOPLE} together"
        )
    if not found and name == PEOPLE:
        found = [info for info in counted.raters.values() if info.kind == HUMAN]
    if not found:
        names = listed([known for known, _ in raters(counted)], 20) or "none"
        raise CountsRefused(f"no rater {name!r} has counts or scores here; there are {names}")
    return found


def _questions(
    wanted: Sequence[str], answered: Sequence[QuestionInfo], ids: set[int], counted: Census
) -> list[QuestionInfo]:
    """Return the questions that are counted: those named, or the scheme that the rater answered most."""
    if not wanted:
        numbers: Counter[str] = Counter()
        for question in answered:
            key = f"{question.scheme} {question.item_kind}"
            numbers[key] += sum(counted.counts.get((question.id, pk), (0, 0))[0] for pk in ids)
        most = min(numbers, key=lambda key: (-numbers[key], key))
        found = [question for question in answered if f"{question.scheme} {question.item_kind}" == most]
    else:
        named = [_named(one, answered) for one in wanted]
        found = list({question.id: question for several in named for question in several}.values())
    if len({question.item_kind for question in found}) > 1:
        raise CountsRefused(
            "marks on turns and scores of continuations are two tables: name one kind of question"
        )
    if len({question.key for question in found}) < len(found):
        twice = next(key for key, n in Counter(question.key for question in found).items() if n > 1)
        refs = listed([question.ref for question in found if question.key == twice])
        raise CountsRefused(f"{twice} is asked by several schemes: name one of {refs}")
    if len(found) > MOST_QUESTIONS:
        raise CountsRefused(
            f"{len(found)} questions are too many for one table: name at most {MOST_QUESTIONS}"
        )
    return sorted(found, key=lambda question: (question.scheme, question.position))


def _named(name: str, answered: Sequence[QuestionInfo]) -> list[QuestionInfo]:
    """Return the questions of a name: a reference, a scheme with or without version, or a key."""
    for names in (
        lambda question: {question.ref},
        lambda question: {question.scheme, question.scheme.rpartition("@")[0]},
        lambda question: {question.key},
    ):
        if found := [question for question in answered if name in names(question)]:
            return found
    known = listed(list(dict.fromkeys(question.ref for question in answered)), 20)
    raise CountsRefused(f"the rater did not answer {name!r}; there are {known}")


def standing_alone(questions: Iterable[QuestionInfo]) -> list[str]:
    """Return the keys of binary questions that are alone in their group: no part of a set of behaviours.

    Where no question of the scheme shares a group, all of them are one set.
    """
    asked = list(questions)
    schemes = Question.objects.filter(pk__in=[question.id for question in asked]).values("version")
    rows = Question.objects.filter(version__in=schemes, level=asked[0].level).values_list(
        "version", "group", "pk"
    )
    sizes = Counter((version, group) for version, group, _ in rows if group)
    place = {pk: (version, group) for version, group, pk in rows}
    lonely = [question.key for question in asked if sizes.get(place[question.id], 0) < 2]
    return lonely if len(lonely) < len(asked) else []
