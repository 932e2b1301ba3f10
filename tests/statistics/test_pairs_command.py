"""`manage.py pairs`: its output on a file, and its error messages with file, line, column and value."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

HEAD = "item,rater,kind,value,first_system,second_system,cluster,order,sample\n"
RNG = np.random.default_rng(3)
PEOPLE = [
    (f"i{i}", rater, "human", label, *systems, f"d{i // 3}", order, 0)
    for i in range(90)
    for systems in [(("ash", "birch"), ("birch", "cedar"), ("ash", "cedar"))[i % 3]]
    for rater in ("ann", "bob")
    for label, order in [(RNG.choice(["first", "tie", "second"], p=[0.5, 0.2, 0.3]), '"0,1"')]
]
JUDGE = [
    (f"i{i}", "judge", "judge", label, *systems, f"d{i // 3}", order, sample)
    for i in range(90)
    for systems in [(("ash", "birch"), ("birch", "cedar"), ("ash", "cedar"))[i % 3]]
    for sample, (label, order) in enumerate(
        [(RNG.choice(["first", "second"]), "canonical"), (RNG.choice(["first", "second"]), "swapped")]
    )
]
ROWS = "".join(",".join(map(str, row)) + "\n" for row in PEOPLE + JUDGE)


def _file(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _pairs(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("pairs", str(path), "--resamples", "100", *options, stdout=out)
    return out.getvalue()


def _question(path: Path, *options: str) -> dict[str, Any]:
    return json.loads(_pairs(path, "--json", *options))["questions"][0]


def test_json_says_all_of_systems_and_raters_with_intervals(tmp_path: Path) -> None:
    found = _question(_file(tmp_path, HEAD + ROWS), "--anchor", "cedar")
    people, judge = found["voters"]
    assert (people["name"], people["raters"], judge["name"]) == ("people", ["ann", "bob"], "judge")
    by_system = {one["system"]: one for one in people["systems"]}
    assert by_system["cedar"]["strength"]["value"] == 1000
    assert by_system["ash"]["win_rate"]["low"] < by_system["ash"]["win_rate"]["value"]
    assert by_system["ash"]["win_rate"]["n_items"] == 60
    assert by_system["ash"]["win_rate"]["n_clusters"] == 30
    assert len(people["meetings"]) == 3
    assert sum(result["value"] for result in judge["position"]["both_orders"].values()) == pytest.approx(1)
    assert people["position"]["both_orders"] is None
    assert "one_order" in people["position"]["shown_first"]["flags"]
    setups = [(one["setup"], one["raters"]) for one in found["agreement"]]
    assert ("without_ties", ["ann", "bob"]) in setups
    assert ("with_ties", ["ann", "bob", "judge"]) in setups


def test_every_form_says_the_same_and_needs_no_database(tmp_path: Path) -> None:
    path = _file(tmp_path, HEAD + ROWS)
    text = _pairs(path)
    assert "Systems, by people" in text
    assert "Clusters: column cluster." in text
    assert "Position: does it matter" in text
    assert "| System | Wins |" in _pairs(path, "--format", "md")
    assert r"\toprule" in _pairs(path, "--format", "latex")
    lines = list(csv.DictReader(io.StringIO(_pairs(path, "--format", "csv", "--ties", "davidson"))))
    assert {"win_rate", "strength", "rank", "tie_parameter", "kappa", "alpha", "consistent"} <= {
        line["name"] for line in lines
    }
    run = subprocess.run(
        [sys.executable, "manage.py", "pairs", str(path), "--json", "--resamples", "20"],
        env={**os.environ, "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["questions"]


def test_rankings_and_chosen_systems_are_read(tmp_path: Path) -> None:
    rows = "item,rater,value,systems\n" + "".join(
        f"i{n},r{r},{'2>0=1' if (n + r) % 3 else '0>1>2'},ash|birch|cedar\n"
        for n in range(9)
        for r in range(2)
    )
    found = _question(_file(tmp_path, rows))
    assert found["rankings"][0]["figures"]["kendall_w"]["n_items"] == 9
    assert found["voters"][0]["name"] == "all raters"
    only = _question(_file(tmp_path, HEAD + ROWS), "--systems", "ash,birch")
    assert [one["system"] for one in only["voters"][0]["systems"]] in (["ash", "birch"], ["birch", "ash"])


def test_an_export_of_labels_is_read_as_it_is(tmp_path: Path) -> None:
    members = [{"continuation": "c0", "system": "ash"}, {"continuation": "c1", "system": "birch"}]
    rows = [
        {
            "item": f"i{n}",
            "rater": "ann",
            "value": value,
            "level": "nominal",
            "members": members,
            "order": [1, 0],
        }
        for n, value in enumerate(("first", "second", "first"))
    ]
    rows.append(rows[0] | {"value": "4", "level": "ordinal", "members": None, "order": None})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    found = _question(_file(tmp_path, text, "labels.jsonl"))["voters"][0]
    assert found["answers"] == {"first": 2, "second": 1}
    assert found["position"]["shown_first"]["value"] == pytest.approx(1 / 3)


PAIR = "item,rater,value,first_system,second_system\n"
WRONG = {
    "no column first_system, second_system (or systems, as in a|b|c)": "item,rater,value\ni,r,first\n",
    "line 2, column value: 'left' does not answer a pair": PAIR + "i,r,left,a,b\n",
    "line 2, column second_system: a member has no system": PAIR + "i,r,first,a,\n",
    "line 3: r answered item i in line 2, too": PAIR + "i,r,first,a,b\ni,r,tie,a,b\n",
    "line 3: item i compares b, a, in line 2 a, b": PAIR + "i,r,first,a,b\ni,s,tie,b,a\n",
    "line 2, column item: is empty": PAIR + ",r,first,a,b\n",
    "column value: '2>0' does not name each of the 3 members": "item,rater,value,systems\ni,r,2>0,a|b|c\n",
    "column order: 'left': write 0,1": PAIR.strip() + ",order\ni,r,tie,a,b,left\n",
    "there is no answer to a pair or a ranking": PAIR + "i,r,,a,b\n",
    "the file has no answers": PAIR,
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_read_is_said_in_one_line(message: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refused:
        _pairs(_file(tmp_path, WRONG[message]))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--anchor", "oak"], "no system 'oak' to start from"),
        (["--systems", "oak"], "no system 'oak'; there are ash, birch, cedar"),
        (["--question", "tone"], "no question 'tone'"),
        (["--cluster", "meeting"], "no column 'meeting'"),
        (["--level", "2"], "level must lie between 0 and 1"),
        (["--seed", "-1"], "--seed must be 0 or more"),
    ],
)
def test_options_that_do_not_fit_are_said_in_one_line(
    options: list[str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=message):
        _pairs(_file(tmp_path, HEAD + ROWS), *options)
