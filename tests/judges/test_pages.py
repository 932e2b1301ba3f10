"""Pages and API of runs and endpoints, and their permissions."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Label
from jobs import runs
from jobs.models import Call, Endpoint, Run
from judges.models import RunSet
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(factories.user(administrator=True))
    return client


def rules_run() -> Run:
    return begin(small_corpus(dialogues=1), Judge("rules_baseline"))


@pytest.mark.parametrize("name", ["new-run", "endpoints", "api-runs", "api-protocols", "api-endpoints"])
def test_annotators_may_not(client: Client, name: str) -> None:
    client.force_login(factories.user())
    assert client.get(reverse(name)).status_code == 403


@pytest.mark.parametrize("name", ["run", "run-progress", "api-run", "api-calls"])
def test_annotators_may_not_see_a_run(client: Client, name: str) -> None:
    client.force_login(factories.user())
    assert client.get(reverse(name, args=[rules_run().pk])).status_code == 403


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["cancel-run", "retry-run", "api-cancel-run", "api-retry-run"])
def test_annotators_may_not_change_a_run(client: Client, name: str) -> None:
    run = rules_run()
    client.force_login(factories.user())
    assert client.post(reverse(name, args=[run.pk])).status_code == 403
    run.refresh_from_db()
    assert run.state == Run.State.QUEUED


@pytest.mark.parametrize("name", ["endpoints", "api-endpoints"])
def test_researchers_may_not_set_up_endpoints_in_the_private_network(researcher: Client, name: str) -> None:
    fields = {"name": "x", "base_url": "http://localhost:1/v1", "model": "m", "allow_private": "on"}
    fields |= {"currency": "USD", "concurrency": "4", "timeout_s": "10", "active": "on"}
    researcher.post(reverse(name), fields)
    assert not Endpoint.objects.filter(allow_private=True).exists()


@pytest.mark.exhaustive
def test_a_researcher_starts_a_judge_and_watches_it(researcher: Client) -> None:
    corpus = small_corpus()
    page = reverse("new-run")
    assert researcher.get(page).headers["Location"] == reverse("corpora")
    address = f"{page}?corpus={corpus.pk}"
    assert researcher.get(address).status_code == 200
    form = {"judge-judge": "rules_baseline:", "judge-samples": "1"}
    response = researcher.post(address, form, follow=True)
    run = Run.objects.get()
    assert response.redirect_chain[-1][0] == reverse("run", args=[run.pk])
    assert "every 2s" in response.content.decode()
    finish()
    polled = researcher.get(reverse("run-progress", args=[run.pk]), headers={"HX-Request": "true"})
    assert json.loads(polled.headers["HX-Location"])["path"] == reverse("run", args=[run.pk])
    assert "every 2s" not in polled.content.decode()
    assert Label.objects.filter(rater=run.rater).count() == 2 * 6 * 10


def test_a_judge_without_its_endpoint_is_refused_in_one_line(researcher: Client) -> None:
    address = f"{reverse('new-run')}?corpus={small_corpus().pk}"
    form = {"judge-judge": "cpdscore_detail:without_reference", "judge-samples": "1"}
    response = researcher.post(address, form)
    assert response.status_code == 422
    assert "choose an endpoint" in response.content.decode()


def test_metrics_start_one_run_each(researcher: Client) -> None:
    corpus = small_corpus()
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    form = {"judge-metrics": ["m_sns_avg", "m_sns_min"], "judge-metric_keys": "m_sns_min"}
    started = researcher.post(address, form)
    assert started.headers["Location"] == reverse("run-set", args=[RunSet.objects.get().pk])
    assert Run.objects.filter(queue="metrics").count() == 2


@pytest.mark.exhaustive
def test_a_run_may_be_limited_to_dev_where_the_corpus_is_split(researcher: Client) -> None:
    corpus = small_corpus(dialogues=4)
    page = f"{reverse('new-run')}?corpus={corpus.pk}"
    assert b'name="judge-part"' not in researcher.get(page).content
    splits.draw(corpus=corpus, by=None)
    assert b'name="judge-part"' in researcher.get(page).content
    form = {"judge-judge": "rules_baseline:", "judge-samples": "1", "judge-part": "dev"}
    run = Run.objects.get(pk=int(researcher.post(page, form).headers["Location"].strip("/").split("/")[-1]))
    assert run.calls.count() == 2
    shown = researcher.get(reverse("run", args=[run.pk])).content.decode()
    assert "<dt>Part</dt><dd>dev</dd>" in shown


@pytest.mark.exhaustive
def test_a_run_is_cancelled_and_resumed_from_its_page(researcher: Client) -> None:
    run = rules_run()
    researcher.post(reverse("cancel-run", args=[run.pk]))
    run.refresh_from_db()
    assert run.state == Run.State.CANCELLED
    assert "Resume" in researcher.get(reverse("run", args=[run.pk])).content.decode()
    researcher.post(reverse("retry-run", args=[run.pk]))
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def test_raw_replies_are_shown_escaped(researcher: Client) -> None:
    run = rules_run()
    run.calls.update(state=Call.State.FAILED, error="<b>bad</b>", reply="<script>alert(1)</script>")
    runs.settle(run.pk)
    page = researcher.get(reverse("run", args=[run.pk])).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "&lt;b&gt;bad" in page


def test_the_list_needs_no_more_queries_for_more_runs(
    researcher: Client, django_assert_max_num_queries: object
) -> None:
    corpus = small_corpus(dialogues=1)
    for samples in range(1, 5):
        begin(corpus, Judge("rules_baseline"), samples=samples)
    with django_assert_max_num_queries(15):  # type: ignore[operator]
        assert researcher.get(reverse("corpus-judges", args=[corpus.name])).status_code == 200


@pytest.mark.exhaustive
def test_the_api_starts_shows_cancels_and_lists(researcher: Client, fake: FakeLLM) -> None:
    corpus, endpoint = small_corpus(), endpoint_of(fake)
    body = {"corpus": corpus.name, "protocol": "cpdscore_detail", "endpoint": endpoint.name}
    made = researcher.post(reverse("api-runs"), body, content_type="application/json")
    assert made.status_code == 201, made.content
    finish()
    run = made.json()["id"]
    shown = researcher.get(reverse("api-run", args=[run])).json()
    assert (shown["state"], shown["progress"]["done"]) == ("done", 12)
    calls = researcher.get(reverse("api-calls", args=[run]), {"state": "done"}).json()
    assert calls["count"] == 12
    assert "Humanness" in calls["results"][0]["reply"]
    splits.draw(corpus=corpus, by=None)
    made = researcher.post(reverse("api-runs"), body | {"part": "dev"}, content_type="application/json")
    assert made.json()["scope"]["part"] == "dev"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"protocol": "rules_baseline"}, "either a corpus or a campaign"),
        ({"corpus": "none", "protocol": "rules_baseline"}, "There is no corpus 'none'."),
        ({"corpus": "none"}, "either a metric, or a protocol or a prompt"),
        ({"corpus": "none", "metric": "m", "protocol": "p"}, "either a metric, or a protocol or a prompt"),
    ],
)
def test_the_api_says_what_is_wrong_with_a_run(researcher: Client, body: dict[str, str], why: str) -> None:
    response = researcher.post(reverse("api-runs"), body, content_type="application/json")
    assert response.status_code == 400
    assert why in response.content.decode()


def test_an_administrator_adds_an_endpoint_and_the_key_is_never_shown(
    administrator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    fields = {
        "name": "local",
        "base_url": "http://localhost:9/v1",
        "model": "m",
        "key_env": "SOME_API_KEY",
        "currency": "USD",
        "concurrency": "4",
        "timeout_s": "10",
        "active": "on",
    }
    page = administrator.post(reverse("endpoints"), fields, follow=True).content.decode()
    assert "key in SOME_API_KEY" in page
    assert "sk-very-secret" not in page


@pytest.mark.parametrize("key", ["CONCORD_SECRET_KEY", "DATABASE_URL", "PATH", "some_key"])
def test_no_other_variable_can_be_named_as_a_key(administrator: Client, key: str) -> None:
    body = {"name": "x", "base_url": "http://localhost:9/v1", "model": "m", "key_env": key}
    response = administrator.post(reverse("api-endpoints"), body, content_type="application/json")
    assert response.status_code == 400
    assert not Endpoint.objects.exists()


def test_an_endpoint_of_the_environment_is_not_changed_on_the_page(
    administrator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORD_ENDPOINT_MY_VLLM", "http://localhost:9/v1|llama|VLLM_API_KEY|0.1|0.2")
    page = administrator.get(reverse("endpoints")).content.decode()
    assert "my-vllm" in page
    endpoint = Endpoint.objects.get()
    body = {"model": "other"}
    address = reverse("api-endpoint", args=[endpoint.pk])
    response = administrator.patch(address, body, content_type="application/json")
    assert response.status_code == 400
    assert "declared in the environment" in response.content.decode()
