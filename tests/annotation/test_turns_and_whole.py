"""A scheme with questions about each turn and about the whole: one screen, one draft, one submit."""

import json
from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation import scheme_actions, scheme_store
from annotation.campaigns.tasks import count
from annotation.errors import AnswerRefused, CampaignRefused, SchemeRefused
from annotation.models import Assignment, Item, Label, Question, Rater
from annotation.pages.scheme_draft import draft_of, mapping_of
from annotation.scheme_store import questionnaire_of
from annotation.schemes import files
from annotation.schemes.files import difference
from annotation.work import check_actions, labels, screens, task_page
from annotation.work import task_actions as labelling
from annotation.work.check_stages import feedback_of
from annotation.work.task_answers import hold_of
from tests import factories

pytestmark = pytest.mark.django_db
SCHEME = """
scheme: talk
title: How is the talk?
item_kind: turn
unit: continuation
questions:
- {key: clear, wording: How clear is the turn?, level: ordinal, values: [1, 2, 3]}
- {key: rude, wording: Rude, level: binary, group: Faults, shortcut: r}
- {key: overall, wording: How good is the talk?, level: ordinal, values: [1, 2, 3, 4], item_kind: dialogue,
   evidence: turns, evidence_for: [1]}
- {key: why, wording: Why so bad?, level: text, item_kind: dialogue, show_if: {question: overall, max: 2}}
"""


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def campaign(ana):
    """One dialogue of two turns by a system, after two others; rated by Ana and by one more."""
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    dialogue = factories.dialogue(factories.corpus("talks"), "d", turns=2)
    factories.continuation(dialogue, "zork-1", system="Zork", turns=[{"text": "a"}, {"text": "b"}])
    return factories.campaign(dialogue.corpus, "talk", annotators=[ana, factories.user("ben")], raters=2)


@pytest.fixture
def items(campaign):
    """The two turns and the whole, by their ids."""
    rows = Item.objects.filter(continuation__key="zork-1")
    turns = rows.filter(kind="turn").order_by("turn__position").values_list("pk", flat=True)
    return [*map(str, turns), str(rows.get(kind="dialogue").pk)]


def names(items, task):
    """What names them in a task."""
    return [factories.item_name(Item.objects.get(pk=item), task["assignment"]) for item in items]


def answers(items, overall=3, **more):
    first, second, whole = items
    return {first: {"clear": 1}, second: {"clear": 2, "rude": 1}, whole: {"overall": overall, **more}}


def submit(user, campaign, answers, **more):
    hold = labelling.start(by=user, campaign=campaign.pk)[1]
    return hold, labelling.submit(
        by=user, campaign=campaign.pk, assignment=hold.assignment, answers=answers, **more
    )


def changed(*pairs):
    text = SCHEME
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    return text


# The scheme itself.


def test_a_file_says_what_each_question_is_about_and_comes_back_the_same():
    definition = files.read(SCHEME)
    assert definition.item_kinds == ("turn", "dialogue")
    assert [definition.kind_of(one) for one in definition.questions] == [
        "turn",
        "turn",
        "dialogue",
        "dialogue",
    ]
    assert files.read(files.write(definition)) == definition
    assert files.definition_from(json.loads(json.dumps(files.as_plain(definition)))) == definition
    assert files.definition_from(mapping_of(draft_of(definition))) == definition
    version = scheme_actions.create(by=None, definition=definition)
    assert scheme_store.definition_of(version) == definition
    assert scheme_store.store(definition=definition) == version


def test_naming_the_schemes_own_kind_says_nothing_new():
    named = files.read(changed(("values: [1, 2, 3]}", "values: [1, 2, 3], item_kind: turn}")))
    assert named == files.read(SCHEME)
    assert named.content_hash() == files.read(SCHEME).content_hash()
    assert replace(named.questions[2], item_kind="").as_stored()["item_kind"] == ""


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([("unit: continuation", "unit: item")], "write unit: continuation"),
        ([("item_kind: dialogue,\n", "item_kind: pair,\n")], "stand beside questions about turns"),
        ([("item_kind: dialogue,\n", "item_kind: session,\n")], "write turn or dialogue"),
        ([("item_kind: turn\n", "item_kind: pair\n")], "A scheme about pairs asks about nothing else"),
        ([("question: overall, max", "question: clear, max")], "waits for no single turn"),
        ([("group: Faults", "group: F"), ("evidence: turns, evidence_for: [1]", "group: F")], "make it two"),
        ([("level: ordinal, values: [1, 2, 3]", "level: text, item_kind: dialogue"),
          ("group: Faults, shortcut: r", "item_kind: dialogue")], "All its questions are about the whole"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_on_one_screen_is_refused_in_a_line(pairs, sentence):
    with pytest.raises(SchemeRefused) as refused:
        files.read(changed(*pairs))
    assert any(sentence in problem.sentence for problem in refused.value.problems)


def test_the_difference_of_versions_says_what_a_question_is_about():
    before = files.read(SCHEME)
    after = files.read(changed(("shortcut: r}", "shortcut: r}\n- {key: long, wording: L?, level: text}")))
    asked = (*after.questions[:2], replace(after.questions[2], item_kind="dialogue"), *after.questions[3:])
    moved = replace(after, questions=asked)
    assert [str(change) for change in difference(after, moved)] == [
        "Question long, item_kind: nothing → “dialogue”"
    ]
    assert difference(before, before) == []


def test_the_api_lists_both_kinds():
    client = Client()
    client.force_login(factories.user(researcher=True))
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    (row,) = [row for row in client.get("/api/v1/schemes/").json()["results"] if row["key"] == "talk"]
    assert (row["newest"], row["item_kinds"], row["questions"]) == (1, ["turn", "dialogue"], 4)


def test_the_editor_offers_the_choice_only_where_a_screen_has_all_turns():
    client = Client()
    client.force_login(factories.user(researcher=True))
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    page = client.get("/schemes/talk/edit/").content.decode()
    assert page.count("the whole dialogue, after its turns") == 4
    assert "turns, and whole dialogues" in client.get("/schemes/talk/").content.decode()
    assert "turns, dialogues" in client.get("/schemes/").content.decode()
    assert "after its turns" not in client.get("/schemes/new-scheme/").content.decode()


# The task.


def test_one_submit_answers_the_turns_and_the_whole(ana, campaign, items):
    assert (count(campaign), campaign.tasks.count()) == (0, 1)
    submit(ana, campaign, answers(items, overall=1, why="rude"))
    live = Label.objects.order_by("item__turn__position", "question__position")
    assert [(label.item.kind, label.question.key, label.value) for label in live] == [
        ("turn", "clear", 1.0),
        ("turn", "rude", 0.0),
        ("turn", "clear", 2.0),
        ("turn", "rude", 1.0),
        ("dialogue", "overall", 1.0),
        ("dialogue", "why", "rude"),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a, i: a[i[2]].clear(), "The whole dialogue: “How good is the talk?” has no answer yet"),
        (lambda a, i: a[i[1]].clear(), "Turn 2 of 2: “How clear is the turn?” has no answer yet"),
        (lambda a, i: a[i[2]].update(clear=1), "The whole dialogue: “clear” is asked about single turns"),
        (lambda a, i: a[i[0]].update(overall=1), "Turn 1 of 2: “overall” is asked about the whole dialogue"),
        (lambda a, i: a[i[2]].update(overall=2), "The whole dialogue: “Why so bad?” has no answer yet"),
    ],
)
def test_a_refusal_names_the_turn_or_the_whole(ana, campaign, items, change, told):
    given = answers(items)
    change(given, items)
    with pytest.raises(AnswerRefused) as refused:
        submit(ana, campaign, given)
    assert told in str(refused.value)
    assert not Label.objects.exists()


def test_drafts_revisions_and_evidence_hold_both(ana, campaign, items):
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    draft = {"version": 1, "answers": answers(items)}
    labelling.save_draft(by=ana, campaign=campaign.pk, assignment=hold.assignment, draft=draft)
    assert labelling.start(by=ana, campaign=campaign.pk)[1].draft["answers"] == answers(items)
    whole = items[2]
    pointed = {whole: {"overall": [{"line": 4}]}}
    submit(ana, campaign, answers(items, overall=1, why="x"), evidence=pointed)
    kept = hold_of(Assignment.objects.get()).draft
    name = factories.item_name(Item.objects.get(pk=whole), hold.assignment)
    assert kept["answers"][name] == {"overall": 1, "why": "x"}
    assert kept["evidence"] == {name: pointed[whole]}
    labelling.submit(
        by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers(items), revising=True
    )
    live = Label.objects.filter(item=whole, superseded_at=None)
    assert {label.question.key: label.value for label in live} == {"overall": 3.0, "why": None}


def test_the_database_refuses_an_answer_about_the_wrong_kind_of_item(campaign, items):
    rater = Rater.objects.create(kind="judge", name="j", spec={})
    by_key = {question.key: question for question in Question.objects.filter(version__scheme__key="talk")}
    whole = Item.objects.get(pk=items[2])
    turn = Item.objects.get(pk=items[0])
    for item, key, kind in ((turn, "overall", "dialogue"), (whole, "clear", "turn")):
        with pytest.raises(IntegrityError, match=f"made for {kind} items"), transaction.atomic():
            labels.record(rater=rater, answers=[labels.Answer(item, by_key[key], 1)], occasion="main")
    labels.record(rater=rater, answers=[labels.Answer(whole, by_key["overall"], 1)], occasion="main")
    with pytest.raises(IntegrityError, match="question_kind_known"), transaction.atomic():
        Question.objects.create(
            version=factories.scheme_version(),
            key="x",
            position=99,
            wording="?",
            level="text",
            item_kind="pair",
        )


def test_the_page_has_the_whole_after_the_turns(ana, campaign, items):
    client = Client()
    client.force_login(ana)
    response = client.get(f"/work/{campaign.pk}/")
    state = response.context["state"]
    assert [str(item) for item in state["task"]["items"]] == names(items, state["task"])
    assert state["task"]["whole"] == state["task"]["items"][2]
    assert state["html"].count("data-item=") == 3
    assert state["html"].rindex("The whole dialogue") > state["html"].rindex('class="turn')
    assert {one["key"]: one["about"] for one in response.context["questions"]}["overall"] == "dialogue"
    assert "zork" not in response.content.decode().lower()


def test_programs_are_told_which_question_is_about_what(ana, campaign, items):
    client = APIClient()
    client.force_authenticate(ana)
    told = client.post(f"/api/v1/work/{campaign.pk}/next/").json()
    assert [str(item) for item in told["task"]["items"]] == names(items, told["task"])
    assert told["task"]["whole"] == told["task"]["items"][2]
    assert {one["key"]: one["item_kind"] for one in told["questions"]} == {
        "clear": "turn",
        "rude": "turn",
        "overall": "dialogue",
        "why": "dialogue",
    }
    url = f"/api/v1/work/{campaign.pk}/{told['task']['assignment']}/submit/"
    refused = client.post(url, {"answers": {items[0]: {"overall": 1}}}, format="json")
    assert refused.status_code in (409, 422), refused.content
    done = client.post(url, {"answers": answers(items)}, format="json")
    assert done.json()["status"] == "submitted"
    assert Label.objects.filter(item__kind="dialogue").count() == 1


def test_a_scheme_about_turns_alone_has_no_whole(ana):
    dialogue = factories.dialogue(factories.corpus(), turns=2)
    campaign = factories.campaign(dialogue.corpus, "cocoeval_behaviours", annotators=[ana])
    client = APIClient()
    client.force_authenticate(ana)
    told = client.post(f"/api/v1/work/{campaign.pk}/next/").json()
    assert told["task"]["whole"] is None
    assert len(told["task"]["items"]) == 2


def test_previews_show_the_whole_and_leave_nothing(campaign, items):
    definition = files.read(SCHEME)
    sample = screens.scheme_preview(definition, None)
    assert (len(sample.items), sample.whole) == (4, sample.items[-1])
    beside = screens.scheme_preview(definition, campaign.corpus)
    public = [Item.objects.get(pk=item).public for item in items]
    assert list(beside.items) == public
    place = screens.preview_places(campaign)[0]
    assert screens.campaign_preview(campaign, place).whole == public[2]
    assert not Assignment.objects.exists()


# Training and checks.


def test_a_key_may_say_what_is_right_of_a_turn_and_of_the_whole(ana):
    scheme_actions.create(by=None, definition=files.read(SCHEME))
    corpus = factories.corpus()
    for key in ("d", "e"):
        factories.dialogue(corpus, key, turns=2)
    by = factories.user(researcher=True)
    campaign = factories.campaign(corpus, "talk", annotators=[ana], by=by, opened=False)
    spot = check_actions.spot_named(campaign, "d/self")
    asked = questionnaire_of(campaign.scheme_version_id).by_key
    assert [item.kind for item in check_actions.items_at(campaign, spot)] == ["turn", "turn", "dialogue"]
    rows = [
        {"item": "d/self/1", "question": "clear", "values": [2]},
        {"item": "d/self", "question": "overall", "values": [4]},
    ]
    key = check_actions.add_key(
        by=by,
        campaign=campaign,
        occasion="training",
        spot=spot,
        answers=check_actions.parse_answers(campaign, spot, rows),
    )
    assert [row["item"] for row in check_actions.key_as_json(key)["answers"]] == ["d/self/1", "d/self"]
    wrong = [{"item": "d/self", "question": "clear", "values": [2]}]
    with pytest.raises(CampaignRefused, match="answers a question that this task does not have"):
        check_actions.change_key(
            by=by, key=key, answers=check_actions.parse_answers(campaign, spot, wrong), explanation=""
        )
    client = Client()
    client.force_login(by)
    page = client.get(f"/campaigns/{campaign.pk}/checks/keys/{key.pk}/").content.decode()
    assert page.count("How good is the talk?") == 1
    assert page.count("How clear is the turn?") == 2
    assert asked["overall"].item_kind == "dialogue"
    gathered = check_actions.gather(
        campaign,
        [(item.pk, "overall", 2.0) for item in Item.objects.filter(continuation__dialogue__key="e")],
        0,
    )
    assert [len(draft.answers) for draft in gathered] == [1]


def test_feedback_comes_turn_by_turn_and_the_whole_last(ana, campaign, items):
    by = campaign.created_by
    fresh = factories.dialogue(campaign.corpus, "f", turns=2)
    spot = check_actions.spot_named(campaign, f"{fresh.key}/self")
    rows = [
        {"item": "f/self", "question": "overall", "values": [4]},
        {"item": "f/self/0", "question": "clear", "values": [1]},
    ]
    check_actions.add_key(
        by=by,
        campaign=campaign,
        occasion="training",
        spot=spot,
        answers=check_actions.parse_answers(campaign, spot, rows),
    )
    labelling.start(by=ana, campaign=campaign.pk)
    task_page.accept(by=ana, campaign=campaign.pk, what="training", version=1)
    hold = labelling.start(by=ana, campaign=campaign.pk)[1]
    own = [str(item.pk) for item in check_actions.items_at(campaign, spot)]
    labelling.submit(by=ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers(own))
    found, _ = feedback_of(Assignment.objects.get(pk=hold.assignment))
    assert [(row.place, row.is_right) for row in found] == [("Turn 1", True), ("The whole dialogue", False)]
