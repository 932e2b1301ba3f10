"""What an adjudicator does with a case: keep a draft, decide, pass it on, withdraw a decision.

A decision is a label of its own on the occasion `adjudication`. Another one supersedes it; one that was
withdrawn stays readable and counts no longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Label, Occasion
from annotation.work import labels as raters
from annotation.work import labels as recording
from annotation.work.checking import cleaned
from calibration.adjudication import holding
from calibration.adjudication.holding import State, in_hand, one_at_a_time
from calibration.errors import AdjudicationRefused, CaseLost, OtherDraft
from calibration.models import AdjudicationCase, AdjudicationDecision, ForAdjudication
from config.models import Event

CANNOT = "cannot be decided"
"""Why a label has no value where an adjudicator cannot decide."""
LONGEST_REASON = 2_000
LONGEST_DRAFT = 20_000
TYPICAL = (
    "The answer of the majority holds.",
    "The other answer holds: the majority overlooked something.",
    "This is how the guidelines read.",
    "The guidelines leave it open; this is the closer reading.",
    "A slip: the scale was read the wrong way round.",
)
"""Reasons that are offered; any other may be written."""


@transaction.atomic
def save_draft(*, by: User, decision: int, draft: Mapping[str, Any]) -> int:
    """Keep a draft and return the version kept.

    `draft` holds `version` (a positive integer that grows), `client` (who writes it), `based_on` (the version
    that the client has seen), `answer`, `cannot` and `reason`. Raises NotYours, AdjudicationRefused, and
    OtherDraft where another client kept one that this client has not seen.
    """
    version, client, seen = draft.get("version"), draft.get("client", ""), draft.get("based_on")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**53:
        raise AdjudicationRefused("A draft needs a version: an integer of 1 or more.")
    if not isinstance(client, str) or len(client) > 64:
        raise AdjudicationRefused("A client’s name is a text of at most 64 characters.")
    one_at_a_time(by)
    mine = in_hand(by, decision)
    kept = {name: cleaned(draft.get(name)) for name in ("answer", "cannot", "reason")}
    if len(repr(kept)) > LONGEST_DRAFT:
        raise AdjudicationRefused("This draft is too long to be kept. Shorten the reason.")
    if mine.written_by not in ("", client) and mine.revision not in (0, seen) and mine.draft != kept:
        raise OtherDraft(
            "Another tab or device kept another draft of this case.", {**mine.draft, "version": mine.revision}
        )
    if version <= mine.revision:
        return mine.revision
    mine.draft, mine.revision, mine.written_by = kept, version, client
    if mine.state == State.HELD:
        mine.lease_expires = timezone.now() + timedelta(minutes=mine.round.lease_minutes)
    mine.save(update_fields=["draft", "revision", "written_by", "lease_expires"])
    return version


@transaction.atomic
def decide(
    *, by: User, decision: int, answer: Any = None, cannot: bool = False, reason: str
) -> AdjudicationDecision:
    """Decide on a case in hand, or decide anew: the label before is superseded.

    `answer` is a value of the question's scale; with `cannot` there is none. A reason is always needed.
    Raises NotYours, CaseLost, or AdjudicationRefused, in one line.
    """
    one_at_a_time(by)
    mine = in_hand(by, decision)
    holding.must_be_open(by, mine.round)
    holding.must_not_be_own(by, mine)
    value = _checked(mine, answer, cannot=cannot)
    reason = _reason(reason)
    AdjudicationCase.objects.select_for_update().get(pk=mine.case_id)
    mine.refresh_from_db(fields=["state"])
    if mine.state == State.PASSED:
        raise CaseLost("You passed this case on. Your draft is kept, but cannot be submitted any more.")
    if mine.state in (State.EXPIRED, State.WITHDRAWN):
        holding.take_again(by, mine)
    label = _label(by, mine, value, CANNOT if cannot else "", reason)
    mine.state, mine.label, mine.decided_at, mine.draft = State.DECIDED, label, timezone.now(), {}
    mine.note, mine.written_by, mine.revision = "", "", mine.revision + 1
    mine.save(update_fields=["state", "label", "decided_at", "draft", "note", "written_by", "revision"])
    settle(mine.case_id)
    return mine


@transaction.atomic
def pass_on(*, by: User, decision: int, reason: str) -> None:
    """Give a case up for a reason: it goes to somebody else and does not come back.

    Raises NotYours, AdjudicationRefused without a reason, or where it is decided.
    """
    one_at_a_time(by)
    mine = in_hand(by, decision)
    if mine.state == State.DECIDED:
        raise AdjudicationRefused("You have decided on this case. Withdraw the decision, or decide anew.")
    mine.state, mine.note = State.PASSED, _reason(reason)
    mine.save(update_fields=["state", "note"])


@transaction.atomic
def withdraw(*, by: User | None, decision: AdjudicationDecision, reason: str) -> AdjudicationDecision:
    """Take a decision back: its label stays readable and counts no longer, and the case waits again.

    Raises AdjudicationRefused without a reason, or where nothing was decided.
    """
    reason = _reason(reason)
    AdjudicationCase.objects.select_for_update().get(pk=decision.case_id)
    related = ("round", "label", "case__item", "case__question", "adjudicator")
    found = (
        AdjudicationDecision.objects.select_for_update(of=("self",))
        .select_related(*related)
        .get(pk=decision.pk)
    )
    if found.state != State.DECIDED or found.label is None:
        raise AdjudicationRefused("There is no decision here that could be withdrawn.")
    Label.objects.filter(pk=found.label.pk, superseded_at=None).update(superseded_at=timezone.now())
    same = AdjudicationDecision.objects.filter(label=found.label, state=State.DECIDED)
    same.update(state=State.WITHDRAWN, note=reason)
    Event.objects.create(
        by=by,
        verb="adjudication: withdraw a decision",
        subject=found.round.name,
        detail={"case": found.case_id, "adjudicator": found.adjudicator.get_username(), "reason": reason},
    )
    found.refresh_from_db()
    return found


def settle(case: int) -> None:
    """Note since when all who decide on a case say the same; then it waits nowhere any more."""
    found = AdjudicationCase.objects.get(pk=case)
    labels = Label.objects.filter(
        pk__in=found.decisions.filter(state=State.DECIDED).values("label"), superseded_at=None
    )
    said = {(label.number, label.text, bool(label.missing)) for label in labels}
    agreed = found.decided == found.places and len(said) == 1
    settled = (found.settled_at or timezone.now()) if agreed else None
    AdjudicationCase.objects.filter(pk=case).update(settled_at=settled)
    if agreed:
        waiting = ForAdjudication.objects.filter(
            item=found.item_id, question=found.question_id, withdrawn_at=None, settled_at=None
        )
        waiting.update(settled_at=settled)


def _label(by: User, mine: AdjudicationDecision, value: Any, missing: str, reason: str) -> Label:
    """Record a decision; what it replaces is replaced in other rounds of the same campaign, too."""
    rater, case = raters.rater_of_person(user=by), mine.case
    before = Label.objects.filter(
        rater=rater,
        item=case.item_id,
        question=case.question_id,
        occasion=Occasion.ADJUDICATION,
        campaign=mine.round.campaign_id,
        superseded_at=None,
    ).first()
    made = recording.record(
        rater=rater,
        answers=[recording.Answer(case.item_id, case.question_id, value, missing, explanation=reason)],
        occasion=Occasion.ADJUDICATION,
        campaign=mine.round.campaign,
    )
    if not made:
        assert before is not None  # nothing is new where the same stands
        return before
    if before is not None:
        others = AdjudicationDecision.objects.filter(label=before, state=State.DECIDED).exclude(pk=mine.pk)
        cases = list(others.values_list("case", flat=True))
        others.update(label=made[0])
        for other in cases:
            settle(other)
    return made[0]


def _checked(mine: AdjudicationDecision, answer: Any, *, cannot: bool) -> float | str | None:
    question = mine.case.question
    if isinstance(answer, str):
        answer = answer.strip()
    given = answer is not None and answer != ""
    if cannot:
        if given:
            raise AdjudicationRefused("Either there is an answer, or it cannot be decided: not both.")
        return None
    if not given:
        raise AdjudicationRefused(f"“{question.wording}” has no answer yet.")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = float(answer)
    if isinstance(answer, bool) or not question.accepts(answer):
        shown = str(answer)[:40]
        choose = ", ".join(str(value) for value in question.values)
        raise AdjudicationRefused(
            f"“{question.wording}” does not take {shown}{f': choose one of {choose}' if choose else ''}."
        )
    return str(cleaned(answer)) if isinstance(answer, str) else answer


def _reason(reason: str) -> str:
    reason = str(cleaned(reason)).strip()
    if not reason:
        raise AdjudicationRefused("Say why, in a few words: the reason stays with the decision.")
    if len(reason) > LONGEST_REASON:
        raise AdjudicationRefused(f"Give the reason in at most {LONGEST_REASON:,} characters.")
    return reason
