"""Reading the form of the scheme editor."""

from __future__ import annotations

import json
import re
from typing import Any

from annotation.pages.scheme_draft import ANSWERED_BY, HELP, Draft, DraftQuestion, number
from annotation.schemes.base import UNSCALED
from annotation.schemes.comparisons import COMPARISON

MOST_QUESTIONS = 200
MOST_ROWS = 300
STEPS = [(str(step), "") for step in range(1, 6)]
"""The rows that a new scale begins with."""
_UID = re.compile(r"q[0-9]{1,4}", re.ASCII)


def posted(data: Any) -> Draft:
    """Return what a form posted, settled; what it does not name is empty."""
    texts: dict[str, Any] = {
        name: _text(data.get(name))
        for name in ("title", "key", "item_kind", "unit", "introduction", "guidelines", "source")
    }
    flags: dict[str, Any] = {name: name in data for name in ("about_open", "one_conversation")}
    uids = [uid for uid in dict.fromkeys(data.getlist("question")) if _UID.fullmatch(uid)][:MOST_QUESTIONS]
    draft = Draft(**texts, **flags, questions=[_posted_question(data, uid) for uid in uids])
    draft.settle()
    return draft


def _posted_question(data: Any, uid: str) -> DraftQuestion:
    def text(name: str) -> str:
        return _text(data.get(f"{uid}-{name}"))

    def listed(name: str) -> list[str]:
        return [_text(one) for one in data.getlist(f"{uid}-{name}")[:MOST_ROWS]]

    texts = "wording key minimum maximum group shortcut positive after low high evidence item_kind"
    same: dict[str, Any] = {name: text(name) for name in texts.split()}
    question = DraftQuestion(
        uid=uid,
        kind=text("kind") if text("kind") in ANSWERED_BY else "ordinal",
        values=list(zip(listed("value"), listed("anchor"), strict=False)),
        unfolded=bool(text("unfolded")),
        whole=f"{uid}-whole" in data,
        required=f"{uid}-required" in data,
        help={name: text(f"help-{name}") for name in HELP},
        answers=listed("answer"),
        evidence_for=listed("evidence-for"),
        evidence_required=f"{uid}-evidence-required" in data,
        condition=_condition(text("condition")),
        **same,
    )
    if question.kind != text("was"):
        suit_values(question)
    return question


def suit_values(question: DraftQuestion) -> None:
    """Give a question rows of values that fit how it is now answered; rows that fit already stay."""
    numeric = all(isinstance(number(value), int | float) for value, text in question.values if value or text)
    if question.kind == "binary":
        texts = {value: text for value, text in question.values if value in ("0", "1")}
        question.values = [("0", texts.get("0", "")), ("1", texts.get("1", ""))]
    elif question.is_scale and (len(question.values) < 2 or not numeric):
        question.values = list(STEPS)
    elif question.kind == "nominal" and question.values in ([], STEPS):
        question.values = [("", ""), ("", "")]
    elif question.kind == "comparison":
        question.values = [(value, "") for value in COMPARISON]
    elif question.kind in ("tag", "count", "number", *UNSCALED):
        question.values = []


def _condition(text: str) -> str:
    """Return the JSON of a stored condition, '' for anything else."""
    try:
        found = json.loads(text or "null")
    except ValueError:
        return ""
    if not isinstance(found, dict) or not isinstance(found.get("question"), str):
        return ""
    ends = all(isinstance(found.get(end, 0), int | float) for end in ("min", "max"))
    return text if ends and isinstance(found.get("in", []), list) else ""


def _text(value: Any) -> str:
    return str(value or "").replace("\r\n", "\n").strip()
