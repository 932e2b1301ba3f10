"""No rater is dropped from a figure silently: repeated answers, raters without overlap."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from calibration.statistics import Plan, Ratings, Record, analyse, ratings_from_records
from calibration.statistics.baselines import BesidePeople
from calibration.statistics.planning import planned

PLAN = Plan(resamples=50)
PEOPLE = ("ann", "bob", "cid")


def _records(again: float | None = None, extra: bool = False) -> list[Record]:
    """Three people and a judge on 40 items of ten dialogues; ann answers the first item once more."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 40)
    out = []
    for rater in (*PEOPLE, "judge"):
        kind = "judge" if rater == "judge" else "human"
        seen = np.clip(truth + rng.integers(-1, 2, 40), 1, 5)
        out += [Record(f"i{i}", rater, int(v), f"d{i // 4}", kind) for i, v in enumerate(seen)]
    if again is not None:
        first = out[0]
        out.append(Record("i0", "ann", again, "d0", "human", sample=1))
        assert (first.value + again) % 2, "the mean of both answers lies off the scale"
    if extra:
        out.append(Record("i40", "dan", 3, "d10", "human"))
    return out


def _ratings(records: list[Record], samples: str | None = None) -> Ratings:
    return ratings_from_records(records, level="ordinal", values=[1, 2, 3, 4, 5], samples=samples)


def _again() -> list[Record]:
    value = _records()[0].value
    return _records(again=value + 1 if value < 5 else value - 1)


def test_one_answer_repeated_leaves_everybody_in_the_panel() -> None:
    once, again = (analyse(_ratings(records), plan=PLAN) for records in (_records(), _again()))
    assert (
        again.find("krippendorff_alpha", PEOPLE).result.value
        == once.find("krippendorff_alpha", PEOPLE).result.value
    )
    methods = [a.find("krippendorff_alpha", PEOPLE).result.method for a in (once, again)]
    assert ["the first of the repeated answers of ann" in m for m in methods] == [False, True]


@pytest.mark.parametrize("name", ["judge_cohen_kappa_quadratic", "people_cohen_kappa_quadratic"])
def test_judge_and_people_are_compared_over_all_people_whoever_answered_again(name: str) -> None:
    once, again = (analyse(_ratings(records), plan=PLAN) for records in (_records(), _again()))
    raters = ("judge", *PEOPLE)
    assert again.find(name, raters).result.value == once.find(name, raters).result.value


def test_a_correlation_reads_the_mean_and_agreement_the_first() -> None:
    pair, ratings = ("ann", "bob"), _ratings(_again())
    both = analyse(ratings, plan=PLAN)
    assert ratings.values[0, 0] % 1 == 0.5
    first = analyse(_ratings(_again(), "first"), plan=PLAN)
    assert both.find("cohen_kappa", pair).result.value == first.find("cohen_kappa", pair).result.value
    assert both.find("pearson", pair).result.value != first.find("pearson", pair).result.value


def test_plans_and_baselines_keep_whoever_answered_again() -> None:
    once, again = _ratings(_records()), _ratings(_again())
    assert planned(again, "cohen_kappa", "judge").value == planned(once, "cohen_kappa", "judge").value
    stacks = [len(BesidePeople(ratings, (), PLAN).stack.x) for ratings in (once, again)]
    assert stacks == [120, 120]


def test_whoever_shares_no_item_is_not_counted_among_the_raters_of_a_figure() -> None:
    alpha = next(
        e
        for e in analyse(_ratings(_records(extra=True)), plan=PLAN).panel
        if e.result.name == "krippendorff_alpha" and "judge" not in e.raters
    )
    assert alpha.raters == PEOPLE
    assert alpha.result.n_raters == 3


def _file(folder: Path, records: list[Record]) -> Path:
    path = folder / "ratings.csv"
    rows = [f"{r.item},{r.rater},{r.value},{r.cluster},{r.kind},{r.sample}" for r in records]
    path.write_text("\n".join(["item,rater,value,cluster,kind,sample", *rows]) + "\n")
    return path


def _agree(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command(
        "agree", str(path), "--scale", "ordinal", "--resamples", "50", "--full", *options, stdout=out
    )
    return out.getvalue()


def test_agree_says_whose_first_answer_was_read(tmp_path: Path) -> None:
    shown = " ".join(_agree(_file(tmp_path, _again())).split())
    assert "among the 3 people is" in shown
    assert "agreement, which needs an answer on the scale, reads the first one of ann." in shown


def test_agree_names_who_is_not_in_a_figure(tmp_path: Path) -> None:
    path = _file(tmp_path, _records(extra=True))
    shown = " ".join(_agree(path).split())
    assert "among the 3 of 4 people (without dan, who shares no item with the others) is" in shown
    entries = json.loads(_agree(path, "--json"))["statistics"]
    alphas = [e["raters"] for e in entries if e["name"] == "krippendorff_alpha"]
    assert alphas
    assert all("dan" not in raters for raters in alphas)


@pytest.mark.parametrize(
    ("file", "people", "alpha"), [("rated_twice_half", 3, 0.767), ("rated_twice", 2, 0.747)]
)
def test_the_shared_cases_keep_everybody(shared_data: Path, file: str, people: int, alpha: float) -> None:
    path = shared_data.parent / "cases" / "figures" / f"{file}.csv"
    entries = json.loads(_agree(path, "--json"))["statistics"]
    found = [e for e in entries if e["name"] == "krippendorff_alpha" and "judge" not in e["raters"]]
    assert [len(e["raters"]) for e in found] == [people]
    assert round(found[0]["value"], 3) == alpha


def _partly_rated_twice() -> tuple[Ratings, Ratings]:
    """250 of 1,500 items rated by both, and the same 250 alone."""
    rng = np.random.default_rng(5)
    values = (rng.random((1500, 2)) < np.where(np.arange(1500) < 250, 0.5, 0.1)[:, None]).astype(float)
    values[250:, 1] = np.nan
    clusters = np.arange(1500) // 5
    both = Ratings.from_matrix(values, level="binary", scale=(0, 1), clusters=clusters)
    return both, Ratings.from_matrix(values[:250], level="binary", scale=(0, 1), clusters=clusters[:250])


def test_gwets_coefficient_says_that_its_chance_counts_items_rated_once() -> None:
    found, alone = (analyse(r, plan=PLAN).find("gwet_ac1").result for r in _partly_rated_twice())
    assert (found.n_items, found.n_clusters) == (1500, 300)
    assert "agreement on 250 items rated twice or more, chance on all 1500" in found.method
    assert abs(found.value - alone.value) > 0.01
    assert (alone.n_items, "chance on" in alone.method) == (250, False)


@pytest.mark.parametrize("name", ["brennan_prediger", "krippendorff_alpha", "percent_agreement"])
def test_items_rated_once_change_no_other_figure_of_the_panel(name: str) -> None:
    found, alone = (analyse(r, plan=PLAN).find(name).result for r in _partly_rated_twice())
    assert (found.value, found.n_items) == (alone.value, 250)
