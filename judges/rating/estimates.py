"""What a judge's run would take, before it is started: calls, tokens, cost, and to whom the text goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Sum

from annotation.kinds.table import COMPARING
from jobs import runs
from jobs.endpoints.costs import cost, share_of
from jobs.endpoints.wire import literal
from jobs.models import Call, CallCount, Endpoint, Run
from jobs.prompt import Prompt, about_tokens
from judges.material.loading import load, with_compared
from judges.protocols import Asking, Case
from judges.protocols.budget import TooLong
from judges.rating import actions as rating
from judges.rating import prices, sampled
from judges.rating.askers import Asker, asker_of
from judges.rating.cases import case_of
from judges.rating.needs import answers_for_needs
from judges.rating.plans import Judge, RaterPlan
from judges.rating.sampled import Covered
from judges.rating.selection import Selection, continuations
from judges.rating.unanswered import Unanswered, among

LOOKED_AT = 40
"""Prompts that are made to estimate the length of all."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A run before it starts. Tokens and cost are estimates from prompts like those that will be sent.

    `calls` are those still to be made, `done` those that this judge has made before. `cost` is in `currency`,
    None where the endpoint has no prices. Of a large corpus calls and dialogues are estimates, too (`about`),
    from some of it; `done` are then all calls that this judge has made. `unanswered` says of how many calls,
    done ones included, it is known beforehand that they have no answer, and why. `mode` is how they would be
    asked; in batches the cost is that of batched calls.
    """

    calls: int
    done: int
    dialogues: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    currency: str
    endpoint: str
    model: str
    host: str
    is_here: bool
    about: bool = False
    unanswered: tuple[Unanswered, ...] = ()
    mode: str = Run.Mode.AT_ONCE

    @property
    def price(self) -> str:
        """The cost in words: not known, free, nothing, or about so much."""
        return prices.in_words(self.cost, self.currency, calls=self.sends)

    @property
    def sends(self) -> int:
        """The calls that ask the endpoint: none where it is known beforehand that none has an answer."""
        return self.calls if self.tokens_in else 0

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {"unanswered": [one.as_json() for one in self.unanswered]}
        return values | plain | {"cost": None if self.cost is None else float(self.cost)}

    def sentence(self) -> str:
        """Return it as one line for people."""
        where = f"{self.host}, on this machine" if self.is_here else self.host
        about = "about " if self.about else ""
        in_batches = " in batches, within a day" if self.mode == Run.Mode.BATCH else ""
        goes = (
            f"the text of {about}{_counted(self.dialogues, 'dialogue')} goes"
            if self.sends
            else "no text goes"
        )
        return (
            f"{about}{_counted(self.calls, 'call')}, about {self.tokens_in:,} tokens to read and "
            f"{self.tokens_out:,} to write,"
            f" cost {self.price}{in_batches};"
            f" {goes} to {where} "
            f"(endpoint {self.endpoint}, model {self.model})."
            + "".join(f" Of all, {one.sentence()}." for one in self.unanswered)
        )


def _counted(n: int, one: str) -> str:
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


def estimate(judge: Judge, selection: Selection, mode: str | None = None) -> Estimate | None:
    """Return what a run would take; None for a judge that asks nobody. Raises JudgeError as starting does.

    `mode` is how it would be asked, at once where nothing is said.

    Nothing is kept: neither the rater nor the scheme that a start would make.
    """
    with transaction.atomic():
        found = _estimate(judge.plan(selection.campaign), selection)
        transaction.set_rollback(True)
    return found if found is None or judge.endpoint is None else _in_mode(found, judge.endpoint, mode)


def _in_mode(found: Estimate, endpoint: Endpoint, mode: str | None) -> Estimate:
    """Return an estimate with the price of a mode; raise JobError for one that is not offered."""
    would = Run(endpoint=endpoint)
    runs.put_mode(would, mode or would.mode)
    price = None if found.cost is None else found.cost * share_of(would)
    return replace(found, cost=price, mode=would.mode)


def _estimate(plan: RaterPlan, selection: Selection) -> Estimate | None:
    if not _asks(plan):
        return None
    about = sampled.is_large(selection)
    looked = sampled.covered(plan, selection) if about else _covered(plan, selection)
    finished = _done(plan) if about else _finished(plan, selection)
    return of_targets(plan, looked, samples=selection.samples, finished=finished, about=about)


def _asks(plan: RaterPlan) -> bool:
    return plan.endpoint is not None and isinstance(asker_of(plan.rater.spec).protocol, Asking)


def of_targets(
    plan: RaterPlan, looked: Covered, *, samples: int, finished: int, about: bool = False
) -> Estimate:
    """Return what asking about some targets would take, of which `finished` calls were made before.

    The plan is that of a judge that asks a model; `about` says that the targets are told from some of them.
    """
    asker, endpoint = asker_of(plan.rater.spec), plan.endpoint
    protocol = asker.protocol
    assert endpoint is not None
    assert isinstance(protocol, Asking)
    calls = max(looked.targets * len(plan.parts) * samples - finished, 0)
    step = max(1, len(looked.some) // LOOKED_AT)
    asked, length = _lengths(asker, plan.rater.spec, looked.some[::step])
    written = _written(plan, protocol)
    tokens_in, tokens_out = round(calls * asked * length), round(calls * asked * written)
    host = urlsplit(endpoint.base_url).hostname or ""
    return Estimate(
        calls=calls,
        done=finished,
        dialogues=looked.dialogues,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost(endpoint, tokens_in, tokens_out),
        currency=endpoint.currency,
        endpoint=endpoint.name,
        model=endpoint.answering_model,
        host=host,
        is_here=literal(host) in {"127.0.0.1", "::1"},
        about=about,
        unanswered=among(plan, looked.some, looked.targets, samples=samples, about=about),
    )


def _covered(plan: RaterPlan, selection: Selection) -> Covered:
    targets = tuple(rating.targets(plan, selection))
    dialogues = continuations(selection).values("dialogue").distinct().count()
    return Covered(len(targets), dialogues, targets)


def _finished(plan: RaterPlan, selection: Selection) -> int:
    return rating.calls_of(plan, selection).filter(state=Call.State.DONE).count()


def _done(plan: RaterPlan) -> int:
    """Return how many calls of a rater are done, whatever they were about."""
    return (
        CallCount.objects.filter(run__rater=plan.rater, state=Call.State.DONE).aggregate(n=Sum("n"))["n"] or 0
    )


def _prompt(asker: Asker, case: Case) -> Prompt:
    """Return the prompt as it would be sent; one that cannot fit its budget counts whole."""
    try:
        return asker.prompt(case, near=False)[0]
    except TooLong:
        return asker.whole_prompt(case)


def _lengths(
    asker: Asker, spec: dict[str, Any], targets: Iterable[tuple[int, int | None]]
) -> tuple[float, float]:
    """Return the share of some targets that are asked about, and the mean tokens of their prompts."""
    chosen, protocol = list(targets), asker.protocol
    material = load({continuation for continuation, _ in chosen})
    if protocol.covers in COMPARING:
        material = with_compared(material, [item for _, item in chosen if item])
    given = answers_for_needs(protocol, spec["needs"], material) if "needs" in spec else {}
    lengths = []
    for continuation, item in chosen:
        for part in asker.parts():
            case = case_of(material[continuation], item, spec, given.get(continuation), part)
            if not protocol.why_not(case, asker.variant) and not protocol.unmet(case):
                prompt = _prompt(asker, case)
                lengths.append(about_tokens(prompt.system) + about_tokens(prompt.user))
    if not lengths:
        return 0.0, 0.0
    return len(lengths) / (len(chosen) * len(asker.parts())), sum(lengths) / len(lengths)


def _written(plan: RaterPlan, protocol: Asking) -> float:
    """Return the tokens of a reply: the mean of this judge's earlier ones, else the protocol's own guess."""
    done = CallCount.objects.filter(run__rater=plan.rater, state=Call.State.DONE)
    seen = done.aggregate(n=Sum("n"), written=Sum("tokens_out"))
    return (
        float(seen["written"] / seen["n"]) if seen["n"] and seen["written"] else float(protocol.reply_tokens)
    )
