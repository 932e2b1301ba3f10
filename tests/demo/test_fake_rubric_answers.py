"""The fake judge of a rubric: questions from schema or text, and answers in the requested form."""

from __future__ import annotations

import json
from typing import Any

from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.serving import FakeModel
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from tests.demo.asking import asked, said


def rubric(**properties: Any) -> Prompt:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    user = "<<<BEGIN RESPONSE>>>\n| Ana: well {clear 3} {stage speak} {polite}\n<<<END RESPONSE>>>"
    return Prompt("Judge it.", user, schema)


def test_a_rubric_s_questions_are_answered_from_the_text() -> None:
    prompt = rubric(
        clear={"type": "integer", "enum": [1, 2, 3]},
        stage={"type": "string", "enum": ["attend", "speak"]},
        polite={"type": "integer", "enum": [0, 1]},
        rude={"type": "boolean"},
        why={"type": "string"},
        warmth={"type": "number", "minimum": 1, "maximum": 5},
    )
    assert [role.key for role in recognise(request(asked(prompt)))] == ["rubric_judge"]
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "clear": 3,
        "stage": "speak",
        "polite": 1,
        "rude": False,
        "why": "as it says",
        "warmth": 3.0,
    }


LISTED = """The questions, each under its key:

clear: Is it clear?
Definition: One sees at once: what is meant.
- 1: not at all
- 2
- 3 to 5: yes

stage: Where does it stand?
One of: attend, speak

polite: Is it polite?
- 0: no
- 1: yes
Asked only where clear is at least 4; else null.

note: What else?
Answer in words.
Asked only where clear is at most 3; else null.

length: How long did it take?
Answer with a number, decimals allowed, at least 0.
"""


def test_a_rubric_s_questions_are_read_from_the_text_where_no_schema_is_sent() -> None:
    shown = quote("RESPONSE", ["Ana: well {clear 3} {stage speak} {polite} {length 2.5}"])
    form = ", ".join(f'"{name}": ...' for name in ("clear", "stage", "polite", "note", "length"))
    prompt = Prompt("Judge it.", f"{LISTED}\n{shown}\n\n{{{form}}}")
    assert [role.key for role in recognise(request(asked(prompt)))] == ["rubric_judge"]
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "clear": 3,
        "stage": "speak",
        "polite": None,
        "note": "as it says",
        "length": 2.5,
    }
    alone = Prompt("Judge it.", f"{LISTED.partition('stage:')[0]}\n{shown}\n\nAnswer with the number alone.")
    assert said(FakeModel(), asked(alone)) == "3"


def test_a_rubric_has_an_entry_for_every_turn() -> None:
    shown = quote("TURNS", ["[1] Ana: so {rude} {clear 5}", "[not judged] Ben: hm", "[2] Ana: no {clear 1}"])
    entry = '{"turn": 1, "clear": ..., "note": "..."}'
    form = f'{{"rude_explanation": "...", "rude_turns": [...], "answers": [{entry}, ...]}}'
    prompt = Prompt("Judge it.", f"{LISTED}\n{shown}\n\n{form}")
    assert json.loads(said(FakeModel(), asked(prompt))) == {
        "rude_explanation": "as it says",
        "rude_turns": [1],
        "answers": [{"turn": 1, "clear": 5, "note": None}, {"turn": 2, "clear": 1, "note": "as it says"}],
    }


def test_a_rubric_errs_as_told() -> None:
    errors = RoleErrors(sensitivity={"*": 0.0}, noise={"stage": 1.0})
    reply = json.loads(
        said(
            FakeModel(ErrorModel({"rubric_judge": errors})),
            asked(rubric(stage={"enum": ["attend", "speak"]}, polite={"enum": [0, 1]})),
        )
    )
    assert reply == {"stage": "attend", "polite": 0}
