"""Statistics of a judge match its known error model."""

from __future__ import annotations

import random

import pytest

from annotation.models import Label
from demo.fake_model.role import planted_number
from judges.protocols.cocoeval import BEHAVIOUR_KEYS as KEYS
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import ErrorModel, FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)
SENSITIVITY = {"repetition": 0.8, "off_topic": 0.5, "interruption": 1.0}
SPECIFICITY = {"repetition": 0.9, "off_topic": 0.97, "interruption": 0.8}


def test_sensitivity_and_specificity_come_out_as_they_were_put_in(fake: FakeLLM) -> None:
    fake.model = ErrorModel(SENSITIVITY, SPECIFICITY, seed=3)
    random.seed(3)
    corpus = factories.corpus()
    for number in range(20):
        lines = [
            {"text": f"{number}.{i} {{{' '.join(k for k in KEYS if random.random() < 0.3)}}}"}
            for i in range(25)
        ]
        factories.continuation(factories.dialogue(corpus, turns=0), "c", system="x", turns=lines)
    begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    for key, expected in SENSITIVITY.items():
        rows = Label.objects.filter(question__key=key).values_list("item__turn__text", "number")
        planted = [value for text, value in rows if key in text]
        absent = [value for text, value in rows if key not in text]
        assert len(planted) > 100
        # Three standard errors of a share of 100 and 300 draws.
        assert sum(planted) / len(planted) == pytest.approx(expected, abs=0.15)
        assert 1 - sum(absent) / len(absent) == pytest.approx(SPECIFICITY[key], abs=0.08)
    for text, key, value in Label.objects.values_list("item__turn__text", "question__key", "number"):
        assert value == fake.model.sees(key, text), "every label is what the judge said"


@pytest.mark.exhaustive
def test_noisy_scores_are_recorded_as_they_were_given(fake: FakeLLM) -> None:
    fake.model = ErrorModel(noise=0.5, seed=1)
    corpus = factories.corpus()
    lines = [{"text": f"line {i} {{quality {1 + i % 5}}}"} for i in range(60)]
    factories.continuation(factories.dialogue(corpus, turns=1), "c", system="x", turns=lines)
    begin(corpus, Judge("cpdscore_simple", endpoint=endpoint_of(fake)))
    finish()
    rows = list(Label.objects.values_list("question__key", "item__turn__text", "number"))
    assert len(rows) == 60 * 6
    assert all(number == fake.model.score(key, text) for key, text, number in rows)
    off = [number - (planted_number(text, "quality") or 0) for key, text, number in rows if key == "overall"]
    assert 12 < sum(step != 0 for step in off) < 36, "four in ten: at the ends of the scale half stay"
    assert set(off) == {-1, 0, 1}
