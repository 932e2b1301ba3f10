"""Summaries of sessions, before those who remember them are asked: one call a session, whoever needs it.

A summary is known by the text that was heard, the model and the version of its prompt. So a session is summed
up once for all trials, retrievers and simulations; under other names it is another text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from annotation import records
from annotation.models import Dialogue
from annotation.scripts.names import mapped, names_of
from annotation.scripts.records import ORIGINAL
from annotation.scripts.sessions import script_of
from jobs.models import Endpoint
from systems.long_dialogue.heard import Heard
from systems.long_dialogue.material import text_digest
from systems.long_dialogue.session_summary import TEXT
from systems.producing.actions import Read
from systems.producing.plans import Generation
from systems.producing.steps import Need, named_alone

GENERATOR = "dialsim_session_summary"


def needs(
    row: Dialogue, record: records.Dialogue, names: str, endpoint: Endpoint
) -> Iterator[tuple[Need, Read]]:
    """Yield what is to be summed up of a script under some names, each with the session alone to begin with.

    Raises ValueError where the script has no such name map.
    """
    told = _under(record, names)
    for text_key, number in digests(told).items():
        generation = Generation(GENERATOR, endpoint, {TEXT: text_key}, name="unnamed")
        plan = named_alone(generation.plan(), GENERATOR)
        yield Need(row.corpus_id, row.pk, plan), (row, _alone(told, number))


def digests(told: records.Dialogue, names: str = ORIGINAL) -> dict[str, int]:
    """Return what is heard in sessions, by the digest of its text, with the number of the first such session.

    Raises ValueError where the script has no such name map.
    """
    heard = Heard(_under(told, names))
    texts = ((number, heard.text(number)) for number in heard.numbers)
    sessions: dict[str, int] = {}
    for number, text in texts:
        if text:
            sessions.setdefault(text_digest(text), number)
    return sessions


def _under(record: records.Dialogue, names: str) -> records.Dialogue:
    others = names_of(script_of(record), names)
    return record if others is None else mapped(record, others)


def _alone(told: records.Dialogue, number: int) -> records.Dialogue:
    """Return a script that has one of its sessions alone."""
    script = script_of(told)
    session = script.sessions[number - 1]
    turns = tuple(turn for turn in told.turns if turn.session == session.id)
    return replace(told, turns=turns, script=replace(script, sessions=(session,)), facts=(), questions=())
