"""Prompt searches: a model proposes texts, a person adopts one; their bounds, state and results."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from annotation.models import Item, Label, Occasion, Question, Rater
from annotation.text.references import item_key
from annotation.work import labels
from calibration.errors import WorkbenchRefused
from calibration.models import Mark, Search, SearchText
from calibration.ratings.scope import QuestionInfo
from calibration.reports.figures import worded
from calibration.statistics import Plan, Result
from calibration.statistics.core.ratings import Ratings
from calibration.statistics.judges_compared import ACCURACY, Compared, compared_with
from calibration.workbench.marks import current_marks
from calibration.workbench.sheets import (
    PLAN,
    Agreement,
    Judged,
    Sheet,
    agreement,
    reasons_of_people,
    sheets,
    statistics_of,
)
from config.models import Event
from jobs import runs
from jobs.endpoints import parameters
from jobs.endpoints.costs import cost
from jobs.endpoints.ownership import require_use
from jobs.endpoints.parameters import Parameter
from jobs.errors import JobError
from jobs.models import Call, CallCount
from jobs.models.endpoint import Endpoint
from jobs.models.run import Run
from jobs.prompt import Prompt as SentPrompt
from judges.drafts import benches
from judges.models import Bench, BenchTarget, Prompt, PromptVersion
from judges.prompts import prompt_actions, versions
from judges.prompts.search import OutOfBudget, ScoredQuestion, Target, TooFew, Value, folds
from judges.prompts.versions import Version
from judges.protocols import Asking
from judges.runs.material import answers_for_needs, bind_needs, case_of, load
from judges.runs.plans import asker_of

# Searches: a model reads disagreements between a judge and people and proposes texts; these are measured on
# dialogues that the search has not seen. A person decides.

LEARN = "learn"
"""Part of a search's dialogues from which cases are shown to the improving model."""
LONGEST_REASON = 1_000
"""Characters of a reason that the improving model sees."""
HELD_BACK = "held_back"
"""Part of a search's dialogues that it never sees; texts are measured there."""
IMPROVE = "improve"
"""Kind of the runs that call improving models."""


# Material of a search: a bench's targets with their parts and people's answers, stored once.


def take_down(bench: Bench, seed: int) -> dict[str, Any]:
    """Return, as JSON data, the questions and targets of a bench that people answered, assigned to parts.

    An answer key is used where no people answered. Targets of the learning part have people's reasons with
    them, others have none. Raises WorkbenchRefused if too few clusters have answers.
    """
    sheet_list = sheets(bench, [])
    names = {pk: name for name, pk in bench.questions.items()}
    answers: dict[int, list[list[Any]]] = defaultdict(list)
    for sheet in sheet_list:
        for item, values in _answers(sheet):
            answers[item].append([names[sheet.question.id], item, values])
    targets = [row for row in _targets(bench, answers) if row["people"]]
    try:
        parts = folds((row["cluster"] for row in targets), seed)
    except TooFew as error:
        raise WorkbenchRefused(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    targets = [row | {"part": parts.part_of(row["cluster"])} for row in targets]
    learned = [item for row in targets if row["part"] == LEARN for _, item, _ in row["people"]]
    reasons = reasons_by_place(bench, learned)
    for row in targets:
        places = [(name, item) for name, item, _ in row["people"]] if row["part"] == LEARN else []
        row["reasons"] = [[*place, reasons[place]] for place in places if place in reasons]
    return {
        "questions": {names[sheet.question.id]: _scale(sheet) for sheet in sheet_list},
        "targets": targets,
    }


def reasons_by_place(bench: Bench, items: Collection[int]) -> dict[tuple[str, int], list[str]]:
    """Return people's reasons by the judge's question and item, each once, without names.

    They are the explanations of answers or the comments on their tasks, the reasons of adjudicated answers,
    and the notes of marks that say “judge wrong”.
    """
    of_question = {pk: name for name, pk in bench.questions.items()}
    rows = [
        *((item, key, text) for (item, key, _), text in reasons_of_people(bench, items).items()),
        *Label.objects.filter(
            item__in=items,
            question__in=of_question,
            occasion=Occasion.ADJUDICATION,
            superseded_at=None,
        )
        .order_by("pk")
        .values_list("item", "question__key", "explanation"),
    ]
    by_key = dict(Question.objects.filter(pk__in=of_question).values_list("key", "pk"))
    places = [(of_question[by_key[key]], item, text) for item, key, text in rows if key in by_key]
    item_ids = set(items)
    places += [
        (of_question[mark.question_id], mark.item_id, mark.note)
        for mark in current_marks(bench).values()
        if mark.verdict == Mark.Verdict.JUDGE_WRONG and mark.item_id in item_ids
    ]
    reasons: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name, item, text in places:
        text = text.strip()[:LONGEST_REASON]
        if text and text not in reasons[name, item]:
            reasons[name, item].append(text)
    return {place: texts for place, texts in reasons.items() if texts}


def questions_of(search: Search) -> dict[str, ScoredQuestion]:
    """Return the questions of a search in the form that scores use."""
    return {name: ScoredQuestion(**fields) for name, fields in search.material["questions"].items()}


def targets_of(search: Search, part: str) -> list[Target]:
    """Return the targets of a part, in the bench's order."""
    return [_target(row) for row in search.material["targets"] if row["part"] == part]


def ids_of(search: Search) -> dict[str, int]:
    """Return the ids of the targets' rows in the bench, by the targets' keys."""
    return {row["key"]: row["target"] for row in search.material["targets"]}


def items_of(search: Search, part: str) -> list[int]:
    """Return the ids of the items with answers in a part."""
    return [item for row in search.material["targets"] if row["part"] == part for _, item, _ in row["people"]]


def _target(row: Mapping[str, Any]) -> Target:
    people = {(name, item): tuple(values) for name, item, values in row["people"]}
    reasons = {(name, item): tuple(texts) for name, item, texts in row.get("reasons", ())}
    return Target(row["key"], row["cluster"], people, reasons)


def _scale(sheet: Sheet) -> dict[str, Any]:
    level, scale = sheet.question.level, sheet.ratings.scale
    ends = {"low": scale[0], "high": scale[-1]} if scale and level not in ("binary", "nominal") else {}
    return {"level": level, **ends}


def _answers(sheet: Sheet) -> list[tuple[int, list[Value]]]:
    """Return people's (else keys') answers to a question, by item."""
    ratings = sheet.ratings
    columns = list(ratings.of_kind("human") or ratings.of_kind("key"))
    return [
        (item, [_value(ratings, value) for value in row[np.isfinite(row)]])
        for item, row in zip(sheet.items, ratings.values[:, columns], strict=True)
        if np.isfinite(row).any()
    ]


def _value(ratings: Ratings, value: float) -> Value:
    return ratings.names[int(value)] if ratings.names else float(value)


def _targets(bench: Bench, answers: Mapping[int, list[list[Any]]]) -> list[dict[str, Any]]:
    rows = BenchTarget.objects.filter(bench=bench).select_related(
        "continuation__dialogue", "item__turn", "item__continuation"
    )
    continuations = [row.continuation_id for row in rows if row.item_id is None]
    inside: dict[int, list[int]] = defaultdict(list)
    owned = Item.objects.filter(continuation__in=continuations).order_by("pk")
    for pk, continuation in owned.values_list("pk", "continuation"):
        inside[continuation].append(pk)
    return [
        {
            "target": row.pk,
            "key": _key(row),
            "cluster": row.continuation.dialogue.cluster,
            "people": [
                answer
                for item in ([row.item_id] if row.item_id else inside[row.continuation_id])
                for answer in answers.get(item, ())
            ],
        }
        for row in rows.order_by("position")
    ]


def _key(row: BenchTarget) -> str:
    turn = row.item.turn.position if row.item and row.item.turn else None
    return item_key(row.continuation.dialogue.key, row.continuation.key, turn)


# Bounds of a search: no call is started that would exceed them.

LOOKED_AT = 5
"""Number of prompts built to estimate the cost of others."""
REPLY_TOKENS = 1500
"""Approximate length of a proposal in tokens."""


class Bounds:
    """Calls and cost of a search so far, checked against its bounds.

    `reserved` calls are kept for the end: they measure the search's texts.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.reserved = 0
        rows = CallCount.objects.filter(run__in=Run.objects.filter(scope__search=search.pk))
        sums = rows.aggregate(
            n=Sum("n"), cost=Sum("cost"), tokens_in=Sum("tokens_in"), tokens_out=Sum("tokens_out")
        )
        self.calls: int = sums["n"] or 0
        self.cost: Decimal = sums["cost"] or Decimal(0)
        self.tokens_in: int = sums["tokens_in"] or 0
        self.tokens_out: int = sums["tokens_out"] or 0
        self.waiting = sum(
            row["n"] or 0
            for row in rows.filter(state__in=[Call.State.PENDING, Call.State.LEASED])
            .values("state")
            .annotate(n=Sum("n"))
        )

    def allow(self, requested: Sequence[tuple[SearchText, Sequence[BenchTarget]]], calls_each: int) -> None:
        """Raise OutOfBudget if calls to the judge on these targets with these texts exceed the bounds."""
        count = sum(len(some) for _, some in requested) * calls_each
        if self.search.most_cost is None:
            return self._allow(count, Decimal(0), Decimal(0))
        prices = [(self._cost_of_judging(text, some), len(some) * calls_each) for text, some in requested]
        coming = sum((each * n for each, n in prices), Decimal(0))
        return self._allow(count, coming, max(each for each, _ in prices))

    def allow_request(self, prompt: SentPrompt, text: SearchText, held_back: Sequence[BenchTarget]) -> None:
        """Raise OutOfBudget if another request to the improving model exceeds the bounds.

        Reserved calls are priced as calls of the judge on `held_back` with `text`.
        """
        if self.search.most_cost is None:
            return self._allow(1, Decimal(0), Decimal(0))
        coming = self._price(self.search.improver, prompt, REPLY_TOKENS)
        return self._allow(1, coming, self._cost_of_judging(text, held_back))

    def _allow(self, count: int, coming: Decimal, each: Decimal) -> None:
        """Allow `count` calls at a total of `coming`; waiting and reserved calls cost `each` per call."""
        search = self.search
        if self.calls + count + self.reserved > search.most_calls:
            raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_calls:,}")
        if search.most_cost is not None:
            total = self.cost + coming + each * (self.waiting + self.reserved)
            if total > search.most_cost:
                raise OutOfBudget(f"{count} more calls would pass the bound of {search.most_cost:,.2f}")
        self.calls += count
        self.waiting += count

    def _cost_of_judging(self, text: SearchText, about: Sequence[BenchTarget]) -> Decimal:
        """Return the mean cost of a judge's call, over all parts of the first targets it can judge."""
        for start in range(0, len(about), LOOKED_AT):
            if prices := self._prices(text, about[start : start + LOOKED_AT]):
                return sum(prices, Decimal(0)) / len(prices)
        return Decimal(0)  # no target can be judged

    def _prices(self, text: SearchText, some: Sequence[BenchTarget]) -> list[Decimal]:
        spec = text.draft.rater.spec
        asker = asker_of(spec)
        protocol = asker.protocol
        assert isinstance(protocol, Asking)
        loaded = load({row.continuation_id for row in some})
        needed_answers = answers_for_needs(protocol, spec["needs"], loaded) if "needs" in spec else {}
        cases = [
            case_of(
                loaded[row.continuation_id], row.item_id, spec, needed_answers.get(row.continuation_id), part
            )
            for row in some
            for part in asker.parts()
        ]
        return [
            self._price(self.search.endpoint, asker.whole_prompt(case), protocol.reply_tokens)
            for case in cases
            if not protocol.unavailable_reason(case, asker.variant) and not protocol.unmet(case)
        ]

    @staticmethod
    def _price(endpoint: Endpoint, prompt: SentPrompt, reply: int) -> Decimal:
        price = cost(endpoint, prompt.about_tokens(), reply)
        if price is None:
            raise OutOfBudget(f"the endpoint {endpoint.name} has no prices any more")
        return price


# Actions on searches: start, cancel, resume, and adoption of proposals. All are logged.

NUMBERS = {
    number.name: number
    for number in (
        Parameter(
            "rounds", "whole", "Proposals at most", "Each is one request to the improving model.", 1, 50
        ),
        Parameter("few", "whole", "Cases shown for a proposal", "The farthest apart come first.", 1, 20),
        Parameter("most_calls", "whole", "Calls at most", "Of both models, all in all.", 1, 1_000_000),
        Parameter("seed", "whole", "Seed", "Draws the parts.", 0, parameters.MOST_WHOLE),
    )
}
DEFAULTS = {"rounds": 8, "few": 5, "most_calls": 1000, "seed": 0}


@transaction.atomic
def start(
    *,
    by: User | None,
    bench: Bench,
    version: Version,
    name: str = "",
    endpoint: Endpoint,
    improver: Endpoint,
    options: Mapping[str, Any] | None = None,
    rounds: int = DEFAULTS["rounds"],
    few: int = DEFAULTS["few"],
    most_calls: int = DEFAULTS["most_calls"],
    most_cost: Decimal | None = None,
    seed: int = DEFAULTS["seed"],
    improver_parameters: Mapping[str, Any] | None = None,
) -> Search:
    """Start a search from a version, on all of a bench's dev; its proposals go into that version's prompt.

    `options` are the judge's, as in `judges.drafts.draft_actions.write` (including its `parameters`);
    `improver_parameters` are the sampling parameters of the improving model.

    For a text that comes with Concord, proposals go into a copy of it, a new prompt `name`. Raises
    WorkbenchRefused or JudgeError for incompatible arguments, or if dev has too few answers.
    """
    require_use(by, endpoint, improver)
    numbers = {"rounds": rounds, "few": few, "most_calls": most_calls, "seed": seed}
    try:
        for number, value in numbers.items():
            NUMBERS[number].checked(value)
    except JobError as error:
        raise WorkbenchRefused(str(error)) from None
    _refuse_cost(most_cost, endpoint, improver)
    _refuse_unfit(bench, version)
    options = dict(options or {})
    bind_needs(benches.protocol_of(bench), options.get("needs", {}), drafts=True)
    options["parameters"] = parameters.checked(options.get("parameters", {}))
    benches.grow(bench, None)
    material = take_down(bench, seed)
    prompt = _prompt(by, bench, version, name)
    search = Search.objects.create(
        bench=bench,
        prompt=prompt,
        parent=version.ref,
        text=versions.store(wording=version.wording),
        variant=version.variant,
        endpoint=endpoint,
        improver=improver,
        rater=_rater(improver, bench, improver_parameters or {}),
        options=options,
        most_cost=most_cost,
        material=material,
        created_by=by,
        **numbers,
    )
    _log(by, "start search", search, **numbers, most_cost=None if most_cost is None else float(most_cost))
    benches.go_on(search.pk)
    return search


def _refuse_cost(most: Decimal | None, *endpoints: Endpoint) -> None:
    """Raise WorkbenchRefused for a cost bound that could not be enforced."""
    if most is None:
        return
    if most <= 0:
        raise WorkbenchRefused("The most that a search may cost must be more than nothing.")
    for endpoint in endpoints:
        if endpoint.prices is None:
            raise WorkbenchRefused(
                f"The endpoint {endpoint.name} has no prices, so a bound on the cost could not be kept."
            )
    if len(currencies := {endpoint.currency for endpoint in endpoints}) > 1:
        raise WorkbenchRefused(
            f"The endpoints' prices are in {' and '.join(sorted(currencies))}: a bound on the cost needs one "
            "currency."
        )


def _refuse_unfit(bench: Bench, version: Version) -> None:
    """Raise WorkbenchRefused for a version that cannot be a draft of the bench."""
    if version.protocol != bench.protocol:
        raise WorkbenchRefused(f"{version.ref} is for {version.protocol}, the bench for {bench.protocol}.")
    if version.variant not in (variants := benches.variants(bench)):
        asks = " or ".join(variants)
        raise WorkbenchRefused(f"{version.ref} asks as {version.variant}, the bench as {asks}.")
    if version.scheme_version not in (None, bench.scheme_version):
        raise WorkbenchRefused(f"{version.ref} is for another scheme than {benches.scheme_ref(bench)}.")


@transaction.atomic
def cancel(*, by: User | None, search: Search) -> Search:
    """Stop a search; its active calls are finished, and its proposals stay."""
    search = Search.objects.select_for_update().get(pk=search.pk)
    if search.active:
        for run in runs_of(search).filter(state__in=runs.ACTIVE):
            runs.cancel(by=by, run=run)
        end(search, Search.State.CANCELLED, "Cancelled.")
        _log(by, "cancel search", search)
    return search


@transaction.atomic
def resume(*, by: User | None, search: Search) -> Search:
    """Resume a search that was cancelled, failed, or waits for a run that ended without answers."""
    search = Search.objects.select_for_update().get(pk=search.pk)
    if search.state == Search.State.DONE:
        return search
    search.state, search.note, search.finished_at = Search.State.SEARCHING, "", None
    search.save(update_fields=["state", "note", "finished_at"])
    for run in runs_of(search).filter(state__in=[Run.State.CANCELLED, Run.State.FAILED]):
        runs.retry_failed(by=by, run=run)
    _log(by, "resume search", search)
    benches.go_on(search.pk, after=f"resuming at {timezone.now():%H:%M:%S.%f}")
    return search


def runs_of(search: Search) -> Any:
    """Return the runs of a search: for its texts, and for the improving model."""
    return Run.objects.filter(scope__search=search.pk)


def end(search: Search, state: Search.State, note: str) -> None:
    """Record the end of a search."""
    search.state, search.note, search.finished_at = state, note, timezone.now()
    search.save(update_fields=["state", "note", "finished_at"])


def _prompt(by: User | None, bench: Bench, version: Version, name: str) -> Prompt:
    if version.row is not None and name.strip() in ("", version.name):
        return version.row.prompt
    if not name.strip():
        raise WorkbenchRefused(
            f"{version.ref} comes with Concord and cannot be changed: name the prompt that the "
            "proposals go to."
        )
    over = replace(version, scheme_version=bench.scheme_version)
    return prompt_actions.copy(by=by, version=over, name=name).prompt


def _rater(improver: Endpoint, bench: Bench, improver_parameters: Mapping[str, Any]) -> Rater:
    """Return the rater for the improving model's calls, which never gets a label.

    Raises JobError for invalid parameters.
    """
    spec = {"draft": bench.pk, "search": secrets.token_hex(8), "model": improver.model, **improver.server}
    if sent := parameters.checked(improver_parameters):
        spec["parameters"] = sent
    return labels.machine_rater(kind=Rater.Kind.JUDGE, name=f"{improver.model} proposing prompts", spec=spec)


def _log(by: User | None, verb: str, search: Search, **detail: Any) -> None:
    about = {"bench": search.bench.name, "from": search.parent, "prompt": search.prompt.name}
    Event.objects.create(by=by, verb=verb, subject=f"search {search.pk}", detail=about | detail)


def adopt(*, by: User | None, text: SearchText) -> PromptVersion:
    """Adopt a proposal of a search, so that judges may use it. Raises JudgeError or WorkbenchRefused."""
    if text.version is None:
        raise WorkbenchRefused("Only a proposal of a search that has ended can be adopted.")
    return prompt_actions.adopt(by=by, version=text.version)


VERBS = {"cancel": cancel, "resume": resume}
"""Actions on a search by name."""


# State of a search for display: its progress and cost, its texts and their figures.

# Figures of a search's texts: agreement with people on the held-back dialogues, and the difference from the
# search's first text.


@dataclass(frozen=True)
class Figure:
    """A text's value of a statistic for one question on the held-back dialogues.

    `difference` is from the first text, on the dialogues that both answered, with `p_holm` over all texts of
    the search; None for the first text, and if there is none.
    """

    text: SearchText
    question: QuestionInfo
    name: str
    against: str
    value: Result
    difference: Result | None = None
    p_holm: Result | None = None

    @property
    def title(self) -> str:
        """Title of the statistic."""
        return "Accuracy" if self.name == ACCURACY else worded(self.name).name

    def as_json(self) -> dict[str, Any]:
        """Return JSON data."""
        names = ("value", "low", "high", "n_items", "n_clusters", "status", "reason")
        fields = {
            "question": self.question.key,
            "statistic": self.name,
            "against": self.against,
            **{name: getattr(self.value, name) for name in names},
            "difference": None,
        }
        if self.difference is None:
            return fields
        more = {name: getattr(self.difference, name) for name in ("value", "low", "high", "reason")}
        return fields | {"difference": more | {"p_holm": self.p_holm.value if self.p_holm else None}}


def figures(search: Search, plan: Plan = PLAN) -> list[Figure]:
    """Return the figures of all texts with answers on the held-back dialogues, text by text."""
    texts = list(search.texts.select_related("draft__rater", "draft__text", "version__prompt"))
    judged = {text.pk: Judged(name_of(text), text.draft.rater, text.draft) for text in texts}
    read = sheets(search.bench, list(judged.values()), only=items_of(search, HELD_BACK))
    compared = {sheet.question.id: _compared(sheet, judged[texts[0].pk], len(texts), plan) for sheet in read}
    return [
        _figure(text, row, compared[row.question.id])
        for text in texts
        for row in agreement(read, judged[text.pk], plan)
    ]


def name_of(text: SearchText) -> str:
    """Return the display name of a text."""
    return f"text {text.number}" if text.number else "the first text"


def _compared(sheet: Sheet, first: Judged, texts: int, plan: Plan) -> tuple[Compared, ...]:
    reading = next(iter(sheet.of(first)), None)
    if reading is None:
        return ()
    contenders = [contender for _, contender in sheet.contenders]
    comparison = compared_with(
        sheet.ratings, contenders, reading, statistics=statistics_of(sheet), plan=plan, tried=texts - 1
    )
    return comparison.pairs


def _figure(text: SearchText, row: Agreement, compared: tuple[Compared, ...]) -> Figure:
    pair = next(
        (
            candidate
            for candidate in compared
            if candidate.contenders[0].name == row.reading.name
            and (candidate.statistic, candidate.reference) == (row.result.name, row.against)
        ),
        None,
    )
    return Figure(
        text,
        row.question,
        row.result.name,
        row.against,
        row.result,
        pair.difference if pair else None,
        pair.p_holm if pair else None,
    )


@dataclass(frozen=True)
class ShownText:
    """A text with its name, its reference (if it is a version), and its figures."""

    row: SearchText
    name: str
    ref: str
    figures: tuple[Figure, ...]

    @property
    def is_open(self) -> bool:
        """Whether it is a proposal awaiting a decision."""
        return self.row.version is not None and self.row.version.is_open


@dataclass(frozen=True)
class SearchState:
    """State of a search. `stuck` are runs that ended without the answers that the search waits for."""

    search: Search
    bounds: Bounds
    parts: dict[str, int]
    texts: tuple[ShownText, ...]
    stuck: tuple[Run, ...]


def state_of(search: Search) -> SearchState:
    """Return the state of a search; its figures only once it is done."""
    rows = search.texts.select_related("draft__text", "version__prompt", "parent")
    measured = figures(search) if search.state == Search.State.DONE else []
    parts = {name: len(targets_of(search, name)) for name in (LEARN, "choose", HELD_BACK)}
    stuck = runs_of(search).filter(state__in=[Run.State.FAILED, Run.State.CANCELLED])
    ended = tuple(run for run in stuck.select_related("rater") if search.active and _holds_up(run))
    return SearchState(
        search, Bounds(search), parts, tuple(_text(row, search, measured) for row in rows), ended
    )


def _holds_up(run: Run) -> bool:
    return run.calls.filter(state__in=["pending", "cancelled"]).exists()


def _text(row: SearchText, search: Search, measured: Sequence[Figure]) -> ShownText:
    ref = search.parent if row.parent_id is None and not row.number else ""
    if row.version is not None:
        ref = f"{row.version.prompt.name}@{row.version.number}"
    own = tuple(figure for figure in measured if figure.text.pk == row.pk)
    return ShownText(row, name_of(row), ref, own)


def as_json(search: Search) -> dict[str, Any]:
    """Return a search as JSON data, for the API and the command."""
    state = state_of(search)
    return {
        "id": search.pk,
        "bench": search.bench.name,
        "from": search.parent,
        "prompt": search.prompt.name,
        "endpoint": search.endpoint.name,
        "improver": search.improver.name,
        "parameters": search.options.get("parameters", {}),
        "improver_parameters": search.rater.spec.get("parameters", {}),
        "needs": search.options.get("needs", {}),
        "state": search.state,
        "note": search.note,
        "rounds": search.rounds,
        "few": search.few,
        "most_calls": search.most_calls,
        "most_cost": None if search.most_cost is None else float(search.most_cost),
        "seed": search.seed,
        "targets": state.parts,
        "calls": state.bounds.calls,
        "tokens_in": state.bounds.tokens_in,
        "tokens_out": state.bounds.tokens_out,
        "cost": float(state.bounds.cost),
        "waits_for": [{"run": run.pk, "state": run.state, "error": run.error} for run in state.stuck],
        "texts": [_text_json(text) for text in state.texts],
    }


def _text_json(text: ShownText) -> dict[str, Any]:
    row = text.row
    return {
        "number": row.number,
        "version": text.ref or None,
        "parent": None if row.parent is None else row.parent.number,
        "adopted": row.version is not None and not row.version.is_open,
        "score": row.score,
        "cases": row.cases,
        "diagnosis": row.diagnosis,
        "system": row.draft.text.system,
        "user": row.draft.text.user,
        "held_back": [figure.as_json() for figure in text.figures],
    }
