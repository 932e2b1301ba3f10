"""The settings that the conditions of a corpus's answers have, for whoever chooses what rows are by."""

from __future__ import annotations

from annotation.kinds.answer import ANSWER
from annotation.models import Continuation, Corpus
from calibration.answers.groups import FORMAT, K
from calibration.answers.rows import MEMORY, MODEL, NAMES, RETRIEVER, SET

FIRST = (MODEL, MEMORY, RETRIEVER, K, NAMES, FORMAT, SET)


def settings_of(corpus: Corpus) -> list[str]:
    """Return the names of the settings, what the paper varies first."""
    parts = Continuation.objects.filter(items__corpus=corpus, items__kind=ANSWER.key).distinct()
    named = {key for condition in parts.values_list("condition", flat=True) for key in condition or {}}
    return [*FIRST, *sorted(named.difference(FIRST))]
