"""At which points of dialogues the rows of a profile are compared: those where each of them has a value.

A turn's point is its place in the dialogue, with the turns that were given right before a static one; that of
a whole conversation is where it begins: with the dialogue, or after its own turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from typing import Any

from django.db import connection

from annotation.models import Corpus, Question
from calibration.profiles.cells import OWN, Cell, Cells, Source

SAME, ALL = "same", "all"
POINTS = (SAME, ALL)
"""Which points a profile speaks of: those that its rows share, or each row's own."""

APART = "no point in common with the other rows"

SCORED = """
WITH used AS (
    SELECT * FROM unnest(%(raters)s::bigint[], %(systems)s::text[], %(halves)s::text[])
        AS u(rater, system, half)
), histories AS (
    SELECT c.dialogue_id AS dialogue, count(*) AS length
      FROM annotation_dialogue d JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = 'self'
      JOIN annotation_turn t ON t.continuation_id = c.id
     WHERE d.corpus_id = %(corpus)s GROUP BY c.dialogue_id
), scored AS (
    SELECT l.rater_id AS rater, s.name AS system, u.half,
           s.id * 2 + (u.half <> '')::int AS source_row, l.number, c.dialogue_id AS dialogue,
           CASE WHEN t.id IS NULL THEN -1 - (c.key <> 'self')::int
                WHEN c.key = 'self' THEN t.position
                WHEN c.mode = 'static' THEN least(coalesce(t.at, 0), coalesce(h.length, 0))
                ELSE coalesce(h.length, 0) + t.position END AS place,
           CASE WHEN c.mode = 'static' THEN coalesce((
               SELECT md5(string_agg(g.speaker || ': ' || g.text, chr(10) ORDER BY g.position))
                 FROM annotation_turn g
                WHERE g.continuation_id = c.id AND g.given AND g.at = t.at AND g.position < t.position
                  AND NOT EXISTS (SELECT FROM annotation_turn o
                                   WHERE o.continuation_id = c.id AND o.position > g.position
                                     AND o.position < t.position AND NOT (o.given AND o.at = t.at))
           ), '') ELSE '' END AS before
      FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
      JOIN annotation_continuation c ON c.id = i.continuation_id
      JOIN annotation_system s ON s.id = c.system_id
      JOIN used u ON u.rater = l.rater_id AND u.system = s.name
                 AND u.half = CASE WHEN c.condition->>'speaker' = 'given' THEN 'speaker'
                                   WHEN c.condition->>'content' = 'given' THEN 'content' ELSE '' END
      LEFT JOIN annotation_turn t ON t.id = i.turn_id LEFT JOIN histories h ON h.dialogue = c.dialogue_id
     WHERE i.corpus_id = %(corpus)s AND NOT i.training AND i.compared IS NULL AND l.superseded_at IS NULL
       AND l.number IS NOT NULL AND l.question_id = ANY(%(questions)s)
), points AS (
    SELECT rater, dialogue, place, before, array_agg(DISTINCT source_row) AS rows
      FROM scored GROUP BY rater, dialogue, place, before
)
"""
_PARTS = """
SELECT rater, system, half, source_row, rows, count(DISTINCT (dialogue, place, before)), count(*),
       avg(number), var_pop(number), min(number), max(number)
  FROM scored JOIN points USING (rater, dialogue, place, before)
 GROUP BY rater, system, half, source_row, rows
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A source's values at the points where just these rows have one; a row is a number here."""

    row: int
    rows: frozenset[int]
    points: int
    n: int
    mean: float
    variance: float
    low: float
    high: float


Parts = dict[int, dict[Source, list[Part]]]
"""Per metric rater that several rows have values of."""


def parts_of(corpus: Corpus, cells: Cells) -> Parts:
    """Return the parts of the cells of columns in which several rows have a value; two queries at most."""
    used = sources_used(cells)
    if not used:
        return {}
    found: Parts = {}
    with connection.cursor() as cursor:
        cursor.execute(SCORED + _PARTS, parameters(corpus, used))
        for rater, system, half, row, rows, *figures in cursor.fetchall():
            part = Part(row, frozenset(rows), *figures)
            found.setdefault(rater, {}).setdefault((system, half), []).append(part)
    return found


def sources_used(cells: Cells) -> list[tuple[int, Source]]:
    """Return from which sources the rows of a column have their values, where several rows have some.

    Of the halves of a system's predictions it is the first with a value.
    """
    rows: dict[int, dict[tuple[str, bool], Source]] = {}
    for rater, source in sorted(key for key, cell in cells.items() if cell.mean is not None):
        rows.setdefault(rater, {}).setdefault((source[0], bool(source[1])), source)
    return [(rater, source) for rater, used in rows.items() if len(used) > 1 for source in used.values()]


def parameters(corpus: Corpus, used: Sequence[tuple[int, Source]]) -> dict[str, Any]:
    """Return the parameters of `SCORED`."""
    own = Question.objects.filter(version__scheme__key__startswith=OWN)
    return {
        "corpus": corpus.pk,
        "questions": list(own.values_list("pk", flat=True)),
        "raters": [rater for rater, _ in used],
        "systems": [system for _, (system, _) in used],
        "halves": [half for _, (_, half) in used],
    }


def compared_rows(parts: Iterable[Part]) -> frozenset[int]:
    """Return the rows of a column that are compared, none where no two have a point in common.

    All rows are, unless there is no point where each has a value: then those go one by one that have the
    fewest points in common with others.
    """
    several = list(parts)
    rows = {part.row for part in several}
    while len(rows) > 1:
        if any(rows <= part.rows for part in several):
            return frozenset(rows)
        shared = dict.fromkeys(sorted(rows), 0)
        for part in several:
            if part.row in rows and len(part.rows & rows) > 1:
                shared[part.row] += part.points
        rows.remove(min(shared, key=lambda row: shared[row]))
    return frozenset()


def at_same_points(cells: Cells, parts: Parts) -> Cells:
    """Return the cells of the points that the rows of a column share; a column of one row stays as it is."""
    compared = {rater: compared_rows(_all(sources)) for rater, sources in parts.items()}
    return {
        (rater, source): _narrowed(cell, parts[rater].get(source, []), compared[rater])
        if rater in parts and cell.mean is not None
        else cell
        for (rater, source), cell in cells.items()
    }


def _all(sources: Mapping[Source, list[Part]]) -> list[Part]:
    return [part for parts in sources.values() for part in parts]


def _narrowed(cell: Cell, parts: Sequence[Part], rows: frozenset[int]) -> Cell:
    """Return a cell of its values at the points that rows share, of which it is one."""
    shared = [part for part in parts if part.row in rows and rows <= part.rows]
    n = sum(part.n for part in shared)
    if not n:
        gone = {"mean": None, "spread": None, "low": None, "high": None}
        return replace(cell, n=0, elsewhere=cell.n, reason=APART, **gone)  # type: ignore[arg-type]
    if n == cell.n:
        return cell
    mean = fsum(part.n * part.mean for part in shared) / n
    variance = fsum(part.n * (part.variance + (part.mean - mean) ** 2) for part in shared) / n
    return replace(
        cell,
        n=n,
        elsewhere=cell.n - n,
        mean=mean,
        spread=sqrt(variance),
        low=min(part.low for part in shared),
        high=max(part.high for part in shared),
    )


def points_in(parts: Mapping[Source, list[Part]]) -> tuple[int, int]:
    """Return at how many points the rows of a column are compared, and how many there are."""
    several = _all(parts)
    rows = compared_rows(several)
    shared = sum(part.points for part in several if rows and part.row == min(rows) and rows <= part.rows)
    return shared, sum(part.points for part in several if part.row == min(part.rows))
