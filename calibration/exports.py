"""Labels as a ratings file: what people, judges and metrics said, ready for other programs and for import."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import User

from annotation.models import Campaign, Corpus
from calibration.census import census
from calibration.copying import FORMATS, Column, Selection, hashed
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
JOIN annotation_question q ON q.id = l.question_id
JOIN annotation_schemeversion v ON v.id = q.version_id
JOIN annotation_scheme s ON s.id = v.scheme_id
"""
"""What a row l with an item and a question stands for."""
IN_ORDER = (
    'd.key COLLATE "C", c.key COLLATE "C", t.position NULLS FIRST, s.key COLLATE "C", v.version, q.position'
)
PLACE_COLUMNS = (
    Column("dialogue", "d.key"),
    Column("continuation", "c.key"),
    Column("system", "y.name"),
    Column("turn", "t.position", "integer"),
)
LABEL_COLUMNS = (
    Column("item", f"({ITEM})"),
    Column("rater", "named.name"),
    Column("value", "l.number", "value", "l.text"),
    Column("question", "q.key"),
    Column("scheme", "(s.key || '@' || v.version)"),
    Column("sample", "l.sample", "integer"),
    Column("cluster", "d.cluster"),
    Column("kind", "r.kind", "plain"),
    Column("identified", "r.identified", "boolean"),
    *PLACE_COLUMNS,
    Column("occasion", "l.occasion", "plain"),
    Column("campaign", "g.name"),
    Column("missing", "l.missing"),
    Column("explanation", "l.explanation"),
    Column("level", "q.level", "plain"),
    Column("values", "q.values", "json"),
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
JOIN annotation_rater r ON r.id = l.rater_id
JOIN unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS named(id, name, n) ON named.id = l.rater_id
LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
ORDER BY {IN_ORDER}, named.n, l.sample, l.id
"""


def labels(scope: Scope) -> Selection:
    """Return the live labels of a scope, one row a label, in an order that the labels alone decide.

    Raters are named as in reports: where two share a name, their kind (and number) is added.
    """
    raters = sorted(census(scope).raters.values(), key=lambda info: info.name)
    chosen, params = scope.labels().order_by().values(*LABEL_FIELDS).query.sql_with_params()
    ids, names = [info.id for info in raters], [info.name for info in raters]
    rest = f"FROM ({chosen}) AS l {LABEL_TABLES}"
    return Selection(LABEL_COLUMNS, rest, (*params, ids, names))


def stream(
    *,
    selection: Selection,
    form: str,
    corpus: Corpus,
    campaign: Campaign | None = None,
    gold: Gold | None = None,
    by: User | None,
) -> Iterator[bytes]:
    """Yield a selection in a format and, once all of it was handed out, log the export with its hash."""
    rows = selection.count()
    about = {"corpus": corpus, "campaign": campaign, "gold": gold, "created_by": by}

    def log(sha256: str) -> None:
        Export.objects.create(format=form, rows=rows, sha256=sha256, **about)

    return hashed(FORMATS[form][0](selection), log)
