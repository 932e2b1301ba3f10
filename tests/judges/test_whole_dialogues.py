"""Judges of whole dialogues: one call per continuation, answers to questions about its dialogue item."""

from __future__ import annotations

import pytest

from annotation.models import Continuation, Item, Label
from jobs.models import Call, Run
from judges.protocols import PROTOCOLS
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.stand_ins import Whole, say, stand_ins

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _protocols(monkeypatch: pytest.MonkeyPatch, fake: FakeLLM) -> None:
    for protocol in stand_ins():
        monkeypatch.setitem(PROTOCOLS, protocol.key, protocol)
    monkeypatch.setattr(fake, "say", say(fake))


def test_one_call_a_continuation_answers_the_questions_about_the_dialogue(fake: FakeLLM) -> None:
    run = begin(small_corpus(), Judge("whole", endpoint=endpoint_of(fake)))
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing, fake.requests.total()) == (Run.State.DONE, 4, 0, 2)
    found = Label.objects.values_list("item__kind", "item__continuation__key", "question__key", "number")
    assert sorted(found) == sorted(
        [("dialogue", "c", key, 7.0) for key in ("consistency", "collaborativeness")] * 2
    )


def test_a_dialogue_without_turns_to_judge_is_covered_too(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    dialogue = corpus.dialogues.get()
    factories.continuation(dialogue, "given", system="x", turns=[{"text": "hm", "given": True}])
    begin(corpus, Judge("whole", endpoint=endpoint_of(fake)))
    finish()
    assert {label.item.continuation.key for label in Label.objects.all()} == {"c", "given"}


def test_the_same_run_again_asks_nothing_and_a_new_continuation_is_picked_up(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(), Judge("whole", endpoint=endpoint_of(fake))
    first = begin(corpus, judge)
    finish()
    for dialogue in corpus.dialogues.all():
        factories.continuation(dialogue, "later", system="y", turns=[{"text": "new"}])
    again = begin(corpus, judge)
    finish()
    assert (first.pk, fake.requests.total(), again.calls.count()) == (again.pk, 4, 4)


def test_over_a_campaign_of_whole_dialogues_its_items_are_judged(fake: FakeLLM) -> None:
    corpus = small_corpus()
    campaign = factories.campaign(corpus, "cocoeval_overall")
    begin(corpus, Judge("whole", endpoint=endpoint_of(fake)), campaign=campaign)
    finish()
    assert Label.objects.count() == 4
    assert set(Call.objects.values_list("item__kind", flat=True)) == {"dialogue"}


def test_a_refusal_leaves_the_questions_about_the_dialogue_missing(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Whole, "nothing_to_judge", "nothing to see")
    begin(small_corpus(dialogues=1), Judge("whole", endpoint=endpoint_of(fake)))
    finish()
    assert fake.requests.total() == 0
    told = Label.objects.values_list("item__kind", "missing")
    assert list(told) == [("dialogue", "nothing to see")] * 2


def test_one_call_may_answer_about_every_turn_and_about_the_dialogue(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    begin(corpus, Judge("both", endpoint=endpoint_of(fake)))
    finish()
    assert fake.requests.total() == 1
    kinds = list(Label.objects.values_list("item__kind", flat=True))
    assert (kinds.count("turn"), kinds.count("dialogue")) == (6, 2)


def test_a_refused_call_about_turns_and_dialogue_leaves_each_question_missing_once(
    fake: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Whole, "nothing_to_judge", "nothing to see")
    begin(small_corpus(dialogues=1), Judge("both", endpoint=endpoint_of(fake)))
    finish()
    kinds = list(Label.objects.exclude(missing="").values_list("item__kind", flat=True))
    assert (kinds.count("turn"), kinds.count("dialogue")) == (6, 2)


def test_an_unparseable_reply_about_a_dialogue_is_no_label(fake: FakeLLM) -> None:
    fake.mode = "malformed"
    begin(small_corpus(dialogues=1), Judge("whole", endpoint=endpoint_of(fake)))
    finish()
    assert Call.objects.get().error == "unparseable: no number"
    assert not Label.objects.exists()


def test_every_dialogue_item_stands_for_one_continuation() -> None:
    small_corpus()
    assert Item.objects.filter(kind="dialogue").count() == Continuation.objects.count()
