"""What a judge protocol is: how to ask about an item or a continuation, and how to read the reply.

A reply is read strictly: a score off the scale, a missing field or a turn that is not there makes the whole
reply unparseable. It is never guessed at, and never becomes a label.
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

# What a protocol reads of other raters: needs, and what is known of them about one case.

UNMET = "a need was not met: nothing was asked"
"""The flag of calls that went without an answer for it; they are tried again when their run is resumed."""
WAITING = "waits for another rater"
"""The flag of calls that were answered without what an optional need will still say; they are tried again
when their run is resumed."""

Aggregate = Literal["mean", "median", "majority"]
Policy = Literal["whole", "leave_out"]
Value = float | str


@dataclass(frozen=True, slots=True)
class NeedAnswer:
    """An answer of the rater that a need is bound to: `value` is None exactly when `missing` says why.

    `why` is the rater's own reason where it said that it has no answer.
    """

    value: Value | None = None
    missing: str = ""
    why: str = ""


NeedAnswers = Mapping[str, Mapping[int | None, NeedAnswer]]
"""Per role and place (a turn's index, None for the dialogue): what is known."""


@dataclass(frozen=True, slots=True)
class Need:
    """Answers of another rater that a protocol reads; a run binds `role` to the rater when it starts.

    `question` is `scheme/key`. `aggregate` makes one value of a rater's samples, those without an answer left
    aside: `mean` and `median` of numbers, `majority` of any values (none where two are equally frequent).
    `missing` says what to do where a place has no value: the case goes without an answer as a `whole`, or the
    place is left out (`leave_out`), and only a case without any value goes without an answer. An `optional`
    need may stay unbound and keeps nothing back: the protocol says what it makes of what is missing. `also`
    are further questions of the same scheme that the same rater answered, given as `role/key`.
    """

    role: str
    question: str
    aggregate: Aggregate = "mean"
    missing: Policy = "whole"
    optional: bool = False
    also: tuple[str, ...] = ()

    @property
    def read(self) -> dict[str, str]:
        """The keys of the questions that are read, by how they are given."""
        own = {self.role: self.question.partition("/")[2]}
        return own | {f"{self.role}/{key}": key for key in self.also}

    def combine_samples(
        self, values: Sequence[Value | None], place: str, rater: str, *, in_words: bool = False, why: str = ""
    ) -> NeedAnswer:
        """Combine a rater's samples for a place into one answer; the reason for a missing value names it.

        Of answers `in_words` the most frequent counts. `why` is the rater's own reason for having none.
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
        """Return why a case cannot be judged with these answers, '' where it can."""
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
"""One call is about an item of a kind, or about a continuation with its turns and itself."""
COMMON = (
    Variable("notice", "what tells the model that quoted text is never addressed to it", required=True),
    Variable(EXAMPLES, "the worked examples of this version; without it they end the system part"),
)
"""The variables of every text."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of several that are compared: a turn of a continuation, or (`turn` None) all of it."""

    continuation: Continuation
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """What one call is about: a turn, or (`turn` None) the continuation with all its turns.

    `view` is what raters are shown of it; the systems of the dialogue's own record are hidden in any view.
    `need_answers` are the answers of the raters that the protocol's needs are bound to: role to turn (None
    for the dialogue) to a value or the reason why there is none. `part` is one of the protocol's parts where
    it asks several calls about the same thing. Of a comparison, `members` are what is compared, in the item's
    own order (the first of them also as continuation, `turn` None), and `shown` are their numbers as shown.
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
        """Return a case about each member alone, in the order shown."""
        ordered = [self.members[number] for number in self.shown]
        return tuple(
            replace(self, continuation=member.continuation, turn=member.turn, members=(), shown=())
            for member in ordered
        )

    def judged(self) -> tuple[int, ...]:
        """Return the indices of the continuation's turns that are items: all that are not given."""
        return tuple(i for i, turn in enumerate(self.continuation.turns) if not turn.given)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer read from a reply: `value` is None exactly when `missing` says why; a text answers a
    nominal (or text) question. `turn` is 0-based; None answers the continuation's dialogue item. `evidence`
    is what the answer points at."""

    question: str
    turn: int | None
    value: float | str | None
    missing: str = ""
    explanation: str = ""
    evidence: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """All answers of a reply, and flags: one line each about what stands but deserves a look."""

    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...] = ()


class Unfit(ValueError):
    """A scheme that a protocol cannot ask; the message says why."""


def covered(kind: str) -> Covers:
    """Return what one call about an item of a kind covers; raise Unfit where judges are shown none."""
    if KINDS[kind].has_record:
        raise Unfit(f"people review {KINDS[kind].plural}: no judge is shown one")
    if kind == ANSWER.key:
        raise Unfit("answers are judged by the protocol answer_match, which is told what is right")
    return cast(Covers, kind if KINDS[kind].has_turn else "dialogue")


class Unwritable(ValueError):
    """A reading that no reply of the protocol could say: an answer is missing, or is none of its answers."""


class Protocol(ABC):
    """A way to judge. A protocol is one file, listed in `PROTOCOLS`.

    `answers` maps each verdict's question to the scheme and question that it answers; `covers` says what one
    call is about: `turn`, `decision` or `dialogue` answers questions about items of that kind only,
    `continuation` those about its turns, about itself, or both. `needs` are answers of other raters that it
    reads; where one is not met, nothing is asked. `network` is false for a judge that computes its verdicts
    itself. `version` is that of the prompt's text (or of the rules): a released one is never edited. How the
    material is rendered into it has a version of its own (`annotation.text.views.RENDERING`). One that
    `takes_scheme` is a template: it answers nothing until it is bound `over` a scheme. `samples` is how many
    are asked for where nobody says: one, or one in each order. `reasks` is how often a run asks again after a
    reply that cannot be read.
    """

    key: ClassVar[str]
    takes_scheme: ClassVar[bool] = False
    version: ClassVar[int] = 1
    reasks: ClassVar[int] = 1
    title: ClassVar[str]
    covers: Covers
    network: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]] = ("",)
    samples: ClassVar[int] = 1
    answers: Mapping[str, tuple[SchemeDefinition, str]]
    needs: ClassVar[tuple[Need, ...]] = ()

    def over(self, definition: SchemeDefinition, variant: str) -> Protocol:
        """Return the protocol that asks a scheme's questions; raise Unfit where it cannot."""
        raise Unfit(f"{self.key} has questions of its own")

    def item_kinds(self) -> tuple[str, ...]:
        """Return the kinds of items that its questions are about, each once."""
        return tuple(dict.fromkeys(self.kind_of(name) for name in self.answers))

    def kind_of(self, name: str) -> str:
        """Return the kind of the items that one of its questions (keys of `answers`) is about."""
        scheme, key = self.answers[name]
        return scheme.kind_of(scheme.question(key))

    def parts(self, variant: str) -> tuple[str, ...]:
        """Return the parts that are asked in a call each; most protocols ask everything in one."""
        return ("",)

    def samples_of(self, variant: str) -> int:
        """Return how many samples a variant asks for where nobody says."""
        return self.samples

    def asked_in(self, part: str) -> tuple[str, ...]:
        """Return the questions (keys of `answers`) that a part answers."""
        return tuple(self.answers)

    def unmet(self, case: Case) -> str:
        """Return why a need is not met, '' where all are. A call about a turn needs only what is known of it
        and of the dialogue."""
        for need in self.needs:
            answers = case.need_answers.get(need.role, {})
            if case.turn is not None:
                answers = {turn: answer for turn, answer in answers.items() if turn in (case.turn, None)}
            if reason := need.unmet(answers):
                return reason
        return ""

    def refusal(self, case: Case, variant: str) -> str:
        """Return why this protocol cannot judge the case, '' where it can; its answers are then missing for
        that."""
        return ""

    def asked_of_nobody(self, mode: str) -> str:
        """Return why nobody, neither people nor judges, rates continuations of a mode, or ''."""
        schemes = {scheme.key: scheme for scheme, _ in self.answers.values()}
        return next(filter(None, (scheme.refusal(mode) for scheme in schemes.values())), "")

    def unavailable_reason(self, case: Case, variant: str) -> str:
        """Return why nothing is asked about the case: for its schemes' reason, or its own; '' where it is."""
        return self.asked_of_nobody(case.continuation.mode) or self.refusal(case, variant)

    def unanswered(self, case: Case, reason: str) -> Reading:
        """Return the reading in which every answer is missing for one reason."""
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
        """Return what identifies the judge beside its model and parameters."""
        return {"protocol": self.key, "version": self.version, "rendering": RENDERING}


class Asking(Protocol):
    """A protocol that asks a language model. `reply_tokens` is about how long a reply is, for estimates.

    What it says is a text with variables (`judges.protocols.wording`): its own, released with Concord, or
    another one for the same variables.
    """

    reply_tokens: int = 100
    forms: ClassVar[tuple[str, ...]] = ("",)
    """How a reply may be asked for; a text names one of them."""

    @abstractmethod
    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return what a text may name and must name, beside what every text may and must (`COMMON`)."""

    @abstractmethod
    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return what the variables stand for in a case."""

    @abstractmethod
    def parse(self, reply: str, case: Case) -> Reading:
        """Return the answers of a reply; raise Unparseable where it does not answer."""

    def given_up(self, error: Unparseable, case: Case) -> Reading | None:
        """Return the reading where no reply could be read and nothing is asked again; None: the call fails.

        `error` is what was wrong with the last reply.
        """
        return None

    @abstractmethod
    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Return the reply that says a reading: `parse` reads it back. Raises Unwritable."""

    def read(
        self, reply: str, tokens: Tokens, case: Case, variant: str, wording: Wording | None = None
    ) -> Reading:
        """Return the answers of a reply whose tokens come with their probabilities (none where not given).

        A protocol whose variants read alike, and that counts the text alone, has only to `parse`.
        """
        return self.parse(reply, case)

    @abstractmethod
    def prompt_file(self, variant: str) -> str:
        """Return the name of the prompt's own text, without its version."""

    def forms_of(self, variant: str) -> tuple[str, ...]:
        """Return the forms of reply that a variant reads, the first where a text names none."""
        return self.forms

    def parameters(self, variant: str) -> Mapping[str, Any]:
        """Return the sampling parameters that a variant needs; a judge may say otherwise."""
        return {}

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any] | None:
        """Return the JSON schema of a reply, None where it is not JSON."""
        return None

    def wording(self, variant: str) -> Wording:
        """Return the text that comes with Concord."""
        return released(self.prompt_file(variant), self.version)

    def known_variables(self, variant: str) -> dict[str, Variable]:
        """Return all variables that a text may name, by name."""
        return {variable.name: variable for variable in (*COMMON, *self.variables(variant))}

    def prompt(self, case: Case, variant: str, wording: Wording | None = None) -> Prompt:
        """Return what to send about a case, in the protocol's own words or in others.

        Worked examples of the text are shown but for those of the case's own cluster.
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
        """Return what identifies the judge: protocol, variant, and the versions of prompt and rendering."""
        return Protocol.fingerprint(self, variant) | {"variant": variant, "prompt": self.prompt_file(variant)}


class Computing(Protocol):
    """A protocol that computes its answers itself, without a model or a network."""

    network = False

    @abstractmethod
    def judge(self, case: Case, variant: str = "") -> Reading:
        """Return the answers about a case."""

    def fingerprint(self, variant: str) -> dict[str, Any]:
        """Return what identifies the judge, its variant where it has one."""
        own = {"variant": variant} if variant else {}
        return Protocol.fingerprint(self, variant) | own


# Saying a reading: what the replies that `Asking.write` makes have in common.


def find_verdict(reading: Reading, question: str, turn: int | None) -> Verdict:
    """Return the verdict on a question about a turn (None: the dialogue); raise Unwritable for none."""
    for verdict in reading.verdicts:
        if (verdict.question, verdict.turn) == (question, turn) and verdict.value is not None:
            return verdict
    place = "" if turn is None else f" about turn {turn + 1}"
    raise Unwritable(f"there is no answer to {question}{place}")


def number(verdict: Verdict) -> float:
    """Return the number that a verdict answers; raise Unwritable where it is another kind of answer."""
    if not isinstance(verdict.value, int | float):
        raise Unwritable(f"the answer to {verdict.question} is not a number")
    return verdict.value


def format_number(value: float) -> str:
    """Format a number as replies write it: `4`, `3.5`."""
    return str(int(value)) if value == int(value) else repr(float(value))


def score(reading: Reading, question: str, turn: int | None) -> str:
    """Return the number that answers a question, as it is written in a reply; raise Unwritable for none."""
    return format_number(number(find_verdict(reading, question, turn)))
