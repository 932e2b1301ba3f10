"""A script as one condition shows it: under its names, with its memory and its questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from annotation.records import Dialogue, Turn
from annotation.scripts.names import mapped, mapped_question
from annotation.scripts.records import DEFAULT_STYLE, ORIGINAL, NameMap, Question, Script
from annotation.scripts.sessions import script_of
from systems.long_dialogue.heard import Heard
from systems.long_dialogue.material import Material, text_digest
from systems.long_dialogue.memory import SUMMARY, UTTERANCE, Memory, Utterances, WholeSessions
from systems.long_dialogue.retrieval import EMBEDDING, ByVectors, ByWords, Search
from systems.long_dialogue.showing import choices_of, shown
from systems.long_dialogue.walking import Ask


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
        self.dialogue: Dialogue = material.dialogue if names is None else mapped(material.dialogue, names)
        self.heard = Heard(self.dialogue)
        self._own = Heard(material.dialogue)
        self._questions = {question.id: question for question in material.questions}
        pairs = zip(material.dialogue.turns, self.dialogue.turns, strict=True)
        self._speakers = {before.speaker: after.speaker for before, after in pairs}

    @cached_property
    def main(self) -> str:
        """The id of the main character, under these names."""
        return self.heard.sessions.main

    def speaker(self, speaker: str) -> str:
        """Return the id of a speaker of the script under these names."""
        return self._speakers.get(speaker, speaker)

    def put(self, ask: Ask, form: str) -> Put:
        """Return a question as it is put by its asker, in a format."""
        question = self._mapped(ask.question)
        choices = choices_of(question, ask.use)
        text = styled(question, ask.asker)
        query = f"{self.heard.name(self.speaker(ask.asker))}: {text}"
        answers = question.answers or (question.answer,)
        return Put(shown(text, choices, form), query, choices, question.answer, answers)

    def said(self, ask: Ask, text: str) -> Turn:
        """Return a question as a turn of its asker to the main character."""
        return Turn(self.speaker(ask.asker), text, addressees=(self.main,))

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
        return None if own is None else self._text(own)

    def _text(self, text: str) -> str:
        """Return a text under these names."""
        assert self._names is not None
        alone = replace(self.material.dialogue, turns=(Turn(script_of(self.material.dialogue).main, text),))
        return mapped(alone, self._names).turns[0].text

    def _mapped(self, question: str) -> Question:
        own = self._questions[question]
        return own if self._names is None else mapped_question(own, self._names)


def styled(question: Question, asker: str) -> str:
    """Return a question's text as somebody asks it: in a style of their own, else in the usual one."""
    return question.styles.get(asker) or question.styles.get(DEFAULT_STYLE) or question.text


def names_of(script: Script, setting: str) -> NameMap | None:
    """Return the name map of a setting, KIND@VERSION or the last of its kind; None for the original names.

    Raises NoMaterial for one that the script does not have.
    """
    if setting == ORIGINAL:
        return None
    kind, _, version = setting.partition("@")
    held = [one for one in script.names if one.kind == kind and version in ("", str(one.version))]
    if not held:
        raise NoMaterial(f"it has no name map {setting}")
    return max(held, key=lambda one: one.version)
