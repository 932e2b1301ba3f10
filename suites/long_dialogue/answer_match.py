"""Whether a free reply to a question about a long dialogue says what the right answer says.

After DialSim's scoring of answers without letters (`dialsim.md`, section 8); the wording is Concord's own.
Where the rule decides, by equality or by a phrase that says not to know, nothing is asked: the answer of this
judge is missing there, with the reason, and reports take the rule's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotation.records import Turn
from annotation.script_records import UNKNOWN
from jobs.prompt import Unparseable
from judges.protocols.protocol import Asking, Case, Reading, Verdict, find_verdict, number
from judges.protocols.questions import object_of
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from judges.protocols.wording import Filling, Variable
from suites.long_dialogue.schemes import ANSWER_RIGHT as RIGHT
from suites.long_dialogue.schemes import ANSWERS as SCHEME
from suites.long_dialogue.scripts.answers import FAILED, UNKNOWN_TEXT, right_texts, verdict_of

CORRECT, WRONG = "correct", "wrong"
UNDECIDED = "undecided"
"""How the explanation of an answer begins, and its flag, that three replies did not decide."""
CANNOT_KNOW = f"{UNKNOWN_TEXT}: this cannot be known from the conversation"
NO_ANSWER = "this is no answer to a question about a script"
CALL_FAILED = "the call failed, so there is no reply"
BY_RULE = "the rule decides"
QUESTION = Variable("question", "the question as it was asked", required=True)
ANSWERS = Variable("answers", "the right answer, or the right answers", required=True)
REPLY = Variable("reply", "the reply that is judged", required=True)
FIELDS = Variable("fields", "the form of the reply", required=True)


class Contradiction(Unparseable):
    """A reply that says both that the answer is correct and that it is wrong, or neither."""


class AnswerMatch(Asking):
    """One call per reply that no rule scores: correct or wrong, exactly one of them.

    Both or neither is asked for again, at most three times in all; then the answer is wrong and undecided.
    """

    key = "answer_match"
    title = "Answers in a long dialogue: does the reply say what is right?"
    covers = "answer"
    reasks = 2
    reply_tokens = 20
    answers = {RIGHT: (SCHEME, RIGHT)}

    def refusal(self, case: Case, variant: str) -> str:
        """Nothing is asked where the rule decides, or where there is no reply."""
        record = record_of(case)
        if record is None:
            return NO_ANSWER
        if record["outcome"] == FAILED:
            return CALL_FAILED
        verdict = verdict_of(record, _turn(case).text)
        return "" if verdict == UNDECIDED else f"{BY_RULE}: {verdict}"

    def prompt_file(self, variant: str) -> str:
        """There is one text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The question, what is right, and the reply; nothing of the dialogue."""
        return (QUESTION, ANSWERS, REPLY, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show what was asked, what is right and what was replied, quoted."""
        return {
            "question": lambda: _quoted("QUESTION", case, question_of(case)),
            "answers": lambda: _quoted("RIGHT ANSWER", case, *answers_of(case)),
            "reply": lambda: _quoted("REPLY", case, _turn(case).text),
            "fields": f'  "{CORRECT}": true or false, "{WRONG}": true or false',
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Two truth values."""
        return object_of({CORRECT: {"type": "boolean"}, WRONG: {"type": "boolean"}})

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
        """An answer that stays both or neither is wrong and undecided; another reply is no answer."""
        if not isinstance(error, Contradiction):
            return None
        why = f"{UNDECIDED}: {error} after {1 + self.reasks} replies"
        return Reading((Verdict(RIGHT, case.turn, 0.0, explanation=why),), (f"{UNDECIDED}: {error}",))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say which of the two is true."""
        is_right = number(find_verdict(reading, RIGHT, case.turn)) == 1
        return json.dumps({CORRECT: is_right, WRONG: not is_right})


def record_of(case: Case) -> Mapping[str, Any] | None:
    """Return an answer's own record, None where the turn has none."""
    record = _turn(case).extra.get("answer")
    return record if isinstance(record, Mapping) and "outcome" in record else None


def question_of(case: Case) -> str:
    """Return the question as it was asked: the given turn right before the answer, at the same point."""
    assert case.turn is not None
    at = _turn(case).at
    before = case.continuation.turns[: case.turn]
    return next((turn.text for turn in reversed(before) if turn.given and turn.at == at), "")


def answers_of(case: Case) -> tuple[str, ...]:
    """Return what is right, each by itself; of what cannot be known, that it cannot."""
    record = record_of(case) or {}
    if record.get("key") == UNKNOWN:
        return (CANNOT_KNOW,)
    return tuple(dict.fromkeys(right_texts(record)))


def _turn(case: Case) -> Turn:
    assert case.turn is not None
    return case.continuation.turns[case.turn]


def _quoted(title: str, case: Case, *texts: str) -> str:
    """Return texts as raters see them, quoted, each on lines of its own."""
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
