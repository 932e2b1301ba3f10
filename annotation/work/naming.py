"""Answers that name people: who is named takes part, and one set is always written in the same way."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.errors import AnswerRefused
from annotation.models import Item
from annotation.scheme_versions.asked import Questionnaire
from annotation.schemes.cascade import JOIN, NOBODY, written
from annotation.work.checking import Given


def with_people(*, plan: Questionnaire, given: Sequence[Given]) -> list[Given]:
    """Return answers with their sets of people in order; a query where a question asks for such a set.

    Raises AnswerRefused for somebody who takes no part in the dialogue.
    """
    asking = {question.id: question for question in plan.questions if question.names_people}
    if not asking:
        return list(given)
    items = {answer.item for answer in given if answer.question in asking}
    rows = Item.objects.filter(pk__in=items).values_list("pk", "continuation__dialogue__participants")
    known = {pk: [person["id"] for person in people] for pk, people in rows}
    found = []
    for answer in given:
        if answer.question not in asking:
            found.append(answer)
            continue
        ids = [] if answer.value == NOBODY else [one.strip() for one in str(answer.value).split(JOIN)]
        for one in ids:
            if one not in known[answer.item]:
                told = f"“{asking[answer.question].wording}” names {one[:60]!r}"
                there = ", ".join(known[answer.item])
                raise AnswerRefused(f"{told}, who takes no part: there are {there}, or {NOBODY}.")
        found.append(answer._replace(value=written(frozenset(ids))))
    return found
