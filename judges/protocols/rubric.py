"""Any scheme's questions as a judge's: built in or a researcher's own, about turns or whole dialogues.

A scheme with questions about turns and about the whole is asked in two calls about a continuation, one for
each (the parts `turns` and `whole`).

`PROTOCOLS["rubric"]` is a template; `over(definition, variant)` is the protocol bound to a scheme. The
variant `json` asks all questions at once, each answer after its explanation. The variant `line` asks one
question a call and reads a line that is the value alone. The variant `expected` asks the same and takes the
expected value under the probabilities of the reply's tokens (`judges.protocols.expected_score`), which
answers a question of its own: of the scheme `rubric_expected:<key>`, on an interval scale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from annotation.kinds import KINDS
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.text.cleaning import clean
from jobs.prompt import Prompt, Tokens
from judges.protocols import questionnaire
from judges.protocols.base import Asking, Case, Covers, Reading, Unfit, covered
from judges.protocols.evidence import asking
from judges.protocols.material import (
    AROUND,
    around,
    exchanges,
    history_of,
    numbered,
    reference_block,
    reference_of,
)
from judges.protocols.quoting import Seen, quote
from judges.protocols.rubric_replies import ExpectedReply, ItemReply, LineReply, Reply, TurnsReply
from judges.protocols.wording import Filling, Variable, Wording

JSON, LINE, EXPECTED = "json", "line", "expected"
TURNS, WHOLE = "turns", "whole"
EXPECTED_SCHEME, G_EVAL_SCHEME = "rubric_expected:", "g_eval:"
"""How the schemes begin whose questions ask those of another scheme on an interval scale."""
LONGEST_PART = 100
"""Characters of a question's key that a call of its own is named after."""
TASKS = {
    "turn": "Answer about the turn under RESPONSE alone, by what came before it.",
    "decision": "Answer about the decision under RESPONSE alone, by what came before it.",
    "continuation": "Answer about each of the $n numbered turns under TURNS, by what came before it.",
    "dialogue": "Answer about the $n numbered turns under TURNS together, as a whole.",
}
_GAPS = re.compile(r"\n{3,}")
STATIC = (
    " Each numbered turn is a response at its place; the turns that are not numbered are how the dialogue "
    "really went, so a response knows nothing of the numbered turns above it."
)


class Rubric(Asking):
    """A call per turn, per continuation with all its turns, or per dialogue, as the scheme is answered."""

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
        """Return the protocol that asks a scheme's questions; raise Unfit where the variant cannot."""
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
        """A call for each question, or one for all: of a scheme with questions of two kinds, one for each."""
        if self.definition is not None and self.definition.is_mixed:
            return (TURNS, WHOLE)
        return ("",) if variant == JSON else tuple(question.key for question in self.questions)

    def asked_in(self, part: str) -> tuple[str, ...]:
        """The one question of a part, those about turns or about the whole, or all."""
        if self.definition is not None and self.definition.is_mixed:
            kind = self.definition.item_kinds[part == WHOLE]
            return tuple(one.key for one in self.definition.asked_about(kind))
        return (part,) if part else tuple(self.answers)

    def forms_of(self, variant: str) -> tuple[str, ...]:
        """JSON, or a line."""
        return (JSON,) if variant == JSON else (LINE,)

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return self.key if variant == JSON else f"{self.key}_{variant}"

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """What the scheme says, what is rated, what is known beside it, and the form of the reply."""
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
        """Show the material as for other judges, and say the scheme as people read it."""
        assert self.definition is not None
        seen, asked, reply = Seen(case), self.asked(case), self._reply(case)
        n = 1 if case.turn is not None else len(case.judged())
        numbers = variant == JSON and case.turn is not None and bool(asking(asked))
        return {
            "questions": lambda: questionnaire.told(asked, conditions=variant == JSON, marks=reply.marks),
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
        """A field for each question and one for its explanation; none for a line."""
        return self._reply(case).schema()

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        """Return what to send about a case; the template alone asks nothing."""
        assert self.definition is not None, "a rubric is asked over a scheme"
        prompt = Asking.prompt(self, case, variant, wording)
        return replace(prompt, user=_GAPS.sub("\n\n", prompt.user))  # quoted lines are never empty

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the answers that the variant asks for."""
        return self._reply(case).read(reply, ())

    def read(
        self, reply: str, tokens: Tokens, case: Case, variant: str, wording: Wording | None = None
    ) -> Reading:
        """Read the answers; the tokens' probabilities count for expected scores."""
        return self._reply(case).read(reply, tokens)

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the answers in the variant's form."""
        return self._reply(case).write(reading)

    def parameters(self, variant: str) -> Mapping[str, Any]:
        """Expected scores need the likeliest tokens' probabilities."""
        return {"logprobs": True, "top_logprobs": 20} if variant == EXPECTED else {}

    def asked(self, case: Case) -> tuple[QuestionDefinition, ...]:
        """Return the questions of a call."""
        return tuple(one for one in self.questions if one.key in self.asked_in(case.part))

    def _reply(self, case: Case) -> Reply:
        asked = self.asked(case)
        if self.variant == JSON:
            return TurnsReply(asked, case) if self._about(case) == "continuation" else ItemReply(asked, case)
        return (ExpectedReply if self.variant == EXPECTED else LineReply)(asked, case)

    def _task(self, case: Case) -> str:
        static = case.turn is None and case.continuation.mode == "static"
        return TASKS[self._about(case)] + (STATIC if static else "")

    def _about(self, case: Case) -> str:
        """Return what the answers of a call are about: all turns of a continuation, or one item."""
        return "dialogue" if self.covers == "continuation" and case.part == WHOLE else self.covers


def asked_of(definition: SchemeDefinition, variant: str) -> tuple[QuestionDefinition, ...]:
    """Return the questions of a scheme that a variant asks; raise Unfit where there are none, or not so."""
    if variant == JSON:
        found = definition.questions
    else:
        found = tuple(one for one in definition.questions if one.show_if is None and _is_alone(one, variant))
    if not found:
        kind = "ordinal or interval question with a list of values" if variant == EXPECTED else "question"
        raise Unfit(f"{definition.key} has no {kind} that can be asked alone: choose the variant {JSON}")
    if variant != JSON and (long := [one.key for one in found if len(one.key) > LONGEST_PART]):
        raise Unfit(
            f"the question {long[0][:40]}... has too long a key to be asked alone: choose the variant {JSON}"
        )
    return found


def base_of(scheme: str) -> str:
    """Return the key of the scheme that expected scores are about; of any other scheme its own."""
    return scheme.removeprefix(EXPECTED_SCHEME).removeprefix(G_EVAL_SCHEME)


def expected_scheme(
    definition: SchemeDefinition,
    questions: tuple[QuestionDefinition, ...],
    prefix: str = EXPECTED_SCHEME,
    called: str = "Expected scores",
) -> SchemeDefinition:
    """Return the scheme that expected scores answer: the same questions, any number between their ends."""
    return replace(
        definition,
        key=prefix + definition.key,
        version=1,
        title=f"{called}: {definition.title}",
        unit="item",
        questions=tuple(_expected(one) for one in questions),
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
    """Return what is rated, quoted; with `numbers` the response has one, after those of the turns before."""
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
