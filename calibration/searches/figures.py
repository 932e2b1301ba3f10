"""What the texts of a search are worth: agreement with people on the held-back dialogues, and the difference
from the text that the search began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibration.models import Search, SearchText
from calibration.reading.census import QuestionInfo
from calibration.reports.figures import worded
from calibration.searches import HELD_BACK, material
from calibration.statistics import Plan, Result
from calibration.statistics.compared_pairs import ACCURACY, Compared
from calibration.statistics.judges_compared import compared_with
from calibration.workbench.agreement import PLAN, Agreement, agreement, statistics_of
from calibration.workbench.sheets import Judged, Sheet, sheets


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
