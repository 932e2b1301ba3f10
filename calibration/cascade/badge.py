"""Whether a judge of conduct is calibrated: whether a study reports its agreement with people.

`group_chat.md`, section 7: the badge *not calibrated* stands unless a study of at least 30 decisions and 2
people reports the judge's agreement with them. Each dimension has a badge of its own, because a judge that
follows people in one may not in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotation.models import Corpus, Label, Rater
from annotation.scenarios.records import DIMENSIONS
from annotation.schemes.decisions import CONDUCT
from annotation.text.display import number as rounded
from calibration.models import Report
from calibration.reports.contents import Figure
from calibration.reports.figures import HUMAN as HUMAN_KIND
from calibration.reports.figures import QuestionFigures
from calibration.reports.snapshot import Question, is_readable, snapshot_of

LEAST_DECISIONS, LEAST_PEOPLE = 30, 2
NOT_CALIBRATED = "not calibrated"
NO_STUDY = "no study compares it with people"


@dataclass(frozen=True, slots=True)
class Badge:
    """What is known of a judge on one dimension. `why` says why it is not calibrated, '' where it is.

    `figure` is its agreement with people, of the report `report` of the study `study`; `constant` says that
    it gave one value throughout.
    """

    judge: str
    dimension: str
    why: str = ""
    study: str = ""
    report: int | None = None
    figure: Figure | None = None
    constant: bool = False

    @property
    def stands(self) -> bool:
        """Whether the dimension's numbers by this judge stay out of the headline."""
        return bool(self.why)

    def sentence(self) -> str:
        """Return it as one sentence."""
        if self.why or self.figure is None:
            return f"{NOT_CALIBRATED.capitalize()}: {self.judge} on {self.dimension}: {self.why}."
        low, high = self.figure.low, self.figure.high
        ends = "" if low is None or high is None else f" ({rounded(low, 2)} to {rounded(high, 2)})"
        return (
            f"{self.judge} on {self.dimension} agrees with people at {rounded(self.figure.point, 3)}{ends}, "
            f"{self.figure.name.replace('_', ' ')}, n = {self.figure.n_items:,}, in the study {self.study}."
        )


def badges(corpus: Corpus, judges: Sequence[Rater]) -> tuple[Badge, ...]:
    """Return a badge for each dimension of conduct that each judge rated decisions of a corpus on.

    The newest readable report of every study counts; of several the one that lifts the badge, else the one
    with the most decisions.
    """
    if not judges:
        return ()
    rated = _rated(corpus, judges)
    compared = list(_compared(corpus)) if rated else []
    return tuple(
        _best(judge.name, dimension, [found for found in compared if found[1].key == dimension])
        for judge in judges
        for dimension in DIMENSIONS
        if (judge.pk, dimension) in rated
    )


def _rated(corpus: Corpus, judges: Sequence[Rater]) -> set[tuple[int, str]]:
    labels = Label.objects.filter(
        item__corpus=corpus,
        rater__in=judges,
        superseded_at=None,
        missing="",
        question__version__scheme__key=CONDUCT.key,
        question__key__in=DIMENSIONS,
    )
    return set(labels.values_list("rater_id", "question__key").distinct())


def _compared(corpus: Corpus) -> Iterator[tuple[Report, Question]]:
    """Yield the questions of conduct in the newest report of each study of a corpus and part."""
    rows = Report.objects.filter(study__corpus=corpus).select_related("study")
    for report in rows.order_by("study_id", "part", "-pk").distinct("study_id", "part"):
        if is_readable(report):
            for question in snapshot_of(report).questions:
                if question.scheme.partition("@")[0] == CONDUCT.key and not question.pooled:
                    yield report, question


def _best(judge: str, dimension: str, found: Iterable[tuple[Report, Question]]) -> Badge:
    made = [_badge(judge, dimension, *one) for one in found]
    known = [one for one in made if one is not None]
    if not known:
        return Badge(judge, dimension, NO_STUDY)
    return max(known, key=lambda one: (not one.stands, one.figure.n_items if one.figure else 0, one.report))


def _badge(judge: str, dimension: str, report: Report, question: Question) -> Badge | None:
    """Return what one study's question says of a judge, None where the judge is not in it."""
    own = next((one for one in question.raters if one.name == judge), None)
    if own is None:
        return None
    asked = QuestionFigures(question)
    figure = asked.with_people(asked.headline, judge)
    people = [one for one in question.raters if one.kind == HUMAN_KIND and one.n and not one.simulated]
    why = ""
    if own.constant:
        why = "constant rater: it gave one value throughout"
    elif len(people) < LEAST_PEOPLE:
        told = "nobody" if not people else f"{len(people)} person" if len(people) == 1 else f"{len(people)}"
        why = f"{told} rated beside it, at least {LEAST_PEOPLE} people must"
    elif figure is None or not figure.ok:
        why = f"its agreement with people is not defined: {figure.reason if figure else question.problem}"
    elif figure.n_items < LEAST_DECISIONS:
        why = f"{figure.n_items} decisions were rated by it and by people, of {LEAST_DECISIONS} needed"
    return Badge(judge, dimension, why.rstrip(": "), report.study.name, report.pk, figure, own.constant)
