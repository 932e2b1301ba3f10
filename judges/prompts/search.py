"""Search for better prompts: reflective evolution (GEPA) against people's answers. Without side effects."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from annotation.schemes.definitions import Level
from jobs.prompt import TEXT, Prompt, Unparseable, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from judges.protocols.wording import NOTICE, Variable, Wording, released

# Requests to the improving model, and parsing of its proposals.
#
# The model sees the judge's present text and cases in which the judge and people differ: the judge's
# material, its answers, and people's answers, all of it quoted. It answers with both parts of a new text.

# Dev clusters in three folds: to learn from, to choose by, and held back until the end.

LEAST = 6
"""Minimum number of clusters for a search: two per fold."""
SHARES = (0.4, 0.3, 0.3)


class TooFew(ValueError):
    """There are fewer clusters than a search needs."""


@dataclass(frozen=True, slots=True)
class Folds:
    """Clusters of each fold; no cluster is in two folds.

    `learn`: their disagreements are shown to the improving model. `choose`: the search selects the text to
    continue with on them. `held_back`: unseen by the search; the gain of a proposal is measured on them.
    """

    learn: frozenset[str]
    choose: frozenset[str]
    held_back: frozenset[str]

    def part_of(self, cluster: str) -> str:
        """Return the name of a cluster's fold."""
        return next(name for name in self.__slots__ if cluster in getattr(self, name))


def folds(clusters: Iterable[str], seed: int) -> Folds:
    """Return folds of 40, 30 and 30% of the clusters, shuffled with a seed; each has at least two.

    The same clusters and seed give the same folds, whatever the order of the clusters. Raises TooFew.
    """
    names = sorted(set(clusters))
    if len(names) < LEAST:
        raise TooFew(
            f"a search needs people's answers in at least {LEAST} clusters of dialogues, two for each part; "
            f"there are {len(names)}"
        )
    random.Random(f"folds {seed}").shuffle(names)
    held_back = max(2, round(SHARES[2] * len(names)))
    choose = max(2, round(SHARES[1] * len(names)))
    return Folds(
        frozenset(names[held_back + choose :]),
        frozenset(names[held_back : held_back + choose]),
        frozenset(names[:held_back]),
    )


# Agreement of a judge's answers with people's per target: the objective of the search.
#
# The gain of a proposal is measured separately, with the statistics of reports, on dialogues that the search
# has never seen. Here every target (the subject of a call) needs a number whose mean can be maximised.

Value = float | str
Place = tuple[str, int]
"""A question's key (of the protocol's answers) and an item."""
ORDERED = frozenset({"ordinal", "interval", "ratio"})


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question for scoring: its level, and the ends of its scale (None without a scale)."""

    level: Level
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Subject of a call: its key, its cluster, people's answers by place, and their reasons by place."""

    key: str
    cluster: str
    people: Mapping[Place, tuple[Value, ...]]
    reasons: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)


class Scorer:
    """Scores a judge's answers about targets against people's.

    Binary and nominal: whether the judge gives the same answer as a person, averaged over people, each answer
    weighted by 1 / (K n_v / N) for K values that occur and n_v of the N answers being v; so the mean over all
    answers is the balanced accuracy, and answering no to everything gains nothing if most answers are no.
    Ordered: 1 - |judge - people's mean| / range of the scale, at least 0. Missing answers score 0. Texts are
    not scored. The score of a target is the sum over its places, scaled so that the mean over all targets is
    the mean over all places.
    """

    def __init__(self, questions: Mapping[str, ScoredQuestion], targets: Sequence[Target]) -> None:
        self.questions = {key: question for key, question in questions.items() if question.level != "text"}
        self.places = sum(len(self._scored(target)) for target in targets)
        self.share = len(targets) / self.places if self.places else 0.0
        self._counts: dict[str, Counter[Value]] = {key: Counter() for key in self.questions}
        self._ends: dict[str, tuple[float, float]] = {}
        for target in targets:
            for (question, _), answers in self._scored(target).items():
                self._counts[question].update(answers)
        for key, scale in self.questions.items():
            seen = [value for value in self._counts[key] if not isinstance(value, str)]
            low = min(seen, default=0.0) if scale.low is None else scale.low
            high = max(seen, default=0.0) if scale.high is None else scale.high
            self._ends[key] = (low, high)

    def score(self, target: Target, answers: Mapping[Place, Value | None]) -> float:
        """Return a target's score, at least 0; the mean over all targets is at most 1."""
        return self.share * sum(
            self.agreement(place[0], people, answers.get(place))
            for place, people in self._scored(target).items()
        )

    def agreement(self, question: str, people: Sequence[Value], judge: Value | None) -> float:
        """Return the agreement of an answer with people's answers to the same question about the item."""
        if judge is None:
            return 0.0
        if self.questions[question].level in ORDERED:
            low, high = self._ends[question]
            distance = abs(float(judge) - fmean(float(value) for value in people))
            return max(0.0, 1.0 - distance / (high - low)) if high > low else float(distance == 0)
        return fmean(self._weight(question, value) * (value == judge) for value in people)

    def _weight(self, question: str, value: Value) -> float:
        counts = self._counts[question]
        return counts.total() / (len(counts) * counts[value])

    def _scored(self, target: Target) -> dict[Place, tuple[Value, ...]]:
        return {
            place: answers
            for place, answers in target.people.items()
            if place[0] in self.questions and answers
        }


NAME, VERSION = "improve", 2
FIELDS = ("diagnosis", "system", "user")
LONGEST_DIAGNOSIS = 10_000
SCHEMA = object_schema(dict.fromkeys(FIELDS, TEXT))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case in which the judge and people differ.

    `key` is the item's, for later readers of the proposal (the model does not see it). `blocks` are the
    quoted texts as the judge saw them. `judge` and `people` are lines with their answers to each question,
    `reasons` lines with people's own reasons, without names.
    """

    key: str
    blocks: tuple[str, ...]
    judge: tuple[str, ...]
    people: tuple[str, ...]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text proposed by a model, with its diagnosis of the previous text."""

    wording: Wording
    diagnosis: str


def request(
    wording: Wording, variables: Mapping[str, Variable], cases: Sequence[Disagreement], trouble: str = ""
) -> Prompt:
    """Return the request to the improving model. `trouble` is the fault of its last, unusable proposal."""
    values = {
        "notice": NOTICE,
        "system": quote("SYSTEM PART", wording.system.split("\n")),
        "user": quote("USER PART", wording.user.split("\n")),
        "variables": "\n".join(_line(variable) for variable in variables.values()),
        "cases": "\n\n".join(_case(number, case) for number, case in enumerate(cases, start=1)),
    }
    prompt = released(NAME, VERSION).fill(values, SCHEMA)
    if not trouble:
        return prompt
    again = f"\n\nYour last proposal could not be used: {trouble} Write it again without that mistake."
    return Prompt(prompt.system, prompt.user + again, SCHEMA)


def read(reply: str, wording: Wording, variables: Mapping[str, Variable]) -> Proposal:
    """Parse a reply to `request(wording, ...)`; the wording's reply form and worked examples are kept.

    Raises Unparseable if it is not a proposal, or its text is not a valid prompt; the message has the reason.
    """
    data = json_object(reply)
    for name in FIELDS:
        if not isinstance(data.get(name), str):
            raise Unparseable(f"the field {name} is missing or not a text")
    if extra := sorted(set(data) - set(FIELDS)):
        raise Unparseable(f"the field {extra[0][:80]} was not asked for")
    text = replace(wording, system=data["system"].strip(), user=data["user"].strip())
    if problems := text.problems(variables):
        raise Unparseable(" ".join(problems))
    return Proposal(text, data["diagnosis"].strip()[:LONGEST_DIAGNOSIS])


def _line(variable: Variable) -> str:
    return f"- ${variable.name}: {variable.help}{' (it must stay)' if variable.required else ''}"


def _case(number: int, case: Disagreement) -> str:
    parts = [
        f"Case {number}",
        *case.blocks,
        quote("JUDGE", case.judge),
        quote("PEOPLE", case.people),
        *([quote("REASONS OF PEOPLE", case.reasons)] if case.reasons else []),
    ]
    return "\n\n".join(parts)


# Reflective evolution of a prompt by GEPA: the adapter between the library and Concord.
#
# GEPA (Agrawal et al. 2025) keeps a pool of texts. In each round it takes a text that is best on some target
# of the choosing fold, lets the judge answer a few targets of the learning fold with it, shows the
# disagreements to the improving model, and keeps the proposal if it does better on the same few targets; then
# the proposal is scored on the choosing fold. The held-back fold is not used.

SYSTEM, USER = "system", "user"
Answers = Mapping[Place, Value | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of a search: at most `rounds` proposals and `calls` of the judge; `few` targets per round."""

    rounds: int = 8
    few: int = 6
    calls: int = 500
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """A text that the search proposed. `parent` is the digest of the text it was derived from ('' for the
    first), `score` its mean on the choosing fold (None if it did no better than its parent on the cases it
    came from, and so was not scored there), `cases` the keys of those cases, `diagnosis` the improving
    model's comment on them."""

    wording: Wording
    parent: str = ""
    score: float | None = None
    cases: tuple[str, ...] = ()
    diagnosis: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """Result of showing disagreements to the improving model; no `wording` if the reply was unusable."""

    wording: Wording | None
    diagnosis: str = ""


class OutOfBudget(Exception):
    """No more calls are allowed; the search ends with the texts found so far."""


@dataclass
class Asks:
    """Callbacks to the models. `judge` returns a judge's answers about targets under a text, in order;
    `improve` the improving model's proposal; `disagreement` the case to show it for a target and its answers.
    `judge` and `improve` may raise OutOfBudget; any other exception ends the search and is passed on."""

    judge: Callable[[Wording, Sequence[Target]], Sequence[Answers]]
    improve: Callable[[Wording, Sequence[Disagreement]], Proposed]
    disagreement: Callable[[Target, Answers], Disagreement]


@dataclass
class _Adapter:
    """GEPA's adapter: texts are its candidates, targets its data. `scorers` are by cluster; `stopped` is the
    exception that ends the search, since GEPA itself would go on to the next round."""

    first: Wording
    asks: Asks
    scorers: Mapping[str, Scorer]
    candidates: dict[str, SearchCandidate] = field(default_factory=dict)
    stopped: BaseException | None = None

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Store an exception raised inside, and raise it again on every later call by GEPA."""
        if self.stopped is not None:
            raise self.stopped
        try:
            yield
        except BaseException as error:
            self.stopped = error
            raise

    def wording(self, candidate: Mapping[str, str]) -> Wording:
        return replace(self.first, system=candidate[SYSTEM], user=candidate[USER])

    def evaluate(self, batch: list[Target], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """Return the judge's answers and their scores, with traces of the answers if requested."""
        from gepa import EvaluationBatch

        with self.stopping():
            answered = list(self.asks.judge(self.wording(candidate), batch))
        scores = [
            self.scorers[target.cluster].score(target, answers)
            for target, answers in zip(batch, answered, strict=True)
        ]
        traces = list(zip(batch, answered, scores, strict=True)) if capture_traces else None
        return EvaluationBatch(outputs=answered, scores=scores, trajectories=traces)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the cases to learn from: those with people's reasons first, then by disagreement."""
        ordered = sorted(
            eval_batch.trajectories, key=lambda trace: (not trace[0].reasons, trace[2], trace[0].key)
        )
        with self.stopping():
            cases = [{"case": self.asks.disagreement(target, answers)} for target, answers, _ in ordered]
        return dict.fromkeys(components_to_update, cases)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return both parts of the new text, or the present ones if the model's reply was unusable."""
        cases = [row["case"] for row in reflective_dataset[components_to_update[0]]]
        with self.stopping():
            proposed = self.asks.improve(self.wording(candidate), cases)
        if proposed.wording is None:
            return dict(candidate)
        self.candidates.setdefault(
            proposed.wording.digest(),
            SearchCandidate(
                proposed.wording,
                self.wording(candidate).digest(),
                cases=tuple(case.key for case in cases),
                diagnosis=proposed.diagnosis,
            ),
        )
        return {SYSTEM: proposed.wording.system, USER: proposed.wording.user}

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Record a text's score on the choosing fold, so that it is not lost when the budget ends."""
        digest = self.wording(event["candidate"]).digest()
        self.candidates[digest] = replace(self.candidates[digest], score=float(event["average_score"]))


def evolve(
    *,
    first: Wording,
    learn: Sequence[Target],
    choose: Sequence[Target],
    questions: Mapping[str, ScoredQuestion],
    asks: Asks,
    settings: Settings,
    stopping: Callable[[], bool] = lambda: False,
) -> list[SearchCandidate]:
    """Search from a first text; return that text and then all proposed texts, in order.

    A fold's scores are weighted by its own people's answers, so that its mean is as defined in `Scorer`. The
    same replies and seed give the same texts. If the budget ends early, the result has the texts so far.
    """
    import gepa
    from gepa.logging.logger import LoggerProtocol
    from gepa.strategies.batch_sampler import EpochShuffledBatchSampler
    from gepa.utils.stop_condition import MaxCandidateProposalsStopper

    class ReasonsFirst(EpochShuffledBatchSampler):
        def _update_shuffled(self, loader: Any) -> None:
            """Shuffle the targets for a new epoch; those with people's reasons come first."""
            super()._update_shuffled(loader)
            self.shuffled_ids.sort(key=lambda place: not learn[place].reasons)

    class Quiet(LoggerProtocol):
        def log(self, message: str) -> None:
            """Discard GEPA's log messages; the pool is kept instead."""

    scorers = {
        target.cluster: scorer
        for scorer, part in ((Scorer(questions, part), part) for part in (learn, choose))
        for target in part
    }
    adapter: Any = _Adapter(first, asks, scorers, {first.digest(): SearchCandidate(first)})
    with suppress(OutOfBudget):
        gepa.optimize(
            seed_candidate={SYSTEM: first.system, USER: first.user},
            trainset=list(learn),
            valset=list(choose),
            adapter=adapter,
            batch_sampler=ReasonsFirst(min(settings.few, len(learn)), random.Random(settings.seed)),
            skip_perfect_score=False,
            module_selector="all",
            max_metric_calls=settings.calls,
            stop_callbacks=[
                MaxCandidateProposalsStopper(settings.rounds),
                lambda _state: stopping() or adapter.stopped is not None,
            ],
            seed=settings.seed,
            logger=Quiet(),
            callbacks=[adapter],
            raise_on_exception=True,
            track_best_outputs=False,
        )
        if adapter.stopped is not None:
            raise adapter.stopped
    candidates: dict[str, SearchCandidate] = adapter.candidates
    return list(candidates.values())
