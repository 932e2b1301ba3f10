"""Drift of judges: anchors stay fixed, and a recheck is paired with the first run and never counts as it."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.corpora import splits
from annotation.models import Corpus, Item, Label, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from calibration.drift import anchor_actions
from calibration.drift.comparing import run_pairs
from calibration.drift.monitor import monitor
from calibration.errors import DriftRefused
from calibration.gold.derivation import gold_or_job
from calibration.models import AnchorItem, AnchorSet, Recheck
from calibration.ratings.scope import scope_of
from calibration.statistics import Ratings
from calibration.statistics.rechecks import RunPair, compare_runs
from calibration.studies import inputs, study_actions
from jobs.models import Endpoint, WebhookEvent
from jobs.models.run import MOST_SAMPLES
from jobs.webhooks import add
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import ErrorModel, FakeLLM
from tests.jobs.work import work_off
from tests.judges.helpers import begin, endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)
ORDINARY, CARELESS = ErrorModel(noise=0.1, seed=1), ErrorModel(noise=0.95, seed=2)


def planted_corpus(dialogues: int = 60) -> Corpus:
    """Create dialogues of three turns with a planted quality, which people rate as it is."""
    corpus = factories.corpus()
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=1)
        lines = [{"text": f"line {number}.{i} {{quality {1 + (number + i) % 5}}}"} for i in range(3)]
        factories.continuation(dialogue, "c", system="x", turns=lines)
    return corpus


def judged_corpus(fake: FakeLLM, dialogues: int = 60, samples: int = 1) -> tuple[Corpus, Rater]:
    """Return a corpus that a judge and two people have rated."""
    corpus = planted_corpus(dialogues)
    run = begin(corpus, Judge("cpdscore_simple", endpoint=endpoint_of(fake)), samples=samples)
    finish()
    question = Question.objects.get(pk=run.questions["overall"])
    for name in ("ann", "ben"):
        person = Rater.objects.create(corpus=corpus, kind="human", name=name)
        items = Item.objects.filter(corpus=corpus, kind="turn", continuation__key="c").select_related("turn")
        answers = [
            Answer(item.pk, question.pk, float(item.turn.text.partition("quality ")[2][0])) for item in items
        ]
        record(rater=person, answers=answers, occasion=Occasion.IMPORTED)
    return corpus, run.answerer


def asked_again(anchors: AnchorSet, rater: Rater) -> Recheck:
    recheck = anchor_actions.recheck(by=None, anchors=anchors, rater=rater)
    finish()
    work_off()
    recheck.refresh_from_db()
    return recheck


def overall(recheck: Recheck) -> dict[str, Any]:
    [row] = [row for row in recheck.result["questions"] if row["question"].endswith("/overall")]
    return row


def test_a_model_that_changed_is_moved_and_one_that_did_not_is_stable(fake: FakeLLM) -> None:
    fake.model = ORDINARY
    corpus, rater = judged_corpus(fake)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    same = asked_again(anchors, rater)
    assert same.state == "stable"
    assert overall(same)["changed"]["value"] == 0
    without = [row for row in same.result["questions"] if not row["question"].endswith("/overall")]
    assert without
    assert all(row["state"] == "stable" and "nobody else answered" in row["sentence"] for row in without)
    fake.model = CARELESS
    moved = asked_again(anchors, rater)
    assert moved.state == "moved"
    row = overall(moved)
    assert row["state"] == "moved"
    assert row["agreement_change"]["high"] < 0
    assert row["agreement_change"]["p_holm"] <= 0.05
    assert "fell by" in row["sentence"]
    assert "moved on" in moved.result["sentence"]


def test_answers_that_nobody_else_gave_are_stable_or_not_by_themselves() -> None:
    first = np.tile([1.0, 2.0, 3.0, 4.0], 60)[:, None]
    nobody = Ratings.from_matrix(np.full((240, 1), np.nan), level="ordinal", scale=[1, 2, 3, 4]).take([])
    few, many = first.copy(), first.copy()
    few[4] = 2.0
    many[::16], many[1::16] = 2.0, 1.0
    states = [compare_runs([RunPair(first, later, nobody)])[0].state for later in (few, many)]
    assert states == ["stable", "cannot say"]


def test_a_judge_that_never_differs_within_a_run_has_an_interval_for_that() -> None:
    first = np.tile([1.0, 2.0, 3.0, 4.0], 10)[:, None].repeat(2, axis=1)
    nobody = Ratings.from_matrix(np.full((40, 1), np.nan), level="ordinal", scale=[1, 2, 3, 4]).take([])
    [row] = compare_runs([RunPair(first, 5 - first, nobody)])
    assert (row.wobble.value, row.wobble.low) == (0, 0)
    assert row.wobble.high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert row.excess.result.value == 1


def test_a_recheck_asks_the_model_again_and_nothing_reads_its_labels(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 10)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    scope, study = scope_of(corpus, None), study_actions.automatic(corpus=corpus, campaign=None, by=None)
    before, n_asked = set(scope.labels().values_list("pk", flat=True)), len(fake.bodies)
    hashed = inputs.read(study, "all").hash
    version = Question.objects.filter(labels__rater=rater, key="overall").first().version
    about = {"corpus": corpus, "campaign": None, "scheme_version": version, "options": {}, "raters": []}
    gold = gold_or_job(by=None, rule="mean", **about)
    recheck = asked_again(anchors, rater)
    assert len(fake.bodies) - n_asked == recheck.run.calls.count() == 30, "no recorded reply is reused"
    assert set(scope.labels().values_list("pk", flat=True)) == before, "what reports, gold and exports read"
    assert inputs.read(study, "all").hash == hashed
    assert gold_or_job(by=None, rule="mean", **about).inputs_hash == gold.inputs_hash
    repeats = Label.objects.filter(rater=rater, occasion=Occasion.REPEAT)
    assert repeats.count() == Label.objects.filter(rater=rater, occasion=Occasion.MAIN).count()
    assert set(repeats.values_list("sample", flat=True)) == {MOST_SAMPLES}


def test_the_items_of_an_anchor_set_never_change(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 6)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus, size=6, seed=3)
    again = anchor_actions.create(by=None, name="again", corpus=corpus, size=6, seed=3)
    own = set(anchors.items.values_list("item", flat=True))
    assert own == set(again.items.values_list("item", flat=True)), "drawn by the seed"
    planted = Item.objects.filter(pk__in=own).values_list("turn__text", flat=True)
    assert {text.partition("quality ")[2][0] for text in planted} == set("12345"), "one of each value"
    anchor_actions.recheck(by=None, anchors=anchors, rater=rater)
    other = Item.objects.filter(corpus=corpus, kind="turn").exclude(pk__in=own).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        AnchorItem.objects.create(anchors=anchors, item=other)
    with pytest.raises(IntegrityError), transaction.atomic():
        anchors.items.update(item=other)
    with pytest.raises(DriftRefused, match="the set stays"):
        anchor_actions.delete(by=None, anchors=anchors)


def test_items_of_the_test_part_are_never_anchors(fake: FakeLLM) -> None:
    corpus, _ = judged_corpus(fake, 10)
    split = splits.draw(corpus=corpus, by=None)
    test = set(split.clusters.filter(part="test").values_list("cluster", flat=True))
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    used = set(anchors.items.values_list("item__continuation__dialogue__cluster", flat=True))
    assert used
    assert test
    assert not used & test


def test_a_due_time_starts_one_recheck_whatever_the_number_of_workers(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 4)
    anchors, now = anchor_actions.create(by=None, name="anchors", corpus=corpus), timezone.now()
    anchor_actions.set_schedule(by=None, anchors=anchors, every_days=7, judges=[rater], now=now)
    assert anchor_actions.start_due(now + timedelta(days=6)) == 0
    later, barrier = now + timedelta(days=16), Barrier(4)

    def sweep() -> None:
        barrier.wait()
        anchor_actions.start_due(later)
        connection.close()

    threads = [Thread(target=sweep) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [recheck] = Recheck.objects.all()
    assert recheck.due == now + timedelta(days=7)
    anchors.refresh_from_db()
    assert anchors.next_due == now + timedelta(days=21), "a missed time is not made up for"
    anchor_actions.set_schedule(by=None, anchors=anchors, every_days=None)
    assert anchor_actions.start_due(now + timedelta(days=100)) == 0


def test_two_samples_show_how_much_an_unchanged_judge_changes(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 8, samples=2)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    recheck = asked_again(anchors, rater)
    assert overall(recheck)["wobble"]["value"] == 0
    _, pairs = run_pairs(recheck)
    assert {pair.first.shape for pair in pairs} == {(24, 2)}
    asked = recheck.run.calls.values_list("sample", flat=True)
    assert set(asked) == {MOST_SAMPLES, MOST_SAMPLES + 1}


def test_a_recheck_in_progress_is_not_started_twice_and_a_later_one_is_new(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 4)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    first = anchor_actions.recheck(by=None, anchors=anchors, rater=rater)
    assert anchor_actions.recheck(by=None, anchors=anchors, rater=rater) == first
    finish()
    assert anchor_actions.recheck(by=None, anchors=anchors, rater=rater).number == first.number + 1


def test_an_estimate_counts_the_calls_and_stores_nothing(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 4, samples=2)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    estimate = anchor_actions.estimate(anchors, rater)
    assert (estimate.calls, estimate.dialogues) == (24, 4)
    assert estimate.cost
    assert not Recheck.objects.exists()


def test_a_judge_at_another_server_is_not_asked_again(fake: FakeLLM) -> None:
    corpus, rater = judged_corpus(fake, 4)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    Endpoint.objects.update(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(DriftRefused, match="never changes its server"):
        anchor_actions.recheck(by=None, anchors=anchors, rater=rater)


def test_the_pages_lead_from_anchors_to_the_comparison(fake: FakeLLM, researcher: Client) -> None:
    fake.model = ORDINARY
    corpus, rater = judged_corpus(fake, 40)
    sent = {"name": "<b>anchors</b>", "margin": 0.1, "seed": 0, "size": ""}
    page = researcher.post(reverse("corpus-drift", args=[corpus.name]), sent, follow=True)
    anchors = AnchorSet.objects.get()
    assert "&lt;b&gt;anchors" in page.content.decode()
    assert "<b>anchors" not in page.content.decode()
    shown = researcher.get(reverse("anchor-set", args=[anchors.pk]), {"judge": rater.pk}).content.decode()
    assert "120 calls" in shown
    act = reverse("anchor-set-act", args=[anchors.pk, "recheck"])
    page = researcher.post(act, {"judge": rater.pk}, follow=True).content.decode()
    assert "The comparison follows when the run has ended" in page
    finish()
    work_off()
    recheck = Recheck.objects.get()
    page = researcher.get(reverse("recheck", args=[recheck.pk])).content.decode()
    assert "The judge is stable on all" in page
    assert "Holm over all questions" in page
    schedule = reverse("anchor-set-act", args=[anchors.pk, "schedule"])
    page = researcher.post(schedule, {"every_days": 7, "judges": [rater.pk]}, follow=True).content.decode()
    assert "Next on" in page
    anchors.refresh_from_db()
    assert list(anchors.scheduled.all()) == [rater]
    refused = researcher.post(reverse("anchor-set-act", args=[anchors.pk, "delete"]), follow=True)
    assert "the set stays" in refused.content.decode()


def test_the_api_does_what_the_pages_do(fake: FakeLLM, researcher: Client) -> None:
    corpus, rater = judged_corpus(fake)
    made = post(researcher, "api-anchor-sets", [], name="anchors", corpus=corpus.pk, size=120)
    anchors = made.json()
    assert (anchors["items"], anchors["judges"]) == (120, [rater.name])
    estimate = post(researcher, "api-estimate-recheck", [anchors["id"]], judge=rater.name).json()
    assert estimate["calls"] == 120
    started = post(researcher, "api-rechecks", [anchors["id"]], judge=rater.name)
    assert started.status_code == 201
    finish()
    work_off()
    recheck = researcher.get(reverse("api-recheck", args=[started.json()["id"]])).json()
    assert recheck["state"] == "stable"
    assert {row["state"] for row in recheck["result"]["questions"]} == {"stable"}
    listed = researcher.get(reverse("api-rechecks", args=[anchors["id"]])).json()
    assert [row["id"] for row in listed["results"]] == [recheck["id"]]
    address = reverse("api-anchor-set", args=[anchors["id"]])
    scheduled = researcher.patch(address, {"every_days": 3}, content_type="application/json").json()
    assert scheduled["scheduled"] == [rater.name]
    assert researcher.delete(address).status_code == 400
    unknown = post(researcher, "api-rechecks", [anchors["id"]], judge="nobody")
    assert "No judge" in unknown.content.decode()


def test_the_command_exits_with_1_where_a_judge_has_moved(fake: FakeLLM, tmp_path: Path) -> None:
    fake.model = ORDINARY
    corpus, rater = judged_corpus(fake)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    add(by=factories.user("root", administrator=True), url="https://hooks.example/", events=["judge.moved"])
    out = StringIO()
    call_command("recheck", "anchors", quiet=True, stdout=out)
    assert '"state": "stable"' in out.getvalue()
    fake.model = CARELESS
    junit = tmp_path / "junit.xml"
    with pytest.raises(CommandError, match="has moved"):
        call_command("recheck", "anchors", judge=[rater.name], junit=junit, quiet=True, stdout=StringIO())
    assert 'failures="1"' in junit.read_text()
    work_off()
    [event] = WebhookEvent.objects.filter(kind="judge.moved")
    assert event.data["rater"] == rater.pk
    assert set(event.data) == {
        *("anchors", "recheck", "rater", "corpus", "questions", "moved"),
        "served_change",
    }
    assert anchors.rechecks.count() == 2


def test_another_build_behind_the_same_name_is_named(fake: FakeLLM, researcher: Client) -> None:
    fake.model, fake.served = ORDINARY, {"model": "fake-1-june", "system_fingerprint": "fp_1"}
    corpus, rater = judged_corpus(fake, 40)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    same = asked_again(anchors, rater)
    june = {"model": "fake-1-june", "system_fingerprint": "fp_1", "calls": 120}
    assert same.result["served"] == {"first": [june], "later": [june]}
    assert same.result["served_change"] == ""
    page = researcher.get(reverse("recheck", args=[same.pk])).content.decode()
    assert "Served as" not in page

    add(by=factories.user("root", administrator=True), url="https://hooks.example/", events=["judge.moved"])
    fake.model, fake.served = CARELESS, {"model": "fake-1-<b>july</b>", "system_fingerprint": "fp_2"}
    out = StringIO()
    with pytest.raises(CommandError, match="Served as fake-1-june"):
        call_command("recheck", "anchors", quiet=True, stdout=out)
    change = "Served as fake-1-june (build fp_1) before, and as fake-1-<b>july</b> (build fp_2) now."
    assert change in out.getvalue()
    work_off()
    assert WebhookEvent.objects.get(kind="judge.moved").data["served_change"] == change
    moved = Recheck.objects.latest("pk")
    shown = researcher.get(reverse("api-recheck", args=[moved.pk])).json()["result"]
    assert shown["served_change"] == change
    assert shown["served"]["first"] == [june]
    page = researcher.get(reverse("recheck", args=[moved.pk])).content.decode()
    assert "as fake-1-&lt;b&gt;july&lt;/b&gt; (build fp_2) now." in page
    assert "<b>july" not in page


def test_a_server_that_says_nothing_of_its_model_is_not_compared(fake: FakeLLM) -> None:
    fake.served = {"model": None}
    corpus, rater = judged_corpus(fake, 4)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=corpus)
    fake.served = {"model": "fake-1", "system_fingerprint": "fp_1"}
    recheck = asked_again(anchors, rater)
    assert recheck.result["served"]["first"] == []
    assert recheck.result["served_change"] == ""


def test_answers_over_time_raise_the_alarm_after_a_change(fake: FakeLLM, researcher: Client) -> None:
    corpus, rater = judged_corpus(fake, 160)
    question = Question.objects.get(
        labels__rater=rater, key="overall", labels__item__turn__text__startswith="line 0.0"
    )
    labels = Label.objects.filter(rater=rater, question=question)
    early = monitor(corpus=corpus, rater=rater, question=question, n_baseline=100)
    assert early.figures.alarm is None
    assert "No change in 60 clusters" in early.sentence
    with pytest.raises(DriftRefused, match="A baseline has"):
        monitor(corpus=corpus, rater=rater, question=question, n_baseline=5)
    values = {label.item_id: label.number for label in labels}
    other = Rater.objects.create(kind="judge", name="changed", fingerprint="changed", spec={})
    order = Item.objects.filter(pk__in=values).order_by("continuation__dialogue__pk", "pk")
    clusters = order.values_list("pk", "continuation__dialogue__pk")
    first = clusters[0][1]
    answers = [
        Answer(pk, question.pk, values[pk] if dialogue < first + 100 else 1.0) for pk, dialogue in clusters
    ]
    record(rater=other, answers=answers, occasion=Occasion.MAIN)
    changed = monitor(corpus=corpus, rater=other, question=question, n_baseline=100)
    assert changed.figures.direction == "down"
    assert changed.figures.alarm < 30
    address = reverse("judge-monitor", args=[corpus.name])
    page = researcher.get(address, {"judge": other.pk, "question": question.pk}).content.decode()
    assert "Alarm: the rate is below" in page
    assert "<svg" in page
    sent = {"judge": "changed", "question": "overall"}
    shown = researcher.get(reverse("api-judge-monitor", args=[corpus.pk]), sent).json()
    assert shown["alarm"] == changed.figures.alarm
    assert shown["series"][-1]["n"] == 60


def post(client: Client, route: str, arguments: list[int], **data: Any) -> Any:
    return client.post(reverse(route, args=arguments), data, content_type="application/json")
