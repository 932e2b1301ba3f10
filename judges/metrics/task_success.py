"""Task success: whether what a conversation was to produce is there. Criteria are declared, never code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import regex  # type: ignore[import-untyped]

from judges.metrics.agenda_completion import covered
from judges.metrics.kit import agenda
from judges.metrics.kit.base import (
    CONTENT,
    HIGHER,
    Cause,
    Metric,
    MetricError,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

ARTIFACT = "artifact"
LAST_TURN = "last_turn"
BLOCK = "block"
SECONDS = 1.0
_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)


def task_success(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Task success: 1 if every success criterion holds, else 0; without any, 1 if the last item is covered.

    Product of the criteria on the artifact (MPCEval eq. 25), or saturation of the agenda's terminal item (eq.
    26). A criterion is {"kind": "json"}, {"kind": "fields", "fields": [...]}, {"kind": "matches", "pattern":
    ...}, {"kind": "contains", "text": ...} or {"kind": "not_empty"}, about `of`: "artifact" (the
    continuation's condition `artifact`, or the dialogue's metadata for its own turns), "last_turn" or "block"
    (the last fenced block). Undefined where the artifact is absent, or neither criteria nor a terminal item
    are declared.
    """
    plan = scene.dialogue.agenda
    if plan is None:
        return unscored(agenda.NO_AGENDA)
    if plan.success:
        return _validated(scene, plan.success)
    if plan.terminal is None:
        return unscored("the agenda declares neither success criteria nor a terminal item")
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    if plan.terminal not in coverage.keys:
        return unscored("the terminal agenda item has no text")
    return scored(coverage.saturated(plan.terminal), item=plan.terminal)


def _validated(scene: Scene, criteria: tuple[Mapping[str, Any], ...]) -> Score:
    failed: list[Mapping[str, Any]] = []
    for criterion in criteria:
        artifact = _artifact(scene, str(criterion.get("of", ARTIFACT)))
        if artifact is None:
            return unscored(f"there is no {criterion.get('of', ARTIFACT)} to check")
        if not holds(criterion, artifact):
            failed.append(criterion)
    return scored(not failed, failed=failed)


def _artifact(scene: Scene, of: str) -> str | None:
    """Return what a criterion is about as text, None where it is absent."""
    if of == ARTIFACT:
        own = scene.continuation.condition or ({} if scene.offset else scene.dialogue.metadata)
        found = own.get(ARTIFACT)
        return found if isinstance(found, str) or found is None else json.dumps(found, ensure_ascii=False)
    said = [turn.text for turn in scene.continuation.turns if turn.text.strip()]
    if of == LAST_TURN:
        return said[-1] if said else None
    if of == BLOCK:
        blocks = _FENCED.findall("\n".join(said))
        return blocks[-1] if blocks else None
    raise MetricError(f"a success criterion is about {of!r}: it must be artifact, last_turn or block")


def holds(criterion: Mapping[str, Any], artifact: str) -> bool:
    """Whether an artifact meets a criterion; raise MetricError for a criterion that makes no sense."""
    kind = criterion.get("kind")
    if kind == "json":
        return _json(artifact) is not None
    if kind == "fields":
        fields, found = _list(criterion), _json(artifact)
        return isinstance(found, dict) and all(found.get(field) not in (None, "") for field in fields)
    if kind == "matches":
        return _matches(_text(criterion, "pattern"), artifact)
    if kind == "contains":
        return _text(criterion, "text") in artifact
    if kind == "not_empty":
        return bool(artifact.strip())
    raise MetricError(
        f"a success criterion has kind {kind!r}: it must be json, fields, matches, contains or not_empty"
    )


def _json(artifact: str) -> Any:
    """Return the JSON value, None where it is not JSON (a bare null is not a result either)."""
    try:
        return json.loads(artifact)
    except (ValueError, RecursionError):
        return None


def _matches(pattern: str, artifact: str) -> bool:
    try:
        return regex.search(pattern, artifact, timeout=SECONDS) is not None
    except regex.error as error:
        raise MetricError(f"the success pattern {pattern!r} is not a regular expression: {error}") from None
    except TimeoutError:
        raise MetricError(f"the success pattern {pattern!r} takes too long to match") from None


def _text(criterion: Mapping[str, Any], field: str) -> str:
    value = criterion.get(field)
    if not isinstance(value, str):
        raise MetricError(f"a success criterion of kind {criterion.get('kind')} needs {field!r} as a text")
    return value


def _list(criterion: Mapping[str, Any]) -> list[str]:
    value = criterion.get("fields")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise MetricError("a success criterion of kind fields needs 'fields' as a list of texts")
    return value


CAUSES = {"item": Cause("agenda item", "agenda"), "failed": Cause("failed")}

FAMILY = (
    Metric(
        key="task_success",
        title="Task success",
        kind="dialogue",
        aspect=CONTENT,
        causes=CAUSES,
        compute=task_success,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"agenda", "artifact", "embeddings"}),
        parameters=agenda.PARAMETERS,
        texts=agenda.texts,
    ),
)
