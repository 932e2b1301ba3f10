"""Judges that ask the questions of any scheme, built in or a researcher's own, about turns or dialogues.

A scheme with questions about turns and about the whole is asked in two calls per continuation (the parts
`turns` and `whole`).

`PROTOCOLS["rubric"]` is a template; `over(definition, variant)` is the protocol bound to a scheme. The
variant `json` asks all questions at once, each answer after its explanation. The variant `line` asks one
question per call and reads a line with the value alone. The variant `expected` does the same and takes the
expected value under the probabilities of the reply's tokens (`judges.protocols.replies`), which answers a
separate question: that of the scheme `rubric_expected:<key>`, on an interval scale.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from annotation.kinds import KINDS
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.text.views import clean
from jobs.prompt import Prompt, Tokens, Unparseable, object_schema
from judges.protocols import questions as evidence
from judges.protocols import questions as questionnaire
from judges.protocols.protocol import (
    Asking,
    Case,
    Covers,
    Reading,
    Unfit,
    Unwritable,
    Verdict,
    covered,
    find_verdict,
    format_number,
)
from judges.protocols.questions import (
    Answered,
    asking,
    explanation_field,
    field_lines,
    format_value,
    free,
    is_shown,
    is_tag,
    must_answer,
    read_fields,
    schema_fields,
    text_field,
    turn_number,
    turn_numbers,
    value_of,
)
from judges.protocols.quoting import (
    AROUND,
    Seen,
    around,
    exchanges,
    history_of,
    numbered,
    quote,
    reference_block,
    reference_of,
)
from judges.protocols.replies import OUTSIDE, Expected, Unclear, expected, json_object, limited, unfenced
from judges.protocols.wording import Filling, Variable, Wording

# Replies of a rubric: JSON about an item or about all turns of a continuation, or one value on a line.
#
# Each class has its form for the prompt, its schema if it is JSON, and reads and writes answers.

NO_LOGPROBS = "no_logprobs"
_DRESS = " \t*_`\"'"


class Reply(ABC):
    """A form of reply to some questions about a case."""

    def __init__(self, questions: Sequence[QuestionDefinition], case: Case) -> None:
        self.questions, self.case = questions, case

    @property
    def marks(self) -> tuple[str, ...]:
        """Keys of the questions that are answered by naming turns."""
        return ()

    @abstractmethod
    def form(self) -> str:
        """Return the form as the prompt shows it."""

    def schema(self) -> Mapping[str, Any] | None:
        """Return the JSON schema, None for a line."""
        return None

    @abstractmethod
    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the answers; raise Unparseable."""

    @abstractmethod
    def write(self, reading: Reading) -> str:
        """Write the answers as a reply; raise Unwritable."""


class ItemReply(Reply):
    """A JSON object: for each question an explanation and a value."""

    def form(self) -> str:
        """Return the object with dots as placeholders."""
        pointing = evidence.evidence_schema_fields(self.questions)
        fields = [*field_lines(self.questions), *(f"{json.dumps(name)}: [...]" for name in pointing)]
        lines = ",\n".join(f"  {line}" for line in fields)
        return "\n\n".join([f"{{\n{lines}\n}}", *([evidence.EVIDENCE_NOTE] if pointing else [])])

    def schema(self) -> Mapping[str, Any]:
        """Return the schema of the object."""
        return object_schema(
            {**schema_fields(self.questions), **evidence.evidence_schema_fields(self.questions)}
        )

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the fields."""
        data = json_object(reply, self.case)
        answers, flags = read_fields(data, self.questions)
        pointed, more = evidence.read_evidence(data, self.questions, answers, self.case)
        verdicts = [
            replace(verdict, evidence=pointed.get(verdict.question, ()))
            for verdict in _verdicts(answers, self.case.turn)
        ]
        return Reading(tuple(verdicts), (*flags, *more))

    def write(self, reading: Reading) -> str:
        """Write the fields, with null for unanswered optional questions."""
        own = (verdict for verdict in reading.verdicts if verdict.turn == self.case.turn)
        pointed = evidence.written_evidence(
            self.questions, {verdict.question: verdict.evidence for verdict in own}, self.case
        )
        fields = _fields(reading, self.questions, self.case.turn) | pointed
        return json.dumps(fields, ensure_ascii=False)


class TurnsReply(Reply):
    """A JSON object about all judged turns: the turns of each tag, and the other answers turn by turn."""

    def __init__(self, questions: Sequence[QuestionDefinition], case: Case) -> None:
        super().__init__(questions, case)
        self.tags = [question for question in questions if is_tag(question) and question.show_if is None]
        self.rest = [question for question in questions if question not in self.tags]
        names = [
            name
            for question in self.tags
            for name in (f"{question.key}_turns", explanation_field(question, questions))
        ]
        self.list_name = free("answers", names)
        self.turn_name = free("turn", (question.key for question in self.rest))

    @property
    def marks(self) -> tuple[str, ...]:
        """Keys of the tags."""
        return tuple(question.key for question in self.tags)

    def form(self) -> str:
        """Return the object with dots as placeholders."""
        lines = [
            f'  {json.dumps(explanation_field(question, self.questions))}: "...", '
            f"{json.dumps(_turns(question))}: [...]"
            for question in self.tags
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
        for question in self.tags:
            fields[explanation_field(question, self.questions)] = {"type": "string"}
            fields[_turns(question)] = {"type": "array", "items": {"type": "integer"}}
        if self.rest:
            inner = {self.turn_name: {"type": "integer"}, **schema_fields(self.rest)}
            fields[self.list_name] = {"type": "array", "items": object_schema(inner)}
        return object_schema(fields)

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the tags, then the other answers turn by turn, with every judged turn exactly once."""
        data, judged = json_object(reply, self.case), self.case.judged()
        marked = {question.key: (self._marks(data, question), question) for question in self.tags}
        entries = self._entries_by_turn(data)
        verdicts: list[Verdict] = []
        flags: list[str] = []
        for number, index in enumerate(judged, start=1):
            tags: Answered = {
                key: (float(number in turns), why if number in turns else "")
                for key, ((turns, why), _) in marked.items()
            }
            rest, more_flags = self._rest(entries.get(number, {}), tags, f"turn {number}: ")
            order = [question.key for question in self.questions]
            answers = {**tags, **rest}
            verdicts += _verdicts({key: answers[key] for key in order if key in answers}, index)
            flags += more_flags
        return Reading(tuple(verdicts), tuple(flags))

    def write(self, reading: Reading) -> str:
        """Write the turns of each tag, and the other answers by turn."""
        judged = self.case.judged()
        fields: dict[str, Any] = {}
        for question in self.tags:
            answers = [find_verdict(reading, question.key, index) for index in judged]
            why = dict.fromkeys(a.explanation for a in answers if a.value and a.explanation)
            fields[explanation_field(question, self.questions)] = " ".join(why)
            fields[_turns(question)] = [n for n, answer in enumerate(answers, start=1) if answer.value]
        if self.rest:
            fields[self.list_name] = [
                {self.turn_name: n, **_fields(reading, self.rest, index, self.tags)}
                for n, index in enumerate(judged, start=1)
            ]
        return json.dumps(fields, ensure_ascii=False)

    def _marks(self, data: Mapping[str, Any], question: QuestionDefinition) -> tuple[set[int], str]:
        why = text_field(data, explanation_field(question, self.questions))
        return turn_numbers(data, _turns(question), len(self.case.judged())), why

    def _entries_by_turn(self, data: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
        """Return the list's entries by turn number, one for each judged turn."""
        if not self.rest:
            return {}
        entries, last = data.get(self.list_name), len(self.case.judged())
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise Unparseable(f"the field {self.list_name} is missing or no list of objects")
        by_turn: dict[int, Mapping[str, Any]] = {}
        for entry in entries:
            number = turn_number(entry.get(self.turn_name), self.turn_name, last)
            if number in by_turn:
                raise Unparseable(f"turn {number} is answered twice")
            by_turn[number] = entry
        if missing := sorted(set(range(1, last + 1)) - by_turn.keys()):
            raise Unparseable(f"turn {missing[0]} is not answered")
        return by_turn

    def _rest(self, entry: Mapping[str, Any], tags: Answered, place: str) -> tuple[Answered, list[str]]:
        if not self.rest:
            return {}, []
        marked = {question.key: tags[question.key] for question in self.tags}
        return read_fields(entry, self.rest, place, marked)


class LineReply(Reply):
    """The value of one question, alone on a line."""

    @property
    def question(self) -> QuestionDefinition:
        """The only question."""
        (question,) = self.questions
        return question

    def form(self) -> str:
        """Return the instruction to reply with the value alone."""
        content = "the text of your answer" if self.question.level == "nominal" else "the number"
        return (
            f"Answer with one line that holds {content} and nothing else: no words around it, no explanation."
        )

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Read the value."""
        return Reading((Verdict(self.question.key, self.case.turn, self.value(reply)),))

    def value(self, reply: str) -> float | str:
        """Return the value of a reply; raise Unparseable if the reply is anything but a single value.

        A code fence around it, and `Score:` or the question's key before a number, are tolerated.
        """
        lines = [line.strip() for line in unfenced(limited(reply)).splitlines() if line.strip()]
        if len(lines) != 1:
            raise Unparseable(f"the reply has {len(lines):,} lines, not one with the value")
        text = lines[0].strip(_DRESS)
        if self.question.level == "nominal":
            is_value = lines[0] in map(
                format_value, self.question.values
            )  # since values may contain such signs, too
            value = value_of(self.question, lines[0] if is_value else text)
        else:
            value = value_of(self.question, self._unlabelled(text).removesuffix("."))
        if value is None:
            raise Unparseable(f"{self.question.key[:80]} has no answer")
        return value

    def _unlabelled(self, line: str) -> str:
        """Return a line without the label before its number."""
        words = rf"(?:score|rating|answer|{re.escape(self.question.key)})"
        label = rf"{words}(?:[{_DRESS}]*[:：=]|\s+[-–—]\s)[{_DRESS}]*"
        return re.sub(rf"\A{label}(?=\d)", "", line, flags=re.I)

    def write(self, reading: Reading) -> str:
        """Write the value."""
        value = find_verdict(reading, self.question.key, self.case.turn).value
        if value is None or (self.question.values and value not in self.question.values):
            raise Unwritable(f"{self.question.key}: {value} is not a value that a reply could say")
        return format_value(value)


class ExpectedReply(LineReply):
    """The value alone on a line, read as its expectation under the probabilities of the reply's tokens."""

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Return the expected value and its basis, or the reply's own value if there is none."""
        own = self.value(reply)
        if not tokens:
            return self._own(own, "the endpoint gave no probabilities")
        try:
            expectation = expected(tokens, [float(value) for value in self.question.values])
        except Unclear as unclear:
            return self._own(own, str(unclear))
        if not expectation.shares.get(float(own)):
            return self._own(own, "the value is not what its tokens say")
        flags = (_much_outside(expectation),) if expectation.outside > OUTSIDE else ()
        verdict = Verdict(
            self.question.key, self.case.turn, expectation.value, explanation=_describe_shares(expectation)
        )
        return Reading((verdict,), flags)

    def _own(self, value: float | str, why: str) -> Reading:
        flag = f"{NO_LOGPROBS}: {why}; the value is the reply's own, to be averaged over samples"
        return Reading((Verdict(self.question.key, self.case.turn, value),), (flag,))


def _describe_shares(expectation: Expected) -> str:
    parts = [
        f"{format_number(value)}: {share:.3f}"
        for value, share in expectation.shares.items()
        if share >= 0.0005
    ]
    return f"probabilities {', '.join(parts)}"


def _much_outside(expectation: Expected) -> str:
    return f"outside_scale: {expectation.outside:.0%} of the probability is on no value of the scale"


def _verdicts(answers: Answered, turn: int | None) -> list[Verdict]:
    return [Verdict(key, turn, value, explanation=why) for key, (value, why) in answers.items()]


def _fields(
    reading: Reading,
    questions: Sequence[QuestionDefinition],
    turn: int | None,
    beside: Sequence[QuestionDefinition] = (),
) -> dict[str, Any]:
    """Return the fields for answers about one item; `beside` are further questions, written elsewhere."""
    verdicts = {
        verdict.question: verdict
        for verdict in reading.verdicts
        if verdict.turn == turn and verdict.value is not None
    }
    answers = {key: verdict.value for key, verdict in verdicts.items()}
    tags = [question.key for question in (*questions, *beside) if is_tag(question)]
    fields: dict[str, Any] = {}
    for question in questions:
        verdict = verdicts.get(question.key)
        if verdict is None and is_shown(question, answers) and must_answer(question, tags):
            find_verdict(reading, question.key, turn)
        if question.level != "text":
            fields[explanation_field(question, questions)] = verdict.explanation if verdict else ""
        fields[question.key] = _plain(verdict.value) if verdict else None
    return fields


def _plain(value: float | str | None) -> float | str | None:
    return int(value) if isinstance(value, float) and value == int(value) else value


def _turns(question: QuestionDefinition) -> str:
    return f"{question.key}_turns"


JSON, LINE, EXPECTED = "json", "line", "expected"
TURNS, WHOLE_PART = "turns", "whole"
EXPECTED_SCHEME, G_EVAL_SCHEME = "rubric_expected:", "g_eval:"
"""Key prefixes of schemes that repeat another scheme's questions on an interval scale."""
LONGEST_PART = 100
"""Maximum length of a question's key for naming a separate call after it."""
TASKS = {
    "turn": "Answer about the turn under RESPONSE alone, by what came before it.",
    "decision": "Answer about the decision under RESPONSE alone, by what came before it.",
    "continuation": "Answer about each of the $n numbered turns under TURNS, by what came before it.",
    "dialogue": "Answer about the $n numbered turns under TURNS together, as a whole.",
    "bare": "Nobody has said anything yet. Answer about what is known of the dialogue and the people in it.",
}
_GAPS = re.compile(r"\n{3,}")
STATIC = (
    " Each numbered turn is a response at its place; the turns that are not numbered are how the dialogue "
    "really went, so a response knows nothing of the numbered turns above it."
)


class Rubric(Asking):
    """One call per turn, per continuation with all its turns, or per dialogue, depending on the scheme."""

    key = "rubric"
    title = "Rubric: any scheme's questions"
    covers: Covers = "turn"
    takes_scheme = True
    variants: ClassVar[tuple[str, ...]] = (JSON, LINE, EXPECTED)
    forms: ClassVar[tuple[str, ...]] = (JSON, LINE)
    answers: Mapping[str, tuple[SchemeDefinition, str]] = {}

    def __init__(self, definition: SchemeDefinition | None = None, variant: str = JSON) -> None:
        self.definition, self.variant = definition, variant
        self.questions: tuple[QuestionDefinition, ...] = ()
        if definition is not None:
            self._bind(definition, variant)

    def over(self, definition: SchemeDefinition, variant: str = JSON) -> Rubric:
        """Return the protocol bound to a scheme's questions; raise Unfit if the variant cannot ask them."""
        return Rubric(definition, variant)

    def _bind(self, definition: SchemeDefinition, variant: str) -> None:
        if KINDS[definition.item_kind].compares:
            raise Unfit(f"{definition.key} compares responses: the protocol pairwise asks about these")
        if definition.is_mixed and variant != JSON:
            raise Unfit(
                f"{definition.key} asks about turns and about the whole dialogue: choose the variant {JSON}"
            )
        self.questions = asked_of(definition, variant)
        about = definition
        if variant == EXPECTED:
            about = expected_scheme(definition, self.questions)
        self.answers = {question.key: (about, question.key) for question in self.questions}
        if definition.item_kind != "turn":
            self.covers = covered(definition.item_kind)
        elif variant == JSON and definition.unit == "continuation":
            self.covers = "continuation"
        self.reply_tokens = 60 * len(self.questions) if variant == JSON else 3
        if self.covers == "continuation":
            self.reply_tokens *= 5

    def parts(self, variant: str) -> tuple[str, ...]:
        """Return one part per question, or one for all, or one per kind of item for a scheme with two."""
        if self.definition is not None and self.definition.is_mixed:
            return (TURNS, WHOLE_PART)
        return ("",) if variant == JSON else tuple(question.key for question in self.questions)

    def asked_in(self, part: str) -> tuple[str, ...]:
        """Return the question of a part, the questions about turns or about the whole, or all."""
        if self.definition is not None and self.definition.is_mixed:
            kind = self.definition.item_kinds[part == WHOLE_PART]
            return tuple(question.key for question in self.definition.asked_about(kind))
        return (part,) if part else tuple(self.answers)

    def forms_of(self, variant: str) -> tuple[str, ...]:
        """Return JSON or a line."""
        return (JSON,) if variant == JSON else (LINE,)

    def prompt_file(self, variant: str) -> str:
        """Return the name of the variant's text."""
        return self.key if variant == JSON else f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the scheme, the rated material, its background, and the form of the reply."""
        return (
            Variable(
                "questions", "the questions with their help, values and what these stand for", required=True
            ),
            Variable("introduction", "the scheme's introduction, as people read it above the questions"),
            Variable("guidelines", "the scheme's guidelines, as people read them"),
            Variable("task", "a sentence that says what the answers are about"),
            Variable("rated", "what is rated: the response, or the numbered turns", required=True),
            Variable("history", "the turns before what is rated"),
            *AROUND,
            Variable("reference", "what was really said at this point, nothing where that is not known"),
            Variable("fields", "the form of the reply", required=True),
            Variable("n", "the number of judged turns, 1 where a single turn is rated"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the material as for other judges, and the scheme's texts as people read them."""
        assert self.definition is not None
        seen, questions, reply = Seen(case), self.call_questions(case), self._reply(case)
        n = 1 if case.turn is not None else len(case.judged())
        numbers = variant == JSON and case.turn is not None and bool(asking(questions))
        return {
            "questions": lambda: questionnaire.describe_questions(
                questions, conditions=variant == JSON, marks=reply.marks
            ),
            "introduction": clean(self.definition.introduction).strip(),
            "guidelines": clean(self.definition.guidelines).strip(),
            "task": self._task(case).replace("$n", str(n)),
            "rated": lambda: _rated(case, seen, numbers),
            "history": lambda: quote("HISTORY", seen.transcript(_before(case, seen), numbers)),
            "reference": lambda: _reference(case, seen),
            "fields": reply.form,
            "n": str(n),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any] | None:
        """Return a schema with a field for each question and its explanation; None for a line."""
        return self._reply(case).schema()

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        """Return the prompt for a case; the unbound template has none."""
        assert self.definition is not None, "a rubric is asked over a scheme"
        prompt = Asking.prompt(self, case, variant, wording)
        return replace(prompt, user=_GAPS.sub("\n\n", prompt.user))  # quoted lines are never empty

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the answers to the variant's questions."""
        return self._reply(case).read(reply, ())

    def read(
        self, reply: str, tokens: Tokens, case: Case, variant: str, wording: Wording | None = None
    ) -> Reading:
        """Read the answers; expected scores use the tokens' probabilities."""
        return self._reply(case).read(reply, tokens)

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the answers in the variant's form."""
        return self._reply(case).write(reading)

    def parameters(self, variant: str) -> Mapping[str, Any]:
        """Request the probabilities of the likeliest tokens for expected scores."""
        return {"logprobs": True, "top_logprobs": 20} if variant == EXPECTED else {}

    def call_questions(self, case: Case) -> tuple[QuestionDefinition, ...]:
        """Return the questions of a call."""
        return tuple(question for question in self.questions if question.key in self.asked_in(case.part))

    def _reply(self, case: Case) -> Reply:
        questions = self.call_questions(case)
        if self.variant == JSON:
            return (
                TurnsReply(questions, case)
                if self._about(case) == "continuation"
                else ItemReply(questions, case)
            )
        return (ExpectedReply if self.variant == EXPECTED else LineReply)(questions, case)

    def _task(self, case: Case) -> str:
        static = case.turn is None and case.continuation.mode == "static"
        about, has_turns = self._about(case), case.continuation.turns or case.dialogue.turns
        return TASKS["bare" if about == "dialogue" and not has_turns else about] + (STATIC if static else "")

    def _about(self, case: Case) -> str:
        """Return the subject of a call's answers: all turns of a continuation, or one item."""
        return "dialogue" if self.covers == "continuation" and case.part == WHOLE_PART else self.covers


def asked_of(definition: SchemeDefinition, variant: str) -> tuple[QuestionDefinition, ...]:
    """Return the questions of a scheme that a variant asks; raise Unfit if there are none that it can ask."""
    if variant == JSON:
        questions = definition.questions
    else:
        questions = tuple(
            question
            for question in definition.questions
            if question.show_if is None and _is_alone(question, variant)
        )
    if not questions:
        kind = "ordinal or interval question with a list of values" if variant == EXPECTED else "question"
        raise Unfit(f"{definition.key} has no {kind} that can be asked alone: choose the variant {JSON}")
    if variant != JSON and (
        long := [question.key for question in questions if len(question.key) > LONGEST_PART]
    ):
        raise Unfit(
            f"the question {long[0][:40]}... has too long a key to be asked alone: choose the variant {JSON}"
        )
    return questions


def base_of(scheme: str) -> str:
    """Return the key of the original scheme for a scheme of expected scores, else the scheme's own key."""
    return scheme.removeprefix(EXPECTED_SCHEME).removeprefix(G_EVAL_SCHEME)


def expected_scheme(
    definition: SchemeDefinition,
    questions: tuple[QuestionDefinition, ...],
    prefix: str = EXPECTED_SCHEME,
    called: str = "Expected scores",
) -> SchemeDefinition:
    """Return the scheme for expected scores: the same questions, with any number between their ends."""
    return replace(
        definition,
        key=prefix + definition.key,
        version=1,
        title=f"{called}: {definition.title}",
        unit="item",
        questions=tuple(_expected(question) for question in questions),
        guidelines="",
        source=f"expected values of answers to {definition.key}, version {definition.version}",
        about_open=False,
    )


def _expected(question: QuestionDefinition) -> QuestionDefinition:
    ends = (question.values[0], question.values[-1])
    anchors = {value: text for value, text in question.anchors.items() if str(value) in map(str, ends)}
    return QuestionDefinition(
        question.key,
        question.wording,
        "interval",
        anchors={**dict.fromkeys(ends, ""), **anchors},
        help=question.help,
        required=question.required,
    )


def _is_alone(question: QuestionDefinition, variant: str) -> bool:
    if variant == EXPECTED:
        return question.level in ("ordinal", "interval") and len(question.values) > 1
    return question.level != "text"


def _rated(case: Case, seen: Seen, numbers: bool) -> str:
    """Return the quoted material to rate; with `numbers`, the response is numbered after the turns before."""
    if case.turn is not None:
        before = seen.before()
        return quote("RESPONSE", seen.response(before, f"[{len(before) + 1}] " if numbers else ""))
    if case.continuation.mode == "static":
        return quote("TURNS", exchanges(case, seen))
    return quote("TURNS", numbered(case, seen, history_of(case)))


def _before(case: Case, seen: Seen) -> Any:
    if case.turn is not None:
        return seen.before()
    return () if case.continuation.mode == "static" else history_of(case)


def _reference(case: Case, seen: Seen) -> str:
    return reference_block(case, seen) if reference_of(case) is not None else ""
