"""Selections beyond campaigns, runs and exports leave out dialogues that a release check has not passed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import scheme_store
from annotation.campaigns import campaign_actions
from annotation.corpora.copy_without_turns import copy_without_turns
from annotation.corpora.import_file import import_path
from annotation.errors import QuestionsRefused
from annotation.formats import ImportProblem
from annotation.models import Continuation, Corpus, Item, Label, QuestionSet, Rater
from annotation.work.labels import Answer, record
from calibration.adjudication import cases
from calibration.comparisons import profiles
from calibration.drift import anchor_actions
from calibration.errors import AdjudicationRefused, DriftRefused, GoldRuleError
from calibration.gold.derivation import make, preview_gold
from calibration.models import AnchorItem, Gold, GoldLabel
from config.models import Event
from judges.errors import JudgeError
from judges.metrics import METRICS
from judges.prompts.examples import Pick, pick
from judges.protocols import PROTOCOLS, Wording
from judges.runs.metric_calls import scheme_of
from suites.collecting import chat_plans, writing_plans
from suites.continuation.errors import SystemsError
from suites.continuation.models import Production
from suites.continuation.productions import benchmark_actions, production_actions
from suites.continuation.productions.benchmark_steps import Order
from suites.continuation.productions.dialogues import Dialogues, select_dialogues
from suites.continuation.productions.plans import Generation
from suites.long_dialogue.editing import question_sets
from tests import factories
from tests.suites.collecting.release_world import EXCLUDE, LEFT_OUT, PASSED, World, rate, world
from tests.suites.continuation.making import source, talks
from tests.suites.continuation.test_engine import endpoint_of
from tests.suites.continuation.toy import ToyModel
from tests.suites.group_chat.test_cascade_report import always, families, played
from tests.suites.long_dialogue.answers_world import usual
from tests.suites.long_dialogue.examples import script

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def checked() -> World:
    return world()


def review(corpus: Corpus, answers: dict[str, int]) -> None:
    """Import one person's answers to `objection` about dialogues, by key."""
    question = factories.scheme_version("ethics").questions.get(key="objection")
    person, _ = Rater.objects.get_or_create(name="eve", kind="human", corpus=corpus)
    for key, answer in answers.items():
        own = Continuation.objects.filter(dialogue__corpus=corpus, dialogue__key=key).order_by("pk")[0]
        item, _ = Item.objects.get_or_create(continuation=own, kind="dialogue", defaults={"corpus": corpus})
        Label.objects.create(
            item=item, question=question, rater=person, occasion="imported", number=float(answer)
        )


def signed_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


# Generation and benchmarks.


def test_generation_writes_for_what_passed_and_is_another_run_once_that_changes(
    toys: ToyModel, checked: World
) -> None:
    generation = Generation("toy", endpoint_of(toys), {"turns": 1}, {}, "writer")
    dialogues = select_dialogues(checked.corpus, {"exclude": " objection >= 1 "})
    assert [row.key for row in dialogues.rows()] == PASSED
    run = production_actions.start(by=None, generation=generation, dialogues=dialogues)
    assert sorted(Production.objects.values_list("dialogue__key", flat=True)) == PASSED
    assert [row["dialogue"] for row in run.scope["excluded"]["left_out"]] == LEFT_OUT
    assert production_actions.start(by=None, generation=generation, dialogues=dialogues) == run
    checked.review(checked.reviewers[3])
    later = production_actions.start(by=None, generation=generation, dialogues=dialogues)
    assert later != run
    assert sorted(Production.objects.values_list("dialogue__key", flat=True)) == [*PASSED, "d3"]


def test_the_estimate_the_page_and_the_api_of_generation_say_what_is_left_out(
    toys: ToyModel, checked: World
) -> None:
    generation = Generation("toy", endpoint_of(toys), {"turns": 1}, {}, "writer")
    dialogues = Dialogues(checked.corpus, exclude=EXCLUDE)
    assert production_actions.estimate(generation.plan(), dialogues).left_out == {
        "left out by objection>=1": 3
    }
    client = signed_in(checked.researcher)
    body = {"generator": "toy", "corpus": "chats", "endpoint": generation.endpoint.name, "exclude": EXCLUDE}
    answer = client.post("/api/v1/productions/", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    run = client.get(reverse("run", args=[answer.json()["id"]])).content.decode()
    assert "1 objected and 2 not checked of 5 dialogues" in run
    refused = client.post(
        "/api/v1/productions/", body | {"exclude": "rudeness>=1"}, content_type="application/json"
    )
    assert refused.status_code == 400
    page = client.post(
        f"{reverse('generate')}?corpus={checked.corpus.pk}&generator=toy",
        {"endpoint": generation.endpoint.pk, "trials": 1, "exclude": "rudeness>=1"},
    )
    assert page.status_code == 422
    assert "has the key" in page.content.decode()


def test_a_benchmark_is_made_of_what_passed_when_it_was_asked_for(tmp_path: Path) -> None:
    corpus = source(tmp_path, "talks", talks("t"))
    keys = sorted(corpus.dialogues.values_list("key", flat=True))
    review(corpus, {keys[0]: 1} | dict.fromkeys(keys[2:], 0))
    order = Order(per_source=1, steps=("cut",), allow_fewer=True, exclude=EXCLUDE)
    benchmark = benchmark_actions.start(
        by=None, name="bench", sources=[(corpus, "talks")], order=order, endpoint=None
    )
    review(corpus, {keys[1]: 0})
    benchmark = benchmark_actions.advance(benchmark.pk)
    assert benchmark.is_done, benchmark.error
    offered = benchmark_actions.estimate(
        [(corpus, "talks")], Order(per_source=100, steps=("cut",), allow_fewer=True, exclude=EXCLUDE), None
    )
    assert offered.conversations == len(keys) - 1
    (told,) = benchmark_actions.as_json(benchmark)["excluded"]
    assert [row["dialogue"] for row in told["left_out"]] == keys[:2]
    assert benchmark.corpus is not None
    assert not set(benchmark.corpus.dialogues.values_list("cluster", flat=True)) & set(keys[:2])
    with pytest.raises(SystemsError, match="exclude: no question"):
        benchmark_actions.start(
            by=None,
            name="other",
            sources=[(corpus, "talks")],
            order=Order(per_source=1, steps=("cut",), exclude="rudeness>=1"),
            endpoint=None,
        )


# Reports.


def test_the_cascade_report_reads_what_passed(tmp_path: Path) -> None:
    corpus = families(tmp_path, "abcd")
    played(corpus, "talker", always("speak"))
    review(corpus, {"a-1": 0, "b-1": 0, "c-1": 1})
    client = signed_in(factories.user(researcher=True))
    address = f"/api/v1/corpora/{corpus.pk}/cascade/"
    report = client.get(address, {"exclude": EXCLUDE, "resamples": 20}).json()
    assert [row["dialogue"] for row in report["excluded"]["left_out"]] == ["c-1", "d-1"]
    assert report["facts"][0] == report["excluded"]["sentence"]
    assert any(fact.startswith("2 scenarios of 2 families") for fact in report["facts"])
    assert client.get(address, {"resamples": 20}).json()["excluded"] is None
    page = client.get(reverse("cascade", args=[corpus.pk]), {"exclude": EXCLUDE}).content.decode()
    assert "1 person objects" in page
    assert 'value="objection&gt;=1"' in page
    refused = client.get(address, {"exclude": "rudeness>=1"})
    assert refused.status_code == 400


def two_scripts(folder: Path, **changes: Any) -> Corpus:
    """Import two scripts whose questions systems answered; the first one meets an objection."""
    lines = [script(continuations=usual(), **{"id": key, **changes}) for key in ("loaf", "roll")]
    path = folder / "scripts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    import_path(path=path, name=path.name, format="jsonl", corpus="scripts", into=False, by=None)
    corpus = Corpus.objects.get(name="scripts")
    review(corpus, {"loaf": 1, "roll": 0})
    return corpus


def test_the_answers_report_reads_what_passed(tmp_path: Path) -> None:
    corpus = two_scripts(tmp_path)
    client = signed_in(factories.user(researcher=True))
    address = f"/api/v1/corpora/{corpus.pk}/answers/"
    query: dict[str, Any] = {"resamples": 20, "by": "system,script"}
    everything = client.get(address, query).json()
    assert {row["script"] for row in everything["rows"]} == {"loaf", "roll"}
    passed = client.get(address, query | {"exclude": EXCLUDE}).json()
    assert {row["script"] for row in passed["rows"]} == {"roll"}
    assert passed["facts"][0] == passed["excluded"]["sentence"]
    listed = client.get(f"{address}list/", {"exclude": EXCLUDE}).json()["results"]
    assert {row["script"] for row in listed} == {"roll"}
    page = client.get(reverse("answers", args=[corpus.pk]), {"exclude": EXCLUDE}).content.decode()
    assert "1 person objects" in page
    listing = client.get(reverse("answers-list", args=[corpus.pk]), {"exclude": EXCLUDE}).content.decode()
    assert 'value="objection&gt;=1"' in listing


def test_a_question_set_asks_about_what_passed_and_is_another_one_once_that_changes(tmp_path: Path) -> None:
    corpus = two_scripts(tmp_path, question_sets=None)
    by = factories.user(researcher=True)
    everything = question_sets.make(corpus=corpus, name="all", by=by).set
    passed = question_sets.make(corpus=corpus, name="passed", exclude=EXCLUDE, by=by).set
    assert scripts_asked(everything) == {"loaf", "roll"}
    assert scripts_asked(passed) == {"roll"}
    assert [row["dialogue"] for row in passed.options["excluded"]["left_out"]] == ["loaf"]
    assert not question_sets.make(corpus=corpus, name="passed", exclude=EXCLUDE, by=by).created
    Label.objects.filter(item__corpus=corpus, number=1).update(superseded_at=timezone.now())
    review(corpus, {"loaf": 0})
    assert question_sets.make(corpus=corpus, name="passed", exclude=EXCLUDE, by=by).created
    with pytest.raises(QuestionsRefused, match="has the key 'rudeness'"):
        question_sets.make(corpus=corpus, name="passed", exclude="rudeness>=1", by=by)


def scripts_asked(question_set: QuestionSet) -> set[str]:
    return set(question_set.uses.values_list("question__dialogue__key", flat=True))


def test_metric_scores_are_of_what_passed(checked: World) -> None:
    add_scores(checked)
    client = signed_in(checked.researcher)
    address = f"/api/v1/corpora/{checked.corpus.pk}/profile/"
    everything, passed = client.get(address).json(), client.get(address, {"exclude": EXCLUDE}).json()
    assert [cell["n"] for cell in everything["cells"]] == [5]
    assert [cell["n"] for cell in passed["cells"]] == [2]
    assert passed["cells"][0]["mean"] == pytest.approx(0.05)
    assert [row["dialogue"] for row in passed["excluded"]["left_out"]] == LEFT_OUT
    page = client.get(f"/corpora/{checked.corpus.pk}/profile/", {"exclude": EXCLUDE}).content.decode()
    assert "3 of 4 have answered" in page
    (column,) = profiles.profile(checked.corpus)[0].columns
    chart = client.get(
        reverse("profile-chart", args=[checked.corpus.pk, column.id, "svg"]), {"exclude": EXCLUDE}
    )
    assert chart.status_code == 200
    query = profiles.ProfileQuery(checked.corpus, exclude=EXCLUDE)
    (box,) = profiles.spread_of(query=query, column=column, by=None)
    assert box["n"] == 2
    refused = client.get(f"/corpora/{checked.corpus.pk}/profile/", {"exclude": "rudeness>=1"})
    assert refused.status_code == 422
    assert "has the key" in refused.content.decode()


def add_scores(checked: World) -> None:
    """Give the system's response in dialogue dN the value N / 10 of a metric."""
    question = scheme_store.store(definition=scheme_of(METRICS["dnr"])).questions.get()
    rater = Rater.objects.create(kind="metric", name="dnr@paper", spec={"metric": "dnr"})
    for item in Item.objects.filter(corpus=checked.corpus, kind="turn", continuation__key="x"):
        value = int(item.continuation.dialogue.key[1:]) / 10
        record(rater=rater, answers=[Answer(item, question, value)], occasion="main")


def test_turn_and_dialogue_ratings_are_compared_where_dialogues_passed(checked: World) -> None:
    rate(checked)
    rate_dialogues(checked)
    client = signed_in(checked.researcher)
    address = f"/api/v1/corpora/{checked.corpus.pk}/turns-and-whole/"
    assert client.get(address).json()["count"] == 5
    passed = client.get(address, {"exclude": EXCLUDE}).json()
    assert sorted(row["dialogue"] for row in passed["results"]) == PASSED
    assert [row["dialogue"] for row in passed["excluded"]["left_out"]] == LEFT_OUT
    page = client.get(f"/corpora/{checked.corpus.pk}/turns-and-whole/", {"exclude": EXCLUDE})
    assert "3 of 4 have answered" in page.content.decode()


def rate_dialogues(checked: World) -> None:
    question = factories.scheme_version("comperdial_dialogue").questions.get(key="overall")
    eva = Rater.objects.get(name="eva", corpus=checked.corpus)
    items = Item.objects.filter(corpus=checked.corpus, kind="dialogue", continuation__key="x").order_by("pk")
    for number, item in enumerate(items):
        Label.objects.create(
            item=item, question=question, rater=eva, occasion="imported", number=1 + number % 5
        )


# Gold, adjudication, anchors, examples and copies.


def gold_of(checked: World, exclude: str) -> Gold:
    return make(
        corpus=checked.corpus,
        campaign=None,
        exclude=exclude,
        scheme_version=factories.scheme_version(),
        rule="mean",
        by=None,
    )


def test_gold_is_chosen_for_what_passed_and_says_what_it_left_out(checked: World) -> None:
    rate(checked)
    gold = gold_of(checked, EXCLUDE)
    keys = GoldLabel.objects.filter(gold=gold).values_list("item__continuation__dialogue__key", flat=True)
    assert sorted(set(keys)) == PASSED
    assert [row["dialogue"] for row in gold.options["excluded"]["left_out"]] == LEFT_OUT
    everything = gold_of(checked, "")
    assert everything.inputs_hash != gold.inputs_hash
    assert gold_of(checked, EXCLUDE) == gold
    page = signed_in(checked.researcher).get(reverse("gold", args=[gold.pk])).content.decode()
    assert "3 of 4 have answered" in page
    with pytest.raises(GoldRuleError, match="has the key 'rudeness'"):
        gold_of(checked, "rudeness>=1")


def test_page_and_api_make_gold_of_what_passed(checked: World) -> None:
    rate(checked)
    preview = preview_gold(
        corpus=checked.corpus,
        campaign=None,
        exclude=EXCLUDE,
        scheme_version=factories.scheme_version(),
        options={},
        raters=(),
    )
    assert preview.n == len(PASSED)
    client = signed_in(checked.researcher)
    scheme = "comperdial_turn@1"
    body = {"corpus": checked.corpus.pk, "scheme": scheme, "exclude": EXCLUDE}
    made = client.post("/api/v1/gold/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    assert made.json()["n"] == len(PASSED)
    address = f"{reverse('new-gold')}?corpus={checked.corpus.pk}"
    answer: Any = client.post(address, {"scheme": scheme, "rule": "mean", "exclude": EXCLUDE})
    assert answer.status_code == 302, answer.content
    assert Gold.objects.latest("pk").n == len(PASSED)
    assert client.post(address, {"scheme": scheme, "exclude": "objection"}).status_code == 422


def test_adjudication_picks_cases_of_what_passed(checked: World) -> None:
    rate(checked)
    version = factories.scheme_version()

    def read(exclude: str) -> set[str]:
        material = cases.read(
            corpus=checked.corpus,
            campaign=None,
            version=version,
            settings=cases.parse({"everything": True, "exclude": exclude}),
            takes_locked=False,
        )
        return {place.key.split("/")[0] for place in material.where.values()}

    assert read(EXCLUDE) == set(PASSED)
    assert len(read("")) == 5
    with pytest.raises(AdjudicationRefused, match="has the key 'rudeness'"):
        read("rudeness>=1")


def test_an_anchor_set_is_drawn_from_what_passed(checked: World) -> None:
    rate(checked)
    anchors = anchor_actions.create(by=None, name="anchors", corpus=checked.corpus, exclude=EXCLUDE)
    keys = AnchorItem.objects.filter(anchors=anchors).values_list(
        "item__continuation__dialogue__key", flat=True
    )
    assert sorted(set(keys)) == PASSED
    detail = Event.objects.filter(verb="create anchor set").latest("pk").detail
    assert [row["dialogue"] for row in detail["left_out"]["left_out"]] == LEFT_OUT
    with pytest.raises(DriftRefused, match="has the key 'rudeness'"):
        anchor_actions.create(by=None, name="no", corpus=checked.corpus, exclude="rudeness>=1")


def test_worked_examples_are_of_what_passed(checked: World) -> None:
    rate(checked)
    protocol: Any = PROTOCOLS["cpdscore_simple"]
    variant = "without_reference"

    def picked(exclude: str, **how: Any) -> Wording:
        criteria = Pick(
            checked.corpus, **{"rule": "balanced", "whole_corpus": True, "exclude": exclude, **how}
        )
        return pick(protocol, variant, protocol.wording(variant), criteria)

    wording = picked(EXCLUDE)
    assert {example["key"].split("/")[0] for example in wording.examples} == set(PASSED)
    assert wording.picking["exclude"] == EXCLUDE
    assert len(wording.picking["left_out"]) == 64
    with pytest.raises(JudgeError, match="is left out by objection>=1"):
        picked(EXCLUDE, rule="by_hand", keys=("d2/x/0",))
    with pytest.raises(JudgeError, match="has the key 'rudeness'"):
        picked("rudeness>=1")


def test_a_copy_without_turns_is_of_what_passed(checked: World) -> None:
    result = copy_without_turns(by=checked.researcher, corpus=checked.corpus, name="bare", exclude=EXCLUDE)
    bare = Corpus.objects.get(name="bare")
    assert sorted(bare.dialogues.values_list("key", flat=True)) == PASSED
    assert "1 objected and 2 not checked" in result.notes[-1]
    with pytest.raises(ImportProblem, match="has the key 'rudeness'"):
        copy_without_turns(by=None, corpus=checked.corpus, name="no", exclude="rudeness>=1")


def test_people_talk_only_in_roles_that_passed() -> None:
    corpus = factories.corpus("roles")
    for number in range(3):
        dialogue = factories.dialogue(corpus, f"r{number}", turns=0)
        factories.continuation(dialogue, "read", system="human", turns=[{"text": "Who I am"}])
    review(corpus, {"r0": 0, "r1": 1})
    campaign = chat_plans.create(
        by=factories.user(researcher=True),
        name="talk",
        corpus=corpus,
        scheme="comperdial_dialogue",
        plan={"participants": 2},
        exclude=EXCLUDE,
    )
    assert chat_plans.count(campaign) == 1
    campaign_actions.open(by=factories.user(researcher=True), campaign=campaign)
    written = Continuation.objects.filter(dialogue__corpus=corpus, key=campaign.own_key)
    assert list(written.values_list("dialogue__key", flat=True)) == ["r0"]


def test_people_write_responses_only_to_dialogues_that_passed(checked: World) -> None:
    people = [{"id": "A", "name": "Ana"}, {"id": "B", "name": "Ben", "profile": ["I ski."]}]
    checked.corpus.dialogues.update(participants=people)
    by, plan = checked.researcher, {"personas": "both"}
    everything = writing_plans.create(by=by, name="all", corpus=checked.corpus, plan=plan)
    assert writing_plans.count(everything) == 5
    campaign = writing_plans.create(by=by, name="some", corpus=checked.corpus, plan=plan, exclude=EXCLUDE)
    assert writing_plans.count(campaign) == len(PASSED)
    campaign_actions.open(by=by, campaign=campaign)
    written = Continuation.objects.filter(dialogue__corpus=checked.corpus, key=campaign.own_key)
    assert sorted(written.values_list("dialogue__key", flat=True)) == PASSED
