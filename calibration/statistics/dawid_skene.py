"""Dawid and Skene (1979): labels and each rater's confusion matrix together, by expectation maximisation.

Each item has one true class; given it, raters answer independently by their own confusion matrix. The
computation is crowd-kit's. Raters who agree for a shared wrong reason are taken to be right.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats
from calibration.statistics.gold import Chosen, Ties, from_posterior


@dataclass(frozen=True)
class DawidSkene:
    """The gold labels (confidence is the class's posterior probability) and what was estimated with them.

    ``shares`` is each value's prevalence and ``confusion[rater][true, given]`` each rater's probabilities,
    both in the order of ``grid``.
    """

    gold: Chosen
    grid: tuple[float, ...]
    shares: Floats
    confusion: Mapping[str, Floats]
    posterior: Floats


def dawid_skene(
    ratings: Ratings,
    *,
    columns: Sequence[int] | None = None,
    same_rater: Mapping[str, str] | None = None,
    ties: Ties = "none",
    iterations: int = 500,
    tolerance: float = 1e-10,
) -> DawidSkene:
    """Fit the model to categorical ratings; items nobody rated get no label.

    ``same_rater`` maps column names to one rater where a rater answered more than once. ``ties`` is for
    values of the same posterior probability. What is told of each rater is the probability of a right answer
    (the confusion matrix's diagonal, weighted by the values' shares) and the number of answers. ValueError
    without any rating.
    """
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Fit

    chosen = list(range(len(ratings.raters))) if columns is None else list(columns)
    names = [(same_rater or {}).get(ratings.raters[j], ratings.raters[j]) for j in chosen]
    block = ratings.values[:, chosen]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    answers = pd.DataFrame({"task": rows, "worker": [names[p] for p in places], "label": block[rows, places]})
    fit = Fit(n_iter=iterations, tol=tolerance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # crowd-kit still uses older pandas keywords
        fit.fit(answers)
    grid = np.unique(block[rows, places])
    posterior = np.full((len(block), len(grid)), np.nan)
    assert fit.probas_ is not None  # set by fit
    assert fit.priors_ is not None
    found = fit.probas_.reindex(columns=grid).fillna(0.0)
    posterior[found.index.to_numpy()] = found.to_numpy()
    n = (~np.isnan(block)).sum(axis=1)
    gold = from_posterior(ratings, posterior, grid, n, ties=ties, method="Dawid-Skene")
    confusion = {name: _confusion(fit.errors_, name, grid) for name in dict.fromkeys(names)}
    shares = np.asarray(fit.priors_.reindex(grid).fillna(0.0).to_numpy(), np.float64)
    given = answers["worker"].value_counts()
    told = {
        name: {"accuracy": float(shares @ np.diag(matrix)), "n": int(given[name])}
        for name, matrix in confusion.items()
        if name in given
    }
    late = len(fit.loss_history_) >= iterations
    remarks = (f"the estimates still changed after {iterations} rounds",) if late else ()
    gold = replace(gold, raters=told, remarks=remarks)
    return DawidSkene(gold, tuple(grid.tolist()), shares, confusion, posterior)


def _confusion(errors: object, name: str, grid: Floats) -> Floats:
    """Return P(given | true) of a rater as true x given."""
    import pandas as pd

    assert isinstance(errors, pd.DataFrame)
    if name not in errors.index.get_level_values(0):
        return np.full((len(grid), len(grid)), np.nan)
    mine = pd.DataFrame(errors.loc[name]).reindex(index=grid, columns=grid).fillna(0.0)
    return np.asarray(mine.to_numpy(), np.float64).T
