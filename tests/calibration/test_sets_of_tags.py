"""Agreement on sets of tags in a report: a row for each group, on the page and in every file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from annotation.text.display import number
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import TagSet
from calibration.reports.snapshot import snapshot_of
from calibration.statistics import Plan, Ratings
from calibration.statistics.sets import set_agreement
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
TAGS = {"rude": 3, "vague": 5, "false": 7}
TURNS = 60


def _marks(place: int, every: int) -> list[float]:
    return [float((n % every == 0) != (n % (11 + place) == 0)) for n in range(TURNS)]


def _rated(*, people: int = 2, judges: int = 0, group: str = "Faults") -> World:
    built = world(dialogues=TURNS // 2, turns=2)
    for key in TAGS:
        built.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group=group, positive=1)
    built.ask("funny", "binary", [0, 1], scheme="tags", wording="Funny", group="Other", positive=1)
    for place in range(people + judges):
        name, kind = (f"p{place}", "human") if place < people else (f"gpt{place}", "judge")
        for key, every in TAGS.items():
            built.say(name, key, _marks(place, every), kind=kind)
        built.say(name, "funny", _marks(place, 13), kind=kind)
    return built


def _report(built: World, **definition: object) -> Report:
    definition = {"resamples": 60, **definition}
    study = studies.create(name="tags", corpus=built.corpus, definition=definition, by=None)
    return studies.compute(study=study, part="all", by=None)


def _sets(report: Report) -> TagSet:
    (tag_set,) = snapshot_of(report).sets
    return tag_set


def test_a_group_of_tags_has_its_alpha_over_sets_and_a_tag_that_stands_alone_has_none() -> None:
    tag_set = _sets(_report(_rated()))
    assert (tag_set.ref, tag_set.titles) == ("tags@1/Faults", ("Rude", "Vague", "False"))
    (figure,) = tag_set.figures
    by_tag = {
        key: Ratings.from_matrix(
            list(zip(_marks(0, every), _marks(1, every), strict=True)), level="binary", scale=(0, 1)
        )
        for key, every in TAGS.items()
    }
    assert figure.value == pytest.approx(set_agreement(by_tag, Plan(resamples=0)).value, abs=1e-12)
    assert (figure.n_items, figure.n_clusters, figure.n_raters) == (TURNS, TURNS // 2, 2)
    assert figure.low is not None


def test_people_and_judges_have_their_own_rows_beside_everyone() -> None:
    figures = _sets(_report(_rated(judges=2))).figures
    assert [figure.raters for figure in figures] == [
        ("p0", "p1", "gpt2", "gpt3"),
        ("p0", "p1"),
        ("gpt2", "gpt3"),
    ]


def test_a_set_with_a_missing_answer_is_left_out() -> None:
    built = _rated()
    built.say("p2", "rude", [1.0] * TURNS)
    built.say("p2", "vague", [0.0] * TURNS)
    built.say("p2", "false", [None] * 50 + [0.0] * 10)
    (figure,) = _sets(_report(built)).figures
    assert (figure.n_raters, figure.n_missing) == (3, 50)


def test_a_study_without_the_statistic_has_no_sets() -> None:
    assert snapshot_of(_report(_rated(), statistics=["cohen_kappa"])).sets == ()


def test_a_corpus_without_groups_has_no_sets() -> None:
    assert snapshot_of(_report(_rated(group=""))).sets == ()


def test_the_row_is_on_the_page_and_in_every_file(researcher: Client) -> None:
    report = _report(_rated(judges=1, group="<b>Faults & more"))
    figure = _sets(report).figures[1]
    shown = number(figure.value, 3)
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    section = page.partition("Agreement on sets of tags")[2]
    assert f'<span class="fw-bold">{shown}</span>' in section
    assert "&lt;b&gt;Faults &amp; more" in section
    assert "<b>Faults" not in page
    assert "2 people and 1 judge" in section
    for form in ("md", "latex", "html"):
        assert shown in RENDERINGS[form].write(report)
    lines = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    (line, *_) = [
        line for line in lines if line["name"] == "krippendorff_alpha_masi" and "gpt" not in str(line)
    ]
    assert float(line["value"]) == figure.value
    stored = json.loads(RENDERINGS["json"].write(report))["sets"]
    assert stored[0]["figures"][1]["value"] == figure.value


def test_sets_of_a_column_become_a_group_with_its_alpha(tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    answers = [("9;5;6", "5;6;9"), ("5", "5;6"), ("", "9"), ("6", "6")]
    path.write_text(
        "conv,who,said,ann,ben\n"
        + "".join(f"d{n},A,words,{first},{second}\n" for n, (first, second) in enumerate(answers))
    )
    mapping = {
        "dialogue": "conv",
        "speaker": "who",
        "text": "said",
        "label[turn]:topics": ["ann", "ben"],
        "separator:topics": ";",
    }
    import_path(path=path, format="table", corpus="sets", into=False, by=None, mapping=mapping)
    corpus = Corpus.objects.get(name="sets")
    study = studies.create(name="sets", corpus=corpus, definition={"resamples": 0}, by=None)
    tag_set = _sets(studies.compute(study=study, part="all", by=None))
    assert (tag_set.group, tag_set.titles) == ("topics", ("5", "6", "9"))
    (figure,) = tag_set.figures
    assert (figure.n_items, figure.n_missing) == (3, 1)
    within = 2 * (2 / 3)
    among = 2 * (
        2 * (1 - 1 / 3 * 2 / 3) + 2 * (1 - 2 / 3 * 2 / 3) + 4 * (1 - 1 / 3 * 2 / 3) + 2 / 3 + 2 + 2 * (2 / 3)
    )
    assert figure.value == pytest.approx(1 - 5 * within / among, abs=1e-12)
