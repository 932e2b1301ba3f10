"""MACE (Hovy et al. 2013): labels, and how often each rater knows the answer instead of guessing.

Each item has one true value, all values alike probable beforehand. A rater knows it with a probability of
their own (competence) and else answers by a habit of their own, whatever the item. Estimated by variational
Bayes from several random starts; the computation is crowd-kit's.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from calibration.statistics.core.data import Ratings
from calibration.statistics.core.types import Floats, Ints
from calibration.statistics.gold import Chosen, Ties, from_posterior

RESTARTS = 10
ROUNDS = 50


def mace(
    ratings: Ratings, *, ties: Ties = "none", seed: int = 0, restarts: int = RESTARTS, rounds: int = ROUNDS
) -> Chosen:
    """Return the most probable value per item; confidence is its probability.

    The same ratings and ``seed`` give the same labels, in whatever order items and raters come. What is told
    of each rater is the competence (0 to 1) and the number of answers. ValueError without any rating.
    """
    order = sorted(range(len(ratings.items)), key=lambda row: ratings.items[row])
    columns = sorted(range(len(ratings.raters)), key=lambda column: ratings.raters[column])
    block = ratings.values[np.ix_(order, columns)]
    rows, places = np.nonzero(~np.isnan(block))
    if not len(rows):
        raise ValueError("there are no ratings")
    grid = np.unique(block[rows, places])
    codes = np.searchsorted(grid, block[rows, places])
    posterior, competence = _fit(rows, places, codes, seed, restarts, rounds)
    probability = np.full((len(block), len(grid)), np.nan)
    probability[np.array(order)] = _spread(posterior, len(block))
    n = (~np.isnan(ratings.values)).sum(axis=1)
    chosen = from_posterior(ratings, probability, grid, n, ties=ties, method=f"MACE, seed {seed}")
    given = np.bincount(places, minlength=len(columns))
    told = {
        ratings.raters[columns[place]]: {"competence": value, "n": int(given[place])}
        for place, value in competence.items()
    }
    return replace(chosen, raters=told)


def _fit(
    rows: Ints, places: Ints, values: Ints, seed: int, restarts: int, rounds: int
) -> tuple[dict[int, Floats], dict[int, float]]:
    """Return each row's probabilities and each rater's competence.

    crowd-kit 1.4 reads some tables by position in order of first appearance and others sorted by name: the
    two are the same where names are numbers given in order of appearance. One generator serves all starts,
    as a plain seed would make every start the same.
    """
    import pandas as pd
    from crowdkit.aggregation import MACE

    columns = {"task": rows, "worker": places, "label": values}
    coded = {name: pd.factorize(column) for name, column in columns.items()}
    answers = pd.DataFrame({name: codes for name, (codes, _) in coded.items()})
    generator: Any = np.random.RandomState(seed)  # scipy takes one where crowd-kit says a number
    fit = MACE(n_restarts=restarts, n_iter=rounds, random_state=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # crowd-kit still uses older pandas keywords
        fit.fit(answers)
    assert fit.probas_ is not None  # set by fit
    _, tasks = coded["task"]
    _, workers = coded["worker"]
    _, labels = coded["label"]
    found = fit.probas_.sort_index(axis=0).sort_index(axis=1).to_numpy()
    probabilities = np.empty_like(found)
    probabilities[:, labels] = found
    knowing = fit.spamming_[:, 1] / fit.spamming_.sum(axis=1)
    return (
        {int(task): probabilities[at] for at, task in enumerate(tasks)},
        {int(worker): float(knowing[at]) for at, worker in enumerate(workers)},
    )


def _spread(posterior: dict[int, Floats], n: int) -> Floats:
    """Return the probabilities as a table with a row for each item, NaN where nobody rated it."""
    width = len(next(iter(posterior.values())))
    table = np.full((n, width), np.nan)
    for row, probabilities in posterior.items():
        table[row] = probabilities
    return table
