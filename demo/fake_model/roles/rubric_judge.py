"""Any scheme's questions, about a turn or a continuation: the prompt says which, and in which form."""

from __future__ import annotations

import re
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.questions import Question, listed, questions
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.behaviour_judge import MARKED, behaviours, only_behaviours
from demo.fake_model.roles.overall_judge import SCORES
from demo.fake_model.truth import planted_number, planted_value, shows_planted

_WHY = "_explanation"
_ENTRIES = re.compile(r'"([\w-]+)": \[\{(.*?)\}')
_NAME = re.compile(r'"([\w-]+)"\s*:')
YES_OR_NO = ((0, 1), (False, True), ("no", "yes"))
MIDDLE = 3
EVIDENCE, FIRST = "_evidence", 1


class RubricJudge(Role):
    """Reads `{question_key 4}` or `{question_key value}` in what is judged, or `{quality 4}` laid over the
    values. A yes-or-no question is answered yes where `{question_key}` is planted.

    The reply is one value on a line, a JSON object, or one with an entry for every numbered turn.
    """

    key = "rubric_judge"
    title = "any questions, listed under their keys or in a JSON schema"

    def recognises(self, request: Request) -> bool:
        """Something that is judged, and questions with values, other than the judges' above."""
        if judged(request) is None or request.improves or request.score_lines:
            return False
        asked = {name.removesuffix(_WHY) for name in request.fields}
        return bool(asked_for(request)) and not only_behaviours(request) and asked != set(SCORES)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the one value on a line, or a JSON object with every field that is asked for."""
        known, text = asked_for(request), judged(request) or ""
        if not request.fields:
            value = answered(mind, next(iter(known.values())), text)
            return Answer(lines=[f"{int(value) if isinstance(value, bool) else value}"])
        name, inner = entries(request)
        outer = [field for field in request.fields if field != name and field not in inner]
        reply: dict[str, Any] = {}
        for field in outer:
            if field in request.fields and field.removesuffix(MARKED) in behaviours(request):
                reply[field] = marked(request, mind, field.removesuffix(MARKED))
        reply |= filled([field for field in outer if field not in reply], known, mind, text)
        if name:
            reply[name] = [self._entry(turn.number, turn.text, inner, reply, known, mind)
                           for turn in request.numbered()]  # fmt: skip
        return Answer({field: reply[field] for field in request.fields if field in reply})

    @staticmethod
    def _entry(
        number: int | None,
        text: str,
        inner: list[str],
        marks: dict[str, Any],
        known: dict[str, Question],
        mind: Mind,
    ) -> dict[str, Any]:
        beside = {
            field.removesuffix(MARKED): int(number in turns)
            for field, turns in marks.items()
            if field.endswith(MARKED) and isinstance(turns, list)
        }
        return {inner[0]: number} | filled(inner[1:], known, mind, text, beside)


def filled(
    fields: list[str],
    known: dict[str, Question],
    mind: Mind,
    text: str,
    beside: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a value for every field that has some, null for one that is not asked, the first turn for what
    an answer points at, and a sentence for every other text."""
    reply: dict[str, Any] = {}
    for name in fields:
        question = known.get(name)
        if question is None:
            reply[name] = [FIRST] if name.endswith(EVIDENCE) else "as it says"
        elif not question.is_asked({**(beside or {}), **reply}):
            reply[name] = None
        else:
            reply[name] = answered(mind, question, text)
    return reply


def answered(mind: Mind, question: Question, text: str) -> Any:
    """Return the answer to a question about a text."""
    key, values = question.key, question.values
    if question.in_words:
        return planted_value(text, key) or "as it says"
    if not values:
        told = planted_number(text, key)
        return min(max(MIDDLE if told is None else told, question.low), question.high)
    if values in YES_OR_NO:
        told_yes = shows_planted(text, key) and planted_value(text, key) not in ("no", "False", "false")
        return values[mind.yes_or_no(key, text, told_yes)]
    if all(isinstance(value, str) for value in values):
        return mind.choose(key, text, values)
    return mind.score(key, text, values)


def marked(request: Request, mind: Mind, key: str) -> list[int | None]:
    """Return the numbers of the turns that are seen to show a behaviour."""
    return [turn.number for turn in request.numbered() if mind.sees(key, turn.text)]


def judged(request: Request) -> str | None:
    """Return the words of what is judged: the response, else the numbered turns; None without either."""
    if (text := request.response()) is not None:
        return text
    if request.block("TURNS") is None:
        return None
    return "\n".join(turn.text for turn in request.numbered())


def asked_for(request: Request) -> dict[str, Question]:
    """Return the questions that are asked, by key: as the text lists them, else as the schema has them."""
    schema = {key: Question(key, values) for key, values in questions(request).items()}
    return {**schema, **listed(request)}


def entries(request: Request) -> tuple[str, list[str]]:
    """Return the name of the list that has an entry for every turn, and the fields of an entry."""
    if request.schema is not None:
        for name, field in request.schema.get("properties", {}).items():
            inner = field.get("items", {}).get("properties") if isinstance(field, dict) else None
            if inner:
                return str(name), list(inner)
    elif found := _ENTRIES.search(request.instruction):
        return found[1], _NAME.findall(found[2])
    return "", []
