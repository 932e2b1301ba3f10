"""A script as one condition shows it: under its names, with its memory and its questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.records import Dialogue, Turn
from annotation.scripts.answers import NATURAL, OPEN, TEMPLATE, UNKNOWN_TEXT
from annotation.scripts.names import mapped, mapped_question, renamed
from annotation.scripts.records import DEFAULT_STYLE, LETTERS, NameMap, Question, Use
from systems.long_dialogue.heard import Heard
from systems.long_dialogue.material import Material, text_digest
from systems.long_dialogue.memory import SUMMARY, UTTERANCE, Memory, Utterances, WholeSessions
from systems.long_dialogue.retrieval import EMBEDDING, ByVectors, ByWords, Search
from systems.long_dialogue.walking import Ask

# How a question is put: with options (A) to (E), with the options inside its sentence, or without any.


def choices_of(question: Question, use: Use) -> tuple[str, ...]:
    """Return the texts of A to D as they are shown in a use."""
    return tuple(question.choices[int(place)] for place in use.order)


def shown(text: str, choices: Sequence[str], form: str) -> str:
    """Return a question as it is asked in a format; ValueError for a format that there is not."""
    if form == OPEN:
        return text
    if form == TEMPLATE:
        options = zip(LETTERS, (*choices, UNKNOWN_TEXT), strict=True)
        return "\n".join([text, *(f"({letter}) {option}" for letter, option in options)])
    if form == NATURAL:
        return _inside(text, choices)
    raise ValueError(f"there is no format {form!r}")


def _inside(text: str, choices: Sequence[str]) -> str:
    """Return a question that names its options before its question mark."""
    offered = f"{', '.join(choices)}, or don't you know"
    asked, mark, rest = text.rpartition("?")
    return f"{asked}: {offered}?{rest}" if mark else f"{text}: {offered}?"


class NoMaterial(ValueError):
    """What a condition needs is not there; the message says what."""


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put: its text with whatever it offers, A to D as shown, and the right answers."""

    text: str
    query: str
    choices: tuple[str, ...]
    answer: str
    answers: tuple[str, ...]


class World:
    """The script and its questions under one map of names, None for their own."""

    def __init__(self, material: Material, names: NameMap | None) -> None:
        self.material = material
        self._names = names
        self.dialogue: Dialogue = mapped(material.dialogue, names)
        self.heard = Heard(self.dialogue)
        self._own = Heard(material.dialogue)
        self._questions = {question.id: question for question in material.questions}

    @cached_property
    def main(self) -> str:
        """The id of the main character."""
        return self.heard.sessions.main

    def put(self, ask: Ask, form: str) -> Put:
        """Return a question as it is put by its asker, in a format."""
        question = self._mapped(ask.question)
        choices = choices_of(question, ask.use)
        text = styled(question, ask.asker)
        query = f"{self.heard.name(ask.asker)}: {text}"
        answers = question.answers or tuple(filter(None, (question.answer,)))
        return Put(shown(text, choices, form), query, choices, question.answer, answers)

    def said(self, ask: Ask, text: str) -> Turn:
        """Return a question as a turn of its asker to the main character."""
        return Turn(ask.asker, text, addressees=(self.main,))

    def search(self, memory: str, retriever: str) -> Search:
        """Return a memory with what ranks it.

        Raises NoMaterial where there is nothing to rank it by, NoSummary for a session without one.
        """
        self.check(memory, retriever)
        held = self._memory(memory)
        if retriever != EMBEDDING or self.material.vectors is None:
            return Search(held, ByWords(held.entries))
        return Search(held, ByVectors(held.entries, self.material.vectors))

    def check(self, memory: str, retriever: str) -> None:
        """Raise NoMaterial where nothing embeds, NoSummary for a session without one."""
        if retriever == EMBEDDING and self.material.vectors is None:
            raise NoMaterial("nothing embeds texts here: choose the retriever bm25")
        if memory == SUMMARY:
            self._memory(memory)

    def _memory(self, memory: str) -> Memory:
        if memory == UTTERANCE:
            return Utterances(self.heard)
        return WholeSessions(self.heard, self._summary if memory == SUMMARY else None)

    def _summary(self, number: int) -> str | None:
        """Return the summary of a session as it is told under these names, None where there is none.

        One that was made of the text under these names comes first, else the script's own is mapped.
        """
        summaries = self.material.summaries
        made = summaries.get(text_digest(self.heard.text(number)))
        if made is not None or self._names is None:
            return made
        own = summaries.get(text_digest(self._own.text(number)))
        return None if own is None else renamed(own, self._names)

    def _mapped(self, question: str) -> Question:
        return mapped_question(self._questions[question], self._names)


def styled(question: Question, asker: str) -> str:
    """Return a question's text as somebody asks it: in a style of their own, else in the usual one."""
    return question.styles.get(asker) or question.styles.get(DEFAULT_STYLE) or question.text
