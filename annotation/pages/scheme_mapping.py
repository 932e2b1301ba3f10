"""The way from a scheme's form to the shape of a file, and from a definition to its form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.pages.scheme_draft import GONE, NO_KEY, Draft, DraftQuestion, number
from annotation.schemes.base import UNSCALED, QuestionDefinition, SchemeDefinition, is_met, plain

FEW = 3
"""Up to so many questions stand open in the editor; of more, each is opened by who edits it."""
LEVEL = {"tag": "binary", "count": "ratio", "number": "interval", "comparison": "nominal"}


def mapping_of(draft: Draft) -> dict[str, Any]:
    """Return a settled draft in the shape of a file (`annotation.schemes.files`)."""
    flags = {name: True for name in ("about_open", "one_conversation") if getattr(draft, name)}
    texts = {
        name: text for name in ("introduction", "guidelines", "source") if (text := getattr(draft, name))
    }
    return {
        "key": draft.chosen_key,
        "title": draft.title,
        "item_kind": draft.item_kind,
        "unit": draft.unit,
        **texts,
        **flags,
        "questions": [_question(draft, one) for one in draft.questions],
    }


def _question(draft: Draft, question: DraftQuestion) -> dict[str, Any]:
    told: dict[str, Any] = {
        "key": question.chosen_key,
        "wording": question.wording,
        "level": LEVEL.get(question.kind, question.kind),
        **_scale(question),
        "group": question.group if question.kind in ("tag", "text") else "",
        "shortcut": question.chosen_shortcut,
        "help": {name: text for name, text in question.help.items() if text},
        "required": question.required,
        **_evidence(question),
        "item_kind": question.item_kind,
        "show_if": _condition(draft, question) if question.after else None,
    }
    return {name: value for name, value in told.items() if value not in (None, "", {}, [])}


def _evidence(question: DraftQuestion) -> dict[str, Any]:
    if not question.evidence:
        return {}
    choices = {} if question.kind == "tag" else dict(question.choices)
    listed = [question.typed(value) for value in question.evidence_for if value in choices]
    required = {"evidence_required": True} if question.evidence_required else {}
    return {"evidence": question.evidence, "evidence_for": listed, **required}


def _scale(question: DraftQuestion) -> dict[str, Any]:
    if question.is_open:
        ends = {"minimum": question.minimum, "maximum": question.maximum}
        whole = {"whole": True} if question.whole else {}
        return {name: number(end) for name, end in ends.items() if end} | whole
    if question.kind in UNSCALED:
        return {}
    if question.kind == "tag" and not question.values:
        return {"values": [0, 1], "positive": 1}
    rows = [(question.typed(value), text) for value, text in question.values if value or text]
    told: dict[str, Any] = {"values": [value for value, _ in rows]}
    if anchors := {value: text for value, text in rows if text}:
        told["anchors"] = anchors
    if question.kind in ("binary", "tag"):
        told["positive"] = number(question.positive or "1")
    return told


def _condition(draft: Draft, question: DraftQuestion) -> dict[str, Any]:
    awaited = next((one for one in draft.questions if one.uid == question.after), None)
    if awaited is None:
        return {"question": ""}
    key = awaited.chosen_key
    if awaited.is_open:
        ends = {"min": question.low, "max": question.high}
        return {"question": key} | {name: number(end) for name, end in ends.items() if end}
    values = [awaited.typed(value) for value, _ in awaited.choices]
    ordered = all(isinstance(value, int | float) for value in values)
    wanted = [awaited.typed(value) for value in question.answers if value in dict(awaited.choices)]
    kept = json.loads(question.condition or "null")
    if kept and kept["question"] == key and wanted == _met(kept, key, values):
        return dict(kept)
    return {"question": key} | _range(sorted(values) if ordered else [], wanted)


def _range(scale: list[Any], wanted: list[Any]) -> dict[str, Any]:
    """Return the low or the high end of a scale as one bound, else the list of answers."""
    some = 0 < len(wanted) < len(scale)
    if some and sorted(wanted) == scale[: len(wanted)]:
        return {"max": scale[len(wanted) - 1]}
    if some and sorted(wanted) == scale[-len(wanted) :]:
        return {"min": scale[-len(wanted)]}
    return {"in": wanted}


def _met(condition: Mapping[str, Any], key: str, values: Iterable[Any]) -> list[Any]:
    return [value for value in values if is_met(condition, {key: value})]


def draft_of(definition: SchemeDefinition) -> Draft:
    """Return a definition as the form shows it."""
    draft = Draft(
        title=definition.title,
        key=definition.key,
        item_kind=definition.item_kind,
        unit=definition.unit,
        introduction=definition.introduction,
        guidelines=definition.guidelines,
        source=definition.source,
        about_open=definition.about_open,
        one_conversation=definition.one_conversation,
    )
    few = len(definition.questions) <= FEW
    for index, question in enumerate(definition.questions):
        draft.questions.append(_draft_question(f"q{index + 1}", question, few))
        _wait(draft, draft.questions[-1], question.show_if)
    draft.settle()
    return draft


def _draft_question(uid: str, question: QuestionDefinition, unfolded: bool) -> DraftQuestion:
    kind: str = "tag" if question.is_tag else question.level
    if question.is_comparison:
        kind = "comparison"
    if question.is_open:
        kind = "count" if question.level == "ratio" else "number"
    is_plain = question.is_tag and not question.anchors
    rows = (
        [] if is_plain else [(str(value), str(question.anchors.get(value, ""))) for value in question.values]
    )
    return DraftQuestion(
        uid=uid,
        unfolded=unfolded,
        wording=question.wording,
        key=question.key,
        kind=kind,
        values=rows,
        minimum="" if question.minimum is None else str(plain(question.minimum)),
        maximum="" if question.maximum is None else str(plain(question.maximum)),
        whole=question.whole,
        group=question.group,
        shortcut=question.shortcut or (NO_KEY if question.is_tag else ""),
        required=question.required,
        positive="" if question.positive is None else str(plain(question.positive)),
        help=dict(question.help),
        evidence=question.evidence,
        evidence_for=[str(value) for value in question.evidence_for],
        evidence_required=question.evidence_required,
        item_kind=question.item_kind,
    )


def _wait(draft: Draft, question: DraftQuestion, condition: Mapping[str, Any] | None) -> None:
    """Show what a question waits for."""
    if condition is None:
        return
    question.condition = json.dumps(dict(condition), ensure_ascii=False)
    awaited = next((one for one in draft.questions if one.key == condition["question"]), None)
    question.after = awaited.uid if awaited else GONE
    if awaited is None or awaited.is_open:
        question.low, question.high = (str(condition.get(end, "")) for end in ("min", "max"))
        return
    pairs = [(value, awaited.typed(value)) for value, _ in awaited.choices]
    question.answers = [value for value, typed in pairs if is_met(condition, {awaited.key: typed})]
