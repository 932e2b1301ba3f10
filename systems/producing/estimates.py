"""What generation would take, before it is started: calls, tokens, cost, and how much of it is done.

Calls are counted by going through a production with made-up replies of usual length (`Generator.pretend`),
for every dialogue of a small selection and for some of a large one; tokens are those of five dialogues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from annotation import records
from jobs.endpoints.costs import BY_CHARACTERS, Count, cost, counter
from jobs.endpoints.wire import literal
from jobs.prompt import Prompt, about_tokens
from judges.runs import estimates
from systems.generators import Done, Failed, Generator, Reply, State
from systems.models import Production, Writer
from systems.producing.dialogues import Dialogues
from systems.producing.plans import Plan

COUNTED = 300
"""Dialogues whose calls are counted one by one; of more, the mean of these holds for all."""
SAMPLED = 5
MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """Generation before it starts. `productions` are all, of which `done` are there; `calls` are those to
    come.

    `left_out` counts the dialogues for which nothing can be written, by reason. `cost` is in `currency`, None
    where the endpoint has no prices. `tokens_new` are those of `tokens_out` that do not repeat what
    was shown. `about` says that calls were counted on some dialogues only, `counted_by` how tokens were.
    """

    productions: int
    done: int
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_new: int
    cost: Decimal | None
    currency: str
    endpoint: str
    model: str
    host: str
    is_here: bool
    left_out: dict[str, int]
    name: str
    about: bool = False
    counted_by: str = BY_CHARACTERS

    @property
    def price(self) -> str:
        """The cost in words."""
        return estimates.cost_in_words(self.cost, self.currency, calls=self.calls)

    @property
    def to_write(self) -> int:
        """The productions that are still to be written."""
        return self.productions - self.done

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"cost": None if self.cost is None else float(self.cost)}

    def sentence(self) -> str:
        """Return it as one line for people."""
        about = "about " if self.about else ""
        done = f" ({self.done:,} are there)" if self.done else ""
        where = f"{self.host}, on this machine" if self.is_here else self.host
        anew = f", {self.tokens_new:,} of them anew" if self.tokens_new < self.tokens_out else ""
        left = "".join(f" Left out: {n:,} ({why})." for why, n in self.left_out.items())
        return (
            f"{self.productions:,} to write by {self.name}{done}: {about}{self.calls:,} calls, about "
            f"{self.tokens_in:,} tokens to read and {self.tokens_out:,} to write{anew} ({self.counted_by}), "
            f"cost {self.price}; the text goes to {where} (endpoint {self.endpoint}, model "
            f"{self.model}).{left}"
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """What one production takes: calls, and tokens read, written, and written anew in all."""

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_new: int


def estimate(plan: Plan, dialogues: Dialogues, trials: int = 1) -> Estimate:
    """Return what generation would take. Nothing is written. Raises SystemsError for what cannot be."""
    left_out: dict[str, int] = {}
    begun: list[Begun] = []
    eligible = 0
    for row, record in dialogues.read():
        generator, why = plan.at(row.pk, record)
        if why:
            left_out[why] = left_out.get(why, 0) + 1
            continue
        eligible += 1
        if len(begun) < COUNTED:
            begun.append((row.pk, generator.rough(), _first_states(plan, generator, record, trials)))
    there = _there(plan, dialogues, trials)
    done = sum(status == Production.Status.DONE for status, _ in there.values())
    count, counted_by = counter(plan.endpoint)
    calls, read, written, new = _still(plan, begun, there, eligible, trials, count)
    host = urlsplit(plan.endpoint.base_url).hostname or ""
    return Estimate(
        productions=eligible * trials,
        done=done,
        calls=calls,
        tokens_in=read,
        tokens_out=written,
        tokens_new=new,
        cost=cost(plan.endpoint, read, written),
        currency=plan.endpoint.currency,
        endpoint=plan.endpoint.name,
        model=plan.endpoint.answering_model,
        host=host,
        is_here=literal(host) in {"127.0.0.1", "::1"},
        left_out=left_out,
        name=plan.name,
        about=eligible > len(begun),
        counted_by=counted_by,
    )


Begun = tuple[int, Generator, tuple[State, ...]]
"""A dialogue's id, the generator at work on it, and the first state of each trial."""
Place = tuple[int, int]
"""The id of a dialogue, and a trial."""


def _first_states(
    plan: Plan, generator: Generator, record: records.Dialogue, trials: int
) -> tuple[State, ...]:
    if not generator.needs:
        return (generator.begin(record, plan.settings),) * trials
    return tuple(generator.begin_trial(record, plan.settings, trial) for trial in range(trials))


def _there(plan: Plan, dialogues: Dialogues, trials: int) -> dict[Place, tuple[str, State]]:
    """Return the status and the state of the productions that were begun before."""
    writer = Writer.objects.filter(corpus=dialogues.corpus, name=plan.name).first()
    if writer is None:
        return {}
    rows = Production.objects.filter(writer=writer, condition_hash=plan.digest, trial__lt=trials)
    chosen = rows.filter(dialogue__in=list(dialogues.rows().values_list("pk", flat=True)))
    return {
        (dialogue, trial): (status, memory)
        for dialogue, trial, status, memory in chosen.values_list("dialogue", "trial", "status", "memory")
    }


def _still(
    plan: Plan,
    begun: Sequence[Begun],
    there: dict[Place, tuple[str, State]],
    eligible: int,
    trials: int,
    count: Count,
) -> tuple[int, int, int, int]:
    """Return the calls, and tokens read, written and written anew, that are still to come."""
    width = plan.generator.together(plan.settings)
    states = [
        (generator, there.get((pk, trial), ("", first[trial]))[1])
        for trial in range(trials)
        for pk, generator, first in begun
        if there.get((pk, trial), ("", {}))[0] != Production.Status.DONE
    ]
    if not states:
        return 0, 0, 0, 0
    if width > 1:
        alone = [state for _, state in states]
        groups = [alone[at : at + width] for at in range(0, len(alone), width)]
        taken = [_taken_together(plan.generator, group, count) for group in groups]
        scale = eligible / len(begun)
        sums = (
            sum(one.calls for one in taken),
            sum(one.tokens_in for one in taken),
            sum(one.tokens_out for one in taken),
            sum(one.tokens_new for one in taken),
        )
        read, written, new = (round(one * scale) for one in sums[1:])
        return math.ceil(sums[0] * scale), read, written, new
    step = max(1, len(states) // SAMPLED)
    some = [taken_by(generator, state, count) for generator, state in states[::step][:SAMPLED]]
    scale = eligible / len(begun)
    each_takes = None if there else plan.generator.calls(plan.settings)
    counted = (
        each_takes if each_takes is not None else calls_of(generator, state) for generator, state in states
    )
    calls = round(sum(counted) * scale)
    each = sum(one.calls for one in some) or 1
    read = round(calls * sum(one.tokens_in for one in some) / each)
    written = round(calls * sum(one.tokens_out for one in some) / each)
    return calls, read, written, round(calls * sum(one.tokens_new for one in some) / each)


def taken_by(generator: Generator, state: State, count: Count = about_tokens) -> Taken:
    """Return what a production takes from a state on, with made-up replies."""
    calls = read = written = new = 0
    for prompts, replies in _steps(generator, state):
        calls += len(prompts)
        read += sum(count(prompt.system) + count(prompt.user) for prompt in prompts)
        written += sum(map(count, replies))
        new += sum(count(generator.anew(reply)) for reply in replies)
    return Taken(calls, read, written, new)


def calls_of(generator: Generator, state: State) -> int:
    """Return how many calls a production takes from a state on, with made-up replies."""
    left = generator.calls_left(state)
    return left if left is not None else sum(len(prompts) for prompts, _ in _steps(generator, state))


def _steps(generator: Generator, state: State) -> Iterator[tuple[Sequence[Prompt], Sequence[str]]]:
    """Yield the prompts of each step with made-up replies, up to the end or to where a limit is passed."""
    for _ in range(MOST_STEPS):
        asked = generator.request(state)
        if isinstance(asked, Done):
            return
        replies = generator.pretend(state)
        yield asked, replies
        try:
            state = generator.receive(state, [Reply(reply, seconds=0.0) for reply in replies])
        except Failed:
            return
    raise AssertionError(f"{generator.key} does not come to an end")


def _taken_together(generator: Generator, states: Sequence[State], count: Count) -> Taken:
    prompt = generator.shared(states)
    replies = [reply for state in states for reply in generator.pretend(state)]
    read = count(prompt.system) + count(prompt.user)
    new = sum(count(generator.anew(reply)) for reply in replies)
    return Taken(1, read, sum(map(count, replies)), new)
