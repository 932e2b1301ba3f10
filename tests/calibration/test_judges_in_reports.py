"""Comparison of judges, and of raters with a key: on the page, in every file, by command, in the API."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.text.display import number
from calibration.models import Report
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import ComparedJudges, KeyTable
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
ITEMS = 80
KINDS = {"ann": "human", "ben": "human", "gpt": "judge", "llm": "judge", "gold": "key"}


def marks(place: int) -> list[float]:
    """What a rater says of each item: the place in the list errs now and then."""
    return [float((n % 3 == 0) != (n % (7 + 2 * place) == 0)) for n in range(ITEMS)]


def scores(place: int, call: int = 0) -> list[float]:
    """The same on a scale of five; another call says something else now and then."""
    return [float(1 + (n * 7 + (n % (4 + place) == 0) + (n % (5 + call) == 0)) % 5) for n in range(ITEMS)]


def rated(judges: int = 2) -> World:
    """A tag with a key, and a scale that one judge answered three times."""
    built = world(dialogues=ITEMS // 2, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    raters = {**KINDS, **{f"judge {n}": "judge" for n in range(judges - 2)}}
    for place, (name, kind) in enumerate(raters.items()):
        built.say(name, "tag", marks(place), kind=kind)
        if kind != "key":
            built.say(name, "quality", scores(place), kind=kind)
    for call in (1, 2):
        built.say("gpt", "quality", scores(2, call), kind="judge", sample=call)
    return built


def computed(built: World, part: str = "all", **definition: Any) -> Report:
    """Return a study's report."""
    study = studies.create(
        name="judges", corpus=built.corpus, definition={"resamples": 60} | definition, by=None
    )
    return studies.compute(study=study, part=part, by=None)


def compared(result: Snapshot, key: str) -> ComparedJudges:
    """Return what was compared on a question."""
    return next(question for question in result.compared if question.ref.endswith(f"/{key}"))


def test_every_pair_and_the_readings_of_one_judge_are_compared() -> None:
    result = snapshot_of(computed(rated()))
    tag, quality = compared(result, "tag"), compared(result, "quality")
    assert {(p.names, p.statistic, p.reference) for p in tag.pairs} == {
        (("gpt", "llm"), "cohen_kappa", "people"),
        (("gpt", "llm"), "mcc", "people"),
        (("gpt", "llm"), "accuracy", "gold"),
    }
    first, mean = "gpt (first of 3 calls)", "gpt (mean of 3 calls)"
    of_ranks = [pair for pair in quality.pairs if pair.statistic == "spearman"]
    assert [pair.names for pair in of_ranks] == [(first, mean), (first, "llm"), (mean, "llm")]
    assert [pair.samples for pair in of_ranks] == [("first", "mean"), ("first", ""), ("mean", "")]
    assert {p.names for p in quality.pairs if p.statistic == "cohen_kappa"} == {(first, "llm")}


@pytest.mark.exhaustive
def test_the_statistics_are_those_of_the_study() -> None:
    result = snapshot_of(computed(rated(), statistics=["pearson"]))
    assert {pair.statistic for pair in compared(result, "quality").pairs} == {"pearson"}
    assert {pair.statistic for pair in compared(result, "tag").pairs} == {"accuracy"}


def against(result: Snapshot) -> KeyTable:
    """Return the only table of a key."""
    (found,) = result.keys
    return found


@pytest.mark.exhaustive
def test_everybody_on_the_scale_has_a_row_against_the_key() -> None:
    table = against(snapshot_of(computed(rated())))
    assert [(row.rater, row.kind) for row in table.rows] == [
        ("ann", "human"),
        ("ben", "human"),
        ("gpt", "judge"),
        ("llm", "judge"),
    ]
    agree = sum(a == b for a, b in zip(marks(0), marks(4), strict=True)) / ITEMS
    assert table.rows[0].figures[0].value == pytest.approx(agree, abs=1e-15)
    assert [row.rater for row in table.baselines] == ["majority: 0", "random"]


@pytest.mark.exhaustive
def test_the_page_shows_one_question_at_a_time_and_the_matrices(researcher: Client) -> None:
    report = computed(rated())
    address = reverse("report", args=[report.study_id])
    page = researcher.get(address).content.decode()
    assert "Judges compared: Quality" in page
    assert "gpt (first of 3 calls) less gpt (mean of 3 calls)" in page
    assert "Judges compared: Tag" not in page
    assert "Tag: gold (rows) and gpt (columns)" in page
    assert "slightly optimistic" in page
    other = researcher.get(address + "?compared=tag@1/tag").content.decode()
    assert "Judges compared: Tag" in other
    assert "Accuracy, gold" in other
    assert researcher.get(address + "?compared=nothing").status_code == 200


@pytest.mark.exhaustive
def test_of_many_judges_the_page_folds_the_pairs_without_the_best(researcher: Client) -> None:
    report = computed(rated(judges=7))
    address = reverse("report", args=[report.study_id]) + "?compared=tag@1/tag"
    page = researcher.get(address).content.decode()
    assert "The other pairs on Tag: 45" in page  # of 21 pairs on three statistics, 15 are without the best
    assert page.count(" less ") >= 3 * 21


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["md", "latex", "html"])
def test_printed_files_have_every_question_and_the_answers_by_value(form: str) -> None:
    text = RENDERINGS[form].write(computed(rated()))
    assert "Judges compared: Tag" in text
    assert "Judges compared: Quality" in text
    assert "Against the key: Tag" in text
    assert "Answers by value of the key: Tag" in text


@pytest.mark.exhaustive
def test_latex_of_hostile_names_compiles(compiled: Compiled) -> None:
    built = rated()
    name = r"g\_{%&$#~^} [x] <b>"
    built.say(name, "tag", marks(6), kind="judge")
    compiled(RENDERINGS["latex"].write(computed(built)), packages="booktabs,graphicx")


@pytest.mark.exhaustive
def test_names_are_escaped_on_the_page(researcher: Client) -> None:
    built = rated()
    built.say("<script>x</script>", "tag", marks(6), kind="judge")
    page = researcher.get(reverse("report", args=[computed(built).study_id])).content.decode()
    assert "<script>x</script>" not in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page


@pytest.mark.exhaustive
def test_csv_and_json_have_every_figure_unrounded() -> None:
    report = computed(rated())
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    kept = json.loads(RENDERINGS["json"].write(report))
    values = {(row["question"], row["name"], row["raters"]): row["value"] for row in rows}
    for question in kept["compared"]:
        for pair in question["pairs"]:
            names = "; ".join(pair["names"])
            for part in ("difference", "p", "p_holm"):
                name = f"compared_{part}_{pair['statistic']}"
                assert values[question["ref"], name, names] == str(pair[part]["value"])
    for table in kept["keys"]:
        for row in table["rows"]:
            for figure in row["figures"]:
                at = table["ref"], f"key_{figure['name']}", f"{table['key']}; {row['rater']}"
                assert values[at] == str(figure["value"])
    assert sum(row["name"] == "key_confusion" for row in rows) == 4 * 4


@pytest.mark.exhaustive
def test_the_api_gives_both(researcher: Client) -> None:
    report = computed(rated())
    found = researcher.get(reverse("api-report", args=[report.study_id])).json()["result"]
    assert len(found["compared"]) == 2
    assert found["keys"][0]["rows"][2]["rater"] == "gpt"


@pytest.mark.exhaustive
def test_where_test_is_shown_the_majority_of_dev_is_a_baseline() -> None:
    built = rated()
    splits.draw(corpus=built.corpus, name="main", seed=1, test_share=0.5, by=None)
    dev, test = (computed_part(built, part) for part in ("dev", "test"))
    assert [row.rater for row in dev.baselines] == ["majority: 0", "random"]
    assert [row.rater for row in test.baselines] == ["majority: 0", "random", "majority of dev: 0"]
    assert test.baselines[2].figures[0].value == test.baselines[0].figures[0].value


def computed_part(built: World, part: str) -> KeyTable:
    """Return the table of one part of the split."""
    study = studies.automatic(corpus=built.corpus)
    if part == "test":
        studies.open_test(study=study, by=None, purpose="a trial of the tables")
    return against(snapshot_of(studies.compute(study=study, part=part, by=None)))


FILE = "item,rater,kind,value,cluster\n" + "".join(
    f"t{n},{name},{kind},{mark:g},d{n // 2}\n"
    for place, (name, kind) in enumerate(KINDS.items())
    for n, mark in enumerate(marks(place))
)


def agree(folder: Path, *options: str, text: str = FILE) -> str:
    path, out = folder / "marks.csv", io.StringIO()
    path.write_text(text)
    given = ["--scale", "binary", "--values", "0,1", "--resamples", "60", *options]
    call_command("agree", str(path), *given, stdout=out)
    return out.getvalue()


@pytest.mark.exhaustive
def test_agree_compares_as_the_report_does(tmp_path: Path) -> None:
    result = snapshot_of(computed(rated()))
    said = json.loads(agree(tmp_path, "--compare", "--json"))
    kept = {pair.statistic: pair for pair in compared(result, "tag").pairs}
    assert {row["statistic"] for row in said["compared"]} == set(kept)
    for row in said["compared"]:
        pair = kept[row["statistic"]]
        assert row["raters"] == ["gpt", "llm"]
        assert (row["a"], row["b"], row["difference"]) == (
            pair.first.value,
            pair.second.value,
            pair.difference.value,
        )
        assert (row["low"], row["high"]) == (pair.difference.low, pair.difference.high)
        assert (row["p"], row["p_holm"]) == (pair.p.value, pair.p_holm.value)
        assert row["n_items"] == ITEMS
    rows = {row["rater"]: row for row in said["against_key"]}
    for known in against(result).rows:
        assert rows[known.rater]["accuracy"] == known.figures[0].value
        assert rows[known.rater]["confusion"] == [list(counts) for counts in known.matrix]


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["", "--html", "--latex", "--csv"])
def test_agree_prints_both_in_every_form(tmp_path: Path, form: str) -> None:
    said = agree(tmp_path, "--compare", *([form] if form else []))
    (row,) = [
        r for r in json.loads(agree(tmp_path, "--compare", "--json"))["compared"] if r["statistic"] == "mcc"
    ]
    if form == "--csv":
        assert f"compared_p_holm_mcc,gpt;llm,{row['p_holm']}" in said
        assert "key_accuracy,gold;gpt," in said
    else:
        assert f"{number(row['a'], 3)} less {number(row['b'], 3)}; p {row['p']:.4f}" in said
        assert "Accuracy less that of the best baseline" in said


@pytest.mark.exhaustive
def test_agree_s_latex_compiles(tmp_path: Path, compiled: Compiled) -> None:
    compiled(agree(tmp_path, "--compare", "--latex"), packages="booktabs,longtable")


@pytest.mark.exhaustive
def test_agree_takes_a_rater_as_the_key(tmp_path: Path) -> None:
    unnamed = "".join(line.replace(",key,", ",human,") + "\n" for line in FILE.splitlines())
    said = json.loads(agree(tmp_path, "--key", "gold", "--json", text=unnamed))
    assert [row["rater"] for row in said["against_key"]][:4] == ["ann", "ben", "gpt", "llm"]
    with pytest.raises(CommandError, match="--key: no rater 'nobody'"):
        agree(tmp_path, "--key", "nobody")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--compare", "--against", "ann"], "--compare does not go with --against"),
        (["--compare"], "--compare needs two judges or metrics"),
    ],
)
def test_agree_says_what_a_comparison_needs(tmp_path: Path, options: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        agree(tmp_path, *options, text=FILE.replace("judge", "human"))


def test_agree_compares_one_call_with_the_mean_of_several(tmp_path: Path) -> None:
    lines = ["item,rater,kind,sample,value"]
    lines += [f"i{n},ann,human,0,{v:g}" for n, v in enumerate(scores(0))]
    lines += [f"i{n},gpt,judge,{c},{v:g}" for c in range(3) for n, v in enumerate(scores(2, c))]
    path, out = tmp_path / "calls.csv", io.StringIO()
    path.write_text("\n".join(lines) + "\n")
    given = ["--scale", "ordinal", "--values", "1,2,3,4,5", "--resamples", "60", "--compare", "--json"]
    call_command("agree", str(path), *given, stdout=out)
    rows = json.loads(out.getvalue())["compared"]
    assert {row["statistic"] for row in rows} == {"spearman", "pearson"}
    assert all((row["raters"], row["samples"]) == (["gpt", "gpt"], ["first", "mean"]) for row in rows)
