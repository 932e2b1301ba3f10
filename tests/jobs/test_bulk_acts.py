"""Acts on several selected rows: each is changed or refused by itself, with the rights of its own act."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign, CampaignRole
from jobs.models import Job
from tests import factories

pytestmark = pytest.mark.django_db


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def page() -> Client:
    return client_of(factories.user("rosa", researcher=True))


def job(state: str) -> Job:
    return Job.objects.create(kind="export", subject=f"a {state} file", state=state)


def states(*jobs: Job) -> list[str]:
    return [Job.objects.get(pk=row.pk).state for row in jobs]


def post_json(client: Client, address: str, **data):
    return client.post(f"/api/v1/{address}", data, content_type="application/json")


def test_the_list_says_what_was_done_and_what_was_refused_and_why(page: Client) -> None:
    failed, done = job("failed"), job("done")
    back = "/jobs/?sort=job&text=file"
    data = {"verb": "retry", "selected": [failed.pk, done.pk, failed.pk], "back": back}
    response = page.post("/jobs/changes/", data, follow=True)
    assert response.redirect_chain == [(back, 302)]
    assert states(failed, done) == ["queued", "done"]
    text = response.content.decode()
    assert "1 job queued again." in text
    assert f"Job {done.pk} (export) was not queued again. The job is done: only one that failed" in text


@pytest.mark.parametrize(
    "data", [{"verb": "retry"}, {"selected": ["1"]}, {"verb": "<b>", "selected": ["x\0", "-1", "9" * 40]}]
)
def test_a_form_that_says_too_little_changes_nothing(page: Client, data: dict) -> None:
    failed = job("failed")
    response = page.post("/jobs/changes/", data | {"back": "/jobs/"}, follow=True)
    assert "Nothing changed: select at least one job" in response.content.decode()
    assert states(failed) == ["failed"]


@pytest.mark.parametrize("back", ["", "https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_a_bulk_act_returns_to_pages_of_concord_only(page: Client, back: str) -> None:
    response = page.post("/jobs/changes/", {"verb": "retry", "selected": [1], "back": back})
    assert response["Location"] == "/"


def test_a_list_says_it_over_the_page_where_only_the_list_is_exchanged(page: Client) -> None:
    failed = job("failed")
    data = {"verb": "retry", "selected": [failed.pk], "back": "/jobs/"}
    text = page.post("/jobs/changes/", data, follow=True, headers={"HX-Request": "true"}).content.decode()
    assert 'id="messages"' in text
    assert 'class="toast-container position-fixed' in text
    assert 'hx-select-oob="#messages"' in text


def test_programs_get_the_same(page: Client) -> None:
    failed, done = job("failed"), job("done")
    response = post_json(page, "jobs/changes/", verb="retry", ids=[failed.pk, done.pk, 10**9])
    assert response.status_code == 200
    answer = response.json()
    assert answer["done"] == [failed.pk]
    assert [row["id"] for row in answer["refused"]] == [done.pk, 10**9]
    assert answer["refused"][0]["reason"].startswith("The job is done")
    assert answer["refused"][1]["reason"] == f"There is no job {10**9} that you may change."
    for wrong in (
        {"verb": "delete", "ids": [1]},
        {"verb": "retry", "ids": []},
        {"verb": "retry", "ids": ["x"]},
    ):
        assert post_json(page, "jobs/changes/", **wrong).status_code == 400


def test_a_campaigns_own_researcher_changes_no_other_campaign(page: Client) -> None:
    rosa = factories.user("boss", researcher=True)
    corpus = factories.corpus("talks")
    factories.dialogue(corpus)
    own, other = (factories.campaign(corpus, by=rosa) for _ in range(2))
    mia = factories.user("mia")
    CampaignRole.objects.create(campaign=own, user=mia, role=CampaignRole.Role.RESEARCHER)
    data = {"verb": "close", "selected": [own.pk, other.pk], "back": "/campaigns/"}
    text = client_of(mia).post("/campaigns/changes/", data, follow=True).content.decode()
    assert "1 campaign closed." in text
    assert f"There is no campaign {other.pk} that you may change." in text
    assert other.name not in text
    assert Campaign.objects.get(pk=own.pk).state == "closed"
    assert Campaign.objects.get(pk=other.pk).state == "open"
    answer = post_json(client_of(mia), "campaigns/changes/", verb="archive", ids=[own.pk, other.pk]).json()
    assert answer["done"] == [own.pk]
    assert client_of(factories.user("ann")).post("/campaigns/changes/", data).status_code == 403
    assert (
        post_json(client_of(factories.user("ben")), "campaigns/changes/", verb="close", ids=[1]).status_code
        == 403
    )


def test_annotators_change_no_jobs_and_no_runs() -> None:
    failed = job("failed")
    client = client_of(factories.user("ann"))
    for kind in ("jobs", "runs"):
        assert client.post(f"/{kind}/changes/", {"verb": "retry", "selected": [failed.pk]}).status_code == 403
        assert post_json(client, f"{kind}/changes/", verb="retry", ids=[failed.pk]).status_code == 403
    assert states(failed) == ["failed"]
