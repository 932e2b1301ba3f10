"""A reply written from answers that are known: what a worked example shows as the right one."""

from __future__ import annotations

import json
from collections.abc import Callable

from judges.protocols.base import Asking, Case, Reading
from judges.protocols.cocoeval_behaviours import KEYS, CocoevalBehaviours
from judges.protocols.cpdscore_detail import CpdscoreDetail
from judges.protocols.cpdscore_simple import ASPECTS, CpdscoreSimple

Writer = Callable[[Reading, Case], str]


class CannotBeWritten(ValueError):
    """No reply can be made of the answers; the message says why."""


def write(protocol: Asking, reading: Reading, case: Case, variant: str) -> str:
    """Return the reply of a protocol that says a reading; raise CannotBeWritten where there is none."""
    writer = WRITERS.get(protocol.key)
    if writer is None:
        raise CannotBeWritten(f"No reply of {protocol.key} can be written from people's answers.")
    return writer(reading, case)


def _scores(reading: Reading, case: Case) -> str:
    known = {verdict.question: verdict.value for verdict in reading.verdicts if verdict.value is not None}
    lines = [f"{key} - {known[key]:g}" for key in (*ASPECTS, "overall") if key in known]
    if not lines:
        raise CannotBeWritten("people gave none of the scores")
    return "\n".join(lines)


def _humanness(reading: Reading, case: Case) -> str:
    known = [verdict.value for verdict in reading.verdicts if verdict.value is not None]
    if not known:
        raise CannotBeWritten("people gave no score")
    return f"Explanation: this is the score that people gave.\nHumanness: {known[0]:g}"


def _behaviours(reading: Reading, case: Case) -> str:
    numbers = {index: number for number, index in enumerate(case.judged(), start=1)}
    marked: dict[str, list[int]] = {key: [] for key in KEYS}
    answered = set()
    for verdict in reading.verdicts:
        answered |= {(verdict.question, verdict.turn)} if verdict.value is not None else set()
        if verdict.value == 1 and verdict.turn is not None:
            marked[verdict.question].append(numbers[verdict.turn])
    if len(answered) < len(numbers) * len(KEYS):
        raise CannotBeWritten("people did not answer about all ten behaviours of all turns")
    fields: dict[str, object] = {}
    for key, turns in marked.items():
        fields[f"{key}_explanation"] = "people saw it in these turns" if turns else ""
        fields[f"{key}_turns"] = sorted(turns)
        fields[f"{key}_count"] = len(turns)
    return json.dumps(fields)


WRITERS: dict[str, Writer] = {
    CpdscoreSimple.key: _scores,
    CpdscoreDetail.key: _humanness,
    CocoevalBehaviours.key: _behaviours,
}
