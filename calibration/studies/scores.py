"""Judges' and metrics' scores in people's terms, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibration.reading.definitions import Definition
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import ScoreBin, ScoreMap, ScoreMarks, ScoreProbabilities, Scores
from calibration.reports.snapshot import Figure
from calibration.statistics import RatingError, Ratings, Result
from calibration.statistics.cross_fitting import FOLDS
from calibration.statistics.scores import Mapped, Marks, Probabilities, of_scores


def scores(
    subjects: Sequence[SubjectData], learning: Sequence[SubjectData], definition: Definition
) -> Scores | None:
    """Return what scores are worth in people's terms; None where no question has people and scores.

    `learning` are dev's answers where test is shown: then nothing is learned on what is shown. Where they are
    empty, figures are cross-fitted by cluster. Questions that cannot be read as ratings are left out; the
    question's own place says why.
    """
    dev = {data.subject.question.ref: data for data in learning}
    marks: list[ScoreMarks] = []
    probabilities: list[ScoreProbabilities] = []
    maps: list[ScoreMap] = []
    for data in subjects:
        about = _Question(data, dev, definition)
        if not data.off_scale or about.ratings is None:
            continue
        found = of_scores(about.ratings, about.learning, ends=about.ends, plan=definition.plan)
        marks += [about.marks(one) for one in found.marks]
        probabilities += [about.probabilities(one) for one in found.probabilities]
        maps += [about.map(one) for one in found.mapped]
    if not (marks or probabilities or maps):
        return None
    return Scores(bool(dev), FOLDS, tuple(marks), tuple(probabilities), tuple(maps))


class _Question:
    """One question: its ratings, those of dev where test is shown, and what results become in a report."""

    def __init__(self, data: SubjectData, dev: Mapping[str, SubjectData], definition: Definition) -> None:
        asked = data.subject.question
        self.ref, self.title = asked.ref, asked.title
        self.ratings = _ratings(data, definition)
        self.learning = self._learning(dev.get(asked.ref), definition)
        self.kinds = dict(zip(self.ratings.raters, self.ratings.kinds, strict=True)) if self.ratings else {}
        self.ends = {name: ends for name in self.kinds if (ends := _ends(name, data.ends)) is not None}

    def _learning(self, dev: SubjectData | None, definition: Definition) -> Ratings | None:
        """Return dev's ratings where test is shown, without a rater where dev has none that can be read."""
        if dev is None or self.ratings is None:
            return None
        return _ratings(dev, definition) or self.ratings.take([])

    def marks(self, one: Marks) -> ScoreMarks:
        """Return the marks of a threshold as reports keep them."""
        return ScoreMarks(
            self.ref,
            self.title,
            one.rater,
            self.kinds.get(one.rater, ""),
            one.rule,
            one.threshold.value if one.threshold else None,
            one.threshold.rising if one.threshold else True,
            one.least,
            one.most,
            one.n_learned,
            one.n_ties,
            self._figures(one.results, one.rater),
            one.reason,
        )

    def probabilities(self, one: Probabilities) -> ScoreProbabilities:
        """Return a score's probabilities as reports keep them."""
        found = one.calibration
        results: tuple[Result, ...] = ()
        if found is not None:
            parts = found.parts
            results = (found.expected_calibration_error, found.brier, parts.reliability, parts.resolution)
            results += (parts.uncertainty, parts.within)
        bins = [
            ScoreBin(b.low, b.high, b.n, b.predicted, self._figures((b.observed,), one.rater)[0])
            for b in (found.curve if found else ())
        ]
        return ScoreProbabilities(
            self.ref,
            self.title,
            one.rater,
            self.kinds.get(one.rater, ""),
            one.method,
            one.n_learned,
            self._figures(results, one.rater),
            tuple(bins),
            one.reason,
        )

    def map(self, one: Mapped) -> ScoreMap:
        """Return a score on people's scale as reports keep it."""
        kind, figures = self.kinds.get(one.rater, ""), self._figures(one.results, one.rater)
        return ScoreMap(self.ref, self.title, one.rater, kind, one.map, one.n_learned, figures, one.reason)

    def _figures(self, results: Sequence[Result], rater: str) -> tuple[Figure, ...]:
        return tuple(Figure.of(result, raters=(rater,), question=self.title) for result in results)


def _ends(name: str, ends: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Return the ends of a rater's scale; repeated answers may be raters of their own, called `name#0`."""
    return ends.get(name) or ends.get(name.rpartition("#")[0])


def _ratings(data: SubjectData, definition: Definition) -> Ratings | None:
    try:
        return data.ratings(definition.samples)
    except RatingError:
        return None
