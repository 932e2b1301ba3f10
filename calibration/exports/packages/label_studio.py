"""Labels as a Label Studio project: tasks with people's annotations and machines' predictions, and its setup.

A task is a continuation with its history as a list of messages. What people and answer keys said is an
annotation each, what judges and metrics said a prediction; answers about a turn belong to its message's
region. What Label Studio has no place for (missing answers with reasons, evidence, samples, kinds) stands in
`concord`, which `annotation.formats.label_studio` reads back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import orjson

from annotation.formats import manifest
from annotation.formats.label_studio_results import REGION
from annotation.formats.source import MAX_DOCUMENT
from annotation.importing.rows import agenda_json, participants_json
from annotation.records import SELF, Dialogue, Turn
from annotation.scenarios.stored import native_scenario
from annotation.text.blinding import Blind
from annotation.text.happenings import Names
from calibration.exports.bundle import Bundle
from calibration.exports.packages.base import Contents, Package, Row, by_continuation
from calibration.exports.packages.label_studio_config import (
    DIALOGUE,
    Control,
    configuration,
    controls_of,
)
from calibration.reading.census import census
from judges.material.loading import Material

LARGEST = MAX_DOCUMENT * 3 // 4
"""Bytes of one file of tasks: an import reads a document of MAX_DOCUMENT."""
PEOPLE = ("human", "key")
README = """Label Studio project: {name}

1. Make a project; under Settings, Labeling Interface, Code, paste config.xml.
2. Import the files of tasks. Label Studio knows annotators by e-mail address. It refuses unknown ones unless
   it runs with ALLOW_IMPORT_TASKS_WITH_UNKNOWN_EMAILS=true; then they are all the person who imports.

Annotations are people (and answer keys, as ground truth), predictions are judges and metrics.
Concord reads the files of tasks back: import_corpus tasks.json --format label-studio

What answers point at (evidence) and missing answers with their reasons stand in fields called `concord`.
Label Studio does not show them and drops them when it imports.
"""


def write(contents: Contents, bundle: Bundle) -> int:
    """Add the files of tasks, the labelling configuration and a note; return how many labels there are."""
    controls = controls_of(census(contents.scope).questions.values())
    total, number = 0, 0
    tasks = _Tasks(controls).of(by_continuation(contents))
    for number, group in enumerate(_files(tasks), start=1):
        name = "tasks.json" if number == 1 else f"tasks-{number}.json"
        part = bundle.add(name, _listed(text for text, _ in group), rows=sum(rows for _, rows in group))
        total += part.rows
        promise = {"rows": part.rows, "format": "label-studio", "sha256": part.sha256}
        bundle.add_json(manifest.beside(name).name, promise)
    if not number:
        raise contents.refused("there are no labels to export")
    bundle.add("config.xml", [configuration(controls)])
    bundle.add("README.txt", [README.format(name=contents.scope.name).encode()])
    return total


Written = tuple[bytes, int]
"""A task as JSON, and its number of labels."""


def _files(tasks: Iterator[Written]) -> Iterator[list[Written]]:
    """Yield the tasks of each file: as many as an import reads at once."""
    group: list[Written] = []
    size = 0
    for task in tasks:
        if group and size + len(task[0]) > LARGEST:
            yield group
            group, size = [], 0
        group.append(task)
        size += len(task[0]) + 2
    if group:
        yield group


def _listed(texts: Iterable[bytes]) -> Iterator[bytes]:
    start = b"[\n"
    for text in texts:
        yield start + text
        start = b",\n"
    yield b"\n]\n"


class _Tasks:
    """Writes tasks, numbered from 1; raters get their numbers as they come."""

    def __init__(self, controls: list[Control]) -> None:
        self.controls = {(c.scheme, question.key): c for c in controls for question in c.questions}
        self.raters: dict[str, int] = {}

    def of(self, found: Iterator[tuple[Material, list[Row]]]) -> Iterator[Written]:
        for number, (material, rows) in enumerate(found, start=1):
            yield orjson.dumps(self._task(number, material, rows)), len(rows)

    def _task(self, number: int, material: Material, rows: list[Row]) -> dict[str, Any]:
        messages = _messages(material)
        history = len(messages) - len(material.continuation.turns)
        voices = sorted(rows, key=_voice)  # stable: answers stay in their order
        annotations: list[dict[str, Any]] = []
        predictions: list[dict[str, Any]] = []
        for key, group in groupby(voices, key=_voice):
            voice = _Voice(self.controls, messages, history, list(group))
            if key[1] in PEOPLE:
                annotations.append(self._annotation(len(annotations) + 1, key[0], voice))
            else:
                predictions.append(_prediction(key[0], voice))
        return {
            "id": number,
            "annotations": annotations,
            "predictions": predictions,
            "data": {
                "item": f"{material.dialogue.id}/{material.continuation.id}",
                "messages": messages,
                "concord": {
                    "dialogue": _dialogue(material.dialogue),
                    "continuation": _continuation(material),
                    "history": history,
                    "controls": self._asked(rows),
                },
            },
        }

    def _asked(self, rows: list[Row]) -> dict[str, Any]:
        used = {self.controls[row["scheme"], row["question"]].name for row in rows}
        return {c.name: c.told() for c in self.controls.values() if c.name in used}

    def _annotation(self, number: int, rater: str, voice: _Voice) -> dict[str, Any]:
        mail = self.raters.setdefault(rater, len(self.raters) + 1)
        return {
            "id": number,
            "completed_by": {"email": f"rater-{mail}@concord.invalid", "first_name": rater, "last_name": ""},
            "was_cancelled": False,
            "ground_truth": voice.first["kind"] == "key",
            "result": voice.result,
            "concord": voice.told,
        }


def _voice(row: Row) -> tuple[Any, ...]:
    """Return what an annotation or prediction holds together: one rater's answers on one occasion."""
    return (row["rater"], row["kind"], row["sample"], row["occasion"], row["campaign"] or "")


def _prediction(rater: str, voice: _Voice) -> dict[str, Any]:
    """Return a prediction; of a metric with one value of the whole, that is its score."""
    sample = voice.first["sample"]
    made: dict[str, Any] = {"model_version": f"{rater} (sample {sample})" if sample else rater}
    values = [row["value"] for row in voice.rows]
    if voice.first["kind"] == "metric" and len(values) == 1 and isinstance(values[0], int | float):
        made["score"] = float(values[0])
    return made | {"result": voice.result, "concord": voice.told}


class _Voice:
    """One rater's answers about a continuation, as results, and what results cannot say."""

    def __init__(
        self,
        controls: Mapping[tuple[str, str], Control],
        messages: list[dict[str, Any]],
        history: int,
        rows: list[Row],
    ) -> None:
        self.rows, self.first = rows, rows[0]
        self.messages, self.history = messages, history
        self.result: list[dict[str, Any]] = []
        self.missing: list[dict[str, Any]] = []
        self.explanations: list[dict[str, Any]] = []
        self.evidence: list[dict[str, Any]] = []
        for turn, group in groupby(rows, key=lambda row: row["turn"]):
            self._item(turn, [(controls[row["scheme"], row["question"]], row) for row in group])
        told = {name: rows[0][name] for name in ("rater", "kind", "identified", "sample", "occasion")}
        self.told = told | {
            "missing": self.missing,
            "explanations": self.explanations,
            "evidence": self.evidence,
        }

    def _item(self, turn: int | None, answered: list[tuple[Control, Row]]) -> None:
        """Add the answers about one item: about a turn, in the region of its message."""
        place = self._place(turn)
        if turn is not None:
            marked = {**place, "paragraphlabels": [REGION.capitalize()]}
            self._add(REGION, "paragraphlabels", marked, turn)
        by_control: dict[str, tuple[Control, list[Row]]] = {}
        for control, row in answered:
            by_control.setdefault(control.name, (control, []))[1].append(row)
            if row["evidence"]:
                told = {"control": control.name, "question": row["question"], "turn": turn}
                self.evidence.append(told | {"passages": row["evidence"]})
        for control, rows in by_control.values():
            if control.is_tags:
                self._tags(control, rows, place, turn)
                continue
            for row in rows:
                if row["missing"]:
                    self._gone(control, row)
                else:
                    value = {**place, **control.value(row["value"])}
                    self._add(control.name, control.type, value, turn, row["explanation"])

    def _tags(self, control: Control, rows: list[Row], place: dict[str, Any], turn: int | None) -> None:
        """Add a set of tags as one result; those that were not answered are named beside it."""
        given = {row["question"]: row for row in rows}
        chosen = []
        for question in control.questions:
            row = given.get(question.key)
            if row is None:
                told = {"control": control.name, "question": question.key, "turn": turn, "reason": ""}
                self.missing.append(told)
            elif row["missing"]:
                self._gone(control, row)
            else:
                if row["value"]:
                    chosen.append(question.key)
                if row["explanation"]:
                    note = {"control": control.name, "question": question.key, "turn": turn}
                    self.explanations.append(note | {"text": row["explanation"]})
        if any(not row["missing"] for row in rows):
            self._add(control.name, control.type, {**place, **control.chosen(chosen)}, turn)

    def _gone(self, control: Control, row: Row) -> None:
        told = {"control": control.name, "question": row["question"], "turn": row["turn"]}
        self.missing.append(told | {"reason": row["missing"], "text": row["explanation"]})

    def _place(self, turn: int | None) -> dict[str, Any]:
        """Return the region of a turn: all of its message; JavaScript counts UTF-16 units."""
        if turn is None:
            return {}
        index = self.history + turn
        end = len(self.messages[index]["text"].encode("utf-16-le", "surrogatepass")) // 2
        return {"start": str(index), "end": str(index), "startOffset": 0, "endOffset": end}

    def _add(
        self, control: str, kind: str, value: dict[str, Any], turn: int | None, explanation: str = ""
    ) -> None:
        named = control if turn is None else f"turn-{turn}"
        result = {"id": named, "from_name": control, "to_name": DIALOGUE, "type": kind, "value": value}
        self.result.append(result | ({"meta": {"text": [explanation]}} if explanation else {}))


def _messages(material: Material) -> list[dict[str, Any]]:
    """Return the history and the continuation as messages, with what the native format knows of a turn."""
    names = Names(material.dialogue.participants, Blind())
    own = material.continuation.id == SELF
    history = () if own else material.dialogue.turns
    return [_message(turn, names) for turn in (*history, *material.continuation.turns)]


def _message(turn: Turn, names: Names) -> dict[str, Any]:
    known: dict[str, Any] = {
        "given": turn.given,
        "time": turn.time,
        "session": turn.session,
        "addressees": list(turn.addressees),
        "act": "" if turn.act == "message" else turn.act,
        "sees_history": turn.sees_history,
        "extra": dict(turn.extra),
    }
    message: dict[str, Any] = {"author": names.of(turn.speaker), "text": turn.text, "speaker": turn.speaker}
    message |= {key: value for key, value in known.items() if value}
    if turn.at is not None:
        message["at"] = turn.at
    if turn.audience is not None:
        message["audience"] = list(turn.audience)
    return message


def _dialogue(dialogue: Dialogue) -> dict[str, Any]:
    """Return what is known of a dialogue beside its turns, in the native format."""
    known = {
        "id": dialogue.id,
        "language": dialogue.language,
        "cluster": dialogue.cluster,
        "summary": dialogue.summary,
        "system": dialogue.system,
        "metadata": dict(dialogue.metadata),
        "participants": participants_json(dialogue.participants),
        "agenda": agenda_json(dialogue.agenda),
        **native_scenario(dialogue.scenario),
    }
    return {key: value for key, value in known.items() if value or key == "points"}


def _continuation(material: Material) -> dict[str, Any] | None:
    part = material.continuation
    if part.id == SELF:
        return None
    told = {"id": part.id, "system": part.system, "mode": part.mode, "trial": part.trial}
    return told | {"condition": dict(part.condition)}


PACKAGE = Package(
    key="label-studio",
    title="Label Studio",
    hint="Tasks with people's annotations and judges' predictions, and the labelling configuration.",
    write=write,
)
