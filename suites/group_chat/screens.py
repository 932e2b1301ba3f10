"""A rater's screen of a decision: the whole talk with its secrets, or only the turns that the agent has seen.

A person in the agent's place sees neither a decision nor anything that the agent could not hear.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from annotation.corpora.rows import participant_record, turn_record, turn_row
from annotation.records import Dialogue
from annotation.scenario_records import KIND, POINTS, scenario_record
from annotation.text.context import NamedText, Names
from annotation.text.views import View
from annotation.work.screens import Layout, NameChoice, Scene, Screen
from annotation.work.transcripts import Head, Part, Row, Writer
from suites.group_chat.scenarios.points import as_delivered, positions_seen, present_at, scenario_of

NOW, DONE = "what has just happened", "what the assistant did"


def dialogue_of(participants: str, scenario: str, own: Sequence[Row]) -> Dialogue:
    """Return the scenario of a screen's script rows; participants and scenario are JSON texts."""
    return Dialogue(
        id="",
        turns=tuple(turn_record(row.speaker, row.text, row.given, row.at, row.extra) for row in own),
        participants=tuple(map(participant_record, json.loads(participants))),
        scenario=scenario_record(json.loads(scenario)),
    )


def as_agent(dialogue: Dialogue, own: Sequence[Row], item: Row, public: int, write: Writer) -> list[Part]:
    """Lay out the turns that the agent has seen at a point; the last one is the item to decide on."""
    at, scenario = item.at or 0, scenario_of(dialogue)
    seen = positions_seen(dialogue, scenario.agent, at)
    delivered = as_delivered(scenario, dialogue.turns)
    own = [row._replace(extra=turn_row(turn).extra) for row, turn in zip(own, delivered, strict=True)]
    before = tuple(write(number, own[place], "history") for number, place in enumerate(seen[:-1], start=1))
    last = write(len(seen), own[seen[-1]]._replace(item=public), "item")
    return [Part("", before), Part(NOW, (last,))]


def after_all(own: Sequence[Row], item: Row, write: Writer) -> list[Part]:
    """Lay out the script up to a point, followed by the decision."""
    at = item.at or 0
    lines = tuple(write(number + 1, row, "history") for number, row in enumerate(own[:at]))
    return [Part("", lines), Part(DONE, (write(at + 1, item, "item"),))]


def nameable_people(dialogue: Dialogue, at: int, names: Names) -> tuple[NameChoice, ...]:
    """Return the people present at a point, the agent last."""
    agent = scenario_of(dialogue).agent
    present = present_at(dialogue, at - 1)
    order = sorted(dialogue.participants, key=lambda person: person.id == agent)
    return tuple((person.id, names.of(person.id)) for person in order if person.id in present)


def agent_notes(dialogue: Dialogue, names: Names, view: View) -> tuple[NamedText, ...]:
    """Return the notes for a rater in the agent's place: its name, and its profile where not shown anyway."""
    agent = scenario_of(dialogue).agent
    own = next(person for person in dialogue.participants if person.id == agent)
    is_shown = view.shows_part("participants.profile")
    about = "" if is_shown else "\n".join(view.about(text) for text in own.profile)
    return (("you are", names.of(agent)), *([("you", about)] if about else []))


def rater_notes(dialogue: Dialogue, at: int, names: Names, view: View) -> tuple[NamedText, ...]:
    """Return the notes for a rater: the assistant's name, and the secrets so far with those who know them."""
    scenario = scenario_of(dialogue)
    secrets = [
        f"- {view.about(secret.text or secret.canaries[0])} (known to {_names(secret.known_to, names)})"
        for secret in scenario.secrets
        if secret.since < at
    ]
    assistant = ("assistant", names.of(scenario.agent))
    return (assistant, *([("secrets", "\n".join(secrets))] if secrets else []))


def _names(ids: Sequence[str], names: Names) -> str:
    return ", ".join(names.of(person_id) for person_id in ids)


def compose(task: int, head: Head, rows: Sequence[Row], scene: Scene) -> Screen:
    """Return the screen of a decision; in the agent's place, only the turns that the agent has seen."""
    assert head.item is not None
    assert head.scenario is not None
    own, item = [row for row in rows if row.own], [row for row in rows if not row.own][-1]
    dialogue = dialogue_of(head.participants, head.scenario, own)
    at = item.at or 0
    if head.key == POINTS:
        parts = as_agent(dialogue, own, item, head.item, scene.write)
        notes = agent_notes(dialogue, scene.names, scene.view)
    else:
        parts = after_all(own, item, scene.write)
        notes = rater_notes(dialogue, at, scene.names, scene.view)
    screen = scene.screen(task, (head.item,), [part for part in parts if part.lines])
    about = screen.about._replace(metadata=(*notes, *screen.about.metadata))
    return replace(screen, about=about, named=nameable_people(dialogue, at, scene.names))


LAYOUTS = {KIND: Layout(compose)}
