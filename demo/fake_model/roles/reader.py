"""A reader of a long dialogue: it gives the answer where its history holds the evidence, else it abstains or
guesses.

The truth stands in the prompt. A turn of the history that gives the answer to a question holds
`{evidence q17}`, or `{evidence q17 1/2}` where it is one of two parts that are both needed. The question
holds `{answer q17 ...}` with the right answer's text, or its letter, after the id. Ids are compared by their
letters and digits alone, so that `{answer q.17 ...}` keeps a retriever from going by the id itself.
Keys of its own in an error model:

e          the chance to miss although the evidence is there: then one of the other four options, uniformly
g          the chance to choose (E) where it is not; else uniformly one of A to E
knows      answers by question, known from elsewhere: an object of texts, the questions without what stands in
           braces. Such a question is answered as if the evidence were there, under its original names only.

Every draw is of the history and the question, and of the seed where the request has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demo.fake_model.errors import fold
from demo.fake_model.mind import Mind
from demo.fake_model.problems import ErrorFileProblem
from demo.fake_model.reading import Request, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

LETTERS, UNKNOWN = "ABCDE", "E"
UNKNOWING = "I don't know"
_EVIDENCE = re.compile(r"\{evidence ([^\s{}]+)(?: (\d+)/(\d+))?\}")
_ANSWER = re.compile(r"\{answer ([^\s{}]+)(?: ([^{}]*))?\}")
_MARKER = re.compile(r"\s*\{[^{}]*\}")
_OPTION = re.compile(r"\(([A-E])\) (.*)")
_OFFERED = re.compile(r": (.*), or don't you know\?", re.S)


def known_answers(value: Any, where: str) -> Mapping[str, str]:
    """Return what is known from elsewhere, by the folded question; raise ErrorFileProblem."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise ErrorFileProblem(f"{where}: an object of questions with their answers is needed")
    return {fold(question): answer for question, answer in value.items()}


@dataclass(frozen=True, slots=True)
class Exam:
    """A question as it stands in a prompt: its id, its bare text, its options by letter, and the answer's.

    `answer` is '' where the question says none, or one that is not offered. `sufficient` says that the
    history holds the evidence, `lists` that the options stand below the question with their letters.
    """

    id: str
    text: str
    options: Mapping[str, str]
    answer: str
    sufficient: bool
    lists: bool


class Reader(Role):
    """Answers a QUESTION from a HISTORY, as the one under YOU."""

    key = "reader"
    title = "the answer to a question about a long dialogue"
    own_keys = {"e": one_chance, "g": one_chance, "knows": known_answers}

    def recognises(self, request: Request) -> bool:
        """Who one is, what day it is, what one remembers, and a question."""
        return {"YOU", "NOW", "HISTORY", "QUESTION"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the letter, or the words of the option, that the reader chooses."""
        exam = exam_of(request)
        letter = letter_of(exam, mind, "\n".join([*(request.block("HISTORY") or ()), exam.text]))
        return Answer(lines=[f"({letter})" if exam.lists else exam.options[letter]])


def exam_of(request: Request) -> Exam:
    """Return the question of a prompt, with whether its history holds the evidence."""
    said = "\n".join(one.text for one in turns(request.block("QUESTION") or ())[-1:])
    marked = _ANSWER.search(said)
    key, told = (marked[1], marked[2] or "") if marked else ("", "")
    asked = _MARKER.sub("", said)
    options, text, lists = _offered(asked, told)
    letter = next((one for one, option in options.items() if fold(option) == fold(told)), "")
    history = "\n".join(request.block("HISTORY") or ())
    answer = told if told in LETTERS[:4] and told else letter
    return Exam(key, text, options, answer, bool(key) and sufficient(key, history), lists)


def sufficient(key: str, history: str) -> bool:
    """Whether a history holds the evidence of a question: an undivided part, or all parts of one division."""
    parts: dict[int, set[int]] = {}
    for marked, part, whole in _EVIDENCE.findall(history):
        if _same(marked) == _same(key):
            parts.setdefault(int(whole or 1), set()).add(int(part or 1))
    return any(len(held) >= whole for whole, held in parts.items())


def letter_of(exam: Exam, mind: Mind, text: str) -> str:
    """Return the letter that a reader chooses; `text` is what its draws are of."""
    own = mind.errors.own
    right = exam.answer if exam.sufficient else _remembered(exam, own.get("knows", {}))
    if right:
        others = [letter for letter in LETTERS if letter != right]
        return (
            _one(others, mind.draw("which", text)) if mind.draw("misses", text) < own.get("e", 0.0) else right
        )
    if mind.draw("abstains", text) < own.get("g", 0.0):
        return UNKNOWN
    return _one(LETTERS, mind.draw("guess", text))


def chance_right(exam: Exam, key: str, own: Mapping[str, Any]) -> float:
    """Return how likely the reader is right on a question with a key from A to E.

    A question without letters has options in an order of its own: its key is that of the answer, or (E).
    """
    key = key if exam.lists or key == UNKNOWN else exam.answer
    e, g = own.get("e", 0.0), own.get("g", 0.0)
    if right := exam.answer if exam.sufficient else _remembered(exam, own.get("knows", {})):
        return float(1 - e if right == key else e / 4)
    return float((1 - g) / 5 + (g if key == UNKNOWN else 0.0))


def expected(p: float, v: float, e: float, g: float) -> float:
    """Return the accuracy that is expected where a share p of questions has sufficient evidence in the prompt
    and a share v has the key (E)."""
    return p * (1 - e) + (1 - p) * (1 - g) / 5 + v * g


def _offered(asked: str, told: str) -> tuple[dict[str, str], str, bool]:
    """Return the options by letter, the question without them, and whether they are listed with letters.

    An open question offers none: its reader thinks of three wrong ones.
    """
    first, *more = asked.split("\n")
    listed = [match for line in more if (match := _OPTION.fullmatch(line))]
    if listed:
        return {match[1]: match[2] for match in listed}, first, True
    if inside := _OFFERED.search(asked):
        text = f"{asked[: inside.start()]}?"
        return dict(zip(LETTERS, (*_parted(inside[1], told), UNKNOWING), strict=False)), text, False
    thought = (told, *(f"something else ({number})" for number in (1, 2, 3)), UNKNOWING)
    return dict(zip(LETTERS, thought, strict=True)), asked, False


def _parted(text: str, told: str) -> list[str]:
    """Return four options from a sentence; where commas within them make more, those are the answer's."""
    parts = text.split(", ")
    if len(parts) == 4:
        return parts
    rest = text.replace(told, "", 1).strip(", ").split(", ") if told else parts
    size = max(1, len(rest) // 3)
    wrong = [", ".join(rest[at : at + size]) for at in range(0, len(rest), size)][:3]
    return [told, *wrong] if told else (wrong + ["something else"] * 4)[:4]


def _remembered(exam: Exam, knows: Mapping[str, str]) -> str:
    """Return the letter of an answer that is known from elsewhere, '' for none that is offered."""
    known = knows.get(fold(exam.text))
    return next((one for one, option in exam.options.items() if known and fold(option) == fold(known)), "")


def _one(letters: Sequence[str], draw: float) -> str:
    return letters[int(draw * len(letters))]


def _same(key: str) -> str:
    return "".join(letter for letter in key if letter.isalnum()).casefold()
