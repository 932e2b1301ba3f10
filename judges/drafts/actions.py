"""What is done with drafts: written, run, thrown away. Every change of what is stored is here, and logged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from annotation.models import Rater, SchemeVersion
from config.models import Event
from jobs import runs
from jobs.models import Call, Endpoint, Run
from judges.drafts import benches, trials
from judges.errors import JudgeError
from judges.models import Bench, BenchTarget, Draft, DraftAnswer, PromptText
from judges.prompt_versions import actions as prompts
from judges.prompt_versions import texts
from judges.protocols import Wording
from judges.protocols.needs import UNMET
from judges.rating import needs
from judges.rating.plans import MOST_SAMPLES, Judge, RaterPlan, settings_of_judge


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

    `options` are further settings of `Judge` (parameters, budget, needs). One that was thrown
    away is taken up again. Raises JudgeError for a text that cannot be a prompt of the bench's protocol, and
    for a variant that answers other questions than the bench's, or about something else.
    """
    Bench.objects.select_for_update().get(pk=bench.pk)
    prompts.check(protocol=bench.protocol, variant=variant, wording=wording)
    if variant not in (known := benches.variants(bench)):
        raise JudgeError(f"A draft of this bench asks as {' or '.join(known)}, not as {variant}.")
    text = texts.store(wording=wording)
    given = {name: value for name, value in (options or {}).items() if value not in (None, "", {})}
    rater = judge_for(bench, variant, endpoint, text, given, search).plan(bench.campaign).rater
    if needed := rater.spec.get("needs"):
        given["needs"] = {role: one["rater"] for role, one in needed.items()}
    found = Draft.objects.filter(rater=rater).first()
    if found is not None:
        if found.discarded_at is not None:
            found.discarded_at = None
            found.save(update_fields=["discarded_at"])
            _log(by, "take up draft", found)
        return found
    last = bench.drafts.aggregate(last=Max("number"))["last"] or 0
    draft = Draft.objects.create(
        bench=bench,
        number=last + 1,
        rater=rater,
        variant=variant,
        text=text,
        parent=parent,
        endpoint=endpoint,
        options=given,
        of=of,
        check_key=check_key,
        change=dict(change or {}),
        created_by=by,
    )
    _log(by, "write draft", draft, digest=text.digest)
    return draft


def judge_of(draft: Draft, search: int | None = None) -> Judge:
    """Return the judge that a draft is: of the version that it was kept as, where it was."""
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
    """Return the judge that a draft becomes as a version of a prompt, on top of no draft.

    Raises JudgeError where it reads a draft that was not kept.
    """
    settings = settings_of_judge(draft.options)
    read = {role: needs.kept(name) for role, name in settings.pop("needs", {}).items()}
    scheme = benches.scheme_ref(draft.bench)
    return Judge(endpoint=draft.endpoint, prompt=ref, scheme=scheme, needs=read, **settings)


@transaction.atomic
def run(*, by: User | None, draft: Draft, targets: int | None, samples: int = 1) -> Run:
    """Let a draft answer the first `targets` targets of its bench (None: all of dev); return its run.

    What was asked before is not asked again, and it never covers less than before. A draft that was kept is
    an ordinary judge: its answers are labels. Raises JudgeError for numbers that make no sense, and for a
    draft that was thrown away.
    """
    if not 1 <= samples <= MOST_SAMPLES:
        raise JudgeError(f"The number of samples must be between 1 and {MOST_SAMPLES}.")
    if targets is not None and targets < 1:
        raise JudgeError("A draft is tried on at least one item.")
    Bench.objects.select_for_update().get(pk=draft.bench_id)  # before the draft, as everywhere
    draft = Draft.objects.select_for_update(of=("self",)).select_related("bench").get(pk=draft.pk)
    if draft.discarded_at is not None:
        raise JudgeError(f"Draft {draft.number} was thrown away: write it again to take it up.")
    wanted = benches.grow(draft.bench, None if targets is None else max(targets, draft.targets))
    draft.targets, draft.samples = len(wanted), max(samples, draft.samples)
    draft.save(update_fields=["targets", "samples"])
    plan = judge_of(draft).plan(draft.bench.campaign)
    require_same_server(draft, plan)
    found = opened_run(by=by, draft=draft, plan=plan)
    _create_calls(found, draft, plan, wanted)
    _put_back(found)
    if draft.of_id is None:
        trials.note(
            bench=draft.bench, spec=draft.asker.spec, name=f"{draft.bench.name}, draft {draft.number}"
        )
    runs.log(by, "run draft", found)
    runs.reopen(found)
    return found


def require_same_server(draft: Draft, plan: RaterPlan) -> None:
    """Raise JudgeError where a draft's endpoint became another server since the draft was written."""
    own, now = (
        {name: spec.get(name, "") for name in ("address", "revision")}
        for spec in (draft.asker.spec, plan.rater.spec)
    )
    if own != now:
        raise JudgeError(
            f"The endpoint {draft.endpoint.name} is another server now than when draft {draft.number} was "
            "written: write the draft anew."
        )


def scope_hash(bench: Bench) -> str:
    """Return the hash that the runs of a bench's drafts have as their scope."""
    return hashlib.sha256(f"bench {bench.pk}".encode()).hexdigest()


def run_of(draft: Draft) -> Run | None:
    """Return a draft's run, None where it was not tried."""
    rows = Run.objects.select_related("rater", "corpus", "campaign", "endpoint", "scheme_version__scheme")
    return rows.filter(rater=draft.asker, scope_hash=scope_hash(draft.bench)).first()


def _put_back(found: Run) -> None:
    """Let cancelled calls be asked, and those that went unasked for a need which may be met by now."""
    unmet = found.calls.filter(state=Call.State.DONE, flags__contains=[UNMET])
    DraftAnswer.objects.filter(call__in=unmet).delete()
    again = Q(state=Call.State.CANCELLED) | Q(state=Call.State.DONE, flags__contains=[UNMET])
    found.calls.filter(again).update(
        state=Call.State.PENDING, attempts=0, reasked=0, not_before=None, error="", error_kind=""
    )


def opened_run(*, by: User | None, draft: Draft, plan: RaterPlan) -> Run:
    """Return the run in which a draft, or the judge that it was kept as, answers on its bench."""
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
    """Return a rater's run on a bench, locked: the one whose scope has the hash `place`, opened where there
    is none. What it covers may grow; the rest of it stays as it was opened."""
    grows = {"scope": dict(scope), "samples": samples}
    found, _ = Run.objects.update_or_create(
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
    return Run.objects.select_for_update().get(pk=found.pk)


def _create_calls(found: Run, draft: Draft, plan: RaterPlan, wanted: list[BenchTarget]) -> None:
    calls = [
        Call(
            run=found,
            rater=plan.rater,
            continuation_id=target.continuation_id,
            item_id=target.item_id,
            part=part,
            sample=sample,
        )
        for target in wanted
        for part in plan.parts
        for sample in range(draft.samples)
    ]
    Call.objects.bulk_create(calls, ignore_conflicts=True, batch_size=5000)


@transaction.atomic
def discard(*, by: User | None, draft: Draft) -> Draft:
    """Throw a draft away: it is off the lists, and still counted among those that were tried.

    Raises JudgeError for one that was kept.
    """
    draft = Draft.objects.select_for_update().get(pk=draft.pk)
    if draft.kept:
        raise JudgeError(f"Draft {draft.number} was kept as {draft.kept} and stays.")
    under_way = run_of(draft)
    if under_way is not None:
        runs.cancel(by=by, run=under_way)
    draft.discarded_at = timezone.now()
    draft.save(update_fields=["discarded_at"])
    _log(by, "throw draft away", draft)
    return draft


def _log(by: User | None, verb: str, draft: Draft, **detail: Any) -> None:
    subject = f"{draft.bench.name}, draft {draft.number}"
    Event.objects.create(by=by, verb=verb, subject=subject[:200], detail=detail)
