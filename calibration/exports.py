"""Labels as a ratings file: what people, judges and metrics said, ready for other programs and for import."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus
from annotation.models.turn_numbers import TURN_NUMBER
from calibration.census import census
from calibration.copying import FORMATS, Column, Selection, hashed
from calibration.export_parts import OF_PART, PART_COLUMN, PART_TABLE, Taken, taken_by_default
from calibration.models import Export, Gold
from calibration.scope import Scope

KEY_PART = "replace(replace({}, '%%', '%%25'), '/', '%%2F')"
"""A part of an item key, quoted as `annotation.keys` quotes it."""
DIALOGUE, CONTINUATION = KEY_PART.format("d.key"), KEY_PART.format("c.key")
ITEM = f"{DIALOGUE} || '/' || {CONTINUATION} || coalesce('/' || t.position::text, '')"
PLACES = """
JOIN annotation_item i ON i.id = l.item_id
JOIN annotation_continuation c ON c.id = i.continuation_id
JOIN annotation_dialogue d ON d.id = c.dialogue_id
JOIN annotation_system y ON y.id = c.system_id
LEFT JOIN annotation_turn t ON t.id = i.turn_id
"""
"""Where the item of a row l is."""
IN_ORDER = 'd.key COLLATE "C", c.key COLLATE "C", t.position NULLS FIRST'
PLACE_COLUMNS = (
    Column("dialogue", "d.key"),
    Column("continuation", "c.key"),
    Column("system", "y.name"),
    Column("turn", "t.position", "integer"),
    Column("turn_number", f"({TURN_NUMBER})", "integer"),
)
LABEL_COLUMNS = (
    Column("item", f"({ITEM})"),
    Column("rater", "named.name"),
    Column("value", "l.number", "value", "l.text"),
    Column("question", "asked.key"),
    Column("scheme", "asked.scheme"),
    Column("sample", "l.sample", "integer"),
    Column("cluster", "d.cluster"),
    Column("kind", "named.kind", "plain"),
    Column("identified", "named.identified", "boolean"),
    *PLACE_COLUMNS,
    Column("occasion", "l.occasion", "plain"),
    Column("campaign", "g.name"),
    Column("missing", "l.missing"),
    Column("explanation", "l.explanation"),
    Column("level", "asked.level", "plain"),
    Column("values", "asked.values_text::json", "json"),
    PART_COLUMN,
)
LABEL_FIELDS = (
    "id",
    "item_id",
    "question_id",
    "rater_id",
    "campaign_id",
    "occasion",
    "sample",
    "number",
    "text",
    "missing",
    "explanation",
)
LABEL_TABLES = f"""{PLACES}
JOIN unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY
  AS asked(id, key, scheme, level, values_text, n) ON asked.id = l.question_id
JOIN unnest(%s::bigint[], %s::text[], %s::text[], %s::boolean[]) WITH ORDINALITY
  AS named(id, name, kind, identified, n) ON named.id = l.rater_id
LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
{PART_TABLE}
WHERE {OF_PART}
ORDER BY {IN_ORDER}, asked.n, named.n, l.sample, l.id
"""


def labels(scope: Scope, taken: Taken | None = None) -> Selection:
    """Return the live labels of a scope, one row a label, in an order that the labels alone decide.

    Where the corpus is split, those of the part that is taken: dev unless told otherwise.

    Raters are named as in reports: where two share a name, their kind (and number) is added. Questions and
    raters are few, so what is written of them is sent along instead of being put together row by row.
    """
    counted = census(scope)
    raters = sorted(counted.raters.values(), key=lambda info: info.name)
    questions = sorted(counted.questions.values(), key=lambda info: (info.scheme, info.position))
    chosen, params = scope.labels().order_by().values(*LABEL_FIELDS).query.sql_with_params()
    asked = [
        [q.id for q in questions],
        [q.key for q in questions],
        [q.scheme for q in questions],
        [q.level for q in questions],
        [json.dumps(q.values, ensure_ascii=False) for q in questions],
    ]
    named = [
        [r.id for r in raters],
        [r.name for r in raters],
        [r.kind for r in raters],
        [r.identified for r in raters],
    ]
    part = (taken or taken_by_default(scope.corpus)).params
    return Selection(LABEL_COLUMNS, f"FROM ({chosen}) AS l {LABEL_TABLES}", (*params, *asked, *named, *part))


def stream(
    *,
    selection: Selection,
    form: str,
    corpus: Corpus,
    part: str = "",
    campaign: Campaign | None = None,
    gold: Gold | None = None,
    by: User | None,
) -> Iterator[bytes]:
    """Yield a selection in a format and, once all of it was handed out, log the export with its hash."""
    rows = selection.count()
    about = {"corpus": corpus, "part": part, "campaign": campaign, "gold": gold, "created_by": by}

    def log(sha256: str) -> None:
        Export.objects.create(format=form, rows=rows, sha256=sha256, **about)

    return hashed(FORMATS[form][0](selection), log)
