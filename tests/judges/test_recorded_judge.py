"""FED with GPT-4's recorded scores, served by a local endpoint: the same report as from imported labels."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import pytest

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Label
from annotation.records import SELF
from calibration.reports.snapshot import Snapshot, snapshot_of, to_json
from calibration.studies import study_actions as studies
from jobs.models import Run
from judges.runs.judge_calls import JudgePreparer
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.shared, pytest.mark.exhaustive]
SAMPLES = 5
SAME = ("questions", "compared", "raters", "floors", "panels", "scores", "counts", "tags", "prevalence")
"""What a report says of its raters; other sections name the run, which an import has none of."""
DEFINITION = {"resamples": 40}


def imported(shared_data: Path, name: str, *, judge: bool) -> Corpus:
    path = shared_data / "fed/fed_data.json"
    import_path(path=path, format="fed", corpus=name, into=False, by=None)
    if judge:
        scores = shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json"
        import_path(path=scores, format="fed_gpt4", corpus=name, into=True, by=None)
    return Corpus.objects.get(name=name)


def replies(shared_data: Path, run: Run) -> dict[str, deque[str]]:
    """Return, for each prompt of a run, the recorded replies in the order of its samples."""
    recorded = json.loads((shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json").read_text())
    calls = list(
        run.calls.select_related("run__rater", "run__endpoint", "continuation__dialogue").order_by("pk")
    )
    found: dict[str, deque[str]] = defaultdict(deque)
    for start in range(0, len(calls), 100):
        batch = calls[start : start + 100]
        for call, asked in zip(batch, JudgePreparer().make(batch), strict=True):
            place = int(call.continuation.dialogue.key.rpartition("-")[2]) - 1
            scores = {key: recorded[f"{key}_{call.sample + 1}"][place] for key in run.questions}
            assert asked.prompt is not None
            found[asked.prompt.user].append(_reply({key: int(score) for key, score in scores.items()}))
    return found


def _reply(scores: dict[str, int]) -> str:
    fields: dict[str, Any] = {}
    for key, score in scores.items():
        fields |= {f"{key}_explanation": "", key: score}
    return json.dumps(fields)


def report_of(corpus: Corpus) -> Snapshot:
    study = studies.create(name=corpus.name, corpus=corpus, definition=DEFINITION, by=None)
    return snapshot_of(studies.compute(study=study, part="all", by=None))


def told(report: Snapshot, judge: str) -> dict[str, Any]:
    """Return what a report says of its raters, the judge by one name."""
    text = json.dumps({name: to_json(report)[name] for name in SAME})
    return dict(json.loads(text.replace(json.dumps(judge)[1:-1], "THE JUDGE")))


def test_a_judge_served_with_recorded_scores_gives_the_report_of_the_imported_ones(
    shared_data: Path, fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = imported(shared_data, "imported", judge=True)
    corpus = imported(shared_data, "judged", judge=False)
    endpoint = endpoint_of(fake, concurrency=1)  # so the samples of a prompt are asked in their order
    judge = Judge("rubric", endpoint=endpoint, scheme="fed_gpt4")
    run = begin(corpus, judge, samples=SAMPLES, include_self=True)
    run.calls.exclude(continuation__key=SELF).delete()  # single responses, which nobody scored as wholes
    recorded = replies(shared_data, run)
    monkeypatch.setattr(fake, "say", lambda prompt: recorded[prompt].popleft())
    finish(seconds=120)
    run.refresh_from_db()
    assert (run.state, run.missing) == (Run.State.DONE, 0)
    assert fake.requests.total() == run.calls.count() == 125 * SAMPLES
    ours = Label.objects.filter(item__corpus=corpus, rater=run.rater).values_list(
        "item__continuation__dialogue__key", "question__key", "sample", "number"
    )
    theirs = Label.objects.filter(item__corpus=before, rater__name="gpt-4").values_list(
        "item__continuation__dialogue__key", "question__key", "sample", "number"
    )
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == 125 * SAMPLES * 5
    assert told(report_of(corpus), run.rater.name) == told(report_of(before), "gpt-4")
