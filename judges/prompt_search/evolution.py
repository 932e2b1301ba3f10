"""Reflective evolution of a prompt by GEPA: the adapter between the library and Concord.

GEPA (Agrawal et al. 2025) keeps a pool of texts. In each round it takes one that is best on some target of
the choosing fold, lets the judge answer a few targets of the learning fold with it, shows the disagreements
to the improving model, and keeps the proposal where it does better on the same few targets; then it is scored
on the choosing fold. The held-back fold is no part of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from judges.prompt_search.reflection import Asked, Disagreement, Place, Scorer, Target, Value
from judges.protocols.wording import Wording

SYSTEM, USER = "system", "user"
Answers = Mapping[Place, Value | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How long to search: `rounds` proposals at most, `few` targets a round, at most `calls` of the judge."""

    rounds: int = 8
    few: int = 6
    calls: int = 500
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A text that the search came upon. `parent` is the digest of the text it was made from ('' for the
    first), `score` its mean on the choosing fold (None where it did no better than its parent on the cases it
    came from, and so was not tried there), `cases` the keys of those cases, `diagnosis` what the improving
    model said of them."""

    wording: Wording
    parent: str = ""
    score: float | None = None
    cases: tuple[str, ...] = ()
    diagnosis: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What the improving model made of disagreements; no `wording` where it made nothing usable."""

    wording: Wording | None
    diagnosis: str = ""


class OutOfBudget(Exception):
    """Nothing more may be asked; the search ends with what it has."""


@dataclass
class Asks:
    """Who asks the models. `judge` returns a judge's answers about targets under a text, in order; `improve`
    what the improving model proposes; `disagreement` what to show it of a target and the answers given.
    `judge` and `improve` may raise OutOfBudget; whatever else any of them raises ends the search with it."""

    judge: Callable[[Wording, Sequence[Target]], Sequence[Answers]]
    improve: Callable[[Wording, Sequence[Disagreement]], Proposed]
    disagreement: Callable[[Target, Answers], Disagreement]


@dataclass
class _Adapter:
    """GEPA's adapter: texts are its candidates, targets its data. `scorers` are by cluster; `stopped` is what
    was raised and ends the search: GEPA itself would go on to the next round."""

    first: Wording
    asks: Asks
    scorers: Mapping[str, Scorer]
    found: dict[str, Found] = field(default_factory=dict)
    stopped: BaseException | None = None

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Remember what is raised inside, and raise it again whenever GEPA comes back."""
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
        """Return the judge's answers and their scores, with what was answered where traces are wanted."""
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
        """Return the cases to learn from, the farthest apart first."""
        ordered = sorted(eval_batch.trajectories, key=lambda trace: (trace[2], trace[0].key))
        with self.stopping():
            cases = [{"case": self.asks.disagreement(target, answers)} for target, answers, _ in ordered]
        return dict.fromkeys(components_to_update, cases)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return both parts anew; the present ones where the improving model made nothing usable."""
        cases = [one["case"] for one in reflective_dataset[components_to_update[0]]]
        with self.stopping():
            proposed = self.asks.improve(self.wording(candidate), cases)
        if proposed.wording is None:
            return dict(candidate)
        self.found.setdefault(
            proposed.wording.digest(),
            Found(
                proposed.wording,
                self.wording(candidate).digest(),
                cases=tuple(case.key for case in cases),
                diagnosis=proposed.diagnosis,
            ),
        )
        return {SYSTEM: proposed.wording.system, USER: proposed.wording.user}

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Take down a text's score on the choosing fold, so that nothing is lost where the budget ends."""
        digest = self.wording(event["candidate"]).digest()
        self.found[digest] = replace(self.found[digest], score=float(event["average_score"]))


def evolve(
    *,
    first: Wording,
    learn: Sequence[Target],
    choose: Sequence[Target],
    questions: Mapping[str, Asked],
    asks: Asks,
    settings: Settings,
    stopping: Callable[[], bool] = lambda: False,
) -> list[Found]:
    """Search from a text; return every text that was proposed, after the first, in their order.

    A fold's scores are weighted by its own people's answers, so that its mean is what `Scorer` says. The same
    replies and seed give the same texts. Where the budget ends early, they are what there is.
    """
    import gepa
    from gepa.logging.logger import LoggerProtocol
    from gepa.utils.stop_condition import MaxCandidateProposalsStopper

    class Quiet(LoggerProtocol):
        def log(self, message: str) -> None:
            """GEPA's own diary is not kept: the pool is."""

    scorers = {
        target.cluster: scorer
        for scorer, part in ((Scorer(questions, part), part) for part in (learn, choose))
        for target in part
    }
    adapter: Any = _Adapter(first, asks, scorers, {first.digest(): Found(first)})
    with suppress(OutOfBudget):
        gepa.optimize(
            seed_candidate={SYSTEM: first.system, USER: first.user},
            trainset=list(learn),
            valset=list(choose),
            adapter=adapter,
            reflection_minibatch_size=min(settings.few, len(learn)),
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
    found: dict[str, Found] = adapter.found
    return list(found.values())
