"""What the improving model is asked, and how its proposal is read.

It sees the judge's present text and cases in which the judge and the people differ: what the judge saw, what
it answered, what people answered. All of it is quoted. It answers with both parts of a new text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jobs.prompt import Prompt, Unparseable
from judges.protocols.notice import NOTICE
from judges.protocols.prompting import released
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from judges.protocols.wording import Variable, Wording

NAME, VERSION = "improve", 1
FIELDS = ("diagnosis", "system", "user")
LONGEST_DIAGNOSIS = 10_000
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in FIELDS},
    "required": list(FIELDS),
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case in which the judge and the people differ.

    `key` is the item's, for those who read the proposal later (the model does not see it). `shown` are quoted
    blocks as the judge saw them. `judge` and `people` are lines that say who answered what to which question.
    """

    key: str
    shown: tuple[str, ...]
    judge: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text that a model proposes, and what it says was wrong with the one before."""

    wording: Wording
    diagnosis: str


def request(
    wording: Wording, known: Mapping[str, Variable], cases: Sequence[Disagreement], trouble: str = ""
) -> Prompt:
    """Return what the improving model is asked. `trouble` says why its last proposal could not be used."""
    values = {
        "notice": NOTICE,
        "system": quote("SYSTEM PART", wording.system.split("\n")),
        "user": quote("USER PART", wording.user.split("\n")),
        "variables": "\n".join(_line(one) for one in known.values()),
        "cases": "\n\n".join(_case(number, case) for number, case in enumerate(cases, start=1)),
    }
    prompt = released(NAME, VERSION).fill(values, SCHEMA)
    if not trouble:
        return prompt
    again = f"\n\nYour last proposal could not be used: {trouble} Write it again without that mistake."
    return Prompt(prompt.system, prompt.user + again, SCHEMA)


def read(reply: str, wording: Wording, known: Mapping[str, Variable]) -> Proposal:
    """Return the proposal of a reply to `request(wording, ...)`; its reply form and worked examples stay.

    Raises Unparseable where it is not a proposal, or its text cannot be a prompt; the message says why.
    """
    data = json_object(reply)
    for name in FIELDS:
        if not isinstance(data.get(name), str):
            raise Unparseable(f"the field {name} is missing or not a text")
    if extra := sorted(set(data) - set(FIELDS)):
        raise Unparseable(f"the field {extra[0][:80]} was not asked for")
    text = replace(wording, system=data["system"].strip(), user=data["user"].strip())
    if problems := text.problems(known):
        raise Unparseable(" ".join(problems))
    return Proposal(text, data["diagnosis"].strip()[:LONGEST_DIAGNOSIS])


def _line(variable: Variable) -> str:
    return f"- ${variable.name}: {variable.help}{' (it must stay)' if variable.required else ''}"


def _case(number: int, case: Disagreement) -> str:
    parts = [
        f"Case {number}",
        *case.shown,
        quote("JUDGE", case.judge),
        quote("PEOPLE", case.people),
    ]
    return "\n\n".join(parts)
