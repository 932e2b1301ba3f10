"""A campaign's report reads its own people's labels, and machines' labels on its items."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Campaign, Item, Label, Occasion, Question, Rater, Turn
from annotation.work.labels import Answer, record
from calibration.ratings.ratings import automatic, load, places
from calibration.ratings.scope import census, of_campaign, of_corpus
from calibration.reports import sentences, tables
from calibration.reports.figures import figures
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.world import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """A campaign of behaviour tags over six dialogues of four turns."""
    corpus = factories.corpus("talks")
    for number in range(6):
        factories.dialogue(corpus, f"d{number}")
    return factories.campaign(corpus, "cocoeval_behaviours", include_self=True, name="tags")


def _tag(campaign: Campaign, rater: Rater, key: str, marked: set[int], **how: Any) -> list[Label]:
    if rater.kind == "judge":
        how["campaign"] = None
    question = Question.objects.get(version=campaign.scheme_version, key=key)
    items = Item.objects.filter(corpus=campaign.corpus, kind="turn").order_by("pk")
    answers = [Answer(item, question, float(n in marked)) for n, item in enumerate(items)]
    return record(rater=rater, answers=answers, **({"occasion": Occasion.MAIN, "campaign": campaign} | how))


def _rater(name: str, kind: str = "human") -> Rater:
    return Rater.objects.create(name=name, kind=kind)


def _result(campaign: Campaign) -> Snapshot:
    study = studies.automatic(corpus=campaign.corpus, campaign=campaign)
    return snapshot_of(studies.compute(study=study, part="all", by=None))


@pytest.mark.exhaustive
def test_people_of_other_campaigns_stay_out_and_judges_come_in(campaign: Campaign) -> None:
    other = factories.campaign(campaign.corpus, "cocoeval_behaviours", include_self=True, name="other")
    _tag(campaign, _rater("ann"), "off_topic", {1, 2, 3})
    _tag(campaign, _rater("ben"), "off_topic", {1, 2, 9})
    _tag(other, _rater("cem"), "off_topic", {5})
    _tag(campaign, _rater("rules", "judge"), "off_topic", {2, 3})
    result = _result(campaign)
    assert [rater.name for rater in tables.raters(result)] == ["ann", "ben", "rules"]
    whole = snapshot_of(studies.compute(study=studies.automatic(corpus=campaign.corpus), part="all", by=None))
    assert len(tables.raters(whole)) == 4


def test_judges_count_on_the_campaign_s_items_alone(campaign: Campaign) -> None:
    rules = _rater("rules", "judge")
    _tag(campaign, rules, "off_topic", {1})
    outside = factories.dialogue(campaign.corpus, "later")
    turn = Turn.objects.filter(continuation__dialogue=outside).first()
    question = Question.objects.get(version=campaign.scheme_version, key="off_topic")
    answer = Answer(Item.objects.get(turn=turn), question, 1.0)
    record(rater=rules, answers=[answer], occasion=Occasion.MAIN)
    assert of_corpus(campaign.corpus).labels().count() == 25
    assert of_campaign(campaign).labels().count() == 24


@pytest.mark.exhaustive
def test_a_group_of_tags_is_read_as_one_question_too(campaign: Campaign) -> None:
    for name, marked in {"ann": {1, 2, 3}, "ben": {1, 2, 9}}.items():
        rater = _rater(name)
        for key in ("off_topic", "repetition", "interruption", "misunderstanding"):
            _tag(campaign, rater, key, marked)
    result = _result(campaign)
    pooled = figures(result)[0]
    assert pooled.data.pooled
    entry = pooled.among("cohen_kappa")
    assert entry is not None
    assert (entry.n_items, entry.n_clusters) == (96, 6)
    assert "All tags, pooled" in sentences.lede(result)[0].text


def test_labels_of_a_training_campaign_are_its_report_and_nobody_else_s(campaign: Campaign) -> None:
    campaign.occasion = Occasion.TRAINING
    campaign.save()
    for name in ("ann", "ben"):
        _tag(campaign, _rater(name), "off_topic", {1, 2}, occasion=Occasion.TRAINING)
    assert of_campaign(campaign).labels().count() == 48
    assert of_corpus(campaign.corpus).labels().count() == 0
    assert _result(campaign).occasions[-1] == "training"


def test_a_rater_who_answered_twice_in_two_campaigns_counts_once(campaign: Campaign) -> None:
    other = factories.campaign(campaign.corpus, "cocoeval_behaviours", include_self=True, name="other")
    ann = _rater("ann")
    _tag(campaign, ann, "off_topic", {1})
    _tag(other, ann, "off_topic", {2})
    _tag(campaign, _rater("ben"), "off_topic", {1})
    whole = snapshot_of(studies.compute(study=studies.automatic(corpus=campaign.corpus), part="all", by=None))
    assert whole.questions[0].repeated == 24
    kappa = figures(whole)[0].among("cohen_kappa")
    assert kappa is not None
    assert kappa.value == 1.0


def test_failed_calls_of_a_judge_are_a_caveat(campaign: Campaign) -> None:
    from calibration.reports import sentences
    from jobs.models import Call, Run

    _tag(campaign, _rater("ann"), "off_topic", {1})
    rules = _rater("rules", "judge")
    _tag(campaign, rules, "off_topic", {1})
    run = Run.objects.create(rater=rules, corpus=campaign.corpus, queue="calls", scope_hash="x")
    for number, dialogue in enumerate(campaign.corpus.dialogues.order_by("pk")):
        state = Call.State.FAILED if number == 0 else Call.State.DONE
        Call.objects.create(run=run, rater=rules, continuation=dialogue.continuations.get(), state=state)
    assert "1 of 6 calls of rules failed and gave no answer." in sentences.caveats(_result(campaign))


def test_labels_are_read_in_one_query_and_how_items_were_drawn_in_another(
    django_assert_num_queries: Any,
) -> None:
    built = world(dialogues=5, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3])
    for name in ("ann", "ben", "cem"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 1.0] * 5)
    scope = of_corpus(built.corpus)
    counted = census(scope)
    where = places(scope, {"turn"})
    (subject,) = automatic(counted)
    with django_assert_num_queries(2):
        data = load(scope, subject, counted, where)
    assert len(data.records) == 60
    assert {record.cluster for record in data.records} == {f"d{n}" for n in range(5)}


def test_raters_who_share_a_name_are_told_apart() -> None:
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("sam", "quality", [1.0, 2.0, 3.0, 1.0])
    built.say("sam", "quality", [1.0, 2.0, 3.0, 1.0], kind="judge")
    account = Rater.objects.create(name="sam", kind="human")
    built.say(account, "quality", [1.0, 2.0, 3.0, 1.0])
    names = sorted(info.name for info in census(of_corpus(built.corpus)).raters.values())
    assert names[-1] == "sam (judge)"
    assert len(set(names)) == 3
