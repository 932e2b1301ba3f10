"""CoCoEval's ten behaviours over a whole continuation: a count, an explanation and the turns of each.

The ten behaviours, and the count and explanation of each, are those of CoCoEval's fine-grained judge (table
15); the wording is Concord's own, and the turn numbers are its extension. The turns decide the labels: a
behaviour is 1 on the turns that the judge names and 0 on all others. A count that differs is flagged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.schemes.base import QuestionDefinition
from annotation.schemes.cocoeval_behaviours import BEHAVIOURS, SCHEME
from jobs.prompt import Unparseable
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.material import AROUND, around, numbered
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object, whole_number
from judges.protocols.wording import Filling, Variable

KEYS = tuple(behaviour[0] for behaviour in BEHAVIOURS)
LONGEST_EXPLANATION = 10_000
QUESTIONS: dict[str, QuestionDefinition] = {key: SCHEME.question(key) for key in KEYS}


class CocoevalBehaviours(Asking):
    """One call per continuation, ten binary labels per turn. Static continuations are left out."""

    key = "cocoeval_behaviours"
    title = "CoCoEval behaviours: ten behaviours, tagged on every turn"
    covers = "continuation"
    reply_tokens = 500
    answers = {key: (SCHEME, key) for key in KEYS}

    def prompt_file(self, variant: str) -> str:
        """The text of the one variant."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """The numbered turns, what came before, what is known, the behaviours and the reply's fields."""
        return (
            Variable("turns", "the continuation, its judged turns numbered from 1", required=True),
            Variable("history", "the turns before the continuation"),
            *AROUND,
            Variable("behaviours", "the ten behaviours with their definitions"),
            Variable("fields", "the fields of the reply, three for each behaviour", required=True),
            Variable("n", "the number of judged turns"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show what is known, the history, and the continuation with the judged turns numbered from 1."""
        seen = Seen(case)
        history = () if case.continuation.id == "self" else case.dialogue.turns
        return {
            "behaviours": lambda: "\n".join(_described(key) for key in KEYS),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "turns": lambda: quote("TURNS", numbered(case, seen, history)),
            "n": str(len(case.judged())),
            "fields": lambda: ",\n".join(_field_lines(key) for key in KEYS),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Three fields for each behaviour."""
        return reply_schema()

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the JSON object; every behaviour needs its three fields."""
        data, judged = json_object(reply), case.judged()
        verdicts: list[Verdict] = []
        flags: list[str] = []
        for key in KEYS:
            count = whole_number(data, f"{key}_count", len(judged))
            explanation = _explanation(data, key)
            marked = _marked(data, key, len(judged))
            if count != len(marked):
                flags.append(f"{key}: the count {count} contradicts the {len(marked)} turns named")
            for number, index in enumerate(judged, start=1):
                shown = number in marked
                verdicts.append(Verdict(key, index, float(shown), explanation=explanation if shown else ""))
        return Reading(tuple(verdicts), tuple(flags))


def reply_schema() -> dict[str, Any]:
    """Return the JSON schema of a reply: three required fields per behaviour, nothing else."""
    fields: dict[str, Any] = {}
    for key in KEYS:
        fields[f"{key}_explanation"] = {"type": "string"}
        fields[f"{key}_turns"] = {"type": "array", "items": {"type": "integer"}}
        fields[f"{key}_count"] = {"type": "integer"}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _described(key: str) -> str:
    question = QUESTIONS[key]
    text = question.help
    return f"- {key} ({question.group.lower()}): {text['definition']} Not this: {text['not_this']}"


def _field_lines(key: str) -> str:
    return f'  "{key}_explanation": "...", "{key}_turns": [...], "{key}_count": ...'


def _explanation(data: dict[str, Any], key: str) -> str:
    value = data.get(f"{key}_explanation")
    if not isinstance(value, str):
        raise Unparseable(f"the field {key}_explanation is missing or no text")
    if len(value) > LONGEST_EXPLANATION:  # it is kept with every turn that it is about
        raise Unparseable(
            f"{key}_explanation has {len(value):,} characters, not at most {LONGEST_EXPLANATION:,}"
        )
    return value


def _marked(data: dict[str, Any], key: str, last: int) -> set[int]:
    """Return the turn numbers named for a behaviour; they are 1-based, as shown in the prompt."""
    value = data.get(f"{key}_turns")
    if not isinstance(value, list):
        raise Unparseable(f"the field {key}_turns is missing or no list")
    for number in value:
        if not isinstance(number, int) or isinstance(number, bool):
            raise Unparseable(f"{key}_turns: {str(number)[:40]!r} is not a turn number")
        if not 1 <= number <= last:
            raise Unparseable(f"{key}_turns: there is no turn {str(number)[:40]}; the turns are 1 to {last}")
    return set(value)
