"""What a simulation would take, before anything is asked: summaries and answers, and how much is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from annotation.models import Dialogue, QuestionSet
from jobs.endpoints.costs import BY_CHARACTERS, cost, counter
from jobs.endpoints.wire import literal
from jobs.models import Endpoint
from judges.runs import estimates
from systems.errors import SystemsError
from systems.generators import GENERATORS, State
from systems.long_dialogue.agent import DialsimAgent
from systems.long_dialogue.material import Material
from systems.long_dialogue.memory import SUMMARY
from systems.long_dialogue.trial import Trials
from systems.long_dialogue.trial_settings import MEMORY, NAMES, REMEMBER
from systems.models import Production
from systems.producing.dialogues import of_rows
from systems.producing.plans import Generation
from systems.producing.scripts import LOADER
from systems.producing.steps import came
from systems.simulating import summaries
from systems.simulating.actions import checked
from systems.simulating.going_on import ANSWERS, SUMMARIES, scripts_of
from systems.simulating.orders import AGENT, Order
from systems.simulating.vectors import answered

SAMPLED = 20
"""Questions, or sessions, that are gone through; the others take what these do."""
PRETENDED = "They talked about who lives where. " * 15


@dataclass(frozen=True, slots=True)
class Step:
    """What a step takes: all its calls, those of them that are there, and the tokens of those to come."""

    step: str
    all: int
    done: int
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def calls(self) -> int:
        """Calls to come."""
        return self.all - self.done

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in self.__slots__} | {"calls": self.calls}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A simulation before it starts. `productions` are its trials, one a script each, of which `done` are
    there; `left_out` says why a script has none. `cost` is None where the endpoint has no prices, `endpoint`
    where a baseline answers."""

    productions: int
    done: int
    questions: int
    steps: tuple[Step, ...]
    left_out: Mapping[str, int]
    endpoint: Endpoint | None
    counted_by: str = BY_CHARACTERS

    @property
    def calls(self) -> int:
        """All calls to come."""
        return sum(step.calls for step in self.steps)

    @property
    def tokens_in(self) -> int:
        """All tokens that are read."""
        return sum(step.tokens_in for step in self.steps)

    @property
    def tokens_out(self) -> int:
        """All tokens that are written."""
        return sum(step.tokens_out for step in self.steps)

    @property
    def cost(self) -> Decimal | None:
        """What it costs."""
        return cost(self.endpoint, self.tokens_in, self.tokens_out) if self.endpoint else Decimal(0)

    @property
    def price(self) -> str:
        """The cost in words."""
        currency = self.endpoint.currency if self.endpoint else ""
        return estimates.cost_in_words(self.cost, currency, calls=self.calls)

    @property
    def host(self) -> str:
        """Where the text goes."""
        return (urlsplit(self.endpoint.base_url).hostname or "") if self.endpoint else ""

    @property
    def is_here(self) -> bool:
        """Whether that is this machine."""
        return literal(self.host) in {"127.0.0.1", "::1"}

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("productions", "done", "questions", "calls", "tokens_in", "tokens_out", "counted_by")
        told = {name: getattr(self, name) for name in names}
        told |= {"cost": None if self.cost is None else float(self.cost), "left_out": dict(self.left_out)}
        return told | {"steps": [step.as_json() for step in self.steps]}

    def sentence(self) -> str:
        """Return it as one line for people."""
        there = f" ({self.done:,} are there)" if self.done else ""
        made = f"{self.questions:,} questions in {self.productions:,} trials{there}"
        if self.endpoint is None:
            return f"{made}; no model is asked."
        parts = ", ".join(f"{step.calls:,} for {step.step}" for step in self.steps)
        where = f"{self.host}, on this machine" if self.is_here else self.host
        return (
            f"{made}: {self.calls:,} calls ({parts}), about {self.tokens_in:,} tokens to read and "
            f"{self.tokens_out:,} to write ({self.counted_by}), cost {self.price}; the text goes to {where}."
        )


def estimate(asked: QuestionSet, order: Order, endpoint: Endpoint | None) -> Estimate:
    """Return what a simulation would take; nothing is sent or kept. Raise SystemsError for what cannot be."""
    order = checked(asked, order, endpoint)
    rows = scripts_of(asked)
    steps: list[Step] = []
    if endpoint and order.settings[MEMORY] == SUMMARY:
        steps.append(_summaries(rows, order, endpoint))
    trials, left_out = _trials(rows, order, endpoint)
    if not trials:
        raise SystemsError(f"Nothing can be asked: {'; '.join(left_out)}.")
    done = sum(state is None for _, state, _ in trials)
    if endpoint:
        steps.append(_answers(trials))
    questions = sum(number for _, _, number in trials)
    counted_by = counter(endpoint)[1] if endpoint else BY_CHARACTERS
    return Estimate(len(trials), done, questions, tuple(steps), left_out, endpoint, counted_by)


Trial = tuple[Trials, State | None, int]
"""A script's trials, how far one of them is (None: done), and how many questions it has."""


def _trials(
    rows: Sequence[Dialogue], order: Order, endpoint: Endpoint | None
) -> tuple[list[Trial], dict[str, int]]:
    there = _there(rows, order, endpoint)
    trials: list[Trial] = []
    left_out: dict[str, int] = {}
    for row in rows:
        walks = Trials(_pretended(LOADER.load(row.pk, order.settings, endpoint), order)).rough()
        agent = DialsimAgent(walks)
        if why := agent.why_not(walks.material.dialogue, order.settings):
            left_out[why] = left_out.get(why, 0) + 1
            continue
        for trial in range(order.trials):
            first = agent.begin_trial(walks.material.dialogue, order.settings, trial)
            trials.append((walks, there.get((row.pk, trial), first), len(walks.asks(first))))
    return trials, left_out


def _there(
    rows: Sequence[Dialogue], order: Order, endpoint: Endpoint | None
) -> dict[tuple[int, int], State | None]:
    """Return how far trials are that were begun before, None for those that are done."""
    if endpoint is None:
        return {}
    plan = Generation(AGENT, endpoint, order.settings, order.parameters, order.name, order.condition).plan()
    made = Production.objects.filter(writer__name=plan.name, condition_hash=plan.digest, dialogue__in=rows)
    told = made.values_list("dialogue", "trial", "status", "memory")
    return {
        (dialogue, trial): None if status == Production.Status.DONE else state
        for dialogue, trial, status, state in told
    }


def _pretended(material: Material, order: Order) -> Material:
    """Return material in which sessions without a summary have one of usual length."""
    if order.settings[MEMORY] != SUMMARY:
        return material
    texts = summaries.digests(material.dialogue, str(order.settings[NAMES]))
    return replace(material, summaries=dict.fromkeys(texts, PRETENDED) | dict(material.summaries))


def _answers(trials: Sequence[Trial]) -> Step:
    """Return what the questions take: what some of them do, as often as there are questions to be asked."""
    everything = sum(number for _, _, number in trials)
    left = [
        (walks, state, number)
        for walks, state, asks in trials
        if state is not None
        for number in range(len(state["answers"]), asks)
    ]
    read = written = 0
    sample = _some(left)
    for walks, state, number in sample:
        count = walks.material.count_tokens
        reply = DialsimAgent(walks).pretend(state)[0]
        so_far = answered(state, number, reply) if state["settings"][REMEMBER] else state
        prompt = walks.question(so_far, number).prompt
        read += count(prompt.system) + count(prompt.user)
        written += count(reply)
    each = len(left) / max(1, len(sample))
    return Step(ANSWERS, everything, everything - len(left), round(read * each), round(written * each))


def _summaries(rows: Sequence[Dialogue], order: Order, endpoint: Endpoint) -> Step:
    """Return what the summaries take that are not there."""
    told = of_rows(rows)
    needed = [
        (need, read)
        for row in rows
        for need, read in summaries.needs(row, told[row.pk], str(order.settings[NAMES]), endpoint)
    ]
    state = came([need for need, _ in needed], ())
    left = [(need, read) for need, read in needed if need.place not in state.results]
    count, _ = counter(endpoint)
    generator = GENERATORS[summaries.GENERATOR]
    read = written = 0
    sample = _some(left)
    for need, (_, record) in sample:
        first = generator.begin(record, need.plan.settings)
        asked = generator.request(first)
        assert isinstance(asked, Sequence)
        read += count(asked[0].system) + count(asked[0].user)
        written += count(generator.pretend(first)[0])
    each = len(left) / max(1, len(sample))
    return Step(SUMMARIES, len(needed), len(needed) - len(left), round(read * each), round(written * each))


def _some(places: Sequence[Any]) -> Sequence[Any]:
    return places[:: max(1, -(-len(places) // SAMPLED))]
