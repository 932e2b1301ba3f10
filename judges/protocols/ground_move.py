"""Which move on common ground a message of an agent makes, and what it takes as known that is not.

After the group-chat framework's GROUND (`group_chat.md`, section 6); the wording is Concord's own. The judge
sees what the agent saw and the facts of the common ground, each with who knows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotation.scenarios.records import MOVES
from annotation.schemes.conduct import GROUND, MOVE, PRESUPPOSES
from jobs.prompt import OutOfScale, Unparseable
from judges.protocols.answer_fields import object_of, text_field
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.decided import (
    CHAT,
    DECISION,
    FIELDS,
    LISTENERS,
    VARIANTS,
    agents_chat,
    decision_block,
    facts_at,
    listeners_block,
    refusal_at,
    shared_block,
    shown_id,
)
from judges.protocols.material import AROUND, around
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object
from judges.protocols.scales import scale_lines
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import said

SAID = MOVES[:3]
"""The moves that a judge may name."""
JOIN, NOTHING = ";", "none"
"""Between the ids of facts in an answer, and the answer that there are none."""


def facts_read(answer: str) -> tuple[str, ...]:
    """Return the ids of facts that an answer to `presupposes` says."""
    return () if answer == NOTHING else tuple(answer.split(JOIN))


class GroundMove(Asking):
    """One call per message whose key asks for a move: the move, the facts presupposed, and a reason."""

    key = "ground_move"
    title = "Move on common ground: answer, clarify or reground"
    covers = "decision"
    reply_tokens = 80
    variants = VARIANTS
    answers = {MOVE: (GROUND, MOVE), PRESUPPOSES: (GROUND, PRESUPPOSES)}

    def refusal(self, case: Case, variant: str) -> str:
        """A decision that does not reach GROUND, or says nothing, is not judged."""
        return refusal_at(case, "ground", variant)

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """What the agent saw, its message, who sees that, and what is shared by whom."""
        shared = Variable("shared", "the facts of the common ground, each with its id and who knows it")
        moves = Variable("moves", "the moves with what they are")
        return (CHAT, DECISION, LISTENERS, shared, *AROUND, moves, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show what the agent had seen, and the facts."""
        seen, chat = Seen(case), agents_chat(case)
        told = scale_lines(GROUND.question(MOVE))
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat)),
            "decision": lambda: decision_block(seen, chat),
            "listeners": lambda: listeners_block(case, seen),
            "shared": lambda: shared_block(case, seen),
            "moves": "\n".join(told[: len(SAID)]),
            "fields": '  "move": ..., "presupposes": [...], "why": "..."',
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """The move, ids of facts, and a reason."""
        return object_of(
            {
                "move": {"type": "string", "enum": list(SAID)},
                "presupposes": {"type": "array", "items": {"type": "string"}},
                "why": {"type": "string"},
            }
        )

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the JSON object; a fact that was not listed makes it unreadable."""
        data = json_object(reply, case)
        move = data.get("move")
        if not isinstance(move, str):
            raise Unparseable("the field move is missing or no text")
        if move not in SAID:
            raise OutOfScale(f"move: {move[:40]!r} is not one of {', '.join(SAID)}")
        why = text_field(data, "why").strip()
        ids = _presupposed(data, case)
        return Reading(
            (
                Verdict(MOVE, case.turn, move, explanation=why),
                Verdict(PRESUPPOSES, case.turn, JOIN.join(ids) or NOTHING),
            )
        )

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the move, the facts (none where that was left out) and the reason."""
        verdict = said(reading, MOVE, case.turn)
        there = {own: told for told, own in _ids(case).items()}
        named = (one.value for one in reading.verdicts if one.question == PRESUPPOSES)
        ids = facts_read(str(next(named, None) or NOTHING))
        fields = {
            "move": verdict.value,
            "presupposes": [there[one] for one in ids if one in there],
            "why": verdict.explanation,
        }
        return json.dumps(fields, ensure_ascii=False)


def _ids(case: Case) -> dict[str, str]:
    """Return the facts' ids by how they are shown."""
    seen = Seen(case)
    return {shown_id(fact, seen): fact.id for fact in facts_at(case)}


def _presupposed(data: Mapping[str, Any], case: Case) -> list[str]:
    value = data.get("presupposes")
    if not isinstance(value, list):
        raise Unparseable("the field presupposes is missing or no list")
    known = _ids(case)
    for one in value:
        if not isinstance(one, str) or one not in known:
            raise Unparseable(f"presupposes: there is no fact {str(one)[:40]!r}")
    return sorted({known[one] for one in value})
