"""A walk through a script: the question at each point, and its asker, after DialSim (Kim et al. 2024).

Every draw is `u(seed, script, trial, session, step)` and is independent of the system, and of names, memory
and format: the same trial has the same questions for every system. A draw from a list is the element at
floor(u * length). Points are in the order of the turns, askers in that of their first turn within reach,
types in alphabetical order, and uses by the ids of their questions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from annotation.records import Dialogue, Turn
from annotation.script_records import DEFAULT_STYLE, LETTERS, Date, NameMap, Question, Source, Use
from annotation.text.draws import one_of, u
from annotation.text.words import fold
from suites.long_dialogue.agent.memory import (
    EMBEDDING,
    SUMMARY,
    UTTERANCE,
    ByVectors,
    ByWords,
    Heard,
    Material,
    Memory,
    Search,
    Utterances,
    WholeSessions,
    text_digest,
)
from suites.long_dialogue.scripts.answers import NATURAL, OPEN, TEMPLATE, UNKNOWN_TEXT
from suites.long_dialogue.scripts.replacing import mapped, mapped_question, renamed
from suites.long_dialogue.scripts.sessions import Sessions, when

# Available questions of each session: uses by class, source and type.

Class = Literal["answerable", "unanswerable"]
ANSWERABLE: Class = "answerable"
UNANSWERABLE: Class = "unanswerable"
CLASSES: tuple[Class, ...] = (ANSWERABLE, UNANSWERABLE)

Types = dict[str, list[Use]]


class Offers:
    """The uses of a question set, ready for any number of walks through its script.

    Excluded are uses whose past form names the date of their own session, and uses of another type than
    `types`, if any are named. Raises ValueError for a use of an unknown question or session.
    """

    def __init__(
        self,
        dialogue: Dialogue,
        questions: Mapping[str, Question] | Iterable[Question],
        uses: Iterable[Use],
        types: Collection[str] = (),
    ) -> None:
        self.dialogue = dialogue
        self.sessions = Sessions(dialogue)
        self.questions = _by_id(questions)
        self._same = {key: question.base or key for key, question in self.questions.items()}
        self._offered: dict[tuple[str, Class, Source], Types] = {}
        self._take(uses, frozenset(types))

    def same(self, question: str) -> str:
        """Return the id under which a question counts as asked: a dated variant counts as its base question.

        Different forms of a question about a fact count separately: they concern different times.
        """
        return self._same[question]

    def types(
        self, session: str, kind: Class, source: Source, point: int, asked_questions: Collection[str]
    ) -> tuple[str, ...]:
        """Return the types with an available use at a point, sorted."""
        types = self._offered.get((session, kind, source), {})
        return tuple(
            type
            for type in sorted(types)
            if any(True for _ in self._open(types[type], point, asked_questions))
        )

    def uses(
        self,
        session: str,
        kind: Class,
        source: Source,
        type: str,
        point: int,
        asked_questions: Collection[str],
    ) -> tuple[Use, ...]:
        """Return the available uses of a type at a point, ordered by question id.

        Available uses depend on nothing that is heard later, and their question (as identified by `same`) is
        not among the `asked_questions`.
        """
        uses = self._offered[session, kind, source][type]
        return tuple(
            sorted(self._open(uses, point, asked_questions), key=lambda use: (use.question, use.key))
        )

    def _open(self, uses: list[Use], point: int, asked_questions: Collection[str]) -> Iterator[Use]:
        return (
            use
            for use in uses
            if (use.since is None or use.since <= point) and self._same[use.question] not in asked_questions
        )

    def _take(self, uses: Iterable[Use], types: frozenset[str]) -> None:
        offered: dict[tuple[str, bool, Source], Types] = defaultdict(lambda: defaultdict(list))
        dates = {session.id: session.date for session in self.sessions.script.sessions}
        past = _PastForms(self.questions, self.dialogue, dates)
        for use in uses:
            if use.question not in self.questions or use.session not in dates:
                raise ValueError(f"There is no question {use.question!r} or no session {use.session!r}.")
            if (types and use.type not in types) or past.names(use, dates[use.session]):
                continue
            source = self.questions[use.question].source
            offered[use.session, use.answerable, source][use.type].append(use)
        self._offered = {
            (session, ANSWERABLE if answerable else UNANSWERABLE, source): dict(types)
            for (session, answerable, source), types in offered.items()
        }


class _PastForms:
    """Dates named by the past forms of questions: the dates of their facts, or else those in their text."""

    def __init__(
        self, questions: Mapping[str, Question], dialogue: Dialogue, dates: Mapping[str, Date]
    ) -> None:
        fact_dates = {fact.id: dates[fact.session] for fact in dialogue.facts if fact.session in dates}
        self._fact_dates: dict[str, frozenset[Date]] = {}
        self._texts: dict[str, str] = {}
        for key, question in questions.items():
            if "past" not in question.forms:
                continue
            if question.facts and all(fact in fact_dates for fact in question.facts):
                hops = zip(question.facts, question.forms, strict=False)
                self._fact_dates[key] = frozenset(fact_dates[fact] for fact, form in hops if form == "past")
            else:
                self._texts[key] = fold(question.text)

    def names(self, use: Use, date: Date) -> bool:
        """Whether the past form of a use's question names a date."""
        if (dates := self._fact_dates.get(use.question)) is not None:
            return date in dates
        text = self._texts.get(use.question)
        return text is not None and fold(when(date)) in text


def _by_id(questions: Mapping[str, Question] | Iterable[Question]) -> Mapping[str, Question]:
    if isinstance(questions, Mapping):
        return questions
    return {question.id: question for question in questions}


# Moments at which a session allows a question, and the possible askers.

Point = Literal["own_turn", "any_turn"]
POINTS: tuple[Point, ...] = ("own_turn", "any_turn")

ABSENT, SILENT, ALONE, NO_POINT = "absent", "silent", "alone", "no_point"
REACH = 3
"""Maximum distance of an asker's turn from the main character's last turn, in messages before or after."""


class AskingPoints:
    """Points of a script's sessions at which the main character can be asked, and the possible askers.

    Only messages that the main character hears count. Points are positions of the dialogue's own turns, in
    order.
    """

    def __init__(self, sessions: Sessions, point: Point = "own_turn") -> None:
        self.sessions = sessions
        self.point = point
        self._collective = frozenset(sessions.script.collective)

    def why_not(self, number: int) -> str:
        """Return why a session allows no question: `absent`, `silent`, `alone`, `no_point`, or ''."""
        if number not in self.sessions.heard:
            return ABSENT
        speakers = set(map(self._speaker, self.messages(number)))
        if self.sessions.main not in speakers:
            return SILENT
        if speakers == {self.sessions.main}:
            return ALONE
        return "" if self.points(number) else NO_POINT

    def messages(self, number: int) -> tuple[int, ...]:
        """Return the positions of a session's messages that the main character hears."""
        turns = self.sessions.dialogue.turns
        return tuple(place for place in self.sessions.heard_turns(number) if turns[place].act == "message")

    def points(self, number: int) -> tuple[int, ...]:
        """Return the positions of the turns right after which a question is possible.

        `own_turn`: the main character's own turns, without the first if there are several. `any_turn`: all
        turns after the main character's first.
        """
        messages = self.messages(number)
        own = tuple(place for place in messages if self._speaker(place) == self.sessions.main)
        if self.point == "any_turn":
            return tuple(place for place in messages if own and place > own[0])
        return own[1:] or own

    def askers(self, number: int, point: int) -> tuple[str, ...]:
        """Return the possible askers at a point, in the order of their first turn within reach.

        These speak within three messages before or after the main character's last turn at or before the
        point. The main character and collective names never ask.
        """
        messages = self.messages(number)
        last = max(
            index
            for index, place in enumerate(messages)
            if place <= point and self._speaker(place) == self.sessions.main
        )
        near = messages[max(last - REACH, 0) : last + REACH + 1]
        return self._people(list(map(self._speaker, near)))

    def _people(self, speakers: Sequence[str]) -> tuple[str, ...]:
        others = (
            speaker
            for speaker in speakers
            if speaker != self.sessions.main and speaker not in self._collective
        )
        return tuple(dict.fromkeys(others))

    def _speaker(self, place: int) -> str:
        return self.sessions.dialogue.turns[place].speaker


NO_ASKER, NO_USE = "no_asker", "no_use"


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings that choose the questions of a walk.

    `unanswerable` is the share of unanswerable questions, `quiz` that of quiz questions within each class.
    `per_session` is the maximum number of questions per session, each at its own point. `types` restricts the
    types of uses, () for all.
    """

    seed: int = 0
    unanswerable: float = 0.2
    quiz: float = 0.3
    point: Point = "own_turn"
    per_session: int = 1
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A question right after the own turn at `point`, in the session with number `session`.

    `drawn_class` and `drawn_source` are the results of the draws, `asked_class` and `source` those available.
    `owed` are the classes owed afterwards.
    """

    session: int
    point: int
    asker: str
    question: str
    use: Use
    drawn_class: Class
    asked_class: Class
    drawn_source: Source
    source: Source
    owed: tuple[Class, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """Questions of one trial, in order; reasons for sessions without any; and classes owed at the end.

    `skipped` maps session numbers to `absent`, `silent`, `alone`, `no_point`, `no_asker` or `no_use`.
    """

    asks: tuple[Ask, ...]
    skipped: Mapping[int, str]
    owed: tuple[Class, ...] = ()

    @property
    def reasons(self) -> Mapping[str, int]:
        """Number of sessions without a question, by reason."""
        return dict(sorted(Counter(self.skipped.values()).items()))

    @property
    def counts(self) -> Mapping[tuple[Class, Source], int]:
        """Number of questions, by class and source."""
        met = Counter((ask.asked_class, ask.source) for ask in self.asks)
        return {(kind, source): met[kind, source] for kind in CLASSES for source in ("quiz", "tkg")}

    @property
    def shares(self) -> Mapping[str, float] | None:
        """Achieved shares of both classes and both sources; None without questions."""
        if not self.asks:
            return None
        met: Counter[str] = Counter(name for ask in self.asks for name in (ask.asked_class, ask.source))
        return {name: met[name] / len(self.asks) for name in (*CLASSES, "quiz", "tkg")}


def walk(
    dialogue: Dialogue,
    questions: Mapping[str, Question] | Iterable[Question],
    uses: Iterable[Use],
    *,
    trial: int,
    settings: WalkSettings | None = None,
) -> Walk:
    """Return the walk of one trial. For several trials, create the `Offers` once and call `walk_offers`."""
    settings = settings or WalkSettings()
    return walk_offers(Offers(dialogue, questions, uses, settings.types), trial=trial, settings=settings)


def walk_offers(offers: Offers, *, trial: int, settings: WalkSettings) -> Walk:
    """Return the walk of one trial over existing offers; these already apply `settings.types`."""
    return _Walking(offers, trial, settings).run()


class _Walking:
    """One trial in progress: the questions so far, and the classes owed."""

    def __init__(self, offers: Offers, trial: int, settings: WalkSettings) -> None:
        self.offers = offers
        self.trial = trial
        self.settings = settings
        self.places = AskingPoints(offers.sessions, settings.point)
        self.asked_questions: set[str] = set()
        self.owed: list[Class] = []

    def run(self) -> Walk:
        """Walk through all sessions."""
        asks: list[Ask] = []
        skipped: dict[int, str] = {}
        for number in range(1, len(self.offers.sessions) + 1):
            reason = self.places.why_not(number)
            session_asks, reason = ([], reason) if reason else self._session(number)
            asks += session_asks
            if not session_asks:
                skipped[number] = reason
        return Walk(tuple(asks), skipped, tuple(self.owed))

    def _session(self, number: int) -> tuple[list[Ask], str]:
        """Return the questions of a session, and the last reason why a point has none."""
        asks: list[Ask] = []
        reason = ""
        for point, index in self._points(number):
            askers = self.places.askers(number, point)
            if not askers:
                reason = NO_ASKER
                continue
            asker = one_of(askers, *self._draw(number, "asker", index))
            if ask := self._ask(number, point, asker, index):
                asks.append(ask)
            else:
                reason = NO_USE
        return asks, reason

    def _points(self, number: int) -> list[tuple[int, int]]:
        """Return the drawn points in ascending order, each with the index of its draw."""
        remaining = list(self.places.points(number))
        points = []
        for index in range(min(self.settings.per_session, len(remaining))):
            point = one_of(remaining, *self._draw(number, "point", index))
            remaining.remove(point)
            points.append((point, index))
        return sorted(points)

    def _ask(self, number: int, point: int, asker: str, index: int) -> Ask | None:
        """Return the question at a point, None without an available use."""
        says = self._u(number, "class", index) < self.settings.unanswerable
        drawn_class = UNANSWERABLE if says else ANSWERABLE
        kind = self._class(number, point, drawn_class)
        if kind is None:
            return None
        sought: Source = "quiz" if self._u(number, "source", index) < self.settings.quiz else "tkg"
        source = sought if self._types(number, point, kind, sought) else _other_source(sought)
        type = one_of(self._types(number, point, kind, source), *self._draw(number, "type", index))
        session = self.offers.sessions[number].id
        uses = self.offers.uses(session, kind, source, type, point, self.asked_questions)
        use = one_of(uses, *self._draw(number, "use", index))
        self.asked_questions.add(self.offers.same(use.question))
        return Ask(
            number, point, asker, use.question, use, drawn_class, kind, sought, source, owed=tuple(self.owed)
        )

    def _class(self, number: int, point: int, drawn_class: Class) -> Class | None:
        """Return the class to ask, and pay or record a debt."""
        other = UNANSWERABLE if drawn_class == ANSWERABLE else ANSWERABLE
        available = [kind for kind in CLASSES if self._has(number, point, kind)]
        if other in self.owed and other in available:
            self.owed.remove(other)
            return other
        if drawn_class in available:
            return drawn_class
        if other in available:
            self.owed.append(drawn_class)
            return other
        return None

    def _has(self, number: int, point: int, kind: Class) -> bool:
        return any(self._types(number, point, kind, source) for source in ("quiz", "tkg"))

    def _types(self, number: int, point: int, kind: Class, source: Source) -> tuple[str, ...]:
        session = self.offers.sessions[number].id
        return self.offers.types(session, kind, source, point, self.asked_questions)

    def _draw(self, number: int, step: str, index: int) -> tuple[int, str, int, str, str]:
        """Return the inputs of a draw; the steps of a session's first question carry no number."""
        session = self.offers.sessions[number].id
        step_name = f"{step}:{index + 1}" if index else step
        return self.settings.seed, self.offers.dialogue.id, self.trial, session, step_name

    def _u(self, number: int, step: str, index: int) -> float:
        return u(*self._draw(number, step, index))


def _other_source(source: Source) -> Source:
    return "tkg" if source == "quiz" else "quiz"


# A script under one condition: its names, its memory and its questions.

# Formats of a question: with options (A) to (E), with the options inside its sentence, or without options.


def choices_of(question: Question, use: Use) -> tuple[str, ...]:
    """Return the texts of A to D, in the order of a use."""
    return tuple(question.choices[int(place)] for place in use.order)


def format_question(text: str, choices: Sequence[str], form: str) -> str:
    """Format a question with its options; raise ValueError for an unknown format."""
    if form == OPEN:
        return text
    if form == TEMPLATE:
        options = zip(LETTERS, (*choices, UNKNOWN_TEXT), strict=True)
        return "\n".join([text, *(f"({letter}) {option}" for letter, option in options)])
    if form == NATURAL:
        return _inside(text, choices)
    raise ValueError(f"there is no format {form!r}")


def _inside(text: str, choices: Sequence[str]) -> str:
    """Name the options before the question mark of a question."""
    offered = f"{', '.join(choices)}, or don't you know"
    stem, mark, rest = text.rpartition("?")
    return f"{stem}: {offered}?{rest}" if mark else f"{text}: {offered}?"


class NoMaterial(ValueError):
    """Material that a condition needs is missing; the message names it."""


@dataclass(frozen=True, slots=True)
class Put:
    """A question as put: its text with its options, A to D as shown, and the right answers."""

    text: str
    query: str
    choices: tuple[str, ...]
    answer: str
    answers: tuple[str, ...]


class World:
    """The script and its questions under one name map, None for the original names."""

    def __init__(self, material: Material, names: NameMap | None) -> None:
        self.material = material
        self._names = names
        self.dialogue: Dialogue = mapped(material.dialogue, names)
        self.heard = Heard(self.dialogue)
        self._own = Heard(material.dialogue)
        self._questions = {question.id: question for question in material.questions}

    @cached_property
    def main(self) -> str:
        """Id of the main character."""
        return self.heard.sessions.main

    def put(self, ask: Ask, form: str) -> Put:
        """Return a question as put by its asker, in a format."""
        question = self._mapped(ask.question)
        choices = choices_of(question, ask.use)
        text = styled(question, ask.asker)
        query = f"{self.heard.name(ask.asker)}: {text}"
        answers = question.answers or tuple(filter(None, (question.answer,)))
        return Put(format_question(text, choices, form), query, choices, question.answer, answers)

    def question_turn(self, ask: Ask, text: str) -> Turn:
        """Return a question as a turn of its asker to the main character."""
        return Turn(ask.asker, text, addressees=(self.main,))

    def search(self, memory: str, retriever: str) -> Search:
        """Return a memory with its retriever.

        Raises NoMaterial without a retriever's embedder, NoSummary for a session without a summary.
        """
        self.check(memory, retriever)
        memory_store = self._memory(memory)
        if retriever != EMBEDDING or self.material.vectors is None:
            return Search(memory_store, ByWords(memory_store.entries))
        return Search(memory_store, ByVectors(memory_store.entries, self.material.vectors))

    def check(self, memory: str, retriever: str) -> None:
        """Raise NoMaterial for a missing embedder, NoSummary for a session without a summary."""
        if retriever == EMBEDDING and self.material.vectors is None:
            raise NoMaterial("nothing embeds texts here: choose the retriever bm25")
        if memory == SUMMARY:
            self._memory(memory)

    def _memory(self, memory: str) -> Memory:
        if memory == UTTERANCE:
            return Utterances(self.heard)
        return WholeSessions(self.heard, self._summary if memory == SUMMARY else None)

    def _summary(self, number: int) -> str | None:
        """Return the summary of a session under these names, None without one.

        A summary of the text under these names comes first, or else the original summary with its names
        mapped.
        """
        summaries = self.material.summaries
        summary = summaries.get(text_digest(self.heard.text(number)))
        if summary is not None or self._names is None:
            return summary
        own = summaries.get(text_digest(self._own.text(number)))
        return None if own is None else renamed(own, self._names)

    def _mapped(self, question: str) -> Question:
        return mapped_question(self._questions[question], self._names)


def styled(question: Question, asker: str) -> str:
    """Return a question's text in the asker's own style, or else in the default style."""
    return question.styles.get(asker) or question.styles.get(DEFAULT_STYLE) or question.text
