"""Labels as a ratings file: answers of people, judges and metrics, for other programs and for import."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import IO, Any

from django.contrib.auth.models import User
from django.http import StreamingHttpResponse

from annotation.models import Campaign, Corpus
from annotation.models.turn_numbers import TURN_NUMBER
from annotation.text.references import item_key_sql, members_key_sql, record_key_sql
from annotation.text.table_cells import guarded
from calibration.exports.parts import OF_PART, PART_SQL, PART_TABLE, ExportPart, taken_by_default
from calibration.exports.writing import BLOCK, FORMATS, Column, ExportQuery, FileSummary, guarded_sql, write
from calibration.models import Export, Gold
from calibration.ratings.scope import Scope, census
from config.models import Event
from jobs.fake_models import CONDITION_KEYS, MODEL_PREFIX

MEMBERS_KEY = members_key_sql("i.id", "d.key")
RECORD_KEY = record_key_sql("d.key", "i.kind", "rec.key")
ITEM = f"""CASE WHEN i.record_id IS NOT NULL THEN {RECORD_KEY}
  WHEN i.compared IS NULL THEN {item_key_sql("d.key", "c.key", "t.position")} ELSE {MEMBERS_KEY} END"""
ALONE = "CASE WHEN i.compared IS NULL AND i.record_id IS NULL THEN {} END"
"""Values of an item of one system: not of a comparison, whose members each have their own, nor of a record of
a dialogue."""
MEMBERS = """CASE WHEN i.compared IS NOT NULL THEN (
  SELECT json_agg(json_build_object('continuation', pc.key, 'turn', pt.position, 'system', py.name)
                  ORDER BY pm.number)
    FROM annotation_itemmember pm JOIN annotation_continuation pc ON pc.id = pm.continuation_id
    JOIN annotation_system py ON py.id = pc.system_id LEFT JOIN annotation_turn pt ON pt.id = pm.turn_id
   WHERE pm.item_id = i.id) END"""
"""Members of a comparison, in the order that answers about it use."""
PLACES = """
JOIN annotation_item i ON i.id = l.item_id
JOIN annotation_continuation c ON c.id = i.continuation_id
JOIN annotation_dialogue d ON d.id = c.dialogue_id
JOIN annotation_system y ON y.id = c.system_id
LEFT JOIN annotation_turn t ON t.id = i.turn_id
LEFT JOIN annotation_record rec ON rec.id = i.record_id
"""
"""Joins that locate the item of a row l."""
IN_ORDER = f"""d.key COLLATE "C", c.key COLLATE "C", t.position NULLS FIRST,
  CASE WHEN i.compared IS NOT NULL THEN {MEMBERS_KEY} WHEN i.record_id IS NOT NULL THEN {RECORD_KEY} END
  COLLATE "C" NULLS FIRST"""
FAKE_MODEL = ALONE.format(
    " OR ".join(
        f"coalesce(starts_with(lower(c.condition ->> '{key}'), '{MODEL_PREFIX}'), false)"
        for key in CONDITION_KEYS
    )
)
"""Whether a fake model wrote the continuation, or embedded its retrieved passages; null for a comparison,
whose members each have their own."""
PLACE_COLUMNS = (
    Column("dialogue", "d.key"),
    Column("continuation", ALONE.format("c.key")),
    Column("system", ALONE.format("y.name")),
    Column("turn", "t.position", "integer"),
    Column("turn_number", f"({TURN_NUMBER})", "integer"),
    Column("members", f"({MEMBERS})", "json"),
)
LABEL_COLUMNS = (
    Column("item", "l.item", cell_sql="l.item_cell"),
    Column("rater", "named.name", cell_sql="named.cell"),
    Column("value", "l.number", "value", "l.text"),
    Column("question", "asked.key", cell_sql="asked.key_cell"),
    Column("scheme", "asked.scheme", cell_sql="asked.scheme_cell"),
    Column("sample", "l.sample", "integer"),
    Column("cluster", "l.cluster", cell_sql="l.cluster_cell"),
    Column("kind", "named.kind", "plain"),
    Column("identified", "named.identified", "boolean"),
    Column("endpoint", "named.address"),
    Column("revision", "named.revision"),
    Column("dialogue", "l.dialogue", cell_sql="l.dialogue_cell"),
    Column("continuation", "l.continuation", cell_sql="l.continuation_cell"),
    Column("system", "l.system", cell_sql="l.system_cell"),
    Column("turn", "l.turn", "integer"),
    Column("turn_number", "l.turn_number", "integer"),
    Column("occasion", "l.occasion", "plain"),
    Column("campaign", "g.name"),
    Column("missing", "l.missing"),
    Column("explanation", "l.explanation"),
    Column("evidence", "l.evidence", "json"),
    Column("level", "asked.level", "plain"),
    Column("values", "asked.values_text::json", "json"),
    Column("group", "asked.group_name", cell_sql="asked.group_cell"),
    Column("members", "l.members", "json"),
    Column("order", "to_json(l.shown)", "json"),
    Column("part", "l.part", "plain"),
    Column("fake_model", "l.fake_model", "boolean"),
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
    "shown",
    "evidence",
)
CELLS = ", ".join(
    f"{guarded_sql(name)} AS {name}_cell"
    for name in ("item", "cluster", "dialogue", "continuation", "system")
)
PLACED = f"""
SELECT p.*, {CELLS} FROM (
SELECT l.item_id, row_number() OVER (ORDER BY {IN_ORDER}) AS place, ({ITEM}) AS item,
       coalesce(i.cluster, d.cluster) AS cluster,
       d.key AS dialogue, {ALONE.format("c.key")} AS continuation, {ALONE.format("y.name")} AS system,
       {FAKE_MODEL} AS fake_model, t.position AS turn,
       ({TURN_NUMBER}) AS turn_number, {MEMBERS} AS members, {PART_SQL} AS part
  FROM (SELECT DISTINCT item_id FROM chosen) AS l
{PLACES}
{PART_TABLE}
 WHERE {OF_PART}) AS p
"""  # noqa: S608  (own SQL)
"""Locations of labels' items, and their sort order: computed once per item, as many labels share it."""
LABEL_TABLES = """
JOIN unnest(
  %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[]
) WITH ORDINALITY AS asked(
  id, key, key_cell, scheme, scheme_cell, level, values_text, group_name, group_cell, n)
  ON asked.id = l.question_id
JOIN unnest(
  %s::bigint[], %s::text[], %s::text[], %s::text[], %s::boolean[], %s::text[], %s::text[]
) WITH ORDINALITY AS named(id, name, cell, kind, identified, address, revision, n) ON named.id = l.rater_id
LEFT JOIN annotation_campaign g ON g.id = l.campaign_id
ORDER BY l.place, asked.n, named.n, l.sample, l.id
"""
TEXT = Column(
    "text",
    """CASE WHEN lag(l.item_id) OVER (ORDER BY l.place, asked.n, named.n, l.sample, l.id)
         IS DISTINCT FROM l.item_id THEN (
  SELECT turn.text FROM annotation_item item JOIN annotation_turn turn ON turn.id = item.turn_id
   WHERE item.id = l.item_id) END""",
)


def labels(scope: Scope, export_part: ExportPart | None = None, *, with_text: bool = False) -> ExportQuery:
    """Return the live labels of a scope, one row per label, in an order that depends on the labels alone.

    Where the corpus is split, those of the selected part: dev by default. The scope determines whether they
    are about training (`scope_of` with the part). `with_text` adds the text of the rated turn to
    the first label of each item.

    Raters are named as in reports: where two share a name, their kind (and number) is added. Questions and
    raters are few, so their texts are sent along instead of being assembled row by row.
    """
    counted = census(scope)
    raters = sorted(counted.raters.values(), key=lambda info: info.name)
    questions = sorted(counted.questions.values(), key=lambda info: (info.scheme, info.position))
    label_sql, params = scope.labels().order_by().values(*LABEL_FIELDS).query.sql_with_params()
    question_columns = [
        [q.id for q in questions],
        [q.key for q in questions],
        [guarded(q.key) for q in questions],
        [q.scheme for q in questions],
        [guarded(q.scheme) for q in questions],
        [q.level for q in questions],
        [json.dumps(q.values, ensure_ascii=False) for q in questions],
        [q.group or None for q in questions],
        [guarded(q.group) if q.group else None for q in questions],
    ]
    rater_columns = [
        [r.id for r in raters],
        [r.name for r in raters],
        [guarded(r.name) for r in raters],
        [r.kind for r in raters],
        [r.identified for r in raters],
        [r.address or None for r in raters],
        [r.revision or None for r in raters],
    ]
    part = (export_part or taken_by_default(scope.corpus, training=scope.training)).params
    rest = f"""FROM (WITH chosen AS MATERIALIZED ({label_sql}), placed AS MATERIALIZED ({PLACED})
    SELECT * FROM chosen JOIN placed USING (item_id)) AS l {LABEL_TABLES}"""  # noqa: S608  (own SQL)
    columns = (*LABEL_COLUMNS, TEXT) if with_text else LABEL_COLUMNS
    return ExportQuery(columns, rest, (*params, *part, *question_columns, *rater_columns))


def labels_file(scope: Scope, export_part: ExportPart) -> ExportQuery:
    """Return the labels of a scope for a file; those of a campaign with a review queue with its design.

    `inclusion_probability` and `stratum` are empty for items that were not drawn.
    """
    query = labels(scope, export_part)
    if scope.campaign is None or scope.campaign.review_strata is None:
        return query
    place = f"y.campaign_id = {int(scope.campaign.pk)} AND y.item_id = l.item_id"
    cell = f"(SELECT {{}} FROM annotation_sampleditem y WHERE {place})"  # noqa: S608  (own SQL)
    probability = Column("inclusion_probability", cell.format("y.probability"), "number")
    return replace(query, columns=(*query.columns, probability, Column("stratum", cell.format("y.stratum"))))


MEDIA = {key: form.media for key, form in FORMATS.items()} | {
    "zip": "application/zip",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "html": "text/html; charset=utf-8",
}
"""Media type of each file format."""


@dataclass(frozen=True)
class Download:
    """A file that is ready for download. It is logged once it was sent completely.

    It is written completely before its first byte is sent: so its length, rows and hash are known and sent
    ahead, a failure while writing is an error instead of a truncated file, and a slow reader holds no
    database connection.
    """

    file: IO[bytes]
    summary: FileSummary
    form: str
    about: Mapping[str, Any]

    def __iter__(self) -> Iterator[bytes]:
        with self.file:
            yield from iter(lambda: self.file.read(BLOCK), b"")
            export = Export.objects.create(
                format=self.form, rows=self.summary.rows, sha256=self.summary.sha256, **self.about
            )
            detail = {"what": export.what, "part": export.part, "rows": export.rows, "format": export.format}
            detail |= {"exclude": export.excluded["exclude"]} if export.excluded else {}
            subject = f"export {export.pk} of {export.corpus.name}"[:300]
            Event.objects.create(by=export.created_by, verb="export", subject=subject, detail=detail)

    def close(self) -> None:
        """Release a file that was not sent completely."""
        self.file.close()

    def response(self, name: str = "") -> StreamingHttpResponse:
        """Return the HTTP response, saved by browsers as `name`; an interruption breaks the connection."""
        answer = StreamingHttpResponse(self, content_type=MEDIA[self.form])
        digest = base64.b64encode(bytes.fromhex(self.summary.sha256)).decode()
        answer["Content-Length"] = str(self.summary.size)
        answer["Content-Encoding"] = "identity"  # compression on the way would remove the length
        answer["Repr-Digest"] = f"sha-256=:{digest}:"
        answer["Concord-Rows"] = str(self.summary.rows)
        if name:
            extension = FORMATS[self.form].extension if self.form in FORMATS else self.form
            answer["Content-Disposition"] = f'attachment; filename="{name}.{extension}"'
        return answer


def stream(
    *,
    query: ExportQuery,
    form: str,
    corpus: Corpus,
    part: str = "",
    campaign: Campaign | None = None,
    gold: Gold | None = None,
    by: User | None,
) -> Download:
    """Write the rows of a query in a format, ready for download."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        summary = write(query, form, file)
        stack.pop_all()
    file.seek(0)
    kind = "gold" if gold else "labels"
    about = {
        "what": kind,
        "corpus": corpus,
        "part": part,
        "campaign": campaign,
        "gold": gold,
        "created_by": by,
    }
    return Download(file, summary, form, about)


def manifest(export: Export) -> dict[str, Any]:
    """Return the facts about a downloaded file: its format, rows and SHA-256, its content and date."""
    return {
        "what": export.what,
        "format": export.format,
        "rows": export.rows,
        "sha256": export.sha256,
        "corpus": export.corpus.name,
        "campaign": export.campaign.name if export.campaign else None,
        "gold": export.gold_id,
        **({"excluded": export.excluded} if export.excluded else {}),
        "created_at": export.created_at.isoformat(),
    }
