"""Makers of benchmarks: metadata, utterances without fillers, summaries."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from demo.fake_model.errors import one_chance
from demo.fake_model.requests import Request, turns
from demo.fake_model.role import Answer, Role, Sampler, markers, planted_value

# Metadata of a conversation, from markers in its turns about participants and goals.

FORGETS, STRANGERS, STYLES = "forgets", "strangers", "styles"
STRANGER, ODD_STYLE = "somebody else", "laconic"
BELIEVED = 3
_MORE = "      "


class MetadataWriter(Role):
    """Reads `{name Ana}`, `{role chair}` and `{agenda finish early}` in a speaker's turns, `{goal x}` in all.

    Errors, each with a chance and drawn per person: `forgets` leaves a speaker out, `strangers` makes a
    person report to somebody who is not there, `styles` uses a style that was not offered.
    """

    key = "metadata_writer"
    title = "metadata of a conversation"
    own_keys = dict.fromkeys((FORGETS, STRANGERS, STYLES), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it shows a conversation or notes on its parts, and asks for a goal."""
        has_material = request.block("CONVERSATION") is not None or request.block("PART 1") is not None
        return has_material and request.block("SPEAKING") is not None and "task_goal" in request.fields

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the metadata of a conversation, or of its parts merged."""
        text, ids = material(request), list(request.block("SPEAKING") or ())
        drafts = [json.loads(line) for line in parts(request)]
        people = [
            _merge_notes(person, drafts)
            if drafts
            else _describe_person(person, speech_of(person, text), ids, sampler, text)
            for person in ids
            if not forgets(person, text, sampler)
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


def forgets(person: str, text: str, sampler: Sampler) -> bool:
    """Whether a speaker is left out of the description of a text."""
    return sampler.draw(FORGETS, f"{person}\n{text}") < sampler.errors.own.get(FORGETS, 0.0)


def material(request: Request) -> str:
    """Return the text to describe: the conversation, or the notes on its parts."""
    return "\n".join(request.block("CONVERSATION") or parts(request))


def parts(request: Request) -> list[str]:
    """Return the notes on the parts of a conversation, each a JSON object."""
    numbered = [f"PART {number}" for number in range(1, len(request.titles) + 1)]
    return ["".join(request.block(title) or ()) for title in numbered if title in request.titles]


def speech_of(person: str, text: str) -> str:
    """Return the turns of a speaker, without the name."""
    lines: list[str] = []
    own = False
    for line in text.split("\n"):
        if not line.startswith(_MORE):
            own = line.startswith((f"{person}: ", f"{person} ("))
            line = line.removeprefix(f"{person}: ")
        if own:
            lines.append(line)
    return "\n".join(lines)


def _describe_person(
    person: str, speech: str, ids: Sequence[str], sampler: Sampler, text: str
) -> dict[str, Any]:
    draw_key = f"{person}\n{text}"
    is_odd = sampler.draw(STYLES, draw_key) < sampler.errors.own.get(STYLES, 0.0)
    stranger = sampler.draw(STRANGERS, draw_key) < sampler.errors.own.get(STRANGERS, 0.0)
    others = [other for other in ids if other != person]
    turns = [line for line in speech.split("\n") if line and not line.startswith(_MORE)]
    return {
        "id": person,
        "name": planted_value(speech, "name") or "",
        "role": planted_value(speech, "role") or "",
        "department": "",
        "reporting_to": STRANGER if stranger else "",
        "expertise_level": "senior",
        "expertise_areas": [],
        "hidden_information": {
            "communication_style": {
                "length": f"{len(speech.split()) / max(len(turns), 1):.0f} words",
                "style_types": [ODD_STYLE if is_odd else "informal"],
                "personality_traits": [],
                "details": "as it says",
            },
            "hidden_agenda": planted_value(speech, "agenda") or "",
            "knowledge_before_conversation": "",
            "emotion_before_conversation": "calm",
            "posture": "open",
            "beliefs_about_others": {person: "", **dict.fromkeys(others[:BELIEVED], "reliable")},
        },
    }


def _merge_notes(person: str, drafts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first note on a person."""
    notes = (note for draft in drafts for note in draft["participants"] if note["id"] == person)
    return next(notes, {"id": person})


# Utterances without fillers, with an occasional invented word.

FILLER, INVENTED = "filler", "indeed"
INVENTS, SKIPS = "invents", "skips"
_MARKER = re.compile(r"\{filler [^{}\n]{1,190}\}")


class Cleaner(Role):
    """Removes the words in `{filler um}` markers, and the markers. With the chance `invents` it adds a word
    to an utterance, with the chance `skips` it leaves one out.
    """

    key = "cleaner"
    title = "utterances without fillers"
    own_keys = dict.fromkeys((INVENTS, SKIPS), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has a block of utterances."""
        return request.block("UTTERANCES") is not None

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the number and new text of each utterance."""
        utterances = [
            {"number": turn.number, "text": clean_utterance(turn.full_text, sampler)}
            for turn in request.numbered("UTTERANCES")
            if sampler.draw(SKIPS, turn.full_text) >= sampler.errors.own.get(SKIPS, 0.0)
        ]
        return Answer({"utterances": utterances})


def clean_utterance(text: str, sampler: Sampler) -> str:
    """Clean an utterance, or invent a word in it."""
    return f"{remove_fillers(text)} {INVENTED}".strip() if invents(text, sampler) else remove_fillers(text)


def invents(text: str, sampler: Sampler) -> bool:
    """Whether a word is added to an utterance."""
    return sampler.draw(INVENTS, text) < sampler.errors.own.get(INVENTS, 0.0)


def remove_fillers(text: str) -> str:
    """Return a text without filler markers and the words that they name, in any case."""
    fillers = {word.casefold() for words in markers(text) if words[0] == FILLER for word in words[1:]}
    remaining = [
        word for word in _MARKER.sub(" ", text).split() if word.strip(",.;:!?-").casefold() not in fillers
    ]
    return " ".join(remaining)


# Summary of a conversation: one paragraph, or two in case of an error.

PARAGRAPHS = "paragraphs"


class Summariser(Role):
    """Reports every `{point the date is open}` of the turns. With the chance `paragraphs` it writes two
    paragraphs.
    """

    key = "summariser"
    title = "a summary in one paragraph"
    own_keys = dict.fromkeys((PARAGRAPHS,), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it shows a conversation and asks for a summary as the only field."""
        return request.block("CONVERSATION") is not None and request.fields == ("summary",)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the paragraph."""
        lines = request.block("CONVERSATION") or ()
        text = summary(lines)
        if sampler.draw(PARAGRAPHS, "\n".join(lines)) < sampler.errors.own.get(PARAGRAPHS, 0.0):
            text = f"{text}\n\nThat is all."
        return Answer({"summary": text})


def summary(lines: tuple[str, ...] | list[str]) -> str:
    """Return the right summary of the lines of a conversation."""
    texts = [turn.full_text for turn in turns(lines)]
    points = [" ".join(words[1:]) for text in texts for words in markers(text) if words[0] == "point"]
    conclusion = "; ".join(points) or "nothing in particular"
    return f"In {len(texts)} turns they came to this: {conclusion}."
