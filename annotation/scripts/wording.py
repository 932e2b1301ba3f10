"""The texts of questions: from facts and the forms of their relations, and a date put into one."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.scripts.dates import when
from annotation.scripts.graph import Stated
from annotation.scripts.records import Date, Form
from annotation.scripts.relations import NOW, Relation
from annotation.text.tokens import fold, is_unspaced

_ENDS = "?!. "


def question_text(hops: Sequence[tuple[Relation, Form, Date]], head: str) -> str:
    """Return the question about a head over one or two hops, each in its form; a past one names its date.

    "Who is now the boss of the person who was Ana's roommate on May 3rd, 1995?"
    """
    if len(hops) == 1:
        relation, form, date = hops[0]
        return _filled(relation.wording[form], date, head=head)
    (first, form, date), (second, other, later) = hops
    person = _filled(first.first[_hop(form, other)], date, head=head)
    return _filled(second.second[_hop(other, form)], later, person=person)


def question_about(facts: Sequence[Stated], forms: Sequence[Form], dates: Sequence[Date]) -> str:
    """Return the question about one or two facts of these dates, worded in these forms."""
    hops = [(each.relation, form, date) for each, form, date in zip(facts, forms, dates, strict=True)]
    return question_text(hops, facts[0].fact.head)


def with_date(text: str, date: Date) -> str:
    """Return a question with a date before its final mark: "How did she pay on May 3rd, 1995?"."""
    body = text.rstrip(_ENDS)
    return f"{body} {when(date)}{text[len(body) :].strip() or '?'}"


def occurs(part: str, text: str) -> bool:
    """Whether a text holds another one, after folding, as whole words; in Han, kana and Thai anywhere."""
    part, text = fold(part), fold(text)
    if not part:
        return False
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _continues(before, part[0]) and not _continues(after, part[-1]):
            return True
        start = text.find(part, start + 1)
    return False


def _hop(form: Form, other: Form) -> str:
    """Return the wording of a hop beside another: a present one says `now` beside the past."""
    return NOW if form == "present" and other == "past" else form


def _filled(wording: str, date: Date, **names: str) -> str:
    adverb = when(date)
    return wording.format(when=adverb, When=adverb[0].upper() + adverb[1:], **names)


def _continues(neighbour: str, edge: str) -> bool:
    """Whether a neighbouring character makes a word longer."""
    if not neighbour or not (neighbour.isalnum() and edge.isalnum()):
        return False
    return not is_unspaced(neighbour) and not is_unspaced(edge)
