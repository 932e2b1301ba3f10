"""Label Studio projects: labels as annotations and predictions, with a configuration of controls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as xml

import orjson

from annotation.corpora.rows import agenda_json, participants_json
from annotation.formats import corpus_format
from annotation.formats.label_studio_results import EVIDENCE, REGION
from annotation.formats.source import MAX_DOCUMENT
from annotation.records import SELF, Dialogue, Turn
from annotation.scenario_records import native_scenario
from annotation.text.context import Names
from annotation.text.views import Blind
from calibration.exports.package_contents import Contents, Package, Row, by_continuation
from calibration.exports.writing import Bundle, text_of
from calibration.ratings.scope import QuestionInfo, census
from judges.runs.material import Material

# Labels as a Label Studio project: tasks with people's annotations and machines' predictions, and its setup.
#
# A task is a continuation with its history as a list of messages. Answers of people and answer keys are an
# annotation each, those of judges and metrics a prediction; answers about a turn belong to its message's
# region. Data without a place in Label Studio (missing answers with reasons, evidence, samples, kinds) is
# stored in `concord`, which `annotation.formats.label_studio` reads back.

# Questions as controls of Label Studio, and the labelling configuration that contains them.

DIALOGUE = "dialogue"
"""Name of the annotated object."""
MOST_STARS = 10
UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow."""
TAGS = {
    "choices": "Choices",
    "taxonomy": "Taxonomy",
    "rating": "Rating",
    "number": "Number",
    "textarea": "TextArea",
}


@dataclass(frozen=True)
class Control:
    """A control: one question, or a set of tags (`is_tags`), each a question answered 0 or 1."""

    name: str
    type: str
    scheme: str
    questions: tuple[QuestionInfo, ...]
    is_tags: bool = False

    @property
    def path_of(self) -> dict[str, list[str]]:
        """Path of each tag: its title, in a taxonomy after that of its group."""
        titles = [question.title for question in self.questions]
        titles_by_key = {q.key: q.title if titles.count(q.title) == 1 else q.key for q in self.questions}
        if self.type == "choices":
            return {key: [title] for key, title in titles_by_key.items()}
        return {q.key: [q.group, titles_by_key[q.key]] for q in self.questions}

    def describe(self) -> dict[str, Any]:
        """Return the control's description for an import."""
        if self.is_tags:
            groups = {question.key: question.group for question in self.questions}
            tags = [
                {"question": key, "path": path, "group": groups[key]} for key, path in self.path_of.items()
            ]
            return {"scheme": self.scheme, "tags": tags}
        (question,) = self.questions
        return {
            "scheme": self.scheme,
            "question": question.key,
            "level": question.level,
            "values": question.values,
        }

    def value(self, answer: float | str) -> dict[str, Any]:
        """Return an answer to a single question as a result's value."""
        if self.type == "choices":
            return {"choices": [text_of(answer)]}
        if self.type == "textarea":
            return {"text": [str(answer)]}
        number = float(answer)
        return {self.type: int(number) if number.is_integer() and abs(number) < 2**53 else number}

    def tags_value(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the selected tags as a result's value."""
        paths = [self.path_of[key] for key in keys]
        return {"choices": [path[0] for path in paths]} if self.type == "choices" else {"taxonomy": paths}


def controls_of(questions: Iterable[QuestionInfo]) -> list[Control]:
    """Return the controls of questions. Tags of several groups are a taxonomy, of one group choices."""
    schemes: dict[str, list[QuestionInfo]] = {}
    for question in questions:
        schemes.setdefault(question.scheme, []).append(question)
    used_names = {REGION, EVIDENCE, DIALOGUE, ""}
    controls = []
    for scheme, scheme_questions in schemes.items():
        tags = _tags(scheme_questions)
        if tags:
            groups = {question.group for question in tags}
            kind = "taxonomy" if len(groups) > 1 else "choices"
            name = _name(scheme.rpartition("@")[0] if len(groups) > 1 else min(groups), scheme, used_names)
            controls.append(Control(name, kind, scheme, tuple(tags), is_tags=True))
        for question in scheme_questions:
            if question not in tags:
                name = _name(question.key, scheme, used_names)
                controls.append(Control(name, _type(question), scheme, (question,)))
    return controls


def _tags(questions: Sequence[QuestionInfo]) -> list[QuestionInfo]:
    """Return the questions that are tags of a group: answered 0 or 1, where 1 sets the tag."""
    tags = [q for q in questions if q.group and q.level == "binary" and sorted(q.values) == [0, 1]]
    tags = [q for q in tags if q.positive in (None, 1)]
    return tags if len(tags) > 1 else []


def _type(question: QuestionInfo) -> str:
    values = question.values
    if question.level == "text" or (question.level == "nominal" and not values):
        return "textarea"
    if not values:
        return "number"
    stars = question.level == "ordinal" and values == list(range(1, len(values) + 1))
    return "rating" if stars and len(values) <= MOST_STARS else "choices"


def _name(wanted_name: str, scheme: str, used_names: set[str]) -> str:
    """Return a unique control name: the question's, with its scheme's where that is taken."""
    plain, longer = (
        re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") for text in (wanted_name, f"{scheme}_{wanted_name}")
    )
    name, number = plain if plain not in used_names else longer, 2
    while name in used_names:
        name, number = f"{longer}_{number}", number + 1
    used_names.add(name)
    return name


def configuration(controls: Sequence[Control], evidence: Iterable[str] = ()) -> bytes:
    """Return the labelling configuration: the dialogue, a mark for turns, marks of evidence, the controls."""
    view = xml.Element("View")
    settings = {"layout": "dialogue", "nameKey": "author", "textKey": "text", "granularity": "paragraph"}
    xml.SubElement(view, "Paragraphs", {"name": DIALOGUE, "value": "$messages", **settings})
    if any(_is_of_turns(control) for control in controls):
        marks = xml.SubElement(view, "ParagraphLabels", {"name": REGION, "toName": DIALOGUE})
        xml.SubElement(marks, "Label", {"value": REGION.capitalize()})
    if labels := list(evidence):
        spans = xml.SubElement(view, "ParagraphLabels", {"name": EVIDENCE, "toName": DIALOGUE})
        for label in labels:
            xml.SubElement(spans, "Label", {"value": label})
    for control in controls:
        single = control.questions[0]
        heading = "Which of these apply?" if control.is_tags else single.wording
        xml.SubElement(view, "Header", {"value": _printable(heading)})
        _add(view, control)
    xml.indent(view)
    return xml.tostring(view, encoding="utf-8") + b"\n"


def _is_of_turns(control: Control) -> bool:
    return control.questions[0].item_kind == "turn"


def _add(view: xml.Element, control: Control) -> None:
    attributes = {"name": control.name, "toName": DIALOGUE}
    if _is_of_turns(control):
        attributes["perRegion"] = "true"
    question = control.questions[0]
    if control.type == "choices":
        attributes["choice"] = "multiple" if control.is_tags else "single"
    elif control.type == "rating":
        attributes["maxRating"] = str(len(question.values))
    elif control.type == "textarea":
        attributes |= {"rows": "2", "maxSubmissions": "1"}
    element = xml.SubElement(view, TAGS[control.type], attributes)
    if control.is_tags:
        _add_tags(element, control)
    elif control.type == "choices":
        for value in question.values:
            option = {"value": _printable(text_of(value))}
            if anchor := question.anchors.get(str(value)):
                option["hint"] = _printable(anchor)
            xml.SubElement(element, "Choice", option)


def _add_tags(element: xml.Element, control: Control) -> None:
    groups: dict[str, xml.Element] = {}
    for question in control.questions:
        *above, title = control.path_of[question.key]
        parent = element
        for group in above:
            if group not in groups:
                groups[group] = xml.SubElement(element, "Choice", {"value": _printable(group)})
            parent = groups[group]
        xml.SubElement(parent, "Choice", {"value": _printable(title)})


def _printable(text: str) -> str:
    return UNPRINTABLE.sub("", text)


LARGEST = MAX_DOCUMENT * 3 // 4
"""Bytes of one file of tasks: an import reads a document of MAX_DOCUMENT."""
PEOPLE = ("human", "key")
README = """Label Studio project: {name}

1. Make a project; under Settings, Labeling Interface, Code, paste config.xml.
2. Import the files of tasks. Label Studio knows annotators by e-mail address. It refuses unknown ones unless
   it runs with ALLOW_IMPORT_TASKS_WITH_UNKNOWN_EMAILS=true; then they are all the person who imports.

Annotations are people (and answer keys, as ground truth), predictions are judges and metrics.
Concord reads the files of tasks back: import_corpus tasks.json --format label-studio

What answers point at (evidence) are spans of the control concord_evidence. Missing answers with their reasons
stand in fields called `concord`: Label Studio does not show them and drops them when it imports.
"""


def write(contents: Contents, bundle: Bundle) -> int:
    """Add the files of tasks, the labelling configuration and a note; return the number of labels."""
    controls = controls_of(census(contents.scope).questions.values())
    total, number = 0, 0
    tasks = _Tasks(controls)
    for number, group in enumerate(_files(tasks.of(by_continuation(contents))), start=1):
        name = "tasks.json" if number == 1 else f"tasks-{number}.json"
        part = bundle.add(name, _as_json_list(text for text, _ in group), rows=sum(rows for _, rows in group))
        total += part.rows
        promise = {"rows": part.rows, "format": "label-studio", "sha256": part.sha256}
        bundle.add_json(corpus_format.manifest_path(name).name, promise)
    if not number:
        raise contents.refused("there are no labels to export")
    bundle.add("config.xml", [configuration(controls, tasks.evidence.values())])
    bundle.add("README.txt", [README.format(name=contents.scope.name).encode()])
    return total


TaskOutput = tuple[bytes, int]
"""A task as JSON, and its number of labels."""


def _files(tasks: Iterator[TaskOutput]) -> Iterator[list[TaskOutput]]:
    """Yield the tasks of each file: as many as an import reads at once."""
    group: list[TaskOutput] = []
    size = 0
    for task in tasks:
        if group and size + len(task[0]) > LARGEST:
            yield group
            group, size = [], 0
        group.append(task)
        size += len(task[0]) + 2
    if group:
        yield group


def _as_json_list(texts: Iterable[bytes]) -> Iterator[bytes]:
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
        self.evidence: dict[tuple[str, str], str] = {}

    def of(self, continuations: Iterator[tuple[Material, list[Row]]]) -> Iterator[TaskOutput]:
        for number, (material, rows) in enumerate(continuations, start=1):
            yield orjson.dumps(self._task(number, material, rows)), len(rows)

    def _task(self, number: int, material: Material, rows: list[Row]) -> dict[str, Any]:
        messages = _messages(material)
        history = len(messages) - len(material.continuation.turns)
        pointing = [row for row in rows if row["evidence"]]
        for row in pointing:
            self._name_evidence(row["scheme"], row["question"])
        voices = sorted(rows, key=_voice)  # stable: answers keep their order
        annotations: list[dict[str, Any]] = []
        predictions: list[dict[str, Any]] = []
        for key, group in groupby(voices, key=_voice):
            place = _Messages(messages, history, material.continuation.id)
            voice = _Voice(self.controls, place, self.evidence, list(group))
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
                    "controls": self._used_controls(rows) | self._used_evidence(pointing),
                },
            },
        }

    def _used_controls(self, rows: list[Row]) -> dict[str, Any]:
        used = {self.controls[row["scheme"], row["question"]].name for row in rows}
        return {c.name: c.describe() for c in self.controls.values() if c.name in used}

    def _name_evidence(self, scheme: str, question: str) -> None:
        """Give the evidence of a question its label: its title, or its reference where that is taken."""
        if (scheme, question) not in self.evidence:
            info = next(q for q in self.controls[scheme, question].questions if q.key == question)
            title, others = _printable(info.title), set(self.evidence.values())
            label = _printable(info.ref) if title in others or not title.strip() else title
            self.evidence[scheme, question] = label

    def _used_evidence(self, rows: Iterable[Row]) -> dict[str, Any]:
        """Return the description of the evidence's labels: the control and the question of each."""
        keys = dict.fromkeys((row["scheme"], row["question"]) for row in rows)
        described = [
            {"label": self.evidence[key], "control": self.controls[key].name, "question": key[1]}
            for key in keys
        ]
        return {EVIDENCE: {"evidence": described}} if described else {}

    def _annotation(self, number: int, rater: str, voice: _Voice) -> dict[str, Any]:
        mail = self.raters.setdefault(rater, len(self.raters) + 1)
        return {
            "id": number,
            "completed_by": {"email": f"rater-{mail}@concord.invalid", "first_name": rater, "last_name": ""},
            "was_cancelled": False,
            "ground_truth": voice.first["kind"] == "key",
            "result": voice.result,
            "concord": voice.details,
        }


def _voice(row: Row) -> tuple[Any, ...]:
    """Return the sort key of an annotation or prediction: one rater's answers on one occasion."""
    return (row["rater"], row["kind"], row["sample"], row["occasion"], row["campaign"] or "")


def _prediction(rater: str, voice: _Voice) -> dict[str, Any]:
    """Return a prediction; the single overall value of a metric is its score."""
    sample = voice.first["sample"]
    prediction: dict[str, Any] = {"model_version": f"{rater} (sample {sample})" if sample else rater}
    values = [row["value"] for row in voice.rows]
    if voice.first["kind"] == "metric" and len(values) == 1 and isinstance(values[0], int | float):
        prediction["score"] = float(values[0])
    return prediction | {"result": voice.result, "concord": voice.details}


@dataclass(frozen=True)
class _Messages:
    """The messages of a task: the history, then the turns of its continuation."""

    messages: list[dict[str, Any]]
    history: int
    continuation: str

    def region(self, index: int, start: int | None = None, end: int | None = None) -> dict[str, Any]:
        """Return words of a message, or all of it; JavaScript counts UTF-16 units."""
        text = self.messages[index]["text"]
        first, last = _units(text[: start or 0]), _units(text if end is None else text[:end])
        return {"start": str(index), "end": str(index), "startOffset": first, "endOffset": last}

    def index(self, continuation: str, turn: int) -> int | None:
        """Return the message of a turn, None for one of another continuation."""
        if continuation == self.continuation:
            return self.history + turn
        return turn if continuation == SELF and turn < self.history else None


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class _Voice:
    """One rater's answers about a continuation, as results, and data that results cannot hold."""

    def __init__(
        self,
        controls: Mapping[tuple[str, str], Control],
        messages: _Messages,
        evidence: Mapping[tuple[str, str], str],
        rows: list[Row],
    ) -> None:
        self.rows, self.first = rows, rows[0]
        self.messages, self.evidence_labels = messages, evidence
        self.result: list[dict[str, Any]] = []
        self.missing: list[dict[str, Any]] = []
        self.explanations: list[dict[str, Any]] = []
        self.evidence: list[dict[str, Any]] = []
        for turn, group in groupby(rows, key=lambda row: row["turn"]):
            self._item(turn, [(controls[row["scheme"], row["question"]], row) for row in group])
        details = {name: rows[0][name] for name in ("rater", "kind", "identified", "sample", "occasion")}
        self.details = details | {
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
                evidence = {"control": control.name, "question": row["question"], "turn": turn}
                self.evidence.append(evidence | {"passages": row["evidence"]})
                self._mark(row, turn)
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
        """Add a set of tags as one result; unanswered tags are listed beside it."""
        by_question = {row["question"]: row for row in rows}
        selected_keys = []
        for question in control.questions:
            row = by_question.get(question.key)
            if row is None:
                missing = {"control": control.name, "question": question.key, "turn": turn, "reason": ""}
                self.missing.append(missing)
            elif row["missing"]:
                self._gone(control, row)
            else:
                if row["value"]:
                    selected_keys.append(question.key)
                if row["explanation"]:
                    note = {"control": control.name, "question": question.key, "turn": turn}
                    self.explanations.append(note | {"text": row["explanation"]})
        if any(not row["missing"] for row in rows):
            self._add(control.name, control.type, {**place, **control.tags_value(selected_keys)}, turn)

    def _gone(self, control: Control, row: Row) -> None:
        missing = {"control": control.name, "question": row["question"], "turn": row["turn"]}
        self.missing.append(missing | {"reason": row["missing"], "text": row["explanation"]})

    def _mark(self, row: Row, turn: int | None) -> None:
        """Mark what an answer points at; its turn is named in the id of the region."""
        label = self.evidence_labels[row["scheme"], row["question"]]
        for passage in row["evidence"]:
            index = self.messages.index(passage["continuation"], passage["turn"])
            if index is None:
                continue
            region = f"{EVIDENCE}-{'' if turn is None else turn}-{len(self.result)}"
            place = self.messages.region(index, passage["start"], passage["end"])
            value = place | {"paragraphlabels": [label]}
            kind = {"from_name": EVIDENCE, "to_name": DIALOGUE, "type": "paragraphlabels"}
            self.result.append({"id": region, **kind, "value": value})

    def _place(self, turn: int | None) -> dict[str, Any]:
        """Return the region of a turn: all of its message."""
        return {} if turn is None else self.messages.region(self.messages.history + turn)

    def _add(
        self, control: str, kind: str, value: dict[str, Any], turn: int | None, explanation: str = ""
    ) -> None:
        region = control if turn is None else f"turn-{turn}"
        result = {"id": region, "from_name": control, "to_name": DIALOGUE, "type": kind, "value": value}
        self.result.append(result | ({"meta": {"text": [explanation]}} if explanation else {}))


def _messages(material: Material) -> list[dict[str, Any]]:
    """Return the history and the continuation as messages, with the native format's fields of a turn."""
    names = Names(material.dialogue.participants, Blind())
    own = material.continuation.id == SELF
    history = () if own else material.dialogue.turns
    return [_message(turn, names) for turn in (*history, *material.continuation.turns)]


def _message(turn: Turn, names: Names) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "given": turn.given,
        "time": turn.time,
        "session": turn.session,
        "addressees": list(turn.addressees),
        "act": "" if turn.act == "message" else turn.act,
        "sees_history": turn.sees_history,
        "extra": dict(turn.extra),
    }
    message: dict[str, Any] = {"author": names.of(turn.speaker), "text": turn.text, "speaker": turn.speaker}
    message |= {key: value for key, value in fields.items() if value}
    if turn.at is not None:
        message["at"] = turn.at
    if turn.audience is not None:
        message["audience"] = list(turn.audience)
    return message


def _dialogue(dialogue: Dialogue) -> dict[str, Any]:
    """Return the fields of a dialogue other than its turns, in the native format."""
    fields = {
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
    return {key: value for key, value in fields.items() if value or key == "points"}


def _continuation(material: Material) -> dict[str, Any] | None:
    part = material.continuation
    if part.id == SELF:
        return None
    fields = {"id": part.id, "system": part.system, "mode": part.mode, "trial": part.trial}
    return fields | {"condition": dict(part.condition)}


LABEL_STUDIO = Package(
    key="label-studio",
    title="Label Studio",
    hint="Tasks with people's annotations and judges' predictions, and the labelling configuration.",
    write=write,
)
