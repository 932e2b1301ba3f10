"""Related data is deleted as one set; if remaining data refers to it, nothing is deleted."""

from __future__ import annotations

import pytest

from annotation.corpora.deletion import StillUsed, purge
from annotation.models import Continuation, Rater, System
from jobs.models import Call, Run
from judges.runs import run_actions
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    corpus = factories.corpus("talks")
    for number in range(3):
        factories.dialogue(corpus, f"d{number}", turns=2)
    return run_actions.start(by=None, plan=Judge("rules_baseline").plan(None), selection=Selection(corpus))


def test_a_system_stays_while_any_of_its_continuations_does(run: Run) -> None:
    most = Continuation.objects.order_by("pk")[:2].values("pk")
    with pytest.raises(StillUsed, match="continuations that stay refer to systems"):
        purge([Continuation.objects.filter(pk__in=most), System.objects.all()])
    assert Continuation.objects.count() == 3


def test_a_rater_stays_while_a_run_that_is_not_to_go_is_its_own(run: Run) -> None:
    with pytest.raises(StillUsed, match="runs that stay refer to raters"):
        purge([Call.objects.all(), Rater.objects.filter(pk=run.rater_id)])


def test_a_rater_goes_with_its_runs_and_all_their_calls(run: Run) -> None:
    gone = purge([Run.objects.filter(pk=run.pk), Rater.objects.filter(pk=run.rater_id)])
    assert (gone["jobs_call"], gone["jobs_run"], gone["annotation_rater"]) == (3, 1, 1)
    assert not Call.objects.exists()
