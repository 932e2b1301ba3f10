"""Actions on drafts: write, run, discard, keep. Every change of stored data is here, and logged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from annotation.corpora import splits
from annotation.models import Continuation, Item, Rater, SchemeVersion
from annotation.work.labels import Answer
from config.models import Event
from jobs import runs
from jobs.endpoints.ownership import require_use
from jobs.models.endpoint import Endpoint
from jobs.models.run import Call, Run
from judges.drafts import benches
from judges.errors import JudgeError
from judges.models import Bench, BenchTarget, Draft, DraftAnswer, Prompt, PromptText
from judges.prompts import prompt_actions, requests, versions
from judges.prompts.prompt_actions import LONGEST_NOTE
from judges.prompts.requests import Request
from judges.protocols.protocol import UNMET
from judges.protocols.wording import Wording
from judges.runs import judge_calls, plans
from judges.runs.estimates import Estimate, of_targets
from judges.runs.judge_calls import JudgeRun
from judges.runs.material import kept_need
from judges.runs.plans import SAMPLE_COUNT, Judge, RaterPlan, settings_of_judge
from judges.runs.selection import Covered

SAMPLES = replace(SAMPLE_COUNT, help="How often each item is asked.")

# Calls of drafts: sent like those of judges, but their answers are not labels.


class DraftRun(JudgeRun):
    """Runs of drafts: prepared and sent like those of judges, recorded in a separate table."""

    def record(self, answered_calls: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as the draft's; return the number of new ones."""
        drafts = dict(
            Draft.objects.filter(rater__in={call.rater_id for call, _ in answered_calls}).values_list(
                "rater", "pk"
            )
        )
        rows = [
            _row(drafts[call.run.answerer.pk], call, answer)
            for call, answers in answered_calls
            for answer in answers
        ]
        before = DraftAnswer.objects.filter(call__in=[call.pk for call, _ in answered_calls]).count()
        DraftAnswer.objects.bulk_create(rows, ignore_conflicts=True)
        return DraftAnswer.objects.filter(call__in=[call.pk for call, _ in answered_calls]).count() - before

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers."""
        judge_calls.tell_values(run, DraftAnswer.objects.filter(call__run=run))
        benches.settled(run)


def _row(draft: int, call: Call, answer: Answer) -> DraftAnswer:
    item, question, sample = answer.place
    return DraftAnswer(
        draft_id=draft,
        call=call,
        item_id=item,
        question_id=question,
        sample=sample,
        number=None if answer.value is None or isinstance(answer.value, str) else float(answer.value),
        text=answer.value if isinstance(answer.value, str) else None,
        missing=answer.missing,
        explanation=answer.explanation,
    )


RUN = DraftRun()


@transaction.atomic
def write(
    *,
    by: User | None,
    bench: Bench,
    wording: Wording,
    variant: str,
    endpoint: Endpoint,
    options: Mapping[str, Any] | None = None,
    parent: str = "",
    of: Draft | None = None,
    check_key: str = "",
    change: Mapping[str, Any] | None = None,
    search: int | None = None,
) -> Draft:
    """Store a draft of a bench and return it; the same judge with the same text is the same draft.

    `options` are further settings of `Judge` (parameters, budget, needs). A discarded draft is restored.
    Raises JudgeError for a text that is invalid as a prompt of the bench's protocol, and for a variant that
    answers other questions or rates other targets than the bench's.
    """
    require_use(by, endpoint)
    Bench.objects.select_for_update().get(pk=bench.pk)
    prompt_actions.check(protocol=bench.protocol, variant=variant, wording=wording)
    if variant not in (variants := benches.variants(bench)):
        raise JudgeError(f"A draft of this bench asks as {' or '.join(variants)}, not as {variant}.")
    text = versions.store(wording=wording)
    stored_options = {name: value for name, value in (options or {}).items() if value not in (None, "", {})}
    rater = judge_for(bench, variant, endpoint, text, stored_options, search).plan(bench.campaign).rater
    if needed := rater.spec.get("needs"):
        stored_options["needs"] = {role: need["rater"] for role, need in needed.items()}
    existing = Draft.objects.filter(rater=rater).first()
    if existing is not None:
        if existing.discarded_at is not None:
            existing.discarded_at = None
            existing.save(update_fields=["discarded_at"])
            _log(by, "take up draft", existing)
        return existing
    last = bench.drafts.aggregate(last=Max("number"))["last"] or 0
    draft = Draft.objects.create(
        bench=bench,
        number=last + 1,
        rater=rater,
        variant=variant,
        text=text,
        parent=parent,
        endpoint=endpoint,
        options=stored_options,
        of=of,
        check_key=check_key,
        change=dict(change or {}),
        created_by=by,
    )
    _log(by, "write draft", draft, digest=text.digest)
    return draft


def judge_of(draft: Draft, search: int | None = None) -> Judge:
    """Return the judge of a draft; for a kept draft, the judge of its prompt version."""
    if draft.kept:
        return kept_judge(draft, draft.kept)
    return judge_for(draft.bench, draft.variant, draft.endpoint, draft.text, draft.options, search)


def judge_for(
    bench: Bench,
    variant: str,
    endpoint: Endpoint,
    text: PromptText,
    options: Mapping[str, Any],
    search: int | None = None,
) -> Judge:
    """Return the judge that a draft of a bench would be."""
    return Judge(
        bench.protocol,
        variant,
        endpoint,
        wording=text.digest,
        draft=bench.pk,
        search=search,
        scheme=benches.scheme_ref(bench),
        **settings_of_judge(options),
    )


def kept_judge(draft: Draft, ref: str) -> Judge:
    """Return the judge that a draft becomes as a version of a prompt, without references to drafts.

    Raises JudgeError if it reads the answers of a draft that was not kept.
    """
    settings = settings_of_judge(draft.options)
    read = {role: kept_need(name) for role, name in settings.pop("needs", {}).items()}
    scheme = benches.scheme_ref(draft.bench)
    return Judge(endpoint=draft.endpoint, prompt=ref, scheme=scheme, needs=read, **settings)


@transaction.atomic
def run(*, by: User | None, draft: Draft, targets: int | None, samples: int = 1) -> Run:
    """Run a draft on the first `targets` targets of its bench (None: all of dev); return its run.

    Finished calls are not repeated, and a run never covers less than before. A kept draft is an ordinary
    judge: its answers are labels. Raises JudgeError for invalid numbers, and for a discarded draft.
    """
    SAMPLES.checked(samples)
    if targets is not None and targets < 1:
        raise JudgeError("A draft is tried on at least one item.")
    Bench.objects.select_for_update().get(pk=draft.bench_id)  # locked before the draft, as everywhere
    draft = Draft.objects.select_for_update(of=("self",)).select_related("bench").get(pk=draft.pk)
    if draft.discarded_at is not None:
        raise JudgeError(f"Draft {draft.number} was thrown away: write it again to take it up.")
    bench_targets = benches.grow(draft.bench, None if targets is None else max(targets, draft.targets))
    draft.targets, draft.samples = len(bench_targets), max(samples, draft.samples)
    draft.save(update_fields=["targets", "samples"])
    plan = judge_of(draft).plan(draft.bench.campaign)
    require_same_server(draft, plan)
    draft_run = opened_run(by=by, draft=draft, plan=plan)
    _create_calls(draft_run, draft, plan, bench_targets)
    _put_back(draft_run)
    if draft.of_id is None:
        benches.note(
            bench=draft.bench, spec=draft.asker.spec, name=f"{draft.bench.name}, draft {draft.number}"
        )
    runs.log(by, "run draft", draft_run)
    runs.reopen(draft_run)
    return draft_run


def require_same_server(draft: Draft, plan: RaterPlan) -> None:
    """Raise JudgeError if a draft's endpoint has become another server since the draft was written."""
    own, now = (
        {name: spec.get(name, "") for name in ("address", "revision")}
        for spec in (draft.asker.spec, plan.rater.spec)
    )
    if own != now:
        raise JudgeError(
            f"The endpoint {draft.endpoint.name} is another server now than when draft {draft.number} was "
            "written: write a new draft."
        )


def scope_hash(bench: Bench) -> str:
    """Return the scope hash of the runs of a bench's drafts."""
    return hashlib.sha256(f"bench {bench.pk}".encode()).hexdigest()


def run_of(draft: Draft) -> Run | None:
    """Return a draft's run, None if it was never run."""
    rows = Run.objects.select_related("rater", "corpus", "campaign", "endpoint", "scheme_version__scheme")
    return rows.filter(rater=draft.asker, scope_hash=scope_hash(draft.bench)).first()


def _put_back(draft_run: Run) -> None:
    """Make cancelled calls pending again, and calls skipped for a need that may be met by now."""
    unmet = draft_run.calls.filter(state=Call.State.DONE, flags__contains=[UNMET])
    DraftAnswer.objects.filter(call__in=unmet).delete()
    again = Q(state=Call.State.CANCELLED) | Q(state=Call.State.DONE, flags__contains=[UNMET])
    draft_run.calls.filter(again).update(
        state=Call.State.PENDING, attempts=0, reasked=0, not_before=None, error="", error_kind=""
    )


def opened_run(*, by: User | None, draft: Draft, plan: RaterPlan) -> Run:
    """Return the run in which a draft, or the judge it was kept as, answers on its bench."""
    bench = draft.bench
    scope = benches.selection(bench).as_json() | {"bench": bench.pk, "targets": draft.targets}
    return run_on(
        by=by,
        bench=bench,
        place=scope_hash(bench),
        scope=scope | {"samples": draft.samples},
        samples=draft.samples,
        rater=plan.rater,
        kind=plan.kind,
        endpoint=plan.endpoint,
        scheme_version=plan.scheme_version,
        questions=plan.questions,
    )


def run_on(
    *,
    by: User | None,
    bench: Bench,
    place: str,
    scope: Mapping[str, Any],
    rater: Rater,
    kind: str,
    endpoint: Endpoint | None,
    scheme_version: SchemeVersion | None = None,
    questions: Mapping[str, int] | None = None,
    samples: int = 1,
) -> Run:
    """Return a rater's run on a bench, locked: the run whose scope has the hash `place`, opened if missing.
    Its coverage may grow; its other settings stay as opened.
    """
    require_use(by, endpoint)
    grows = {"scope": dict(scope), "samples": samples}
    opened, _ = Run.objects.update_or_create(
        rater=rater,
        scope_hash=place,
        defaults=grows,
        create_defaults=grows
        | {
            "corpus": bench.corpus,
            "campaign": bench.campaign,
            "endpoint": endpoint,
            "scheme_version": scheme_version,
            "kind": kind,
            "queue": Run.Queue.CALLS,
            "questions": dict(questions or {}),
            "created_by": by,
        },
    )
    return Run.objects.select_for_update().get(pk=opened.pk)


def _create_calls(draft_run: Run, draft: Draft, plan: RaterPlan, targets: list[BenchTarget]) -> None:
    calls = [
        Call(
            run=draft_run,
            rater=plan.rater,
            continuation_id=target.continuation_id,
            item_id=target.item_id,
            part=part,
            sample=sample,
        )
        for target in targets
        for part in plan.parts
        for sample in range(draft.samples)
    ]
    Call.objects.bulk_create(calls, ignore_conflicts=True, batch_size=5000)


@transaction.atomic
def discard(*, by: User | None, draft: Draft) -> Draft:
    """Discard a draft: it is removed from the lists, but still counts as tried.

    Raises JudgeError for a kept draft.
    """
    draft = Draft.objects.select_for_update().get(pk=draft.pk)
    if draft.kept:
        raise JudgeError(f"Draft {draft.number} was kept as {draft.kept} and stays.")
    cancel(by=by, draft=draft)
    draft.discarded_at = timezone.now()
    draft.save(update_fields=["discarded_at"])
    _log(by, "throw draft away", draft)
    return draft


def _log(by: User | None, verb: str, draft: Draft, **detail: Any) -> None:
    subject = f"{draft.bench.name}, draft {draft.number}"
    Event.objects.create(by=by, verb=verb, subject=subject[:200], detail=detail)


# Keeping a draft: its text becomes a version of a prompt, and its answers become labels of a judge.
#
# Paid calls are transferred in one transaction: they move with their replies, tokens and cost (so each is
# counted once), and their answers become labels linked to them.


@transaction.atomic
def keep(*, by: User | None, draft: Draft, name: str = "", note: str = "") -> Draft:
    """Keep a draft as the next version of the prompt `name`, or as the first version of a new prompt.

    A text that comes with Concord needs no name: its judge takes the answers over. Raises JudgeError while
    the draft is running, for a draft that was kept, discarded or written for a check, and for a name taken by
    a prompt of another protocol or variant.
    """
    if len(note) > LONGEST_NOTE:
        raise JudgeError(f"A note has at most {LONGEST_NOTE:,} characters, not {len(note):,}.")
    draft = (
        Draft.objects.select_for_update(of=("self",))
        .select_related("bench__scheme_version__scheme", "text", "endpoint")
        .get(pk=draft.pk)
    )
    _refuse(draft)
    old = run_of(draft)
    if old is not None and old.state in runs.ACTIVE:
        raise JudgeError("Wait until the draft has ended, or cancel it; then keep it.")
    ref = _version(by, draft, name, note)
    plan = kept_judge(draft, ref).plan(draft.bench.campaign)
    require_same_server(draft, plan)
    draft.kept, draft.kept_rater = ref, plan.rater
    draft.save(update_fields=["kept", "kept_rater"])
    if old is not None:
        new = opened_run(by=by, draft=draft, plan=plan)
        _take_over(draft, old, new)
        runs.log(by, "keep draft", new)
    detail = {"version": ref}
    Event.objects.create(
        by=by, verb="keep draft", subject=f"{draft.bench.name}, draft {draft.number}", detail=detail
    )
    return draft


def cancel(*, by: User | None, draft: Draft) -> None:
    """Cancel the run of a draft, if it has one."""
    if (draft_run := run_of(draft)) is not None:
        runs.cancel(by=by, run=draft_run)


def retry(*, by: User | None, draft: Draft) -> None:
    """Ask the failed calls of a draft again, if it has a run."""
    if (draft_run := run_of(draft)) is not None:
        runs.retry_failed(by=by, run=draft_run)


VERBS: dict[str, Callable[..., Any]] = {"cancel": cancel, "retry": retry, "keep": keep, "discard": discard}
"""Actions on a draft by name."""


def _refuse(draft: Draft) -> None:
    if draft.kept:
        raise JudgeError(f"Draft {draft.number} was kept already, as {draft.kept}.")
    if draft.discarded_at is not None:
        raise JudgeError(f"Draft {draft.number} was thrown away.")
    if draft.of_id is not None:
        raise JudgeError(f"Draft {draft.number} was made for a check and cannot be kept.")


def _version(by: User | None, draft: Draft, name: str, note: str) -> str:
    """Return the reference of the version with the draft's text, stored if new."""
    wording, protocol = versions.wording_of(draft.text), benches.asking(draft.bench.protocol)
    if wording.digest() == protocol.wording(draft.variant).digest():
        return f"{protocol.prompt_file(draft.variant)}@{protocol.version}"
    prompt = Prompt.objects.filter(name=name.strip()).first()
    if prompt is None:
        created = prompt_actions.create(
            by=by,
            name=name,
            protocol=draft.bench.protocol,
            variant=draft.variant,
            wording=wording,
            scheme_version=draft.bench.scheme_version,
            parent=draft.parent,
            note=note,
        )
        return f"{created.prompt.name}@{created.number}"
    own = (draft.bench.protocol, draft.variant)
    schemes = (None, draft.bench.scheme_version)
    if (prompt.protocol, prompt.variant) != own or prompt.scheme_version not in schemes:
        over = prompt.scheme_version and f"over {plans.scheme_ref(prompt.scheme_version)}"
        purpose = " ".join(part for part in (prompt.protocol, prompt.variant, over) if part)
        raise JudgeError(f"The prompt {prompt.name} is for {purpose}: choose another name.")
    added = prompt_actions.add_version(by=by, prompt=prompt, wording=wording, parent=draft.parent, note=note)
    return f"{prompt.name}@{added.number}"


def _take_over(draft: Draft, old: Run, new: Run) -> None:
    """Transfer calls and answers to the judge; calls that duplicate the judge's own stay with the draft's
    run.
    """
    place = ("continuation", "item", "part", "sample")
    theirs = set(Call.objects.filter(rater=new.rater).values_list(*place))
    moved = [pk for pk, *key in old.calls.values_list("pk", *place) if tuple(key) not in theirs]
    Call.objects.filter(pk__in=moved).update(run=new, rater=new.rater)
    answers = DraftAnswer.objects.filter(draft=draft, call__in=moved).order_by("pk")
    if answered_calls := [(row.call_id, _answer(row)) for row in answers]:
        judge_calls.record(new.answerer, answered_calls)
    DraftAnswer.objects.filter(draft=draft).delete()
    new.started_at, new.state = old.started_at, Run.State.RUNNING
    new.save(update_fields=["started_at", "state"])
    if not new.calls.filter(state__in=[*runs.UNFINISHED, Call.State.CANCELLED]).exists():
        runs.settle(new.pk)
    else:
        new.state, new.finished_at = old.state, old.finished_at
        new.save(update_fields=["state", "finished_at"])


def _answer(row: DraftAnswer) -> Answer:
    return Answer(row.item_id, row.question_id, row.value, row.missing, row.sample, row.explanation)


# Estimate before running a draft: calls, tokens, cost, and the receiver of the text.


def estimate(draft: Draft, targets: int | None, samples: int = 1) -> Estimate:
    """Return the estimate for running a draft on a bench's first targets (None: all of dev).

    Stores nothing: neither the targets that would be drawn nor a judge. Raises JudgeError as running does.
    """
    with transaction.atomic():
        result = _estimate(draft, targets, samples)
        transaction.set_rollback(True)
    return result


def _estimate(draft: Draft, targets: int | None, samples: int) -> Estimate:
    bench_targets = benches.grow(draft.bench, targets)
    plan = judge_of(draft).plan(draft.bench.campaign)
    some = tuple((target.continuation_id, target.item_id) for target in bench_targets)
    own = {continuation for continuation, _ in some}
    dialogues = Continuation.objects.filter(pk__in=own).values("dialogue").distinct().count()
    done = Call.objects.filter(rater=plan.rater, state=Call.State.DONE, sample__lt=samples)
    done = done.exclude(flags__contains=[UNMET])
    done_places = done.filter(continuation__in=own).values_list("continuation_id", "item_id")
    target_places = set(some)
    finished = sum(place in target_places for place in done_places)
    return of_targets(plan, Covered(len(some), dialogues, some), samples=samples, finished=finished)


def requests_of(
    bench: Bench,
    key: str,
    *,
    wording: Wording,
    variant: str,
    endpoint: Endpoint,
    options: Mapping[str, Any],
    parent: str = "",
    later: User | None = None,
) -> list[Request]:
    """Return the requests of a draft about an item of dev ('': the bench's first), one per part.

    Arguments are those of `actions.write`; only the text is stored. `later` is for `requests`. Raises
    JudgeError for unknown references.
    """
    judge = judge_for(bench, variant, endpoint, versions.store(wording=wording), options)
    with transaction.atomic():
        item = _item(bench, key)
        transaction.set_rollback(True)
    return requests.requests(judge, item, bench.campaign, later=later)


def _item(bench: Bench, key: str) -> Item:
    """Return the item with a key, or of the bench's first target; for a continuation, the dialogue's."""
    if key.strip():
        item = requests.item_of(bench.corpus, key, benches.protocol_of(bench).covers)
        if splits.of_item(item) not in splits.clusters(split=bench.split, part="dev"):
            raise JudgeError(f"{key.strip()!r} is in the test part: drafts are tried on dev alone.")
        return item
    target = benches.grow(bench, 1)[0]
    rows = Item.objects.select_related("continuation__dialogue", "turn")
    if target.item_id is not None:
        return rows.get(pk=target.item_id)
    dialogue_item = rows.filter(continuation=target.continuation_id, kind="dialogue").first()
    if dialogue_item is None:
        raise JudgeError("The first continuation of this bench has no item of its own: name an item.")
    return dialogue_item


def is_known(draft: Draft) -> bool:
    """Whether drafts of the bench were sent to this draft's endpoint before."""
    drafts = draft.bench.drafts.filter(endpoint=draft.endpoint, targets__gt=0)
    return drafts.exists()
