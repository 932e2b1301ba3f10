"""What can be asked in each session: uses by class, source and type (`dialsim.md`, section 6, step 7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from annotation.records import Dialogue
from annotation.scripts.dates import when
from annotation.scripts.records import Date, Question, Source, Use
from annotation.scripts.sessions import Sessions
from annotation.text.folding import fold

Class = Literal["answerable", "unanswerable"]
ANSWERABLE: Class = "answerable"
UNANSWERABLE: Class = "unanswerable"
CLASSES: tuple[Class, ...] = (ANSWERABLE, UNANSWERABLE)

Types = dict[str, list[Use]]


class Offers:
    """The uses of a question set, ready for any number of walks through its script.

    Left out is a use whose past form names the date of its own session, and one of another type than
    `types`, where these are named. Raises ValueError for a use of an unknown question or session.
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
        """Return what counts as one question: a dated variant is the question that it varies.

        Forms of a question about a fact are questions of their own: they are asked of other times.
        """
        return self._same[question]

    def types(
        self, session: str, wanted: Class, source: Source, point: int, asked: Collection[str]
    ) -> tuple[str, ...]:
        """Return the types, sorted, of which there is a use that can be asked at a point."""
        types = self._offered.get((session, wanted, source), {})
        return tuple(
            type for type in sorted(types) if any(True for _ in self._open(types[type], point, asked))
        )

    def uses(
        self, session: str, wanted: Class, source: Source, type: str, point: int, asked: Collection[str]
    ) -> tuple[Use, ...]:
        """Return the uses of a type that can be asked at a point, in the order of their questions' ids.

        These need nothing that is heard later, and their question is not among those `asked` (as `same`
        tells them).
        """
        uses = self._offered[session, wanted, source][type]
        return tuple(sorted(self._open(uses, point, asked), key=lambda use: (use.question, use.key)))

    def _open(self, uses: list[Use], point: int, asked: Collection[str]) -> Iterator[Use]:
        return (
            use
            for use in uses
            if (use.since is None or use.since <= point) and self._same[use.question] not in asked
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
    """Which dates the past forms of questions name: those of their facts, or else what their text says."""

    def __init__(
        self, questions: Mapping[str, Question], dialogue: Dialogue, dates: Mapping[str, Date]
    ) -> None:
        said = {fact.id: dates[fact.session] for fact in dialogue.facts if fact.session in dates}
        self._known: dict[str, frozenset[Date]] = {}
        self._texts: dict[str, str] = {}
        for key, question in questions.items():
            if "past" not in question.forms:
                continue
            if question.facts and all(fact in said for fact in question.facts):
                hops = zip(question.facts, question.forms, strict=False)
                self._known[key] = frozenset(said[fact] for fact, form in hops if form == "past")
            else:
                self._texts[key] = fold(question.text)

    def names(self, use: Use, date: Date) -> bool:
        """Whether the past form of a use's question names a date."""
        if (known := self._known.get(use.question)) is not None:
            return date in known
        text = self._texts.get(use.question)
        return text is not None and fold(when(date)) in text


def _by_id(questions: Mapping[str, Question] | Iterable[Question]) -> Mapping[str, Question]:
    if isinstance(questions, Mapping):
        return questions
    return {question.id: question for question in questions}
