"""Keeping a draft: its text becomes a version of a prompt, and its answers the labels of a judge.

What was paid for is taken over in one transaction: the calls change hands with their replies, tokens and cost
(so each is counted once), and their answers become labels linked to them.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.labels.recording import Answer
from config.models import Event
from jobs import runs
from jobs.models import Call, Run
from judges.drafts import actions, benches
from judges.errors import JudgeError
from judges.models import Draft, DraftAnswer, Prompt
from judges.prompt_versions import actions as prompts
from judges.prompt_versions import texts
from judges.rating import bound_schemes, recording


@transaction.atomic
def keep(*, by: User | None, draft: Draft, name: str = "", note: str = "") -> Draft:
    """Keep a draft as the next version of the prompt `name`, or as the first of a new one.

    A text that comes with Concord needs no name: the judge that asks with it takes the answers over. Raises
    JudgeError while the draft is being run, for one that was kept, thrown away or made for a check, and for a
    name that a prompt of another protocol or variant has.
    """
    draft = (
        Draft.objects.select_for_update(of=("self",))
        .select_related("bench__scheme_version__scheme", "text", "endpoint")
        .get(pk=draft.pk)
    )
    _refuse(draft)
    old = actions.run_of(draft)
    if old is not None and old.state in runs.ACTIVE:
        raise JudgeError("Wait until the draft has ended, or cancel it; then keep it.")
    ref = _version(by, draft, name, note)
    plan = actions.kept_judge(draft, ref).plan(draft.bench.campaign)
    actions.require_same_server(draft, plan)
    draft.kept, draft.kept_rater = ref, plan.rater
    draft.save(update_fields=["kept", "kept_rater"])
    if old is not None:
        new = actions.opened_run(by=by, draft=draft, plan=plan)
        _take_over(draft, old, new)
        runs.log(by, "keep draft", new)
    detail = {"version": ref}
    Event.objects.create(
        by=by, verb="keep draft", subject=f"{draft.bench.name}, draft {draft.number}", detail=detail
    )
    return draft


def _refuse(draft: Draft) -> None:
    if draft.kept:
        raise JudgeError(f"Draft {draft.number} was kept already, as {draft.kept}.")
    if draft.discarded_at is not None:
        raise JudgeError(f"Draft {draft.number} was thrown away.")
    if draft.of_id is not None:
        raise JudgeError(f"Draft {draft.number} was made for a check and cannot be kept.")


def _version(by: User | None, draft: Draft, name: str, note: str) -> str:
    """Return the reference of the version that has the draft's text, storing it where it is new."""
    wording, protocol = texts.wording_of(draft.text), benches.asking(draft.bench.protocol)
    if wording.digest() == protocol.wording(draft.variant).digest():
        return f"{protocol.prompt_file(draft.variant)}@{protocol.version}"
    prompt = Prompt.objects.filter(name=name.strip()).first()
    if prompt is None:
        made = prompts.create(
            by=by,
            name=name,
            protocol=draft.bench.protocol,
            variant=draft.variant,
            wording=wording,
            scheme_version=draft.bench.scheme_version,
            parent=draft.parent,
            note=note,
        )
        return f"{made.prompt.name}@{made.number}"
    own = (draft.bench.protocol, draft.variant)
    schemes = (None, draft.bench.scheme_version)
    if (prompt.protocol, prompt.variant) != own or prompt.scheme_version not in schemes:
        over = prompt.scheme_version and f"over {bound_schemes.ref(prompt.scheme_version)}"
        said = " ".join(part for part in (prompt.protocol, prompt.variant, over) if part)
        raise JudgeError(f"The prompt {prompt.name} is for {said}: choose another name.")
    added = prompts.add_version(by=by, prompt=prompt, wording=wording, parent=draft.parent, note=note)
    return f"{prompt.name}@{added.number}"


def _take_over(draft: Draft, old: Run, new: Run) -> None:
    """Hand calls and answers to the judge; what it had asked itself before stays with the draft's run."""
    place = ("continuation", "item", "part", "sample")
    theirs = set(Call.objects.filter(rater=new.rater).values_list(*place))
    moved = [pk for pk, *key in old.calls.values_list("pk", *place) if tuple(key) not in theirs]
    Call.objects.filter(pk__in=moved).update(run=new, rater=new.rater)
    answers = DraftAnswer.objects.filter(draft=draft, call__in=moved).order_by("pk")
    if given := [(row.call_id, _answer(row)) for row in answers]:
        recording.record(new.answerer, given)
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
