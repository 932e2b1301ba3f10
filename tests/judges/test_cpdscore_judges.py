"""ComperDial's judges of a turn, and the original prompts behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judges.protocols import PROTOCOLS, Asking, Unparseable
from tests.judges.protocol_cases import case


def test_simple_reads_six_scores_in_any_dress() -> None:
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    reply = (
        "**Humanness:** 4\n- fluency - 5/5\ncoherency = 3\n consistency: 2.0\n"
        "* Engagingness – 1\noverall - 4.\n"
    )
    found = {v.question: v.value for v in protocol.parse(reply, case(protocol=protocol)).verdicts}
    assert found == {
        "humanness": 4,
        "fluency": 5,
        "coherency": 3,
        "consistency": 2,
        "engagingness": 1,
        "overall": 4,
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("overall - 6", "overall: 6 is not on the scale 1 to 5"),
        ("overall - 4.5", "overall: 4.5 is not on the scale"),
        ("overall - 0", "overall: 0 is not on the scale"),
        ("overall - 3\noverall - 4", "several scores for overall: 3, 4"),
        ("", "no score for overall"),
    ],
)
def test_a_score_off_the_scale_is_no_score(line: str, why: str) -> None:
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    rest = "\n".join(f"{key} - 3" for key in protocol.answers if key != "overall")
    with pytest.raises(Unparseable, match=why):
        protocol.parse(f"{rest}\n{line}", case(protocol=protocol))


def test_detail_keeps_the_explanation() -> None:
    protocol = PROTOCOLS["cpdscore_detail"]
    assert isinstance(protocol, Asking)
    (verdict,) = protocol.parse(
        "Explanation: It fits,\nand flows.\nHumanness: 4", case(protocol=protocol)
    ).verdicts
    assert (verdict.question, verdict.value, verdict.explanation) == ("overall", 4, "It fits,\nand flows.")


@pytest.mark.parametrize("key", ["cpdscore_simple", "cpdscore_detail"])
def test_without_a_reference_nothing_is_compared_with_one(key: str) -> None:
    protocol = PROTOCOLS[key]
    assert isinstance(protocol, Asking)
    there = case(protocol=protocol)
    assert "<<<BEGIN REFERENCE>>>\n| Ben: Let us begin." in protocol.prompt(there, "with_reference").user
    assert protocol.refusal(there, "with_reference") == ""
    beyond = replace(there.continuation, turns=(replace(there.continuation.turns[0], at=2),))
    without = replace(there, continuation=beyond)
    assert protocol.refusal(without, "with_reference") == "no reference response"
    assert protocol.refusal(without, "without_reference") == ""


@pytest.mark.parametrize("key", ["cpdscore_simple", "cpdscore_detail"])
def test_the_reference_itself_is_not_judged_against_itself(key: str) -> None:
    protocol = PROTOCOLS[key]
    assert isinstance(protocol, Asking)
    there = case(protocol=protocol)
    own = there.dialogue.turns[there.continuation.turns[0].at or 0]
    repeated = replace(own, at=there.continuation.turns[0].at)
    by_people = replace(there.continuation, system="human", turns=(repeated,))
    for said, reason in (
        (by_people, "it is the reference response itself"),
        (replace(by_people, system="x"), ""),
    ):
        assert protocol.refusal(replace(there, continuation=said), "with_reference") == reason
        assert protocol.refusal(replace(there, continuation=said), "without_reference") == ""


def test_the_original_simple_prompt_reads_five_lines_in_any_order() -> None:
    protocol = PROTOCOLS["cpdscore_original_simple"]
    assert isinstance(protocol, Asking)
    lines = [
        "overall - 2",
        "understandability - 5",
        "relevance - 4",
        "interestingness - 1",
        "specificity - 3",
    ]
    found = {v.question: v.value for v in protocol.parse("\n".join(lines), case(protocol=protocol)).verdicts}
    assert found == {
        "relevance": 4,
        "specificity": 3,
        "interestingness": 1,
        "understandability": 5,
        "overall": 2,
    }
    with pytest.raises(Unparseable, match=r"overall: 2\.5 is not on the scale"):
        protocol.parse("\n".join([*lines[1:], "overall - 2.5"]), case(protocol=protocol))
    with pytest.raises(Unparseable, match="no score for overall"):
        protocol.parse("\n".join(lines[1:]), case(protocol=protocol))


def test_the_original_detail_prompt_goes_from_1_to_3_and_shows_the_profiles_as_the_fact() -> None:
    protocol = PROTOCOLS["cpdscore_original_detail"]
    assert isinstance(protocol, Asking)
    asked = case(protocol=protocol, history="Likes bread.")
    assert "<<<BEGIN FACT>>>\n| Ana (host)\n|   Likes bread." in protocol.prompt(asked, "").user
    assert protocol.parse("- Engagingness: 2", asked).verdicts[0].value == 2
    told = protocol.parse("Engagingness: 3\nExplanation: it surprises", asked).verdicts[0]
    assert (told.value, told.explanation) == (3, "it surprises")
    with pytest.raises(Unparseable, match="engagingness: 4 is not on the scale 1 to 3"):
        protocol.parse("Engagingness: 4", asked)
