"""Uses that come with a file, against what can be known when (`docs/questions.md`).

A file of LongDialQA does not say which sessions answer a question, nor which facts it is about. What can be
checked without that is checked; the keys of the file stand, and what differs is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from annotation.formats.longdialqa_lines import MONTHS
from annotation.formats.longform import TOLD
from annotation.records import Dialogue
from annotation.scripts.checking import check, unchecked
from annotation.scripts.records import Date, Use
from annotation.scripts.sessions import Sessions

UNANSWERABLE = ("before_event_unans", "dont_know_unans", "dont_know_unans_time", "future", "unheard")
DAY = re.compile(
    rf"\b(?P<month>{'|'.join(MONTHS)})\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<year>\d{{4}})\b",
    re.IGNORECASE,
)
YEAR = re.compile(r"\bin\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)


@dataclass(slots=True)
class _Checked:
    """A use with the number and date of its session, and what its question's other uses say.

    `named` are the dates in the question's text. `answered` and `current` are the first session in which the
    question is answerable, and in which a fact holds; None where there is none.
    """

    use: Use
    number: int
    date: Date
    named: tuple[Date, ...]
    answered: int | None
    current: int | None


@dataclass(slots=True)
class _Firsts:
    """The first sessions of a question's uses, by what they say."""

    answered: dict[str, int] = field(default_factory=dict)
    current: dict[str, int] = field(default_factory=dict)


def _key_against_type(it: _Checked) -> bool:
    hops = it.use.type.split("_") if it.use.type not in UNANSWERABLE else [it.use.type]
    return it.use.answerable == any(hop in UNANSWERABLE for hop in hops)


def _never_known(it: _Checked) -> bool:
    return it.use.type.startswith("dont_know") and it.answered is not None


def _answered_before(it: _Checked) -> bool:
    return it.use.type == "before_event_unans" and it.answered is not None and it.answered <= it.number


def _past_not_past(it: _Checked) -> bool:
    return it.use.type == "past" and any(not date.before(it.date) for date in it.named)


def _known_future(it: _Checked) -> bool:
    return it.use.type == "future" and it.current is not None and it.current <= it.number


UNHEARD = "uses in sessions without the main character, which are never asked"
OTHER_KEY = "uses whose answer is another than elsewhere, or than the rules have it"
CHECKS: tuple[tuple[str, Callable[[_Checked], bool]], ...] = (
    ("uses whose key does not go with their type", _key_against_type),
    ("uses that say that the main character can never know what another session answers", _never_known),
    ("uses that say that the evidence comes later, after the question could be answered", _answered_before),
    ("questions about the past whose own date is not before that of their session", _past_not_past),
    ("questions about the future that a session before could answer", _known_future),
)


def differences(record: Dialogue, paths: Mapping[str, str]) -> Iterator[str]:
    """Yield what is to be told of the uses of a dialogue that a file brought, with the first sessions.

    `paths` are the places of its sessions in the file.
    """
    uses = [use for one in record.question_sets for use in one.uses]
    if not uses:
        return
    silent = len(unchecked(record, record.questions))
    yield (
        f"{len(uses)} uses were checked as far as the file allows, and its keys stand: of {silent} of "
        f"{len(record.questions)} questions it says neither the evidence nor the facts"
    )
    faults: dict[str, list[tuple[str, str]]] = {UNHEARD: [], OTHER_KEY: []}
    for fault in check(record, record.questions, uses):
        faults[UNHEARD if fault.file == "asked" else OTHER_KEY].append((fault.question, fault.session))
    checked = list(_checked(record, uses))
    for told, wrong in CHECKS:
        faults[told] = [(it.use.question, it.use.session) for it in checked if wrong(it)]
    for told, several in faults.items():
        if several:
            places = [f"{question} in {paths[session]}" for question, session in several[:TOLD]]
            yield f"{told}: {len(several)} ({', '.join(places)})"


def _checked(record: Dialogue, uses: list[Use]) -> Iterator[_Checked]:
    sessions = Sessions(record)
    named = {one.id: tuple(dates_in(one.text)) for one in record.questions}
    firsts = _firsts(sessions, uses)
    for use in uses:
        number = sessions.numbers[use.session]
        yield _Checked(
            use=use,
            number=number,
            date=sessions[number].date,
            named=named[use.question],
            answered=firsts.answered.get(use.question),
            current=firsts.current.get(use.question),
        )


def _firsts(sessions: Sessions, uses: list[Use]) -> _Firsts:
    firsts = _Firsts()
    for use in uses:
        number = sessions.numbers[use.session]
        for there, told in ((use.answerable, firsts.answered), (use.type == "current", firsts.current)):
            if there and number < told.get(use.question, number + 1):
                told[use.question] = number
    return firsts


def dates_in(text: str) -> Iterator[Date]:
    """Yield the dates that a question names: a day or month with its year, or `in` and a year."""
    for match in DAY.finditer(text):
        try:
            yield Date(
                int(match["year"]),
                MONTHS.index(match["month"].lower()) + 1,
                int(match["day"]) if match["day"] else None,
            )
        except ValueError:
            continue  # a day that no month has: the question names none
    for match in YEAR.finditer(text):
        yield Date(int(match["year"]))
