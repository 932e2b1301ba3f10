"""The corpus "Demo desk": visitors' questions, each with a reply by two toy systems.

Beside each reply stands how helpful it is, from 1 to 5; what the simulated people see of that, they see
through their own errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NAME = "Demo desk"
FILE = "desk"
SYSTEMS = ("toy-clerk", "toy-poet")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, how helpful it is (1 to 5), and whether it talks down to the visitor."""

    text: str
    helpful: int
    talks_down: bool = False


TALKS: dict[str, tuple[Reply, Reply]] = {
    "Which bus goes to the castle?": (
        Reply("Bus 4, from the square, every ten minutes.", 5),
        Reply("The one that climbs the hill and comes back empty.", 2),
    ),
    "Is the museum open on Sundays?": (
        Reply("Yes, from ten to five; the café stays open until six.", 5),
        Reply("It sleeps on Mondays, so on Sundays it must be awake.", 3),
    ),
    "How do I get to the lake?": (
        Reply("There are buses. I do not know which.", 2),
        Reply("Follow the stream behind the station; after half an hour you are there.", 5),
    ),
    "Can I pay by card on the ferry?": (
        Reply("Yes, at the gate; on board they take coins only.", 5),
        Reply("Water takes no cards.", 1, talks_down=True),
    ),
    "Is there a market tomorrow?": (
        Reply("There is one most days, I believe.", 3),
        Reply("Tomorrow, yes: cheese on the left, flowers on the right, from seven on.", 5),
    ),
    "Where can I leave my bags?": (
        Reply("At the station, behind platform 1, until ten at night.", 5),
        Reply("Where you no longer need them.", 1),
    ),
    "Which hill has the best view?": (
        Reply("Many people like the north one.", 3),
        Reply("The north one at dusk: the river is below you, and the last bus leaves at nine.", 5),
    ),
    "Is the old bridge closed?": (
        Reply("For cars, yes; you can walk over it at any time.", 5),
        Reply("It has been closing for a hundred years.", 2),
    ),
    "When does the last tram leave?": (
        Reply("Around midnight, or somewhat later.", 3),
        Reply("When the lamps go out, which is at half past twelve.", 4),
    ),
    "Do I need a ticket for the garden?": (
        Reply("As everybody knows, you do. Four crowns.", 4, talks_down=True),
        Reply("The roses ask for four crowns; children pay nothing.", 5),
    ),
    "Where is a good bakery?": (
        Reply("Bread is baked from flour and water.", 1, talks_down=True),
        Reply("In Mill Lane, the door with the blue bell.", 5),
    ),
    "How long does the tour take?": (
        Reply("Two hours, with a break of ten minutes.", 5),
        Reply("Longer than it seems, and then it is over.", 1),
    ),
}
BY_TEXT = {reply.text: reply for pair in TALKS.values() for reply in pair}


def dialogues() -> Iterator[dict[str, Any]]:
    """Yield the dialogues in the native format: a question, and each system's reply to it."""
    for number, (question, replies) in enumerate(TALKS.items(), start=1):
        yield {
            "id": f"desk{number:02}",
            "language": "en",
            "participants": [
                {"id": "A", "name": "Ada", "role": "visitor"},
                {"id": "B", "name": "Bo", "role": "at the desk"},
            ],
            "turns": [{"speaker": "A", "text": question}],
            "continuations": [
                {"id": system, "system": system, "turns": [{"speaker": "B", "text": reply.text}]}
                for system, reply in zip(SYSTEMS, replies, strict=True)
            ],
        }


def lines() -> str:
    """Return the corpus file's content."""
    return "".join(json.dumps(dialogue, ensure_ascii=False) + "\n" for dialogue in dialogues())


SCHEME: dict[str, Any] = {
    "scheme": "demo_help",
    "title": "Help at the desk",
    "item_kind": "turn",
    "unit": "item",
    "introduction": "Read the reply to the visitor’s question.",
    "guidelines": "# Help at the desk\n\nRate what the visitor **learns**, not how nicely it is said.\n\n"
    "* *5*: nothing is left to ask.\n* *1*: the visitor knows no more than before.",
    "questions": [
        {
            "key": "helpful",
            "wording": "How helpful is the reply?",
            "level": "ordinal",
            "values": [1, 2, 3, 4, 5],
            "anchors": {1: "no help at all", 5: "all the visitor needs"},
            "help": {"definition": "How much of what was asked the visitor knows afterwards."},
        },
        {
            "key": "talks_down",
            "wording": "Talks down",
            "level": "binary",
            "group": "Tone",
            "evidence": "spans",
            "evidence_required": False,
            "help": {"definition": "It lets the visitor feel that the question was silly."},
        },
        {
            "key": "missing",
            "wording": "What is missing?",
            "level": "text",
            "required": False,
            "show_if": {"question": "helpful", "in": [1, 2]},
        },
    ],
}
"""What the demo's study asks."""
