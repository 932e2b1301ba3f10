"""Reviews of a suite's material, read from people's labels."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from annotation.models.labels import Label, Occasion
from annotation.work.labels import name_of
from suites.reviews import SubjectAnswers


def answers_by(subject: str, scheme: str, **selection: Any) -> dict[Any, SubjectAnswers]:
    """Return people's current answers by a scheme, by the value of `subject`, a field of the item.

    `selection` selects the labels, such as `item__corpus=corpus`.
    """
    labels = Label.objects.filter(
        **selection,
        question__version__scheme__key=scheme,
        superseded_at=None,
        missing="",
        rater__kind="human",
        occasion__in=[Occasion.MAIN, Occasion.IMPORTED, Occasion.ADJUDICATION],
    ).order_by("pk")
    names = {
        label.rater_id: name_of(label.rater, label.item.corpus_id)
        for label in labels.select_related("rater", "item").order_by("rater_id").distinct("rater_id")
    }
    by_subject: dict[Any, SubjectAnswers] = defaultdict(SubjectAnswers)
    for key_of_subject, rater, occasion, key, number, text in labels.values_list(
        f"item__{subject}", "rater", "occasion", "question__key", "number", "text"
    ):
        value = text if number is None else number
        if occasion == Occasion.ADJUDICATION:
            by_subject[key_of_subject].decided[key] = value
        else:
            by_subject[key_of_subject].by_rater[names[rater]][key] = value
    return dict(by_subject)
