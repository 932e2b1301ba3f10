"""Any scheme's questions, about a turn or a continuation: the reply's form says which, with their values."""

from __future__ import annotations

from typing import Any

from demo.fake_model import truth
from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.behaviour_judge import behaviours
from demo.fake_model.roles.overall_judge import SCORES
from demo.fake_model.schema import Values, questions

_WHY = "_explanation"
YES_OR_NO = ((0, 1), (False, True), ("no", "yes"))


class RubricJudge(Role):
    """Reads `{question_key 4}` or `{question_key value}` in what is judged, or `{quality 4}` laid over the
    values. A yes-or-no question is answered yes where `{question_key}` is planted."""

    key = "rubric_judge"
    title = "any questions, by a JSON schema"

    def recognises(self, request: Request) -> bool:
        """Something that is judged, and a schema whose fields have values, other than the judges' above."""
        asked = {name.removesuffix(_WHY) for name in request.fields}
        return (
            not request.improves
            and judged(request) is not None
            and bool(questions(request))
            and not behaviours(request)
            and asked != set(SCORES)
        )

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return a value for every field that has some, and a sentence for every other text."""
        text, values = judged(request) or "", questions(request)
        reply: dict[str, Any] = {}
        for name in request.fields:
            reply[name] = answered(mind, name, text, values[name]) if name in values else "as it says"
        return Answer(reply)


def answered(mind: Mind, question: str, text: str, values: Values) -> Any:
    """Return the answer to a question about a text, one of its values."""
    if values in YES_OR_NO:
        told = truth.value(text, question)
        planted = truth.shows(text, question) and told not in ("no", "False", "false")
        return values[mind.yes_or_no(question, text, planted)]
    if all(isinstance(value, str) for value in values):
        return mind.choose(question, text, values)
    return mind.score(question, text, values)


def judged(request: Request) -> str | None:
    """Return the words of what is judged: the response, else the numbered turns; None without either."""
    if (text := request.response()) is not None:
        return text
    if request.block("TURNS") is None:
        return None
    return "\n".join(turn.text for turn in request.numbered())
