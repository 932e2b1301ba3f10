"""No rubric is made of the schemes of long dialogues: people review records, and answers have a protocol."""

from __future__ import annotations

import pytest

from annotation.kinds import KINDS
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import SchemeDefinition
from judges.protocols import PROTOCOLS, Unfit
from judges.protocols.rubric import Rubric

OWN = [s for s in SCHEMES.values() if KINDS[s.item_kind].has_record or s.item_kind == "answer"]


@pytest.mark.parametrize("scheme", OWN, ids=lambda scheme: scheme.key)
def test_no_rubric_is_for_records_or_answers(scheme: SchemeDefinition) -> None:
    template = PROTOCOLS["rubric"]
    assert isinstance(template, Rubric)
    with pytest.raises(Unfit, match=r"people review (facts|questions)|the protocol answer_match"):
        template.over(scheme, "json")
