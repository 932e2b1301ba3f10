"""Writing a benchmark: its dialogues become a new corpus in one import, and its figures are counted."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.corpora.import_file import import_path
from annotation.corpora.rows import turn_record
from annotation.formats import ImportProblem
from annotation.models import Continuation, Corpus, Dialogue, Turn
from annotation.records import HUMAN, SELF
from annotation.records import Continuation as ContinuationRecord
from annotation.records import Dialogue as DialogueRecord
from judges.runs.material import dialogue_record
from systems.benchmarks import measuring
from systems.benchmarks.measuring import line
from systems.making.making import Made
from systems.models import Benchmark
from systems.producing.steps import Stuck

FORMAT, ENDING = "jsonl", "jsonl"


def write(benchmark: Benchmark, made: Made) -> None:
    """Make the corpus of a benchmark, in the current transaction; the caller saves the benchmark."""
    text = "".join(f"{line(dialogue)}\n" for dialogue in made.dialogues).encode()
    corpora = list(
        Corpus.objects.filter(pk__in=[one["corpus"] for one in benchmark.sources]).order_by("name")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"benchmark.{ENDING}"
        path.write_bytes(text)
        try:
            import_path(
                path=path,
                name=f"{benchmark.name}.{ENDING}",
                format=FORMAT,
                corpus=benchmark.name,
                into=False,
                by=benchmark.created_by,
                source=f"A benchmark made of {', '.join(benchmark.made_from)}",
                licence="; ".join(sorted({one.licence for one in corpora if one.licence}))[:200],
            )
        except ImportProblem as problem:
            raise Stuck(f"The corpus cannot be written: {problem}") from None
    benchmark.corpus = Corpus.objects.get(name=benchmark.name)
    benchmark.sha256 = hashlib.sha256(text).hexdigest()
    benchmark.figures = figures(made)
    benchmark.state, benchmark.step, benchmark.error = Benchmark.State.DONE, "", ""
    benchmark.finished_at = timezone.now()


def figures(made: Made) -> dict[str, Any]:
    """Return what the benchmark's page tells: by source and in all, what cleaning took away, and what was
    left out."""
    cleaned = [one for one in made.conversations if one.words]
    sources = sorted({one.source for one in cleaned})
    parts = Counter(str(dialogue.metadata["part"]) for dialogue in made.dialogues)
    return {
        "tokenizer": measuring.tokenizer(),
        "by_source": [
            {"source": source, **row} for source, row in measuring.by_source(made.dialogues).items()
        ],
        "cleaning": [
            {"source": source, **measuring.share_of(one.words for one in cleaned if one.source == source)}
            for source in sources
        ],
        "instances": len(made.dialogues),
        "evaluation": parts["evaluation"],
        "train": parts["train"],
        "clusters": len({dialogue.cluster for dialogue in made.dialogues}),
        "left_out": made.left_out,
    }


def export(corpus: Corpus) -> Iterator[str]:
    """Yield a benchmark's dialogues as JSON lines with people's continuations alone, in the order of ids: the
    bytes that it was written from."""
    rows = Dialogue.objects.filter(corpus=corpus).order_by("pk").values_list("key", "pk")
    ids = [pk for _, pk in sorted(rows)]
    for begin in range(0, len(ids), 100):
        found = Dialogue.objects.in_bulk(ids[begin : begin + 100])
        said = _said(list(found))
        for pk in ids[begin : begin + 100]:
            yield f"{line(_record(found[pk], said.get(pk, {})))}\n"


def _said(dialogues: list[int]) -> dict[int, dict[str, tuple[Any, ...]]]:
    """Return the turns of x and r by dialogue and continuation."""
    own = {row.pk: row for row in Continuation.objects.filter(dialogue__in=dialogues, key__in=[SELF, HUMAN])}
    found: dict[int, dict[str, tuple[Any, ...]]] = {}
    for turn in Turn.objects.filter(continuation__in=own).order_by("continuation_id", "position"):
        row = own[turn.continuation_id]
        told = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        by_key = found.setdefault(row.dialogue_id, {})
        by_key[row.key] = (*by_key.get(row.key, ()), told)
    return found


def _record(row: Dialogue, said: dict[str, tuple[Any, ...]]) -> DialogueRecord:
    people = (ContinuationRecord(HUMAN, HUMAN, said[HUMAN]),) if HUMAN in said else ()
    return dialogue_record(row, said.get(SELF, ()), people, HUMAN)
