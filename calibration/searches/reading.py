"""A search as it is shown: how far it is, what it took, its texts and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration.models.searches import Search, SearchText
from calibration.reading.census import QuestionInfo
from calibration.reports.figures import worded
from calibration.searches import HELD_BACK, actions, material
from calibration.searches.bounds import Bounds
from calibration.statistics import Plan, Result
from calibration.statistics.judges_compared import ACCURACY, Compared, compared_with
from calibration.workbench.agreement import PLAN, Agreement, agreement, statistics_of
from calibration.workbench.sheets import Judged, Sheet, sheets
from jobs.models import Run

# What the texts of a search are worth: agreement with people on the held-back dialogues, and the difference
# from the text that the search began with.


@dataclass(frozen=True)
class Figure:
    """A text's value of one statistic of one question on the held-back dialogues.

    `difference` is from the first text, on the dialogues that both answered, with `p_holm` over all texts of
    the search; None for the first text, and where there is none.
    """

    text: SearchText
    question: QuestionInfo
    name: str
    against: str
    value: Result
    difference: Result | None = None
    p_holm: Result | None = None

    @property
    def title(self) -> str:
        """What the statistic is called."""
        return "Accuracy" if self.name == ACCURACY else worded(self.name).name

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("value", "low", "high", "n_items", "n_clusters", "status", "reason")
        found = {
            "question": self.question.key,
            "statistic": self.name,
            "against": self.against,
            **{name: getattr(self.value, name) for name in names},
            "difference": None,
        }
        if self.difference is None:
            return found
        more = {name: getattr(self.difference, name) for name in ("value", "low", "high", "reason")}
        return found | {"difference": more | {"p_holm": self.p_holm.value if self.p_holm else None}}


def figures(search: Search, plan: Plan = PLAN) -> list[Figure]:
    """Return the figures of all texts that answered about the held-back dialogues, text by text."""
    found = list(search.texts.select_related("draft__rater", "draft__text", "version__prompt"))
    judged = {text.pk: Judged(name_of(text), text.draft.rater, text.draft) for text in found}
    read = sheets(search.bench, list(judged.values()), only=material.items_of(search, HELD_BACK))
    compared = {sheet.question.id: _compared(sheet, judged[found[0].pk], len(found), plan) for sheet in read}
    return [
        _figure(text, row, compared[row.question.id])
        for text in found
        for row in agreement(read, judged[text.pk], plan)
    ]


def name_of(text: SearchText) -> str:
    """Return what a text is called."""
    return f"text {text.number}" if text.number else "the first text"


def _compared(sheet: Sheet, first: Judged, texts: int, plan: Plan) -> tuple[Compared, ...]:
    chosen = next(iter(sheet.of(first)), None)
    if chosen is None:
        return ()
    contenders = [contender for _, contender in sheet.contenders]
    found = compared_with(
        sheet.ratings, contenders, chosen, statistics=statistics_of(sheet), plan=plan, tried=texts - 1
    )
    return found.pairs


def _figure(text: SearchText, row: Agreement, compared: tuple[Compared, ...]) -> Figure:
    pair = next(
        (
            one
            for one in compared
            if one.contenders[0].name == row.reading.name
            and (one.statistic, one.reference) == (row.result.name, row.against)
        ),
        None,
    )
    return Figure(
        text,
        row.question,
        row.result.name,
        row.against,
        row.result,
        pair.difference if pair else None,
        pair.p_holm if pair else None,
    )


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
