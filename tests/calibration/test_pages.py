"""The pages of studies, reports, gold and exports: permissions and content."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Label, TestLook
from annotation.text.display import number
from calibration.models import Export, Gold, Report, Study
from calibration.reports.figures import figures
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """Six dialogues tagged and rated by two people and a judge."""
    built = world(dialogues=6, turns=3)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    values = [float(1 + (n * 7) % 5) for n in range(18)]
    built.say("ann", "quality", values)
    built.say("ben", "quality", [min(5.0, v + n % 2) for n, v in enumerate(values)])
    built.say("gpt", "quality", [max(1.0, v - n % 2) for n, v in enumerate(values)], kind="judge")
    return built


def _addresses(study: Study, gold: Gold) -> list[str]:
    plain = ["new-study", "golds", "new-gold", "exports"]
    of_corpus = ["corpus", "corpus-annotation", "corpus-judges", "corpus-results", "corpus-gold"]
    of_study = ["study", "report", "open-test"]
    return [
        *(reverse(name) for name in plain),
        *(reverse(name, args=[study.corpus.name]) for name in of_corpus),
        *(reverse(name, args=[study.pk]) for name in of_study),
        reverse("corpus-report", args=[study.corpus_id]),
        reverse("report-file", args=[study.pk, "json"]),
        reverse("report-chart", args=[study.pk, "krippendorff_alpha", "svg"]),
        reverse("gold", args=[gold.pk]),
        reverse("gold-file", args=[gold.pk, "csv"]),
        reverse("gold-provenance", args=[gold.pk]),
        reverse("export-labels", args=["csv"]) + f"?corpus={study.corpus_id}",
    ]


@pytest.fixture
def gold(rated: World) -> Gold:
    """Gold of the corpus by majority."""
    from calibration.gold.derivation import make

    version = rated.questions["quality"].version
    return make(corpus=rated.corpus, campaign=None, scheme_version=version, rule="majority", by=None)


def test_annotators_may_use_none_of_these_pages(client: Client, study: Study, gold: Gold) -> None:
    client.force_login(user())
    assert {client.get(address).status_code for address in _addresses(study, gold)} == {403}
    assert client.post(reverse("recompute", args=[study.pk])).status_code == 403
    assert client.post(reverse("open-test", args=[study.pk]), {"purpose": "x"}).status_code == 403
    assert not Report.objects.exists()
    assert not TestLook.objects.exists()


def test_strangers_are_sent_to_sign_in(client: Client, study: Study, gold: Gold) -> None:
    for address in _addresses(study, gold):
        answer = client.get(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in/")


@pytest.mark.exhaustive
def test_the_report_shows_the_library_s_numbers(researcher: Client, study: Study) -> None:
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    (question,) = figures(snapshot_of(studies.compute(study=study, part="all", by=None)))
    for entry in (question.among("krippendorff_alpha"), question.with_people("cohen_kappa_quadratic", "gpt")):
        assert entry is not None
        assert number(entry.value, 3) in page
        assert f"{number(entry.low)} to {number(entry.high)}" in page


@pytest.mark.exhaustive
def test_the_report_begins_with_answers_and_draws_the_judge_beside_the_people(
    researcher: Client, study: Study
) -> None:
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert "Does gpt agree with people?" in page
    assert "How well do people agree?" in page
    assert "<svg" in page
    assert "gpt with people" in page
    assert "With six dialogues (fewer than 50)" in page


@pytest.mark.exhaustive
def test_a_report_without_labels_says_what_to_do(researcher: Client) -> None:
    page = researcher.get(reverse("corpus-report", args=[world("bare").corpus.pk]), follow=True)
    assert "Nothing to compare yet" in page.content.decode()


@pytest.mark.exhaustive
def test_a_report_reads_new_labels_by_itself(researcher: Client, study: Study, rated: World) -> None:
    researcher.get(reverse("report", args=[study.pk]))
    rated.say("cem", "quality", [3.0] * 18)
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert "3 people" in page
    assert study.reports.count() == 2


@pytest.mark.exhaustive
def test_viewing_a_report_again_costs_a_fixed_number_of_queries(
    researcher: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    address = reverse("report", args=[study.pk])
    researcher.get(address)
    with django_assert_max_num_queries(21):
        researcher.get(address)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["json", "csv", "md", "latex", "html"])
def test_a_report_is_handed_out_in_every_form(researcher: Client, study: Study, form: str) -> None:
    researcher.get(reverse("report", args=[study.pk]))
    answer = researcher.get(reverse("report-file", args=[study.pk, form]))
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    assert b"gpt" in answer.content


@pytest.mark.exhaustive
@pytest.mark.parametrize("form,begins", [("svg", b"<svg"), ("png", b"\x89PNG"), ("csv", b"question,series")])
def test_a_chart_is_handed_out(researcher: Client, study: Study, form: str, begins: bytes) -> None:
    researcher.get(reverse("report", args=[study.pk]))
    answer = researcher.get(reverse("report-chart", args=[study.pk, "cohen_kappa_quadratic", form]))
    assert answer.content.startswith(begins)


def test_a_report_that_does_not_exist_is_not_found(researcher: Client, study: Study) -> None:
    for address in (
        reverse("report", args=[study.pk + 1]),
        reverse("report", args=[study.pk]) + "?snapshot=99",
        reverse("report-file", args=[study.pk, "exe"]),
        reverse("export-labels", args=["csv"]),
    ):
        assert researcher.get(address).status_code == 404


@pytest.mark.exhaustive
def test_test_is_opened_with_a_purpose_and_shown_with_it(researcher: Client, study: Study) -> None:
    splits.draw(corpus=study.corpus, by=None)
    address = reverse("report", args=[study.pk])
    assert "Open test…" in researcher.get(address).content.decode()
    assert researcher.get(address + "?part=test")["Location"] == reverse("open-test", args=[study.pk])
    assert researcher.post(reverse("open-test", args=[study.pk]), {"purpose": ""}).status_code == 422
    page = researcher.post(reverse("open-test", args=[study.pk]), {"purpose": "the paper"}, follow=True)
    assert "“the paper”" in page.content.decode()
    assert TestLook.objects.count() == 1


@pytest.mark.exhaustive
def test_looking_at_an_opened_test_report_again_is_no_new_look(
    researcher: Client, study: Study, rated: World
) -> None:
    splits.draw(corpus=study.corpus, by=None)
    researcher.post(reverse("open-test", args=[study.pk]), {"purpose": "the paper"})
    rated.say("cem", "quality", [3.0] * 18)
    page = researcher.get(reverse("report", args=[study.pk]) + "?part=test").content.decode()
    assert "Labels came in since" in page
    assert study.reports.filter(part="test").count() == 1


@pytest.mark.exhaustive
def test_a_study_is_made_by_form(researcher: Client, rated: World) -> None:
    address = reverse("new-study") + f"?corpus={rated.corpus.pk}"
    assert "quality" in researcher.get(address).content.decode().lower()
    form = {"name": "Ann and gpt", "raters": ["ann", "gpt"], "statistics": ["cohen_kappa"], "map": "rank"}
    rest = {"interval": "percentile", "resamples": 200, "seed": 1, "confidence": 0.9}
    page = researcher.post(address, form | rest, follow=True).content.decode()
    assert "Ann and gpt" in page
    made = Study.objects.get(name="Ann and gpt")
    assert made.definition["raters"] == ["ann", "gpt"]
    assert made.reports.get().result["definition"]["resamples"] == 200


def test_half_a_link_between_questions_is_refused(researcher: Client, rated: World) -> None:
    address = reverse("new-study") + f"?corpus={rated.corpus.pk}"
    form = {"name": "x", "answering": "quality@1/quality", "map": "linear", "ranges": "1 to 5"}
    rest = {"interval": "percentile", "resamples": 200, "seed": 1, "confidence": 0.9}
    answer = researcher.post(address, form | rest)
    assert answer.status_code == 422
    assert "Choose both questions of the link" in answer.content.decode()
    assert "1 to 5 = 0 to 4" in answer.content.decode()


@pytest.mark.exhaustive
def test_gold_is_made_and_downloaded(researcher: Client, rated: World) -> None:
    address = reverse("new-gold") + f"?corpus={rated.corpus.pk}"
    form = {"scheme": "quality@1", "rule": "mean", "ties": "none", "raters": ["ann", "ben"]}
    page = researcher.post(address, form, follow=True)
    assert "(Mean" in page.content.decode()
    made = Gold.objects.get()
    answer = researcher.get(reverse("gold-file", args=[made.pk, "csv"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == 18
    assert {row["rule"] for row in rows} == {"mean"}
    assert made.exports.get().rows == 18


def test_gold_that_cannot_be_made_says_why(researcher: Client) -> None:
    built = world(dialogues=1, turns=1)
    built.ask("act", "nominal", ["ask", "tell"])
    built.say("ann", "act", ["ask"])
    form = {"scheme": "act@1", "rule": "mean", "ties": "none"}
    answer = researcher.post(reverse("new-gold") + f"?corpus={built.corpus.pk}", form)
    assert answer.status_code == 422
    assert "Mean needs an ordered scale" in answer.content.decode()


def test_labels_are_downloaded_and_logged(researcher: Client, rated: World) -> None:
    answer = researcher.get(reverse("export-labels", args=["csv"]) + f"?corpus={rated.corpus.pk}")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == Label.objects.count() == 54
    page = researcher.get(reverse("exports") + f"?corpus={rated.corpus.pk}").content.decode()
    assert Export.objects.get().sha256 in page


def test_opening_test_says_why_a_study_cannot_be_read_any_more(researcher: Client, study: Study) -> None:
    study.definition = {"split": "gone"}
    study.save()
    answer = researcher.get(reverse("open-test", args=[study.pk]))
    assert answer.status_code == 422
    assert "the corpus has no split" in answer.content.decode()


def test_before_gold_is_made_the_page_says_how_many_items_stay_empty_and_why(researcher: Client) -> None:
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    built.say("ann", "quality", [1, 2, 3, None])
    built.say("ben", "quality", [1, 3, 4, None])
    address = reverse("new-gold") + f"?corpus={built.corpus.pk}"
    form = {"scheme": "quality@1", "rule": "majority", "ties": "none"}
    at_first = " ".join(researcher.get(address).content.decode().split())
    assert "1 of 4 items would stay without a value." in at_first, "by the rule of its scale, the median"
    page = " ".join(researcher.post(address, form | {"act": "preview"}).content.decode().split())
    assert "3 of 4 items would stay without a value, 2 of them because answers tie." in page
    assert "3: the answers tie (2), no rater gave an answer (1)" in page
    assert not Gold.objects.exists(), "a preview stores nothing"
    wrong = researcher.post(address, form | {"act": "preview", "rule": "trimmed_mean", "share": "2"})
    assert wrong.status_code == 200
    assert "share lies between 0 and 0.49" in wrong.content.decode()
    assert researcher.post(address, form).status_code == 302
    gold = Gold.objects.get(without=3)
    shown = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "no gold label; the tie is listed" in shown


def test_each_question_has_a_rule_by_its_scale_or_its_own(researcher: Client) -> None:
    built = world(dialogues=1, turns=2)
    scales = {
        "quality": ("ordinal", [1, 2, 3]),
        "rude": ("binary", [0, 1]),
        "act": ("nominal", ["ask", "tell"]),
    }
    for key, scale in scales.items():
        built.ask(key, *scale, scheme="both")
    for key, (_, values) in scales.items():
        built.say("ann", key, [values[0], values[1]])
        built.say("ben", key, [values[1], values[1]])
    address = reverse("new-gold") + f"?corpus={built.corpus.pk}"
    page = researcher.get(address)
    assert [row["rule"].key for row in page.context["rows"]] == ["median", "majority", "majority"]
    offered = dict(page.context["form"].fields["rule_of_act"].choices)
    assert "majority" in offered
    assert not {"median", "union"} & set(offered), "neither fits categories"
    researcher.post(address, {"scheme": "both@1", "rule_of_rude": "union"})
    gold = Gold.objects.get()
    assert gold.rule == "median"
    assert gold.options["questions"] == {
        "rude": {"rule": "union"},
        "act": {"rule": "majority", "ties": "none"},
    }
    values = gold.labels.order_by("question__position", "pk").values_list("number", "text", "reason")
    assert [*values][:4] == [(1.5, None, ""), (2.0, None, ""), (1.0, None, ""), (1.0, None, "")]
    assert [*values][4][2].startswith("tie: "), "a majority of two who differ"
    shown = " ".join(researcher.get(reverse("gold", args=[gold.pk])).content.decode().split())
    assert "Union" in shown
    assert "Majority (ties: no gold label; the tie is listed)" in shown
    answer = researcher.get(reverse("gold-file", args=[gold.pk, "csv"]))
    rows = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))
    assert {(row["question"], row["rule"]) for row in rows} == {
        ("quality", "median"),
        ("rude", "union"),
        ("act", "majority"),
    }
    built.say("cid", "rude", [0, 0])
    again = dict(researcher.get(reverse("gold", args=[gold.pk])).context["again"])
    assert researcher.post(address, again).status_code == 302
    anew = Gold.objects.latest("pk")
    assert (anew.pk != gold.pk, anew.options["questions"]) == (True, gold.options["questions"])


def test_on_a_scale_gold_is_the_median_by_default_and_of_categories_the_majority(researcher: Client) -> None:
    for key, level, values, rule in (
        ("quality", "ordinal", [1, 2, 3], "median"),
        ("act", "nominal", ["ask", "tell"], "majority"),
    ):
        built = world(dialogues=1, turns=1, name=key)
        built.ask(key, level, values)
        built.say("ann", key, [values[0]])
        page = researcher.get(reverse("new-gold") + f"?corpus={built.corpus.pk}")
        assert page.context["rows"][0]["rule"].key == rule
