"""Trials at one script: what is asked in each, and what the agent is shown there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.records import Act, Turn
from annotation.scripts.answers import (
    FAILED,
    LATE,
    NATURAL,
    NONE,
    TEMPLATE,
    TEXT,
    Extent,
    Moment,
    Outcome,
    late,
    question_sufficiency,
    read_natural,
    read_template,
)
from annotation.scripts.names import names_of
from annotation.scripts.records import Question
from annotation.scripts.sessions import script_of, spoken
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from systems.generators.base import Settings, State, filled
from systems.long_dialogue import trial_settings
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
        chosen = trial_settings.walk_settings(settings)
        return self._walks.get(
            (chosen, trial), lambda: walk_offers(self._offers, trial=trial, settings=chosen)
        )

    def asks(self, state: State) -> tuple[Ask, ...]:
        """Return the questions of a state's trial."""
        return self.walk(state["settings"], state["trial"]).asks

    def world(self, settings: Settings) -> World:
        """Return the script under its names. Raises NoMaterial for a name map that it does not have."""
        chosen = str(settings[trial_settings.NAMES])
        try:
            names = names_of(script_of(self.material.dialogue), chosen)
        except ValueError as error:
            raise NoMaterial(str(error).removesuffix(".")) from error
        return self._worlds.get(names, lambda: World(self.material, names))

    def recall(self, settings: Settings) -> Recall:
        """Return the agent's memory. Raises NoMaterial, and NoSummary, where it lacks something."""
        memory = str(settings[trial_settings.MEMORY])
        retriever = BM25 if self._by_words else str(settings[trial_settings.RETRIEVER])
        world = self.world(settings)

        def made() -> Recall:
            search = world.search(memory, retriever) if memory in RETRIEVED else None
            return Recall(world.heard, memory, self.material.count_tokens, search)

        return self._recalls.get((settings[trial_settings.NAMES], memory, retriever), made)

    def question(self, state: State, number: int) -> Asked:
        """Return a question of a trial as it is asked; the answers before it are in the state."""
        key = [*state["settings"].items(), state["trial"], number]
        if state["settings"][trial_settings.REMEMBER]:
            key += [answer["text"] for answer in state["answers"][:number]]
        return self._asked.get(tuple(key), lambda: self._question(state, number))

    def moment(self, ask: Ask) -> Moment:
        """Return when a question is asked."""
        return Moment(ask.session, ask.point)

    def _question(self, state: State, number: int) -> Asked:
        settings, ask = state["settings"], self.asks(state)[number]
        world, recall = self.world(settings), self.recall(settings)
        put = world.put(ask, settings[trial_settings.FORMAT])
        wanted = Wanted(
            moment=self.moment(ask),
            query=put.query,
            evidence=self.evidence(self.questions[ask.question]),
            k=settings[trial_settings.K],
            order=settings[trial_settings.ORDER],
            budget=self._budget(settings, world, ask, put),
            said=tuple(self._said(state, number)) if settings[trial_settings.REMEMBER] else (),
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
        context = int(settings[trial_settings.CONTEXT]) or self.material.context
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
            put = world.put(ask, settings[trial_settings.FORMAT])
            asked = world.heard.said(world.said(ask, put.text))
            replied = world.heard.said(_replied(world.main, answer))
            heading = world.heard.headings[ask.session]
            sought = "\n".join((heading, *asked))
            if settings[trial_settings.MEMORY] == UTTERANCE:
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
    name = f"dialsim_answer_{settings[trial_settings.FORMAT]}"
    return filled(name, VERSION, {"blocks": "\n\n".join(blocks)})


# What came of a trial: each question as a given turn, then its answer with all that is known of it.

Json = dict[str, Any]


def turns_of(trials: Trials, state: State) -> tuple[Turn, ...]:
    """Return the turns of a trial that is answered: pairs of a given question and an answer."""
    return tuple(turn for number in range(len(state["answers"])) for turn in _pair(trials, state, number))


def outcome_of(answer: Mapping[str, Any], asked: Asked, settings: Settings) -> Outcome:
    """Return what an answer came to: a letter, or why there is none. `seconds` are those of its reply."""
    if "error" in answer:
        return Outcome(FAILED)
    limit = int(settings[trial_settings.LIMIT]) or None
    if answer["seconds"] is not None and late(answer["seconds"], limit):
        return Outcome(LATE)
    if settings[trial_settings.FORMAT] == TEMPLATE:
        return read_template(answer["text"], asked.put.choices)
    if settings[trial_settings.FORMAT] == NATURAL:
        return read_natural(answer["text"], asked.put.choices)
    return Outcome(TEXT if answer["text"].strip() else NONE)


def _pair(trials: Trials, state: State, number: int) -> Iterator[Turn]:
    asked, answer = trials.question(state, number), state["answers"][number]
    ask = asked.ask
    main = trials.main
    at, session = ask.point + 1, ask.use.session
    yield Turn(ask.asker, asked.put.text, given=True, at=at, session=session, addressees=(main,))
    extra = {"answer": _told(trials, state, asked, answer)}
    act: Act = "message" if answer["text"].strip() else "silence"
    yield Turn(main, answer["text"], at=at, session=session, addressees=(ask.asker,), act=act, extra=extra)


def _told(trials: Trials, state: State, asked: Asked, answer: Mapping[str, Any]) -> Json:
    settings = state["settings"]
    outcome = outcome_of(answer, asked, settings)
    question = trials.questions[asked.ask.question]
    return {
        **_of_question(trials, question, asked, settings),
        "outcome": outcome.value,
        "lenient": outcome.lenient,
        "seconds": answer["seconds"],
        "retrieval": {
            "sessions": sorted({entry.session for entry in asked.chosen.entries}),
            "evidence": asked.extent,
            "k": asked.chosen.k,
            "k_asked": settings[trial_settings.K] or None,
        },
        "distance": _distance(trials, question, asked, trials.recall(settings)),
        **({"error": answer["error"]} if "error" in answer else {}),
    }


def _of_question(trials: Trials, question: Question, asked: Asked, settings: Settings) -> Json:
    ask, use, put = asked.ask, asked.ask.use, asked.put
    return {
        "question": question.id,
        "set": settings[trial_settings.SET],
        "session": ask.session,
        "use": use.type,
        "answerable": use.answerable,
        "key": use.key,
        "answer": put.answer,
        "answers": list(put.answers),
        "choices": list(put.choices),
        "source": question.source,
        "hops": question.hops,
        "relations": list(question.relations),
        "forms": list(question.forms),
        "asker": ask.asker,
        "evidence": list(trials.evidence(question)),
        "evidence_all": question.evidence_all,
        "rule": use.rule,
        "format": settings[trial_settings.FORMAT],
        "names": settings[trial_settings.NAMES],
        "class": {"wanted": ask.wanted, "asked": ask.asked, "owed": list(ask.owed)},
    }


def _distance(trials: Trials, question: Question, asked: Asked, recall: Recall) -> Json:
    """Return how far back the most recent evidence is that was heard, in sessions and in heard tokens."""
    moment, heard = trials.moment(asked.ask), recall.heard
    places = [
        place
        for number in trials.evidence(question)
        if number <= moment.session
        for place in heard.of(number, moment.point if number == moment.session else None)
    ]
    told = [place for place in places if place in question.evidence_turns] or places
    if not told:
        return {"sessions": None, "tokens": None}
    session = heard.sessions.of_turn[told[-1]]
    return {
        "sessions": moment.session - session,
        "tokens": recall.tokens_between(told[-1], moment.point),
    }
