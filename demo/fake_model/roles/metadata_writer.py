"""Metadata of a conversation: what its turns say in braces of who takes part and what it is for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance
from demo.fake_model.truth import planted_value

FORGETS, STRANGERS, STYLES = "forgets", "strangers", "styles"
STRANGER, ODD_STYLE = "somebody else", "laconic"
BELIEVED = 3
_MORE = "      "


class MetadataWriter(Role):
    """Reads `{name Ana}`, `{role chair}` and `{agenda finish early}` in a speaker's turns, `{goal x}` in all.

    Mistakes, each with a chance and drawn per person: `forgets` leaves a speaker out, `strangers` lets one
    report to somebody who is not there, `styles` uses a kind of style that was not offered.
    """

    key = "metadata_writer"
    title = "metadata of a conversation"
    own_keys = dict.fromkeys((FORGETS, STRANGERS, STYLES), one_chance)

    def recognises(self, request: Request) -> bool:
        """A conversation or notes on its parts, and a goal to be told."""
        shown = request.block("CONVERSATION") is not None or request.block("PART 1") is not None
        return shown and request.block("SPEAKING") is not None and "task_goal" in request.fields

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return M of a conversation, or of its parts together."""
        text, ids = material(request), list(request.block("SPEAKING") or ())
        drafts = [json.loads(line) for line in parts(request)]
        people = [
            _merged(one, drafts) if drafts else _written(one, said_by(one, text), ids, mind, text)
            for one in ids
            if not forgets(one, text, mind)
        ]
        if drafts:
            goal = next((draft["task_goal"] for draft in drafts if draft["task_goal"]), "")
        else:
            goal = planted_value(text, "goal") or ""
        return Answer(
            {
                "task_goal": goal,
                "task_category": "trying out",
                "org_context": f"{len(ids)} people",
                "participants": people,
            }
        )


def forgets(person: str, text: str, mind: Mind) -> bool:
    """Whether a speaker is left out of what is said about a text."""
    return mind.draw(FORGETS, f"{person}\n{text}") < mind.errors.own.get(FORGETS, 0.0)


def material(request: Request) -> str:
    """Return what is described: the conversation, or the notes on its parts."""
    return "\n".join(request.block("CONVERSATION") or parts(request))


def parts(request: Request) -> list[str]:
    """Return the notes on the parts of a conversation, each a JSON object."""
    numbered = [f"PART {number}" for number in range(1, len(request.titles) + 1)]
    return ["".join(request.block(title) or ()) for title in numbered if title in request.titles]


def said_by(person: str, text: str) -> str:
    """Return the turns of a speaker, without their name."""
    found: list[str] = []
    own = False
    for line in text.split("\n"):
        if not line.startswith(_MORE):
            own = line.startswith((f"{person}: ", f"{person} ("))
            line = line.removeprefix(f"{person}: ")
        if own:
            found.append(line)
    return "\n".join(found)


def _written(person: str, said: str, ids: Sequence[str], mind: Mind, text: str) -> dict[str, Any]:
    drawn = f"{person}\n{text}"
    odd = mind.draw(STYLES, drawn) < mind.errors.own.get(STYLES, 0.0)
    stranger = mind.draw(STRANGERS, drawn) < mind.errors.own.get(STRANGERS, 0.0)
    others = [other for other in ids if other != person]
    turns = [line for line in said.split("\n") if line and not line.startswith(_MORE)]
    return {
        "id": person,
        "name": planted_value(said, "name") or "",
        "role": planted_value(said, "role") or "",
        "department": "",
        "reporting_to": STRANGER if stranger else "",
        "expertise_level": "senior",
        "expertise_areas": [],
        "hidden_information": {
            "communication_style": {
                "length": f"{len(said.split()) / max(len(turns), 1):.0f} words",
                "style_types": [ODD_STYLE if odd else "informal"],
                "personality_traits": [],
                "details": "as it says",
            },
            "hidden_agenda": planted_value(said, "agenda") or "",
            "knowledge_before_conversation": "",
            "emotion_before_conversation": "calm",
            "posture": "open",
            "beliefs_about_others": {person: "", **dict.fromkeys(others[:BELIEVED], "reliable")},
        },
    }


def _merged(person: str, drafts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first note on a person."""
    notes = (one for draft in drafts for one in draft["participants"] if one["id"] == person)
    return next(notes, {"id": person})
