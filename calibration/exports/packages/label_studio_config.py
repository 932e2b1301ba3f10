"""Questions as controls of Label Studio, and the labelling configuration that has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as xml

from annotation.formats.label_studio_results import REGION
from calibration.reading.census import QuestionInfo

DIALOGUE = "dialogue"
"""The name of what is annotated."""
MOST_STARS = 10
UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no place for."""
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
        """How each tag is chosen: by its title, in a taxonomy after that of its group."""
        titles = [question.title for question in self.questions]
        named = {q.key: q.title if titles.count(q.title) == 1 else q.key for q in self.questions}
        if self.type == "choices":
            return {key: [title] for key, title in named.items()}
        return {q.key: [q.group, named[q.key]] for q in self.questions}

    def told(self) -> dict[str, Any]:
        """Return what the control asks, for an import."""
        if self.is_tags:
            tags = [{"question": key, "path": path} for key, path in self.path_of.items()]
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
            return {"choices": [shown(answer)]}
        if self.type == "textarea":
            return {"text": [str(answer)]}
        number = float(answer)
        return {self.type: int(number) if number.is_integer() and abs(number) < 2**53 else number}

    def chosen(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the tags that were set as a result's value."""
        paths = [self.path_of[key] for key in keys]
        return {"choices": [path[0] for path in paths]} if self.type == "choices" else {"taxonomy": paths}


def shown(value: float | str) -> str:
    """Return a value as an option: a number as the shortest text that reads back equal."""
    if isinstance(value, str):
        return value
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def controls_of(questions: Iterable[QuestionInfo]) -> list[Control]:
    """Return the controls of questions. Tags of several groups are a taxonomy, of one group choices."""
    schemes: dict[str, list[QuestionInfo]] = {}
    for question in questions:
        schemes.setdefault(question.scheme, []).append(question)
    taken = {REGION, DIALOGUE, ""}
    made = []
    for scheme, asked in schemes.items():
        tags = _tags(asked)
        if tags:
            groups = {question.group for question in tags}
            kind = "taxonomy" if len(groups) > 1 else "choices"
            name = _name(scheme.rpartition("@")[0] if len(groups) > 1 else min(groups), scheme, taken)
            made.append(Control(name, kind, scheme, tuple(tags), is_tags=True))
        for question in asked:
            if question not in tags:
                name = _name(question.key, scheme, taken)
                made.append(Control(name, _type(question), scheme, (question,)))
    return made


def _tags(asked: Sequence[QuestionInfo]) -> list[QuestionInfo]:
    """Return the questions that are tags of a group: answered 0 or 1, and 1 sets it."""
    found = [q for q in asked if q.group and q.level == "binary" and sorted(q.values) == [0, 1]]
    found = [q for q in found if q.positive in (None, 1)]
    return found if len(found) > 1 else []


def _type(question: QuestionInfo) -> str:
    values = question.values
    if question.level == "text" or (question.level == "nominal" and not values):
        return "textarea"
    if not values:
        return "number"
    stars = question.level == "ordinal" and values == list(range(1, len(values) + 1))
    return "rating" if stars and len(values) <= MOST_STARS else "choices"


def _name(wanted: str, scheme: str, taken: set[str]) -> str:
    """Return a name that no other control has: the question's, with its scheme's where that is taken."""
    plain, longer = (
        re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") for text in (wanted, f"{scheme}_{wanted}")
    )
    name, number = plain if plain not in taken else longer, 2
    while name in taken:
        name, number = f"{longer}_{number}", number + 1
    taken.add(name)
    return name


def configuration(controls: Sequence[Control]) -> bytes:
    """Return the labelling configuration: the dialogue, a mark for turns, and the controls."""
    view = xml.Element("View")
    settings = {"layout": "dialogue", "nameKey": "author", "textKey": "text", "granularity": "paragraph"}
    xml.SubElement(view, "Paragraphs", {"name": DIALOGUE, "value": "$messages", **settings})
    if any(_is_of_turns(control) for control in controls):
        marks = xml.SubElement(view, "ParagraphLabels", {"name": REGION, "toName": DIALOGUE})
        xml.SubElement(marks, "Label", {"value": REGION.capitalize()})
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
    told = {"name": control.name, "toName": DIALOGUE}
    if _is_of_turns(control):
        told["perRegion"] = "true"
    question = control.questions[0]
    if control.type == "choices":
        told["choice"] = "multiple" if control.is_tags else "single"
    elif control.type == "rating":
        told["maxRating"] = str(len(question.values))
    elif control.type == "textarea":
        told |= {"rows": "2", "maxSubmissions": "1"}
    made = xml.SubElement(view, TAGS[control.type], told)
    if control.is_tags:
        _add_tags(made, control)
    elif control.type == "choices":
        for value in question.values:
            option = {"value": _printable(shown(value))}
            if anchor := question.anchors.get(str(value)):
                option["hint"] = _printable(anchor)
            xml.SubElement(made, "Choice", option)


def _add_tags(made: xml.Element, control: Control) -> None:
    groups: dict[str, xml.Element] = {}
    for question in control.questions:
        *above, title = control.path_of[question.key]
        parent = made
        for group in above:
            if group not in groups:
                groups[group] = xml.SubElement(made, "Choice", {"value": _printable(group)})
            parent = groups[group]
        xml.SubElement(parent, "Choice", {"value": _printable(title)})


def _printable(text: str) -> str:
    return UNPRINTABLE.sub("", text)
