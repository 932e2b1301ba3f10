"""Staging of imported labels in a temporary table, and the statements that place them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from psycopg import sql

from annotation.formats import Faults, ImportProblem, Rating, SourceRecord
from annotation.kinds import ANSWER, DECISION, kind_at
from annotation.models import Occasion
from annotation.models.turn_numbers import TURN_NUMBER
from annotation.records import HUMAN, Dialogue
from annotation.text.references import stored
from annotation.text.table_cells import looks_like_a_number, looks_like_nothing, number
from config.planner import analyse_tables

# The statements that place a file's labels. Tables named `import_...` live as long as the transaction.

# Statements, COPY into tables, ids reserved beforehand, and temporary tables.

Columns = Mapping[str, str]
"""Columns of a table, with their types in PostgreSQL."""


def execute(statement: str, values: Mapping[str, Any] | None = None) -> int:
    """Run a statement and return the number of affected rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def fetch(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """Run a query and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def copy_rows(table: str, columns: Columns, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into a table through COPY in binary form."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


def reserve_ids(table: str, count: int) -> list[int]:
    """Reserve `count` ids of a table that nobody else will get."""
    if not count:
        return []
    statement = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
    return [number for (number,) in fetch(statement, [table, count])]


def fresh_table(name: str, definition: str) -> None:
    """Create a temporary table for the transaction, replacing one of the same name."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP TABLE IF EXISTS pg_temp.{}").format(sql.Identifier(name)))
        cursor.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} {} ON COMMIT DROP").format(
                sql.Identifier(name),
                sql.SQL(definition),
            )
        )


def filled_table(name: str, columns: Columns, rows: Iterable[Sequence[Any]]) -> None:
    """Create a temporary table for the transaction with these rows."""
    fresh_table(name, f"({_definition(columns)})")
    copy_rows(name, columns, rows)
    analyse_tables(name)


def derived_table(name: str, definition: str, statement: str, values: Mapping[str, Any]) -> int:
    """Create a temporary table for the transaction, fill it by a statement, and return its number of rows."""
    fresh_table(name, definition)
    count = execute(statement, values)
    analyse_tables(name)
    return count


def _definition(columns: Columns) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())


KIND = f"""CASE WHEN l.record_kind IS NOT NULL THEN l.record_kind
  WHEN jsonb_array_length(l.members) = 2 THEN 'pair' WHEN l.members IS NOT NULL THEN 'ranking'
  WHEN l.position IS NULL THEN '{kind_at(None).key}'
  ELSE coalesce((SELECT s.kind FROM import_decided s
                  WHERE s.dialogue = l.dialogue AND s.continuation = l.continuation),
                '{kind_at(0).key}') END"""  # noqa: S608  (keys of ours)
"""Kind of item that a staged label `l` is about."""

DECIDED_COLUMNS = "(dialogue text, continuation text, kind text, PRIMARY KEY (dialogue, continuation))"
DECIDED = f"""
INSERT INTO import_decided
SELECT d.key, c.key, CASE WHEN d.scenario IS NULL THEN '{ANSWER.key}' ELSE '{DECISION.key}' END
  FROM annotation_dialogue d JOIN annotation_continuation c ON c.dialogue_id = d.id
 WHERE d.corpus_id = %(corpus)s AND (d.scenario IS NOT NULL OR d.script IS NOT NULL) AND c.mode = 'static'
"""  # noqa: S608  (keys of ours)
"""Fills the table of the continuations whose turns are decisions or answers."""

NUMBERED_COLUMNS = "(dialogue text, continuation text, position integer, given boolean, number integer)"
NUMBERED = f"""
INSERT INTO import_numbered
SELECT named.dialogue, named.continuation, t.position, t.given, {TURN_NUMBER}
  FROM (SELECT DISTINCT dialogue, continuation FROM import_label WHERE turn_number IS NOT NULL) AS named
  JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = named.dialogue
  JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = named.continuation
  JOIN annotation_turn t ON t.continuation_id = c.id
"""  # noqa: S608  (own SQL)
"""Fills the table of the turn numbers that annotators see, for the continuations that a file names."""

MISNUMBERED = """
SELECT l.n, l.line, l.dialogue, l.continuation, l.position, l.turn_number, found.positions,
       known.low, known.high
  FROM import_label l
  JOIN (SELECT dialogue, continuation, min(number) AS low, max(number) AS high
          FROM import_numbered GROUP BY dialogue, continuation) AS known USING (dialogue, continuation)
  LEFT JOIN (SELECT dialogue, continuation, number,
                    coalesce(array_agg(position) FILTER (WHERE NOT given), array_agg(position)) AS positions
               FROM import_numbered GROUP BY dialogue, continuation, number) AS found
    ON found.dialogue = l.dialogue AND found.continuation = l.continuation AND found.number = l.turn_number
 WHERE l.turn_number IS NOT NULL
   AND NOT coalesce(CASE WHEN l.position IS NULL THEN cardinality(found.positions) = 1
                         ELSE l.position = ANY(found.positions) END, false)
 ORDER BY l.n LIMIT 10000
"""
"""Labels whose `turn_number` names no turn, several, or a different one from `turn`."""

PLACE_NUMBERED = """
UPDATE import_label l SET position = t.position
  FROM import_numbered t
 WHERE l.position IS NULL AND l.turn_number = t.number
   AND t.dialogue = l.dialogue AND t.continuation = l.continuation
   AND (NOT t.given OR NOT EXISTS (
        SELECT 1 FROM import_numbered o
         WHERE o.dialogue = t.dialogue AND o.continuation = t.continuation AND o.number = t.number
           AND NOT o.given))
"""

COUNTS_FROM = """
SELECT min(l.line), bool_and(coalesce(NOT zero.given, false)), bool_and(coalesce(NOT one.given, false))
  FROM import_label l
  LEFT JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = l.dialogue
  LEFT JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = l.continuation
  LEFT JOIN annotation_turn zero ON zero.continuation_id = c.id AND zero.position = l.position
  LEFT JOIN annotation_turn one ON one.continuation_id = c.id AND one.position = l.position - 1
 WHERE l.counted
"""
"""Whether all turns that a file counts can be rated where it counts from 0, and where it counts from 1."""

UNPLACED = """
SELECT l.n, l.line, l.field, l.dialogue, l.continuation, l.position, l.record_kind, l.record_key, d.id, c.id,
       t.id
  FROM import_label l
  LEFT JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = l.dialogue
  LEFT JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = l.continuation
  LEFT JOIN annotation_turn t ON t.continuation_id = c.id AND t.position = l.position
  LEFT JOIN annotation_record r ON r.dialogue_id = d.id AND r.kind = l.record_kind AND r.key = l.record_key
 WHERE c.id IS NULL OR (l.record_kind IS NOT NULL AND r.id IS NULL)
    OR (l.position IS NOT NULL AND (t.id IS NULL OR t.given))
 ORDER BY l.n LIMIT 10000
"""

PLACED_COLUMNS = """(
  n bigint, line bigint, field text, item_id bigint, question_id bigint, rater integer, occasion text,
  sample integer, number float8, text text, missing text, explanation text, evidence jsonb,
  "values" jsonb, shown smallint[])
"""

# A label's statement about the members of a comparison, in its own order, is converted to the item's order.
OWN_WORDS = """CASE WHEN k.n IS NULL THEN l.text
            WHEN q.level = 'ranking' THEN concord_renumbered(l.text, k.own)
            WHEN q.level = 'nominal' AND q.values @> '["first", "second"]' AND k.own[1] > k.own[2]
              THEN CASE l.text WHEN 'first' THEN 'second' WHEN 'second' THEN 'first' ELSE l.text END
            ELSE l.text END"""
OWN_ORDER = """(SELECT array_agg(k.own[place::int + 1]::smallint ORDER BY at)
          FROM jsonb_array_elements_text(l.shown) WITH ORDINALITY AS seen (place, at))"""

PLACE = f"""
INSERT INTO import_placed
SELECT l.n, l.line, l.field, coalesce(k.item_id, about.id, one.id, whole.id), q.id, r.n, l.occasion, l.sample,
       CASE WHEN NOT q.words THEN coalesce(l.number, (q.numbers->>l.text)::float8) END,
       CASE WHEN q.words THEN {OWN_WORDS} END,
       l.missing, l.explanation, l.evidence, q.values, CASE WHEN k.n IS NOT NULL THEN {OWN_ORDER} END
  FROM import_label l
  JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = l.dialogue
  JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = l.continuation
  LEFT JOIN annotation_turn t ON t.continuation_id = c.id AND t.position = l.position
  LEFT JOIN import_compared k ON k.n = l.n
  LEFT JOIN annotation_record e ON e.dialogue_id = d.id AND e.kind = l.record_kind AND e.key = l.record_key
  LEFT JOIN annotation_item about ON about.record_id = e.id
  LEFT JOIN annotation_item one ON one.turn_id = t.id AND l.members IS NULL
  LEFT JOIN annotation_item whole ON whole.continuation_id = c.id
   AND whole.kind = '{kind_at(None).key}' AND l.position IS NULL
   AND l.members IS NULL AND l.record_kind IS NULL
  JOIN import_question q ON q.key = l.question AND q.scheme = l.scheme
   AND q.kind = {KIND}
  JOIN import_rater r ON r.kind = l.rater_kind AND r.name = l.rater_name
"""  # noqa: S608  (keys of ours)

BEYOND = """
SELECT l.line, l.field, e.n - 1, e.passage->>'continuation', (e.passage->>'turn')::int,
       (e.passage->>'end')::int, t.id IS NOT NULL, char_length(t.text)
  FROM import_label l
 CROSS JOIN LATERAL jsonb_array_elements(l.evidence) WITH ORDINALITY AS e(passage, n)
  JOIN annotation_dialogue d ON d.corpus_id = %(corpus)s AND d.key = l.dialogue
  LEFT JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key = e.passage->>'continuation'
  LEFT JOIN annotation_turn t ON t.continuation_id = c.id AND t.position = (e.passage->>'turn')::int
 WHERE l.evidence IS NOT NULL AND (t.id IS NULL OR (e.passage->>'end')::int > char_length(t.text))
 ORDER BY l.n, e.n LIMIT 10000
"""

OFF_SCALE = """
SELECT p.line, p.field, l.number, l.text, p.question_id
  FROM import_placed p
  JOIN import_label l ON l.n = p.n
  JOIN annotation_question q ON q.id = p.question_id
 WHERE p.missing = '' AND (
       (p.number IS NULL AND p.text IS NULL)
       OR (q.level = 'ranking' AND NOT concord_is_ranking(p.text, p.item_id))
       OR (jsonb_array_length(p.values) > 0
           AND NOT p.values @> coalesce(to_jsonb(p.number), to_jsonb(p.text)))
       OR p.number < q.minimum OR p.number > q.maximum OR (q.whole AND p.number <> trunc(p.number)))
 ORDER BY p.n LIMIT 10000
"""

JOIN_SPELLINGS = f"""
UPDATE import_label l SET text = s.joined
  FROM import_spelling s JOIN import_question q ON q.id = s.question
 WHERE l.text = s.spelling AND l.question = q.key AND l.scheme = q.scheme AND {KIND} = q.kind
"""  # noqa: S608  (keys of ours)

DOUBTFUL = f"""
SELECT l.line, l.field, l.text, l.doubt
  FROM import_label l
  LEFT JOIN import_question q ON q.key = l.question AND q.scheme = l.scheme AND q.kind = {KIND}
 WHERE l.doubt <> '' AND coalesce(q.level, '') <> 'text'
   AND NOT coalesce(q.values, '[]') @> to_jsonb(l.text)
   AND NOT (l.doubt = 'number' AND l.level IN ('nominal', 'text'))
 ORDER BY l.n LIMIT 10000
"""  # noqa: S608  (keys of ours)
"""Texts that are probably no answers: words for no answer, and misspelt numbers."""

OVER_TURNS = """
SELECT p.line, p.field, p.number, r.n
  FROM import_placed p
  JOIN annotation_question q ON q.id = p.question_id
  JOIN annotation_schemeversion v ON v.id = q.version_id
  JOIN annotation_scheme s ON s.id = v.scheme_id
  JOIN annotation_item i ON i.id = p.item_id
 CROSS JOIN LATERAL (SELECT count(*) AS n FROM annotation_turn t
                      WHERE t.continuation_id = i.continuation_id AND NOT t.given) AS r
 WHERE s.key = %(scheme)s AND p.number > r.n ORDER BY p.n LIMIT 10000
"""

LIVE = """
  FROM import_rater r, annotation_label b
  JOIN annotation_question bq ON bq.id = b.question_id
  JOIN annotation_schemeversion bv ON bv.id = bq.version_id,
       annotation_question q JOIN annotation_schemeversion v ON v.id = q.version_id
"""

SAME_PLACE = """
       r.n = p.rater AND q.id = p.question_id AND b.item_id = p.item_id AND b.sample = p.sample
   AND bq.key = q.key AND bv.scheme_id = v.scheme_id AND b.rater_id IN (r.rater_id, r.shared_id)
   AND b.superseded_at IS NULL
"""

DROP_UNCHANGED = f"""
DELETE FROM import_placed p WHERE EXISTS (
  SELECT 1 {LIVE}
   WHERE {SAME_PLACE} AND (p.occasion = '' OR b.occasion = p.occasion)
     AND b.number IS NOT DISTINCT FROM p.number AND b.text IS NOT DISTINCT FROM p.text
     AND (p.evidence IS NULL OR b.evidence IS NOT DISTINCT FROM p.evidence))
"""  # noqa: S608  (constants alone)

REPEATED = """
SELECT min(line), max(line), (array_agg(field ORDER BY n DESC))[1] FROM import_placed
 GROUP BY item_id, question_id, rater, CASE occasion WHEN '' THEN 'imported' ELSE occasion END, sample
HAVING count(*) > 1 ORDER BY max(n) LIMIT 10000
"""

CONFLICTS = f"""
SELECT p.line, p.field, r.name, coalesce(b.number::text, b.text), b.missing <> ''
  {LIVE}, import_placed p
 WHERE {SAME_PLACE} AND b.occasion = CASE p.occasion WHEN '' THEN 'imported' ELSE p.occasion END
 ORDER BY p.n LIMIT 10000
"""

INSERT = """
INSERT INTO annotation_label (item_id, question_id, rater_id, occasion, sample, number, text, missing,
                              explanation, evidence, imported_id, shown, created_at)
SELECT p.item_id, p.question_id, r.rater_id, CASE p.occasion WHEN '' THEN 'imported' ELSE p.occasion END,
       p.sample, p.number, p.text, p.missing, p.explanation, p.evidence, %(imported)s, p.shown, now()
  FROM import_placed p JOIN import_rater r ON r.n = p.rater ORDER BY p.n
"""


# Labels wait in a temporary table until all of a file is read: then they are placed as one set.

# Result of an import.

COUNTS = ("dialogues", "turns", "continuations", "items", "labels", "missing")


@dataclass(slots=True)
class ImportResult:
    """Counts of a file's additions; with `created` false, all of its content existed before.

    `turns` and `continuations` include the dialogues' own ones; `labels` includes the `missing` ones.
    `unchanged` counts labels of the file that existed before; `notes` describe decisions made on the way.
    `left_out` rows of the file did not fit, and are in `left_out_file`. `mapping` are the roles with which a
    table was read.
    """

    corpus: str
    dialogues: int = 0
    turns: int = 0
    continuations: int = 0
    items: int = 0
    labels: int = 0
    missing: int = 0
    created: bool = True
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)
    left_out: int = 0
    left_out_file: str = ""
    mapping: Mapping[str, Any] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Return only the counts."""
        return {name: getattr(self, name) for name in COUNTS}

    def as_dict(self) -> dict[str, str | int | bool]:
        """Return the data that `import_corpus` prints last."""
        return {"corpus": self.corpus, **self.counts(), "created": self.created}

    def as_answer(self) -> dict[str, Any]:
        """Return the API's response, also stored with an upload: with more than the counts."""
        names = ("unchanged", "left_out", "mapping", "notes")
        return {**self.as_dict(), **{name: getattr(self, name) for name in names}}

    @classmethod
    def repeated(cls, corpus: str, counts: Mapping[str, int]) -> ImportResult:
        """Return the result of a file imported before, with its first import's counts."""
        result = cls(corpus, created=False)
        for name in COUNTS:
            setattr(result, name, counts.get(name, 0))
        return result


NOTHING, NUMBER = "nothing", "number"
COLUMNS = {
    "line": "int8",
    "field": "text",
    "dialogue": "text",
    "continuation": "text",
    "position": "int4",
    "record_kind": "text",
    "record_key": "text",
    "question": "text",
    "scheme": "text",
    "occasion": "text",
    "rater_kind": "text",
    "rater_name": "text",
    "identified": "bool",
    "sample": "int4",
    "number": "float8",
    "text": "text",
    "doubt": "text",
    "missing": "text",
    "explanation": "text",
    "members": "jsonb",
    "shown": "jsonb",
    "evidence": "jsonb",
    "level": "text",
    "values": "jsonb",
    "group": "text",
    "anchors": "jsonb",
    "turn_number": "int4",
    "counted": "bool",
}


def open_staging() -> None:
    """Create the empty table `import_label`."""
    fresh_table("import_label", f"(n bigint GENERATED ALWAYS AS IDENTITY, {_definition(COLUMNS)})")


def stage(entries: Iterable[SourceRecord], faults: Faults) -> None:
    """Add the labels of a batch."""
    copy_rows("import_label", COLUMNS, _rows(entries, faults))


def close_staging() -> None:
    """Update the planner's statistics of the table."""
    analyse_tables("import_label")


def staged() -> tuple[int, int]:
    """Count the staged labels, and how many of them are missing answers."""
    ((labels, missing),) = fetch("SELECT count(*), count(*) FILTER (WHERE missing <> '') FROM import_label")
    return labels, missing


def _rows(entries: Iterable[SourceRecord], faults: Faults) -> Iterator[tuple[Any, ...]]:
    for entry in entries:
        for rating in _ratings(entry):
            if rating.label.occasion not in ("", *Occasion.values):
                problem = ImportProblem(
                    f"{rating.label.occasion!r} is not one of {', '.join(Occasion.values)}",
                    field=rating.field.removesuffix("value") + "occasion",
                    line=rating.label.line or entry.line,
                    file=entry.file,
                )
                faults.add(problem)
                continue
            yield (
                rating.label.line or entry.line,
                rating.field,
                rating.dialogue,
                *_columns(rating),
                rating.level,
                list(rating.values),
                rating.label.group,
                [list(anchor) for anchor in rating.label.anchors] or None,
                rating.turn_number,
                rating.counted,
            )


def _ratings(entry: SourceRecord) -> Iterator[Rating]:
    if isinstance(entry.record, Dialogue):
        for index, label in enumerate(entry.record.labels):
            own = f"labels[{index}].value" if entry.line else f"{label.question} of {entry.record.id}"
            own = label.question if label.line else own
            yield Rating(entry.record.id, label, label.level, label.values, field=own)
    else:
        yield entry.record


def _doubt(value: float | str | None) -> str:
    """Explain why a text may be no answer of its question: a word for no answer, or a misspelt number."""
    if not isinstance(value, str):
        return ""
    if looks_like_nothing(value):
        return NOTHING
    return NUMBER if looks_like_a_number(value) and number(value) is None else ""


def _columns(rating: Rating) -> tuple[Any, ...]:
    label = rating.label
    number = None if label.value is None or isinstance(label.value, str) else float(label.value)
    return (
        label.continuation,
        label.turn,
        *(label.record or (None, None)),
        label.question,
        label.scheme,
        label.occasion,
        label.kind or HUMAN,
        label.rater,
        label.identified,
        label.sample,
        number,
        label.value if isinstance(label.value, str) else rating.raw,
        _doubt(label.value),
        label.missing,
        label.explanation,
        [list(member) for member in label.members] or None,
        list(label.shown) or None,
        stored(label.evidence),
    )
