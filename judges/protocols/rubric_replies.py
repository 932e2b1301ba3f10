"""The replies of a rubric: JSON about an item or about all turns of a continuation, or one value on a line.

Each says its form in the prompt, its schema where it has one, and reads and writes answers.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.schemes.base import QuestionDefinition
from jobs.prompt import OutOfScale, Tokens, Unparseable
from judges.protocols import evidence
from judges.protocols.answer_fields import (
    Answered,
    explanation_field,
    field_lines,
    free,
    object_of,
    read_fields,
    schema_fields,
    text_field,
    value_of,
)
from judges.protocols.base import Case, Reading, Unwritable, Verdict
from judges.protocols.expected_score import OUTSIDE, Expected, Unclear, expected
from judges.protocols.questionnaire import is_shown, is_tag, must_answer
from judges.protocols.replies import json_object, limited
from judges.protocols.scales import shown
from judges.protocols.writing import said, written

NO_LOGPROBS = "no_logprobs"
_DRESS = " \t*_`\"'"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Reply(ABC):
    """A form of reply to some questions about a case."""

    def __init__(self, questions: Sequence[QuestionDefinition], case: Case) -> None:
        self.questions, self.case = questions, case

    @property
    def marks(self) -> tuple[str, ...]:
        """The keys of the questions that are answered by naming turns."""
        return ()

    @abstractmethod
    def form(self) -> str:
        """Return the form as the prompt shows it."""

    def schema(self) -> Mapping[str, Any] | None:
        """Return its JSON schema, None for a line."""
        return None

    @abstractmethod
    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Return the answers; raise Unparseable."""

    @abstractmethod
    def write(self, reading: Reading) -> str:
        """Return the reply that says the answers; raise Unwritable."""


class ItemReply(Reply):
    """A JSON object: for each question an explanation and a value."""

    def form(self) -> str:
        """Return the object with dots for what is to be said."""
        pointing = evidence.schema_fields(self.questions)
        fields = [*field_lines(self.questions), *(f"{json.dumps(name)}: [...]" for name in pointing)]
        lines = ",\n".join(f"  {line}" for line in fields)
        return "\n\n".join([f"{{\n{lines}\n}}", *([evidence.NOTE] if pointing else [])])

    def schema(self) -> Mapping[str, Any]:
        """Return the schema of the object."""
        return object_of({**schema_fields(self.questions), **evidence.schema_fields(self.questions)})

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the fields."""
        data = json_object(reply, self.case)
        found, flags = read_fields(data, self.questions)
        pointed, more = evidence.read_fields(data, self.questions, found, self.case)
        verdicts = [
            replace(one, evidence=pointed.get(one.question, ())) for one in _verdicts(found, self.case.turn)
        ]
        return Reading(tuple(verdicts), (*flags, *more))

    def write(self, reading: Reading) -> str:
        """Say the fields, null where a question has no answer that it must have."""
        own = (one for one in reading.verdicts if one.turn == self.case.turn)
        pointed = evidence.written(self.questions, {one.question: one.evidence for one in own}, self.case)
        fields = _fields(reading, self.questions, self.case.turn) | pointed
        return json.dumps(fields, ensure_ascii=False)


class TurnsReply(Reply):
    """A JSON object about all judged turns: the turns of each mark, and the other answers turn by turn."""

    def __init__(self, questions: Sequence[QuestionDefinition], case: Case) -> None:
        super().__init__(questions, case)
        self.tags = [one for one in questions if is_tag(one) and one.show_if is None]
        self.rest = [one for one in questions if one not in self.tags]
        names = [
            name for one in self.tags for name in (f"{one.key}_turns", explanation_field(one, questions))
        ]
        self.list_name = free("answers", names)
        self.turn_name = free("turn", (one.key for one in self.rest))

    @property
    def marks(self) -> tuple[str, ...]:
        """The keys of the marks."""
        return tuple(one.key for one in self.tags)

    def form(self) -> str:
        """Return the object with dots for what is to be said."""
        lines = [
            f'  {json.dumps(explanation_field(one, self.questions))}: "...", {json.dumps(_turns(one))}: [...]'
            for one in self.tags
        ]
        if self.rest:
            fields = ", ".join([f"{json.dumps(self.turn_name)}: 1", *field_lines(self.rest)])
            lines.append(f"  {json.dumps(self.list_name)}: [{{{fields}}}, ...]")
        return "\n\n".join(["{\n" + ",\n".join(lines) + "\n}", *self._notes()])

    def _notes(self) -> list[str]:
        marks = "A list that ends in _turns holds the numbers of the turns that show it, [] for none."
        entries = f"The list {self.list_name} has one entry for every numbered turn, in order."
        return [" ".join([*([marks] if self.tags else []), *([entries] if self.rest else [])])]

    def schema(self) -> Mapping[str, Any]:
        """Return the schema of the object."""
        fields: dict[str, Any] = {}
        for one in self.tags:
            fields[explanation_field(one, self.questions)] = {"type": "string"}
            fields[_turns(one)] = {"type": "array", "items": {"type": "integer"}}
        if self.rest:
            inner = {self.turn_name: {"type": "integer"}, **schema_fields(self.rest)}
            fields[self.list_name] = {"type": "array", "items": object_of(inner)}
        return object_of(fields)

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the marks and then, turn by turn, the other answers: every judged turn once."""
        data, judged = json_object(reply, self.case), self.case.judged()
        marked = {one.key: (self._marks(data, one), one) for one in self.tags}
        listed = self._listed(data)
        verdicts: list[Verdict] = []
        flags: list[str] = []
        for number, index in enumerate(judged, start=1):
            tags: Answered = {
                key: (float(number in turns), why if number in turns else "")
                for key, ((turns, why), _) in marked.items()
            }
            rest, found = self._rest(listed.get(number, {}), tags, f"turn {number}: ")
            order = [one.key for one in self.questions]
            told = {**tags, **rest}
            verdicts += _verdicts({key: told[key] for key in order if key in told}, index)
            flags += found
        return Reading(tuple(verdicts), tuple(flags))

    def write(self, reading: Reading) -> str:
        """Say the turns of each mark, and the other answers by turn."""
        judged = self.case.judged()
        fields: dict[str, Any] = {}
        for one in self.tags:
            answers = [said(reading, one.key, index) for index in judged]
            why = dict.fromkeys(a.explanation for a in answers if a.value and a.explanation)
            fields[explanation_field(one, self.questions)] = " ".join(why)
            fields[_turns(one)] = [n for n, answer in enumerate(answers, start=1) if answer.value]
        if self.rest:
            fields[self.list_name] = [
                {self.turn_name: n, **_fields(reading, self.rest, index, self.tags)}
                for n, index in enumerate(judged, start=1)
            ]
        return json.dumps(fields, ensure_ascii=False)

    def _marks(self, data: Mapping[str, Any], question: QuestionDefinition) -> tuple[set[int], str]:
        why = text_field(data, explanation_field(question, self.questions))
        return self._numbers(data, _turns(question)), why

    def _numbers(self, data: Mapping[str, Any], name: str) -> set[int]:
        value, last = data.get(name), len(self.case.judged())
        if not isinstance(value, list):
            raise Unparseable(f"the field {name[:80]} is missing or no list")
        return {_turn_number(number, name, last) for number in value}

    def _listed(self, data: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
        """Return the list's entries by turn number: one for each judged turn."""
        if not self.rest:
            return {}
        entries, last = data.get(self.list_name), len(self.case.judged())
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise Unparseable(f"the field {self.list_name} is missing or no list of objects")
        found: dict[int, Mapping[str, Any]] = {}
        for entry in entries:
            number = _turn_number(entry.get(self.turn_name), self.turn_name, last)
            if number in found:
                raise Unparseable(f"turn {number} is answered twice")
            found[number] = entry
        if missing := sorted(set(range(1, last + 1)) - found.keys()):
            raise Unparseable(f"turn {missing[0]} is not answered")
        return found

    def _rest(self, entry: Mapping[str, Any], tags: Answered, place: str) -> tuple[Answered, list[str]]:
        if not self.rest:
            return {}, []
        known = {one.key: tags[one.key] for one in self.tags}
        return read_fields(entry, self.rest, place, known)


class LineReply(Reply):
    """One question's value, alone on a line."""

    @property
    def question(self) -> QuestionDefinition:
        """The one question."""
        (question,) = self.questions
        return question

    def form(self) -> str:
        """Say that the reply is the value alone."""
        what = "the text of your answer" if self.question.level == "nominal" else "the number"
        return f"Answer with one line that holds {what} and nothing else: no words around it, no explanation."

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the value."""
        return Reading((Verdict(self.question.key, self.case.turn, self.value(reply)),))

    def value(self, reply: str) -> float | str:
        """Return the value that a reply says; raise Unparseable where it is anything but one value."""
        lines = [line.strip() for line in limited(reply).splitlines() if line.strip()]
        if len(lines) != 1:
            raise Unparseable(f"the reply has {len(lines):,} lines, not one with the value")
        text = lines[0].strip(_DRESS)
        if self.question.level == "nominal":
            is_value = lines[0] in map(shown, self.question.values)  # which may have such signs of its own
            value = value_of(self.question, lines[0] if is_value else text)
        else:
            text = text.removesuffix(".")
            if len(text) > 40 or not _NUMBER.fullmatch(text):
                raise Unparseable(f"{self.question.key[:80]}: {text[:40]!r} is not a number")
            value = value_of(self.question, float(text))
        if value is None:
            raise Unparseable(f"{self.question.key[:80]} has no answer")
        return value

    def write(self, reading: Reading) -> str:
        """Say the value."""
        value = said(reading, self.question.key, self.case.turn).value
        if value is None or (self.question.values and value not in self.question.values):
            raise Unwritable(f"{self.question.key}: {value} is not a value that a reply could say")
        return shown(value)


class ExpectedReply(LineReply):
    """The value alone on a line, read as its expectation under the probabilities of the reply's tokens."""

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Return the expected value, with what it rests on; the reply's own value where there is none."""
        own = self.value(reply)
        if not tokens:
            return self._own(own, "the endpoint gave no probabilities")
        try:
            found = expected(tokens, [float(value) for value in self.question.values])
        except Unclear as unclear:
            return self._own(own, str(unclear))
        if not found.shares.get(float(own)):
            return self._own(own, "the value is not what its tokens say")
        flags = (_much_outside(found),) if found.outside > OUTSIDE else ()
        verdict = Verdict(self.question.key, self.case.turn, found.value, explanation=_told(found))
        return Reading((verdict,), flags)

    def _own(self, value: float | str, why: str) -> Reading:
        flag = f"{NO_LOGPROBS}: {why}; the value is the reply's own, to be averaged over samples"
        return Reading((Verdict(self.question.key, self.case.turn, value),), (flag,))


def _told(found: Expected) -> str:
    parts = [f"{written(value)}: {share:.3f}" for value, share in found.shares.items() if share >= 0.0005]
    return f"probabilities {', '.join(parts)}"


def _much_outside(found: Expected) -> str:
    return f"outside_scale: {found.outside:.0%} of the probability is on no value of the scale"


def _verdicts(found: Answered, turn: int | None) -> list[Verdict]:
    return [Verdict(key, turn, value, explanation=why) for key, (value, why) in found.items()]


def _fields(
    reading: Reading,
    questions: Sequence[QuestionDefinition],
    turn: int | None,
    beside: Sequence[QuestionDefinition] = (),
) -> dict[str, Any]:
    """Return the fields that say answers about one item; `beside` are questions that are said elsewhere."""
    verdicts = {one.question: one for one in reading.verdicts if one.turn == turn and one.value is not None}
    answers = {key: one.value for key, one in verdicts.items()}
    tags = [one.key for one in (*questions, *beside) if is_tag(one)]
    fields: dict[str, Any] = {}
    for one in questions:
        verdict = verdicts.get(one.key)
        if verdict is None and is_shown(one, answers) and must_answer(one, tags):
            said(reading, one.key, turn)
        if one.level != "text":
            fields[explanation_field(one, questions)] = verdict.explanation if verdict else ""
        fields[one.key] = _plain(verdict.value) if verdict else None
    return fields


def _plain(value: float | str | None) -> float | str | None:
    return int(value) if isinstance(value, float) and value == int(value) else value


def _turns(question: QuestionDefinition) -> str:
    return f"{question.key}_turns"


def _turn_number(number: Any, name: str, last: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool):
        raise Unparseable(f"{name[:80]}: {str(number)[:40]!r} is not a turn number")
    if not 1 <= number <= last:
        raise OutOfScale(f"{name[:80]}: there is no turn {str(number)[:40]}; the turns are 1 to {last}")
    return number
