"""CoCoEval: counts of ten behaviours over a continuation, and overall scores of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.schemes.cocoeval import BEHAVIOUR_TAGS as BEHAVIOURS_SCHEME
from annotation.schemes.cocoeval import BEHAVIOURS, VALUES
from annotation.schemes.cocoeval import OVERALL_SCORES as OVERALL_SCHEME
from annotation.schemes.definitions import QuestionDefinition
from jobs.prompt import OutOfScale, Unparseable, object_schema
from judges.protocols.protocol import Asking, Case, Reading, Verdict, find_verdict, number
from judges.protocols.questions import scale_lines, text_field, turn_numbers
from judges.protocols.quoting import AROUND, Seen, around, history_of, numbered, quote
from judges.protocols.replies import integer, json_object, whole_number
from judges.protocols.wording import Filling, Variable

# CoCoEval's ten behaviours over a whole continuation: a count, an explanation and the turns of each.
#
# The ten behaviours, and the count and explanation of each, are those of CoCoEval's fine-grained judge (table
# 15); the wording is Concord's own, and the turn numbers are its extension. The turns determine the labels: a
# behaviour is 1 on the turns that the judge names and 0 on all others. A differing count is flagged.
#
# The paper asks about all ten in one call. The variant `one_behaviour` makes a separate call for each.

BEHAVIOUR_KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
QUESTIONS: dict[str, QuestionDefinition] = {key: BEHAVIOURS_SCHEME.question(key) for key in BEHAVIOUR_KEYS}


ALL_BEHAVIOURS, ONE_BEHAVIOUR = "", "one_behaviour"
PAPER_NAMES = {"interruption": "interruptions"}
"""The paper's names of fields where they differ; both names are accepted."""


class CocoevalBehaviours(Asking):
    """Ten binary labels per turn, in one call per continuation or ten. Leaves out static continuations."""

    key = "cocoeval_behaviours"
    title = "CoCoEval behaviours: ten behaviours, tagged on every turn"
    covers = "continuation"
    reply_tokens = 500
    variants = (ALL_BEHAVIOURS, ONE_BEHAVIOUR)
    answers = {key: (BEHAVIOURS_SCHEME, key) for key in BEHAVIOUR_KEYS}

    def parts(self, variant: str) -> tuple[str, ...]:
        """Return one part per behaviour, or one for all."""
        return BEHAVIOUR_KEYS if variant == ONE_BEHAVIOUR else ("",)

    def asked_in(self, part: str) -> tuple[str, ...]:
        """Return the behaviour of a part, or all behaviours."""
        return (part,) if part else BEHAVIOUR_KEYS

    def prompt_file(self, variant: str) -> str:
        """Return the name of the variant's text."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the numbered turns, history, background, behaviours and reply fields."""
        subject = (
            "the behaviour of the call"
            if variant == ONE_BEHAVIOUR
            else "the ten behaviours with their definitions"
        )
        return (
            Variable("turns", "the continuation, its judged turns numbered from 1", required=True),
            Variable("history", "the turns before the continuation"),
            *AROUND,
            Variable("behaviours", subject, required=variant == ONE_BEHAVIOUR),
            Variable("fields", "the fields of the reply, three for each behaviour", required=True),
            Variable("n", "the number of judged turns"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return background, history, and the continuation with the judged turns numbered from 1."""
        seen = Seen(case)
        history = history_of(case)
        keys = self.asked_in(case.part)
        return {
            "behaviours": lambda: "\n".join(_describe_behaviour(key) for key in keys),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "turns": lambda: quote("TURNS", numbered(case, seen, history)),
            "n": str(len(case.judged())),
            "fields": lambda: ",\n".join(_field_lines(key) for key in keys),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Return a schema with three fields for each behaviour."""
        return reply_schema(self.asked_in(case.part))

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the JSON object; every requested behaviour needs its three fields."""
        data, judged = _own_names(json_object(reply, case)), case.judged()
        verdicts: list[Verdict] = []
        flags: list[str] = []
        for key in self.asked_in(case.part):
            count = whole_number(data, f"{key}_count", len(judged))
            explanation = text_field(data, f"{key}_explanation")
            marked = turn_numbers(data, f"{key}_turns", len(judged))
            if count != len(marked):
                flags.append(f"{key}: the count {count} contradicts the {len(marked)} turns named")
            for place, index in enumerate(judged, start=1):
                is_marked = place in marked
                verdicts.append(
                    Verdict(key, index, float(is_marked), explanation=explanation if is_marked else "")
                )
        return Reading(tuple(verdicts), tuple(flags))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write the three fields of each behaviour, with the distinct explanations of its turns."""
        fields: dict[str, Any] = {}
        for key in self.asked_in(case.part):
            answers = [find_verdict(reading, key, index) for index in case.judged()]
            marked = [number for number, verdict in enumerate(answers, start=1) if verdict.value]
            why = dict.fromkeys(
                verdict.explanation for verdict in answers if verdict.value and verdict.explanation
            )
            fields[f"{key}_explanation"] = " ".join(why)
            fields[f"{key}_turns"] = marked
            fields[f"{key}_count"] = len(marked)
        return json.dumps(fields, ensure_ascii=False)


def reply_schema(keys: Iterable[str] = BEHAVIOUR_KEYS) -> dict[str, Any]:
    """Return the JSON schema of a reply: three required fields per behaviour, nothing else."""
    fields: dict[str, Any] = {}
    for key in keys:
        fields[f"{key}_explanation"] = {"type": "string"}
        fields[f"{key}_turns"] = {"type": "array", "items": {"type": "integer"}}
        fields[f"{key}_count"] = {"type": "integer"}
    return object_schema(fields)


def _own_names(data: dict[str, Any]) -> dict[str, Any]:
    """Rename a reply's fields to our names; raise Unparseable if a field occurs under both names."""
    for ours, theirs in PAPER_NAMES.items():
        for field in ("explanation", "turns", "count"):
            if f"{theirs}_{field}" in data:
                if f"{ours}_{field}" in data:
                    raise Unparseable(f"the field {ours}_{field} is there twice, also as {theirs}_{field}")
                data[f"{ours}_{field}"] = data.pop(f"{theirs}_{field}")
    return data


def _describe_behaviour(key: str) -> str:
    question = QUESTIONS[key]
    text = question.help
    return f"- {key} ({question.group.lower()}): {text['definition']} Not this: {text['not_this']}"


def _field_lines(key: str) -> str:
    return f'  "{key}_explanation": "...", "{key}_turns": [...], "{key}_count": ...'


# CoCoEval's overall scores of a whole continuation: consistency and collaborativeness, 1 to 10.
#
# The criteria, the scale and its bands are those of CoCoEval's overall judge (table 14), the bands in the
# words that people read (`annotation.schemes.cocoeval`).

OVERALL_KEYS = tuple(question.key for question in OVERALL_SCHEME.questions)
CRITERIA = {
    "consistency": "Consistency: do the turns agree with one another, with what is known about the speakers "
    "and with what came before, openly said or implied, and does one follow from another? Length and "
    "phrasing alone cost nothing.",
    "collaborativeness": "Collaborativeness: do the speakers take up each other's contributions, reason "
    "together and move towards what they share, without disagreement that nothing calls for?",
}
NO_REASON = "no_reason"


class CocoevalOverall(Asking):
    """Two overall questions in one call per continuation. Leaves out static continuations."""

    key = "cocoeval_overall"
    title = "CoCoEval overall: consistency and collaborativeness of a continuation, 1 to 10"
    covers = "dialogue"
    reply_tokens = 300
    answers = {key: (OVERALL_SCHEME, key) for key in OVERALL_KEYS}

    def prompt_file(self, variant: str) -> str:
        """Return the name of the only text."""
        return self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """Return variables for the numbered turns, history, background, criteria and reply fields."""
        return (
            Variable("turns", "the continuation, its judged turns numbered from 1", required=True),
            Variable("history", "the turns before the continuation"),
            *AROUND,
            Variable("criteria", "the two criteria, each with the descriptions of its scores"),
            Variable("fields", "the fields of the reply, two for each score", required=True),
            Variable("n", "the number of judged turns"),
        )

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Return background, history, and the continuation with the judged turns numbered from 1."""
        seen, history = Seen(case), history_of(case)
        return {
            "criteria": lambda: "\n\n".join(_described(key) for key in OVERALL_KEYS),
            "history": lambda: quote("HISTORY", seen.transcript(history)),
            "turns": lambda: quote("TURNS", numbered(case, seen, history)),
            "n": str(len(case.judged())),
            "fields": ",\n".join(f'  "{key}_explanation": "...", "{key}": ...' for key in OVERALL_KEYS),
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """Return a schema with an explanation and a score for each criterion."""
        fields: dict[str, Any] = {}
        for key in OVERALL_KEYS:
            fields[f"{key}_explanation"] = {"type": "string"}
            fields[key] = {"type": "integer", "enum": list(VALUES)}
        return object_schema(fields)

    def parse(self, reply: str, case: Case) -> Reading:
        """Parse the JSON object; both scores must be whole numbers, both explanations present."""
        data = json_object(reply, case)
        verdicts = tuple(
            Verdict(key, None, _score(data, key), explanation=text_field(data, f"{key}_explanation"))
            for key in OVERALL_KEYS
        )
        silent = [
            verdict.question
            for verdict in verdicts
            if verdict.value != VALUES[-1] and not verdict.explanation.strip()
        ]
        return Reading(verdicts, tuple(f"{NO_REASON}: nothing is said of what cost {key}" for key in silent))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Write both scores, each after its explanation."""
        fields: dict[str, Any] = {}
        for key in OVERALL_KEYS:
            verdict = find_verdict(reading, key, None)
            fields |= {f"{key}_explanation": verdict.explanation, key: int(number(verdict))}
        return json.dumps(fields, ensure_ascii=False)


def _described(key: str) -> str:
    return "\n".join([CRITERIA[key], *scale_lines(OVERALL_SCHEME.question(key))])


def _score(data: dict[str, Any], key: str) -> float:
    if key not in data:
        raise Unparseable(f"the field {key} is missing")
    value = integer(data[key], VALUES[-1])
    if value is None:
        raise Unparseable(f"{key}: {str(data[key])[:40]!r} is not a whole number")
    if value not in VALUES:
        raise OutOfScale(f"{key}: {str(value)[:40]} is not on the scale {VALUES[0]} to {VALUES[-1]}")
    return float(value)
