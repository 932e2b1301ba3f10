"""Reports and live agreement exclude annotators excluded from gold, unless everyone is requested."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.campaigns import editing
from annotation.models import Label, Rater
from annotation.work import check_actions
from annotation.work.labels import name_of
from calibration import campaign_progress
from calibration.models import Study
from calibration.reports import tables
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.checks.world import campaign, work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    campaign_progress.moments.forget()
    monkeypatch.setattr(campaign_progress, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(campaign_progress, "REST", 0)


@pytest.fixture
def made():
    people = [factories.user(name) for name in ("ana", "ben", "cyd")]
    made = campaign(*people, check=2, main=6, check_every=2, opened=False)
    editing.change(by=made.created_by, campaign=made, raters_per_item=3)
    factories.campaigns.open(by=made.created_by, campaign=made)
    for n, person in enumerate(people):
        work(person, made, values=lambda given, n=n: 1 + (len(given) * (n + 1)) % 5)
    return made


@pytest.fixture
def without_cyd(made):
    cyd = Rater.objects.get(name="cyd").user
    check_actions.leave_out(by=made.created_by, campaign=made, user=cyd, reason="answers at random")
    return made


@pytest.fixture
def called(made):
    return {r.name: name_of(r, made.corpus_id) for r in Rater.objects.filter(user__isnull=False)}


def raters_of(made, **how):
    study = studies.automatic(corpus=made.corpus, campaign=made, **how)
    result = snapshot_of(studies.compute(study=study, part="all", by=None))
    return {row.name for row in tables.raters(result)}, result


@pytest.mark.exhaustive
def test_a_campaign_s_report_leaves_them_out_and_says_who_and_why(without_cyd, called):
    names, result = raters_of(without_cyd)
    assert names == {called["ana"], called["ben"]}
    (sentence,) = result.left_out
    assert called["cyd"] in sentence
    assert "answers at random" in sentence


@pytest.mark.exhaustive
def test_everyone_counts_in_a_report_of_its_own_and_no_label_goes(without_cyd, called):
    before = Label.objects.count()
    names, result = raters_of(without_cyd, everyone=True)
    assert names == set(called.values())
    assert result.left_out == ()
    assert raters_of(without_cyd)[0] == names - {called["cyd"]}
    assert Study.objects.filter(campaign=without_cyd, automatic=True).count() == 2
    assert Label.objects.count() == before


@pytest.mark.exhaustive
def test_who_is_taken_back_counts_again(without_cyd, called):
    study = studies.automatic(corpus=without_cyd.corpus, campaign=without_cyd)
    report = studies.compute(study=study, part="all", by=None)
    cyd = Rater.objects.get(name="cyd").user
    check_actions.readmit(by=without_cyd.created_by, campaign=without_cyd, user=cyd, reason="a mistake")
    assert studies.is_stale(report)
    assert raters_of(without_cyd)[0] == set(called.values())


@pytest.mark.exhaustive
def test_the_report_page_switches_between_the_two(without_cyd, client):
    client.force_login(without_cyd.created_by)
    address = reverse("campaign-report", args=[without_cyd.pk])
    page = client.get(address, follow=True).content.decode()
    assert "One person is left out, as in gold" in page
    assert f"{address}?everyone=1" in page
    page = client.get(f"{address}?everyone=1", follow=True).content.decode()
    assert "Everyone counts here" in page
    assert f'href="{address}"' in page


@pytest.mark.exhaustive
def test_without_anybody_left_out_nothing_is_said_of_it(made, client):
    client.force_login(made.created_by)
    page = client.get(reverse("campaign-report", args=[made.pk]), follow=True).content.decode()
    assert "Count everyone" not in page
    assert "left out, as in gold" not in page


@pytest.mark.exhaustive
def test_over_http_and_by_command_everyone_may_be_asked_for(without_cyd, client, called):
    client.force_login(without_cyd.created_by)
    address = f"/api/v1/campaigns/{without_cyd.pk}/report/"
    for query, n in (("", 2), ("?everyone=true", 3)):
        found = client.get(address + query).json()
        assert len(found["result"]["answered"]) == n
    out = StringIO()
    call_command("study", "--campaign", without_cyd.name, "--everyone", "--format", "json", stdout=out)
    assert {row["name"] for row in json.loads(out.getvalue())["answered"]} >= set(called.values())
    with pytest.raises(CommandError, match="leave_out"):
        call_command("study", "some", "--everyone")


@pytest.mark.exhaustive
def test_live_agreement_leaves_them_out_until_everyone_is_asked_for(without_cyd, client, called):
    client.force_login(without_cyd.created_by)
    address = f"/api/v1/campaigns/{without_cyd.pk}/watch/"
    told, everyone = (client.get(address + query).json() for query in ("", "?everyone=true"))
    assert told["left_out"][0] | {"since": ""} == {
        "annotator": called["cyd"],
        "since": "",
        "why": "answers at random",
    }
    (two,), (three,) = (one["agreement"]["questions"] for one in (told, everyone))
    assert two["statistics"][0]["n_raters"] == 2
    assert three["statistics"][0]["n_raters"] == 3
    page = client.get(reverse("campaign-watch", args=[without_cyd.pk])).content.decode()
    assert "1 person is left out of gold, and so here" in page
    page = client.get(reverse("campaign-watch", args=[without_cyd.pk]) + "?everyone=1").content.decode()
    assert "but counted here" in page


@pytest.mark.exhaustive
def test_the_watched_page_has_check_results_by_annotator(without_cyd, client, called):
    client.force_login(without_cyd.created_by)
    told = client.get(f"/api/v1/campaigns/{without_cyd.pk}/watch/").json()["checks"]
    assert {row["annotator"]: row["checks"] for row in told} == dict.fromkeys(called.values(), 2)
    assert all(0 <= row["score"] <= 1 for row in told)
    page = client.get(reverse("campaign-watch", args=[without_cyd.pk])).content.decode()
    assert "Training, test and checks" in page
