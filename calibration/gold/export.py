"""Gold labels as files, with the provenance needed to reproduce them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotation.corpora import splits
from annotation.models import Question
from annotation.text.display import number
from calibration.exports.labels import FAKE_MODEL, IN_ORDER, ITEM, PLACE_COLUMNS, PLACES
from calibration.exports.parts import OF_PART, PART_COLUMN, PART_TABLE, ExportPart, taken_by_default
from calibration.exports.writing import Column, ExportQuery
from calibration.gold import shares
from calibration.models import Gold
from calibration.statistics.gold import Estimation

# A rule's findings about the raters, for readers who may see them.
#
# They rest on answers together with the raters' names, so they are hidden while a corpus's test part is
# locked, unless the rule learned on dev alone.

MEASURES = {
    "severity": "Severity (below 0: stricter)",
    "accuracy": "Right answers",
    "competence": "Competence",
    "weight": "Weight",
    "agreement": "Agreement with the others",
    "n": "Answers",
}
"""Measures that a rule may report of a rater, with their column headings."""
LOCKED = "locked: it rests on answers about the test part, which nobody has opened"


@dataclass(frozen=True)
class Findings:
    """A rule's findings on one question's raters: a table and remarks, or why they are locked."""

    question: str
    basis: str
    measures: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    remarks: tuple[str, ...]
    locked: str = ""
    estimation: Estimation | None = None

    @property
    def headings(self) -> list[str]:
        """Column headings of the measures."""
        titles = MEASURES | ({"n": "Dev items shared"} if self.basis == "dev" else {})
        return [titles.get(measure, measure) for measure in self.measures]

    @property
    def sentences(self) -> list[str]:
        """Sentences below the table: how the estimation ended, and remarks."""
        estimated = [estimation_sentence(self.estimation)] if self.estimation else []
        return estimated + [f"{remark[:1].upper()}{remark[1:]}." for remark in self.remarks]

    @property
    def cells(self) -> list[tuple[str, list[str]]]:
        """Rows as text; empty where there is no value."""
        return [(name, [_cell(value) for value in row]) for name, row in self.rows]


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else number(value, 3)


def estimation_sentence(estimation: Estimation) -> str:
    """Say after how many rounds an estimation ended, with which likelihood, and whether it converged."""
    rounds = f"{estimation.rounds:,} round{'' if estimation.rounds == 1 else 's'}"
    likelihood = f"log-likelihood {number(estimation.log_likelihood, 1)}"
    if estimation.converged:
        return f"The estimate converged after {rounds} ({likelihood})."
    return f"The estimate has not converged: it still changed after {rounds} ({likelihood})."


def findings_of(gold: Gold) -> list[Findings]:
    """Return the findings of a gold's rule, by question in the scheme's order."""
    locked = not gold.is_of_training and splits.unopened(gold.corpus).exists()
    order = Question.objects.filter(version=gold.scheme_version).order_by("position")
    keys = [key for key in order.values_list("key", flat=True) if key in gold.findings]
    return [_of(key, gold.findings[key], locked) for key in keys]


def _of(question: str, findings: dict[str, Any], locked: bool) -> Findings:
    if locked and findings["basis"] != "dev":
        return Findings(question, findings["basis"], (), (), (), LOCKED)
    measured = {measure for row in findings["raters"].values() for measure in row}
    measures = tuple(measure for measure in MEASURES if measure in measured) + tuple(
        sorted(measured - MEASURES.keys())
    )
    raters = sorted(findings["raters"].items())
    rows = tuple((name, tuple(row.get(measure) for measure in measures)) for name, row in raters)
    estimation = Estimation(**findings["estimation"]) if "estimation" in findings else None
    return Findings(
        question, findings["basis"], measures, rows, tuple(findings["remarks"]), estimation=estimation
    )


def as_json(gold: Gold) -> dict[str, Any]:
    """Return the findings as JSON data by question: measures by rater, or why they are locked."""
    return {
        findings.question: {"locked": findings.locked}
        if findings.locked
        else {
            "basis": findings.basis,
            "raters": {name: dict(zip(findings.measures, row, strict=True)) for name, row in findings.rows},
            "remarks": list(findings.remarks),
            **({"estimation": asdict(findings.estimation)} if findings.estimation else {}),
        }
        for findings in findings_of(gold)
    }


GOLD_COLUMNS = (
    Column("item", f"({ITEM})"),
    Column("question", "q.key"),
    Column("value", "l.number", "value", "l.text"),
    Column("reason", "l.reason"),
    Column("n_raters", "l.n_raters", "integer"),
    Column("support", "l.support", "number"),
    Column("votes", "l.votes", "json"),
    Column("source", "l.source", "plain"),
    Column("decisions", "l.decisions", "json"),
    Column("rule", "coalesce(o.options #>> array['questions', q.key, 'rule'], o.rule)", "plain"),
    Column("scheme", "(s.key || '@' || v.version)"),
    Column("cluster", "coalesce(i.cluster, d.cluster)"),
    *PLACE_COLUMNS,
    Column("inputs_hash", "o.inputs_hash", "plain"),
    PART_COLUMN,
    Column("fake_model", FAKE_MODEL, "boolean"),
    Column("inclusion_probability", "w.probability", "number"),
    Column("weight", "w.weight", "number"),
)
GOLD_TABLES = f"""FROM calibration_goldlabel l
JOIN calibration_gold o ON o.id = l.gold_id
{PLACES}
JOIN annotation_question q ON q.id = l.question_id
JOIN annotation_schemeversion v ON v.id = q.version_id
JOIN annotation_scheme s ON s.id = v.scheme_id
{PART_TABLE}
LEFT JOIN unnest(%s::text[], %s::bigint[], %s::float8[], %s::float8[])
  AS w(question, item, probability, weight) ON w.question = q.key AND w.item = l.item_id
WHERE l.gold_id = %s AND {OF_PART}
ORDER BY {IN_ORDER}, q.position
"""


def query(gold: Gold, export_part: ExportPart | None = None) -> ExportQuery:
    """Return the labels of a gold, one per row; those without a value carry the reason.

    If the corpus is split, only the chosen part is included; dev by default. `weight` is filled where review
    campaigns drew the items, and `inclusion_probability` where that of being drawn is known.
    """
    split, *part = (export_part or taken_by_default(gold.corpus, training=gold.is_of_training)).params
    rows = [
        (key, item, weighting.probabilities.get(item), weight)
        for key, weighting in shares.weightings(gold).items()
        for item, weight in weighting.weights.items()
    ]
    weights = tuple([row[column] for row in rows] for column in range(4))
    return ExportQuery(GOLD_COLUMNS, GOLD_TABLES, (split, *weights, gold.pk, *part))


def provenance(gold: Gold) -> dict[str, Any]:
    """Return the provenance of a gold: its inputs, its rule and options, and its counts."""
    return {
        "gold": gold.pk,
        "corpus": gold.corpus.name,
        "campaign": gold.campaign.name if gold.campaign else None,
        "part": gold.part,
        "scheme": f"{gold.scheme_version.scheme.key}@{gold.scheme_version.version}",
        "rule": gold.rule,
        "options": gold.options,
        "inputs_hash": gold.inputs_hash,
        "made_at": gold.created_at.isoformat(),
        "made_by": str(gold.created_by) if gold.created_by else None,
        "labels": gold.n,
        "without_value": gold.without,
        "findings": as_json(gold),
    }
