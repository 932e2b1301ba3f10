"""The Answers report of a stored corpus: its contract, formats, layouts, and errors."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.corpora import splits
from annotation.models import TestLook
from suites.long_dialogue.answers.renderings import RENDERINGS, as_text
from suites.long_dialogue.answers.report import compute, compute_on_test
from suites.long_dialogue.answers.rows import read
from suites.reports import ReportRefused
from tests.suites.long_dialogue.answers_world import FREE, asked, bring, walked

pytestmark = pytest.mark.django_db


def printed(capsys, *options: str) -> str:
    call_command("answers", *options)
    return capsys.readouterr().out


def told(capsys, *options: str) -> dict:
    return json.loads(printed(capsys, *options, "--format", "json"))


def test_the_command_prints_what_programs_rely_on(tmp_path, capsys) -> None:
    bring(tmp_path)
    made = told(capsys, "--corpus", "Loaf", "--by", "model,memory")
    base, oracle = made["rows"]
    assert (base["system"], base["condition"]) == ("m", {"model": "m", "memory": "base"})
    assert base["accuracy"] | {} == base["accuracy"]
    assert {key: base["accuracy"][key] for key in ("value", "n")} == {"value": 0.375, "n": 8}
    assert base["accuracy"]["sd"] == pytest.approx(0.1767767)
    assert base["accuracy"]["low"] < 0.375 < base["accuracy"]["high"]
    assert base["by"]["answerable"]["answerable"]["value"] == 0.5
    assert base["by"]["answerable"]["unanswerable"]["value"] == 0
    assert set(base["retrieval"]) == {"sufficient", "partly", "none"}
    assert base["retrieval"]["sufficient"]["value"] == 0.5
    assert base["retrieval"]["sufficient"]["accuracy"]["value"] == 1
    assert base["abstention"]["recall"]["value"] == 0
    assert base["counts"]["ambiguous"] == 1
    assert base["oracle_gap"]["value"] == 0.625
    assert (oracle["accuracy"]["value"], oracle["abstention"]["recall"]["value"]) == (1, 1)
    assert oracle["oracle_gap"]["reason"] == "this is the oracle"


def test_the_same_seed_prints_the_same(tmp_path, capsys) -> None:
    bring(tmp_path)
    one, two = (printed(capsys, "--corpus", "Loaf", "--seed", "3", "--format", "json") for _ in range(2))
    assert one == two


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", RENDERINGS)
def test_every_form_shows_the_accuracy(tmp_path, form) -> None:
    corpus = bring(tmp_path)
    written = RENDERINGS[form].write(compute(query=read({}, corpus), by=None))
    assert "0.375" in written or "0.38" in written
    assert "NaN" not in written


def test_the_terminal_shows_it_too(tmp_path) -> None:
    corpus = bring(tmp_path)
    text = as_text(compute(query=read({}, corpus), by=None))
    assert "Question set: first. A question before its evidence: policy body." in text
    assert "Best memory and oracle" in text


def test_table_3_has_models_by_memory(tmp_path) -> None:
    corpus = bring(tmp_path)
    made = compute(query=read({"layout": "table3"}, corpus), by=None)
    (row, chance) = csv_lines(made, "m"), csv_lines(made, "Random guessing, expected")
    assert [one["column"] for one in row] == ["Base", "Oracle"]
    assert "37.50 (17.68)" in as_text(made)
    assert [one["text"] for one in chance] == ["20.00", "20.00"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["first", "first:1", "first@1"])
def test_a_question_set_is_found_however_its_version_is_told(tmp_path, capsys, name) -> None:
    bring(tmp_path, walked("m", 0, asked(1)), walked("m", 1, asked(1, set="first:1")))
    assert told(capsys, "--corpus", "Loaf", "--set", name)["rows"][0]["counts"]["asked"] == 2


def csv_lines(made, name: str) -> list[dict[str, str]]:
    lines = csv.DictReader(io.StringIO(RENDERINGS["csv"].write(made)))
    return [line for line in lines if line["row"] == name]


def test_table_4_has_differences_from_anonymised_names(tmp_path) -> None:
    walks = [
        walked("m", 0, asked(1), asked(2), asked(4), names="original"),
        walked("m", 0, asked(1), asked(2, outcome="B"), asked(4), names="anonymised"),
        walked("m", 0, asked(1, outcome="B"), asked(2, outcome="B"), asked(4), names="swapped"),
    ]
    corpus = bring(tmp_path, *walks)
    made = compute(query=read({"layout": "table4"}, corpus), by=None)
    (anonymised, original, swapped) = csv_lines(made, "m")
    assert [round(float(one["value"]), 4) for one in (anonymised, original, swapped)] == [0.6667, 1, 0.3333]
    assert float(original["difference"]) == pytest.approx(1 / 3)
    assert float(swapped["difference"]) == pytest.approx(-1 / 3)
    assert "100.00 (+33.33)" in as_text(made)
    report = compute(query=read({}, corpus), by=None)
    (names,) = report.names
    assert names.differences["original", "anonymised"].value == pytest.approx(1 / 3)


def told_of(made, key: str, row: str) -> dict[str, object]:
    """Return the values of a row of a table by column."""
    (table,) = (one for one in made.tables if one.key == key)
    (line,) = (one for one in table.lines if one.name == row)
    return {head: getattr(cell, "value", cell) for head, cell in zip(table.heads, line.cells, strict=True)}


def memories(system: str, *told: tuple[dict[str, str], str]) -> list[dict]:
    """Walks of a system under settings, each with the letters that it gave to questions 1, 2 and 4."""
    return [
        walked(
            system,
            0,
            *(asked(n, outcome=letter) for n, letter in zip((1, 2, 4), letters, strict=False)),
            **one,
        )
        for one, letters in told
    ]


SESSION = {"memory": "session", "retriever": "bm25"}


def test_another_k_makes_another_column_and_never_another_row(tmp_path) -> None:
    walks = memories(
        "m",
        ({"memory": "base"}, "ABB"),
        (SESSION | {"k": "5"}, "AAB"),
        (SESSION | {"k": "10"}, "AAA"),
        ({"memory": "utterance", "retriever": "bm25", "k": "20"}, "BBB"),
        ({"memory": "oracle"}, "AAA"),
    )
    corpus = bring(tmp_path, *walks)
    made = compute(query=read({"layout": "table3"}, corpus), by=None)
    assert [line.name for line in made.tables[0].lines] == ["m", "Random guessing, expected"]
    assert told_of(made, "table3", "m") == {
        "Base": pytest.approx(1 / 3),
        "BM25, utterance": 0,
        "BM25, session, k 10": 1,
        "BM25, session, k 5": pytest.approx(2 / 3),
        "Oracle": 1,
    }
    best = told_of(compute(query=read({}, corpus), by=None), "oracle", "m")
    assert (best["Best memory"], best["Its accuracy"]) == ("BM25, session, k 10", 1)


def test_the_best_memory_is_chosen_on_what_all_were_asked(tmp_path) -> None:
    walks = memories(
        "m", ({"memory": "base"}, "A"), (SESSION, "ABB"), ({"memory": "summary", "retriever": "bm25"}, "BAA"),
        ({"memory": "oracle"}, "AAA"),
    )  # fmt: skip
    made = compute(query=read({}, bring(tmp_path, *walks)), by=None)
    best = told_of(made, "oracle", "m")
    assert (best["Best memory"], best["Its accuracy"], best["Oracle less best"]) == ("Base", 1, 0)
    (table,) = (one for one in made.tables if one.key == "oracle")
    assert table.notes[-1].endswith("in the same trials; 6 other answers are left out.")


def test_cells_of_table_3_are_over_the_same_questions_and_the_rest_is_named(tmp_path) -> None:
    walks = [*memories("m", ({"memory": "base"}, "ABA")), *memories("n", ({"memory": "base"}, "AB"))]
    made = compute(query=read({"layout": "table3"}, bring(tmp_path, *walks)), by=None)
    assert [told_of(made, "table3", name)["Base"] for name in ("m", "n")] == [0.5, 0.5]
    assert made.tables[0].notes[1] == (
        "Compared on the questions and trials of every cell of the table; 1 of 5 answers are left out."
    )


@pytest.mark.exhaustive
def test_the_average_of_table_4_is_over_rows_that_have_every_column(tmp_path) -> None:
    kinds = ({"names": "anonymised"}, {"names": "original"})
    walks = [
        *memories("m", *((one, "AAB") for one in kinds)),
        *memories("n", *((one, "ABB") for one in kinds)),
        *memories("o", (kinds[0], "BBB")),
    ]
    made = compute(query=read({"layout": "table4"}, bring(tmp_path, *walks)), by=None)
    average = told_of(made, "table4", "Average")
    assert average["Base: anonymised"] == pytest.approx(0.5)
    assert made.tables[0].notes[-1] == "The average is over the 2 rows that have every column, without o."


def test_table_2_counts_the_candidates_of_the_set(tmp_path) -> None:
    corpus = bring(tmp_path)
    made = compute(query=read({"layout": "table2"}, corpus), by=None)
    (line,) = made.tables[0].lines
    assert line.name == "loaf, first"
    assert line.cells == (5, 2, "1.0", "0.0", "1.0", "0.5", "0.5")


def test_lenient_answers_count_where_they_are_asked_for(tmp_path, capsys) -> None:
    bring(tmp_path, walked("m", 0, asked(1, lenient=True), asked(2)))
    assert told(capsys, "--corpus", "Loaf")["rows"][0]["accuracy"]["value"] == 0.5
    assert told(capsys, "--corpus", "Loaf", "--lenient")["rows"][0]["accuracy"]["value"] == 1


def test_what_waits_for_a_judge_bounds_the_accuracy(tmp_path, capsys) -> None:
    bring(tmp_path, walked("m", 0, asked(1), asked(2, "Something red.", **FREE)))
    (row,) = told(capsys, "--corpus", "Loaf")["rows"]
    assert (row["accuracy"]["value"], row["bounds"]) == (1, {"low": 0.5, "high": 1})
    assert row["counts"]["waiting"] == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--by", "colour"],
            "by: no answer has a setting 'colour'; there are system, condition, script, model",
        ),
        (["--judge", "ada"], "no judge 'ada' has said which answers are right; those that have: none yet"),
        (["--layout", "table4"], "table 4 needs answers under more than one kind of names"),
        (["--level", "7"], "level: a number from 0.5 to 0.999, not '7'"),
        (["--resamples", "many"], "resamples: a whole number from 0 to 20,000, not 'many'"),
        (["--set", "other"], "the corpus Loaf has no answers to questions of the question sets other yet"),
        (["--part", "dev"], "the corpus Loaf has no split, so there is no dev part"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path, options, why) -> None:
    bring(tmp_path)
    with pytest.raises(CommandError) as refused:
        call_command("answers", "--corpus", "Loaf", *options)
    assert str(refused.value).startswith(why)
    assert "\n" not in str(refused.value)


@pytest.mark.exhaustive
def test_a_split_shows_its_dev_sessions_and_test_once_it_was_opened(tmp_path) -> None:
    corpus = bring(tmp_path)
    split = splits.draw(corpus=corpus, by=None, seed=0, test_share=0.5)
    dev = compute(query=read({}, corpus), by=None)
    places = {row.place.cluster for row in dev.answers.sheet.rows}
    assert places <= splits.clusters(split=split, part="dev")
    with pytest.raises(ReportRefused, match="test was not opened"):
        compute(query=read({"part": "test"}, corpus), by=None)
    made = compute_on_test(query=read({}, corpus), by=None, purpose="the end")
    assert {row.place.cluster for row in made.answers.sheet.rows} <= splits.clusters(split=split, part="test")
    assert TestLook.objects.get().purpose == "the end"
    split.refresh_from_db()
    assert split.fixed_at
