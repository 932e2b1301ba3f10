"""The raters that a file names: those of the corpus, and accounts and machines of the same kind and name.

In a file that was exported here, people with accounts go by their pseudonyms and are found by these, too.

A file never adds labels in an account's or a machine's name: it only finds those labels again. New labels
are by raters of the corpus.
"""

from __future__ import annotations

from django.db import connection

from annotation.formats import Faults, ImportProblem
from annotation.importing.copying import copy_rows, fresh_table
from annotation.labels import pseudonyms, raters
from annotation.models import Corpus, Rater
from config.planner import tell_planner

NAMED = """
SELECT rater_kind, rater_name, bool_and(identified), bool_or(identified), min(line)
  FROM import_label GROUP BY 1, 2 ORDER BY 1, 2
"""
WANTED = """
SELECT DISTINCT r.n, r.kind, r.name, r.identified FROM import_rater r JOIN import_placed p ON p.rater = r.n
 WHERE r.rater_id IS NULL ORDER BY r.n
"""
COLUMNS = ("n", "kind", "name", "identified", "rater_id", "shared_id")
TYPES = ("int4", "text", "text", "bool", "int8", "int8")


def find_raters(corpus: Corpus, faults: Faults) -> None:
    """Fill the table `import_rater` with the file's raters and what is stored of them."""
    fresh_table(
        "import_rater",
        "(n integer, kind text, name text, identified boolean, rater_id bigint, shared_id bigint)",
    )
    with connection.cursor() as cursor:
        cursor.execute(NAMED)
        named = cursor.fetchall()
    stored = _stored(corpus, [name for _, name, *_ in named])
    rows = []
    for number, (kind, name, always, ever, line) in enumerate(named):
        mine = stored.get((corpus.pk, kind, name))
        if always != ever or (mine is not None and mine.identified != always):
            reason = f"{name!r} is identified in one place and not in another"
            faults.add(ImportProblem(reason, field="identified", line=line))
        shared = stored.get((None, kind, name))
        rows.append((number, kind, name, always, mine and mine.pk, shared and shared.pk))
    copy_rows("import_rater", COLUMNS, TYPES, rows)
    tell_planner("import_rater")


def _stored(corpus: Corpus, names: list[str]) -> dict[tuple[int | None, str, str], Rater]:
    mine = Rater.objects.filter(corpus=corpus, name__in=names)
    # A draft of a judge answers for itself alone, whatever a file's rater is called.
    shared = Rater.objects.filter(corpus=None, name__in=names).exclude(spec__has_key="draft")
    known = {(rater.corpus_id, rater.kind, rater.name): rater for rater in [*mine, *shared]}
    for name, rater in pseudonyms.known(names, corpus.pk).items():  # a file that this Concord wrote
        known.setdefault((None, rater.kind, name), rater)
    return known


def create_raters(corpus: Corpus) -> None:
    """Make the corpus's raters that labels still need."""
    with connection.cursor() as cursor:
        cursor.execute(WANTED)
        for number, kind, name, identified in cursor.fetchall():
            rater = raters.imported(corpus=corpus, kind=kind, name=name, identified=identified)
            cursor.execute("UPDATE import_rater SET rater_id = %s WHERE n = %s", [rater.pk, number])
