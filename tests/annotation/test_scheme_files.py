"""Schemes as YAML or JSON: round trip, and a one-line error message for an invalid scheme."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.errors import SchemeRefused
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition, is_met
from annotation.schemes.files import as_plain, definition_from, read, write
from annotation.schemes.rules import PAGE_KEYS, problems

STATIC = Path(__file__).resolve().parents[2] / "static" / "js"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30)
WORDED = TEXT.filter(str.strip)
NAMES = WORDED.map(lambda text: " ".join(text.split())).filter(bool)
NUMBERS = st.integers(-(10**15), 10**15) | st.floats(-1e9, 1e9, allow_nan=False)


def scale(values: list[Any]) -> tuple[Any, ...]:
    """Rising values, each once and whole where it can be."""
    return tuple(sorted({int(value) if value == int(value) else value for value in values}))


STEPS = st.lists(NUMBERS, min_size=2, max_size=8, unique=True).map(scale).filter(lambda found: len(found) > 1)


@st.composite
def questions(draw: st.DrawFn, number: int) -> QuestionDefinition:
    level: Any = draw(st.sampled_from(["binary", "nominal", "ordinal", "interval", "ratio", "text"]))
    values: tuple[Any, ...] = ()
    if level == "binary":
        values = (0, 1)
    elif level == "nominal":
        values = tuple(draw(st.lists(NAMES, min_size=2, max_size=5, unique=True)))
    elif level in ("ordinal", "interval"):
        values = draw(STEPS)
    anchors = {value: draw(WORDED) for value in draw(st.sets(st.sampled_from(values)))} if values else {}
    return QuestionDefinition(
        key=f"q{number}",
        wording=draw(WORDED),
        level=level,
        values=values,
        anchors=anchors,
        positive=1 if level == "binary" else None,
        group=f"Group {number}" if level == "binary" and draw(st.booleans()) else "",
        help={name: draw(WORDED) for name in draw(st.sets(st.sampled_from(["definition", "keep_in_mind"])))},
        required=draw(st.booleans()),
        show_if={"question": "first", "in": ["yes", "no"]} if draw(st.booleans()) else None,
        minimum=draw(st.integers(0, 5)) if level == "ratio" else None,
        maximum=draw(st.floats(5.5, 9)) if level == "ratio" else None,
    )


@st.composite
def schemes(draw: st.DrawFn) -> SchemeDefinition:
    first = QuestionDefinition("first", "Yes?", "nominal", ("yes", "no", "1", "null"), {"yes": "Yes"})
    return SchemeDefinition(
        key="made",
        version=draw(st.integers(1, 9)),
        title=draw(NAMES),
        item_kind="turn",
        unit=draw(st.sampled_from(["item", "continuation"])),
        introduction=draw(TEXT),
        questions=(first, *(draw(questions(number)) for number in range(draw(st.integers(0, 3))))),
        guidelines=draw(TEXT),
        about_open=draw(st.booleans()),
    )


@settings(max_examples=80, deadline=None)
@given(scheme=schemes())
def test_what_is_written_is_read_again_as_the_same_scheme(scheme: SchemeDefinition) -> None:
    assert problems(scheme) == []
    assert read(write(scheme)) == scheme
    assert read(json.dumps(as_plain(scheme))) == scheme
    assert read(write(scheme)).content_hash() == scheme.content_hash()


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", SCHEMES)
def test_built_in_schemes_keep_the_rules_and_come_back_from_their_file(key: str) -> None:
    assert problems(SCHEMES[key]) == []
    assert read("\ufeff" + write(SCHEMES[key]).replace("\n", "\r\n")) == SCHEMES[key]


def test_bounds_that_are_not_set_leave_the_hash_as_it_was() -> None:
    assert SCHEMES["comperdial_turn"].content_hash().startswith("ddb6e104")
    assert SCHEMES["cocoeval_behaviours"].content_hash().startswith("a9b05187")


BASE: dict[str, Any] = {"scheme": "made", "title": "Made", "item_kind": "turn"}
SCORE = {"key": "score", "wording": "How good?", "level": "ordinal", "values": [1, 2, 3]}
KIND = {"key": "kind", "wording": "Which?", "level": "nominal", "values": ["a", "b"]}
TAG = {"key": "odd", "wording": "Odd", "level": "binary", "group": "Marks", "shortcut": "o"}
NUMBER = {"key": "n", "wording": "How many?", "level": "ratio", "maximum": 9, "whole": True}
WORDS = {"key": "why", "wording": "Why?", "level": "text"}

REFUSED: list[tuple[list[dict[str, Any]], str, str]] = [
    ([SCORE | {"key": "How good"}], "questions.0.key", "small letters"),
    ([SCORE, SCORE], "questions.1.key", "Question 1 has the key"),
    ([SCORE | {"wording": " "}], "questions.0.wording", "Say what is asked"),
    ([SCORE | {"level": "likert"}], "questions.0.level", "There is no level “likert”"),
    ([SCORE | {"values": [1, 3, 2]}], "questions.0.values", "must rise"),
    ([SCORE | {"values": [1, 1]}], "questions.0.values", "must rise"),
    ([SCORE | {"values": [1, "2"]}], "questions.0.values.1", "“2” is not a number"),
    ([SCORE | {"values": [1, True]}], "questions.0.values.1", "is not a number"),
    ([SCORE | {"values": [1]}], "questions.0.values", "at least two"),
    ([SCORE | {"values": list(range(102))}], "questions.0.values", "at most 101"),
    ([SCORE | {"positive": 3}], "questions.0.positive", "Only a binary question"),
    ([SCORE | {"anchors": {"4": "best"}}], "questions.0.anchors.4", "not one of its values"),
    ([SCORE | {"anchors": {"1": "a", "1.0": "b"}}], "questions.0.anchors.1.0", "worded twice"),
    ([SCORE | {"minimum": 1}], "questions.0.minimum", "Only an interval or ratio question"),
    ([SCORE | {"group": "Marks"}], "questions.0.group", "Only binary questions"),
    ([SCORE | {"shortcut": "s"}], "questions.0.shortcut", "Only tags"),
    ([SCORE | {"help": {"examples": "x"}}], "questions.0.help.examples", "There is no help"),
    ([SCORE | {"wordign": "x"}], "questions.0.wordign", "did you mean wording?"),
    ([KIND | {"values": ["a", "a"]}], "questions.0.values.1", "twice"),
    ([KIND | {"values": ["a", " b"]}], "questions.0.values.1", "spaces"),
    ([KIND | {"values": ["a", 2]}], "questions.0.values.1", "not a text"),
    ([TAG | {"values": [1, 0]}], "questions.0.values", "0 and 1"),
    ([TAG | {"positive": 0}], "questions.0.positive", "A tag that is set is positive"),
    ([TAG | {"shortcut": "oo"}], "questions.0.shortcut", "not one key"),
    ([TAG | {"shortcut": 3}], "questions.0.shortcut", "Digits choose values"),
    ([TAG | {"shortcut": "g"}], "questions.0.shortcut", "opens the guidelines"),
    ([TAG, TAG | {"key": "even"}], "questions.1.shortcut", "o is the key of “odd”"),
    ([TAG, SCORE, TAG | {"key": "even", "shortcut": ""}], "questions.2.group", "stand together"),
    ([WORDS | {"values": ["x"]}], "questions.0.values", "no values"),
    ([NUMBER | {"minimum": 9}], "questions.0.maximum", "above the minimum"),
    ([NUMBER | {"minimum": -1}], "questions.0.minimum", "begins at 0"),
    ([NUMBER | {"maximum": 8.5}], "questions.0.maximum", "whole number"),
    ([SCORE, WORDS | {"show_if": {"question": "score", "max": 0}}], "questions.1.show_if", "never be asked"),
    ([WORDS | {"show_if": {"question": "score", "max": 1}}, SCORE], "questions.0.show_if.question", "later"),
    ([WORDS | {"show_if": {"question": "why", "max": 1}}], "questions.0.show_if.question", "its own answer"),
    ([WORDS | {"show_if": {"question": "x", "max": 1}}], "questions.0.show_if.question", "no question “x”"),
    ([KIND, WORDS | {"show_if": {"question": "kind", "min": 1}}], "questions.1.show_if", "no order"),
    ([KIND, WORDS | {"show_if": {"question": "kind", "in": ["c"]}}], "questions.1.show_if.in", "takes a, b"),
    ([NUMBER, SCORE | {"show_if": {"question": "n", "min": 10}}], "questions.1.show_if", "never be asked"),
    (
        [SCORE, WORDS | {"show_if": {"question": "score", "is": 1}}],
        "questions.1.show_if.is",
        "min, max or in",
    ),
    ([WORDS, SCORE | {"show_if": {"question": "why", "min": 1}}], "questions.1.show_if.question", "in words"),
    ([SCORE | {"wording": "nul \x00"}], "questions.0.wording", "cannot be stored"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("asked", "field", "why"), REFUSED, ids=[f"{row[1]}: {row[2]}" for row in REFUSED])
def test_a_question_that_cannot_be_asked_is_refused_at_its_field(
    asked: list[dict[str, Any]], field: str, why: str
) -> None:
    with pytest.raises(SchemeRefused) as refused:
        definition_from(BASE | {"questions": asked})
    (problem,) = refused.value.problems
    assert problem.field == field
    assert why in problem.sentence


def test_all_problems_of_a_file_are_told_at_once_with_their_lines() -> None:
    text = (
        "scheme: Made\ntitle: 7\nitem_kind: turn\nquestions:\n- key: a\n  wording: A?\n  level: text\n- 3\n"
    )
    with pytest.raises(SchemeRefused) as refused:
        read(text)
    assert [str(problem) for problem in refused.value.problems] == [
        "line 2, title: “7” is not a text: write it in quotes.",
        "line 1, key: “Made” is not a key: small letters, digits and single _ between them, a letter first.",
        "line 8, question 2: A question has names and values, such as key: polite.",
    ]
    assert str(refused.value).endswith("(2 more)")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "names and values"),
        ("a: [1", "line 2: Not valid YAML"),
        ("title: a\ntitle: b", "line 2: 'title' is there twice"),
        ('{"title": "a", "title": "b"}', "'title' is there twice"),
        ("a: &x [1]\nb: *x", "anchors and aliases"),
        ("title: !!python/object:os.system x", "the tag"),
        ("a: " + "[" * 40 + "]" * 40, "levels deep"),
        ('{"a":' + "[" * 40 + "]" * 40 + "}", "levels deep"),
        ("- a\n" * 60_000, "parts"),
        ('{"title": NaN}', "NaN"),
        (b"title: \xff", "not in UTF-8"),
    ],
)
def test_hostile_files_are_refused_in_one_line(text: str | bytes, why: str) -> None:
    with pytest.raises(SchemeRefused) as refused:
        read(text)
    told = str(refused.value.problems[0])
    assert why.lower() in told.lower()
    assert "\n" not in told


def test_words_that_yaml_takes_for_truth_values_stay_words() -> None:
    asked = "- {key: a, wording: A?, level: nominal, values: [yes, no]}"
    text = f"scheme: a\ntitle: A\nitem_kind: turn\nquestions:\n{asked}"
    assert read(text).questions[0].values == ("yes", "no")


def test_a_binary_question_needs_no_values_and_a_ratio_begins_at_zero() -> None:
    tag, number = definition_from(BASE | {"questions": [TAG, NUMBER]}).questions
    assert (tag.values, tag.positive) == ((0, 1), 1)
    assert (number.minimum, number.maximum, number.whole) == (0, 9, True)
    assert [number.accepts(value) for value in (0, 9, -1, 10, 2.5, True, "3")] == [True, True, *[False] * 5]


def test_the_keys_that_are_refused_are_those_of_the_page() -> None:
    commands = re.search(r"const commands = \{(.*?)\n\};", (STATIC / "annotate.js").read_text(), re.DOTALL)
    dialogs = re.search(r"const DIALOGS = \{(.*?)\}", (STATIC / "annotate" / "keys.js").read_text())
    assert commands
    assert dialogs
    letters = re.findall(r"^  ([a-z]):", commands[1], re.MULTILINE)  # no tag has a capital letter
    assert {*letters, *re.findall(r'"?([?\w])"?: "', dialogs[1])} == PAGE_KEYS.keys()


@pytest.mark.parametrize(
    ("condition", "answers", "asked"),
    [
        (None, {}, True),
        ({"question": "kind", "in": ["a"]}, {"kind": "a"}, True),
        ({"question": "kind", "in": ["a"]}, {"kind": "b"}, False),
        ({"question": "odd", "in": [0]}, {"odd": 0.0}, True),
        ({"question": "odd", "in": [1]}, {"odd": True}, False),
        ({"question": "n", "min": 2, "max": 3}, {"n": 2.5}, True),
        ({"question": "n", "min": 2, "max": 3}, {"n": 4}, False),
        ({"question": "n", "min": 2}, {}, False),
    ],
)
def test_a_question_is_asked_after_the_answers_that_it_names(
    condition: Any, answers: dict[str, Any], asked: bool
) -> None:
    assert is_met(condition, answers) is asked


def test_a_hash_tells_apart_what_raters_see_and_nothing_else() -> None:
    scheme = definition_from(BASE | {"questions": [NUMBER]})
    (number,) = scheme.questions
    assert replace(scheme, questions=(replace(number, maximum=8),)).content_hash() != scheme.content_hash()
    assert replace(scheme, questions=(replace(number, maximum=9.0),)).content_hash() == scheme.content_hash()
    assert replace(scheme, about_open=True).content_hash() == scheme.content_hash()
