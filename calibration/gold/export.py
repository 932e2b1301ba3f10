"""Gold labels as files, with what makes them reproducible."""

from __future__ import annotations

from typing import Any

from calibration.exports.labels import FAKE_MODEL, IN_ORDER, ITEM, PLACE_COLUMNS, PLACES
from calibration.exports.parts import OF_PART, PART_COLUMN, PART_TABLE, Taken, taken_by_default
from calibration.exports.writing import Column, ExportQuery
from calibration.gold import findings
from calibration.models import Gold

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
    Column("rule", "o.rule", "plain"),
    Column("scheme", "(s.key || '@' || v.version)"),
    Column("cluster", "coalesce(i.cluster, d.cluster)"),
    *PLACE_COLUMNS,
    Column("inputs_hash", "o.inputs_hash", "plain"),
    PART_COLUMN,
    Column("fake_model", FAKE_MODEL, "boolean"),
)
GOLD_TABLES = f"""FROM calibration_goldlabel l
JOIN calibration_gold o ON o.id = l.gold_id
{PLACES}
JOIN annotation_question q ON q.id = l.question_id
JOIN annotation_schemeversion v ON v.id = q.version_id
JOIN annotation_scheme s ON s.id = v.scheme_id
{PART_TABLE}
WHERE l.gold_id = %s AND {OF_PART}
ORDER BY {IN_ORDER}, q.position
"""


def query(gold: Gold, taken: Taken | None = None) -> ExportQuery:
    """Return the labels of a gold, one row a label, those without a value with the reason why.

    Where the corpus is split, those of the part that is taken: dev unless told otherwise.
    """
    split, *part = (taken or taken_by_default(gold.corpus, training=gold.is_of_training)).params
    return ExportQuery(GOLD_COLUMNS, GOLD_TABLES, (split, gold.pk, *part))


def provenance(gold: Gold) -> dict[str, Any]:
    """Return how a gold came about: from what, by which rule, and what it holds."""
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
        "findings": findings.as_json(gold),
    }
