"""Metrics as runs: values become labels, reasons become missing labels, texts are embedded once."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Label, Rater
from jobs.models import Run
from judges.errors import JudgeError
from judges.metrics import Tools, content_hash, corpus_hash
from judges.models import Embedding
from judges.runs import material, metric_calls, run_actions
from judges.runs import metric_calls as metric_plans
from judges.runs.material import contents, whole_corpus
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import Selection
from tests import factories
from tests.judges.helpers import finish
from tests.metrics.helpers import tools

pytestmark = pytest.mark.django_db(transaction=True)


def counting() -> Tools:
    """Tools whose embedder counts words, and keeps what it counted in the database as a model's vectors."""
    told = tools()
    told.embed.store = material.DatabaseStore()
    return told


@pytest.mark.parametrize(
    "counts",
    [True, pytest.param(False, marks=[pytest.mark.embedding, pytest.mark.exhaustive])],
    ids=["words", "model"],
)
def test_a_metric_labels_every_turn_and_each_text_is_embedded_once(
    counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    material.tools.cache_clear()  # what another test embedded is not remembered
    if counts:
        counter = counting()
        for module in (metric_calls, metric_plans):
            monkeypatch.setattr(module, "tools", lambda: counter)
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, turns=3)
    lines = [{"text": "a boat"}, {"text": "a boat"}, {"text": ""}]
    factories.continuation(dialogue, "c", system="x", turns=lines)
    plan = metric_plan("m_sns_avg", corpus)
    run = run_actions.start(by=None, plan=plan, selection=Selection(corpus, include_self=True))
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


def test_a_corpus_has_the_hash_of_its_dialogues_however_it_is_read() -> None:
    corpus = factories.corpus()
    told = factories.dialogue(corpus, turns=3)
    factories.continuation(told, "a first", system="x", turns=[{"text": "é\n"}, {"text": ""}])
    static = [{"text": "one", "at": 1}, {"text": "two", "at": 2}]
    factories.continuation(told, "z last", system="y", turns=static, mode="static")
    factories.continuation(told, "nothing", system="y", turns=[])
    factories.dialogue(corpus, turns=0)
    factories.continuation(factories.dialogue(corpus, turns=0), "self", system="human", turns=[])
    assert content_hash(contents(corpus.pk)) == corpus_hash(whole_corpus(corpus.pk))


def test_a_corpus_is_hashed_once_for_all_metrics_that_learn(monkeypatch) -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    read: list[int] = []
    monkeypatch.setattr(
        "judges.runs.metric_calls.contents", lambda pk, *of: read.append(pk) or contents(pk, *of)
    )
    plans = metric_plans.metric_plans(["daf", "pf", "ls_ta", "tes"], corpus)
    assert read == [corpus.pk]
    assert len({plan.rater.spec.get("fitted_on") for plan in plans}) == 2


def test_a_run_says_that_its_model_is_being_loaded_until_the_first_call_is_done(client) -> None:
    client.force_login(factories.user(researcher=True))
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    scope = Selection(corpus, include_self=True)
    for key, said in (("m_sns_avg", True), ("lnr", False)):
        run = run_actions.start(by=None, plan=metric_plan(key, corpus), selection=scope)
        assert "Loading the model" not in client.get(reverse("run", args=[run.pk])).content.decode()
        run.calls.update(state="leased", lease_expires=timezone.now())
        Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
        for name in ("run", "run-progress"):
            page = client.get(reverse(name, args=[run.pk])).content.decode()
            assert ("Loading the model" in page) is said
        run.calls.update(state="done")
        assert "Loading the model" not in client.get(reverse("run", args=[run.pk])).content.decode()
