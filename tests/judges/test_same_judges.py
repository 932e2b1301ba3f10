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
        "fake-1 cpdscore_simple without reference temperature=0.2",
        "b881bd193e6a85a8e2cf3d0d351a77ca1c5bd0df7e5a8281c78133bfb6d4a563",
    ),
    ("cpdscore_simple", "with_reference"): (
        "fake-1 cpdscore_simple with reference temperature=0.2",
        "55da4a9ac8675948c03ab6c76f6de5b814eddd824772f1cb881c37819b2b3c0b",
    ),
    ("cpdscore_detail", "without_reference"): (
        "fake-1 cpdscore_detail temperature=0.2",
        "4f45ea3736abc7448b0bbb3cf629e6525bc3135b81d04e5a1e566b2149a41711",
    ),
    ("cocoeval_behaviours", ""): (
        "fake-1 cocoeval_behaviours temperature=0.2",
        "fbaaf2f975b62149e7dd4085ade8238bee73a71b93f6a0de7cc6ef0db946a0ac",
    ),
    ("rules_baseline", ""): (
        "rules-baseline",
        "4ab4d6cd2abfaef3226288a94435c70be556d052528dd925b243fe6c7b9a306f",
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
