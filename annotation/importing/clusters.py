"""Dialogues that share material are in one part: no cluster is divided between training and the rest."""

from __future__ import annotations

from django.db import connection

from annotation.formats import Faults, ImportProblem
from annotation.formats.problems import MOST
from annotation.models import Import

TOLD = 3
"""Dialogues of each side that a problem names."""
DIVIDED = """
SELECT cluster, array_agg(key ORDER BY id) FILTER (WHERE part = 'training'),
       array_agg(key ORDER BY id) FILTER (WHERE part <> 'training')
  FROM annotation_dialogue
 WHERE corpus_id = %(corpus)s AND cluster IN
       (SELECT cluster FROM annotation_dialogue WHERE corpus_id = %(corpus)s AND part = 'training')
 GROUP BY cluster HAVING bool_or(part <> 'training') AND bool_or(imported_id = %(imported)s)
 ORDER BY min(id) LIMIT %(most)s
"""
"""Clusters of the corpus with dialogues in training and outside it, one of them of this import."""


def refuse_divided(imported: Import, faults: Faults) -> None:
    """Note each cluster that an import has divided between training and what judges are measured on."""
    values = {"corpus": imported.corpus_id, "imported": imported.pk, "most": MOST}
    with connection.cursor() as cursor:
        cursor.execute(DIVIDED, values)
        rows = cursor.fetchall()
    for cluster, training, rest in rows:
        faults.add(
            ImportProblem(
                f"the cluster {cluster!r} has dialogues in training ({_listed(training)}) and outside it "
                f"({_listed(rest)}), so what is fitted on it would be tested on the same material: give its "
                "dialogues one `part` in their metadata, or those that share none a `cluster` of their own",
                field="cluster",
            )
        )


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - TOLD:,} more" if len(keys) > TOLD else ""
    return f"{', '.join(map(repr, keys[:TOLD]))}{more}"
