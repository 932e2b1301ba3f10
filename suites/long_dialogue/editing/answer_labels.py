"""Answers to questions about scripts as labels: the key, the observation and both scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation import scheme_store
from annotation.kinds import ANSWER
from annotation.models import Corpus, Item, Label, Occasion, Rater
from annotation.work import labels
from annotation.work.labels import Answer, record
from suites.long_dialogue.schemes import ANSWERS as SCHEME
from suites.long_dialogue.scripts.answers import KEY, LENIENT, OBSERVED, STRICT, Answered, labels_of

# Labels of answers: the key, the observation and both scores, each by its own rater.

CONTENT = "answer"
"""Key of the answer in a turn's `extra`."""
SCORED = ("outcome", "format", "key")
"""Text fields that an answer needs before it can be scored."""
VERSION = 1
"""Increment with every change to the reading or scoring of replies; the labels then come from new raters."""
BATCH = 2_000


@transaction.atomic
def write(corpus: Corpus, continuations: Iterable[int] | None = None) -> int:
    """Write the labels of answers; return the number of new ones.

    `continuations` None stands for all unlabelled answers of the corpus. Existing labels stay as they are, so
    repeated calls are safe. Turns without the data of an answer, such as imported ones, get none.
    """
    if continuations is None and not corpus.dialogues.filter(script__isnull=False).exists():
        return 0
    items = Item.objects.filter(corpus=corpus, kind=ANSWER.key)
    if continuations is not None:
        items = items.filter(continuation__in=list(continuations))
    else:
        scored = Label.objects.filter(item=OuterRef("pk"), rater=rater_of(corpus, STRICT))
        items = items.filter(~Exists(scored))
    if not items.exists():
        return 0
    questions = {question.key: question for question in scheme_store.store(definition=SCHEME).questions.all()}
    label_count = 0
    by: dict[str, list[Answer]] = defaultdict(list)
    for item, rating in _answer_ratings(items):
        by[rating.rater].append(Answer(item, questions[rating.question], rating.value, rating.missing))
    for name, answers in by.items():
        rater = rater_of(corpus, name)
        for begin in range(0, len(answers), BATCH):
            part = answers[begin : begin + BATCH]
            label_count += len(record(rater=rater, answers=part, occasion=Occasion.MAIN))
    return label_count


def rater_of(corpus: Corpus, name: str) -> Rater:
    """Return the rater called `observed`, `key`, `score:strict` or `score:lenient`, created on first use."""
    if name == KEY:
        return labels.imported_rater(corpus=corpus, kind=Rater.Kind.KEY, name=f"key:{corpus.name}")
    if name not in (OBSERVED, STRICT, LENIENT):
        raise ValueError(f"{name!r} is no rater of answers")
    spec = {"rule": name, "of": SCHEME.key, "version": VERSION}
    return labels.machine_rater(kind=Rater.Kind.METRIC, name=name, spec=spec)


def _answer_ratings(items: QuerySet[Item]) -> Iterator[tuple[int, Answered]]:
    """Yield each rating of each answer with the id of its item."""
    rows = items.order_by("pk").values_list("pk", "turn__text", "turn__extra")
    for item, reply, extra in rows.iterator(BATCH):
        content = _content(extra)
        for rating in labels_of(content, reply) if content else ():
            yield item, rating


def _content(extra: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the data of an answer, {} if a file has too little of it for a score."""
    content = ((extra or {}).get("extra") or {}).get(CONTENT)
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in SCORED):
        return {}
    return content
