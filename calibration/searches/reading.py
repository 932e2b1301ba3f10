"""A search as it is shown: how far it is, what it took, its texts and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration.models import Search, SearchText
from calibration.searches import HELD_BACK, actions, material
from calibration.searches.bounds import Bounds
from calibration.searches.figures import Figure, figures, name_of
from jobs.models import Run


@dataclass(frozen=True)
class ShownText:
    """A text with its name, its reference where it is a version, and its figures."""

    row: SearchText
    name: str
    ref: str
    figures: tuple[Figure, ...]

    @property
    def is_open(self) -> bool:
        """Whether it is a proposal that waits for a person."""
        return self.row.version is not None and self.row.version.is_open


@dataclass(frozen=True)
class Shown:
    """A search at one moment. `stuck` are runs that ended without their answers: it waits for them."""

    search: Search
    bounds: Bounds
    parts: dict[str, int]
    texts: tuple[ShownText, ...]
    stuck: tuple[Run, ...]


def shown(search: Search) -> Shown:
    """Return a search as it stands; figures once its texts answered about the held-back dialogues."""
    rows = search.texts.select_related("draft__text", "version__prompt", "parent")
    measured = figures(search) if search.state == Search.State.DONE else []
    parts = {name: len(material.targets_of(search, name)) for name in ("learn", "choose", HELD_BACK)}
    stuck = actions.runs_of(search).filter(state__in=[Run.State.FAILED, Run.State.CANCELLED])
    ended = tuple(run for run in stuck.select_related("rater") if search.active and _holds_up(run))
    return Shown(search, Bounds(search), parts, tuple(_text(row, search, measured) for row in rows), ended)


def _holds_up(run: Run) -> bool:
    return run.calls.filter(state__in=["pending", "cancelled"]).exists()


def _text(row: SearchText, search: Search, measured: Sequence[Figure]) -> ShownText:
    ref = search.parent if row.parent_id is None and not row.number else ""
    if row.version is not None:
        ref = f"{row.version.prompt.name}@{row.version.number}"
    own = tuple(figure for figure in measured if figure.text.pk == row.pk)
    return ShownText(row, name_of(row), ref, own)


def as_json(search: Search) -> dict[str, Any]:
    """Return a search as plain data: for the API and the command."""
    found = shown(search)
    return {
        "id": search.pk,
        "bench": search.bench.name,
        "from": search.parent,
        "prompt": search.prompt.name,
        "endpoint": search.endpoint.name,
        "improver": search.improver.name,
        "parameters": search.options.get("parameters", {}),
        "improver_parameters": search.rater.spec.get("parameters", {}),
        "needs": search.options.get("needs", {}),
        "state": search.state,
        "note": search.note,
        "rounds": search.rounds,
        "few": search.few,
        "most_calls": search.most_calls,
        "most_cost": None if search.most_cost is None else float(search.most_cost),
        "seed": search.seed,
        "targets": found.parts,
        "calls": found.bounds.calls,
        "tokens_in": found.bounds.tokens_in,
        "tokens_out": found.bounds.tokens_out,
        "cost": float(found.bounds.cost),
        "waits_for": [{"run": run.pk, "state": run.state, "error": run.error} for run in found.stuck],
        "texts": [_text_json(text) for text in found.texts],
    }


def _text_json(text: ShownText) -> dict[str, Any]:
    row = text.row
    return {
        "number": row.number,
        "version": text.ref or None,
        "parent": None if row.parent is None else row.parent.number,
        "adopted": row.version is not None and not row.version.is_open,
        "score": row.score,
        "cases": row.cases,
        "diagnosis": row.diagnosis,
        "system": row.draft.text.system,
        "user": row.draft.text.user,
        "held_back": [figure.as_json() for figure in text.figures],
    }
