"""If nothing could be compared, a report shows each rater's answers, the reason, and a remedy."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from calibration.models import Report, Study
from calibration.reports import sentences, tables
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

VALUES = [float(1 + (n * 7) % 5) for n in range(12)]


@pytest.fixture(scope="module")
def built(module_database: None) -> World:
    """Four dialogues of three turns, with a question of people and one of judges."""
    made = world(dialogues=4, turns=3)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    made.ask("grade", "ordinal", [1, 2, 3, 4, 5], wording="Grade")
    made.ask("value", "interval", scheme="metric:m_sns_avg")
    return made


def _report(built: World, **definition: Any) -> Report:
    if definition:
        study = studies.create(name="s", corpus=built.corpus, campaign=None, definition=definition, by=None)
    else:
        study = studies.automatic(corpus=built.corpus)
    return studies.compute(study=study, part=studies.default_part(study), by=None)


def _page(client: Client, study: Study) -> str:
    return client.get(reverse("report", args=[study.pk])).content.decode()


def test_one_person_and_a_metric_on_the_same_question_are_compared(built: World) -> None:
    built.say("ann", "quality", VALUES)
    built.say("bleu", "quality", VALUES, kind="metric")
    result = snapshot_of(_report(built))
    (verdict,) = result.verdicts
    assert verdict.agreement is not None
    assert verdict.statistic == "spearman"
    assert verdict.agreement.value == pytest.approx(1.0)
    assert result.uncompared == ()


def test_categories_of_one_person_have_no_order_for_a_metric(built: World) -> None:
    built.ask("act", "nominal", ["ask", "tell"], wording="Act")
    built.say("ann", "act", ["ask", "tell"] * 6)
    built.say("bleu", "value", VALUES, kind="metric")
    result = snapshot_of(_report(built))
    reasons = {left.title: left.reason for left in result.uncompared}
    assert reasons == {
        "Act": "only ann answered it",
        "Value": ("metrics are compared with people alone, who answered no question in order about turns"),
    }


def test_one_rater_only_is_said_to_be_alone(built: World, researcher: Client) -> None:
    built.say("ann", "quality", [*VALUES[:-1], None])
    page = _page(researcher, _report(built).study)
    assert "no question was answered by two raters" in page
    assert "only ann answered it" in page
    (row,) = tables.raters(snapshot_of(_report(built)))
    assert (row.name, row.titles, row.n, row.missing) == ("ann", ("Quality",), 11, 1)


def test_a_judge_that_answered_another_question_is_named_with_the_link_that_mends_it(
    built: World, researcher: Client
) -> None:
    built.say("ann", "quality", VALUES)
    built.say("ben", "quality", VALUES[::-1])
    built.say("gpt", "grade", VALUES, kind="judge")
    report = _report(built)
    assert [row.name for row in tables.raters(snapshot_of(report))] == ["ann", "ben", "gpt"]
    (left,) = snapshot_of(report).uncompared
    assert (left.raters, left.reason) == (("gpt",), "only gpt answered it")
    assert (left.ref, left.maps_to, left.map) == ("grade@1/grade", "quality@1/quality", "identity")
    page = _page(researcher, report.study)
    assert "Not compared" in page
    address = f"{reverse('new-study')}?corpus={built.corpus.pk}"
    address += "&answering=grade%401%2Fgrade&answered=quality%401%2Fquality&map=identity"
    assert address.replace("&", "&amp;") in page
    form = researcher.get(address).context["form"]
    assert [form[key].value() for key in ("answering", "answered", "map")] == [
        "grade@1/grade",
        "quality@1/quality",
        "identity",
    ]


@pytest.mark.exhaustive
def test_following_the_link_compares_them(built: World, researcher: Client) -> None:
    built.say("ann", "quality", VALUES)
    built.say("gpt", "grade", VALUES, kind="judge")
    (left,) = [left for left in snapshot_of(_report(built)).uncompared if left.maps_to]
    form = {"name": "mapped", "answering": left.ref, "answered": left.maps_to, "map": left.map}
    rest = {"interval": "percentile", "resamples": 200, "seed": 1, "confidence": 0.9}
    researcher.post(reverse("new-study") + f"?corpus={built.corpus.pk}", form | rest, follow=True)
    result = snapshot_of(Study.objects.get(name="mapped").reports.get())
    assert result.uncompared == ()
    assert "Does gpt agree with people?" in sentences.headline_question(result)


def test_two_people_who_answered_different_questions_get_one_link(built: World) -> None:
    built.say("ann", "quality", VALUES)
    built.say("ben", "grade", VALUES)
    left = snapshot_of(_report(built)).uncompared
    assert sum(bool(question.maps_to) for question in left) == 1


def test_a_chosen_study_says_that_it_does_not_ask_the_rest(built: World) -> None:
    built.say("ann", "quality", VALUES)
    built.say("ben", "quality", VALUES[::-1])
    built.say("gpt", "grade", VALUES, kind="judge")
    result = snapshot_of(_report(built, questions=["quality@1/quality"]))
    assert [left.reason for left in result.uncompared] == ["this study does not ask it"]
    assert "gpt" in [row.name for row in tables.raters(result)]


def test_free_text_is_named_as_such(built: World) -> None:
    built.ask("why", "text", wording="Why")
    built.say("ann", "why", ["because"] * 12)
    built.say("ben", "why", ["since"] * 12)
    (left,) = snapshot_of(_report(built)).uncompared
    assert (left.reason, left.maps_to) == ("free text has no agreement statistics", "")


def test_on_one_part_of_a_split_only_its_answers_count(built: World) -> None:
    from annotation.corpora import splits

    built.say("ann", "quality", VALUES)
    split = splits.draw(corpus=built.corpus, by=None)
    dev = splits.clusters(split=split, part="dev")
    (row,) = tables.raters(snapshot_of(_report(built)))
    assert row.n == 3 * len(dev)


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_every_form_says_what_was_not_compared(built: World, form: str) -> None:
    built.say("gpt", "grade", VALUES, kind="judge")
    assert "only gpt answered it" in RENDERINGS[form].write(_report(built))


def test_a_judge_that_shares_no_item_with_people_is_said_to_share_none(built: World) -> None:
    built.say("ann", "quality", dict(zip(built.turns[:6], VALUES, strict=False)))
    built.say("gpt", "quality", dict(zip(built.turns[6:], VALUES, strict=False)), kind="judge")
    (verdict,) = snapshot_of(_report(built)).verdicts
    assert (verdict.rater, verdict.state, verdict.n_answered) == ("gpt", "cannot_say", 0)
