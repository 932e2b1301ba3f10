"""How an agent of a group chat behaves in one message: five dimensions from 1 to 5, and whether it leaks.

After the group-chat framework's CONDUCT (`group_chat.md`, section 6); anchors and wording are Concord's own.
The judge sees everything, private turns marked, and the list of secrets. It is asked only for the dimensions
that the point's key names, and says of one that is not at stake why it does not apply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from annotation.scenarios.records import DIMENSIONS, LEAK
from annotation.schemes.conduct import CONDUCT, FIVE
from jobs.prompt import OutOfScale, Unparseable
from judges.protocols.answer_fields import object_of, text_field
from judges.protocols.base import Asking, Case, Reading, Unwritable, Verdict
from judges.protocols.decided import (
    CHAT,
    DECISION,
    FIELDS,
    LISTENERS,
    NOT_ASKED,
    VARIANTS,
    decision_block,
    dimensions_of,
    listeners_block,
    refusal_at,
    secrets_block,
    whole_chat,
)
from judges.protocols.material import AROUND, around
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object
from judges.protocols.scales import shown
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import number, said

NOT_APPLICABLE = "not applicable"
"""The reason of an answer that the judge leaves out because the dimension is not at stake."""
_TURNS = re.compile(r"\(turns? ([\d, ]+)\) ?")


class Conduct(Asking):
    """One call per message: a score, the turns that it rests on and a reason per dimension; leak 0 or 1."""

    key = "conduct"
    title = "Conduct in a group chat: five dimensions and leaks of a decision"
    covers = "decision"
    reply_tokens = 200
    variants = VARIANTS
    answers = {key: (CONDUCT, key) for key in DIMENSIONS}

    def refusal(self, case: Case, variant: str) -> str:
        """A decision that does not reach CONDUCT, or says nothing, is not judged."""
        return refusal_at(case, "conduct", variant)

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The whole chat, the decision, who sees it, the secrets, and what is asked."""
        return (
            CHAT,
            DECISION,
            LISTENERS,
            Variable("secrets", "the secrets by then, each with who may know it", required=True),
            *AROUND,
            Variable("dimensions", "what is asked for, with what the values stand for", required=True),
            FIELDS,
            Variable("n", "the number of the decision: that of the last turn, and one"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show everything that was said, numbered, and the decision with the next number."""
        seen, asked = Seen(case), dimensions_of(case)
        chat = whole_chat(seen)
        n = len(chat) + 1
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat, numbers=True)),
            "decision": lambda: decision_block(seen, chat, f"[{n}] "),
            "listeners": lambda: listeners_block(case, seen),
            "secrets": lambda: secrets_block(case, seen),
            "dimensions": lambda: "\n".join(_described(key) for key in asked),
            "fields": ",\n".join(f"  {_form(key)}" for key in asked),
            "n": str(n),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """An object for each dimension that is asked for."""
        return object_of({key: _schema(key) for key in dimensions_of(case)})

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the object of each dimension; what is not asked for has no answer for that reason."""
        data, asked = json_object(reply, case), dimensions_of(case)
        last = len(whole_chat(Seen(case))) + 1
        return Reading(
            tuple(
                _read(key, data, case, last)
                if key in asked
                else Verdict(key, case.turn, None, missing=NOT_ASKED)
                for key in self.answers
            )
        )

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say each dimension that is asked for; null where it does not apply."""
        found = {one.question: one for one in reading.verdicts if one.turn == case.turn}
        fields: dict[str, Any] = {}
        for key in dimensions_of(case):
            left_out = key != LEAK and key in found and found[key].missing == NOT_APPLICABLE
            verdict = found[key] if left_out else said(reading, key, case.turn)
            fields[key] = _written(key, verdict)
        return json.dumps(fields, ensure_ascii=False)


def _described(key: str) -> str:
    question = CONDUCT.question(key)
    anchors = "; ".join(f"{shown(value)} = {text}" for value, text in question.anchors.items())
    return f"- {key}: {question.wording} {anchors}"


def _form(key: str) -> str:
    if key == LEAK:
        return f'"{key}": {{"leak": ..., "why": "..."}}'
    return f'"{key}": {{"score": ..., "turns": [...], "why": "..."}}'


def _schema(key: str) -> dict[str, Any]:
    why = {"type": "string"}
    if key == LEAK:
        return object_of({"leak": {"type": "integer", "enum": [0, 1]}, "why": why})
    score = {"anyOf": [{"type": "integer", "enum": list(FIVE)}, {"type": "null"}]}
    return object_of({"score": score, "turns": {"type": "array", "items": {"type": "integer"}}, "why": why})


def _read(key: str, data: Mapping[str, Any], case: Case, last: int) -> Verdict:
    """Return the answer about a dimension; raise Unparseable where its object does not hold one."""
    told = data.get(key)
    if not isinstance(told, dict):
        raise Unparseable(f"the field {key} is missing or no object")
    why, place = text_field(told, "why", f"{key}: ").strip(), f"{key}: "
    if key == LEAK:
        return Verdict(key, case.turn, whole(told, "leak", (0, 1), place), explanation=why)
    turns = _turns(told, place, last)
    if "score" in told and told["score"] is None:
        if not why:
            raise Unparseable(f"{key}: nothing is said of why it does not apply")
        return Verdict(key, case.turn, None, missing=NOT_APPLICABLE, explanation=_pointed(turns, why))
    return Verdict(key, case.turn, whole(told, "score", FIVE, place), explanation=_pointed(turns, why))


def whole(data: Mapping[str, Any], name: str, values: tuple[int, ...], place: str = "") -> float:
    """Return a field's value, one of some whole numbers; raise Unparseable for anything else."""
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unparseable(f"{place}the field {name} is missing or no whole number")
    if value not in values:
        raise OutOfScale(f"{place}{str(value)[:40]} is not one of {', '.join(map(str, values))}")
    return float(value)


def _turns(told: Mapping[str, Any], place: str, last: int) -> list[int]:
    value = told.get("turns")
    if not isinstance(value, list):
        raise Unparseable(f"{place}the field turns is missing or no list")
    for one in value:
        if not isinstance(one, int) or isinstance(one, bool) or not 1 <= one <= last:
            raise Unparseable(f"{place}there is no turn {str(one)[:40]!r}; the turns are 1 to {last}")
    return sorted(set(value))


def _pointed(turns: list[int], why: str) -> str:
    """Return a reason after the numbers of the turns that it rests on."""
    if not turns:
        return why
    return f"({'turn' if len(turns) == 1 else 'turns'} {', '.join(map(str, turns))}) {why}".strip()


def _written(key: str, verdict: Verdict) -> dict[str, Any]:
    if key == LEAK:
        return {"leak": int(number(verdict)), "why": verdict.explanation}
    found = _TURNS.match(verdict.explanation)
    turns = [int(one) for one in found[1].split(",")] if found else []
    why = verdict.explanation[found.end() :] if found else verdict.explanation
    if verdict.value is None and not why:
        raise Unwritable(f"there is no reason why {key} does not apply")
    score = None if verdict.value is None else int(number(verdict))
    return {"score": score, "turns": turns, "why": why}
