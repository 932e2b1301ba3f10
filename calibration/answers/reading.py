"""From the database to rows: the answers of a corpus's scripts, and what raters said of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.corpora import splits
from annotation.corpora.parts import TRAINING
from annotation.kinds import ANSWER
from annotation.models import Continuation, Dialogue, Item, Label, Occasion, QuestionSet, Rater, Use
from annotation.models.corpora import Corpus
from annotation.script_editing.question_records import found, spellings
from annotation.scripts.answers import ABSTAINED, LENIENT, RIGHT, STRICT
from calibration.answers.query import PEOPLE
from calibration.answers.rows import HALF, NOBODY, AnswerRow, Place, Said, row_of
from calibration.answers.tables import Cell, Line, Table
from calibration.errors import AnswersRefused
from judges.protocols.answer_match import UNDECIDED

# The question sets that answers were asked from: the paper's table 2 of each script.

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
    """Return question sets by what answers call them: NAME:VERSION, or NAME for the newest version."""
    held: dict[int, QuestionSet] = {}
    for told in names:
        if (made := found(corpus, told)) is not None:
            held[made.pk] = made
    return sorted(held.values(), key=lambda made: (made.name, -made.version))


def policies(corpus: Corpus, names: Sequence[str]) -> list[str]:
    """Return the policies of question sets, each once, in order."""
    told = {str(one.options["policy"]) for one in stored(corpus, names) if one.options.get("policy")}
    return sorted(told)


def table2(corpus: Corpus, names: Sequence[str]) -> Table:
    """Return the statistics of question sets by script: sessions, and candidates a session."""
    lines = [line for one in stored(corpus, names) for line in _lines(one)]
    return Table("table2", "The questions of each script", HEADS, tuple(lines), NOTES)


def _lines(made: QuestionSet) -> list[Line]:
    rows = (
        Use.objects.filter(set=made)
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
    return [_line(scripts[row["question__dialogue"]], made, row) for row in rows]


def _line(script: Dialogue, made: QuestionSet, row: Mapping[str, Any]) -> Line:
    n = row["sessions"]
    counted = (row["quiz"], row["facts"], row["uses"], row["answerable"], row["uses"] - row["answerable"])
    cells: tuple[Cell, ...] = (
        len((script.script or {}).get("sessions", ())),
        n,
        *(f"{count / n:,.1f}" for count in counted),
    )
    return Line(f"{script.key}, {made}", cells)


SCHEME = "long_dialogue_answers"
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)
RECORD = "answer"
"""The key of an answer's own record in its turn's `extra`."""
CHUNK = 5_000


def answers(corpus: Corpus, clusters: Collection[str] | None = None, part: str = "") -> QuerySet[Item]:
    """Return the answers of a corpus's scripts, those in some clusters (None: all).

    Those in training are read where that is the part, and then alone.
    """
    items = Item.objects.filter(corpus=corpus, training=part == TRAINING, kind=ANSWER.key)
    return items if clusters is None else items.filter(splits.within(list(clusters)))


def rows(
    corpus: Corpus,
    clusters: Collection[str] | None,
    judge: Rater | str | None,
    sets: Collection[str] = (),
    part: str = "",
) -> list[AnswerRow]:
    """Return the rows of a corpus's answers in some clusters (None: all), in order of script and walk.

    ``judge`` decides what no rule does: a rater, `people`, or nobody. ``sets`` name question sets, all
    where there are none.
    """
    return rows_of(answers(corpus, clusters, part), judge, spelt(corpus, sets))


def spelt(corpus: Corpus, sets: Collection[str]) -> set[str]:
    """Return all that answers may call the question sets that are named."""
    return {spelling for told in sets for spelling in spellings(corpus, told)}


def rows_of(items: QuerySet[Item], judge: Rater | str | None, sets: Collection[str] = ()) -> list[AnswerRow]:
    """Return the rows of some answers; with ``sets``, of those that call their question set so."""
    found = items.order_by("continuation_id", "turn__position").values_list(
        "pk", "cluster", "continuation", "turn__extra", "turn__text"
    )
    told = [
        (pk, cluster, continuation, record, reply)
        for pk, cluster, continuation, extra, reply in found.iterator(chunk_size=CHUNK)
        if (record := record_of(extra)) is not None and (not sets or record.get("set") in sets)
    ]
    places = _places({continuation for _, _, continuation, _, _ in told})
    said = said_of([pk for pk, *_ in told], judge)
    made = []
    for pk, cluster, continuation, record, reply in told:
        place = Place(**places[continuation], cluster=cluster or "", item=pk)
        made.append(row_of(record, reply, place, said.get(pk, NOBODY)))
    return made


def record_of(extra: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return an answer's own record from what its turn's row holds beside the text, None without one."""
    record = ((extra or {}).get("extra") or {}).get(RECORD)
    return record if isinstance(record, Mapping) and "outcome" in record else None


def _places(continuations: Collection[int]) -> dict[int, dict[str, Any]]:
    """Return what a continuation's answers have in common, by its id."""
    parts = Continuation.objects.filter(pk__in=continuations).select_related("system", "dialogue")
    sessions: dict[int, int] = {}
    found = {}
    for part in parts.defer("dialogue__metadata", "dialogue__participants"):
        script = part.dialogue
        if script.pk not in sessions:
            sessions[script.pk] = len((script.script or {}).get("sessions", ()))
        found[part.pk] = {
            "system": part.system.name,
            "script": script.key,
            "condition": {key: _word(value) for key, value in part.condition.items()},
            "trial": part.trial,
            "sessions": sessions[script.pk],
            "fake_model": part.fake_model,
        }
    return found


def _word(value: object) -> str:
    """Return a setting's value as one word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_word(one)}" for key, one in sorted(value.items()))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def said_of(items: Collection[int], judge: Rater | str | None) -> dict[int, Said]:
    """Return what the rules and a judge said of answers, by item; of several samples most of them count."""
    by_rule: dict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    labels = _live(items).filter(rater__name__in=(STRICT, LENIENT), question__key__in=(RIGHT, ABSTAINED))
    labels = labels.order_by("pk")  # of two versions of a rule the newer one stands
    for item, rater, question, number in labels.values_list(
        "item", "rater__name", "question__key", "number"
    ).iterator(chunk_size=CHUNK):
        if number is not None:
            by_rule[item][rater, question] = number
    judged = _judged(items, judge)
    return {
        item: Said(
            strict=by_rule[item].get((STRICT, RIGHT)),
            lenient=by_rule[item].get((LENIENT, RIGHT)),
            abstained=by_rule[item].get((STRICT, ABSTAINED)),
            judge=judged.get(item, (None, False))[0],
            undecided=judged.get(item, (None, False))[1],
        )
        for item in {*by_rule, *judged}
    }


def _judged(items: Collection[int], judge: Rater | str | None) -> dict[int, tuple[float, bool]]:
    """Return by item whether a judge, or most people, find it right, and whether that is undecided.

    Half of the votes is not most of them.
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
        item: (float(sum(right for right, _ in given) > HALF * len(given)), all(open_ for _, open_ in given))
        for item, given in votes.items()
    }


def _live(items: Iterable[int]) -> QuerySet[Label]:
    return Label.objects.filter(
        item__in=list(items),
        superseded_at=None,
        occasion__in=OCCASIONS,
        question__version__scheme__key=SCHEME,
    )


def judges_of(corpus: Corpus) -> list[str]:
    """Return the names of the judges that said whether answers are right, and `people` where people did."""
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
    """Return the judge of a name, `people`, or None for no name; raise AnswersRefused for another."""
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
        known = ", ".join(judges_of(corpus)) or "none yet"
        raise AnswersRefused(f"no judge {name!r} has said which answers are right; those that have: {known}")
    return rater


def has_answers(corpus: Corpus) -> bool:
    """Whether a corpus has answers to questions about its scripts."""
    return answers(corpus).exists()
