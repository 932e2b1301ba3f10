"""How one metric's values are spread, system by system: quartiles and the mean, drawn as a box."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.db import connection

from annotation.models import Corpus
from annotation.records import HUMAN
from calibration.profiles.cells import cells_of
from calibration.profiles.points import SAME, SCORED, compared_rows, parameters, parts_of, sources_used
from calibration.profiles.summary import Column
from calibration.reports import drawing
from calibration.reports.drawing import alt

QUARTILES = """
SELECT s.name || CASE WHEN c.condition->>'speaker' = 'given' THEN ' (the speaker was given)'
                      WHEN c.condition->>'content' = 'given' THEN ' (the message was given)' ELSE '' END
       AS source, count(*), avg(l.number), percentile_cont(ARRAY[0, 0.25, 0.5, 0.75, 1])
       WITHIN GROUP (ORDER BY l.number)
  FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id JOIN annotation_system s ON s.id = c.system_id
 WHERE i.corpus_id = %s AND NOT i.training AND l.rater_id = %s AND l.superseded_at IS NULL
   AND l.number IS NOT NULL
   AND i.compared IS NULL AND EXISTS (
       SELECT FROM annotation_question q JOIN annotation_schemeversion v ON v.id = q.version_id
         JOIN annotation_scheme m ON m.id = v.scheme_id WHERE q.id = l.question_id AND m.key LIKE 'metric:%%')
 GROUP BY s.name, source ORDER BY lower(s.name) = %s, source
"""
SHARED = """
SELECT system || CASE half WHEN 'speaker' THEN ' (the speaker was given)'
                           WHEN 'content' THEN ' (the message was given)' ELSE '' END AS source,
       count(*), avg(number), percentile_cont(ARRAY[0, 0.25, 0.5, 0.75, 1]) WITHIN GROUP (ORDER BY number)
  FROM scored JOIN points USING (rater, dialogue, place, before)
 WHERE source_row = ANY(%(rows)s) AND rows @> %(rows)s::bigint[]
 GROUP BY system, source ORDER BY lower(system) = %(human)s, source
"""
FIELDS = ("system", "n", "mean", "low", "q1", "median", "q3", "high")


def distribution(corpus: Corpus, column: Column, points: str = SAME) -> list[dict[str, Any]]:
    """Return per system its number of values, mean and quartiles (linear interpolation); people come last.

    The values are those at the points that the rows of the profile share, or all of them.
    """
    cells = cells_of(corpus, column.id) if points == SAME else {}
    query = QUARTILES
    values: Any = [corpus.pk, column.id, HUMAN]
    if used := sources_used(cells):
        parts = parts_of(corpus, cells)[column.id]
        compared = sorted(compared_rows(part for several in parts.values() for part in several))
        query, values = SCORED + SHARED, parameters(corpus, used) | {"rows": compared, "human": HUMAN}
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows = cursor.fetchall()
    return [dict(zip(FIELDS, (name, n, mean, *quartiles), strict=True)) for name, n, mean, quartiles in rows]


def svg(values: list[dict[str, Any]], column: Column) -> str:
    """Return the boxes as a free-standing SVG on white."""
    return drawing.on_white(_drawn(json.dumps(values), column.name))


def inline_svg(values: list[dict[str, Any]], column: Column) -> str:
    """Return the boxes for a page, in the page's colours."""
    return drawing.in_page(_drawn(json.dumps(values), column.name), f"{column.name} by system")


@lru_cache(maxsize=256)
def _drawn(values: str, title: str) -> str:
    return drawing.to_svg(_specification(json.loads(values), title))


def _specification(values: list[dict[str, Any]], title: str) -> dict[str, Any]:
    axis = alt.Axis(
        labelLimit=190, minExtent=190, maxExtent=190, labelColor=drawing.INK, labelPadding=8, ticks=False
    )
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("system:N", sort=None, title=None, axis=axis.copy())
    )
    x = alt.X("low:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=drawing.axis())
    whole = base.mark_rule(color=drawing.INK_3).encode(x=x, x2="high:Q")
    middle = base.mark_bar(size=12, color=drawing.COLOURS[0], opacity=0.35).encode(x="q1:Q", x2="q3:Q")
    median = base.mark_tick(color=drawing.COLOURS[0], thickness=2, size=12).encode(x="median:Q")
    mean = base.mark_point(filled=True, color=drawing.COLOURS[1], size=40, opacity=1).encode(x="mean:Q")
    drawn = alt.layer(whole, middle, median, mean).properties(
        width=drawing.WIDTH, height=max(2, len(values)) * 26, background="transparent"
    )
    return dict(drawn.configure(font=drawing.FONT).configure_view(stroke=None).to_dict())
