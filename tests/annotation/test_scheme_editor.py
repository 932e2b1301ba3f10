"""The scheme editor: its form matches the file format, and its buttons work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.http import QueryDict

from annotation.errors import SchemeRefused
from annotation.pages.scheme_draft import Draft, draft_of, key_from, mapping_of, shortcut_from, with_lists
from annotation.pages.scheme_editor import apply, posted
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.schemes.files import definition_from

EVERYTHING = SchemeDefinition(
    key="everything",
    version=1,
    title="Everything",
    item_kind="turn",
    unit="continuation",
    introduction="Look closely.",
    guidelines="One\n\n- two",
    source="me",
    one_conversation=True,
    questions=(
        QuestionDefinition("topic", "About what?", "nominal", ("food", "play"), {"play": "games"}),
        QuestionDefinition(
            "fun", "Fun?", "binary", (0, 1), positive=0, show_if={"question": "topic", "in": ["play"]}
        ),
        QuestionDefinition("half", "How much?", "interval", (0, 0.5, 1), {0.5: "half"}),
        QuestionDefinition("people", "How many?", "ratio", minimum=0, maximum=20, whole=True),
        QuestionDefinition(
            "who", "Who?", "text", required=False, show_if={"question": "people", "min": 1, "max": 3}
        ),
        QuestionDefinition("rude", "Rude", "binary", (0, 1), positive=1, group="Tone", shortcut="r"),
        QuestionDefinition("kind", "Kind", "binary", (0, 1), {1: "so"}, 1, "Tone"),
        QuestionDefinition(
            "some", "Which?", "ordinal", (1, 2, 3), show_if={"question": "half", "in": [0, 0.5]}
        ),
    ),
)


def sent(draft: Draft) -> QueryDict:
    """Return what the form of a draft posts."""
    data = QueryDict(mutable=True)
    for name in ("title", "key", "item_kind", "unit", "introduction", "guidelines", "source"):
        data[name] = getattr(draft, name).replace("\n", "\r\n")
    for name in ("about_open", "one_conversation"):
        if getattr(draft, name):
            data[name] = "on"
    for one in draft.questions:
        data.appendlist("question", one.uid)
        for name in ("wording", "key", "kind", "minimum", "maximum", "group", "shortcut", "positive", "after",
                     "low", "high", "condition", "tags"):  # fmt: skip
            data[f"{one.uid}-{name}"] = getattr(one, name)
        data[f"{one.uid}-was"] = one.kind
        for name in ("required", "whole"):
            if getattr(one, name):
                data[f"{one.uid}-{name}"] = "on"
        for name, text in one.help.items():
            data[f"{one.uid}-help-{name}"] = text
        data.setlist(f"{one.uid}-value", [value for value, _ in one.values])
        data.setlist(f"{one.uid}-anchor", [text for _, text in one.values])
        data.setlist(f"{one.uid}-answer", one.answers)
    return data


@pytest.mark.parametrize("definition", [*SCHEMES.values(), EVERYTHING], ids=lambda scheme: scheme.key)
@pytest.mark.parametrize("show", [draft_of, lambda definition: with_lists(draft_of(definition))])
def test_a_scheme_opened_and_saved_unchanged_is_the_same_scheme(definition, show):
    again = posted(sent(show(definition)))
    assert definition_from(mapping_of(again)).content_hash() == definition.content_hash()


def new(*kinds: str) -> Draft:
    draft = Draft(title="My scheme")
    for number, kind in enumerate(kinds):
        apply(draft, "add")
        draft.questions[-1].wording = f"Question {'abcdef'[number]}?"
        data = sent(draft)
        data[f"{draft.questions[-1].uid}-kind"] = kind
        draft = posted(data)
    return draft


def tagged(lines: str) -> Draft:
    """Return a scheme with one list of tags."""
    draft = Draft(title="My scheme")
    apply(draft, "add-tags")
    data = sent(draft)
    data["q1-tags"] = lines
    return posted(data)


def test_a_list_has_a_tag_a_line_with_its_name_and_what_it_means():
    draft = tagged("Off topic: about something else: food\r\n\r\n Rude \r\nRunning")
    questions = definition_from(mapping_of(draft)).questions
    assert [(q.key, q.wording, q.shortcut) for q in questions] == [
        ("off_topic", "Off topic", "o"),
        ("rude", "Rude", "r"),
        ("running", "Running", "n"),
    ]
    assert questions[0].help == {"definition": "about something else: food"}
    assert {(q.group, q.is_tag, q.required) for q in questions} == {("Tags", True, True)}
    opened = with_lists(draft_of(definition_from(mapping_of(draft))))
    assert [question.tags for question in opened.questions] == [
        "Off topic: about something else: food\nRude\nRunning"
    ]


def test_what_is_wrong_with_a_tag_stands_beside_its_list():
    assert told(tagged(": it has no name")).keys() == {"q1-tags"}
    assert told(tagged("")).keys() == {"scheme-questions"}


def test_tags_with_keys_or_conditions_of_their_own_stay_apart():
    tags = [QuestionDefinition(key, key.title(), "binary", (0, 1), positive=1, group="T") for key in "ab"]
    apart = replace(EVERYTHING, questions=(*(replace(tag, shortcut="x") for tag in tags[:1]), tags[1]))
    assert [question.kind for question in with_lists(draft_of(apart)).questions] == ["tag", "tag"]


def told(draft: Draft) -> dict[str, list[str]]:
    try:
        definition_from(mapping_of(draft))
    except SchemeRefused as error:
        draft.tell(error.problems)
    return {name: sentences for name, sentences in draft.slots if sentences}


@pytest.mark.parametrize("kind", ["ordinal", "interval", "ratio", "binary", "tag", "count", "number", "text"])
def test_a_title_and_a_wording_are_enough_for_every_kind_of_answer_but_named_ones(kind):
    assert told(new(kind)) == {}


def test_a_choice_asks_for_its_values_beside_them():
    draft = new("nominal")
    assert list(told(draft)) == ["q1-values"]
    draft.questions[0].values = [("food", ""), ("play", "Games"), ("", "")]
    assert definition_from(mapping_of(draft)).questions[0].values == ("food", "play")


def test_what_is_wrong_stands_beside_its_field_whatever_the_order():
    draft = new("ordinal", "ordinal")
    draft.questions[1].values[2] = ("three", "")
    draft.questions[0].key = "Not A Key"
    draft.title = ""
    apply(draft, "up q2")
    problems = told(draft)
    assert set(problems) == {"scheme-title", "q1-key", "q2-values"}
    assert problems["q2-values"] == ["Row 3: “three” is not a number between -10^15 and 10^15."]


def test_questions_move_and_keep_who_they_are():
    draft = new("ordinal", "binary", "text")
    assert apply(draft, "up q3").message == "Now question 2 of 3."
    assert [one.uid for one in draft.questions] == ["q1", "q3", "q2"]
    assert apply(draft, "down q2").message == "Question 3 is the last already."
    assert apply(draft, "remove q3").focus == "q2"
    apply(draft, "add")
    assert [one.uid for one in draft.questions] == ["q1", "q2", "q3"]
    for nonsense in ("", "up", "up q99", "drop q1 77", "drop q1 -1", "explode q1", "up q1 x"):
        apply(draft, nonsense)
    assert len(draft.questions[0].values) == 5


def test_values_are_added_where_the_scale_ends_and_taken_out():
    draft = new("ordinal")
    apply(draft, "more q1")
    apply(draft, "drop q1 0")
    assert [value for value, _ in draft.questions[0].values] == ["2", "3", "4", "5", "6"]


def test_tags_get_a_hot_key_a_group_and_a_collision_is_shown_beside_the_field():
    draft = new("tag", "tag", "tag")
    assert [one.chosen_shortcut for one in draft.questions] == ["q", "e", "s"]
    assert {one.group for one in draft.questions} == {"Tags"}
    draft.questions[2].shortcut = draft.questions[0].shortcut = "w"
    draft.questions[1].shortcut = "none"
    draft.settle()
    assert told(draft) == {"q3-shortcut": ["w is the key of “question_a” already: choose another."]}
    assert "shortcut" not in mapping_of(draft)["questions"][1]
    draft.questions[2].shortcut = "u"
    draft.settle()
    draft.questions[2].told.clear()
    assert "undoes" in told(draft)["q3-shortcut"][0]


@pytest.mark.parametrize(
    ("answers", "condition"),
    [
        (["1", "2"], {"max": 2}),
        (["5"], {"min": 5}),
        (["2", "4"], {"in": [2, 4]}),
        (["1", "2", "3", "4", "5"], None),
    ],
)
def test_a_question_is_asked_after_the_chosen_answers_to_an_earlier_one(answers, condition):
    draft = new("ordinal", "text")
    draft.questions[1].after, draft.questions[1].answers = "q1", answers
    draft.settle()
    made = definition_from(mapping_of(draft)).questions[1].show_if
    assert made == {"question": "question_a", **(condition or {"in": [1, 2, 3, 4, 5]})}


def test_a_condition_whose_question_is_gone_is_told_and_not_dropped():
    draft = new("ordinal", "text")
    draft.questions[1].after, draft.questions[1].answers = "q1", ["1"]
    draft.settle()
    apply(draft, "down q1")
    assert "comes later" in told(draft)["q2-after"][0]
    apply(draft, "remove q1")
    draft.questions[0].told.clear()
    assert "Say after which earlier question" in told(draft)["q2-after"][0]


@pytest.mark.parametrize(
    "condition",
    [
        '{"question": 1}',
        "[1]",
        "{",
        '{"question": "question_a", "in": 5}',
        '{"question": "question_a", "max": "x"}',
    ],
)
def test_a_forged_condition_is_nothing(condition):
    draft = new("ordinal", "text")
    data = sent(draft)
    data["q2-condition"], data["q2-after"] = condition, "q1"
    data.setlist("q2-answer", ["3"])
    assert mapping_of(posted(data))["questions"][1]["show_if"] == {"question": "question_a", "in": [3]}


def test_keys_are_made_from_words():
    assert key_from("How polite — really — is Ana’s reply?", "x", ()) == "how_polite_really_is"
    assert key_from("Wie höflich?", "x", {"wie_hoflich"}) == "wie_hoflich_2"
    assert key_from("1. 你好", "question_1", {"question_1"}) == "question_1_2"
    assert shortcut_from(["Rude"], set("rud")) == "e"
    assert shortcut_from(["!"], set("abcdefghijklmnopqrstuvwxyz")) == ""
