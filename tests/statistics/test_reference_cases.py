"""Every reference case: published, reconstructed or derived figures, with their stated tolerance."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.statistics import Plan, Ratings, ratings_from_records
from calibration.statistics.analysis import corrected_p_values as corrected
from calibration.statistics.cocoeval import table as table_seven
from calibration.statistics.core.engine import estimates, resampled
from calibration.statistics.core.ratings import Record
from calibration.statistics.core.resampling import resampling_of
from calibration.statistics.core.samples import Sample
from calibration.statistics.describe import bland_altman
from calibration.statistics.gold import dawid_skene
from calibration.statistics.prevalence import Labelled, prediction_powered, rogan_gladen, wilson_bounds
from calibration.statistics.repeats import pass_hat_k
from calibration.statistics.replacement import alternative_annotator_test
from calibration.statistics.score_calibration import calibration_of, isotonic
from calibration.statistics.table import STATISTICS

from .helpers import POINT, alpha_at_level, compute, from_table, pair, panel

pytestmark = pytest.mark.shared
Case = dict[str, Any]
ICCS = ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")


def _alpha(case: Case, _: Path) -> Any:
    level = case["statistic"].split("(")[1].rstrip(")")
    return compute(panel(case["data"]["raters_by_units"], level), alpha_at_level(level)).value


def _gwet(case: Case, _: Path) -> Any:
    key = "gwet_ac1" if case["statistic"] == "gwet_AC1" else "gwet_ac2_quadratic"
    return compute(panel(case["data"]["raters_by_units"], "ordinal", scale=range(1, 6)), key).value


def _kappa(case: Case, _: Path) -> Any:
    return compute(from_table(case["data"]["table"]), "cohen_kappa").value


def _fleiss(case: Case, _: Path) -> Any:
    counts = np.array(case["data"]["counts"])
    rows = [np.repeat(np.arange(counts.shape[1]), row) for row in counts]
    return compute(
        Ratings.from_matrix(rows, level="nominal", scale=range(counts.shape[1])), "fleiss_kappa"
    ).value


def _pabak(case: Case, _: Path) -> Any:
    two = from_table(case["data"]["table"], "binary")
    found = [compute(two, key).value for key in ("pabak", "prevalence_index", "bias_index")]
    return [found[0], found[1], abs(found[2])]  # the paper gives the index without its sign


def _iccs(case: Case, _: Path) -> Any:
    ratings = Ratings.from_matrix(case["data"]["targets_by_raters"], level="interval")
    return [compute(ratings, key).value for key in ICCS]


def _mcc_f1(case: Case, _: Path) -> Any:
    d = case["data"]
    counted = [[d["tn"], d["fp"]], [d["fn"], d["tp"]]]
    rows, columns = np.nonzero(np.array(counted))
    times = np.array(counted)[rows, columns]
    ratings = pair(np.repeat(rows, times), np.repeat(columns, times), "binary", scale=(0, 1))
    return [compute(ratings, "mcc").value, compute(ratings, "f1").value]


def _correlation(case: Case, _: Path) -> Any:
    return compute(pair(case["data"]["x"], case["data"]["y"]), case["statistic"]).value


def _bootstrap_error(case: Case, _: Path) -> Any:
    ratings, plan = pair(case["data"]["x"], case["data"]["y"]), Plan(resamples=3200)
    resampling = resampling_of(ratings, plan)
    found = estimates(Sample(ratings, (0, 1), resampling), [STATISTICS["pearson"]], resampling)[0]
    return float(np.nanstd(found.replicates, ddof=1))


def _percentile_of_variance(case: Case, _: Path) -> Any:
    x = np.array(case["data"]["x"])
    rows = np.column_stack([np.ones_like(x), x, x * x])
    _, values = resampled(
        np.arange(len(x)), rows, lambda t: t[:, 2] / t[:, 0] - (t[:, 1] / t[:, 0]) ** 2, Plan(resamples=4000)
    )
    return np.quantile(values, [0.05, 0.95])


def _bland_altman(case: Case, _: Path) -> Any:
    ratings = pair(case["data"]["wright"], case["data"]["mini"])
    bias, low, high = bland_altman(*ratings.values.T, resampling_of(ratings, POINT), multiple=2)
    limits = [bias.value, (high.value - low.value) / 4, low.value, high.value]
    return [*limits, compute(ratings, "pearson").value]


def _dawid_skene(case: Case, _: Path) -> Any:
    records = [
        Record(item=patient, rater=f"{observer}.{n}", value=value)
        for patient, by_observer in case["data"]["responses"].items()
        for observer, values in by_observer.items()
        for n, value in enumerate(values)
    ]
    ratings = ratings_from_records(records, level="nominal")
    same = {name: name.split(".")[0] for name in ratings.raters}
    return dawid_skene(ratings, same_rater=same).shares


def _alt_test(case: Case, shared: Path) -> Any:
    folder = shared / Path(case["data"]["files"]).parent
    people, models = (
        json.loads((folder / f"{who}_annotations.json").read_text()) for who in ("human", "llm")
    )
    model = next(m for m in models if case["name"].endswith(m))
    records = [Record(i, p, str(v), kind="human") for p, mine in people.items() for i, v in mine.items()]
    records += [Record(i, model, str(v), kind="judge") for i, v in models[model].items()]
    level = "nominal" if case["data"]["score"] == "accuracy" else "ordinal"
    ratings = ratings_from_records(records, level=level)
    found = alternative_annotator_test(
        ratings,
        ratings.column(model),
        ratings.of_kind("human"),
        epsilon=case["data"]["epsilon"],
        q=case["data"].get("q", 0.05),
        score=case["data"]["score"],
        plan=POINT,
    )
    return [found.winning_rate.value, found.advantage.value]


def _pass_k(case: Case, _: Path) -> Any:
    d = case["data"]
    if "c" in d:
        return [pass_hat_k([d["c"]], d["n"], k, plan=POINT).value for k in d["k"]]
    # The counts list how many tasks had 0, 1, ... successes.
    successes = [c for c, tasks in enumerate(d["tasks_with_c_successes"]) for _ in range(tasks)]
    return [pass_hat_k(successes, d["n_trials"], k, plan=POINT).value for k in (1, 2, 3, 4)]


def _rogan_gladen(case: Case, _: Path) -> Any:
    d = case["data"]
    return rogan_gladen(d["pos"], d["n"], d["se"], d["sp"]).value


def _rejections(case: Case, _: Path) -> Any:
    p = case["data"]["p"]
    return [int((corrected(p, how) <= 0.05).sum()) for how in ("benjamini_hochberg", "bonferroni")]


def _wilson(case: Case, _: Path) -> Any:
    return wilson_bounds(case["data"]["x"], case["data"]["n"])


def _brier(case: Case, _: Path) -> Any:
    return calibration_of(case["data"]["p"], case["data"]["y"], plan=POINT).brier.value


def _isotonic(case: Case, _: Path) -> Any:
    places = np.arange(len(case["data"]["y"]))
    return isotonic(places, case["data"]["y"])(places)


def _powered(case: Case, _: Path) -> Any:
    if case["data"]["Y"] == "any":
        truth = np.random.default_rng(0).normal(size=100)
        return prediction_powered(Labelled.of(truth, truth + 2), np.full(10_000, 2.0), tuning=1).value
    unlabelled = np.repeat([1.0, 0.0], [70, 30])
    return prediction_powered(
        Labelled.of(case["data"]["Y"], case["data"]["Yhat"]), unlabelled, tuning=1
    ).value


def _table_seven(case: Case, _: Path) -> Any:
    d = case["data"]
    n, detected = d["n_turns_inferred"], d["judge_detected"]
    judge = (np.arange(n) < detected).astype(int)
    people = []
    for person in (d["annotator_a"], d["annotator_b"]):
        marks = np.zeros(n, int)
        marks[: person["tp"]] = 1
        marks[detected : detected + person["detected"] - person["tp"]] = 1
        people.append(marks[:, None])
    row = table_seven(judge[:, None], people, ["behaviour"], policy="cocoeval", plan=POINT)[0]
    found = [row.judge[f].value for f in ("precision", "recall", "mcc", "kappa")]
    return [100 * found[0], 100 * found[1], found[2], found[3]]


RUNNERS: dict[str, Callable[[Case, Path], Any]] = {
    "krippendorff2011": _alpha,
    "gwet2014": _gwet,
    "gwet_cont4x4": _kappa,
    "cohen1968": _kappa,
    "FC1990": _kappa,
    "fleiss1971": _fleiss,
    "byrt1993": _pabak,
    "shrout_fleiss1979": _iccs,
    "chicco2017": _mcc_f1,
    "spearman_wikipedia": _correlation,
    "kendall_tau_b_scipy_doc": _correlation,
    "efron_law_pearson": _correlation,
    "efron_law_boot_se": _bootstrap_error,
    "efron_spatial_pct90": _percentile_of_variance,
    "bland_altman1986": _bland_altman,
    "dawid_skene1979": _dawid_skene,
    "alttest": _alt_test,
    "taubench": _pass_k,
    "passk_closed": _pass_k,
    "rogan_gladen": _rogan_gladen,
    "benjamini_hochberg1995": _rejections,
    "newcombe1998": _wilson,
    "brier_sklearn_doc": _brier,
    "isoreg_R_doc": _isotonic,
    "ppi_": _powered,
    "cocoeval_t7": _table_seven,
}
RESAMPLED = ("efron_law_boot_se", "efron_spatial_pct90")


NOT_OFFERED = ("efron_mouse_perm", "steiger1980")
"""Tests that Concord does not compute: two samples of different items, and two overlapping correlations."""


def test_every_reference_case_gives_its_figure(shared_data: Path) -> None:
    cases = json.loads((shared_data / "statistics_cases.json").read_text())
    wrong = []
    for case in (c for c in cases if c["kind"] != "degenerate" and not c["name"].startswith(NOT_OFFERED)):
        run = next(f for prefix, f in RUNNERS.items() if case["name"].startswith(prefix))
        found = np.asarray(run(case, shared_data), dtype=float)
        if not np.all(np.abs(found - np.asarray(case["expected"])) <= np.asarray(case["tolerance"]) + 1e-12):
            wrong.append((case["name"], found.tolist(), case["expected"]))
        exact = not case["name"].startswith(RESAMPLED) and not case["name"].startswith("dawid_skene")
        if exact and not np.allclose(found, case["verified_value"], rtol=0, atol=1e-9):
            wrong.append((case["name"], found.tolist(), case["verified_value"]))
    assert wrong == []


def test_no_reference_case_is_without_a_runner(shared_data: Path) -> None:
    cases = json.loads((shared_data / "statistics_cases.json").read_text())
    names = [c["name"] for c in cases if c["kind"] != "degenerate" and not c["name"].startswith(NOT_OFFERED)]
    assert [n for n in names if not n.startswith(tuple(RUNNERS))] == []
