"""Content of one annotation or prediction of Label Studio: the rater, and an answer for each result.

A result names its control (`from_name`), its type, and a value with a key of the type's name. A result about
a message has the number of that message as `start` and `end`, or the `id` of a region that has. A region may
be some words of the message: `startOffset` and `endOffset` count UTF-16 units, as JavaScript does. Several
results of one control about one message are one answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats.fields import NAME_LIMIT, Fields, evidence, is_number, kind_of, require
from annotation.formats.source import ImportProblem
from annotation.records import SELF, LabelRecord, Passage, RaterKind
from annotation.schemes.definitions import LEVELS
from annotation.text.references import MOST, in_order

OPTIONS = ("choices", "taxonomy", "paragraphlabels", "labels")
"""Types that choose from a list."""
TYPES = (*OPTIONS, "rating", "number", "textarea")
REGION = "turn"
"""Control with which Concord's export marks a turn: it answers nothing."""
EVIDENCE = "concord_evidence"
"""Control with which Concord's export marks evidence. The id of a region names the turn of the answer."""
BESIDE = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
PATH = " > "
"""Separator of the parts of a taxonomy's path."""
KINDS = ("human", "judge", "metric", "key")
GROUND_TRUTH = "ground truth"
MARK = re.compile(rf"{EVIDENCE}-(\d{{0,9}})-\d+")
Span = tuple[int, int]
"""The first character of some words and the one after the last, in Unicode code points."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: chosen options, a number or a text; about a message (from 0) or the whole.

    `spans` are the marked words of the message, by option (of other answers under the empty text). `region`
    is the id of a mark of evidence.
    """

    control: str
    type: str
    message: int | None
    value: tuple[str, ...] | float | str
    path: str
    explanation: str = ""
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    continuation: str = SELF
    region: str = ""


@dataclass(slots=True)
class Voice:
    """One annotation or prediction: its rater, and the answers. `own` is data from Concord's export."""

    rater: str
    kind: RaterKind
    identified: bool
    path: str
    answers: list[Answered]
    passed: Counter[str]
    own: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    cancelled: bool = False


def of_annotation(
    raw: Any,
    path: str,
    messages: Sequence[str],
    index: int,
    *,
    short: Sequence[str] = (),
    starts: Sequence[int] = (),
) -> Voice:
    """Parse a person's annotation, or an answer key where it is marked as ground truth.

    Without an author, the rater is an unidentified slot. With `short` it is an entry of JSON-MIN, with these
    controls. With `starts` the messages are the turns of a text, in which they begin there.
    """
    raw = require(raw, dict, path)
    results = _long_form(raw, short, path) if short else raw.get("result")
    answers, passed = _answers(_of_text(results, messages, starts), path, messages)
    own = _own(raw)
    name = _person(raw.get("annotator") if short else raw.get("completed_by"), path)
    voice = Voice(name or f"slot {index + 1}", "human", bool(name), path, answers, passed, own)
    if raw.get("ground_truth") is True:
        voice.rater, voice.kind, voice.identified = name or GROUND_TRUTH, "key", True
    voice.cancelled = raw.get("was_cancelled") is True or raw.get("skipped") is True
    return _with_exported_name(voice, own)


def of_prediction(
    raw: Any, path: str, messages: Sequence[str], index: int, *, starts: Sequence[int] = ()
) -> Voice:
    """Parse a model's prediction; the model's version is the judge."""
    raw = require(raw, dict, path)
    answers, passed = _answers(_of_text(raw.get("result"), messages, starts), path, messages)
    own = _own(raw)
    version = raw.get("model_version")
    name = version if isinstance(version, str) and version.strip() else "prediction"
    return _with_exported_name(Voice(name, "judge", True, path, answers, passed, own), own)


def short_form(entry: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[str]]:
    """Split an entry of JSON-MIN into its task's data and the names of the answered controls.

    Label Studio writes the data, then `id`, then the controls, then `annotator`: the order tells them apart.
    """
    names = list(entry)
    if "annotator" not in entry or "id" not in entry:
        raise ImportProblem("has neither data (JSON) nor id and annotator (JSON-MIN)", field=path)
    first, last = names.index("id"), names.index("annotator")
    if first > last:
        raise ImportProblem(
            "the fields are not in Label Studio's order, which tells data from answers: export JSON instead",
            field=f"{path}.annotator",
        )
    controls = [name for name in names[first + 1 : last] if name not in BESIDE]
    return {name: entry[name] for name in names[:first]}, controls


def _long_form(entry: Mapping[str, Any], controls: Sequence[str], path: str) -> list[dict[str, Any]]:
    """Return the answers of an entry of JSON-MIN as results."""
    results: list[dict[str, Any]] = []
    for name in controls:
        values = entry[name] if isinstance(entry[name], list) else [entry[name]]
        for value in values:
            if isinstance(value, dict):
                kind = next((key for key in TYPES if key in value), "textarea" if "text" in value else "")
                results.append({"from_name": name, "type": kind, "value": value})
            elif isinstance(value, str):
                kind = "textarea" if "\n" in value or len(value) > NAME_LIMIT else "choices"
                key = "text" if kind == "textarea" else kind
                results.append({"from_name": name, "type": kind, "value": {key: [value]}})
            elif is_number(value):
                results.append({"from_name": name, "type": "number", "value": {"number": value}})
            else:
                raise ImportProblem(f"{str(value)[:40]!r} is not an answer", field=f"{path}.{name}")
    return results


def _of_text(results: Any, messages: Sequence[str], starts: Sequence[int]) -> Any:
    """Return results about a text as results about its turns: their words are marked by message and offset.

    Label Studio counts UTF-16 units in a text, older releases Unicode code points: the marked text tells.
    """
    if not starts or not isinstance(results, list):
        return results
    placed: list[Any] = []
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            placed.append(result)
            continue
        if type(value.get("start")) is int and type(value.get("end")) is int:
            placed += [{**result, "value": place} for place in _places(value, messages, starts)]
        elif len(messages) == 1 and "start" not in value:
            placed.append({**result, "value": {**value, "start": "0", "end": "0"}})
        else:
            placed.append(result)
    return placed


def _places(
    value: Mapping[str, Any], messages: Sequence[str], starts: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield a value for each turn in which words of a text are marked; one across all where none is known."""
    is_one_text = len(messages) == 1 or len(set(starts)) > 1
    first, last = value["start"], value["end"]
    turns = []
    for number, (message, begin) in enumerate(zip(messages, starts, strict=True)):
        marked = message[max(first - begin, 0) : max(last - begin, 0)]
        units = message.encode("utf-16-le", "surrogatepass")
        start, end = max(first - begin, 0), min(last - begin, len(units) // 2)
        if marked == value.get("text") and begin <= first:
            start, end = (len(message[: n - begin].encode("utf-16-le")) // 2 for n in (first, last))
        if is_one_text and start < end:
            place = {"start": str(number), "end": str(number), "startOffset": start, "endOffset": end}
            turns.append({**value, **place})
    yield from turns or [{**value, "start": "0", "end": "-1"}]


def _own(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    own = raw.get("concord")
    return own if isinstance(own, dict) else {}


def _person(annotator: Any, path: str) -> str:
    """Return an annotator's name, empty where nobody is named."""
    if isinstance(annotator, dict):
        for key in ("email", "username", "id"):
            if annotator.get(key):
                return _person(annotator[key], path)
        return ""
    if isinstance(annotator, str):
        return annotator.strip()[:NAME_LIMIT]
    if annotator is None:
        return ""
    if type(annotator) is not int:
        raise ImportProblem(
            f"must name an annotator, not be {kind_of(annotator)}", field=f"{path}.completed_by"
        )
    return f"annotator {annotator}"


def _with_exported_name(voice: Voice, own: Mapping[str, Any]) -> Voice:
    """Apply the rater name, kind and sample that Concord's export gives a voice."""
    if not own:
        return voice
    rater, kind, identified = own.get("rater"), own.get("kind"), own.get("identified", True)
    sample = own.get("sample", 0)
    where = f"{voice.path}.concord"
    if not isinstance(rater, str) or not 0 < len(rater) <= NAME_LIMIT:
        raise ImportProblem(f"must be a name of up to {NAME_LIMIT} characters", field=f"{where}.rater")
    if kind not in KINDS:
        raise ImportProblem(f"must be one of {', '.join(KINDS)}", field=f"{where}.kind")
    if type(identified) is not bool or (kind != "human" and not identified):
        raise ImportProblem("must be true, or false for a person", field=f"{where}.identified")
    if type(sample) is not int or not 0 <= sample < 2**31:
        raise ImportProblem("must be a whole number from 0", field=f"{where}.sample")
    voice.rater, voice.kind, voice.identified, voice.sample = rater, kind, identified, sample
    return voice


def _answers(results: Any, path: str, messages: Sequence[str]) -> tuple[list[Answered], Counter[str]]:
    """Parse results into answers, and count skipped ones by reason. `messages` are their texts."""
    places = [
        (f"{path}.result[{index}]", _with_preference(require(entry, dict, f"{path}.result[{index}]")))
        for index, entry in enumerate(require(results, list, f"{path}.result"))
    ]
    regions = _regions(places)
    answers, passed = [], Counter[str]()
    for where, result in places:
        kind = result.get("type")
        if kind not in TYPES:
            if kind != "chatmessage":
                passed[f"results of type {str(kind)[:30]}"] += 1
            continue
        control, value = result.get("from_name"), require(result.get("value"), dict, f"{where}.value")
        if not isinstance(control, str) or not control.strip():
            raise ImportProblem("must name a control", field=f"{where}.from_name")
        region = regions.get(str(result.get("id")), {})
        message = _message(value, _message(region, None))
        if message == ACROSS:
            passed["results across several messages"] += 1
            continue
        if message is not None and not message < len(messages):
            raise ImportProblem(
                f"{message} is not one of the {len(messages)} messages, counted from 0",
                field=f"{where}.value.start",
            )
        answer_value = _value(kind, value, where)
        answer = Answered(control.strip(), kind, message, answer_value, where, _explained(result))
        if answer.control == EVIDENCE:
            answer = replace(answer, region=str(result.get("id")))
        if message is not None and (span := _span(region | value, messages[message], passed)):
            answer = replace(
                answer,
                spans=dict.fromkeys(answer_value if isinstance(answer_value, tuple) else ("",), (span,)),
            )
        answers.append(answer)
    return _joined(answers, passed), passed


def _with_preference(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a preference between two texts as the choice of a side; any other result as it is."""
    value = result.get("value")
    if result.get("type") != "pairwise" or not isinstance(value, dict) or "selected" not in value:
        return result
    return {**result, "type": "choices", "value": {**value, "choices": [value["selected"]]}}


def _span(value: Mapping[str, Any], text: str, passed: Counter[str]) -> Span | None:
    """Return the words of a message that a value marks, None where it marks none that exist."""
    first, last = value.get("startOffset"), value.get("endOffset")
    if first is None or last is None:
        return None
    units = text.encode("utf-16-le", "surrogatepass")
    if type(first) is not int or type(last) is not int or not 0 <= first < last <= len(units) // 2:
        passed["offsets that are not within their message"] += 1
        return None
    end = _points(units, last)
    return _points(units, first), end + (len(text[:end].encode("utf-16-le", "surrogatepass")) < 2 * last)


def _points(units: bytes, offset: int) -> int:
    """Count the whole characters before an offset in UTF-16 units."""
    return len(units[: 2 * offset].decode("utf-16-le", "ignore"))


def _joined(answers: Iterable[Answered], passed: Counter[str]) -> list[Answered]:
    """Combine the results of a control about a message, as of several spans, into one answer.

    Options are united and texts follow one another. Numbers that differ are no answer, and are counted.
    """
    groups: dict[tuple[str, str, int | None, str], list[Answered]] = {}
    for answer in answers:
        groups.setdefault((answer.control, answer.type, answer.message, answer.region), []).append(answer)
    joined = []
    for first, *others in groups.values():
        same = [first, *others]
        values = [answer.value for answer in same]
        if isinstance(first.value, float) and len(set(values)) > 1:
            passed["different numbers for one message"] += len(same)
            continue
        spans: dict[str, tuple[Span, ...]] = {}
        for answer in same:
            for option, marked in answer.spans.items():
                spans[option] = tuple(dict.fromkeys((*spans.get(option, ()), *marked)))
        for option, marked in spans.items():
            passed["spans beyond the first 100 of an answer"] += max(0, len(marked) - MOST)
            spans[option] = marked[:MOST]
        notes = dict.fromkeys(answer.explanation for answer in same if answer.explanation)
        joined.append(replace(first, value=_united(values), spans=spans, explanation="\n".join(notes)))
    passed += Counter()  # drops zero counts
    return joined


def _united(values: Sequence[tuple[str, ...] | float | str]) -> tuple[str, ...] | float | str:
    first = values[0]
    if isinstance(first, tuple):
        return tuple(
            dict.fromkeys(option for value in values if isinstance(value, tuple) for option in value)
        )
    return "\n".join(dict.fromkeys(map(str, values))) if isinstance(first, str) else first


PLACE = ("start", "end", "startOffset", "endOffset", "index", "chatmessage")
ACROSS = -1
"""Message number of a region that is about several messages."""


def _regions(places: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return the place of each region, by its id: its message, and its offsets in it."""
    regions: dict[str, dict[str, Any]] = {}
    for _, result in places:
        value, key = result.get("value"), result.get("id")
        if isinstance(value, dict) and isinstance(key, str) and _message(value, None) is not None:
            regions.setdefault(key, {name: value[name] for name in PLACE if name in value})
    return regions


def _message(value: Mapping[str, Any], of_region: int | None) -> int | None:
    """Return the message that a value is about, ACROSS for several, None for the whole."""
    chat = value.get("chatmessage")
    index = chat.get("index") if isinstance(chat, dict) else value.get("index")
    start = value.get("start", index)
    end = value.get("end", start)
    if start is None:
        return of_region
    if str(start) != str(end) or not str(start).isascii() or not str(start).isdigit() or len(str(start)) > 9:
        return ACROSS
    return int(str(start))


def _value(kind: str, value: Mapping[str, Any], where: str) -> tuple[str, ...] | float | str:
    """Return the answer of a value: options, a number or a text."""
    key = "text" if kind == "textarea" else kind
    content, path = value.get(key), f"{where}.value.{key}"
    if kind in ("rating", "number"):
        if content is None or not is_number(content):
            raise ImportProblem(f"{str(content)[:40]!r} is not a number", field=path)
        return float(content)
    parts = [content] if isinstance(content, str) else content
    options = [_option(part, f"{path}[{index}]") for index, part in enumerate(require(parts, list, path))]
    return "\n".join(options) if kind == "textarea" else tuple(dict.fromkeys(options))


def _option(part: Any, path: str) -> str:
    """Return an option as one text: for a taxonomy, its full path."""
    if isinstance(part, list) and part and all(isinstance(step, str) for step in part):
        return PATH.join(part)
    return require(part, str, path)


def _explained(result: Mapping[str, Any]) -> str:
    """Return the note on a result."""
    meta = result.get("meta")
    texts = meta.get("text") if isinstance(meta, dict) else None
    if isinstance(texts, str):
        return texts
    return "\n".join(texts) if isinstance(texts, list) and all(isinstance(t, str) for t in texts) else ""


# Questions of Label Studio's controls, with a scale, from Concord's export or inferred from the answers.
#
# Label Studio's files do not hold the labelling configuration, so questions are inferred from the answers: a
# control with always exactly one chosen option is one question (of numbers, where all options are); a control
# with several or none is a tag for each option, answered 0 or 1 wherever the control was answered.

STARS = 5
"""Number of stars of a rating, unless higher ones were given."""
MOST_STARS = 1_000
KEY_LIMIT = 120
NO_STARS = "no stars given"
Key = tuple[str, bool]
"""A control, and whether it is about single messages."""


class Controls:
    """Controls of a foreign file, from all the answers in it."""

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
        earlier_family = self.families.setdefault(key, family)
        if earlier_family != family:
            raise ImportProblem(
                f"the control {answer.control!r} is answered with {family} here and with {earlier_family} "
                "elsewhere",
                field=f"{answer.path}.type",
            )
        if isinstance(answer.value, tuple):
            self.options.setdefault(key, {}).update(dict.fromkeys(answer.value))
            self.single[key] = self.single.get(key, True) and len(answer.value) == 1
        elif isinstance(answer.value, float):
            self.most[key] = max(self.most.get(key, 0.0), answer.value)
            if answer.type == "rating" and not 0 <= answer.value <= MOST_STARS:
                raise ImportProblem(
                    f"{answer.value:g} is not a number of stars from 0 to {MOST_STARS}", field=answer.path
                )

    def labels(self, voice: Voice) -> Iterator[LabelRecord]:
        """Yield the labels of a voice's answers."""
        for answer in voice.answers:
            yield from self._labels(voice, answer)

    def _labels(self, voice: Voice, answer: Answered) -> Iterator[LabelRecord]:
        key, name, value = _key(answer), answer.control, answer.value
        if isinstance(value, str):
            yield _label(voice, answer, name, value, "text")
        elif isinstance(value, float) and answer.type == "rating":
            stars = tuple(float(n) for n in range(1, max(STARS, int(self.most[key])) + 1))
            yield _label(voice, answer, name, value or None, "ordinal", stars)
        elif isinstance(value, float):
            yield _label(voice, answer, name, value, "interval")
        elif not self.single[key]:
            for option in self.options[key]:
                tag = f"{name}: {option}"
                label = _label(voice, answer, tag, float(option in value), "binary", (0.0, 1.0), marks=option)
                yield replace(label, group=name)
        elif numbers := _numbers(self.options[key]):
            scale = (*sorted(numbers.values()),)
            yield _label(voice, answer, name, numbers[value[0]], "ordinal", scale, marks=value[0])
        else:
            yield _label(voice, answer, name, value[0], "nominal", tuple(self.options[key]), marks=value[0])


def own_labels(voice: Voice, controls: Mapping[str, Any], continuation: str) -> Iterator[LabelRecord]:
    """Yield the labels of a voice in Concord's own export, whose controls describe their questions."""
    pointed = _marked_evidence(voice, controls) | {
        _place(entry): _passages(voice, entry, continuation) for entry in _export_entries(voice, "evidence")
    }
    for place, label in _own_labels(voice, controls):
        group = _group(controls[place[0]], label.question)
        yield replace(label, evidence=pointed.get(place, label.evidence), group=group)


def _group(control: Mapping[str, Any], question: str) -> str:
    """Return the group of a question that is one of a control's tags."""
    tags = control.get("tags") or ()
    groups = (tag.get("group") for tag in tags if _is_tag(tag) and tag["question"] == question)
    return next((group for group in groups if isinstance(group, str)), "")


def _marked_evidence(
    voice: Voice, controls: Mapping[str, Any]
) -> dict[tuple[str, str, int | None], tuple[Passage, ...]]:
    """Return what a voice's marks of evidence point at, by the place of the answer."""
    described = controls.get(EVIDENCE)
    entries = described.get("evidence") if isinstance(described, dict) else None
    labels = {entry.get("label"): entry for entry in entries or () if isinstance(entry, dict)}
    passages: dict[tuple[str, str, int | None], list[Passage]] = {}
    for answer in voice.answers:
        match = MARK.fullmatch(answer.region)
        if answer.message is None or match is None:
            continue
        for label in answer.value if isinstance(answer.value, tuple) else ():
            entry = labels.get(label, {})
            place = str(entry.get("control")), str(entry.get("question")), int(match[1]) if match[1] else None
            for start, end in answer.spans.get(label) or ((None, None),):
                passages.setdefault(place, []).append(
                    Passage(answer.continuation, answer.message, start, end)
                )
    return {place: in_order(marked) for place, marked in passages.items()}


def _own_labels(
    voice: Voice, controls: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str, int | None], LabelRecord]]:
    """Yield labels, each with the control, question and turn that identify it in the export."""
    gone = {_place(entry): entry for entry in _export_entries(voice, "missing")}
    notes = {_place(entry): str(entry.get("text", "")) for entry in _export_entries(voice, "explanations")}
    for answer in voice.answers:
        if answer.control in (REGION, EVIDENCE) and answer.type == "paragraphlabels":
            continue
        control = _exported_control(controls, answer.control, answer.path)
        if "tags" not in control:
            label = _single(voice, answer, control)
            yield (answer.control, label.question, answer.message), label
            continue
        selected = answer.value if isinstance(answer.value, tuple) else ()
        for question, path in _tags(control, answer):
            place = (answer.control, question, answer.message)
            if place not in gone:
                tag = replace(answer, explanation=notes.get(place, ""))
                yield (
                    place,
                    _label(voice, tag, question, float(path in selected), **_scale(control), marks=path),
                )
    for index, entry in enumerate(gone.values()):
        where = f"{voice.path}.concord.missing[{index}]"
        control = _exported_control(controls, str(entry.get("control")), where)
        if entry.get("reason"):
            empty = Answered(str(entry["control"]), "", entry["turn"], (), where, str(entry.get("text", "")))
            reason = str(entry["reason"])
            label = _label(voice, empty, str(entry["question"]), None, **_scale(control), missing=reason)
            yield _place(entry), label


def _place(entry: Mapping[str, Any]) -> tuple[str, str, int | None]:
    return str(entry.get("control")), entry["question"], entry.get("turn")


def _passages(voice: Voice, entry: Mapping[str, Any], continuation: str) -> tuple[Passage, ...]:
    path = f"{voice.path}.concord.evidence"
    fields = Fields({"passages": entry.get("passages")}, path)
    return evidence(fields.items("passages"), continuation, f"{path}.passages")


def _exported_control(controls: Mapping[str, Any], name: str, path: str) -> Mapping[str, Any]:
    """Return the control that Concord's export describes under a name."""
    control = controls.get(name)
    if not isinstance(control, dict) or not isinstance(control.get("scheme"), str):
        names = ", ".join(controls)[:200] or "none"
        raise ImportProblem(f"{name[:80]!r} is not one of the task's controls: {names}", field=path)
    return control


def _export_entries(voice: Voice, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list in Concord's export beside a voice's results."""
    entries = voice.own.get(name, [])
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        turn = entry.get("turn") if isinstance(entry, dict) else ""
        has_question = isinstance(entry, dict) and isinstance(entry.get("question"), str)
        if not has_question or type(turn) not in (int, type(None)):
            where = f"{voice.path}.concord.{name}[{index}]"
            raise ImportProblem("must be an object with a question, and a turn or null", field=where)
        yield entry


def _tags(control: Mapping[str, Any], answer: Answered) -> list[tuple[str, str]]:
    """Return the questions of a set of tags, each with its text as an option."""
    raw_tags = control["tags"]
    if not isinstance(raw_tags, list) or not all(map(_is_tag, raw_tags)):
        raise ImportProblem("the control's tags must have a question and a path each", field=answer.path)
    tags = [(str(tag["question"]), PATH.join(tag["path"])) for tag in raw_tags]
    paths = {path for _, path in tags}
    for option in answer.value if isinstance(answer.value, tuple) else ():
        if option not in paths:
            raise ImportProblem(f"{option[:80]!r} is not one of the options", field=f"{answer.path}.value")
    return tags


def _is_tag(tag: Any) -> bool:
    path = tag.get("path") if isinstance(tag, dict) else None
    steps = path if isinstance(path, list) and "question" in tag else []
    return bool(steps) and all(isinstance(step, str) for step in steps)


def _single(voice: Voice, answer: Answered, control: Mapping[str, Any]) -> LabelRecord:
    """Return the label of a control that is one question."""
    value, marks = answer.value, ""
    if isinstance(value, tuple):
        if len(value) != 1:
            raise ImportProblem(f"has {len(value)} options, not one", field=f"{answer.path}.value")
        value = marks = value[0]
    if control.get("level") not in ("nominal", "text") and isinstance(value, str):
        numbers = _numbers((value,))
        if not numbers:
            raise ImportProblem(f"{value[:40]!r} is not a number", field=f"{answer.path}.value")
        value = numbers[value]
    return _label(voice, answer, str(control.get("question")), value, **_scale(control), marks=marks)


def _scale(control: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scheme and scale of a control of Concord's export; tags are 0 or 1."""
    if "tags" in control:
        return {"scheme": control["scheme"], "level": "binary", "scale": (0.0, 1.0)}
    values = control.get("values")
    level = control.get("level")
    return {
        "scheme": control["scheme"],
        "level": level if level in LEVELS else "",
        "scale": tuple(values) if isinstance(values, list) else (),
    }


def _key(answer: Answered) -> Key:
    return answer.control, answer.message is not None


def _numbers(options: Iterable[str]) -> dict[str, float]:
    """Convert options to numbers, empty where one is not a number."""
    try:
        numbers = {option: float(option) for option in options}
    except ValueError:
        return {}
    return numbers if all(math.isfinite(number) for number in numbers.values()) else {}


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
    """Build a label; a missing value without a reason gets that of an empty rating.

    Its evidence is the words that were marked with the option `marks`.
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
