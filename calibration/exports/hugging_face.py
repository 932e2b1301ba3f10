"""Hugging Face datasets: labels and dialogues by split, with a card that describes them."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from annotation.corpora.splits import of_dialogues, part_in
from annotation.models import Continuation, Dialogue, Label
from annotation.models.turn_numbers import of_continuations
from calibration.exports.labels import LABEL_COLUMNS, labels
from calibration.exports.package_contents import TOGETHER, Contents, Package
from calibration.exports.parts import ExportPart
from calibration.exports.writing import (
    ARROW,
    BLOCK,
    Blocks,
    Bundle,
    Part,
    parquet_blocks,
    plain,
    typed_columns,
)
from calibration.ratings.scope import Census, Scope, census
from jobs.fake_models import has_fake
from judges.runs.material import Material, load

# Labels and dialogues as a Hugging Face dataset: Parquet files and a card with loading instructions.
#
# Two configurations, `labels` (a row per label) and `dialogues` (a row per continuation, with its turns),
# each with the splits that may be exported: dev, test or both of a split corpus, `full` otherwise.

# The card of a dataset: front matter for programs, and text for people.

LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "gpl-2.0", "gpl-3.0", "lgpl-3.0"),
    *(
        "agpl-3.0",
        "bsd-2-clause",
        "bsd-3-clause",
        "odc-by",
        "odbl",
        "pddl",
        "openrail",
        "unlicense",
        "mpl-2.0",
    ),
)
"""Licences that the hub knows by these names."""
LANGUAGE = re.compile(r"[a-z]{2,3}")
MOST_SHOWN = 40
MEANINGS = {
    "item": "`dialogue/continuation/turn`, or `dialogue/continuation` for a whole continuation",
    "rater": "who answered",
    "value": "the answer as a text; empty where it is missing",
    "value_number": "the answer, where it is a number",
    "question": "what was asked",
    "scheme": "the scheme of the question, `key@version`",
    "sample": "which of a rater's repeated answers, from 0",
    "cluster": "what is resampled and split together",
    "kind": "`human`, `judge`, `metric` or `key`",
    "identified": "false for an anonymous slot: slot 1 of two items need not be one person",
    "endpoint": "the address of the server that a judge asked",
    "revision": "the revision of the model there, where it was named",
    "dialogue": "the dialogue's id",
    "continuation": "the continuation's id; `self` for the dialogue's own turns",
    "system": "what produced the continuation",
    "turn": "the turn's index within the continuation, from 0; empty for the whole",
    "turn_number": "the turn's number as annotators see it, from 1",
    "occasion": "when it was given",
    "campaign": "in which campaign",
    "missing": "why there is no answer",
    "explanation": "what the rater said about it",
    "evidence": "the turns, or the words (`start` to `end` in code points), it refers to, as JSON",
    "level": "the question's measurement level",
    "values": "the question's scale, as JSON",
    "group": "the group of yes/no questions it belongs to, as one tag of a set",
    "members": "of a comparison: what is compared, in the order in which `value` speaks of it, as JSON",
    "order": "of a comparison: the members' numbers in the order in which the rater saw them, as JSON",
    "part": "dev, test or training; evaluation, or empty, where the corpus is not split",
    "fake_model": "true: a fake model wrote the continuation, or embedded for it; empty of a comparison",
}
TURN = {
    "index": "int64",
    "number": "int64",
    "speaker": "string",
    "text": "string",
    "given": "bool",
    "at": "int64",
}
DIALOGUES = {
    "dialogue": "the dialogue's id",
    "continuation": "the continuation's id; `self` for the dialogue's own turns",
    "system": "what produced it",
    "mode": "`rollout` (goes on where the history ends) or `static` (each turn answers the first `at` turns)",
    "condition": "how it was produced, as JSON",
    "cluster": "what is resampled and split together",
    "part": "`training` or `evaluation` of a benchmark; empty where the dialogue is in neither",
    "language": "the dialogue's language",
    "summary": "the dialogue's summary",
    "metadata": "what else is known of the dialogue, as JSON",
    "participants": "id, name and role of each, as JSON",
    "fake_model": "true: a fake model wrote it, or embedded for it, for trying out",
    "trial": "the number of a repeated run, from 0",
    "turns": "the turns: index from 0, number as annotators see it, speaker, text, given (context), at",
}


@dataclass(frozen=True)
class Split:
    """A split: its name, and its files of labels and of dialogues."""

    name: str
    labels: Part
    dialogues: Part


def card(scope: Scope, splits: Sequence[Split], counted: Census) -> str:
    """Return the card as Markdown with its front matter."""
    front = _front(scope, splits)
    return "\n".join(
        ["---", *(f"{key}: {_yaml_value(value)}" for key, value in front.items()), "---", ""]
    ) + _body(scope, splits, counted)


def _front(scope: Scope, splits: Sequence[Split]) -> dict[str, Any]:
    """Return the front matter; JSON is YAML, so every text is quoted safely."""
    corpus = scope.corpus
    licence = corpus.licence.strip().lower().replace(" ", "-")
    licence = licence.removesuffix("-or-later").removesuffix("-only")  # the hub does not distinguish these
    metadata: dict[str, Any] = {"pretty_name": scope.name}
    if licence in LICENCES:
        metadata["license"] = licence
    elif licence:
        metadata |= {
            "license": "other",
            "license_name": re.sub(r"[^a-z0-9.]+", "-", licence).strip("-") or "other",
        }
    else:
        metadata["license"] = "unknown"
    spellings = (
        Dialogue.objects.filter(corpus=corpus).order_by().values_list("language", flat=True).distinct()
    )
    languages = sorted({text.lower().partition("-")[0] for text in spellings})
    if spoken := [text for text in languages if LANGUAGE.fullmatch(text)]:
        metadata["language"] = spoken
    metadata["tags"] = ["dialogue", "evaluation", "annotations", "llm-as-a-judge"]
    files = {"labels": {s.name: s.labels for s in splits}, "dialogues": {s.name: s.dialogues for s in splits}}
    features = {"labels": _label_features(), "dialogues": _dialogue_features()}
    metadata["configs"] = [
        {
            "config_name": name,
            **({"default": True} if name == "labels" else {}),
            "data_files": [{"split": split, "path": part.name} for split, part in parts.items()],
        }
        for name, parts in files.items()
    ]
    metadata["dataset_info"] = [
        {
            "config_name": name,
            "features": features[name],
            "splits": [
                {"name": split, "num_bytes": part.bytes, "num_examples": part.rows}
                for split, part in parts.items()
            ],
            "download_size": sum(part.bytes for part in parts.values()),
        }
        for name, parts in files.items()
    ]
    return metadata


def _label_features() -> list[dict[str, str]]:
    return [
        {"name": column.name, "dtype": ARROW.get(column.kind, "string")}
        for column in typed_columns(LABEL_COLUMNS)
    ]


def _dialogue_features() -> list[dict[str, Any]]:
    turns = [{"name": name, "dtype": kind} for name, kind in TURN.items()]
    special: dict[str, Any] = {
        "fake_model": {"dtype": "bool"},
        "trial": {"dtype": "int64"},
        "turns": {"list": turns},
    }
    return [{"name": name, **special.get(name, {"dtype": "string"})} for name in DIALOGUES]


def _body(scope: Scope, splits: Sequence[Split], counted: Census) -> str:
    corpus = scope.corpus
    lines = [
        f"# {plain(scope.name)}",
        "",
        "Ratings of dialogues by people, LLM judges and metrics, exported from Concord.",
        "",
        f"* **Source:** {plain(corpus.source) or 'not told'}",
        f"* **Licence:** {plain(corpus.licence) or 'not told'}",
    ]
    if splits[0].name == "test":
        lines.append("* Only the test part of the split is here.")
    elif len(splits) == 1 and splits[0].name == "dev":
        lines.append("* Only the dev part of the split is here; test is locked.")
    lines += ["", "```python", "from datasets import load_dataset", ""]
    lines += ['labels = load_dataset("path/to/this/folder", "labels")', "```", "", "## Files", ""]
    lines += ["| file | rows | SHA-256 |", "|---|---:|---|"]
    for part in (part for split in splits for part in (split.labels, split.dialogues)):
        lines.append(f"| `{part.name}` | {part.rows:,} | `{part.sha256}` |")
    lines += ["", *_raters(counted), "", *_questions(counted)]
    lines += [
        "",
        "## Columns of `labels`",
        "",
        *_columns({c.name: MEANINGS[c.name] for c in typed_columns(LABEL_COLUMNS)}),
    ]
    lines += ["", "## Columns of `dialogues`", "", *_columns(DIALOGUES)]
    return "\n".join(lines) + "\n"


def _raters(counted: Census) -> list[str]:
    kinds = Counter(rater.kind for rater in counted.raters.values())
    anonymous = sum(not rater.identified for rater in counted.raters.values())
    lines = ["## Raters", "", "| kind | raters |", "|---|---:|"]
    lines += [f"| {kind} | {count:,} |" for kind, count in sorted(kinds.items())]
    if anonymous:
        lines += [
            "",
            f"{anonymous} are anonymous slots: statistics that need to know who answered do not apply.",
        ]
    return lines


def _questions(counted: Census) -> list[str]:
    questions = list(counted.questions.values())
    lines = ["## Questions", "", "| question | level | values | wording |", "|---|---|---|---|"]
    for question in questions[:MOST_SHOWN]:
        scale = ", ".join(f"{value}" for value in question.values)
        cells = (question.ref, question.level, scale or "any", question.wording)
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    if len(questions) > MOST_SHOWN:
        lines += ["", f"and {len(questions) - MOST_SHOWN} more."]
    return lines


def _columns(meanings: dict[str, str]) -> list[str]:
    return ["| column | holds |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in meanings.items())]


def _yaml_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FULL = "full"
"""Name of the only split of a corpus without a split."""


def write(contents: Contents, bundle: Bundle) -> int:
    """Add the Parquet files of each split, and the card; return the number of labels."""
    splits: list[Split] = []
    for export_part in _each(contents.export_part):
        name = export_part.part or FULL
        rated = bundle.add(f"data/labels/{name}.parquet", parquet_blocks(labels(contents.scope, export_part)))
        dialogues = bundle.add(f"data/dialogues/{name}.parquet", _dialogues(contents, export_part))
        splits.append(Split(name, rated, dialogues))
    total = sum(split.labels.rows for split in splits)
    if not total:
        raise contents.refused("there are no labels to export")
    bundle.add("README.md", [card(contents.scope, splits, census(contents.scope)).encode()])
    return total


def _each(export_part: ExportPart) -> list[ExportPart]:
    """Return the selected parts, with dev and test separate."""
    if export_part.part == "all":
        return [replace(export_part, part="dev"), replace(export_part, part="test")]
    return [export_part]


def _continuations(contents: Contents, export_part: ExportPart) -> QuerySet[Continuation]:
    """Return the continuations of a part: of a campaign those with labels."""
    scope = contents.scope
    continuations = Continuation.objects.written().filter(
        of_dialogues(scope.part, "dialogue__"), scope.of_continuations(), dialogue__corpus=scope.corpus
    )
    if scope.campaign is not None:
        rated = Label.objects.filter(pk__in=scope.labels().order_by().values("pk"))
        continuations = continuations.filter(pk__in=rated.values("item__continuation"))
    if export_part.clusters is not None:
        continuations = continuations.filter(dialogue__cluster__in=export_part.clusters)
    return continuations.order_by("dialogue__key", "key")


def _dialogues(contents: Contents, export_part: ExportPart) -> Blocks:
    """Yield a Parquet file of continuations with their turns; its value is the number of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    turn = pa.struct([(name, pa.type_for_alias(kind)) for name, kind in TURN.items()])
    types = {"fake_model": pa.bool_(), "trial": pa.int64(), "turns": pa.list_(turn)}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in DIALOGUES])
    ids = list(_continuations(contents, export_part).values_list("pk", flat=True))
    with tempfile.TemporaryFile() as file:
        with pq.ParquetWriter(file, schema) as writer:
            for start in range(0, len(ids), TOGETHER):
                together = ids[start : start + TOGETHER]
                materials = load(together)
                numbers = of_continuations(together)
                rows = [_row(materials[pk], numbers[pk]) for pk in together if pk in materials]
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


HUGGING_FACE = Package(
    key="hugging-face",
    title="Hugging Face dataset",
    hint="A folder of Parquet files, labels and dialogues by split, with a dataset card.",
    write=write,
)
