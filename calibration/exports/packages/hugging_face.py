"""Labels and dialogues as a Hugging Face dataset: Parquet files and a card that says how to load them.

Two configurations, `labels` (a row a label) and `dialogues` (a row a continuation, with its turns), each with
the splits that may be taken out: dev, test or both of a corpus that is split, `full` of one that is not.
"""

from __future__ import annotations

import json
import tempfile
from typing import Any

from django.db.models import QuerySet

from annotation.corpora.parts import of_dialogues, part_in
from annotation.models import Continuation, Label, SplitCluster
from annotation.models.turn_numbers import of_continuations
from calibration.exports.bundle import Bundle
from calibration.exports.labels import labels
from calibration.exports.packages.base import TOGETHER, Contents, Package
from calibration.exports.packages.hugging_face_card import Split, card
from calibration.exports.parts import Taken
from calibration.exports.writing import BLOCK, Blocks, parquet_blocks
from calibration.reading.census import census
from jobs.fake_models import has_fake
from judges.material.loading import Material, load

FULL = "full"
"""What the only split of a corpus is called that is not split."""


def write(contents: Contents, bundle: Bundle) -> int:
    """Add the Parquet files of each split, and the card; return how many labels there are."""
    splits: list[Split] = []
    for taken in _each(contents.taken):
        name = taken.part or FULL
        rated = bundle.add(f"data/labels/{name}.parquet", parquet_blocks(labels(contents.scope, taken)))
        shown = bundle.add(f"data/dialogues/{name}.parquet", _dialogues(contents, taken))
        splits.append(Split(name, rated, shown))
    total = sum(split.labels.rows for split in splits)
    if not total:
        raise contents.refused("there are no labels to export")
    bundle.add("README.md", [card(contents.scope, splits, census(contents.scope)).encode()])
    return total


def _each(taken: Taken) -> list[Taken]:
    """Return what is taken, dev and test each by itself."""
    if taken.part == "all":
        return [Taken(taken.split, "dev"), Taken(taken.split, "test")]
    return [taken]


def _continuations(contents: Contents, taken: Taken) -> QuerySet[Continuation]:
    """Return the continuations of a part: of a campaign those that labels are about."""
    scope = contents.scope
    found = Continuation.objects.filter(of_dialogues(scope.part, "dialogue__"), dialogue__corpus=scope.corpus)
    if scope.campaign is not None:
        rated = Label.objects.filter(pk__in=scope.labels().order_by().values("pk"))
        found = found.filter(pk__in=rated.values("item__continuation"))
    if taken.split is not None and taken.part != "all":
        mine = SplitCluster.objects.filter(split=taken.split, part=taken.part)
        found = found.filter(dialogue__cluster__in=mine.values("cluster"))
    return found.order_by("dialogue__key", "key")


def _dialogues(contents: Contents, taken: Taken) -> Blocks:
    """Yield a Parquet file of continuations with their turns; its value is the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    turn = pa.struct(
        [
            ("index", pa.int64()),
            ("number", pa.int64()),
            ("speaker", pa.string()),
            ("text", pa.string()),
            ("given", pa.bool_()),
            ("at", pa.int64()),
        ]
    )
    texts = ("dialogue", "continuation", "system", "mode", "condition", "cluster", "part", "language")
    fields = [(name, pa.string()) for name in (*texts, "summary", "metadata", "participants")]
    schema = pa.schema(
        [*fields, ("fake_model", pa.bool_()), ("trial", pa.int64()), ("turns", pa.list_(turn))]
    )
    ids = list(_continuations(contents, taken).values_list("pk", flat=True))
    with tempfile.TemporaryFile() as file:
        with pq.ParquetWriter(file, schema) as writer:
            for start in range(0, len(ids), TOGETHER):
                together = ids[start : start + TOGETHER]
                found = load(together)
                numbers = of_continuations(together)
                rows = [_row(found[pk], numbers[pk]) for pk in together if pk in found]
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
        file.seek(0)
        yield from iter(lambda: file.read(BLOCK), b"")
    return len(ids)


def _row(material: Material, numbers: list[int]) -> dict[str, Any]:
    dialogue, part = material.dialogue, material.continuation
    return {
        "dialogue": dialogue.id,
        "continuation": part.id,
        "system": part.system,
        "mode": part.mode,
        "condition": _json(dict(part.condition)),
        "cluster": dialogue.cluster,
        "part": part_in(dialogue.metadata),
        "language": dialogue.language,
        "summary": dialogue.summary,
        "metadata": _json(dict(dialogue.metadata)),
        "participants": _json([{"id": p.id, "name": p.name, "role": p.role} for p in dialogue.participants]),
        "fake_model": has_fake(part.condition),
        "trial": part.trial,
        "turns": [
            {
                "index": index,
                "number": numbers[index],
                "speaker": turn.speaker,
                "text": turn.text,
                "given": turn.given,
                "at": turn.at,
            }
            for index, turn in enumerate(part.turns)
        ],
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


PACKAGE = Package(
    key="hugging-face",
    title="Hugging Face dataset",
    hint="A folder of Parquet files, labels and dialogues by split, with a dataset card.",
    write=write,
)
