"""Trials at one script: what is asked in each, and what the agent is shown there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.records import Turn
from annotation.scripts.dates import spoken
from annotation.scripts.evidence import Extent, Moment, question_sufficiency
from annotation.scripts.names import names_of
from annotation.scripts.records import Question
from annotation.scripts.sessions import script_of
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from systems.generators.base import Settings, State
from systems.generators.texts import filled
from systems.long_dialogue import settings as named
from systems.long_dialogue.kept import Kept
from systems.long_dialogue.material import Material
from systems.long_dialogue.memory import RETRIEVED, UTTERANCE, Entry
from systems.long_dialogue.recalling import Recall, Wanted, lines_of, shown_by
from systems.long_dialogue.retrieval import BM25, Chosen
from systems.long_dialogue.walking import Ask, Offers, Walk, walk_offers
from systems.long_dialogue.world import NoMaterial, Put, World

VERSION = 1
"""The version of the prompts."""
SPARE = 500
"""Tokens of the context that the history never takes: the rest of the prompt and the reply do."""
REPLY = 100
"""Tokens that are left for a reply, where the rest of the prompt takes more than usual."""
YOU, NOW, HISTORY, QUESTION = "YOU", "NOW", "HISTORY", "QUESTION"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked: its prompt, and what stands in it."""

    ask: Ask
    put: Put
    chosen: Chosen
    extent: Extent
    prompt: Prompt


class Trials:
    """The trials at one script, under any settings: what takes long is worked out once."""

    def __init__(self, material: Material, by_words: bool = False) -> None:
        self.material, self._by_words = material, by_words
        self.questions = {question.id: question for question in material.questions}
        self.main = script_of(material.dialogue).main
        self._walks: Kept[Walk] = Kept(50)
        self._worlds: Kept[World] = Kept(3)
        self._recalls: Kept[Recall] = Kept(4)
        self._asked: Kept[Asked] = Kept(1000)

    def rough(self) -> Trials:
        """Return the trials as an estimate goes through them: without anything embedded."""
        return self if self.material.vectors is None else Trials(self.material, by_words=True)

    @cached_property
    def _offers(self) -> Offers:
        return Offers(self.material.dialogue, self.material.questions, self.material.uses)

    def walk(self, settings: Settings, trial: int) -> Walk:
        """Return what a trial asks; it hangs on nothing of the system."""
        chosen = named.walk_settings(settings)
        return self._walks.get(
            (chosen, trial), lambda: walk_offers(self._offers, trial=trial, settings=chosen)
        )

    def asks(self, state: State) -> tuple[Ask, ...]:
        """Return the questions of a state's trial."""
        return self.walk(state["settings"], state["trial"]).asks

    def world(self, settings: Settings) -> World:
        """Return the script under its names. Raises NoMaterial for a name map that it does not have."""
        chosen = str(settings[named.NAMES])
        try:
            names = names_of(script_of(self.material.dialogue), chosen)
        except ValueError as error:
            raise NoMaterial(str(error).removesuffix(".")) from error
        return self._worlds.get(names, lambda: World(self.material, names))

    def recall(self, settings: Settings) -> Recall:
        """Return the agent's memory. Raises NoMaterial, and NoSummary, where it lacks something."""
        memory = str(settings[named.MEMORY])
        retriever = BM25 if self._by_words else str(settings[named.RETRIEVER])
        world = self.world(settings)

        def made() -> Recall:
            search = world.search(memory, retriever) if memory in RETRIEVED else None
            return Recall(world.heard, memory, self.material.count_tokens, search)

        return self._recalls.get((settings[named.NAMES], memory, retriever), made)

    def question(self, state: State, number: int) -> Asked:
        """Return a question of a trial as it is asked; the answers before it are in the state."""
        key = [*state["settings"].items(), state["trial"], number]
        if state["settings"][named.REMEMBER]:
            key += [answer["text"] for answer in state["answers"][:number]]
        return self._asked.get(tuple(key), lambda: self._question(state, number))

    def moment(self, ask: Ask) -> Moment:
        """Return when a question is asked."""
        return Moment(ask.session, ask.point)

    def _question(self, state: State, number: int) -> Asked:
        settings, ask = state["settings"], self.asks(state)[number]
        world, recall = self.world(settings), self.recall(settings)
        put = world.put(ask, settings[named.FORMAT])
        wanted = Wanted(
            moment=self.moment(ask),
            query=put.query,
            evidence=self.evidence(self.questions[ask.question]),
            k=settings[named.K],
            order=settings[named.ORDER],
            budget=self._budget(settings, world, ask, put),
            said=tuple(self._said(state, number)) if settings[named.REMEMBER] else (),
        )
        chosen = recall.recalled(wanted)
        extent = question_sufficiency(
            self.questions[ask.question],
            shown_by(chosen.entries),
            sessions=world.heard.sessions,
            asked=wanted.moment,
        )
        prompt = _prompt(settings, world, ask, put, lines_of(chosen.entries))
        return Asked(ask, put, chosen, extent, prompt)

    def evidence(self, question: Question) -> tuple[int, ...]:
        """Return the numbers of the sessions that give a question's answer."""
        numbers = self._offers.sessions.numbers
        return tuple(sorted({numbers[session] for session in question.evidence}))

    def _budget(self, settings: Settings, world: World, ask: Ask, put: Put) -> int | None:
        """Return how many tokens the history may take, None for any number."""
        context = int(settings[named.CONTEXT]) or self.material.context
        if not context:
            return None
        bare = _prompt(settings, world, ask, put, ())
        rest = self.material.count_tokens(bare.system) + self.material.count_tokens(bare.user)
        return context - max(SPARE, rest + REPLY)

    def _said(self, state: State, number: int) -> Iterator[Entry]:
        """Yield what was asked and answered before a question, as it is remembered."""
        settings = state["settings"]
        world = self.world(settings)
        pairs = zip(self.asks(state)[:number], state["answers"], strict=False)
        for ask, answer in pairs:
            put = world.put(ask, settings[named.FORMAT])
            asked = world.heard.said(world.said(ask, put.text))
            replied = world.heard.said(_replied(world.main, answer))
            heading = world.heard.headings[ask.session]
            sought = "\n".join((heading, *asked))
            if settings[named.MEMORY] == UTTERANCE:
                yield Entry(ask.session, heading, asked, ask.point + 0.25, sought=sought)
                yield Entry(ask.session, heading, replied, ask.point + 0.5, sought=sought)
            else:
                yield Entry(ask.session, heading, (*asked, *replied), ask.point + 0.5, sought=sought)


def _replied(main: str, answer: dict[str, Any]) -> Turn:
    return Turn(main, answer["text"], act="message" if answer["text"].strip() else "silence")


def _prompt(
    settings: Settings, world: World, ask: Ask, put: Put, history: list[str] | tuple[str, ...]
) -> Prompt:
    heard = world.heard
    blocks = [
        quote(YOU, [heard.name(world.main)]),
        quote(NOW, [spoken(heard.sessions[ask.session].date)]),
        quote(HISTORY, history),
        quote(QUESTION, heard.said(world.said(ask, put.text))),
    ]
    name = f"dialsim_answer_{settings[named.FORMAT]}"
    return filled(name, VERSION, {"blocks": "\n\n".join(blocks)})
