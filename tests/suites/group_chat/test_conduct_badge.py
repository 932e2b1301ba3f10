"""A judge of conduct is uncalibrated until a study of enough decisions and people shows its agreement."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Label, Rater
from calibration.reports.snapshot import snapshot_of
from calibration.studies import study_actions
from demo.fake_model.errors import ErrorModel, RoleErrors
from judges.runs.plans import Judge
from suites.group_chat.cascade.people import Badge, badges
from suites.group_chat.cascade.report import compute
from suites.group_chat.cascade.score_figures import read
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish
from tests.suites.group_chat.scripts import LAUNCH

pytestmark = pytest.mark.django_db(transaction=True)
EXTRA = {"decision": {"mode": "explicit", "attend": True, "addressed": ["bot"], "ground": "answer"}}


@dataclass
class Erring:
    """A judge of conduct whose noise and severity are known."""

    noise: float = 0.0
    severity: float = 0.0
    seed: int = 0

    @property
    def errors(self) -> ErrorModel:
        errs = RoleErrors(noise={"*": self.noise}, severity={"*": self.severity})
        return ErrorModel({"conduct": errs})


@pytest.fixture
def fake() -> Any:
    with FakeLLM() as server:
        yield server


def truth(number: int) -> int:
    return number % 5 + 1


def scenario(number: int, people: tuple[str, ...]) -> dict[str, Any]:
    """A scenario with one decision, whose face people rate as it is."""
    text = f"Best ask Mia, number {number}. {{face {truth(number)}}}"
    turn = {"at": 5, "speaker": "bot", "text": text, "addressees": ["ole"], "extra": EXTRA}
    made = {"id": "k", "system": "kit-x", "mode": "static", "turns": [turn]}
    rated = {"continuation": "k", "turn": 0, "scheme": "conduct", "question": "face", "value": truth(number)}
    labels = [{"rater": person, **rated} for person in people]
    own = {"id": f"launch-{number}", "cluster": f"f{number}", "continuations": [made], "labels": labels}
    return deepcopy(LAUNCH) | own


def judged(
    tmp_path: Any, fake: FakeLLM, model: Erring, n: int = 60, people: tuple[str, ...] = ("ann", "ben")
):
    """A corpus of so many decisions that people and a judge rated, and the judge."""
    fake.model = model  # type: ignore[assignment]
    path = tmp_path / "set.jsonl"
    lines = (json.dumps(scenario(number, people)) for number in range(n))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    corpus = Corpus.objects.get(name="Set")
    rater = begin(corpus, Judge("conduct", endpoint=endpoint_of(fake))).rater
    finish(seconds=60)
    return corpus, rater


def on_face(corpus: Corpus, judge: Rater) -> Badge:
    return next(badge for badge in badges(corpus, [judge]) if badge.dimension == "face")


def study(corpus: Corpus) -> Any:
    made = study_actions.create(name="who", corpus=corpus, definition={"resamples": 200}, by=None)
    return study_actions.compute(study=made, part="all", by=None)


@pytest.mark.exhaustive
def test_a_study_recovers_the_agreement_of_a_judge_of_known_noise_and_lifts_the_badge(tmp_path, fake) -> None:
    corpus, judge = judged(tmp_path, fake, Erring(noise=0.3))
    before = on_face(corpus, judge)
    assert (before.stands, before.why) == (True, "no study compares it with people")
    said = dict(
        Label.objects.filter(rater=judge, question__key="face").values_list(
            "item__continuation__dialogue__key", "number"
        )
    )
    assert len(said) == 60
    same = sum(said[f"launch-{number}"] == truth(number) for number in range(60)) / 60
    expected = 1 - 0.3 * (3 / 5 + 2 / 5 / 2)  # at the ends half of the noise falls back on the end
    assert abs(same - expected) < 3 * (expected * (1 - expected) / 60) ** 0.5
    report = study(corpus)
    badge = on_face(corpus, judge)
    assert (badge.stands, badge.study, badge.report) == (False, "who", report.pk)
    assert badge.figure is not None
    assert badge.figure.n_items == 60
    off = sum((said[f"launch-{n}"] - truth(n)) ** 2 for n in range(60)) / 60
    assert badge.figure.point == pytest.approx(1 - off / 4, abs=0.05), "two uniform raters are 4 apart"
    assert f"{judge.title} on face agrees with people at " in badge.sentence()
    told = compute(query=read({"judge": judge.name}, corpus), by=None)
    conduct = next(table for table in told.tables if table.key == "conduct")
    assert conduct.title == f"Score 2: conduct, 1 to 5, by {judge.title}"
    assert badge.sentence() in conduct.notes
    assert f"Not calibrated: {judge.title} on leak." in " ".join(told.facts)


def test_a_judge_that_always_says_5_keeps_the_badge(tmp_path, fake) -> None:
    corpus, judge = judged(tmp_path, fake, Erring(severity=4), n=40)
    question = next(one for one in snapshot_of(study(corpus)).questions if one.key == "face")
    figures = [figure for figure in question.figures if judge.name in figure.raters]
    assert any("constant_rater" in figure.flags for figure in figures)
    badge = on_face(corpus, judge)
    assert (badge.stands, badge.constant) == (True, True)
    assert badge.sentence() == (
        f"Not calibrated: {judge.title} on face: constant rater: it gave one value throughout."
    )
    told = compute(query=read({"judge": judge.name}, corpus), by=None)
    conduct = next(table for table in told.tables if table.key == "conduct")
    assert conduct.title.endswith("(not calibrated)")
    assert badge.sentence() in conduct.notes
    assert "constant rater" not in "".join(told.facts)
    assert any(judge.title in fact and "face" in fact for fact in told.facts)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("n", "people", "why"),
    [
        (20, ("ann", "ben"), "20 decisions were rated by it and by people, of 30 needed"),
        (35, ("ann",), "1 person rated beside it, at least 2 people must"),
    ],
)
def test_too_few_decisions_or_people_lift_no_badge(tmp_path, fake, n, people, why) -> None:
    corpus, judge = judged(tmp_path, fake, Erring(noise=0.2), n=n, people=people)
    study(corpus)
    badge = on_face(corpus, judge)
    assert (badge.stands, badge.why) == (True, why)
