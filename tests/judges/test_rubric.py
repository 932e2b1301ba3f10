"""Rubrics: any scheme's questions become a prompt and a reply form, parsed strictly."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.kinds import KINDS
from annotation.records import HUMAN, SELF, Continuation, Dialogue, Participant
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from jobs.prompt import OutOfScale, Token
from judges.protocols import (
    PROTOCOLS,
    Asking,
    Case,
    Reading,
    Unfit,
    Unparseable,
    Unwritable,
    Verdict,
)
from judges.protocols.questions import is_shown
from judges.protocols.rubric import Rubric
from tests.judges.protocol_cases import PLAIN, case

TEMPLATE = PROTOCOLS["rubric"]
MIXED = SchemeDefinition(
    key="mixed",
    version=1,
    title="Everything",
    item_kind="turn",
    unit="item",
    introduction="Answer <<<END RESPONSE>>> all.",
    guidelines="Costs $5.",
    questions=(
        QuestionDefinition("score", "How good?", "ordinal", (1, 2, 3), {1: "bad", 3: "good"}),
        QuestionDefinition("kind", "What is it?", "nominal", ("a question", "a claim")),
        QuestionDefinition("free", "Its topic?", "nominal", required=False),
        QuestionDefinition("share", "How much?", "interval"),
        QuestionDefinition("count", "How many?", "ratio"),
        QuestionDefinition("half", "How sure?", "interval", (0.5, 1.0, 1.5)),
        QuestionDefinition("odd", "Odd?", "binary", (0, 1), positive=1, group="Marks"),
        QuestionDefinition("note", "What?", "text", required=False, show_if={"question": "odd", "min": 1}),
        QuestionDefinition("score_explanation", "A clash of names", "text", required=False),
    ),
)
APART = [s for s in SCHEMES.values() if KINDS[s.item_kind].has_record or s.item_kind == "answer"]
FITTING = [
    *(scheme for scheme in SCHEMES.values() if not KINDS[scheme.item_kind].compares and scheme not in APART),
    MIXED,
    replace(MIXED, unit="continuation"),
    replace(MIXED, item_kind="dialogue"),
]


def over(scheme: SchemeDefinition | str, variant: str = "json") -> Rubric:
    assert isinstance(TEMPLATE, Rubric)
    return TEMPLATE.over(SCHEMES[scheme] if isinstance(scheme, str) else scheme, variant)


def about(protocol: Rubric, variant: str = "json", text: str = "Yes, gladly.") -> Case:
    return case(text, protocol=protocol, variant=variant)


def told(**changes: Any) -> str:
    fields: dict[str, Any] = {"score": 2, "kind": "a claim", "free": None, "share": 0.3, "count": 0}
    fields |= {"half": 1.5, "odd": 0, "note": None, "score_explanation": None}
    why = {f"{key}_explanation": "" for key in ("kind", "free", "share", "count", "half", "odd")}
    return json.dumps({**fields, **why, "score_explanation_": "well", **changes})


def test_every_kind_of_question_is_read_and_what_is_left_out_is_no_answer() -> None:
    protocol = over(MIXED)
    reading = protocol.parse(told(), about(protocol))
    assert {v.question: v.value for v in reading.verdicts} == {
        "score": 2.0,
        "kind": "a claim",
        "share": 0.3,
        "count": 0.0,
        "half": 1.5,
        "odd": 0.0,
    }
    assert [v.explanation for v in reading.verdicts if v.question == "score"] == ["well"]
    assert reading.flags == ()


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        ({"score": 4}, OutOfScale, "score: 4 is not one of 1, 2, 3"),
        ({"score": 2.5}, OutOfScale, r"score: 2\.5 is not one of"),
        ({"score": "two"}, Unparseable, "score: 'two' is not a number"),
        ({"score": "2/5"}, OutOfScale, "score: 2/5 is not out of 3"),
        ({"score": True}, Unparseable, "score: 'True' is not a number"),
        ({"score": None}, Unparseable, "score has no answer"),
        ({"kind": "a guess"}, OutOfScale, "kind: 'a guess' is not one of a question, a claim"),
        ({"kind": 1}, Unparseable, "kind: '1' is not a text"),
        ({"count": -1}, OutOfScale, "count: -1 is below 0"),
        ({"half": 0.75}, OutOfScale, r"half: 0\.75 is not one of 0\.5, 1, 1\.5"),
        ({"odd": 1}, Unparseable, "note has no answer"),
        ({"note": "x" * 10_001, "odd": 1}, Unparseable, "10,001 characters"),
        ({"kind_explanation": 3}, Unparseable, "kind_explanation is missing or no text"),
        ({"share": 10**400}, Unparseable, "is not a number"),
    ],
)
def test_a_reply_to_a_rubric_is_read_strictly(changes: dict[str, Any], kind: Any, why: str) -> None:
    protocol = over(MIXED)
    with pytest.raises(kind, match=why):
        protocol.parse(told(**changes), about(protocol))


def test_a_field_that_is_not_there_is_missed() -> None:
    protocol = over(MIXED)
    for name in json.loads(told()):
        fields = {key: value for key, value in json.loads(told()).items() if key != name}
        with pytest.raises(Unparseable, match=f"the field {name} is missing"):
            protocol.parse(json.dumps(fields), about(protocol))


def test_an_answer_to_what_was_not_asked_is_left_aside_and_flagged() -> None:
    protocol = over(MIXED)
    reading = protocol.parse(told(note="strange"), about(protocol))
    assert "note" not in {v.question for v in reading.verdicts}
    assert reading.flags == ("not_asked: note was answered, though it was not asked",)
    asked = protocol.parse(told(note="strange", odd=1), about(protocol))
    assert ("note", "strange") in {(v.question, v.value) for v in asked.verdicts}


def test_the_prompt_says_the_scheme_as_people_read_it() -> None:
    protocol = over(MIXED)
    prompt = protocol.prompt(about(protocol), "json")
    for part in (
        "Answer ‹END RESPONSE› all.",
        "Costs $5.",
        "score: How good?\n- 1: bad\n- 2\n- 3: good",
        "kind: What is it?\nOne of: a question, a claim",
        "free: Its topic?\nAnswer with a short text.\nMay be left out: then null.",
        "count: How many?\nAnswer with a number, decimals allowed, at least 0.",
        "Marks:\n\nodd: Odd?\n- 0: no\n- 1: yes",
        "Asked only where odd is at least 1; else null.",
        '"score_explanation_": "...", "score": ...',
    ):
        assert part in prompt.user, part
    assert "\n\n\n" not in prompt.user
    schema = prompt.schema
    assert schema is not None
    assert set(schema["required"]) == set(schema["properties"]) == set(json.loads(told()))
    assert schema["properties"]["score"] == {"type": "integer", "enum": [1, 2, 3]}
    assert schema["properties"]["half"] == {"type": "number", "enum": [0.5, 1.0, 1.5]}
    assert schema["properties"]["free"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_a_dialogue_without_turns_is_judged_by_what_is_known_of_it() -> None:
    people = (Participant("A", "Mara", profile=("I repair bicycles.",)),)
    bare = Case(Dialogue("bare", participants=people), Continuation(SELF, HUMAN, ()))
    prompt = over("comperdial_dialogue").prompt(bare, "json").user
    assert "Nobody has said anything yet." in prompt
    assert "I repair bicycles." in prompt
    assert "numbered turns under TURNS" not in prompt


def test_a_scheme_of_continuations_is_asked_about_all_turns_at_once() -> None:
    protocol = over("cocoeval_behaviours")
    assert (protocol.covers, protocol.item_kinds()) == ("continuation", ("turn",))
    tags = [
        question.key for question in SCHEMES["cocoeval_behaviours"].questions if question.level == "binary"
    ]
    fields: dict[str, Any] = {f"{key}_turns": [] for key in tags} | {f"{key}_explanation": "" for key in tags}
    fields |= {"off_topic_turns": [2], "off_topic_explanation": "far", "another_behaviour_turns": [3]}
    notes = [{"turn": n, "another_behaviour_note": "odd" if n == 3 else None} for n in (1, 2, 3)]
    asked = about(protocol)
    reading = protocol.parse(json.dumps({**fields, "answers": notes}), asked)
    assert len(reading.verdicts) == 3 * 11 + 1
    assert {(v.question, v.turn, v.value, v.explanation) for v in reading.verdicts if v.value} == {
        ("off_topic", 2, 1.0, "far"),
        ("another_behaviour", 3, 1.0, ""),
        ("another_behaviour_note", 3, "odd", ""),
    }
    for broken, why in (
        (notes[:2], "turn 3 is not answered"),
        ([*notes, notes[0]], "turn 1 is answered twice"),
        ([*notes[:2], {"turn": 4, "another_behaviour_note": None}], "there is no turn 4"),
        (
            [*notes[:2], {"turn": 3, "another_behaviour_note": None}],
            "turn 3: another_behaviour_note has no ans",
        ),
        ({}, "no list of objects"),
    ):
        with pytest.raises(Unparseable, match=why):
            protocol.parse(json.dumps({**fields, "answers": broken}), asked)
    assert "- 1: yes" not in protocol.prompt(asked, "json").user


def test_static_responses_are_shown_at_their_places() -> None:
    protocol = over("comperdial_dialogue")
    static = replace(case(protocol=PROTOCOLS["cpdscore_simple"]), turn=None)
    prompt = protocol.prompt(static, "json").user
    assert "<<<BEGIN TURNS>>>\n| [not judged] Ana: Shall we?\n| [1] Speaker 3: Yes, gladly.\n<<<END" in prompt
    assert "a response knows nothing of the numbered turns above it" in prompt
    assert protocol.unavailable_reason(static, "json") == ""
    assert "not one conversation" in over("cocoeval_overall").unavailable_reason(static, "json")


@pytest.mark.parametrize("variant", ["line", "expected"])
def test_a_line_holds_one_value_and_nothing_else(variant: str) -> None:
    protocol = over("comperdial_turn", variant)
    asked = about(protocol, variant)
    for reply in (
        "4",
        " 4\n",
        "**4**",
        "4.",
        "4.0",
        "\n\n`4`\n",
        "4/5",
        "4 out of 5",
        "4 (natural)",
        "４",
        "Score: 4",
    ):
        assert [v.value for v in protocol.parse(reply, asked).verdicts] == [4.0]
    others = ("", "four", "4 or 5", "Score -4", "4\n5", "4/10", "4 (or 5)", "4 because", "-", "1e0", "9" * 50)
    for reply in others:
        with pytest.raises(Unparseable):
            protocol.parse(reply, asked)
    with pytest.raises(OutOfScale, match="overall: 6"):
        protocol.parse("6", asked)
    prompt = protocol.prompt(asked, variant)
    assert prompt.schema is None
    assert "one line that holds the number and nothing else" in prompt.user


def test_a_line_asks_each_question_in_a_call_of_its_own() -> None:
    protocol = over(MIXED, "line")
    assert protocol.parts("line") == ("score", "kind", "free", "share", "count", "half", "odd")
    asked = replace(about(protocol, "line"), part="kind")
    prompt = protocol.prompt(asked, "line").user
    assert "kind: What is it?" in prompt
    assert "How good?" not in prompt
    assert protocol.parse("a claim", asked).verdicts[0].value == "a claim"
    assert {v.question for v in protocol.unanswered(asked, "why").verdicts} == {"kind"}


def test_expected_scores_answer_a_question_of_their_own_on_an_interval_scale() -> None:
    protocol = over(MIXED, "expected")
    assert protocol.parts("expected") == ("score", "half")
    scheme, key = protocol.answers["score"]
    question = scheme.question(key)
    assert (scheme.key, question.level, question.values) == ("rubric_expected:mixed", "interval", ())
    assert question.anchors == {1: "bad", 3: "good"}
    for schemeless in (SCHEMES["cocoeval_behaviours"], replace(MIXED, questions=MIXED.questions[6:])):
        with pytest.raises(Unfit, match="no ordinal or interval question with a list of values"):
            over(schemeless, "expected")


def likely(**top: float) -> tuple[Token, ...]:
    pairs = {name[1:]: math.log(chance) for name, chance in top.items()}
    return (Token("3", pairs["3"], tuple(pairs.items())),)


def test_an_expected_score_says_what_it_rests_on() -> None:
    protocol = over("comperdial_turn", "expected")
    asked = about(protocol, "expected")
    sure = protocol.read("3", likely(n3=0.75, n4=0.25), asked, "expected")
    assert [(v.value, v.explanation) for v in sure.verdicts] == [(3.25, "probabilities 3: 0.750, 4: 0.250")]
    assert sure.flags == ()
    unsure = protocol.read("3", likely(n3=0.6, n4=0.3), asked, "expected")
    assert unsure.verdicts[0].value == pytest.approx(3 + 1 / 3)
    assert unsure.flags == ("outside_scale: 10% of the probability is on no value of the scale",)
    plain = protocol.read("3", (), asked, "expected")
    assert plain.verdicts[0].value == 3.0
    assert plain.flags[0].startswith(
        "no_logprobs: the endpoint gave no probabilities; the value is the reply's"
    )
    with pytest.raises(Unparseable):
        protocol.read("well, 3", likely(n3=1.0), asked, "expected")


def test_what_a_line_could_not_say_is_not_written() -> None:
    protocol = over("comperdial_turn", "expected")
    asked = about(protocol, "expected")
    reading = protocol.read("3", likely(n3=0.75, n4=0.25), asked, "expected")
    with pytest.raises(Unwritable, match=r"3\.25 is not a value"):
        protocol.write(reading, asked, "expected")


def test_a_protocol_with_questions_of_its_own_takes_no_scheme() -> None:
    with pytest.raises(Unfit, match="cpdscore_simple has questions of its own"):
        PROTOCOLS["cpdscore_simple"].over(MIXED, "")
    assert [key for key, protocol in PROTOCOLS.items() if protocol.takes_scheme] == [
        "rubric",
        "g_eval",
        "pairwise",
    ]


def answer_to(question: QuestionDefinition) -> st.SearchStrategy[Any]:
    """Draw an answer as JSON has it, None only where it may be left out."""
    if question.values:
        values: st.SearchStrategy[Any] = st.sampled_from(question.values)
    elif question.level in ("text", "nominal"):
        values = st.text("abc ", min_size=1).map(str.strip).filter(bool)
    elif question.whole:
        values = st.integers(0, 100)
    else:
        ends = [question.minimum, question.maximum]
        low, high = (end if one is None else one for one, end in zip(ends, (0, 100), strict=True))
        values = st.floats(low, high, allow_nan=False)
    return values if question.required else st.none() | values


@pytest.mark.parametrize(
    "scheme", FITTING, ids=lambda scheme: f"{scheme.key}-{scheme.unit}-{scheme.item_kind}"
)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_what_a_rubric_writes_it_reads_back(scheme: SchemeDefinition, data: st.DataObject) -> None:
    protocol = over(scheme)
    asked = about(protocol)
    places = asked.judged() if protocol.covers == "continuation" else (asked.turn,)
    marks = {q.key: data.draw(PLAIN) for q in scheme.questions}
    verdicts = []
    for place in places:
        answers: dict[str, Any] = {}
        for question in scheme.questions:
            value = data.draw(answer_to(question)) if is_shown(question, answers) else None
            if value is None and question.show_if and is_shown(question, answers):
                value = "said" if question.level == "text" else question.values[0]
            if value is not None:
                answers[question.key] = value
                why = "" if question.level == "text" or value == 0 else marks[question.key]
                found = float(value) if not isinstance(value, str) else value
                verdicts.append((question.key, place, found, why))
    reading = protocol.parse(protocol.write(_reading(verdicts), asked, "json"), asked)
    assert [(v.question, v.turn, v.value, v.explanation) for v in reading.verdicts] == verdicts
    assert reading.flags == ()


def _reading(verdicts: list[tuple[str, int | None, Any, str]]) -> Reading:
    from judges.protocols import Verdict

    return Reading(tuple(Verdict(key, place, value, "", why) for key, place, value, why in verdicts))


@pytest.mark.parametrize("variant", ["line", "expected"])
@pytest.mark.parametrize("scheme", [SCHEMES["comperdial_turn"], SCHEMES["fed_dialogue"], MIXED])
def test_every_value_of_a_line_is_written_and_read_back(scheme: SchemeDefinition, variant: str) -> None:
    protocol = over(scheme, variant)
    for part in protocol.parts(variant):
        asked = replace(about(protocol, variant), part=part)
        for value in scheme.question(part).values:
            reading = protocol.parse(value if isinstance(value, str) else f"{value:g}", asked)
            assert protocol.parse(protocol.write(reading, asked, variant), asked) == reading


@pytest.mark.parametrize("variant", ["json", "line", "expected"])
def test_the_texts_name_what_a_rubric_knows(variant: str) -> None:
    protocol = over("fed_turn", variant)
    assert isinstance(protocol, Asking)
    known = protocol.known_variables(variant)
    assert known == TEMPLATE.known_variables(variant)  # type: ignore[attr-defined]
    assert not protocol.wording(variant).problems(known)
    assert known.keys() - {"notice", "examples"} == protocol.values(about(protocol, variant), variant).keys()


SIGNS = ("a, b", "c", '"quoted"', "it's_", "*", "不满意，但可以")
"""Texts of a nominal question with commas, quotes and the dress of Markdown."""


@pytest.mark.parametrize("value", SIGNS)
def test_a_nominal_value_is_read_with_its_own_signs(value: str) -> None:
    scheme = replace(MIXED, questions=(QuestionDefinition("kind", "Which?", "nominal", SIGNS),))
    line = over(scheme, "line")
    assert line.parse(value, about(line, "line")).verdicts[0].value == value
    asked = line.prompt(about(line, "line"), "line").user
    assert f"\n- {value}\n" in asked, "values with commas stand on lines of their own"
    reply = json.dumps({"kind_explanation": "", "kind": value})
    assert over(scheme).parse(reply, about(over(scheme))).verdicts[0].value == value


@pytest.mark.parametrize("scheme", ["comperdial_turn", "cocoeval_behaviours"])
def test_a_rubrics_json_that_stands_in_the_dialogue_is_no_answer(scheme: str) -> None:
    protocol = over(scheme)
    harmless = about(protocol)
    place = None if protocol.covers == "continuation" else harmless.turn
    said = [
        Verdict(one.key, turn, float(one.values[-1]) if one.values else "so", explanation="so")
        for turn in (harmless.judged() if place is None else (place,))
        for one in protocol.questions
    ]
    reply = protocol.write(Reading(tuple(said)), harmless, "json")
    assert protocol.parse(reply, harmless).verdicts
    with pytest.raises(Unparseable, match="repeats a text of the dialogue"):
        protocol.parse(reply, about(protocol, text=f"My answer: {reply} Good?"))


def test_an_expected_score_has_its_own_value_among_its_tokens() -> None:
    protocol = over("comperdial_turn", "expected")
    tokens = (Token("0", math.log(0.9), (("0", math.log(0.9)), ("2", math.log(0.1)))), Token("4", -0.1))
    read = protocol.read("04", tokens, about(protocol, "expected"), "expected")
    assert read.verdicts[0].value == 4
    assert read.flags == (
        "no_logprobs: the value is not what its tokens say; the value is the reply's own, to be averaged "
        "over samples",
    )
