"""The metric `constraints` as a run: labels of a scheme, compliance in the profile and in Counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotation.models import Continuation, Corpus, Label, Rater
from calibration.comparisons import metric_causes, profiles
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import compute
from jobs.models import Run
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import Selection
from tests import factories
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {"kept": ("Ana", "Ben", "Cara", "Ana"), "broken": ("Ana", "Ana", "Zed", "Ana")}


def made(per_system: int = 6) -> Corpus:
    corpus = factories.corpus("talks")
    for number in range(per_system):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        dialogue.participants = [{"id": name, "name": name} for name in ("Ana", "Ben", "Cara")]
        dialogue.save()
        for system, speakers in SAID.items():
            said = speakers if number else SAID["kept"]
            lines = [{"text": "tea", "speaker": who} for who in said]
            one = factories.continuation(dialogue, system, system=system, turns=lines)
            condition = {"turns": 4, "min_each": 1, "max_in_a_row": 1}
            Continuation.objects.filter(pk=one.pk).update(condition=condition)
    return corpus


def ran(corpus: Corpus, key: str = "constraints") -> Run:
    run = run_actions.start(by=None, plan=metric_plan(key, corpus), selection=Selection(corpus))
    finish("metrics")
    run.refresh_from_db()
    return run


def test_each_constraint_is_a_label_and_compliance_is_in_profile_and_counts(client: Client) -> None:
    corpus = made()
    run = ran(corpus)
    assert run.state == "done"
    rater = Rater.objects.get(pk=run.rater_id)
    assert (rater.kind, rater.name) == ("metric", "constraints@counted")
    told = {
        (label.item.continuation.system.name, label.question.key): label
        for label in Label.objects.filter(rater=rater).select_related(
            "item__continuation__system", "question__version__scheme"
        )
    }
    broken = {key: label.number for (system, key), label in told.items() if system == "broken"}
    assert broken == {
        "constraints": 0.25,
        "listed_speakers": 0.0,
        "turn_count": 1.0,
        "everyone_speaks": 0.0,
        "max_in_a_row": 0.0,
        "addressee_named": None,
    }
    assert told["broken", "addressee_named"].missing == "addressees were not asked for"
    label = told["broken", "max_in_a_row"]
    assert label.question.version.scheme.key == "conversation_constraints"
    assert json.loads(label.explanation) == {"violations": 1, "places": "turns 1 and 2"}

    (panel,) = profiles.profile(corpus)
    assert (panel.title, [c.name for c in panel.columns]) == (
        "Conversations: constraints",
        ["constraints@counted"],
    )
    means: dict[str, Any] = {row.system: (row.cells[0].n, row.cells[0].mean) for row in panel.rows}
    assert means == {"kept": (6, 1.0), "broken": (6, 0.375)}
    _, values = metric_causes.values(Continuation.objects.filter(key="broken").last())
    assert values[0].metric == "constraints@counted"
    assert ("constraints@counted max_in_a_row", ("at turns 1 and 2", "violations: 1")) in [
        (v.metric, v.causes) for v in values
    ]

    asked = {"rater": rater.name, "by": "system", "resamples": "200"}
    counted = compute(query=read(asked, corpus, None), by=None)
    assert [question.key for question in counted.selection.questions][:2] == ["listed_speakers", "turn_count"]
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/corpora/{corpus.pk}/counts/?rater=constraints@counted&questions=constraints")
    assert page.status_code == 200
    told_over_http = client.get(
        f"/api/v1/corpora/{corpus.pk}/counts/?rater=constraints@counted&questions=constraints&resamples=200"
    ).json()
    cells = {row["by"]["system"]: row["cells"]["constraints"] for row in told_over_http["rows"]}
    assert cells["kept"]["value"] == 1.0
    assert cells["broken"]["value"] == 0.375
    assert cells["broken"]["low"] <= 0.375 < cells["broken"]["high"]
