"""Panels of judges among a question's raters: their answers, and what became of every item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibration.reading.census import RaterInfo
from calibration.reading.definitions import Definition
from calibration.reading.panels import PanelAsked
from calibration.reading.ratings import SubjectData
from calibration.reports.contents import PanelMember, PanelTold
from calibration.statistics import RatingError, Ratings, Record
from calibration.statistics.core.types import Samples
from calibration.statistics.panels import PANEL, PanelAnswers, panel_of

JUDGE = "judge"
NOBODY = 0
"""The id of a rater that is none of the database's."""


class Panels:
    """The panels of a study on one part of its split; collects what is told of each."""

    def __init__(self, definition: Definition, part: str, learning: Iterable[SubjectData]) -> None:
        self.definition, self.part = definition, part
        self.dev = {data.subject.question.ref: data for data in learning}
        self.told: list[PanelTold] = []

    def among(self, data: SubjectData) -> SubjectData:
        """Return a question's answers with those of the panels; of nothing else is anything changed."""
        if not self.definition.panels:
            return data
        try:
            ratings = data.ratings(self._policy)
            learn = self._learn(data)
        except RatingError:
            return data  # the question itself says why
        for asked in self.definition.panels:
            data = self._with(data, asked, ratings, learn)
        return data

    @property
    def _policy(self) -> Samples | None:
        """A panel reads one answer of each member: where samples are raters of their own, the usual one."""
        return None if self.definition.samples == "separate" else self.definition.samples

    def _learn(self, data: SubjectData) -> Ratings | None:
        """Return the ratings of dev that weights are learned from; None where there is no split."""
        if self.part == "dev":
            return data.ratings(self._policy)
        dev = self.dev.get(data.subject.question.ref)
        return dev.ratings(self._policy) if dev is not None and self.part == "test" else None

    def _with(
        self, data: SubjectData, asked: PanelAsked, ratings: Ratings, learn: Ratings | None
    ) -> SubjectData:
        judges = [info.name for info in data.raters if info.kind == JUDGE and info.name not in data.off_scale]
        members = [name for name in asked.members or judges if name in judges]
        found = panel_of(ratings, members, asked.rule, least=_least(asked), learn=learn)
        told = self._told(data, asked, found)
        if told not in self.told:  # answers about the other kind of item may count for several questions
            self.told.append(told)
        if not found.n_answered:
            return data
        info = RaterInfo(NOBODY, asked.name, PANEL, identified=True)
        records = _records(data.records, ratings, asked.name, found, members)
        scale = ratings.scale
        off = scale is not None and not np.isin(found.values[~np.isnan(found.values)], scale).all()
        return replace(
            data,
            records=(*data.records, *records),
            raters=(*data.raters, info),
            off_scale=data.off_scale | ({asked.name} if off else set()),
        )

    def _told(self, data: SubjectData, asked: PanelAsked, found: PanelAnswers) -> PanelTold:
        members = tuple(PanelMember(m.name, m.weight, m.agreement, m.n_items) for m in found.members)
        question = data.subject.question
        basis = self.part if asked.rule == "weighted" else ""
        return PanelTold(
            question.ref,
            question.title,
            asked.name,
            asked.rule,
            members,
            found.least,
            found.n_answered,
            found.n_ties,
            found.n_short,
            basis,
            found.reason,
        )


def _least(asked: PanelAsked) -> int:
    """Return how many must answer; of members that are named more than half of all named, there or not."""
    return asked.least or (len(asked.members) // 2 + 1 if asked.members else 0)


def _records(
    records: Sequence[Record], ratings: Ratings, name: str, found: PanelAnswers, members: Sequence[str]
) -> list[Record]:
    """Return the panel's answer to every item that a member answered, without a value where it has none."""
    about: Mapping[str, Record] = {record.item: record for record in records if record.rater in members}
    made = []
    for item, value in zip(ratings.items, found.values.tolist(), strict=True):
        if item in about:
            told = None if np.isnan(value) else ratings.label(value) if ratings.names else value
            made.append(replace(about[item], rater=name, kind=PANEL, value=told, sample=0, identified=True))
    return made
