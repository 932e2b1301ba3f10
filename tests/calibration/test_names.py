"""A question is called by its short name, else its wording; a judge by its short name, with small print."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Rater
from annotation.work import labels
from calibration.gold import derivation
from calibration.ratings.scope import census, of_corpus, question_choices
from calibration.reports.names import names_in, names_of, titled_snapshot
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
SPEC = {"model": "m-1", "protocol": "rubric", "version": 2, "prompt": "rubric_line"}


@pytest.fixture
def judged() -> Any:
    """A corpus with two people, a judge that asks a model, and a judge from a file."""
    built = world("talks", dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], wording="How good is this reply?")
    for number, name in enumerate(("ann", "ben")):
        built.say(name, "quality", [1 + (item + number) % 3 for item in range(8)])
    judge = labels.machine_rater(kind="judge", name="m-1 rubric quality@1", spec=SPEC)
    built.say(judge, "quality", [1 + item % 3 for item in range(8)], occasion="main")
    built.say("gpt-4", "quality", [1 + item % 2 for item in range(8)], kind="judge")
    return built


def _rename(name: str, short: str) -> None:
    Rater.objects.filter(name=name).update(short_name=short)


def test_a_report_shows_a_judges_short_name_even_if_it_was_set_after_the_report(judged: World) -> None:
    report = studies.compute(study=studies.automatic(corpus=judged.corpus), part="all", by=None)
    _rename("m-1 rubric quality@1", "Support judge v1")
    names = names_of(report)
    assert names.short("m-1 rubric quality@1") == "Support judge v1"
    assert names.detail("m-1 rubric quality@1") == "m-1 · rubric_line@2"
    assert "m-1 rubric quality@1" in {rater.name for rater in snapshot_of(report).answered}


def test_names_without_a_short_name_stay_as_they_are(judged: World) -> None:
    names = names_in(judged.corpus)
    for name in ("gpt-4", "ann", "mean of the people", "a panel of <b>judges</b>"):
        assert (names.short(name), names.detail(name)) == (name, "")


def test_the_small_print_of_a_judge_from_a_file_is_its_name(judged: World) -> None:
    _rename("gpt-4", "GPT")
    names = names_in(judged.corpus)
    assert (names.short("gpt-4"), names.detail("gpt-4")) == ("GPT", "gpt-4")


def test_judges_that_share_a_name_are_told_apart(judged: World) -> None:
    judged.say("gpt-4", "quality", [1, 2, 3], kind="metric")
    Rater.objects.filter(name="gpt-4", kind="judge").update(short_name="The judge")
    Rater.objects.filter(name="gpt-4", kind="metric").update(short_name="The metric")
    names = names_in(judged.corpus)
    present = [rater.name for rater in census(of_corpus(judged.corpus)).raters.values()]
    assert {"gpt-4 (judge)", "gpt-4 (metric)"} <= set(present)
    assert [names.short(f"gpt-4 ({kind})") for kind in ("judge", "metric")] == ["The judge", "The metric"]
    assert names.short("gpt-4") == "gpt-4"


def test_no_two_judges_have_one_short_name(judged: World) -> None:
    _rename("gpt-4", "Support judge")
    with pytest.raises(IntegrityError, match="rater_short_name_once"):
        _rename("m-1 rubric quality@1", "support JUDGE")


def test_the_database_refuses_a_short_name_of_a_person(judged: World) -> None:
    with pytest.raises(IntegrityError, match="rater_short_name_machine"):
        _rename("ann", "Ann")


def test_a_question_is_called_by_its_short_name_else_by_its_wording(judged: World) -> None:
    def title() -> str:
        return next(q.title for q in census(of_corpus(judged.corpus)).questions.values())

    assert title() == "How good is this reply?"
    judged.questions["quality"].short_name = "Quality"
    judged.questions["quality"].save()
    assert title() == "Quality"


HOSTILE = "<script>alert('x')</script> & co"
ESCAPED = "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; co"


@pytest.fixture
def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("rei", researcher=True))
    return client


def _pages(built: World) -> list[str]:
    """Return the addresses of pages that name questions and judges, beside the report."""
    study = studies.automatic(corpus=built.corpus)
    ref = next(question.ref for question in census(of_corpus(built.corpus)).questions.values())
    judge = "m-1 rubric quality@1"
    version = built.questions["quality"].version
    gold = derivation.make(
        corpus=built.corpus,
        campaign=None,
        scheme_version=version,
        rule="majority",
        raters=["ann", "ben", judge],
        by=None,
    )
    return [
        f"{reverse('report-items', args=[study.pk])}?{urlencode({'question': ref, 'a': judge})}",
        f"{reverse('new-study')}?corpus={built.corpus.pk}",
        reverse("plan", args=[study.pk]),
        f"{reverse('new-gold')}?corpus={built.corpus.pk}",
        reverse("gold", args=[gold.pk]),
        reverse("dialogue", args=[built.corpus.dialogues.first().pk]),  # type: ignore[union-attr]
        reverse("raters"),
    ]


def test_pages_show_short_names_escaped(judged: World, researcher: Client) -> None:
    _rename("m-1 rubric quality@1", HOSTILE)
    judged.questions["quality"].short_name = f"Q {HOSTILE}"
    judged.questions["quality"].save()
    for address in _pages(judged):
        answer = researcher.get(address, follow=True)
        assert answer.status_code == 200, address
        html = answer.content.decode()
        assert HOSTILE not in html, address
        assert ESCAPED in html, address
        if not address.startswith((reverse("raters"), reverse("new-gold"))):  # these name no question
            assert f"Q {ESCAPED}" in html, address


def test_a_report_calls_a_judge_by_one_name_and_its_links_and_data_keep_the_other(
    judged: World, researcher: Client
) -> None:
    key, short = "m-1 rubric quality@1", "Support judge v1"
    _rename(key, short)
    study = studies.automatic(corpus=judged.corpus)
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert f"{short} with people" in page
    assert f"{key} with people" not in page
    assert urlencode({"a": key}) in page
    assert urlencode({"a": short}) not in page
    for form, shown, hidden in (
        *((form, short, key) for form in ("md", "latex")),
        *((form, key, short) for form in ("csv", "json")),
    ):
        file = researcher.get(reverse("report-file", args=[study.pk, form])).content.decode()
        assert shown in file, form
        assert hidden not in file, form


def test_a_short_name_that_a_person_has_is_not_shown_in_the_report(judged: World) -> None:
    _rename("m-1 rubric quality@1", "ann")
    report = studies.compute(study=studies.automatic(corpus=judged.corpus), part="all", by=None)
    names = [rater.name for rater in titled_snapshot(report).answered]
    assert sorted(names) == ["ann", "ben", "gpt-4", "m-1 rubric quality@1"]
    assert titled_snapshot(report) == snapshot_of(report)


def test_questions_of_one_title_are_told_apart_by_their_schemes(judged: World) -> None:
    judged.ask("other", "ordinal", [1, 2, 3], wording="How good is this reply?")
    judged.say("ann", "other", [1, 2, 3])
    questions = census(of_corpus(judged.corpus)).questions.values()
    assert [text for _, text in question_choices(questions)] == [
        "How good is this reply? (Other)",
        "How good is this reply? (Quality)",
    ]
