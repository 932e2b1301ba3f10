"""Validity rules of schemes: every rule for a definition, whatever its origin."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

from annotation.kinds import COMPARING, KINDS
from annotation.schemes.definitions import (
    EVIDENCE,
    FIRST,
    LEVELS,
    RANKING,
    SECOND,
    SHORT_NAME,
    UNSCALED,
    QuestionDefinition,
    SchemeDefinition,
    is_met,
)

# Errors in a scheme: the place, with one sentence that says what to do.

Path = tuple[str | int, ...]
LONGEST_SHOWN = 60
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """An invalid field, and the reason.

    `path` leads to it, as in ("questions", 1, "values") for the values of the second question; `place` is the
    same in words, with the line of the file where there is one.
    """

    path: Path
    sentence: str
    place: str = ""

    @property
    def field(self) -> str:
        """The path with dots, as forms name their fields: questions.1.values."""
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}" if self.place else self.sentence


def quoted(value: Any) -> str:
    """Quote a value for a sentence, cut where it is long."""
    text = str(value).replace("\n", " ")
    return f"“{text if len(text) <= LONGEST_SHOWN else f'{text[:LONGEST_SHOWN]}…'}”"


def place(path: Path, key: str = "", line: int | None = None) -> str:
    """Return a path in words: `line 4, question 2 (fluent), values`; `key` is the question's."""
    parts = [f"line {line}"] if line else []
    rest = list(path)
    if rest[:1] == ["questions"] and len(rest) > 1:
        parts.append(f"question {int(rest[1]) + 1}{f' ({quoted(key)[1:-1]})' if key else ''}")
        rest = rest[2:]
    if rest:
        parts.append(".".join(map(str, rest)))
    return ", ".join(parts)


def text_problem(text: str, longest: int, lines: bool = True) -> str:
    """Explain why a text cannot be stored or shown, '' where it can."""
    if _UNSTORABLE.search(text):
        return "It has a character that cannot be stored (NUL or half a surrogate pair): take it out."
    if not lines and ("\n" in text or "\r" in text):
        return "It must be one line."
    if len(text) > longest:
        return f"It has {len(text):,} characters; at most {longest:,} are taken."
    return ""


# Rules of a question's scale: its values, their wordings, and the bounds of an open number.

MOST_VALUES = 101
"""Maximum number of values of a scale: as many as a scale from 0 to 100 has."""
LONGEST_VALUE = 200
LONGEST_ANCHOR = 500
LARGEST = 10**15
"""Numbers up to this one are the same on the page, in the database and in files."""
OPEN = ("interval", "ratio")
Faults = Iterator[tuple[tuple[str | int, ...], str]]


def scale_problems(question: QuestionDefinition, *, names_people: bool = False) -> Faults:
    """Yield the paths, from the question on, and sentences of errors in a question's scale.

    With `names_people` a nominal question without values is answered with a set of participants.
    """
    if names_people and question.level == "nominal" and not question.values:
        return
    yield from _VALUES[question.level](question)
    yield from _positive_problems(question)
    yield from _anchor_problems(question)
    yield from _bound_problems(question)


def _binary(question: QuestionDefinition) -> Faults:
    values = question.values
    if list(values) != [0, 1] or any(isinstance(value, bool) for value in values):
        yield ("values",), "A binary question has the values 0 and 1, in this order."


def _nominal(question: QuestionDefinition) -> Faults:
    values = question.values
    if len(values) < 2:
        yield ("values",), "A nominal question needs at least two values to choose from."
    yield from _too_many(values)
    seen: set[str] = set()
    for index, value in enumerate(values):
        if not isinstance(value, str):
            yield ("values", index), f"{quoted(value)} is not a text: write it in quotes."
        elif not value.strip() or value != " ".join(value.split()):
            yield (
                ("values", index),
                f"{quoted(value)} is empty or has spaces or line breaks that cannot be seen.",
            )
        elif why := text_problem(value, LONGEST_VALUE):
            yield ("values", index), why
        elif value in seen:
            yield ("values", index), f"{quoted(value)} is there twice: take one away."
        else:
            seen.add(value)


def _steps(question: QuestionDefinition) -> Faults:
    """Yield errors in values that must be rising numbers."""
    values = question.values
    yield from _too_many(values)
    wrong = [index for index, value in enumerate(values) if not is_number(value)]
    for index in wrong:
        yield ("values", index), f"{quoted(values[index])} is not a number between -10^15 and 10^15."
    if wrong:
        return
    steps = [float(value) for value in values]
    if any(low >= high for low, high in pairwise(steps)):
        yield ("values",), "The values must rise from the first to the last, none twice."
    if question.level == "ratio" and steps and steps[0] < 0:
        yield ("values",), "A ratio scale has no values below 0: use interval."


def _ordinal(question: QuestionDefinition) -> Faults:
    if len(question.values) < 2:
        yield ("values",), "An ordinal question needs at least two values, lowest first."
    yield from _steps(question)


def _number(question: QuestionDefinition) -> Faults:
    if len(question.values) == 1:
        yield ("values",), "One value leaves no choice: write more, or none for any number."
    yield from _steps(question)


def _text(question: QuestionDefinition) -> Faults:
    if question.values:
        yield ("values",), "A question answered in words has no values: take them out."


def _ranking(question: QuestionDefinition) -> Faults:
    if question.values:
        yield ("values",), "A ranking orders what is shown and has no values of its own: take them out."


def _too_many(values: tuple[Any, ...]) -> Faults:
    if len(values) > MOST_VALUES:
        yield ("values",), f"There are {len(values):,} values; at most {MOST_VALUES} are taken."


_VALUES = {
    "binary": _binary,
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _number,
    "ratio": _number,
    "text": _text,
    "ranking": _ranking,
}


def _positive_problems(question: QuestionDefinition) -> Faults:
    positive = question.positive
    if question.level != "binary":
        if positive is not None:
            yield ("positive",), "Only a binary question has a positive value: take it out."
    elif isinstance(positive, bool) or positive not in (0, 1):
        yield ("positive",), "Say which answer is the positive one: 0 or 1."
    elif question.is_tag and positive != 1:
        yield ("positive",), "A tag that is set is positive: write 1, or word it the other way round."


def _anchor_problems(question: QuestionDefinition) -> Faults:
    for value, text in question.anchors.items():
        if value not in question.values:
            problem = f"{quoted(value)} is not one of its values"
            yield ("anchors", str(value)), f"{problem}: word only values that can be chosen."
        elif not text.strip():
            yield ("anchors", str(value)), "Its wording is empty: write it, or leave it out."
        elif why := text_problem(text, LONGEST_ANCHOR):
            yield ("anchors", str(value)), why


def _bound_problems(question: QuestionDefinition) -> Faults:
    low, high = question.minimum, question.maximum
    if question.level not in OPEN or question.values:
        for name, value in (("minimum", low), ("maximum", high), ("whole", question.whole or None)):
            if value is not None:
                yield (name,), "Only an interval or ratio question without values has bounds: take it out."
        return
    ends = {"minimum": low, "maximum": high}
    wrong = [name for name, value in ends.items() if value is not None and not is_number(value)]
    for name in wrong:
        yield (name,), f"{quoted(ends[name])} is not a number between -10^15 and 10^15."
    if wrong:
        return
    if question.level == "ratio" and (low is None or low < 0):
        yield ("minimum",), "A ratio scale begins at 0: write a minimum of 0 or more, or use interval."
    if low is not None and high is not None and low >= high:
        yield ("maximum",), f"The maximum must be above the minimum, {low:g}."
    for name, value in ends.items():
        if question.whole and value is not None and value != int(value):
            yield (name,), "The answers are whole numbers: write a whole number here, too."


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that is the same everywhere: finite, within ±10^15, not true or false."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST if isinstance(value, int) else math.isfinite(value) and abs(value) <= LARGEST


# Rules of `show_if`: it names an earlier question, and a possible answer to it.

FIELDS = ("question", "min", "max", "in")


def condition_problems(
    question: QuestionDefinition,
    before: Sequence[QuestionDefinition],
    after: Sequence[QuestionDefinition],
) -> Faults:
    """Yield the paths and sentences of errors in a question's `show_if`; `after` begins with the question."""
    condition = question.show_if
    if condition is None:
        return
    if unknown := [name for name in condition if name not in FIELDS]:
        yield ("show_if", unknown[0]), f"There is no condition {quoted(unknown[0])}: write min, max or in."
        return
    key = condition.get("question")
    awaited = next((earlier for earlier in before if earlier.key == key), None)
    if awaited is None:
        yield ("show_if", "question"), _no_question(question, key, after)
    elif awaited.level in UNSCALED:
        yield (
            ("show_if", "question"),
            f"{quoted(key)} is answered in words or with an order, which cannot decide what is asked.",
        )
    elif awaited.level in LEVELS:
        yield from _answer_problems(condition, awaited)


def _no_question(question: QuestionDefinition, key: Any, after: Sequence[QuestionDefinition]) -> str:
    if not key:
        return "Say after which earlier question it is asked."
    if key == question.key:
        return "A question cannot wait for its own answer: name an earlier one."
    if any(later.key == key for later in after):
        return f"{quoted(key)} comes later: move it before this question, or name an earlier one."
    return f"There is no question {quoted(key)} before this one."


def _answer_problems(condition: Any, awaited: QuestionDefinition) -> Faults:
    ends = {name: condition[name] for name in ("min", "max") if name in condition}
    if not ends and "in" not in condition:
        yield ("show_if",), "Say after which answers it is asked: min, max or in."
    elif ends and "in" in condition:
        yield ("show_if", "in"), "Write either in, or min and max, not both."
    elif "in" in condition:
        yield from _list_problems(condition["in"], awaited)
    elif awaited.level == "nominal":
        yield ("show_if",), "Answers to a nominal question have no order: write in with a list of them."
    else:
        yield from _range_problems(ends, condition, awaited)


def _list_problems(answers: Any, awaited: QuestionDefinition) -> Faults:
    if not isinstance(answers, list | tuple) or not answers:
        yield ("show_if", "in"), f"Write a list of answers to {quoted(awaited.key)}."
        return
    if len(answers) > MOST_VALUES:
        yield ("show_if", "in"), f"There are {len(answers):,} answers; at most {MOST_VALUES} are taken."
        return
    if awaited.is_open:
        yield ("show_if", "in"), f"{quoted(awaited.key)} takes any number: write min or max."
        return
    for index, value in enumerate(answers):
        if isinstance(value, bool) or value not in awaited.values:
            values = ", ".join(str(value) for value in awaited.values[:12])
            yield (
                ("show_if", "in"),
                f"{quoted(value)} is not an answer to {quoted(awaited.key)}: it takes {values}.",
            )
        elif value in answers[:index]:
            yield ("show_if", "in"), f"{quoted(value)} is there twice."


def _range_problems(ends: dict[str, Any], condition: Any, awaited: QuestionDefinition) -> Faults:
    wrong = [name for name, end in ends.items() if not is_number(end)]
    for name in wrong:
        yield ("show_if", name), f"{quoted(ends[name])} is not a number."
    if wrong:
        return
    if awaited.is_open:
        can = _overlaps(ends, awaited)
    else:
        can = any(is_number(value) and is_met(condition, {awaited.key: value}) for value in awaited.values)
    if not can:
        yield ("show_if",), f"No answer to {quoted(awaited.key)} is like this, so it would never be asked."


def _overlaps(ends: dict[str, float], question: QuestionDefinition) -> bool:
    """Whether some answer to an open number is between the ends."""
    low = max([end for end in (ends.get("min"), question.minimum) if is_number(end)], default=-math.inf)
    high = min([end for end in (ends.get("max"), question.maximum) if is_number(end)], default=math.inf)
    if question.whole and math.isfinite(low) and math.isfinite(high):
        return math.ceil(low) <= math.floor(high)
    return low <= high


# Rules of evidence: which answers of a question have turns, or words in them, as evidence.

EVIDENCE_KEY = "e"
"""Key that starts selecting evidence, on the annotator's page of a scheme that asks for it."""


def evidence_problems(question: QuestionDefinition) -> Faults:
    """Yield the paths, from the question on, and sentences of errors in a question's evidence."""
    if question.evidence and question.evidence not in EVIDENCE:
        yield (
            ("evidence",),
            f"There is no evidence {quoted(question.evidence)}: write {', '.join(EVIDENCE)} or none.",
        )
    if not question.evidence:
        if question.evidence_required:
            yield ("evidence_required",), "Say what the answers point at: evidence: turns, or spans."
        if question.evidence_for:
            yield ("evidence_for",), "Say what these answers point at: evidence: turns, or spans."
        return
    yield from _value_problems(question)


def _value_problems(question: QuestionDefinition) -> Faults:
    if question.evidence_for and not question.values:
        yield (
            ("evidence_for",),
            "Only answers that are chosen from a list can be named: leave it out for all of them.",
        )
        return
    for index, value in enumerate(question.evidence_for):
        if isinstance(value, bool) or value not in question.values:
            values = ", ".join(str(value) for value in question.values[:12])
            yield ("evidence_for",), f"{quoted(value)} is not an answer to this question: it takes {values}."
        elif value in question.evidence_for[:index]:
            yield ("evidence_for",), f"{quoted(value)} is there twice."
        elif question.is_tag and value == 0:
            yield ("evidence_for",), "A tag that is not set has nothing to point at: take 0 out."


KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
LONGEST_KEY = 80
LONGEST_NAME = 120
MOST_QUESTIONS = 100
RESERVED = ("check", "diff", "import", "new", "preview")
UNITS = ("item", "continuation")
TURN, DIALOGUE, DECISION = "turn", "dialogue", "decision"
HELP_FIELDS = ("definition", "example", "not_this", "keep_in_mind")
LONGEST = {"title": 200, "introduction": 5_000, "guidelines": 50_000, "source": 1_000}
LONGEST_WORDING = 1_000
LONGEST_HELP = 5_000
PAGE_KEYS = {
    "u": "undoes the last change",
    "p": "goes back to the task before",
    "c": "opens the comment",
    "m": "flags the task",
    "x": "skips the task",
    "g": "opens the guidelines",
    "v": "shows transcription marks",
    "?": "lists the keys",
}
"""Keys used by the annotator's page itself (`static/js/annotate.js`, `static/js/annotate/keys.js`)."""


def problems(scheme: SchemeDefinition) -> list[Problem]:
    """Return all errors in a scheme, [] for a valid one."""
    faults = [Problem(path, sentence, place(path)) for path, sentence in _scheme_problems(scheme)]
    for index, question in enumerate(scheme.questions):
        for rest, sentence in _question_problems(scheme, index):
            path = ("questions", index, *rest)
            faults.append(Problem(path, sentence, place(path, question.key)))
    return faults


def _scheme_problems(scheme: SchemeDefinition) -> Faults:
    if why := _key_problem(scheme.key):
        yield ("key",), why
    elif scheme.key in RESERVED:
        yield ("key",), f"{quoted(scheme.key)} is a word that addresses use: choose another key."
    if not scheme.title.strip():
        yield ("title",), "Give the scheme a title."
    for name, longest in LONGEST.items():
        if why := text_problem(getattr(scheme, name), longest, lines=name != "title"):
            yield (name,), why
    if not scheme.item_kind:
        yield ("item_kind",), f"Say what the questions are about: {_join_with_or(KINDS)}."
    elif scheme.item_kind not in KINDS:
        yield (
            ("item_kind",),
            f"There is no kind of item {quoted(scheme.item_kind)}: write {_join_with_or(KINDS)}.",
        )
    if scheme.unit not in UNITS:
        yield ("unit",), f"There is no unit {quoted(scheme.unit)}: write {_join_with_or(UNITS)}."
    elif scheme.unit == "continuation" and scheme.item_kind in KINDS and not KINDS[scheme.item_kind].has_turn:
        yield ("unit",), "Questions about the whole are asked once: write item. Continuation is for turns."
    if not scheme.questions:
        yield ("questions",), "A scheme needs at least one question."
    elif all(question.item_kind == DIALOGUE for question in scheme.questions):
        yield (
            ("item_kind",),
            f"All its questions are about the whole: write {DIALOGUE} here, not at each of them.",
        )
    if len(scheme.questions) > MOST_QUESTIONS:
        yield (
            ("questions",),
            f"There are {len(scheme.questions):,} questions; at most {MOST_QUESTIONS} are taken.",
        )


def _question_problems(scheme: SchemeDefinition, index: int) -> Faults:
    question, before = scheme.questions[index], scheme.questions[:index]
    if why := _key_problem(question.key):
        yield ("key",), why
    elif any(other.key == question.key for other in before):
        number = next(n for n, other in enumerate(before, start=1) if other.key == question.key)
        yield (
            ("key",),
            f"Question {number} has the key {quoted(question.key)}, too: give one of them another.",
        )
    if not question.wording.strip():
        yield ("wording",), "Say what is asked."
    elif why := text_problem(question.wording, LONGEST_WORDING):
        yield ("wording",), why
    if why := text_problem(question.short_name, SHORT_NAME, lines=False):
        yield ("short_name",), why
    elif question.short_name != " ".join(question.short_name.split()):
        yield ("short_name",), "Take the spaces at its ends, and double ones, away."
    if question.level not in LEVELS:
        yield ("level",), f"There is no level {quoted(question.level)}: write {_join_with_or(LEVELS)}."
    else:
        yield from scale_problems(question, names_people=scheme.item_kind == DECISION)
        yield from _comparing_problems(scheme.item_kind, question)
    yield from _kind_problems(scheme, question, before)
    yield from _group_problems(question, before)
    yield from _help_problems(question.help)
    yield from _shortcut_problems(question, before)
    if question.shortcut == EVIDENCE_KEY and any(other.evidence for other in scheme.questions):
        yield (
            ("shortcut",),
            f"{EVIDENCE_KEY} points at turns where a question asks for evidence: choose another key.",
        )
    yield from evidence_problems(question)
    if question.evidence and scheme.item_kind in COMPARING:
        yield ("evidence",), "An answer about a comparison points at nothing: leave evidence out."
    yield from condition_problems(question, before, scheme.questions[index:])


def _kind_problems(
    scheme: SchemeDefinition, question: QuestionDefinition, before: tuple[QuestionDefinition, ...]
) -> Faults:
    """Yield the reasons why a question cannot be about another kind of item than its scheme."""
    own = scheme.kind_of(question)
    if question.item_kind and question.item_kind not in KINDS:
        yield (
            ("item_kind",),
            f"There is no kind of item {quoted(question.item_kind)}: write {TURN} or {DIALOGUE}.",
        )
    elif question.item_kind and (scheme.item_kind, own) != (TURN, DIALOGUE):
        reason = "questions about the whole stand beside questions about turns, in a scheme about turns"
        yield ("item_kind",), f"A scheme about {_plural(scheme.item_kind)} asks about nothing else: {reason}."
    elif question.item_kind and scheme.unit != "continuation":
        yield ("item_kind",), "It is asked beside all turns of a continuation: write unit: continuation."
    awaited = question.show_if and next(
        (o for o in before if o.key == question.show_if.get("question")), None
    )
    if awaited and scheme.kind_of(awaited) != own:
        reason = "a question about the whole waits for no single turn, and one about a turn not for the whole"
        yield ("show_if", "question"), f"{quoted(awaited.key)} is asked about something else: {reason}."
    beside = next((other for other in before if question.group and other.group == question.group), None)
    if beside and scheme.kind_of(beside) != own:
        yield (
            ("group",),
            f"The group {quoted(question.group)} has questions about turns and about the whole: make it two.",
        )


def _plural(kind: str) -> str:
    return KINDS[kind].plural if kind in KINDS else "something else"


def _comparing_problems(kind: str, question: QuestionDefinition) -> Faults:
    """Yield the reasons why a question cannot be about a kind of item: comparisons belong to pairs."""
    named_sides = {FIRST, SECOND} & set(question.values)
    if question.level == RANKING and kind != "ranking":
        yield ("level",), "Only items of the kind ranking can be put into an order: choose another level."
    elif kind == "pair" and named_sides and not question.is_comparison:
        rule = "has first and second, and may have tie and both_bad, but nothing else"
        yield ("values",), f"A question that compares the two {rule}."


def _key_problem(key: str) -> str:
    if not key:
        return "Give it a key, such as how_fluent: files, exports and programs name it by this."
    if not KEY.fullmatch(key):
        return f"{quoted(key)} is not a key: small letters, digits and single _ between them, a letter first."
    return f"A key has at most {LONGEST_KEY} characters." if len(key) > LONGEST_KEY else ""


def _group_problems(question: QuestionDefinition, before: tuple[QuestionDefinition, ...]) -> Faults:
    group = question.group
    if not group:
        return
    if question.level in LEVELS and question.level not in ("binary", "text"):
        yield ("group",), "Only binary questions (tags) and texts beside them stand in a group: take it out."
    elif group != group.strip():
        yield ("group",), "Take the spaces around the group's name away."
    elif why := text_problem(group, LONGEST_NAME, lines=False):
        yield ("group",), why
    elif before and before[-1].group != group and any(other.group == group for other in before):
        yield (
            ("group",),
            f"The questions of the group {quoted(group)} must stand together: move this one to them.",
        )


def _help_problems(texts: Mapping[str, str]) -> Faults:
    for name, text in texts.items():
        if name not in HELP_FIELDS:
            yield ("help", name), f"There is no help {quoted(name)}: write {_join_with_or(HELP_FIELDS)}."
        elif not text.strip():
            yield ("help", name), "It is empty: write it, or leave it out."
        elif why := text_problem(text, LONGEST_HELP):
            yield ("help", name), why


def _shortcut_problems(question: QuestionDefinition, before: tuple[QuestionDefinition, ...]) -> Faults:
    key = question.shortcut
    if not key:
        return
    if len(key) != 1 or not "!" <= key <= "~" or key.isupper():
        yield ("shortcut",), f"{quoted(key)} is not one key: write a small letter, or a sign such as + or #."
    elif key.isdigit():
        yield ("shortcut",), f"Digits choose values, so {key} cannot be a question's own key: write a letter."
    elif key in PAGE_KEYS:
        yield ("shortcut",), f"{key} {PAGE_KEYS[key]} on the annotator's page: choose another key."
    elif question.level in LEVELS and not question.is_tag:
        yield ("shortcut",), "Only tags (binary questions with a group) have a key of their own: take it out."
    elif other := next((other for other in before if other.shortcut == key), None):
        yield ("shortcut",), f"{key} is the key of {quoted(other.key)} already: choose another."


def _join_with_or(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"
