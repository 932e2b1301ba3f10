"""Base classes of judge protocols: asking about an item or a continuation, and reading the reply.

Replies are parsed strictly: a score off the scale, a missing field or a nonexistent turn makes the whole
reply unparseable. Such a reply is never guessed at and never becomes a label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import Any, ClassVar, Literal, cast

from annotation.kinds import ANSWER, KINDS
from annotation.records import Continuation, Dialogue, Passage
from annotation.schemes.definitions import SchemeDefinition
from annotation.text.views import RENDERING, View
from jobs.prompt import Prompt, Tokens, Unparseable
from judges.protocols.examples import render_examples
from judges.protocols.wording import EXAMPLES, NOTICE, Filling, Variable, Wording, released

# Needs: answers of other raters that a protocol reads, and the answers available for a case.

UNMET = "a need was not met: nothing was asked"
"""Flag of calls left unanswered because a need was not met; resuming the run retries them."""
WAITING = "waits for another rater"
"""Flag of calls answered without the pending answers of an optional need; resuming the run retries them."""

Aggregate = Literal["mean", "median", "majority"]
Policy = Literal["whole", "leave_out"]
Value = float | str


@dataclass(frozen=True, slots=True)
class NeedAnswer:
    """Answer of the rater bound to a need: `value` is None exactly when `missing` holds a reason.

    `why` is the rater's own reason if it declared that it has no answer.
    """

    value: Value | None = None
    missing: str = ""
    why: str = ""


NeedAnswers = Mapping[str, Mapping[int | None, NeedAnswer]]
"""Available answers by role and place (a turn's index, None for the dialogue)."""


@dataclass(frozen=True, slots=True)
class Need:
    """Answers of another rater that a protocol reads; a run binds `role` to the rater when it starts.

    `question` is `scheme/key`. `aggregate` combines a rater's samples, ignoring those without an answer:
    `mean` and `median` of numbers, `majority` of any values (no value in a tie). `missing` is the policy for
    places without a value: `whole` leaves the whole case unanswered; `leave_out` drops the place, and only a
    case without any value is left unanswered. An `optional` need may stay unbound and never blocks a case:
    the protocol handles missing answers. `also` are further questions of the same scheme answered by the same
    rater, passed as `role/key`.
    """

    role: str
    question: str
    aggregate: Aggregate = "mean"
    missing: Policy = "whole"
    optional: bool = False
    also: tuple[str, ...] = ()

    @property
    def read(self) -> dict[str, str]:
        """Keys of the questions that are read, by the names under which their answers are passed."""
        own = {self.role: self.question.partition("/")[2]}
        return own | {f"{self.role}/{key}": key for key in self.also}

    def combine_samples(
        self, values: Sequence[Value | None], place: str, rater: str, *, in_words: bool = False, why: str = ""
    ) -> NeedAnswer:
        """Combine a rater's samples for a place into one answer; the reason for a missing value names it.

        For answers `in_words` the most frequent counts. `why` is the rater's own reason for having no answer.
        """
        present = [value for value in values if value is not None]
        if not present and why:
            return NeedAnswer(missing=f"{place} has no score by {rater}", why=why)
        if self.aggregate == "majority" or in_words:
            return _majority(present, place, rater)
        numbers = [value for value in present if not isinstance(value, str)]
        if not numbers:
            return NeedAnswer(missing=f"{place} has no score by {rater}")
        return NeedAnswer(fmean(numbers) if self.aggregate == "mean" else median(numbers))

    def unmet(self, answers: Mapping[int | None, NeedAnswer]) -> str:
        """Return the reason why a case cannot be judged with these answers, '' if it can."""
        if self.optional:
            return ""
        reasons = [answer.missing for answer in answers.values() if answer.value is None]
        if not answers:
            return f"nothing here could have an answer to {self.question}"
        return reasons[0] if reasons and (self.missing == "whole" or len(reasons) == len(answers)) else ""


def _majority(present: Sequence[Value], place: str, rater: str) -> NeedAnswer:
    most = Counter(present).most_common(2)
    if not most:
        return NeedAnswer(missing=f"{place} has no answer by {rater}")
    if len(most) == 2 and most[0][1] == most[1][1]:
        return NeedAnswer(missing=f"{place} has no majority among the answers by {rater}")
    return NeedAnswer(most[0][0])


Covers = Literal["turn", "decision", "answer", "dialogue", "continuation", "pair", "ranking"]
"""Scope of a call: an item of a kind, or a continuation with its turns and as a whole."""
COMMON = (
    Variable("notice", "what tells the model that quoted text is never addressed to it", required=True),
    Variable(EXAMPLES, "the worked examples of this version; without it they end the system part"),
)
"""Variables available to every text."""


@dataclass(frozen=True, slots=True)
class Member:
    """Member of a comparison: a turn of a continuation, or (`turn` None) the whole continuation."""

    continuation: Continuation
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """Subject of a call: a turn, or (`turn` None) the continuation with all its turns.

    `view` is the part shown to raters; the systems of the dialogue's own record are hidden in every view.
    `need_answers` are the answers of the raters bound to the protocol's needs: role to turn (None for the
    dialogue) to a value or the reason why there is none. `part` is one of the protocol's parts if it makes
    several calls about the same subject. In a comparison, `members` are the compared responses in the item's
    own order (the first is also the continuation, `turn` None), and `shown` their numbers in display order.
    """

    dialogue: Dialogue
    continuation: Continuation
    turn: int | None = None
    view: View = field(default_factory=View)
    need_answers: NeedAnswers = field(default_factory=dict)
    part: str = ""
    members: tuple[Member, ...] = ()
    shown: tuple[int, ...] = ()

    def each_shown(self) -> tuple[Case, ...]:
        """Return a separate case for each member, in the order shown."""
        ordered = [self.members[number] for number in self.shown]
        return tuple(
            replace(self, continuation=member.continuation, turn=member.turn, members=(), shown=())
            for member in ordered
        )

    def judged(self) -> tuple[int, ...]:
        """Return the indices of the continuation's turns that are items: all turns that are not given."""
        return tuple(i for i, turn in enumerate(self.continuation.turns) if not turn.given)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answer read from a reply: `value` is None exactly when `missing` holds a reason; a text answers a
    nominal (or text) question. `turn` is 0-based; None answers the continuation's dialogue item. `evidence`
    holds the passages that the answer points at."""

    question: str
    turn: int | None
    value: float | str | None
    missing: str = ""
    explanation: str = ""
    evidence: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """All answers of a reply, and flags: one line each about valid answers that deserve a look."""

    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...] = ()


class Unfit(ValueError):
    """A protocol cannot ask a scheme; the message gives the reason."""


def covered(kind: str) -> Covers:
    """Return the scope of a call about an item of a kind; raise Unfit for kinds not shown to judges."""
    if KINDS[kind].has_record:
        raise Unfit(f"people review {KINDS[kind].plural}: no judge is shown one")
    if kind == ANSWER.key:
        raise Unfit("answers are judged by the protocol answer_match, which is told what is right")
    return cast(Covers, kind if KINDS[kind].has_turn else "dialogue")


class Unwritable(ValueError):
    """A reading cannot be expressed as a reply: an answer is missing, or is not one of the protocol's."""


class Protocol(ABC):
    """Base class of judge protocols; they are listed in `PROTOCOLS`.

    `answers` maps each verdict's question to the scheme and question that it answers; `covers` is the scope
    of a call: `turn`, `decision` or `dialogue` answers questions about items of that kind only,
    `continuation` questions about its turns, about the whole, or both. `needs` are answers of other raters
    that the protocol reads; while one is not met, no call is made. `network` is false for a judge that
    computes its verdicts itself. `version` is the version of the prompt's text (or of the rules): a released
    one is never edited. The rendering of material has a version of its own
    (`annotation.text.views.RENDERING`). A protocol that `takes_scheme` is a template: it has no answers until
    it is bound to a scheme with `over`. `samples` is the default number of samples: one, or one in each
    order. `reasks` is the number of times that a run asks again after an unreadable reply;
    with `repairs`, the model is then shown that reply and its fault.
    """

    key: ClassVar[str]
    takes_scheme: ClassVar[bool] = False
    version: ClassVar[int] = 1
    reasks: ClassVar[int] = 1
    repairs: ClassVar[bool] = True
    title: ClassVar[str]
    covers: Covers
    network: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]] = ("",)
    samples: ClassVar[int] = 1
    answers: Mapping[str, tuple[SchemeDefinition, str]]
    needs: ClassVar[tuple[Need, ...]] = ()

    def over(self, definition: SchemeDefinition, variant: str) -> Protocol:
        """Return the protocol bound to a scheme's questions; raise Unfit if it cannot ask them."""
        raise Unfit(f"{self.key} has questions of its own")

    def item_kinds(self) -> tuple[str, ...]:
        """Return the distinct kinds of items that its questions are about."""
        return tuple(dict.fromkeys(self.kind_of(name) for name in self.answers))

    def kind_of(self, name: str) -> str:
        """Return the kind of items that a question (key of `answers`) is about."""
        scheme, key = self.answers[name]
        return scheme.kind_of(scheme.question(key))

    def parts(self, variant: str) -> tuple[str, ...]:
        """Return the parts, each asked in its own call; most protocols ask everything in one."""
        return ("",)

    def samples_of(self, variant: str) -> int:
        """Return a variant's default number of samples."""
        return self.samples

    def asked_in(self, part: str) -> tuple[str, ...]:
        """Return the questions (keys of `answers`) that a part answers."""
        return tuple(self.answers)

    def unmet(self, case: Case) -> str:
        """Return the reason why a need is not met, '' if all are met. A call about a turn needs only the
        answers about that turn and about the dialogue."""
        for need in self.needs:
            answers = case.need_answers.get(need.role, {})
            if case.turn is not None:
                answers = {turn: answer for turn, answer in answers.items() if turn in (case.turn, None)}
            if reason := need.unmet(answers):
                return reason
        return ""

    def refusal(self, case: Case, variant: str) -> str:
        """Return the reason why this protocol cannot judge the case, '' if it can; the reason is recorded
        for its missing answers."""
        return ""

    def asked_of_nobody(self, mode: str) -> str:
        """Return the reason why neither people nor judges rate continuations of a mode, or ''."""
        schemes = {scheme.key: scheme for scheme, _ in self.answers.values()}
        return next(filter(None, (scheme.refusal(mode) for scheme in schemes.values())), "")

    def unavailable_reason(self, case: Case, variant: str) -> str:
        """Return the reason, its schemes' or its own, why no call is made about the case; '' if there is
        none."""
        return self.asked_of_nobody(case.continuation.mode) or self.refusal(case, variant)

    def unanswered(self, case: Case, reason: str) -> Reading:
        """Return a reading in which every answer is missing for the same reason."""
        turns = case.judged() if case.turn is None else (case.turn,)
        turns = () if case.members else turns
        about = {key: KINDS[self.kind_of(key)].points_at for key in self.answers}
        places: tuple[int | None, ...] = (*turns, None)
        return Reading(
            tuple(
                Verdict(key, place, None, missing=reason)
                for place in places
                for key in self.asked_in(case.part)
                if (about[key] == "turn") == (place is not None)
            )
        )

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return the judge's identity besides its model and parameters."""
        return {"protocol": self.key, "version": self.version, "rendering": RENDERING}


class Asking(Protocol):
    """A protocol that asks a language model. `reply_tokens` is the typical length of a reply, for estimates.

    Its prompt is a text with variables (`judges.protocols.wording`): the released text of the protocol, or
    another text for the same variables.
    """

    reply_tokens: int = 100
    forms: ClassVar[tuple[str, ...]] = ("",)
    """Possible forms of a reply; a text names one of them."""

    @abstractmethod
    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return the optional and required variables of a text, besides those of every text (`COMMON`)."""

    @abstractmethod
    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return the values of the variables for a case."""

    @abstractmethod
    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the answers of a reply; raise Unparseable if it does not answer."""

    def given_up(self, error: Unparseable, case: Case) -> Reading | None:
        """Return the reading to use after the last unreadable reply; None makes the call fail.

        `error` is the fault of the last reply.
        """
        return None

    @abstractmethod
    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write a reading as the reply that `parse` reads back. Raises Unwritable."""

    def read(
        self, reply: str, tokens: Tokens, case: Case, variant: str, wording: Wording | None = None
    ) -> Reading:
        """Read the answers of a reply whose tokens may come with their probabilities.

        A protocol that uses only the text, in the same way for all variants, only needs `parse`.
        """
        return self.parse(reply, case)

    @abstractmethod
    def prompt_file(self, variant: str) -> str:
        """Return the name of the released prompt text, without its version."""

    def forms_of(self, variant: str) -> tuple[str, ...]:
        """Return the forms of reply that a variant reads; the first is the default."""
        return self.forms

    def parameters(self, variant: str) -> Mapping[str, Any]:
        """Return the sampling parameters that a variant needs; a judge may override them."""
        return {}

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any] | None:
        """Return the JSON schema of a reply, None if it is not JSON."""
        return None

    def wording(self, variant: str) -> Wording:
        """Return the text released with Concord."""
        return released(self.prompt_file(variant), self.version)

    def known_variables(self, variant: str) -> dict[str, Variable]:
        """Return all variables that a text may use, by name."""
        return {variable.name: variable for variable in (*COMMON, *self.variables(variant))}

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        """Return the prompt for a case, in the released text or in `wording`.

        Includes the text's worked examples, except those of the case's own cluster.
        """
        text = wording or self.wording(variant)
        form = text.form or self.forms_of(variant)[0]
        values = {
            "notice": NOTICE,
            EXAMPLES: lambda: render_examples(text, case),
            **self.values(case, variant),
        }
        return text.fill(values, self.schema(case, variant, form))

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return the judge's identity: protocol, variant, and the versions of prompt and rendering."""
        return Protocol.fingerprint(self, variant) | {"variant": variant, "prompt": self.prompt_file(variant)}


class Computing(Protocol):
    """A protocol that computes its answers itself, without a model or a network."""

    network = False

    @abstractmethod
    def judge(self, case: Case, variant: str = "") -> Reading:
        """Judge a case."""

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return the judge's identity, including its variant if it has one."""
        own = {"variant": variant} if variant else {}
        return Protocol.fingerprint(self, variant) | own


# Writing readings as replies: helpers shared by implementations of `Asking.write`.


def find_verdict(reading: Reading, question: str, turn: int | None) -> Verdict:
    """Return the verdict on a question about a turn (None: the dialogue); raise Unwritable without one."""
    for verdict in reading.verdicts:
        if (verdict.question, verdict.turn) == (question, turn) and verdict.value is not None:
            return verdict
    place = "" if turn is None else f" about turn {turn + 1}"
    raise Unwritable(f"there is no answer to {question}{place}")


def number(verdict: Verdict) -> float:
    """Return the number in a verdict; raise Unwritable for any other kind of answer."""
    if not isinstance(verdict.value, int | float):
        raise Unwritable(f"the answer to {verdict.question} is not a number")
    return verdict.value


def format_number(value: float) -> str:
    """Format a number as replies write it: `4`, `3.5`."""
    return str(int(value)) if value == int(value) else repr(float(value))


def score(reading: Reading, question: str, turn: int | None) -> str:
    """Return the number that answers a question, formatted for a reply; raise Unwritable without one."""
    return format_number(number(find_verdict(reading, question, turn)))
