"""The fake model as improver of an instruction, and as judge of whole dialogues."""

from __future__ import annotations

from collections import Counter

import pytest

from demo.fake_model.errors import ErrorModel
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.roles.judges import final_by_rule
from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt
from judges.prompts import search
from judges.protocols import PROTOCOLS, Asking
from judges.protocols.quoting import quote
from tests.demo.asking import asked, said


def improving(number: int = 0, trouble: str = "") -> Prompt:
    """What a search asks the improving model about the judge of single replies, with a case of it."""
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    shown = (quote("CONTEXT", ["Ana: Hm?"]), quote("RESPONSE", [f"Ben: {number}. {{quality 2}}"]))
    case = search.Disagreement("d", shown, ("overall: 5",), ("overall: 2",))
    variant = protocol.variants[0]
    return search.request(protocol.wording(variant), protocol.known_variables(variant), [case], trouble)


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
def test_the_improver_proposes_each_of_its_sentences_sooner_or_later(schema: bool) -> None:
    protocol = PROTOCOLS["cpdscore_simple"]
    assert isinstance(protocol, Asking)
    variant = protocol.variants[0]
    before, known = protocol.wording(variant), protocol.known_variables(variant)
    model = FakeModel(ErrorModel(proposals=("Be kind.", "Mind the context.", "Be short.")))
    found: Counter[str] = Counter()
    for number in range(24):
        body = asked(improving(number, "it was empty." if number % 2 else ""), schema=schema)
        assert [role.key for role in recognise(request(body))] == ["improver"]
        after = search.read(said(model, body), before, known).wording
        assert after.user == before.user
        assert after.system.endswith(f"\n\n{before.system}")
        found[after.system.partition("\n\n")[0]] += 1
    assert set(found) == {"Be kind.", "Mind the context.", "Be short."}


def test_the_improver_reads_an_instruction_between_fences_and_repeats_no_sentence() -> None:
    model = FakeModel(ErrorModel(proposals=("Be kind.",)))
    text = "They followed this:\n```\n{}Rate it.\n```\nWrite a better one within ``` blocks."
    for before in ("", "Be kind.\n\n"):
        assert said(model, asked(Prompt("", text.format(before)))) == "```\nBe kind.\n\nRate it.\n```"


@pytest.mark.parametrize(
    ("turn", "interaction", "at_four", "long", "follows", "final"),
    [
        (3.4, 2.6, False, False, True, 3.0),
        (4.5, 2.0, True, False, True, 4.5),
        (4.0, 2.0, False, False, True, 4.0),
        (4.0, 2.0, True, False, True, 3.0),
        (4.5, 2.0, False, True, True, 3.25),
        (4.5, 2.0, False, False, False, 3.25),
        (3.4, 2.6, False, False, False, 3.4),
    ],
)
def test_the_dialogue_judge_s_rule(
    turn: float, interaction: float, at_four: bool, long: bool, follows: bool, final: float
) -> None:
    assert final_by_rule(turn, interaction, at_four=at_four, long=long, follows=follows) == final


def whole(scores: str, *responses: str, rule: str = "less than 4") -> Prompt:
    lines = "Overall Dialogue Turn Score - x\nDialogue Interaction Score - x\nFinal Score - x"
    blocks = quote("TURN SCORES", scores.split(";")), quote("RESPONSES", responses)
    return Prompt(
        "Score it.", "\n".join([*blocks, f"If the turn score is {rule}, both scores count.", lines])
    )


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (whole("Turn 1 - 3.00;Turn 2 - 3.80", "[1] Yes: {interaction 2.6}", "[2] No."), (3.4, 2.6, 3.0)),
        (whole("Turn 1 - 4.00", "[before 1] Ana: {interaction 5}", "[1] Hm. {interaction 2}"), (4, 2, 4)),
        (whole("Turn 1 - 4.00", "[1] Hm. {interaction 2}", rule="4 or less"), (4, 2, 3)),
        (
            whole("Turn 1 - 4.50", f"[1] {'so ' * 12}{{interaction 2}}", f"      {'it is ' * 6}"),
            (4.5, 2, 3.25),
        ),
    ],
)
def test_the_dialogue_judge_reads_turn_scores_and_responses(prompt: Prompt, reply: tuple[float, ...]) -> None:
    assert [role.key for role in recognise(request(asked(prompt)))] == ["dialogue_judge"]
    numbers = [float(line.rpartition(" - ")[2]) for line in said(FakeModel(), asked(prompt)).split("\n")]
    assert tuple(numbers) == reply
