"""An agent that plays the main character of a long dialogue and answers questions about what it heard.

One step is one question. The state holds the answers so far; the next question, and the memory that its
prompt shows, follow from the script that the agent is bound to. Calls are never repeated: an unreadable reply
is an outcome, and so is a failed call. After DialSim (Kim et al. 2024).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.records import Act, Dialogue, Turn
from annotation.script_records import LETTERS, UNKNOWN, Question
from annotation.text.draws import one_of
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from suites.continuation.benchmarks.summary import SCHEMA, read
from suites.continuation.generators.generator import (
    Done,
    Failed,
    Generator,
    LruCache,
    Reply,
    Setting,
    Settings,
    State,
    Value,
    filled,
)
from suites.long_dialogue.agent import PROMPTS, trial_settings
from suites.long_dialogue.agent.memory import (
    BM25,
    FULL,
    NO_MEMORY,
    RETRIEVED,
    UTTERANCE,
    Entry,
    Heard,
    Material,
    NoSummary,
    Recall,
    Recalled,
    RecallRequest,
    TooLong,
    lines_of,
    prompt_content,
    text_digest,
)
from suites.long_dialogue.agent.trial_settings import (
    FORMAT,
    MEMORY,
    REMEMBER,
    RETRIEVER,
    SEED,
    SET,
    SETTINGS,
    settled,
)
from suites.long_dialogue.agent.walking import Ask, NoMaterial, Offers, Put, Walk, World, walk_offers
from suites.long_dialogue.scripts.answers import (
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
from suites.long_dialogue.scripts.names import names_of
from suites.long_dialogue.scripts.sessions import script_of, spoken

# Trials on one script: the questions of each, and the prompts of the agent.

VERSION = 1
"""Version of the prompts."""
SPARE = 500
"""Tokens of the context reserved for the rest of the prompt and the reply; the history never takes them."""
REPLY = 100
"""Tokens reserved for the reply when the rest of the prompt is longer than usual."""
YOU, NOW, HISTORY, QUESTION = "YOU", "NOW", "HISTORY", "QUESTION"


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question with its prompt and the content of that prompt."""

    ask: Ask
    put: Put
    recalled: Recalled
    extent: Extent
    prompt: Prompt


class Trials:
    """Trials on one script, under any settings; slow results are cached."""

    def __init__(self, material: Material, by_words: bool = False) -> None:
        self.material, self._by_words = material, by_words
        self.questions = {question.id: question for question in material.questions}
        self.main = script_of(material.dialogue).main
        self._walks: LruCache[Walk] = LruCache(50)
        self._worlds: LruCache[World] = LruCache(3)
        self._recalls: LruCache[Recall] = LruCache(4)
        self._prepared: LruCache[PreparedQuestion] = LruCache(1000)

    def rough(self) -> Trials:
        """Return the trials for a cost estimate: nothing is embedded."""
        return self if self.material.vectors is None else Trials(self.material, by_words=True)

    @cached_property
    def _offers(self) -> Offers:
        return Offers(self.material.dialogue, self.material.questions, self.material.uses)

    def walk(self, settings: Settings, trial: int) -> Walk:
        """Return the questions of a trial; they do not depend on the system."""
        walk_settings = trial_settings.walk_settings(settings)
        return self._walks.get(
            (walk_settings, trial), lambda: walk_offers(self._offers, trial=trial, settings=walk_settings)
        )

    def asks(self, state: State) -> tuple[Ask, ...]:
        """Return the questions of a state's trial."""
        return self.walk(state["settings"], state["trial"]).asks

    def world(self, settings: Settings) -> World:
        """Return the script under its names. Raises NoMaterial if the script lacks the name map."""
        name_map = str(settings[trial_settings.NAMES])
        try:
            names = names_of(script_of(self.material.dialogue), name_map)
        except ValueError as error:
            raise NoMaterial(str(error).removesuffix(".")) from error
        return self._worlds.get(names, lambda: World(self.material, names))

    def recall(self, settings: Settings) -> Recall:
        """Return the agent's memory. Raises NoMaterial, or NoSummary, for missing material."""
        memory = str(settings[trial_settings.MEMORY])
        retriever = BM25 if self._by_words else str(settings[trial_settings.RETRIEVER])
        world = self.world(settings)

        def build_recall() -> Recall:
            search = world.search(memory, retriever) if memory in RETRIEVED else None
            return Recall(world.heard, memory, self.material.count_tokens, search)

        return self._recalls.get((settings[trial_settings.NAMES], memory, retriever), build_recall)

    def question(self, state: State, number: int) -> PreparedQuestion:
        """Prepare a question of a trial; the state holds the answers before it."""
        key = [*state["settings"].items(), state["trial"], number]
        if state["settings"][trial_settings.REMEMBER]:
            key += [answer["text"] for answer in state["answers"][:number]]
        return self._prepared.get(tuple(key), lambda: self._question(state, number))

    def moment(self, ask: Ask) -> Moment:
        """Return the moment of a question: its session and point."""
        return Moment(ask.session, ask.point)

    def _question(self, state: State, number: int) -> PreparedQuestion:
        settings, ask = state["settings"], self.asks(state)[number]
        world, recall = self.world(settings), self.recall(settings)
        put = world.put(ask, settings[trial_settings.FORMAT])
        request = RecallRequest(
            moment=self.moment(ask),
            query=put.query,
            evidence=self.evidence(self.questions[ask.question]),
            k=settings[trial_settings.K],
            order=settings[trial_settings.ORDER],
            budget=self._budget(settings, world, ask, put),
            remembered=tuple(self._remembered_entries(state, number))
            if settings[trial_settings.REMEMBER]
            else (),
        )
        recalled = recall.recalled(request)
        extent = question_sufficiency(
            self.questions[ask.question],
            prompt_content(recalled.entries),
            sessions=world.heard.sessions,
            moment=request.moment,
        )
        prompt = _prompt(settings, world, ask, put, lines_of(recalled.entries))
        return PreparedQuestion(ask, put, recalled, extent, prompt)

    def evidence(self, question: Question) -> tuple[int, ...]:
        """Return the numbers of the sessions that contain a question's evidence."""
        numbers = self._offers.sessions.numbers
        return tuple(sorted({numbers[session] for session in question.evidence}))

    def _budget(self, settings: Settings, world: World, ask: Ask, put: Put) -> int | None:
        """Return the token budget of the history, None without a limit."""
        context = int(settings[trial_settings.CONTEXT]) or self.material.context
        if not context:
            return None
        bare = _prompt(settings, world, ask, put, ())
        rest = self.material.count_tokens(bare.system) + self.material.count_tokens(bare.user)
        return context - max(SPARE, rest + REPLY)

    def _remembered_entries(self, state: State, number: int) -> Iterator[Entry]:
        """Yield the earlier questions and answers of a trial as memory entries."""
        settings = state["settings"]
        world = self.world(settings)
        pairs = zip(self.asks(state)[:number], state["answers"], strict=False)
        for ask, answer in pairs:
            put = world.put(ask, settings[trial_settings.FORMAT])
            asked_lines = world.heard.turn_lines(world.question_turn(ask, put.text))
            replied = world.heard.turn_lines(_replied(world.main, answer))
            heading = world.heard.headings[ask.session]
            sought = "\n".join((heading, *asked_lines))
            if settings[trial_settings.MEMORY] == UTTERANCE:
                yield Entry(ask.session, heading, asked_lines, ask.point + 0.25, sought=sought)
                yield Entry(ask.session, heading, replied, ask.point + 0.5, sought=sought)
            else:
                yield Entry(ask.session, heading, (*asked_lines, *replied), ask.point + 0.5, sought=sought)


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
        quote(QUESTION, heard.turn_lines(world.question_turn(ask, put.text))),
    ]
    name = f"dialsim_answer_{settings[trial_settings.FORMAT]}"
    return filled(name, VERSION, {"blocks": "\n\n".join(blocks)}, folder=PROMPTS)


# Turns of a trial: each question as a given turn, then its answer with a record of everything known about it.

Json = dict[str, Any]


def turns_of(trials: Trials, state: State) -> tuple[Turn, ...]:
    """Return the turns of an answered trial: pairs of a given question and an answer."""
    return tuple(turn for number in range(len(state["answers"])) for turn in _pair(trials, state, number))


def outcome_of(answer: Mapping[str, Any], prepared: PreparedQuestion, settings: Settings) -> Outcome:
    """Score an answer: its letter, or the reason for none. `seconds` is the time that the reply took."""
    if "error" in answer:
        return Outcome(FAILED)
    limit = int(settings[trial_settings.LIMIT]) or None
    if answer["seconds"] is not None and late(answer["seconds"], limit):
        return Outcome(LATE)
    if settings[trial_settings.FORMAT] == TEMPLATE:
        return read_template(answer["text"], prepared.put.choices)
    if settings[trial_settings.FORMAT] == NATURAL:
        return read_natural(answer["text"], prepared.put.choices)
    return Outcome(TEXT if answer["text"].strip() else NONE)


def _pair(trials: Trials, state: State, number: int) -> Iterator[Turn]:
    prepared, answer = trials.question(state, number), state["answers"][number]
    ask = prepared.ask
    main = trials.main
    at, session = ask.point + 1, ask.use.session
    yield Turn(ask.asker, prepared.put.text, given=True, at=at, session=session, addressees=(main,))
    extra = {"answer": _answer_json(trials, state, prepared, answer)}
    act: Act = "message" if answer["text"].strip() else "silence"
    yield Turn(main, answer["text"], at=at, session=session, addressees=(ask.asker,), act=act, extra=extra)


def _answer_json(trials: Trials, state: State, prepared: PreparedQuestion, answer: Mapping[str, Any]) -> Json:
    settings = state["settings"]
    outcome = outcome_of(answer, prepared, settings)
    question = trials.questions[prepared.ask.question]
    return {
        **_of_question(trials, question, prepared, settings),
        "outcome": outcome.value,
        "lenient": outcome.lenient,
        "seconds": answer["seconds"],
        "retrieval": {
            "sessions": sorted({entry.session for entry in prepared.recalled.entries}),
            "evidence": prepared.extent,
            "k": prepared.recalled.k,
            "k_asked": settings[trial_settings.K] or None,
        },
        "distance": _distance(trials, question, prepared, trials.recall(settings)),
        **({"error": answer["error"]} if "error" in answer else {}),
    }


def _of_question(trials: Trials, question: Question, prepared: PreparedQuestion, settings: Settings) -> Json:
    ask, use, put = prepared.ask, prepared.ask.use, prepared.put
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
        "class": {"wanted": ask.drawn_class, "asked": ask.asked_class, "owed": list(ask.owed)},
    }


def _distance(trials: Trials, question: Question, prepared: PreparedQuestion, recall: Recall) -> Json:
    """Return the distance to the latest evidence that was heard, in sessions and in tokens heard since."""
    moment, heard = trials.moment(prepared.ask), recall.heard
    places = [
        place
        for number in trials.evidence(question)
        if number <= moment.session
        for place in heard.of(number, moment.point if number == moment.session else None)
    ]
    evidence_places = [place for place in places if place in question.evidence_turns] or places
    if not evidence_places:
        return {"sessions": None, "tokens": None}
    session = heard.sessions.of_turn[evidence_places[-1]]
    return {
        "sessions": moment.session - session,
        "tokens": recall.tokens_between(evidence_places[-1], moment.point),
    }


# Session summaries for a model's memory: all that the main character heard in a session, summarised.

SUMMARY_TEXT = "text"
NO_SESSION = "no session in which its main character hears this text"


class DialsimSessionSummary(Generator):
    """Summarises one session in one call.

    The condition names the session by the `text_digest` of the text heard in it, so each session is
    summarised once, whoever asks. The lookup is fastest in a dialogue that has only this session.

    State: the `listener`, the `lines` to summarise, and the `summary` once it exists.
    """

    key = "dialsim_session_summary"
    title = "DialSim: a summary of a session as the main character heard it"
    produces = "text"
    settings = (
        Setting(
            SUMMARY_TEXT, "", "The SHA-256 of what is heard in the session, in hexadecimal.", varies=True
        ),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and its task."""
        return f"{model} session summaries"

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why the session cannot be summarised: no script, or no such session."""
        if dialogue.script is None:
            return "it is no script of dated sessions"
        return "" if _lines(dialogue, str(settings[SUMMARY_TEXT])) else NO_SESSION

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Store the text heard in the session; its date is not summarised."""
        return _lines(dialogue, str(settings[SUMMARY_TEXT]))

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the one prompt, or the summary."""
        if "summary" in state:
            return Done(text=state["summary"])
        values = {
            "listener": quote("LISTENER", [state["listener"]]),
            "session": quote("SESSION", state["lines"]),
        }
        return [filled("dialsim_session_summary", 1, values, SCHEMA, folder=PROMPTS)]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Store the paragraph."""
        return {**state, "summary": read(replies[0].text)}

    def pretend(self, state: State) -> Sequence[str]:
        """Return a paragraph of usual length."""
        return [json.dumps({"summary": "They talked about who lives where. " * 15})]

    def calls(self, settings: Settings) -> int:
        """One call."""
        return 1


def _lines(dialogue: Dialogue, digest: str) -> State:
    """Return the first state for the session with this digest, {} without a match."""
    heard = Heard(dialogue)
    for number in heard.numbers:
        text = heard.text(number)
        if text and text_digest(text) == digest:
            return {"listener": heard.name(heard.sessions.main), "lines": text.split("\n")}
    return {}


KEY = "dialsim_agent"
SCRIPT = "script"


class DialsimAgent(Generator):
    """Answers the questions of a trial of the simulator, one after the other."""

    key = KEY
    title = "Answers in a long dialogue"
    produces = "static"
    settings = SETTINGS
    needs = SCRIPT
    takes_failures = True

    def __init__(self, trials: Trials | None = None) -> None:
        self._trials = trials

    def bound(self, material: Material) -> Generator:
        """Return the agent of one script."""
        return DialsimAgent(Trials(material))

    def rough(self) -> Generator:
        """Return an agent with word-based retrieval only: prompts are as long, and nothing is embedded."""
        return DialsimAgent(self._bound.rough())

    def calls_left(self, state: State) -> int:
        """Return the number of unanswered questions."""
        return len(self._bound.asks(state)) - len(state["answers"])

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why there is nothing to ask: no script, no questions in it, or missing material."""
        if dialogue.script is None:
            return "it is no script"
        if self._trials is None:
            return ""
        try:
            asks = self._trials.walk(settings, 0).asks
            if not asks:
                return f"the question set {settings[SET]!r} asks nothing in it"
            if settings[MEMORY] == FULL:
                self._trials.question(self.begin(dialogue, {**settings, REMEMBER: False}), len(asks) - 1)
            self._trials.world(settings).check(str(settings[MEMORY]), str(settings[RETRIEVER]))
        except (NoMaterial, NoSummary, TooLong) as error:
            return str(error)
        return ""

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the state of the first trial, without answers."""
        return self.begin_trial(dialogue, settings, 0)

    def begin_trial(self, dialogue: Dialogue, settings: Settings, trial: int) -> State:
        """Return the state of a trial, without answers."""
        return {"settings": dict(settings), "trial": trial, "answers": []}

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt of the next question, or all questions with their answers.

        Raises Failed where the agent's memory is missing or too long.
        """
        try:
            number = len(state["answers"])
            if number < len(self._bound.asks(state)):
                return [self._bound.question(state, number).prompt]
            return Done(turns_of(self._bound, state), flags=_flags(state))
        except (NoMaterial, NoSummary, TooLong) as error:
            raise Failed(str(error)) from error

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Add an answer to the state: the reply, its duration, and the error of a failed call."""
        reply = replies[0]
        answer = {"text": "" if reply.error else reply.text, "seconds": reply.seconds}
        return {
            **state,
            "answers": [*state["answers"], answer | ({"error": reply.error} if reply.error else {})],
        }

    def pretend(self, state: State) -> Sequence[str]:
        """Return one letter, or a few words."""
        return ["(E)"] if state["settings"]["format"] == "template" else ["I do not know."]

    def reasks(self, settings: Settings) -> int:
        """No retries: an unreadable reply is wrong."""
        return 0

    def resolved(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """Resolve every setting; equal conditions have equal settings. Raises WrongSettings."""
        return settled(super().resolved(values))

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model alone; memory and the other settings are its condition."""
        return model

    @property
    def _bound(self) -> Trials:
        if self._trials is None:
            raise RuntimeError(f"{self.key} works only once it is bound to a script")
        return self._trials


def _flags(state: State) -> tuple[str, ...]:
    failed = sum("error" in answer for answer in state["answers"])
    return (f"{FAILED}: {failed} of {len(state['answers'])} questions",) if failed else ()


# Baseline agents, without a model and without a memory.

Chooses = Callable[[int, str, int, Ask], str]
"""Chooses a letter, given the seed, the script's id, the trial and the question."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """An agent that needs no model; its key is its system's name."""

    key: str
    title: str
    chooses: Chooses


def _uniform(seed: int, script: str, trial: int, ask: Ask) -> str:
    return one_of(LETTERS, seed, "random", script, trial, ask.session, ask.question)


def _unknown(seed: int, script: str, trial: int, ask: Ask) -> str:
    return UNKNOWN


BASELINES: Mapping[str, Baseline] = {
    baseline.key: baseline
    for baseline in (
        Baseline("random", "one of A to E, each as likely", _uniform),
        Baseline("always_e", "always (E)", _unknown),
    )
}


def settings_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a baseline's trial: without memory, in the format with letters."""
    return DialsimAgent().resolved({**values, MEMORY: NO_MEMORY, FORMAT: TEMPLATE})


def played(baseline: Baseline, material: Material, values: Mapping[str, Any], trial: int) -> tuple[Turn, ...]:
    """Return the questions of a trial with a baseline's answers, in the form of an agent's continuation.

    Empty where there are no questions. Raises WrongSettings for unknown settings.
    """
    settings, trials = settings_of(values), Trials(material)
    state: State = {"settings": settings, "trial": trial, "answers": []}
    letters = (
        baseline.chooses(int(settings[SEED]), material.dialogue.id, trial, ask) for ask in trials.asks(state)
    )
    answers = [{"text": f"({letter})", "seconds": None} for letter in letters]
    return turns_of(trials, {**state, "answers": answers})


GENERATORS = {generator.key: generator for generator in (DialsimSessionSummary(), DialsimAgent())}
