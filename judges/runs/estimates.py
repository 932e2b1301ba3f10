"""Estimates before a run starts: calls, tokens, cost, and calls that cannot be answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform

from annotation.kinds import COMPARING
from annotation.models import Continuation, Item, Rater
from annotation.text.display import duration, many, money
from jobs import runs
from jobs.endpoints.costs import cost, share_of
from jobs.endpoints.wire import literal
from jobs.errors import ERROR_KINDS
from jobs.models import CallCount, Endpoint, Run
from jobs.models.run import MOST_SAMPLES, Call
from jobs.prompt import Prompt, about_tokens
from judges.metrics.acts import FITTED_ON_ITSELF
from judges.metrics.kit.metric import Passage, Score
from judges.protocols import Asking, Case, Protocol
from judges.protocols.quoting import TooLong
from judges.runs import run_actions
from judges.runs import selection as sampled
from judges.runs.material import answers_for_needs, case_of, load, with_compared
from judges.runs.metric_calls import ECHO_PARAMETERS, endpoint_of_key, metric_plan, passages
from judges.runs.plans import Asker, Judge, RaterPlan, asker_of
from judges.runs.selection import Covered, PlannedJudge, PlannedMetric, Selection, continuations

# Calls of a judge's run that cannot be answered, estimated before it starts, with the reasons.

# Valid but doubtful values of metrics: a metric could hardly read a text, or has learned from it.


@dataclass(frozen=True, slots=True)
class Doubt:
    """Number of a metric's continuations, the number flagged, and one of the reasons."""

    calls: int
    flagged: int
    example: str


def doubtful_values(calls: QuerySet[Call]) -> dict[int, Doubt]:
    """Return the doubts of metrics by rater id, from their calls; those without any are left out."""
    rows = (
        calls.filter(state=Call.State.DONE)
        .values("rater")
        .annotate(
            calls=Count("pk"),
            flagged=Count("pk", filter=~Q(flags=[]) & ~Q(flags=[FITTED_ON_ITSELF])),
            example=Max(KeyTextTransform(0, "flags")),
        )
    )
    return {
        row["rater"]: Doubt(row["calls"], row["flagged"], row["example"]) for row in rows if row["flagged"]
    }


def fitted_on_themselves(calls: QuerySet[Call]) -> dict[int, int]:
    """Return, by the id of a metric's rater, the number of its calls about continuations of dialogues that it
    had learned from; metrics without such calls are left out."""
    rows = (
        calls.filter(state=Call.State.DONE, flags__contains=[FITTED_ON_ITSELF])
        .values("rater")
        .annotate(n=Count("pk"))
    )
    return {row["rater"]: row["n"] for row in rows}


# A judge's failed calls by kind of error, over some items or among some calls.


def by_kind(rater: Rater, items: Collection[int]) -> dict[str, int]:
    """Count items that lack an answer of a rater because a call failed, by kind of error.

    A call about a whole continuation counts for each of its items, each sample separately. Kinds are in the
    order of `jobs.errors`; calls that failed before kinds were recorded are under ''.
    """
    rows = Item.objects.filter(pk__in=items).values_list("pk", "continuation")
    within = Counter(continuation for _, continuation in rows)
    failed = Call.objects.filter(rater=rater, state=Call.State.FAILED, sample__lt=MOST_SAMPLES)
    failed = failed.filter(Q(item__in=list(items)) | Q(item=None, continuation__in=list(within)))
    counts: Counter[str] = Counter()
    for kind, item, continuation in failed.values_list("error_kind", "item", "continuation"):
        counts[kind] += 1 if item is not None else within[continuation]
    return _in_order(counts)


def by_rater(calls: QuerySet[Call]) -> dict[int, dict[str, int]]:
    """Count failed calls by rater id and kind of error, in one query."""
    rows = calls.filter(state=Call.State.FAILED).order_by().values_list("run__rater", "error_kind")
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for rater, kind, n in rows.annotate(Count("pk")):
        counts[rater][kind] += n
    return {rater: _in_order(counted) for rater, counted in counts.items()}


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in (*ERROR_KINDS, "") if counts[kind]}


LOOKED_AT = 200
"""Number of calls that are checked individually for reasons."""
Target = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A number of calls without an answer for the same reason; they are not sent. `about`: an estimate."""

    calls: int
    reason: str
    about: bool = False

    def sentence(self) -> str:
        """Return a one-line description."""
        subject = "call has" if self.calls == 1 else "calls have"
        return f"{'about ' if self.about else ''}{self.calls:,} {subject} no answer: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def unanswered(judge: Judge, selection: Selection) -> tuple[Unanswered, ...]:
    """Return the calls that a run could not answer by reason, most frequent first. Saves nothing; raises
    JudgeError."""
    with transaction.atomic():
        plan, about = judge.plan(selection.campaign), sampled.is_large(selection)
        if about:
            looked = sampled.covered(plan, selection)
            gaps = among(plan, looked.some, looked.targets, samples=selection.samples, about=True)
        else:
            some = tuple(run_actions.targets(plan, selection))
            gaps = among(plan, some, len(some), samples=selection.samples)
        transaction.set_rollback(True)
    return gaps


def among(
    plan: RaterPlan, some: Sequence[Target], targets: int, *, samples: int, about: bool = False
) -> tuple[Unanswered, ...]:
    """Estimate the unanswered calls about a number of `targets` from a sample of them, `some`.

    Targets that a scheme excludes for all raters are counted over the whole sample, other reasons over
    LOOKED_AT.
    """
    protocol = asker_of(plan.rater.spec).protocol
    refused, rest = _by_mode(protocol, some)
    step = max(1, -(-len(rest) // LOOKED_AT))
    looked = rest[::step]
    each = targets * len(plan.parts) * samples / len(some) if some else 0.0
    gaps = [Unanswered(round(n * each), reason, about) for reason, n in refused.items()]
    for reason, n in _reasons(plan, protocol, looked).items():
        share = n / len(looked) * len(rest)
        gaps.append(Unanswered(round(share * each), reason, about or step > 1))
    return tuple(sorted(gaps, key=lambda gap: -gap.calls))


def _by_mode(protocol: Protocol, some: Sequence[Target]) -> tuple[Counter[str], list[Target]]:
    """Return the number of targets that a scheme refuses, by reason, and the remaining targets."""
    reasons = {mode: protocol.asked_of_nobody(mode) for mode in Continuation.Mode.values}
    if not any(reasons.values()):
        return Counter(), list(some)
    ids = {continuation for continuation, _ in some}
    modes = dict(Continuation.objects.filter(pk__in=ids).values_list("pk", "mode"))
    refused = Counter(reason for continuation, _ in some if (reason := reasons[modes[continuation]]))
    return refused, [target for target in some if not reasons[modes[target[0]]]]


def _reasons(plan: RaterPlan, protocol: Protocol, looked: Sequence[Target]) -> Counter[str]:
    """Count the reasons why targets cannot be answered. Missing answers of another rater are one reason."""
    spec = plan.rater.spec
    if type(protocol).refusal is Protocol.refusal and "needs" not in spec:
        return Counter()
    material = load({continuation for continuation, _ in looked})
    if protocol.covers in COMPARING:
        material = with_compared(material, [item for _, item in looked if item])
    need_answers = answers_for_needs(protocol, spec["needs"], material) if "needs" in spec else {}
    refused: Counter[str] = Counter()
    unmet: list[str] = []
    for continuation, item in looked:
        case = case_of(material[continuation], item, spec, need_answers.get(continuation))
        if reason := protocol.refusal(case, spec.get("variant", "")):
            refused[reason] += 1
        elif reason := protocol.unmet(case):
            unmet.append(reason)
    if unmet:
        refused[unmet[0] + (", and the like" if len(set(unmet)) > 1 else "")] += len(unmet)
    return refused


# Costs in words: a price of 0 is a price; without a price the cost is unknown.

NO_PRICES = "not known: the endpoint has no prices"
FREE = "free: the endpoint's prices are 0"
NOTHING = "nothing: there is nothing to send"


def cost_in_words(cost: Decimal | None, currency: str, *, calls: int = 1) -> str:
    """Return the estimated cost of some calls in words."""
    if not calls:
        return NOTHING
    if cost is None:
        return NO_PRICES
    return money(cost, currency) if cost else FREE


# Estimate of a judge's run before it starts: calls, tokens, cost, and recipient of the text.

SAMPLED_CALLS = 40
"""Number of prompts built to estimate the length of all."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of a run before it starts. Tokens and cost are estimated from a sample of its prompts.

    `calls` are still to be made, `done` were made by this judge before. `cost` is in `currency`, None if the
    endpoint has no prices. For a large corpus calls and dialogues are also estimates (`about`), from a
    sample; `done` then counts all calls that this judge has made. `unanswered` are the calls, including done
    ones, known in advance to have no answer, with reasons. `mode` is the mode of sending the calls; in
    batches the cost is that of batched calls.
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
        """The cost in words: not known, free, nothing, or an amount."""
        return cost_in_words(self.cost, self.currency, calls=self.sends)

    @property
    def sends(self) -> int:
        """Number of calls sent to the endpoint: none if it is known in advance that none has an answer."""
        return self.calls if self.tokens_in else 0

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {"unanswered": [gap.as_json() for gap in self.unanswered]}
        return values | plain | {"cost": None if self.cost is None else float(self.cost)}

    def sentence(self) -> str:
        """Return a one-line description."""
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
            + "".join(f" Of all, {gap.sentence()}." for gap in self.unanswered)
        )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def estimate(judge: Judge, selection: Selection, mode: str | None = None) -> Estimate | None:
    """Estimate a run; None for a judge that asks no model. Raises JudgeError in the same cases as starting.

    `mode` is the mode of sending the calls, by default at once.

    Nothing is saved: neither the rater nor the scheme that a start would create.
    """
    with transaction.atomic():
        result = _estimate(judge.plan(selection.campaign), selection)
        transaction.set_rollback(True)
    return result if result is None or judge.endpoint is None else _in_mode(result, judge.endpoint, mode)


def _in_mode(estimated: Estimate, endpoint: Endpoint, mode: str | None) -> Estimate:
    """Return an estimate with the price of a mode; raise JobError for a mode that is not offered."""
    would = Run(endpoint=endpoint)
    runs.put_mode(would, mode or would.mode)
    price = None if estimated.cost is None else estimated.cost * share_of(would)
    return replace(estimated, cost=price, mode=would.mode)


def estimate_metric(planned: PlannedMetric, person: User | None, mode: str | None = None) -> Estimate:
    """Estimate the run of a metric that asks an endpoint; nothing is saved.

    Raises JobError in the same cases as starting.
    """
    runs.put_mode(Run(endpoint=planned.endpoint, kind="metric"), mode or Run.Mode.AT_ONCE)
    with transaction.atomic():
        plan = metric_plan(planned.key, planned.selection.corpus, person)
        result = _estimate_over(plan, planned.selection)
        transaction.set_rollback(True)
    return result


def _estimate(plan: RaterPlan, selection: Selection) -> Estimate | None:
    return _estimate_over(plan, selection) if _asks(plan) else None


def _estimate_over(plan: RaterPlan, selection: Selection) -> Estimate:
    about = sampled.is_large(selection)
    looked = sampled.covered(plan, selection) if about else _covered(plan, selection)
    finished = _done(plan) if about else _finished(plan, selection)
    return of_targets(plan, looked, samples=selection.samples, finished=finished, about=about)


def _asks(plan: RaterPlan) -> bool:
    return plan.endpoint is not None and isinstance(asker_of(plan.rater.spec).protocol, Asking)


def of_targets(
    plan: RaterPlan, looked: Covered, *, samples: int, finished: int, about: bool = False
) -> Estimate:
    """Estimate the calls about some targets, of which `finished` were made before.

    The plan must be that of a judge or metric that asks a model; `about` marks the number of targets as an
    estimate.
    """
    endpoint = plan.endpoint
    assert endpoint is not None
    calls = max(looked.targets * len(plan.parts) * samples - finished, 0)
    step = max(1, len(looked.some) // SAMPLED_CALLS)
    if plan.kind == "metric":
        asked_share, length, unscored = _passage_lengths(plan, looked.some[::step])
        reply_tokens = float(ECHO_PARAMETERS["max_tokens"])
        shared = looked.targets * samples
        gaps = tuple(
            Unanswered(round(share * shared), reason, about or step > 1) for reason, share in unscored.items()
        )
    else:
        asker = asker_of(plan.rater.spec)
        assert isinstance(asker.protocol, Asking)
        asked_share, length = _lengths(asker, plan.rater.spec, looked.some[::step])
        reply_tokens = _mean_reply_tokens(plan, asker.protocol)
        gaps = among(plan, looked.some, looked.targets, samples=samples, about=about)
    tokens_in, tokens_out = round(calls * asked_share * length), round(calls * asked_share * reply_tokens)
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
        unanswered=gaps,
    )


def _covered(plan: RaterPlan, selection: Selection) -> Covered:
    targets = tuple(run_actions.targets(plan, selection))
    dialogues = continuations(selection).values("dialogue").distinct().count()
    return Covered(len(targets), dialogues, targets)


def _finished(plan: RaterPlan, selection: Selection) -> int:
    return run_actions.calls_of(plan, selection).filter(state=Call.State.DONE).count()


def _done(plan: RaterPlan) -> int:
    """Return the number of all done calls of a rater."""
    return (
        CallCount.objects.filter(run__rater=plan.rater, state=Call.State.DONE).aggregate(n=Sum("n"))["n"] or 0
    )


def _prompt(asker: Asker, case: Case) -> Prompt:
    """Return the prompt as it would be sent, or the uncut prompt if it cannot fit its budget."""
    try:
        return asker.prompt(case, near=False)[0]
    except TooLong:
        return asker.whole_prompt(case)


def _lengths(
    asker: Asker, spec: dict[str, Any], targets: Iterable[tuple[int, int | None]]
) -> tuple[float, float]:
    """Return the share of calls about some targets that are sent, and the mean tokens of their prompts."""
    sampled_targets, protocol = list(targets), asker.protocol
    material = load({continuation for continuation, _ in sampled_targets})
    if protocol.covers in COMPARING:
        material = with_compared(material, [item for _, item in sampled_targets if item])
    need_answers = answers_for_needs(protocol, spec["needs"], material) if "needs" in spec else {}
    lengths = []
    for continuation, item in sampled_targets:
        for part in asker.parts():
            case = case_of(material[continuation], item, spec, need_answers.get(continuation), part)
            if not protocol.unavailable_reason(case, asker.variant) and not protocol.unmet(case):
                prompt = _prompt(asker, case)
                lengths.append(prompt.about_tokens())
    if not lengths:
        return 0.0, 0.0
    return len(lengths) / (len(sampled_targets) * len(asker.parts())), sum(lengths) / len(lengths)


def _passage_lengths(plan: RaterPlan, targets: Sequence[Target]) -> tuple[float, float, dict[str, float]]:
    """Return the share of a metric's calls that are sent, the mean tokens of their prompts, and the shares
    without a value by reason."""
    results = passages(plan, targets)
    lengths = [about_tokens(row.context + row.text) for row in results if isinstance(row, Passage)]
    reasons = Counter(row.reason for row in results if isinstance(row, Score) and row.reason)
    shares = {reason: n / len(results) for reason, n in reasons.most_common()}
    if not lengths:
        return 0.0, 0.0, shares
    return len(lengths) / len(results), sum(lengths) / len(lengths), shares


def _mean_reply_tokens(plan: RaterPlan, protocol: Asking) -> float:
    """Return the tokens of a reply: the mean of this judge's earlier replies, else the protocol's guess."""
    done = CallCount.objects.filter(run__rater=plan.rater, state=Call.State.DONE)
    seen = done.aggregate(n=Sum("n"), written=Sum("tokens_out"))
    return (
        float(seen["written"] / seen["n"]) if seen["n"] and seen["written"] else float(protocol.reply_tokens)
    )


# Estimates of a set before it starts.


@dataclass(frozen=True, slots=True)
class Forecast:
    """A judge or metric before its run: its estimate (None: it asks no model), and its calls without an
    answer."""

    planned: PlannedJudge | PlannedMetric
    estimate: Estimate | None
    unanswered: tuple[Unanswered, ...]


@dataclass(frozen=True, slots=True)
class SetEstimate:
    """Estimate of a set: calls, tokens, cost and time of all judges and metrics that ask a model.

    `costs` are sums by currency; `unpriced` counts runs whose endpoint has no prices, which are in none.
    `seconds` is the duration if the endpoints are asked side by side, None if it cannot be estimated; it
    follows from the mean reply time of the `timed` calls that these endpoints have answered before.
    """

    forecasts: tuple[Forecast, ...]
    calls: int
    done: int
    tokens_in: int
    tokens_out: int
    costs: dict[str, Decimal]
    unpriced: int
    seconds: int | None
    timed: int

    @property
    def price(self) -> str:
        """The cost in words."""
        return costs_in_words(self.costs, self.unpriced)

    @property
    def about(self) -> bool:
        """Whether the number of calls is estimated from a part of a large corpus."""
        return any(row.estimate is not None and row.estimate.about for row in self.forecasts)

    @property
    def time(self) -> str:
        """The duration in words, with its basis."""
        if any(row.estimate and row.estimate.mode == Run.Mode.BATCH for row in self.forecasts):
            return "within a day, in batches"
        if self.seconds is None:
            return "not known: no earlier calls at these endpoints tell how long a reply takes"
        if not self.timed:
            return "none: nothing is sent"
        return (
            f"about {duration(self.seconds)}, from the mean reply time of {many(self.timed, 'earlier call')}"
        )


def forecast(planned: PlannedJudge | PlannedMetric, mode: str | None, person: User | None = None) -> Forecast:
    """Estimate a run; saves nothing. Raises JobError in the same cases as starting."""
    if isinstance(planned, PlannedMetric):
        of_metric = estimate_metric(planned, person, mode)
        return Forecast(planned, of_metric, of_metric.unanswered)
    result = estimate(planned.judge, planned.selection, mode)
    gaps = result.unanswered if result else unanswered(planned.judge, planned.selection)
    return Forecast(planned, result, gaps)


def planned_metrics(
    keys: Iterable[str], selection: Selection, person: User | None = None
) -> list[PlannedMetric]:
    """Return the metrics that ask an endpoint, each once; raise JudgeError for an invalid key or endpoint."""
    endpoints = {key: endpoint_of_key(key, person) for key in keys}
    of_metrics = replace(selection, samples=1)
    return [PlannedMetric(key, endpoint, of_metrics) for key, endpoint in endpoints.items() if endpoint]


def estimate_set(
    planned: Sequence[PlannedJudge | PlannedMetric], mode: str | None = None, person: User | None = None
) -> SetEstimate:
    """Estimate the runs of a set; saves and sends nothing. Raises JobError in the same cases as starting."""
    forecasts = tuple(forecast(row, mode, person) for row in planned)
    rows = [row.estimate for row in forecasts if row.estimate]
    costs: dict[str, Decimal] = {}
    for row in rows:
        if row.cost is not None:
            costs[row.currency] = costs.get(row.currency, Decimal(0)) + row.cost
    seconds, timed = _duration(forecasts)
    return SetEstimate(
        forecasts,
        calls=sum(row.calls for row in rows),
        done=sum(row.done for row in rows),
        tokens_in=sum(row.tokens_in for row in rows),
        tokens_out=sum(row.tokens_out for row in rows),
        costs=costs,
        unpriced=sum(row.cost is None and bool(row.sends) for row in rows),
        seconds=seconds,
        timed=timed,
    )


def _duration(forecasts: Sequence[Forecast]) -> tuple[int | None, int]:
    """Return the seconds that asking takes, and the number of earlier calls that this follows from.

    Per endpoint: calls x mean reply time / concurrent requests, or the time that its limits per minute impose
    if that is longer; endpoints are asked side by side. None without earlier calls, and for batches.
    """
    requests: dict[int, tuple[Endpoint, int, int]] = {}
    for row in forecasts:
        result, endpoint = row.estimate, row.planned.endpoint
        if result is None or endpoint is None or not result.sends:
            continue
        if result.mode == Run.Mode.BATCH:
            return None, 0
        _, calls, tokens = requests.get(endpoint.pk, (endpoint, 0, 0))
        tokens += result.tokens_in + result.tokens_out
        requests[endpoint.pk] = (endpoint, calls + result.sends, tokens)
    sums = CallCount.objects.filter(run__endpoint__in=list(requests)).values("run__endpoint")
    means = {
        row["run__endpoint"]: (row["latency"] / row["n"] / 1000, row["n"])
        for row in sums.annotate(latency=Sum("latency_ms"), n=Sum("timed"))
        if row["n"]
    }
    if set(means) != set(requests):
        return None, 0
    longest = 0.0
    for pk, (endpoint, calls, tokens) in requests.items():
        seconds = calls * float(means[pk][0]) / max(endpoint.concurrency, 1)
        if endpoint.requests_per_minute:
            seconds = max(seconds, calls * 60 / endpoint.requests_per_minute)
        if endpoint.tokens_per_minute:
            seconds = max(seconds, tokens * 60 / endpoint.tokens_per_minute)
        longest = max(longest, seconds)
    return round(longest), sum(n for _, n in means.values())


def costs_in_words(costs: Mapping[str, Decimal], unpriced: int) -> str:
    """Return costs by currency in words, with the number of runs whose cost is not known."""
    text = " and ".join(money(cost, currency) for currency, cost in costs.items())
    if not unpriced:
        return text or "nothing"
    rest = f"not known for {unpriced} run{'' if unpriced == 1 else 's'} without prices"
    return f"{text}; {rest}" if text else "not known: no endpoint has prices"


def estimate_as_json(of_set: SetEstimate) -> dict[str, Any]:
    """Return the estimate of a set as plain data."""
    costs = [{"currency": currency, "cost": float(cost)} for currency, cost in of_set.costs.items()]
    names = ("calls", "done", "tokens_in", "tokens_out", "unpriced", "seconds", "timed")
    return {
        **{name: getattr(of_set, name) for name in names},
        "costs": costs,
        "runs": [
            {
                "title": row.planned.label,
                "samples": row.planned.selection.samples,
                "estimate": row.estimate.as_json() if row.estimate else None,
                "unanswered": [gap.as_json() for gap in row.unanswered],
            }
            for row in of_set.forecasts
        ],
    }
