"""Scoring of dialogues in files, without a database: batches, progress, and output lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotation.formats import ImportProblem, Source, jsonl
from annotation.formats.fields import require
from annotation.formats.mpceval import TARGETS, dialogue, records
from annotation.records import SELF, Dialogue
from judges.metrics import METRICS
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.metric import InputRefused, Score
from judges.metrics.kit.tools import Scene, Tools
from judges.metrics.lexical import flag

# Scoring of many dialogues with several instruments: batches, progress, and output lines.

# Aggregation of turn values to dialogue and system values by the arithmetic mean.
#
# ComperDial: a dialogue's value is the mean over its turns, a system's the mean over all of its turns
# (footnotes 9 and 11), or over its conversations for a metric of whole conversations. Items without a value
# are left out; if no item has a value, neither has the mean. Categories have no mean and are left out.

EMPTY = "no item has a value"
FIELDS = ("dialogue", "continuation", "system", "turn", "metric", "variant")


class Averages:
    """Collects values and yields their means; memory grows with continuations and systems, not with turns."""

    def __init__(self) -> None:
        self._values: dict[tuple[Any, ...], list[float]] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a value, in the format that `score` writes."""
        if isinstance(line["value"], str):
            return
        metric = (line["metric"], line["variant"])
        if line["turn"] is not None:
            self._count(
                (line["dialogue"], line["continuation"], line["system"], None, *metric), line["value"]
            )
        self._count((None, None, line["system"], None, *metric), line["value"])

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the means in order of first appearance; those of systems have neither dialogue nor
        continuation."""
        for key, values in self._values.items():
            mean = math.fsum(values) / len(values) if values else None
            yield {
                **dict(zip(FIELDS, key, strict=True)),
                "value": mean,
                "reason": EMPTY if mean is None else None,
            }

    def _count(self, key: tuple[Any, ...], value: float | None) -> None:
        values = self._values.setdefault(key, [])
        if value is not None:
            values.append(value)


# Selection of metrics and continuations: groups of keys, and the scenes of a file.

ALL = "all"


def groups() -> list[str]:
    """Return the names of groups, `all` last. Metrics that need a hub model are in no group."""
    return [*dict.fromkeys(metric.group for metric in METRICS.values()), ALL]


def expand(keys: Iterable[str]) -> list[str]:
    """Replace groups by the keys of their metrics; return the distinct keys, in order."""
    group_names = groups()
    return list(
        dict.fromkeys(
            metric_key for key in keys for metric_key in (members(key) if key in group_names else [key])
        )
    )


def members(group: str) -> list[str]:
    """Return the keys of a group's metrics, in the order of the table."""
    ready = [metric for metric in METRICS.values() if "language_model" not in metric.needs]
    return [metric.key for metric in ready if group in (ALL, metric.group)]


def scenes(dialogues: Iterable[Dialogue], *, own: bool = False) -> Iterator[Scene]:
    """Yield each dialogue's continuations, and its own turns if there are no others or `own` is set."""
    for record in dialogues:
        for continuation in record.all_continuations():
            if continuation.id != SELF or own or not record.continuations:
                yield Scene(record, continuation)


# Reading of dialogues for the command `score`: MPCEval's own input format, and Concord's native JSONL.
#
# Records not in MPCEval's format (`annotation.formats.mpceval`) are read as native dialogues.

SUFFIXES = (".json", ".jsonl")


def files(path: Path) -> list[Path]:
    """Return the file itself, or a folder's .json and .jsonl files sorted by name."""
    if path.is_dir():
        parts = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        if not parts:
            raise InputRefused(f"{path}: the folder holds no .json or .jsonl file")
        return parts
    if not path.is_file():
        raise InputRefused(f"{path}: there is no such file")
    return [path]


def read(path: Path, target: str = "") -> Iterator[Dialogue]:
    """Yield the dialogues of a file or folder one by one; raise InputRefused with file, line and field."""
    for file in files(path):
        try:
            for line, _, content in records(Source(file), file):
                yield _dialogue(content, line, file, target)
        except ImportProblem as problem:
            raise InputRefused(str(problem.placed(file=file.name))) from None
        except OSError as error:
            raise InputRefused(f"{file}: {error.strerror or error}") from None


def count(path: Path) -> int:
    """Count the records (lines or documents) of a file or folder, for a progress bar."""
    total = 0
    for file in files(path):
        if file.suffix == ".json":
            total += 1
        else:
            with file.open("rb") as content:
                total += sum(1 for line in content if line.strip())
    return total


def _dialogue(content: Callable[[], Any], line: int | None, file: Path, target: str) -> Dialogue:
    try:
        raw = require(content(), dict)
        if record := dialogue(raw, file.stem, target):
            return record
        if target or "context" in raw:
            raise ImportProblem(f"has neither next_message nor {target or ' nor '.join(TARGETS)}")
        return jsonl.dialogue(raw)
    except ImportProblem as problem:
        raise problem.placed(line=line) from None


AT_ONCE = 32
"""Number of dialogues whose texts are embedded together, limited by memory."""

Line = dict[str, Any]


def lines(
    dialogues: Iterable[Dialogue],
    instruments: Sequence[Instrument],
    tools: Tools,
    *,
    own: bool = False,
    advance: Callable[[int], object] = lambda _: None,
) -> Iterator[Line]:
    """Yield a line for every value, dialogue by dialogue; `advance(1)` is called after each dialogue."""
    reader = iter(dialogues)
    while batch := list(islice(reader, AT_ONCE)):
        batch_scenes = [list(scenes([dialogue], own=own)) for dialogue in batch]
        texts = (
            instrument.texts(scene)
            for scene in chain.from_iterable(batch_scenes)
            for instrument in instruments
        )
        tools.embed.prepare(chain.from_iterable(texts))
        while batch_scenes:
            for scene in batch_scenes.pop(0):
                yield from _scored(scene, instruments, tools)
            advance(1)


def _scored(scene: Scene, instruments: Sequence[Instrument], tools: Tools) -> Iterator[Line]:
    for instrument in instruments:
        doubtful = flag(instrument, scene, tools.embed)
        for turn, score in instrument.scores(scene, tools):
            flags = "; ".join([*score.flags, *filter(None, [doubtful])])
            doubt = {"flag": flags} if flags else {}
            yield as_line(scene, turn, instrument, score) | doubt
            for key, answer in score.answers.items():
                yield (
                    as_line(scene, turn, instrument, answer)
                    | {"metric": f"{instrument.metric.key}/{key}"}
                    | doubt
                )


def as_line(scene: Scene, turn: int | None, instrument: Instrument, score: Score) -> Line:
    """Return a value in the format that `score` writes: `value` is None exactly when `reason` is not."""
    return {
        "dialogue": scene.dialogue.id,
        "continuation": scene.continuation.id,
        "system": scene.continuation.system,
        "turn": turn,
        "metric": instrument.metric.key,
        "variant": instrument.variant,
        "value": score.value,
        "reason": score.reason or None,
    }
