"""Outcomes of a run: values or none, and values of limited meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from calibration.ratings.calls import doubtful
from calibration.ratings.scope import scope_of
from calibration.reports.sentences import caveats
from jobs.models import Run
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.plans import Judge
from judges.runs.selection import Selection
from tests import factories
from tests.calibration.snapshots import snapshot
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
CHINESE = ("我们明天早上去公园散步吧", "好的，记得带上雨伞和面包", "没有问题，再见")


def measured(corpus: Corpus, key: str = "m_sns_avg") -> Run:
    run = run_actions.start(by=None, plan=metric_plan(key, corpus), selection=Selection(corpus))
    finish("metrics")
    run.refresh_from_db()
    return run


def chinese() -> Corpus:
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, turns=1, language="zh")
    factories.continuation(dialogue, "c", system="x", turns=[{"text": text} for text in CHINESE])
    return corpus


def test_a_run_without_any_value_says_so_and_why(client: Client, fake: FakeLLM) -> None:
    corpus = small_corpus()
    judge = Judge("cpdscore_simple", "with_reference", endpoint=endpoint_of(fake))
    run = begin(corpus, judge)
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == (Run.State.DONE, 0, 2 * 6 * 6)
    assert run.missing_reason == "no reference response"
    client.force_login(factories.user(researcher=True))
    assert "done, no values" in client.get(reverse("corpus-judges", args=[run.corpus.name])).content.decode()
    page = client.get(reverse("run", args=[run.pk])).content.decode()
    assert "all 72 answers are missing. Most common reason: no reference response." in page
    shown = client.get(reverse("api-run", args=[run.pk])).json()["progress"]
    assert (shown["values"], shown["missing_reason"]) == (0, "no reference response")


def test_a_run_with_some_values_is_plainly_done(client: Client) -> None:
    run = begin(small_corpus(), Judge("rules_baseline"))
    finish()
    run.refresh_from_db()
    assert (run.values, run.missing) == (2 * 6 * 9, 2 * 6)
    client.force_login(factories.user(researcher=True))
    assert "no values" not in client.get(reverse("corpus-judges", args=[run.corpus.name])).content.decode()


@pytest.mark.exhaustive
def test_values_about_text_that_the_model_cannot_read_are_flagged_everywhere(client: Client) -> None:
    corpus = chinese()
    run = measured(corpus)
    assert run.values == 3, "the values stand"
    (flag,) = run.calls.get().flags
    assert "tokens are unknown to the model" in flag
    client.force_login(factories.user(researcher=True))
    assert flag in client.get(reverse("run", args=[run.pk])).content.decode()
    profile = client.get(reverse("profile", args=[corpus.pk])).content.decode()
    assert f"m_sns_avg@paper: 1 of 1 conversations ({flag})" in profile
    rows = doubtful(scope_of(corpus, None), {run.rater_id: run.rater.name})
    assert [(row.rater, row.doubtful, row.calls) for row in rows] == [("m_sns_avg@paper", 1, 1)]
    told = caveats(snapshot(calls=rows))
    assert any("m_sns_avg@paper is unreliable on 1 of 1 conversations" in sentence for sentence in told)


@pytest.mark.exhaustive
def test_english_text_is_flagged_nowhere(client: Client) -> None:
    corpus = small_corpus()
    run = measured(corpus)
    assert list(run.calls.exclude(flags=[])) == []
    client.force_login(factories.user(researcher=True))
    assert "can hardly read" not in client.get(reverse("profile", args=[corpus.pk])).content.decode()


def test_score_flags_what_the_model_cannot_read(tmp_path: Any) -> None:
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    turns = [{"speaker": "AB"[i % 2], "text": text} for i, text in enumerate(CHINESE)]
    english = [{"speaker": "A", "text": "Good morning to you."}, {"speaker": "B", "text": "And to you."}]
    records = [{"id": "zh", "turns": turns}, {"id": "en", "turns": english}]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    call_command("score", str(path), "--output", str(output), "--metrics", "m_sns_avg")
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert {line["dialogue"] for line in lines if "flag" in line} == {"zh"}
    assert any(line["value"] is not None for line in lines if "flag" in line)
