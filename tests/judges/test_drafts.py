"""A draft is run on dev items, stores answers separately, and they become labels only if it is kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import Item, Label, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from jobs.models import Call, Endpoint, Run
from judges.drafts import benches, draft_actions
from judges.errors import JudgeError
from judges.models import Bench, BenchTarget, Draft, DraftAnswer, Trial
from judges.prompts import versions
from judges.protocols import Wording
from judges.runs.material import machines
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
PROTOCOL = "cpdscore_simple"
OWN = versions.find("cpdscore_simple_without_reference").wording
KINDER = Wording("You are kind.\n\n$notice", f"{OWN.user}\n\nBe kind.")


def bench_of(dialogues: int = 4, protocol: str = PROTOCOL) -> Bench:
    corpus = small_corpus(dialogues)
    splits.draw(corpus=corpus, by=None)
    return benches.open_bench(by=None, name="bench", protocol=protocol, corpus=corpus)


def draft_of(bench: Bench, endpoint: Endpoint, wording: Wording = KINDER, **how: Any) -> Draft:
    return draft_actions.write(
        by=None, bench=bench, wording=wording, variant="without_reference", endpoint=endpoint, **how
    )


def dev(bench: Bench) -> frozenset[str]:
    return splits.clusters(split=bench.split, part="dev")


def test_targets_are_of_dev_spread_over_clusters_and_only_ever_grow() -> None:
    bench = bench_of(6)
    with transaction.atomic():
        five = benches.grow(bench, 5)
    with transaction.atomic():
        whole = benches.grow(bench, None)
    assert [target.pk for target in whole[:5]] == [target.pk for target in five]
    assert len(whole) == 3 * 6 == benches.available(bench)
    assert {target.continuation.dialogue.cluster for target in five[:3]} == dev(bench)
    assert {target.continuation.dialogue.cluster for target in whole} == dev(bench)


@pytest.mark.parametrize("protocol", [PROTOCOL, "cpdscore_detail"])
def test_the_same_corpus_gives_the_same_draw_wherever_it_is_loaded(protocol: str) -> None:
    draws = []
    for name in ("here", "there"):
        corpus = small_corpus(6)
        splits.draw(corpus=corpus, by=None)
        bench = benches.open_bench(by=None, name=name, protocol=protocol, corpus=corpus)
        with transaction.atomic():
            targets = benches.grow(bench, None)
        draws.append(
            [
                (target.continuation.dialogue.key, target.item and target.item.turn.position)
                for target in targets
            ]
        )
    assert draws[0] == draws[1]
    assert draws[0] != sorted(draws[0])


def test_the_database_refuses_a_target_of_test_and_a_label_of_a_draft(fake: FakeLLM) -> None:
    bench = bench_of()
    other = bench.corpus.dialogues.exclude(cluster__in=dev(bench)).first()
    assert other is not None
    own = other.continuations.get(key="c")
    with pytest.raises(IntegrityError, match="dev items alone"), transaction.atomic():
        BenchTarget.objects.create(bench=bench, position=0, continuation=own, item=own.items.first())
    draft = draft_of(bench, endpoint_of(fake))
    run = draft_actions.run(by=None, draft=draft, targets=1)
    target = bench.targets.get()
    with pytest.raises(IntegrityError, match="before it is kept"), transaction.atomic():
        Label.objects.create(
            item=target.item,
            question_id=run.questions["overall"],
            rater=draft.rater,
            occasion=Occasion.MAIN,
            number=3,
        )


def test_a_bench_on_a_corpus_without_a_split_leaves_it_without() -> None:
    corpus = small_corpus(3)
    bench = benches.open_bench(by=None, name="b", protocol=PROTOCOL, corpus=corpus)
    assert splits.lock_of(corpus) is None
    assert (bench.split.name, bench.split.fixed_at is None) == ("workbench", False)
    second = benches.open_bench(by=None, name="b 2", protocol=PROTOCOL, corpus=corpus)
    assert second.split == bench.split
    with pytest.raises(SplitRefused, match="workbench is the split of benches"):
        splits.draw(corpus=corpus, by=None, name="workbench")
    alone = small_corpus(1)
    with pytest.raises(
        JudgeError, match=r"tried on dev alone, and the corpus .* has fewer than two clusters"
    ):
        benches.open_bench(by=None, name="c", protocol=PROTOCOL, corpus=alone)
    assert not alone.splits.exists()


@pytest.mark.parametrize("seed", range(5))
def test_no_draft_has_seen_the_test_part_of_a_split_drawn_after_its_bench(seed: int) -> None:
    corpus = small_corpus(9)
    bench = benches.open_bench(by=None, name="b", protocol=PROTOCOL, corpus=corpus)
    seen = dev(bench)
    split = splits.draw(corpus=corpus, by=None, seed=seed, test_share=0.3)
    assert seen <= splits.clusters(split=split, part="dev")
    assert len(splits.clusters(split=split, part="test")) == 3
    split = splits.draw(corpus=corpus, by=None, seed=seed + 9, test_share=0.9)
    assert splits.clusters(split=split, part="dev") == seen
    second = splits.draw(corpus=corpus, by=None, seed=seed, test_share=0.2, name="other", purpose="a check")
    assert seen <= splits.clusters(split=second, part="dev")
    later = benches.open_bench(by=None, name="c", protocol=PROTOCOL, corpus=corpus)
    assert (later.split, bench.split.name) == (split, "workbench")


def test_dialogues_imported_after_the_split_are_not_shown_by_an_earlier_bench() -> None:
    corpus = small_corpus(4)
    bench = benches.open_bench(by=None, name="b", protocol=PROTOCOL, corpus=corpus)
    split, seen = splits.draw(corpus=corpus, by=None, seed=3), dev(bench)
    new = [factories.dialogue(corpus, f"new{number}") for number in range(8)]
    splits.grow(corpus=corpus)
    assert dev(bench) == seen
    assert {row.cluster for row in new} & splits.clusters(split=split, part="test")


def test_no_label_and_no_rater_in_a_list_comes_from_a_draft(fake: FakeLLM) -> None:
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    run = draft_actions.run(by=None, draft=draft, targets=5)
    finish()
    run.refresh_from_db()
    assert (run.state, run.kind, run.values) == ("done", "draft", 5 * 6)
    assert DraftAnswer.objects.filter(draft=draft).count() == 5 * 6
    assert not Label.objects.exists()
    assert draft.rater not in machines()
    assert sum(fake.requests.values()) == 5


@pytest.mark.exhaustive
def test_more_items_ask_only_for_what_is_new_and_the_same_text_is_the_same_draft(fake: FakeLLM) -> None:
    bench = bench_of()
    endpoint = endpoint_of(fake)
    first = draft_of(bench, endpoint)
    draft_actions.run(by=None, draft=first, targets=5)
    finish()
    again = draft_of(bench, endpoint)
    assert again == first
    draft_actions.run(by=None, draft=again, targets=None)
    finish()
    assert DraftAnswer.objects.values("item").distinct().count() == 12
    assert sum(fake.requests.values()) == 12
    other = draft_of(bench, endpoint, Wording("$notice", OWN.user))
    assert other.number == 2
    draft_actions.run(by=None, draft=other, targets=5)
    five = set(bench.targets.filter(position__lt=5).values_list("item", flat=True))
    assert set(Call.objects.filter(rater=other.rater).values_list("item", flat=True)) == five
    assert benches.count(bench) == 2


def test_one_who_looked_before_another_tried_more_takes_nothing_back(fake: FakeLLM) -> None:
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    seen = Draft.objects.get(pk=draft.pk)
    draft_actions.run(by=None, draft=draft, targets=9, samples=2)
    draft_actions.run(by=None, draft=seen, targets=5)
    draft.refresh_from_db()
    assert (draft.targets, draft.samples) == (9, 2)
    draft_actions.discard(by=None, draft=draft)
    with pytest.raises(JudgeError, match="was thrown away"):
        draft_actions.run(by=None, draft=seen, targets=5)


def test_people_answered_come_first_and_own_turns_where_they_are_wanted() -> None:
    bench = bench_of(6)
    own = Item.objects.filter(corpus=bench.corpus, kind="turn", continuation__key="self")
    rated = own.filter(continuation__dialogue__cluster__in=dev(bench)).order_by("pk")[1]
    person = Rater.objects.create(corpus=bench.corpus, kind="human", name="ann")
    question = Question.objects.get(pk=bench.questions["overall"])
    record(rater=person, answers=[Answer(rated, question, 4.0)], occasion=Occasion.IMPORTED)
    wider = benches.open_bench(
        by=None, name="wider", protocol=PROTOCOL, corpus=bench.corpus, include_self=True
    )
    assert benches.available(wider) == benches.available(bench) + 3 * 2
    with transaction.atomic():
        first, *_ = benches.grow(wider, 5)
        others = benches.grow(bench, None)
    assert first.item == rated
    assert rated.pk not in {target.item_id for target in others}


@pytest.mark.exhaustive
def test_a_kept_draft_hands_over_what_was_paid_for_and_goes_on_as_a_judge(fake: FakeLLM) -> None:
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    draft_actions.run(by=None, draft=draft, targets=5)
    finish()
    asked, paid = sum(fake.requests.values()), [call.cost for call in Call.objects.all()]
    kept = draft_actions.keep(by=None, draft=draft, name="kinder")
    assert kept.kept == "kinder@1"
    assert kept.kept_rater is not None
    assert kept.kept_rater.spec["prompt"] == "kinder@1"
    assert Label.objects.filter(rater=kept.kept_rater, made_by__call__run__kind="judge").count() == 5 * 6
    assert not DraftAnswer.objects.exists()
    assert [call.cost for call in Call.objects.all()] == paid
    assert sum(fake.requests.values()) == asked
    run = Run.objects.get(kind="judge")
    assert (run.state, run.values, run.calls.count()) == ("done", 30, 5)
    draft_actions.run(by=None, draft=kept, targets=8)
    finish()
    assert Label.objects.filter(rater=kept.kept_rater).count() == 8 * 6
    assert sum(fake.requests.values()) == 8
    assert benches.count(bench) == 1


@pytest.mark.exhaustive
def test_the_judge_of_a_kept_version_asks_only_for_the_rest(fake: FakeLLM) -> None:
    bench = bench_of(2)
    endpoint = endpoint_of(fake)
    draft = draft_of(bench, endpoint)
    draft_actions.run(by=None, draft=draft, targets=2)
    finish()
    draft_actions.keep(by=None, draft=draft, name="kinder")
    begin(bench.corpus, Judge(prompt="kinder", endpoint=endpoint), split=bench.split, part="dev")
    finish()
    assert sum(fake.requests.values()) == 6
    assert Label.objects.count() == 6 * 6


@pytest.mark.exhaustive
def test_failed_calls_of_a_draft_are_kept_with_it_and_make_no_label(fake: FakeLLM) -> None:
    fake.mode = "malformed"
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    draft_actions.run(by=None, draft=draft, targets=2)
    finish()
    draft_actions.keep(by=None, draft=draft, name="kinder")
    run = Run.objects.get(kind="judge")
    assert (run.state, run.calls.filter(state="failed").count()) == ("failed", 2)
    assert not Label.objects.exists()


@pytest.mark.exhaustive
def test_a_draft_is_not_kept_while_it_runs_nor_twice_nor_once_it_was_thrown_away(fake: FakeLLM) -> None:
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    draft_actions.run(by=None, draft=draft, targets=2)
    with pytest.raises(JudgeError, match="Wait until"):
        draft_actions.keep(by=None, draft=draft, name="kinder")
    thrown = draft_actions.discard(by=None, draft=draft)
    assert Run.objects.get().state == "cancelled"
    with pytest.raises(JudgeError, match="thrown away"):
        draft_actions.keep(by=None, draft=thrown, name="kinder")
    with pytest.raises(JudgeError, match="thrown away"):
        draft_actions.run(by=None, draft=thrown, targets=2)
    with pytest.raises(IntegrityError, match="stays counted"), transaction.atomic():
        Trial.objects.all().delete()
    taken_up = draft_of(bench, draft.endpoint)
    assert taken_up == draft
    draft_actions.run(by=None, draft=taken_up, targets=2)
    finish()
    draft_actions.keep(by=None, draft=taken_up, name="kinder")
    with pytest.raises(JudgeError, match="kept already"):
        draft_actions.keep(by=None, draft=Draft.objects.get(), name="kinder")


@pytest.mark.exhaustive
def test_the_text_of_concord_is_kept_without_a_name(fake: FakeLLM) -> None:
    bench = bench_of()
    endpoint = endpoint_of(fake)
    draft = draft_of(bench, endpoint, OWN)
    draft_actions.run(by=None, draft=draft, targets=2)
    finish()
    kept = draft_actions.keep(by=None, draft=draft)
    assert kept.kept == "cpdscore_simple_without_reference@1"
    assert kept.kept_rater == Judge(PROTOCOL, endpoint=endpoint).plan().rater
    assert Rater.objects.filter(labels__isnull=False).distinct().count() == 1


@pytest.mark.exhaustive
def test_samples_of_a_draft_are_numbered_and_asked_once_each(fake: FakeLLM) -> None:
    bench = bench_of()
    draft = draft_of(bench, endpoint_of(fake))
    draft_actions.run(by=None, draft=draft, targets=2)
    finish()
    draft_actions.run(by=None, draft=draft, targets=2, samples=3)
    finish()
    assert sum(fake.requests.values()) == 2 * 3
    assert set(DraftAnswer.objects.values_list("sample", flat=True)) == {0, 1, 2}


@pytest.mark.exhaustive
def test_a_corpus_goes_with_its_benches(fake: FakeLLM) -> None:
    from annotation.corpora.deletion import delete_corpus
    from tests import factories

    bench = bench_of()
    draft_actions.run(by=None, draft=draft_of(bench, endpoint_of(fake)), targets=2)
    finish()
    root = factories.user(administrator=True)
    delete_corpus(corpus=bench.corpus, by=root, confirmation=bench.corpus.name)
    assert not Bench.objects.exists()
    assert not Trial.objects.exists()
