"""Fixture for API tests: one object of each kind that the API covers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils import timezone

TOKEN = "x" * 40


@pytest.fixture(scope="module")
def one_of_each(module_database: None) -> Iterator[dict[str, object]]:
    """Yield ids by the first part of a route's path, and by their names in request bodies."""
    # The project is loaded after this file.
    from annotation.corpora import splits
    from annotation.models import ApiToken
    from annotation.people import accounts
    from annotation.work import task_actions as labelling
    from calibration.gold import derivation
    from calibration.models import Export
    from calibration.studies import study_actions as studies
    from jobs.models import Endpoint
    from judges.runs import run_actions
    from judges.runs.metric_calls import metric_plan
    from judges.runs.selection import Selection
    from tests import factories
    from tests.calibration.world import world
    from tests.suites.collecting.inventories import draw_set

    person = factories.user("root", administrator=True, researcher=True)
    ApiToken.objects.create(
        user=person,
        name="tests",
        scope="write",
        key_hash=accounts.hash_of(TOKEN),
        expires_at=timezone.now() + timedelta(days=1),
    )
    built = world("talks", dialogues=3, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name, values in (("ann", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), ("ben", [1.0, 2.0, 3.0, 1.0, 3.0, 3.0])):
        built.say(name, "quality", values)
    built.ask("off_topic", "binary", [0, 1], positive=1)
    built.say("gpt", "off_topic", [0.0, 1.0, 0.0, 0.0, 1.0, 1.0], kind="judge")
    corpus = built.corpus
    splits.draw(corpus=corpus, by=person)
    campaign = factories.campaign(corpus, annotators=[person], by=person)
    _, hold = labelling.start(by=person, campaign=campaign.pk)
    assert hold is not None
    study = studies.create(name="ours", corpus=corpus, definition={"resamples": 20}, by=person)
    chosen = derivation.make(
        corpus=corpus,
        campaign=None,
        scheme_version=built.questions["quality"].version,
        rule="majority",
        by=person,
    )
    run = run_actions.start(by=person, plan=metric_plan("dnr", corpus), selection=Selection(corpus))
    Export.objects.create(corpus=corpus, format="csv", rows=1, sha256="0" * 64, created_by=person)
    endpoint = Endpoint.objects.create(name="fake", base_url="http://127.0.0.1:9/v1", model="m")
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)  # all requests share the test's transaction
    yield {
        "corpora": corpus.pk,
        "dialogues": corpus.dialogues.values_list("pk", flat=True)[0],
        "campaigns": campaign.pk,
        "work": campaign.pk,
        "assignment": hold.assignment,
        "studies": study.pk,
        "gold": chosen.pk,
        "runs": run.pk,
        "endpoints": endpoint.pk,
        "personas": draw_set().pk,
    }
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
