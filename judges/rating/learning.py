"""What a metric that is fitted learns from: the corpus that it scores, its dev part, or another corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation import records
from annotation.corpora.parts import TRAINING
from annotation.models import Corpus, Split
from judges.errors import JudgeError
from judges.material.loading import contents, whole_corpus
from judges.metrics import Content, Instrument
from judges.metrics.kit.base import DEV, LEARN_FROM
from judges.rating.lookup import corpus_named, split_for


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus without its training dialogues, the dev part of its split, or its training dialogues alone."""

    corpus: int
    dev_of: Split | None = None
    part: str = ""

    def contents(self) -> Iterator[Content]:
        """Yield what its hash is made of."""
        return contents(self.corpus, self.dev_of, self.part)

    def dialogues(self) -> Iterator[records.Dialogue]:
        """Yield its dialogues."""
        return whole_corpus(self.corpus, self.dev_of, self.part)


def source_of(instrument: Instrument, corpus: Corpus) -> Source:
    """Return what an instrument learns from; raise JudgeError where there is no such thing."""
    named = str(instrument.settings.values.get(LEARN_FROM, ""))
    if not named:
        return Source(corpus.pk)
    if named == DEV:
        return Source(corpus.pk, split_for(corpus, DEV))
    if named == TRAINING:
        return Source(corpus.pk, split_for(corpus, TRAINING), TRAINING)
    try:
        return Source(corpus_named(named).pk)
    except JudgeError:
        raise JudgeError(
            f"{instrument.metric.key} learns from dev, training or a corpus; there is no corpus {named!r}."
        ) from None
