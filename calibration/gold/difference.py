"""Difference between two golds of the same corpus and questions: items with equal and with different values.

Numbers less than 1e-9 apart are equal, because means depend on the order of addition. PostgreSQL does all the
counting, so golds of any size are compared without reading them into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from django.db import connection
from django.db.models import Q, QuerySet

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.models import Question
from calibration.errors import GoldDifferenceRefused
from calibration.exports.labels import IN_ORDER, ITEM, PLACE_COLUMNS, PLACES
from calibration.exports.parts import OF_PART, PART_COLUMN, PART_TABLE, ExportPart, taken_by_default
from calibration.exports.writing import Column, ExportQuery
from calibration.models import Gold

STATUSES = {
    "different": "different values",
    "only_first": "a value in the first alone",
    "only_second": "a value in the second alone",
    "neither": "no value in either",
    "equal": "equal values",
}
"""Status of an item on a question, with its meaning."""
LARGEST_TABLE = 20
"""Largest number of scale values for which a table of first by second values is shown."""

_SIDES = """
  a.number AS first_number, a.text AS first_text, coalesce(a.reason, 'not in this gold') AS first_reason,
  a.n_raters AS first_raters, a.support AS first_support, a.source AS first_source,
  b.number AS second_number, b.text AS second_text, coalesce(b.reason, 'not in this gold') AS second_reason,
  b.n_raters AS second_raters, b.support AS second_support, b.source AS second_source"""
_SAME = "a.text IS NOT DISTINCT FROM b.text AND (a.number IS NULL OR abs(a.number - b.number) < 1e-9)"
_OWN = "SELECT * FROM calibration_goldlabel WHERE gold_id = %s AND question_id = ANY(%s)"
JOINED = f"""(
  SELECT item_id, question_id, {_SIDES},
    CASE WHEN a.reason = '' AND b.reason = '' THEN CASE WHEN {_SAME} THEN 'equal' ELSE 'different' END
         WHEN a.reason = '' THEN 'only_first' WHEN b.reason = '' THEN 'only_second' ELSE 'neither'
    END AS status
    FROM ({_OWN}) AS a FULL JOIN ({_OWN}) AS b USING (item_id, question_id)) AS l"""  # noqa: S608  (own SQL)
"""The labels of two golds side by side, one row per item and question."""
TABLES = f"""FROM {JOINED}
{PLACES}
JOIN annotation_question q ON q.id = l.question_id
{PART_TABLE}
WHERE {OF_PART}"""

COLUMNS = (
    Column("item", f"({ITEM})"),
    Column("question", "q.key"),
    Column("status", "l.status", "plain"),
    Column("first", "l.first_number", "value", "l.first_text"),
    Column("second", "l.second_number", "value", "l.second_text"),
    Column("difference", "(l.second_number - l.first_number)", "number"),
    Column("first_reason", "l.first_reason"),
    Column("first_raters", "l.first_raters", "integer"),
    Column("first_support", "l.first_support", "number"),
    Column("first_source", "l.first_source", "plain"),
    Column("second_reason", "l.second_reason"),
    Column("second_raters", "l.second_raters", "integer"),
    Column("second_support", "l.second_support", "number"),
    Column("second_source", "l.second_source", "plain"),
    Column("cluster", "coalesce(i.cluster, d.cluster)"),
    *PLACE_COLUMNS,
    PART_COLUMN,
)


@dataclass(frozen=True)
class QuestionDifference:
    """Difference between two golds on a question: items by status, and distances where both have a value.

    `share` is the proportion of different values among the items with a value in both. `mean`,
    `mean_absolute` and `largest` are of second minus first; None if values are not numeric or there are none.
    `table` counts first by second value, in the order of `values`, if the scale has few values.
    """

    question: Question
    counts: dict[str, int]
    mean: float | None = None
    mean_absolute: float | None = None
    largest: float | None = None
    values: tuple[str, ...] = ()
    table: tuple[tuple[int, ...], ...] = ()

    @property
    def rows(self) -> list[tuple[str, tuple[int, ...]]]:
        """Rows of the table, each with its value in the first gold."""
        return list(zip(self.values, self.table, strict=True))

    @property
    def n_both(self) -> int:
        """Number of items with a value in both."""
        return self.counts["equal"] + self.counts["different"]

    @property
    def share(self) -> float | None:
        """Proportion of different values among the items with a value in both; None if there are none."""
        return self.counts["different"] / self.n_both if self.n_both else None

    @property
    def reason(self) -> str:
        """Why there is no share; empty if there is one."""
        return "" if self.n_both else "no item has a value in both"


@dataclass(frozen=True)
class Difference:
    """Difference between two golds on the items that may be shown; `locked` counts the other items."""

    first: Gold
    second: Gold
    export_part: ExportPart
    questions: tuple[QuestionDifference, ...]
    only_in: dict[str, tuple[str, ...]] = field(default_factory=dict)
    locked: int = 0

    def rows(self, status: str = "different", question: Question | None = None) -> Rows:
        """Return the items with a status, optionally of one question only, in corpus order."""
        differences = [entry for entry in self.questions if question is None or entry.question == question]
        ids = [entry.question.pk for entry in differences]
        return Rows(
            _params(self.first, self.second, ids, self.export_part),
            status,
            sum(o.counts[status] for o in differences),
        )


def comparable(gold: Gold) -> QuerySet[Gold]:
    """Return the other golds with the same corpus, scheme version and part, newest first."""
    golds = Gold.objects.filter(corpus=gold.corpus_id, scheme_version=gold.scheme_version_id)
    of_training = Q(options__contains={"part": TRAINING}) | Q(campaign__part=TRAINING)
    golds = golds.filter(of_training) if gold.is_of_training else golds.exclude(of_training)
    return golds.exclude(pk=gold.pk).select_related("campaign", "scheme_version__scheme").order_by("-pk")


def difference(first: Gold, second: Gold) -> Difference:
    """Compare two golds on the questions that both answer.

    Items of an unopened test part are counted as locked and not compared. Raises GoldDifferenceRefused for
    golds of two corpora, or without a question in common.
    """
    shared = shared_questions(first, second)
    export_part = _visible(first)
    ids = [question.pk for question in shared]
    summed = _summed(_params(first, second, ids, export_part))
    everything = _params(first, second, ids, ExportPart(None, ""))
    locked = 0
    if export_part.part == "dev":
        locked = sum(sum(row["counts"].values()) for row in _summed(everything).values()) - sum(
            sum(row["counts"].values()) for row in summed.values()
        )
    none: dict[str, Any] = {"counts": dict.fromkeys(STATUSES, 0)}
    questions = tuple(
        QuestionDifference(
            question, **summed.get(question.pk, none), **_tables(first, second, question, export_part)
        )
        for question in shared
    )
    return Difference(first, second, export_part, questions, _only_in(first, second), locked)


def shared_questions(first: Gold, second: Gold) -> list[Question]:
    """Return the questions that both golds answer, in order. Raises GoldDifferenceRefused if none."""
    if first.corpus_id != second.corpus_id:
        raise GoldDifferenceRefused(
            f"gold {first.pk} and gold {second.pk} are of two corpora, {first.corpus.name} and "
            f"{second.corpus.name}: choose two of the same corpus"
        )
    if first.is_of_training != second.is_of_training:
        raise GoldDifferenceRefused(
            f"gold {first.pk} and gold {second.pk} are not of the same part, one being of training alone: "
            "choose two of training, or two without it"
        )
    both = first.counts.keys() & second.counts.keys()
    if not both:
        raise GoldDifferenceRefused(
            f"gold {first.pk} and gold {second.pk} answer no question in common: choose two of one scheme"
        )
    return list(Question.objects.filter(pk__in=both).order_by("position"))


def query(first: Gold, second: Gold, export_part: ExportPart | None = None) -> ExportQuery:
    """Return both golds side by side, one row per item and question; the dev part by default."""
    ids = [question.pk for question in shared_questions(first, second)]
    params = _params(
        first, second, ids, export_part or taken_by_default(first.corpus, training=first.is_of_training)
    )
    return ExportQuery(COLUMNS, f"{TABLES}\nORDER BY {IN_ORDER}, q.position\n", params)


def as_json(gold_difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON data, without its items."""
    return {
        "first": gold_difference.first.pk,
        "second": gold_difference.second.pk,
        "part": gold_difference.export_part.part or "all",
        "locked": gold_difference.locked,
        "only_in": gold_difference.only_in,
        "questions": [
            {
                "question": row.question.key,
                "counts": row.counts,
                "n_both": row.n_both,
                "share_changed": row.share,
                "reason": row.reason,
                "mean_difference": row.mean,
                "mean_absolute_difference": row.mean_absolute,
                "largest_absolute_difference": row.largest,
                "values": row.values,
                "table": row.table,
            }
            for row in gold_difference.questions
        ],
    }


class Rows(Sequence[dict[str, Any]]):
    """Items with one status, read from the database a slice at a time."""

    def __init__(self, params: tuple[Any, ...], status: str, many: int) -> None:
        self.params, self.status, self.many = params, status, many

    def __len__(self) -> int:
        return self.many

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self[0 : self.many])

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop, _ = index.indices(self.many)
        sides = (
            "l.first_number, l.first_text, l.first_reason, l.second_number, l.second_text, l.second_reason"
        )
        sql = (
            f"SELECT l.item_id, ({ITEM}) AS item, q.key AS question, l.status, {sides}, "
            f"l.first_support, l.second_support, l.first_source, l.second_source, "
            f"l.second_number - l.first_number AS difference {TABLES} "
            f"AND l.status = %s ORDER BY {IN_ORDER}, q.position OFFSET %s LIMIT %s"
        )
        return _read(sql, (*self.params, self.status, start, max(0, stop - start)))


def _params(first: Gold, second: Gold, questions: list[int], export_part: ExportPart) -> tuple[Any, ...]:
    split, *part = export_part.params
    return (first.pk, questions, second.pk, questions, split, *part)


def _visible(gold: Gold) -> ExportPart:
    """Return the part that a page may show: dev while the test part is unopened, else everything."""
    if gold.is_of_training or splits.unopened(gold.corpus).exists():
        return taken_by_default(gold.corpus, training=gold.is_of_training)
    return ExportPart(None, "")


def _summed(params: tuple[Any, ...]) -> dict[int, dict[str, Any]]:
    """Return counts by status and the distances, by question id."""
    counts = ", ".join(f"count(*) FILTER (WHERE l.status = '{status}') AS {status}" for status in STATUSES)
    away = "l.second_number - l.first_number"
    sql = (
        f"SELECT l.question_id, {counts}, avg({away}) AS mean, avg(abs({away})) AS mean_absolute, "
        f"max(abs({away})) AS largest {TABLES} GROUP BY l.question_id"
    )
    return {
        row["question_id"]: {
            "counts": {status: row[status] for status in STATUSES},
            **{name: row[name] for name in ("mean", "mean_absolute", "largest")},
        }
        for row in _read(sql, params)
    }


def _tables(first: Gold, second: Gold, question: Question, export_part: ExportPart) -> dict[str, Any]:
    """Return the table of first by second values, if the scale has few values; else nothing."""
    params = _params(first, second, [question.pk], export_part)
    pair = "l.first_number, l.first_text, l.second_number, l.second_text"
    sql = (
        f"SELECT {pair}, count(*) AS n {TABLES} AND l.status IN ('equal', 'different') "
        f"GROUP BY {pair} LIMIT %s"
    )
    rows = _read(sql, (*params, LARGEST_TABLE**2 + 1))
    cells = {(_value(row, "first"), _value(row, "second")): row["n"] for row in rows}
    occurring = {value for pair in cells for value in pair}
    values = [float(v) if isinstance(v, int | float) else v for v in question.values]
    values = values or ([0.0, 1.0] if question.level == "binary" else sorted(occurring, key=str))
    if not cells or len(values) > LARGEST_TABLE or not occurring <= set(values):
        return {}
    table = tuple(tuple(cells.get((row_value, other), 0) for other in values) for row_value in values)
    return {"values": tuple(v if isinstance(v, str) else f"{v:g}" for v in values), "table": table}


def _value(row: dict[str, Any], side: str) -> float | str:
    text: str | None = row[f"{side}_text"]
    return float(row[f"{side}_number"]) if text is None else text


def _only_in(first: Gold, second: Gold) -> dict[str, tuple[str, ...]]:
    """Return the keys of the questions that only the first, or only the second, gold answers."""
    keys = {}
    for name, gold, other in (("first", first, second), ("second", second, first)):
        alone = Question.objects.filter(pk__in=gold.counts.keys() - other.counts.keys())
        keys[name] = tuple(alone.order_by("position").values_list("key", flat=True))
    return keys


def _read(sql: str, params: tuple[Any, ...]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
