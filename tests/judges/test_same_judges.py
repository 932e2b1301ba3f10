"""Existing judges keep their identity: another spec would be another rater and repeat all calls.

A judge that calls a model has a server, whose URL is part of its identity.
"""

from __future__ import annotations

import pytest

from annotation.models import Rater
from annotation.work.labels import spec_fingerprint
from jobs.models import Endpoint
from judges.protocols import PROTOCOLS
from judges.runs.plans import Judge

RELEASED = {
    ("cpdscore_simple", "without_reference"): (
        "fake-1 (fake model) cpdscore_simple without reference temperature=0.2",
        "e012f5d145bc2200e3a71654b71fc921fd07b8f94ae7903e8fac4315b9098683",
    ),
    ("cpdscore_simple", "with_reference"): (
        "fake-1 (fake model) cpdscore_simple with reference temperature=0.2",
        "6366fc5976d8881a9cb3bdd4942103bda2f477ab7318d574db576cf923063a04",
    ),
    ("cpdscore_detail", "without_reference"): (
        "fake-1 (fake model) cpdscore_detail without reference temperature=0.2",
        "1ee97f933f9e40f980eb199222885eccb5a34f1aa0a7aa2b1f4eaaa47a4f8fce",
    ),
    ("cocoeval_behaviours", ""): (
        "fake-1 (fake model) cocoeval_behaviours temperature=0.2",
        "e9763a273da0fb6bbbc4e4959edefcdc2925ee45a8f8307f304e55a0c1bf8b96",
    ),
    ("rules_baseline", ""): (
        "rules-baseline",
        "c8e2890fd923e860717fabd30083cc461d1c7788cf202391184173874e45b548",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize(("protocol", "variant"), list(RELEASED))
def test_a_released_judge_keeps_its_name_and_its_fingerprint(protocol: str, variant: str) -> None:
    endpoint = Endpoint(name="e", model="fake-1", base_url="http://127.0.0.1/v1")
    rater = Judge(protocol, variant, endpoint, {"temperature": 0.2}).plan().rater
    assert (rater.name, rater.fingerprint) == RELEASED[protocol, variant]
    assert rater.fingerprint == spec_fingerprint(kind=Rater.Kind.JUDGE, spec=rater.spec)


def test_every_released_judge_is_in_the_table() -> None:
    assert {protocol for protocol, _ in RELEASED} <= PROTOCOLS.keys()
