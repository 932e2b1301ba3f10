"""Whether the main character can know the answer of a quiz question in a session; wording and choices."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, permutations
from typing import Literal

from annotation.script_records import LETTERS, Date, Form
from annotation.text.draws import u
from annotation.text.words import fold, is_unspaced
from suites.long_dialogue.scripts.graph import NOW, Graph, Relation, Stated
from suites.long_dialogue.scripts.sessions import when

# Texts of questions: from facts and the forms of their relations, with a date inserted.

_ENDS = "?!. "


def question_text(hops: Sequence[tuple[Relation, Form, Date]], head: str) -> str:
    """Return the question about a head over one or two hops, each in its form; a past hop names its date.

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
    """Insert a date before a question's final mark: "How did she pay on May 3rd, 1995?"."""
    body = text.rstrip(_ENDS)
    return f"{body} {when(date)}{text[len(body) :].strip() or '?'}"


def occurs(part: str, text: str) -> bool:
    """Whether a text contains another one, folded, as whole words; in Han, kana and Thai anywhere."""
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
    """Return the wording of a hop next to another: a present hop says `now` next to a past one."""
    return NOW if form == "present" and other == "past" else form


def _filled(wording: str, date: Date, **names: str) -> str:
    adverb = when(date)
    return wording.format(when=adverb, When=adverb[0].upper() + adverb[1:], **names)


def _continues(neighbour: str, edge: str) -> bool:
    """Whether a neighbouring character continues a word."""
    if not neighbour or not (neighbour.isalnum() and edge.isalnum()):
        return False
    return not is_unspaced(neighbour) and not is_unspaced(edge)


# Conditions on a question in a speaker's own words: nothing is lost, and no answer is given away.

MARKS = "?？؟"
_MONTHS = frozenset(calendar.month_name[1:])
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?:]\s*$")
_SPELT = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_NUMBERS = {word: str(number) for number, word in enumerate(_SPELT, start=2)}


def style_faults(
    original: str, styled: str, choices: Iterable[str], names: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the faults of a styled question against the original, one per line; () without any.

    Every name (of `names`, and every capitalised word inside a sentence), month and number of the original
    must occur, spelt out or in digits; no choice may occur that is not in the original; and it needs a
    question mark.
    """
    faults = [f"lacks the name {name!r}" for name in _names(original, names) if not occurs(name, styled)]
    numbers = _numbers(styled)
    faults += [f"lacks the number {number}" for number in _numbers(original) if number not in numbers]
    faults += [
        f"gives the choice {choice!r} away"
        for choice in choices
        if occurs(choice, styled) and not occurs(choice, original)
    ]
    if not any(mark in styled for mark in MARKS):
        faults.append("has no question mark")
    return tuple(faults)


def _names(text: str, names: Iterable[str]) -> list[str]:
    """Return the names in a text in a fixed order: known names, months, and capitalised words within it."""
    occurring = [name for name in names if occurs(name, text)]
    capital = [
        word.group()
        for word in _WORD.finditer(text)
        if word.group()[0].isupper() and (word.group() in _MONTHS or not _begins(text[: word.start()]))
    ]
    return list(dict.fromkeys([*occurring, *(word for word in capital if word != "I")]))


def _begins(before: str) -> bool:
    """Whether a sentence begins after this text."""
    return not before.strip(" \"'“‘(¿") or _SENTENCE_END.search(before) is not None


def _numbers(text: str) -> list[str]:
    """Return the distinct numbers of a text, in digits."""
    spelt = (_NUMBERS[word] for word in _WORD.findall(text.casefold()) if word in _NUMBERS)
    return list(dict.fromkeys([*_DIGITS.findall(text), *spelt]))


# Choices of questions about facts: three wrong answers beside the right one, and their order in each use.

CHOICES = 4
ORDERS = tuple("".join(order) for order in permutations("0123"))
"""The 24 orders of four choices."""
KEYS = {(order, place): LETTERS[order.index(str(place))] for order in ORDERS for place in range(CHOICES)}
"""Letter at which an order shows the choice at a position."""


def drawn_order(seed: int, question: str, session: str) -> str:
    """Draw the order of a question's choices in a session, uniformly among the 24."""
    return ORDERS[int(u(seed, "order", question, session) * len(ORDERS))]


class Tails:
    """Candidates for wrong answers: the tails of facts by relation and by type, as first written."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _by_relation(self) -> dict[str, dict[str, str]]:
        return self._by(lambda each: each.relation.key)

    @cached_property
    def _by_type(self) -> dict[str, dict[str, str]]:
        return self._by(lambda each: each.relation.tail)

    def _by(self, group: Callable[[Stated], str]) -> dict[str, dict[str, str]]:
        tails: dict[str, dict[str, str]] = {}
        for each in self._graph.stated:
            tails.setdefault(group(each), {}).setdefault(each.tail, each.fact.tail)
        return tails

    def wrong(
        self, last: Stated, barred: Collection[str], people: Collection[str], seed: int, key: str
    ) -> tuple[str, ...]:
        """Return three wrong answers about the last fact of a question, fewer if there are not enough.

        Tails of the same head at other dates come first, then of the same relation, then of the same type,
        each group in an order determined by seed and key. None is, after folding, one of `barred` or equal to
        another, and none names one of the `people` in the question.
        """
        same_head = {each.tail: each.text for each in self._graph.readings[last.topic] if each.direct}
        groups = (same_head, self._by_relation[last.relation.key], self._by_type[last.relation.tail])
        selected: dict[str, str] = {}
        for tails in groups:
            if len(selected) == CHOICES - 1:
                break
            candidates = (tail for tail in tails if tail not in barred and tail not in selected)
            fit = (
                tail
                for tail in _shuffled(candidates, seed, key)
                if not any(occurs(person, tail) for person in people)
            )
            for tail in islice(fit, CHOICES - 1 - len(selected)):
                selected[tail] = tails[tail]
        return tuple(selected.values())


def _shuffled(tails: Iterable[str], seed: int, key: str) -> list[str]:
    return sorted(tails, key=lambda tail: (u(seed, "wrong", key, tail), tail))


def placed(answer: str, wrong: Iterable[str], seed: int, key: str) -> tuple[str, ...]:
    """Mix the answer with the wrong ones, in an order that does not reveal it."""
    return tuple(sorted((answer, *wrong), key=lambda text: (u(seed, "placed", key, text), text)))


Kind = Literal["answerable", "unanswerable", "excluded"]
Policy = Literal["body", "appendix"]

POLICIES: tuple[Policy, ...] = ("body", "appendix")
"""Whether a question before its evidence is unanswerable (the paper's body) or left out (its appendix)."""
HEARD, HEARD_DATED = "ans_wo_time", "ans_w_time"
BEFORE = "before_event_unans"
ABSENT, ABSENT_DATED = "dont_know_unans", "dont_know_unans_time"
_DATED = {HEARD: HEARD_DATED, ABSENT: ABSENT_DATED}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a question in a session: answerable or not, its type ('' if excluded), and the reason.

    `sessions` are the numbers of the deciding sessions, `rule` names the rule.
    """

    kind: Kind
    type: str
    sessions: tuple[int, ...]
    rule: str


def quiz_use(
    heard: Collection[int], evidence: Collection[int], evidence_all: bool, t: int, policy: Policy = "body"
) -> Verdict:
    """Decide whether a question is answerable in session `t`.

    Sessions are numbers from 1, and `heard` are those with the main character. `evidence` are the sessions
    that give the answer, of which one suffices, or all are needed. Where the asking session itself would
    decide, the use is excluded: the evidence may lie on either side of the asking point.
    """
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy; those are {', '.join(POLICIES)}")
    heard_evidence = sorted(number for number in set(evidence) if number in heard)
    if not heard_evidence:
        return Verdict("unanswerable", ABSENT, tuple(sorted(evidence)), "not there")
    if not evidence_all:
        return _one_suffices(heard_evidence, t, policy)
    if len(heard_evidence) < len(set(evidence)):
        return Verdict("excluded", "", tuple(heard_evidence), "partly there")
    return _all_needed(heard_evidence, t, policy)


def dated(verdict: Verdict) -> Verdict:
    """Return the verdict for a question's variant with a date in its text: excluded before the evidence."""
    if verdict.kind == "excluded":
        return verdict
    if verdict.type == BEFORE:
        return Verdict("excluded", "", verdict.sessions, "the date would tell")
    return replace(verdict, type=_DATED[verdict.type])


def _one_suffices(heard_evidence: list[int], t: int, policy: Policy) -> Verdict:
    if heard_evidence[0] < t:
        return Verdict("answerable", HEARD, (heard_evidence[0],), "heard")
    if t in heard_evidence:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(heard_evidence), policy)


def _all_needed(heard_evidence: list[int], t: int, policy: Policy) -> Verdict:
    if heard_evidence[-1] < t:
        return Verdict("answerable", HEARD, tuple(heard_evidence), "all heard")
    if heard_evidence[-1] == t:
        return Verdict("excluded", "", (t,), "same session")
    return _before(tuple(heard_evidence), policy)


def _before(heard_evidence: tuple[int, ...], policy: Policy) -> Verdict:
    if policy == "appendix":
        return Verdict("excluded", "", heard_evidence, "before the evidence")
    return Verdict("unanswerable", BEFORE, heard_evidence, "before the evidence")
