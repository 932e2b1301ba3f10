"""Keeping worked examples out of test: those of a file, and those picked before a split was drawn, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.corpora import splits
from annotation.models import Corpus, Dialogue
from judges.errors import JudgeError
from judges.protocols import Wording
from judges.protocols.examples import dialogue_of


def refuse_test_items(wording: Wording) -> None:
    """Raise JudgeError where an example is of the test part of its corpus, as the corpus stands now.

    What cluster an example is of is looked up where its dialogue is here: files say what they like.
    """
    by_corpus: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for example in wording.examples:
        by_corpus[example["corpus"]].append(example)
    for corpus in Corpus.objects.filter(name__in=list(by_corpus)):
        lock = splits.lock_of(corpus)
        if lock is None:
            continue
        examples = by_corpus[corpus.name]
        tested = splits.clusters(split=lock, part="test") & _clusters(corpus, examples).keys()
        if tested:
            key = _clusters(corpus, examples)[min(tested)]
            raise JudgeError(
                f"The worked example {key} is in the test part of {corpus.name}: examples come from dev "
                "alone. Pick them anew, or leave them out."
            )


def _clusters(corpus: Corpus, examples: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the clusters that examples say they are of, and those they are of, each with a key."""
    keys = {example["key"]: dialogue_of(example) for example in examples}
    rows = Dialogue.objects.filter(corpus=corpus, key__in=list(keys.values()))
    known = dict(rows.values_list("key", "cluster"))
    told = {example["cluster"]: example["key"] for example in examples}
    return told | {known[dialogue]: key for key, dialogue in keys.items() if dialogue in known}
