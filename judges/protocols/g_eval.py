"""G-Eval (Liu et al. 2023): one aspect with its definition, a form to fill in, and its expected score.

Aspects are questions of a scheme on a scale from 1 to 3 or from 1 to 5, defined by their wording and help.
The variant `probabilities` takes the expected value under the token probabilities at the score's place;
`samples` asks twenty times at temperature 1 and takes the mean of the answers. Both answer a separate
question: that of the scheme `g_eval:<key>`, on an interval scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.kinds import KINDS
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from jobs.prompt import Tokens
from judges.protocols.protocol import Case, Reading, Unfit, Verdict, covered
from judges.protocols.replies import Expected, Unclear, expected
from judges.protocols.rubric import G_EVAL_SCHEME, LINE, LONGEST_PART, ExpectedReply, Rubric, expected_scheme

PROBABILITIES, SAMPLES = "probabilities", "samples"
SCALES = ((1, 2, 3), (1, 2, 3, 4, 5))
LITTLE = 0.5
"""A call is flagged if less probability than this lies on the scale."""
LITTLE_MASS = "little_mass"


class GEval(Rubric):
    """One call per aspect, about a turn or a dialogue."""

    key = "g_eval"
    title = "G-Eval: an aspect and its scale, the expected score"
    variants = (PROBABILITIES, SAMPLES)
    forms = (LINE,)

    def __init__(self, definition: SchemeDefinition | None = None, variant: str = PROBABILITIES) -> None:
        super().__init__(definition, variant)

    def over(self, definition: SchemeDefinition, variant: str = PROBABILITIES) -> GEval:
        """Return the protocol bound to a scheme's aspects; raise Unfit if it has none."""
        return GEval(definition, variant)

    def _bind(self, definition: SchemeDefinition, variant: str) -> None:
        if KINDS[definition.item_kind].compares or definition.is_mixed:
            raise Unfit(
                f"{definition.key} is not about single turns or whole dialogues: g_eval asks about these"
            )
        self.questions = tuple(question for question in definition.questions if _is_aspect(question))
        if not self.questions:
            raise Unfit(f"{definition.key} has no question on a scale from 1 to 3 or from 1 to 5")
        if long := [question.key for question in self.questions if len(question.key) > LONGEST_PART]:
            raise Unfit(f"the question {long[0][:40]}... has too long a key to be asked alone")
        about = expected_scheme(definition, self.questions, G_EVAL_SCHEME, "G-Eval")
        self.answers = {question.key: (about, question.key) for question in self.questions}
        if definition.item_kind != "turn":
            self.covers = covered(definition.item_kind)
        self.reply_tokens = 8

    def forms_of(self, variant: str) -> tuple[str, ...]:
        """Return the single-line form."""
        return (LINE,)

    def prompt_file(self, variant: str) -> str:
        """Return a separate name per variant, since names identify prompts; the texts are the same."""
        return self.key if variant == PROBABILITIES else f"{self.key}_{SAMPLES}"

    def parameters(self, variant: str) -> Mapping[str, Any]:
        """Request the probabilities of the likeliest tokens, or a temperature for varying replies."""
        return {"logprobs": True, "top_logprobs": 20} if variant == PROBABILITIES else {"temperature": 1.0}

    def samples_of(self, variant: str) -> int:
        """Return one or twenty."""
        return 1 if variant == PROBABILITIES else 20

    def _reply(self, case: Case) -> GEvalReply:
        return GEvalReply(self.call_questions(case), case, sampled=self.variant == SAMPLES)


class GEvalReply(ExpectedReply):
    """A form with one line: the aspect's name, a colon and its score; or the score alone."""

    def __init__(self, questions: tuple[QuestionDefinition, ...], case: Case, *, sampled: bool) -> None:
        super().__init__(questions, case)
        self.sampled = sampled

    def form(self) -> str:
        """Return the form."""
        return f"Fill in this form with the score alone, and write nothing else:\n\n- {self.question.key}:"

    def read(self, reply: str, tokens: Tokens) -> Reading:
        """Return the expected score and its basis; for samples, the reply's own score."""
        label = f"{self.question.key}:"
        head, separator, rest = reply.partition(label)
        filled = bool(separator) and not head.strip(" \t\r\n-*_`\"'")
        own = self.value(rest if filled else reply)
        if self.sampled:
            return Reading((Verdict(self.question.key, self.case.turn, own),))
        if not tokens:
            return self._own(own, "the endpoint gave no probabilities")
        try:
            expectation = expected(
                after(tokens, label) if filled else tokens, [float(v) for v in self.question.values]
            )
        except Unclear as unclear:
            return self._own(own, str(unclear))
        if not expectation.shares.get(float(own)):
            return self._own(own, "the value is not what its tokens say")
        return self._expected(expectation)

    def _expected(self, expectation: Expected) -> Reading:
        mass = 1.0 - expectation.outside
        shares = ", ".join(f"{value:g}: {share * mass:.6g}" for value, share in expectation.shares.items())
        basis = f"probabilities {shares}; on the scale {mass:.6g}"
        flag = f"{LITTLE_MASS}: {mass:.0%} of the probability is on the scale"
        verdict = Verdict(self.question.key, self.case.turn, expectation.value, explanation=basis)
        return Reading((verdict,), (flag,) if mass < LITTLE else ())


def after(tokens: Tokens, label: str) -> Tokens:
    """Return the tokens after the first one that completes a label; none if no token does."""
    text = ""
    for place, token in enumerate(tokens):
        text += token.text
        if label in text:
            return tokens[place + 1 :]
    return ()


def _is_aspect(question: QuestionDefinition) -> bool:
    return (
        question.level in ("ordinal", "interval")
        and question.show_if is None
        and tuple(question.values) in SCALES
    )
