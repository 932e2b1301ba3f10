"""Whether a run of a judge covers test items, and whether test was opened for that judge."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import openings, splits
from annotation.errors import SplitRefused
from annotation.models import Rater, Split
from judges.errors import JudgeError
from judges.rating.plans import Judge
from judges.rating.selection import Selection, continuations


def locked(selection: Selection) -> Split | None:
    """Return the split whose test part a run would cover, None where it covers none.

    Training is never test. Else a part is named, or the corpus's first split is in use: until it is, no part
    of it is test to anybody.
    """
    if selection.split is not None:
        return selection.split if selection.part == "test" else None
    if selection.is_training:
        return None
    split = splits.lock_of(selection.corpus)
    if split is None or split.fixed_at is None:
        return None
    return split if continuations(replace(selection, split=split, part="test")).exists() else None


def needs_opening(rater: Rater, selection: Selection) -> str:
    """Return why a run may not start yet, '' where it may: only judges are developed on dev."""
    split = locked(selection)
    if split is None or not openings.unopened(split, [rater]):
        return ""
    covers = "covers" if selection.part else "includes"
    return (
        f"This run {covers} the test part of {selection.corpus.name} (split {split.name}), which is opened "
        f"once per judge, on purpose: say what it is opened for, for {rater.name} (“Open test for”, "
        "--open-test, open_test), or run it on dev."
    )


def judge_needs_opening(judge: Judge, selection: Selection) -> str:
    """Return the same for a judge as it is set up; nothing is kept of it."""
    if locked(selection) is None:
        return ""
    with transaction.atomic():
        refusal = needs_opening(judge.plan(selection.campaign).rater, selection)
        transaction.set_rollback(True)
    return refusal


def open_or_refuse(*, rater: Rater, selection: Selection, by: User | None, reason: str) -> None:
    """Open test for a judge whose run covers it; raise JudgeError where no reason is given for that."""
    refusal = needs_opening(rater, selection)
    if not refusal:
        return
    if not reason.strip():
        raise JudgeError(refusal)
    split = locked(selection)
    assert split is not None
    try:
        splits.fix(split=split, by=by)
        openings.open_for(split=split, raters=[rater], by=by, reason=reason)
    except SplitRefused as error:
        raise JudgeError(str(error)) from None
