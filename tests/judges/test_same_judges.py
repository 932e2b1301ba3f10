"""The judges there are stay who they are: another spec would be another rater, and would ask all again."""

from __future__ import annotations

import pytest

from annotation.labels.raters import spec_fingerprint
from annotation.models import Rater
from jobs.models import Endpoint
from judges.protocols import PROTOCOLS
from judges.rating.plans import Judge

RELEASED = {
    ("cpdscore_simple", "without_reference"): (
        "fake-1 (fake model) cpdscore_simple without reference temperature=0.2",
        "39cd2099107a83998a2e87f944082ae3b2d96955a587eb75bf85656c0c935e1c",
    ),
    ("cpdscore_simple", "with_reference"): (
        "fake-1 (fake model) cpdscore_simple with reference temperature=0.2",
        "844b6f52d9b7fcd1e7984908440d586df7923e454156116f08819984f40b3968",
    ),
    ("cpdscore_detail", "without_reference"): (
        "fake-1 (fake model) cpdscore_detail without reference temperature=0.2",
        "c5a3eece3754d0bcb6c6283eb9ef2e028b0b241d89313bdf44e789b9796feee6",
    ),
    ("cocoeval_behaviours", ""): (
        "fake-1 (fake model) cocoeval_behaviours temperature=0.2",
        "ae1ba28399686afd31d46faa7696b1995b6ed25308cf9df1474ba93b4e973b9d",
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
