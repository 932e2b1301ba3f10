"""What a scheme must be like to be asked: every rule over a definition, whoever made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.kinds.table import COMPARING, KINDS
from annotation.schemes.base import LEVELS, QuestionDefinition, SchemeDefinition
from annotation.schemes.comparisons import FIRST, RANKING, SECOND
from annotation.schemes.conditions import condition_problems
from annotation.schemes.evidence import KEY as EVIDENCE_KEY
from annotation.schemes.evidence import evidence_problems
from annotation.schemes.problems import Problem, named, place, text_problem
from annotation.schemes.scales import scale_problems

KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
LONGEST_KEY = 80
LONGEST_NAME = 120
MOST_QUESTIONS = 100
RESERVED = ("check", "diff", "import", "new", "preview")
UNITS = ("item", "continuation")
TURN, WHOLE, DECISION = "turn", "dialogue", "decision"
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
"""Keys of the annotator's page itself (`static/js/annotate.js`, `static/js/annotate/keys.js`)."""
Found = Iterator[tuple[tuple[str | int, ...], str]]


def problems(scheme: SchemeDefinition) -> list[Problem]:
    """Return everything that is wrong with a scheme, [] for one that can be asked."""
    found = [Problem(path, sentence, place(path)) for path, sentence in _scheme_problems(scheme)]
    for index, question in enumerate(scheme.questions):
        for rest, sentence in _question_problems(scheme, index):
            path = ("questions", index, *rest)
            found.append(Problem(path, sentence, place(path, question.key)))
    return found


def _scheme_problems(scheme: SchemeDefinition) -> Found:
    if why := _key_problem(scheme.key):
        yield ("key",), why
    elif scheme.key in RESERVED:
        yield ("key",), f"{named(scheme.key)} is a word that addresses use: choose another key."
    if not scheme.title.strip():
        yield ("title",), "Give the scheme a title."
    for name, longest in LONGEST.items():
        if why := text_problem(getattr(scheme, name), longest, lines=name != "title"):
            yield (name,), why
    if not scheme.item_kind:
        yield ("item_kind",), f"Say what the questions are about: {_listed(KINDS)}."
    elif scheme.item_kind not in KINDS:
        yield ("item_kind",), f"There is no kind of item {named(scheme.item_kind)}: write {_listed(KINDS)}."
    if scheme.unit not in UNITS:
        yield ("unit",), f"There is no unit {named(scheme.unit)}: write {_listed(UNITS)}."
    elif scheme.unit == "continuation" and scheme.item_kind in KINDS and not KINDS[scheme.item_kind].has_turn:
        yield ("unit",), "Questions about the whole are asked once: write item. Continuation is for turns."
    if not scheme.questions:
        yield ("questions",), "A scheme needs at least one question."
    elif all(one.item_kind == WHOLE for one in scheme.questions):
        yield (
            ("item_kind",),
            f"All its questions are about the whole: write {WHOLE} here, not at each of them.",
        )
    if len(scheme.questions) > MOST_QUESTIONS:
        yield (
            ("questions",),
            f"There are {len(scheme.questions):,} questions; at most {MOST_QUESTIONS} are taken.",
        )


def _question_problems(scheme: SchemeDefinition, index: int) -> Found:
    question, before = scheme.questions[index], scheme.questions[:index]
    if why := _key_problem(question.key):
        yield ("key",), why
    elif any(other.key == question.key for other in before):
        number = next(n for n, other in enumerate(before, start=1) if other.key == question.key)
        yield ("key",), f"Question {number} has the key {named(question.key)}, too: give one of them another."
    if not question.wording.strip():
        yield ("wording",), "Say what is asked."
    elif why := text_problem(question.wording, LONGEST_WORDING):
        yield ("wording",), why
    if question.level not in LEVELS:
        yield ("level",), f"There is no level {named(question.level)}: write {_listed(LEVELS)}."
    else:
        yield from scale_problems(question, names_people=scheme.item_kind == DECISION)
        yield from _comparing_problems(scheme.item_kind, question)
    yield from _kind_problems(scheme, question, before)
    yield from _group_problems(question, before)
    yield from _help_problems(question.help)
    yield from _shortcut_problems(question, before)
    if question.shortcut == EVIDENCE_KEY and any(one.evidence for one in scheme.questions):
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
) -> Found:
    """Yield what keeps a question from being about another kind of item than its scheme."""
    own = scheme.kind_of(question)
    if question.item_kind and question.item_kind not in KINDS:
        yield (
            ("item_kind",),
            f"There is no kind of item {named(question.item_kind)}: write {TURN} or {WHOLE}.",
        )
    elif question.item_kind and (scheme.item_kind, own) != (TURN, WHOLE):
        told = "questions about the whole stand beside questions about turns, in a scheme about turns"
        yield ("item_kind",), f"A scheme about {_plural(scheme.item_kind)} asks about nothing else: {told}."
    elif question.item_kind and scheme.unit != "continuation":
        yield ("item_kind",), "It is asked beside all turns of a continuation: write unit: continuation."
    awaited = question.show_if and next(
        (o for o in before if o.key == question.show_if.get("question")), None
    )
    if awaited and scheme.kind_of(awaited) != own:
        told = "a question about the whole waits for no single turn, and one about a turn not for the whole"
        yield ("show_if", "question"), f"{named(awaited.key)} is asked about something else: {told}."
    beside = next((one for one in before if question.group and one.group == question.group), None)
    if beside and scheme.kind_of(beside) != own:
        yield (
            ("group",),
            f"The group {named(question.group)} has questions about turns and about the whole: make it two.",
        )


def _plural(kind: str) -> str:
    return KINDS[kind].plural if kind in KINDS else "something else"


def _comparing_problems(kind: str, question: QuestionDefinition) -> Found:
    """Yield what keeps a question from being asked about items of a kind: comparisons belong to pairs."""
    named_sides = {FIRST, SECOND} & set(question.values)
    if question.level == RANKING and kind != "ranking":
        yield ("level",), "Only items of the kind ranking can be put into an order: choose another level."
    elif kind == "pair" and named_sides and not question.is_comparison:
        told = "has first and second, and may have tie and both_bad, but nothing else"
        yield ("values",), f"A question that compares the two {told}."


def _key_problem(key: str) -> str:
    if not key:
        return "Give it a key, such as how_fluent: files, exports and programs name it by this."
    if not KEY.fullmatch(key):
        return f"{named(key)} is not a key: small letters, digits and single _ between them, a letter first."
    return f"A key has at most {LONGEST_KEY} characters." if len(key) > LONGEST_KEY else ""


def _group_problems(question: QuestionDefinition, before: tuple[QuestionDefinition, ...]) -> Found:
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
            f"The questions of the group {named(group)} must stand together: move this one to them.",
        )


def _help_problems(told: Mapping[str, str]) -> Found:
    for name, text in told.items():
        if name not in HELP_FIELDS:
            yield ("help", name), f"There is no help {named(name)}: write {_listed(HELP_FIELDS)}."
        elif not text.strip():
            yield ("help", name), "It is empty: write it, or leave it out."
        elif why := text_problem(text, LONGEST_HELP):
            yield ("help", name), why


def _shortcut_problems(question: QuestionDefinition, before: tuple[QuestionDefinition, ...]) -> Found:
    key = question.shortcut
    if not key:
        return
    if len(key) != 1 or not "!" <= key <= "~" or key.isupper():
        yield ("shortcut",), f"{named(key)} is not one key: write a small letter, or a sign such as + or #."
    elif key.isdigit():
        yield ("shortcut",), f"Digits choose values, so {key} cannot be a question's own key: write a letter."
    elif key in PAGE_KEYS:
        yield ("shortcut",), f"{key} {PAGE_KEYS[key]} on the annotator's page: choose another key."
    elif question.level in LEVELS and not question.is_tag:
        yield ("shortcut",), "Only tags (binary questions with a group) have a key of their own: take it out."
    elif other := next((one for one in before if one.shortcut == key), None):
        yield ("shortcut",), f"{key} is the key of {named(other.key)} already: choose another."


def _listed(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"
