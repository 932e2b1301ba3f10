"""Records shared by import formats, judge protocols and metrics.

Plain immutable data, no database: a format yields `Dialogue` records, a protocol reads one to write a
prompt, a metric reads one to compute a score. The terms are those of the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from annotation.scenario_records import Scenario
from annotation.script_records import Fact, Question, QuestionSet, Script

Act = Literal["message", "reaction", "silence", "join", "leave"]
Mode = Literal["rollout", "static"]
RaterKind = Literal["human", "judge", "metric", "key"]
SaidKind = RaterKind | Literal[""]
"""Kind of a rater as declared in a file; empty where it is not declared."""

SELF = "self"
"""Continuation id of a dialogue's own turns."""

EVENTS = ("join", "leave")
"""Acts without a speaker's text: only context, never rated and never counted as turns."""

HUMAN = "human"
"""Default system of a dialogue's own turns."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """Return the shared empty mapping, for records without extra data."""
    return _NOTHING


@dataclass(frozen=True, slots=True)
class Participant:
    """A speaker of a dialogue. `id` is the speaker id in turns; `extra` is any other known data.

    `agent` marks the participant who makes the decisions in a scenario.
    """

    id: str
    name: str = ""
    role: str = ""
    profile: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=_nothing, hash=False)
    agent: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn. `given` turns are context that the continuation's system did not produce: never items.

    `at` is the number of history turns that a turn of a static continuation answers, None in a rollout.
    `audience` are the people who could hear it, None for everybody. `sees_history` belongs to a join: the
    newcomer may read the earlier turns. `extra` (the raw text before cleaning, say) is for researchers, never
    for raters or models.
    """

    speaker: str
    text: str
    given: bool = False
    at: int | None = None
    time: str = ""
    session: str = ""
    addressees: tuple[str, ...] = ()
    audience: tuple[str, ...] | None = None
    act: Act = "message"
    sees_history: bool = False
    extra: Mapping[str, Any] = field(default_factory=_nothing, hash=False)


@dataclass(frozen=True, slots=True)
class Agenda:
    """Agenda items (id to text, in order), follow-up edges, and its start and end."""

    items: Mapping[str, str]
    edges: tuple[tuple[str, str], ...] = ()
    start: str | None = None
    terminal: str | None = None
    success: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """A system's continuation of a dialogue: a rollout, or static turns at fixed points."""

    id: str
    system: str
    turns: tuple[Turn, ...]
    mode: Mode = "rollout"
    trial: int = 0
    condition: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """Evidence of an answer: a turn of its dialogue, or its text from `start` to `end`.

    `turn` is the 0-based index within the continuation (`self`: the dialogue's own turns). `start` and `end`
    count Unicode code points of the stored text, `end` excluded; both None: the whole turn.
    """

    continuation: str
    turn: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """An answer of a rater. `value` is None exactly when `missing` gives a reason.

    `turn` is the 0-based index within the continuation, None for the dialogue item. `scheme` names the scheme
    of the question, empty where the import determines it; `occasion` is empty for an imported answer.
    `level` and `values` describe the question's scale, for a question that is new to the corpus, and
    `anchors` the wordings of its numbers; `group` is the question of which it is one of several.

    An answer about a comparison has its `members` in the order to which the answer refers, the first
    of them also as continuation and turn; `shown` are their numbers in the order in which the rater saw them.
    An answer about a fact or a question has its kind and key as `record`, and the continuation `self`. `line`
    is that of a row with the answer, where its dialogue has several.
    """

    rater: str
    kind: SaidKind
    continuation: str
    turn: int | None
    question: str
    value: float | str | None
    missing: str = ""
    sample: int = 0
    identified: bool = True
    explanation: str = ""
    scheme: str = ""
    occasion: str = ""
    level: str = ""
    values: tuple[float | str, ...] = ()
    members: tuple[tuple[str, int | None], ...] = ()
    shown: tuple[int, ...] = ()
    evidence: tuple[Passage, ...] = ()
    record: tuple[str, str] | None = None
    group: str = ""
    anchors: tuple[tuple[float, str], ...] = ()
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A shared history with its participants, and systems' continuations of it.

    `turns` are the dialogue's own; they are also the continuation `self` by `system`. In a scenario they are
    its script. A dialogue with a `script` is a long one of dated sessions, with its facts, questions and
    question sets.
    """

    id: str
    turns: tuple[Turn, ...] = ()
    participants: tuple[Participant, ...] = ()
    continuations: tuple[Continuation, ...] = ()
    labels: tuple[LabelRecord, ...] = ()
    cluster: str = ""
    language: str = ""
    summary: str = ""
    system: str = HUMAN
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agenda: Agenda | None = None
    scenario: Scenario | None = None
    script: Script | None = None
    facts: tuple[Fact, ...] = ()
    questions: tuple[Question, ...] = ()
    question_sets: tuple[QuestionSet, ...] = ()

    def own(self) -> Continuation | None:
        """Return the dialogue's own turns as the continuation `self`, None where it has no turns."""
        return Continuation(SELF, self.system, self.turns) if self.turns else None

    def all_continuations(self) -> tuple[Continuation, ...]:
        """Return `self` (if there are own turns) and then the other continuations, in order."""
        own = self.own()
        return ((own,) if own else ()) + self.continuations

    def context(self, continuation: Continuation, turn: int) -> tuple[Turn, ...]:
        """Return the turns before a turn of a continuation: all turns that its raters may see.

        A rollout: the history (none for `self`), then the continuation's turns before it. A static turn: the
        history up to its own point, then the given turns right before it with the same point.
        """
        if continuation.id == SELF:
            return continuation.turns[:turn]
        if continuation.mode == "rollout":
            return self.turns + continuation.turns[:turn]
        at = continuation.turns[turn].at
        first = turn
        while first and continuation.turns[first - 1].given and continuation.turns[first - 1].at == at:
            first -= 1
        return self.turns[:at] + continuation.turns[first:turn]

    def reference(self, continuation: Continuation, turn: int) -> Turn | None:
        """Return the reference of a static turn: the dialogue's own turn at its point, None without one."""
        at = continuation.turns[turn].at
        return self.turns[at] if at is not None and at < len(self.turns) else None

    def is_reference(self, continuation: Continuation, turn: int) -> bool:
        """Whether a static turn repeats its reference: same text and same system (such as people)."""
        own, turn_said = self.reference(continuation, turn), continuation.turns[turn]
        if own is None or continuation.system.casefold() != self.system.casefold():
            return False
        return (own.speaker, own.text.strip()) == (turn_said.speaker, turn_said.text.strip())
