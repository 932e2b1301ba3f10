"""`agree` on a file that says how its items were drawn."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from sklearn.metrics import cohen_kappa_score

PERSON, JUDGE = [1, 1, 0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0, 0]
PROBABILITIES = ["1", "1", "1", "1", "0.25", "0.25", "0.25", "0.25"]


def written(path: Path, column: str, cells: list[str]) -> Path:
    """Write the ratings, and an item that only the judge rated."""
    lines = [f"item,rater,value,kind,{column}"]
    for number, (person, judge, cell) in enumerate(zip(PERSON, JUDGE, cells, strict=True)):
        lines += [f"i{number},ann,{person},human,{cell}", f"i{number},gpt,{judge},judge,{cell}"]
    path.write_text("\n".join([*lines, "other,gpt,0,judge,"]) + "\n", encoding="utf-8")
    return path


def agree(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("agree", str(path), "--scale", "binary", "--resamples", "50", "--json", *options, stdout=out)
    read: dict[str, Any] = json.loads(out.getvalue())
    return read


@pytest.mark.parametrize("column", ["probability", "inclusion_probability", "weight"])
def test_figures_are_weighted_by_the_column_that_says_how_items_were_drawn(
    tmp_path: Path, column: str
) -> None:
    cells = [str(1 / float(p)) for p in PROBABILITIES] if column == "weight" else PROBABILITIES
    entries = agree(written(tmp_path / "r.csv", column, cells))["statistics"]
    kappa = next(entry for entry in entries if entry["name"] == "cohen_kappa")
    expected = cohen_kappa_score(PERSON, JUDGE, sample_weight=[1 / float(p) for p in PROBABILITIES])
    assert kappa["value"] == pytest.approx(expected)
    assert kappa["n_items"] == 8
    assert "unequal_probabilities" in kappa["flags"]


def test_the_command_says_that_figures_are_weighted(tmp_path: Path) -> None:
    out = StringIO()
    call_command(
        "agree",
        str(written(tmp_path / "r.csv", "probability", PROBABILITIES)),
        "--scale",
        "binary",
        stdout=out,
    )
    assert "Items are weighted by 1 / the value of the column probability" in " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("probability", "0", "expected a probability above 0, at most 1, or nothing"),
        ("probability", "1.5", "expected a probability above 0, at most 1, or nothing"),
        ("weight", "-1", "expected a number above 0, or nothing"),
        ("weight", "often", "expected a number above 0, or nothing"),
    ],
)
def test_a_weight_that_is_none_is_refused_with_its_line(
    tmp_path: Path, column: str, cell: str, message: str
) -> None:
    path = written(tmp_path / "r.csv", column, [cell, *["1"] * 7])
    with pytest.raises(CommandError, match=f"line 2, column {column}.*{message}"):
        agree(path)


def test_an_item_has_one_probability(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", "probability", PROBABILITIES)
    path.write_text(path.read_text().replace("i5,gpt,0,judge,0.25", "i5,gpt,0,judge,0.5"), encoding="utf-8")
    with pytest.raises(CommandError, match="line 13, column probability: item 'i5' has another probability"):
        agree(path)
