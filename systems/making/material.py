"""The source conversations of a benchmark, as the corpora have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from annotation import records
from annotation.models import Corpus, Dialogue
from systems.benchmarks.assembling import Cleaned, told
from systems.benchmarks.choosing import Offer
from systems.benchmarks.measuring import removed
from systems.benchmarks.showing import spoken
from systems.errors import SystemsError
from systems.models import Benchmark
from systems.producing.dialogues import Dialogues, of_rows

Key = tuple[str, str]
"""Source and id of a conversation."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a source: where it is, and how many turns with text it has, raw and cleaned."""

    corpus: int
    dialogue: int
    source: str
    key: str
    cluster: str
    raw: int
    turns: int
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def offer(self) -> Offer:
        """What may be cut of it."""
        return Offer(self.source, self.key, self.cluster, self.turns)


def corpora_of(benchmark: Benchmark) -> dict[int, tuple[Corpus, str]]:
    """Return the source corpora by id, each with what its source is called; raise SystemsError where one is
    gone."""
    ids = [one["corpus"] for one in benchmark.sources]
    found = Corpus.objects.in_bulk(ids)
    if gone := [name for pk, name in zip(ids, benchmark.made_from, strict=True) if pk not in found]:
        raise SystemsError(f"The corpus {gone[0]!r} was deleted; a benchmark cannot be made of it any more.")
    return {one["corpus"]: (found[one["corpus"]], one["name"]) for one in benchmark.sources}


def conversations(
    corpora: Mapping[int, tuple[Corpus, str]], cleaned: Mapping[int, Cleaned]
) -> list[Conversation]:
    """Return all conversations of some corpora, in the order of their sources and ids; `cleaned` by dialogue.

    Where corpora have clusters of the same name under different sources, the source's name is put before it.
    Raises SystemsError where two have the same source and id.
    """
    found: dict[Key, Conversation] = {}
    for pk, (corpus, name) in corpora.items():
        for row, record in Dialogues(corpus).read():
            one = _conversation(pk, row, record, name, cleaned.get(row.pk))
            if (one.source, one.key) in found:
                raise SystemsError(
                    f"The source {one.source!r} has the conversation {one.key[:80]!r} twice: give the "
                    "corpora sources of different names."
                )
            found[one.source, one.key] = one
    return [found[key] for key in sorted(found)]


def _conversation(
    corpus: int, row: Dialogue, record: records.Dialogue, name: str, cleaned: Cleaned | None
) -> Conversation:
    source = record.metadata.get("source")
    named = source.strip() if isinstance(source, str) and source.strip() else name
    before = [turn for turn in record.turns if spoken(turn)]
    after = told(record, cleaned)
    words = removed(before, after) if cleaned is not None else {}
    return Conversation(
        corpus,
        row.pk,
        named,
        record.id,
        record.cluster or record.id,
        len(before),
        len(after),
        {name: words[name] for name in ("words_before", "words_after") if name in words},
    )


def clusters(found: Collection[Conversation]) -> dict[Key, str]:
    """Return the cluster of each conversation in the benchmark: its own, with the source's name before it
    where another source has one of that name."""
    sources: dict[str, set[str]] = {}
    for one in found:
        sources.setdefault(one.cluster, set()).add(one.source)
    return {
        (one.source, one.key): f"{one.source}-{one.cluster}" if len(sources[one.cluster]) > 1 else one.cluster
        for one in found
    }


def read(dialogues: Collection[int]) -> Iterator[tuple[Dialogue, records.Dialogue]]:
    """Yield some dialogues with their records, in the order of their ids, a hundred at a time."""
    ids = sorted(dialogues)
    for begin in range(0, len(ids), 100):
        rows = list(Dialogue.objects.filter(pk__in=ids[begin : begin + 100]).order_by("pk"))
        made = of_rows(rows)
        yield from ((row, made[row.pk]) for row in rows)
