"""A heading names the variant of METEOR, LNR and GSCC wherever it differs from the printed metric."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation import scheme_store
from annotation.models import Continuation, Corpus, Item, Rater
from annotation.work.labels import Answer, record
from calibration.comparisons import metric_causes, profiles
from calibration.exports import labels as exports
from calibration.exports.writing import write
from calibration.ratings.scope import of_corpus
from calibration.studies import study_actions as studies
from judges.metrics import METRICS, instrument_for
from judges.metrics.kit.metric import PAPER
from judges.runs.metric_calls import scheme_of
from tests import factories

pytestmark = pytest.mark.django_db

TURNS = ("meteor", "lnr", "lnr_e", "lnr_e_w")
WHOLE = tuple(key for key in METRICS if key.startswith("gscc_dc"))
BARE = re.compile(r"\b(meteor|lnr(?:[-_]e(?:[-_]w)?)?|gscc(?:[-_]dc)?(?:[-_]\w+)*)\b(?!@)", re.I)
TITLES = {METRICS[key].title for key in (*TURNS, *WHOLE)}


@pytest.fixture(scope="module")
def rated(module_database: None) -> Corpus:
    """A corpus with people's answers, and values of the default variants."""
    corpus = factories.corpus("headed")
    quality = factories.scheme_version("comperdial_turn").questions.get()
    people = [Rater.objects.create(kind="human", name=name, corpus=corpus) for name in ("ann", "ben")]
    raters = {}
    for key in (*TURNS, *WHOLE):
        one = instrument_for(key)
        spec = {"metric": key, "variant": one.variant}
        rater = Rater.objects.create(kind="metric", name=one.name, spec=spec)
        raters[rater] = scheme_store.store(definition=scheme_of(METRICS[key])).questions.get()
    for number in range(6):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        made = factories.continuation(dialogue, "c", system="x", turns=[{"text": "a"}])
        for item in Item.objects.filter(continuation=made):
            if item.kind == "turn":
                for rater in people:
                    record(
                        rater=rater, answers=[Answer(item, quality, float(1 + number % 5))], occasion="main"
                    )
            for rater, question in raters.items():
                if METRICS[rater.spec["metric"]].kind == item.kind:
                    record(rater=rater, answers=[Answer(item, question, number / 7)], occasion="main")
    return corpus


def headings(page: str) -> list[str]:
    found = re.findall(r"<(th|h[1-6]|caption|summary)\b[^>]*>(.*?)</\1>", page, re.S)
    return [" ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()) for _, text in found]


def bare(text: str) -> list[str]:
    """Names without their variant, and titles without it."""
    found = [name[0] for name in BARE.finditer(text)]
    return found + [one for one in TITLES if re.search(rf"{re.escape(one)}(?!,| \(|\w| with)", text)]


@pytest.mark.exhaustive
def test_the_profile_its_files_and_its_charts(rated: Corpus, client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    page = client.get(reverse("profile", args=[rated.pk])).content.decode()
    told = headings(page)
    assert any("meteor@exact_plus_stem" in one for one in told)
    assert any("gscc_dc_avg@no_singletons" in one for one in told)
    assert [one for one in told if bare(one)] == []
    panels = profiles.profile(rated)
    latex = profiles.as_latex(panels).replace("\\", "")
    assert "lnr_e_w@words" in latex
    assert bare(latex) == []
    assert [
        row["metric"] for row in csv.DictReader(io.StringIO(profiles.as_csv(panels))) if bare(row["metric"])
    ] == []
    for panel in panels:
        for column in panel.columns:
            assert bare(column.title) == []
            assert bare(profiles.inline_svg(profiles.distribution(rated, column), column)) == []
    _, values = metric_causes.values(Continuation.objects.filter(dialogue__corpus=rated, key="c").first())
    assert [value for value in values if bare(value.metric) or bare(value.title)] == []


@pytest.mark.exhaustive
def test_reports_and_exports(rated: Corpus, client: Client) -> None:
    client.force_login(factories.user(researcher=True))
    study = studies.create(name="s", corpus=rated, definition={"resamples": 0}, by=None)
    studies.compute(study=study, part="all", by=None)
    page = client.get(reverse("report", args=[study.pk])).content.decode()
    assert "meteor@exact_plus_stem" in page
    assert [one for one in headings(page) if BARE.search(one)] == []
    file = io.BytesIO()
    write(exports.labels(of_corpus(rated)), "csv", file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))
    assert bare(" ".join(rows[0])) == []
    assert {row["rater"] for row in rows if bare(row["rater"])} == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", METRICS)
def test_every_title_has_its_variant_but_the_printed_one(key: str) -> None:
    metric = METRICS[key]
    for variant in metric.variants:
        assert metric.titled(variant).startswith(metric.title)
        assert (metric.titled(variant) == metric.title) == (variant == PAPER)


def test_no_title_is_the_name_of_a_metric_that_has_stand_ins() -> None:
    assert [title for title in TITLES if BARE.search(title)] == []
