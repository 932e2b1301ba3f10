"""A judge answers a nominal question with its texts, under the same constraints as a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation import scheme_store
from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Item, Label, Occasion, Question
from annotation.work import labels
from annotation.work.labels import Answer
from calibration.gold.derivation import make
from calibration.studies import study_actions as studies
from jobs.models import Call, Run
from judges.protocols import PROTOCOLS
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish
from tests.judges.stand_ins import STAGE_SCHEME, STAGES, say, stand_ins

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 6


@pytest.fixture(autouse=True)
def _protocols(monkeypatch: pytest.MonkeyPatch, fake: FakeLLM) -> None:
    for protocol in stand_ins():
        monkeypatch.setitem(PROTOCOLS, protocol.key, protocol)
    monkeypatch.setattr(fake, "say", say(fake))


def planted(stage: str = "") -> Corpus:
    """Four dialogues of six turns; each plants the stages in turn, or the one that is named."""
    corpus = factories.corpus()
    for number in range(4):
        lines = [
            {"text": f"line {number}.{i} {{stage {stage or STAGES[(number + i) % 3]}}}"} for i in range(TURNS)
        ]
        factories.continuation(factories.dialogue(corpus, f"d{number}"), "c", system="x", turns=lines)
    return corpus


def judged(corpus: Corpus, fake: FakeLLM) -> Run:
    run = begin(corpus, Judge("stage", endpoint=endpoint_of(fake)))
    finish()
    run.refresh_from_db()
    return run


def people(corpus: Corpus) -> None:
    """Two people: ann says what is planted, ben calls every address an attend."""
    question = scheme_store.store(definition=STAGE_SCHEME).questions.get()
    items = Item.objects.filter(kind="turn", continuation__key="c").select_related("turn")
    for name, said in (("ann", {}), ("ben", {"address": "attend"})):
        rater = labels.imported_rater(corpus=corpus, kind="human", name=name)
        truth = {item: item.turn.text.split("{stage ")[1][:-1] for item in items if item.turn}
        answers = [Answer(item, question, said.get(stage, stage)) for item, stage in truth.items()]
        labels.record(rater=rater, answers=answers, occasion=Occasion.IMPORTED)


def test_a_judge_s_text_is_a_label_and_counts_as_a_value(fake: FakeLLM) -> None:
    run = judged(planted(), fake)
    assert (run.state, run.values, run.missing) == (Run.State.DONE, 4 * TURNS, 0)
    assert {(label.number, label.text) for label in Label.objects.all()} == {(None, one) for one in STAGES}


def test_a_text_off_the_scale_is_asked_for_once_more_and_never_becomes_a_label(fake: FakeLLM) -> None:
    judged(planted("wait"), fake)
    calls = Call.objects.all()
    told = "unparseable: failed_at: 'wait' is not on the scale (attend, speak, address)"
    assert {(call.state, call.reasked, call.error) for call in calls} == {(Call.State.FAILED, 1, told)}
    assert not Label.objects.exists()


def test_a_text_is_no_number_and_a_number_no_text(fake: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake, "say", lambda prompt: "\x00attend")
    run = judged(planted(), fake)
    assert set(Label.objects.values_list("text", flat=True)) == {"attend"}
    assert run.values == 4 * TURNS
    question = Question.objects.get(key="failed_at")
    assert not question.accepts(1)
    assert not question.accepts("speaks")


def test_a_report_compares_the_judge_s_texts_with_the_people_s(fake: FakeLLM) -> None:
    corpus = planted()
    people(corpus)
    run = judged(corpus, fake)
    report = studies.compute(study=studies.automatic(corpus=corpus), part="all", by=None)
    (question,) = report.result["questions"]
    assert question["level"] == "nominal"
    pairs = {
        frozenset(entry["raters"]): entry["value"]
        for entry in question["pairs"]
        if entry["name"] == "cohen_kappa"
    }
    assert pairs[frozenset({"ann", run.rater.name})] == pytest.approx(1.0)
    # ben: 8 of 24 wrong; by chance 2/3 * 1/3 + 1/3 * 1/3
    assert pairs[frozenset({"ben", run.rater.name})] == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))


@pytest.mark.exhaustive
def test_pages_and_gold_show_the_judge_s_text(client: Client, fake: FakeLLM) -> None:
    corpus = planted()
    people(corpus)
    run = judged(corpus, fake)
    client.force_login(factories.user(researcher=True))
    dialogue = corpus.dialogues.get(key="d0")
    page = client.get(f"{reverse('dialogue', args=[dialogue.pk])}?continuation=c").content.decode()
    assert run.rater.title in page
    assert page.count("attend") >= 3
    made = make(
        corpus=corpus,
        campaign=None,
        scheme_version=Question.objects.get().version,
        rule="majority",
        by=None,
        raters=("ann", "ben", run.rater.name),
    )
    assert set(made.labels.values_list("text", flat=True)) == set(STAGES)


@pytest.mark.exhaustive
def test_an_export_holds_the_texts_agree_reads_them_and_an_import_gives_them_back(
    fake: FakeLLM, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = planted()
    people(corpus)
    run = judged(corpus, fake)
    path = tmp_path / "labels.csv"
    call_command("export_labels", "--corpus", corpus.name, "--output", str(path))
    capsys.readouterr()
    call_command("agree", str(path), "--scale", "nominal", "--json")
    told = json.loads(capsys.readouterr().out)
    assert run.rater.name in json.dumps(told)
    twin = planted_twin(corpus)
    import_path(path=path, format="ratings-csv", corpus=twin.name, into=True, by=None)
    texts = Label.objects.filter(item__corpus=twin, rater__kind="judge").values_list("text", flat=True)
    assert sorted(texts) == sorted(STAGES * 8)


def planted_twin(corpus: Corpus) -> Corpus:
    """Return a corpus with the same dialogues and no labels."""
    twin = planted()
    assert set(twin.dialogues.values_list("key")) == set(corpus.dialogues.values_list("key"))
    return twin
