"""Checks are configured, keyed, read and decided by page and API alike."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.models import Assignment, CheckPlan, Item, KeyTask, Label, Rater, Standing
from calibration.campaign_checks import render_results
from tests import factories
from tests.checks.world import RIGHT, campaign, work


@pytest.fixture
def rosa(db):
    return factories.user("rosa", researcher=True)


@pytest.fixture
def made(rosa):
    return campaign(factories.user("ana"), main=6, check=2, opened=False, check_every=3)


def test_a_task_is_answered_as_its_key_on_the_page(made, rosa, client):
    client.force_login(rosa)
    page = client.get(reverse("campaign-checks-new-key", args=[made.pk]))
    about = page.context["about"]
    item = Item.objects.get(kind="turn", continuation__dialogue__key="main", turn__position=0)
    told = {
        "about": about,
        "occasion": "training",
        f"{item.public}-overall": ["4", "5"],
        "explanation": "Why.",
    }
    client.post(reverse("campaign-checks-new-key", args=[made.pk]), told)
    key = KeyTask.objects.get(occasion="training")
    assert key.answers.get().values == [4.0, 5.0]
    assert key.task.item == item
    edit = reverse("campaign-checks-key", args=[made.pk, key.pk])
    client.post(edit, {f"{item.public}-overall": "3", f"{item.public}-overall-near": "1"})
    assert (key.answers.get().values, key.answers.get().tolerance) == ([3.0], 1.0)
    assert client.post(edit, {f"{item.public}-overall-near": "x"}).status_code == 422
    client.post(edit, {"verb": "retire"})
    assert not KeyTask.objects.filter(occasion="training").exists()


def test_what_the_campaign_asks_about_is_offered_as_a_key_first(rosa, client):
    corpus = factories.corpus()
    for key in ("d1", "d2"):
        own = factories.dialogue(corpus, key, turns=2)
        for system in ("x", "y"):
            factories.continuation(own, system, system=system, turns=[{"text": f"{key} by {system}"}])
    made = factories.campaign(corpus, by=rosa, opened=False, systems=list(corpus.systems.filter(name="y")))
    client.force_login(rosa)
    address = reverse("campaign-checks-new-key", args=[made.pk])
    offered = []
    for _ in range(3):
        offered.append(about := client.get(address).context["about"])
        item = Item.objects.get(continuation__key=about.split("/")[1], continuation__dialogue__key=about[:2],
                                turn__position=0)  # fmt: skip
        client.post(address, {"about": about, "occasion": "check", f"{item.public}-overall": "4"})
    assert offered == ["d1/y/0", "d2/y/0", "d1/self/0"]


@pytest.mark.exhaustive
def test_settings_are_checked_at_their_field(made, rosa, client):
    client.force_login(rosa)
    address = reverse("campaign-checks", args=[made.pk])
    form = client.get(address).context["form"]
    told = {name: form[name].value() for name in form.fields}
    told = {name: "" if value is None else value for name, value in told.items()}
    assert client.post(address, told | {"least": 30, "window": 20}).status_code == 422
    assert client.post(address, told | {"pause_below": "62.5", "check_every": "7"}).status_code == 302
    plan = CheckPlan.objects.get(campaign=made)
    assert (plan.pause_below, plan.check_every) == (0.625, 7)


@pytest.mark.exhaustive
def test_programs_key_tasks_from_answers_and_one_by_one(made, rosa, client):
    client.force_login(rosa)
    expert = Rater.objects.create(kind="key", name="expert", corpus=made.corpus)
    question = made.scheme_version.questions.get(key="overall")
    for item in Item.objects.filter(kind="turn", continuation__dialogue__key="main"):
        Label.objects.create(item=item, question=question, rater=expert, occasion="imported", number=2)
    told = {"source": "rater:expert", "occasion": "check", "most": 2, "tolerance": 1}
    answer = client.post(
        reverse("api-check-keys-from", args=[made.pk]), told, content_type="application/json"
    )
    assert answer.json() == {"tasks": 2}
    refused = client.post(
        reverse("api-check-keys-from", args=[made.pk]),
        told | {"source": "rater:nobody"},
        content_type="application/json",
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "campaign_refused")
    taken = {key["about"] for key in client.get(reverse("api-check-keys", args=[made.pk])).json()["keys"]}
    free = next(f"main/self/{n}" for n in range(6) if f"main/self/{n}" not in taken)
    one = {"about": free, "occasion": "training", "answers": [{"question": "overall", "values": [4]}]}
    address = reverse("api-check-keys", args=[made.pk])
    assert client.post(address, one, content_type="application/json").status_code == 201
    assert client.post(address, one, content_type="application/json").status_code == 422


@pytest.mark.exhaustive
def test_programs_set_up_key_decide_and_read_the_results(made, rosa, client):
    client.force_login(rosa)
    settings = {"pause_below": 0.6, "least": 1}
    client.patch(reverse("api-checks", args=[made.pk]), settings, content_type="application/json")
    assert CheckPlan.objects.get().pause_below == 0.6
    keys = reverse("api-check-keys", args=[made.pk])
    key = {
        "about": "main/self/0",
        "occasion": "check",
        "answers": [{"question": "overall", "values": [RIGHT]}],
    }
    assert client.post(keys, key, content_type="application/json").status_code == 201
    assert len(client.get(keys).json()["keys"]) == 3
    again = client.post(keys, key, content_type="application/json").json()
    assert "This has a key" in again["detail"]
    factories.campaigns.open(by=rosa, campaign=made)
    ana = made.members.get().user
    work(ana, made)
    (row,) = csv.DictReader(io.StringIO(render_results(made, "csv")))
    given = Assignment.objects.filter(occasion="check", state="submitted").count()  # where is drawn by ids
    assert given in (2, 3)
    assert (row["annotator"], row["score"], row["checks"]) == (factories.called(ana, made), "1.0", str(given))
    people = reverse("api-check-people", args=[made.pk])
    decision = {"annotator": factories.called(ana, made), "verb": "pause", "reason": "talk first"}
    assert client.post(people, decision, content_type="application/json").status_code == 204
    assert Standing.objects.get(user=ana).paused_why == "talk first"
    refused = client.post(people, decision, content_type="application/json").json()
    assert "paused already" in refused["detail"]


@pytest.mark.exhaustive
def test_the_page_and_the_files_tell_scores_with_intervals(made, rosa, client):
    client.force_login(rosa)
    factories.campaigns.open(by=rosa, campaign=made)
    work(made.members.get().user, made)
    page = client.get(reverse("campaign-checks", args=[made.pk]))
    (person,) = page.context["people"]
    assert (person.n_checks, person.score.value) == (2, 1.0)
    told = client.get(reverse("campaign-checks-file", args=[made.pk, "json"])).json()
    assert told["people"][0]["score"] == 1.0
    results = client.get(reverse("api-check-results", args=[made.pk])).json()
    assert results["people"][0]["checks"] == 2
