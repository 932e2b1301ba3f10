"""A large report is a job: computed once, with progress, and with the reason if it fails."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Label, Occasion, Rater
from annotation.work.labels import Answer, record
from calibration.models import Report, Study
from calibration.reports.sentences import caveats
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from jobs.models import Job
from jobs.queue import jobs as queue
from tests.calibration.world import world
from tests.factories import user
from tests.jobs.work import work_off


def _study() -> Study:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    return studies.automatic(corpus=built.corpus)


@pytest.mark.django_db(transaction=True)
def test_a_large_report_is_computed_beside_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "SMALL", 0)
    study = _study()
    client.force_login(user(researcher=True))
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    assert "Computing the report" in page
    job = Job.objects.get()
    assert (
        "Waiting for a worker"
        in client.get(reverse("report-progress", args=[study.pk, job.pk])).content.decode()
    )
    work_off()
    job.refresh_from_db()
    assert (job.state, job.done, job.total) == ("done", 1, 1)
    answer = client.get(reverse("report-progress", args=[study.pk, job.pk]))
    assert answer["HX-Redirect"] == reverse("report", args=[study.pk]) + "?part=all"
    assert "How well do people agree" in client.get(reverse("report", args=[study.pk])).content.decode()
    assert Report.objects.get().pk == job.result["report"]


@pytest.mark.django_db
def test_one_computation_at_a_time_per_study_and_part() -> None:
    study = _study()
    job = studies.start(study=study, part="all", by=None)
    assert studies.start(study=study, part="all", by=None) == job == studies.under_way(study, "all")


@pytest.mark.django_db(transaction=True)
def test_a_report_whose_worker_was_lost_is_computed_all_the_same() -> None:
    study = _study()
    job = studies.start(study=study, part="all", by=None)
    queue.claim(worker="lost")
    assert queue.release(worker="lost") == 1
    work_off()
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("done", 2)
    assert Report.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_computation_that_is_refused_says_why() -> None:
    study = _study()
    study.definition = {"raters": ["nobody"]}
    study.save()
    job = studies.start(study=study, part="all", by=None)
    work_off()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "no rater 'nobody'" in job.error


@pytest.mark.django_db
def test_the_progress_of_one_study_is_not_shown_under_another(client: Client) -> None:
    study = _study()
    other = studies.create(name="other", corpus=study.corpus, definition={}, by=None)
    job = studies.start(study=study, part="all", by=None)
    client.force_login(user(researcher=True))
    assert client.get(reverse("report-progress", args=[other.pk, job.pk])).status_code == 404


def _label_more(study: Study) -> None:
    """Have somebody else answer what was answered."""
    label = Label.objects.filter(rater__name="ann").earliest("pk")
    cleo = Rater.objects.create(corpus=study.corpus, kind="human", name="cleo")
    record(rater=cleo, answers=[Answer(label.item, label.question, 2.0, "")], occasion=Occasion.IMPORTED)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_large_report_stays_while_labels_arrive_and_a_new_one_is_computed_on_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "SMALL", 0)
    study = _study()
    client.force_login(user(researcher=True))
    page, api = reverse("report", args=[study.pk]), reverse("api-report", args=[study.pk])
    assert client.get(api).status_code == 202
    work_off()
    first = client.get(api).json()
    assert (first["labels_since"], first["computing"]) == (False, None)
    assert "Labels came in since" not in client.get(page).content.decode()

    _label_more(study)
    answer = client.get(api)
    assert (answer.status_code, answer.json()["id"]) == (200, first["id"])
    assert (answer.json()["labels_since"], answer.json()["computing"]) == (True, None)
    assert answer.json()["created_at"] == first["created_at"]
    shown = client.get(page).content.decode()
    assert "How well do people agree" in shown
    assert "Labels came in since" in shown
    assert not Job.objects.exclude(state="done").exists(), "looking starts nothing"

    assert client.post(reverse("api-recompute", args=[study.pk])).status_code == 202
    answer = client.get(api)
    assert (answer.status_code, answer.json()["id"]) == (200, first["id"])
    assert answer.json()["computing"]["state"] == "queued"
    shown = client.get(page).content.decode()
    assert "How well do people agree" in shown
    assert "Computing the report" in shown
    assert "Compute it anew" not in shown

    work_off()
    second = client.get(api).json()
    assert second["id"] != first["id"]
    assert (second["labels_since"], second["computing"]) == (False, None)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_report_that_labels_overtake_while_it_is_computed_is_served(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "SMALL", 0)
    study = _study()
    client.force_login(user(researcher=True))
    api = reverse("api-report", args=[study.pk])
    client.get(api)
    work_off()
    _label_more(study)
    for _ in range(3):
        assert client.get(api).status_code == 200


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_report_on_a_crowd_says_which_pairs_are_not_compared() -> None:
    built = world(dialogues=13, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for number in range(26):
        places = (number, (number + 1) % 26)
        built.say(f"p{number}", "quality", {built.turns[place]: 1.0 + place % 3 for place in places})
    study = studies.create(name="crowd", corpus=built.corpus, definition={"resamples": 20}, by=None)
    report = studies.compute(study=study, part="all", by=None)
    said = " ".join(caveats(snapshot_of(report)))
    assert "0 of 26 pairs of raters who share items are compared one by one" in said
    assert "26 share fewer than 10 items (" in said
