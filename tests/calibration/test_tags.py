"""Table 7 of a report: each judge's tags against people's, on the page and in every file."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotation.text.display import number, percent
from calibration.models import Report
from calibration.renderings import escaped
from calibration.reports import behaviours
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import TagTable
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
BEHAVIOURS = {"repetition": 3, "off_topic": 5, "unclear": 7}
TURNS = 60


def _marks(place: int, every: int) -> list[float]:
    return [float((n % every == 0) != (n % (11 + place) == 0)) for n in range(TURNS)]


def _rated(*, people: int = 2, judges: int = 1) -> World:
    """Three behaviours in a group and one that stands alone, marked by everybody."""
    built = world(dialogues=TURNS // 2, turns=2)
    for key in BEHAVIOURS:
        built.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group="Behaviours", positive=1)
    built.ask("another", "binary", [0, 1], scheme="tags", wording="Another", group="Other", positive=1)
    raters = [(f"p{n}", "human") for n in range(people)] + [(f"gpt{n}", "judge") for n in range(judges)]
    for place, (name, kind) in enumerate(raters):
        for key, every in BEHAVIOURS.items():
            built.say(name, key, _marks(place, every), kind=kind)
        built.say(name, "another", _marks(place, 13), kind=kind)
    return built


def _report(built: World) -> Report:
    study = studies.create(name="tags", corpus=built.corpus, definition={"resamples": 60}, by=None)
    return studies.compute(study=study, part="all", by=None)


def _table(report: Report, policy: str = "consistent") -> TagTable:
    (found,) = [table for table in snapshot_of(report).tags if table.policy == policy]
    return found


def test_a_report_has_the_tags_of_a_group_and_all_of_them_joined_and_no_tag_that_stands_alone() -> None:
    table = _table(_report(_rated()))
    assert [row.title for row in table.rows] == ["Repetition", "Off_Topic", "Unclear", "Overall"]
    assert (table.judge, table.people, table.n_items, table.n_dropped) == ("gpt0", ("p0", "p1"), TURNS, 0)
    marked = sum(sum(_marks(2, every)) for every in BEHAVIOURS.values())
    assert table.rows[-1].detected_by_judge.value == marked
    assert table.rows[-1].detected_by_judge.n_items == 3 * TURNS


@pytest.mark.exhaustive
def test_each_judge_has_a_table_by_each_policy() -> None:
    found = snapshot_of(_report(_rated(judges=2))).tags
    assert [(table.judge, table.policy) for table in found] == [
        ("gpt0", "consistent"),
        ("gpt0", "cocoeval"),
        ("gpt1", "consistent"),
        ("gpt1", "cocoeval"),
    ]


@pytest.mark.exhaustive
def test_the_page_shows_one_policy_by_name_and_switches_it(researcher: Client) -> None:
    report = _report(_rated())
    address = reverse("report", args=[report.study_id])
    page = researcher.get(address).content.decode()
    assert "Tags: gpt0 against people, Tags (policy consistent)" in page
    assert "(policy cocoeval)" not in page
    assert "60 turns that gpt0 and 2 people answered. Policy “consistent”: a person who never marks" in page
    other = researcher.get(address + "?policy=cocoeval").content.decode()
    assert "Tags: gpt0 against people, Tags (policy cocoeval)" in other
    assert "as published" in other
    assert researcher.get(address + "?policy=whatever").status_code == 200


@pytest.mark.exhaustive
def test_precision_and_recall_are_shown_as_shares_or_in_percent(researcher: Client) -> None:
    report = _report(_rated())
    address = reverse("report", args=[report.study_id])
    (precision,) = [c for c in _table(report).rows[0].judge if c.name == "precision"]
    shown = f'<span class="fw-bold">{number(precision.value, 3)}</span>'
    in_percent = f'<span class="fw-bold">{percent(precision.value, 1)}</span>'
    assert shown in researcher.get(address).content.decode()
    assert in_percent in researcher.get(address + "?percent").content.decode()


@pytest.mark.exhaustive
def test_the_chart_shows_marked_turns_of_people_and_judge(researcher: Client) -> None:
    report = _report(_rated())
    (chart,) = behaviours.marked(snapshot_of(report))
    assert [(p.question, p.series) for p in chart.points][:2] == [
        ("Repetition", "people"),
        ("Repetition", "gpt0"),
    ]
    assert "Overall" not in chart.questions
    data = researcher.get(reverse("report-chart", args=[report.study_id, chart.key, "csv"]))
    rows = list(csv.DictReader(io.StringIO(data.content.decode())))
    assert float(rows[1]["value"]) == sum(_marks(2, 3))
    drawn = researcher.get(reverse("report-chart", args=[report.study_id, chart.key, "svg"]))
    assert drawn.content.startswith(b"<svg")


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["md", "latex", "html"])
def test_printed_files_have_both_policies(form: str) -> None:
    text = RENDERINGS[form].write(_report(_rated()))
    assert "policy consistent" in text
    assert "policy cocoeval" in text


@pytest.mark.exhaustive
def test_csv_and_json_have_every_cell_unrounded() -> None:
    report = _report(_rated())
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    found = {(row["question"], row["name"]): row["value"] for row in rows}
    content = json.loads(RENDERINGS["json"].write(report))
    for table in content["tags"]:
        for row in table["rows"]:
            for cell in row["judge"]:
                name = f"table7_{table['policy']}_judge_{cell['name']}"
                assert found[f"tags@1/{row['key']}", name] == str(cell["value"])


@pytest.mark.exhaustive
def test_one_person_alone_is_said_to_be_one(researcher: Client) -> None:
    report = _report(_rated(people=1))
    assert _table(report).rows[0].people == ()
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert "Only one person answered: for agreement among people, at least two are needed." in page


@pytest.mark.exhaustive
def test_raters_who_share_no_turn_get_the_reason(researcher: Client) -> None:
    built = world(dialogues=20, turns=2)
    for key in BEHAVIOURS:
        built.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group="Behaviours", positive=1)
    for key in BEHAVIOURS:
        built.say("ann", key, [1.0, 0.0] * 10 + [None] * 20)
        built.say("gpt", key, [None] * 20 + [1.0, 0.0] * 10, kind="judge")
    page = researcher.get(reverse("report", args=[_report(built).study_id])).content.decode()
    assert "No turn was answered for every behaviour by gpt and by all it is compared with." in page


FILE = "item,rater,kind,question,value,cluster\n" + "".join(
    f"t{n},{name},{kind},{key},{mark:g},d{n // 2}\n"
    for place, (name, kind) in enumerate((("p0", "human"), ("p1", "human"), ("gpt0", "judge")))
    for key, every in BEHAVIOURS.items()
    for n, mark in enumerate(_marks(place, every))
)


def _agree(folder: Path, *options: str, text: str = FILE) -> str:
    path, out = folder / "tags.csv", io.StringIO()
    path.write_text(text)
    given = ["--scale", "binary", "--values", "0,1", "--resamples", "60", "--table7", *options]
    call_command("agree", str(path), *given, stdout=out)
    return out.getvalue()


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["consistent", "cocoeval"])
def test_agree_makes_the_table_of_a_ratings_file_as_the_report_does(tmp_path: Path, policy: str) -> None:
    table = _table(_report(_rated()), policy)
    rows = json.loads(_agree(tmp_path, "--json", "--policy", policy))["table7"]
    assert [row["question"] for row in rows] == [*BEHAVIOURS, "overall"]
    for row, kept in zip(rows, table.rows, strict=True):
        assert row["policy"] == policy
        assert row["detected_people"] == kept.detected_by_people.value
        assert row["detected_judge"] == kept.detected_by_judge.value
        assert {c.name: c.value for c in kept.judge} == {c.name: row[c.name] for c in kept.judge}
        assert {c.name: c.value for c in kept.people} == {
            c.name: row[f"people_{c.name}"] for c in kept.people
        }


@pytest.mark.parametrize("form", ["", "--html", "--latex"])
def test_agree_prints_the_table_first_and_alone(tmp_path: Path, form: str) -> None:
    printed = _agree(tmp_path, *([form] if form else []))
    for heading in ("Marked turns", "Judge with people", "People with each other", "Precision", "Recall"):
        assert heading in printed
    for behaviour in (*BEHAVIOURS, "Overall"):
        assert escaped(behaviour) in printed if form == "--latex" else behaviour in printed
    assert "consistent" in printed
    assert "Intervals over 30 clusters: cluster bootstrap" in printed
    assert "alpha" not in printed
    assert printed.count("CoCoEval table 7") <= 1


def test_agree_prints_the_table_in_the_order_of_the_file_with_its_intervals(tmp_path: Path) -> None:
    lines = _agree(tmp_path).splitlines()
    assert lines[0] == "tags.csv: CoCoEval table 7: gpt0 against people"
    table = _table(_report(_rated()))
    row = next(line for line in lines if line.strip().startswith("Overall"))
    assert row.split()[1:3] == [
        number(table.rows[-1].detected_by_people.value, 1),
        number(table.rows[-1].detected_by_judge.value, 1),
    ]
    assert re.search(r"\d to \d", lines[lines.index(row) + 1])


def test_agree_writes_the_figures_of_the_table_alone_as_csv(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_agree(tmp_path, "--csv"))))
    assert {row["name"].partition("_")[0] for row in rows} == {"table7"}
    assert len([row for row in rows if row["name"] == "table7_judge_precision"]) == 4


@pytest.mark.parametrize("form", ["", "--html", "--latex", "--csv"])
def test_other_sections_follow_the_table_where_an_option_asks_for_them(tmp_path: Path, form: str) -> None:
    printed = _agree(tmp_path, "--each-rater", *([form] if form else []))
    table = "table7_judge_precision" if form == "--csv" else "Marked turns"
    other = "krippendorff_alpha" if form == "--csv" else "Krippendorff"
    assert 0 <= printed.index(table) < printed.index(other)


def test_the_json_of_the_table_has_the_statistics_as_well(tmp_path: Path) -> None:
    document = json.loads(_agree(tmp_path, "--json"))
    assert {entry["name"] for entry in document["statistics"]} >= {"krippendorff_alpha", "cohen_kappa"}
    assert document["table7"][-1]["question"] == "overall"


def test_the_table_says_what_was_not_read_of_the_file(tmp_path: Path) -> None:
    text = FILE.replace("item,", "note,item,").replace("\nt", "\nn,t")
    assert "Columns not read: note." in _agree(tmp_path, text=text)
    assert "Columns not read: note." in _agree(tmp_path, "--html", text=text)


def test_names_in_the_table_are_escaped(tmp_path: Path) -> None:
    text = FILE.replace("gpt0", "<b>gpt</b> 100% & co").replace("repetition", "=1+1")
    assert "<b>gpt</b>" not in _agree(tmp_path, "--html", text=text)
    assert r"100\% \& co" in _agree(tmp_path, "--latex", text=text)
    assert "\n=1+1" not in _agree(tmp_path, "--csv", text=text)
    assert ",=1+1" not in _agree(tmp_path, "--csv", text=text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FILE.replace("judge", "human"), "must say judge of one rater and human of another"),
        ("item,rater,value\nt1,a,1\nt1,b,0\n", "must say judge of one rater"),
    ],
)
def test_agree_says_what_the_table_needs(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        _agree(tmp_path, text=text)


@pytest.mark.exhaustive
def test_the_table_does_not_go_with_strata(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--table7 does not go with --by"):
        _agree(tmp_path, "--by", "cluster")
