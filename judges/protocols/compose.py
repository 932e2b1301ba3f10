"""What an agent of a group chat says, from 1 to 5: relevant, right by what was visible, complete and brief.

After the group-chat framework's COMPOSE (`group_chat.md`, section 6); anchors and wording are Concord's own.
The judge sees what the agent saw, and no more: an agent need not know what it was not told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from annotation.schemes.conduct import COMPOSE, FIVE, SCORE
from judges.protocols.answer_fields import object_of, text_field
from judges.protocols.base import Asking, Case, Reading, Verdict
from judges.protocols.conduct import whole
from judges.protocols.decided import (
    CHAT,
    DECISION,
    FIELDS,
    JUDGE_VOID,
    LISTENERS,
    NOT_ASKED,
    VARIANTS,
    agents_chat,
    decision_block,
    key_of,
    listeners_block,
    refusal_at,
)
from judges.protocols.material import AROUND, around
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object
from judges.protocols.scales import scale_lines
from judges.protocols.wording import Filling, Variable
from judges.protocols.writing import number, said


class Compose(Asking):
    """One call per message whose key asks for a judge's score: a score from 1 to 5 with a reason."""

    key = "compose"
    title = "Composition in a group chat: a score of what a message says"
    covers = "decision"
    reply_tokens = 80
    variants = VARIANTS
    answers = {SCORE: (COMPOSE, SCORE)}

    def refusal(self, case: Case, variant: str) -> str:
        """A decision that does not reach COMPOSE, or whose key asks for no score of it, is not judged."""
        if told := refusal_at(case, "compose", variant):
            return told
        return "" if variant == JUDGE_VOID or key_of(case).rubric else NOT_ASKED

    def prompt_file(self, variant: str) -> str:
        """One text per variant."""
        return f"{self.key}_{variant}" if variant else self.key

    def variables(self, variant: str) -> tuple[Variable, ...]:
        """What the agent saw, its message, who sees that, and the scale."""
        scale = Variable("scale", "the scores with what they stand for")
        return (CHAT, DECISION, LISTENERS, *AROUND, scale, FIELDS)

    def values(self, case: Case, variant: str) -> Mapping[str, Filling]:
        """Show what the agent had seen when it wrote."""
        seen, chat = Seen(case), agents_chat(case)
        return {
            "chat": lambda: quote("CHAT", seen.transcript(chat)),
            "decision": lambda: decision_block(seen, chat),
            "listeners": lambda: listeners_block(case, seen),
            "scale": lambda: "\n".join(scale_lines(COMPOSE.question(SCORE))),
            "fields": '  "score": ..., "why": "..."',
            **around(seen),
        }

    def schema(self, case: Case, variant: str, form: str) -> Mapping[str, Any]:
        """A score and a reason."""
        return object_of({"score": {"type": "integer", "enum": list(FIVE)}, "why": {"type": "string"}})

    def parse(self, reply: str, case: Case) -> Reading:
        """Read the JSON object: the score a whole number, the reason there."""
        data = json_object(reply, case)
        why = text_field(data, "why").strip()
        return Reading((Verdict(SCORE, case.turn, whole(data, "score", FIVE), explanation=why),))

    def write(self, reading: Reading, case: Case, variant: str) -> str:
        """Say the score and its reason."""
        verdict = said(reading, SCORE, case.turn)
        return json.dumps({"score": int(number(verdict)), "why": verdict.explanation}, ensure_ascii=False)
