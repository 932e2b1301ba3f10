"""A judge is called by a short name that researchers edit; files and references keep its name."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.errors import RaterRefused
from annotation.models import Rater
from annotation.work import labels
from annotation.work.rater_names import rename_rater
from config.models import Event
from judges.runs.metric_calls import metric_plan
from judges.runs.plans import Judge
from judges.runs.run_actions import start
from judges.runs.selection import Selection
from tests import factories
from tests.judges.helpers import small_corpus

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert("x")</script> & co'


def judge(model: str = "m-1", name: str = "m-1 rubric", short_name: str = "Rubric v1") -> Rater:
    spec = {"model": model, "protocol": "rubric", "prompt": "rubric_line", "version": 1, "name": name}
    return labels.machine_rater(kind="judge", name=name, spec=spec, short_name=short_name)


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("rei", researcher=True))
    return client


def test_a_new_judge_is_called_by_its_protocol_and_version() -> None:
    plan = Judge("rules_baseline").plan()
    assert plan.rater.short_name == "rules-baseline v1"


def test_a_new_metric_is_called_by_its_title() -> None:
    plan = metric_plan("dnr", small_corpus())
    assert plan.rater.title == plan.rater.short_name != plan.rater.name
    assert plan.rater.detail == plan.rater.name


def test_judges_of_one_protocol_are_told_apart_by_model_then_by_number() -> None:
    names = [judge(), judge("m-2", "m-2 rubric"), judge("m-2", "m-2 rubric, warm"), judge(name="other")]
    assert [rater.short_name for rater in names] == [
        "Rubric v1",
        "Rubric v1 (m-2)",
        "Rubric v1 (m-2) 2",
        "Rubric v1 (m-1)",
    ]
    assert judge() == names[0]


def test_renaming_is_logged_and_changes_neither_name_nor_fingerprint() -> None:
    rater, by = judge(), factories.user("rei", researcher=True)
    renamed = rename_rater(by=by, rater=rater, short_name="  Support   judge v1 ")
    assert (renamed.short_name, renamed.title) == ("Support judge v1", "Support judge v1")
    assert (renamed.name, renamed.fingerprint) == (rater.name, rater.fingerprint)
    event = Event.objects.get(verb="rename rater")
    assert event.by == by
    assert event.detail == {"rater": "m-1 rubric", "before": "Rubric v1", "after": "Support judge v1"}
    rename_rater(by=by, rater=rater, short_name="Support judge v1")
    assert Event.objects.filter(verb="rename rater").count() == 1
    assert rename_rater(by=by, rater=rater, short_name="").title == "m-1 rubric"


@pytest.mark.parametrize(
    ("short_name", "why"),
    [
        ("rubric V1 (M-2)", "Another judge or metric is called “rubric V1 (M-2)”: choose another name."),
        ("x" * 81, "It has 81 characters; at most 80 are taken."),
        ("a\x00b", "cannot be stored"),
    ],
)
def test_a_name_that_is_taken_or_cannot_be_stored_is_refused(short_name: str, why: str) -> None:
    rater = judge()
    judge("m-2", "m-2 rubric")
    with pytest.raises(RaterRefused) as refusal:
        rename_rater(by=None, rater=rater, short_name=short_name)
    assert why in str(refusal.value)


def test_a_short_name_never_hides_that_a_fake_model_answers() -> None:
    rater = rename_rater(by=None, rater=judge("fake-1", "fake-1 (fake model) rubric"), short_name="GPT")
    assert (rater.short_name, rater.title) == ("GPT", "GPT (fake model)")
    assert rename_rater(by=None, rater=rater, short_name="").title == "fake-1 (fake model) rubric"


def test_people_have_no_short_name() -> None:
    person = labels.rater_of_person(user=factories.user("zoe"))
    with pytest.raises(RaterRefused, match="Only judges and metrics"):
        rename_rater(by=None, rater=person, short_name="Zoe")


def test_a_researcher_renames_a_judge_on_its_page_and_in_the_list(researcher: Client) -> None:
    corpus = small_corpus()
    run = start(by=None, plan=metric_plan("dnr", corpus), selection=Selection(corpus, include_self=True))
    assert run.rater is not None
    address = reverse("rename-rater", args=[run.rater.pk])
    answer = researcher.post(address, {"short_name": HOSTILE, "run": run.pk}, follow=True)
    assert answer.redirect_chain == [(reverse("run", args=[run.pk]), 302)]
    for page, arguments in (("run", [run.pk]), ("corpus-judges", [corpus.name]), ("raters", [])):
        html = researcher.get(reverse(page, args=arguments)).content.decode()
        assert HOSTILE not in html
        assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; co" in html
        assert run.rater.name in html
    found = researcher.get(reverse("raters"), {"text": "no such name"}).content.decode()
    assert "Nothing matches" in found
    refused = researcher.post(address, {"short_name": "x" * 81}, follow=True).content.decode()
    assert "at most 80 are taken" in refused


def test_programs_list_and_rename_judges(researcher: Client) -> None:
    rater = judge()
    listed: Any = researcher.get(reverse("api-raters"), {"kind": "judge", "name": "m-1 rubric"}).json()
    assert [row["short_name"] for row in listed["results"]] == ["Rubric v1"]
    address = reverse("api-rater", args=[rater.pk])
    changed = researcher.patch(address, {"short_name": "Support judge"}, content_type="application/json")
    assert (changed.status_code, changed.json()["short_name"]) == (200, "Support judge")
    assert changed.json()["detail"] == "m-1 · rubric_line@1"
    assert researcher.get(address).json()["name"] == "m-1 rubric"
    judge("m-2", "m-2 rubric")
    taken = researcher.patch(address, {"short_name": "m-2 RUBRIC"}, content_type="application/json")
    assert taken.status_code == 200
    taken = researcher.patch(address, {"short_name": "rubric v1"}, content_type="application/json")
    assert taken.status_code == 422


def test_annotators_neither_see_nor_change_names() -> None:
    rater, client = judge(), Client()
    client.force_login(factories.user("zoe"))
    for address in (reverse("raters"), reverse("api-raters"), reverse("api-rater", args=[rater.pk])):
        assert client.get(address).status_code in (403, 404)
    assert client.post(reverse("rename-rater", args=[rater.pk]), {"short_name": "x"}).status_code in (
        403,
        404,
    )
    rater.refresh_from_db()
    assert rater.short_name == "Rubric v1"
