"""The items behind a figure: selection, order and permissions."""

from __future__ import annotations

import math
from urllib.parse import urlencode

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from calibration.models import Study
from calibration.reports.tables import PEOPLE
from calibration.statistics import Ratings
from calibration.studies import disagreements
from calibration.studies import study_actions as studies
from calibration.studies.disagreements import comparison
from tests.calibration.world import World, world
from tests.factories import user

NAN = math.nan


def ratings(*rows: list[float], level: str = "ordinal", kinds: tuple[str, ...] = ()) -> Ratings:
    """Return ratings of a, b (people) and j (a judge) on the scale 1 to 3."""
    return Ratings.from_matrix(
        rows,
        level=level,  # type: ignore[arg-type]
        scale=[1, 2, 3],
        raters=["a", "b", "j"],
        kinds=kinds or ("human", "human", "judge"),
    )


def test_people_among_themselves_are_apart_by_the_mean_over_their_pairs() -> None:
    found = comparison(ratings([1, 3, 2], [2, 2, 1], [1, NAN, 1]), PEOPLE, PEOPLE)
    assert np.array_equal(disagreements.distances(found), [2.0, 0.0, NAN], equal_nan=True)
    assert disagreements.table(found) is None


def test_a_judge_with_the_people_is_the_mean_over_the_people_who_rated() -> None:
    found = comparison(ratings([1, 3, 2], [3, NAN, 1], [NAN, NAN, 1]), "j", PEOPLE)
    assert np.array_equal(disagreements.distances(found), [1.0, 2.0, NAN], equal_nan=True)


def test_categories_are_the_same_or_not() -> None:
    found = comparison(ratings([1, 3, 1], level="nominal"), "a", "b")
    assert disagreements.distances(found).tolist() == [1.0]


def test_without_a_shared_scale_ranks_are_compared() -> None:
    off_scale = ("human", "human", "metric")
    found = comparison(ratings([1, 1, 30], [2, 2, 20], [3, 3, 10], kinds=off_scale), "a", "j")
    assert found.by_rank
    assert disagreements.distances(found) == pytest.approx([2 / 3, 0, 2 / 3])
    assert disagreements.table(found) is None


def test_the_table_counts_which_answers_met_and_each_cell_finds_its_items() -> None:
    found = comparison(ratings([1, 3, 1], [1, 1, 3], [NAN, 1, 1]), "j", PEOPLE)
    assert disagreements.table(found) == [[2, 0, 1], [0, 0, 0], [2, 0, 0]]
    assert disagreements.in_cell(found, 0, 2).tolist() == [True, False, False]
    assert disagreements.in_cell(found, 0, 0).tolist() == [True, False, True]


def test_a_rater_is_never_compared_with_itself() -> None:
    found = comparison(ratings([1, 3, 1]), "a", "a")
    assert found.pairs == ()
    assert np.isnan(disagreements.distances(found)).all()


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Two people and a judge who rate and tag the nine turns of three dialogues."""
    built = world(dialogues=3, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    built.say("ann", "quality", [1, 2, 3, 4, 5, 1, 2, 3, 4])
    built.say("ben", "quality", [1, 2, 3, 4, 1, 1, 2, 3, 5])
    built.say("gpt", "quality", [1, 2, 3, 4, 5, 1, 2, 3, 4], kind="judge")
    for tag in ("off_topic", "repetition"):
        built.ask(tag, "binary", [0, 1], scheme="tags", group="Tags", positive=1)
    for tag in ("off_topic", "repetition"):
        built.say("ann", tag, [0, 1, 0, 0, 0, 0, 0, 0, 1])
        built.say("ben", tag, [0, 1, 0, 0, 0, 0, 0, 1, 0])
    return built


def address(study: Study, question: str, **parameters: str) -> str:
    return reverse("report-items", args=[study.pk]) + "?" + urlencode({"question": question} | parameters)


@pytest.mark.django_db
def test_the_page_lists_the_items_where_two_differ_farthest_first(researcher: Client, study: Study) -> None:
    page = researcher.get(address(study, "quality@1/quality", a="ann", b="ben"))
    listed = [str(row.item) for row in page.context["items"]]
    assert [
        (row.item.continuation.dialogue.key, row.item.turn.position) for row in page.context["items"]
    ] == [
        ("d1", 1),
        ("d2", 2),
    ], listed
    text = page.content.decode()
    assert "words 1" in text
    assert "?continuation=self&amp;turn=2&amp;index=1#turn-2" in text


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_name_of_the_report_leads_to_items(researcher: Client, study: Study) -> None:
    report = researcher.get(reverse("report", args=[study.pk])).content.decode()
    for a, b in ((PEOPLE, PEOPLE), ("gpt", PEOPLE), ("ann", "gpt")):
        href = address(study, "quality@1/quality", a=a, b=b)
        assert href.replace("&", "&amp;") in report
        assert researcher.get(href).status_code == 200


@pytest.mark.django_db
def test_a_set_of_tags_lists_each_tag_of_a_turn_by_itself(researcher: Client, study: Study) -> None:
    page = researcher.get(address(study, "tags@1/all", a="ann", b="ben"))
    assert [row.tag for row in page.context["items"]] == ["Off topic", "Repetition"] * 2
    assert page.context["found"].both == 18
    assert [answer.value for answer in page.context["items"][0].answers] == ["yes", "no"]


@pytest.mark.django_db
def test_a_cell_of_the_table_leads_to_its_items(researcher: Client, study: Study) -> None:
    page = researcher.get(address(study, "tags@1/repetition", a="ann", b="ben", cell="1,1"))
    assert [row.item.turn.position for row in page.context["items"]] == [1]
    assert researcher.get(address(study, "tags@1/repetition", cell="7,7")).context["found"].cell is None


@pytest.mark.django_db
def test_a_judges_written_reason_stands_beside_its_answer(researcher: Client, rated: World) -> None:
    from annotation.work.labels import Answer, record

    asked = rated.ask("tone", "ordinal", [1, 2, 3])
    rated.say("ann", "tone", [1, 1, 1])
    reason = "<i>too cold</i>"
    record(
        rater=rated.rater("gpt", "judge"),
        answers=[Answer(rated.turns[0], asked, 3.0, explanation=reason)],
        occasion="main",
    )
    study = studies.automatic(corpus=rated.corpus)
    page = researcher.get(address(study, "tone@1/tone", a="gpt")).content.decode()
    assert "&lt;i&gt;too cold&lt;/i&gt;" in page
    assert reason not in page


@pytest.mark.django_db
def test_strangers_and_unknown_questions_are_refused_in_words(researcher: Client, study: Study) -> None:
    assert researcher.get(address(study, "quality@1/quality", a="nobody")).status_code == 404
    page = researcher.get(address(study, "quality@1/nothing"))
    assert page.status_code == 422
    assert "the study asks no question" in page.content.decode()


@pytest.mark.django_db
def test_test_items_are_shown_only_after_the_study_opened_test(researcher: Client, rated: World) -> None:
    person = user("lead", researcher=True)
    splits.draw(corpus=rated.corpus, by=person, seed=1, test_share=0.34)
    study = studies.automatic(corpus=rated.corpus)
    href = address(study, "quality@1/quality", part="test")
    assert researcher.get(href)["Location"] == reverse("open-test", args=[study.pk])
    dev = researcher.get(address(study, "quality@1/quality")).context["found"]
    studies.open_test(study=study, by=person, purpose="the paper")
    studies.compute(study=study, part="test", by=person)
    opened = researcher.get(href).context["found"]
    assert opened.both + dev.both == 9
    assert set(opened.question.items).isdisjoint(dev.question.items)


@pytest.mark.django_db
def test_programs_get_the_same_list(researcher: Client, study: Study) -> None:
    query = urlencode({"question": "quality@1/quality", "a": "ann", "b": "ben"})
    found = researcher.get(reverse("api-report-items", args=[study.pk]) + f"?{query}").json()
    assert (found["count"], found["both"], found["differ"]) == (2, 9, 2)
    assert found["results"][0] == {
        "item": "d1/self/1",
        "turn_number": 2,
        "distance": 4.0,
        "answers": {"ann": 5.0, "ben": 1.0},
        "evidence": {},
    }
    assert researcher.get(reverse("api-report-items", args=[study.pk])).status_code == 400


@pytest.mark.django_db
def test_annotators_may_not_read_what_others_answered(client: Client, study: Study) -> None:
    client.force_login(user())
    assert client.get(address(study, "quality@1/quality")).status_code == 403


@pytest.mark.django_db
def test_the_queries_do_not_grow_with_the_items(
    researcher: Client, study: Study, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(28):  # type: ignore[operator]
        researcher.get(address(study, "quality@1/quality"))
