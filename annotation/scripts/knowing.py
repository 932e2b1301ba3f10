"""What the main character can know of a fact in a session, and how a question about it is worded there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from annotation.scripts.graph import Graph, Stated
from annotation.scripts.records import FORMS, Form


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How a question stands in a session: a form per hop, its type, whether it has an answer, and the rule.

    Without forms it is excluded. There is one object for each way of standing, so they compare by identity.
    """

    forms: tuple[Form, ...]
    type: str
    answerable: bool
    rule: str


TYPES: dict[Form, str] = {"undated": "undated", "present": "current", "past": "past"}
KNOWN = {form: Standing((form,), TYPES[form], True, "heard") for form in FORMS}
FUTURE = {form: Standing((form,), "future", False, "said later") for form in FORMS if form != "past"}
UNHEARD = {form: Standing((form,), "unheard", False, "not heard") for form in FORMS}


@cache
def excluded(rule: str) -> Standing:
    """Return the standing of what is not asked, by the rule that says so."""
    return Standing((), "", False, rule)


OVERLAP = excluded("dates overlap")
SAME_DAY = excluded("said later on the same date")
BACKWARDS = excluded("dates against the order of sessions")
SAME_SESSION = excluded("same session")
PARTLY = excluded("partly heard")
ANSWERED = excluded("another fact may answer")
STANDINGS = (
    *KNOWN.values(),
    *FUTURE.values(),
    *UNHEARD.values(),
    *(OVERLAP, SAME_DAY, BACKWARDS, SAME_SESSION, PARTLY, ANSWERED),
)


def standing(graph: Graph, stated: Stated, t: int) -> Standing:
    """Say how a question about a fact stands in session `t`, by the table of one hop.

    A fact of the session itself is known where its turns are: it is asked about only after them.
    """
    if t < stated.number:
        return _before(graph, stated, t)
    if t == stated.number:
        if stated.heard != "all" or stated.since is None:
            return SAME_SESSION
        return KNOWN["present" if stated.relation.dated else "undated"]
    form = _form(graph, stated, t)
    if isinstance(form, Standing):
        return form
    if stated.heard == "all":
        return KNOWN[form]
    if stated.heard == "part":
        return PARTLY
    return ANSWERED if graph.may_know(stated.topic, t) else UNHEARD[form]


def standings(graph: Graph, stated: Stated) -> list[Standing]:
    """Return how a question about a fact stands in each session in which the main character is asked."""
    return [standing(graph, stated, t) for t in graph.asked]


def _before(graph: Graph, stated: Stated, t: int) -> Standing:
    order = graph.calendar.order(t, stated.number)
    if order != "before":
        return {"same": SAME_DAY, "after": BACKWARDS, "overlap": OVERLAP}[order]
    if graph.may_know(stated.topic, t):
        return ANSWERED
    return FUTURE["present" if stated.relation.dated else "undated"]


def _form(graph: Graph, stated: Stated, t: int) -> Form | Standing:
    """Return the form in which a fact of an earlier session is asked about, or why it is not."""
    if not stated.relation.dated:
        return "undated"
    order = graph.calendar.order(stated.number, t)
    if order == "before":
        return "past"
    if order == "same":
        return "present"
    return BACKWARDS if order == "after" else OVERLAP
