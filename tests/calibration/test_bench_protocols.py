"""Benches of protocols that take any scheme, and of multi-step protocols that read other raters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotation import scheme_store
from annotation.corpora import splits
from annotation.models import Corpus, Item, Label, Occasion, Rater
from annotation.work.labels import Answer, record
from calibration.workbench import checks
from calibration.workbench.sheets import Judged, agreement, sheets
from calibration.workbench.versions import side_by_side
from judges.drafts import benches, draft_actions
from judges.drafts.benches import begun_from, text_of, versions_for
from judges.errors import JudgeError
from judges.models import Bench, Draft, DraftAnswer
from judges.prompts import prompt_actions as prompts
from judges.prompts import versions
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus
from tests.judges.test_rubric_runs import CLARITY

pytestmark = pytest.mark.django_db(transaction=True)
NOISE = 0.5
"""How often the fake model is one step off: see `fake`."""


def clear_corpus(dialogues: int = 12) -> Corpus:
    """Dialogues whose turns ann and ben rated on a scheme of the researcher's own."""
    corpus = small_corpus(dialogues)
    splits.draw(corpus=corpus, by=None)
    questions = {row.key: row for row in scheme_store.store(definition=CLARITY).questions.all()}
    turns = Item.objects.filter(corpus=corpus, kind="turn", continuation__key="c").select_related("turn")
    for name, lower in (("ann", 0), ("ben", 1)):
        rater = Rater.objects.create(corpus=corpus, kind="human", name=name)
        given = [
            Answer(item, questions["quality"], float(4 - item.turn.position % 2 - lower * (number % 3 == 0)))
            for number, item in enumerate(turns.order_by("pk"))
            if item.turn is not None
        ]
        tones = [Answer(item, questions["tone"], "friendly") for item in turns]
        record(rater=rater, answers=[*given, *tones], occasion=Occasion.IMPORTED)
    return corpus


def rubric_bench(corpus: Corpus, variant: str = "json", name: str = "clear") -> Bench:
    return benches.open_bench(
        by=None, name=name, protocol="rubric", corpus=corpus, scheme=CLARITY.key, variant=variant
    )


def tried(bench: Bench, fake: FakeLLM, targets: int | None = 20, **how: Any) -> Draft:
    begin = text_of(bench, "")
    endpoint = how.pop("endpoint", None) or endpoint_of(fake, name=f"fake {Draft.objects.count()}")
    fields = {"wording": begin.wording, "variant": begin.variant} | how
    draft = draft_actions.write(by=None, bench=bench, endpoint=endpoint, **fields)
    draft_actions.run(by=None, draft=draft, targets=targets)
    finish()
    draft.refresh_from_db()
    return draft


@pytest.mark.exhaustive
def test_a_researchers_own_scheme_is_calibrated_page_by_page(rea: Client, fake: FakeLLM) -> None:
    corpus, endpoint = clear_corpus(), endpoint_of(fake)
    opening = {"act": "open", "name": "clear", "protocol": "rubric", "scheme": f"{CLARITY.key}@1", "seed": 0}
    page = rea.post(f"/workbench/new/?corpus={corpus.pk}", opening | {"variant": "json"}, follow=True)
    assert f"over Clarity ({CLARITY.key}@1)" in page.content.decode()
    bench = Bench.objects.get()
    address = f"/workbench/{bench.pk}/"
    begin = begun_from(bench, "")
    form = begin | {
        "user": f"{begin['user']}\r\nBe kind.",
        "endpoint": endpoint.pk,
        "samples": 1,
        "top_p": 0.5,
    }
    shown = rea.post(address, form | {"show": "request"}).content.decode()
    assert "How clear?" in shown
    assert "Tokens to read, about" in shown
    assert not fake.requests
    rea.post(address, form | {"items": "20", "confirmed": "yes"})
    finish()
    told = rea.get(address).content.decode()
    assert "20 of 20" in told
    assert ">20<" in told.partition("Agreement so far")[2]
    assert {body["top_p"] for body in fake.bodies} == {0.5}
    assert "differs" in told
    draft = Draft.objects.get()
    assert f"draft-{draft.number}" in rea.get(f"{address}disagreements/").content.decode()
    rea.post(f"{address}drafts/{draft.number}/keep/", {"name": "my clarity"})
    kept = versions.find("my clarity@1")
    assert (kept.scheme_version, Label.objects.filter(rater__kind="judge").count()) == (
        bench.scheme_version,
        40,
    )


def test_a_program_calibrates_a_rubric(rea: Client, fake: FakeLLM) -> None:
    corpus = clear_corpus()
    endpoint_of(fake)
    body = {
        "name": "clear",
        "protocol": "rubric",
        "corpus": corpus.name,
        "scheme": CLARITY.key,
        "variant": "line",
    }
    sent: dict[str, Any] = {"content_type": "application/json"}
    made = rea.post("/api/v1/workbench/", json.dumps(body), **sent).json()
    assert (made["scheme"], made["variant"]) == (f"{CLARITY.key}@1", "line")
    at = f"/api/v1/workbench/{made['id']}/drafts/"
    assert rea.post(at, json.dumps({"endpoint": "fake", "seed": 7}), **sent).status_code == 201
    finish()
    draft = rea.get(f"{at}1/").json()
    assert (draft["variant"], draft["tried"]["done"]) == ("line", 5 * 2)
    assert {body["seed"] for body in fake.bodies} == {7}
    kappa = next(row for row in draft["agreement"] if row["question"].endswith("/quality"))
    assert (kappa["statistic"], kappa["n_items"]) == ("cohen_kappa_quadratic", 5)
    bad = rea.post(at, json.dumps({"endpoint": "fake", "variant": "expected"}), **sent)
    assert (bad.status_code, "asks as json or line" in bad.json()["detail"]) == (400, True)


def test_variants_share_a_bench_where_they_answer_the_same_about_the_same(fake: FakeLLM) -> None:
    corpus = clear_corpus(4)
    alike = rubric_bench(corpus)
    assert benches.variants(alike) == ["json", "line"]
    expected = rubric_bench(corpus, "expected", "expected")
    assert benches.variants(expected) == ["expected"]
    with pytest.raises(JudgeError, match="asks as expected"):
        tried(expected, fake, variant="line")


@pytest.mark.exhaustive
def test_expected_scores_stand_beside_peoples_answers_of_the_scheme(fake: FakeLLM) -> None:
    bench = rubric_bench(clear_corpus(), "expected")
    draft = tried(bench, fake, 10)
    judged = Judged(draft.name, draft.asker, draft)
    (sheet,) = sheets(bench, [judged])
    assert sheet.question.level == "interval"
    found = {row.result.name: row.result.n_items for row in agreement([sheet], judged)}
    assert found == {"spearman": 10, "pearson": 10}


@pytest.mark.exhaustive
def test_rubrics_over_different_schemes_are_counted_apart(fake: FakeLLM) -> None:
    corpus = clear_corpus(4)
    mine = rubric_bench(corpus)
    other = benches.open_bench(
        by=None, name="fed", protocol="rubric", corpus=corpus, scheme="fed_turn", variant="json"
    )
    tried(mine, fake, 1)
    tried(mine, fake, 1, wording=_worded(mine))
    tried(other, fake, 1)
    assert (benches.count(mine), benches.count(other)) == (2, 1)
    assert side_by_side(mine).tried == 2


def _worded(bench: Bench) -> Any:
    wording = text_of(bench, "").wording
    return type(wording)(wording.system, f"{wording.user}\n\nBe kind.", wording.form)


def test_a_prompt_for_another_scheme_is_not_begun_from(fake: FakeLLM) -> None:
    bench = rubric_bench(clear_corpus(2))
    own = text_of(bench, "")
    prompts.copy(by=None, version=own, name="any scheme")
    fed = scheme_store.find("fed_turn")
    prompts.create(
        by=None, name="for fed", protocol="rubric", variant="json", wording=own.wording, scheme_version=fed
    )
    assert [one.ref for one in versions_for(bench)] == ["rubric@1", "rubric_line@1", "any scheme@1"]
    with pytest.raises(JudgeError, match="for another scheme"):
        text_of(bench, "for fed@1")


def steps(dialogues: int = 4) -> tuple[Bench, Bench]:
    """Return the benches of two steps over one corpus: turns, and dialogues on top of them."""
    corpus = small_corpus(dialogues)
    splits.draw(corpus=corpus, by=None)
    return (
        benches.open_bench(by=None, name="turns", protocol="cpdscore_detail", corpus=corpus),
        benches.open_bench(by=None, name="whole", protocol="cpdscore_dialogue", corpus=corpus),
    )


def on_top(first: Draft, whole: Bench, fake: FakeLLM, **how: Any) -> Draft:
    return tried(whole, fake, None, options={"needs": {"turn_scores": first.rater.fingerprint}}, **how)


@pytest.mark.exhaustive
def test_the_second_step_reads_a_draft_of_the_first_and_waits_where_that_has_no_answer(fake: FakeLLM) -> None:
    turns, whole = steps()
    first = tried(turns, fake, 1)
    endpoint = endpoint_of(fake, name="second")
    second = on_top(first, whole, fake, endpoint=endpoint)
    assert len(fake.requests) == 1
    assert set(DraftAnswer.objects.filter(draft=second).values_list("number", flat=True)) == {None}
    draft_actions.run(by=None, draft=first, targets=None)
    finish()
    again = on_top(first, whole, fake, endpoint=endpoint)
    assert again == second
    answers = DraftAnswer.objects.filter(draft=second)
    assert (answers.count(), answers.filter(number=None).count()) == (2 * 3, 0)
    assert not Label.objects.exists()
    assert "no place in one" in checks.finding(second, "turns").reason


@pytest.mark.exhaustive
def test_steps_are_kept_one_on_top_of_the_other_and_counted_once(fake: FakeLLM) -> None:
    turns, whole = steps()
    first = tried(turns, fake, None)
    second = on_top(first, whole, fake)
    with pytest.raises(JudgeError, match="keep that one first"):
        draft_actions.keep(by=None, draft=second)
    asked = fake.requests.total()
    draft_actions.keep(by=None, draft=first)
    kept = draft_actions.keep(by=None, draft=Draft.objects.get(pk=second.pk))
    first.refresh_from_db()
    assert first.kept_rater is not None
    assert kept.asker.spec["needs"]["turn_scores"]["rater"] == first.kept_rater.fingerprint
    assert Label.objects.filter(rater=kept.asker).count() == 2 * 3
    side_by_side(whole)
    assert (benches.count(whole), fake.requests.total()) == (1, asked)


@pytest.mark.exhaustive
def test_the_page_of_a_judge_in_steps_offers_drafts_of_the_first(rea: Client, fake: FakeLLM) -> None:
    turns, whole = steps()
    first = tried(turns, fake, None)
    address = f"/workbench/{whole.pk}/"
    page = rea.get(address).content.decode()
    assert "Step 1: what it reads" in page
    assert f"draft {first.number} of turns" in page
    begin = begun_from(whole, "")
    form = begin | {"endpoint": first.endpoint_id, "samples": 1, "items": "5", "confirmed": "yes"}
    lacking = rea.post(address, form)
    assert (lacking.status_code, b"say whose" in lacking.content) == (422, True)
    rea.post(address, form | {"need_turn_scores": first.rater.fingerprint})
    finish()
    assert DraftAnswer.objects.filter(draft__bench=whole, missing="").count() == 2 * 3
    body = {"endpoint": first.endpoint.name, "needs": {"turn_scores": f"turns/draft-{first.number}"}}
    sent = rea.post(f"/api/v1{address}drafts/", json.dumps(body), content_type="application/json")
    assert (sent.status_code, sent.json()["number"]) == (201, 1)
