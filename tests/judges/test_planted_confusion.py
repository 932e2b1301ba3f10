"""The whole path: a judge with a known confusion matrix called over HTTP, people's labels, a report.

The report's figures on the judge match the planted matrix.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import sqrt

import pytest

from annotation.models import Item, Label, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from calibration.reports.results import Figure
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.statistics.corrected_shares import NAME
from calibration.studies import study_actions as studies
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import ErrorModel, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)
DIALOGUES, TURNS, LABELLED = 40, 12, 26
"""People answered the turns of the first 26 dialogues; the judge all 40."""


@dataclass(frozen=True)
class Planted:
    """How often a behaviour is there, and how often a judge is right where it is, and where not."""

    prevalence: float
    sensitivity: float
    specificity: float

    @property
    def cells(self) -> tuple[float, float, float, float]:
        """Shares of true positives, false negatives, false positives and true negatives."""
        p, se, sp = self.prevalence, self.sensitivity, self.specificity
        return p * se, p * (1 - se), (1 - p) * (1 - sp), (1 - p) * sp

    @property
    def judge_share(self) -> float:
        """How often the judge says yes."""
        return self.cells[0] + self.cells[2]


PLANTED = {
    "repetition": Planted(0.3, 0.9, 0.7),
    "off_topic": Planted(0.35, 0.6, 0.97),
    "interruption": Planted(0.4, 0.0, 1.0),
}
NEVER = "interruption"
"""The judge says no throughout."""


def kappa_of(tp: float, fn: float, fp: float, tn: float) -> float:
    n = tp + fn + fp + tn
    chance = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n**2
    return ((tp + tn) / n - chance) / (1 - chance)


def mcc_of(tp: float, fn: float, fp: float, tn: float) -> float:
    return (tp * tn - fp * fn) / sqrt((tp + fn) * (fp + tn) * (tp + fp) * (fn + tn))


@pytest.fixture
def found(fake: FakeLLM) -> Snapshot:
    """The report of a judge that a worker asked over HTTP, beside a person who says the truth."""
    sensitivity = {key: one.sensitivity for key, one in PLANTED.items()}
    fake.model = ErrorModel(sensitivity, {key: one.specificity for key, one in PLANTED.items()}, seed=2)
    rng, corpus = random.Random(4), factories.corpus()
    for number in range(DIALOGUES):
        marks = [[key for key, one in PLANTED.items() if rng.random() < one.prevalence] for _ in range(TURNS)]
        lines = [{"text": f"{number}.{n} {{{' '.join(shown)}}}"} for n, shown in enumerate(marks)]
        factories.continuation(factories.dialogue(corpus, turns=0), "c", system="x", turns=lines)
    begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    assert sum(fake.requests.values()) == DIALOGUES
    first = sorted(corpus.dialogues.values_list("pk", flat=True))[:LABELLED]
    items = Item.objects.filter(kind="turn", continuation__dialogue__in=first).select_related("turn")
    person = Rater.objects.create(corpus=corpus, kind="human", name="ann")
    asked = list(Question.objects.filter(key__in=PLANTED).select_related("version__scheme"))
    answers = [Answer(i, q, float(q.key in i.turn.text), "", 0) for i in items if i.turn for q in asked]
    record(rater=person, answers=answers, occasion=Occasion.IMPORTED)
    definition = {
        "questions": [f"{q.version.scheme.key}@{q.version.version}/{q.key}" for q in asked],
        "statistics": ["cohen_kappa", "mcc"],
        "resamples": 200,
        "baselines": False,
    }
    study = studies.create(name="planted", corpus=corpus, definition=definition, by=None)
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def pair_figure(found: Snapshot, key: str, name: str) -> Figure:
    question = next(q for q in found.questions if q.key == key)
    return next(f for f in question.pairs if f.name == name and "ann" in f.raters)


def share(found: Snapshot, key: str, name: str) -> Figure:
    row = next(row for row in found.prevalence if row.ref.endswith(f"/{key}"))
    return next(f for f in row.figures if f.name == f"{NAME}{name}")


def holds(figure: Figure, planted: float) -> bool:
    """Whether a planted value lies within three standard errors of a figure, by its interval of 95%."""
    assert figure.low is not None
    assert figure.high is not None
    assert 0 < figure.high - figure.low < 0.35, "an interval that says something"
    return abs(figure.point - planted) <= 3 * (figure.high - figure.low) / (2 * 1.96)


def test_a_report_recovers_the_planted_confusion_matrix_of_a_judge_asked_over_http(found: Snapshot) -> None:
    for key, one in PLANTED.items():
        assert pair_figure(found, key, "cohen_kappa").n_items == LABELLED * TURNS
        if key == NEVER:
            continue
        counted = _counted(key)
        for name, formula in (("cohen_kappa", kappa_of), ("mcc", mcc_of)):
            figure = pair_figure(found, key, name)
            assert figure.value == pytest.approx(formula(*counted), abs=1e-12), "what the judge said, exactly"
            assert holds(figure, formula(*one.cells)), (key, figure)
        assert holds(share(found, key, "sensitivity"), one.sensitivity)
        assert holds(share(found, key, "specificity"), one.specificity)
        assert holds(share(found, key, "judge_share"), one.judge_share)
        assert not holds(share(found, key, "judge_share"), one.prevalence), "what needs correcting"
        assert holds(share(found, key, "prediction_powered"), one.prevalence)
        assert holds(share(found, key, "rogan_gladen"), one.prevalence)
    assert not found.bounds, "no call failed"
    _a_judge_who_never_says_yes_shows_nothing(found)


def _a_judge_who_never_says_yes_shows_nothing(found: Snapshot) -> None:
    kappa, mcc = pair_figure(found, NEVER, "cohen_kappa"), pair_figure(found, NEVER, "mcc")
    assert (kappa.value, "constant_rater" in kappa.flags) == (0, True)
    assert mcc.status == "undefined"
    assert share(found, NEVER, "judge_share").value == 0
    assert share(found, NEVER, "sensitivity").value == 0
    assert share(found, NEVER, "rogan_gladen").status == "rejected"
    assert holds(share(found, NEVER, "prediction_powered"), PLANTED[NEVER].prevalence)


def _counted(key: str) -> tuple[float, float, float, float]:
    """Count the judge's labels on the turns that people answered by the truth in their texts."""
    labels = Label.objects.filter(question__key=key, rater__kind="judge", number__isnull=False)
    cells = {(1, 1): 0.0, (1, 0): 0.0, (0, 1): 0.0, (0, 0): 0.0}
    for text, number in labels.values_list("item__turn__text", "number"):
        if int(text.split(".")[0]) < LABELLED:
            cells[int(key in text), int(number or 0)] += 1
    return cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0]
