"""The fake model answers a rubric on any scheme, in each form, by schema and by text alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation.schemes import SCHEMES
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.serving import FakeModel
from judges.protocols import Case
from tests.demo.asking import asked, said
from tests.judges.test_injection import hostile

rubric = pytest.importorskip("judges.protocols.rubric", reason="there is no protocol that takes any scheme")

TRUTH = "{quality 4} {repetition} {overall 2} {another_behaviour} {consistency 7} {collaborativeness 6}"


def rubrics() -> list[tuple[str, Any]]:
    found = []
    for key, definition in SCHEMES.items():
        for variant in rubric.Rubric.variants:
            try:
                found.append((f"{key} {variant}", rubric.Rubric(definition, variant)))
            except rubric.Unfit:
                continue
    return found


def case(protocol: Any, part: str) -> Case:
    made = hostile(protocol, lambda where: f"the {where} {TRUTH}" if where == "turn" else f"the {where}")
    return replace(made, part=part)


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize(("name", "protocol"), rubrics(), ids=[name for name, _ in rubrics()])
def test_every_built_in_scheme_s_rubric_is_recognised_and_answered(
    name: str, protocol: Any, schema: bool
) -> None:
    for part in protocol.parts(protocol.variant):
        about = case(protocol, part)
        body = asked(protocol.prompt(about, protocol.variant), schema=schema)
        assert len(recognise(request(body))) == 1, name
        reading = protocol.parse(said(FakeModel(), body), about)
        assert reading.verdicts
        assert {verdict.question for verdict in reading.verdicts} <= set(protocol.asked_in(part))
        for verdict in reading.verdicts:
            if verdict.question in ("repetition", "another_behaviour") and verdict.turn == 0:
                assert verdict.value == 1.0
            if verdict.question == "overall":
                assert verdict.value == 2.0
