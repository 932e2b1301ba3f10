"""A walk through a script: which question is asked at which point, by whom (`dialsim.md`, section 6).

Every draw is `u(seed, script, trial, session, step)` and knows nothing of the system that is asked, nor of
names, memory or format: the same trial asks every system the same questions. What is drawn from a list is
the element at floor(u * length). Its order is that of the turns for points, that of the first turn within
reach for askers, that of the alphabet for types, and that of the questions' ids for uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scripts.records import Question, Source, Use
from annotation.text.draws import one_of, u
from systems.long_dialogue.asking_points import AskingPoints, Point
from systems.long_dialogue.offers import ANSWERABLE, CLASSES, UNANSWERABLE, Class, Offers

NO_ASKER, NO_USE = "no_asker", "no_use"


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How questions are chosen.

    `unanswerable` is the share of questions that cannot be answered, `quiz` that of quiz questions within
    each class. `per_session` is the most questions a session has, each at a point of its own. `types` are
    the types of uses that are asked, () for all.
    """

    seed: int = 0
    unanswerable: float = 0.2
    quiz: float = 0.3
    point: Point = "own_turn"
    per_session: int = 1
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A question asked right after the own turn at `point`, in the session of a number.

    `wanted` and `wanted_source` are what the draws said, `asked` and `source` what there was. `owed` are the
    classes owed afterwards.
    """

    session: int
    point: int
    asker: str
    question: str
    use: Use
    wanted: Class
    asked: Class
    wanted_source: Source
    source: Source
    owed: tuple[Class, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """What one trial asks, in order; why other sessions have no question; and what is owed at the end.

    `skipped` is by the session's number: `absent`, `silent`, `alone`, `no_point`, `no_asker`, `no_use`.
    """

    asks: tuple[Ask, ...]
    skipped: Mapping[int, str]
    owed: tuple[Class, ...] = ()

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many sessions have no question, by reason."""
        return dict(sorted(Counter(self.skipped.values()).items()))

    @property
    def counts(self) -> Mapping[tuple[Class, Source], int]:
        """How many questions are asked, by class and source."""
        met = Counter((ask.asked, ask.source) for ask in self.asks)
        return {(kind, source): met[kind, source] for kind in CLASSES for source in ("quiz", "tkg")}

    @property
    def shares(self) -> Mapping[str, float] | None:
        """The achieved shares of both classes and both sources; None where nothing is asked."""
        if not self.asks:
            return None
        met: Counter[str] = Counter(name for ask in self.asks for name in (ask.asked, ask.source))
        return {name: met[name] / len(self.asks) for name in (*CLASSES, "quiz", "tkg")}


def walk(
    dialogue: Dialogue,
    questions: Mapping[str, Question] | Iterable[Question],
    uses: Iterable[Use],
    *,
    trial: int,
    settings: WalkSettings | None = None,
) -> Walk:
    """Return what one trial asks. For several trials, make the `Offers` once and call `walk_offers`."""
    settings = settings or WalkSettings()
    return walk_offers(Offers(dialogue, questions, uses, settings.types), trial=trial, settings=settings)


def walk_offers(offers: Offers, *, trial: int, settings: WalkSettings) -> Walk:
    """Return what one trial asks from offers that stand ready; `settings.types` is theirs already."""
    return _Walking(offers, trial, settings).whole()


class _Walking:
    """One trial under way: what was asked so far, and what is owed."""

    def __init__(self, offers: Offers, trial: int, settings: WalkSettings) -> None:
        self.offers = offers
        self.trial = trial
        self.settings = settings
        self.places = AskingPoints(offers.sessions, settings.point)
        self.asked: set[str] = set()
        self.owed: list[Class] = []

    def whole(self) -> Walk:
        """Walk through all sessions."""
        asks: list[Ask] = []
        skipped: dict[int, str] = {}
        for number in range(1, len(self.offers.sessions) + 1):
            reason = self.places.why_not(number)
            made, reason = ([], reason) if reason else self._session(number)
            asks += made
            if not made:
                skipped[number] = reason
        return Walk(tuple(asks), skipped, tuple(self.owed))

    def _session(self, number: int) -> tuple[list[Ask], str]:
        """Return what is asked in a session, and why the last point has no question, where it has none."""
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
        """Return the drawn points in their order, each with the number of its draw."""
        left = list(self.places.points(number))
        drawn = []
        for index in range(min(self.settings.per_session, len(left))):
            point = one_of(left, *self._draw(number, "point", index))
            left.remove(point)
            drawn.append((point, index))
        return sorted(drawn)

    def _ask(self, number: int, point: int, asker: str, index: int) -> Ask | None:
        """Return the question of a point, None where no use can be asked there."""
        says = self._u(number, "class", index) < self.settings.unanswerable
        wanted = UNANSWERABLE if says else ANSWERABLE
        kind = self._class(number, point, wanted)
        if kind is None:
            return None
        sought: Source = "quiz" if self._u(number, "source", index) < self.settings.quiz else "tkg"
        source = sought if self._types(number, point, kind, sought) else _other_source(sought)
        type = one_of(self._types(number, point, kind, source), *self._draw(number, "type", index))
        session = self.offers.sessions[number].id
        uses = self.offers.uses(session, kind, source, type, point, self.asked)
        use = one_of(uses, *self._draw(number, "use", index))
        self.asked.add(self.offers.same(use.question))
        return Ask(
            number, point, asker, use.question, use, wanted, kind, sought, source, owed=tuple(self.owed)
        )

    def _class(self, number: int, point: int, wanted: Class) -> Class | None:
        """Return the class that is asked, and pay or note a debt."""
        other = UNANSWERABLE if wanted == ANSWERABLE else ANSWERABLE
        there = [kind for kind in CLASSES if self._has(number, point, kind)]
        if other in self.owed and other in there:
            self.owed.remove(other)
            return other
        if wanted in there:
            return wanted
        if other in there:
            self.owed.append(wanted)
            return other
        return None

    def _has(self, number: int, point: int, kind: Class) -> bool:
        return any(self._types(number, point, kind, source) for source in ("quiz", "tkg"))

    def _types(self, number: int, point: int, kind: Class, source: Source) -> tuple[str, ...]:
        session = self.offers.sessions[number].id
        return self.offers.types(session, kind, source, point, self.asked)

    def _draw(self, number: int, step: str, index: int) -> tuple[int, str, int, str, str]:
        """Return what a draw depends on; the first question of a session has steps without a number."""
        session = self.offers.sessions[number].id
        named = f"{step}:{index + 1}" if index else step
        return self.settings.seed, self.offers.dialogue.id, self.trial, session, named

    def _u(self, number: int, step: str, index: int) -> float:
        return u(*self._draw(number, step, index))


def _other_source(source: Source) -> Source:
    return "tkg" if source == "quiz" else "quiz"
