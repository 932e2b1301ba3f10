"""`manage.py agree`: its output, and its error messages with file, line, column and value."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

ROWS = [
    (f"i{i}", rater, value, f"d{i // 3}")
    for i in range(60)
    for rater, value in (("ann", i % 2), ("bob", (i + (i % 7 == 0)) % 2), ("cy", (i + (i % 5 == 0)) % 2))
]
LONG = "item,rater,value,cluster\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in ROWS)


def _file(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--resamples", "100", "--full", *options, stdout=out)
    return out.getvalue()


def _entries(path: Path, *options: str) -> list[dict]:
    return json.loads(_agree(path, "--json", *options))["statistics"]


def test_json_has_one_entry_a_statistic_with_the_promised_fields(tmp_path: Path) -> None:
    entries = _entries(_file(tmp_path, LONG), "--scale", "binary")
    fields = {"name", "raters", "question", "value", "low", "high", "status", "reason", "flags", "method"}
    counts = {"n_items", "n_clusters", "n_raters", "n_missing"}
    assert all(fields | counts <= set(entry) for entry in entries)
    assert entries[0]["raters"] == ["ann", "bob", "cy"]
    alpha = next(e for e in entries if e["name"] == "krippendorff_alpha")
    assert (alpha["n_items"], alpha["n_clusters"], alpha["n_raters"]) == (60, 20, 3)
    assert alpha["low"] < alpha["value"] < alpha["high"]


def test_it_needs_no_database(tmp_path: Path) -> None:
    path = _file(tmp_path, LONG)
    run = subprocess.run(
        [sys.executable, "manage.py", "agree", str(path), "--scale", "binary", "--json", "--resamples", "50"],
        env={**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["statistics"]


def test_wide_tsv_jsonl_and_parquet_give_what_the_long_csv_gives(tmp_path: Path) -> None:
    wanted = _entries(_file(tmp_path, LONG), "--scale", "binary")
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "value", "cluster"])
    wide = frame.pivot(index=["item", "cluster"], columns="rater", values="value").reset_index()
    wide = wide.set_index("item").loc[frame["item"].unique()].reset_index()
    wide.to_csv(tmp_path / "wide.csv", index=False)
    frame.to_csv(tmp_path / "long.tsv", sep="\t", index=False)
    frame.to_json(tmp_path / "long.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "long.parquet")
    for name in ("wide.csv", "long.tsv", "long.jsonl", "long.parquet"):
        assert _entries(tmp_path / name, "--scale", "binary") == wanted, name


def test_the_report_answers_first_and_says_what_was_understood(tmp_path: Path) -> None:
    text = _agree(_file(tmp_path, LONG), "--scale", "binary")
    assert text.index("Krippendorff's alpha among the 3 raters is") < text.index("Panel:")
    assert "Scale: binary, 0, 1 (the values that occur, as none were declared)." in text
    assert "Clusters: column cluster, 20 of them." in text
    assert "Limitations" in text


def test_without_clusters_every_item_stands_alone(tmp_path: Path) -> None:
    entries = _entries(_file(tmp_path, LONG), "--scale", "binary", "--no-cluster")
    assert entries[0]["n_clusters"] == 60


def test_another_column_may_hold_the_clusters(tmp_path: Path) -> None:
    path = _file(tmp_path, LONG.replace("cluster", "meeting"))
    assert _entries(path, "--scale", "binary")[0]["n_clusters"] == 60
    assert _entries(path, "--scale", "binary", "--cluster", "meeting")[0]["n_clusters"] == 20


def test_questions_are_reported_one_by_one_and_can_be_chosen(tmp_path: Path) -> None:
    rows = "".join(f"{a},{b},{c},{q}\n" for a, b, c, _ in ROWS for q in ("polite", "useful"))
    path = _file(tmp_path, "item,rater,value,question\n" + rows)
    assert {e["question"] for e in _entries(path, "--scale", "binary")} == {"polite", "useful"}
    assert {e["question"] for e in _entries(path, "--scale", "binary", "--questions", "useful")} == {"useful"}


def test_strata_are_reported_apart(tmp_path: Path) -> None:
    rows = "".join(f"{a},{b},{c},{'x' if int(a[1:]) < 30 else 'y'}\n" for a, b, c, _ in ROWS)
    path = _file(tmp_path, "item,rater,value,system\n" + rows)
    entries = _entries(path, "--scale", "binary", "--by", "system")
    assert {(e["stratum"], e["n_items"]) for e in entries} == {("x", 30), ("y", 30)}


def test_kinds_put_the_judge_beside_the_people(tmp_path: Path) -> None:
    kinds = {"ann": "human", "bob": "human", "cy": "judge"}
    rows = "".join(f"{a},{b},{c},{kinds[b]}\n" for a, b, c, _ in ROWS)
    path = _file(tmp_path, "item,rater,value,kind\n" + rows)
    names = {e["name"] for e in _entries(path, "--scale", "binary")}
    assert {"people_cohen_kappa", "judge_cohen_kappa", "gap_cohen_kappa"} <= names
    assert "Cohen's kappa of cy with people" in " ".join(_agree(path, "--scale", "binary").split())


def test_category_names_and_their_positive_class(tmp_path: Path) -> None:
    text = LONG.replace(",0,", ",no,").replace(",1,", ",yes,")
    named = _entries(_file(tmp_path, text), "--scale", "binary", "--positive", "yes")
    numbers = _entries(_file(tmp_path, LONG, "numbers.csv"), "--scale", "binary")
    assert [e["value"] for e in named] == [e["value"] for e in numbers]
    unnamed = _entries(tmp_path / "ratings.csv", "--scale", "binary")
    assert {e["status"] for e in unnamed if e["name"] == "recall"} == {"rejected"}


def test_csv_html_and_latex_tell_the_same(tmp_path: Path) -> None:
    path = _file(tmp_path, LONG)
    rows = list(csv.DictReader(io.StringIO(_agree(path, "--scale", "binary", "--csv"))))
    assert [float(r["value"]) for r in rows if r["value"]] == [
        e["value"] for e in _entries(path, "--scale", "binary") if e["value"] is not None
    ]
    latex = _agree(path, "--scale", "binary", "--latex")
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == 2
    page = _agree(path, "--scale", "binary", "--html")
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "http" not in page


def test_hostile_names_are_text_in_every_form(tmp_path: Path) -> None:
    path = _file(tmp_path, LONG.replace("ann", "<script>alert(1)</script>").replace("bob", "=1+1"))
    assert "<script>" not in _agree(path, "--scale", "binary", "--html")
    rows = list(csv.DictReader(io.StringIO(_agree(path, "--scale", "binary", "--csv"))))
    assert not any(cell.startswith("=") for row in rows for cell in row.values())
    assert "<script>" not in _agree(
        _file(tmp_path, LONG.replace("ann", "a_b%"), "b.csv"), "--scale", "binary", "--latex"
    )


REFUSED = {
    "a value outside the scale": (
        "item,rater,value\na,x,1\na,y,7\n",
        "line 3, column value: value '7': expected one of 1, 2, 3",
    ),
    "a value that is not a number": (
        "item,rater,value\na,x,1\na,y,nan\n",
        "line 3, column value: value 'nan'",
    ),
    "the same rating twice": (
        "item,rater,value\na,x,1\na,x,1\n",
        "line 3, column item: a second value of rater 'x'",
    ),
    "an item in two clusters": (
        "item,rater,value,cluster\na,x,1,c\na,y,1,d\n",
        "line 3, column cluster: item 'a'",
    ),
    "a rater of two kinds": (
        "item,rater,value,kind\na,x,1,human\nb,x,1,judge\n",
        "line 3, column kind: rater 'x'",
    ),
    "an item without a name": ("item,rater,value\n,x,1\n", "line 2, column item: empty"),
    "a rater without a name": ("item,rater,value\na,,1\n", "line 2, column rater: empty"),
    "a missing cluster": ("item,rater,value,cluster\na,x,1,\n", "line 2, column cluster: empty"),
    "a sample that is not a number": (
        "item,rater,value,sample\na,x,1,one\n",
        "line 2, column sample: value 'one'",
    ),
    "identified as neither": ("item,rater,value,identified\na,x,1,perhaps\n", "line 2, column identified"),
    "a short row": ("item,rater,value\na,x\n", "line 2: has 2 columns, the first line 3"),
    "no item column": ("thing,rater,value\na,x,1\n", "not read as ratings"),
    "no rating column": ("item,question\na,b\n", "not read as ratings"),
    "a column twice": (
        "item,rater,value,value\na,x,1,1\n",
        "line 1, column value: is the name of two columns",
    ),
    "no rows": ("item,rater,value\n", "no ratings"),
    "an empty file": ("", "the file is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_where_it_stands(case: str, tmp_path: Path) -> None:
    text, said = REFUSED[case]
    with pytest.raises(CommandError) as caught:
        _agree(_file(tmp_path, text), "--scale", "ordinal", "--values", "1,2,3")
    assert str(caught.value).startswith("ratings.csv")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf_8_is_read_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes("item,rater,value\na,Zoë,1\nb,Zoë,2\na,Jörg,1\nb,Jörg,2\n".encode("cp1252"))
    report = _agree(path, "--encoding", "cp1252")
    assert "Raters: Zoë, Jörg." in report


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"item": "a", "rater": "x", "value": 1}\n{"item": ', "ratings.jsonl")
    with pytest.raises(CommandError, match="line 2: is not valid JSON"):
        _agree(path, "--scale", "ordinal")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--against", "nobody"], "no rater 'nobody'"),
        (["--cluster", "meeting"], "no column 'meeting'"),
        (["--by", "system"], "no column 'system'"),
        (["--questions", "what"], "no ratings for question what"),
        (["--level", "95"], "level must lie between 0 and 1"),
        (["--cluster", "cluster", "--no-cluster"], "exclude each other"),
        (["--samples", "mean"], "the mean of samples needs an ordered scale"),
    ],
)
def test_options_that_do_not_fit_the_file_are_one_line(options: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=said):
        _agree(_file(tmp_path, LONG), "--scale", "binary", *options)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"none\.csv: there is no such file"):
        _agree(tmp_path / "none.csv", "--scale", "binary")


def test_systems_can_be_compared_by_their_means(tmp_path: Path) -> None:
    rows = "".join(
        f"i{i},{rater},{(i + shift) % 5},d{i % 8},s{i // 8}\n"
        for i in range(64)
        for rater, shift in (("ann", 0), ("bob", 1))
    )
    path = _file(tmp_path, "item,rater,value,cluster,system\n" + rows)
    entries = _entries(path, "--scale", "ordinal", "--aggregate", "system")
    assert {e["name"] for e in entries} == {"pearson", "spearman", "kendall_tau_b", "ranking_accuracy"}
    assert {e["n_items"] for e in entries} == {8}
    crossed = _entries(path, "--scale", "ordinal", "--resample", "crossed")
    assert "cluster x system bootstrap" in crossed[0]["method"]


def test_a_guarded_cell_is_the_text_it_guards(tmp_path: Path) -> None:
    entries = _entries(_file(tmp_path, LONG.replace("ann", "'=ann")), "--scale", "binary")
    assert entries[0]["raters"] == ["=ann", "bob", "cy"]
