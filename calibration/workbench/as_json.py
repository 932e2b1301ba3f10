"""JSON data of the workbench, for the API and the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.models import ForAdjudication
from calibration.ratings.scope import question_info
from calibration.statistics import Result
from calibration.workbench import sheets as agreement
from calibration.workbench.checks import Finding
from calibration.workbench.marks import item_keys
from calibration.workbench.sheets import Judged, Sheet, sheets
from calibration.workbench.versions import Difference, Row, SideBySide, Table
from jobs.models import Call, Run
from jobs.progress import Progress, progress
from judges.drafts import benches
from judges.drafts.draft_actions import run_of
from judges.models import Bench, Draft

# Progress, cost and failures of a draft, for its page, the API and the command.


@dataclass(frozen=True)
class Tried:
    """A draft's run, None before the first run; `failures` counts its failed calls by cause."""

    draft: Draft
    run: Run | None
    progress: Progress | None
    failures: tuple[tuple[str, int], ...] = ()

    @property
    def active(self) -> bool:
        """Whether calls are still active."""
        return self.progress is not None and self.progress.active

    def as_json(self) -> dict[str, Any] | None:
        """Return JSON data; None before the first run."""
        if self.run is None or self.progress is None:
            return None
        counted = ("state", "total", "done", "failed", "pending", "leased", "cancelled", "flagged")
        state = self.progress.as_json()
        more = ("tokens_in", "tokens_out", "cost", "currency", "error", "values", "missing")
        rest = {name: state[name] for name in (*counted, *more)}
        return {"run": self.run.pk, **rest, "failures": dict(self.failures)}


def tried(draft: Draft) -> Tried:
    """Return a draft's run with its progress and failures."""
    run = run_of(draft)
    if run is None:
        return Tried(draft, None, None)
    errors = run.calls.filter(state=Call.State.FAILED).values_list("error", flat=True)
    kinds = Counter(kind_of_failure(error) for error in errors)
    return Tried(draft, run, progress(run), tuple(kinds.most_common()))


def kind_of_failure(error: str) -> str:
    """Return the cause of a failure in a few words: the error up to its first colon."""
    return error.partition(":")[0].strip()[:80] or "no reason given"


def bench(draft_bench: Bench) -> dict[str, Any]:
    """Return a bench with a summary of its drafts."""
    drafts = draft_bench.drafts.filter(of=None, search_text=None, discarded_at=None).select_related(
        "endpoint"
    )
    return {
        "id": draft_bench.pk,
        "name": draft_bench.name,
        "corpus": draft_bench.corpus.name,
        "campaign": draft_bench.campaign.name if draft_bench.campaign else None,
        "split": draft_bench.split.name,
        "protocol": draft_bench.protocol,
        "scheme": benches.scheme_ref(draft_bench) or None,
        "variant": draft_bench.variant or None,
        "include_self": draft_bench.include_self,
        "seed": draft_bench.seed,
        "drawn": draft_bench.targets.count(),
        "available": benches.available(draft_bench),
        "drafts": [in_short(draft) for draft in drafts],
    }


def in_short(draft: Draft) -> dict[str, Any]:
    """Return a summary of a draft."""
    return {
        "number": draft.number,
        "name": draft.name,
        "kept": draft.kept or None,
        "discarded": draft.discarded_at is not None,
        "parent": draft.parent or None,
        "variant": draft.variant,
        "endpoint": draft.endpoint.name,
        "options": draft.options,
        "targets": draft.targets,
        "samples": draft.samples,
    }


def draft(judge_draft: Draft) -> dict[str, Any]:
    """Return a draft with its text, its progress, and its agreement with people so far."""
    judged = Judged(judge_draft.name, judge_draft.asker, judge_draft)
    read = sheets(judge_draft.bench, [judged])
    text = {"system": judge_draft.text.system, "user": judge_draft.text.user, "form": judge_draft.text.form}
    rows = agreement.agreement(read, judged)
    return {
        "bench": judge_draft.bench.name,
        **in_short(judge_draft),
        "text": text | {"examples": judge_draft.text.examples},
        "tried": tried(judge_draft).as_json(),
        "agreement": [
            {
                "question": row.question.ref,
                "against": row.against,
                "samples": row.reading.samples or None,
                **figure(row.result),
            }
            for row in rows
        ],
        "unanswered": agreement.unanswered(read),
        "answers": answers(read, judged),
    }


def answers(read: Sequence[Sheet], judged: Judged) -> list[dict[str, Any]]:
    """Return people's and the judge's answers per question and item; unanswered items are left out."""
    rows = []
    for sheet in read:
        ratings = sheet.ratings
        columns = [*ratings.of_kind("human"), *ratings.of_kind("key")]
        own = sheet.of(judged)
        for row, item in enumerate(ratings.items):
            people = {ratings.raters[j]: _value(sheet, ratings.values[row, j]) for j in columns}
            by_person = {name: value for name, value in people.items() if value is not None}
            judge = _value(sheet, own[0].values[row]) if own else None
            if by_person or judge is not None:
                rows.append(
                    {"item": item, "question": sheet.question.ref, "people": by_person, "judge": judge}
                )
    return rows


def _value(sheet: Sheet, value: float) -> float | str | None:
    if value != value:  # NaN: no answer
        return None
    names = sheet.ratings.names
    return names[int(value)] if names else float(value)


def figure(result: Result) -> dict[str, Any]:
    """Return a figure as JSON data, its name as `statistic`."""
    plain = result.as_dict()
    return {"statistic": plain.pop("name"), **plain}


def difference(
    disagreement: Difference,
    judged: Judged,
    why: Mapping[tuple[int, str], str],
    reasons: Mapping[tuple[int, str, str], str],
) -> dict[str, Any]:
    """Return a disagreement between a judge and people on one question of one item.

    `why` has the judge's explanations by item and question, `reasons` those of people, also by name.
    """
    sheet = disagreement.sheet
    ratings = sheet.ratings
    people = {
        ratings.raters[j]: value
        for j in ratings.of_kind("human")
        if (value := _value(sheet, ratings.values[disagreement.row, j])) is not None
    }
    return {
        "item": ratings.items[disagreement.row],
        "item_id": disagreement.item,
        "question": sheet.question.ref,
        "question_id": sheet.question.id,
        "system": disagreement.system,
        "distance": disagreement.distance,
        "share": disagreement.share,
        "direction": disagreement.direction or None,
        "judge": _value(sheet, sheet.of(judged)[0].values[disagreement.row]),
        "why": why.get((disagreement.item, sheet.question.key), ""),
        "people": people,
        "reasons": {
            name: reason
            for name in people
            if (reason := reasons.get((disagreement.item, sheet.question.key, name)))
        },
    }


def side_by_side(comparison: SideBySide) -> dict[str, Any]:
    """Return the comparison of a bench's judges."""
    return {
        "with": comparison.chosen.key if comparison.chosen else None,
        "tried": comparison.tried,
        "judged": [{"key": judged.key, "name": judged.name} for judged in comparison.judged],
        "tables": [_table(table) for table in comparison.tables],
        "unanswered": list(comparison.unanswered),
    }


def _table(table: Table) -> dict[str, Any]:
    best = table.best
    return {
        "question": table.question.ref,
        "statistic": table.statistic,
        "against": table.against,
        "reason": table.reason or None,
        "rows": [_row(row) for row in table.rows],
        "best_of": best
        and {
            "n": best.n,
            "best": best.best,
            "value": best.value.value,
            "corrected": figure(best.corrected),
            "overstates": best.overstates,
        },
    }


def _row(row: Row) -> dict[str, Any]:
    compared = row.compared
    return {
        "judged": row.judged.key,
        "name": row.reading.name,
        "value": figure(row.value),
        "difference": figure(compared.difference) if compared else None,
        "p": compared.p.value if compared else None,
        "p_holm": compared.p_holm.value if compared else None,
        "n_dropped": compared.n_dropped if compared else None,
    }


def finding(check_finding: Finding) -> dict[str, Any]:
    """Return the finding of a check."""
    return {
        "check": check_finding.check.key,
        "title": check_finding.check.title,
        "asks": check_finding.check.asks or None,
        "sentence": check_finding.sentence or None,
        "reason": check_finding.reason or None,
        "figures": [
            {
                "question": row.question,
                "about": row.about or None,
                "title": row.title,
                "not_asked": row.not_asked,
                **figure(row.result),
            }
            for row in check_finding.figures
        ],
        "tried": [{"draft": tried_draft.number, **tried_draft.change} for tried_draft in check_finding.tried],
    }


def waiting(rows: Sequence[ForAdjudication]) -> list[dict[str, Any]]:
    """Return the items waiting for adjudication."""
    keys = item_keys([row.item_id for row in rows])
    return [
        {
            "id": row.pk,
            "corpus": row.item.corpus.name,
            "item": keys[row.item_id],
            "question": question_info(row.question).ref,
            "reason": row.reason,
            "mark": row.mark_id,
            "by": row.created_by.get_username() if row.created_by else None,
            "at": row.created_at.isoformat(),
        }
        for row in rows
    ]
