"""Metrics as runs: values become labels, reasons become missing labels, texts are embedded once."""

from __future__ import annotations

import pytest

from annotation.models import Label, Rater
from judges import runs
from judges.errors import JudgeError
from judges.metric_runs import metric_plan
from judges.models import Embedding, Run
from judges.selection import Scope
from tests import factories
from tests.judges.helpers import finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedding]


def test_a_metric_labels_every_turn_and_each_text_is_embedded_once() -> None:
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, turns=3)
    lines = [{"text": "a boat"}, {"text": "a boat"}, {"text": ""}]
    factories.continuation(dialogue, "c", system="x", turns=lines)
    plan = metric_plan("m_sns_avg", corpus)
    run = runs.start(by=None, plan=plan, scope=Scope(corpus, include_self=True))
    finish("metrics")
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert plan.rater.kind == Rater.Kind.METRIC
    labels = Label.objects.filter(rater=plan.rater, question__version__scheme__key="metric:m_sns_avg")
    assert labels.count() == 6
    assert all((label.number is None) == bool(label.missing) for label in labels)
    assert labels.filter(number=None).exists()
    assert Embedding.objects.count() == 4


def test_an_unknown_metric_is_one_clear_line() -> None:
    with pytest.raises(JudgeError, match="There is no metric 'nothing'"):
        metric_plan("nothing", factories.corpus())
