"""Figures of a question set."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from annotation import records
from annotation.corpora import exclusion
from annotation.corpora.rows import participant_record, turn_record
from annotation.corpora.splits import of_dialogues
from annotation.models import Corpus, Dialogue, QuestionSet
from annotation.models.corpora import Turn
from annotation.models.records import Record
from annotation.records import SELF
from annotation.script_records import (
    FACT,
    QUESTION,
    Fact,
    Question,
    fact_record,
    question_record,
    script_record,
)
from suites.long_dialogue.scripts.making import MadeSet, overview

# Figures of a question set, for its table 2.

# Input of question sets: speakers by session, accepted facts, quiz questions.
#
# The texts of turns are not read: a script has some 350,000 words of them, and nothing here depends on them.

ACCEPTED = "accepted"
RULES = 2
"""Increment when the rules of questions and uses change, so that sets made by the old rules are rebuilt."""


def scripts(corpus: Corpus, exclude: str = "") -> list[Dialogue]:
    """Return a corpus's scripts outside training, in order, without those that an exclusion leaves out."""
    passed = exclusion.without(exclusion.excluded_ids(corpus, exclude))
    return list(corpus.dialogues.filter(of_dialogues(), passed, script__isnull=False).order_by("key"))


def counting(corpus_or_dialogue: Corpus | Dialogue, kind: str) -> Any:
    """Return the records that enter question sets: accepted, not superseded, and not created by a set."""
    rows = Record.objects.filter(kind=kind, status=ACCEPTED, superseded_by=None, set=None)
    if isinstance(corpus_or_dialogue, Corpus):
        return rows.filter(corpus=corpus_or_dialogue)
    return rows.filter(dialogue=corpus_or_dialogue)


def facts(dialogue: Dialogue) -> tuple[Fact, ...]:
    """Return a script's accepted facts."""
    rows = counting(dialogue, FACT).order_by("key").values_list("key", "content", "status")
    return tuple(fact_record(*row) for row in rows)


def quiz(dialogue: Dialogue) -> tuple[Question, ...]:
    """Return a script's accepted quiz questions."""
    rows = counting(dialogue, QUESTION).order_by("key").values_list("key", "content", "status")
    return tuple(
        question for question in (question_record(*row) for row in rows) if question.source == "quiz"
    )


def without_texts(dialogue: Dialogue) -> records.Dialogue:
    """Return a script with its facts and quiz questions; its turns have no texts."""
    return records.Dialogue(
        id=dialogue.key,
        turns=tuple(_turns(dialogue)),
        participants=tuple(map(participant_record, dialogue.participants)),
        script=script_record(dialogue.script),
        facts=facts(dialogue),
        questions=quiz(dialogue),
    )


def _turns(dialogue: Dialogue) -> Iterator[records.Turn]:
    own = Turn.objects.filter(continuation__dialogue=dialogue, continuation__key=SELF).order_by("position")
    for speaker, extra in own.values_list("speaker", "extra").iterator(5_000):
        yield turn_record(speaker, "", False, None, extra)


def digest(corpus: Corpus, options: dict[str, Any]) -> str:
    """Return the SHA-256 of all inputs of a question set with these options."""
    sha = hashlib.sha256(_line({"rules": RULES, **options}))
    for dialogue in scripts(corpus, options.get("exclude", "")):
        sha.update(_line([dialogue.key, dialogue.script, dialogue.participants]))
        for kind in (FACT, QUESTION):
            for row in counting(dialogue, kind).order_by("key").values_list("key", "content"):
                sha.update(_line([kind, row[0], _without_styles(row[1])]))
    return sha.hexdigest()


def _without_styles(content: dict[str, Any]) -> dict[str, Any]:
    """Return a content without its wordings, since no use depends on them."""
    return {name: value for name, value in content.items() if name != "styles"}


def _line(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


ROWS = """
SELECT coalesce(r.content->>'source', 'quiz'), coalesce((r.content->>'hops')::int, 0), u.type,
       count(*) FILTER (WHERE u.answerable), count(*) FILTER (WHERE NOT u.answerable)
  FROM annotation_use u JOIN annotation_record r ON r.id = u.question_id
 WHERE u.set_id = %(set)s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
ASKED_TOTALS = """
SELECT count(DISTINCT (r.dialogue_id, u.session)), count(DISTINCT u.question_id),
       count(DISTINCT r.dialogue_id)
  FROM annotation_use u JOIN annotation_record r ON r.id = u.question_id WHERE u.set_id = %(set)s
"""
SOURCES = {("quiz", 0): "Quiz", ("tkg", 1): "Facts, one hop", ("tkg", 2): "Facts, two hops"}
COLUMNS = ("source", "hops", "type", "answerable", "unanswerable")


@dataclass(slots=True)
class Figures:
    """Figures of a set, summed over scripts."""

    counts: Counter[str] = field(default_factory=Counter)
    answerable: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    unanswerable: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    tests: float = 0.0

    def add(self, dialogue: records.Dialogue, made_set: MadeSet) -> None:
        """Add the figures of one script."""
        summary = overview(dialogue, (*dialogue.questions, *made_set.questions), made_set.set.uses)
        facts, question_count = len(dialogue.facts), len({use.question for use in made_set.set.uses})
        self.counts.update(
            scripts=1, sessions=summary.sessions, asked=summary.askable_sessions, turns=summary.turns
        )
        self.counts.update(facts=facts, questions=question_count)
        self.tests += summary.tests
        for row in summary.rows:
            self.answerable[row.source, row.hops, row.type] += row.answerable
            self.unanswerable[row.source, row.hops, row.type] += row.unanswerable
        self.dropped.update(made_set.dropped)
        self.excluded.update(made_set.excluded)

    def as_json(self) -> dict[str, Any]:
        """Return the figures in the form of their database column."""
        names = ("scripts", "sessions", "asked", "turns", "facts", "questions")
        rows = [
            dict(zip(COLUMNS, (*key, self.answerable[key], self.unanswerable[key]), strict=True))
            for key in sorted(self.answerable.keys() | self.unanswerable.keys())
        ]
        return {
            **{name: self.counts[name] for name in names},
            **_sums(rows),
            "tests": round(self.tests, 2),
            "rows": rows,
            "dropped": dict(self.dropped),
            "excluded": dict(self.excluded),
        }


def figures_of(question_set: QuestionSet) -> dict[str, Any]:
    """Return a set's figures; those of an imported set are computed once, and saved."""
    if not question_set.figures:
        question_set.figures = _counted(question_set)
        QuestionSet.objects.filter(pk=question_set.pk).update(figures=question_set.figures)
    return question_set.figures


def _counted(question_set: QuestionSet) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(ROWS, {"set": question_set.pk})
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]
        cursor.execute(ASKED_TOTALS, {"set": question_set.pk})
        session_count, questions, scripts = cursor.fetchone()
    asking = Record.objects.filter(corpus=question_set.corpus_id, kind=QUESTION, uses__set=question_set)
    dialogues = list(question_set.corpus.dialogues.filter(pk__in=asking.values("dialogue")))
    own = Turn.objects.filter(continuation__dialogue__in=dialogues, continuation__key=SELF)
    return {
        "scripts": scripts,
        "sessions": sum(len((dialogue.script or {}).get("sessions", ())) for dialogue in dialogues),
        "asked": session_count,
        "turns": own.count(),
        "questions": questions,
        **_sums(rows),
        "rows": rows,
    }


def _sums(rows: list[dict[str, Any]]) -> dict[str, int]:
    answerable = sum(row["answerable"] for row in rows)
    return {"uses": answerable + sum(row["unanswerable"] for row in rows), "answerable": answerable}


def table2(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of a set's table, by source and in total.

    Figures per session are None without sessions.
    """
    sessions = figures.get("asked") or 0
    rows = figures.get("rows", [])
    lines = []
    for key, title in [*SOURCES.items(), (None, "All")]:
        own = [row for row in rows if key in (None, (row["source"], row["hops"]))]
        if not own:
            continue
        sums = _sums(own)
        lines.append(
            {
                "title": title,
                **sums,
                "unanswerable": sums["uses"] - sums["answerable"],
                "per_session": sums["uses"] / sessions if sessions else None,
                "answerable_per_session": sums["answerable"] / sessions if sessions else None,
                "is_all": key is None,
            }
        )
    return lines
