"""The question sets that answers were asked from: the paper's table 2 of each script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q

from annotation.models import Corpus, Dialogue, QuestionSet, Use
from annotation.question_sets.reading import found
from calibration.answers.tables import Cell, Line, Table

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
