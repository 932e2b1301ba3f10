"""Which of several responses is better, or their order: each response says of itself how good it is."""

from __future__ import annotations

import re
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.questions import Question, listed, questions
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.rubric_judge import filled
from demo.fake_model.truth import QUALITY, planted_number

LETTERS_ASKED = "Write the letters, best first"
"""What the wording of a question about an order says."""
TITLE = re.compile(r"RESPONSE ([A-J])")
TIE, BOTH_BAD = "tie", "both_bad"
MIDDLE, BAD = 3.0, 1.0
"""The quality of a response that says nothing of itself, and one of which two are both bad."""


class ComparisonJudge(Role):
    """Reads `{quality 4}` (or `{question_key 4}`) in each response: the highest is best, equal ones tie.

    Responses of quality 1 are both bad. `noise` is the chance of another answer, `position_bias` that of
    taking the response shown first whatever it says.
    """

    key = "comparison_judge"
    title = "which of the responses under letters is better, or their order"

    def recognises(self, request: Request) -> bool:
        """Several responses under letters, and a form of reply."""
        return not request.improves and len(responses(request)) > 1 and bool(request.fields)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return a JSON object with every field that is asked for."""
        shown = responses(request)
        schema = {key: Question(key, values) for key, values in questions(request).items()}
        known = {**schema, **listed(request)}
        text = "\n".join(shown.values())
        reply: dict[str, Any] = {}
        for field in request.fields:
            question = known.get(field)
            if question is not None and set(shown) & set(question.values):
                reply[field] = better(mind, question, shown)
            elif question is not None and _is_order(request, question):
                reply[field] = order(mind, question.key, shown)
            else:
                reply |= filled([field], known, mind, text)
        return Answer(reply)


def responses(request: Request) -> dict[str, str]:
    """Return the words of each response by its letter, in the order shown."""
    found = {}
    for title in request.titles:
        if (letter := TITLE.fullmatch(title)) is not None:
            found[letter[1]] = "\n".join(request.block(title) or ())
    return found


def better(mind: Mind, question: Question, shown: dict[str, str]) -> str:
    """Return the letter of the better one, a tie, or both bad; among the question's values."""
    first, second = sorted(shown)[:2]
    one, other = (quality(shown[letter], question.key) for letter in (first, second))
    true = first if one >= other else second
    if one == other:
        wanted = BOTH_BAD if one == BAD else TIE
        true = next((value for value in (wanted, TIE) if value in question.values), first)
    return str(_drawn(mind, question.key, "\n".join(shown.values()), true, first, question.values))


def order(mind: Mind, question: str, shown: dict[str, str]) -> str:
    """Return the letters best first, equal ones with = between them."""
    known = {letter: quality(text, question) for letter, text in shown.items()}
    levels = sorted(set(known.values()), reverse=True)
    groups = [[letter for letter in sorted(known) if known[letter] == level] for level in levels]
    true = ">".join("=".join(group) for group in groups)
    first = ">".join(sorted(shown))
    backwards = ">".join("=".join(group) for group in reversed(groups))
    return str(_drawn(mind, question, "\n".join(shown.values()), true, first, (true, backwards)))


def quality(text: str, question: str) -> float:
    """Return how good a text says it is."""
    for name in (question, QUALITY):
        if (told := planted_number(text, name)) is not None:
            return told
    return MIDDLE


def _drawn(mind: Mind, key: str, text: str, true: str, first: str, values: tuple[Any, ...]) -> Any:
    """Return the first shown where its position decides, else the true answer or, by chance, another."""
    bias = mind.errors.position_bias
    if bias and mind.draw(f"position {key}", text) < bias:
        return first
    others = [value for value in values if value != true]
    if others and (chance := mind.draw(key, text)) < mind.errors.of("noise", key):
        return others[int(chance / mind.errors.of("noise", key) * len(others))]
    return true


def _is_order(request: Request, question: Question) -> bool:
    """Whether a question without values is answered with letters: it says so, or its field is a text."""
    if re.search(rf"^{re.escape(question.key)}: .*{LETTERS_ASKED}", request.instruction, re.M):
        return True
    properties = {} if request.schema is None else request.schema.get("properties", {})
    told = properties.get(question.key, {"type": "string"})
    return not question.values and not question.in_words and '"string"' in str(told).replace("'", '"')
