"""Verdicts of a report: on every judge, panel and metric, question by question, as records and in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from annotation.kinds import KINDS
from annotation.text.display import number, percent
from calibration.ratings.definitions import Definition
from calibration.reports.figures import worded
from calibration.reports.results import Figure, Question, RaterVerdict
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import CsvLine, Percent, Row, Table, tabulate
from calibration.reports.wording import Crowd, interval
from calibration.statistics import Ratings
from calibration.statistics.core.engine import Result
from calibration.statistics.replacement import StandIn
from calibration.statistics.verdicts import TITLES, Words, decide, evidence_of

HEADINGS = ("Question", "Judge", "Verdict", "Agreement", "People", "Answered", "Why", "Next step")


def verdicts_of(
    question: Question,
    ratings: Ratings,
    *,
    stand_ins: Sequence[StandIn],
    crowd: Crowd,
    lengths: Mapping[str, tuple[int, int]],
    definition: Definition,
) -> tuple[RaterVerdict, ...]:
    """Return the verdict on each judge, panel and metric of a question, by the study's rule.

    `lengths` are the characters and words of items by key.
    """
    words = words_of(question, crowd)

    def figure(result: Result | None, rater: str, *, alone: bool = False) -> Figure | None:
        if result is None:
            return None
        raters = (crowd.many,) if alone else (rater, crowd.many)
        return Figure.of(result, raters=raters, question=question.title)

    texts = lengths if definition.baselines else None
    verdicts = []
    for evidence in evidence_of(ratings, plan=definition.plan, lengths=texts, stand_ins=stand_ins):
        verdict = decide(evidence, definition.verdict, words)
        name, baseline = evidence.rater, evidence.baseline
        verdicts.append(
            RaterVerdict(
                ref=question.ref,
                title=question.title,
                rater=name,
                kind=evidence.kind,
                state=verdict.state,
                reasons=verdict.reasons,
                sentence=verdict.sentence,
                next_step=verdict.next_step,
                step=verdict.step,
                statistic=evidence.statistic,
                agreement=figure(evidence.agreement, name),
                people=figure(evidence.people, name, alone=True),
                gap=figure(evidence.gap, name),
                baseline=figure(baseline.figure, baseline.name) if baseline else None,
                baseline_name=baseline.name if baseline else "",
                n_answered=evidence.n_answered,
                n_items=evidence.n_items,
            )
        )
    return tuple(verdicts)


def words_of(question: Question, crowd: Crowd) -> Words:
    """Return the nouns of a question's verdicts: its kind of item, or answers where tags are pooled."""
    kind = KINDS[question.item_kind]
    items = ("answer", "answers") if question.pooled else (kind.singular, kind.plural)
    return Words(items=items, people=(crowd.one, crowd.many))


def text_rows(result: Snapshot) -> list[list[str]]:
    """Return the verdicts as rows of texts under `HEADINGS`, for files."""
    return [
        [
            verdict.title,
            verdict.rater,
            TITLES[verdict.state],
            with_interval(verdict.agreement, verdict.statistic),
            with_interval(verdict.people, verdict.statistic),
            percent(verdict.n_answered / verdict.n_items) if verdict.n_items else "",
            " ".join(verdict.reasons),
            verdict.next_step,
        ]
        for verdict in result.verdicts
    ]


@dataclass(frozen=True)
class Answered(Percent):
    """The share of the items rated by people that a rater answered; it has no interval."""

    bare: ClassVar[bool] = True


def table(result: Snapshot) -> Table | None:
    """Return the verdicts as a table with files of its own; None without verdicts."""
    columns = [("agreement", "Agreement"), ("people", "People"), ("gap", "Gap"), ("answered", "Answered")]
    rows: list[Row] = []
    for verdict in result.verdicts:
        n_clusters = verdict.agreement.n_clusters if verdict.agreement else 0
        cells = [verdict.agreement, verdict.people, verdict.gap, _answered(verdict)]
        compared = f"{verdict.rater}: {TITLES[verdict.state]}, by {worded(verdict.statistic).symbol}"
        first = not rows or rows[-1].question != verdict.title
        rows.append(Row(verdict.title, compared, verdict.n_answered, n_clusters, cells, first=first))
    remarks = [f"{v.rater} on {v.title}: {v.sentence} {v.next_step}".strip() for v in result.verdicts]
    return tabulate("verdicts", "Verdicts", columns, rows, remarks=remarks) if rows else None


def _answered(verdict: RaterVerdict) -> Figure | None:
    if not verdict.n_items:
        return None
    n_missing = verdict.n_items - verdict.n_answered
    share = verdict.n_answered / verdict.n_items
    return Answered("answered", share, raters=(verdict.rater,), n_items=verdict.n_items, n_missing=n_missing)


def with_interval(figure: Figure | None, statistic: str) -> str:
    """Return `κ 0.58 (0.49 to 0.66)`; a dash without a value."""
    if figure is None or not figure.ok:
        return "–"
    return f"{worded(statistic).symbol} {number(figure.value, 2)} ({interval(figure)})"


def payloads(result: Snapshot) -> list[dict[str, Any]]:
    """Return the verdicts as JSON-ready values, as the commands and the API give them."""
    return [
        {
            "question": verdict.ref,
            "title": verdict.title,
            "rater": verdict.rater,
            "kind": verdict.kind,
            "state": verdict.state,
            "reasons": list(verdict.reasons),
            "sentence": verdict.sentence,
            "next": verdict.next_step,
            "agreement": _payload(verdict.agreement),
            "people": _payload(verdict.people),
            "gap": _payload(verdict.gap),
            "baseline": _payload(verdict.baseline),
            "baseline_name": verdict.baseline_name,
            "n_answered": verdict.n_answered,
            "n_items": verdict.n_items,
        }
        for verdict in result.verdicts
    ]


def _payload(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else {**figure.as_dict(), "raters": list(figure.raters)}


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield each verdict with the gap that it rests on, then the figures beside it."""
    for verdict in result.verdicts:
        gap = verdict.gap or Figure("gap", status="insufficient", reason=verdict.sentence)
        state = replace(
            gap, name=f"verdict_{verdict.state}", raters=(verdict.rater,), reason=verdict.sentence
        )
        yield CsvLine(verdict.ref, verdict.title, state.name, state)
        for name, figure in (
            (f"verdict_agreement_{verdict.statistic}", verdict.agreement),
            (f"verdict_people_{verdict.statistic}", verdict.people),
            ("verdict_baseline_spearman", verdict.baseline),
        ):
            if figure is not None:
                yield CsvLine(verdict.ref, verdict.title, name, figure)
