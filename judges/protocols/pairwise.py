"""A scheme's questions about several responses side by side: the better of two, or a ranking.

`PROTOCOLS["pairwise"]` is a template; `over(definition, "")` is the protocol bound to a scheme about pairs or
rankings. The responses are lettered in the order of the case, which a run rotates from one sample to the
next. Answers about letters are mapped back to the members' own order, so an answer's meaning never depends on
the order shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from annotation.kinds import KINDS
from annotation.records import Turn
from annotation.schemes.definitions import (
    FIRST,
    LETTERS,
    RANKING,
    SECOND,
    WORDED,
    QuestionDefinition,
    SchemeDefinition,
    as_shown,
    in_own_order,
)
from annotation.text.views import clean
from jobs.prompt import OutOfScale, Prompt, Unparseable
from judges.protocols import questions as questionnaire
from judges.protocols.protocol import Asking, Case, Covers, Reading, Unfit, Verdict
from judges.protocols.quoting import AROUND, Seen, around, exchanges, history_of, numbered, quote
from judges.protocols.rubric import ItemReply
from judges.protocols.wording import Filling, Variable, Wording

LETTER_OF = {FIRST: LETTERS[0], SECOND: LETTERS[1]}
ORDER = "Write the letters, best first, with > between them and = between equals, such as"
_GAPS = re.compile(r"\n{3,}")
_RANKING = re.compile(r"[A-J](?:[>=][A-J])*")


class Pairwise(Asking):
    """One call per pair or ranking, with all responses in view. Samples alternate the order shown."""

    key = "pairwise"
    title = "Pairwise: responses side by side, in both orders"
    covers: Covers = "pair"
    takes_scheme = True
    samples = 2
    forms = ("json",)
    answers: Mapping[str, tuple[SchemeDefinition, str]] = {}

    def __init__(self, definition: SchemeDefinition | None = None) -> None:
        self.definition = definition
        if definition is None:
            return
        if not KINDS[definition.item_kind].compares:
            raise Unfit(f"{definition.key} does not compare: pairwise asks about pairs and rankings")
        self.covers = "ranking" if definition.item_kind == "ranking" else "pair"
        self.answers = {question.key: (definition, question.key) for question in definition.questions}
        self.reply_tokens = 60 * len(definition.questions)

    def over(self, definition: SchemeDefinition, variant: str = "") -> Pairwise:
        """Return the protocol bound to a scheme's questions; raise Unfit if the scheme does not compare."""
        return Pairwise(definition)

    def prompt_file(self, variant: str) -> str:
        """Return the name of the only text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the scheme, the responses, their background, and the form of the reply."""
        return (
            Variable("questions", "the questions with their help and values", required=True),
            Variable("introduction", "the scheme's introduction, as people read it above the questions"),
            Variable("guidelines", "the scheme's guidelines, as people read them"),
            Variable("letters", "the letters of the responses, such as A and B"),
            Variable("responses", "the responses, each under its letter", required=True),
            Variable("history", "the turns that come before every response"),
            *AROUND,
            Variable("fields", "the form of the reply", required=True),
            Variable("n", "the number of responses"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the responses in the case's order, and the scheme's texts as people read them."""
        assert self.definition is not None
        questions, n = self._lettered_questions(case), len(case.members)
        seen = [Seen(member_case) for member_case in case.each_shown()]
        before = _before(case)
        return {
            "questions": lambda: questionnaire.describe_questions(questions),
            "introduction": clean(self.definition.introduction).strip(),
            "guidelines": clean(self.definition.guidelines).strip(),
            "letters": f"{', '.join(LETTERS[: n - 1])} and {LETTERS[n - 1]}",
            "responses": lambda: "\n\n".join(_responses(seen, before)),
            "history": lambda: quote("HISTORY", seen[0].transcript(before)),
            "fields": lambda: ItemReply(questions, case).form(),
            "n": str(n),
            **around(seen[0]),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any] | None:
        """Return a schema with a field for each question and one for its explanation."""
        return ItemReply(self._lettered_questions(case), case).schema()

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        """Return the prompt for a case; the unbound template has none."""
        assert self.definition is not None, "responses are compared by a scheme's questions"
        prompt = Asking.prompt(self, case, variant, wording)
        return replace(prompt, user=_GAPS.sub("\n\n", prompt.user))  # quoted lines are never empty

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the answers and map letters to the members that they stood for."""
        reading = ItemReply(self._lettered_questions(case), case).read(reply, ())
        return replace(reading, verdicts=tuple(self._own(verdict, case) for verdict in reading.verdicts))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the answers with the members' letters in the case."""
        lettered = tuple(self._lettered(verdict, case) for verdict in reading.verdicts)
        return ItemReply(self._lettered_questions(case), case).write(replace(reading, verdicts=lettered))

    def _lettered_questions(self, case: Case) -> tuple[QuestionDefinition, ...]:
        assert self.definition is not None
        questions = {question.key: question for question in self.definition.questions}
        return tuple(_in_letters(question, questions, case.shown) for question in questions.values())

    def _own(self, verdict: Verdict, case: Case) -> Verdict:
        """Convert an answer about letters to one about members."""
        question = self._question(verdict)
        if not isinstance(verdict.value, str) or not _compares(question):
            return verdict
        answer: str = verdict.value
        if question.level == RANKING:
            answer = _numbers(answer, len(case.shown), verdict.question)
        else:
            answer = {letter: value for value, letter in LETTER_OF.items()}.get(answer, answer)
        return replace(verdict, value=in_own_order(answer, case.shown, question.level, question.values))

    def _lettered(self, verdict: Verdict, case: Case) -> Verdict:
        """Convert an answer about members to one about letters."""
        question = self._question(verdict)
        if not isinstance(verdict.value, str) or not _compares(question):
            return verdict
        answer = as_shown(verdict.value, case.shown, question.level, question.values)
        if question.level == RANKING:
            return replace(verdict, value="".join(LETTERS[int(c)] if c.isdigit() else c for c in answer))
        return replace(verdict, value=LETTER_OF.get(answer, answer))

    def _question(self, verdict: Verdict) -> QuestionDefinition:
        definition, key = self.answers[verdict.question]
        return definition.question(key)


def _compares(question: QuestionDefinition) -> bool:
    return question.is_comparison or question.level == RANKING


def _in_letters(
    question: QuestionDefinition, questions: Mapping[str, QuestionDefinition], order: Sequence[int]
) -> QuestionDefinition:
    """Reword a question, and the condition for asking it, for lettered responses."""
    when = question.show_if
    if when is not None and "in" in when and questions[when["question"]].is_comparison:
        other = questions[when["question"]]
        letters = [_letter(as_shown(value, order, other.level, other.values)) for value in when["in"]]
        question = replace(question, show_if={**when, "in": letters})
    if question.level == RANKING:
        example = f"{LETTERS[1]}>{'='.join([LETTERS[0], *LETTERS[2 : len(order)]])}"
        wording = f"{question.wording.rstrip()} {ORDER} {example}."
        return replace(question, level="nominal", wording=wording)
    if not question.is_comparison:
        return question
    usual = {value: WORDED[str(value)].format(*LETTERS) for value in question.values}
    anchors = {**usual, **{key: text for key, text in question.anchors.items() if key not in LETTER_OF}}
    return replace(
        question,
        values=tuple(_letter(value) for value in question.values),
        anchors={_letter(value): text for value, text in anchors.items()},
    )


def _letter(value: Any) -> Any:
    return LETTER_OF.get(value, value)


def _numbers(ranking: str, n: int, question: str) -> str:
    """Convert a ranking of letters to places in the stored format of rankings; raise Unparseable."""
    squeezed = "".join(ranking.split())
    if not _RANKING.fullmatch(squeezed):
        raise Unparseable(f"{question[:80]}: {ranking[:40]!r} is not an order such as B>A")
    groups = [[LETTERS.index(letter) for letter in group.split("=")] for group in squeezed.split(">")]
    if sorted(number for group in groups for number in group) != list(range(n)):
        raise OutOfScale(f"{question[:80]}: {ranking[:40]!r} does not name each of the {n} responses once")
    return ">".join("=".join(map(str, sorted(group))) for group in groups)


def _before(case: Case) -> tuple[Turn, ...]:
    """Return the turns that precede every response: the common beginning of their contexts."""
    if case.members[0].turn is None:
        return history_of(case)
    contexts = [Seen(member_case).before() for member_case in case.each_shown()]
    same = takewhile(lambda turns: all(turn == turns[0] for turn in turns), zip(*contexts, strict=False))
    return tuple(turns[0] for turns in same)


def _responses(seen: Sequence[Seen], before: tuple[Turn, ...]) -> list[str]:
    return [quote(f"RESPONSE {LETTERS[n]}", _lines(response, before)) for n, response in enumerate(seen)]


def _lines(seen: Seen, before: tuple[Turn, ...]) -> list[str]:
    """Return a response as lines, after the turns that precede this response only."""
    case = seen.case
    if case.turn is None:
        if case.continuation.mode == "static":
            return exchanges(case, seen)
        return numbered(case, seen, before)
    context = seen.before()
    own, last = context[len(before) :], before[-1] if before else None
    lines: list[str] = []
    for turn in own:
        lines += seen.turn(turn, last, "[before] ")
        last = turn
    return [*lines, *seen.response(context)]
