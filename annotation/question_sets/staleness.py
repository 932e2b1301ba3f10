"""Question sets whose uses are no longer what the rules would say now: marked, with the reason."""

from __future__ import annotations

from annotation.models import Corpus


def mark(corpus: Corpus, what: str) -> int:
    """Mark the sets of a corpus that were made by rules; return how many. `what` happened, as a clause.

    Sets that came with a file keep their keys, and so they do not become stale by facts or relations.
    """
    sets = corpus.question_sets.filter(imported=False)
    told = what[0].upper() + what[1:]
    free = sets.filter(used_at=None).update(stale=f"{told}: make the set anew.")
    used = sets.exclude(used_at=None)
    return free + used.update(stale=f"{told}. A simulation used this set, so it stays as it is.")
