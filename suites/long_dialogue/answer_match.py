"""Whether a free reply to a question about a long dialogue agrees with the right answer.

After the scoring of answers without letters in DialSim (Kim et al. 2024); the wording is Concord's own. Where
the rule decides, by equality or by a phrase for not knowing, no call is made: this judge's rating is missing
there, with the reason, and reports use the rule's verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotation.records import Turn
from annotation.script_records import UNKNOWN
from jobs.prompt import Unparseable, object_schema
from judges.protocols.protocol import Asking, Case, Reading, Verdict, find_verdict, number
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from judges.protocols.wording import Filling, Variable
from suites.long_dialogue.schemes import ANSWER_RIGHT as RIGHT
from suites.long_dialogue.schemes import ANSWERS as SCHEME
from suites.long_dialogue.scripts.answers import FAILED, UNKNOWN_TEXT, right_texts, verdict_of

CORRECT, WRONG = "correct", "wrong"
UNDECIDED = "undecided"
"""Prefix of the explanation, and flag, of an answer that stayed undecided after three replies."""
CANNOT_KNOW = f"{UNKNOWN_TEXT}: this cannot be known from the conversation"
NO_ANSWER = "this is no answer to a question about a script"
CALL_FAILED = "the call failed, so there is no reply"
BY_RULE = "the rule decides"
QUESTION = Variable("question", "the question as it was asked", required=True)
ANSWERS = Variable("answers", "the right answer, or the right answers", required=True)
REPLY = Variable("reply", "the reply that is judged", required=True)
FIELDS = Variable("fields", "the form of the reply", required=True)


class Contradiction(Unparseable):
    """A reply that calls the answer both correct and wrong, or neither."""


class AnswerMatch(Asking):
    """One call per reply that no rule scores: correct or wrong, exactly one of them.

    The question is repeated after a reply of both or neither, up to three calls in all; then the answer
    counts as wrong and undecided.
    """

    key = "answer_match"
    title = "Answers in a long dialogue: does the reply say what is right?"
    covers = "answer"
    reasks = 2
    repairs = False  # the source asks the same again
    reply_tokens = 20
    answers = {RIGHT: (SCHEME, RIGHT)}

    def refusal(self, case: Case, variant: str) -> str:
        """Return why no call is made: no reply, or the rule decides."""
        record = record_of(case)
        if record is None:
            return NO_ANSWER
        if record["outcome"] == FAILED:
            return CALL_FAILED
        verdict = verdict_of(record, _turn(case).text)
        return "" if verdict == UNDECIDED else f"{BY_RULE}: {verdict}"

    def prompt_file(self, variant: str) -> str:
        """All variants share one prompt file."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The question, the right answer and the reply; nothing of the dialogue."""
        return (QUESTION, ANSWERS, REPLY, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show the question, the right answer and the reply, quoted."""
        return {
            "question": lambda: _quoted("QUESTION", case, question_of(case)),
            "answers": lambda: _quoted("RIGHT ANSWER", case, *answers_of(case)),
            "reply": lambda: _quoted("REPLY", case, _turn(case).text),
            "fields": f'  "{CORRECT}": true or false, "{WRONG}": true or false',
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Two booleans."""
        return object_schema({CORRECT: {"type": "boolean"}, WRONG: {"type": "boolean"}})

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the JSON object; raise Contradiction unless exactly one field is true."""
        data = json_object(reply)
        if "".join(reply.split()) in "".join(_turn(case).text.split()):
            raise Unparseable("the reply repeats a text of the dialogue: the answer that it judges")
        flags = {name: _truth(data, name) for name in (CORRECT, WRONG)}
        if flags[CORRECT] == flags[WRONG]:
            both = "both" if flags[CORRECT] else "neither"
            raise Contradiction(f"{both} of {CORRECT} and {WRONG} is true")
        return Reading((Verdict(RIGHT, case.turn, float(flags[CORRECT])),))

    def given_up(self, error: Unparseable, case: Case) -> Reading | None:
        """Return wrong and undecided for a repeated both or neither; None, no answer, for other errors."""
        if not isinstance(error, Contradiction):
            return None
        why = f"{UNDECIDED}: {error} after {1 + self.reasks} replies"
        return Reading((Verdict(RIGHT, case.turn, 0.0, explanation=why),), (f"{UNDECIDED}: {error}",))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write which of the two is true."""
        is_right = number(find_verdict(reading, RIGHT, case.turn)) == 1
        return json.dumps({CORRECT: is_right, WRONG: not is_right})


def record_of(case: Case) -> Mapping[str, Any] | None:
    """Return the record of an answer, None if the turn has none."""
    record = _turn(case).extra.get("answer")
    return record if isinstance(record, Mapping) and "outcome" in record else None


def question_of(case: Case) -> str:
    """Return the question as put: the given turn right before the answer, at the same point."""
    assert case.turn is not None
    at = _turn(case).at
    before = case.continuation.turns[: case.turn]
    return next((turn.text for turn in reversed(before) if turn.given and turn.at == at), "")


def answers_of(case: Case) -> tuple[str, ...]:
    """Return the right answers; for an unanswerable question, a statement that nobody can know."""
    record = record_of(case) or {}
    if record.get("key") == UNKNOWN:
        return (CANNOT_KNOW,)
    return tuple(dict.fromkeys(right_texts(record)))


def _turn(case: Case) -> Turn:
    assert case.turn is not None
    return case.continuation.turns[case.turn]


def _quoted(title: str, case: Case, *texts: str) -> str:
    """Return texts as raters see them, quoted, each on its own lines."""
    lines: list[str] = []
    for text in texts:
        first, *rest = case.view.spoken(text).split("\n")
        lines += [first, *(f"      {line}" for line in rest)]
    return quote(title, lines)


def _truth(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name)
    if not isinstance(value, bool):
        raise Unparseable(f"the field {name} is missing or neither true nor false")
    return value


PROTOCOLS = {AnswerMatch.key: AnswerMatch()}
