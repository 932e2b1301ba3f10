"""Computes the tables of the documentation page on public data."""

from __future__ import annotations

from pathlib import Path

from calibration.statistics import Plan, Result, analyse
from calibration.statistics.repeats import self_consistency
from calibration.statistics.replacement import alternative_annotator_test

from .real_data import GPT4, alt_test_data, fed, fed_qualities, gpt4_samples

SETS = {
    "framing": ("nominal", 0.15, "accuracy", "cohen_kappa"),
    "cebab_stars": ("ordinal", 0.1, "neg_rmse", "cohen_kappa_quadratic"),
    "lesion": ("interval", 0.15, "neg_rmse", "spearman"),
}


def tables(shared: Path) -> dict[str, list[str]]:
    """Return the rows of each table by its name."""
    return {
        "DIALOGUES": agreement_rows(shared, turns=False),
        "TURNS": agreement_rows(shared, turns=True),
        "GPT4": gpt4_rows(shared),
        "ALT": alt_test_rows(shared),
        "GAPS": gap_rows(shared),
    }


def shown(result: Result) -> str:
    """Format a value with its interval."""
    if result.low is None:
        return f"{result.value:.2f}"
    return f"{result.value:.2f} ({result.low:.2f} to {result.high:.2f})".replace("-", "−")


def agreement_rows(shared: Path, turns: bool) -> list[str]:
    """Return one row per quality: alpha and percent agreement of the five people."""
    rows = []
    for quality in fed_qualities(shared, turns):
        found = analyse(fed(shared, quality, turns), statistics=("krippendorff_alpha", "percent_agreement"))
        alpha, percent = (found.find(k).result for k in ("krippendorff_alpha", "percent_agreement"))
        rows.append(f"| {quality} | {shown(alpha)} | {shown(percent)} |")
    return rows


def gpt4_rows(shared: Path) -> list[str]:
    """Return one row per quality that GPT-4 rated too."""
    rows = []
    for quality, name in GPT4.items():
        found = analyse(fed(shared, quality, turns=False), statistics=("spearman", "kendall_tau_b"))
        rho, tau = (
            found.find(k, ("mean(kind:human)", "gpt-4")).result for k in ("spearman", "kendall_tau_b")
        )
        itself = self_consistency(gpt4_samples(shared, name), Plan())[-1]
        rows.append(f"| {quality} | {shown(rho)} | {shown(tau)} | {shown(itself)} |")
    return rows


def alt_test_rows(shared: Path) -> list[str]:
    """Return winning rates and advantages of every judge of the three sets."""
    rows = [
        "| set | judge | winning rate | advantage probability | winning rate over clusters |",
        "|---|---|---|---|---|",
    ]
    for name, (level, epsilon, score, _) in SETS.items():
        ratings = alt_test_data(shared, name, level)
        people = ratings.of_kind("human")
        for judge in ratings.of_kind("judge"):
            plain = alternative_annotator_test(ratings, judge, people, epsilon=epsilon, score=score)
            over = alternative_annotator_test(
                ratings, judge, people, epsilon=epsilon, score=score, clustered=True, plan=Plan(0)
            )
            cells = [shown(plain.winning_rate), shown(plain.advantage), f"{over.winning_rate.value:.2f}"]
            rows.append(f"| {name} | {ratings.raters[judge]} | {' | '.join(cells)} |")
    return rows


def gap_rows(shared: Path) -> list[str]:
    """Return each judge's agreement with people beside people's own, and one more person's margin."""
    rows = ["| set | judge | people | judge | gap | one more person |", "|---|---|---|---|---|---|"]
    for name, (level, _, _, key) in SETS.items():
        ratings = alt_test_data(shared, name, level)
        found = {(e.raters[0], e.result.name): e.result for e in analyse(ratings, statistics=(key,)).gaps}
        for judge in (ratings.raters[j] for j in ratings.of_kind("judge")):
            named = key if (judge, f"gap_{key}") in found else f"mean_{key}"
            cells = [shown(found[judge, f"{side}_{named}"]) for side in ("people", "judge", "gap")]
            margin = found.get((judge, f"margin_{key}"))
            cells.append("–" if margin is None else f"±{margin.value:.2f}")
            rows.append(f"| {name} | {judge} | {' | '.join(cells)} |")
    return rows
