"""Which judges were put beside people on the dev part of a split: each counts once, whatever became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from annotation.models import Split
from judges.drafts import benches
from judges.models import Trial


def identity(spec: Mapping[str, Any]) -> str:
    """Return the hash of what a judge is asked and by whom: a draft's is that of the version it becomes."""
    protocol = benches.asking(spec["protocol"])
    rest = {
        name: value for name, value in spec.items() if name not in ("draft", "prompt", "search", "wording")
    }
    wording = spec.get("wording") or protocol.wording(spec.get("variant", "")).digest()
    text = json.dumps(rest | {"wording": wording}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def note(*, split: Split, protocol: str, spec: Mapping[str, Any], name: str) -> None:
    """Count a judge among those tried on the dev part of a split; again it changes nothing."""
    Trial.objects.get_or_create(
        split=split, protocol=protocol, fingerprint=identity(spec), defaults={"name": name[:200]}
    )


def count(split: Split, protocol: str) -> int:
    """Return how many judges of a protocol were ever tried on the dev part of a split."""
    return Trial.objects.filter(split=split, protocol=protocol).count()
