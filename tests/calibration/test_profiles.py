"""A corpus's profile: means and spreads per system and metric, and what caused a conversation's values."""

from __future__ import annotations

import csv
import io
import json
import statistics

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation import scheme_store
from annotation.models import Continuation, Corpus, Item, Rater
from annotation.recording import Answer, record
from calibration.profiles import causes, distribution, summary, tables
from judges.metric_runs import scheme_of
from judges.metrics import METRICS
from tests import factories

pytestmark = pytest.mark.django_db

VALUES = {"human": [0.2, 0.4], "model-a": [0.9, 0.7, 0.8], "model_b%": [0.5]}


def scored(corpus: Corpus, metric: str, values: dict[str, list[float | None]], **details: object) -> Rater:
    """Give each system's continuations of one dialogue each a metric's labels."""
    declared = METRICS[metric]
    question = scheme_store.store(definition=scheme_of(declared)).questions.get()
    rater = Rater.objects.create(kind="metric", name=f"{metric}@paper", spec={"metric": metric})
    explanation = json.dumps(details) if details else ""
    for system, scores in values.items():
        for number, value in enumerate(scores):
            dialogue = factories.dialogue(corpus, f"{metric}-{system}-{number}", turns=3)
            lines = [{"text": "first"}, {"text": "second"}]
            made = factories.continuation(dialogue, "c", system=system, turns=lines)
            item = (
                Item.objects.filter(continuation=made, kind=declared.kind).order_by("turn__position").last()
            )
            assert item is not None
            reason = "" if value is not None else "there is no context"
            answer = Answer(item, question, value, missing=reason, explanation=explanation)
            record(rater=rater, answers=[answer], occasion="main")
    return rater


def test_a_cell_is_the_mean_and_the_standard_deviation_of_the_items_with_a_value() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES | {"model-a": [0.9, 0.7, 0.8, None]})
    (panel,) = summary.profile(corpus)
    cell = next(row.cells[0] for row in panel.rows if row.system == "model-a")
    assert (cell.n, cell.missing) == (3, 1)
    assert cell.mean == pytest.approx(0.8, abs=1e-12)
    assert cell.spread == pytest.approx(statistics.pstdev([0.9, 0.7, 0.8]), abs=1e-12)


def test_people_are_set_apart_and_the_ends_are_marked() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES)
    (panel,) = summary.profile(corpus)
    assert [row.system for row in panel.people] == ["human"]
    marks = {row.system: row.cells[0].marks for row in panel.rows}
    assert marks == {"human": ("lowest",), "model-a": ("highest",), "model_b%": ("best",)}


def test_a_metric_without_direction_has_no_better_end() -> None:
    corpus = factories.corpus()
    scored(corpus, "nse", {"human": [0.9], "model-a": [0.5]})
    (panel,) = summary.profile(corpus)
    assert all("best" not in row.cells[0].marks for row in panel.rows)


def test_equal_means_are_not_marked() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"human": [0.5], "model-a": [0.5]})
    (panel,) = summary.profile(corpus)
    assert [row.cells[0].marks for row in panel.rows] == [(), ()]


def test_the_queries_do_not_grow_with_the_labels(django_assert_num_queries: object) -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", VALUES)
    scored(corpus, "nse", VALUES)
    with django_assert_num_queries(2):  # type: ignore[operator]
        summary.profile(corpus)


def test_the_files_hold_the_same_figures_and_print_hostile_names_as_text() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_avg", {"=HYPERLINK(1)": [0.25], "model_b%": [0.75]})
    panels = summary.profile(corpus)
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(panels))))
    assert [(row["system"], float(row["mean"])) for row in rows] == [
        ("'=HYPERLINK(1)", 0.25),
        ("model_b%", 0.75),
    ]
    latex = tables.as_latex(panels)
    assert r"model\_b\% & \textbf{0.750} $\pm$ 0.000" in latex
    assert r"\underline{0.250}" in latex


def test_the_quartiles_are_those_of_the_values() -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_avg", {"model-a": [0.1, 0.2, 0.3, 0.4]})
    column = summary.column(corpus, rater.pk)
    assert column is not None
    (box,) = distribution.distribution(corpus, column)
    assert (box["n"], box["low"], box["high"]) == (4, 0.1, 0.4)
    assert box["q1"] == pytest.approx(0.175)
    assert box["median"] == pytest.approx(0.25)
    assert "<svg" in distribution.svg([box], column)


def test_a_value_names_the_turns_that_caused_it() -> None:
    corpus = factories.corpus()
    scored(corpus, "m_sns_min", {"model-a": [0.3]}, nearest=1)
    lines, values = causes.values(Continuation.objects.get(system__name="model-a"))
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    (value,) = values
    assert (value.turn, value.value, value.turns) == (5, 0.3, (2,))
    assert value.causes == ("nearest to turn 2",)


def test_the_pages_show_it_all(client: Client) -> None:
    corpus = factories.corpus()
    rater = scored(corpus, "m_sns_min", {"<b>model</b>": [0.3], "human": [0.4]}, nearest=1)
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/corpora/{corpus.pk}/profile/").content.decode()
    assert "0.300" in page
    assert "<b>model</b>" not in page
    assert "&lt;b&gt;model" in page
    for path in ("csv", "tex"):
        assert client.get(f"/corpora/{corpus.pk}/profile.{path}").status_code == 200
    assert b"<svg" in client.get(f"/corpora/{corpus.pk}/profile/{rater.pk}.part").content
    assert client.get(f"/corpora/{corpus.pk}/profile.pdf").status_code == 404
    made = Continuation.objects.filter(system__name="human", key="c").get()
    assert "nearest to turn 2" in client.get(f"/profile/{made.pk}/").content.decode()
    cells = client.get(f"/api/v1/corpora/{corpus.pk}/profile/").json()["cells"]
    assert {cell["mean"] for cell in cells} == {0.3, 0.4}


def test_a_corpus_without_metrics_says_what_to_do(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    page = client.get(f"/corpora/{factories.corpus().pk}/profile/").content.decode()
    assert "No metric has been run" in page
