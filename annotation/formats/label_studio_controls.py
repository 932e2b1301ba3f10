"""What Label Studio's controls ask: questions with a scale, told by Concord's export or by the answers.

Without the labelling configuration, which Label Studio's files do not hold, the answers tell: a control where
one option was chosen each time is one question (of numbers, where all options are), one where several or none
were is a tag for each option, answered 0 or 1 wherever the control was answered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotation.formats.evidence import evidence
from annotation.formats.fields import Fields
from annotation.formats.label_studio_results import OPTIONS, PATH, REGION, Answered, Voice
from annotation.formats.problems import ImportProblem
from annotation.records import SELF, LabelRecord, Passage
from annotation.schemes.base import LEVELS
from annotation.text.passages import in_order

STARS = 5
"""A rating has so many stars unless more were given."""
KEY_LIMIT = 120
NO_STARS = "no stars given"
Key = tuple[str, bool]
"""A control, and whether it is about single messages."""


class Controls:
    """The controls of a foreign file, from all the answers in it."""

    def __init__(self, voices: Iterable[Voice]) -> None:
        self.families: dict[Key, str] = {}
        self.options: dict[Key, dict[str, None]] = {}
        self.single: dict[Key, bool] = {}
        self.most: dict[Key, float] = {}
        for voice in voices:
            if not voice.cancelled:
                for answer in voice.answers:
                    self._meet(answer)

    def _meet(self, answer: Answered) -> None:
        key = _key(answer)
        family = "options" if answer.type in OPTIONS else answer.type
        known = self.families.setdefault(key, family)
        if known != family:
            raise ImportProblem(
                f"the control {answer.control!r} is answered with {family} here and with {known} elsewhere",
                field=f"{answer.path}.type",
            )
        if isinstance(answer.value, tuple):
            self.options.setdefault(key, {}).update(dict.fromkeys(answer.value))
            self.single[key] = self.single.get(key, True) and len(answer.value) == 1
        elif isinstance(answer.value, float):
            self.most[key] = max(self.most.get(key, 0.0), answer.value)

    def labels(self, voice: Voice) -> Iterator[LabelRecord]:
        """Yield the labels that a voice's answers are."""
        for answer in voice.answers:
            yield from self._labels(voice, answer)

    def _labels(self, voice: Voice, answer: Answered) -> Iterator[LabelRecord]:
        key, name, given = _key(answer), answer.control, answer.value
        if isinstance(given, str):
            yield _label(voice, answer, name, given, "text")
        elif isinstance(given, float) and answer.type == "rating":
            stars = tuple(float(n) for n in range(1, max(STARS, int(self.most[key])) + 1))
            yield _label(voice, answer, name, given or None, "ordinal", stars)
        elif isinstance(given, float):
            yield _label(voice, answer, name, given, "interval")
        elif not self.single[key]:
            for option in self.options[key]:
                tag = f"{name}: {option}"
                yield _label(voice, answer, tag, float(option in given), "binary", (0.0, 1.0), marks=option)
        elif numbers := _numbers(self.options[key]):
            scale = (*sorted(numbers.values()),)
            yield _label(voice, answer, name, numbers[given[0]], "ordinal", scale, marks=given[0])
        else:
            yield _label(voice, answer, name, given[0], "nominal", tuple(self.options[key]), marks=given[0])


def own_labels(voice: Voice, controls: Mapping[str, Any], continuation: str) -> Iterator[LabelRecord]:
    """Yield the labels of a voice of Concord's own export, whose controls say what they ask."""
    pointed = {_place(one): _passages(voice, one, continuation) for one in _told(voice, "evidence")}
    for place, label in _own_labels(voice, controls):
        yield replace(label, evidence=pointed.get(place, label.evidence))


def _own_labels(
    voice: Voice, controls: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str, int | None], LabelRecord]]:
    """Yield labels, each with the control, question and turn that the export knows it by."""
    gone = {_place(one): one for one in _told(voice, "missing")}
    notes = {_place(one): str(one.get("text", "")) for one in _told(voice, "explanations")}
    for answer in voice.answers:
        if answer.control == REGION and answer.type == "paragraphlabels":
            continue
        asked = _asked(controls, answer.control, answer.path)
        if "tags" not in asked:
            label = _single(voice, answer, asked)
            yield (answer.control, label.question, answer.message), label
            continue
        chosen = answer.value if isinstance(answer.value, tuple) else ()
        for question, path in _tags(asked, answer):
            place = (answer.control, question, answer.message)
            if place not in gone:
                tag = replace(answer, explanation=notes.get(place, ""))
                yield place, _label(voice, tag, question, float(path in chosen), **_scale(asked), marks=path)
    for index, one in enumerate(gone.values()):
        where = f"{voice.path}.concord.missing[{index}]"
        asked = _asked(controls, str(one.get("control")), where)
        if one.get("reason"):
            empty = Answered(str(one["control"]), "", one["turn"], (), where, str(one.get("text", "")))
            reason = str(one["reason"])
            label = _label(voice, empty, str(one["question"]), None, **_scale(asked), missing=reason)
            yield _place(one), label


def _place(one: Mapping[str, Any]) -> tuple[str, str, int | None]:
    return str(one.get("control")), one["question"], one.get("turn")


def _passages(voice: Voice, one: Mapping[str, Any], continuation: str) -> tuple[Passage, ...]:
    path = f"{voice.path}.concord.evidence"
    fields = Fields({"passages": one.get("passages")}, path, frozenset({"passages"}))
    return evidence(fields.items("passages"), continuation, f"{path}.passages")


def _asked(controls: Mapping[str, Any], name: str, path: str) -> Mapping[str, Any]:
    """Return what a control of Concord's export asks."""
    asked = controls.get(name)
    if not isinstance(asked, dict) or not isinstance(asked.get("scheme"), str):
        known = ", ".join(controls)[:200] or "none"
        raise ImportProblem(f"{name[:80]!r} is not one of the task's controls: {known}", field=path)
    return asked


def _told(voice: Voice, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield what Concord's export says of a voice beside its results."""
    told = voice.own.get(name, [])
    for index, one in enumerate(told if isinstance(told, list) else [told]):
        turn = one.get("turn") if isinstance(one, dict) else ""
        named = isinstance(one, dict) and isinstance(one.get("question"), str)
        if not named or type(turn) not in (int, type(None)):
            where = f"{voice.path}.concord.{name}[{index}]"
            raise ImportProblem("must be an object with a question, and a turn or null", field=where)
        yield one


def _tags(asked: Mapping[str, Any], answer: Answered) -> list[tuple[str, str]]:
    """Return the questions of a set of tags, each with how it reads as an option."""
    listed = asked["tags"]
    if not isinstance(listed, list) or not all(map(_is_tag, listed)):
        raise ImportProblem("the control's tags must have a question and a path each", field=answer.path)
    tags = [(str(tag["question"]), PATH.join(tag["path"])) for tag in listed]
    known = {path for _, path in tags}
    for option in answer.value if isinstance(answer.value, tuple) else ():
        if option not in known:
            raise ImportProblem(f"{option[:80]!r} is not one of the options", field=f"{answer.path}.value")
    return tags


def _is_tag(tag: Any) -> bool:
    path = tag.get("path") if isinstance(tag, dict) else None
    steps = path if isinstance(path, list) and "question" in tag else []
    return bool(steps) and all(isinstance(step, str) for step in steps)


def _single(voice: Voice, answer: Answered, asked: Mapping[str, Any]) -> LabelRecord:
    """Return the label of a control that is one question."""
    value, marks = answer.value, ""
    if isinstance(value, tuple):
        if len(value) != 1:
            raise ImportProblem(f"has {len(value)} options, not one", field=f"{answer.path}.value")
        value = marks = value[0]
    if asked.get("level") not in ("nominal", "text") and isinstance(value, str):
        numbers = _numbers((value,))
        if not numbers:
            raise ImportProblem(f"{value[:40]!r} is not a number", field=f"{answer.path}.value")
        value = numbers[value]
    return _label(voice, answer, str(asked.get("question")), value, **_scale(asked), marks=marks)


def _scale(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scheme and scale that a control of Concord's export tells; tags are 0 or 1."""
    if "tags" in asked:
        return {"scheme": asked["scheme"], "level": "binary", "scale": (0.0, 1.0)}
    values = asked.get("values")
    level = asked.get("level")
    return {
        "scheme": asked["scheme"],
        "level": level if level in LEVELS else "",
        "scale": tuple(values) if isinstance(values, list) else (),
    }


def _key(answer: Answered) -> Key:
    return answer.control, answer.message is not None


def _numbers(options: Iterable[str]) -> dict[str, float]:
    """Return the numbers that options are, empty where one is not a number."""
    try:
        found = {option: float(option) for option in options}
    except ValueError:
        return {}
    return found if all(math.isfinite(number) for number in found.values()) else {}


def _label(
    voice: Voice,
    answer: Answered,
    question: str,
    value: float | str | None,
    level: str = "",
    scale: tuple[float | str, ...] = (),
    *,
    scheme: str = "",
    missing: str = "",
    marks: str = "",
) -> LabelRecord:
    """Return a label; a value that is none without a reason has the rating's.

    It points at the words that were marked with the option `marks`.
    """
    if not 0 < len(question) <= KEY_LIMIT:
        raise ImportProblem(
            f"{question[:60]!r} is not a name of up to {KEY_LIMIT} characters", field=answer.path
        )
    occasion = voice.own.get("occasion", "")
    return LabelRecord(
        rater=voice.rater,
        kind=voice.kind,
        continuation=SELF,
        turn=answer.message,
        question=question,
        value=value,
        missing=missing or (NO_STARS if value is None else ""),
        sample=voice.sample,
        identified=voice.identified,
        explanation=answer.explanation,
        scheme=scheme,
        occasion=occasion if isinstance(occasion, str) else "",
        level=level,
        values=scale,
        evidence=_marked(answer, marks) if value is not None else (),
    )


def _marked(answer: Answered, option: str) -> tuple[Passage, ...]:
    if answer.message is None:
        return ()
    spans = answer.spans.get(option, ())
    return in_order(Passage(answer.continuation, answer.message, *span) for span in spans)
