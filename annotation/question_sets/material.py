"""Scripts as question sets are made of them: who speaks in which session, accepted facts, quiz questions.

The texts of turns are not read: a script has some 350,000 words of them, and nothing here depends on one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from annotation import records
from annotation.corpora.parts import of_dialogues
from annotation.importing.rows import participant_record, turn_record
from annotation.models import Corpus, Dialogue, Record, Turn
from annotation.records import SELF
from annotation.scripts.records import FACT, QUESTION, Fact, Question
from annotation.scripts.stored import fact_record, question_record, script_record

ACCEPTED = "accepted"
RULES = 2
"""Raised when the rules of questions and uses change, so that sets made by the old ones are made anew."""


def scripts(corpus: Corpus) -> list[Dialogue]:
    """Return a corpus's scripts outside training, in order."""
    return list(corpus.dialogues.filter(of_dialogues(), script__isnull=False).order_by("key"))


def counting(corpus_or_dialogue: Corpus | Dialogue, kind: str) -> Any:
    """Return the records that question sets are made of: accepted, not superseded, made by no set."""
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
    """Return a script with its facts and quiz questions, its turns without their texts."""
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
    """Return the SHA-256 of all that a question set of these options is made from."""
    told = hashlib.sha256(_line({"rules": RULES, **options}))
    for dialogue in scripts(corpus):
        told.update(_line([dialogue.key, dialogue.script, dialogue.participants]))
        for kind in (FACT, QUESTION):
            for row in counting(dialogue, kind).order_by("key").values_list("key", "content"):
                told.update(_line([kind, row[0], _without_styles(row[1])]))
    return told.hexdigest()


def _without_styles(content: dict[str, Any]) -> dict[str, Any]:
    """Return a content without its wordings, on which no use depends."""
    return {name: value for name, value in content.items() if name != "styles"}


def _line(told: Any) -> bytes:
    return json.dumps(told, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
