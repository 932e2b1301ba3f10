"""CoCoEval's overall scores of a whole continuation: consistency and collaborativeness, 1 to 10.

The criteria, the scale and its bands are those of CoCoEval's overall judge (table 14), the bands in the words
that people read (`annotation.schemes.cocoeval_overall`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotation.schemes.cocoeval_overall import SCHEME as OVERALL_SCHEME
from annotation.schemes.cocoeval_overall import VALUES
from jobs.prompt import OutOfScale, Unparseable
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import AROUND, around, history_of, numbered
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object
from judges.protocols.scales import scale_lines
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import number, said

KEYS = tuple(question.key for question in OVERALL_SCHEME.questions)
CRITERIA = {
    "consistency": "Consistency: do the turns agree with one another, with what is known about the speakers "
    "and with what came before, openly said or implied, and does one follow from another? Length and "
    "phrasing alone cost nothing.",
    "collaborativeness": "Collaborativeness: do the speakers take up each other's contributions, reason "
    "together and move towards what they share, without disagreement that nothing calls for?",
}
NO_REASON = "no_reason"
LONGEST_EXPLANATION = 10_000


class CocoevalOverall(Asking):
    """One call per continuation answers the two questions about it as a whole. Static ones are left out."""

    key = "cocoeval_overall"
    title = "CoCoEval overall: consistency and collaborativeness of a continuation, 1 to 10"
    covers = "dialogue"
    reply_tokens = 300
    answers = {key: (OVERALL_SCHEME, key) for key in KEYS}

    def prompt_file(self, variant: str) -> str:
        """The one text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The numbered turns, what came before, what is known, the criteria and the reply's fields."""
        return (
            Variable("turns", "the continuation, its judged turns numbered from 1", required=True),
            Variable("history", "the turns before the continuation"),
            *AROUND,
            Variable("criteria", "the two criteria, each with the descriptions of its scores"),
            Variable("fields", "the fields of the reply, two for each score", required=True),
            Variable("n", "the number of judged turns"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show what is known, the history, and the continuation with the judged turns numbered from 1."""
        seen, history = Seen(case), history_of(case)
        return {
            "criteria": lambda: "\n\n".join(_described(key) for key in KEYS),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "turns": lambda: quote("TURNS", numbered(case, seen, history)),
            "n": str(len(case.judged())),
            "fields": ",\n".join(f'  "{key}_explanation": "...", "{key}": ...' for key in KEYS),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """An explanation and a score for each of the two."""
        fields: dict[str, Any] = {}
        for key in KEYS:
            fields[f"{key}_explanation"] = {"type": "string"}
            fields[key] = {"type": "integer", "enum": list(VALUES)}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the JSON object: both scores whole numbers, both explanations there."""
        data = json_object(reply, case)
        verdicts = tuple(
            Verdict(key, None, _score(data, key), explanation=_explanation(data, key)) for key in KEYS
        )
        silent = [one.question for one in verdicts if one.value != VALUES[-1] and not one.explanation.strip()]
        return Reading(verdicts, tuple(f"{NO_REASON}: nothing is said of what cost {key}" for key in silent))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say both scores, each after its explanation."""
        fields: dict[str, Any] = {}
        for key in KEYS:
            verdict = said(reading, key, None)
            fields |= {f"{key}_explanation": verdict.explanation, key: int(number(verdict))}
        return json.dumps(fields, ensure_ascii=False)


def _described(key: str) -> str:
    return "\n".join([CRITERIA[key], *scale_lines(OVERALL_SCHEME.question(key))])


def _score(data: dict[str, Any], key: str) -> float:
    if key not in data:
        raise Unparseable(f"the field {key} is missing")
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unparseable(f"{key}: {str(value)[:40]!r} is not a whole number")
    if value not in VALUES:
        raise OutOfScale(f"{key}: {str(value)[:40]} is not on the scale {VALUES[0]} to {VALUES[-1]}")
    return float(value)


def _explanation(data: dict[str, Any], key: str) -> str:
    value = data.get(f"{key}_explanation")
    if not isinstance(value, str):
        raise Unparseable(f"the field {key}_explanation is missing or no text")
    if len(value) > LONGEST_EXPLANATION:
        raise Unparseable(
            f"{key}_explanation has {len(value):,} characters, not at most {LONGEST_EXPLANATION:,}"
        )
    return value
