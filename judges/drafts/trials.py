"""Which judges were put beside people on the dev part of a split: each counts once, whatever became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from annotation.models import Rater
from judges.drafts import benches
from judges.models import Trial
from judges.models.drafts import Bench
from judges.prompt_versions.picking import Pick, pick
from judges.protocols import Wording

# Worked examples of a draft: picked on its bench as they are for a version of a prompt, from dev alone.

USUAL = 4
"""Examples in a call unless told."""


def picked(bench: Bench, variant: str, wording: Wording, told: Mapping[str, Any] | None) -> Wording:
    """Return a draft's text with examples picked as `told` says: a `rule`, and `n`, `items`, `judge` and
    `seed` where it has them. Without a rule the text is as it is. Raises JudgeError where there are none.
    """
    if not told or not told.get("rule"):
        return wording
    how = Pick(
        bench.corpus,
        told["rule"],
        told.get("n") or USUAL,
        tuple(told.get("items") or ()),
        told.get("judge") or "",
        told.get("seed") or 0,
    )
    return pick(benches.protocol_of(bench, variant), variant, wording, how)


def identity(spec: Mapping[str, Any]) -> str:
    """Return the hash of what a judge is asked and by whom: a draft's is that of the version it becomes."""
    protocol = benches.asking(spec["protocol"])
    rest = {
        name: value for name, value in spec.items() if name not in ("draft", "prompt", "search", "wording")
    }
    wording = spec.get("wording") or protocol.wording(spec.get("variant", "")).digest()
    if "needs" in rest:
        rest["needs"] = {role: one | {"rater": _read(one["rater"])} for role, one in rest["needs"].items()}
    text = json.dumps(rest | {"wording": wording}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(fingerprint: str) -> str:
    """Return who is read by a judge: a draft and the judge that it becomes are the same one."""
    spec = Rater.objects.get(fingerprint=fingerprint).spec
    return identity(spec) if "protocol" in spec and "model" in spec else fingerprint


def family(bench: Bench) -> str:
    """Return what counts together: the judges of one protocol, of one scheme where it takes any."""
    if bench.scheme_version is None:
        return bench.protocol
    return f"{bench.protocol}:{bench.scheme_version.scheme_id}"


def note(*, bench: Bench, spec: Mapping[str, Any], name: str) -> None:
    """Count a judge among those tried on the dev part of a bench's split; again it changes nothing."""
    Trial.objects.get_or_create(
        split=bench.split,
        protocol=family(bench),
        fingerprint=identity(spec),
        defaults={"name": name[:200]},
    )


def tried(bench: Bench) -> set[str]:
    """Return the identities of all judges that were ever tried on the dev part of a bench's split, of its
    protocol (and scheme)."""
    rows = Trial.objects.filter(split=bench.split, protocol=family(bench))
    return set(rows.values_list("fingerprint", flat=True))


def count(bench: Bench) -> int:
    """Return how many judges these are."""
    return len(tried(bench))
