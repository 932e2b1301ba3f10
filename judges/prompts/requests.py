"""Previews of the exact request about an item, built by the same code that builds requests to send."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import comparisons, splits
from annotation.corpora.splits import of_dialogues
from annotation.kinds import COMPARING, WITH_TURN
from annotation.models import Campaign, Continuation, Corpus
from annotation.models.corpora import Item
from annotation.text.references import place_of
from jobs import job_actions
from jobs.endpoints.costs import as_sent, cost, request_body
from jobs.endpoints.parameters import forms_for, of_sample
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Endpoint, Job
from judges.errors import JudgeError
from judges.prompts import examples, versions
from judges.protocols import Asking, Wording
from judges.protocols.quoting import TooLong
from judges.runs import estimates
from judges.runs.material import answers_for_needs, case_of, load, with_compared
from judges.runs.plans import CONTINUATION, Judge, RaterPlan, asker_of
from judges.runs.selection import Selection, continuations

# Previews of the exact request about an item, built by the same code that builds requests to send.

# Embedding of texts for finding the nearest examples: in a job, so that no web process loads a model.

KIND = "nearest"


def start(*, by: User | None, item: Item, whole_continuation: bool, spec: Mapping[str, Any]) -> Job:
    """Start the job that finds a judge's examples nearest to an item; `spec` is the judge's.

    A failed job is returned as it is; it is retried from the list of jobs.
    """
    digest = spec["wording"]
    subject = f"{item.key}, for the examples of the text {digest[:12]}"[:300]
    last = Job.objects.filter(kind=KIND, subject=subject).order_by("-pk").first()
    if last is not None and last.state == Job.State.FAILED:
        return last
    params = {
        "digest": digest,
        "continuation": item.continuation_id,
        "item": None if whole_continuation else item.pk,
        "shows": spec.get("shows"),
    }
    return job_actions.start(kind=KIND, subject=subject, by=by, params=params)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Embed the texts of a prompt's examples and of an item; the result is {texts: their number}."""
    params = job.params
    continuation = params["continuation"]
    if not Continuation.objects.filter(pk=continuation).exists():
        raise JobRefused("the continuation that it was to be asked about was deleted")
    shows = {} if params["shows"] is None else {"shows": params["shows"]}
    case = case_of(load({continuation})[continuation], params["item"], shows)
    try:
        text_count = examples.embed(versions.of_digest(params["digest"]), case)
    except JudgeError as error:
        raise JobRefused(str(error)) from error
    progress(text_count, text_count, "embedded")
    return {"texts": text_count}


JOB = JobKind(KIND, "Nearest examples", run)


COUNTED = "four characters of ASCII to a token, one token for any other character"
"""Method of counting tokens."""
NO_MODEL = "(no endpoint chosen)"
NO_ENDPOINT = "not known: no endpoint is chosen"
LOOKED_FOR = "the examples nearest to it are being looked for: look again in a few seconds"
"""Reason why there is no request yet."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request about an item as it would be sent, or the reason why none is (`unasked`, and `body` None).

    `job` finds the examples nearest to the item, if that must be done first. `part` is the protocol's part if
    it asks in several. Tokens of the prompt are counted by the method COUNTED; tokens of the reply are the
    protocol's usual length. `cost` is None if the endpoint has no prices.
    """

    item: str
    part: str = ""
    body: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()
    unasked: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal | None = None
    currency: str = ""
    job: int | None = None

    @property
    def exact(self) -> str:
        """The body as it is sent, byte for byte."""
        return as_sent(self.body).decode() if self.body is not None else ""

    @property
    def price(self) -> str:
        """The cost in words."""
        return estimates.cost_in_words(self.cost, self.currency) if self.currency else NO_ENDPOINT

    @property
    def readable(self) -> str:
        """The body, pretty-printed."""
        return json.dumps(self.body, ensure_ascii=False, indent=2) if self.body is not None else ""

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `exact` is the body byte for byte."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values |= {"flags": list(self.flags), "cost": None if self.cost is None else float(self.cost)}
        return values | {"exact": self.exact, "tokens_counted": COUNTED}


def requests(
    judge: Judge,
    item: Item,
    campaign: Campaign | None = None,
    draft: Wording | None = None,
    *,
    later: User | None = None,
) -> list[Request]:
    """Return the requests of a judge about an item, one per part of its protocol; nothing is saved.

    `draft` replaces the judge's text. For a judge without an endpoint the model's name is empty. With
    `later`, the user who asks, no embedding model is loaded: if the nearest examples are not known yet, a job
    finds them and there is no request until it has ended. Raises JudgeError for inconsistent settings.
    """
    with transaction.atomic():
        plan = replace(judge, endpoint=judge.endpoint or _nowhere()).plan(campaign)
        results = list(_requests(plan, item, draft, load_model=later is None))
        transaction.set_rollback(True)
    if not any(request.unasked == LOOKED_FOR for request in results):
        return results
    job = start(by=later, item=item, whole_continuation=plan.covers == CONTINUATION, spec=plan.rater.spec)
    why = f"the nearest examples were not found: {job.error}" if job.error else LOOKED_FOR
    return [
        replace(request, job=job.pk, unasked=why) if request.unasked == LOOKED_FOR else request
        for request in results
    ]


def _requests(plan: RaterPlan, item: Item, draft: Wording | None, *, load_model: bool) -> Iterator[Request]:
    spec = plan.rater.spec
    asker = asker_of(spec)
    if draft is not None:
        asker = replace(asker, wording=draft)
    protocol = asker.protocol
    if not isinstance(protocol, Asking):
        raise JudgeError(f"{protocol.key} asks nobody: it sends nothing.")
    _fits(plan, item)
    material = load({item.continuation_id})
    if plan.covers in COMPARING:
        material = with_compared(material, [item.pk])
    answers = answers_for_needs(protocol, spec["needs"], material) if "needs" in spec else {}
    own = None if plan.covers == CONTINUATION else item.pk
    for part in asker.parts():
        case = case_of(material[item.continuation_id], own, spec, answers.get(item.continuation_id), part)
        request = Request(item.key, part, currency=_currency(plan))
        if unasked := protocol.unavailable_reason(case, asker.variant) or protocol.unmet(case):
            yield replace(request, unasked=unasked)
            continue
        if not load_model and asker.wording and not examples.is_known(asker.wording, case):
            yield replace(request, unasked=LOOKED_FOR)
            continue
        try:
            prompt, flags = asker.prompt(case)
        except TooLong as error:
            yield replace(request, unasked=f"{error}")
            continue
        form = forms_for(prompt, plan.endpoint.reply_form if plan.endpoint else "")[0]
        body = request_body(spec["model"], prompt, of_sample(spec.get("parameters", {}), 0), form)
        prompt_tokens = prompt.about_tokens()
        reply_tokens = protocol.reply_tokens
        price = cost(plan.endpoint, prompt_tokens, reply_tokens) if plan.endpoint else None
        yield replace(
            request, body=body, flags=flags, tokens_in=prompt_tokens, tokens_out=reply_tokens, cost=price
        )


def _fits(plan: RaterPlan, item: Item) -> None:
    """Refuse an item of a kind that the judge does not cover."""
    kinds = ("dialogue",) if plan.covers == CONTINUATION else (plan.covers,)
    if item.kind not in kinds:
        raise JudgeError(f"{item.key!r} is a {item.kind}; this judge asks about each {kinds[0]}.")


def _currency(plan: RaterPlan) -> str:
    """Return the currency of the chosen endpoint, '' without one."""
    return plan.endpoint.currency if plan.endpoint and plan.endpoint.pk else ""


def _nowhere() -> Endpoint:
    """Return an unsaved placeholder for a missing endpoint."""
    return Endpoint(name=NO_MODEL, model=NO_MODEL)


def item_or_any(corpus: Corpus, key: str, covers: str) -> Item:
    """Return the item with a key, any item of dev for an empty key; raise JudgeError if there is none."""
    return item_of(corpus, key, covers) if key.strip() else any_item(corpus, covers)


def item_of(corpus: Corpus, key: str, covers: str) -> Item:
    """Return the item with a key in a corpus; raise JudgeError if there is none.

    For a judge of whole continuations (`covers`), the key of a turn selects its continuation.
    """
    try:
        place = place_of(key.strip())
    except ValueError as error:
        raise JudgeError(f"{error}.") from None
    rows = _items().filter(
        corpus=corpus, continuation__dialogue__key=place.dialogue, continuation__key=place.continuation
    )
    turn = place.turn
    if place.others:
        keys = comparisons.keys_of(list(rows.filter(kind__in=COMPARING).values_list("pk", flat=True)))
        item = rows.filter(pk__in=[pk for pk, own in keys.items() if own == key.strip()]).first()
    elif turn is None or covers not in WITH_TURN:
        item = rows.filter(kind="dialogue").first()
    else:
        item = rows.filter(turn__position=turn).first()
    if item is None:
        raise JudgeError(f"There is no item {key.strip()!r} in {corpus.name}.")
    return item


def any_item(corpus: Corpus, covers: str, rng: random.Random | None = None) -> Item:
    """Return a random item of dev, or of any part if the corpus has no split; raise JudgeError if there is
    none that a judge covers."""
    rng = rng or random.Random()
    kind = "dialogue" if covers == CONTINUATION else covers
    rows = _items().filter(kind=kind, continuation__in=continuations(Selection(corpus)))
    lock = splits.lock_of(corpus)
    names = splits.clusters(split=lock, part="dev") if lock else None
    dialogues = corpus.dialogues.filter(of_dialogues())
    if names is not None:
        dialogues = dialogues.filter(cluster__in=names)
    for pk in rng.sample(
        dialogue_ids := list(dialogues.values_list("pk", flat=True)), min(len(dialogue_ids), 50)
    ):
        if items := list(rows.filter(continuation__dialogue=pk).values_list("pk", flat=True)):
            return rows.get(pk=rng.choice(sorted(items)))
    raise JudgeError(f"There is nothing in {'dev of ' if lock else ''}{corpus.name} to ask about.")


def _items() -> Any:
    return Item.objects.select_related("continuation__dialogue", "turn")
